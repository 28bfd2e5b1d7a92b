//! Outputs that are written, and those that are refused: outputs that are inputs, standard output that fails, names of any bytes, links, and
//! models that could not be read again.

use crate::common::{Place, ran};

/// A folder with a small table of two classes, and a model of it.
fn with_model() -> Place {
    let place = Place::with_banana(60);
    place.run("fit banana.csv --machine svc --probabilities platt -o m.mercer").ok();
    place
}

#[test]
fn an_output_that_is_an_input_is_refused_and_both_are_named() {
    let place = with_model();
    place.write("c.csv", place.read("banana.csv"));
    let (data, model) = (place.bytes("banana.csv"), place.bytes("m.mercer"));
    std::fs::hard_link(place.path("banana.csv"), place.path("hard.csv")).unwrap();
    for (line, named) in [
        ("fit banana.csv -m svc -o banana.csv", ["-o banana.csv", "DATA banana.csv"]),
        ("fit banana.csv -m svc -o ./banana.csv", ["-o ./banana.csv", "DATA banana.csv"]),
        ("fit banana.csv -m svc -o hard.csv", ["-o hard.csv", "DATA banana.csv"]),
        ("fit banana.csv -m oriented_kpca --noise c.csv -o c.csv", ["-o c.csv", "--noise c.csv"]),
        ("fit banana.csv -m svc --labels c.csv -o c.csv", ["-o c.csv", "--labels c.csv"]),
        ("select banana.csv -m svc --grid 'c=1|10' -o banana.csv", ["-o banana.csv", "DATA"]),
        ("select banana.csv -m svc --grid 'c=1|10' -o n.mercer --heat banana.csv", ["--heat banana.csv", "DATA"]),
        ("predict m.mercer banana.csv -o banana.csv", ["-o banana.csv", "DATA banana.csv"]),
        ("predict m.mercer banana.csv -o m.mercer", ["-o m.mercer", "MODEL m.mercer"]),
        (
            "predict m.mercer banana.csv --conformal 0.9 --calibration c.csv -o c.csv",
            ["-o c.csv", "--calibration c.csv"],
        ),
        ("convert banana.csv banana.csv --to libsvm", ["OUT banana.csv", "IN banana.csv"]),
        ("convert hard.csv banana.csv", ["OUT banana.csv", "IN hard.csv"]),
        ("gram banana.csv -o banana.csv", ["-o banana.csv", "DATA banana.csv"]),
        ("gram banana.csv --figure banana.csv", ["--figure banana.csv", "DATA banana.csv"]),
        ("export m.mercer -o m.mercer", ["-o m.mercer", "MODEL m.mercer"]),
        ("plot m.mercer banana.csv -o banana.csv", ["-o banana.csv", "DATA banana.csv"]),
        ("certify m.mercer banana.csv --held-out c.csv -o c.csv", ["-o c.csv", "--held-out c.csv"]),
        ("learning-curve banana.csv -m svc -o banana.csv", ["-o banana.csv", "DATA banana.csv"]),
        ("plan m.mercer banana.csv -o m.mercer", ["-o m.mercer", "MODEL m.mercer"]),
        ("measure banana.csv -o banana.csv", ["-o banana.csv", "DATA banana.csv"]),
    ] {
        place.run(line).fails(2, &[named[0], named[1], "the same file"]);
        assert_eq!((place.bytes("banana.csv"), place.bytes("m.mercer")), (data.clone(), model.clone()), "{line}");
    }
    place.run("gram banana.csv -o K.svg --figure ./K.svg").fails(2, &["-o", "--figure", "the same file"]);
    assert_eq!(place.files(), ["banana.csv", "c.csv", "hard.csv", "m.mercer"]);
    // an old output and a copy of the data are other files
    place.run("convert banana.csv c.csv").ok();
    place.run("fit banana.csv -m svc -o m.mercer").ok();
}

#[test]
fn a_model_that_could_not_be_read_again_is_not_written() {
    let place = Place::with(&[
        ("q.csv", "x,y\n1,1e154\n2,-1e154\n3,1.1e154\n4,0.2e154\n5,1e154\n6,-1e154\n"),
        ("classes.csv", "x,z,y\n1.7e308,1,a\n-1.7e308,2,b\n1.6e308,1,a\n-1.5e308,3,b\n1.2e308,1,a\n-1.1e308,2,b\n"),
        ("numbers.csv", "x,z,y\n1.7e308,1,1\n-1.7e308,2,2\n1.6e308,1,3\n-1.5e308,3,2\n1.2e308,1,1\n-1.1e308,2,2\n"),
        ("fair.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n"),
    ]);
    place.run("fit fair.csv -m svc -o m.mercer").ok();
    let old = place.bytes("m.mercer");
    for fit in [
        "q.csv -m ridge",
        "classes.csv -m knn",
        "classes.csv -m empirical_map",
        "numbers.csv -m knn_regression",
        "classes.csv -m logistic_regression --scale none",
        "classes.csv -m rbf_network --scale none",
        "numbers.csv -m rbf_network_regression --scale none",
    ] {
        let ran = place.run(&format!("fit {fit} -o m.mercer"));
        if ran.code == Some(0) {
            // where the fit is finite, its file must be one
            place.run("show m.mercer").ok();
            place.write("m.mercer", &old);
            continue;
        }
        ran.fails(4, &["not finite"]);
        assert_eq!(place.bytes("m.mercer"), old, "{fit}");
    }
    let ran = place
        .run("fit q.csv -m ridge --target y -o m.mercer")
        .fails(4, &["could not be read again", "loo_rmse", "not finite"]);
    assert!(ran.out.is_empty(), "{}", ran.out);
}

#[cfg(unix)]
mod on_unix {
    use super::*;
    use std::ffi::OsStr;
    use std::fs::{File, OpenOptions};
    use std::io::Write;
    use std::os::unix::ffi::OsStrExt;
    use std::process::{Command, Stdio};

    #[test]
    fn the_last_output_behind_a_link_is_the_input_too() {
        let place = with_model();
        std::os::unix::fs::symlink("banana.csv", place.path("soft.csv")).unwrap();
        place.run("fit banana.csv -m svc -o soft.csv").fails(2, &["-o soft.csv", "DATA banana.csv"]);
        place.run("predict m.mercer soft.csv -o banana.csv").fails(2, &["-o banana.csv", "DATA soft.csv"]);
    }

    #[test]
    fn a_full_standard_output_ends_every_verb_with_a_message() {
        let place = with_model();
        for line in [
            "predict m.mercer banana.csv",
            "predict m.mercer banana.csv --json",
            "predict m.mercer banana.csv -o -",
            "predict m.mercer banana.csv -o p.csv",
            "evaluate m.mercer banana.csv",
            "certify m.mercer banana.csv --json",
            "fit banana.csv -m svc -o n.mercer",
            "select banana.csv -m svc --grid 'c=1|10' -o n.mercer",
            "show m.mercer",
            "show banana.csv --json",
            "plan --certificate 0.1 --support 50",
            "data banana --n 20",
            "list machines",
            "list --json",
            "list --markdown",
            "help svc",
            "help",
            "--help",
            "fit --help",
            "--version",
            "convert banana.csv - --to csv",
            "gram banana.csv -o -",
            "gram banana.csv -o K.npy --json",
            "plot m.mercer banana.csv -o -",
            "export m.mercer -o - --format mercer",
            "quickstart --out steps",
        ] {
            let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
            let ran = ran(line, place.command(line).stdout(full).output().unwrap());
            ran.fails(3, &["standard output", "No space left"]);
        }
    }

    #[test]
    fn a_reader_that_goes_away_is_no_error() {
        let place = with_model();
        for line in [
            "data banana --n 200000",
            "predict m.mercer banana.csv",
            "list --json",
            "fit --help",
            "gram banana.csv -o -",
        ] {
            let mut child = place.command(line).spawn().unwrap();
            drop(child.stdout.take());
            let ran = ran(line, child.wait_with_output().unwrap());
            assert_eq!((ran.code, ran.err.contains("error")), (Some(0), false), "{line}: {}", ran.err);
        }
    }

    #[test]
    fn files_may_have_names_of_any_bytes() {
        let place = with_model();
        let (data, model) = (OsStr::from_bytes(b"d\xff.csv"), OsStr::from_bytes(b"m\xe9.mercer"));
        let out = OsStr::from_bytes(b"o\xff.csv");
        place.run("convert banana.csv d.csv").ok();
        std::fs::rename(place.path("d.csv"), place.path("").join(data)).unwrap();
        let run = |parts: &[&OsStr], more: &str| {
            let mut command = place.command("");
            command.args(parts).args(more.split_whitespace());
            ran(&format!("{parts:?}"), command.output().unwrap())
        };
        let word = OsStr::new;
        run(&[word("show"), data], "").ok();
        run(&[word("show"), data], "--json").ok();
        run(&[word("fit"), data, word("-o"), model], "-m svc --json").ok();
        run(&[word("select"), data, word("-o"), model], "-m svc --grid c=1|10").ok();
        run(&[word("predict"), model, data, word("-o"), out], "--json").ok();
        run(&[word("predict"), model, data], "").ok();
        run(&[word("evaluate"), model, data], "--json").ok();
        run(&[word("certify"), model, data], "").ok();
        run(&[word("convert"), data, out], "--json").ok();
        run(&[word("gram"), data, word("-o"), OsStr::from_bytes(b"K\xff.npy")], "").ok();
        run(&[word("plot"), model, data, word("-o"), OsStr::from_bytes(b"p\xff.svg")], "").ok();
        run(&[word("export"), model, word("-o"), OsStr::from_bytes(b"e\xff.model")], "").ok();
        run(&[word("quickstart"), word("--out"), OsStr::from_bytes(b"q\xff")], "--json").ok();
        run(&[word("show"), OsStr::from_bytes(b"none\xff.csv")], "").fails(3, &["No such file"]);
        run(&[word("predict"), model, data, word("-o"), data], "").fails(2, &["the same file"]);
        run(&[word("help"), OsStr::from_bytes(b"\xff")], "").fails(2, &[]);
    }

    #[test]
    fn links_stay_and_modes_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let place = with_model();
        std::os::unix::fs::symlink("m.mercer", place.path("latest")).unwrap();
        std::fs::set_permissions(place.path("m.mercer"), std::fs::Permissions::from_mode(0o640)).unwrap();
        let old = place.bytes("m.mercer");
        place.run("fit banana.csv -m svc --c 100 -o latest").ok();
        assert!(place.path("latest").is_symlink());
        assert_ne!(place.bytes("m.mercer"), old);
        assert_eq!(std::fs::metadata(place.path("m.mercer")).unwrap().permissions().mode() & 0o777, 0o640);
        place.run("predict latest banana.csv -o /dev/null").ok();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_bar_is_standard_input_or_output() {
        let place = with_model();
        let piped = |line: &str, input: &[u8]| {
            let mut child = place.command(line).stdin(Stdio::piped()).spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            let input = input.to_vec();
            let feeding = std::thread::spawn(move || stdin.write_all(&input));
            let output = child.wait_with_output().unwrap();
            let _ = feeding.join().unwrap();
            output
        };
        let data = place.bytes("banana.csv");
        let told = |line: &str, input: &[u8]| ran(line, piped(line, input));
        told("fit - -m svc --probabilities platt -o n.mercer", &data).ok();
        assert_eq!(place.bytes("n.mercer"), place.bytes("m.mercer"));
        let predictions = place.run("predict m.mercer banana.csv").ok().out;
        assert_eq!(told("predict m.mercer -", &data).ok().out, predictions);
        assert_eq!(told("predict m.mercer - -o -", &data).ok().out, predictions);
        assert_eq!(told("predict m.mercer - -o /dev/stdout", &data).ok().out, predictions);
        assert_eq!(told("predict m.mercer - --format csv", &crate::common::gzip(&data)).ok().out, predictions);
        // reports make room for data
        let converted = told("convert - - --to csv", &data).ok();
        assert_eq!(converted.out, place.read("banana.csv"));
        assert!(converted.err.contains("examples"), "{}", converted.err);
        assert!(told("plot m.mercer - -o -", &data).ok().out.starts_with("<svg"));
        assert!(piped("gram - -o -", &data).stdout.starts_with(b"\x93NUMPY"));
        assert_eq!(piped("fit banana.csv -m svc --probabilities platt -o -", b"").stdout, place.bytes("m.mercer"));
        assert!(!place.has("-"));
        // one file on standard input, one on standard output, and only there
        told("predict m.mercer - --conformal 0.9 --calibration -", &data).fails(2, &["both standard input"]);
        told("gram - -o - --figure -", &data).fails(2, &["both standard output"]);
        told("predict m.mercer - -o - --json", &data).fails(2, &["--json", "standard output"]);
        told("predict - banana.csv", &place.bytes("m.mercer")).fails(3, &["not read from standard input"]);
        told("fit - -m svc -o x.mercer", b"").fails(3, &["standard input", "no examples"]);
        told("convert - -", &data).fails(2, &["--to"]);
    }

    #[test]
    fn data_that_a_shell_gives_or_takes_are_inputs_and_outputs_as_well() {
        let place = with_model();
        let data = place.bytes("banana.csv");
        let input = File::open(place.path("banana.csv")).unwrap();
        let line = "convert - banana.csv --to csv";
        let refused = ran(line, place.command(line).stdin(input).output().unwrap());
        refused.fails(2, &["OUT banana.csv", "the same file"]);
        let appended = OpenOptions::new().append(true).open(place.path("banana.csv")).unwrap();
        let line = "predict m.mercer banana.csv";
        let refused = ran(line, place.command(line).stdout(appended).output().unwrap());
        refused.fails(2, &["standard output goes to DATA banana.csv"]);
        assert_eq!(place.bytes("banana.csv"), data);
    }

    #[test]
    fn a_pipe_is_written_to() {
        let place = with_model();
        assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
        let pipe = place.path("pipe");
        let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap());
        place.run("predict m.mercer banana.csv -o pipe").ok();
        assert_eq!(reader.join().unwrap(), place.run("predict m.mercer banana.csv").ok().out);
        assert!(!std::fs::metadata(place.path("pipe")).unwrap().is_file());
    }
}

#[test]
fn what_a_terminal_would_obey_is_shown_and_not_sent() {
    let (red, clear) = ("\u{1b}[31m", "\u{1b}]0;title\u{7}");
    let header = format!("a{red},b{clear},y");
    let rows = format!("1,2,u{red}\n2,1,v\u{9b}2J\n3,1,u{red}\n4,2,v\u{9b}2J\n5,2,u{red}\n6,1,v\u{9b}2J\n");
    let place = Place::with(&[("esc.csv", &format!("{header}\n{rows}"))]);
    let raw = |text: &str| text.contains(|c: char| c.is_control() && c != '\n');
    for line in [
        "show esc.csv".to_owned(),
        "fit esc.csv -m svc -o m.mercer".to_owned(),
        "show m.mercer".to_owned(),
        "evaluate m.mercer esc.csv".to_owned(),
        "select esc.csv -m svc --grid 'c=1|10' --folds 2 -o n.mercer".to_owned(),
    ] {
        let ran = place.run(&line).ok();
        assert!(!raw(&ran.out) && !raw(&ran.err), "{line}\n{:?}\n{:?}", ran.out, ran.err);
    }
    assert!(place.run("show esc.csv").ok().out.contains("a\\u{1b}[31m"));
    for line in [format!("fit esc.csv -m svc --target '{red}' -o m"), format!("show '{red}.csv'")] {
        let ran = place.run(&line).fails(3, &["\\u{1b}[31m"]);
        assert!(!raw(&ran.err), "{line}\n{:?}", ran.err);
    }
    let ran = place.run(&format!("show --wrong{red}")).fails(2, &["--wrong"]);
    assert!(!raw(&ran.err), "{:?}", ran.err);
    // a pipe takes data as they are
    assert!(place.run("predict m.mercer esc.csv").ok().out.contains(red));
}
