//! `mercer-fuzz`: damaged input for a time or a number of inputs. `fuzz.sh` builds and starts it.
//!
//! The inputs run in a second process, which writes each into a file before it is read: an input that ends the process, by an
//! abort or a stack that overflows, or that never returns, is found there, and the campaign goes on with another seed.

use mercer::memory::{Budget, set_default};
use mercer::seed::Seed;
use mercer_fuzz::campaign::{Campaign, Counts, Finding, gist};
use mercer_fuzz::targets::{BUDGET, TARGETS, Target, find};
use mercer_fuzz::trial::{hear_panics, observe};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const USAGE: &str = "usage: mercer-fuzz TARGET|all [--seconds S] [--inputs N] [--seed K] [--findings FOLDER]
       mercer-fuzz TARGET --replay FILE
       mercer-fuzz list";

/// An input that has not returned after this time never will.
const PATIENCE: Duration = Duration::from_mins(1);
/// The exit status of a process that ran out of patience.
const HANGS: u8 = 124;
/// Findings of one kind that are kept as files.
const MAX_ALIKE: usize = 3;

/// When the present input was begun, in microseconds since the start of the process.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// The request on the command line.
struct Ask {
    targets: Vec<&'static Target>,
    seconds: Option<f64>,
    inputs: u64,
    seed: u64,
    findings: PathBuf,
    replay: Option<PathBuf>,
    /// The present process reads the inputs.
    worker: bool,
}

fn ask() -> Result<Ask, String> {
    let mut words = std::env::args().skip(1);
    let name = words.next().ok_or(USAGE)?;
    let targets: Vec<&'static Target> = match name.as_str() {
        "all" => TARGETS.iter().collect(),
        name => vec![find(name).ok_or_else(|| format!("there is no target {name}; `list` shows all"))?],
    };
    let findings = PathBuf::from("target/fuzz");
    let mut ask = Ask { targets, seconds: None, inputs: u64::MAX, seed: 0, findings, replay: None, worker: false };
    while let Some(flag) = words.next() {
        if flag == "--worker" {
            ask.worker = true;
            continue;
        }
        let value = words.next().ok_or_else(|| format!("{flag} needs a value\n{USAGE}"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{flag} {value} is no whole number"));
        match flag.as_str() {
            "--seconds" => ask.seconds = Some(value.parse().map_err(|_| format!("{flag} {value} is no number"))?),
            "--inputs" => ask.inputs = number()?,
            "--seed" => ask.seed = number()?,
            "--findings" => ask.findings = PathBuf::from(value),
            "--replay" => ask.replay = Some(PathBuf::from(value)),
            _ => return Err(format!("unknown flag {flag}\n{USAGE}")),
        }
    }
    if ask.seconds.is_none() && ask.inputs == u64::MAX && ask.replay.is_none() {
        ask.inputs = 100_000;
    }
    Ok(ask)
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("list") {
        let mut lines = TARGETS.iter().map(|t| writeln!(io::stdout(), "{:14}{}", t.name, t.summary));
        return finish(lines.try_for_each(|line| line).map(|()| true));
    }
    let ask = match ask() {
        Ok(ask) => ask,
        Err(said) => {
            let _ = writeln!(io::stderr(), "{said}");
            return ExitCode::from(2);
        }
    };
    if ask.worker {
        return finish(work(&ask));
    }
    if let Some(path) = &ask.replay {
        return finish(replay(ask.targets[0], path));
    }
    let mut clean = Ok(true);
    for (k, target) in ask.targets.iter().enumerate() {
        let found = supervise(&ask, target).and_then(|(counts, died)| {
            let head = if k == 0 { HEAD } else { "" };
            io::stdout().write_all(format!("{head}{}\n", row(target.name, &counts, died)).as_bytes())?;
            Ok(died == 0 && counts.panics + counts.slow + counts.large == 0)
        });
        clean = clean.and_then(|clean| Ok(found? && clean));
    }
    finish(clean)
}

fn finish(clean: io::Result<bool>) -> ExitCode {
    match clean {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "mercer-fuzz: {error}");
            ExitCode::from(3)
        }
    }
}

const HEAD: &str =
    "| target | inputs | read | refused | outcomes | panics | aborts and hangs | slow | large | longest | most held |
|---|---|---|---|---|---|---|---|---|---|---|
";

fn row(name: &str, c: &Counts, died: u64) -> String {
    format!(
        "| `{name}` | {} | {} | {} | {} | {} | {died} | {} | {} | {:.1} ms | {:.1} MiB |",
        c.inputs,
        c.accepted,
        c.refused,
        c.outcomes,
        c.panics,
        c.slow,
        c.large,
        c.longest as f64 / 1e3,
        c.held as f64 / f64::from(1 << 20)
    )
}

/// Runs inputs in other processes until the number or the time is reached; the counts, and how many processes died.
fn supervise(ask: &Ask, target: &Target) -> io::Result<(Counts, u64)> {
    let folder = ask.findings.join(target.name);
    std::fs::create_dir_all(&folder)?;
    let (start, mut total, mut died) = (Instant::now(), Counts::default(), 0);
    loop {
        let left = ask.seconds.map(|seconds| seconds - start.elapsed().as_secs_f64());
        if total.inputs >= ask.inputs || left.is_some_and(|left| left <= 0.0) {
            return Ok((total, died));
        }
        let mut worker = std::process::Command::new(std::env::current_exe()?);
        worker.args([target.name, "--worker", "--findings"]).arg(&ask.findings);
        worker.args(["--inputs", &(ask.inputs - total.inputs).to_string()]);
        worker.args(["--seed", &(ask.seed + (died << 32)).to_string()]);
        if let Some(left) = left {
            worker.args(["--seconds", &left.to_string()]);
        }
        let status = worker.status()?;
        let (counts, bytes) = last(&folder)?;
        total.add(&counts);
        match status.code() {
            // it says itself what it could not do
            Some(3) => return Err(io::Error::other("the campaign could not go on")),
            Some(0 | 1) => return Ok((total, died)),
            code => {
                let what = if code == Some(i32::from(HANGS)) { "hang" } else { "abort" };
                died += 1;
                std::fs::write(folder.join(format!("{what}-{died}")), bytes)?;
                writeln!(io::stderr(), "{}: {what} ({status}) after {} inputs", target.name, total.inputs)?;
            }
        }
    }
}

/// The counts and the input that a worker left in its file: the counts, the length of the name, the name, the bytes.
fn last(folder: &Path) -> io::Result<(Counts, Vec<u8>)> {
    let all = std::fs::read(folder.join("last"))?;
    let counts = all.first_chunk().map(Counts::from_bytes).unwrap_or_default();
    let rest = all.get(Counts::BYTES..).unwrap_or_default();
    Ok((counts, rest.to_vec()))
}

/// An input as findings are kept: its name up to the first line end, then its bytes.
fn kept(name: &str, bytes: &[u8]) -> Vec<u8> {
    [name.as_bytes(), b"\n", bytes].concat()
}

/// Gives inputs to a target in this process.
fn work(ask: &Ask) -> io::Result<bool> {
    let target = ask.targets[0];
    let folder = ask.findings.join(target.name);
    quiet(ask)?;
    let start = Instant::now();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let running = (start.elapsed().as_micros() as u64).saturating_sub(BEGUN.load(Ordering::Relaxed));
            if Duration::from_micros(running) > PATIENCE {
                std::process::exit(i32::from(HANGS));
            }
        }
    });
    let mut file = File::create(folder.join("last"))?;
    let mut campaign = Campaign::new(target, Seed(ask.seed))?;
    let mut alike: HashMap<u64, usize> = HashMap::new();
    let deadline = ask.seconds.map(Duration::from_secs_f64);
    while campaign.counts.inputs < ask.inputs && deadline.is_none_or(|deadline| start.elapsed() < deadline) {
        let input = campaign.prepare().clone();
        let mut state = campaign.counts.to_bytes();
        state.extend(kept(&input.name, &input.bytes));
        file.rewind()?;
        file.write_all(&state)?;
        file.set_len(state.len() as u64)?;
        BEGUN.store(start.elapsed().as_micros() as u64, Ordering::Relaxed);
        if let Some(finding) = campaign.run() {
            keep(&folder, &finding, &mut alike)?;
        }
    }
    file.rewind()?;
    file.write_all(&campaign.counts.to_bytes())?;
    let counts = campaign.counts;
    Ok(counts.panics + counts.slow + counts.large == 0)
}

/// Everything runs on the present thread, whose memory is counted, under a small budget.
fn quiet(ask: &Ask) -> io::Result<()> {
    if ask.replay.is_none() {
        hear_panics();
    }
    set_default(Budget { memory: BUDGET });
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().map_err(io::Error::other)
}

fn keep(folder: &Path, finding: &Finding, alike: &mut HashMap<u64, usize>) -> io::Result<()> {
    let what = format!("{:?}", finding.fault).to_lowercase();
    let number = gist(&format!("{what} {}", finding.said));
    let count = alike.entry(number).or_default();
    *count += 1;
    if *count > MAX_ALIKE {
        return Ok(());
    }
    let path = folder.join(format!("{what}-{number:016x}-{count}"));
    std::fs::write(&path, kept(&finding.input.name, &finding.input.bytes))?;
    writeln!(io::stderr(), "{}: {}", path.display(), finding.said)
}

/// Gives one finding to its target again, and lets it panic.
fn replay(target: &Target, path: &Path) -> io::Result<bool> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    let end = bytes.iter().position(|&b| b == b'\n').unwrap_or(0);
    let name = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let input = bytes.get(end + 1..).unwrap_or_default();
    set_default(Budget { memory: BUDGET });
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().map_err(io::Error::other)?;
    let seen = observe(target, &name, input);
    let said = format!("{name}, {} bytes: {:?} held, {:?}\n", input.len(), seen.held, seen.took);
    io::stdout().write_all(said.as_bytes())?;
    io::stdout().write_all(format!("{:?}\n{:?}\n", seen.outcome, seen.fault).as_bytes())?;
    Ok(seen.fault.is_none())
}
