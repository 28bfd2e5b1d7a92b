//! Targets: what is to be predicted.
//!
//! A target is kept as it was read: numbers or words. Only a machine decides what it is: a classifier
//! takes any column as classes, a regressor requires numbers.

use super::DataError;
use std::collections::{HashMap, HashSet};

/// One or more columns to be predicted.
#[derive(Clone, Debug)]
pub struct Target {
    columns: Vec<Column>,
    len: usize,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    data: Data,
}

#[derive(Clone, Debug)]
enum Data {
    /// Numbers; `spellings` has the first spelling of a value where it is not the plain print ("1.0").
    Numbers { values: Vec<f64>, spellings: HashMap<u64, String> },
    /// Words, as places in a list of distinct ones; some or all of them may be spelled as numbers.
    Words { codes: Vec<u32>, words: Vec<String> },
}

/// A target seen as classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes {
    /// The labels as first spelled, sorted: by number if all are numbers, else by letters.
    pub labels: Vec<String>,
    /// The place of each example's label.
    pub codes: Vec<u32>,
}

/// A target seen as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// The name of each output.
    pub names: Vec<String>,
    /// n × outputs numbers, row by row.
    pub values: Vec<f64>,
}

/// Largest number of distinct spellings of a set of classes; past it, spellings are forgotten.
const MAX_SPELLINGS: usize = 65_536;

impl Target {
    /// A column read from text; numbers if every entry is one.
    pub fn from_text<T: AsRef<str>>(name: &str, entries: &[T]) -> Self {
        let parsed: Option<Vec<f64>> = entries.iter().map(|e| e.as_ref().trim().parse().ok()).collect();
        let data = match parsed {
            Some(values) => {
                let mut spellings = HashMap::new();
                for (value, entry) in values.iter().zip(entries) {
                    note_spelling(&mut spellings, *value, entry.as_ref().trim());
                }
                Data::Numbers { values, spellings }
            }
            None => return Self::from_words(name, entries),
        };
        Self { len: entries.len(), columns: vec![Column { name: name.to_owned(), data }] }
    }

    /// A column of words, which are told apart by their spelling also where all are numbers: 3.1 and 3.10 are two labels.
    pub fn from_words<T: AsRef<str>>(name: &str, entries: &[T]) -> Self {
        let mut places: HashMap<&str, u32> = HashMap::new();
        let mut words = Vec::new();
        let codes = entries
            .iter()
            .map(|e| {
                let word = e.as_ref().trim();
                *places.entry(word).or_insert_with(|| {
                    words.push(word.to_owned());
                    (words.len() - 1) as u32
                })
            })
            .collect();
        let data = Data::Words { codes, words };
        Self { len: entries.len(), columns: vec![Column { name: name.to_owned(), data }] }
    }

    /// A column of numbers under a name.
    pub fn from_numbers(name: &str, values: Vec<f64>) -> Self {
        let data = Data::Numbers { values, spellings: HashMap::new() };
        let len = match &data {
            Data::Numbers { values, .. } => values.len(),
            Data::Words { codes, .. } => codes.len(),
        };
        Self { columns: vec![Column { name: name.to_owned(), data }], len }
    }

    /// Remembers how numbers were spelled: `spelled` gives the text of each value, first ones win.
    #[must_use]
    pub fn spelled<T: AsRef<str>>(mut self, spelled: impl IntoIterator<Item = (f64, T)>) -> Self {
        if let Some(Column { data: Data::Numbers { spellings, .. }, .. }) = self.columns.first_mut() {
            for (value, text) in spelled {
                note_spelling(spellings, value, text.as_ref());
            }
        }
        self
    }

    /// Several columns beside each other; an error if lengths differ.
    pub fn beside(mut self, other: Self) -> Result<Self, DataError> {
        if self.len != other.len {
            return Err(DataError::Lengths {
                what: "a target column".to_owned(),
                got: other.len,
                other: "the first".to_owned(),
                wanted: self.len,
            });
        }
        self.columns.extend(other.columns);
        Ok(self)
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no example.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The name of each column.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|c| c.name.clone()).collect()
    }

    /// True if every column holds numbers; words that are spelled as numbers are words.
    pub fn is_numeric(&self) -> bool {
        self.columns.iter().all(|c| matches!(c.data, Data::Numbers { .. }))
    }

    /// The target as classes; equal numbers are one label, printed as first spelled, and words are one label if they are spelled alike.
    pub fn classes(&self) -> Result<Classes, DataError> {
        let [column] = self.columns.as_slice() else {
            return Err(DataError::ManyTargets { got: self.columns.len() });
        };
        match &column.data {
            Data::Numbers { values, spellings } => {
                let distinct = distinct(values);
                let codes = values
                    .iter()
                    .map(|v| distinct.partition_point(|d| d.total_cmp(&(v + 0.0)).is_lt()) as u32)
                    .collect();
                let labels = distinct
                    .iter()
                    .map(|v| spellings.get(&v.to_bits()).cloned().unwrap_or_else(|| v.to_string()))
                    .collect();
                Ok(Classes { labels, codes })
            }
            Data::Words { codes, words } => {
                let mut order: Vec<usize> = (0..words.len()).collect();
                let numbers: Option<Vec<f64>> = words.iter().map(|word| number(word)).collect();
                order.sort_by(|&a, &b| match &numbers {
                    Some(numbers) => numbers[a].total_cmp(&numbers[b]).then_with(|| words[a].cmp(&words[b])),
                    None => words[a].cmp(&words[b]),
                });
                let mut rank = vec![0_u32; words.len()];
                for (place, &word) in order.iter().enumerate() {
                    rank[word] = place as u32;
                }
                let mut used = vec![false; words.len()];
                let ranked: Vec<u32> = codes.iter().map(|&c| rank[c as usize]).collect();
                for &c in &ranked {
                    used[c as usize] = true;
                }
                // labels that a selection of examples no longer has are left out
                let mut place = vec![0_u32; words.len()];
                let mut labels = Vec::new();
                for (r, &word) in order.iter().enumerate() {
                    if used[r] {
                        place[r] = labels.len() as u32;
                        labels.push(words[word].clone());
                    }
                }
                Ok(Classes { labels, codes: ranked.into_iter().map(|r| place[r as usize]).collect() })
            }
        }
    }

    /// The target as numbers; an error that names the first word in the way.
    pub fn numbers(&self) -> Result<Numbers, DataError> {
        let mut values = vec![0.0; self.len * self.columns.len()];
        for (k, column) in self.columns.iter().enumerate() {
            match &column.data {
                Data::Numbers { values: numbers, .. } => {
                    for (i, &v) in numbers.iter().enumerate() {
                        values[i * self.columns.len() + k] = v;
                    }
                }
                Data::Words { codes, words } => {
                    let numbers: Vec<Option<f64>> = words.iter().map(|word| word.parse().ok()).collect();
                    for (i, &code) in codes.iter().enumerate() {
                        let Some(value) = numbers[code as usize] else {
                            let example = words[code as usize].clone();
                            return Err(DataError::NotNumeric { column: column.name.clone(), example });
                        };
                        values[i * self.columns.len() + k] = value;
                    }
                }
            }
        }
        Ok(Numbers { names: self.names(), values })
    }

    /// The examples at the given places, in that order.
    #[must_use]
    pub fn select(&self, keep: &[usize]) -> Self {
        let columns = self
            .columns
            .iter()
            .map(|c| Column {
                name: c.name.clone(),
                data: match &c.data {
                    Data::Numbers { values, spellings } => Data::Numbers {
                        values: keep.iter().map(|&i| values[i]).collect(),
                        spellings: spellings.clone(),
                    },
                    Data::Words { codes, words } => {
                        Data::Words { codes: keep.iter().map(|&i| codes[i]).collect(), words: words.clone() }
                    }
                },
            })
            .collect();
        Self { columns, len: keep.len() }
    }
}

impl From<Vec<f64>> for Target {
    fn from(values: Vec<f64>) -> Self {
        Self::from_numbers("y", values)
    }
}

impl From<Vec<String>> for Target {
    fn from(words: Vec<String>) -> Self {
        Self::from_text("y", &words)
    }
}

/// The places of labels among those that are known, `None` for one that is none of them.
///
/// A label is found by its spelling. Only where the known labels are different numbers, all of them, is it found as a number, too: 1.0 is the
/// label 1 of a model that knows 1 and 2, but 3.10 is not the label 3.1 of one that knows 3.1 and 3.2rc, nor of one that knows 3.1 and 3.10.
pub fn places_of_labels<T: AsRef<str>>(known: &[String], labels: &[T]) -> Vec<Option<usize>> {
    let spelled: HashMap<&str, usize> =
        known.iter().enumerate().map(|(place, label)| (label.as_str(), place)).collect();
    let mut places: Vec<Option<usize>> = labels.iter().map(|label| spelled.get(label.as_ref()).copied()).collect();
    if places.iter().all(Option::is_some) {
        return places;
    }
    let Some(numbers) = different_numbers(known) else { return places };
    // who knows 1 and 1.0 apart does not mean 1 by 1.0
    let taken: HashSet<usize> = places.iter().flatten().copied().collect();
    for (place, label) in places.iter_mut().zip(labels).filter(|(place, _)| place.is_none()) {
        let equal = number(label.as_ref()).and_then(|value| numbers.get(&value.to_bits()));
        *place = equal.copied().filter(|place| !taken.contains(place));
    }
    places
}

/// The places of labels by the bits of their numbers; `None` if one is a word, or two are equal.
fn different_numbers(labels: &[String]) -> Option<HashMap<u64, usize>> {
    let mut numbers = HashMap::with_capacity(labels.len());
    for (place, label) in labels.iter().enumerate() {
        if numbers.insert(number(label)?.to_bits(), place).is_some() {
            return None;
        }
    }
    Some(numbers)
}

/// The number that a label is spelled as; 0 and −0 are one.
fn number(label: &str) -> Option<f64> {
    label.parse::<f64>().ok().filter(|value| !value.is_nan()).map(|value| value + 0.0)
}

fn note_spelling(spellings: &mut HashMap<u64, String>, value: f64, text: &str) {
    let value = value + 0.0; // −0 and 0 are one label
    if spellings.len() < MAX_SPELLINGS {
        spellings.entry(value.to_bits()).or_insert_with(|| text.to_owned());
    }
}

/// The different values, rising; 0 and −0 are one.
fn distinct(values: &[f64]) -> Vec<f64> {
    /// Largest number of classes that are looked through: past it, sorting all values is faster.
    const MAX_SCANNED_CLASSES: usize = 16;
    let mut found: Vec<f64> = Vec::new();
    for v in values {
        let v = v + 0.0;
        if !found.iter().any(|f| f.to_bits() == v.to_bits()) {
            found.push(v);
            if found.len() > MAX_SCANNED_CLASSES {
                found = values.iter().map(|v| v + 0.0).collect();
                break;
            }
        }
    }
    found.sort_by(f64::total_cmp);
    found.dedup_by_key(|v| v.to_bits());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_are_one_label_as_first_spelled() {
        let classes = Target::from_text("y", &["1.0", "1", "-1", "1e0", "-1.0"]).classes().unwrap();
        assert_eq!(classes.labels, ["-1", "1.0"]);
        assert_eq!(classes.codes, [1, 1, 0, 1, 0]);
    }

    #[test]
    fn words_are_sorted_and_unused_ones_left_out() {
        let target = Target::from_text("y", &["b", "c", "a", "b"]);
        assert_eq!(target.classes().unwrap().labels, ["a", "b", "c"]);
        let fewer = target.select(&[0, 1, 3]).classes().unwrap();
        assert_eq!((fewer.labels, fewer.codes), (vec!["b".to_owned(), "c".to_owned()], vec![0, 1, 0]));
        assert!(target.numbers().is_err());
    }

    #[test]
    fn words_that_are_equal_as_numbers_stay_two_labels() {
        let target = Target::from_words("y", &["3.10", "3.1", "20", "3", "3.10"]);
        let classes = target.classes().unwrap();
        assert_eq!(classes.labels, ["3", "3.1", "3.10", "20"], "sorted by number");
        assert_eq!(classes.codes, [2, 1, 3, 0, 2]);
        assert!(!target.is_numeric());
        assert_eq!(target.numbers().unwrap().values, [3.1, 3.1, 20.0, 3.0, 3.1], "who asks for numbers gets them");
        assert_eq!(Target::from_words("y", &["10", "9", "b"]).classes().unwrap().labels, ["10", "9", "b"]);
    }

    #[test]
    fn labels_are_found_by_spelling_and_as_numbers_where_all_are_numbers() {
        let places = |known: &[&str], labels: &[&str]| {
            places_of_labels(&known.iter().map(ToString::to_string).collect::<Vec<_>>(), labels)
        };
        assert_eq!(places(&["-1", "1.0", "2"], &["1", "-1.0", "2", "3", "x"]), [Some(1), Some(0), Some(2), None, None]);
        assert_eq!(places(&["0", "1"], &["-0", "1e0"]), [Some(0), Some(1)]);
        assert_eq!(places(&["3.1", "3.10", "3.2rc"], &["3.10", "3.1", "3.100"]), [Some(1), Some(0), None]);
        assert_eq!(
            places(&["3.1", "3.10", "3.2"], &["3.10", "3.20"]),
            [Some(1), None],
            "two are equal, so they are words"
        );
        assert_eq!(places(&["3.1", "3.2rc"], &["3.10"]), [None]);
        assert_eq!(places(&["1", "2"], &["1", "1.0"]), [Some(0), None], "labels that are told apart are two");
        assert_eq!(places(&["nan", "1"], &["NaN"]), [None]);
    }

    #[test]
    fn many_numbers_and_few_give_the_same_classes() {
        for count in [1_u32, 2, 16, 17, 40] {
            let values: Vec<f64> = (0..200).map(|i| f64::from(i * 7 % count) - 3.0).collect();
            let classes = Target::from_numbers("y", values.clone()).classes().unwrap();
            let mut wanted = values.clone();
            wanted.sort_by(f64::total_cmp);
            wanted.dedup();
            assert_eq!(classes.labels, wanted.iter().map(ToString::to_string).collect::<Vec<_>>(), "{count}");
            assert!(values.iter().zip(&classes.codes).all(|(v, &c)| wanted[c as usize] == *v));
        }
    }

    #[test]
    fn the_first_word_that_is_no_number_is_told() {
        let told = |entries: &[&str]| Target::from_text("y", entries).numbers().unwrap_err().to_string();
        assert!(told(&["1", "2", "x", "a"]).contains('x'));
    }

    #[test]
    fn numbers_sort_by_value() {
        let classes = Target::from_numbers("y", vec![10.0, 9.0, -0.0, 0.0]).classes().unwrap();
        assert_eq!(classes.labels, ["0", "9", "10"]);
        assert_eq!(classes.codes, [2, 1, 0, 0]);
    }
}
