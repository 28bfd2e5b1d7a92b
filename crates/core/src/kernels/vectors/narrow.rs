//! Vectors of new examples in f32, as panels meet them.

use super::packed::weight;
use crate::data::Scalar;
use crate::vectorise::{Loops, vectorised};

/// Appends a vector in f32, moved and weighted; its squared length.
pub(super) fn narrow_row<S: Scalar>(
    row: &[S],
    (shift, weights): (Option<&[f64]>, Option<&[f64]>),
    out: &mut Vec<f32>,
) -> f32 {
    struct Narrow<'a, S> {
        row: &'a [S],
        shift: Option<&'a [f64]>,
        factor: f64,
        weights: &'a [f64],
        out: &'a mut [f32],
    }
    impl<S: Scalar> Loops for Narrow<'_, S> {
        type Output = f32;
        #[inline(always)]
        fn run(self) -> f32 {
            match self.shift {
                Some(shift) => {
                    for ((o, x), s) in self.out.iter_mut().zip(self.row).zip(shift) {
                        *o = ((x.wide() - s) * self.factor) as f32;
                    }
                }
                None => self.out.iter_mut().zip(self.row).for_each(|(o, x)| *o = (x.wide() * self.factor) as f32),
            }
            // factors of the coordinates: the numbers are not rounded before
            if !self.weights.is_empty() {
                for (k, (o, x)) in self.out.iter_mut().zip(self.row).enumerate() {
                    *o = ((x.wide() - self.shift.map_or(0.0, |s| s[k])) * weight(self.weights, k)) as f32;
                }
            }
            // sixteen sums, whose order no instruction set changes
            let mut sums = [0.0_f64; 16];
            let (parts, rest) = self.out.as_chunks::<16>();
            for part in parts {
                for (sum, x) in sums.iter_mut().zip(part) {
                    *sum += f64::from(*x) * f64::from(*x);
                }
            }
            let rest: f64 = rest.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
            (sums.iter().sum::<f64>() + rest) as f32
        }
    }
    let start = out.len();
    out.resize(start + row.len(), 0.0);
    let (factor, weights) = match weights {
        Some([one]) => (*one, &[][..]),
        Some(all) => (1.0, all),
        None => (1.0, &[][..]),
    };
    vectorised(Narrow { row, shift, factor, weights, out: &mut out[start..] })
}
