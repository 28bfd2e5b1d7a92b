//! Facts about an entry stand in its own file: no code elsewhere knows a kernel, machine, bound, kind or format by its name. What has
//! to is listed here with its reason, and the list holds nothing that is not needed.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::layers::{code, is_test};
use mercer::data::{kinds, read, write};
use mercer::{bounds, kernels, machines};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Places of words that are also names of entries: a file, or a folder with what is in it; the words, of which `*` is all; why.
const ALLOWED: &[(&str, &[&str], &str)] = &[
    // files of other programs, and the form of ours
    ("core/src/model/libsvm/", &["*"], "the words of LIBSVM's files, which this folder turns into ours and back"),
    ("python/mercer/_words.py", &["*"], "headers of model files word for word, to which compressed ones refer"),
    ("core/src/model/file.rs", &["text"], "the word for strings among the arrays of a model file"),
    ("core/src/model/onnx/leaves.rs", &["centre"], "the name of an array in a graph"),
    ("core/src/data/schema.rs", &["text"], "the word for strings in the schema of a model file"),
    ("core/src/data/read/csv.rs", &["tsv"], "an extension"),
    ("core/src/data/read/delimiter.rs", &["csv", "tsv"], "extensions, which say what separates cells"),
    ("core/src/data/read/libsvm.rs", &["svm"], "an extension"),
    ("core/src/data/write/libsvm.rs", &["svm"], "an extension"),
    ("core/src/data/read/header.rs", &["text"], "a word that headers have"),
    ("core/src/data/read/open.rs", &["arrow"], "a feature of the build"),
    // words of the language of formulas, and of parameters
    ("core/src/formula/", &["rbf"], "rbf(κ, gamma) on top of a kernel is a word of the grammar"),
    ("core/src/formula/", &["centre"], "centre(κ) is a word of the grammar"),
    ("core/src/formula/nystrom.rs", &["k_means"], "a way to choose landmarks"),
    ("core/src/params/describe.rs", &["text"], "the kind of a parameter that is text"),
    ("core/src/params/expression.rs", &["text"], "the kind of a parameter that is text"),
    ("cli/src/help.rs", &["text"], "the kind of a parameter that is text"),
    ("core/src/machines/neighbours.rs", &["distance"], "a weighting of neighbours"),
    ("core/src/machines/threshold.rs", &["gaussian", "margin", "programme"], "rules for a threshold"),
    ("core/src/machines/rayleigh/", &["noise"], "the noise beside the examples, a term of a quotient"),
    ("core/src/machines/reduce/kernel_pca.rs", &["centre"], "a parameter"),
    ("core/src/machines/baseline/adaboost.rs", &["rbf_network"], "the learners that are boosted"),
    ("core/src/calibrate/mod.rs", &["gaussian"], "a form of probabilities"),
    // a remedy in a sentence: the machine to take instead
    ("core/src/machines/baseline/", &["svc", "ridge", "regularised_fisher"], "the machine that takes a kernel instead"),
    ("core/src/machines/classify/linear_svc.rs", &["svc"], "the machine that takes a kernel instead"),
    ("core/src/machines/regress/linear_svr.rs", &["svr"], "the machine that takes a kernel instead"),
    // names of numbers that are shown
    ("core/src/machines/classify/perceptron.rs", &["margin"], "a note of the report"),
    ("core/src/machines/detect/centre_of_mass.rs", &["margin"], "a note of the report"),
    ("core/src/bounds/novelty.rs", &["margin"], "a number that goes into a bound"),
    ("core/src/bounds/pac_bayes.rs", &["cosine"], "a number that goes into a bound"),
    ("core/src/bounds/rademacher.rs", &["margin"], "a number that goes into a theorem"),
    ("core/src/bounds/theorem.rs", &["*"], "the list of families, each with the name of its file"),
    ("core/src/bounds/certificate.rs", &["regret"], "a quantity that is bounded"),
    ("core/src/bounds/mod.rs", &["*"], "the list of families, each with the name of its file"),
    ("core/src/certify/plan.rs", &["margin"], "a number that is expected"),
    ("core/src/certify/report.rs", &["evidence"], "a line of the report"),
    ("core/src/certify/thorough.rs", &["evidence"], "a phase of long work"),
    // flags and documents of the command line
    ("cli/src/arguments.rs", &["categorical", "text"], "flags"),
    ("cli/src/arguments.rs", &["linear"], "the usual formula of machines on explicit features"),
    ("cli/src/input.rs", &["categorical", "text"], "flags"),
    ("cli/src/convert.rs", &["csv"], "delimited text keeps its words as they were"),
    ("cli/src/data.rs", &["csv", "tsv"], "extensions of what it writes"),
    ("cli/src/gram.rs", &["npy"], "the extension of what it writes"),
    ("cli/src/predict.rs", &["csv"], "the extension of what it writes"),
    ("cli/src/input.rs", &["csv"], "only delimited text has a line of names, which may be all there is"),
    ("cli/src/auxiliary.rs", &["noise"], "a flag"),
    ("cli/src/certify.rs", &["evidence"], "a flag"),
    ("cli/src/plan.rs", &["margin"], "a flag"),
    ("cli/src/export.rs", &["libsvm"], "a form of models, not of data"),
    ("cli/src/predict.rs", &["npy"], "an extension"),
    ("cli/src/catalogue.rs", &["text", "vectors", "words"], "the data of examples, and a key of a document"),
    ("cli/src/show.rs", &["words"], "a heading"),
    ("cli/src/learning_curve.rs", &["held_out"], "a key of a document"),
    ("cli/src/quickstart.rs", &["held_out", "svc"], "a key of a document, and the machine that is shown first"),
    (
        "cli/src/measure.rs",
        &["*"],
        "flags and keys of a document of measures, some of which share a word with an entry",
    ),
    ("cli/src/measure/", &["linear", "vectors"], "an estimator of the statistic, and a key of a document"),
    // the Python package
    ("python/src/catalogue.rs", &["words"], "a key of a document"),
    ("python/src/certify.rs", &["evidence", "margin"], "arguments"),
    ("python/src/evidence.rs", &["linear"], "an estimator of the statistic"),
    ("python/src/fit.rs", &["noise"], "an argument"),
    ("python/mercer/_base.py", &["*"], "scikit-learn's names of kernels, which this file turns into formulas"),
    ("python/mercer/svm.py", &["*"], "one class for each machine that scikit-learn has, which names it"),
    ("python/mercer/kernel_ridge.py", &["*"], "one class for each machine that scikit-learn has, which names it"),
    ("python/mercer/decomposition.py", &["*"], "one class for each machine that scikit-learn has, which names it"),
    ("python/mercer/model_selection.py", &["scenario"], "an example in the documentation"),
    ("python/mercer/_data.py", &["text"], "an example in the documentation"),
    ("python/mercer/_generated.py", &["precomputed"], "scikit-learn's word for a matrix in the place of data"),
    ("python/mercer/_generated.py", &["noise"], "an argument"),
    ("python/mercer/_certify.py", &["margin"], "an argument"),
    ("python/mercer/_load.py", &["evidence"], "an argument"),
    ("python/mercer/_conformal.py", &["held_out"], "a key of a document"),
    ("python/mercer/_curves.py", &["quantile"], "a parameter"),
    ("python/mercer/plot.py", &["spectrum"], "a figure"),
    ("python/mercer/", &["white"], "a colour"),
    ("python/mercer/_constraints.py", &["*"], "scikit-learn's names of kernels, which its classes take"),
    ("python/mercer/_linear.py", &["*"], "one class for each machine that scikit-learn has, which names it"),
    ("python/mercer/_support.py", &["*"], "scikit-learn's names of kernels, which its classes take"),
    ("core/src/bounds/tests/", &["*"], "tests of single bounds"),
    ("cli/src/select.rs", &["held_out"], "a row of the report"),
];

/// A file below the root of the repository: its path there (`crates/` left out), and its code line by line.
struct File {
    path: String,
    lines: Vec<String>,
}

/// The code that is written by hand. An experiment names the machines, bounds and files that it is about, so that its crate is not read.
fn files() -> Vec<File> {
    fn walk(folder: &Path, all: &mut Vec<PathBuf>) {
        for item in std::fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                walk(&path, all);
            } else if path.extension().is_some_and(|e| e == "rs" || e == "py") && !is_test(&path) {
                all.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    for (folder, shown) in [
        ("crates/core/src", "core/src"),
        ("crates/cli/src", "cli/src"),
        ("crates/terminal/src", "terminal/src"),
        ("crates/python/src", "python/src"),
        ("python/mercer", "python/mercer"),
    ] {
        let mut paths = Vec::new();
        walk(&root.join(folder), &mut paths);
        for path in paths {
            let text = std::fs::read_to_string(&path).unwrap();
            let below = path.strip_prefix(root.join(folder)).unwrap().to_str().unwrap().replace('\\', "/");
            let lines: Vec<String> = if path.extension().is_some_and(|e| e == "rs") {
                code(&text).lines().map(str::to_owned).collect()
            } else if text.lines().take(3).any(|line| line.to_lowercase().contains("generated by")) {
                Vec::new()
            } else {
                text.lines().map(python).collect()
            };
            all.push(File { path: format!("{shown}/{below}"), lines });
        }
    }
    all
}

/// A line of Python without its comment; examples in documentation are left out.
fn python(line: &str) -> String {
    let start = line.trim_start();
    if start.starts_with(">>>") || start.starts_with("...") {
        return String::new();
    }
    line.split(" #").next().unwrap_or("").to_owned()
}

/// The literals of a line that are one word.
fn literals(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, quote) in line.char_indices().filter(|(_, c)| matches!(c, '"' | '\'')) {
        let rest = &line[at + 1..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if end > 0 && rest[end..].starts_with(quote) {
            found.push(&rest[..end]);
        }
    }
    found
}

/// All names and aliases, with what they are of.
fn names() -> BTreeMap<&'static str, &'static str> {
    let mut all = BTreeMap::new();
    all.extend(bounds::all().map(|b| (b.name, "bound")));
    all.extend(read::FORMATS.iter().map(|f| (f.name, "format")));
    all.extend(write::WRITERS.iter().map(|f| (f.name, "format")));
    all.extend(kinds::KINDS.iter().map(|k| (k.name, "kind of data")));
    all.extend(machines::all().flat_map(|m| m.aliases.iter().copied().chain([m.name]).map(|name| (name, "machine"))));
    all.extend(kernels::all().flat_map(|k| k.aliases.iter().copied().chain([k.name]).map(|name| (name, "kernel"))));
    all
}

/// True if a line declares the name or an alias of an entry.
fn declares(line: &str, name: &str) -> bool {
    let (start, word) = (line.trim_start(), format!("\"{name}\""));
    let declared = ["name: ", "aliases: "].iter().any(|field| start.contains(field)) || start.contains("NAME: &str =");
    declared && start.contains(&word)
}

/// The files that declare each name, without their extension.
fn owners<'a>(files: &'a [File], names: &BTreeMap<&'static str, &'static str>) -> BTreeMap<&'static str, Vec<&'a str>> {
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files.iter().filter(|f| f.lines.iter().any(|line| line.contains("Entry"))) {
        for line in &file.lines {
            for literal in literals(line) {
                if let Some((&name, _)) = names.get_key_value(literal)
                    && declares(line, name)
                {
                    all.entry(name).or_default().push(file.path.trim_end_matches(".rs"));
                }
            }
        }
    }
    all
}

#[test]
fn no_code_knows_an_entry_by_its_name() {
    let (files, names) = (files(), names());
    assert!(files.len() > 300 && names.len() > 200, "the source was not found");
    let owners = owners(&files, &names);
    let unowned: Vec<_> = names.keys().filter(|name| !owners.contains_key(*name)).collect();
    assert!(unowned.is_empty(), "{unowned:?} are declared nowhere");
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for file in &files {
        let own = |name: &str| {
            let stem = file.path.trim_end_matches(".rs");
            owners[name].iter().any(|o| stem == *o || stem.strip_prefix(o).is_some_and(|rest| rest.starts_with('/')))
        };
        for (number, line) in file.lines.iter().enumerate() {
            for word in literals(line).into_iter().filter(|word| names.contains_key(word) && !own(word)) {
                let rule = |(at, words, _): &(&str, &[&str], &str)| {
                    file.path.starts_with(at) && (words.contains(&"*") || words.contains(&word))
                };
                let fitting: Vec<usize> = (0..ALLOWED.len()).filter(|&k| rule(&ALLOWED[k])).collect();
                if fitting.is_empty() {
                    wrong.push(format!(
                        "{}, line {}: \"{word}\" is the name of a {}; let its entry declare the fact that is asked for, or, where \
                         the word means something else, add a line with the reason to ALLOWED in tests/by_name.rs",
                        file.path,
                        number + 1,
                        names[word]
                    ));
                }
                used.extend(fitting.into_iter().map(|k| (k, if ALLOWED[k].1.contains(&"*") { "*" } else { word })));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let all =
        ALLOWED.iter().enumerate().flat_map(|(k, (place, words, _))| words.iter().map(move |word| (k, *place, *word)));
    let unneeded: Vec<_> =
        all.filter(|(k, _, word)| !used.contains(&(*k, word))).map(|(_, place, word)| (place, word)).collect();
    assert!(
        unneeded.is_empty(),
        "words that are not there any more; take them out of ALLOWED in tests/by_name.rs: {unneeded:?}"
    );
}

#[test]
fn literals_and_declarations_are_recognised() {
    assert_eq!(literals(r#"x == "svc" || 'rbf' or "two words" + "a-b" + "c"#), ["svc", "rbf"]);
    assert!(declares(r#"    aliases: &["a", "b"],"#, "b") && declares(r#"const NAME: &str = "x";"#, "x"));
    assert!(!declares(r#"if name == "x" {"#, "x"));
    assert_eq!(python("    >>> SVC(kernel=\"rbf\")"), "");
}

/// Numbers of a solver's report that others rely on are asked for by their fact (`report.fact(Fact::Rho)`), never by the text of a note,
/// which is for readers.
#[test]
fn no_code_looks_a_note_up_by_its_text() {
    // the look-up itself; and the sums of a quotient over the problems of one fit, which are no report yet
    let allowed = ["core/src/machines/facts.rs", "core/src/machines/classify/kfd.rs"];
    let mut needed = BTreeSet::new();
    for file in files() {
        let whole: String = file.lines.concat().split_whitespace().collect();
        for way in [
            "iter().find(",
            "iter().any(",
            "iter().position(",
            "iter().filter(",
            "iter().find_map(",
            "get(",
            "first()",
            "last()",
        ] {
            for reader in [format!(".notes.{way}"), format!("(notes.{way}"), format!("\"notes\"].{way}")] {
                if whole.contains(&reader) {
                    assert!(
                        allowed.contains(&file.path.as_str()),
                        "{} reads a note of a report ({reader}); give it a fact in machines/facts.rs and ask report.fact(…)",
                        file.path
                    );
                    needed.insert(file.path.clone());
                }
            }
        }
        for reader in ["report.notes[", "\"notes\"]["] {
            assert!(
                !whole.contains(reader),
                "{} reads a note of a report by its place or text; ask report.fact(…)",
                file.path
            );
        }
    }
    assert_eq!(needed.len(), allowed.len(), "a file no longer reads notes: {needed:?} still do");
}
