//! Shared parts of the three families of vector kernels: packing the data once, and the loops over blocks.
//!
//! A family says how a pair is compared; this folder makes it a [`Kernel`](super::Kernel) on dense and sparse vectors in
//! f32 and f64, and a [`Leaf`] of formulas.

mod cancellation;
mod derivatives;
mod folds;
mod layouts;
mod lines;
mod narrow;
mod packed;
mod pairs;
mod product;
mod store;

pub(crate) use derivatives::{PairDerivatives, PairSlopes, ProductDerivatives, Slopes};
pub(crate) use folds::{FoldFamily, FoldGram, fold};
pub(crate) use packed::{Packed, Packing, weight};
pub(crate) use pairs::{PairFamily, PairGram};
pub(crate) use product::{ProductFamily, ProductGram};

use super::prepared::downcast;
use super::{Derivatives, Sides};
use super::{Domain, Expression, Inexpressible, Kernel, KernelEntry, KernelError, KernelFacts, Leaf, Prepared};
use crate::data::{Coordinate, Kind, Rows, Scalar, Values, Vectors};
use crate::gram::Gram;
use crate::params::Params;
use std::sync::Arc;

/// A kernel on vectors, dense or sparse, in f32 or f64.
pub trait Family: Params + Clone + Send + Sync + 'static {
    /// The catalogue's entry.
    fn entry() -> &'static KernelEntry;
    /// Facts that follow from the parameters alone.
    fn facts(&self) -> KernelFacts {
        KernelFacts::default()
    }
    /// An upper bound on the dimension of the feature space of vectors of that width, where it is known and finite.
    fn dimension(&self, _width: usize) -> Option<f64> {
        None
    }
    /// κ in elementary operations, for export.
    fn expression(&self) -> Result<Expression, Inexpressible> {
        Err(Inexpressible::Unknown)
    }
    /// Takes from the training examples what is more than a number; most kernels take nothing.
    fn learn(&mut self, _: &Values) {}
    /// Explicit features, where there are some that fit into memory; most kernels have none.
    fn features(&self, _: &Values) -> Option<Vectors> {
        None
    }
    /// κ of two dense vectors.
    fn dense<S: Scalar>(&self, x: &[S], y: &[S]) -> f64;
    /// κ of two sparse vectors.
    fn sparse<S: Scalar>(&self, x: &[Coordinate<S>], y: &[Coordinate<S>]) -> f64;
    /// The parameters that are numbers but not variables; see [`Leaf::fixed`].
    fn fixed(&self) -> &'static [&'static str] {
        &[]
    }
    /// The derivatives by its real parameters; see [`Leaf::derivatives`].
    fn derivatives(&self, _: &Sides) -> Result<Option<Arc<dyn Derivatives>>, KernelError> {
        Ok(None)
    }
    /// Adds α ∂κ(x, z)/∂z for two dense vectors; `false` where the kernel has no such derivative.
    fn gradient(&self, _x: &[f64], _z: &[f64], _alpha: f64, _out: &mut [f64]) -> bool {
        false
    }
    /// The transformation of the vectors of a training collection before they are compared.
    ///
    /// # Errors
    /// If a parameter does not fit them.
    fn packing(&self, _: &Values) -> Result<Packing, KernelError> {
        Ok(Packing::default())
    }
    /// The lazy matrix between two packed collections; families that prepare vectors in another way have none.
    ///
    /// # Errors
    /// If a parameter does not fit them.
    fn packed_gram(&self, rows: Arc<Packed>, cols: Arc<Packed>) -> Result<Arc<dyn Gram>, KernelError> {
        let _ = (rows, cols);
        Err(KernelError::Side { kernel: Self::entry().name })
    }
    /// A collection of vectors that were checked, prepared for the kernel.
    ///
    /// # Errors
    /// If the vectors do not fit the kernel, or those they are to be compared with.
    fn prepare(&self, values: &Values, like: Option<&Arc<dyn Prepared>>) -> Result<Arc<dyn Prepared>, KernelError> {
        let Some(like) = like else { return Ok(Arc::new(Packed::first(values, self.packing(values)?))) };
        let like: Arc<Packed> = downcast(like, Self::entry().name)?;
        like.check_width(values, Self::entry().name)?;
        Ok(Arc::new(like.like(values)))
    }
    /// The lazy matrix between two prepared collections.
    ///
    /// # Errors
    /// If they were not prepared for each other.
    fn gram_between(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        let kernel = Self::entry().name;
        let (rows, cols) = Packed::pair(&downcast(rows, kernel)?, &downcast(cols, kernel)?, kernel)?;
        self.packed_gram(rows, cols)
    }
}

impl<S: Scalar, F: Family> Kernel<[S]> for F {
    fn eval(&self, x: &[S], y: &[S]) -> f64 {
        self.dense(x, y)
    }
}

impl<S: Scalar, F: Family> Kernel<[Coordinate<S>]> for F {
    fn eval(&self, x: &[Coordinate<S>], y: &[Coordinate<S>]) -> f64 {
        self.sparse(x, y)
    }
}

impl<F: Family> Leaf for F {
    fn entry(&self) -> &'static KernelEntry {
        F::entry()
    }

    fn boxed(&self) -> Box<dyn Leaf> {
        Box::new(self.clone())
    }

    fn facts(&self) -> KernelFacts {
        Family::facts(self)
    }

    fn dimension(&self, width: usize) -> Option<f64> {
        Family::dimension(self, width)
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        Family::expression(self)
    }

    fn learn(&mut self, values: &Values) {
        Family::learn(self, values);
    }

    fn features(&self, values: &Values) -> Option<Vectors> {
        Family::features(self, values)
    }

    fn eval(&self, rows: &Values, i: usize, cols: &Values, j: usize) -> f64 {
        match (rows, cols) {
            (Values::Dense(r), Values::Dense(c)) => self.dense(r.row(i), c.row(j)),
            (Values::Dense32(r), Values::Dense32(c)) => self.dense(r.row(i), c.row(j)),
            (Values::Sparse(r), Values::Sparse(c)) => self.sparse(r.row(i), c.row(j)),
            (Values::Sparse32(r), Values::Sparse32(c)) => self.sparse(r.row(i), c.row(j)),
            _ => f64::NAN,
        }
    }

    fn prepare(&self, values: &Values, like: Option<&Arc<dyn Prepared>>) -> Result<Arc<dyn Prepared>, KernelError> {
        check(F::entry(), values)?;
        Family::prepare(self, values, like)
    }

    fn fixed(&self) -> &'static [&'static str] {
        Family::fixed(self)
    }

    fn derivatives(&self, sides: &Sides) -> Result<Option<Arc<dyn Derivatives>>, KernelError> {
        check(F::entry(), sides.rows())?;
        check(F::entry(), sides.cols())?;
        Family::derivatives(self, sides)
    }

    fn input_gradient(&self, alpha: &[f64], points: &Values, z: &[f64], out: &mut [f64]) -> bool {
        super::derivatives::each_dense(points, z.len(), &mut |i, x| self.gradient(x, z, alpha[i], out))
    }

    fn gram_between(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        Family::gram_between(self, rows, cols)
    }
}

/// No entry is missing where the kernel does not take that; sparse vectors have no gaps.
pub(crate) fn complete(entry: &'static KernelEntry, values: &Values) -> Result<(), KernelError> {
    fn gap<S: Scalar>(rows: &Rows<S>) -> Option<(usize, usize)> {
        if rows.extremes().finite {
            return None;
        }
        rows.values().iter().position(|x| x.wide().is_nan()).map(|at| (at / rows.width(), at % rows.width()))
    }
    let found = match values {
        _ if entry.domain == Domain::Incomplete => None,
        Values::Dense(r) => gap(r),
        Values::Dense32(r) => gap(r),
        _ => None,
    };
    match found {
        Some((i, j)) => Err(KernelError::Missing { kernel: entry.name, example: i + 1, coordinate: j + 1 }),
        None => Ok(()),
    }
}

/// These are vectors inside the kernel's domain.
fn check(entry: &'static KernelEntry, values: &Values) -> Result<(), KernelError> {
    if values.kind() != Kind::Vectors {
        return Err(KernelError::Kind { kernel: entry.name, wants: Kind::Vectors, has: values.kind() });
    }
    complete(entry, values)?;
    if entry.domain == Domain::NonNegative {
        let negative = match values {
            Values::Dense(r) => first_negative((0..r.len()).map(|i| r.row(i).iter().enumerate())),
            Values::Dense32(r) => first_negative((0..r.len()).map(|i| r.row(i).iter().enumerate())),
            Values::Sparse(r) => first_negative((0..r.len()).map(|i| sparse_pairs(r.row(i)))),
            Values::Sparse32(r) => first_negative((0..r.len()).map(|i| sparse_pairs(r.row(i)))),
            Values::Text(_) | Values::Index(_) | Values::Items(_) => None,
        };
        if let Some((i, j, value)) = negative {
            let (example, coordinate) = (i + 1, j + 1);
            return Err(KernelError::Negative { kernel: entry.name, example, coordinate, value });
        }
    }
    Ok(())
}

fn sparse_pairs<S>(row: &[Coordinate<S>]) -> impl Iterator<Item = (usize, &S)> {
    row.iter().map(|c| (c.index as usize, &c.value))
}

fn first_negative<'a, S: Scalar>(
    rows: impl Iterator<Item = impl Iterator<Item = (usize, &'a S)>>,
) -> Option<(usize, usize, f64)> {
    rows.enumerate().find_map(|(i, mut row)| row.find(|(_, x)| x.wide() < 0.0).map(|(j, x)| (i, j, x.wide())))
}

/// Calls `step` with the values of every coordinate that either vector has.
#[inline]
pub(crate) fn merge<S: Scalar>(x: &[Coordinate<S>], y: &[Coordinate<S>], mut step: impl FnMut(f64, f64)) {
    merge_indexed(x, y, |_, a, b| step(a, b));
}

/// Calls `step` with index and values of every coordinate that either vector has.
#[inline]
pub(crate) fn merge_indexed<S: Scalar>(
    x: &[Coordinate<S>],
    y: &[Coordinate<S>],
    mut step: impl FnMut(usize, f64, f64),
) {
    let (mut i, mut j) = (0, 0);
    while i < x.len() || j < y.len() {
        let a = x.get(i).map_or(u32::MAX, |c| c.index);
        let b = y.get(j).map_or(u32::MAX, |c| c.index);
        let index = a.min(b);
        let mut pair = (0.0, 0.0);
        if i < x.len() && a == index {
            pair.0 = x[i].value.wide();
            i += 1;
        }
        if j < y.len() && b == index {
            pair.1 = y[j].value.wide();
            j += 1;
        }
        step(index as usize, pair.0, pair.1);
    }
}
