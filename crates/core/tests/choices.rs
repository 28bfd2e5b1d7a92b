//! Help offers nothing that a fit refuses: each word and each end of a range is accepted somewhere.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::error::Blame;
use mercer::job::Job;
use mercer::machines::{self, Learns, MachineEntry};
use mercer::params::{Described, describe};
use mercer::prelude::*;
use mercer::watch::Silent;

fn data(learns: Learns) -> Dataset {
    let mut random = Seed(8).stream("choices");
    let n = 36;
    let values = (0..2 * n).map(|i| random.normal() + if i % 4 < 2 { 1.5 } else { 0.0 }).collect();
    let rows = Rows::new(values, n, 2).unwrap();
    let target = match learns {
        Learns::Classes => Target::from((0..n).map(|i| ["a", "b"][i % 2].to_owned()).collect::<Vec<_>>()),
        _ => Target::from((0..n).map(|i| rows.row(i)[0].sin()).collect::<Vec<f64>>()),
    };
    Dataset::new(rows).with_target(target).unwrap()
}

/// The sentence of a fit that refuses its parameters, with both a kernel that has features and one that has none.
fn refusal(entry: &'static MachineEntry, arguments: &[&str], data: &Dataset) -> Option<String> {
    let text = format!("{}({})", entry.name, arguments.join(", "));
    let settings = machines::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}")).settings;
    let mut last = None;
    for kernel in ["rbf(gamma=0.5)", "linear"] {
        let job = Job { settings: settings.clone(), ..Job::of(entry, kernel.parse().unwrap()) };
        match job.run(data, &Silent) {
            Err(error) if error.blame() == Blame::Usage => last = Some(error.to_string()),
            _ => return None,
        }
    }
    last
}

/// The ends of a range that belong to it.
fn ends(rule: &str) -> Vec<String> {
    let number = |text: &str| text.parse::<f64>().is_ok();
    let words: Vec<&str> = rule.split(' ').collect();
    let all: Vec<&str> = match words.as_slice() {
        ["≥", low, ..] => vec![low],
        ["between", low, "and", high] => vec![low, high],
        [">", _, "and", "≤", high] => vec![high],
        _ => Vec::new(),
    };
    all.into_iter().filter(|end| number(end)).map(str::to_owned).collect()
}

#[test]
fn every_word_and_every_end_of_a_range_is_accepted_somewhere() {
    let mut tried = 0;
    for entry in machines::all() {
        let data = data(entry.learns);
        if refusal(entry, &[], &data).is_some() {
            continue; // it needs more than one view
        }
        let described: Vec<Described> = describe((entry.make)().as_mut());
        let options: Vec<(&str, String)> = described
            .iter()
            .filter(|d| d.spelling_of.is_none())
            .flat_map(|d| {
                let words = d.words.iter().map(|word| (*word).to_owned()).chain(ends(&d.rule));
                words.map(|word| (d.name, format!("{}={word}", d.name))).collect::<Vec<_>>()
            })
            .collect();
        for (name, option) in &options {
            tried += 1;
            let Some(told) = refusal(entry, &[option], &data) else { continue };
            let with_another = options.iter().filter(|(other, _)| other != name);
            let accepted = with_another.into_iter().any(|(_, other)| refusal(entry, &[option, other], &data).is_none());
            assert!(accepted, "{}: {option} is offered and refused: {told}", entry.name);
        }
    }
    assert!(tried > 150, "{tried}");
}
