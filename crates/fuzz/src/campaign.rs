//! Many inputs for one target, one after the other, with a count of what came of them.

use crate::targets::{Input, Target};
use crate::trial::{Fault, Seen, observe};
use mercer::seed::{Random, Seed};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most inputs of each kind that are kept besides the seeds.
const MAX_KEPT: usize = 2000;
/// Longer inputs are not kept: what they teach, a short one teaches as well.
const MAX_KEPT_LEN: usize = 1 << 14;

/// Counts of a campaign; plain numbers, so that they outlive the process that counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Inputs that were begun.
    pub inputs: u64,
    /// Inputs that were read.
    pub accepted: u64,
    /// Inputs that were refused in words.
    pub refused: u64,
    /// Outcomes that differ.
    pub outcomes: u64,
    /// Panics and broken laws.
    pub panics: u64,
    /// Inputs that took a second for a KB.
    pub slow: u64,
    /// Inputs that held more memory than the bound.
    pub large: u64,
    /// The longest time of an input, in microseconds.
    pub longest: u64,
    /// The most bytes that an input held.
    pub held: u64,
}

impl Counts {
    /// Bytes of the plain form.
    pub const BYTES: usize = 72;

    fn numbers(&self) -> [u64; 9] {
        let Self { inputs, accepted, refused, outcomes, panics, slow, large, longest, held } = *self;
        [inputs, accepted, refused, outcomes, panics, slow, large, longest, held]
    }

    /// The plain form.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.numbers().iter().flat_map(|n| n.to_le_bytes()).collect()
    }

    /// Reads the plain form.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let (chunks, _) = bytes.as_chunks();
        let mut numbers = [0; 9];
        numbers.iter_mut().zip(chunks).for_each(|(n, chunk)| *n = u64::from_le_bytes(*chunk));
        let [inputs, accepted, refused, outcomes, panics, slow, large, longest, held] = numbers;
        Self { inputs, accepted, refused, outcomes, panics, slow, large, longest, held }
    }

    /// Adds what another process counted.
    pub fn add(&mut self, more: &Self) {
        let (ours, theirs) = (self.numbers(), more.numbers());
        let sum = |k: usize| ours[k] + theirs[k];
        *self = Self {
            inputs: sum(0),
            accepted: sum(1),
            refused: sum(2),
            outcomes: ours[3].max(theirs[3]),
            panics: sum(4),
            slow: sum(5),
            large: sum(6),
            longest: ours[7].max(theirs[7]),
            held: ours[8].max(theirs[8]),
        };
    }
}

/// An input with what went wrong.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The input.
    pub input: Input,
    /// The failure.
    pub fault: Fault,
    /// In words.
    pub said: String,
}

/// Inputs for a target.
pub struct Campaign {
    target: &'static Target,
    /// The seeds, and inputs that were read.
    read: Vec<Input>,
    /// The seeds, and inputs that were refused: one change more may find another refusal.
    refused: Vec<Input>,
    corpus: usize,
    random: Random,
    known: HashSet<u64>,
    next: Option<Input>,
    /// The counts so far.
    pub counts: Counts,
}

impl Campaign {
    /// Begins with the seeds of a target.
    ///
    /// # Errors
    /// If the seeds cannot be read.
    pub fn new(target: &'static Target, seed: Seed) -> std::io::Result<Self> {
        let seeds = target.corpus()?;
        let (random, corpus, read, refused) = (seed.stream(target.name), seeds.len(), seeds.clone(), seeds);
        let (known, next, counts) = (HashSet::new(), None, Counts::default());
        Ok(Self { target, read, refused, corpus, random, known, next, counts })
    }

    /// Makes the next input; a seed itself at first.
    pub fn prepare(&mut self) -> &Input {
        let number = usize::try_from(self.counts.inputs).unwrap_or(usize::MAX);
        self.counts.inputs += 1;
        let input = match self.read.get(number).filter(|_| number < self.corpus) {
            Some(seed) => seed.clone(),
            None => {
                let seeds = if self.random.below(4) == 0 { &self.refused } else { &self.read };
                self.target.make(seeds, &mut self.random)
            }
        };
        self.next.insert(input)
    }

    /// Runs the input that was made; what went wrong, if anything did.
    pub fn run(&mut self) -> Option<Finding> {
        let input = self.next.take()?;
        let Seen { outcome, fault, took, held } = observe(self.target, &input.name, &input.bytes);
        self.counts.longest = self.counts.longest.max(took.as_micros() as u64);
        self.counts.held = self.counts.held.max(held as u64);
        if let Some(outcome) = outcome {
            *(if outcome.accepted { &mut self.counts.accepted } else { &mut self.counts.refused }) += 1;
            if self.known.insert(gist(&outcome.words)) {
                self.counts.outcomes += 1;
                let seeds = if outcome.accepted { &mut self.read } else { &mut self.refused };
                if seeds.len() < self.corpus + MAX_KEPT && input.bytes.len() <= MAX_KEPT_LEN && fault.is_none() {
                    seeds.push(input.clone());
                }
            }
        }
        let (fault, said) = fault?;
        *match fault {
            Fault::Panic => &mut self.counts.panics,
            Fault::Slow => &mut self.counts.slow,
            Fault::Large => &mut self.counts.large,
        } += 1;
        Some(Finding { input, fault, said })
    }
}

/// A number of what is said, whatever the numbers, the names and the quotations in it.
pub fn gist(words: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut quoted = false;
    for c in words.chars().filter(|c| !c.is_ascii_digit()) {
        quoted ^= c == '"';
        if !quoted {
            c.hash(&mut hasher);
        }
    }
    hasher.finish()
}
