//! The one roof over the errors of the layers.
//!
//! Every sentence names the place, the finding and the remedy, in that order. Layers have their own
//! enum; this one only gathers them and says which exit code a command line should give.

use crate::data::DataError;
use crate::formula::FormulaError;
use crate::gram::BudgetError;
use crate::kernels::KernelError;
use crate::linalg::SolveError;
use crate::machines::FitError;
use crate::model::FileError;
use crate::params::ParamError;

/// Anything that can go wrong between a data file and a prediction.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data cannot be read or do not fit the task.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A parameter has the wrong name or value.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A kernel formula cannot be read.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// A kernel does not fit the data it is asked to compare.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The memory budget forbids the computation.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A machine cannot learn from this task.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A solver broke down.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A model file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The kind of mistake; command lines turn it into an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The request was wrong: a name, an option, a formula.
    Usage,
    /// The data or a file was wrong.
    Data,
    /// The computation broke down or does not fit the machine.
    Numerics,
}

impl Error {
    /// The refusal of the memory budget, if it is one, in whatever layer it was found.
    pub fn budget(&self) -> Option<&BudgetError> {
        match self {
            Self::Budget(budget)
            | Self::Data(DataError::Budget(budget))
            | Self::Kernel(KernelError::Budget(budget))
            | Self::Fit(FitError::Budget(budget) | FitError::Target { error: DataError::Budget(budget), .. }) => {
                Some(budget)
            }
            _ => None,
        }
    }

    /// Whose fault it is.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Param(_) | Self::Formula(_) | Self::File(FileError::Inexpressible { .. }) => Blame::Usage,
            Self::Data(e) => e.blame(),
            Self::Kernel(e) => e.blame(),
            Self::Fit(e) => e.blame(),
            Self::File(FileError::Unreadable { .. }) | Self::Budget(_) | Self::Solve(_) => Blame::Numerics,
            Self::File(_) => Blame::Data,
        }
    }
}
