//! The nearest class mean in feature space.

use crate::data::DataError;
use crate::gram::{BlockMut, Gram, Pick};
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, SolverReport, Task, Tolerates,
    Traits,
};
use crate::parallel;
use crate::params::{Params, Visit};
use crate::solvers::conjugate_gradient::not_finite;
use crate::sources::{KMPA, Source};
use crate::watch::{Monitor, Phase, Progress};

const NAME: &str = "nearest_mean";
/// Rows and columns of a block of kernel values.
const TILE: usize = 256;

/// s_c(x) = (1/l_c) Σ_{i∈c} κ(x_i, x) − ½‖m_c‖²: the class whose mean in feature space is nearest.
///
/// ‖φ(x) − m_c‖² = κ(x, x) − 2 s_c(x), so the largest score is the smallest distance. For two classes s₊ − s₋ is the
/// Parzen window classifier with its threshold b = ½(‖m₊‖² − ‖m₋‖²). There is nothing to choose. The report's notes have
/// ‖m_c‖² as `mean_norm2_1`, `mean_norm2_2`, … in the order of the labels.
///
/// # Source
/// Shawe-Taylor & Cristianini 2004, Algorithm 5.6.
///
/// # Use when
/// A first answer is wanted at the cost of the kernel alone, or the classes are round clouds with few examples each.
///
/// # Cost
/// Σ_c l_c²/2 kernel values, none stored; predictions need all examples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NearestMean {}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["nearest_centroid"],
    summary: "the class whose mean in feature space is nearest",
    formula: "s_c(x) = (1/l_c) Σ_{i∈c} κ(xᵢ, x) − ½‖m_c‖²",
    learns: Learns::Classes,
    source: Source::new(&KMPA, "Algorithm 5.6"),
    use_when: "a first answer is wanted at the cost of the kernel alone, or the classes are round clouds",
    cost: "Σ_c l_c²/2 kernel values, none stored; predictions need all examples.",
    make: || Box::new(NearestMean::default()),
};

impl Params for NearestMean {
    fn visit(&mut self, _: &mut dyn Visit) {}
}

impl Machine for NearestMean {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits { tolerates: Tolerates::ConditionallyDefinite, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let (n, count) = (task.len(), classes.labels.len());
        if classes.codes.len() != n {
            let (what, other) = ("the target".to_owned(), "the kernel matrix".to_owned());
            let error = DataError::Lengths { what, got: classes.codes.len(), other, wanted: n };
            return Err(FitError::Target { machine: NAME, error });
        }
        let mut members = vec![Vec::new(); count];
        for (i, &code) in classes.codes.iter().enumerate() {
            members[code as usize].push(i);
        }
        let (mut alpha, mut offsets, mut notes) = (vec![0.0; n * count], Vec::new(), Vec::new());
        for (c, members) in members.iter().enumerate() {
            watch
                .alive(Progress::new(Phase::new("class means"), c).of(count))
                .map_err(|reason| FitError::stopped(NAME, reason))?;
            let size = members.len() as f64;
            let norm2 = sum_of_pairs(&*task.gram, members) / (size * size);
            if !norm2.is_finite() {
                return Err(FitError::Solve { machine: NAME, error: not_finite(&*task.gram) });
            }
            for &i in members {
                alpha[i * count + c] = 1.0 / size;
            }
            // b of Algorithm 5.6 is the difference of two of these
            offsets.push(-0.5 * norm2);
            notes.push((format!("mean_norm2_{}", c + 1), norm2));
        }
        Ok(Fitted::new(
            Expansion { coefficients: Coefficients::Dual { points: (0..n).collect(), alpha }, offsets },
            Readout::ArgMax { labels: classes.labels },
            SolverReport { support: Some(n), notes, ..SolverReport::direct() },
        ))
    }
}

/// Σ_{i,j} K_ij over all pairs of the chosen examples: the upper triangle by tiles, in an order that does not depend on
/// the number of threads.
fn sum_of_pairs(gram: &dyn Gram, members: &[usize]) -> f64 {
    let strips: Vec<&[usize]> = members.chunks(TILE).collect();
    let sums = parallel::map(strips.len(), |a| {
        let (mut tile, mut sum) = (vec![0.0; TILE * TILE], 0.0);
        for b in a..strips.len() {
            let (rows, cols) = (strips[a], strips[b]);
            let values = &mut tile[..rows.len() * cols.len()];
            gram.block(Pick::List(rows), Pick::List(cols), BlockMut::new(values, rows.len(), cols.len()));
            let part: f64 = values.iter().sum();
            // K is symmetric: a tile off the diagonal stands for two
            sum += if a == b { part } else { 2.0 * part };
        }
        sum
    });
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Target;
    use crate::gram::{Budget, Dense};
    use crate::linalg::SolveError;
    use crate::machines::Output;
    use crate::seed::Seed;
    use crate::watch::Silent;
    use std::sync::Arc;

    fn fit(k: Vec<f64>, n: usize, labels: &[String]) -> Result<Fitted, FitError> {
        let target = Target::from_text("y", labels);
        let task = Task {
            target: Some(&target),
            budget: Budget { memory: 0 },
            ..Task::new(Arc::new(Dense::new(k, n, n).unwrap()))
        };
        NearestMean::default().run(&task, &Silent)
    }

    fn inner(x: &[Vec<f64>]) -> Vec<f64> {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        x.iter().flat_map(|a| x.iter().map(move |b| dot(a, b))).collect()
    }

    #[test]
    fn with_a_linear_kernel_it_is_the_nearest_mean_of_the_inputs() {
        // more examples of a class than a tile has rows
        let n = 900;
        let mut random = Seed(4).stream("clouds");
        let names = ["a", "b", "c"];
        let labels: Vec<String> = (0..n).map(|i| names[if i % 7 == 0 { 0 } else { 1 + i % 2 }].to_owned()).collect();
        let place = |i: usize| names.iter().position(|l| *l == labels[i]).unwrap();
        let x: Vec<Vec<f64>> =
            (0..n).map(|i| (0..3).map(|d| random.normal() + f64::from(u8::from(place(i) == d))).collect()).collect();
        let k = inner(&x);
        let fitted = fit(k.clone(), n, &labels).unwrap();
        let mut means = [[0.0; 3]; 3];
        for c in 0..3 {
            let of: Vec<usize> = (0..n).filter(|&i| place(i) == c).collect();
            for d in 0..3 {
                means[c][d] = of.iter().map(|&i| x[i][d]).sum::<f64>() / of.len() as f64;
            }
        }
        let Coefficients::Dual { alpha, .. } = &fitted.expansion.coefficients else { panic!() };
        let mut scores = Vec::new();
        for i in 0..n {
            for c in 0..3 {
                let score: f64 = (0..n).map(|j| alpha[j * 3 + c] * k[j * n + i]).sum::<f64>();
                let score = score + fitted.expansion.offsets[c];
                let apart: f64 = (0..3).map(|d| (x[i][d] - means[c][d]).powi(2)).sum();
                assert!((k[i * n + i] - 2.0 * score - apart).abs() < 1e-10);
                scores.push(score);
            }
        }
        let Output::Labels { codes, .. } = fitted.readout.read(scores) else { panic!() };
        for i in 0..n {
            let apart = |c: usize| (0..3).map(|d| (x[i][d] - means[c][d]).powi(2)).sum::<f64>();
            let nearest = (0..3).min_by(|&a, &b| apart(a).total_cmp(&apart(b))).unwrap();
            assert_eq!(codes[i] as usize, nearest);
        }
    }

    #[test]
    fn two_classes_give_the_threshold_of_the_algorithm() {
        let x = vec![vec![1.0, 2.0], vec![3.0, -1.0], vec![0.5, 0.5], vec![-2.0, 1.0], vec![0.0, 4.0]];
        let labels: Vec<String> = ["-", "+", "+", "-", "+"].iter().map(|&s| s.to_owned()).collect();
        let k = inner(&x);
        let fitted = fit(k.clone(), 5, &labels).unwrap();
        let Readout::ArgMax { labels: order } = &fitted.readout else { panic!() };
        let plus = order.iter().position(|l| l == "+").unwrap();
        let share = |i: usize| if labels[i] == "+" { 1.0 / 3.0 } else { -1.0 / 2.0 };
        let of = |sign: &str| -> f64 {
            let chosen: Vec<usize> = (0..5).filter(|&i| labels[i] == sign).collect();
            let sum: f64 =
                chosen.iter().flat_map(|&i| chosen.iter().map(move |&j| (i, j))).map(|(i, j)| k[i * 5 + j]).sum();
            sum / (chosen.len() * chosen.len()) as f64
        };
        let b = 0.5 * (of("+") - of("-"));
        let Coefficients::Dual { alpha, .. } = &fitted.expansion.coefficients else { panic!() };
        for t in 0..5 {
            let f = (0..5).map(|i| share(i) * k[i * 5 + t]).sum::<f64>() - b;
            let score =
                |c: usize| (0..5).map(|i| alpha[i * 2 + c] * k[i * 5 + t]).sum::<f64>() + fitted.expansion.offsets[c];
            assert!((score(plus) - score(1 - plus) - f).abs() < 1e-12);
        }
    }

    #[test]
    fn mistakes_are_named() {
        let labels = |l: [&str; 2]| l.map(ToOwned::to_owned).to_vec();
        assert!(matches!(fit(vec![1.0; 4], 2, &labels(["a", "a"])), Err(FitError::Target { .. })));
        let found = fit(vec![1.0, 0.0, 0.0, f64::NAN], 2, &labels(["a", "b"])).unwrap_err();
        assert!(matches!(found, FitError::Solve { error: SolveError::NotFinite { row: 2, column: 2 }, .. }));
    }
}
