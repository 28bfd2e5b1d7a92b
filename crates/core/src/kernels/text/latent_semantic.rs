//! The latent semantic kernel: texts compared in the leading directions of the training texts.

use super::bag_of_words::BagOfWords;
use super::pieces::Piece;
use super::side::{FeatureSide, gram_of, projected};
use super::{Text, TextKernel};
use crate::data::{Examples, Kind, Values};
use crate::gram::Gram;
use crate::kernels::prepared::downcast;
use crate::kernels::{Definite, Domain, Kernel, KernelEntry, KernelError, KernelFacts, Learned, Prepared};
use crate::linalg::{KrylovOptions, top_eigen};
use crate::memory::check;
use crate::params::{Params, Rule, Visit};
use crate::sources::{self, Source};
use std::collections::BTreeMap;
use std::sync::Arc;

/// κ(s, t) = φ(s)ᵀ U_k U_kᵀ φ(t), where φ is a bag of words and U_k are the first k left singular vectors of the matrix
/// of words by training texts.
///
/// Words that the training texts use together share a direction, so two texts may be alike without a word in common.
/// Words that no training text holds weigh nothing. The directions belong to the model.
///
/// # Source
/// Cristianini, Shawe-Taylor & Lodhi, Latent Semantic Kernels (2002); Shawe-Taylor & Cristianini, Kernel Methods for
/// Pattern Analysis (2004), section 10.2.
///
/// # Use when
/// Texts are short or labels few, and different words mean the same: queries, headlines, notes. Normalise it.
///
/// # Cost
/// Learning: the k leading eigenvectors of the matrix between the training texts, which is only ever applied. Each text
/// then is k numbers, and each pair a product of these.
///
/// # Example
/// ```
/// use mercer::data::Values;
/// use mercer::kernels::{Leaf, text::{LatentSemantic, Text}};
///
/// let texts = ["car engine", "engine motor", "motor car", "cat dog", "dog cat"].map(str::to_owned);
/// let texts = Values::from(texts.to_vec());
/// let mut kernel = Text(LatentSemantic { rank: 2, ..LatentSemantic::default() });
/// kernel.learn(&texts);
/// let new = Values::from(vec!["a car".to_owned(), "the motor".into(), "my cat".into()]);
/// // no word in common, but cars have motors
/// assert!((kernel.eval(&new, 0, &new, 1) - 1.0 / 3.0).abs() < 1e-9);
/// assert!(kernel.eval(&new, 0, &new, 2).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LatentSemantic {
    /// k, how many directions are kept; at least 1.
    pub rank: usize,
    /// The rules by which a text becomes words with weights.
    pub words: BagOfWords,
    /// The row of U_k of every word of the training texts, where it is known.
    pub directions: Option<Arc<BTreeMap<String, Vec<f64>>>>,
}

impl Default for LatentSemantic {
    fn default() -> Self {
        Self { rank: 100, words: BagOfWords::default(), directions: None }
    }
}

impl Params for LatentSemantic {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("rank", &mut self.rank, Rule::AtLeast(1.0), "how many directions k of the training texts are kept");
        self.words.visit(v);
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "latent_semantic",
    aliases: &["semantic"],
    formula: "κ(s, t) = φ(s)ᵀ U_k U_kᵀ φ(t), φ a bag of words, U_k the k leading directions of the training texts",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Text,
    source: Source::new(&sources::LATENT_SEMANTIC, "the latent semantic kernel"),
    use_when: "texts are short, and different words mean the same",
    cost: "Learning: the k leading eigenvectors of the matrix between the training texts, which is only ever applied. Each text then is k numbers, and each pair a product of these.",
    make: || Box::new(Text(LatentSemantic::default())),
};

/// Eigenvalues below this share of the largest are rounding, and so are coordinates of unit vectors below it.
const ROUNDING: f64 = 1e-12;

/// A coordinate of a unit vector; zero where it is rounding, so that texts with nothing in common have κ = 0.
fn cleaned(coordinate: f64) -> f64 {
    if coordinate.abs() < ROUNDING { 0.0 } else { coordinate }
}

impl LatentSemantic {
    fn components(&self) -> usize {
        self.directions.as_ref().and_then(|known| known.values().next()).map_or(0, Vec::len)
    }

    fn projections(&self, strings: &dyn Examples<str>) -> Values {
        projected(strings, self.components(), &|text| self.project(text))
    }

    /// U_kᵀ φ of a text; `None` while nothing is learned.
    fn project(&self, text: &str) -> Option<Vec<f64>> {
        let known = self.directions.as_ref()?;
        let mut z = vec![0.0; self.components()];
        for (term, value) in self.words.weights(text)? {
            if let Some(row) = known.get(&term) {
                z.iter_mut().zip(row).for_each(|(z, u)| *z += value * u);
            }
        }
        Some(z)
    }
}

impl TextKernel for LatentSemantic {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn prepare(
        &self,
        strings: &Arc<dyn Examples<str>>,
        like: Option<&Arc<dyn Prepared>>,
    ) -> Result<Arc<dyn Prepared>, KernelError> {
        if let Some(like) = like {
            let like: Arc<FeatureSide<Self>> = downcast(like, ENTRY.name)?;
            return Ok(FeatureSide::of(
                &like.shared.projections(strings.as_ref()),
                Some(&like),
                Arc::clone(&like.shared),
            ));
        }
        let mut kernel = self.clone();
        if kernel.directions.is_none() {
            kernel.learn(strings.as_ref());
        }
        Ok(FeatureSide::of(&kernel.projections(strings.as_ref()), None, Arc::new(kernel)))
    }

    fn prepared_gram(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        FeatureSide::<Self>::products(rows, cols, ENTRY.name)
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts { learns: self.needs_learning(), ..KernelFacts::default() }
    }

    fn pieces(&self, string: &str, emit: &mut dyn FnMut(Piece)) -> bool {
        let Some(known) = &self.directions else { return false };
        self.words.terms(string, &mut |term, start, len, value| {
            for (key, u) in (0..).zip(known.get(term).into_iter().flatten()) {
                emit(Piece { start, len, key, value: value * u });
            }
        })
    }

    fn fits(&self, strings: &dyn Examples<str>) -> Result<(), KernelError> {
        self.words.fits(strings)?;
        let width = if self.directions.is_some() { self.components() } else { self.rank.min(strings.len()) };
        Ok(check(strings.len().saturating_mul(width).saturating_mul(16), "the coordinates of all texts")
            .map_err(|e| e.remedy("take a smaller rank or fewer texts, or raise --memory"))?)
    }

    fn learn(&mut self, strings: &dyn Examples<str>) {
        self.words.learn(strings);
        let texts: Vec<BTreeMap<String, f64>> =
            (0..strings.len()).map(|i| self.words.weights(strings.get(i)).unwrap_or_default()).collect();
        let mut places: BTreeMap<&str, usize> = texts.iter().flat_map(|t| t.keys().map(|w| (w.as_str(), 0))).collect();
        places.values_mut().enumerate().for_each(|(at, place)| *place = at);
        let (n, width) = (texts.len(), places.len());
        let rows: Vec<Vec<(usize, f64)>> =
            texts.iter().map(|t| t.iter().map(|(w, &value)| (places[w.as_str()], value)).collect()).collect();
        // Dᵀ v, one column of sums for each of b columns
        let back = |v: &[f64], b: usize| {
            let mut sums = vec![0.0; width * b];
            for (row, v) in rows.iter().zip(v.chunks(b)) {
                for &(word, value) in row {
                    sums[word * b..(word + 1) * b].iter_mut().zip(v).for_each(|(s, v)| *s += value * v);
                }
            }
            sums
        };
        let mut apply = |v: &[f64], b: usize, out: &mut [f64]| {
            let sums = back(v, b);
            out.fill(0.0);
            for (row, out) in rows.iter().zip(out.chunks_mut(b)) {
                for &(word, value) in row {
                    out.iter_mut().zip(&sums[word * b..(word + 1) * b]).for_each(|(o, s)| *o += value * s);
                }
            }
        };
        let wanted = self.rank.max(1).min(n);
        let found = match wanted {
            0 => None,
            _ => top_eigen(n, &mut apply, wanted, &KrylovOptions::default(), &mut |_, _| true).ok(),
        };
        let mut directions = vec![Vec::new(); width];
        if let Some(found) = found {
            let largest = found.values.first().copied().unwrap_or(0.0);
            let all = found.values.len();
            let kept = found.values.iter().take_while(|&&v| v > ROUNDING * largest && v > 0.0).count();
            // u = Dᵀ v/√λ
            let sums = back(&found.vectors, all.max(1));
            for (row, sums) in directions.iter_mut().zip(sums.chunks(all.max(1))) {
                row.extend(sums.iter().zip(&found.values).take(kept).map(|(s, value)| cleaned(s / value.sqrt())));
            }
        }
        self.directions = Some(Arc::new(places.into_keys().map(str::to_owned).zip(directions).collect()));
    }

    fn needs_learning(&self) -> bool {
        true
    }

    /// The weight of each word, then its row of U_k.
    fn learned(&self) -> Option<Learned> {
        let known = self.directions.as_ref()?;
        let weight = |word: &String| self.words.vocabulary.as_ref().and_then(|v| v.get(word)).map_or(0.0, |v| v.1);
        let numbers = known.iter().flat_map(|(word, row)| std::iter::once(weight(word)).chain(row.iter().copied()));
        Some(Learned { words: known.keys().cloned().collect(), numbers: numbers.collect() })
    }

    fn set_learned(&mut self, learned: Learned) -> bool {
        let Learned { words, numbers } = learned;
        let width = numbers.len() / words.len().max(1);
        let fits = width * words.len() == numbers.len()
            && (width > 0 || words.is_empty())
            && words.is_sorted_by(|a, b| a < b)
            && numbers.iter().all(|x| x.is_finite());
        if !fits {
            return false;
        }
        let lines = || numbers.chunks(width.max(1));
        if self.words.needs_learning() {
            let weights = Learned { words: words.clone(), numbers: lines().map(|line| line[0]).collect() };
            if !self.words.set_learned(weights) {
                return false;
            }
        }
        self.directions = Some(Arc::new(words.into_iter().zip(lines().map(|line| line[1..].to_vec())).collect()));
        true
    }
}

impl Kernel<str> for LatentSemantic {
    /// Not a number while nothing is learned.
    fn eval(&self, x: &str, y: &str) -> f64 {
        let (Some(x), Some(y)) = (self.project(x), self.project(y)) else { return f64::NAN };
        x.iter().zip(&y).map(|(a, b)| a * b).sum()
    }

    /// Where nothing is learned yet, it is learned from the columns.
    fn gram(self: Arc<Self>, rows: Arc<dyn Examples<str>>, cols: Arc<dyn Examples<str>>) -> Arc<dyn Gram> {
        gram_of(self.as_ref(), &rows, &cols)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::text::Weighting;
    use crate::kernels::text::testing::{check_features, check_matrix, check_shares};
    use crate::linalg::symmetric_eigen;
    use crate::seed::Seed;

    fn texts(n: usize) -> Vec<String> {
        let words = ["car", "motor", "engine", "wheel", "cat", "dog", "bird", "the", "a", "of"];
        let mut random = Seed(2).stream("latent");
        let mut line = || {
            let from = random.below(2) * 3;
            (0..2 + random.below(8)).map(|_| words[from + random.below(7)]).collect::<Vec<_>>().join(" ")
        };
        (0..n).map(|_| line()).collect()
    }

    /// φ(s)ᵀ U_k U_kᵀ φ(t) with U_k from the eigenvectors of DDᵀ, words by words.
    fn by_terms(kernel: &LatentSemantic, training: &[String], x: &str, y: &str) -> f64 {
        let bags: Vec<BTreeMap<String, f64>> = training.iter().map(|t| kernel.words.weights(t).unwrap()).collect();
        let mut words: Vec<&String> = bags.iter().flat_map(BTreeMap::keys).collect();
        words.sort();
        words.dedup();
        let n = words.len();
        let at = |bag: &BTreeMap<String, f64>, w: &String| bag.get(w).copied().unwrap_or(0.0);
        let square =
            words.iter().flat_map(|v| words.iter().map(|w| bags.iter().map(|b| at(b, v) * at(b, w)).sum::<f64>()));
        let eigen = symmetric_eigen(square.collect(), n).unwrap();
        let (x, y) = (kernel.words.weights(x).unwrap(), kernel.words.weights(y).unwrap());
        let project = |bag: &BTreeMap<String, f64>, k: usize| -> f64 {
            words.iter().enumerate().map(|(i, w)| at(bag, w) * eigen.vectors[i * n + k]).sum()
        };
        (0..kernel.rank.min(n)).map(|k| project(&x, k) * project(&y, k)).sum()
    }

    #[test]
    fn values_are_those_of_the_definition() {
        let training = texts(30);
        let mut all = training[..8].to_vec();
        all.extend(["a new car".to_owned(), "nothing known".to_owned(), String::new()]);
        for weighting in [Weighting::Tf, Weighting::Log, Weighting::Tfidf] {
            for rank in [1, 3, 10] {
                let words = BagOfWords { weighting, ..BagOfWords::default() };
                let mut kernel = LatentSemantic { rank, words, directions: None };
                kernel.learn(&training);
                for x in &all {
                    for y in &all {
                        let wanted = by_terms(&kernel, &training, x, y);
                        assert!((kernel.eval(x, y) - wanted).abs() < 1e-8, "{x} | {y} | {rank} {weighting:?}");
                        if rank == 10 && weighting != Weighting::Tfidf {
                            // all directions: nothing but unknown words is lost
                            let plain = kernel.words.eval(x, &y.replace("new", "").replace("nothing known", ""));
                            assert!((kernel.eval(x, y) - plain).abs() < 1e-8);
                        }
                    }
                }
                let learned = kernel.learned().unwrap();
                let mut other = LatentSemantic { rank, words: kernel.words.clone(), directions: None };
                assert!(other.set_learned(learned));
                assert_eq!(other, kernel);
                // relative to the norms, not to values that may be sums of opposite signs
                let own: Vec<String> = training[..12].iter().map(|s| s.replace("the", "")).collect();
                if rank == 1 {
                    check_matrix(&kernel, &training, 1e-9);
                    check_features(&kernel, &own, 1e-9);
                    check_shares(&kernel, &own, 1e-9);
                }
            }
        }
    }

    #[test]
    fn nothing_to_learn_from() {
        let mut kernel = LatentSemantic::default();
        assert!(kernel.eval("a", "a").is_nan());
        kernel.learn(&Vec::<String>::new());
        assert_eq!(kernel.eval("a", "a"), 0.0);
        kernel.learn(&vec!["!".to_owned(), String::new()]);
        assert_eq!(kernel.eval("a", "a"), 0.0);
        assert!(!kernel.set_learned(Learned { words: vec!["a".to_owned()], numbers: Vec::new() }));
    }
}
