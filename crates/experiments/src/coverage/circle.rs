//! Points of the circle and half-planes through its centre: the version space is an arc.
//!
//! Let s be the angle of y x from the true direction, uniform in (−π/2, π/2). The direction φ errs with probability |φ|/π,
//! and classifies the sample rightly if −lo < φ < hi, hi = π/2 + min s, lo = π/2 − max s. The largest margin lies in the middle
//! of the arc, and its vote is that of the arc: angle c = (hi − lo)/2, margin sin((hi + lo)/2).

use super::super::samples::{fit, labelled, weights};
use super::{Must, Said, World, claims};
use mercer::bounds::{Claim, Compression, Evidence, Facts, KernelFacts, Linear, Online, Quantity, Task, scenario, vc};
use mercer::distributions::upper_normal;
use mercer::formula::linear;
use mercer::machines::classify::Svc;
use mercer::seed::Random;
use mercer_terminal::Failure;
use std::f64::consts::{FRAC_PI_2, PI};

pub(super) const WORLD: World = World {
    name: "circle",
    about: "30 points of the circle, classes told apart by a line through the centre",
    delta: 0.2,
    one_in: 1,
    draw,
};

const EXAMPLES: usize = 30;
/// Places at which a Gibbs risk is integrated.
const PLACES: usize = 400;

fn draw(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    let angles: Vec<f64> = (0..EXAMPLES).map(|_| PI * (random.uniform() - 0.5)).collect();
    let (low, high) = angles.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &s| (l.min(s), h.max(s)));
    let (hi, lo) = (FRAC_PI_2 + low, FRAC_PI_2 - high);
    let (centre, gamma, m) = (0.5 * (hi - lo), (0.5 * (hi + lo)).sin(), EXAMPLES as f64);
    let risk = centre.abs() / PI;
    let gibbs = (hi * hi + lo * lo) / (2.0 * PI * (hi + lo));
    let mut facts = Facts {
        machine: "svc".to_owned(),
        errors: Some(0.0),
        compression: Some(Compression {
            size: 2.0,
            surely: 2.0,
            errors_outside: 0.0,
            stable: true,
            scenario: true,
            share_of_all: false,
        }),
        linear: Some(Linear {
            hard: true,
            ..Linear::new(
                angles.iter().map(|s| (s - centre).cos() / gamma).collect(),
                &[1.0; EXAMPLES],
                1.0 / (gamma * gamma),
                0.0,
            )
        }),
        kernel: KernelFacts {
            radius: Some(1.0),
            dimension: Some(2.0),
            trace: m,
            rank: Some(2.0),
            ..KernelFacts::default()
        },
        // the arc's share of the circle is known, so nothing is paid for a simulation
        evidence: Some(Evidence {
            nats: -((hi + lo) / (2.0 * PI)).ln(),
            confidence: 0.0,
            relative_error: 0.0,
            draws: 0.0,
            cap: None,
            nugget: 0.0,
        }),
        ..Facts::bare(m, Task::Classes(2))
    };
    let mut said = claims(&facts, delta, |entry, claim, quantity| match (entry.name, quantity) {
        ("pac_bayes_kl_gibbs", _) => Some(gaussian_gibbs(centre, claim)),
        ("evidence_vote", _) | (_, Quantity::ZeroOneRisk | Quantity::Regret) => Some(risk),
        (_, Quantity::GibbsRisk) => Some(gibbs),
        // y ⟨w, x⟩ < 1 outside the sample's angles
        (_, Quantity::MarginViolation) => Some(1.0 - (high - low) / PI),
        _ => None,
    });
    // two examples always support: the bound before the data is exact
    said.iter_mut().filter(|s| s.statement == "scenario_a_priori").for_each(|s| s.must = Must::BeSharp);
    // bounds of a class hold for its worst member without training error
    let worst = hi.max(lo) / PI;
    said.push(Said::upper(
        "pac_sharp, worst of the version space",
        Must::Hold,
        vc::pac_sharp(m, 2.0, -delta.ln()),
        worst,
    ));

    let violated = violated(random, &angles)?;
    let a_priori = scenario::a_priori(m, 2.0, -delta.ln());
    said.push(Said::upper("scenario_a_priori, svc", Must::BeSharp, a_priori, violated));

    let walk = Walk::of(&angles);
    "perceptron".clone_into(&mut facts.machine);
    facts.compression = Some(Compression {
        size: walk.updated,
        surely: 0.0,
        errors_outside: 0.0,
        stable: false,
        scenario: false,
        share_of_all: false,
    });
    let bound = Some(1.0 / (gamma * gamma));
    facts.online = Some(Online { mistakes: walk.mistakes, updated: walk.updated, mistake_bound: bound });
    facts.linear = None;
    facts.evidence = None;
    said.extend(
        claims(&facts, delta, |entry, _, quantity| match (entry.name, quantity) {
            ("online_to_batch", _) => Some(walk.average_risk),
            (_, Quantity::ZeroOneRisk) => Some(walk.risk),
            _ => None,
        })
        .into_iter()
        .map(|s| Said { statement: format!("{}, perceptron", s.statement), ..s }),
    );
    Ok(said)
}

/// The probability of y ⟨w, x⟩ < 1 for the hard margin that the solver finds: outside arccos(1/‖w‖) around w.
fn violated(random: &mut Random, angles: &[f64]) -> Result<f64, Failure> {
    let mut positive: Vec<bool> = angles.iter().map(|_| random.uniform() < 0.5).collect();
    // both classes must be there
    positive[0] = !positive[1];
    let place = |(s, p): (&f64, &bool)| if *p { [s.cos(), s.sin()] } else { [-s.cos(), -s.sin()] };
    let data = labelled(angles.iter().zip(&positive).flat_map(place).collect(), 2, &positive)?;
    let w = weights(&fit(&Svc { c: f64::INFINITY, bias: false, ..Svc::default() }, &linear(), &data)?, 2)?;
    let (towards, reach) = (w[1].atan2(w[0]), (1.0 / w[0].hypot(w[1])).min(1.0).acos());
    let inside = (towards + reach).min(FRAC_PI_2) - (towards - reach).max(-FRAC_PI_2);
    Ok(1.0 - inside.max(0.0) / PI)
}

/// The risk of a direction drawn from N(μ w, I): the mean of Φ̄(μ cos(s − c)).
fn gaussian_gibbs(centre: f64, claim: &Claim) -> f64 {
    let mu = claim.inputs.iter().find(|(name, _)| *name == "mu").map_or(0.0, |(_, mu)| *mu);
    let place = |k: usize| PI * ((k as f64 + 0.5) / PLACES as f64 - 0.5);
    (0..PLACES).map(|k| upper_normal(mu * (place(k) - centre).cos())).sum::<f64>() / PLACES as f64
}

/// A perceptron that goes round until it makes no more mistakes.
struct Walk {
    /// Mistakes of the first pass, and the average risk of the directions it judged by.
    mistakes: f64,
    average_risk: f64,
    /// Different examples that ever changed it.
    updated: f64,
    risk: f64,
}

impl Walk {
    fn of(angles: &[f64]) -> Self {
        let (mut w, mut first) = ((0.0_f64, 0.0_f64), (0.0, 0.0));
        let mut changed = vec![false; angles.len()];
        // nothing is decided yet: every answer is a mistake
        let risk = |w: (f64, f64)| if w == (0.0, 0.0) { 1.0 } else { w.1.atan2(w.0).abs() / PI };
        let mut pass = 0;
        loop {
            let mut mistakes = 0.0;
            for (s, changed) in angles.iter().zip(&mut changed) {
                if pass == 0 {
                    first.1 += risk(w) / angles.len() as f64;
                }
                if w.0 * s.cos() + w.1 * s.sin() <= 0.0 {
                    w = (w.0 + s.cos(), w.1 + s.sin());
                    *changed = true;
                    mistakes += 1.0;
                }
            }
            if pass == 0 {
                first.0 = mistakes;
            }
            pass += 1;
            if mistakes == 0.0 {
                break;
            }
        }
        let updated = changed.iter().filter(|c| **c).count() as f64;
        Self { mistakes: first.0, average_risk: first.1, updated, risk: risk(w) }
    }
}
