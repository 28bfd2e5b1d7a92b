//! Vectors in one precision, moved and weighted, as whole blocks of a matrix are computed from them.

use super::layouts::{Panels, SparseColumns};
use super::lines::Change;
use super::packed::{MIN_NUMBERS_FOR_THREADS, Stored, weight};
use crate::data::{Rows, Scalar, SparseRows, Values};
use crate::parallel;
use std::sync::{Arc, OnceLock};

/// Prepared vectors of one precision.
pub(crate) enum Store<S> {
    /// Dense; as they were given where nothing is changed.
    Dense { rows: Arc<Rows<S>>, squares: Vec<S>, panels: OnceLock<Panels<S>> },
    /// Sparse.
    Sparse { rows: SparseRows<S>, squares: Vec<S>, columns: OnceLock<SparseColumns<S>> },
}

/// Vectors that one thread prepares at a time.
const ROWS_OF_A_STRIP: usize = 256;

/// Vectors, moved and weighted, in one precision.
pub(super) fn prepare<S: Stored>(source: &Values, change: &Change) -> Store<S> {
    let unchanged = change.shift.is_none() && change.weights.is_none();
    if let Some(rows) = S::given(source).filter(|_| unchanged) {
        return Store::Dense { rows: Arc::clone(rows), squares: squares(rows), panels: OnceLock::new() };
    }
    match source {
        Values::Dense(r) => dense(r, change),
        Values::Dense32(r) => dense(r, change),
        Values::Sparse(r) => sparse(r, change),
        Values::Sparse32(r) => sparse(r, change),
        Values::Text(_) | Values::Index(_) | Values::Items(_) => {
            unreachable!("vector families are given vectors only")
        }
    }
}

fn dense<S: Scalar, T: Scalar>(source: &Rows<T>, change: &Change) -> Store<S> {
    let width = source.width();
    let mut rows = vec![S::default(); source.values().len()];
    let changed = |i: usize, row: &mut [S]| {
        for (j, (to, x)) in row.iter_mut().zip(source.row(i)).enumerate() {
            let mut x = x.wide();
            if let Some(shift) = change.shift() {
                x -= shift[j];
            }
            if let Some(weights) = change.weights() {
                x *= weight(weights, j);
            }
            *to = S::narrow(x);
        }
    };
    let size = (ROWS_OF_A_STRIP * width).max(1);
    let strip = |strip: usize, rows: &mut [S]| {
        let first = strip * ROWS_OF_A_STRIP;
        rows.chunks_exact_mut(width.max(1)).enumerate().for_each(|(k, row)| changed(first + k, row));
    };
    if rows.len() < MIN_NUMBERS_FOR_THREADS {
        rows.chunks_mut(size).enumerate().for_each(|(k, rows)| strip(k, rows));
    } else {
        parallel::strips(&mut rows, size, strip);
    }
    match Rows::new(rows, source.len(), width) {
        Some(rows) => {
            let squares = squares(&rows);
            Store::Dense { rows: Arc::new(rows), squares, panels: OnceLock::new() }
        }
        None => unreachable!("as many numbers as in the source"),
    }
}

fn sparse<S: Scalar, T: Scalar>(source: &SparseRows<T>, change: &Change) -> Store<S> {
    let mut rows = match change.weights() {
        Some(weights) if weights.len() > 1 => cut(source, weights.len()).convert::<S>(),
        _ => source.convert::<S>(),
    };
    if let Some(weights) = change.weights() {
        for c in rows.coordinates_mut() {
            c.value = S::narrow(c.value.wide() * weight(weights, c.index as usize));
        }
    }
    let squares =
        (0..rows.len()).map(|i| S::narrow(rows.row(i).iter().map(|c| c.value.wide() * c.value.wide()).sum())).collect();
    Store::Sparse { rows, squares, columns: OnceLock::new() }
}

/// ‖x‖² of each vector.
fn squares<S: Scalar>(rows: &Rows<S>) -> Vec<S> {
    let square = |i: usize| S::narrow(rows.row(i).iter().map(|x| x.wide() * x.wide()).sum());
    if rows.values().len() < MIN_NUMBERS_FOR_THREADS {
        return (0..rows.len()).map(square).collect();
    }
    let mut squares = vec![S::default(); rows.len()];
    parallel::strips(&mut squares, ROWS_OF_A_STRIP, |strip, squares| {
        let first = strip * ROWS_OF_A_STRIP;
        squares.iter_mut().enumerate().for_each(|(k, s)| *s = square(first + k));
    });
    squares
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
