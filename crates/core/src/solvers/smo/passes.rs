//! The passes over all variables of a part: where nearly all the time of the solver goes.
//!
//! Each pass exists twice: as a plain loop, and in AVX-512 instructions (`avx512.rs`) that give the same bits. Ties go to
//! the lowest index, so a result does not depend on how variables are divided over lanes or threads.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;

/// Variables in a word of [`Marks`]; every part is padded to whole words.
pub(super) const WORD: usize = 64;

/// The moves that 64 variables may make, a bit for each.
///
/// With one equality or none: may rise, may fall, rises on the far side of its bend, falls on the far side of its bend.
/// With an equality for each sign: the positive share may rise, may fall, the negative share may rise, may fall.
pub(super) type Marks = [u64; 4];

/// The way in which marks are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reading {
    /// Rising and falling both see s.
    Plain,
    /// The objective has a bend ε|β| at zero: above it both see s − ε, below it both see s + ε, and at it rising sees
    /// s − ε and falling s + ε.
    Bent(f64),
    /// Positive and negative shares are two groups, each with extremes of its own.
    Grouped,
}

/// An extreme value and the first place it stands at; `NOWHERE` if no variable qualifies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extreme {
    pub(super) value: f64,
    pub(super) index: usize,
}

/// The index of nothing.
pub(super) const NOWHERE: usize = usize::MAX;

/// The largest values that may rise and the smallest that may fall, for each group; only `Grouped` has a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extremes {
    pub(super) top: [Extreme; 2],
    pub(super) bottom: [Extreme; 2],
    /// True if every value is finite.
    pub(super) finite: bool,
}

/// A step: s ← s − up · row_up + down · row_down.
#[derive(Clone, Copy)]
pub(super) struct Move<'a> {
    pub(super) up: f64,
    pub(super) row_up: &'a [f32],
    pub(super) down: f64,
    pub(super) row_down: &'a [f32],
}

/// The search for a partner of a variable that rises.
#[derive(Clone, Copy)]
pub(super) struct Partner<'a> {
    /// The view from the rising variable.
    pub(super) top: f64,
    /// Its row.
    pub(super) row: &'a [f32],
    /// Its κ(x, x).
    pub(super) own: f32,
    /// κ(x, x) of all; empty if it is the same number for all.
    pub(super) owns: &'a [f32],
    /// The smallest curvature that is believed.
    pub(super) floor: f32,
    /// The group, for `Grouped`.
    pub(super) group: usize,
}

/// The partner that promises the largest decrease.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Promise {
    pub(super) gain: f32,
    pub(super) index: usize,
}

/// True if the fast passes can run on this processor.
#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512vl")
}

/// Takes a step, if there is one, and finds the extremes after it.
pub(super) fn update(s: &mut [f64], marks: &[Marks], reading: Reading, step: Option<Move<'_>>) -> Extremes {
    assert_eq!(s.len(), marks.len() * WORD, "whole words");
    if let Some(step) = &step {
        assert!(step.row_up.len() >= s.len() && step.row_down.len() >= s.len(), "rows cover the part");
    }
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        return avx512::update(s, marks, reading, step);
    }
    plain::update(s, marks, reading, step)
}

/// The variable below the top that may fall and promises the largest decrease (top − s)²/(K_ii + K_jj − 2K_ij). The promise
/// is computed in f32: it only ranks.
pub(super) fn choose(s: &[f64], marks: &[Marks], reading: Reading, partner: &Partner<'_>) -> Promise {
    assert_eq!(s.len(), marks.len() * WORD, "whole words");
    assert!(partner.row.len() >= s.len(), "the row covers the part");
    assert!(partner.owns.is_empty() || partner.owns.len() >= s.len(), "the diagonal covers the part");
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        return avx512::choose(s, marks, reading, partner);
    }
    plain::choose(s, marks, reading, partner)
}

/// s ← s − Σ_r weights_r rows_r.
pub(super) fn absorb(s: &mut [f64], weights: &[f64], rows: &[f32], stride: usize) {
    use crate::vectorise::{Loops, vectorised};
    struct Absorb<'a> {
        s: &'a mut [f64],
        weights: &'a [f64],
        rows: &'a [f32],
        stride: usize,
    }
    impl Loops for Absorb<'_> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            for (r, &weight) in self.weights.iter().enumerate() {
                let row = &self.rows[r * self.stride..];
                for (s, &k) in self.s.iter_mut().zip(row) {
                    *s -= weight * f64::from(k);
                }
            }
        }
    }
    // a piece of s stays in the first-level cache while all rows pass over it
    const PIECE: usize = 2048;
    for (start, piece) in (0..).step_by(PIECE).zip(s.chunks_mut(PIECE)) {
        vectorised(Absorb { s: piece, weights, rows: &rows[start.min(rows.len())..], stride });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// A random part with few distinct values, so that ties occur.
    fn random(words: usize, seed: u64) -> (Vec<f64>, Vec<Marks>, Vec<f32>, Vec<f32>) {
        let mut random = Seed(seed).stream("passes");
        let n = words * WORD;
        let s = (0..n).map(|_| random.below(9) as f64 * 0.25 - 1.0).collect();
        let mut word = || (0..64).fold(0_u64, |w, b| w | (u64::from(random.below(3) != 0) << b));
        let marks = (0..words).map(|_| [word(), word(), word(), word()]).collect();
        let rows: Vec<f32> = (0..2 * n).map(|_| random.below(5) as f32 * 0.125).collect();
        (s, marks, rows[..n].to_vec(), rows[n..].to_vec())
    }

    const READINGS: [Reading; 3] = [Reading::Plain, Reading::Bent(0.25), Reading::Grouped];

    #[test]
    fn the_extremes_are_those_of_a_search_by_definition() {
        for words in [1, 2, 5] {
            let (mut s, marks, a, b) = random(words, words as u64);
            let step = Move { up: 0.5, row_up: &a, down: 0.25, row_down: &b };
            let moved: Vec<f64> = s
                .iter()
                .zip(a.iter().zip(&b))
                .map(|(s, (a, b))| s - 0.5 * f64::from(*a) + 0.25 * f64::from(*b))
                .collect();
            for reading in READINGS {
                let found = update(&mut s.clone(), &marks, reading, Some(step));
                let bit = |t: usize, which: usize| marks[t / WORD][which] >> (t % WORD) & 1 == 1;
                for group in 0..2 {
                    let (mut top, mut bottom) = ((f64::NEG_INFINITY, NOWHERE), (f64::INFINITY, NOWHERE));
                    for (t, &v) in moved.iter().enumerate() {
                        let (rises, falls, high, low) = match reading {
                            Reading::Plain => (bit(t, 0), bit(t, 1), v, v),
                            Reading::Bent(e) => (
                                bit(t, 0),
                                bit(t, 1),
                                if bit(t, 2) { v + e } else { v - e },
                                if bit(t, 3) { v - e } else { v + e },
                            ),
                            Reading::Grouped => (bit(t, 2 * group), bit(t, 2 * group + 1), v, v),
                        };
                        if rises && high > top.0 {
                            top = (high, t);
                        }
                        if falls && low < bottom.0 {
                            bottom = (low, t);
                        }
                    }
                    if group == 0 || reading == Reading::Grouped {
                        assert_eq!((found.top[group].value, found.top[group].index), top, "{reading:?} {group}");
                        assert_eq!((found.bottom[group].value, found.bottom[group].index), bottom);
                    }
                }
            }
            s[3] = f64::NAN;
            assert!(!update(&mut s, &marks, Reading::Plain, None).finite);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_fast_passes_give_the_bits_of_the_plain_ones() {
        if !has_avx512() {
            return;
        }
        for (words, seed) in [(1, 1), (2, 2), (3, 3), (17, 4)] {
            let (s, marks, a, b) = random(words, seed);
            let owns: Vec<f32> = b.iter().map(|x| x + 1.0).collect();
            for reading in READINGS {
                for step in [None, Some(Move { up: 0.3, row_up: &a, down: 0.7, row_down: &b })] {
                    let (mut fast, mut slow) = (s.clone(), s.clone());
                    let found = avx512::update(&mut fast, &marks, reading, step);
                    assert_eq!(found, plain::update(&mut slow, &marks, reading, step));
                    assert_eq!(fast, slow);
                }
                for group in 0..2 {
                    for owns in [&owns[..], &[]] {
                        let partner = Partner { top: 0.8, row: &a, own: 1.2, owns, floor: 1e-6, group };
                        let found = avx512::choose(&s, &marks, reading, &partner);
                        assert_eq!(found, plain::choose(&s, &marks, reading, &partner), "{reading:?}");
                    }
                }
            }
            let mut broken = s.clone();
            broken[words * WORD - 1] = f64::INFINITY;
            assert!(!avx512::update(&mut broken, &marks, Reading::Plain, None).finite);
        }
    }
}
