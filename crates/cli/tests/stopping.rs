//! Stopping early: Ctrl-C, the time limit, and a killed process.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::{Place, Ran, ran};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// Starts, waits a while, sends SIGINT, and gives what was said and how long it took.
fn interrupted(place: &Place, line: &str, after: Duration) -> (Ran, Duration) {
    stopped(place, line, "-INT", after)
}

/// The same with any signal.
fn stopped(place: &Place, line: &str, name: &str, after: Duration) -> (Ran, Duration) {
    let mut child = place.command(line).spawn().unwrap();
    std::thread::sleep(after);
    assert!(child.try_wait().unwrap().is_none(), "{line} ended before it could be interrupted");
    let sent = Instant::now();
    signal(&child, name);
    let ran = ran(line, child.wait_with_output().unwrap());
    (ran, sent.elapsed())
}

#[test]
fn an_interrupted_fit_saves_the_best_so_far() {
    let place = Place::with_banana(20000);
    let fit = "fit banana.csv --machine svc --c 1e6 --tolerance 1e-12 -o m.mercer --json";
    let (ran, took) = interrupted(&place, fit, Duration::from_millis(1500));
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    // promised are a tenth of a second; this only catches hangs
    assert!(took < Duration::from_secs(5), "{took:?}");
    let report = ran.document();
    assert_eq!(report["status"], "interrupted");
    assert!(ran.err.contains("m.mercer"), "{}", ran.err);
    assert_eq!(place.files(), ["banana.csv", "m.mercer"]);
    assert_eq!(place.json("show m.mercer")["status"], "interrupted");
    place.run("data banana --n 10 --seed 5 -o new.csv").ok();
    assert_eq!(place.run("predict m.mercer new.csv").ok().lines().len(), 11);
}

#[test]
fn an_interruption_with_nothing_to_keep_leaves_nothing() {
    let place = Place::with_banana(20000);
    for line in [
        "fit banana.csv --machine kernel_pca --solver full --memory 20G -o m --json",
        "fit banana.csv --machine ridge --solver cholesky --memory 8G -o m --json",
        "gram banana.csv -o K.npy --json",
    ] {
        let (ran, took) = interrupted(&place, line, Duration::from_millis(250));
        assert_eq!(ran.code, Some(130), "{line}: {}", ran.err);
        assert!(took < Duration::from_secs(5), "{line}: {took:?}");
        assert_eq!(ran.document()["exit_code"], 130);
        assert_eq!(place.files(), ["banana.csv"], "{line}");
    }
}

#[test]
fn the_time_limit_ends_with_the_best_so_far() {
    let place = Place::with_banana(5000);
    let started = Instant::now();
    let ran = place.run("fit banana.csv --machine svc --c 1e6 --tolerance 1e-12 --max-seconds 0.3 -o m --json").ok();
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(ran.document()["status"], "time_limit");
    assert!(ran.err.contains("time_limit"), "{}", ran.err);
    assert_eq!(place.json("show m")["status"], "time_limit");
    place.run("evaluate m banana.csv").ok();
    // no time at all still gives a model of a solver that always has one, and none of the others
    place.run("fit banana.csv --machine svc --max-seconds 0 -o n").ok();
    let ran = place.run("fit banana.csv --machine nearest_mean --max-seconds 0 -o o").fails(4, &["time_limit"]);
    assert!(ran.out.is_empty());
    place.run("gram banana.csv --max-seconds 0 -o K.npy").fails(4, &["time_limit"]);
    assert_eq!(place.files(), ["banana.csv", "m", "n"]);
}

#[test]
fn the_iteration_limit_is_told() {
    let place = Place::with_banana(200);
    let ran = place.run("fit banana.csv --machine svc --max-iterations 5 -o m --json").ok();
    assert_eq!((&ran.document()["status"], &ran.document()["iterations"]), (&"iteration_limit".into(), &5.into()));
    assert!(ran.err.contains("not converged (iteration_limit)"), "{}", ran.err);
}

#[test]
fn a_killed_process_leaves_no_output_of_that_name() {
    let place = Place::with_banana(8000);
    let mut child = place.command("gram banana.csv -o K.npy").spawn().unwrap();
    let started = Instant::now();
    // in the middle of the writing: a file aside has appeared
    while place.files().len() < 2 && started.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(child.try_wait().unwrap().is_none(), "the matrix was written too fast to be killed");
    signal(&child, "-KILL");
    child.wait().unwrap();
    assert!(!place.has("K.npy"), "{:?}", place.files());
}

/// Waits until a run is in the middle of writing: a file aside has its first bytes.
fn wait_for_writing(place: &Place, child: &mut Child) {
    let begun = |name: &String| {
        name.starts_with(".mercer.") && std::fs::metadata(place.path(name)).is_ok_and(|about| about.len() > 0)
    };
    let started = Instant::now();
    while !place.files().iter().any(begun) {
        assert!(child.try_wait().unwrap().is_none(), "it was too fast to be stopped");
        assert!(started.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn every_signal_to_end_keeps_the_best_so_far_beside_an_older_model() {
    let place = Place::with_banana(20000);
    place.run("data banana --n 50 -o small.csv").ok();
    place.run("fit small.csv --machine svc -o m.mercer").ok();
    let old = place.bytes("m.mercer");
    for (name, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let fit = "fit banana.csv --machine svc --c 1e6 --tolerance 1e-12 -o m.mercer --json";
        let (ran, _) = stopped(&place, fit, name, Duration::from_millis(1500));
        assert_eq!(ran.code, Some(code), "{name}: {}", ran.err);
        assert!(ran.err.contains("m.interrupted.mercer") && ran.err.contains("m.mercer is as it was"), "{}", ran.err);
        assert_eq!(ran.document()["model"], "m.interrupted.mercer");
        assert_eq!(place.bytes("m.mercer"), old, "{name}");
        assert_eq!(place.json("show m.interrupted.mercer")["status"], "interrupted");
        assert_eq!(place.files(), ["banana.csv", "m.interrupted.mercer", "m.mercer", "small.csv"]);
        std::fs::remove_file(place.path("m.interrupted.mercer")).unwrap();
    }
}

#[test]
fn every_verb_that_is_stopped_leaves_the_old_output_and_no_other() {
    let place = Place::with_banana(8000);
    place.run("data banana --n 400000 -o large.csv").ok();
    place.run("data banana --n 200 -o small.csv").ok();
    place.run("fit small.csv --machine svc -o m.mercer").ok();
    for line in
        ["convert large.csv out.svm", "predict m.mercer large.csv --scores -o out.csv", "gram banana.csv -o out.npy"]
    {
        let out = line.rsplit(' ').next().unwrap();
        for (name, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
            place.write(out, "old");
            let before = place.files();
            let mut child = place.command(line).spawn().unwrap();
            wait_for_writing(&place, &mut child);
            signal(&child, name);
            let ran = ran(line, child.wait_with_output().unwrap());
            assert_eq!(ran.code, Some(code), "{line} {name}: {}", ran.err);
            assert!(ran.err.starts_with("error: "), "{line} {name}: {}", ran.err);
            assert_eq!((place.read(out).as_str(), place.files()), ("old", before), "{line} {name}");
        }
        std::fs::remove_file(place.path(out)).unwrap();
    }
}

#[test]
fn what_a_killed_run_left_is_cleared_by_the_next() {
    let place = Place::with_banana(8000);
    let mut child = place.command("gram banana.csv -o K.npy").spawn().unwrap();
    wait_for_writing(&place, &mut child);
    // another run of the same output leaves the file of a living one alone
    place.run("data banana --n 20 -o small.csv").ok();
    place.run("gram small.csv -o K.npy").ok();
    assert_eq!(place.files().len(), 4, "{:?}", place.files());
    signal(&child, "-KILL");
    child.wait().unwrap();
    assert_eq!(place.files().len(), 4, "{:?}", place.files());
    place.run("gram small.csv -o K.npy").ok();
    assert_eq!(place.files(), ["K.npy", "banana.csv", "small.csv"]);
}

#[test]
fn what_is_ignored_from_the_start_stays_ignored() {
    let place = Place::with_banana(20000);
    let fit = format!(
        "trap '' HUP; exec '{}' fit banana.csv --machine svc --c 1e6 --tolerance 1e-12 -o m.mercer",
        crate::PROGRAM
    );
    let mut child = Command::new("sh").args(["-c", &fit]).current_dir(place.path("")).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    signal(&child, "-HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "a hangup was to be ignored");
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

#[test]
fn a_file_beyond_the_limit_of_the_process_is_an_error_and_the_old_one_stays() {
    let place = Place::with_banana(2000);
    place.write("K.npy", "old");
    let gram = format!("ulimit -f 64; exec '{}' gram banana.csv -o K.npy", crate::PROGRAM);
    let output = Command::new("sh").args(["-c", &gram]).current_dir(place.path("")).output().unwrap();
    ran(&gram, output).fails(3, &["K.npy", "File too large"]);
    assert_eq!(
        (place.read("K.npy").as_str(), place.files()),
        ("old", vec!["K.npy".to_owned(), "banana.csv".to_owned()])
    );
}
