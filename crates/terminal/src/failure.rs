//! Failures: a sentence and an exit code.

use mercer::Error;
use mercer::error::Blame;
use mercer::linalg::SolveError;
use mercer::machines::FitError;
use mercer::watch::Stop;
use std::process::ExitCode;

/// Why a verb ended without its result, or with less than it was asked for.
#[derive(Debug)]
pub struct Failure {
    /// The sentence; empty if everything has been said.
    pub message: String,
    /// 2 usage, 3 data, 4 numerics, 130 interrupted.
    pub code: u8,
}

impl Failure {
    /// The code of interrupted work; the program ends with 128 and the number of the signal, which is 130 for Ctrl-C.
    pub const INTERRUPTED: u8 = 130;

    /// A wrong request.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 2 }
    }

    /// A file that cannot be written or read.
    pub fn file(path: &std::path::Path, error: &std::io::Error) -> Self {
        Self { message: format!("{}: {}", mercer::write::shown(path), mercer::write::words(error)), code: 3 }
    }

    /// Everything was said; only the code is left to give.
    pub fn told(code: u8) -> Self {
        Self { message: String::new(), code }
    }

    /// Everything was said and saved, but the work was interrupted.
    pub fn interrupted() -> Self {
        Self::told(Self::INTERRUPTED)
    }

    /// Prints the sentence and gives the code.
    pub fn tell(self, json: bool) -> ExitCode {
        let code = if self.code == Self::INTERRUPTED { crate::signals::exit_code() } else { self.code };
        if !self.message.is_empty() {
            crate::report::say("error", &self.message);
            if json {
                crate::report::print_json(&serde_json::json!({"error": self.message, "exit_code": code}));
            }
        }
        ExitCode::from(code)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let stopped = match &error {
            Error::Solve(SolveError::Stopped { reason })
            | Error::Fit(FitError::Solve { error: SolveError::Stopped { reason }, .. }) => Some(*reason),
            _ => None,
        };
        let code = match (stopped, error.blame()) {
            (Some(Stop::Interrupted), _) => Self::INTERRUPTED,
            (_, Blame::Usage) => 2,
            (_, Blame::Data) => 3,
            (_, Blame::Numerics) => 4,
        };
        Self { message: error.to_string(), code }
    }
}

macro_rules! by_way_of_error {
    ($($type:ty),*) => {
        $(impl From<$type> for Failure {
            fn from(error: $type) -> Self {
                Error::from(error).into()
            }
        })*
    };
}

by_way_of_error!(
    mercer::data::DataError,
    mercer::params::ParamError,
    mercer::formula::FormulaError,
    mercer::model::FileError,
    mercer::gram::BudgetError
);
