//! The prior's mass of the version space by simulation, against the cap that a margin inscribes: separable classes (s = 4,
//! which nothing fixes), kernel exp(−‖x − z‖²/2σ²), hard margin without offset.

use super::super::samples::{facts, fit, gaussians};
use super::{Cell, DELTA, Request, reference};
use mercer::bounds::pac_bayes;
use mercer::certify::Options;
use mercer::formula::rbf;
use mercer::machines::classify::Svc;
use mercer::seed::Seed;
use mercer_terminal::Failure;

const SHIFT: f64 = 4.0;
/// Draws of the simulation.
const SIMULATED: usize = 2000;

/// Examples, σ, what the column is called, draws for each hundred asked for; reference nats of the mass and of the cap, and the
/// certificates by these and by Theorem 5.2.
type Column = (usize, f64, &'static str, usize, [Option<(f64, f64)>; 4]);
const COLUMNS: [Column; 3] = [
    (200, 3.0, "m = 200, σ = 3", 20, [Some((4.3, 0.1)), Some((167.0, 1.0)), Some((0.057, 1e-3)), Some((0.095, 1e-3))]),
    (200, 1.0, "m = 200, σ = 1", 20, [Some((13.8, 0.1)), Some((259.0, 1.0)), None, None]),
    (1000, 3.0, "m = 1000, σ = 3", 4, [Some((5.2, 0.1)), Some((905.0, 1.0)), Some((0.0125, 1e-4)), None]),
];
const ROWS: [&str; 4] = ["−ln P(V), simulated", "−ln of the inscribed cap", "evidence", "version_space"];

pub(super) fn cells(request: &Request<'_>) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for (m, sigma, column, share, figures) in COLUMNS {
        let draws = (request.draws * share / 100).max(5);
        let drawn = request.repeat(column, draws, |seed| one(seed, m, sigma))?;
        for (r, row) in ROWS.into_iter().enumerate() {
            let values: Vec<f64> = drawn.iter().map(|d| d[r]).collect();
            let figure = figures[r].and_then(|(value, unit)| reference(value, unit, 1));
            cells.push(Cell::of("evidence", column, row, &values, figure));
        }
    }
    Ok(cells)
}

fn one(seed: Seed, m: usize, sigma: f64) -> Result<[f64; 4], Failure> {
    let data = gaussians(&mut seed.stream("evidence"), m, 2, SHIFT)?;
    let kernel = rbf(1.0 / (2.0 * sigma * sigma));
    let model = fit(&Svc { c: f64::INFINITY, bias: false, ..Svc::default() }, &kernel, &data)?;
    let facts = facts(&model, &data, &Options { delta: DELTA, evidence: SIMULATED, seed, ..Options::default() })?;
    let missing = || Failure { message: "a hard margin has a version space".to_owned(), code: 4 };
    let (found, linear) = (facts.evidence.ok_or_else(missing)?, facts.linear.as_ref().ok_or_else(missing)?);
    let (m, nats) = (m as f64, -DELTA.ln());
    let gamma = linear.least_gamma();
    // half of δ for the simulation, half for the theorem
    let certificate = pac_bayes::realisable(found.nats + found.confidence, m, nats + std::f64::consts::LN_2);
    Ok([found.nats, -pac_bayes::ln_cap(gamma, m), certificate, pac_bayes::version_space(found.nats, m, nats)])
}
