"""Reading files, next to pandas and scikit-learn: python3 bench/formats.py [--rounds 7] [--megabytes 200].

Both sides run in processes of their own and in turn; a round gives one ratio, their time divided by ours. The table shows
the median of the rounds and their smallest and largest. Sums of all numbers are compared. Needs pandas and scikit-learn
in the Python that runs this, and sets of LIBSVM text in --data or $MERCER_DATA (libsvm/a9a.svm.gz, text/sector.svm.gz).
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
if file.endswith(".csv"):
    import pandas
    start = time.perf_counter()
    data = pandas.read_csv(file, engine="c")
    seconds = time.perf_counter() - start
    total, rows = float(data.to_numpy().sum()), len(data)
else:
    from sklearn.datasets import load_svmlight_file
    start = time.perf_counter()
    data, labels = load_svmlight_file(file)
    seconds = time.perf_counter() - start
    total, rows = float(data.sum() + labels.sum()), data.shape[0]
print(json.dumps({"rows": rows, "sum": total, "seconds": seconds}))
"""


def numbers(path, kind, megabytes):
    """A CSV file of about so many megabytes."""
    import numpy as np

    rng = np.random.default_rng(0)
    columns = 784 if kind == "pixels" else 20
    with open(path, "w") as out:
        out.write(",".join(f"c{k}" for k in range(columns)) + "\n")
        while out.tell() < megabytes * 1_000_000:
            if kind == "pixels":
                block = rng.integers(0, 256, (1000, columns)) * (rng.random((1000, columns)) < 0.2)
                lines = (",".join(map(str, row)) for row in block.tolist())
            else:
                block = rng.standard_normal((10_000, columns))
                block = block.round(4) if kind == "short" else block
                lines = (",".join(map(repr, row)) for row in block.tolist())
            out.write("\n".join(lines) + "\n")


def run(command):
    """The JSON document that a command prints."""
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    """Times all cases and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--megabytes", type=int, default=200)
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
    print("| file | MB | ours, s | theirs, s | times faster | |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        cases = [(f"{kind}.csv", kind) for kind in ("pixels", "short", "long")]
        sets = ["libsvm/a9a.svm.gz", "text/sector.svm.gz"]
        cases += [(Path(name).stem, Path(options.data) / name) for name in sets if options.data]
        for name, what in cases:
            path = Path(folder) / name
            if isinstance(what, str):
                numbers(path, what, options.megabytes)
            else:
                with gzip.open(what) as packed, open(path, "wb") as out:
                    shutil.copyfileobj(packed, out)
            ours, theirs = [], []
            for _ in range(options.rounds):
                ours.append(run([program, str(path)]))
                theirs.append(run([sys.executable, "-c", THEIRS, str(path)]))
            ratios = [t["seconds"] / o["seconds"] for o, t in zip(ours, theirs)]
            size = abs(theirs[0]["sum"]) + theirs[0]["rows"]
            same = abs(ours[0]["sum"] - theirs[0]["sum"]) <= 1e-9 * size and ours[0]["rows"] == theirs[0]["rows"]
            failed |= not same
            seconds = [statistics.median(side["seconds"] for side in sides) for sides in (ours, theirs)]
            print(
                f"| {name} | {path.stat().st_size / 1e6:.0f} | {seconds[0]:.3f} | {seconds[1]:.3f} "
                f"| {statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f}) "
                f"| {'same sums' if same else 'SUMS DIFFER'} |",
                flush=True,
            )
            path.unlink()
    print(f"\nload at the end {os.getloadavg()[0]:.1f}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
