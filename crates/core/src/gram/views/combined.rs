//! Sums and products of matrices, entry by entry.

use crate::gram::{BlockMut, Gram, Pick, Precision, RowAccess, Side};
use std::ops::Range;
use std::sync::Arc;

/// Combinations of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// Σ K_t.
    Sum,
    /// Π K_t, entry by entry (Schur).
    Product,
}

/// The sum or the entry-wise product of matrices of one shape.
pub struct Combined {
    how: Combine,
    terms: Vec<Arc<dyn Gram>>,
}

impl Combined {
    /// Combines at least one matrix.
    ///
    /// # Panics
    /// If there is none, or shapes differ: a formula always gives matrices of the same examples.
    pub fn new(how: Combine, terms: Vec<Arc<dyn Gram>>) -> Self {
        assert!(terms.windows(2).all(|p| p[0].shape() == p[1].shape()) && !terms.is_empty(), "matrices of one shape");
        Self { how, terms }
    }

    fn compute<S: Precision>(&self, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, S>) {
        S::block(self.terms[0].as_ref(), rows.clone(), cols.clone(), out.reborrow());
        S::scratch(|buffer| {
            buffer.resize(rows.len() * cols.len(), S::default());
            for term in &self.terms[1..] {
                S::block(term.as_ref(), rows.clone(), cols.clone(), BlockMut::new(buffer, rows.len(), cols.len()));
                for (i, line) in buffer.chunks(cols.len().max(1)).enumerate().take(rows.len()) {
                    let target = out.row_mut(i).iter_mut().zip(line);
                    match self.how {
                        Combine::Sum => target.for_each(|(o, &v)| *o += v),
                        Combine::Product => target.for_each(|(o, &v)| *o *= v),
                    }
                }
            }
        });
    }

    fn fold(&self, side: Side) -> Option<Vec<f64>> {
        let mut total = self.terms[0].self_similarities(side)?;
        for term in &self.terms[1..] {
            for (t, v) in total.iter_mut().zip(term.self_similarities(side)?) {
                match self.how {
                    Combine::Sum => *t += v,
                    Combine::Product => *t *= v,
                }
            }
        }
        Some(total)
    }
}

impl Combined {
    /// Adds or multiplies the values of one more term into those of the terms before.
    fn join(&self, line: &mut [f32], values: &[f32]) {
        let target = line.iter_mut().zip(values);
        match self.how {
            Combine::Sum => target.for_each(|(o, v)| *o += v),
            Combine::Product => target.for_each(|(o, v)| *o *= v),
        }
    }
}

impl RowAccess for Combined {
    fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]) {
        self.terms[0].row32(row, cols.clone(), out);
        f32::scratch(|buffer| {
            buffer.resize(cols.len(), 0.0);
            for term in &self.terms[1..] {
                term.row32(row, cols.clone(), buffer);
                self.join(out, buffer);
            }
        });
    }

    fn rows32(&self, rows: &[usize], cols: Range<usize>, lines: &mut [&mut [f32]]) {
        self.terms[0].rows32(rows, cols.clone(), lines);
        f32::scratch(|buffer| {
            buffer.resize(rows.len() * cols.len(), 0.0);
            for term in &self.terms[1..] {
                let mut parts: Vec<&mut [f32]> = buffer.chunks_mut(cols.len().max(1)).collect();
                term.rows32(rows, cols.clone(), &mut parts);
                lines.iter_mut().zip(&parts).for_each(|(line, values)| self.join(line, values));
            }
        });
    }

    fn gather32(&self, row: usize, cols: &[usize], out: &mut [f32]) {
        self.terms[0].gather32(row, cols, out);
        f32::scratch(|buffer| {
            buffer.resize(cols.len(), 0.0);
            for term in &self.terms[1..] {
                term.gather32(row, cols, buffer);
                self.join(out, buffer);
            }
        });
    }

    /// As many as the term that gains most from it.
    fn row_group(&self) -> usize {
        self.terms.iter().map(|t| t.row_group()).max().unwrap_or(1)
    }

    /// As many as the term that gains most from it.
    fn panel_rows(&self) -> usize {
        self.terms.iter().map(|t| t.panel_rows()).max().unwrap_or(1)
    }

    fn row_error(&self) -> f64 {
        self.terms.iter().map(|t| t.row_error()).sum()
    }

    fn rows_are_expensive(&self) -> bool {
        self.terms.iter().any(|t| t.rows_are_expensive())
    }
}

impl Gram for Combined {
    fn shape(&self) -> (usize, usize) {
        self.terms[0].shape()
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.compute(&rows, &cols, out);
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        self.compute(&rows, &cols, out);
    }

    fn rows(&self) -> Option<&dyn RowAccess> {
        Some(self)
    }

    fn is_symmetric(&self) -> bool {
        self.terms.iter().all(|t| t.is_symmetric())
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        self.fold(side)
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        let terms = self.terms.iter().map(|t| Arc::clone(t).restrict(rows, cols)).collect();
        Arc::new(Self { how: self.how, terms })
    }
}
