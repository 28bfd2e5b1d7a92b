//! `mercer reproduce` starts the program of the experiments: the one beside it, else one on the PATH, with the same arguments.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use crate::common::{Place, Ran, ran};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A folder `bin` with a copy of mercer, which sees no other program of the build.
fn with_mercer() -> Place {
    let place = Place::new();
    for folder in ["bin", "path"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    std::fs::copy(crate::PROGRAM, place.path("bin/mercer")).unwrap();
    place
}

/// A program that prints its arguments, one on each line, and ends with a code.
fn write_program(place: &Place, path: &str, code: u8) {
    place.write(path, format!("#!/bin/sh\necho {path}\nfor word in \"$@\"; do echo \"[$word]\"; done\nexit {code}\n"));
    std::fs::set_permissions(place.path(path), std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the copy with the folder `path` as the whole PATH. A program that another test starts while the copy is written holds the
/// copy open for a moment, and a file that is open for writing cannot be run.
fn run(place: &Place, line: &str) -> Ran {
    let mut command = place.command_of(&place.path("bin/mercer"), line);
    for _ in 0..200 {
        match command.env("PATH", place.path("path")).output() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            output => return ran(line, output.unwrap()),
        }
    }
    panic!("the copy of the program stays open for writing")
}

#[test]
fn arguments_and_exit_code_are_handed_over() {
    let place = with_mercer();
    write_program(&place, "path/mercer-reproduce", 0);
    assert_eq!(run(&place, "reproduce").ok().out, "path/mercer-reproduce\n");
    // the program beside mercer wins
    write_program(&place, "bin/mercer-reproduce", 3);
    let said = run(&place, "reproduce toys --seed 1 --json --help 'a b' -o x.svg");
    assert_eq!(said.code, Some(3));
    let words = ["toys", "--seed", "1", "--json", "--help", "a b", "-o", "x.svg"].map(|word| format!("[{word}]\n"));
    assert_eq!(said.out, format!("bin/mercer-reproduce\n{}", words.concat()));
    assert_eq!(said.err, "");
    // it also explains its experiments
    assert_eq!(run(&place, "help reproduce toys").out, "bin/mercer-reproduce\n[toys]\n[--help]\n");
}

#[test]
fn without_the_program_the_remedy_is_told() {
    let place = with_mercer();
    let remedy = ["mercer-reproduce", "cargo build --release --bin mercer-reproduce"];
    for line in ["reproduce", "reproduce toys --help"] {
        run(&place, line).fails(2, &remedy);
    }
    // help is told all the same
    let page = run(&place, "help reproduce").ok().out;
    assert!(page.contains("Usage: mercer reproduce") && page.contains(remedy[0]), "{page}");
    let said = run(&place, "reproduce --json").fails(2, &remedy);
    assert_eq!(said.document()["exit_code"], 2);
    // a file that is no program is named
    place.write("bin/mercer-reproduce", "");
    let path: PathBuf = place.path("bin/mercer-reproduce");
    run(&place, "reproduce").fails(3, &[&path.display().to_string()]);
}

#[test]
fn the_verb_is_listed_beside_the_others() {
    let place = Place::new();
    let help = place.run("--help").ok().out;
    assert!(help.lines().any(|line| line.trim_start().starts_with("reproduce ")), "{help}");
}
