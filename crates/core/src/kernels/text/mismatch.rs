//! The mismatch kernel: shared substrings, a few letters of which may differ.

mod neighbours;

use super::pieces::{EXACT_KEYS, Piece, hash};
use super::side::{Plain, gram_of};
use super::spectrum::counts::Counts;
use super::spectrum::matrix::SpectrumGram;
use super::{Text, TextKernel};
use crate::data::{Examples, Kind};
use crate::gram::Gram;
use crate::kernels::prepared::{Sided, downcast};
use crate::kernels::{Definite, Domain, Kernel, KernelEntry, KernelError, KernelFacts, Learned, Pairwise, Prepared};
use crate::memory::check;
use crate::params::{Choice, Params, Rule, Visit};
use crate::sources::{self, Source};
use crate::watch::given_up;
use neighbours::Neighbourhoods;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// κ(s, t) = Σ_{u ∈ Σᵖ} φ_u(s) φ_u(t), where φ_u(s) is how many substrings of s differ from u in at most m letters.
///
/// Σ is the alphabet: `dna` (A, C, G, T), `protein` (the twenty amino acids), or `data`, the letters that the training
/// strings have. A letter outside Σ differs from every letter. With m = 0 it is the spectrum kernel over Σ.
///
/// # Source
/// Leslie, Eskin, Cohen, Weston & Noble, Mismatch String Kernels for Discriminative Protein Classification (2004).
///
/// # Use when
/// Strings are alike when they share pieces that have mutated or were misread: proteins, DNA. Normalise it, for the value
/// grows with the lengths of the strings.
///
/// # Cost
/// Every different substring meets its N = Σ_{i≤m} C(p, i)(|Σ| − 1)ⁱ neighbours once; a string then has up to N|s|
/// counts, of which pairs are made as those of the spectrum kernel. Where N is beyond some thousands, pairs of strings
/// are compared directly, in O(|s||t|p).
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, text::{Alphabet, Mismatch}};
///
/// // AA and AC have the four neighbours AA, AC, AG, AT in common
/// let kernel = Mismatch { length: 2, mismatches: 1, alphabet: Alphabet::Dna, letters: None };
/// assert_eq!(kernel.eval("AA", "AC"), 4.0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// p, the length of the substrings in characters; at least 1.
    pub length: usize,
    /// m, how many letters may differ.
    pub mismatches: usize,
    /// Σ.
    pub alphabet: Alphabet,
    /// The letters of the training strings in ascending order, where `alphabet` asks for them and they are known.
    pub letters: Option<Vec<char>>,
}

/// The letters that pieces are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alphabet {
    /// Those of the training strings.
    #[default]
    Data,
    /// A, C, G, T.
    Dna,
    /// The twenty amino acids.
    Protein,
}

impl Choice for Alphabet {
    fn options(&self) -> &'static [&'static str] {
        &["data", "dna", "protein"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        let all = [Self::Data, Self::Dna, Self::Protein];
        *self = all[position.min(all.len() - 1)];
    }
}

impl Default for Mismatch {
    fn default() -> Self {
        Self { length: 3, mismatches: 1, alphabet: Alphabet::Data, letters: None }
    }
}

impl Params for Mismatch {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("length", &mut self.length, Rule::AtLeast(1.0), "length p of the shared substrings, in characters");
        v.count("mismatches", &mut self.mismatches, Rule::AtLeast(0.0), "how many of their letters may differ");
        v.choice("alphabet", &mut self.alphabet, "the letters: dna, protein, or those of the training data");
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "mismatch",
    aliases: &[],
    formula: "κ(s, t) = Σ_{u ∈ Σᵖ} φ_u(s) φ_u(t), φ_u(s) = #{substrings of s with at most m letters unlike u}",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Text,
    source: Source::new(&sources::MISMATCH, "the (k, m)-mismatch kernel"),
    use_when: "strings are alike when they share short pieces in which some letters have changed",
    cost: "Every different substring meets its N = Σ_{i≤m} C(p, i)(|Σ| − 1)ⁱ neighbours once; a string then has up to N|s| counts, of which pairs are made as those of the spectrum kernel. Where N is beyond some thousands, pairs of strings are compared directly, in O(|s||t|p).",
    make: || Box::new(Text(Mismatch::default())),
};

/// Counts of neighbours, and how these are named.
type Side = Sided<Counts, Neighbourhoods>;
/// Strings that are compared pair by pair.
type PlainSide = Sided<Plain, Mismatch>;

/// Largest number of neighbours of a substring that are listed; beyond it, pairs of strings are compared directly.
const MAX_NEIGHBOURS: f64 = 5_000.0;
/// Longest substrings whose neighbours are listed.
const MAX_LISTED_LENGTH: usize = 1 << 16;
/// Letters that are compared between two looks whether the value is still wanted.
const LETTERS_BETWEEN_LOOKS: usize = 1 << 20;
/// Mismatches beyond which one table of them is long work.
const MANY_MISMATCHES: usize = 200;
/// The code of a letter outside the alphabet.
const UNKNOWN_LETTER: u32 = u32::MAX;

impl Mismatch {
    fn letters(&self) -> Option<Vec<char>> {
        match self.alphabet {
            Alphabet::Dna => Some("ACGT".chars().collect()),
            Alphabet::Protein => Some("ACDEFGHIKLMNPQRSTVWY".chars().collect()),
            Alphabet::Data => self.letters.clone(),
        }
    }

    /// The places of characters in the alphabet.
    fn codes(letters: &[char], characters: impl Iterator<Item = char>) -> Vec<u32> {
        characters.map(|c| letters.iter().position(|&l| l == c).map_or(UNKNOWN_LETTER, |at| at as u32)).collect()
    }

    /// The number of neighbours of a substring of letters, as far as they are listed.
    fn neighbours(&self, letters: usize) -> f64 {
        let (p, others) = (self.length.max(1), letters.saturating_sub(1) as f64);
        let (mut sum, mut term) = (1.0, 1.0);
        for i in 1..=self.mismatches.min(p) {
            term *= (p - i + 1) as f64 / i as f64 * others;
            sum += term;
            // no term follows a zero, and more than that are never listed
            if term == 0.0 || sum > MAX_NEIGHBOURS {
                break;
            }
        }
        sum
    }

    /// True if the neighbours of every substring are listed: they are few, and have numbers below 2⁶³.
    fn lists_neighbours(&self, letters: usize) -> bool {
        let few = self.length <= MAX_LISTED_LENGTH && (letters as f64).powi(self.length as i32) < 2_f64.powi(63);
        few && self.neighbours(letters) <= MAX_NEIGHBOURS
    }

    /// Shows every u ∈ Σᵖ within m letters of a piece.
    fn visit_neighbours(&self, letters: u32, piece: &[u32], show: &mut dyn FnMut(&[u32])) {
        fn extend(letters: u32, piece: &[u32], left: usize, so_far: &mut Vec<u32>, show: &mut dyn FnMut(&[u32])) {
            let Some((&next, rest)) = piece.split_first() else {
                show(so_far);
                return;
            };
            for letter in 0..letters {
                // the piece's own letter costs nothing
                if let Some(left) = left.checked_sub(usize::from(letter != next)) {
                    so_far.push(letter);
                    extend(letters, rest, left, so_far, show);
                    so_far.pop();
                }
            }
        }
        extend(letters, piece, self.mismatches, &mut Vec::with_capacity(piece.len()), show);
    }
}

/// The number of u to the base |Σ|, where all of them are below `limit`.
fn number(letters: usize, length: usize, limit: u64) -> Option<impl Fn(&[u32]) -> u64> {
    let base = letters as u64;
    let all = u32::try_from(length).ok().and_then(|p| base.checked_pow(p)).filter(|&all| all <= limit);
    all.map(|_| move |u: &[u32]| u.iter().fold(0, |n, &letter| n * base + u64::from(letter)))
}

/// The letters that strings have.
fn letters_of(strings: &dyn Examples<str>) -> BTreeSet<char> {
    (0..strings.len()).flat_map(|i| strings.get(i).chars()).collect()
}

impl TextKernel for Mismatch {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn prepare(
        &self,
        strings: &Arc<dyn Examples<str>>,
        like: Option<&Arc<dyn Prepared>>,
    ) -> Result<Arc<dyn Prepared>, KernelError> {
        if let Some(like) = like {
            if let Ok(like) = downcast::<PlainSide>(like, ENTRY.name) {
                let (examples, shared) = (Arc::new(Plain::new(strings)), Arc::clone(&like.shared));
                return Ok(Arc::new(PlainSide { examples, shared }));
            }
            let like: Arc<Side> = downcast(like, ENTRY.name)?;
            let examples = Arc::new(like.shared.count(strings.as_ref()));
            return Ok(Arc::new(Side { examples, shared: Arc::clone(&like.shared) }));
        }
        let mut kernel = self.clone();
        let letters = kernel.letters().unwrap_or_else(|| {
            kernel.learn(strings.as_ref());
            kernel.letters().unwrap_or_default()
        });
        if !self.lists_neighbours(letters.len()) {
            return Ok(Arc::new(PlainSide { examples: Arc::new(Plain::new(strings)), shared: Arc::new(kernel) }));
        }
        let (shared, counts) = Neighbourhoods::learn(kernel, &letters, strings.as_ref());
        Ok(Arc::new(Side { examples: Arc::new(counts), shared: Arc::new(shared) }))
    }

    fn prepared_gram(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        if let Ok((rows, cols)) = PlainSide::pair(rows, cols, ENTRY.name) {
            let (left, right) = (Arc::clone(&rows.examples), Arc::clone(&cols.examples));
            return Ok(Arc::new(Pairwise::new(Arc::clone(&rows.shared), left, right)));
        }
        let (rows, cols) = Side::pair(rows, cols, ENTRY.name)?;
        Ok(Arc::new(SpectrumGram::of(&rows.examples, &cols.examples)))
    }

    /// Listed neighbours are kept for every string, or a table of pairs of mismatches is made for each pair of strings.
    fn fits(&self, strings: &dyn Examples<str>) -> Result<(), KernelError> {
        let (p, lengths) = (self.length.max(1), (0..strings.len()).map(|i| strings.get(i).chars().count()));
        let letters = self.letters().map_or_else(|| letters_of(strings).len(), |letters| letters.len());
        let bytes = if self.lists_neighbours(letters) {
            let (all, each) = ((letters as f64).powi(p as i32), self.neighbours(letters));
            let counts: f64 = lengths.map(|len| ((len + 1).saturating_sub(p) as f64 * each).min(all)).sum();
            (counts * 8.0) as usize
        } else {
            let side = if p > lengths.max().unwrap_or(0) { 0 } else { self.mismatches.min(p).saturating_add(1) };
            side.saturating_mul(side).saturating_mul(size_of::<f64>()).saturating_mul(rayon::current_num_threads())
        };
        Ok(check(bytes, "the mismatches of all substrings")
            .map_err(|e| e.remedy("take fewer mismatches, cut the strings, or raise --memory"))?)
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts { learns: self.needs_learning(), searched: "length=3|4|5", ..KernelFacts::default() }
    }

    fn pieces(&self, string: &str, emit: &mut dyn FnMut(Piece)) -> bool {
        let (Some(letters), len) = (self.letters(), self.length.max(1)) else { return false };
        let codes = Self::codes(&letters, string.chars());
        let exact = number(letters.len(), len, EXACT_KEYS);
        for (start, piece) in codes.windows(len).enumerate() {
            self.visit_neighbours(letters.len() as u32, piece, &mut |u| {
                let key = match &exact {
                    Some(number) => number(u),
                    None => hash(u.iter().map(|&code| u64::from(u32::from(letters[code as usize])))),
                };
                emit(Piece { start, len, key, value: 1.0 });
            });
        }
        true
    }

    fn learn(&mut self, strings: &dyn Examples<str>) {
        if self.alphabet == Alphabet::Data {
            self.letters = Some(letters_of(strings).into_iter().collect());
        }
    }

    fn needs_learning(&self) -> bool {
        self.alphabet == Alphabet::Data
    }

    fn learned(&self) -> Option<Learned> {
        let letters = self.letters.as_ref().filter(|_| self.needs_learning())?;
        Some(Learned { words: letters.iter().map(ToString::to_string).collect(), numbers: Vec::new() })
    }

    fn set_learned(&mut self, learned: Learned) -> bool {
        let letters: Option<Vec<char>> = learned
            .words
            .iter()
            .map(|word| {
                let mut characters = word.chars();
                characters.next().filter(|_| characters.next().is_none())
            })
            .collect();
        self.letters = letters.filter(|all| learned.numbers.is_empty() && all.is_sorted_by(|a, b| a < b));
        self.letters.is_some()
    }
}

impl Kernel<str> for Mismatch {
    /// Over all pairs of substrings, how many u are near both: the coefficients of xᵃyᵇ with a, b ≤ m in the product over
    /// places of 1 + (l − 1)xy for equal letters, x + y + (l − 2)xy for different ones, y + (l − 1)xy or
    /// x + (l − 1)xy where one is no letter, and l xy where none is, with l = |Σ|. Not a number while the alphabet is not
    /// learned.
    fn eval(&self, x: &str, y: &str) -> f64 {
        let Some(letters) = self.letters() else { return f64::NAN };
        let (p, m, l) = (self.length.max(1), self.mismatches.min(self.length.max(1)), letters.len() as f64);
        let (x, y) = (Self::codes(&letters, x.chars()), Self::codes(&letters, y.chars()));
        // 1, x, y and xy of each kind of place
        let kinds = [
            [1.0, 0.0, 0.0, l - 1.0],
            [0.0, 1.0, 1.0, l - 2.0],
            [0.0, 0.0, 1.0, l - 1.0],
            [0.0, 1.0, 0.0, l - 1.0],
            [0.0, 0.0, 0.0, l],
        ];
        let mut known: HashMap<[usize; 5], f64> = HashMap::new();
        let count = |places: &[usize; 5]| -> f64 {
            let wide = m + 1;
            let mut table = vec![0.0; wide * wide];
            table[0] = 1.0;
            for (kind, &times) in kinds.iter().zip(places) {
                for _ in 0..times {
                    if wide > MANY_MISMATCHES && given_up() {
                        return f64::NAN;
                    }
                    for at in (0..wide * wide).rev() {
                        let (a, b) = (at / wide, at % wide);
                        let below = |da: usize, db: usize| {
                            if a >= da && b >= db { table[(a - da) * wide + b - db] } else { 0.0 }
                        };
                        table[at] = kind[0] * below(0, 0)
                            + kind[1] * below(1, 0)
                            + kind[2] * below(0, 1)
                            + kind[3] * below(1, 1);
                    }
                }
            }
            table.iter().sum()
        };
        let between_looks = (LETTERS_BETWEEN_LOOKS / y.len().saturating_mul(p).max(1)).max(1);
        let mut sum = 0.0;
        for (at, u) in x.windows(p).enumerate() {
            if at % between_looks == between_looks - 1 && given_up() {
                return f64::NAN;
            }
            for v in y.windows(p) {
                let mut places = [0; 5];
                for (&a, &b) in u.iter().zip(v) {
                    let kind = match (a == UNKNOWN_LETTER, b == UNKNOWN_LETTER) {
                        (false, false) => usize::from(a != b),
                        (false, true) => 2,
                        (true, false) => 3,
                        (true, true) => 4,
                    };
                    places[kind] += 1;
                }
                sum += *known.entry(places).or_insert_with(|| count(&places));
            }
        }
        sum
    }

    /// Where the alphabet is not learned yet, it is that of the columns.
    fn gram(self: Arc<Self>, rows: Arc<dyn Examples<str>>, cols: Arc<dyn Examples<str>>) -> Arc<dyn Gram> {
        gram_of(self.as_ref(), &rows, &cols)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::text::Spectrum;
    use crate::kernels::text::testing::{check_features, check_matrix, check_shares, random_strings};

    /// The definition: every u of the alphabet, every substring of both.
    fn by_all_words(x: &str, y: &str, kernel: &Mismatch) -> f64 {
        let letters = kernel.letters().unwrap_or_default();
        let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
        let mut words = vec![Vec::new()];
        for _ in 0..kernel.length {
            words = words
                .iter()
                .flat_map(|w: &Vec<char>| letters.iter().map(|&c| w.iter().copied().chain([c]).collect()))
                .collect();
        }
        let near = |s: &[char], u: &[char]| {
            let off = |piece: &[char]| piece.iter().zip(u).filter(|(a, b)| a != b).count();
            s.windows(u.len()).filter(|piece| off(piece) <= kernel.mismatches).count() as f64
        };
        words.iter().map(|u| near(&x, u) * near(&y, u)).sum()
    }

    #[test]
    fn values_are_those_of_the_definition() {
        for (letters, length, mismatches) in
            [(2, 3, 1), (3, 4, 2), (4, 2, 0), (5, 3, 3), (1, 2, 1), (4, 1, 1), (3, 2, 5)]
        {
            let strings = random_strings(16, 14, letters, "mismatch");
            let mut kernel = Mismatch { length, mismatches, ..Mismatch::default() };
            kernel.learn(&strings);
            // strings with letters that the alphabet has not
            let mut all = strings.clone();
            all.extend(strings.iter().take(6).map(|s| format!("{s}zy{s}→a")));
            all.push(String::new());
            for x in &all {
                for y in &all {
                    assert_eq!(kernel.eval(x, y), by_all_words(x, y, &kernel), "{x} {y} {kernel:?}");
                }
            }
            check_matrix(&kernel, &all, 0.0);
            check_features(&kernel, &all, 0.0);
            check_shares(&kernel, &all, 1e-12);
        }
    }

    #[test]
    fn without_mismatches_it_is_the_spectrum_kernel() {
        let strings = random_strings(20, 40, 4, "none");
        let mut kernel = Mismatch { length: 4, mismatches: 0, ..Mismatch::default() };
        kernel.learn(&strings);
        for x in &strings {
            for y in &strings {
                assert_eq!(kernel.eval(x, y), Spectrum { length: 4 }.eval(x, y));
            }
        }
    }

    #[test]
    fn many_neighbours_are_compared_pair_by_pair() {
        let strings: Vec<String> = random_strings(12, 20, 4, "many").iter().map(|s| s.to_uppercase()).collect();
        let kernel = Mismatch { length: 6, mismatches: 4, alphabet: Alphabet::Protein, letters: None };
        assert!(kernel.neighbours(20) > MAX_NEIGHBOURS);
        check_matrix(&kernel, &strings, 1e-12);
    }

    #[test]
    fn a_side_that_is_held_is_indexed_once_and_one_string_has_the_bits_of_a_batch() {
        use crate::gram::fill;
        use crate::kernels::text::spectrum::holders::INDEXED;
        let (training, new) = (random_strings(90, 60, 4, "held"), random_strings(40, 60, 5, "new"));
        let mut kernel = Mismatch { length: 4, mismatches: 1, ..Mismatch::default() };
        kernel.learn(&training);
        let side = kernel.prepare(&(Arc::new(training) as Arc<dyn Examples<str>>), None).unwrap();
        let row = |strings: Vec<String>| {
            let n = strings.len();
            let rows = kernel.prepare(&(Arc::new(strings) as Arc<dyn Examples<str>>), Some(&side)).unwrap();
            let mut values = vec![f64::NAN; n * 90];
            fill(kernel.prepared_gram(&rows, &side).unwrap().as_ref(), &mut values);
            values
        };
        let before = INDEXED.get();
        let batch = row(new.clone());
        for (i, string) in new.iter().enumerate() {
            assert_eq!(row(vec![string.clone()]), batch[i * 90..(i + 1) * 90]);
        }
        assert_eq!(INDEXED.get() - before, 1);
    }

    #[test]
    fn the_alphabet_is_learned_once_and_kept() {
        let mut kernel = Mismatch::default();
        assert!(kernel.eval("ab", "ab").is_nan() && kernel.learned().is_none() && kernel.needs_learning());
        kernel.learn(&vec!["cab".to_owned(), "äb".to_owned()]);
        let learned = kernel.learned().expect("letters");
        assert_eq!(learned.words, ["a", "b", "c", "ä"]);
        let mut other = Mismatch::default();
        assert!(other.set_learned(learned) && other == kernel);
        assert!(!other.set_learned(Learned { words: vec!["ab".to_owned()], numbers: Vec::new() }));
        assert!(!other.set_learned(Learned { words: vec!["b".to_owned(), "a".to_owned()], numbers: Vec::new() }));
    }
}
