//! Any loss with any penalty, for numbers.
//!
//! Squared errors with ½‖w‖² are ridge regression whose offset is not penalised, the Fisher discriminant's twin.

use crate::machines::programme::{Cell, LossName, Programme};
use crate::machines::{Learns, MachineEntry};
use crate::solvers::Penalty;
use crate::sources::{MIKA, Source};

/// The cell of the table.
static CELL: Cell = Cell::new(&ENTRY, LossName::Squared, Penalty::Norm).free_loss().free_penalty();

/// The machine of a loss and a penalty with a λ.
pub fn programme_regression(loss: LossName, penalty: Penalty, lambda: f64) -> Programme {
    Programme { loss, penalty, lambda, ..Programme::of(&CELL) }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "regularised_risk_regression",
    aliases: &["programme_regression"],
    summary: "any of four losses with any of three penalties, for numbers",
    formula: "min Σ ℓ(y_i, f(x_i)) + λ P(α)",
    learns: Learns::Numbers,
    source: Source::new(&MIKA, "§3.6.3, Tables 2.1 and 3.1"),
    use_when: "a loss and a penalty are wanted that have no machine of their own, or several are to be compared",
    cost: "penalty=norm: as `svr`; penalty=coefficients: the same on K², which is stored; penalty=sparse: as `sparse_regression`.",
    make: || Box::new(Programme::of(&CELL)),
};
