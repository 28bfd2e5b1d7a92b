//! Help, lists, and everything that is wrong with a request before a file is read.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;

const VERBS: [&str; 12] =
    ["quickstart", "fit", "predict", "evaluate", "select", "gram", "show", "plot", "export", "list", "data", "split"];

#[test]
fn the_help_of_every_verb_has_an_example() {
    let place = Place::new();
    let general = place.run("--help").ok().out;
    for verb in VERBS {
        assert!(general.contains(&format!("\n  {verb} ")), "{general}");
        let help = place.run(&format!("{verb} --help")).ok().out;
        assert!(help.contains("Example") && help.contains(&format!("\n  mercer {verb} ")), "{help}");
    }
    assert!(place.files().is_empty());
}

#[test]
fn the_examples_of_the_help_are_accepted_as_far_as_their_files() {
    let place = Place::new();
    for verb in VERBS {
        let help = place.run(&format!("{verb} --help")).ok().out;
        // a backslash at the end of a line goes on in the next
        for line in help.replace("\\\n      ", "").lines().filter_map(|l| l.strip_prefix("  mercer ")) {
            let ran = place.run(line);
            if ["quickstart", "list", "data"].contains(&verb) {
                ran.ok();
            } else {
                ran.fails(3, &["No such file or directory"]);
            }
        }
    }
}

#[test]
fn without_a_verb_the_help_comes_and_the_request_is_wrong() {
    let ran = Place::new().run("");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("mercer quickstart"), "{}", ran.err);
    Place::new().run("fitt").fails(2, &["fit"]);
}

#[test]
fn the_version_is_printed() {
    assert!(Place::new().run("--version").ok().out.starts_with("mercer "));
}

#[test]
fn lists_are_tables_for_people_and_arrays_for_programs() {
    let place = Place::new();
    for (what, known) in
        [("kernels", "rbf"), ("machines", "svc"), ("theorems", "c_bound"), ("formats", "libsvm"), ("datasets", "iris")]
    {
        assert!(place.run(&format!("list {what}")).ok().out.contains(known));
        let document = place.json(&format!("list {what}"));
        let names: Vec<&str> = document.as_array().unwrap().iter().map(|d| d["name"].as_str().unwrap()).collect();
        assert!(names.contains(&known), "{names:?}");
    }
    place
        .run("list things")
        .fails(2, &["kernels, functions, machines, bounds, theorems, scores, kinds, formats, datasets"]);
}

#[test]
fn theorems_are_computed_for_numbers_and_say_what_is_wrong_with_them() {
    let place = Place::new();
    let told = place.json("bound c_bound gibbs=0.3 disagreement=0.4");
    assert!((told["value"].as_f64().unwrap() - 0.2).abs() < 1e-12, "{told}");
    assert!(place.run("bound tandem joint_error=0.04").ok().out.contains("0.16"));
    // log₂ N above m/2
    assert!(place.json("bound covering_bound log2_cover=600 examples=1000")["value"].is_null());
    for (line, told) in [
        ("bound c_bond gibbs=0.3", "did you mean c_bound?"),
        ("bound c_bound gibbs=0.3", "disagreement is missing"),
        ("bound c_bound gibbs=x disagreement=0.4", "x is not a number"),
        ("bound c_bound gibbs disagreement=0.4", "NAME=NUMBER"),
        ("bound c_bound gibbs=2 disagreement=0.4", "between 0 and 1"),
        ("bound c_bound gibbs=0.1 disagreement=0.49", "0.18 at most"),
    ] {
        place.run(line).fails(2, &[told]);
    }
    assert!(place.run("help local_rademacher").ok().out.contains("eigenvalues"));
}

#[test]
fn every_parameter_of_every_machine_is_a_flag() {
    let place = Place::new();
    for machine in place.json("list machines").as_array().unwrap() {
        let name = machine["name"].as_str().unwrap();
        let flags: Vec<String> = machine["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| {
                let flag = p["name"].as_str().unwrap().replace('_', "-");
                format!("--{flag} '{}'", p["default"].as_str().unwrap())
            })
            .collect();
        let line = format!("fit none.csv --machine {name} {} -o m", flags.join(" "));
        place.run(&line).fails(3, &["none.csv"]);
    }
}

#[test]
fn an_unknown_flag_machine_or_kernel_comes_with_a_suggestion() {
    let place = Place::with_banana(20);
    place.run("fit banana.csv --machine svc --toleranc 1 -o m").fails(2, &["--tolerance"]);
    place.run("fit banana.csv --machine svcc -o m").fails(2, &["machine called svcc", "did you mean svc?"]);
    place.run("fit banana.csv --machine qqq -o m").fails(2, &["machines, svc (classify), ", "mercer list machines"]);
    place.run("fit banana.csv --machine svc --kernel rbff -o m").fails(2, &["column 1", "did you mean rbf?"]);
    place.run("fit banana.csv --machine svc --kernel 'rbf(gama=1)' -o m").fails(2, &["column 5", "gamma?"]);
    place.run("data banan -o x.csv").fails(2, &["did you mean banana?"]);
    place.run("data qqq -o x.csv").fails(2, &["mercer list datasets"]);
    assert_eq!(place.files(), ["banana.csv"]);
}

#[test]
fn a_parameter_of_another_machine_is_refused() {
    let place = Place::with_banana(20);
    place.run("fit banana.csv --machine svc --lambda 1 -o m").fails(2, &["svc has no parameter lambda"]);
    place.run("fit banana.csv --machine ridge --c 1 -o m").fails(2, &["ridge has no parameter c"]);
    place.run("fit banana.csv --machine nearest_mean --c 1 -o m").fails(2, &["nearest_mean has no parameter c"]);
    assert_eq!(place.files(), ["banana.csv"]);
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let place = Place::with_banana(20);
    for (flags, part) in [
        ("svc --c 0", "c = 0 must be > 0"),
        ("svc --c -1", "c = -1 must be > 0"),
        ("svc --c nan", "c = NaN is not a finite number"),
        ("nu_svr --c inf", "c = inf is not a finite number"),
        ("svc --c abc", "c = abc is not a number"),
        ("svc --c ''", "is not a number"),
        ("svc --tolerance 0", "tolerance = 0 must be > 0"),
        ("svc --cache -1", "cache = -1"),
        ("ridge --lambda 0", "lambda = 0"),
        ("ridge --lambda often", "lambda = often is not a number, a list of numbers or one of loo"),
        ("ridge --solver magic", "solver = magic is not one of"),
        ("kernel_pca --components 0", "components = 0"),
        ("kernel_pca --components 1.5", "components = 1.5 is not a whole number"),
        ("kernel_pca --centre maybe", "centre = maybe is not true or false"),
        ("svc --threads 0", "--threads"),
        ("svc --seed -1", "--seed"),
        ("svc --memory none", "--memory none is not a size"),
        ("svc --memory -5M", "--memory"),
        ("svc --max-seconds nan", "number of seconds"),
        ("svc --max-seconds -1", "number of seconds"),
        ("svc --scale big", "standard, minmax, unit, none"),
        ("svc --missing maybe", "error, mean, drop"),
        ("svc --format xls", "npz, npy, idx, jsonl, json_array, parquet, arrow, fasta, fastq, libsvm, csv"),
        ("svc --delimiter ,,", "--delimiter ,,"),
        ("svc --header perhaps", "true, false"),
    ] {
        place.run(&format!("fit banana.csv -o m --machine {flags}")).fails(2, &[part]);
    }
    assert_eq!(place.files(), ["banana.csv"]);
}

#[test]
fn booleans_take_a_value_and_underscores_are_hyphens() {
    let place = Place::with_banana(20);
    let centred = place.json("fit banana.csv --machine kernel_pca --centre true -o a");
    let plain = place.json("fit banana.csv --machine kernel_pca --centre false -o b");
    assert_eq!((&centred["parameters"]["centre"], &plain["parameters"]["centre"]), (&true.into(), &false.into()));
    let few = place.json("fit banana.csv --machine svc --max-iterations 3 -o c");
    assert_eq!((&few["iterations"], &few["status"]), (&3.into(), &"iteration_limit".into()));
}

#[test]
fn formula_errors_point_at_their_place() {
    let place = Place::with_banana(20);
    for (formula, column, part) in [
        ("rbf(", 4, "never closed"),
        ("", 1, "a kernel is missing"),
        ("rbf +", 6, "a kernel is missing"),
        ("rbf)", 4, "does not belong here"),
        ("rbf(gamma=-1)", 5, "must be > 0"),
        ("rbf(gamma=0)", 5, "must be > 0"),
        ("rbf(gamma=often)", 5, "scale, median, 1/d"),
        ("rbf(gamma=1e999)", 5, "not a finite number"),
        ("linear + -1*rbf", 10, "negative"),
        ("-1*rbf", 1, "negative"),
        ("linear^0.5", 8, "whole number"),
        ("rbf(gamma=1, gamma=2)", 14, "given already"),
        ("rbf(gamma=1, sigma=2)", 14, "given already"),
        ("rbf(linear, gamma=1, width=2)", 22, "given already"),
        ("é", 1, "cannot start a kernel"),
    ] {
        let place_of = format!("kernel formula, column {column}:");
        place.run(&format!("gram banana.csv --kernel '{formula}' -o K.npy")).fails(2, &[&place_of, part, "^"]);
    }
    let deep = "(".repeat(5000);
    place.run(&format!("gram banana.csv --kernel '{deep}rbf' -o K.npy")).fails(2, &["nested"]);
    place.run("gram banana.csv --kernel 'ard(lengths=[1, 2, 3])' -o K.npy").fails(2, &["3 lengths", "2 coordinates"]);
    assert_eq!(place.files(), ["banana.csv"]);
}

#[test]
fn what_must_be_given_is_named() {
    let place = Place::with_banana(20);
    place.run("fit banana.csv --machine svc").fails(2, &["--output"]);
    place.run("fit banana.csv --target none -o m").fails(2, &["--machine"]);
    place.run("fit --machine svc -o m").fails(2, &["DATA"]);
    place.run("select banana.csv --machine nearest_mean --kernel linear -o m").fails(2, &["--grid"]);
    place.run("gram banana.csv").fails(2, &["--output"]);
    place.run("predict m").fails(2, &["DATA"]);
    // the columns that no view names are one of their own
    place.run("fit banana.csv --machine svc --view x=x1 --kernel rbf@x -o m").fails(2, &["two views are called \"x\""]);
    place.run("plot m banana.csv").fails(2, &["--output"]);
}

#[test]
fn failures_are_documents_too() {
    let place = Place::with_banana(20);
    let usage = place.run("fit banana.csv --machine qqq -o m --json").fails(2, &["qqq"]).document();
    assert_eq!(usage["exit_code"], 2);
    assert!(usage["error"].as_str().unwrap().contains("qqq"));
    let flag = place.run("fit banana.csv --machine svc --wrong -o m --json").fails(2, &["--wrong"]).document();
    assert_eq!(flag["exit_code"], 2);
    let data = place.run("fit none.csv --machine svc -o m --json").fails(3, &["none.csv"]).document();
    assert_eq!(data["exit_code"], 3);
}

#[test]
fn built_in_sets_are_written_as_csv() {
    let place = Place::new();
    for set in place.json("list datasets").as_array().unwrap() {
        let name = set["name"].as_str().unwrap();
        let written = place.json(&format!("data {name} --n 20 -o {name}.csv"));
        assert_eq!(written["n"], 20, "{name}");
        let shown = place.json(&format!("show {name}.csv"));
        assert_eq!((&shown["kind"], &shown["n"]), (&"data".into(), &20.into()), "{name}");
    }
    let first = place.run("data two_moons --n 10 --seed 1").ok().out;
    assert_eq!(first.lines().count(), 11);
    assert_eq!(first, place.run("data two_moons --n 10 --seed 1").ok().out);
    assert_ne!(first, place.run("data two_moons --n 10 --seed 2").ok().out);
    place.run("data banana --n 0").fails(2, &["at least"]);
    place.run("data banana --n 10 -o none/x.csv").fails(3, &["there is no folder none"]);
}

#[test]
fn advice_names_the_way_out() {
    let place = Place::with_banana(40);
    let quotes = "fit banana.csv --machine 'svc(class_weight=1:2)' -o m";
    place.run(quotes).fails(2, &["double quotes", "class_weight=\"1:2\""]);
    place
        .run("select banana.csv --machine svc --grid c=1 --conformal split -o m")
        .fails(2, &["--conformal", "fit --conformal", "--calibration"]);
    place.run("fit banana.csv --machine ridge --weights x1 -o m").fails(2, &["svr, nu_svr", "mercer list machines"]);
    let dates: Vec<String> =
        (1..29).map(|day| format!("2024-02-{day:02},{},{}\n", day % 5, ["u", "v"][day % 2])).collect();
    place.write("dates.csv", format!("day,a,y\n{}", dates.concat()));
    let said = place.run("fit dates.csv --machine svc -o m").ok().err;
    assert!(said.contains("28 different dates") && said.contains("--dates day"), "{said}");
}

#[test]
fn first_steps_that_go_astray_are_met_with_the_right_word() {
    let place = Place::with_banana(40);
    place.run("show svc").fails(2, &["no file svc", "mercer help svc"]);
    place.run("fit banana.csv --machine svc --gamma 0.1 -o m").fails(2, &["--kernel 'rbf(gamma=0.1)'"]);
    place.run("fit banana.csv --machine svc -C 10 -o m").fails(2, &["--c"]);
    place.run("select banana.csv --machine svc --grid 'C=1|2' -o m").fails(2, &["did you mean c?"]);
    place.run("data noisy_sinc --n 40 -o sinc.csv").ok();
    let jackknife = "fit sinc.csv --machine ridge --lambda loo --conformal jackknife -o m";
    place.run(jackknife).fails(2, &["lambda = loo is chosen by all examples", "--conformal cross"]);
    let words = place.run("convert banana.csv banana.svm").ok();
    assert!(words.err.is_empty(), "{}", words.err);
    place.write("words.csv", "a,y\n1,u\n2,v\n");
    assert!(place.run("convert words.csv words.svm").ok().err.contains("they want numbers"));
    place.run("fit banana.csv --machine svc -o m.mercer").ok();
    assert!(place.run("plot m.mercer banana.csv -o picture").ok().err.contains("picture will be SVG"));
    place.write("flat.csv", "a,b,y\n1,2,u\n1,2,v\n1,2,u\n1,2,v\n");
    assert!(
        place
            .run("fit flat.csv --machine svc --kernel 'rbf(gamma=1)' -o m")
            .ok()
            .err
            .contains("nothing tells the examples apart")
    );
    place.write("few.csv", "a,y\n1,u\n2,u\n3,u\n4,u\n5,u\n6,v\n7,v\n8,v\n");
    let said = place.run("select few.csv --machine svc --grid 'c=1|2' -o m").ok().err;
    assert!(said.contains("class v has 3 examples for 5 folds"), "{said}");
    // short reports, on request long ones or none
    let fit = "fit banana.csv --machine 'svc(c=10)' -o m";
    let (short, long) = (place.run(fit).ok().out, place.run(&format!("{fit} --verbose")).ok().out);
    assert!(short.contains("svc (c=10)") && !short.contains("notes") && !short.contains("memory"), "{short}");
    assert!(long.contains("notes") && long.contains("tolerance=0.001"), "{long}");
    assert_eq!(place.run(&format!("{fit} --quiet")).ok().out, "");
}

#[test]
fn scores_and_kinds_of_data_are_listed() {
    let place = Place::new();
    let scores = place.run("list scores").ok().out;
    assert!(scores.contains("Scores of classes") && scores.contains("log_loss") && scores.contains("r2"), "{scores}");
    let kinds = place.run("list kinds").ok().out;
    assert!(kinds.contains("precomputed") && kinds.contains("text"), "{kinds}");
    let page = place.run("help auc").ok().out;
    assert!(page.contains("area under the ROC curve") && page.contains("larger values"), "{page}");
}
