//! `mercer reproduce mika-tables`: support vector machines, kernel Fisher discriminants and methods of comparison on the
//! ten benchmark sets, beside tables 5.2 to 5.5 of S. Mika, Kernel Fisher Discriminants (2002).

mod cell;
mod pages;
mod printed;

use super::benchmark::{self, Benchmark, Splits};
use super::contender::{Axis, Contender, Fixed, Unit, WIDTH};
use super::course::Course;
use super::ledger::Ledger;
use super::protocol::{Choice, Protocol, REALISATIONS, Tested};
use cell::Cell;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::watch::Phase;
use mercer_terminal::{Failure, Verb, Watch, arguments, report};
use printed::{COLUMNS, ROWS};
use serde_json::{Value, json};
use std::path::Path;

pub(super) const EXPERIMENT: Verb = Verb { command, run };

/// The width of the kernel: a tenth to ten times the number of coordinates.
pub(super) const KERNEL: Axis =
    Axis { name: WIDTH, unit: Unit::Coordinates, from: -1.0, step: 0.5, count: 5, whole: false };

/// The price of the support vector machine.
pub(super) const PRICE: Axis = Axis { name: "c", unit: Unit::One, from: -1.0, step: 1.0, count: 6, whole: false };

/// The penalty ½λ‖α‖², which stands beside squares of sums over rows of K.
pub(super) const COEFFICIENTS_PENALTY: Axis =
    Axis { name: "lambda", unit: Unit::One, from: -4.0, step: 1.0, count: 7, whole: false };

/// The penalty λ‖α‖₁ of the sparse machines, whose largest useful value, max |K(y − ȳ)|, is some hundreds.
pub(super) const SPARSE_PENALTY: Axis =
    Axis { name: "lambda", unit: Unit::One, from: -1.0, step: 0.5, count: 7, whole: false };

/// Centres and penalty of a network.
const CENTRES: Axis = Axis { name: "centres", unit: Unit::One, from: 0.5, step: 0.375, count: 4, whole: true };
const NET_PENALTY: Axis = Axis { name: "lambda", unit: Unit::One, from: -5.0, step: 1.0, count: 5, whole: false };

/// The threshold of all discriminants: a support vector machine on the line of projections.
const MARGIN: (&str, Fixed) = ("threshold", Fixed::Word("margin"));

/// Who takes part, in the order of the tables.
static CONTENDERS: [Contender; 7] = [
    Contender { name: COLUMNS[0], machine: "rbf_network", fixed: &[], axes: &[CENTRES, NET_PENALTY] },
    Contender {
        name: COLUMNS[1],
        machine: "adaboost",
        fixed: &[
            ("learner", Fixed::Word("rbf_network")),
            ("rounds", Fixed::Number(200.0)),
            ("steps", Fixed::Number(2.0)),
        ],
        axes: &[CENTRES],
    },
    Contender {
        name: COLUMNS[2],
        machine: "adaboost",
        fixed: &[
            ("learner", Fixed::Word("rbf_network")),
            ("rounds", Fixed::Number(200.0)),
            ("steps", Fixed::Number(2.0)),
        ],
        axes: &[
            CENTRES,
            Axis { name: "regularisation", unit: Unit::Examples, from: -2.0, step: 1.0, count: 3, whole: false },
        ],
    },
    Contender { name: COLUMNS[3], machine: "svc", fixed: &[], axes: &[KERNEL, PRICE] },
    Contender {
        name: COLUMNS[4],
        machine: "kfd",
        fixed: &[("penalty", Fixed::Word("coefficients")), MARGIN],
        axes: &[KERNEL, COEFFICIENTS_PENALTY],
    },
    Contender { name: COLUMNS[5], machine: "sparse_kfd", fixed: &[MARGIN], axes: &[KERNEL, SPARSE_PENALTY] },
    Contender { name: COLUMNS[6], machine: "linear_sparse_kfd", fixed: &[MARGIN], axes: &[KERNEL, SPARSE_PENALTY] },
];

/// The machines of the quick run, and its sets.
const MAIN_MACHINES: [&str; 4] = ["svm", "kfd", "skfd", "lskfd"];
const QUICK_SETS: [&str; 3] = ["banana", "heart", "ringnorm"];
/// Number of values of each parameter on the finer grid; the quick run has none.
const FINER_VALUES: usize = 5;

fn command() -> Command {
    let names = |id: &'static str, all: Vec<&'static str>| {
        Arg::new(id)
            .long(id)
            .value_name("LIST")
            .value_delimiter(',')
            .action(ArgAction::Append)
            .value_parser(PossibleValuesParser::new(all))
    };
    let command = Command::new("mika-tables")
        .about("Kernel Fisher discriminants on ten benchmark sets (Mika 2002, tables 5.2 to 5.5)")
        .after_help(
            "Examples:\n  mercer reproduce mika-tables --data benchmarks --quick\n  \
             mercer reproduce mika-tables --data benchmarks --sets banana,heart --machines svm,kfd\n\n\
             Finished cells are kept in the folder of -o: a run that was stopped goes on from there.",
        )
        .arg(benchmark::flag())
        .arg(names("sets", ROWS.iter().map(|r| r.set).collect()).help("Sets, with commas [default: all ten]"))
        .arg(names("machines", COLUMNS.to_vec()).help("Machines, with commas [default: all seven]"))
        .arg(
            Arg::new("splits")
                .long("splits")
                .value_name("N")
                .value_parser(value_parser!(u16).range(2..))
                .help("The first so many splits [default: all]"),
        )
        .arg(
            Arg::new("quick")
                .long("quick")
                .action(ArgAction::SetTrue)
                .help("A short look: banana, heart and ringnorm on their ten original splits, the four main machines, the coarse grid alone"),
        )
        .arg(Arg::new("afresh").long("afresh").action(ArgAction::SetTrue).help("Leave aside what the folder holds"))
        .arg(arguments::output("DIR", "Folder of the results").default_value("mika-tables"));
    arguments::common(command)
}

/// The request.
struct Request {
    sets: Vec<&'static str>,
    contenders: Vec<&'static Contender>,
    splits: Splits,
    most: usize,
    finer: usize,
}

impl Request {
    fn of(flags: &ArgMatches) -> Self {
        let quick = flags.get_flag("quick");
        let asked = |id: &str, usual: &[&'static str]| -> Vec<&'static str> {
            let known = ROWS.iter().map(|r| r.set).chain(COLUMNS);
            match flags.get_many::<String>(id) {
                Some(given) => {
                    let given: Vec<&String> = given.collect();
                    known.filter(|name| given.iter().any(|g| g == name)).collect()
                }
                None => usual.to_vec(),
            }
        };
        let all: Vec<&'static str> = ROWS.iter().map(|r| r.set).collect();
        let machines = asked("machines", if quick { &MAIN_MACHINES } else { &COLUMNS });
        Self {
            sets: asked("sets", if quick { &QUICK_SETS } else { &all }),
            contenders: CONTENDERS.iter().filter(|c| machines.contains(&c.name)).collect(),
            splits: if quick { Splits::Official } else { Splits::All },
            most: flags.get_one::<u16>("splits").map_or(usize::MAX, |&n| usize::from(n)),
            finer: if quick { 0 } else { FINER_VALUES },
        }
    }
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let (request, folder) = (Request::of(flags), benchmark::folder(flags)?);
    let mut entries = Vec::with_capacity(request.contenders.len());
    for contender in &request.contenders {
        entries.push((*contender, contender.entry()?));
    }
    let (budget, seed) = (arguments::budget(flags)?, arguments::seed(flags));
    let read = |name: &&'static str| Benchmark::read(&folder, name, request.splits, request.most);
    let sets: Vec<Benchmark> = request.sets.iter().map(read).collect::<Result<_, _>>()?;
    let Some(output) = arguments::OutputFile::given(flags, "output") else {
        return Err(Failure::usage("-o DIR is needed"));
    };
    let mut ledger = Ledger::open(output, flags.get_flag("afresh"))?;
    let mut tasks: Vec<Protocol<'_>> = Vec::new();
    for set in &sets {
        for &(contender, entry) in &entries {
            tasks.push(Protocol { contender, entry, set, finer: request.finer, budget, seed });
        }
    }
    let watch = Watch::new(flags).keeping_all();
    let total = tasks.iter().map(|task| left(task, &ledger)).sum();
    let course = Course::new(&watch, Phase::new("fits"), total);
    let mut cells = Vec::with_capacity(tasks.len());
    for task in &tasks {
        let outcome = measured(task, &mut ledger, &course);
        let cell = outcome.map_err(|failure| {
            watch.finish();
            told(failure, task, cells.len(), tasks.len(), output)
        })?;
        cells.push(cell);
    }
    watch.finish();
    finish(&cells, &sets, request.splits, output, flags.get_flag("json"))
}

/// All that a choice depends on.
fn choice_settings(task: &Protocol<'_>) -> Value {
    json!({
        "program": env!("CARGO_PKG_VERSION"), "seed": task.seed.0, "data": format!("{:016x}", task.set.digest),
        "choosing_splits": task.set.splits.len().min(REALISATIONS), "finer": task.finer, "contender": task.contender.document(),
    })
}

/// All that a cell depends on.
fn cell_settings(task: &Protocol<'_>) -> Value {
    json!({"choice": choice_settings(task), "splits": task.set.splits.len()})
}

fn part(task: &Protocol<'_>, what: &str) -> String {
    format!("{}/{}/{what}", task.set.name, task.contender.name)
}

/// The number of fits that a task still takes.
fn left(task: &Protocol<'_>, ledger: &Ledger) -> usize {
    if ledger.take(&part(task, "errors"), &cell_settings(task)).is_some() {
        return 0;
    }
    let chosen = ledger.take(&part(task, "choice"), &choice_settings(task)).is_some();
    task.set.splits.len() + if chosen { 0 } else { task.fits() }
}

/// A cell, from the ledger as far as that has it.
fn measured(task: &Protocol<'_>, ledger: &mut Ledger, course: &Course<'_>) -> Result<Cell, Failure> {
    let choice = match ledger.take(&part(task, "choice"), &choice_settings(task)).and_then(read_choice) {
        Some(choice) => choice,
        None => {
            let choice = task.choose(course)?;
            let result = json!({"median": choice.point, "each": choice.each});
            ledger.keep(&part(task, "choice"), &choice_settings(task), &result)?;
            choice
        }
    };
    let settings = cell_settings(task);
    let kept = ledger.take(&part(task, "errors"), &settings).and_then(read_tested);
    let fresh = kept.is_none();
    let tested = match kept {
        Some(tested) => tested,
        None => {
            let tested = task.test(&choice.point, course)?;
            let result: Vec<Value> = tested.iter().map(|t| json!([t.error, t.zeros])).collect();
            ledger.keep(&part(task, "errors"), &settings, &json!(result))?;
            tested
        }
    };
    let parameters = task.contender.chosen(&choice.point, task.size());
    let cell = Cell::new(task.set.name, task.contender.name, &tested, parameters);
    if fresh {
        let ((mean, error), (printed, _)) = (cell.ours, cell.printed);
        course.say(&format!("{}, {}: {mean:.2} ± {error:.2} %, printed {printed}", cell.set, cell.machine));
    }
    Ok(cell)
}

/// Exponents of a choice that was kept.
fn read_choice(value: &Value) -> Option<Choice> {
    let numbers = |v: &Value| v.as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>();
    let each = value["each"].as_array()?.iter().map(numbers).collect::<Option<_>>()?;
    Some(Choice { point: numbers(&value["median"])?, each })
}

/// Errors that were kept.
fn read_tested(value: &Value) -> Option<Vec<Tested>> {
    let one = |v: &Value| Some(Tested { error: v[0].as_f64()?, zeros: v[1].as_f64() });
    value.as_array()?.iter().map(one).collect()
}

/// The failure of a cell, and what is kept.
fn told(failure: Failure, task: &Protocol<'_>, done: usize, total: usize, output: &Path) -> Failure {
    let Failure { message, code } = failure;
    let kept = format!("{done} of {total} cells are done and kept in {}", output.display());
    let message = format!(
        "{}, {}: {message}; {kept}, and the same command goes on from there",
        task.set.name, task.contender.name
    );
    Failure { message, code }
}

fn finish(cells: &[Cell], sets: &[Benchmark], splits: Splits, output: &Path, json: bool) -> Result<(), Failure> {
    let sizes: Vec<pages::Sizes> = sets.iter().map(|s| (s.name, [s.width(), s.train_size(), s.test_size()])).collect();
    let page = output.join("mika-tables.md");
    let text = pages::page(cells, &sizes, &format!("NAME.{}", splits.file()));
    mercer::write::whole(&page, text.as_bytes()).map_err(|e| Failure::file(&page, &e))?;
    if json {
        report::print_json(&json!(cells.iter().map(Cell::document).collect::<Vec<_>>()));
    } else {
        report::print(&pages::table(cells));
        report::print(&pages::summary(cells));
        report::print(&report::facts(&[("page", page.display().to_string())]));
    }
    Ok(())
}
