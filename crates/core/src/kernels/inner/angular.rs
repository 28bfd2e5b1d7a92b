//! Kernels of the angle between two vectors and of their lengths.

use crate::data::{Coordinate, Scalar};
use crate::gram::Gram;
use crate::kernels::vectors::{Family, Packed, ProductFamily, ProductGram, merge};
use crate::kernels::{KernelEntry, KernelError, KernelFacts};
use crate::params::{Params, Visit};
use std::sync::Arc;

/// A function of the cosine of the angle and of the product of the lengths.
pub trait AngleProfile: Params + Clone + Send + Sync + 'static {
    /// The catalogue's entry.
    fn entry() -> &'static KernelEntry;
    /// Facts that follow from the parameters alone.
    fn facts(&self) -> KernelFacts {
        KernelFacts::default()
    }
    /// Its value for a cosine between −1 and 1 and lengths ‖x‖‖y‖ > 0.
    fn at<S: Scalar>(&self, cosine: S, lengths: S) -> S;
    /// Its derivatives by the cosine and by the lengths; zero where it has a kink.
    fn slopes(&self, cosine: f64, lengths: f64) -> [f64; 2];
}

/// κ(x, y) = profile(⟨x, y⟩/‖x‖‖y‖, ‖x‖‖y‖), and zero where a vector is zero; for every precision, dense and sparse.
#[derive(Clone, Debug, PartialEq)]
pub struct Angular<P>(pub P);

impl<P: AngleProfile> Angular<P> {
    #[inline(always)]
    fn value<S: Scalar>(&self, product: S, length: S, other: S) -> S {
        let (zero, one) = (S::default(), S::narrow(1.0));
        let lengths = length * other;
        let some = lengths > zero;
        let cosine = product / if some { lengths } else { one };
        // rounding can make a cosine slightly too large
        let cosine = -(-cosine.at_least(-one)).at_least(-one);
        let value = self.0.at(cosine, lengths);
        if some { value } else { zero }
    }
}

impl<P: AngleProfile> Params for Angular<P> {
    fn visit(&mut self, v: &mut dyn Visit) {
        self.0.visit(v);
    }
}

impl<P: AngleProfile> Family for Angular<P> {
    fn entry() -> &'static KernelEntry {
        P::entry()
    }

    fn facts(&self) -> KernelFacts {
        self.0.facts()
    }

    fn dense<S: Scalar>(&self, x: &[S], y: &[S]) -> f64 {
        let product = |x: &[S], y: &[S]| x.iter().zip(y).map(|(a, b)| a.wide() * b.wide()).sum::<f64>();
        self.value(product(x, y), product(x, x).sqrt(), product(y, y).sqrt())
    }

    fn sparse<S: Scalar>(&self, x: &[Coordinate<S>], y: &[Coordinate<S>]) -> f64 {
        let (mut product, mut square, mut other) = (0.0, 0.0_f64, 0.0_f64);
        merge(x, y, |a, b| {
            product += a * b;
            square += a * a;
            other += b * b;
        });
        self.value(product, square.sqrt(), other.sqrt())
    }

    fn packed_gram(&self, rows: Arc<Packed>, cols: Arc<Packed>) -> Result<Arc<dyn Gram>, KernelError> {
        Ok(Arc::new(ProductGram::of(self.clone(), rows, cols)))
    }

    fn gradient(&self, x: &[f64], z: &[f64], alpha: f64, out: &mut [f64]) -> bool {
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let square = product(z, z);
        let lengths = (product(x, x) * square).sqrt();
        if lengths > 0.0 {
            let cosine = (product(x, z) / lengths).clamp(-1.0, 1.0);
            let [by_cosine, by_lengths] = self.0.slopes(cosine, lengths);
            // ∂cos/∂z = x/‖x‖‖z‖ − cos · z/‖z‖², ∂‖x‖‖z‖/∂z = ‖x‖‖z‖ z/‖z‖²
            let (along_x, along_z) = (by_cosine / lengths, (by_lengths * lengths - by_cosine * cosine) / square);
            out.iter_mut().zip(x.iter().zip(z)).for_each(|(o, (x, z))| *o += alpha * (along_x * x + along_z * z));
        }
        true
    }
}

impl<P: AngleProfile> ProductFamily for Angular<P> {
    const DISTANCE: bool = false;
    const LENGTHS: bool = true;

    #[inline(always)]
    fn finish<S: Scalar>(&self, products: &mut [S], square: S, squares: &[S]) {
        let length = square.sqrt();
        for (p, &other) in products.iter_mut().zip(squares) {
            *p = self.value(*p, length, other.sqrt());
        }
    }

    #[inline(always)]
    fn finish_alone<S: Scalar>(&self, _: &mut [S]) {
        unreachable!("products without lengths say nothing of angles");
    }

    fn own(&self, square: f64) -> f64 {
        let length = square.sqrt();
        self.value(square, length, length)
    }
}
