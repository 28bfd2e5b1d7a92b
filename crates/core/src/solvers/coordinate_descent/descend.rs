//! Passes over the examples, for problems side by side.

use super::design::Rows;
use super::free_variables::solve_free_variables;
use super::{DescentOptions, LinearSolution, Loss, Verdict};
use crate::seed::Random;
use crate::vectorise::{Loops, vectorised};
use crate::watch::{Monitor, Phase, Progress, Status};

/// Passes before free variables are settled together for the first time.
const SETTLE_AFTER: usize = 8;

/// Examples between two looks at the monitor: some tens of microseconds of text, a few milliseconds of the widest rows.
const WATCH_EVERY: usize = 256;

/// An example rests if its violation is below this share of the violation of the last pass.
const REST_SHARE: f64 = 0.1;

/// Longest rest, in passes: 2ᵏ − 1. On text 7 was as good as 3 or better.
const MAX_REST: u8 = 7;

/// Passes that an example is not visited in: none at first, and twice as many and one each time it is found calm again.
/// Late passes are then spent on those that still move (Glasmachers & Dogan, 2013, visit them by their progress).
#[derive(Clone, Copy, Default)]
struct Rest {
    left: u8,
    length: u8,
}

/// The state of a group of problems.
struct State<L, const B: usize> {
    loss: L,
    /// w, the weights of a coordinate for all problems side by side.
    weights: Vec<[f64; B]>,
    /// Examples that take part: first those that some problem has not left aside, `active` of them.
    order: Vec<u32>,
    active: usize,
    /// The problems that have not left an example aside, a bit for each.
    wanted: Vec<u8>,
    /// Number of examples that each problem has not left aside.
    left: [usize; B],
    rests: Vec<Rest>,
    /// Violations below this are calm.
    calm: [f64; B],
    /// Examples visited in this pass, and how many of them moved.
    visited: usize,
    moved: usize,
}

pub(super) fn descend<R: Rows, L: Loss, const B: usize>(
    rows: &R,
    loss: L,
    count: usize,
    costs: &[f64],
    options: &DescentOptions,
    watch: &dyn Monitor,
) -> Vec<LinearSolution> {
    let mut random = options.seed.stream("coordinate descent");
    let order: Vec<u32> = (0..costs.len() as u32).filter(|&i| costs[i as usize] > 0.0).collect();
    let n = order.len();
    let weights = vectorised(Gather { rows, loss: &loss, order: &order, count });
    let mut state: State<L, B> = State {
        loss,
        weights,
        order,
        active: n,
        wanted: vec![all(count); costs.len()],
        left: [n; B],
        rests: vec![Rest::default(); costs.len()],
        calm: [0.0; B],
        visited: 0,
        moved: 0,
    };
    // the end of each problem, once it has come
    let mut ends: [Option<(usize, Status)>; B] = [None; B];
    let (mut work, mut passes, mut gap) = (0.0, 0, f64::MAX);
    let mut settled = SETTLE_AFTER;
    'passes: while ends[..count].iter().any(Option::is_none) {
        let begun = state.active;
        shuffle(&mut state.order[..begun], &mut random);
        let mut at = 0;
        while at < state.active {
            let progress = Progress::new(Phase::new("coordinate descent"), passes).gap(gap);
            if let Err(stop) = watch.alive(progress) {
                ends.iter_mut().for_each(|end| *end = end.or(Some((passes, stop.into()))));
                break 'passes;
            }
            at = vectorised(Sweep { rows, state: &mut state, at, until: at + WATCH_EVERY });
        }
        // a pass counts as the part of the examples that it visited
        let (visited, moved) = (std::mem::take(&mut state.visited), std::mem::take(&mut state.moved));
        let rested = visited < begun;
        work += visited as f64 / begun.max(1) as f64;
        passes = work.ceil() as usize;
        gap = 0.0;
        let mut rouse = false;
        for b in 0..count {
            if ends[b].is_none() {
                match state.loss.end(b, state.left[b] == n && !rested, options.tolerance) {
                    // what nothing can improve any more is the end, whatever the tolerance says
                    Verdict::GoOn(_) if L::EXACT_STEPS && moved == 0 && !rested && state.left[b] == n => {
                        ends[b] = Some((passes, Status::Converged));
                        state.want(b, false);
                    }
                    Verdict::GoOn(violation) => {
                        gap = violation.max(gap);
                        state.calm[b] = REST_SHARE * violation;
                    }
                    Verdict::TakeAll if rested => rouse = true,
                    Verdict::TakeAll => state.want(b, true),
                    Verdict::Done => {
                        ends[b] = Some((passes, Status::Converged));
                        state.want(b, false);
                    }
                }
            }
        }
        if rouse {
            state.rests.fill(Rest::default());
        }
        if passes >= settled {
            // less and less often, and with no more work than the passes before
            let work = n.saturating_mul(rows.width()).saturating_mul(passes / 2);
            settled = 2 * passes;
            for b in (0..count).filter(|&b| ends[b].is_none()) {
                solve_free_variables(rows, &mut state.loss, &state.order, &mut state.weights, b, work);
            }
        }
        if options.max_iterations > 0 && passes >= options.max_iterations {
            ends.iter_mut().for_each(|end| *end = end.or(Some((passes, Status::IterationLimit))));
        }
    }
    let ends: Vec<(usize, Status)> =
        ends[..count].iter().map(|end| end.unwrap_or((passes, Status::Converged))).collect();
    finish::<R, L, B>(rows, &state.loss, state.order, costs.len(), &ends)
}

/// A bit for each of so many problems.
fn all(count: usize) -> u8 {
    u8::MAX >> (8 - count)
}

impl<L, const B: usize> State<L, B> {
    /// All examples are of interest to a problem again, or none is.
    fn want(&mut self, b: usize, wanted: bool) {
        let bit = 1 << b;
        self.wanted.iter_mut().for_each(|w| *w = if wanted { *w | bit } else { *w & !bit });
        if wanted {
            (self.active, self.left[b]) = (self.order.len(), self.order.len());
        }
    }
}

/// Fisher and Yates, by a product without rejection: its bias of n/2³² is of no matter here, its speed is.
fn shuffle(order: &mut [u32], random: &mut Random) {
    for i in (1..order.len()).rev() {
        let other = ((random.bits() >> 32) * (i as u64 + 1)) >> 32;
        order.swap(i, other as usize);
    }
}

/// A part of a pass; tells where it stands.
struct Sweep<'a, R, L, const B: usize> {
    rows: &'a R,
    state: &'a mut State<L, B>,
    at: usize,
    until: usize,
}

impl<R: Rows, L: Loss, const B: usize> Loops for Sweep<'_, R, L, B> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let State { loss, weights, order, active, wanted, left, rests, calm, visited, moved: movers } = self.state;
        let mut at = self.at;
        while at < (*active).min(self.until) {
            let i = order[at] as usize;
            if rests[i].left > 0 {
                rests[i].left -= 1;
                at += 1;
                continue;
            }
            *visited += 1;
            let mut bits = wanted[i];
            if bits != 0 {
                let scores = self.rows.dot(i, weights);
                let (mut steps, mut moved, mut busy) = ([0.0; B], false, false);
                for b in 0..B {
                    if bits & (1 << b) == 0 {
                        continue;
                    }
                    match loss.step(i, b, scores[b]) {
                        Some((change, violation)) => {
                            steps[b] = change;
                            busy |= violation >= calm[b];
                            moved |= change != 0.0;
                        }
                        None => {
                            bits &= !(1 << b);
                            left[b] -= 1;
                        }
                    }
                }
                *movers += usize::from(moved);
                if moved {
                    self.rows.add(i, steps, weights);
                }
                wanted[i] = bits;
                let length = if busy { 0 } else { (2 * rests[i].length + 1).min(MAX_REST) };
                rests[i] = Rest { left: length, length };
            }
            if bits == 0 {
                *active -= 1;
                order.swap(at, *active);
            } else {
                at += 1;
            }
        }
        at
    }
}

/// w = Σ c_i x_i.
struct Gather<'a, R, L, const B: usize> {
    rows: &'a R,
    loss: &'a L,
    order: &'a [u32],
    count: usize,
}

impl<R: Rows, L: Loss, const B: usize> Loops for Gather<'_, R, L, B> {
    type Output = Vec<[f64; B]>;

    #[inline(always)]
    fn run(self) -> Vec<[f64; B]> {
        let mut weights = vec![[0.0; B]; self.rows.width()];
        for &i in self.order {
            let mut steps = [0.0; B];
            for b in 0..self.count {
                steps[b] = self.loss.coefficient(i as usize, b);
            }
            if steps.iter().any(|&c| c != 0.0) {
                self.rows.add(i as usize, steps, &mut weights);
            }
        }
        weights
    }
}

/// Sums over the examples of one problem: Σ C ℓ, the dual's sum, and the largest violation.
type Sums = (f64, f64, f64);

struct Judge<'a, R, L, const B: usize> {
    rows: &'a R,
    loss: &'a L,
    order: &'a [u32],
    count: usize,
    weights: &'a [[f64; B]],
}

impl<R: Rows, L: Loss, const B: usize> Loops for Judge<'_, R, L, B> {
    type Output = [Sums; B];

    #[inline(always)]
    fn run(self) -> [Sums; B] {
        let mut all = [(0.0, 0.0, 0.0); B];
        for &i in self.order {
            let i = i as usize;
            let scores = self.rows.dot(i, self.weights);
            for b in 0..self.count {
                let (primal, dual, violation): &mut Sums = &mut all[b];
                *primal += self.loss.primal(i, b, scores[b]);
                *dual += self.loss.dual(i, b);
                *violation = violation.max(self.loss.violation(i, b, scores[b]));
            }
        }
        all
    }
}

/// The evidence, from the dual variables alone: w as the steps left it carries the rounding of all of them.
fn finish<R: Rows, L: Loss, const B: usize>(
    rows: &R,
    loss: &L,
    mut order: Vec<u32>,
    n: usize,
    ends: &[(usize, Status)],
) -> Vec<LinearSolution> {
    order.sort_unstable();
    let (order, count) = (&order, ends.len());
    let weights: Vec<[f64; B]> = vectorised(Gather { rows, loss, order, count });
    let sums = vectorised(Judge { rows, loss, order, count, weights: &weights });
    let solution = |(b, (&(iterations, status), (primal, dual, violation))): (usize, (&(usize, Status), Sums))| {
        let weights: Vec<f64> = weights.iter().map(|w| w[b]).collect();
        let half_square = 0.5 * weights.iter().map(|w| w * w).sum::<f64>();
        let mut coefficients = vec![0.0; n];
        order.iter().for_each(|&i| coefficients[i as usize] = loss.coefficient(i as usize, b));
        LinearSolution {
            weights,
            coefficients,
            primal: half_square + primal,
            dual: dual - half_square,
            violation,
            iterations,
            status,
        }
    };
    ends.iter().zip(sums).enumerate().map(solution).collect()
}
