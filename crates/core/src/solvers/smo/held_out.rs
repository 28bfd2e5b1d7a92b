//! Held-out scores: what a solution would say about each example if its fold had been left out.
//!
//! For each fold a smaller problem starts from the whole solution without the fold's multipliers. It has the columns of the
//! fold, whose state then is their score, and those that may move; examples far from the margin keep the multipliers they
//! have. Rows are narrow and few steps are left, so all folds together cost less than the first solution.

use super::level::{Level, Variables, padded};
use super::passes::{self, Extremes, Reading};
use super::run::Run;
use super::slots::{Slots, Workspace};
use super::{Equality, Problem, Solution};
use crate::linalg::SolveError;
use crate::watch::Phase;

/// Distance from the margins within which an example may gain or lose a multiplier when a fold is left out.
const MARGIN_DISTANCE: f64 = 0.5;
/// Largest number of variables of a problem that is solved with all its examples, on the rows that are there.
const MAX_VARIABLES_SOLVED_WHOLE: usize = 8192;
/// Factor of the tolerance: scores to learn probabilities from need not be as sharp as a solution.
const TOLERANCE_FACTOR: f64 = 60.0;

/// Data with which the folds of a problem are held out.
struct Folds<'a> {
    of: &'a [u32],
    linear: &'a [f64],
    tolerance: f64,
}

impl Run<'_> {
    /// The held-out scores of this thread's columns, or none if the work was stopped or cannot be done this way.
    pub(super) fn hold_out(
        &mut self,
        problem: &Problem<'_>,
        mut level: Level,
        found: &Extremes,
        tolerance: f64,
    ) -> Result<(Level, Option<Vec<f64>>), SolveError> {
        let Some((of, count)) = problem.folds else { return Ok((level, None)) };
        if self.reading != Reading::Plain || self.status.is_some() {
            return Ok((level, None));
        }
        let iterations = self.iterations;
        let folds = Folds { of, linear: problem.linear, tolerance: TOLERANCE_FACTOR * tolerance };
        let mut scores = vec![f64::NAN; level.part.len()];
        let mut workspace = Workspace::default();
        self.phase = Phase::CALIBRATION;
        for fold in 0..count as u32 {
            let done = if self.ask(level.len(), None) {
                false
            } else if level.len() <= MAX_VARIABLES_SOLVED_WHOLE {
                let (back, done) = self.in_place(level, &folds, fold, &mut scores)?;
                level = back;
                done
            } else {
                self.in_a_part(&mut level, found, &folds, fold, &mut scores, &mut workspace)?
            };
            if self.status.is_some() || !done {
                // the whole solution stands as it was
                (self.status, self.whole, self.iterations) = (None, true, iterations);
                return Ok((level, None));
            }
        }
        self.iterations = iterations;
        Ok((level, Some(scores)))
    }

    /// A small problem without a fold, on the rows that are kept already.
    fn in_place(
        &mut self,
        mut level: Level,
        folds: &Folds<'_>,
        fold: u32,
        scores: &mut [f64],
    ) -> Result<(Level, bool), SolveError> {
        let places: Vec<usize> = (0..level.len()).collect();
        let before = std::mem::take(&mut level.v);
        let state = level.s.clone();
        level.v = before.select(&places);
        let changes = leave_out(&mut level.v, |t| folds.of[t] == fold, self.equality);
        if let Some(changes) = &changes {
            self.take_over(&mut level, changes);
            level.mark_all(self.reading);
            // no smaller problem: it would take the kept rows along
            let returns = std::mem::replace(&mut self.returns, usize::MAX);
            let found;
            (level, found) = self.descend(level, folds.tolerance, 1)?;
            self.returns = returns;
            let offset = self.offset(&found);
            for (place, score) in scores.iter_mut().enumerate() {
                let column = level.part.start + place;
                if folds.of[column] == fold {
                    *score = folds.linear[column] - level.s[place] + offset;
                }
            }
        }
        (level.v, level.s) = (before, state);
        Ok((level, changes.is_some()))
    }

    /// A large problem without a fold: only the fold and what is near the margins.
    fn in_a_part(
        &mut self,
        level: &mut Level,
        found: &Extremes,
        folds: &Folds<'_>,
        fold: u32,
        scores: &mut [f64],
        workspace: &mut Workspace,
    ) -> Result<bool, SolveError> {
        let (top, bottom) = (found.top[0].value + MARGIN_DISTANCE, found.bottom[0].value - MARGIN_DISTANCE);
        let keep = |place: &usize| {
            let column = level.part.start + place;
            let (rises, falls) = level.v.heights(column, level.s[*place], self.reading, 0);
            folds.of[column] == fold || rises.is_some_and(|h| h >= bottom) || falls.is_some_and(|h| h <= top)
        };
        let kept: Vec<usize> = (0..level.part.len()).filter(keep).collect();
        let (active, part) = self.agree(level, &kept);
        let columns = self.pack(level, &active)?;
        let mut s: Vec<f64> = kept.iter().map(|&place| level.s[place]).collect();
        s.resize(padded(kept.len()), 0.0);
        let mut v = level.v.select(&active);
        let Some(changes) = leave_out(&mut v, |k| folds.of[active[k]] == fold, self.equality) else { return Ok(false) };
        let slots = Slots::new(columns, part.clone(), s.len(), level.bytes, std::mem::take(workspace));
        let mut rest = Level::assemble(v, part, s, slots, level.bytes);
        self.take_over(&mut rest, &changes);
        rest.mark_all(self.reading);
        self.returns = 0;
        let (rest, found) = self.descend(rest, folds.tolerance, 1)?;
        let offset = self.offset(&found);
        for (k, &place) in kept.iter().enumerate() {
            let column = level.part.start + place;
            if folds.of[column] == fold {
                scores[place] = folds.linear[column] - rest.s[k] + offset;
            }
        }
        *workspace = rest.into_workspace();
        Ok(true)
    }

    /// Brings the state up to date with multipliers that were taken away.
    fn take_over(&mut self, level: &mut Level, changes: &[(usize, f64)]) {
        let mut missing = Vec::new();
        let mut s = std::mem::take(&mut level.s);
        for &(t, change) in changes {
            if let Some(place) = level.local(t) {
                s[place] -= change * level.v.ridge(t);
            }
            if level.kept().holds(t) {
                let slot = level.slots().touch(t);
                passes::absorb(&mut s, &[change], level.kept().values(slot), level.marks.len() * passes::WORD);
            } else {
                missing.push((t, change));
            }
        }
        level.s = s;
        self.absorb(level, &missing);
    }

    /// The height at which rising and falling meet; the same bits for any number of threads.
    fn offset(&self, found: &Extremes) -> f64 {
        let (top, bottom) = (found.top[0].value, found.bottom[0].value);
        match (self.equality, top.is_finite(), bottom.is_finite()) {
            (Equality::None, ..) | (_, false, false) => 0.0,
            (_, true, true) => f64::midpoint(top, bottom),
            (_, true, false) => top,
            (_, false, true) => bottom,
        }
    }
}

/// Adds the scores of examples whose fold was not left out.
///
/// An example without a multiplier has the score it would have if it were left out alone: the solution is the same without
/// it. Leaving out one with multiplier β moves its score by β S², with a span S that varies little (Vapnik & Chapelle, 2000);
/// its square is taken from the folds that were left out.
pub(super) fn complete(problem: &Problem<'_>, solution: &Solution, mut scores: Vec<f64>) -> Vec<f64> {
    if scores.iter().all(|s| s.is_finite()) {
        return scores;
    }
    let beta = &solution.beta;
    let own = |t: usize| {
        let ridge = problem.ridge.map_or(0.0, |d| d[t] * beta[t]);
        problem.linear[t] - solution.state[t] - ridge + solution.offsets[0]
    };
    let known = (0..beta.len()).filter(|&t| scores[t].is_finite() && beta[t] != 0.0);
    let (drop, total) = known
        .fold((0.0, 0.0), |(drop, total), t| (drop + (own(t) - scores[t]) * beta[t].signum(), total + beta[t].abs()));
    let squared_span = if total > 0.0 { (drop / total).max(0.0) } else { 0.0 };
    for t in 0..beta.len() {
        if scores[t].is_nan() {
            scores[t] = own(t) - beta[t] * squared_span;
        }
    }
    scores
}

/// Takes the multipliers of some variables away, for good, and restores the sum by lowering others of the side that has too
/// much; the changes, or none if that side has too little left.
fn leave_out(v: &mut Variables, out: impl Fn(usize) -> bool, equality: Equality) -> Option<Vec<(usize, f64)>> {
    let mut changes = Vec::new();
    let mut excess = 0.0;
    for t in 0..v.plus.len() {
        if out(t) {
            let beta = v.plus[t] + v.minus[t];
            if beta != 0.0 {
                changes.push((t, -beta));
                excess -= beta;
            }
            (v.plus[t], v.minus[t], v.lower[t], v.upper[t]) = (0.0, 0.0, 0.0, 0.0);
        }
    }
    if equality == Equality::None {
        return Some(changes);
    }
    for t in 0..v.plus.len() {
        if excess > 0.0 && v.plus[t] > 0.0 {
            let share = excess.min(v.plus[t]);
            v.plus[t] = if share >= v.plus[t] { 0.0 } else { v.plus[t] - share };
            changes.push((t, -share));
            excess -= share;
        } else if excess < 0.0 && v.minus[t] < 0.0 {
            let share = excess.max(v.minus[t]);
            v.minus[t] = if share <= v.minus[t] { 0.0 } else { v.minus[t] - share };
            changes.push((t, -share));
            excess -= share;
        }
    }
    (excess.abs() <= 1e-9).then_some(changes)
}
