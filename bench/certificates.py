"""Compare what certifying a support vector classifier costs with the fit itself, in one process and in turn.

    python bench/certificates.py --data DIR [--repeat 9] [--results bench/results]

Runs with the installed package. All certificates that need no further kernel matrix (`certify` without `thorough` and
`evidence`) on sets of at least 5000 examples, with the examples in memory as they were for the fit. The ratio shown is the
median over the rounds with the smallest and the largest; beside it the ratio of what is spent in Rust on both sides, without
Python's checks of arrays and objects for certificates. The table goes to results/certificates.md.
"""

import argparse
import gzip
import os
import statistics
import time
from pathlib import Path

import mercer
import numpy as np
from mercer import _native
from mercer.svm import SVC
from sklearn.datasets import load_svmlight_file


def plain(name):
    """A set of numbers whose last column is the class."""

    def load(data):
        with gzip.open(data / "raetsch" / f"{name}.csv.gz", "rt") as file:
            table = np.loadtxt(file, delimiter=",")
        return table[:, :-1], table[:, -1]

    return load


def a9a(data):
    x, y = load_svmlight_file(str(data / "libsvm" / "a9a.svm.gz"))
    return x, y


def usps(data):
    with gzip.open(data / "usps" / "usps.train.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    return table[:, :-1], table[:, -1] == table[0, -1]


# set, loader, C, γ
CASES = [
    ("banana", plain("banana"), 1.0, 1.0),
    ("ringnorm", plain("ringnorm"), 1.0, 0.05),
    ("usps, first digit", usps, 10.0, 0.0078),
    ("a9a", a9a, 1.0, 1 / 123),
]


class Inside:
    """A function of the extension module that adds up its time."""

    def __init__(self, name):
        self.of, self.seconds = getattr(_native, name), 0.0
        setattr(_native, name, self)

    def __call__(self, *args, **more):
        start = time.perf_counter()
        try:
            return self.of(*args, **more)
        finally:
            self.seconds += time.perf_counter() - start


def duel(load, c, gamma, data, repeat, inside):
    """Examples, support vectors, and the seconds of each round: fit, certify, and both inside."""
    x, y = load(data)
    rounds = []
    for _ in range(repeat):
        machine = SVC(C=c, gamma=gamma)
        inside["fit"].seconds = inside["certify"].seconds = 0.0
        start = time.perf_counter()
        machine.fit(x, y)
        middle = time.perf_counter()
        machine.certify(x, y)
        end = time.perf_counter()
        rounds.append((middle - start, end - middle, inside["fit"].seconds, inside["certify"].seconds))
    return x.shape[0], int(machine.n_support_.sum()), rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("MERCER_DATA"))
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--results", type=Path, default=Path(__file__).resolve().parent / "results")
    flags = parser.parse_args()
    if flags.data is None:
        raise SystemExit("certificates.py: no data; give --data DIR or set MERCER_DATA")
    lines = [
        "# What certificates cost",
        "",
        f"mercer {mercer.__version__}, {flags.repeat} rounds, load {os.getloadavg()[0]:.1f}. Seconds are medians; the ratio is that of certifying to fitting.",
        "",
        "| set | examples | support vectors | fit, ms | certify, ms | ratio | in Rust: fit, ms | certify, ms | ratio |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    inside = {"fit": Inside("fit"), "certify": Inside("certify")}
    for name, load, c, gamma in CASES:
        examples, support, rounds = duel(load, c, gamma, Path(flags.data), flags.repeat, inside)
        cells = [name, str(examples), str(support)]
        for fit, certify in ((0, 1), (2, 3)):
            ratios = sorted(r[certify] / r[fit] for r in rounds)
            cells += [f"{1e3 * statistics.median(r[i] for r in rounds):.1f}" for i in (fit, certify)]
            cells.append(f"{statistics.median(ratios):.3f} ({ratios[0]:.3f}–{ratios[-1]:.3f})")
        lines.append("| " + " | ".join(cells) + " |")
    text = "\n".join(lines) + "\n"
    print(text)
    flags.results.mkdir(parents=True, exist_ok=True)
    (flags.results / "certificates.md").write_text(text)


if __name__ == "__main__":
    main()
