//! The Gaussian kernel with a full inverse covariance.

mod covariance;

use super::{Gaussian, Profile, Radial};
use crate::data::{Coordinate, Kind, Rows, Scalar, Values};
use crate::gram::Gram;
use crate::kernels::prepared::{Sided, downcast};
use crate::kernels::vectors::{Family, Packed, merge_indexed};
use crate::kernels::{Definite, Domain, KernelEntry, KernelError, KernelFacts, Prepared};
use crate::kernels::{Derivatives, Sides};
use crate::params::{Choice, Params, Rule, Visit};
use crate::sources::{GPML, Source};
use std::sync::Arc;

/// The source of the matrix P.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// From the one who writes the formula.
    #[default]
    Given,
    /// The inverse covariance of the training examples.
    InverseCovariance,
    /// The inverse of their covariance, shrunken towards a multiple of the identity.
    Shrunken,
}

impl Choice for Metric {
    fn options(&self) -> &'static [&'static str] {
        &["given", "inverse_covariance", "shrunken"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        *self = [Self::Given, Self::InverseCovariance, Self::Shrunken][position.min(2)];
    }
}

/// κ(x, y) = exp(−½ (x − y)ᵀ P (x − y)/ℓ²)
///
/// With the metric `inverse_covariance`, P is taken from the training vectors: the inverse of (1 − ρ)S + ρμI, where S is
/// their covariance, μ the mean of its diagonal and ρ = 10⁻⁶, so that collinear or constant coordinates do no harm. The
/// metric `shrunken` takes the larger ρ of Ledoit & Wolf, for examples that are few beside their coordinates. P then is a
/// list of numbers like one that is given, and the metric `given`.
///
/// # Source
/// Rasmussen & Williams (2006), (5.1) with a full matrix; Herbrich (2002), Table 2.1, has the diagonal one, here `ard`;
/// Ledoit & Wolf (2004) for the covariance.
///
/// # Use when
/// Coordinates are correlated, or a metric was learned elsewhere. P is symmetric without negative eigenvalues, such as an
/// inverse covariance; a matrix of lower rank looks at some directions only. With an inverse covariance, (x − y)ᵀ P (x − y)
/// is 2d on average: a length near √d is a good start.
///
/// # Cost
/// As the Gaussian kernel, after one product of the data with a factor of P. Sparse vectors become dense, as wide as P.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, radial::Mahalanobis};
/// let k = Mahalanobis { precision: vec![2.0, 1.0, 1.0, 3.0], ..Mahalanobis::default() };
/// let value: f64 = k.eval([1.0, 1.0].as_slice(), [0.0, 0.0].as_slice());
/// assert!((value - (-3.5f64).exp()).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mahalanobis {
    /// The matrix P, row by row; a single number is that multiple of the identity.
    pub precision: Vec<f64>,
    /// The source of the matrix: given, or learned from the training examples.
    pub metric: Metric,
    /// Length scale ℓ.
    pub length: f64,
}

impl Default for Mahalanobis {
    fn default() -> Self {
        Self { precision: vec![1.0], metric: Metric::Given, length: 1.0 }
    }
}

impl Params for Mahalanobis {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.reals(
            "precision",
            &mut self.precision,
            Rule::Any,
            "inverse covariance P, row by row, or one number for all directions",
        );
        v.choice(
            "metric",
            &mut self.metric,
            "whether P is given, or the inverse_covariance of the training data, shrunken or not",
        );
        v.real("length", &mut self.length, Rule::Above(0.0), "length scale ℓ that distances are divided by");
    }
}

impl Mahalanobis {
    /// The Gaussian kernel of whitened vectors.
    fn gaussian(&self) -> Radial<Gaussian> {
        let gamma = 0.5 / (self.length * self.length);
        Radial(Gaussian::new(if let [one] = *self.precision.as_slice() { gamma * one } else { gamma }))
    }

    /// The width of P, where it is a matrix.
    fn width(&self) -> usize {
        self.precision.len().isqrt()
    }

    /// κ from the coordinates in which two vectors differ; not a number while P is to be learned.
    fn at(&self, differences: &[(usize, f64)]) -> f64 {
        match self.metric {
            Metric::Given => (-0.5 * self.form(differences) / (self.length * self.length)).exp(),
            Metric::InverseCovariance | Metric::Shrunken => f64::NAN,
        }
    }

    /// (x − y)ᵀ P (x − y) from the coordinates in which they differ.
    fn form(&self, differences: &[(usize, f64)]) -> f64 {
        if let [one] = self.precision.as_slice() {
            return one * differences.iter().map(|(_, a)| a * a).sum::<f64>();
        }
        let width = self.width();
        let known = || differences.iter().filter(|(j, _)| *j < width);
        known().map(|&(i, a)| a * known().map(|&(j, b)| self.precision[i * width + j] * b).sum::<f64>()).sum()
    }

    fn refuse<T>(finding: String) -> Result<T, KernelError> {
        Err(KernelError::Param { kernel: ENTRY.name, finding })
    }

    /// Lᵀ with P = L Lᵀ, row by row: Cholesky's factor, with zero columns where P has no direction left.
    fn factor(&self, width: usize) -> Result<Vec<f64>, KernelError> {
        let n = self.width();
        if n * n != self.precision.len() {
            let given = self.precision.len();
            return Self::refuse(format!("{given} numbers are no square matrix; give one number, or {width}² of them"));
        }
        let p = |i: usize, j: usize| self.precision[i * n + j];
        let largest = (0..n).fold(0.0_f64, |m, i| m.max(p(i, i).abs()));
        let slack = 1e-10 * largest;
        for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
            if (p(i, j) - p(j, i)).abs() > slack {
                return Self::refuse(format!("the matrix is not symmetric at row {}, column {}", i + 1, j + 1));
            }
        }
        // up[k * n + i] is L_ik
        let mut up = vec![0.0; n * n];
        for k in 0..n {
            let left = |i: usize, up: &[f64]| p(i, k) - (0..k).map(|m| up[m * n + i] * up[m * n + k]).sum::<f64>();
            let pivot = left(k, &up);
            let flat = pivot.abs() <= slack;
            if pivot < -slack || (flat && (k + 1..n).any(|i| left(i, &up).abs() > slack.sqrt() * largest.sqrt())) {
                return Self::refuse(format!("the matrix has a negative eigenvalue, found at row {}", k + 1));
            }
            if !flat {
                let root = pivot.sqrt();
                for i in k..n {
                    up[k * n + i] = left(i, &up) / root;
                }
            }
        }
        Ok(up)
    }

    /// Lᵀ(x − centre) of every example.
    fn whiten(values: &Values, centre: &[f64], up: &[f64]) -> Values {
        fn rows<'a>(
            len: usize,
            n: usize,
            up: &[f64],
            row: impl Fn(usize, &mut [f64]) + 'a,
            centre: &[f64],
        ) -> Rows<f64> {
            let (mut out, mut x) = (Vec::with_capacity(len * n), vec![0.0; n]);
            for i in 0..len {
                x.iter_mut().zip(centre).for_each(|(x, c)| *x = -c);
                row(i, &mut x);
                for k in 0..n {
                    let products = up[k * n + k..(k + 1) * n].iter().zip(&x[k..]).map(|(u, x)| u * x);
                    out.push(products.sum::<f64>());
                }
            }
            match Rows::new(out, len, n) {
                Some(rows) => rows,
                None => unreachable!("n numbers for each example"),
            }
        }
        fn dense<S: Scalar>(r: &Rows<S>, i: usize, x: &mut [f64]) {
            x.iter_mut().zip(r.row(i)).for_each(|(x, v)| *x += v.wide());
        }
        fn sparse<S: Scalar>(row: &[Coordinate<S>], x: &mut [f64]) {
            row.iter().for_each(|c| {
                if let Some(x) = x.get_mut(c.index as usize) {
                    *x += c.value.wide();
                }
            });
        }
        let (len, n) = (values.len(), centre.len());
        match values {
            Values::Dense(r) => rows(len, n, up, |i, x| dense(r, i, x), centre),
            Values::Dense32(r) => rows(len, n, up, |i, x| dense(r, i, x), centre),
            Values::Sparse(r) => rows(len, n, up, |i, x| sparse(r.row(i), x), centre),
            Values::Sparse32(r) => rows(len, n, up, |i, x| sparse(r.row(i), x), centre),
            Values::Text(_) | Values::Index(_) | Values::Items(_) => {
                unreachable!("vector families are given vectors only")
            }
        }
        .into()
    }
}

impl Family for Mahalanobis {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts { learns: self.metric != Metric::Given, ..KernelFacts::unit_and_never_negative() }
    }

    fn learn(&mut self, values: &Values) {
        if self.metric != Metric::Given
            && let Some(inverse) = covariance::inverse(values, self.metric == Metric::Shrunken)
        {
            (self.precision, self.metric) = (inverse, Metric::Given);
        }
    }

    fn dense<S: Scalar>(&self, x: &[S], y: &[S]) -> f64 {
        let differences: Vec<_> = x.iter().zip(y).map(|(a, b)| a.wide() - b.wide()).enumerate().collect();
        self.at(&differences)
    }

    fn sparse<S: Scalar>(&self, x: &[Coordinate<S>], y: &[Coordinate<S>]) -> f64 {
        let mut differences = Vec::new();
        merge_indexed(x, y, |j, a, b| differences.push((j, a - b)));
        self.at(&differences)
    }

    fn prepare(&self, values: &Values, like: Option<&Arc<dyn Prepared>>) -> Result<Arc<dyn Prepared>, KernelError> {
        if self.metric != Metric::Given {
            let most = covariance::MAX_COORDINATES;
            let width = values.width().unwrap_or(0);
            return Self::refuse(format!(
                "the inverse covariance of these vectors of {width} coordinates is not known; it is learned from training \
                 vectors of at most {most} coordinates whose squares are finite"
            ));
        }
        if let [one] = *self.precision.as_slice() {
            if one < 0.0 {
                return Self::refuse(format!("{one} is negative, and would make distances imaginary"));
            }
            if let Some(like) = like {
                downcast::<Packed>(like, ENTRY.name)?.check_width(values, ENTRY.name)?;
            }
            return Family::prepare(&self.gaussian(), values, like);
        }
        let dense = matches!(values, Values::Dense(_) | Values::Dense32(_));
        let width = values.width().unwrap_or(0);
        if let Some(like) = like {
            let like: Arc<Side> = downcast(like, ENTRY.name)?;
            let whitening = &like.shared;
            if width != whitening.width && (dense || whitening.dense) {
                return Err(KernelError::Width { kernel: ENTRY.name, got: width, wanted: whitening.width });
            }
            let white = Self::whiten(values, &whitening.centre, &whitening.up);
            return Ok(Arc::new(Side {
                examples: Arc::new(like.examples.like(&white)),
                shared: Arc::clone(whitening),
            }));
        }
        let n = self.width();
        let up = self.factor(width)?;
        // sparse vectors may end before the last coordinate
        if width > n || (dense && width < n && width > 0) {
            return Self::refuse(format!("a matrix of {n} rows was given for vectors of {width} coordinates"));
        }
        let mut centre = Packed::means(values).unwrap_or_default();
        centre.resize(n, 0.0);
        let white = Self::whiten(values, &centre, &up);
        let examples = Arc::new(Packed::first(&white, self.gaussian().packing(&white)?));
        Ok(Arc::new(Side { examples, shared: Arc::new(Whitening { centre, up, width, dense }) }))
    }

    /// The entries of a metric are tied to each other: it is symmetric without negative eigenvalues. `ard` learns lengths.
    fn fixed(&self) -> &'static [&'static str] {
        &["precision"]
    }

    fn derivatives(&self, sides: &Sides) -> Result<Option<Arc<dyn Derivatives>>, KernelError> {
        // what cannot be compared has no derivative either
        crate::kernels::Leaf::gram(self, sides.rows(), sides.cols(), sides.same())?;
        let gamma = 0.5 / (self.length * self.length);
        if let [one] = *self.precision.as_slice() {
            let profile = Whitened { gamma: gamma * one, length: self.length };
            return Family::derivatives(&Radial(profile), sides);
        }
        let up = self.factor(sides.cols().width().unwrap_or(0))?;
        let mut centre = crate::kernels::vectors::Packed::means(sides.cols()).unwrap_or_default();
        centre.resize(self.width(), 0.0);
        let right = Self::whiten(sides.cols(), &centre, &up);
        let left = if sides.same() { right.clone() } else { Self::whiten(sides.rows(), &centre, &up) };
        Family::derivatives(&Radial(Whitened { gamma, length: self.length }), &Sides::new(left, right, sides.same()))
    }

    fn gradient(&self, x: &[f64], z: &[f64], alpha: f64, out: &mut [f64]) -> bool {
        if self.metric != Metric::Given {
            return false;
        }
        let differences: Vec<(usize, f64)> = z.iter().zip(x).map(|(z, x)| z - x).enumerate().collect();
        // −κ P(z − x)/ℓ²
        let slope = -alpha * self.at(&differences) / (self.length * self.length);
        let width = self.width();
        for (i, o) in out.iter_mut().enumerate().take(differences.len()) {
            *o += slope
                * match self.precision.as_slice() {
                    [one] => one * differences[i].1,
                    _ if i >= width => 0.0,
                    all => {
                        let row = &all[i * width..(i + 1) * width];
                        row.iter().zip(&differences).map(|(p, (_, d))| p * d).sum()
                    }
                };
        }
        true
    }

    fn gram_between(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        if self.precision.len() == 1 {
            return Family::gram_between(&self.gaussian(), rows, cols);
        }
        let (rows, cols) = Side::pair(rows, cols, ENTRY.name)?;
        self.gaussian().packed_gram(Arc::clone(&rows.examples), Arc::clone(&cols.examples))
    }
}

/// exp(−γ‖x − y‖²) of whitened vectors with γ = 1/2ℓ²: the derivative is by ℓ.
#[derive(Clone, Debug)]
struct Whitened {
    gamma: f64,
    length: f64,
}

impl Params for Whitened {
    fn visit(&mut self, _: &mut dyn Visit) {}
}

impl Profile for Whitened {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, squared_distance: S) -> S {
        Gaussian::new(self.gamma).at(squared_distance)
    }

    fn slope(&self, squared_distance: f64) -> f64 {
        Gaussian::new(self.gamma).slope(squared_distance)
    }

    fn partial(&self, _: usize, squared_distance: f64) -> f64 {
        -2.0 * squared_distance / self.length * self.slope(squared_distance)
    }
}

/// Whitened vectors.
type Side = Sided<Packed, Whitening>;

/// The whitening of vectors: z = Lᵀ(x − centre).
struct Whitening {
    centre: Vec<f64>,
    /// Lᵀ, row by row.
    up: Vec<f64>,
    /// The width of the training vectors, and whether they are dense.
    width: usize,
    dense: bool,
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "mahalanobis",
    aliases: &[],
    formula: "exp(−½ (x − y)ᵀ P (x − y)/ℓ²)",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&GPML, "§5.1, (5.1)"),
    use_when: "coordinates are correlated: the metric is given, or the inverse covariance of the training examples",
    cost: "As the Gaussian kernel, after one product of the data with a factor of P. Sparse vectors become dense, as wide as P.",
    make: || Box::new(Mahalanobis::default()),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::fill;
    use crate::kernels::Leaf;
    use crate::kernels::radial::Ard;
    use crate::kernels::resolve;
    use crate::linalg::symmetric_eigen;
    use crate::seed::Seed;

    fn given(precision: Vec<f64>) -> Mahalanobis {
        Mahalanobis { precision, ..Mahalanobis::default() }
    }

    #[test]
    fn a_learned_metric_is_the_gaussian_kernel_of_whitened_vectors() {
        let (n, d, length) = (60, 3, 1.7);
        let mut random = Seed(8).stream("whitening");
        let mut row = || {
            let (a, b, c) = (random.normal(), random.normal(), random.normal());
            [a, a + 0.2 * b, 4.0 * c - a]
        };
        let x: Vec<f64> = (0..n).flat_map(|_| row()).collect();
        let values = Values::from(Rows::new(x.clone(), n, d).unwrap());
        for metric in [Metric::InverseCovariance, Metric::Shrunken] {
            let mut k = Mahalanobis { metric, length, ..Mahalanobis::default() };
            let refused = Leaf::gram(&k, &values, &values, true).err().unwrap().to_string();
            assert!(refused.contains("not known") && k.dense(&x[..3], &x[3..6]).is_nan(), "{refused}");
            resolve(&mut k, &values, Seed(1));
            assert!(k.metric == Metric::Given && k.precision.len() == 9);
            // whitening: z = Λ^½ Vᵀ x from the eigenvectors of the learned matrix
            let eigen = symmetric_eigen(k.precision.clone(), d).unwrap();
            let along = |x: &[f64], c: usize| (0..d).map(|j| eigen.vectors[j * d + c] * x[j]).sum::<f64>();
            let white = |x: &[f64]| (0..d).map(|c| eigen.values[c].sqrt() * along(x, c)).collect::<Vec<_>>();
            let z: Vec<f64> = x.chunks(d).flat_map(white).collect();
            let mut got = vec![0.0; n * n];
            fill(Leaf::gram(&k, &values, &values, true).unwrap().as_ref(), &mut got);
            for (p, got) in got.iter().enumerate() {
                let (a, b) = (&z[p / n * d..][..d], &z[p % n * d..][..d]);
                let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
                assert!((got - (-0.5 * square / (length * length)).exp()).abs() < 1e-11);
            }
            // whitened vectors have variance one in every direction; less in narrow ones where the metric was shrunken
            let column = |c: usize| z.iter().skip(c).step_by(d);
            let mean = |c: usize| column(c).sum::<f64>() / n as f64;
            let variance = |c: usize| column(c).map(|v| (v - mean(c)).powi(2)).sum::<f64>() / n as f64;
            let least = if metric == Metric::Shrunken { 0.01 } else { 0.99 };
            assert!(
                (0..d).all(|c| variance(c) > least && variance(c) < 1.1),
                "{:?}",
                (0..d).map(variance).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn a_diagonal_matrix_is_a_length_for_each_coordinate() {
        let full = given(vec![4.0, 0.0, 0.0, 0.25]);
        let ard = Radial(Ard { lengths: vec![0.5, 2.0] });
        let (x, y) = ([0.3, -1.0], [0.1, 0.6]);
        assert!((full.dense(&x, &y) - ard.dense(&x, &y)).abs() < 1e-15);
    }

    #[test]
    fn a_matrix_of_rank_one_sees_one_direction() {
        // P = u uᵀ with u = (1, 2, −1)
        let precision = vec![1.0, 2.0, -1.0, 2.0, 4.0, -2.0, -1.0, -2.0, 1.0];
        let rows = Values::from(Rows::new(vec![1.0, 0.5, 2.0, 0.0, 1.0, -1.0, 3.0, -1.5, 0.0], 3, 3).unwrap());
        let k = given(precision);
        let mut got = vec![0.0; 9];
        fill(Leaf::gram(&k, &rows, &rows, true).unwrap().as_ref(), &mut got);
        let along = [0.0_f64, 3.0, 0.0];
        for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
            let wanted = (-0.5 * (along[i] - along[j]).powi(2)).exp();
            assert!((got[i * 3 + j] - wanted).abs() < 1e-14, "{got:?}");
        }
    }

    #[test]
    fn what_is_no_inverse_covariance_is_refused() {
        let rows = Values::from(Rows::new(vec![1.0, 0.5, 2.0, 0.0], 2, 2).unwrap());
        for (precision, word) in [
            (vec![1.0, 2.0, 3.0], "square"),
            (vec![1.0, 0.5, -0.5, 1.0], "symmetric"),
            (vec![1.0, 2.0, 2.0, 1.0], "negative eigenvalue"),
            (vec![0.0, 1.0, 1.0, 0.0], "negative eigenvalue"),
            (vec![-1.0], "negative"),
            (vec![1.0; 9], "3 rows"),
        ] {
            let refused = Leaf::gram(&given(precision), &rows, &rows, true).err().unwrap().to_string();
            assert!(refused.contains(word), "{refused}");
        }
    }
}
