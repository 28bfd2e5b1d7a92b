//! Models that were learned in memory, as Python's estimators save them: files are for them what their arrays were.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;
use mercer::data::View;
use mercer::prelude::*;

/// Forty examples of two classes.
fn rows() -> Vec<[f64; 2]> {
    (0..40).map(|i| [f64::from(i % 7) + 2.0 * f64::from(i % 2), 0.1 * f64::from(i % 11)]).collect()
}

fn target() -> Target {
    Target::from((0..40).map(|i| f64::from(i % 2)).collect::<Vec<f64>>())
}

fn data() -> Dataset {
    let rows = Rows::new(rows().concat(), 40, 2).unwrap();
    Dataset::new(rows).with_target(target()).unwrap()
}

fn csv(names: Option<&str>, with_target: bool, backwards: bool) -> String {
    let cells = |(i, row): (usize, [f64; 2])| {
        let inputs = if backwards { format!("{},{}", row[1], row[0]) } else { format!("{},{}", row[0], row[1]) };
        let label = if with_target { format!(",{}", i % 2) } else { String::new() };
        format!("{inputs}{label}\n")
    };
    let head = names.map(|names| format!("{names}\n")).unwrap_or_default();
    head + &rows().into_iter().enumerate().map(cells).collect::<String>()
}

#[test]
fn a_model_of_an_array_predicts_files_of_as_many_columns() {
    let place = Place::new();
    let model = Svc::default().fit(&rbf(0.5), &data()).unwrap();
    model.save(place.path("m.mercer")).unwrap();
    let told: Vec<String> = match model.predict(&data()).unwrap() {
        mercer::machines::Output::Labels { codes, labels, .. } => {
            codes.iter().map(|&c| labels[c as usize].clone()).collect()
        }
        _ => Vec::new(),
    };
    for (names, with_target) in
        [(None, false), (None, true), (Some("a,b"), false), (Some("a,b,y"), true), (Some("a,b,label"), true)]
    {
        place.write("t.csv", csv(names, with_target, false));
        assert_eq!(place.run("predict m.mercer t.csv").ok().lines()[1..], told, "{names:?}");
        if with_target {
            assert_eq!(place.json("evaluate m.mercer t.csv")["n"], 40, "{names:?}");
        }
    }
    place.write("t.csv", "1,2,3,4\n5,6,7,8\n");
    place.run("predict m.mercer t.csv").fails(3, &["2"]);
    place.write("t.csv", "a,b,c\n1,2,3\n4,5,6\n");
    place.run("predict m.mercer t.csv").fails(3, &["one more than the 2 coordinates", "call the target"]);
}

#[test]
fn a_model_of_a_frame_knows_columns_by_their_names() {
    let place = Place::new();
    let names = vec![("x".to_owned(), vec!["first".to_owned(), "second".to_owned()])];
    let model = Svc::default().fit(&rbf(0.5), &data()).unwrap().with_column_names(names);
    model.save(place.path("m.mercer")).unwrap();
    place.write("a.csv", csv(Some("first,second"), false, false));
    let told = place.run("predict m.mercer a.csv --scores");
    let told = told.ok();
    let told = told.lines();
    place.write("b.csv", csv(Some("second,first,kind"), true, true));
    assert_eq!(place.run("predict m.mercer b.csv --scores").ok().lines(), told);
    assert!(place.json("evaluate m.mercer b.csv")["error"].as_f64().unwrap() < 0.5);
    place.write("c.csv", csv(Some("first,other"), false, false));
    place.run("predict m.mercer c.csv").fails(3, &["there is no column \"second\""]);
}

#[test]
fn what_no_file_can_be_is_said() {
    let place = Place::new();
    let view = |name: &str, k: usize| {
        let column = rows().iter().map(|row| row[k]).collect();
        View { name: name.to_owned(), values: Rows::new(column, 40, 1).unwrap().into() }
    };
    let two = Dataset::from_views(vec![view("a", 0), view("b", 1)]).unwrap().with_target(target()).unwrap();
    let kernel: Formula = "rbf(gamma=0.5)@a + linear()@b".parse().unwrap();
    Svc::default().fit(&kernel, &two).unwrap().save(place.path("m.mercer")).unwrap();
    place.write("t.csv", csv(Some("a,b"), false, false));
    place.run("predict m.mercer t.csv").fails(2, &["several views", "had no names", "fit it on a frame"]);

    let words: Vec<String> = (0..40).map(|i| if i % 2 == 0 { "abab" } else { "bbaa" }.to_owned()).collect();
    let text = Dataset::from_views(vec![View { name: "x".to_owned(), values: words.clone().into() }]).unwrap();
    let kernel: Formula = "spectrum(length=2)".parse().unwrap();
    Svc::default().fit(&kernel, &text.with_target(target()).unwrap()).unwrap().save(place.path("s.mercer")).unwrap();
    place.write("s.csv", words.join("\n"));
    assert_eq!(place.run("predict s.mercer s.csv").ok().lines()[1..3], ["0", "1"]);
}

#[test]
fn training_examples_are_recognised_in_a_file_with_other_labels() {
    let place = Place::new();
    let words = ["no", "yes"];
    let coded = target().spelled([(0.0, words[0]), (1.0, words[1])]);
    let rows = Rows::new(rows().concat(), 40, 2).unwrap();
    let data = Dataset::new(rows).with_target(coded).unwrap();
    // rows that are equal are no evidence
    let job = Job::new(&Svc::default(), &rbf(0.5));
    job.run(&data, &mercer::watch::Silent).unwrap().save(place.path("m.mercer")).unwrap();
    let text = csv(None, true, false);
    let word = |line: &str| format!("{}{}\n", &line[..line.len() - 1], words[usize::from(line.ends_with('1'))]);
    place.write("t.csv", text.lines().map(word).collect::<Vec<_>>().concat());
    let said = place.run("evaluate m.mercer t.csv").ok();
    assert!(said.out.contains("40 training"), "{}", said.out);
    place.run("certify m.mercer t.csv").ok();
}
