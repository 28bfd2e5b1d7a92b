"""mercer's estimators beside scikit-learn's: 20 data sets, five settings, decision values and predictions.

    python bench/agreement.py [--results bench/results]

Needs the installed package (`pip install .`) and scikit-learn; writes agreement.md. Both sides have tolerance 1e-6; a
difference of 1e-3 in a decision value, or a prediction that is another and no tie, is a disagreement.

Settings are such that there is one solution. ν is 0.37 or 0.31: where ν n / 2 is a whole number, all multipliers can stand at
their bounds, and the offset is any number of an interval, of which LIBSVM takes an end or the middle as rounding wills. Where
the classes overlap by more than ν the margin is zero and both rules are noise: mercer says so, and the duel does not count.
The sigmoid is no positive definite kernel and has many stationary points; its duels are told apart and do not count either.
"""

import argparse
import sys
import warnings
from collections import Counter
from pathlib import Path

import mercer
import numpy as np
import sklearn
from sklearn import datasets as d
from sklearn import decomposition, kernel_ridge, svm
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

TOLERANCE, LIMIT = 1e-6, 1e-3
STEPS = 1_000_000  # linear kernels take scikit-learn hours on some sets
CLASSES = {
    "iris": lambda: d.load_iris(return_X_y=True),
    "wine": lambda: d.load_wine(return_X_y=True),
    "breast cancer": lambda: d.load_breast_cancer(return_X_y=True),
    "digits, first 600": lambda: tuple(part[:600] for part in d.load_digits(return_X_y=True)),
    "moons": lambda: d.make_moons(300, noise=0.25, random_state=0),
    "circles": lambda: d.make_circles(300, noise=0.1, factor=0.5, random_state=0),
    "blobs": lambda: d.make_blobs(300, centers=4, cluster_std=2.5, random_state=0),
    "Gaussian quantiles": lambda: d.make_gaussian_quantiles(n_samples=300, n_features=4, n_classes=3, random_state=0),
    "Hastie 10.2": lambda: d.make_hastie_10_2(400, random_state=0),
    "classification, 20 features": lambda: d.make_classification(300, random_state=0),
    "classification, 5 classes": lambda: d.make_classification(400, 12, n_informative=8, n_classes=5, random_state=1),
    "classification, flipped": lambda: d.make_classification(300, 8, flip_y=0.2, random_state=2),
}
NUMBERS = {
    "diabetes": lambda: d.load_diabetes(return_X_y=True),
    "Friedman 1": lambda: d.make_friedman1(300, noise=1.0, random_state=0),
    "Friedman 2": lambda: d.make_friedman2(300, noise=1.0, random_state=0),
    "Friedman 3": lambda: d.make_friedman3(300, noise=0.1, random_state=0),
    "linear": lambda: d.make_regression(300, 10, noise=5.0, random_state=0),
    "sparse uncorrelated": lambda: d.make_sparse_uncorrelated(300, random_state=0),
    "S curve": lambda: d.make_s_curve(300, noise=0.1, random_state=0),
    "Swiss roll": lambda: d.make_swiss_roll(300, noise=0.5, random_state=0),
}
SETTINGS = [
    {"kernel": "rbf", "gamma": "scale"},
    {"kernel": "rbf", "gamma": 0.5},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "gamma": 0.1, "coef0": 1.0},
    {"kernel": "poly", "degree": 3, "gamma": "scale"},
]
INDEFINITE = {"kernel": "sigmoid", "gamma": 0.01}


def plain(setting):
    """The setting for classes whose width has no words."""
    return {**setting, "gamma": 0.1} if setting.get("gamma") == "scale" else setting


def duels(kind):
    """Name, ours, theirs and how values are taken, for each setting."""
    for setting in [*SETTINGS, INDEFINITE]:
        both = {"tol": TOLERANCE, "max_iter": STEPS, **setting}
        if kind == "classes":
            ovo = {"decision_function_shape": "ovo", **both}
            yield "SVC", setting, mercer.SVC(C=2, **ovo), svm.SVC(C=2, **ovo), "decision_function"
            yield "NuSVC", setting, mercer.NuSVC(nu=0.37, **ovo), svm.NuSVC(nu=0.37, **ovo), "decision_function"
        else:
            yield "SVR", setting, mercer.SVR(C=2, **both), svm.SVR(C=2, **both), "predict"
            yield "NuSVR", setting, mercer.NuSVR(nu=0.37, C=2, **both), svm.NuSVR(nu=0.37, C=2, **both), "predict"
            same = plain(setting)
            yield "KernelRidge", setting, mercer.KernelRidge(**same), kernel_ridge.KernelRidge(**same), "predict"
        yield "OneClassSVM", setting, mercer.OneClassSVM(nu=0.31, **both), svm.OneClassSVM(nu=0.31, **both), "decision_function"
        same = plain(setting)
        yield "KernelPCA", setting, mercer.KernelPCA(3, **same), decomposition.KernelPCA(3, **same), "transform"


def compare(X, y, ours, theirs, values):
    """The largest difference of values, and how many predictions are others without being ties; why a duel does not count."""
    try:
        theirs.fit(X, y)
    except ValueError as error:
        return 0.0, 0, str(error)
    if getattr(theirs, "fit_status_", 0):
        return 0.0, 0, f"scikit-learn has no solution after {STEPS} steps"
    a, b = getattr(ours.fit(X, y), values)(X), getattr(theirs, values)(X)
    apart, wrong = float(np.abs(a - b).max()), 0
    if hasattr(theirs, "predict") and values != "predict":
        tied = np.abs(b).reshape(len(b), -1).min(axis=1) < LIMIT
        wrong = int(((ours.predict(X) != theirs.predict(X)) & ~tied).sum())
    advice = " ".join(getattr(ours, "report_", {}).get("advice", []))
    return apart, wrong, "the classes overlap too much for ν: no margin" if "overlap too much" in advice else None


def from_the_limit(X, y, ours, theirs, values):
    """How far both are from scikit-learn's solution at a tolerance of 1e-10."""
    limit = getattr(clone(theirs).set_params(tol=1e-10, max_iter=-1).fit(X, y), values)(X)
    return tuple(f"{np.abs(getattr(e, values)(X) - limit).max():.1e}" for e in (ours, theirs))


def table(head, rows):
    ruler = "|".join("---:" if column in ("largest difference", "other predictions", "duels") else "---" for column in head)
    return ["| " + " | ".join(head) + " |", f"|{ruler}|", *("| " + " | ".join(map(str, row)) + " |" for row in rows), ""]


def report(worst, left_out, bad, indefinite, count):
    plural = "" if len(bad) == 1 else "s"
    lines = [
        "# Agreement with scikit-learn", "",
        f"mercer beside scikit-learn {sklearn.__version__}: {len(CLASSES) + len(NUMBERS)} data sets, standardised, {len(SETTINGS)} settings, "
        f"both at tolerance {TOLERANCE:g}.",
        f"{count} duels, {len(bad)} disagreement{plural} (a value {LIMIT:g} apart, or another prediction that is no tie).",
        "`python bench/agreement.py` makes this report and says why the settings are what they are.", "",
    ]  # fmt: skip
    head = ["estimator", "setting", "largest difference", "on"]
    lines += table(head, [(m, s, f"{apart:.1e}", name) for (m, s), (apart, name) in sorted(worst.items())])
    head = ["set", "estimator", "setting", "largest difference", "other predictions"]
    if bad:
        lines += ["## Disagreements", "", "With the distance of both from scikit-learn's solution at tolerance 1e-10.", "",
                  *table([*head, "mercer's", "scikit-learn's"], bad)]  # fmt: skip
    lines += ["## Duels that do not count", "", *table(["estimator", "why", "duels"], [(*key, n) for key, n in sorted(left_out.items())])]
    lines += [f"## The sigmoid: {len(indefinite)} duels further apart than {LIMIT:g}", "",
              "It is no positive definite kernel: stationary points are many, and each solver finds its own.", "",
              *table(head, indefinite)]  # fmt: skip
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default=Path(__file__).resolve().parent / "results", type=Path)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    worst, left_out, bad, indefinite, count = {}, Counter(), [], [], 0
    for kind, sets in (("classes", CLASSES), ("numbers", NUMBERS)):
        for name, load in sets.items():
            X, y = load()
            X = StandardScaler().fit_transform(X)
            y = (y - y.mean()) / y.std() if kind == "numbers" else y
            for machine, setting, ours, theirs, values in duels(kind):
                words = ", ".join(f"{k}={v}" for k, v in setting.items())
                apart, wrong, why = compare(X, y, ours, theirs, values)
                row = (name, machine, words, f"{apart:.1e}", wrong)
                apart_too_far = apart > LIMIT or wrong > 0
                if why is not None:
                    left_out[machine, why] += 1
                elif setting is INDEFINITE:
                    indefinite += [row] if apart_too_far else []
                else:
                    count += 1
                    worst[machine, words] = max(worst.get((machine, words), (0.0, "")), (apart, name))
                    bad += [(*row, *from_the_limit(X, y, ours, theirs, values))] if apart_too_far else []
            print(name, file=sys.stderr, flush=True)
    lines = report(worst, left_out, bad, indefinite, count)
    (args.results / "agreement.md").write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines[2:4]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
