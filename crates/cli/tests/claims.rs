//! Claims and what they rest on: where rows were repeated nothing is proven, where some are equal the condition is told, and reasons are true.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;
use serde_json::Value;

/// Numbers between 0 and 1 that look like chance.
fn chance(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Rows of four columns in thousandths; few are of the class "churn", by the first column and much noise.
fn rows(n: usize, seed: u64) -> Vec<String> {
    let mut draw = chance(seed);
    let mut normal = move || (0..12).map(|_| draw()).sum::<f64>() - 6.0;
    (0..n)
        .map(|_| {
            let x = [normal(), normal(), normal(), normal()];
            let class = if x[0] + 1.5 * normal() > 1.8 { "churn" } else { "stay" };
            format!("{:.3},{:.3},{:.3},{:.3},{class}", x[0], x[1], x[2], x[3])
        })
        .collect()
}

/// The same rows, those of the rare class five times, in an order of chance.
fn with_more(rows: &[String]) -> Vec<String> {
    let rare = rows.iter().filter(|row| row.ends_with("churn"));
    let mut all: Vec<String> = rows.iter().chain(rare.cycle().take(4 * count(rows))).cloned().collect();
    let mut draw = chance(99);
    for i in (1..all.len()).rev() {
        all.swap(i, (draw() * (i + 1) as f64) as usize);
    }
    all
}

fn count(rows: &[String]) -> usize {
    rows.iter().filter(|row| row.ends_with("churn")).count()
}

fn file(rows: &[String]) -> String {
    format!("a,b,c,d,y\n{}\n", rows.join("\n"))
}

/// A folder with rows as they were drawn, with few that are equal, and with a rare class that was repeated.
fn place() -> Place {
    let plain = rows(400, 1);
    let some: Vec<String> = plain.iter().chain(&plain[..4]).cloned().collect();
    let more = with_more(&plain);
    let (train, test) = more.split_at(more.len() * 3 / 4);
    let files = [
        ("plain.csv", file(&plain)),
        ("some.csv", file(&some)),
        ("more.csv", file(&more)),
        ("train.csv", file(train)),
        ("test.csv", file(test)),
    ];
    Place::with(&files.each_ref().map(|(name, text)| (*name, text.as_str())))
}

const SVC: &str = "-m svc -k 'rbf(gamma=1)' --c 10 --scale none";
const REPEATED: &str = "rows were repeated";
const EQUAL: &str = "8 of the 404 ";

#[test]
fn held_out_examples_that_are_copies_judge_nothing() {
    let place = place();
    let search = |data: &str| format!("select {data} -m svc --grid 'c=1|10|100,gamma=0.1|1' --held-out 0.25 -o m");
    let said = place.run(&search("more.csv")).ok().out;
    assert!(said.contains("rows were repeated before the data were divided"), "{said}");
    assert!(!said.contains("never saw") && !said.contains("95 % interval"), "{said}");
    assert!(said.contains("Folds know one another's examples"), "{said}");
    let told = &place.json(&search("more.csv"))["held_out"];
    assert!(told["equal_to_training"].as_u64().unwrap() > 30 && told["metrics"]["error_interval"].is_null(), "{told}");
    assert!(told["condition"].as_str().unwrap().contains(REPEATED));
    // the certificate of the same model says the same
    let said = place.run("certify m more.csv").ok().out;
    assert!(said.contains("Nothing is certified: rows were repeated before the data were divided"), "{said}");
    let said = place.run(&search("plain.csv")).ok().out;
    assert!(
        said.contains("95 % interval") && said.contains("that the search never saw.") && !said.contains("repeated"),
        "{said}"
    );
    assert!(place.json(&search("plain.csv"))["held_out"]["condition"].is_null());
}

#[test]
fn no_coverage_is_proven_of_rows_that_were_repeated() {
    let place = place();
    for method in ["split", "cross", "split --mondrian"] {
        let said = place.run(&format!("fit more.csv {SVC} --conformal {method} -o m")).ok().out;
        assert!(
            said.contains("nothing is proven: rows were repeated") && said.contains("--weights"),
            "{method}: {said}"
        );
        // the model remembers
        let told = place.json("evaluate m plain.csv");
        let guarantee = &told["conformal"]["guarantee"][0];
        assert!(guarantee["least"].is_null() && guarantee["condition"].as_str().unwrap().contains(REPEATED), "{told}");
        let said = place.run(&format!("fit some.csv {SVC} --conformal {method} -o m")).ok().out;
        assert!(said.contains("is proven; ") || said.contains("is proven"), "{said}");
        assert!(said.contains(EQUAL) && said.contains("nothing holds where rows were repeated"), "{method}: {said}");
        let said = place.run(&format!("fit plain.csv {SVC} --conformal {method} -o m")).ok().out;
        assert!(said.contains("is proven") && !said.contains("repeated"), "{method}: {said}");
    }
    for method in ["jackknife", "full"] {
        let fit = |data: &str| {
            format!("fit {data} -m ridge -k 'rbf(gamma=1)' --target d --drop y --scale none --conformal {method} -o m")
        };
        assert!(place.run(&fit("more.csv")).ok().out.contains("nothing is proven: rows were repeated"), "{method}");
        assert!(place.run(&fit("plain.csv")).ok().out.contains("is proven"), "{method}");
    }
}

#[test]
fn examples_to_calibrate_with_that_are_copies_prove_nothing() {
    let place = place();
    place.run(&format!("fit train.csv {SVC} -o m")).ok();
    let said = place.run("predict m plain.csv --conformal 0.9 --calibration test.csv").ok().err;
    assert!(said.contains("no coverage is proven: rows were repeated"), "{said}");
    // and no error has an interval
    let ran = place.run("evaluate m test.csv").ok();
    assert!(
        ran.err.contains("there is no interval: rows were repeated") && !ran.out.contains("interval"),
        "{}",
        ran.err
    );
    place.write("new.csv", file(&rows(300, 5)));
    let ran = place.run("evaluate m new.csv").ok();
    assert!(ran.out.contains("95 % interval") && !ran.err.contains("repeated"), "{} {}", ran.out, ran.err);
    // examples of which fewer than half are equal to those of training
    let grid = |seed: u64| {
        let mut draw = chance(seed);
        let rows: Vec<String> = (0..300)
            .map(|_| {
                let (a, b) = ((draw() * 25.0) as u32, (draw() * 25.0) as u32);
                format!("{a},{b},{}", if f64::from(a) + 12.0 * draw() > 18.0 { "u" } else { "v" })
            })
            .collect();
        format!("a,b,y\n{}\n", rows.join("\n"))
    };
    place.write("grid.csv", grid(3));
    place.write("new.csv", grid(4));
    place.run("fit grid.csv -m svc -o m").ok();
    let said = place.run("predict m grid.csv --conformal 0.9 --calibration new.csv").ok().err;
    assert!(
        said.contains("of the 300 held-out examples also stand among those of training: what rests on them"),
        "{said}"
    );
}

#[test]
fn certificates_of_repeated_rows_are_refused_and_of_equal_ones_have_the_condition() {
    let place = place();
    let asked = [
        format!("fit DATA {SVC} --certified -o m"),
        "select DATA -m svc -k 'rbf(gamma=1)' --scale none --grid 'c=1|10|100' --by certificate -o m".to_owned(),
    ];
    for command in asked {
        place.run(&command.replace("DATA", "more.csv")).fails(2, &["nothing can be certified: rows were repeated"]);
        let said = place.run(&command.replace("DATA", "some.csv")).ok().out;
        let last = said.lines().rfind(|line| !line.is_empty()).unwrap();
        assert!(last.contains(&format!("But {EQUAL}training examples are equal to another one")), "{said}");
        let said = place.run(&command.replace("DATA", "plain.csv")).ok().out;
        assert!(said.contains("of new examples are") && !said.contains(" But "), "{said}");
    }
    place.run(&format!("fit more.csv {SVC} -o m")).ok();
    let said = place.run("certify m more.csv").ok().out;
    assert!(said.contains("Nothing is certified: rows were repeated"), "{said}");
    // examples that were held out before rows were repeated are new all the same
    place.write("new.csv", file(&rows(300, 5)));
    let said = place.run("certify m more.csv --held-out new.csv").ok().out;
    assert!(said.contains("of new examples are misclassified (held_out).") && !said.contains(" But "), "{said}");
}

#[test]
fn tests_on_repeated_rows_are_not_exact() {
    let place = place();
    for test in ["--dependence target", "--groups y", "--versus train.csv"] {
        let measure = |data: &str| format!("measure {data} {test} --permutations 50");
        let said = place.run(&measure("more.csv")).ok().out;
        assert!(said.contains("(no guarantee: rows were repeated)") && !said.contains("(exact"), "{test}: {said}");
        assert!(place.json(&measure("more.csv"))["copies"].as_str().unwrap().contains(REPEATED));
        if test.contains("versus") {
            continue;
        }
        let said = place.run(&measure("some.csv")).ok().out;
        assert!(
            said.contains("(exact at every sample size, if no rows were repeated)") && said.contains(EQUAL),
            "{said}"
        );
        let said = place.run(&measure("plain.csv")).ok().out;
        assert!(said.contains("(exact at every sample size)") && !said.contains("repeated"), "{said}");
    }
}

#[test]
fn what_no_number_of_examples_reaches_is_told_with_the_true_number_and_reason() {
    let place = Place::new();
    let said = place.run("plan --certificate 0.02 --held-out-error 0.03").ok().out;
    let told = said.lines().find(|line| line.starts_with("No bound comes down to")).unwrap();
    assert!(
        told.contains("up to 100000000 examples, because the share of errors stays what it is here, 0.0300"),
        "{told}"
    );
    // the number that is told stands in the curve
    let curves = place.json("plan --certificate 0.02 --held-out-error 0.03");
    let points = || curves.as_array().unwrap().iter().flat_map(|p| p["curve"].as_array().unwrap().clone());
    let least = points().map(|c| c["value"].as_f64().unwrap()).fold(1.0, f64::min);
    let shown: f64 = told.split("the lowest is ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((0.0..1.1e-4).contains(&(shown - least)), "{told}: {least}");
    // errors are not always the reason
    place.run("data banana --n 200 -o banana.csv").ok();
    place.run("fit banana.csv -m 'svc(c=1)' -k 'rbf(gamma=1)' --scale none -o m").ok();
    let said = place.run("plan m banana.csv --certificate 0.2 --bound pac_bayes_kl").ok().out;
    let told = said.lines().find(|line| line.starts_with("No bound comes down to")).unwrap();
    assert!(told.contains("at the complexity that is expected here") && !told.contains("share of errors"), "{told}");
}

#[test]
fn the_offset_is_the_reason_where_it_is_and_a_remedy_exists() {
    let place = Place::with_banana(80);
    for (machine, remedy) in
        [("'logistic_regression' -k linear", "logistic_regression always has one"), ("svc", "fit with bias = false")]
    {
        place.run(&format!("fit banana.csv -m {machine} --scale none -o m")).ok();
        let said = place.run("certify m banana.csv --all").ok().out;
        let told = format!("stability: the offset is not penalised, so one example may move it: {remedy}\n");
        assert!(said.contains(&told), "{said}");
    }
    place.run("data noisy_sinc --n 60 -o sinc.csv").ok();
    place.run("fit sinc.csv -m quantile --scale none -o m").ok();
    let said = place.run("certify m sinc.csv --all --target-range -2,2").ok().out;
    assert!(said.contains("quantile always has one") && !said.contains("bias = false"), "{said}");
}

#[test]
fn an_evidence_that_few_draws_carry_is_told_as_rough_and_its_draws_as_declared() {
    let place = Place::with_banana(120);
    place.run("fit banana.csv -m svc -k 'rbf(gamma=0.5)' --c 1000 --scale none -o m").ok();
    let ran = place.run("certify m banana.csv --evidence 20 --all").ok();
    let line = ran.out.lines().find(|line| line.trim_start().starts_with("evidence ")).unwrap();
    assert!(line.contains("by 1280 draws, with a relative error of") && line.contains("few draws carry"), "{line}");
    assert!(ran.err.contains("the evidence has a relative error of"), "{}", ran.err);
    assert!(
        ran.out.contains("  declared: the number of draws was fixed before any of them was looked at"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("checked: the simulation is unbiased at each number of draws, and"), "{}", ran.out);
}

#[test]
fn bounds_that_more_work_makes_sharper_say_so() {
    let place = Place::new();
    place.run("data two_moons --n 200 -o a.csv").ok();
    for (bound, fit) in
        [("mistake_bound", "perceptron -k 'rbf(gamma=3)'"), ("empirical_vc", "'svc(c=inf)' -k 'polynomial(degree=5)'")]
    {
        place.run(&format!("fit a.csv -m {fit} --scale none -o m")).ok();
        let told = |flags: &str| {
            let all = place.json(&format!("certify m a.csv {flags}"));
            let found = all.as_array().unwrap().iter().find(|c| c["bound"] == bound).unwrap().clone();
            assert_eq!(found["applicable"], Value::Bool(true), "{flags}: {found}");
            found["reason"].as_str().unwrap().to_owned()
        };
        let (quick, slow) = (told(""), told("--thorough"));
        assert!(quick.contains("--thorough") && !slow.contains("--thorough"), "{bound}: {quick} | {slow}");
    }
}

#[test]
fn rows_in_a_regular_order_have_the_error_and_the_baseline_of_all() {
    // so many that the error is taken of every second row only, which would all be of one class
    let mut draw = chance(8);
    let rows: Vec<String> = (0..5000)
        .map(|i| {
            let (side, class) = if i % 2 == 0 { (0.0, "even") } else { (0.4, "odd") };
            format!("{:.3},{:.3},0,0,{class}", draw() + side, draw())
        })
        .collect();
    let place = Place::with(&[("a.csv", &file(&rows))]);
    let told = &place.json("fit a.csv -m nearest_mean -k 'rbf(gamma=1)' -o m")["training"];
    assert_eq!((told["base_error"].as_f64(), told["n"].as_u64()), (Some(0.5), Some(2500)), "{told}");
    let all = place.json("evaluate m a.csv")["error"].as_f64().unwrap();
    let drawn = told["error"].as_f64().unwrap();
    // four standard deviations of the error of half of them
    assert!((drawn - all).abs() < 4.0 * (all * (1.0 - all) / 5000.0).sqrt(), "{drawn} {all}");
    let classes: Vec<u64> =
        told["by_class"].as_array().unwrap().iter().map(|class| class["examples"].as_u64().unwrap()).collect();
    assert!(classes.iter().all(|n| (1100..1400).contains(n)), "{classes:?}");
}

#[test]
fn models_that_were_prepared_for_gaps_are_calibrated() {
    let gaps = |seed: u64| -> String {
        let cut = |(i, row): (usize, String)| {
            if i % 9 == 4 { row.replacen(row.split(',').next().unwrap(), "", 1) } else { row }
        };
        file(&rows(200, seed).into_iter().enumerate().map(cut).collect::<Vec<_>>())
    };
    let place = Place::with(&[("a.csv", &gaps(1)), ("b.csv", &gaps(2)), ("whole.csv", &file(&rows(50, 3)))]);
    for way in ["mean", "drop", "keep"] {
        let machine = if way == "keep" { "svc -k missing_gaussian" } else { "svc" };
        let fitted = place.run(&format!("fit a.csv -m {machine} --missing {way} -o m"));
        if fitted.code != Some(0) {
            assert!(way == "keep", "{}", fitted.err);
            continue;
        }
        for more in ["", "--missing empty"] {
            let said = place.run(&format!("predict m whole.csv --conformal 0.9 --calibration b.csv {more}")).ok();
            assert_eq!(said.out.lines().count(), 51, "{way}: {}", said.err);
        }
    }
    // without a preparation the gaps are an error, as everywhere
    place.run("fit whole.csv -m svc -o m").ok();
    place.run("predict m whole.csv --conformal 0.9 --calibration b.csv").fails(3, &["b.csv"]);
}

#[test]
fn a_formula_says_what_its_words_are() {
    let place = Place::new();
    for machine in ["huber_kfd", "huber_regression"] {
        // lines are folded
        let said = place.run(&format!("help {machine}")).ok().out;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("huber_s(e) = e²/(2s) up to |e| = s = width, |e| − s/2 beyond"), "{said}");
    }
}
