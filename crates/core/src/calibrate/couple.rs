//! Pairwise coupling: probabilities of k classes from those of their pairs.
//!
//! Let r_ab be the probability of a among a and b. p minimises Σ_a Σ_{b≠a} (r_ba p_a − r_ab p_b)² over the simplex. With
//! Q_aa = Σ_{b≠a} r_ba² and Q_ab = −r_ba r_ab the objective is 2 pᵀQp, and the minimum is where all (Qp)_a are equal:
//! (Qp)_a = pᵀQp. Each step makes one of these equations hold and divides p by its sum; p ≥ 0 holds by itself.
//!
//! # Source
//! Wu, Lin & Weng (2004), Probability Estimates for Multi-class Classification by Pairwise Coupling, §4 (second method),
//! algorithm 2; in the order of LIBSVM's `multiclass_probability`.

/// Most rounds over all classes.
pub(crate) const ROUNDS: usize = 1000;
/// The largest difference of (Qp)_a from pᵀQp that is left, for each class; LIBSVM stops at 5e-3.
pub(crate) const TOLERANCE: f64 = 1e-13;

/// Probabilities of `k` classes from `r`, k × k numbers row by row; r_ab in (0, 1), r_ab + r_ba = 1, the diagonal unread.
pub fn couple(r: &[f64], k: usize) -> Vec<f64> {
    let mut q = vec![0.0; k * k];
    for a in 0..k {
        for b in (0..k).filter(|&b| b != a) {
            q[a * k + a] += r[b * k + a] * r[b * k + a];
            q[a * k + b] = -r[b * k + a] * r[a * k + b];
        }
    }
    let mut p = vec![1.0 / k as f64; k];
    let mut qp = vec![0.0; k];
    for _ in 0..ROUNDS {
        // afresh in each round, so that errors of the updates do not pile up
        for (a, entry) in qp.iter_mut().enumerate() {
            *entry = (0..k).map(|b| q[a * k + b] * p[b]).sum();
        }
        let mut pqp: f64 = p.iter().zip(&qp).map(|(p, qp)| p * qp).sum();
        if qp.iter().all(|entry| (entry - pqp).abs() <= TOLERANCE / k as f64) {
            break;
        }
        for a in 0..k {
            // p_a moves so that (Qp)_a = pᵀQp, then everything is divided by the new sum 1 + move
            let change = (pqp - qp[a]) / q[a * k + a];
            let sum = 1.0 + change;
            p[a] += change;
            pqp = (pqp + change * (change * q[a * k + a] + 2.0 * qp[a])) / sum / sum;
            for b in 0..k {
                qp[b] = (qp[b] + change * q[a * k + b]) / sum;
                p[b] /= sum;
            }
        }
    }
    let sum: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p /= sum);
    p
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Random, Seed};

    fn pairs(k: usize, random: &mut Random, mut draw: impl FnMut(&mut Random, usize, usize) -> f64) -> Vec<f64> {
        let mut r = vec![0.0; k * k];
        for a in 0..k {
            for b in a + 1..k {
                r[a * k + b] = draw(random, a, b).clamp(1e-7, 1.0 - 1e-7);
                r[b * k + a] = 1.0 - r[a * k + b];
            }
        }
        r
    }

    /// Q p = β e, eᵀp = 1, by elimination with pivots.
    fn solved(r: &[f64], k: usize) -> Vec<f64> {
        let m = k + 1;
        let mut rows = vec![vec![0.0; m + 1]; m];
        for a in 0..k {
            for b in (0..k).filter(|&b| b != a) {
                rows[a][a] += r[b * k + a].powi(2);
                rows[a][b] = -r[b * k + a] * r[a * k + b];
            }
            rows[a][k] = -1.0;
            rows[k][a] = 1.0;
        }
        rows[k][m] = 1.0;
        for c in 0..m {
            let pivot = (c..m).max_by(|&i, &j| rows[i][c].abs().total_cmp(&rows[j][c].abs())).unwrap();
            rows.swap(c, pivot);
            for i in (0..m).filter(|&i| i != c) {
                let factor = rows[i][c] / rows[c][c];
                for j in c..=m {
                    rows[i][j] -= factor * rows[c][j];
                }
            }
        }
        (0..k).map(|a| rows[a][m] / rows[a][a]).collect()
    }

    #[test]
    fn consistent_pairs_give_their_probabilities_back() {
        let mut random = Seed(1).stream("couple");
        for k in [2, 3, 5, 12] {
            let mut p: Vec<f64> = (0..k).map(|_| 0.05 + random.uniform()).collect();
            let sum: f64 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= sum);
            let r = pairs(k, &mut random, |_, a, b| p[a] / (p[a] + p[b]));
            for (got, wanted) in couple(&r, k).iter().zip(&p) {
                assert!((got - wanted).abs() < 1e-9, "{k}");
            }
        }
    }

    #[test]
    fn the_iteration_ends_at_the_fixed_point_of_the_direct_solution() {
        let mut random = Seed(2).stream("couple");
        for round in 0..300 {
            let k = 3 + round % 8;
            // every third round has pairs that are almost certain, and contradict each other
            let r = pairs(k, &mut random, |random, _, _| {
                let u = random.uniform();
                if round % 3 == 0 { f64::from(u8::from(u > 0.5)) } else { u }
            });
            let p = couple(&r, k);
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-14 && p.iter().all(|&p| p >= 0.0), "{p:?}");
            let wanted = solved(&r, k);
            let off = p.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < if round % 3 == 0 { 1e-4 } else { 1e-8 }, "{round}: {off:e} {p:?} {wanted:?}");
            // the fixed point equations (Qp)_a = pᵀQp
            let column = |a: usize| -> f64 {
                (0..k).filter(|&b| b != a).map(|b| r[b * k + a] * (r[b * k + a] * p[a] - r[a * k + b] * p[b])).sum()
            };
            let mean: f64 = (0..k).map(|a| p[a] * column(a)).sum();
            assert!((0..k).all(|a| (column(a) - mean).abs() < 1e-9), "{round}");
        }
    }

    #[test]
    fn equal_pairs_are_equal_classes() {
        let r = pairs(4, &mut Seed(0).stream("x"), |_, _, _| 0.5);
        assert_eq!(couple(&r, 4), [0.25; 4]);
    }
}
