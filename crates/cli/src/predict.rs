//! `mercer predict`: what a model says about new examples.

use crate::input::ToPredict;
use crate::{Verb, arguments, batches, conformal, input, profile, promise, rank, report};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::conformal::Regions;
use mercer::data::Dataset;
use mercer::data::write::write_npy;
use mercer::machines::{Output, PartOutput, Variances};
use mercer::model::Model;
use mercer_terminal::Failure;
use serde_json::{Map, json};
use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    let command = Command::new("predict")
        .about("Predict new examples; the file may have the target column or not")
        .after_help(
            "Examples:\n  mercer predict model.mercer new.csv --scores -o predictions.csv\n  \
             mercer predict price.mercer new.csv --conformal 0.9\n  \
             mercer predict any.mercer new.csv --conformal 0.9 --calibration heldout.csv\n  \
             mercer predict usual.mercer new.csv --rank 10\n  \
             mercer predict map.mercer train.csv --with-target -o coordinates.csv\n  \
             mercer predict splice.mercer new.fa --profile -o profile.csv",
        )
        .arg(arguments::path("MODEL", "Model file"))
        .arg(arguments::path("DATA", "Data file"))
        .arg(arguments::output(
            "FILE.csv",
            "CSV file to write, or NPY where it is named so and numbers are predicted [default: standard output]",
        ))
        .arg(
            Arg::new("scores")
                .long("scores")
                .action(ArgAction::SetTrue)
                .help("Append a column score_<label> for each class; the largest is the prediction"),
        )
        .arg(
            Arg::new("probabilities")
                .long("probabilities")
                .action(ArgAction::SetTrue)
                .help("Append a column probability_<label> for each class, if the model has learned probabilities"),
        )
        .arg(
            Arg::new("deviations")
                .long("deviations")
                .action(ArgAction::SetTrue)
                .help("Append a column deviation with the standard deviation of each number, if the model knows it"),
        )
        .arg(
            Arg::new("rank")
                .long("rank")
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..))
                .conflicts_with_all(["scores", "probabilities"])
                .help(
                    "List the N most unusual examples, lowest score first, for one_class and svdd; rows count from 1",
                ),
        )
        .arg(
            Arg::new("with-target")
                .long("with-target")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["rank", "profile"])
                .help("Append the target columns of DATA as they are, so that coordinates can be learned from"),
        )
        .arg(
            Arg::new("profile")
                .long("profile")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["scores", "probabilities", "rank"])
                .help("List what every position of a string adds to its scores, for kernels on strings"),
        )
        .arg(arguments::unseen())
        .arg(
            Arg::new("missing")
                .long("missing")
                .value_name("WAY")
                .value_parser(["error", "empty"])
                .default_value("error")
                .help("What becomes of rows with missing entries that training has not prepared for: error, or empty for an empty prediction"),
        )
        .args(arguments::format());
    arguments::common(conformal::prediction_flags(command))
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let (Some(model), Some(data)) = (flags.get_one::<PathBuf>("MODEL"), flags.get_one::<PathBuf>("DATA")) else {
        return Err(Failure::usage("MODEL and DATA are needed"));
    };
    let asked = arguments::target(flags)?;
    // `-o -` prints what is printed without -o
    let file = asked.filter(|path| !mercer::write::is_standard_output(path));
    if let Some(path) = file {
        promise::check(path, &["csv", "npy"])?;
    }
    if file.is_none() && flags.get_flag("json") && flags.get_flag("with-target") {
        let what = "--with-target adds columns to a table, which --json does not print; leave one of them out, or give -o FILE.csv";
        return Err(Failure::usage(what));
    }
    let mut model = Model::load(model)?;
    let coverage = conformal(&mut model, flags)?;
    let columns = Columns {
        scores: flags.get_flag("scores"),
        probabilities: flags.get_flag("probabilities"),
        deviations: flags.get_flag("deviations"),
    };
    if columns.probabilities {
        model.needs_probabilities()?;
    }
    let rank = flags.get_one::<u32>("rank").map(|&n| n as usize);
    if rank.is_some() {
        rank::check(&model)?;
    }
    let ToPredict { data, places, rows: all } = input::to_predict(&model, data, flags)?;
    let whole = places.len() == all;
    if !whole && (rank.is_some() || flags.get_flag("profile") || flags.get_flag("with-target")) {
        return Err(Failure::usage(
            "--missing empty leaves a row without a prediction, which --rank, --profile and --with-target cannot show; leave out one of them",
        ));
    }
    if flags.get_flag("profile") {
        return profile::tell(&model, &data, file.map(PathBuf::as_path), flags.get_flag("json"));
    }
    let predictor = model.predictor();
    let model = predictor.model();
    let predicting = Instant::now();
    let output = batches::predict(&predictor, &data, flags)?;
    let predict = predicting.elapsed().as_secs_f64();
    if columns.deviations && !matches!(&output, Output::Values { variances: Some(_), .. }) {
        let what =
            format!("--deviations is for models that know how uncertain a number is; {} does not", model.machine());
        return Err(Failure::usage(what));
    }
    if columns.scores && matches!(output, Output::Values { .. } | Output::Parts(_)) {
        let what = format!("--scores is for classifiers; {} predicts numbers", model.machine());
        return Err(Failure::usage(what));
    }
    let json = flags.get_flag("json");
    if let Some(count) = rank {
        let seconds = json!({"predict": predict, "total": started.elapsed().as_secs_f64()});
        return rank::tell(model, &output, count, asked.map(PathBuf::as_path), json, &seconds);
    }
    let regions = coverage.map(|coverage| batches::regions(&predictor, &data, coverage, flags)).transpose()?;
    let beside = beside(&data, regions.as_ref(), flags)?;
    let beside = beside.as_ref();
    if let Some(path) = file {
        if promise::ends_in(path, "npy") {
            let plain = columns_beside(flags).is_none();
            let Some((values, count)) = numbers(&output, regions.as_ref()).filter(|_| plain) else {
                let what = "an NPY file holds predicted numbers and nothing else; give -o FILE.csv";
                return Err(Failure::usage(what));
            };
            let values = spread_numbers(&values, count, &places, all);
            promise::write(path, |out| write_npy(out, &values, count))?;
        } else {
            promise::write(path, |out| write_csv(out, &output, columns, beside, (&places, all)))?;
        }
    } else if !json {
        report::print_file(|out| write_csv(out, &output, columns, beside, (&places, all)));
        return Ok(());
    }
    let seconds = json!({"predict": predict, "total": started.elapsed().as_secs_f64()});
    if json {
        let mut document = json!({"machine": model.machine(), "n": output.len(), "seconds": seconds});
        match file {
            Some(path) => document["output"] = json!(path.display().to_string()),
            None => document["predictions"] = predictions(&output),
        }
        if let (Output::Labels { labels, scores, probabilities, .. }, None) = (&output, file) {
            let rows = |values: &[f64]| json!(values.chunks_exact(labels.len()).collect::<Vec<_>>());
            if columns.scores {
                document["scores"] = rows(scores);
            }
            if let Some(probabilities) = probabilities.as_ref().filter(|_| columns.probabilities) {
                document["probabilities"] = rows(probabilities);
            }
            if columns.scores || columns.probabilities {
                document["labels"] = json!(labels);
            }
        }
        if let (Output::LabelSets { labels, scores, .. }, None, true) = (&output, file, columns.scores) {
            document["scores"] = rows(scores, labels.len());
            document["labels"] = json!(labels);
        }
        if let (Output::Order { scores }, None, true) = (&output, file, columns.scores) {
            document["scores"] = json!(scores);
        }
        if let (Output::Parts(parts), None) = (&output, file) {
            let named = parts.iter().map(|part| (part.names.name.clone(), json!(part.names.coordinates)));
            document["coordinates"] = named.collect::<Map<_, _>>().into();
        }
        if let (Output::Values { names, variances: Some(known), .. }, None, true) = (&output, file, columns.deviations)
        {
            document["deviations"] = rows(&known.deviations(), names.len());
        }
        if let (Some(coverage), Some(conformal)) = (coverage, model.conformal()) {
            document["conformal"] = conformal::proven(model, conformal, coverage);
        }
        if let (Some(regions), None) = (&regions, file) {
            conformal::insert(&mut document, regions);
        }
        if !whole {
            spread(&mut document, &places, all);
            document["rows_without_prediction"] = json!(all - places.len());
        }
        input::insert_told(&mut document, &data);
        report::print_json(&document);
    } else if let Some(path) = file {
        report::print(&report::facts(&[
            ("examples", output.len().to_string()),
            ("predictions", path.display().to_string()),
        ]));
    }
    Ok(())
}

/// A flag that asks for columns that an NPY file of predicted numbers does not have.
fn columns_beside(flags: &ArgMatches) -> Option<&'static str> {
    ["with-target", "deviations", "scores", "probabilities", "profile"].into_iter().find(|flag| flags.get_flag(flag))
}

/// The coverage that is asked for, by a model that can keep it.
fn conformal(model: &mut Model, flags: &ArgMatches) -> Result<Option<f64>, Failure> {
    let Some(&coverage) = flags.get_one::<f64>("conformal") else { return Ok(None) };
    mercer::conformal::checked(coverage)?;
    if let Some(path) = flags.get_one::<PathBuf>("calibration") {
        let held_out = input::to_calibrate(model, path, flags)?;
        let left_out = model.calibrate_on(&held_out, flags.get_flag("mondrian"))?;
        if left_out > 0 {
            let all = held_out.len();
            report::warn(&format!(
                "{left_out} of the {all} examples to calibrate with are those of training, and are left out; the other {} calibrate",
                all - left_out
            ));
        }
    }
    let conformal = model.needs_conformal()?;
    if conformal.holds_training() {
        report::warn("some of the examples to calibrate with are those of training, and no coverage is proven");
    }
    if flags.contains_id("calibration") {
        let repeated = conformal.refusal().map(|repeated| format!("no coverage is proven: {repeated}"));
        repeated.or_else(|| conformal.condition()).iter().for_each(|told| report::warn(told));
    }
    conformal::notes(model, conformal, coverage).iter().for_each(|note| report::warn(note));
    Ok(Some(coverage))
}

/// Regions and target columns beside the predictions, where they are asked for.
fn beside(data: &Dataset, regions: Option<&Regions>, flags: &ArgMatches) -> Result<Option<Beside>, Failure> {
    let target = if flags.get_flag("with-target") { Some(target(data)?) } else { None };
    let Some((mut names, mut lines)) = regions.map(conformal::columns) else { return Ok(target) };
    if let Some(target) = target {
        names.extend(target.names);
        lines.iter_mut().zip(target.lines).for_each(|(line, more)| *line = format!("{line},{more}"));
    }
    Ok(Some(Beside { names, lines }))
}

/// Predicted numbers and how many there are for each example; the ends of intervals come after them, as in a CSV file.
fn numbers<'a>(output: &'a Output, regions: Option<&Regions>) -> Option<(Cow<'a, [f64]>, usize)> {
    if let (Output::Parts(parts), None) = (output, regions) {
        let row = |i: usize| parts.iter().flat_map(move |part| row_of(part, i)).copied();
        let values = (0..output.len()).flat_map(row).collect();
        return Some((Cow::Owned(values), parts.iter().map(PartOutput::width).sum()));
    }
    let Output::Values { names, values, .. } = output else { return None };
    let k = names.len();
    let Some(regions) = regions else { return Some((Cow::Borrowed(values), k)) };
    let Regions::Intervals { lower, upper, .. } = regions else { return None };
    let row = |i: usize| {
        let ends = (i * k..(i + 1) * k).flat_map(|p| [lower[p], upper[p]]);
        values[i * k..(i + 1) * k].iter().copied().chain(ends)
    };
    Some(((0..regions.len()).flat_map(row).collect(), 3 * k))
}

/// The numbers that a part predicts for an example.
fn row_of(part: &PartOutput, example: usize) -> &[f64] {
    &part.values[example * part.width()..(example + 1) * part.width()]
}

/// Columns of text beside the predictions: their names, and a line for each example.
pub(crate) struct Beside {
    names: Vec<String>,
    lines: Vec<String>,
}

/// The target of the data, as it was spelled.
fn target(data: &Dataset) -> Result<Beside, Failure> {
    let Some(target) = data.target() else {
        let message = "the data have no target column; leave out --with-target".to_owned();
        return Err(Failure { message, code: 3 });
    };
    let names: Vec<String> = target.names().iter().map(|name| cell(name)).collect();
    let lines = if names.len() == 1 {
        let classes = target.classes()?;
        classes.codes.iter().map(|&c| cell(&classes.labels[c as usize])).collect()
    } else {
        let numbers = target.numbers()?;
        let line = |row: &[f64]| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        numbers.values.chunks_exact(names.len()).map(line).collect()
    };
    Ok(Beside { names, lines })
}

fn predictions(output: &Output) -> serde_json::Value {
    match output {
        Output::Labels { .. } => json!(output.labels()),
        Output::LabelSets { .. } => json!(output.label_sets()),
        Output::Order { .. } => json!(output.ranks()),
        Output::Values { names, values, .. } => rows(values, names.len()),
        Output::Parts(parts) => {
            let part = |part: &PartOutput| (part.names.name.clone(), rows(&part.values, part.width()));
            parts.iter().map(part).collect::<Map<_, _>>().into()
        }
    }
}

/// One number for each example, or a list of them.
fn rows(values: &[f64], columns: usize) -> serde_json::Value {
    if columns == 1 { json!(values) } else { json!(values.chunks_exact(columns.max(1)).collect::<Vec<_>>()) }
}

/// Puts null where a row of the file has no prediction, in every list of a document with an entry for each prediction.
fn spread(document: &mut serde_json::Value, places: &[usize], rows: usize) {
    let Some(fields) = document.as_object_mut() else { return };
    // labels and names of coordinates are lists of something else
    for (_, value) in fields.iter_mut().filter(|(name, _)| !["labels", "coordinates"].contains(&name.as_str())) {
        match value {
            serde_json::Value::Array(all) if all.len() == places.len() => {
                let mut whole = vec![serde_json::Value::Null; rows];
                all.drain(..).zip(places).for_each(|(one, &place)| whole[place] = one);
                *all = whole;
            }
            part @ serde_json::Value::Object(_) => spread(part, places, rows),
            _ => {}
        }
    }
}

/// The same for a table of numbers: a row without a prediction is not a number.
fn spread_numbers<'a>(values: &'a [f64], count: usize, places: &[usize], rows: usize) -> Cow<'a, [f64]> {
    if places.len() == rows {
        return Cow::Borrowed(values);
    }
    let mut whole = vec![f64::NAN; rows * count];
    for (row, &place) in values.chunks_exact(count.max(1)).zip(places) {
        whole[place * count..(place + 1) * count].copy_from_slice(row);
    }
    Cow::Owned(whole)
}

/// Lines of a CSV file for the rows of a file that have no prediction.
struct Gaps<'a> {
    places: &'a [usize],
    rows: usize,
    /// The first row of the file that has no line yet.
    next: usize,
    line: String,
}

impl<'a> Gaps<'a> {
    /// The header of the file says how many cells a line has.
    fn new((places, rows): (&'a [usize], usize), header: &str) -> Self {
        let commas = header.split('"').step_by(2).flat_map(str::chars).filter(|c| *c == ',').count();
        // an empty line is no row to most readers
        let line = if commas == 0 { "\"\"".to_owned() } else { ",".repeat(commas) };
        Self { places, rows, next: 0, line }
    }

    /// Writes the lines between the last prediction and this one.
    fn before(&mut self, out: &mut dyn Write, prediction: usize) -> std::io::Result<()> {
        let place = self.places.get(prediction).copied().unwrap_or(self.rows);
        for _ in self.next..place {
            writeln!(out, "{}", self.line)?;
        }
        self.next = place + 1;
        Ok(())
    }
}

/// Columns beside the prediction.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) scores: bool,
    pub(crate) probabilities: bool,
    pub(crate) deviations: bool,
}

/// One header line, the prediction in the first column, shortest floats that read back the same.
pub(crate) fn write_csv(
    out: &mut dyn Write,
    output: &Output,
    columns: Columns,
    beside: Option<&Beside>,
    rows: (&[usize], usize),
) -> std::io::Result<()> {
    let names = beside.map(|b| format!(",{}", b.names.join(","))).unwrap_or_default();
    let line = |i: usize| beside.map(|b| format!(",{}", b.lines[i])).unwrap_or_default();
    let mut gaps;
    match output {
        Output::Labels { labels, codes, scores, probabilities } => {
            let scores = Some(scores).filter(|_| columns.scores).map(|all| ("score", all));
            let probabilities =
                probabilities.as_ref().filter(|_| columns.probabilities).map(|all| ("probability", all));
            let shown: Vec<(&str, &Vec<f64>)> = [scores, probabilities].into_iter().flatten().collect();
            let each = |(name, _): &(&str, &Vec<f64>)| {
                labels.iter().map(|label| format!(",{}", cell(&format!("{name}_{label}")))).collect::<Vec<_>>().concat()
            };
            let header = format!("prediction{}{names}", shown.iter().map(each).collect::<String>());
            writeln!(out, "{header}")?;
            gaps = Gaps::new(rows, &header);
            let cells: Vec<String> = labels.iter().map(|label| cell(label)).collect();
            for (i, code) in codes.iter().enumerate() {
                gaps.before(out, i)?;
                out.write_all(cells[*code as usize].as_bytes())?;
                for (_, all) in &shown {
                    for value in &all[i * labels.len()..(i + 1) * labels.len()] {
                        write!(out, ",{value}")?;
                    }
                }
                out.write_all(line(i).as_bytes())?;
                out.write_all(b"\n")?;
            }
        }
        Output::LabelSets { labels, scores, .. } => {
            let shown = if columns.scores { labels.as_slice() } else { &[] };
            let mut header = vec!["prediction".to_owned()];
            header.extend(shown.iter().map(|l| cell(&format!("score_{l}"))));
            let header = format!("{}{names}", header.join(","));
            writeln!(out, "{header}")?;
            gaps = Gaps::new(rows, &header);
            for (i, set) in output.label_sets().into_iter().enumerate() {
                gaps.before(out, i)?;
                write!(out, "{}", cell(&set.join("|")))?;
                for score in &scores[i * labels.len()..i * labels.len() + shown.len()] {
                    write!(out, ",{score}")?;
                }
                writeln!(out, "{}", line(i))?;
            }
        }
        Output::Order { scores } => {
            let header = format!("prediction{}{names}", if columns.scores { ",score" } else { "" });
            writeln!(out, "{header}")?;
            gaps = Gaps::new(rows, &header);
            for (i, (rank, score)) in output.ranks().into_iter().zip(scores).enumerate() {
                gaps.before(out, i)?;
                let score = if columns.scores { format!(",{score}") } else { String::new() };
                writeln!(out, "{rank}{score}{}", line(i))?;
            }
        }
        Output::Values { names: outputs, values, variances } => {
            let deviations = variances.as_ref().filter(|_| columns.deviations).map(Variances::deviations);
            let named = |what: &str| -> Vec<String> {
                match outputs.as_slice() {
                    [_] => vec![what.to_owned()],
                    several => several.iter().map(|n| cell(&format!("{what}_{n}"))).collect(),
                }
            };
            let mut header = named("prediction");
            if deviations.is_some() {
                header.extend(named("deviation"));
            }
            let header = format!("{}{names}", header.join(","));
            writeln!(out, "{header}")?;
            gaps = Gaps::new(rows, &header);
            let k = outputs.len();
            for (i, row) in values.chunks_exact(k).enumerate() {
                gaps.before(out, i)?;
                let more = deviations.as_ref().map_or(&[][..], |all| &all[i * k..(i + 1) * k]);
                let texts: Vec<String> = row.iter().chain(more).map(ToString::to_string).collect();
                writeln!(out, "{}{}", texts.join(","), line(i))?;
            }
        }
        Output::Parts(parts) => {
            let of_part = |part: &PartOutput| profile::part_columns(&part.names).into_iter();
            let header: Vec<String> =
                parts.iter().flat_map(of_part).map(|name| cell(&format!("prediction_{name}"))).collect();
            let header = format!("{}{names}", header.join(","));
            writeln!(out, "{header}")?;
            gaps = Gaps::new(rows, &header);
            for i in 0..output.len() {
                gaps.before(out, i)?;
                let texts: Vec<String> =
                    parts.iter().flat_map(|part| row_of(part, i)).map(ToString::to_string).collect();
                writeln!(out, "{}{}", texts.join(","), line(i))?;
            }
        }
    }
    gaps.before(out, output.len())?;
    out.flush()
}

/// A cell, quoted if it must be.
pub(crate) fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
