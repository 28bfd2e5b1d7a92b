"""Support vector machines beside scikit-learn's: same decisions, attributes, shapes and errors."""

import mercer
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.datasets import load_iris, load_wine, make_classification, make_moons, make_regression
from sklearn.metrics import log_loss

TIGHT = 1e-6


def two(seed=0, n=200):
    return make_classification(n, 6, n_informative=4, random_state=seed)


def three():
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(0)) / X.std(0), y


KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0},
    {"kernel": "sigmoid", "gamma": 0.01},
]


@pytest.mark.parametrize("setting", KERNELS, ids=str)
@pytest.mark.parametrize("data", [two, three])
def test_svc_decides_as_scikit_learn(data, setting):
    X, y = data()
    ours = mercer.SVC(C=2.0, tol=TIGHT, **setting).fit(X, y)
    theirs = svm.SVC(C=2.0, tol=TIGHT, **setting).fit(X, y)
    for shape in ("ovr", "ovo"):
        a = ours.set_params(decision_function_shape=shape).decision_function(X)
        b = theirs.set_params(decision_function_shape=shape).decision_function(X)
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, atol=1e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    for name in ("dual_coef_", "intercept_", "support_vectors_", "n_support_", "support_"):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert a.ndim == b.ndim and a.dtype.kind == b.dtype.kind, name
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    if setting["kernel"] == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


@pytest.mark.parametrize("setting", KERNELS[:4], ids=str)
def test_svr_predicts_as_scikit_learn(setting):
    X, y = make_regression(150, 5, noise=0.5, random_state=3)
    y = y / y.std()
    for ours, theirs in [
        (mercer.SVR(C=3.0, tol=TIGHT, **setting), svm.SVR(C=3.0, tol=TIGHT, **setting)),
        (mercer.NuSVR(C=3.0, nu=0.4, tol=TIGHT, **setting), svm.NuSVR(C=3.0, nu=0.4, tol=TIGHT, **setting)),
    ]:
        a, b = ours.fit(X, y).predict(X), theirs.fit(X, y).predict(X)
        np.testing.assert_allclose(a, b, atol=1e-3)
        assert ours.dual_coef_.shape[0] == 1 and ours.intercept_.shape == (1,)


def test_nu_svc_and_one_class_decide_as_scikit_learn():
    X, y = two(4)
    a = mercer.NuSVC(nu=0.3, tol=TIGHT).fit(X, y).decision_function(X)
    b = svm.NuSVC(nu=0.3, tol=TIGHT).fit(X, y).decision_function(X)
    np.testing.assert_allclose(a, b, atol=1e-3)
    for nu in (0.1, 0.5):
        ours, theirs = mercer.OneClassSVM(nu=nu, tol=TIGHT).fit(X), svm.OneClassSVM(nu=nu, tol=TIGHT).fit(X)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
        np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-3)
        np.testing.assert_allclose(ours.offset_, theirs.offset_, atol=1e-3)


def test_linear_machines_are_those_of_scikit_learn():
    X, y = three()
    ours = mercer.LinearSVC(tol=1e-8, max_iter=100000).fit(X, y)
    theirs = svm.LinearSVC(tol=1e-8, max_iter=100000, dual=True).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    X, y = make_regression(120, 4, noise=0.3, random_state=1)
    y = y / y.std()
    ours = mercer.LinearSVR(epsilon=0.1, tol=1e-8, max_iter=100000).fit(X, y)
    theirs = svm.LinearSVR(epsilon=0.1, tol=1e-8, max_iter=100000, dual=True).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3)
    assert ours.coef_.shape == theirs.coef_.shape


def test_weights_are_those_of_scikit_learn():
    X, y = two(7)
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    for more in ({"class_weight": {0: 3.0, 1: 0.5}}, {"class_weight": "balanced"}, {}):
        a = mercer.SVC(tol=TIGHT, **more).fit(X, y, sample_weight=weights).decision_function(X)
        b = svm.SVC(tol=TIGHT, **more).fit(X, y, sample_weight=weights).decision_function(X)
        np.testing.assert_allclose(a, b, atol=1e-3)


def test_sparse_precomputed_and_callable_kernels_agree_with_dense_data():
    X, y = three()
    wanted = mercer.SVC(gamma=0.1, tol=TIGHT).fit(X, y).decision_function(X)
    sparse = mercer.SVC(gamma=0.1, tol=TIGHT).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_matrix(X)), wanted, atol=1e-4)
    k = mercer.kernels.Rbf(gamma=0.1)
    K = k(X)
    stored = mercer.SVC(kernel="precomputed", tol=TIGHT).fit(K, y)
    np.testing.assert_allclose(stored.decision_function(K), wanted, atol=1e-4)
    called = mercer.SVC(kernel=lambda A, B: k(A, B), tol=TIGHT).fit(X, y)
    np.testing.assert_allclose(called.decision_function(X), wanted, atol=1e-4)
    named = mercer.SVC(kernel=k, tol=TIGHT).fit(X, y)
    np.testing.assert_allclose(named.decision_function(X), wanted, atol=1e-6)


def test_float32_is_kept():
    X, y = two()
    model = mercer.SVC().fit(X.astype(np.float32), y)
    assert model.support_vectors_.dtype == np.float32
    assert (model.predict(X.astype(np.float32)) == mercer.SVC().fit(X, y).predict(X)).mean() > 0.98


def test_probabilities_never_contradict_the_prediction():
    X, y = three()
    model = mercer.SVC(probability=True).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(1)], model.predict(X))
    with pytest.raises(AttributeError):
        mercer.SVC().fit(X, y).predict_proba(X)


@pytest.mark.parametrize("views", [False, True])
@pytest.mark.parametrize("setting", [{"C": 1.0}, {"nu": 0.2}], ids=str)
def test_weights_of_classes_are_no_part_of_the_probabilities(setting, views):
    (X, y), (new, truth) = (make_moons(n, noise=0.25, random_state=seed) for n, seed in ((600, 0), (2000, 1)))
    kept, held = np.r_[:100, np.flatnonzero(y)], np.r_[:300, np.flatnonzero(truth)]
    X, y, new, truth = X[kept], y[kept], new[held], truth[held]
    kernel = mercer.kernels.Rbf(gamma=1.0) @ "x" if views else mercer.kernels.Rbf(gamma=1.0)
    given, asked = ({"x": X}, {"x": new}) if views else (X, new)
    kind = mercer.SVC if "C" in setting else mercer.NuSVC
    losses = {}
    for weight in (None, "balanced", {0: 6.0}):
        model = kind(kernel=kernel, class_weight=weight, probability=True, **setting).fit(given, y)
        losses[str(weight)] = log_loss(truth, model.predict_proba(asked))
    assert max(losses.values()) < min(losses.values()) + 0.02, losses
    # weights of examples are those of the world that probabilities are about
    by_hand = kind(kernel=kernel, probability=True, **setting).fit(given, y, sample_weight=np.where(y == 0, 6.0, 1.0))
    assert log_loss(truth, by_hand.predict_proba(asked)) > max(losses.values()) + 0.02


def test_the_report_is_told():
    X, y = load_iris(return_X_y=True)
    model = mercer.SVC().fit(X, y)
    assert model.status_ == "converged" and 0 <= model.duality_gap_ < 1e-2 * abs(model.objective_)
    assert model.report_["kernel_evaluations"] > 0


def test_the_former_name_of_the_report_still_works():
    X, y = load_iris(return_X_y=True)
    assert not hasattr(mercer.SVC(), "proof_")
    model = mercer.SVC().fit(X, y)
    with pytest.warns(DeprecationWarning, match="use report_"):
        assert model.proof_ is model.report_
    # a pickle of earlier times has it under that name
    state = {**vars(model), "_pickled": model._model.to_bytes(), "proof_": model.report_}
    del state["report_"], state["_model"]
    again = mercer.SVC()
    again.__setstate__(state)
    assert again.report_["support"] == model.report_["support"]
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X, y: mercer.SVC(C=-1).fit(X, y), "'C' parameter"),
        (lambda X, y: mercer.SVC(gamma="wide").fit(X, y), "'gamma' parameter of SVC.*Got 'wide'"),
        (lambda X, y: mercer.SVC(kernel="rfb").fit(X, y), "rfb"),
        (lambda X, y: mercer.SVC().fit(X, np.zeros(len(y))), "greater than one"),
        (lambda X, y: mercer.SVC().fit(X, y).predict(X[:, :2]), "features"),
        (lambda X, y: mercer.SVC().fit(np.where(X > 100, X, np.nan), y), "NaN"),
        (lambda X, y: mercer.SVC(kernel="precomputed").fit(X, y), "square"),
        (lambda X, y: mercer.kernel("rbf(gama=1)"), "gamma"),
        (lambda X, y: mercer.NuSVC(nu=2.0).fit(X, y), "'nu' parameter"),
    ],
)
def test_wrong_use_is_told_in_a_sentence(make, words):
    X, y = two()
    with pytest.raises(ValueError, match=words):
        make(X, y)


def test_not_fitted_is_told():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        mercer.SVC().predict([[1.0, 2.0]])


def test_features_far_too_large_for_products_are_told_with_the_remedy():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 8)) * 1e18, np.arange(200) % 2
    X[:, 0] += 1e18 * y
    for kind in (np.float32, np.float64):
        try:
            model = mercer.LinearSVC(max_iter=50).fit(X.astype(kind), y)
        except ValueError as error:
            assert "StandardScaler" in str(error) and "lambda" not in str(error), error
        else:
            assert np.isfinite(model.coef_).all()
