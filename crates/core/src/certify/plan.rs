//! Sample sizes for a wanted certificate: the facts of a model, or what is expected of one, imagined for more examples at
//! the same complexity.
//!
//! Rates (errors, violations) and complexities (support vectors, margin, dimension, λ) stay as they are while the number of
//! examples m grows; every bound is then a curve over m, and the least m from which on it stays below the wanted value is told.

use super::{Options, facts};
use crate::bounds::{
    self, ComplexityPenalty, Compression, Facts, Guarantee, HeldOutErrors, KernelFacts, Linear, Online, Quantity,
    Regularised, Task,
};
use crate::data::{DataError, Dataset};
use crate::error::Error;
use crate::model::Model;
use crate::plot::{BoundCurve, SampleSizeFigure, Theme};
use crate::watch::Monitor;
use serde::Serialize;

/// Numbers of examples at which curves are evaluated, per factor of ten.
const SIZES_PER_DECADE: i32 = 4;
/// Powers of ten at which curves end.
const DECADES: i32 = 8;
/// Number of examples that rates are imagined for: enough for six digits of a rate.
const EXAMPLES_FOR_RATES: f64 = 1e6;
/// Largest number of curves in a picture.
const MAX_DRAWN_CURVES: usize = 8;

/// Expectations of a model that is not there yet; bounds that need something else are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expected {
    /// Examples that determine the model: support vectors.
    pub support: Option<f64>,
    /// Share of errors on held-out examples.
    pub held_out_error: Option<f64>,
    /// Share of training errors; 0 where nothing is said.
    pub training_error: Option<f64>,
    /// Coordinates of the feature space.
    pub dimension: Option<f64>,
    /// Normalised margin y f(x)/(‖w‖ ‖φ(x)‖).
    pub margin: Option<f64>,
    /// λ of (1/m) Σ loss + λ‖w‖².
    pub lambda: Option<f64>,
    /// The number of models that will be tried on the same examples; where nothing is given, 1 or the number that the model has recorded.
    pub candidates: Option<usize>,
}

/// A bound at some number of examples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The number of examples.
    pub examples: f64,
    /// The bound there, 1 at most.
    pub value: f64,
}

/// The number of examples that a bound needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedBound {
    /// The bound's name.
    pub bound: &'static str,
    /// The bounded quantity.
    pub quantity: Quantity,
    /// The wanted value.
    pub certificate: f64,
    /// δ, the probability with which it may fail.
    pub delta: f64,
    /// The least number of examples from which on the bound stays below the wanted value; `None` where it never does.
    pub examples: Option<u64>,
    /// The bound over the number of examples.
    pub curve: Vec<CurvePoint>,
    /// Book or paper, and place.
    pub source: String,
}

fn usage(finding: String) -> Error {
    DataError::Usage { finding }.into()
}

/// A probability that neither never nor always happens.
pub(super) fn between(name: &str, value: f64) -> Result<(), Error> {
    if value > 0.0 && value < 1.0 { Ok(()) } else { Err(usage(format!("{name} = {value} must lie between 0 and 1"))) }
}

impl Expected {
    /// The facts of such a model.
    ///
    /// # Errors
    /// If a share is not between 0 and 1, or a number is below 0.
    pub fn facts(&self) -> Result<Facts, Error> {
        self.check()?;
        if self.lambda.is_some() && self.margin.is_none() {
            let finding = "lambda says how steady a classifier is, but not how well it does: expect a margin too";
            return Err(usage(finding.to_owned()));
        }
        let mut facts = Facts::bare(EXAMPLES_FOR_RATES, Task::Classes(2));
        let error = self.training_error.unwrap_or(0.0);
        let candidates = self.candidates.unwrap_or(1).max(1);
        facts.penalty = ComplexityPenalty {
            candidates: Some(candidates),
            held_out_candidates: candidates,
            ..ComplexityPenalty::default()
        };
        facts.errors = Some((error * EXAMPLES_FOR_RATES).round());
        facts.held_out = self.held_out_error.map(rate);
        facts.compression = self.support.map(|size| Compression {
            size,
            surely: size,
            errors_outside: 0.0,
            stable: true,
            scenario: true,
            share_of_all: false,
        });
        facts.kernel = KernelFacts {
            radius: Some(1.0),
            dimension: self.dimension,
            trace: EXAMPLES_FOR_RATES,
            rank: self.dimension,
            ..KernelFacts::default()
        };
        if self.margin.is_some() || self.dimension.is_some() || self.lambda.is_some() {
            // a hundred examples stand for all: so many of them are wrong as are expected
            let gamma = self.margin.unwrap_or(0.0);
            let wrong = (100.0 * error).ceil() as usize;
            let margins: Vec<f64> = (0..100).map(|i| if i < wrong { -gamma } else { gamma }).collect();
            facts.linear = Some(Linear { hard: error == 0.0, ..Linear::new(margins, &[1.0; 100], 1.0, 0.0) });
            let complexity = self.margin.filter(|g| *g > 0.0 && error == 0.0).map(|g| 1.0 / (g * g));
            facts.online =
                complexity.map(|bound| Online { mistakes: bound, updated: bound, mistake_bound: Some(bound) });
        }
        facts.regularised = self.lambda.map(|lambda| Regularised {
            lambda,
            lipschitz: Some(1.0),
            mean_loss: error,
            left_out: None,
            left_out_clipped: None,
            free_offset: false,
            spares_offset: false,
            range: None,
            from_optimum: 0.0,
        });
        Ok(facts)
    }

    /// The facts of a model that is there. It knows its own complexity: only the held-out error and the number of candidates are
    /// taken from here. Where no held-out error is expected, the training error stands for it.
    ///
    /// # Errors
    /// As [`Model::certify`]; if a complexity is expected beside that of the model.
    pub fn facts_of(
        &self,
        model: &Model,
        training: &Dataset,
        options: &Options<'_>,
        watch: &dyn Monitor,
    ) -> Result<Facts, Error> {
        self.check()?;
        let own = [self.support, self.training_error, self.dimension, self.margin, self.lambda];
        if own.iter().any(Option::is_some) {
            return Err(usage(
                "a model knows its own support, training error, dimension, margin and lambda: leave these out, or the model"
                    .to_owned(),
            ));
        }
        let held_out_candidates = self.candidates.unwrap_or(1);
        let options = Options { candidates: self.candidates, held_out_candidates, ..*options };
        let mut facts = facts(model, training, &options, watch)?;
        facts.held_out = self.held_out_error.or(facts.error_rate()).map(rate);
        Ok(facts)
    }

    fn check(&self) -> Result<(), Error> {
        let shares = [("held-out", self.held_out_error), ("training", self.training_error), ("margin", self.margin)];
        for (name, value) in shares {
            if let Some(value) = value.filter(|v| !(0.0..=1.0).contains(v)) {
                let what = if name == "margin" { name.to_owned() } else { format!("{name} error") };
                return Err(usage(format!("the expected {what} {value} must lie between 0 and 1")));
            }
        }
        for (name, value) in [("support", self.support), ("dimension", self.dimension), ("lambda", self.lambda)] {
            if let Some(value) = value.filter(|v| !(*v >= 0.0 && v.is_finite())) {
                return Err(usage(format!("the expected {name} {value} must be a number at or above 0")));
            }
        }
        if self.candidates == Some(0) {
            return Err(usage("candidates = 0: the model itself is one of them; give 1 or more".to_owned()));
        }
        Ok(())
    }
}

/// A share of errors, which is kept when the number of examples changes.
fn rate(share: f64) -> HeldOutErrors {
    HeldOutErrors { examples: EXAMPLES_FOR_RATES, errors: (share * EXAMPLES_FOR_RATES).round() }
}

/// The number of examples that each bound needs for a wanted value, those that need least first; all bounds, or those that are named.
///
/// ```
/// let expected = mercer::certify::Expected { support: Some(50.0), ..Default::default() };
/// let found = mercer::certify::plan(&expected.facts()?, 0.1, 0.05, &["scenario"])?;
/// assert!(found[0].examples.is_some_and(|m| (500..2000).contains(&m)));
/// # Ok::<(), mercer::Error>(())
/// ```
///
/// # Errors
/// If the wanted value or δ is not between 0 and 1, a name is not known, or no bound can use what is known.
pub fn plan(facts: &Facts, certificate: f64, delta: f64, names: &[&str]) -> Result<Vec<PlannedBound>, Error> {
    between("certificate", certificate)?;
    between("delta", delta)?;
    if let Some(unknown) = names.iter().find(|n| bounds::find(n).is_none()) {
        return Err(usage(format!("there is no bound called {unknown}; mercer list bounds shows all")));
    }
    let mut planned = Vec::new();
    for entry in bounds::all() {
        let asked = names.is_empty() || names.contains(&entry.name);
        if entry.guarantee != Guarantee::HighProbability || entry.quantity == Quantity::Regret || !asked {
            continue;
        }
        let sizes = (SIZES_PER_DECADE..=DECADES * SIZES_PER_DECADE)
            .map(|i| 10.0_f64.powf(f64::from(i) / f64::from(SIZES_PER_DECADE)).round());
        let point =
            |m: f64| bounds::curve(entry, facts, delta, m).map(|v| CurvePoint { examples: m, value: v.min(1.0) });
        let curve: Vec<CurvePoint> = sizes.filter_map(point).collect();
        let examples = bounds::examples_for(entry, facts, delta, certificate);
        if !curve.is_empty() || examples.is_some() {
            let (bound, quantity, source) = (entry.name, entry.quantity, entry.source.to_string());
            planned.push(PlannedBound { bound, quantity, certificate, delta, examples, curve, source });
        }
    }
    planned.sort_by_key(|p| p.examples.unwrap_or(u64::MAX));
    if planned.is_empty() {
        return Err(usage(
            "nothing is known that a bound could use; give support, held-out error, dimension, margin or lambda, or a model and its training examples"
                .to_owned(),
        ));
    }
    Ok(planned)
}

/// The curves of the bounds that need least.
pub fn sample_size_figure(planned: &[PlannedBound], theme: Theme) -> String {
    let curve = |p: &PlannedBound| BoundCurve {
        name: p.bound.to_owned(),
        points: p.curve.iter().map(|c| (c.examples, c.value)).collect(),
    };
    let wanted = planned.first().map_or(0.0, |p| p.certificate);
    let delta = planned.first().map_or(0.0, |p| p.delta);
    SampleSizeFigure {
        title: "Certificates over the number of examples".to_owned(),
        note: Some(format!("δ = {delta}, at the same complexity; the line is at {wanted}")),
        curves: planned.iter().take(MAX_DRAWN_CURVES).map(curve).collect(),
        wanted,
    }
    .draw(theme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_expected_is_told() {
        let said = |expected: Expected| expected.facts().err().map(|e| e.to_string()).unwrap_or_default();
        assert!(said(Expected { margin: Some(2.0), ..Expected::default() }).contains("margin 2 must lie between"));
        assert!(
            said(Expected { held_out_error: Some(f64::NAN), ..Expected::default() }).contains("held-out error NaN")
        );
        assert!(said(Expected { lambda: Some(-1.0), ..Expected::default() }).contains("lambda -1 must be"));
        let facts = Expected { support: Some(5.0), ..Expected::default() }.facts().unwrap();
        for (certificate, delta, names, word) in
            [(0.0, 0.1, vec![], "certificate = 0"), (0.1, 1.0, vec![], "delta = 1"), (0.1, 0.1, vec!["x"], "called x")]
        {
            let error = plan(&facts, certificate, delta, &names).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        let bare = Expected::default().facts().unwrap();
        assert!(plan(&bare, 0.1, 0.05, &[]).unwrap_err().to_string().contains("nothing is known"));
    }

    #[test]
    fn from_the_number_of_examples_on_the_bound_stays_below() {
        let facts = Expected { held_out_error: Some(0.03), ..Expected::default() }.facts().unwrap();
        let m = plan(&facts, 0.05, 0.05, &["held_out"]).unwrap()[0].examples.unwrap();
        let entry = bounds::find("held_out").unwrap();
        let at = |m: u64| bounds::curve(entry, &facts, 0.05, m as f64).unwrap();
        assert!(at(m - 1) >= 0.05 && (m..4 * m).all(|more| at(more) < 0.05), "{m}");
        assert!((1..m).all(|fewer| at(fewer) >= 0.05), "{m}");
    }

    #[test]
    fn candidates_cost_examples() {
        let examples = |candidates| {
            let expected = Expected { held_out_error: Some(0.05), candidates: Some(candidates), ..Expected::default() };
            plan(&expected.facts().unwrap(), 0.1, 0.05, &["held_out"]).unwrap()[0].examples.unwrap()
        };
        assert!(examples(1) < examples(1000));
    }
}
