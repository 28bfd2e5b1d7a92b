//! `fit`: what it computes, what it reports, what it leaves behind.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::{Place, close, numbers};

#[test]
fn the_report_has_everything_it_promises() {
    let place = Place::with_banana(100);
    let ran = place.run("fit banana.csv --machine svc --c 10 --kernel 'rbf(gamma=0.5)' -o m.mercer --json").ok();
    let report = ran.document();
    assert_eq!(report["machine"], "svc");
    assert_eq!(report["kernel"], "rbf(gamma=0.5)");
    assert_eq!((&report["n"], &report["d"]), (&100.into(), &2.into()));
    assert_eq!(report["status"], "converged");
    assert!(report["iterations"].as_u64().unwrap() > 0);
    assert!(report["objective"].is_number() && report["n_support"].is_number());
    assert!(report["duality_gap"].as_f64().unwrap() >= 0.0);
    assert!(report["violation"].as_f64().unwrap() <= 1e-3, "the default tolerance");
    assert!((0.0..0.5).contains(&report["training"]["error"].as_f64().unwrap()));
    let seconds = |part: &str| report["seconds"][part].as_f64().unwrap();
    assert!(seconds("read") + seconds("fit") + seconds("save") <= seconds("total"));
    assert!(ran.err.is_empty(), "{}", ran.err);
    assert_eq!(place.files(), ["banana.csv", "m.mercer"]);
}

#[test]
fn the_default_kernel_is_printed_with_its_number() {
    // two columns scaled to variance one: 1 / (d · variance) = 1/2
    let place = Place::with(&[("a.csv", "a,b,y\n0,0,u\n2,20,v\n")]);
    let report = place.json("fit a.csv --machine svc -o m");
    assert_eq!(report["kernel"], "rbf(gamma=0.5)");
}

#[test]
fn the_report_for_people_names_the_same_facts() {
    let place = Place::with_banana(100);
    let said = place.run("fit banana.csv --machine svc --verbose -o m.mercer").ok().out;
    for part in ["svc (c=1", "rbf(gamma=", "100", "converged after", "duality gap", "error", "m.mercer"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// (K + λI) α = y for three examples, by Cramer's rule.
fn solve3(k: [[f64; 3]; 3], y: [f64; 3]) -> [f64; 3] {
    let det = |m: [[f64; 3]; 3]| {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    [0, 1, 2].map(|c| {
        let mut swapped = k;
        for r in 0..3 {
            swapped[r][c] = y[r];
        }
        det(swapped) / det(k)
    })
}

#[test]
fn ridge_solves_the_system_without_bias_and_without_n() {
    let (x, y, lambda, gamma) = ([0.0_f64, 1.0, 3.0], [1.0, 3.0, 2.0], 0.25, 0.5);
    let place = Place::with(&[("a.csv", "x,y\n0,1\n1,3\n3,2\n"), ("b.csv", "x\n0\n1\n3\n2\n")]);
    let kernel = |a: f64, b: f64| (-gamma * (a - b) * (a - b)).exp();
    let mut system = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            system[i][j] = kernel(x[i], x[j]) + if i == j { lambda } else { 0.0 };
        }
    }
    let alpha = solve3(system, y);
    let wanted: Vec<f64> =
        [0.0, 1.0, 3.0, 2.0].iter().map(|&t| (0..3).map(|i| alpha[i] * kernel(x[i], t)).sum()).collect();
    for solver in ["auto", "cholesky", "eigen", "cg --tolerance 1e-14"] {
        let fit =
            format!("a.csv --machine ridge --scale none --kernel 'rbf(gamma=0.5)' --lambda 0.25 --solver {solver}");
        close(&numbers(&place.fitted(&fit, "b.csv")), &wanted, 1e-10);
    }
}

#[test]
fn scaling_is_by_the_population_deviation_and_leaves_the_target_alone() {
    // x = 0, 1, 5 has mean 2 and population variance 14/3; linear ridge on z = (x − 2)/√(14/3)
    let place = Place::with(&[("a.csv", "x,y\n0,1\n1,3\n5,2\n")]);
    let deviation = (14.0_f64 / 3.0).sqrt();
    let z = [-2.0 / deviation, -1.0 / deviation, 3.0 / deviation];
    let weight = |z: &[f64; 3]| (z[0] + 3.0 * z[1] + 2.0 * z[2]) / (z.iter().map(|v| v * v).sum::<f64>() + 1.0);
    let wanted = z.map(|v| v * weight(&z));
    let fit = "a.csv --machine ridge --kernel linear --lambda 1";
    close(&numbers(&place.fitted(fit, "a.csv")), &wanted, 1e-12);
    close(&numbers(&place.fitted(&format!("{fit} --scale standard"), "a.csv")), &wanted, 1e-12);
    let raw = [0.0, 1.0, 5.0];
    let wanted = raw.map(|v| v * weight(&raw));
    close(&numbers(&place.fitted(&format!("{fit} --scale none"), "a.csv")), &wanted, 1e-12);
    let small = [0.0, 0.2, 1.0];
    let wanted = small.map(|v| v * weight(&small));
    close(&numbers(&place.fitted(&format!("{fit} --scale minmax"), "a.csv")), &wanted, 1e-12);
}

#[test]
fn a_constant_column_does_no_harm() {
    let place = Place::with(&[("a.csv", "x,c,y\n0,7,1\n1,7,3\n5,7,2\n")]);
    for scale in ["standard", "minmax", "unit", "none"] {
        let got = place.fitted(&format!("a.csv --machine ridge --scale {scale}"), "a.csv");
        assert!(numbers(&got).iter().all(|v| v.is_finite()), "{scale}");
    }
}

#[test]
fn sparse_data_are_not_scaled_unless_asked() {
    let place = Place::with(&[("a.svm", "1 1:10 2:1\n-1 1:20\n1 2:3\n"), ("a.csv", "a,b,y\n10,1,1\n20,0,-1\n0,3,1\n")]);
    let sparse = place.json("fit a.svm --machine svc --kernel linear -o m");
    let plain = place.json("fit a.csv --machine svc --kernel linear --scale none -o m");
    let scaled = place.json("fit a.csv --machine svc --kernel linear -o m");
    let objective = |report: &serde_json::Value| report["objective"].as_f64().unwrap();
    close(&[objective(&sparse)], &[objective(&plain)], 1e-12);
    assert!((objective(&plain) - objective(&scaled)).abs() > 1e-6);
}

#[test]
fn svc_has_a_bias_and_its_margin_is_the_textbook_one() {
    // x = 1 and 3 on the line: w = 1, b = −2, so f(x) = x − 2
    let place = Place::with(&[("a.csv", "x,y\n1,no\n3,yes\n"), ("b.csv", "x\n1\n2.5\n5\n")]);
    place.run("fit a.csv --machine svc --c 100 --kernel linear --scale none --tolerance 1e-9 -o m").ok();
    let said = place.run("predict m b.csv --scores").ok().out;
    let rows: Vec<Vec<&str>> = said.lines().map(|l| l.split(',').collect()).collect();
    assert_eq!(rows[0], ["prediction", "score_no", "score_yes"]);
    let scores: Vec<f64> = rows[1..].iter().map(|r| r[2].parse().unwrap()).collect();
    close(&scores, &[-1.0, 0.5, 3.0], 1e-6);
    assert_eq!(rows[1..].iter().map(|r| r[0]).collect::<Vec<_>>(), ["no", "yes", "yes"]);
}

#[test]
fn classes_vote_in_pairs_and_zero_is_a_vote_for_the_second() {
    let place = Place::with(&[
        ("a.csv", "x,z,y\n0,2,c\n-1.7320508075688772,-1,a\n1.7320508075688772,-1,b\n"),
        ("far.csv", "x,z\n0,0.1\n-1,-0.6\n1,-0.6\n"),
    ]);
    place.run("fit a.csv --machine svc --kernel 'rbf(gamma=0.1)' --c 10 --scale none -o m").ok();
    assert_eq!(place.run("predict m far.csv").ok().lines(), ["prediction", "c", "a", "b"]);
    let same = Place::with(&[("a.csv", "x,y\n0,c\n0,a\n0,b\n0,c\n0,a\n0,b\n"), ("b.csv", "x\n0\n")]);
    same.run("fit a.csv --machine svc --kernel linear --scale none -o m").ok();
    // all pairs are undecided: LIBSVM gives f > 0 to the first of a pair and the rest to the second
    let wanted = ["prediction,score_a,score_b,score_c", "c,0,1,2"];
    assert_eq!(same.run("predict m b.csv --scores").ok().lines(), wanted);
}

#[test]
fn a_failing_fit_leaves_nothing_behind() {
    let place = Place::with(&[("one.csv", "a,y\n1,u\n2,u\n")]);
    place.run("fit one.csv --machine svc -o m.mercer").fails(3, &["only the class \"u\""]);
    place.run("fit one.csv --machine ridge -o m.mercer").fails(3, &["\"u\""]);
    assert_eq!(place.files(), ["one.csv"]);
    place.write("m.mercer", "the old one");
    place.run("fit one.csv --machine svc -o m.mercer").fails(3, &[]);
    assert_eq!(place.read("m.mercer"), "the old one");
}

#[test]
fn an_output_that_cannot_be_written_is_told_before_the_work() {
    let place = Place::with_banana(50);
    std::fs::create_dir(place.path("folder")).unwrap();
    place.run("fit banana.csv --machine svc -o none/m").fails(3, &["none/m: there is no folder none"]);
    place.run("fit banana.csv --machine svc -o folder").fails(3, &["folder is a folder"]);
    place.run("fit missing.csv --machine svc -o none/m").fails(3, &["there is no folder none"]);
    place.run("gram banana.csv -o none/K.npy").fails(3, &["there is no folder none"]);
    place.run("select banana.csv --machine svc --grid c=1 -o none/m").fails(3, &["there is no folder none"]);
    place.run("fit banana.csv --machine svc -o /proc/m.mercer").fails(3, &["/proc/m.mercer: "]);
    assert_eq!(place.files(), ["banana.csv", "folder"]);
}

#[test]
fn too_little_memory_is_told_in_bytes() {
    let place = Place::with_banana(200);
    let fit = "fit banana.csv --machine ridge --solver cholesky -o m";
    place.run(&format!("{fit} --memory 10K")).fails(4, &["KiB", "10.0 KiB", "--memory"]);
    place.run(&format!("{fit} --memory 100M")).ok();
    // machines that can stream do
    place.run("fit banana.csv --machine ridge --memory 10K -o m").ok();
    place.run("fit banana.csv --machine svc --memory 10K -o m").ok();
}

#[test]
fn the_same_seed_and_any_threads_give_the_same_bytes() {
    let place = Place::with_banana(300);
    for (machine, more) in [
        ("svc", "--c 10"),
        ("ridge", "--lambda 0.1"),
        ("ridge", "--solver cg"),
        ("kernel_pca", ""),
        ("nearest_mean", ""),
        ("parzen", ""),
        ("parzen_density", ""),
        ("adatron", ""),
        ("kernel_k_means", "--clusters 3"),
        ("spectral_clustering", "--clusters 3"),
    ] {
        for kernel in ["rbf(gamma=median)", "rbf(gamma=0.5) + 0.1*polynomial(degree=2)"] {
            let fit = format!("fit banana.csv --machine {machine} {more} --kernel '{kernel}'");
            place.run(&format!("{fit} --threads 1 -o one")).ok();
            place.run(&format!("{fit} --threads 2 -o two")).ok();
            place.run(&format!("{fit} --seed 0 -o three")).ok();
            assert!(place.bytes("one") == place.bytes("two"), "{fit}: threads");
            assert!(place.bytes("one") == place.bytes("three"), "{fit}: run twice");
            let predictions = |threads: u8| place.run(&format!("predict one banana.csv --threads {threads}")).ok().out;
            assert!(predictions(1) == predictions(2), "{fit}: predictions");
        }
    }
}

#[test]
fn the_target_chooses_the_machine_where_none_is_named() {
    let place = Place::with_banana(40);
    let ran = place.run("fit banana.csv --c 3 -o m --json").ok();
    assert_eq!((&ran.document()["machine"], &ran.document()["parameters"]["c"]), (&"svc".into(), &3.0.into()));
    assert!(ran.err.contains("--machine takes another"), "{}", ran.err);
    place.run("data noisy_sinc --n 40 -o sinc.csv").ok();
    assert_eq!(place.json("fit sinc.csv -o n")["machine"], "ridge");
    // declared categories are classes; what has no target has no usual machine
    let lines: Vec<String> = (0..60).map(|i| format!("{i},{}\n", i % 20)).collect();
    place.write("codes.csv", format!("a,y\n{}", lines.concat()));
    assert_eq!(place.json("fit codes.csv --categorical y -o n")["machine"], "svc");
    place.run("fit banana.csv --target none -o n").fails(2, &["no target", "--machine"]);
    place.run("fit sinc.csv --c 3 -o n").fails(2, &["ridge has no parameter c"]);
    assert_eq!(place.json("learning-curve banana.csv --sizes 10,20")["machine"], "svc");
}
