//! Boosting by linear programming: the largest margin of a convex combination of kernel functions.
//!
//! Its dual weighs the examples so that no kernel function does well on all of them: min γ with Σ_i d_i y_i κ(x_j, x_i) between
//! −γ and γ, Σ d = 1 and d_i ≤ w_i/(ν Σw). With d = β/(ν Σw) it is the dual of `lp_machine` at the λ whose optimal value is
//! ν Σw. That value is a concave function of λ with slope ‖α‖₁, so Newton's method finds λ in a few programmes. Arc-GV
//! converges to the same margin for a small ν. The report tells the value of the formula as `objective` and ρ as `rho`.

use crate::machines::programme::{Cell, LossName, Programme};
use crate::machines::{Learns, MachineEntry};
use crate::solvers::Penalty;
use crate::sources::{MIKA, Source};

/// The cell of the table.
static CELL: Cell = Cell::new(&ENTRY, LossName::Hinge, Penalty::Sparse).by_nu();

/// The machine with a ν.
pub fn lp_boost(nu: f64) -> Programme {
    Programme { nu, ..Programme::of(&CELL) }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "lp_boost",
    aliases: &[],
    summary: "the largest soft margin of a convex combination of kernel functions: boosting by linear programming",
    formula: "max ρ − Σ ξ_i / νn, y_i f(x_i) ≥ ρ − ξ_i, ‖α‖₁ = 1",
    learns: Learns::Classes,
    source: Source::new(&MIKA, "§3.5.6, §3.6, Table 3.1"),
    use_when: "a margin is wanted whose violators are a known share, and very few examples in the expansion",
    cost: "K is stored, n² numbers; a few passes over it, and systems of as many unknowns as coefficients come into question: far less than n³ where few are needed, some ten times n³ where not.",
    make: || Box::new(Programme::of(&CELL)),
};
