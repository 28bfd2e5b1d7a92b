//! Facts about a model: margins, norms, compression sets and complexity penalties, from its scores on the training examples.

use super::held_out::{held_out_facts, seen_before};
use super::informed::{Half, prior};
use super::linear::{declare, from_optimum, kernel_facts, linear};
use super::plan::between;
use super::seen::Seen;
use super::{Options, thorough};
use crate::bounds::{
    ComplexityPenalty, Compression, Facts, GIVEN_MATRIX, LeaveOneOut, NOT_RECOGNISED, Novelty, NuProperty, Online,
    Regularised, Task, WEIGHTED, occam,
};
use crate::data::{DataError, Dataset, Kind, Scope};
use crate::error::Error;
use crate::kernels::Definite;
use crate::machines::Fact;
use crate::machines::{Coefficients, Compresses, Cost, Readout, Theory};
use crate::model::{Model, Provenance, Step};
use crate::watch::{Monitor, Status};
use std::borrow::Cow;
use std::f64::consts::LN_2;

/// The numbers about a model that theorems ask for.
///
/// # Errors
/// See [`Model::certify`].
pub fn facts(model: &Model, training: &Dataset, options: &Options<'_>, watch: &dyn Monitor) -> Result<Facts, Error> {
    facts_beside(model, training, options, None, watch)
}

/// The same beside other models with the kernel of this one, which share the half of the examples that priors are learned from.
pub(super) fn facts_beside(
    model: &Model,
    training: &Dataset,
    options: &Options<'_>,
    half: Option<&Half>,
    watch: &dyn Monitor,
) -> Result<Facts, Error> {
    let usage = |finding: String| Err(DataError::Usage { finding }.into());
    let (known, held_out_before) = without_held_out(model, training);
    // those that were set apart for the preparation are no new examples either
    let known = known.as_ref();
    let training = &*learned_from(model, known);
    between("delta", options.delta)?;
    if options.candidates == Some(0) {
        return usage("candidates = 0: the model itself is one of them; give 1 or more".to_owned());
    }
    if options.held_out_candidates == 0 {
        return usage("held_out_candidates = 0: the model itself is one of them; give 1 or more".to_owned());
    }
    let (fingerprint, copies) = training.fingerprint_and_copies();
    if let Some(provenance) = model.provenance()
        && provenance.fingerprint() != fingerprint
    {
        let remedy = provenance.held_out_places().map_or_else(
            || "give the training file, and other examples as held-out ones".to_owned(),
            |places| format!(
                "give the file that they were taken from as it was, with the {} examples that were held out before the search, or a file of the training examples alone in their order",
                places.len()
            ),
        );
        return usage(format!(
            "these are not the examples that the model was trained on ({} of them, recognised by their hash); {remedy}",
            model.trained_on
        ));
    }
    let machine = model.remade()?;
    let mut theory = machine.as_ref().map_or_else(Theory::default, |m| m.traits().theory);
    if model.provenance().is_some_and(|p| p.part().is_some()) {
        // the machine has solved its problem for a part of these examples only
        theory.loss = Err("the machine has solved its problem for a part of the examples only");
        theory.multipliers = None;
    }
    let seen = Seen::new(model, training, &theory)?;
    let mut facts = Facts::bare(training.len() as f64, seen.task);
    facts.machine.clone_from(&model.machine);
    facts.penalty = price(model, training, &seen, &theory, options);
    facts.errors =
        (seen.task != Task::Nothing && seen.judged).then(|| seen.wrong.iter().filter(|w| **w).count() as f64);
    facts.description = description(model, training);
    facts.kernel = kernel_facts(model, training, &theory);
    if let Some(radius) = options.radius {
        declare(radius, &mut facts, model, training, &theory)?;
    }
    match linear(model, training, &seen, &theory) {
        Ok(linear) => {
            (facts.kernel.trace, facts.linear) = (linear.0, Some(linear.1));
        }
        Err(reason) => facts.no_linear = reason,
    }
    match compression(model, training, &seen, &theory) {
        Ok(set) => facts.compression = Some(set),
        Err(reason) => facts.no_compression = reason,
    }
    match regularised(model, training, &seen, &theory, options)? {
        Ok(found) => facts.regularised = Some(found),
        Err(reason) => facts.no_regularised = reason,
    }
    // the facts that a fit on a part has reported are about that part, not about all examples
    if model.provenance().is_none_or(|p| p.part().is_none()) {
        facts.novelty = novelty(model, training, &seen, &theory);
        facts.nu = nu_property(model, training, &seen, &theory);
        facts.online = online(model, &seen, &theory, &facts);
        facts.leave_one_out = LeaveOneOut { errors: loo_note(model, &facts), ..LeaveOneOut::default() };
    }
    (facts.copies, facts.repeats) = (copies, training.repeats());
    facts.assumes.extend(assumed(model, training));
    facts.held_out_before = options.held_out.is_none() && held_out_before.is_some();
    if let Some(held_out) = options.held_out.or(held_out_before.as_ref()) {
        seen_before(known, held_out, "held-out")?;
        facts.held_out_repeats = held_out.repeats_beside(known);
        (facts.held_out, facts.held_out_loss) = held_out_facts(model, held_out, &theory, seen.task, options)?;
    }
    facts.thorough = options.thorough;
    if options.thorough {
        thorough::add(&mut facts, model, training, (&seen, &theory), options, watch)?;
    }
    if let Some(examples) = options.unlabelled {
        super::unlabelled::unlabelled(&mut facts, model, training, &seen, examples)?;
    }
    facts.wants_prior = options.thorough || options.informed;
    if let Some(machine) = machine.as_ref().filter(|_| facts.wants_prior) {
        let own = half.is_none().then(|| Half::new(training, options.seed, false));
        if let Some(half) = half.or(own.as_ref()) {
            facts.informed = prior(model, machine.as_ref(), &seen, &facts, options, half, watch)?;
        }
    }
    if options.evidence > 0 {
        thorough::evidence(&mut facts, model, training, &seen.signs, options, watch)?;
    }
    Ok(facts)
}

/// The examples without those that were held out before the search that chose the model, and these, where both are given.
pub(super) fn without_held_out<'d>(model: &Model, data: &'d Dataset) -> (Cow<'d, Dataset>, Option<Dataset>) {
    let none = (Cow::Borrowed(data), None);
    let Some((provenance, known)) = model.provenance().and_then(|p| Some((p, p.held_out()?))) else { return none };
    let places: Vec<usize> = known.places.iter().map(|&p| p as usize).collect();
    // a file may say anything
    let rising = places.is_sorted_by(|a, b| a < b) && places.last().is_none_or(|&last| last < data.len());
    let others = provenance.examples().unwrap_or(0) + provenance.set_apart().map_or(0, <[u32]>::len);
    if !rising || others.checked_add(places.len()) != Some(data.len()) {
        return none;
    }
    let held_out = data.select(&places);
    if held_out.fingerprint() != known.fingerprint {
        return none;
    }
    let rest: Vec<usize> = (0..data.len()).filter(|i| places.binary_search(i).is_err()).collect();
    (Cow::Owned(data.select(&rest)), Some(held_out))
}

/// The examples that the machine has learned from, where those that prepared them are given as well: theorems are about these alone, to
/// which what the others taught is a constant.
pub(super) fn learned_from<'d>(model: &Model, training: &'d Dataset) -> Cow<'d, Dataset> {
    let known = model.provenance().and_then(|p| p.set_apart().zip(p.examples()));
    let Some((apart, examples)) = known else { return Cow::Borrowed(training) };
    let places: Vec<usize> = apart.iter().map(|&p| p as usize).collect();
    // a file may say anything
    let rising = places.is_sorted_by(|a, b| a < b) && places.last().is_none_or(|&last| last < training.len());
    if !rising || examples.checked_add(places.len()) != Some(training.len()) {
        return Cow::Borrowed(training);
    }
    Cow::Owned(training.setting_apart(&places, places.len() as f64 / training.len() as f64))
}

/// True if the examples have weights, or had some at the fit.
pub(super) fn weighted(model: &Model, training: &Dataset) -> bool {
    training.weights().is_some() || model.provenance().is_some_and(Provenance::weighted)
}

/// Assumptions about the fit that the model cannot show to hold.
fn assumed(model: &Model, training: &Dataset) -> Vec<&'static str> {
    let given = model.kernel.views().iter().any(|(_, kind)| *kind == Kind::Precomputed);
    let all =
        [(model.provenance().is_none(), NOT_RECOGNISED), (given, GIVEN_MATRIX), (weighted(model, training), WEIGHTED)];
    all.into_iter().filter(|(assumed, _)| *assumed).map(|(_, what)| what).collect()
}

/// The complexity penalty of everything that was chosen by looking at the training examples.
fn price(model: &Model, training: &Dataset, seen: &Seen, theory: &Theory, options: &Options<'_>) -> ComplexityPenalty {
    // what was learned from examples that were set apart is a constant
    let mut learned = model.learned();
    learned.retain(|l| l.from != Scope::SetApart);
    let has = |step: Step| learned.iter().any(|l| l.step == step);
    let balanced = has(Step::ClassBalance) || theory.balances_classes;
    // a share of the examples of two classes is a number that depends on how many these are
    let sized = matches!(theory.compression, Compresses::Margin { any_size: false })
        && matches!(seen.task, Task::Classes(k) if k > 2);
    let steps = [
        (has(Step::Columns), "scaling or coding of the columns was learned from these examples"),
        (has(Step::KernelNumbers), "the kernel's numbers were chosen by these examples"),
        (has(Step::KernelWeights), "the kernel learned its weights from these examples"),
        (theory.choices > 1.0, "the machine chose among several runs"),
        (balanced, "classes were weighed by their numbers"),
        (sized && !balanced, "the problem of two of several classes depends on their numbers"),
        (has(Step::Landmarks), "the kernel's landmarks are some of these examples, which cannot be paid for"),
        (has(Step::Centre), "the kernel is centred on these examples, which cannot be paid for"),
    ];
    let what: Vec<&str> = steps.into_iter().filter(|(taken, _)| *taken).map(|(_, what)| what).collect();
    let bits: f64 = learned.iter().map(|l| l.bits).sum();
    // machines of several classes solve a problem for each, and choose in each
    let classes = if let Task::Classes(k) = seen.task { k } else { 0 };
    let problems = if classes > 2 { classes as f64 } else { 1.0 };
    // the machine's own part, which no preparation set spares
    let mut own = problems * theory.choices.max(1.0).ln();
    if balanced || sized {
        // all but one of the numbers, each from 0 to m
        own += classes.saturating_sub(1).max(1) as f64 * (training.len() as f64 + 1.0).ln();
    }
    if has(Step::Centre) {
        own = f64::INFINITY;
    }
    let nats = if has(Step::Landmarks) { f64::INFINITY } else { bits * LN_2 + own };
    let recorded = (model.candidates() > 0).then(|| model.candidates());
    // the caller may add to the number of candidates that a search has recorded, never lower it
    let candidates = options.candidates.map(|n| n.max(recorded.unwrap_or(1))).or(recorded);
    // nor what it has paid: a larger number costs its logarithm, unless this is less
    let enough = |nats: &f64| candidates == recorded || *nats > (candidates.unwrap_or(1).max(1) as f64).ln();
    let told = options.candidate_nats.map(|nats| nats.max(model.paid_for_choice()));
    let candidate_nats = told.or(model.candidate_nats.filter(enough));
    ComplexityPenalty {
        candidates,
        candidate_nats,
        held_out_candidates: options.held_out_candidates.max(1),
        learned: nats,
        unprepared: own,
        learned_what: what.join("; "),
    }
}

/// ln(1/P(h)) of the numbers of a linear model on the coordinates of its examples, which are known before the data.
fn description(model: &Model, training: &Dataset) -> Option<f64> {
    let Coefficients::Primal { weights, width, .. } = &model.fitted.expansion.coefficients else { return None };
    if model.kernel.dimension(training) != Some(*width as f64) {
        return None;
    }
    let labels = match &model.fitted.readout {
        Readout::Vote { labels } | Readout::ArgMax { labels } => labels.len(),
        _ => 0,
    };
    let not_zero = weights.iter().filter(|w| **w != 0.0).count();
    let offsets = model.fitted.expansion.offsets.len();
    Some(occam::description(weights.len() as f64, not_zero as f64, offsets as f64, labels))
}

/// The distance from the border up to which an example counts as one that determines the model. Scores of ν machines are divided by
/// the margin ρ that they found.
fn tolerance(model: &Model, theory: &Theory) -> f64 {
    let scale = if theory.divides_by_margin {
        model.fitted.report.fact(Fact::Rho).map_or(1.0, |rho| rho.clamp(1e-12, 1.0))
    } else {
        1.0
    };
    2.0 * model.fitted.report.violation.unwrap_or(1e-3).max(1e-6) / scale
}

/// The largest tolerance at which the examples that determine a model are told: twice a violation of a hundredth.
const LOOSE: f64 = 0.02;

/// The compression set: examples that determine the solution, so that leaving out all others does not change it.
fn compression(model: &Model, training: &Dataset, seen: &Seen, theory: &Theory) -> Result<Compression, String> {
    if let Some(part) = model.provenance().and_then(Provenance::part) {
        // a fit on a part has not seen the others: they are a test set, up to the choice of the part
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
        return Ok(Compression {
            size,
            surely: 0.0,
            errors_outside,
            stable: false,
            scenario: false,
            share_of_all: false,
        });
    }
    if let Compresses::Not(reason) = theory.compression {
        return Err(reason.to_owned());
    }
    if theory.compression != Compresses::Updates && model.fitted.report.status != Status::Converged {
        return Err(format!(
            "the fit ended early ({}), so that the examples which determine it are not known",
            model.fitted.report.status
        ));
    }
    let solvable = match model.kernel.definite() {
        Definite::Positive => true,
        Definite::Conditionally => !theory.homogeneous || theory.compression == Compresses::Region,
        Definite::Indefinite => false,
    };
    if !solvable {
        return Err(
            "the kernel is not positive definite, so a part of the examples may give another solution".to_owned()
        );
    }
    let share_of_all = matches!(theory.compression, Compresses::Margin { any_size: false } | Compresses::Region);
    if share_of_all && weighted(model, training) {
        return Err(
            "the problem depends on the weight of all examples, which a part of them does not tell: fit without weights"
                .to_owned(),
        );
    }
    let tolerance = tolerance(model, theory);
    if tolerance > LOOSE && theory.compression != Compresses::Updates {
        return Err(format!(
            "the solver was left with a violation of {:.2e} of the margin, so that a fit on the examples which determine the model may be another one: fit with a smaller tolerance",
            tolerance / 2.0
        ));
    }
    // how far inside every example is: those above the tolerance may be left out, those below its negative determine
    let (depth, any_size): (Vec<f64>, bool) = match theory.compression {
        Compresses::Not(reason) => return Err(reason.to_owned()),
        Compresses::Margin { any_size } => (seen.least_margins().iter().map(|f| f - 1.0).collect(), any_size),
        Compresses::Tube { epsilon } if seen.judged => {
            (seen.scores.iter().zip(&seen.values).map(|(f, y)| epsilon - (f - y).abs()).collect(), true)
        }
        Compresses::Tube { .. } => return Err("is for one output".to_owned()),
        Compresses::Region => (seen.scores.clone(), true),
        Compresses::Updates => {
            let size = model.fitted.report.support.unwrap_or(model.examples.len()) as f64;
            let errors = seen.wrong.iter().filter(|w| **w).count() as f64;
            if errors > 0.0 {
                return Err(format!("the passes ended before the last mistake: {errors} examples are still wrong"));
            }
            return Ok(Compression {
                size,
                surely: 0.0,
                errors_outside: 0.0,
                stable: false,
                scenario: false,
                share_of_all: false,
            });
        }
    };
    let mut inside: Vec<bool> = depth.iter().map(|d| *d <= tolerance).collect();
    // support vectors belong to the set, also where rounding puts their score outside the tolerance
    for &p in model.fitted.expansion.points() {
        if let Some(inside) = model.places.get(p).and_then(|&at| inside.get_mut(at)) {
            *inside = true;
        }
    }
    let counted = inside.iter().filter(|i| **i).count();
    let carrying = model.fitted.report.support.unwrap_or(0).min(training.len());
    // where no multiplier lies strictly between its bounds, the offset is the midpoint of an interval, and two more examples fix
    // its ends. A file without this count is charged two for each offset; primal weights have the offset as one more weight
    let unknown = || match (&model.fitted.expansion.coefficients, model.provenance()) {
        (Coefficients::Primal { .. }, Some(_)) => 0.0,
        _ => model.fitted.expansion.offsets.len() as f64,
    };
    let ends = 2 * model.fitted.report.fact(Fact::LooseOffsets).unwrap_or_else(unknown) as usize;
    Ok(Compression {
        size: (counted.max(carrying) + ends).min(training.len()) as f64,
        surely: depth.iter().filter(|d| **d < -tolerance).count() as f64,
        errors_outside: seen.wrong.iter().zip(&inside).filter(|(w, i)| **w && !**i).count() as f64,
        stable: true,
        scenario: any_size,
        share_of_all,
    })
}

/// The regularised risk that the machine minimises, for bounds by stability, or why there is none.
fn regularised(
    model: &Model,
    training: &Dataset,
    seen: &Seen,
    theory: &Theory,
    options: &Options<'_>,
) -> Result<Result<Regularised, String>, Error> {
    in_range(&seen.values, options, "a training example")?;
    let loss = match theory.loss {
        Err(reason) => return Ok(Err(reason.to_owned())),
        Ok(_) if weighted(model, training) => {
            return Ok(Err("examples have weights, and the theorem takes all alike".to_owned()));
        }
        Ok(loss) => loss,
    };
    let (truth, told) = match (seen.task, seen.decision()) {
        (Task::Classes(2), Some(decision)) => (&seen.signs, decision),
        (Task::Numbers, _) if seen.scores.len() == seen.values.len() && seen.outputs == 1 => {
            (&seen.values, seen.scores.clone())
        }
        _ => return Ok(Err("is for two classes or one number".to_owned())),
    };
    let total: f64 = truth.iter().zip(&told).map(|(y, f)| loss.cost.of(*y, *f)).sum();
    let lipschitz = loss.cost.lipschitz();
    Ok(Ok(Regularised {
        lambda: 1.0 / (2.0 * loss.c * training.len() as f64),
        lipschitz,
        mean_loss: total / training.len().max(1) as f64,
        left_out: told_left_out(model).filter(|_| loss.cost == Cost::Squared && seen.task == Task::Numbers),
        left_out_clipped: None,
        free_offset: loss.free_offset,
        spares_offset: model.settings.iter().any(|(name, _)| name == "bias"),
        range: options.target_range,
        from_optimum: from_optimum(model, theory),
    }))
}

/// The mean squared error of each example by the fit without it, where the machine has told it.
fn told_left_out(model: &Model) -> Option<f64> {
    model.fitted.report.fact(Fact::LeftOutRootMeanSquare).map(|r| r * r)
}

/// An error if a target lies outside the range of targets that the caller has promised.
pub(super) fn in_range(values: &[f64], options: &Options<'_>, whose: &str) -> Result<(), Error> {
    let Some([low, high]) = options.target_range else { return Ok(()) };
    match values.iter().find(|v| !(low..=high).contains(*v)) {
        None => Ok(()),
        Some(v) => {
            let finding = format!(
                "{whose} has the target {v}, outside the range {low} to {high} that none can leave; give a wider one"
            );
            Err(DataError::Usage { finding }.into())
        }
    }
}

/// Examples outside of a region as the machine has counted them; models of earlier builds leave out those that are outside by no more
/// than the tolerance.
fn outliers(model: &Model, seen: &Seen) -> f64 {
    model.fitted.report.fact(Fact::Outside).unwrap_or(seen.wrong.iter().filter(|w| **w).count() as f64)
}

/// ν and the shares of examples it lies between: inside the margin of two classes, outside the tube of one number, or outside a region;
/// those on the border, within the solver's tolerance, are not.
fn nu_property(model: &Model, training: &Dataset, seen: &Seen, theory: &Theory) -> Option<NuProperty> {
    let nu = theory.outlier_share.filter(|_| !weighted(model, training))?;
    let tolerance = tolerance(model, theory);
    let outside = match seen.task {
        Task::Novelty => outliers(model, seen),
        Task::Classes(2) => seen.least_margins().iter().filter(|f| **f < 1.0 - tolerance).count() as f64,
        Task::Numbers if seen.outputs == 1 => {
            let epsilon = model.fitted.report.fact(Fact::Tube { output: 0, outputs: 1 })?;
            let beyond = |(f, y): &(&f64, &f64)| (*f - *y).abs() > epsilon + tolerance;
            seen.scores.iter().zip(&seen.values).filter(beyond).count() as f64
        }
        _ => return None,
    };
    Some(NuProperty { nu, outside, support: model.fitted.report.support.unwrap_or(0) as f64 })
}

/// Facts about a model of one class.
fn novelty(model: &Model, training: &Dataset, seen: &Seen, theory: &Theory) -> Option<Novelty> {
    (seen.task == Task::Novelty).then(|| {
        let rho = -model.fitted.expansion.offsets.first().copied().unwrap_or(0.0);
        let squared = match &model.fitted.expansion.coefficients {
            Coefficients::Dual { .. } => model.fitted.report.fact(Fact::SquaredNorm),
            _ => None,
        };
        Novelty {
            outliers: outliers(model, seen),
            hard: theory.outlier_share.is_some_and(|nu| nu * training.len() as f64 <= 1.0 + 1e-9)
                && !weighted(model, training),
            norm: squared.map(|s| s.max(0.0).sqrt()),
            shortfall: seen.scores.iter().map(|f| (-f).max(0.0)).sum(),
            rho,
            // the slack is proven where a length is known that no example exceeds
            centre_delta: theory.region_slack.filter(|_| model.kernel.radius().is_some()),
        }
    })
}

/// Facts about a machine that learns from mistakes.
fn online(model: &Model, seen: &Seen, theory: &Theory, facts: &Facts) -> Option<Online> {
    let first = model.fitted.report.fact(Fact::MistakesInFirstPass).filter(|_| seen.task == Task::Classes(2))?;
    let radius = facts.kernel.radius;
    // any margin that is reached bounds the mistakes
    let margin =
        facts.linear.as_ref().filter(|_| facts.errors == Some(0.0)).map(|l| l.least_margin() / l.squared_norm.sqrt());
    // averages and budgets make mistakes of their own
    let plain = theory.compression == Compresses::Updates;
    let radius = radius.filter(|_| plain);
    let mistake_bound = radius.zip(margin.filter(|g| *g > 0.0)).map(|(r, g)| (r / g).powi(2));
    Some(Online { mistakes: first, updated: model.fitted.report.support.unwrap_or(0) as f64, mistake_bound })
}

/// The number of leave-one-out errors that the machine has reported.
fn loo_note(model: &Model, facts: &Facts) -> Option<f64> {
    // the minimum over λ of a leave-one-out error is optimistic
    let searched = model.settings.iter().any(|(_, value)| value.to_string() == "loo");
    model
        .fitted
        .report
        .fact(Fact::LeftOutError)
        .filter(|_| !searched)
        .filter(|_| matches!(facts.task, Task::Classes(_)))
        .map(|share| (share * facts.examples).round())
}
