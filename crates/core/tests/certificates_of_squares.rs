//! Certificates of machines with squared errors, of regions that hold all examples, and of machines with ν.

#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::bounds::{scenario, stability};
use mercer::certify::{Certificate, Certified, Options};
use mercer::gram::fill;
use mercer::linalg::Cholesky;
use mercer::machines::Threshold;
use mercer::machines::classify::{Loss, programme};
use mercer::machines::programme::{LossName, Programme};
use mercer::machines::regress::TubeLoss;
use mercer::prelude::*;
use mercer::watch::Silent;

/// ln 20.
const NATS: f64 = 2.995_732_273_553_991;

fn certified(model: &Model, data: &Dataset, options: &Options<'_>) -> Certified {
    model.certify(data, options, &Silent).unwrap()
}

fn find<'a>(all: &'a Certified, bound: &str) -> &'a Certificate {
    all.certificates.iter().find(|c| c.bound == bound).unwrap()
}

fn thorough() -> Options<'static> {
    Options { thorough: true, ..Options::default() }
}

/// Points of the plane, a wave of the first coordinate with noise, and whether it is above 0.
fn points(n: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = Seed(seed).stream("squares");
    let x: Vec<f64> = (0..2 * n).map(|_| random.normal()).collect();
    let y = x.chunks_exact(2).map(|x| (0.8 * x[0].sin() + 0.2 * random.normal()).clamp(-1.0, 1.0)).collect();
    (x, y)
}

fn numbers(n: usize, seed: u64) -> Dataset {
    let (x, y) = points(n, seed);
    Dataset::new(Rows::new(x, n, 2).unwrap()).with_target(Target::from(y)).unwrap()
}

fn classes(n: usize, seed: u64) -> (Dataset, Vec<f64>) {
    let (x, y) = points(n, seed);
    let words: Vec<String> = y.iter().map(|y| if *y > 0.0 { "a" } else { "b" }.to_owned()).collect();
    let signs = y.iter().map(|y| if *y > 0.0 { 1.0 } else { -1.0 }).collect();
    (Dataset::new(Rows::new(x, n, 2).unwrap()).with_target(Target::from(words)).unwrap(), signs)
}

/// f₋ᵢ(x_i) of min Σ (y − f)² + μ‖f‖², by a system of equations for each example, and tr H.
fn without_each(gram: &dyn Gram, y: &[f64], mu: f64) -> (Vec<f64>, f64) {
    let n = y.len();
    let mut k = vec![0.0; n * n];
    fill(gram, &mut k);
    let solved = |keep: &[usize], rhs: Vec<f64>| {
        let m = keep.len();
        let of = |p: usize| k[keep[p / m] * n + keep[p % m]] + if p / m == p % m { mu } else { 0.0 };
        let mut rhs = rhs;
        Cholesky::factor((0..m * m).map(of).collect(), m).unwrap().solve(&mut rhs, 1);
        rhs
    };
    let left_out = (0..n).map(|out| {
        let keep: Vec<usize> = (0..n).filter(|&i| i != out).collect();
        let alpha = solved(&keep, keep.iter().map(|&i| y[i]).collect());
        keep.iter().zip(&alpha).map(|(&i, a)| a * k[out * n + i]).sum()
    });
    let left_out: Vec<f64> = left_out.collect();
    let all: Vec<usize> = (0..n).collect();
    let trace = (0..n).map(|j| {
        let unit = (0..n).map(|i| f64::from(u8::from(i == j))).collect();
        let inverse = solved(&all, unit);
        (0..n).map(|i| k[j * n + i] * inverse[i]).sum::<f64>()
    });
    let trace = trace.sum();
    (left_out, trace)
}

#[test]
fn squared_errors_without_an_offset_are_left_out_in_closed_form() {
    let (n, lambda) = (40, 3.0);
    let (data, signs) = classes(n, 1);
    let kernel = rbf(0.7);
    let machine = Programme {
        bias: false,
        threshold: Threshold::Programme,
        ..programme(LossName::Squared, Penalty::Norm, lambda)
    };
    let told = certified(&machine.fit(&kernel, &data).unwrap(), &data, &thorough());
    // ½ Σ (y − f)² + ½ λ‖f‖²
    let gram = kernel.gram(&data).unwrap();
    let (left_out, trace) = without_each(gram.as_ref(), &signs, lambda);
    let (m, margins) = (n as f64, left_out.iter().zip(&signs).map(|(f, y)| f * y));
    let margins: Vec<f64> = margins.collect();
    let clipped = margins.iter().map(|f| (1.0 - f).clamp(0.0, 1.0)).sum::<f64>() / m;
    let errors = margins.iter().filter(|f| **f <= 0.0).count() as f64;
    assert!((find(&told, "leave_one_out").value.unwrap() - errors / m).abs() < 1e-12);
    // Thm. 5.32 with β = κ² · 2(1 + κ/√λ′)/(2λ′m), λ′ = λ/m
    let per_example = lambda / m;
    let beta = (1.0 + 1.0 / per_example.sqrt()) / (per_example * m);
    let wanted = stability::stability_loo(clipped, beta, beta, 1.0, m, NATS);
    let got = find(&told, "stability_left_out_clipped");
    assert!(got.applicable && got.vacuous, "a bound above 1: {:?}", got.value);
    assert!((told.facts.regularised.unwrap().left_out_clipped.unwrap() - clipped).abs() < 1e-9);
    let entry = mercer::bounds::find("stability_left_out_clipped").unwrap();
    assert!(((entry.claim)(&told.facts, NATS).unwrap().value / wanted - 1.0).abs() < 1e-9);
    let second = (entry_of("hypothesis_stability").claim)(&told.facts, NATS).unwrap().value;
    assert!((second - clipped - ((1.0 + 6.0 * m * beta) / (2.0 * m) * 20.0).sqrt()).abs() < 1e-9, "{second}");
    // a weight that is large enough says something, as the bound of the training errors does
    let strong = Programme { lambda: 300.0 * m, ..machine };
    let strong = certified(&strong.fit(&kernel, &data).unwrap(), &data, &thorough());
    let value = find(&strong, "stability_left_out_clipped").value.unwrap();
    assert!(value < 1.5 && find(&strong, "stability").applicable, "{value}");
    // generalised cross-validation by the trace of H
    let fitted = without_offset(gram.as_ref(), &signs, lambda);
    let squares = fitted.iter().zip(&signs).map(|(f, y)| (y - f).powi(2)).sum::<f64>() / m;
    let gcv = squares / (1.0 - trace / m).powi(2);
    assert!((find(&told, "gcv").value.unwrap() / gcv - 1.0).abs() < 1e-9);
}

fn entry_of(name: &str) -> &'static mercer::certify::BoundEntry {
    mercer::bounds::find(name).unwrap()
}

/// K (K + μI)⁻¹ y.
fn without_offset(gram: &dyn Gram, y: &[f64], mu: f64) -> Vec<f64> {
    let n = y.len();
    let mut k = vec![0.0; n * n];
    fill(gram, &mut k);
    let mut g = k.clone();
    (0..n).for_each(|i| g[i * n + i] += mu);
    let mut alpha = y.to_vec();
    Cholesky::factor(g, n).unwrap().solve(&mut alpha, 1);
    (0..n).map(|i| (0..n).map(|j| k[i * n + j] * alpha[j]).sum()).collect()
}

#[test]
fn ridge_has_the_same_left_out_errors_and_a_generalised_score() {
    let data = numbers(30, 2);
    let model = Ridge { lambda: 0.5.into(), ..Ridge::default() }.fit(&rbf(0.7), &data).unwrap();
    let options = Options { target_range: Some([-1.0, 1.0]), ..thorough() };
    let told = certified(&model, &data, &options);
    let y = data.target().unwrap().numbers().unwrap().values;
    let gram = rbf(0.7).gram(&data).unwrap();
    let (left_out, trace) = without_each(gram.as_ref(), &y, 0.5);
    let squares = left_out.iter().zip(&y).map(|(f, y)| (f - y).powi(2)).sum::<f64>() / 30.0;
    assert!((told.facts.regularised.unwrap().left_out.unwrap() / squares - 1.0).abs() < 1e-9);
    let fitted = without_offset(gram.as_ref(), &y, 0.5);
    let seen = fitted.iter().zip(&y).map(|(f, y)| (f - y).powi(2)).sum::<f64>() / 30.0;
    let gcv = find(&told, "gcv");
    assert!((gcv.value.unwrap() / (seen / (1.0 - trace / 30.0).powi(2)) - 1.0).abs() < 1e-9);
    assert_eq!(gcv.guarantee, mercer::certify::Guarantee::Score);
    assert!(find(&told, "hypothesis_stability").applicable);
    // nobody has asked for what takes n³
    assert!(!find(&certified(&model, &data, &Options::default()), "gcv").applicable);
}

#[test]
fn squares_beyond_a_tube_or_a_margin_have_a_slope_where_predictions_are_bounded() {
    let data = numbers(40, 3);
    let machine = Svr { c: 0.01, loss: TubeLoss::SquaredEpsilonInsensitive, bias: false, ..Svr::default() };
    let options = Options { target_range: Some([-1.0, 1.0]), ..Options::default() };
    let told = certified(&machine.fit(&rbf(0.7), &data).unwrap(), &data, &options);
    let r = told.facts.regularised.unwrap();
    let wanted = stability::squares(r.mean_loss, 1.0, 1.0 / (2.0 * 0.01 * 40.0), 1.0, 40.0, NATS);
    let value = (entry_of("stability_squares").claim)(&told.facts, NATS).unwrap().value;
    assert!(value >= wanted && value < 1.05 * wanted, "{value}, and {wanted} of the exact minimum");
    assert!(!find(&told, "stability_regression").applicable);
    let (data, _) = classes(400, 4);
    let machine = Svc { c: 1e-4, loss: Loss::SquaredHinge, bias: false, ..Svc::default() };
    let told = certified(&machine.fit(&rbf(0.7), &data).unwrap(), &data, &Options::default());
    let stability = find(&told, "stability");
    assert!(stability.applicable && stability.value.unwrap() <= 1.0);
    let free = Svc { bias: true, ..machine };
    let told = certified(&free.fit(&rbf(0.7), &data).unwrap(), &data, &Options::default());
    assert!(find(&told, "stability").reason.contains("offset"));
}

#[test]
fn a_ball_around_all_examples_is_bounded_before_the_data() {
    let (x, _) = points(60, 5);
    let data = Dataset::new(Rows::new(x, 60, 2).unwrap());
    let model = Svdd { nu: 1.0 / 60.0, ..Svdd::default() }.fit(&linear(), &data).unwrap();
    let told = certified(&model, &data, &Options::default());
    // a centre of two coordinates and a radius
    let found = find(&told, "scenario_a_priori");
    assert!((found.value.unwrap() - scenario::a_priori(60.0, 3.0, NATS)).abs() < 1e-12);
    let soft = Svdd { nu: 0.1, ..Svdd::default() }.fit(&linear(), &data).unwrap();
    let told = certified(&soft, &data, &Options::default());
    assert!(find(&told, "scenario_a_priori").reason.contains("ν = 1/m"));
    let model = Svdd { nu: 1.0 / 60.0, ..Svdd::default() }.fit(&rbf(1.0), &data).unwrap();
    assert!(!find(&certified(&model, &data, &Options::default()), "scenario_a_priori").applicable, "no dimension");
}

#[test]
fn machines_with_nu_have_its_property() {
    let (data, _) = classes(60, 6);
    let model = NuSvc { nu: 0.4, ..NuSvc::default() }.fit(&rbf(0.7), &data).unwrap();
    let told = certified(&model, &data, &Options::default());
    let property = find(&told, "nu_property");
    assert_eq!(property.value, Some(0.4), "{}", property.reason);
    let share = |name: &str| property.inputs.iter().find(|(n, _)| *n == name).unwrap().1.as_f64().unwrap();
    assert!(share("outliers") <= 0.4 && 0.4 <= share("support"), "{:?}", property.inputs);
    assert!(share("outliers") > 0.2, "some examples are inside the margin");
    let data = numbers(60, 7);
    let model = NuSvr { nu: 0.3, ..NuSvr::default() }.fit(&rbf(0.7), &data).unwrap();
    let told = certified(&model, &data, &Options::default());
    assert_eq!(find(&told, "nu_property").value, Some(0.3), "{}", find(&told, "nu_property").reason);
}

#[test]
fn the_capacity_of_hyperplanes_is_that_of_the_smallest_ball() {
    // a triangle with equal sides of √3 around (5, 5), whose ball has radius 1, and a point inside
    let corner = |k: usize| {
        let angle = 2.0 * std::f64::consts::PI * k as f64 / 3.0;
        [5.0 + angle.cos(), 5.0 + angle.sin()]
    };
    let x: Vec<f64> = (0..3).flat_map(corner).chain([5.2, 5.0]).collect();
    let words = ["a", "b", "b", "a"].map(str::to_owned).to_vec();
    let data = Dataset::new(Rows::new(x, 4, 2).unwrap()).with_target(Target::from(words)).unwrap();
    let model = Svc { c: f64::INFINITY, ..Svc::default() }.fit(&linear(), &data).unwrap();
    let told = certified(&model, &data, &thorough());
    assert!((told.facts.kernel.ball.unwrap() - 1.0).abs() < 1e-5, "{:?}", told.facts.kernel.ball);
    let linear_facts = told.facts.linear.as_ref().unwrap();
    let squared = linear_facts.squared_norm - linear_facts.offset * linear_facts.offset;
    let value = find(&told, "canonical_hyperplanes").value.unwrap();
    assert!((value - (squared + 1.0).min(3.0)).abs() < 1e-4, "{value} for ‖w‖² = {squared}");
    // without an offset the ball is around the origin
    let model = Svc { c: 1.0, bias: false, ..Svc::default() }.fit(&linear(), &data).unwrap();
    let told = certified(&model, &data, &thorough());
    let longest = (0..3).map(|k| corner(k)[0].hypot(corner(k)[1])).fold(0.0, f64::max);
    assert!((told.facts.kernel.ball.unwrap() - longest).abs() < 1e-9);
}
