"""Compare the ANOVA kernel matrix with NumPy's recursion over all pairs at once.

    python3 bench/kernels.py [--bench-gram target/release/examples/bench_gram] [--n 2000] [--d 50] [--degree 3] [--repeat 5] [--threads 2]

Needs NumPy, and `cargo build --release --example bench_gram`. Both sides run in processes of their own and in turn, each
twice, of which the first is dropped; the ratio of a round is NumPy's time over mercer's.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def recursion(x, degree):
    """K_s += x_j x_jᵀ K_{s−1} over the coordinates, on whole matrices, in place."""
    import numpy as np

    n = len(x)
    levels = [np.zeros((n, n)) for _ in range(degree)]
    product, step = np.empty((n, n)), np.empty((n, n))
    for column in np.ascontiguousarray(x.T):
        np.multiply.outer(column, column, out=product)
        for s in range(degree - 1, 0, -1):
            np.multiply(product, levels[s - 1], out=step)
            levels[s] += step
        levels[0] += product
    return levels[-1]


def theirs(path, degree):
    import numpy as np

    x = np.load(path)
    n, seconds = len(x), []
    for _ in range(2):
        started = time.perf_counter()
        k = recursion(x, degree)
        seconds.append(time.perf_counter() - started)
    print(json.dumps({"seconds": seconds, "check": [k[0, 1], k[n - 1, 0], k[n // 2].sum()]}))


def ask(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    answer = json.loads(done.stdout)
    return answer["seconds"][-1], answer["check"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench-gram", default=ROOT / "target/release/examples/bench_gram")
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--d", type=int, default=50)
    parser.add_argument("--degree", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--theirs", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.theirs:
        return theirs(args.theirs, args.degree)
    import numpy as np

    ratios, mine, other = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        np.save(path, np.random.default_rng(1).standard_normal((args.n, args.d)))
        program = [args.bench_gram, "anova", path, "--length", args.degree, "--threads", args.threads, "--repeat", 2]
        for _ in range(args.repeat):
            seconds, check = ask(program)
            their_seconds, their_check = ask([sys.executable, __file__, "--theirs", path, "--degree", args.degree])
            if not np.allclose(check, their_check, rtol=1e-9):
                sys.exit(f"RESULTS DIFFER: {check} against {their_check}")
            mine.append(seconds)
            other.append(their_seconds)
            ratios.append(their_seconds / seconds)
    print(f"anova(degree={args.degree}), n={args.n}, d={args.d}, f64: same results")
    print(f"mercer {statistics.median(mine):.3f} s, numpy {statistics.median(other):.3f} s")
    print(f"ratio {statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f}, {len(ratios)} rounds)")
    print(f"load average {os.getloadavg()[0]:.1f}")
    return None


if __name__ == "__main__":
    main()
