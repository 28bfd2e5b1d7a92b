//! Data prepared once for the loops over blocks: shifted, weighted, in either precision, in the layouts the loops want.

use super::lines::{Change, Counted, Lines};
use crate::data::{Coordinate, Rows, Scalar, SparseRows, Values};
use std::sync::{Arc, OnceLock};

/// A collection of vectors, prepared on demand in f64 and in f32.
pub(crate) struct Packed {
    source: Origin,
    /// Subtracted from every dense vector: distances by products cancel less around the centre.
    shift: Option<Arc<Vec<f64>>>,
    /// Multiplied into every coordinate; see [`weight`].
    weights: Option<Arc<Vec<f64>>>,
    wide: OnceLock<Store<f64>>,
    narrow: OnceLock<Store<f32>>,
    /// For single rows; `None` inside where sparse vectors are better left as they are.
    lines: OnceLock<Option<Lines>>,
    /// Whether [`Counted`] can hold them.
    countable: OnceLock<bool>,
}

/// Where the vectors come from.
enum Origin {
    Given(Values),
    /// Some of another collection; copied only if they are asked for themselves.
    Chosen {
        of: Arc<Packed>,
        keep: Vec<usize>,
        values: OnceLock<Values>,
    },
}

/// Prepared vectors of one precision.
pub(crate) enum Store<S> {
    /// Dense.
    Dense { rows: Rows<S>, squares: Vec<S>, panels: OnceLock<Panels<S>> },
    /// Sparse.
    Sparse { rows: SparseRows<S>, squares: Vec<S>, columns: OnceLock<SparseColumns<S>> },
}

/// Dense columns feature by feature, in panels of `S::LANES` examples: value of feature k and lane l of panel p is at
/// `(p * width + k) * LANES + l`. One example against all others then streams straight through memory.
pub(crate) struct Panels<S> {
    pub(crate) values: Vec<S>,
    pub(crate) width: usize,
}

/// Sparse columns in the layout that makes one row against all of them cheapest.
pub(crate) enum SparseColumns<S> {
    /// Spread out in panels: a stored coordinate of the row is then one vector operation for many columns.
    Panels(Panels<S>),
    /// Feature by feature.
    Lists(Lists<S>),
}

impl<S: Scalar> SparseColumns<S> {
    /// Panels for data that are not very sparse, where a vector of columns holds more than one stored coordinate on
    /// average, and that stay small when spread out.
    pub(crate) fn new(rows: &SparseRows<S>) -> Self {
        const MOST_BYTES: usize = 1 << 30;
        let cells = rows.len().saturating_mul(rows.width());
        let dense_enough = rows.coordinates().len().saturating_mul(16) > cells;
        if dense_enough && cells.saturating_mul(size_of::<S>()) <= MOST_BYTES {
            let mut panels = Panels::zeros(rows.len(), rows.width());
            for i in 0..rows.len() {
                for c in rows.row(i) {
                    panels.set(i, c.index as usize, c.value);
                }
            }
            Self::Panels(panels)
        } else {
            Self::Lists(Lists::new(rows))
        }
    }
}

/// Sparse columns feature by feature: the examples that have a feature, with its value.
pub(crate) struct Lists<S> {
    pub(crate) starts: Vec<usize>,
    pub(crate) entries: Vec<Coordinate<S>>,
}

/// A precision for which a [`Packed`] keeps a [`Store`].
pub(crate) trait Stored: Scalar {
    fn store(packed: &Packed) -> &Store<Self>;
}

impl Stored for f64 {
    fn store(packed: &Packed) -> &Store<Self> {
        packed.wide.get_or_init(|| packed.prepare())
    }
}

impl Stored for f32 {
    fn store(packed: &Packed) -> &Store<Self> {
        packed.narrow.get_or_init(|| packed.prepare())
    }
}

impl Packed {
    /// Prepares a collection; `shift` only ever applies to dense vectors.
    pub(crate) fn new(source: &Values, shift: Option<Arc<Vec<f64>>>, weights: Option<Arc<Vec<f64>>>) -> Self {
        Self {
            source: Origin::Given(source.clone()),
            shift,
            weights,
            wide: OnceLock::new(),
            narrow: OnceLock::new(),
            lines: OnceLock::new(),
            countable: OnceLock::new(),
        }
    }

    /// The vectors as they were given.
    fn source(&self) -> &Values {
        match &self.source {
            Origin::Given(values) => values,
            Origin::Chosen { of, keep, values } => values.get_or_init(|| of.source().select(keep)),
        }
    }

    /// The layout for single rows, of squared distances or of inner products.
    pub(crate) fn lines(&self, distance: bool) -> Option<&Lines> {
        let pack = || {
            let (shift, weights) = (self.shift.as_ref(), self.weights.as_ref());
            let change =
                Change { shift: shift.map(|s| s.as_slice()), weights: weights.map(|w| w.as_slice()), distance };
            Lines::new(self.source(), &change)
        };
        self.lines.get_or_init(pack).as_ref()
    }

    /// Whether they are zeros and ones that can be counted.
    pub(crate) fn is_countable(&self) -> bool {
        // a weight for each coordinate makes other numbers of them
        let alike = self.weights.as_ref().is_none_or(|w| w.len() == 1);
        alike && *self.countable.get_or_init(|| Counted::holds(self.source()))
    }

    /// The layout for counting common features.
    pub(crate) fn counted(&self, distance: bool) -> Option<&Counted> {
        match self.lines(distance) {
            Some(Lines::Counted(counted)) if self.is_countable() => Some(counted),
            _ => None,
        }
    }

    /// How many vectors.
    pub(crate) fn len(&self) -> usize {
        match &self.source {
            Origin::Given(values) => values.len(),
            Origin::Chosen { keep, .. } => keep.len(),
        }
    }

    /// Those at the given places, prepared alike.
    pub(crate) fn select(self: &Arc<Self>, keep: &[usize]) -> Self {
        // what was packed for rows is repacked from there, far faster than from the source
        let Some(Some(lines)) = self.lines.get() else {
            return Self::new(&self.source().select(keep), self.shift.clone(), self.weights.clone());
        };
        let lines = OnceLock::from(Some(lines.select(keep)));
        let (of, keep) = match &self.source {
            Origin::Given(_) => (Arc::clone(self), keep.to_vec()),
            Origin::Chosen { of, keep: places, .. } => (Arc::clone(of), keep.iter().map(|&i| places[i]).collect()),
        };
        Self {
            source: Origin::Chosen { of, keep, values: OnceLock::new() },
            shift: self.shift.clone(),
            weights: self.weights.clone(),
            wide: OnceLock::new(),
            narrow: OnceLock::new(),
            lines,
            countable: self.countable.clone(),
        }
    }

    /// The mean of each coordinate of dense vectors; `None` for sparse ones.
    pub(crate) fn means(values: &Values) -> Option<Vec<f64>> {
        fn of<S: Scalar>(rows: &Rows<S>) -> Vec<f64> {
            let mut means = vec![0.0; rows.width()];
            for i in 0..rows.len() {
                for (m, x) in means.iter_mut().zip(rows.row(i)) {
                    *m += x.wide();
                }
            }
            means.iter_mut().for_each(|m| *m /= rows.len().max(1) as f64);
            means
        }
        match values {
            Values::Dense(r) => Some(of(r)),
            Values::Dense32(r) => Some(of(r)),
            _ => None,
        }
    }

    fn prepare<S: Scalar>(&self) -> Store<S> {
        match self.source() {
            Values::Dense(r) => self.dense(r),
            Values::Dense32(r) => self.dense(r),
            Values::Sparse(r) => self.sparse(r),
            Values::Sparse32(r) => self.sparse(r),
            Values::Text(_) | Values::Index(_) | Values::Items(_) => {
                unreachable!("vector families are given vectors only")
            }
        }
    }

    fn dense<S: Scalar, T: Scalar>(&self, source: &Rows<T>) -> Store<S> {
        let width = source.width();
        let mut rows = Vec::with_capacity(source.values().len());
        let mut squares = Vec::with_capacity(source.len());
        for i in 0..source.len() {
            let mut square = 0.0;
            for (j, x) in source.row(i).iter().enumerate() {
                let mut x = x.wide();
                if let Some(shift) = &self.shift {
                    x -= shift[j];
                }
                if let Some(weights) = &self.weights {
                    x *= weight(weights, j);
                }
                let x = S::narrow(x);
                square += x.wide() * x.wide();
                rows.push(x);
            }
            squares.push(S::narrow(square));
        }
        match Rows::new(rows, source.len(), width) {
            Some(rows) => Store::Dense { rows, squares, panels: OnceLock::new() },
            None => unreachable!("as many numbers as in the source"),
        }
    }

    fn sparse<S: Scalar, T: Scalar>(&self, source: &SparseRows<T>) -> Store<S> {
        let mut rows = match &self.weights {
            Some(weights) if weights.len() > 1 => cut(source, weights.len()).convert::<S>(),
            _ => source.convert::<S>(),
        };
        if let Some(weights) = &self.weights {
            for c in rows.coordinates_mut() {
                c.value = S::narrow(c.value.wide() * weight(weights, c.index as usize));
            }
        }
        let squares = (0..rows.len())
            .map(|i| S::narrow(rows.row(i).iter().map(|c| c.value.wide() * c.value.wide()).sum()))
            .collect();
        Store::Sparse { rows, squares, columns: OnceLock::new() }
    }
}

/// The factor of a coordinate: a single one is for all; a coordinate beyond several has none, and is left out.
#[inline]
pub(crate) fn weight(weights: &[f64], coordinate: usize) -> f64 {
    match weights {
        [one] => *one,
        all => all.get(coordinate).copied().unwrap_or(0.0),
    }
}

/// The vectors without the coordinates from `width` on, so that no loop needs memory for them.
fn cut<S: Scalar>(source: &SparseRows<S>, width: usize) -> SparseRows<S> {
    let mut rows = SparseRows::new(width);
    for i in 0..source.len() {
        let row = source.row(i);
        rows.push(&row[..row.partition_point(|c| (c.index as usize) < width)]);
    }
    rows
}

impl<S: Scalar> Panels<S> {
    /// Repacks rows.
    pub(crate) fn new(rows: &Rows<S>) -> Self {
        let mut panels = Self::zeros(rows.len(), rows.width());
        for i in 0..rows.len() {
            for (k, &x) in rows.row(i).iter().enumerate() {
                panels.set(i, k, x);
            }
        }
        panels
    }

    /// Room for n examples.
    fn zeros(n: usize, width: usize) -> Self {
        Self { values: vec![S::default(); n.div_ceil(S::LANES) * width * S::LANES], width }
    }

    /// Puts a coordinate at its place.
    fn set(&mut self, example: usize, feature: usize, value: S) {
        let place = ((example / S::LANES) * self.width + feature) * S::LANES + example % S::LANES;
        self.values[place] = value;
    }

    /// The numbers of one panel.
    pub(crate) fn panel(&self, p: usize) -> &[S] {
        let size = self.width * S::LANES;
        &self.values[p * size..(p + 1) * size]
    }
}

impl<S: Scalar> Lists<S> {
    /// Transposes rows.
    pub(crate) fn new(rows: &SparseRows<S>) -> Self {
        let mut starts = vec![0; rows.width() + 1];
        for c in rows.coordinates() {
            starts[c.index as usize + 1] += 1;
        }
        for k in 0..rows.width() {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut entries = vec![Coordinate { index: 0, value: S::default() }; rows.coordinates().len()];
        for i in 0..rows.len() {
            for c in rows.row(i) {
                let place = &mut next[c.index as usize];
                entries[*place] = Coordinate { index: i as u32, value: c.value };
                *place += 1;
            }
        }
        Self { starts, entries }
    }

    /// The examples that have a feature; none for a feature never seen.
    pub(crate) fn list(&self, feature: usize) -> &[Coordinate<S>] {
        match (self.starts.get(feature), self.starts.get(feature + 1)) {
            (Some(&a), Some(&b)) => &self.entries[a..b],
            _ => &[],
        }
    }
}
