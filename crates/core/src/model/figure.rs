//! A picture of a model: the figure that fits its task and data.

use super::Model;
use super::plane::{CELLS, Plane};
use crate::data::{DataError, Dataset, Rows, SparseRows, Target, Values, View, places_of_labels};
use crate::error::Error;
use crate::machines::Fact;
use crate::machines::{Output, Readout};
use crate::metrics::{Metrics, agreement, measure, usual};
use crate::plot::{DecisionSurface, Heat, PlotPoint, Scatter, Theme, short_formula};

/// Largest number of coordinates of sparse vectors that are drawn in a plane.
const MAX_SPARSE_COORDINATES: usize = 64;
/// Largest number of examples that are drawn.
const MAX_POINTS: usize = 3000;

impl Model {
    /// An SVG picture of what the model says about data: a decision surface, fitted curves with their tube, predictions
    /// against the truth, coordinates in the plane, or a confusion matrix.
    pub fn figure(&self, data: &Dataset, theme: Theme) -> Result<String, Error> {
        let output = self.predict(data)?;
        let plane = self.plane(data);
        match (&self.fitted.readout, plane) {
            (Readout::ArgMax { .. } | Readout::Vote { .. } | Readout::Novelty, Some(plane)) => {
                self.surface(data, &output, &plane, theme)
            }
            (Readout::ArgMax { .. } | Readout::Vote { .. } | Readout::Novelty, None) => {
                self.confusion(data, &output, theme)
            }
            (Readout::Clusters { .. }, Some(plane)) => self.surface(data, &output, &plane, theme),
            (Readout::Clusters { .. }, None) => self.contingency(data, &output, theme),
            (Readout::Coordinates { .. }, _) => Ok(self.coordinates(data, &output, theme)),
            (Readout::Values { .. }, _) => self.regression(data, &output, theme),
            (Readout::LabelSets { .. } | Readout::Order | Readout::Parts(_), _) => {
                let finding = format!("there is no picture of what {} predicts", self.machine);
                Err(DataError::Usage { finding }.into())
            }
        }
    }

    /// An SVG picture of the confusion of a classifier or detector: for each true class, the share and the number of its examples that
    /// are predicted to be of each class. What is on the diagonal is found.
    ///
    /// # Errors
    /// If the model predicts no classes, or the data have no target.
    pub fn confusion_figure(&self, data: &Dataset, theme: Theme) -> Result<String, Error> {
        if self.fitted.readout.form().is_none() && !self.detects() {
            let finding =
                format!("a confusion matrix is for classifiers and detectors, and {} is neither", self.machine);
            return Err(DataError::Usage { finding }.into());
        }
        self.confusion(data, &self.predict(data)?, theme)
    }

    /// True if it is a detector of novelties, whatever classes the data have.
    pub(super) fn detects(&self) -> bool {
        matches!(self.fitted.readout, Readout::Novelty)
    }

    /// True if it is a clustering, whatever classes the data have.
    fn clusters(&self) -> bool {
        matches!(self.fitted.readout, Readout::Clusters { .. })
    }

    pub(super) fn title(&self) -> String {
        format!("{} with {}", self.machine, short_formula(&self.kernel.to_string()))
    }

    /// The plane to draw in, for one view of dense vectors with at least two coordinates.
    fn plane(&self, data: &Dataset) -> Option<Plane> {
        let [view] = data.views() else { return None };
        let rows = match &view.values {
            Values::Dense(rows) => rows.as_ref().clone(),
            Values::Dense32(rows) => rows.convert(),
            Values::Sparse(rows) if rows.width() <= MAX_SPARSE_COORDINATES => rows.to_dense(),
            _ => return None,
        };
        if self.kernel.views().iter().any(|(_, kind)| *kind != crate::data::Kind::Vectors) {
            return None;
        }
        let names = self.schema.as_ref().and_then(|s| s.view(&view.name)?.coordinate_names());
        let scaler = self.schema.as_ref().and_then(|s| s.view(&view.name)?.scaler().cloned());
        Plane::new(rows, view.name.clone(), names, scaler)
    }

    fn surface(&self, data: &Dataset, output: &Output, plane: &Plane, theme: Theme) -> Result<String, Error> {
        let Output::Labels { labels, codes, .. } = output else { return self.confusion(data, output, theme) };
        let (grid, x, y) = plane.grid();
        let grid = Dataset::from_views(vec![View { name: plane.view.clone(), values: like(data, grid) }])?;
        let surface = self.predict(&grid)?;
        let Output::Labels { codes: cells, scores, .. } = surface else { return self.confusion(data, output, theme) };
        let truth = data.target().filter(|_| !self.clusters()).and_then(|t| codes_by_label(t, labels));
        let places = plane.places();
        let points = (0..data.len())
            .step_by(data.len().div_ceil(MAX_POINTS).max(1))
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
            // scores of a detector and of clusters have no scale: ±1 means nothing there
            margin: !self.detects() && !self.clusters(),
            labels: labels.clone(),
            points,
            note: Some(self.note(data, output, plane.note())),
        }
        .draw(theme))
    }

    /// True if an example is one of the model's points: equal in the only view.
    pub(super) fn is_support(&self, rows: &Rows<f64>, i: usize) -> bool {
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

    pub(super) fn note(&self, data: &Dataset, output: &Output, more: &str) -> String {
        let mut parts = Vec::new();
        if self.detects() {
            let outliers = output.labels().iter().filter(|l| **l == "outlier").count();
            parts.push(format!("{outliers} outliers of {}", self.counted(data)));
        }
        if let Some(Ok(m)) = data.target().filter(|_| self.clusters()).map(|t| agreement(output, t)) {
            parts.push(format!("{} examples · adjusted Rand index {:.3}", m.n, m.adjusted_rand));
        }
        match data.target().filter(|_| !self.detects() && !self.clusters()).map(|t| measure(output, t)) {
            Some(Ok(Metrics::Classes(m))) => {
                parts.push(format!("error {:.2} % of {}", 100.0 * m.error, self.counted(data)));
            }
            Some(Ok(Metrics::Numbers(m))) => parts.push(format!("rmse {:.4} on {}", m.rmse, self.counted(data))),
            _ if parts.is_empty() => parts.push(self.counted(data)),
            _ => {}
        }
        if let Some(support) = self.fitted.report.support.filter(|&s| s < self.trained_on || self.trained_on == 0) {
            parts.push(format!("{support} support vectors"));
        }
        if !more.is_empty() {
            parts.push(more.to_owned());
        }
        parts.join(" · ")
    }

    fn confusion(&self, data: &Dataset, output: &Output, theme: Theme) -> Result<String, Error> {
        let target = data.target().ok_or(DataError::NoTarget)?;
        let told = if self.detects() { usual(target)? } else { None };
        let Metrics::Classes(m) = measure(output, told.as_ref().map_or(target, |t| &t.target))? else {
            return Err(DataError::NoTarget.into());
        };
        let size = |row: &Vec<usize>| row.iter().sum::<usize>();
        let share = |count: usize, all: usize| 100.0 * count as f64 / all as f64;
        let cells = || m.confusion.iter().flat_map(|row| row.iter().map(move |&count| (count, size(row))));
        let text = |(count, all): (usize, usize)| match (count, all) {
            (_, 0) => "–".to_owned(),
            (0, _) => "0".to_owned(),
            (_, all) => format!("{:.1} %\n{count}", share(count, all)),
        };
        Ok(Heat {
            title: self.title(),
            row_label: "true class".to_owned(),
            column_label: "predicted class".to_owned(),
            row_ticks: m.labels.clone(),
            column_ticks: m.labels.clone(),
            // a class without examples has no shares
            values: cells().map(|(count, all)| share(count, all)).collect(),
            decimals: 0,
            texts: cells().map(text).collect(),
            span: Some((0.0, 100.0)),
            note: Some(self.note(data, output, "% of each true class")),
            ..Heat::default()
        }
        .draw(theme))
    }

    /// Classes against clusters.
    fn contingency(&self, data: &Dataset, output: &Output, theme: Theme) -> Result<String, Error> {
        let m = agreement(output, data.target().ok_or(DataError::NoTarget)?)?;
        Ok(Heat {
            title: self.title(),
            row_label: "class".to_owned(),
            column_label: "cluster".to_owned(),
            row_ticks: m.labels.clone(),
            column_ticks: m.clusters.clone(),
            values: m.contingency.iter().flatten().map(|&c| c as f64).collect(),
            decimals: 0,
            mark: None,
            second: None,
            note: Some(self.note(data, output, "")),
            ..Heat::default()
        }
        .draw(theme))
    }

    /// The name of a coordinate, with the share of the variance that it explains where that is known.
    fn coordinate(&self, names: &[String], place: usize) -> String {
        let Some(name) = names.get(place) else { return String::new() };
        match self.fitted.report.fact(Fact::Explained(place)) {
            Some(share) => format!("{name} ({:.1} % of the variance)", 100.0 * share),
            None => name.clone(),
        }
    }

    fn coordinates(&self, data: &Dataset, output: &Output, theme: Theme) -> String {
        let Output::Values { names, values, .. } = output else { return String::new() };
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
            x_label: self.coordinate(names, 0),
            y_label: self.coordinate(names, 1),
            points,
            labels: classes.map(|c| c.labels).unwrap_or_default(),
            note: Some(self.counted(data)),
        }
        .draw(theme)
    }
}

fn codes_by_label(target: &Target, labels: &[String]) -> Option<Vec<u32>> {
    let classes = target.classes().ok()?;
    let places: Vec<usize> = places_of_labels(labels, &classes.labels).into_iter().collect::<Option<_>>()?;
    Some(classes.codes.iter().map(|&c| places[c as usize] as u32).collect())
}

/// Vectors in the build that a model knows from its data: sparse for sparse.
pub(super) fn like(data: &Dataset, rows: Rows<f64>) -> Values {
    match data.views() {
        [View { values: Values::Sparse(_), .. }] => SparseRows::from_dense(&rows).into(),
        _ => rows.into(),
    }
}
