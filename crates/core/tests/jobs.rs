//! A job is a value: it is stored, read again and run with the same result; what it learned and from whom is told by the model.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::conformal::{Method, Recipe};
use mercer::data::Scope;
use mercer::machines;
use mercer::model::Step;
use mercer::params::Setting;
use mercer::prelude::*;
use mercer::watch::Silent;

fn iris() -> mercer::data::Table {
    mercer::datasets::load("iris", None, Seed(0)).unwrap()
}

#[test]
fn the_job_of_a_saved_model_makes_the_same_model_again() {
    let kernels = ["rbf(gamma=scale)", "centre(polynomial(degree=2))", "linear + 0.5*laplacian(gamma=median)"];
    for (kernel, name) in kernels.into_iter().zip(["svc", "kfd", "nearest_mean"]) {
        let columns = SchemaOptions { scale: Some(Scale::Minmax), ..SchemaOptions::default() };
        let asked = Job::of(machines::find(name).unwrap(), kernel.parse().unwrap());
        let conformal = Some(Recipe { folds: 4, ..Recipe::new(Method::Cross) });
        let job = Job { columns, seed: Seed(7), conformal, ..asked };
        let first = job.run_on_table(iris(), &Silent).unwrap();
        let bytes = first.to_bytes().unwrap();
        let read = Model::from_bytes(&bytes, "first").unwrap();
        let again = read.job().unwrap().run_on_table(iris(), &Silent).unwrap();
        assert_eq!(again.to_bytes().unwrap(), bytes, "{name}");
    }
}

#[test]
fn a_job_that_cannot_be_is_refused_in_reading() {
    let job = Job {
        settings: vec![("c".to_owned(), Setting::Number(f64::INFINITY))],
        ..Job::new(&Svc::default(), &rbf(1.0))
    };
    let text = serde_json::to_string(&job).unwrap();
    let back: Job = serde_json::from_str(&text).unwrap();
    assert_eq!(back.settings, job.settings);
    for (from, to, said) in [
        ("\"svc\"", "\"sv\"", "no machine called sv"),
        ("rbf(gamma=1)", "rbf(gama=1)", "gama"),
        ("[\"c\",\"inf\"]", "[\"c\",-1.0]", "c"),
        ("[\"c\",\"inf\"]", "[\"cost\",1.0]", "cost"),
        ("[\"c\",\"inf\"]", "[\"c\",1.0],[\"c\",2.0]", "given twice"),
        ("\"seed\"", "\"seeed\"", "seeed"),
        ("\"scale\"", "\"scal\"", "scal"),
    ] {
        assert!(text.contains(from), "{text}");
        let error = serde_json::from_str::<Job>(&text.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn every_step_before_the_fit_is_recorded_with_its_price_and_its_examples() {
    let steps = |job: &Job, data: &Dataset| {
        let model = job.run(data, &Silent).unwrap();
        let told = model.provenance().unwrap().learned().to_vec();
        // and the file tells the same
        let back = Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap();
        assert_eq!(back.provenance(), model.provenance());
        told.into_iter().map(|l| (l.step, l.bits, l.from)).collect::<Vec<_>>()
    };
    let plain = Job::new(&Svc::default(), &"rbf(gamma=scale)".parse().unwrap());
    let data = plain.prepare(iris()).unwrap();
    // four columns, two numbers each
    let columns = (Step::Columns, 8.0 * 64.0, Scope::All);
    assert_eq!(steps(&plain, &data), [columns, (Step::KernelNumbers, 64.0, Scope::All)]);
    let taken = Job { numbers_taken: 2, ..Job::new(&Svc::default(), &rbf(0.5)) };
    assert_eq!(steps(&taken, &data), [columns, (Step::KernelNumbers, 128.0, Scope::All)]);
    let balanced = data.clone().with_balanced_classes().unwrap();
    let known = Job::new(&Svc::default(), &rbf(0.5));
    assert_eq!(steps(&known, &balanced), [columns, (Step::ClassBalance, 0.0, Scope::All)]);
    let centred = Job::new(&Svc::default(), &rbf(0.5).centre());
    assert_eq!(steps(&centred, &data), [columns, (Step::Centre, 0.0, Scope::All)]);
    let landmarks = Job::new(&Svc::default(), &"nystrom(rbf(gamma=0.5), points=5)".parse().unwrap());
    assert_eq!(steps(&landmarks, &data), [columns, (Step::Landmarks, 0.0, Scope::All)]);
    let regions = Job { conformal: Some(Recipe::new(Method::Split)), ..plain.clone() };
    let kept = regions.prepare(iris()).unwrap();
    let found = steps(&regions, &kept);
    assert_eq!(found, [(Step::Columns, 8.0 * 64.0, Scope::Kept), (Step::KernelNumbers, 64.0, Scope::Kept)]);
    // examples in memory were prepared by nobody
    let rows = Rows::new((0..40).map(f64::from).collect(), 20, 2).unwrap();
    let labels: Vec<&str> = (0..20).map(|i| if i < 10 { "a" } else { "b" }).collect();
    let memory = Dataset::new(rows).with_target(Target::from_text("y", &labels)).unwrap();
    assert_eq!(steps(&known, &memory), []);
}

#[test]
fn balanced_classes_have_weights_by_their_numbers() {
    let labels = ["a", "b", "b", "b"];
    let data = Dataset::new(Rows::new(vec![0.0, 1.0, 2.0, 3.0], 4, 1).unwrap());
    let data = data.with_target(Target::from_text("y", &labels)).unwrap();
    let plain = data.clone().with_balanced_classes().unwrap();
    assert_eq!(plain.weights().unwrap(), [2.0, 4.0 / 6.0, 4.0 / 6.0, 4.0 / 6.0]);
    let given = data.with_weights(vec![1.0, 3.0, 0.0, 1.5]).unwrap().with_balanced_classes().unwrap();
    assert_eq!(given.weights().unwrap(), [2.0, 3.0 * (4.0 / 6.0), 0.0, 1.5 * (4.0 / 6.0)]);
    assert!(given.is_balanced() && given.select(&[0, 1]).is_balanced());
    assert!(Dataset::new(Rows::new(vec![0.0; 2], 2, 1).unwrap()).with_balanced_classes().is_err());
}

#[test]
fn the_job_of_a_searched_model_knows_its_columns_and_candidates() {
    let options = SchemaOptions { scale: Some(Scale::None), ..SchemaOptions::default() };
    let (_, data) = Schema::learn_and_apply(&iris(), &options).unwrap();
    let grid: mercer::select::Grid = "c=0.1|1|10".parse().unwrap();
    let search = mercer::select::Search {
        score: None,
        machine: machines::find("svc").unwrap(),
        settings: &[],
        kernel: &rbf(0.5),
        grid: &grid,
        folds: 3,
        choose: mercer::select::Choose::Best,
        probabilities: None,
        calibration_folds: 0,
        budget: mercer::gram::Budget::default(),
        seed: Seed(1),
    };
    let model = search.run(&data, &Silent).unwrap().model;
    let job = model.job().unwrap();
    assert_eq!((job.candidates, job.columns.scale), (3, Some(Scale::None)));
    let again = job.run_on_table(iris(), &Silent).unwrap();
    assert_eq!(again.to_bytes().unwrap(), model.to_bytes().unwrap());
    // parameters that were chosen on these examples prove no coverage on them
    let regions = Job { conformal: Some(Recipe::new(Method::Split)), ..job.clone() };
    let unproven = regions.run_on_table(iris(), &Silent).unwrap();
    assert!(!unproven.conformal().unwrap().is_proven());
    let fresh = Job { candidates: 1, ..regions };
    assert!(fresh.run_on_table(iris(), &Silent).unwrap().conformal().unwrap().is_proven());
}

#[test]
fn folds_prove_nothing_for_a_machine_that_depends_on_the_order_of_its_examples() {
    let labels: Vec<&str> = (0..40).map(|i| if i % 3 == 0 { "a" } else { "b" }).collect();
    let rows = Rows::new((0..80).map(|v| f64::from(v * v % 37)).collect(), 40, 2).unwrap();
    let data = Dataset::new(rows).with_target(Target::from_text("y", &labels)).unwrap();
    let proven = |name: &str, method: Method| {
        let job = Job::of(machines::find(name).unwrap(), rbf(0.1));
        let job = Job { conformal: Some(Recipe { folds: 4, ..Recipe::new(method) }), ..job };
        job.run(&data, &Silent).unwrap().conformal().unwrap().is_proven()
    };
    assert!(proven("perceptron", Method::Split) && !proven("perceptron", Method::Cross));
    assert!(proven("svc", Method::Cross));
}

#[test]
fn a_task_whose_parts_have_other_lengths_is_refused() {
    let data = Dataset::new(Rows::new((0..24).map(f64::from).collect(), 12, 2).unwrap());
    let gram = rbf(0.1).training_gram(&data).unwrap();
    for entry in machines::all().filter(|e| e.learns != machines::Learns::Unsupervised) {
        for n in [7, 20] {
            let labels: Vec<&str> = (0..n).map(|i| if i % 2 == 0 { "1" } else { "2" }).collect();
            let target = Target::from_text("y", &labels);
            let task = machines::Task { target: Some(&target), ..machines::Task::new(gram.clone()) };
            assert!((entry.make)().run(&task, &Silent).is_err(), "{} took {n} of 12", entry.name);
        }
    }
}

#[test]
fn weights_of_classes_move_the_decision_and_not_the_probabilities() {
    let table = mercer::datasets::load("banana", Some(400), Seed(3)).unwrap();
    let (_, data) = Schema::learn_and_apply(&table, &SchemaOptions::default()).unwrap();
    let labels = data.target().unwrap().classes().unwrap().labels.clone();
    let weighed = data.clone().with_class_weights(vec![(labels[0].clone(), 8.0)]).unwrap();
    assert_eq!(weighed.select(&[3, 5]).class_weights().unwrap(), [(labels[0].clone(), 8.0)]);
    let by_hand = data.clone().with_weights(weighed.weights().unwrap().to_vec()).unwrap();
    assert!(by_hand.class_weights().is_none());
    let job = Job { probabilities: Some(mercer::calibrate::Method::Platt), ..Job::new(&Svc::default(), &rbf(0.5)) };
    let of = |train: &Dataset| {
        let model = job.run(train, &Silent).unwrap();
        let mercer::machines::Output::Labels { probabilities: Some(p), codes, .. } = model.predict(&data).unwrap()
        else {
            panic!()
        };
        let mean = p.iter().step_by(2).sum::<f64>() / data.len() as f64;
        (mean, codes.iter().filter(|&&c| c == 0).count() as f64 / data.len() as f64)
    };
    let (plain, classes, examples) = (of(&data), of(&weighed), of(&by_hand));
    // the decision is that of weighted examples, the probabilities are those of the classes as they come
    assert!((classes.1 - examples.1).abs() < 0.02, "{} {}", classes.1, examples.1);
    assert!(classes.1 > plain.1 + 0.01, "{} {}", classes.1, plain.1);
    assert!((classes.0 - plain.0).abs() < 0.03, "{} {}", classes.0, plain.0);
    assert!(examples.0 > plain.0 + 0.05, "{} {}", examples.0, plain.0);
}
