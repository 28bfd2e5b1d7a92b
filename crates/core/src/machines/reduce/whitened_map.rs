//! The whitened map: coordinates whose inner products are the kernel.

use super::{drawn, selves};
use crate::geometry::{self, Whitened};
use crate::gram::show_bytes;
use crate::linalg::SolveError;
use crate::linalg::symmetric_eigen_bytes;
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, SolverReport, Task, Tolerates,
    Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::sources::{LWK, Source};
use crate::watch::{Monitor, Phase};
use std::sync::Arc;

const NAME: &str = "whitened_map";

/// x ↦ Λ^{-1/2} Vᵀ (κ(x_1, x), …, κ(x_m, x)) with K = VΛVᵀ: coordinates whose inner products are κ itself.
///
/// The map is K^{-1/2} times the empirical map, turned so that coordinates that are always zero drop out. Between the m
/// examples inner products are K exactly, but for its negative eigenvalues. With `examples` below their number the m are
/// drawn by the seed, and inner products of the others are those of their projections, K_nm K_mm⁻¹ K_mn (Nyström). With all
/// examples the coordinates are those of kernel principal component analysis without centring. The notes of the proof are
/// `rank`, `residual_trace` (what the coordinates leave of Σ κ(x, x) over all training examples, as a fraction) and `negative`
/// (the sum of the sizes of negative eigenvalues over that of all).
///
/// # Source
/// Schölkopf & Smola 2002, (2.59).
///
/// # Use when
/// A method that only takes vectors is to work with a kernel: what it sees has the kernel's inner products.
///
/// # Cost
/// m² kernel values and 9m³ operations; 8m² bytes for the matrix and as much again for its eigenvectors.
#[derive(Clone, Debug, PartialEq)]
pub struct WhitenedMap {
    /// The number of training examples that span the map; 0 for all.
    pub examples: usize,
    /// The part of the largest eigenvalue at or below which one counts as zero.
    pub tolerance: f64,
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["kernel_pca_map"],
    summary: "coordinates whose inner products are the kernel",
    formula: "K = VΛVᵀ, coordinates Λ^(−1/2) Vᵀ κ(x₁…xₘ, x)",
    learns: Learns::Unsupervised,
    source: Source::new(&LWK, "(2.59)"),
    use_when: "a method that only takes vectors is to work with a kernel",
    cost: "m² kernel values and 9m³ operations; 8m² bytes for the matrix and as much again for its eigenvectors.",
    make: || Box::new(WhitenedMap::default()),
};

impl Default for WhitenedMap {
    fn default() -> Self {
        Self { examples: 0, tolerance: 1e-10 }
    }
}

impl Params for WhitenedMap {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("examples", &mut self.examples, Rule::AtLeast(0.0), "examples that span the map; 0 for all");
        v.real("tolerance", &mut self.tolerance, Rule::Between(0.0, 0.1), "eigenvalues that count as zero, relative");
    }
}

impl Machine for WhitenedMap {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits { tolerates: Tolerates::WithoutTheory, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let points = drawn(task, self.examples, NAME)?;
        let (n, m) = (task.len(), points.len());
        watch.alive(Phase::KERNEL_MATRIX.into()).map_err(|reason| solve(reason.into()))?;
        let part = if m == n { Arc::clone(&task.gram) } else { Arc::clone(&task.gram).restrict(&points, &points) };
        let matrix = task.budget.dense(&*part, symmetric_eigen_bytes(m), "the whitened map")?;
        watch.alive(Phase::new("eigendecomposition").into()).map_err(|reason| solve(reason.into()))?;
        let found = geometry::whitened_map(matrix.into_values(), m, self.tolerance).map_err(|error| {
            solve(match error {
                SolveError::NotFinite { row, column } => {
                    SolveError::NotFinite { row: points[row - 1] + 1, column: points[column - 1] + 1 }
                }
                error => error,
            })
        })?;
        if found.rank() == 0 {
            let finding = if found.negative > 0.0 {
                "the kernel matrix has no positive eigenvalue, so it holds no inner products: it is indefinite; use a positive definite kernel, or centre(…) around one that is so up to the origin"
            } else {
                "all kernel values are zero: with this kernel no example has a length; use another kernel or other parameters"
            };
            return Err(FitError::Param { machine: NAME, finding: finding.to_owned() });
        }
        let all: f64 = selves(task, NAME)?.iter().sum();
        if all <= 0.0 {
            let finding = format!(
                "the kernel gives no example a length (Σ κ(x, x) is {all}), so it holds no inner products; write centre(…) around a kernel that is \
                 positive definite up to the origin only, or use another"
            );
            return Err(FitError::Param { machine: NAME, finding });
        }
        let left = residual(task, &points, &found, all);
        let size = found.values.iter().sum::<f64>() + found.negative;
        let mut advice = Vec::new();
        if found.negative > 0.0 {
            let share = 100.0 * found.negative / size;
            advice.push(format!(
                "negative eigenvalues, {share:.2} % of all by size, were left out: inner products of the coordinates are \
                 those of the nearest positive semi-definite matrix"
            ));
        }
        let rank = found.rank();
        let names = (1..=rank).map(|j| format!("w{j}")).collect();
        Ok(Fitted::new(
            Expansion { coefficients: Coefficients::Dual { points, alpha: found.map }, offsets: vec![0.0; rank] },
            Readout::Coordinates { names },
            SolverReport {
                support: Some(m),
                storage: format!("kernel matrix of {m} examples stored in f64, {}", show_bytes(8 * m * m)),
                notes: vec![
                    ("rank".to_owned(), rank as f64),
                    ("residual_trace".to_owned(), left),
                    ("negative".to_owned(), found.negative / size),
                ],
                advice,
                ..SolverReport::direct()
            },
        ))
    }
}

/// The part of Σ κ(x, x) that the coordinates leave, as a fraction: known where all examples span the map, else taken of them one strip
/// after the other.
fn residual(task: &Task<'_>, points: &[usize], found: &Whitened, all: f64) -> f64 {
    const STRIP: usize = 1024;
    let (n, rank) = (task.len(), found.rank());
    let mut kept = 0.0;
    if points.len() == n {
        kept = found.values.iter().sum();
    } else {
        for start in (0..n).step_by(STRIP) {
            let rows: Vec<usize> = (start..(start + STRIP).min(n)).collect();
            let cross = Arc::clone(&task.gram).restrict(&rows, points);
            let mut coordinates = vec![0.0; rows.len() * rank];
            crate::gram::apply(&*cross, &found.map, rank, &mut coordinates);
            kept += coordinates.iter().map(|r| r * r).sum::<f64>();
        }
    }
    ((all - kept) / all).max(0.0)
}

fn solve(error: SolveError) -> FitError {
    FitError::Solve { machine: NAME, error }
}

#[cfg(test)]
mod tests {
    use super::super::KernelPca;
    use super::super::testing::{Points, fit, fit_on, gauss, linear, mapped, matrix, note, points, tanh};
    use super::*;
    use crate::gram::Budget;

    fn inner(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn a_kernel_without_lengths_is_refused_for_that_reason() {
        let x = points(20, 2);
        let data = crate::data::Dataset::new(crate::data::Rows::new(x.concat(), 20, 2).unwrap());
        let told = |kernel: &str| {
            let kernel: crate::formula::Formula = kernel.parse().unwrap();
            WhitenedMap::default().run(&Task::new(kernel.training_gram(&data).unwrap()), &crate::watch::Silent)
        };
        let refused = told("distance").unwrap_err().to_string();
        assert!(refused.contains("no example a length") && refused.contains("centre("), "{refused}");
        assert!(note(&told("centre(distance)").unwrap(), "residual_trace").is_finite());
    }

    #[test]
    fn inner_products_are_the_kernel_and_coordinates_those_of_kernel_pca_without_centring() {
        let x = points(40, 2);
        let fitted = fit(&WhitenedMap { examples: 0, tolerance: 0.0 }, &x, gauss);
        let all: Points = x.iter().map(|z| mapped(&fitted, &x, gauss, z)).collect();
        for (a, p) in all.iter().zip(&x) {
            for (b, q) in all.iter().zip(&x) {
                assert!((inner(a, b) - gauss(p, q)).abs() < 1e-7);
            }
        }
        let pca = fit(&KernelPca { components: 8, centre: false, ..KernelPca::default() }, &x, gauss);
        for z in x.iter().chain(&points(5, 2)) {
            let (ours, theirs) = (mapped(&fitted, &x, gauss, z), mapped(&pca, &x, gauss, z));
            assert!(theirs.iter().zip(&ours).all(|(a, b)| (a - b).abs() < 1e-9), "{ours:?} {theirs:?}");
        }
    }

    #[test]
    fn a_part_of_the_examples_projects_the_others() {
        // five vectors span the space of five coordinates: nothing is lost
        let x = points(60, 5);
        let whole = fit(&WhitenedMap { examples: 10, ..WhitenedMap::default() }, &x, linear);
        assert_eq!((whole.expansion.points().len(), whole.expansion.outputs()), (10, 5));
        assert!(note(&whole, "residual_trace") < 1e-10);
        // three do not: κ − K_nm K_mm⁻¹ K_mn is what is left, which is the residual of a least squares fit
        let part = fit(&WhitenedMap { examples: 3, ..WhitenedMap::default() }, &x, linear);
        let three: Points = part.expansion.points().iter().map(|&p| x[p].clone()).collect();
        let (mut left, mut all) = (0.0, 0.0);
        for z in &x {
            let mut rest = z.clone();
            let mut basis: Points = Vec::new();
            for v in &three {
                let mut v = v.clone();
                for b in &basis {
                    let along = inner(&v, b);
                    v.iter_mut().zip(b).for_each(|(v, b)| *v -= along * b);
                }
                let norm = inner(&v, &v).sqrt();
                basis.push(v.iter().map(|v| v / norm).collect());
            }
            for b in &basis {
                let along = inner(&rest, b);
                rest.iter_mut().zip(b).for_each(|(r, b)| *r -= along * b);
            }
            left += inner(&rest, &rest);
            all += inner(z, z);
        }
        assert!((note(&part, "residual_trace") - left / all).abs() < 1e-9);
    }

    #[test]
    fn negative_eigenvalues_and_broken_values_are_told() {
        let fitted = fit(&WhitenedMap::default(), &points(50, 3), tanh);
        assert!(fitted.report.advice[0].contains("negative eigenvalues") && note(&fitted, "negative") > 0.0);
        let said = |k: Vec<f64>| match fit_on(&WhitenedMap::default(), k, Budget::default()) {
            Err(error) => error.to_string(),
            Ok(fitted) => panic!("{:?}", fitted.report),
        };
        assert!(said(vec![1.0, f64::NAN, f64::NAN, 1.0]).contains("row 1, column 2"));
        assert!(said(vec![0.0; 4]).contains("all kernel values are zero"));
        assert!(said(vec![-1.0, 0.0, 0.0, -2.0]).contains("it is indefinite"));
        assert!(said(Vec::new()).contains("the training data"));
        let tight = fit_on(&WhitenedMap::default(), matrix(&points(40, 2), gauss), Budget { memory: 1000 });
        assert!(tight.unwrap_err().to_string().contains("memory budget"));
    }
}
