//! Shrinking: variables at a bound that could not move next are left out of a smaller, repacked problem.
//!
//! With M the largest height of those that may rise and m the smallest of those that may fall, a variable at a bound stays out if
//! it may only rise and its height is below m, or may only fall and its height is above M: no pair with it is a violating one.
//! The smaller problem is solved first; then s of all variables is computed from the changes of β, and whoever has become a
//! violator is in the problem again. LIBSVM permutes indices instead; a packed matrix has short contiguous rows.
//!
//! # Source
//! Joachims (1999), Making large-scale SVM learning practical, §11.4 in Advances in Kernel Methods; Fan, Chen & Lin (2005);
//! Chang & Lin (2011), LIBSVM, §5.1.

use super::Equality;
use super::level::{Level, padded};
use super::passes::Extremes;
use super::run::{Run, Shrinking, Stage};
use super::slots::{Columns, Slots};
use super::team::{Parcel, WORDS};
use crate::linalg::SolveError;
use std::sync::Arc;

/// Largest share of the variables that may stay active for packing to pay.
const MAX_SHARE_TO_PACK: f64 = 0.6;
/// Smallest number of variables that shrinking gains something with.
const MIN_VARIABLES_TO_SHRINK: usize = 200;
/// Number of shrunken problems that may come back unsolved before the problem is solved whole.
const MAX_RETURNS: usize = 30;

/// The place of a shrunken problem in the one that it was shrunk from.
pub(super) struct Shrunk {
    /// Its columns, among all of the other.
    active: Vec<usize>,
    /// Those of this thread's part, as places in the part.
    kept: Vec<usize>,
    /// The columns of the other, whose rows its own have replaced.
    whole: Columns,
}

impl Run<'_> {
    /// The problem of the variables that may still move; none if it is not much smaller, and nothing was done.
    pub(super) fn shrink(
        &mut self,
        level: &mut Level,
        found: &Extremes,
        tolerance: f64,
        depth: usize,
    ) -> Result<Option<Stage>, SolveError> {
        if self.returns >= MAX_RETURNS || level.len() < MIN_VARIABLES_TO_SHRINK || self.shrinking == Shrinking::Never {
            return Ok(None);
        }
        let kept = self.keep(level, found);
        let mut words = [0; WORDS];
        words[0] = kept.len() as u64;
        let mut total = 0;
        self.member.exchange(words, |_, words| total += words[0] as usize);
        if total < 2 || total as f64 > MAX_SHARE_TO_PACK * level.len() as f64 {
            return Ok(None);
        }
        let (active, part) = self.agree(level, &kept);
        let columns = self.pack(level, &active)?;
        let mut s: Vec<f64> = kept.iter().map(|&place| level.s[place]).collect();
        s.resize(padded(kept.len()), 0.0);
        let slots = level.take_slots();
        let whole = slots.columns().clone();
        let slots = slots.shrink(columns, part.clone(), s.len(), &active, &kept, level.bytes);
        let mut smaller = Level::assemble(level.v.select(&active), part, s, slots, level.bytes);
        smaller.mark_all(self.reading);
        // the first shrunken problem is solved to 10 times the tolerance, then all variables are checked (as LIBSVM does)
        let sharp = if depth == 0 && self.returns == 0 { 10.0 * tolerance } else { tolerance };
        Ok(Some(Stage::new(smaller, sharp, depth + 1).within(Shrunk { active, kept, whole })))
    }

    /// Places of this part whose variables belong to a violating pair: h ≥ m for one that may rise, h ≤ M for one that may fall.
    fn keep(&self, level: &Level, found: &Extremes) -> Vec<usize> {
        let groups = if self.equality == Equality::Signs { 2 } else { 1 };
        let limits: Vec<(f64, f64)> = (0..groups)
            .map(|g| {
                let (top, bottom) = (found.top[g].value, found.bottom[g].value);
                // without an equality heights are compared with zero
                if self.equality == Equality::None { (top.max(0.0), bottom.min(0.0)) } else { (top, bottom) }
            })
            .collect();
        let moves = |place: &usize| {
            (0..groups).any(|group| {
                let column = level.part.start + place;
                let (rises, falls) = level.v.heights(column, level.s[*place], self.reading, group);
                let (top, bottom) = limits[group];
                rises.is_some_and(|h| h >= bottom) || falls.is_some_and(|h| h <= top)
            })
        };
        // a variable that may move both ways at one height is free, and always kept by the rule above
        (0..level.part.len()).filter(moves).collect()
    }

    /// All columns that are kept, in order, and which of them are this thread's.
    pub(super) fn agree(&mut self, level: &Level, kept: &[usize]) -> (Vec<usize>, std::ops::Range<usize>) {
        let mine: Vec<usize> = kept.iter().map(|place| level.part.start + place).collect();
        let (mut active, mut part) = (Vec::new(), 0..0);
        let place = self.member.place;
        self.member.hand_round(Parcel { indices: mine, ..Parcel::default() }, |p, parcel| {
            if p == place {
                part = active.len()..active.len() + parcel.indices.len();
            }
            active.extend_from_slice(&parcel.indices);
        });
        (active, part)
    }

    /// The repacked matrix of some columns, made by the leader.
    pub(super) fn pack(&mut self, level: &mut Level, active: &[usize]) -> Result<Columns, SolveError> {
        let mut parcel = Parcel::default();
        if self.member.leads() {
            let columns = level.slots().columns();
            let examples: Vec<usize> = active.iter().map(|&c| columns.example(c)).collect();
            parcel.gram = Some(Arc::clone(&columns.gram).restrict(&examples, &examples));
        }
        let mut gram = None;
        self.member.hand_round(parcel, |_, parcel| {
            if let Some(found) = &parcel.gram {
                gram = Some(Arc::clone(found));
            }
        });
        match gram {
            Some(gram) => Ok(Columns { gram, ranges: vec![0..active.len()] }),
            None => unreachable!("the leader has packed it"),
        }
    }

    /// Takes over the variables of the smaller problem and brings the state of all columns up to date.
    pub(super) fn bring_back(&mut self, level: &mut Level, smaller: Level, shrunk: Shrunk) {
        self.returns += 1;
        let Shrunk { active, kept, whole } = shrunk;
        let mut changes = Vec::new();
        for (k, &column) in active.iter().enumerate() {
            let before = level.v.plus[column] + level.v.minus[column];
            (level.v.plus[column], level.v.minus[column]) = (smaller.v.plus[k], smaller.v.minus[k]);
            let change = level.v.plus[column] + level.v.minus[column] - before;
            if change != 0.0 {
                changes.push((column, change));
            }
        }
        let solved: Vec<f64> = smaller.s[..kept.len()].to_vec();
        let workspace = smaller.into_workspace();
        level.put_slots(Slots::new(whole, level.part.clone(), level.s.len(), level.bytes, workspace));
        if self.status.is_some() {
            // stopped: the variables are kept, the state of the others is what it was
            self.whole = false;
        } else if self.waits_for_rows {
            self.absorb_outside(level, &changes, &kept);
        } else {
            self.absorb(level, &changes);
        }
        for (&place, s) in kept.iter().zip(solved) {
            level.s[place] = s;
        }
        level.mark_all(self.reading);
    }
}
