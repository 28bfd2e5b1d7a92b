//! A sample of the training examples, by which a model recognises them in any order: the smallest of their fingerprints, in few bits.
//!
//! # Source
//! R. F. Rice & J. R. Plaunt, Adaptive variable-length coding for efficient compression of spacecraft television data (1971): the
//! differences of rising numbers as a quotient in ones and a remainder in so many bits.

use crate::data::{Copies, Dataset, Known, copies, smallest_counted};
use serde::{Deserialize, Serialize};

/// Examples in a sample.
const MAX_EXAMPLES: usize = 1024;
/// The same in older files.
const MAX_EXAMPLES_BEFORE: usize = 64;
/// Another example is taken for one of the sample once in two to this power; fingerprints of more bits are longer files.
const BITS: u32 = 16;

/// The smallest fingerprints ([`Dataset::example_fingerprints`]) in rising order, without their last bits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub(super) struct Sample {
    numbers: Vec<u64>,
    /// Number of examples that have each of them; empty where each has one.
    times: Vec<u32>,
    /// Bits that were cut off.
    cut: u32,
}

/// A sample in a document: older ones have the numbers themselves.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Numbers(Vec<u64>),
    Text(String),
}

impl Sample {
    /// The sample of some examples, by their fingerprints.
    pub(super) fn of(mut all: Vec<u64>) -> Self {
        let (smallest, _) = smallest_counted(all.clone(), MAX_EXAMPLES);
        let room = smallest.last().map_or(0, |last| last / smallest.len() as u64);
        let cut = room.checked_ilog2().unwrap_or(0).saturating_sub(BITS);
        all.iter_mut().for_each(|number| *number >>= cut);
        let (numbers, mut times) = smallest_counted(all, MAX_EXAMPLES);
        if times.iter().all(|&times| times == 1) {
            times.clear();
        }
        Self { numbers, times, cut }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// How many of others are copies of the `examples` of which this is a sample, and whether that is counted rather than estimated;
    /// `None` of an empty sample.
    ///
    /// The sample has every example up to its largest number: among others up to there the share that is in the sample is exact, and
    /// stands for the share of all.
    pub(super) fn copies_among(&self, others: &Dataset, examples: Option<usize>) -> Option<(Copies, bool)> {
        if self.is_empty() {
            return None;
        }
        let examples = examples.unwrap_or(self.numbers.len());
        let whole = self.is_whole(examples);
        let known = Known { numbers: &self.numbers, times: &self.times, examples, whole };
        let others: Vec<u64> = others.example_fingerprints().into_iter().map(|f| f >> self.cut).collect();
        Some((copies(known, &others), whole))
    }

    /// True if all of so many examples are in it.
    fn is_whole(&self, examples: usize) -> bool {
        let kept = self.numbers.len();
        let counted: usize = self.times.iter().map(|&times| times as usize).sum();
        examples == kept.max(counted) || (kept != MAX_EXAMPLES && (kept != MAX_EXAMPLES_BEFORE || counted > 0))
    }

    /// The places of others that are not in the sample.
    pub(super) fn places_outside(&self, others: &Dataset) -> Vec<usize> {
        let outside = |f: u64| self.numbers.binary_search(&(f >> self.cut)).is_err();
        others.example_fingerprints().into_iter().enumerate().filter(|(_, f)| outside(*f)).map(|(i, _)| i).collect()
    }
}

impl From<Sample> for Stored {
    fn from(sample: Sample) -> Self {
        let count = sample.numbers.len() as u64;
        let mean = sample.numbers.last().map_or(0, |last| last / count);
        let kept = mean.checked_ilog2().unwrap_or(0);
        let (mut bits, mut before) = (Vec::new(), 0);
        for number in sample.numbers {
            let difference = number - before;
            bits.extend((0..difference >> kept).map(|_| true));
            bits.push(false);
            bits.extend((0..kept).rev().map(|place| (difference >> place) & 1 == 1));
            before = number;
        }
        let digit = |four: &[bool]| {
            let value = (0..4).fold(0, |value, place| 2 * value + u32::from(four.get(place) == Some(&true)));
            char::from_digit(value, 16).unwrap_or_default()
        };
        let digits: String = bits.chunks(4).map(digit).collect();
        let mut words = vec![count.to_string(), sample.cut.to_string(), kept.to_string(), digits];
        words.extend(sample.times.iter().map(u32::to_string));
        Self::Text(words.join(" "))
    }
}

impl TryFrom<Stored> for Sample {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        match stored {
            Stored::Numbers(numbers) => numbers.is_sorted().then_some(Self { numbers, times: Vec::new(), cut: 0 }),
            Stored::Text(text) => read(&text),
        }
        .ok_or_else(|| "its sample of the training examples cannot be read".to_owned())
    }
}

/// The sample that a text says; `None` of any other text.
fn read(text: &str) -> Option<Sample> {
    let mut words = text.split(' ');
    let mut word = || words.next();
    let (count, cut, kept): (usize, u32, u32) = (word()?.parse().ok()?, word()?.parse().ok()?, word()?.parse().ok()?);
    let digits = word()?.chars().map(|c| c.to_digit(16)).collect::<Option<Vec<u32>>>()?;
    if cut >= u64::BITS || kept >= u64::BITS || count > 4 * digits.len() {
        return None;
    }
    let mut bits = digits.iter().flat_map(|digit| (0..4).rev().map(move |place| (digit >> place) & 1 == 1));
    let (mut numbers, mut before) = (Vec::with_capacity(count), 0_u64);
    for _ in 0..count {
        let mut difference = 0_u64;
        while bits.next()? {
            difference += 1;
        }
        for _ in 0..kept {
            difference = difference.checked_mul(2)? + u64::from(bits.next()?);
        }
        before = before.checked_add(difference)?;
        numbers.push(before);
    }
    let times: Vec<u32> = words.map(|times| times.parse().ok().filter(|&times| times > 0)).collect::<Option<_>>()?;
    (times.is_empty() || times.len() == count).then_some(Sample { numbers, times, cut })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::{Rows, Seed};

    fn examples(count: usize) -> Dataset {
        let mut random = Seed(3).stream("sample");
        Dataset::new(Rows::new((0..2 * count).map(|_| random.normal()).collect(), count, 2).unwrap())
    }

    #[test]
    fn a_sample_is_few_bytes_and_read_as_it_was() {
        for count in [0, 1, 2, 200, 1024, 5000] {
            let sample = Sample::of(examples(count).example_fingerprints());
            let text = serde_json::to_string(&sample).unwrap();
            assert_eq!(serde_json::from_str::<Sample>(&text).unwrap(), sample);
            // two characters for a byte
            assert!(text.len() < 40 + 2 * 10 * count.min(1024) / 4, "{count}: {}", text.len());
            assert_eq!(sample.numbers.len(), count.min(1024));
        }
    }

    #[test]
    fn repeated_examples_are_counted() {
        let some = examples(50);
        let again: Vec<usize> = (0..50).chain(0..20).chain(5..10).collect();
        let sample = Sample::of(some.select(&again).example_fingerprints());
        assert_eq!(sample.times.iter().sum::<u32>(), 75);
        assert_eq!([1, 2, 3].map(|t| sample.times.iter().filter(|&&times| times == t).count()), [30, 15, 5]);
        assert_eq!(serde_json::from_str::<Sample>(&serde_json::to_string(&sample).unwrap()).unwrap(), sample);
    }

    #[test]
    fn the_numbers_of_older_files_are_read_and_written_anew() {
        let numbers = vec![0, 7, 7, 1 << 40, u64::MAX];
        let sample: Sample = serde_json::from_str(&serde_json::to_string(&numbers).unwrap()).unwrap();
        assert_eq!(sample, Sample { numbers, times: Vec::new(), cut: 0 });
        assert_eq!(serde_json::from_str::<Sample>(&serde_json::to_string(&sample).unwrap()).unwrap(), sample);
    }

    #[test]
    fn what_is_no_sample_is_refused() {
        for text in [
            "[3,1]",
            "[-1]",
            "{}",
            "\"\"",
            "\"1 0 0\"",
            "\"1 0 0 8 0\"",
            "\"1 0 0 8 2 2\"",
            "\"2 0 0 f\"",
            "\"1 64 0 0\"",
            "\"1 0 64 0\"",
            "\"1 0 3 g\"",
            "\"99999999999 0 0 0\"",
            "\"1 0 63 ffffffffffffffffffffffff\"",
            "\"3 0 63 7fffffffffffffffbfffffffffffffff\"",
        ] {
            assert!(serde_json::from_str::<Sample>(text).is_err(), "{text}");
        }
    }
}
