"""Compare the ANOVA kernel matrix with NumPy's recursion over all pairs at once.

    python3 bench/kernels.py [--mercer target/release/mercer] [--n 2000] [--d 50] [--degree 3] [--repeat 5] [--threads 2]

Needs NumPy. Both sides run in processes of their own and in turn; the ratio of a round is NumPy's time over mercer's. Our
time includes writing the matrix to a file, theirs does not.
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
    recursion(x[:200], degree)
    started = time.perf_counter()
    k = recursion(x, degree)
    print(json.dumps({"seconds": time.perf_counter() - started, "check": k[:3, :3].ravel().tolist()}))


def ours(args, path, target):
    kernel = f"anova(degree={args.degree})"
    command = [args.mercer, "gram", path, "--kernel", kernel, "--scale", "none", "-o", target, "--json"]
    env = dict(os.environ, RAYON_NUM_THREADS=str(args.threads))
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, env=env)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["seconds"]["gram"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mercer", default=ROOT / "target/release/mercer")
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
        path, target = Path(folder) / "x.npy", Path(folder) / "k.npy"
        np.save(path, np.random.default_rng(1).standard_normal((args.n, args.d)))
        for _ in range(args.repeat):
            seconds = ours(args, path, target)
            child = [sys.executable, __file__, "--theirs", path, "--degree", str(args.degree)]
            answer = json.loads(subprocess.run(child, capture_output=True, text=True, check=True).stdout)
            if not np.allclose(np.load(target)[:3, :3].ravel(), answer["check"], rtol=1e-10):
                sys.exit("RESULTS DIFFER")
            mine.append(seconds)
            other.append(answer["seconds"])
            ratios.append(answer["seconds"] / seconds)
    print(f"anova(degree={args.degree}), n={args.n}, d={args.d}, f64: same results")
    print(f"mercer {statistics.median(mine):.3f} s, numpy {statistics.median(other):.3f} s")
    print(f"ratio {statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f}, {len(ratios)} rounds)")
    print(f"load average {os.getloadavg()[0]:.1f}")
    return None


if __name__ == "__main__":
    main()
