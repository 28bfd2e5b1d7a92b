//! A team of threads that solves one problem: each owns a range of columns, and all repeat the same scalar decisions.
//!
//! Twice in each step the members tell each other a few numbers. A lock would cost more than the step, so numbers go
//! through atomic cells, and members wait by spinning for a moment before they give way.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Words that a member can tell at a time.
pub(super) const WORDS: usize = 12;

/// Looks at a cell before the thread gives way to others. (Where another program takes a core, giving way sooner or sleeping
/// was slower; with this a team then takes up to twice as long as one thread alone.)
const SPINS_BEFORE_YIELD: usize = 5000;

/// Message of one member; on cache lines of its own.
#[repr(align(128))]
struct Cell {
    turn: AtomicU64,
    /// Two sets, used in turn: nobody can be two turns ahead of anybody who still reads.
    words: [[AtomicU64; WORDS]; 2],
}

/// State that the members of a team share.
pub(super) struct Team {
    cells: Vec<Cell>,
    /// Larger things, one place for each member.
    parcels: Vec<Mutex<Parcel>>,
    broken: AtomicBool,
}

/// A larger thing that a member leaves for the others.
#[derive(Default)]
pub(super) struct Parcel {
    pub(super) indices: Vec<usize>,
    pub(super) numbers: Vec<f64>,
    pub(super) gram: Option<std::sync::Arc<dyn crate::gram::Gram>>,
}

/// One thread's place in a team.
pub(super) struct Member<'a> {
    team: &'a Team,
    pub(super) place: usize,
    turn: u64,
}

impl Team {
    pub(super) fn new(threads: usize) -> Self {
        let cell = || Cell {
            turn: AtomicU64::new(0),
            words: std::array::from_fn(|_| std::array::from_fn(|_| AtomicU64::new(0))),
        };
        Self {
            cells: (0..threads).map(|_| cell()).collect(),
            parcels: (0..threads).map(|_| Mutex::default()).collect(),
            broken: AtomicBool::new(false),
        }
    }

    pub(super) fn member(&self, place: usize) -> Member<'_> {
        Member { team: self, place, turn: 0 }
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        // the others must not wait for a thread that is gone
        if std::thread::panicking() {
            self.team.broken.store(true, Ordering::Release);
        }
    }
}

impl Member<'_> {
    /// Number of members.
    pub(super) fn count(&self) -> usize {
        self.team.cells.len()
    }

    /// True if this is the member that speaks for all.
    pub(super) fn leads(&self) -> bool {
        self.place == 0
    }

    /// Tells some words to all, waits for theirs, and hears them in the order of places.
    pub(super) fn exchange(&mut self, words: [u64; WORDS], mut hear: impl FnMut(usize, &[u64; WORDS])) {
        if self.count() == 1 {
            return hear(0, &words);
        }
        let set = (self.turn & 1) as usize;
        let mine = &self.team.cells[self.place];
        for (cell, word) in mine.words[set].iter().zip(words) {
            cell.store(word, Ordering::Relaxed);
        }
        self.turn += 1;
        mine.turn.store(self.turn, Ordering::Release);
        for (place, cell) in self.team.cells.iter().enumerate() {
            if place == self.place {
                hear(place, &words);
                continue;
            }
            let mut looks = 0_usize;
            while cell.turn.load(Ordering::Acquire) < self.turn {
                looks += 1;
                if looks.is_multiple_of(SPINS_BEFORE_YIELD) {
                    assert!(!self.team.broken.load(Ordering::Acquire), "a thread of the solver broke down");
                    std::thread::yield_now();
                } else {
                    std::hint::spin_loop();
                }
            }
            hear(place, &std::array::from_fn(|w| cell.words[set][w].load(Ordering::Relaxed)));
        }
    }

    /// Waits until all are here.
    pub(super) fn meet(&mut self) {
        self.exchange([0; WORDS], |_, _| {});
    }

    /// Leaves a parcel, waits for all, and looks at every parcel in the order of places.
    pub(super) fn hand_round(&mut self, parcel: Parcel, mut look: impl FnMut(usize, &Parcel)) {
        if self.count() == 1 {
            return look(0, &parcel);
        }
        if let Ok(mut place) = self.team.parcels[self.place].lock() {
            *place = parcel;
        }
        self.meet();
        for (place, parcel) in self.team.parcels.iter().enumerate() {
            if let Ok(parcel) = parcel.lock() {
                look(place, &parcel);
            }
        }
        // nobody may overwrite a parcel that another still looks at
        self.meet();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_hear_the_same_in_every_turn() {
        for threads in [1, 2, 3, 5] {
            let team = Team::new(threads);
            std::thread::scope(|scope| {
                for place in 0..threads {
                    let mut member = team.member(place);
                    scope.spawn(move || {
                        for turn in 0..500_u64 {
                            let mut words = [0; WORDS];
                            words[0] = turn * 100 + place as u64;
                            let mut heard = Vec::new();
                            member.exchange(words, |place, words| heard.push((place, words[0])));
                            let expected: Vec<_> = (0..threads).map(|p| (p, turn * 100 + p as u64)).collect();
                            assert_eq!(heard, expected);
                        }
                        let parcel = Parcel { indices: vec![place; place + 1], ..Parcel::default() };
                        let mut sizes = Vec::new();
                        member.hand_round(parcel, |_, p| sizes.push(p.indices.len()));
                        assert_eq!(sizes, (1..=threads).collect::<Vec<_>>());
                    });
                }
            });
        }
    }
}
