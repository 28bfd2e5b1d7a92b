//! Targets that are given damaged input, and the way it is made of seeds.

use crate::damage::{MAX_LEN, damaged, one};
use crate::trial::Outcome;
use crate::{forge, formulas, laws};
use mercer::seed::Random;
use std::path::{Path, PathBuf};

/// An input, with the name of its file.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name; the extension says how it is read.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A reader with its seeds.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// The kind of input that it reads, in a line.
    pub summary: &'static str,
    /// The folders of its seeds, relative to this crate.
    pub seeds: &'static [&'static str],
    /// Words of its language.
    pub words: &'static [&'static str],
    /// Makes an input of seeds.
    pub make: fn(&Self, &[Input], &mut Random) -> Input,
    /// Reads an input, uses what was read, and panics where a law is broken.
    pub run: fn(&str, &[u8]) -> Outcome,
    /// The most bytes that may be held for an input of so many bytes.
    pub room: fn(usize) -> usize,
}

/// The budget of memory that a campaign runs under, in bytes: what grows asks it.
pub const BUDGET: usize = 16 << 20;

/// Buffers and tables of decoders take a fixed amount, tables a multiple of their text.
fn room_of_text(len: usize) -> usize {
    (16 << 20) + 256 * len
}

/// The room of a packed input, which swells up to a thousandfold; its table is held against the budget.
fn room_of_packed(len: usize) -> usize {
    4 * BUDGET + 4096 * len
}

fn room_of_models(_: usize) -> usize {
    8 * BUDGET
}

const CSV: &[&str] =
    &["y", "target", "\"\"", "\"a\"\"b\"", "NA", "?", "None", "2024-02-30", "true", "1e3", "#", "w\tw"];
const LIBSVM: &[&str] =
    &["+1", "-1", "qid:1", "1:1", "2147483648:1", "0:1", "1:", ":1", "1:nan", "3:1e400", "#", "1:1:1"];
const NPY: &[&str] = &[
    "'<f8'",
    "'>f4'",
    "'|u1'",
    "'|b1'",
    "'<U3'",
    "'|S5'",
    "'|O'",
    "'<c16'",
    "'<U99999999999'",
    "'<M8[ns]'",
    "True",
    "False",
    "(2, 2)",
    "(4,)",
    "()",
    "(0, 3)",
    "(1, 0)",
    "(9223372036854775807, 0)",
    "(4294967296, 4294967296)",
    "descr",
    "fortran_order",
    "shape",
    "[('a', '<f8')]",
];
const JSONL: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "null",
    "true",
    "\"a\"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "{\"a\":1}",
    "[[1]]",
    "1e400",
    "-0.0",
    ":",
    "\"target\"",
    "[1,2,3]",
];
const SEQUENCES: &[&str] = &[">", "@", "+", ">s", "@r", "ACGT", "acgtn", "*", "II", "> a b", "\n\n"];
const LIBSVM_MODEL: &[&str] = &[
    "svm_type",
    "c_svc",
    "nu_svc",
    "one_class",
    "epsilon_svr",
    "nu_svr",
    "kernel_type",
    "linear",
    "polynomial",
    "rbf",
    "sigmoid",
    "precomputed",
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
    "SV",
    "1:1",
    "0:1",
    "2147483648:1",
    "1:nan",
];
const MODEL: &[&str] = &[
    "svc",
    "ridge",
    "knn",
    "kernel_pca",
    "arg_max",
    "vote",
    "value",
    "dual",
    "primal",
    "dense",
    "dense32",
    "sparse",
    "sparse32",
    "text",
    "index",
    "",
    "x",
    "a",
    "mean",
    "standard",
    "minmax",
    "linear",
    "rbf(gamma=1)",
    "converged",
    "offsets",
    "labels",
    "numbers",
    "words",
];
const FORMULA: &[&str] = &[
    "+",
    "*",
    "^",
    "(",
    ")",
    "@",
    ",",
    "=",
    "[",
    "]",
    "\"",
    "gamma",
    "scale",
    "median",
    "rbf",
    "linear",
    "spectrum",
    "normalise",
    "centre",
    "nystrom",
    "series",
    "set",
    "points",
    "length",
    "|",
    "..",
    ":log5",
    ":lin3",
];

/// All targets.
pub static TARGETS: &[Target] = &[
    text("csv", "delimited text: CSV, TSV and columns between blanks", &["corpus/csv"], CSV),
    text("libsvm", "sparse vectors as LIBSVM writes them", &["corpus/libsvm"], LIBSVM),
    text("jsonl", "JSON lines", &["corpus/jsonl"], JSONL),
    text("json_array", "JSON arrays of objects", &["corpus/json_array"], JSONL),
    text("fasta", "sequences in FASTA", &["corpus/fasta"], SEQUENCES),
    text("fastq", "sequences in FASTQ", &["corpus/fastq"], SEQUENCES),
    Target { make: make_npy, ..text("npy", "arrays of NumPy", &["corpus/npy"], NPY) },
    Target {
        make: make_npz,
        room: room_of_packed,
        ..text("npz", "archives of arrays", &["corpus/npz", "corpus/npy"], NPY)
    },
    text("idx", "blocks in IDX", &["corpus/idx"], &[]),
    Target {
        make: make_gzip,
        room: room_of_packed,
        ..text(
            "gzip",
            "packed files of every format",
            &["corpus/csv", "corpus/libsvm", "corpus/jsonl", "corpus/npy"],
            CSV,
        )
    },
    Target {
        make: make_zstd,
        room: room_of_packed,
        ..text(
            "zstd",
            "files of every format in Zstandard",
            &["corpus/csv", "corpus/libsvm", "corpus/jsonl", "corpus/npy"],
            CSV,
        )
    },
    Target {
        name: "model",
        summary: "model files, with a checksum that fits; those that are read predict and are written again",
        seeds: &["../core/tests/fixtures/models"],
        words: MODEL,
        make: make_model,
        run: laws::model,
        room: room_of_models,
    },
    Target {
        name: "libsvm_model",
        summary: "models of LIBSVM; those that are read predict and are written again",
        seeds: &["corpus/libsvm_model"],
        words: LIBSVM_MODEL,
        make: make_text,
        run: laws::libsvm_model,
        room: room_of_models,
    },
    Target {
        name: "formula",
        summary: "formulas of kernels, and the same text as machine and as grid; what is read prints as what reads the same",
        seeds: &["corpus/formula"],
        words: FORMULA,
        make: make_formula,
        run: laws::formula,
        room: |len| (4 << 20) + 1024 * len,
    },
];

const fn text(
    name: &'static str,
    summary: &'static str,
    seeds: &'static [&'static str],
    words: &'static [&'static str],
) -> Target {
    Target { name, summary, seeds, words, make: make_text, run: laws::table, room: room_of_text }
}

/// The target of a name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

impl Target {
    /// The seeds, in the order of their names: files that end in `.json` or `.md` tell about others.
    ///
    /// # Errors
    /// If a folder or a file cannot be read.
    pub fn corpus(&self) -> std::io::Result<Vec<Input>> {
        let mut found = Vec::new();
        for folder in self.seeds {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
            let items: std::io::Result<Vec<PathBuf>> =
                std::fs::read_dir(folder)?.map(|item| Ok(item?.path())).collect();
            let mut paths = items?;
            paths.sort();
            for path in paths.into_iter().filter(|path| path.is_file()) {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if !["json", "md"].contains(&extension(&name)) {
                    found.push(Input { name, bytes: std::fs::read(&path)? });
                }
            }
        }
        Ok(found)
    }

    /// A new input, made of seeds.
    pub fn make(&self, seeds: &[Input], random: &mut Random) -> Input {
        let mut input = (self.make)(self, seeds, random);
        input.bytes.truncate(8 * MAX_LEN);
        input
    }

    fn damaged(&self, seeds: &[Input], random: &mut Random) -> Input {
        let Input { name, bytes } = &seeds[random.below(seeds.len())];
        let other = &seeds[random.below(seeds.len())];
        Input { name: name.clone(), bytes: damaged(bytes, &[&other.bytes], self.words, random) }
    }
}

/// The part of a name after its last point.
fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, end)| end)
}

fn make_text(target: &Target, seeds: &[Input], random: &mut Random) -> Input {
    target.damaged(seeds, random)
}

fn make_npy(target: &Target, seeds: &[Input], random: &mut Random) -> Input {
    let seed = &seeds[random.below(seeds.len())];
    let forged = if random.below(3) > 0 { forge::npy(&seed.bytes, target.words, random) } else { None };
    forged.map_or_else(|| target.damaged(seeds, random), |bytes| Input { name: seed.name.clone(), bytes })
}

fn make_npz(target: &Target, seeds: &[Input], random: &mut Random) -> Input {
    let arrays: Vec<&[u8]> = seeds.iter().filter(|s| extension(&s.name) == "npy").map(|s| s.bytes.as_slice()).collect();
    let archives: Vec<Input> = seeds.iter().filter(|s| extension(&s.name) == "npz").cloned().collect();
    let forged =
        if random.below(2) == 0 && !arrays.is_empty() { forge::npz(&arrays, target.words, random) } else { None };
    let forged = forged.map(|bytes| Input { name: "a.npz".to_owned(), bytes });
    forged.unwrap_or_else(|| target.damaged(&archives, random))
}

fn make_gzip(target: &Target, seeds: &[Input], random: &mut Random) -> Input {
    packed(target, seeds, ".gz", forge::gzip, random)
}

fn make_zstd(target: &Target, seeds: &[Input], random: &mut Random) -> Input {
    packed(target, seeds, ".zst", forge::zstd, random)
}

/// A damaged content in a sound packing, or a sound content in a damaged packing.
fn packed(
    target: &Target,
    seeds: &[Input],
    end: &str,
    pack: fn(&[u8], usize) -> Vec<u8>,
    random: &mut Random,
) -> Input {
    let seed = &seeds[random.below(seeds.len())];
    let name = if seed.name.ends_with(end) { seed.name.clone() } else { format!("{}{end}", seed.name) };
    if seed.name.ends_with(end) {
        return Input { name, bytes: damaged(&seed.bytes, &[], &[], random) };
    }
    let mut content = seed.bytes.clone();
    if random.below(2) == 0 {
        content = damaged(&content, &[], target.words, random);
    }
    if random.below(8) == 0 {
        // what swells
        content = content.repeat(1 + random.below(200));
    }
    let mut bytes = pack(&content, 1 + random.below(3));
    if random.below(2) == 0 {
        bytes = damaged(&bytes, &[], &[], random);
    }
    Input { name, bytes }
}

fn make_model(target: &Target, seeds: &[Input], random: &mut Random) -> Input {
    let seed = &seeds[random.below(seeds.len())];
    let forged = if random.below(16) > 0 { forge::model(&seed.bytes, target.words, random) } else { None };
    forged.map_or_else(|| target.damaged(seeds, random), |bytes| Input { name: seed.name.clone(), bytes })
}

fn make_formula(target: &Target, seeds: &[Input], random: &mut Random) -> Input {
    let text = match random.below(8) {
        0 => return target.damaged(seeds, random),
        1 => formulas::machine(random),
        2 => formulas::grid(random),
        // brackets without end
        3 if random.below(20) == 0 => {
            one(&["(", "normalise(", "1*(", "[", "\"", "a^"], random).repeat(random.below(4000))
        }
        _ => formulas::formula(random.below(5), random),
    };
    let mut bytes = text.into_bytes();
    if random.below(2) == 0 {
        bytes = damaged(&bytes, &[], target.words, random);
    }
    Input { name: "formula.txt".to_owned(), bytes }
}
