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
use super::team::{Member, WORDS};
use super::{Equality, Problem, SmoOptions};
use crate::linalg::SolveError;
use crate::watch::{Monitor, Phase, Progress, Sign, Status, Stop};
use std::ops::ControlFlow;

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
    /// The phase of the work, for the monitor.
    pub(super) phase: Phase,
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
            phase: Phase::keeping("smo"),
        }
    }

    /// Puts a level at the start of its problem: s = c − (K + D)β of the given β.
    pub(super) fn start(&mut self, problem: &Problem<'_>, level: &mut Level) -> Result<(), SolveError> {
        if let Some(start) = problem.start {
            level.v.plus.copy_from_slice(&start.plus);
            level.v.minus.copy_from_slice(&start.minus);
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

    /// s ← s − K β for changes of some variables; rows are computed in groups and not kept.
    pub(super) fn absorb(&mut self, level: &mut Level, changes: &[(usize, f64)]) {
        const GROUP: usize = 24;
        let stride = level.s.len();
        let mut lines = vec![0.0_f32; GROUP.min(changes.len()) * stride];
        for group in changes.chunks(GROUP) {
            let rows: Vec<usize> = group.iter().map(|c| c.0).collect();
            let weights: Vec<f64> = group.iter().map(|c| c.1).collect();
            level.kept().pass_by(&rows, &mut lines);
            passes::absorb(&mut level.s, &weights, &lines, stride);
            self.rows += rows.len();
            self.evaluations += (rows.len() * level.len()) as u64;
            if self.ask(level.len(), None) {
                return;
            }
        }
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

    /// Steps until the violation is below the tolerance, or there is a reason to stop; the extremes at the end.
    pub(super) fn descend(&mut self, level: &mut Level, tolerance: f64, depth: usize) -> Result<Extremes, SolveError> {
        let period = match (depth, level.len()) {
            (0, ..MIN_WIDE_COLUMNS) => level.len().max(MIN_STEPS_BEFORE_SHRINKING),
            _ => level.len().min(STEPS_BEFORE_SHRINKING_WIDE),
        };
        let mut found = self.update(level, None);
        let mut since = 0;
        loop {
            if !found.finite {
                return Err(SolveError::NotFinite { row: 1, column: 1 });
            }
            let (violation, group) = self.violation(&found);
            // −∞ when nothing may rise or nothing may fall
            if violation < tolerance || self.status.is_some() {
                return Ok(found);
            }
            if self.iterations >= self.limit {
                self.status = Some(Status::IterationLimit);
                return Ok(found);
            }
            since += 1;
            if since > period {
                since = 0;
                if self.shrink(level, &found, tolerance, depth)? {
                    found = self.update(level, None);
                    // the problem that came back is nearly solved: shrink it again at once
                    since = period;
                    continue;
                }
            }
            found = if self.equality == Equality::None {
                self.single_step(level, &found)
            } else {
                self.pair_step(level, &found, group)?
            };
            self.iterations += 1;
        }
    }

    /// WSS 2: i is the maximal violator, j the best partner among those that may fall from below it.
    fn pair_step(&mut self, level: &mut Level, found: &Extremes, group: usize) -> Result<Extremes, SolveError> {
        // i: the maximal violator among those that may rise
        let i = found.top[group].index;
        let slot = self.fetch(level, i);
        if self.gave_up(level) {
            return Ok(*found);
        }
        // j: the largest gain of second order among those that may fall
        let pair = self.choose(level, found.top[group], group, slot);
        if pair.j == NOWHERE {
            // in f32 no height of those that may fall is below that of i: the violation is rounding
            self.status = Some(Status::Converged);
            return Ok(*found);
        }
        let Pair { i, j, difference, between } = pair;
        let slot_j = self.fetch(level, j);
        if self.gave_up(level) {
            return Ok(*found);
        }
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
        let slot = self.fetch(level, t);
        if self.gave_up(level) {
            return *found;
        }
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
    /// cost little more than one.
    fn fetch(&mut self, level: &mut Level, row: usize) -> usize {
        if !level.kept().holds(row) {
            let mut rows = vec![row];
            let group = level.kept().columns().gram.row_group();
            let plain = self.reading == Reading::Plain && self.equality == Equality::Sum;
            if group > 1 && plain && self.member.count() == 1 && level.kept().most() > 2 * group {
                self.guess(level, group, &mut rows);
            }
            level.slots().compute(&rows);
            self.rows += rows.len();
            self.evaluations += (rows.len() * level.len()) as u64;
        }
        level.slots().touch(row)
    }

    /// The worst violators whose rows are not kept: which rows are computed early changes nothing but the time.
    fn guess(&self, level: &mut Level, group: usize, rows: &mut Vec<usize>) {
        let found = passes::update(&mut level.s, &level.marks, self.reading, None);
        let middle = f64::midpoint(found.top[0].value, found.bottom[0].value);
        if !middle.is_finite() {
            return;
        }
        let mut wanted: Vec<(f64, usize)> = Vec::new();
        for (w, marks) in level.marks.iter().enumerate() {
            let mut movable = marks[0] | marks[1];
            while movable != 0 {
                let bit = movable.trailing_zeros() as usize;
                movable &= movable - 1;
                let t = w * passes::WORD + bit;
                let (may_rise, may_fall) = (marks[0] >> bit & 1 == 1, marks[1] >> bit & 1 == 1);
                let above = level.s[t] - middle;
                let violation = if may_rise && above > 0.0 || may_fall && above < 0.0 { above.abs() } else { 0.0 };
                if violation > 0.0 && t != rows[0] && !level.kept().holds(t) {
                    wanted.push((violation, t));
                }
            }
        }
        let count = (group - 1).min(wanted.len());
        if count > 0 && count < wanted.len() {
            wanted.select_nth_unstable_by(count - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        }
        rows.extend(wanted[..count].iter().map(|w| w.1));
    }
}
