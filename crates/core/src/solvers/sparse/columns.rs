//! The source of the columns of K, and the few of them that a master problem holds.

use crate::gram::{BlockMut, Gram, Pick, fill};
use crate::linalg::SolveError;
use crate::linalg::{gram_of_columns, multiply_add, transposed_multiply};
use crate::parallel;
use std::borrow::Cow;

/// Rows that one thread takes at a time; fixed, so that sums do not depend on the number of threads.
const STRIP: usize = 128;

/// Largest number of numbers whose product is computed by the calling thread: to wake another takes longer. The order
/// of the sums is the same.
const MAX_NUMBERS_FOR_ONE_THREAD: usize = 1 << 17;

/// K, n × m numbers that need be neither square nor symmetric.
#[derive(Clone, Copy)]
pub enum Columns<'a> {
    /// All of it, row by row.
    Stored {
        /// n × m numbers.
        matrix: &'a [f64],
        /// m.
        columns: usize,
    },
    /// Computed when asked for: the columns that are needed are kept, the others seen in passing.
    Streamed(&'a dyn Gram),
}

impl<'a> Columns<'a> {
    /// n and m.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Stored { matrix, columns } => (matrix.len() / (*columns).max(1), *columns),
            Self::Streamed(gram) => gram.shape(),
        }
    }

    /// All numbers, row by row, computed where they are not stored.
    pub(super) fn whole(&self) -> Cow<'a, [f64]> {
        match self {
            Self::Stored { matrix, .. } => Cow::Borrowed(matrix),
            Self::Streamed(gram) => {
                if let Some(values) = gram.stored() {
                    return Cow::Borrowed(values);
                }
                let mut values = vec![0.0; gram.shape().0 * gram.shape().1];
                fill(*gram, &mut values);
                Cow::Owned(values)
            }
        }
    }

    /// True if all columns can be read without computing them.
    pub(super) fn at_hand(&self) -> bool {
        match self {
            Self::Stored { .. } => true,
            Self::Streamed(gram) => gram.stored().is_some(),
        }
    }

    /// Some columns, side by side: n × `which` numbers row by row.
    pub(super) fn gather(&self, which: &[usize]) -> Vec<f64> {
        let ((n, m), s) = (self.shape(), which.len());
        let mut out = vec![0.0; n * s];
        if out.is_empty() {
            return out;
        }
        let stored = match self {
            Self::Stored { matrix, .. } => Some(*matrix),
            Self::Streamed(gram) => gram.stored(),
        };
        let one = |(strip, out): (usize, &mut [f64])| match (stored, self) {
            (Some(matrix), _) => {
                for (line, row) in out.chunks_exact_mut(s).zip(matrix[strip * STRIP * m..].chunks_exact(m)) {
                    line.iter_mut().zip(which).for_each(|(o, &j)| *o = row[j]);
                }
            }
            (None, Self::Streamed(gram)) => {
                let (top, count) = (strip * STRIP, out.len() / s);
                gram.block(Pick::Range(top..top + count), Pick::List(which), BlockMut::new(out, count, s));
            }
            (None, Self::Stored { .. }) => {}
        };
        if n * s <= MAX_NUMBERS_FOR_ONE_THREAD {
            out.chunks_mut(STRIP * s).enumerate().for_each(one);
        } else {
            parallel::strips(&mut out, STRIP * s, |strip, values| one((strip, values)));
        }
        out
    }

    /// Kᵀβ: what every column is priced by. One pass over K.
    ///
    /// # Errors
    /// If a value of K is not finite.
    pub(super) fn prices(&self, beta: &[f64]) -> Result<Vec<f64>, SolveError> {
        let (_, m) = self.shape();
        let prices = match self {
            Self::Stored { matrix, .. } => transposed(matrix, m, beta),
            Self::Streamed(gram) => match gram.stored() {
                Some(matrix) => transposed(matrix, m, beta),
                None => streamed(*gram, beta),
            },
        };
        match prices.iter().position(|p| !p.is_finite()) {
            Some(column) => Err(self.find(column)),
            None => Ok(prices),
        }
    }

    /// The place of a value that is not finite in a column that has one.
    fn find(&self, column: usize) -> SolveError {
        let row = self.gather(&[column]).iter().position(|x| !x.is_finite()).unwrap_or(0);
        SolveError::NotFinite { row: row + 1, column: column + 1 }
    }

    /// Refuses stored values that are not finite; streamed ones are seen when they are priced.
    pub(super) fn finite(&self) -> Result<(), SolveError> {
        let Self::Stored { matrix, columns } = self else { return Ok(()) };
        match matrix.iter().position(|x| !x.is_finite()) {
            Some(p) => Err(SolveError::NotFinite { row: p / columns + 1, column: p % columns + 1 }),
            None => Ok(()),
        }
    }
}

/// Xᵀv for rows of d numbers: strips side by side, summed in their order.
pub(super) fn transposed(x: &[f64], d: usize, v: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; d];
    if d == 0 {
        return out;
    }
    let one = |(rows, v): (&[f64], &[f64])| {
        let mut sums = vec![0.0; d];
        multiply_add(v, 1, v.len(), rows, d, &mut sums);
        sums
    };
    let parts: Vec<Vec<f64>> = if x.len() <= MAX_NUMBERS_FOR_ONE_THREAD {
        x.chunks(STRIP * d).zip(v.chunks(STRIP)).map(one).collect()
    } else {
        let place = |i: usize, size: usize, of: &[f64]| i * size..of.len().min((i + 1) * size);
        let count = x.len().div_ceil(STRIP * d).min(v.len().div_ceil(STRIP));
        parallel::map(count, |i| one((&x[place(i, STRIP * d, x)], &v[place(i, STRIP, v)])))
    };
    for part in parts {
        out.iter_mut().zip(&part).for_each(|(o, p)| *o += p);
    }
    out
}

/// X v for rows of d numbers.
pub(super) fn products(x: &[f64], d: usize, v: &[f64], n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n];
    let one = |(out, rows): (&mut [f64], &[f64])| multiply_add(rows, out.len(), d, v, 1, out);
    if d == 0 {
        return out;
    }
    if x.len() <= MAX_NUMBERS_FOR_ONE_THREAD {
        out.chunks_mut(STRIP).zip(x.chunks(STRIP * d)).for_each(one);
    } else {
        parallel::strips_beside((&mut out, STRIP), (x, STRIP * d), |out, rows| one((out, rows)));
    }
    out
}

/// XᵀX for n rows of d numbers; small ones by the calling thread.
pub(super) fn gram(x: &[f64], n: usize, d: usize) -> Vec<f64> {
    if n * d * d <= 1 << 22 { transposed_multiply(x, d, x, d) } else { gram_of_columns(x, n, d) }
}

/// Kᵀβ of a matrix that is computed in passing, a few rows at a time.
fn streamed(gram: &dyn Gram, beta: &[f64]) -> Vec<f64> {
    let (n, m) = gram.shape();
    let strips: Vec<usize> = (0..n).step_by(STRIP).collect();
    let mut out = vec![0.0; m];
    // a handful of strips at a time bounds the memory by a few rows
    for some in strips.chunks(16) {
        let parts: Vec<Vec<f64>> = parallel::map(some.len(), |i| {
            let top = some[i];
            let count = STRIP.min(n - top);
            let (mut rows, mut sums) = (vec![0.0; count * m], vec![0.0; m]);
            gram.block(Pick::Range(top..top + count), Pick::Range(0..m), BlockMut::new(&mut rows, count, m));
            multiply_add(&beta[top..top + count], 1, count, &rows, m, &mut sums);
            sums
        });
        for part in parts {
            out.iter_mut().zip(&part).for_each(|(o, p)| *o += p);
        }
    }
    out
}

/// The columns of a master problem with the rows that count, and a last column of ones where there is a bias.
pub(super) struct Working {
    /// n × (s + 1 or s) numbers, row by row.
    pub(super) values: Vec<f64>,
    /// n.
    pub(super) rows: usize,
    /// s, without the ones.
    pub(super) columns: usize,
    /// True if there is a column of ones.
    pub(super) bias: bool,
}

impl Working {
    /// Of n rows of s numbers, taking the chosen rows.
    pub(super) fn new(x: &[f64], s: usize, rows: &[usize], bias: bool) -> Self {
        let width = s + usize::from(bias);
        let mut values = vec![1.0; rows.len() * width];
        if width > 0 {
            for (line, &i) in values.chunks_exact_mut(width).zip(rows) {
                line[..s].copy_from_slice(&x[i * s..(i + 1) * s]);
            }
        }
        Self { values, rows: rows.len(), columns: s, bias }
    }

    /// s, and one more where there is a bias.
    pub(super) fn width(&self) -> usize {
        self.columns + usize::from(self.bias)
    }

    /// Kα + 1b, where the last of `a` is b.
    pub(super) fn scores(&self, a: &[f64]) -> Vec<f64> {
        products(&self.values, self.width(), a, self.rows)
    }

    /// Kᵀβ, and 1ᵀβ at the end where there is a bias.
    pub(super) fn prices(&self, beta: &[f64]) -> Vec<f64> {
        transposed(&self.values, self.width(), beta)
    }
}
