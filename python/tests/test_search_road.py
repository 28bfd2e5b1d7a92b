"""What the shared road of MercerSearchCV takes, what it leaves to GridSearchCV, and that nobody can tell from the results."""

import logging
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from mercer import SVC, KernelRidge, LinearSVC, MercerSearchCV, NuSVC
from sklearn.datasets import load_iris, load_linnerud, make_classification
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

X, Y = load_iris(return_X_y=True)
C = {"C": [1, 10]}


def scores(estimator, grid, X=X, y=Y, shared=None, params=None, **options):
    """Mean scores of ours, which are those of scikit-learn; `shared` says whether nothing was left to GridSearchCV."""
    found, messages = [], []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    log = logging.getLogger("mercer")
    log.addHandler(handler)
    level, log.level = log.level, logging.INFO
    try:
        for cls in (MercerSearchCV, GridSearchCV):
            search = cls(estimator, grid, **options).fit(X, y, **(params or {}))
            found.append(search.cv_results_["mean_test_score"])
    finally:
        log.removeHandler(handler)
        log.level = level
    np.testing.assert_allclose(*found, atol=1e-6)
    if shared is not None:
        assert shared != any("GridSearchCV is used" in message for message in messages), messages
    return found[0]


class Flipped(SVC):
    def predict(self, X):
        return 2 - super().predict(X)


class FromHalf(SVC):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X[::2], y[::2])


class Turned(SVC):
    def decision_function(self, X):
        return -super().decision_function(X)


class Rated(SVC):
    def score(self, X, y, sample_weight=None):
        return 7.0


@pytest.mark.parametrize("cls", [Flipped, FromHalf, Turned, Rated])
def test_what_a_subclass_overrides_counts(cls):
    two = Y > 1
    scoring = "roc_auc" if cls is Turned else None
    ours = scores(cls(), C, y=two.astype(int), shared=False, scoring=scoring)
    plain = scores(SVC(), C, y=two.astype(int), shared=True, scoring=scoring)
    assert (np.abs(ours - plain) > 1e-3).any()


def test_what_others_have_put_into_a_class_counts(monkeypatch):
    monkeypatch.setattr(SVC, "predict", lambda self, X: np.full(len(X), 1))
    np.testing.assert_allclose(scores(SVC(), C, shared=False), 1 / 3)


class ByX:
    def get_n_splits(self, X=None, y=None, groups=None):
        return 1

    def split(self, X, y=None, groups=None):
        column = X["c0"].to_numpy() if hasattr(X, "columns") else X[:, 0]
        order = np.argsort(column, kind="stable")
        yield order[:100], order[100:]


@pytest.mark.parametrize("container", [np.asarray, lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(4)])])
def test_a_splitter_sees_the_examples(container):
    given = container(X)
    assert scores(SVC(), C, given, shared=True, cv=ByX()).max() > 0.5


def test_splits_are_drawn_once_and_iterators_read_once():
    for make in (lambda: KFold(3, shuffle=True, random_state=np.random.RandomState(1)), lambda: iter([(np.arange(0, 150, 2), np.arange(1, 150, 2))])):
        results = []
        for cls, grid in ((MercerSearchCV, C), (GridSearchCV, C), (MercerSearchCV, {"C": [1, 10, -1]})):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results.append(cls(SVC(), grid, cv=make()).fit(X, Y).cv_results_["mean_test_score"][:2])
        np.testing.assert_array_equal(results[0], results[1])
        np.testing.assert_array_equal(results[2], results[1])


def test_masks_are_places():
    mask = np.arange(150) % 3 == 0
    assert scores(SVC(), C, shared=True, cv=[(~mask, mask)]).min() > 0.9


def weighed(Z, w):
    return Z * w[: Z.shape[1]] * w[1000]


def test_long_parameters_of_earlier_steps_are_told_apart():
    w, other = np.ones(2000), np.ones(2000)
    other[1000] = 1e6
    pipeline = Pipeline([("early", FunctionTransformer(weighed)), ("svc", SVC(gamma=0.1))])
    ours = scores(pipeline, {"early__kw_args": [{"w": w}, {"w": other}], "svc__C": [1, 2]}, shared=True)
    assert ours[0] != ours[-1]


def test_class_weights_are_told_apart():
    class Weight(dict):
        def __repr__(self):
            return "a weight"

    X, y = make_classification(120, 5, flip_y=0.2, weights=[0.7], random_state=1)
    ours = scores(SVC(), {"class_weight": [Weight({0: 1.0, 1: 1.0}), Weight({0: 1.0, 1: 9.0})]}, X, y, shared=True, scoring="recall")
    assert ours[0] != ours[1]


@pytest.mark.parametrize("grid", [{"penalty": ["l1", "l2"]}, {"multi_class": ["crammer_singer", "ovr"]}])
def test_settings_of_linear_svc_that_are_not_covered_are_not_scored_as_others(grid):
    scaled = StandardScaler().fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores(LinearSVC(max_iter=100_000, tol=1e-8), grid, scaled, shared=False, refit=False)


class Resampled(Pipeline):
    """Changes rows on its way, as samplers do."""

    def fit(self, X, y=None, **params):
        return super().fit(X[: len(X) // 2], y[: len(y) // 2], **params)


def test_other_pipelines_are_fitted_as_they_are():
    steps = [("scaler", StandardScaler()), ("svc", SVC())]
    order = np.random.default_rng(0).permutation(150)[:60]
    ours = scores(Resampled(steps), {"svc__C": [1, 10]}, X[order], Y[order], shared=False, cv=2)
    assert (ours != scores(Pipeline(steps), {"svc__C": [1, 10]}, X[order], Y[order], shared=True, cv=2)).any()


def test_several_targets_count_alike():
    A, B = load_linnerud(return_X_y=True)
    for scoring in ("neg_root_mean_squared_error", "neg_mean_squared_error", "neg_mean_absolute_error", "r2"):
        scores(KernelRidge(kernel="rbf", gamma=1e-3), {"alpha": [0.1, 1]}, A, B * [1, 10, 100], shared=True, scoring=scoring)


@pytest.mark.parametrize("y", [Y.reshape(-1, 1), pd.DataFrame({"target": Y}), pd.DataFrame({"target": Y.astype(str)})])
def test_a_column_is_a_target(y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert scores(SVC(), C, y=y, shared=True).min() > 0.9
        # a measure sees the target as it was given
        scores(SVC(), C, y=y, shared=True, scoring=make_scorer(lambda y, p: float(np.ndim(y))))


def test_a_pipeline_may_have_one_step():
    assert scores(Pipeline([("svc", SVC())]), {"svc__C": [1, 10]}, shared=True).min() > 0.9
    idle = Pipeline([("early", "passthrough"), ("svc", SVC())])
    assert scores(idle, {"svc__C": [1, 10]}, shared=True).min() > 0.9
    assert scores(idle, {"early": [StandardScaler(), "passthrough"], "svc__C": [1]}, shared=True).min() > 0.9


@pytest.mark.parametrize(
    ("estimator", "grid", "bad"),
    [(SVC(), {"gamma": [None, 1.0]}, 0), (LinearSVC(max_iter=100_000), {"C": ["a", 1]}, 0), (NuSVC(), {"nu": [0.2, 0.99]}, 1),
     (SVC(), {"C": [1, -1]}, 1), (KernelRidge(), {"alpha": [1, "a"]}, 1)],
)  # fmt: skip
def test_candidates_that_fail_do_not_take_the_others_along(estimator, grid, bad):
    order = np.random.default_rng(0).permutation(150)
    # classes of 30 and 120 examples, for which a share of errors may be too large
    y = np.where(np.arange(150) < 30, 0, 1)[order] if isinstance(estimator, NuSVC) else Y[order]
    for value in (np.nan, -5.0):
        with pytest.warns((FitFailedWarning, UserWarning)):
            found = [cls(estimator, grid, error_score=value).fit(X[order], y) for cls in (MercerSearchCV, GridSearchCV)]
        ours, theirs = (search.cv_results_["mean_test_score"] for search in found)
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
        np.testing.assert_equal(ours[bad], value)
    with pytest.raises(type(_error(lambda: GridSearchCV(estimator, grid, error_score="raise").fit(X[order], y)))):
        MercerSearchCV(estimator, grid, error_score="raise").fit(X[order], y)


def _error(work):
    try:
        work()
    except Exception as error:
        return error
    raise AssertionError("scikit-learn raises nothing")


def test_measures_that_fail_are_told_as_in_scikit_learn():
    def fails(y, p):
        raise ZeroDivisionError

    for scoring in (make_scorer(fails), {"one": make_scorer(fails), "two": "accuracy"}):
        with pytest.warns(UserWarning, match="Scoring failed"):
            search = MercerSearchCV(SVC(), C, scoring=scoring, refit=False).fit(X, Y)
        key = "mean_test_one" if isinstance(scoring, dict) else "mean_test_score"
        assert np.isnan(search.cv_results_[key].astype(float)).all()


def test_parameters_of_the_search_are_checked():
    for wrong in ({"verbose": "a"}, {"refit": 3.5}, {"error_score": "b"}, {"cv": "leave"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            MercerSearchCV(SVC(), C, **wrong).fit(X, Y)


def test_candidates_whose_solver_ends_early_begin_as_in_scikit_learn():
    A, b = make_classification(150, 5, flip_y=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning):
        scores(SVC(max_iter=4, gamma=0.5), {"C": [0.01, 1, 100]}, A, b, shared=True)
        scores(SVC(gamma=0.5), {"C": [0.01, 100], "max_iter": [4, -1]}, A, b, shared=True, scoring="roc_auc")


def test_conformal_candidates_learn_from_fewer_examples():
    A, b = make_classification(100, 5, flip_y=0.2, random_state=0)
    ours = scores(SVC(), {"conformal": [None, "split"]}, A, b, shared=False)
    assert ours[0] != ours[1]


def test_callbacks_of_the_estimator_are_called():
    calls = []
    A, b = make_classification(6000, 20, flip_y=0.3, random_state=0)
    MercerSearchCV(SVC(callback=lambda *told: calls.append(told), C=1e4, tol=1e-6, max_iter=20_000), {"gamma": [0.1]}, cv=2, refit=False).fit(A, b)
    assert calls


@pytest.mark.parametrize("verbose", [1, 2, 3, 10])
@pytest.mark.parametrize("scoring", [None, ["accuracy", "f1_macro"]])
def test_lines_are_those_of_scikit_learn(verbose, scoring, capsys):
    lines = []
    pipeline = make_pipeline(StandardScaler(), SVC())
    for cls in (MercerSearchCV, GridSearchCV):
        cls(pipeline, {"svc__C": [1, 10], "svc__gamma": [0.1]}, verbose=verbose, scoring=scoring, refit=False, cv=3).fit(X, Y)
        # times differ, and with them the number of dots
        lines.append(re.sub(r"\.{2,}| *[\d.]+(s|min)$", "", capsys.readouterr().out, flags=re.MULTILINE))
    assert lines[0] == lines[1] and lines[0].count("END") == (6 if verbose > 1 else 0)


def test_lines_of_candidates_come_once(capsys):
    A, b = make_classification(150, 5, flip_y=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning):
        MercerSearchCV(SVC(gamma=0.5), {"C": [0.01, 100], "max_iter": [4, -1]}, verbose=2, cv=3).fit(A, b)
    assert capsys.readouterr().out.count("END") == 12


def test_a_callback_that_raises_stops_the_search():
    def stop(*told):
        raise LookupError("enough")

    A, b = make_classification(6000, 20, flip_y=0.3, random_state=0)
    for estimator, grid in ((SVC(tol=1e-9), {"C": [1e3, 1e4]}), (make_pipeline(StandardScaler(), SVC(tol=1e-9)), {"svc__C": [1e3, 1e4]})):
        with pytest.raises(LookupError, match="enough"):
            MercerSearchCV(estimator, grid, callback=stop).fit(A, b)


class Backwards(MercerSearchCV):
    def _run_search(self, evaluate_candidates):
        evaluate_candidates([{"C": 10}, {"C": 1}])


def test_searches_of_ones_own_search_in_their_own_way():
    assert Backwards(SVC(), C).fit(X, Y).cv_results_["params"] == [{"C": 10}, {"C": 1}]


def test_routed_weights_reach_fits_and_measures():
    from sklearn import config_context

    weights = np.random.default_rng(0).uniform(0.1, 3, 150)
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(lambda y, p, sample_weight=None: float(np.average(y == p, weights=sample_weight))).set_score_request(sample_weight=True)
        estimator = SVC(C=0.01).set_fit_request(sample_weight=True)
        scores(estimator, {"gamma": [0.01, 0.1]}, shared=True, scoring=scorer, params={"sample_weight": weights})
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), estimator)
        scores(pipeline, {"svc__gamma": [0.01, 0.1]}, scoring=scorer, params={"sample_weight": weights})


@pytest.mark.parametrize("kernel", ["rbf", "poly", "polynomial", "laplacian", "chi2", "linear", "cosine"])
@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_no_kernel_takes_its_width_from_held_out_examples(kernel, gamma):
    data, y = make_classification(60, 4, random_state=3)
    data = np.abs(data)
    data[:20] *= 30
    cv = [(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))]
    scores(SVC(kernel=kernel, gamma=gamma, tol=1e-7), C, X=data, y=y, cv=cv, scoring="roc_auc", shared=True)


def test_nothing_is_said_of_the_names_of_a_frame():
    data = pd.DataFrame(X, columns=list("abcd"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scoring in (None, "roc_auc", "f1"):
            search = MercerSearchCV(SVC(), C, scoring=scoring, cv=3).fit(data, Y > 1)
        assert list(search.feature_names_in_) == list("abcd")
