//! Errors of data, with their place.

use crate::error::Blame;
use crate::memory::BudgetError;
use crate::params::brief;
use std::fmt;

/// The place in a file where something was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// File name as the user gave it.
    pub file: String,
    /// Line (or data row for binary files), from one.
    pub line: Option<usize>,
    /// Column name or number.
    pub column: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, " line {line}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column \"{}\"", brief(column))?;
        }
        Ok(())
    }
}

/// Data that cannot be read or do not fit the task.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file cannot be opened or read.
    #[error("{file}: {reason}")]
    Io {
        /// File name.
        file: String,
        /// The system's words.
        reason: String,
    },
    /// Something at a place of a file is not what it should be.
    #[error("{place}: {finding}")]
    Bad {
        /// Where.
        place: Place,
        /// The finding and the remedy.
        finding: String,
    },
    /// There is nothing to learn from.
    #[error("{place} has no examples")]
    Empty {
        /// Where.
        place: String,
    },
    /// Two things that belong together have different lengths.
    #[error("{what} has {got} examples, but {other} has {wanted}")]
    Lengths {
        /// The part that does not match.
        what: String,
        /// Its length.
        got: usize,
        /// The part that it should match.
        other: String,
        /// The length it should have.
        wanted: usize,
    },
    /// The target must be numbers.
    #[error(
        "the target {} must be numbers, but has \"{}\"; choose another column with --target, or use a classifier",
        brief(column),
        brief(example)
    )]
    NotNumeric {
        /// Column.
        column: String,
        /// A word in it.
        example: String,
    },
    /// Classification needs one column.
    #[error("classes need one target column, but {got} were chosen")]
    ManyTargets {
        /// The number of them.
        got: usize,
    },
    /// There is no target.
    #[error("there is no target column to learn from; name one with --target")]
    NoTarget,
    /// Fewer than two classes.
    #[error("the target has only the class \"{}\"; a classifier needs at least two", brief(label))]
    OneClass {
        /// The only label.
        label: String,
    },
    /// A column, view or field that is asked for does not exist.
    #[error("there is no {what} \"{}\"; {remedy}", brief(name))]
    NoSuch {
        /// "column", "view", …
        what: &'static str,
        /// The part that was asked for.
        name: String,
        /// The parts that there are.
        remedy: String,
    },
    /// The data do not allow what is asked of them.
    #[error("{finding}")]
    Unfit {
        /// The part that is missing, and the remedy.
        finding: String,
    },
    /// A table would not fit the memory budget.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The request contradicts itself or the data.
    #[error("{finding}")]
    Usage {
        /// The finding and the remedy.
        finding: String,
    },
}

impl DataError {
    /// Whose fault it is.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Usage { .. } => Blame::Usage,
            Self::Budget(_) => Blame::Numerics,
            _ => Blame::Data,
        }
    }
}
