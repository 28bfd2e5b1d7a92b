//! A picture of a model: the figure that fits its task and data.

use super::Model;
use crate::data::{DataError, Dataset, Rows, Scaler, SparseRows, Target, Values, View, same_label};
use crate::error::Error;
use crate::linalg::{KrylovOptions, top_eigen};
use crate::machines::{Output, Readout};
use crate::metrics::{Metrics, measure, usual};
use crate::plot::{DecisionSurface, Heat, PlotPoint, PredictedAgainstTrue, RegressionCurve, Scatter};

/// Cells of a decision surface in each direction.
const CELLS: (usize, usize) = (180, 140);
/// Sparse vectors of more coordinates have no plane worth cutting.
const WIDEST: usize = 64;
/// Examples shown at most.
const MOST_POINTS: usize = 3000;

impl Model {
    /// An SVG picture of what the model says about data: a decision surface, a fitted curve, predictions against the
    /// truth, coordinates in the plane, or a confusion matrix.
    pub fn figure(&self, data: &Dataset) -> Result<String, Error> {
        let output = self.predict(data)?;
        let plane = self.plane(data);
        match (&self.fitted.readout, plane) {
            (Readout::ArgMax { .. } | Readout::Vote { .. } | Readout::Novelty, Some(plane)) => {
                self.surface(data, &output, &plane)
            }
            (Readout::ArgMax { .. } | Readout::Vote { .. } | Readout::Novelty, None) => self.confusion(data, &output),
            (Readout::Coordinates { .. }, _) => Ok(self.coordinates(data, &output)),
            (Readout::Values { .. }, _) => self.regression(data, &output),
        }
    }

    /// Whether it tells usual examples from unusual ones, whatever classes the data have.
    fn detects(&self) -> bool {
        matches!(self.fitted.readout, Readout::Novelty)
    }

    pub(super) fn title(&self) -> String {
        format!("{} with {}", self.machine, shorten(&self.kernel.to_string()))
    }

    /// The plane to draw in, for one view of dense vectors with at least two coordinates.
    fn plane(&self, data: &Dataset) -> Option<Plane> {
        let [view] = data.views() else { return None };
        let rows = match &view.values {
            Values::Dense(rows) => rows.as_ref().clone(),
            Values::Dense32(rows) => rows.convert(),
            Values::Sparse(rows) if rows.width() <= WIDEST => rows.to_dense(),
            _ => return None,
        };
        if self.kernel.views().iter().any(|(_, kind)| *kind != crate::data::Kind::Vectors) {
            return None;
        }
        let names = self.schema.as_ref().and_then(|s| s.view(&view.name)?.coordinate_names());
        let scaler = self.schema.as_ref().and_then(|s| s.view(&view.name)?.scaler().cloned());
        Plane::new(rows, view.name.clone(), names, scaler)
    }

    fn surface(&self, data: &Dataset, output: &Output, plane: &Plane) -> Result<String, Error> {
        let Output::Labels { labels, codes, .. } = output else { return self.confusion(data, output) };
        let (grid, x, y) = plane.grid();
        let grid = Dataset::from_views(vec![View { name: plane.view.clone(), values: like(data, grid) }])?;
        let surface = self.predict(&grid)?;
        let Output::Labels { codes: cells, scores, .. } = surface else { return self.confusion(data, output) };
        let truth = data.target().and_then(|t| codes_by_label(t, labels));
        let places = plane.places();
        let points = (0..data.len())
            .step_by(data.len().div_ceil(MOST_POINTS).max(1))
            .map(|i| PlotPoint {
                x: plane.show(0, places[i].0),
                y: plane.show(1, places[i].1),
                code: truth.as_ref().map_or(codes[i], |t| t[i]),
                support: self.is_support(&plane.rows, i),
                wrong: truth.as_ref().is_some_and(|t| t[i] != codes[i]),
            })
            .collect();
        Ok(DecisionSurface {
            title: self.title(),
            x_label: plane.label(0),
            y_label: plane.label(1),
            x: (plane.show(0, x.0), plane.show(0, x.1)),
            y: (plane.show(1, y.0), plane.show(1, y.1)),
            columns: CELLS.0,
            rows: CELLS.1,
            codes: cells,
            scores: (labels.len() == 2).then(|| scores.chunks_exact(2).map(|s| (s[1] - s[0]) / 2.0).collect()),
            // scores of a detector have no scale: ±1 means nothing there
            margin: !self.detects(),
            labels: labels.clone(),
            points,
            note: Some(self.note(data, output, plane.note())),
        }
        .draw())
    }

    /// Whether an example is one of the model's points: equal in the only view.
    fn is_support(&self, rows: &Rows<f64>, i: usize) -> bool {
        if self.trained_on > 0 && self.examples.len() >= self.trained_on {
            return false;
        }
        match self.examples.views().first().map(|v| &v.values) {
            Some(Values::Dense(kept)) => (0..kept.len()).any(|k| kept.row(k) == rows.row(i)),
            // LIBSVM writes eight digits of each coordinate
            Some(Values::Sparse(kept)) => (0..kept.len()).any(|k| {
                let mut own = kept.row(k).iter().peekable();
                let mut next = |j: usize| own.next_if(|c| c.index as usize == j).map_or(0.0, |c| c.value);
                let same = rows.row(i).iter().enumerate().all(|(j, x)| (next(j) - x).abs() <= 1e-7 * x.abs());
                same && own.peek().is_none()
            }),
            _ => false,
        }
    }

    fn note(&self, data: &Dataset, output: &Output, more: &str) -> String {
        let mut parts = Vec::new();
        if self.detects() {
            let outliers = output.labels().iter().filter(|l| **l == "outlier").count();
            parts.push(format!("{outliers} outliers of {}", data.len()));
        }
        match data.target().filter(|_| !self.detects()).map(|t| measure(output, t)) {
            Some(Ok(Metrics::Classes(m))) => parts.push(format!("error {:.2} % of {}", 100.0 * m.error, m.n)),
            Some(Ok(Metrics::Numbers(m))) => parts.push(format!("rmse {:.4} on {}", m.rmse, m.n)),
            _ if parts.is_empty() => parts.push(format!("{} examples", data.len())),
            _ => {}
        }
        if let Some(support) = self.fitted.proof.support.filter(|&s| s < self.trained_on || self.trained_on == 0) {
            parts.push(format!("{support} support vectors"));
        }
        if !more.is_empty() {
            parts.push(more.to_owned());
        }
        parts.join(" · ")
    }

    fn confusion(&self, data: &Dataset, output: &Output) -> Result<String, Error> {
        let target = data.target().ok_or(DataError::NoTarget)?;
        let told = if self.detects() { usual(target)? } else { None };
        let Metrics::Classes(m) = measure(output, told.as_ref().map_or(target, |t| &t.target))? else {
            return Err(DataError::NoTarget.into());
        };
        Ok(Heat {
            title: self.title(),
            row_label: "true class".to_owned(),
            column_label: "predicted class".to_owned(),
            row_ticks: m.labels.clone(),
            column_ticks: m.labels.clone(),
            values: m.confusion.iter().flatten().map(|&c| c as f64).collect(),
            decimals: 0,
            mark: None,
            second: None,
            note: Some(self.note(data, output, "")),
        }
        .draw())
    }

    fn coordinates(&self, data: &Dataset, output: &Output) -> String {
        let Output::Values { names, values } = output else { return String::new() };
        let k = names.len().max(1);
        let classes = data.target().and_then(|t| t.classes().ok()).filter(|c| c.labels.len() <= 40);
        let points = values
            .chunks_exact(k)
            .enumerate()
            .map(|(i, row)| PlotPoint {
                x: row[0],
                y: row.get(1).copied().unwrap_or(0.0),
                code: classes.as_ref().map_or(0, |c| c.codes[i]),
                support: false,
                wrong: false,
            })
            .collect();
        Scatter {
            title: self.title(),
            x_label: names.first().cloned().unwrap_or_default(),
            y_label: names.get(1).cloned().unwrap_or_default(),
            points,
            labels: classes.map(|c| c.labels).unwrap_or_default(),
            note: Some(format!("{} examples", data.len())),
        }
        .draw()
    }

    fn regression(&self, data: &Dataset, output: &Output) -> Result<String, Error> {
        let truth = data.target().ok_or(DataError::NoTarget)?.numbers()?;
        let outputs = truth.names.len();
        let name = truth.names.first().cloned().unwrap_or_default();
        if let Some(curve) = self.curve(data, &truth.values, outputs, &name, output)? {
            return Ok(curve);
        }
        let Output::Values { values, .. } = output else { return Err(DataError::NoTarget.into()) };
        Ok(PredictedAgainstTrue {
            title: self.title(),
            x_label: format!("true {name}"),
            y_label: format!("predicted {name}"),
            points: truth
                .values
                .iter()
                .step_by(outputs)
                .copied()
                .zip(values.iter().step_by(outputs).copied())
                .collect(),
            note: Some(self.note(data, output, "")),
        }
        .draw())
    }

    /// The fitted curve, for one input.
    fn curve(
        &self,
        data: &Dataset,
        truth: &[f64],
        outputs: usize,
        name: &str,
        output: &Output,
    ) -> Result<Option<String>, Error> {
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
        let steps = 400;
        let grid: Vec<f64> = (0..=steps).map(|i| low + (high - low) * f64::from(i) / f64::from(steps)).collect();
        let Some(inputs) = Rows::new(grid.clone(), grid.len(), 1) else { return Ok(None) };
        let values =
            self.predict(&Dataset::from_views(vec![View { name: view.name.clone(), values: like(data, inputs) }])?)?;
        let show = |x: f64| unscale(scaler.as_ref(), 0, x);
        Ok(Some(
            RegressionCurve {
                title: self.title(),
                x_label: label,
                y_label: name.to_owned(),
                curve: grid.iter().map(|&x| show(x)).zip(values.values().iter().step_by(outputs).copied()).collect(),
                points: rows.values().iter().map(|&x| show(x)).zip(truth.iter().step_by(outputs).copied()).collect(),
                band: None,
                note: Some(self.note(data, output, "")),
            }
            .draw(),
        ))
    }
}

/// Two directions in the space of inputs: the coordinates themselves if there are two, else the first two principal
/// directions through the mean.
struct Plane {
    rows: Rows<f64>,
    view: String,
    names: Option<Vec<String>>,
    scaler: Option<Scaler>,
    /// Origin and two directions; `None` if there are just two coordinates.
    directions: Option<(Vec<f64>, [Vec<f64>; 2])>,
}

impl Plane {
    fn new(rows: Rows<f64>, view: String, names: Option<Vec<String>>, scaler: Option<Scaler>) -> Option<Self> {
        let (n, d) = (rows.len(), rows.width());
        if d < 2 || n < 2 {
            return None;
        }
        let directions = if d == 2 { None } else { Some(principal_plane(&rows)?) };
        Some(Self { rows, view, names, scaler, directions })
    }

    fn places(&self) -> Vec<(f64, f64)> {
        (0..self.rows.len())
            .map(|i| {
                let row = self.rows.row(i);
                match &self.directions {
                    None => (row[0], row[1]),
                    Some((origin, [u, v])) => {
                        let along = |w: &[f64]| row.iter().zip(origin).zip(w).map(|((x, o), w)| (x - o) * w).sum();
                        (along(u), along(v))
                    }
                }
            })
            .collect()
    }

    /// The centres of the cells as examples, and the range of both directions.
    fn grid(&self) -> (Rows<f64>, (f64, f64), (f64, f64)) {
        let places = self.places();
        let (x, y) = (span(places.iter().map(|p| p.0)), span(places.iter().map(|p| p.1)));
        let centre = |(low, high): (f64, f64), k: usize, of: usize| low + (high - low) * (k as f64 + 0.5) / of as f64;
        let mut values = Vec::new();
        for r in 0..CELLS.1 {
            for c in 0..CELLS.0 {
                let (s, t) = (centre(x, c, CELLS.0), centre(y, r, CELLS.1));
                match &self.directions {
                    None => values.extend([s, t]),
                    Some((origin, [u, v])) => {
                        values.extend(origin.iter().zip(u).zip(v).map(|((o, u), v)| o + s * u + t * v));
                    }
                }
            }
        }
        let width = self.rows.width();
        let grid = Rows::new(values, CELLS.0 * CELLS.1, width).unwrap_or_else(|| self.rows.clone());
        (grid, x, y)
    }

    /// A place in the units of the file.
    fn show(&self, direction: usize, place: f64) -> f64 {
        if self.directions.is_some() { place } else { unscale(self.scaler.as_ref(), direction, place) }
    }

    fn label(&self, direction: usize) -> String {
        match (&self.directions, &self.names) {
            (None, Some(names)) => names[direction].clone(),
            (None, None) => format!("x{}", direction + 1),
            (Some(_), _) => format!("principal direction {}", direction + 1),
        }
    }

    fn note(&self) -> &'static str {
        if self.directions.is_some() { "cut along two principal directions" } else { "" }
    }
}

/// The mean and the first two principal directions of the inputs.
fn principal_plane(rows: &Rows<f64>) -> Option<(Vec<f64>, [Vec<f64>; 2])> {
    let (n, d) = (rows.len(), rows.width());
    let mut mean = vec![0.0; d];
    for i in 0..n {
        mean.iter_mut().zip(rows.row(i)).for_each(|(m, x)| *m += x / n as f64);
    }
    let mut covariance_times = |v: &[f64], k: usize, out: &mut [f64]| {
        out.fill(0.0);
        for i in 0..n {
            for c in 0..k {
                let along: f64 = (0..d).map(|j| (rows.row(i)[j] - mean[j]) * v[j * k + c]).sum();
                for j in 0..d {
                    out[j * k + c] += along * (rows.row(i)[j] - mean[j]) / n as f64;
                }
            }
        }
    };
    let found = top_eigen(d, &mut covariance_times, 2, &KrylovOptions::default(), &mut |_, _| true).ok()?;
    let column = |c: usize| (0..d).map(|j| found.vectors[j * 2 + c]).collect();
    Some((mean, [column(0), column(1)]))
}

fn codes_by_label(target: &Target, labels: &[String]) -> Option<Vec<u32>> {
    let classes = target.classes().ok()?;
    let places: Option<Vec<u32>> =
        classes.labels.iter().map(|l| labels.iter().position(|k| same_label(k, l)).map(|p| p as u32)).collect();
    let places = places?;
    Some(classes.codes.iter().map(|&c| places[c as usize]).collect())
}

/// Vectors in the build that a model knows from its data: sparse for sparse.
fn like(data: &Dataset, rows: Rows<f64>) -> Values {
    match data.views() {
        [View { values: Values::Sparse(_), .. }] => SparseRows::from_dense(&rows).into(),
        _ => rows.into(),
    }
}

fn unscale(scaler: Option<&Scaler>, coordinate: usize, x: f64) -> f64 {
    match scaler {
        Some(Scaler::Affine { shift, factor }) => x / factor[coordinate] + shift[coordinate],
        _ => x,
    }
}

/// The range of some numbers with a margin.
fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    let margin = if high > low { 0.06 * (high - low) } else { 1.0 };
    (low - margin, high + margin)
}

/// Long formulas end in an ellipsis; numbers are cut to four digits.
fn shorten(kernel: &str) -> String {
    let mut out = String::new();
    let mut number = String::new();
    for c in kernel.chars().chain(std::iter::once(' ')) {
        if c.is_ascii_digit() || c == '.' {
            number.push(c);
            continue;
        }
        match number.parse::<f64>() {
            Ok(x) if number.len() > 6 => out.push_str(&format!("{x:.4}")),
            _ => out.push_str(&number),
        }
        number.clear();
        out.push(c);
    }
    let out = out.trim_end().to_owned();
    if out.chars().count() > 60 { out.chars().take(59).chain(['…']).collect() } else { out }
}
