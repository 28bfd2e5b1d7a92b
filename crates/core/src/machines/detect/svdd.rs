//! Support vector data description: the smallest ball.

use super::boundary::{Region, region};
use super::one_class::support_of;
use crate::gram::{Side, diagonal};
use crate::machines::Fact;
use crate::machines::support::{Effort, prove, weights};
use crate::machines::theory::LEVEL_FOUND;
use crate::machines::{
    Coefficients, Compresses, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, Reads, Task, Theory,
    Tolerates, Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::sources::{LWK, Source};
use crate::watch::Monitor;

/// min R² + 1/(ν Σw) Σ w_i max(0, ‖φ(x_i) − a‖² − R²); f(x) = R² − ‖φ(x) − a‖²
///
/// # Source
/// Schölkopf & Smola (2002), §8.3: max Σ α_i κ(x_i, x_i) − αᵀKα, 0 ≤ α_i ≤ w_i/(ν Σw), Σα = 1, a = Σ α φ(x).
/// Solved in the scale of `one_class`, β = ν Σw α, so that tolerances mean the same; for kernels with a constant diagonal
/// the two machines decide alike.
///
/// # Use when
/// As `one_class`, where the kernel's diagonal is not constant and lengths matter.
///
/// # Cost
/// As `svc`; predictions also need κ(x, x) of the new example.
#[derive(Clone, Debug, PartialEq)]
pub struct Svdd {
    /// ν: at least the share of examples left outside, at most that of support vectors.
    pub nu: f64,
    /// Sharpness and cost.
    pub effort: Effort,
}

impl Default for Svdd {
    fn default() -> Self {
        Self { nu: 0.1, effort: Effort::default() }
    }
}

impl Params for Svdd {
    fn visit(&mut self, v: &mut dyn Visit) {
        let help = "share ν: at least that left outside, at most that of support vectors";
        v.real("nu", &mut self.nu, Rule::AboveUpTo(0.0, 1.0), help);
        self.effort.visit(v);
    }
}

impl Machine for Svdd {
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
        Traits {
            reads: Reads::Rows,
            weights: true,
            theory,
            tolerates: Tolerates::ConditionallyDefinite,
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let weights = weights(task);
        let scale = self.nu * weights.iter().sum::<f64>();
        let own = task.gram.self_similarities(Side::Rows).unwrap_or_else(|| diagonal(task.gram.as_ref()));
        // ½ βᵀKβ − cᵀβ with c = ½ scale · κ(x, x) is scale²/2 times the dual
        let linear: Vec<f64> = own.iter().map(|k| 0.5 * scale * k).collect();
        let mut solution = support_of(task, &weights, self.nu, &linear, &self.effort, ENTRY.name, watch)?;
        // ‖φ(x_t) − a‖² = κ(x_t, x_t) − 2 (Kα)_t + ‖a‖² with (Kβ)_t = c_t − s_t, so 2 s_t/scale + ‖a‖²
        let centre = solution.squared_norm / (scale * scale);
        let Region { offset, outside } = region(task, &weights, &linear, &own, &solution);
        let radius2 = 2.0 * offset / scale + centre;
        let distance2 = |t: usize| 2.0 * solution.state[t] / scale + centre;
        let beyond: f64 = (0..own.len()).map(|t| weights[t] * (distance2(t) - radius2).max(0.0)).sum();
        let dual = -2.0 * solution.objective / (scale * scale);
        let gap = radius2 + beyond / scale - dual;
        (solution.objective, solution.squared_norm) = (-dual, centre);
        let points: Vec<usize> = (0..own.len()).filter(|&i| solution.beta[i] != 0.0).collect();
        // f(x) = Σ 2α κ(x_i, x) − κ(x, x) + R² − ‖a‖²
        let alpha = points.iter().map(|&i| 2.0 * solution.beta[i] / scale).collect();
        let notes = vec![
            ("radius".to_owned(), radius2.max(0.0).sqrt()),
            ("centre_norm2".to_owned(), centre),
            Fact::Outside.note(outside as f64),
        ];
        let report = prove(&[solution], Some(gap), points.len(), &self.effort, task, notes);
        Ok(Fitted::new(
            Expansion { coefficients: Coefficients::Ball { points, alpha }, offsets: vec![2.0 * offset / scale] },
            Readout::Novelty,
            report,
        ))
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "svdd",
    aliases: &["hypersphere"],
    summary: "where the data are: the smallest ball in feature space that holds all but a share ν",
    formula: "min R² + 1/(ν m) Σ max(0, ‖φ(x_i) − a‖² − R²)",
    learns: Learns::Unsupervised,
    source: Source::new(&LWK, "§8.3"),
    use_when: "unusual examples are to be found with a kernel whose diagonal is not constant",
    cost: "As `svc`; predictions also need κ(x, x) of the new example.",
    make: || Box::new(Svdd::default()),
};
