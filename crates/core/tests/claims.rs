//! Claims: a coverage or a certificate belongs to the fit that has earned it, and no public call takes it to another.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::certify::{Options, State};
use mercer::conformal::{Method, Recipe};
use mercer::data::Scope;
use mercer::job::Job;
use mercer::model::Model;
use mercer::prelude::*;
use mercer::watch::Silent;

/// Moons with numbers of a known scale, which nobody has looked at.
fn moons(n: usize, seed: u64) -> Dataset {
    let table = mercer::datasets::load("two_moons", Some(n), Seed(seed)).unwrap();
    let plain = SchemaOptions { scale: Some(Scale::None), ..SchemaOptions::default() };
    Schema::learn_and_apply(&table, &plain).unwrap().1
}

/// The declared conditions of all certificates of a model.
fn declared(model: &Model, data: &Dataset) -> Vec<String> {
    let certified = model.certify(data, &Options::default(), &Silent).unwrap();
    let conditions = certified.certificates.iter().flat_map(|c| &c.conditions);
    conditions.filter(|c| c.state == State::Declared).map(|c| c.what.clone()).collect()
}

#[test]
fn another_fit_in_the_place_of_the_first_has_earned_nothing() {
    let data = moons(80, 1);
    let recipe = Recipe::new(Method::Split);
    let job = Job { conformal: Some(recipe), ..Job::new(&Svc::default(), &rbf(2.0)) };
    let model = job.run(&data, &Silent).unwrap();
    assert!(model.conformal().unwrap().is_proven() && model.provenance().is_some() && model.candidates() == 1);
    let unknown = |said: &[String]| {
        said.iter().any(|what| what.contains("it does not know")) && said.iter().any(|what| what.contains("is unknown"))
    };
    assert!(!unknown(&declared(&model, &data)));

    let mut fitted = model.fitted().clone();
    fitted.expansion.offsets.iter_mut().for_each(|b| *b += 3.0);
    // scores that would hide it
    fitted.training_scores.clone_from(&model.fitted().training_scores);
    let swapped = model.clone().with_fitted(fitted.clone());
    assert!(swapped.conformal().is_none() && swapped.provenance().is_none() && swapped.job().is_none());
    assert_eq!(swapped.candidates(), 0);
    assert!(unknown(&declared(&swapped, &data)));
    let errors = |m: &Model| m.certify(&data, &Options::default(), &Silent).unwrap().facts.errors.unwrap();
    assert!(errors(&swapped) > errors(&model) + 10.0);

    let kept = data.select(model.places());
    let assembled = Model::assembled("svc", Vec::new(), rbf(2.0), fitted, &kept);
    assert!(assembled.conformal().is_none() && assembled.provenance().is_none());
    assert!(unknown(&declared(&assembled, &data)));
}

#[test]
fn joined_examples_remember_that_all_of_them_were_scaled() {
    let table = mercer::datasets::load("iris", None, Seed(0)).unwrap();
    let scaled = SchemaOptions { scale: Some(Scale::Standard), ..SchemaOptions::default() };
    let (_, all) = Schema::learn_and_apply(&table, &scaled).unwrap();
    let places: Vec<usize> = (0..all.len()).collect();
    let (first, second) = (all.select(&places[..75]), all.select(&places[75..]));
    let joined = first.joined(&second).unwrap().with_target(all.target().unwrap().clone()).unwrap();
    let job = |numbers_taken: usize| Job {
        numbers_taken,
        conformal: Some(Recipe::new(Method::Split)),
        ..Job::new(&Svc::default(), &rbf(0.5))
    };
    let model = job(0).run(&joined, &Silent).unwrap();
    assert!(!model.conformal().unwrap().is_proven());
    assert!(model.provenance().unwrap().learned().iter().any(|l| l.from == Scope::All));

    // numbers that were copied out of their data set are the caller's to speak of
    let copied = Dataset::from_views(all.views().to_vec()).unwrap().with_target(all.target().unwrap().clone()).unwrap();
    assert!(!job(8).run(&copied, &Silent).unwrap().conformal().unwrap().is_proven());
}

/// A model that was chosen by cross-validation on three quarters of the rows of a table, the others, and all rows as the model reads them.
fn chosen(preparation_share: f64) -> (Model, Dataset, Dataset) {
    let table = mercer::datasets::load("two_moons", Some(200), Seed(3)).unwrap();
    let split = mercer::select::set_aside(table.len, 50, mercer::select::SplitBy::Chance, Seed(5)).unwrap();
    let columns = SchemaOptions { scale: Some(Scale::Standard), ..SchemaOptions::default() };
    let job = Job { columns, preparation_share, ..Job::new(&Svc::default(), &rbf(2.0)) };
    let mut model = job.run_on_table(table.select(&split.train), &Silent).unwrap();
    model.chosen_among(7);
    let (held_out, all) = (model.data(&table.select(&split.test)).unwrap(), model.data(&table).unwrap());
    model.remember_held_out(&held_out, &split.test);
    (model, held_out, all)
}

#[test]
fn a_searched_model_is_certified_by_the_file_that_it_was_searched_on() {
    for share in [0.0, 0.2] {
        let (model, held_out, all) = chosen(share);
        let learned = if share == 0.0 { 150.0 } else { 120.0 };
        let certified = model.certify(&all, &Options::default(), &Silent).unwrap();
        assert_eq!((certified.facts.examples, certified.facts.held_out.unwrap().examples), (learned, 50.0));
        // what was learned from pays for the candidates, the held-out examples judged one model
        let of = |name: &str| certified.certificates.iter().find(|c| c.bound == name).unwrap();
        assert_eq!(of("held_out").price, 0.0);
        assert!(of("scenario").price >= 7.0_f64.ln());
        assert_eq!(certified.best().unwrap().bound, "held_out");
        let recognised =
            |c: &mercer::certify::Certificate| c.conditions.iter().any(|c| c.what.contains("before the search"));
        assert!(recognised(of("held_out")) && !recognised(of("scenario")));
        // the same as with both in files of their own
        let places: Vec<usize> =
            model.provenance().unwrap().held_out_places().unwrap().iter().map(|&p| p as usize).collect();
        let rest: Vec<usize> = (0..all.len()).filter(|i| !places.contains(i)).collect();
        let options = Options { held_out: Some(&held_out), ..Options::default() };
        let apart = model.certify(&all.select(&rest), &options, &Silent).unwrap();
        for (a, b) in certified.certificates.iter().zip(&apart.certificates) {
            assert_eq!((a.bound, a.value, a.price), (b.bound, b.value, b.price));
        }
        // and the part alone has the same certificates but for the others
        let alone = model.certify(&all.select(&rest), &Options::default(), &Silent).unwrap();
        assert!(alone.facts.held_out.is_none() && alone.facts.examples == learned);
        // rows in another order are other examples
        let turned: Vec<usize> = (0..all.len()).rev().collect();
        let said = model.certify(&all.select(&turned), &Options::default(), &Silent).err().unwrap().to_string();
        assert!(said.contains("with the 50 examples that were held out before the search"), "{said}");
        // examples of the preparation are no new ones
        if share > 0.0 {
            let apart: Vec<usize> =
                model.provenance().unwrap().set_apart().unwrap().iter().map(|&p| rest[p as usize]).collect();
            let known = all.select(&apart);
            let said = model.certify(&all, &Options { held_out: Some(&known), ..Options::default() }, &Silent);
            assert!(said.err().unwrap().to_string().contains("stand among those of training"));
        }
    }
}

#[test]
fn a_model_file_keeps_the_places_of_held_out_examples() {
    let (model, _, all) = chosen(0.0);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.mercer");
    model.save(&path).unwrap();
    let again = Model::load(&path).unwrap();
    assert_eq!(again.provenance(), model.provenance());
    let certified = again.certify(&all, &Options::default(), &Silent).unwrap();
    assert_eq!(certified.facts.held_out.unwrap().examples, 50.0);
}
