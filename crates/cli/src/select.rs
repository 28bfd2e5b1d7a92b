//! `mercer select`: choose parameters by cross-validation, then fit the best on all examples.

use crate::arguments::OutputFile;
use crate::certify::target_range;
use crate::input::SetAside;
use crate::{Verb, arguments, batches, fit, input, machine, report};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::certify::{self, CandidatePrior, CertifiedCandidate, Options};
use mercer::data::Dataset;
use mercer::job::Job;
use mercer::machines::MachineExpression;
use mercer::metrics::{Metrics, Score, clopper_pearson, measure};
use mercer::plot::{at_most, percent_at_least, percent_at_most};
use mercer::select::{Candidate, Choose, Grid, Search, Selection};
use mercer_terminal::Failure;
use mercer_terminal::{Watch, watch};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    let command = Command::new("select")
        .about("Choose parameters by cross-validation and save the best model")
        .after_help(
            "Examples:\n  \
             mercer select train.csv -o best.mercer\n  \
             mercer select train.csv -m svc --grid 'c=0.01..1e4:log7, gamma=0.1|1|scale' -o best.mercer\n  \
             mercer select churn.csv -m svc --class-weight balanced --grid 'c=0.1|1|10' --held-out 0.25 \\\n      \
             --score f1 --positive yes -o best.mercer\n  \
             mercer select train.csv -m svc --grid 'c=10|1|100' --by certificate --candidate-prior geometric \\\n      \
             -o best.mercer\n\n\
             A parameter belongs to the machine or to the kernel; machine.gamma and kernel.gamma tell two of one name apart.\n\
             Values are a|b|c, or from..to:logN, or from..to:linN.",
        )
        .arg(arguments::data_file())
        .arg(Arg::new("grid").long("grid").value_name("GRID").help("Parameters and their values, such as 'c=0.1|1|10, gamma=0.001..1:log4' [default: those that machine and kernel declare, see mercer help NAME]"))
        .arg(Arg::new("folds").long("folds").value_name("K").allow_negative_numbers(true).value_parser(folds).default_value("5").help("Folds of the cross-validation, or loo to leave out one example at a time (in closed form for ridge and kfd)"))
        .arg(
            Arg::new("by")
                .long("by")
                .value_name("WHAT")
                .value_parser(["cross-validation", "certificate"])
                .default_value("cross-validation")
                .help("What candidates are judged by: errors on held-out folds, or the best guarantee of a fit on all examples, all candidates paid for"),
        )
        .arg(
            Arg::new("held-out")
                .long("held-out")
                .value_name("SHARE")
                .value_parser(value_parser!(f64))
                .help("Set such a share of the examples aside before the search, and judge the chosen model by them once, e.g. 0.25; the model does not learn from them, and certify takes the same file"),
        )
        .arg(
            Arg::new("certificate-delta")
                .long("certificate-delta")
                .value_name("P")
                .value_parser(value_parser!(f64))
                .default_value("0.05")
                .help("Probability with which the certificate may fail, with --by certificate"),
        )
        .arg(
            Arg::new("candidate-prior")
                .long("candidate-prior")
                .value_name("PRIOR")
                .value_parser(str::parse::<CandidatePrior>)
                .help("With --by certificate: how likely each candidate was thought to be the best before the data were seen, in the order of the grid as it is written, the last parameter fastest (uniform, geometric, geometric(0.8), or weights such as 4,2,1,1); it pays ln(1/p) [default: uniform]"),
        )
        .arg(
            Arg::new("bounds")
                .long("bounds")
                .value_name("NAMES")
                .value_delimiter(',')
                .help("With --by certificate: the bounds to judge by, with their parts of δ, e.g. scenario:3,stability [default: scenario, compression_binomial, pac_bayes_kl and pac_bayes_informed, at equal parts]"),
        )
        .arg(
            Arg::new("target-range")
                .long("target-range")
                .value_name("LOW,HIGH")
                .allow_hyphen_values(true)
                .help("With --by certificate: ends between which every target lies, for bounds of regression"),
        )
        .arg(
            Arg::new("one-standard-error")
                .long("one-standard-error")
                .action(ArgAction::SetTrue)
                .help("Choose the most regularised candidate within one standard error of the best (small c, large lambda, small gamma)"),
        )
        .arg(
            arguments::written("heat", "FIG", "Also draw the scores over the grid, as .svg or .png"),
        )
        .arg(arguments::theme().requires("heat"))
        .arg(arguments::kernel())
        .arg(arguments::preparation())
        .arg(arguments::output("MODEL", "Model file to write").required(true));
    let command = arguments::scoring(report::verbosity(command).arg(arguments::weights()));
    arguments::common(arguments::reading(machine::flags(arguments::probabilities(command))))
}

/// A number of folds, or 0 for leaving out one example at a time.
pub(crate) fn folds(text: &str) -> Result<usize, String> {
    match (text, text.parse::<usize>()) {
        ("loo", _) => Ok(0),
        (_, Ok(k)) if k >= 2 => Ok(k),
        _ => Err("give a number of folds from 2 on, or loo".to_owned()),
    }
}

/// The grid that is asked for, else the values that machine and kernel declare.
fn grid(flags: &ArgMatches, asked: &MachineExpression) -> Result<Grid, Failure> {
    if let Some(text) = flags.get_one::<String>("grid") {
        return text.parse().map_err(|e: mercer::select::GridError| Failure::usage(e.to_string()));
    }
    let kernel = arguments::formula(flags)?;
    // a parameter that is written is kept, also at its default
    let text = flags.get_one::<String>("kernel").map_or("", String::as_str);
    let pairs = text.split(['(', ',', ')']).filter_map(|part| part.split_once('='));
    let written: Vec<&str> = pairs.map(|(name, _)| name.trim()).collect();
    let grid = Grid::usual((asked.make()?.as_ref(), &asked.settings), (&kernel, &written))?;
    report::say("note", &format!("no grid is given, so these are tried: {grid}; --grid takes others"));
    Ok(grid)
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let (Some(path), Some(target)) = (flags.get_one::<PathBuf>("DATA"), arguments::target(flags)?) else {
        return Err(Failure::usage("DATA and -o MODEL are needed"));
    };
    let (asked, from_file) = machine::asked(flags, path)?;
    let grid = grid(flags, &asked)?;
    let MachineExpression { entry, settings } = asked;
    let kernel = arguments::formula(flags)?;
    let heat = OutputFile::given(flags, "heat");
    if let Some(heat) = heat {
        arguments::picture(heat)?;
    }
    arguments::check_weights(flags, entry)?;
    let budget = arguments::budget(flags)?;
    let (probabilities, calibration_folds) = arguments::calibration(flags, entry)?;
    // a parameter in the grid may make the machine another one, so that only the search itself refuses
    if let Ok(Some(doubt)) = (Job { settings: settings.clone(), ..Job::of(entry, kernel.clone()) }).doubt() {
        report::warn(&doubt);
    }
    let watch = Watch::new(flags).keeping_all();
    let score = arguments::score(flags, entry)?;
    let (training, held_out) = match flags.get_one::<f64>("held-out") {
        None => (input::training_of(entry, (path, from_file), flags, &kernel)?, None),
        Some(&share) => {
            let (training, held_out) = input::training_beside(entry, (path, from_file), flags, &kernel, share)?;
            (training, Some(held_out))
        }
    };
    let read = started.elapsed().as_secs_f64();
    let fitting = Instant::now();
    let search = Search {
        score: score.as_ref(),
        machine: entry,
        settings: &settings,
        kernel: &kernel,
        grid: &grid,
        folds: flags.get_one::<usize>("folds").copied().unwrap_or(5),
        choose: if flags.get_flag("one-standard-error") { Choose::OneStandardError } else { Choose::Best },
        probabilities,
        calibration_folds,
        budget,
        seed: arguments::seed(flags),
    };
    let given = |flag: &str| flags.value_source(flag) == Some(ValueSource::CommandLine);
    if flags.get_one::<String>("by").is_some_and(|by| by == "certificate") {
        if given("folds") {
            return Err(Failure::usage("--folds belong to cross-validation; leave them out with --by certificate"));
        }
        if score.is_some() || held_out.is_some() {
            return Err(Failure::usage(
                "--score and --held-out belong to cross-validation; leave them out with --by certificate",
            ));
        }
        if heat.is_some() || probabilities.is_some() || flags.get_flag("one-standard-error") {
            return Err(Failure::usage(
                "--heat, --probabilities and --one-standard-error belong to cross-validation; leave them out with --by certificate",
            ));
        }
        return by_certificate(&search, &training, (started, read), target, &watch, flags);
    }
    for flag in ["certificate-delta", "candidate-prior", "bounds", "target-range"] {
        if given(flag) {
            return Err(Failure::usage(format!("--{flag} is for --by certificate; add that or leave it out")));
        }
    }
    let outcome = search.run(&training, &watch);
    watch.finish();
    let mut selection = outcome?;
    if let Some(SetAside { data, places }) = &held_out {
        selection.model.remember_held_out(data, places);
    }
    let seconds_fit = fitting.elapsed().as_secs_f64();
    let saving = Instant::now();
    let saved = watch::save(&selection.model, target)?;
    if let Some(heat) = heat {
        arguments::save_picture(heat, &selection.figure(&measured(&selection), arguments::chosen_theme(flags)))?;
    }
    let save = saving.elapsed().as_secs_f64();
    let metrics = fit::training_metrics(&selection.model, &training);
    let json = flags.get_flag("json") || flags.get_flag("quiet");
    let held_out =
        held_out.map(|aside| HeldOutReport::judge(&selection, (&training, &aside.data), flags)).transpose()?;
    if !json {
        report::print(&candidates(&selection));
        report::print(&caution(&selection, held_out.as_ref(), &training));
    }
    let seconds = json!({"read": read, "fit": seconds_fit, "save": save, "total": started.elapsed().as_secs_f64()});
    let listed: Vec<_> = selection.candidates.iter().map(candidate).collect();
    let of = |place: usize| candidate(&selection.candidates[place]);
    let mut more = vec![("best", of(selection.best)), ("chosen", of(selection.chosen)), ("table", json!(listed))];
    more.push(("score", json!({"name": selection.score.entry.name, "positive": selection.score.positive})));
    more.extend(input::left_out(&training));
    if let Some(held_out) = &held_out {
        more.push(("held_out", held_out.told.clone()));
    }
    if let Some(heat) = heat {
        more.push(("heat", json!(heat.display().to_string())));
    }
    fit::finish(&selection.model, metrics.as_ref(), &seconds, (&saved, target), flags, &more)
}

/// Every candidate is fitted on all examples and judged by its best certificate.
fn by_certificate(
    search: &Search<'_>,
    training: &Dataset,
    (started, read): (Instant, f64),
    target: &Path,
    watch: &Watch,
    flags: &ArgMatches,
) -> Result<(), Failure> {
    let fitting = Instant::now();
    let delta = flags.get_one::<f64>("certificate-delta").copied().unwrap_or(0.05);
    let names: Vec<&str> = flags.get_many::<String>("bounds").into_iter().flatten().map(String::as_str).collect();
    let judges = certify::judges(&names)?;
    let options = Options {
        delta,
        judges: &judges,
        candidate_prior: flags.get_one::<CandidatePrior>("candidate-prior"),
        target_range: target_range(flags)?,
        budget: search.budget,
        seed: search.seed,
        ..Options::default()
    };
    let outcome = certify::select(search, training, &options, watch);
    watch.finish();
    let selection = outcome?;
    let fit_seconds = fitting.elapsed().as_secs_f64();
    let saving = Instant::now();
    let saved = watch::save(&selection.model, target)?;
    let save = saving.elapsed().as_secs_f64();
    let metrics = fit::training_metrics(&selection.model, training);
    let json = flags.get_flag("json") || flags.get_flag("quiet");
    let listed = |c: &CertifiedCandidate| json!({"parameters": report::settings(&c.point), "kernel": c.kernel, "certificate": c.value, "bound": c.bound});
    if !json {
        let mut header: Vec<&str> = selection.candidates[0].point.iter().map(|(name, _)| name.as_str()).collect();
        header.extend(["certificate", "bound", ""]);
        let row = |(i, c): (usize, &CertifiedCandidate)| {
            let mut row: Vec<String> = c.point.iter().map(|(_, v)| v.to_string()).collect();
            row.extend([at_most(c.value, 4), c.bound.to_owned()]);
            row.push(if i == selection.best { "best".to_owned() } else { String::new() });
            row
        };
        let rows: Vec<Vec<String>> = selection.candidates.iter().enumerate().map(row).collect();
        report::print(&report::table(&header, &rows, false));
    }
    let seconds = json!({"read": read, "fit": fit_seconds, "save": save, "total": started.elapsed().as_secs_f64()});
    let more = [
        ("best", listed(&selection.candidates[selection.best])),
        ("certificate", json!(selection.certificate)),
        ("condition", json!(selection.condition)),
        ("table", json!(selection.candidates.iter().map(listed).collect::<Vec<_>>())),
    ];
    fit::finish(&selection.model, metrics.as_ref(), &seconds, (&saved, target), flags, &more)?;
    if !json {
        report::print(&format!(
            "\n{}; all {} candidates are paid for.{}\n",
            certify::statement(&selection.certificate),
            selection.candidates.len(),
            selection.condition.map_or_else(String::new, |condition| format!(" But {condition}."))
        ));
    }
    Ok(())
}

fn candidate(c: &Candidate) -> serde_json::Value {
    json!({"parameters": report::settings(&c.point), "kernel": c.kernel, "score": c.score, "standard_error": c.spread, "folds": c.folds})
}

/// The judgement of the chosen model on examples that were set aside before the search.
struct HeldOutReport {
    told: Value,
    sentence: String,
}

impl HeldOutReport {
    /// Of the held-out examples, beside those of the search.
    fn judge(
        selection: &Selection,
        (searched, data): (&Dataset, &Dataset),
        flags: &ArgMatches,
    ) -> Result<Self, Failure> {
        let target = data.target().ok_or(mercer::data::DataError::NoTarget)?;
        let output = batches::predict(&selection.model.clone().predictor(), data, flags)?;
        // the data were whole a moment ago, so that equal rows are counted, not guessed
        let repeats = data.repeats_beside(searched);
        let (refusal, condition) = (repeats.refusal("held-out "), repeats.condition("held-out "));
        let mut metrics = measure(&output, target)?;
        if refusal.is_some() {
            metrics = metrics.without_intervals();
        }
        let value = selection.score.of(&output, target)?;
        let mut sentence = match &metrics {
            Metrics::Classes(m) => {
                let wrong = (m.error * m.n as f64).round() as usize;
                let (low, high) = clopper_pearson(wrong, m.n, 0.05);
                let (low, high) = (percent_at_least(low, 2), percent_at_most(high, 2));
                let interval = format!("  (95 % interval {low} % to {high} %)");
                format!("error {:.2} %{}", 100.0 * m.error, if refusal.is_none() { interval.as_str() } else { "" })
            }
            Metrics::Numbers(m) => format!("RMSE {}", report::short(m.rmse)),
        };
        let entry = selection.score.entry;
        if let Some(value) = value.filter(|_| entry.name != Score::usual(entry.learns).entry.name) {
            sentence = format!("{} {value:.4}, {sentence}", entry.label);
        }
        let sentence = match (&refusal, &condition) {
            (Some(repeated), _) => format!("{sentence} on {} examples; but {repeated}", data.len()),
            (None, told) => format!(
                "{sentence} on {} examples that the search never saw{}",
                data.len(),
                told.as_ref().map_or_else(String::new, |condition| format!("; but {condition}"))
            ),
        };
        let mut told = json!({"n": data.len(), "score": value, "metrics": metrics});
        told["equal_to_training"] = json!(repeats.equal);
        told["condition"] = json!(refusal.or(condition));
        input::insert_told(&mut told, data);
        Ok(Self { told, sentence })
    }
}

/// The sentence on the worth of the best score.
fn caution(selection: &Selection, held_out: Option<&HeldOutReport>, searched: &Dataset) -> String {
    let (label, tried) = (measured(selection), selection.candidates.len());
    let of = format!("The {label} is that of the best of {tried} candidates, which were compared by it");
    let repeated = searched.repeats().refusal("");
    let folds =
        repeated.map(|told| format!("\nFolds know one another's examples, which makes the {label} too good: {told}."));
    match held_out {
        Some(held_out) => format!("\n{of}.{}\nHeld out: {}.\n", folds.unwrap_or_default(), held_out.sentence),
        None if folds.is_some() => format!("\n{of}.{}\n", folds.unwrap_or_default()),
        None if tried > 1 => {
            format!("\n{of}: on average new examples come out worse; --held-out 0.25 tells how much.\n")
        }
        None => String::new(),
    }
}

/// The measure that decides between candidates.
fn measured(selection: &Selection) -> String {
    format!("cv {}", selection.score.entry.label)
}

/// The line of a candidate in the report.
fn remark(selection: &Selection, place: usize) -> &'static str {
    match (place == selection.best, place == selection.chosen) {
        (true, true) => "best",
        (true, false) => "best, not chosen",
        (false, true) => "chosen: within one s.e. of the best",
        (false, false) => "",
    }
}

/// The candidates as a table, the best and the chosen marked; long tables show the best twenty.
pub(crate) fn candidates(selection: &Selection) -> String {
    let Some(first) = selection.candidates.first() else { return String::new() };
    let mut header: Vec<&str> = first.point.iter().map(|(name, _)| name.as_str()).collect();
    let measured = measured(selection);
    header.extend([measured.as_str(), "± s.e.", ""]);
    let mut order: Vec<usize> = (0..selection.candidates.len()).collect();
    let long = order.len() > 30;
    if long {
        order.sort_by(|&a, &b| {
            let (a, b) = (selection.candidates[a].score, selection.candidates[b].score);
            if selection.score.entry.larger_is_better { b.total_cmp(&a) } else { a.total_cmp(&b) }
        });
        order.truncate(20);
        if !order.contains(&selection.chosen) {
            order.push(selection.chosen);
        }
    }
    let rows: Vec<Vec<String>> = order
        .iter()
        .map(|&i| {
            let c = &selection.candidates[i];
            let mut row: Vec<String> = c.point.iter().map(|(_, v)| v.to_string()).collect();
            let spread = if c.spread.is_nan() { "none".to_owned() } else { format!("{:.4}", c.spread) };
            row.extend([format!("{:.4}", c.score), spread]);
            row.push(remark(selection, i).to_owned());
            row
        })
        .collect();
    let mut text = report::table(&header, &rows, false);
    if long {
        text.push_str(&format!("\nthe best 20 of {} candidates", selection.candidates.len()));
    }
    text
}
