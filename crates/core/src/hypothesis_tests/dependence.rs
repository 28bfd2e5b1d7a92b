//! Does one part of an example depend on another? The covariance of their features tells.
//!
//! ```text
//! HSIC_b = (1/n²) tr(K H L H),  H = I − 11ᵀ/n                          ‖C_xy‖² in feature space, with a bias of about 1/n
//! HSIC_u = (1/n(n−3)) [Σ_{i≠j} K_ij L_ij + 1ᵀK̃1 1ᵀL̃1/((n−1)(n−2)) − (2/(n−2)) 1ᵀK̃L̃1]        K̃, L̃: zero diagonals
//! ```
//! Both matrices are centred first, which changes neither. The rows of K̃ then add up to −K_ii, so that both statistics of a
//! permutation π come from two sums: Σ_{j<i} K_ij L_π(i)π(j) and Σ K_ii L_π(i)π(i).
//!
//! # Source
//! A. Gretton, K. Fukumizu, C. H. Teo, L. Song, B. Schölkopf & A. Smola, A kernel statistical test of independence, NIPS 20 (2007),
//! also for the gamma approximation; L. Song, A. Smola, A. Gretton, J. Bedo & K. Borgwardt, Feature selection via dependence
//! maximization, JMLR 13 (2012), for HSIC_u.

use super::forms::FEWER;
use super::gamma::upper_gamma;
use super::p_value::{Null, PValue, rank_p};
use crate::error::Error;
use crate::gram::{Budget, Dense, Gram};
use crate::linalg::SolveError;
use crate::seed::Seed;
use crate::watch::{Monitor, Phase, Progress};
use rayon::prelude::*;

/// Rows of L that are taken together.
const STRIP: usize = 16;
/// Smallest number of examples with a variance of the statistic.
const MIN_EXAMPLES: usize = 6;
/// Rounding of equal statistics, relative to the largest possible one.
const ROUNDING: f64 = 1e-12;

/// Two parts of the same examples, compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependence {
    /// The number of examples.
    pub n: usize,
    /// HSIC_b.
    pub biased: f64,
    /// HSIC_u.
    pub unbiased: f64,
    /// HSIC_b over the root of that of each part with itself: the alignment of the centred matrices, from 0 to 1. NaN where a
    /// part is the same for all examples.
    pub alignment: f64,
    /// The p-value of HSIC_b under independence, by permutations. The alignment has the same.
    pub p: PValue,
    /// The same by permutations of HSIC_u.
    pub p_unbiased: PValue,
    /// The same by a gamma distribution with the estimated mean and variance.
    pub gamma: PValue,
}

/// Measures how much what K compares depends on what L compares, example by example. Permutations, which are of L, are exact where what
/// the kernel of L has learned is the same for every order of the examples: see [`Formula::of_pool`](crate::formula::Formula::of_pool).
///
/// # Use when
/// Columns and a target, or two sets of columns of any kind, are to be tested for any dependence, not only a linear one.
///
/// # Cost
/// Both matrices are stored; n²/2 multiplications for each permutation.
///
/// # Errors
/// If there are fewer than six examples, a value is not finite, or the matrices do not fit into memory.
pub fn dependence(
    k: &dyn Gram,
    l: &dyn Gram,
    permutations: usize,
    seed: Seed,
    budget: Budget,
    watch: &dyn Monitor,
) -> Result<Dependence, Error> {
    let n = k.shape().0;
    if k.shape() != (n, n) || l.shape() != (n, n) {
        let finding = format!("two square matrices of one size are needed, not {:?} and {:?}", k.shape(), l.shape());
        return Err(SolveError::Programme(finding).into());
    }
    if n < MIN_EXAMPLES {
        let finding = format!("dependence is measured on {MIN_EXAMPLES} examples or more, not {n}");
        return Err(SolveError::Programme(finding).into());
    }
    let each = 8 * (n + 2 * rayon::current_num_threads() + 2);
    let extra = each.saturating_mul(permutations.saturating_add(1)).saturating_add(8 * n * n);
    let stored = |gram: &dyn Gram, extra| {
        budget.dense(gram, extra, "the test of dependence").map_err(|e| e.remedy(FEWER)).map(Dense::into_values)
    };
    let k = centred(stored(k, extra)?, n)?;
    let l = centred(stored(l, 8 * n * n)?, n)?;
    let orders = orders(n, permutations, seed);
    let sums = over_pairs(&k, &l, n, &orders, watch)?;
    let size = n as f64;
    let (own_k, own_l) = (trace(&k, n), trace(&l, n));
    let values = |b: usize| {
        let order = &orders[b * n..(b + 1) * n];
        let selves: f64 = order.iter().enumerate().map(|(i, &p)| k[i * n + i] * l[p as usize * (n + 1)]).sum();
        let biased = (2.0 * sums[b] + selves) / (size * size);
        let rest = own_k * own_l / ((size - 1.0) * (size - 2.0)) - 2.0 * selves / (size - 2.0);
        [biased, (2.0 * sums[b] + rest) / (size * (size - 3.0))]
    };
    let squares = |a: &[f64]| a.iter().map(|v| v * v).sum::<f64>();
    let most = (squares(&k) * squares(&l)).sqrt() / (size * size);
    let all: Vec<[f64; 2]> = (0..=permutations).map(values).collect();
    let p = |which: usize| {
        let replicates: Vec<f64> = all[1..].iter().map(|v| v[which]).collect();
        PValue { value: rank_p(all[0][which], &replicates, ROUNDING * most), null: Null::Permutations(permutations) }
    };
    let [biased, unbiased] = all[0];
    Ok(Dependence {
        n,
        biased: biased.max(0.0),
        unbiased,
        alignment: biased / most,
        p: p(0),
        p_unbiased: p(1),
        gamma: PValue { value: gamma(&k, &l, n, biased), null: Null::Gamma },
    })
}

fn trace(k: &[f64], n: usize) -> f64 {
    k.iter().step_by(n + 1).sum()
}

/// H K H, of the symmetric part.
fn centred(mut k: Vec<f64>, n: usize) -> Result<Vec<f64>, SolveError> {
    if let Some(p) = k.iter().position(|v| !v.is_finite()) {
        return Err(SolveError::NotFinite { row: p / n + 1, column: p % n + 1 });
    }
    // twice: the first leaves what rounding made of a large constant
    for _ in 0..2 {
        let means: Vec<f64> = k.chunks_exact(n).map(|row| row.iter().sum::<f64>() / n as f64).collect();
        let all = means.iter().sum::<f64>() / n as f64;
        for (row, own) in k.chunks_exact_mut(n).zip(&means) {
            row.iter_mut().zip(&means).for_each(|(v, mean)| *v += all - own - mean);
        }
    }
    Ok(k)
}

/// The order as it is, and random ones.
fn orders(n: usize, permutations: usize, seed: Seed) -> Vec<u32> {
    let mut random = seed.stream("dependence");
    let mut orders: Vec<u32> = (0..n as u32).collect();
    for _ in 0..permutations {
        orders.extend(random.permutation(n).into_iter().map(|p| p as u32));
    }
    orders
}

/// Σ_{j<i} K_ij L_π(i)π(j) of every order: row by row of L, which stays in the nearest cache for all of them.
fn over_pairs(k: &[f64], l: &[f64], n: usize, orders: &[u32], watch: &dyn Monitor) -> Result<Vec<f64>, SolveError> {
    let count = orders.len() / n;
    let mut sums = vec![0.0; count];
    let mut places = vec![0; orders.len()];
    for (place, order) in places.chunks_exact_mut(n).zip(orders.chunks_exact(n)) {
        order.iter().enumerate().for_each(|(i, &a)| place[a as usize] = i as u32);
    }
    let strips: Vec<usize> = (0..n).step_by(STRIP).collect();
    for batch in strips.chunks(2 * rayon::current_num_threads()) {
        watch.alive(Progress::new(Phase::new("test"), batch[0]).of(n))?;
        let parts: Vec<Vec<f64>> = batch
            .par_iter()
            .map(|&start| {
                let mut part = vec![0.0; count];
                for a in start..(start + STRIP).min(n) {
                    let row = &l[a * n..(a + 1) * n];
                    let all = orders.chunks_exact(n).zip(places.chunks_exact(n));
                    for (sum, (order, places)) in part.iter_mut().zip(all) {
                        let i = places[a] as usize;
                        *sum += product(&k[i * n..i * n + i], row, order);
                    }
                }
                part
            })
            .collect();
        // in the order of the strips, so that the sums do not depend on the threads
        for part in parts {
            sums.iter_mut().zip(part).for_each(|(sum, p)| *sum += p);
        }
    }
    Ok(sums)
}

/// Σ_j k_j l_π(j), in four sums that do not wait for each other.
fn product(k: &[f64], l: &[f64], order: &[u32]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, places) = (k.chunks_exact(4), order[..k.len()].chunks_exact(4));
    let rest: f64 = fours.remainder().iter().zip(places.remainder()).map(|(k, &p)| k * l[p as usize]).sum();
    for (k, p) in fours.zip(places) {
        for lane in 0..4 {
            sums[lane] += k[lane] * l[p[lane] as usize];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// P(HSIC_b is as large without dependence), for a gamma variable with
/// E HSIC_b = (1/n) tr C_xx tr C_yy and Var HSIC_b = 2(n−4)(n−5)/(n(n−1)(n−2)(n−3)) mean_{i≠j} (K_ij L_ij)², K and L centred.
fn gamma(k: &[f64], l: &[f64], n: usize, biased: f64) -> f64 {
    let size = n as f64;
    let mean = trace(k, n) * trace(l, n) / ((size - 1.0) * (size - 1.0) * size);
    let squares: f64 = (0..n * n).filter(|p| p / n != p % n).map(|p| (k[p] * l[p]).powi(2)).sum();
    let factor = 2.0 * (size - 4.0) * (size - 5.0) / (size * (size - 1.0) * (size - 2.0) * (size - 3.0));
    let variance = factor * squares / (size * (size - 1.0));
    if !(variance > 0.0 && mean > 0.0) {
        return 1.0;
    }
    upper_gamma(mean * mean / variance, biased * mean / variance)
}

#[cfg(test)]
#[path = "dependence_tests.rs"]
mod tests;
