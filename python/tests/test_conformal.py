"""Sets, intervals and p-values: coverage, closed forms, files and mistakes."""

import json
import pickle

import mercer
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import beta, binom
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.kernel_ridge import KernelRidge as Theirs

MOONS, SIDES = make_moons(1400, noise=0.35, random_state=0)
RNG = np.random.default_rng(0)
LINE = RNG.uniform(0, 3, size=(1400, 1))
WAVES = np.sin(2 * LINE).ravel() + 0.2 * RNG.normal(size=1400)
CLASSIFIERS = [mercer.SVC(), mercer.NuSVC(), mercer.LinearSVC(), mercer.Kfd(), mercer.NearestMean(), mercer.Knn()]
REGRESSORS = [mercer.SVR(), mercer.LinearSVR(), mercer.KernelRidge(kernel="rbf"), mercer.Quantile(), mercer.KnnRegression()]
DETECTORS = [mercer.OneClassSVM(nu=0.2), mercer.Svdd(), mercer.CentreOfMass()]


def name(estimator):
    return type(estimator).__name__


def covers(hits, least, most):
    """Whether a share of hits is what both bounds allow, but for one in a million."""
    count, n = int(np.sum(hits)), len(hits)
    return binom.cdf(count, n, least) > 1e-6 and binom.sf(count - 1, n, most) > 1e-6


@pytest.mark.parametrize("method", ["split", "cross"])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name)
def test_sets_cover(estimator, method):
    model = clone(estimator).set_params(conformal=method).fit(MOONS[:400], SIDES[:400])
    sets = model.predict_set(MOONS[400:], coverage=0.9)
    assert sets.shape == (1000, 2) and sets.dtype == bool
    # the coverage of 100 held-out examples at hand is itself drawn from a Beta distribution
    low, high = beta.ppf([1e-6, 1 - 1e-6], 91, 10)
    assert covers(sets[np.arange(1000), SIDES[400:]], low, high)
    p = model.p_values(MOONS[400:])
    assert_array_equal(sets, p > 0.1 + 1e-12)
    least = model.coverage_guarantee(0.9)[0]["least"]
    if name(estimator) == "Knn" and method == "cross":
        # of equally near examples the first are taken, and the proof is for fits that know no order
        assert least is None
    else:
        assert 0 <= least <= 0.9


@pytest.mark.parametrize("method", ["split", "cross"])
@pytest.mark.parametrize("estimator", REGRESSORS, ids=name)
def test_intervals_cover(estimator, method):
    model = clone(estimator).set_params(conformal=method).fit(LINE[:400], WAVES[:400])
    ends = model.predict_interval(LINE[400:])
    assert ends.shape == (1000, 2) and (ends[:, 0] < ends[:, 1]).all()
    low, high = beta.ppf([1e-6, 1 - 1e-6], 91, 10)
    assert covers((ends[:, 0] <= WAVES[400:]) & (WAVES[400:] <= ends[:, 1]), low, high)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict_interval(LINE[400:]), ends)


@pytest.mark.parametrize("estimator", DETECTORS, ids=name)
def test_p_values_of_usual_examples_are_uniform(estimator):
    model = clone(estimator).set_params(conformal="split").fit(MOONS[:400])
    p = model.p_values(MOONS[400:])
    assert p.shape == (1000,)
    low, high = beta.ppf([1e-6, 1 - 1e-6], 91, 10)
    assert covers(p > 0.1, low, high)
    assert model.p_values([[50.0, 50.0]])[0] == 1 / 101


def test_jackknife_is_that_of_scikit_learn_n_times():
    X, y, new = LINE[:40], WAVES[:40], LINE[40:60]
    model = mercer.KernelRidge(alpha=0.3, kernel="rbf", gamma=1.0, conformal="jackknife").fit(X, y)
    lower, upper = [], []
    for i in range(40):
        keep = np.arange(40) != i
        without = Theirs(alpha=0.3, kernel="rbf", gamma=1.0).fit(X[keep], y[keep])
        residual = abs(y[i] - without.predict(X[[i]])[0])
        lower.append(without.predict(new) - residual)
        upper.append(without.predict(new) + residual)
    k = int(np.ceil(0.9 * 41))
    wanted = np.stack([np.sort(lower, axis=0)[40 - k], np.sort(upper, axis=0)[k - 1]], axis=1)
    assert_allclose(model.predict_interval(new, coverage=0.9), wanted, atol=1e-8)
    assert model.coverage_guarantee(0.9)[0]["least"] == pytest.approx(0.8)


def test_full_is_that_of_scikit_learn_with_every_candidate():
    X, y, new = LINE[:25], WAVES[:25], LINE[25:31]
    model = mercer.KernelRidge(alpha=0.3, kernel="rbf", gamma=1.0, conformal="full").fit(X, y)

    def inside(x, candidate, level):
        A, b = np.vstack([X, [x]]), np.append(y, candidate)
        left = np.abs(b - Theirs(alpha=0.3, kernel="rbf", gamma=1.0).fit(A, b).predict(A))
        return (left >= left[-1]).sum() > level * 26 + 1e-9

    for coverage in (0.5, 0.8):
        ends = model.predict_interval(new, coverage=coverage)
        assert np.isfinite(ends).all()
        for x, (lower, upper) in zip(new, ends):
            for end, outwards in ((lower, -1e-6), (upper, 1e-6)):
                assert inside(x, end - outwards, 1 - coverage) and not inside(x, end + outwards, 1 - coverage)
            for candidate in np.linspace(-4, 4, 60):
                assert lower <= candidate <= upper or not inside(x, candidate, 1 - coverage)
    [told] = model.coverage_guarantee(0.8)
    assert (told["held_out"], told["least"], told["most"], told["exact"]) == (25, 0.8, None, None)


def test_full_survives_files_and_covers(tmp_path):
    model = mercer.KernelRidge(alpha=0.1, kernel="rbf", gamma=1.0, conformal="full").fit(LINE[:400], WAVES[:400])
    ends = model.predict_interval(LINE[400:])
    low, high = beta.ppf([1e-6, 1 - 1e-6], 361, 40)
    assert covers((ends[:, 0] <= WAVES[400:]) & (WAVES[400:] <= ends[:, 1]), low, high)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_interval(LINE[400:]), ends)
    model.save(tmp_path / "m")
    assert_array_equal(mercer.load(tmp_path / "m").predict_interval(LINE[400:]), ends)
    with pytest.raises(ValueError, match="'split', 'cross' or 'jackknife'"):
        mercer.SVR(conformal="full").fit(LINE[:50], WAVES[:50])


@pytest.mark.filterwarnings("ignore:Solver terminated early")
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid", "laplacian"])
@pytest.mark.parametrize("method", ["split", "cross"])
def test_gamma_is_settled_by_examples_that_are_never_held_out(kernel, method):
    X, y = MOONS[:24], SIDES[:24]
    recipe = {"method": method, "folds": 3, "share": 0.25} if method == "cross" else {"method": method, "share": 0.25}

    def kernel_text(X):
        return mercer.SVC(kernel=kernel, conformal=recipe, max_iter=200).fit(X, y)._model.kernel

    silent = 0
    for i in range(24):
        odd = X.copy()
        odd[i] = 30.0
        silent += kernel_text(odd) == kernel_text(X)
    # a quarter is set aside by split, and kept by cross
    assert silent == (6 if method == "split" else 18)
    model = mercer.SVC(kernel=kernel, conformal=recipe).fit(X, y)
    assert model.coverage_guarantee(0.5)[0]["held_out"] == silent


def test_all_examples_are_held_out_where_there_is_nothing_to_settle():
    def held(**parameters):
        model = mercer.SVC(conformal={"method": "cross", "share": 0.4, "mondrian": False}, **parameters)
        return model.fit(MOONS[:100], SIDES[:100]).coverage_guarantee()[0]["held_out"]

    assert held(gamma="scale") == 60 and held(gamma="scale", kernel=mercer.kernels.Rbf(gamma="scale")) == 60
    assert held(gamma=0.5) == held(gamma="auto") == held(gamma="scale", kernel="linear") == 100
    mondrian = mercer.SVC(conformal={"method": "cross", "mondrian": True}).fit(MOONS[:100], SIDES[:100])
    counts = np.bincount(SIDES[:100])
    assert [t["held_out"] for t in mondrian.coverage_guarantee()] == [n - np.floor(n / 4 + 0.5) for n in counts]


def test_mondrian_judges_each_class():
    X, y = load_iris(return_X_y=True)
    y = np.array(["setosa", "versicolor", "virginica"])[y]
    model = mercer.SVC(conformal={"method": "split", "share": 0.4, "mondrian": True}).fit(X, y)
    told = model.coverage_guarantee(0.9)
    assert [t["held_out"] for t in told] == [20, 20, 20]
    assert model.predict_set(X).shape == (150, 3)
    # 20 examples of a class are too few for 97 %
    assert all(t["everything"] for t in model.coverage_guarantee(0.97))
    assert model.predict_set(X, coverage=0.97).all()
    # nothing excludes a class that the model does not know
    assert all(t["unknown"] for t in told)
    assert model.predict_set(X, unknown=True).shape == (150, 4) and model.predict_set(X, unknown=True)[:, 3].all()


def test_any_model_is_calibrated_later():
    model = mercer.SVC().fit(MOONS[:200], SIDES[:200])
    assert not hasattr(model, "predict_set")
    model.calibrate(MOONS[200:400], SIDES[200:400])
    assert model.coverage_guarantee()[0]["held_out"] == 200
    low, high = beta.ppf([1e-6, 1 - 1e-6], 181, 20)
    assert covers(model.predict_set(MOONS[400:])[np.arange(1000), SIDES[400:]], low, high)
    # a few of training among them are left out
    with pytest.warns(UserWarning, match="5 of the examples to calibrate with are those of training"):
        model.calibrate(np.vstack([MOONS[200:400], MOONS[:5]]), np.concatenate([SIDES[200:400], SIDES[:5]]))
    told = model.coverage_guarantee()[0]
    assert (told["held_out"], told["unknown"]) == (200, False)
    assert not model.predict_set(MOONS[400:], unknown=True)[:, 2].any()
    # scores of examples that it was trained on are too good to be true: they are refused
    tight = mercer.SVC(C=1000, gamma=50).fit(MOONS[:200], SIDES[:200])
    with pytest.raises(ValueError, match="those of training"):
        tight.calibrate(MOONS[:200], SIDES[:200])
    with pytest.raises(ValueError, match="those of training"):
        tight.calibrate(MOONS[:199][::-1], SIDES[:199][::-1])
    with pytest.raises(ValueError, match="those of training"):
        tight.calibrate(MOONS[:60], SIDES[:60])
    with pytest.raises(ValueError, match="those of training"):
        tight.calibrate(MOONS[100:400], SIDES[100:400])
    ridge = mercer.KernelRidge(kernel="rbf").fit(LINE[:200], WAVES[:200]).calibrate(LINE[200:400], WAVES[200:400])
    assert ridge.predict_interval(LINE[:5]).shape == (5, 2)
    usual = mercer.OneClassSVM().fit(MOONS[:200]).calibrate(MOONS[200:400])
    assert usual.p_values(MOONS[:5]).shape == (5,)


def test_several_outputs_and_files(tmp_path):
    y = np.stack([WAVES, 10 * WAVES], axis=1)
    model = mercer.KernelRidge(kernel="rbf", conformal="cross").fit(LINE[:100], y[:100])
    ends = model.predict_interval(LINE[100:120])
    assert ends.shape == (20, 2, 2)
    assert_allclose(ends[:, 1], 10 * ends[:, 0], rtol=1e-6, atol=1e-8)
    model.save(tmp_path / "m")
    loaded = mercer.load(tmp_path / "m")
    assert_array_equal(loaded.predict_interval(LINE[100:120]), ends)
    sets = mercer.SVC(conformal="split").fit(MOONS[:100], SIDES[:100])
    sets.save(tmp_path / "s")
    assert_array_equal(mercer.load(tmp_path / "s").predict_set(MOONS), sets.predict_set(MOONS))


def test_the_support_is_told_in_places_of_all_examples():
    model = mercer.SVC(conformal="split").fit(MOONS[:100], SIDES[:100])
    assert_array_equal(model.support_vectors_, MOONS[:100][model.support_])
    # 75 were learned from, but not the first 75
    assert 75 <= model.support_.max() < 100


def test_mistakes_are_told():
    with pytest.raises(AttributeError, match="predict_set") as raised:
        mercer.SVC().fit(MOONS[:50], SIDES[:50]).predict_set(MOONS)
    assert "conformal='split'" in str(raised.value.__cause__) and "calibrate" in str(raised.value.__cause__)
    for wrong in ("bootstrap", {"share": 0.5}, {"method": "split", "folds": 3}, {"method": "cross", "colour": 1}):
        with pytest.raises(ValueError, match="conformal"):
            mercer.SVC(conformal=wrong).fit(MOONS[:50], SIDES[:50])
    with pytest.raises(ValueError, match="learns again for each of the 37"):
        mercer.SVC(conformal="jackknife").fit(MOONS[:50], SIDES[:50])
    mercer.SVC(conformal={"method": "jackknife", "retrain": True}).fit(MOONS[:50], SIDES[:50]).predict_set(MOONS)
    model = mercer.SVC(conformal="split").fit(MOONS[:50], SIDES[:50])
    for coverage in (0, 1, 2, float("nan")):
        with pytest.raises(ValueError, match="between 0 and 1"):
            model.predict_set(MOONS, coverage=coverage)
    with pytest.raises(ValueError, match="alpha > 0"):
        mercer.KernelRidge(conformal="split").fit(LINE, WAVES, sample_weight=np.ones(1400))
    assert clone(mercer.Kfd(conformal="cross")).conformal == "cross"


def test_gamma_is_settled_without_what_is_held_out():
    X = np.random.default_rng(3).normal(size=(60, 2))
    y = X[:, 0] + 0.1 * X[:, 1]
    kernel = mercer.SVR(conformal="split").fit(X, y)._model.kernel
    settled = 0
    for i in range(60):
        moved = X.copy()
        moved[i] += 100.0
        settled += mercer.SVR(conformal="split").fit(moved, y)._model.kernel != kernel
    # a quarter is set aside
    assert settled == 45


@pytest.mark.parametrize("estimator", [mercer.SVC(gamma=1.0), mercer.LinearSVC()], ids=name)
def test_classes_are_balanced_without_what_is_held_out(estimator):
    few = np.flatnonzero(SIDES == 1)[:60]
    rows = np.concatenate([few, np.flatnonzero(SIDES == 0)[:140]])
    X, y = MOONS[rows], SIDES[rows]
    recipe = {"method": "split", "share": 0.5}
    model = clone(estimator).set_params(class_weight="balanced", conformal=recipe).fit(X, y)
    # each class learned from has a weight by its own numbers, so the fit is that of the part alone
    part = json.loads(model._model.provenance)["part"]
    assert len(part) == 100
    alone = clone(estimator).set_params(class_weight="balanced").fit(X[part], y[part])
    assert_allclose(model.decision_function(X), alone.decision_function(X), atol=5e-3)
    with pytest.raises(ValueError, match="as a dict"):
        mercer.NuSVC(class_weight="balanced", conformal="split").fit(X, y)


@pytest.mark.parametrize("estimator", [mercer.SVC(gamma=1.0), mercer.LinearSVC(), mercer.Kfd(kernel="rbf(gamma=1)")], ids=name)
def test_a_class_that_is_set_aside_whole_is_in_no_set(estimator):
    X = np.random.default_rng(5).normal(size=(24, 2))
    y = np.array(["a"] * 11 + ["b"] * 12 + ["rare"])
    known = []
    for share in (0.3, 0.5, 0.7):
        model = clone(estimator).set_params(conformal={"method": "split", "share": share}).fit(X, y)
        known.append(model.classes_.tolist())
        sets = model.predict_set(X, coverage=0.6)
        assert sets.shape == (24, len(model.classes_)) and set(model.predict(X)) <= set(model.classes_)
        assert_array_equal(sets.shape[1], len(model.classes_))
        # the example of the class that is not known is one of those that count
        assert model.coverage_guarantee(0.6)[0]["held_out"] == round(share * 24)
    assert ["a", "b"] in known
    with pytest.raises(ValueError, match="all its examples in one fold"):
        clone(estimator).set_params(conformal="cross").fit(X[:20], [0] * 19 + [1])


def test_a_search_leaves_nothing_proven():
    X, y = MOONS[:200], SIDES[:200]
    one = mercer.MercerSearchCV(mercer.SVC(conformal="split", gamma=1.0), {"C": [1.0]}).fit(X, y)
    two = mercer.MercerSearchCV(mercer.SVC(conformal="split", gamma=1.0), {"C": [1.0, 10.0]}).fit(X, y)
    assert one.best_estimator_.coverage_guarantee(0.9)[0]["least"] == 0.9
    assert two.best_estimator_.coverage_guarantee(0.9)[0]["least"] is None


def test_what_overflows_is_not_a_number_of_an_interval():
    X = np.linspace(0, 1, 12)[:, None]
    y = np.where(np.arange(12) % 2, 1e308, -1e308)
    model = mercer.KernelRidge(kernel="rbf", gamma=1.0, conformal="full").fit(X, y)
    assert not np.isnan(model.predict_interval([[0.0], [5.0]], coverage=0.8)).any()
    with pytest.raises(ValueError, match="with the key 'method'"):
        mercer.SVC(conformal=True).fit(MOONS[:50], SIDES[:50])
