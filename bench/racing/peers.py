"""The other side of the race: one peer, one fit and one prediction in this process, one JSON line on standard output.

    python peers.py PEER FOLDER --task svc|svr|linear --c C --gamma G … --out FILE.npz

FOLDER is what sets.py wrote. Only the fit and the prediction are timed; test rows are read after the fit. The
coefficients go to FILE.npz for check.py. Two empty or small files beside it, .started and .fitted, tell the race how far
a run came that had to be stopped.
"""

import argparse
import json
import logging
import time
from pathlib import Path

import numpy as np
import sets
from scipy import sparse


class Memory:
    """Peak memory during the fit, and what was there before it (Linux; elsewhere nothing is told)."""

    def __init__(self):
        self.before = self.read("VmRSS")
        try:
            Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
        except OSError:
            self.before = None

    @staticmethod
    def read(name):
        try:
            lines = Path("/proc/self/status").read_text().splitlines()
        except OSError:
            return None
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name + ":"))

    def peak(self):
        return self.read("VmHWM")


class Watch:
    """Times the fit, and leaves the two files."""

    def __init__(self, out):
        self.out, self.nodes_mb = Path(out), 0.0

    def fit(self, work):
        memory = Memory()
        self.out.with_suffix(".started").touch()
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        self.answer = {"fit": seconds, "peak_mb": memory.peak()}
        if self.nodes_mb and memory.before is not None:
            # what the C library itself would need: its nodes and what the fit added, without Python and its arrays
            self.answer["own_mb"] = self.answer["peak_mb"] - memory.before + self.nodes_mb
        self.out.with_suffix(".fitted").write_text(json.dumps(self.answer))
        return result

    def predict(self, work):
        start = time.perf_counter()
        result = work()
        self.answer["predict"] = time.perf_counter() - start
        return np.asarray(result, dtype=float)


def estimator(args, module):
    if args.task == "linear":
        # the dual solver is the one that knows both losses, and LIBLINEAR's choice for sparse rows
        return module.LinearSVC(C=args.c, loss=args.loss, tol=args.tolerance, dual=True, intercept_scaling=1.0,
                                max_iter=1_000_000, random_state=0)  # fmt: skip
    common = {"C": args.c, "kernel": "rbf", "gamma": args.gamma, "tol": args.tolerance, "cache_size": args.cache}
    return module.SVC(**common) if args.task == "svc" else module.SVR(epsilon=args.epsilon, **common)


def like_sklearn(args, module, watch):
    x, y = sets.read(args.folder, "train")
    y = y if args.task == "svr" else y.astype(np.int64)
    x = x.toarray() if args.dense else x
    machine = estimator(args, module)
    watch.fit(lambda: machine.fit(x, y))
    xt, _ = sets.read(args.folder, "test")
    xt = xt.toarray() if args.dense else xt
    predicted = watch.predict(lambda: machine.predict(xt))
    if args.task == "linear":
        return {"weights": machine.coef_.T, "bias": machine.intercept_, "order": machine.classes_, "pred": predicted}
    dual = machine.dual_coef_
    dual = dual.toarray() if sparse.issparse(dual) else np.asarray(dual)
    order = machine.classes_ if args.task == "svc" else []
    return {"support": machine.support_, "dual": dual, "order": order, "pred": predicted}


def sklearn(args, watch):
    from sklearn import svm

    return like_sklearn(args, svm, watch)


def intelex(args, watch):
    import daal4py
    from sklearnex import svm

    daal4py.daalinit(args.threads)
    words = []
    handler = logging.Handler()
    handler.emit = lambda record: words.append(record.getMessage())
    log = logging.getLogger("sklearnex")
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    result = like_sklearn(args, svm, watch)
    if any("fallback" in word for word in words):
        watch.answer["note"] = "fell back to scikit-learn for " + ", ".join(
            sorted({w.split(":")[0].split(".")[-1] for w in words if "fallback" in w})
        )
    return result


def as_csr(x):
    return x if sparse.isspmatrix_csr(x) else sparse.csr_matrix(x)


def pointers(c_array, rows):
    return np.ctypeslib.as_array(c_array, (rows,))


def libsvm(args, watch):
    from libsvm import svm

    x, y = sets.read(args.folder, "train")
    kind = 0 if args.task == "svc" else 3
    text = f"-s {kind} -t 2 -g {args.gamma!r} -c {args.c!r} -e {args.tolerance!r} -m {args.cache} -p {args.epsilon!r} -q"
    parameter, problem = svm.svm_parameter(text), svm.svm_problem(y, as_csr(x))
    del x
    watch.nodes_mb = problem.x_space.nbytes / 2**20
    svm.libsvm.svm_set_print_string_function(parameter.print_func)
    fault = svm.libsvm.svm_check_parameter(problem, parameter)
    if fault:
        raise SystemExit(f"LIBSVM: {fault.decode()}")
    model = watch.fit(lambda: svm.libsvm.svm_train(problem, parameter))
    inner = model.contents
    xt, yt = sets.read(args.folder, "test")
    test = svm.svm_problem(yt, as_csr(xt))
    one = svm.libsvm.svm_predict
    predicted = watch.predict(lambda: [one(model, test.x[i]) for i in range(test.l)])
    rows = inner.nr_class - 1
    dual = np.stack([pointers(inner.sv_coef[k], inner.l) for k in range(rows)])
    order = pointers(inner.label, inner.nr_class) if args.task == "svc" else []
    return {"support": pointers(inner.sv_indices, inner.l) - 1, "dual": dual, "order": order, "pred": predicted}


def liblinear(args, watch):
    from liblinear import liblinear as lib

    x, y = sets.read(args.folder, "train")
    kind = {"hinge": 3, "squared_hinge": 1}[args.loss]
    parameter = lib.parameter(f"-s {kind} -c {args.c!r} -e {args.tolerance!r} -q")
    problem = lib.problem(y, as_csr(x), 1.0)
    lib.liblinear.set_print_string_function(parameter.print_func)
    model = watch.fit(lambda: lib.liblinear.train(problem, parameter))
    inner = model.contents
    xt, yt = sets.read(args.folder, "test")
    test = lib.problem(yt, as_csr(xt), 1.0)
    one = lib.liblinear.predict
    predicted = watch.predict(lambda: [one(model, test.x[i]) for i in range(test.l)])
    columns = 1 if inner.nr_class == 2 else inner.nr_class
    weights = pointers(inner.w, (inner.nr_feature + 1) * columns).reshape(-1, columns)
    order = pointers(inner.label, inner.nr_class)
    return {"weights": weights[:-1], "bias": weights[-1], "order": order, "pred": predicted}


def grid(args, watch):
    """Not a set but a search: GridSearchCV with two processes."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    x, y = sets.read(args.folder, "train")
    values = {"C": [float(v) for v in args.grid_c.split(",")], "gamma": [float(v) for v in args.grid_gamma.split(",")]}
    search = GridSearchCV(SVC(tol=args.tolerance, cache_size=args.cache), values, cv=args.folds, n_jobs=args.threads)
    watch.fit(lambda: search.fit(x, y.astype(np.int64)))
    xt, _ = sets.read(args.folder, "test")
    predicted = watch.predict(lambda: search.predict(xt))
    watch.answer |= {"best": search.best_params_, "score": 1 - search.best_score_}
    return {"pred": predicted}


PEERS = {f.__name__: f for f in (sklearn, intelex, libsvm, liblinear, grid)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", required=True)
    parser.add_argument("--c", type=float)
    parser.add_argument("--gamma", type=float)
    parser.add_argument("--epsilon", type=float, default=0.1)
    parser.add_argument("--loss")
    parser.add_argument("--tolerance", type=float, default=1e-3)
    parser.add_argument("--cache", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dense", action="store_true", help="make sparse rows dense first")
    parser.add_argument("--grid-c")
    parser.add_argument("--grid-gamma")
    parser.add_argument("--folds", type=int)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    watch = Watch(args.out)
    result = PEERS[args.peer](args, watch)
    np.savez(args.out, **{name: np.asarray(value) for name, value in result.items()})
    print(json.dumps(watch.answer))


if __name__ == "__main__":
    main()
