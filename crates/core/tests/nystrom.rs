//! The Nyström approximation as a part of formulas: what it is, what machines make of it, and what is kept of it.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::{in_pool, values};
use mercer::conformal::{Method, Recipe};
use mercer::formula::{Landmarking, State};
use mercer::gram::{Budget, Gram, Side};
use mercer::hypothesis_tests::{Chance, Statistic, two_sample};
use mercer::machines::{Coefficients, Machine};
use mercer::prelude::*;
use mercer::watch::Silent;
use std::sync::Arc;

const WAYS: [Landmarking; 3] = [Landmarking::Uniform, Landmarking::Greedy, Landmarking::KMeans];

fn read(text: &str) -> Formula {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn clouds(n: usize, seed: u64) -> Dataset {
    let mut random = Seed(seed).stream("clouds");
    let x: Vec<f64> = (0..3 * n).map(|k| random.normal() + 1.5 * f64::from(u8::from(k / 3 % 2 == 0))).collect();
    let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    Dataset::new(Rows::new(x, n, 3).unwrap()).with_target(y).unwrap()
}

fn strings(n: usize) -> Dataset {
    let mut random = Seed(4).stream("strings");
    let word = |random: &mut mercer::seed::Random| (0..8).map(|_| ['a', 'b', 'c'][random.below(3)]).collect();
    Dataset::new((0..n).map(|_| word(&mut random)).collect::<Vec<String>>())
}

fn off(a: &dyn Gram, b: &dyn Gram) -> f64 {
    values(a).iter().zip(values(b)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// k(x)ᵀ K_mm⁻¹ k(z) by Gaussian elimination.
fn by_hand(square: &[f64], rows: &[f64], cols: &[f64], m: usize) -> Vec<f64> {
    let (n, k) = (rows.len() / m, cols.len() / m);
    let mut a = square.to_vec();
    let mut b: Vec<f64> = (0..m * k).map(|p| cols[(p % k) * m + p / k]).collect();
    for p in 0..m {
        let best = (p..m).max_by(|&i, &j| a[i * m + p].abs().total_cmp(&a[j * m + p].abs())).unwrap();
        (0..m).for_each(|c| a.swap(p * m + c, best * m + c));
        (0..k).for_each(|c| b.swap(p * k + c, best * k + c));
        for i in (0..m).filter(|&i| i != p) {
            let f = a[i * m + p] / a[p * m + p];
            (0..m).for_each(|c| a[i * m + c] -= f * a[p * m + c]);
            (0..k).for_each(|c| b[i * k + c] -= f * b[p * k + c]);
        }
    }
    let solved = |i: usize, j: usize| b[i * k + j] / a[i * m + i];
    (0..n * k).map(|p| (0..m).map(|i| rows[p / k * m + i] * solved(i, p % k)).sum()).collect()
}

#[test]
fn it_is_the_projection_on_its_landmarks() {
    let (data, new) = (clouds(40, 1), clouds(7, 2));
    let exact = read("rbf(gamma=0.5)");
    for choose in WAYS {
        let resolved = exact.clone().nystrom(6, choose).resolve(&data, Seed(1)).unwrap();
        let state = resolved.state();
        let [State::Landmarks(landmarks)] = state.as_slice() else { panic!("landmarks") };
        let points = &landmarks.examples;
        assert_eq!((points.len(), landmarks.rank()), (6, 6), "{choose:?}");
        let square = values(exact.cross(points, points).unwrap().as_ref());
        let rows = values(exact.cross(&new, points).unwrap().as_ref());
        let cols = values(exact.cross(&data, points).unwrap().as_ref());
        let wanted = by_hand(&square, &rows, &cols, 6);
        let cross = resolved.cross(&new, &data).unwrap();
        let found = values(cross.as_ref());
        assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-10), "{choose:?}");
        // features have the inner products of the matrix, which is symmetric and knows κ(x, x)
        let gram = resolved.training_gram(&data).unwrap();
        let (features, scale) = resolved.features(&data).unwrap();
        let mercer::data::Vectors::Dense(z) = features else { panic!("dense features") };
        let k = values(gram.as_ref());
        let own = gram.self_similarities(Side::Rows).unwrap();
        assert!(gram.is_symmetric() && scale == 1.0);
        for i in 0..40 {
            for j in 0..40 {
                let product: f64 = z.row(i).iter().zip(z.row(j)).map(|(a, b)| a * b).sum();
                assert!((product - k[i * 40 + j]).abs() < 1e-12);
            }
            assert!((own[i] - k[i * 41]).abs() < 1e-12 && own[i] <= 1.0 + 1e-12);
        }
    }
}

#[test]
fn all_examples_as_landmarks_give_the_kernel_itself() {
    let (data, new) = (clouds(50, 3), clouds(9, 4));
    for text in ["rbf(gamma=0.5)", "polynomial(degree=2, offset=1, gamma=1)", "linear + 2", "laplacian(gamma=0.3)"] {
        let exact = read(text);
        let near = exact.clone().nystrom(1000, Landmarking::Uniform).resolve(&data, Seed(1)).unwrap();
        let k = exact.training_gram(&data).unwrap();
        let size = values(k.as_ref()).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let worst = off(near.training_gram(&data).unwrap().as_ref(), k.as_ref());
        assert!(worst <= 1e-10 * size, "{text}: {worst}");
        if text != "laplacian(gamma=0.3)" && text != "rbf(gamma=0.5)" {
            // kernels of finite rank are met on new examples, too
            let worst = off(near.cross(&new, &data).unwrap().as_ref(), exact.cross(&new, &data).unwrap().as_ref());
            assert!(worst <= 1e-9 * size, "{text}: {worst}");
        }
    }
    let (data, exact) = (strings(30), read("spectrum(length=2)"));
    for choose in [Landmarking::Uniform, Landmarking::Greedy] {
        let near = exact.clone().nystrom(30, choose).resolve(&data, Seed(1)).unwrap();
        assert!(off(near.training_gram(&data).unwrap().as_ref(), exact.training_gram(&data).unwrap().as_ref()) < 1e-9);
    }
}

#[test]
fn more_landmarks_are_nearer_and_chosen_ones_nearer_than_uniform_ones() {
    let data = clouds(120, 5);
    let exact = read("rbf(gamma=0.3)");
    let k = exact.training_gram(&data).unwrap();
    let trace = |choose: Landmarking, points: usize| {
        let near = exact.clone().nystrom(points, choose).resolve(&data, Seed(2)).unwrap();
        let own = near.training_gram(&data).unwrap().self_similarities(Side::Rows).unwrap();
        k.self_similarities(Side::Rows).unwrap().iter().zip(own).map(|(a, b)| a - b).sum::<f64>()
    };
    for choose in WAYS {
        let left: Vec<f64> = [5, 10, 20, 40, 80].map(|m| trace(choose, m)).to_vec();
        // a projection takes nothing away, and on more it leaves less
        assert!(left.iter().all(|l| *l > -1e-9) && left.windows(2).all(|l| l[1] < l[0]), "{choose:?} {left:?}");
        assert!(left[4] < 0.05 * left[0], "{choose:?} {left:?}");
    }
    // centres are in the middle of many; greedy landmarks leave no example far away
    assert!(trace(Landmarking::KMeans, 20) < trace(Landmarking::Uniform, 20));
    let farthest = |choose: Landmarking| {
        let near = exact.clone().nystrom(20, choose).resolve(&data, Seed(2)).unwrap();
        let own = near.training_gram(&data).unwrap().self_similarities(Side::Rows).unwrap();
        own.iter().map(|o| 1.0 - o).fold(0.0, f64::max)
    };
    assert!(farthest(Landmarking::Greedy) < farthest(Landmarking::Uniform));
}

#[test]
fn formulas_print_read_and_combine() {
    for (text, wanted) in [
        ("nystrom(rbf(gamma=1))", "nystrom(rbf(gamma=1), points=500, choose=uniform)"),
        ("nystrom(linear + 1, 20)", "nystrom(linear + 1, points=20, choose=uniform)"),
        (
            "2*nystrom(rbf(gamma=1)@a * linear@b, points=7, choose=greedy)^2 + 1",
            "2*nystrom(rbf(gamma=1)@a * linear@b, points=7, choose=greedy)^2 + 1",
        ),
    ] {
        assert_eq!(read(text).to_string(), wanted);
        assert_eq!(read(wanted), read(text));
    }
    for (text, wanted) in [
        ("nystrom(noise)", "write nystrom(…) + noise"),
        ("nystrom(centre(linear))", "write centre(nystrom(…))"),
        ("nystrom(precomputed)", "for kernels that are computed"),
        ("nystrom(distance)", "positive semi-definite"),
        ("nystrom(linear, points=0)", "must be ≥ 1"),
        ("nystrom(linear, choose=best)", "uniform"),
        ("nystrom(linear, 3, points=4)", "was given already"),
        ("nystrom(linear, rank=4)", "has no parameter rank"),
    ] {
        let said = text.parse::<Formula>().unwrap_err().to_string();
        assert!(said.contains(wanted), "{text}: {said}");
    }
    let mut formula = read("nystrom(rbf(gamma=1), points=5)");
    assert!(formula.learns() && !formula.is_resolved() && !formula.has_words() && formula.has_parameter("points"));
    assert_eq!(formula.radius(), Some(1.0));
    for (name, value) in [("points", 9.0), ("gamma", 0.25)] {
        assert_eq!(formula.assign(name, &mercer::params::Setting::Number(value)), Ok(true));
    }
    assert_eq!(formula.to_string(), "nystrom(rbf(gamma=0.25), points=9, choose=uniform)");
    let said = formula.training_gram(&clouds(4, 1)).err().unwrap().to_string();
    assert!(said.contains("call resolve"), "{said}");
    let said = read("nystrom(spectrum, choose=k_means)").gram(&strings(9)).err().unwrap().to_string();
    assert!(said.contains("give choose=uniform or greedy"), "{said}");
    // inside sets, below centres, in sums and products
    let data = clouds(20, 6);
    let k = |text: &str| values(read(text).gram(&data).unwrap().as_ref());
    let (near, centred) = (k("nystrom(rbf(gamma=1), points=5)"), k("centre(nystrom(rbf(gamma=1), points=5))"));
    let mean = |i: usize| near[i * 20..(i + 1) * 20].iter().sum::<f64>() / 20.0;
    let total = near.iter().sum::<f64>() / 400.0;
    let joined = k("nystrom(rbf(gamma=1), points=5) * linear + 3*nystrom(rbf(gamma=1), points=5)");
    let linear = k("linear");
    for p in 0..400 {
        let wanted = near[p] - mean(p / 20) - mean(p % 20) + total;
        assert!((centred[p] - wanted).abs() < 1e-12);
        assert!((joined[p] - (near[p] * linear[p] + 3.0 * near[p])).abs() < 1e-10);
    }
    assert_eq!(k("set(nystrom(rbf(gamma=1), points=5), columns=1)").len(), 400);
}

#[test]
fn landmarks_are_those_of_the_kept_examples_and_of_the_seed() {
    let data = clouds(30, 7);
    let part: Vec<usize> = (0..30).filter(|i| i % 3 != 0).collect();
    for choose in WAYS {
        let formula = read("rbf(gamma=0.5)").nystrom(8, choose);
        let of = |data: &Dataset, seed: u64| formula.resolve_from(&part, data, Seed(seed)).unwrap().state();
        // the others may be what they will
        let mercer::data::Values::Dense(rows) = data.view("x").unwrap() else { panic!("dense") };
        let mut moved = rows.as_ref().clone();
        for i in (0..30).step_by(3) {
            moved.values_mut()[i * 3..i * 3 + 3].fill(1e3 + i as f64);
        }
        assert_eq!(of(&data, 1), of(&Dataset::new(moved), 1), "{choose:?}");
        assert_ne!(of(&data, 1), formula.resolve(&data, Seed(1)).unwrap().state(), "{choose:?}");
        if choose != Landmarking::Greedy {
            assert_ne!(of(&data, 1), of(&data, 2), "{choose:?}");
        }
    }
}

#[test]
fn bits_do_not_depend_on_threads() {
    let data = clouds(300, 8);
    for choose in WAYS {
        let formula = read("rbf(gamma=0.5)").nystrom(200, choose);
        let at = |threads: usize| {
            in_pool(threads, || {
                let resolved = formula.resolve(&data, Seed(3)).unwrap();
                (resolved.state(), values(resolved.training_gram(&data).unwrap().as_ref()))
            })
        };
        assert!(at(1) == at(4), "{choose:?}");
    }
}

#[test]
fn machines_fit_predict_and_are_kept() {
    let (data, new) = (clouds(60, 9), clouds(25, 10));
    let numbers = data.clone();
    for entry_name in ["svc", "ridge", "linear_svc", "linear_svr", "kernel_pca", "one_class", "kfd", "knn"] {
        for choose in WAYS {
            let machine = (mercer::machines::find(entry_name).unwrap().make)();
            let kernel = read("2*rbf(gamma=0.5)").nystrom(12, choose);
            let model = Job::new(machine.as_ref(), &kernel)
                .run(&numbers, &Silent)
                .unwrap_or_else(|e| panic!("{entry_name} {choose:?}: {e}"));
            assert!(model.kernel().is_resolved());
            let scores = model.scores(&new).unwrap();
            assert!(scores.iter().all(|s| s.is_finite()), "{entry_name}");
            let bytes = model.to_bytes().unwrap();
            let back = Model::from_bytes(&bytes, "m").unwrap();
            assert_eq!(back.scores(&new).unwrap(), scores, "{entry_name} {choose:?}");
            assert_eq!((back.kernel().state(), back.to_bytes().unwrap()), (model.kernel().state(), bytes));
        }
    }
}

#[test]
fn a_ridge_on_features_is_the_ridge_on_the_matrix() {
    let (data, new) = (clouds(80, 11), clouds(20, 12));
    let kernel = read("nystrom(rbf(gamma=0.5), points=10, choose=greedy)");
    let primal = Ridge { lambda: 0.1.into(), ..Ridge::default() };
    let found = primal.fit(&kernel, &data).unwrap();
    assert!(matches!(found.fitted().expansion.coefficients, Coefficients::Primal { .. }), "few features are taken");
    // the same problem on a sum that has no explicit features
    let dual = primal.fit(&(0.5 * kernel.clone() + 0.5 * kernel), &data).unwrap();
    assert!(!matches!(dual.fitted().expansion.coefficients, Coefficients::Primal { .. }));
    let (a, b) = (found.scores(&new).unwrap(), dual.scores(&new).unwrap());
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-7), "{a:?} {b:?}");
}

#[test]
fn strings_are_approximated_for_linear_machines() {
    let data = strings(60);
    let y: Vec<f64> = (0..60).map(|i| f64::from(i % 2)).collect();
    let data = data.with_target(y).unwrap();
    for choose in ["uniform", "greedy"] {
        let kernel = read(&format!("nystrom(normalise(subsequence(length=2)), points=15, choose={choose})"));
        for name in ["linear_svc", "svc", "ridge"] {
            let machine = (mercer::machines::find(name).unwrap().make)();
            let model = Job::new(machine.as_ref(), &kernel).run(&data, &Silent).unwrap();
            let back = Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap();
            assert_eq!(back.scores(&data).unwrap(), model.scores(&data).unwrap(), "{name}");
        }
    }
}

#[test]
fn conformal_regions_take_landmarks_from_examples_that_are_never_held_out() {
    let data = clouds(40, 13);
    let kernel = read("nystrom(rbf(gamma=0.5), points=6)");
    let recipe = Recipe { folds: 4, ..Recipe::new(Method::Cross) };
    let machine = Ridge { lambda: 0.1.into(), ..Ridge::default() };
    let job = Job { conformal: Some(recipe), ..Job::new(&machine as &dyn Machine, &kernel) };
    let model = job.run(&data, &Silent).unwrap();
    let (_, kept) = recipe.parts(&data, Seed(0)).unwrap();
    let state = model.kernel().state();
    assert_eq!(state, kernel.resolve_from(&kept, &data, Seed(0)).unwrap().state());
    assert!(model.regions(&clouds(5, 14), 0.8).is_ok());
}

#[test]
fn certificates_of_examples_that_are_landmarks_are_refused() {
    let data = clouds(60, 15);
    let of = |kernel: &Formula| {
        let model = Svc::default().fit(kernel, &data).unwrap();
        let found = model.certify(&data, &mercer::certify::Options::default(), &Silent).unwrap();
        found.certificates.iter().filter(|c| c.applicable && !c.bound.starts_with("held_out")).count()
    };
    assert!(of(&read("rbf(gamma=0.5)")) > 0, "the kernel itself is certified");
    assert_eq!(of(&read("nystrom(rbf(gamma=0.5), points=6)")), 0);
}

#[test]
fn a_search_sets_landmarks_and_what_is_inside() {
    let data = clouds(50, 16);
    let search = |formula: &Formula, points: f64, gamma: f64| {
        let mut at = formula.clone();
        for (name, value) in [("points", points), ("gamma", gamma)] {
            assert!(at.assign(name, &mercer::params::Setting::Number(value)).unwrap());
        }
        Svc::default().fit(&at, &data).unwrap()
    };
    let kernel = read("nystrom(rbf(gamma=1))");
    for (points, gamma) in [(5, 0.5), (9, 2.0)] {
        let model = search(&kernel, f64::from(points), gamma);
        let state = model.kernel().state();
        let [State::Landmarks(landmarks)] = state.as_slice() else { panic!("landmarks") };
        assert_eq!(landmarks.examples.len(), points as usize);
        assert!(model.kernel().to_string().contains(&format!("gamma={gamma}")), "{}", model.kernel());
    }
}

/// The share of tests at a level of 5 % that tell two samples of one distribution apart.
fn told_apart(by: impl Fn(&Formula, &Dataset) -> Arc<dyn Gram>) -> f64 {
    let formula: Formula = "nystrom(rbf(gamma=10), points=1, choose=greedy)".parse().unwrap();
    let first: Vec<bool> = (0..50).map(|i| i < 5).collect();
    let chance = Chance::Permute(Statistic::Biased);
    let mut random = Seed(2).stream("worlds");
    let tests: u64 = 300;
    let rejected = (0..tests).filter(|&t| {
        let data = Dataset::new(Rows::new((0..100).map(|_| random.normal()).collect(), 50, 2).unwrap());
        let gram = by(&formula, &data);
        let found = two_sample(gram.as_ref(), &first, chance, 99, Seed(t), Budget::default(), &Silent).unwrap();
        found.p.value <= 0.05
    });
    rejected.count() as f64 / tests as f64
}

#[test]
fn permutations_are_exact_on_landmarks_of_a_pool_and_not_on_those_of_an_order() {
    let of_pool = told_apart(|f, data| f.of_pool(data, Seed(0)).unwrap().1);
    // a standard deviation of 1.3 %
    assert!((0.01..0.09).contains(&of_pool), "{of_pool}");
    let by_place = told_apart(|f, data| f.resolve(data, Seed(0)).unwrap().training_gram(data).unwrap());
    assert!(by_place > 0.3, "{by_place}");
}
