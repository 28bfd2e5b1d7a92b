//! φ of strings: their different substrings are counted, and each hands its count to its neighbours.

use super::{Mismatch, number};
use crate::data::Examples;
use crate::kernels::text::sequences::Sequences;
use crate::kernels::text::spectrum::counts::{Counts, Entry, Extended, Names, Substrings};
use std::collections::HashMap;

/// Names of the substrings of training strings and of their neighbours.
pub(super) struct Neighbourhoods {
    kernel: Mismatch,
    letters: usize,
    /// The place of each character in the alphabet.
    codes: HashMap<u32, u32>,
    substrings: Substrings,
    /// The neighbours of each substring of the training strings, by name.
    neighbours: Sequences,
    names: Names,
}

impl Neighbourhoods {
    /// Names the neighbours of the training strings, and counts them.
    pub(super) fn learn(kernel: Mismatch, letters: &[char], strings: &dyn Examples<str>) -> (Self, Counts) {
        let codes: HashMap<u32, u32> = (0_u32..).zip(letters).map(|(at, &c)| (u32::from(c), at)).collect();
        let (letters, length) = (letters.len(), kernel.length.max(1));
        let coded = coded(&codes, letters, strings);
        let (substrings, named) = Substrings::learn(&coded, length);
        let key = key_of(letters, length);
        let bits = 64 - key(&vec![letters.saturating_sub(1) as u32; length]).leading_zeros();
        let mut names = Names::new(bits);
        let examples = first_places(&coded, &named, length, 0, substrings.distinct());
        let neighbours = Sequences::build(examples.into_iter(), |piece, items| {
            kernel.visit_neighbours(letters as u32, piece, &mut |u| items.push(names.of(key(u))));
        });
        let own = Counts::of(&named, substrings.distinct());
        let counts = handed_on(&own, names.count as usize, |name| neighbours.get(name as usize));
        (Self { kernel, letters, codes, substrings, neighbours, names }, counts)
    }

    /// Counts the neighbours of other strings, by the same names; those that no training string has come after them.
    pub(super) fn count(&self, strings: &dyn Examples<str>) -> Counts {
        let length = self.kernel.length.max(1);
        let coded = coded(&self.codes, self.letters, strings);
        let (named, distinct) = self.substrings.name(&coded);
        let known = self.substrings.distinct();
        let key = key_of(self.letters, length);
        let mut names = Extended::new(&self.names);
        let strange = first_places(&coded, &named, length, known, distinct - known);
        let strange = Sequences::build(strange.into_iter(), |piece, items| {
            self.kernel.visit_neighbours(self.letters as u32, piece, &mut |u| items.push(names.of(key(u))));
        });
        let own = Counts::of(&named, distinct);
        handed_on(&own, names.count(), |name| match (name as usize).checked_sub(known) {
            Some(at) => strange.get(at),
            None => self.neighbours.get(name as usize),
        })
    }
}

/// The place of each character in the alphabet; one past its end for those that are not in it.
fn coded(codes: &HashMap<u32, u32>, letters: usize, strings: &dyn Examples<str>) -> Sequences {
    Sequences::build((0..strings.len()).map(|i| strings.get(i)), |string, items| {
        items.extend(string.chars().map(|c| codes.get(&u32::from(c)).copied().unwrap_or(letters as u32)));
    })
}

/// The number of u to the base |Σ|, which is known to be below 2⁶³.
fn key_of(letters: usize, length: usize) -> impl Fn(&[u32]) -> u64 {
    let exact = number(letters, length, u64::MAX / 2);
    move |u: &[u32]| exact.as_ref().map_or(0, |number| number(u))
}

/// The first place of the substring of each of `count` names from `first` on.
fn first_places<'a>(
    coded: &'a Sequences,
    named: &Sequences,
    length: usize,
    first: usize,
    count: usize,
) -> Vec<&'a [u32]> {
    let mut places: Vec<&[u32]> = vec![&[]; count];
    for (string, names) in coded.iter().zip(named.iter()) {
        for (piece, &name) in string.windows(length).zip(names) {
            if let Some(place) = (name as usize).checked_sub(first).and_then(|at| places.get_mut(at))
                && place.is_empty()
            {
                *place = piece;
            }
        }
    }
    places
}

/// Every substring hands its count to its neighbours, whose names are below `total`.
fn handed_on<'a>(own: &Counts, total: usize, neighbours: impl Fn(u32) -> &'a [u32]) -> Counts {
    let handed = |i: usize| own.get(i).iter().map(|e| neighbours(e.key).len()).sum::<usize>();
    if (0..own.len()).map(handed).sum::<usize>() < total {
        // few strings: sorting what they hand on is less than a table of all names
        let list = |i| {
            let mut all: Vec<Entry> = Vec::with_capacity(handed(i));
            for e in own.get(i) {
                all.extend(neighbours(e.key).iter().map(|&key| Entry { key, count: e.count }));
            }
            all.sort_unstable_by_key(|e| e.key);
            all.dedup_by(|next, kept| {
                let same = next.key == kept.key;
                kept.count += if same { next.count } else { 0 };
                same
            });
            all
        };
        return Counts::from_lists((0..own.len()).map(list), total);
    }
    let (mut sums, mut touched) = (vec![0_u32; total], Vec::new());
    let list = |i| {
        for e in own.get(i) {
            for &u in neighbours(e.key) {
                if sums[u as usize] == 0 {
                    touched.push(u);
                }
                sums[u as usize] += e.count;
            }
        }
        touched.sort_unstable();
        touched.drain(..).map(|key| Entry { key, count: std::mem::take(&mut sums[key as usize]) }).collect()
    };
    Counts::from_lists((0..own.len()).map(list), total)
}
