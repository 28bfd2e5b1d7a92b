//! Tests of bags of words.

use super::*;
use crate::kernels::text::testing::{check_features, check_matrix, check_shares};
use crate::seed::Seed;

/// Sentences of few words, so that many are shared.
fn sentences(n: usize) -> Vec<String> {
    let words =
        ["the", "cat", "Cats", "sat", "on", "a", "mat", "running", "runs", "Ärger", "x1", "of", "hopeful", "hopes"];
    let mut random = Seed(5).stream("sentences");
    let mut all: Vec<String> = (0..n)
        .map(|_| (0..random.below(12)).map(|_| words[random.below(words.len())]).collect::<Vec<_>>().join(", "))
        .collect();
    all.push("!?".to_owned());
    all.push(all[3].to_uppercase());
    all
}

/// Every setting.
fn kernels() -> Vec<BagOfWords> {
    let mut all = Vec::new();
    for ngram in [1, 3] {
        for stop_words in [StopWords::None, StopWords::English] {
            for stem in [Stem::None, Stem::English] {
                for weighting in [Weighting::Tf, Weighting::Log, Weighting::Binary, Weighting::Tfidf] {
                    all.push(BagOfWords { ngram, stop_words, stem, weighting, vocabulary: None });
                }
            }
        }
    }
    all
}

/// The definition: all terms of both, each pair of occurrences compared.
fn by_occurrences(x: &str, y: &str, kernel: &BagOfWords, training: &[String]) -> f64 {
    let terms = |s: &str| kernel.splitter().terms(s).into_iter().map(|t| t.text).collect::<Vec<_>>();
    let (x, y) = (terms(x), terms(y));
    let mut distinct = x.clone();
    distinct.sort();
    distinct.dedup();
    let feature = |all: &[String], w: &String| {
        let c = all.iter().filter(|t| *t == w).count() as f64;
        match kernel.weighting {
            Weighting::Tf => c,
            Weighting::Log => (1.0 + c).ln(),
            Weighting::Binary => f64::from(u8::from(c > 0.0)),
            Weighting::Tfidf => {
                let holders = training.iter().filter(|t| terms(t).contains(w)).count() as f64;
                if holders == 0.0 { 0.0 } else { c * (training.len() as f64 / holders).ln() }
            }
        }
    };
    distinct.iter().map(|w| feature(&x, w) * feature(&y, w)).sum()
}

#[test]
fn values_are_those_of_the_definition() {
    let training = sentences(20);
    let mut all = training[..12].to_vec();
    all.extend(["a dog and a cat".to_owned(), "dogs".to_owned(), String::new()]);
    for mut kernel in kernels() {
        kernel.learn(&training);
        for x in &all {
            for y in &all {
                let wanted = by_occurrences(x, y, &kernel, &training);
                assert!((kernel.eval(x, y) - wanted).abs() <= 1e-12 * wanted.max(1.0), "{x} | {y} | {kernel:?}");
            }
        }
    }
}

#[test]
fn every_road_gives_the_same_values() {
    let training = sentences(40);
    for mut kernel in kernels() {
        kernel.learn(&training);
        check_matrix(&kernel, &training, 1e-12);
        check_features(&kernel, &training, 1e-12);
        check_shares(&kernel, &training, 1e-12);
    }
}

#[test]
fn weights_are_those_of_the_training_texts() {
    let mut kernel = BagOfWords { weighting: Weighting::Tfidf, ..BagOfWords::default() };
    assert!(kernel.eval("a", "a").is_nan() && kernel.learned().is_none());
    kernel.learn(&vec!["a b".to_owned(), "a c c".to_owned(), "a".to_owned()]);
    let square = 3_f64.ln().powi(2);
    assert!((kernel.eval("b a", "b") - square).abs() < 1e-15);
    assert_eq!(kernel.eval("a", "a"), 0.0, "in every text");
    assert_eq!(kernel.eval("new", "new"), 0.0, "in no text");
    assert!((kernel.eval("c c", "c") - 2.0 * square).abs() < 1e-15);
    let learned = kernel.learned().expect("weights");
    assert_eq!(learned.words, ["a", "b", "c"]);
    let mut other = BagOfWords { weighting: Weighting::Tfidf, ..BagOfWords::default() };
    assert!(other.set_learned(learned) && other == kernel);
    assert!(!other.set_learned(Learned { words: vec!["a".to_owned()], numbers: Vec::new() }));
    assert!(!other.set_learned(Learned { words: vec!["a".to_owned()], numbers: vec![-1.0] }));
}
