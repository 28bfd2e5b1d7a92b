//! Pictures of regressions: the fitted curves where there is one input, else predictions against the truth.

use super::Model;
use super::figure::like;
use super::plane::{span, unscale};
use crate::data::{DataError, Dataset, Numbers, Rows, Values, View};
use crate::error::Error;
use crate::machines::Fact;
use crate::machines::Output;
use crate::params::Setting;
use crate::plot::{Band, Datum, Line, PredictedAgainstTrue, RegressionCurve, Theme};

/// Steps of a drawn curve.
const STEPS: u32 = 400;

impl Model {
    pub(super) fn regression(&self, data: &Dataset, output: &Output, theme: Theme) -> Result<String, Error> {
        let truth = data.target().ok_or(DataError::NoTarget)?.numbers()?;
        if let Some(curve) = self.curve(data, &truth, output)? {
            return Ok(curve.draw(theme));
        }
        let Output::Values { values, .. } = output else { return Err(DataError::NoTarget.into()) };
        let outputs = truth.names.len();
        let name = truth.names.first().cloned().unwrap_or_default();
        let points = truth.values.iter().step_by(outputs).copied().zip(values.iter().step_by(outputs).copied());
        Ok(PredictedAgainstTrue {
            title: self.title(),
            x_label: format!("true {name}"),
            y_label: format!("predicted {name}"),
            points: points.collect(),
            note: Some(self.note(data, output, "")),
        }
        .draw(theme))
    }

    /// The fitted curves, for one input: one for each output, with the tube of machines that have one.
    fn curve(&self, data: &Dataset, truth: &Numbers, output: &Output) -> Result<Option<RegressionCurve>, Error> {
        let [view] = data.views() else { return Ok(None) };
        let rows = match &view.values {
            Values::Dense(rows) if rows.width() == 1 => rows.as_ref().clone(),
            Values::Sparse(rows) if rows.width() == 1 => rows.to_dense(),
            _ => return Ok(None),
        };
        let schema = self.schema.as_ref().and_then(|s| s.view(&view.name));
        let scaler = schema.and_then(|s| s.scaler().cloned());
        let label = schema.and_then(|s| s.coordinate_names()?.into_iter().next()).unwrap_or_else(|| "x".to_owned());
        let (low, high) = span(rows.values().iter().copied());
        let grid: Vec<f64> = (0..=STEPS).map(|i| low + (high - low) * f64::from(i) / f64::from(STEPS)).collect();
        let Some(inputs) = Rows::new(grid.clone(), grid.len(), 1) else { return Ok(None) };
        let values =
            self.predict(&Dataset::from_views(vec![View { name: view.name.clone(), values: like(data, inputs) }])?)?;
        let show = |x: f64| unscale(scaler.as_ref(), 0, x);
        let outputs = truth.names.len().max(1);
        let curve = |k: usize| -> Vec<(f64, f64)> {
            let ordinates = values.values().iter().skip(k).step_by(outputs).copied();
            grid.iter().map(|&x| show(x)).zip(ordinates).collect()
        };
        let what = self.level();
        let name = |k: usize| match (&what, outputs) {
            (Some(level), 1) => level.clone(),
            (None, 1) => "fitted".to_owned(),
            _ => truth.names[k].clone(),
        };
        let curves: Vec<Line> = (0..outputs).map(|k| Line { name: name(k), points: curve(k) }).collect();
        let tube = |k: usize| {
            let epsilon = self.tube(k, outputs)?;
            let edges = curves[k].points.iter().map(|&(x, y)| (x, y - epsilon, y + epsilon)).collect();
            let name =
                if outputs == 1 { format!("ε = {}", digits(epsilon)) } else { format!("{} ± ε", truth.names[k]) };
            Some(Band { name, edges })
        };
        let datum = |i: usize, k: usize| Datum {
            x: show(rows.values()[i]),
            y: truth.values[i * outputs + k],
            curve: k,
            // where outputs share their examples, whose support vector one is cannot be told
            support: outputs == 1 && self.is_support(&rows, i),
        };
        let more = what.filter(|_| outputs > 1).unwrap_or_default();
        Ok(Some(RegressionCurve {
            title: self.title(),
            x_label: label,
            y_label: truth.names.join(", "),
            bands: (0..outputs).map_while(tube).collect(),
            points: (0..data.len()).flat_map(|i| (0..outputs).map(move |k| (i, k))).map(|(i, k)| datum(i, k)).collect(),
            note: Some(self.note(data, output, &more)),
            curves,
        }))
    }

    /// Half the width of the tube within which errors cost nothing: a parameter, or what ν has made of it.
    fn tube(&self, output: usize, outputs: usize) -> Option<f64> {
        self.fitted.report.fact(Fact::Tube { output, outputs }).or_else(|| self.number("epsilon"))
    }

    /// The level that the curve stands for, where a machine has one.
    fn level(&self) -> Option<String> {
        let (level, name) = self.remade().ok()??.traits().level?;
        Some(format!("{} {name}", digits(level)))
    }

    /// A parameter of the machine that is a number.
    fn number(&self, name: &str) -> Option<f64> {
        match self.settings.iter().find(|(n, _)| n == name) {
            Some((_, Setting::Number(value))) => Some(*value),
            _ => None,
        }
    }
}

/// A number with at most four decimals.
fn digits(x: f64) -> String {
    format!("{x:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
}
