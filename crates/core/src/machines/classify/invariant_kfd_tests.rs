//! The discriminant with invariances against its system, against discriminant analysis, and against what it must ignore.

use super::*;
use crate::data::{Dataset, Rows, Target, Transform};
use crate::formula::{linear, rbf};
use crate::job::{AuxiliaryExamples, Fit, Job};
use crate::machines::reduce::{Kda, OrientedKpca};
use crate::model::Model;
use crate::seed::Seed;
use crate::watch::Silent;

fn clouds(sizes: &[usize], d: usize, seed: u64) -> (Dataset, Rows<f64>, Vec<usize>) {
    let mut random = Seed(seed).stream("clouds");
    let codes: Vec<usize> = sizes.iter().enumerate().flat_map(|(c, &n)| vec![c; n]).collect();
    let values = codes.iter().flat_map(|&c| (0..d).map(move |j| (c, j)));
    let values = values.map(|(c, j)| random.normal() + 1.5 * ((c * d + j) as f64 * 1.3).sin()).collect();
    let x = Rows::new(values, codes.len(), d).unwrap();
    let words: Vec<String> = codes.iter().map(|c| format!("c{c}")).collect();
    (Dataset::new(x.clone()).with_target(Target::from(words)).unwrap(), x, codes)
}

fn with(unwanted: &str) -> InvariantKfd {
    InvariantKfd { unwanted: unwanted.to_owned(), ..InvariantKfd::default() }
}

#[test]
fn the_direction_is_that_of_discriminant_analysis_in_either_basis() {
    let (data, ..) = clouds(&[30, 25], 3, 1);
    for words in ["within + 0.01*coefficients", "within + 0.1*norm", "0.5*within + norm + 0.3*covariance"] {
        let kfd = with(words).fit(&rbf(0.3), &data).unwrap();
        let kda = Kda { unwanted: words.to_owned(), components: 1, ..Kda::default() }.fit(&rbf(0.3), &data).unwrap();
        let (f, g) = (kfd.scores(&data).unwrap(), kda.scores(&data).unwrap());
        // the same up to the sign and the threshold
        let sign = ((f[0] - f[1]) * (g[0] - g[1])).signum();
        for i in 0..55 {
            assert!(((f[i] - f[0]) - sign * (g[i] - g[0])).abs() < 1e-7, "{words}");
        }
    }
}

#[test]
fn scores_of_training_are_those_of_prediction_and_separable_classes_are_separated() {
    for sizes in [&[30, 25][..], &[20, 25, 15]] {
        let (data, _, codes) = clouds(sizes, 3, 2);
        let model = with("within + 1e-6*coefficients").fit(&rbf(1.0), &data).unwrap();
        let scores = model.scores(&data).unwrap();
        let known = model.fitted.training_scores.clone().unwrap();
        assert!(scores.iter().zip(&known).all(|(a, b)| (a - b).abs() < 1e-8));
        let right = model.predict(&data).unwrap();
        let right = right.labels().iter().zip(&codes).filter(|(label, code)| **label == format!("c{code}")).count();
        assert_eq!(right, codes.len(), "a sharp kernel separates everything");
    }
}

/// Blobs whose class is their height; where they stand from left to right means nothing.
fn images(n: usize, seed: u64) -> (Dataset, Rows<f64>) {
    let mut random = Seed(seed).stream("images");
    let (mut values, mut words) = (Vec::new(), Vec::new());
    for i in 0..n {
        let (x, y) = (1.0 + 5.0 * random.uniform(), if i % 2 == 0 { 2.2 } else { 4.3 } + 0.5 * random.normal());
        values.extend((0..64).map(|p| {
            let (u, v) = (f64::from(p % 8) - x, f64::from(p / 8) - y);
            (-(u * u + v * v) / 2.0).exp() + 0.05 * random.normal()
        }));
        words.push(if i % 2 == 0 { "high" } else { "low" }.to_owned());
    }
    let x = Rows::new(values, n, 64).unwrap();
    (Dataset::new(x.clone()).with_target(Target::from(words)).unwrap(), x)
}

#[test]
fn a_heavy_tangent_makes_scores_blind_to_the_transformation() {
    let (data, x) = images(40, 4);
    let shift: Transform = "shift_x=1".parse().unwrap();
    let copies = Dataset::new(shift.rows(&x, 8, 8).unwrap());
    let auxiliary = AuxiliaryExamples::default().with_copies("shift_x=1", &copies).unwrap();
    let moved = |unwanted: &str, expansion: &str| {
        let machine = InvariantKfd { expansion: expansion.to_owned(), ..with(unwanted) };
        let kernel = rbf(0.05);
        let model =
            Job { auxiliary: Some(auxiliary.clone()), ..Job::new(&machine, &kernel) }.run(&data, &Silent).unwrap();
        assert_eq!(model.trained_on, 40);
        let (f, g) = (model.scores(&data).unwrap(), model.scores(&copies).unwrap());
        let mean = f.iter().sum::<f64>() / 40.0;
        let spread: f64 = f.iter().map(|f| (f - mean).powi(2)).sum();
        f.iter().zip(&g).map(|(f, g)| (f - g).powi(2)).sum::<f64>() / spread
    };
    let free = moved("within + 0.001*coefficients", "examples");
    let held = moved("within + 0.001*coefficients + 10*tangent", "examples");
    let exact = moved("within + 0.001*coefficients + 10*tangent(shift_x)", "all");
    assert!(held < 0.5 * free && exact < 0.5 * free, "{free} {held} {exact}");
    // one transformation by name is the mean of all where there is but one
    assert!((moved("within + 0.001*coefficients + 10*tangent", "all") - exact).abs() < 1e-6 * exact);
}

#[test]
fn points_beside_the_data_carry_the_model_and_its_file() {
    let (data, x) = images(30, 5);
    let shift: Transform = "shift_y=0.5".parse().unwrap();
    let copies = Dataset::new(shift.rows(&x, 8, 8).unwrap());
    let auxiliary = AuxiliaryExamples::default().with_copies("shift_y=0.5", &copies).unwrap();
    let auxiliary = auxiliary.with_centres(&data, 7, Seed(1)).unwrap();
    let machine = InvariantKfd { expansion: "points".to_owned(), ..InvariantKfd::default() };
    let kernel = rbf(0.05);
    let job = Job { auxiliary: Some(auxiliary.clone()), ..Job::new(&machine, &kernel) };
    let model = job.run(&data, &Silent).unwrap();
    assert_eq!((model.fitted.report.support, model.examples.len()), (Some(7), 7));
    let read = crate::model::Model::from_bytes(&model.to_bytes().unwrap(), "a file").unwrap();
    assert_eq!(read.scores(&data).unwrap(), model.scores(&data).unwrap());
    let known = model.fitted.training_scores.clone().unwrap();
    assert!(model.scores(&data).unwrap().iter().zip(&known).all(|(a, b)| (a - b).abs() < 1e-9));
}

#[test]
fn what_does_not_go_with_companions_is_told() {
    let (data, x, _) = clouds(&[10, 10], 2, 6);
    let auxiliary = AuxiliaryExamples::default().with_noise(&Dataset::new(x)).unwrap();
    let said = |machine: &dyn Machine, formula: &str, method| {
        let kernel: crate::formula::Formula = formula.parse().unwrap();
        let job = Job { auxiliary: Some(auxiliary.clone()), probabilities: method, ..Job::new(machine, &kernel) };
        job.run(&data, &Silent).err().map_or_else(String::new, |e| e.to_string())
    };
    let found = said(&super::super::Svc::default(), "rbf(gamma=1)", None);
    assert!(found.contains("invariant_kfd") && found.contains("oriented_kpca"), "{found}");
    let machine = with("within + 0.1*noise + 0.01*norm");
    assert!(said(&machine, "centre(rbf(gamma=1))", None).contains("centre of noise"));
    assert!(said(&machine, "rbf(gamma=1)", Some(crate::calibrate::Method::Platt)).contains("held out"));
    assert_eq!(said(&machine, "rbf(gamma=1)", None), "");
    let said = with("within").fit(&rbf(20.0), &data).unwrap_err().to_string();
    assert!(said.contains("within + 0.001*coefficients"), "{said}");
    let twin =
        Dataset::new(Rows::from_vectors(&[[1.0], [1.0]]).unwrap()).with_target(Target::from_text("y", &["a", "b"]));
    let said = with("within + norm").fit(&linear(), &twin.unwrap()).unwrap_err().to_string();
    assert!(said.contains("the same mean"), "{said}");
}

/// The largest difference of the scores of two models, after turning the second round where that is nearer.
fn apart(a: &Model, b: &Model, data: &Dataset) -> f64 {
    let (a, b) = (a.scores(data).unwrap(), b.scores(data).unwrap());
    let with = |sign: f64| a.iter().zip(&b).map(|(a, b)| (a - sign * b).abs()).fold(0.0, f64::max);
    with(1.0).min(with(-1.0))
}

#[test]
fn weights_are_copies_and_what_weighs_nothing_is_not_there() {
    let (data, x, codes) = clouds(&[14, 11], 2, 6);
    let moved = Dataset::new(Rows::new(x.values().iter().map(|x| x + 0.2).collect(), 25, 2).unwrap());
    let fit = |machine: &dyn Machine, data: &Dataset, moved: &Dataset| {
        let auxiliary = AuxiliaryExamples::default().with_copies("shift_x=1", moved).unwrap();
        let kernel = rbf(0.3);
        Job { auxiliary: Some(auxiliary.clone()), ..Job::new(machine, &kernel) }.run(data, &Silent).unwrap()
    };
    let machines: Vec<Box<dyn Machine>> = ["within + 0.1*norm", "within + norm + 0.3*covariance + 2*tangent"]
        .into_iter()
        .flat_map(|words| {
            let unwanted = words.to_owned();
            let kda = Kda { unwanted, components: 1, ..Kda::default() };
            [Box::new(with(words)) as Box<dyn Machine>, Box::new(kda)]
        })
        .chain([Box::new(OrientedKpca {
            unwanted: "norm + 2*tangent".to_owned(),
            components: 1,
            ..OrientedKpca::default()
        }) as Box<dyn Machine>])
        .collect();
    let often = |i: usize| [1, 2, 0, 3][i % 4];
    let copied: Vec<usize> = (0..25).flat_map(|i| vec![i; often(i)]).collect();
    let weighted = data.clone().with_weights((0..25).map(|i| often(i) as f64).collect()).unwrap();
    for machine in &machines {
        let few = fit(machine.as_ref(), &weighted, &moved);
        let many = fit(machine.as_ref(), &data.select(&copied), &moved.select(&copied));
        let plain = fit(machine.as_ref(), &data, &moved);
        assert!(apart(&few, &many, &data) < 1e-7, "{}: {}", machine.entry().name, apart(&few, &many, &data));
        assert!(apart(&few, &plain, &data) > 1e-3, "{}: they count", machine.entry().name);
    }
    // no weight: neither an error nor a point, which ‖a‖² would tell
    let kept: Vec<usize> = (0..25).filter(|i| i % 5 != 0).collect();
    let zeros: Vec<f64> = (0..25).map(|i| f64::from(u8::from(i % 5 != 0))).collect();
    let absent = data.clone().with_weights(zeros).unwrap();
    for expansion in ["examples", "all", "15"] {
        let unwanted = "within + 0.1*coefficients + tangent".to_owned();
        let machine = InvariantKfd { unwanted, expansion: expansion.to_owned(), ..InvariantKfd::default() };
        let there = fit(&machine, &data.select(&kept), &moved.select(&kept));
        assert!(apart(&fit(&machine, &absent, &moved), &there, &data) < 1e-9, "{expansion}");
    }
    // the weight of a class is that of its examples
    let heavy: Vec<f64> = codes.iter().map(|&c| if c == 1 { 4.0 } else { 1.0 }).collect();
    let by_class = InvariantKfd { class_weight: "c1:4".to_owned(), ..InvariantKfd::default() };
    let by_hand = InvariantKfd::default().fit(&rbf(0.3), &data.clone().with_weights(heavy.clone()).unwrap()).unwrap();
    assert!(apart(&by_class.fit(&rbf(0.3), &data).unwrap(), &by_hand, &data) < 1e-12);
    let by_class = Kda { class_weight: "c1:4".to_owned(), components: 1, ..Kda::default() };
    let by_hand = Kda { components: 1, ..Kda::default() }.fit(&rbf(0.3), &data.clone().with_weights(heavy).unwrap());
    assert!(apart(&by_class.fit(&rbf(0.3), &data).unwrap(), &by_hand.unwrap(), &data) < 1e-12);
    let nothing = data.with_weights(codes.iter().map(|&c| c as f64).collect()).unwrap();
    let said = InvariantKfd::default().fit(&rbf(0.3), &nothing).unwrap_err().to_string();
    assert!(said.contains("no example of class c0 has a weight"), "{said}");
}
