//! The plane in which a decision surface is drawn.

use crate::data::{Rows, Scaler};
use crate::linalg::{KrylovOptions, top_eigen};

/// Cells of a decision surface in each direction.
pub(super) const CELLS: (usize, usize) = (180, 140);

/// Two directions in the space of inputs: the coordinates themselves if there are two, else the first two principal
/// directions through the mean.
pub(super) struct Plane {
    pub(super) rows: Rows<f64>,
    pub(super) view: String,
    names: Option<Vec<String>>,
    scaler: Option<Scaler>,
    /// Origin and two directions; `None` if there are just two coordinates.
    directions: Option<(Vec<f64>, [Vec<f64>; 2])>,
}

impl Plane {
    pub(super) fn new(
        rows: Rows<f64>,
        view: String,
        names: Option<Vec<String>>,
        scaler: Option<Scaler>,
    ) -> Option<Self> {
        let (n, d) = (rows.len(), rows.width());
        if d < 2 || n < 2 {
            return None;
        }
        let directions = if d == 2 { None } else { Some(principal_plane(&rows)?) };
        Some(Self { rows, view, names, scaler, directions })
    }

    pub(super) fn places(&self) -> Vec<(f64, f64)> {
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
    pub(super) fn grid(&self) -> (Rows<f64>, (f64, f64), (f64, f64)) {
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
    pub(super) fn show(&self, direction: usize, place: f64) -> f64 {
        if self.directions.is_some() { place } else { unscale(self.scaler.as_ref(), direction, place) }
    }

    pub(super) fn label(&self, direction: usize) -> String {
        match (&self.directions, &self.names) {
            (None, Some(names)) => names[direction].clone(),
            (None, None) => format!("x{}", direction + 1),
            (Some(_), _) => format!("principal direction {}", direction + 1),
        }
    }

    pub(super) fn note(&self) -> &'static str {
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

pub(super) fn unscale(scaler: Option<&Scaler>, coordinate: usize, x: f64) -> f64 {
    match scaler {
        Some(Scaler::Affine { shift, factor }) => x / factor[coordinate] + shift[coordinate],
        _ => x,
    }
}

/// The range of some numbers with a margin.
pub(super) fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    let margin = if high > low { 0.06 * (high - low) } else { 1.0 };
    (low - margin, high + margin)
}
