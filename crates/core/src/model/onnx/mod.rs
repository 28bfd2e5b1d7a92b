//! Models as graphs of ONNX, which many programs run without mercer.
//!
//! Only operators of the standard set (opset 17, IR version 8) in double precision; the number of examples is open. A graph
//! has an input for each view that the formula reads, named like it (`x` where data have no names), as vectors with all
//! their zeros. Scaling that a schema has learned is part of the graph.
//!
//! ```text
//! regressions, coordinates   values         n × outputs
//! classifiers, detectors     scores         n × outputs, those of `Model::scores`
//!                            code           the place of each example's label, from zero
//!                            label          the label
//!                            probabilities  n × labels, where they were learned
//! ```
//!
//! # Source
//! Open Neural Network Exchange, Operator Schemas, <https://onnx.ai/onnx/operators/>.

mod agree;
mod couple;
mod formula;
mod graph;
mod inputs;
mod leaves;
mod probabilities;
mod protobuf;
mod readout;
mod scores;

use super::{FileError, Model};
use crate::machines::Readout;
use graph::{Dimension, Element};
use inputs::Writer;

/// A model as a graph of ONNX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnnxFile {
    /// The file.
    pub bytes: Vec<u8>,
    /// Facts about the model that the format cannot express, in sentences for its users.
    pub notes: Vec<String>,
}

impl Model {
    /// The model as a graph of ONNX, with notes on what gets lost.
    ///
    /// ```
    /// use mercer::prelude::*;
    ///
    /// let table = mercer::datasets::load("two_moons", Some(60), Seed(1))?;
    /// let (_, data) = Schema::learn_and_apply(&table, &SchemaOptions::default())?;
    /// let file = Svc::default().fit(&rbf(1.0), &data)?.to_onnx()?;
    /// assert!(file.notes.is_empty());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Errors
    /// If its operators cannot say it: kernels on strings, precomputed matrices, kernels of one's own, or vectors that are
    /// too large with all their zeros.
    pub fn to_onnx(&self) -> Result<OnnxFile, FileError> {
        write(self).map_err(|finding| FileError::Inexpressible { finding })
    }
}

fn write(model: &Model) -> Result<OnnxFile, String> {
    let mut writer = Writer::new(model, &["values", "scores", "code", "label", "probabilities"]);
    let scores = writer.scores()?;
    let outputs = Dimension::Fixed(model.fitted.expansion.outputs());
    let names = match &model.fitted.readout {
        Readout::Values { names } | Readout::Coordinates { names } => {
            writer.graph.output("values", &scores, Element::Double, &[Dimension::Batch, outputs]);
            names
        }
        Readout::ArgMax { labels } | Readout::Vote { labels } => {
            writer.graph.output("scores", &scores, Element::Double, &[Dimension::Batch, outputs]);
            let code = writer.labels(&scores, labels);
            writer.probabilities(&scores, &code, labels.len())?;
            labels
        }
        Readout::LabelSets { labels } => {
            writer.graph.output("scores", &scores, Element::Double, &[Dimension::Batch, outputs]);
            writer
                .notes
                .push("labels whose scores are above zero are in the set; the graph gives scores only".to_owned());
            labels
        }
        Readout::Parts(_) => return Err("several parts are not written to ONNX; keep mercer's own file".to_owned()),
        Readout::Order => {
            writer.graph.output("scores", &scores, Element::Double, &[Dimension::Batch, outputs]);
            &Vec::new()
        }
        Readout::Clusters { names } => {
            writer.graph.output("scores", &scores, Element::Double, &[Dimension::Batch, outputs]);
            writer.labels(&scores, names);
            names
        }
        Readout::Novelty => {
            writer.graph.output("scores", &scores, Element::Double, &[Dimension::Batch, outputs]);
            writer.novelty(&scores);
            &Vec::new()
        }
    };
    let kernel = model.kernel.to_string();
    let document = format!("{} with {kernel}, written by mercer", model.machine);
    let metadata = [("machine", model.machine.clone()), ("kernel", kernel), ("outputs", names.join("\n"))];
    let Writer { graph, mut notes, .. } = writer;
    notes.extend(model.conformal.as_ref().map(|_| super::NO_REGIONS.to_owned()));
    Ok(OnnxFile { bytes: graph.file(&document, &metadata), notes })
}

#[cfg(test)]
mod tests;
