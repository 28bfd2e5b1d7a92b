"""mercer's Python package beside scikit-learn (and scikit-learn-intelex where it is installed): fit, predict, searches, memory.

    python bench/python.py [--rounds 5] [--only SVC] [--quick] [--results bench/results]
    python bench/python.py --dense        other machines than support vectors on dense vectors with many columns

Needs the installed package (`pip install .`). Each side is a process of its own that lives as long as the bench; they take
turns, and a ratio is their time over ours in the same round. Times are those of the calls as users make them: checks,
conversions and copies included, the best of a few calls where one is short. Both sides may use all cores; data are standardised
and generated, the same for all. Writes python.md; the exit status is 1 where a median is below 0.97 from n = 50 upward, which is as
near to one as times can be told apart.
"""

import argparse
import importlib
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

SIDES = {"mercer": "mercer", "scikit-learn": "sklearn", "scikit-learn-intelex": "sklearnex"}
HOMES = {"KernelRidge": "kernel_ridge", "KernelPCA": "decomposition", "KNeighborsClassifier": "neighbors", "KMeans": "cluster"}
# estimator, parameters, kind of data, sizes
CASES = [
    ("SVC", {}, "two classes", (50, 150, 500, 2000, 10000)),
    ("SVC", {"probability": True}, "two classes", (150, 500, 2000)),
    ("SVC", {"kernel": "linear"}, "two classes", (50, 500, 2000)),
    ("SVC", {"kernel": "poly"}, "five classes", (50, 500, 2000)),
    ("SVC", {}, "five classes", (50, 500, 2000, 10000)),
    ("SVC", {}, "iris", (150,)),
    ("SVC", {"C": 10.0, "gamma": 0.001}, "digits", (1797,)),
    ("NuSVC", {"nu": 0.4}, "two classes", (50, 500, 2000)),
    ("SVR", {}, "numbers", (50, 500, 2000, 10000)),
    ("NuSVR", {}, "numbers", (50, 500, 2000)),
    ("OneClassSVM", {"nu": 0.1}, "numbers", (50, 500, 2000, 10000)),
    ("LinearSVC", {}, "two classes", (50, 500, 5000, 50000)),
    ("LinearSVR", {"epsilon": 0.1}, "numbers", (50, 500, 5000)),
    ("KernelRidge", {"kernel": "rbf"}, "numbers", (50, 500, 2000, 4000)),
    ("KernelPCA", {"n_components": 5, "kernel": "rbf"}, "numbers", (50, 500, 2000, 4000)),
]
# the same on vectors as embeddings are: rows, columns, classes; where scikit-learn has another class, its name and parameters
DENSE = {"embeddings 6000 × 768": (6000, 768, 10), "embeddings 10000 × 768": (10000, 768, 2), "embeddings 4000 × 1536": (4000, 1536, 20),
         "embeddings 20000 × 384": (20000, 384, 2)}  # fmt: skip
DENSE_CASES = [
    ("LinearSVC", {}, ()),
    ("LinearSVR", {"epsilon": 0.1}, ()),
    ("KernelRidge", {"kernel": "rbf", "gamma": 1.0, "alpha": 1.0}, ()),
    ("KernelPCA", {"n_components": 8, "kernel": "rbf", "gamma": 1.0}, ()),
    ("Knn", {"k": 5, "kernel": "linear"}, ("KNeighborsClassifier", {"n_neighbors": 5})),
    ("KernelKMeans", {"clusters": 10, "restarts": 1, "kernel": "linear"}, ("KMeans", {"n_clusters": 10, "n_init": 1})),
    ("rbf", {"gamma": 1.0}, ("rbf_kernel", {"gamma": 1.0})),
]
SEARCHES = [("iris", 150), ("digits", 1797), ("two classes", 2000)]
MEMORY = [("SVC", {}, "two classes", 20000), ("KernelRidge", {"kernel": "rbf"}, "numbers", 4000)]


# ----------------------------------------------------------------------------------------------------------- one side


def data(kind, n):
    from sklearn import datasets as d
    from sklearn.preprocessing import scale

    if kind in DENSE:
        return embeddings(*DENSE[kind])
    if kind in ("iris", "digits"):
        X, y = getattr(d, f"load_{kind}")(return_X_y=True)
        return (X, y) if kind == "iris" else (scale(X), y)
    if kind == "numbers":
        X, y = d.make_friedman1(n, 10, noise=1.0, random_state=0)
        return scale(X), scale(y)
    classes = 2 if kind == "two classes" else 5
    X, y = d.make_classification(n, 20, n_informative=10, n_classes=classes, flip_y=0.05, random_state=0)
    return scale(X), y


def embeddings(n, d, classes):
    """Clouds in 40 of many directions on the unit sphere."""
    import numpy as np

    rng = np.random.default_rng([n, d])
    y = rng.integers(0, classes, n)
    z = rng.normal(size=(classes, 40))[y] / np.sqrt(2) + rng.normal(size=(n, 40))
    X = z @ rng.normal(size=(40, d)) / np.sqrt(40) + 0.1 * rng.normal(size=(n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def estimator(side, name, params):
    if side == "mercer":
        module = importlib.import_module("mercer")
    else:
        try:
            module = importlib.import_module(f"{SIDES[side]}.{HOMES.get(name, 'svm')}")
        except ModuleNotFoundError:
            return None
        if not hasattr(module, name):
            return None
    return getattr(module, name)(**params)


def best_of(call):
    """The shortest of a few calls; long ones are made once."""
    times, began = [], time.perf_counter()
    while not times or (len(times) < 20 and time.perf_counter() - began < 0.1):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def run_case(side, name, params, kind, n):
    X, y = data(kind, n)
    model = estimator(side, name, params)
    if model is None:
        return None
    fit = best_of(lambda: model.fit(X, y))
    answer = "transform" if name == "KernelPCA" else "predict"
    return {"fit": fit, "predict": best_of(lambda: getattr(model, answer)(X)), "score": score_of(model, X, y)}


def score_of(model, X, y):
    if hasattr(model, "transform"):
        return float(model.eigenvalues_[0])
    return float((model.predict(X) == 1).mean()) if not hasattr(model, "score") else float(model.score(X, y))


def run_dense(side, ours, theirs, kind):
    """Fit, and the answer to as many rows as test sets have."""
    X, y = data(kind, 0)
    (name, params), few = (ours if side == "mercer" or not theirs else theirs), X[:2000]
    if name in ("rbf", "rbf_kernel"):
        if side == "mercer":
            from mercer.kernels import RBF

            matrix = RBF(**params)
        elif side == "scikit-learn":
            from sklearn.metrics.pairwise import rbf_kernel

            def matrix(X):
                return rbf_kernel(X, **params)
        else:
            return None
        return {"fit": best_of(lambda: matrix(X)), "score": float(matrix(few)[:, 0].sum())}
    model = estimator(side, name, params)
    if model is None:
        return None
    y = y.astype(float) if name in ("LinearSVR", "KernelRidge") else y
    fit = best_of(lambda: model.fit(X, y))
    answer = getattr(model, "predict", None) or model.transform
    score = score_of(model, X, y) if name not in ("KernelKMeans", "KMeans") else len(set(model.labels_.tolist()))
    return {"fit": fit, "predict": best_of(lambda: answer(few)), "score": score}


def run_search(side, kind, n):
    import numpy as np

    X, y = data(kind, n)
    grid = {"C": list(np.logspace(-1, 3, 7)), "gamma": list(np.logspace(-4, 0, 7))}
    if side == "mercer":
        from mercer import SVC, MercerSearchCV

        search = MercerSearchCV(SVC(), grid)
    else:
        from sklearn.model_selection import GridSearchCV

        search = GridSearchCV(estimator(side, "SVC", {}), grid, n_jobs=os.cpu_count())
    start = time.perf_counter()
    search.fit(X, y)
    return {"search": time.perf_counter() - start, "score": float(search.best_score_)}


def run_memory(side, name, params, kind, n):
    """Peak memory of a process that fits, beyond what it needs with everything imported and the data made."""
    X, y = data(kind, n)
    model = estimator(side, name, params)
    if model is None:
        return None
    small = data(kind, 60)
    model.fit(*small)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model.fit(X, y)
    return {"megabytes": max(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 0) / 1024}


def serve(side):
    """Answers cases, one line of JSON each."""
    warnings.filterwarnings("ignore")
    work = {"case": run_case, "dense": run_dense, "search": run_search, "memory": run_memory}
    for line in sys.stdin:
        kind, *told = json.loads(line)
        print(json.dumps(work[kind](side, *told)), flush=True)


# ------------------------------------------------------------------------------------------------------------ the bench


class Side:
    def __init__(self, name):
        self.name = name
        # settings of OpenBLAS for one kind of processor would slow the other side down
        env = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
        self.process = subprocess.Popen([sys.executable, __file__, "--serve", name], stdin=subprocess.PIPE, env=env,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # fmt: skip

    def ask(self, *told):
        self.process.stdin.write(json.dumps(told) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} broke down at {told}")
        return json.loads(line)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def ratios(rounds, key, side):
    """Their time over ours in each round: median (smallest–largest), or None where they have no such estimator."""
    both = [(r["mercer"][key], r[side][key]) for r in rounds if r.get(side)]
    return [theirs / ours for ours, theirs in both]


def show(values):
    return f"{statistics.median(values):.3g} ({min(values):.3g}–{max(values):.3g})" if values else "–"


def describe(name, params, kind, n):
    words = ", ".join(f"{k}={v}" for k, v in params.items())
    return f"`{name}({words})`, {kind}, n = {n}"


def end(sides, lines, slow, args, name):
    """Writes the tables; the exit status."""
    for side in sides:
        side.end()
    lines += ["## Slower than scikit-learn", "", *(f"- {s}" for s in slow or ["nothing"]), ""]
    if not args.only:
        args.results.mkdir(parents=True, exist_ok=True)
        (args.results / name).write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))
    return 1 if slow else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose description has this text")
    parser.add_argument("--quick", action="store_true", help="three rounds, n up to 2000")
    parser.add_argument("--results", default=Path(__file__).resolve().parent / "results", type=Path)
    parser.add_argument("--dense", action="store_true", help="other machines than support vectors on dense vectors with many columns")
    parser.add_argument("--serve", choices=SIDES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve(args.serve)
    rounds = 3 if args.quick else args.rounds
    names = [name for name, module in SIDES.items() if importlib.util.find_spec(module)]
    others = names[1:]
    sides = [Side(name) for name in names]
    import sklearn

    lines = ["# The Python package beside scikit-learn", "",
             f"Their time over ours, median (smallest–largest) of {rounds} rounds; {os.cpu_count()} cores, scikit-learn {sklearn.__version__}.",
             "`python bench/python.py` measures it again and says how. Both sides' training scores are beside each other.", ""]  # fmt: skip
    slow, low = [], 0.97  # nearer to one than times can be told apart

    def table(head, rows):
        lines.extend(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(r) + " |" for r in rows), ""])

    def ask(words, *told):
        done = [{s.name: s.ask(*told) for s in sides} for _ in range(rounds)]
        cells = [words]
        for key in ("fit", "predict"):
            for other in others:
                values = ratios(done, key, other) if key in done[0]["mercer"] else []
                cells.append(show(values))
                if values and other == "scikit-learn" and statistics.median(values) < low:
                    slow.append(f"{words}: {key} {statistics.median(values):.2f}")
        scores = [f"{done[0][s.name]['score']:.4g}" for s in sides[:2]]
        print(" | ".join(cells), file=sys.stderr, flush=True)
        return [*cells, " / ".join(scores), f"{1e3 * statistics.median(d['mercer']['fit'] for d in done):.3g}"]

    rows, heads = [], ["case", *(f"fit, {o}" for o in others), *(f"predict, {o}" for o in others), "scores", "our fit, ms"]
    if args.dense:
        for name, params, theirs in DENSE_CASES:
            for kind in DENSE:
                words = describe(name, params, *kind.split(" ", 1)).replace("n = ", "")
                if args.only in words:
                    rows.append(ask(words, "dense", (name, params), theirs, kind))
        table(heads, rows)
        return end(sides, lines, slow, args, "python-dense.md")
    for name, params, kind, sizes in CASES:
        for n in sizes:
            words = describe(name, params, kind, n)
            if args.only in words and not (args.quick and n > 2000):
                rows.append(ask(words, "case", name, params, kind, n))
    table(heads, rows)
    rows = []
    for kind, n in SEARCHES:
        if args.only not in "search" or (args.quick and n > 500):
            continue
        done = [{s.name: s.ask("search", kind, n) for s in sides} for _ in range(1 if n > 500 else rounds)]
        scores = " / ".join(f"{done[0][s.name]['score']:.4f}" for s in sides[:2])
        rows.append([f"{kind}, n = {n}", *(show(ratios(done, "search", o)) for o in others), scores])
        slow += [rows[-1][0]] if min(ratios(done, "search", "scikit-learn")) < low else []
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    for side in sides:
        side.end()
    if rows:
        lines += ["## Searches", "", "`MercerSearchCV(SVC(), 7 C × 7 γ, five folds)` over `GridSearchCV` with a process for each core.", ""]
        table(["data", *others, "best scores"], rows)
    rows = []
    for name, params, kind, n in MEMORY if args.only in "memory" else []:
        taken = {}
        for label in names:
            side = Side(label)
            taken[label] = side.ask("memory", name, params, kind, n)
            side.end()
        rows.append([describe(name, params, kind, n), *(f"{taken[s]['megabytes']:.0f}" if taken[s] else "–" for s in names)])
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    if rows:
        lines += ["## Memory", "", "Megabytes that a fit adds to the peak of its process.", ""]
        table(["case", *names], rows)
    return end([], lines, slow, args, "python.md")


if __name__ == "__main__":
    sys.exit(main())
