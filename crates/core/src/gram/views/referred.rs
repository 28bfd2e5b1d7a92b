//! Matrices seen from one of their examples, where all are so far from the origin that single precision cannot tell them apart.
//!
//! ```text
//! K'_ij = K_ij − K_i0 − K_0j + K_00 = ⟨φ(x_i) − φ(x_0), φ(x_j) − φ(x_0)⟩
//! ```
//! A value κ(x, z) that is a million times as large as the squared distances between examples keeps four of the 24 bits of f32 for
//! these. The referred values are differences of f64 and have their own size, so that nothing is lost when they are narrowed. All distances are those of K.

use super::Adjusted;
use crate::gram::{BlockMut, Gram, Pick};
use std::sync::Arc;

/// Largest number of examples that are looked at.
const SAMPLE: usize = 16;
/// Smallest ratio of κ(x, x) to the largest squared distance from which f32 keeps too few digits of the distances: 2⁻²⁴ of it is then
/// nearly a tenth of the usual tolerance of a solver.
const FAR: f64 = 1e3;
/// Smallest ratio from which f64 has no digits of the distances either.
const LOST: f64 = 1e14;

/// The origin of a matrix as its examples see it: that of feature space is far from all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FarOrigin {
    /// The example of the sample that has the smallest sum of squared distances to the others.
    pub(crate) middle: usize,
    /// The largest κ(x, x) over the largest squared distance, both of the sample.
    pub(crate) ratio: f64,
}

impl FarOrigin {
    /// Looks at a few examples of a square matrix; `None` where the origin is as near as in ordinary data.
    pub(crate) fn of(gram: &dyn Gram) -> Option<Self> {
        // solvers have prepared rows in f32, and values in f64 may need another copy of the data
        if gram.rows().is_some() {
            let (places, values) = (sample(gram), rows_of_sample(gram));
            if let Some(seen) = Self::among(&places, &values)
                && seen.ratio < 0.5 * FAR
            {
                return None;
            }
        }
        Self::seen(gram).filter(Self::is_far)
    }

    /// The origin as a few examples see it, wherever it is; `None` where they have no distances.
    pub(crate) fn seen(gram: &dyn Gram) -> Option<Self> {
        let places = sample(gram);
        let m = places.len();
        let mut values = vec![0.0; m * m];
        gram.block(Pick::List(&places), Pick::List(&places), BlockMut::new(&mut values, m, m));
        Self::among(&places, &values)
    }

    /// The origin as the examples at some places see it, from the values between them.
    fn among(places: &[usize], values: &[f64]) -> Option<Self> {
        let m = places.len();
        let own = |i: usize| values[i * m + i];
        let squared = |i: usize, j: usize| if i == j { 0.0 } else { (own(i) - 2.0 * values[i * m + j] + own(j)).abs() };
        let pairs = || (0..m).flat_map(|i| (0..i).map(move |j| (i, j)));
        let spread = pairs().map(|(i, j)| squared(i, j)).fold(0.0, f64::max);
        let ratio = (0..m).map(|i| own(i).abs()).fold(0.0, f64::max) / spread;
        // values that were given up are not finite, and examples that are all alike have no distances
        if !values.iter().all(|k| k.is_finite()) || spread == 0.0 {
            return None;
        }
        let sum = |i: usize| (0..m).map(|j| squared(i, j)).sum::<f64>();
        let middle = (0..m).min_by(|&a, &b| sum(a).total_cmp(&sum(b)))?;
        Some(Self { middle: places[middle], ratio })
    }

    /// True if f32 keeps too few digits of the distances.
    pub(crate) fn is_far(&self) -> bool {
        self.ratio >= FAR
    }

    /// True if f64 has digits of the distances that f32 has not.
    pub(crate) fn can_be_mended(&self) -> bool {
        self.ratio < LOST
    }
}

/// Places of a few examples of a square matrix.
fn sample(gram: &dyn Gram) -> Vec<usize> {
    let n = gram.shape().0.min(gram.shape().1);
    (0..n).step_by(n.div_ceil(SAMPLE).max(1)).collect()
}

/// The values between the examples of the sample, by their rows in f32.
fn rows_of_sample(gram: &dyn Gram) -> Vec<f64> {
    let places = sample(gram);
    let m = places.len();
    let mut values = vec![0.0; m * m];
    let mut column = vec![0.0_f32; m];
    for (j, &place) in places.iter().enumerate() {
        let mut lines: Vec<&mut [f32]> = column.chunks_mut(1).collect();
        gram.rows32(&places, place..place + 1, &mut lines);
        column.iter().enumerate().for_each(|(i, &k)| values[i * m + j] = f64::from(k));
    }
    values
}

/// A matrix seen from one of its examples, and what is needed to go back to the origin of feature space.
pub(crate) struct Referred {
    /// K'.
    pub(crate) gram: Arc<dyn Gram>,
    /// K_i0 of every example.
    pub(crate) values: Arc<[f64]>,
    /// K_00.
    pub(crate) own: f64,
}

impl Referred {
    /// The square matrix seen from the example at a place; one column is computed. `None` where a value of it is not finite.
    pub(crate) fn from_example(gram: &Arc<dyn Gram>, place: usize) -> Option<Self> {
        let n = gram.shape().0;
        let mut values = vec![0.0; n];
        gram.block(Pick::Range(0..n), Pick::List(&[place]), BlockMut::new(&mut values, n, 1));
        let own = *values.get(place)?;
        let values: Arc<[f64]> = values.into();
        let finite = values.iter().all(|k| k.is_finite());
        let view = Adjusted::centred_of(Arc::clone(gram), own, Arc::clone(&values), Arc::clone(&values));
        finite.then(|| Self { gram: Arc::new(view), values, own })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::{Dense, Side, diagonal};

    /// The linear kernel between points on a circle, moved away from the origin.
    fn circle(n: usize, shift: f64) -> (Arc<dyn Gram>, Vec<[f64; 2]>) {
        let at = |i: usize| [(i as f64).cos() + shift, (1.7 * i as f64).sin() + shift];
        let points: Vec<[f64; 2]> = (0..n).map(at).collect();
        let entry = |p: usize| points[p / n][0] * points[p % n][0] + points[p / n][1] * points[p % n][1];
        let values = (0..n * n).map(entry).collect();
        (Arc::new(Dense::new(values, n, n).unwrap()), points)
    }

    #[test]
    fn entries_are_products_of_differences_in_either_precision() {
        let (gram, points) = circle(23, 1e4);
        let referred = Referred::from_example(&gram, 5).unwrap();
        let centre = points[5];
        let wanted =
            |i: usize, j: usize| (0..2).map(|k| (points[i][k] - centre[k]) * (points[j][k] - centre[k])).sum::<f64>();
        let (mut row, mut some) = (vec![0.0_f32; 20], vec![0.0_f32; 2]);
        for i in 0..23 {
            referred.gram.row32(i, 3..23, &mut row);
            referred.gram.gather32(i, &[7, 1], &mut some);
            for (j, &value) in (3..23).zip(&row).chain([7, 1].into_iter().zip(&some)) {
                // κ is 2·10⁸, of which f64 keeps seven digits behind the point, and f32 none
                assert!((f64::from(value) - wanted(i, j)).abs() < 1e-6, "{i} {j}: {value} {}", wanted(i, j));
            }
        }
        let own = referred.gram.self_similarities(Side::Rows).unwrap();
        assert!(own.iter().zip(diagonal(referred.gram.as_ref())).all(|(a, b)| (a - b).abs() < 1e-6));
        // the way back
        let mut block = [0.0];
        gram.block(Pick::List(&[2]), Pick::List(&[9]), BlockMut::new(&mut block, 1, 1));
        let back = wanted(2, 9) + referred.values[2] + referred.values[9] - referred.own;
        assert!((block[0] - back).abs() < 1e-6, "{} {back}", block[0]);
    }

    #[test]
    fn only_an_origin_that_is_far_away_is_left() {
        let far = |shift: f64| FarOrigin::of(circle(40, shift).0.as_ref());
        assert_eq!((far(0.0), far(3.0), far(10.0)), (None, None, None));
        let found = far(1e4).unwrap();
        // κ(x, x) = 2·10⁸ over a squared diameter of about eight
        assert!(found.ratio > 1e7 && found.ratio < 1e9 && found.can_be_mended(), "{found:?}");
        assert!(!far(1e9).unwrap().can_be_mended());
        // no distances at all, and no numbers
        let flat = Dense::new(vec![3.0; 16], 4, 4).unwrap();
        let none = Dense::new(vec![f64::NAN; 16], 4, 4).unwrap();
        assert_eq!((FarOrigin::of(&flat), FarOrigin::of(&none)), (None, None));
    }
}
