//! Blocks: rectangles of numbers, and which rows and columns they are of.

use super::Gram;
use crate::data::Scalar;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

/// A precision in which blocks are asked for.
pub trait Precision: Scalar {
    /// The block of a matrix in this precision.
    fn block(gram: &dyn Gram, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, Self>);
    /// The whole matrix in this precision.
    fn fill(gram: &dyn Gram, out: &mut [Self]);
    /// Lends a buffer of this thread, so that hot paths do not allocate. Its contents are those of the last use.
    fn scratch<R>(work: impl FnOnce(&mut Vec<Self>) -> R) -> R;
    /// Lends a buffer of `len` zeros of this thread; the work must leave zeros behind.
    fn zeros<R>(len: usize, work: impl FnOnce(&mut [Self]) -> R) -> R;
    /// The bytes of numbers, the least first, as files hold them.
    fn bytes(values: &[Self]) -> Cow<'_, [u8]>;
}

thread_local! {
    static SCRATCH: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) };
    static SCRATCH32: RefCell<Vec<Vec<f32>>> = const { RefCell::new(Vec::new()) };
    static ZEROS: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
    static ZEROS32: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

impl Precision for f64 {
    fn block(gram: &dyn Gram, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, Self>) {
        gram.block(rows, cols, out);
    }
    fn fill(gram: &dyn Gram, out: &mut [Self]) {
        gram.fill(out);
    }
    fn scratch<R>(work: impl FnOnce(&mut Vec<Self>) -> R) -> R {
        // views nest, so each level takes its own buffer
        let mut buffer = SCRATCH.with_borrow_mut(Vec::pop).unwrap_or_default();
        let result = work(&mut buffer);
        SCRATCH.with_borrow_mut(|all| all.push(buffer));
        result
    }
    fn zeros<R>(len: usize, work: impl FnOnce(&mut [Self]) -> R) -> R {
        let mut buffer = ZEROS.take();
        if buffer.len() < len {
            buffer.resize(len, 0.0);
        }
        let result = work(&mut buffer[..len]);
        ZEROS.set(buffer);
        result
    }
    fn bytes(values: &[Self]) -> Cow<'_, [u8]> {
        if cfg!(target_endian = "little") {
            Cow::Borrowed(bytemuck::cast_slice(values))
        } else {
            Cow::Owned(values.iter().flat_map(|v| v.to_le_bytes()).collect())
        }
    }
}

impl Precision for f32 {
    fn block(gram: &dyn Gram, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, Self>) {
        gram.block32(rows, cols, out);
    }
    fn fill(gram: &dyn Gram, out: &mut [Self]) {
        gram.fill32(out);
    }
    fn scratch<R>(work: impl FnOnce(&mut Vec<Self>) -> R) -> R {
        let mut buffer = SCRATCH32.with_borrow_mut(Vec::pop).unwrap_or_default();
        let result = work(&mut buffer);
        SCRATCH32.with_borrow_mut(|all| all.push(buffer));
        result
    }
    fn zeros<R>(len: usize, work: impl FnOnce(&mut [Self]) -> R) -> R {
        let mut buffer = ZEROS32.take();
        if buffer.len() < len {
            buffer.resize(len, 0.0);
        }
        let result = work(&mut buffer[..len]);
        ZEROS32.set(buffer);
        result
    }
    fn bytes(values: &[Self]) -> Cow<'_, [u8]> {
        if cfg!(target_endian = "little") {
            Cow::Borrowed(bytemuck::cast_slice(values))
        } else {
            Cow::Owned(values.iter().flat_map(|v| v.to_le_bytes()).collect())
        }
    }
}

/// Rows or columns of a matrix: a range, or a list.
#[derive(Clone, Debug)]
pub enum Pick<'a> {
    /// Consecutive ones; whole tiles need no gathering.
    Range(Range<usize>),
    /// Any, in any order.
    List(&'a [usize]),
}

impl Pick<'_> {
    /// The number of places.
    pub fn len(&self) -> usize {
        match self {
            Self::Range(r) => r.len(),
            Self::List(l) => l.len(),
        }
    }

    /// True if there is no place.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The k-th.
    #[inline(always)]
    pub fn at(&self, k: usize) -> usize {
        match self {
            Self::Range(r) => r.start + k,
            Self::List(l) => l[k],
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).map(|k| self.at(k))
    }
}

/// A rectangle of numbers, row by row, that is read.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a, S> {
    values: &'a [S],
    rows: usize,
    cols: usize,
    stride: usize,
}

impl<'a, S> Block<'a, S> {
    /// `rows × cols` numbers without gaps.
    ///
    /// # Panics
    /// If there are fewer numbers.
    pub fn new(values: &'a [S], rows: usize, cols: usize) -> Self {
        assert!(values.len() >= rows * cols, "a block of {rows} × {cols} needs as many numbers");
        Self { values, rows, cols, stride: cols }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// One row.
    pub fn row(&self, i: usize) -> &'a [S] {
        &self.values[i * self.stride..i * self.stride + self.cols]
    }
}

/// A rectangle of numbers, row by row, that is written.
#[derive(Debug)]
pub struct BlockMut<'a, S> {
    values: &'a mut [S],
    rows: usize,
    cols: usize,
    stride: usize,
}

impl<'a, S> BlockMut<'a, S> {
    /// `rows × cols` numbers without gaps.
    ///
    /// # Panics
    /// If there are fewer numbers.
    pub fn new(values: &'a mut [S], rows: usize, cols: usize) -> Self {
        Self::strided(values, rows, cols, cols)
    }

    /// `rows × cols` numbers whose rows start `stride` apart.
    ///
    /// # Panics
    /// If the last row does not fit.
    pub fn strided(values: &'a mut [S], rows: usize, cols: usize, stride: usize) -> Self {
        assert!(stride >= cols, "rows overlap");
        assert!(rows == 0 || values.len() >= (rows - 1) * stride + cols, "a block of {rows} × {cols} does not fit");
        Self { values, rows, cols, stride }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The distance between the starts of two rows.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The memory from the first number on.
    pub fn values_mut(&mut self) -> &mut [S] {
        self.values
    }

    /// One row.
    #[inline(always)]
    pub fn row_mut(&mut self, i: usize) -> &mut [S] {
        &mut self.values[i * self.stride..i * self.stride + self.cols]
    }

    /// The same block, lent for a shorter time.
    pub fn reborrow(&mut self) -> BlockMut<'_, S> {
        BlockMut { values: self.values, rows: self.rows, cols: self.cols, stride: self.stride }
    }

    /// The part at the given rows and columns.
    pub fn part(&mut self, rows: Range<usize>, cols: Range<usize>) -> BlockMut<'_, S> {
        assert!(rows.end <= self.rows && cols.end <= self.cols, "the part lies outside the block");
        let start = (rows.start * self.stride + cols.start).min(self.values.len());
        BlockMut::strided(&mut self.values[start..], rows.len(), cols.len(), self.stride)
    }
}
