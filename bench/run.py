"""Compare mercer's speed with scikit-learn, NumPy and others, side by side on this machine.

    python3 bench/run.py [--quick] [--only rbf_f64,svc_usps,…] [--mercer target/release/mercer] [--data DIR]

Needs Python alone: it makes an environment with the other libraries under target/bench-env, builds mercer, runs both
sides in turn, prints a Markdown table of ratios and writes bench/results/latest.md and latest.csv. See bench/README.md.

This script imports nothing outside the standard library, also because a child's peak memory is never counted as less
than that of the process that started it.
"""

import argparse
import csv
import gzip
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


class Failed(Exception):
    """Why a case has no number."""


@dataclass
class Outcome:
    """What one run of one side told."""

    answer: dict
    seconds: float
    peak_mb: float


@dataclass
class Row:
    """One line of the table: the same work by mercer and by another."""

    case: str
    versus: str
    size: str
    ours: list = field(default_factory=list)
    theirs: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    failed: str = ""

    def ratios(self):
        return [theirs / ours for ours, theirs in zip(self.ours, self.theirs, strict=False) if ours > 0]


# ---------------------------------------------------------------------------------------------------- running children


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no output"


def child(command, env, limit):
    """Run a command; its exit status, both outputs and its peak memory in MB."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=err, env=env, cwd=ROOT)
        except OSError as error:
            raise Failed(f"{Path(str(command[0])).name} does not start: {error.strerror}") from error
        deadline = time.monotonic() + limit
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                process.kill()
                os.wait4(process.pid, 0)
                process.returncode = -9
                raise Failed(f"stopped after {limit} s")
            time.sleep(0.02)
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    unit = 1024.0**2 if sys.platform == "darwin" else 1024.0
    return process.returncode, *texts, usage.ru_maxrss / unit


def parse(text):
    """The JSON object that a program printed: the whole output, or its last line."""
    for candidate in (text, last_line(text)):
        try:
            answer = json.loads(candidate)
        except ValueError:
            continue
        if isinstance(answer, dict):
            return answer
    raise Failed(f"no JSON in the output: {last_line(text)[:100]}")


def ask(command, settings, pick=None):
    """Run a command that prints JSON, and take its seconds (the last of a list)."""
    code, out, err, peak = child(command, settings.env, settings.limit)
    if code != 0:
        raise Failed(f"{Path(str(command[0])).name} ended with {code}: {last_line(err or out)[:160]}")
    answer = parse(out)
    seconds = pick(answer) if pick else answer.get("seconds") or [math.nan]
    if isinstance(seconds, list):
        seconds = seconds[-1]
    if not isinstance(seconds, (int, float)):
        raise Failed("the output has no seconds")
    return Outcome(answer, float(seconds), peak)


def find(answer, *names):
    """The first value of one of these names anywhere in nested objects."""
    for name in names:
        if name in answer:
            return answer[name]
    for value in answer.values():
        if isinstance(value, dict):
            found = find(value, *names)
            if found is not None:
                return found
    return None


# -------------------------------------------------------------------------------------------------------------- settings


class Settings:
    """Where things are and how much to do."""

    def __init__(self, args, temp):
        self.quick = args.quick
        self.repeat = args.repeat or (3 if args.quick else 5)
        self.threads = args.threads
        self.data = Path(args.data)
        self.temp = temp
        self.limit = args.limit
        self.mercer = Path(args.mercer).resolve()
        self.gram = Path(args.bench_gram).resolve()
        self.python = None
        # settings of OpenBLAS for one kind of processor would slow the other side down
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
        for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "RAYON"):
            self.env[f"{name}_NUM_THREADS" if name != "VECLIB_MAXIMUM" else "VECLIB_MAXIMUM_THREADS"] = str(
                args.threads
            )

    def theirs(self, case, *rest):
        return [self.python, HERE / "theirs.py", case, *rest]

    def bench_gram(self, case, *rest):
        return [self.gram, case, *rest, "--threads", self.threads]

    def make(self, case, file, n, d, *rest):
        """Have a data file written, once."""
        path = self.temp / file
        if not path.exists():
            ask(self.theirs(case, path, "--n", n, "--d", d, *rest), self, pick=lambda _: 0.0)
        return path

    def shared(self, *names):
        paths = [self.data / name for name in names]
        for path in paths:
            if not path.exists():
                raise Failed(f"{path.name} is not in the data folder (--data or MERCER_DATA)")
        return paths


def environment(folder):
    """A virtual environment with the other libraries; made again when the requirements have changed."""
    wanted = (HERE / "requirements.txt").read_text()
    stamp, python = folder / "requirements.txt", folder / "bin" / "python"
    if not python.exists() or not stamp.exists() or stamp.read_text() != wanted:
        print(f"making {folder.name} …", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt"]
        subprocess.run(install, check=True)
        stamp.write_text(wanted)
    return python


def build():
    """Build the command line and the bench program; a failure shows up in the cases that need them."""
    if shutil.which("cargo") is None:
        print("cargo is not there: using what has been built", file=sys.stderr)
        return
    for part in (["-p", "mercer-cli"], ["-p", "mercer", "--example", "bench_gram"]):
        done = subprocess.run(
            ["cargo", "build", "--release", "--quiet", *part], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            print(f"cargo build {' '.join(part)} failed: {last_line(done.stderr)}", file=sys.stderr)


# ----------------------------------------------------------------------------------------------------------- comparing


def agree(ours, theirs):
    """A note when both sides printed some of their numbers and these differ."""
    a, b = ours.answer.get("check"), theirs.answer.get("check")
    if not a or not b:
        return []
    if len(a) != len(b) or any(abs(x - y) > 1e-4 * max(abs(x), abs(y), 1e-3) for x, y in zip(a, b, strict=True)):
        return [f"RESULTS DIFFER: {a} against {b}"]
    return ["same results"]


def interleave(settings, case, size, ours, others, repeat=None, pick=None, memory=False, describe=None):
    """Run ours and each of the others in turn, `repeat` times; one row for each of the others."""
    rows = {name: Row(case, name, size) for name in others}
    dead = {}
    for round_number in range(repeat or settings.repeat):
        say(f"{case}: round {round_number + 1}")
        if "" not in dead:
            try:
                mine = ask(ours, settings, pick)
            except Failed as error:
                dead[""] = f"mercer: {error}"
        for name, command in others.items():
            row = rows[name]
            if name in dead or ("" in dead and row.theirs):
                continue
            try:
                other = ask(command, settings)
            except Failed as error:
                dead[name] = f"{name}: {error}"
                continue
            row.theirs.append(other.seconds)
            if "" in dead:
                continue
            row.ours.append(mine.seconds)
            if round_number == 0:
                row.notes += agree(mine, other)
                if describe:
                    row.notes += describe(mine, other)
            if memory:
                row.notes = [n for n in row.notes if "peak" not in n]
                row.notes.append(f"peak memory {mine.peak_mb:.0f} MB against {other.peak_mb:.0f} MB")
    for name, row in rows.items():
        row.failed = "; ".join(dead[key] for key in ("", name) if key in dead)
    return list(rows.values())


# --------------------------------------------------------------------------------------------------------------- cases


def dense(settings, case, single, product=False):
    n, d, gamma = (3000 if settings.quick else 10000), 100, 0.01
    kind = "f32" if single else "f64"
    x = settings.make("gram_data", f"x_{kind}.npy", n, d, *(["--single"] if single else []))
    common = [x, "--gamma", gamma, "--repeat", 2]
    others = {"np.dot": settings.theirs("dot", *common)}
    if not product:
        others = {"sklearn rbf_kernel": settings.theirs("rbf", *common)} | others
    rows = interleave(settings, case, f"n={n} d={d}", settings.bench_gram(case, *common), others)
    for row in rows:
        if not product and row.versus == "np.dot":
            row.notes = ["the bare product against the whole kernel matrix"]
    return rows


def rbf_f64(settings):
    return dense(settings, "rbf_f64", single=False)


def rbf_f32(settings):
    return dense(settings, "rbf_f32", single=True)


def product_f64(settings):
    return dense(settings, "product_f64", single=False, product=True)


def rbf_sparse(settings):
    n = 3000 if settings.quick else 10000
    (path,) = settings.shared("libsvm/a9a.svm.gz")
    common = [path, "--rows", n, "--gamma", repr(1 / 123), "--repeat", 2]
    others = {"sklearn rbf_kernel (CSR)": settings.theirs("rbf_sparse", *common)}
    return interleave(settings, "rbf_sparse", f"a9a, n={n}", settings.bench_gram("rbf_sparse", *common), others)


def stream(settings):
    n, d = (20000 if settings.quick else 100000), 20
    x = settings.make("gram_data", "x_stream.npy", n, d)
    common = [x, "--gamma", 0.05, "--repeat", 1]
    others = {"NumPy by blocks": settings.theirs("stream", *common, "--threads", settings.threads)}
    ours = settings.bench_gram("stream", *common)
    return interleave(settings, "stream", f"K·v, n={n} d={d}", ours, others, memory=True)


def spectrum(settings):
    n, width, length = (500 if settings.quick else 2000), 150, 4
    path = settings.make("string_data", "strings.txt", n, width)
    once = [path, "--length", length, "--repeat"]
    others = {
        "Python Counter": settings.theirs("spectrum", *once, 1),
        "Counter + SciPy product": settings.theirs("spectrum_sparse", *once, 2),
    }
    if shutil.which("Rscript"):
        others["R kernlab"] = ["Rscript", HERE / "spectrum.R", path, length, 1]
    ours = settings.bench_gram("spectrum", *once, 2)
    return interleave(settings, "spectrum", f"{n} DNA strings of {width}, length {length}", ours, others)


def fit_seconds(answer):
    seconds = answer.get("seconds")
    return seconds.get("fit") if isinstance(seconds, dict) else seconds


def fit(settings, machine, kernel, data, *rest):
    model = settings.temp / f"{machine}.model"
    command = [settings.mercer, "fit", data, "--machine", machine, "--kernel", kernel, "--scale", "none", *rest]
    return [*command, "-o", model, "--json"]


def labels(path):
    """The targets of a file: the first word of a line of svmlight text, the last value of a line of a table."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        if ".svm" in path.name:
            return [float(line.split(None, 1)[0]) for line in file if line.strip()]
        return [float(line.rsplit(",", 1)[1]) for line in file if line.strip()]


def mercer_test_error(settings, test):
    """Predict with the model of the last fit and count what is wrong."""
    predictions = settings.temp / "predictions.csv"
    model = settings.temp / "svc.model"
    code, out, err, _ = child(
        [settings.mercer, "predict", model, test, "-o", predictions], settings.env, settings.limit
    )
    if code != 0:
        raise Failed(f"mercer predict: {last_line(err or out)[:120]}")
    with predictions.open(newline="", encoding="utf-8") as file:
        table = list(csv.reader(file))
    column = 0
    try:
        float(table[0][0])
    except ValueError:
        header = table.pop(0)
        column = next((i for i, name in enumerate(header) if name in ("prediction", "predicted", "label")), 0)
    truth = labels(test)
    if len(truth) != len(table):
        raise Failed(f"{len(table)} predictions for {len(truth)} test examples")
    return sum(float(row[column]) != y for row, y in zip(table, truth, strict=True)) / len(truth)


def svc(settings, case, size, train, test, c, gamma, repeat=None):
    ours = fit(settings, "svc", f"rbf(gamma={gamma})", train, "--c", c)
    others = {"sklearn SVC": settings.theirs("svc", train, "--test", test, "--c", c, "--gamma", gamma)}

    def describe(mine, other):
        count = find(mine.answer, "support_vectors", "n_support", "support")
        count = len(count) if isinstance(count, list) else count
        objective = find(mine.answer, "objective", "dual_objective")
        shown = f"{objective:.6f}" if isinstance(objective, (int, float)) else "not given"
        try:
            error = f"{100 * mercer_test_error(settings, test):.2f} %"
        except Failed as reason:
            error = f"unknown ({reason})"
        return [
            f"support vectors {count} against {other.answer['support_vectors']}",
            f"objective {shown} against {other.answer['objective']:.6f}",
            f"test error {error} against {100 * other.answer['test_error']:.2f} %",
        ]

    return interleave(settings, case, size, ours, others, repeat=repeat, pick=fit_seconds, describe=describe)


def svc_usps(settings):
    train, test = settings.shared("usps/usps.train.csv.gz", "usps/usps.test.csv.gz")
    return svc(settings, "svc_usps", "USPS, C=10 γ=0.0078", train, test, 10, 0.0078)


def svc_a9a(settings):
    train, test = settings.shared("libsvm/a9a.svm.gz", "libsvm/a9a.t.svm.gz")
    size = "a9a, C=1 γ=1/123"
    if settings.quick:
        small, size = settings.temp / "a9a_8000.svm.gz", "a9a, 8000 rows, C=1 γ=1/123"
        with gzip.open(train, "rt") as full, gzip.open(small, "wt") as part:
            part.writelines(line for _, line in zip(range(8000), full, strict=False))
        train = small
    return svc(settings, "svc_a9a", size, train, test, 1, 1 / 123, None if settings.quick else 1)


def ridge(settings):
    n, d, gamma, alpha = (1500 if settings.quick else 4000), 10, 0.5, 0.1
    data = settings.make("table_data", "table.csv", n, d)
    ours = fit(settings, "ridge", f"rbf(gamma={gamma})", data, "--lambda", alpha)
    others = {"sklearn KernelRidge": settings.theirs("ridge", data, "--gamma", gamma, "--alpha", alpha, "--repeat", 2)}
    return interleave(settings, "ridge", f"n={n} d={d}", ours, others, pick=fit_seconds)


def kernel_pca(settings):
    n, d, gamma, components = (1500 if settings.quick else 4000), 10, 0.5, 8
    data = settings.make("table_data", "table.csv", n, d)
    ours = fit(settings, "kernel_pca", f"rbf(gamma={gamma})", data, "--components", components)
    rest = [data, "--gamma", gamma, "--components", components, "--repeat", 2]
    others = {"sklearn KernelPCA": settings.theirs("kernel_pca", *rest)}
    return interleave(settings, "kernel_pca", f"n={n} d={d}, {components} components", ours, others, pick=fit_seconds)


CASES = {
    "rbf_f64": rbf_f64,
    "rbf_f32": rbf_f32,
    "product_f64": product_f64,
    "rbf_sparse": rbf_sparse,
    "stream": stream,
    "spectrum": spectrum,
    "svc_usps": svc_usps,
    "svc_a9a": svc_a9a,
    "ridge": ridge,
    "kernel_pca": kernel_pca,
}
GROUPS = {
    "gram": ["rbf_f64", "rbf_f32", "product_f64", "rbf_sparse"],
    "svc": ["svc_usps", "svc_a9a"],
}


# -------------------------------------------------------------------------------------------------------------- report


def say(text):
    print(f"  {text}", file=sys.stderr, flush=True)


def show(seconds):
    return f"{statistics.median(seconds):.3g}" if seconds else "–"


def describe_ratio(row):
    ratios = row.ratios()
    if not ratios:
        return "–", "–"
    spread = f"{min(ratios):.2f}–{max(ratios):.2f}" if len(ratios) > 1 else "one run"
    return f"{statistics.median(ratios):.2f}", spread


def markdown(rows, settings, load):
    words = "quick" if settings.quick else "full"
    machine = (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {settings.threads} threads for both sides"
    )
    lines = [
        f"# mercer against others ({words} run)",
        "",
        f"{time.strftime('%Y-%m-%d')}, {machine}; load average {load[0]:.1f} at the start, {load[1]:.1f} at the end.",
        "",
        "Ratio: their time divided by ours, median of the rounds; above 1 mercer is faster. Spread: smallest and largest",
        "ratio of a round. Seconds are medians.",
        "",
        "| case | size | against | ratio | spread | rounds | mercer s | other s | notes |",
        "|---|---|---|---:|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        ratio, spread = describe_ratio(row)
        notes = "; ".join(row.notes + ([f"FAILED: {row.failed}"] if row.failed else [])).replace("|", "/")
        cells = [
            row.case,
            row.size,
            row.versus,
            ratio,
            spread,
            len(row.ratios()),
            show(row.ours),
            show(row.theirs),
            notes,
        ]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def write_csv(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["case", "size", "against", "round", "mercer_seconds", "other_seconds", "ratio", "notes", "failed"]
        )
        for row in rows:
            rounds = max(len(row.ours), len(row.theirs), 1)
            for k in range(rounds):
                ours = row.ours[k] if k < len(row.ours) else ""
                theirs = row.theirs[k] if k < len(row.theirs) else ""
                ratio = theirs / ours if ours and theirs else ""
                numbers = [k + 1, ours, theirs, ratio]
                writer.writerow([row.case, row.size, row.versus, *numbers, "; ".join(row.notes), row.failed])


def load_average():
    try:
        return os.getloadavg()[0]
    except OSError:
        return math.nan


def chosen(only):
    if not only:
        return list(CASES)
    names = []
    for name in only.split(","):
        if name not in CASES and name not in GROUPS:
            raise SystemExit(f"no case {name}; there are {', '.join([*GROUPS, *CASES])}")
        names += [n for n in GROUPS.get(name, [name]) if n not in names]
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, three rounds, under five minutes")
    parser.add_argument("--only", help=f"cases, separated by commas: {', '.join([*GROUPS, *CASES])}")
    parser.add_argument("--mercer", default=TARGET / "release" / "mercer", help="the command line")
    parser.add_argument(
        "--bench-gram", default=TARGET / "release" / "examples" / "bench_gram", help="the bench program"
    )
    parser.add_argument("--no-build", action="store_true", help="do not call cargo")
    parser.add_argument("--data", default=os.environ.get("MERCER_DATA", "data"), help="folder of real data sets")
    parser.add_argument("--threads", type=int, default=2, help="for both sides")
    parser.add_argument("--repeat", type=int, help="rounds (default 5, quick 3; a9a in full takes one)")
    parser.add_argument("--limit", type=int, default=900, help="seconds after which one run is stopped")
    parser.add_argument("--env", default=TARGET / "bench-env", help="where the other libraries are installed")
    parser.add_argument("--results", default=HERE / "results", help="where latest.md and latest.csv go")
    args = parser.parse_args()
    names = chosen(args.only)
    with tempfile.TemporaryDirectory(prefix="mercer-bench-") as temp:
        settings = Settings(args, Path(temp))
        try:
            settings.python = environment(Path(args.env).resolve())
        except (OSError, subprocess.CalledProcessError) as error:
            raise SystemExit(f"the environment cannot be made: {error}") from error
        if not args.no_build:
            build()
        before, rows = load_average(), []
        for name in names:
            say(name)
            try:
                rows += CASES[name](settings)
            except Failed as error:
                rows.append(Row(name, "–", "–", failed=str(error)))
            except (OSError, ValueError, LookupError, TypeError) as error:  # what a program printed was not as expected
                rows.append(Row(name, "–", "–", failed=f"{type(error).__name__}: {error}"))
    text = markdown(rows, settings, (before, load_average()))
    results = Path(args.results)
    results.mkdir(parents=True, exist_ok=True)
    (results / "latest.md").write_text(text, encoding="utf-8")
    write_csv(results / "latest.csv", rows)
    print(text)
    return 1 if any(row.failed for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
