//! A hard margin of unit vectors, linear and without offset. All but the margin Γ and the number of support vectors is a
//! formula, so every reference figure is also held against the formula at the reference Γ and number.
//!
//! s = 4: nothing fixes it, and with it Γ in the plane is the reference. The reference figures are those of single draws.

use super::super::samples::{facts, fit, gaussians};
use super::{Cell, DELTA, Request, reference};
use mercer::bounds::{compression, luckiness, margin, pac_bayes, scenario, vc};
use mercer::certify::Options;
use mercer::formula::linear;
use mercer::machines::classify::Svc;
use mercer::seed::Seed;
use mercer_terminal::Failure;

const SHIFT: f64 = 4.0;

/// Examples, coordinates, what the column is called, draws for each hundred asked for, and the reference Γ and number.
const COLUMNS: [(usize, usize, &str, usize, f64, f64); 3] = [
    (200, 2, "m = 200, n = 2", 100, 0.722, 2.0),
    (200, 10, "m = 200, n = 10", 100, 0.435, 8.0),
    (2000, 10, "m = 2000, n = 10", 10, 0.394, 7.0),
];

/// A formula of examples, coordinates, Γ, support vectors and nats.
type Formula = fn(f64, f64, f64, f64, f64) -> f64;
/// Rows: the formula, and the reference with the unit of its last digit.
type Row = (&'static str, Formula, [(f64, f64); 3]);

const ROWS: [Row; 14] = [
    ("pac", |m, n, _, _, nats| vc::pac(m, n, nats), [(0.300, 1e-3), (0.968, 1e-3), (0.143, 1e-3)]),
    ("pac_sharp", |m, n, _, _, nats| vc::pac_sharp(m, n, nats), [(0.216, 1e-3), (0.698, 1e-3), (0.103, 1e-3)]),
    (
        "empirical_vc, rank not paid for",
        |m, n, _, _, nats| luckiness::empirical_vc(m, n, nats),
        [(1.45, 0.01), (2.50, 0.01), (0.442, 1e-3)],
    ),
    ("margin", |m, _, g, _, nats| margin::margin(m, 1.0 / (g * g), nats), [(80.0, 1.0), (158.0, 1.0), (44.0, 1.0)]),
    (
        "mistake_bound",
        |m, _, g, _, nats| compression::mistakes(m, 1.0 / (g * g), nats),
        [(0.204, 1e-3), (0.416, 1e-3), (0.066, 1e-3)],
    ),
    (
        "pac_bayes_margin",
        |m, n, g, _, nats| pac_bayes::margin(g, n.min(m), m, nats),
        [(0.180, 1e-3), (0.387, 1e-3), (0.045, 1e-3)],
    ),
    (
        "version_space, the exact cap",
        |m, n, g, _, nats| 2.0 * pac_bayes::version_space(-pac_bayes::ln_cap(g, n.min(m)), m, nats),
        [(0.160, 1e-3), (0.240, 1e-3), (0.030, 1e-3)],
    ),
    (
        "pac_bayes_cap",
        |m, n, g, _, nats| pac_bayes::cap(g, n.min(m), m, nats),
        [(0.043, 1e-3), (0.121, 1e-3), (0.013, 1e-3)],
    ),
    (
        "compression",
        |m, _, _, d, nats| compression::lossless(m, d, nats),
        [(0.092, 1e-3), (0.208, 1e-3), (0.0277, 1e-4)],
    ),
    (
        "compression_exact",
        |m, _, _, d, nats| compression::lossless_exact(m, d, nats),
        [(0.088, 1e-3), (0.188, 1e-3), (0.0273, 1e-4)],
    ),
    ("scenario", |m, _, _, d, nats| scenario::scenario(m, d, nats), [(0.043, 1e-3), (0.091, 1e-3), (0.0086, 1e-4)]),
    (
        "scenario_a_priori",
        |m, n, _, _, nats| scenario::a_priori(m, n, nats),
        [(0.0235, 1e-4), (0.077, 1e-3), (0.0078, 1e-4)],
    ),
    ("normalised margin Γ", |_, _, g, _, _| g, [(0.722, 1e-3), (0.435, 1e-3), (0.394, 1e-3)]),
    ("support vectors", |_, _, _, d, _| d, [(2.0, 1.0), (8.0, 1.0), (7.0, 1.0)]),
];

pub(super) fn cells(request: &Request<'_>) -> Result<Vec<Cell>, Failure> {
    let (mut formulas, mut drawn) = (Vec::new(), Vec::new());
    for (k, (m, n, column, share, gamma, support)) in COLUMNS.into_iter().enumerate() {
        let draws = (request.draws * share / 100).max(5);
        let seen = request.repeat(column, draws, |seed| one(seed, m, n))?;
        let (m, n, nats) = (m as f64, n as f64, -DELTA.ln());
        for (row, formula, figures) in ROWS {
            let (value, unit) = figures[k];
            let at = |g: f64| formula(m, n, g, support, nats);
            // Γ is known to three decimals, which blurs what follows from it
            let blur = (at(gamma + 0.0005) - at(gamma - 0.0005)).abs();
            formulas.push(Cell::of(
                "hard, at the reference Γ",
                column,
                row,
                &[at(gamma)],
                reference(value, unit + blur, 1),
            ));
            let values: Vec<f64> = seen.iter().map(|(g, d)| formula(m, n, *g, *d, nats)).collect();
            drawn.push(Cell::of("hard, our draws", column, row, &values, reference(value, unit, 1)));
        }
    }
    formulas.extend(drawn);
    Ok(formulas)
}

/// Γ and the number of support vectors of a draw.
fn one(seed: Seed, m: usize, n: usize) -> Result<(f64, f64), Failure> {
    let data = gaussians(&mut seed.stream("hard"), m, n, SHIFT)?;
    // the kernel of unit vectors is that of the data scaled to length 1
    let model = fit(&Svc { c: f64::INFINITY, bias: false, ..Svc::default() }, &linear().normalise(), &data)?;
    let facts = facts(&model, &data, &Options { delta: DELTA, ..Options::default() })?;
    let missing = || Failure { message: "a hard margin has a weight vector and support vectors".to_owned(), code: 4 };
    let linear = facts.linear.as_ref().ok_or_else(missing)?;
    let gamma = linear.least_gamma();
    Ok((gamma, facts.compression.ok_or_else(missing)?.size))
}
