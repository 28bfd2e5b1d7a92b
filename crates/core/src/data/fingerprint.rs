//! Fingerprints: numbers that differ, but for an accident of one in 2⁶⁴, where examples do.

use super::{Dataset, Scalar, Target, Values};
use rayon::prelude::*;

/// Takes a word into a running number: a product with an odd constant, and its upper half folded onto the lower.
fn mix(state: u64, word: u64) -> u64 {
    let product = u128::from(state ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    (product as u64) ^ ((product >> 64) as u64) ^ state.rotate_left(17)
}

const START: u64 = 0x243F_6A88_85A3_08D3;

/// In four running numbers, which do not wait for one another.
fn dense<S: Scalar>(row: &[S]) -> u64 {
    let word = |v: &S| (v.wide() + 0.0).to_bits();
    let mut lanes = [START, START.rotate_left(16), START.rotate_left(32), START.rotate_left(48)];
    let (fours, rest) = row.as_chunks::<4>();
    for four in fours {
        lanes.iter_mut().zip(four).for_each(|(lane, v)| *lane = mix(*lane, word(v)));
    }
    lanes.into_iter().chain(rest.iter().map(word)).fold(row.len() as u64, mix)
}

fn of_text(text: &str) -> u64 {
    text.bytes().fold(START, |s, b| mix(s, u64::from(b)))
}

impl Values {
    /// A number for each example.
    pub fn fingerprints(&self) -> Vec<u64> {
        let of = |i: usize| match self {
            Self::Dense(r) => dense(r.row(i)),
            Self::Dense32(r) => dense(r.row(i)),
            Self::Sparse(r) => r.row(i).iter().fold(START, |s, c| mix(mix(s, u64::from(c.index)), c.value.to_bits())),
            Self::Sparse32(r) => {
                r.row(i).iter().fold(START, |s, c| mix(mix(s, u64::from(c.index)), f64::from(c.value).to_bits()))
            }
            Self::Text(t) => of_text(&t[i]),
            Self::Index(t) => mix(START, u64::from(t[i])),
            Self::Items(c) => of_text(&c.text(i)),
        };
        (0..self.len()).into_par_iter().map(of).collect()
    }
}

impl Dataset {
    /// A word that recognises these examples and their target in this order: how many there are, and two numbers.
    pub fn fingerprint(&self) -> String {
        self.fingerprint_of(&self.row_fingerprints())
    }

    /// The fingerprint, and whether two examples are the same in every view.
    pub fn fingerprint_and_copies(&self) -> (String, bool) {
        let rows = self.row_fingerprints();
        (self.fingerprint_of(&rows), any_twice(&rows))
    }

    fn fingerprint_of(&self, rows: &[u64]) -> String {
        let examples = rows.iter().copied().fold(START, mix);
        let target = self.target().map_or(0, target_fingerprint);
        format!("{}-{examples:016x}-{target:016x}", self.len())
    }

    /// The fingerprint, and those of its examples with their targets.
    pub(crate) fn fingerprint_and_examples(&self) -> (String, Vec<u64>) {
        let rows = self.row_fingerprints();
        (self.fingerprint_of(&rows), self.with_targets(rows))
    }

    /// A number for each example with its target.
    pub fn example_fingerprints(&self) -> Vec<u64> {
        self.with_targets(self.row_fingerprints())
    }

    fn with_targets(&self, mut rows: Vec<u64>) -> Vec<u64> {
        if let Some(target) = self.target() {
            rows.iter_mut().zip(target_fingerprints(target)).for_each(|(row, f)| *row = mix(*row, f));
        }
        rows
    }

    fn row_fingerprints(&self) -> Vec<u64> {
        let mut rows = vec![START; self.len()];
        for view in self.views() {
            rows.iter_mut().zip(view.values.fingerprints()).for_each(|(row, f)| *row = mix(*row, f));
        }
        rows
    }
}

/// True if a number occurs twice. Fingerprints are as good as random, so they are their own places in a table of twice the
/// size.
fn any_twice(numbers: &[u64]) -> bool {
    let size = (2 * numbers.len()).next_power_of_two().max(2);
    let mut table = vec![0_u64; size];
    let mut zero = false;
    for &number in numbers {
        // 0 stands for an empty place
        if number == 0 {
            if zero {
                return true;
            }
            zero = true;
            continue;
        }
        let mut place = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (size - 1);
        while table[place] != 0 {
            if table[place] == number {
                return true;
            }
            place = (place + 1) & (size - 1);
        }
        table[place] = number;
    }
    false
}

fn target_fingerprint(target: &Target) -> u64 {
    target_fingerprints(target).into_iter().fold(START, mix)
}

/// A number for each target.
fn target_fingerprints(target: &Target) -> Vec<u64> {
    if let Ok(numbers) = target.numbers() {
        let width = numbers.names.len().max(1);
        let of = |row: &[f64]| row.iter().fold(START, |s, v| mix(s, (v + 0.0).to_bits()));
        return numbers.values.chunks_exact(width).map(of).collect();
    }
    target.classes().map_or_else(
        |_| Vec::new(),
        |classes| {
            let labels: Vec<u64> = classes.labels.iter().map(|l| of_text(l)).collect();
            classes.codes.iter().map(|&c| labels[c as usize]).collect()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Coordinate, Rows, SparseRows};

    fn set(values: &[f64]) -> Dataset {
        Dataset::new(Rows::new(values.to_vec(), values.len() / 2, 2).unwrap())
    }

    #[test]
    fn a_number_that_stands_twice_is_found() {
        let mut all: Vec<u64> = (0..5000).map(|i| mix(START, i)).collect();
        assert!(!any_twice(&all) && !any_twice(&[]) && !any_twice(&[0]) && !any_twice(&[0, 1, 1 << 40]));
        assert!(any_twice(&[0, 3, 0]) && any_twice(&[7, 7]));
        for (a, b) in [(0, 4999), (17, 18), (2500, 1)] {
            let kept = all[a];
            all[a] = all[b];
            assert!(any_twice(&all));
            all[a] = kept;
        }
        // numbers that all want the same place
        let crowded: Vec<u64> = (1..200).map(|i| i << 52).collect();
        assert!(!any_twice(&crowded));
    }

    #[test]
    fn any_change_is_seen_and_storage_is_not() {
        let plain = set(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(plain.fingerprint(), set(&[1.0, 2.0, 3.0, 4.0]).fingerprint());
        for other in
            [set(&[1.0, 2.0, 3.0, 4.5]), set(&[3.0, 4.0, 1.0, 2.0]), set(&[2.0, 1.0, 3.0, 4.0]), set(&[1.0, 2.0])]
        {
            assert_ne!(plain.fingerprint(), other.fingerprint());
        }
        let named = |labels: &[&str]| plain.clone().with_target(Target::from_text("y", labels)).unwrap().fingerprint();
        assert_ne!(named(&["a", "b"]), named(&["b", "a"]));
        assert_ne!(named(&["a", "b"]), plain.fingerprint());
        let narrow = Dataset::new(Rows::new(vec![1.0_f32, 2.0, 3.0, 4.0], 2, 2).unwrap());
        assert_eq!(narrow.fingerprint(), plain.fingerprint());
        assert_eq!(set(&[0.0, 1.0]).fingerprint(), set(&[-0.0, 1.0]).fingerprint());
    }

    #[test]
    fn copies_are_found() {
        assert!(!set(&[1.0, 2.0, 3.0, 4.0]).fingerprint_and_copies().1);
        assert!(set(&[1.0, 2.0, 3.0, 4.0, 1.0, 2.0]).fingerprint_and_copies().1);
        let text = Dataset::new(vec!["ab".to_owned(), "ba".to_owned()]);
        assert!(!text.fingerprint_and_copies().1);
        let mut sparse = SparseRows::<f64>::new(5);
        for _ in 0..2 {
            sparse.push(&[Coordinate { index: 3, value: 1.0 }]);
        }
        assert!(Dataset::new(sparse).fingerprint_and_copies().1);
    }
}
