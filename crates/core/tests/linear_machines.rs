//! Linear machines on whole data sets: what must not matter does not, and what they cannot do they say.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::Error;
use mercer::data::Coordinate;
use mercer::gram::Budget;
use mercer::machines::classify::MarginLoss;
use mercer::machines::regress::InsensitiveLoss;
use mercer::machines::{Coefficients, Features, FitError, Fitted, Learns, Machine, Output, Task};
use mercer::params::Setting;
use mercer::prelude::*;
use mercer::select::{Axis, Grid, Search};
use mercer::watch::{Silent, Status};

/// Rows around a centre for each class, a third of the coordinates zero.
fn clouds(n: usize, width: usize, classes: usize, seed: u64) -> (Rows<f64>, Vec<usize>) {
    let mut random = Seed(seed).stream("clouds");
    let codes: Vec<usize> = (0..n).map(|i| if i < classes { i } else { random.below(classes) }).collect();
    let mut value = |class: usize, j: usize| {
        let centre = if j % classes == class { 1.0 } else { 0.0 };
        if random.uniform() < 0.33 { 0.0 } else { random.normal() + centre }
    };
    let values =
        codes.iter().flat_map(|&class| (0..width).map(move |j| (class, j))).map(|(c, j)| value(c, j)).collect();
    (Rows::new(values, n, width).unwrap(), codes)
}

fn named(codes: &[usize]) -> Target {
    Target::from(codes.iter().map(|c| format!("class {c}")).collect::<Vec<_>>())
}

fn labelled(x: &Rows<f64>, codes: &[usize]) -> Dataset {
    Dataset::new(x.clone()).with_target(named(codes)).unwrap()
}

fn exact(loss: MarginLoss) -> LinearSvc {
    LinearSvc { loss, tolerance: 1e-8, max_iterations: 0, ..LinearSvc::default() }
}

const LOSSES: [MarginLoss; 3] = [MarginLoss::Hinge, MarginLoss::SquaredHinge, MarginLoss::Logistic];

#[track_caller]
fn near(a: &[f64], b: &[f64], within: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    assert!(a.iter().any(|v| v.abs() > 1e-3), "{what}: nothing was learned");
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= within, "{what}: entry {i} is {a} and {b}");
    }
}

fn run(machine: &dyn Machine, data: &Dataset, weights: Option<&[f64]>) -> Fitted {
    let (rows, scale) = linear().features(data).unwrap();
    let task = Task {
        features: Some(Features { rows, scale }),
        target: data.target(),
        weights,
        threads: 2,
        ..Task::new(linear().gram(data).unwrap())
    };
    machine.run(&task, &Silent).unwrap()
}

fn weights_of(fitted: &Fitted) -> Vec<f64> {
    let Coefficients::Primal { weights, .. } = &fitted.expansion.coefficients else { panic!("no weights") };
    weights.iter().chain(&fitted.expansion.offsets).copied().collect()
}

#[test]
fn a_weight_is_so_many_copies() {
    let (x, codes) = clouds(60, 7, 3, 1);
    let data = labelled(&x, &codes);
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
    let copies: Vec<usize> = (0..60).flat_map(|i| vec![i; i % 3]).collect();
    for loss in LOSSES {
        let machine = exact(loss);
        let (weighted, copied) = (run(&machine, &data, Some(&weights)), run(&machine, &data.select(&copies), None));
        near(&weights_of(&weighted), &weights_of(&copied), 1e-5, &format!("{loss:?}"));
        let objective = |f: &Fitted| f.report.objective.unwrap();
        assert!((objective(&weighted) / objective(&copied) - 1.0).abs() < 1e-7, "{loss:?}");
    }
    let y: Vec<f64> = (0..60).map(|i| x.row(i)[0] - x.row(i)[1] + codes[i] as f64).collect();
    let data = Dataset::new(x).with_target(Target::from(y)).unwrap();
    for loss in [InsensitiveLoss::EpsilonInsensitive, InsensitiveLoss::SquaredEpsilonInsensitive] {
        let machine = LinearSvr { loss, tolerance: 1e-9, max_iterations: 0, ..LinearSvr::default() };
        let (weighted, copied) = (run(&machine, &data, Some(&weights)), run(&machine, &data.select(&copies), None));
        near(&weights_of(&weighted), &weights_of(&copied), 1e-4, &format!("{loss:?}"));
    }
}

#[test]
fn class_weights_are_weights_of_their_examples() {
    let (x, codes) = clouds(50, 5, 3, 2);
    let data = labelled(&x, &codes);
    let count = |c: usize| codes.iter().filter(|&&k| k == c).count() as f64;
    let balanced: Vec<f64> = codes.iter().map(|&c| 50.0 / (3.0 * count(c))).collect();
    let given: Vec<f64> = codes.iter().map(|&c| if c == 1 { 4.0 } else { 1.0 }).collect();
    for (text, weights) in [("balanced", balanced), ("class 1:4", given)] {
        let machine = LinearSvc { class_weight: text.to_owned(), ..exact(MarginLoss::SquaredHinge) };
        let (by_class, by_example) =
            (run(&machine, &data, None), run(&exact(MarginLoss::SquaredHinge), &data, Some(&weights)));
        assert_eq!(weights_of(&by_class), weights_of(&by_example), "{text}");
    }
    let machine = LinearSvc { class_weight: "class 9:2".to_owned(), ..LinearSvc::default() };
    let said = machine.fit(&linear(), &data).unwrap_err().to_string();
    assert!(said.contains("no class class 9") && said.contains("class 0, class 1, class 2"), "{said}");
}

#[test]
fn the_order_of_examples_and_the_names_of_classes_do_not_matter() {
    let (x, codes) = clouds(80, 6, 2, 3);
    let (z, _) = clouds(20, 6, 2, 4);
    let z = Dataset::new(z);
    for loss in LOSSES {
        let score = |data: &Dataset| exact(loss).fit(&linear(), data).unwrap().scores(&z).unwrap();
        let data = labelled(&x, &codes);
        let scores = score(&data);
        let shuffled = score(&data.select(&Seed(1).stream("order").permutation(80)));
        near(&scores, &shuffled, 1e-5, &format!("{loss:?}, shuffled"));
        let swapped: Vec<usize> = codes.iter().map(|c| 1 - c).collect();
        let swapped: Vec<f64> = score(&labelled(&x, &swapped)).iter().map(|s| -s).collect();
        near(&scores, &swapped, 1e-5, &format!("{loss:?}, swapped"));
    }
}

#[test]
fn the_hinge_is_that_of_the_kernel_machine() {
    // the kernel machine does not regularise its bias b; with a constant feature s the linear one adds b²/2s²
    let (x, codes) = clouds(60, 4, 2, 5);
    let data = labelled(&x, &codes);
    let svc = Svc { c: 0.5, effort: Effort { tolerance: 1e-6, ..Effort::default() }, ..Svc::default() }
        .fit(&linear(), &data)
        .unwrap();
    let machine = LinearSvc { c: 0.5, bias_scale: 30.0, ..exact(MarginLoss::Hinge) };
    let model = machine.fit(&linear(), &data).unwrap();
    // the dual value with its sign turned is the optimum of the primal
    let (optimum, b) = (-svc.fitted().report.objective.unwrap(), svc.fitted().expansion.offsets[0]);
    let found = model.fitted().report.objective.unwrap();
    let most = optimum + b * b / (2.0 * 900.0);
    assert!(found >= optimum * (1.0 - 1e-5) && found <= most * (1.0 + 1e-5), "{optimum} ≤ {found} ≤ {most}");
    near(&model.scores(&data).unwrap(), &svc.scores(&data).unwrap(), 2e-2, "scores");
}

#[test]
fn polynomials_have_features_in_which_a_linear_machine_is_the_kernel_machine() {
    let (x, codes) = clouds(80, 3, 2, 21);
    let data = labelled(&x, &codes);
    for kernel in ["polynomial(degree=2, gamma=0.5, offset=1)", "2*polynomial(degree=3, gamma=0.5, offset=0)"] {
        for text in [kernel.to_owned(), format!("normalise({kernel})")] {
            let kernel: Formula = text.parse().unwrap();
            let machine = LinearSvc { bias: false, ..exact(MarginLoss::Hinge) };
            let model = machine.fit(&kernel, &data).unwrap();
            assert!(matches!(model.fitted().expansion.coefficients, Coefficients::Primal { .. }), "{text}");
            let effort = Effort { tolerance: 1e-7, ..Effort::default() };
            let svc = Svc { bias: false, effort, ..Svc::default() }.fit(&kernel, &data).unwrap();
            let scores = |output: Output| match output {
                Output::Labels { scores, .. } => scores,
                _ => panic!("both classify"),
            };
            let (a, b) = (scores(model.predict(&data).unwrap()), scores(svc.predict(&data).unwrap()));
            near(&a, &b, 1e-4, &text);
            // explicit weights of a polynomial are no model of LIBSVM or of the linear graph
            assert!(model.to_libsvm().is_err());
            assert!(model.to_onnx().is_err());
            // more examples than are taken at a time
            let many = Dataset::new(x.select(&(0..5000).map(|i| i % 80).collect::<Vec<_>>()));
            let (whole, few) = (model.scores(&many).unwrap(), model.scores(&data).unwrap());
            assert_eq!(whole[4999 * whole.len() / 5000..], few[39 * few.len() / 80..40 * few.len() / 80]);
        }
    }
}

#[test]
fn one_against_the_rest_is_each_class_alone() {
    let (x, codes) = clouds(90, 8, 6, 6);
    for loss in LOSSES {
        let model = exact(loss).fit(&linear(), &labelled(&x, &codes)).unwrap();
        let scores = model.scores(&Dataset::new(x.clone())).unwrap();
        let mut objectives = 0.0;
        for class in 0..6 {
            // class 0 sorts before class 1, and a positive score is for the first
            let against: Vec<usize> = codes.iter().map(|&c| usize::from(c != class)).collect();
            let alone = exact(loss).fit(&linear(), &labelled(&x, &against)).unwrap();
            objectives += alone.fitted().report.objective.unwrap();
            let column: Vec<f64> = scores.iter().skip(class).step_by(6).copied().collect();
            near(&column, &alone.scores(&Dataset::new(x.clone())).unwrap(), 1e-5, &format!("{loss:?}, class {class}"));
        }
        assert!((model.fitted().report.objective.unwrap() / objectives - 1.0).abs() < 1e-9, "{loss:?}");
        let output = model.predict(&Dataset::new(x.clone())).unwrap();
        for (i, label) in output.labels().iter().enumerate() {
            let row = &scores[i * 6..(i + 1) * 6];
            let best = (0..6).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
            assert_eq!(*label, format!("class {best}"));
        }
    }
}

#[test]
fn sparse_is_dense_and_coordinates_of_new_data_may_be_more_or_fewer() {
    let (x, codes) = clouds(70, 9, 3, 7);
    let sparse = SparseRows::from_dense(&x);
    let with = |data: Dataset| data.with_target(named(&codes)).unwrap();
    for loss in LOSSES {
        let fit = |data: Dataset| exact(loss).fit(&linear(), &with(data)).unwrap();
        let dense = fit(Dataset::new(x.clone()));
        let thin = fit(Dataset::new(sparse.clone()));
        let wanted = dense.scores(&Dataset::new(x.clone())).unwrap();
        let got = thin.scores(&Dataset::new(sparse.clone())).unwrap();
        near(&wanted, &got, 1e-5, &format!("{loss:?}"));
        // a model takes both, and single precision
        near(&got, &thin.scores(&Dataset::new(x.clone())).unwrap(), 1e-12, "dense rows");
        near(&got, &thin.scores(&Dataset::new(sparse.convert::<f32>())).unwrap(), 1e-5, "single precision");
        let half = fit(Dataset::new(x.convert::<f32>()));
        near(&wanted, &half.scores(&Dataset::new(x.clone())).unwrap(), 1e-4, "learned in single precision");
        // a scaled kernel is scaled data
        let kernel = linear() * 0.25;
        let scaled = exact(loss).fit(&kernel, &with(Dataset::new(sparse.clone()))).unwrap();
        let shrunk = Rows::new(x.values().iter().map(|v| 0.5 * v).collect(), 70, 9).unwrap();
        let other = fit(Dataset::new(shrunk.clone())).scores(&Dataset::new(shrunk)).unwrap();
        near(&scaled.scores(&Dataset::new(x.clone())).unwrap(), &other, 1e-5, "scaled kernel");
        // what training had not seen has no weight; what is missing is zero
        let (mut wider, mut narrower) = (SparseRows::new(0), SparseRows::new(0));
        for i in 0..70 {
            let mut row = sparse.row(i).to_vec();
            row.push(Coordinate { index: 9, value: 100.0 });
            row.push(Coordinate { index: 4_000_000_000, value: 1.0 });
            assert!(wider.push(&row));
            let first: Vec<_> = sparse.row(i).iter().filter(|c| c.index < 4).copied().collect();
            assert!(narrower.push(&first));
        }
        assert_eq!(thin.scores(&Dataset::new(wider)).unwrap(), got);
        let mut cut = x.clone();
        cut.values_mut().chunks_exact_mut(9).for_each(|row| row[4..].fill(0.0));
        near(
            &thin.scores(&Dataset::new(narrower)).unwrap(),
            &thin.scores(&Dataset::new(cut)).unwrap(),
            1e-12,
            "fewer coordinates",
        );
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let (x, codes) = clouds(300, 20, 11, 8);
    let y: Vec<f64> = codes.iter().map(|&c| c as f64).collect();
    for data in [Dataset::new(SparseRows::from_dense(&x)), Dataset::new(x)] {
        let data = data.with_target(Target::from(y.clone())).unwrap();
        let machines: [&dyn Machine; 3] = [
            &LinearSvc::default(),
            &LinearSvc { loss: MarginLoss::Logistic, ..LinearSvc::default() },
            &LinearSvr::default(),
        ];
        for machine in machines {
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let model = pool.install(|| Job::new(machine, &linear()).run(&data, &Silent)).unwrap();
                let mut all = weights_of(model.fitted());
                all.extend(pool.install(|| model.scores(&data)).unwrap());
                all.into_iter().map(f64::to_bits).collect::<Vec<_>>()
            };
            let single = with(1);
            assert!(single == with(2) && single == with(3), "{}", machine.entry().name);
        }
    }
}

#[test]
fn several_outputs_are_each_alone() {
    let (x, _) = clouds(60, 5, 2, 9);
    let y = |k: usize| (0..60).map(|i| x.row(i)[k] * 2.0 - x.row(i)[k + 1] + k as f64).collect::<Vec<f64>>();
    let column = |k: usize| Target::from_numbers(&format!("y{k}"), y(k));
    for loss in [InsensitiveLoss::EpsilonInsensitive, InsensitiveLoss::SquaredEpsilonInsensitive] {
        let machine = LinearSvr { c: 2.0, loss, tolerance: 1e-8, max_iterations: 0, ..LinearSvr::default() };
        let fit = |target: Target| {
            let data = Dataset::new(x.clone()).with_target(target).unwrap();
            let model = machine.fit(&linear(), &data).unwrap();
            model.predict(&data).unwrap().values().to_vec()
        };
        let together = fit(column(0).beside(column(1)).unwrap().beside(column(2)).unwrap());
        for k in 0..3 {
            let own: Vec<f64> = together.iter().skip(k).step_by(3).copied().collect();
            near(&own, &fit(column(k)), 1e-4, &format!("{loss:?}, output {k}"));
        }
    }
}

#[test]
fn what_cannot_be_done_is_said_with_what_can() {
    let (x, codes) = clouds(40, 3, 2, 10);
    let data = labelled(&x, &codes);
    for kernel in [rbf(1.0), linear() + 1.0, linear().centre()] {
        let error = LinearSvc::default().fit(&kernel, &data).unwrap_err();
        assert!(matches!(error, Error::Fit(FitError::NoFeatures { .. })), "{error}");
        let said = error.to_string();
        assert!(said.contains("linear_svc") && said.contains("the machine svc"), "{said}");
    }
    let one = Dataset::new(x.clone()).with_target(named(&[0; 40])).unwrap();
    assert!(LinearSvc::default().fit(&linear(), &one).unwrap_err().to_string().contains("class 0"));
    // a price that nothing reaches: it ends, and says how
    for loss in LOSSES {
        let machine = LinearSvc { c: 1e10, loss, max_iterations: 50, ..LinearSvc::default() };
        let model = machine.fit(&linear(), &data).unwrap();
        let report = &model.fitted().report;
        assert!([Status::IterationLimit, Status::Converged].contains(&report.status) && report.iterations <= 50);
        assert!(report.duality_gap.unwrap().is_finite() && model.predict(&data).unwrap().len() == 40);
    }
    let (machine, kernel) = (LinearSvc::default(), linear());
    let job = Job { budget: Budget { memory: 100 }, ..Job::new(&machine, &kernel) };
    assert!(matches!(job.run(&data, &Silent), Err(Error::Fit(FitError::Budget(_)))));
}

#[test]
fn selection_judges_sparse_features_without_a_matrix() {
    let (x, codes) = clouds(120, 10, 3, 11);
    let (sparse, kernel) = (SparseRows::from_dense(&x), linear());
    let data = Dataset::new(sparse).with_target(named(&codes)).unwrap();
    let grid = Grid { axes: vec![Axis { name: "c".to_owned(), values: [1e-6, 0.1].map(Setting::Number).to_vec() }] };
    let machine = mercer::machines::find("linear_svc").unwrap();
    let search = |memory: usize| {
        let budget = Budget { memory };
        Search {
            score: None,
            machine,
            settings: &[],
            kernel: &kernel,
            grid: &grid,
            folds: 4,
            budget,
            seed: Seed(0),
            probabilities: None,
            calibration_folds: 3,
            choose: mercer::select::Choose::Best,
        }
        .run(&data, &Silent)
        .unwrap()
    };
    // the matrix alone would take more than that
    let found = search(100_000);
    let folds = mercer::select::folds(data.target().unwrap(), Learns::Classes, 4, Seed(0)).unwrap();
    for (candidate, c) in found.candidates.iter().zip([1e-6, 0.1]) {
        let wrong = folds.iter().map(|held_out| {
            let rest: Vec<usize> = (0..120).filter(|i| !held_out.contains(i)).collect();
            let model = LinearSvc { c, ..LinearSvc::default() }.fit(&kernel, &data.select(&rest)).unwrap();
            let output = model.predict(&data.select(held_out)).unwrap();
            let truth = held_out.iter().map(|&i| format!("class {}", codes[i]));
            output.labels().iter().zip(truth).filter(|(got, wanted)| *got != wanted).count() as f64
        });
        let score = wrong.sum::<f64>() / 120.0;
        assert!((candidate.score - score).abs() < 1e-12 && score < 0.6, "C = {c}: {} and {score}", candidate.score);
    }
    assert!(found.model.fitted().report.storage.contains("no kernel matrix"));
}
