//! Two samples: definitions by loops, levels by simulation, and requests that are refused.

use super::*;
use crate::data::{Dataset, Rows};
use crate::formula::rbf;
use crate::geometry::testing::{linear, points};
use crate::gram::{Dense, fill};
use crate::watch::Silent;
use std::sync::Arc;

fn gaussian(x: Vec<f64>, d: usize) -> Arc<dyn Gram> {
    let n = x.len() / d;
    rbf(0.5).gram(&Dataset::new(Rows::new(x, n, d).unwrap())).unwrap()
}

/// The definition, by loops over pairs.
fn brute(k: &[f64], first: &[bool]) -> [f64; 2] {
    let total = first.len();
    let m = first.iter().filter(|f| **f).count() as f64;
    let n = total as f64 - m;
    let (mut biased, mut unbiased) = (0.0, 0.0);
    for i in 0..total {
        for j in 0..total {
            let value = k[i * total + j];
            let other = f64::from(u8::from(i != j));
            match (first[i], first[j]) {
                (true, true) => {
                    biased += value / (m * m);
                    unbiased += other * value / (m * (m - 1.0));
                }
                (false, false) => {
                    biased += value / (n * n);
                    unbiased += other * value / (n * (n - 1.0));
                }
                _ => {
                    biased -= value / (m * n);
                    unbiased -= value / (m * n);
                }
            }
        }
    }
    [biased, unbiased]
}

fn test(gram: &dyn Gram, first: &[bool], chance: Chance, draws: usize, seed: u64) -> TwoSample {
    two_sample(gram, first, chance, draws, Seed(seed), Budget::default(), &Silent).unwrap()
}

const PERMUTE: Chance = Chance::Permute(Statistic::Unbiased);

#[test]
fn statistics_are_the_definition() {
    let x = points(300, 2, 41);
    let first: Vec<bool> = (0..300).map(|i| i % 3 == 0).collect();
    for gram in [gaussian(x.clone(), 2), Arc::new(linear(&x, 2))] {
        let mut k = vec![0.0; 300 * 300];
        fill(gram.as_ref(), &mut k);
        let [biased, unbiased] = brute(&k, &first);
        let found = test(gram.as_ref(), &first, PERMUTE, 19, 1);
        assert_eq!(found.sizes, [100, 200]);
        assert!((found.biased - biased).abs() < 1e-12 && (found.unbiased - unbiased).abs() < 1e-12);
    }
    // the linear kernel's distance is that of the means
    let found = test(&linear(&x, 2), &first, PERMUTE, 1, 1);
    let mean = |wanted: bool, k: usize| {
        let all: Vec<f64> = (0..300).filter(|&i| first[i] == wanted).map(|i| x[2 * i + k]).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    let distance: f64 = (0..2).map(|k| (mean(true, k) - mean(false, k)).powi(2)).sum();
    assert!((found.biased - distance).abs() < 1e-12);
}

#[test]
fn the_p_value_is_that_of_all_subsets() {
    // seven choose three is 35: with many draws the share of subsets that are as large
    let x = [0.1, 0.7, 0.3, 1.9, 1.2, 2.5, 0.9];
    let gram = gaussian(x.to_vec(), 1);
    let mut k = vec![0.0; 49];
    fill(gram.as_ref(), &mut k);
    let first = [true, true, true, false, false, false, false];
    for (which, statistic) in [Statistic::Biased, Statistic::Unbiased].into_iter().enumerate() {
        let observed = brute(&k, &first)[which];
        let (mut above, mut all) = (0.0, 0.0);
        for bits in (0_u32..128).filter(|b| b.count_ones() == 3) {
            let subset: Vec<bool> = (0..7).map(|i| bits >> i & 1 == 1).collect();
            all += 1.0;
            above += f64::from(u8::from(brute(&k, &subset)[which] >= observed - 1e-12));
        }
        let wanted: f64 = above / all;
        let found = test(gram.as_ref(), &first, Chance::Permute(statistic), 20_000, 3).p;
        // five standard deviations of a share of 20 000
        let room = 5.0 * (wanted * (1.0 - wanted) / 20_000.0).sqrt();
        assert!((found.value - wanted).abs() < room, "{} instead of {wanted}", found.value);
        assert_eq!(found.null, Null::Permutations(20_000));
    }
}

/// The p-value of a test: of a matrix, the first sample and a seed.
type Tested<'a> = &'a dyn Fn(&dyn Gram, &[bool], u64) -> f64;

/// The share of p ≤ 0.1 in `rounds` rounds of two samples from one distribution, or of shifted ones.
fn rejections(rounds: u64, shift: f64, p: Tested<'_>) -> usize {
    let first: Vec<bool> = (0..50).map(|i| i < 20).collect();
    let rejected = |round: &u64| {
        let mut x = points(50, 2, 10_000 + round);
        x[..40].iter_mut().for_each(|v| *v += shift);
        p(gaussian(x, 2).as_ref(), &first, *round) <= 0.1
    };
    (0..rounds).filter(rejected).count()
}

#[test]
fn permutations_keep_their_level_and_see_a_shift() {
    let exact = |gram: &dyn Gram, first: &[bool], seed: u64| test(gram, first, PERMUTE, 99, seed).p.value;
    // 400 rounds at 0.1: 40 in expectation, and 14 to 73 with all but 1e-6 on both sides
    let found = rejections(400, 0.0, &exact);
    assert!((14..=73).contains(&found), "{found}");
    assert!(rejections(60, 1.0, &exact) > 50);
}

#[test]
fn the_bootstrap_is_near_its_level_and_sees_a_shift() {
    let wild = |gram: &dyn Gram, first: &[bool], seed: u64| test(gram, first, Chance::WildBootstrap, 99, seed).p.value;
    // asymptotic: a wider band than that of the permutations
    let found = rejections(400, 0.0, &wild);
    assert!((14..=85).contains(&found), "{found}");
    assert!(rejections(60, 1.0, &wild) > 50);
    // where samples differ, signs still imitate their agreement: replicates are far below the statistic
    let mut x = points(200, 1, 8);
    x[..100].iter_mut().for_each(|v| *v += 3.0);
    let first: Vec<bool> = (0..200).map(|i| i < 100).collect();
    let found = test(gaussian(x, 1).as_ref(), &first, Chance::WildBootstrap, 199, 2);
    assert!(found.p.value == 1.0 / 200.0 && found.critical < 0.1 * found.biased, "{found:?}");
}

#[test]
fn the_best_of_several_tests_breaks_the_level() {
    // negative control: the smallest p-value of five ways to cut the sample is caught by the band above
    let peeked = |gram: &dyn Gram, first: &[bool], seed: u64| {
        let turned = |by: usize| (0..first.len()).map(|i| first[(i + 11 * by) % first.len()]).collect::<Vec<_>>();
        (0..5).map(|cut| test(gram, &turned(cut), PERMUTE, 99, seed).p.value).fold(1.0, f64::min)
    };
    let found = rejections(400, 0.0, &peeked);
    assert!(found > 73, "{found}");
}

#[test]
fn linear_time_takes_pairs_and_keeps_its_level() {
    let exact = |gram: &dyn Gram, first: &[bool], seed: u64| {
        linear_two_sample(gram, first, Seed(seed), &Silent).unwrap().p.value
    };
    let found = rejections(400, 0.0, &exact);
    assert!((10..=85).contains(&found), "{found}");
    // its expectation is that of the unbiased one
    let mut x = points(4000, 1, 12);
    x[..2000].iter_mut().for_each(|v| *v += 1.0);
    let first: Vec<bool> = (0..4000).map(|i| i < 2000).collect();
    let gram = gaussian(x, 1);
    let (fast, whole) = (
        linear_two_sample(gram.as_ref(), &first, Seed(1), &Silent).unwrap(),
        test(gram.as_ref(), &first, PERMUTE, 1, 1),
    );
    assert!((fast.value - whole.unbiased).abs() < 0.05 && fast.p.value < 1e-6, "{fast:?} {whole:?}");
    assert_eq!(fast.p.null, Null::Normal);
}

#[test]
fn the_bound_holds_far_more_often_than_it_says_and_is_reached_by_its_own_p() {
    let first: Vec<bool> = (0..60).map(|i| i < 20).collect();
    for round in 0..200 {
        let found = test(gaussian(points(60, 1, 500 + round), 1).as_ref(), &first, PERMUTE, 1, 0);
        assert!(found.biased.sqrt() <= mmd_bound([20, 40], 1.0, 0.2));
    }
    // m = n = 1000, δ = 0.05: √0.002 (1 + √(2 ln 20))
    assert!((mmd_bound([1000, 1000], 1.0, 0.05) - 0.002_f64.sqrt() * (1.0 + 5.991_464_547_f64.sqrt())).abs() < 1e-9);
    let sure = TwoSample {
        sizes: [1000, 1000],
        biased: mmd_bound([1000, 1000], 2.0, 0.01).powi(2),
        unbiased: 0.0,
        p: PValue { value: 1.0, null: Null::Permutations(1) },
        critical: 0.0,
    };
    assert!((mmd_bound_p(&sure, 2.0).value - 0.01).abs() < 1e-12);
    // sharper than a bound for each sample alone at half of δ each: (R/√m)(1 + √(2 ln(2/δ))) twice
    let each = |m: f64| (1.0 + (2.0 * (2.0 / 0.05_f64).ln()).sqrt()) / m.sqrt();
    assert!(mmd_bound([50, 80], 1.0, 0.05) < each(50.0) + each(80.0));
}

#[test]
fn far_from_the_origin_nothing_is_lost() {
    let x = points(80, 2, 4);
    let far: Vec<f64> = x.iter().map(|v| v + 1e6).collect();
    let first: Vec<bool> = (0..80).map(|i| i < 30).collect();
    let (near, far) = (test(&linear(&x, 2), &first, PERMUTE, 99, 5), test(&linear(&far, 2), &first, PERMUTE, 99, 5));
    // kernel values near 1e12 keep four digits behind the point
    assert!((near.unbiased - far.unbiased).abs() < 1e-3, "{near:?} {far:?}");
    assert!((near.p.value - far.p.value).abs() <= 0.05);
}

#[test]
fn threads_change_nothing_and_odd_requests_are_refused() {
    let gram = gaussian(points(300, 2, 6), 2);
    let first: Vec<bool> = (0..300).map(|i| i < 100).collect();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| test(gram.as_ref(), &first, PERMUTE, 50, 9))
    };
    assert_eq!(with(1), with(4));
    let refused = |first: &[bool], gram: &dyn Gram, memory: usize| {
        two_sample(gram, first, PERMUTE, 10, Seed(0), Budget { memory }, &Silent).unwrap_err().to_string()
    };
    assert!(refused(&[true; 300], gram.as_ref(), 1 << 30).contains("not 300 and 0"));
    assert!(refused(&first[..5], gram.as_ref(), 1 << 30).contains("does not fit"));
    assert!(refused(&first, gram.as_ref(), 1000).contains("memory budget"));
    let mut values = vec![1.0; 16];
    values[6] = f64::NAN;
    let odd = Dense::new(values, 4, 4).unwrap();
    assert!(refused(&[true, true, false, false], &odd, 1 << 30).contains("row 2, column 3"));
    assert!(linear_two_sample(&odd, &[true, true, false, false], Seed(0), &Silent).is_err());
}
