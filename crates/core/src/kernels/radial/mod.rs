//! Radial kernels: κ(x, y) = profile(‖x − y‖²).
//!
//! The family owns all loops: dense and sparse, f32 and f64, whole blocks by a matrix product (centred first, clamped at
//! zero, exact on the diagonal) and single rows by summing (x − y)². A kernel of the family is its profile.

mod ard;
mod cauchy;
mod distance;
mod gaussian;
mod inverse_multiquadric;
mod mahalanobis;
mod matern;
mod multiquadric;
mod rational_quadratic;
mod wendland;

pub use ard::Ard;
pub use cauchy::Cauchy;
pub use distance::Distance;
pub use gaussian::Gaussian;
pub use inverse_multiquadric::InverseMultiquadric;
pub use mahalanobis::{Mahalanobis, Metric};
pub use matern::Matern;
pub use multiquadric::Multiquadric;
pub use rational_quadratic::RationalQuadratic;
pub use wendland::Wendland;

use super::vectors::{Family, Packed, Packing, ProductFamily, ProductGram, merge_indexed, weight};
use super::vectors::{ProductDerivatives, Slopes};
use super::{Derivatives, Sides};
use super::{Expression, Inexpressible, KernelEntry, KernelError, KernelFacts};
use crate::data::{Coordinate, Scalar, Values};
use crate::gram::Gram;
use crate::params::{Params, Visit};
use std::sync::Arc;

/// The kernels of this folder.
pub static ENTRIES: &[&KernelEntry] = &[
    &gaussian::ENTRY,
    &ard::ENTRY,
    &mahalanobis::ENTRY,
    &matern::ENTRY,
    &rational_quadratic::ENTRY,
    &cauchy::ENTRY,
    &inverse_multiquadric::ENTRY,
    &multiquadric::ENTRY,
    &wendland::ENTRY,
    &distance::ENTRY,
];

/// A function of the squared distance.
pub trait Profile: Params + Clone + Send + Sync + 'static {
    /// The catalogue's entry.
    fn entry() -> &'static KernelEntry;
    /// Facts that follow from the parameters alone.
    fn facts(&self) -> KernelFacts {
        KernelFacts::default()
    }
    /// κ in elementary operations, for export.
    fn expression(&self) -> Result<Expression, Inexpressible> {
        Err(Inexpressible::Unknown)
    }
    /// Its value at a squared distance.
    fn at<S: Scalar>(&self, squared_distance: S) -> S;
    /// True if its parameters are the lengths by which coordinates are divided, one for all or one for each: one over the factors.
    const LENGTHS: bool = false;
    /// Its derivative by the squared distance; zero where it has a kink.
    fn slope(&self, squared_distance: f64) -> f64;
    /// Its derivative by its p-th real parameter, at a squared distance; lengths are the family's.
    fn partial(&self, _p: usize, _squared_distance: f64) -> f64 {
        0.0
    }
    /// The parameters that are numbers but not variables: whole numbers, and what is chosen once.
    fn fixed(&self) -> &'static [&'static str] {
        &[]
    }
    /// Factors for the coordinates before distances are taken: one for all, or one for each of the `width` coordinates;
    /// an error if there are fewer.
    fn weights(&self, _width: usize) -> Result<Option<Vec<f64>>, KernelError> {
        Ok(None)
    }
    /// The largest number of coordinates, where the kernel is definite up to some dimension only; more are refused.
    fn most_coordinates(&self) -> Option<usize> {
        None
    }
}

/// κ(x, y) = profile(‖x − y‖²), for every precision and for dense and sparse vectors alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Radial<P>(pub P);

impl<P: Profile> Params for Radial<P> {
    fn visit(&mut self, v: &mut dyn Visit) {
        self.0.visit(v);
    }
}

impl<P: Profile> Family for Radial<P> {
    fn entry() -> &'static KernelEntry {
        P::entry()
    }

    fn facts(&self) -> KernelFacts {
        self.0.facts()
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        self.0.expression()
    }

    fn dense<S: Scalar>(&self, x: &[S], y: &[S]) -> f64 {
        let weights = self.0.weights(x.len()).ok().flatten();
        let mut sum = 0.0;
        for (j, (a, b)) in x.iter().zip(y).enumerate() {
            let difference = (a.wide() - b.wide()) * weights.as_ref().map_or(1.0, |w| weight(w, j));
            sum += difference * difference;
        }
        self.0.at(sum)
    }

    fn sparse<S: Scalar>(&self, x: &[Coordinate<S>], y: &[Coordinate<S>]) -> f64 {
        let weights = self.0.weights(0).ok().flatten();
        let mut sum = 0.0;
        merge_indexed(x, y, |j, a, b| {
            let difference = (a - b) * weights.as_ref().map_or(1.0, |w| weight(w, j));
            sum += difference * difference;
        });
        self.0.at(sum)
    }

    fn packing(&self, training: &Values) -> Result<Packing, KernelError> {
        let width = training.width().unwrap_or(0);
        let weights = self.0.weights(width)?.map(Arc::new);
        let sparse = matches!(training, Values::Sparse(_) | Values::Sparse32(_));
        if let Some(given) = weights.as_ref().map(|w| w.len()).filter(|&given| given > width.max(1) && !sparse) {
            let finding =
                format!("{given} lengths were given for vectors of {width} coordinates; give one, or {width}");
            return Err(KernelError::Param { kernel: P::entry().name, finding });
        }
        Ok(Packing { centre: true, weights })
    }

    fn packed_gram(&self, rows: Arc<Packed>, cols: Arc<Packed>) -> Result<Arc<dyn Gram>, KernelError> {
        if let Some(most) = self.0.most_coordinates() {
            let used = rows.coordinates_in_use(&cols);
            if used > most {
                let finding = format!(
                    "it is positive definite on up to {most} coordinates, but the vectors have {used}; \
                     give dimension={used} or more, or use another kernel"
                );
                return Err(KernelError::Param { kernel: P::entry().name, finding });
            }
        }
        Ok(Arc::new(ProductGram::of(self.clone(), rows, cols)))
    }

    fn fixed(&self) -> &'static [&'static str] {
        self.0.fixed()
    }

    fn derivatives(&self, sides: &Sides) -> Result<Option<Arc<dyn Derivatives>>, KernelError> {
        let weights = self.0.weights(sides.cols().width().unwrap_or(0))?;
        Ok(Some(Arc::new(ProductDerivatives::new(self.clone(), sides, true, weights))))
    }

    fn gradient(&self, x: &[f64], z: &[f64], alpha: f64, out: &mut [f64]) -> bool {
        let weights = self.0.weights(z.len()).ok().flatten();
        let square = |k: usize| weights.as_ref().map_or(1.0, |w| weight(w, k) * weight(w, k));
        let squared: f64 = x.iter().zip(z).enumerate().map(|(k, (x, z))| square(k) * (z - x) * (z - x)).sum();
        // ∂‖x − z‖²/∂z = 2 w²(z − x)
        let slope = 2.0 * alpha * self.0.slope(squared);
        for (k, (o, (x, z))) in out.iter_mut().zip(x.iter().zip(z)).enumerate() {
            *o += slope * square(k) * (z - x);
        }
        true
    }
}

impl<P: Profile> ProductFamily for Radial<P> {
    const DISTANCE: bool = true;

    #[inline(always)]
    fn finish<S: Scalar>(&self, products: &mut [S], square: S, squares: &[S]) {
        let two = S::narrow(2.0);
        for (p, &other) in products.iter_mut().zip(squares) {
            // rounding can make a distance slightly negative
            let squared = (square + other - two * *p).at_least(S::default());
            *p = self.0.at(squared);
        }
    }

    #[inline(always)]
    fn finish_alone<S: Scalar>(&self, squared: &mut [S]) {
        for d in squared {
            *d = self.0.at(*d);
        }
    }

    fn own(&self, _: f64) -> f64 {
        self.0.at(0.0)
    }
}

impl<P: Profile> Slopes for Radial<P> {
    fn slope(&self, squared: f64) -> f64 {
        self.0.slope(squared)
    }

    fn partial(&self, p: usize, squared: f64) -> f64 {
        self.0.partial(p, squared)
    }

    fn has_lengths(&self) -> bool {
        P::LENGTHS
    }
}
