//! The k nearest neighbours in feature space vote.

use crate::data::DataError;
use crate::machines::neighbours::{Weighting, look_up};
use crate::machines::{FitError, Fitted, Learns, Machine, MachineEntry, Order, Readout, Task, Tolerates, Traits};
use crate::params::{Params, Rule, Visit};
use crate::sources::{HERBRICH, Source};
use crate::watch::Monitor;

const NAME: &str = "knn";

/// The class with most of the k nearest examples; d²(x, x_i) = κ(x, x) − 2 κ(x, x_i) + κ(x_i, x_i)
///
/// With the linear kernel these are the neighbours in plain Euclidean distance; a radial kernel orders them in the same
/// way. Scores are shares of the votes. Of equally near examples those that come first are taken, and a tie of votes goes
/// to the first class; where κ is 0 between an example and all others, as that of an rbf kernel is far enough away, all are equally near. `weighting = distance` lets every vote count 1/d; examples at distance zero then decide alone. Weights
/// of examples multiply their votes. Where there are fewer than k examples, all vote.
///
/// # Source
/// Herbrich 2002, §1.2; distances by Shawe-Taylor & Cristianini 2004, §5.1.
///
/// # Use when
/// A method without any assumption is wanted to compare with, or to see what a kernel finds near.
///
/// # Cost
/// n kernel values to learn; each prediction takes n more, none stored. The model keeps all examples.
#[derive(Clone, Debug, PartialEq)]
pub struct Knn {
    /// k.
    pub k: usize,
    /// The weighting of votes.
    pub weighting: Weighting,
}

impl Default for Knn {
    fn default() -> Self {
        Self { k: 5, weighting: Weighting::Uniform }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["nearest_neighbours", "k_nearest_neighbours"],
    summary: "the class with most of the k nearest examples in feature space",
    formula: "d²(x, xᵢ) = κ(x, x) − 2 κ(x, xᵢ) + κ(xᵢ, xᵢ); votes of the k smallest",
    learns: Learns::Classes,
    source: Source::new(&HERBRICH, "§1.2"),
    use_when: "a method without assumptions is wanted to compare with, or to see what a kernel finds near",
    cost: "n kernel values to learn; each prediction takes n more, none stored. The model keeps all examples.",
    make: || Box::new(Knn::default()),
};

impl Params for Knn {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("k", &mut self.k, Rule::AtLeast(1.0), "number of neighbours that are asked");
        v.choice("weighting", &mut self.weighting, "uniform, or distance: a neighbour counts 1/d");
    }
}

impl Machine for Knn {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits {
            weights: true,
            // of equally near examples the first is taken
            order: Order::Matters,
            searched: "k=1|3|5|9|15|25",
            tolerates: Tolerates::ConditionallyDefinite,
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let (n, count) = (task.len(), classes.labels.len());
        if classes.codes.len() != n {
            let (what, other) = ("the target".to_owned(), "the kernel matrix".to_owned());
            let error = DataError::Lengths { what, got: classes.codes.len(), other, wanted: n };
            return Err(FitError::Target { machine: NAME, error });
        }
        // an example votes for its own class
        let mut votes = vec![0.0; n * count];
        classes.codes.iter().enumerate().for_each(|(i, &code)| votes[i * count + code as usize] = 1.0);
        look_up(NAME, task, (self.k, self.weighting), &votes, Readout::ArgMax { labels: classes.labels }, watch)
    }
}

#[cfg(test)]
#[path = "knn_tests.rs"]
mod tests;
