//! The Gaussian kernel with a full inverse covariance.

use super::{Gaussian, Radial};
use crate::data::{Coordinate, Kind, Rows, Scalar, Values};
use crate::gram::Gram;
use crate::kernels::vectors::{Family, merge_indexed};
use crate::kernels::{Definite, Domain, KernelEntry, KernelError};
use crate::params::{Params, Rule, Visit};
use crate::sources::{GPML, Source};
use std::sync::Arc;

/// κ(x, y) = exp(−½ (x − y)ᵀ P (x − y))
///
/// # Source
/// Rasmussen & Williams (2006), (5.1) with a full matrix; Herbrich (2002), Table 2.1, has the diagonal one, here `ard`.
///
/// # Use when
/// Coordinates are correlated, or a metric was learned elsewhere. P is symmetric without negative eigenvalues, such as an
/// inverse covariance; a matrix of lower rank looks at some directions only.
///
/// # Cost
/// As the Gaussian kernel, after one product of the data with a factor of P. Sparse vectors become dense, as wide as P.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, radial::Mahalanobis};
/// let k = Mahalanobis { precision: vec![2.0, 1.0, 1.0, 3.0] };
/// let value: f64 = k.eval([1.0, 1.0].as_slice(), [0.0, 0.0].as_slice());
/// assert!((value - (-3.5f64).exp()).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mahalanobis {
    /// The matrix P, row by row; a single number is that multiple of the identity.
    pub precision: Vec<f64>,
}

impl Default for Mahalanobis {
    fn default() -> Self {
        Self { precision: vec![1.0] }
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
    }
}

impl Mahalanobis {
    /// The width of P, where it is a matrix.
    fn width(&self) -> usize {
        self.precision.len().isqrt()
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
            Values::Text(_) | Values::Index(_) => unreachable!("vector families are given vectors only"),
        }
        .into()
    }
}

impl Family for Mahalanobis {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn dense<S: Scalar>(&self, x: &[S], y: &[S]) -> f64 {
        let differences: Vec<_> = x.iter().zip(y).map(|(a, b)| a.wide() - b.wide()).enumerate().collect();
        (-0.5 * self.form(&differences)).exp()
    }

    fn sparse<S: Scalar>(&self, x: &[Coordinate<S>], y: &[Coordinate<S>]) -> f64 {
        let mut differences = Vec::new();
        merge_indexed(x, y, |j, a, b| differences.push((j, a - b)));
        (-0.5 * self.form(&differences)).exp()
    }

    fn gram(&self, rows: &Values, cols: &Values, same: bool) -> Result<Arc<dyn Gram>, KernelError> {
        if let [one] = *self.precision.as_slice() {
            if one < 0.0 {
                return Self::refuse(format!("{one} is negative, and would make distances imaginary"));
            }
            return Radial(Gaussian::new(0.5 * one)).gram(rows, cols, same);
        }
        let (width, n) = (cols.width().unwrap_or(0), self.width());
        let up = self.factor(width)?;
        let dense = matches!(cols, Values::Dense(_) | Values::Dense32(_));
        // sparse vectors may end before the last coordinate
        if width > n || (dense && width < n && width > 0) {
            return Self::refuse(format!("a matrix of {n} rows was given for vectors of {width} coordinates"));
        }
        let mut centre = crate::kernels::vectors::Packed::means(cols).unwrap_or_default();
        centre.resize(n, 0.0);
        let right = Self::whiten(cols, &centre, &up);
        let left = if same { right.clone() } else { Self::whiten(rows, &centre, &up) };
        Radial(Gaussian::new(0.5)).gram(&left, &right, same)
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "mahalanobis",
    aliases: &[],
    formula: "exp(−½ (x − y)ᵀ P (x − y))",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&GPML, "§5.1, (5.1)"),
    use_when: "coordinates are correlated, or a metric was learned elsewhere",
    make: || Box::new(Mahalanobis::default()),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::fill;
    use crate::kernels::Leaf;
    use crate::kernels::radial::Ard;

    #[test]
    fn a_diagonal_matrix_is_a_length_for_each_coordinate() {
        let full = Mahalanobis { precision: vec![4.0, 0.0, 0.0, 0.25] };
        let ard = Radial(Ard { lengths: vec![0.5, 2.0] });
        let (x, y) = ([0.3, -1.0], [0.1, 0.6]);
        assert!((full.dense(&x, &y) - ard.dense(&x, &y)).abs() < 1e-15);
    }

    #[test]
    fn a_matrix_of_rank_one_sees_one_direction() {
        // P = u uᵀ with u = (1, 2, −1)
        let precision = vec![1.0, 2.0, -1.0, 2.0, 4.0, -2.0, -1.0, -2.0, 1.0];
        let rows = Values::from(Rows::new(vec![1.0, 0.5, 2.0, 0.0, 1.0, -1.0, 3.0, -1.5, 0.0], 3, 3).unwrap());
        let k = Mahalanobis { precision };
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
            let refused = Leaf::gram(&Mahalanobis { precision }, &rows, &rows, true).err().unwrap().to_string();
            assert!(refused.contains(word), "{refused}");
        }
    }
}
