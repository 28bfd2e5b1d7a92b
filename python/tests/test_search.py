"""MercerSearchCV beside GridSearchCV: the same results, and what is left to it."""

import logging

import mercer
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from mercer import SVC, SVR, KernelRidge, LinearSVC, MercerSearchCV, NuSVC
from mercer.kernels import Rbf
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.decomposition import PCA
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, LeaveOneOut, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

IRIS = load_iris(return_X_y=True)
NUMBERS = tuple(part[:150] for part in load_diabetes(return_X_y=True))
TWO = make_classification(120, 6, flip_y=0.1, weights=[0.7], random_state=3)


def same(ours, theirs, X, y, tolerance=1e-3, **params):
    """Fits both; all keys are there, and scores agree."""
    ours.fit(X, y, **params), theirs.fit(X, y, **params)
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    for key, values in theirs.cv_results_.items():
        if key.startswith(("split", "mean_test", "std_test")):
            np.testing.assert_allclose(ours.cv_results_[key], values, atol=tolerance, err_msg=key)
        elif key.startswith("param_"):
            assert list(ours.cv_results_[key]) == list(values)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    assert ours.n_splits_ == theirs.n_splits_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=tolerance)
    return ours


CASES = {
    "two axes": (SVC(), {"C": [0.1, 1, 10], "gamma": [0.01, 0.1]}, IRIS, {}),
    "words of width": (SVC(), {"C": [1, 10], "gamma": ["scale", "auto"]}, IRIS, {}),
    "several kernels": (SVC(tol=1e-6), [{"kernel": ["linear"]}, {"kernel": ["poly"], "degree": [2, 3]}], IRIS, {}),
    "kernel objects": (SVC(kernel=Rbf(gamma="median")), {"C": [1, 10]}, IRIS, {}),
    "deep parameters": (SVC(kernel=Rbf(gamma=0.5)), {"kernel__gamma": [0.1, 1.0]}, IRIS, {}),
    "weights of classes": (SVC(), {"C": [0.1, 1], "class_weight": [None, "balanced", {0: 1, 1: 3}]}, TWO, {}),
    "several measures": (SVC(), {"C": [0.1, 1]}, TWO, {"scoring": ["f1", "roc_auc"], "refit": "roc_auc"}),
    "a measure of ours": (SVC(), {"C": [0.1, 1]}, TWO, {"scoring": make_scorer(lambda y, p: float((y == p).sum()))}),
    "ties broken": (SVC(break_ties=True), {"C": [0.1, 1]}, IRIS, {}),
    "shares": (NuSVC(), {"nu": [0.3, 0.5]}, IRIS, {"cv": 4}),
    "linear": (LinearSVC(tol=1e-8, max_iter=100000), {"C": [0.1, 1]}, IRIS, {"scoring": "f1_macro"}),
    "linear, two classes": (LinearSVC(tol=1e-8, max_iter=100000), {"C": [0.1, 1]}, TWO, {"scoring": "roc_auc"}),
    "means": (mercer.NearestMean(), {"kernel": ["rbf(gamma=0.1)", "linear()"]}, IRIS, {}),
    "numbers": (SVR(tol=1e-6), {"C": [1, 100], "epsilon": [0.1, 10]}, NUMBERS, {}),
    "ridge": (KernelRidge(kernel="rbf"), {"alpha": [0.01, 1], "gamma": [None, 2.0]}, NUMBERS, {"cv": ShuffleSplit(3, random_state=0)}),
    "repeated": (KernelRidge(), {"alpha": [0.01, 1]}, NUMBERS, {"cv": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)}),
    "leave one out": (KernelRidge(kernel="rbf"), {"alpha": [0.01, 1], "gamma": [1.0, 2.0]}, NUMBERS, {"cv": LeaveOneOut(), "scoring": "neg_mean_squared_error"}),
    "pipeline": (make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1], "svc__gamma": ["scale", 0.3]}, IRIS, {}),
    "pipeline, early step": (make_pipeline(StandardScaler(), PCA(), SVC()), {"pca__n_components": [1, 3], "svc__C": [0.1, 1]}, IRIS, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_grid_search(name, caplog):
    estimator, grid, (X, y), options = CASES[name]
    with caplog.at_level(logging.WARNING, "mercer"):
        same(MercerSearchCV(estimator, grid, **options), GridSearchCV(estimator, grid, **options), X, y)
    assert not caplog.records, "nothing was left to GridSearchCV"


def test_frames_and_sparse_matrices():
    X, y = TWO
    frame = pd.DataFrame(X, columns=list("abcdef"))
    grid = {"C": [0.1, 1], "gamma": [0.1, 0.2]}
    search = same(MercerSearchCV(SVC(), grid), GridSearchCV(SVC(), grid), frame, y)
    assert list(search.feature_names_in_) == list("abcdef")
    same(MercerSearchCV(SVC(), grid), GridSearchCV(SVC(), grid), sp.csr_matrix(X), y)


def test_precomputed_matrices():
    X, y = IRIS
    K = Rbf(gamma=0.3)(X)
    grid, estimator = {"C": [0.1, 1, 10]}, SVC(kernel="precomputed")
    same(MercerSearchCV(estimator, grid), GridSearchCV(estimator, grid), K, y)


def test_weights_of_examples():
    X, y = TWO
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    grid = {"C": [0.1, 1], "class_weight": [None, "balanced"]}
    same(MercerSearchCV(SVC(), grid), GridSearchCV(SVC(), grid), X, y, sample_weight=weights)


def test_views_and_strings():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ab" if i % 2 else "bc"), 9)) for i in range(60)]
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    grid = {"C": [1, 10]}
    search = MercerSearchCV(SVC(kernel=mercer.kernel("normalise(spectrum(length=2))")), grid).fit(words, y)
    assert search.best_score_ > 0.9
    k = mercer.kernel("rbf(gamma=0.1)@x + spectrum(length=2)@words")
    both = {"x": X, "words": words}
    search = MercerSearchCV(SVC(kernel=k), grid, cv=3).fit(both, y)
    assert search.best_score_ > 0.9 and (search.predict(both) == y).mean() > 0.9


def test_kernels_that_learn_words_are_left_to_grid_search(caplog):
    texts = [f"{'good fine' if i % 2 else 'bad poor'} film number {i}" for i in range(40)]
    y = np.arange(40) % 2
    estimator = SVC(kernel=mercer.kernel("bag_of_words(weighting=tfidf)"))
    with caplog.at_level(logging.WARNING, "mercer"):
        ours = MercerSearchCV(estimator, {"C": [0.01, 1]}, cv=4).fit(texts, y)
    assert "learns from the examples of a fold" in caplog.text
    theirs = GridSearchCV(estimator, {"C": [0.01, 1]}, cv=4).fit(texts, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_leave_one_out_by_its_name():
    X, y = NUMBERS
    search = MercerSearchCV(KernelRidge(kernel="rbf"), {"alpha": [0.1, 1]}, cv="loo", scoring="neg_mean_absolute_error").fit(X, y)
    assert search.n_splits_ == len(y)
    i, ridge = 7, KernelRidge(kernel="rbf", alpha=0.1)
    alone = ridge.fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])
    assert search.cv_results_["split7_test_score"][0] == pytest.approx(-abs(alone[0] - y[i]), rel=1e-9)


UNCOVERED = {
    "another estimator": (make_pipeline(StandardScaler()), {}, {"scoring": lambda e, X, y: 0.0}),
    "training scores": (SVC(), {"C": [1, 2]}, {"return_train_score": True}),
    "probabilities": (SVC(probability=True), {"C": [1]}, {"scoring": "neg_log_loss"}),
    "a function": (SVC(kernel=lambda X, Y: X @ Y.T), {"C": [1, 2]}, {}),
    "a kernel that learns": (SVC(kernel=Rbf(gamma=0.5).centre()), {"C": [1, 2]}, {}),
    "a measure of anything": (SVC(), {"C": [1]}, {"scoring": lambda e, X, y: len(e.support_)}),
}


@pytest.mark.parametrize("name", UNCOVERED)
def test_the_rest_is_left_to_grid_search(name, caplog):
    estimator, grid, options = UNCOVERED[name]
    with caplog.at_level(logging.INFO, "mercer"):
        search = MercerSearchCV(estimator, grid, **options).fit(*IRIS)
    assert "GridSearchCV is used" in caplog.text
    assert len(search.cv_results_["params"]) == len(list(search.cv_results_["mean_test_score"]))


def test_candidates_that_fail_are_told_as_in_scikit_learn():
    X, y = TWO
    with pytest.warns(Warning, match="fits failed"):
        search = MercerSearchCV(NuSVC(), {"nu": [0.3, 0.99]}).fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"][1]) and search.best_params_ == {"nu": 0.3}


def test_the_same_bits_for_any_number_of_threads():
    X, y = scale(IRIS[0]), IRIS[1]
    grid = {"C": [0.1, 1, 10], "gamma": [0.01, 0.1]}
    scores = [MercerSearchCV(SVC(), grid, n_jobs=n).fit(X, y).cv_results_["mean_test_score"] for n in (1, 2, 3)]
    assert (scores[0] == scores[1]).all() and (scores[0] == scores[2]).all()


def test_it_can_be_interrupted():
    calls = []

    def stop(*told):
        calls.append(told)
        raise KeyboardInterrupt

    X, y = make_classification(1500, 20, flip_y=0.3, random_state=0)
    search = MercerSearchCV(SVC(tol=1e-9), {"C": [1e3, 1e4, 1e5], "gamma": [0.01, 0.1]}, callback=stop)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert len(calls) == 1 and not hasattr(search, "cv_results_")
