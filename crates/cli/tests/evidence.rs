//! `measure --versus`, `--groups`, `--dependence` and `--stability`, from outside.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;
use std::fmt::Write;

/// Rows of two numbers from a small generator, the second shifted.
fn rows(count: usize, shift: f64, mut state: u64) -> String {
    let mut text = String::from("a,b\n");
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    for _ in 0..count {
        writeln!(text, "{:.6},{:.6}", next() + next(), next() + next() + shift).unwrap();
    }
    text
}

#[test]
fn samples_that_differ_are_told_from_samples_that_do_not() {
    let place =
        Place::with(&[("a.csv", &rows(60, 0.0, 1)), ("b.csv", &rows(50, 0.0, 2)), ("c.csv", &rows(50, 0.6, 3))]);
    let ran = place.run("measure a.csv --versus c.csv --kernel 'rbf(gamma=median)'");
    assert!(ran.out.starts_with("The two samples differ (MMD² = "), "{ran:?}");
    assert!(
        ran.out.contains("p = 0.001 by 1000 permutations") && ran.out.contains("exact at every sample size"),
        "{ran:?}"
    );
    assert!(ran.out.contains("no bound: the kernel's parameters were taken from the data"), "{ran:?}");
    let ran = place.run("measure a.csv --versus b.csv --permutations 199");
    assert!(ran.out.starts_with("No difference between the two samples was found"), "{ran:?}");
    for statistic in ["biased", "bootstrap", "linear"] {
        let told = place.json(&format!(
            "measure a.csv --versus c.csv --statistic {statistic} --kernel 'rbf(gamma=1)' --scale none"
        ));
        assert!(told["p"].as_f64().unwrap() < 0.02 && told["differ"] == true, "{statistic}: {told}");
        assert_eq!(told["samples"][0]["n"], 60);
        // the distribution-free bound needs all pairs
        assert_eq!(told["bound"].is_object(), statistic != "linear", "{told}");
    }
    // the same examples in one file, with a column that tells them apart
    let tail = |text: &str, group: &str| -> String {
        let lines: Vec<String> = text.lines().skip(1).map(|l| format!("{l},{group}")).collect();
        lines.join("\n") + "\n"
    };
    let both = format!("a,b,batch\n{}{}", tail(&rows(60, 0.0, 1), "may"), tail(&rows(50, 0.6, 3), "june"));
    let place = Place::with(&[("both.csv", &both), ("a.csv", &rows(60, 0.0, 1)), ("c.csv", &rows(50, 0.6, 3))]);
    let groups = place.json("measure both.csv --groups batch --kernel 'rbf(gamma=0.7)'");
    let files = place.json("measure c.csv --versus a.csv --kernel 'rbf(gamma=0.7)'");
    let close = (groups["mmd2"].as_f64().unwrap() - files["mmd2"].as_f64().unwrap()).abs();
    assert!(close < 1e-9 && groups["samples"][0]["name"] == "batch = june", "{groups} {files}");
}

#[test]
fn what_the_data_give_does_not_know_which_sample_comes_first() {
    let (a, b) = (rows(40, 0.0, 1), rows(30, 0.3, 2));
    let turned: Vec<&str> = b.lines().take(1).chain(b.lines().skip(1).collect::<Vec<_>>().into_iter().rev()).collect();
    let place = Place::with(&[("a.csv", &a), ("b.csv", &b), ("turned.csv", &(turned.join("\n") + "\n"))]);
    for choose in ["uniform", "greedy", "k_means"] {
        let kernel = format!("'nystrom(rbf(gamma=1), points=4, choose={choose})'");
        let told = |files: &str| {
            place.json(&format!("measure {files} --scale none --permutations 99 --kernel {kernel}"))["mmd2"].as_f64()
        };
        let (one, other) = (told("a.csv --versus b.csv").unwrap(), told("b.csv --versus a.csv").unwrap());
        assert!((one - other).abs() < 1e-9 * one.abs(), "{choose}: {one} {other}");
        let second = format!("'nystrom(rbf(gamma=1), points=4, choose={choose})@b'");
        let told = |file: &str| {
            let rest =
                format!("--target none --scale none --permutations 99 --kernel 'rbf(gamma=1)@a' --dependence {second}");
            place.json(&format!("measure {file} {rest}"))["hsic"].as_f64()
        };
        let (one, other) = (told("b.csv").unwrap(), told("turned.csv").unwrap());
        assert!((one - other).abs() < 1e-9 * one.abs(), "{choose}: {one} {other}");
    }
}

#[test]
fn dependence_is_told_for_targets_and_for_columns() {
    let place = Place::new();
    place.run("data iris -o iris.csv").ok();
    let ran = place.run("measure iris.csv --dependence target --permutations 499");
    assert!(
        ran.out.starts_with("The two parts depend on each other (HSIC = ") && ran.out.contains("0.002 by 499"),
        "{ran:?}"
    );
    assert!(ran.out.contains("exact_match@target") && ran.out.contains("gamma approximation"), "{ran:?}");
    // y = x² has no correlation with x
    let mut parabola = String::from("x,y\n");
    for x in (0..60).map(|i| f64::from(i) / 30.0 - 1.0) {
        writeln!(parabola, "{x},{}", x * x).unwrap();
    }
    let noise = rows(80, 0.0, 5);
    let place = Place::with(&[("p.csv", &parabola), ("n.csv", &noise)]);
    let told = place.json("measure p.csv --kernel 'rbf(gamma=median)' --dependence target");
    assert!(told["p"].as_f64().unwrap() < 0.002 && told["p_gamma"].as_f64().unwrap() < 0.01, "{told}");
    let linear = place.json("measure p.csv --kernel linear --dependence linear@target");
    assert!(linear["p"].as_f64().unwrap() > 0.5 && linear["depend"] == false, "{linear}");
    let columns = place.json("measure n.csv --target none --kernel rbf@a --dependence rbf@b --permutations 200");
    assert!(columns["p"].as_f64().unwrap() > 0.01 && columns["n"] == 80, "{columns}");
    // a part that is compared with itself is refused, also where one kernel names no columns
    for kernels in ["--dependence linear@x", "--kernel rbf@a --dependence linear@a"] {
        let ran = place.run(&format!("measure n.csv --target none {kernels}"));
        assert!(ran.code == Some(2) && ran.err.contains("both kernels look at"), "{kernels}: {ran:?}");
    }
    // the alignment of a kernel with its target has the same evidence
    let told = place.json("measure p.csv --kernel 'rbf(gamma=median)' --permutations 99");
    assert!((0.0..=1.0).contains(&told["alignment_p"].as_f64().unwrap()), "{told}");
}

#[test]
fn stability_is_honest_about_small_samples_and_asks_for_a_radius() {
    let place = Place::new();
    place.run("data iris -o iris.csv").ok();
    let ran = place.run("measure iris.csv --kernel 'rbf(gamma=0.1)' --stability");
    assert!(ran.out.contains("none: no gap reaches ρ") && ran.out.contains("of the true one"), "{ran:?}");
    let told = place.json("measure iris.csv --kernel 'rbf(gamma=0.1)' --stability --delta 0.1 --ridge 0.1,1,10");
    assert_eq!(told["stability"]["radius"], 1.0);
    // what the data gave the kernel is said, and nothing where they gave nothing
    assert!(told["stability"]["assumes"].as_str().unwrap().contains("--scale none"), "{told}");
    let fixed = place.json("measure iris.csv --kernel 'rbf(gamma=0.1)' --stability --scale none");
    assert!(fixed["stability"]["assumes"].is_null() && fixed["stability"]["rho"].as_f64().unwrap() > 1.0, "{fixed}");
    place.write("gaps.csv", format!("{}{}", rows(40, 0.0, 3), ",1\n2,\n"));
    let filled = "measure gaps.csv --target none --kernel 'rbf(gamma=0.1)' --missing mean --scale none";
    let told_of = place.json(&format!("{filled} --stability"));
    assert!(told_of["stability"]["assumes"].as_str().unwrap().contains("filled in"), "{told_of}");
    let bound = place.json(&format!("{filled} --versus gaps.csv"));
    assert!(bound["bound"].is_null(), "{bound}");
    assert_eq!(told["stability"]["beyond_rho"].as_array().unwrap().len(), 0);
    assert_eq!(told["stability"]["intervals"].as_array().unwrap().len(), 5);
    let dimensions: Vec<f64> =
        told["effective_dimensions"].as_array().unwrap().iter().map(|d| d["dimension"].as_f64().unwrap()).collect();
    assert!(dimensions.windows(2).all(|d| d[0] > d[1]) && dimensions.len() == 3, "{dimensions:?}");
    let refused = place.run("measure iris.csv --kernel linear --stability");
    assert!(refused.code == Some(2) && refused.err.contains("declare one with --radius"), "{refused:?}");
    assert!(refused.err.contains("The largest of this sample would not do"), "{refused:?}");
    assert!(
        place
            .run("measure iris.csv --kernel linear --stability --radius 0.1")
            .err
            .contains("beyond the declared radius")
    );
    place.run("measure iris.csv --kernel linear --stability --radius 30").ok();
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let place = Place::with(&[("a.csv", &rows(20, 0.0, 1)), ("b.csv", "a,c\n1,2\n3,4\n"), ("one.csv", "a,b\n1,2\n")]);
    place.run("data iris -o iris.csv").ok();
    for (command, code, said) in [
        ("measure a.csv --versus b.csv", 3, "both files need the same columns"),
        ("measure a.csv --versus one.csv", 4, "not 20 and 1"),
        ("measure a.csv --versus b.csv --stability", 2, "cannot be used with"),
        ("measure a.csv --statistic biased", 2, "--statistic is for --versus and --groups"),
        ("measure a.csv --radius 1", 2, "--radius is for"),
        ("measure a.csv --versus a.csv --radius -1", 2, "above 0"),
        ("measure a.csv --versus a.csv --statistic linear --permutations 9", 2, "takes no permutations"),
        ("measure iris.csv --groups species", 3, "has 3"),
        ("measure a.csv --target none --dependence target", 3, "no target column"),
        ("measure a.csv --target none --permutations 9", 3, "no target column"),
        ("measure a.csv --stability --delta 2 --kernel rbf", 2, "between 0 and 1"),
    ] {
        let ran = place.run(command);
        assert!(ran.code == Some(code) && ran.err.contains(said), "{command}: {ran:?}");
    }
}
