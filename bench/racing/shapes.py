"""Shapes that nobody tuned for: data sets drawn from a seed, and embeddings of the shared text and images.

A drawn set is called shape-SEED-K. What it is (rows, columns, classes, sparsity, noise, scale, offset, C and γ) follows from the seed
without NumPy, so that the race can print it; the data themselves are made in the process that prepares sets.
"""

import math
import random
from dataclasses import dataclass

COUNT = 12
CELLS = 2e7  # rows times columns, at most
TEST_ROWS = 2000
KINDS = ("normal", "normal", "normal", "unit", "unit", "unit", "pixels", "sparse", "rings", "text", "images", "images")


@dataclass(frozen=True)
class Shape:
    """One drawn set."""

    seed: int
    number: int
    kind: str
    n: int
    d: int
    classes: int
    noise: float  # how far classes overlap
    scale: float  # all columns are multiplied by it
    offset: float  # and moved by so many of their deviations
    width: float  # γ in parts of 1 / (2 · mean squared distance)
    c: float

    @property
    def name(self):
        return f"shape-{self.seed}-{self.number}"

    def words(self):
        far = f", offset {self.offset:g} deviations" if self.offset else ""
        return f"{self.kind}, {self.classes} classes, noise {self.noise:.2g}, scale {self.scale:.2g}{far}"


def between(draws, low, high):
    """Uniform in the logarithm."""
    return math.exp(draws.uniform(math.log(low), math.log(high)))


def draw(seed):
    """The sets of a seed."""
    draws = random.Random(f"shapes {seed}")
    shapes = []
    for number, kind in enumerate(draws.sample(KINDS, COUNT), 1):
        d = round(between(draws, 64, 1536) if kind in ("unit", "pixels", "images", "text") else between(draws, 8, 512))
        n = round(min(between(draws, 2000, 30000), CELLS / d))
        if kind in ("text", "images"):
            n, d = min(n, 7000 if kind == "text" else 20000), min(d, 768)
        classes = {"text": 0, "images": 10, "rings": 2}.get(kind, draws.choice((2, 2, 2, 3, 5, 10, 20)))
        noise = draws.choice((0.3, 0.6, 1.0, 1.5))
        scale = draws.choice((1.0, 1.0, between(draws, 0.01, 100)))
        offset = draws.choice((0.0, 0.0, 0.0, round(between(draws, 1, 30))))
        shapes.append(
            Shape(seed, number, kind, n, d, classes, noise, scale, 0.0 if kind == "sparse" else offset,
                  draws.choice((0.5, 1.0, 2.0)), draws.choice((0.3, 1.0, 3.0, 10.0, 30.0)))  # fmt: skip
        )
    return shapes


def find(name):
    """The shape of a name."""
    _, seed, number = name.split("-")
    return draw(int(seed))[int(number) - 1]


# ------------------------------------------------------------------------------------------------------- with NumPy


def make(name, data):
    """Rows and classes for training and test, and γ."""
    import numpy as np
    from scipy import sparse

    shape = find(name)
    rng = np.random.default_rng([shape.seed, shape.number])
    x, y = {"text": text, "images": images}.get(shape.kind, synthetic)(shape, rng, data)
    order = rng.permutation(len(y))
    x, y = x[order], y[order]
    if not sparse.issparse(x):
        spread = x.std()
        x = ((x + shape.offset * spread) * shape.scale).astype(np.float32).astype(np.float64)
    n = min(shape.n, len(y) - min(TEST_ROWS, len(y) // 4))
    m = min(n + TEST_ROWS, len(y))
    some = rng.choice(n, min(n, 500), replace=False)
    part = x[some].toarray() if sparse.issparse(x) else x[some]
    gamma = shape.width / (2 * part.var(axis=0).sum())
    return x[:n], y[:n], x[n:m], y[n:m], float(f"{gamma:.3g}")


def synthetic(shape, rng, _data):
    import numpy as np
    from scipy import sparse

    total = shape.n + TEST_ROWS
    y = rng.integers(0, shape.classes, total)
    if shape.kind == "sparse":
        words = rng.dirichlet(np.full(shape.d, 0.1), shape.classes)
        mixed = (1 - shape.noise / 2) * words + shape.noise / 2 * words.mean(axis=0)
        counts = np.vstack([rng.multinomial(30, mixed[c] / mixed[c].sum()) for c in y])
        return sparse.csr_matrix(np.log1p(counts)), y
    if shape.kind == "rings":
        radius = 1.0 + y + 0.3 * shape.noise * rng.normal(size=total)
        directions = rng.normal(size=(total, shape.d))
        return radius[:, None] * directions / np.linalg.norm(directions, axis=1, keepdims=True), y
    # classes are clouds in a few directions, as those of embeddings are, with a little of every direction
    latent = min(40, shape.d)
    centres = rng.normal(size=(shape.classes, latent)) / math.sqrt(2)
    z = centres[y] + shape.noise * rng.normal(size=(total, latent))
    x = z @ rng.normal(size=(latent, shape.d)) / math.sqrt(latent) + 0.1 * rng.normal(size=(total, shape.d))
    if shape.kind == "unit":
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    if shape.kind == "pixels":
        x = np.clip(x, 0, None) ** 2
    return x, y


def text(shape, _rng, data):
    """TF-IDF and singular vectors of the shared messages."""
    import numpy as np
    from sklearn.datasets import load_svmlight_file
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer

    counts, y = load_svmlight_file(str(data / "text" / "20news_w1000.svm.gz"))
    x = TruncatedSVD(min(shape.d, 400), random_state=0).fit_transform(TfidfTransformer(sublinear_tf=True).fit_transform(counts))
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9), y


def images(shape, rng, data):
    """Random convolutions of the shared digits, rectified and pooled."""
    import numpy as np
    from numpy.lib.stride_tricks import sliding_window_view
    from sets import idx

    pixels = idx(data / "mnist" / "train-images-idx3-ubyte.gz")
    y = idx(data / "mnist" / "train-labels-idx1-ubyte.gz").astype(float)
    chosen = rng.choice(len(y), min(len(y), shape.n + TEST_ROWS), replace=False)
    filters = rng.normal(size=(max(shape.d // 16, 1), 25)) / 5
    filters -= filters.mean(axis=1, keepdims=True)
    parts = []
    for block in np.array_split(chosen, max(len(chosen) // 500, 1)):
        windows = sliding_window_view(pixels[block] / 255.0, (5, 5), axis=(1, 2)).reshape(len(block), 24, 24, 25)
        maps = np.maximum(windows @ filters.T, 0)
        parts.append(maps.reshape(len(block), 4, 6, 4, 6, -1).mean(axis=(2, 4)).reshape(len(block), -1))
    return np.vstack(parts), y[chosen]
