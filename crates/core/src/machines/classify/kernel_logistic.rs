//! Kernel logistic regression.
//!
//! The cell of the logistic loss; its score is the logarithm of the odds of the two classes.

use crate::machines::programme::{Cell, LossName, Programme};
use crate::machines::{Learns, MachineEntry};
use crate::solvers::Penalty;
use crate::sources::{MIKA, Source};

/// The cell of the table.
static CELL: Cell = Cell::new(&ENTRY, LossName::Logistic, Penalty::Norm).free_penalty();

/// The machine with a λ.
pub fn kernel_logistic(lambda: f64) -> Programme {
    Programme { lambda, ..Programme::of(&CELL) }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "kernel_logistic",
    aliases: &["klr"],
    summary: "logistic regression with a kernel: scores are log odds",
    formula: "min Σ log(1 + exp(−y_i f(x_i))) + λ P(α)",
    learns: Learns::Classes,
    source: Source::new(&MIKA, "§3.6, Table 2.1"),
    use_when: "scores are to be log odds of the classes, and every example may have a say",
    cost: "Some ten factorisations, n³/3 multiplications each, and n² numbers; with penalty=sparse as `lp_machine`.",
    make: || Box::new(Programme::of(&CELL)),
};
