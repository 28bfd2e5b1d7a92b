"""Compare mercer's incomplete Cholesky decomposition with R kernlab's `inchol`, side by side on this machine.

    python3 bench/incomplete_cholesky.py [--data DIR] [--mercer target/release/mercer] [--repeat 3] [--quick]

Rank 500 of a Gaussian kernel on 50 000 examples: normal vectors of 20 coordinates and, if DIR holds libsvm/ijcnn1.svm.gz,
the 49 990 of ijcnn1. It makes an environment with NumPy and scikit-learn under target/strings-env. Both sides run in
processes of their own and in turn, time themselves without reading files, and the ratio shown is the median over the rounds
with the smallest and the largest. Peak memory is what the system reports for the whole process. The choices are compared: a
chosen example has no coordinate after its own, so kernlab's choices in mercer's coordinates form a lower triangle if and
only if both chose the same in the same order. Beside them, for orientation, scikit-learn's Nystroem with as many components, whose
examples are drawn at random: a greedy choice makes the largest residual small, which need not make their sum smaller.
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
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def environment():
    """Runs this script again where the other libraries are."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        folder = TARGET / "strings-env"
        python = folder / "bin" / "python"
        if not python.exists():
            venv.create(folder, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy", "scipy", "scikit-learn"], check=True)
        os.execv(python, [str(python), *sys.argv])


# a small process starts the command: memory of the one that starts it counts as the command's own
WATCH = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(child.pid, 0)
print(usage.ru_maxrss * 1024, file=sys.stderr)
sys.exit(0 if status == 0 else 1)
"""


def measured(command):
    """What a command prints, and its peak memory in bytes."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", WATCH, *map(str, command)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed: {done.stderr}")
    return done.stdout, int(done.stderr.split()[-1])


class Case:
    def __init__(self, name, x, gamma, rank, folder):
        import numpy as np

        self.name, self.x, self.gamma, self.rank = name, x, gamma, rank
        self.folder = Path(folder)
        self.npy, self.raw = self.folder / f"{name}.npy", self.folder / f"{name}.raw"
        np.save(self.npy, x)
        x.tofile(self.raw)

    def ours(self, binary):
        """Seconds of the fit, peak memory, and what the solver reports."""
        self.model = self.folder / f"{self.name}.mercer"
        flags = ["--target", "none", "--scale", "none", "--kernel", f"rbf(gamma={self.gamma})", "--machine"]
        flags += ["incomplete_cholesky", "--components", self.rank, "--tolerance", 1e-12, "-o", self.model, "--json"]
        out, memory = measured([binary, "fit", self.npy, *flags])
        told = json.loads(out)
        return told["seconds"]["fit"], memory, told

    def theirs(self):
        import numpy as np

        result = self.folder / "result.raw"
        n, d = self.x.shape
        _, memory = measured(
            ["Rscript", ROOT / "bench" / "inchol.R", self.raw, n, d, repr(self.gamma), self.rank, result]
        )
        numbers = np.fromfile(result)
        return numbers[0], memory, numbers[1] / n, numbers[2], numbers[3:].astype(int) - 1

    def nystroem(self):
        """Seconds of scikit-learn's map, and the share of the trace that it leaves."""
        from sklearn.kernel_approximation import Nystroem

        start = time.perf_counter()
        z = Nystroem(gamma=self.gamma, n_components=self.rank, random_state=0).fit_transform(self.x)
        return time.perf_counter() - start, 1 - (z * z).sum() / len(z)

    def same_choices(self, binary, pivots):
        """How many of their first choices are ours, in the same order."""
        import numpy as np

        chosen, out = self.folder / "chosen.npy", self.folder / "coordinates.npy"
        np.save(chosen, self.x[pivots])
        measured([binary, "predict", self.model, chosen, "-o", out])
        rows = np.load(out)
        for t, row in enumerate(rows):
            if abs(row[t]) < 1e-6 or abs(row[t + 1 :]).max(initial=0) > 1e-8:
                return t
        return len(rows)


def run(case, binary, repeat, rival):
    ours, theirs, ratios = [], [], []
    for _ in range(repeat):
        seconds, memory, told = case.ours(binary)
        ours.append((seconds, memory))
        if rival:
            theirs.append(case.theirs())
            ratios.append(theirs[-1][0] / seconds)
    n, d = case.x.shape
    left = told["notes"]["residual_trace"]
    middle = statistics.median(s for s, _ in ours)
    row = f"| {case.name}, {n} × {d}, rank {case.rank} | mercer | {middle:.2f} s |"
    print(f"{row} {max(m for _, m in ours) / 1e6:.0f} MB | {left:.6f} | |", flush=True)
    if rival:
        middle = statistics.median(t[0] for t in theirs)
        memory = max(t[1] for t in theirs) / 1e6
        spread = f"{statistics.median(ratios):.1f} ({min(ratios):.1f}–{max(ratios):.1f})"
        print(f"| | kernlab inchol | {middle:.2f} s | {memory:.0f} MB | {theirs[-1][2]:.6f} | {spread} |", flush=True)
        same = case.same_choices(binary, theirs[-1][4])
        print(f"| | the same choices | {same} of {len(theirs[-1][4])} | | | |", flush=True)
    seconds, rest = case.nystroem()
    times = f"{seconds / statistics.median(s for s, _ in ours):.1f}"
    print(f"| | scikit-learn Nystroem | {seconds:.2f} s | | {rest:.6f} | {times} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("MERCER_DATA"))
    parser.add_argument("--mercer", type=Path, default=TARGET / "release" / "mercer")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a tenth of the examples, rank 100")
    options = parser.parse_args()
    environment()
    import numpy as np

    if not options.mercer.exists():
        subprocess.run(["cargo", "build", "--release", "-p", "mercer-cli"], cwd=ROOT, check=True)
    rival = shutil.which("Rscript") is not None and (
        subprocess.run(["Rscript", "-e", "library(kernlab)"], capture_output=True).returncode == 0
    )
    if not rival:
        print("R with kernlab is not here; its rows are left out\n")
    n, rank = (5000, 100) if options.quick else (50_000, 500)
    print("| case | program | median time | peak memory | trace left | times faster (least–most) |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        x = np.random.default_rng(0).normal(size=(n, 20))
        run(Case("normal", x, 0.05, rank, folder), options.mercer, options.repeat, rival)
        path = options.data / "libsvm" / "ijcnn1.svm.gz" if options.data else None
        if path and path.exists():
            from sklearn.datasets import load_svmlight_file

            with gzip.open(path, "rb") as file:
                x = load_svmlight_file(file)[0].toarray()[:n]
            run(Case("ijcnn1", np.ascontiguousarray(x), 1.0, rank, folder), options.mercer, options.repeat, rival)


if __name__ == "__main__":
    main()
