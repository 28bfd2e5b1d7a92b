//! The catalogue as the command line shows it: every kernel, function, machine, bound, theorem, format and data set as one item, made
//! from its entry. `mercer list` prints items in groups, `mercer help NAME` one of them.

use mercer::bounds::{self, BoundEntry, Example, Theorem};
use mercer::data::kinds::KINDS;
use mercer::data::read::{FORMATS, FormatEntry};
use mercer::data::write::WRITERS;
use mercer::data::{Kind, KindEntry};
use mercer::datasets::{SETS, SetEntry};
use mercer::formula::{FUNCTIONS, FunctionEntry};
use mercer::kernels::{self, Definite, Domain, KernelEntry};
use mercer::machines::{self, Learns, MachineEntry, MachineExpression};
use mercer::metrics::{SCORES, ScoreEntry};
use mercer::params::{Described, describe};
use serde_json::{Value, json};

/// A part of the catalogue: its name as `mercer list` takes it, the word for one item of it, and the columns of its table.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) one: &'static str,
    pub(crate) header: &'static [&'static str],
    pub(crate) items: fn() -> Vec<Item>,
}

/// All parts, in the order in which they are listed.
pub(crate) static PARTS: [Part; 9] = [
    Part {
        name: "kernels",
        one: "kernel",
        header: &["kernel", "formula", "parameters", "definite"],
        items: || kernels::all().map(kernel).collect(),
    },
    Part {
        name: "functions",
        one: "function of kernels",
        header: &["function", "written", "kernel that it makes"],
        items: || FUNCTIONS.iter().map(function).collect(),
    },
    Part {
        name: "machines",
        one: "machine",
        header: &["machine", "what it does", "parameters"],
        items: || machines::all().map(machine).collect(),
    },
    Part {
        name: "bounds",
        one: "bound",
        header: &["bound", "what it says", "guarantee"],
        items: || bounds::all().map(bound).collect(),
    },
    Part {
        name: "theorems",
        one: "theorem",
        header: &["theorem", "what it says", "inputs"],
        items: || bounds::theorems().map(theorem).collect(),
    },
    Part {
        name: "scores",
        one: "score",
        header: &["score", "what it is", "better"],
        items: || SCORES.iter().map(score).collect(),
    },
    Part {
        name: "kinds",
        one: "kind of data",
        header: &["kind", "what it is", "a cell"],
        items: || KINDS.iter().map(|k| kind(k)).collect(),
    },
    Part {
        name: "formats",
        one: "format",
        header: &["format", "what it is", "extensions", "written"],
        items: || FORMATS.iter().map(|f| format(f)).collect(),
    },
    Part {
        name: "datasets",
        one: "data set",
        header: &["data set", "what it is", "examples"],
        items: || SETS.iter().map(|s| data_set(s)).collect(),
    },
];

/// One entry of the catalogue, ready to be shown.
pub(crate) struct Item {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    /// The task, the kind of data or the quantity that it stands under; empty where a part has no groups.
    pub(crate) group: &'static str,
    /// The tasks or kinds by which it is found: the group, and what else it is for.
    pub(crate) found_by: Vec<&'static str>,
    /// One line on what it is; empty where the formula says so.
    pub(crate) summary: String,
    /// The formula; empty for formats and data sets.
    pub(crate) formula: &'static str,
    /// Its line in the table of its part.
    pub(crate) cells: Vec<String>,
    pub(crate) parameters: Vec<Described>,
    /// Facts with their names, in the order in which they are told.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// Command lines that work one after the other in an empty folder.
    pub(crate) examples: Vec<String>,
    pub(crate) document: Value,
}

impl Item {
    /// True if that is its name or another name of it.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// True if a word occurs in anything that is told of it.
    pub(crate) fn mentions(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let told = self.facts.iter().map(|(_, fact)| fact.as_str());
        let parameters = self.parameters.iter().flat_map(|p| [p.name, p.help]);
        let mut all = [self.name, self.formula, self.group, self.summary.as_str()]
            .into_iter()
            .chain(self.aliases.iter().copied())
            .chain(told)
            .chain(parameters);
        all.any(|text| text.to_lowercase().contains(&word))
    }
}

/// The names of parameters with their defaults; other spellings are left out.
fn listed(described: &[Described]) -> String {
    let own = described.iter().filter(|d| d.spelling_of.is_none());
    own.map(|d| format!("{}={}", d.name, d.default)).collect::<Vec<_>>().join(", ")
}

fn parameter_documents(described: &[Described]) -> Vec<Value> {
    described
        .iter()
        .map(|d| {
            json!({"name": d.name, "kind": d.kind, "default": d.default, "words": d.words, "rule": d.rule, "help": d.help,
                   "spelling_of": d.spelling_of})
        })
        .collect()
}

fn kernel(e: &'static KernelEntry) -> Item {
    let kernel = (e.make)();
    let parameters = describe((e.make)().as_mut());
    let (definite, told) = match e.definite {
        Definite::Positive => ("positive", "positive: matrices have no negative eigenvalue"),
        Definite::Conditionally => ("conditionally", "conditionally: for machines with a bias, or under centre(…)"),
        Definite::Indefinite => ("indefinite", "indefinite: machines may find no true optimum"),
    };
    let domain = match e.domain {
        Domain::Any => "",
        Domain::NonNegative => " without negative coordinates",
        Domain::Incomplete => ", also with missing entries (--missing keep)",
    };
    let settings: Vec<String> = kernel.settings().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let written = if settings.is_empty() { e.name.to_owned() } else { format!("{}({})", e.name, settings.join(", ")) };
    // an indefinite matrix can be looked at, but is nothing to learn from
    let used = |data: &str| match e.definite {
        Definite::Indefinite => format!("mercer gram {data} --kernel '{written}' -o K.npy"),
        _ => format!("mercer fit {data} --machine svc --kernel '{written}' -o model.mercer"),
    };
    let banana = "mercer data banana --n 100 -o banana.csv".to_owned();
    let (group, examples) = match e.kind {
        Kind::Vectors if e.domain == Domain::NonNegative => {
            ("vectors", vec![banana, used("banana.csv --scale minmax")])
        }
        Kind::Vectors => ("vectors", vec![banana, used("banana.csv")]),
        // no built-in set has examples of such a kind yet
        Kind::Other(kind) => (kind.plural, Vec::new()),
        Kind::Text => ("text", vec!["mercer data dna_motifs --n 40 -o dna.csv".to_owned(), used("dna.csv")]),
        Kind::Precomputed => (
            "matrices",
            vec![
                banana,
                "mercer gram banana.csv --kernel 'rbf(gamma=1)' -o K.npy".to_owned(),
                format!("mercer fit K.npy --machine kernel_pca --kernel '{written}' --target none -o map.mercer"),
            ],
        ),
    };
    let searched = kernel.facts().searched;
    let mut facts = vec![
        ("use when", e.use_when.to_owned()),
        ("compares", format!("{}{domain}", e.kind)),
        ("definite", told.to_owned()),
    ];
    if !searched.is_empty() {
        facts.push(("select tries", searched.to_owned()));
    }
    facts.extend([("cost", e.cost.to_owned()), ("source", e.source.to_string())]);
    Item {
        name: e.name,
        aliases: e.aliases,
        group,
        found_by: vec![group],
        summary: String::new(),
        formula: e.formula,
        cells: [e.name, e.formula, &listed(&parameters), definite].map(str::to_owned).to_vec(),
        facts,
        examples,
        document: json!({"name": e.name, "aliases": e.aliases, "formula": e.formula, "definite": definite,
               "works_on": e.kind.to_string(), "source": e.source.to_string(), "use_when": e.use_when, "cost": e.cost, "select_tries": searched,
               "parameters": parameter_documents(&parameters)}),
        parameters,
    }
}

fn function(e: &'static FunctionEntry) -> Item {
    Item {
        name: e.name,
        aliases: e.aliases,
        group: "",
        found_by: Vec::new(),
        summary: String::new(),
        formula: e.formula,
        cells: [e.name, e.written, e.formula].map(str::to_owned).to_vec(),
        parameters: Vec::new(),
        facts: vec![
            ("written", e.written.to_owned()),
            ("use when", e.use_when.to_owned()),
            ("source", e.source.to_string()),
        ],
        examples: vec![
            "mercer data banana --n 100 -o banana.csv".to_owned(),
            format!("mercer fit banana.csv --machine svc --kernel {} -o model.mercer", e.example),
        ],
        document: json!({"name": e.name, "aliases": e.aliases, "written": e.written, "formula": e.formula,
               "source": e.source.to_string(), "use_when": e.use_when}),
    }
}

fn machine(e: &'static MachineEntry) -> Item {
    let machine = (e.make)();
    let parameters = describe((e.make)().as_mut());
    let (learns, target, set) = match e.learns {
        Learns::Classes => ("classes", "classes: the target is a label", "banana"),
        Learns::Numbers => ("numbers", "numbers: the target is one or several of them", "noisy_sinc"),
        Learns::Unsupervised => ("nothing", "nothing: a target, if there is one, is left aside", "banana"),
    };
    let family = machines::family(e);
    let mut found_by = vec![family];
    // methods for comparison are for a task, too
    match e.learns {
        Learns::Classes if family == "baseline" => found_by.push("classify"),
        Learns::Numbers if family == "baseline" => found_by.push("regress"),
        _ => {}
    }
    let mut facts = vec![
        ("use when", e.use_when.to_owned()),
        ("learns", target.to_owned()),
        (
            "weights",
            if machine.traits().weights { "of examples are taken (--weights)" } else { "of examples are not taken" }
                .to_owned(),
        ),
    ];
    let classifies = e.learns == Learns::Classes && machines::predicts_target(e);
    let probabilities = if classifies { "of classes are learned beside it (--probabilities)" } else { "are not given" };
    facts.push(("probabilities", probabilities.to_owned()));
    if !machine.traits().wants_matrix() {
        facts.push(("kernel", "one with explicit features, such as linear; no matrix is made".to_owned()));
    }
    if machine.traits().auxiliary {
        facts.push(("also takes", "noise, changed copies and points: --noise, --copies, --transform, …".to_owned()));
    }
    let traits = machine.traits();
    if !traits.searched.is_empty() {
        facts.push(("select tries", traits.searched.to_owned()));
    }
    facts.extend([("cost", e.cost.to_owned()), ("source", e.source.to_string())]);
    let first = machine.settings().into_iter().take(1).map(|(name, value)| (name.to_owned(), value)).collect();
    let written = MachineExpression { entry: e, settings: first };
    Item {
        name: e.name,
        aliases: e.aliases,
        group: family,
        found_by,
        summary: e.summary.to_owned(),
        formula: e.formula,
        cells: [e.name, e.summary, &listed(&parameters)].map(str::to_owned).to_vec(),
        facts,
        examples: vec![
            format!("mercer data {set} --n 100 -o {set}.csv"),
            format!("mercer fit {set}.csv --machine '{written}' -o {}.mercer", e.name),
        ],
        document: json!({"name": e.name, "aliases": e.aliases, "summary": e.summary, "formula": e.formula, "learns": learns,
               "family": family, "weights": machine.traits().weights, "probabilities": classifies,
               "source": e.source.to_string(), "use_when": e.use_when, "cost": e.cost, "select_tries": traits.searched,
               "parameters": parameter_documents(&parameters)}),
        parameters,
    }
}

fn bound(e: &'static BoundEntry) -> Item {
    Item {
        name: e.name,
        aliases: &[],
        group: e.quantity.word(),
        found_by: vec![e.quantity.word()],
        summary: e.summary.to_owned(),
        formula: e.formula,
        cells: [e.name, e.summary, e.guarantee.word()].map(str::to_owned).to_vec(),
        parameters: Vec::new(),
        facts: vec![
            ("use when", e.use_when.to_owned()),
            ("bounds", e.quantity.word().to_owned()),
            ("guarantee", e.guarantee.word().to_owned()),
            ("source", e.source.to_string()),
        ],
        examples: of_bound(e.example),
        document: json!({"name": e.name, "summary": e.summary, "formula": e.formula, "quantity": e.quantity,
               "guarantee": e.guarantee, "source": e.source.to_string(), "use_when": e.use_when}),
    }
}

/// The example of a bound: its data, its fit and its certification.
fn of_bound(example: &Example) -> Vec<String> {
    let ((set, n), Example { fit, certify, .. }) = (example.data, example);
    let more = example.needs_more().then(|| format!("mercer data {set} --n {n} --seed 1 -o test.csv"));
    let asked = if certify.is_empty() { String::new() } else { format!(" {certify}") };
    let data = format!("mercer data {set} --n {n} -o {set}.csv");
    let rest = [
        format!("mercer fit {set}.csv {fit} --scale none -o model.mercer"),
        format!("mercer certify model.mercer {set}.csv{asked} --all"),
    ];
    [data].into_iter().chain(more).chain(rest).collect()
}

fn score(e: &'static ScoreEntry) -> Item {
    let better = if e.larger_is_better { "larger" } else { "smaller" };
    let (group, set, machine) = match e.learns {
        Learns::Classes => ("classes", "banana", "--machine svc --grid 'c=1|10'"),
        _ => ("numbers", "noisy_sinc", "--machine ridge --grid 'lambda=0.1|1'"),
    };
    let of_a_class = if e.of_a_class { "--positive names one" } else { "all alike" };
    Item {
        name: e.name,
        aliases: &[],
        group,
        found_by: vec![group],
        summary: e.summary.to_owned(),
        formula: "",
        cells: [e.name, e.summary, better].map(str::to_owned).to_vec(),
        parameters: Vec::new(),
        facts: vec![
            ("in tables", e.label.to_owned()),
            ("better", format!("{better} values")),
            (
                "classes",
                if group == "classes" { of_a_class.to_owned() } else { "none: numbers are predicted".to_owned() },
            ),
            ("used", "by --score of mercer select, learning-curve and explain".to_owned()),
        ],
        examples: vec![
            format!("mercer data {set} --n 100 -o {set}.csv"),
            format!("mercer select {set}.csv {machine} --score {} -o best.mercer", e.name),
        ],
        document: json!({"name": e.name, "label": e.label, "summary": e.summary, "learns": group,
               "larger_is_better": e.larger_is_better, "of_a_class": e.of_a_class}),
    }
}

fn kind(e: &'static KindEntry) -> Item {
    let cell = if e.cell.is_empty() { "more than one cell" } else { e.cell };
    let kernels: Vec<&str> = kernels::all().filter(|k| k.kind.entry() == e).map(|k| k.name).collect();
    Item {
        name: e.name,
        aliases: &[],
        group: "",
        found_by: Vec::new(),
        summary: e.summary.to_owned(),
        formula: "",
        cells: [e.name, e.summary, cell].map(str::to_owned).to_vec(),
        parameters: Vec::new(),
        facts: vec![("a cell", cell.to_owned()), ("kernels", kernels.join(", "))],
        examples: kernels::all().find(|k| k.kind.entry() == e).map(|k| kernel(k).examples).unwrap_or_default(),
        document: json!({"name": e.name, "plural": e.plural, "summary": e.summary, "cell": e.cell, "kernels": kernels}),
    }
}

fn theorem(t: &'static Theorem) -> Item {
    let mut facts = vec![("use when", t.use_when.to_owned()), ("source", t.source.to_string())];
    let inputs: Vec<Value> = t
        .inputs
        .iter()
        .map(|i| {
            let list = if i.list { ", a list" } else { "" };
            let default = i.default.map_or(String::new(), |d| format!(", {d} if not given"));
            facts.push((i.name, format!("{} ({}{list}{default})", i.help, i.allowed())));
            json!({"name": i.name, "help": i.help, "rule": i.allowed(), "default": i.default, "list": i.list})
        })
        .collect();
    let given: Vec<String> = t.example.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let names: Vec<&str> = t.inputs.iter().map(|i| i.name).collect();
    Item {
        name: t.name,
        aliases: &[],
        group: "",
        found_by: Vec::new(),
        summary: t.summary.to_owned(),
        formula: t.formula,
        cells: [t.name, t.summary, &names.join(", ")].map(str::to_owned).to_vec(),
        parameters: Vec::new(),
        facts,
        examples: vec![format!("mercer bound {} {}", t.name, given.join(" "))],
        document: json!({"name": t.name, "summary": t.summary, "formula": t.formula, "inputs": inputs,
               "source": t.source.to_string(), "use_when": t.use_when, "example": t.example.0, "value": t.example.1}),
    }
}

fn format(e: &'static FormatEntry) -> Item {
    let writer = WRITERS.iter().find(|w| w.name == e.name);
    let extensions = e.extensions.join(", ");
    let mut examples = Vec::new();
    if let Some(extension) = writer.and_then(|w| w.extensions.first()) {
        examples.push("mercer data iris -o iris.csv".to_owned());
        examples.push(format!("mercer convert iris.csv copy.{extension}"));
    }
    Item {
        name: e.name,
        aliases: &[],
        group: "",
        found_by: Vec::new(),
        summary: e.summary.to_owned(),
        formula: "",
        cells: [e.name, e.summary, &extensions, if writer.is_some() { "yes" } else { "no" }]
            .map(str::to_owned)
            .to_vec(),
        parameters: Vec::new(),
        facts: vec![
            ("extensions", extensions),
            ("read", "by all verbs that take data, also from gzip and Zstandard; --format names it".to_owned()),
            ("written", if writer.is_some() { "by mercer convert" } else { "no" }.to_owned()),
        ],
        examples,
        document: json!({"name": e.name, "summary": e.summary, "extensions": e.extensions, "written": writer.is_some()}),
    }
}

fn data_set(e: &'static SetEntry) -> Item {
    let size = if e.generated {
        format!("{} unless --n says otherwise; drawn at random", e.examples)
    } else {
        format!("{}, or so many of them as --n says", e.examples)
    };
    Item {
        name: e.name,
        aliases: &[],
        group: e.task,
        found_by: vec![e.task],
        summary: e.summary.to_owned(),
        formula: "",
        cells: vec![e.name.to_owned(), e.summary.to_owned(), e.examples.to_string()],
        parameters: Vec::new(),
        facts: vec![("task", e.task.to_owned()), ("examples", size), ("source", e.source.to_owned())],
        examples: vec![format!("mercer data {0} -o {0}.csv", e.name), format!("mercer show {}.csv", e.name)],
        document: json!({"name": e.name, "summary": e.summary, "task": e.task, "examples": e.examples,
               "generated": e.generated, "source": e.source}),
    }
}
