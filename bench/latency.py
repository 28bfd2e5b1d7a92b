"""Latency: what one example costs, beside what it costs in a batch, and beside scikit-learn's.

    python bench/latency.py [--rounds 9] [--results bench/results]

Needs the installed package (`pip install .`, release mode) and scikit-learn; prints a Markdown table and writes latency.md.
Both sides of a ratio run in the same process and in turn, so that a slow minute of the machine hits both. A time is the median
of many calls; the ratio shown is the median over the rounds, the spread the smallest and the largest.

| row | one side | the other |
|---|---|---|
| `string` | one string through a model that is held (mismatch kernel, 4 000 strings) | its share of a batch of 4 000, on one thread |
| `row` | `mercer.load(m).predict` of one row (RBF, about 500 support vectors, 20 columns) | 40 µs, the goal |
| `svc` | `mercer.SVC.predict` of one row | scikit-learn's `SVC.predict` of the same fit and row |
| `svc_batch` | `mercer.SVC.predict` of 2 000 rows, on one thread | scikit-learn's |
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import mercer
import numpy as np
import sklearn
import sklearn.svm

GOAL = 40e-6


def seconds(work: Callable[[], object], calls: int) -> float:
    """The median time of a call."""
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def strings(random: np.random.Generator, n: int) -> list[str]:
    """Sequences of sixty letters over an alphabet of four."""
    return ["".join(row) for row in random.choice(list("ACGT"), size=(n, 60))]


def string_case(random: np.random.Generator) -> tuple[Callable[[], float], Callable[[], float]]:
    """One string alone, and its share of a batch."""
    training, new = strings(random, 4000), strings(random, 4000)
    y = np.array([s.count("A") + s.count("C") > 30 for s in training])
    fitted = mercer.SVC(kernel=mercer.kernels.kernel("normalise(mismatch(length=4, mismatches=1))"), n_jobs=1).fit(training, y)
    fitted.predict(new[:1])
    return lambda: seconds(lambda: fitted.predict(new[:1]), 200), lambda: seconds(lambda: fitted.predict(new), 1) / len(new)


def vectors(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training rows with noisy classes, so that some 500 become support vectors, and new rows."""
    x = random.normal(size=(1200, 20))
    y = (x[:, 0] + 0.5 * x[:, 1] + 0.6 * random.normal(size=len(x)) > 0).astype(int)
    return x, y, random.normal(size=(2000, 20))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--results", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    random = np.random.default_rng(1)
    x, y, new = vectors(random)
    ours = mercer.SVC(C=1.0, gamma=0.05, n_jobs=1).fit(x, y)
    theirs = sklearn.svm.SVC(C=1.0, gamma=0.05).fit(x, y)
    if (ours.predict(new) != theirs.predict(new)).mean() > 0.002:
        print("RESULTS DIFFER: the two machines do not predict alike", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.mercer"
        ours.save(path)
        loaded = mercer.load(path)
    one = np.ascontiguousarray(new[:1])
    loaded.predict(one)
    cases = {
        "string": string_case(random),
        "row": (lambda: seconds(lambda: loaded.predict(one, n_jobs=1), 2000), lambda: GOAL),
        "svc": (lambda: seconds(lambda: ours.predict(one), 1000), lambda: seconds(lambda: theirs.predict(one), 1000)),
        "svc_batch": (lambda: seconds(lambda: ours.predict(new), 5), lambda: seconds(lambda: theirs.predict(new), 5)),
    }
    lines = [
        f"{len(ours.support_)} support vectors; scikit-learn {sklearn.__version__}; {options.rounds} rounds.",
        "",
        "| row | one side | the other | ratio | spread |",
        "|---|---|---|---|---|",
    ]
    for name, (left, right) in cases.items():
        rounds = [(left(), right()) for _ in range(options.rounds)]
        ratios = [a / b for a, b in rounds]
        middle = [1e6 * statistics.median(side) for side in zip(*rounds)]
        lines.append(
            f"| `{name}` | {middle[0]:.1f} µs | {middle[1]:.1f} µs | {statistics.median(ratios):.2f} "
            f"| {min(ratios):.2f} – {max(ratios):.2f} |"
        )
    table = "\n".join(lines)
    print(table)
    options.results.mkdir(parents=True, exist_ok=True)
    (options.results / "latency.md").write_text("# Latency\n\n" + table + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
