//! The explicit features of polynomial kernels.

use super::Polynomial;
use crate::data::Rows;
use crate::distributions::ln_choose;
use crate::kernels::KernelError;

/// The number of features of a polynomial kernel on vectors of that many coordinates: C(N + p − 1, p) for the homogeneous one,
/// C(N + p, p) for the complete one; `None` where that is beyond counting.
///
/// ```
/// use mercer::kernels::inner::polynomial_feature_count;
/// assert_eq!(polynomial_feature_count(2, 2, false), Some(3)); // x², xy, y²
/// assert_eq!(polynomial_feature_count(2, 2, true), Some(6)); // and x, y, 1
/// ```
pub fn polynomial_feature_count(width: usize, degree: usize, complete: bool) -> Option<usize> {
    let variables = width + usize::from(complete);
    if variables == 0 {
        return Some(usize::from(degree == 0));
    }
    (1..=degree).try_fold(1_usize, |count, k| Some(count.checked_mul(variables - 1 + k)? / k))
}

/// C(d + p − 1, p): monomials of degree p of d variables.
pub(crate) fn count_monomials(d: f64, p: f64) -> f64 {
    ln_choose(d + p - 1.0, p).exp().round()
}

/// The features φ with ⟨φ(x), φ(y)⟩ = (γ⟨x, y⟩ + c)^p, one row for each example.
///
/// For all exponents r with Σ r_i = p: φ_r(x) = √(p!/Π r_i!) Π (√γ x_i)^r_i. A positive c is one more coordinate √c.
///
/// # Source
/// Herbrich (2002), §2.3.2 and Table 2.1.
///
/// # Use when
/// Degree and width are small: a linear machine on the features then sees what the kernel sees. More than 2²⁰ features are
/// refused, and so is a γ that still waits for data.
///
/// # Cost
/// p multiplications for each feature and example.
///
/// # Example
/// ```
/// use mercer::data::Rows;
/// use mercer::kernels::inner::{Polynomial, polynomial_features};
/// let rows = Rows::new(vec![1.0, 2.0, 3.0, -1.0], 2, 2).unwrap();
/// let features = polynomial_features(&rows, &Polynomial::homogeneous(2)).unwrap();
/// let product: f64 = features.row(0).iter().zip(features.row(1)).map(|(a, b)| a * b).sum();
/// assert!((product - 1.0).abs() < 1e-14); // (1·3 − 2·1)²
/// ```
pub fn polynomial_features(rows: &Rows<f64>, kernel: &Polynomial) -> Result<Rows<f64>, KernelError> {
    const MAX_FEATURES: usize = 1 << 20;
    let refused = |finding: String| Err(KernelError::Param { kernel: super::polynomial::ENTRY.name, finding });
    let gamma = kernel.gamma.value();
    if !(gamma > 0.0 && kernel.offset >= 0.0) {
        return refused("features need a γ that is a number above 0, and an offset that is not negative".to_owned());
    }
    let (p, complete) = (kernel.degree, kernel.offset > 0.0);
    let variables = rows.width() + usize::from(complete);
    let count = match polynomial_feature_count(rows.width(), p, complete) {
        Some(count) if count <= MAX_FEATURES => count,
        _ => return refused(format!("degree {p} of {variables} coordinates has more than {MAX_FEATURES} features")),
    };
    let monomials = monomials(variables, p);
    let mut x = vec![kernel.offset.sqrt(); variables];
    let mut values = Vec::with_capacity(count * rows.len());
    for i in 0..rows.len() {
        x.iter_mut().zip(rows.row(i)).for_each(|(x, v)| *x = gamma.sqrt() * v);
        values.extend(monomials.iter().map(|(factor, places)| places.iter().fold(*factor, |v, &j| v * x[j])));
    }
    match Rows::new(values, rows.len(), count) {
        Some(features) => Ok(features),
        None => unreachable!("as many monomials as were counted"),
    }
}

/// Every product of p coordinates, as ascending places, with √(p!/Π r_i!).
fn monomials(variables: usize, p: usize) -> Vec<(f64, Vec<usize>)> {
    let mut all = Vec::new();
    if variables == 0 && p > 0 {
        return all;
    }
    let mut places = vec![0; p];
    loop {
        // p!/Π r_i! = Π_k k / (how many equal ones there are up to place k)
        let mut run = 0;
        let mut factor = 1.0;
        for k in 0..p {
            run = if k > 0 && places[k] == places[k - 1] { run + 1 } else { 1 };
            factor *= (k + 1) as f64 / f64::from(run);
        }
        all.push((factor.sqrt(), places.clone()));
        let Some(k) = places.iter().rposition(|&j| j + 1 < variables) else {
            return all;
        };
        let next = places[k] + 1;
        places[k..].fill(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::inner::Inner;
    use crate::kernels::vectors::Family;
    use crate::params::Auto;

    #[test]
    fn the_inner_product_of_features_is_the_kernel_and_their_number_the_binomial() {
        let binomial = |n: usize, k: usize| (0..k).fold(1, |b, i| b * (n - i) / (i + 1));
        for (width, degree) in [(1, 1), (1, 5), (2, 3), (3, 2), (4, 4), (6, 3)] {
            let x: Vec<f64> = (0..3 * width).map(|i| (1.3 * i as f64).sin()).collect();
            let rows = Rows::new(x, 3, width).unwrap();
            for offset in [0.0, 0.7] {
                let kernel = Polynomial { degree, gamma: Auto::Value(0.6), offset };
                let features = polynomial_features(&rows, &kernel).unwrap();
                let n = if offset > 0.0 { width + degree } else { width + degree - 1 };
                assert_eq!(features.width(), binomial(n, degree));
                assert_eq!(polynomial_feature_count(width, degree, offset > 0.0), Some(features.width()));
                for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                    let explicit: f64 = features.row(i).iter().zip(features.row(j)).map(|(a, b)| a * b).sum();
                    let wanted = Inner(kernel.clone()).dense(rows.row(i), rows.row(j));
                    assert!((explicit - wanted).abs() < 1e-13 * (1.0 + wanted.abs()), "{width} {degree} {offset}");
                }
            }
        }
    }

    #[test]
    fn too_many_are_refused_before_any_is_made() {
        let rows = Rows::new(vec![1.0; 400], 2, 200).unwrap();
        let refused = polynomial_features(&rows, &Polynomial::homogeneous(8)).unwrap_err();
        assert!(refused.to_string().contains("more than"), "{refused}");
        assert_eq!(polynomial_feature_count(1_000_000, 60, true), None);
        let waiting = Polynomial { gamma: Auto::Word("scale"), ..Polynomial::default() };
        assert!(polynomial_features(&rows, &waiting).is_err());
    }
}
