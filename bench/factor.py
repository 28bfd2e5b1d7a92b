"""Compare Cholesky factors, inverses and solutions with SciPy's OpenBLAS: dpotrf, dpotrf + dpotri, dpotrs (twice dtrsm).

    python bench/factor.py [--sizes 1000,2000,4000,8000] [--columns 1000] [--repeat 5] [--threads 2] [--quick]

Needs SciPy, and `cargo build --release --example bench_factor`. Both sides run in processes of their own and in turn, each
several times, of which the first is dropped and the median counts; the ratio of a round is their time over ours. OpenBLAS
chooses kernels and blocks by itself, whatever OPENBLAS_* says: with the kernels of another processor it needs up to half as long again.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CASES = {"factor": "dpotrf", "inverse": "dpotrf + dpotri", "solve": "dpotrs"}


def theirs(case, n, columns, repeat):
    import numpy as np
    from scipy.linalg import lapack

    places = np.arange(n)
    decay = np.exp(-places / 100.0)
    decay[0] += 0.1
    a = np.asfortranarray(decay[np.abs(places[:, None] - places[None, :])])
    lower = lapack.dpotrf(a, lower=1)[0] if case == "solve" else None
    seconds, check = [], []
    for _ in range(repeat):
        if case == "solve":
            given = np.asfortranarray(np.cos(places[:, None] + np.arange(columns)[None, :]))
        else:
            given = a.copy(order="F")
        started = time.perf_counter()
        if case == "solve":
            result = lapack.dpotrs(lower, given, lower=1, overwrite_b=1)[0]
        else:
            result = lapack.dpotrf(given, lower=1, overwrite_a=1, clean=0)[0]
            diagonal = result.diagonal().copy()
            if case == "inverse":
                result = lapack.dpotri(result, lower=1, overwrite_c=1)[0]
        seconds.append(time.perf_counter() - started)
        if case == "factor":
            check = [min(diagonal**2) / 1.1]
        elif case == "inverse":
            check = [result[n - 1, 0], result[n // 2, 0], 2 * np.log(diagonal).sum()]
        else:
            check = [result[0, 0], result[n - 1, columns - 1]]
    print(json.dumps({"seconds": seconds, "check": [float(c) for c in check]}))


def ask(command, env):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, env=env)
    if done.returncode != 0:
        sys.exit(done.stderr)
    answer = json.loads(done.stdout)
    return statistics.median(answer["seconds"][1:]), answer["check"]


def chosen(env):
    """The kernels that OpenBLAS takes."""
    ask = "import scipy.linalg, threadpoolctl as t; print(t.threadpool_info()[-1]['architecture'])"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False, env=env)
    return done.stdout.strip() or "unknown"


def show(seconds):
    return f"{1000 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench-factor", default=ROOT / "target/release/examples/bench_factor")
    parser.add_argument("--sizes", default="1000,2000,4000,8000")
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="sizes 1000 and 2000, three rounds, nothing is written")
    parser.add_argument("--results", type=Path, default=ROOT / "bench/results/factor.md")
    parser.add_argument("--theirs", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.theirs:
        return theirs(args.theirs[0], *map(int, args.theirs[1:]))
    if args.quick:
        args.sizes, args.repeat = "1000,2000", 3
    import numpy as np
    import scipy

    threads = str(args.threads)
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    env |= {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
    load = os.getloadavg()[0]
    lines = [
        "Cholesky factors, inverses and solutions beside OpenBLAS; its time divided by ours.",
        "",
        f"`python bench/factor.py --threads {args.threads} --sizes {args.sizes}`, {args.repeat} rounds, {args.columns} right-hand sides, "
        f"scipy {scipy.__version__}, OpenBLAS kernels {chosen(env)}; load at the start {load:.1f}",
        "",
        "| work | n | beside | ours | theirs | times faster (least–most) |",
        "|---|---|---|---|---|---|",
    ]
    for case, peer in CASES.items():
        for n in map(int, args.sizes.split(",")):
            inner = max(3, min(21, 20_000_000_000 // n**3))
            options = ["--columns", args.columns, "--threads", args.threads, "--repeat", inner]
            ratios, mine, other = [], [], []
            for _ in range(args.repeat):
                seconds, check = ask([args.bench_factor, case, n, *options], env)
                command = [sys.executable, __file__, "--theirs", case, n, args.columns, inner]
                their_seconds, their_check = ask(command, env)
                if not np.allclose(check, their_check, rtol=1e-8, atol=1e-12):
                    sys.exit(f"RESULTS DIFFER: {case} {n}: {check} against {their_check}")
                mine.append(seconds)
                other.append(their_seconds)
                ratios.append(their_seconds / seconds)
            times = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
            lines.append(
                f"| {case} | {n} | {peer} | {show(statistics.median(mine))} | {show(statistics.median(other))} | {times} |"
            )
            print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    print(text)
    if not args.quick:
        args.results.write_text(text, encoding="utf-8")
    return None


if __name__ == "__main__":
    main()
