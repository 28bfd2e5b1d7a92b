//! Kernels as functions of their real parameters: derivative matrices, and sums with them that never store one.
//!
//! ```text
//! contraction    c_p = Σ_ij W_ij ∂κ(x_i, z_j)/∂θ_p        for all p at once, tile by tile
//! ```
//!
//! The gradient of the log evidence of a Gaussian process is such a contraction with W = ½(ααᵀ − K⁻¹), as is the gradient of any
//! function of a kernel matrix.
//!
//! # Source
//! Rasmussen & Williams, *Gaussian Processes for Machine Learning* (2006), (5.9), §5.4.1; the derivatives are those of each
//! kernel's own formula.

use super::vectors::{Packed, Packing};
use crate::data::{Rows, Scalar, SparseRows, Values};
use crate::gram::{BlockMut, Gram, Pick, Side, views::Submatrix};
use std::sync::{Arc, OnceLock};

/// Two collections of packed vectors.
pub(crate) type Pair = (Arc<Packed>, Arc<Packed>);

/// Two collections of examples that meet, and what was prepared of them: kept while only parameters change.
pub struct Sides {
    rows: Values,
    cols: Values,
    same: bool,
    /// Vectors moved to their centre, without factors for the coordinates.
    centred: OnceLock<Pair>,
    /// Vectors as they are.
    plain: OnceLock<Pair>,
}

impl Sides {
    /// The sides of a matrix; `same` says that they are the same examples in the same order.
    pub fn new(rows: Values, cols: Values, same: bool) -> Self {
        Self { rows, cols, same, centred: OnceLock::new(), plain: OnceLock::new() }
    }

    /// The examples of the rows.
    pub fn rows(&self) -> &Values {
        &self.rows
    }

    /// The examples of the columns.
    pub fn cols(&self) -> &Values {
        &self.cols
    }

    /// True if row i and column i are the same example.
    pub fn same(&self) -> bool {
        self.same
    }

    /// Packed vectors. Factors for the coordinates are parameters, so what they make of the data is not kept.
    pub(crate) fn pack(&self, centre: bool, weights: Option<Vec<f64>>) -> Pair {
        let fresh = |weights| {
            let right = Arc::new(Packed::first(&self.cols, Packing { centre, weights }));
            if self.same {
                return (Arc::clone(&right), right);
            }
            let left = Arc::new(right.like(&self.rows));
            // a sparse side makes the other one sparse
            Packed::pair(&left, &right, "").unwrap_or((left, right))
        };
        let (left, right) = match weights {
            Some(weights) => return fresh(Some(Arc::new(weights))),
            None if centre => self.centred.get_or_init(|| fresh(None)),
            None => self.plain.get_or_init(|| fresh(None)),
        };
        (Arc::clone(left), Arc::clone(right))
    }
}

/// A kernel met with two sides, as a function of its real parameters θ_p: those that its [`Params`](crate::params::Params) declare as
/// real, in their order, without those it names as fixed.
pub trait Derivatives: Send + Sync {
    /// The matrix of κ itself.
    fn gram(&self) -> Arc<dyn Gram>;

    /// Writes ∂κ/∂θ_p at the chosen rows and columns: the definition.
    fn partial(&self, p: usize, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f64>);

    /// Adds Σ_ij W_ij ∂κ_ij/∂θ_p over the chosen rows and columns to the p-th sum, for all parameters; `weights` are row by row.
    fn contract(&self, rows: &Pick<'_>, cols: &Pick<'_>, weights: &[f64], sums: &mut [f64]) {
        let mut tile = vec![0.0; weights.len()];
        for (p, sum) in sums.iter_mut().enumerate() {
            self.partial(p, rows, cols, BlockMut::new(&mut tile, rows.len(), cols.len()));
            *sum += crate::linalg::dot(weights, &tile);
        }
    }
}

/// The matrix of ∂κ/∂θ_p, not yet computed.
pub fn derivative_gram(of: Arc<dyn Derivatives>, p: usize) -> Arc<dyn Gram> {
    let gram = of.gram();
    Arc::new(Partial { of, p, shape: gram.shape(), symmetric: gram.is_symmetric() })
}

struct Partial {
    of: Arc<dyn Derivatives>,
    p: usize,
    shape: (usize, usize),
    symmetric: bool,
}

impl Gram for Partial {
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.of.partial(self.p, &rows, &cols, out);
    }

    fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    fn self_similarities(&self, _: Side) -> Option<Vec<f64>> {
        self.symmetric.then(|| crate::gram::diagonal(self))
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        Arc::new(Submatrix::new(self, rows, cols))
    }
}

/// A kernel whose derivatives are matrices that exist already.
pub(crate) struct KnownDerivatives {
    pub(crate) gram: Arc<dyn Gram>,
    /// One for each parameter.
    pub(crate) partials: Vec<Arc<dyn Gram>>,
}

impl Derivatives for KnownDerivatives {
    fn gram(&self) -> Arc<dyn Gram> {
        Arc::clone(&self.gram)
    }

    fn partial(&self, p: usize, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f64>) {
        self.partials[p].block(rows.clone(), cols.clone(), out);
    }
}

/// Calls `each` with every vector as `width` numbers; `false` if they are no vectors, or `each` says so.
pub(crate) fn each_dense(values: &Values, width: usize, each: &mut dyn FnMut(usize, &[f64]) -> bool) -> bool {
    fn dense<S: Scalar>(rows: &Rows<S>, each: &mut dyn FnMut(usize, &[f64]) -> bool) -> bool {
        let mut x = vec![0.0; rows.width()];
        (0..rows.len()).all(|i| {
            x.iter_mut().zip(rows.row(i)).for_each(|(x, v)| *x = v.wide());
            each(i, &x)
        })
    }
    fn sparse<S: Scalar>(rows: &SparseRows<S>, width: usize, each: &mut dyn FnMut(usize, &[f64]) -> bool) -> bool {
        let mut x = vec![0.0; width.max(rows.width())];
        (0..rows.len()).all(|i| {
            rows.row(i).iter().for_each(|c| x[c.index as usize] = c.value.wide());
            let going = each(i, &x);
            rows.row(i).iter().for_each(|c| x[c.index as usize] = 0.0);
            going
        })
    }
    match values {
        Values::Dense(r) => dense(r, each),
        Values::Dense32(r) => dense(r, each),
        Values::Sparse(r) => sparse(r, width, each),
        Values::Sparse32(r) => sparse(r, width, each),
        Values::Text(_) | Values::Index(_) | Values::Items(_) => false,
    }
}
