"""Accuracy on strings and text, beside scikit-learn's and published figures.

    python bench/accuracy.py --data DIR [--only promoters,sms] [--results bench/results]

Needs the installed package (`pip install .`) and scikit-learn; writes accuracy.md. On both sides the price of errors and the
parameters of the kernel are chosen by cross-validation on the training part alone, by the same folds (three for splice
junctions and C. elegans, else five); the test part is looked at once. Where there are several splits the figure is the mean
over them, with the standard deviation. Published figures are of other splits of the same data, or of more of it, as the
last column says.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mercer
import numpy as np
import sklearn
from mercer.kernels import kernel
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, LeaveOneOut, StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC, LinearSVC

PRICES = [0.1, 1.0, 10.0, 100.0]


def rows(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def letters(strings):
    """Sequences of one length as one column for each letter at a place. Nothing is learned of it, so all are coded at once."""
    return OneHotEncoder(sparse_output=False).fit_transform(np.array([list(s) for s in strings]))


def ours(kernels, prices=PRICES):
    """Support vectors with one of some kernels, chosen by cross-validation."""
    grid = {"kernel": [kernel(text) for text in kernels], "C": prices}
    return lambda folds, scoring: mercer.MercerSearchCV(
        mercer.SVC(kernel=grid["kernel"][0]), grid, cv=folds, scoring=scoring
    )


def theirs(features, machine, grid=None):
    """A pipeline of scikit-learn with the price chosen by cross-validation."""

    def search(folds, scoring):
        steps = make_pipeline(*features, machine)
        name = steps.steps[-1][0]
        settings = {f"{name}__{key}": values for key, values in (grid or {"C": PRICES}).items()}
        return GridSearchCV(steps, settings, cv=folds, scoring=scoring)

    return search


def error(fitted, x, y):
    return 100.0 * np.mean(fitted.predict(x) != y)


def area(fitted, x, y):
    return roc_auc_score(y == fitted.classes_[1], fitted.decision_function(x))


@dataclass
class Comparison:
    """One data set: how it is split and judged, and each side's words, search and examples."""

    title: str
    what: str
    y: np.ndarray
    splits: list
    sides: list
    published: str
    measure: Callable = error
    scoring: str | None = None
    folds: int = 5

    def run(self, search, x):
        """The measure on every test part, and the settings that were chosen most often."""
        found, settings = [], []
        for train, test in self.splits:
            inner = StratifiedKFold(self.folds, shuffle=True, random_state=0)
            fitted = search(inner, self.scoring).fit([x[i] for i in train], self.y[train])
            found.append(self.measure(fitted, [x[i] for i in test], self.y[test]))
            settings.append(", ".join(f"{k.split('__')[-1]}={v}" for k, v in fitted.best_params_.items()))
        return np.array(found), max(set(settings), key=settings.count)


def promoters(data):
    table = rows(data / "strings" / "promotergene.tsv.gz")
    x, y = [r[1] for r in table], np.array([r[0] for r in table])
    degrees = [f"normalise(weighted_degree(degree={d}))" for d in (2, 3, 4, 6)]
    shifts = [f"normalise(weighted_degree_shifts(degree={d}, shift={s}))" for d in (3, 4) for s in (1, 2)]
    sides = [
        ("weighted degree", ours(degrees + shifts, [1.0, 10.0]), x),
        ("one-hot places, Gaussian SVC", theirs([], SVC(), {"C": [1.0, 10.0], "gamma": [0.01, 0.03]}), letters(x)),
    ]
    published = "3.8 (KBANN), 7.5 (neural net), 12.3 (3-NN): notes of the UCI repository, leave-one-out"
    return Comparison(
        "promoters (106)", "leave-one-out, wrong of 100", y, list(LeaveOneOut().split(x)), sides, published
    )


def splice(data):
    table = rows(data / "strings" / "splice_junction.tsv.gz")
    x, y = [r[1] for r in table], np.array([r[0] for r in table])
    degrees = [f"normalise(weighted_degree(degree={d}))" for d in (3, 6, 10)]
    shifts = [f"normalise(weighted_degree_shifts(degree={d}, shift={s}))" for d in (3, 6) for s in (1, 3)]
    sides = [
        ("weighted degree", ours(degrees + shifts, [1.0, 10.0]), x),
        (
            "one-hot places, Gaussian SVC",
            theirs([], SVC(cache_size=1000), {"C": [1.0, 10.0], "gamma": [0.01, 0.03, 0.1]}),
            letters(x),
        ),
    ]
    published = "by class EI 7.56, IE 8.47, N 4.62 (KBANN): notes of the UCI repository, 1000 training examples"
    splits = list(StratifiedKFold(10, shuffle=True, random_state=1).split(x, y))
    title = "splice junctions (3190, 3 classes)"
    return Comparison(title, "ten folds, error in %", y, splits, sides, published, folds=3)


def elegans(data):
    table = rows(data / "strings" / "celegans_acceptor.tsv.gz")
    x, y = [r[1] for r in table], np.array([r[0] for r in table])
    degrees = [f"normalise(weighted_degree(degree={d}))" for d in (6, 12, 20)]
    shifts = [f"normalise(weighted_degree_shifts(degree={d}, shift={s}))" for d, s in ((12, 2), (20, 2), (20, 5))]
    gaussian = {"C": [1.0, 10.0], "gamma": [0.001, 0.003, 0.01]}
    sides = [
        ("weighted degree", ours(degrees + shifts, [1.0, 10.0]), x),
        ("one-hot places, Gaussian SVC", theirs([], SVC(cache_size=1000), gaussian), letters(x)),
    ]
    splits = list(StratifiedShuffleSplit(3, test_size=0.5, random_state=1).split(x, y))
    title, what, published = (
        "C. elegans acceptors (13 197)",
        "three halves, area under the curve",
        "none of this subset",
    )
    return Comparison(title, what, y, splits, sides, published, area, "roc_auc", folds=3)


def sms(data):
    table = rows(data / "text" / "sms_spam.tsv.gz")
    x, y = ["\t".join(r[1:]) for r in table], np.array([r[0] for r in table])
    words = ["normalise(bag_of_words(weighting=tfidf))", "normalise(bag_of_words(weighting=tfidf, ngram=2))"]
    words += [f"normalise(blended_spectrum(length={k}))" for k in (4, 5)]
    sides = [
        ("words or runs of letters", ours(words, [1.0, 10.0, 100.0]), x),
        ("tf-idf of words and pairs, LinearSVC", theirs([TfidfVectorizer(ngram_range=(1, 2))], LinearSVC()), x),
    ]
    first = int(0.3 * len(x))
    splits = [(np.arange(first), np.arange(first, len(x)))]
    published = "2.36 (SVM): Almeida et al. 2011, the same protocol"
    return Comparison("SMS spam (5574)", "the first 30 % against the rest, error in %", y, splits, sides, published)


def reuters(data):
    train, test = rows(data / "text" / "reuters_raw.train.tsv.gz"), rows(data / "text" / "reuters_raw.test.tsv.gz")
    x = [r[2] for r in train + test]
    y = np.array([r[1] for r in train + test])
    words = ["normalise(bag_of_words(weighting=tfidf))", "normalise(bag_of_words(weighting=tfidf, stem=english))"]
    words += ["normalise(latent_semantic(rank=200, weighting=tfidf))"]
    features = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    sides = [
        ("words, stems or latent semantics", ours(words), x),
        ("tf-idf of words, LinearSVC", theirs([features], LinearSVC()), x),
    ]
    splits = [(np.arange(len(train)), np.arange(len(train), len(x)))]
    title, what, published = "Reuters, grain (1554 + 604)", "given split, area under the curve", "none of this subset"
    return Comparison(title, what, y, splits, sides, published, area, "roc_auc")


def newsgroups(data):
    from sklearn.datasets import load_svmlight_files

    files = [data / "text" / f"20news_w1000{part}.svm.gz" for part in ("", ".t")]
    a, ya, b, yb = load_svmlight_files([str(f) for f in files], n_features=1000)
    train, test = a.toarray(), b.toarray()
    x, y = np.concatenate([train, test]), np.concatenate([ya, yb]).astype(int).astype(str)
    cosines = ["normalise(linear())", "rbf(normalise(linear()), gamma=1)"]
    sides = [
        ("cosine or Gaussian of cosine", ours(cosines, [0.3, 1.0, 3.0]), x),
        ("LinearSVC", theirs([sklearn.preprocessing.Normalizer()], LinearSVC(), {"C": [0.1, 0.3, 1.0]}), x),
    ]
    splits = [(np.arange(len(train)), np.arange(len(train), len(x)))]
    title = "20 newsgroups, 1000 words (11 256 + 7489)"
    return Comparison(title, "given split, error in %", y, splits, sides, "none of these 1000 words")


SETS = {f.__name__: f for f in (promoters, splice, elegans, sms, reuters, newsgroups)}


def shown(found, measure):
    digits = 4 if measure is area else 2
    spread = f" ± {found.std():.{digits}f}" if 1 < len(found) <= 20 else ""
    return f"{found.mean():.{digits}f}{spread}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", default=",".join(SETS), help="some of " + ", ".join(SETS))
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    lines = [
        f"mercer {mercer.__version__} beside scikit-learn {sklearn.__version__}; `python bench/accuracy.py --data DIR --only {options.only}`\n",
        "| data | measure | mercer | scikit-learn | published |",
        "|---|---|---|---|---|",
    ]
    print("\n".join(lines[1:]), flush=True)
    for name in options.only.split(","):
        case = SETS[name](options.data)
        cells = []
        for words, search, x in case.sides:
            start = time.perf_counter()
            found, setting = case.run(search, x)
            print(
                f"  {case.title}: {words}: {setting}, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True
            )
            mostly = f"{words}; mostly {setting}" if len(case.splits) > 1 else setting
            cells.append(f"{shown(found, case.measure)} ({mostly})")
        lines.append(f"| {case.title} | {case.what} | {' | '.join(cells)} | {case.published} |")
        print(lines[-1], flush=True)
    if options.results:
        (options.results / "accuracy.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
