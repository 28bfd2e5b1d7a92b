//! Scaling of dense vectors, learned on the training data and kept in the model.
//!
//! # Source
//! Shawe-Taylor & Cristianini, *Kernel Methods for Pattern Analysis*, Alg. 5.13 (standardisation with the population
//! deviation). A constant column is centred and left at zero, never divided by zero.

use super::{Rows, Scalar};
use serde::{Deserialize, Serialize};

/// Scalings, which bring the coordinates of dense vectors to comparable size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Each coordinate to mean 0 and population deviation 1.
    Standard,
    /// Each coordinate to [0, 1].
    Minmax,
    /// Each vector to Euclidean length 1.
    Unit,
    /// As it is.
    None,
}

impl Scale {
    /// All ways, as the command line spells them.
    pub const WORDS: [(&'static str, Self); 4] =
        [("standard", Self::Standard), ("minmax", Self::Minmax), ("unit", Self::Unit), ("none", Self::None)];
}

/// A learned scaling: x ↦ (x − shift) · factor, or division by the length of x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Scaler {
    /// Coordinate by coordinate.
    Affine {
        /// Subtracted.
        shift: Vec<f64>,
        /// Multiplied.
        factor: Vec<f64>,
    },
    /// Each vector divided by its length; the zero vector stays.
    Unit,
}

/// The smallest sum of squares that has all its digits.
const SMALLEST_SQUARE: f64 = f64::MIN_POSITIVE / f64::EPSILON;

impl Scaler {
    /// Learns from the rows; coordinates with `fixed[j]` (one-hot codes) are left as they are. `None` if nothing is to be done.
    pub fn learn<S: Scalar>(scale: Scale, rows: &Rows<S>, fixed: &[bool]) -> Option<Self> {
        let (n, d) = (rows.len(), rows.width());
        let (mut shift, mut factor) = (vec![0.0; d], vec![1.0; d]);
        match scale {
            Scale::None => return None,
            Scale::Unit => return Some(Self::Unit),
            Scale::Standard => {
                // missing entries that were kept do not count
                let mut counts = vec![n as f64; d];
                for (at, _) in rows.values().iter().enumerate().filter(|(_, x)| x.wide().is_nan()) {
                    counts[at % d] -= 1.0;
                }
                for i in 0..n {
                    for ((s, x), count) in shift.iter_mut().zip(rows.row(i)).zip(&counts) {
                        *s += if x.wide().is_nan() { 0.0 } else { x.wide() / count };
                    }
                }
                let mut variance = vec![0.0; d];
                for i in 0..n {
                    for (((v, x), m), count) in variance.iter_mut().zip(rows.row(i)).zip(&shift).zip(&counts) {
                        let square = (x.wide() - m) * (x.wide() - m) / count;
                        *v += if x.wide().is_nan() { 0.0 } else { square };
                    }
                }
                for j in 0..d {
                    if variance[j].is_infinite() {
                        // squares overflow before deviations do
                        let column = || (0..n).map(|i| rows.row(i)[j].wide()).filter(|x| !x.is_nan());
                        let top = column().fold(0.0, |top: f64, x| top.max(x.abs()));
                        let squares = column().map(|x| (x / top - shift[j] / top).powi(2)).sum::<f64>();
                        factor[j] = 1.0 / top / (squares / counts[j]).sqrt();
                        continue;
                    }
                    if variance[j] < SMALLEST_SQUARE {
                        // squares vanish before deviations do
                        let column = || (0..n).map(|i| rows.row(i)[j].wide()).filter(|x| !x.is_nan());
                        let top = column().fold(0.0, |top: f64, x| top.max((x - shift[j]).abs()));
                        let inverse = 1.0 / top;
                        if top > 10.0 * f64::EPSILON * shift[j].abs() && inverse.is_finite() {
                            let squares = column().map(|x| ((x - shift[j]) * inverse).powi(2)).sum::<f64>();
                            factor[j] = inverse / (squares / counts[j]).sqrt();
                            continue;
                        }
                    }
                    // a deviation within rounding of the mean is a constant column, which becomes zero and not its rounding
                    if variance[j].sqrt() > 10.0 * f64::EPSILON * shift[j].abs() {
                        factor[j] = 1.0 / variance[j].sqrt();
                    } else if let Some(x) = (0..n).map(|i| rows.row(i)[j].wide()).find(|x| !x.is_nan()) {
                        shift[j] = x;
                    }
                }
            }
            Scale::Minmax => {
                for j in 0..d {
                    let column = (0..n).map(|i| rows.row(i)[j].wide());
                    let (low, high) = column.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
                    if low <= high {
                        shift[j] = low;
                        let inverse = 1.0 / (high - low);
                        factor[j] = if high > low && inverse.is_finite() { inverse } else { 1.0 };
                    }
                }
            }
        }
        for (j, _) in fixed.iter().enumerate().filter(|&(_, &f)| f) {
            (shift[j], factor[j]) = (0.0, 1.0);
        }
        Some(Self::Affine { shift, factor })
    }

    /// Applies the scaling in place.
    pub fn apply<S: Scalar>(&self, rows: &mut Rows<S>) {
        let d = rows.width();
        if d == 0 {
            return;
        }
        for row in rows.values_mut().chunks_mut(d) {
            match self {
                Self::Affine { shift, factor } => {
                    for ((x, s), f) in row.iter_mut().zip(shift).zip(factor) {
                        *x = S::narrow((x.wide() - s) * f);
                    }
                }
                Self::Unit => {
                    let known = row.iter().filter(|x| !x.wide().is_nan());
                    let squares = known.clone().map(|x| x.wide() * x.wide()).sum::<f64>();
                    // squares overflow or vanish before numbers do: the largest becomes one first
                    let top = known.fold(0.0, |top: f64, x| top.max(x.wide().abs()));
                    let fits = (SMALLEST_SQUARE..f64::INFINITY).contains(&squares) || top == 0.0;
                    let (top, length) = if fits {
                        (1.0, squares.sqrt())
                    } else {
                        let known = row.iter().filter(|x| !x.wide().is_nan());
                        (top, known.map(|x| (x.wide() / top).powi(2)).sum::<f64>().sqrt())
                    };
                    if length > 0.0 {
                        for x in row.iter_mut() {
                            *x = S::narrow(x.wide() / top / length);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_entries_that_were_kept_do_not_count() {
        let nan = f64::NAN;
        let gaps = Rows::new(vec![1.0, nan, nan, 3.0, 4.0, nan, nan, 5.0, nan], 3, 3).unwrap();
        for (scale, wanted) in [
            (Scale::Standard, "[-1.0, NaN, NaN, 1.0, -1.0, NaN, NaN, 1.0, NaN]"),
            (Scale::Minmax, "[0.0, NaN, NaN, 1.0, 0.0, NaN, NaN, 1.0, NaN]"),
            (Scale::Unit, "[1.0, NaN, NaN, 0.6, 0.8, NaN, NaN, 1.0, NaN]"),
        ] {
            let mut rows = gaps.clone();
            Scaler::learn(scale, &rows, &[false; 3]).unwrap().apply(&mut rows);
            assert_eq!(format!("{:?}", rows.values()), wanted);
        }
    }

    #[test]
    fn standard_uses_the_population_deviation_and_spares_constants() {
        let mut rows = Rows::new(vec![1.0, 5.0, 3.0, 5.0], 2, 2).unwrap();
        let scaler = Scaler::learn(Scale::Standard, &rows, &[false, false]).unwrap();
        scaler.apply(&mut rows);
        assert_eq!(rows.values(), [-1.0, 0.0, 1.0, 0.0]);
        let mut huge = Rows::new(vec![1e200, -1e200, 3e200, 1e200], 2, 2).unwrap();
        Scaler::learn(Scale::Standard, &huge, &[false, false]).unwrap().apply(&mut huge);
        assert!(huge.values().iter().zip([-1.0, -1.0, 1.0, 1.0]).all(|(x, y)| (x - y).abs() < 1e-12), "{huge:?}");
        // thirty times a tenth is not three, but nothing is left of it
        let mut tenths = Rows::new([0.1, 0.7].repeat(30), 30, 2).unwrap();
        Scaler::learn(Scale::Standard, &tenths, &[false, false]).unwrap().apply(&mut tenths);
        assert_eq!(tenths.values(), vec![0.0; 60]);
    }

    #[test]
    fn numbers_whose_squares_vanish_or_overflow_are_scaled_like_others() {
        let plain = [1.0, -4.0, 3.0, 2.5, -2.0, 0.5];
        for scale in [Scale::Standard, Scale::Minmax, Scale::Unit] {
            let scaled = |size: f64| {
                let mut rows = Rows::new(plain.iter().map(|x| x * size).collect(), 3, 2).unwrap();
                Scaler::learn(scale, &rows, &[false; 2]).unwrap().apply(&mut rows);
                rows.values().to_vec()
            };
            for size in [1e-300, 1e-200, 1e-160, 1e-150, 1e150, 1e200, 1e300] {
                for (a, b) in scaled(size).iter().zip(scaled(1.0)) {
                    assert!((a - b).abs() < 1e-9, "{scale:?} at {size:e}: {a} {b}");
                }
            }
        }
        // a constant stays one, however small
        let mut same = Rows::new(vec![3e-300; 4], 4, 1).unwrap();
        Scaler::learn(Scale::Standard, &same, &[false]).unwrap().apply(&mut same);
        assert_eq!(same.values(), [0.0; 4]);
    }

    #[test]
    fn minmax_and_unit() {
        let mut rows = Rows::new(vec![3.0, 4.0, 6.0, 8.0, 0.0, 0.0], 3, 2).unwrap();
        let mut other = rows.clone();
        Scaler::learn(Scale::Minmax, &rows, &[false, true]).unwrap().apply(&mut rows);
        assert_eq!(rows.values(), [0.5, 4.0, 1.0, 8.0, 0.0, 0.0]);
        Scaler::learn(Scale::Unit, &other, &[]).unwrap().apply(&mut other);
        assert_eq!(other.values(), [0.6, 0.8, 0.6, 0.8, 0.0, 0.0]);
    }
}
