//! Facts that certificates take from a fit beside its scores: ranks, radii, the mass of a version space, and the whole that a share of examples is of.

#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::certify::{Certificate, Certified, Options};
use mercer::data::Values;
use mercer::prelude::*;
use mercer::watch::Silent;

fn certified(model: &Model, data: &Dataset, options: &Options<'_>) -> Certified {
    model.certify(data, options, &Silent).unwrap()
}

fn find<'a>(all: &'a Certified, bound: &str) -> &'a Certificate {
    all.certificates.iter().find(|c| c.bound == bound).unwrap()
}

fn thorough() -> Options<'static> {
    Options { thorough: true, ..Options::default() }
}

/// Points in so many dimensions around as many centres as there are classes, apart by `gap`.
fn clouds(n: usize, width: usize, classes: usize, gap: f64, seed: u64) -> Dataset {
    let mut random = Seed(seed).stream("facts");
    let x =
        (0..n * width).map(|p| random.normal() + if p % width == 0 { gap * (p / width % classes) as f64 } else { 0.0 });
    let words: Vec<String> = (0..n).map(|i| format!("c{}", i % classes)).collect();
    Dataset::new(Rows::new(x.collect(), n, width).unwrap()).with_target(Target::from(words)).unwrap()
}

#[test]
fn the_rank_of_the_examples_is_found_where_they_span_little() {
    // a line in ten dimensions: polynomials of degree three have four coordinates on it, and 286 in all
    let (n, width) = (120, 10);
    let mut random = Seed(1).stream("line");
    let along: Vec<f64> = (0..width).map(|_| random.normal()).collect();
    let places: Vec<f64> =
        (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 } * (0.3 + 0.7 * random.uniform())).collect();
    let x = places.iter().flat_map(|t| along.iter().map(move |a| t * a)).collect();
    let words: Vec<&str> = places.iter().map(|t| if *t > 0.0 { "a" } else { "b" }).collect();
    let data = Dataset::new(Rows::new(x, n, width).unwrap()).with_target(Target::from_text("y", &words)).unwrap();
    let kernel: Formula = "polynomial(degree=3)".parse().unwrap();
    let model = Svc { c: f64::INFINITY, bias: false, ..Svc::default() }.fit(&kernel, &data).unwrap();
    let found = certified(&model, &data, &thorough());
    let claim = find(&found, "empirical_vc");
    assert_eq!(claim.inputs["rank"], 4.0);
    assert!(claim.conditions.iter().any(|c| c.what.contains("rounding")), "{:?}", claim.conditions);
    // a Gaussian has as many dimensions as there are examples, however small its eigenvalues are
    let model = Svc { c: f64::INFINITY, bias: false, ..Svc::default() }.fit(&rbf(0.1), &data).unwrap();
    assert!(!find(&certified(&model, &data, &thorough()), "empirical_vc").applicable);
}

#[test]
fn a_perceptron_is_certified_by_the_widest_margin() {
    let data = clouds(100, 2, 2, 9.0, 2);
    let kernel = linear().normalise();
    let centred: Vec<f64> = match &data.views()[0].values {
        mercer::data::Values::Dense(rows) => {
            rows.values().iter().enumerate().map(|(p, x)| if p % 2 == 0 { x - 4.5 } else { *x }).collect()
        }
        _ => panic!(),
    };
    let data = Dataset::new(Rows::new(centred, 100, 2).unwrap()).with_target(data.target().unwrap().clone()).unwrap();
    let model = Perceptron::default().fit(&kernel, &data).unwrap();
    let bound = |options: &Options<'_>| certified(&model, &data, options).facts.online.unwrap().mistake_bound.unwrap();
    let svc = Svc { c: f64::INFINITY, bias: false, ..Svc::default() }.fit(&kernel, &data).unwrap();
    let linear = certified(&svc, &data, &Options::default()).facts.linear.unwrap();
    let widest = linear.squared_norm / linear.margins.iter().copied().fold(f64::INFINITY, f64::min).powi(2);
    let (own, best) = (bound(&Options::default()), bound(&thorough()));
    assert!((best - widest).abs() < 1e-6 * widest && best < own, "{best} {widest} {own}");
    let note = |name: &str| model.fitted().report.notes.iter().find(|(n, _)| n == name).unwrap().1;
    assert!(note("mistakes") <= best);
}

#[test]
fn a_radius_may_be_declared_and_is_held_against_the_examples() {
    let data = clouds(60, 2, 2, 3.0, 3);
    let model = Svc { c: 0.01, bias: false, ..Svc::default() }.fit(&linear(), &data).unwrap();
    let plain = certified(&model, &data, &Options::default());
    assert!(!find(&plain, "stability").applicable);
    let options = Options { radius: Some(20.0), ..Options::default() };
    let found = certified(&model, &data, &options);
    let claim = find(&found, "stability");
    assert!(claim.applicable && claim.inputs["radius"] == 20.0, "{claim:?}");
    assert!(claim.conditions.iter().any(|c| c.what.contains("radius that was given")), "{:?}", claim.conditions);
    for (radius, word) in [(0.5, "a training example has length"), (0.0, "above 0"), (f64::NAN, "above 0")] {
        let said = model.certify(&data, &Options { radius: Some(radius), ..Options::default() }, &Silent);
        let said = said.unwrap_err().to_string();
        assert!(said.contains(word), "{said}");
    }
    // where the formula knows better, it stays
    let model = Svc { c: 0.01, bias: false, ..Svc::default() }.fit(&rbf(1.0), &data).unwrap();
    let found = certified(&model, &data, &options);
    assert_eq!(found.facts.kernel.radius, Some(1.0));
    assert!(found.facts.assumes.is_empty());
}

#[test]
fn the_mass_of_a_version_space_is_no_lottery() {
    let data = clouds(90, 2, 2, 6.0, 4);
    let model = Svc { c: f64::INFINITY, bias: false, ..Svc::default() }.fit(&rbf(1.0), &data).unwrap();
    let at = |evidence: usize, seed: u64| {
        let options = Options { evidence, seed: Seed(seed), ..Options::default() };
        certified(&model, &data, &options)
    };
    // another seed has nothing to choose from
    assert_eq!(at(20, 1).facts.evidence, at(20, 2).facts.evidence);
    // few draws are made more, or the cap stands in for them
    let (few, many) = (at(2, 0), at(4000, 0));
    let (e, wanted) = (few.facts.evidence.unwrap(), many.facts.evidence.unwrap());
    assert!(e.draws > 2.0 || e.relative_error <= 0.25, "{e:?}");
    assert!(e.least() <= e.cap.unwrap() && wanted.least() <= wanted.cap.unwrap());
    assert!((e.nats - wanted.nats).abs() < 2.0, "{e:?} {wanted:?}");
    let (gibbs, vote) = (find(&many, "evidence"), find(&many, "evidence_vote"));
    assert!(gibbs.inputs.contains_key("relative_error") && gibbs.conditions.iter().any(|c| c.what.contains("nugget")));
    assert_eq!((gibbs.quantity.word(), vote.quantity.word()), ("Gibbs risk", "risk of a vote"));
    assert!(!mercer::certify::statement(gibbs).contains("around the model"));
}

#[test]
fn a_share_of_the_examples_is_a_share_of_all_of_them() {
    let nu = NuSvc { nu: 0.4, ..NuSvc::default() };
    // two classes: their number is m, which is known
    let two = clouds(80, 2, 2, 2.0, 5);
    let model = nu.fit(&rbf(0.5), &two).unwrap();
    let found = certified(&model, &two, &Options::default());
    assert_eq!(found.facts.penalty.learned, 0.0);
    let claim = find(&found, "compression_exact");
    assert!(claim.applicable && claim.conditions.iter().any(|c| c.what.contains("a share of m")), "{claim:?}");
    // the same ν on the compression set is another model, ν m/d examples of it are the same one
    let set: Vec<usize> = model.places().to_vec();
    let scores =
        |nu: f64| NuSvc { nu, ..NuSvc::default() }.fit(&rbf(0.5), &two.select(&set)).unwrap().scores(&two).unwrap();
    let whole = model.scores(&two).unwrap();
    let off = |other: Vec<f64>| whole.iter().zip(other).map(|(a, b)| (a.abs() - b.abs()).abs()).fold(0.0, f64::max);
    assert!(off(scores(0.4 * 80.0 / set.len() as f64)) < 0.02 && off(scores(0.4)) > 0.1);
    // three classes: how many examples of two there are, the examples tell
    let three = clouds(90, 2, 3, 3.0, 6);
    let model = nu.fit(&rbf(0.5), &three).unwrap();
    let found = certified(&model, &three, &Options::default());
    assert!((found.facts.penalty.learned - 2.0 * 91.0_f64.ln()).abs() < 1e-9, "{}", found.facts.penalty.learned);
    assert!((find(&found, "compression_exact").price - 2.0 * 91.0_f64.ln()).abs() < 1e-9);
    // svc has no such share, and pays nothing
    let svc = Svc::default().fit(&rbf(0.5), &three).unwrap();
    assert_eq!(certified(&svc, &three, &Options::default()).facts.penalty.learned, 0.0);
}

#[test]
fn unlabelled_examples_give_a_prior_that_is_longer_where_examples_lie() {
    let data = clouds(60, 2, 2, 2.0, 31);
    let others = clouds(50, 2, 2, 2.0, 32);
    let model = Svc { c: 1.0, bias: false, ..Svc::default() }.fit(&linear(), &data).unwrap();
    let options = Options { unlabelled: Some(&others), ..Options::default() };
    let told = certified(&model, &data, &options);
    // S⁻¹ = I + (c/u) XᵀX by its four numbers, c = 10 the third of the grid
    let unit = Dataset::new(Rows::new(vec![1.0, 0.0, 0.0, 1.0], 2, 2).unwrap());
    let w = model.scores(&unit).unwrap();
    let rows = |data: &Dataset| {
        let mut each = vec![0.0; 2 * data.len()];
        let places = model.kernel().cross(data, &unit).unwrap();
        mercer::gram::fill(places.as_ref(), &mut each);
        each
    };
    let (x, u) = (rows(&data), rows(&others));
    let sum = |a: usize, b: usize| u.chunks_exact(2).map(|x| x[a] * x[b]).sum::<f64>() * 10.0 / 50.0;
    let (a, b, d) = (1.0 + sum(0, 0), sum(0, 1), 1.0 + sum(1, 1));
    let length = (a * w[0] * w[0] + 2.0 * b * w[0] * w[1] + d * w[1] * w[1]).sqrt();
    let linear_facts = told.facts.linear.as_ref().unwrap();
    for i in 0..60 {
        let (p, q) = (x[2 * i], x[2 * i + 1]);
        let squared = (d * p * p - 2.0 * b * p * q + a * q * q) / (a * d - b * b);
        let wanted = (linear_facts.margins[i] - linear_facts.slack) / (length * squared.sqrt());
        // scores of the training examples come from rows in f32
        let got = told.facts.unlabelled[2][i];
        assert!((got - wanted).abs() < 1e-4 * wanted.abs().max(0.1), "{i}: {got}, wanted {wanted}");
    }
    let found = find(&told, "pac_bayes_unlabelled");
    assert!(found.applicable && found.conditions.iter().any(|c| c.what.contains("unlabelled")));
    // without such examples it says what it needs, and the training file is none
    assert!(
        find(&certified(&model, &data, &Options::default()), "pac_bayes_unlabelled").reason.contains("--unlabelled")
    );
    // in any order, without labels or with others, and a part of it
    let turned: Vec<usize> = (0..60).rev().collect();
    for places in [(0..60).collect(), turned, (10..40).collect()] {
        let own = data.select(&places).without_target();
        let own = Options { unlabelled: Some(&own), ..Options::default() };
        assert!(model.certify(&data, &own, &Silent).unwrap_err().to_string().contains("those of training"));
    }
}

/// Files of sparse vectors do not say of how many coordinates they are, so the statement must hold for every number of them.
#[test]
fn a_dimension_that_was_read_off_sparse_examples_is_paid_for() {
    let dense = clouds(3000, 3, 2, 8.0, 4);
    let Values::Dense(rows) = &dense.views()[0].values else { panic!() };
    let sparse = Dataset::new(SparseRows::from_dense(rows)).with_target(dense.target().unwrap().clone()).unwrap();
    let svc = Svc { c: 1e6, ..Svc::default() };
    let [plain, paid] = [&dense, &sparse].map(|data| {
        let model = svc.fit(&linear(), data).unwrap();
        certified(&model, data, &Options::default())
    });
    let nats = 3.0_f64.ln() + 4.0_f64.ln();
    assert_eq!((plain.facts.kernel.dimension_nats, paid.facts.kernel.dimension_nats), (0.0, nats));
    let said = |c: &Certificate| c.conditions.iter().any(|c| c.what.contains("read off these examples"));
    let mut seen = 0;
    for bound in
        ["vc", "pac", "pac_sharp", "vapnik", "regret", "pac_luckiness", "pac_bayes_margin", "scenario_a_priori"]
    {
        let Some(entry) = mercer::bounds::find(bound) else { continue };
        let (a, b) = (find(&plain, bound), find(&paid, bound));
        assert_eq!(a.applicable, b.applicable, "{bound}: {} {}", a.reason, b.reason);
        if a.applicable {
            assert!(!said(a) && said(b), "{bound}: {:?}", b.conditions);
            // the same theorem at so many nats more, up to the two fits
            let dearer = (entry.claim)(&plain.facts, nats - 0.05_f64.ln()).unwrap().value;
            assert!((dearer.min(1.0) - b.value.unwrap()).abs() < 1e-3 && a.value < b.value, "{bound}");
            seen += 1;
        }
    }
    assert!(seen >= 5, "{seen}");
}
