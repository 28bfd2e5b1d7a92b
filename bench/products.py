"""Predictions of support vector machines on dense vectors beside the bare product of matrices that they need.

    python bench/products.py --mercer target/release/mercer [--rounds 5] [--threads 2] [--results bench/results]

Needs NumPy. A machine is fitted on vectors as embeddings are; then predictions of new rows, as the program reports their time, take turns
with NumPy's f32 product of as many rows with as many support vectors. Told is the rate of predictions (2 · rows · vectors · columns
operations) over that of the product: 1 means that kernel values, sums and votes cost nothing. Writes products.md.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

SHAPES = [  # training rows, columns, classes, spread, new rows
    (3000, 64, 2, 2.0, 20000),
    (6000, 768, 10, 0.5, 4000),
    (4000, 1536, 20, 0.65, 4000),
    (8000, 384, 2, 2.6, 8000),
    (20000, 128, 2, 2.0, 20000),
]


def data(n, d, classes, spread, new):
    import numpy as np

    rng = np.random.default_rng([n, d])
    y = rng.integers(0, classes, n + new)
    z = rng.normal(size=(classes, 40))[y] / np.sqrt(2) + spread * rng.normal(size=(n + new, 40))
    x = z @ rng.normal(size=(40, d)) / np.sqrt(40) + 0.1 * rng.normal(size=(n + new, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x[:n], y[:n].astype(float), x[n:]


def run(asked, *words):
    command = [asked.mercer, *words, "--threads", asked.threads, "--json"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout or done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mercer", default="target/release/mercer")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "results")
    asked = parser.parse_args()
    # settings of OpenBLAS for one kind of processor would slow the product down
    for name in [name for name in os.environ if name.startswith("OPENBLAS_")]:
        del os.environ[name]
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(asked.threads)
    import numpy as np

    lines = ["# Predictions beside the bare product", "",
             f"`python bench/products.py`: rate of predictions over that of NumPy's f32 product, median (smallest–largest) of {asked.rounds} rounds, "
             f"{asked.threads} threads.", "",
             "| training rows × columns | classes | support vectors | new rows | f64 input | f32 input |", "|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for shape in SHAPES:
            x, y, new = data(*shape)
            for name, values in (("x", x), ("y", y), ("new64", new), ("new32", new.astype(np.float32))):
                np.save(work / f"{name}.npy", values)
            model = work / "m.mercer"
            told = run(asked, "fit", work / "x.npy", "--labels", work / "y.npy", "-m", "svc", "-k", "rbf(gamma=1)", "--scale", "none", "-o", model)
            m = told["n_support"]
            rates = {"new64": [], "new32": []}
            a, b = new.astype(np.float32), x[:m].astype(np.float32)
            for _ in range(asked.rounds):
                for file, found in rates.items():
                    ours = run(asked, "predict", model, work / f"{file}.npy", "-o", work / "p.csv")["seconds"]["predict"]
                    best = float("inf")
                    for _ in range(3):
                        start = time.perf_counter()
                        a @ b.T
                        best = min(best, time.perf_counter() - start)
                    found.append(best / ours)
            cells = [f"{statistics.median(r):.2f} ({min(r):.2f}–{max(r):.2f})" for r in rates.values()]
            lines.append(f"| {shape[0]} × {shape[1]} | {shape[2]} | {m} | {shape[4]} | " + " | ".join(cells) + " |")
            print(lines[-1], file=sys.stderr)
    lines.append("")
    asked.results.mkdir(parents=True, exist_ok=True)
    (asked.results / "products.md").write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
