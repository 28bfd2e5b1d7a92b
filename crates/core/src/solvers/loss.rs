//! Convex losses and their conjugates: one declaration that every programme is solved from.
//!
//! A programme is min Σ_i w_i ℓ(y_i, f_i) + λ P(α) with f = Kα + b. Seen as a function of the error u = y − f, each loss has
//! the conjugate ℓ*(β) = sup_u βu − ℓ, and the dual is max yᵀβ − Σ_i w_i ℓ*(β_i / w_i) − λ P*(Kβ / λ) with 1ᵀβ = 0. But for
//! the logistic loss every ℓ* is ½ r β² + e |β| between two bounds ([`Conjugate`]), so a solver that knows these four
//! numbers knows all six losses.
//!
//! # Source
//! Mika (2002), Table 2.1 and §3.6; the conjugates are worked out here and tested against their definition.

use crate::params::Choice;

/// The cost of an error. Margin losses want y = ±1; the others any numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// max(0, 1 − yf).
    Hinge,
    /// max(0, 1 − yf)².
    SquaredHinge,
    /// log(1 + exp(−yf)).
    Logistic,
    /// ½ (y − f)².
    Squared,
    /// |y − f|.
    Absolute,
    /// max(0, |y − f| − ε).
    EpsilonInsensitive {
        /// ε, half the width of the tube.
        epsilon: f64,
    },
    /// u²/2s for |u| ≤ s, else |u| − s/2, where u = y − f.
    Huber {
        /// s, where the square ends.
        width: f64,
    },
}

/// ℓ*(β) = ½ `ridge` β² + `bend` |β| for `lower` ≤ β ≤ `upper`, and infinite outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conjugate {
    /// The least β, not above zero.
    pub lower: f64,
    /// The largest β, not below zero.
    pub upper: f64,
    /// The square's factor.
    pub ridge: f64,
    /// The factor of |β|.
    pub bend: f64,
}

impl Loss {
    /// True if it is a loss of the margin yf, so that y must be ±1.
    pub fn is_margin(self) -> bool {
        matches!(self, Self::Hinge | Self::SquaredHinge | Self::Logistic)
    }

    /// The cost of f where y was wanted.
    pub fn value(self, y: f64, f: f64) -> f64 {
        let (slack, error) = ((1.0 - y * f).max(0.0), (y - f).abs());
        match self {
            Self::Hinge => slack,
            Self::SquaredHinge => slack * slack,
            // log(1 + e^−m) without overflow
            Self::Logistic => (-y * f).max(0.0) + (-(y * f).abs()).exp().ln_1p(),
            Self::Squared => 0.5 * error * error,
            Self::Absolute => error,
            Self::EpsilonInsensitive { epsilon } => (error - epsilon).max(0.0),
            Self::Huber { width } if error <= width => error * error / (2.0 * width),
            Self::Huber { width } => error - 0.5 * width,
        }
    }

    /// The conjugate in the error u = y − f, for one y; `None` for the logistic loss, whose conjugate is an entropy.
    pub fn conjugate(self, y: f64) -> Option<Conjugate> {
        // the loss of a margin is one of the error on one side: 1 − yf = y (y − f)
        let one_sided = |reach: f64, ridge: f64| {
            let (lower, upper) = if y > 0.0 { (0.0, reach) } else { (-reach, 0.0) };
            Conjugate { lower, upper, ridge, bend: 0.0 }
        };
        let even = |reach: f64, ridge: f64, bend: f64| Conjugate { lower: -reach, upper: reach, ridge, bend };
        match self {
            Self::Hinge => Some(one_sided(1.0, 0.0)),
            Self::SquaredHinge => Some(one_sided(f64::INFINITY, 0.5)),
            Self::Logistic => None,
            Self::Squared => Some(even(f64::INFINITY, 1.0, 0.0)),
            Self::Absolute => Some(even(1.0, 0.0, 0.0)),
            Self::EpsilonInsensitive { epsilon } => Some(even(1.0, 0.0, epsilon)),
            Self::Huber { width } => Some(even(1.0, width, 0.0)),
        }
    }

    /// ℓ*(β) for one y; infinite where β is out of bounds.
    pub fn conjugate_value(self, y: f64, beta: f64) -> f64 {
        let Some(Conjugate { lower, upper, ridge, bend }) = self.conjugate(y) else {
            // log(1 + e^{yu − 1}) in u for y = ±1: with a = yβ between 0 and 1 the entropy of a, plus a
            let a = y * beta;
            let part = |p: f64| if p > 0.0 { p * p.ln() } else { 0.0 };
            return if (0.0..=1.0).contains(&a) { a + part(a) + part(1.0 - a) } else { f64::INFINITY };
        };
        if beta < lower || beta > upper { f64::INFINITY } else { 0.5 * ridge * beta * beta + bend * beta.abs() }
    }
}

/// The penalties P(α) of a programme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Penalty {
    /// ½‖w‖² = ½ αᵀKα: a smooth function in the space of the kernel.
    #[default]
    Norm,
    /// ½‖α‖²: the examples' kernel values as ordinary features.
    Coefficients,
    /// ‖α‖₁: few examples carry the function.
    Sparse,
}

impl Choice for Penalty {
    fn options(&self) -> &'static [&'static str] {
        &["norm", "coefficients", "sparse"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        let all = [Self::Norm, Self::Coefficients, Self::Sparse];
        *self = all[position.min(all.len() - 1)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Loss; 7] = [
        Loss::Hinge,
        Loss::SquaredHinge,
        Loss::Logistic,
        Loss::Squared,
        Loss::Absolute,
        Loss::EpsilonInsensitive { epsilon: 0.3 },
        Loss::Huber { width: 0.7 },
    ];

    #[test]
    fn conjugates_are_the_largest_distances_of_lines_from_losses() {
        for loss in ALL {
            for y in [1.0, -1.0] {
                for step in -30..=30 {
                    let beta = f64::from(step) * 0.1 + 0.013;
                    // sup_u βu − ℓ(y, y − u) on a fine grid
                    let (mut found, reach) = (f64::NEG_INFINITY, 20.0);
                    for p in -200_000..=200_000 {
                        let u = f64::from(p) * 1e-4;
                        found = found.max(beta * u - loss.value(y, y - u));
                    }
                    let said = loss.conjugate_value(y, beta);
                    if said.is_infinite() {
                        // the line leaves the loss behind: the supremum stands at the edge and grows with it
                        let far = beta * reach * beta.signum() - loss.value(y, y - reach * beta.signum());
                        assert!(found > 0.2 && found >= far, "{loss:?} {y} {beta}: {found}");
                    } else {
                        assert!((found - said).abs() < 2e-3, "{loss:?} {y} {beta}: {found} {said}");
                    }
                }
            }
        }
    }

    #[test]
    fn losses_have_the_values_of_their_names() {
        assert_eq!(Loss::Hinge.value(-1.0, 0.5), 1.5);
        assert_eq!(Loss::SquaredHinge.value(1.0, -1.0), 4.0);
        assert_eq!(Loss::Squared.value(2.0, -1.0), 4.5);
        assert_eq!(Loss::EpsilonInsensitive { epsilon: 0.5 }.value(2.0, 0.0), 1.5);
        assert_eq!(Loss::Huber { width: 1.0 }.value(0.0, 0.5), 0.125);
        assert_eq!(Loss::Huber { width: 1.0 }.value(0.0, 3.0), 2.5);
        assert!((Loss::Logistic.value(1.0, 0.0) - 2.0_f64.ln()).abs() < 1e-15);
        assert_eq!(Loss::Logistic.value(1.0, -1e4), 1e4);
    }
}
