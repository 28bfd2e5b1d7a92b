//! The update by the columns of a block: C ∓ P Qᵀ for packed panels P and Q, strip by strip.
//!
//! # Source
//! Goto & van de Geijn (2008), Anatomy of high-performance matrix multiplication, ACM Trans. Math. Softw. 34.

use super::kernel::{COLUMNS, How, ROWS, alone, into_columns};
use super::panel::Panel;
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Lines of the left panel that stay in the second-level cache while the columns of a task pass.
const LINES: usize = 2304;

/// Up to 24 columns from a row on.
pub(super) struct Strip<'a> {
    pub(super) columns: Vec<&'a mut [f64]>,
    /// The micropanel that its columns are.
    pub(super) place: usize,
    /// The micropanel of its first row.
    pub(super) top: usize,
}

impl Strip<'_> {
    /// The micropanel behind its last row.
    fn end(&self) -> usize {
        self.top + self.columns[0].len().div_ceil(ROWS)
    }
}

/// What is computed.
#[derive(Clone)]
pub(super) enum Form {
    /// C − P Qᵀ for all entries.
    Rectangle,
    /// The lower triangle, with the micropanels of the block: by what it has to the entry, see `inverse.rs`.
    Triangle(Range<usize>),
}

impl Form {
    #[inline(always)]
    fn how(&self, row: usize, column: usize) -> How {
        match self {
            Form::Triangle(block) if row < block.start => How::Add,
            Form::Triangle(block) if row < block.end => How::Set,
            Form::Triangle(block) if block.contains(&column) => How::SetMinus,
            Form::Rectangle | Form::Triangle(_) => How::Subtract,
        }
    }
}

/// Updates some strips.
pub(super) struct Update<'a, 'b> {
    pub(super) left: Panel<'a>,
    pub(super) right: Panel<'a>,
    pub(super) form: Form,
    pub(super) strips: &'a mut [Strip<'b>],
}

impl WithSimd for Update<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { left, right, form, strips } = self;
        let some = (LINES / left.width).max(1);
        let first = strips.iter().map(|s| s.top).min().unwrap_or(0);
        let last = strips.iter().map(Strip::end).max().unwrap_or(0);
        for from in (first..last).step_by(some) {
            for strip in strips.iter_mut() {
                let (from, to) = (from.max(strip.top), (from + some).min(strip.end()));
                let (place, top) = (strip.place, strip.top);
                let right = right.micropanel(place);
                for (g, columns) in strip.columns.chunks_mut(COLUMNS).enumerate() {
                    for p in from..to {
                        let (row, how) = ((p - top) * ROWS, form.how(p, place));
                        let cut = p == place && matches!(form, Form::Triangle(_));
                        let whole = !cut && row + ROWS <= columns[0].len();
                        // eight columns next to each other in the nearest cache, all rows of the micropanels past them
                        if let (true, Ok(columns)) = (whole, <&mut [&mut [f64]; COLUMNS]>::try_from(&mut *columns)) {
                            into_columns(simd, left.micropanel(p), right, g * COLUMNS, how, columns, row);
                        } else {
                            let products = alone(simd, left.micropanel(p), right, g * COLUMNS);
                            for (c, (column, product)) in columns.iter_mut().zip(&products).enumerate() {
                                // nothing above the diagonal is touched
                                let above = if cut { g * COLUMNS + c } else { 0 };
                                for (to, p) in column[row..].iter_mut().zip(product).skip(above) {
                                    *to = how.of(*to, *p);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
