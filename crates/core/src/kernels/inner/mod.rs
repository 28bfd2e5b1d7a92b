//! Inner-product kernels: κ(x, y) = profile(⟨x, y⟩).
//!
//! The family owns all loops: dense and sparse, f32 and f64, whole blocks by a matrix product. A kernel of the family is
//! its profile. Kernels of the angle and the lengths, which inner products of a vector with itself give, are
//! [`Angular`].

mod angular;
mod arc_cosine;
mod cosine;
mod features;
mod linear;
mod polynomial;
mod sigmoid;

pub use angular::{AngleProfile, Angular};
pub use arc_cosine::ArcCosine;
pub use cosine::Cosine;
pub(crate) use features::count_monomials;
pub use features::{polynomial_feature_count, polynomial_features};
pub use linear::Linear;
pub use polynomial::Polynomial;
pub use sigmoid::Sigmoid;

use super::vectors::{Family, Packed, ProductFamily, ProductGram, merge};
use super::vectors::{ProductDerivatives, Slopes};
use super::{Derivatives, Sides};
use super::{Expression, Inexpressible, KernelEntry, KernelError, KernelFacts};
use crate::data::{Coordinate, Rows, Scalar, Values, Vectors};
use crate::gram::Gram;
use crate::params::{Params, Visit};
use std::sync::Arc;

/// Largest number of coordinates of sparse vectors that get explicit features.
const MAX_SPARSE_COORDINATES: usize = 4096;

/// The kernels of this folder.
pub static ENTRIES: &[&KernelEntry] =
    &[&linear::ENTRY, &polynomial::ENTRY, &sigmoid::ENTRY, &cosine::ENTRY, &arc_cosine::ENTRY];

/// A function of the inner product.
pub trait Profile: Params + Clone + Send + Sync + 'static {
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
    /// Its value at an inner product.
    fn at<S: Scalar>(&self, product: S) -> S;
    /// Its derivative by the inner product.
    fn slope(&self, product: f64) -> f64;
    /// Its derivative by its p-th real parameter, at an inner product.
    fn partial(&self, _p: usize, _product: f64) -> f64 {
        0.0
    }
    /// Explicit features of so many vectors, where there are some that fit into memory.
    fn features(&self, _: &Rows<f64>) -> Option<Rows<f64>> {
        None
    }
}

/// κ(x, y) = profile(⟨x, y⟩), for every precision and for dense and sparse vectors alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Inner<P>(pub P);

impl<P: Profile> Params for Inner<P> {
    fn visit(&mut self, v: &mut dyn Visit) {
        self.0.visit(v);
    }
}

impl<P: Profile> Family for Inner<P> {
    fn entry() -> &'static KernelEntry {
        P::entry()
    }

    fn facts(&self) -> KernelFacts {
        self.0.facts()
    }

    fn dimension(&self, width: usize) -> Option<f64> {
        self.0.dimension(width)
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        self.0.expression()
    }

    fn features(&self, values: &Values) -> Option<Vectors> {
        if self.0.facts().features_are_examples {
            return match values {
                Values::Dense(rows) => Some(Vectors::Dense(Arc::clone(rows))),
                Values::Dense32(rows) => Some(Vectors::from(rows.convert::<f64>())),
                Values::Sparse(rows) => Some(Vectors::Sparse(Arc::clone(rows))),
                Values::Sparse32(rows) => Some(Vectors::from(rows.convert::<f64>())),
                Values::Text(_) | Values::Index(_) | Values::Items(_) => None,
            };
        }
        let features = match values {
            Values::Dense(rows) => self.0.features(rows)?,
            Values::Dense32(rows) => self.0.features(&rows.convert())?,
            // products of coordinates are many where there are many of these
            Values::Sparse(rows) if rows.width() <= MAX_SPARSE_COORDINATES => self.0.features(&rows.to_dense())?,
            Values::Sparse32(rows) if rows.width() <= MAX_SPARSE_COORDINATES => {
                self.0.features(&rows.convert::<f64>().to_dense())?
            }
            _ => return None,
        };
        Some(Vectors::from(features))
    }

    fn dense<S: Scalar>(&self, x: &[S], y: &[S]) -> f64 {
        self.0.at(x.iter().zip(y).map(|(a, b)| a.wide() * b.wide()).sum::<f64>())
    }

    fn sparse<S: Scalar>(&self, x: &[Coordinate<S>], y: &[Coordinate<S>]) -> f64 {
        let mut sum = 0.0;
        merge(x, y, |a, b| sum += a * b);
        self.0.at(sum)
    }

    fn packed_gram(&self, rows: Arc<Packed>, cols: Arc<Packed>) -> Result<Arc<dyn Gram>, KernelError> {
        Ok(Arc::new(ProductGram::of(self.clone(), rows, cols)))
    }

    fn derivatives(&self, sides: &Sides) -> Result<Option<Arc<dyn Derivatives>>, KernelError> {
        Ok(Some(Arc::new(ProductDerivatives::new(self.clone(), sides, false, None))))
    }

    fn gradient(&self, x: &[f64], z: &[f64], alpha: f64, out: &mut [f64]) -> bool {
        let slope = alpha * self.0.slope(x.iter().zip(z).map(|(a, b)| a * b).sum());
        out.iter_mut().zip(x).for_each(|(o, x)| *o += slope * x);
        true
    }
}

impl<P: Profile> ProductFamily for Inner<P> {
    const DISTANCE: bool = false;

    #[inline(always)]
    fn finish<S: Scalar>(&self, products: &mut [S], _: S, _: &[S]) {
        self.finish_alone(products);
    }

    #[inline(always)]
    fn finish_alone<S: Scalar>(&self, products: &mut [S]) {
        for p in products {
            *p = self.0.at(*p);
        }
    }

    fn own(&self, square: f64) -> f64 {
        self.0.at(square)
    }
}

impl<P: Profile> Slopes for Inner<P> {
    fn slope(&self, product: f64) -> f64 {
        self.0.slope(product)
    }

    fn partial(&self, p: usize, product: f64) -> f64 {
        self.0.partial(p, product)
    }
}
