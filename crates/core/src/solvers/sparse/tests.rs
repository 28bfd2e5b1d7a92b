//! The programme's identities, and its three solvers against each other and against optima of other solvers.

use super::*;
use crate::gram::Dense;
use crate::seed::Seed;
use crate::watch::{Progress, Silent, Stop};
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::Path;

const LOSSES: [Loss; 7] = [
    Loss::Hinge,
    Loss::SquaredHinge,
    Loss::Logistic,
    Loss::Squared,
    Loss::Absolute,
    Loss::EpsilonInsensitive { epsilon: 0.15 },
    Loss::Huber { width: 0.4 },
];

type Solver = fn(&SparseProgramme<'_>, &SparseOptions, &dyn Monitor) -> Result<SparseSolution, SolveError>;

/// The solvers that take a loss.
fn solvers(loss: Loss) -> Vec<(&'static str, Solver)> {
    let mut solvers: Vec<(&'static str, Solver)> =
        vec![("solve", solve), ("interior point", interior_point), ("column generation", column_generation)];
    if !matches!(loss, Loss::Hinge | Loss::Absolute | Loss::EpsilonInsensitive { .. }) {
        solvers.push(("coordinate descent", coordinate_descent));
    }
    solvers
}

/// An RBF matrix between n examples and m others, and targets; ±1 for losses of margins.
fn example(n: usize, m: usize, loss: Loss, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = Seed(seed).stream("sparse programmes");
    let points: Vec<[f64; 2]> = (0..n.max(m)).map(|_| [random.normal(), random.normal()]).collect();
    let matrix = (0..n * m)
        .map(|p| {
            let (x, z) = (points[p / m], points[p % m]);
            (-0.5 * ((x[0] - z[0]).powi(2) + (x[1] - z[1]).powi(2))).exp()
        })
        .collect();
    let y = (0..n).map(|i| (2.0 * points[i][0]).sin() + 0.3 * points[i][1] + 0.4 * random.normal());
    let y = y
        .map(|t| {
            if !loss.is_margin() {
                t
            } else if t > 0.0 {
                1.0
            } else {
                -1.0
            }
        })
        .collect();
    (matrix, y)
}

fn programme<'a>(matrix: &'a [f64], y: &'a [f64], loss: Loss, lambda: f64) -> SparseProgramme<'a> {
    let columns = Columns::Stored { matrix, columns: matrix.len() / y.len() };
    SparseProgramme { columns, y, weights: None, loss, lambda, bias: true, start: None }
}

fn run(programme: &SparseProgramme<'_>) -> SparseSolution {
    solve(programme, &SparseOptions::default(), &Silent).unwrap()
}

/// Σ_i K_ij β_i.
fn prices(matrix: &[f64], m: usize, beta: &[f64]) -> Vec<f64> {
    (0..m).map(|j| beta.iter().enumerate().map(|(i, b)| matrix[i * m + j] * b).sum()).collect()
}

#[track_caller]
fn near(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance, "{what}: {a} and {b}");
}

#[test]
fn every_road_meets_the_conditions_of_optimality_for_every_loss() {
    for loss in LOSSES {
        let (matrix, y) = example(40, 40, loss, 1);
        for lambda in [0.05, 0.6] {
            for (name, solver) in solvers(loss) {
                let found = solver(&programme(&matrix, &y, loss, lambda), &SparseOptions::default(), &Silent).unwrap();
                let what = format!("{loss:?} {name} {lambda}");
                assert_eq!(found.status, Status::Converged, "{what}: {found:?}");
                assert!(
                    found.gap() > -1e-9 && found.gap() <= 1e-8 * found.objective + 1e-12,
                    "{what}: {}",
                    found.gap()
                );
                // scores, objective and feasibility, all by loops
                let mut value = lambda * found.alpha.iter().map(|a| a.abs()).sum::<f64>();
                for i in 0..40 {
                    let f = found.offset + (0..40).map(|j| matrix[i * 40 + j] * found.alpha[j]).sum::<f64>();
                    near(f, found.scores[i], 1e-10, &what);
                    value += loss.value(y[i], f);
                }
                near(value, found.objective, 1e-10 * value, &what);
                let dual: f64 = (0..40)
                    .map(|i| {
                        let value = loss.conjugate_value(y[i], found.beta[i]);
                        assert!(value.is_finite(), "{what}: β {} is out of its bounds", found.beta[i]);
                        y[i] * found.beta[i] - value
                    })
                    .sum();
                near(dual, found.dual_objective, 1e-10 * value, &what);
                near(found.beta.iter().sum(), 0.0, 1e-11, &what);
                for (j, price) in prices(&matrix, 40, &found.beta).into_iter().enumerate() {
                    assert!(price.abs() <= lambda * (1.0 + 1e-12), "{what}: {price}");
                    // a coefficient that counts has the price λ with its sign, to what the gap allows
                    let slip = found.alpha[j].abs() * lambda - found.alpha[j] * price;
                    assert!(slip <= found.gap() + 1e-10, "{what}: {slip}");
                }
                assert!(found.support() < 40 && found.support() > 0, "{what}: {}", found.support());
            }
        }
    }
}

#[test]
fn optima_are_those_of_highs_and_clarabel() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/programmes.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let list = |v: &Value| -> Vec<f64> { v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect() };
    let cases = file["cases"].as_array().unwrap();
    assert!(cases.len() > 90);
    for case in cases {
        let data = &file["data"][case["data"].as_str().unwrap()];
        let matrix: Vec<f64> = data["k"].as_array().unwrap().iter().flat_map(list).collect();
        let (y, w) = (list(&data["y"]), list(&data["w"]));
        let shape = case["shape"].as_f64().unwrap();
        let loss = match case["loss"].as_str().unwrap() {
            "hinge" => Loss::Hinge,
            "squared_hinge" => Loss::SquaredHinge,
            "logistic" => Loss::Logistic,
            "squared" => Loss::Squared,
            "absolute" => Loss::Absolute,
            "epsilon_insensitive" => Loss::EpsilonInsensitive { epsilon: shape },
            _ => Loss::Huber { width: shape },
        };
        let mut one = programme(&matrix, &y, loss, case["lambda"].as_f64().unwrap());
        one.bias = case["bias"].as_bool().unwrap();
        one.weights = case["weighted"].as_bool().unwrap().then_some(w.as_slice());
        let wanted = case["objective"].as_f64().unwrap();
        for (name, solver) in solvers(loss) {
            let found = solver(&one, &SparseOptions::default(), &Silent).unwrap();
            near(found.objective, wanted, 3e-7 * wanted, &format!("{case} {name}"));
            assert_eq!(found.status, Status::Converged, "{case} {name}");
            assert!(one.bias || found.offset == 0.0);
        }
    }
}

#[test]
fn above_the_largest_lambda_nothing_is_left_and_just_below_it_something() {
    for loss in LOSSES {
        let (matrix, y) = example(30, 30, loss, 2);
        let one = programme(&matrix, &y, loss, 1.0);
        let top = lambda_max(&one).unwrap();
        for (name, solver) in solvers(loss) {
            let at =
                |lambda: f64| solver(&SparseProgramme { lambda, ..one }, &SparseOptions::default(), &Silent).unwrap();
            assert_eq!(at(1.001 * top).support(), 0, "{loss:?} {name}");
            if loss != Loss::Hinge && !matches!(loss, Loss::Absolute | Loss::EpsilonInsensitive { .. }) {
                assert!(at(0.98 * top).support() > 0, "{loss:?} {name}");
            }
        }
        if loss == Loss::Squared {
            let mean = y.iter().sum::<f64>() / 30.0;
            let centred: Vec<f64> = y.iter().map(|y| y - mean).collect();
            let by_hand = prices(&matrix, 30, &centred).into_iter().fold(0.0, |most: f64, p| most.max(p.abs()));
            near(top, by_hand, 1e-12 * by_hand, "‖K(y − ȳ)‖∞");
        }
    }
}

#[test]
fn errors_and_coefficients_are_complementary_to_beta() {
    let mut random = Seed(11).stream("complementary");
    for loss in [Loss::Absolute, Loss::Squared] {
        let (matrix, _) = example(36, 36, loss, 11);
        // labels of unequal classes
        let y: Vec<f64> = (0..36).map(|_| if random.uniform() < 0.4 { 1.0 } else { -1.0 }).collect();
        for lambda in [0.2, 0.8] {
            for (name, solver) in solvers(loss) {
                let options = SparseOptions { tolerance: 1e-11, ..SparseOptions::default() };
                let found = solver(&programme(&matrix, &y, loss, lambda), &options, &Silent).unwrap();
                let what = format!("{loss:?} {name} {lambda}");
                for (alpha, price) in found.alpha.iter().zip(prices(&matrix, 36, &found.beta)) {
                    // a coefficient that is not zero has a price of λ with its sign
                    if alpha.abs() > 1e-4 {
                        near(price, lambda * alpha.signum(), 1e-5 * lambda, &what);
                    }
                }
                for i in 0..36 {
                    let error = y[i] - found.scores[i];
                    match loss {
                        Loss::Squared => near(found.beta[i], error, 1e-5, &what),
                        _ if error.abs() > 1e-4 => near(found.beta[i], error.signum(), 1e-5, &what),
                        _ => assert!(found.beta[i].abs() <= 1.0 + 1e-12, "{what}"),
                    }
                }
            }
        }
        // nothing but an offset: the median label, or the mean
        let alone = run(&programme(&matrix, &y, loss, 1e3));
        let wanted = if loss == Loss::Absolute { -1.0 } else { y.iter().sum::<f64>() / 36.0 };
        assert!(y.iter().sum::<f64>() < -1.0 && alone.support() == 0);
        near(alone.offset, wanted, 1e-9, "offset alone");
    }
}

#[test]
fn linear_programmes_end_at_a_vertex_also_where_the_tolerance_is_loose() {
    // at a vertex there are no more coefficients, with the offset, than examples that are met exactly
    let mut random = Seed(12).stream("vertices");
    let (mut vertices, mut all) = (0, 0);
    for (n, width) in [(60, 6.0), (90, 12.0), (90, 25.0)] {
        let x: Vec<Vec<f64>> = (0..n).map(|_| (0..8).map(|_| random.normal()).collect()).collect();
        let apart = |i: usize, j: usize| x[i].iter().zip(&x[j]).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let matrix: Vec<f64> = (0..n * n).map(|p| (-apart(p / n, p % n) / width).exp()).collect();
        let y: Vec<f64> = x.iter().map(|x| if x[0] + x[1] * x[1] > 0.8 { 1.0 } else { -1.0 }).collect();
        for lambda in [0.1, 0.2, 0.4, 0.8, 1.6] {
            let options = SparseOptions { tolerance: 1e-6, ..SparseOptions::default() };
            let found = solve(&programme(&matrix, &y, Loss::Absolute, lambda), &options, &Silent).unwrap();
            let met = found.scores.iter().zip(&y).filter(|(f, y)| (*y - **f).abs() < 1e-6).count();
            vertices += usize::from(found.support() < met);
            all += 1;
        }
    }
    // where many solutions are as good a point between them may be all that is found
    assert!(4 * vertices >= 3 * all, "{vertices} of {all}");
}

#[test]
fn a_matrix_and_lambda_that_grow_together_leave_the_scores() {
    for loss in LOSSES {
        let (matrix, y) = example(30, 30, loss, 3);
        let larger: Vec<f64> = matrix.iter().map(|k| 7.0 * k).collect();
        let (a, b) = (run(&programme(&matrix, &y, loss, 0.2)), run(&programme(&larger, &y, loss, 1.4)));
        near(a.objective, b.objective, 2e-8 * a.objective, "objective");
        let curved = !matches!(loss, Loss::Hinge | Loss::Absolute | Loss::EpsilonInsensitive { .. });
        for (f, g) in a.scores.iter().zip(&b.scores).filter(|_| curved) {
            near(*f, *g, 1e-3, &format!("{loss:?}"));
        }
    }
}

#[test]
fn weights_are_repetitions_and_weight_zero_is_absence() {
    for loss in LOSSES {
        let (matrix, y) = example(24, 24, loss, 4);
        let weights: Vec<f64> = (0..24_u32).map(|i| f64::from(i % 3)).collect();
        let weighted = SparseProgramme { weights: Some(&weights), ..programme(&matrix, &y, loss, 0.3) };
        let rows: Vec<usize> = (0..24).flat_map(|i| vec![i; i % 3]).collect();
        let repeated: Vec<f64> = rows.iter().flat_map(|&i| matrix[i * 24..(i + 1) * 24].to_vec()).collect();
        let targets: Vec<f64> = rows.iter().map(|&i| y[i]).collect();
        let plain = run(&programme(&repeated, &targets, loss, 0.3));
        for (name, solver) in solvers(loss) {
            let found = solver(&weighted, &SparseOptions::default(), &Silent).unwrap();
            near(found.objective, plain.objective, 3e-8 * plain.objective, &format!("{loss:?} {name}"));
            assert!(found.scores.len() == 24 && found.beta.iter().step_by(3).all(|b| *b == 0.0));
        }
    }
}

#[test]
fn tiny_programmes_are_those_of_a_grid() {
    // one column: the optimum by trying a and b
    let (matrix, y) = ([0.4, -1.0, 2.0, 0.3], [1.0, -1.0, 1.0, -1.0]);
    for loss in LOSSES {
        let found = run(&programme(&matrix, &y, loss, 0.3));
        let mut least = f64::INFINITY;
        for a in -300..=300 {
            for b in -300..=300 {
                let (a, b) = (f64::from(a) * 0.01, f64::from(b) * 0.01);
                let value = (0..4).map(|i| loss.value(y[i], a * matrix[i] + b)).sum::<f64>() + 0.3 * a.abs();
                least = least.min(value);
            }
        }
        assert!(
            found.objective <= least + 1e-9 && found.objective > least - 0.02,
            "{loss:?}: {} {least}",
            found.objective
        );
    }
}

#[test]
fn a_path_is_its_single_solutions() {
    for loss in [Loss::Squared, Loss::Logistic, Loss::Absolute] {
        let (matrix, y) = example(40, 40, loss, 5);
        let one = programme(&matrix, &y, loss, 1.0);
        let top = lambda_max(&one).unwrap();
        let lambdas: Vec<f64> = (0..6).map(|k| top * 0.5_f64.powi(k)).collect();
        let found = path(&one, &lambdas, &SparseOptions::default(), &Silent).unwrap();
        for (lambda, found) in lambdas.iter().zip(&found) {
            let alone = interior_point(&SparseProgramme { lambda: *lambda, ..one }, &SparseOptions::default(), &Silent);
            let alone = alone.unwrap().objective;
            near(found.objective, alone, 3e-8 * alone, &format!("{loss:?} {lambda}"));
        }
    }
}

#[test]
fn a_streamed_matrix_gives_the_same_solution() {
    for loss in [Loss::Absolute, Loss::Squared, Loss::Hinge] {
        let (matrix, y) = example(150, 150, loss, 6);
        let narrow = Dense::<f32>::new(matrix.iter().map(|k| *k as f32).collect(), 150, 150).unwrap();
        let wide: Vec<f64> = matrix.iter().map(|k| f64::from(*k as f32)).collect();
        let stored = programme(&wide, &y, loss, 1.0);
        let streamed = SparseProgramme { columns: Columns::Streamed(&narrow), ..stored };
        let (a, b) = (run(&stored), run(&streamed));
        assert_eq!(b.status, Status::Converged);
        near(a.objective, b.objective, 3e-8 * a.objective, &format!("{loss:?}"));
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for loss in LOSSES {
        let (matrix, y) = example(120, 120, loss, 7);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&programme(&matrix, &y, loss, 0.4)))
        };
        assert_eq!(with(1), with(3), "{loss:?}");
    }
}

#[test]
fn what_is_no_programme_is_refused_in_a_sentence() {
    let (matrix, y) = example(6, 6, Loss::Hinge, 8);
    let one = programme(&matrix, &y, Loss::Hinge, 1.0);
    let says = |programme: SparseProgramme<'_>, word: &str| {
        for (_, solver) in solvers(Loss::Hinge) {
            let found = solver(&programme, &SparseOptions::default(), &Silent).unwrap_err().to_string();
            assert!(found.contains(word), "{found}");
        }
    };
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        says(SparseProgramme { lambda, ..one }, "lambda");
    }
    says(SparseProgramme { y: &[0.5; 6], ..one }, "example 1");
    says(SparseProgramme { y: &[1.0; 5], ..one }, "5 targets");
    says(SparseProgramme { weights: Some(&[0.0; 6]), ..one }, "weight");
    says(SparseProgramme { weights: Some(&[-1.0; 6]), ..one }, "weight");
    says(SparseProgramme { start: Some(&[1.0]), ..one }, "start");
    says(SparseProgramme { loss: Loss::Huber { width: 0.0 }, ..one }, "width");
    let mut broken = matrix.clone();
    broken[9] = f64::NAN;
    let columns = Columns::Stored { matrix: &broken, columns: 6 };
    says(SparseProgramme { columns, ..one }, "row 2, column 4");
    let dense = Dense::<f64>::new(broken.clone(), 6, 6).unwrap();
    says(SparseProgramme { columns: Columns::Streamed(&dense), ..one }, "not finite");
    let bent = coordinate_descent(&one, &SparseOptions::default(), &Silent).unwrap_err().to_string();
    assert!(bent.contains("smooth loss"), "{bent}");
}

#[test]
fn one_value_of_the_target_needs_no_coefficient() {
    for loss in LOSSES {
        let (matrix, _) = example(12, 12, loss, 9);
        let found = run(&programme(&matrix, &[1.0; 12], loss, 0.1));
        assert!(
            found.support() == 0 && found.objective < 1e-9 && found.status == Status::Converged,
            "{loss:?} {found:?}"
        );
    }
}

#[test]
fn a_monitor_ends_it_with_the_best_so_far() {
    struct Impatient;
    impl Monitor for Impatient {
        fn step(&self, _: &Progress) -> ControlFlow<Stop> {
            ControlFlow::Break(Stop::TimeLimit)
        }
    }
    for loss in LOSSES {
        let (matrix, y) = example(30, 30, loss, 10);
        for (name, solver) in solvers(loss) {
            let found = solver(&programme(&matrix, &y, loss, 0.1), &SparseOptions::default(), &Impatient).unwrap();
            assert!(found.status == Status::TimeLimit && found.gap() > 0.0, "{loss:?} {name}: {found:?}");
        }
    }
}

#[test]
fn an_offset_takes_up_targets_far_from_zero() {
    let loss = Loss::Squared;
    let (matrix, y) = example(60, 60, loss, 21);
    for loss in [loss, Loss::Absolute, Loss::Huber { width: 0.4 }] {
        let near = solve(&programme(&matrix, &y, loss, 0.5), &SparseOptions::default(), &Silent).unwrap();
        // no more than rounding of the targets themselves
        for shift in [1e3, 1e6, 1e9] {
            let far: Vec<f64> = y.iter().map(|y| y + shift).collect();
            let found = solve(&programme(&matrix, &far, loss, 0.5), &SparseOptions::default(), &Silent).unwrap();
            let within = 1e-6 + 1e-14 * shift;
            assert!((found.objective / near.objective - 1.0).abs() < within, "{loss:?} {shift}: {}", found.objective);
            assert!((found.offset - shift - near.offset).abs() < 1e-3, "{loss:?} {shift}: {}", found.offset);
            assert!(found.gap() < within * near.objective && found.support() > 0, "{loss:?} {shift}: {}", found.gap());
        }
    }
}
