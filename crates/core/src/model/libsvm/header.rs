//! The header of a LIBSVM model: keywords with their values, checked against each other before they are believed.

use crate::calibrate::{Calibration, Curve, Method};
use crate::formula::{Formula, linear, polynomial, rbf, sigmoid};
use crate::machines::Fact;
use crate::machines::Readout;
use crate::params::Setting;
use std::collections::BTreeMap;

/// A line, and what is wrong with it.
pub(super) type Wrong = (usize, String);

const KEYS: [&str; 13] = [
    "svm_type",
    "kernel_type",
    "degree",
    "gamma",
    "coef0",
    "nr_class",
    "total_sv",
    "rho",
    "label",
    "probA",
    "probB",
    "prob_density_marks",
    "nr_sv",
];

/// The contents of the header, in the terms of this library.
pub(super) struct Header {
    pub(super) machine: &'static str,
    pub(super) kernel: Formula,
    pub(super) readout: Readout,
    pub(super) offsets: Vec<f64>,
    pub(super) calibration: Option<Calibration>,
    /// The number of support vectors.
    pub(super) total: usize,
    /// The number of support vectors of each class, for classifiers.
    pub(super) of_classes: Option<Vec<usize>>,
    pub(super) notes: Vec<(String, f64)>,
}

/// The line of a keyword, and the words after it.
struct Entry<'a> {
    line: usize,
    words: Vec<&'a str>,
}

/// The keywords that were read.
struct Entries<'a> {
    all: BTreeMap<&'static str, Entry<'a>>,
    /// The line of the word `SV`, where missing keywords are missed.
    end: usize,
}

impl Header {
    /// Reads up to the word `SV`.
    pub(super) fn read<'a>(lines: &mut impl Iterator<Item = (usize, &'a [u8])>) -> Result<Self, Wrong> {
        let mut entries = Entries { all: BTreeMap::new(), end: 1 };
        loop {
            let Some((line, text)) = lines.next() else {
                return Err((entries.end, "the file ends before the word SV; copy it again".to_owned()));
            };
            entries.end = line;
            let text = std::str::from_utf8(text).map_err(|_| (line, "the line is not text".to_owned()))?;
            let mut words = text.split_ascii_whitespace();
            let key = words.next().unwrap_or_default();
            if key == "SV" {
                return Self::of(&entries);
            }
            let Some(known) = KEYS.iter().find(|k| **k == key) else {
                return Err((line, format!("\"{}\" is not a keyword of LIBSVM", shown(key))));
            };
            if entries.all.insert(known, Entry { line, words: words.collect() }).is_some() {
                return Err((line, format!("{known} is given twice")));
            }
        }
    }

    fn of(entries: &Entries<'_>) -> Result<Self, Wrong> {
        let (line, kind) = entries.word("svm_type")?;
        let machine = match kind {
            "c_svc" => "svc",
            "nu_svc" => "nu_svc",
            "one_class" => "one_class",
            "epsilon_svr" => "svr",
            "nu_svr" => "nu_svr",
            other => {
                let known = "c_svc, nu_svc, one_class, epsilon_svr and nu_svr";
                return Err((line, format!("there is no svm_type {}; there are {known}", shown(other))));
            }
        };
        let kernel = entries.kernel()?;
        let (line, total) = entries.count("total_sv")?;
        let classes = matches!(machine, "svc" | "nu_svc");
        let outputs = if classes { entries.pairs()? } else { 1 };
        let offsets = entries.numbers("rho", outputs)?.into_iter().map(|rho| 0.0 - rho).collect();
        let mut header = Self {
            machine,
            kernel,
            readout: Readout::Novelty,
            offsets,
            calibration: None,
            total,
            of_classes: None,
            notes: Vec::new(),
        };
        if classes {
            let counts = entries.counts("nr_sv")?;
            // sums of numbers that a file claims may pass the range
            if counts.iter().try_fold(0_usize, |sum, &n| sum.checked_add(n)) != Some(total) {
                return Err((line, format!("total_sv is {total}, but nr_sv has another sum")));
            }
            header.of_classes = Some(counts);
            header.readout = Readout::Vote { labels: entries.labels()? };
            header.calibration = entries.calibration(outputs)?;
        } else if machine != "one_class" {
            header.readout = Readout::Values { names: vec!["y".to_owned()] };
            if entries.all.contains_key("probA") {
                header.notes.push(Fact::LaplaceScale.note(entries.numbers("probA", 1)?[0]));
            }
        }
        Ok(header)
    }
}

impl Entries<'_> {
    fn get(&self, key: &str) -> Result<&Entry<'_>, Wrong> {
        self.all.get(key).ok_or_else(|| (self.end, format!("the keyword {key} is missing before the word SV")))
    }

    /// The one word of a keyword, with its line.
    fn word(&self, key: &str) -> Result<(usize, &str), Wrong> {
        let entry = self.get(key)?;
        match entry.words.as_slice() {
            [word] => Ok((entry.line, *word)),
            words => Err((entry.line, format!("{key} has {} values instead of one", words.len()))),
        }
    }

    fn count(&self, key: &str) -> Result<(usize, usize), Wrong> {
        let (line, word) = self.word(key)?;
        Ok((line, whole(word).ok_or_else(|| (line, format!("{key} is {}, not a whole number", shown(word))))?))
    }

    /// So many numbers as a keyword must have.
    fn numbers(&self, key: &str, wanted: usize) -> Result<Vec<f64>, Wrong> {
        let entry = self.get(key)?;
        if entry.words.len() != wanted {
            return Err((entry.line, format!("{key} has {} values instead of {wanted}", entry.words.len())));
        }
        let read = |word: &&str| {
            number(word).ok_or_else(|| (entry.line, format!("{key} has {}, not a finite number", shown(word))))
        };
        entry.words.iter().map(read).collect()
    }

    /// k (k − 1)/2 of nr_class.
    fn pairs(&self) -> Result<usize, Wrong> {
        let (line, k) = self.count("nr_class")?;
        match k.checked_mul(k.saturating_sub(1)) {
            Some(twice) if k >= 2 => Ok(twice / 2),
            _ => Err((line, format!("nr_class is {k}; a classifier has at least two classes"))),
        }
    }

    /// One number of support vectors for each class.
    fn counts(&self, key: &str) -> Result<Vec<usize>, Wrong> {
        let (entry, k) = (self.get(key)?, self.count("nr_class")?.1);
        if entry.words.len() != k {
            return Err((entry.line, format!("{key} has {} values, but there are {k} classes", entry.words.len())));
        }
        let read = |word: &&str| {
            whole(word).ok_or_else(|| (entry.line, format!("{key} has {}, not a whole number", shown(word))))
        };
        entry.words.iter().map(read).collect()
    }

    /// The labels in the order of the file.
    fn labels(&self) -> Result<Vec<String>, Wrong> {
        let (entry, k) = (self.get("label")?, self.count("nr_class")?.1);
        if entry.words.len() != k {
            return Err((entry.line, format!("label has {} values, but there are {k} classes", entry.words.len())));
        }
        let mut labels: Vec<i64> = Vec::with_capacity(entry.words.len());
        for word in &entry.words {
            let label = word.parse();
            labels.push(label.map_err(|_| (entry.line, format!("label {} is not a whole number", shown(word))))?);
        }
        let mut sorted = labels.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err((entry.line, format!("label {} stands for two classes", pair[0]))),
            None => Ok(labels.iter().map(ToString::to_string).collect()),
        }
    }

    /// probA and probB are the sigmoid of each pair, with our signs; LIBSVM holds scores out in five folds.
    fn calibration(&self, outputs: usize) -> Result<Option<Calibration>, Wrong> {
        if !self.all.contains_key("probA") && !self.all.contains_key("probB") {
            return Ok(None);
        }
        let (a, b) = (self.numbers("probA", outputs)?, self.numbers("probB", outputs)?);
        let curves = a.into_iter().zip(b).map(|(a, b)| Curve::Platt { a, b }).collect();
        Ok(Some(Calibration { method: Method::Platt, folds: 5, curves, agrees: true }))
    }

    /// The formula of a kernel in LIBSVM's words; the right-hand names are parameters of ours.
    fn kernel(&self) -> Result<Formula, Wrong> {
        let (line, kind) = self.word("kernel_type")?;
        let (mut formula, parameters): (Formula, &[(&str, &str)]) = match kind {
            "linear" => (linear(), &[]),
            "polynomial" => (polynomial(1, 0.0), &[("degree", "degree"), ("gamma", "gamma"), ("coef0", "offset")]),
            "rbf" => (rbf(1.0), &[("gamma", "gamma")]),
            "sigmoid" => (sigmoid(1.0, 0.0), &[("gamma", "gamma"), ("coef0", "offset")]),
            "precomputed" => {
                let finding = "kernel_type precomputed names rows of a matrix that the file does not hold; \
                               fit on the matrix with --kernel precomputed instead";
                return Err((line, finding.to_owned()));
            }
            other => {
                let known = "linear, polynomial, rbf and sigmoid";
                return Err((line, format!("there is no kernel_type {}; {known} can be read", shown(other))));
            }
        };
        for (key, parameter) in parameters {
            let value = Setting::Number(self.numbers(key, 1)?[0]);
            formula
                .assign(parameter, &value)
                .map_err(|e| (self.all.get(key).map_or(line, |e| e.line), e.to_string()))?;
        }
        Ok(formula)
    }
}

/// A finite number.
pub(super) fn number(word: &str) -> Option<f64> {
    word.parse::<f64>().ok().filter(|x| x.is_finite())
}

/// A whole number, zero or more.
fn whole(word: &str) -> Option<usize> {
    word.parse().ok()
}

/// A word as errors show it.
pub(super) fn shown(word: &str) -> String {
    word.chars().take(40).collect()
}
