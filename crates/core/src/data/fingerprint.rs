//! Fingerprints: numbers that differ, but for an accident of one in 2⁶⁴, where examples do.

use super::{Dataset, Scalar, Target, Values};
use rayon::prelude::*;

/// Takes a word into a running number: a product with an odd constant, and its upper half folded onto the lower.
fn mix(state: u64, word: u64) -> u64 {
    let product = u128::from(state ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    (product as u64) ^ ((product >> 64) as u64) ^ state.rotate_left(17)
}

const START: u64 = 0x243F_6A88_85A3_08D3;

fn dense<S: Scalar>(row: &[S]) -> u64 {
    row.iter().fold(START, |state, v| mix(state, (v.wide() + 0.0).to_bits()))
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
            Self::Text(t) => t[i].bytes().fold(START, |s, b| mix(s, u64::from(b))),
            Self::Index(t) => mix(START, u64::from(t[i])),
        };
        (0..self.len()).into_par_iter().map(of).collect()
    }
}

impl Dataset {
    /// A word that recognises these examples and their target in this order: how many there are, and two numbers.
    pub fn fingerprint(&self) -> String {
        let views = self.views().iter().map(|v| v.values.fingerprints());
        let examples = views.flatten().fold(START, mix);
        let target = self.target().map_or(0, target_fingerprint);
        format!("{}-{examples:016x}-{target:016x}", self.len())
    }

    /// A number for each example with its target.
    pub fn example_fingerprints(&self) -> Vec<u64> {
        let mut rows = self.row_fingerprints();
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

    /// Whether two examples are the same in every view.
    pub fn has_copies(&self) -> bool {
        let mut rows = self.row_fingerprints();
        rows.sort_unstable();
        rows.windows(2).any(|two| two[0] == two[1])
    }
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
            let labels: Vec<u64> =
                classes.labels.iter().map(|l| l.bytes().fold(START, |s, b| mix(s, u64::from(b)))).collect();
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
        assert!(!set(&[1.0, 2.0, 3.0, 4.0]).has_copies());
        assert!(set(&[1.0, 2.0, 3.0, 4.0, 1.0, 2.0]).has_copies());
        let text = Dataset::new(vec!["ab".to_owned(), "ba".to_owned()]);
        assert!(!text.has_copies());
        let mut sparse = SparseRows::<f64>::new(5);
        for _ in 0..2 {
            sparse.push(&[Coordinate { index: 3, value: 1.0 }]);
        }
        assert!(Dataset::new(sparse).has_copies());
    }
}
