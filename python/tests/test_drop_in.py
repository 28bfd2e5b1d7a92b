"""The classes in scikit-learn's spelling beside scikit-learn's own, where they once differed."""

import pickle

import mercer
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.base import ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.utils._param_validation import InvalidParameterError

X, Y = load_iris(return_X_y=True)
TIGHT = 1e-8


def test_a_degree_that_is_not_whole_is_computed():
    setting = {"kernel": "poly", "degree": 2.5, "gamma": 0.1}
    ours, theirs = mercer.KernelRidge(**setting).fit(X, Y).predict(X), KernelRidge(**setting).fit(X, Y).predict(X)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)
    whole = KernelRidge(**{**setting, "degree": 2}).fit(X, Y).predict(X)
    assert np.abs(theirs - whole).max() > 1e-3
    ours, theirs = mercer.KernelPCA(3, **setting).fit(X).eigenvalues_, KernelPCA(3, **setting).fit(X).eigenvalues_
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_the_way_back_keeps_the_width_of_the_examples():
    setting = {"kernel": "rbf", "fit_inverse_transform": True, "n_components": 2}
    ours, theirs = mercer.KernelPCA(**setting).fit(X), KernelPCA(**setting).fit(X)
    assert ours.gamma_ == theirs.gamma_ == 0.25
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)), atol=1e-6)


@pytest.mark.parametrize(
    "model", [mercer.SVC(kernel=lambda a, b: (a @ b.T) ** 2), mercer.KernelRidge(kernel="poly", degree=2.5)], ids=["function", "degree"]
)
def test_a_kernel_that_no_file_can_hold_is_not_saved(model, tmp_path):
    model = clone(model).fit(X, Y)
    with pytest.raises(ValueError, match="which a model file cannot hold; pickle it"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_the_word_deprecated_asks_for_no_probabilities():
    model = mercer.SVC(probability="deprecated").fit(X, Y)
    assert not hasattr(model, "predict_proba") and len(model.probA_) == 0
    assert len(mercer.SVC(probability=True).fit(X, Y).probA_) == 3


@pytest.mark.parametrize("setting", [{"penalty": "l1", "dual": False}, {"multi_class": "crammer_singer"}], ids=str)
def test_linear_machines_that_mercer_has_not_are_those_of_scikit_learn(setting):
    ours = mercer.LinearSVC(random_state=0, max_iter=20000, **setting).fit(X, Y)
    theirs = svm.LinearSVC(random_state=0, max_iter=20000, **setting).fit(X, Y)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    with pytest.raises(ValueError, match="not learned by mercer's own solver"):
        ours.save("nowhere")
    with pytest.raises(ValueError, match="not learned by mercer's own solver"):
        ours.certify(X, Y)
    assert clone(ours).fit(X, Y).score(X, Y) == theirs.score(X, Y)


def test_the_patched_linear_class_can_be_inherited_from_and_searched():
    mercer.patch_sklearn()
    try:
        from sklearn.svm import LinearSVC

        class Mine(LinearSVC):
            def predict(self, X):
                return np.full(len(X), 7)

        assert issubclass(LinearSVC, ClassifierMixin) and type(Mine()) is Mine
        assert (Mine().fit(X, Y).predict(X) == 7).all()
        assert "penalty" in LinearSVC._get_param_names() and not isinstance(LinearSVC(), Mine)
    finally:
        mercer.unpatch_sklearn()
    found = GridSearchCV(mercer.LinearSVC(dual=False, max_iter=20000), {"penalty": ["l1", "l2"]}).fit(X, Y)
    assert found.cv_results_["mean_test_score"].min() > 0.9


def test_linear_machines_weigh_the_rest_by_its_classes():
    X, y = make_classification(300, 6, n_informative=5, n_redundant=0, n_classes=3, weights=[0.7, 0.2, 0.1], random_state=0)
    factors = {0: 0.5, 1: 2.0, 2: 8.0}
    ours = mercer.LinearSVC(class_weight=factors, tol=1e-8).fit(X, y)
    weights = np.array([0.5, 2.0, 8.0])[y]
    each = [svm.LinearSVC(tol=1e-8, max_iter=100_000).fit(X, y == k, sample_weight=weights).coef_[0] for k in range(3)]
    np.testing.assert_allclose(ours.coef_, each, atol=1e-4)
    # scikit-learn's weighs the one class alone, as the docstring says
    theirs = svm.LinearSVC(class_weight=factors, tol=1e-8, max_iter=100_000).fit(X, y)
    alone = [svm.LinearSVC(class_weight={True: factors[k]}, tol=1e-8, max_iter=100_000).fit(X, y == k).coef_[0] for k in range(3)]
    np.testing.assert_allclose(theirs.coef_, alone, atol=1e-4)
    assert abs(ours.coef_ - theirs.coef_).max() > 0.01 and "the rest too" in mercer.LinearSVC.__doc__


def test_a_class_with_a_single_example_has_probabilities():
    rows, labels = np.vstack([X[:60], [[20.0, 20, 20, 20]]]), np.append(Y[:60], 9)
    p = mercer.SVC(probability=True).fit(rows, labels).predict_proba(rows)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p > 0).all() and p[:60, 2].max() < 0.5


def test_functions_look_at_anything_and_may_give_sparse_matrices():
    words, y = ["A A", "A", "B", "B B", "A B"], [1, 1, 2, 2, 1]

    def shared(a, b):
        return np.array([[sum(x.count(c) * z.count(c) for c in "AB") for z in b] for x in a], dtype=float)

    counts = np.array([[2, 0], [1, 0], [0, 1], [0, 2], [1, 1]])
    ours = mercer.SVC(kernel=shared).fit(words, y)
    np.testing.assert_allclose(ours.decision_function(words), svm.SVC(kernel="linear").fit(counts, y).decision_function(counts), atol=1e-2)
    sparse = mercer.SVC(kernel=lambda a, b: a @ b.T).fit(sp.csr_matrix(X), Y)
    np.testing.assert_array_equal(sparse.predict(sp.csr_matrix(X)), mercer.SVC(kernel="linear").fit(X, Y).predict(X))


def test_examples_of_no_weight_are_left_out():
    rows, y = make_classification(60, 4, random_state=0)
    weights = np.ones(60)
    weights[:5] = -1
    ours = mercer.SVC(tol=TIGHT).fit(rows, y, sample_weight=weights)
    theirs = svm.SVC(tol=TIGHT).fit(rows, y, sample_weight=weights)
    np.testing.assert_allclose(ours.decision_function(rows), theirs.decision_function(rows), atol=1e-4)
    with pytest.raises(ValueError, match="all samples have zero or negative weights"):
        mercer.SVR().fit(rows, y, sample_weight=-weights.clip(0))
    with pytest.raises(ValueError, match="positive weights belong to the same class"):
        mercer.SVC().fit(rows, y, sample_weight=(y == 0) * 1.0)
    gone = mercer.SVC().fit(X, Y, sample_weight=(Y != 1) * 1.0)
    assert gone.classes_.tolist() == [0, 2] and set(gone.predict(X)) == {0, 2}
    with pytest.raises(ValueError, match=r"sample_weight\[0\] = -1 is negative"):
        mercer.KernelRidge().fit(rows, y, sample_weight=weights)


@pytest.mark.parametrize(
    "setting",
    [{"kernel": "poly", "coef0": -1.0}, {"kernel": "poly", "degree": 0}, {"kernel": "rbf", "gamma": 0}, {"kernel": "sigmoid", "gamma": 0.0}],
    ids=str,
)
def test_kernels_that_no_formula_says_are_computed(setting):
    rows, y = make_classification(40, 4, random_state=3)
    ours, theirs = mercer.SVC(**setting, tol=1e-6).fit(rows, y), svm.SVC(**setting, tol=1e-6).fit(rows, y)
    np.testing.assert_allclose(ours.decision_function(rows), theirs.decision_function(rows), atol=1e-2)
    assert ours.support_vectors_.shape[1] == 4


def test_components_of_one_point_are_none():
    for rows in (np.ones((5, 2)), np.array([[1.0, 2.0]])):
        model = mercer.KernelPCA().fit(rows)
        assert model.transform(rows).shape == (len(rows), 0)
        assert pickle.loads(pickle.dumps(model)).transform(rows).shape == (len(rows), 0)
        assert (mercer.KernelPCA(1).fit_transform(rows) == 0).all()
    Z = mercer.KernelPCA(2).fit_transform(X.astype(np.float32))
    assert Z.dtype == np.float32
    with pytest.raises(ValueError, match="significant negative eigenvalues"):
        mercer.KernelPCA(3, kernel="precomputed").fit(np.array([[0.0, 1, 2], [1, 0, -5], [2, -5, 0]]))


def test_huge_numbers_are_learned_from_or_told():
    far = (X - X.mean(axis=0)) * 1e100
    ours, theirs = mercer.SVC().fit(far, Y), svm.SVC().fit(far, Y)
    assert (ours.predict(far) == theirs.predict(far)).mean() > 0.98
    single = ((X - X.mean(axis=0)) * 1e30).astype(np.float32)
    assert mercer.SVC().fit(single, Y).score(single, Y) > 0.95
    with pytest.raises(ValueError, match="The dual coefficients or intercepts are not finite"):
        mercer.SVC(kernel="linear").fit(far, Y)


@pytest.mark.parametrize("size", [1e6, 1e14, 1e18, 1e30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_linear_machines_learn_from_coordinates_of_any_size(size, dtype):
    far = ((X - X.mean(axis=0)) * size).astype(dtype)
    model = mercer.LinearSVC().fit(far, Y)
    assert model.status_ == "converged" and model.score(far, Y) > 0.93
    fit = mercer.LinearSVR(loss="squared_epsilon_insensitive").fit(far, Y - 1.0)
    assert fit.score(far, Y - 1.0) > 0.9


def test_products_beyond_the_largest_number_are_told():
    for model in (mercer.LinearSVC(), mercer.LinearSVR(loss="squared_epsilon_insensitive"), mercer.LinearSVC(loss="hinge")):
        with pytest.raises(ValueError, match="features are as large as 7.9e\\+200.*StandardScaler"):
            model.fit(X * 1e200, Y)


def test_a_ridge_on_an_indefinite_matrix_is_solved_as_by_scikit_learn():
    rows, _ = make_classification(60, 4, random_state=3)
    setting, y = {"kernel": "poly", "coef0": -1.0}, rows[:, 0]
    with pytest.warns(UserWarning, match="Singular matrix in solving dual problem. Using least-squares solution instead."):
        theirs = KernelRidge(**setting).fit(rows, y)
    with pytest.warns(UserWarning, match="Singular matrix in solving dual problem. Using least-squares solution instead."):
        ours = mercer.KernelRidge(**setting).fit(rows, y)
    K = (rows @ rows.T / 4 - 1.0) ** 3 + np.eye(60)
    left = [np.abs(K @ model.dual_coef_ - y).max() for model in (ours, theirs)]
    assert left[0] <= left[1] + 1e-9
    np.testing.assert_allclose(pickle.loads(pickle.dumps(ours)).predict(rows), ours.predict(rows), rtol=1e-9)
    with pytest.raises(ValueError, match="not positive definite.*increase alpha"):
        mercer.KernelRidge(**setting, conformal="cross").fit(rows, y)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: mercer.SVC(kernel=mercer.kernels.Rbf).fit(X, Y), r"is the class Rbf; give a kernel of it: Rbf\(\)"),
        (lambda: mercer.SVC(kernel="rbf(gamma=0.5)").fit(X, Y), r"A formula is written mercer.kernel\('rbf\(gamma=0.5\)'\)"),
        (lambda: mercer.kernel("gauss"), "mercer.kernels has them all"),
        (lambda: mercer.SVR(conformal="jackknife").fit(X, Y), "'retrain': True}, or use conformal='cross'"),
        (lambda: mercer.SVC(kernel="precomputed", conformal="split").fit(X @ X.T, Y), "conformal='cross' or 'jackknife'"),
    ],
)
def test_errors_speak_of_arguments_and_not_of_flags(act, words):
    with pytest.raises(ValueError, match=words) as told:
        act()
    assert "--" not in str(told.value)


def test_certificates_speak_of_arguments_and_not_of_flags():
    told = repr(mercer.SVC().fit(X, Y).certify(X, Y)) + str([c.reason for c in mercer.SVC().fit(X, Y).certify(X, Y)])
    assert "--" not in told


def test_advice_has_the_words_of_the_class():
    rows, y = make_classification(300, 5, flip_y=0.4, random_state=0)
    rows[:, 0] *= 1e6
    with pytest.warns(ConvergenceWarning, match="with StandardScaler or MinMaxScaler"):
        told = mercer.SVC(kernel="linear", max_iter=20).fit(rows, y).report_["advice"]
    assert told and not any("--" in sentence for sentence in told)
    rows[:, 0] /= 1e6
    with pytest.warns(ConvergenceWarning):
        told = mercer.SVC(C=1e-3, max_iter=100, gamma=0.1).fit(rows, y).report_["advice"]
    assert any("C is the bound" in sentence and "a larger C" in sentence for sentence in told)
    with pytest.raises(ValueError, match=r"not positive definite.*increase lam\b"):
        mercer.Expectile(kernel="precomputed").fit(-9.0 * np.eye(150), Y * 1.0)


@pytest.mark.parametrize(
    "model",
    [
        mercer.SVC(decision_function_shape="foo"), mercer.SVC(degree=2.5), mercer.SVC(max_iter=-5), mercer.SVC(probability="a"),
        mercer.SVC(C=None), mercer.SVC(gamma=None), mercer.LinearSVC(dual="foo"), mercer.SVC(random_state="a"), mercer.KernelRidge(kernel_params=5),
        mercer.KernelPCA(alpha=-1), mercer.KernelPCA(eigen_solver="foo"), mercer.Perceptron(passes=0), mercer.Knn(weighting="foo"),
    ],
    ids=str,
)  # fmt: skip
def test_parameters_are_checked_in_scikit_learns_words(model):
    with pytest.raises(InvalidParameterError, match=f"parameter of {type(model).__name__} must be"):
        model.fit(X, Y)


def test_attributes_and_warnings_are_those_of_scikit_learn():
    model = mercer.SVC(kernel="linear").fit(X, Y)
    with pytest.raises(ValueError, match="read-only"):
        model.coef_[0, 0] = 1
    with pytest.raises(NotFittedError, match="probability=False"):
        model.set_params(probability=True).predict_proba(X)
    linear = mercer.LinearSVC(max_iter=20000).fit(X, Y)
    wanted = linear.decision_function(X)
    np.testing.assert_allclose(linear.sparsify().decision_function(sp.csr_matrix(X)), wanted)
    assert isinstance(linear.densify().coef_, np.ndarray)
    with pytest.warns(ConvergenceWarning, match="Liblinear failed to converge, increase the number of iterations."):
        mercer.LinearSVR(max_iter=1).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match=r"Solver terminated early \(max_iter=1\).  Consider pre-processing"):
        mercer.SVC(max_iter=1).fit(X, Y)
    assert isinstance(mercer.SVC().fit(sp.csr_array(X), Y).support_vectors_, type(svm.SVC().fit(sp.csr_array(X), Y).support_vectors_))


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR", "KernelRidge", "KernelPCA"])
def test_every_parameter_is_described(name):
    kind = getattr(mercer, name)
    parameters, attributes = kind.__doc__.split("    Parameters\n")[1].split("    Attributes\n")
    for parameter in kind._get_param_names():
        assert f"\n    {parameter} : " in parameters, parameter
    assert "\n    n_features_in_ : " in attributes


def test_pipelines_become_onnx_files():
    pytest.importorskip("skl2onnx")
    import onnxruntime
    import skl2onnx
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    mercer.register_skl2onnx()
    for last, y in ((mercer.SVC(), Y), (mercer.SVC(), np.array(["a", "b", "c"])[Y]), (mercer.SVR(), Y * 1.0), (mercer.KernelPCA(3), None)):
        line = make_pipeline(StandardScaler(), last).fit(X, y)
        file = skl2onnx.to_onnx(line, X[:1]).SerializeToString()
        got = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"]).run(None, {"X": X})[0]
        wanted = line.transform(X) if y is None else line.predict(X)
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(np.reshape(got, wanted.shape), wanted, atol=1e-9)
        else:
            np.testing.assert_array_equal(got, wanted)
    with pytest.raises(ValueError, match="coupled by a loop"):
        skl2onnx.to_onnx(make_pipeline(StandardScaler(), mercer.SVC(probability=True)).fit(X, Y), X[:1])


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR"])
def test_no_step_is_taken_where_none_is_allowed(name):
    found = []
    for library in (mercer, svm):
        with pytest.warns(ConvergenceWarning):
            model = getattr(library, name)(max_iter=0).fit(X, Y > 1)
        assert np.max(model.n_iter_) == 0
        found.append(getattr(model, "coef_", None) if name.startswith("Linear") else model.fit_status_)
        if name in ("SVC", "SVR"):
            found[-1] = (model.decision_function if name == "SVC" else model.predict)(X)
        if library is mercer:
            assert model.status_ == pickle.loads(pickle.dumps(model)).status_ == "iteration_limit"
    np.testing.assert_array_equal(*found)


def test_a_search_may_forbid_all_steps():
    grid, options = {"max_iter": [0, -1]}, {"scoring": "roc_auc", "cv": 3}
    with pytest.warns(ConvergenceWarning):
        ours, theirs = (cls(mercer.SVC(), grid, **options).fit(X, Y > 1) for cls in (mercer.MercerSearchCV, GridSearchCV))
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-6)
    assert ours.cv_results_["mean_test_score"][0] == 0.5


def test_classes_are_balanced_as_scikit_learn_counts_them():
    rows, y = make_classification(120, 4, weights=[0.8], flip_y=0.2, random_state=0)
    weights = np.random.default_rng(0).uniform(0.1, 3.0, 120) * np.where(y == 1, 3.0, 1.0)
    for cls, options in (("LinearSVC", {"max_iter": 100_000}), ("SVC", {"kernel": "linear"})):
        ours, theirs = (
            getattr(library, cls)(class_weight="balanced", tol=TIGHT, **options).fit(rows, y, sample_weight=weights)
            for library in (mercer, svm)
        )
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3)
    searches = [
        search(mercer.LinearSVC(class_weight="balanced", tol=TIGHT, max_iter=100_000), {"C": [0.01, 1.0]}, scoring="roc_auc", cv=3)
        for search in (mercer.MercerSearchCV, GridSearchCV)
    ]
    ours, theirs = (search.fit(rows, y, sample_weight=weights).cv_results_["mean_test_score"] for search in searches)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("cls", [mercer.SVC, mercer.KernelRidge])
def test_a_parameter_that_is_set_after_a_fit_belongs_to_the_next(cls):
    model = cls(kernel="rbf", gamma=0.5).fit(X, Y)
    predicted = model.predict(X)
    np.testing.assert_array_equal(model.set_params(gamma=0.0).predict(X), predicted)
    # and the other way round: no formula has a width of zero
    assert len(np.unique(cls(kernel="rbf", gamma=0.0).fit(X, Y).set_params(gamma=0.0).predict(X))) == 1
