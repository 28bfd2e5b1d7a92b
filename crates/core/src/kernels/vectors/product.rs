//! Families whose kernel is a function of ⟨x, y⟩, ‖x‖² and ‖y‖²: whole blocks by one matrix product.

use super::Packed;
use super::cancellation::Cancelled;
use super::layouts::{self, SparseColumns};
use super::lines::{Counted, Distances, Lines, Real};
use super::packed::Stored;
use super::store::Store;
use crate::data::{Scalar, SparseRows};
use crate::gram::between::{Between, Comparison};
use crate::gram::{BlockMut, PanelRows, Pick, Precision, RowAccess};
use crate::linalg::multiply_transposed;
use crate::vectorise::{Loops, vectorised};
use std::ops::Range;
use std::sync::Arc;

/// A kernel that is a function of the inner product and the two squared lengths.
pub(crate) trait ProductFamily: Send + Sync + Clone + 'static {
    /// True if the kernel sees only ‖x − y‖²: then one row is summed as (x − y)², which cancels nothing.
    const DISTANCE: bool;
    /// True if the squared lengths matter besides inner products: then the layouts for single rows, which do not know
    /// them, are not used.
    const LENGTHS: bool = false;
    /// Turns inner products of one row into kernel values, in place.
    fn finish<S: Scalar>(&self, products: &mut [S], square: S, squares: &[S]);
    /// Turns squared distances, or inner products where `DISTANCE` is false, into kernel values, in place.
    fn finish_alone<S: Scalar>(&self, values: &mut [S]);
    /// κ(x, x) for a squared length.
    fn own(&self, square: f64) -> f64;
}

/// The comparison by such a kernel.
#[derive(Clone)]
pub(crate) struct Product<F>(F);

/// The matrix of such a kernel between two collections. Among the same examples its diagonal is exact.
pub(crate) type ProductGram<F> = Between<Product<F>>;

/// Rows of sparse vectors that are compared at once with each column.
const SPARSE_ROWS: usize = 16;
/// So few sparse vectors are compared one by one: sixteen at once would be mostly empty. Products are added up in the order of
/// the coordinates either way, so that one vector alone has the bits that it has among others.
const MAX_ROWS_ONE_BY_ONE: usize = SPARSE_ROWS / 2;

impl<F: ProductFamily> ProductGram<F> {
    pub(crate) fn of(family: F, rows: Arc<Packed>, cols: Arc<Packed>) -> Self {
        Self::new(Product(family), rows, cols)
    }

    fn compute<S: Precision + Stored>(&self, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, S>) {
        let stores = (S::store(&self.rows), S::store(&self.cols));
        match stores {
            (Store::Dense { rows: a, squares: na, .. }, Store::Dense { rows: b, squares: nb, .. }) => {
                let d = a.width();
                let stride = out.stride();
                with_rows(a.values(), d, rows, |a| {
                    with_rows(b.values(), d, cols, |b| {
                        if d == 0 {
                            (0..out.rows()).for_each(|i| out.row_mut(i).fill(S::default()));
                        } else {
                            multiply_transposed(a, b, d, out.values_mut(), stride);
                        }
                    });
                });
                self.finish_block(rows, cols, (na, nb), stores, &mut out);
            }
            (Store::Sparse { rows: a, squares: na, .. }, Store::Sparse { rows: b, squares: nb, columns }) => {
                match (self.counted(), cols) {
                    (Some(counted), Pick::Range(range)) => {
                        rows.iter().enumerate().for_each(|(k, i)| counted.products(a.row(i), range, out.row_mut(k)));
                    }
                    (None, Pick::Range(range)) if a.len() <= MAX_ROWS_ONE_BY_ONE => {
                        let columns = columns.get_or_init(|| SparseColumns::new(b));
                        rows.iter().enumerate().for_each(|(k, i)| columns.row(a.row(i), range, out.row_mut(k)));
                    }
                    _ => sparse_products(a, b, rows, cols, &mut out),
                }
                self.finish_block(rows, cols, (na, nb), stores, &mut out);
            }
            _ => unreachable!("both sides are packed alike"),
        }
    }

    /// The layout for single rows; only among the same examples.
    fn lines(&self) -> Option<&Lines> {
        if self.same() && !F::LENGTHS { self.cols.lines(F::DISTANCE) } else { None }
    }

    /// The most rows that gain from being computed at once, and the number that are best computed at once.
    fn rows_at_once(&self) -> (usize, usize) {
        if self.same() && !F::LENGTHS { self.cols.rows_at_once(F::DISTANCE) } else { (1, 1) }
    }

    /// The columns in the layout for counting, where both sides are zeros and ones.
    fn counted(&self) -> Option<&Counted> {
        let both = self.rows.is_countable() && self.cols.is_countable();
        if both { self.cols.counted(F::DISTANCE) } else { None }
    }

    fn line_rows(&self, packed: &Lines, rows: &[usize], cols: &Range<usize>, lines: &mut [&mut [f32]]) {
        let by = match packed.longest() {
            Some(longest) if product_error(&self.how.0, longest) <= MAX_KERNEL_ERROR => Distances::Products,
            _ => Distances::Differences,
        };
        packed.rows(rows, cols, lines, by, &|line| vectorised(FinishLine { family: &self.how.0, line }));
        rows.iter().zip(lines).for_each(|(&row, line)| self.own_place(row, cols, line));
    }

    /// Writes κ(x, x) where a row of distances meets its own example: in f32 a profile at zero may round otherwise.
    fn own_place(&self, row: usize, cols: &Range<usize>, line: &mut [f32]) {
        if self.same() && F::DISTANCE && cols.contains(&row) {
            line[row - cols.start] = self.how.0.own(0.0) as f32;
        }
    }

    fn finish_block<S: Scalar>(
        &self,
        rows: &Pick<'_>,
        cols: &Pick<'_>,
        (na, nb): (&[S], &[S]),
        stores: (&Store<S>, &Store<S>),
        out: &mut BlockMut<'_, S>,
    ) {
        let cancelled = Cancelled::find(&self.how.0, (rows, cols), (na, nb), out);
        let gathered: Vec<S>;
        let nb = match cols {
            Pick::Range(range) => &nb[range.clone()],
            Pick::List(list) => {
                gathered = list.iter().map(|&j| nb[j]).collect();
                &gathered
            }
        };
        let exact = self.same() && (F::DISTANCE || F::LENGTHS);
        vectorised(Finish { family: &self.how.0, rows, squares: na, others: nb, out: out.reborrow() });
        cancelled.mend(&self.how.0, (rows, cols), stores, out);
        if exact {
            let zero = if F::DISTANCE { self.how.0.own(0.0) } else { f64::NAN };
            for (k, i) in rows.iter().enumerate() {
                let own = S::narrow(if F::DISTANCE { zero } else { self.how.0.own(na[i].wide()) });
                match cols {
                    Pick::Range(range) if range.contains(&i) => out.row_mut(k)[i - range.start] = own,
                    Pick::Range(_) => {}
                    Pick::List(list) => {
                        for (o, &j) in out.row_mut(k).iter_mut().zip(*list) {
                            if i == j {
                                *o = own;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Error of a squared distance from products in f32, in parts of the largest ‖x‖².
const PRODUCT_ERROR: f64 = 1.25e-6;
/// Largest error of κ for which distances are taken from products, in parts of its size.
const MAX_KERNEL_ERROR: f64 = 2e-5;

/// The largest error of κ in parts of its size, if squared distances come from products. It changes most where examples meet.
fn product_error<F: ProductFamily>(family: &F, longest: f64) -> f64 {
    let mut values = [0.0, PRODUCT_ERROR * longest, 4.0 * longest];
    family.finish_alone(&mut values);
    let [at_zero, near, far] = values;
    (near - at_zero).abs() / at_zero.abs().max(far.abs())
}

/// Distances or products of one row become kernel values.
struct FinishLine<'a, F> {
    family: &'a F,
    line: &'a mut [f32],
}

impl<F: ProductFamily> Loops for FinishLine<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.family.finish_alone(self.line);
    }
}

/// Lends the picked rows as one block: in place for a range, gathered for a list.
fn with_rows<S: Precision>(values: &[S], d: usize, pick: &Pick<'_>, work: impl FnOnce(&[S])) {
    match pick {
        Pick::Range(range) => work(&values[range.start * d..range.end * d]),
        Pick::List(list) => S::scratch(|buffer| {
            buffer.clear();
            for &i in *list {
                buffer.extend_from_slice(&values[i * d..(i + 1) * d]);
            }
            work(buffer);
        }),
    }
}

/// Inner products of sparse vectors. Sixteen rows at a time are scattered into a dense buffer, feature by feature, so that
/// every stored coordinate of a column is one vector operation for all sixteen.
fn sparse_products<S: Precision>(
    a: &SparseRows<S>,
    b: &SparseRows<S>,
    rows: &Pick<'_>,
    cols: &Pick<'_>,
    out: &mut BlockMut<'_, S>,
) {
    let width = a.width().max(b.width());
    S::zeros(width * SPARSE_ROWS, |buffer| {
        for first in (0..rows.len()).step_by(SPARSE_ROWS) {
            let count = SPARSE_ROWS.min(rows.len() - first);
            for lane in 0..count {
                for c in a.row(rows.at(first + lane)) {
                    buffer[c.index as usize * SPARSE_ROWS + lane] = c.value;
                }
            }
            let (panel, _) = buffer.as_chunks::<SPARSE_ROWS>();
            let part = out.part(first..first + count, 0..cols.len());
            vectorised(AgainstPanel { columns: b, cols, panel, out: part });
            for lane in 0..count {
                for c in a.row(rows.at(first + lane)) {
                    buffer[c.index as usize * SPARSE_ROWS + lane] = S::default();
                }
            }
        }
    });
}

/// Inner products of the scattered rows with every column, written to the rows of `out`.
struct AgainstPanel<'a, S> {
    columns: &'a SparseRows<S>,
    cols: &'a Pick<'a>,
    panel: &'a [[S; SPARSE_ROWS]],
    out: BlockMut<'a, S>,
}

impl<S: Scalar> Loops for AgainstPanel<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for k in 0..self.out.cols() {
            let mut sums = [S::default(); SPARSE_ROWS];
            for c in self.columns.row(self.cols.at(k)) {
                let line = &self.panel[c.index as usize];
                for lane in 0..SPARSE_ROWS {
                    sums[lane] += c.value * line[lane];
                }
            }
            for (lane, &sum) in sums.iter().enumerate().take(self.out.rows()) {
                self.out.row_mut(lane)[k] = sum;
            }
        }
    }
}

/// Inner products become kernel values, row by row.
struct Finish<'a, F, S> {
    family: &'a F,
    rows: &'a Pick<'a>,
    squares: &'a [S],
    others: &'a [S],
    out: BlockMut<'a, S>,
}

impl<F: ProductFamily, S: Scalar> Loops for Finish<'_, F, S> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for k in 0..self.out.rows() {
            self.family.finish(self.out.row_mut(k), self.squares[self.rows.at(k)], self.others);
        }
    }
}

/// One row of inner products or squared distances becomes kernel values.
struct FinishRow<'a, F> {
    family: &'a F,
    square: f32,
    others: &'a [f32],
    out: &'a mut [f32],
}

impl<F: ProductFamily> Loops for FinishRow<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.family.finish(self.out, self.square, self.others);
    }
}

impl<F: ProductFamily> RowAccess for ProductGram<F> {
    fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]) {
        if let Some(lines) = self.lines() {
            return self.line_rows(lines, &[row], &cols, &mut [out]);
        }
        let stores = (f32::store(&self.rows), f32::store(&self.cols));
        match stores {
            (Store::Dense { rows: a, squares: na, .. }, Store::Dense { rows: b, squares: nb, panels }) => {
                let panels = panels.get_or_init(|| layouts::Panels::new(b));
                let others = &nb[cols.clone()];
                vectorised(PanelRow {
                    family: &self.how.0,
                    x: a.row(row),
                    panels,
                    cols: cols.clone(),
                    square: na[row],
                    others,
                    out: &mut *out,
                });
                self.own_place(row, &cols, out);
            }
            (Store::Sparse { rows: a, squares: na, .. }, Store::Sparse { rows: b, squares: nb, columns }) => {
                columns.get_or_init(|| SparseColumns::new(b)).row(a.row(row), &cols, out);
                let (places, squares) = ((&Pick::Range(row..row + 1), &Pick::Range(cols.clone())), (&na[..], &nb[..]));
                let mut line = BlockMut::new(out, 1, cols.len());
                let cancelled = Cancelled::find(&self.how.0, places, squares, &mut line);
                vectorised(FinishRow {
                    family: &self.how.0,
                    square: na[row],
                    others: &nb[cols.clone()],
                    out: line.row_mut(0),
                });
                cancelled.mend(&self.how.0, places, stores, &mut line);
                self.own_place(row, &cols, out);
            }
            _ => unreachable!("both sides are packed alike"),
        }
    }

    fn rows32(&self, rows: &[usize], cols: Range<usize>, lines: &mut [&mut [f32]]) {
        match self.lines() {
            Some(packed) => self.line_rows(packed, rows, &cols, lines),
            None => rows.iter().zip(lines).for_each(|(&row, line)| self.row32(row, cols.clone(), line)),
        }
    }

    fn gather32(&self, row: usize, cols: &[usize], out: &mut [f32]) {
        self.compute(&Pick::List(&[row]), &Pick::List(cols), BlockMut::new(out, 1, cols.len()));
    }

    fn row_group(&self) -> usize {
        self.rows_at_once().1
    }

    fn panel_rows(&self) -> usize {
        self.rows_at_once().0
    }

    fn row_error(&self) -> f64 {
        // only squared distances are taken from products
        let error = self.lines().and_then(Lines::longest).map(|longest| product_error(&self.how.0, longest));
        error.filter(|error| *error <= MAX_KERNEL_ERROR).unwrap_or(0.0)
    }

    fn rows_are_expensive(&self) -> bool {
        !(self.same() && !F::LENGTHS && self.cols.has_lines(F::DISTANCE))
    }
}

impl<F: ProductFamily> Comparison for Product<F> {
    type Side = Packed;

    fn block(between: &Between<Self>, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f64>) {
        between.compute(rows, cols, out);
    }

    fn block32(between: &Between<Self>, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f32>) {
        between.compute(rows, cols, out);
    }

    fn own(&self, side: &Arc<Packed>) -> Vec<f64> {
        if F::DISTANCE {
            return vec![self.0.own(0.0); side.len()];
        }
        let (Store::Dense { squares, .. } | Store::Sparse { squares, .. }) = f64::store(side);
        squares.iter().map(|&s| self.0.own(s)).collect()
    }

    fn panels(between: &Between<Self>, error: f64) -> Option<Box<dyn PanelRows + '_>> {
        let pays = between.cols.numbers() >= MIN_NUMBERS_FOR_PANELS;
        if !(F::DISTANCE && pays && !between.same() && error >= DIFFERENCE_ERROR) {
            return None;
        }
        let packed = between.cols.panels()?;
        // vectors up to twice as long as the longest of the columns may have products
        let farthest = 4.0 * packed.longest().unwrap_or(f64::INFINITY);
        let by = if product_error(&between.how.0, farthest) <= error.min(MAX_KERNEL_ERROR) {
            Distances::Products
        } else {
            Distances::Differences
        };
        Some(Box::new(PanelsBetween { between, packed, by, farthest: farthest as f32 }))
    }

    fn rows(between: &Between<Self>) -> Option<&dyn RowAccess> {
        Some(between)
    }
}

/// Fewest coordinates of all columns together for which f32 is worth its errors.
const MIN_NUMBERS_FOR_PANELS: usize = 1 << 14;
/// Error of κ from differences in f32, in parts of its size.
const DIFFERENCE_ERROR: f64 = 1e-6;

/// The columns in panels, for the rows of another collection.
struct PanelsBetween<'a, F: ProductFamily> {
    between: &'a ProductGram<F>,
    packed: &'a Real,
    by: Distances,
    /// Largest ‖x‖² of which distances come from products.
    farthest: f32,
}

impl<F: ProductFamily> PanelRows for PanelsBetween<'_, F> {
    fn rows32(&self, rows: Range<usize>, cols: Range<usize>, lines: &mut [&mut [f32]]) {
        let family = &self.between.how.0;
        let finish = |line: &mut [f32]| vectorised(FinishLine { family, line });
        f32::scratch(|vectors| {
            let mut squares = Vec::with_capacity(rows.len());
            let dense = self.between.rows.narrow(rows, vectors, &mut squares);
            debug_assert!(dense, "the columns are dense, and both are packed alike");
            let products = self.by == Distances::Products;
            if !products || squares.iter().all(|square| *square <= self.farthest) {
                return self.packed.rows_of_others(vectors, &squares, &cols, lines, self.by, &finish);
            }
            // a vector that is far away has differences, whatever stands beside it
            let width = vectors.len() / squares.len().max(1);
            for (k, line) in lines.iter_mut().enumerate() {
                let by = if squares[k] <= self.farthest { self.by } else { Distances::Differences };
                let vector = &vectors[k * width..(k + 1) * width];
                self.packed.rows_of_others(vector, &squares[k..=k], &cols, std::slice::from_mut(line), by, &finish);
            }
        });
    }
}

/// One dense row against packed columns: Σ (x − y)² or Σ x y, a panel at a time, then the kernel.
struct PanelRow<'a, F> {
    family: &'a F,
    x: &'a [f32],
    panels: &'a layouts::Panels<f32>,
    cols: Range<usize>,
    square: f32,
    others: &'a [f32],
    out: &'a mut [f32],
}

impl<F: ProductFamily> Loops for PanelRow<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        panel_row::<F>(self.x, self.panels, self.cols, self.out);
        if F::DISTANCE {
            self.family.finish_alone(self.out);
        } else {
            self.family.finish(self.out, self.square, self.others);
        }
    }
}

#[inline(always)]
fn panel_row<F: ProductFamily>(x: &[f32], panels: &layouts::Panels<f32>, cols: Range<usize>, out: &mut [f32]) {
    const LANES: usize = <f32 as Scalar>::LANES;
    let mut done = cols.start;
    while done < cols.end {
        let (p, lane) = (done / LANES, done % LANES);
        let count = (LANES - lane).min(cols.end - done);
        let (lines, _) = panels.panel(p).as_chunks::<LANES>();
        let mut sums = [0.0_f32; LANES];
        for (&x, line) in x.iter().zip(lines) {
            for l in 0..LANES {
                if F::DISTANCE {
                    let difference = x - line[l];
                    sums[l] += difference * difference;
                } else {
                    sums[l] += x * line[l];
                }
            }
        }
        out[done - cols.start..done - cols.start + count].copy_from_slice(&sums[lane..lane + count]);
        done += count;
    }
}
