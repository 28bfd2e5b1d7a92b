//! Figure 5.1: support vector machines with complete polynomial kernels of growing degree, with lengths in feature space as
//! they are and with all lengths 1.
//!
//! ```text
//! κ(x, x') = ((⟨x, x'⟩ + 1)/(max ‖x‖² + 1))^p        ((⟨x, x'⟩ + 1)/√((‖x‖² + 1)(‖x'‖² + 1)))^p
//! ```
//! The divisor of the first changes nothing but the scale, so that high powers stay numbers; for thyroid, whose lengths differ
//! by a factor of ten, the solver's single precision suffices up to degree 8. The text does not print the price of margin
//! violations; here C is [`PRICE`] over the smallest κ(x, x), so that margins are nearly hard for every degree, and solvers
//! stop after [`STEPS`] steps where classes overlap.

use super::{Drawn, Number, Request};
use mercer::data::read::{ReadOptions, read};
use mercer::data::{Dataset, Rows, Scale, Schema, SchemaOptions, Values};
use mercer::formula::polynomial;
use mercer::job::Job;
use mercer::machines::classify::Svc;
use mercer::machines::{Effort, Output};
use mercer::plot::{Stroke, Strokes};
use mercer::watch::{Monitor, Phase, Progress, Silent};
use mercer_terminal::Failure;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::path::Path;

/// A set.
struct Set {
    name: &'static str,
    file: &'static str,
    /// Examples learned from.
    train: usize,
    /// The range of errors that the printed figure shows.
    printed: (f64, f64),
    degrees: &'static [usize],
}

static SETS: [Set; 2] = [
    Set {
        name: "thyroid",
        file: "raetsch/thyroid.csv.gz",
        train: 140,
        printed: (0.040, 0.070),
        degrees: &[1, 2, 3, 4, 5, 6, 7, 8],
    },
    Set {
        name: "sonar",
        file: "uci/sonar.csv.gz",
        train: 124,
        printed: (0.16, 0.22),
        degrees: &[1, 2, 3, 4, 5, 7, 10, 13, 16, 20, 25, 30, 35, 40],
    },
];
const PRICE: f64 = 1000.0;
const STEPS: usize = 300_000;

/// A table with the class in its last column, and no row that misses a value.
pub(super) fn load(file: &Path) -> Result<Dataset, Failure> {
    let options = ReadOptions { format: Some("csv".to_owned()), header: Some(false), ..ReadOptions::default() };
    let table = read(file, &options)?;
    let schema =
        SchemaOptions { scale: Some(Scale::None), target: Some(vec!["-1".to_owned()]), ..SchemaOptions::default() };
    Ok(Schema::learn_and_apply(&table, &schema)?.1)
}

/// The vectors of a set.
fn rows(data: &Dataset) -> Option<Rows<f64>> {
    match &data.views().first()?.values {
        Values::Dense(rows) => Some(rows.as_ref().clone()),
        Values::Dense32(rows) => Some(rows.convert::<f64>()),
        _ => None,
    }
}

/// The error of a machine trained on some examples and tested on others.
pub(super) fn error(job: &Job, data: &Dataset, train: &[usize], test: &[usize]) -> Result<f64, Failure> {
    let model = job.run(&data.select(train), &Silent)?;
    let Output::Labels { labels, codes, .. } = model.predict(&data.select(test))? else {
        return Err(Failure { message: "the machine tells no classes".to_owned(), code: 4 });
    };
    let Some(target) = data.target() else { return Err(mercer::data::DataError::NoTarget.into()) };
    let truth = target.select(test).classes()?;
    let right = |(a, b): (&u32, &u32)| labels.get(*a as usize) == truth.labels.get(*b as usize);
    Ok(1.0 - codes.iter().zip(&truth.codes).filter(|&p| right(p)).count() as f64 / test.len().max(1) as f64)
}

/// Mean and standard deviation.
pub(super) fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt())
}

/// Tells how far the work is; an error if it is to stop.
pub(super) fn step(request: &Request<'_>, done: usize, total: usize) -> Result<(), Failure> {
    let progress = Progress::new(Phase::new("fits"), done).of(total);
    match request.watch.step(&progress) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(_) => Err(Failure { message: "stopped before the figure was drawn".to_owned(), code: 130 }),
    }
}

pub(super) fn draw(request: &Request<'_>) -> Result<Vec<Drawn>, Failure> {
    let folder = request.folder()?;
    let mut drawn = Vec::new();
    for (k, &Set { name, file, train, printed, degrees }) in SETS.iter().enumerate() {
        let data = load(&folder.join(file))?;
        let Some(rows) = rows(&data) else {
            return Err(Failure { message: format!("{file}: the examples are no vectors"), code: 3 });
        };
        let squares: Vec<f64> = (0..rows.len()).map(|i| rows.row(i).iter().map(|v| v * v).sum()).collect();
        let largest = 1.0 + squares.iter().copied().fold(0.0, f64::max);
        let mut random = request.seed.stream(name);
        let splits: Vec<Vec<usize>> = (0..request.splits).map(|_| random.permutation(data.len())).collect();
        let mut curves: [Vec<(f64, f64, f64)>; 2] = [Vec::new(), Vec::new()];
        for (d, &degree) in degrees.iter().enumerate() {
            step(request, k * degrees.len() + d, SETS.len() * degrees.len())?;
            let least = squares.iter().map(|s| ((s + 1.0) / largest).powi(degree as i32)).fold(1.0, f64::min);
            let power = u32::try_from(degree).unwrap_or(1);
            let as_it_is = ((1.0 / largest) * polynomial(1, 1.0)).power(power);
            // powers of a normalised kernel are normalised
            let normalised = polynomial(1, 1.0).normalise().power(power);
            for (curve, (kernel, least)) in curves.iter_mut().zip([(as_it_is, least), (normalised, 1.0)]) {
                let effort = Effort { max_iterations: STEPS, ..Effort::default() };
                let machine = Svc { c: PRICE / least, effort, ..Svc::default() };
                let job = Job { seed: request.seed, ..Job::new(&machine, &kernel) };
                let of = |order: &Vec<usize>| error(&job, &data, &order[..train], &order[train..]);
                let errors: Vec<f64> = splits.par_iter().map(of).collect::<Result<_, _>>()?;
                let (mean, deviation) = moments(&errors);
                curve.push((degree as f64, mean, deviation));
            }
        }
        drawn.push(picture(request, name, train, &curves, printed));
    }
    Ok(drawn)
}

/// The two curves; the strip is one standard deviation.
fn picture(
    request: &Request<'_>,
    name: &str,
    train: usize,
    curves: &[Vec<(f64, f64, f64)>; 2],
    printed: (f64, f64),
) -> Drawn {
    let names = ["as they are", "normalised"];
    let strokes = curves.iter().zip(names).enumerate().map(|(k, (curve, called))| Stroke {
        name: called.to_owned(),
        points: curve.iter().map(|c| (c.0, c.1)).collect(),
        spread: curve.iter().map(|c| c.2).collect(),
        colour: k as u32,
        dashed: k == 0,
    });
    let figure = Strokes {
        title: format!("Lengths in feature space: {name}"),
        x_label: "degree of the polynomial kernel".to_owned(),
        y_label: "test error".to_owned(),
        strokes: strokes.collect(),
        note: Some(format!(
            "support vector machine, {train} examples, {} random splits, ± one deviation",
            request.splits
        )),
        ..Strokes::default()
    };
    let better = curves[0].iter().zip(&curves[1]).filter(|(a, b)| b.1 < a.1).count();
    let least = |curve: &[(f64, f64, f64)]| curve.iter().map(|c| c.1).fold(f64::INFINITY, f64::min);
    let most = |curve: &[(f64, f64, f64)]| curve.iter().map(|c| c.1).fold(0.0, f64::max);
    let numbers = vec![
        Number::new(format!("degrees of {} at which normalised is better", curves[0].len()), better as f64, None),
        Number::new("least mean error, as they are", least(&curves[0]), None),
        Number::new("least mean error, normalised", least(&curves[1]), Some(printed.0)),
        Number::new("largest mean error, as they are", most(&curves[0]), Some(printed.1)),
        Number::new("largest mean error, normalised", most(&curves[1]), None),
    ];
    Drawn { file: format!("normalisation-{name}.svg"), svg: figure.draw(request.theme), numbers }
}
