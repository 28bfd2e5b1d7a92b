"""Write the golden files: small inputs and the numbers that other implementations give for them.

Run in a throw-away environment, from the root of the repository:

    python3 -m venv target/golden-env
    target/golden-env/bin/pip install -r golden/requirements.txt
    target/golden-env/bin/python golden/make.py

Nothing here uses mercer. The numbers come from scikit-learn, from LIBSVM, from SciPy, from mpmath with 50 digits, or
from loops that follow a definition word for word. Every file has the header `made_by`, `versions`, `notes`; the keys of
the rest are described in golden/README.md.
"""

import importlib.metadata
import json
import platform
import tempfile
from collections import Counter, defaultdict
from itertools import combinations, product
from pathlib import Path

import mpmath
import numpy as np
import scipy
import sklearn
from libsvm import svmutil
from scipy.spatial.distance import cdist
from sklearn.calibration import CalibratedClassifierCV, _sigmoid_calibration
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.decomposition import KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.isotonic import IsotonicRegression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, pairwise
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.svm import SVC, LinearSVC, LinearSVR

HERE = Path(__file__).resolve().parent
LIMIT = 150_000


def plain(value):
    """NumPy values as Python's own, so that json writes the shortest text that reads back to the same number."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return value


def write(name, notes, packages=(), **parts):
    """Write one file: a header, then each part; the items of a part are one line each."""
    versions = {"python": platform.python_version()}
    versions |= {module.__name__: module.__version__ for module in (np, scipy, sklearn, mpmath)}
    versions |= {package: importlib.metadata.version(package) for package in packages}
    header = {"made_by": "golden/make.py", "versions": versions, "notes": notes}

    def text(value):
        return json.dumps(plain(value), ensure_ascii=False, allow_nan=False)

    lines = [f"{text(key)}: {text(value)}" for key, value in header.items()]
    for key, part in parts.items():
        if isinstance(part, dict):
            body = ",\n".join(f"  {text(str(k))}: {text(v)}" for k, v in part.items())
            lines.append(f"{text(key)}: {{\n{body}\n}}")
        else:
            body = ",\n".join(f"  {text(item)}" for item in part)
            lines.append(f"{text(key)}: [\n{body}\n]")
    path = HERE / f"{name}.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    size = path.stat().st_size
    json.loads(path.read_text(encoding="utf-8"))
    print(f"{path.name}: {size} bytes")
    if size > LIMIT:
        raise SystemExit(f"{path.name} is larger than {LIMIT} bytes")


# ---------------------------------------------------------------------------------------------------------- kernels


def mp_squared_distance(x, z):
    return mpmath.fsum((a - b) ** 2 for a, b in zip(x, z, strict=True))


def mp_matern(x, z, nu, length):
    distance = mpmath.sqrt(mp_squared_distance(x, z))
    if distance == 0:
        return mpmath.mpf(1)
    nu = mpmath.mpf(nu)
    t = mpmath.sqrt(2 * nu) * distance / mpmath.mpf(length)
    return 2 ** (1 - nu) / mpmath.gamma(nu) * t**nu * mpmath.besselk(nu, t)


def mp_chi2(x, z):
    return mpmath.fsum(2 * a * b / (a + b) for a, b in zip(x, z, strict=True) if a + b != 0)


def chi2(x, z):
    """2 Σ ab / (a + b) from scikit-learn's -Σ (a - b)² / (a + b)."""
    return 0.5 * (pairwise.additive_chi2_kernel(x, z) + x.sum(axis=1)[:, None] + z.sum(axis=1)[None, :])


def distance_power(x, z, beta):
    return -(cdist(x, z) ** beta)


def kernel_cases(data, d):
    """(formula, where from, the other implementation, the definition in mpmath) for one data set."""
    dot = "sklearn.metrics.pairwise"
    gp = "sklearn.gaussian_process.kernels"
    spread = {"generic": 1.0, "wide": 1e-3, "offset": 1.0, "nonnegative": 1.0, "duplicates": 1.0, "line": 1.0}[data]

    def mp_dot(x, z):
        return mpmath.fsum(a * b for a, b in zip(x, z, strict=True))

    def mpf(value):
        return mpmath.mpf(value)

    yield "linear", f"{dot}.linear_kernel", pairwise.linear_kernel, mp_dot
    for gamma in (0.5, 0.01, 20.0):
        g = gamma * spread**2
        yield (
            f"rbf(gamma={g!r})",
            f"{dot}.rbf_kernel",
            lambda x, z, g=g: pairwise.rbf_kernel(x, z, gamma=g),
            lambda x, z, g=g: mpmath.exp(-mpf(g) * mp_squared_distance(x, z)),
        )
    for gamma in (0.3, 2.0):
        g = gamma * spread
        yield (
            f"laplacian(gamma={g!r})",
            f"{dot}.laplacian_kernel",
            lambda x, z, g=g: pairwise.laplacian_kernel(x, z, gamma=g),
            lambda x, z, g=g: mpmath.exp(-mpf(g) * mpmath.fsum(abs(a - b) for a, b in zip(x, z, strict=True))),
        )
    for degree, gamma, offset in ((3, 1.0, 1.0), (2, 0.25, 0.0), (5, 0.1, 2.0), (1, 1.0, 0.5)):
        yield (
            f"polynomial(degree={degree}, gamma={gamma!r}, offset={offset!r})",
            f"{dot}.polynomial_kernel",
            lambda x, z, p=degree, g=gamma, c=offset: pairwise.polynomial_kernel(x, z, degree=p, gamma=g, coef0=c),
            lambda x, z, p=degree, g=gamma, c=offset: (mpf(g) * mp_dot(x, z) + mpf(c)) ** p,
        )
    for gamma, offset in ((0.1, 0.0), (0.05, -1.0)):
        g = gamma * spread**2
        yield (
            f"sigmoid(gamma={g!r}, offset={offset!r})",
            f"{dot}.sigmoid_kernel",
            lambda x, z, g=g, c=offset: pairwise.sigmoid_kernel(x, z, gamma=g, coef0=c),
            lambda x, z, g=g, c=offset: mpmath.tanh(mpf(g) * mp_dot(x, z) + mpf(c)),
        )
    for nu, length in ((0.5, 1.3), (1.5, 0.7), (2.5, 2.0), (0.8, 1.0), (3.0, 1.5)):
        length = length / spread
        yield (
            f"matern(nu={nu!r}, length={length!r})",
            f"{gp}.Matern",
            lambda x, z, nu=nu, length=length: Matern(length_scale=length, nu=nu)(x, z),
            lambda x, z, nu=nu, length=length: mp_matern(x, z, nu, length),
        )
    for lengths in ([0.5, 1.0, 2.0, 4.0, 8.0][:d], [3.0, 0.7, 100.0, 1.5, 1.0][:d]):
        lengths = [length / spread for length in lengths]
        yield (
            f"ard(lengths={lengths!r})",
            f"{gp}.RBF",
            lambda x, z, lengths=lengths: RBF(length_scale=lengths)(x, z),
            lambda x, z, lengths=lengths: mpmath.exp(
                -mpmath.fsum(((a - b) / mpf(s)) ** 2 for a, b, s in zip(x, z, lengths, strict=True)) / 2
            ),
        )
    for beta in (1.0, 0.5, 1.7):
        yield (
            f"distance(beta={beta!r})",
            "scipy.spatial.distance.cdist",
            lambda x, z, beta=beta: distance_power(x, z, beta),
            lambda x, z, beta=beta: -(mpmath.sqrt(mp_squared_distance(x, z)) ** mpf(beta)),
        )
    if data == "nonnegative":
        yield "chi2", f"{dot}.additive_chi2_kernel", chi2, mp_chi2


def kernel_data():
    rng = np.random.default_rng(1)
    sets = {"generic": (rng.standard_normal((7, 5)), rng.standard_normal((4, 5)))}
    scales = np.array([1e-3, 1e-1, 1.0, 30.0, 1e3])
    sets["wide"] = (rng.standard_normal((7, 5)) * scales, rng.standard_normal((4, 5)) * scales)
    sets["offset"] = (1000.0 + rng.standard_normal((7, 5)), 1000.0 + rng.standard_normal((4, 5)))
    x, z = rng.gamma(0.7, size=(7, 5)), rng.gamma(0.7, size=(4, 5))
    x[rng.random(x.shape) < 0.35] = 0.0
    z[rng.random(z.shape) < 0.35] = 0.0
    x[3] = 0.0
    sets["nonnegative"] = (x, z)
    x = rng.standard_normal((7, 5))
    x[4] = x[1]
    x[6] = x[1]
    sets["duplicates"] = (x, x[[1, 4, 0, 2]].copy())
    sets["line"] = (rng.standard_normal((7, 1)), rng.standard_normal((4, 1)))
    return sets


def kernels():
    mpmath.mp.dps = 50
    data, cases = {}, []
    for name, (x, z) in kernel_data().items():
        gamma = SVC(gamma="scale").fit(x, np.arange(len(x)) % 2)._gamma
        if not np.isclose(gamma, 1.0 / (x.shape[1] * np.var(x)), rtol=1e-13):
            raise SystemExit("gamma='scale' has changed its meaning")
        data[name] = {"x": x, "z": z, "gamma_scale": gamma}
        for formula, origin, other, definition in kernel_cases(name, x.shape[1]):
            expected = other(x, z)
            digits = [[definition([mpmath.mpf(v) for v in a], [mpmath.mpf(v) for v in b]) for b in z] for a in x]
            flat = [v for row in digits for v in row]
            error = max(abs(mpmath.mpf(e) - v) for e, v in zip(expected.ravel().tolist(), flat, strict=True))
            if error > 1e-7 * max(abs(v) for v in flat):
                raise SystemExit(f"{name}: {formula}: {origin} is off by {float(error):.1e}")
            case = {"data": name, "formula": formula, "from": origin, "expected": expected, "error": float(error)}
            if name in ("offset", "duplicates"):
                case["exact"] = np.array([[float(v) for v in row] for row in digits])
            cases.append(case)
    notes = [
        "expected[i][j] = κ(x[i], z[j]) as the implementation named in `from` gives it.",
        "error: the largest absolute difference of `expected` from the definition evaluated with 50 digits.",
        "exact: that definition rounded to double precision, given where others lose digits to cancellation.",
        "gamma_scale: what scikit-learn makes of gamma='scale' on x, 1 / (columns · variance of all entries).",
    ]
    write("kernels", notes, data=data, cases=cases)


# ----------------------------------------------------------------------------------------------- kernels for machines

LINEAR = ("linear", {"kernel": "linear"})


def poly(degree, gamma, offset):
    formula = f"polynomial(degree={degree}, gamma={gamma!r}, offset={offset!r})"
    return formula, {"kernel": "poly", "degree": degree, "gamma": gamma, "coef0": offset}


def rbf(gamma):
    return f"rbf(gamma={gamma!r})", {"kernel": "rbf", "gamma": gamma}


def laplacian(gamma):
    return f"laplacian(gamma={gamma!r})", {"kernel": "laplacian", "gamma": gamma}


def matrix(settings, x, z):
    """The kernel matrix by direct differences and products, for the checks below."""
    kind = settings["kernel"]
    if kind == "linear":
        return x @ z.T
    if kind == "rbf":
        return np.exp(-settings["gamma"] * cdist(x, z, "sqeuclidean"))
    if kind == "laplacian":
        return np.exp(-settings["gamma"] * cdist(x, z, "cityblock"))
    return (settings["gamma"] * (x @ z.T) + settings["coef0"]) ** settings["degree"]


# ------------------------------------------------------------------------------------------------------------- ridge


def ridge():
    rng = np.random.default_rng(2)
    x, z = rng.uniform(-2, 2, (20, 3)), rng.uniform(-2, 2, (6, 3))
    one = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * rng.standard_normal(20)
    several = np.column_stack([one, x @ [1.0, -2.0, 0.5] + 3.0, rng.standard_normal(20)])
    cases = []
    for target, y in (("one", one), ("several", several)):
        for formula, settings in (rbf(0.5), poly(2, 0.5, 1.0), laplacian(0.3), LINEAR):
            for lam in (1.0, 0.01):
                machine = KernelRidge(alpha=lam, **settings).fit(x, y)
                residuals = np.empty_like(y)
                for i in range(len(x)):
                    rest = np.arange(len(x)) != i
                    left = KernelRidge(alpha=lam, **settings).fit(x[rest], y[rest])
                    residuals[i] = y[i] - left.predict(x[i : i + 1])[0]
                cases.append(
                    {
                        "target": target,
                        "formula": formula,
                        "lambda": lam,
                        "dual_coef": machine.dual_coef_,
                        "predictions": machine.predict(z),
                        "leave_one_out_residuals": residuals,
                    }
                )
    notes = [
        "sklearn.kernel_ridge.KernelRidge(alpha=lambda): dual_coef solves (K + lambda I) a = y; no offset, no centring.",
        "predictions are at z; leave_one_out_residuals[i] = y[i] minus the prediction at x[i] of a fit without example i.",
        "With several outputs each row holds the outputs of one example.",
    ]
    write("ridge", notes, data={"x": x, "z": z, "y": {"one": one, "several": several}}, cases=cases)


# --------------------------------------------------------------------------------------------------------------- PCA


def pca():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((25, 4)) * [2.0, 1.0, 0.7, 0.4] + 0.5
    z = rng.standard_normal((6, 4)) * [2.0, 1.0, 0.7, 0.4] + 0.5
    cases = []
    for formula, settings in (rbf(0.1), rbf(0.5), poly(2, 0.5, 1.0), poly(3, 0.25, 1.0), LINEAR):
        machine = KernelPCA(n_components=4, eigen_solver="dense", **settings).fit(x)
        values = machine.eigenvalues_
        if np.min(-np.diff(values)) < 1e-3 * values[0]:
            raise SystemExit(f"{formula}: eigenvalues too close for the projections to be well defined: {values}")
        cases.append(
            {
                "formula": formula,
                "components": 4,
                "eigenvalues": values,
                "abs_train": np.abs(machine.transform(x)),
                "abs_new": np.abs(machine.transform(z)),
            }
        )
    notes = [
        "sklearn.decomposition.KernelPCA: eigenvalues of the centred kernel matrix, not divided by n, largest first.",
        "abs_train and abs_new: absolute values of the projections of x and z on the unit-length axes, one row each.",
    ]
    write("pca", notes, data={"x": x, "z": z}, cases=cases)


# --------------------------------------------------------------------------------------------------------------- SVC


def svc_data():
    rng = np.random.default_rng(4)
    sets = {}

    def add(name, x, y, new):
        x, order = np.round(x, 4), rng.permutation(len(x))
        sets[name] = {"x": x[order], "y": np.asarray(y)[order], "z": np.round(new, 4)}

    x, y = make_blobs(60, centers=[[-1.0, 0.0], [1.5, 0.5]], cluster_std=1.1, random_state=5)
    add("blobs2", x, y, rng.uniform(-4, 4, (15, 2)))
    x, y = make_moons(70, noise=0.2, random_state=6)
    add("moons", x, y, rng.uniform([-1.5, -1.0], [2.5, 1.5], (15, 2)))
    x, y = make_blobs([60, 8], centers=[[0.0, 0.0, 0.0], [1.5, 1.0, -1.0]], cluster_std=1.0, random_state=7)
    add("imbalanced", x, y, rng.uniform(-3, 3, (15, 3)))
    x, y = make_blobs(80, centers=4, n_features=3, cluster_std=3.0, random_state=8)
    add("blobs4", x / 3.0, y * 10 + 5, rng.uniform(-4, 4, (15, 3)))
    x, y = load_iris(return_X_y=True)
    add("iris", x, y, rng.uniform(x.min(axis=0), x.max(axis=0), (15, 4)))
    return sets


def pair_coefficients(machine, x, y):
    """For each pair of classes (i, j), i < j: the rows that take part, ±1 for them (+1 = class i), and α."""
    classes, support = machine.classes_, machine.support_
    dual = machine.dual_coef_ if len(classes) > 2 else -machine.dual_coef_
    for i, j in combinations(range(len(classes)), 2):
        rows = np.flatnonzero((y == classes[i]) | (y == classes[j]))
        sign = np.where(y[rows] == classes[i], 1.0, -1.0)
        signed = np.zeros(len(x))
        for position, row in enumerate(support):
            if y[row] == classes[i]:
                signed[row] = dual[j - 1, position]
            elif y[row] == classes[j]:
                signed[row] = dual[i, position]
        alpha = signed[rows] * sign
        if alpha.min() < 0.0 or abs(signed.sum()) > 1e-9 * max(1.0, alpha.sum()):
            raise SystemExit("the layout of dual_coef_ is not what this script believes")
        yield (i, j), rows, sign, alpha


def solve_pair(gram, sign, c, tolerance=1e-10, steps=200_000):
    """The same problem in double precision, to the last digits: α and the offset.

    Two coefficients at a time; the first violates the optimality conditions most, the second promises most progress.
    """
    alpha, gradient, diagonal = np.zeros(len(sign)), -np.ones(len(sign)), np.diag(gram)
    for _ in range(steps):
        up = np.where(sign > 0, alpha < c, alpha > 0)
        down = np.where(sign > 0, alpha > 0, alpha < c)
        slope = -sign * gradient
        i = np.flatnonzero(up)[np.argmax(slope[up])]
        violation = slope[i] - slope
        if violation[down].max() < tolerance:
            free = up & down
            ends = slope[free] if free.any() else np.array([slope[up].max(), slope[down].min()])
            return alpha, ends.mean()
        candidates = np.flatnonzero(down & (violation > 0))
        curvature = np.maximum(diagonal[i] + diagonal[candidates] - 2 * gram[i, candidates], 1e-12)
        best = np.argmax(violation[candidates] ** 2 / curvature)
        j, step = candidates[best], violation[candidates[best]] / curvature[best]
        step = min(step, c - alpha[i] if sign[i] > 0 else alpha[i], alpha[j] if sign[j] > 0 else c - alpha[j])
        for k, change in ((i, sign[i] * step), (j, -sign[j] * step)):
            old = alpha[k]
            new = min(max(old + change, 0.0), c)
            alpha[k] = 0.0 if new < 1e-14 * c else c if new > c * (1 - 1e-14) else new
            gradient += sign * sign[k] * gram[:, k] * (alpha[k] - old)
    raise SystemExit("the check of a support vector machine does not converge")


def svc():
    data, cases = svc_data(), []
    wanted = {
        "blobs2": (LINEAR, rbf(0.5), poly(3, 0.5, 1.0)),
        "moons": (LINEAR, rbf(1.0), poly(3, 1.0, 1.0)),
        "imbalanced": (LINEAR, rbf(0.3)),
        "blobs4": (LINEAR, rbf(0.2), poly(2, 0.5, 1.0)),
        "iris": (LINEAR, rbf(0.25), poly(2, 0.1, 1.0)),
    }
    for name, settings_list in wanted.items():
        x, y, z = data[name]["x"], data[name]["y"], data[name]["z"]
        for (formula, settings), c in product(settings_list, (0.1, 1.0, 10.0)):
            machine = SVC(C=c, tol=1e-6, decision_function_shape="ovo", cache_size=200, **settings).fit(x, y)
            decisions = machine.decision_function(z)
            many = decisions.ndim == 2
            gram, cross = matrix(settings, x, x), matrix(settings, z, x)
            pairs, objectives, gaps, decision_error = [], [], [], 0.0
            for k, (pair, rows, sign, alpha) in enumerate(pair_coefficients(machine, x, y)):
                signed = sign * alpha
                offset = machine.intercept_[k] if many else -machine.intercept_[0]
                inner = gram[np.ix_(rows, rows)] @ signed
                square = signed @ inner
                objective = 0.5 * square - alpha.sum()
                slack = np.maximum(0.0, 1.0 - sign * (inner + offset))
                objectives.append(objective)
                gaps.append(0.5 * square + c * slack.sum() + objective)
                pairs.append([machine.classes_[pair[0]], machine.classes_[pair[1]]])
                ours = cross[:, rows] @ signed + offset
                theirs = decisions[:, k] if many else -decisions
                if np.abs(ours - theirs).max() > 1e-8 * max(1.0, np.abs(theirs).max()):
                    raise SystemExit("the decision values are not those of the coefficients")
                exact, offset = solve_pair(gram[np.ix_(rows, rows)], sign, c)
                optimum = 0.5 * (sign * exact) @ gram[np.ix_(rows, rows)] @ (sign * exact) - exact.sum()
                if abs(optimum - objective) > 1e-8:
                    raise SystemExit(f"{name}, {formula}, C={c}: the objective is off by {objective - optimum:.1e}")
                exact_decisions = cross[:, rows] @ (sign * exact) + offset
                decision_error = max(decision_error, np.abs(exact_decisions - theirs).max())
            cases.append(
                {
                    "data": name,
                    "formula": formula,
                    "C": c,
                    "classes": machine.classes_,
                    "pairs": pairs,
                    "positive": "first of the pair" if many else "second of the pair",
                    "decisions": decisions if many else decisions[:, None],
                    "decision_error": decision_error,
                    "predictions": machine.predict(z),
                    "objective": sum(objectives),
                    "objectives": objectives,
                    "gap": sum(gaps),
                    "n_support": machine.n_support_,
                    "intercept": machine.intercept_,
                }
            )
    notes = [
        "sklearn.svm.SVC(tol=1e-6, decision_function_shape='ovo'); z are the new points, one row of decisions each.",
        "pairs names the two classes of each column of decisions, positive the one that a positive value is for.",
        "With two classes a positive decision is for classes[1], with more it is for the first class of the pair.",
        "predictions: the class with most votes of the pairs; among equals the one that comes first in classes.",
        "objectives: ½ αᵀQα - Σα for each pair, recomputed in double precision from dual_coef_; objective: their sum.",
        "gap: primal plus dual objective there, summed over pairs: the optimum lies in [objective - gap, objective].",
        "decision_error: the largest absolute difference of decisions from those of a solution to 1e-10.",
        "n_support counts support vectors by class over all pairs, those with α at rounding level included.",
    ]
    write("svc", notes, data=data, cases=cases)


# ------------------------------------------------------------------------------------------------------------ LIBSVM


def libsvm_data():
    rng = np.random.default_rng(10)

    def part(x, y, new):
        return {"x": np.round(x, 3), "y": y, "z": np.round(new, 3)}

    x = np.vstack([rng.standard_normal((24, 2)) + c for c in ([-1.0, 0.0], [1.0, 0.5])])
    order = rng.permutation(48)
    two = part(x[order], np.repeat([0, 1], 24)[order], rng.uniform(-3, 3, (10, 2)))
    sizes = (16, 10, 14)
    x = np.vstack([rng.standard_normal((n, 3)) * 0.8 + np.eye(3)[k] * 1.8 for k, n in enumerate(sizes)])
    order = rng.permutation(40)
    three = part(x[order], np.repeat([2, 5, 7], sizes)[order], rng.uniform(-1, 3, (10, 3)))
    x = np.sort(rng.uniform(-4, 4, (45, 1)), axis=0)
    sinc = part(x, np.round(np.sinc(x[:, 0]) + 0.1 * rng.standard_normal(45), 4), np.linspace(-4, 4, 10)[:, None])
    x = np.vstack([rng.standard_normal((36, 2)), rng.uniform(-4, 4, (6, 2))])
    cloud = part(x, np.ones(42), rng.uniform(-4, 4, (10, 2)))
    return {"two": two, "three": three, "sinc": sinc, "cloud": cloud}


def libsvm_kernel(settings):
    """The kernel in LIBSVM's options."""
    if settings["kernel"] == "linear":
        return "-t 0"
    if settings["kernel"] == "rbf":
        return f"-t 2 -g {settings['gamma']!r}"
    return f"-t 1 -d {settings['degree']} -g {settings['gamma']!r} -r {settings['coef0']!r}"


def libsvm_parts(model, y):
    """For each problem of a model: the pair of classes (or None), the coefficient of every example, and rho."""
    n, coefficients, rows = len(y), np.array(model.get_sv_coef()), np.array(model.get_sv_indices()) - 1
    labels = model.get_labels()
    if model.get_svm_type() not in (svmutil.svm_forms.C_SVC, svmutil.svm_forms.NU_SVC):
        full = np.zeros(n)
        full[rows] = coefficients[:, 0]
        yield None, full, model.rho[0]
        return
    for p, (i, j) in enumerate(combinations(range(len(labels)), 2)):
        full = np.zeros(n)
        for row, own in zip(rows, coefficients, strict=True):
            if y[row] == labels[i]:
                full[row] = own[j - 1]
            elif y[row] == labels[j]:
                full[row] = own[i]
        if abs(full.sum()) > 1e-8 * max(1.0, np.abs(full).sum()):
            raise SystemExit("the layout of LIBSVM's coefficients is not what this script believes")
        # LIBSVM's classes stand in the order they come in the data, ours are sorted
        sign = 1.0 if labels[i] < labels[j] else -1.0
        yield (min(labels[i], labels[j]), max(labels[i], labels[j])), sign * full, sign * model.rho[p]


def libsvm_fit(kind, options, settings, part, tolerance):
    x, y, z = part["x"], part["y"], part["z"]
    problem = svmutil.svm_problem(y.tolist(), x.tolist())
    parameter = svmutil.svm_parameter(f"-s {kind} {options} {libsvm_kernel(settings)} -e {tolerance!r} -h 0 -m 50 -q")
    model = svmutil.svm_train(problem, parameter)
    parts = sorted(libsvm_parts(model, y), key=lambda p: p[0] or ())
    decisions = np.column_stack([matrix(settings, z, x) @ beta - rho for _, beta, rho in parts])
    # svmutil.svm_predict (3.37) makes room for one decision of nu-SVC where three classes have three
    room, labels, theirs = (svmutil.c_double * len(parts))(), [], []
    for point in z.tolist():
        labels.append(svmutil.libsvm.svm_predict_values(model, svmutil.gen_svm_nodearray(point)[0], room))
        theirs.append(list(room))
    by_pair = {(i, j): p for p, (i, j) in enumerate(combinations(model.get_labels(), 2))}
    for column, (pair, _, _) in enumerate(parts):
        place, sign = 0, 1.0
        if pair is not None:
            place, sign = (by_pair[pair], 1.0) if pair in by_pair else (by_pair[pair[::-1]], -1.0)
        if np.abs(sign * np.array(theirs)[:, place] - decisions[:, column]).max() > 1e-9:
            raise SystemExit("the decision values are not those of the coefficients")
    return parts, decisions, labels, model.get_nr_sv()


def libsvm_objective(machine, gram, y, beta, options):
    """The minimised dual at the coefficients, in double precision; of nu_svc as it is after the division by rho."""
    square = 0.5 * beta @ gram @ beta
    if machine == "svc":
        return square - np.abs(beta).sum()
    if machine == "svr":
        return square + options["epsilon"] * np.abs(beta).sum() - beta @ y
    return square - (beta @ y if machine == "nu_svr" else 0.0)


def libsvm():
    data, cases = libsvm_data(), []
    kernels, wanted = {"two": (LINEAR, rbf(0.5), poly(3, 0.5, 1.0)), "three": (LINEAR, rbf(0.4), poly(2, 0.5, 1.0))}, []
    for name in kernels:
        labels = sorted(set(data[name]["y"].tolist()))
        for kernel in kernels[name]:
            for c in (0.5, 10.0):
                wanted.append(("svc", 0, name, kernel, {"c": c}, {}))
                weights = dict(zip(labels, (2.0, 0.5, 3.0), strict=False))
                wanted.append(("svc", 0, name, kernel, {"c": c}, weights))
            # ν m / 2 is never whole, so that every class has a free multiplier and ρ is no matter of choice
            for nu in (0.22, 0.45):
                wanted.append(("nu_svc", 1, name, kernel, {"nu": nu}, {}))
    for kernel in (LINEAR, rbf(1.0), poly(3, 0.25, 1.0)):
        for c in (0.5, 10.0):
            for epsilon in (0.05, 0.3):
                wanted.append(("svr", 3, "sinc", kernel, {"c": c, "epsilon": epsilon}, {}))
            for nu in (0.2, 0.6):
                wanted.append(("nu_svr", 4, "sinc", kernel, {"c": c, "nu": nu}, {}))
    # a plane through a cloud around the origin has no direction, hence no linear kernel
    for kernel in (rbf(0.2), rbf(2.0), poly(2, 0.5, 1.0)):
        for nu in (0.1, 0.4):
            wanted.append(("one_class", 2, "cloud", kernel, {"nu": nu}, {}))
    flags = {"c": "-c", "nu": "-n", "epsilon": "-p"}
    for machine, kind, name, (formula, settings), options, weights in wanted:
        part = data[name]
        told = " ".join(f"{flags[key]} {value!r}" for key, value in options.items())
        told += "".join(f" -w{label} {weight!r}" for label, weight in weights.items())
        parts, decisions, labels, support = libsvm_fit(kind, told, settings, part, 1e-8)
        _, loose, _, _ = libsvm_fit(kind, told, settings, part, 1e-5)
        gram = matrix(settings, part["x"], part["x"])
        objectives = [libsvm_objective(machine, gram, part["y"], beta, options) for _, beta, _ in parts]
        text = [f"{key}={value!r}" for key, value in options.items()]
        if weights:
            text.append("class_weight=" + ",".join(f"{label}:{weight!r}" for label, weight in weights.items()))
        case = {
            "machine": machine,
            "data": name,
            "formula": formula,
            "settings": "; ".join(text),
            "pairs": [pair for pair, _, _ in parts],
            "objective": sum(objectives),
            "objectives": objectives,
            "offsets": [-rho for _, _, rho in parts],
            "n_support": support,
            "decisions": decisions,
            "decision_error": np.abs(decisions - loose).max(),
        }
        if machine == "nu_svc":
            sizes = [int(np.isin(part["y"], pair).sum()) for pair, _, _ in parts]
            pairs = zip(sizes, parts, strict=True)
            case["rho"] = [options["nu"] * size / np.abs(beta).sum() for size, (_, beta, _) in pairs]
        if machine == "nu_svr":
            _, beta, rho = parts[0]
            off = np.abs(part["y"] - gram @ beta + rho)
            free = (np.abs(beta) > 1e-6 * options["c"]) & (np.abs(beta) < options["c"] * (1 - 1e-6))
            case["epsilon"] = off[free].mean() if free.any() else None
        if len(parts) > 1 or parts[0][0] is not None:
            case["predictions"] = labels
        cases.append(case)
    notes = [
        "LIBSVM's svm-train -e 1e-8 -h 0; settings are in mercer's words: c is -c, nu is -n, epsilon is -p.",
        "class_weight is -wi: the factor of C for the examples of a class.",
        "pairs: the classes of each column of decisions, sorted; a positive value is for the first of them.",
        "offsets: b of f(x) = Σ β κ + b, which is minus LIBSVM's rho, turned where its classes are not sorted.",
        "objectives: the minimised dual recomputed in double precision from the coefficients; objective: their sum.",
        "nu_svc: LIBSVM divides α and b by ρ, and so are objectives (by ρ²), offsets and decisions; rho: ν m / Σ|β|.",
        "epsilon: the tube that nu-SVR found, where a multiplier is free.",
        "one_class: 0 ≤ α ≤ 1, Σα = ν m.",
        "decision_error: how far decisions at -e 1e-5 are from these.",
        "n_support counts every coefficient that is not zero.",
    ]
    write("libsvm", notes, packages=("libsvm-official",), data=data, cases=cases)


# ---------------------------------------------------------------------------------------------------- linear machines


def linear_objective(loss, epsilon, costs, y, scores, weights, offset):
    """½‖w‖² + Σ C_i ℓ(y_i, f_i), the weight of the constant feature included in w."""
    slack = np.maximum(0.0, np.abs(y - scores) - epsilon) if "epsilon" in loss else np.maximum(0.0, 1 - y * scores)
    each = np.logaddexp(0.0, -y * scores) if loss == "logistic" else slack**2 if "squared" in loss else slack
    return 0.5 * (weights @ weights + offset**2) + costs @ each


def linear():
    sets, cases = svc_data(), []
    data = {name: sets[name] for name in ("blobs2", "imbalanced", "iris")}
    common = {"tol": 1e-10, "max_iter": 10_000_000, "random_state": 0}
    wanted = [(name, loss, c, "none") for name in data for loss in ("hinge", "squared_hinge") for c in (0.1, 1.0)]
    wanted += [("blobs2", "logistic", 1.0, "none"), ("imbalanced", "logistic", 10.0, "balanced")]
    wanted += [("imbalanced", "hinge", 1.0, "balanced"), ("imbalanced", "squared_hinge", 0.5, "balanced")]
    for name, loss, c, balance in wanted:
        x, y, z = data[name]["x"], data[name]["y"], data[name]["z"]
        settings = {"C": c, "class_weight": None if balance == "none" else balance} | common
        if loss == "logistic":
            machine = LogisticRegression(solver="liblinear", **settings).fit(x, y)
        else:
            machine = LinearSVC(loss=loss, dual=True, **settings).fit(x, y)
        classes, counts = np.unique(y, return_counts=True)
        factors = np.ones(len(y)) if balance == "none" else (len(y) / (len(classes) * counts))[np.searchsorted(classes, y)]
        positives = classes[1:] if len(classes) == 2 else classes
        objective = sum(
            linear_objective(loss, 0.0, c * factors, np.where(y == k, 1.0, -1.0), x @ w + b, w, b)
            for k, w, b in zip(positives, machine.coef_, machine.intercept_, strict=True)
        )
        decisions = machine.decision_function(z).reshape(len(z), -1)
        cases.append({"data": name, "loss": loss, "C": c, "class_weight": balance, "objective": objective,
                      "decisions": decisions, "predictions": machine.predict(z)})
    x, z = data["iris"]["x"][:, :3], data["iris"]["z"][:, :3]
    y = data["iris"]["x"][:, 3]
    for loss, c, epsilon in product(("epsilon_insensitive", "squared_epsilon_insensitive"), (0.1, 1.0), (0.0, 0.1)):
        machine = LinearSVR(loss=loss, C=c, epsilon=epsilon, dual=True, **common).fit(x, y)
        weights, offset = machine.coef_, machine.intercept_[0]
        objective = linear_objective(loss, epsilon, np.full(len(y), c), y, x @ weights + offset, weights, offset)
        cases.append({"data": "iris", "loss": loss, "C": c, "epsilon": epsilon, "objective": objective,
                      "decisions": machine.predict(z)[:, None]})
    notes = [
        "sklearn.svm.LinearSVC, LinearSVR (dual=True) and LogisticRegression (solver='liblinear'), tol=1e-10.",
        "objective: ½‖w‖² + Σ C_i loss, recomputed in double precision, summed over classes; the bias is part of w.",
        "decisions are at z. With two classes a positive one is for the second class, with more each is for its own.",
        "epsilon_insensitive and its square predict the fourth column of iris from the other three.",
    ]
    write("linear", notes, data=data, cases=cases)


# ----------------------------------------------------------------------------------------------------- LIBSVM's files


def libsvm_models():
    """Model files as LIBSVM writes them, and what LIBSVM says with them after it has read them again."""
    data, cases = libsvm_data(), []
    # classes that come in another order than their numbers have
    data["three"]["y"] = np.array([{2: 7, 5: -3, 7: 2}[label] for label in data["three"]["y"].tolist()])
    kernels = {
        "linear": "-t 0",
        "polynomial": "-t 1 -d 3 -g 0.4 -r 1.5",
        "rbf": "-t 2 -g 0.5",
        "sigmoid": "-t 3 -g 0.05 -r -0.25",
    }
    wanted = [(kind, options, name, kernel) for kind, options in (("c_svc", "-s 0 -c 2"), ("nu_svc", "-s 1 -n 0.3"))
              for name in ("two", "three") for kernel in kernels]  # fmt: skip
    wanted += [(kind, options, "sinc", kernel) for kind, options in (
        ("epsilon_svr", "-s 3 -c 2 -p 0.1"), ("nu_svr", "-s 4 -c 2 -n 0.4")) for kernel in kernels]  # fmt: skip
    wanted += [("one_class", "-s 2 -n 0.3", "cloud", kernel) for kernel in kernels]
    likely = [case for case in wanted if case[3] == "rbf"]
    for probability, (kind, options, name, kernel) in [(0, case) for case in wanted] + [(1, case) for case in likely]:
        part = data[name]
        problem = svmutil.svm_problem(part["y"].tolist(), part["x"].tolist())
        told = f"{options} {kernels[kernel]} -b {probability} -e 1e-4 -m 50 -q"
        model = svmutil.svm_train(problem, svmutil.svm_parameter(told))
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "model")
            svmutil.svm_save_model(path, model)
            text = Path(path).read_text(encoding="ascii")
            # the file has eight digits of each coordinate, so that only what was read again can be compared
            model = svmutil.svm_load_model(path)
        k, classes = model.get_nr_class(), kind.endswith("svc")
        decisions, labels, probabilities = [], [], []
        room, shares = (svmutil.c_double * (k * (k - 1) // 2))(), (svmutil.c_double * k)()
        for point in part["z"].tolist():
            nodes = svmutil.gen_svm_nodearray(point)[0]
            labels.append(svmutil.libsvm.svm_predict_values(model, nodes, room))
            decisions.append(list(room) if classes else [room[0]])
            if probability and classes:
                svmutil.libsvm.svm_predict_probability(model, nodes, shares)
                probabilities.append(list(shares))
        case = {"svm_type": kind, "kernel": kernel, "options": told, "data": name, "text": text, "decisions": decisions}
        if classes:
            case |= {"labels": model.get_labels(), "predictions": labels}
        if probabilities:
            case["probabilities"] = probabilities
        cases.append(case)
    notes = [
        "text: the file of svm-train; decisions, predictions and probabilities: of z, by LIBSVM after reading that file.",
        "labels: the classes in the order of the file; decisions: pairs of them in that order, positive for the first.",
        "probabilities: in the order of labels. LIBSVM couples three classes up to 0.005/3, two are exact.",
    ]
    new_points = {name: {"z": part["z"]} for name, part in data.items()}
    write("libsvm_models", notes, packages=("libsvm-official",), data=new_points, cases=cases)


# ------------------------------------------------------------------------------------------------------ nearest mean


def nearest_mean():
    rng = np.random.default_rng(9)
    data = {}
    for name, centres, sizes in (
        ("two", [[0.0, 0.0, 0.0], [1.0, -1.0, 0.5]], [12, 7]),
        ("four", [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 1.0], [-1.0, -1.0, -1.0]], [9, 6, 5, 4]),
    ):
        x = np.vstack([rng.standard_normal((n, 3)) + c for n, c in zip(sizes, centres, strict=True)])
        y = np.repeat(np.arange(len(sizes)), sizes)
        order = rng.permutation(len(x))
        data[name] = {"x": x[order], "y": y[order], "z": rng.uniform(-2, 3, (8, 3))}
    cases = []
    for name, part in data.items():
        x, y, z = part["x"], part["y"], part["z"]
        classes = np.unique(y)
        for formula, settings in (LINEAR, rbf(0.5), laplacian(0.3), poly(2, 0.5, 1.0)):

            def kernel(a, b, settings=settings):
                return matrix(settings, a[None, :], b[None, :])[0, 0]

            squared = np.zeros((len(z), len(classes)))
            scores = np.zeros_like(squared)
            for k, label in enumerate(classes):
                members = x[y == label]
                within = sum(kernel(a, b) for a in members for b in members) / len(members) ** 2
                for i, point in enumerate(z):
                    to_mean = sum(kernel(point, a) for a in members) / len(members)
                    squared[i, k] = kernel(point, point) - 2.0 * to_mean + within
                    scores[i, k] = to_mean - 0.5 * within
            case = {
                "data": name,
                "formula": formula,
                "classes": classes,
                "squared_distances": squared,
                "scores": scores,
                "predictions": classes[np.argmin(squared, axis=1)],
            }
            if formula == "linear":
                machine = NearestCentroid().fit(x, y)
                case["nearest_centroid"] = machine.predict(z)
                straight = cdist(z, machine.centroids_, "sqeuclidean")
                if np.abs(straight - squared).max() > 1e-10 or (case["predictions"] != machine.predict(z)).any():
                    raise SystemExit("the definition and NearestCentroid do not agree")
            cases.append(case)
    notes = [
        "squared_distances[i][c] = κ(z,z) - 2 mean κ(z,x) + mean κ(x,x'), x and x' over class c: a loop over all pairs.",
        "scores[i][c] = mean κ(z,x) - ½ mean κ(x,x'); predictions: the smallest distance, which is the largest score.",
        "With two classes the decision function is scores[i][1] - scores[i][0]: mean minus mean, minus the threshold.",
        "nearest_centroid: the predictions of sklearn.neighbors.NearestCentroid (linear kernel only).",
    ]
    write("nearest_mean", notes, data=data, cases=cases)


# ------------------------------------------------------------------------------------------------------- comparisons


def comparisons():
    rng = np.random.default_rng(21)
    data = {}
    for name, n, d, classes in (("two", 40, 3, 2), ("three", 60, 2, 3), ("wide", 12, 20, 2)):
        y = np.arange(n) % classes
        x = rng.standard_normal((n, d)) + 0.8 * np.eye(classes, d)[y]
        data[name] = {"x": x, "y": y, "t": np.sin(x[:, 0]) + 0.1 * rng.standard_normal(n), "z": rng.standard_normal((15, d))}
    cases = []
    for name, part in data.items():
        x, y, t, z = part["x"], part["y"], part["t"], part["z"]
        for formula, settings in (LINEAR, rbf(0.5), poly(2, 0.5, 1.0)):

            def apart(a, b, settings=settings):
                own = [matrix(settings, v[None, :], v[None, :])[0, 0] for v in a]
                other = [matrix(settings, v[None, :], v[None, :])[0, 0] for v in b]
                return np.sqrt(np.maximum(np.add.outer(own, other) - 2.0 * matrix(settings, a, b), 0.0))

            for k, weights in ((1, "uniform"), (4, "uniform"), (4, "distance"), (9, "distance")):
                votes = KNeighborsClassifier(k, weights=weights, metric="precomputed").fit(apart(x, x), y)
                means = KNeighborsRegressor(k, weights=weights, metric="precomputed").fit(apart(x, x), t)
                case = {"machine": "knn", "data": name, "formula": formula, "k": k, "weighting": weights}
                d = apart(z, x)
                cases.append(case | {"shares": votes.predict_proba(d), "labels": votes.predict(d), "means": means.predict(d)})
        weights = 1.0 + np.arange(len(x)) % 3
        for sample_weight in (None, weights):
            line = LinearRegression().fit(x, t, sample_weight=sample_weight)
            case = {"machine": "linear_regression", "data": name, "weights": sample_weight}
            cases.append(case | {"coefficients": line.coef_, "intercept": line.intercept_, "scores": line.predict(z)})
        for lam in (0.1, 1.0):
            plane = LogisticRegression(C=1.0 / lam, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
            plane = OneVsRestClassifier(plane).fit(x, y)
            case = {"machine": "logistic_regression", "data": name, "lambda": lam}
            cases.append(case | {"scores": plane.decision_function(z), "labels": plane.predict(z)})
        # a class of six has no covariance of twenty coordinates
        for gamma in (0.1, 0.5) if name == "wide" else (0.0, 0.1, 0.5):
            made = {
                "linear_fisher": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=gamma),
                "quadratic_discriminant": QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=gamma),
            }
            for machine, clouds in made.items():
                clouds.fit(x, y)
                case = {"machine": machine, "data": name, "gamma": gamma, "probabilities": clouds.predict_proba(z)}
                cases.append(case | {"scores": clouds.decision_function(z), "labels": clouds.predict(z)})
    notes = [
        "linear_fisher: LinearDiscriminantAnalysis(solver='lsqr', shrinkage=gamma); with two classes one score, positive for 1.",
        "quadratic_discriminant: QuadraticDiscriminantAnalysis(solver='eigen', shrinkage=gamma), covariances over n; scores as above.",
        "knn: KNeighborsClassifier and KNeighborsRegressor on distances in feature space; shares are predict_proba, means those of t.",
        "linear_regression: LinearRegression of t on x, with weights where there are some.",
        "logistic_regression: LogisticRegression(C = 1/lambda), one class against the rest; with two classes one score, positive for 1.",
    ]
    write("comparisons", notes, data=data, cases=cases)


# ------------------------------------------------------------------------------------------------------- calibration


def newton_sigmoid(scores, y, weights):
    """Platt's A and B by Newton's method to rounding level, with damping."""
    positive, negative = weights[y == 1].sum(), weights[y == 0].sum()
    target = np.where(y == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))
    design, theta = np.column_stack([scores, np.ones_like(scores)]), np.zeros(2)

    def loss(theta):
        z = design @ theta
        return np.sum(weights * (target * z + np.logaddexp(0, -z)))

    for _ in range(200):
        p = scipy.special.expit(-design @ theta)
        gradient = design.T @ (weights * (target - p))
        step = np.linalg.solve((design * (weights * p * (1 - p))[:, None]).T @ design, gradient)
        size = 1.0
        while loss(theta - size * step) > loss(theta) + 1e-12:
            size /= 2
        theta = theta - size * step
    return theta


def calibration():
    rng = np.random.default_rng(11)
    curves = []
    for name, n, slope in (("few", 12, 1.0), ("many", 150, 2.5), ("separated", 20, 1e3), ("coarse", 60, 1.0)):
        scores = rng.standard_normal(n)
        if name == "coarse":
            scores = np.round(scores, 1)
        y = (rng.random(n) < scipy.special.expit(slope * scores - 0.3)).astype(int)
        for weights in (None, rng.uniform(0.1, 3.0, n)):
            ours = newton_sigmoid(scores, y, np.ones(n) if weights is None else weights)
            theirs = np.array(_sigmoid_calibration(scores, y, weights))
            isotonic = IsotonicRegression().fit(scores, y, weights).predict(scores)
            curves.append(
                {
                    "name": name,
                    "scores": scores,
                    "y": y,
                    "weights": weights,
                    "sigmoid": theirs,
                    "sigmoid_error": np.abs(ours - theirs).max(),
                    "newton": ours,
                    "isotonic": isotonic,
                }
            )
    data, cases = {}, []
    for name in ("blobs2", "moons"):
        part = svc_data()[name]
        x, y, z = part["x"], part["y"], part["z"]
        data[name] = part
        folds = [(train, test) for train, test in StratifiedKFold(4).split(x, y)]
        for formula, settings in (LINEAR, rbf(0.5)):
            machine = SVC(C=2.0, tol=1e-8, **settings)
            held_out = cross_val_predict(machine, x, y, cv=folds, method="decision_function")
            model = CalibratedClassifierCV(machine, method="sigmoid", cv=folds, ensemble=False).fit(x, y)
            p = model.predict_proba(z)
            inside = model.predict_proba(x)
            calibrator = model.calibrated_classifiers_[0].calibrators[0]
            exact = newton_sigmoid(held_out, y, np.ones(len(y)))
            error = np.abs(exact - [calibrator.a_, calibrator.b_]).max()
            cases.append(
                {
                    "data": name,
                    "formula": formula,
                    "C": 2.0,
                    "folds": [test for _, test in folds],
                    "held_out": held_out,
                    "sigmoid": [calibrator.a_, calibrator.b_],
                    "sigmoid_error": error,
                    "decisions": machine.fit(x, y).decision_function(z),
                    "probabilities": p,
                    "inside": inside,
                    "log_loss": log_loss(y, inside),
                    "brier": brier_score_loss(y, inside[:, 1]),
                }
            )
    notes = [
        "sigmoid: A and B of 1 / (1 + exp(A f + B)) by sklearn.calibration._sigmoid_calibration, found by L-BFGS.",
        "newton: the same minimum by Newton's method to rounding level; sigmoid_error: the largest difference of the two.",
        "isotonic: sklearn.isotonic.IsotonicRegression on the labels 0 and 1 as they are, at the scores themselves.",
        "cases: CalibratedClassifierCV(SVC(tol=1e-8), method='sigmoid', ensemble=False) with the folds given.",
        "held_out: the decision value of each example by the fit without its fold, positive for class 1.",
        "probabilities at z and inside at x, columns class 0 and class 1; log_loss and brier are of inside.",
    ]
    write("calibration", notes, curves=curves, data=data, cases=cases)


# ----------------------------------------------------------------------------------------------------------- strings

STRINGS = [
    "",
    "A",
    "ACGT",
    "GATTACA",
    "ACACACAC",
    "TTTTTT",
    "statistics",
    "computing",
    "cat",
    "car",
    "naïve café",
    "e\u0301te\u0301",
    "日本語の日本",
    "a b  a",
    "🙂a🙂b🙂",
]


def spectrum(u, v, length):
    def count(s):
        return Counter(s[i : i + length] for i in range(len(s) - length + 1))

    left, right = count(u), count(v)
    return sum(n * right[word] for word, n in left.items())


def subsequence(u, v, length, decay):
    """Σ over words of φ(u) φ(v), where φ(s) sums decay^(last - first + 1) over all places of the word in s."""

    def features(s):
        found = defaultdict(float)
        for places in combinations(range(len(s)), length):
            found["".join(s[i] for i in places)] += decay ** (places[-1] - places[0] + 1)
        return found

    left, right = features(u), features(v)
    return sum(weight * right[word] for word, weight in left.items() if word in right)


def strings():
    cases = []
    for length in (1, 2, 3, 5):
        values = [[spectrum(u, v, length) for v in STRINGS] for u in STRINGS]
        cases.append({"kernel": "spectrum", "length": length, "expected": values})
    for length, decay in ((1, 0.5), (2, 0.5), (2, 1.0), (3, 0.8), (4, 0.3)):
        values = [[float(subsequence(u, v, length, decay)) for v in STRINGS] for u in STRINGS]
        cases.append({"kernel": "subsequence", "length": length, "decay": decay, "expected": values})
    known = cases[[c["kernel"] for c in cases].index("subsequence") + 1]["expected"]
    if known[STRINGS.index("cat")][STRINGS.index("car")] != 0.5**4:
        raise SystemExit("cat and car share `ca` alone")
    notes = [
        "A letter is a Unicode scalar value (Python's str), not a byte and not a grapheme.",
        "spectrum: the number of pairs of places with the same run of exactly `length` letters.",
        "subsequence: exactly `length` letters in order, gaps allowed; an occurrence weighs decay^(last - first + 1).",
        "No value is normalised.",
    ]
    write("strings", notes, strings=STRINGS, cases=cases)


if __name__ == "__main__":
    kernels()
    ridge()
    pca()
    svc()
    libsvm()
    linear()
    libsvm_models()
    nearest_mean()
    comparisons()
    calibration()
    strings()
