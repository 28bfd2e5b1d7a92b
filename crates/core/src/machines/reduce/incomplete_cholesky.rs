//! Incomplete Cholesky decomposition: coordinates in the span of a few training examples.

use super::{selves, size};
use crate::geometry::GramSchmidt;
use crate::gram::{BlockMut, Pick};
use crate::linalg::SolveError;
use crate::linalg::{inverse_lower, multiply_add};
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, SolverReport, Task, Tolerates,
    Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::sources::{KMPA, Source};
use crate::watch::{Monitor, Phase, Progress, Status, Stop};
use std::ops::ControlFlow;

const NAME: &str = "incomplete_cholesky";
/// Largest difference between the coordinates that were found and those that the model gives its own examples, as a
/// share of the largest ‖φ(x)‖; a larger one is reported.
const MAX_DIFFERENCE: f64 = 1e-6;

/// r = L⁻¹ (κ(x_I1, x), …, κ(x_IT, x)): coordinates after partial Gram–Schmidt, whose inner products approximate κ.
///
/// The examples I are chosen greedily: the next is always the one that the span of those before describes worst. L is the
/// lower triangle with LLᵀ = K_II, and the model keeps these T examples only: an expansion with coefficients L^{-T}. On the
/// chosen examples inner products are κ exactly. The report's violation is the largest difference between the coordinates
/// the model gives to chosen examples and those of the decomposition: what inverting L cost. Its notes are `rank` (T),
/// `residual_trace` (what is left, Σ κ(x, x) − ‖r‖², as a fraction of Σ κ(x, x)) and `residual_max` (the largest of them).
///
/// # Source
/// Shawe-Taylor & Cristianini 2004, Algorithm 5.12; Fine & Scheinberg 2001, section 4.
///
/// # Use when
/// A kernel is to be handed to linear machines on more examples than a matrix of all pairs allows.
///
/// # Cost
/// n T kernel values and n T² operations; n (T + 66) numbers. A new example takes T kernel values and T² operations.
#[derive(Clone, Debug, PartialEq)]
pub struct IncompleteCholesky {
    /// The most coordinates, T.
    pub components: usize,
    /// η as a part of the largest κ(x, x): where no residual is above it, no more examples are chosen.
    pub tolerance: f64,
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["partial_gram_schmidt", "inchol"],
    summary: "coordinates in the span of a few examples, chosen greedily",
    formula: "K_II = LLᵀ, coordinates L⁻¹ κ(x_I, x)",
    learns: Learns::Unsupervised,
    source: Source::new(&KMPA, "Algorithm 5.12"),
    use_when: "a kernel is to be handed to linear machines on more examples than a matrix of all pairs allows",
    cost: "n T kernel values and n T² operations; n (T + 66) numbers. A new example takes T kernel values and T² operations.",
    make: || Box::new(IncompleteCholesky::default()),
};

impl Default for IncompleteCholesky {
    fn default() -> Self {
        Self { components: 100, tolerance: 1e-6 }
    }
}

impl Params for IncompleteCholesky {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("components", &mut self.components, Rule::AtLeast(1.0), "the most coordinates");
        v.real(
            "tolerance",
            &mut self.tolerance,
            Rule::Between(1e-14, 0.999),
            "largest residual that is left alone, as a part of the largest κ(x, x)",
        );
    }
}

impl Machine for IncompleteCholesky {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits { tolerates: Tolerates::WithoutTheory, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let n = size(task, NAME)?;
        let most = self.components.min(n);
        let squares = most.saturating_mul(most).saturating_mul(32);
        let bytes = GramSchmidt::bytes(n, most).saturating_add(squares);
        task.budget.check(bytes, "the incomplete Cholesky decomposition")?;
        let own = selves(task, NAME)?;
        let largest = own.iter().fold(0.0, |most: f64, k| most.max(*k));
        let mut stop: Option<Stop> = None;
        let mut onward = |done: usize, left: f64| {
            let progress = Progress::new(Phase::new("incomplete Cholesky"), done).of(most).gap(left);
            match watch.step(&progress) {
                ControlFlow::Break(reason) => stop = Some(reason),
                ControlFlow::Continue(()) => {}
            }
            stop.is_none()
        };
        // what rounding leaves of κ(x, x) after n differences is no residual
        let floor = largest * self.tolerance.max(n as f64 * f64::EPSILON);
        let found = GramSchmidt::watched(&*task.gram, floor, most, &mut onward).map_err(solve)?;
        match stop {
            Some(reason) if found.rank() == 0 => Err(solve(reason.into())),
            Some(reason) => fitted(task, &found, &own, reason.into()),
            None => fitted(task, &found, &own, Status::Converged),
        }
    }
}

fn fitted(task: &Task<'_>, found: &GramSchmidt, selves: &[f64], status: Status) -> Result<Fitted, FitError> {
    let rank = found.rank();
    if rank == 0 {
        let finding = "no κ(x, x) is above zero, so there is no direction to choose; use another kernel";
        return Err(FitError::Param { machine: NAME, finding: finding.to_owned() });
    }
    let lower = found.triangle();
    let inverse = inverse_lower(&lower, rank);
    // r = L⁻¹k is kᵀL^{-T}: the coefficients of an expansion in the chosen examples
    let alpha: Vec<f64> = (0..rank * rank).map(|p| inverse[(p % rank) * rank + p / rank]).collect();
    let mut own = vec![0.0; rank * rank];
    let block = BlockMut::new(&mut own, rank, rank);
    task.gram.block(Pick::List(&found.pivots), Pick::List(&found.pivots), block);
    let mut mapped = vec![0.0; rank * rank];
    multiply_add(&own, rank, rank, &alpha, rank, &mut mapped);
    let apart = mapped.iter().zip(&lower).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
    let (trace, largest) = selves.iter().fold((0.0, 0.0), |(s, m): (f64, f64), k| (s + k, m.max(*k)));
    let left: f64 = found.residuals.iter().map(|r| r.max(0.0)).sum();
    let (worst, least) = found.residuals.iter().fold((0.0, 0.0), |(w, l): (f64, f64), r| (w.max(*r), l.min(*r)));
    let mut advice = Vec::new();
    if apart > MAX_DIFFERENCE * largest.sqrt() {
        advice.push(format!(
            "the chosen examples are so nearly dependent that coordinates of new examples are exact to {apart:.1e} \
             only; raise tolerance or lower components"
        ));
    }
    if least < -1e-8 * largest {
        advice.push(format!(
            "a residual fell to {least:.3e}: the kernel is not positive semi-definite on these examples, and inner \
             products of the coordinates are not its values"
        ));
    }
    let names = (1..=rank).map(|t| format!("r{t}")).collect();
    Ok(Fitted::new(
        Expansion {
            coefficients: Coefficients::Dual { points: found.pivots.clone(), alpha },
            offsets: vec![0.0; rank],
        },
        Readout::Coordinates { names },
        SolverReport {
            status,
            iterations: rank,
            violation: Some(apart),
            support: Some(rank),
            storage: format!("{rank} columns of the kernel matrix computed"),
            notes: vec![
                ("rank".to_owned(), rank as f64),
                ("residual_trace".to_owned(), left / trace),
                ("residual_max".to_owned(), worst),
            ],
            advice,
            ..SolverReport::direct()
        },
    ))
}
fn solve(error: SolveError) -> FitError {
    FitError::Solve { machine: NAME, error }
}

#[cfg(test)]
#[path = "incomplete_cholesky_tests.rs"]
mod tests;
