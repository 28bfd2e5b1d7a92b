//! Rows of a run beyond those of the step in hand: rows that pass by once, and rows that it is likely to want soon.

use super::Equality;
use super::chunk::{Apart, ROWS_BETWEEN_LOOKS, complement, subtract_products};
use super::level::Level;
use super::passes::{self, Extremes, Reading};
use super::run::Run;
use super::slots::Columns;

impl Run<'_> {
    /// s ← s − K β for changes of some variables; rows are computed in groups and not kept.
    pub(super) fn absorb(&mut self, level: &mut Level, changes: &[(usize, f64)]) {
        const GROUP: usize = 24;
        if self.waits_for_rows {
            return self.absorb_by_strips(level, changes);
        }
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

    /// The same with all threads, each for some of the columns; every column adds up the changes in their order.
    fn absorb_by_strips(&mut self, level: &mut Level, changes: &[(usize, f64)]) {
        let (columns, len) = (level.kept().columns().clone(), level.len());
        let mut s = std::mem::take(&mut level.s);
        self.subtract(&columns, changes, &mut s[..len]);
        level.s = s;
    }

    /// s ← s − K β at the columns that are not kept; what is written to the others is of no use.
    pub(super) fn absorb_outside(&mut self, level: &mut Level, changes: &[(usize, f64)], kept: &[usize]) {
        let others = complement(kept, level.len());
        let apart = Apart::new(level.kept().columns(), &others, changes);
        let mut outside: Vec<f64> = others.iter().map(|&t| level.s[t]).collect();
        self.subtract(&apart.columns, &apart.changes, &mut outside);
        others.iter().zip(outside).for_each(|(&t, s)| level.s[t] = s);
    }

    fn subtract(&mut self, columns: &Columns, changes: &[(usize, f64)], s: &mut [f64]) {
        for some in changes.chunks(ROWS_BETWEEN_LOOKS) {
            subtract_products(columns, some, s);
            self.rows += some.len();
            self.evaluations += (some.len() * s.len()) as u64;
            if self.ask(s.len(), None) {
                return;
            }
        }
    }

    /// A row and the worst violators whose rows are not kept, up to `count` in all: which rows are computed early changes nothing but the
    /// time.
    pub(super) fn wanted(&self, level: &mut Level, row: usize, count: usize) -> Vec<usize> {
        let mut rows = vec![row];
        let found = passes::update(&mut level.s, &level.marks, self.reading, None);
        let middles = self.middles(&found);
        let mut wanted: Vec<(f64, usize)> = Vec::new();
        for (w, marks) in level.marks.iter().enumerate() {
            let mut movable = marks.iter().fold(0, |all, word| all | word);
            if self.reading != Reading::Grouped {
                movable = marks[0] | marks[1];
            }
            while movable != 0 {
                let t = w * passes::WORD + movable.trailing_zeros() as usize;
                movable &= movable - 1;
                let violation = self.violation_of(level, t, &middles);
                if violation > 0.0 && t != row && !level.kept().holds(t) {
                    wanted.push((violation, t));
                }
            }
        }
        let more = (count - 1).min(wanted.len());
        if more > 0 && more < wanted.len() {
            wanted.select_nth_unstable_by(more - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        }
        rows.extend(wanted[..more].iter().map(|w| w.1));
        rows
    }

    /// The height in the middle between the extremes of each group, at which nothing violates; zero without an equality.
    fn middles(&self, found: &Extremes) -> [f64; 2] {
        let middle = |group: usize| match self.equality {
            Equality::None => 0.0,
            _ => f64::midpoint(found.top[group].value, found.bottom[group].value),
        };
        [middle(0), middle(1)]
    }

    /// The distance of a variable's heights from the middle, on the side where it would move; zero if it would not.
    fn violation_of(&self, level: &Level, t: usize, middles: &[f64; 2]) -> f64 {
        if self.reading == Reading::Plain {
            let (marks, bit) = (&level.marks[t / passes::WORD], t % passes::WORD);
            let above = level.s[t] - middles[0];
            if !above.is_finite() {
                return 0.0;
            }
            let moves = if above > 0.0 { marks[0] } else { marks[1] } >> bit & 1 == 1;
            return if moves { above.abs() } else { 0.0 };
        }
        let groups = if self.reading == Reading::Grouped { 2 } else { 1 };
        let mut worst = 0.0_f64;
        for (group, middle) in middles.iter().enumerate().take(groups).filter(|(_, m)| m.is_finite()) {
            let (rises, falls) = level.v.heights(t, level.s[t], self.reading, group);
            worst = worst.max(rises.map_or(0.0, |h| h - middle)).max(falls.map_or(0.0, |h| middle - h));
        }
        worst
    }
}
