//! The run of one thread through sequential minimal optimisation: the loop of steps, and the messages to the other threads.
//!
//! With heights h_t = s_t (minus or plus ε where |β| has its bend), a variable that may rise and one that may fall violate the
//! conditions of optimality if h_i > h_j. A step maximises the objective over the line β_i + λ, β_j − λ:
//! ```text
//! λ = (h_i − h_j) / (K_ii + D_ii + K_jj + D_jj − 2 K_ij), cut off at the bounds;      s ← s − λ (K_i − K_j)
//! ```
//! i has the largest height of all that may rise, j the largest gain (h_i − h_j)² / curvature of all that may fall.
//!
//! # Source
//! Platt (1998), Sequential minimal optimization; Keerthi, Shevade, Bhattacharyya & Murthy (2001), Improvements to Platt's SMO
//! algorithm: violation as the difference of two heights; Fan, Chen & Lin (2005): the choice of the pair (WSS 2).

use super::level::{Level, Way};
use super::passes::{self, Extreme, Extremes, Move, NOWHERE, Partner, Reading};
use super::shrink::Shrunk;
use super::team::{Member, WORDS};
use super::{Equality, Problem, SmoOptions};
use crate::linalg::SolveError;
use crate::watch::{Monitor, Phase, Progress, Sign, Status, Stop};
use std::ops::ControlFlow;

/// A problem on its way: all variables, or those that shrinking has left, for which the one before it waits.
pub(super) struct Stage {
    pub(super) level: Level,
    /// The violation at which it is left.
    tolerance: f64,
    /// Number of problems that it was shrunk from.
    pub(super) depth: usize,
    /// Steps since shrinking was tried.
    since: usize,
    /// The extremes of the present state; none where it has changed otherwise than by a step.
    found: Option<Extremes>,
    /// True if its last step was not taken for want of a row, and is to be taken now.
    again: bool,
    /// The place in the one before it; none for the first.
    pub(super) shrunk: Option<Shrunk>,
}

impl Stage {
    pub(super) fn new(level: Level, tolerance: f64, depth: usize) -> Self {
        Self { level, tolerance, depth, since: 0, found: None, again: false, shrunk: None }
    }

    /// A smaller problem, with its place in the one before it.
    pub(super) fn within(self, shrunk: Shrunk) -> Self {
        Self { shrunk: Some(shrunk), ..self }
    }
}

/// One thread's run through a problem.
pub(super) struct Run<'a> {
    pub(super) member: Member<'a>,
    watch: &'a dyn Monitor,
    sign: Sign,
    pub(super) reading: Reading,
    pub(super) equality: Equality,
    limit: usize,
    pub(super) iterations: usize,
    /// Rows and entries of K that were computed.
    pub(super) rows: usize,
    pub(super) evaluations: u64,
    /// The reason of an early end, if there was one.
    pub(super) status: Option<Status>,
    pub(super) whole: bool,
    pub(super) returns: usize,
    /// True if somebody else computes rows: a step that needs one that is not kept is not taken.
    pub(super) waits_for_rows: bool,
    /// The row that was waited for.
    pub(super) missing: Option<usize>,
    /// The phase of the work, for the monitor.
    pub(super) phase: Phase,
    pub(super) shrinking: Shrinking,
}

/// The time at which a problem is shrunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shrinking {
    /// After some steps.
    InTime,
    /// Before the first step, and then after some.
    AtOnce,
    /// Never: all rows were computed beforehand, and shrinking, which would lose them, costs more than it gains.
    Never,
}

/// Smallest number of columns of a wide problem, whose passes cost so much that shrinking is tried early.
const MIN_WIDE_COLUMNS: usize = 8192;
/// Largest number of steps before shrinking is tried in a wide problem, and in every problem that came of shrinking.
const STEPS_BEFORE_SHRINKING_WIDE: usize = 400;
/// Smallest number of steps before shrinking is tried in other problems, which are mostly solved before packing would
/// pay.
const MIN_STEPS_BEFORE_SHRINKING: usize = 1000;

/// The pair of a step: the variable that rises, the one that falls, and the numbers that give the step its length.
#[derive(Clone, Copy)]
struct Pair {
    i: usize,
    j: usize,
    /// Height of i minus height of j.
    difference: f64,
    /// K_ij.
    between: f64,
}

impl<'a> Run<'a> {
    pub(super) fn new(member: Member<'a>, problem: &Problem<'_>, options: &SmoOptions, watch: &'a dyn Monitor) -> Self {
        let reading = match problem.equality {
            Equality::Signs => Reading::Grouped,
            _ if problem.epsilon > 0.0 => Reading::Bent(problem.epsilon),
            _ => Reading::Plain,
        };
        let limit = match options.max_iterations {
            0 => problem.linear.len().saturating_mul(100).max(10_000_000),
            given => given,
        };
        Self {
            member,
            watch,
            sign: watch.sign(),
            reading,
            equality: problem.equality,
            limit,
            iterations: 0,
            rows: 0,
            evaluations: 0,
            status: None,
            whole: true,
            returns: 0,
            waits_for_rows: false,
            missing: None,
            phase: Phase::keeping("smo"),
            shrinking: Shrinking::InTime,
        }
    }

    /// Puts a level at the start of its problem: s = c − (K + D)β of the given β.
    pub(super) fn start(&mut self, problem: &Problem<'_>, level: &mut Level) -> Result<(), SolveError> {
        if let Some(start) = problem.start {
            level.v.plus.copy_from_slice(&start.plus);
            level.v.minus.copy_from_slice(&start.minus);
            if let Some(known) = &start.known {
                if known.nearly_solved {
                    self.shrinking = Shrinking::AtOnce;
                }
                // what is shrunk from a solution is solved as sharply as what comes back once more
                self.returns += usize::from(known.nearly_solved);
                let part = level.part.clone();
                level.s[..part.len()].copy_from_slice(&known.state[part]);
                level.mark_all(self.reading);
                return Ok(());
            }
            let beta = |t: usize| start.plus[t] + start.minus[t];
            let moved: Vec<(usize, f64)> =
                (0..level.len()).map(|t| (t, beta(t))).filter(|&(_, beta)| beta != 0.0).collect();
            for &(t, beta) in &moved {
                if let Some(place) = level.local(t) {
                    level.s[place] -= level.v.ridge(t) * beta;
                }
            }
            self.absorb(level, &moved);
        }
        level.mark_all(self.reading);
        Ok(())
    }

    /// The violation and the group that has it.
    pub(super) fn violation(&self, found: &Extremes) -> (f64, usize) {
        match self.equality {
            // the height that all must agree on is zero
            Equality::None => (found.top[0].value.max(-found.bottom[0].value), 0),
            Equality::Sum => (found.top[0].value - found.bottom[0].value, 0),
            Equality::Signs => {
                let of = |g: usize| found.top[g].value - found.bottom[g].value;
                if of(1) > of(0) { (of(1), 1) } else { (of(0), 0) }
            }
        }
    }

    /// Steps until the violation is below the tolerance, or there is a reason to stop; the level and its extremes at the end.
    pub(super) fn descend(
        &mut self,
        level: Level,
        tolerance: f64,
        depth: usize,
    ) -> Result<(Level, Extremes), SolveError> {
        let mut stages = vec![Stage::new(level, tolerance, depth)];
        loop {
            if let Some(done) = self.advance(&mut stages)? {
                return Ok(done);
            }
            if let (Some(row), Some(stage)) = (self.missing.take(), stages.last_mut()) {
                stage.level.slots().compute(&[row]);
                self.count_rows(&stage.level, 1);
            }
        }
    }

    /// Steps as [`Run::descend`] takes them, up to the end of the first stage, or to a row that is missing: then nothing.
    pub(super) fn advance(&mut self, stages: &mut Vec<Stage>) -> Result<Option<(Level, Extremes)>, SolveError> {
        loop {
            let Some(stage) = stages.last_mut() else { unreachable!("the first stage leaves with its result") };
            let (level, depth, tolerance) = (&mut stage.level, stage.depth, stage.tolerance);
            let period = match (depth, level.len()) {
                (0, ..MIN_WIDE_COLUMNS) => level.len().max(MIN_STEPS_BEFORE_SHRINKING),
                _ => level.len().min(STEPS_BEFORE_SHRINKING_WIDE),
            };
            let found = match stage.found.take() {
                Some(found) => found,
                None => self.update(level, None),
            };
            if !found.finite {
                return Err(SolveError::NotFinite { row: 1, column: 1 });
            }
            let (violation, group) = self.violation(&found);
            // −∞ when nothing may rise or nothing may fall
            let solved = violation < tolerance || self.status.is_some();
            if solved || self.iterations >= self.limit {
                if !solved {
                    self.status = Some(Status::IterationLimit);
                }
                let Some(Stage { level, shrunk, .. }) = stages.pop() else { unreachable!("it was the last one") };
                let (Some(shrunk), Some(before)) = (shrunk, stages.last_mut()) else {
                    return Ok(Some((level, found)));
                };
                self.bring_back(&mut before.level, level, shrunk);
                // the problem that came back is nearly solved: it is shrunk again at once
                before.since = usize::MAX - 1;
                continue;
            }
            // a step that is taken again is not counted twice
            stage.since += usize::from(!std::mem::take(&mut stage.again));
            if stage.since > period || self.shrinking == Shrinking::AtOnce {
                stage.since = 0;
                if self.shrinking == Shrinking::AtOnce {
                    self.shrinking = Shrinking::InTime;
                }
                if let Some(smaller) = self.shrink(level, &found, tolerance, depth)? {
                    stages.push(smaller);
                    continue;
                }
            }
            let next = if self.equality == Equality::None {
                self.single_step(level, &found)
            } else {
                self.pair_step(level, &found, group)?
            };
            stage.found = Some(next);
            if self.missing.is_some() {
                stage.again = true;
                return Ok(None);
            }
            self.iterations += 1;
        }
    }

    /// WSS 2: i is the maximal violator, j the best partner among those that may fall from below it.
    fn pair_step(&mut self, level: &mut Level, found: &Extremes, group: usize) -> Result<Extremes, SolveError> {
        // i: the maximal violator among those that may rise
        let i = found.top[group].index;
        let Some(slot) = self.fetch(level, i) else { return Ok(*found) };
        // j: the largest gain of second order among those that may fall
        let pair = self.choose(level, found.top[group], group, slot);
        if pair.j == NOWHERE {
            // in f32 no height of those that may fall is below that of i: the violation is rounding
            self.status = Some(Status::Converged);
            return Ok(*found);
        }
        let Pair { i, j, difference, between } = pair;
        let Some(slot_j) = self.fetch(level, j) else { return Ok(*found) };
        let slot_i = level.slots().touch(i);
        let v = &level.v;
        // the unconstrained maximum along the line, cut off at the nearer of the two bounds
        let curvature = v.own[i] + v.ridge(i) + v.own[j] + v.ridge(j) - 2.0 * between;
        let (room_i, room_j) = (v.room(i, Way::Rise, self.reading, group), v.room(j, Way::Fall, self.reading, group));
        let coincide = curvature <= 1e-7 * (v.own[i] + v.own[j]);
        let endless = coincide && room_i.is_infinite() && room_j.is_infinite();
        let step = (difference / curvature.max(level.floor)).min(room_i).min(room_j);
        // hard margins: examples of two classes that coincide, or multipliers that grow without end, prove that nothing separates
        if endless || (room_i.is_infinite() && (v.plus[i].abs() + step) * v.own[i] > 1e12) {
            return Err(SolveError::Inseparable);
        }
        if coincide && level.v.ridge.is_empty() && self.settle_copies(level, i, group, slot_i) {
            return Ok(self.update(level, None));
        }
        level.v.shift(i, Way::Rise, self.reading, group, step, step >= room_i);
        level.v.shift(j, Way::Fall, self.reading, group, step, step >= room_j);
        level.mark(i, self.reading);
        level.mark(j, self.reading);
        for (t, change) in [(i, step), (j, -step)] {
            if let (Some(place), false) = (level.local(t), level.v.ridge.is_empty()) {
                level.s[place] -= change * level.v.ridge(t);
            }
        }
        Ok(self.update(level, Some((step, slot_i, step, slot_j))))
    }

    /// A step without equality constraints: the worst violator t moves alone, by h_t / (K_tt + D_tt), cut off at its bound.
    fn single_step(&mut self, level: &mut Level, found: &Extremes) -> Extremes {
        let (top, bottom) = (found.top[0], found.bottom[0]);
        let (t, height, way) = if top.value >= -bottom.value {
            (top.index, top.value, Way::Rise)
        } else {
            (bottom.index, -bottom.value, Way::Fall)
        };
        let Some(slot) = self.fetch(level, t) else { return *found };
        let room = level.v.room(t, way, self.reading, 0);
        let step = (height / (level.v.own[t] + level.v.ridge(t)).max(level.floor)).min(room);
        level.v.shift(t, way, self.reading, 0, step, step >= room);
        level.mark(t, self.reading);
        let change = if way == Way::Rise { step } else { -step };
        if let (Some(place), false) = (level.local(t), level.v.ridge.is_empty()) {
            level.s[place] -= change * level.v.ridge(t);
        }
        self.update(level, Some((change, slot, 0.0, slot)))
    }

    /// Takes a step (how much to raise the row of which slot, how much to lower which), finds the extremes of this part
    /// and joins them with those of the others.
    pub(super) fn update(&mut self, level: &mut Level, step: Option<(f64, usize, f64, usize)>) -> Extremes {
        let reading = self.reading;
        let mut s = std::mem::take(&mut level.s);
        let moved = step.map(|(up, slot_up, down, slot_down)| {
            let slots = level.kept();
            Move { up, row_up: slots.values(slot_up), down, row_down: slots.values(slot_down) }
        });
        let local = passes::update(&mut s, &level.marks, reading, moved);
        level.s = s;
        let gap = self.violation(&local).0;
        let stop = if self.member.leads() { self.look(level.len(), gap) } else { 0 };
        let groups = if reading == Reading::Grouped { 2 } else { 1 };
        let first = level.part.start;
        let mut words = [0; WORDS];
        (words[0], words[1]) = (u64::from(local.finite), stop);
        for group in 0..groups {
            for (k, extreme) in [local.top[group], local.bottom[group]].into_iter().enumerate() {
                let index = if extreme.index == NOWHERE { NOWHERE } else { extreme.index + first };
                words[2 + 4 * group + 2 * k] = extreme.value.to_bits();
                words[3 + 4 * group + 2 * k] = index as u64;
            }
        }
        let mut found = Extremes {
            top: [Extreme { value: f64::NEG_INFINITY, index: NOWHERE }; 2],
            bottom: [Extreme { value: f64::INFINITY, index: NOWHERE }; 2],
            finite: true,
        };
        let mut stop = 0;
        self.member.exchange(words, |_, words| {
            found.finite &= words[0] != 0;
            stop |= words[1];
            for group in 0..groups {
                let read = |k: usize| Extreme {
                    value: f64::from_bits(words[2 + 4 * group + 2 * k]),
                    index: words[3 + 4 * group + 2 * k] as usize,
                };
                // members come in the order of their columns, so strict comparisons leave ties to the lowest index
                if read(0).value > found.top[group].value {
                    found.top[group] = read(0);
                }
                if read(1).value < found.bottom[group].value {
                    found.bottom[group] = read(1);
                }
            }
        });
        self.heed(stop);
        found
    }

    /// The leader's look at the monitor, at most every few milliseconds of work: 0, or 1 + the reason to stop.
    fn look(&mut self, width: usize, gap: f64) -> u64 {
        let every = ((1 << 21) / width.max(1)).clamp(1, 256);
        if !self.iterations.is_multiple_of(every) {
            return 0;
        }
        let progress = Progress::new(self.phase, self.iterations).gap(gap);
        match self.watch.step(&progress) {
            ControlFlow::Break(Stop::Interrupted) => 1,
            ControlFlow::Break(Stop::TimeLimit) => 2,
            ControlFlow::Continue(()) => 0,
        }
    }

    fn heed(&mut self, stop: u64) {
        let reason = match stop {
            0 => return,
            1 | 3 => Stop::Interrupted,
            _ => Stop::TimeLimit,
        };
        self.status = Some(reason.into());
    }

    /// True if a row was given up half done, on any member: the step is not taken, and the solution before it is the result. Rows that
    /// are cheap are never given up.
    fn gave_up(&mut self, level: &Level) -> bool {
        if !(self.sign.is_set() && level.kept().columns().gram.rows_are_expensive()) {
            return false;
        }
        let mut words = [0; WORDS];
        words[0] = match self.sign.broken() {
            None => 0,
            Some(Stop::Interrupted) => 1,
            Some(Stop::TimeLimit) => 2,
        };
        let mut stop = 0;
        self.member.exchange(words, |_, words| stop |= words[0]);
        self.heed(stop);
        stop != 0
    }

    /// A look at the monitor between two long pieces of work; whether to stop.
    pub(super) fn ask(&mut self, width: usize, gap: Option<f64>) -> bool {
        let mut words = [0; WORDS];
        if self.member.leads() {
            let iterations = std::mem::replace(&mut self.iterations, 0);
            words[0] = self.look(width, gap.unwrap_or(f64::INFINITY));
            self.iterations = iterations;
        }
        let mut stop = 0;
        self.member.exchange(words, |_, words| stop |= words[0]);
        self.heed(stop);
        if stop != 0 {
            self.whole = false;
        }
        stop != 0
    }

    /// The best partner of i over all parts.
    fn choose(&mut self, level: &mut Level, top: Extreme, group: usize, slot: usize) -> Pair {
        let own = level.v.own[top.index] as f32;
        let floor = (level.floor * 1e6) as f32;
        let owns = std::mem::take(&mut level.owns);
        let (s, marks) = (std::mem::take(&mut level.s), std::mem::take(&mut level.marks));
        let row = level.kept().values(slot);
        let partner = Partner { top: top.value, row, own, owns: &owns, floor: floor.max(f32::MIN_POSITIVE), group };
        let local = passes::choose(&s, &marks, self.reading, &partner);
        let mut words = [0; WORDS];
        words[1] = NOWHERE as u64;
        if local.index != NOWHERE {
            words[0] = u64::from(local.gain.to_bits());
            words[1] = (local.index + level.part.start) as u64;
            words[3] = u64::from(row[local.index].to_bits());
        }
        (level.owns, level.s, level.marks) = (owns, s, marks);
        if local.index != NOWHERE {
            let column = local.index + level.part.start;
            let height = level.v.heights(column, level.s[local.index], self.reading, group).1.unwrap_or(f64::INFINITY);
            words[2] = height.to_bits();
        }
        let mut best = Pair { i: top.index, j: NOWHERE, difference: 0.0, between: 0.0 };
        let mut gain = f32::NEG_INFINITY;
        self.member.exchange(words, |_, words| {
            let theirs = f32::from_bits(words[0] as u32);
            if words[1] as usize != NOWHERE && theirs > gain {
                gain = theirs;
                best.j = words[1] as usize;
                best.difference = top.value - f64::from_bits(words[2]);
                best.between = f64::from(f32::from_bits(words[3] as u32));
            }
        });
        best
    }

    /// The slot of a row, computing it if need be, together with rows that are likely to be wanted soon where several
    /// cost little more than one; none if the row is to be waited for, or was given up.
    fn fetch(&mut self, level: &mut Level, row: usize) -> Option<usize> {
        if !level.kept().holds(row) {
            if self.waits_for_rows {
                self.missing = Some(row);
                return None;
            }
            let group = level.kept().columns().gram.row_group();
            let plain = self.reading == Reading::Plain && self.equality == Equality::Sum;
            let several = group > 1 && plain && self.member.count() == 1 && level.kept().most() > 2 * group;
            let rows = if several { self.wanted(level, row, group) } else { vec![row] };
            level.slots().compute(&rows);
            self.count_rows(level, rows.len());
        }
        // every member asks, also one that has the row
        if self.gave_up(level) {
            return None;
        }
        Some(level.slots().touch(row))
    }

    /// Takes note of rows that were computed over all columns of a level.
    pub(super) fn count_rows(&mut self, level: &Level, rows: usize) {
        self.rows += rows;
        self.evaluations += (rows * level.len()) as u64;
    }
}
