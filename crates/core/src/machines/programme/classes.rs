//! Programmes whose targets are classes: ±1 for two of them, and several problems of two for more.

use super::numbers::prove;
use super::solve::{Problem, Solutions, Solved, inside};
use super::{LossName, Programme};
use crate::calibrate::Calibration;
use crate::machines::class_weight::ClassWeight;
use crate::machines::multiclass::{Column, Keep, SignedProblem, Strategy};
use crate::machines::{Expansion, FitError, Fitted, Readout, Task};
use crate::parallel;
use crate::watch::Monitor;

impl Programme {
    pub(super) fn on_classes(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(self.name())?;
        let k = classes.labels.len();
        if self.shift != 0.0 && k > 2 {
            return Err(self.wrong("shift moves the border of two classes, and here are more; leave it at 0"));
        }
        let weights = ClassWeight::of_examples(self.name(), &self.class_weight, &classes, task.weights)?;
        // the problem of two classes is that of the first against the rest, whatever the strategy
        let strategy = if k == 2 { Strategy::OneVsRest } else { self.strategy };
        let reduction = strategy.reduction(&classes);
        let one = |block: &SignedProblem, task: &Task<'_>| {
            let targets: Vec<Vec<f64>> = (0..block.outputs).map(|c| block.signs_of(c)).collect();
            let weights = block.pick(&weights);
            let mut found = self.solve(&Problem { task, targets: &targets, weights: &weights, watch })?;
            found.solved.iter_mut().zip(&targets).for_each(|(s, signs)| self.part(s, signs, &weights));
            Ok(found)
        };
        let inner = |block: &SignedProblem| inside(task, block.gram(&task.gram));
        let found: Vec<Solutions> = match reduction.blocks().as_slice() {
            // problems on the same examples have all threads
            [all] => vec![one(all, &inner(all))?],
            several => {
                let alone = |block| one(block, &Task { threads: 1, ..inner(block) });
                parallel::map(several.len(), |i| alone(&several[i])).into_iter().collect::<Result<_, FitError>>()?
            }
        };
        let storage = found.first().map(|t| t.storage.clone()).unwrap_or_default();
        let solved: Vec<Solved> = found.into_iter().flat_map(|t| t.solved).collect();
        let of = |values: fn(&Solved) -> &[f64]| Column::of_problems(solved.iter().map(values));
        let expansion = Expansion {
            coefficients: reduction.coefficients(&of(|s| &s.alpha), Keep::NonZero),
            offsets: solved.iter().map(|s| s.offset).collect(),
        };
        let report = prove(&solved, expansion.points().len(), storage);
        let scores = reduction.scores(&of(|s| &s.scores));
        let calibration = self.odds(&reduction.readout(), solved.len());
        Ok(Fitted::new(expansion, reduction.readout(), report)
            .with_training_scores(scores)
            .with_calibration(calibration))
    }

    /// The probabilities of scores that are log odds: those of the logistic loss for pairs of classes, unless a threshold or weights of classes
    /// have moved them.
    fn odds(&self, readout: &Readout, outputs: usize) -> Option<Calibration> {
        let pairs = matches!(readout, Readout::Vote { .. }) && self.loss == LossName::Logistic;
        (pairs && self.unmoved() && self.class_weight == "none").then(|| Calibration::of_log_odds(outputs))
    }

    /// Puts the threshold where its rule wants it; the objective stays that of the programme.
    fn part(&self, solved: &mut Solved, signs: &[f64], weights: &[f64]) {
        let projections: Vec<f64> = solved.scores.iter().map(|f| f - solved.offset).collect();
        let placed = self.threshold.place(&projections, signs, weights, solved.offset);
        solved.offset = placed.offset + self.shift;
        solved.alpha.iter_mut().for_each(|a| *a *= placed.scale);
        solved.scores = projections.iter().map(|q| placed.scale * q + solved.offset).collect();
    }
}
