//! The preparation of the examples is learned from a share of them, and is a constant to the rest.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::certify::{Options, part};
use mercer::conformal::{Method, Recipe};
use mercer::data::{Field, FieldData, Missing, Scope, Table, Values};
use mercer::machines;
use mercer::prelude::*;
use mercer::watch::Silent;

const SHARE: f64 = 0.2;

fn table(n: usize) -> Table {
    mercer::datasets::load("banana", Some(n), Seed(3)).unwrap()
}

fn job(kernel: &str) -> Job {
    let svc = Svc { c: 10.0, ..Svc::default() };
    Job { preparation_share: SHARE, seed: Seed(5), ..Job::new(&svc, &kernel.parse().unwrap()) }
}

fn places(model: &Model) -> Vec<usize> {
    model.provenance().unwrap().set_apart().unwrap().iter().map(|&p| p as usize).collect()
}

fn rest(n: usize, apart: &[usize]) -> Vec<usize> {
    (0..n).filter(|i| !apart.contains(i)).collect()
}

/// The first column of numbers.
fn numbers(table: &mut Table) -> &mut Vec<f64> {
    table
        .fields
        .iter_mut()
        .find_map(|field| match &mut field.data {
            FieldData::Numbers { values, .. } => Some(values),
            _ => None,
        })
        .unwrap()
}

/// The same table with one cell of one row far from all others.
fn with_odd_cell(table: &Table, row: usize) -> Table {
    let mut odd = table.clone();
    *numbers(&mut odd).get_mut(row).unwrap() = 1e6;
    odd
}

#[test]
fn the_share_prepares_and_the_machine_learns_from_the_others() {
    for kernel in ["rbf(gamma=scale)", "rbf(gamma=median) + 0.5*linear", "nystrom(rbf(gamma=scale), points=20)"] {
        let (table, job) = (table(150), job(kernel));
        let model = job.run_on_table(table.clone(), &Silent).unwrap();
        let apart = places(&model);
        assert_eq!((apart.len(), model.trained_on()), (30, 120));
        // by hand: columns and kernel of the share, as constants on the others
        let (schema, few) = Schema::learn_and_apply(&table.select(&apart), &SchemaOptions::default()).unwrap();
        let fixed = job.kernel.resolve(&few, job.seed).unwrap();
        let others = schema.apply(&table.select(&rest(150, &apart))).unwrap();
        assert_eq!(*model.kernel(), fixed, "{kernel}");
        assert_eq!(model.schema(), Some(&schema));
        let Some(Values::Dense(fresh)) = others.view("x") else { panic!() };
        let scores = model.scores(&others).unwrap();
        assert_eq!(scores.len(), fresh.len());
        if !kernel.starts_with("nystrom") {
            let alone = Job { preparation_share: 0.0, kernel: fixed, ..job.clone() }.run(&others, &Silent).unwrap();
            assert_eq!(alone.scores(&others).unwrap(), scores, "{kernel}");
        }
        // and the file tells the same, as does the job that it keeps
        let bytes = model.to_bytes().unwrap();
        let read = Model::from_bytes(&bytes, "m").unwrap();
        assert_eq!(read.provenance(), model.provenance());
        let again = read.job().unwrap().run_on_table(table, &Silent).unwrap();
        assert_eq!(again.to_bytes().unwrap(), bytes, "{kernel}");
    }
}

#[test]
fn no_example_that_is_learned_from_changes_what_is_prepared() {
    let (table, job) = (table(100), job("rbf(gamma=scale)"));
    let model = job.run_on_table(table.clone(), &Silent).unwrap();
    let apart = places(&model);
    let of = |row: usize| {
        let other = job.run_on_table(with_odd_cell(&table, row), &Silent).unwrap();
        assert_eq!(places(&other), apart, "places depend on the number of examples alone");
        (other.kernel().clone(), other.schema().unwrap().clone())
    };
    let known = (model.kernel().clone(), model.schema().unwrap().clone());
    for &row in rest(100, &apart).iter().step_by(7) {
        assert_eq!(of(row), known);
    }
    assert_ne!(of(apart[0]), known);
}

#[test]
fn certificates_pay_nothing_and_count_the_others_alone() {
    let (table, job) = (table(400), job("rbf(gamma=scale)"));
    let model = job.run_on_table(table.clone(), &Silent).unwrap();
    assert!(model.provenance().unwrap().learned().iter().all(|l| l.bits > 0.0 && l.from == Scope::SetApart));
    // the whole file is recognised, and so are the others by themselves
    let whole = model.schema().unwrap().apply(&table).unwrap();
    let others = whole.select(&rest(400, &places(&model)));
    let options = Options { thorough: true, ..Options::default() };
    let certified = model.certify(&whole, &options, &Silent).unwrap();
    assert_eq!((certified.facts.examples, certified.facts.penalty.learned), (320.0, 0.0));
    // the same as of constants that nobody has learned
    let values = |certified: &mercer::certify::Certified| {
        certified.certificates.iter().map(|c| (c.bound, c.value.map(f64::to_bits), c.price)).collect::<Vec<_>>()
    };
    let plain = Rows::new(dense(&others), 320, 2).unwrap();
    let plain = Dataset::new(plain).with_target(others.target().unwrap().clone()).unwrap();
    let alone =
        Job { preparation_share: 0.0, kernel: model.kernel().clone(), ..job.clone() }.run(&plain, &Silent).unwrap();
    let known = alone.certify(&plain, &options, &Silent).unwrap();
    assert_eq!(values(&certified), values(&known));
    assert_eq!(values(&model.certify(&others, &options, &Silent).unwrap()), values(&known));
    // without a share the same columns make the certificate void, and the sentence names the remedy
    let paying = Job { preparation_share: 0.0, ..job }.run_on_table(table.clone(), &Silent).unwrap();
    let whole = paying.schema().unwrap().apply(&table).unwrap();
    let dear = paying.certify(&whole, &Options::default(), &Silent).unwrap();
    let (best, cheap) = (dear.best().map_or(1.0, |b| b.value.unwrap()), certified.best().unwrap().value.unwrap());
    assert!(best > 0.7 && cheap < 0.45, "{best} {cheap}");
    assert!(dear.sentence().contains("--preparation-share 0.2"), "{}", dear.sentence());
    assert!(!certified.sentence().contains("--preparation-share"), "{}", certified.sentence());
}

fn dense(data: &Dataset) -> Vec<f64> {
    let Some(Values::Dense(rows)) = data.view("x") else { panic!() };
    rows.values().to_vec()
}

#[test]
fn a_search_a_certified_fit_and_regions_are_prepared_by_the_share_alone() {
    let (table, job) = (table(200), job("rbf(gamma=scale)"));
    let data = job.prepare(table.clone()).unwrap();
    assert_eq!(data.len(), 160);
    let grid: mercer::select::Grid = "c=1|10".parse().unwrap();
    let search = mercer::select::Search {
        score: None,
        machine: machines::find("svc").unwrap(),
        settings: &[],
        kernel: &job.kernel,
        grid: &grid,
        folds: 3,
        choose: mercer::select::Choose::Best,
        probabilities: None,
        calibration_folds: 0,
        budget: mercer::gram::Budget::default(),
        seed: Seed(1),
    };
    let fixed = job.run(&data, &Silent).unwrap().kernel().clone();
    let validated = search.run(&data, &Silent).unwrap().model;
    let chosen = mercer::certify::select(&search, &data, &Options::default(), &Silent).unwrap();
    let certified = part::fit(&job, &data, &Options::default(), None, &Silent).unwrap();
    for model in [&validated, &chosen.model, &certified.model] {
        assert_eq!(*model.kernel(), fixed);
        let whole = model.schema().unwrap().apply(&table).unwrap();
        let facts = mercer::certify::facts(model, &whole, &Options::default(), &Silent).unwrap();
        assert_eq!((facts.examples, facts.penalty.learned), (160.0, 0.0));
    }
    assert_eq!(validated.job().unwrap().preparation_share, SHARE);
    assert!(chosen.certificate.value.unwrap() < 0.8);
    // examples in memory are divided by the fit
    let whole = Dataset::new(Rows::new(dense(&data), 160, 2).unwrap());
    let whole = whole.with_target(data.target().unwrap().clone()).unwrap();
    let divided = part::fit(&job, &whole, &Options::default(), None, &Silent).unwrap();
    let facts = mercer::certify::facts(&divided.model, &whole, &Options::default(), &Silent).unwrap();
    assert_eq!((facts.examples, facts.penalty.learned), (128.0, 0.0));
    // regions hold out all that is learned from, and their coverage is proven
    for method in [Method::Split, Method::Cross, Method::Jackknife] {
        let recipe = Recipe { folds: 4, retrain: true, ..Recipe::new(method) };
        let regions = Job { conformal: Some(recipe), ..job.clone() };
        let model = regions.run_on_table(table.clone(), &Silent).unwrap();
        assert_eq!(*model.kernel(), fixed, "{method}");
        let conformal = model.conformal().unwrap();
        assert!(conformal.is_proven(), "{method}");
        let held: usize = conformal.guarantees(0.9).iter().map(|g| g.held_out).sum();
        assert_eq!(held, if method == Method::Split { 40 } else { 160 }, "{method}");
    }
}

#[test]
fn rows_with_gaps_are_left_out_before_a_share_is_drawn() {
    let mut gaps = table(100);
    let column = numbers(&mut gaps);
    (0..100).step_by(10).for_each(|row| column[row] = f64::NAN);
    let columns = SchemaOptions { missing: Missing::Drop, ..SchemaOptions::default() };
    let model = Job { columns, ..job("rbf(gamma=1)") }.run_on_table(gaps.clone(), &Silent).unwrap();
    assert_eq!((places(&model).len(), model.trained_on()), (18, 72));
    let apply = mercer::data::ApplyOptions { drop_missing: true, ..mercer::data::ApplyOptions::default() };
    let whole = model.data_as(&gaps, apply).unwrap();
    assert_eq!(whole.len(), 90);
    assert_eq!(model.certify(&whole, &Options::default(), &Silent).unwrap().facts.examples, 72.0);
}

#[test]
fn what_a_share_cannot_prepare_is_refused() {
    let said = |job: &Job, table: Table| job.run_on_table(table, &Silent).map(|_| ()).unwrap_err().to_string();
    for (share, words) in [(1.0, "between 0 and 1"), (-0.1, "between 0 and 1"), (f64::NAN, "between 0 and 1")] {
        let wrong = Job { preparation_share: share, ..job("rbf(gamma=1)") };
        assert!(said(&wrong, table(50)).contains(words));
    }
    let tiny = Job { preparation_share: 0.001, ..job("rbf(gamma=1)") };
    assert!(said(&tiny, table(50)).contains("0 of 50 examples"));
    let data = Dataset::new(Rows::new(vec![1.0; 400], 20, 20).unwrap());
    let labels: Vec<&str> = (0..20).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
    let data = data.with_target(Target::from_text("y", &labels)).unwrap();
    let error = job("precomputed()").run(&data, &Silent).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("precomputed"), "{error}");
    // a category that only others have
    let mut words = table(60);
    let model = job("rbf(gamma=1)").run_on_table(words.clone(), &Silent).unwrap();
    let odd = rest(60, &places(&model))[0];
    let colours = (0..60).map(|i| if i == odd { "red".to_owned() } else { ["blue", "green"][i % 2].to_owned() });
    let colours = FieldData::Words(colours.collect());
    words.fields.push(Field { name: "colour".to_owned(), data: colours });
    let error = said(&job("rbf(gamma=1)"), words);
    assert!(error.contains("larger preparation share") && error.contains("red"), "{error}");
}
