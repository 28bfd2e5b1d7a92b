//! Machines: parameters and a task in, an expansion with evidence out.
//!
//! Every machine returns the same type, [`Fitted`]: f_c(x) = Σ_i α_ic κ(x_i, x) + b_c, how scores become predictions, and
//! what the solver can show. Prediction, saving, plotting and reporting are therefore written once for all machines.

mod auxiliary;
pub mod baseline;
mod class_weight;
pub mod classify;
pub mod cluster;
pub mod detect;
mod ensemble;
mod error;
mod evidence;
mod expansion;
mod expression;
mod facts;
mod fitted;
mod held_out;
mod linear;
mod multiclass;
mod neighbours;
mod output;
mod parts;
mod posterior;
pub mod programme;
pub mod rayleigh;
mod readout;
pub mod reduce;
pub mod regress;
mod settle;
mod smoother;
mod strip;
mod support;
mod task;
mod theory;
mod threshold;
mod traits;

pub use auxiliary::{Auxiliary, Role};
pub use class_weight::ClassWeight;
pub use ensemble::{Ensemble, Net, Quadric, Stump, WeightedNet};
pub use error::FitError;
pub use expansion::{Coefficients, Expansion};
pub use expression::{MachineExpression, parse};
pub use facts::Fact;
pub use fitted::{Fitted, SolverReport};
pub use held_out::{HeldOutAnswer, HeldOutRequest};
pub use multiclass::Strategy;
pub use neighbours::{Neighbours, Weighting};
pub use output::{Output, Variances};
pub(crate) use parts::beside;
pub use parts::{Part, PartNames, PartOutput};
pub use posterior::{Posterior, PosteriorTerm};
pub(crate) use readout::NOVELTY;
pub use readout::Readout;
pub use smoother::Smoother;
pub use support::Effort;
pub use task::{Features, NamedTerm, Task};
pub use theory::{Compresses, ConvexLoss, Cost, Multipliers, Theory};
pub use threshold::Threshold;
pub use traits::{Order, Path, Reads, Tolerates, Traits};

use crate::params::{Params, Settings};
use crate::sources::Source;
use crate::watch::Monitor;

/// A learning machine: its parameters, and how it learns.
pub trait Machine: Params + Settings + Send + Sync {
    /// The catalogue's entry.
    fn entry(&self) -> &'static MachineEntry;
    /// The facts that others rely on.
    fn traits(&self) -> Traits {
        Traits::default()
    }
    /// Learns from a task, with the held-out answers that it asks for where they cost less than learning again.
    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError>;
}

/// The target that a machine learns from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learns {
    /// Classes.
    Classes,
    /// Numbers.
    Numbers,
    /// Nothing: the target, if there is one, is left aside.
    Unsupervised,
}

/// A line of the catalogue of machines.
pub struct MachineEntry {
    /// The name on all surfaces.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// One line.
    pub summary: &'static str,
    /// The problem it solves.
    pub formula: &'static str,
    /// The target that it learns from.
    pub learns: Learns,
    /// The work it is taken from.
    pub source: Source,
    /// One sentence on when to use it.
    pub use_when: &'static str,
    /// Time and memory of a fit, in terms of the number of examples n.
    pub cost: &'static str,
    /// The machine with default parameters.
    pub make: fn() -> Box<dyn Machine>,
}

/// The machines by what they are for, which is the name of their folder.
pub fn families() -> [(&'static str, &'static [&'static MachineEntry]); 6] {
    [
        ("classify", classify::ENTRIES),
        ("regress", regress::ENTRIES),
        ("reduce", reduce::ENTRIES),
        ("detect", detect::ENTRIES),
        ("cluster", cluster::ENTRIES),
        ("baseline", baseline::ENTRIES),
    ]
}

/// All machines, by family.
pub fn all() -> impl Iterator<Item = &'static MachineEntry> {
    families().into_iter().flat_map(|(_, entries)| entries).copied()
}

/// The family of a machine: `classify`, `regress`, `reduce`, `detect`, `cluster` or `baseline`.
pub fn family(entry: &MachineEntry) -> &'static str {
    let of = |(_, entries): &(&str, &[&MachineEntry])| entries.iter().any(|e| e.name == entry.name);
    families().into_iter().find(of).map_or("other", |(family, _)| family)
}

/// True if predictions of a machine can be compared with the target: it learns one, and does not only make coordinates of it.
pub fn predicts_target(entry: &MachineEntry) -> bool {
    entry.learns != Learns::Unsupervised && !is_in(reduce::ENTRIES, entry)
}

/// The machine that is taken where none is named: the first of the catalogue that predicts such a target.
pub fn usual(learns: Learns) -> Option<&'static MachineEntry> {
    all().find(|entry| entry.learns == learns && predicts_target(entry))
}

/// Names that are listed before the rest is counted.
const NAMES_LISTED: usize = 4;

/// Machines with some trait to take in the place of another, as a sentence ends: a few, those that learn the same first, and the number of
/// all others.
pub fn alternatives(to: &MachineEntry, fit: fn(&Traits) -> bool) -> String {
    let fitting: Vec<&MachineEntry> = all().filter(|m| m.name != to.name && fit(&(m.make)().traits())).collect();
    let alike = |m: &MachineEntry| m.learns == to.learns && predicts_target(m) == predicts_target(to);
    let (first, then): (Vec<&MachineEntry>, Vec<&MachineEntry>) = fitting.iter().partition(|m| alike(m));
    let mut names: Vec<&str> = first.into_iter().chain(then).map(|m| m.name).collect();
    names.truncate(NAMES_LISTED);
    match fitting.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} or one of {more} others (`mercer list machines`)", names.join(", ")),
    }
}

/// Noise, copies and points are refused by machines that do not take them.
pub(crate) fn no_auxiliary(machine: &'static str) -> FitError {
    let others = find(machine).map_or_else(String::new, |entry| alternatives(entry, |t| t.auxiliary));
    let finding = format!("it takes no noise, copies or points beside the data; leave them out, or use {others}");
    FitError::Param { machine, finding }
}

/// True if a machine is a detector of novelties.
pub(crate) fn detects(entry: &MachineEntry) -> bool {
    is_in(detect::ENTRIES, entry)
}

fn is_in(entries: &[&MachineEntry], entry: &MachineEntry) -> bool {
    entries.iter().any(|e| e.name == entry.name)
}

/// The entry of a name or alias.
pub fn find(name: &str) -> Option<&'static MachineEntry> {
    all().find(|e| e.name == name || e.aliases.contains(&name))
}
