//! Kernel principal component analysis.

use crate::data::DataError;
use crate::geometry::{is_indefinite, positive_part};
use crate::gram::{Gram, Side, apply, diagonal, show_bytes};
use crate::linalg::SolveError;
use crate::linalg::{KrylovOptions, TopEigen, symmetric_eigen, symmetric_eigen_bytes, top_eigen};
use crate::machines::Fact;
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, SolverReport, Task, Tolerates,
    Traits,
};
use crate::params::{Choice, Params, Rule, Visit};
use crate::solvers::conjugate_gradient::not_finite;
use crate::sources::{KPCA, Source};
use crate::watch::{Monitor, Phase, Progress, Status, Stop};

const NAME: &str = "kernel_pca";
const WHAT: &str = "kernel principal component analysis";
/// Largest number of examples for which a full decomposition takes no longer than a few products.
const MAX_EXAMPLES_FOR_FULL_SPECTRUM: usize = 120;
/// The same where more components are wanted than are found at once.
const MAX_EXAMPLES_FOR_FULL_SPECTRUM_OF_MANY: usize = 500;
/// Number of components that are found at once.
const COMPONENTS_AT_ONCE: usize = 14;
/// The most passes over K.
const MAX_PASSES: usize = 1000;

/// K̃ v_j = λ_j v_j, α_j = v_j / √λ_j, coordinates Σ_i α_ij κ̃(x_i, x): the directions of largest variance in feature space.
///
/// K̃ is K centred in feature space by the means of the training examples, or K itself without `centre`. The training
/// examples have coordinates of variance λ_j/n that are uncorrelated. Signs: the entry of v_j that is largest in size is
/// positive. Components with λ_j ≤ tolerance · λ_1 are left out: the data have no such direction. The report's violation is
/// the largest ‖K̃v − λv‖ by the Krylov solver; its notes are `components` (how many are kept), `eigenvalue_j` and
/// `explained_j` (λ_j / trace K̃) for each, and `explained` in all. Where K̃ has eigenvalues below zero, shares are those of the sum of the others.
///
/// # Source
/// Schölkopf, Smola & Müller 1998, section 3; centring by Shawe-Taylor & Cristianini 2004, Algorithm 5.3.
///
/// # Use when
/// Data are to be seen in two or three coordinates, or a few that carry most of the variance are to be handed on.
///
/// # Cost
/// Some ten passes over K, n² (k + 2) operations each, and 2n(2k + 96) numbers; K is stored where memory allows. Full: 9n³.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelPca {
    /// The number of coordinates.
    pub components: usize,
    /// True to centre in feature space.
    pub centre: bool,
    /// Relative accuracy, and the fraction of the largest eigenvalue below which a component is none.
    pub tolerance: f64,
    /// The solver.
    pub solver: PcaSolver,
}

/// Solvers of principal components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PcaSolver {
    /// Full for small problems and where a quarter of all components is wanted, if memory allows; else Krylov.
    #[default]
    Auto,
    /// Only the leading components, by products with K.
    Krylov,
    /// All eigenvalues of K.
    Full,
}

impl Choice for PcaSolver {
    fn options(&self) -> &'static [&'static str] {
        &["auto", "krylov", "full"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        let all = [Self::Auto, Self::Krylov, Self::Full];
        *self = all[position.min(all.len() - 1)];
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["kpca", "pca"],
    summary: "principal components in feature space",
    formula: "K̃ vⱼ = λⱼ vⱼ, coordinates Σᵢ vᵢⱼ/√λⱼ κ̃(xᵢ, x)",
    learns: Learns::Unsupervised,
    source: Source::new(&KPCA, "section 3"),
    use_when: "data are to be seen in two or three coordinates, or a few that carry most of the variance are to be handed on",
    cost: "Some ten passes over K, n² (k + 2) operations each, and 2n(2k + 96) numbers; K is stored where memory allows. Full: 9n³.",
    make: || Box::new(KernelPca::default()),
};

impl Default for KernelPca {
    fn default() -> Self {
        Self { components: 2, centre: true, tolerance: 1e-9, solver: PcaSolver::Auto }
    }
}

impl Params for KernelPca {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("components", &mut self.components, Rule::AtLeast(1.0), "how many coordinates");
        v.switch("centre", &mut self.centre, "centre in feature space");
        v.real("tolerance", &mut self.tolerance, Rule::Between(1e-14, 0.1), "relative accuracy, and where rank ends");
        v.choice("solver", &mut self.solver, "auto, krylov (leading components only) or full");
    }
}

impl Machine for KernelPca {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        let tolerates = if self.centre { Tolerates::ConditionallyDefinite } else { Tolerates::WithoutTheory };
        Traits { tolerates, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let n = task.len();
        if n == 0 {
            let error = DataError::Empty { place: "the training data".to_owned() };
            return Err(FitError::Target { machine: NAME, error });
        }
        let wanted = self.components.min(n);
        let few = if wanted <= COMPONENTS_AT_ONCE {
            MAX_EXAMPLES_FOR_FULL_SPECTRUM
        } else {
            MAX_EXAMPLES_FOR_FULL_SPECTRUM_OF_MANY
        };
        let small = n <= few || wanted * 4 >= n;
        let mut full = self.solver == PcaSolver::Full || (self.solver == PcaSolver::Auto && small);
        watch.alive(Phase::KERNEL_MATRIX.into()).map_err(stopped)?;
        let mut stored = None;
        if full {
            match task.budget.dense(&*task.gram, symmetric_eigen_bytes(n), WHAT) {
                Err(_) if self.solver == PcaSolver::Auto => full = false,
                matrix => stored = Some(matrix?),
            }
        }
        if !full {
            // many products re-use a stored matrix; without one each of them computes K anew
            stored = task.budget.dense(&*task.gram, 16 * n * (2 * wanted + 96), WHAT).ok();
        }
        let kept = stored.is_some();
        let means = self.means(stored.as_ref().map_or(&*task.gram, |dense| dense as &dyn Gram))?;
        let (found, values, status) = match stored {
            Some(matrix) if full => {
                watch.alive(Phase::new("eigendecomposition").into()).map_err(stopped)?;
                let (found, values) = self.full(matrix.into_values(), n, wanted, &means).map_err(solve)?;
                (found, Some(values), Status::Converged)
            }
            stored => {
                let gram = stored.as_ref().map_or(&*task.gram, |dense| dense as &dyn Gram);
                let (found, status) = self.krylov(gram, task, wanted, watch)?;
                (found, None, status)
            }
        };
        // only the self-similarities are needed, which every Gram of training examples knows or can compute
        let selves = task.gram.self_similarities(Side::Rows).unwrap_or_else(|| diagonal(&*task.gram));
        let size = show_bytes(8 * n * n);
        let storage = match (kept, full) {
            (false, _) => "kernel matrix streamed".to_owned(),
            (true, false) => format!("kernel matrix stored in f64, {size}"),
            (true, true) => format!("kernel matrix stored in f64, {size}; its whole spectrum computed"),
        };
        self.fitted((&found, values.as_deref()), status, &means, selves.iter().sum(), storage)
    }
}

/// Row means m_i of K and their mean M; zeros where nothing is centred.
struct Means {
    rows: Vec<f64>,
    all: f64,
}

impl KernelPca {
    fn means(&self, gram: &dyn Gram) -> Result<Means, FitError> {
        let n = gram.shape().0;
        let mut rows = vec![0.0; n];
        if self.centre {
            apply(gram, &vec![1.0 / n as f64; n], 1, &mut rows);
        }
        let all = rows.iter().sum::<f64>() / n as f64;
        if all.is_finite() {
            return Ok(Means { rows, all });
        }
        Err(solve(not_finite(gram)))
    }

    /// K̃ = K − (1/n)11ᵀK − (1/n)K11ᵀ + (1/n²)(1ᵀK1)11ᵀ (Algorithm 5.3), decomposed; also all of its eigenvalues.
    fn full(
        &self,
        mut matrix: Vec<f64>,
        n: usize,
        wanted: usize,
        means: &Means,
    ) -> Result<(TopEigen, Vec<f64>), SolveError> {
        if self.centre {
            for (i, row) in matrix.chunks_exact_mut(n).enumerate() {
                for (j, k) in row.iter_mut().enumerate() {
                    *k += means.all - (means.rows[i] + means.rows[j]);
                }
            }
        }
        let eigen = symmetric_eigen(matrix, n)?;
        let vectors = eigen.vectors.chunks_exact(n).flat_map(|row| row[..wanted].to_vec()).collect();
        // K̃ was decomposed in its own memory: there is nothing left to measure residuals with, and none are claimed
        let residuals = Vec::new();
        let values = eigen.values[..wanted].to_vec();
        Ok((TopEigen { values, vectors, residuals, applications: 0, converged: true }, eigen.values))
    }

    /// The same by products: K̃v = H K H v with Hv = v − mean(v).
    fn krylov(
        &self,
        gram: &dyn Gram,
        task: &Task<'_>,
        wanted: usize,
        watch: &dyn Monitor,
    ) -> Result<(TopEigen, Status), FitError> {
        let n = gram.shape().0;
        let mut product = |v: &[f64], b: usize, out: &mut [f64]| {
            if self.centre {
                let mut v = v.to_vec();
                centre_columns(&mut v, b);
                apply(gram, &v, b, out);
                centre_columns(out, b);
            } else {
                apply(gram, v, b, out);
            }
        };
        let mut stop: Option<Stop> = None;
        let mut proceed = |done: usize, gap: f64| {
            let progress = Progress::new(Phase::new("principal components"), done);
            stop = watch.alive(Progress { gap: gap.is_finite().then_some(gap), ..progress }).err();
            stop.is_none()
        };
        let options = KrylovOptions { tolerance: self.tolerance, max_applications: MAX_PASSES, seed: task.seed };
        let found = top_eigen(n, &mut product, wanted, &options, &mut proceed).map_err(|error| match error {
            // the place in the projected matrix says nothing
            SolveError::NotFinite { .. } => solve(not_finite(gram)),
            error => solve(error),
        })?;
        match stop {
            Some(reason) if found.values.is_empty() => Err(stopped(reason)),
            Some(reason) => Ok((found, reason.into())),
            None if found.converged => Ok((found, Status::Converged)),
            None => Ok((found, Status::IterationLimit)),
        }
    }

    fn fitted(
        &self,
        (found, all): (&TopEigen, Option<&[f64]>),
        status: Status,
        means: &Means,
        selves: f64,
        storage: String,
    ) -> Result<Fitted, FitError> {
        let (n, width) = (means.rows.len(), found.values.len());
        // trace of HKH is that of K less n times the mean of K; rounding of it is what counts as nothing
        let trace = selves - n as f64 * means.all;
        // of eigenvalues below zero no variance is explained
        let known = all.unwrap_or(&found.values);
        let whole = positive_part(known, trace, n);
        let nothing = selves.abs() * f64::EPSILON * n as f64;
        let top = found.values.first().copied().unwrap_or(0.0);
        let kept = found.values.iter().take_while(|&&v| v > self.tolerance * top && v > nothing).count();
        if kept == 0 {
            let finding = "the kernel matrix has no positive eigenvalue once centred: all examples look alike to this \
                           kernel; use another kernel or other parameters";
            return Err(FitError::Param { machine: NAME, finding: finding.to_owned() });
        }
        let (mut alpha, mut offsets) = (vec![0.0; n * kept], vec![0.0; kept]);
        for j in 0..kept {
            let v: Vec<f64> = (0..n).map(|i| found.vectors[i * width + j]).collect();
            let largest = v.iter().fold(0.0, |best: f64, x| if x.abs() > best.abs() { *x } else { best });
            let scale = largest.signum() / found.values[j].sqrt();
            let sum: f64 = v.iter().map(|x| x * scale).sum();
            // Σ_i α_i (κ(x_i, x) − m_i − m(x) + M) with m(x) = (1/n) Σ_l κ(x_l, x) is a plain expansion:
            // coefficients α_i − s/n and offset s M − Σ_i α_i m_i, where s = Σ_i α_i (zero but for rounding: K̃1 = 0)
            let back = if self.centre { sum / n as f64 } else { 0.0 };
            for i in 0..n {
                alpha[i * kept + j] = v[i] * scale - back;
                offsets[j] -= v[i] * scale * means.rows[i];
            }
            offsets[j] += sum * means.all;
        }
        let mut notes = vec![("components".to_owned(), kept as f64)];
        for (j, value) in found.values[..kept].iter().enumerate() {
            notes.push((format!("eigenvalue_{}", j + 1), *value));
            notes.push(Fact::Explained(j).note(value / whole));
        }
        notes.push(("explained".to_owned(), found.values[..kept].iter().sum::<f64>() / whole));
        let names = (1..=kept).map(|j| format!("pc{j}")).collect();
        Ok(Fitted::new(
            Expansion { coefficients: Coefficients::Dual { points: (0..n).collect(), alpha }, offsets },
            Readout::Coordinates { names },
            SolverReport {
                status,
                iterations: found.applications,
                violation: found.residuals.iter().take(kept).copied().reduce(f64::max),
                support: Some(n),
                storage,
                notes,
                advice: shares_of(all, &found.values, (trace, whole), n).into_iter().collect(),
                ..SolverReport::direct()
            },
        ))
    }
}

/// What the shares are of, where that is not the trace.
fn shares_of(all: Option<&[f64]>, leading: &[f64], (trace, whole): (f64, f64), n: usize) -> Option<String> {
    let of = match all {
        Some(all) if is_indefinite(all, n) => "of the sum of those above zero",
        None if is_indefinite(leading, n) || whole > trace => "at most of the sum of those that were computed",
        _ => return None,
    };
    Some(format!(
        "the kernel matrix has eigenvalues below zero, along which there is no variance: the shares that are explained are {of}; mercer gram \
         --repair mends such a matrix"
    ))
}

/// Takes the mean of each of b columns (row by row) away.
fn centre_columns(x: &mut [f64], b: usize) {
    let mut means = vec![0.0; b];
    for row in x.chunks_exact(b) {
        means.iter_mut().zip(row).for_each(|(m, x)| *m += x);
    }
    let n = (x.len() / b).max(1) as f64;
    for row in x.chunks_exact_mut(b) {
        row.iter_mut().zip(&means).for_each(|(x, m)| *x -= m / n);
    }
}

fn stopped(reason: Stop) -> FitError {
    solve(reason.into())
}

fn solve(error: SolveError) -> FitError {
    FitError::Solve { machine: NAME, error }
}

#[cfg(test)]
#[path = "kernel_pca_tests.rs"]
mod tests;
