//! The kernel Fisher discriminant.

mod penalty;
mod solve;

use crate::data::Classes;
use crate::gram::{Gram, apply};
use crate::machines::Fact;
use crate::machines::class_weight::ClassWeight;
use crate::machines::multiclass::{Column, Keep, Reduction, SignedProblem, Strategy};
use crate::machines::threshold::Threshold;
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, HeldOutAnswer, HeldOutRequest, Learns, Machine, MachineEntry, Order,
    SolverReport, Task, Theory, Tolerates, Traits,
};
use crate::params::{Auto, Choice, Params, Rule, Visit};
use crate::solvers::Penalty;
use crate::solvers::fisher::direct::bordered_bytes;
use crate::solvers::fisher::{Aim, Quadratic, quotient};
use crate::sources::{MIKA, Source};
use crate::watch::{Monitor, Status};
use penalty::QuadraticPenalty;
use rayon::prelude::*;
use solve::{Problem, Solved};
use std::cmp::Ordering;
use std::sync::Arc;

const NAME: &str = "kfd";
const WHAT: &str = "the kernel Fisher discriminant";

/// min ½ Σ w_i ξ_i² + λ P(α), ξ = y − Kα − b: class means far apart and narrow classes on the line of f(x) = Σ α_i κ(x_i, x).
///
/// It is the direction with the largest (αᵀδ)² / αᵀ(S + λP″)α, where δ is the difference of the class means and S the scatter
/// inside the classes of the columns of K; y is ±1. P is ½‖α‖² (`penalty = coefficients`) or ½αᵀKα (`norm`: the least squares
/// support vector machine with γ = 1/λ). λ must be above zero: with a kernel matrix of full rank the quotient has no bound.
/// `lambda = loo` takes the λ with the smallest leave-one-out squares, by one eigendecomposition. The threshold on the line
/// is a rule of its own (`threshold`); least squares' own offset, `programme`, is rather poor where classes differ in size.
/// A class of one example has no scatter and is allowed; a class whose examples all weigh nothing is not.
///
/// Solvers: `cholesky` factorises the bordered system once for all classes; `eigen` maximises the quotient itself, once for
/// each class; `pairs` moves pairs of dual variables until so many `figures` of the objective stand (norm only, K is never
/// formed); `greedy` adds the best of 59 random examples at a time, for each class by itself; `subset` takes random examples. The report's objective is that
/// of the programme, summed over problems; its notes are `lambda`, `quotient` (the value of the maximum, summed), `relative_residual`
/// (of the system solved), `jitter` where one was needed, and with the Cholesky solver, up to 2000 examples or where such scores are asked for, `loo_rmse`,
/// of the residuals y − f of programmes that have not seen their example, and, where the threshold is the programme's own, `loo_error`,
/// the share of labels that these get wrong; both at the λ and the class weights of the fit. Scores of leaving one example out
/// are those of the rule that predicts: its threshold is placed again on the line of each programme.
///
/// # Source
/// Mika (2002), §3.4.4–3.4.7 and §3.5; §4.4 for leaving one out; §5.3.2 for the threshold.
///
/// # Use when
/// Every example is to have a say, classes are noisy, or leave-one-out errors are wanted for nothing. Outputs scatter around ±1
/// alike in training and test, so that they make good probabilities.
///
/// # Cost
/// Cholesky n³/3 multiplications and n² numbers; for the penalty on coefficients n³/2 more and twice the numbers where examples
/// are left out, else about 60 n² more for each class; greedy 30 n m u for m examples of each class and u in all; pairs two rows of
/// K a step. Predictions need all examples but for `greedy`, `subset` and `pairs`.
#[derive(Clone, Debug, PartialEq)]
pub struct Kfd {
    /// λ > 0, or `loo`.
    pub lambda: Auto,
    /// P.
    pub penalty: Penalty,
    /// The solver.
    pub solver: KfdSolver,
    /// The place of the threshold on the line of projections.
    pub threshold: Threshold,
    /// Added to the score, for mistakes of unequal cost.
    pub shift: f64,
    /// The reduction of several classes to problems of two.
    pub strategy: Strategy,
    /// Weights of the classes: `none`, `balanced`, or `label:weight,label:weight`.
    pub class_weight: String,
    /// The examples of `subset` and the most of an output of `greedy`; all where there are fewer.
    pub points: usize,
    /// The mean relative improvement of five steps at which `greedy` ends.
    pub tolerance: f64,
    /// The significant figures s of the objective at which `pairs` end, with an infeasibility of at most 10⁻ˢ.
    pub figures: f64,
}

/// Solvers of a discriminant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KfdSolver {
    /// Cholesky; where memory forbids that, pairs for the norm and greedy for coefficients.
    #[default]
    Auto,
    /// One factorisation of the bordered system.
    Cholesky,
    /// The Rayleigh quotient.
    Eigen,
    /// Pairs of dual variables.
    Pairs,
    /// One example after the other.
    Greedy,
    /// Random examples.
    Subset,
}

impl Choice for KfdSolver {
    fn options(&self) -> &'static [&'static str] {
        &["auto", "cholesky", "eigen", "pairs", "greedy", "subset"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        let all = [Self::Auto, Self::Cholesky, Self::Eigen, Self::Pairs, Self::Greedy, Self::Subset];
        *self = all[position.min(all.len() - 1)];
    }
}

impl Default for Kfd {
    fn default() -> Self {
        Self {
            lambda: 1.0.into(),
            penalty: Penalty::Coefficients,
            solver: KfdSolver::Auto,
            threshold: Threshold::Margin,
            shift: 0.0,
            strategy: Strategy::OneVsRest,
            class_weight: "none".to_owned(),
            points: 500,
            tolerance: 1e-3,
            figures: 1.0,
        }
    }
}

impl Params for Kfd {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.auto(
            "lambda",
            &mut self.lambda,
            &["loo"],
            Rule::Above(0.0),
            "weight of the penalty, without which the quotient has no maximum; loo chooses it",
        );
        v.choice("penalty", &mut QuadraticPenalty(&mut self.penalty), "coefficients (½‖α‖²) or norm (½αᵀKα)");
        v.choice("solver", &mut self.solver, "auto, cholesky, eigen, pairs, greedy or subset");
        v.choice("threshold", &mut self.threshold, "rule for the threshold on the line of projections");
        v.real("shift", &mut self.shift, Rule::Any, "added to the score of the first of two classes");
        v.choice("strategy", &mut self.strategy, "how several classes become problems of two");
        v.text("class_weight", &mut self.class_weight, ClassWeight::check, "none, balanced or label:weight,…");
        v.count("points", &mut self.points, Rule::AtLeast(1.0), "examples of subset, and the most of greedy");
        v.real("tolerance", &mut self.tolerance, Rule::AtLeast(0.0), "mean relative improvement at which greedy ends");
        v.real("figures", &mut self.figures, Rule::Above(0.0), "significant figures at which pairs end");
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["kernel_fisher", "kernel_fisher_discriminant"],
    summary: "kernel Fisher discriminant: class means far apart, classes narrow, by regularised least squares",
    formula: "min ½ Σ wᵢ (yᵢ − f(xᵢ))² + λ P(α), P = ½‖α‖² or ½αᵀKα",
    learns: Learns::Classes,
    source: Source::corrected(&MIKA, "§3.4.4–3.4.7, §3.5", "λ must be above zero, since J has no bound otherwise"),
    use_when: "every example is to have a say, classes are noisy, or leave-one-out errors are wanted for nothing",
    cost: "Cholesky n³/3 multiplications and n² numbers; for the penalty on coefficients n³/2 more and twice the numbers where examples are left out, else about 60 n² more for each class; greedy 30 n m u for m examples of each class and u in all; pairs two rows of K a step. Predictions need all examples but for `greedy`, `subset` and `pairs`.",
    make: || Box::new(Kfd::default()),
};

/// One problem of two classes, or one for each class on the same examples.
struct Part {
    /// The examples, as places in the training data.
    examples: Vec<usize>,
    /// ±1, examples × outputs row by row.
    y: Vec<f64>,
    outputs: usize,
    weights: Vec<f64>,
}

/// The solution of a part: α and offset of every output after the threshold.
struct Placed {
    solved: Solved,
    offsets: Vec<f64>,
}

impl Machine for Kfd {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits {
            weights: true,
            weighs_classes: ClassWeight::weighs(&self.class_weight),
            regularised_by: &[("lambda", Ordering::Greater)],
            searched: "lambda=1e-4..10:log6",
            theory: Theory {
                balances_classes: self.class_weight == ClassWeight::BALANCED,
                loss: Err(match self.penalty {
                    Penalty::Norm => {
                        "squares of ±1 − f with an offset that is not penalised: one example may move the offset, and squares have no slope of their own"
                    }
                    _ => "its penalty is on the coefficients, and the theorem is about the length ‖f‖ in feature space",
                }),
                ..Theory::default()
            },
            leaves_one_out: true,
            order: match self.solver {
                KfdSolver::Auto | KfdSolver::Cholesky | KfdSolver::Eigen => Order::Irrelevant,
                KfdSolver::Pairs | KfdSolver::Greedy | KfdSolver::Subset => Order::Matters,
            },
            tolerates: match self.penalty {
                Penalty::Norm => Tolerates::Definite,
                _ => Tolerates::Any,
            },
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let penalty = self.checked()?;
        let classes = task.classes(NAME)?;
        let weights = ClassWeight::of_examples(NAME, &self.class_weight, &classes, task.weights)?;
        if self.shift != 0.0 && classes.labels.len() > 2 {
            return Err(wrong("shift moves the border of two classes, and here are more; leave it at 0"));
        }
        let live: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
        let k = classes.labels.len();
        // the problem of two classes is that of the first against the rest, whatever the strategy
        let strategy = if k == 2 { Strategy::OneVsRest } else { self.strategy };
        let reduction = strategy.reduction(&classes);
        let parts: Vec<Part> = reduction.blocks().iter().map(|block| Part::new(block, &live, &weights)).collect();
        let held_out = self.answered(task, &classes, &weights);
        if held_out.leaves_one_out() {
            let (n, outputs) = (task.len(), parts[0].outputs);
            let modelled = held_out == HeldOutRequest::LeaveOneOutModels || self.moves();
            let models = usize::from(modelled) * 8 * n * n * (2 + 3 * outputs);
            task.budget.check(bordered_bytes(n, outputs, penalty, true) + models, WHAT)?;
        }
        let mut placed = Vec::with_capacity(parts.len());
        for part in &parts {
            let all = part.examples.len() == task.len();
            let gram: Arc<dyn Gram> = if all {
                Arc::clone(&task.gram)
            } else {
                Arc::clone(&task.gram).restrict(&part.examples, &part.examples)
            };
            let aim =
                Aim { y: &part.y, outputs: part.outputs, weights: &part.weights, lambda: self.lambda.value(), penalty };
            let solved = Problem { kfd: self, task, gram, held_out, watch }.solve(aim)?;
            placed.push(self.place(part, solved));
        }
        let report = self.prove(&parts, &placed, task.len(), &classes);
        let training_scores = match (parts.as_slice(), placed.as_slice()) {
            ([part], [one]) if part.examples.len() == task.len() => Some(one.solved.found.scores.clone()),
            _ => None,
        };
        let held_out = match placed.as_mut_slice() {
            [one] if held_out.leaves_one_out() => self.left_out(&parts[0], &mut one.solved, task, held_out),
            _ => None,
        };
        let by_place = placed.iter().any(|p| p.solved.order == Order::Matters);
        Ok(Fitted::new(
            Expansion {
                offsets: placed.iter().flat_map(|p| p.offsets.iter().copied()).collect(),
                coefficients: join(reduction.as_ref(), &parts, &placed),
            },
            reduction.readout(),
            report,
        )
        .with_training_scores(training_scores)
        .with_held_out(held_out)
        .with_order(if by_place { Order::Matters } else { Order::Irrelevant }))
    }
}

impl Kfd {
    /// True if predictions have another threshold than the programme's.
    fn moves(&self) -> bool {
        self.threshold != Threshold::Programme || self.shift != 0.0
    }

    /// The request that has a closed form here. There is none where λ or the weights were chosen with the help of the example that is
    /// left out: these are to be chosen again.
    fn answered<'a>(&self, task: &Task<'a>, classes: &Classes, weights: &[f64]) -> HeldOutRequest<'a> {
        let pairwise = classes.labels.len() > 2 && self.strategy == Strategy::OneVsOne;
        let direct = matches!(self.solver, KfdSolver::Auto | KfdSolver::Cholesky);
        let chosen = matches!(self.lambda, Auto::Word(_)) || self.class_weight == ClassWeight::BALANCED;
        match task.held_out {
            _ if pairwise || !direct || weights.contains(&0.0) => HeldOutRequest::Nothing,
            asked if chosen && asked.leaves_one_out() => HeldOutRequest::Nothing,
            HeldOutRequest::Scores(_) => HeldOutRequest::Nothing,
            leaving => leaving,
        }
    }

    /// The scores of examples left out, and the models where they are wanted. The threshold's rule sees the line of each programme
    /// without the example, as learning again would.
    fn left_out(
        &self,
        part: &Part,
        solved: &mut Solved,
        task: &Task<'_>,
        request: HeldOutRequest<'_>,
    ) -> Option<HeldOutAnswer> {
        let models = solved.models.take();
        let (scores, models) = match models {
            Some(models) if self.moves() => {
                let (scores, models) = self.placed_again(part, models, task);
                (scores, Some(models))
            }
            models => {
                let residuals = solved.left_out.as_ref()?;
                (part.y.iter().zip(residuals).map(|(y, r)| y - r).collect(), models)
            }
        };
        let wanted = request == HeldOutRequest::LeaveOneOutModels;
        let models = models.filter(|_| wanted).map(|(alpha, offsets)| Expansion {
            coefficients: Coefficients::Dual { points: (0..task.len()).collect(), alpha },
            offsets,
        });
        Some(HeldOutAnswer { models, ..HeldOutAnswer::outputs(scores) })
    }

    /// The programmes without each example, their thresholds where the rule puts them without it, and their scores of it.
    fn placed_again(
        &self,
        part: &Part,
        (mut alpha, mut offsets): (Vec<f64>, Vec<f64>),
        task: &Task<'_>,
    ) -> (Vec<f64>, (Vec<f64>, Vec<f64>)) {
        let (n, k) = (part.examples.len(), part.outputs);
        let mut lines = vec![0.0; alpha.len()];
        apply(task.gram.as_ref(), &alpha, n * k, &mut lines);
        let place = |at: usize| {
            let (p, c) = (at / k, at % k);
            let others = || (0..n).filter(|&i| i != p);
            let q: Vec<f64> = others().map(|i| lines[i * n * k + at]).collect();
            let signs: Vec<f64> = others().map(|i| part.y[i * k + c]).collect();
            let weights: Vec<f64> = others().map(|i| part.weights[i]).collect();
            self.threshold.place(&q, &signs, &weights, offsets[at])
        };
        let placed: Vec<_> = (0..n * k).into_par_iter().map(place).collect();
        for row in alpha.chunks_exact_mut(n * k) {
            row.iter_mut().zip(&placed).for_each(|(a, line)| *a *= line.scale);
        }
        offsets = placed.iter().map(|line| line.offset + self.shift).collect();
        let score = |at: usize| placed[at].scale * lines[at / k * n * k + at] + offsets[at];
        ((0..n * k).map(score).collect(), (alpha, offsets))
    }

    /// Refuses what does not go together.
    fn checked(&self) -> Result<Quadratic, FitError> {
        let Some(penalty) = Quadratic::of(self.penalty) else {
            return Err(wrong("penalty = sparse is another programme; use sparse_kfd"));
        };
        if self.lambda == Auto::Value(0.0) {
            // the rule of the parameter would only say that it must be above zero
            return Err(wrong(
                "lambda = 0 must be > 0: with a kernel matrix of full rank the quotient of means and scatter has no bound",
            ));
        }
        if penalty == Quadratic::Coefficients && self.solver == KfdSolver::Pairs {
            return Err(wrong("solver = pairs solves the dual of penalty = norm; set that, or use solver = greedy"));
        }
        if matches!(self.lambda, Auto::Word(_)) && self.solver != KfdSolver::Auto {
            return Err(wrong("lambda = loo is solved by one eigendecomposition of its own; set solver = auto"));
        }
        Ok(penalty)
    }

    /// Puts each output's threshold on the line of its projections.
    fn place(&self, part: &Part, mut solved: Solved) -> Placed {
        let (k, found) = (part.outputs, &mut solved.found);
        let mut offsets = Vec::with_capacity(k);
        for c in 0..k {
            let (b, signs): (f64, Vec<f64>) = (found.offsets[c], part.y.iter().skip(c).step_by(k).copied().collect());
            let q: Vec<f64> = found.scores.iter().skip(c).step_by(k).map(|f| f - b).collect();
            let line = self.threshold.place(&q, &signs, &part.weights, b);
            found.alpha.iter_mut().skip(c).step_by(k).for_each(|a| *a *= line.scale);
            let offset = line.offset + self.shift;
            for (score, q) in found.scores.iter_mut().skip(c).step_by(k).zip(q) {
                *score = line.scale * q + offset;
            }
            offsets.push(offset);
        }
        Placed { solved, offsets }
    }

    fn prove(&self, parts: &[Part], placed: &[Placed], n: usize, classes: &Classes) -> SolverReport {
        let all = || placed.iter().map(|p| &p.solved);
        let mut notes: Vec<(String, f64)> = match placed {
            [one] => vec![Fact::Lambda.note(one.solved.lambda)],
            several if matches!(self.lambda, Auto::Word(_)) => {
                several.iter().enumerate().map(|(p, s)| (format!("lambda_{}", p + 1), s.solved.lambda)).collect()
            }
            _ => vec![Fact::Lambda.note(self.lambda.value())],
        };
        if all().all(|s| s.exact) {
            let sum = parts.iter().zip(placed).map(|(part, p)| part.quotients(&p.solved.found.objectives)).sum();
            notes.push(("quotient".to_owned(), sum));
        }
        let largest = |of: &dyn Fn(&Solved) -> f64| all().map(of).fold(0.0, f64::max);
        notes.push(Fact::RelativeResidual.note(largest(&|s| s.found.relative_residual)));
        let jitter = largest(&|s| s.found.jitter);
        if jitter > 0.0 {
            notes.push(("jitter".to_owned(), jitter));
        }
        if let ([part], Some(left_out)) = (parts, placed.first().and_then(|p| p.solved.left_out.as_ref())) {
            let squares: f64 = left_out.iter().map(|r| r * r).sum();
            notes.push(Fact::LeftOutRootMeanSquare.note((squares / left_out.len().max(1) as f64).sqrt()));
            // labels are those of the rule that predicts, and these would be of the programme's own threshold
            if !self.moves() {
                notes.push(Fact::LeftOutError.note(part.error(left_out, classes)));
            }
        }
        for name in ["figures", "infeasibility", "kernel_rows"] {
            let of = |s: &Solved| s.notes.iter().find(|(known, _)| *known == name).map(|n| n.1);
            let told: Vec<f64> = all().filter_map(of).collect();
            if told.is_empty() {
                continue;
            }
            let value = match name {
                "figures" => told.iter().copied().fold(f64::INFINITY, f64::min),
                "infeasibility" => told.iter().copied().fold(0.0, f64::max),
                _ => told.iter().sum(),
            };
            notes.push((name.to_owned(), value));
        }
        let gaps: Option<Vec<f64>> = all().map(|s| s.found.gaps.as_ref().map(|g| g.iter().sum::<f64>())).collect();
        let mut carries = vec![false; n];
        for (part, p) in parts.iter().zip(placed) {
            p.solved.found.points.iter().for_each(|&i| carries[part.examples[i]] = true);
        }
        SolverReport {
            status: all().map(|s| s.status).max().unwrap_or(Status::Converged),
            iterations: all().map(|s| s.iterations).sum(),
            objective: Some(all().flat_map(|s| &s.found.objectives).sum()),
            duality_gap: gaps.map(|g| g.iter().sum()),
            support: Some(carries.iter().filter(|c| **c).count()),
            storage: all().next().map(|s| s.storage.clone()).unwrap_or_default(),
            notes,
            ..SolverReport::direct()
        }
    }
}

impl Part {
    /// Problems on those of the examples that count, which stay in their order.
    fn new(problems: &SignedProblem, live: &[usize], weights: &[f64]) -> Self {
        let SignedProblem { examples, signs, outputs, .. } = problems.among(live);
        Self { weights: examples.iter().map(|&i| weights[i]).collect(), examples, y: signs, outputs }
    }

    /// Σ J over the outputs.
    fn quotients(&self, objectives: &[f64]) -> f64 {
        let each = |c: usize| {
            let signs = self.y.iter().skip(c).step_by(self.outputs).zip(&self.weights);
            let (mut plus, mut minus) = (0.0, 0.0);
            signs.for_each(|(y, w)| if *y > 0.0 { plus += w } else { minus += w });
            quotient(objectives[c], plus, minus)
        };
        (0..self.outputs).map(each).sum()
    }

    /// The share of examples that a function which has not seen them gets wrong; f₋ₚ(x_p) = y_p − residual.
    fn error(&self, left_out: &[f64], classes: &Classes) -> f64 {
        let k = self.outputs;
        let wrong = (0..self.examples.len()).filter(|&p| {
            let scores: Vec<f64> = (0..k).map(|c| self.y[p * k + c] - left_out[p * k + c]).collect();
            let told = match scores.as_slice() {
                [score] => usize::from(*score < 0.0),
                several => (1..k).fold(0, |best, c| if several[c] > several[best] { c } else { best }),
            };
            told != classes.codes[self.examples[p]] as usize
        });
        wrong.count() as f64 / self.examples.len().max(1) as f64
    }
}

/// The coefficients of all parts; problems of one part share its points.
fn join(reduction: &dyn Reduction, parts: &[Part], placed: &[Placed]) -> Coefficients {
    let found =
        |p: &Placed, part: &Part| -> Vec<usize> { p.solved.found.points.iter().map(|&i| part.examples[i]).collect() };
    if let ([part], [one]) = (parts, placed) {
        return Coefficients::Dual { points: found(one, part), alpha: one.solved.found.alpha.clone() };
    }
    let column = |(part, p)| Column { examples: Some(found(p, part)), values: &p.solved.found.alpha };
    reduction.coefficients(&parts.iter().zip(placed).map(column).collect::<Vec<_>>(), Keep::NonZero)
}

fn wrong(finding: &str) -> FitError {
    FitError::Param { machine: NAME, finding: finding.to_owned() }
}

#[cfg(test)]
mod tests;
