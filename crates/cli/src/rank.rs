//! The most unusual examples first: what `mercer predict --rank` prints.

use crate::report;
use mercer::machines::{Output, Readout};
use mercer::model::Model;
use mercer_terminal::Failure;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// An example in the list.
struct Place<'a> {
    /// Its row in the file, from one.
    row: usize,
    /// Low for unusual examples, below zero for outliers.
    score: f64,
    /// `inlier` or `outlier`.
    label: &'a str,
}

/// Checks that the model ranks at all.
pub(crate) fn check(model: &Model) -> Result<(), Failure> {
    match model.fitted().readout {
        Readout::Novelty => Ok(()),
        _ => Err(Failure::usage(format!(
            "--rank is for models of what is usual (one_class, svdd), and this is {}; use --scores",
            model.machine()
        ))),
    }
}

/// The first `count` examples by rising score; equal scores in the order of the file.
fn ranked(output: &Output, count: usize) -> Vec<Place<'_>> {
    let Output::Labels { labels, codes, scores, .. } = output else { return Vec::new() };
    let mut all: Vec<Place<'_>> = codes
        .iter()
        .zip(scores.chunks_exact(labels.len().max(1)))
        .enumerate()
        .map(|(i, (&code, row))| Place { row: i + 1, score: row[0], label: &labels[code as usize] })
        .collect();
    all.sort_by(|a, b| a.score.total_cmp(&b.score).then(a.row.cmp(&b.row)));
    all.truncate(count);
    all
}

/// Writes or prints the list.
pub(crate) fn tell(
    model: &Model,
    output: &Output,
    count: usize,
    file: Option<&Path>,
    json: bool,
    seconds: &Value,
) -> Result<(), Failure> {
    let list = ranked(output, count);
    if let Some(path) = file {
        crate::promise::write(path, |out| write_csv(out, &list))?;
    }
    if json {
        let mut document = json!({"machine": model.machine(), "n": output.len(), "seconds": seconds});
        match file {
            Some(path) => document["output"] = json!(path.display().to_string()),
            None => {
                let entry = |(k, p): (usize, &Place<'_>)| json!({"rank": k + 1, "row": p.row, "score": p.score, "prediction": p.label});
                document["ranking"] = list.iter().enumerate().map(entry).collect();
            }
        }
        report::print_json(&document);
    } else if let Some(path) = file {
        report::print(&report::facts(&[
            ("examples", output.len().to_string()),
            ("ranking", path.display().to_string()),
        ]));
    } else {
        let line = |(k, p): (usize, &Place<'_>)| {
            vec![(k + 1).to_string(), p.row.to_string(), report::short(p.score), p.label.to_owned()]
        };
        let rows: Vec<Vec<String>> = list.iter().enumerate().map(line).collect();
        report::print(&report::table(&["rank", "row", "score", "prediction"], &rows, true));
    }
    Ok(())
}

fn write_csv(out: &mut dyn Write, list: &[Place<'_>]) -> std::io::Result<()> {
    writeln!(out, "rank,row,score,prediction")?;
    for (k, place) in list.iter().enumerate() {
        writeln!(out, "{},{},{},{}", k + 1, place.row, place.score, place.label)?;
    }
    out.flush()
}
