"""Compare sparse programmes with Clarabel and HiGHS, which get the whole problem.

    python3 bench/programmes.py [--sizes 500,1000] [--programmes PATH] [--limit 600] [--repeat 3]

Needs NumPy, SciPy, `clarabel` and `highspy`, and `cargo build --release --example programmes`. An RBF matrix of Gaussian data and
targets go into a temporary file; min Σ ℓ + λ‖α‖₁ is solved by all sides in processes of their own and in turn. The times
leave out reading the file and writing the problem down. The squared loss is a quadratic programme (Clarabel, HiGHS), absolute errors and
the hinge are linear ones (HiGHS by simplex and by interior point, Clarabel).
"""

import argparse
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAMBDA = 1.0


def write(path, n, classes):
    import numpy as np

    rng = np.random.default_rng(n)
    x = rng.standard_normal((n, 5))
    t = np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] ** 2 - 0.5 + 0.3 * rng.standard_normal(n)
    y = np.where(t > 0, 1.0, -1.0) if classes else t
    s = (x * x).sum(axis=1)
    k = np.exp(-0.2 * np.maximum(s[:, None] + s[None, :] - 2 * x @ x.T, 0.0))
    with open(path, "wb") as out:
        np.array([n], dtype="<u8").tofile(out)
        y.astype("<f8").tofile(out)
        k.astype("<f8").tofile(out)


def read(path):
    import numpy as np

    n = int(np.fromfile(path, dtype="<u8", count=1)[0])
    values = np.fromfile(path, dtype="<f8", offset=8)
    return values[:n], values[n:].reshape(n, n)


def whole(y, k, loss):
    """The rows of [α⁺ α⁻ b slack] as a linear programme A v ≤ right, or the equalities of the squared loss."""
    import numpy as np

    n, one, eye = len(y), np.ones((len(y), 1)), np.eye(len(y))
    if loss == "squared":
        return np.hstack([k, -k, one, eye]), y
    if loss == "hinge":
        s = y[:, None]
        return np.hstack([-s * k, s * k, -s * one, -eye]), -np.ones(n)
    return np.vstack([np.hstack([-k, k, -one, -eye]), np.hstack([k, -k, one, -eye])]), np.concatenate([-y, y])


def clarabel_run(y, k, loss):
    import clarabel
    import numpy as np
    from scipy import sparse

    n = len(y)
    a, right = whole(y, k, loss)
    size = a.shape[1]
    q = np.concatenate([np.full(2 * n, LAMBDA), [0.0], np.full(n, 0.0 if loss == "squared" else 1.0)])
    p = sparse.diags(np.concatenate([np.zeros(2 * n + 1), np.full(n, 1.0 if loss == "squared" else 0.0)])).tocsc()
    signs = sparse.identity(size).tocsr()
    signs = signs[: 2 * n] if loss == "squared" else sparse.vstack([signs[: 2 * n], signs[2 * n + 1 :]])
    rows = sparse.vstack([sparse.csc_matrix(a), -signs]).tocsc()
    first = clarabel.ZeroConeT(a.shape[0]) if loss == "squared" else clarabel.NonnegativeConeT(a.shape[0])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    started = time.perf_counter()
    cones = [first, clarabel.NonnegativeConeT(signs.shape[0])]
    found = clarabel.DefaultSolver(p, q, rows, np.concatenate([right, np.zeros(signs.shape[0])]), cones, settings).solve()
    return time.perf_counter() - started, found.obj_val


def highs_run(y, k, loss, method):
    import highspy
    import numpy as np
    from scipy import sparse

    n = len(y)
    a, right = whole(y, k, loss)
    a = sparse.csc_matrix(a)
    model = highspy.HighsModel()
    lp = model.lp_
    lp.num_col_, lp.num_row_ = a.shape[1], a.shape[0]
    lp.col_cost_ = np.concatenate([np.full(2 * n, LAMBDA), [0.0], np.full(n, 0.0 if loss == "squared" else 1.0)])
    low = np.zeros(a.shape[1])
    low[2 * n] = -highspy.kHighsInf
    if loss == "squared":
        low[2 * n + 1 :] = -highspy.kHighsInf
    lp.col_lower_, lp.col_upper_ = low, np.full(a.shape[1], highspy.kHighsInf)
    lp.row_lower_ = right if loss == "squared" else np.full(len(right), -highspy.kHighsInf)
    lp.row_upper_ = right
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = a.indptr, a.indices, a.data
    if loss == "squared":
        hessian = model.hessian_
        hessian.dim_ = a.shape[1]
        hessian.format_ = highspy.HessianFormat.kTriangular
        hessian.start_ = np.concatenate([np.zeros(2 * n + 1, dtype=int), np.arange(n + 1)])
        hessian.index_ = np.arange(2 * n + 1, 3 * n + 1)
        hessian.value_ = np.ones(n)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("solver", "choose" if loss == "squared" else method)
    solver.setOptionValue("threads", 2)
    started = time.perf_counter()
    solver.passModel(model)
    solver.run()
    seconds = time.perf_counter() - started
    status = solver.modelStatusToString(solver.getModelStatus())
    if status != "Optimal":
        sys.exit(f"HiGHS ended as {status}")
    return seconds, solver.getInfo().objective_function_value


def theirs(path, loss, who):
    y, k = read(path)
    seconds, value = clarabel_run(y, k, loss) if who == "clarabel" else highs_run(y, k, loss, who.removeprefix("highs-"))
    print(json.dumps({"seconds": [seconds], "objective": value}))


def ask(command, limit):
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="500,1000")
    parser.add_argument("--losses", default="squared,absolute,hinge")
    parser.add_argument("--programmes", default=ROOT / "target/release/examples/programmes")
    parser.add_argument("--limit", type=float, default=600, help="stop a single run after so many seconds")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--theirs", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.theirs:
        theirs(*args.theirs)
        return
    versions = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("clarabel", "highspy", "numpy"))
    print(f"RBF matrix, d = 5, λ = {LAMBDA:g}, {versions}; load at the start {os.getloadavg()[0]:.1f}\n")
    print("| loss | n | peer | ours | theirs | times faster (least–most) | objectives |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for loss in args.losses.split(","):
            peers = ["clarabel", "highs-qp"] if loss == "squared" else ["highs-simplex", "highs-ipm", "clarabel"]
            for n in map(int, args.sizes.split(",")):
                path = Path(folder) / "problem.bin"
                write(path, n, loss == "hinge")
                for peer in peers:
                    ours, other, last = [], [], None
                    for _ in range(args.repeat):
                        mine = ask([args.programmes, path, loss, LAMBDA, "solve", 1], args.limit)
                        last = ask([sys.executable, __file__, "--theirs", path, loss, peer], args.limit)
                        if mine is None or "error" in mine:
                            sys.exit(f"mercer: {mine}")
                        ours.append(mine["seconds"][-1])
                        if last is None or "error" in last:
                            break
                        other.append(last["seconds"][-1])
                        if other[-1] > 30:
                            break
                    row = f"| {loss} | {n} | {peer} | {statistics.median(ours):.3f} s |"
                    if last is None:
                        print(f"{row} over {args.limit:g} s | > {args.limit / statistics.median(ours):.0f} | |", flush=True)
                    elif "error" in last:
                        print(f"{row} {last['error']} | | |", flush=True)
                    else:
                        ratios = [t / o for t, o in zip(other, ours)]
                        apart = abs(mine["objective"] - last["objective"]) / abs(last["objective"])
                        spread = f"{statistics.median(ratios):.0f} ({min(ratios):.0f}–{max(ratios):.0f})"
                        print(f"{row} {statistics.median(other):.2f} s | {spread} | {apart:.0e} apart |", flush=True)


if __name__ == "__main__":
    main()
