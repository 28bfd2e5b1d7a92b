//! A soft margin with a Gaussian kernel and without offset: s = 2 in the plane, Bayes' risk 0.0228.
//!
//! The kernel is exp(−‖x − z‖²/2σ²) with σ = 1.5: nothing fixes the width, and with this one the numbers of support vectors, and of
//! those at C, which the leave-one-out bound counts, are the reference's.

use super::super::samples::{facts, fit, gaussians, points, scores};
use super::{Cell, DELTA, Reference, Request, reference};
use mercer::bounds::{self, Facts, HeldOutErrors, stability};
use mercer::certify::Options;
use mercer::distributions::upper_normal;
use mercer::formula::rbf;
use mercer::machines::classify::Svc;
use mercer::model::Model;
use mercer::seed::Seed;
use mercer_terminal::Failure;

const SHIFT: f64 = 2.0;
/// 1/2σ² with σ = 1.5.
const GAMMA: f64 = 2.0 / 9.0;

/// Examples, C, what the column is called, and its draws for each hundred asked for.
const COLUMNS: [(usize, f64, &str, usize); 3] =
    [(200, 1.0, "m = 200, C = 1", 100), (1000, 1.0, "m = 1000, C = 1", 10), (1000, 0.003, "m = 1000, C = 0.003", 10)];

/// Rows with the reference figures for the three columns and the unit of their last digit.
type Row = (&'static str, [Option<(f64, f64)>; 3]);
const THIRD: f64 = 0.001;
#[allow(clippy::approx_constant)] // 0.318 is a reference bound
const ROWS: [Row; 20] = [
    ("risk", [Some((0.0247, 1e-4)), Some((0.0237, 1e-4)), Some((0.0233, 1e-4))]),
    ("support vectors", [Some((28.0, 1.0)), Some((82.0, 1.0)), Some((997.0, 1.0))]),
    ("training error", [Some((0.018, THIRD)), Some((0.022, THIRD)), Some((0.024, THIRD))]),
    ("training error below the risk", [Some((0.72, 0.01)), None, None]),
    ("jaakkola_haussler", [Some((0.080, THIRD)), Some((0.067, THIRD)), Some((0.024, THIRD))]),
    ("support_vectors", [Some((0.140, THIRD)), Some((0.082, THIRD)), Some((0.997, THIRD))]),
    ("compression_exact", [Some((0.394, THIRD)), Some((0.271, THIRD)), Some((0.999, THIRD))]),
    ("compression_lossy", [Some((0.537, THIRD)), Some((0.426, THIRD)), None]),
    ("scenario", [Some((0.220, THIRD)), Some((0.111, THIRD)), Some((0.999, THIRD))]),
    ("scenario_interval, lower end", [Some((0.075, THIRD)), Some((0.056, THIRD)), Some((0.981, THIRD))]),
    ("scenario_interval", [Some((0.228, THIRD)), Some((0.113, THIRD)), Some((1.0, 0.01))]),
    ("stability as printed", [Some((141.0, 1.0)), Some((312.0, 1.0)), Some((1.33, 0.01))]),
    ("stability", [Some((71.0, 1.0)), Some((157.0, 1.0)), Some((0.83, 0.01))]),
    ("rademacher", [Some((1.56, 0.01)), Some((0.91, 0.01)), Some((0.69, 0.01))]),
    ("rademacher_contraction", [Some((0.995, THIRD)), Some((0.57, 0.01)), Some((0.58, 0.01))]),
    ("pac_bayes_kl_gibbs", [Some((0.192, THIRD)), Some((0.102, THIRD)), Some((0.098, THIRD))]),
    ("pac_bayes_kl", [Some((0.384, THIRD)), Some((0.203, THIRD)), Some((0.196, THIRD))]),
    ("pac_bayes_mcallester", [Some((0.571, THIRD)), Some((0.336, THIRD)), Some((0.318, THIRD))]),
    ("held_out, half", [Some((0.067, THIRD)), Some((0.038, THIRD)), None]),
    ("held_out above the risk", [None, None, None]),
];

pub(super) fn cells(request: &Request<'_>) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for (k, (m, c, column, share)) in COLUMNS.into_iter().enumerate() {
        let draws = (request.draws * share / 100).max(5);
        let drawn = request.repeat(column, draws, |seed| one(seed, m, c))?;
        for (r, (row, figures)) in ROWS.into_iter().enumerate() {
            let values: Vec<f64> = drawn.iter().map(|d| d[r]).collect();
            // the reference means are over 100 draws of small samples, and 10 of large ones
            let figure: Option<Reference> = figures[k].and_then(|(value, unit)| reference(value, unit, share));
            cells.push(Cell::of("soft", column, row, &values, figure));
        }
    }
    Ok(cells)
}

/// The rows of a draw.
fn one(seed: Seed, m: usize, c: f64) -> Result<[f64; 20], Failure> {
    let mut random = seed.stream("soft");
    let data = gaussians(&mut random, m, 2, SHIFT)?;
    let machine = Svc { c, bias: false, ..Svc::default() };
    let model = fit(&machine, &rbf(GAMMA), &data)?;
    let facts = facts(&model, &data, &Options { delta: DELTA, ..Options::default() })?;
    let says = |name: &str| said(&facts, name).0;
    let (true_risk, training) = (risk(&model)?, facts.error_rate().unwrap_or(1.0));
    // the same machine on one half, and its errors on the other
    let (first, second): (Vec<usize>, Vec<usize>) = (0..m).partition(|i| *i < m / 2);
    let half = fit(&machine, &rbf(GAMMA), &data.select(&first))?;
    let options = Options { delta: DELTA, held_out: Some(&data.select(&second)), ..Options::default() };
    let held_out = super::super::samples::facts(&half, &data.select(&first), &options)?.held_out;
    let held_out_bound = held_out.map_or(1.0, upper);
    let lambda = 1.0 / (2.0 * c * m as f64);
    let clipped = facts.linear.as_ref().map_or(1.0, |l| {
        l.margins.iter().map(|f| (1.0 - f).clamp(0.0, 1.0)).sum::<f64>() / l.margins.len().max(1) as f64
    });
    let reference = stability::classification_printed(clipped, 1.0, lambda, 1.0, m as f64, -DELTA.ln());
    Ok([
        true_risk,
        facts.compression.map_or(0.0, |s| s.size),
        training,
        f64::from(training < true_risk),
        says("jaakkola_haussler"),
        says("support_vectors"),
        says("compression_exact"),
        says("compression_lossy"),
        says("scenario"),
        said(&facts, "scenario_interval").1,
        says("scenario_interval"),
        reference,
        says("stability"),
        says("rademacher"),
        says("rademacher_contraction"),
        says("pac_bayes_kl_gibbs"),
        says("pac_bayes_kl"),
        says("pac_bayes_mcallester"),
        held_out_bound,
        f64::from(held_out_bound >= risk(&half)?),
    ])
}

fn upper(h: HeldOutErrors) -> f64 {
    mercer::distributions::binomial_upper(h.errors, h.examples, -DELTA.ln())
}

/// The value of a bound, not cut off at 1, and its lower end; infinite where it does not apply.
fn said(facts: &Facts, name: &str) -> (f64, f64) {
    let claim = bounds::find(name).and_then(|entry| (entry.claim)(facts, facts.penalty.nats(entry) - DELTA.ln()).ok());
    claim.map_or((f64::INFINITY, 0.0), |c| (c.value, c.lower.unwrap_or(0.0)))
}

/// The true risk: along lines of constant second coordinate, signs change where f does; there the mass of both classes is
/// a difference of normal tails.
fn risk(model: &Model) -> Result<f64, Failure> {
    const REACH: f64 = 9.0;
    const ACROSS: usize = 181;
    const LINES: usize = 61;
    let x = |i: usize| REACH * (2.0 * i as f64 / (ACROSS - 1) as f64 - 1.0);
    let y = |j: usize| 6.0 * (2.0 * j as f64 / (LINES - 1) as f64 - 1.0);
    let grid = points((0..LINES * ACROSS).flat_map(|k| [x(k % ACROSS), y(k / ACROSS)]).collect(), 2)?;
    let scores = scores(model, &grid)?;
    let mut total = 0.0;
    for j in 0..LINES {
        let row = &scores[j * ACROSS..(j + 1) * ACROSS];
        let weight = (-0.5 * y(j) * y(j)).exp() / (2.0 * std::f64::consts::PI).sqrt() * 12.0 / (LINES - 1) as f64;
        // from −∞ on, the sign of the first place; then a root in each cell where it changes
        let (mut from, mut wrong) = (f64::NEG_INFINITY, 0.0);
        for i in 0..ACROSS {
            let last = i + 1 == ACROSS;
            if last || (row[i] > 0.0) != (row[i + 1] > 0.0) {
                let to = if last { f64::INFINITY } else { x(i) + (x(i + 1) - x(i)) * row[i] / (row[i] - row[i + 1]) };
                // where f > 0, the class around −s is wrong
                let mean = if row[i] > 0.0 { -SHIFT } else { SHIFT };
                wrong += 0.5 * (upper_normal(from - mean) - upper_normal(to - mean));
                from = to;
            }
        }
        total += weight * wrong;
    }
    Ok(total)
}
