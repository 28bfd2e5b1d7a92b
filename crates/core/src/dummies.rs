//! One entry of each list that only tests compile, each in one file where a real one would stand and with its line in the list: the
//! kind `data/kinds/span.rs`, the kernel `kernels/overlap.rs`, the machine `machines/classify/windows.rs`, the bound
//! `bounds/certain.rs` and the format `data/read/bars.rs`. What works for these works for the next.

use crate::bounds;
use crate::data::kinds::{self, span::Span};
use crate::data::{Dataset, Schema, SchemaOptions, Wanted, read};
use crate::formula::Formula;
use crate::gram::fill;
use crate::job::Job;
use crate::kernels::{self, resolve};
use crate::machines::{self, Machine};
use crate::model::Model;
use crate::seed::Seed;
use crate::watch::Silent;
use std::collections::HashSet;

/// Spans near zero and spans far from it, read from a file of the dummy format without a known extension.
fn spans() -> (Schema, Dataset) {
    let mut text = "%bars\nwhere|class\n".to_owned();
    for i in 0..20 {
        let (first, class) = if i % 2 == 0 { (i, "near") } else { (100 + i, "far") };
        text.push_str(&format!("{first}..{}|{class}\n", first + 10 + i % 3));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spans.data");
    std::fs::write(&path, text).unwrap();
    let table = read::read(&path, &read::ReadOptions::default()).unwrap();
    assert_eq!(table.format, "bars");
    let formula = formula();
    let views = formula.views().into_iter().map(|(name, kind)| (name.map(str::to_owned), kind)).collect();
    let wanted = Wanted { views, members: Vec::new() };
    let mut options = SchemaOptions::default();
    options.expect(&wanted, false);
    options.infer(&table, &wanted, false).unwrap();
    Schema::learn_and_apply(&table, &options).unwrap()
}

fn formula() -> Formula {
    "normalise(overlap(weight=2)) + 0.5".parse().unwrap()
}

fn fitted(machine: &dyn Machine, data: &Dataset) -> Model {
    Job::new(machine, &formula()).run(data, &Silent).unwrap()
}

#[test]
fn a_kernel_on_an_open_kind_is_one_file() {
    let formula = formula();
    assert_eq!(formula.to_string(), "normalise(overlap(weight=2)) + 0.5");
    assert_eq!(formula.to_string().parse(), Ok(formula.clone()));
    let (_, data) = spans();
    let spans = data.views()[0].values.items::<Span>().unwrap();
    let count = |a: &Span, b: &Span| (a.first..=a.last).filter(|x| (b.first..=b.last).contains(x)).count() as f64;
    let mut k = vec![0.0; 400];
    fill(formula.gram(&data).unwrap().as_ref(), &mut k);
    for (i, a) in spans.0.iter().enumerate() {
        for (j, b) in spans.0.iter().enumerate() {
            let right = count(a, b) / (count(a, a) * count(b, b)).sqrt() + 0.5;
            assert!((k[i * 20 + j] - right).abs() < 1e-15, "{a:?} {b:?}");
        }
    }
    // another kind of data is refused with both kinds
    let said = formula.gram(&Dataset::new(vec!["1..2".to_owned()])).err().unwrap().to_string();
    assert!(said.contains("overlap") && said.contains("spans"), "{said}");
}

#[test]
fn models_on_an_open_kind_are_fitted_saved_loaded_and_predict() {
    let (schema, data) = spans();
    let labels: Vec<String> = (0..20).map(|i| if i % 2 == 0 { "near" } else { "far" }.to_owned()).collect();
    for name in ["svc", "windows(weight=0.5)"] {
        let machine = machines::parse(name).unwrap().make().unwrap();
        let model = fitted(machine.as_ref(), &data);
        let predicted = model.predict(&data).unwrap();
        assert_eq!(predicted.labels(), labels, "{name}");
        let again = Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap();
        assert_eq!(again.predict(&data).unwrap(), predicted);
        assert_eq!(again.kernel, model.kernel);
        // one new example alone, through a side that is held
        let predictor = again.predictor();
        for i in 0..20 {
            assert_eq!(predictor.predict(&data.select(&[i])).unwrap().labels()[0], labels[i]);
        }
    }
    assert_eq!(schema.view("where").unwrap().kind(), "spans");
}

#[test]
fn every_bound_of_the_list_is_told_of_every_model() {
    let (_, data) = spans();
    let model = fitted((machines::find("windows").unwrap().make)().as_ref(), &data);
    let certified = model.certify(&data, &crate::certify::Options::default(), &Silent).unwrap();
    let found = certified.certificates.iter().find(|c| c.bound == "certain").unwrap();
    assert!(found.applicable && found.value == Some(1.0));
    assert!(bounds::find("certain").is_some_and(|b| !b.uses_held_out));
}

#[test]
fn dummies_are_in_the_lists_beside_all_others() {
    let found = kernels::find("overlap").unwrap();
    let mut leaf = (found.make)();
    resolve(leaf.as_mut(), &spans().1.views()[0].values, Seed(0));
    assert_eq!(machines::family(machines::find("windows").unwrap()), "classify");
    assert!(read::find("bars").is_some() && kinds::find("spans").is_some());
    let names: HashSet<&str> = kernels::all().map(|k| k.name).collect();
    assert!(names.contains("rbf") && names.len() == kernels::all().count());
}
