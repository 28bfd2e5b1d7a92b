//! Model files of LIBSVM: the text that `svm-train` writes and `svm-predict` reads.
//!
//! A header of `keyword values` lines, the word `SV`, then a line for each support vector: its coefficients, one for each
//! of the other classes, and the coordinates that are not zero. The decision value of a pair of classes is
//! Σ coefficient · κ − rho, so b = −rho; coefficients stand as in our compact form of one against one. Classes keep the
//! order of the file, so that votes and their ties are LIBSVM's.
//!
//! # Source
//! Chang & Lin (2011), §7; the keywords are those of `svm_save_model` in LIBSVM 3.37.

mod header;
mod read;
mod write;

use super::{FileError, Model};

/// The first word of such a file.
const FIRST: &[u8] = b"svm_type";

/// A model in LIBSVM's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibsvmFile {
    /// The file.
    pub text: String,
    /// Facts about the model that the format cannot express, in sentences for its users.
    pub notes: Vec<String>,
}

/// True if a file is a model of LIBSVM, by its first word.
pub fn is_libsvm(bytes: &[u8]) -> bool {
    bytes.strip_prefix(FIRST).is_some_and(|rest| rest.first().is_some_and(|b| *b == b' ' || *b == b'\t'))
}

impl Model {
    /// Reads a model of LIBSVM; `file` is its name in errors.
    ///
    /// The file does not tell how many examples the model was trained on, nor its C: `trained_on` is 0 and there are no
    /// settings. Data are expected as LIBSVM has them, without scaling.
    ///
    /// # Errors
    /// Names the line of what cannot be read, or of what mercer has no kernel or machine for.
    pub fn from_libsvm(bytes: &[u8], file: &str) -> Result<Self, FileError> {
        read::read(bytes).map_err(|(line, finding)| FileError::Line { file: file.to_owned(), line, finding })
    }

    /// The model as a file of LIBSVM, with notes on what gets lost.
    ///
    /// # Errors
    /// If LIBSVM has no such model: another kernel, examples that are no vectors, several outputs.
    pub fn to_libsvm(&self) -> Result<LibsvmFile, FileError> {
        write::write(self).map_err(|finding| FileError::Inexpressible { finding })
    }
}
