//! The works that algorithms are taken from, each named once.

/// A book, thesis or paper.
#[derive(Debug, PartialEq, Eq)]
pub struct Work {
    /// Authors, short.
    pub authors: &'static str,
    /// Title.
    pub title: &'static str,
    /// Year of publication.
    pub year: u16,
}

/// The place in a work that states what is computed.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The work.
    pub work: &'static Work,
    /// Section, equation or algorithm.
    pub place: &'static str,
    /// The correction of the printed statement, where it needs one.
    pub erratum: Option<&'static str>,
}

impl Source {
    /// A place that is right as printed.
    pub const fn new(work: &'static Work, place: &'static str) -> Self {
        Self { work, place, erratum: None }
    }

    /// A place whose print is corrected here.
    pub const fn corrected(work: &'static Work, place: &'static str, erratum: &'static str) -> Self {
        Self { work, place, erratum: Some(erratum) }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {} ({}), {}", self.work.authors, self.work.title, self.work.year, self.place)?;
        match self.erratum {
            Some(erratum) => write!(f, " [corrected: {erratum}]"),
            None => Ok(()),
        }
    }
}

macro_rules! works {
    ($($(#[$doc:meta])* $name:ident = $authors:literal, $title:literal, $year:literal;)*) => {
        $($(#[$doc])* pub static $name: Work = Work { authors: $authors, title: $title, year: $year };)*
    };
}

works! {
    /// Learning Kernel Classifiers.
    HERBRICH = "R. Herbrich", "Learning Kernel Classifiers", 2002;
    /// Kernel Methods for Pattern Analysis.
    KMPA = "J. Shawe-Taylor & N. Cristianini", "Kernel Methods for Pattern Analysis", 2004;
    /// Gaussian Processes for Machine Learning.
    GPML = "C. E. Rasmussen & C. K. I. Williams", "Gaussian Processes for Machine Learning", 2006;
    /// The Nyström approximation of kernel matrices.
    WILLIAMS_SEEGER = "C. K. I. Williams & M. Seeger", "Using the Nyström Method to Speed Up Kernel Machines", 2001;
    /// Learning with Kernels.
    LWK = "B. Schölkopf & A. J. Smola", "Learning with Kernels", 2002;
    /// LIBSVM.
    LIBSVM = "C.-C. Chang & C.-J. Lin", "LIBSVM: A Library for Support Vector Machines", 2011;
    /// Working set selection using second order information.
    FAN = "R.-E. Fan, P.-H. Chen & C.-J. Lin", "Working Set Selection Using Second Order Information for Training SVM", 2005;
    /// LIBLINEAR.
    LIBLINEAR = "R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang & C.-J. Lin", "LIBLINEAR: A Library for Large Linear Classification", 2008;
    /// Large-scale linear support vector regression.
    HO = "C.-H. Ho & C.-J. Lin", "Large-scale Linear Support Vector Regression", 2012;
    /// Additive kernels via explicit feature maps.
    VEDALDI = "A. Vedaldi & A. Zisserman", "Efficient Additive Kernels via Explicit Feature Maps", 2012;
    /// The theorem on which radial functions are (conditionally) positive definite.
    MICCHELLI = "C. A. Micchelli", "Interpolation of Scattered Data: Distance Matrices and Conditionally Positive Definite Functions", 1986;
    /// Positive definite functions of compact support.
    WENDLAND = "H. Wendland", "Piecewise Polynomial, Positive Definite and Compactly Supported Radial Functions of Minimal Degree", 1995;
    /// Arc-cosine kernels.
    CHO = "Y. Cho & L. K. Saul", "Kernel Methods for Deep Learning", 2009;
    /// The exponential χ² kernel.
    CHAPELLE = "O. Chapelle, P. Haffner & V. N. Vapnik", "Support Vector Machines for Histogram-Based Image Classification", 1999;
    /// Splines as kernels.
    VAPNIK_SPLINES = "V. Vapnik, S. E. Golowich & A. Smola", "Support Vector Method for Function Approximation, Regression Estimation, and Signal Processing", 1997;
    /// Diffusion kernels.
    KONDOR = "R. I. Kondor & J. Lafferty", "Diffusion Kernels on Graphs and Other Discrete Input Spaces", 2002;
    /// Gaussian kernels of incomplete vectors.
    MESQUITA = "D. Mesquita, J. P. Gomes & L. R. Rodrigues", "Gaussian Kernels for Incomplete Data", 2019;
    /// Kernel Fisher Discriminants.
    MIKA = "S. Mika", "Kernel Fisher Discriminants", 2002;
    /// Kernel principal component analysis.
    KPCA = "B. Schölkopf, A. Smola & K.-R. Müller", "Nonlinear Component Analysis as a Kernel Eigenvalue Problem", 1998;
    /// The spectrum kernel.
    LESLIE = "C. Leslie, E. Eskin & W. S. Noble", "The Spectrum Kernel: A String Kernel for SVM Protein Classification", 2002;
    /// Nonparametric quantile estimation.
    TAKEUCHI = "I. Takeuchi, Q. V. Le, T. D. Sears & A. J. Smola", "Nonparametric Quantile Estimation", 2006;
    /// Asymmetric least squares.
    NEWEY = "W. K. Newey & J. L. Powell", "Asymmetric Least Squares Estimation and Testing", 1987;
    /// Text classification using string kernels.
    LODHI = "H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini & C. Watkins", "Text Classification using String Kernels", 2002;
    /// Mismatch string kernels.
    MISMATCH = "C. Leslie, E. Eskin, A. Cohen, J. Weston & W. S. Noble", "Mismatch String Kernels for Discriminative Protein Classification", 2004;
    /// The weighted degree kernel.
    WEIGHTED_DEGREE = "G. Rätsch & S. Sonnenburg", "Accurate Splice Site Detection for Caenorhabditis elegans", 2004;
    /// The weighted degree kernel with shifts.
    RASE = "G. Rätsch, S. Sonnenburg & B. Schölkopf", "RASE: Recognition of Alternatively Spliced Exons in C. elegans", 2005;
    /// The kernel adatron.
    ADATRON = "T.-T. Friess, N. Cristianini & C. Campbell", "The Kernel-Adatron Algorithm: A Fast and Simple Learning Procedure for Support Vector Machines", 1998;
    /// Estimating a density by windows.
    PARZEN = "E. Parzen", "On Estimation of a Probability Density Function and Mode", 1962;
    /// Kernel k-means.
    KERNEL_K_MEANS = "I. S. Dhillon, Y. Guan & B. Kulis", "Kernel k-means, Spectral Clustering and Normalized Cuts", 2004;
    /// Normalised cuts.
    NORMALISED_CUTS = "J. Shi & J. Malik", "Normalized Cuts and Image Segmentation", 2000;
    /// AdaBoost.
    FREUND = "Y. Freund & R. E. Schapire", "A Decision-Theoretic Generalization of On-Line Learning and an Application to Boosting", 1997;
    /// Soft margins for AdaBoost, and networks with adaptive centres.
    RAETSCH = "G. Rätsch, T. Onoda & K.-R. Müller", "Soft Margins for AdaBoost", 2001;
    /// Linear and logistic regression, among much else.
    HASTIE = "T. Hastie, R. Tibshirani & J. Friedman", "The Elements of Statistical Learning", 2009;
    /// Regularised discriminant analysis.
    FRIEDMAN = "J. H. Friedman", "Regularized Discriminant Analysis", 1989;
    /// Latent semantic kernels.
    LATENT_SEMANTIC = "N. Cristianini, J. Shawe-Taylor & H. Lodhi", "Latent Semantic Kernels", 2002;
    /// Statistical Learning Theory.
    VAPNIK = "V. N. Vapnik", "Statistical Learning Theory", 1998;
    /// Bounds from test sets and from compression, by exact tails.
    LANGFORD = "J. Langford", "Tutorial on Practical Prediction Theory for Classification", 2005;
    /// Sums of bounded random variables.
    HOEFFDING = "W. Hoeffding", "Probability Inequalities for Sums of Bounded Random Variables", 1963;
    /// Empirical Bernstein bounds.
    MAURER_PONTIL = "A. Maurer & M. Pontil", "Empirical Bernstein Bounds and Sample Variance Penalization", 2009;
    /// Covering numbers of regularised linear functions.
    ZHANG = "T. Zhang", "Covering Number Bounds of Certain Regularized Linear Function Classes", 2002;
    /// PAC-Bayes bounds for any posterior.
    MCALLESTER = "D. A. McAllester", "PAC-Bayesian Model Averaging", 1999;
    /// PAC-Bayes bounds for linear classifiers.
    LANGFORD_SHAWE_TAYLOR = "J. Langford & J. Shawe-Taylor", "PAC-Bayes & Margins", 2003;
    /// PAC-Bayes bounds whose prior was learned from a part of the examples.
    AMBROLADZE = "A. Ambroladze, E. Parrado-Hernández & J. Shawe-Taylor", "Tighter PAC-Bayes Bounds", 2007;
    /// Bounds from stability.
    BOUSQUET_ELISSEEFF = "O. Bousquet & A. Elisseeff", "Stability and Generalization", 2002;
    /// Stable compression.
    BOUSQUET = "O. Bousquet, S. Hanneke, S. Moran & N. Zhivotovskiy", "Proper Learning, Helly Number, and an Optimal SVM Bound", 2020;
    /// The scenario bound before the data.
    CAMPI_GARATTI = "M. C. Campi & S. Garatti", "The Exact Feasibility of Randomized Solutions of Uncertain Convex Programs", 2008;
    /// The scenario bound for the observed complexity.
    GARATTI_CAMPI = "S. Garatti & M. C. Campi", "Risk and Complexity in Scenario Optimization", 2022;
    /// Rademacher and Gaussian complexities.
    BARTLETT = "P. L. Bartlett & S. Mendelson", "Rademacher and Gaussian Complexities: Risk Bounds and Structural Results", 2002;
    /// On-line learners as batch learners.
    CESA_BIANCHI = "N. Cesa-Bianchi, A. Conconi & C. Gentile", "On the Generalization Ability of On-Line Learning Algorithms", 2004;
    /// The span of support vectors.
    SPAN = "V. Vapnik & O. Chapelle", "Bounds on Error Expectation for Support Vector Machines", 2000;
    /// Estimates of a support vector machine's risk.
    JOACHIMS = "T. Joachims", "Estimating the Generalization Performance of an SVM Efficiently", 2000;
    /// One-class support vector machines.
    ONE_CLASS = "B. Schölkopf, J. C. Platt, J. Shawe-Taylor, A. J. Smola & R. C. Williamson", "Estimating the Support of a High-Dimensional Distribution", 2001;
    /// Votes by the first two moments of their margin.
    LACASSE = "A. Lacasse, F. Laviolette, M. Marchand, P. Germain & N. Usunier", "PAC-Bayes Bounds for the Risk of the Majority Vote and the Variance of the Gibbs Classifier", 2006;
    /// Votes by errors of two classifiers at once.
    MASEGOSA = "A. R. Masegosa, S. S. Lorenzen, C. Igel & Y. Seldin", "Second Order PAC-Bayesian Bounds for the Weighted Majority Vote", 2020;
    /// PAC-Bayes bounds at a fixed trade-off.
    CATONI = "O. Catoni", "PAC-Bayesian Supervised Classification: The Thermodynamics of Statistical Learning", 2007;
    /// A PAC-Bayes bound that is convex in the posterior.
    THIEMANN = "N. Thiemann, C. Igel, O. Wintenberger & Y. Seldin", "A Strongly Quasiconvex PAC-Bayesian Bound", 2017;
    /// PAC-Bayes bounds with priors from a compression set.
    GRAEPEL = "T. Graepel, R. Herbrich & J. Shawe-Taylor", "PAC-Bayesian Compression Bounds on the Prediction Error of Learning Algorithms for Classification", 2005;
    /// PAC-Bayes bounds of Gaussian process classifiers.
    SEEGER = "M. Seeger", "PAC-Bayesian Generalisation Error Bounds for Gaussian Process Classification", 2002;
    /// Learned sums of kernels.
    CORTES = "C. Cortes, M. Mohri & A. Rostamizadeh", "Generalization Bounds for Learning Kernels", 2010;
    /// Complexities of the functions of a kernel whose variance is small.
    MENDELSON = "S. Mendelson", "Geometric Parameters of Kernel Machines", 2002;
    /// Generalised cross-validation.
    GOLUB = "G. H. Golub, M. Heath & G. Wahba", "Generalized Cross-Validation as a Method for Choosing a Good Ridge Parameter", 1979;
    /// Means of bounded numbers by betting.
    WAUDBY_SMITH = "I. Waudby-Smith & A. Ramdas", "Estimating Means of Bounded Random Variables by Betting", 2024;
}
