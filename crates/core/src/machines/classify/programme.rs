//! Any loss with any penalty, for classes.
//!
//! Margin losses with ½‖w‖² are support vector machines with C = 1/λ, squared ones kernel Fisher discriminants.

use crate::machines::programme::{Cell, LossName, Programme};
use crate::machines::{Learns, MachineEntry};
use crate::solvers::Penalty;
use crate::sources::{MIKA, Source};

/// The cell of the table.
static CELL: Cell = Cell::new(&ENTRY, LossName::Hinge, Penalty::Norm).free_loss().free_penalty();

/// The machine of a loss and a penalty with a λ.
pub fn programme(loss: LossName, penalty: Penalty, lambda: f64) -> Programme {
    Programme { loss, penalty, lambda, ..Programme::of(&CELL) }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "regularised_risk",
    aliases: &["programme"],
    summary: "any of seven losses with any of three penalties, for classes",
    formula: "min Σ ℓ(y_i, f(x_i)) + λ P(α)",
    learns: Learns::Classes,
    source: Source::new(&MIKA, "§3.6, Tables 2.1 and 3.1"),
    use_when: "a loss and a penalty are wanted that have no machine of their own, or several are to be compared",
    cost: "penalty=norm: as `svc`, or some ten factorisations of n³/3 for the logistic loss; penalty=coefficients: the same on K², which is stored; penalty=sparse: as `lp_machine`.",
    make: || Box::new(Programme::of(&CELL)),
};
