//! The kernel adatron.

use crate::gram::{BlockMut, Gram, Pick, Side, diagonal, show_bytes};
use crate::machines::evidence::{Evidence, ProblemNote};
use crate::machines::multiclass::{BinarySolution, Keep, OneVsRest, Reduction, gather, side_by_side};
use crate::machines::{
    Compresses, ConvexLoss, Cost, FitError, Fitted, Learns, Machine, MachineEntry, Multipliers, SolverReport, Task,
    Theory, Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::solvers::conjugate_gradient::not_finite;
use crate::sources::{ADATRON, Source};
use crate::watch::{Monitor, Phase, Progress, Status, Stop};
use std::cmp::Ordering;

const NAME: &str = "adatron";
const WHAT: &str = "the kernel adatron";
/// Rounds of the search for the offset: bisection alone would halve the bracket 2⁻⁶⁰ times.
const ROUNDS: usize = 200;

/// α_i ← min(C, max(0, α_i + η (1 − y_i f(x_i))/κ(x_i, x_i))) for every i in turn, f(x) = Σ_i y_i α_i κ(x_i, x) + b
///
/// Each step is the largest gain of the dual of the support vector machine along one coordinate (η = 1), or beyond or short of it
/// (0 < η < 2), so it ends at the solution of `svc`. Without `bias` b = 0. With it, b is the multiplier of Σ y_i α_i = 0: for a fixed
/// b the steps find α(b), and Σ y_i α_i(b), which falls as b rises, is brought to zero by secants inside a bracket. Several classes
/// are taken one against the rest. The report's violation is the largest of 1 − y f(x) that a step could still use, its objective that of
/// `svc` (½ Σ α_i α_j y_i y_j κ − Σ α_i + b Σ y_i α_i, summed over problems), and the notes have `imbalance`, the largest |Σ y_i α_i| with `bias`.
///
/// # Source
/// Friess, Cristianini & Campbell (1998), with the box of the soft margin; their offset is found by secants, too.
///
/// # Use when
/// Steps are to be followed one by one, or a second solver is to confirm `svc`, which is faster.
///
/// # Cost
/// n² operations a pass over the examples; K is stored where memory allows, else n kernel values for each step that moves. With
/// `bias` some ten times as many passes.
#[derive(Clone, Debug, PartialEq)]
pub struct Adatron {
    /// C, the price of a margin violation; infinite for a hard margin.
    pub c: f64,
    /// True if the decision function has an offset b.
    pub bias: bool,
    /// η, the length of a step relative to the best one.
    pub rate: f64,
    /// The largest violation of the optimality conditions that is left.
    pub tolerance: f64,
    /// The most passes over the examples for each offset that is tried.
    pub passes: usize,
}

impl Default for Adatron {
    fn default() -> Self {
        Self { c: 1.0, bias: true, rate: 1.0, tolerance: 1e-3, passes: 10_000 }
    }
}

impl Params for Adatron {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("c", &mut self.c, Rule::AboveOrInfinite(0.0), "price C of a margin violation; inf for a hard margin");
        v.switch("bias", &mut self.bias, "whether the decision function has an offset");
        v.real("rate", &mut self.rate, Rule::Inside(0.0, 2.0), "length η of a step relative to the best one");
        v.real("tolerance", &mut self.tolerance, Rule::Above(0.0), "largest violation of the optimality conditions");
        v.count("passes", &mut self.passes, Rule::AtLeast(1.0), "most passes over the examples for each offset");
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["kernel_adatron"],
    summary: "the support vector machine by steps along one multiplier at a time",
    formula: "αᵢ ← min(C, max(0, αᵢ + η (1 − yᵢ f(xᵢ))/κ(xᵢ, xᵢ)))",
    learns: Learns::Classes,
    source: Source::new(&ADATRON, "the algorithm"),
    use_when: "steps are to be followed one by one, or a second solver is to confirm svc, which is faster",
    cost: "n² operations a pass over the examples; K is stored where memory allows, else n kernel values for each step that moves. With `bias` some ten times as many passes.",
    make: || Box::new(Adatron::default()),
};

/// One problem of two classes on its way.
struct Walk<'a> {
    machine: &'a Adatron,
    gram: &'a dyn Gram,
    own: &'a [f64],
    y: Vec<f64>,
    alpha: Vec<f64>,
    /// Σ_j y_j α_j κ(x_j, x_i), without the offset.
    scores: Vec<f64>,
    /// A column of K.
    column: Vec<f64>,
    passes: usize,
}

impl Walk<'_> {
    /// The violation of example i: the gradient, where the box does not forbid to follow it.
    fn gain(&self, i: usize, b: f64) -> f64 {
        let gradient = 1.0 - self.y[i] * (self.scores[i] + b);
        let bound = self.machine.c;
        if (self.alpha[i] <= 0.0 && gradient < 0.0) || (self.alpha[i] >= bound && gradient > 0.0) {
            return 0.0;
        }
        gradient
    }

    /// Steps for a fixed offset until no violation is left; the largest that is.
    fn settle(&mut self, b: f64, watch: &dyn Monitor) -> Result<f64, Stop> {
        let n = self.y.len();
        let mut largest = f64::INFINITY;
        for _ in 0..self.machine.passes {
            let gap = Some(largest).filter(|g: &f64| g.is_finite());
            watch.alive(Progress { gap, ..Progress::new(Phase::new("adatron"), self.passes) })?;
            self.passes += 1;
            for i in 0..n {
                let gain = self.gain(i, b);
                // what is far below the tolerance waits: a step costs a column
                if gain.abs() > 0.1 * self.machine.tolerance {
                    self.step(i, gain);
                }
            }
            largest = (0..n).map(|i| self.gain(i, b).abs()).fold(0.0, f64::max);
            if largest <= self.machine.tolerance || !largest.is_finite() {
                break;
            }
        }
        Ok(largest)
    }

    fn step(&mut self, i: usize, gain: f64) {
        let (n, bound) = (self.y.len(), self.machine.c);
        // an example at the origin is never any better: its multiplier goes to the bound
        let wanted = if self.own[i] > 0.0 { self.alpha[i] + self.machine.rate * gain / self.own[i] } else { bound };
        let moved = wanted.clamp(0.0, bound);
        let by = (moved - self.alpha[i]) * self.y[i];
        self.alpha[i] = moved;
        self.gram.block(Pick::Range(0..n), Pick::Range(i..i + 1), BlockMut::new(&mut self.column, n, 1));
        self.scores.iter_mut().zip(&self.column).for_each(|(s, k)| *s += by * k);
    }

    fn imbalance(&self) -> f64 {
        self.alpha.iter().zip(&self.y).map(|(a, y)| a * y).sum()
    }

    /// Σ y α(b) falls as b rises: a bracket, then secants with halved ends (the Illinois rule), until the offset is known to a tenth
    /// of the tolerance, which changes no score by more.
    fn balance(&mut self, watch: &dyn Monitor) -> Result<(f64, f64, bool), Stop> {
        let sharp = 0.1 * self.machine.tolerance;
        let mut violation = self.settle(0.0, watch)?;
        let first = self.imbalance();
        // |b| is below the bracket's end as soon as the sign changes
        let (mut known, mut at_known) = (0.0, first);
        let (mut b, mut width) = (first.signum(), 1.0);
        let mut bracket = None;
        let small = |s: f64| s.abs() <= 1e-12;
        if small(first) {
            return Ok((0.0, violation, true));
        }
        for _ in 0..ROUNDS {
            violation = self.settle(b, watch)?;
            let here = self.imbalance();
            if !here.is_finite() || !violation.is_finite() {
                return Ok((b, violation, false));
            }
            if small(here) {
                return Ok((b, violation, true));
            }
            bracket = Some(match bracket {
                None if here.signum() == at_known.signum() => {
                    (known, at_known, width) = (b, here, 2.0 * width);
                    b += width * here.signum();
                    continue;
                }
                None => (known, at_known, b, here),
                Some((old, at_old, end, at_end)) => {
                    if here.signum() == f64::signum(at_end) {
                        // the other end stays: half of its value draws the next secant over to it
                        (old, 0.5 * at_old, b, here)
                    } else {
                        (end, at_end, b, here)
                    }
                }
            });
            if let Some((a, at_a, c, at_c)) = bracket {
                if (c - a).abs() <= sharp {
                    return Ok((b, violation, true));
                }
                let secant = (a * at_c - c * at_a) / (at_c - at_a);
                // a secant that hugs an end gains nothing
                let (low, high) = (a.min(c), a.max(c));
                let margin = 0.05 * (high - low);
                b = if secant.is_finite() { secant.clamp(low + margin, high - margin) } else { f64::midpoint(a, c) };
            }
        }
        Ok((b, violation, false))
    }

    fn walk(mut self, watch: &dyn Monitor) -> Result<BinarySolution, FitError> {
        let found = if self.machine.bias {
            self.balance(watch)
        } else {
            self.settle(0.0, watch).map(|violation| (0.0, violation, true))
        };
        let (offset, violation, found) = found.map_err(|reason| FitError::stopped(NAME, reason))?;
        if self.scores.iter().any(|f| !f.is_finite()) {
            return Err(FitError::Solve { machine: NAME, error: not_finite(self.gram) });
        }
        let converged = found && violation <= self.machine.tolerance;
        let status = if converged { Status::Converged } else { Status::IterationLimit };
        // y_i α_i
        let beta: Vec<f64> = self.alpha.iter().zip(&self.y).map(|(a, y)| a * y).collect();
        let squared: f64 = beta.iter().zip(&self.scores).map(|(b, f)| b * f).sum();
        // where no α(b) is in balance, b Σ y α makes up for it: the least value is continuous in b
        let objective = 0.5 * squared - self.alpha.iter().sum::<f64>() + offset * self.imbalance();
        let slacks = self.y.iter().zip(&self.scores).map(|(y, f)| (1.0 - y * (f + offset)).max(0.0));
        let primal = 0.5 * squared + self.machine.c * slacks.sum::<f64>();
        let mut notes = Vec::new();
        if self.machine.bias {
            notes.push(ProblemNote::largest(("imbalance".to_owned(), self.imbalance().abs())));
        }
        Ok(BinarySolution {
            coefficients: beta,
            offset,
            scores: None,
            evidence: Evidence {
                objective: Some(objective),
                // a hard margin has no primal value until its last violation is gone
                gap: Some(primal + objective).filter(|_| self.machine.c.is_finite()),
                violation: Some(violation),
                ..Evidence::new(status, self.passes)
            },
            notes,
        })
    }
}

impl Machine for Adatron {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        let theory = Theory {
            compression: Compresses::Margin { any_size: true },
            loss: Ok(ConvexLoss { c: self.c, cost: Cost::Hinge, free_offset: self.bias, scale: 1.0 }),
            multipliers: Some(Multipliers::up_to(self.c)),
            homogeneous: !self.bias,
            hard: self.c == f64::INFINITY,
            ..Theory::default()
        };
        Traits { regularised_by: &[("c", Ordering::Less)], searched: "c=0.1..1000:log5", theory, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let rest = OneVsRest::new(&classes);
        let n = task.len();
        let stored = task.budget.dense(&*task.gram, 8 * n * (4 * rest.problems() + 1), WHAT).ok();
        let gram: &dyn Gram = stored.as_ref().map_or(&*task.gram, |dense| dense);
        let own = task.gram.self_similarities(Side::Rows).unwrap_or_else(|| diagonal(gram));
        if own.iter().any(|k| !k.is_finite()) {
            return Err(FitError::Solve { machine: NAME, error: not_finite(gram) });
        }
        if let Some(i) = own.iter().position(|&k| k < 0.0 || (k == 0.0 && self.c.is_infinite())) {
            let finding = format!(
                "the kernel of example {} with itself is {}, and a step is divided by it; use a positive definite kernel{}",
                i + 1,
                own[i],
                if own[i] == 0.0 { ", or a finite c" } else { "" }
            );
            return Err(FitError::Param { machine: NAME, finding });
        }
        let solved = side_by_side(&rest, |problem| {
            let (y, zeros) = (problem.signs.clone(), || vec![0.0; n]);
            let walk =
                Walk { machine: self, gram, own: &own, y, alpha: zeros(), scores: zeros(), column: zeros(), passes: 0 };
            walk.walk(watch)
        })?;
        let fitted = gather(&rest, &solved, Keep::NonZero);
        let storage = match &stored {
            Some(_) => format!("kernel matrix stored in f64, {}", show_bytes(8 * n * n)),
            None => fitted.report.storage,
        };
        Ok(Fitted { report: SolverReport { storage, ..fitted.report }, ..fitted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::Coefficients;
    use crate::machines::Effort;
    use crate::machines::classify::{Strategy, Svc};
    use crate::prelude::{Dataset, Fit, Formula, Rows, Seed, Target, linear, rbf};

    fn clouds(n: usize, classes: usize, gap: f64) -> Dataset {
        let mut random = Seed(11).stream("adatron");
        let codes: Vec<usize> = (0..n).map(|i| if i % 7 == 0 { 0 } else { i % classes }).collect();
        let x = codes.iter().flat_map(|&c| [gap * c as f64 + random.normal(), random.normal()]).collect();
        let labels: Vec<String> = codes.iter().map(|c| format!("c{c}")).collect();
        Dataset::new(Rows::new(x, n, 2).unwrap()).with_target(Target::from(labels)).unwrap()
    }

    fn same_as_svc(machine: &Adatron, kernel: &Formula, data: &Dataset, within: f64, what: &str) {
        let two = data.target().unwrap().classes().unwrap().labels.len() == 2;
        let svc = Svc {
            c: machine.c,
            bias: machine.bias,
            strategy: if two { Strategy::OneVsOne } else { Strategy::OneVsRest },
            effort: Effort { tolerance: 1e-7, ..Effort::default() },
            ..Svc::default()
        };
        let (ours, theirs) = (machine.fit(kernel, data).unwrap(), svc.fit(kernel, data).unwrap());
        assert_eq!(ours.fitted.report.status, Status::Converged, "{what}");
        let (a, b) = (ours.scores(data).unwrap(), theirs.scores(data).unwrap());
        assert_eq!(a.len(), b.len(), "{what}");
        let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < within, "{what}: {apart}");
        let (p, q) = (ours.fitted.report.objective.unwrap(), theirs.fitted.report.objective.unwrap());
        assert!((p - q).abs() < 1e-4 * (1.0 + q.abs()), "{what}: {p} {q}");
    }

    #[test]
    fn it_ends_where_the_support_vector_machine_does() {
        for (classes, bias, c, rate) in
            [(2, false, 1.0, 1.0), (2, true, 1.0, 1.0), (2, true, 20.0, 1.4), (3, false, 0.3, 0.7), (3, true, 2.0, 1.0)]
        {
            let data = clouds(80, classes, 1.2);
            let machine = Adatron { c, bias, rate, tolerance: 1e-7, ..Adatron::default() };
            same_as_svc(&machine, &rbf(0.5), &data, 1e-4, &format!("{classes} classes, bias {bias}, c {c}"));
        }
        // a hard margin, and a matrix of low rank
        let apart = clouds(60, 2, 9.0);
        let hard = Adatron { c: f64::INFINITY, tolerance: 1e-7, ..Adatron::default() };
        same_as_svc(&hard, &rbf(0.05), &apart, 1e-4, "hard margin");
        // there an objective that is right to ε tells w to √ε only
        same_as_svc(&Adatron { c: 1.0, ..hard }, &linear(), &clouds(60, 2, 1.0), 5e-3, "linear");
    }

    #[test]
    fn the_optimality_conditions_hold_at_the_end() {
        let data = clouds(90, 2, 1.0);
        let machine = Adatron { c: 2.0, tolerance: 1e-6, ..Adatron::default() };
        let model = machine.fit(&rbf(0.8), &data).unwrap();
        let n = data.len();
        let Coefficients::Dual { alpha, .. } = &model.fitted.expansion.coefficients else { panic!() };
        assert!(alpha.iter().sum::<f64>().abs() < 1e-4, "Σ y α = 0");
        let mut beta = vec![0.0; n];
        for (&p, a) in model.places.iter().zip(alpha) {
            beta[p] = *a;
        }
        let scores = model.scores(&data).unwrap();
        let classes = data.target().unwrap().classes().unwrap();
        for i in 0..n {
            let y = if classes.codes[i] == 0 { 1.0 } else { -1.0 };
            let (margin, a) = (y * scores[i], y * beta[i]);
            assert!((0.0..=2.0).contains(&a));
            assert!(a < 2.0 || margin < 1.0 + 1e-5, "{i}");
            assert!(a > 0.0 || margin > 1.0 - 1e-5, "{i}");
            assert!(a == 0.0 || a == 2.0 || (margin - 1.0).abs() < 1e-5, "{i}");
        }
    }

    #[test]
    fn what_it_cannot_divide_by_is_told() {
        let rows = Rows::new(vec![1.0, 0.0, -1.0], 3, 1).unwrap();
        let data = Dataset::new(rows).with_target(Target::from_text("y", &["a", "b", "b"])).unwrap();
        let hard = Adatron { c: f64::INFINITY, ..Adatron::default() };
        let said = hard.fit(&linear(), &data).unwrap_err().to_string();
        assert!(said.contains("example 2 with itself is 0") && said.contains("finite c"), "{said}");
        assert!(Adatron::default().fit(&linear(), &data).is_ok());
        // too few passes are said to be too few
        let hurried = Adatron { passes: 1, bias: false, tolerance: 1e-9, ..Adatron::default() };
        let model = hurried.fit(&rbf(0.1), &clouds(60, 2, 0.5)).unwrap();
        assert_eq!(model.fitted.report.status, Status::IterationLimit);
    }
}
