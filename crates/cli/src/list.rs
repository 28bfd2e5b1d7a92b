//! `mercer list`: what there is.

use crate::failure::Failure;
use crate::{Verb, arguments, report};
use clap::{Arg, ArgMatches, Command};
use mercer::bounds;
use mercer::data::read::{FORMATS, FormatEntry};
use mercer::data::write::WRITERS;
use mercer::datasets::SETS;
use mercer::kernels::{self, Definite};
use mercer::machines::{self, Learns};
use mercer::params::{Described, describe};
use serde_json::{Value, json};

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    Command::new("list")
        .about("List kernels, machines, bounds, formats or data sets")
        .after_help("Example:\n  mercer list kernels")
        .arg(
            Arg::new("WHAT")
                .value_name("WHAT")
                .required(true)
                .value_parser(["kernels", "machines", "bounds", "formats", "datasets"]),
        )
        .arg(arguments::json())
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let what = flags.get_one::<String>("WHAT").map_or("", String::as_str);
    let (header, rows, documents): (&[&str], Vec<Vec<String>>, Vec<Value>) = match what {
        "kernels" => (&["kernel", "formula", "parameters", "definite"], kernel_rows(), kernel_documents()),
        "machines" => (&["machine", "what it does", "parameters"], machine_rows(), machine_documents()),
        "bounds" => (&["bound", "what it says", "of", "guarantee"], bound_rows(), bound_documents()),
        "formats" => (&["format", "what it is", "extensions", "written"], format_rows(), format_documents()),
        _ => (&["data set", "what it is", "task", "examples"], set_rows(), set_documents()),
    };
    if flags.get_flag("json") {
        report::print_json(&Value::Array(documents));
    } else {
        report::print(&report::page(header, &rows));
        if what == "formats" {
            report::print("All are also read from gzip and Zstandard; `mercer convert` writes, with .gz in gzip.");
        }
        if what == "kernels" {
            report::print(
                "Combine them: k1 + k2, 2*k, k1 * k2, k^2, series(k, coefficients=[1, 0.5]), exp(k), normalise(k), centre(k),\n\
                 rbf(k, gamma=1), k@view, direct_sum(k1@a, k2@b), tensor_product(k1@a, k2@b).\n\
                 Approximate them: nystrom(k, points=500, choose=uniform), or greedy, or k_means.\n\
                 Sets of members: set(k, separator=\"|\") on strings, set(k, columns=2) on vectors, mean=true for the mean.\n\
                 A kernel on vectors is written like rbf(gamma=0.5); gamma may be scale, median or 1/d.",
            );
        }
    }
    Ok(())
}

fn parameters(described: &[Described]) -> String {
    let own = described.iter().filter(|d| d.spelling_of.is_none());
    own.map(|d| format!("{}={}", d.name, d.default)).collect::<Vec<_>>().join(", ")
}

fn parameter_documents(described: &[Described]) -> Vec<Value> {
    described
        .iter()
        .map(|d| {
            json!({"name": d.name, "kind": d.kind, "default": d.default, "words": d.words, "rule": d.rule, "help": d.help,
                   "spelling_of": d.spelling_of})
        })
        .collect()
}

fn definite(definite: Definite) -> &'static str {
    match definite {
        Definite::Positive => "positive",
        Definite::Conditionally => "conditionally",
        Definite::Indefinite => "indefinite",
    }
}

fn kernel_rows() -> Vec<Vec<String>> {
    let row = |e: &kernels::KernelEntry| {
        let described = describe((e.make)().as_mut());
        vec![e.name.to_owned(), e.formula.to_owned(), parameters(&described), definite(e.definite).to_owned()]
    };
    kernels::all().map(row).collect()
}

fn kernel_documents() -> Vec<Value> {
    let document = |e: &kernels::KernelEntry| {
        json!({"name": e.name, "aliases": e.aliases, "formula": e.formula, "definite": definite(e.definite),
               "works_on": e.kind.to_string(), "source": e.source.to_string(), "use_when": e.use_when,
               "parameters": parameter_documents(&describe((e.make)().as_mut()))})
    };
    kernels::all().map(document).collect()
}

fn machine_rows() -> Vec<Vec<String>> {
    let row = |e: &machines::MachineEntry| {
        vec![e.name.to_owned(), e.summary.to_owned(), parameters(&describe((e.make)().as_mut()))]
    };
    machines::all().map(row).collect()
}

fn machine_documents() -> Vec<Value> {
    let learns = |l: Learns| match l {
        Learns::Classes => "classes",
        Learns::Numbers => "numbers",
        Learns::Unsupervised => "nothing",
    };
    let document = |e: &machines::MachineEntry| {
        json!({"name": e.name, "aliases": e.aliases, "summary": e.summary, "formula": e.formula, "learns": learns(e.learns),
               "family": machines::family(e),
               "source": e.source.to_string(), "use_when": e.use_when,
               "parameters": parameter_documents(&describe((e.make)().as_mut()))})
    };
    machines::all().map(document).collect()
}

fn bound_rows() -> Vec<Vec<String>> {
    let row =
        |e: &bounds::BoundEntry| [e.name, e.summary, e.quantity.word(), e.guarantee.word()].map(str::to_owned).to_vec();
    bounds::all().map(row).collect()
}

fn bound_documents() -> Vec<Value> {
    let document = |e: &bounds::BoundEntry| {
        json!({"name": e.name, "summary": e.summary, "formula": e.formula, "quantity": e.quantity,
               "guarantee": e.guarantee, "source": e.source.to_string(), "use_when": e.use_when})
    };
    bounds::all().map(document).collect()
}

/// Whether a format can be written, too.
fn written(name: &str) -> bool {
    WRITERS.iter().any(|w| w.name == name)
}

fn format_rows() -> Vec<Vec<String>> {
    let row = |f: &&FormatEntry| {
        let written = if written(f.name) { "yes" } else { "no" };
        vec![f.name.to_owned(), f.summary.to_owned(), f.extensions.join(", "), written.to_owned()]
    };
    FORMATS.iter().map(row).collect()
}

fn format_documents() -> Vec<Value> {
    let document = |f: &&FormatEntry| json!({"name": f.name, "summary": f.summary, "extensions": f.extensions, "written": written(f.name)});
    FORMATS.iter().map(document).collect()
}

fn set_rows() -> Vec<Vec<String>> {
    SETS.iter()
        .map(|s| vec![s.name.to_owned(), s.summary.to_owned(), s.task.to_owned(), s.examples.to_string()])
        .collect()
}

fn set_documents() -> Vec<Value> {
    let document = |s: &&mercer::datasets::SetEntry| {
        json!({"name": s.name, "summary": s.summary, "task": s.task, "examples": s.examples, "generated": s.generated,
               "source": s.source})
    };
    SETS.iter().map(document).collect()
}
