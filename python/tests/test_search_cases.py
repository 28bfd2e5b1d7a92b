"""MercerSearchCV beside GridSearchCV on searches that are drawn at random: scores, ranks, choices, predictions and errors.

MERCER_SEARCH_CASES draws more of them than the usual number.
"""

import logging
import os
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from mercer import SVC, SVR, KernelRidge, LinearSVC, LinearSVR, MercerSearchCV, NearestMean, NuSVC, NuSVR, OneClassSVM
from mercer.kernels import Rbf
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification, make_regression
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, PolynomialFeatures, StandardScaler

CASES = int(os.environ.get("MERCER_SEARCH_CASES", "150"))
SHARED = []


class Flipped(SVC):
    """Says the first class for the last one."""

    def predict(self, X):
        return self.classes_[0] if len(self.classes_) < 2 else np.where(super().predict(X) == self.classes_[0], *self.classes_[[1, 0]])


class Doubled(KernelRidge):
    """Learns from twice the target."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, 2 * np.asarray(y), sample_weight)


class Alone(SVR):
    """Changes nothing."""


class OddPipeline(Pipeline):
    """Forgets the last example, as samplers do."""

    def fit(self, X, y=None, **params):
        return super().fit(X[:-1], y[:-1], **params)


class ByFirstColumn:
    """Splits by what is in X, with two halves."""

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2

    def split(self, X, y=None, groups=None):
        column = X.iloc[:, 0] if hasattr(X, "iloc") else X[:, [0]].toarray().ravel() if sp.issparse(X) else np.asarray(X)[:, 0]
        order = np.argsort(np.asarray(column), kind="stable")
        yield order[::2], order[1::2]
        yield order[1::2], order[::2]


def weighed(X, w=None):
    return X if w is None else X * w[: X.shape[1]]


def shortened(X):
    return X[:-1]


def span(estimator, X, y):
    return float(np.ptp(estimator.predict(X) == np.asarray(y).ravel()))


def mean_prediction(estimator, X, y):
    return float(np.mean(estimator.predict(X)))


def hits(y, p):
    return float((np.asarray(y).ravel() == p).sum())


def choose(rng, usual, odd=()):
    """One of the usual options as a rule, sometimes one of the odd ones."""
    options = odd if len(odd) and rng.random() < 0.2 else usual
    return options[rng.integers(len(options))]


def estimator_and_grid(rng, task):
    """An estimator with a solver that is exact, and what is tried."""
    sharp = {"tol": 1e-6}
    wide = {"gamma": choose(rng, [[0.1, 1.0], ["scale", "auto"], ["scale"], [0.3]])}
    if task == "numbers":
        options = [
            (SVR(**sharp), {"C": [0.5, 5.0], "epsilon": [0.01, 0.3], **wide}),
            (NuSVR(**sharp), {"nu": [0.3, 0.6], **wide}),
            (KernelRidge(kernel="rbf"), {"alpha": [0.01, 1.0], "gamma": [None, 0.5]}),
            (KernelRidge(kernel="poly"), {"degree": [2, 3], "alpha": [0.1, 2.0]}),
            (LinearSVR(tol=1e-9, max_iter=100_000, epsilon=0.1), {"C": [0.1, 1.0]}),
        ]
        odd = [
            (Alone(**sharp), {"C": [0.5, 5.0]}),
            (KernelRidge(kernel="poly"), {"degree": [2, 3], "alpha": [0.1, 0.0]}),
            (KernelRidge(kernel=lambda a, b: a @ b), {"alpha": [0.1, 2.0]}),
            (Doubled(), {"alpha": [0.1, 1.0]}),
            (SVR(**sharp), {"C": [1.0, "a"]}),
            (SVR(**sharp), {"conformal": [None, "split"], "C": [1.0]}),
        ]
    elif task == "several numbers":
        options = [
            (KernelRidge(kernel="rbf"), {"alpha": [0.01, 1.0], "gamma": [None, 0.5]}),
            (KernelRidge(), {"alpha": [0.1, 1.0]}),
        ]
        odd = [(KernelRidge(), {"alpha": [0.1, [0.1, 1.0], -1]}), (SVR(), {"C": [1.0]})]
    else:
        options = [
            (SVC(**sharp), {"C": [0.3, 3.0], **wide}),
            (SVC(**sharp), {"C": [0.3, 3.0], **wide}),
            (SVC(**sharp), [{"kernel": ["linear"], "C": [0.1, 1.0]}, {"kernel": ["poly"], "degree": [2, 3]}]),
            (SVC(kernel=Rbf(gamma=0.5), **sharp), {"kernel__gamma": [0.1, 1.0], "C": [1.0]}),
            (SVC(**sharp), {"class_weight": [None, "balanced", {0: 1.0, 1: 3.0}], "C": [1.0]}),
            (SVC(**sharp), {"break_ties": [False, True], "decision_function_shape": ["ovr"], **wide}),
            (SVC(probability=True, **sharp), {"C": [0.3, 3.0]}),
            (NuSVC(**sharp), {"nu": [0.2, 0.4], **wide}),
            (LinearSVC(tol=1e-9, max_iter=100_000), {"C": [0.1, 1.0], "class_weight": [None, "balanced"]}),
            (NearestMean(), {"kernel": ["rbf(gamma=0.1)", "linear()"]}),
        ]
        odd = [
            (SVC(**sharp), {"decision_function_shape": ["ovo", "ovr"], "break_ties": [True]}),
            (SVC(**sharp), {"C": [1.0, -1.0, "a"]}),
            (SVC(**sharp), {"gamma": [None, 1.0]}),
            (SVC(**sharp), {"max_iter": [3, -1], "C": [1.0, 100.0]}),
            (SVC(**sharp), {"conformal": [None, "split"], "C": [1.0]}),
            (Flipped(**sharp), {"C": [0.3, 3.0]}),
            (NuSVC(**sharp), {"nu": [0.2, 0.99]}),
            (LinearSVC(tol=1e-9, max_iter=100_000), {"penalty": ["l2", "l1"]}),
            (LinearSVC(tol=1e-9, max_iter=100_000), {"multi_class": ["ovr", "crammer_singer"]}),
            (LinearSVC(), {"C": ["a", 1]}),
            (NearestMean(), {"kernel": ["rbf(gamma=0.1)", "linear()", "nonsense("]}),
            (LogisticRegression(), {"C": [0.1, 1.0]}),
        ]
    return choose(rng, options, odd)


def piped(rng, estimator, grid, dense, frame):
    """A pipeline around the estimator, and its grid."""
    grids = [{f"last__{k}": v for k, v in one.items()} for one in (grid if isinstance(grid, list) else [grid])]
    columns = ["a", "b"] if frame else [0, 1]
    w = np.ones(2000)
    other = w.copy()
    other[1] = 30.0
    options = [
        ([], {}),
        ([("early", "passthrough")], {}),
        ([("early", FunctionTransformer(weighed))], {"early__kw_args": [{"w": w}, {"w": other}]}),
        ([("early", SelectKBest(k=2))], {"early__k": [1, 2]}),
    ]
    odd = [([("early", FunctionTransformer(shortened))], {}), ([("early", SelectKBest(k=2))], {"last": [estimator]})]
    if dense:
        options += [
            ([("early", StandardScaler())], {}),
            ([("early", StandardScaler())], {"early": [MinMaxScaler(), "passthrough"]}),
            ([("early", Pipeline([("one", StandardScaler()), ("two", PCA())]))], {"early__two__n_components": [1, 2]}),
            ([("early", ColumnTransformer([("some", StandardScaler(), columns)], remainder="passthrough"))], {}),
            ([("early", ColumnTransformer([("some", StandardScaler(), columns)]))], {"early__remainder": ["drop", "passthrough"]}),
            ([("early", PolynomialFeatures())], {"early__degree": [1, 2]}),
        ]
        odd += [([("early", StandardScaler()), ("more", PCA(2))], {"steps": [[("more", PCA(1)), ("last", estimator)]]})]
    steps, more = choose(rng, options, odd)
    make = OddPipeline if rng.random() < 0.1 else Pipeline
    if "last" in more or "steps" in more:
        return make([*steps, ("last", estimator)]), more
    return make([*steps, ("last", estimator)]), [{**one, **more} for one in grids]


def splitter(rng, n, y, classes):
    """A function that makes the splitter anew, and the groups that it needs."""
    seed = int(rng.integers(1000))
    order = rng.permutation(n)
    parts = [(np.sort(order[: n // 2]), np.sort(order[n // 2 :])), (order[n // 3 :], order[: n // 3])]
    masks = [(np.isin(np.arange(n), train), np.isin(np.arange(n), test)) for train, test in parts]
    twice = [(rng.integers(0, n, n), np.arange(n)[::3]) for _ in range(2)]
    groups = rng.integers(0, 5, n)
    options = [
        lambda: None, lambda: 3, lambda: KFold(3, shuffle=True, random_state=seed), lambda: KFold(3),
        lambda: KFold(3, shuffle=True, random_state=np.random.RandomState(seed)),
        lambda: ShuffleSplit(3, random_state=seed), lambda: PredefinedSplit(groups - 1), ByFirstColumn,
        lambda: iter(parts), lambda: (pair for pair in parts), lambda: masks, lambda: twice,
        lambda: [(train - n, test) for train, test in parts], lambda: RepeatedKFold(n_splits=2, n_repeats=2, random_state=seed),
    ]  # fmt: skip
    odd = [lambda: TimeSeriesSplit(3), lambda: [(order[:5], order[5:])], lambda: 1, list, lambda: "nonsense"]
    if classes:
        options += [lambda: StratifiedKFold(3, shuffle=True, random_state=seed)]
    if rng.random() < 0.03:
        return LeaveOneOut, None
    if rng.random() < 0.1:
        return lambda: GroupKFold(3), groups
    return choose(rng, options, odd), None


def scoring_of(rng, task):
    """A measure, or several with what is refitted."""
    if task in ("numbers", "several numbers"):
        options = [
            None, "r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error", "max_error",
            make_scorer(mean_absolute_error, greater_is_better=False), ["r2", "neg_mean_absolute_error"],
            {"one": "r2", "two": "neg_root_mean_squared_error"},
        ]  # fmt: skip
        odd = [mean_prediction, "accuracy"]
    else:
        options = [
            None, "accuracy", "balanced_accuracy", "f1_macro", "roc_auc" if task == "two" else "accuracy", make_scorer(hits),
            make_scorer(accuracy_score, normalize=False), ["accuracy", "f1_macro"], ("accuracy", "balanced_accuracy"),
            {"one": "accuracy", "two": make_scorer(hits)},
        ]  # fmt: skip
        odd = ["neg_log_loss", span, "roc_auc_ovr", "nonsense", make_scorer(hits, response_method=("decision_function", "predict_proba"))]
    measure = choose(rng, options, odd)
    if isinstance(measure, dict):
        return measure, choose(rng, ["one", "two", False])
    if isinstance(measure, (list, tuple)):
        return measure, choose(rng, [*measure, False])
    return measure, choose(rng, [True, True, True, False, lambda results: len(results["params"]) - 1])


def contained(rng, X, y, task):
    """The examples and the target in one of their containers."""
    form = choose(rng, ["array", "array", "array", "float32", "fortran", "frame", "frame", "sparse", "list"])
    if form == "frame":
        X = pd.DataFrame(X, columns=list("abcdef")[: X.shape[1]], index=np.arange(len(X))[::-1] + 7)
    elif form == "list":
        X = X.tolist()
    elif form != "array":
        X = {"float32": np.float32, "fortran": np.asfortranarray, "sparse": sp.csr_matrix}[form](X)
    names = np.array(["ann", "bob", "cy"])
    if task in ("two", "three"):
        bools = y.astype(bool) if task == "two" else y
        y = choose(rng, [y, y, names[y], y.tolist(), pd.Series(y, index=np.arange(len(y)) + 3), y.reshape(-1, 1), bools,
                         pd.DataFrame({"target": y}), pd.Categorical(names[y])], [y.astype(object)])  # fmt: skip
    elif task == "numbers":
        y = choose(rng, [y, y, y.astype(np.float32), pd.Series(y), y.reshape(-1, 1), pd.DataFrame({"target": y})])
    else:
        y = choose(rng, [y, pd.DataFrame(y)])
    return X, y, form


def draw(seed):
    """Two searches of one kind, their data, and the parameters of fit."""
    rng = np.random.default_rng(seed)
    task = choose(rng, ["two", "two", "three", "three", "numbers", "numbers", "several numbers"])
    n, d = int(rng.integers(36, 64)), int(rng.integers(3, 6))
    if task in ("two", "three"):
        k = 2 if task == "two" else 3
        X, y = make_classification(n, d, n_informative=d, n_redundant=0, n_classes=k, n_clusters_per_class=1, flip_y=0.1, class_sep=0.7,
                                   random_state=seed)  # fmt: skip
    else:
        X, y = make_regression(n, d, n_targets=1 if task == "numbers" else 2, noise=5.0, random_state=seed)
        y = y / 50 * (1.0 if task == "numbers" else np.array([1.0, 4.0]))
    estimator, grid = estimator_and_grid(rng, task)
    make, groups = splitter(rng, n, y, task in ("two", "three"))
    scoring, refit = scoring_of(rng, task)
    X, y, form = contained(rng, X, y, task)
    weighing = "sample_weight"
    if rng.random() < 0.4:
        estimator, grid = piped(rng, estimator, grid, form != "sparse", form == "frame")
        weighing = "last__sample_weight"
    params = {} if groups is None else {"groups": groups}
    if rng.random() < 0.2:
        weights = rng.uniform(0.2, 2.0, n)
        if rng.random() < 0.3:
            weights[:4] = 0.0
        params[weighing] = choose(rng, [weights, pd.Series(weights), weights.tolist()])
    options = {
        "scoring": scoring, "refit": refit, "error_score": choose(rng, [np.nan, np.nan, np.nan, 0.0, "raise"]),
        "return_train_score": rng.random() < 0.03,
    }  # fmt: skip
    return [cls(estimator, grid, cv=make(), **options) for cls in (MercerSearchCV, GridSearchCV)], X, y, params


def outcome(search, X, y, params):
    """What a search ends with: itself, or the kind of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return search.fit(X, y, **params), None
        except Exception as error:
            return None, error


@pytest.mark.parametrize("seed", range(CASES))
def test_a_search_ends_as_that_of_scikit_learn(seed, caplog):
    (ours, theirs), X, y, params = draw(seed)
    with caplog.at_level(logging.INFO, "mercer"):
        (mine, error), (known, expected) = outcome(ours, X, y, params), outcome(theirs, X, y, params)
    SHARED.append("GridSearchCV is used" not in caplog.text)
    what = f"{theirs} with {params.keys()} and {type(X).__name__}, {type(y).__name__}: {caplog.text}"
    assert type(error) is type(expected), f"{what}\nours: {error!r}\ntheirs: {expected!r}"
    if known is None:
        return
    assert set(mine.cv_results_) == set(known.cv_results_), what
    assert (mine.n_splits_, mine.multimetric_) == (known.n_splits_, known.multimetric_), what
    assert mine.cv_results_["params"] == known.cv_results_["params"] or "early" in str(known.param_grid), what
    for key, values in known.cv_results_.items():
        if "test" not in key and "train" not in key or key.startswith("rank"):
            continue
        np.testing.assert_allclose(mine.cv_results_[key], values, atol=1e-5, rtol=1e-5, err_msg=f"{key}: {what}")
    for key in (key for key in known.cv_results_ if key.startswith("rank")):
        means = known.cv_results_[key.replace("rank", "mean")]
        apart = np.abs(means[:, None] - means)[~np.eye(len(means), dtype=bool)]
        # what differs by a rounding alone has no order
        if not ((apart > 0) & (apart < 1e-4)).any() and (apart.size == 0 or (mine.cv_results_[key.replace("rank", "mean")] == means).all()):
            np.testing.assert_array_equal(mine.cv_results_[key], known.cv_results_[key], err_msg=f"{key}: {what}")
            assert getattr(mine, "best_index_", None) == getattr(known, "best_index_", None), what
    assert hasattr(mine, "best_score_") == hasattr(known, "best_score_") and hasattr(mine, "refit_time_") == hasattr(known, "refit_time_"), what
    if hasattr(known, "best_score_"):
        assert mine.best_score_ == pytest.approx(known.best_score_, abs=1e-5, nan_ok=True), what
    if hasattr(known, "best_estimator_") and mine.best_index_ == known.best_index_:
        np.testing.assert_array_equal(mine.predict(X), known.predict(X), err_msg=what)
        assert hasattr(mine, "feature_names_in_") == hasattr(known, "feature_names_in_"), what


def test_many_of_these_searches_share_their_kernel_values():
    if len(SHARED) < 100:
        pytest.skip("needs the cases above")
    assert np.mean(SHARED) > 0.35, "or little has been compared"


def test_detectors_are_searched_as_in_scikit_learn():
    X = np.random.default_rng(0).normal(size=(60, 3))
    searches = [
        cls(OneClassSVM(), {"nu": [0.1, 0.3]}, scoring=lambda e, X, y=None: float(e.score_samples(X).mean())).fit(X)
        for cls in (MercerSearchCV, GridSearchCV)
    ]
    ours, theirs = (search.cv_results_["mean_test_score"] for search in searches)
    np.testing.assert_array_equal(ours, theirs)
