//! Bounds on the distance between the spectrum of a sample and that of its distribution.
//!
//! For the operator C = E φ(x)φ(x)ᵀ and its estimate Ĉ = (1/m) Σ φ(x_i)φ(x_i)ᵀ, whose eigenvalues are λ(K)/m, where ‖φ(x)‖ ≤ R:
//! ```text
//! sums of eigenvalues      |Σ_I λ̂ − E Σ_I λ̂| ≤ R² √(ln(2/δ)/2m)        around their expectation, not around the true ones
//! the operator             ‖Ĉ − C‖_HS ≤ (R²/√m)(1 + √ln(1/δ)) = ε       so that every |λ̂_i − λ_i| ≤ ε (Weyl)
//! an eigenvector           sin ∠(v̂_i, v_i) ≤ ε/(d̂_i − ε) where the gap d̂_i > 2ε       (Davis–Kahan, Weyl)
//! the residual of k        E‖P⊥φ‖² ≤ min_{t≤k} [(1/m) Σ_{i>t} λ_i + ((1+√t)/√m) √((2/m) Σ k_ii²)] + R² √((18/m) ln(2m/δ))
//! ```
//! Exchanging one example adds and takes away a matrix of rank one and trace R²/m at most, in opposite directions: a sum of eigenvalues
//! moves by R²/m at most, ‖Ĉ − C‖ by ‖φφᵀ − φ′φ′ᵀ‖/m ≤ √2R²/m, and E‖Ĉ − C‖ ≤ R²/√m; McDiarmid's inequality does the rest.
//!
//! # Source
//! S. Mika, Kernel Fisher Discriminants (2002), theorems 4.2 and 4.5 (the latter with the factor R that is missing there); J. Shawe-Taylor,
//! C. Williams, N. Cristianini & J. Kandola, On the eigenspectrum of the Gram matrix and the generalization error of kernel-PCA, IEEE
//! Trans. Inf. Theory 51 (2005), theorem 1; C. Davis & W. Kahan (1970).

use super::{Interval, eigenvalue_intervals};
use crate::error::Error;
use crate::geometry::{Spectrum, spectrum};
use crate::gram::{Budget, Gram, diagonal};
use crate::linalg::SolveError;
use crate::seed::Seed;
use crate::watch::Monitor;

/// Numbers of leading directions whose residual is bounded.
const DIRECTION_COUNTS: [usize; 8] = [1, 2, 5, 10, 20, 50, 100, 200];
/// Number of eigenvectors that are looked at.
const LEADING_EIGENVECTORS: usize = 20;

/// Bounds on the spectrum beyond the sample.
#[derive(Clone, Debug)]
pub struct Stability {
    /// The number of examples.
    pub m: usize,
    /// R.
    pub radius: f64,
    /// δ of each statement by itself.
    pub delta: f64,
    /// λ̂_i = λ_i(K)/m, the leading ones.
    pub eigenvalues: Vec<f64>,
    /// An upper bound on the distance of any sum of eigenvalues of Ĉ from its expectation.
    pub sums_within: f64,
    /// The same for the centred covariance with 1/(m − 1), by theorem 4.2 as it is printed, on one side.
    pub printed_sums_within: f64,
    /// ε: how far the operators, and every eigenvalue, are from each other at most.
    pub operator_within: f64,
    /// Leading eigenvectors: the gap to the nearest other eigenvalue, and the largest sine of the angle; none where the gap is too small.
    pub vectors: Vec<(f64, Option<f64>)>,
    /// ρ of theorem 4.5: eigenvectors with a gap of at least as much are within ρ/gap of a true one.
    pub rho: f64,
    /// The places of the leading eigenvectors with such a gap, from zero.
    pub beyond_rho: Vec<usize>,
    /// Number of directions kept, the mean squared residual on the sample, and the bound beyond it.
    pub residuals: Vec<(usize, f64, f64)>,
    /// Intervals of the leading eigenvalues at 1 − δ each, by a bootstrap: for many examples.
    pub intervals: Vec<Interval>,
}

/// Parameters of the bounds.
#[derive(Clone, Copy, Debug)]
pub struct Judgement {
    /// R with κ(x, x) ≤ R² for every x that could come; not the largest of the sample.
    pub radius: f64,
    /// The probability with which each statement may be false.
    pub delta: f64,
    /// Draws of the bootstrap.
    pub draws: usize,
    /// Randomness of the bootstrap.
    pub seed: Seed,
}

impl Stability {
    /// Judges the spectrum of a square matrix.
    ///
    /// # Use when
    /// Components are to be interpreted, or a number of them is to be chosen: what is not separated beyond ε may be chance.
    ///
    /// # Cost
    /// The bounds of the spectrum, and a bootstrap of its leading part.
    ///
    /// # Errors
    /// If there are fewer than three examples, one is longer than R, a value is not finite or the memory budget forbids it.
    pub fn of(gram: &dyn Gram, how: Judgement, budget: Budget, watch: &dyn Monitor) -> Result<Self, Error> {
        let m = gram.shape().0;
        check(gram, &how)?;
        let found = spectrum(gram, (LEADING_EIGENVECTORS + 1).min(m), budget)?;
        let squares: f64 = diagonal(gram).iter().map(|k| k * k).sum();
        let size = m as f64;
        let eigenvalues: Vec<f64> = found.values.iter().map(|v| v.max(0.0) / size).collect();
        let gaps = gaps(&eigenvalues, found.is_whole());
        let epsilon = operator_within(m, how.radius, how.delta);
        let rho = eigenvector_rho(m, found.trace, how.radius, how.delta);
        let sine = |gap: f64| (gap > 2.0 * epsilon).then(|| epsilon / (gap - epsilon));
        Ok(Self {
            m,
            radius: how.radius,
            delta: how.delta,
            sums_within: sums_within(m, how.radius, how.delta),
            printed_sums_within: printed_sums_within(m, how.radius, how.delta),
            operator_within: epsilon,
            vectors: gaps.iter().map(|&gap| (gap, sine(gap))).collect(),
            rho,
            beyond_rho: (0..gaps.len()).filter(|&i| gaps[i] >= rho).collect(),
            residuals: residuals(&found, squares, &how),
            intervals: eigenvalue_intervals(gram, &how, budget, watch)?,
            eigenvalues: eigenvalues.into_iter().take(LEADING_EIGENVECTORS).collect(),
        })
    }
}

fn check(gram: &dyn Gram, how: &Judgement) -> Result<(), SolveError> {
    let wrong = |finding: String| Err(SolveError::Programme(finding));
    let m = gram.shape().0;
    if m < 3 {
        return wrong(format!("the stability of a spectrum is measured on three examples or more, not {m}"));
    }
    if !(how.radius > 0.0 && how.radius.is_finite()) {
        return wrong(format!("the radius must be a number above 0, not {}", how.radius));
    }
    if !(how.delta > 0.0 && how.delta < 1.0) {
        return wrong(format!("delta must lie between 0 and 1, not {}", how.delta));
    }
    let longest =
        diagonal(gram).iter().enumerate().fold((0, 0.0), |most, (i, &k)| if k > most.1 { (i, k) } else { most });
    if longest.1 > how.radius * how.radius * (1.0 + 1e-6) {
        let (row, norm, radius) = (longest.0 + 1, longest.1.sqrt(), how.radius);
        return wrong(format!(
            "example {row} has the length {norm:.6} in feature space, beyond the declared radius {radius}; declare one that holds for all examples, or normalise the kernel"
        ));
    }
    Ok(())
}

/// The distance of each leading eigenvalue from the nearest other one; those beyond the known ones lie between the last and zero.
fn gaps(values: &[f64], whole: bool) -> Vec<f64> {
    let count = if whole { values.len() } else { values.len().saturating_sub(1) };
    let gap = |i: usize| {
        let above = if i > 0 { values[i - 1] - values[i] } else { f64::INFINITY };
        // the operator has the eigenvalue zero beyond the sample
        let below = values[i] - values.get(i + 1).copied().unwrap_or(0.0);
        above.min(below)
    };
    (0..count.min(LEADING_EIGENVECTORS)).map(gap).collect()
}

/// R² √(ln(2/δ)/2m), on both sides.
fn sums_within(m: usize, radius: f64, delta: f64) -> f64 {
    radius * radius * ((2.0 / delta).ln() / (2.0 * m as f64)).sqrt()
}

/// t with exp(−t²(m−2)²/(32mR⁴)) = δ: theorem 4.2, from a change of 8R²/(m − 2).
fn printed_sums_within(m: usize, radius: f64, delta: f64) -> f64 {
    radius * radius * (32.0 * m as f64 * (1.0 / delta).ln()).sqrt() / (m as f64 - 2.0)
}

/// (R²/√m)(1 + √ln(1/δ)).
fn operator_within(m: usize, radius: f64, delta: f64) -> f64 {
    radius * radius / (m as f64).sqrt() * (1.0 + (1.0 / delta).ln().sqrt())
}

/// ρ = R[(64/m) √(Σ k_ii) + 68R √((2/m) ln(2/δ))]: theorem 4.5, whose print misses the first R.
fn eigenvector_rho(m: usize, trace: f64, radius: f64, delta: f64) -> f64 {
    let size = m as f64;
    radius * (64.0 / size * trace.max(0.0).sqrt() + 68.0 * radius * (2.0 / size * (2.0 / delta).ln()).sqrt())
}

/// The bound of the residual for each number of directions up to what is known of the spectrum.
fn residuals(found: &Spectrum, squares: f64, how: &Judgement) -> Vec<(usize, f64, f64)> {
    let size = found.n as f64;
    let mut tail = found.trace / size;
    let mut tails = vec![tail];
    for value in &found.values {
        tail -= value / size;
        tails.push(tail.max(0.0));
    }
    let bound =
        |k: usize| (0..=k).map(|t| residual_bound(found.n, t, tails[t], squares, how)).fold(f64::INFINITY, f64::min);
    DIRECTION_COUNTS.iter().copied().filter(|&k| k < tails.len()).map(|k| (k, tails[k], bound(k))).collect()
}

/// One term of the minimum, for t directions whose residual on the sample is `tail`.
fn residual_bound(m: usize, t: usize, tail: f64, squares: f64, how: &Judgement) -> f64 {
    let size = m as f64;
    let complexity = (1.0 + (t as f64).sqrt()) / size.sqrt() * (2.0 / size * squares).sqrt();
    tail + complexity + how.radius * how.radius * (18.0 / size * (2.0 * size / how.delta).ln()).sqrt()
}

#[cfg(test)]
#[path = "stability_tests.rs"]
mod tests;
