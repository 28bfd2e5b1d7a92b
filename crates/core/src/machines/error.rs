//! Tasks a machine cannot learn from.

use crate::data::DataError;
use crate::error::Blame;
use crate::gram::BudgetError;
use crate::linalg::SolveError;
use crate::watch::Stop;

/// A machine cannot learn from its task.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The target does not fit.
    #[error("{machine}: {error}")]
    Target {
        /// Machine.
        machine: &'static str,
        /// Why.
        error: DataError,
    },
    /// The memory budget forbids it.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The solver broke down.
    #[error("{machine}: {error}")]
    Solve {
        /// Machine.
        machine: &'static str,
        /// Why.
        error: SolveError,
    },
    /// The kernel has no explicit features.
    #[error(
        "{machine} works on explicit features, which only the linear kernel, polynomial kernels of few coordinates and kernels that count pieces of strings (spectrum, bag_of_words, …) have, or multiples of these; use one of them, or the machine {instead} with this one"
    )]
    NoFeatures {
        /// Machine.
        machine: &'static str,
        /// The machine that takes any kernel.
        instead: &'static str,
    },
    /// A parameter does not fit the task.
    #[error("{machine}: {finding}")]
    Param {
        /// Machine.
        machine: &'static str,
        /// The finding and the remedy.
        finding: String,
    },
}

impl FitError {
    /// The work of a machine was ended before there was a result to keep.
    pub(crate) fn stopped(machine: &'static str, reason: Stop) -> Self {
        Self::Solve { machine, error: reason.into() }
    }

    /// Whose fault it is.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Target { error, .. } => error.blame(),
            Self::Param { .. } | Self::NoFeatures { .. } => Blame::Usage,
            Self::Budget(_) | Self::Solve { .. } => Blame::Numerics,
        }
    }
}
