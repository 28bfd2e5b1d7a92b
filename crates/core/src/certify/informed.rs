//! A prior that is learned: the same machine on one half of the examples.
//!
//! # Source
//! Ambroladze, Parrado-Hernández & Shawe-Taylor (2007). The half is drawn without a look at the examples, so that for the other half
//! the weight vector w_r of its model is as good as fixed before the data. ⟨w, w_r⟩ = Σ_j c_j (f(x_j) − b) over the examples x_j with
//! coefficients c_j of the half's model; offsets are one more coordinate of both.

use super::Options;
use super::linear::{dual, offset};
use super::seen::Seen;
use crate::bounds::{Facts, Informed};
use crate::data::Dataset;
use crate::error::Error;
use crate::job::Job;
use crate::machines::{Coefficients, Machine, Readout};
use crate::model::Model;
use crate::resample::KernelOnData;
use crate::seed::Seed;
use crate::watch::Monitor;
use std::cell::OnceCell;

/// One half of the examples, drawn without a look at them, and the kernel on it: models that share a kernel share both.
pub(super) struct Half {
    /// Places of the half, in rising order.
    places: Vec<usize>,
    /// Places of the others.
    rest: Vec<usize>,
    /// The examples of the half.
    data: Dataset,
    kernel: OnceCell<KernelOnData>,
    /// True if several models are to come.
    shared: bool,
}

impl Half {
    /// The half of a seed; several models are to come if it is `shared`.
    pub(super) fn new(training: &Dataset, seed: Seed, shared: bool) -> Self {
        let n = training.len();
        let order = seed.stream("half of the examples").permutation(n);
        let (mut places, rest) = (order[..n / 2].to_vec(), order[n / 2..].to_vec());
        places.sort_unstable();
        let data = training.select(&places);
        Self { places, rest, data, kernel: OnceCell::new(), shared }
    }

    /// The kernel of a model on the half.
    fn kernel(&self, model: &Model, machine: &dyn Machine, options: &Options<'_>) -> Result<&KernelOnData, Error> {
        if let Some(known) = self.kernel.get() {
            return Ok(known);
        }
        // what the kernel has learned stays, or the half would be in another feature space
        let kernel = KernelOnData::new(model.kernel.clone(), machine, &self.data, options.budget)?;
        Ok(self.kernel.get_or_init(|| if self.shared { kernel.memoised() } else { kernel }))
    }
}

/// The classifier of one half beside the model; `None` where the model is none in feature space or the half cannot be learned from.
pub(super) fn prior(
    model: &Model,
    machine: &dyn Machine,
    seen: &Seen,
    facts: &Facts,
    options: &Options<'_>,
    half: &Half,
    watch: &dyn Monitor,
) -> Result<Option<Informed>, Error> {
    let (Some(linear), Some(decision)) = (&facts.linear, seen.decision()) else { return Ok(None) };
    // a centre belongs to all examples
    if model.kernel.needs_all_examples() {
        return Ok(None);
    }
    if half.places.len() + half.rest.len() < 4 || linear.squared_norm <= 0.0 {
        return Ok(None);
    }
    let few = &half.data;
    // a half with one class, or one that the machine cannot solve, gives no prior
    if few.target().and_then(|t| t.classes().ok()).is_none_or(|c| c.labels.len() != 2) {
        return Ok(None);
    }
    let job = Job { budget: options.budget, seed: options.seed, ..Job::new(machine, &model.kernel) };
    let learned = half.kernel(model, machine, options).and_then(|kernel| job.run_on(kernel, few, watch));
    let Ok(smaller) = learned else { return Ok(None) };
    let (b, b_r) = (linear.offset, offset(&smaller, seen));
    let products = match (&model.fitted.expansion.coefficients, dual(&smaller)) {
        (_, Some((points, c))) => {
            let own = smaller.scores(few)?;
            let of = |p: usize| if seen.outputs == 2 { 0.5 * (own[2 * p] - own[2 * p + 1]) } else { own[p] };
            let place = |p: usize| smaller.places.get(p).copied().filter(|&p| p < half.places.len());
            let mut sums = (0.0, 0.0);
            for (&p, c) in points.iter().zip(&c) {
                let Some(at) = place(p) else { return Ok(None) };
                sums.0 += c * (decision[half.places[at]] - b);
                sums.1 += c * (of(at) - b_r);
            }
            Some(sums)
        }
        (Coefficients::Primal { weights, scale, .. }, None) => match &smaller.fitted.expansion.coefficients {
            Coefficients::Primal { weights: others, .. } if others.len() == weights.len() => {
                let k = seen.outputs;
                let difference = |w: &[f64]| if k == 1 { w[0] } else { 0.5 * (w[0] - w[1]) };
                let pairs = weights.chunks_exact(k).zip(others.chunks_exact(k));
                let each = pairs.map(|(w, o)| (difference(w), difference(o)));
                Some(each.fold((0.0, 0.0), |s, (w, o)| (s.0 + scale * w * o, s.1 + scale * o * o)))
            }
            _ => None,
        },
        _ => None,
    };
    let Some((inner, squared)) = products else { return Ok(None) };
    // labels stand in the order of their appearance, which may be another one in the half
    let turned = first_label(&smaller.fitted.readout) != first_label(&model.fitted.readout);
    let sign = if turned { -1.0 } else { 1.0 };
    let (inner, squared) = (sign * (inner + b * b_r), squared.max(0.0) + b_r * b_r);
    if !(squared > 0.0 && inner.is_finite()) {
        return Ok(None);
    }
    Ok(Some(Informed {
        examples: half.rest.len() as f64,
        // rounding apart, Cauchy and Schwarz see to it
        cosine: (inner / (squared * linear.squared_norm).sqrt()).clamp(-1.0, 1.0),
        gammas: half.rest.iter().map(|&i| linear.gammas[i]).collect(),
    }))
}

fn first_label(readout: &Readout) -> Option<&String> {
    match readout {
        Readout::Vote { labels } | Readout::ArgMax { labels } => labels.first(),
        _ => None,
    }
}
