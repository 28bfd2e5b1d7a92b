//! Scores of examples, and what they have to do with the truth.

use crate::bounds::Task;
use crate::data::{DataError, Dataset, Target, places_of_labels};
use crate::error::Error;
use crate::machines::{Compresses, Output, Readout, Theory};
use crate::model::Model;

/// Scores of examples, and what they have to do with the truth.
pub(super) struct Seen {
    pub(super) task: Task,
    /// Scores, n × outputs.
    pub(super) scores: Vec<f64>,
    pub(super) outputs: usize,
    /// True if scores are of pairs of classes.
    pub(super) pairwise: bool,
    /// The place of each example's class among the model's labels, or nothing.
    pub(super) codes: Vec<u32>,
    /// y = ±1 for two classes, in the orientation of the score.
    pub(super) signs: Vec<f64>,
    /// The truth, for numbers.
    pub(super) values: Vec<f64>,
    /// True for each example that is misclassified, outside the tube or a novelty.
    pub(super) wrong: Vec<bool>,
    /// True if there is such an error to be counted.
    pub(super) judged: bool,
}

impl Seen {
    pub(super) fn new(model: &Model, data: &Dataset, theory: &Theory) -> Result<Self, Error> {
        let known = model
            .fitted
            .training_scores
            .as_ref()
            .filter(|s| s.len() == data.len() * model.fitted.expansion.outputs() && model.trained_on == data.len());
        let scores = match known {
            Some(scores) => scores.clone(),
            None => model.scores(data)?,
        };
        // a model of a part may not know every class of the whole
        let part = model.provenance().is_some_and(|p| p.part().is_some());
        Self::of(model, data, scores, theory, part)
    }

    /// The same of other examples. Those of a class that the model does not know are wrong, or refused.
    pub(super) fn of(
        model: &Model,
        data: &Dataset,
        scores: Vec<f64>,
        theory: &Theory,
        unknown_is_wrong: bool,
    ) -> Result<Self, Error> {
        let outputs = model.fitted.expansion.outputs().max(1);
        let output = model.fitted.readout.read(scores.clone());
        let n = data.len();
        let mut seen = Self {
            task: Task::Nothing,
            scores,
            outputs,
            pairwise: matches!(model.fitted.readout, Readout::Vote { .. }),
            codes: Vec::new(),
            signs: Vec::new(),
            values: Vec::new(),
            wrong: vec![false; n],
            judged: false,
        };
        match (&model.fitted.readout, &output) {
            (Readout::Vote { labels } | Readout::ArgMax { labels }, Output::Labels { codes, .. }) => {
                seen.task = Task::Classes(labels.len());
                seen.codes = known_codes(data.target().ok_or(DataError::NoTarget)?, labels)?;
                if !unknown_is_wrong && seen.codes.contains(&UNKNOWN) {
                    return Err(unknown_class(data.target().ok_or(DataError::NoTarget)?, labels)?.into());
                }
                seen.wrong = codes.iter().zip(&seen.codes).map(|(a, b)| a != b).collect();
                seen.judged = true;
                if labels.len() == 2 {
                    seen.signs = seen.codes.iter().map(|&c| if c == 0 { 1.0 } else { -1.0 }).collect();
                }
            }
            (Readout::Novelty, Output::Labels { codes, .. }) => {
                seen.task = Task::Novelty;
                seen.wrong = codes.iter().map(|&c| c == 1).collect();
                seen.judged = true;
            }
            (Readout::Values { names }, Output::Values { values, .. }) => {
                seen.task = Task::Numbers;
                seen.values = data.target().ok_or(DataError::NoTarget)?.numbers()?.values;
                if let Compresses::Tube { epsilon } = theory.compression
                    && names.len() == 1
                    && seen.values.len() == values.len()
                {
                    let off = |(f, y): (&f64, &f64)| (f - y).abs() - epsilon;
                    let excess: Vec<f64> = values.iter().zip(&seen.values).map(off).collect();
                    // rounding must not make a point on the border a miss
                    seen.wrong = excess.iter().map(|e| *e > 1e-9 * epsilon.max(1.0)).collect();
                    seen.judged = true;
                }
            }
            _ => {}
        }
        Ok(seen)
    }

    /// f(x) of two classes, positive for the first label.
    pub(super) fn decision(&self) -> Option<Vec<f64>> {
        match (self.task, self.outputs) {
            (Task::Classes(2), 1) => Some(self.scores.clone()),
            (Task::Classes(2), 2) => Some(self.scores.chunks_exact(2).map(|s| 0.5 * (s[0] - s[1])).collect()),
            _ => None,
        }
    }

    /// The smallest y f(x) of every example over the sub-problems it takes part in.
    pub(super) fn least_margins(&self) -> Vec<f64> {
        let Task::Classes(k) = self.task else { return Vec::new() };
        let pairwise = self.pairwise;
        let row = |i: usize| &self.scores[i * self.outputs..(i + 1) * self.outputs];
        let least = |(i, &code): (usize, &u32)| {
            let (scores, code) = (row(i), code as usize);
            let mut least = f64::INFINITY;
            if pairwise {
                let mut p = 0;
                for a in 0..k {
                    for b in a + 1..k {
                        if a == code {
                            least = least.min(scores[p]);
                        } else if b == code {
                            least = least.min(-scores[p]);
                        }
                        p += 1;
                    }
                }
            } else {
                for (c, s) in scores.iter().enumerate() {
                    least = least.min(if c == code { *s } else { -s });
                }
            }
            least
        };
        self.codes.iter().enumerate().map(least).collect()
    }
}

/// The code of a class that the model does not know.
const UNKNOWN: u32 = u32::MAX;

/// The places of the examples' classes among the model's labels.
fn known_codes(target: &Target, labels: &[String]) -> Result<Vec<u32>, Error> {
    let classes = target.classes()?;
    let places = places_of_labels(labels, &classes.labels);
    Ok(classes.codes.iter().map(|&c| places[c as usize].map_or(UNKNOWN, |p| p as u32)).collect())
}

fn unknown_class(target: &Target, labels: &[String]) -> Result<DataError, Error> {
    let all = target.classes()?.labels;
    let strange = all.iter().zip(places_of_labels(labels, &all)).find(|(_, place)| place.is_none());
    let finding = format!(
        "the class {} is none that the model knows ({}); give the examples it was trained on",
        strange.map_or("", |(label, _)| label.as_str()),
        labels.join(", ")
    );
    Ok(DataError::Usage { finding })
}
