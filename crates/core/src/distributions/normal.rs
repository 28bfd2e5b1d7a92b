//! The normal distribution: its upper tail Φ̄(x) = 1 − Φ(x), also far out, and its inverse.
//!
//! # Source
//! erfc of the C library's port (`libm`); beyond 25 deviations the continued fraction of Mills' ratio.

use std::f64::consts::{PI, SQRT_2};

/// Φ̄(x).
pub fn upper_normal(x: f64) -> f64 {
    0.5 * libm::erfc(x / SQRT_2)
}

/// ln Φ̄(x).
pub fn ln_upper_normal(x: f64) -> f64 {
    if x < 25.0 {
        return upper_normal(x).ln();
    }
    // Φ̄(x) = φ(x) / (x + 1/(x + 2/(x + 3/(x + …))))
    let fraction = (1..60).rev().fold(x, |below, k| x + f64::from(k) / below);
    -0.5 * x * x - 0.5 * (2.0 * PI).ln() - fraction.ln()
}

/// The x with ln Φ̄(x) = `ln_tail`, by Newton's steps; infinite for 0 and minus infinity.
pub fn normal_quantile(ln_tail: f64) -> f64 {
    if ln_tail >= 0.0 {
        return f64::NEG_INFINITY;
    }
    if ln_tail == f64::NEG_INFINITY {
        return f64::INFINITY;
    }
    // ln Φ̄ is concave and falling: from the left of the root each step stays on the left of it
    let mut x = if ln_tail < -1.0 { (-2.0 * ln_tail).sqrt() } else { 0.0 };
    for _ in 0..100 {
        let value = ln_upper_normal(x);
        let slope = -(-0.5 * x * x - 0.5 * (2.0 * PI).ln() - value).exp();
        let step = (value - ln_tail) / slope;
        x -= step.clamp(-4.0, 4.0);
        if step.abs() < 1e-13 * x.abs().max(1.0) {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_and_their_inverse() {
        assert!((upper_normal(1.959_963_984_540_054) - 0.025).abs() < 1e-15);
        assert!((upper_normal(0.0) - 0.5).abs() < 1e-16);
        // both ways of computing meet
        assert!((ln_upper_normal(25.0) - upper_normal(25.0).ln()).abs() < 1e-9);
        assert!((ln_upper_normal(100.0) + 5_005.524_208_69).abs() < 1e-6);
        for x in [-6.0, -1.0, 0.0, 0.3, 5.0, 24.0, 40.0, 500.0] {
            assert!((normal_quantile(ln_upper_normal(x)) - x).abs() < 1e-6_f64.max(1e-9 * x.abs()), "{x}");
        }
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
    }
}
