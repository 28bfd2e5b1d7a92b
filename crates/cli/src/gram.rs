//! `mercer gram`: the kernel matrix of a file, as NPY or as a picture.

use crate::arguments::OutputFile;
use crate::matrix::{self, Change};
use crate::{Verb, arguments, input, measure, promise, report};
use clap::{Arg, ArgMatches, Command};
use mercer::data::Dataset;
use mercer::data::write::{as_named, npy_header};
use mercer::geometry::BlockMeans;
use mercer::gram::{Budget, Gram, show_bytes, write_rows};
use mercer::linalg::SolveError;
use mercer::machines::Learns;
use mercer::plot::{MatrixImage, Theme, short_formula};
use mercer::watch::{Monitor, Phase, Progress};
use mercer_terminal::Failure;
use mercer_terminal::Watch;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

pub(crate) const VERB: Verb = Verb { command, run };

/// Cells of a picture in a row.
const CELLS: usize = 240;

fn command() -> Command {
    let command = Command::new("gram")
        .about("Compute the kernel matrix of a data file, or a function of it: write it as NPY, draw it class by class, or both")
        .after_help(
            "Examples:\n  mercer gram data.csv --kernel 'rbf(gamma=median)' --scale none -o K.npy\n  \
             mercer gram data.csv --kernel 'rbf(gamma=0.1)' --figure K.png\n  \
             mercer gram data.csv --kernel 'sigmoid(offset=-1)' --repair clip -o K.npy\n  \
             mercer gram data.csv --kernel linear --function 'power(0.5)' -o K.npy",
        )
        .arg(arguments::path("DATA", "Data file; its target column, if any, only orders the picture"))
        .arg(arguments::kernel())
        .arg(arguments::output("K.npy", "NPY file to write").required_unless_present("figure"))
        .arg(
            arguments::written("figure", "FIG", "Draw the matrix, sorted by class, as .svg or .png; large ones are averaged"),
        )
        .arg(arguments::theme())
        .arg(
            Arg::new("precision")
                .long("precision")
                .value_name("TYPE")
                .value_parser(["f64", "f32"])
                .default_value("f64")
                .help("Numbers to compute and write"),
        )
        .args(matrix::arguments());
    arguments::common(arguments::reading(command))
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let formula = arguments::formula(flags)?;
    let budget = arguments::budget(flags)?;
    let Some(path) = flags.get_one::<PathBuf>("DATA") else { return Err(Failure::usage("DATA is needed")) };
    let (target, figure) = (arguments::target(flags)?, OutputFile::given(flags, "figure"));
    if let Some(path) = target {
        promise::check(path, &["npy"])?;
    }
    if let Some(figure) = figure {
        arguments::picture(figure)?;
    }
    let watch = Watch::new(flags);
    let training = input::training(path, flags, &formula, Learns::Unsupervised)?;
    let read = started.elapsed().as_secs_f64();
    let computing = Instant::now();
    let (kernel, gram) = watch.heeded(|| -> Result<_, mercer::Error> {
        let kernel = formula.resolve(&training.data, arguments::seed(flags))?;
        let gram = kernel.training_gram(&training.data)?;
        Ok((kernel, gram))
    })?;
    let narrow = flags.get_one::<String>("precision").is_some_and(|p| p == "f32");
    let n = gram.shape().0;
    let size = if narrow { 4 } else { 8 };
    let (gram, said) = match Change::asked(flags)? {
        Some(change) => watch.heeded(|| change.applied(&gram, budget, &watch))?,
        None => (gram, None),
    };
    if let Some(target) = target {
        watch.heeded(|| write(target, gram.as_ref(), narrow, budget, &watch))?;
    }
    if let Some(figure) = figure {
        let svg = draw(
            &gram,
            &training.data,
            short_formula(&kernel.to_string()),
            budget,
            &watch,
            arguments::chosen_theme(flags),
        )?;
        arguments::save_picture(figure, &svg)?;
    }
    watch.finish();
    let compute = computing.elapsed().as_secs_f64();
    let bytes = n * n * size;
    let shown = |path: &PathBuf| path.display().to_string();
    if flags.get_flag("json") {
        report::print_json(&json!({
            "kernel": kernel.to_string(), "n": n, "precision": if narrow { "f32" } else { "f64" }, "bytes": bytes,
            "output": target.map(shown), "figure": figure.map(shown), "change": said,
            "seconds": {"read": read, "gram": compute, "total": started.elapsed().as_secs_f64()},
        }));
    } else {
        let mut rows = vec![("kernel", kernel.to_string()), ("matrix", format!("{n} × {n}, {}", show_bytes(bytes)))];
        rows.extend(said.map(|said| ("change", said)));
        rows.push(("seconds", format!("read {read:.3}, gram {compute:.3}")));
        rows.extend(target.map(|t| ("file", shown(t))));
        rows.extend(figure.map(|f| ("picture", shown(f))));
        report::print(&report::facts(&rows));
    }
    Ok(())
}

/// Tells how many rows are done; whoever stops it ends it with an error.
fn step(watch: &Watch, done: usize, n: usize) -> Result<(), SolveError> {
    watch.alive(Progress::new(Phase::keeping("gram"), done).of(n)).map_err(SolveError::from)
}

/// Writes the matrix: strips of rows go straight to the file, so that memory is bounded for any n, and Ctrl-C is answered
/// between them.
fn write(target: &Path, gram: &dyn Gram, narrow: bool, budget: Budget, watch: &Watch) -> Result<(), Failure> {
    let n = gram.shape().0;
    let size = if narrow { 4 } else { 8 };
    let strip = (budget.memory / 8 / (size * n.max(1))).min((1 << 21) / n.max(1)).clamp(1, n.max(1)).min(1024);
    budget.check(2 * strip * n * size, "two strips of the kernel matrix")?;
    let mut broken = None;
    as_named(target, |out| {
        out.write_all(&npy_header(n, n, if narrow { "<f4" } else { "<f8" }))?;
        write_rows(gram, narrow, strip, out, &|done| step(watch, done, n))?.map_err(|error| {
            broken = Some(error);
            std::io::Error::other("not written")
        })
    })
    .map_err(|e| match broken {
        Some(broken) => mercer::Error::from(broken).into(),
        None => Failure::file(target, &e),
    })
}

/// Draws the matrix, its examples sorted by the target.
fn draw(
    gram: &Arc<dyn Gram>,
    data: &Dataset,
    title: String,
    budget: Budget,
    watch: &Watch,
    theme: Theme,
) -> Result<String, Failure> {
    let n = gram.shape().0;
    budget.check(n.saturating_mul(8), "a row of the kernel matrix")?;
    let labels = measure::labels(data);
    let block_means = BlockMeans::of(gram, labels.as_ref(), CELLS, budget, &mut |done| step(watch, done, n))
        .map_err(mercer::Error::from)?;
    let names = data.target().and_then(|t| t.classes().ok()).map(|c| c.labels).unwrap_or_default();
    let sorted = match (&labels, block_means.groups.is_empty()) {
        (None, _) => "examples, as they come",
        (_, false) => "examples, sorted by class",
        (_, true) => "examples, sorted by the target",
    };
    let cells = block_means.cells();
    let averaged = if cells < n { format!("averaged into {cells} × {cells} cells") } else { String::new() };
    let note = [format!("{n} × {n}"), averaged].into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join(" · ");
    let groups = names.into_iter().zip(block_means.groups).collect();
    Ok(MatrixImage { title, label: sorted.to_owned(), cells, values: block_means.values, groups, note: Some(note) }
        .draw(theme))
}
