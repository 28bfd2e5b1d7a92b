"""Prepare a data set once, for both sides.

    python sets.py NAME --data DIR --out DIR [--rows N]

NAME is one of the sets below, or shape-SEED-K (shapes.py).

Dense sets become train.npy and test.npy (f64), sparse ones train.svm and test.svm for programs and train.npz and test.npz
for Python; the targets are in train.y.npy and test.y.npy. info.json, written last, says what there is. Every shuffle has the same
seed; with --rows the training part is cut to N rows of a shuffle and the test part to N rows.
"""

import argparse
import gzip
import json
from pathlib import Path

import numpy as np
import shapes
from scipy import sparse

SEED = 20
VERSION = 3  # raise it when the preparation changes, so that older files are made again


def svm(path):
    from sklearn.datasets import load_svmlight_file

    x, y = load_svmlight_file(str(path))
    return x.tocsr(), y


def svm_pair(folder, name):
    x, y = svm(folder / f"{name}.svm.gz")
    xt, yt = svm(folder / f"{name}.t.svm.gz")
    width = max(x.shape[1], xt.shape[1])
    x.resize(x.shape[0], width)
    xt.resize(xt.shape[0], width)
    return x, y, xt, yt


def table(path):
    values = np.loadtxt(path, delimiter=",")
    return values[:, :-1], values[:, -1]


def idx(path):
    with gzip.open(path) as file:
        data = file.read()
    rank = data[3]
    shape = [int.from_bytes(data[4 + 4 * k : 8 + 4 * k], "big") for k in range(rank)]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def order(n):
    return np.random.default_rng(SEED).permutation(n)


def standard(x, *others):
    """Mean 0 and variance 1 by the first array; constant columns stay 0."""
    mean, spread = x.mean(axis=0), x.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return [(part - mean) / spread for part in (x, *others)]


def every(k, x, y):
    """Each k-th row is test, the others are training."""
    held = np.arange(len(y)) % k == k - 1
    return x[~held], y[~held], x[held], y[held]


# ---------------------------------------------------------------------------------------------------------------- sets


def a9a(data):
    return svm_pair(data / "libsvm", "a9a")


def w8a(data):
    return every(5, *svm(data / "libsvm" / "w8a.svm.gz"))


def ijcnn1(data):
    x, y, xt, yt = svm_pair(data / "libsvm", "ijcnn1")
    rows = order(len(y))  # the file is in the order of time
    return x.toarray()[rows], y[rows], xt.toarray(), yt


def covtype20k(data):
    x, y = table(data / "libsvm" / "covtype20k.csv.gz")
    rows = order(len(y))
    (x,), y = standard(x[rows]), np.where(y[rows] == 2, 1.0, -1.0)
    return x, y, x, y


def usps(data):
    return *table(data / "usps" / "usps.train.csv.gz"), *table(data / "usps" / "usps.test.csv.gz")


def letter(data):
    x, y, xt, yt = svm_pair(data / "libsvm", "letter")
    x, xt = x.toarray(), xt.toarray()
    low, high = x.min(axis=0), x.max(axis=0)
    return 2 * (x - low) / (high - low) - 1, y, 2 * (xt - low) / (high - low) - 1, yt


def shuttle(data):
    x, y = table(data / "uci" / "shuttle.csv.gz")
    rows = order(len(y))
    x, y = x[rows], y[rows]
    x, xt = standard(x[:43500], x[43500:])
    return x, y[:43500], xt, y[43500:]


def mnist_bytes(data):
    parts = []
    for part in ("train", "t10k"):
        images = idx(data / "mnist" / f"{part}-images-idx3-ubyte.gz")
        parts += [images.reshape(len(images), -1).astype(float)]
        parts += [idx(data / "mnist" / f"{part}-labels-idx1-ubyte.gz").astype(float)]
    x, y, xt, yt = parts
    rows = order(len(y))
    return x[rows], y[rows], xt, yt


def mnist60k(data):
    x, y, xt, yt = mnist_bytes(data)
    return x / 255, y, xt / 255, yt


def mnist(data):
    x, y, xt, yt = mnist60k(data)
    return x[:20000], y[:20000], xt, yt


def reuters21578(data):
    return svm_pair(data / "text", "reuters21578")


def sector(data):
    return svm_pair(data / "text", "sector")


def regression(data, name):
    x, y, xt, yt = every(10, *table(data / "regression" / f"{name}.csv.gz"))
    x, xt = standard(x, xt)
    y, yt = standard(y, yt)
    return x, y, xt, yt


def embeddings(number, n, d, classes, noise):
    """Clouds in 40 of many directions on the unit sphere, as embeddings of text and images are."""
    rng = np.random.default_rng(number)
    y = rng.integers(0, classes, n + 2000)
    centres = rng.normal(size=(classes, 40)) / np.sqrt(2)
    z = centres[y] + noise * rng.normal(size=(n + 2000, 40))
    x = z @ rng.normal(size=(40, d)) / np.sqrt(40) + 0.1 * rng.normal(size=(n + 2000, d))
    x = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32).astype(np.float64)
    return x[:n], y[:n].astype(float), x[n:], y[n:].astype(float)


def grey(data):
    """Images whose pixels are reals: no grid holds them."""
    pixels = idx(data / "mnist" / "train-images-idx3-ubyte.gz").reshape(-1, 784)
    y = idx(data / "mnist" / "train-labels-idx1-ubyte.gz").astype(float)
    rng = np.random.default_rng(SEED)
    chosen = rng.choice(len(y), 8000, replace=False)
    x = pixels[chosen] / 255.0 + 0.1 * rng.random((8000, 784))
    return x[:6000], y[chosen][:6000], x[6000:], y[chosen][6000:]


EMBEDDINGS = {
    "embeddings-10": (0, 6000, 768, 10, 0.5),
    "embeddings-2": (1, 10000, 768, 2, 0.5),
    "embeddings-20": (2, 4000, 1536, 20, 0.65),
    "overlapping": (3, 20000, 384, 2, 2.6),
    "many-rows": (4, 50000, 128, 2, 2.0),
}
MAKERS = {f.__name__: f for f in (a9a, w8a, ijcnn1, covtype20k, usps, letter, shuttle, mnist, mnist60k)}
MAKERS |= {"reuters21578": reuters21578, "sector": sector, "mnist_poly9": mnist_bytes}
MAKERS |= {"grey": grey}
MAKERS |= {name: (lambda _data, drawn=drawn: embeddings(*drawn)) for name, drawn in EMBEDDINGS.items()}
MAKERS |= {name: (lambda data, name=name: regression(data, name)) for name in ("california", "kin40k", "protein")}


# ------------------------------------------------------------------------------------------------------------- writing


def cut(x, y, rows):
    """So many rows of a shuffle, in the order of the file."""
    if not rows or rows >= len(y):
        return x, y
    chosen = np.sort(order(len(y))[:rows])
    return x[chosen], y[chosen]


def write(out, part, x, y):
    np.save(out / f"{part}.y.npy", y.astype(np.float64))
    if not sparse.issparse(x):
        np.save(out / f"{part}.npy", np.ascontiguousarray(x, dtype=np.float64))
        return
    sparse.save_npz(out / f"{part}.npz", x.astype(np.float64), compressed=False)
    starts, places, values = x.indptr, x.indices + 1, x.data
    with open(out / f"{part}.svm", "w", encoding="ascii") as file:
        for i, label in enumerate(y):
            row = range(starts[i], starts[i + 1])
            file.write(f"{label:g} " + " ".join(f"{places[k]}:{float(values[k])!r}" for k in row) + "\n")


def read(folder, part):
    """What was written: rows and target, as SVC and others take them."""
    y = np.load(folder / f"{part}.y.npy")
    if (folder / f"{part}.npz").exists():
        x = sparse.csr_matrix(sparse.load_npz(folder / f"{part}.npz"))
        x.sort_indices()
        x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)  # SVC takes no others
        return x, y
    return np.load(folder / f"{part}.npy"), y


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=0)
    args = parser.parse_args()
    more = {}
    if args.name.startswith("shape-"):
        x, y, xt, yt, more["gamma"] = shapes.make(args.name, args.data)
    else:
        x, y, xt, yt = MAKERS[args.name](args.data)
    x, y = cut(x, y, args.rows)
    xt, yt = cut(xt, yt, args.rows)
    args.out.mkdir(parents=True, exist_ok=True)
    write(args.out, "train", x, y)
    write(args.out, "test", xt, yt)
    info = {"version": VERSION, "n": x.shape[0], "d": x.shape[1], "n_test": xt.shape[0], "sparse": sparse.issparse(x)} | more
    (args.out / "info.json").write_text(json.dumps(info))
    print(json.dumps(info))


if __name__ == "__main__":
    main()
