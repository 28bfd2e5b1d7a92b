//! Statements about kernel Fisher discriminants beside support vector machines (Mika 2002, §5.1, §5.2.2 and Table 5.5), on sets
//! that are drawn.
#![allow(clippy::unwrap_used)]

use mercer::machines::Threshold;
use mercer::machines::classify::KfdSolver;
use mercer::prelude::*;

/// So many examples of a drawn set, standardised as the first of them are.
fn drawn(name: &str, train: usize, test: usize) -> (Dataset, Dataset) {
    let table = mercer::datasets::load(name, Some(train + test), Seed(3)).unwrap();
    let (_, all) = Schema::learn_and_apply(&table, &SchemaOptions::default()).unwrap();
    let places: Vec<usize> = (0..train + test).collect();
    (all.select(&places[..train]), all.select(&places[train..]))
}

/// sup |F(t) − G(t)| of two samples.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let below = |x: &[f64], t: f64| x.iter().filter(|x| **x <= t).count() as f64 / x.len() as f64;
    a.iter().chain(b).map(|&t| (below(a, t) - below(b, t)).abs()).fold(0.0, f64::max)
}

fn error(model: &Model, data: &Dataset) -> f64 {
    let truth = data.target().unwrap().classes().unwrap();
    let told = model.predict(data).unwrap();
    let right = told.labels().iter().zip(&truth.codes).filter(|(l, c)| **l == truth.labels[**c as usize]).count();
    1.0 - right as f64 / data.len() as f64
}

#[test]
fn outputs_of_discriminants_are_distributed_alike_on_new_examples_and_those_of_support_vectors_are_not() {
    let (train, test) = drawn("ringnorm", 200, 800);
    let kernel = rbf(1.0 / 11.2);
    let kfd = Kfd { lambda: 17.8.into(), threshold: Threshold::Programme, ..Kfd::default() };
    let apart = |machine: &dyn mercer::machines::Machine| {
        let model = Job::new(machine, &kernel).run(&train, &mercer::watch::Silent).unwrap();
        assert!(error(&model, &test) < 0.04, "{}", error(&model, &test));
        distance(&model.scores(&train).unwrap(), &model.scores(&test).unwrap())
    };
    let (discriminant, support) = (apart(&kfd), apart(&Svc { c: 1.0, ..Svc::default() }));
    // two samples of these sizes from one distribution are up to 0.11 apart nineteen times of twenty
    assert!(discriminant < 0.11 && support > 2.0 * discriminant, "{discriminant} {support}");
}

#[test]
fn sparse_discriminants_have_more_zeros_than_support_vector_machines_and_err_alike() {
    // widths and prices as five folds choose them on these sets
    for (name, width, c, sparse, linear) in [
        ("banana", 0.8, 3.0, 0.2, 0.3),
        ("ringnorm", 15.0, 0.5, 4.0, 3.0),
        ("twonorm", 60.0, 1.0, 4.0, 3.0),
        ("waveform", 50.0, 3.0, 0.3, 1.0),
    ] {
        let (train, test) = drawn(name, 200, 600);
        let kernel = rbf(1.0 / width);
        let told = |machine: &dyn mercer::machines::Machine| {
            let model = Job::new(machine, &kernel).run(&train, &mercer::watch::Silent).unwrap();
            (1.0 - model.fitted().report.support.unwrap() as f64 / 200.0, error(&model, &test))
        };
        let (svm, skfd, lskfd) =
            (told(&Svc { c, ..Svc::default() }), told(&sparse_kfd(sparse)), told(&linear_sparse_kfd(linear)));
        assert!(skfd.0 > svm.0 && lskfd.0 > svm.0 && lskfd.0 > 0.8, "{name}: {svm:?} {skfd:?} {lskfd:?}");
        for other in [skfd, lskfd] {
            assert!((other.1 - svm.1).abs() < 0.03, "{name}: {svm:?} {skfd:?} {lskfd:?}");
        }
    }
}

#[test]
fn one_figure_of_the_objective_is_enough_for_the_error() {
    let (train, test) = drawn("ringnorm", 300, 1000);
    let kernel = rbf(1.0 / 11.2);
    let fit = |solver: KfdSolver| {
        let kfd = Kfd { lambda: 0.5.into(), penalty: Penalty::Norm, solver, figures: 1.0, ..Kfd::default() };
        error(&kfd.fit(&kernel, &train).unwrap(), &test)
    };
    let (coarse, exact) = (fit(KfdSolver::Pairs), fit(KfdSolver::Cholesky));
    assert!((coarse - exact).abs() <= 0.005 && exact < 0.04, "{coarse} {exact}");
}
