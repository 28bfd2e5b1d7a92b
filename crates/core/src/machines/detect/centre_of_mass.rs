//! Novelty by the distance from the centre of mass.

use crate::geometry::{Centre, sampling_radius};
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, SolverReport, Task, Theory,
    Tolerates, Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::solvers::conjugate_gradient::not_finite;
use crate::sources::{KMPA, Source};
use crate::watch::{Monitor, Phase};

const NAME: &str = "centre_of_mass";

/// f(x) = R² − ‖φ(x) − φ_S‖², R = max_i ‖φ(x_i) − φ_S‖ + 2 √(max κ(x_i, x_i)/n) (1 + √(2 ln(1/δ)))
///
/// The examples are like those seen if they are no farther from their centre of mass than the farthest of them, and a margin for
/// that centre being one of a sample. No training example is novel. Without the margin (`guarantee = false`) R is the largest
/// distance itself. The report's notes are `radius`, `margin` and `novel_at_most`: over the draw of the sample *and* of a new
/// example of the same distribution, the probability that it is called novel is at most 1/(n + 1) + δ. It is told for kernels with a
/// length that no image exceeds (Gaussians, `normalise(…)`), whose square is the max κ(x, x) of the margin; for others the margin rests on
/// the sample and proves nothing.
///
/// # Source
/// Shawe-Taylor & Cristianini 2004, Algorithm 5.4. Their Proposition 5.5 says that the probability is at most 1/(n + 1) for a
/// sample that is not among a share δ, which is false: given the sample it exceeds that with a probability near 1/e. What is
/// told here is the probability over both draws. The margin is that of McDiarmid's inequality, shorter than their (5.5).
///
/// # Use when
/// A first answer with a guarantee is wanted, at the cost of the kernel alone. The margin is wide for fewer than some thousand
/// examples: nothing may be novel then.
///
/// # Cost
/// n²/2 kernel values, none stored; predictions need all examples.
#[derive(Clone, Debug, PartialEq)]
pub struct CentreOfMass {
    /// δ.
    pub delta: f64,
    /// True if the margin is added.
    pub guarantee: bool,
}

impl Default for CentreOfMass {
    fn default() -> Self {
        Self { delta: 0.05, guarantee: true }
    }
}

impl Params for CentreOfMass {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real(
            "delta",
            &mut self.delta,
            Rule::Inside(0.0, 1.0),
            "probability δ with which the margin may be too narrow",
        );
        v.switch("guarantee", &mut self.guarantee, "whether a margin for the sampled centre is added");
    }
}

impl Machine for CentreOfMass {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        let theory = Theory { region_slack: self.guarantee.then_some(self.delta), ..Theory::default() };
        Traits { theory, tolerates: Tolerates::ConditionallyDefinite, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let n = task.len();
        if n == 0 {
            let error = crate::data::DataError::Empty { place: "the training data".to_owned() };
            return Err(FitError::Target { machine: NAME, error });
        }
        watch.alive(Phase::new("centre of mass").into()).map_err(|reason| FitError::stopped(NAME, reason))?;
        let centre = Centre::of(task.gram.as_ref());
        let farthest = centre.distances.iter().copied().fold(0.0, f64::max);
        if !(farthest.is_finite() && centre.squared_norm.is_finite()) {
            return Err(FitError::Solve { machine: NAME, error: not_finite(task.gram.as_ref()) });
        }
        // the largest length in a sample bounds no other: only one that the kernel tells is proven
        let known = task.kernel.as_ref().and_then(|kernel| kernel.radius()).map(|radius| radius * radius);
        let squared_radius = known.unwrap_or(centre.squared_radius);
        let margin = if self.guarantee { 2.0 * sampling_radius(squared_radius, n, self.delta) } else { 0.0 };
        let radius = farthest + margin;
        let mut notes = vec![("radius".to_owned(), radius), ("margin".to_owned(), margin)];
        if self.guarantee && known.is_some() {
            notes.push(("novel_at_most".to_owned(), (1.0 / (n + 1) as f64 + self.delta).min(1.0)));
        }
        // rounding must not make the farthest example novel
        let slack = 1e-12 * (centre.squared_radius + radius * radius);
        Ok(Fitted::new(
            Expansion {
                coefficients: Coefficients::Ball { points: (0..n).collect(), alpha: vec![2.0 / n as f64; n] },
                offsets: vec![radius * radius - centre.squared_norm + slack],
            },
            Readout::Novelty,
            SolverReport { support: Some(n), notes, ..SolverReport::direct() },
        ))
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["centre", "center_of_mass"],
    summary: "what is farther from the centre of mass than any example, with a guarantee",
    formula: "f(x) = R² − ‖φ(x) − φ_S‖²",
    learns: Learns::Unsupervised,
    source: Source::corrected(&KMPA, "Algorithm 5.4", "Proposition 5.5 holds over both draws only"),
    use_when: "a first answer with a guarantee is wanted at the cost of the kernel alone",
    cost: "n²/2 kernel values, none stored; predictions need all examples.",
    make: || Box::new(CentreOfMass::default()),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::{Dataset, Fit, Rows, Seed, rbf};

    fn normal(n: usize, seed: u64) -> Dataset {
        let mut random = Seed(seed).stream("centre");
        Dataset::new(Rows::new((0..2 * n).map(|_| random.normal()).collect(), n, 2).unwrap())
    }

    #[test]
    fn no_training_example_is_novel_and_scores_are_squared_distances() {
        for guarantee in [false, true] {
            let machine = CentreOfMass { guarantee, ..CentreOfMass::default() };
            let data = normal(200, 1);
            let model = machine.fit(&rbf(0.3), &data).unwrap();
            let scores = model.scores(&data).unwrap();
            assert!(scores.iter().all(|s| *s >= 0.0), "{guarantee}");
            let gram = rbf(0.3).gram(&data).unwrap();
            let centre = Centre::of(gram.as_ref());
            let radius = model.fitted.report.notes[0].1;
            for (s, d) in scores.iter().zip(&centre.distances) {
                assert!((s - (radius * radius - d * d)).abs() < 1e-9);
            }
            if !guarantee {
                let far = Dataset::new(Rows::new(vec![9.0, 9.0], 1, 2).unwrap());
                assert!(model.scores(&far).unwrap()[0] < 0.0, "far away is novel");
            }
        }
    }

    #[test]
    fn fresh_examples_are_novel_no_more_often_than_is_told() {
        // 400 samples of 30 without the margin's help: the share of novel ones over both draws is at most 1/31
        let machine = CentreOfMass { guarantee: false, ..CentreOfMass::default() };
        let novel = (0..400)
            .filter(|&s| {
                let model = machine.fit(&rbf(0.3), &normal(30, 100 + s)).unwrap();
                model.scores(&normal(1, 9000 + s)).unwrap()[0] < 0.0
            })
            .count();
        // the centre moves with the sample, so the share is near 1/31, not exactly below it; with the margin nothing is novel
        assert!(novel <= 30, "{novel} of 400");
        for unbounded in [crate::prelude::linear(), crate::formula::distance(1.0)] {
            let model = CentreOfMass::default().fit(&unbounded, &normal(30, 7)).unwrap();
            let told = model.fitted.report.notes.iter().any(|(n, _)| n == "novel_at_most");
            assert!(!told, "{unbounded}: the sample bounds no other example");
        }
        let sure = CentreOfMass::default().fit(&rbf(0.3), &normal(30, 7)).unwrap();
        let note = sure.fitted.report.notes.iter().find(|(n, _)| n == "novel_at_most").unwrap().1;
        assert!((note - (1.0 / 31.0 + 0.05)).abs() < 1e-12);
    }
}
