//! Breakdowns of numerical work: of factorisations, eigendecompositions and solvers. Not having converged is a status, not an error.

/// A solver broke down.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// A factorisation met a pivot that is not positive.
    #[error("the matrix is not positive definite: pivot {index} is {value:e}; {remedy}")]
    Pivot {
        /// Number of the pivot, from one.
        index: usize,
        /// Its value.
        value: f64,
        /// The remedy.
        remedy: &'static str,
    },
    /// The matrix holds values that are not finite.
    #[error(
        "the kernel matrix holds a value that is not finite (row {row}, column {column}); rescale the data or change the kernel's parameters"
    )]
    NotFinite {
        /// Row, from one.
        row: usize,
        /// Column, from one.
        column: usize,
    },
    /// A problem with infinite bounds has no solution.
    #[error("the classes cannot be separated, so there is no hard margin; give a finite c")]
    Inseparable,
    /// A prediction is not a finite number.
    #[error("the score of example {example} is not finite; its values are too large for this kernel")]
    ScoreNotFinite {
        /// Number of the example, from one.
        example: usize,
    },
    /// An eigendecomposition did not converge.
    #[error("the eigendecomposition of a {size} × {size} matrix did not converge")]
    Eigen {
        /// Rows of the matrix.
        size: usize,
    },
    /// A programme that has no meaning: sizes, weights or targets that do not fit.
    #[error("{0}")]
    Programme(String),
    /// The search was stopped before there was anything to return.
    #[error("stopped ({reason}) before there was a result to keep")]
    Stopped {
        /// Why.
        reason: crate::watch::Stop,
    },
}

impl From<crate::watch::Stop> for SolveError {
    fn from(reason: crate::watch::Stop) -> Self {
        Self::Stopped { reason }
    }
}
