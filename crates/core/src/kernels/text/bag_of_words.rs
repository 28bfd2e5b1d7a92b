//! Bags of words: texts compared by the words they use.

mod stem;
mod words;

use super::pieces::{EXACT_KEYS, Piece, hash};
use super::side::{FeatureSide, gram_of};
use super::{Text, TextKernel};
use crate::data::{Coordinate, Examples, Kind, SparseRows};
use crate::gram::Gram;
use crate::kernels::prepared::downcast;
use crate::kernels::{Definite, Domain, Kernel, KernelEntry, KernelError, KernelFacts, Learned, Prepared};
use crate::memory::check;
use crate::params::{Choice, Params, Rule, Visit};
use crate::sources::{self, Source};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use words::Splitter;

/// κ(s, t) = Σ_w φ_w(s) φ_w(t), where φ_w(s) weighs how often the word w stands in s.
///
/// Words are runs of letters and digits in lower case; with `ngram` n also runs of up to n words. `weighting` makes a
/// feature of the count c: `tf` is c itself, `log` ln(1 + c), `binary` 1 where c > 0, and `tfidf` c · ln(m/m_w), where m_w
/// of the m training texts hold w: words that stand in all texts, or in none of the training texts, weigh nothing. These
/// weights belong to the model.
///
/// # Source
/// Shawe-Taylor & Cristianini, Kernel Methods for Pattern Analysis (2004), section 10.2; Herbrich, Learning Kernel
/// Classifiers (2002), (2.24); Salton & Buckley, Term-Weighting Approaches in Automatic Text Retrieval (1988); stems by
/// Porter, An Algorithm for Suffix Stripping (1980).
///
/// # Use when
/// Texts are alike when they are about the same things: messages, articles, reviews. Normalise it, so that long texts do
/// not count for more than short ones.
///
/// # Cost
/// Every text is split once. Each pair then costs a product of two sparse vectors.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, text::BagOfWords};
///
/// // "the" stands twice in one and once in the other, "cat" once in each
/// assert_eq!(BagOfWords::default().eval("The cat and the dog", "the cat"), 3.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BagOfWords {
    /// Runs of up to so many words are terms; at least 1.
    pub ngram: usize,
    /// The words that are left out.
    pub stop_words: StopWords,
    /// True if words are cut down to their stems.
    pub stem: Stem,
    /// The weight of a count.
    pub weighting: Weighting,
    /// ln(m/m_w) of every word of the training texts, where `weighting` asks for it and it is known.
    pub vocabulary: Option<Arc<BTreeMap<String, (usize, f64)>>>,
}

macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $option:ident = $word:literal),* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name { $($(#[$about])* $option),* }

        impl Choice for $name {
            fn options(&self) -> &'static [&'static str] {
                &[$($word),*]
            }
            fn get(&self) -> usize {
                *self as usize
            }
            fn set(&mut self, position: usize) {
                let all = [$(Self::$option),*];
                *self = all[position.min(all.len() - 1)];
            }
        }
    };
}

choice! {
    /// Words that are left out.
    StopWords {
        /// None.
        #[default]
        None = "none",
        /// The most frequent ones of English: articles, pronouns, prepositions, forms of to be and to have.
        English = "english"
    }
}
choice! {
    /// The rules by which words are cut down to their stems.
    Stem {
        /// Not at all.
        #[default]
        None = "none",
        /// By Porter's rules for English.
        English = "english"
    }
}
choice! {
    /// The weight of a word that occurs c times.
    Weighting {
        /// c.
        #[default]
        Tf = "tf",
        /// ln(1 + c).
        Log = "log",
        /// 1.
        Binary = "binary",
        /// c · ln(m/m_w).
        Tfidf = "tfidf"
    }
}

impl Default for BagOfWords {
    fn default() -> Self {
        Self { ngram: 1, stop_words: StopWords::None, stem: Stem::None, weighting: Weighting::Tf, vocabulary: None }
    }
}

impl Params for BagOfWords {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("ngram", &mut self.ngram, Rule::AtLeast(1.0), "runs of up to so many words count as one term");
        v.choice("stop_words", &mut self.stop_words, "frequent words that are left out: none or english");
        v.choice("stem", &mut self.stem, "words are cut down to their stems: none or english (Porter)");
        v.choice(
            "weighting",
            &mut self.weighting,
            "the feature of a count c: tf c, log ln(1 + c), binary 1, tfidf c ln(m/m_w)",
        );
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "bag_of_words",
    aliases: &["words"],
    formula: "κ(s, t) = Σ_w φ_w(s) φ_w(t), φ_w(s) = c, ln(1 + c), 1 or c · ln(m/m_w) for a word w that stands c times in s",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Text,
    source: Source::new(&sources::KMPA, "section 10.2"),
    use_when: "texts are alike when they use the same words: messages, articles, reviews",
    cost: "Every text is split once. Each pair then costs a product of two sparse vectors.",
    make: || Box::new(Text(BagOfWords::default())),
};

impl BagOfWords {
    fn splitter(&self) -> Splitter {
        let (stop, stems) = (self.stop_words == StopWords::English, self.stem == Stem::English);
        Splitter { ngram: self.ngram.max(1), stop, stems }
    }

    /// φ of a text, term by term; `None` while weights are wanted that are not learned.
    pub(super) fn weights(&self, text: &str) -> Option<BTreeMap<String, f64>> {
        let mut counts = BTreeMap::new();
        for term in self.splitter().terms(text) {
            *counts.entry(term.text).or_insert(0.0) += 1.0;
        }
        for (term, value) in &mut counts {
            *value = self.weight(term, *value)?;
        }
        Some(counts)
    }

    /// φ of a term that stands so often in a text.
    fn weight(&self, term: &str, count: f64) -> Option<f64> {
        Some(match self.weighting {
            Weighting::Tf => count,
            Weighting::Log => count.ln_1p(),
            Weighting::Binary => 1.0,
            Weighting::Tfidf => count * self.vocabulary.as_ref()?.get(term).map_or(0.0, |known| known.1),
        })
    }

    /// Shows every occurrence of a term: what, where it starts, how long it is, and its part of the feature, which the
    /// occurrences of a term share; `false` while weights are wanted that are not learned.
    pub(super) fn terms(&self, text: &str, show: &mut dyn FnMut(&str, usize, usize, f64)) -> bool {
        let terms = self.splitter().terms(text);
        let mut counts: HashMap<&str, f64> = HashMap::new();
        terms.iter().for_each(|t| *counts.entry(&t.text).or_insert(0.0) += 1.0);
        for term in &terms {
            let count = counts[term.text.as_str()];
            let Some(weight) = self.weight(&term.text, count) else { return false };
            let value = weight / count;
            if value != 0.0 {
                show(&term.text, term.start, term.len, value);
            }
        }
        true
    }

    /// Vectors of some texts, by the names of terms that are known; others are named from there on, as they come.
    fn vectors(
        &self,
        texts: &dyn Examples<str>,
        known: &HashMap<String, u32>,
        names: &mut HashMap<String, u32>,
    ) -> SparseRows<f64> {
        let mut vectors = SparseRows::new(0);
        for i in 0..texts.len() {
            let terms = self.weights(texts.get(i)).unwrap_or_default();
            let mut row: Vec<Coordinate<f64>> = terms
                .into_iter()
                .filter(|(_, value)| *value != 0.0)
                .map(|(term, value)| {
                    let next = (known.len() + names.len()) as u32;
                    let index = known.get(&term).copied().unwrap_or_else(|| *names.entry(term).or_insert(next));
                    Coordinate { index, value }
                })
                .collect();
            row.sort_unstable_by_key(|c| c.index);
            vectors.push(&row);
        }
        vectors.widen(known.len() + names.len());
        vectors
    }
}

impl TextKernel for BagOfWords {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn prepare(
        &self,
        strings: &Arc<dyn Examples<str>>,
        like: Option<&Arc<dyn Prepared>>,
    ) -> Result<Arc<dyn Prepared>, KernelError> {
        let Some(like) = like else {
            let mut kernel = self.clone();
            if kernel.vocabulary.is_none() {
                kernel.learn(strings.as_ref());
            }
            let mut names = HashMap::new();
            let vectors = kernel.vectors(strings.as_ref(), &HashMap::new(), &mut names);
            return Ok(FeatureSide::of(&vectors.into(), None, Arc::new(Vocabulary { kernel, names })));
        };
        let like: Arc<FeatureSide<Vocabulary>> = downcast(like, ENTRY.name)?;
        let Vocabulary { kernel, names } = like.shared.as_ref();
        let vectors = kernel.vectors(strings.as_ref(), names, &mut HashMap::new());
        Ok(FeatureSide::of(&vectors.into(), Some(&like), Arc::clone(&like.shared)))
    }

    fn prepared_gram(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        FeatureSide::<Vocabulary>::products(rows, cols, ENTRY.name)
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts { learns: self.needs_learning(), searched: "ngram=1|2", ..KernelFacts::default() }
    }

    fn pieces(&self, string: &str, emit: &mut dyn FnMut(Piece)) -> bool {
        self.terms(string, &mut |term, start, len, value| {
            let known = self.vocabulary.as_ref().filter(|_| self.needs_learning()).and_then(|v| v.get(term));
            let key = match known {
                Some(&(place, _)) if (place as u64) < EXACT_KEYS => place as u64,
                _ => hash(term.chars().map(|c| u64::from(u32::from(c)))),
            };
            emit(Piece { start, len, key, value });
        })
    }

    fn fits(&self, strings: &dyn Examples<str>) -> Result<(), KernelError> {
        let letters = |i: usize| {
            let text = strings.get(i);
            // words are apart from each other, so a text has at most half as many words as letters
            text.len().saturating_mul(self.ngram.min(text.len().div_ceil(2)))
        };
        let bytes = if self.ngram > 1 { (0..strings.len()).map(letters).fold(0, usize::saturating_add) } else { 0 };
        Ok(check(bytes, "all runs of words of the texts")
            .map_err(|e| e.remedy("take a smaller ngram, cut the texts, or raise --memory"))?)
    }

    fn learn(&mut self, strings: &dyn Examples<str>) {
        if !self.needs_learning() {
            return;
        }
        let splitter = self.splitter();
        let mut holders: BTreeMap<String, (usize, f64)> = BTreeMap::new();
        for i in 0..strings.len() {
            for term in splitter.terms(strings.get(i)) {
                let entry = holders.entry(term.text).or_insert((usize::MAX, 0.0));
                if entry.0 != i {
                    *entry = (i, entry.1 + 1.0);
                }
            }
        }
        let all = strings.len() as f64;
        for (place, entry) in holders.values_mut().enumerate() {
            *entry = (place, (all / entry.1).ln());
        }
        self.vocabulary = Some(Arc::new(holders));
    }

    fn needs_learning(&self) -> bool {
        self.weighting == Weighting::Tfidf
    }

    fn learned(&self) -> Option<Learned> {
        let known = self.vocabulary.as_ref().filter(|_| self.needs_learning())?;
        Some(Learned { words: known.keys().cloned().collect(), numbers: known.values().map(|v| v.1).collect() })
    }

    fn set_learned(&mut self, learned: Learned) -> bool {
        let Learned { words, numbers } = learned;
        let fits = words.len() == numbers.len()
            && words.is_sorted_by(|a, b| a < b)
            && numbers.iter().all(|x| x.is_finite() && *x >= 0.0);
        if fits {
            let places = numbers.into_iter().enumerate();
            self.vocabulary = Some(Arc::new(words.into_iter().zip(places).collect()));
        }
        fits
    }
}

impl Kernel<str> for BagOfWords {
    /// Not a number while weights are wanted that are not learned.
    fn eval(&self, x: &str, y: &str) -> f64 {
        let (Some(x), Some(y)) = (self.weights(x), self.weights(y)) else { return f64::NAN };
        x.iter().filter_map(|(term, value)| Some(value * y.get(term)?)).sum()
    }

    /// Where weights are wanted that are not learned, they are those of the columns.
    fn gram(self: Arc<Self>, rows: Arc<dyn Examples<str>>, cols: Arc<dyn Examples<str>>) -> Arc<dyn Gram> {
        gram_of(self.as_ref(), &rows, &cols)
    }
}

/// A kernel with its weights, and the coordinates of the terms of the training texts.
struct Vocabulary {
    kernel: BagOfWords,
    names: HashMap<String, u32>,
}

#[cfg(test)]
mod tests;
