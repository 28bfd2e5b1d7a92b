//! Explicit features of strings: every occurrence of a feature at its place.
//!
//! A kernel that counts pieces shows each occurrence of a piece once, with where it stands, a key and a value;
//! φ_key(s) is the sum of the values, and κ(s, t) = Σ φ_key(s) φ_key(t). Features for linear machines and
//! the shares of single positions are made of nothing else.
//!
//! Keys below 2¹⁹ are exact coordinates; all others are 64-bit hashes, which become coordinates between 2¹⁹ and 2²⁰ by
//! their low bits. Saved models keep weights by coordinate, so neither the hash nor this rule may ever change.
//!
//! # Source
//! Hashed coordinates: Weinberger, Dasgupta, Langford, Smola & Attenberg, Feature Hashing for Large Scale Multitask
//! Learning (2009), here without signs.

use crate::data::{Coordinate, Examples, SparseRows};
use rayon::prelude::*;
use std::collections::HashMap;

/// Number of keys that are coordinates as they are; as many coordinates follow for hashed keys.
pub(super) const EXACT_KEYS: u64 = 1 << 19;

/// One occurrence of a feature in a string.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Its start, in characters.
    pub start: usize,
    /// Number of characters that it covers; none for a feature without a place.
    pub len: usize,
    /// The feature.
    pub key: u64,
    /// The value that it adds to the feature.
    pub value: f64,
}

/// The key of a piece of text: its number among all strings over A, C, G, T where that is small, else a hash.
pub(super) fn key_of(piece: &[char]) -> u64 {
    // bijective numeration to the base 4: no two strings of any lengths share a number; nine letters stay below 2¹⁹
    if piece.len() <= 9 {
        let digit = |c: &char| "ACGT".find(*c).map(|d| d as u64 + 1);
        if let Some(number) = piece.iter().try_fold(0, |number, c| Some(4 * number + digit(c)?)) {
            return number;
        }
    }
    hash(piece.iter().map(|&c| u64::from(u32::from(c))))
}

/// A 64-bit hash of numbers in their order; never below [`EXACT_KEYS`].
pub(super) fn hash(numbers: impl Iterator<Item = u64>) -> u64 {
    let step = |state: u64, number: u64| {
        let product = u128::from(state ^ number) * 0x9e37_79b9_7f4a_7c15;
        (product >> 64) as u64 ^ product as u64
    };
    let mut state = numbers.fold(0x243f_6a88_85a3_08d3, |state, n| step(state, n.wrapping_add(0x1319_8a2e_0370_7345)));
    // the finish of SplitMix64: every bit of the state reaches every bit of the key
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state ^ (state >> 31)) | 1 << 63
}

/// The coordinate of a key.
pub(super) fn coordinate(key: u64) -> u32 {
    (if key < EXACT_KEYS { key } else { EXACT_KEYS + key % EXACT_KEYS }) as u32
}

/// Shows the pieces of one string; `false` where a kernel has none.
pub(super) type Show<'a> = dyn Fn(&str, &mut dyn FnMut(Piece)) -> bool + Sync + 'a;

/// Strings whose features are kept apart before they are joined.
const BATCH: usize = 4096;
/// Smallest number of strings that are worth a thread.
const MIN_STRINGS_FOR_THREADS: usize = 64;

/// The features of every string; `None` where the kernel has none.
pub(super) fn features(strings: &dyn Examples<str>, show: &Show<'_>) -> Option<SparseRows<f64>> {
    let row = |i: usize| {
        let mut row: Vec<Coordinate<f64>> = Vec::new();
        if !show(strings.get(i), &mut |p| row.push(Coordinate { index: coordinate(p.key), value: p.value })) {
            return None;
        }
        // a stable sort: equal coordinates are added up in the order of the string
        row.sort_by_key(|c| c.index);
        row.dedup_by(|next, kept| {
            let same = next.index == kept.index;
            kept.value += if same { next.value } else { 0.0 };
            same
        });
        Some(row)
    };
    let mut rows = SparseRows::new(0);
    for start in (0..strings.len()).step_by(BATCH) {
        let batch = (start..strings.len().min(start + BATCH)).into_par_iter().with_min_len(MIN_STRINGS_FOR_THREADS);
        for row in batch.map(row).collect::<Option<Vec<_>>>()? {
            rows.push(&row);
        }
    }
    Some(rows)
}

/// Adds to every position of `x` its share of κ(x, y): each occurrence divides its product equally among the positions it
/// covers. `false` where the kernel has no pieces.
pub(super) fn shares(x: &str, y: &str, show: &Show<'_>, out: &mut [f64]) -> bool {
    let mut other: HashMap<u64, f64> = HashMap::new();
    let shown = show(y, &mut |p| *other.entry(p.key).or_default() += p.value);
    shown
        && show(x, &mut |p| {
            if let Some(value) = other.get(&p.key) {
                let share = p.value * value / p.len.max(1) as f64;
                out[p.start..p.start + p.len].iter_mut().for_each(|o| *o += share);
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_of_dna_are_exact_and_no_two_are_alike() {
        let letters = ['A', 'C', 'G', 'T'];
        let (mut seen, mut level) = (HashSet::new(), vec![Vec::new()]);
        for _ in 0..6 {
            level = level
                .iter()
                .flat_map(|p: &Vec<char>| letters.iter().map(|&c| p.iter().copied().chain([c]).collect()))
                .collect();
            for piece in &level {
                let key = key_of(piece);
                assert!(key < EXACT_KEYS && seen.insert(key) && u64::from(coordinate(key)) == key);
            }
        }
        assert!(key_of(&['T'; 9]) < EXACT_KEYS);
        let others: Vec<u64> = ["ACGN", "acgt", "TTTTTTTTTT", "xy", "yx", "x", "xx"]
            .map(|s| key_of(&s.chars().collect::<Vec<_>>()))
            .to_vec();
        assert!(
            others.iter().all(|&k| k > EXACT_KEYS && (EXACT_KEYS..2 * EXACT_KEYS).contains(&u64::from(coordinate(k))))
        );
        assert_eq!(others.iter().collect::<HashSet<_>>().len(), others.len());
    }

    #[test]
    fn the_hash_never_changes_and_spreads() {
        assert_eq!(hash([1, 2, 3].into_iter()), 12_119_412_355_462_128_715);
        let spread: HashSet<u32> = (0..10_000).map(|n| coordinate(hash([n].into_iter()))).collect();
        // 10 000 of 524 288: about 95 collisions
        assert!((9_850..9_960).contains(&spread.len()), "{}", spread.len());
    }
}
