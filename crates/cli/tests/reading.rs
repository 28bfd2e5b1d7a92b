//! What is read is what the file has: labels of their own, first lines, marks, delimiters, and nothing written into it.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::{Place, npy_bytes};

#[test]
fn labels_of_a_file_are_not_those_of_another() {
    let place = Place::new();
    let digits = |n: usize, shift: usize| -> (Vec<u8>, Vec<u8>) {
        let mut images = vec![0, 0, 8, 2, 0, 0, 0, n as u8, 0, 0, 0, 2];
        let mut labels = vec![0, 0, 8, 1, 0, 0, 0, n as u8];
        for i in 0..n {
            images.extend([((i * 37 + shift) % 100) as u8, (i % 2 * 120 + (i * 11 + shift) % 50) as u8]);
            labels.push((i % 2) as u8);
        }
        (images, labels)
    };
    for (name, n, shift) in [("train", 60, 0), ("fresh", 40, 3)] {
        let (images, labels) = digits(n, shift);
        place.write(&format!("{name}.idx"), images);
        place.write(&format!("{name}-labels.idx"), labels);
    }
    place.run("fit train.idx --labels train-labels.idx -m svc -o m.mercer").ok();
    let line = "certify m.mercer train.idx --labels train-labels.idx --held-out fresh.idx";
    place.run(line).fails(2, &["the held-out examples have no target"]);
    place.run(&format!("{line} --held-out-labels fresh-labels.idx")).ok();
    // examples of which only the inputs are looked at need no labels
    let line = "certify m.mercer train.idx --labels train-labels.idx --unlabelled fresh.idx";
    let said = place.run(line);
    assert!(!said.err.contains("train-labels.idx"), "{}", said.err);
}

#[test]
fn a_report_is_not_appended_to_the_file_that_is_read() {
    let place = Place::with_banana(60);
    let before = place.read("banana.csv");
    let program = crate::PROGRAM;
    let script = format!("'{program}' fit banana.csv -m svc -o m.mercer >> banana.csv");
    let mut command = std::process::Command::new("sh");
    let output = command.current_dir(place.path(".")).args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(place.read("banana.csv") == before && !place.has("m.mercer"));
}

#[test]
fn sizes_beyond_memory_are_refused_in_words() {
    let place = Place::new();
    for name in ["banana", "ringnorm", "twonorm", "waveform", "two_moons", "noisy_sinc", "dna_motifs"] {
        for n in ["18446744073709551615", "2305843009213693951"] {
            place.run(&format!("data {name} --n {n} -o x.csv")).fails(4, &["--n", name]);
        }
    }
    place.run("data wdbc --n 18446744073709551615").fails(2, &["has 569 examples"]);
}

#[test]
fn marks_in_columns_of_words_are_their_spelling_from_fit_to_predict() {
    let place = Place::with(&[
        ("a.csv", "x,country,y\n1,NA,u\n2,DE,v\n1,NA,u\n3,DE,v\n1,NA,u\n2,DE,v\n"),
        ("new.csv", "x,country\n1,NA\n2,DE\n"),
        ("gap.csv", "x,country\n1,\n2,DE\n"),
    ]);
    place.run("fit a.csv -m svc --categorical country -o m.mercer").ok();
    assert_eq!(place.run("predict m.mercer new.csv").ok().lines(), ["prediction", "u", "v"]);
    place.run("predict m.mercer gap.csv").fails(3, &["missing"]);
    // whoever names the mark means a gap, and so does who says nothing
    place.run("fit a.csv -m svc --categorical country --missing-words NA -o n.mercer").fails(3, &["missing"]);
    place.run("fit a.csv -m svc -o n.mercer").fails(3, &["missing"]);
}

#[test]
fn what_was_guessed_of_a_first_line_is_told_with_the_flag_and_in_documents() {
    let place = Place::with(&[("seq.txt", "acgtacgt\nacgtaaaa\nttttacgt\ngggtacgt\nccctacga\n")]);
    let said = place.run("gram seq.txt --target none -k 'spectrum(length=2)' -o K.npy --json").ok();
    assert!(said.err.contains("--header true"), "{}", said.err);
    assert_eq!(said.document()["n"], 5);
    assert!(said.document()["file_notes"][0].as_str().is_some_and(|note| note.contains("--header true")));
    let said = place.run("gram seq.txt --target none -k 'spectrum(length=2)' -o K.npy --header false").ok();
    assert!(!said.err.contains("note:"), "{}", said.err);
}

/// Converts a file to CSV on standard output: what is written, and what is said.
fn converted(name: &str, content: impl AsRef<[u8]>) -> (String, String) {
    let place = Place::new();
    place.write(name, content);
    let said = place.run(&format!("convert {name} out.csv")).ok();
    (place.read("out.csv"), said.err)
}

#[test]
fn what_convert_changes_or_leaves_out_is_told() {
    let whole: Vec<u8> = [1_i64, 9_007_199_254_740_993].iter().flat_map(|v| v.to_le_bytes()).collect();
    let (_, said) = converted("a.npy", npy_bytes("<i8", &[2, 1], whole));
    assert!(
        said.contains("row 2, column x[1]: 9007199254740993") && said.contains("save such numbers as text"),
        "{said}"
    );
    let (_, said) =
        converted("a.jsonl", "{\"v\": [9007199254740993, 1], \"y\": \"a\"}\n{\"v\": [1, 2], \"y\": \"b\"}\n");
    assert!(said.contains("line 1, column \"v\": 9007199254740993"), "{said}");
    let (text, said) =
        converted("b.jsonl", "{\"id\": 1, \"a\": null, \"y\": \"NA\"}\n{\"id\": 2, \"a\": null, \"y\": \"v\"}\n");
    assert_eq!(text, "id,y\n1,NA\n2,v\n");
    assert!(said.contains("\"a\" has no value on any line") && said.contains("the word NA"), "{said}");
    let (_, said) = converted("c.jsonl", "{\"b\": true, \"y\": 1}\n{\"b\": false, \"y\": 2}\n");
    assert!(said.contains("true and false in column \"b\""), "{said}");
    let (_, said) = converted("q.svm", "2 qid:1 1:3 2:1\n1 qid:2 1:1\n");
    assert!(said.contains("qid"), "{said}");
    // line ends inside of a cell are those of the file, and what is whole is not talked about
    let (text, said) = converted("r.csv", "a,y\r\n\"l1\r\nl2\",u\r\n\"l3\nl4\",v\r\n");
    assert_eq!(text, "a,y\n\"l1\r\nl2\",u\n\"l3\nl4\",v\n");
    assert!(!said.contains("note:"), "{said}");
}

#[test]
fn an_unfinished_fit_does_not_replace_a_finished_model() {
    let place = Place::with_banana(4000);
    place.run("fit banana.csv -m svc --probabilities platt -o m.mercer").ok();
    let before = place.bytes("m.mercer");
    let said = place.run("fit banana.csv -m svc --c 1e6 --tolerance 1e-12 --max-seconds 0.005 -o m.mercer").ok();
    assert!(place.bytes("m.mercer") == before && place.has("m.unfinished.mercer"), "{}", said.err);
    assert!(said.err.contains("m.mercer is a finished model and is as it was"), "{}", said.err);
    // where there was none, or only another that is unfinished, the name is the one that was asked for
    for _ in 0..2 {
        place.run("fit banana.csv -m svc --c 1e6 --tolerance 1e-12 --max-seconds 0.005 -o n.mercer").ok();
    }
    assert!(place.has("n.mercer") && !place.has("n.unfinished.mercer"));
}

#[test]
fn an_output_is_what_its_name_says() {
    let place = Place::with_banana(40);
    place.run("fit banana.csv -m svc -o m.mercer").ok();
    place.run("predict m.mercer banana.csv -o p.csv").ok();
    for line in
        ["predict m.mercer banana.csv -o p.csv.gz", "data iris -o iris.csv.gz", "gram banana.csv -k linear -o K.npy.gz"]
    {
        let said = place.run(line).ok();
        let name = line.rsplit(' ').next().unwrap();
        assert!(place.bytes(name).starts_with(&[0x1f, 0x8b]), "{line}: {}", said.err);
    }
    place.run("convert p.csv.gz q.csv").ok();
    assert_eq!(place.read("q.csv"), place.read("p.csv"));
    place.run("data iris -o iris.tsv").ok();
    assert!(place.read("iris.tsv").lines().next().unwrap().contains('\t'));
    for line in [
        "predict m.mercer banana.csv -o p.jsonl",
        "predict m.mercer banana.csv -o p.csv.zst",
        "data iris -o iris.npy",
        "gram banana.csv -k linear -o K.csv",
    ] {
        place.run(line).fails(2, &["the name promises"]);
        assert!(!place.has(line.rsplit(' ').next().unwrap()), "{line}");
    }
    place.run("predict m.mercer banana.csv --with-target --json").fails(2, &["--with-target", "--json"]);
}

#[test]
fn repeats_without_end_are_refused_or_stopped() {
    let place = Place::with_banana(60);
    let line = "learning-curve banana.csv -m svc --max-seconds 0.5 --repeats";
    place.run(&format!("{line} 1000000000000")).fails(4, &["--repeats"]);
    let started = std::time::Instant::now();
    let said = place.run(&format!("{line} 1000000 --memory 1000G"));
    assert!(started.elapsed() < std::time::Duration::from_secs(30), "{}", said.err);
}

#[test]
fn a_class_that_weighs_nothing_is_refused_by_every_machine_that_weighs() {
    let place = Place::with(&[("w.csv", "a,b,w,y\n1,2,0,u\n3,4,0,u\n1,1,1,v\n2,2,1,v\n")]);
    for machine in ["svc", "linear_svc", "kernel_logistic", "adaboost", "kfd"] {
        let line = format!("fit w.csv -m {machine} --weights w --target y -o m.mercer");
        place.run(&line).fails(2, &["no example of class u has a weight above zero"]);
    }
    place.run("fit w.csv -m svc --drop w --target y --class-weight u:0 -o m.mercer").fails(2, &["weights above zero"]);
}

#[test]
fn the_report_names_the_target_and_numbers_are_finite_or_words() {
    let place = Place::with(&[("t.csv", "label,x1,x2\nu,1.5,2\nv,2.5,3\nu,1.7,1\nv,2.9,4\n")]);
    let said = place.run("fit t.csv -m svc --target label -o m.mercer").ok();
    assert!(
        said.out.lines().any(|line| line.trim_start().starts_with("target") && line.ends_with("label")),
        "{}",
        said.out
    );
    let said = place.run("fit t.csv -m svc --target label --c 1e999 -o n.mercer");
    assert!(said.code != Some(0) && !place.has("n.mercer"), "{}", said.out);
}

#[test]
fn options_that_say_nothing_are_told() {
    let place = Place::with(&[("l.svm", "1 1:2 2:-1\n-1 1:-1 2:0.2\n1 1:3 2:1\n-1 2:1\n")]);
    let said = place.run("fit l.svm --header true -m svc -o m.mercer").ok();
    assert!(said.err.contains("l.svm is libsvm, which needs neither"), "{}", said.err);
    place.run("certify m.mercer l.svm --target-range 0,abc,1").fails(2, &["two numbers"]);
}

#[test]
fn what_is_no_number_for_a_reason_is_told_by_that_reason() {
    let refused = |name: &str, content: &[u8], parts: &[&str]| {
        let place = Place::new();
        place.write(name, content);
        place.run(&format!("fit {name} -m svc -o m.mercer")).fails(3, parts);
    };
    refused(
        "a.csv",
        b"x,y\n\"1,234\",a\n\"2,500\",b\n\"1,100\",a\n",
        &["1.234 if it is a decimal comma", "1234 if it parts thousands"],
    );
    refused("a.csv.xz", b"\xfd7zXZ\0\0\x04", &["compressed by xz", "unxz"]);
    refused("a.csv.bz2", b"BZh91AY&SY", &["compressed by bzip2"]);
    for cells in
        ["5%|7%|9%", "1 000|2 000|3 000", "0x1f|0x2a|0x11", "\u{2212}1|\u{2212}2|\u{2212}3", "12:30|13:45|09:10"]
    {
        let rows: Vec<String> =
            cells.split('|').zip(["a", "b", "a"]).map(|(cell, y)| format!("{cell},{y}\n")).collect();
        let place = Place::with(&[("a.csv", &format!("x,y\n{}", rows.concat()))]);
        let said = place.run("fit a.csv -m svc -o m.mercer").ok();
        assert!(said.err.contains("numbers to people"), "{cells}: {}", said.err);
    }
}

#[test]
fn what_is_cut_short_is_saved_under_a_name_that_nothing_has() {
    let place = Place::with_banana(60);
    place.run("fit banana.csv -m svc -o m.csv").ok();
    // the data have the very name that a fit which is cut short would take
    let data = place.read("banana.csv");
    place.write("m.unfinished.csv", &data);
    let said = place.run("fit m.unfinished.csv -m svc --max-seconds 0 -o m.csv");
    assert!(place.read("m.unfinished.csv") == data && place.has("m.unfinished-2.csv"), "{}", said.err);
    assert!(said.err.contains("m.unfinished-2.csv"), "{}", said.err);
}

#[test]
fn files_of_other_columns_are_told_from_those_of_the_model() {
    let place = Place::with(&[
        ("t.svm", "0 1:1 2:5\n1 1:9 2:4\n0 1:2 2:5\n1 1:8 2:4\n"),
        ("id.csv", "id,a,b\n0,1,5\n1,9,4\n"),
        ("label.csv", "label,a,b\n0,1,5\n1,9,4\n"),
        ("y.csv", "y,a,b\n0,1,5\n1,9,4\n"),
        ("last.csv", "1,5,0\n9,4,1\n"),
    ]);
    place.run("fit t.svm -m svc -o m").ok();
    place.run("predict m id.csv").fails(3, &["one more than the 2 coordinates", "call the target \"y\""]);
    let said = place.run("predict m label.csv").ok();
    assert!(said.err.contains("\"label\" of label.csv is taken for the target by its name"), "{}", said.err);
    assert_eq!(said.lines()[1..], ["0", "1"]);
    assert_eq!(place.run("predict m y.csv").ok().lines()[1..], ["0", "1"]);
    let said = place.run("predict m last.csv").ok();
    assert!(said.err.contains("the last one is taken for the target"), "{}", said.err);
    assert_eq!(said.lines()[1..], ["0", "1"]);
}

#[test]
fn columns_with_commas_in_their_names_are_named() {
    let place = Place::with(&[("a.csv", "a,\"income, EUR\",\"zip,code\"\n1,10,01\n2,20,1\n3,30,2\n4,40,01\n")]);
    place.run("fit a.csv -m ridge --target 'income, EUR' --categorical zip,code -o m").ok();
    let shown = place.json("show m").to_string();
    assert!(shown.contains("income, EUR"), "{shown}");
    place.run("predict m a.csv").ok();
    place.run("show a.csv --columns 'a,income, EUR'").ok();
}

#[test]
fn a_named_number_is_missing_in_every_spelling() {
    let place =
        Place::with(&[("a.csv", "x,y\n-999.0,1\nn/a,2\n2,3\n3,4\n-999,5\n4,6\n"), ("b.csv", "x,y\n2,3\n3,4\n4,6\n")]);
    let fit = |file: &str| place.fitted(&format!("{file} -m ridge --missing drop --missing-words -999"), "b.csv");
    assert_eq!(fit("a.csv"), fit("b.csv"));
}

#[test]
fn cells_of_several_lines_are_no_lines() {
    for (delimiter, name) in [(';', "a.csv"), ('|', "a.txt"), (',', "c.csv")] {
        let row = |i: usize| {
            let label = ["a", "b"][i % 2];
            format!("{i}{delimiter}\"one\ntwo; {i}\"{delimiter}{}{delimiter}{label}\n", 3 * i)
        };
        let names = ["id", "note", "x", "y"].join(&delimiter.to_string());
        let text: String = std::iter::once(format!("{names}\n")).chain((0..30).map(row)).collect();
        let place = Place::with(&[(name, &text)]);
        assert_eq!(place.json(&format!("show {name}"))["n"], 30, "{name}");
        place.run(&format!("split {name} --test 0.3 --train-file t.csv --test-file h.csv")).ok();
        let (train, test) = (place.read("t.csv"), place.read("h.csv"));
        assert_eq!(train.matches("\"one\ntwo").count() + test.matches("\"one\ntwo").count(), 30);
        assert_eq!(train.len() + test.len(), text.len() + names.len() + 1, "every row is in one of them, whole");
        place.run(&format!("convert {name} again.csv")).ok();
        assert_eq!(place.read("again.csv").matches("\"one\ntwo").count(), 30);
    }
}
