//! Facts about a model: margins, norms, compression sets and prices, from its scores on the training examples.

use super::seen::Seen;
use super::{Options, thorough};
use crate::bounds::{
    Compression, Facts, HeldOut, KernelFacts, LeaveOneOut, Linear, Multiplier, Novelty, Online, Price, Regularised,
    Task,
};
use crate::data::{DataError, Dataset};
use crate::error::Error;
use crate::gram::Side;
use crate::machines::{self, Coefficients, Compresses, Machine, Theory};
use crate::model::Model;
use crate::params::assign;
use crate::solvers::Monitor;
use std::f64::consts::LN_2;

/// The numbers about a model that theorems ask for.
///
/// # Errors
/// See [`Model::certify`].
pub fn facts(model: &Model, training: &Dataset, options: &Options<'_>, watch: &dyn Monitor) -> Result<Facts, Error> {
    let usage = |finding: String| Err(DataError::Usage { finding }.into());
    if !(options.delta > 0.0 && options.delta < 1.0) {
        return usage(format!("delta = {} must lie between 0 and 1", options.delta));
    }
    if let Some(origin) = &model.origin
        && origin.fingerprint != training.fingerprint()
    {
        return usage(format!(
            "these are not the examples that the model was trained on ({} of them, recognised by their hash); give the training file, and other examples as held-out ones",
            model.trained_on
        ));
    }
    let machine = remade(model)?;
    let mut theory = machine.as_ref().map_or_else(Theory::default, |m| m.theory());
    if model.origin.as_ref().is_some_and(|o| o.part.is_some()) {
        // the machine has solved its problem for a part of these examples only
        theory.loss = None;
        theory.multipliers = false;
    }
    let seen = Seen::new(model, training, &theory)?;
    let mut facts = Facts::bare(training.len() as f64, seen.task);
    facts.machine.clone_from(&model.machine);
    facts.price = price(model, training, &seen, &theory, options);
    facts.errors =
        (seen.task != Task::Nothing && seen.judged).then(|| seen.wrong.iter().filter(|w| **w).count() as f64);
    facts.kernel = kernel_facts(model, training, &seen);
    match linear(model, training, &seen, &theory) {
        Ok(linear) => {
            facts.kernel.trace = linear.squared_lengths.iter().sum();
            facts.linear = Some(linear);
        }
        Err(reason) => facts.no_linear = reason,
    }
    match compression(model, training, &seen, &theory, facts.linear.as_ref()) {
        Ok(set) => facts.compression = Some(set),
        Err(reason) => facts.no_compression = reason,
    }
    facts.regularised = regularised(model, training, &seen, &theory, options);
    facts.novelty = novelty(model, &seen);
    facts.online = online(model, &seen, &facts);
    facts.leave_one_out = LeaveOneOut { errors: loo_note(model, &facts), span: None };
    if let Some(held_out) = options.held_out {
        facts.held_out = held_out_facts(model, held_out, &theory, seen.task)?;
    }
    if options.thorough {
        thorough::add(&mut facts, model, training, options, watch)?;
    }
    if options.evidence > 0 {
        thorough::evidence(&mut facts, model, training, &seen.signs, options, watch)?;
    }
    Ok(facts)
}

/// The machine with the model's parameters; `None` where its parameters are not all known here.
pub(super) fn remade(model: &Model) -> Result<Option<Box<dyn Machine>>, Error> {
    let Some(entry) = machines::find(&model.machine) else { return Ok(None) };
    let mut machine = (entry.make)();
    for (name, value) in &model.settings {
        assign(entry.name, machine.as_mut(), name, value)?;
    }
    Ok(Some(machine))
}

fn price(model: &Model, training: &Dataset, seen: &Seen, theory: &Theory, options: &Options<'_>) -> Price {
    let mut what = Vec::new();
    let mut bits = 0.0;
    if let Some(schema) = model.schema.as_ref().or(options.schema) {
        let learned = schema.learned_bits();
        if learned > 0.0 {
            what.push("scaling or coding of the columns was learned from these examples");
        }
        bits += learned;
    }
    let chosen = model.origin.as_ref().map_or(0, |o| o.numbers_chosen) + options.numbers_chosen;
    if chosen > 0 {
        what.push("the kernel's numbers were chosen by these examples");
    }
    bits += 64.0 * chosen as f64;
    let learned = model.kernel.learned();
    if !learned.is_empty() {
        what.push("the kernel learned its weights from these examples");
    }
    for part in &learned {
        bits += 64.0 * part.numbers.len() as f64 + 8.0 * part.words.iter().map(|w| w.len() + 1).sum::<usize>() as f64;
    }
    let balanced = options.balanced
        || model.settings.iter().any(|(name, value)| name == "class_weight" && value.to_string() == "balanced");
    let mut nats = bits * LN_2 + theory.choices.max(1.0).ln();
    if theory.choices > 1.0 {
        what.push("the machine chose among several runs");
    }
    if balanced {
        what.push("classes were weighed by their numbers");
        // all but one of the numbers, each from 0 to m
        let free = if let Task::Classes(k) = seen.task { k.saturating_sub(1).max(1) } else { 1 };
        nats += free as f64 * (training.len() as f64 + 1.0).ln();
    }
    if model.kernel.needs_all_examples() {
        what.push("the kernel is centred on these examples, which cannot be paid for");
        nats = f64::INFINITY;
    }
    let recorded = (model.candidates > 0).then_some(model.candidates);
    Price {
        candidates: options.candidates.or(recorded),
        held_out_candidates: options.held_out_candidates.max(1),
        learned: nats,
        learned_what: what.join("; "),
    }
}

/// The offset of a classifier of two classes.
fn offset(model: &Model, seen: &Seen) -> f64 {
    match (model.fitted.expansion.offsets.as_slice(), seen.outputs) {
        ([b], 1) => *b,
        ([a, b], 2) => 0.5 * (a - b),
        _ => 0.0,
    }
}

/// What the formula tells; the trace comes with the lengths of the examples.
fn kernel_facts(model: &Model, training: &Dataset, seen: &Seen) -> KernelFacts {
    let free = if offset(model, seen) == 0.0 { 0.0 } else { 1.0 };
    let dimension = model.kernel.dimension(training).map(|d| d + free);
    KernelFacts {
        radius: model.kernel.radius().map(|r| (r * r + free).sqrt()),
        dimension,
        trace: 0.0,
        // the rank of a matrix is at most the dimension
        rank: dimension.filter(|d| *d < training.len() as f64),
        random_signs: None,
    }
}

/// The coefficients of a classifier of two classes on the model's examples, in the orientation of the score.
fn dual(model: &Model) -> Option<(&[usize], Vec<f64>)> {
    match &model.fitted.expansion.coefficients {
        Coefficients::Dual { points, alpha } if alpha.len() == points.len() => Some((points, alpha.clone())),
        Coefficients::Dual { points, alpha } if alpha.len() == 2 * points.len() => {
            Some((points, alpha.chunks_exact(2).map(|a| 0.5 * (a[0] - a[1])).collect()))
        }
        Coefficients::Pairwise { points, alpha, count: 2, .. } => Some((points, alpha.clone())),
        _ => None,
    }
}

fn linear(model: &Model, training: &Dataset, seen: &Seen, theory: &Theory) -> Result<Linear, String> {
    let Some(decision) = seen.decision() else {
        return Err(match seen.task {
            Task::Classes(_) => "is for two classes".to_owned(),
            _ => "is for classifiers".to_owned(),
        });
    };
    if model.kernel.definite() != crate::kernels::Definite::Positive {
        return Err("the kernel is not positive definite, so there is no weight vector".to_owned());
    }
    let b = offset(model, seen);
    let plus = if b == 0.0 { 0.0 } else { 1.0 };
    let lengths = model.kernel.gram(training).ok().and_then(|g| g.self_similarities(Side::Rows));
    let Some(lengths) = lengths.filter(|l| l.len() == training.len()) else {
        return Err("κ(x, x) of the examples is not known".to_owned());
    };
    let mut support = Vec::new();
    let squared = match (&model.fitted.expansion.coefficients, dual(model)) {
        (_, Some((points, c))) => {
            let (values, own) = at_points(model, seen, &decision, points)?;
            let squared = c.iter().zip(&values).map(|(c, f)| c * (f - b)).sum::<f64>();
            if theory.multipliers {
                support = (0..c.len())
                    .map(|p| Multiplier {
                        margin: c[p].signum() * values[p],
                        alpha: c[p].abs(),
                        squared_length: own[p],
                    })
                    .collect();
            }
            squared
        }
        (Coefficients::Primal { weights, scale, .. }, None) => {
            let one = seen.outputs == 1;
            let difference = |w: &[f64]| if one { w[0] } else { 0.5 * (w[0] - w[1]) };
            scale * weights.chunks_exact(seen.outputs).map(|w| difference(w).powi(2)).sum::<f64>()
        }
        _ => return Err(format!("{} is not a linear classifier in feature space", model.machine)),
    };
    let margins: Vec<f64> = decision.iter().zip(&seen.signs).map(|(f, y)| y * f).collect();
    let gap = model.fitted.proof.duality_gap.unwrap_or(0.0).max(0.0);
    Ok(Linear {
        margins,
        squared_lengths: lengths.iter().map(|k| k + plus).collect(),
        squared_norm: squared.max(0.0) + b * b,
        offset: b,
        support,
        slack: model.fitted.proof.violation.unwrap_or(0.0).clamp(0.0, 0.1).min(1e-3),
        from_optimum: (2.0 * gap).sqrt(),
    })
}

/// f and κ(x, x) of the points that carry weight: from the training examples where their places are known, else computed.
fn at_points(model: &Model, seen: &Seen, decision: &[f64], points: &[usize]) -> Result<(Vec<f64>, Vec<f64>), String> {
    let lengths = model.kernel.gram(&model.examples).ok().and_then(|g| g.self_similarities(Side::Rows));
    let own: Vec<f64> = match lengths {
        Some(all) => points.iter().map(|&p| all[p]).collect(),
        None => return Err("κ(x, x) of the examples is not known".to_owned()),
    };
    let placed = model.places.len() == model.examples.len() && model.places.iter().all(|&p| p < decision.len());
    if placed && !model.places.is_empty() {
        return Ok((points.iter().map(|&p| decision[model.places[p]]).collect(), own));
    }
    let scores = model.scores(&model.examples).map_err(|e| e.to_string())?;
    let f = |p: usize| match seen.outputs {
        2 => 0.5 * (scores[2 * p] - scores[2 * p + 1]),
        _ => scores[p],
    };
    Ok((points.iter().map(|&p| f(p)).collect(), own))
}

/// How far from the border an example may be and still count as one that determines the model.
fn tolerance(model: &Model) -> f64 {
    2.0 * model.fitted.proof.violation.unwrap_or(1e-3).clamp(1e-6, 0.5)
}

fn compression(
    model: &Model,
    training: &Dataset,
    seen: &Seen,
    theory: &Theory,
    linear: Option<&Linear>,
) -> Result<Compression, String> {
    if let Some(part) = model.origin.as_ref().and_then(|o| o.part.as_ref()) {
        // trained again on a part: whatever the machine is, the others are as good as new, but for the choice of the part
        if !seen.judged {
            return Err("there is no error to be counted".to_owned());
        }
        let mut outside = seen.wrong.clone();
        for &p in part {
            if let Some(wrong) = outside.get_mut(p as usize) {
                *wrong = false;
            }
        }
        let errors_outside = outside.iter().filter(|w| **w).count() as f64;
        let size = part.len() as f64;
        return Ok(Compression { size, errors_outside, stable: false, scenario: false, atoms: training.has_copies() });
    }
    let tolerance = tolerance(model);
    let carrying = model.fitted.proof.support.unwrap_or(model.examples.len());
    let (inside, any_size): (Vec<bool>, bool) = match theory.compression {
        Compresses::Not(reason) => return Err(reason.to_owned()),
        Compresses::Margin { any_size } => {
            (seen.least_margins().iter().map(|f| *f <= 1.0 + tolerance).collect(), any_size)
        }
        Compresses::Tube { epsilon } if seen.judged => {
            let off = |(f, y): (&f64, &f64)| (f - y).abs() >= epsilon - tolerance;
            (seen.scores.iter().zip(&seen.values).map(off).collect(), true)
        }
        Compresses::Tube { .. } => return Err("is for one output".to_owned()),
        Compresses::Region => {
            // scores of detectors are in units of the kernel
            let unit = seen.scores.iter().fold(0.0, |most: f64, f| most.max(f.abs()));
            (seen.scores.iter().map(|f| *f <= tolerance * unit.max(1e-12)).collect(), true)
        }
        Compresses::Updates => {
            let size = carrying as f64;
            let errors = seen.wrong.iter().filter(|w| **w).count() as f64;
            if errors > 0.0 {
                return Err(format!("the passes ended before the last mistake: {errors} examples are still wrong"));
            }
            return Ok(Compression {
                size,
                errors_outside: 0.0,
                stable: false,
                scenario: false,
                atoms: training.has_copies(),
            });
        }
    };
    let counted = inside.iter().filter(|i| **i).count();
    // those that carry weight though they look as if they did not
    let hidden = linear.map_or(0, |l| l.support.iter().filter(|s| s.margin > 1.0 + tolerance).count());
    let size = (counted + hidden).max(carrying.min(training.len())) as f64;
    let errors_outside = seen.wrong.iter().zip(&inside).filter(|(w, i)| **w && !**i).count() as f64;
    Ok(Compression { size, errors_outside, stable: true, scenario: any_size, atoms: training.has_copies() })
}

fn regularised(
    model: &Model,
    training: &Dataset,
    seen: &Seen,
    theory: &Theory,
    options: &Options<'_>,
) -> Option<Regularised> {
    // weights of examples change what one of them can do
    let weighted = training.weights().is_some() || model.origin.as_ref().is_some_and(|o| o.weighted);
    let loss = theory.loss.filter(|_| !weighted)?;
    Some(Regularised {
        lambda: 1.0 / (2.0 * loss.c * training.len() as f64),
        lipschitz: loss.lipschitz,
        mean_loss: seen.mean_excess,
        free_offset: loss.free_offset,
        range: options.target_range.map(|[low, high]| (high - low).abs()),
    })
}

fn setting(model: &Model, wanted: &str) -> Option<f64> {
    model.settings.iter().find(|(name, _)| name == wanted).and_then(|(_, v)| v.to_string().parse().ok())
}

fn note(model: &Model, wanted: &str) -> Option<f64> {
    model.fitted.proof.notes.iter().find(|(name, _)| name == wanted).map(|(_, v)| *v)
}

fn novelty(model: &Model, seen: &Seen) -> Option<Novelty> {
    (seen.task == Task::Novelty).then(|| {
        let rho = -model.fitted.expansion.offsets.first().copied().unwrap_or(0.0);
        let squared = match &model.fitted.expansion.coefficients {
            Coefficients::Dual { .. } => note(model, "squared_norm"),
            _ => None,
        };
        Novelty {
            // those outside by more than the solver's tolerance, where it has counted them
            outliers: note(model, "outside").unwrap_or(seen.wrong.iter().filter(|w| **w).count() as f64),
            nu: setting(model, "nu").filter(|_| machines::find(&model.machine).is_some_and(|m| m.name != "nu_svc")),
            support: model.fitted.proof.support.unwrap_or(0) as f64,
            norm: squared.map(|s| s.max(0.0).sqrt()),
            shortfall: seen.scores.iter().map(|f| (-f).max(0.0)).sum(),
            rho,
            centre_delta: (model.machine == "centre_of_mass").then(|| setting(model, "delta").unwrap_or(1.0)),
        }
    })
}

fn online(model: &Model, seen: &Seen, facts: &Facts) -> Option<Online> {
    let first = note(model, "mistakes_in_first_pass").filter(|_| seen.task == Task::Classes(2))?;
    let radius = facts.kernel.radius;
    // any margin that is reached bounds the mistakes
    let margin =
        facts.linear.as_ref().filter(|_| facts.errors == Some(0.0)).map(|l| l.least_margin() / l.squared_norm.sqrt());
    let mistake_bound = radius.zip(margin.filter(|g| *g > 0.0)).map(|(r, g)| (r / g).powi(2));
    Some(Online { mistakes: first, updated: model.fitted.proof.support.unwrap_or(0) as f64, mistake_bound })
}

/// Errors of leaving out one at a time that the machine has computed itself.
fn loo_note(model: &Model, facts: &Facts) -> Option<f64> {
    note(model, "loo_error")
        .filter(|_| matches!(facts.task, Task::Classes(_)))
        .map(|share| (share * facts.examples).round())
}

fn held_out_facts(model: &Model, data: &Dataset, theory: &Theory, task: Task) -> Result<Option<HeldOut>, Error> {
    if data.is_empty() {
        return Err(DataError::Empty { place: "the held-out data".to_owned() }.into());
    }
    let seen = Seen::of(model, data, model.scores(data)?, theory)?;
    let errors = seen.wrong.iter().filter(|w| **w).count() as f64;
    Ok((task != Task::Nothing && seen.judged).then_some(HeldOut { examples: data.len() as f64, errors }))
}
