//! Benchmark sets with fixed splits: `raetsch/NAME.csv.gz`, the target in the last column, and beside it a file whose
//! lines list the training rows of one split each, counted from zero; all other rows are its test part.

use clap::{Arg, ArgMatches, value_parser};
use mercer::data::read::{ReadOptions, read};
use mercer::data::{Dataset, FieldData, Scale, Schema, SchemaOptions, Table};
use mercer::select::Split;
use mercer_terminal::Failure;
use std::path::{Path, PathBuf};

/// The variable that names the data folder.
const VARIABLE: &str = "MERCER_DATA";
/// The folder of the sets inside it.
const INSIDE: &str = "raetsch";

/// A set and its splits.
pub(super) struct Benchmark {
    pub(super) name: &'static str,
    pub(super) data: Dataset,
    pub(super) splits: Vec<Split>,
    /// A number that changes with the files.
    pub(super) digest: u64,
}

/// The splits: all hundred, or the ten of the original benchmark that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Splits {
    /// `NAME.train_idx.txt.gz`
    All,
    /// `NAME.official10_train_idx.txt.gz`
    Official,
}

impl Splits {
    /// The ending of the file behind the name of the set.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::All => "train_idx.txt.gz",
            Self::Official => "official10_train_idx.txt.gz",
        }
    }
}

/// `--data`.
pub(super) fn flag() -> Arg {
    Arg::new("data")
        .long("data")
        .value_name("DIR")
        .value_parser(value_parser!(PathBuf))
        .help("Folder of the benchmark sets, which holds raetsch/NAME.csv.gz [default: the variable MERCER_DATA]")
}

/// The data folder, from `--data` or the environment.
pub(super) fn root(flags: &ArgMatches) -> Result<PathBuf, Failure> {
    let given = flags.get_one::<PathBuf>("data").cloned();
    let Some(folder) = given.or_else(|| std::env::var_os(VARIABLE).filter(|v| !v.is_empty()).map(PathBuf::from)) else {
        return Err(Failure::usage(format!(
            "the benchmark sets are not at hand: name their folder with --data DIR or the variable {VARIABLE}; it holds \
             {INSIDE}/NAME.csv.gz and {INSIDE}/NAME.{}",
            Splits::All.file()
        )));
    };
    if folder.is_dir() {
        return Ok(folder);
    }
    let message =
        format!("{}: there is no such folder; --data or {VARIABLE} must name that of the sets", folder.display());
    Err(Failure { message, code: 3 })
}

/// The folder that holds the sets with splits.
pub(super) fn folder(flags: &ArgMatches) -> Result<PathBuf, Failure> {
    let folder = root(flags)?;
    let inside = folder.join(INSIDE);
    Ok(if inside.is_dir() { inside } else { folder })
}

impl Benchmark {
    /// Reads a set as it is, with at most so many of its splits.
    pub(super) fn read(folder: &Path, name: &'static str, splits: Splits, most: usize) -> Result<Self, Failure> {
        let (table_file, split_file) =
            (folder.join(format!("{name}.csv.gz")), folder.join(format!("{name}.{}", splits.file())));
        let bare = |format: &str| ReadOptions {
            format: Some(format.to_owned()),
            header: Some(false),
            ..ReadOptions::default()
        };
        let table = read(&table_file, &bare("csv"))?;
        // the sets come scaled by those who made them
        let options =
            SchemaOptions { scale: Some(Scale::None), target: Some(vec!["-1".to_owned()]), ..SchemaOptions::default() };
        let (_, data) = Schema::learn_and_apply(&table, &options)?;
        let lists = read(&split_file, &ReadOptions { delimiter: Some(b' '), ..bare("csv") })?;
        let splits = (0..lists.len.min(most)).map(|s| split(&lists, s, data.len())).collect::<Result<_, _>>()?;
        let digest = digest(&[&table_file, &split_file])?;
        Ok(Self { name, data, splits, digest })
    }

    /// The number of training examples.
    pub(super) fn train_size(&self) -> usize {
        self.splits.first().map_or(0, |s| s.train.len())
    }

    /// The number of test examples.
    pub(super) fn test_size(&self) -> usize {
        self.splits.first().map_or(0, |s| s.test.len())
    }

    /// The number of coordinates of an example.
    pub(super) fn width(&self) -> usize {
        self.data.views().iter().filter_map(|v| v.values.width()).sum()
    }
}

/// The split of a line.
fn split(lists: &Table, line: usize, n: usize) -> Result<Split, Failure> {
    let wrong = |what: String| Failure { message: format!("{}, line {}: {what}", lists.file, line + 1), code: 3 };
    let mut chosen = vec![false; n];
    let mut train = Vec::with_capacity(lists.fields.len());
    for field in &lists.fields {
        let FieldData::Numbers { values, .. } = &field.data else {
            return Err(wrong("a split lists numbers of rows".to_owned()));
        };
        let row = values[line];
        if !(row.fract() == 0.0 && row >= 0.0 && row < n as f64) {
            return Err(wrong(format!("{row} is no row of the set, which has rows 0 to {}", n.saturating_sub(1))));
        }
        if std::mem::replace(&mut chosen[row as usize], true) {
            return Err(wrong(format!("row {row} is listed twice")));
        }
        train.push(row as usize);
    }
    let test: Vec<usize> = (0..n).filter(|&i| !chosen[i]).collect();
    if test.is_empty() {
        return Err(wrong("no row is left to test on".to_owned()));
    }
    Ok(Split { train, test, weights: None })
}

/// FNV-1a (Fowler, Noll & Vo) over the bytes of the files.
fn digest(files: &[&Path]) -> Result<u64, Failure> {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for file in files {
        for byte in std::fs::read(file).map_err(|e| Failure::file(file, &e))? {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(hash)
}
