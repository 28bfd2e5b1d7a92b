//! Matrices whose entries depend on one number for the row and one for the column: normalisation, a Gaussian on top of any
//! kernel, and centring in feature space.
//!
//! ```text
//! normalised   κ(x, z) / √(κ(x, x) κ(z, z))
//! radial       exp(−γ (κ(x, x) − 2κ(x, z) + κ(z, z)))
//! centred      κ(x, z) − mean_l κ(x, x_l) − mean_l κ(x_l, z) + mean_kl κ(x_k, x_l)
//! ```
//!
//! # Source
//! Herbrich, *Learning Kernel Classifiers*, (2.22) and Thm. 2.20 (K8, K9); Shawe-Taylor & Cristianini, *Kernel Methods for
//! Pattern Analysis*, Alg. 5.3. New examples are centred by the means of the training examples, which therefore belong to
//! the model.

use crate::data::Scalar;
use crate::gram::{BlockMut, Gram, Pick, Precision, RowAccess, Side, apply};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// The means of a training matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Centring {
    /// mean_l κ(x_l, x_j) for every training example.
    pub means: Vec<f64>,
    /// The mean of them over l.
    pub total: f64,
    /// The training examples l whose centre it is; none for that of all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub part: Vec<usize>,
}

impl Centring {
    /// Learns the means of a square training matrix, streaming it once.
    pub fn learn(gram: &dyn Gram) -> Self {
        let means = row_means(gram);
        let total = means.iter().sum::<f64>() / means.len().max(1) as f64;
        Self { means, total, part: Vec::new() }
    }

    /// The same for the centre of some of the examples.
    pub fn learn_of(gram: &Arc<dyn Gram>, part: &[usize]) -> Self {
        let means = row_means_of(gram, part);
        let total = part.iter().map(|&l| means[l]).sum::<f64>() / part.len().max(1) as f64;
        Self { means, total, part: part.to_vec() }
    }
}

/// The mean of every row.
pub(crate) fn row_means(gram: &dyn Gram) -> Vec<f64> {
    let (n, m) = gram.shape();
    let mut means = vec![0.0; n];
    apply(gram, &vec![1.0; m], 1, &mut means);
    means.iter_mut().for_each(|v| *v /= m.max(1) as f64);
    means
}

/// The mean of every row over some columns.
fn row_means_of(gram: &Arc<dyn Gram>, part: &[usize]) -> Vec<f64> {
    let rows: Vec<usize> = (0..gram.shape().0).collect();
    row_means(Arc::clone(gram).restrict(&rows, part).as_ref())
}

/// The function of an entry and of the numbers of its row and column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Adjustment {
    /// Multiplied by both: 1/√κ(x, x).
    Normalise,
    /// exp(−γ (row − 2 entry + column)): κ(x, x).
    Radial(f64),
    /// Both subtracted and the total added: means.
    Centre(f64),
}

/// A matrix whose entries depend on one number for the row and one for the column.
pub struct Adjusted {
    inner: Arc<dyn Gram>,
    how: Adjustment,
    rows: Arc<[f64]>,
    cols: Arc<[f64]>,
}

impl Adjusted {
    /// Normalised; `None` if the matrix does not know the self-similarities. An example of norm zero keeps a zero row.
    pub fn normalised(inner: Arc<dyn Gram>) -> Option<Self> {
        let (rows, cols) = (inner.self_similarities(Side::Rows)?, inner.self_similarities(Side::Columns)?);
        Some(Self::scaled(inner, Self::inverse_norms(rows), Self::inverse_norms(cols)))
    }

    /// 1/√κ(x, x) from self-similarities; zero for an example of norm zero.
    pub fn inverse_norms(own: Vec<f64>) -> Arc<[f64]> {
        own.into_iter().map(|s| if s > 0.0 { 1.0 / s.sqrt() } else { 0.0 }).collect()
    }

    /// Normalised by inverse norms that are known.
    pub fn scaled(inner: Arc<dyn Gram>, rows: Arc<[f64]>, cols: Arc<[f64]>) -> Self {
        Self { inner, how: Adjustment::Normalise, rows, cols }
    }

    /// A Gaussian of width `gamma` in the feature space of the matrix; `None` if it does not know the self-similarities.
    pub fn radial(inner: Arc<dyn Gram>, gamma: f64) -> Option<Self> {
        let (rows, cols) = (inner.self_similarities(Side::Rows)?, inner.self_similarities(Side::Columns)?);
        Some(Self::radial_of(inner, gamma, rows.into(), cols.into()))
    }

    /// The same with self-similarities that are known.
    pub fn radial_of(inner: Arc<dyn Gram>, gamma: f64, rows: Arc<[f64]>, cols: Arc<[f64]>) -> Self {
        Self { inner, how: Adjustment::Radial(gamma), rows, cols }
    }

    /// The centred training matrix.
    pub fn centred(inner: Arc<dyn Gram>, centring: &Centring) -> Self {
        let means: Arc<[f64]> = centring.means.as_slice().into();
        Self::centred_of(inner, centring.total, Arc::clone(&means), means)
    }

    /// The centred matrix between new examples and all training examples; streams `inner` once for the means of its rows.
    pub fn centred_cross(inner: Arc<dyn Gram>, centring: &Centring) -> Self {
        let rows = match centring.part.as_slice() {
            [] => row_means(inner.as_ref()),
            part => row_means_of(&inner, part),
        };
        Self::centred_of(inner, centring.total, rows.into(), centring.means.as_slice().into())
    }

    /// The centred matrix with means that are known.
    pub fn centred_of(inner: Arc<dyn Gram>, total: f64, rows: Arc<[f64]>, cols: Arc<[f64]>) -> Self {
        Self { inner, how: Adjustment::Centre(total), rows, cols }
    }

    /// Adjusts the values of one row, in place.
    fn adjust<S: Scalar>(&self, i: usize, cols: &Pick<'_>, values: &mut [S]) {
        let row = self.rows[i];
        let entries = values.iter_mut().zip(cols.iter().map(|j| self.cols[j]));
        match self.how {
            Adjustment::Normalise => entries.for_each(|(o, col)| *o = S::narrow(o.wide() * row * col)),
            Adjustment::Radial(gamma) => entries.for_each(|(o, col)| {
                // rounding can make a distance slightly negative
                let squared = (row - 2.0 * o.wide() + col).at_least(0.0);
                *o = S::narrow(Scalar::exp(-gamma * squared));
            }),
            Adjustment::Centre(total) => entries.for_each(|(o, col)| *o = S::narrow(o.wide() - row - col + total)),
        }
    }
}

impl RowAccess for Adjusted {
    fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]) {
        if self.how == Adjustment::Normalise {
            self.inner.row32(row, cols.clone(), out);
            self.adjust(row, &Pick::Range(cols), out);
        } else {
            let width = cols.len();
            self.block32(Pick::Range(row..row + 1), Pick::Range(cols), BlockMut::new(out, 1, width));
        }
    }

    fn rows32(&self, rows: &[usize], cols: Range<usize>, lines: &mut [&mut [f32]]) {
        if self.how == Adjustment::Normalise {
            self.inner.rows32(rows, cols.clone(), lines);
            for (&row, line) in rows.iter().zip(lines) {
                self.adjust(row, &Pick::Range(cols.clone()), line);
            }
        } else {
            rows.iter().zip(lines).for_each(|(&row, line)| self.row32(row, cols.clone(), line));
        }
    }

    fn gather32(&self, row: usize, cols: &[usize], out: &mut [f32]) {
        self.block32(Pick::List(&[row]), Pick::List(cols), BlockMut::new(out, 1, cols.len()));
    }

    fn row_group(&self) -> usize {
        if self.how == Adjustment::Normalise { self.inner.row_group() } else { 1 }
    }

    fn panel_rows(&self) -> usize {
        if self.how == Adjustment::Normalise { self.inner.panel_rows() } else { 1 }
    }

    fn row_error(&self) -> f64 {
        self.inner.row_error()
    }

    fn rows_are_expensive(&self) -> bool {
        self.inner.rows_are_expensive()
    }
}

impl Gram for Adjusted {
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, mut out: BlockMut<'_, f64>) {
        self.inner.block(rows.clone(), cols.clone(), out.reborrow());
        for (k, i) in rows.iter().enumerate() {
            self.adjust(i, &cols, out.row_mut(k));
        }
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, mut out: BlockMut<'_, f32>) {
        if self.how == Adjustment::Normalise {
            self.inner.block32(rows.clone(), cols.clone(), out.reborrow());
            for (k, i) in rows.iter().enumerate() {
                self.adjust(i, &cols, out.row_mut(k));
            }
            return;
        }
        // differences of entries cancel: they are taken in f64, and only the result is narrowed
        f64::scratch(|buffer| {
            buffer.resize(rows.len() * cols.len(), 0.0);
            self.block(rows.clone(), cols.clone(), BlockMut::new(buffer, rows.len(), cols.len()));
            for (k, line) in buffer.chunks(cols.len().max(1)).enumerate().take(rows.len()) {
                out.row_mut(k).iter_mut().zip(line).for_each(|(o, &v)| *o = v as f32);
            }
        });
    }

    fn rows(&self) -> Option<&dyn RowAccess> {
        Some(self)
    }

    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric()
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        let numbers = match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.cols,
        };
        Some(match self.how {
            Adjustment::Normalise => numbers.iter().map(|&f| if f > 0.0 { 1.0 } else { 0.0 }).collect(),
            Adjustment::Radial(_) => vec![1.0; numbers.len()],
            Adjustment::Centre(total) => {
                let own = self.inner.self_similarities(side)?;
                own.iter().zip(numbers.iter()).map(|(s, m)| s - 2.0 * m + total).collect()
            }
        })
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        Arc::new(Self {
            inner: Arc::clone(&self.inner).restrict(rows, cols),
            how: self.how,
            rows: rows.iter().map(|&i| self.rows[i]).collect(),
            cols: cols.iter().map(|&j| self.cols[j]).collect(),
        })
    }
}
