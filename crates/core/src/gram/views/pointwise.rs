//! A function of every entry: scaling, powers, polynomials, exponentials.

use crate::data::Scalar;
use crate::gram::{BlockMut, Gram, Pick, Precision, RowAccess, Side};
use crate::vectorise::{Loops, vectorised};
use std::ops::Range;
use std::sync::Arc;

/// The function.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// c · κ.
    Scale(f64),
    /// κⁿ.
    Power(u32),
    /// Σ a_k κᵏ, from a_0 on.
    Series(Arc<[f64]>),
    /// exp(κ).
    Exp,
}

impl Shape {
    /// Its value.
    #[inline(always)]
    pub(crate) fn at<S: Scalar>(&self, x: S) -> S {
        match self {
            Self::Scale(c) => S::narrow(*c) * x,
            Self::Power(n) => Scalar::powi(x, *n as i32),
            // Horner: (… (a_p x + a_(p−1)) x + …) x + a_0
            Self::Series(all) => all.iter().rev().fold(S::default(), |sum, a| sum * x + S::narrow(*a)),
            Self::Exp => Scalar::exp(x),
        }
    }
}

/// A matrix whose entries are a function of another's.
pub struct Pointwise {
    inner: Arc<dyn Gram>,
    shape: Shape,
}

impl Pointwise {
    /// The function `shape` of every entry of `inner`.
    pub fn new(inner: Arc<dyn Gram>, shape: Shape) -> Self {
        Self { inner, shape }
    }

    fn map<S: Scalar>(&self, values: &mut [S]) {
        vectorised(Map { shape: &self.shape, values });
    }

    fn compute<S: Precision>(&self, rows: Pick<'_>, cols: Pick<'_>, mut out: BlockMut<'_, S>) {
        S::block(self.inner.as_ref(), rows, cols, out.reborrow());
        for i in 0..out.rows() {
            self.map(out.row_mut(i));
        }
    }
}

/// The function of every value, in place.
struct Map<'a, S> {
    shape: &'a Shape,
    values: &'a mut [S],
}

impl<S: Scalar> Loops for Map<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // one loop for each function, so that none has a choice inside
        match self.shape {
            Shape::Exp => self.values.iter_mut().for_each(|v| *v = Shape::Exp.at(*v)),
            // coefficient by coefficient over a few entries at a time, which stay in registers
            Shape::Series(all) => horner(all, self.values),
            shape => self.values.iter_mut().for_each(|v| *v = shape.at(*v)),
        }
    }
}

/// Σ a_k vᵏ of every value, by the steps of [`Shape::at`].
#[inline(always)]
fn horner<S: Scalar>(coefficients: &[f64], values: &mut [S]) {
    for chunk in values.chunks_mut(16) {
        let mut sums = [S::default(); 16];
        for a in coefficients.iter().rev() {
            let a = S::narrow(*a);
            sums.iter_mut().zip(chunk.iter()).for_each(|(sum, v)| *sum = *sum * *v + a);
        }
        chunk.iter_mut().zip(sums).for_each(|(v, sum)| *v = sum);
    }
}

impl RowAccess for Pointwise {
    fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]) {
        self.inner.row32(row, cols, out);
        self.map(out);
    }

    fn rows32(&self, rows: &[usize], cols: Range<usize>, lines: &mut [&mut [f32]]) {
        self.inner.rows32(rows, cols, lines);
        for line in lines {
            self.map(line);
        }
    }

    fn gather32(&self, row: usize, cols: &[usize], out: &mut [f32]) {
        self.inner.gather32(row, cols, out);
        self.map(out);
    }

    fn row_group(&self) -> usize {
        self.inner.row_group()
    }

    fn panel_rows(&self) -> usize {
        self.inner.panel_rows()
    }

    fn row_error(&self) -> f64 {
        self.inner.row_error()
    }

    fn rows_are_expensive(&self) -> bool {
        self.inner.rows_are_expensive()
    }
}

impl Gram for Pointwise {
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.compute(rows, cols, out);
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        self.compute(rows, cols, out);
    }

    fn rows(&self) -> Option<&dyn RowAccess> {
        Some(self)
    }

    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric()
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        Some(self.inner.self_similarities(side)?.into_iter().map(|x| self.shape.at(x)).collect())
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        Arc::new(Self { inner: Arc::clone(&self.inner).restrict(rows, cols), shape: self.shape.clone() })
    }
}
