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
mod folds;
mod held_out;
mod linear;
mod multiclass;
mod neighbours;
mod output;
mod posterior;
pub mod programme;
pub mod rayleigh;
mod readout;
pub mod reduce;
pub mod regress;
mod smoother;
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
pub use folds::folds;
pub use held_out::LeftOutModels;
pub(crate) use held_out::without;
pub use multiclass::Strategy;
pub use neighbours::{Neighbours, Weighting};
pub use output::{Output, Variances};
pub use posterior::{Posterior, PosteriorTerm};
pub(crate) use readout::NOVELTY;
pub use readout::Readout;
pub use smoother::Smoother;
pub use support::Effort;
pub use task::{Features, Task};
pub use theory::{Compresses, ConvexLoss, Theory};
pub use threshold::Threshold;
pub use traits::{Path, Reads, Tolerates, Traits};

use crate::calibrate::Layout;
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
    /// Learns from a task.
    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError>;

    /// Learns from a task and, where the machine can do so for less than learning again, gives held-out scores as well: see
    /// [`Machine::held_out_scores`]. `None` asks for that.
    fn run_holding_out(
        &self,
        task: &Task<'_>,
        folds: &[Vec<usize>],
        watch: &dyn Monitor,
    ) -> Result<(Fitted, Option<HeldOutScores>), FitError> {
        let _ = folds;
        self.run(task, watch).map(|fitted| (fitted, None))
    }

    /// The score of every example by a fit without its fold, n × outputs row by row in the order of `fitted`, which is the
    /// fit on all of them; what probabilities are learned from.
    ///
    /// A score that has no meaning is not a number: that of a class which the rest of the examples does not have. A pair
    /// of classes is only ever judged on examples of the two, so a machine may leave out the others.
    ///
    /// # Errors
    /// As [`Machine::run`]; also [`SolveError::Stopped`](crate::linalg::SolveError::Stopped) if the monitor ends a fold.
    fn held_out_scores(
        &self,
        task: &Task<'_>,
        fitted: &Fitted,
        folds: &[Vec<usize>],
        watch: &dyn Monitor,
    ) -> Result<Vec<f64>, FitError> {
        held_out::by_refitting(self, task, fitted, folds, watch)
    }

    /// Learns from a task and from what stands beside its examples, if anything does. Points of the expansion are places among
    /// the examples and the others after them.
    ///
    /// # Errors
    /// As [`Machine::run`]; also if there is something and the machine takes no companions.
    fn run_with_auxiliary(
        &self,
        task: &Task<'_>,
        auxiliary: Option<&Auxiliary<'_>>,
        watch: &dyn Monitor,
    ) -> Result<Fitted, FitError> {
        match auxiliary {
            None => self.run(task, watch),
            Some(_) => Err(no_auxiliary(self.entry().name)),
        }
    }

    /// A fit, and the score of every example by a fit that has not seen it (n × outputs, row by row), where all of that costs no
    /// more than a few fits; `None` where it must be learned again for each.
    ///
    /// # Errors
    /// As [`Machine::run`].
    fn leave_one_out(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Option<(Fitted, Vec<f64>)>, FitError> {
        let _ = (task, watch);
        Ok(None)
    }

    /// The models without each example in turn, where all of them cost no more than a few fits; `None` where it must be learned
    /// again for each.
    ///
    /// # Errors
    /// As [`Machine::run`].
    fn left_out_models(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Option<LeftOutModels>, FitError> {
        let _ = (task, watch);
        Ok(None)
    }

    /// The λ of a fit that is (K + λ1) α = Y whatever the examples and their number, of which a [`Smoother`] can be made; `None` for
    /// other machines.
    ///
    /// # Errors
    /// If a parameter makes it another kind of fit.
    fn smooths(&self) -> Result<Option<f64>, FitError> {
        Ok(None)
    }
}

/// Held-out scores and how they are stored.
pub type HeldOutScores = (Layout, Vec<f64>);

/// What a machine needs of the target.
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
    /// What it needs of the target.
    pub learns: Learns,
    /// Where it is taken from.
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

/// What a machine is for: `classify`, `regress`, `reduce`, `detect`, `cluster` or `baseline`.
pub fn family(entry: &MachineEntry) -> &'static str {
    let of = |(_, entries): &(&str, &[&MachineEntry])| entries.iter().any(|e| e.name == entry.name);
    families().into_iter().find(of).map_or("other", |(family, _)| family)
}

/// Whether predictions of a machine can be held against the target: it learns one, and does not only make coordinates of it.
pub fn predicts_target(entry: &MachineEntry) -> bool {
    entry.learns != Learns::Unsupervised && !is_in(reduce::ENTRIES, entry)
}

/// Noise, copies and points are refused by machines that do not take them.
pub(crate) fn no_auxiliary(machine: &'static str) -> FitError {
    let taking: Vec<&str> = all().filter(|m| (m.make)().traits().auxiliary).map(|m| m.name).collect();
    let finding =
        format!("it takes no noise, copies or points beside the data; leave them out, or use {}", taking.join(", "));
    FitError::Param { machine, finding }
}

/// Whether a machine tells usual examples from unusual ones.
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
