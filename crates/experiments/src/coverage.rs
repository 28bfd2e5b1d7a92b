//! `mercer reproduce coverage`: how often certificates fail in worlds whose true risks can be computed.
//!
//! ```text
//! a bound at δ may fail in a share δ of draws:         failures ≤ the 1 − 10⁻⁶ quantile of Bin(draws, δ)
//! a bound in expectation may not be below the truth:   mean of bound − truth ≥ −3 standard errors of that mean
//! ```
//! δ is large, so that few draws have power. Statements that are known to be wrong must fail more often than that, or the
//! simulation shows nothing; one that is exact must fail as often as it says, and an unbiased one must not differ, on both sides.
//!
//! # Source
//! The theorems are those of the catalogue of bounds. Shawe-Taylor & Cristianini (2004), Prop. 5.5, is one of the wrong
//! statements.

mod circle;
mod finite;
mod gaussians;
mod line;
mod mirrored;
mod rare;
mod regions;
mod statement;
mod tails;
mod theories;
mod tube;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::bounds::{self, BoundEntry, Claim, Facts, Guarantee, Quantity};
use mercer::seed::{Random, Seed};
use mercer::watch::{Monitor, Phase, Progress};
use mercer_terminal::{Failure, Verb, Watch, arguments, report};
use rayon::prelude::*;
use serde_json::json;
use statement::{Must, Said, Tally, tables};

pub(super) const EXPERIMENT: Verb = Verb { command, run };

/// Draws of a world by default, and with `--quick`.
const DRAWS: (usize, usize) = (4000, 400);
/// Draws between two looks at Ctrl-C.
const BATCH: usize = 100;

/// A world: what is drawn, at which δ, and what is said about a draw.
struct World {
    name: &'static str,
    about: &'static str,
    delta: f64,
    /// One in so many of the draws that are asked for is made: a draw with many fits takes long.
    one_in: usize,
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
    theories::CLASSES,
    theories::NUMBERS,
    theories::REGION,
    mirrored::WORLD,
    regions::WORLD,
];

fn command() -> Command {
    let command = Command::new("coverage")
        .about("How often certificates fail in worlds with known risks, with controls that must fail")
        .after_help("Example:\n  mercer reproduce coverage --quick")
        .arg(
            Arg::new("quick")
                .long("quick")
                .action(ArgAction::SetTrue)
                .help(format!("{} draws of a world instead of {}; fewer where a draw is many fits", DRAWS.1, DRAWS.0)),
        )
        .arg(
            Arg::new("draws")
                .long("draws")
                .value_name("N")
                .value_parser(value_parser!(u32).range(DRAWS.1 as i64..))
                .conflicts_with("quick")
                .help(format!("Draws of a world, {} or more: fewer could not tell what fails", DRAWS.1)),
        );
    arguments::common(command)
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let usual = if flags.get_flag("quick") { DRAWS.1 } else { DRAWS.0 };
    let draws = flags.get_one::<u32>("draws").map_or(usual, |&n| n as usize);
    let (seed, watch) = (arguments::seed(flags), Watch::new(flags));
    let mut tallies = Vec::new();
    for (k, world) in WORLDS.iter().enumerate() {
        let done = |part: usize| (k * draws + part * world.one_in, WORLDS.len() * draws);
        tallies.extend(simulate(world, draws / world.one_in, seed, &watch, done).inspect_err(|_| watch.finish())?);
    }
    watch.finish();
    if flags.get_flag("json") {
        report::print_json(&json!(tallies.iter().map(Tally::document).collect::<Vec<_>>()));
    } else {
        report::print(&tables(&tallies));
        let about: Vec<(&str, String)> = WORLDS
            .iter()
            .map(|w| (w.name, format!("{}, δ = {}, {} draws", w.about, w.delta, draws / w.one_in)))
            .collect();
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
                tallies.push(Tally::new((world.name, world.delta), &said, draws));
                tallies.len() - 1
            });
            tallies[place].add(&said);
        }
    }
    Ok(tallies)
}

/// Claims about these facts by all bounds of the catalogue that speak with high probability, beside the truth about what they
/// bound; nothing where the truth is not known.
fn claims(facts: &Facts, delta: f64, truth: impl Fn(&BoundEntry, &Claim, Quantity) -> Option<f64>) -> Vec<Said> {
    let mut said = Vec::new();
    for entry in bounds::all().filter(|e| e.guarantee == Guarantee::HighProbability) {
        if facts.refuses(entry).is_some() {
            continue;
        }
        let Ok(claim) = (entry.claim)(facts, facts.penalty.nats(entry) - delta.ln()) else { continue };
        let Some(truth) = truth(entry, &claim, claim.quantity.unwrap_or(entry.quantity)) else { continue };
        let quantity = claim.quantity.unwrap_or(entry.quantity);
        said.push(Said::claimed(entry.name, &facts.machine, Must::Hold, &claim, quantity, truth));
        if let Some(lower) = claim.lower {
            let lower = Said::lower(format!("{}, lower end", entry.name), Must::Hold, lower, truth);
            said.push(Said { machine: facts.machine.clone(), ..lower });
        }
    }
    said
}

/// Claims about a fit to m examples by all bounds of the catalogue that hold in expectation, beside the risk of a fit without one of
/// them, which they are about (Herbrich 2002, Thm. 2.36).
fn expectations(facts: &Facts, without_one: impl Fn(Quantity) -> Option<f64>) -> Vec<Said> {
    let mut said = Vec::new();
    for entry in bounds::all().filter(|e| e.guarantee == Guarantee::Expectation && facts.refuses(e).is_none()) {
        let Ok(claim) = (entry.claim)(facts, 0.0) else { continue };
        let quantity = claim.quantity.unwrap_or(entry.quantity);
        let Some(truth) = without_one(quantity) else { continue };
        // an estimate without bias, and bounds of that estimate
        let must = if entry.name == "leave_one_out" { Must::BeUnbiased } else { Must::HoldOnAverage };
        said.push(Said::claimed(entry.name, &facts.machine, must, &claim, quantity, truth));
    }
    said
}
