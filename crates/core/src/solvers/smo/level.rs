//! A level: the problem over all variables, or over those that shrinking has left, as one thread of the team holds it.
//!
//! A variable is β_t = plus_t + minus_t with 0 ≤ plus ≤ upper and lower ≤ minus ≤ 0; the objective has the bend ε|β| between the
//! two parts. The sets of variables that may rise (I_up) and that may fall (I_low) are bit masks, since every step passes over
//! all of them.
//!
//! # Source
//! Keerthi, Shevade, Bhattacharyya & Murthy (2001), Improvements to Platt's SMO algorithm, for I_up and I_low; Chang & Lin
//! (2011), LIBSVM, §4 and §5, for the levels of shrinking. One variable with a bend instead of LIBSVM's pair α, α* for regression
//! halves the problem.

use super::Problem;
use super::passes::{Marks, Reading, WORD};
use super::slots::{Columns, Slots, Workspace};
use std::ops::Range;

/// The variables of a level; every thread holds all of them and moves them alike.
#[derive(Default)]
pub(super) struct Variables {
    /// Positive shares, between 0 and `upper`.
    pub(super) plus: Vec<f64>,
    /// Negative shares, between `lower` and 0.
    pub(super) minus: Vec<f64>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// K_tt.
    pub(super) own: Vec<f64>,
    /// D_tt; empty if it is zero.
    pub(super) ridge: Vec<f64>,
}

/// The direction in which a variable moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Rise,
    Fall,
}

impl Variables {
    /// D_tt.
    pub(super) fn ridge(&self, t: usize) -> f64 {
        self.ridge.get(t).copied().unwrap_or(0.0)
    }

    /// True if the part of β that would move is the negative one.
    fn on_minus(&self, t: usize, way: Way, reading: Reading, group: usize) -> bool {
        match (reading, way) {
            (Reading::Grouped, _) => group == 1,
            // the part that is not zero goes back to zero before the other one starts
            (_, Way::Rise) => self.minus[t] < 0.0,
            (_, Way::Fall) => self.plus[t] <= 0.0,
        }
    }

    /// The distance from a variable to its bound or its bend.
    pub(super) fn room(&self, t: usize, way: Way, reading: Reading, group: usize) -> f64 {
        match (self.on_minus(t, way, reading, group), way) {
            (false, Way::Rise) => self.upper[t] - self.plus[t],
            (false, Way::Fall) => self.plus[t],
            (true, Way::Rise) => -self.minus[t],
            (true, Way::Fall) => self.minus[t] - self.lower[t],
        }
    }

    /// Moves a variable; one that meets its bound gets exactly that value, or marks would go stale.
    pub(super) fn shift(&mut self, t: usize, way: Way, reading: Reading, group: usize, step: f64, to_bound: bool) {
        let (share, low, high) = if self.on_minus(t, way, reading, group) {
            (&mut self.minus[t], self.lower[t], 0.0)
        } else {
            (&mut self.plus[t], 0.0, self.upper[t])
        };
        *share = match (to_bound, way) {
            (true, Way::Rise) => high,
            (true, Way::Fall) => low,
            (false, Way::Rise) => (*share + step).min(high),
            (false, Way::Fall) => (*share - step).max(low),
        };
    }

    /// The heights that a variable sees when it rises and when it falls; `None` where it may not.
    pub(super) fn heights(&self, t: usize, s: f64, reading: Reading, group: usize) -> (Option<f64>, Option<f64>) {
        let may = |way| self.room(t, way, reading, group) > 0.0;
        let (up, down) = match reading {
            Reading::Bent(e) => {
                (if self.minus[t] < 0.0 { s + e } else { s - e }, if self.plus[t] > 0.0 { s - e } else { s + e })
            }
            Reading::Plain | Reading::Grouped => (s, s),
        };
        (may(Way::Rise).then_some(up), may(Way::Fall).then_some(down))
    }

    /// The four marks of a variable.
    pub(super) fn marks(&self, t: usize, reading: Reading) -> [bool; 4] {
        let may = |way, group| self.room(t, way, reading, group) > 0.0;
        match reading {
            Reading::Grouped => [may(Way::Rise, 0), may(Way::Fall, 0), may(Way::Rise, 1), may(Way::Fall, 1)],
            _ => [may(Way::Rise, 0), may(Way::Fall, 0), self.minus[t] < 0.0, self.plus[t] > 0.0],
        }
    }

    /// The variables at some places.
    pub(super) fn select(&self, places: &[usize]) -> Self {
        let pick = |values: &[f64]| -> Vec<f64> {
            if values.is_empty() { Vec::new() } else { places.iter().map(|&t| values[t]).collect() }
        };
        Self {
            plus: pick(&self.plus),
            minus: pick(&self.minus),
            lower: pick(&self.lower),
            upper: pick(&self.upper),
            own: pick(&self.own),
            ridge: pick(&self.ridge),
        }
    }
}

/// One thread's share of a level.
pub(super) struct Level {
    pub(super) v: Variables,
    /// The columns of this thread.
    pub(super) part: Range<usize>,
    /// The state of these columns, padded to whole words.
    pub(super) s: Vec<f64>,
    pub(super) marks: Vec<Marks>,
    /// K_tt of these columns in f32; empty if it is the same number for all.
    pub(super) owns: Vec<f32>,
    /// The smallest curvature of a step: below it, rounding would decide its length.
    pub(super) floor: f64,
    /// Kept rows; taken along by a smaller problem while that is solved.
    slots: Option<Slots>,
    pub(super) bytes: usize,
}

/// The padded length of a part.
pub(super) fn padded(len: usize) -> usize {
    len.next_multiple_of(WORD)
}

impl Level {
    pub(super) fn new(
        problem: &Problem<'_>,
        columns: Columns,
        part: Range<usize>,
        bytes: usize,
        workspace: Workspace,
    ) -> Self {
        let n = problem.linear.len();
        let mut s = problem.linear[part.clone()].to_vec();
        s.resize(padded(part.len()), 0.0);
        let own = problem.diagonal.to_vec();
        let slots = Slots::new(columns, part.clone(), s.len(), bytes, workspace);
        let v = Variables {
            plus: vec![0.0; n],
            minus: vec![0.0; n],
            lower: problem.lower.to_vec(),
            upper: problem.upper.to_vec(),
            own,
            ridge: problem.ridge.map(<[f64]>::to_vec).unwrap_or_default(),
        };
        Self::assemble(v, part, s, slots, bytes)
    }

    /// A level of its parts; marks are to be set by [`Level::mark_all`].
    pub(super) fn assemble(v: Variables, part: Range<usize>, s: Vec<f64>, slots: Slots, bytes: usize) -> Self {
        let largest = v.own.iter().copied().fold(0.0, f64::max);
        let flat = v.own.windows(2).all(|p| p[0] == p[1]);
        let mut owns = Vec::new();
        if !flat {
            owns.extend(v.own[part.clone()].iter().map(|&k| k as f32));
            owns.resize(s.len(), 1.0);
        }
        let marks = vec![[0; 4]; s.len() / WORD];
        // relative to the kernel's size, so that a scaled kernel gives a scaled solution
        let floor = (largest * 1e-12).max(f64::MIN_POSITIVE);
        Self { v, part, s, marks, owns, floor, slots: Some(slots), bytes }
    }

    /// Kept rows.
    pub(super) fn slots(&mut self) -> &mut Slots {
        match &mut self.slots {
            Some(slots) => slots,
            None => unreachable!("a smaller problem gives the rows back before anything else happens"),
        }
    }

    /// Kept rows, to be read.
    pub(super) fn kept(&self) -> &Slots {
        match &self.slots {
            Some(slots) => slots,
            None => unreachable!("a smaller problem gives the rows back before anything else happens"),
        }
    }

    pub(super) fn take_slots(&mut self) -> Slots {
        match self.slots.take() {
            Some(slots) => slots,
            None => unreachable!("rows are lent to one smaller problem at a time"),
        }
    }

    pub(super) fn put_slots(&mut self, slots: Slots) {
        self.slots = Some(slots);
    }

    pub(super) fn into_workspace(mut self) -> Workspace {
        self.take_slots().into_workspace()
    }

    /// Number of variables of the level.
    pub(super) fn len(&self) -> usize {
        self.v.plus.len()
    }

    /// The place of a column in this part, if it is there.
    pub(super) fn local(&self, column: usize) -> Option<usize> {
        self.part.contains(&column).then(|| column - self.part.start)
    }

    /// Sets the marks of a variable that moved, if it is one of this part.
    pub(super) fn mark(&mut self, column: usize, reading: Reading) {
        if let Some(place) = self.local(column) {
            let bits = self.v.marks(column, reading);
            let word = &mut self.marks[place / WORD];
            for (word, bit) in word.iter_mut().zip(bits) {
                *word = *word & !(1 << (place % WORD)) | u64::from(bit) << (place % WORD);
            }
        }
    }

    /// Sets all marks.
    pub(super) fn mark_all(&mut self, reading: Reading) {
        let columns = self.part.clone();
        for (first, word) in columns.clone().step_by(WORD).zip(&mut self.marks) {
            *word = [0; 4];
            for column in first..columns.end.min(first + WORD) {
                for (word, bit) in word.iter_mut().zip(self.v.marks(column, reading)) {
                    *word |= u64::from(bit) << (column - first);
                }
            }
        }
    }
}
