//! AdaBoost, with hard or soft margins.
//!
//! ```text
//! F_t(x) = Σ_{r≤t} b_r h_r(x),  h = ±1,      B_t = Σ_{r≤t} b_r,   ρ_t(i) = y_i F_t(x_i) / B_t
//! round t   h_t learns from the weights w_t, which add up to one;  ε_t = Σ_{h_t(x_i) ≠ y_i} w_t(i)
//! hard      b_t = ½ ln((1 − ε_t)/ε_t)
//! soft      b_t = argmin over b ≥ 0 of Σ_i v_i exp(−B_t (ρ_t(i) + C μ_t(i)^p)),   μ_t(i) = Σ_{r≤t} b_r w_r(i) / B_t
//! weights   w_{t+1}(i) ∝ v_i exp(−B_t (ρ_t(i) + C μ_t(i)^p)),   w_1 = v
//! ```
//! v are the weights of the examples, C is `regularisation` and p is `power`. C = 0 is AdaBoost itself: the line search then
//! has the closed form above. An example that had much weight on average counts as if its margin were larger, so that the
//! ensemble need not fit what is never learned.
//!
//! # Source
//! Freund & Schapire (1997), Figure 2 and Theorem 6 (hard); Rätsch, Onoda & Müller (2001), §4 (soft; their coefficients are
//! twice these, and the exponent has ½).

use super::net::{NetOptions, NetProblem};
use super::stumps::{Best, Sorted};
use super::table::{Table, shares};
use crate::linalg::SolveError;
use crate::linalg::dot;
use crate::machines::evidence::{Evidence, join};
use crate::machines::fitted::each;
use crate::machines::multiclass::{OneVsRest, Reduction, side_by_side};
use crate::machines::{
    Coefficients, Ensemble, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Net, Order, Readout, Reads,
    SolverReport, Stump, Task, Traits, WeightedNet,
};
use crate::parallel;
use crate::params::{Choice, Params, Rule, Visit};
use crate::seed::Seed;
use crate::sources::{FREUND, Source};
use crate::watch::{Monitor, Phase, Progress, Status};
use std::cmp::Ordering;

const NAME: &str = "adaboost";
/// Largest coefficient of a line search: (1 − ε)/ε = exp(20).
const MAX_COEFFICIENT: f64 = 10.0;
/// Points of the first look along the line, and halvings of the bracket around the best of them.
const LOOKS: (usize, usize) = (64, 60);

/// f(x) = Σ_t b_t h_t(x) / Σ_t b_t, h_t = ±1: learners in a row, each on what those before it got wrong
///
/// The learners are decision stumps (one coordinate, one threshold), or networks of radial basis functions taken by their sign
/// (`learner = rbf_network` with its parameters `centres`, `lambda`, `widths`, `steps`). Scores are margins between −1 and 1.
/// Several classes are one against the rest. Rounds end early where a learner is always right, which then is alone, or no
/// better than chance; where already the first network is not, the heavier class is its answer. `regularisation` above zero gives soft margins (AdaBoost-Reg); since the weights of all examples add
/// up to one, it takes effect from about a hundredth of the number of examples on. A method for comparisons, on the
/// coordinates of the linear kernel.
///
/// The report's notes are `error_bound`, Π 2√(ε_t(1 − ε_t)), which the share of wrong training examples does not exceed
/// (the largest of all problems; hard margins only), and `smallest_margin`.
///
/// # Source
/// Freund & Schapire (1997), Figure 2; Rätsch, Onoda & Müller (2001), §4, for soft margins.
///
/// # Use when
/// Another method is to be compared with boosting.
///
/// # Cost
/// Stumps: d n log n once and d n for each round. Networks: one network for each round.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaBoost {
    /// The most rounds.
    pub rounds: usize,
    /// The weak learner of a round.
    pub learner: Learner,
    /// C.
    pub regularisation: f64,
    /// p.
    pub power: f64,
    /// Options of the networks.
    pub net: NetOptions,
}

/// The weak learner of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Learner {
    /// One coordinate and a threshold.
    #[default]
    Stump,
    /// A network of radial basis functions.
    RbfNetwork,
}

impl Choice for Learner {
    fn options(&self) -> &'static [&'static str] {
        &["stump", "rbf_network"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        *self = if position == 0 { Self::Stump } else { Self::RbfNetwork };
    }
}

impl Default for AdaBoost {
    fn default() -> Self {
        Self { rounds: 200, learner: Learner::Stump, regularisation: 0.0, power: 1.0, net: NetOptions::default() }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["boosting"],
    summary: "boosted stumps or networks, with hard or soft margins; for comparisons",
    formula: "f(x) = Σ_t b_t h_t(x) / Σ_t b_t, b_t = ½ ln((1 − ε_t)/ε_t)",
    learns: Learns::Classes,
    source: Source::new(&FREUND, "Figure 2"),
    use_when: "another method is to be compared with boosting",
    cost: "Stumps: d n log n once and d n for each round. Networks: one network for each round.",
    make: || Box::new(AdaBoost::default()),
};

impl Params for AdaBoost {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("rounds", &mut self.rounds, Rule::AtLeast(1.0), "most learners of an ensemble");
        v.choice("learner", &mut self.learner, "what learns in a round: stump or rbf_network");
        let help = "C of soft margins, 0 for hard ones; about a tenth of the number of examples";
        v.real("regularisation", &mut self.regularisation, Rule::AtLeast(0.0), help);
        v.real("power", &mut self.power, Rule::Above(0.0), "p of soft margins, the power of a mean weight");
        self.net.visit(v);
    }
}

impl Machine for AdaBoost {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits {
            reads: Reads::Features,
            weights: true,
            order: match self.learner {
                Learner::Stump => Order::Irrelevant,
                // k means start at examples that are drawn by their places
                Learner::RbfNetwork => Order::Matters,
            },
            regularised_by: &[("lambda", Ordering::Greater)],
            searched: "rounds=10|30|100|300",
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let table = Table::of(NAME, "svc", task, 2)?;
        if u32::try_from(table.n).is_err() {
            let finding = "there are more than 2³² examples; take fewer".to_owned();
            return Err(FitError::Param { machine: NAME, finding });
        }
        // what does not count has no threshold between it and others either
        let shares = shares(NAME, task)?;
        let counted: Vec<usize> = (0..table.n).filter(|&i| shares[i] > 0.0).collect();
        let weights: Vec<f64> = counted.iter().map(|&i| shares[i] / table.n as f64).collect();
        let table = if counted.len() < table.n { table.select(&counted) } else { table };
        let sorted = (self.learner == Learner::Stump).then(|| Sorted::of(&table));
        let rest = OneVsRest::new(&classes);
        let boosted = side_by_side(&rest, |problem| {
            let signs = problem.among(&counted).signs;
            let seed = Seed(task.seed.0.wrapping_add(problem.first as u64));
            let problem =
                Problem { machine: self, table: &table, sorted: sorted.as_ref(), signs: &signs, prior: &weights };
            problem.boost(seed, watch).map_err(|error| FitError::Solve { machine: NAME, error })
        })?;
        if boosted.iter().all(|b| b.members.is_empty()) {
            let finding = "no learner is better than chance on these examples; try learner = rbf_network, or svc";
            return Err(FitError::Param { machine: NAME, finding: finding.to_owned() });
        }
        Ok(self.join(table, boosted, rest.readout()))
    }
}

impl AdaBoost {
    /// The ensembles of all problems as one.
    fn join(&self, table: Table, boosted: Vec<Boosted>, readout: Readout) -> Fitted {
        let rounds = |b: &Boosted| b.members.len();
        let evidence: Vec<Evidence> = boosted.iter().map(|b| Evidence::new(b.status, rounds(b))).collect();
        let mut notes = vec![(
            "smallest_margin".to_owned(),
            boosted.iter().map(|b| b.smallest_margin).fold(f64::INFINITY, f64::min),
        )];
        if self.regularisation == 0.0 {
            notes.push(("error_bound".to_owned(), boosted.iter().map(|b| b.bound).fold(0.0, f64::max)));
        }
        let report = SolverReport {
            iterations_of_each: each(boosted.iter().map(rounds)),
            storage: "explicit features, no kernel matrix".to_owned(),
            notes,
            ..join(&evidence)
        };
        let mut offsets = vec![0.0; boosted.len()];
        let mut ensemble = Ensemble { width: table.width, used: table.used, ..Ensemble::default() };
        for (output, boosted) in boosted.into_iter().enumerate() {
            let sum: f64 = boosted.members.iter().map(|m| m.0).sum();
            for (b, member) in boosted.members {
                let vote = b / sum;
                match member {
                    Member::Stump(Best { cut: Some((coordinate, threshold)), sign }) => {
                        ensemble.stumps.push(Stump { output, coordinate, threshold, vote: vote * sign });
                    }
                    // the same answer for all
                    Member::Stump(Best { cut: None, sign }) => offsets[output] += vote * sign,
                    Member::Net(net) => ensemble.nets.push(WeightedNet { output, vote: Some(vote), net }),
                }
            }
        }
        Fitted::new(Expansion { coefficients: Coefficients::Ensemble(ensemble), offsets }, readout, report)
    }
}

/// A learner of a round.
enum Member {
    Stump(Best),
    Net(Net),
}

/// The ensemble of one problem.
struct Boosted {
    /// b_t and h_t.
    members: Vec<(f64, Member)>,
    /// Π 2√(ε(1 − ε)).
    bound: f64,
    smallest_margin: f64,
    status: Status,
}

/// One class against the rest.
struct Problem<'a> {
    machine: &'a AdaBoost,
    table: &'a Table,
    sorted: Option<&'a Sorted>,
    signs: &'a [f64],
    /// v, each above zero, which add up to one.
    prior: &'a [f64],
}

impl Problem<'_> {
    /// y_i h(x_i).
    fn right(&self, says: &[f64]) -> Vec<f64> {
        self.signs.iter().zip(says).map(|(y, h)| y * h).collect()
    }

    fn boost(&self, seed: Seed, watch: &dyn Monitor) -> Result<Boosted, SolveError> {
        let mut random = seed.stream("boosting");
        let mut state = State::new(self.prior, self.machine);
        let mut boosted = Boosted { members: Vec::new(), bound: 1.0, smallest_margin: 0.0, status: Status::Converged };
        for round in 0..self.machine.rounds {
            let progress = Progress::new(Phase::new("boosting"), round).of(self.machine.rounds);
            if let Err(reason) = watch.alive(progress) {
                if boosted.members.is_empty() {
                    return Err(SolveError::Stopped { reason });
                }
                boosted.status = reason.into();
                break;
            }
            let (member, says) = if let Some(sorted) = self.sorted {
                let best = sorted.best(&state.weights, self.signs);
                (Member::Stump(best), (0..self.table.n).map(|i| best.says(self.table.row(i))).collect())
            } else {
                let lesson = NetProblem { table: self.table, targets: self.signs, outputs: 1, weights: &state.weights };
                let taught = lesson.learn(&self.machine.net, &mut random, watch)?;
                // as the ensemble will: only what is above zero is on the one side
                let says: Vec<f64> = taught.values.iter().map(|&f| if f > 0.0 { 1.0 } else { -1.0 }).collect();
                (Member::Net(taught.net), says)
            };
            let (mut member, mut right) = (member, self.right(&says));
            let mut error = state.error(&right);
            if error >= 0.5 && boosted.members.is_empty() {
                // the least squares of a small network need not be right more often than the heavier class
                let heavier = dot(&state.weights, self.signs).signum();
                right = self.right(&vec![heavier; self.signs.len()]);
                (member, error) = (Member::Stump(Best { cut: None, sign: heavier }), state.error(&right));
            }
            if error <= 0.0 {
                // ½ ln(1/0) is infinite: it decides alone
                return Ok(Boosted { members: vec![(1.0, member)], bound: 0.0, smallest_margin: 1.0, ..boosted });
            }
            let Some(b) = state.coefficient(error, &right) else { break };
            state.add(b, &right);
            boosted.bound *= 2.0 * (error * (1.0 - error)).sqrt();
            boosted.members.push((b, member));
        }
        if !boosted.members.is_empty() {
            boosted.smallest_margin = state.sums.iter().map(|s| s / state.total).fold(f64::INFINITY, f64::min);
        }
        Ok(boosted)
    }
}

/// Weights, margins and mean weights between rounds.
struct State<'a> {
    prior: &'a [f64],
    /// w_t.
    weights: Vec<f64>,
    /// y_i F_t(x_i) = B ρ.
    sums: Vec<f64>,
    /// Σ_r b_r w_r(i) = B μ.
    influence: Vec<f64>,
    /// B.
    total: f64,
    /// C and p.
    soft: (f64, f64),
}

impl<'a> State<'a> {
    fn new(prior: &'a [f64], machine: &AdaBoost) -> Self {
        let n = prior.len();
        let soft = (machine.regularisation, machine.power);
        Self { prior, weights: prior.to_vec(), sums: vec![0.0; n], influence: vec![0.0; n], total: 0.0, soft }
    }

    /// B (ρ + C μ^p) of an example after a learner with coefficient b that says `right`.
    fn soft_margin(&self, i: usize, b: f64, right: f64) -> f64 {
        let (price, power) = self.soft;
        let (sum, total) = (self.sums[i] + b * right, self.total + b);
        if price == 0.0 || total == 0.0 {
            return sum;
        }
        let mean = (self.influence[i] + b * self.weights[i]) / total;
        // the usual power costs no logarithm
        sum + total * price * if power == 1.0 { mean } else { mean.powf(power) }
    }

    /// ε_t of a learner that says `right`.
    fn error(&self, right: &[f64]) -> f64 {
        self.weights.iter().zip(right).filter(|(_, r)| **r < 0.0).map(|(w, _)| w).sum()
    }

    /// b_t; `None` where the learner brings nothing.
    fn coefficient(&self, error: f64, right: &[f64]) -> Option<f64> {
        if error >= 0.5 {
            return None;
        }
        let hard = 0.5 * ((1.0 - error) / error).ln();
        let b = if self.soft.0 == 0.0 { hard } else { self.search(right) };
        (b > 0.0 && b.is_finite()).then_some(b)
    }

    /// The least Σ v exp(−B(ρ + Cμ^p)) along b: the best of a grid, then golden section around it.
    fn search(&self, right: &[f64]) -> f64 {
        // the logarithm, which does not overflow
        let value = |b: f64| {
            let exponents: Vec<f64> = (0..right.len()).map(|i| -self.soft_margin(i, b, right[i])).collect();
            let top = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            top + exponents.iter().zip(self.prior).map(|(e, v)| v * (e - top).exp()).sum::<f64>().ln()
        };
        // finer near zero, where most coefficients are
        let place = |k: usize| MAX_COEFFICIENT * (k as f64 / LOOKS.0 as f64).powi(2);
        let looks: Vec<f64> = parallel::map(LOOKS.0 + 1, |k| value(place(k)));
        let best = (0..=LOOKS.0).fold(0, |best, k| if looks[k] < looks[best] { k } else { best });
        let (mut low, mut high) = (place(best.saturating_sub(1)), place((best + 1).min(LOOKS.0)));
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
        let (mut at_a, mut at_b) = (value(a), value(b));
        for _ in 0..LOOKS.1 {
            // of the two points inside one stays inside
            if at_a <= at_b {
                (high, b, at_b) = (b, a, at_a);
                a = high - golden * (high - low);
                at_a = value(a);
            } else {
                (low, a, at_a) = (a, b, at_b);
                b = low + golden * (high - low);
                at_b = value(b);
            }
        }
        let found = 0.5 * (low + high);
        // the ends of the line are not inside the bracket
        if value(found) < looks[best] { found } else { place(best) }
    }

    /// Takes a learner in and weighs the examples anew.
    fn add(&mut self, b: f64, right: &[f64]) {
        let margins: Vec<f64> = (0..right.len()).map(|i| self.soft_margin(i, b, right[i])).collect();
        for (i, r) in right.iter().enumerate() {
            self.influence[i] += b * self.weights[i];
            self.sums[i] += b * r;
        }
        self.total += b;
        let least = margins.iter().copied().fold(f64::INFINITY, f64::min);
        let raw: Vec<f64> = margins.iter().zip(self.prior).map(|(m, v)| v * (least - m).exp()).collect();
        let sum: f64 = raw.iter().sum();
        self.weights = raw.into_iter().map(|w| w / sum).collect();
    }
}

#[cfg(test)]
#[path = "adaboost_tests.rs"]
mod tests;
