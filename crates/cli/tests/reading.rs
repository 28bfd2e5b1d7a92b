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
    place.run(line).fails(3, &["fresh.idx"]);
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
    place.run("data wdbc --n 18446744073709551615").fails(3, &["has 569 examples"]);
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
