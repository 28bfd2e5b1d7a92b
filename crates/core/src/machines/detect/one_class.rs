//! The one-class support vector machine.

use super::boundary::{Region, region};
use crate::gram::{Side, diagonal};
use crate::machines::Fact;
use crate::machines::support::{Effort, Sub, Subs, broke, fill, prove, solve, weights};
use crate::machines::theory::LEVEL_FOUND;
use crate::machines::{
    Coefficients, Compresses, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, Reads, Task, Theory,
    Tolerates, Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::solvers::smo::{Equality, Solution, Start};
use crate::sources::{LIBSVM, Source};
use crate::watch::Monitor;

/// min ½‖w‖² − ν Σw_i ρ + Σ w_i max(0, ρ − ⟨w, φ(x_i)⟩); f(x) = ⟨w, φ(x)⟩ − ρ
///
/// # Source
/// Chang & Lin (2011), §2.3: 0 ≤ α_i ≤ w_i, Σα = ν Σw. For kernels with a constant diagonal it is the ball of `svdd`.
///
/// # Use when
/// Only usual examples are at hand, and unusual ones are to be found: at most a share ν of the training examples is left
/// outside, also by `predict`: the offset is put below all examples that are not at their bound. The score ranks examples: the lowest are the most unusual.
///
/// # Cost
/// As `svc`.
#[derive(Clone, Debug, PartialEq)]
pub struct OneClass {
    /// ν: at least the share of examples left outside, at most that of support vectors.
    pub nu: f64,
    /// Sharpness and cost.
    pub effort: Effort,
}

impl Default for OneClass {
    fn default() -> Self {
        Self { nu: 0.1, effort: Effort::default() }
    }
}

impl Params for OneClass {
    fn visit(&mut self, v: &mut dyn Visit) {
        let help = "share ν: at least that left outside, at most that of support vectors";
        v.real("nu", &mut self.nu, Rule::AboveUpTo(0.0, 1.0), help);
        self.effort.visit(v);
    }
}

impl Machine for OneClass {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        let theory = Theory {
            compression: Compresses::Region,
            loss: Err(LEVEL_FOUND),
            outlier_share: Some(self.nu),
            ..Theory::default()
        };
        Traits { reads: Reads::Rows, weights: true, theory, tolerates: Tolerates::WithoutTheory, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let weights = weights(task);
        let solution = support_of(task, &weights, self.nu, &vec![0.0; task.len()], &self.effort, ENTRY.name, watch)?;
        let own = task.gram.self_similarities(Side::Rows).unwrap_or_else(|| diagonal(task.gram.as_ref()));
        let Region { offset, outside } = region(task, &weights, &vec![0.0; task.len()], &own, &solution);
        let rho = -offset;
        let total: f64 = weights.iter().sum();
        let slack: f64 = (0..weights.len()).map(|t| weights[t] * (rho + solution.state[t]).max(0.0)).sum();
        let gap = solution.squared_norm - self.nu * total * rho + slack;
        let points: Vec<usize> = (0..weights.len()).filter(|&i| solution.beta[i] != 0.0).collect();
        let alpha = points.iter().map(|&i| solution.beta[i]).collect();
        let notes = vec![Fact::Rho.note(rho), Fact::Outside.note(outside as f64)];
        let report = prove(&[solution], Some(gap), points.len(), &self.effort, task, notes);
        Ok(Fitted::new(
            Expansion { coefficients: Coefficients::Dual { points, alpha }, offsets: vec![offset] },
            Readout::Novelty,
            report,
        ))
    }
}

/// min ½ βᵀKβ − cᵀβ with 0 ≤ β ≤ w and Σβ = ν Σw.
pub(super) fn support_of(
    task: &Task<'_>,
    weights: &[f64],
    nu: f64,
    linear: &[f64],
    effort: &Effort,
    machine: &'static str,
    watch: &dyn Monitor,
) -> Result<Solution, FitError> {
    let n = task.len();
    let sum = nu * weights.iter().sum::<f64>();
    if n == 0 || sum <= 0.0 {
        let error = crate::data::DataError::Empty { place: "the training data".to_owned() };
        return Err(FitError::Target { machine, error });
    }
    let make = |_: usize| Sub {
        columns: vec![0..n],
        linear: linear.to_vec(),
        lower: vec![0.0; n],
        upper: weights.to_vec(),
        epsilon: 0.0,
        ridge: None,
        equality: Equality::Sum,
        folds: None,
        start: Some(Start {
            plus: fill(weights, sum).unwrap_or_else(|| weights.to_vec()),
            minus: vec![0.0; n],
            known: None,
        }),
    };
    let subs = Subs { sizes: vec![n], make: &make };
    let mut solutions = solve(&task.gram, &subs, effort, task, watch).map_err(broke(machine))?;
    Ok(solutions.remove(0))
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "one_class",
    aliases: &["one_class_svm"],
    summary: "where the data are: a half-space in feature space that holds all but a share ν",
    formula: "min ½‖w‖² − ν m ρ + Σ max(0, ρ − ⟨w, φ(x_i)⟩)",
    learns: Learns::Unsupervised,
    source: Source::new(&LIBSVM, "§2.3"),
    use_when: "only usual examples are at hand, and unusual ones are to be found",
    cost: "As `svc`.",
    make: || Box::new(OneClass::default()),
};
