//! The co-occurrence kernel: texts compared by how they resemble the training texts.

use super::bag_of_words::BagOfWords;
use super::pieces::Piece;
use super::side::{FeatureSide, gram_of, projected};
use super::{Text, TextKernel};
use crate::data::{Examples, Kind, Values};
use crate::gram::Gram;
use crate::kernels::prepared::downcast;
use crate::kernels::{Definite, Domain, Kernel, KernelEntry, KernelError, KernelFacts, Learned, Prepared};
use crate::memory::check;
use crate::params::{Params, Visit};
use crate::sources::{self, Source};
use std::collections::BTreeMap;
use std::sync::Arc;

/// κ(s, t) = φ(s)ᵀ Dᵀ D φ(t), where φ is a bag of words and the rows of D are the bags of the training texts.
///
/// Entry (v, w) of DᵀD says how often two words stand in the same training text, so two texts are alike when their words
/// keep the same company: the semantic smoothing S = Dᵀ, also called the generalised vector space model. D φ(t) are the
/// inner products of t with the training texts. Words that no training text holds weigh nothing. D belongs to the model.
///
/// # Source
/// Shawe-Taylor & Cristianini, Kernel Methods for Pattern Analysis (2004), section 10.2; Wong, Ziarko & Wong, Generalized
/// Vector Space Model in Information Retrieval (1985).
///
/// # Use when
/// Different words mean the same, and all directions of the training texts should count, the frequent ones most;
/// `latent_semantic` keeps the leading ones and weighs them alike. Normalise it.
///
/// # Cost
/// Learning: the texts are split once. Each text then is as many numbers as there are training texts, and each pair a
/// product of these.
///
/// # Example
/// ```
/// use mercer::data::Values;
/// use mercer::kernels::{Leaf, text::{CoOccurrence, Text}};
///
/// let texts = ["car engine", "engine motor", "cat dog"].map(str::to_owned);
/// let mut kernel = Text(CoOccurrence::default());
/// kernel.learn(&Values::from(texts.to_vec()));
/// let new = Values::from(vec!["a car".to_owned(), "the engine".into(), "my cat".into()]);
/// // no word in common, but one training text has both
/// assert_eq!(kernel.eval(&new, 0, &new, 1), 1.0);
/// assert_eq!(kernel.eval(&new, 0, &new, 2), 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoOccurrence {
    /// The rules by which a text becomes words with weights.
    pub words: BagOfWords,
    /// D, where it is known.
    pub company: Option<Arc<Company>>,
}

/// The training texts, word by word: the columns of D.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Company {
    /// Number of training texts.
    pub texts: usize,
    /// The training texts that hold a word, from zero on, with its feature there.
    pub holders: BTreeMap<String, Vec<(usize, f64)>>,
}

impl Params for CoOccurrence {
    fn visit(&mut self, v: &mut dyn Visit) {
        self.words.visit(v);
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "co_occurrence",
    aliases: &["cooccurrence"],
    formula: "κ(s, t) = φ(s)ᵀ DᵀD φ(t), φ a bag of words, the rows of D the bags of the training texts",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Text,
    source: Source::new(&sources::KMPA, "section 10.2"),
    use_when: "different words mean the same when they keep the same company",
    cost: "Learning: the texts are split once. Each text then is as many numbers as there are training texts, and each pair a product of these.",
    make: || Box::new(Text(CoOccurrence::default())),
};

impl CoOccurrence {
    fn projections(&self, strings: &dyn Examples<str>) -> Values {
        let width = self.company.as_ref().map_or(0, |known| known.texts);
        projected(strings, width, &|text| self.project(text))
    }

    /// D φ of a text; `None` while nothing is learned.
    fn project(&self, text: &str) -> Option<Vec<f64>> {
        let known = self.company.as_ref()?;
        let mut z = vec![0.0; known.texts];
        for (term, value) in self.words.weights(text)? {
            for &(place, feature) in known.holders.get(&term).into_iter().flatten() {
                z[place] += value * feature;
            }
        }
        Some(z)
    }
}

impl TextKernel for CoOccurrence {
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
        if kernel.company.is_none() {
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
        let Some(known) = &self.company else { return false };
        self.words.terms(string, &mut |term, start, len, value| {
            for &(place, feature) in known.holders.get(term).into_iter().flatten() {
                emit(Piece { start, len, key: place as u64, value: value * feature });
            }
        })
    }

    fn fits(&self, strings: &dyn Examples<str>) -> Result<(), KernelError> {
        self.words.fits(strings)?;
        let width = self.company.as_ref().map_or(strings.len(), |known| known.texts);
        Ok(check(strings.len().saturating_mul(width).saturating_mul(16), "the coordinates of all texts")
            .map_err(|e| e.remedy("take fewer texts, use bag_of_words, or raise --memory"))?)
    }

    fn learn(&mut self, strings: &dyn Examples<str>) {
        self.words.learn(strings);
        let mut holders: BTreeMap<String, Vec<(usize, f64)>> = BTreeMap::new();
        for i in 0..strings.len() {
            for (term, value) in self.words.weights(strings.get(i)).unwrap_or_default() {
                holders.entry(term).or_default().push((i, value));
            }
        }
        self.company = Some(Arc::new(Company { texts: strings.len(), holders }));
    }

    fn needs_learning(&self) -> bool {
        true
    }

    /// The number of texts; then for each word its weight, how many texts hold it, and which with what feature.
    fn learned(&self) -> Option<Learned> {
        let known = self.company.as_ref()?;
        let weight = |word: &String| self.words.vocabulary.as_ref().and_then(|v| v.get(word)).map_or(0.0, |v| v.1);
        let mut numbers = vec![known.texts as f64];
        for (word, texts) in &known.holders {
            numbers.extend([weight(word), texts.len() as f64]);
            numbers.extend(texts.iter().flat_map(|&(place, feature)| [place as f64, feature]));
        }
        Some(Learned { words: known.holders.keys().cloned().collect(), numbers })
    }

    fn set_learned(&mut self, learned: Learned) -> bool {
        let Learned { words, numbers } = learned;
        let (mut weights, mut rest) = (Vec::with_capacity(words.len()), numbers.into_iter());
        let sorted = words.is_sorted_by(|a, b| a < b);
        let Some(texts) = rest.next().and_then(whole).filter(|_| sorted) else { return false };
        let mut holders = BTreeMap::new();
        for word in &words {
            let (Some(weight), Some(count)) = (rest.next(), rest.next().and_then(whole)) else { return false };
            let mut line: Vec<(usize, f64)> = Vec::new();
            for _ in 0..count {
                let (Some(place), Some(feature)) = (rest.next().and_then(whole), rest.next()) else { return false };
                let next = line.last().is_none_or(|(before, _)| *before < place);
                if place >= texts || !next || !feature.is_finite() {
                    return false;
                }
                line.push((place, feature));
            }
            weights.push(weight);
            holders.insert(word.clone(), line);
        }
        // no more than the texts of a file can be: a row of each is made for every prediction
        let most = holders.values().flatten().count().max(holders.len());
        let fits = rest.next().is_none() && (texts <= most || texts <= MAX_EMPTY_TEXTS);
        if !fits || (self.words.needs_learning() && !self.words.set_learned(Learned { words, numbers: weights })) {
            return false;
        }
        self.company = Some(Arc::new(Company { texts, holders }));
        true
    }
}

/// Largest number of texts without words in a file: a damaged one cannot ask for more memory.
const MAX_EMPTY_TEXTS: usize = 1 << 24;

/// A number that counts something.
fn whole(x: f64) -> Option<usize> {
    (x.fract() == 0.0 && (0.0..9e15).contains(&x)).then_some(x as usize)
}

impl Kernel<str> for CoOccurrence {
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
    use crate::kernels::text::testing::{check_features, check_matrix, check_shares};
    use crate::kernels::text::{StopWords, Weighting};
    use crate::seed::Seed;

    fn texts(n: usize) -> Vec<String> {
        let words = ["car", "motor", "engine", "wheel", "cat", "dog", "bird", "the", "a", "of"];
        let mut random = Seed(3).stream("company");
        let mut line = || {
            let from = random.below(2) * 3;
            (0..2 + random.below(8)).map(|_| words[from + random.below(7)]).collect::<Vec<_>>().join(" ")
        };
        (0..n).map(|_| line()).collect()
    }

    /// φ(x)ᵀ C φ(y) with the dense matrix C of words by words, from the words of the texts alone.
    fn by_words(training: &[String], weighting: Weighting, x: &str, y: &str) -> f64 {
        let split = |s: &str| -> Vec<String> { s.split_whitespace().map(str::to_owned).collect() };
        let mut vocabulary: Vec<String> = training.iter().flat_map(|s| split(s)).collect();
        vocabulary.sort();
        vocabulary.dedup();
        let m = training.len() as f64;
        let bag = |s: &str| -> Vec<f64> {
            let count = |w: &String| split(s).iter().filter(|v| *v == w).count() as f64;
            let holders = |w: &String| training.iter().filter(|t| split(t).contains(w)).count() as f64;
            let feature = |w: &String| match weighting {
                Weighting::Tf => count(w),
                Weighting::Log => (1.0 + count(w)).ln(),
                Weighting::Binary => f64::from(u8::from(count(w) > 0.0)),
                Weighting::Tfidf => count(w) * (m / holders(w)).ln(),
            };
            vocabulary.iter().map(feature).collect()
        };
        let d: Vec<Vec<f64>> = training.iter().map(|s| bag(s)).collect();
        let (x, y, width) = (bag(x), bag(y), vocabulary.len());
        let mut sum = 0.0;
        for v in 0..width {
            for w in 0..width {
                let together: f64 = d.iter().map(|row| row[v] * row[w]).sum();
                sum += x[v] * together * y[w];
            }
        }
        sum
    }

    #[test]
    fn is_the_dense_product_and_every_road_gives_it() {
        let training = texts(40);
        let mut all = training[..10].to_vec();
        all.extend(["a new car".to_owned(), "nothing known".to_owned(), String::new()]);
        for weighting in [Weighting::Tf, Weighting::Log, Weighting::Binary, Weighting::Tfidf] {
            let words = BagOfWords { weighting, ..BagOfWords::default() };
            let mut kernel = CoOccurrence { words, company: None };
            kernel.learn(&training);
            for x in &all {
                for y in &all {
                    let wanted = by_words(&training, weighting, x, y);
                    let got = kernel.eval(x, y);
                    assert!((got - wanted).abs() <= 1e-10 * (1.0 + wanted.abs()), "{x} | {y}: {got} {wanted}");
                }
            }
            if matches!(weighting, Weighting::Tf | Weighting::Binary) {
                // whole numbers, so that every block has the same bits
                check_matrix(&kernel, &training, 1e-10);
            }
            check_features(&kernel, &all, 1e-10);
            check_shares(&kernel, &all, 1e-10);
            let mut other = CoOccurrence { words: kernel.words.clone(), company: None };
            assert!(other.set_learned(kernel.learned().unwrap()));
            assert_eq!(other, kernel);
        }
    }

    #[test]
    fn what_no_texts_can_teach_is_refused() {
        let mut kernel = CoOccurrence::default();
        assert!(kernel.eval("a", "a").is_nan());
        kernel.learn(&vec!["a b".to_owned(), "b".to_owned()]);
        let right = kernel.learned().unwrap();
        assert_eq!(right.numbers, [2.0, 0.0, 1.0, 0.0, 1.0, 0.0, 2.0, 0.0, 1.0, 1.0, 1.0]);
        for (place, odd) in
            [(0, 1.0), (0, 1.5), (0, 1e12), (2, 2.0), (2, -1.0), (3, 5.0), (7, 1.0), (9, 0.0), (4, f64::NAN)]
        {
            let mut wrong = right.clone();
            wrong.numbers[place] = odd;
            assert!(!CoOccurrence::default().set_learned(wrong), "{place} {odd}");
        }
        let cut = Learned { words: right.words.clone(), numbers: right.numbers[..9].to_vec() };
        assert!(!CoOccurrence::default().set_learned(cut));
        assert!(!CoOccurrence::default().set_learned(Learned::default()));
        kernel.learn(&Vec::<String>::new());
        assert_eq!(kernel.eval("a", "a"), 0.0);
        let mut stopped = CoOccurrence::default();
        stopped.words.stop_words = StopWords::English;
        stopped.learn(&vec!["the".to_owned()]);
        assert_eq!(stopped.eval("the", "the"), 0.0);
    }
}
