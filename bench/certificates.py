"""Compare what certifying a support vector classifier costs with the fit itself, in one process and in turn.

    python bench/certificates.py --data DIR [--repeat 9] [--results bench/results]

Runs with the installed package. All certificates that need no further kernel matrix (`certify` without `thorough` and
`evidence`) on sets of at least 5000 examples, with the examples in memory as they were for the fit. The ratio shown is the
median over the rounds with the smallest and the largest. The table goes to results/certificates.md.
"""

import argparse
import gzip
import os
import statistics
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

import mercer
from mercer.svm import SVC


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


def duel(load, c, gamma, data, repeat):
    """Examples, support vectors, and the seconds of each round."""
    x, y = load(data)
    rounds = []
    for _ in range(repeat):
        machine = SVC(C=c, gamma=gamma)
        start = time.perf_counter()
        machine.fit(x, y)
        middle = time.perf_counter()
        machine.certify(x, y)
        rounds.append((middle - start, time.perf_counter() - middle))
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
        "| set | examples | support vectors | fit, ms | certify, ms | ratio | smallest – largest |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, load, c, gamma in CASES:
        examples, support, rounds = duel(load, c, gamma, Path(flags.data), flags.repeat)
        ratios = sorted(told / fitted for fitted, told in rounds)
        fitted, told = (1e3 * statistics.median(r[i] for r in rounds) for i in (0, 1))
        lines.append(
            f"| {name} | {examples} | {support} | {fitted:.1f} | {told:.1f} | {statistics.median(ratios):.3f} "
            f"| {ratios[0]:.3f} – {ratios[-1]:.3f} |"
        )
    text = "\n".join(lines) + "\n"
    print(text)
    flags.results.mkdir(parents=True, exist_ok=True)
    (flags.results / "certificates.md").write_text(text)


if __name__ == "__main__":
    main()
