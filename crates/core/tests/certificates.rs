//! Assumptions of theorems about fits, checked on fits; and certificates of models from end to end.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

use mercer::bounds::{self, Certificate, Guarantee, Quantity, State};
use mercer::certify::{self, Certified, Options, part};
use mercer::data::Values;
use mercer::gram::fill;
use mercer::machines::{Coefficients, Machine};
use mercer::model::Step;
use mercer::prelude::*;
use mercer::watch::Silent;

/// Two Gaussians ±(shift, 0) in the plane.
fn gaussians(n: usize, shift: f64, seed: u64) -> (Dataset, Vec<f64>) {
    let mut random = Seed(seed).stream("gaussians");
    let y: Vec<f64> = (0..n).map(|_| if random.uniform() < 0.5 { 1.0 } else { -1.0 }).collect();
    let x: Vec<f64> = y.iter().flat_map(|y| [y * shift + random.normal(), random.normal()]).collect();
    // the first label in order is the positive one
    let names: Vec<&str> = y.iter().map(|y| if *y > 0.0 { "a" } else { "b" }).collect();
    let data = Dataset::new(Rows::new(x, n, 2).unwrap()).with_target(Target::from_text("y", &names)).unwrap();
    (data, y)
}

fn svc(c: f64, bias: bool) -> Svc {
    let mut machine = Svc { c, bias, ..Svc::default() };
    machine.effort.tolerance = 1e-8;
    machine
}

fn certified(model: &Model, data: &Dataset) -> Certified {
    model.certify(data, &Options::default(), &Silent).unwrap()
}

fn of<'a>(certified: &'a Certified, name: &str) -> &'a Certificate {
    certified.certificates.iter().find(|c| c.bound == name).unwrap()
}

fn value(certified: &Certified, name: &str) -> f64 {
    of(certified, name).value.unwrap_or_else(|| panic!("{name}: {}", of(certified, name).reason))
}

/// K, row by row.
fn matrix(kernel: &Formula, data: &Dataset) -> Vec<f64> {
    let n = data.len();
    let mut k = vec![0.0; n * n];
    fill(kernel.gram(data).unwrap().as_ref(), &mut k);
    k
}

/// The coefficients of a classifier of two classes on all training examples.
fn coefficients(model: &Model, n: usize) -> Vec<f64> {
    let (points, alpha) = match &model.fitted().expansion.coefficients {
        Coefficients::Pairwise { points, alpha, .. } | Coefficients::Dual { points, alpha } => (points, alpha),
        other => panic!("{other:?}"),
    };
    let mut all = vec![0.0; n];
    points.iter().zip(alpha).for_each(|(&p, a)| all[model.places()[p]] = *a);
    all
}

fn without(data: &Dataset, i: usize) -> Dataset {
    data.select(&(0..data.len()).filter(|&j| j != i).collect::<Vec<_>>())
}

/// Thm. 5.31 in the norm of the feature space: leaving out x_i moves f by at most C √κ(x_i, x_i). And Thm. 2.37: errors ≤ errors of
/// leaving one out ≤ examples that need their own weight ≤ support vectors.
#[test]
fn leaving_one_out_moves_little_and_the_counts_are_in_order() {
    let (data, y) = gaussians(50, 1.2, 3);
    let kernel = rbf(0.5);
    let k = matrix(&kernel, &data);
    for c in [0.05, 0.5, 5.0] {
        let machine = svc(c, false);
        let model = machine.fit(&kernel, &data).unwrap();
        let whole = coefficients(&model, 50);
        let (mut errors, mut largest) = (0, 0.0_f64);
        for i in 0..50 {
            let less = machine.fit(&kernel, &without(&data, i)).unwrap();
            let mut other = coefficients(&less, 49);
            other.insert(i, 0.0);
            let d: Vec<f64> = whole.iter().zip(&other).map(|(a, b)| a - b).collect();
            let squared: f64 = (0..50).map(|a| d[a] * (0..50).map(|b| k[a * 50 + b] * d[b]).sum::<f64>()).sum();
            largest = largest.max(squared.max(0.0).sqrt() / (c * k[i * 50 + i].sqrt()));
            let f: f64 = (0..50).map(|b| other[b] * k[i * 50 + b]).sum();
            errors += usize::from(y[i] * f <= 0.0);
        }
        assert!(largest <= 1.0 + 1e-4, "{c}: {largest}");
        assert!(c > 0.1 || largest > 0.99, "attained at small C: {largest}");
        let found = certified(&model, &data);
        let (training, count, support) =
            (found.facts.error_rate().unwrap(), value(&found, "jaakkola_haussler"), value(&found, "support_vectors"));
        let left_out = errors as f64 / 50.0;
        assert!(training <= count && left_out <= count && count <= support, "{training} {left_out} {count} {support}");
    }
}

/// T3: the compression set alone gives the same function, and every error is inside it.
#[test]
fn support_vectors_alone_give_the_same_model() {
    let (data, _) = gaussians(120, 1.0, 5);
    let kernel = rbf(0.7);
    for bias in [false, true] {
        let machine = svc(1.0, bias);
        let model = machine.fit(&kernel, &data).unwrap();
        let mut places = model.places().to_vec();
        places.sort_unstable();
        let again = machine.fit(&kernel, &data.select(&places)).unwrap();
        for (a, b) in model.scores(&data).unwrap().iter().zip(again.scores(&data).unwrap()) {
            assert!((a - b).abs() < 1e-5, "{a} {b}");
        }
        let found = certified(&model, &data);
        let set = found.facts.compression.unwrap();
        assert_eq!(set.errors_outside, 0.0);
        assert!(set.size >= places.len() as f64 && set.size <= places.len() as f64 + 3.0);
        assert!(found.facts.errors.unwrap() > 0.0, "classes overlap");
    }
}

/// T4: Novikoff's bound with the margin of a support vector machine, and the examples that ever changed the perceptron suffice.
#[test]
fn a_perceptron_is_its_updates() {
    let (data, _) = gaussians(80, 4.0, 9);
    let kernel = rbf(0.1);
    let model = Perceptron::default().fit(&kernel, &data).unwrap();
    let best = svc(f64::INFINITY, false).fit(&kernel, &data).unwrap();
    let norm = certified(&best, &data).facts.linear.unwrap().squared_norm;
    let note = |name: &str| model.fitted().report.notes.iter().find(|(n, _)| n == name).unwrap().1;
    assert!(note("mistakes") <= norm * (1.0 + 1e-6), "κ(x, x) = 1 and γ = 1/‖w‖: {} {norm}", note("mistakes"));
    let mut places = model.places().to_vec();
    places.sort_unstable();
    let again = Perceptron::default().fit(&kernel, &data.select(&places)).unwrap();
    for (a, b) in model.scores(&data).unwrap().iter().zip(again.scores(&data).unwrap()) {
        assert!((a - b).abs() < 1e-9);
    }
    let found = certified(&model, &data);
    assert_eq!(found.facts.compression.unwrap().size, places.len() as f64);
    assert!(value(&found, "compression_exact") < 1.0);
    assert!(of(&found, "online_to_batch").applicable && of(&found, "mistake_bound").applicable);
    assert!(!of(&found, "scenario").applicable);
    // several orders are paid for
    let several = Perceptron { permutations: 20, ..Perceptron::default() }.fit(&kernel, &data).unwrap();
    let price = certified(&several, &data).facts.penalty.learned;
    assert!((price - 20.0_f64.ln()).abs() < 1e-12);
}

/// T5, T6, T7, T9, T10 and T13.
#[test]
fn identities_of_margins_ranks_and_signs() {
    let (data, _) = gaussians(60, 2.0, 11);
    // ν: outside ≤ ν ≤ support
    let one_class = OneClass { nu: 0.2, ..OneClass::default() }.fit(&rbf(0.5), &data).unwrap();
    let found = certified(&one_class, &data);
    let nu = found.facts.nu.unwrap();
    assert!(nu.outside / 60.0 <= 0.2 + 1e-9 && nu.support / 60.0 >= 0.2 - 1e-9);
    assert_eq!(value(&found, "nu_property"), 0.2);
    assert!(value(&found, "scenario") < 1.0 && of(&found, "scenario").quantity == Quantity::NoveltyRate);
    // D(z, w/‖w‖, 1/‖w‖)² ‖w‖² = Σ ξ²
    let kernel = rbf(0.5);
    let model = svc(1.0, false).fit(&kernel, &data).unwrap();
    let linear = certified(&model, &data).facts.linear.unwrap();
    let norm = linear.squared_norm.sqrt();
    let k = matrix(&kernel, &data);
    let c = coefficients(&model, 60);
    let direct: f64 = (0..60).map(|a| c[a] * (0..60).map(|b| k[a * 60 + b] * c[b]).sum::<f64>()).sum();
    assert!((linear.squared_norm - direct).abs() < 1e-5 * direct, "{} {direct}", linear.squared_norm);
    let squares: f64 = linear.margins.iter().map(|f| (1.0 - f).max(0.0).powi(2)).sum();
    let short: f64 = linear.margins.iter().map(|f| (1.0 / norm - f / norm).max(0.0).powi(2)).sum();
    assert!((short * norm * norm - squares).abs() < 1e-9);
    // κ(x, x) = 1: γ = Γ
    let gammas = &linear.gammas;
    assert!(gammas.iter().zip(&linear.margins).all(|(g, f)| (g - (f - linear.slack) / norm).abs() < 1e-12));
    // a cap around w: all of its members classify the sample as w does
    let hard = svc(f64::INFINITY, false).fit(&rbf(2.0), &gaussians(30, 3.0, 2).0).unwrap();
    let (few, signs) = gaussians(30, 3.0, 2);
    let linear = certified(&hard, &few).facts.linear.unwrap();
    let gamma = linear.least_gamma();
    assert!(gamma > 0.0);
    let (k, c) = (matrix(&rbf(2.0), &few), coefficients(&hard, 30));
    let product = |a: &[f64], b: &[f64]| -> f64 {
        (0..30).map(|i| a[i] * (0..30).map(|j| k[i * 30 + j] * b[j]).sum::<f64>()).sum()
    };
    let mut random = Seed(7).stream("caps");
    let w = c.clone();
    let length = product(&w, &w).sqrt();
    for _ in 0..200 {
        // a unit vector v with ⟨w, v⟩ = √(1 − Γ²) + a little
        let noise: Vec<f64> = (0..30).map(|_| random.normal()).collect();
        let along = product(&noise, &w) / (length * length);
        let across: Vec<f64> = noise.iter().zip(&w).map(|(n, w)| n - along * w).collect();
        let wide = product(&across, &across).sqrt();
        let cosine = (1.0 - gamma * gamma).sqrt() + 1e-9;
        let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
        let v: Vec<f64> = (0..30).map(|i| cosine * w[i] / length + sine * across[i] / wide).collect();
        for i in 0..30 {
            let f: f64 = (0..30).map(|j| k[i * 30 + j] * v[j]).sum();
            assert!(signs[i] * f > -1e-9);
        }
    }
    // random signs: √(tr K)/√2 ≤ E √(σᵀKσ) ≤ √(tr K)
    for (gamma, ratio) in [(50.0, 0.999), (0.5, 0.9), (0.005, 0.75)] {
        let k = matrix(&rbf(gamma), &data);
        let mean = (0..2000)
            .map(|_| {
                let s: Vec<f64> = (0..60).map(|_| if random.uniform() < 0.5 { -1.0 } else { 1.0 }).collect();
                (0..60).map(|a| s[a] * (0..60).map(|b| k[a * 60 + b] * s[b]).sum::<f64>()).sum::<f64>().max(0.0).sqrt()
            })
            .sum::<f64>()
            / 2000.0;
        let share = mean / 60.0_f64.sqrt();
        assert!((1.0 / 2.0_f64.sqrt()..=1.0 + 1e-3).contains(&share) && share > ratio - 0.1, "{gamma}: {share}");
    }
    // T13: the rank is the size of the largest subset that hyperplanes through the origin label in every way
    let six = data.select(&[0, 1, 2, 3, 4, 5]);
    let Values::Dense(rows) = &six.views()[0].values else { panic!() };
    let mut ways = |subset: &[usize]| {
        let mut seen = std::collections::HashSet::new();
        for _ in 0..20_000 {
            let w = [random.normal(), random.normal()];
            let code = subset
                .iter()
                .fold(0_u32, |code, &i| 2 * code + u32::from(w[0] * rows.row(i)[0] + w[1] * rows.row(i)[1] > 0.0));
            seen.insert(code);
        }
        seen.len()
    };
    assert_eq!(ways(&[0, 1]), 4);
    assert!((0..6).flat_map(|a| (0..a).flat_map(move |b| (0..b).map(move |c| [a, b, c]))).all(|s| ways(&s) < 8));
    let found = mercer::geometry::spectrum(linear_gram(&six).as_ref(), 6, mercer::gram::Budget::default()).unwrap();
    assert_eq!(found.rank(), 2);
}

fn linear_gram(data: &Dataset) -> std::sync::Arc<dyn Gram> {
    mercer::formula::linear().gram(data).unwrap()
}

/// T8 and T11.
#[test]
fn certificates_do_not_depend_on_order_rotation_or_scale() {
    let (data, y) = gaussians(90, 1.5, 21);
    let kernel = rbf(0.5);
    let machine = svc(1.0, false);
    let first = certified(&machine.fit(&kernel, &data).unwrap(), &data);
    let order: Vec<usize> = Seed(3).stream("order").permutation(90);
    let shuffled = data.select(&order);
    let second = certified(&machine.fit(&kernel, &shuffled).unwrap(), &shuffled);
    let Values::Dense(rows) = &data.views()[0].values else { panic!() };
    let (s, c) = 0.7_f64.sin_cos();
    let turned: Vec<f64> =
        rows.values().chunks_exact(2).flat_map(|x| [c * x[0] - s * x[1], s * x[0] + c * x[1]]).collect();
    let names: Vec<&str> = y.iter().map(|y| if *y > 0.0 { "a" } else { "b" }).collect();
    let turned = Dataset::new(Rows::new(turned, 90, 2).unwrap()).with_target(Target::from_text("y", &names)).unwrap();
    let third = certified(&machine.fit(&kernel, &turned).unwrap(), &turned);
    for other in [&second, &third] {
        for entry in bounds::all() {
            let (a, b) = (of(&first, entry.name), of(other, entry.name));
            assert_eq!(a.applicable, b.applicable, "{}", entry.name);
            if let (Some(a), Some(b)) = (a.value, b.value) {
                assert!((a - b).abs() < 1e-3, "{}: {a} {b}", entry.name);
            }
        }
    }
    // w → cw: a stretched model has the same normalised margins, so the same PAC-Bayes bound
    let model = machine.fit(&kernel, &data).unwrap();
    let mut plain = model.fitted().clone();
    plain.report.violation = Some(0.0);
    let mut stretched = plain.clone();
    if let Coefficients::Pairwise { alpha, .. } = &mut stretched.expansion.coefficients {
        alpha.iter_mut().for_each(|a| *a *= 7.0);
    }
    let [plain, stretched] = [plain, stretched].map(|fitted| model.clone().with_fitted(fitted));
    let pair = [&plain, &stretched].map(|m| value(&certified(m, &data), "pac_bayes_kl"));
    assert!((pair[0] - pair[1]).abs() < 1e-6, "{pair:?}");
    // the vote of an isotropic Gaussian around w is w, and errs at most twice as often as one draw
    let mut random = Seed(5).stream("votes");
    let (w, mut gibbs, mut vote) = ([1.0, 0.3], 0.0, 0.0);
    for x in rows.values().chunks_exact(2).zip(&y) {
        let wrong = (0..400)
            .filter(|_| x.1 * ((w[0] + random.normal()) * x.0[0] + (w[1] + random.normal()) * x.0[1]) <= 0.0)
            .count() as f64
            / 400.0;
        let own = f64::from(u8::from(x.1 * (w[0] * x.0[0] + w[1] * x.0[1]) <= 0.0));
        assert!((wrong > 0.6) <= (own == 1.0) && (wrong < 0.4) <= (own == 0.0));
        gibbs += wrong / 90.0;
        vote += own / 90.0;
    }
    assert!(vote <= 2.0 * gibbs + 0.05);
}

#[test]
fn what_a_theorem_does_not_cover_is_refused_with_a_reason() {
    let (data, _) = gaussians(100, 1.5, 1);
    let with_bias = certified(&svc(1.0, true).fit(&rbf(0.5), &data).unwrap(), &data);
    assert!(with_bias.facts.linear.as_ref().unwrap().offset != 0.0);
    for name in ["stability", "jaakkola_haussler"] {
        assert!(!of(&with_bias, name).applicable && of(&with_bias, name).reason.contains("offset"), "{name}");
    }
    for name in ["scenario", "pac_bayes_kl", "compression_exact", "rademacher_contraction", "support_vectors"] {
        assert!(of(&with_bias, name).applicable, "{name}: {}", of(&with_bias, name).reason);
    }
    let lengths = mercer::formula::linear();
    let unbounded = certified(&svc(1.0, false).fit(&lengths, &data).unwrap(), &data);
    for name in ["robust_margin", "stability", "canonical_hyperplanes"] {
        assert!(!of(&unbounded, name).applicable, "{name}");
    }
    assert_eq!(unbounded.facts.kernel.dimension, Some(2.0));
    assert!(of(&unbounded, "vc").applicable);
    for name in ["vc", "scenario_a_priori"] {
        assert!(!of(&with_bias, name).applicable, "{name}");
    }
    let dense = certified(&Kfd::default().fit(&rbf(0.5), &data).unwrap(), &data);
    for name in ["scenario", "compression_exact", "support_vectors"] {
        assert!(!of(&dense, name).applicable && of(&dense, name).reason.contains("part"), "{name}");
    }
    assert!(of(&dense, "pac_bayes_kl").applicable);
    let centred = certified(&svc(1.0, false).fit(&rbf(0.5).centre(), &data).unwrap(), &data);
    assert!(centred.certificates.iter().filter(|c| c.applicable).all(|c| c.bound.starts_with("held_out")));
    // other examples are not the training examples
    let model = svc(1.0, true).fit(&rbf(0.5), &data).unwrap();
    let error = model.certify(&gaussians(100, 1.5, 2).0, &Options::default(), &Silent).unwrap_err().to_string();
    assert!(error.contains("hash"), "{error}");
    for delta in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(model.certify(&data, &Options { delta, ..Options::default() }, &Silent).is_err());
    }
    // several classes: 0-1 certificates stay, those of two classes say so
    let three: Vec<String> = (0..100).map(|i| (i % 3).to_string()).collect();
    let many = data.clone().without_target().with_target(Target::from_text("y", &three)).unwrap();
    let found = certified(&svc(1.0, true).fit(&rbf(0.5), &many).unwrap(), &many);
    assert!(of(&found, "scenario").applicable && !of(&found, "pac_bayes_kl").applicable);
}

#[test]
fn choices_are_paid_for_and_told() {
    let (data, _) = gaussians(200, 2.0, 4);
    let kernel = rbf(0.5);
    let model = svc(1.0, true).fit(&kernel, &data).unwrap();
    let one = certified(&model, &data);
    assert_eq!(of(&one, "scenario").price, 0.0);
    let grid: mercer::select::Grid = "c=0.1|1|10, gamma=0.1|0.5".parse().unwrap();
    let search = mercer::select::Search {
        score: None,
        machine: mercer::machines::find("svc").unwrap(),
        settings: &[],
        kernel: &kernel,
        grid: &grid,
        folds: 3,
        choose: mercer::select::Choose::Best,
        probabilities: None,
        calibration_folds: 0,
        budget: mercer::gram::Budget::default(),
        seed: Seed(1),
    };
    let chosen = search.run(&data, &Silent).unwrap().model;
    assert_eq!(chosen.candidates(), 6);
    let found = certified(&chosen, &data);
    assert!((of(&found, "scenario").price - 6.0_f64.ln()).abs() < 1e-12);
    assert!(
        of(&found, "scenario").conditions.iter().any(|c| c.what.contains("6 candidates") && c.state == State::Checked)
    );
    // a file from elsewhere does not tell how many were tried
    let foreign = Model::from_bytes(model.to_libsvm().unwrap().text.as_bytes(), "foreign").unwrap();
    // such a file numbers the classes
    let codes = data.target().unwrap().classes().unwrap().codes;
    let labels: Vec<&str> = codes.iter().map(|&c| ["1", "2"][c as usize]).collect();
    let numbered = data.clone().with_target(Target::from_text("y", &labels)).unwrap();
    let found = certified(&foreign, &numbered);
    assert!(of(&found, "scenario").conditions.iter().any(|c| c.what.contains("unknown")));
    // by certificates: the least of all, with all of them paid for
    let selection = certify::select(&search, &data, &Options::default(), &Silent).unwrap();
    assert_eq!(selection.candidates.len(), 6);
    assert_eq!(selection.model.candidates(), 24);
    let least = selection.candidates.iter().map(|c| c.value).fold(f64::INFINITY, f64::min);
    assert_eq!(selection.candidates[selection.best].value, least);
    assert_eq!(selection.certificate.value, Some(least));
    let again = certified(&selection.model, &data);
    assert!((value(&again, selection.certificate.bound) - least).abs() < 1e-9);
    // gamma=median costs a number
    let median: Formula = "rbf(gamma=median)".parse().unwrap();
    let found = certified(&svc(1.0, true).fit(&median, &data).unwrap(), &data);
    assert!((of(&found, "scenario").price - 64.0 * 2.0_f64.ln()).abs() < 1e-9);
    assert!(!of(&found, "support_vectors").applicable, "leaving one out would change gamma");
}

#[test]
fn any_machine_is_certified_by_a_part() {
    let (data, _) = gaussians(400, 2.0, 6);
    let kernel = rbf(0.5);
    let machine = Kfd::default();
    let job = Job::new(&machine, &kernel);
    let found = part::fit(&job, &data, &Options::default(), None, &Silent).unwrap();
    assert!(found.bound < 0.35 && found.size < 200, "{} of {}", found.bound, found.size);
    let again = certified(&found.model, &data);
    assert!((value(&again, "compression_binomial") - found.bound).abs() < 1e-12);
    assert_eq!(again.facts.compression.unwrap().size, found.size as f64);
    // the model is what comes out of its part
    let places: Vec<usize> = found.model.provenance().unwrap().part().unwrap().iter().map(|&p| p as usize).collect();
    let alone = machine.fit(&kernel, &data.select(&places)).unwrap();
    assert_eq!(alone.scores(&data).unwrap(), found.model.scores(&data).unwrap());
    // and the file knows
    let bytes = found.model.to_bytes().unwrap();
    let read = Model::from_bytes(&bytes, "x").unwrap();
    assert!((value(&certified(&read, &data), "compression_binomial") - found.bound).abs() < 1e-12);
    let first = part::fit(&job, &data, &Options::default(), Some(0.5), &Silent).unwrap();
    assert!(first.bound <= 0.5 && first.size <= found.size);
}

#[test]
fn a_saved_model_has_the_same_certificates() {
    let (data, _) = gaussians(150, 1.0, 8);
    let options = Options { thorough: true, evidence: 0, ..Options::default() };
    for (bias, c) in [(false, 1.0), (true, 10.0)] {
        let model = svc(c, bias).fit(&rbf(0.5), &data).unwrap();
        let read = Model::from_bytes(&model.to_bytes().unwrap(), "x").unwrap();
        let (a, b) =
            (model.certify(&data, &options, &Silent).unwrap(), read.certify(&data, &options, &Silent).unwrap());
        for entry in bounds::all() {
            let (a, b) = (of(&a, entry.name), of(&b, entry.name));
            assert_eq!(a.applicable, b.applicable, "{}", entry.name);
            if let (Some(x), Some(y)) = (a.value, b.value) {
                assert!((x - y).abs() < 1e-4 * x.abs().max(1.0), "{}: {x} {y}", entry.name);
            }
        }
        assert!(of(&a, "span").applicable && of(&a, "rademacher_signs").applicable);
        assert!(value(&a, "span") <= value(&a, "support_vectors") + 1e-12);
    }
    // scores of a ν machine are divided by its margin, and so is what they may be wrong by
    for seed in 0..30 {
        let mut random = Seed(seed).stream("three classes");
        let x: Vec<f64> = (0..120).map(|_| random.normal()).collect();
        let names: Vec<&str> =
            x.chunks_exact(2).map(|x| ["a", "b", "c"][((x[0] + 1.5).clamp(0.0, 2.9)) as usize]).collect();
        let data = Dataset::new(Rows::new(x, 60, 2).unwrap()).with_target(Target::from_text("y", &names)).unwrap();
        let Ok(model) = (NuSvc { nu: 0.2, ..NuSvc::default() }).fit(&rbf(1.0), &data) else { continue };
        let read = Model::from_bytes(&model.to_bytes().unwrap(), "x").unwrap();
        let size = |model: &Model| certified(model, &data).facts.compression.unwrap().size;
        assert_eq!(size(&model), size(&read), "{seed}");
    }
}

#[test]
fn the_evidence_is_that_of_the_orthant() {
    let (data, _) = gaussians(40, 4.0, 8);
    let model = svc(f64::INFINITY, false).fit(&rbf(0.1), &data).unwrap();
    let options = Options { evidence: 2000, ..Options::default() };
    let found = model.certify(&data, &options, &Silent).unwrap();
    // by brute force: draw Gaussian processes and count those that classify everything rightly
    let k = matrix(&rbf(0.1), &data);
    let mut jittered = k;
    (0..40).for_each(|i| jittered[i * 40 + i] += 1e-6);
    let l = mercer::linalg::Cholesky::factor(jittered, 40).unwrap().factor_rows();
    let y: Vec<f64> =
        data.target().unwrap().classes().unwrap().codes.iter().map(|c| if *c == 0 { 1.0 } else { -1.0 }).collect();
    let mut random = Seed(2).stream("processes");
    let draws = 200_000;
    let hits = (0..draws)
        .filter(|_| {
            let z: Vec<f64> = (0..40).map(|_| random.normal()).collect();
            (0..40).all(|i| y[i] * (0..=i).map(|j| l[i * 40 + j] * z[j]).sum::<f64>() > 0.0)
        })
        .count() as f64;
    let evidence = found.facts.evidence.unwrap();
    let direct = -(hits / f64::from(draws)).ln();
    assert!(hits > 50.0 && (evidence.nats - direct).abs() < 0.3, "{} {direct}", evidence.nats);
    assert!(of(&found, "evidence").applicable && of(&found, "evidence").quantity == Quantity::GibbsRisk);
    assert!(value(&found, "evidence") < value(&found, "version_space"));
}

#[test]
fn regression_and_held_out_examples() {
    let mut random = Seed(1).stream("sinc");
    let make = |n: usize, random: &mut mercer::seed::Random| {
        let x: Vec<f64> = (0..n).map(|_| 6.0 * random.uniform() - 3.0).collect();
        let y: Vec<f64> = x.iter().map(|x| x.sin() + 0.1 * random.normal()).collect();
        Dataset::new(Rows::new(x, n, 1).unwrap()).with_target(Target::from_numbers("y", y)).unwrap()
    };
    let (data, fresh) = (make(300, &mut random), make(4000, &mut random));
    let machine = Svr { c: 1.0, epsilon: 0.2, bias: false, ..Svr::default() };
    let model = machine.fit(&rbf(1.0), &data).unwrap();
    let options = Options { held_out: Some(&fresh), target_range: Some([-2.0, 2.0]), ..Options::default() };
    let found = model.certify(&data, &options, &Silent).unwrap();
    let missed = found.held_out_error.unwrap();
    let bound = value(&found, "scenario");
    assert_eq!(of(&found, "scenario").quantity, Quantity::TubeMisses);
    assert!(missed <= bound && bound < 0.4, "{missed} {bound}");
    let held_out = of(&found, "held_out");
    let lower = held_out.inputs["lower_end_at_delta"].as_f64().unwrap();
    assert!(lower <= missed && missed <= held_out.value.unwrap());
    assert!(of(&found, "stability_regression").applicable);
    assert!(found.sentence().contains("outside the tube"));
    assert_eq!(found.best().unwrap().bound, "held_out");
    // without held-out examples the choice among three bounds is paid for
    let alone = model.certify(&data, &Options::default(), &Silent).unwrap();
    let best = alone.best().unwrap();
    assert_eq!(best.bound, "scenario");
    assert!(best.value.unwrap() > value(&alone, "scenario") && best.delta == Some(0.05));
    let third = model.certify(&data, &Options { delta: 0.05 / 3.0, ..Options::default() }, &Silent).unwrap();
    assert_eq!(best.value, of(&third, "scenario").value);
    for c in &found.certificates {
        assert!(c.applicable || !c.reason.is_empty());
        assert_eq!(c.delta.is_some(), c.guarantee == Guarantee::HighProbability);
    }
}

#[test]
fn ridge_is_bounded_by_held_out_losses_and_by_stability() {
    let mut random = Seed(3).stream("ridge");
    let make = |n: usize, random: &mut mercer::seed::Random| {
        let x: Vec<f64> = (0..n).map(|_| 6.0 * random.uniform() - 3.0).collect();
        let y: Vec<f64> = x.iter().map(|x| (x.sin() + 0.1 * random.normal()).clamp(-2.0, 2.0)).collect();
        Dataset::new(Rows::new(x, n, 1).unwrap()).with_target(Target::from_numbers("y", y)).unwrap()
    };
    let (data, held_out, fresh) = (make(300, &mut random), make(500, &mut random), make(20_000, &mut random));
    let model = Ridge { lambda: 300.0.into(), ..Ridge::default() }.fit(&rbf(1.0), &data).unwrap();
    let options = Options { held_out: Some(&held_out), target_range: Some([-2.0, 2.0]), ..Options::default() };
    let found = model.certify(&data, &options, &Silent).unwrap();
    let mercer::machines::Output::Values { values, .. } = model.predict(&fresh).unwrap() else {
        panic!("ridge predicts numbers")
    };
    let truth = fresh.target().unwrap().numbers().unwrap().values;
    let mean =
        |of: &dyn Fn(f64) -> f64| values.iter().zip(&truth).map(|(f, y)| of(y - f)).sum::<f64>() / truth.len() as f64;
    let (absolute, squared) = (mean(&|r| r.abs()), mean(&|r| r * r));
    let loss = value(&found, "held_out_loss");
    assert!(absolute <= loss && loss < absolute + 0.3, "{absolute} {loss}");
    let stable = of(&found, "stability_squares");
    assert!(stable.applicable && !stable.vacuous, "{}", stable.reason);
    assert!(squared <= stable.value.unwrap() && stable.value.unwrap() < 16.0, "{squared} {:?}", stable.value);
    // the same from the fits without one example each, made one by one
    let left_out = of(&found, "stability_left_out");
    let alone: f64 = (0..300)
        .map(|i| {
            let fit = Ridge { lambda: 300.0.into(), ..Ridge::default() }.fit(&rbf(1.0), &without(&data, i)).unwrap();
            let one = data.select(&[i]);
            let mercer::machines::Output::Values { values, .. } = fit.predict(&one).unwrap() else { panic!("numbers") };
            (values[0] - one.target().unwrap().numbers().unwrap().values[0]).powi(2)
        })
        .sum::<f64>()
        / 300.0;
    assert!((left_out.inputs["left_out_loss"].as_f64().unwrap() - alone).abs() < 1e-9, "{alone}");
    assert!(squared <= left_out.value.unwrap() && left_out.value.unwrap() < stable.value.unwrap());
    // where λ is small it says no more than that the loss is bounded
    let loose = Ridge { lambda: 0.1.into(), ..Ridge::default() }.fit(&rbf(1.0), &data).unwrap();
    let found = loose.certify(&data, &options, &Silent).unwrap();
    let stable = of(&found, "stability_squares");
    assert!(stable.applicable && stable.vacuous && stable.reason.contains("cannot be larger"), "{}", stable.reason);
    // a λ that the examples chose is another problem for each sample
    let searched = Ridge { lambda: mercer::params::AutoList::Word("loo"), ..Ridge::default() };
    let found = searched.fit(&rbf(1.0), &data).unwrap().certify(&data, &options, &Silent).unwrap();
    assert!(!of(&found, "stability_squares").applicable);
}

#[test]
fn a_prior_from_half_of_the_examples_has_the_angle_of_the_weight_vectors() {
    let n = 400;
    let (data, _) = gaussians(n, 1.5, 7);
    let machine = Svc { c: 0.1, ..Svc::default() };
    let kernel = mercer::formula::linear();
    let model = machine.fit(&kernel, &data).unwrap();
    let found = model.certify(&data, &Options { thorough: true, ..Options::default() }, &Silent).unwrap();
    let told = of(&found, "pac_bayes_informed");
    assert!(told.applicable, "{}", told.reason);
    let mut half = Seed(0).stream("half of the examples").permutation(n)[..n / 2].to_vec();
    half.sort_unstable();
    let smaller = machine.fit(&kernel, &data.select(&half)).unwrap();
    // f(x) = ⟨w, x⟩ + b at 0 and at the two unit vectors shows w and b
    let corners = Dataset::new(Rows::new(vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0], 3, 2).unwrap());
    let plane = |model: &Model| {
        let f = model.scores(&corners).unwrap();
        [f[1] - f[0], f[2] - f[0], f[0]]
    };
    let (w, v) = (plane(&model), plane(&smaller));
    let dot = |a: [f64; 3], b: [f64; 3]| a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>();
    let same = model.fitted().readout == smaller.fitted().readout;
    let cosine = dot(w, v) / (dot(w, w) * dot(v, v)).sqrt() * if same { 1.0 } else { -1.0 };
    let given = told.inputs["cosine"].as_f64().unwrap();
    assert!((given - cosine).abs() < 1e-6, "{given} {cosine}");
    assert!(cosine > 0.9 && told.inputs["examples_left"].as_f64() == Some(200.0));
    // without being asked for it is not computed
    let plain = model.certify(&data, &Options::default(), &Silent).unwrap();
    assert!(of(&plain, "pac_bayes_informed").reason.contains("--thorough"));
}

#[test]
fn a_factor_of_the_kernel_is_part_of_the_weights_length() {
    let (data, _) = gaussians(120, 1.0, 5);
    // the same functions on the same features, once by weights and once by coefficients
    for factor in [1e-4, 1.0, 4.0] {
        let kernel: Formula = format!("{factor}*linear").parse().unwrap();
        let machine = LinearSvc {
            c: 0.5 / factor,
            loss: mercer::machines::classify::MarginLoss::Hinge,
            bias: false,
            ..LinearSvc::default()
        };
        let primal = certified(&machine.fit(&kernel, &data).unwrap(), &data).facts.linear.unwrap().squared_norm;
        let dual = certified(&svc(0.5 / factor, false).fit(&kernel, &data).unwrap(), &data).facts.linear.unwrap();
        assert!((primal / dual.squared_norm - 1.0).abs() < 1e-2, "{factor}: {primal} {}", dual.squared_norm);
    }
}

#[test]
fn examples_of_training_are_refused_as_held_out_ones() {
    let (data, _) = gaussians(60, 1.0, 6);
    let model = svc(1.0, true).fit(&rbf(1.0), &data).unwrap();
    let told =
        |held_out: &Dataset| model.certify(&data, &Options { held_out: Some(held_out), ..Options::default() }, &Silent);
    assert!(told(&data).unwrap_err().to_string().contains("are those of training"));
    let part = data.select(&[3, 1, 8]);
    assert!(told(&part).unwrap_err().to_string().contains("all 3 held-out examples also stand among"));
    // one of them may have been drawn again
    let (fresh, _) = gaussians(3, 1.0, 7);
    let found = told(&fresh).unwrap();
    assert!(of(&found, "held_out").conditions.iter().all(|c| !c.what.contains("also among")));
    let mut again = model.clone();
    assert!(again.calibrate_on(&data, false).unwrap_err().to_string().contains("those of training"));
}

#[test]
fn nothing_is_certified_from_the_notes_of_a_fit_on_a_part() {
    let (data, _) = gaussians(200, 0.0, 8);
    let kernel = rbf(1.0);
    let machine = Perceptron::default();
    let job = Job::new(&machine, &kernel);
    let fitted = part::fit(&job, &data, &Options::default(), None, &Silent).unwrap();
    let found = certified(&fitted.model, &data);
    assert!(!of(&found, "online_to_batch").applicable && !of(&found, "leave_one_out").applicable);
}

#[test]
fn soft_margins_that_no_example_violates_are_not_hard_ones() {
    let (data, _) = gaussians(200, 3.0, 9);
    // so small a C leaves every multiplier at its bound
    let soft = certified(&svc(1e-4, false).fit(&linear(), &data).unwrap(), &data);
    assert!(!of(&soft, "scenario_a_priori").applicable);
    let squared = Svc { c: 10.0, bias: false, loss: mercer::machines::classify::Loss::SquaredHinge, ..Svc::default() };
    let found = certified(&squared.fit(&linear(), &data).unwrap(), &data);
    assert!(!of(&found, "scenario_a_priori").applicable);
}

#[test]
fn the_ends_of_the_scenario_interval_have_counts_of_their_own() {
    let mut random = Seed(10).stream("novelties");
    let points = |n: usize, random: &mut mercer::seed::Random| {
        let x: Vec<f64> = (0..2 * n).map(|_| random.normal()).collect();
        Dataset::new(Rows::new(x, n, 2).unwrap())
    };
    let (data, fresh) = (points(1000, &mut random), points(20_000, &mut random));
    let model = OneClass { nu: 0.1, ..OneClass::default() }.fit(&rbf(0.5), &data).unwrap();
    let found = certified(&model, &data);
    let set = found.facts.compression.unwrap();
    assert!(set.surely <= set.size && set.size < 0.2 * 1000.0, "{set:?}");
    let outside = model.scores(&fresh).unwrap().iter().filter(|f| **f < 0.0).count() as f64 / 20_000.0;
    let interval = of(&found, "scenario_interval");
    assert!(interval.lower.unwrap() <= outside && outside <= interval.value.unwrap(), "{outside} {interval:?}");
}

#[test]
fn a_share_of_weighted_examples_is_a_number_that_all_of_them_have_chosen() {
    let mut random = Seed(18).stream("weighted regions");
    let x: Vec<f64> = (0..200).map(|_| random.normal()).collect();
    let data = Dataset::new(Rows::new(x, 100, 2).unwrap());
    let weights = (0..100).map(|_| 0.5 + random.uniform()).collect();
    let weighted = data.clone().with_weights(weights).unwrap();
    let machines: [Box<dyn Machine>; 2] =
        [Box::new(OneClass { nu: 0.2, ..OneClass::default() }), Box::new(Svdd { nu: 0.2, ..Svdd::default() })];
    for machine in machines {
        let name = machine.entry().name;
        let found = certified(&machine.fit_dyn(&data), &data);
        assert!(found.facts.compression.unwrap().share_of_all, "{name}");
        let says = |bound: &str, what: &str| of(&found, bound).conditions.iter().any(|c| c.what.contains(what));
        assert!(says("compression_binomial", "a share of m") && says("scenario", "ν m/d"), "{name}");
        let found = certified(&machine.fit_dyn(&weighted), &weighted);
        assert!(found.facts.compression.is_none(), "{name}");
        for bound in ["scenario", "scenario_interval", "compression_binomial", "compression_lossy"] {
            assert!(!of(&found, bound).applicable && of(&found, bound).reason.contains("weight"), "{name} {bound}");
        }
    }
}

#[test]
fn a_set_that_gives_the_model_again_is_declared_and_refused_where_the_solver_was_loose() {
    let (data, _) = gaussians(200, 1.0, 3);
    let at = |tolerance: f64| {
        let mut machine = svc(1.0, true);
        machine.effort.tolerance = tolerance;
        certified(&machine.fit(&rbf(0.5), &data).unwrap(), &data)
    };
    let sharp = at(1e-3);
    for name in ["scenario", "compression_binomial"] {
        let said = |state: State| {
            of(&sharp, name)
                .conditions
                .iter()
                .any(|c| c.state == state && c.what.contains("but for the solver's tolerance"))
        };
        assert!(of(&sharp, name).applicable && said(State::Declared) && !said(State::Checked), "{name}");
        let loose = at(0.2);
        let told = of(&loose, name);
        assert!(!told.applicable && told.reason.contains("smaller tolerance"), "{name}: {}", told.reason);
    }
    // what was trained on a part alone is known to be
    let (machine, kernel) = (svc(1.0, true), rbf(0.5));
    let found = part::fit(&Job::new(&machine, &kernel), &data, &Options::default(), None, &Silent).unwrap();
    let told = certified(&found.model, &data);
    let of_part =
        of(&told, "compression_binomial").conditions.iter().find(|c| c.what.contains("compression set alone"));
    assert_eq!(of_part.map(|c| c.state), Some(State::Checked));
}

/// A fit with a kernel of numbers.
trait FitDyn {
    fn fit_dyn(&self, data: &Dataset) -> Model;
}

impl FitDyn for Box<dyn Machine> {
    fn fit_dyn(&self, data: &Dataset) -> Model {
        Job::new(self.as_ref(), &rbf(0.5)).run(data, &Silent).unwrap()
    }
}

#[test]
fn means_over_samples_are_scores_once_candidates_were_compared() {
    let (data, _) = gaussians(100, 1.0, 11);
    let model = svc(1.0, false).fit(&rbf(1.0), &data).unwrap();
    let plain = certified(&model, &data);
    assert_eq!(of(&plain, "support_vectors").guarantee, Guarantee::Expectation);
    let found = model.certify(&data, &Options { candidates: Some(9), ..Options::default() }, &Silent).unwrap();
    let told = of(&found, "support_vectors");
    assert!(told.guarantee == Guarantee::Score && told.reason.contains("score only"));
    assert!(model.certify(&data, &Options { candidates: Some(0), ..Options::default() }, &Silent).is_err());
}

#[test]
fn what_cannot_be_trusted_has_no_compression_set() {
    let (data, _) = gaussians(100, 1.0, 12);
    // a kernel that is not positive definite has many solutions
    let indefinite: Formula = "sigmoid(gamma=10, offset=5)".parse().unwrap();
    let found = certified(&svc(1.0, true).fit(&indefinite, &data).unwrap(), &data);
    assert!(of(&found, "scenario").reason.contains("not positive definite"));
    // a fit that ended early is not the solution
    let mut machine = svc(100.0, true);
    machine.effort.max_iterations = 3;
    let found = certified(&machine.fit(&rbf(1.0), &data).unwrap(), &data);
    assert!(of(&found, "scenario").reason.contains("ended early"), "{}", of(&found, "scenario").reason);
}

#[test]
fn numbers_that_the_examples_chose_are_counted() {
    let (data, _) = gaussians(80, 1.0, 13);
    let chosen = |text: &str| {
        let kernel: Formula = text.parse().unwrap();
        let model = svc(1.0, true).fit(&kernel, &data).unwrap();
        let learned = model.provenance().unwrap().learned();
        learned.iter().filter(|l| l.step == Step::KernelNumbers).map(|l| l.bits / 64.0).sum::<f64>()
    };
    assert_eq!(chosen("rbf(gamma=1)"), 0.0);
    assert_eq!(chosen("rbf(gamma=scale)"), 1.0);
    assert_eq!(chosen("wendland(support=2)"), 0.0);
    assert!(chosen("mahalanobis(metric=inverse_covariance)") >= 3.0);
}

#[test]
fn a_centre_without_slack_or_without_a_known_radius_has_no_guarantee() {
    let mut random = Seed(14).stream("centre");
    let x: Vec<f64> = (0..400).map(|_| random.normal()).collect();
    let data = Dataset::new(Rows::new(x, 200, 2).unwrap());
    let told = |guarantee: bool, kernel: &Formula| {
        let machine = CentreOfMass { delta: 0.01, guarantee };
        of(&certified(&machine.fit(kernel, &data).unwrap(), &data), "novelty_centre").applicable
    };
    assert!(told(true, &rbf(0.5)));
    assert!(!told(false, &rbf(0.5)));
    assert!(!told(true, &linear()));
}

#[test]
fn every_class_pays_for_what_was_chosen_in_it() {
    let (two, _) = gaussians(90, 2.0, 15);
    let three: Vec<&str> = (0..90).map(|i| ["a", "b", "c"][i % 3]).collect();
    let three = two.clone().with_target(Target::from_text("y", &three)).unwrap();
    let price = |machine: &dyn mercer::machines::Machine, data: &Dataset| {
        certified(&Job::new(machine, &rbf(1.0)).run(data, &Silent).unwrap(), data).facts.penalty.learned
    };
    let walks = Perceptron { permutations: 5, ..Perceptron::default() };
    assert!((price(&walks, &two) - 5.0_f64.ln()).abs() < 1e-12);
    assert!((price(&walks, &three) - 3.0 * 5.0_f64.ln()).abs() < 1e-12);
    let balanced = Svc { class_weight: "balanced".into(), ..Svc::default() };
    assert!((price(&balanced, &two) - 91.0_f64.ln()).abs() < 1e-12);
    assert!((price(&balanced, &three) - 2.0 * 91.0_f64.ln()).abs() < 1e-12);
}

#[test]
fn a_model_of_another_program_says_what_it_does_not_know() {
    let (data, _) = gaussians(80, 1.5, 21);
    // LIBSVM's files have numbers as labels
    let codes: Vec<f64> = data.target().unwrap().classes().unwrap().codes.iter().map(|&c| f64::from(c)).collect();
    let data = data.without_target().with_target(Target::from_numbers("y", codes)).unwrap();
    let own = svc(1.0, true).fit(&rbf(0.5), &data).unwrap();
    let foreign = Model::from_libsvm(own.to_libsvm().unwrap().text.as_bytes(), "a.model").unwrap();
    let found = certified(&foreign, &data);
    // nothing says which examples it was trained on, nor how many candidates were tried
    let kl = of(&found, "pac_bayes_kl");
    let declared =
        |c: &Certificate, what: &str| c.conditions.iter().any(|c| c.what.contains(what) && c.state == State::Declared);
    assert!(kl.applicable, "{}", kl.reason);
    assert!(declared(kl, "the model was trained on") && declared(kl, "it does not know"), "{:?}", kl.conditions);
    assert!(declared(kl, "candidates were tried is unknown"), "{:?}", kl.conditions);
    assert!(!declared(of(&certified(&own, &data), "pac_bayes_kl"), "it does not know"));
    // the weight vector is the same, so the bound is
    assert!((kl.value.unwrap() - value(&certified(&own, &data), "pac_bayes_kl")).abs() < 1e-4);
}

#[test]
fn shares_outside_are_only_told_where_they_hold() {
    let (data, _) = gaussians(120, 1.0, 22);
    let data = data.without_target();
    let fit = |iterations: Option<usize>| {
        let mut machine = OneClass { nu: 0.2, ..OneClass::default() };
        if let Some(most) = iterations {
            machine.effort.max_iterations = most as _;
        }
        machine.fit(&rbf(0.5), &data).unwrap()
    };
    let whole = certified(&fit(None), &data);
    let told = of(&whole, "nu_property");
    assert!(told.applicable, "{}", told.reason);
    let input = |name: &str| told.inputs[name].as_f64().unwrap();
    assert!(input("outliers") <= 0.2 && input("support") >= 0.2);
    let early = certified(&fit(Some(2)), &data);
    let told = of(&early, "nu_property");
    assert!(!told.applicable && told.reason.contains("ended early"), "{told:?}");
}

#[test]
fn examples_that_fix_a_loose_offset_are_counted() {
    // all values lie in the tube, so that the offset is the middle of the least and the largest
    let mut random = Seed(31).stream("tube");
    let x: Vec<f64> = (0..100).map(|_| random.uniform()).collect();
    let y: Vec<f64> = (0..100).map(|_| random.uniform()).collect();
    let data = Dataset::new(Rows::new(x, 100, 1).unwrap()).with_target(Target::from_numbers("y", y)).unwrap();
    let wide = Svr { epsilon: 3.0, ..Svr::default() }.fit(&rbf(1.0), &data).unwrap();
    assert_eq!(certified(&wide, &data).facts.compression.unwrap().size, 2.0);
    // a tube that some leave has multipliers between the bounds, which fix it
    let narrow = Svr { epsilon: 0.3, c: 1.0, ..Svr::default() }.fit(&rbf(1.0), &data).unwrap();
    let support = narrow.fitted().report.support.unwrap() as f64;
    let size = certified(&narrow, &data).facts.compression.unwrap().size;
    assert!(size >= support && size <= support + 1.0, "{size} {support}");
    // as many of both classes and a small C: every multiplier is at its bound
    let (few, _) = gaussians(60, 1.0, 32);
    let codes = few.target().unwrap().classes().unwrap().codes;
    let mut kept: Vec<usize> = (0..60).filter(|&i| codes[i] == 0).take(20).collect();
    kept.extend((0..60).filter(|&i| codes[i] == 1).take(20));
    let even = few.select(&kept);
    let model = svc(1e-3, true).fit(&rbf(0.5), &even).unwrap();
    let loose = model.fitted().report.notes.iter().find(|(name, _)| name == "loose_offsets").unwrap().1;
    assert_eq!(loose, 1.0);
    assert_eq!(certified(&model, &even).facts.compression.unwrap().size, 40.0);
    // leaving out what is not counted changes nothing: by the fits themselves, for detectors too
    let cloud = gaussians(50, 0.0, 33).0.without_target();
    for nu in [0.1, 0.2, 0.3] {
        let mut machine = OneClass { nu, ..OneClass::default() };
        machine.effort.tolerance = 1e-10;
        let whole = machine.fit(&rbf(0.3), &cloud).unwrap();
        let own = whole.scores(&cloud).unwrap();
        let size = certified(&whole, &cloud).facts.compression.unwrap().size;
        // with the same multipliers' bound and sum: ν m is kept
        let changed = (0..50)
            .filter(|&i| {
                let rest: Vec<usize> = (0..50).filter(|&j| j != i).collect();
                let mut again = OneClass { nu: nu * 50.0 / 49.0, ..OneClass::default() };
                again.effort.tolerance = 1e-10;
                let other = again.fit(&rbf(0.3), &cloud.select(&rest)).unwrap().scores(&cloud).unwrap();
                own.iter().zip(&other).any(|(a, b)| (a - b).abs() > 1e-6)
            })
            .count();
        assert!(changed as f64 <= size, "{nu}: {changed} of {size}");
    }
}

#[test]
fn held_out_examples_of_few_values_or_of_new_classes_are_judged() {
    let mut random = Seed(34).stream("discrete");
    let mut draw = |n: usize, third: bool| {
        let x: Vec<f64> = (0..n).map(|_| (4.0 * random.uniform()).floor()).collect();
        let names: Vec<&str> = (0..n)
            .map(|i| {
                if third && i < 7 {
                    "z"
                } else if x[i] + random.normal() > 1.5 {
                    "a"
                } else {
                    "b"
                }
            })
            .collect();
        Dataset::new(Rows::new(x, n, 1).unwrap()).with_target(Target::from_text("y", &names)).unwrap()
    };
    let (data, held_out, strange) = (draw(400, false), draw(200, false), draw(200, true));
    let model = svc(1.0, true).fit(&rbf(0.5), &data).unwrap();
    let judged = |held_out: &Dataset| {
        let options = Options { held_out: Some(held_out), ..Options::default() };
        model.certify(&data, &options, &Silent).map_err(|e| e.to_string())
    };
    // every one of them stands in training too, but so does any draw
    let found = judged(&held_out).unwrap();
    assert_eq!(found.facts.held_out_repeats.equal, 200);
    assert!(of(&found, "held_out").conditions.iter().any(|c| c.what.contains("drawn by themselves")));
    // a class that the model has never seen is never predicted
    let plain = judged(&strange).unwrap().facts.held_out.unwrap().errors;
    let rest: Vec<usize> = (7..200).collect();
    assert_eq!(plain, judged(&strange.select(&rest)).unwrap().facts.held_out.unwrap().errors + 7.0);
    // rows that stand in training once were copied from there
    let (cloud, _) = gaussians(100, 1.0, 35);
    let model = svc(1.0, true).fit(&rbf(0.5), &cloud).unwrap();
    let part = cloud.select(&(0..30).collect::<Vec<_>>());
    let options = Options { held_out: Some(&part), ..Options::default() };
    assert!(model.certify(&cloud, &options, &Silent).unwrap_err().to_string().contains("all 30 held-out"));
    // and so are some among new ones
    let both = |from: usize| {
        let (new, _) = gaussians(200, 1.0, 36);
        let rows: Vec<Dataset> = vec![cloud.select(&(from..100).collect::<Vec<_>>()), new];
        joined(&rows)
    };
    let judged = |held_out: &Dataset| {
        let options = Options { held_out: Some(held_out), ..Options::default() };
        model.certify(&cloud, &options, &Silent).map_err(|e| e.to_string())
    };
    assert!(
        judged(&both(0)).unwrap_err().contains("100 of the 300 held-out examples also stand among those of training")
    );
    assert!(judged(&both(60)).unwrap_err().contains("40 of the 240"));
    let two = judged(&both(98)).unwrap();
    assert_eq!(two.facts.held_out_repeats.equal, 2);
    assert!(two.sentence().contains("But 2 of the 202 held-out examples also stand among those of training"));
    // where every row stands there several times, equal ones are as many as chance would make, and are told aloud
    let thrice = joined(&[cloud.clone(), cloud.clone(), cloud.clone()]);
    let model = svc(1.0, true).fit(&rbf(0.5), &thrice).unwrap();
    let options = Options { held_out: Some(&part), ..Options::default() };
    match model.certify(&thrice, &options, &Silent) {
        Ok(found) => {
            assert!(found.sentence().contains("But 30 of the 30 held-out examples"), "{}", found.sentence());
            let told = |name: &str| found.summary().iter().any(|(line, _)| *line == name);
            assert!(told("seen before") && told("copies"), "{:?}", found.summary());
        }
        Err(refused) => assert!(refused.to_string().contains("those of training"), "{refused}"),
    }
}

/// The examples of several data sets of plain vectors in two classes, one after the other.
fn joined(parts: &[Dataset]) -> Dataset {
    let (mut values, mut words, mut n) = (Vec::new(), Vec::new(), 0);
    for part in parts {
        let Values::Dense(rows) = &part.views()[0].values else { panic!("dense vectors") };
        (0..part.len()).for_each(|i| values.extend_from_slice(rows.row(i)));
        let classes = part.target().unwrap().classes().unwrap();
        words.extend(classes.codes.iter().map(|&c| classes.labels[c as usize].clone()));
        n += part.len();
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let width = values.len() / n;
    Dataset::new(Rows::new(values, n, width).unwrap()).with_target(Target::from_text("y", &words)).unwrap()
}

#[test]
fn a_margin_that_was_never_reached_bounds_nothing() {
    let mut random = Seed(41).stream("noise");
    let x: Vec<f64> = (0..200).map(|_| random.normal()).collect();
    let names: Vec<&str> = (0..100).map(|_| if random.uniform() < 0.5 { "a" } else { "b" }).collect();
    let noise = Dataset::new(Rows::new(x, 100, 2).unwrap()).with_target(Target::from_text("y", &names)).unwrap();
    let mut machine = svc(f64::INFINITY, false);
    machine.effort.max_iterations = 50;
    let model = machine.fit(&linear(), &noise).unwrap();
    assert!(model.fitted().report.status != mercer::watch::Status::Converged);
    let found = certified(&model, &noise);
    let bound = of(&found, "radius_margin");
    assert!(!bound.applicable && bound.reason.contains("converged"), "{bound:?}");
}

#[test]
fn a_given_matrix_is_declared_or_checked_and_recorded_candidates_stay() {
    let (data, y) = gaussians(60, 1.0, 36);
    let labels: Vec<&str> = y.iter().map(|y| if *y > 0.0 { "a" } else { "b" }).collect();
    let given = |k: Vec<f64>| {
        let target = Target::from_text("y", &labels);
        Dataset::new(Rows::new(k, 60, 60).unwrap()).with_target(target).unwrap()
    };
    let formula: Formula = "precomputed()".parse().unwrap();
    let good = given(matrix(&rbf(0.5), &data));
    let mut bent = matrix(&rbf(0.5), &data);
    (0..60).for_each(|i| bent[i * 60 + i] -= 0.9);
    let bent = given(bent);
    let thorough = Options { thorough: true, ..Options::default() };
    let mut model = svc(1.0, true).fit(&formula, &good).unwrap();
    let declared = |found: &Certified| {
        of(found, "scenario").conditions.iter().any(|c| c.what.contains("given matrix") && c.state == State::Declared)
    };
    assert!(declared(&certified(&model, &good)));
    let checked = model.certify(&good, &thorough, &Silent).unwrap();
    assert!(of(&checked, "scenario").applicable && !declared(&checked));
    let other = svc(0.05, true).fit(&formula, &bent).unwrap();
    let refused = other.certify(&bent, &thorough, &Silent).unwrap();
    for name in ["scenario", "compression_binomial", "pac_bayes_kl"] {
        assert!(
            of(&refused, name).reason.contains("not positive semi-definite"),
            "{name}: {}",
            of(&refused, name).reason
        );
    }
    // what a search recorded cannot be talked away
    model.chosen_among(12);
    model.chosen_among(1);
    assert_eq!(model.candidates(), 12);
    let price = |candidates: Option<usize>| {
        let options = Options { candidates, ..Options::default() };
        of(&model.certify(&good, &options, &Silent).unwrap(), "scenario").price
    };
    assert_eq!((price(Some(1)), price(Some(50))), (12.0_f64.ln(), 50.0_f64.ln()));
}

#[test]
fn examples_without_a_direction_count_as_wrong_for_drawn_classifiers() {
    let x = vec![1.0, 0.2, 0.0, 0.0, -1.0, 0.1, 0.0, 0.0];
    let data = Dataset::new(Rows::new(x, 4, 2).unwrap());
    let data = data.with_target(Target::from_text("y", &["a", "a", "b", "b"])).unwrap();
    let found = certified(&svc(1.0, false).fit(&linear(), &data).unwrap(), &data);
    let linear = found.facts.linear.unwrap();
    assert_eq!(linear.gammas.iter().filter(|g| **g == f64::NEG_INFINITY).count(), 2);
    let error = linear.posterior.unwrap().gibbs_error;
    assert!((0.5..0.75).contains(&error), "{error}");
}
