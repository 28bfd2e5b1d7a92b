//! Model files that cannot be read or written.

/// A model file cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The system refused.
    #[error("{file}: {reason}")]
    Io {
        /// File name.
        file: String,
        /// The system's words.
        reason: String,
    },
    /// The file is no model.
    #[error("{file} is not a mercer model: {finding}")]
    NotAModel {
        /// File name.
        file: String,
        /// The finding.
        finding: String,
    },
    /// The file was damaged or made up.
    #[error("{file} is damaged: {finding}; copy it again, or fit anew")]
    Damaged {
        /// File name.
        file: String,
        /// The finding.
        finding: String,
    },
    /// The file is of a later version.
    #[error("{file} has format version {found}, but this mercer reads up to {known}; use a newer mercer")]
    Version {
        /// File name.
        file: String,
        /// Its version.
        found: u64,
        /// The latest that is known.
        known: u64,
    },
    /// A line of a text file cannot be read.
    #[error("{file} line {line}: {finding}")]
    Line {
        /// File name.
        file: String,
        /// Its line, from one.
        line: usize,
        /// The finding.
        finding: String,
    },
    /// The file would not be readable.
    #[error("the model is not written, since it could not be read again: {finding}")]
    Unreadable {
        /// The part of the model that is at fault, and the remedy.
        finding: String,
    },
    /// A format has no words for the model.
    #[error("{finding}")]
    Inexpressible {
        /// The part of the model that cannot be expressed, and the remedy.
        finding: String,
    },
}
