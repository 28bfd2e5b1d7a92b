//! Changes of a whole matrix by `mercer gram`: a repair, or a function of it.

use clap::{Arg, ArgMatches};
use mercer::geometry::{MatrixFunction, Repair, of_matrix, repair};
use mercer::gram::{Budget, Dense, Gram};
use mercer::linalg::SolveError;
use mercer::linalg::symmetric_eigen_bytes;
use mercer::watch::{Monitor, Phase};
use mercer_terminal::{Failure, Watch};
use std::sync::Arc;

/// A matrix, and what was done to it in words.
type Changed = (Arc<dyn Gram>, Option<String>);

/// The change of the matrix.
#[derive(Clone, Copy)]
pub(crate) enum Change {
    Repair(Repair),
    Function(MatrixFunction),
}

/// `--repair` and `--function`.
pub(crate) fn arguments() -> [Arg; 2] {
    [
        Arg::new("repair")
            .long("repair")
            .value_name("WAY")
            .value_parser(["clip", "flip", "shift"])
            .conflicts_with("function")
            .help("What becomes of negative eigenvalues: zero, their size, or all are raised; says what was done"),
        Arg::new("function")
            .long("function")
            .value_name("F")
            .help("Write f(K): power(P) is λ^P, exp(T) is exp(Tλ), resolvent(MU) is λ/(λ + MU)"),
    ]
}

impl Change {
    /// The change that the flags ask for.
    pub(crate) fn asked(flags: &ArgMatches) -> Result<Option<Self>, Failure> {
        if let Some(way) = flags.get_one::<String>("repair") {
            return Ok(Some(Self::Repair(match way.as_str() {
                "clip" => Repair::Clip,
                "flip" => Repair::Flip,
                _ => Repair::Shift,
            })));
        }
        flags.get_one::<String>("function").map(|text| function(text).map(Self::Function)).transpose()
    }

    /// The changed matrix, which is stored for that.
    pub(crate) fn applied(self, gram: &Arc<dyn Gram>, budget: Budget, watch: &Watch) -> Result<Changed, Failure> {
        let n = gram.shape().0;
        let square = n.saturating_mul(n).saturating_mul(8);
        // besides the matrix: its eigenvectors, scaled and turned, and the result
        let extra = symmetric_eigen_bytes(n).saturating_add(3 * square);
        let matrix =
            budget.dense(gram.as_ref(), extra, "a function of the kernel matrix").map_err(mercer::Error::from)?;
        watch
            .alive(Phase::new("eigendecomposition").into())
            .map_err(|stop| mercer::Error::from(SolveError::from(stop)))?;
        let (values, said) = match self {
            Self::Repair(how) => {
                let mended = repair(matrix.values(), n, how).map_err(mercer::Error::from)?;
                (mended.matrix, mended.said)
            }
            Self::Function(f) => {
                let values = of_matrix(matrix.values(), n, f).map_err(mercer::Error::from)?;
                (values, format!("{} of the eigenvalues", words(f)))
            }
        };
        let dense = Dense::new(values, n, n).ok_or_else(|| Failure::usage("the matrix is not square"))?;
        Ok((Arc::new(dense), Some(said)))
    }
}

fn words(f: MatrixFunction) -> String {
    match f {
        MatrixFunction::Power(p) => format!("the power {p}"),
        MatrixFunction::Exp(t) => format!("exp({t} λ)"),
        MatrixFunction::Resolvent(mu) => format!("λ/(λ + {mu})"),
    }
}

/// `power(0.5)` as a function.
fn function(text: &str) -> Result<MatrixFunction, Failure> {
    let wrong = || {
        let what = format!("--function {text}: give power(P) with P > 0, exp(T), or resolvent(MU) with MU > 0");
        Failure::usage(what)
    };
    let (name, rest) = text.trim().split_once('(').ok_or_else(wrong)?;
    let number: f64 = rest.strip_suffix(')').and_then(|n| n.trim().parse().ok()).ok_or_else(wrong)?;
    match name.trim() {
        "power" if number > 0.0 && number.is_finite() => Ok(MatrixFunction::Power(number)),
        "exp" if number.is_finite() => Ok(MatrixFunction::Exp(number)),
        "resolvent" if number > 0.0 && number.is_finite() => Ok(MatrixFunction::Resolvent(number)),
        _ => Err(wrong()),
    }
}
