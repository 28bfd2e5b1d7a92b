//! Tests of the subsequence kernel.

use super::*;
use crate::gram::fill;
use crate::kernels::text::testing::{check_matrix, random_strings};
use std::collections::HashMap;

/// φ(s): every choice of r places adds λ to the power of its extent.
fn features(s: &[char], r: usize, decay: f64) -> HashMap<Vec<char>, f64> {
    let mut found = HashMap::new();
    for set in 0_u32..1 << s.len() {
        if set.count_ones() as usize == r {
            let places: Vec<usize> = (0..s.len()).filter(|i| set >> i & 1 == 1).collect();
            let extent = places[r - 1] - places[0] + 1;
            *found.entry(places.iter().map(|&i| s[i]).collect()).or_insert(0.0) += decay.powi(extent as i32);
        }
    }
    found
}

fn by_features(x: &str, y: &str, r: usize, decay: f64) -> f64 {
    let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
    let y = features(&y, r, decay);
    features(&x, r, decay).iter().map(|(u, a)| a * y.get(u).unwrap_or(&0.0)).sum()
}

#[test]
fn fixtures() {
    for decay in [0.5_f64, 0.3, 1.0] {
        let kernel = Subsequence { length: 2, decay };
        let (fourth, sixth) = (decay.powi(4), decay.powi(6));
        assert!((kernel.eval("cat", "car") - fourth).abs() < 1e-15);
        assert!((kernel.eval("cat", "cat") - (2.0 * fourth + sixth)).abs() < 1e-15);
        assert!((kernel.eval("bat", "cat") - fourth).abs() < 1e-15);
        assert_eq!(kernel.eval("bat", "car"), 0.0);
        assert_eq!(kernel.eval("c", "cat"), 0.0);
        assert_eq!(kernel.eval("", ""), 0.0);
    }
    // λ = 1 counts pairs of subsequences: C(4, 2) · C(3, 2)
    assert_eq!(Subsequence { length: 2, decay: 1.0 }.eval("aaaa", "aaa"), 18.0);
    assert_eq!(Subsequence { length: 1, decay: 1.0 }.eval("äbä", "ä"), 2.0, "characters, not bytes");
}

#[test]
fn values_are_those_of_the_definition() {
    for (letters, r, decay) in
        [(1, 3, 0.7), (2, 1, 0.5), (2, 2, 0.5), (2, 3, 0.9), (3, 4, 1.0), (3, 5, 0.2), (300, 2, 0.6)]
    {
        let rows = random_strings(11, 9, letters, "rows");
        let mut cols = random_strings(23, 8, letters, "cols");
        cols.push(rows.iter().map(String::as_str).max_by_key(|s| s.len()).unwrap_or_default().to_owned());
        let kernel = Subsequence { length: r, decay };
        let gram = Arc::new(kernel.clone()).gram(Arc::new(rows.clone()), Arc::new(cols.clone()));
        let mut k = vec![0.0; rows.len() * cols.len()];
        fill(gram.as_ref(), &mut k);
        assert!(k.iter().any(|&v| v > 0.0), "the case shares no subsequence: {letters} {r}");
        for (i, x) in rows.iter().enumerate() {
            for (j, y) in cols.iter().enumerate() {
                let right = by_features(x, y, r, decay);
                let tolerance = 1e-13 * right;
                assert!((kernel.eval(x, y) - right).abs() <= tolerance, "{x} {y} {r}");
                let fast = k[i * cols.len() + j];
                assert!((fast - right).abs() <= tolerance, "{x} {y} {r}: {fast} {right}");
            }
        }
    }
}

#[test]
fn blocks_agree_with_single_values() {
    for (letters, r, decay) in [(4, 1, 0.5), (4, 2, 0.8), (4, 3, 0.5), (300, 2, 0.9), (4, 6, 0.3)] {
        let mut strings = random_strings(40, 50, letters, "blocks");
        strings.push(String::new());
        strings.push(strings[3].clone());
        check_matrix(&Subsequence { length: r, decay }, &strings, 1e-12);
    }
}

#[test]
fn a_value_does_not_depend_on_its_neighbours() {
    let strings = random_strings(33, 40, 3, "lanes");
    let gram = Arc::new(Subsequence::default()).gram(Arc::new(strings.clone()), Arc::new(strings.clone()));
    let mut k = vec![0.0; 33 * 33];
    fill(gram.as_ref(), &mut k);
    let diagonal: Vec<f64> = (0..33).map(|i| k[i * 34]).collect();
    assert_eq!(crate::gram::diagonal(gram.as_ref()), diagonal, "bit-equal");
    assert_eq!(gram.self_similarities(crate::gram::Side::Rows), Some(diagonal));
}
