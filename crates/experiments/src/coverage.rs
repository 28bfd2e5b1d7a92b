//! `mercer reproduce coverage`: how often certificates fail in worlds whose true risks can be computed.
//!
//! ```text
//! a bound at δ may fail in a share δ of draws:  failures ≤ the 1 − 10⁻⁶ quantile of Bin(draws, δ)
//! ```
//! δ is large, so that few draws have power. Statements that are known to be wrong must fail more often than that, or the
//! simulation shows nothing; one that is exact must fail as often as it says, on both sides.
//!
//! # Source
//! The theorems are those of the catalogue of bounds. Shawe-Taylor & Cristianini (2004), Prop. 5.5, is one of the wrong
//! statements.

mod circle;
mod finite;
mod gaussians;
mod line;
mod rare;
mod tails;
mod tube;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::bounds::{self, BoundEntry, Claim, Facts, Guarantee, Quantity};
use mercer::distributions::ln_binomial_cdf;
use mercer::seed::{Random, Seed};
use mercer::watch::{Monitor, Phase, Progress};
use mercer_terminal::{Failure, Verb, Watch, arguments, report};
use rayon::prelude::*;
use serde_json::{Value, json};

pub(super) const EXPERIMENT: Verb = Verb { command, run };

/// Draws of a world by default, and with `--quick`.
const DRAWS: (usize, usize) = (4000, 400);
/// How improbable a verdict against a true statement is.
const CHANCE: f64 = 1e-6;
/// Draws between two looks at Ctrl-C.
const BATCH: usize = 100;

/// What must be seen of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Must {
    /// Fails in a share δ of draws at most.
    Hold,
    /// Fails in a share δ of draws, no less and no more.
    BeSharp,
    /// Fails more often: a control that shows that failures are seen.
    Fail,
}

/// A statement about a draw.
struct Said {
    statement: String,
    must: Must,
    bound: f64,
    truth: f64,
    fails: bool,
}

impl Said {
    /// A bound from above.
    fn upper(statement: impl Into<String>, must: Must, bound: f64, truth: f64) -> Self {
        Self { statement: statement.into(), must, bound, truth, fails: truth > bound + ROUNDING }
    }

    /// A bound from below.
    fn lower(statement: impl Into<String>, must: Must, bound: f64, truth: f64) -> Self {
        Self { statement: statement.into(), must, bound, truth, fails: truth < bound - ROUNDING }
    }
}

/// What the computation of a true risk may be off.
const ROUNDING: f64 = 1e-9;

/// A world: what is drawn, at which δ, and what is said about a draw.
struct World {
    name: &'static str,
    about: &'static str,
    delta: f64,
    draw: fn(&mut Random, f64) -> Result<Vec<Said>, Failure>,
}

static WORLDS: &[World] = &[
    circle::WORLD,
    gaussians::SOFT,
    gaussians::NORMALISED,
    gaussians::SEPARABLE,
    finite::WORLD,
    finite::GRID,
    line::WORLD,
    tube::WORLD,
    rare::WORLD,
    tails::WORLD,
];

/// How a statement did over all draws.
struct Tally {
    world: &'static str,
    statement: String,
    must: Must,
    delta: f64,
    draws: usize,
    /// Draws about which something was said.
    said: usize,
    failures: usize,
    bound: f64,
    truth: f64,
}

fn command() -> Command {
    let command = Command::new("coverage")
        .about("How often certificates fail in worlds with known risks, with controls that must fail")
        .after_help("Example:\n  mercer reproduce coverage --quick")
        .arg(
            Arg::new("quick")
                .long("quick")
                .action(ArgAction::SetTrue)
                .help(format!("{} draws of each world instead of {}", DRAWS.1, DRAWS.0)),
        )
        .arg(
            Arg::new("draws")
                .long("draws")
                .value_name("N")
                .value_parser(value_parser!(u32).range(DRAWS.1 as i64..))
                .conflicts_with("quick")
                .help(format!("Draws of each world, {} or more: fewer could not tell what fails", DRAWS.1)),
        );
    arguments::common(command)
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let usual = if flags.get_flag("quick") { DRAWS.1 } else { DRAWS.0 };
    let draws = flags.get_one::<u32>("draws").map_or(usual, |&n| n as usize);
    let (seed, watch) = (arguments::seed(flags), Watch::new(flags));
    let mut tallies = Vec::new();
    for (k, world) in WORLDS.iter().enumerate() {
        let done = |part: usize| (k * draws + part, WORLDS.len() * draws);
        tallies.extend(simulate(world, draws, seed, &watch, done).inspect_err(|_| watch.finish())?);
    }
    watch.finish();
    if flags.get_flag("json") {
        report::print_json(&json!(tallies.iter().map(document).collect::<Vec<_>>()));
    } else {
        report::print(&table(&tallies));
        let about: Vec<(&str, String)> =
            WORLDS.iter().map(|w| (w.name, format!("{}, δ = {}", w.about, w.delta))).collect();
        report::print(&report::facts(&about));
    }
    let wrong = tallies.iter().filter(|t| !t.as_it_must()).count();
    if wrong > 0 {
        // the one document of JSON has the verdicts
        let message = format!("{wrong} of {} statements did not do what they must", tallies.len());
        return Err(Failure { message: if flags.get_flag("json") { String::new() } else { message }, code: 1 });
    }
    Ok(())
}

/// All draws of a world. Every draw has randomness of its own, so that threads change nothing.
fn simulate(
    world: &World,
    draws: usize,
    seed: Seed,
    watch: &Watch,
    done: impl Fn(usize) -> (usize, usize),
) -> Result<Vec<Tally>, Failure> {
    let mut tallies: Vec<Tally> = Vec::new();
    for first in (0..draws).step_by(BATCH) {
        let (part, total) = done(first);
        watch
            .alive(Progress::new(Phase::new("draws"), part).of(total))
            .map_err(|_| Failure { message: "stopped before all draws were made".to_owned(), code: 130 })?;
        let one = |draw: usize| {
            let mut random = Seed(seed.0.wrapping_add(draw as u64)).stream(world.name);
            (world.draw)(&mut random, world.delta)
        };
        let batch: Result<Vec<Vec<Said>>, Failure> =
            (first..draws.min(first + BATCH)).into_par_iter().map(one).collect();
        for said in batch?.into_iter().flatten() {
            let place = tallies.iter().position(|t| t.statement == said.statement).unwrap_or_else(|| {
                tallies.push(Tally::new(world, &said, draws));
                tallies.len() - 1
            });
            tallies[place].add(&said);
        }
    }
    Ok(tallies)
}

impl Tally {
    fn new(world: &World, said: &Said, draws: usize) -> Self {
        Self {
            world: world.name,
            statement: said.statement.clone(),
            must: said.must,
            delta: world.delta,
            draws,
            said: 0,
            failures: 0,
            bound: 0.0,
            truth: 0.0,
        }
    }

    /// Means are those of what was said; a bound above 1 counts as 1.
    fn add(&mut self, said: &Said) {
        self.said += 1;
        self.failures += usize::from(said.fails);
        self.bound += (said.bound.min(1.0) - self.bound) / self.said as f64;
        self.truth += (said.truth - self.truth) / self.said as f64;
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

    fn as_it_must(&self) -> bool {
        let (least, most) = self.explained();
        match self.must {
            Must::Hold => self.failures <= most,
            Must::BeSharp => (least..=most).contains(&self.failures),
            Must::Fail => self.failures > most,
        }
    }

    fn rate(&self) -> f64 {
        self.failures as f64 / self.draws as f64
    }

    fn verdict(&self) -> &'static str {
        match (self.must, self.as_it_must()) {
            (Must::Hold, true) if self.bound >= 1.0 => "says nothing",
            (Must::Hold, true) => "holds",
            (Must::Hold, false) => "FAILS",
            (Must::BeSharp, true) => "sharp",
            (Must::BeSharp, false) => "NOT SHARP",
            (Must::Fail, true) => "fails, as it must",
            (Must::Fail, false) => "DOES NOT FAIL",
        }
    }
}

/// What all bounds of the catalogue that speak with high probability say of these facts, beside the truth about what they
/// bound; nothing where the truth is not known.
fn claims(facts: &Facts, delta: f64, truth: impl Fn(&BoundEntry, &Claim, Quantity) -> Option<f64>) -> Vec<Said> {
    let mut said = Vec::new();
    for entry in bounds::all().filter(|e| e.guarantee == Guarantee::HighProbability) {
        if facts.refuses(entry).is_some() {
            continue;
        }
        let Ok(claim) = (entry.claim)(facts, facts.penalty.nats(entry) - delta.ln()) else { continue };
        let Some(truth) = truth(entry, &claim, claim.quantity.unwrap_or(entry.quantity)) else { continue };
        said.push(Said::upper(entry.name, Must::Hold, claim.value, truth));
        if let Some(lower) = claim.lower {
            said.push(Said::lower(format!("{}, lower end", entry.name), Must::Hold, lower, truth));
        }
    }
    said
}

fn document(t: &Tally) -> Value {
    let (least, most) = t.explained();
    json!({
        "world": t.world, "statement": t.statement, "delta": t.delta, "draws": t.draws, "said": t.said,
        "failures": t.failures, "rate": t.rate(), "explained": [least, most], "mean_bound": t.bound,
        "mean_truth": t.truth, "verdict": t.verdict(), "as_it_must": t.as_it_must(),
    })
}

fn table(tallies: &[Tally]) -> String {
    let row = |t: &Tally| {
        let (least, most) = t.explained();
        let range = match t.must {
            Must::Hold => format!("≤ {:.3}", most as f64 / t.draws as f64),
            Must::BeSharp => format!("{:.3} … {:.3}", least as f64 / t.draws as f64, most as f64 / t.draws as f64),
            Must::Fail => format!("> {:.3}", most as f64 / t.draws as f64),
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
    let header = ["world", "statement", "δ", "failed", "must be", "mean bound", "mean truth", "verdict"];
    report::table(&header, &tallies.iter().map(row).collect::<Vec<_>>(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(must: Must, failures: usize) -> Tally {
        let (statement, draws) = ("a".to_owned(), 400);
        Tally { world: "w", statement, must, delta: 0.2, draws, said: draws, failures, bound: 0.5, truth: 0.1 }
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
    fn a_bound_below_the_truth_fails_and_rounding_does_not() {
        assert!(Said::upper("a", Must::Hold, 0.1, 0.2).fails && !Said::upper("a", Must::Hold, 0.2, 0.2 + 1e-12).fails);
        assert!(Said::lower("a", Must::Hold, 0.3, 0.2).fails && !Said::lower("a", Must::Hold, 0.1, 0.2).fails);
    }
}
