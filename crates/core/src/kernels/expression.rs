//! Kernels on vectors in elementary operations, for file formats that have operations but no kernels by name.

use super::Feature;
use crate::params::Auto;

/// κ(x, y) in elementary operations on inner products, distances and sums over coordinates.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// The same number for all pairs.
    Number(f64),
    /// ⟨x, y⟩.
    InnerProduct,
    /// Σ_j (w_j (x_j − y_j))²; no weights stand for ones, one weight stands for all coordinates.
    SquaredDistance {
        /// The weights w.
        weights: Vec<f64>,
    },
    /// Σ_j (x_j − y_j)², summed difference by difference: a root at zero would magnify the rounding of ‖x‖² + ‖y‖² − 2⟨x, y⟩.
    SquaredDifferences,
    /// Σ_j |x_j − y_j|.
    AbsoluteDifferences,
    /// Σ_j 2 x_j y_j/(x_j + y_j), where 0/0 is 0.
    HarmonicMeans,
    /// f(x) f(y).
    OfEach {
        /// The function f.
        f: Feature,
        /// The coordinate, from one, where f takes one.
        index: usize,
    },
    /// 1 where both sides are the same example, else 0; new examples are never the same as training examples.
    SameExample,
    /// A sum of two.
    Plus(Box<Self>, Box<Self>),
    /// A product of two.
    Times(Box<Self>, Box<Self>),
    /// A whole power.
    Power(Box<Self>, usize),
    /// A real power of a number that is not negative.
    RealPower(Box<Self>, f64),
    /// The square root.
    Root(Box<Self>),
    /// The exponential.
    Exp(Box<Self>),
    /// The hyperbolic tangent.
    Tanh(Box<Self>),
}

/// Why a kernel has no [`Expression`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inexpressible {
    /// It needs other operations, or examples that are no vectors.
    Unknown,
    /// A parameter of that name is a word that the training examples have not turned into a number.
    Unresolved(&'static str),
    /// Only with other parameters; a sentence says with which.
    Parameters(String),
}

impl Expression {
    /// ‖x − y‖².
    pub fn squared_distance() -> Self {
        Self::SquaredDistance { weights: Vec::new() }
    }

    /// This times a number.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self::Times(Box::new(self), Box::new(Self::Number(factor)))
    }

    /// This plus a number.
    #[must_use]
    pub fn shifted(self, shift: f64) -> Self {
        Self::Plus(Box::new(self), Box::new(Self::Number(shift)))
    }

    /// exp of this.
    #[must_use]
    pub fn exp(self) -> Self {
        Self::Exp(Box::new(self))
    }
}

/// The number of a parameter that may still be a word.
pub(super) fn resolved(name: &'static str, value: Auto) -> Result<f64, Inexpressible> {
    match value {
        Auto::Value(number) => Ok(number),
        Auto::Word(_) => Err(Inexpressible::Unresolved(name)),
    }
}
