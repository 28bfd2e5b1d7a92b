//! Data-driven parameters of kernels: `gamma=scale`, `median`, `1/d`.

use super::Leaf;
use crate::data::{Rows, Scalar, SparseRows, Values};
use crate::params::{Auto, AutoList, Choice, Rule, TextCheck, Visit};
use crate::seed::Seed;

/// The words of data-driven parameters, which [`resolve`] turns into numbers.
///
/// * `scale`: 1/(d · variance of all entries), as scikit-learn; 1 if the variance is zero.
/// * `median`: 1/(2 · median²) of the distances between (at most a thousand) examples, so that σ is the median distance.
/// * `1/d`: one over the number of coordinates.
///
/// A parameter that is a dimension has the word `d`, the number of coordinates itself.
pub(crate) const WORDS: &[&str] = &["scale", "median", "1/d"];

/// Computes the data-driven parameters of a kernel, and lets it learn what else it needs; kernels of other kinds of data have no
/// such parameters.
pub fn resolve(leaf: &mut dyn Leaf, values: &Values, seed: Seed) {
    let width = values.width().unwrap_or(1);
    leaf.visit(&mut Resolver { values, width, seed });
    leaf.learn(values);
}

/// The same from a part of the examples, of which the others may have no part in a number: sparse vectors have as many coordinates as
/// these examples show, not as all together.
pub(crate) fn resolve_part(leaf: &mut dyn Leaf, values: &Values, seed: Seed) {
    let width = match values {
        Values::Sparse(rows) => shown(rows),
        Values::Sparse32(rows) => shown(rows),
        other => other.width().unwrap_or(1),
    };
    leaf.visit(&mut Resolver { values, width, seed });
    leaf.learn(values);
}

/// One more than the largest index of a stored coordinate.
fn shown<S: Scalar>(rows: &SparseRows<S>) -> usize {
    rows.coordinates().iter().map(|c| c.index as usize + 1).max().unwrap_or(0)
}

struct Resolver<'a> {
    values: &'a Values,
    /// The number of coordinates.
    width: usize,
    seed: Seed,
}

impl Visit for Resolver<'_> {
    fn real(&mut self, _: &'static str, _: &mut f64, _: Rule, _: &'static str) {}
    fn count(&mut self, _: &'static str, _: &mut usize, _: Rule, _: &'static str) {}
    fn switch(&mut self, _: &'static str, _: &mut bool, _: &'static str) {}
    fn choice(&mut self, _: &'static str, _: &mut dyn Choice, _: &'static str) {}
    fn text(&mut self, _: &'static str, _: &mut String, _: TextCheck, _: &'static str) {}
    fn reals(&mut self, _: &'static str, _: &mut Vec<f64>, _: Rule, _: &'static str) {}
    fn autos(&mut self, _: &'static str, _: &mut AutoList, _: &'static [&'static str], _: Rule, _: &'static str) {}
    fn spelling(&mut self, _: &'static str, _: &'static str, _: &mut Auto, _: fn(f64) -> f64, _: &'static str) {}
    fn auto(&mut self, _: &'static str, value: &mut Auto, _: &'static [&'static str], _: Rule, _: &'static str) {
        if let Auto::Word(word) = *value {
            *value = Auto::Value(number(word, self.values, self.width, self.seed));
        }
    }
}

fn number(word: &str, values: &Values, width: usize, seed: Seed) -> f64 {
    let width = width.max(1) as f64;
    let found = match word {
        "scale" => 1.0 / (width * variance(values, width)),
        "median" => 1.0 / (2.0 * median_square(values, seed)),
        "d" => width,
        _ => 1.0 / width,
    };
    if found.is_finite() && found > 0.0 { found } else { 1.0 }
}

/// The variance of all entries, zeros of sparse vectors of so many coordinates included.
fn variance(values: &Values, width: f64) -> f64 {
    fn of<S: Scalar>(entries: impl Iterator<Item = S> + Clone, count: f64) -> f64 {
        let count = count.max(1.0);
        let mean = entries.clone().map(Scalar::wide).sum::<f64>() / count;
        let stored = entries.clone().count() as f64;
        let spread: f64 = entries.map(|x| (x.wide() - mean) * (x.wide() - mean)).sum();
        (spread + (count - stored) * mean * mean) / count
    }
    match values {
        Values::Dense(r) => of(known(r.values()), known(r.values()).count() as f64),
        Values::Dense32(r) => of(known(r.values()), known(r.values()).count() as f64),
        Values::Sparse(r) => of(r.coordinates().iter().map(|c| c.value), r.len() as f64 * width),
        Values::Sparse32(r) => of(r.coordinates().iter().map(|c| c.value), r.len() as f64 * width),
        Values::Text(_) | Values::Index(_) | Values::Items(_) => 1.0,
    }
}

/// The numbers that are not missing.
fn known<S: Scalar>(values: &[S]) -> impl Iterator<Item = S> + Clone {
    values.iter().copied().filter(|x| !x.wide().is_nan())
}

/// Largest number of examples whose distances are all looked at.
pub(crate) const SAMPLE: usize = 1000;

/// True if the number that stands for a word is taken from a sample of so many examples; where their number is not known, it may be.
pub(crate) fn samples(word: &str, examples: Option<usize>) -> bool {
    word == "median" && examples.is_none_or(|n| n > SAMPLE)
}

/// The squared median distance between different examples of a sample.
fn median_square(values: &Values, seed: Seed) -> f64 {
    let n = values.len();
    let chosen: Vec<usize> = if n <= SAMPLE {
        (0..n).collect()
    } else {
        let mut order = seed.stream("median").permutation(n);
        order.truncate(SAMPLE);
        order
    };
    let sample = values.select(&chosen);
    let mut squares = Vec::with_capacity(chosen.len() * chosen.len() / 2);
    for i in 0..chosen.len() {
        for j in 0..i {
            squares.push(match &sample {
                Values::Dense(r) => dense_square(r, i, j),
                Values::Dense32(r) => dense_square(r, i, j),
                Values::Sparse(r) => sparse_square(r, i, j),
                Values::Sparse32(r) => sparse_square(r, i, j),
                Values::Text(_) | Values::Index(_) | Values::Items(_) => 1.0,
            });
        }
    }
    if squares.is_empty() {
        return f64::NAN;
    }
    let middle = squares.len() / 2;
    *squares.select_nth_unstable_by(middle, f64::total_cmp).1
}

fn dense_square<S: Scalar>(rows: &Rows<S>, i: usize, j: usize) -> f64 {
    let squares = rows.row(i).iter().zip(rows.row(j)).map(|(a, b)| (a.wide() - b.wide()) * (a.wide() - b.wide()));
    squares.filter(|s| !s.is_nan()).sum()
}

fn sparse_square<S: Scalar>(rows: &SparseRows<S>, i: usize, j: usize) -> f64 {
    let mut sum = 0.0;
    super::vectors::merge(rows.row(i), rows.row(j), |a, b| sum += (a - b) * (a - b));
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_numbers() {
        let rows = Rows::new(vec![0.0, 0.0, 3.0, 4.0, 0.0, 1.0], 3, 2).unwrap();
        let sparse = Values::from(SparseRows::from_dense(&rows));
        let dense = Values::from(rows);
        // entries 0 0 3 4 0 1: mean 4/3, variance 26/6 − 16/9 = 23/9
        for values in [&dense, &sparse] {
            assert!((number("scale", values, 2, Seed(1)) - 9.0 / 46.0).abs() < 1e-14);
            assert!((number("1/d", values, 2, Seed(1)) - 0.5).abs() < 1e-15);
            // squared distances 25, 1, 18: median 18
            assert!((number("median", values, 2, Seed(1)) - 1.0 / 36.0).abs() < 1e-15);
        }
        // of a part, coordinates that only other examples have are none
        let rows = Rows::new(vec![0.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0, 1.0, 0.0], 3, 3).unwrap();
        let mut leaf = (crate::kernels::find("laplacian").unwrap().make)();
        resolve_part(leaf.as_mut(), &Values::from(SparseRows::from_dense(&rows)), Seed(1));
        assert_eq!(leaf.settings()[0].1.to_string(), "0.5");
        let constant = Values::from(Rows::new(vec![2.0; 6], 3, 2).unwrap());
        assert_eq!(number("scale", &constant, 2, Seed(1)), 1.0);
    }
}
