"""Race mercer's support vector machines against scikit-learn, scikit-learn-intelex, LIBSVM, LIBLINEAR and libsvm-rs.

    python3 bench/race.py [--quick] [--only a9a,usps] [--peers sklearn,libsvm] [--resume] [--data DIR]
    python3 bench/race.py --shapes [SEED]        twelve sets that nobody has tuned for
    python3 bench/race.py --dense                six sets of dense vectors with many columns

Needs Python and cargo: it makes an environment with the peers under target/race-env, builds mercer and the Rust peer, runs
all duels and writes bench/results/race.md, race.csv and race.svg after each of them. See bench/README.md.

This script imports nothing outside the standard library, also because a child's peak memory is never counted as less
than that of the process that started it.
"""

import argparse
import ast
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from racing import catalogue, special
from racing.duel import Course, Failed, blank, child, duel, last_line, say
from racing.report import Book, Ratio, exponent, scaling_points

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
NEEDED = ("numpy", "scipy", "scikit-learn", "matplotlib")
PACKAGE_OF = {"intelex": "scikit-learn-intelex", "libsvm": "libsvm-official", "liblinear": "liblinear-official"}


class Settings:
    """Where things are and how much to do."""

    def __init__(self, args, temp):
        self.quick, self.trial, self.threads, self.temp = args.quick, args.rows, args.threads, temp
        self.rounds, self.begun = args.repeat, time.monotonic()
        self.budget = args.budget or (480.0 if args.quick else math.inf)
        self.limit = args.limit or (60.0 if args.quick else 1800.0)
        self.mode = f"trial of {args.rows} rows" if args.rows else "quick" if args.quick else "full"
        self.data, self.results = Path(args.data).resolve(), Path(args.results).resolve()
        self.data_dir = TARGET / "race-data"
        self.data_version = constant(HERE / "racing" / "sets.py", "VERSION")
        self.mercer = Path(args.mercer).resolve()
        self.libsvm_rs = TARGET / "libsvm_rs" / "release" / "race-libsvm-rs"
        self.python, self.missing, self.versions = None, {}, ""
        self.peers = args.peers.split(",") if args.peers else list(catalogue.PEERS)
        self.load = os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan
        # settings of OpenBLAS for one kind of processor would slow the other side down
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
        for name in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "BLIS_NUM", "VECLIB_MAXIMUM", "NUMEXPR_NUM", "RAYON_NUM"):
            self.env[f"{name}_THREADS"] = str(args.threads)

    def cut(self, quick):
        """How many rows to take: 0 for all."""
        return self.trial or (quick if self.quick else 0)

    def late(self):
        """Why nothing more is begun, once the time for the whole race is over."""
        if time.monotonic() - self.begun < self.budget:
            return ""
        return f"not tried: the {self.budget:g} s of the whole race were over; --resume goes on"

    def wants(self, peer):
        return peer in self.peers


def constant(path, name):
    """A number that a module defines, without importing it (it needs NumPy)."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == name:
            return ast.literal_eval(node.value)
    raise KeyError(name)


# -------------------------------------------------------------------------------------------------------------- building


def environment(folder, missing):
    """A virtual environment with the peers; made again when the requirements have changed.

    A peer that cannot be installed gets its reason into `missing`; without NumPy and scikit-learn there is no race.
    """
    wanted = (HERE / "race-requirements.txt").read_text()
    stamp, python = folder / "requirements.txt", folder / "bin" / "python"
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    say(f"making {folder.name} …")
    venv.create(folder, with_pip=True, clear=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.run([*pip, "-r", HERE / "race-requirements.txt"], check=False).returncode == 0:
        stamp.write_text(wanted)
        return python
    for line in wanted.split():  # one of them fails: the others can still run
        done = subprocess.run([*pip, line], capture_output=True, text=True, check=False)
        package = line.split("==")[0]
        if done.returncode and package in NEEDED:
            raise SystemExit(f"{package} cannot be installed: {last_line(done.stderr)}")
        for peer in (p for p, name in PACKAGE_OF.items() if name == package and done.returncode):
            missing[peer] = f"{package} cannot be installed: {last_line(done.stderr)[:120]}"
    return python


def cargo(*rest):
    if shutil.which("cargo") is None:
        return "cargo is not there"
    done = subprocess.run(["cargo", "build", "--release", "--quiet", *rest], cwd=ROOT, capture_output=True, text=True)
    return f"it cannot be built: {last_line(done.stderr)[:120]}" if done.returncode else ""


def build(settings, own):
    if own:
        fault = cargo("-p", "mercer-cli")
        if fault:
            say(f"mercer: {fault}")
    project = str(HERE / "libsvm_rs" / "Cargo.toml")
    fault = cargo("--locked", "--manifest-path", project, "--target-dir", str(TARGET / "libsvm_rs"))
    if fault and not settings.libsvm_rs.exists():
        settings.missing["libsvm_rs"] = fault


def versions(settings):
    """Who takes part, in one sentence."""
    script = "import importlib.metadata as m, json, sys; print(json.dumps({p: m.version(p) for p in sys.argv[1:]}))"
    packages = ["scikit-learn", *(package for peer, package in PACKAGE_OF.items() if peer not in settings.missing)]
    found, _ = child([settings.python, "-c", script, *packages], settings.env, 60)
    words = [f"{name} {version}" for name, version in found.items()]
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    ours = f"mercer at {git.stdout.strip()}" if git.returncode == 0 else "mercer"
    return f"{ours} against " + ", ".join([*words, "libsvm-rs 0.9.2"])


# --------------------------------------------------------------------------------------------------------------- drawing


def draw(settings, book):
    ratios = []
    for (case, peer), records in book.duels().items():
        if peer not in catalogue.PEERS or case.startswith("scaling"):
            continue
        for what, name in (("training", "fit"), ("prediction", "predict")):
            ratio = Ratio(records, name)
            if ratio.all:
                spread = {"low": min(ratio.all), "middle": ratio.median(), "high": max(ratio.all), "bound": ratio.bound}
                ratios.append({"case": case, "peer": peer, "title": catalogue.PEERS[peer], "what": what} | spread)
    series = []
    for name, runs in scaling_points(book).items():
        slope = exponent(runs)
        slope = None if slope != slope else slope
        series.append({"name": name, "title": catalogue.PEERS.get(name, name), "runs": runs, "exponent": slope})
    paths = {"race": str(settings.results / "race.svg"), "race_scaling": str(settings.results / "race-scaling.svg")}
    work = settings.temp / "draw.json"
    work.write_text(json.dumps({"ratios": ratios, "scaling": series} | paths))
    try:
        child([settings.python, HERE / "racing" / "draw.py", work], settings.env, 120)
    except Failed as error:
        say(f"no plot: {error}")


# ---------------------------------------------------------------------------------------------------------------- racing


def race(settings, book, names):
    for name in names:
        try:
            if name in special.RUN:
                if settings.late() and name != "scaling":  # whose sizes have rows of their own
                    raise Failed(settings.late())
                special.RUN[name](settings, book)
            else:
                race_set(settings, book, catalogue.SETS[name])
        except Failed as error:  # the data are not there, or not as expected, or the time is over
            book.add([blank(settings, name, "–", str(error))])
        if not settings.late():
            draw(settings, book)
    draw(settings, book)


def race_set(settings, book, one):
    if settings.quick and not settings.trial and not one.quick:
        return
    peers = [p for p in catalogue.TAKES_PART[one.task] if settings.wants(p) and not book.done(one.name, p)]
    if not peers:
        return
    say(one.name)
    course = None if settings.late() else Course(settings, one, settings.cut(one.quick))
    for peer in peers:
        late = settings.late()
        book.add([blank(settings, one.name, peer, late)] if late else duel(settings, course, peer, settings.rounds))


def chosen(only):
    usual = any(one.how for one in catalogue.SETS.values())
    drawn = any(name.startswith("shape-") for name in catalogue.SETS)
    known = [*catalogue.SETS, *(catalogue.SPECIALS if usual else ["grid"] if drawn else [])]
    names = only.lower().split(",") if only else known
    for name in names:
        if name not in known:
            raise SystemExit(f"no set {name}; there are {', '.join(known)}")
    return names


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few thousand rows of each set, under ten minutes")
    parser.add_argument("--only", help=f"sets, separated by commas: {', '.join([*catalogue.SETS, *catalogue.SPECIALS])}")
    parser.add_argument("--shapes", nargs="?", type=int, const=0, metavar="SEED",
                        help="race twelve sets that are drawn from a seed (the date, if none is given) instead")  # fmt: skip
    parser.add_argument("--dense", action="store_true", help="race six sets of dense vectors with many columns instead")
    parser.add_argument("--peers", help=f"some of {','.join(catalogue.PEERS)}")
    parser.add_argument("--resume", action="store_true", help="keep the finished rows of race.csv, do the rest")
    parser.add_argument("--limit", type=float, help="seconds after which a single run is stopped (1800, quick 60)")
    parser.add_argument("--budget", type=float, help="seconds after which no duel is begun (quick 480, else none)")
    parser.add_argument("--threads", type=int, default=2, help="for all sides")
    parser.add_argument("--repeat", type=int, default=3, help="rounds")
    parser.add_argument("--rows", type=int, default=0, help="cut every set to so many rows, for trials")
    parser.add_argument("--mercer", default=TARGET / "release" / "mercer", help="the program")
    parser.add_argument("--no-build", action="store_true", help="do not build mercer")
    parser.add_argument("--data", default=os.environ.get("MERCER_DATA", "data"), help="folder of real data sets")
    parser.add_argument("--env", default=TARGET / "race-env", help="where the peers are installed")
    parser.add_argument("--results", help="where the table, the timings and the plots go")
    args = parser.parse_args()
    if args.shapes is not None:
        catalogue.take_shapes(args.shapes or int(time.strftime("%Y%m%d")))
    elif args.dense:
        catalogue.take_dense()
    kind = "shapes" if args.shapes is not None else "dense" if args.dense else ""
    args.results = args.results or HERE / "results" / kind
    for peer in args.peers.split(",") if args.peers else []:
        if peer not in catalogue.PEERS:
            parser.error(f"no peer {peer}; there are {', '.join(catalogue.PEERS)}")
    return args


def main():
    args = arguments()
    names = chosen(args.only)
    with tempfile.TemporaryDirectory(prefix="mercer-race-") as temp:
        settings = Settings(args, Path(temp))
        settings.python = environment(Path(args.env).resolve(), settings.missing)
        build(settings, own=not args.no_build)
        settings.versions = versions(settings)
        book = Book(settings, args.resume)
        try:
            race(settings, book, names)
        except KeyboardInterrupt:
            say("interrupted: what is finished is written; --resume goes on")
            return 130
        print((settings.results / "race.md").read_text(encoding="utf-8"))
    return 1 if book.failed() else 0


if __name__ == "__main__":
    sys.exit(main())
