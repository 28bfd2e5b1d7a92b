//! The Gaussian kernel of vectors with missing entries.

use super::vectors::{Family, Packed, Packing, PairFamily, PairGram, merge_indexed, weight};
use super::vectors::{PairDerivatives, PairSlopes};
use super::{Definite, Domain, KernelEntry, KernelError, KernelFacts};
use super::{Derivatives, Sides};
use crate::data::{Coordinate, Kind, Rows, Scalar, SparseRows, Values};
use crate::gram::Gram;
use crate::params::{Auto, Choice, Params, Rule, Visit};
use crate::sources::{MESQUITA, Source};
use std::cmp::Ordering;
use std::sync::Arc;

/// The source of the distribution of missing entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// Mean and variance of the observed training values of each coordinate.
    Data,
    /// The means and variances that are given.
    Given,
}

impl Choice for Gaps {
    fn options(&self) -> &'static [&'static str] {
        &["data", "given"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        *self = [Self::Data, Self::Given][position];
    }
}

/// κ(x, y) = E exp(−γ‖x − y‖²), where every missing entry (NaN) is drawn from N(μ_j, s_j²), independently
///
/// A coordinate gives exp(−γ(x_j − y_j)²) where both are there, (1 + 2γs²)^(−½) exp(−γ(x_j − μ)²/(1 + 2γs²)) where one is,
/// and (1 + 4γs²)^(−½) where none is. Nothing is filled in.
///
/// # Source
/// The expected Gaussian kernel of Mesquita, Gomes & Rodrigues (2019), who take the missing entries from a mixture and the
/// distance as a Gamma variable; here they are independent Gaussians, for which the expectation has a closed form. An
/// expectation over both examples is an inner product of mean features, so κ is positive definite; κ(x, x) is below 1
/// where x has gaps.
///
/// # Use when
/// Entries are missing here and there, and a stand-in would pretend to know them. Keep them with `--missing keep`.
///
/// # Cost
/// A few operations for each coordinate and one exponential for each pair; no matrix product helps.
///
/// # Example
/// ```
/// use mercer::kernels::{Gaps, Kernel, MissingGaussian};
/// let k = MissingGaussian { gamma: 0.5.into(), gaps: Gaps::Given, means: vec![0.0], variances: vec![3.0] };
/// let value: f64 = k.eval([2.0, f64::NAN].as_slice(), [1.0, 0.0].as_slice());
/// assert!((value - 0.5 * (-0.5f64).exp()).abs() < 1e-15); // (1 + 2·½·3)^(−½) = ½
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MissingGaussian {
    /// Inverse squared width γ.
    pub gamma: Auto,
    /// The source of the distribution of missing entries.
    pub gaps: Gaps,
    /// Means μ_j, one for each coordinate or one for all.
    pub means: Vec<f64>,
    /// Variances s_j², one for each coordinate or one for all.
    pub variances: Vec<f64>,
}

impl Default for MissingGaussian {
    fn default() -> Self {
        Self { gamma: Auto::Word("scale"), gaps: Gaps::Data, means: vec![0.0], variances: vec![1.0] }
    }
}

impl Params for MissingGaussian {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.auto("gamma", &mut self.gamma, super::resolve::WORDS, Rule::Above(0.0), "inverse squared width γ");
        v.choice("gaps", &mut self.gaps, "whether means and variances come from the training data or are given");
        v.reals(
            "means",
            &mut self.means,
            Rule::Any,
            "means of missing entries, one for each coordinate or one for all",
        );
        v.reals(
            "variances",
            &mut self.variances,
            Rule::AtLeast(0.0),
            "variances of missing entries, one for each coordinate or one for all",
        );
    }
}

/// Someone who is shown coordinates and numbers.
type See<'a> = &'a mut dyn FnMut(usize, f64);

/// Mean and variance of the numbers that are there, of every coordinate; zeros of sparse vectors are there.
fn moments(values: &Values) -> (Vec<f64>, Vec<f64>) {
    fn of(n: usize, width: usize, each: &dyn Fn(See<'_>)) -> (Vec<f64>, Vec<f64>) {
        let (mut gaps, mut stored) = (vec![0_usize; width], vec![0_usize; width]);
        let mut means = vec![0.0; width];
        each(&mut |j, x| {
            if x.is_nan() {
                gaps[j] += 1;
            } else {
                stored[j] += 1;
                means[j] += x;
            }
        });
        let count = |j: usize| (n - gaps[j]).max(1) as f64;
        (0..width).for_each(|j| means[j] /= count(j));
        let mut variances = vec![0.0; width];
        each(&mut |j, x| {
            if !x.is_nan() {
                variances[j] += (x - means[j]) * (x - means[j]);
            }
        });
        for j in 0..width {
            let zeros = (n - gaps[j] - stored[j]) as f64;
            variances[j] = (variances[j] + zeros * means[j] * means[j]) / count(j);
        }
        (means, variances)
    }
    fn dense<S: Scalar>(r: &Rows<S>) -> (Vec<f64>, Vec<f64>) {
        of(r.len(), r.width(), &|see| {
            (0..r.len()).for_each(|i| r.row(i).iter().enumerate().for_each(|(j, x)| see(j, x.wide())));
        })
    }
    fn sparse<S: Scalar>(r: &SparseRows<S>) -> (Vec<f64>, Vec<f64>) {
        of(r.len(), r.width(), &|see| r.coordinates().iter().for_each(|c| see(c.index as usize, c.value.wide())))
    }
    match values {
        Values::Dense(r) => dense(r),
        Values::Dense32(r) => dense(r),
        Values::Sparse(r) => sparse(r),
        Values::Sparse32(r) => sparse(r),
        Values::Text(_) | Values::Index(_) | Values::Items(_) => (Vec::new(), Vec::new()),
    }
}

/// The term of every coordinate in the negative logarithm.
#[derive(Clone)]
struct Marginal {
    gamma: f64,
    means: Vec<f64>,
    /// γ/(1 + 2γs²).
    wide: Vec<f64>,
    /// ½ ln(1 + 2γs²).
    one: Vec<f64>,
    /// ½ ln(1 + 4γs²).
    both: Vec<f64>,
}

impl MissingGaussian {
    fn marginal(&self) -> Marginal {
        let gamma = self.gamma.value();
        let of = |f: &dyn Fn(f64) -> f64| self.variances.iter().map(|&s| f(s)).collect();
        Marginal {
            gamma,
            means: self.means.clone(),
            wide: of(&|s| gamma / (1.0 + 2.0 * gamma * s)),
            one: of(&|s| 0.5 * (2.0 * gamma * s).ln_1p()),
            both: of(&|s| 0.5 * (4.0 * gamma * s).ln_1p()),
        }
    }
}

impl PairFamily for Marginal {
    #[inline(always)]
    fn term<S: Scalar>(&self, _: S, _: S) -> S {
        unreachable!("every coordinate has its own distribution");
    }

    #[inline(always)]
    #[allow(clippy::eq_op)] // only NaN differs from itself
    fn term_at<S: Scalar>(&self, j: usize, x: S, y: S) -> S {
        let at = |table: &[f64]| S::narrow(weight(table, j));
        let (no_x, no_y) = (x != x, y != y);
        let (either, both) = (no_x || no_y, no_x && no_y);
        let mean = at(&self.means);
        let left = if no_x { mean } else { x };
        let right = if no_y { mean } else { y };
        let difference = left - right;
        let factor = if either { at(&self.wide) } else { S::narrow(self.gamma) };
        let constant = if both { at(&self.both) } else { at(&self.one) };
        let constant = if either { constant } else { S::default() };
        factor * difference * difference + constant
    }

    #[inline(always)]
    fn outer<S: Scalar>(&self, sum: S) -> S {
        (-sum).exp()
    }
}

impl Family for MissingGaussian {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        // a missing entry takes away from one
        KernelFacts {
            self_similarity: Some([0.0, 1.0]),
            never_negative: true,
            learns: self.gaps == Gaps::Data,
            smoothed_by: &[("gamma", Ordering::Less)],
            searched: "gamma=1e-4..10:log6",
            ..KernelFacts::default()
        }
    }

    fn learn(&mut self, values: &Values) {
        // a file's largest index does not decide about memory: one distribution for all features of very wide vectors
        const MAX_COORDINATES: usize = 1 << 20;
        if self.gaps == Gaps::Data && values.width().is_some_and(|w| (1..MAX_COORDINATES).contains(&w)) {
            (self.means, self.variances) = moments(values);
        }
        self.gaps = Gaps::Given;
    }

    fn dense<S: Scalar>(&self, x: &[S], y: &[S]) -> f64 {
        let marginal = self.marginal();
        let pairs = x.iter().zip(y).enumerate();
        marginal.outer(pairs.map(|(j, (a, b))| marginal.term_at(j, a.wide(), b.wide())).sum())
    }

    fn sparse<S: Scalar>(&self, x: &[Coordinate<S>], y: &[Coordinate<S>]) -> f64 {
        let (marginal, mut sum) = (self.marginal(), 0.0);
        merge_indexed(x, y, |j, a, b| sum += marginal.term_at(j, a, b));
        marginal.outer(sum)
    }

    fn packing(&self, cols: &Values) -> Result<Packing, KernelError> {
        let width = cols.width().unwrap_or(0);
        let dense = matches!(cols, Values::Dense(_) | Values::Dense32(_));
        for (what, given) in [("means", self.means.len()), ("variances", self.variances.len())] {
            if given > 1 && (given < width || (dense && given > width && width > 0)) {
                let finding =
                    format!("{given} {what} were given for vectors of {width} coordinates; give one, or {width}");
                return Err(KernelError::Param { kernel: ENTRY.name, finding });
            }
        }
        // a factor for each coordinate keeps them in place
        let places = self.means.len().max(self.variances.len());
        let weights = (places > 1).then(|| Arc::new(vec![1.0; places]));
        Ok(Packing { centre: false, weights })
    }

    fn packed_gram(&self, rows: Arc<Packed>, cols: Arc<Packed>) -> Result<Arc<dyn Gram>, KernelError> {
        Ok(Arc::new(PairGram::of(self.marginal(), rows, cols)))
    }

    fn derivatives(&self, sides: &Sides) -> Result<Option<Arc<dyn Derivatives>>, KernelError> {
        let places = self.means.len().max(self.variances.len());
        let places = (places > 1).then(|| vec![1.0; places]);
        let family = MarginalSlopes { variances: self.variances.clone(), marginal: self.marginal() };
        Ok(Some(Arc::new(PairDerivatives::new(family, sides, false, places))))
    }

    fn gradient(&self, x: &[f64], z: &[f64], alpha: f64, out: &mut [f64]) -> bool {
        let marginal = self.marginal();
        let slope = -alpha * self.dense(x, z);
        for (j, (o, (&x, &z))) in out.iter_mut().zip(x.iter().zip(z)).enumerate() {
            // an entry that is missing does not move
            if !z.is_nan() {
                let (left, factor) =
                    if x.is_nan() { (weight(&self.means, j), weight(&marginal.wide, j)) } else { (x, marginal.gamma) };
                *o += slope * 2.0 * factor * (z - left);
            }
        }
        true
    }
}

/// The term of every coordinate, with its derivatives by γ, means and variances, in this order.
#[derive(Clone)]
struct MarginalSlopes {
    marginal: Marginal,
    variances: Vec<f64>,
}

impl MarginalSlopes {
    /// The derivatives of a coordinate's term by γ, its mean and its variance. With t = 1 + 2γs: the term of one gap is
    /// γ(x − μ)²/t + ½ ln t, that of two is ½ ln(1 + 4γs).
    fn slopes(&self, j: usize, x: f64, y: f64) -> [f64; 3] {
        let (gamma, s) = (self.marginal.gamma, weight(&self.variances, j));
        let (t, both) = (1.0 + 2.0 * gamma * s, 1.0 + 4.0 * gamma * s);
        match (x.is_nan(), y.is_nan()) {
            (false, false) => [(x - y) * (x - y), 0.0, 0.0],
            (true, true) => [2.0 * s / both, 0.0, 2.0 * gamma / both],
            (gap, _) => {
                let off = if gap { y } else { x } - weight(&self.marginal.means, j);
                let square = off * off / (t * t);
                [square + s / t, -2.0 * gamma * off / t, gamma / t - 2.0 * gamma * gamma * square]
            }
        }
    }

    /// The derivative, one of three, that the p-th parameter has at a coordinate; `None` where it belongs to another.
    fn which(&self, p: usize, j: usize) -> Option<usize> {
        let at = |place: usize, len: usize| len == 1 || place == j;
        let (means, variances) = (self.marginal.means.len(), self.variances.len());
        match p.checked_sub(1) {
            None => Some(0),
            Some(place) if place < means => at(place, means).then_some(1),
            Some(place) => at(place - means, variances).then_some(2),
        }
    }
}

impl PairFamily for MarginalSlopes {
    #[inline(always)]
    fn term<S: Scalar>(&self, x: S, y: S) -> S {
        self.marginal.term(x, y)
    }

    #[inline(always)]
    fn term_at<S: Scalar>(&self, j: usize, x: S, y: S) -> S {
        self.marginal.term_at(j, x, y)
    }

    #[inline(always)]
    fn outer<S: Scalar>(&self, sum: S) -> S {
        self.marginal.outer(sum)
    }
}

impl PairSlopes for MarginalSlopes {
    const PARAMETERS_PER_COORDINATE: bool = true;

    fn in_term(&self, _: usize) -> bool {
        true
    }

    #[inline(always)]
    fn term_partial<S: Scalar>(&self, p: usize, j: usize, x: S, y: S) -> S {
        match self.which(p, j) {
            Some(which) => S::narrow(self.slopes(j, x.wide(), y.wide())[which]),
            None => S::default(),
        }
    }

    fn add_partials(&self, j: usize, x: f64, y: f64, factor: f64, sums: &mut [f64]) {
        let [by_gamma, by_mean, by_variance] = self.slopes(j, x, y);
        let place = |len: usize| if len == 1 { 0 } else { j };
        let means = self.marginal.means.len();
        sums[0] += factor * by_gamma;
        sums[1 + place(means)] += factor * by_mean;
        sums[1 + means + place(self.variances.len())] += factor * by_variance;
    }

    fn outer_slope(&self, sum: f64) -> f64 {
        -(-sum).exp()
    }

    fn outer_partial(&self, _: usize, _: f64) -> f64 {
        0.0
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "missing_gaussian",
    aliases: &["missing_rbf"],
    formula: "E exp(−γ‖x − y‖²) over missing entries N(μ_j, s_j²)",
    definite: Definite::Positive,
    domain: Domain::Incomplete,
    kind: Kind::Vectors,
    source: Source::new(&MESQUITA, "the expected Gaussian kernel"),
    use_when: "entries are missing, and nothing should be filled in",
    cost: "A few operations for each coordinate and one exponential for each pair; no matrix product helps.",
    make: || Box::new(MissingGaussian::default()),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::fill;
    use crate::kernels::{Leaf, resolve};
    use crate::linalg::symmetric_eigen;
    use crate::seed::Seed;

    const NAN: f64 = f64::NAN;

    /// E f(z) over N(mean, variance) by the trapezoidal rule.
    fn expected(mean: f64, variance: f64, f: impl Fn(f64) -> f64) -> f64 {
        let deviation = variance.sqrt();
        let density = |t: f64| (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
        (-400..=400).map(|k| f64::from(k) * 0.02).map(|t| 0.02 * density(t) * f(mean + deviation * t)).sum()
    }

    #[test]
    fn is_the_expectation_by_quadrature() {
        let (gamma, means, variances) = (0.7, vec![0.4, -1.0], vec![1.3, 0.2]);
        let k = MissingGaussian {
            gamma: gamma.into(),
            gaps: Gaps::Given,
            means: means.clone(),
            variances: variances.clone(),
        };
        let plain = |a: f64, b: f64| (-gamma * (a - b) * (a - b)).exp();
        let one = |j: usize, x: f64| expected(means[j], variances[j], |z| plain(x, z));
        let both = |j: usize| expected(means[j], variances[j], |z| one(j, z));
        for (x, y, wanted) in [
            ([0.3, 0.9], [1.0, -0.2], plain(0.3, 1.0) * plain(0.9, -0.2)),
            ([NAN, 0.9], [1.0, -0.2], one(0, 1.0) * plain(0.9, -0.2)),
            ([0.3, 0.9], [1.0, NAN], plain(0.3, 1.0) * one(1, 0.9)),
            ([NAN, 0.9], [NAN, NAN], both(0) * one(1, 0.9)),
        ] {
            let got = k.dense(&x, &y);
            assert!((got - wanted).abs() < 1e-9, "{x:?} {y:?}: {got} {wanted}");
        }
    }

    #[test]
    fn gaps_are_learned_from_what_is_there_and_the_matrix_is_positive() {
        let mut random = Seed(4).stream("gaps");
        let x = (0..60 * 4).map(|_| if random.uniform() < 0.3 { NAN } else { random.normal() }).collect();
        let values = Values::from(Rows::new(x, 60, 4).unwrap());
        let mut k: Box<dyn Leaf> = Box::new(MissingGaussian::default());
        resolve(k.as_mut(), &values, Seed(1));
        let printed = format!("{:?}", k.settings());
        assert!(printed.contains("given") && !printed.contains("NaN") && !printed.contains("scale"), "{printed}");
        let mut gram = vec![0.0; 3600];
        fill(k.gram(&values, &values, true).unwrap().as_ref(), &mut gram);
        for (i, j) in (0..60).flat_map(|i| (0..60).map(move |j| (i, j))) {
            assert!((gram[i * 60 + j] - k.eval(&values, i, &values, j)).abs() < 1e-14);
        }
        let low = symmetric_eigen(gram, 60).unwrap().values.last().copied().unwrap();
        assert!(low > -1e-12, "{low:e}");
        let (means, variances) = moments(&Rows::new(vec![1.0, NAN, 3.0, NAN, NAN, 5.0], 3, 2).unwrap().into());
        assert_eq!((means, variances), (vec![2.0, 5.0], vec![1.0, 0.0]));
    }

    #[test]
    fn other_kernels_say_that_they_cannot() {
        let values = Values::from(Rows::new(vec![1.0, 2.0, 0.5, NAN], 2, 2).unwrap());
        let mut rbf = (crate::kernels::find("rbf").unwrap().make)();
        resolve(rbf.as_mut(), &values, Seed(1));
        let refused = rbf.gram(&values, &values, true).err().unwrap();
        assert_eq!(refused, KernelError::Missing { kernel: "rbf", example: 2, coordinate: 2 });
    }
}
