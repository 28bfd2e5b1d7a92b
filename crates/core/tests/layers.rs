//! The folders are layers: each names what it may see, and nothing else is imported. Also what every file has to keep to.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The layers that each layer may see, and why. A name of one item (`data::Scalar`) opens that item only. Not listed because everyone
/// may see them: [`EVERYONE`]. What stands on top of all (lib, the errors' roof) is in [`TOP`]. `plot` is a crate of its own,
/// so that figures are drawn from numbers; only those who draw may see it.
const LAYERS: &[(&str, &[&str], &str)] = &[
    ("params", &[], "declared parameters know no one"),
    ("seed", &[], "random numbers know no one"),
    ("sources", &[], "titles of works know no one"),
    ("watch", &[], "what is told about long work knows no one"),
    ("order", &[], "sorted places know no one"),
    ("parallel", &[], "a loop over all threads knows nobody's work"),
    ("memory", &[], "what may be allocated knows no one"),
    ("write", &[], "writing a file whole knows no one"),
    ("data", &[], "what is learned from knows no method"),
    ("datasets", &["data"], "built-in data sets are data"),
    (
        "linalg",
        &["data::Scalar"],
        "dense arithmetic on numbers; its breakdowns are those that all work on matrices can have",
    ),
    (
        "gram",
        &["data::Scalar", "data::Rows", "data::Vectors", "linalg"],
        "a matrix may hold numbers and rows of features, never data sets; a similarity has explicit features",
    ),
    ("kernels", &["data", "gram", "linalg"], "kernels turn examples into matrices, and never see who solves"),
    ("solvers", &["gram", "linalg"], "solvers see matrices, never examples or kernels"),
    ("geometry", &["gram", "linalg"], "lengths, angles and spectra come from matrices alone"),
    ("hypothesis_tests", &["geometry", "gram", "linalg"], "evidence comes from matrices alone"),
    ("calibrate", &[], "scores become probabilities by numbers alone"),
    (
        "machines",
        &[
            "calibrate::Calibration",
            "calibrate::Form",
            "calibrate::Layout",
            "data::Rows",
            "data::SparseRows",
            "data::Coordinate",
            "data::Vectors",
            "data::Target",
            "data::Classes",
            "data::places_of_labels",
            "data::Numbers",
            "data::DataError",
            "data::places_of_labels",
            "geometry",
            "gram",
            "linalg",
            "solvers",
        ],
        "machines see a matrix and a target, never a kernel or a formula",
    ),
    (
        "conformal",
        &[
            "calibrate::Form",
            "data::DataError",
            "data::Dataset",
            "data::RepeatsBeside",
            "data::Target",
            "data::places_of_labels",
            "linalg::dot",
            "machines::Coefficients",
            "machines::Expansion",
            "machines::Smoother",
        ],
        "nonconformities become regions by numbers alone; the models without a fold are expansions, and one example more is a matter of a smoother",
    ),
    ("metrics", &["data", "machines"], "predictions against targets"),
    (
        "formula",
        &["data", "geometry::GramSchmidt", "geometry::k_means", "gram", "kernels", "linalg::inverse_lower"],
        "formulas put kernels together; no machine is needed for that; landmarks are chosen by the geometry of their span",
    ),
    ("distributions", &[], "tails of distributions know no one"),
    (
        "bounds",
        &["data::Repeats", "data::RepeatsBeside"],
        "theorems are about numbers, never about data, kernels or machines; how many examples are equal is a number",
    ),
    ("vectorise", &[], "loops over numbers, compiled for each instruction set"),
    (
        "model",
        &[
            "calibrate",
            "conformal",
            "data",
            "formula",
            "gram",
            "job::Job",
            "kernels",
            "linalg::top_eigen",
            "linalg::KrylovOptions",
            "linalg::Triangle",
            "machines",
            "metrics",
            "plot",
            "linalg::SolveError",
        ],
        "what was learned, with all it needs to predict and to be drawn; two axes of a matrix are its leading eigenvectors; another program's file says kernels in elementary operations; a score that is not finite is a breakdown; another program's file names its curves of probabilities; a model keeps the job that made it",
    ),
    (
        "resample",
        &["data", "formula::Formula", "gram", "kernels::Definite", "linalg::SolveError", "machines"],
        "fits on parts of the examples: a machine, a kernel that has met the data and may not suit it, and no models",
    ),
    (
        "job",
        &["calibrate", "conformal", "data", "formula", "gram", "linalg::SolveError", "machines", "model", "resample"],
        "a formula, a machine and data become a model",
    ),
    (
        "select",
        &[
            "calibrate",
            "data",
            "formula",
            "gram",
            "job",
            "linalg::SolveError",
            "machines",
            "metrics",
            "model",
            "plot",
            "resample",
        ],
        "many jobs, the best of them by labels, numbers or probabilities, and a picture of how they did",
    ),
    (
        "certify",
        &[
            "bounds",
            "data",
            "formula",
            "geometry",
            "gram",
            "job",
            "kernels::Definite",
            "linalg::Cholesky",
            "linalg::SolveError",
            "machines",
            "model",
            "plot",
            "resample",
            "select",
        ],
        "numbers are read off a model and its examples, the rank of their matrix among them, and theorems make certificates of them",
    ),
];

/// The layers that everyone may see: declarations without method.
const EVERYONE: &[&str] = &[
    "params",
    "seed",
    "sources",
    "error",
    "memory",
    "write",
    "vectorise",
    "distributions",
    "watch",
    "order",
    "parallel",
];

/// The files that see everything: the roof over all errors, and the prelude.
const TOP: &[&str] = &["lib", "error"];

struct File {
    path: PathBuf,
    /// The folder or file below `src` that it belongs to.
    layer: String,
    text: String,
}

/// The source of this crate.
fn files() -> Vec<File> {
    let all = files_of("core");
    assert!(all.len() > 100, "the source was not found");
    all
}

/// The source of this crate and of those that are libraries too.
fn files_of_libraries() -> Vec<File> {
    ["core", "plot", "raster"].into_iter().flat_map(files_of).collect()
}

fn files_of(name: &str) -> Vec<File> {
    fn walk(folder: &Path, root: &Path, all: &mut Vec<File>) {
        for item in std::fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                walk(&path, root, all);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let below = path.strip_prefix(root).unwrap().to_path_buf();
                let first = below.components().next().unwrap().as_os_str().to_str().unwrap();
                let layer = first.trim_end_matches(".rs").to_owned();
                all.push(File { text: std::fs::read_to_string(&path).unwrap(), path: below, layer });
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
    let mut all = Vec::new();
    walk(&root, &root, &mut all);
    all
}

/// The code of a file, line by line: no comments, and nothing where an item stands that only tests compile, for tests may see
/// anything.
///
/// The source is formatted, so an item ends with the first line as far left as its attribute that ends with a semicolon, a
/// comma or a closing brace. An item that was read too short is still seen, and would be found wrong rather than missed.
pub(crate) fn code(text: &str) -> String {
    let mut kept = Vec::new();
    // how far left the attribute of the item stands that is passed over
    let mut item: Option<usize> = None;
    for line in text.lines().map(|line| line.split("//").next().unwrap_or("").trim_end()) {
        let start = line.trim_start();
        let left = line.len() - start.len();
        let attribute = ["#[cfg(test)]", "#[cfg(all(test,"].iter().find_map(|a| start.strip_prefix(a));
        match (item, attribute) {
            (None, None) => {
                kept.push(line);
                continue;
            }
            (None, Some(rest)) => {
                assert!(
                    rest.is_empty() || rest.ends_with(")]"),
                    "the item stands on the line of its attribute: {line}"
                );
                item = Some(left);
            }
            (Some(at), _) if left == at && !start.starts_with('#') && start.ends_with([';', ',', '}']) => item = None,
            (Some(_), _) => {}
        }
        kept.push("");
    }
    kept.join("\n")
}

/// True if a file is compiled for tests only; the dummies are one entry of each list that tests add.
pub(crate) fn is_test(path: &Path) -> bool {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    ["tests", "testing", "dummies"].contains(&stem) || stem.ends_with("_tests")
}

/// The items named after every `crate::`, two steps deep: `data::Scalar`, `gram::views`.
fn imports(code: &str) -> Vec<String> {
    let ends = |c: char| !(c.is_alphanumeric() || c == '_');
    let word = |text: &str| text[..text.find(ends).unwrap_or(text.len())].to_owned();
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + 7..];
        if let Some(group) = rest.strip_prefix('{') {
            found.extend(split_group(group));
            continue;
        }
        let layer = word(rest);
        match rest[layer.len()..].strip_prefix("::") {
            Some(group) if group.starts_with('{') => {
                found.extend(split_group(&group[1..]).into_iter().map(|item| format!("{layer}::{item}")));
            }
            Some(item) => found.push(format!("{layer}::{}", word(item))),
            None => found.push(layer),
        }
    }
    found
}

/// The parts of `a, b::{c, d}, e as f}` at the top level, without what follows their first two steps.
fn split_group(text: &str) -> Vec<String> {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => parts.push(String::new()),
            c if depth == 0 => parts.last_mut().unwrap().push(c),
            _ => {}
        }
    }
    let first = |part: &str| part.split_whitespace().next().unwrap_or("").trim_end_matches("::").to_owned();
    parts.iter().map(|part| first(part)).filter(|part| !part.is_empty()).collect()
}

#[test]
fn imports_are_read_from_every_form() {
    let text = "use crate::data::Scalar;\nuse crate::gram::{Gram, views::{A, B}, fill as f};\nfn f() { crate::linalg::x() }\nuse crate::kernels;";
    let wanted = ["data::Scalar", "gram::Gram", "gram::views", "gram::fill", "linalg::x", "kernels"];
    assert_eq!(imports(&code(text)), wanted);
    assert_eq!(imports("use crate::{data, gram::Gram};"), ["data", "gram::Gram"]);
}

#[test]
fn what_only_tests_compile_is_passed_over_and_what_follows_it_is_seen() {
    let seen = |item: &str, after: &str| imports(&code(&format!("// crate::gram\n{item}\n{after}")));
    for item in [
        "#[cfg(test)]\nmod tests {\n    use crate::data;\n    fn f() {\n    }\n}",
        "#[cfg(test)]\n#[path = \"crate::data\"]\nmod tests;",
        "#[cfg(all(test, unix))]\nmod tests {\n    use crate::data;\n}",
        "#[cfg(test)]\nuse crate::data::{\n    A,\n    B,\n};",
        "impl A {\n    #[cfg(test)]\n    fn b() -> crate::data::C {\n        crate::data::d();\n    }\n}",
        "struct A {\n    #[cfg(test)]\n    b: crate::data::C,\n}",
    ] {
        assert!(seen(item, "").is_empty(), "{item}");
        assert_eq!(seen(item, "use crate::linalg;"), ["linalg"], "{item}");
    }
}

#[test]
fn no_layer_sees_more_than_it_may() {
    let mut wrong = Vec::new();
    for file in files().iter().filter(|f| !is_test(&f.path) && !TOP.contains(&f.layer.as_str())) {
        let Some((_, may, why)) = LAYERS.iter().find(|(layer, ..)| *layer == file.layer) else {
            panic!("{}: the layer {} has no rule yet; add one, with its reason", file.path.display(), file.layer);
        };
        for item in imports(&code(&file.text)) {
            let layer = item.split("::").next().unwrap();
            let allowed =
                layer == file.layer || EVERYONE.contains(&layer) || may.iter().any(|m| *m == layer || *m == item);
            if !allowed {
                wrong.push(format!("{} sees {item}, but: {why}", file.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn kernels_and_solvers_never_see_each_other() {
    let sees = |layer: &str| LAYERS.iter().find(|(name, ..)| *name == layer).unwrap().1;
    let open = |layer: &str, other: &str| sees(layer).iter().any(|m| m.split("::").next() == Some(other));
    assert!(!open("kernels", "solvers") && !open("solvers", "kernels"));
    for above in ["formula", "model", "job", "select"] {
        for below in ["data", "gram", "linalg", "kernels", "solvers", "machines"] {
            assert!(!open(below, above), "{below} sees {above}");
        }
    }
    assert!(!open("machines", "kernels") && !open("solvers", "data"));
}

/// Reductions to problems of two sides are below all machines that use them, and alone choose how such scores are read.
#[test]
fn reductions_know_no_machine_and_alone_choose_their_readout() {
    let folder = |file: &File| file.path.components().nth(1).map(|c| c.as_os_str().to_str().unwrap().to_owned());
    let machines: Vec<File> = files().into_iter().filter(|f| f.layer == "machines" && !is_test(&f.path)).collect();
    let inside = |f: &&File| folder(f).as_deref() == Some("multiclass");
    assert!(machines.iter().filter(inside).count() >= 3, "the reductions were not found");
    for file in machines.iter().filter(inside) {
        let code = code(&file.text);
        for family in ["classify", "regress", "baseline", "programme", "support", "linear"] {
            let seen =
                [format!("machines::{family}"), format!("super::{family}")].iter().any(|path| code.contains(path));
            assert!(!seen, "{} sees {family}, which is above it", file.path.display());
        }
    }
    for file in machines.iter().filter(|f| !inside(f)) {
        let chosen =
            code(&file.text).lines().any(|l| l.contains("Readout::Vote") && l.contains("else") && l.contains("ArgMax"));
        assert!(
            !chosen,
            "{} chooses between a vote and the largest score; ask a reduction for its readout",
            file.path.display()
        );
    }
}

#[test]
fn every_rule_is_of_a_layer_that_exists_and_is_needed() {
    let files = files();
    let layers: BTreeSet<&str> = files.iter().map(|f| f.layer.as_str()).collect();
    for (layer, may, _) in LAYERS {
        assert!(layers.contains(layer), "{layer} is gone");
        let seen: BTreeSet<String> = files
            .iter()
            .filter(|f| f.layer == *layer && !is_test(&f.path))
            .flat_map(|f| imports(&code(&f.text)))
            .flat_map(|item| [item.split("::").next().unwrap().to_owned(), item])
            .collect();
        for item in *may {
            assert!(seen.contains(*item), "{layer} no longer needs {item}: close it");
        }
    }
}

/// Answers that are wanted beside a fit are asked for by the task and given by the fit, so that no machine grows methods of its own.
#[test]
fn a_machine_has_three_methods() {
    let files = files();
    let of_machines = files.iter().find(|f| f.path == Path::new("machines/mod.rs")).unwrap();
    let code = code(&of_machines.text);
    let start = code.find("pub trait Machine:").unwrap();
    let block = &code[start..start + code[start..].find("\n}").unwrap()];
    let methods: Vec<&str> =
        block.lines().filter_map(|line| line.trim_start().strip_prefix("fn ")?.split('(').next()).collect();
    assert_eq!(methods, ["entry", "traits", "run"]);
}

/// The modules that users are promised: from data to a model, and the words of their signatures.
const PROMISED: [&str; 16] = [
    "certify",
    "conformal",
    "data",
    "datasets",
    "formula",
    "geometry",
    "gram",
    "hypothesis_tests",
    "job",
    "kernels",
    "machines",
    "metrics",
    "model",
    "params",
    "select",
    "watch",
];

#[test]
fn internals_are_open_to_our_own_crates_and_promised_to_nobody() {
    let lib = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let mut promised = Vec::new();
    let mut above = "";
    for line in lib.lines() {
        let name = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(';'));
        promised.extend(name.filter(|_| above != "#[doc(hidden)]"));
        above = line;
    }
    assert_eq!(promised, PROMISED, "a module of the root is #[doc(hidden)], or users can rely on it");
}

#[test]
fn no_file_is_longer_than_five_hundred_lines() {
    for file in files_of_libraries().iter().filter(|f| !is_test(&f.path)) {
        let lines = file.text.lines().count();
        assert!(lines <= 500, "{} has {lines} lines", file.path.display());
    }
}

/// Numbers of somebody's list of what was to be built tell a reader nothing.
#[test]
fn sources_are_works_and_no_numbers_of_a_list() {
    for file in files_of_libraries() {
        for (at, line) in file.text.lines().enumerate().filter(|(_, line)| line.contains("//")) {
            let numbered = |mark: &str| {
                let rests = line.match_indices(mark).map(|(i, _)| &line[i + mark.len()..]);
                let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).count();
                rests.into_iter().any(|rest| digits(rest) > 0 && rest[digits(rest)..].starts_with(')'))
            };
            let found = ["(K", "(L", "(F", "toolbox L"].iter().any(|mark| numbered(mark));
            assert!(!found, "{} line {}: {line}", file.path.display(), at + 1);
        }
    }
}

#[test]
fn the_libraries_print_nothing() {
    for file in files_of_libraries() {
        let code = code(&file.text);
        for word in ["println!", "print!(", "dbg!(", "todo!(", "unimplemented!("] {
            assert!(!code.contains(word), "{} has {word}", file.path.display());
        }
    }
}

#[test]
fn every_file_says_what_it_is() {
    for file in files_of_libraries() {
        let first = file.text.lines().next().unwrap_or("");
        assert!(
            first.strip_prefix("//! ").is_some_and(|t| t.len() > 10),
            "{} starts with {first:?}",
            file.path.display()
        );
    }
}
