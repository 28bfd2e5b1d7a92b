//! Kernels that do not fit their data.

use crate::data::Kind;
use crate::error::Blame;
use crate::memory::BudgetError;

/// A kernel does not fit the data it is asked to compare.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The view holds another kind of examples.
    #[error("{kernel} works on {wants}, but the view holds {has}")]
    Kind {
        /// Kernel.
        kernel: &'static str,
        /// The kind of data that it wants.
        wants: Kind,
        /// The contents of the view.
        has: Kind,
    },
    /// Vectors of different lengths.
    #[error("{kernel}: vectors of {got} coordinates cannot be compared with vectors of {wanted}")]
    Width {
        /// Kernel.
        kernel: &'static str,
        /// The odd width.
        got: usize,
        /// The width it should have.
        wanted: usize,
    },
    /// A matrix of kernel values is none between training examples.
    #[error("{kernel}: {finding}")]
    Matrix {
        /// Kernel.
        kernel: &'static str,
        /// The finding and the remedy.
        finding: String,
    },
    /// A negative coordinate where none is allowed.
    #[error(
        "{kernel} needs coordinates ≥ 0, but example {example} has {value} at coordinate {coordinate}; use --scale minmax or none, or another kernel"
    )]
    Negative {
        /// Kernel.
        kernel: &'static str,
        /// The example, from one.
        example: usize,
        /// The coordinate, from one.
        coordinate: usize,
        /// The value.
        value: f64,
    },
    /// A missing entry where none is allowed.
    #[error(
        "{kernel} cannot compare missing entries, but example {example} has none at coordinate {coordinate}; use --missing mean or drop, or the kernel missing_gaussian"
    )]
    Missing {
        /// Kernel.
        kernel: &'static str,
        /// The example, from one.
        example: usize,
        /// The coordinate, from one.
        coordinate: usize,
    },
    /// The arrays that the kernel needs do not fit the memory budget.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A parameter does not fit the data.
    #[error("{kernel}: {finding}")]
    Param {
        /// Kernel.
        kernel: &'static str,
        /// The finding and the remedy.
        finding: String,
    },
    /// A kernel does not know its derivative by one of its real parameters.
    #[error("{kernel} has no derivative by {parameter}; choose {parameter} by search, or use another kernel")]
    NoDerivative {
        /// Kernel.
        kernel: &'static str,
        /// Parameter.
        parameter: String,
    },
    /// A kernel has no derivative by its examples, or is asked for one in a place where there is none.
    #[error("{kernel} has no derivative by its examples: {finding}")]
    NoGradient {
        /// Kernel, or the combinator around it.
        kernel: &'static str,
        /// The reason, and what would be right.
        finding: String,
    },
    /// Two sides that are not for each other.
    #[error(
        "{kernel}: the two collections were not prepared for each other; prepare new examples like the training examples, for the same kernel"
    )]
    Side {
        /// Kernel.
        kernel: &'static str,
    },
    /// Normalisation and distances need κ(x, x), which a precomputed cross matrix does not have.
    #[error(
        "{combinator} needs κ(x, x) of new examples, which a precomputed matrix does not hold; apply it before storing the matrix"
    )]
    NoSelfSimilarity {
        /// "normalise", "rbf", …
        combinator: &'static str,
    },
}

impl KernelError {
    /// Whose fault it is.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Param { .. } | Self::Side { .. } | Self::NoDerivative { .. } | Self::NoGradient { .. } => {
                Blame::Usage
            }
            Self::Budget(_) => Blame::Numerics,
            _ => Blame::Data,
        }
    }
}
