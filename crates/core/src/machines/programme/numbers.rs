//! Programmes whose targets are numbers.

use super::Programme;
use super::solve::{Problem, Solutions, Solved};
use crate::machines::Fact;
use crate::machines::evidence::{Evidence, join};
use crate::machines::fitted::each;
use crate::machines::support::weights;
use crate::machines::{Coefficients, Expansion, FitError, Fitted, Readout, SolverReport, Task};
use crate::watch::Monitor;

impl Programme {
    pub(super) fn on_numbers(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let y = task.numbers(self.name())?;
        let (n, outputs) = (task.len(), y.names.len());
        let columns: Vec<Vec<f64>> =
            (0..outputs).map(|k| (0..n).map(|i| y.values[i * outputs + k]).collect()).collect();
        let Solutions { solved, storage } =
            self.solve(&Problem { task, targets: &columns, weights: &weights(task), watch })?;
        let points = support(n, &solved);
        let alpha = points.iter().flat_map(|&i| solved.iter().map(move |s| s.alpha[i])).collect();
        let scores = (0..n).flat_map(|i| solved.iter().map(move |s| s.scores[i])).collect();
        let report = prove(&solved, points.len(), storage);
        Ok(Fitted::new(
            Expansion {
                coefficients: Coefficients::Dual { points, alpha },
                offsets: solved.iter().map(|s| s.offset).collect(),
            },
            Readout::Values { names: y.names },
            report,
        )
        .with_training_scores(Some(scores)))
    }
}

/// The examples that carry any of the functions.
fn support(n: usize, solved: &[Solved]) -> Vec<usize> {
    (0..n).filter(|&i| solved.iter().any(|s| s.alpha[i] != 0.0)).collect()
}

/// The report of all targets together.
pub(super) fn prove(solved: &[Solved], support: usize, storage: String) -> SolverReport {
    let evidence: Vec<Evidence> = solved
        .iter()
        .map(|s| Evidence {
            objective: Some(s.objective),
            gap: Some(s.gap),
            violation: s.violation,
            ..Evidence::new(s.status, s.iterations)
        })
        .collect();
    let report = join(&evidence);
    let coefficients: usize = solved.iter().map(|s| s.alpha.len()).sum();
    let zeros: usize = solved.iter().map(|s| s.alpha.iter().filter(|a| **a == 0.0).count()).sum();
    let mut notes = vec![("zero_share".to_owned(), zeros as f64 / coefficients.max(1) as f64)];
    let residual = solved.iter().filter_map(|s| s.relative_residual).reduce(f64::max);
    notes.extend(residual.map(|residual| Fact::RelativeResidual.note(residual)));
    notes.extend(solved.iter().filter_map(|s| s.rho).reduce(f64::min).map(|rho| Fact::Rho.note(rho)));
    SolverReport {
        iterations_of_each: each(solved.iter().map(|s| s.iterations)),
        duality_gap: report.duality_gap.filter(|gap| gap.is_finite()),
        support: Some(support),
        storage,
        notes,
        ..report
    }
}
