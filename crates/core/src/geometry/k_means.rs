//! k means of weighted rows: Lloyd's iteration from centres drawn far apart.
//!
//! ```text
//! draw     μ₁ by the weights v, then each next one with probability ∝ v_i min_k ‖x_i − μ_k‖²
//! repeat   c_i = argmin_k ‖x_i − μ_k‖²,  μ_k = Σ_{c_i = k} v_i x_i / Σ_{c_i = k} v_i
//! ```
//! # Source
//! Arthur & Vassilvitskii (2007), k-means++: The advantages of careful seeding, for the draw.

use crate::seed::Random;
use rayon::prelude::*;

/// Largest number of rounds; centres rarely move after some twenty.
const MAX_ROUNDS: usize = 100;

/// Clusters of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    /// The centres, row by row.
    pub centres: Vec<f64>,
    /// The centre of every row.
    pub of: Vec<usize>,
}

/// At most `k` clusters, fewer where rows are repeated; none is empty.
///
/// Rows of `d` ≥ 1 numbers stand one after the other.
pub fn k_means(rows: &[f64], d: usize, weights: &[f64], k: usize, random: &mut Random) -> Clusters {
    let mut centres = draw(rows, d, weights, k, random);
    let mut of = nearest(rows, d, &centres);
    for _ in 0..MAX_ROUNDS {
        let count = centres.len() / d;
        let (mut sums, mut sizes) = (vec![0.0; count * d], vec![0.0; count]);
        // in the order of the rows, so that threads change no bit
        for (i, &c) in of.iter().enumerate() {
            sizes[c] += weights[i];
            sums[c * d..(c + 1) * d].iter_mut().zip(&rows[i * d..(i + 1) * d]).for_each(|(s, x)| *s += weights[i] * x);
        }
        // what nothing belongs to is given up
        centres.clear();
        for (sum, size) in sums.chunks_exact(d).zip(&sizes).filter(|(_, size)| **size > 0.0) {
            centres.extend(sum.iter().map(|s| s / size));
        }
        let next = nearest(rows, d, &centres);
        let settled = next == of;
        of = next;
        if settled {
            break;
        }
    }
    Clusters { centres, of }
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn draw(rows: &[f64], d: usize, weights: &[f64], k: usize, random: &mut Random) -> Vec<f64> {
    let mut shares = weights.to_vec();
    let mut apart = vec![f64::INFINITY; weights.len()];
    let mut centres = Vec::new();
    for _ in 0..k {
        let sum: f64 = shares.iter().sum();
        // every row that counts is a centre already
        if !(sum > 0.0 && sum.is_finite()) {
            break;
        }
        let mut left = random.uniform() * sum;
        let place = shares.iter().position(|s| {
            left -= s;
            left < 0.0
        });
        // rounding may leave a rest: the last one that can be drawn
        let Some(place) = place.or_else(|| shares.iter().rposition(|&s| s > 0.0)) else { break };
        let centre = &rows[place * d..(place + 1) * d];
        centres.extend_from_slice(centre);
        apart
            .par_iter_mut()
            .enumerate()
            .for_each(|(i, far)| *far = far.min(squared(&rows[i * d..(i + 1) * d], centre)));
        shares.iter_mut().zip(&apart).zip(weights).for_each(|((s, far), w)| *s = far * w);
    }
    centres
}

/// The nearest centre of every row, the first of equally near ones.
fn nearest(rows: &[f64], d: usize, centres: &[f64]) -> Vec<usize> {
    let one = |row: &[f64]| {
        let mut best = (f64::INFINITY, 0);
        for (c, centre) in centres.chunks_exact(d).enumerate() {
            let d2 = squared(row, centre);
            if d2 < best.0 {
                best = (d2, c);
            }
        }
        best.1
    };
    rows.par_chunks_exact(d).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn every_centre_is_the_mean_of_what_is_nearest_to_it() {
        let mut random = Seed(3).stream("points");
        let rows: Vec<[f64; 2]> =
            (0..200).map(|i| [random.normal() + f64::from(i % 4) * 3.0, random.normal()]).collect();
        let weights: Vec<f64> = (0..200).map(|i| if i % 9 == 0 { 0.0 } else { 1.0 + f64::from(i % 3) }).collect();
        let found = k_means(&rows.concat(), 2, &weights, 7, &mut Seed(0).stream("centres"));
        assert_eq!(found.centres.len(), 14);
        for (c, centre) in found.centres.chunks_exact(2).enumerate() {
            let of: Vec<usize> = (0..200).filter(|&i| found.of[i] == c).collect();
            let size: f64 = of.iter().map(|&i| weights[i]).sum();
            for j in 0..2 {
                let mean = of.iter().map(|&i| weights[i] * rows[i][j]).sum::<f64>() / size;
                assert!((mean - centre[j]).abs() < 1e-12);
            }
        }
        for (i, row) in rows.iter().enumerate() {
            let own = squared(row, &found.centres[found.of[i] * 2..found.of[i] * 2 + 2]);
            assert!(found.centres.chunks_exact(2).all(|c| squared(row, c) >= own));
        }
    }

    #[test]
    fn repeated_rows_and_rows_without_weight_make_no_clusters() {
        let rows = [[1.0, 2.0], [1.0, 2.0], [3.0, 4.0], [9.0, 9.0]].concat();
        let found = k_means(&rows, 2, &[1.0, 1.0, 1.0, 0.0], 4, &mut Seed(0).stream("centres"));
        let mut centres: Vec<&[f64]> = found.centres.chunks_exact(2).collect();
        centres.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert_eq!(centres, [[1.0, 2.0], [3.0, 4.0]]);
    }
}
