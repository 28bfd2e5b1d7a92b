//! Programmes whose targets are classes: ±1 for two of them, and several problems of two for more.

use super::Programme;
use super::numbers::{prove, support};
use super::solve::{Problem, Solutions, Solved, inside};
use crate::machines::class_weight::ClassWeight;
use crate::machines::classify::Strategy;
use crate::machines::classify::pairs::Pairs;
use crate::machines::{Coefficients, Expansion, FitError, Fitted, Readout, Task};
use crate::watch::Monitor;
use rayon::prelude::*;
use std::sync::Arc;

impl Programme {
    pub(super) fn on_classes(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(self.name())?;
        let (n, k) = (task.len(), classes.labels.len());
        if self.shift != 0.0 && k > 2 {
            return Err(self.wrong("shift moves the border of two classes, and here are more; leave it at 0"));
        }
        let weights = ClassWeight::of_examples(self.name(), &self.class_weight, &classes, task.weights)?;
        let against_rest = |c: usize| -> Vec<f64> {
            classes.codes.iter().map(|&code| if code as usize == c { 1.0 } else { -1.0 }).collect()
        };
        if k == 2 || self.strategy == Strategy::OneVsRest {
            let signs: Vec<Vec<f64>> = (0..if k == 2 { 1 } else { k }).map(against_rest).collect();
            let Solutions { mut solved, storage } =
                self.solve(&Problem { task, targets: &signs, weights: &weights, watch })?;
            solved.iter_mut().zip(&signs).for_each(|(s, signs)| self.part(s, signs, &weights));
            let points = support(n, &solved);
            let report = prove(&solved, points.len(), storage);
            let alpha = points.iter().flat_map(|&i| solved.iter().map(move |s| s.alpha[i])).collect();
            let scores = (0..n).flat_map(|i| solved.iter().map(move |s| s.scores[i])).collect();
            let labels = classes.labels;
            return Ok(Fitted::new(
                Expansion {
                    coefficients: Coefficients::Dual { points, alpha },
                    offsets: solved.iter().map(|s| s.offset).collect(),
                },
                if k == 2 { Readout::Vote { labels } } else { Readout::ArgMax { labels } },
                report,
            )
            .with_training_scores(Some(scores)));
        }
        let pairs = Pairs::new(&classes.codes, k, &weights);
        let one = |p: usize| {
            let (examples, side) = (pairs.examples(p), pairs.side(p));
            let gram = Arc::clone(&task.gram).restrict(&examples, &examples);
            let inner = Task { threads: 1, ..inside(task, gram) };
            let targets = std::slice::from_ref(&side.signs);
            let mut found = self.solve(&Problem { task: &inner, targets, weights: &side.weights, watch })?;
            found.solved.iter_mut().for_each(|s| self.part(s, &side.signs, &side.weights));
            Ok(found)
        };
        let found: Vec<Solutions> = (0..pairs.count()).into_par_iter().map(one).collect::<Result<_, FitError>>()?;
        let storage = found.first().map(|t| t.storage.clone()).unwrap_or_default();
        let solved: Vec<Solved> = found.into_iter().flat_map(|t| t.solved).collect();
        let (coefficients, support) = pairs.join(&solved.iter().map(|s| s.alpha.as_slice()).collect::<Vec<_>>());
        let report = prove(&solved, support, storage);
        Ok(Fitted::new(
            Expansion { coefficients, offsets: solved.iter().map(|s| s.offset).collect() },
            Readout::Vote { labels: classes.labels },
            report,
        ))
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
