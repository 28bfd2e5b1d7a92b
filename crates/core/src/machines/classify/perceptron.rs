//! The kernel perceptron.

use crate::gram::{BlockMut, Gram, Pick};
use crate::machines::Fact;
use crate::machines::evidence::{Evidence, ProblemNote};
use crate::machines::multiclass::{BinarySolution, Keep, OneVsRest, SignedProblem, gather, side_by_side};
use crate::machines::{
    Compresses, FitError, Fitted, Learns, Machine, MachineEntry, Order, Task, Theory, Tolerates, Traits,
};
use crate::parallel;
use crate::params::{Params, Rule, Visit};
use crate::seed::Seed;
use crate::solvers::conjugate_gradient::not_finite;
use crate::sources::{HERBRICH, Source};
use crate::watch::{Monitor, Phase, Progress, Status, Stop};

const NAME: &str = "perceptron";

/// α_j ← α_j + y_j whenever y_j f(x_j) ≤ 0, f(x) = Σ α_i κ(x_i, x): one class against the rest, one in all for two classes
///
/// Scores of all training examples are kept and corrected by a column of the matrix at every mistake, so that looking at an
/// example costs nothing. `average` gives the mean of f over all steps, which generalises better than the last one. With a
/// `budget` only so many examples keep a weight: the one of which the score changes least by its loss is forgotten. There is
/// no bias; add a constant to the kernel for one. With several `permutations` the examples are also gone through in random orders,
/// and the run without mistakes that needs fewest examples is kept (each order gives another sparse rule; a certificate pays the
/// logarithm of their number). The report's notes are `mistakes`, `mistakes_in_first_pass`, and, where a whole pass made none,
/// `margin`: the smallest y f(x)/‖w‖.
///
/// # Source
/// Herbrich (2002), Algorithms 2 and 3; the mean of all steps is that of Y. Freund & R. E. Schapire (1999), Machine Learning
/// 37; forgetting is that of J. Weston, A. Bordes & L. Bottou (2005), AISTATS, in its simplest form.
///
/// # Use when
/// Classes can be told apart and a rule is wanted at once, or steps are to be followed one by one.
///
/// # Cost
/// n kernel values for each mistake; at most (R/γ)² mistakes if the margin is γ (Novikoff).
#[derive(Clone, Debug, PartialEq)]
pub struct Perceptron {
    /// The most passes over the examples.
    pub passes: usize,
    /// True if the mean of all steps is taken.
    pub average: bool,
    /// The most examples with a weight; 0 for any number.
    pub budget: usize,
    /// In how many orders the examples are gone through, the first as they stand; the run with fewest examples is kept.
    pub permutations: usize,
}

impl Default for Perceptron {
    fn default() -> Self {
        Self { passes: 100, average: false, budget: 0, permutations: 1 }
    }
}

impl Params for Perceptron {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("passes", &mut self.passes, Rule::AtLeast(1.0), "most passes over the examples");
        v.switch("average", &mut self.average, "whether the mean of all steps is taken instead of the last");
        v.count("budget", &mut self.budget, Rule::AtLeast(0.0), "most examples with a weight, 0 for any number");
        v.count(
            "permutations",
            &mut self.permutations,
            Rule::AtLeast(1.0),
            "orders of the examples to try; the one with fewest examples is kept",
        );
    }
}

/// The solution of one problem.
struct Walked {
    alpha: Vec<f64>,
    mistakes: usize,
    /// Mistakes in the first pass.
    first: usize,
    status: Status,
    margin: Option<f64>,
    /// True if every score that was seen is a number.
    finite: bool,
}

impl Perceptron {
    /// One problem with signs y.
    fn walk(&self, gram: &dyn Gram, y: &[f64], order: &[usize], watch: &dyn Monitor) -> Result<Walked, Stop> {
        let n = y.len();
        // α and f of the present step, and α weighted by when it came (Freund & Schapire's mean in one pass)
        let (mut alpha, mut scores, mut early) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let (mut mistakes, mut first, mut steps, mut clean) = (0, 0, 0_usize, false);
        let mut column = vec![0.0; n];
        let add = |j: usize, by: f64, scores: &mut [f64], column: &mut [f64]| {
            gram.block(Pick::Range(0..n), Pick::Range(j..j + 1), BlockMut::new(column, n, 1));
            scores.iter_mut().zip(column).for_each(|(s, k)| *s += by * *k);
        };
        for pass in 0..self.passes {
            watch.alive(Progress::new(Phase::new("perceptron"), pass).of(self.passes))?;
            let before = mistakes;
            for &j in order {
                steps += 1;
                if y[j] * scores[j] > 0.0 {
                    continue;
                }
                mistakes += 1;
                alpha[j] += y[j];
                early[j] += steps as f64 * y[j];
                add(j, y[j], &mut scores, &mut column);
                let held = (0..n).filter(|&i| alpha[i] != 0.0);
                if self.budget > 0 && held.clone().count() > self.budget {
                    // its own score without it: the safer that is, the less it is missed
                    let own = |i: usize| {
                        let mut k = [0.0];
                        gram.block(Pick::Range(i..i + 1), Pick::Range(i..i + 1), BlockMut::new(&mut k, 1, 1));
                        y[i] * (scores[i] - alpha[i] * k[0])
                    };
                    if let Some(least) = held.max_by(|&a, &b| own(a).total_cmp(&own(b)).then(b.cmp(&a))) {
                        let gone = alpha[least];
                        early[least] -= steps as f64 * gone;
                        alpha[least] = 0.0;
                        add(least, -gone, &mut scores, &mut column);
                    }
                }
            }
            if pass == 0 {
                first = mistakes;
            }
            if mistakes == before {
                clean = true;
                break;
            }
        }
        let squared: f64 = alpha.iter().zip(&scores).map(|(a, f)| a * f).sum();
        let smallest = y.iter().zip(&scores).map(|(y, f)| y * f).fold(f64::INFINITY, f64::min);
        let margin = clean.then(|| smallest / squared.sqrt());
        if self.average {
            // Σ over steps of α, over their number: every change counts from when it came
            alpha.iter_mut().zip(&early).for_each(|(a, e)| *a -= e / (steps + 1) as f64);
        }
        let status = if clean { Status::Converged } else { Status::IterationLimit };
        Ok(Walked { alpha, mistakes, first, status, margin, finite: scores.iter().all(|f| f.is_finite()) })
    }
}

impl Perceptron {
    /// One problem of two sides, in the best of all orders.
    fn solve(&self, problem: &SignedProblem, task: &Task<'_>, watch: &dyn Monitor) -> Result<BinarySolution, FitError> {
        let gram = problem.gram(&task.gram);
        // the order, and the weights that come of it
        let each = 2 * size_of::<u64>() * problem.signs.len();
        task.budget
            .check(each.saturating_mul(self.permutations), format!("{} orders of the examples", self.permutations))
            .map_err(|e| e.remedy("ask for fewer permutations, or raise --memory"))?;
        let walked = self.sparsest(gram.as_ref(), &problem.signs, task.seed, watch);
        let walked = walked.map_err(|reason| FitError::stopped(NAME, reason))?;
        if !walked.finite {
            return Err(FitError::Solve { machine: NAME, error: not_finite(task.gram.as_ref()) });
        }
        let mut notes = vec![
            ProblemNote::summed(("mistakes".to_owned(), walked.mistakes as f64)),
            ProblemNote::summed(Fact::MistakesInFirstPass.note(walked.first as f64)),
        ];
        notes.extend(walked.margin.map(|margin| ProblemNote::smallest(("margin".to_owned(), margin))));
        Ok(BinarySolution {
            coefficients: walked.alpha,
            offset: 0.0,
            scores: None,
            evidence: Evidence::new(walked.status, walked.mistakes),
            notes,
        })
    }

    /// The best of the runs in all orders: one that ended without mistakes before one that did not, then the sparsest, then the
    /// first.
    fn sparsest(&self, gram: &dyn Gram, y: &[f64], seed: Seed, watch: &dyn Monitor) -> Result<Walked, Stop> {
        let mut random = seed.stream("orders of the perceptron");
        let mut orders: Vec<Vec<usize>> = vec![(0..y.len()).collect()];
        orders.extend((1..self.permutations).map(|_| random.permutation(y.len())));
        let runs: Result<Vec<Walked>, Stop> =
            parallel::map(orders.len(), |i| self.walk(gram, y, &orders[i], watch)).into_iter().collect();
        let cost = |w: &Walked| (w.status != Status::Converged, w.alpha.iter().filter(|a| **a != 0.0).count());
        let best = runs?.into_iter().reduce(|best, next| if cost(&next) < cost(&best) { next } else { best });
        best.ok_or(Stop::Interrupted)
    }
}

impl Machine for Perceptron {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        let theory = {
            let plain = !self.average && self.budget == 0;
            let compression = if plain {
                Compresses::Updates
            } else {
                Compresses::Not(
                    "an average or a budget depends on examples that have no weight: fit with average = false and budget = 0",
                )
            };
            Theory { compression, homogeneous: true, choices: self.permutations as f64, ..Theory::default() }
        };
        Traits { theory, order: Order::Matters, tolerates: Tolerates::WithoutTheory, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let rest = OneVsRest::new(&classes);
        let solved = side_by_side(&rest, |problem| self.solve(problem, task, watch))?;
        Ok(gather(&rest, &solved, Keep::NonZero))
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["kernel_perceptron"],
    summary: "corrected at every mistake until there is none, plain, averaged or with a budget",
    formula: "αⱼ ← αⱼ + yⱼ whenever yⱼ f(xⱼ) ≤ 0",
    learns: Learns::Classes,
    source: Source::new(&HERBRICH, "Algorithms 2 and 3"),
    use_when: "classes can be told apart and a rule is wanted at once",
    cost: "n kernel values for each mistake; at most (R/γ)² mistakes if the margin is γ (Novikoff).",
    make: || Box::new(Perceptron::default()),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::{Dataset, Fit, Rows, Seed, Target, linear, rbf};

    fn two(n: usize, gap: f64) -> (Dataset, Vec<f64>, Vec<f64>) {
        let mut random = Seed(8).stream("perceptron");
        let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let x: Vec<f64> = y.iter().flat_map(|y| [y * gap + 0.4 * random.normal(), random.normal()]).collect();
        let names: Vec<&str> = y.iter().map(|y| if *y > 0.0 { "a" } else { "b" }).collect();
        let data =
            Dataset::new(Rows::new(x.clone(), n, 2).unwrap()).with_target(Target::from_text("y", &names)).unwrap();
        (data, x, y)
    }

    #[test]
    fn it_is_the_primal_perceptron_under_the_linear_kernel_and_keeps_novikoffs_bound() {
        let (data, x, y) = two(60, 2.0);
        let model = Perceptron::default().fit(&linear(), &data).unwrap();
        // w ← w + y x, by hand
        let (mut w, mut mistakes) = ([0.0; 2], 0);
        loop {
            let before = mistakes;
            for (x, y) in x.chunks_exact(2).zip(&y) {
                if y * (w[0] * x[0] + w[1] * x[1]) <= 0.0 {
                    w = [w[0] + y * x[0], w[1] + y * x[1]];
                    mistakes += 1;
                }
            }
            if mistakes == before {
                break;
            }
        }
        let note = |name: &str| model.fitted.report.notes.iter().find(|(n, _)| n == name).unwrap().1;
        assert_eq!(note("mistakes"), f64::from(mistakes));
        for (s, x) in model.scores(&data).unwrap().iter().zip(x.chunks_exact(2)) {
            assert!((s - (w[0] * x[0] + w[1] * x[1])).abs() < 1e-9);
        }
        let radius = x.chunks_exact(2).map(|x| x[0].hypot(x[1])).fold(0.0, f64::max);
        let length = w[0].hypot(w[1]);
        let margin =
            x.chunks_exact(2).zip(&y).map(|(x, y)| y * (w[0] * x[0] + w[1] * x[1]) / length).fold(f64::MAX, f64::min);
        assert!((note("margin") - margin).abs() < 1e-9);
        // the margin of any separating rule bounds the mistakes
        assert!(f64::from(mistakes) <= (radius / margin).powi(2));
    }

    #[test]
    fn the_average_is_the_mean_of_all_steps() {
        let (data, x, y) = two(40, 0.3);
        let model = Perceptron { passes: 3, average: true, ..Perceptron::default() }.fit(&linear(), &data).unwrap();
        let (mut w, mut sum, mut steps) = ([0.0; 2], [0.0; 2], 0.0);
        for _ in 0..3 {
            for (x, y) in x.chunks_exact(2).zip(&y) {
                if y * (w[0] * x[0] + w[1] * x[1]) <= 0.0 {
                    w = [w[0] + y * x[0], w[1] + y * x[1]];
                }
                sum = [sum[0] + w[0], sum[1] + w[1]];
                steps += 1.0;
            }
        }
        let scores = model.scores(&data).unwrap();
        let factor = (sum[0] * x[0] + sum[1] * x[1]) / (steps + 1.0) / scores[0];
        for (s, x) in scores.iter().zip(x.chunks_exact(2)) {
            assert!((factor * s - (sum[0] * x[0] + sum[1] * x[1]) / (steps + 1.0)).abs() < 1e-9);
        }
        assert!((factor - 1.0).abs() < 1e-9, "{factor}");
    }

    #[test]
    fn the_sparsest_of_several_orders_is_kept_and_the_first_is_the_examples_own() {
        let (data, _, _) = two(80, 1.0);
        let support = |permutations| {
            let machine = Perceptron { permutations, ..Perceptron::default() };
            machine.fit(&rbf(2.0), &data).unwrap().fitted.report.support.unwrap()
        };
        let sizes: Vec<usize> = [1, 5, 25].map(support).to_vec();
        assert!(sizes[0] >= sizes[1] && sizes[1] >= sizes[2] && sizes[2] < sizes[0], "{sizes:?}");
    }

    #[test]
    fn a_budget_is_kept_and_classes_are_told_apart() {
        let (data, _, y) = two(80, 1.0);
        let model = Perceptron { passes: 20, budget: 10, ..Perceptron::default() }.fit(&rbf(0.5), &data).unwrap();
        assert!(model.fitted.report.support.unwrap() <= 10);
        let scores = model.scores(&data).unwrap();
        let right = scores.iter().zip(&y).filter(|(s, y)| **s * **y > 0.0).count();
        assert!(right > 70, "{right} of 80");
    }
}
