"""What predictions rest on, the usual estimator and the usual grid."""

import mercer
import numpy as np
import pytest
import scipy.sparse as sp
from mercer import SVC, SVR, KernelRidge, LinearSVC, MercerSearchCV, explain, usual_estimator, usual_grid
from sklearn.base import clone
from sklearn.datasets import load_iris, make_regression
from sklearn.inspection import permutation_importance
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@pytest.fixture(scope="module")
def linear():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    return X, X @ [2.0, -0.5, 0.0]


def test_the_importance_of_a_column_is_what_scikit_learn_measures(linear):
    X, y = linear
    model = KernelRidge(alpha=1e-6).fit(X[:200], y[:200])
    told = explain(model, X[200:], y[200:], repeats=200)
    theirs = permutation_importance(model, X[200:], y[200:], scoring="neg_root_mean_squared_error", n_repeats=200, random_state=0)
    # other permutations: means differ by their standard errors, deviations by a tenth
    error = 5 * theirs.importances_std / np.sqrt(200)
    assert (np.abs(told.importances_mean - theirs.importances_mean) <= 2 * error + 1e-9).all()
    np.testing.assert_allclose(told.importances_std[:2], theirs.importances_std[:2], rtol=0.3)
    assert [one.name for one in told] == ["x[1]", "x[2]", "x[3]"] and abs(told[2].mean) < 1e-6
    # f changes by w (x' − x), whose mean square is 2 w² var
    assert told[0].mean == pytest.approx(np.sqrt(2) * 2 * X[200:, 0].std(), rel=0.1)
    assert told[0].repeats.std(ddof=1) == pytest.approx(told[0].deviation)


def test_the_same_seed_shuffles_alike_and_names_are_those_of_the_frame():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X, X_new, y, y_new = train_test_split(X, y, random_state=0)
    model = SVC().fit(X, y)
    told = explain(model, X_new, y_new, score="recall", positive="2", n_jobs=1)
    again = explain(model, X_new, y_new, score="recall", positive="2", n_jobs=2)
    assert (told.importances_mean == again.importances_mean).all()
    assert [one.name for one in told] == list(X.columns)
    assert told.value == pytest.approx(recall_score(y_new, model.predict(X_new), labels=[2], average="macro"))
    assert "petal" in repr(told).splitlines()[1]
    sparse = explain(SVC(kernel="linear").fit(sp.csr_array(X), y), sp.csr_array(X_new), y_new)
    dense = explain(SVC(kernel="linear").fit(X.to_numpy(), y), X_new.to_numpy(), y_new)
    np.testing.assert_allclose(sparse.importances_mean, dense.importances_mean, atol=0.05)


def test_views_are_shuffled_as_a_whole_and_files_are_explained(tmp_path):
    rng = np.random.default_rng(1)
    a, words = rng.normal(size=(80, 2)), ["ab" if i % 2 else "ba" for i in range(80)]
    y = np.arange(80) % 2
    kernel = mercer.kernel("0.01*rbf(gamma=1)@a + spectrum(length=2)@s")
    model = SVC(kernel=kernel).fit({"a": a, "s": words}, y)
    told = explain(model, {"a": a, "s": words}, y, by="views")
    assert [one.name for one in told] == ["a", "s"] and told[1].mean > 0.3 > abs(told[0].mean)
    model.save(tmp_path / "m.mercer")
    loaded = explain(mercer.load(tmp_path / "m.mercer"), {"a": a, "s": words}, y, by="views")
    assert (loaded.importances_mean == told.importances_mean).all()


def test_what_cannot_be_explained_is_refused(linear):
    X, y = linear
    model = SVR().fit(X, y)
    for wrong, words in [({"by": "rows"}, "'columns' or 'views'"), ({"score": "auc"}, "numbers are predicted"),
                         ({"repeats": 0}, "0 permutations")]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            explain(model, X, y, **wrong)
    with pytest.raises(ValueError, match="permutation_importance"):
        explain(SVR(kernel=lambda a, b: a @ b.T).fit(X, y), X, y)
    with pytest.raises(TypeError, match="permutation_importance"):
        explain(make_pipeline(StandardScaler(), SVR()).fit(X, y), X, y)


def test_the_target_chooses_the_estimator():
    assert isinstance(usual_estimator(["a", "b", "a"]), SVC)
    assert isinstance(usual_estimator([0, 1, 1, 0] * 10), SVC)
    assert isinstance(usual_estimator(np.linspace(0, 1, 50)), KernelRidge)
    assert isinstance(usual_estimator(np.zeros((5, 2))), KernelRidge)
    assert isinstance(usual_estimator(np.array([True, False])), SVC)


def test_a_search_without_a_grid_tries_what_is_declared():
    assert usual_grid(SVC())["gamma"] == [0.0001, 0.001, 0.01, 0.1, 1.0, 10.0]
    assert usual_grid(SVC(C=3)) == {"gamma": usual_grid(SVC())["gamma"]}
    assert list(usual_grid(LinearSVC())) == ["C"]
    assert set(usual_grid(KernelRidge())) == {"alpha"}
    assert set(usual_grid(KernelRidge(kernel="rbf"))) == {"alpha", "gamma"}
    kernels = usual_grid(SVC(C=1.5, kernel=mercer.kernels.Matern()))["kernel"]
    assert [str(k) for k in kernels] == [f"matern(nu=1.5, length={v})" for v in (0.3, 1, 3, 10, 30)]
    assert set(usual_grid(mercer.Kfd())) == {"lam", "kernel"}
    with pytest.raises(ValueError, match="parameter left with values to try"):
        usual_grid(SVC(C=2, gamma=0.1))
    with pytest.raises(TypeError, match="declares no grid"):
        usual_grid(StandardScaler())
    X, y = load_iris(return_X_y=True)
    search = MercerSearchCV(SVC(), cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 30 and search.param_grid is None and search.best_score_ > 0.95
    given = MercerSearchCV(SVC(), usual_grid(SVC()), cv=3).fit(X, y)
    assert given.best_params_ == clone(search).fit(X, y).best_params_ == search.best_params_
    piped = MercerSearchCV(make_pipeline(StandardScaler(), SVC(C=1.5)), cv=3).fit(X, y)
    assert set(piped.best_params_) == {"svc__gamma"}
    X, y = make_regression(60, 3, random_state=0)
    assert MercerSearchCV(usual_estimator(y), cv=3).fit(X, y).best_score_ > 0.9
