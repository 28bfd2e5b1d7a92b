//! Data prepared once for the loops over blocks: shifted, weighted, in either precision, in the layouts the loops want.

use super::lines::{Change, Counted, Layout, Lines, Real, is_finite};
use super::narrow::narrow_row;
use super::store::{self, Store};
use crate::data::{Rows, Scalar, SparseRows, Values};
use crate::gram::between::Collection;
use crate::kernels::{KernelError, Prepared};
use crate::parallel;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A collection of vectors, prepared on demand in f64 and in f32.
pub struct Packed {
    source: Origin,
    /// The frame that it shares with the collections it is compared with.
    frame: Arc<Frame>,
    /// The width of the vectors as they were given, and whether they were dense then.
    given: (usize, bool),
    wide: OnceLock<Store<f64>>,
    narrow: OnceLock<Store<f32>>,
    /// The layout for single rows; `None` inside where sparse vectors are better left as they are.
    layout: OnceLock<Option<Layout>>,
    /// The vectors in this layout.
    lines: OnceLock<Option<Lines>>,
    /// Dense vectors in panels, for rows of other collections.
    panels: OnceLock<Option<Real>>,
    /// True if [`Counted`] can hold them.
    countable: OnceLock<bool>,
    /// Dense vectors as sparse ones, for sparse vectors to be compared with.
    thin: OnceLock<Arc<Packed>>,
    /// The coordinates that sparse vectors use, by their names as given.
    used: OnceLock<Vec<u32>>,
}

/// The transformation of vectors before they are compared.
#[derive(Clone, Debug, Default)]
pub struct Packing {
    /// True if dense vectors are moved to the mean of the training vectors: distances by products cancel less around it.
    pub(crate) centre: bool,
    /// Factors of the coordinates; see [`weight`].
    pub(crate) weights: Option<Arc<Vec<f64>>>,
}

/// The frame that a collection shares with those it is compared with.
struct Frame {
    packing: Packing,
    /// Subtracted from every dense vector.
    shift: Option<Arc<Vec<f64>>>,
    /// True if vectors are sparse.
    sparse: bool,
    /// The coordinates of very wide sparse vectors: the k-th of them is named k.
    known: Option<Vec<u32>>,
    /// Names of coordinates are smaller; new vectors name what is unknown from here on.
    width: usize,
}

/// The source of the vectors.
enum Origin {
    Given(Values),
    /// Some of another collection; copied only if they are asked for themselves.
    Chosen {
        of: Arc<Packed>,
        keep: Vec<usize>,
        values: OnceLock<Values>,
    },
}

/// A precision for which a [`Packed`] keeps a [`Store`].
pub(crate) trait Stored: Scalar {
    fn store(packed: &Packed) -> &Store<Self>;
    /// Dense vectors that have this precision already.
    fn given(values: &Values) -> Option<&Arc<Rows<Self>>>;
}

impl Stored for f64 {
    fn store(packed: &Packed) -> &Store<Self> {
        packed.wide.get_or_init(|| store::prepare(packed.source(), &packed.change(false)))
    }
    fn given(values: &Values) -> Option<&Arc<Rows<Self>>> {
        if let Values::Dense(rows) = values { Some(rows) } else { None }
    }
}

impl Stored for f32 {
    fn store(packed: &Packed) -> &Store<Self> {
        packed.narrow.get_or_init(|| store::prepare(packed.source(), &packed.change(false)))
    }
    fn given(values: &Values) -> Option<&Arc<Rows<Self>>> {
        if let Values::Dense32(rows) = values { Some(rows) } else { None }
    }
}

/// Largest index of a sparse coordinate that is kept: larger ones are renumbered, so that no loop needs memory in
/// proportion to the largest index of a file, only to what is stored.
const MAX_INDEX_KEPT: usize = 1 << 16;

/// Columns whose means one thread takes at a time, and the smallest number of numbers for which several threads are worth waking.
const COLUMNS_OF_A_MEAN: usize = 128;
pub(super) const MIN_NUMBERS_FOR_THREADS: usize = 1 << 17;
/// Smallest width of dense vectors of which parts are packed from the source.
const MIN_WIDTH_OF_PARTS: usize = 64;

fn is_sparse(values: &Values) -> bool {
    matches!(values, Values::Sparse(_) | Values::Sparse32(_))
}

/// Dense vectors as sparse ones.
fn thinned(values: &Values) -> Values {
    match values {
        Values::Dense(r) => SparseRows::from_dense(r).into(),
        Values::Dense32(r) => SparseRows::from_dense(r).into(),
        other => other.clone(),
    }
}

/// The coordinates that are stored in sparse vectors, each once, rising.
fn indices(values: &Values) -> Vec<u32> {
    fn of<S: Scalar>(rows: &SparseRows<S>) -> Vec<u32> {
        let mut all: Vec<u32> = rows.coordinates().iter().map(|c| c.index).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
    match values {
        Values::Sparse(r) => of(r),
        Values::Sparse32(r) => of(r),
        _ => Vec::new(),
    }
}

fn renamed(values: &Values, width: usize, name: impl Fn(u32) -> u32) -> Values {
    match values {
        Values::Sparse(r) => r.renamed(width, name).into(),
        Values::Sparse32(r) => r.renamed(width, name).into(),
        other => other.clone(),
    }
}

/// The place of a coordinate in a rising list.
fn place(known: &[u32], index: u32) -> u32 {
    known.partition_point(|&k| k < index) as u32
}

impl Packed {
    /// Prepares the collection that others are compared with.
    pub(crate) fn first(values: &Values, packing: Packing) -> Self {
        let (sparse, width) = (is_sparse(values), values.width().unwrap_or(0));
        let weighted = packing.weights.as_ref().is_some_and(|w| w.len() > 1);
        let known = (sparse && width > MAX_INDEX_KEPT && !weighted).then(|| indices(values));
        let shift = if packing.centre { Self::means(values).map(Arc::new) } else { None };
        let source = match &known {
            Some(known) => renamed(values, known.len(), |index| place(known, index)),
            None => values.clone(),
        };
        let frame = Frame { packing, shift, sparse, width: known.as_ref().map_or(width, Vec::len), known };
        Self::in_frame(Origin::Given(source), Arc::new(frame), (width, !sparse))
    }

    /// Prepares another collection to be compared with this one: moved by its centre, with its names of coordinates.
    pub(crate) fn like(self: &Arc<Self>, values: &Values) -> Self {
        match (is_sparse(values), self.frame.sparse) {
            (true, false) => return self.thin().like(values),
            (false, true) => {
                let given = (values.width().unwrap_or(0), true);
                return Self { given, ..self.like(&thinned(values)) };
            }
            _ => {}
        }
        let (frame, width) = (Arc::clone(&self.frame), values.width().unwrap_or(0));
        let weighted = frame.packing.weights.as_ref().is_some_and(|w| w.len() > 1);
        let rename = frame.sparse && !weighted && (frame.known.is_some() || width > MAX_INDEX_KEPT.max(frame.width));
        if !rename {
            let dense = !frame.sparse;
            return Self::in_frame(Origin::Given(values.clone()), frame, (width, dense));
        }
        let familiar = |index: u32| match &frame.known {
            Some(known) => known.binary_search(&index).ok().map(|k| k as u32),
            None => Some(index).filter(|&index| (index as usize) < frame.width),
        };
        let used = indices(values);
        let strange: Vec<u32> = used.iter().copied().filter(|&index| familiar(index).is_none()).collect();
        let name = |index| familiar(index).unwrap_or_else(|| frame.width as u32 + place(&strange, index));
        let source = renamed(values, frame.width + strange.len(), name);
        let packed = Self::in_frame(Origin::Given(source), Arc::clone(&frame), (width, false));
        let _ = packed.used.set(used);
        packed
    }

    fn in_frame(source: Origin, frame: Arc<Frame>, given: (usize, bool)) -> Self {
        Self {
            source,
            frame,
            given,
            wide: OnceLock::new(),
            narrow: OnceLock::new(),
            layout: OnceLock::new(),
            lines: OnceLock::new(),
            panels: OnceLock::new(),
            countable: OnceLock::new(),
            thin: OnceLock::new(),
            used: OnceLock::new(),
        }
    }

    /// The same vectors, sparse.
    fn thin(self: &Arc<Self>) -> &Arc<Self> {
        if self.frame.sparse {
            return self;
        }
        let packing = self.frame.packing.clone();
        let thin = || Self { given: self.given, ..Self::first(&thinned(self.source()), packing) };
        self.thin.get_or_init(|| Arc::new(thin()))
    }

    /// Two collections in forms that can be compared, where they were prepared for each other.
    ///
    /// # Errors
    /// If they were not, or their widths differ.
    pub(crate) fn pair(
        rows: &Arc<Self>,
        cols: &Arc<Self>,
        kernel: &'static str,
    ) -> Result<(Arc<Self>, Arc<Self>), KernelError> {
        if Arc::ptr_eq(rows, cols) {
            return Ok((Arc::clone(rows), Arc::clone(cols)));
        }
        let cols = if rows.frame.sparse { cols.thin() } else { cols };
        if !Arc::ptr_eq(&rows.frame, &cols.frame) {
            return Err(KernelError::Side { kernel });
        }
        Ok((Arc::clone(rows), Arc::clone(cols)))
    }

    /// True if vectors of so many coordinates can be compared with these; sparse ones may end anywhere.
    pub(crate) fn check_width(&self, values: &Values, kernel: &'static str) -> Result<(), KernelError> {
        let ((wanted, dense), got) = (self.given, values.width().unwrap_or(0));
        if got != wanted && (dense || !is_sparse(values)) {
            return Err(KernelError::Width { kernel, got, wanted });
        }
        Ok(())
    }

    /// The number of coordinates that this collection and another use: all of dense vectors, those that are stored anywhere of sparse
    /// ones.
    pub(crate) fn coordinates_in_use(&self, other: &Self) -> usize {
        let both = [self, other];
        let width = both.iter().filter(|side| side.given.1).map(|side| side.given.0).max().unwrap_or(0);
        let beyond = |side: &'_ Self| -> Vec<u32> {
            if side.given.1 {
                Vec::new()
            } else {
                side.used().iter().copied().filter(|&j| j as usize >= width).collect()
            }
        };
        let (ours, theirs) = (beyond(self), beyond(other));
        width + theirs.len() + ours.iter().filter(|index| theirs.binary_search(index).is_err()).count()
    }

    fn used(&self) -> &[u32] {
        self.used.get_or_init(|| match &self.frame.known {
            // new examples that were renamed have told theirs before
            Some(known) => indices(self.source()).into_iter().filter_map(|k| known.get(k as usize).copied()).collect(),
            None => indices(self.source()),
        })
    }

    /// The vectors as they were given.
    fn source(&self) -> &Values {
        match &self.source {
            Origin::Given(values) => values,
            Origin::Chosen { of, keep, values } => values.get_or_init(|| of.source().select(keep)),
        }
    }

    /// The changes in packing, for squared distances or for inner products.
    fn change(&self, distance: bool) -> Change {
        Change { shift: self.frame.shift.clone(), weights: self.frame.packing.weights.clone(), distance }
    }

    /// The layout for single rows; parts of other vectors have theirs where these are reals.
    fn layout(&self, distance: bool) -> Option<Layout> {
        let look = || match &self.source {
            Origin::Chosen { of, .. } if of.is_real(distance) => Some(Layout::Real),
            _ => Layout::of(self.source(), &self.change(distance)),
        };
        *self.layout.get_or_init(look)
    }

    /// True if the vectors are dense and wide, and no grid holds them: parts of them are packed from the source.
    fn is_real(&self, distance: bool) -> bool {
        let wide = !self.frame.sparse && self.frame.width >= MIN_WIDTH_OF_PARTS;
        wide && matches!(self.layout(distance), Some(Layout::Real))
    }

    /// The vectors packed for single rows, of squared distances or of inner products.
    pub(crate) fn lines(&self, distance: bool) -> Option<&Lines> {
        let pack = || {
            let (layout, change) = (self.layout(distance)?, self.change(distance));
            match &self.source {
                Origin::Chosen { of, keep, .. } if of.is_real(distance) => {
                    let real = Real::new(of.source(), Some(keep.clone()), &change)?;
                    // all of them in another order have the longest among them
                    let longest = if keep.len() == of.len() { None } else { of.lines(distance)?.longest() };
                    Some(Lines::Real(match longest {
                        Some(longest) => real.among(longest as f32),
                        None => real,
                    }))
                }
                _ => Lines::new(layout, self.source(), &change),
            }
        };
        self.lines.get_or_init(pack).as_ref()
    }

    /// True if there is a layout for single rows.
    pub(crate) fn has_lines(&self, distance: bool) -> bool {
        self.layout(distance).is_some()
    }

    /// The most rows that gain from being computed at once, and the number that are best computed at once.
    pub(crate) fn rows_at_once(&self, distance: bool) -> (usize, usize) {
        // reals say so before they are packed
        let known = self.layout(distance).and_then(|layout| layout.rows_at_once(self.frame.width));
        known.or_else(|| self.lines(distance).map(|lines| (lines.panel_rows(), lines.group()))).unwrap_or((1, 1))
    }

    /// Dense vectors in panels of squared distances, for rows of other collections; none of sparse ones.
    pub(crate) fn panels(&self) -> Option<&Real> {
        let pack = || {
            if self.frame.sparse || !is_finite(self.source()) {
                None
            } else {
                Real::new(self.source(), None, &self.change(true))
            }
        };
        self.panels.get_or_init(pack).as_ref()
    }

    /// Some vectors in f32, moved and weighted, width numbers each, with their squared lengths; false if they are sparse.
    pub(crate) fn narrow(&self, rows: Range<usize>, vectors: &mut Vec<f32>, squares: &mut Vec<f32>) -> bool {
        vectors.clear();
        squares.clear();
        let frame = (self.frame.shift.as_ref().map(|shift| shift.as_slice()), self.weights());
        match self.source() {
            Values::Dense(r) => rows.for_each(|i| squares.push(narrow_row(r.row(i), frame, vectors))),
            Values::Dense32(r) => rows.for_each(|i| squares.push(narrow_row(r.row(i), frame, vectors))),
            _ => return false,
        }
        true
    }

    /// True if they are zeros and ones that can be counted.
    pub(crate) fn is_countable(&self) -> bool {
        // a weight for each coordinate makes other numbers of them
        let alike = self.weights().is_none_or(|w| w.len() == 1);
        alike && *self.countable.get_or_init(|| Counted::holds(self.source()))
    }

    /// The layout for counting common features.
    pub(crate) fn counted(&self, distance: bool) -> Option<&Counted> {
        match self.lines(distance) {
            Some(Lines::Counted(counted)) if self.is_countable() => Some(counted),
            _ => None,
        }
    }

    /// The number of coordinates of all vectors together.
    pub(crate) fn numbers(&self) -> usize {
        self.len().saturating_mul(self.frame.width)
    }

    /// The number of vectors.
    pub(crate) fn len(&self) -> usize {
        match &self.source {
            Origin::Given(values) => values.len(),
            Origin::Chosen { keep, .. } => keep.len(),
        }
    }

    /// The vectors at the given places, prepared alike.
    fn select(self: &Arc<Self>, keep: &[usize]) -> Self {
        let chosen = || match &self.source {
            Origin::Given(_) => (Arc::clone(self), keep.to_vec()),
            Origin::Chosen { of, keep: places, .. } => (Arc::clone(of), keep.iter().map(|&i| places[i]).collect()),
        };
        let lines = match (self.layout.get(), self.lines.get()) {
            // reals are packed from the source when rows are asked for
            (Some(Some(Layout::Real)), _) if !self.frame.sparse && self.frame.width >= MIN_WIDTH_OF_PARTS => {
                OnceLock::new()
            }
            // what was packed for rows is repacked from there, far faster than from the source
            (_, Some(Some(lines))) => OnceLock::from(Some(lines.select(keep))),
            _ => {
                let source = Origin::Given(self.source().select(keep));
                return Self::in_frame(source, Arc::clone(&self.frame), self.given);
            }
        };
        let (of, keep) = chosen();
        let source = Origin::Chosen { of, keep, values: OnceLock::new() };
        let (layout, countable) = (self.layout.clone(), self.countable.clone());
        Self { layout, lines, countable, ..Self::in_frame(source, Arc::clone(&self.frame), self.given) }
    }

    fn weights(&self) -> Option<&[f64]> {
        self.frame.packing.weights.as_ref().map(|w| w.as_slice())
    }

    /// The mean of each coordinate of dense vectors; `None` for sparse ones.
    pub(crate) fn means(values: &Values) -> Option<Vec<f64>> {
        fn of<S: Scalar>(rows: &Rows<S>) -> Vec<f64> {
            let (mut means, n) = (vec![0.0; rows.width()], rows.len());
            let add = |first: usize, means: &mut [f64]| {
                for i in 0..n {
                    for (m, x) in means.iter_mut().zip(&rows.row(i)[first..]) {
                        *m += x.wide();
                    }
                }
                means.iter_mut().for_each(|m| *m /= n.max(1) as f64);
            };
            if rows.values().len() < MIN_NUMBERS_FOR_THREADS {
                add(0, &mut means);
            } else {
                // each column adds up its numbers in their order, whoever does it
                parallel::strips(&mut means, COLUMNS_OF_A_MEAN, |strip, means| add(strip * COLUMNS_OF_A_MEAN, means));
            }
            means
        }
        match values {
            Values::Dense(r) => Some(of(r)),
            Values::Dense32(r) => Some(of(r)),
            _ => None,
        }
    }
}

impl Collection for Packed {
    fn count(&self) -> usize {
        self.len()
    }

    fn chosen(self: &Arc<Self>, keep: &[usize]) -> Arc<Self> {
        Arc::new(self.select(keep))
    }
}

impl Prepared for Packed {
    fn len(&self) -> usize {
        self.len()
    }

    fn select(self: Arc<Self>, keep: &[usize]) -> Arc<dyn Prepared> {
        self.chosen(keep)
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
