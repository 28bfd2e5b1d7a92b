//! Facts about held-out examples: errors and losses of the model, and whether they are none of training.

use super::Options;
use super::facts::in_range;
use super::seen::Seen;
use crate::bounds::{HeldOutErrors, HeldOutLoss, Task};
use crate::data::{DataError, Dataset, Known, copies, counted};
use crate::error::Error;
use crate::machines::Theory;
use crate::model::Model;
use std::collections::HashMap;

/// What helps where examples are those of training.
const OTHERS: &str = "give examples that the model has not seen";

/// Refuses examples of which more are training examples, with the same target if they have one, than chance explains; `kind` is what
/// they are called.
///
/// Examples of few values repeat themselves in any sample. A new one stands among n others with about the probability 1 − n₁/n, where n₁ of
/// these stand there once (Good, 1953, The population frequencies of species, (9)); held-out examples of which far more do were not drawn anew.
/// Where hardly any stands there once, pairs of equal examples across the two sets are held against those within each (`data/copies.rs`).
pub(super) fn seen_before(training: &Dataset, held_out: &Dataset, kind: &str) -> Result<(), Error> {
    if training.fingerprint() == held_out.fingerprint() {
        let finding = format!("the {kind} examples are those of training; {OTHERS}");
        return Err(DataError::Usage { finding }.into());
    }
    let mut known: HashMap<u64, usize> = HashMap::new();
    training.example_fingerprints().into_iter().for_each(|f| *known.entry(f).or_default() += 1);
    let found: Vec<usize> = held_out.example_fingerprints().iter().filter_map(|f| known.get(f).copied()).collect();
    let once = found.iter().filter(|n| **n == 1).count();
    if found.len() == held_out.len() && 2 * once > found.len() {
        let finding = format!("all {} {kind} examples also stand among those of training; {OTHERS}", found.len());
        return Err(DataError::Usage { finding }.into());
    }
    let (numbers, times) = counted(training.example_fingerprints());
    let whole = Known { numbers: &numbers, times: &times, examples: training.len(), whole: true };
    let compared = copies(whole, &held_out.example_fingerprints());
    if compared.same {
        let finding = format!("the {kind} examples are those of training in another order; {OTHERS}");
        return Err(DataError::Usage { finding }.into());
    }
    let (n, of) = (training.len() as f64, held_out.len() as f64);
    let repeats = 1.0 - known.values().filter(|count| **count == 1).count() as f64 / n.max(1.0);
    let (expected, spread) = (of * repeats, (of * repeats * (1.0 - repeats) * (1.0 + of / n.max(1.0))).sqrt());
    if found.len() as f64 > expected + 5.0 * spread + 3.0 {
        let finding = format!(
            "{} of the {} {kind} examples also stand among those of training, where chance explains about {expected:.0}; {OTHERS}",
            found.len(),
            held_out.len()
        );
        return Err(DataError::Usage { finding }.into());
    }
    if compared.share > 0.0 && compared.deviations > 5.0 {
        let finding = format!(
            "about {:.0} of the {} {kind} examples are those of training: more are equal to one than are equal among themselves; {OTHERS}",
            compared.share * held_out.len() as f64,
            held_out.len()
        );
        return Err(DataError::Usage { finding }.into());
    }
    Ok(())
}

pub(super) fn held_out_facts(
    model: &Model,
    data: &Dataset,
    theory: &Theory,
    task: Task,
    options: &Options<'_>,
) -> Result<(Option<HeldOutErrors>, Option<HeldOutLoss>), Error> {
    if data.is_empty() {
        return Err(DataError::Empty { place: "the held-out data".to_owned() }.into());
    }
    if matches!(task, Task::Classes(_) | Task::Numbers) && data.target().is_none() {
        let finding = "the held-out examples have no target to be right or wrong about; give labelled ones";
        return Err(DataError::Usage { finding: finding.to_owned() }.into());
    }
    let seen = Seen::of(model, data, model.scores(data)?, theory, true)?;
    in_range(&seen.values, options, "a held-out example")?;
    let n = data.len() as f64;
    let errors = seen.wrong.iter().filter(|w| **w).count() as f64;
    let counted = (task != Task::Nothing && seen.judged).then_some(HeldOutErrors { examples: n, errors });
    let one = seen.task == Task::Numbers && seen.scores.len() == seen.values.len();
    let loss = options.target_range.filter(|_| one).map(|[low, high]| {
        let losses = seen.scores.iter().zip(&seen.values).map(|(f, y)| (y - f.clamp(low, high)).abs());
        let losses: Vec<f64> = losses.collect();
        let mean = losses.iter().sum::<f64>() / n;
        let squares: f64 = losses.iter().map(|l| (l - mean).powi(2)).sum();
        HeldOutLoss { examples: n, mean, variance: squares / (n - 1.0).max(1.0), range: high - low }
    });
    Ok((counted, loss))
}
