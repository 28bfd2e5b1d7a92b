//! Limits that hold: of memory, of address space, and of time inside a single kernel value.
#![cfg(unix)]

use crate::common::{Place, Ran, gzip, npy_bytes, ran};
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs the program with so many KiB of address space.
fn within(place: &Place, kib: usize, line: &str) -> Ran {
    let program = crate::PROGRAM;
    let script = format!("ulimit -v {kib}; exec '{program}' {line}");
    let mut command = Command::new("sh");
    command.current_dir(place.path(".")).args(["-c", &script]).stdin(Stdio::null());
    ran(line, command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap())
}

/// A table of so many examples, each with a name of its own.
fn names(n: usize) -> String {
    (0..n).fold("id,size,y\n".to_owned(), |mut text, i| {
        writeln!(text, "u{i},{},{}", i * i % 97, if i % 97 * 2 < i % 89 { "a" } else { "b" }).unwrap();
        text
    })
}

#[test]
fn a_matrix_beyond_the_address_space_is_refused_and_does_not_abort() {
    let place = Place::new();
    let lines = (0..20_000).fold("a,b,y\n".to_owned(), |mut text, i| {
        writeln!(text, "{},{},{}", i % 101, i % 7, i % 13).unwrap();
        text
    });
    place.write("r.csv", lines);
    let said = within(&place, 200_000, "fit r.csv -m ridge --target y --solver cholesky -o m --threads 1");
    said.fails(4, &["needs", "the memory budget is"]);
    // the user's word counts for more than the guess, but not for more than the system gives
    let line = "fit r.csv -m ridge --target y --solver cholesky -o m --threads 1 --memory 100G";
    within(&place, 200_000, line).fails(4, &["needs", "system"]);
    assert_eq!(place.files(), ["r.csv"]);
}

#[test]
fn a_column_of_names_takes_memory_by_its_entries() {
    let place = Place::new();
    place.write("id.csv", names(20_000));
    // dense, the codes alone are 3.2 GB
    let ran = within(&place, 2_500_000, "fit id.csv --target y -m linear_svc -k linear -o m --threads 1 --json").ok();
    assert_eq!(ran.document()["status"], "converged");
    place.write("new.csv", "id,size,y\nu17,3,a\nu19999,4,b\n");
    assert_eq!(place.run("predict m new.csv").ok().lines().len(), 3);
    // what cannot be sparse is refused in words: numbers that are not scaled
    let line = "fit id.csv --target y -m linear_svc -k linear --scale none -o n --memory 500M";
    place.run(line).fails(4, &["table of all columns", "column id", "20000 categories", "--memory"]);
}

#[test]
fn what_swells_in_decompressing_ends_at_the_budget() {
    let place = Place::new();
    let bombs: [(&str, Vec<u8>); 3] = [
        ("bomb.csv.gz", gzip(b"1,2\n".repeat(8 << 20))),
        ("bomb.svm.gz", gzip(b"1 1:1\n".repeat(6 << 20))),
        ("bomb.npy.gz", gzip(npy_bytes("|u1", &[32 << 20, 1], vec![0; 32 << 20]))),
    ];
    for (name, bytes) in bombs {
        place.write(name, bytes);
        let ran = place.run(&format!("show {name} --memory 50M"));
        assert!(ran.code == Some(3) || ran.code == Some(4), "{name}: {ran:?}");
        assert!(ran.err.contains("memory budget is 50.0 MiB") && ran.err.contains("--memory"), "{name}: {}", ran.err);
    }
    // one line without an end
    place.write("line.csv.gz", gzip(vec![b'1'; 64 << 20]));
    place.run("show line.csv.gz --memory 20M").fails(4, &["a line of the file", "--memory"]);
    place.write("small.csv.gz", gzip(b"1,2\n".repeat(1000)));
    place.run("show small.csv.gz --memory 50M").ok();
}

#[test]
fn an_index_beyond_memory_is_refused_by_every_linear_machine() {
    let place = Place::with(&[("far.svm", "1 1:1 2147483648:1\n2 2:1\n1 1:2\n2 2:3\n")]);
    for machine in ["logistic_regression", "linear_regression", "linear_svc", "linear_svr", "linear_fisher"] {
        let line = format!("fit far.svm -m {machine} -k linear -o m --memory 1G");
        place.run(&line).fails(4, &["weights", "memory budget"]);
    }
    assert_eq!(place.files(), ["far.svm"]);
}

#[test]
fn an_allocation_that_the_system_refuses_ends_in_words() {
    let place = Place::with_banana(2000);
    let (mut ended, mut done) = (0, 0);
    for kib in [30_000, 60_000, 100_000, 200_000, 400_000] {
        for verb in ["fit banana.csv -m ridge -o m", "gram banana.csv -o K.npy", "show banana.csv"] {
            let ran = within(&place, kib, verb);
            match ran.code {
                Some(0) => done += 1,
                Some(3 | 4) => {
                    let cause = ["memory", "threads could not be started"];
                    assert!(
                        ran.err.contains("error: ") && cause.iter().any(|cause| ran.err.contains(cause)),
                        "{verb} in {kib} KiB: {}",
                        ran.err
                    );
                    ended += 1;
                }
                // the system's loader needs some room for itself, and has no other words
                Some(127) if kib < 50_000 => {}
                _ => panic!("{verb} in {kib} KiB: {ran:?}"),
            }
        }
    }
    assert!(ended > 0 && done > 0, "{ended} ended in words, {done} were done");
}

#[test]
fn the_time_limit_of_certificates_holds_inside_a_single_value() {
    let place = Place::new();
    let text = |seed: usize| (0..1000).map(|i| ["a", "c", "g", "t"][i * i / 7 * seed % 4]).collect::<String>();
    let lines = (1..4).fold("s,y\n".to_owned(), |all, seed| format!("{all}{},{}\n", text(seed), ["u", "v"][seed % 2]));
    place.write("long.csv", lines);
    place.run("fit long.csv -m nearest_mean -k subsequence --text s --target y -o m").ok();
    // one value alone takes longer
    place.run("certify m long.csv --max-seconds 0.001").fails(4, &["time_limit"]);
    place.run("certify m long.csv").ok();
}

#[test]
fn the_time_limit_holds_inside_a_single_value() {
    let place = Place::new();
    let text = |seed: usize| (0..40_000).map(|i| ["a", "c", "g", "t"][i * i / 7 * seed % 4]).collect::<String>();
    let lines = (1..7).fold("s,y\n".to_owned(), |all, seed| format!("{all}{},{}\n", text(seed), seed % 2));
    place.write("long.csv", lines);
    for line in [
        "fit long.csv -m svc -k subsequence --text s --target y --max-seconds 1 -o m",
        "fit long.csv -m ridge -k subsequence --text s --target y --max-seconds 1 -o m",
        "select long.csv -m svc -k subsequence --text s --target y --folds 2 --grid 'c=1|10' --max-seconds 1 -o m",
        "fit long.csv -m svc -k 'mismatch(length=12, mismatches=6)' --text s --target y --max-seconds 1 -o m",
        "gram long.csv -k subsequence --text s --target y --max-seconds 1 -o K.npy",
        "measure long.csv -k subsequence --text s --target y --max-seconds 1",
        "measure long.csv -k subsequence --text s --groups y --max-seconds 1",
        "measure long.csv -k subsequence@s --text s --dependence target --target y --max-seconds 1",
    ] {
        let started = Instant::now();
        let ran = place.run(line);
        // one value takes seconds; this only catches a limit that is not looked at
        assert!(started.elapsed() < Duration::from_secs(12), "{line}: {:?}", started.elapsed());
        assert!(ran.err.contains("time_limit"), "{line}: {}", ran.err);
        assert!(ran.code == Some(4) || (ran.code == Some(0) && place.has("m")), "{line}: {ran:?}");
        assert!(!place.has("K.npy"));
    }
}
