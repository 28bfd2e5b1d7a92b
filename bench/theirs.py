"""The other side of the comparison: one case, timed in this process, one JSON line on standard output.

Called by bench/run.py inside its environment:

    theirs.py CASE [FILE] [--gamma G] [--repeat K] …

The line is {"case": …, "seconds": […], "note": …, "check": […], …}. `check` holds a few of the computed numbers; when the
other program prints them too, run.py compares them.
"""

import argparse
import json
import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np


def timed(repeat, work):
    """Run `work` `repeat` times; the seconds of each, and the last result."""
    seconds, result = [], None
    for _ in range(repeat):
        result = None  # frees the memory of the run before
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return seconds, result


def entries(k):
    """The numbers that both sides print of a square matrix."""
    n = k.shape[0]
    return [float(k[0, 1]), float(k[n - 1, 0]), float(k[n // 2].sum(dtype=np.float64))]


# ------------------------------------------------------------------------------------------------------------- matrices


def gram_data(args):
    """Write X.npy in single or double precision: independent standard normal entries."""
    x = np.random.default_rng(7).standard_normal((args.n, args.d))
    np.save(args.file, x.astype(np.float32 if args.single else np.float64))
    return {"seconds": []}


def rbf(args):
    from sklearn.metrics.pairwise import rbf_kernel

    x = np.load(args.file)
    seconds, k = timed(args.repeat, lambda: rbf_kernel(x, gamma=args.gamma))
    return {"seconds": seconds, "check": entries(k), "note": f"sklearn rbf_kernel, {k.dtype}"}


def dot(args):
    x = np.load(args.file)
    out = np.empty((len(x), len(x)), dtype=x.dtype)
    out.fill(1.0)
    seconds, k = timed(args.repeat, lambda: np.dot(x, x.T, out=out))
    return {"seconds": seconds, "check": entries(k), "note": f"np.dot into a touched buffer, {k.dtype}"}


def rbf_sparse(args):
    from sklearn.metrics.pairwise import rbf_kernel

    x, _ = load_svmlight(args.file)
    x = x[: args.rows]
    seconds, k = timed(args.repeat, lambda: rbf_kernel(x, gamma=args.gamma))
    return {"seconds": seconds, "check": entries(k), "note": "sklearn rbf_kernel on CSR"}


def stream(args):
    """K v by blocks of rows, one block for each thread at a time; nothing larger than a block is kept."""
    from threadpoolctl import threadpool_limits

    x = np.load(args.file)
    n, v, squares = len(x), np.cos(np.arange(len(x))), np.einsum("ij,ij->i", x, x)
    rows = 64

    def block(start):
        part = slice(start, min(start + rows, n))
        k = x[part] @ x.T
        k *= 2.0
        k -= squares[part, None]
        k -= squares
        k *= args.gamma
        np.exp(k, out=k)
        return k @ v

    def work():
        with threadpool_limits(1), ThreadPoolExecutor(args.threads) as pool:
            return np.concatenate(list(pool.map(block, range(0, n, rows))))

    seconds, y = timed(args.repeat, work)
    return {
        "seconds": seconds,
        "check": [float(y[0]), float(y[-1])],
        "note": "NumPy by blocks of rows, threads over blocks",
    }


# -------------------------------------------------------------------------------------------------------------- strings


def string_data(args):
    """Random DNA, one string in a line."""
    letters = np.array(list("ACGT"))
    picks = np.random.default_rng(8).integers(0, 4, (args.n, args.d))
    with open(args.file, "w", encoding="ascii") as file:
        file.writelines("".join(letters[row]) + "\n" for row in picks)
    return {"seconds": []}


def read_strings(args):
    with open(args.file, encoding="utf-8") as file:
        return file.read().split()


def spectrum_counts(strings, p):
    return [Counter(s[i : i + p] for i in range(len(s) - p + 1)) for s in strings]


def spectrum(args):
    """A hash map for each string, then an inner product of hash maps for each pair."""
    strings = read_strings(args)

    def work():
        counts = spectrum_counts(strings, args.length)
        k = np.empty((len(counts), len(counts)))
        for i, left in enumerate(counts):
            items = list(left.items())
            for j in range(i, len(counts)):
                get = counts[j].get
                k[i, j] = k[j, i] = sum([n * get(word, 0) for word, n in items])
        return k

    seconds, k = timed(args.repeat, work)
    return {"seconds": seconds, "check": entries(k), "note": "Python, Counter for each string"}


def spectrum_sparse(args):
    """The same counts as rows of a sparse matrix, times its transpose."""
    from scipy.sparse import csr_matrix

    strings = read_strings(args)

    def work():
        words, data, indices, starts = {}, [], [], [0]
        for count in spectrum_counts(strings, args.length):
            indices.extend([words.setdefault(word, len(words)) for word in count])
            data.extend(count.values())
            starts.append(len(data))
        x = csr_matrix((np.array(data, dtype=float), indices, starts), shape=(len(strings), len(words)))
        return (x @ x.T).toarray()

    seconds, k = timed(args.repeat, work)
    return {"seconds": seconds, "check": entries(k), "note": "Python, Counter, then a SciPy sparse product"}


# ------------------------------------------------------------------------------------------------------------- machines


def load_svmlight(path, columns=None):
    from sklearn.datasets import load_svmlight_file

    x, y = load_svmlight_file(path, n_features=columns)
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)  # SVC takes no others
    return x, y


def load_table(path):
    table = np.loadtxt(path, delimiter=",")
    return table[:, :-1], table[:, -1]


def load_pair(args):
    if ".svm" in os.path.basename(args.file):
        x, y = load_svmlight(args.file)
        return x, y, *load_svmlight(args.test, x.shape[1])
    return *load_table(args.file), *load_table(args.test)


def svc_objective(machine, x, y, gamma):
    """½ αᵀQα - Σα summed over pairs of classes, from dual_coef_, by blocks of support vectors."""
    from sklearn.metrics.pairwise import rbf_kernel

    classes, support, dual = machine.classes_, machine.support_, machine.dual_coef_
    dual = np.asarray(dual.todense()) if hasattr(dual, "todense") else dual
    vectors, labels = x[support], y[support]
    columns = []
    for i in range(len(classes)):
        for j in range(i + 1, len(classes)):
            columns.append(np.where(labels == classes[i], dual[j - 1], np.where(labels == classes[j], dual[i], 0.0)))
    beta = np.stack(columns, axis=1)
    quadratic = 0.0
    for start in range(0, len(support), 1000):
        part = slice(start, start + 1000)
        quadratic += float(np.sum(beta[part] * (rbf_kernel(vectors[part], vectors, gamma=gamma) @ beta)))
    return 0.5 * quadratic - float(np.abs(beta).sum())


def svc(args):
    from sklearn.svm import SVC

    x, y, xt, yt = load_pair(args)
    seconds, machine = timed(args.repeat, lambda: SVC(C=args.c, gamma=args.gamma, cache_size=1000).fit(x, y))
    return {
        "seconds": seconds,
        "note": "sklearn SVC(cache_size=1000)",
        "support_vectors": len(machine.support_),
        "objective": svc_objective(machine, x, y, args.gamma),
        "test_error": float(np.mean(machine.predict(xt) != yt)),
    }


def table_data(args):
    """A regression table with the target in the last column, no header."""
    rng = np.random.default_rng(9)
    x = rng.uniform(-1, 1, (args.n, args.d))
    y = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * rng.standard_normal(args.n)
    np.savetxt(args.file, np.column_stack([x, y]), delimiter=",", fmt="%.17g")
    return {"seconds": []}


def ridge(args):
    from sklearn.kernel_ridge import KernelRidge

    x, y = load_table(args.file)
    seconds, _ = timed(args.repeat, lambda: KernelRidge(alpha=args.alpha, kernel="rbf", gamma=args.gamma).fit(x, y))
    return {"seconds": seconds, "note": "sklearn KernelRidge"}


def kernel_pca(args):
    from sklearn.decomposition import KernelPCA

    x, _ = load_table(args.file)
    seconds, machine = timed(
        args.repeat, lambda: KernelPCA(n_components=args.components, kernel="rbf", gamma=args.gamma).fit(x)
    )
    note = f"sklearn KernelPCA, {args.components} components, largest eigenvalue {machine.eigenvalues_[0]:.6g}"
    return {"seconds": seconds, "note": note}


CASES = {
    "gram_data": gram_data,
    "string_data": string_data,
    "table_data": table_data,
    "rbf": rbf,
    "dot": dot,
    "rbf_sparse": rbf_sparse,
    "stream": stream,
    "spectrum": spectrum,
    "spectrum_sparse": spectrum_sparse,
    "svc": svc,
    "ridge": ridge,
    "kernel_pca": kernel_pca,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("file")
    parser.add_argument("--test")
    parser.add_argument("--n", type=int)
    parser.add_argument("--d", type=int)
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--gamma", type=float)
    parser.add_argument("--c", type=float)
    parser.add_argument("--alpha", type=float)
    parser.add_argument("--components", type=int)
    parser.add_argument("--length", type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=1)
    args = parser.parse_args()
    print(json.dumps({"case": args.case} | CASES[args.case](args)))


if __name__ == "__main__":
    main()
