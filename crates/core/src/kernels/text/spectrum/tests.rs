//! Tests of the spectrum kernel.

use super::*;
use crate::gram::{BlockMut, Pick, Side, fill, fill32};
use crate::kernels::text::testing::{check_matrix, random_strings};

/// Σ over all places of both strings: the definition with no counting at all.
fn by_places(x: &str, y: &str, p: usize) -> f64 {
    let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
    let mut sum = 0;
    for a in 0..(x.len() + 1).saturating_sub(p) {
        for b in 0..(y.len() + 1).saturating_sub(p) {
            sum += usize::from(x[a..a + p] == y[b..b + p]);
        }
    }
    sum as f64
}

fn whole(p: usize, rows: &[String], cols: &[String]) -> Vec<f64> {
    let gram = Arc::new(Spectrum { length: p }).gram(Arc::new(rows.to_vec()), Arc::new(cols.to_vec()));
    let mut k = vec![0.0; rows.len() * cols.len()];
    fill(gram.as_ref(), &mut k);
    k
}

#[test]
fn fixtures() {
    let p3 = Spectrum::default();
    assert_eq!(p3.eval("statistics", "computation"), 2.0);
    assert_eq!(Spectrum { length: 1 }.eval("aab", "aa"), 4.0);
    assert_eq!(Spectrum { length: 2 }.eval("aaaa", "aaa"), 6.0, "overlaps count");
    assert_eq!(p3.eval("ab", "ab"), 0.0);
    assert_eq!(p3.eval("", "abc"), 0.0);
    assert_eq!(p3.eval("äöü", "xäöü"), 1.0, "characters, not bytes");
}

#[test]
fn values_are_those_of_the_definition() {
    // alphabets of 1, 2, 4, 26 and 3 000 letters; lengths below and beyond what a 64-bit key holds
    for (letters, p) in
        [(1, 3), (1, 70), (2, 1), (2, 5), (2, 66), (4, 3), (4, 8), (4, 33), (26, 2), (3000, 2), (3000, 6), (2, 200)]
    {
        let rows = random_strings(41, 90 + 2 * p, letters, "rows");
        let mut cols = random_strings(37, 90, letters, "cols");
        // a string in a longer one, and beside another
        cols.extend(rows.iter().take(9).map(|s| format!("xy{s}{}", rows[9])));
        let k = whole(p, &rows, &cols);
        let mut some = 0.0;
        for (i, x) in rows.iter().enumerate() {
            for (j, y) in cols.iter().enumerate() {
                let right = by_places(x, y, p);
                assert_eq!(Spectrum { length: p }.eval(x, y), right, "{x} {y} {p}");
                assert_eq!(k[i * cols.len() + j], right, "{x} {y} {p}");
                some += right;
            }
        }
        assert!(some > 0.0, "the case shares no substring: {letters} {p}");
    }
}

#[test]
fn blocks_agree_with_single_values() {
    // shared substrings: many (panels), few (lists), hardly any with long keys
    for (letters, p, panels) in [(4, 2, true), (4, 6, false), (300, 9, false)] {
        let mut strings = random_strings(70, 120, letters, "blocks");
        strings.push(String::new());
        strings.push(strings[3].clone());
        let kernel = Spectrum { length: p };
        let characters = Sequences::characters(&strings);
        let (names, named) = Substrings::learn(&characters, p);
        let counts = Arc::new(Counts::of(&named, names.distinct()));
        assert_eq!(SpectrumGram::of(&counts, &counts).uses_panels(), panels, "{letters} {p}");
        check_matrix(&kernel, &strings, 0.0);
    }
}

#[test]
fn large_values_stay_exact() {
    // κ = 9 000² > 2²⁴: sums in f32 would round
    let long = "a".repeat(9001);
    let strings: Vec<String> = (0..8).map(|i| format!("{}{long}", "b".repeat(i))).collect();
    let k = whole(1, &strings, &strings);
    for i in 0..8 {
        for j in 0..8 {
            assert_eq!(k[i * 8 + j], 9001.0 * 9001.0 + (i * j) as f64);
        }
    }
    let gram = Arc::new(Spectrum { length: 1 }).gram(Arc::new(strings.clone()), Arc::new(strings));
    let mut narrow = vec![0.0; 64];
    fill32(gram.as_ref(), &mut narrow);
    assert!(narrow.iter().zip(&k).all(|(a, b)| *a == *b as f32));
}

#[test]
fn one_collection_is_prepared_once_and_equals_two() {
    let strings = random_strings(30, 60, 4, "same");
    let two = whole(4, &strings, &strings);
    let shared: Arc<dyn Examples<str>> = Arc::new(strings);
    let gram = Arc::new(Spectrum { length: 4 }).gram(Arc::clone(&shared), shared);
    let mut one = vec![0.0; 900];
    fill(gram.as_ref(), &mut one);
    assert_eq!(one, two);
    let diagonal: Vec<f64> = (0..30).map(|i| one[i * 31]).collect();
    assert_eq!(gram.self_similarities(Side::Columns), Some(diagonal));
}

#[test]
fn nothing_to_compare() {
    let none: Vec<String> = Vec::new();
    assert!(whole(3, &none, &none).is_empty());
    assert_eq!(whole(3, &[String::new(), "ab".to_owned()], &[String::new()]), [0.0, 0.0]);
    let gram = Arc::new(Spectrum::default()).gram(Arc::new(vec!["abc".to_owned()]), Arc::new(none));
    assert_eq!(gram.shape(), (1, 0));
    gram.block(Pick::Range(0..1), Pick::Range(0..0), BlockMut::new(&mut [], 1, 0));
}
