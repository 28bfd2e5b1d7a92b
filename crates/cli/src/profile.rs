//! The part of its scores that every position of a string adds: `mercer predict --profile` writes it.

use crate::predict::cell;
use crate::report;
use mercer::data::{Dataset, Kind, Values};
use mercer::machines::{PartNames, Readout};
use mercer::model::Model;
use mercer_terminal::Failure;
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// The columns: one for each score, named as `--scores` names them where there is one for each class.
fn names(readout: &Readout) -> Vec<String> {
    match readout {
        Readout::Values { names } | Readout::Coordinates { names } | Readout::Clusters { names } => names.clone(),
        Readout::ArgMax { labels } | Readout::LabelSets { labels } => labels.clone(),
        Readout::Order => vec!["order".to_owned()],
        Readout::Parts(parts) => parts.iter().flat_map(part_columns).collect(),
        Readout::Novelty => vec!["inlier".to_owned()],
        // one score for each pair, positive for the first
        Readout::Vote { labels } => labels
            .iter()
            .enumerate()
            .flat_map(|(a, first)| labels[a + 1..].iter().map(move |second| format!("{first}_against_{second}")))
            .collect(),
    }
}

/// The columns of one part: its name alone where it has one coordinate.
pub(crate) fn part_columns(part: &PartNames) -> Vec<String> {
    match part.coordinates.as_slice() {
        [_] => vec![part.name.clone()],
        several => several.iter().map(|coordinate| format!("{}_{coordinate}", part.name)).collect(),
    }
}

/// The strings that the kernel looks at.
fn strings<'a>(model: &Model, data: &'a Dataset) -> Option<&'a [String]> {
    let wanted = model.kernel().views();
    let (name, _) = wanted.iter().find(|(_, kind)| *kind == Kind::Text)?;
    data.views().iter().find_map(|view| match &view.values {
        Values::Text(text) if name.is_none_or(|n| n == view.name) => Some(text.as_slice()),
        _ => None,
    })
}

/// Writes or prints the table.
pub(crate) fn tell(model: &Model, data: &Dataset, file: Option<&Path>, json: bool) -> Result<(), Failure> {
    // one example first, so that a model without positions is refused before a file is begun
    if !data.is_empty() {
        model.profile(data, 0)?;
    }
    let mut failed = None;
    let mut write = |out: &mut dyn Write| write_csv(out, model, data, &mut failed);
    let written = match file {
        Some(path) => crate::promise::write(path, &mut write),
        None if json => return Err(Failure::usage("--profile with --json needs -o FILE.csv, where the table goes")),
        None => {
            report::print_file(&mut write);
            Ok(())
        }
    };
    if let Some(error) = failed {
        return Err(mercer::Error::into(error));
    }
    written?;
    match file {
        Some(path) if json => report::print_json(
            &json!({"machine": model.machine(), "n": data.len(), "output": path.display().to_string()}),
        ),
        Some(path) => report::print(&report::facts(&[
            ("examples", data.len().to_string()),
            ("profile", path.display().to_string()),
        ])),
        None => {}
    }
    Ok(())
}

/// One line for each position of each example: row of the file and position from one, the character, its share in the scores.
fn write_csv(
    out: &mut dyn Write,
    model: &Model,
    data: &Dataset,
    failed: &mut Option<mercer::Error>,
) -> std::io::Result<()> {
    let header: Vec<String> =
        names(&model.fitted().readout).iter().map(|name| cell(&format!("share_{name}"))).collect();
    writeln!(out, "row,position,character,{}", header.join(","))?;
    let strings = strings(model, data);
    for i in 0..data.len() {
        let profile = model.profile(data, i).map_err(|error| {
            *failed = Some(error);
            std::io::Error::other("no profile")
        })?;
        let mut letters = strings.and_then(|all| all.get(i)).map(|s| s.chars()).into_iter().flatten();
        for (k, line) in profile.chunks_exact(header.len().max(1)).enumerate() {
            let letter = letters.next().map(String::from).unwrap_or_default();
            let shares: Vec<String> = line.iter().map(ToString::to_string).collect();
            writeln!(out, "{},{},{},{}", i + 1, k + 1, cell(&letter), shares.join(","))?;
        }
    }
    out.flush()
}
