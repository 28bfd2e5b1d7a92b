//! Priors over the candidates of a search by certificates, and the bounds that judge them.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::bounds::stability;
use mercer::certify::{self, CandidatePrior, CertifiedSelection, Options};
use mercer::machines;
use mercer::prelude::*;
use mercer::select::{Choose, Grid, Search};
use mercer::watch::Silent;

fn moons(n: usize) -> Dataset {
    let table = mercer::datasets::load("two_moons", Some(n), Seed(4)).unwrap();
    let plain = SchemaOptions { scale: Some(Scale::None), ..SchemaOptions::default() };
    Schema::learn_and_apply(&table, &plain).unwrap().1
}

fn search(
    machine: &str,
    kernel: &str,
    grid: &str,
    data: &Dataset,
    options: &Options<'_>,
) -> Result<CertifiedSelection, mercer::Error> {
    let (kernel, grid): (Formula, Grid) = (kernel.parse().unwrap(), grid.parse().unwrap());
    let search = Search {
        score: None,
        machine: machines::find(machine).unwrap(),
        settings: &[],
        kernel: &kernel,
        grid: &grid,
        folds: 5,
        choose: Choose::Best,
        probabilities: None,
        calibration_folds: 0,
        budget: mercer::gram::Budget::default(),
        seed: Seed(0),
    };
    certify::select(&search, data, options, &Silent)
}

#[test]
fn each_candidate_pays_for_its_own_part_in_the_order_of_the_grid() {
    let data = moons(150);
    // the kernel's axis is searched outermost, and written last
    let grid = "c=1|10|100, gamma=0.5|2";
    let written: Grid = grid.parse().unwrap();
    let weights = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let prior = CandidatePrior::Weights(weights.to_vec());
    let found =
        search("svc", "rbf(gamma=1)", grid, &data, &Options { candidate_prior: Some(&prior), ..Options::default() });
    let found = found.unwrap();
    let names = |point: &[(String, mercer::params::Setting)]| {
        let mut all: Vec<String> = point.iter().map(|(name, value)| format!("{name}={value}")).collect();
        all.sort();
        all
    };
    for candidate in &found.candidates {
        let place = written.points().iter().position(|p| names(p) == names(&candidate.point)).unwrap();
        let nats = (21.0 / weights[place]).ln() + 4.0_f64.ln();
        // by hand: the same fit, certified at that price alone
        let number = |name: &str| {
            let value = &candidate.point.iter().find(|(n, _)| n == name).unwrap().1;
            value.to_string().parse::<f64>().unwrap()
        };
        let model = Svc { c: number("c"), ..Svc::default() }.fit(&rbf(number("gamma")), &data).unwrap();
        let alone = Options { informed: true, delta: 0.05 * (-nats).exp(), ..Options::default() };
        let alone = model.certify(&data, &alone, &Silent).unwrap();
        let judged: Vec<f64> = certify::selection_bounds(true)
            .iter()
            .filter_map(|name| alone.certificates.iter().find(|c| c.bound == *name && c.applicable)?.value)
            .collect();
        let least = judged.iter().copied().fold(1.0, f64::min);
        assert!((candidate.value - least).abs() < 1e-9, "{:?}: {} {least}", candidate.point, candidate.value);
    }
    // the model pays the same from then on, also from its file, and a larger search is paid for as one
    let (price, bound) = (found.certificate.price, found.certificate.bound);
    let read = Model::from_bytes(&found.model.to_bytes().unwrap(), "m").unwrap();
    for model in [&found.model, &read] {
        let again = model.certify(&data, &Options::default(), &Silent).unwrap();
        let same = again.certificates.iter().find(|c| c.bound == bound && c.applicable);
        assert!(same.is_none_or(|c| (c.price - price).abs() < 1e-12), "{same:?}");
        assert_eq!((again.facts.penalty.candidates, again.facts.penalty.choice()), (Some(24), price));
    }
    let mut more = read;
    more.chosen_among(100);
    let facts = certify::facts(&more, &data, &Options::default(), &Silent).unwrap();
    assert_eq!(facts.penalty.choice(), 100.0_f64.ln());
}

#[test]
fn what_a_choice_has_cost_is_never_lowered() {
    let data = moons(150);
    // the candidate that is best by far is the one that was believed in least
    let weights = CandidatePrior::Weights(vec![1.0, 1e-4]);
    let options = Options { candidate_prior: Some(&weights), ..Options::default() };
    let found = search("svc", "rbf(gamma=2)", "c=0.001|10", &data, &options).unwrap();
    let (model, paid) = (found.model, found.certificate.price);
    assert!(found.best == 1 && paid > 9.0, "{paid}");
    let price =
        |model: &Model, options: &Options<'_>| certify::facts(model, &data, options, &Silent).unwrap().penalty.choice();
    for (candidates, wanted) in [(None, paid), (Some(1), paid), (Some(17), paid), (Some(100_000), 100_000.0_f64.ln())] {
        assert_eq!(price(&model, &Options { candidates, ..Options::default() }), wanted, "{candidates:?}");
    }
    assert_eq!(price(&model, &Options { candidate_nats: Some(0.5), ..Options::default() }), paid);
    // a larger number that is recorded, from then on; and a fit of its job, which a file keeps
    let mut more = model.clone();
    more.chosen_among(17);
    assert_eq!((more.candidates(), price(&more, &Options::default())), (17, paid));
    more.chosen_among(100_000);
    assert_eq!(price(&more, &Options::default()), 100_000.0_f64.ln());
    let read = Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap();
    for model in [&model, &read] {
        let again = model.job().unwrap().run(&data, &Silent).unwrap();
        assert_eq!((again.candidates(), price(&again, &Options::default())), (model.candidates(), paid));
    }
    let written = serde_json::to_string(more.job().unwrap()).unwrap();
    assert!(!written.contains("candidate_nats"), "{written}");
}

#[test]
fn a_uniform_prior_is_none_and_a_belief_that_was_right_is_worth_its_part() {
    let data = moons(150);
    let plain = search("svc", "rbf(gamma=2)", "c=10|0.01|0.02|0.03", &data, &Options::default()).unwrap();
    let uniform = CandidatePrior::Uniform;
    let options = Options { candidate_prior: Some(&uniform), ..Options::default() };
    let same = search("svc", "rbf(gamma=2)", "c=10|0.01|0.02|0.03", &data, &options).unwrap();
    let values = |s: &CertifiedSelection| s.candidates.iter().map(|c| c.value).collect::<Vec<_>>();
    assert!(values(&plain).iter().zip(values(&same)).all(|(a, b)| (a - b).abs() < 1e-12));
    assert_eq!(plain.certificate.price, 16.0_f64.ln());
    let geometric: CandidatePrior = "geometric(0.1)".parse().unwrap();
    let options = Options { candidate_prior: Some(&geometric), ..Options::default() };
    let believed = search("svc", "rbf(gamma=2)", "c=10|0.01|0.02|0.03", &data, &options).unwrap();
    assert_eq!(believed.best, 0);
    let gain = plain.certificate.price - believed.certificate.price;
    assert!((gain - (4.0_f64.ln() - ((1.0 - 1e-4) / 0.9_f64).ln())).abs() < 1e-12, "{gain}");
    assert!(believed.certificate.value < plain.certificate.value);
}

#[test]
fn named_bounds_judge_at_their_parts_and_what_cannot_is_refused() {
    let data = moons(150);
    let judges = certify::judges(&["scenario:3", "stability"]).unwrap();
    let found =
        search("svc", "rbf(gamma=2)", "c=1|10", &data, &Options { judges: &judges, ..Options::default() }).unwrap();
    assert_eq!(found.certificate.bound, "scenario");
    assert!((found.certificate.price - (2.0 * 4.0 / 3.0_f64).ln()).abs() < 1e-12);
    let refused = |names: &[&str]| {
        let judges = certify::judges(names)?;
        search("svc", "rbf(gamma=2)", "c=1", &data, &Options { judges: &judges, ..Options::default() }).map(|_| ())
    };
    for (names, words) in [
        (&["scenary"][..], "did you mean scenario"),
        (&["held_out"], "cannot choose"),
        (&["radius_margin"], "cannot choose"),
        (&["evidence"], "cannot choose"),
        (&["scenario", "scenario"], "named twice"),
        (&["scenario:0"], "above 0"),
        (&["scenario:x"], "no number"),
        (&["scenario", "stability_squares"], "different quantities"),
    ] {
        let error = refused(names).unwrap_err().to_string();
        assert!(error.contains(words), "{names:?}: {error}");
    }
}

#[test]
fn a_penalty_is_chosen_by_stability() {
    let x: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).collect();
    let y: Vec<f64> = x.iter().map(|x| 0.1 * (6.0 * x).sin()).collect();
    let data = Dataset::new(Rows::new(x, 400, 1).unwrap()).with_target(y).unwrap();
    let judges = certify::judges(&["stability_squares"]).unwrap();
    let options = Options { judges: &judges, target_range: Some([-0.1, 0.1]), ..Options::default() };
    let lambdas = [0.1, 10.0, 100.0, 1000.0, 10000.0];
    let found = search("ridge", "rbf(gamma=1)", "lambda=0.1|10|100|1000|10000", &data, &options).unwrap();
    let nats = (5.0 / 0.05_f64).ln();
    let by_hand = |lambda: f64| {
        let model = Ridge { lambda: lambda.into(), ..Ridge::default() }.fit(&rbf(1.0), &data).unwrap();
        let scores = model.scores(&data).unwrap();
        let target = data.target().unwrap().numbers().unwrap().values;
        let loss = scores.iter().zip(&target).map(|(f, y)| (f - y).powi(2)).sum::<f64>() / 400.0;
        stability::squares(loss, 1.0, lambda / 400.0, 0.1, 400.0, nats)
    };
    let most = |lambda: f64| (0.1 + 0.1 / (lambda / 400.0_f64).sqrt()).powi(2);
    let values: Vec<f64> = lambdas.iter().map(|&l| by_hand(l).min(most(l))).collect();
    for (candidate, value) in found.candidates.iter().zip(&values) {
        assert!((candidate.value - value).abs() < 1e-9 * value.max(1.0), "{candidate:?} {value}");
    }
    let least = (0..5).min_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
    assert_eq!(found.best, least);
    let words = certify::statement(&found.certificate);
    assert!(words.contains("the mean loss of new examples is at most"), "{words}");
}

#[test]
fn the_place_where_the_loss_is_clipped_is_the_best_of_a_grid() {
    let data = moons(200);
    for c in [0.0005, 0.002, 1.0] {
        let model = Svc { c, bias: false, ..Svc::default() }.fit(&rbf(1.0), &data).unwrap();
        let told = model.certify(&data, &Options::default(), &Silent).unwrap();
        let claim = told.certificates.iter().find(|c| c.bound == "stability").unwrap();
        let linear = told.facts.linear.as_ref().unwrap();
        let lambda = 1.0 / (2.0 * c * 200.0);
        let of = |tau: f64, part: f64| {
            let clip = |f: &f64| (1.0 - (f - 2.0 * linear.from_optimum) / tau).clamp(0.0, 1.0);
            let clipped = linear.margins.iter().map(clip).sum::<f64>() / 200.0;
            stability::classification(clipped, 1.0, lambda, tau, 200.0, 20.0_f64.ln() + part.ln())
        };
        let all = (-10..=10).map(|i: i32| of(2.0_f64.powi(i), 3.0 * 2.0_f64.powi(i.abs())));
        let least = all.fold(f64::INFINITY, f64::min);
        assert!((claim.value.unwrap() - least.min(1.0)).abs() < 1e-9, "{c}: {:?} {least}", claim.value);
        // an output that is small everywhere wants a small τ: never worse than τ = 1 at its own part
        assert!(least <= of(1.0, 3.0) + 1e-12);
    }
}

#[test]
fn that_a_prior_was_fixed_before_the_data_is_declared() {
    let data = moons(100);
    let prior: CandidatePrior = "geometric(0.8)".parse().unwrap();
    let judges = certify::judges(&["scenario:3", "compression_binomial"]).unwrap();
    let told = |options: &Options<'_>| {
        let found = search("svc", "rbf(gamma=1)", "c=1|10|100", &data, options).unwrap();
        // the model keeps what it has paid, and says so whenever it is certified
        let later = found.model.certify(&data, &Options::default(), &Silent).unwrap();
        let later = later.certificates.into_iter().find(|c| c.bound == found.certificate.bound).unwrap();
        [found.certificate, later].map(|certificate| {
            let said = |what: &str| {
                certificate.conditions.iter().any(|c| c.what.contains(what) && c.state == certify::State::Declared)
            };
            let json = serde_json::to_value(&certificate).unwrap();
            let listed = json["conditions"].as_array().unwrap().iter().any(|c| {
                c["state"] == "declared" && c["what"].as_str().unwrap().starts_with("the prior over the candidates")
            });
            assert_eq!(listed, said("the prior over the candidates"));
            (said("candidates, and the bounds that judged them, were listed before"), listed)
        })
    };
    assert_eq!(told(&Options::default()), [(true, false); 2]);
    assert_eq!(told(&Options { candidate_prior: Some(&prior), ..Options::default() }), [(true, true); 2]);
    assert_eq!(told(&Options { judges: &judges, ..Options::default() }), [(true, true); 2]);
    // a model that nobody searched for rests on neither
    let alone = Svc::default().fit(&rbf(1.0), &data).unwrap();
    let alone = alone.certify(&data, &Options::default(), &Silent).unwrap();
    let listed = alone.certificates.iter().flat_map(|c| &c.conditions).any(|c| c.what.contains("looked at"));
    assert!(!listed);
}
