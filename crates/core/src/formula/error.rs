//! Formulas that cannot be read, with the place.

use std::fmt;

/// A formula that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    /// The whole text.
    pub text: String,
    /// Where, in characters from zero.
    pub at: usize,
    /// What is wrong and what would be right.
    pub finding: String,
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "kernel formula, column {}: {}", self.at + 1, self.finding)?;
        writeln!(f, "  {}", self.text.replace(['\n', '\t'], " "))?;
        write!(f, "  {}^", " ".repeat(self.at))
    }
}

impl std::error::Error for FormulaError {}
