//! A picture of a model's probabilities: how often they come true.

use super::Model;
use crate::data::{DataError, Dataset};
use crate::error::Error;
use crate::machines::Output;
use crate::metrics::{Metrics, clopper_pearson, measure, reliability};
use crate::plot::{ReliabilityDiagram, Share, Theme};

impl Model {
    /// Checks that the model has probabilities; the error names the remedy.
    pub fn needs_probabilities(&self) -> Result<(), DataError> {
        if self.fitted.calibration.is_some() {
            return Ok(());
        }
        let finding = if self.fitted.readout.form().is_some() {
            "this model has no probabilities; fit it again with --probabilities platt (or isotonic)".to_owned()
        } else {
            format!("probabilities are for classifiers, and {} is none", self.machine)
        };
        Err(DataError::Usage { finding })
    }

    /// An SVG picture of how often the predicted probabilities come true: bins with equal counts, the share that was
    /// observed in each with its 95 % interval (Clopper and Pearson; none where more than one in a hundred is a training example), and a histogram of the predictions. Of two classes
    /// the second is looked at, of more the label that is predicted.
    ///
    /// # Errors
    /// If the model has no probabilities, or the data have no target.
    pub fn reliability_figure(&self, data: &Dataset, theme: Theme) -> Result<String, Error> {
        self.needs_probabilities()?;
        let output: Output = self.predict(data)?;
        let target = data.target().ok_or(DataError::NoTarget)?;
        let Some(found) = reliability(&output, target)? else { return Err(DataError::NoTarget.into()) };
        let (x_label, y_label) = match &found.label {
            Some(label) => (format!("predicted probability of {label}"), format!("observed share of {label}")),
            None => ("probability of the predicted label".to_owned(), "observed share that is right".to_owned()),
        };
        let trained = self.seen(data).is_some_and(|seen| seen.spoils());
        let share = |bin: &crate::metrics::Bin| {
            let observed = bin.came_true as f64 / bin.count as f64;
            let (low, high) =
                if trained { (observed, observed) } else { clopper_pearson(bin.came_true, bin.count, 0.05) };
            Share { predicted: bin.predicted, observed, low, high }
        };
        let note = match measure(&output, target)? {
            Metrics::Classes(m) => m.probability.map(|p| {
                let log_loss = p.log_loss.map(|l| format!(" · log loss {l:.3}")).unwrap_or_default();
                let no_interval = if trained { " · no intervals" } else { "" };
                format!(
                    "calibration error {:.3} · Brier {:.3}{log_loss} · {}{no_interval}",
                    p.calibration_error,
                    p.brier,
                    self.counted(data)
                )
            }),
            Metrics::Numbers(_) => None,
        };
        Ok(ReliabilityDiagram {
            title: self.title(),
            x_label,
            y_label,
            shares: found.bins.iter().map(share).collect(),
            predictions: found.predicted,
            note,
        }
        .draw(theme))
    }
}
