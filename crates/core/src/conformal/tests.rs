//! Numbers by hand and by brute force.

use super::*;
use crate::calibrate::Form;
use crate::seed::Seed;

const SPLIT: (Method, bool, Measure) = (Method::Split, false, Measure::Residual);

fn random(n: usize, seed: u64) -> Vec<f64> {
    let mut random = Seed(seed).stream("conformal");
    (0..n).map(|_| random.normal()).collect()
}

#[test]
fn the_rank_is_the_smallest_that_covers() {
    // in whole numbers: the smallest k with 1000 k ≥ (n + 1) · thousandths
    for n in 0..400_usize {
        for thousandths in [1, 50, 333, 500, 550, 900, 930, 950, 990, 999] {
            let wanted = (1..=n + 1).find(|k| 1000 * k >= (n + 1) * thousandths).unwrap();
            assert_eq!(rank(n, thousandths as f64 / 1000.0), wanted, "{n} {thousandths}");
        }
    }
    assert_eq!((rank(9, 0.9), rank(8, 0.9), rank(0, 0.5)), (9, 9, 1));
}

#[test]
fn coverages_out_of_range_are_refused() {
    for coverage in [0.0, 1.0, -0.1, 1.5, f64::NAN, f64::INFINITY] {
        assert!(checked(coverage).unwrap_err().to_string().contains("between 0 and 1"));
    }
    assert!(checked(0.5).is_ok());
}

#[test]
fn regions_are_those_of_the_definition() {
    // ties on purpose: numbers are rounded to halves
    let rounded = |xs: Vec<f64>| xs.into_iter().map(|x| (2.0 * x).round() / 2.0).collect::<Vec<_>>();
    for (n, members) in [(1, 1), (9, 1), (10, 1), (57, 1), (30, 5), (31, 4), (12, 12)] {
        let scores = rounded(random(n, 1));
        let of: Vec<usize> = (0..n).map(|i| i % members).collect();
        let method = if members == 1 { Method::Split } else { Method::Cross };
        let conformal = Conformal::new((method, false, Measure::Margin), &scores, 1, &[], &of);
        assert_eq!((conformal.members(), conformal.held_out(0)), (members, n));
        let (new, k) = (20, 3);
        let measured = rounded(random(new * members * k, 2));
        let p = conformal.p_values(&measured, k);
        for coverage in [0.05, 0.5, 0.8, 0.9, 0.99] {
            let inside = conformal.inside(&measured, k, coverage);
            for i in 0..new {
                for y in 0..k {
                    let at = |m: usize| measured[(i * members + m) * k + y];
                    let count = (0..n).filter(|&j| scores[j] >= at(of[j])).count();
                    let wanted = (1 + count) as f64 / (1 + n) as f64;
                    assert_eq!(p[i * k + y], wanted);
                    // p > α, in thousandths
                    let level = (1000.0 * (1.0 - coverage)).round() as usize;
                    assert_eq!(inside[i * k + y], 1000 * (1 + count) > level * (1 + n), "{n} {coverage}");
                }
            }
        }
    }
}

#[test]
fn intervals_are_those_of_sorted_lists() {
    for (n, members) in [(1, 1), (20, 1), (30, 5), (31, 4), (12, 12)] {
        let residuals: Vec<f64> = random(2 * n, 3).iter().map(|r| r.abs()).collect();
        let of: Vec<usize> = (0..n).map(|i| i % members).collect();
        let conformal = Conformal::new(SPLIT, &residuals, 2, &[], &of);
        let values = random(7 * members * 2, 4);
        for coverage in [0.55, 0.8, 0.9, 0.95] {
            let (lower, upper) = conformal.intervals(&values, coverage);
            for i in 0..7 {
                for c in 0..2 {
                    let end = |sign: f64| {
                        let f = |j: usize| values[(i * members + of[j]) * 2 + c];
                        let mut all: Vec<f64> = (0..n).map(|j| f(j) + sign * residuals[2 * j + c]).collect();
                        all.sort_by(|a, b| (sign * a).total_cmp(&(sign * b)));
                        all.get(rank(n, coverage) - 1).copied().unwrap_or(sign * f64::INFINITY)
                    };
                    let (low, high) = (lower[2 * i + c], upper[2 * i + c]);
                    let near = |a: f64, b: f64| a == b || (a - b).abs() < 1e-12;
                    assert!(near(low, end(-1.0)) && near(high, end(1.0)), "{n} {coverage}: {low} {high}");
                }
            }
        }
    }
}

#[test]
fn intervals_hold_the_region_of_p_values() {
    // Barber et al. (2021): the interval of jackknife+ holds every y whose p-value is above α
    let (n, members) = (40, 8);
    let residuals: Vec<f64> = random(n, 5).iter().map(|r| r.abs()).collect();
    let of: Vec<usize> = (0..n).map(|i| i % members).collect();
    let conformal = Conformal::new((Method::Cross, false, Measure::Residual), &residuals, 1, &[], &of);
    let values: Vec<f64> = random(members, 6).iter().map(|f| 0.3 * f).collect();
    for coverage in [0.6, 0.8, 0.9] {
        let (lower, upper) = conformal.intervals(&values, coverage);
        let mut held = 0;
        for step in -400..=400 {
            let y = f64::from(step) / 100.0;
            let measured: Vec<f64> = values.iter().map(|f| (y - f).abs()).collect();
            if conformal.inside(&measured, 1, coverage)[0] {
                held += 1;
                assert!(lower[0] <= y && y <= upper[0], "{y} {lower:?} {upper:?}");
            }
        }
        assert!(held > 20);
    }
}

#[test]
fn too_few_examples_give_everything_and_say_so() {
    let conformal = Conformal::new(SPLIT, &random(8, 1), 1, &[], &[0; 8]).with_proof(true, RepeatsBeside::default());
    assert_eq!(conformal.intervals(&[1.0], 0.9), (vec![f64::NEG_INFINITY], vec![f64::INFINITY]));
    assert!(conformal.inside(&[f64::INFINITY, 5.0], 2, 0.9).iter().all(|i| *i));
    let [g] = conformal.guarantees(0.9).try_into().unwrap();
    assert!(g.everything && g.conditional.is_none());
    assert_eq!((g.least, g.most, g.exact), (Some(1.0), Some(1.0), Some(1.0)));
    let enough = Conformal::new(SPLIT, &random(9, 1), 1, &[], &[0; 9]);
    assert!(!enough.guarantees(0.9)[0].everything);
}

#[test]
fn a_label_that_the_model_does_not_know_is_in_the_region_of_the_theorem() {
    // of 19 at 0.9 the region holds what is no stranger than the 18th, so two infinite ones open it
    let with_infinite = |count: usize| {
        let mut scores = random(19 - count, 1);
        scores.extend(vec![f64::INFINITY; count]);
        let kind = (Method::Split, false, Measure::Margin);
        Conformal::new(kind, &scores, 1, &[], &[0; 19]).with_proof(true, RepeatsBeside::default())
    };
    for (count, held) in [(0, false), (1, false), (2, true), (5, true)] {
        let conformal = with_infinite(count);
        assert_eq!(conformal.holds_unknown(0.9), held, "{count}");
        // it is in the region exactly when a known label that is infinitely strange is
        assert_eq!(conformal.inside(&[f64::INFINITY], 1, 0.9), [held], "{count}");
        let [g] = conformal.guarantees(0.9).try_into().unwrap();
        assert_eq!((g.unknown, g.least), (held, Some(0.9)));
        // equal nonconformities leave no exact coverage
        assert_eq!(g.exact.is_some(), count < 2, "{count}");
    }
    assert!(with_infinite(0).holds_unknown(0.99), "too few examples give everything, and it is everything");
    // numbers have no labels, and a class of its own has no example that could exclude it
    assert!(!Conformal::new(SPLIT, &random(3, 1), 1, &[], &[0; 3]).holds_unknown(0.9));
    let each = Conformal::new((Method::Cross, true, Measure::Margin), &random(40, 1), 2, &[0; 40], &[0; 40]);
    assert!(each.holds_unknown(0.8));
}

#[test]
fn a_class_without_calibration_examples_is_in_every_set() {
    let conformal =
        Conformal::new((Method::Split, true, Measure::Margin), &[-1.0; 20], 3, &[[0; 10], [1; 10]].concat(), &[0; 20]);
    assert_eq!(conformal.inside(&[0.0, 0.0, 9.0], 3, 0.8), [false, false, true]);
    let told: Vec<bool> = conformal.guarantees(0.8).iter().map(|g| g.everything).collect();
    assert_eq!(told, [false, false, true]);
}

#[test]
fn what_is_proven_of_split_fits_together() {
    for n in [19, 99, 100, 1000, 1003] {
        let conformal =
            Conformal::new(SPLIT, &random(n, 1), 1, &[], &vec![0; n]).with_proof(true, RepeatsBeside::default());
        for coverage in [0.5, 0.8, 0.9, 0.93] {
            let [g] = conformal.guarantees(coverage).try_into().unwrap();
            let (exact, most) = (g.exact.unwrap(), g.most.unwrap());
            assert!(g.least.unwrap() <= exact + 1e-12 && exact <= most + 1e-12, "{g:?}");
            let beta = g.conditional.unwrap();
            assert!((beta.a / (beta.a + beta.b) - exact).abs() < 1e-12, "the mean of Beta(n + 1 − l, l)");
            assert!((beta.b - ((n + 1) as f64 * (1.0 - coverage) + 1e-9).floor()).abs() < 1e-9);
            assert!(beta.fifth < exact);
        }
    }
    let of = |n: usize| {
        let conformal =
            Conformal::new(SPLIT, &random(n, 1), 1, &[], &vec![0; n]).with_proof(true, RepeatsBeside::default());
        conformal.guarantees(0.9)[0].conditional.unwrap()
    };
    assert!((of(100).fifth - 0.848_204_571_4).abs() < 1e-9);
    assert!((of(1000).fifth - 0.884).abs() < 5e-4);
}

#[test]
fn what_is_proven_of_folds_is_the_sharper_bound() {
    let least = |method, n: usize, k: usize, coverage| {
        let of: Vec<usize> = (0..n).map(|i| i % k).collect();
        let conformal = Conformal::new((method, false, Measure::Residual), &random(n, 1), 1, &[], &of);
        // numbers alone prove nothing
        assert_eq!(conformal.guarantees(coverage)[0].least, None);
        conformal.with_proof(true, RepeatsBeside::default()).guarantees(coverage)[0].least.unwrap()
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    near(least(Method::Jackknife, 50, 50, 0.9), 0.8);
    // one example a fold is jackknife+
    near(least(Method::Cross, 50, 50, 0.9), 0.8);
    // 2(1 − α)(K − 1)/(n + K) = 2 · 0.9 · 9 / 1010 against (1 − 1/100)/11
    near(least(Method::Cross, 1000, 10, 0.9), 0.8 - 16.2 / 1010.0);
    // many folds: (1 − K/n)/(K + 1) is less
    near(least(Method::Cross, 100, 50, 0.9), 0.8 - 0.5 / 51.0);
    // unequal folds have the first bound alone
    near(least(Method::Cross, 101, 50, 0.9), 0.8 - 1.8 * 49.0 / 151.0);
    // Barber et al. (2021), Theorem 4, is never better
    for (n, k) in [(100, 2), (100, 5), (100, 50), (1000, 10), (40, 20)] {
        let (nf, kf) = (n as f64, k as f64);
        let printed = (2.0 * (1.0 - 1.0 / kf) / (nf / kf + 1.0)).min((1.0 - kf / nf) / (kf + 1.0));
        assert!(least(Method::Cross, n, k, 0.9) >= 0.8 - printed - 1e-12);
        assert!(least(Method::Cross, n, k, 0.9) >= 0.8 - (2.0 / nf).sqrt());
    }
}

#[test]
fn the_label_that_wins_has_the_least_nonconformity() {
    let classes = nonconformities(Form::Classes, 3, &[0.2, 1.5, -1.0]);
    assert_eq!(classes, [1.3, -1.3, 2.5]);
    // pairs ab ac bc: b beats a by 1 and c by 2, a beats c by 0.5
    assert_eq!(nonconformities(Form::Pairs, 3, &[-1.0, 0.5, 2.0]), [1.0, -1.0, 2.0]);
    assert_eq!(nonconformities(Form::Pairs, 2, &[0.75]), [-0.75, 0.75]);
    let shifted = nonconformities(Form::Classes, 3, &[100.5, 102.0, 99.0]);
    assert_eq!(shifted, nonconformities(Form::Classes, 3, &[0.5, 2.0, -1.0]));
    // a class that a model does not know
    let missing = nonconformities(Form::Classes, 3, &[0.25, f64::NAN, 1.0]);
    assert_eq!((missing[0], missing[1], missing[2]), (0.75, f64::INFINITY, -0.75));
    let missing = nonconformities(Form::Pairs, 3, &[f64::NAN, 0.5, f64::NAN]);
    assert_eq!(missing, [-0.5, f64::INFINITY, 0.5]);
}

#[test]
fn the_order_of_examples_does_not_matter() {
    let (scores, n) = (random(30, 9), 30);
    let of: Vec<usize> = (0..n).map(|i| i % 3).collect();
    let order = Seed(2).stream("order").permutation(n);
    let kind = (Method::Cross, false, Measure::Margin);
    let plain = Conformal::new(kind, &scores, 1, &[], &of);
    let mixed: (Vec<f64>, Vec<usize>) = order.iter().map(|&i| (scores[i], of[i])).unzip();
    assert_eq!(plain.groups, Conformal::new(kind, &mixed.0, 1, &[], &mixed.1).groups);
}
