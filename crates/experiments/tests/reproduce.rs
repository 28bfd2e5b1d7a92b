//! Experiments: listed, asked for data, run on a small folder of the same layout, and taken up again.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::place::{Place, gzip, ran, real_data};
use serde_json::Value;

const SPLITS: usize = 6;

/// A folder `data/raetsch` with a small set called banana: two noisy classes in the plane, and six splits.
fn with_data() -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.path("data/raetsch")).unwrap();
    // a fixed sequence that looks random
    let noise = |k: usize| (43758.5453 * (12.9898 * k as f64).sin()).rem_euclid(1.0) - 0.5;
    let row = |i: usize| {
        let label = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        format!("{},{},{label:.1}\n", 0.4 * label + 1.6 * noise(2 * i), 2.0 * noise(2 * i + 1))
    };
    let rows: String = (0..90).map(row).collect();
    let line = |s: usize| {
        // 37 and 90 have no common factor, so forty rows are chosen
        let chosen = (0..90).filter(|i| (37 * i + 17 * s) % 90 < 40);
        chosen.map(|i: usize| i.to_string()).collect::<Vec<_>>().join(" ") + "\n"
    };
    let splits: String = (0..SPLITS).map(line).collect();
    place.write("data/raetsch/banana.csv.gz", gzip(&rows));
    place.write("data/raetsch/banana.train_idx.txt.gz", gzip(&splits));
    place
}

const RUN: &str = "mika-tables --data data --sets banana --machines svm,rbf_network";
const ONE: &str = "mika-tables --data data --sets banana --machines";

#[test]
fn without_a_name_the_experiments_are_listed() {
    let place = Place::new();
    let said = place.run("").ok().out;
    assert!(said.contains("mika-tables ") && said.contains("outputs "), "{said}");
    let listed = place.json("");
    assert_eq!(listed.as_array().unwrap().len(), said.lines().count());
    assert_eq!(listed[0]["name"], "mika-tables");
    place.run("mika-table").fails(2, &["mika-tables"]);
    // the program is a verb of mercer, and its help says so
    assert!(place.run("--help").ok().out.contains("Usage: mercer reproduce"));
    assert!(place.run("toys --help").ok().out.contains("Usage: mercer reproduce toys"));
}

#[test]
fn without_data_the_remedy_is_told() {
    let place = Place::new();
    for line in ["mika-tables --machines svm", "outputs"] {
        let output = place.command(line).env_remove("MERCER_DATA").output().unwrap();
        ran(line, output).fails(2, &["--data DIR", "MERCER_DATA", "raetsch/NAME.csv.gz"]);
    }
    place.run(&format!("{RUN} --splits 4")).fails(3, &["data", "MERCER_DATA"]);
    std::fs::create_dir(place.path("data")).unwrap();
    place.run(RUN).fails(3, &["banana.csv.gz", "No such file"]);
    assert_eq!(place.files(), ["data"]);
}

#[test]
fn a_cell_has_ours_and_what_is_printed() {
    let place = with_data();
    let cells = place.json(RUN);
    let cells = cells.as_array().unwrap();
    assert_eq!(cells.len(), 2);
    let (net, svm) = (&cells[0], &cells[1]);
    assert_eq!((&net["machine"], &svm["machine"]), (&"rbf_network".into(), &"svm".into()));
    assert_eq!((&svm["printed"], &svm["printed_stderr"]), (&11.5.into(), &0.07.into()));
    assert_eq!((&svm["printed_sparsity"], &net["sparsity"]), (&78.0.into(), &Value::Null));
    for cell in cells {
        assert_eq!((&cell["set"], &cell["splits"]), (&"banana".into(), &SPLITS.into()));
        let number = |name: &str| cell[name].as_f64().unwrap();
        let allowed = 2.0 * number("stderr").hypot(number("printed_stderr"));
        assert!(number("error") > 0.0 && number("error") < 45.0 && number("stderr") > 0.0, "{cell}");
        assert_eq!(cell["within"], Value::Bool(number("error") <= number("printed") + allowed));
        assert_eq!(cell["better"], Value::Bool(number("error") <= number("printed") - allowed));
    }
    let zeros = svm["sparsity"].as_f64().unwrap();
    assert!((0.0..100.0).contains(&zeros), "{zeros}");
    let width = svm["parameters"]["width"].as_f64().unwrap();
    assert!(width > 0.1 && width < 40.0 && svm["parameters"]["c"].as_f64().unwrap() > 0.0);
    assert_eq!(net["parameters"]["centres"].as_f64().unwrap().fract(), 0.0);
    let page = place.read("mika-tables/mika-tables.md");
    for part in ["Table 5.2", "| Banana | 2 | 40 | 50 | 2 / 400 / 4900 |", "(11.50 ± 0.07)", "(78)", "Table 5.5"] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
}

#[test]
fn a_second_run_does_no_work_and_says_the_same() {
    let place = with_data();
    let first = place.run(&format!("{RUN} --json")).ok();
    // 25 folds of a coarse and of a finer grid for each machine, and the splits
    let fits = 25 * (4 * 5 + 25) + 25 * (5 * 6 + 25) + 2 * SPLITS;
    assert!(first.err.contains(&format!("({fits} of {fits} fits)")), "{}", first.err);
    let ledger = place.bytes("mika-tables/ledger.json");
    let second = place.run(&format!("{RUN} --json")).ok();
    assert_eq!((second.out.as_str(), second.err.as_str()), (first.out.as_str(), ""));
    assert_eq!(place.bytes("mika-tables/ledger.json"), ledger);
    // threads change no figure
    let alone = place.run(&format!("{RUN} --json --threads 1 -o alone")).ok();
    assert_eq!(alone.out, first.out);
    // more of the same: only the splits are run again, with the parameters that were chosen
    let fewer = place.run(&format!("{RUN} --splits 5 --json")).ok();
    assert!(fewer.err.contains("(10 of 10 fits)"), "{}", fewer.err);
    assert_eq!(fewer.document()[1]["parameters"], first.document()[1]["parameters"]);
    // another seed is another experiment
    let other = place.run(&format!("{ONE} svm --seed 1 --json")).ok();
    assert!(!other.err.is_empty());
}

#[test]
fn a_stopped_run_goes_on_where_it_was() {
    let place = with_data();
    let whole = place.json(&format!("{RUN} -o whole"));
    place.run(&format!("{ONE} rbf_network")).ok();
    let said = place.run(&format!("{RUN} --max-seconds 0")).fails(4, &["banana, svm", "1 of 2 cells", "mika-tables"]);
    assert!(said.out.is_empty());
    let rest = place.run(&format!("{RUN} --json")).ok();
    let fits = 25 * (5 * 6 + 25) + SPLITS;
    assert!(rest.err.contains(&format!("of {fits} fits)")) && !rest.err.contains("rbf_network"), "{}", rest.err);
    assert_eq!(rest.document(), whole);
    place.write("mika-tables/ledger.json", "no ledger");
    place.run(RUN).fails(3, &["ledger.json", "remove it"]);
    assert_eq!(place.json(&format!("{RUN} --afresh")), whole);
}

#[test]
fn requests_and_files_that_cannot_be_are_refused() {
    let place = with_data();
    place.run("mika-tables --data data --sets bananas").fails(2, &["bananas"]);
    place.run("mika-tables --data data --machines svn").fails(2, &["svn"]);
    place.run("mika-tables --data data --splits 1").fails(2, &["1"]);
    place.run("outputs --data data -o a.pdf").fails(2, &["a.pdf"]);
    for (splits, finding) in [("0 1 90\n", "90 is no row"), ("0 1 1\n", "listed twice"), ("0 1.5 2\n", "1.5 is no row")]
    {
        place.write("data/raetsch/banana.train_idx.txt.gz", gzip(splits));
        place.run(RUN).fails(3, &["banana.train_idx.txt.gz", "line 1", finding]);
    }
    assert_eq!(place.files(), ["data"]);
}

#[test]
fn the_discriminant_parts_the_parabolas_better_than_components() {
    let place = Place::new();
    let told = place.json("toys");
    let separation: Vec<f64> = told.as_array().unwrap().iter().map(|f| f["separation"].as_f64().unwrap()).collect();
    let [first, second, oriented, discriminant] = separation[..] else { panic!("{separation:?}") };
    assert!(discriminant > 1.5 * first.max(second) && discriminant > oriented, "{separation:?}");
    // what does not change along the parabolas' axis tells them apart better than what varies most
    assert!(oriented > 1.5 * first.max(second), "{separation:?}");
    let picture = place.read("toys.svg");
    assert!(picture.starts_with("<svg ") && picture.matches("<polyline").count() >= 27);
    // the same picture every time, another for another seed
    place.run("toys -o again.svg").ok();
    place.run("toys --seed 1 -o other.svg").ok();
    assert!(place.read("again.svg") == picture && place.read("other.svg") != picture);
}

#[test]
fn heart_is_as_printed() {
    let Some(path) = real_data("raetsch/heart.official10_train_idx.txt.gz") else { return };
    let data = path.parent().unwrap().display().to_string();
    let place = Place::new();
    let cells = place.json(&format!("mika-tables --data {data} --quick --sets heart --machines svm"));
    // ten splits, so ± 1 % and more
    let (error, printed) = (cells[0]["error"].as_f64().unwrap(), cells[0]["printed"].as_f64().unwrap());
    assert!((error - printed).abs() < 3.0 && cells[0]["within"] == true && cells[0]["splits"] == 10, "{}", cells[0]);
}
