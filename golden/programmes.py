"""Write golden/programmes.json: optima of sparse programmes by HiGHS (linear ones) and Clarabel (quadratic and logistic ones).

    python3 -m venv env && env/bin/pip install numpy==2.4.6 scipy==1.17.1 clarabel==0.11.1
    env/bin/python golden/programmes.py

The whole programme is written out for either solver: min Σ w ℓ(y, Kα + b) + λ‖α‖₁ with α = α⁺ − α⁻ and slack variables.
"""

import importlib.metadata
import json
import platform
from pathlib import Path

import clarabel
import numpy as np
import scipy
from scipy import sparse
from scipy.optimize import linprog

HERE = Path(__file__).resolve().parent


def data(rng, n, m, classes):
    x, z = rng.standard_normal((n, 3)), rng.standard_normal((m, 3))
    k = np.exp(-0.4 * ((x[:, None] - z[None]) ** 2).sum(axis=2))
    t = np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] + 0.4 * rng.standard_normal(n)
    return k, np.where(t > 0, 1.0, -1.0) if classes else t


def linear(k, y, w, loss, lam, bias, epsilon):
    """HiGHS. Variables α⁺, α⁻, b, ξ⁺, ξ⁻."""
    n, m = k.shape
    one, eye, none = np.ones((n, 1)), np.eye(n), np.zeros((n, n))
    cost = np.concatenate([np.full(2 * m, lam), [0.0], w, w])
    if loss == "hinge":
        s = y[:, None]
        a, b = np.hstack([-s * k, s * k, -s * one, -eye, none]), -np.ones(n)
    else:
        upper = np.hstack([-k, k, -one, -eye, none])
        lower = np.hstack([k, -k, one, none, -eye])
        a, b = np.vstack([upper, lower]), np.concatenate([epsilon - y, epsilon + y])
    free = (None, None) if bias else (0, 0)
    bounds = [(0, None)] * (2 * m) + [free] + [(0, None)] * (2 * n)
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(cost, A_ub=a, b_ub=b, bounds=bounds, method="highs-ds", options=options)
    if found.status != 0:
        raise SystemExit(found.message)
    return found.fun


def conic(k, y, w, loss, lam, bias, width):
    """Clarabel. Variables α⁺, α⁻, b, then those of the loss."""
    n, m = k.shape
    kk, one, eye = sparse.csc_matrix(np.hstack([k, -k])), np.ones((n, 1)), sparse.identity(n)
    cones, extra = [], {"squared": 1, "huber": 2, "squared_hinge": 1, "logistic": 3}[loss] * n
    size = 2 * m + 1 + extra
    p, q = sparse.lil_matrix((size, size)), np.zeros(size)
    q[: 2 * m] = lam
    blocks, rhs = [], []

    def add(parts, right, cone):
        blocks.append(sparse.hstack(parts))
        rhs.append(right)
        cones.append(cone)

    start = 2 * m + 1
    pad = lambda *parts: list(parts) + [sparse.csc_matrix((parts[0].shape[0], size - sum(x.shape[1] for x in parts)))]
    if loss == "squared":
        for i in range(n):
            p[start + i, start + i] = w[i]
        add([kk, one, eye], y, clarabel.ZeroConeT(n))
    if loss == "huber":
        # u = v + t: v²/2s + |t|, with |t| ≤ its own slack
        raise_ = 2 * m + 1 + n
        for i in range(n):
            p[start + i, start + i] = w[i] / width
        q[raise_:] = w
        add(pad(-kk, -one, -eye, -eye), -y, clarabel.NonnegativeConeT(n))
        add(pad(kk, one, eye, -eye), y, clarabel.NonnegativeConeT(n))
    if loss == "squared_hinge":
        for i in range(n):
            p[start + i, start + i] = 2 * w[i]
        s = sparse.diags(y)
        add([-s @ kk, -s @ one, -eye], -np.ones(n), clarabel.NonnegativeConeT(n))
        add(pad(sparse.csc_matrix((n, start)), -eye), np.zeros(n), clarabel.NonnegativeConeT(n))
    if loss == "logistic":
        # log(1 + e^−m) ≤ t: p + r ≤ 1, e^(−m−t) ≤ p, e^(−t) ≤ r
        q[start : start + n] = w
        for i in range(n):
            def row(entries):
                line = sparse.lil_matrix((1, size))
                for place, value in entries:
                    line[0, place] += value
                return line.tocsc()
            t, a, c = start + i, start + n + i, start + 2 * n + i
            zero = row([])
            f = [(j, y[i] * v) for j, v in enumerate(np.concatenate([k[i], -k[i], [1.0]]))]
            add([sparse.vstack([row([*f, (t, 1.0)]), zero, row([(a, -1.0)])])], np.array([0.0, 1.0, 0.0]), clarabel.ExponentialConeT())
            add([sparse.vstack([row([(t, 1.0)]), zero, row([(c, -1.0)])])], np.array([0.0, 1.0, 0.0]), clarabel.ExponentialConeT())
            add([row([(a, 1.0), (c, 1.0)])], np.ones(1), clarabel.NonnegativeConeT(1))
    add(pad(-sparse.identity(2 * m)), np.zeros(2 * m), clarabel.NonnegativeConeT(2 * m))
    if not bias:
        add(pad(sparse.csc_matrix((1, 2 * m)), sparse.csc_matrix([[1.0]])), np.zeros(1), clarabel.ZeroConeT(1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    a = sparse.csc_matrix(sparse.vstack(blocks))
    found = clarabel.DefaultSolver(sparse.triu(p.tocsc()).tocsc(), q, a, np.concatenate(rhs), cones, settings).solve()
    if str(found.status) not in ("Solved", "AlmostSolved"):
        raise SystemExit(f"{loss}: {found.status}")
    return found.obj_val


def main():
    rng = np.random.default_rng(6)
    shapes = {"square": (24, 24), "wide": (15, 30), "tall": (30, 10)}
    sets, cases = {}, []
    for name, (n, m) in shapes.items():
        for classes in (True, False):
            k, y = data(rng, n, m, classes)
            key = f"{name}_{'classes' if classes else 'numbers'}"
            w = np.round(rng.uniform(0.2, 2.0, n), 3)
            sets[key] = {"k": k.tolist(), "y": y.tolist(), "w": w.tolist()}
            losses = ["hinge", "squared_hinge", "logistic"] if classes else []
            losses += ["squared", "absolute", "epsilon_insensitive", "huber"]
            for loss in losses:
                for lam, bias, weighted in ((0.5, True, False), (0.05, True, True), (0.2, False, False)):
                    weight = w if weighted else np.ones(n)
                    shape = {"epsilon_insensitive": 0.15, "huber": 0.4}.get(loss, 0.0)
                    if loss in ("hinge", "absolute", "epsilon_insensitive"):
                        value = linear(k, y, weight, loss, lam, bias, shape)
                    else:
                        value = conic(k, y, weight, loss, lam, bias, shape)
                    case = {"data": key, "loss": loss, "shape": shape, "lambda": lam, "bias": bias}
                    cases.append(case | {"weighted": weighted, "objective": value})
    versions = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}
    versions["clarabel"] = importlib.metadata.version("clarabel")
    notes = [
        "objective: min over α, b of Σ w ℓ(y, Kα + b) + lambda ‖α‖₁; squared is ½u², squared_hinge ξ², huber u²/2s up to s.",
        "hinge, absolute and epsilon_insensitive by HiGHS (dual simplex, 1e-10), the others by Clarabel (1e-11).",
        "shape: ε of epsilon_insensitive, s of huber. weighted: whether w of the data counts, else all weights are one.",
    ]
    text = lambda value: json.dumps(value, ensure_ascii=False, allow_nan=False)
    lines = ['"made_by": "golden/programmes.py"', f'"versions": {text(versions)}', f'"notes": {text(notes)}']
    lines.append('"data": {\n' + ",\n".join(f"  {text(name)}: {text(value)}" for name, value in sets.items()) + "\n}")
    lines.append('"cases": [\n' + ",\n".join(f"  {text(case)}" for case in cases) + "\n]")
    (HERE / "programmes.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
