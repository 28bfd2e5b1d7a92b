//! The C-support vector classifier.

use crate::machines::Fact;
use crate::machines::class_weight::ClassWeight;
use crate::machines::multiclass::{Column, Keep, Strategy};
use crate::machines::support::{Effort, Sub, Subs, broke, nothing_bounded, prove, solve, within};
use crate::machines::theory::WEIGHED_CLASSES;
use crate::machines::{
    Compresses, ConvexLoss, Cost, Expansion, FitError, Fitted, HeldOutAnswer, HeldOutRequest, Learns, Machine,
    MachineEntry, Multipliers, Path, Reads, Task, Theory, Tolerates, Traits,
};
use crate::params::{Choice, Params, Rule, Visit};
use crate::solvers::smo::{Equality, Solution};
use crate::sources::{LIBSVM, Source};
use crate::watch::Monitor;
use std::cmp::Ordering;
use std::ops::Range;

/// min ½‖w‖² + C Σ w_i max(0, 1 − y_i (⟨w, φ(x_i)⟩ + b)), or the squares of these losses
///
/// # Source
/// Chang & Lin (2011), §2.1 for the problem, §7 for one-against-one and its vote; Herbrich (2002), §2.4 and appendix B.5,
/// for the forms without bias, with squared losses (the dual of a hard margin with K + I/2C) and with an infinite C. Solved
/// by sequential minimal optimisation (`solvers::smo`) until the largest violation of the optimality conditions
/// is below the tolerance.
///
/// # Use when
/// Classes are to be told apart and a sparse, robust rule is wanted. Scale the data; choose C and the kernel's width by
/// cross-validation (`mercer select`).
///
/// # Cost
/// Between n² and n³ kernel values in the worst case, about (number of support vectors) · n in practice; the memory of
/// `cache` beside the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Svc {
    /// C, the price of a margin violation; infinite for a hard margin.
    pub c: f64,
    /// The loss of a margin violation.
    pub loss: Loss,
    /// True if the decision function has an offset b.
    pub bias: bool,
    /// The reduction of several classes to problems of two.
    pub strategy: Strategy,
    /// Weights of the classes: `none`, `balanced`, or `label:weight,label:weight`.
    pub class_weight: String,
    /// Tolerance, limit of steps and cache of rows.
    pub effort: Effort,
}

/// The loss of a margin violation ξ = max(0, 1 − y f(x)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// ξ.
    Hinge,
    /// ξ².
    SquaredHinge,
}

impl Choice for Loss {
    fn options(&self) -> &'static [&'static str] {
        &["hinge", "squared_hinge"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        *self = [Self::Hinge, Self::SquaredHinge][position];
    }
}

impl Default for Svc {
    fn default() -> Self {
        Self {
            c: 1.0,
            loss: Loss::Hinge,
            bias: true,
            strategy: Strategy::OneVsOne,
            class_weight: "none".to_owned(),
            effort: Effort::default(),
        }
    }
}

impl Params for Svc {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("c", &mut self.c, Rule::AboveOrInfinite(0.0), "price C of a margin violation; inf for a hard margin");
        v.choice("loss", &mut self.loss, "loss of a margin violation");
        v.switch("bias", &mut self.bias, "whether the decision function has an offset");
        v.choice("strategy", &mut self.strategy, "how several classes become problems of two");
        v.text("class_weight", &mut self.class_weight, ClassWeight::check, "none, balanced or label:weight,…");
        self.effort.visit(v);
    }
}

/// One problem: where its examples stand in the matrix, their signs and their weights.
struct WeighedProblem<'a> {
    columns: Vec<Range<usize>>,
    signs: &'a [f64],
    weights: Vec<f64>,
}

impl Svc {
    /// The problem of examples with signs and weights: C_t = C · weight_t bounds β_t = y_t α_t, or 1/2C_t joins the diagonal.
    fn sub(&self, weighed: WeighedProblem<'_>, start: Option<Vec<f64>>, folds: Option<(Vec<u32>, usize)>) -> Sub {
        let WeighedProblem { columns, signs, weights } = weighed;
        let bound = |w: f64| match self.loss {
            // an infinite price of nothing is nothing
            _ if w == 0.0 => 0.0,
            Loss::Hinge => self.c * w,
            Loss::SquaredHinge => f64::INFINITY,
        };
        let bounds: Vec<f64> = weights.iter().map(|&w| bound(w)).collect();
        let pick =
            |sign: f64| signs.iter().zip(&bounds).map(|(&y, &u)| if y == sign { sign * u } else { 0.0 }).collect();
        let ridge = (self.loss == Loss::SquaredHinge && self.c.is_finite())
            .then(|| weights.iter().map(|&w| if w > 0.0 { 0.5 / (self.c * w) } else { 0.0 }).collect());
        Sub {
            columns,
            lower: pick(-1.0),
            upper: pick(1.0),
            linear: signs.to_vec(),
            epsilon: 0.0,
            ridge,
            equality: if self.bias { Equality::Sum } else { Equality::None },
            start: start.map(|beta| within(&beta, &bounds)),
            folds,
        }
    }

    /// f(x) of the examples: with s = y − (K + D)β it is y − (s + Dβ − b).
    fn scores(&self, signs: &[f64], weights: &[f64], solution: &Solution) -> impl Iterator<Item = f64> {
        signs.iter().zip(weights).enumerate().map(move |(t, (&y, &w))| {
            let ridge = if self.loss == Loss::SquaredHinge && w > 0.0 { 0.5 / (self.c * w) } else { 0.0 };
            y - (solution.state[t] + ridge * solution.beta[t] - solution.offsets[0])
        })
    }

    /// Primal minus dual objective.
    fn gap(&self, signs: &[f64], weights: &[f64], solution: &Solution) -> f64 {
        let mut losses = 0.0;
        for ((&y, &w), f) in signs.iter().zip(weights).zip(self.scores(signs, weights, solution)) {
            let slack = (1.0 - y * f).max(0.0);
            losses += match self.loss {
                // a hard margin has no price: what is left of its violations is in `violation`
                _ if self.c.is_infinite() || w == 0.0 => 0.0,
                Loss::Hinge => self.c * w * slack,
                Loss::SquaredHinge => self.c * w * slack * slack,
            };
        }
        0.5 * solution.squared_norm + losses + solution.objective
    }
}

impl Machine for Svc {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        let theory = {
            let by_class = self.class_weight != "none";
            let loss = ConvexLoss { c: self.c, cost: Cost::Hinge, free_offset: self.bias, scale: 1.0 };
            Theory {
                compression: Compresses::Margin { any_size: true },
                loss: match self.loss {
                    _ if by_class => Err(WEIGHED_CLASSES),
                    Loss::SquaredHinge => Ok(ConvexLoss { cost: Cost::SquaredHinge, ..loss }),
                    Loss::Hinge => Ok(loss),
                },
                multipliers: Some(match self.loss {
                    Loss::Hinge => Multipliers { c: self.c, ridge: 0.0, by_class },
                    Loss::SquaredHinge => Multipliers { c: f64::INFINITY, ridge: 0.5 / self.c, by_class },
                }),
                balances_classes: self.class_weight == ClassWeight::BALANCED,
                hard: self.c == f64::INFINITY,
                homogeneous: !self.bias,
                ..Theory::default()
            }
        };
        // squared losses have C on the diagonal of the matrix, where it always matters
        let is_final: fn(&Fitted) -> bool =
            if self.loss == Loss::Hinge { |fitted| nothing_bounded(&fitted.report) } else { |_| false };
        Traits {
            reads: Reads::Rows,
            weights: true,
            tolerates: Tolerates::with_offset(self.bias),
            weighs_classes: ClassWeight::weighs(&self.class_weight),
            path: Some(Path { parameter: "c", is_final }),
            regularised_by: &[("c", Ordering::Less)],
            searched: "c=0.1..1000:log5",
            theory,
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(ENTRY.name)?;
        let weights = ClassWeight::of_examples(ENTRY.name, &self.class_weight, &classes, task.weights)?;
        let n = classes.codes.len();
        // the problem of two classes is that of a pair, whatever the strategy
        let strategy = if classes.labels.len() == 2 { Strategy::OneVsOne } else { self.strategy };
        let reduction = strategy.reduction(&classes);
        let fold_of = folds_of(task).map(|folds| (places_in(folds, n), folds.len()));
        let make = |p: usize| {
            let problem = reduction.problem(p);
            let weighed =
                WeighedProblem { columns: reduction.ranges(p), weights: problem.pick(&weights), signs: &problem.signs };
            let start = task.start.and_then(|fitted| reduction.start(fitted, p));
            self.sub(weighed, start, fold_of.as_ref().map(|(of, count)| (problem.pick(of), *count)))
        };
        let sizes: Vec<usize> =
            (0..reduction.problems()).map(|p| reduction.ranges(p).iter().map(Range::len).sum()).collect();
        let scored = sizes.iter().all(|&size| size == n);
        let cache = self.effort.cache.saturating_mul(1 << 20).min(task.budget.memory / 2);
        let gram = reduction.rows(task, cache);
        let solutions =
            solve(&gram, &Subs { sizes, make: &make }, &self.effort, task, watch).map_err(broke(ENTRY.name))?;
        let scored = scored && solutions.iter().all(|s| s.whole);
        let (mut gap, mut bounded, mut scores) = (0.0, 0, Vec::new());
        for (p, solution) in solutions.iter().enumerate() {
            let problem = reduction.problem(p);
            let weights = problem.pick(&weights);
            gap += self.gap(&problem.signs, &weights, solution);
            bounded += self.bounded(&weights, solution);
            if scored {
                scores.push(self.scores(&problem.signs, &weights, solution).collect::<Vec<f64>>());
            }
        }
        let found = Column::of_problems(solutions.iter().map(|s| s.beta.as_slice()));
        let expansion = Expansion {
            coefficients: reduction.coefficients(&found, Keep::NonZero),
            offsets: solutions.iter().map(|s| s.offsets[0]).collect(),
        };
        let notes = vec![Fact::BoundedMultipliers.note(bounded as f64)];
        let report = prove(&solutions, self.known(gap), expansion.points().len(), &self.effort, task, notes);
        let held_out: Option<Vec<&[f64]>> = solutions.iter().map(|s| s.held_out.as_deref()).collect();
        let held_out = held_out.map(|all| {
            let (layout, scores) = reduction.held_out(&Column::of_problems(all));
            HeldOutAnswer { scores, layout, models: None }
        });
        let scores = scores.iter().map(Vec::as_slice);
        let training_scores = scored.then(|| reduction.scores(&Column::of_problems(scores))).flatten();
        Ok(Fitted::new(expansion, reduction.readout(), report)
            .with_training_scores(training_scores)
            .with_held_out(held_out))
    }
}

impl Svc {
    /// A hard margin has no primal value until its last violation is gone.
    fn known(&self, gap: f64) -> Option<f64> {
        self.c.is_finite().then_some(gap)
    }

    fn bounded(&self, weights: &[f64], solution: &Solution) -> usize {
        let at_bound = |(b, w): (&f64, &f64)| self.loss == Loss::Hinge && *b != 0.0 && b.abs() == self.c * w;
        solution.beta.iter().zip(weights).filter(|&(b, w)| at_bound((b, w))).count()
    }
}

/// The folds of a request for held-out scores, which the solver computes from rows that it has anyway.
fn folds_of<'a>(task: &Task<'a>) -> Option<&'a [Vec<usize>]> {
    match task.held_out {
        HeldOutRequest::Scores(folds) => Some(folds),
        _ => None,
    }
}

/// The fold of each of n examples.
fn places_in(folds: &[Vec<usize>], n: usize) -> Vec<u32> {
    let mut of = vec![u32::MAX; n];
    for (fold, members) in folds.iter().enumerate() {
        // places beyond the examples hold nothing out
        members.iter().filter(|&&i| i < n).for_each(|&i| of[i] = fold as u32);
    }
    of
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "svc",
    aliases: &["svm", "c_svc"],
    summary: "C-support vector classification, soft or hard margin",
    formula: "min ½‖w‖² + C Σ w_i max(0, 1 − y_i f(x_i))",
    learns: Learns::Classes,
    source: Source::new(&LIBSVM, "§2.1, §7"),
    use_when: "classes are to be told apart and a sparse, robust rule is wanted",
    cost: "Between n² and n³ kernel values in the worst case, about (number of support vectors) · n in practice; the memory of `cache` beside the data.",
    make: || Box::new(Svc::default()),
};
