//! A picture of how well a model's scores tell classes apart: ROC curves.

use super::Model;
use crate::data::{DataError, Dataset};
use crate::error::Error;
use crate::metrics::{roc_of, usual};
use crate::plot::{Line, RocFigure, Theme};

impl Model {
    /// An SVG picture of the ROC curves on data, with the area below each: that of the second class where there are two,
    /// that of the outliers for a detector of novelties, else that of each class against the rest.
    ///
    /// # Errors
    /// If the model predicts no labels, or the data have no target or fewer than two of its classes.
    pub fn roc_figure(&self, data: &Dataset, theme: Theme) -> Result<String, Error> {
        self.roc_figure_of(data, None, theme)
    }

    /// The same for the class that is looked for, where one is.
    ///
    /// # Errors
    /// As [`Model::roc_figure`], and if the model does not know the class.
    pub fn roc_figure_of(&self, data: &Dataset, looked_for: Option<&str>, theme: Theme) -> Result<String, Error> {
        let usage = |finding: String| Error::from(DataError::Usage { finding });
        if self.fitted.readout.form().is_none() && !self.detects() {
            return Err(usage(format!(
                "ROC curves are for classifiers and detectors, and {} is neither",
                self.machine
            )));
        }
        let target = data.target().ok_or(DataError::NoTarget)?;
        let told = if self.detects() { usual(target)? } else { None };
        if self.detects() && told.is_none() {
            let finding = "a detector tells usual from unusual, and the target has more than two classes".to_owned();
            return Err(DataError::Unfit { finding }.into());
        }
        let output = self.predict(data)?;
        let curves = roc_of(&output, told.as_ref().map_or(target, |t| &t.target), looked_for)?;
        if curves.is_empty() {
            let finding = "ROC curves need examples of two classes that the model knows".to_owned();
            return Err(DataError::Unfit { finding }.into());
        }
        let mean = curves.iter().map(|c| c.area).sum::<f64>() / curves.len() as f64;
        let note = match curves.as_slice() {
            [only] => format!("area {:.4} · looking for {} · {}", only.area, only.label, self.counted(data)),
            all => {
                format!("each of {} classes against the rest · mean area {mean:.4} · {}", all.len(), self.counted(data))
            }
        };
        let alone = curves.len() == 1;
        let line = |c: crate::metrics::Roc| {
            // the class of a single curve is in the note, in full
            let name = if alone { format!("area {:.3}", c.area) } else { format!("{:.3} {}", c.area, c.label) };
            Line { name, points: c.points }
        };
        let curves = curves.into_iter().map(line).collect();
        Ok(RocFigure { title: self.title(), curves, note: Some(note) }.draw(theme))
    }
}
