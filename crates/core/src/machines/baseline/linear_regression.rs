//! Linear regression: least squares with an intercept.

use super::table::{ROUNDING, Table, means, shares};
use crate::linalg::SolveError;
use crate::linalg::{
    Eigen, dot, gram_of_columns, multiply_add, symmetric_eigen, symmetric_eigen_bytes, transposed_multiply,
};
use crate::machines::regress::ridge::targets;
use crate::machines::theory::NOT_PENALISED;
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, Reads, SolverReport, Task,
    Theory, Traits,
};
use crate::parallel;
use crate::params::{Params, Visit};
use crate::sources::{HASTIE, Source};
use crate::watch::{Monitor, Phase};
use rayon::prelude::*;

const NAME: &str = "linear_regression";
/// Rows that one thread takes at a time.
const STRIP: usize = 256;

/// min Σ_i v_i ‖y_i − Wᵀx_i − b‖², and of all W that reach it the shortest
///
/// Nothing is penalised and there is nothing to choose. Which directions the examples determine is decided on columns of mean
/// zero and length one, so that units play no part; in the others the weights are those of the smallest norm. Weights of
/// examples are v. A method for comparisons, on the coordinates of the linear kernel. The report's objective is half the
/// sum of squares, with v scaled to mean one; its note `rank` is the number of directions that are determined.
///
/// # Source
/// Hastie, Tibshirani & Friedman (2009), §3.2; the shortest solution by the spectrum of the correlations.
///
/// # Use when
/// Another method is to be compared with the plain straight line.
///
/// # Cost
/// n d² for the correlations and about 9 d³ for their spectrum, d² numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinearRegression {}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["least_squares"],
    summary: "least squares with an intercept, nothing penalised; for comparisons",
    formula: "min Σᵢ vᵢ (yᵢ − ⟨w, xᵢ⟩ − b)², the shortest w",
    learns: Learns::Numbers,
    source: Source::new(&HASTIE, "§3.2"),
    use_when: "another method is to be compared with the plain straight line",
    cost: "n d² for the correlations and about 9 d³ for their spectrum, d² numbers.",
    make: || Box::new(LinearRegression::default()),
};

impl Params for LinearRegression {
    fn visit(&mut self, _: &mut dyn Visit) {}
}

impl Machine for LinearRegression {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        let theory = Theory { loss: Err(NOT_PENALISED), ..Theory::default() };
        Traits { reads: Reads::Features, weights: true, theory, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let target = targets(NAME, task)?;
        let table = Table::of(NAME, "ridge", task, 1)?;
        let d = table.d;
        let matrices = symmetric_eigen_bytes(d).saturating_add(d.saturating_mul(d).saturating_mul(24));
        task.budget.check(matrices, "the correlations of all coordinates")?;
        let solve = |error: SolveError| FitError::Solve { machine: NAME, error };
        watch.alive(Phase::new("correlations").into()).map_err(|reason| solve(reason.into()))?;
        let weights = shares(NAME, task)?;
        let outputs = target.names.len();
        table.check_weights(NAME, task.budget, outputs)?;
        let line = Line::new(&table, &weights, &target.values, outputs).map_err(solve)?;
        let coefficients =
            Coefficients::Primal { weights: table.spread(&line.weights, outputs), width: table.width, scale: 1.0 };
        Ok(Fitted::new(
            Expansion { coefficients, offsets: line.offsets },
            Readout::Values { names: target.names },
            SolverReport {
                objective: Some(line.objective),
                storage: "explicit features, no kernel matrix".to_owned(),
                notes: vec![("rank".to_owned(), line.rank as f64)],
                ..SolverReport::direct()
            },
        ))
    }
}

/// A solution.
struct Line {
    /// W, d × outputs.
    weights: Vec<f64>,
    /// b.
    offsets: Vec<f64>,
    rank: usize,
    objective: f64,
}

impl Line {
    fn new(table: &Table, shares: &[f64], y: &[f64], outputs: usize) -> Result<Self, SolveError> {
        let (n, d) = (table.n, table.d);
        let roots: Vec<f64> = shares.iter().map(|v| v.sqrt()).collect();
        let (centre, level) = (means(&table.rows, d, shares), means(y, outputs, shares));
        let (lengths, most) = spreads(table, &centre, shares);
        // Z: columns of mean zero and length one; a column that does not vary is zero
        let still = |j: usize| lengths[j] <= ROUNDING * (n as f64).sqrt() * most[j];
        let inverse: Vec<f64> = (0..d).map(|j| if still(j) { 0.0 } else { 1.0 / lengths[j] }).collect();
        let mut z = table.rows.clone();
        z.par_chunks_mut(d).zip(&roots).for_each(|(row, root)| {
            row.iter_mut().zip(&centre).zip(&inverse).for_each(|((x, m), s)| *x = root * (*x - m) * s);
        });
        let rest = |p: usize| roots[p / outputs] * (y[p] - level[p % outputs]);
        let mut residual: Vec<f64> = (0..n * outputs).map(rest).collect();
        let eigen = symmetric_eigen(gram_of_columns(&z, n, d), d)?;
        let top = eigen.values.first().copied().unwrap_or(0.0);
        let rank = eigen.values.iter().take_while(|&&l| l > 8.0 * d as f64 * f64::EPSILON * top).count();
        // twice: the second time takes away what rounding left
        let mut turned = vec![0.0; d * outputs];
        for _ in 0..2 {
            let step = inverted(&eigen, rank, &transposed_multiply(&z, d, &residual, outputs), outputs);
            turned.iter_mut().zip(&step).for_each(|(t, s)| *t += s);
            let minus: Vec<f64> = step.iter().map(|s| -s).collect();
            parallel::strips_beside((&mut residual, STRIP * outputs), (&z, STRIP * d), |out, rows| {
                multiply_add(rows, rows.len() / d, d, &minus, outputs, out);
            });
        }
        let mut weights: Vec<f64> = turned.iter().enumerate().map(|(p, t)| t * inverse[p / outputs]).collect();
        if rank < (0..d).filter(|&j| !still(j)).count() {
            weights = shortest(&weights, &eigen, rank, &lengths, outputs);
        }
        let along = |c: usize| (0..d).map(|j| weights[j * outputs + c] * centre[j]).sum::<f64>();
        let offsets = (0..outputs).map(|c| level[c] - along(c)).collect();
        let objective = 0.5 * residual.iter().map(|r| r * r).sum::<f64>();
        Ok(Self { weights, offsets, rank, objective })
    }
}

/// The length of each centred column, and its largest number.
fn spreads(table: &Table, means: &[f64], shares: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut squares, mut most) = (vec![0.0; table.d], vec![0.0_f64; table.d]);
    for (row, v) in table.rows.chunks_exact(table.d).zip(shares) {
        for (j, x) in row.iter().enumerate() {
            squares[j] += v * (x - means[j]) * (x - means[j]);
            most[j] = most[j].max(x.abs());
        }
    }
    (squares.into_iter().map(f64::sqrt).collect(), most)
}

/// Q Λ⁺ Qᵀ B with the first `rank` eigenvalues.
fn inverted(eigen: &Eigen, rank: usize, b: &[f64], outputs: usize) -> Vec<f64> {
    let d = eigen.values.len();
    let mut turned = transposed_multiply(&eigen.vectors, d, b, outputs);
    for (j, row) in turned.chunks_exact_mut(outputs).enumerate() {
        let factor = if j < rank { 1.0 / eigen.values[j] } else { 0.0 };
        row.iter_mut().for_each(|t| *t *= factor);
    }
    let mut out = vec![0.0; d * outputs];
    multiply_add(&eigen.vectors, d, d, &turned, outputs, &mut out);
    out
}

/// The part of the weights in the span of the rows of X, which is that of the columns s∘q_j: the shortest with the same
/// values on all examples.
fn shortest(weights: &[f64], eigen: &Eigen, rank: usize, lengths: &[f64], outputs: usize) -> Vec<f64> {
    let d = lengths.len();
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(rank);
    for k in 0..rank {
        let mut column: Vec<f64> = (0..d).map(|j| lengths[j] * eigen.vectors[j * d + k]).collect();
        // Gram & Schmidt, twice is enough
        for _ in 0..2 {
            for known in &basis {
                let part = dot(known, &column);
                column.iter_mut().zip(known).for_each(|(c, k)| *c -= part * k);
            }
        }
        let length = dot(&column, &column).sqrt();
        column.iter_mut().for_each(|c| *c /= length);
        basis.push(column);
    }
    let mut out = vec![0.0; d * outputs];
    for c in 0..outputs {
        let column: Vec<f64> = weights.iter().skip(c).step_by(outputs).copied().collect();
        for known in &basis {
            let part = dot(known, &column);
            (0..d).for_each(|j| out[j * outputs + c] += part * known[j]);
        }
    }
    out
}

#[cfg(test)]
#[path = "linear_regression_tests.rs"]
mod tests;
