//! Matrices that need κ(x, x): normalisation, and a Gaussian on top of any kernel.
//!
//! # Source
//! Herbrich, *Learning Kernel Classifiers*, (2.22) and Thm. 2.20 (K8, K9).

use crate::data::Scalar;
use crate::gram::{BlockMut, Gram, Pick, Precision, Side};
use std::sync::Arc;

/// κ(x, z) / √(κ(x, x) κ(z, z)); an example of norm zero keeps a zero row, never NaN.
pub struct Normalised {
    inner: Arc<dyn Gram>,
    rows: Vec<f64>,
    cols: Vec<f64>,
}

impl Normalised {
    /// Normalises a matrix; `None` if it does not know the self-similarities.
    pub fn new(inner: Arc<dyn Gram>) -> Option<Self> {
        let factors = |side| -> Option<Vec<f64>> {
            let own = inner.self_similarities(side)?;
            Some(own.into_iter().map(|s| if s > 0.0 { 1.0 / s.sqrt() } else { 0.0 }).collect())
        };
        let (rows, cols) = (factors(Side::Rows)?, factors(Side::Columns)?);
        Some(Self { inner, rows, cols })
    }

    fn compute<S: Precision>(&self, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, S>) {
        S::block(self.inner.as_ref(), rows.clone(), cols.clone(), out.reborrow());
        for (k, i) in rows.iter().enumerate() {
            for (o, j) in out.row_mut(k).iter_mut().zip(cols.iter()) {
                *o = S::narrow(o.wide() * self.rows[i] * self.cols[j]);
            }
        }
    }
}

impl Gram for Normalised {
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.compute(&rows, &cols, out);
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        self.compute(&rows, &cols, out);
    }

    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric()
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        let factors = match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.cols,
        };
        Some(factors.iter().map(|&f| if f > 0.0 { 1.0 } else { 0.0 }).collect())
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        Arc::new(Self {
            inner: Arc::clone(&self.inner).restrict(rows, cols),
            rows: rows.iter().map(|&i| self.rows[i]).collect(),
            cols: cols.iter().map(|&j| self.cols[j]).collect(),
        })
    }
}

/// exp(−γ (κ(x, x) − 2κ(x, z) + κ(z, z))): a Gaussian in the feature space of any kernel.
pub struct RadialOn {
    inner: Arc<dyn Gram>,
    gamma: f64,
    rows: Vec<f64>,
    cols: Vec<f64>,
}

impl RadialOn {
    /// A Gaussian of width `gamma` on a matrix; `None` if it does not know the self-similarities.
    pub fn new(inner: Arc<dyn Gram>, gamma: f64) -> Option<Self> {
        let (rows, cols) = (inner.self_similarities(Side::Rows)?, inner.self_similarities(Side::Columns)?);
        Some(Self { inner, gamma, rows, cols })
    }

    fn compute<S: Precision>(&self, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, S>) {
        S::block(self.inner.as_ref(), rows.clone(), cols.clone(), out.reborrow());
        for (k, i) in rows.iter().enumerate() {
            for (o, j) in out.row_mut(k).iter_mut().zip(cols.iter()) {
                // rounding can make a distance slightly negative
                let squared = (self.rows[i] - 2.0 * o.wide() + self.cols[j]).max(0.0);
                *o = S::narrow(Scalar::exp(-self.gamma * squared));
            }
        }
    }
}

impl Gram for RadialOn {
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.compute(&rows, &cols, out);
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        self.compute(&rows, &cols, out);
    }

    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric()
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        let count = match side {
            Side::Rows => self.rows.len(),
            Side::Columns => self.cols.len(),
        };
        Some(vec![1.0; count])
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        Arc::new(Self {
            inner: Arc::clone(&self.inner).restrict(rows, cols),
            gamma: self.gamma,
            rows: rows.iter().map(|&i| self.rows[i]).collect(),
            cols: cols.iter().map(|&j| self.cols[j]).collect(),
        })
    }
}
