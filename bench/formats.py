"""Reading files, next to pandas and scikit-learn: python3 bench/formats.py [--rounds 7] [--megabytes 200].

Every reading is a process of its own, whose file lies in memory already; sides take turns. What is timed, imports and
the start of a process left out:

- CSV: from the name of a file to a table, columns of f64 in memory (`read`), next to `pandas.read_csv(file)`, whose
  engine is the one in C; and from the name to a matrix row after row (`Schema::learn_and_apply` without scaling), next
  to `pandas.read_csv(file).to_numpy()` in the same order.
- LIBSVM text: from the name to labels and sparse rows, next to `load_svmlight_file(file)`.

A round gives one ratio, their time divided by ours. The table shows the median of the rounds and their smallest and
largest, and the megabytes a second of ours. Sums of all numbers are compared. Needs pandas and scikit-learn in the
Python that runs this, and sets of LIBSVM text in --data or $MERCER_DATA (libsvm/a9a, text/sector, text/reuters21578,
each .svm.gz).
"""

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

THEIRS = """
import json, sys, time
file = sys.argv[1]
whole = None
if file.endswith(".csv"):
    import pandas
    start = time.perf_counter()
    data = pandas.read_csv(file)
    seconds = time.perf_counter() - start
    rows = len(data)
    if all(kind.kind in "if" for kind in data.dtypes):
        matrix = data.to_numpy(dtype=float).copy(order="C")
        whole = time.perf_counter() - start
        total = float(matrix.sum())
    else:
        total = float(sum(c.str.len().sum() if c.dtype.kind not in "if" else c.sum() for _, c in data.items()))
else:
    from sklearn.datasets import load_svmlight_file
    start = time.perf_counter()
    data, labels = load_svmlight_file(file)
    seconds = time.perf_counter() - start
    total, rows = float(data.sum() + labels.sum()), data.shape[0]
print(json.dumps({"rows": rows, "sum": total, "seconds": seconds, "whole": whole}))
"""
WORDS = ["alpha", "beta", "gamma, delta", 'say ""x""', "plain words here", "two\nlines"]


def numbers(path, kind, megabytes):
    """A CSV file of about so many megabytes: whole numbers, four places, all places, or quoted words between numbers."""
    import numpy as np

    rng = np.random.default_rng(0)
    columns = {"pixels": 784, "quoted": 5}.get(kind, 20)
    with open(path, "w", newline="") as out:
        out.write(",".join(f"c{k}" for k in range(columns)) + "\n")
        while out.tell() < megabytes * 1_000_000:
            if kind == "pixels":
                block = rng.integers(0, 256, (1000, columns)) * (rng.random((1000, columns)) < 0.2)
                lines = (",".join(map(str, row)) for row in block.tolist())
            elif kind == "quoted":
                words, reals = rng.integers(0, len(WORDS), 10_000), rng.standard_normal((10_000, 2)).round(4)
                rows = zip(words.tolist(), reals.tolist())
                lines = (f'{k},"{WORDS[k]}",{a!r},town{k},{b!r}' for k, (a, b) in rows)
            else:
                block = rng.standard_normal((10_000, columns))
                block = block.round(4) if kind == "short" else block
                lines = (",".join(map(repr, row)) for row in block.tolist())
            out.write("\n".join(lines) + "\n")


def spread(ours, theirs, what):
    """The median ratio of the rounds, and the smallest and the largest."""
    ratios = [t[what] / o[what] for o, t in zip(ours, theirs) if t[what] is not None]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})" if ratios else ""


def run(command):
    """The JSON document that a command prints."""
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    """Times all cases and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--threads", type=int, default=0, help="threads of ours [default: one for each core]")
    parser.add_argument("--data", default=os.environ.get("MERCER_DATA"))
    parser.add_argument("--program", help="bench_read that has been built already")
    options = parser.parse_args()
    program = options.program
    if program is None:
        build = ["cargo", "build", "--release", "--package", "mercer", "--example", "bench_read"]
        subprocess.run(build, check=True, cwd=ROOT)
        program = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/bench_read"
    failed = False
    print(f"load at the start {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores\n")
    print("| file | MB | ours, s | ours, MB/s | theirs, s | times faster | times faster to a matrix | |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        cases = [(f"{kind}.csv", kind) for kind in ("pixels", "short", "long", "quoted")]
        sets = ["libsvm/a9a.svm.gz", "text/sector.svm.gz", "text/reuters21578.svm.gz"]
        cases += [(Path(name).stem, Path(options.data) / name) for name in sets if options.data]
        for name, what in cases:
            path = Path(folder) / name
            if isinstance(what, str):
                numbers(path, what, options.megabytes)
            else:
                with gzip.open(what) as packed, open(path, "wb") as out:
                    shutil.copyfileobj(packed, out)
            ours, theirs = [], []
            # a first reading brings the file into memory and is not counted
            for _ in range(options.rounds + 1):
                ours.append(run([program, str(path), str(options.threads)]))
                theirs.append(run([sys.executable, "-c", THEIRS, str(path)]))
            ours, theirs = ours[1:], theirs[1:]
            size = abs(theirs[0]["sum"]) + theirs[0]["rows"]
            same = abs(ours[0]["sum"] - theirs[0]["sum"]) <= 1e-9 * size and ours[0]["rows"] == theirs[0]["rows"]
            failed |= not same
            seconds = [statistics.median(side["seconds"] for side in sides) for sides in (ours, theirs)]
            megabytes = path.stat().st_size / 1e6
            print(
                f"| {name} | {megabytes:.0f} | {seconds[0]:.3f} | {megabytes / seconds[0]:.0f} | {seconds[1]:.3f} "
                f"| {spread(ours, theirs, 'seconds')} | {spread(ours, theirs, 'whole')} "
                f"| {'same sums' if same else 'SUMS DIFFER'} |",
                flush=True,
            )
            path.unlink()
    print(f"\nload at the end {os.getloadavg()[0]:.1f}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
