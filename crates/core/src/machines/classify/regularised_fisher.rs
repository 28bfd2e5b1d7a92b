//! The regularised Fisher discriminant.

use crate::gram::{Gram, apply, show_bytes};
use crate::linalg::{SolveError, cholesky_bytes};
use crate::machines::Fact;
use crate::machines::evidence::{Evidence, ProblemNote};
use crate::machines::multiclass::{BinarySolution, Keep, OneVsRest, Reduction, gather, in_turn};
use crate::machines::{FitError, Fitted, Learns, Machine, MachineEntry, SolverReport, Task, Traits};
use crate::params::{Choice, Params, Rule, Visit};
use crate::solvers::conjugate_gradient::not_finite;
use crate::solvers::direct::{difference, solve_shifted, squares};
use crate::sources::{KMPA, Source};
use crate::watch::{Monitor, Phase, Progress};
use std::cmp::Ordering;

const NAME: &str = "regularised_fisher";
const WHAT: &str = "the regularised Fisher discriminant";

/// (BK + λI) a = y, f(x) = Σ_i a_i κ(x_i, x) − b: far apart means over small variances inside the classes.
///
/// w = Σ a_i φ(x_i) maximises (Σ y_i ⟨w, φ(x_i)⟩)² / (2(l₊l₋/l)(σ₊² + σ₋²) + λ‖w‖²), where σ² are the variances of the classes
/// along w. B = D − C₊ − C₋ takes the class means away and weighs: B = R² with R = √(2l₋/l) (I − 11ᵀ/l₊) on the positives and
/// the same with the signs exchanged on the negatives, so that the system is solved as (RKR + λI) v = RKy, a = (y − Rv)/λ, by
/// Cholesky. b lies in the middle of the projected class means. For classes of equal size y points from mean to mean; for
/// others the book's y does not, and moves with the origin of feature space: it may point the other way, which the report then says.
/// `numerator = means` takes ±l/(2l±) in its place, which does for any sizes. Several classes are taken one against the rest. The report's notes are `quotient` (the value of
/// the maximum, summed over problems) and `relative_residual` (the largest ‖y − (BK + λI)a‖ / ‖y‖).
///
/// # Source
/// Shawe-Taylor & Cristianini 2004, Algorithm 5.16, with b by (5.20): the printed code divides from the wrong side and misses a factor
/// l in b.
///
/// # Use when
/// Two classes are clouds of one shape in feature space, and every example is to have a say.
///
/// # Cost
/// For each class (one in all for two classes) n³/3 multiplications; twice n² numbers. Predictions need all examples.
#[derive(Clone, Debug, PartialEq)]
pub struct RegularisedFisher {
    /// λ > 0.
    pub lambda: f64,
    /// The meaning of y.
    pub numerator: FisherTarget,
}

/// The right-hand side of the discriminant's system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FisherTarget {
    /// ±1.
    #[default]
    Labels,
    /// l/(2l₊) and −l/(2l₋): half of l times the difference of the means.
    Means,
}

impl Choice for FisherTarget {
    fn options(&self) -> &'static [&'static str] {
        &["labels", "means"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        let all = [Self::Labels, Self::Means];
        *self = all[position.min(all.len() - 1)];
    }
}

impl Default for RegularisedFisher {
    fn default() -> Self {
        Self { lambda: 1.0, numerator: FisherTarget::Labels }
    }
}

impl Params for RegularisedFisher {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("lambda", &mut self.lambda, Rule::Above(0.0), "weight of the penalty λ ‖w‖²");
        v.choice(
            "numerator",
            &mut self.numerator,
            "labels (±1, as printed) or means (the difference of the class means)",
        );
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["regularized_fisher"],
    summary: "the direction in which class means are far apart and classes narrow",
    formula: "(BK + λI) a = y, b = ½ aᵀKt",
    learns: Learns::Classes,
    source: Source::corrected(&KMPA, "Algorithm 5.16", "the system is solved from the left, and b has a factor l more"),
    use_when: "two classes are clouds of one shape in feature space, and every example is to have a say",
    cost: "For each class (one in all for two classes) n³/3 multiplications; twice n² numbers. Predictions need all examples.",
    make: || Box::new(RegularisedFisher::default()),
};

/// The two sides of a problem.
struct Sides {
    positive: Vec<bool>,
    /// l₊ and l₋.
    counts: (f64, f64),
}

impl Sides {
    fn new(signs: &[f64]) -> Self {
        let positive: Vec<bool> = signs.iter().map(|&y| y > 0.0).collect();
        let plus = positive.iter().filter(|p| **p).count() as f64;
        Self { counts: (plus, signs.len() as f64 - plus), positive }
    }

    fn all(&self) -> f64 {
        self.counts.0 + self.counts.1
    }

    /// The means of the two classes.
    fn means(&self, x: &[f64]) -> (f64, f64) {
        let (mut plus, mut minus) = (0.0, 0.0);
        for (x, &positive) in x.iter().zip(&self.positive) {
            if positive {
                plus += x;
            } else {
                minus += x;
            }
        }
        (plus / self.counts.0, minus / self.counts.1)
    }

    /// Rx: the class mean away, times √(2l₋/l) or √(2l₊/l).
    fn root(&self, x: &mut [f64]) {
        let (means, l) = (self.means(x), self.all());
        let scales = ((2.0 * self.counts.1 / l).sqrt(), (2.0 * self.counts.0 / l).sqrt());
        for (x, &positive) in x.iter_mut().zip(&self.positive) {
            *x = if positive { scales.0 * (*x - means.0) } else { scales.1 * (*x - means.1) };
        }
    }

    fn target(&self, numerator: FisherTarget) -> Vec<f64> {
        let (plus, minus) = match numerator {
            FisherTarget::Labels => (1.0, -1.0),
            FisherTarget::Means => (0.5 * self.all() / self.counts.0, -0.5 * self.all() / self.counts.1),
        };
        self.positive.iter().map(|&p| if p { plus } else { minus }).collect()
    }
}

impl RegularisedFisher {
    fn direction(&self, gram: &dyn Gram, mut matrix: Vec<f64>, sides: &Sides) -> Result<Direction, SolveError> {
        let n = sides.positive.len();
        let y = sides.target(self.numerator);
        let product = |x: &[f64]| {
            let mut out = vec![0.0; n];
            apply(gram, x, 1, &mut out);
            out
        };
        // RKR: the rows, then the columns, which are rows by symmetry
        matrix.chunks_exact_mut(n).for_each(|row| sides.root(row));
        transpose(&mut matrix, n);
        matrix.chunks_exact_mut(n).for_each(|row| sides.root(row));
        let mut right = product(&y);
        sides.root(&mut right);
        let mut v = solve_shifted(matrix, n, self.lambda, &right, 1)?.alpha;
        sides.root(&mut v);
        let a: Vec<f64> = y.iter().zip(&v).map(|(y, v)| (y - v) / self.lambda).collect();
        let scores = product(&a);
        let means = sides.means(&scores);
        // BKa + λa
        let mut left = scores.clone();
        sides.root(&mut left);
        sides.root(&mut left);
        left.iter_mut().zip(&a).for_each(|(l, a)| *l += self.lambda * a);
        // at the maximum wᵀ(…)w = yᵀKa, so the quotient is yᵀKa itself
        let quotient = y.iter().zip(&scores).map(|(y, s)| y * s).sum();
        let relative_residual = (squares(&difference(&y, &left)) / squares(&y)).sqrt();
        let solution = BinarySolution {
            coefficients: a,
            // b = ½ aᵀKt with t = 1/l₊ or 1/l₋: the middle of the projected means (5.20)
            offset: -f64::midpoint(means.0, means.1),
            scores: None,
            evidence: Evidence::direct(),
            notes: vec![
                ProblemNote::summed(("quotient".to_owned(), quotient)),
                ProblemNote::largest(Fact::RelativeResidual.note(relative_residual)),
            ],
        };
        Ok(Direction { solution, turned: means.0 < means.1 })
    }
}

/// A solution, and which way it points.
struct Direction {
    solution: BinarySolution,
    /// True if the mean of the positives is below that of the negatives.
    turned: bool,
}

/// A direction along which some class lies below the others, in words.
fn wrong_way_round(found: &[Direction], labels: &[String]) -> Option<String> {
    // one class against the rest: the problem of a class has its place
    let class = found.iter().position(|direction| direction.turned)?;
    Some(format!(
        "the mean of class \"{}\" lies below that of the others on its line, so that predictions are the wrong way round: with numerator = \
         labels the direction of classes of unequal size depends on the origin of the kernel; set numerator = means",
        labels[class]
    ))
}

/// In place, for n × n numbers.
fn transpose(matrix: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            matrix.swap(i * n + j, j * n + i);
        }
    }
}

impl Machine for RegularisedFisher {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits {
            regularised_by: &[("lambda", Ordering::Greater)],
            searched: "lambda=1e-4..10:log6",
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let rest = OneVsRest::new(&classes);
        let n = task.len();
        let solve = |error| FitError::Solve { machine: NAME, error };
        let kept = task.budget.dense(&*task.gram, 8 * n * n + cholesky_bytes(n), WHAT)?;
        if kept.stored().is_some_and(|values| values.iter().any(|k| !k.is_finite())) {
            return Err(solve(not_finite(&kept)));
        }
        let found = in_turn(&rest, |problem| {
            let progress = Progress::new(Phase::FACTORISATION, problem.first).of(rest.problems());
            watch.alive(progress).map_err(|reason| solve(reason.into()))?;
            let copy = kept.stored().map(<[f64]>::to_vec).unwrap_or_default();
            self.direction(&kept, copy, &Sides::new(&problem.signs)).map_err(solve)
        })?;
        let advice = wrong_way_round(&found, &classes.labels);
        let solved: Vec<BinarySolution> = found.into_iter().map(|direction| direction.solution).collect();
        let fitted = gather(&rest, &solved, Keep::All);
        let storage = format!("kernel matrix stored in f64, twice {}", show_bytes(8 * n * n));
        let advice = advice.into_iter().collect();
        Ok(Fitted { report: SolverReport { storage, advice, ..fitted.report }, ..fitted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::Coefficients;
    use crate::prelude::{Dataset, Fit, Model, Rows, Seed, Target, linear, rbf};

    /// Two clouds in the plane, `plus` examples of the first class.
    fn clouds(n: usize, plus: usize) -> (Vec<f64>, Vec<f64>, Dataset) {
        let mut random = Seed(6).stream("fisher");
        let y: Vec<f64> = (0..n).map(|i| if i < plus { 1.0 } else { -1.0 }).collect();
        let x: Vec<f64> = y
            .iter()
            .flat_map(|y| {
                let (u, v) = (random.normal(), random.normal());
                [0.8 * y + u + 0.3, 0.4 * y + 0.6 * u + 0.5 * v - 0.2]
            })
            .collect();
        let labels: Vec<&str> = y.iter().map(|y| if *y > 0.0 { "a" } else { "b" }).collect();
        let rows = Rows::new(x.clone(), n, 2).unwrap();
        (x, y, Dataset::new(rows).with_target(Target::from_text("y", &labels)).unwrap())
    }

    fn coefficients(model: &Model) -> &[f64] {
        let Coefficients::Dual { alpha, .. } = &model.fitted.expansion.coefficients else { panic!() };
        alpha
    }

    /// B = D − C₊ − C₋ entry by entry.
    fn b_matrix(y: &[f64]) -> Vec<f64> {
        let l = y.len() as f64;
        let plus = y.iter().filter(|y| **y > 0.0).count() as f64;
        let minus = l - plus;
        let n = y.len();
        let mut b = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                b[i * n + j] = match (y[i] > 0.0, y[j] > 0.0) {
                    (true, true) => -2.0 * minus / (l * plus),
                    (false, false) => -2.0 * plus / (l * minus),
                    _ => 0.0,
                };
            }
            b[i * n + i] += if y[i] > 0.0 { 2.0 * minus / l } else { 2.0 * plus / l };
        }
        b
    }

    #[test]
    fn it_solves_the_printed_system_and_the_threshold_is_the_corrected_one() {
        for plus in [30, 12] {
            let (_, y, data) = clouds(60, plus);
            let n = y.len();
            let mut k = vec![0.0; n * n];
            crate::gram::fill(rbf(0.5).gram(&data).unwrap().as_ref(), &mut k);
            let b = b_matrix(&y);
            for lambda in [1e-3, 0.1, 10.0] {
                let machine = RegularisedFisher { lambda, ..RegularisedFisher::default() };
                let model = machine.fit(&rbf(0.5), &data).unwrap();
                let a = coefficients(&model);
                let ka: Vec<f64> = k.chunks_exact(n).map(|row| row.iter().zip(a).map(|(k, a)| k * a).sum()).collect();
                for i in 0..n {
                    let left: f64 = (0..n).map(|j| b[i * n + j] * ka[j]).sum::<f64>() + lambda * a[i];
                    assert!((left - y[i]).abs() < 1e-8, "{plus} {lambda} {i}: {left}");
                }
                let t = |i: usize| if y[i] > 0.0 { 1.0 / plus as f64 } else { 1.0 / (n - plus) as f64 };
                let threshold = 0.5 * (0..n).map(|i| t(i) * ka[i]).sum::<f64>();
                assert!((model.fitted.expansion.offsets[0] + threshold).abs() < 1e-9 * (1.0 + threshold.abs()));
                assert!(model.fitted.report.notes[1].1 < 1e-9, "{:?}", model.fitted.report.notes);
            }
        }
    }

    /// w = Σ a_i x_i of a linear model.
    fn weights(model: &Model, x: &[f64]) -> [f64; 2] {
        let a = coefficients(model);
        [0, 1].map(|d| a.iter().zip(x.chunks_exact(2)).map(|(a, x)| a * x[d]).sum())
    }

    /// (w·direction)² / (2(l₊l₋/l)(σ₊² + σ₋²) + λ‖w‖²) in the inputs themselves.
    fn quotient(w: [f64; 2], x: &[f64], y: &[f64], target: &[f64], lambda: f64) -> f64 {
        let p: Vec<f64> = x.chunks_exact(2).map(|x| w[0] * x[0] + w[1] * x[1]).collect();
        let moments = |sign: f64| {
            let of: Vec<f64> = p.iter().zip(y).filter(|(_, y)| **y == sign).map(|(p, _)| *p).collect();
            let (l, mean) = (of.len() as f64, of.iter().sum::<f64>() / of.len() as f64);
            (l, of.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / l)
        };
        let ((plus, s), (minus, t)) = (moments(1.0), moments(-1.0));
        let top: f64 = p.iter().zip(target).map(|(p, t)| p * t).sum();
        top * top / (2.0 * plus * minus / (plus + minus) * (s + t) + lambda * (w[0] * w[0] + w[1] * w[1]))
    }

    #[test]
    fn no_direction_has_a_larger_quotient() {
        for (plus, numerator) in [(30, FisherTarget::Labels), (12, FisherTarget::Labels), (12, FisherTarget::Means)] {
            let (x, y, data) = clouds(60, plus);
            let model = RegularisedFisher { lambda: 2.0, numerator }.fit(&linear(), &data).unwrap();
            let scale = |sign: f64| match numerator {
                FisherTarget::Labels => sign,
                FisherTarget::Means => sign * 30.0 / if sign > 0.0 { plus as f64 } else { 60.0 - plus as f64 },
            };
            let target: Vec<f64> = y.iter().map(|&y| scale(y)).collect();
            let value = quotient(weights(&model, &x), &x, &y, &target, 2.0);
            assert!((value - model.fitted.report.notes[0].1).abs() < 1e-8 * value);
            for step in 0..3600 {
                let angle = f64::from(step) * std::f64::consts::PI / 3600.0;
                let other = quotient([angle.cos(), angle.sin()], &x, &y, &target, 2.0);
                assert!(other <= value * (1.0 + 1e-9), "{plus} {numerator:?} {angle}");
            }
        }
    }

    #[test]
    fn a_direction_that_points_the_wrong_way_is_told() {
        let fit = |plus: usize, shift: f64, numerator: FisherTarget| {
            let (x, y, _) = clouds(60, plus);
            let labels: Vec<&str> = y.iter().map(|y| if *y > 0.0 { "a" } else { "b" }).collect();
            let rows = Rows::new(x.iter().map(|x| x + shift).collect(), 60, 2).unwrap();
            let data = Dataset::new(rows).with_target(Target::from_text("y", &labels)).unwrap();
            let model = RegularisedFisher { lambda: 1.0, numerator }.fit(&linear(), &data).unwrap();
            let scores = model.scores(&data).unwrap();
            let right = scores.iter().zip(&y).filter(|(s, y)| *s * *y > 0.0).count();
            (right, model.fitted.report.advice.join("; "))
        };
        let (right, advice) = fit(12, 20.0, FisherTarget::Labels);
        assert!(
            right < 30 && advice.contains("class \"a\"") && advice.contains("numerator = means"),
            "{right} {advice}"
        );
        for (plus, shift, numerator) in
            [(12, 20.0, FisherTarget::Means), (12, 0.0, FisherTarget::Labels), (30, 20.0, FisherTarget::Labels)]
        {
            let (right, advice) = fit(plus, shift, numerator);
            assert!(right > 30 && advice.is_empty(), "{plus} {shift} {numerator:?}: {right} {advice}");
        }
    }

    #[test]
    fn without_penalty_it_is_fishers_own_direction() {
        // S_W⁻¹(m₊ − m₋): labels for even classes, means for any
        for (plus, numerator) in [(40, FisherTarget::Labels), (15, FisherTarget::Means)] {
            let (x, y, data) = clouds(80, plus);
            let model = RegularisedFisher { lambda: 1e-7, numerator }.fit(&linear(), &data).unwrap();
            let w = weights(&model, &x);
            let (mut scatter, mut means) = ([0.0; 3], [[0.0; 2]; 2]);
            for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                let of: Vec<&[f64]> = x.chunks_exact(2).zip(&y).filter(|(_, y)| **y == sign).map(|(x, _)| x).collect();
                let l = of.len() as f64;
                let m = [0, 1].map(|d| of.iter().map(|x| x[d]).sum::<f64>() / l);
                for x in &of {
                    let (u, v) = (x[0] - m[0], x[1] - m[1]);
                    scatter = [scatter[0] + u * u / l, scatter[1] + u * v / l, scatter[2] + v * v / l];
                }
                means[side] = m;
            }
            let d = [means[0][0] - means[1][0], means[0][1] - means[1][1]];
            // the inverse of a 2 × 2 matrix, up to its determinant
            let wanted = [scatter[2] * d[0] - scatter[1] * d[1], scatter[0] * d[1] - scatter[1] * d[0]];
            let cross = w[0] * wanted[1] - w[1] * wanted[0];
            let sizes = w[0].hypot(w[1]) * wanted[0].hypot(wanted[1]);
            assert!(cross.abs() < 1e-5 * sizes && w[0] * wanted[0] + w[1] * wanted[1] > 0.0, "{plus}: {cross}");
        }
    }

    #[test]
    fn several_classes_are_taken_one_against_the_rest() {
        let mut random = Seed(9).stream("three");
        let centres = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]];
        let x = (0..90).flat_map(|i| centres[i % 3].map(|c| c + 0.5 * random.normal())).collect();
        let labels: Vec<String> = (0..90).map(|i| format!("c{}", i % 3)).collect();
        let data = Dataset::new(Rows::new(x, 90, 2).unwrap()).with_target(Target::from(labels.clone())).unwrap();
        let model = RegularisedFisher { lambda: 0.1, ..RegularisedFisher::default() }.fit(&rbf(0.3), &data).unwrap();
        let predicted = model.predict(&data).unwrap();
        let wrong = predicted.labels().iter().zip(&labels).filter(|(p, l)| **p != l.as_str()).count();
        assert!(wrong <= 2, "{wrong} of 90");
        let two: Vec<String> = labels.iter().map(|l| if l == "c1" { "c1" } else { "rest" }.to_owned()).collect();
        let rest = Dataset::from_views(data.views().to_vec()).unwrap().with_target(Target::from(two)).unwrap();
        let alone = RegularisedFisher { lambda: 0.1, ..RegularisedFisher::default() }.fit(&rbf(0.3), &rest).unwrap();
        let (many, one) = (model.scores(&data).unwrap(), alone.scores(&data).unwrap());
        assert!(one.iter().enumerate().all(|(i, s)| (s - many[i * 3 + 1]).abs() < 1e-9));
    }
}
