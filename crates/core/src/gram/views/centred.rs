//! Centring in feature space, by the means of the training examples.
//!
//! κ̃(x, z) = κ(x, z) − mean_l κ(x, x_l) − mean_l κ(x_l, z) + mean_kl κ(x_k, x_l)
//!
//! # Source
//! Shawe-Taylor & Cristianini, *Kernel Methods for Pattern Analysis*, Alg. 5.3. New examples are centred by the means of
//! the training examples, which therefore belong to the model.

use crate::gram::{BlockMut, Gram, Pick, Precision, Side, apply};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The means of a training matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Centring {
    /// mean_l κ(x_l, x_j) for every training example.
    pub means: Vec<f64>,
    /// The mean of them all.
    pub total: f64,
}

impl Centring {
    /// Learns the means of a square training matrix, streaming it once.
    pub fn learn(gram: &dyn Gram) -> Self {
        let means = row_means(gram);
        let total = means.iter().sum::<f64>() / means.len().max(1) as f64;
        Self { means, total }
    }
}

/// The mean of every row.
fn row_means(gram: &dyn Gram) -> Vec<f64> {
    let (n, m) = gram.shape();
    let mut means = vec![0.0; n];
    apply(gram, &vec![1.0; m], 1, &mut means);
    means.iter_mut().for_each(|v| *v /= m.max(1) as f64);
    means
}

/// A centred matrix.
pub struct Centred {
    inner: Arc<dyn Gram>,
    rows: Vec<f64>,
    cols: Vec<f64>,
    total: f64,
}

impl Centred {
    /// The centred training matrix.
    pub fn training(inner: Arc<dyn Gram>, centring: &Centring) -> Self {
        Self { inner, rows: centring.means.clone(), cols: centring.means.clone(), total: centring.total }
    }

    /// The centred matrix between new examples and all training examples; streams `inner` once for the means of its rows.
    pub fn crossed(inner: Arc<dyn Gram>, centring: &Centring) -> Self {
        let rows = row_means(inner.as_ref());
        Self { inner, rows, cols: centring.means.clone(), total: centring.total }
    }

    fn compute<S: Precision>(&self, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, S>) {
        S::block(self.inner.as_ref(), rows.clone(), cols.clone(), out.reborrow());
        for (k, i) in rows.iter().enumerate() {
            for (o, j) in out.row_mut(k).iter_mut().zip(cols.iter()) {
                *o = S::narrow(o.wide() - self.rows[i] - self.cols[j] + self.total);
            }
        }
    }
}

impl Gram for Centred {
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
        let means = match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.cols,
        };
        let own = self.inner.self_similarities(side)?;
        Some(own.iter().zip(means).map(|(s, m)| s - 2.0 * m + self.total).collect())
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        Arc::new(Self {
            inner: Arc::clone(&self.inner).restrict(rows, cols),
            rows: rows.iter().map(|&i| self.rows[i]).collect(),
            cols: cols.iter().map(|&j| self.cols[j]).collect(),
            total: self.total,
        })
    }
}
