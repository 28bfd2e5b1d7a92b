//! Help and lists entry by entry, machines as expressions, and names of earlier times.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use crate::common::Place;
use mercer::data::read::{ReadOptions, read};
use mercer::model::Model;
use mercer::watch::Silent;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// All entries of the catalogue as `mercer help NAME --json` tells them.
fn entries(place: &Place) -> Vec<Value> {
    let catalogue = place.json("list");
    let names: HashSet<&str> = catalogue
        .as_object()
        .unwrap()
        .values()
        .flat_map(|part| part.as_array().unwrap())
        .map(|entry| entry["name"].as_str().unwrap())
        .collect();
    names.iter().flat_map(|name| place.json(&format!("help {name}")).as_array().unwrap().clone()).collect()
}

#[test]
fn every_example_of_the_catalogue_works() {
    let place = Place::new();
    let (mut done, mut parts) = (HashSet::new(), HashSet::new());
    for entry in entries(&place) {
        let lines: Vec<String> =
            entry["examples"].as_array().unwrap().iter().map(|l| l.as_str().unwrap().to_owned()).collect();
        // formats that are only read have no file to begin with
        assert!(!lines.is_empty() || entry["written"] == false, "{entry}");
        parts.insert(entry["part"].as_str().unwrap().to_owned());
        // entries may share their examples
        if !done.insert(lines.clone()) {
            continue;
        }
        let folder = Place::new();
        for line in lines {
            folder.run(line.strip_prefix("mercer ").unwrap()).ok();
        }
    }
    assert_eq!(parts.len(), 9, "{parts:?}");
}

#[test]
fn the_example_of_a_bound_makes_it_apply() {
    let place = Place::new();
    let (mut known, mut bounds): (HashMap<Vec<String>, Value>, usize) = (HashMap::new(), 0);
    for entry in entries(&place).iter().filter(|entry| entry["part"] == "bounds") {
        let lines: Vec<String> =
            entry["examples"].as_array().unwrap().iter().map(|l| l.as_str().unwrap().to_owned()).collect();
        let certificates = known.entry(lines.clone()).or_insert_with(|| {
            let folder = Place::new();
            let (last, before) = lines.split_last().unwrap();
            before.iter().for_each(|line| drop(folder.run(line.strip_prefix("mercer ").unwrap()).ok()));
            folder.json(last.strip_prefix("mercer ").unwrap())
        });
        let found = certificates.as_array().unwrap().iter().find(|c| c["bound"] == entry["name"]).unwrap();
        assert!(found["applicable"] == true && found["value"].is_f64(), "{lines:?}: {found}");
        bounds += 1;
    }
    assert!(bounds > 50 && known.len() < bounds / 2, "{bounds} bounds, {} examples", known.len());
}

#[test]
fn a_page_tells_everything_about_an_entry() {
    let place = Place::new();
    for entry in entries(&place) {
        let name = entry["name"].as_str().unwrap();
        // lines are folded, so that texts are compared without their blanks
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let page = bare(&place.run(&format!("help {name}")).ok().out);
        for key in ["formula", "source", "use_when", "cost", "summary"] {
            let told = entry[key].as_str().unwrap_or_default();
            assert!(page.contains(&bare(told)), "{name}: {key}: {told}\n{page}");
        }
        for parameter in entry["parameters"].as_array().into_iter().flatten() {
            for key in ["name", "default", "help"] {
                assert!(page.contains(&bare(parameter[key].as_str().unwrap())), "{name}: {parameter}");
            }
        }
    }
    for (alias, name) in [("gaussian", "rbf (kernel, vectors)"), ("svm", "svc (machine, classify)")] {
        assert!(place.run(&format!("help {alias}")).ok().out.starts_with(name));
    }
    let svc = place.run("help svc").ok().out;
    for part in ["(--probabilities)", "(--weights)", "(hinge, squared_hinge)", "also called"] {
        assert!(svc.contains(part), "{svc}");
    }
    assert!(place.run("help linear_svc").ok().out.contains("explicit features"));
    assert!(place.run("help svr").ok().out.contains("are not given"));
}

#[test]
fn verbs_win_and_unknown_names_come_with_the_nearest() {
    let place = Place::new();
    for verb in ["fit", "list"] {
        assert_eq!(place.run(&format!("help {verb}")).ok().out, place.run(&format!("{verb} --help")).ok().out);
    }
    assert_eq!(place.run("help").ok().out, place.run("--help").ok().out);
    place.run("help svcc").fails(2, &["nothing is called svcc", "did you mean svc?"]);
    place.run("help normalis").fails(2, &["did you mean normalise?"]);
    place.run("help fitt").fails(2, &["did you mean fit?"]);
    place.run("help qqqqq").fails(2, &["mercer list"]);
    place.run("help svc ridge").fails(2, &["one name at a time"]);
}

#[test]
fn help_beside_a_machine_is_that_of_the_machine() {
    let place = Place::new();
    let page = place.run("help svc").ok().out;
    for line in [
        "fit --machine svc --help",
        "fit train.csv -h -m svm",
        "select --machine=svc --help",
        "learning-curve -msvc -h",
        "fit --machine 'svc(c=10)' --help",
    ] {
        assert_eq!(place.run(line).ok().out, page, "{line}");
    }
    place.run("fit --machine svcc --help").fails(2, &["machine, column 1", "did you mean svc?"]);
}

#[test]
fn the_help_of_fit_fits_a_page() {
    let place = Place::new();
    for columns in ["80", "100", "120"] {
        let output = place.command("fit -h").env("COLUMNS", columns).output().unwrap();
        let short = String::from_utf8(output.stdout).unwrap();
        assert!(short.lines().count() <= 60, "{columns} columns:\n{short}");
    }
    let short = place.run("fit -h").ok().out;
    assert!(short.contains("mercer help svc") && !short.contains("--tolerance"), "{short}");
    for format in place.json("list formats").as_array().unwrap() {
        assert!(short.contains(format["name"].as_str().unwrap()), "{format}");
    }
    let long = place.run("fit --help").ok().out;
    for machine in place.json("list machines").as_array().unwrap() {
        assert!(long.contains(&format!("\n  {} ", machine["name"].as_str().unwrap())), "{machine}\n{long}");
    }
    let widest = long.lines().map(|l| l.chars().count()).max().unwrap();
    assert!(widest <= 100, "{widest}");
}

#[test]
fn a_machine_is_written_with_its_parameters() {
    let place = Place::with_banana(40);
    let by_flags = place.json("fit banana.csv --machine svc --c 10 --loss squared_hinge -o a.mercer");
    for line in [
        "fit banana.csv --machine 'svc(c=10, loss=squared_hinge)' -o b.mercer",
        "fit banana.csv --machine 'svm(10)' --loss squared_hinge -o b.mercer",
    ] {
        let fitted = place.json(line);
        assert_eq!(fitted["parameters"], by_flags["parameters"], "{line}");
        assert_eq!(fitted["objective"], by_flags["objective"], "{line}");
    }
    let weighed = place.json("fit banana.csv -m 'svc(class_weight=\"1:2,-1:1\")' -o b.mercer");
    assert_eq!(weighed["parameters"]["class_weight"], "1:2,-1:1");
    let chosen = place.json("select banana.csv -m 'svc(loss=squared_hinge)' --grid c=1|10 -o b.mercer");
    assert_eq!(chosen["parameters"]["loss"], "squared_hinge");
    place.run("learning-curve banana.csv -m 'svc(c=10)' --sizes 10,20").ok();

    let fails = |machine: &str, parts: &[&str]| place.run(&format!("fit banana.csv -o m -m {machine}")).fails(2, parts);
    fails("'svc(c=10)' --c 5", &["c is given twice", "c=10 in --machine", "--c 5", "leave out one"]);
    fails("'svc(10)' --c 10", &["c is given twice"]);
    fails("'svc(c=10' ", &["machine, column 4", "never closed"]);
    fails("'svc(lambda=1)'", &["machine, column 5", "svc has no parameter lambda"]);
    fails("'svc(c=0)'", &["machine, column 5", "c = 0 must be > 0"]);
    fails("'svc(c=1)' --lambda 1", &["svc has no parameter lambda"]);
    // a linear machine keeps its kernel
    assert!(
        place.json("fit banana.csv -m 'linear_svc(c=10)' -o b.mercer")["kernel"]
            .as_str()
            .unwrap()
            .starts_with("linear")
    );
}

#[test]
fn a_grid_tells_parameters_of_one_name_apart() {
    let place = Place::with_banana(40);
    // both a robust regression's loss and the kernel have a width
    place.run("data noisy_sinc --n 40 -o sinc.csv").ok();
    let line =
        |grid: &str| format!("select sinc.csv -m huber_regression -k 'rbf(gamma=1)' --grid '{grid}' -o m.mercer");
    let refused = place.run(&line("width=1|2"));
    refused.fails(2, &["width", "both have it", "kernel.width or machine.width"]);
    let machine = place.json(&line("machine.width=1|2"));
    assert_eq!(machine["kernel"], "rbf(gamma=1)");
    assert!(machine["table"][1]["parameters"]["machine.width"] == 2.0, "{machine}");
    let kernel = place.json(&line("kernel.width=0.5|2"));
    assert_eq!(kernel["parameters"]["width"], 1.0);
    let kernels: HashSet<&str> =
        kernel["table"].as_array().unwrap().iter().map(|c| c["kernel"].as_str().unwrap()).collect();
    assert_eq!(kernels, HashSet::from(["rbf(gamma=2)", "rbf(gamma=0.5)"]));
    let both = place.json(&line("machine.width=1|2, kernel.width=0.5|2"));
    assert_eq!(both["table"].as_array().unwrap().len(), 4);
    // the same search under either spelling
    let scores =
        |found: &Value| found["table"].as_array().unwrap().iter().map(|c| c["score"].clone()).collect::<Vec<_>>();
    let (plain, told) = (
        place.json("select banana.csv -m svc --grid 'c=1|10, gamma=1|2' -o m.mercer"),
        place.json("select banana.csv -m svc --grid 'machine.c=1|10, kernel.gamma=1|2' -o m.mercer"),
    );
    assert_eq!(scores(&plain), scores(&told));
    for (grid, part) in [
        ("kernel.lambda=1", "the kernel rbf(gamma=1) does not have it"),
        ("machine.gamma=1", "huber_regression does not have it"),
        ("lambda=1, machine.lambda=2", "same parameter"),
        ("nothing=1", "neither huber_regression nor the kernel"),
    ] {
        place.run(&line(grid)).fails(2, &[part]);
    }
}

#[test]
fn lists_are_grouped_filtered_and_searched() {
    let place = Place::new();
    let names = |line: &str| -> Vec<String> {
        let listed = place.json(&format!("list {line}"));
        listed.as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap().to_owned()).collect()
    };
    let text = names("kernels --kind text");
    assert!(text.contains(&"spectrum".to_owned()) && !text.contains(&"rbf".to_owned()), "{text:?}");
    let numbers = names("machines --task regress");
    for (name, there) in [("ridge", true), ("linear_regression", true), ("svc", false), ("kernel_pca", false)] {
        assert_eq!(numbers.contains(&name.to_owned()), there, "{name}: {numbers:?}");
    }
    let found = names("machines nearest regression");
    assert!(found.contains(&"knn_regression".to_owned()) && !found.contains(&"knn".to_owned()), "{found:?}");
    assert_eq!(names("datasets --task regression"), ["noisy_sinc"]);
    let tables = place.run("list machines").ok().out;
    let at = |heading: &str| tables.find(heading).unwrap_or_else(|| panic!("{heading}: {tables}"));
    assert!(at("Machines that classify") < at("svc ") && at("svc ") < at("Machines that regress"));
    assert!(place.run("list").ok().out.contains("Functions of kernels\n  normalise, centre"));
    place.run("list machines --task regres").fails(2, &["did you mean regress?"]);
    place.run("list machines --kind text").fails(2, &["machines have no kind"]);
    place.run("list formats --task regress").fails(2, &["formats have no task"]);
    place.run("list kernels qqqq").fails(2, &["no kernels mention qqqq"]);
    place.run("list --task regress").fails(2, &["the part"]);
    let markdown = place.run("list kernels --kind text --markdown").ok().out;
    assert!(markdown.contains("| `spectrum` | "), "{markdown}");
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(markdown.lines().filter(|l| l.starts_with('|')).all(|l| columns(l) == 5), "{markdown}");
}

/// `REGENERATE=1 cargo test -p mercer-cli --test main readme` writes the section anew.
#[test]
fn the_readme_has_the_catalogue_of_today() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- catalogue -->\n", "<!-- end of catalogue -->");
    let from = readme.find(begin).unwrap() + begin.len();
    let to = from + readme[from..].find(end).unwrap();
    let today = Place::new().run("list --markdown").ok().out;
    if std::env::var_os("REGENERATE").is_some() {
        std::fs::write(&path, format!("{}{today}{}", &readme[..from], &readme[to..])).unwrap();
    } else {
        assert_eq!(readme[from..to], today, "stale: REGENERATE=1 cargo test -p mercer-cli --test main readme");
    }
}

#[test]
fn names_of_earlier_times_are_read() {
    let place = Place::with_banana(30);
    let now = place.json("fit banana.csv -m regularised_risk --threshold solver -o now.mercer");
    let then = place.json("fit banana.csv -m programme --threshold programme -o then.mercer");
    assert_eq!((&now["machine"], &now["parameters"]["threshold"]), (&"regularised_risk".into(), &"solver".into()));
    for key in ["machine", "parameters", "objective"] {
        assert_eq!(now[key], then[key], "{key}");
    }
    assert!(place.run("help programme").ok().out.starts_with("regularised_risk (machine, classify)"));
    let page = place.run("help programme_regression").ok().out;
    assert!(page.starts_with("regularised_risk_regression") && page.contains("programme_regression"), "{page}");
    assert!(place.run("help kfd").ok().out.contains("programme means solver"));

    // a file of earlier times
    let table = read(&place.path("banana.csv"), &ReadOptions::default()).unwrap();
    let model = Model::load(place.path("now.mercer")).unwrap();
    let model = model.job().unwrap().run_on_table(table.clone(), &Silent).unwrap();
    let mut settings = model.settings().to_vec();
    let threshold = settings.iter_mut().find(|(name, _)| name == "threshold").unwrap();
    threshold.1 = mercer::params::Setting::Word("programme".to_owned());
    let kept = model.data(&table).unwrap().select(model.places());
    let old = Model::assembled("programme", settings, model.kernel().clone(), model.fitted().clone(), &kept);
    old.save(place.path("old.mercer")).unwrap();
    assert_eq!(
        place.run("predict old.mercer banana.csv").ok().out,
        place.run("predict now.mercer banana.csv").ok().out
    );
    place.run("certify old.mercer banana.csv").ok();
}
