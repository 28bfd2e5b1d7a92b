//! `mercer reproduce toys`: kernel principal components, oriented ones and the kernel Fisher discriminant of two noisy parabolas.
//!
//! Class 1 is (t, t² + noise), class 2 its mirror image at both axes, and the kernel is a polynomial of degree 2. Principal
//! components know nothing of the classes, so the first need not tell them apart; the discriminant does. The oriented component
//! knows that a step to the right shall make no difference: its levels lie along that step.
//!
//! # Source
//! S. Mika, Kernel Fisher Discriminants (2002), §5, Figure 5.2 (without numbers, and without those of the noise).

use super::contender::Fixed;
use clap::{ArgMatches, Command};
use mercer::data::{Dataset, Rows, Target};
use mercer::formula::polynomial;
use mercer::job::{AuxiliaryExamples, Job};
use mercer::machines;
use mercer::metrics::{Metrics, measure};
use mercer::model::Model;
use mercer::params::assign;
use mercer::plot::{FeatureMap, FeatureMaps, PlotPoint};
use mercer::seed::Seed;
use mercer_terminal::{Failure, Verb, Watch, arguments, report};
use serde_json::json;

pub(super) const EXPERIMENT: Verb = Verb { command, run };

/// Examples of a class, the deviation of the noise, and cells of the picture along each side.
const SIZES: (usize, f64, usize) = (60, 0.15, 70);
/// The edges of the picture.
const DRAWN_RANGE: (f64, f64) = (-1.6, 1.6);

/// A machine, its parameters, and what its coordinates are called.
struct Feature {
    machine: &'static str,
    settings: &'static [(&'static str, Fixed)],
    /// A step to the right of which the feature shall not take notice.
    step: Option<f64>,
    called: &'static [&'static str],
}

const FEATURES: [Feature; 3] = [
    Feature {
        machine: "kernel_pca",
        settings: &[("components", Fixed::Number(2.0))],
        step: None,
        called: &["first kernel principal component", "second kernel principal component"],
    },
    Feature {
        machine: "oriented_kpca",
        settings: &[("components", Fixed::Number(1.0)), ("unwanted", Fixed::Word("0.01*norm + tangent"))],
        step: Some(0.1),
        called: &["oriented: blind to steps in x"],
    },
    Feature {
        machine: "kfd",
        settings: &[("lambda", Fixed::Number(0.1))],
        step: None,
        called: &["kernel Fisher discriminant"],
    },
];

fn command() -> Command {
    let command = Command::new("toys")
        .about("Features of two noisy parabolas by principal, oriented and Fisher's criteria (Mika 2002, section 5)")
        .after_help("Example:\n  mercer reproduce toys -o toys.svg")
        .arg(arguments::output("FIG", "Picture to draw, as .svg or .png").default_value("toys.svg"))
        .arg(arguments::theme());
    arguments::common(command)
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let Some(picture) = arguments::target(flags)? else { return Err(Failure::usage("-o FIG is needed")) };
    arguments::picture(picture)?;
    let (budget, seed) = (arguments::budget(flags)?, arguments::seed(flags));
    let (points, data) = parabolas(seed)?;
    let watch = Watch::new(flags);
    let kernel = polynomial(2, 1.0);
    let (mut maps, mut told) = (Vec::new(), Vec::new());
    for feature in &FEATURES {
        let Some(entry) = machines::find(feature.machine) else {
            return Err(Failure::usage(format!("the machine {} is missing", feature.machine)));
        };
        let mut machine = (entry.make)();
        for (name, value) in feature.settings {
            assign(entry.name, machine.as_mut(), name, &value.setting())?;
        }
        let auxiliary = feature.step.map(|step| moved(&points, step)).transpose()?;
        let job = Job { budget, seed, auxiliary: auxiliary.clone(), ..Job::new(machine.as_ref(), &kernel) };
        let model = job.run(&data, &watch)?;
        let (on_grid, on_data) = (model.scores(&grid()?)?, model.scores(&data)?);
        let outputs = feature.called.len();
        for (k, name) in feature.called.iter().enumerate() {
            let of = |scores: &[f64]| scores.iter().skip(k).step_by(outputs).copied().collect::<Vec<f64>>();
            maps.push(FeatureMap { name: (*name).to_owned(), values: of(&on_grid) });
            told.push((*name, separation(&of(&on_data), &points), error(&model, &data)));
        }
    }
    watch.finish();
    let figure = FeatureMaps {
        title: "Two noisy parabolas, features of a polynomial kernel of degree 2".to_owned(),
        x: DRAWN_RANGE,
        y: DRAWN_RANGE,
        cells: SIZES.2,
        maps,
        points,
        note: Some(
            "circles and squares are the classes; lines are levels, colours run from the lowest to the highest value"
                .to_owned(),
        ),
    };
    arguments::save_picture(picture, &figure.draw(arguments::chosen_theme(flags)))?;
    if flags.get_flag("json") {
        let document = |(name, separation, error): &(&str, f64, Option<f64>)| json!({"feature": name, "separation": separation, "training_error": error});
        report::print_json(&json!(told.iter().map(document).collect::<Vec<_>>()));
    } else {
        let row =
            |(name, separation, _): &(&str, f64, Option<f64>)| vec![(*name).to_owned(), format!("{separation:.3}")];
        let header = ["feature", "between classes / within"];
        report::print(&report::table(&header, &told.iter().map(row).collect::<Vec<_>>(), true));
        report::print(&report::facts(&[("picture", picture.display().to_string())]));
    }
    Ok(())
}

/// Both classes, for the picture and for the machines.
fn parabolas(seed: Seed) -> Result<(Vec<PlotPoint>, Dataset), Failure> {
    let (n, deviation, _) = SIZES;
    let mut random = seed.stream("parabolas");
    let mut points = Vec::with_capacity(2 * n);
    for code in 0..2_u32 {
        let side = if code == 0 { 1.0 } else { -1.0 };
        for _ in 0..n {
            let t = 2.0 * random.uniform() - 1.0;
            let (x, y) = (t + deviation * random.normal(), t * t + deviation * random.normal());
            points.push(PlotPoint { x: side * x, y: side * y, code, support: false, wrong: false });
        }
    }
    let rows = rows(points.iter().flat_map(|p| [p.x, p.y]).collect())?;
    let labels: Vec<String> = points.iter().map(|p| (p.code + 1).to_string()).collect();
    Ok((points, Dataset::new(rows).with_target(Target::from(labels))?))
}

/// Copies of all points, a step further to the right.
fn moved(points: &[PlotPoint], step: f64) -> Result<AuxiliaryExamples, Failure> {
    let copies = Dataset::new(rows(points.iter().flat_map(|p| [p.x + step, p.y]).collect())?);
    Ok(AuxiliaryExamples::default().with_copies("step", &copies)?)
}

/// The centres of all cells, the bottom row first.
fn grid() -> Result<Dataset, Failure> {
    let n = SIZES.2;
    let centre = |k: usize| DRAWN_RANGE.0 + (DRAWN_RANGE.1 - DRAWN_RANGE.0) * (k as f64 + 0.5) / n as f64;
    Ok(Dataset::new(rows((0..n * n).flat_map(|k| [centre(k % n), centre(k / n)]).collect())?))
}

/// Points of the plane.
fn rows(values: Vec<f64>) -> Result<Rows<f64>, Failure> {
    let n = values.len() / 2;
    Rows::new(values, n, 2)
        .ok_or_else(|| Failure { message: "points of the plane have two coordinates".to_owned(), code: 4 })
}

/// (m₁ − m₂)² / (v₁ + v₂): what Fisher's criterion makes large.
fn separation(values: &[f64], points: &[PlotPoint]) -> f64 {
    let moments = |code: u32| {
        let own: Vec<f64> = values.iter().zip(points).filter(|(_, p)| p.code == code).map(|(v, _)| *v).collect();
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        (mean, own.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / own.len() as f64)
    };
    let ((a, va), (b, vb)) = (moments(0), moments(1));
    (a - b) * (a - b) / (va + vb)
}

/// The training error of a classifier.
fn error(model: &Model, data: &Dataset) -> Option<f64> {
    let output = model.predict(data).ok()?;
    match measure(&output, data.target()?).ok()? {
        Metrics::Classes(m) => Some(m.error),
        Metrics::Numbers(_) => None,
    }
}
