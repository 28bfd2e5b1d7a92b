//! Every machine that declares a theory, on 64 places whose risks are sums.
//!
//! ```text
//! with probability 1 − δ   each claim about the fit to m examples, beside the true risk of that fit
//! in expectation           each claim about the fit to m, beside the true risk of the fit to m − 1:  E R_loo(m) = E R(m − 1)
//! stability                E R ≤ E R̂ + 2β,  E R ≤ E R_loo + β,  β = l²κ²/(2λm)
//! ```
//! Controls: the leave-one-out error of a discriminant whose shift is ignored; the radius over the margin without the noise that
//! the kernel has on the diagonal.
//!
//! # Source
//! Herbrich (2002), Thm. 2.36, 2.37 and 5.31; Bousquet & Elisseeff (2002), Lemma 9.

use super::super::samples::{facts, fit, points, scores};
use super::finite::{SIDE, TOUCHING, chance, margin_violation, place, places, sample};
use super::{Must, Said, World, claims, expectations};
use mercer::bounds::{Facts, Quantity, stability};
use mercer::certify::Options;
use mercer::data::{Dataset, Target};
use mercer::formula::{Formula, linear, noise, rbf};
use mercer::machines::classify::{Kfd, Svc};
use mercer::machines::detect::CentreOfMass;
use mercer::machines::{self, Compresses, Cost, Learns, Machine, Output, Reads, Theory};
use mercer::model::Model;
use mercer::params::{ParamError, Setting, assign};
use mercer::seed::Random;
use mercer::solvers::Penalty;
use mercer_terminal::Failure;
use std::f64::consts::PI;

/// Classifiers of two classes.
pub(super) const CLASSES: World = World {
    name: "theories of classes",
    about: "40 examples on a grid with a noisy disc, every classifier that declares a theory",
    delta: 0.2,
    one_in: 4,
    draw: classes,
};

/// Regressions.
pub(super) const NUMBERS: World = World {
    name: "theories of numbers",
    about: "40 examples on a grid with a wave and five values of noise, every regression that declares a theory",
    delta: 0.2,
    one_in: 4,
    draw: numbers,
};

/// Detectors of novelties.
pub(super) const REGION: World = World {
    name: "theories of regions",
    about: "40 examples of a grid, every detector that declares a theory",
    delta: 0.2,
    one_in: 4,
    draw: regions,
};

const EXAMPLES: usize = 40;
/// The noise of numbers: each value is as likely as the others.
const NOISE: [f64; 5] = [-0.3, -0.15, 0.0, 0.15, 0.3];

/// True if anything is proved of a machine.
fn declares(theory: &Theory) -> bool {
    !matches!(theory.compression, Compresses::Not(_))
        || theory.loss.is_ok()
        || theory.multipliers.is_some()
        || theory.outlier_share.is_some()
        || theory.region_slack.is_some()
        || theory.homogeneous
}

/// A machine, a kernel that it takes, and what it is called.
type Case = (String, Box<dyn Machine>, Formula);

/// The machines with default parameters that declare a theory, and the same without the offset where that is a parameter.
fn declared(learns: Learns) -> Result<Vec<Case>, Failure> {
    let mut all = Vec::new();
    for entry in machines::all().filter(|e| e.learns == learns) {
        let make = |bias: Option<bool>| {
            let mut machine = (entry.make)();
            let mut set = |name: &str, value: Setting| assign(entry.name, machine.as_mut(), name, &value);
            if entry.name == "nu_svc" {
                // a share that the smaller class of hardly any sample forbids
                set("nu", Setting::Number(0.2))?;
            }
            bias.map_or(Ok(()), |bias| set("bias", Setting::Switch(bias)))?;
            Ok::<_, ParamError>(machine)
        };
        let usual = make(None).map_err(|e| Failure { message: e.to_string(), code: 4 })?;
        let of = |suffix: String, machine: Box<dyn Machine>| {
            let kernel = if machine.traits().reads == Reads::Features { linear() } else { rbf(2.0) };
            (suffix, machine, kernel)
        };
        if declares(&usual.traits().theory) {
            let free = !usual.traits().theory.homogeneous;
            all.push(of(entry.name.to_owned(), usual));
            // most have no such parameter
            all.extend(
                free.then(|| make(Some(false)).ok()).flatten().map(|m| of(format!("{} without bias", entry.name), m)),
            );
        }
    }
    Ok(all)
}

/// The share of new examples that a classifier gets wrong.
fn risk(model: &Model) -> Result<f64, Failure> {
    let Output::Labels { labels, codes, .. } = model.predict(&places()?)? else {
        return Err(Failure { message: "the model tells no classes".to_owned(), code: 4 });
    };
    let wrong = |(k, &code): (usize, &u32)| {
        if labels.get(code as usize).is_some_and(|l| l == "+1") { 1.0 - chance(k) } else { chance(k) }
    };
    Ok(codes.iter().enumerate().map(wrong).sum::<f64>() / (SIDE * SIDE) as f64)
}

/// E R ≤ E R̂ + 2β for the loss that the machine minimises, the fit within the solver's distance of the minimum.
fn stable(facts: &Facts, expected: f64) -> Option<Said> {
    let (r, radius) = (facts.regularised.filter(|r| !r.free_offset && r.lambda > 0.0)?, facts.kernel.radius?);
    let slope = r.lipschitz?;
    let beta = stability::beta(slope, radius, r.lambda, facts.examples);
    let bound = r.mean_loss + 2.0 * beta + 2.0 * slope * radius * r.from_optimum;
    Some(Said::upper("stability in expectation", Must::HoldOnAverage, bound, expected).of_a_loss())
}

/// The promise of ν about the training examples, which fails in no draw.
fn nu_property(facts: &Facts) -> Option<Said> {
    let found = facts.nu?;
    Some(Said::upper("nu_property", Must::Hold, found.nu, found.outside / facts.examples))
}

/// The examples but for the last.
fn without_one(data: &Dataset) -> Dataset {
    data.select(&(0..data.len() - 1).collect::<Vec<_>>())
}

fn named(said: impl IntoIterator<Item = Said>, machine: &str, suffix: &str) -> Vec<Said> {
    said.into_iter().map(|s| s.about(machine, suffix)).collect()
}

/// Claims about a classifier.
fn classifier(
    suffix: &str,
    machine: &dyn Machine,
    kernel: &Formula,
    data: &Dataset,
    delta: f64,
) -> Result<Vec<Said>, Failure> {
    let model = fit(machine, kernel, data)?;
    // the span takes the inverse of a matrix
    let facts = facts(&model, data, &Options { delta, thorough: suffix.starts_with("svc"), ..Options::default() })?;
    let (risk_of_all, at_places) = (risk(&model)?, scores(&model, &places()?)?);
    let mut said = claims(&facts, delta, |_, _, quantity| match quantity {
        Quantity::ZeroOneRisk => Some(risk_of_all),
        Quantity::MarginViolation => Some(margin_violation(&at_places)),
        _ => None,
    });
    said.extend(nu_property(&facts));
    let smaller = risk(&fit(machine, kernel, &without_one(data))?)?;
    said.extend(expectations(&facts, |quantity| (quantity == Quantity::ZeroOneRisk).then_some(smaller)));
    if let Some(count) = facts.leave_one_out.span {
        said.push(Said::upper("span", Must::HoldOnAverage, count / facts.examples, smaller));
    }
    if let Ok(loss) = machine.traits().theory.loss {
        let cost =
            |(k, f): (usize, &f64)| chance(k) * loss.cost.of(1.0, *f) + (1.0 - chance(k)) * loss.cost.of(-1.0, *f);
        let expected = at_places.iter().enumerate().map(cost).sum::<f64>() / (SIDE * SIDE) as f64;
        said.extend(stable(&facts, expected));
    }
    Ok(named(said, &facts.machine, suffix))
}

fn classes(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    let data = sample(random, EXAMPLES)?;
    let mut said = Vec::new();
    let svc = |c: f64, bias: bool| Svc { c, bias, ..Svc::default() };
    let programme = Kfd { penalty: Penalty::Norm, threshold: machines::Threshold::Programme, ..Kfd::default() };
    let mut cases = declared(Learns::Classes)?;
    let mut case = |suffix: &str, machine: Box<dyn Machine>, kernel: Formula| {
        cases.push((suffix.to_owned(), machine, kernel));
    };
    case("svc with C = 0.02 without bias", Box::new(svc(0.02, false)), rbf(2.0));
    case("svc with a hard margin over noise without bias", Box::new(svc(f64::INFINITY, false)), over_noise(0.5));
    case("svc with a hard margin over noise", Box::new(svc(f64::INFINITY, true)), over_noise(0.5));
    case("svc with a hard margin over much noise without bias", Box::new(svc(f64::INFINITY, false)), over_noise(4.0));
    case("kfd with the programme's threshold", Box::new(programme.clone()), rbf(2.0));
    for (suffix, machine, kernel) in &cases {
        said.extend(classifier(suffix, machine.as_ref(), kernel, &data, delta)?);
    }
    said.push(shift_ignored(&programme, &data)?);
    said.push(noise_ignored(&svc(f64::INFINITY, false), &data)?);
    Ok(said)
}

/// A kernel whose noise makes every sample separable.
fn over_noise(variance: f64) -> Formula {
    rbf(2.0) + noise(variance)
}

/// The errors of the fits without one example each by the programme's threshold, taken for those of a rule that is shifted.
fn shift_ignored(programme: &Kfd, data: &Dataset) -> Result<Said, Failure> {
    let told = facts(&fit(programme, &rbf(2.0), data)?, data, &Options::default())?;
    let errors = told.leave_one_out.errors.ok_or_else(|| unknown("the errors of leaving out"))?;
    let shifted = Kfd { shift: 1.0, ..programme.clone() };
    let truth = risk(&fit(&shifted, &rbf(2.0), &without_one(data))?)?;
    let said = Said::upper("leave_one_out", Must::FailOnAverage, errors / told.examples, truth);
    Ok(said.about(&told.machine, "kfd, its shift ignored"))
}

/// R²‖w‖²/m of predictions, which have no part in the noise on the diagonal that the margin is hard over.
fn noise_ignored(machine: &Svc, data: &Dataset) -> Result<Said, Failure> {
    let told = facts(&fit(machine, &over_noise(4.0), data)?, data, &Options::default())?;
    let squared_norm = told.linear.as_ref().map(|l| l.squared_norm).ok_or_else(|| unknown("the weight vector"))?;
    let truth = risk(&fit(machine, &over_noise(4.0), &without_one(data))?)?;
    let said = Said::upper("radius_margin", Must::FailOnAverage, squared_norm / told.examples, truth);
    Ok(said.about(&told.machine, "svc, noise on the diagonal ignored"))
}

fn unknown(what: &str) -> Failure {
    Failure { message: format!("{what} of a fit are not known"), code: 4 }
}

fn wave(k: usize) -> f64 {
    let [x, y] = place(k);
    (PI * x).sin() * (0.5 * PI * y).cos()
}

/// The mean over new numbers of what a prediction costs.
fn mean_of(at_places: &[f64], cost: impl Fn(f64, f64) -> f64) -> f64 {
    let each = |(k, f): (usize, &f64)| NOISE.iter().map(|e| cost(wave(k) + e, *f)).sum::<f64>() / NOISE.len() as f64;
    at_places.iter().enumerate().map(each).sum::<f64>() / (SIDE * SIDE) as f64
}

fn numbers(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    let chosen: Vec<usize> = (0..EXAMPLES).map(|_| random.below(SIDE * SIDE)).collect();
    let y: Vec<f64> = chosen.iter().map(|&k| wave(k) + NOISE[random.below(NOISE.len())]).collect();
    let data = points(chosen.iter().flat_map(|&k| place(k)).collect(), 2)?.with_target(Target::from(y))?;
    let options = Options { delta, target_range: Some([-1.3, 1.3]), radius: Some(1.5), ..Options::default() };
    let mut said = Vec::new();
    for (suffix, machine, kernel) in declared(Learns::Numbers)? {
        let model = fit(machine.as_ref(), &kernel, &data)?;
        let facts = facts(&model, &data, &options)?;
        let (theory, at_places) = (machine.traits().theory, model.scores(&places()?)?);
        let cost = theory.loss.map(|l| l.cost).ok();
        let expected = cost.map(|cost| mean_of(&at_places, |y, f| cost.of(y, f)));
        let misses = match theory.compression {
            Compresses::Tube { epsilon } => {
                Some(mean_of(&at_places, |y, f| f64::from(u8::from((y - f).abs() > epsilon + TOUCHING))))
            }
            _ => None,
        };
        let mut of_machine = claims(&facts, delta, |_, _, quantity| match quantity {
            Quantity::TubeMisses => misses,
            Quantity::ExpectedLoss => expected,
            _ => None,
        });
        of_machine.extend(expected.and_then(|expected| stable(&facts, expected)));
        of_machine.extend(nu_property(&facts));
        if let (Some(Cost::Squared), Some(left_out)) = (cost, facts.regularised.and_then(|r| r.left_out)) {
            let smaller = fit(machine.as_ref(), &kernel, &without_one(&data))?.scores(&places()?)?;
            let truth = mean_of(&smaller, |y, f| Cost::Squared.of(y, f));
            of_machine.push(Said::upper("leave-one-out squares", Must::BeUnbiased, left_out, truth).of_a_loss());
        }
        said.extend(named(of_machine, &facts.machine, &suffix));
    }
    Ok(said)
}

fn regions(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    let values = (0..EXAMPLES).flat_map(|_| place(random.below(SIDE * SIDE))).collect();
    let data = points(values, 2)?;
    let mut said = Vec::new();
    for (suffix, machine, kernel) in declared(Learns::Unsupervised)? {
        let model = fit(machine.as_ref(), &kernel, &data)?;
        let facts = facts(&model, &data, &Options { delta, ..Options::default() })?;
        let outside = novel(&model)?;
        let mut of_machine = claims(&facts, delta, |_, _, q| (q == Quantity::NoveltyRate).then_some(outside));
        of_machine.extend(nu_property(&facts));
        said.extend(named(of_machine, &facts.machine, &suffix));
    }
    // 1/(m + 1) of the farthest example, and δ for the slack of the centre
    let machine = CentreOfMass::default();
    let model = fit(&machine, &rbf(2.0), &data)?;
    let bound = 1.0 / (EXAMPLES + 1) as f64 + machine.delta;
    let said_of_centre = Said::upper("a new example is novel", Must::HoldOnAverage, bound, novel(&model)?);
    said.push(said_of_centre.about(model.machine(), "centre_of_mass"));
    Ok(said)
}

/// The share of new examples outside the region; those on its border are inside within the solver's tolerance.
fn novel(model: &Model) -> Result<f64, Failure> {
    let outside = model.scores(&places()?)?.iter().filter(|f| **f < -0.1 * TOUCHING).count();
    Ok(outside as f64 / (SIDE * SIDE) as f64)
}
