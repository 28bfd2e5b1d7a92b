//! `mercer reproduce outputs`: how outputs are distributed on training and test examples of ringnorm, for four machines and
//! three strengths of regularisation.
//!
//! ```text
//! D = sup over t of |F_train(t) − F_test(t)|        (Kolmogorov and Smirnov, two samples)
//! ```
//! Machines are chosen as for the tables; the width is the chosen one throughout, and too little and too much
//! regularisation are a hundredth and a hundred times the chosen strength.
//!
//! # Source
//! S. Mika, Kernel Fisher Discriminants (2002), §5.1, Figures 5.6 and 5.7, which have no numbers.

use super::benchmark::{self, Benchmark, Splits};
use super::contender::{Axis, Contender, Fixed, Unit};
use super::course::Course;
use super::mika_tables::{COEFFICIENTS_PENALTY, KERNEL, PRICE, SPARSE_PENALTY};
use super::protocol::{Protocol, REALISATIONS};
use clap::{Arg, ArgMatches, Command, value_parser};
use mercer::data::{DataError, places_of_labels};
use mercer::machines::Output;
use mercer::plot::{DensityPair, Distributions};
use mercer::select::{Split, Trial};
use mercer::watch::{Monitor, Phase};
use mercer_terminal::{Failure, Verb, Watch, arguments, report};
use serde_json::{Value, json};

pub(super) const EXPERIMENT: Verb = Verb { command, run };

const SET: &str = "ringnorm";
/// Number of values of each parameter on the finer grid.
const FINER_VALUES: usize = 5;
/// Decades from the chosen strength of regularisation, and what they are called.
const STRENGTHS: [(f64, &str); 3] =
    [(-2.0, "too little regularisation"), (0.0, "as chosen"), (2.0, "too much regularisation")];
/// The range of outputs that is drawn, and the number of bins.
const DRAWN_OUTPUTS: (f64, f64) = (-3.0, 3.0);
const BINS: usize = 96;

/// Who takes part, and what the picture calls it. Outputs are those of the programmes, whose targets are ±1: a threshold rule
/// that scales them would hide where they gather.
static CONTENDERS: [(Contender, &str); 4] = [
    (Contender { name: "svm", machine: "svc", fixed: &[], axes: &[KERNEL, PRICE] }, "SVM"),
    (
        Contender {
            name: "kfd",
            machine: "kfd",
            fixed: &[("penalty", Fixed::Word("coefficients")), ("threshold", Fixed::Word("programme"))],
            axes: &[KERNEL, COEFFICIENTS_PENALTY],
        },
        "KFD",
    ),
    (
        Contender { name: "robust_kfd", machine: "robust_kfd", fixed: OWN_OFFSET, axes: &[KERNEL, NORM_PENALTY] },
        "robust KFD",
    ),
    (
        Contender { name: "lskfd", machine: "linear_sparse_kfd", fixed: OWN_OFFSET, axes: &[KERNEL, SPARSE_PENALTY] },
        "linear sparse KFD",
    ),
];
const OWN_OFFSET: &[(&str, Fixed)] = &[("threshold", Fixed::Word("programme"))];

/// The penalty of the robust machine, one over the price of a support vector regression.
const NORM_PENALTY: Axis = Axis { name: "lambda", unit: Unit::One, from: -3.0, step: 1.0, count: 6, whole: false };

fn command() -> Command {
    let command = Command::new("outputs")
        .about("Outputs of four machines on training and test examples of ringnorm (Mika 2002, figures 5.6 and 5.7)")
        .after_help("Example:\n  mercer reproduce outputs --data benchmarks --splits 20 -o outputs.svg")
        .arg(benchmark::flag())
        .arg(
            Arg::new("splits")
                .long("splits")
                .value_name("N")
                .value_parser(value_parser!(u16).range(1..))
                .default_value("100")
                .help("Outputs of the first so many splits are put together"),
        )
        .arg(arguments::output("FIG", "Picture to draw, as .svg or .png").default_value("outputs.svg"))
        .arg(arguments::theme());
    arguments::common(command)
}

/// A machine at a strength of regularisation.
struct Panel {
    machine: &'static str,
    called: &'static str,
    strength: &'static str,
    parameters: Value,
    outputs: Outputs,
}

/// Outputs of all splits, positive for class 1.
#[derive(Default)]
struct Outputs {
    train: Vec<f64>,
    test: Vec<f64>,
    /// Wrong signs on test examples.
    wrong: usize,
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let Some(picture) = arguments::target(flags)? else { return Err(Failure::usage("-o FIG is needed")) };
    arguments::picture(picture)?;
    let folder = benchmark::folder(flags)?;
    let mut entries = Vec::new();
    for (contender, called) in &CONTENDERS {
        entries.push((contender, contender.entry()?, *called));
    }
    let (budget, seed) = (arguments::budget(flags)?, arguments::seed(flags));
    let most = flags.get_one::<u16>("splits").map_or(100, |&n| usize::from(n));
    // the choice takes its splits, whatever is drawn
    let mut set = Benchmark::read(&folder, SET, Splits::All, most.max(REALISATIONS))?;
    let drawn = set.splits.len().min(most);
    let whole: Vec<Split> = set.splits[..drawn]
        .iter()
        .map(|s| Split { test: [s.train.as_slice(), &s.test].concat(), ..s.clone() })
        .collect();
    set.splits.truncate(REALISATIONS);
    let tasks: Vec<(Protocol<'_>, &'static str)> = entries
        .into_iter()
        .map(|(contender, entry, called)| {
            (Protocol { contender, entry, set: &set, finer: FINER_VALUES, budget, seed }, called)
        })
        .collect();
    let watch = Watch::new(flags);
    let total = tasks.iter().map(|(task, _)| task.fits() + STRENGTHS.len() * drawn).sum();
    let course = Course::new(&watch, Phase::new("fits"), total);
    let mut panels = Vec::new();
    for (task, called) in &tasks {
        panels.extend(panels_of(task, called, &whole, &course)?);
        course.say(called);
    }
    watch.finish();
    let figure = figure(&panels, drawn);
    arguments::save_picture(picture, &figure.draw(arguments::chosen_theme(flags)))?;
    if flags.get_flag("json") {
        let document = |p: &Panel| {
            json!({
                "set": SET, "machine": p.machine, "regularisation": p.strength, "parameters": p.parameters,
                "distance": distance(&p.outputs), "error": p.outputs.error(), "splits": drawn,
            })
        };
        report::print_json(&json!(panels.iter().map(document).collect::<Vec<_>>()));
    } else {
        report::print(&table(&panels));
        report::print(&report::facts(&[("picture", picture.display().to_string())]));
    }
    Ok(())
}

/// The three panels of a machine.
fn panels_of(
    task: &Protocol<'_>,
    called: &'static str,
    splits: &[Split],
    watch: &dyn Monitor,
) -> Result<Vec<Panel>, Failure> {
    let choice = task.choose(watch)?;
    let mut panels = Vec::with_capacity(STRENGTHS.len());
    for (decades, strength) in STRENGTHS {
        let mut point = choice.point.clone();
        // c is the price of errors: a large one regularises little
        let last = task.contender.axes.last().is_some_and(|a| a.name == "c");
        if let Some(exponent) = point.last_mut() {
            *exponent += if last { -decades } else { decades };
        }
        let target = task.set.data.target().ok_or(DataError::NoTarget)?;
        let mut outputs = Outputs::default();
        for (trial, split) in task.trials(&task.set.data, splits, &point, watch)?.iter().zip(splits) {
            let truth = target.select(&split.test).classes()?;
            let labels: Vec<&str> = truth.codes.iter().map(|&c| truth.labels[c as usize].as_str()).collect();
            outputs.add(trial, split.train.len(), &labels);
        }
        let parameters = task.contender.chosen(&point, task.size());
        panels.push(Panel { machine: task.contender.name, called, strength, parameters, outputs });
    }
    Ok(panels)
}

impl Outputs {
    /// Adds those of a fit, training examples first.
    fn add(&mut self, trial: &Trial, train: usize, truth: &[&str]) {
        let Output::Labels { labels, codes, .. } = &trial.output else { return };
        let one = places_of_labels(labels, &["1"])[0];
        let is_one = |code: u32| one == Some(code as usize);
        // a positive score may stand for either class
        let sign = trial
            .scores
            .iter()
            .zip(codes)
            .find(|(s, _)| **s > 0.0)
            .map_or(1.0, |(_, &code)| if is_one(code) { 1.0 } else { -1.0 });
        let outputs: Vec<f64> = trial.scores.iter().map(|s| sign * s).collect();
        self.train.extend(&outputs[..train]);
        self.test.extend(&outputs[train..]);
        let places = places_of_labels(labels, truth);
        let wrong = |(code, place): &(&u32, Option<usize>)| *place != Some(**code as usize);
        self.wrong += codes.iter().zip(places).skip(train).filter(wrong).count();
    }

    /// The test error in per cent.
    fn error(&self) -> f64 {
        100.0 * self.wrong as f64 / self.test.len().max(1) as f64
    }
}

/// D, by walking through both sorted samples at once.
fn distance(outputs: &Outputs) -> f64 {
    let sorted = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        values
    };
    let (a, b) = (sorted(&outputs.train), sorted(&outputs.test));
    let (mut i, mut j, mut largest) = (0, 0, 0.0_f64);
    while i < a.len() && j < b.len() {
        // both pass a value that they share before they are compared
        let at = a[i].min(b[j]);
        while i < a.len() && a[i] <= at {
            i += 1;
        }
        while j < b.len() && b[j] <= at {
            j += 1;
        }
        largest = largest.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    largest
}

fn density(values: &[f64]) -> Vec<f64> {
    let bin = (DRAWN_OUTPUTS.1 - DRAWN_OUTPUTS.0) / BINS as f64;
    let mut counts = vec![0_usize; BINS];
    for value in values.iter().filter(|v| (DRAWN_OUTPUTS.0..DRAWN_OUTPUTS.1).contains(*v)) {
        counts[(((value - DRAWN_OUTPUTS.0) / bin) as usize).min(BINS - 1)] += 1;
    }
    counts.iter().map(|&c| c as f64 / (bin * values.len().max(1) as f64)).collect()
}

fn figure(panels: &[Panel], splits: usize) -> Distributions {
    let mut rows: Vec<String> = panels.iter().map(|p| p.called.to_owned()).collect();
    rows.dedup();
    let pair = |p: &Panel| DensityPair {
        first: density(&p.outputs.train),
        second: density(&p.outputs.test),
        note: format!("D = {:.3}, test error {:.1} %", distance(&p.outputs), p.outputs.error()),
    };
    Distributions {
        title: "Outputs on training and test examples of ringnorm".to_owned(),
        x_label: "output".to_owned(),
        range: DRAWN_OUTPUTS,
        names: ["training".to_owned(), "test".to_owned()],
        rows,
        columns: STRENGTHS.map(|(_, name)| name.to_owned()).to_vec(),
        panels: panels.iter().map(pair).collect(),
        note: Some(format!("{splits} splits together; D is the largest distance of the two distribution functions")),
    }
}

fn table(panels: &[Panel]) -> String {
    let row = |p: &Panel| {
        let parameters = p.parameters.as_object().into_iter().flatten();
        let parameters: Vec<String> =
            parameters.map(|(name, value)| format!("{name} {:.3e}", value.as_f64().unwrap_or(f64::NAN))).collect();
        vec![
            p.called.to_owned(),
            p.strength.to_owned(),
            format!("{:.3}", distance(&p.outputs)),
            format!("{:.2}", p.outputs.error()),
            parameters.join(", "),
        ]
    };
    let header = ["machine", "regularisation", "distance D", "test error %", "parameters"];
    report::table(&header, &panels.iter().map(row).collect::<Vec<_>>(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_the_largest_gap_between_two_distribution_functions() {
        let of =
            |train: &[f64], test: &[f64]| distance(&Outputs { train: train.to_vec(), test: test.to_vec(), wrong: 0 });
        assert_eq!(of(&[1.0, 2.0, 3.0], &[3.0, 1.0, 2.0]), 0.0);
        assert_eq!(of(&[1.0, 2.0], &[3.0, 4.0, 5.0]), 1.0);
        // after 2: three quarters against one half; ties count on both sides
        assert_eq!(of(&[1.0, 2.0, 2.0, 4.0], &[2.0, 3.0]), 0.25);
        // after 1: one half against nothing
        assert_eq!(of(&[1.0, 5.0], &[2.0, 3.0, 4.0, 5.0]), 0.5);
    }

    #[test]
    fn densities_have_the_area_of_what_is_shown() {
        let densities = density(&[-2.9, 0.0, 0.1, 9.0]);
        let area: f64 = densities.iter().sum::<f64>() * (DRAWN_OUTPUTS.1 - DRAWN_OUTPUTS.0) / BINS as f64;
        assert!((area - 0.75).abs() < 1e-12);
    }
}
