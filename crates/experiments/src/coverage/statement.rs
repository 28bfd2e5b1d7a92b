//! Statements about a draw, how they did over all draws, and the verdicts.
//!
//! ```text
//! with probability 1 − δ    failures ≤ the 1 − 10⁻⁶ quantile of Bin(draws, δ)
//! in expectation            mean of bound − truth ≥ −3 standard errors of that mean
//! ```

use mercer::bounds::{Claim, Quantity};
use mercer::distributions::ln_binomial_cdf;
use mercer_terminal::report;
use serde_json::{Value, json};

/// The probability of a verdict against a true statement that holds with probability 1 − δ.
const CHANCE: f64 = 1e-6;
/// Standard errors of the mean over draws that a true statement in expectation may be violated by.
const ERRORS: f64 = 3.0;
/// The error that the computation of a true risk may have.
const ROUNDING: f64 = 1e-9;

/// The outcome that a statement must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Must {
    /// Fails in a share δ of draws at most.
    Hold,
    /// Fails in a share δ of draws, no less and no more.
    BeSharp,
    /// Fails more often: a control that shows that failures are seen.
    Fail,
    /// Its mean over draws is not below that of the truth.
    HoldOnAverage,
    /// Its mean over draws is that of the truth.
    BeUnbiased,
    /// Its mean over draws is below that of the truth: a control.
    FailOnAverage,
}

impl Must {
    fn is_expectation(self) -> bool {
        matches!(self, Self::HoldOnAverage | Self::BeUnbiased | Self::FailOnAverage)
    }
}

/// A statement about a draw.
pub(super) struct Said {
    pub(super) statement: String,
    /// The machine whose fit it is about; empty where there is none.
    pub(super) machine: String,
    pub(super) must: Must,
    pub(super) bound: f64,
    pub(super) truth: f64,
    pub(super) fails: bool,
    /// True if a bound of 1 or more says nothing.
    pub(super) probability: bool,
}

impl Said {
    /// A bound from above.
    pub(super) fn upper(statement: impl Into<String>, must: Must, bound: f64, truth: f64) -> Self {
        let fails = truth > bound + ROUNDING;
        Self { statement: statement.into(), machine: String::new(), must, bound, truth, fails, probability: true }
    }

    /// A bound from below.
    pub(super) fn lower(statement: impl Into<String>, must: Must, bound: f64, truth: f64) -> Self {
        Self { fails: truth < bound - ROUNDING, ..Self::upper(statement, must, bound, truth) }
    }

    /// The same of a loss, which may be above 1.
    pub(super) fn of_a_loss(self) -> Self {
        Self { probability: false, ..self }
    }

    /// The same about a fit of a machine, whose name it has.
    pub(super) fn about(self, machine: &str, suffix: &str) -> Self {
        Self { statement: format!("{}, {suffix}", self.statement), machine: machine.to_owned(), ..self }
    }

    /// A claim of the catalogue about a machine's fit.
    pub(super) fn claimed(
        name: &str,
        machine: &str,
        must: Must,
        claim: &Claim,
        quantity: Quantity,
        truth: f64,
    ) -> Self {
        let said = Self::upper(name, must, claim.value, truth);
        Self { machine: machine.to_owned(), probability: quantity.is_probability(), ..said }
    }
}

/// The record of a statement over all draws.
pub(super) struct Tally {
    world: &'static str,
    pub(super) statement: String,
    pub(super) machine: String,
    must: Must,
    delta: f64,
    draws: usize,
    /// Draws about which something was said.
    said: usize,
    failures: usize,
    /// Means; a probability above 1 counts as 1.
    bound: f64,
    truth: f64,
    /// The mean of bound − truth, and the sum of squares around it.
    excess: f64,
    squares: f64,
    probability: bool,
}

impl Tally {
    pub(super) fn new((world, delta): (&'static str, f64), said: &Said, draws: usize) -> Self {
        Self {
            world,
            statement: said.statement.clone(),
            machine: said.machine.clone(),
            must: said.must,
            delta,
            draws,
            said: 0,
            failures: 0,
            bound: 0.0,
            truth: 0.0,
            excess: 0.0,
            squares: 0.0,
            probability: said.probability,
        }
    }

    /// Adds what was said of one draw.
    pub(super) fn add(&mut self, said: &Said) {
        self.said += 1;
        self.failures += usize::from(said.fails);
        let n = self.said as f64;
        let bound = if said.probability { said.bound.min(1.0) } else { said.bound };
        self.bound += (bound - self.bound) / n;
        self.truth += (said.truth - self.truth) / n;
        // Welford's recursion
        let excess = said.bound - said.truth;
        let step = excess - self.excess;
        self.excess += step / n;
        self.squares += step * (excess - self.excess);
    }

    /// The standard error of the mean of bound − truth.
    fn standard_error(&self) -> f64 {
        let n = self.said as f64;
        if n < 2.0 { f64::INFINITY } else { (self.squares / (n - 1.0) / n).sqrt() }
    }

    /// The fewest and the most failures that a share δ explains. A statement may be silent about some draws: it fails in a
    /// share δ of all.
    fn explained(&self) -> (usize, usize) {
        let (n, p) = (self.draws as f64, self.delta);
        let below = |k: usize| if k == 0 { 0.0 } else { ln_binomial_cdf((k - 1) as f64, n, p).exp() };
        let least = (0..=self.draws).take_while(|&k| below(k) <= CHANCE).last().unwrap_or(0);
        let most = (least..=self.draws).find(|&k| below(k + 1) >= 1.0 - CHANCE).unwrap_or(self.draws);
        (least, most)
    }

    pub(super) fn as_it_must(&self) -> bool {
        let doubt = ERRORS * self.standard_error() + ROUNDING;
        match self.must {
            Must::Hold => self.failures <= self.explained().1,
            Must::BeSharp => (self.explained().0..=self.explained().1).contains(&self.failures),
            Must::Fail => self.failures > self.explained().1,
            // a mean over some draws only is that of another distribution
            Must::HoldOnAverage => self.said == self.draws && self.excess >= -doubt,
            Must::BeUnbiased => self.said == self.draws && self.excess.abs() <= doubt,
            Must::FailOnAverage => self.excess < -doubt,
        }
    }

    fn rate(&self) -> f64 {
        self.failures as f64 / self.draws as f64
    }

    fn verdict(&self) -> &'static str {
        match (self.must, self.as_it_must()) {
            (Must::Hold | Must::HoldOnAverage, true) if self.probability && self.bound >= 1.0 => "says nothing",
            (Must::Hold | Must::HoldOnAverage, true) => "holds",
            (Must::Hold | Must::HoldOnAverage, false) => "FAILS",
            (Must::BeSharp, true) => "sharp",
            (Must::BeSharp, false) => "NOT SHARP",
            (Must::BeUnbiased, true) => "unbiased",
            (Must::BeUnbiased, false) => "BIASED",
            (Must::Fail | Must::FailOnAverage, true) => "fails, as it must",
            (Must::Fail | Must::FailOnAverage, false) => "DOES NOT FAIL",
        }
    }

    /// The JSON document of a statement.
    pub(super) fn document(&self) -> Value {
        let mut told = json!({
            "world": self.world, "statement": self.statement, "draws": self.draws, "said": self.said,
            "mean_bound": self.bound, "mean_truth": self.truth, "verdict": self.verdict(),
            "as_it_must": self.as_it_must(),
        });
        if !self.machine.is_empty() {
            told["machine"] = json!(self.machine);
        }
        if self.must.is_expectation() {
            told["guarantee"] = json!("expectation");
            told["mean_excess"] = json!(self.excess);
            told["standard_error"] = json!(self.standard_error());
        } else {
            let (least, most) = self.explained();
            told["guarantee"] = json!("high probability");
            told["delta"] = json!(self.delta);
            told["failures"] = json!(self.failures);
            told["rate"] = json!(self.rate());
            told["explained"] = json!([least, most]);
        }
        told
    }
}

/// The tables of statements that hold with probability 1 − δ and of those that hold in expectation.
pub(super) fn tables(tallies: &[Tally]) -> String {
    let likely = |t: &Tally| {
        let (least, most) = t.explained();
        let range = match t.must {
            Must::BeSharp => format!("{:.3} … {:.3}", least as f64 / t.draws as f64, most as f64 / t.draws as f64),
            Must::Fail => format!("> {:.3}", most as f64 / t.draws as f64),
            _ => format!("≤ {:.3}", most as f64 / t.draws as f64),
        };
        vec![
            t.world.to_owned(),
            t.statement.clone(),
            format!("{}", t.delta),
            format!("{:.4}", t.rate()),
            range,
            format!("{:.3}", t.bound),
            format!("{:.3}", t.truth),
            t.verdict().to_owned(),
        ]
    };
    let mean = |t: &Tally| {
        let doubt = ERRORS * t.standard_error();
        let range = match t.must {
            Must::BeUnbiased => format!("within ±{doubt:.4}"),
            Must::FailOnAverage => format!("< {:.4}", -doubt),
            _ => format!("≥ {:.4}", -doubt),
        };
        vec![
            t.world.to_owned(),
            t.statement.clone(),
            format!("{:.4}", t.excess),
            range,
            format!("{:.3}", t.bound),
            format!("{:.3}", t.truth),
            t.verdict().to_owned(),
        ]
    };
    let of = |expectation: bool| tallies.iter().filter(move |t| t.must.is_expectation() == expectation);
    let first = ["world", "statement", "δ", "failed", "must be", "mean bound", "mean truth", "verdict"];
    let second = ["world", "in expectation", "bound − truth", "must be", "mean bound", "mean truth", "verdict"];
    format!(
        "{}\n{}",
        report::table(&first, &of(false).map(likely).collect::<Vec<_>>(), false),
        report::table(&second, &of(true).map(mean).collect::<Vec<_>>(), false)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(must: Must, failures: usize) -> Tally {
        let said = Said::upper("a", must, 0.5, 0.1);
        Tally { said: 400, failures, bound: 0.5, truth: 0.1, ..Tally::new(("w", 0.2), &said, 400) }
    }

    #[test]
    fn verdicts_are_those_of_binomial_tails() {
        // 80 are expected, and the standard deviation is 8
        let (least, most) = tally(Must::Hold, 0).explained();
        assert!((40..=46).contains(&least) && (116..=122).contains(&most), "{least} {most}");
        assert!(tally(Must::Hold, most).as_it_must() && !tally(Must::Hold, most + 1).as_it_must());
        assert!(!tally(Must::Fail, most).as_it_must() && tally(Must::Fail, most + 1).as_it_must());
        assert!(!tally(Must::BeSharp, 0).as_it_must() && tally(Must::BeSharp, 80).as_it_must());
        assert!(tally(Must::Hold, 0).as_it_must());
    }

    #[test]
    fn verdicts_in_expectation_are_those_of_the_mean_and_its_standard_error() {
        // bound − truth is ±0.1 around a mean, so that the standard error of 400 draws is 0.005
        let of = |must: Must, mean: f64, draws: usize| {
            let at = |i: usize| mean + if i.is_multiple_of(2) { 0.1 } else { -0.1 };
            let said = |i: usize| Said::upper("a", must, 0.5 + at(i), 0.5);
            let mut tally = Tally::new(("w", 0.2), &said(0), 400);
            (0..draws).for_each(|i| tally.add(&said(i)));
            assert!((tally.standard_error() - 0.1 / (draws as f64 - 1.0).sqrt()).abs() < 1e-12);
            tally.as_it_must()
        };
        for (mean, holds, unbiased, fails) in [
            (0.1, true, false, false),
            (0.0, true, true, false),
            (-0.014, true, true, false),
            (-0.016, false, false, true),
        ] {
            assert_eq!(of(Must::HoldOnAverage, mean, 400), holds, "{mean}");
            assert_eq!(of(Must::BeUnbiased, mean, 400), unbiased, "{mean}");
            assert_eq!(of(Must::FailOnAverage, mean, 400), fails, "{mean}");
        }
        assert!(!of(Must::HoldOnAverage, 0.1, 398), "an average over some of the draws only is not the one meant");
    }

    #[test]
    fn a_bound_below_the_truth_fails_and_rounding_does_not() {
        assert!(Said::upper("a", Must::Hold, 0.1, 0.2).fails && !Said::upper("a", Must::Hold, 0.2, 0.2 + 1e-12).fails);
        assert!(Said::lower("a", Must::Hold, 0.3, 0.2).fails && !Said::lower("a", Must::Hold, 0.1, 0.2).fails);
    }
}
