//! Models of several parts: which term of the kernel belongs to which part, and what each part predicts.

use super::Model;
use super::predictor::{Support, features_scores, finite, made, points_of, scores_by};
use crate::data::{DataError, Dataset};
use crate::error::Error;
use crate::formula::{Formula, PreparedSide};
use crate::machines::{Expansion, Output, Part, PartNames, PartOutput, Readout, beside};

/// One part of a model: an expansion under one term of the model's kernel.
#[derive(Clone, Debug)]
pub struct ModelPart<'a> {
    /// The names of the part and of its coordinates.
    pub names: &'a PartNames,
    /// The term of the kernel that it sees.
    pub kernel: Formula,
    /// The weights; points are places in the examples of the model.
    pub expansion: &'a Expansion,
}

impl Model {
    /// The parts of a model that has several, each with its term of the kernel; none for other models.
    pub fn parts(&self) -> Vec<ModelPart<'_>> {
        let Readout::Parts(names) = &self.fitted.readout else { return Vec::new() };
        let terms = self.kernel.terms();
        names
            .iter()
            .zip(self.fitted.expansion.parts())
            .filter_map(|(names, Part { term, expansion })| {
                Some(ModelPart { names, kernel: terms.get(*term)?.clone(), expansion })
            })
            .collect()
    }
}

/// A part of a model, prepared.
#[derive(Debug)]
pub(super) struct PartSupport {
    /// Its term of the kernel.
    kernel: Formula,
    /// Its points; none where it has explicit weights.
    points: Option<PreparedSide>,
}

impl PartSupport {
    fn new(model: &Model, terms: &[Formula], part: &Part) -> Result<Self, Error> {
        let kernel = terms.get(part.term).ok_or_else(|| DataError::Usage {
            finding: format!(
                "a part of {} belongs to term {} of its kernel, which has {}",
                model.machine,
                part.term + 1,
                terms.len()
            ),
        })?;
        let in_examples = part.expansion.width().is_none();
        let points = in_examples.then(|| kernel.prepare(&model.examples)).transpose()?;
        let points = points.map(|examples| points_of(&part.expansion, &examples));
        Ok(Self { kernel: kernel.clone(), points })
    }

    /// The first view that the kernel names and data do not have.
    fn lacks<'a>(&'a self, data: &Dataset) -> Option<&'a str> {
        self.kernel.views().into_iter().filter_map(|(name, _)| name).find(|name| data.view(name).is_none())
    }

    /// The scores of new examples, n × outputs row by row.
    fn scores(&self, machine: &str, expansion: &Expansion, data: &Dataset) -> Result<Vec<f64>, Error> {
        let scores = match (features_scores(&self.kernel, expansion, data)?, &self.points) {
            (None, Some(points)) => scores_by((machine, &self.kernel), expansion, None, points, data)?,
            (scores, _) => scores.unwrap_or_default(),
        };
        finite(scores, expansion.outputs())
    }
}

impl Support {
    /// The parts of a model, prepared once.
    fn parts(&self, model: &Model) -> Result<&[PartSupport], Error> {
        let all = made(&self.parts, || {
            let terms = model.kernel.terms();
            model.fitted.expansion.parts().iter().map(|part| PartSupport::new(model, &terms, part)).collect()
        })?;
        Ok(all)
    }

    /// The scores of all parts, part beside part in each row.
    pub(super) fn scores_of_parts(&self, model: &Model, data: &Dataset) -> Result<Vec<f64>, Error> {
        let parts = model.fitted.expansion.parts();
        let score = |(support, part): (&PartSupport, &Part)| support.scores(&model.machine, &part.expansion, data);
        let scores = self.parts(model)?.iter().zip(parts).map(score).collect::<Result<Vec<_>, _>>()?;
        let columns: Vec<(usize, &[f64])> =
            parts.iter().zip(&scores).map(|(part, scores)| (part.expansion.outputs(), scores.as_slice())).collect();
        Ok(beside(&columns))
    }

    /// Predictions of the parts whose views the data have: of two views, either is enough for the coordinates of that view.
    pub(super) fn predict_parts(&self, model: &Model, names: &[PartNames], data: &Dataset) -> Result<Output, Error> {
        let supports = self.parts(model)?;
        let mut told = Vec::new();
        for ((support, part), names) in supports.iter().zip(model.fitted.expansion.parts()).zip(names) {
            if support.lacks(data).is_none() {
                let values = support.scores(&model.machine, &part.expansion, data)?;
                told.push(PartOutput { names: names.clone(), values });
            }
        }
        if told.is_empty() {
            let views: Vec<&str> = supports.iter().filter_map(|support| support.lacks(data)).collect();
            let finding = format!(
                "every part of this model looks at a view that the data do not have ({}); give at least one of these views",
                views.join(", ")
            );
            return Err(DataError::Usage { finding }.into());
        }
        Ok(Output::Parts(told))
    }
}
