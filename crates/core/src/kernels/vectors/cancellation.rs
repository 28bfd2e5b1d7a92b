//! Squared distances that lose their digits where they are taken from products, and are summed as differences instead.
//!
//! With rounding unit ε, ‖x‖² + ‖y‖² − 2⟨x, y⟩ is off by a few ε(‖x‖² + ‖y‖²), however near x and y are. As a rule no kernel shows that. Where
//! vectors are long compared with the width of the kernel, κ of two neighbours is then noise, and differs
//! between one example alone and a batch, whose products are summed in another order. Such pairs are found before their products become
//! kernel values, and get κ of Σ (x − y)², which cancels nothing.
//!
//! # Source
//! Higham (2002), §1.7 and §3.1: cancellation, and the error of an inner product.

use super::product::ProductFamily;
use super::store::Store;
use crate::data::Scalar;
use crate::gram::{BlockMut, Pick};

/// Units of rounding by which ‖x‖² + ‖y‖² − 2⟨x, y⟩ may be off, in parts of ‖x‖² + ‖y‖².
const UNITS: f64 = 8.0;
/// A change of κ shows that is larger than so many roots of the rounding unit: a millionth in f64. With |s κ'(s)| ≤ |κ(0)|/e, as for the
/// Gaussian kernel, that is only possible for s ≤ √ε(‖x‖² + ‖y‖²).
const ROOTS: f64 = 64.0;

/// The places in a block of pairs whose distances need differences.
pub(super) struct Cancelled(Vec<(usize, usize)>);

/// κ at a squared distance.
fn at<F: ProductFamily>(family: &F, squared: f64) -> f64 {
    let mut value = [squared];
    family.finish_alone(&mut value);
    value[0]
}

/// True if κ at a squared distance changes visibly where ‖x‖² + ‖y‖² is `lengths`, by the error of the distance.
fn shows<F: ProductFamily, S: Scalar>(family: &F, squared: f64, lengths: f64) -> bool {
    let error = UNITS * S::UNIT * lengths;
    let value = at(family, squared);
    let more = (at(family, squared + error) - value).abs();
    let less = (at(family, (squared - error).max(0.0)) - value).abs();
    let size = at(family, 0.0).abs().max(at(family, lengths).abs());
    more.max(less) > ROOTS * S::UNIT.sqrt() * size
}

impl Cancelled {
    /// Looks through a block of inner products of vectors with the given squared lengths.
    pub(super) fn find<F: ProductFamily, S: Scalar>(
        family: &F,
        (rows, cols): (&Pick<'_>, &Pick<'_>),
        (row_squares, col_squares): (&[S], &[S]),
        products: &mut BlockMut<'_, S>,
    ) -> Self {
        let mut found = Vec::new();
        if !F::DISTANCE {
            return Self(found);
        }
        let longest = |pick: &Pick<'_>, squares: &[S]| pick.iter().map(|i| squares[i].wide()).fold(0.0, f64::max);
        let most = longest(rows, row_squares) + longest(cols, col_squares);
        // no kernel value of the block can show it: the usual end
        if !most.is_finite() || !shows::<F, S>(family, 0.0, most) {
            return Self(found);
        }
        for k in 0..rows.len() {
            let square = row_squares[rows.at(k)].wide();
            for (l, product) in products.row_mut(k).iter().enumerate() {
                let lengths = square + col_squares[cols.at(l)].wide();
                let squared = (lengths - 2.0 * product.wide()).max(0.0);
                if squared <= S::UNIT.sqrt() * lengths && shows::<F, S>(family, squared, lengths) {
                    found.push((k, l));
                }
            }
        }
        Self(found)
    }

    /// Puts κ of Σ (x − y)² at their places.
    pub(super) fn mend<F: ProductFamily, S: Scalar>(
        &self,
        family: &F,
        (rows, cols): (&Pick<'_>, &Pick<'_>),
        (left, right): (&Store<S>, &Store<S>),
        out: &mut BlockMut<'_, S>,
    ) {
        for &(k, l) in &self.0 {
            let squared = S::narrow(squared_distance(left, rows.at(k), right, cols.at(l)));
            let mut value = [squared];
            family.finish_alone(&mut value);
            out.row_mut(k)[l] = value[0];
        }
    }
}

/// Σ (x − y)² of two packed vectors, in f64.
fn squared_distance<S: Scalar>(left: &Store<S>, i: usize, right: &Store<S>, j: usize) -> f64 {
    let square = |a: f64, b: f64| (a - b) * (a - b);
    match (left, right) {
        (Store::Dense { rows: a, .. }, Store::Dense { rows: b, .. }) => {
            a.row(i).iter().zip(b.row(j)).map(|(a, b)| square(a.wide(), b.wide())).sum()
        }
        (Store::Sparse { rows: a, .. }, Store::Sparse { rows: b, .. }) => {
            let mut sum = 0.0;
            super::merge(a.row(i), b.row(j), |a, b| sum += square(a, b));
            sum
        }
        _ => unreachable!("both sides are packed alike"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::radial::{Cauchy, Gaussian, Matern, Radial};
    use crate::params::Auto;
    use crate::seed::Seed;

    /// Products of vectors and their squared lengths; every third vector is the one before.
    fn products<S: Scalar>(n: usize, d: usize, size: f64) -> (Vec<S>, Vec<S>) {
        let mut random = Seed(1).stream("cancellation");
        let mut all: Vec<Vec<f64>> = Vec::new();
        for i in 0..n {
            all.push(if i % 3 == 2 { all[i - 1].clone() } else { (0..d).map(|_| size * random.normal()).collect() });
        }
        let dot = |a: &[f64], b: &[f64]| S::narrow(a.iter().zip(b).map(|(a, b)| a * b).sum());
        let squares = all.iter().map(|a| dot(a, a)).collect();
        (all.iter().flat_map(|a| all.iter().map(|b| dot(a, b)).collect::<Vec<S>>()).collect(), squares)
    }

    fn found<F: ProductFamily, S: Scalar>(family: &F, d: usize, size: f64) -> usize {
        let (mut block, squares) = products::<S>(30, d, size);
        let all = Pick::Range(0..30);
        Cancelled::find(family, (&all, &all), (&squares, &squares), &mut BlockMut::new(&mut block, 30, 30)).0.len()
    }

    /// Ordinary data keep their bits: standardised columns, and widths of the order of their distances.
    #[test]
    fn ordinary_data_have_no_such_pairs_and_long_vectors_do() {
        let gaussian = Radial(Gaussian { gamma: Auto::Value(1.0) });
        let rough = Radial(Matern { nu: 0.5, length: 1.0 });
        for d in [1, 5, 50] {
            assert_eq!(found::<_, f64>(&gaussian, d, 1.0) + found::<_, f64>(&rough, d, 1.0), 0);
            assert_eq!(found::<_, f32>(&gaussian, d, 1.0) + found::<_, f32>(&rough, d, 1.0), 0);
            assert_eq!(found::<_, f64>(&gaussian, d, 1e3) + found::<_, f32>(&gaussian, d, 10.0), 0);
            // the pairs of equal vectors, each of them with itself too
            assert!(found::<_, f64>(&gaussian, d, 1e7) >= 30 && found::<_, f32>(&gaussian, d, 1e4) >= 30);
            assert!(found::<_, f64>(&Radial(Cauchy::default()), d, 1e7) >= 30);
        }
    }
}
