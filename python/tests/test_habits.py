"""What users of scikit-learn do without thinking: frames, columns, outputs, routing, weights, messages."""

import decimal
import io
import sys

import joblib
import mercer
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from mercer import SVC, SVR, KernelPCA, KernelRidge, LinearSVC, NuSVC, OneClassSVM
from mercer.kernels import Rbf, Spectrum
from sklearn import svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import BaggingClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

X, Y = load_iris(return_X_y=True)


def frame(kind):
    columns = dict(zip(["a b", "c", "d", "e"], X.T))
    return pd.DataFrame(columns) if kind == "pandas" else pytest.importorskip("polars").DataFrame(columns)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_keep_their_names(kind):
    data = frame(kind)
    model = SVC().fit(data, Y)
    assert list(model.feature_names_in_) == ["a b", "c", "d", "e"] and model.n_features_in_ == 4
    np.testing.assert_array_equal(model.decision_function(data), SVC().fit(X, Y).decision_function(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame(X, columns=list("wxyz")))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_columns_of_a_frame_are_views(kind):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    words = ["".join(rng.choice(list("AC" if c else "AG"), 12)) for c in y]
    columns = {"u": rng.normal(size=80) + y, "v": rng.normal(size=80), "seq": words}
    data = pd.DataFrame(columns) if kind == "pandas" else pytest.importorskip("polars").DataFrame(columns)
    k = Rbf(gamma=0.5) @ "x" + Spectrum(length=2).normalise() @ "seq"
    by_dictionary = {"x": np.column_stack([columns["u"], columns["v"]]), "seq": words}
    model = SVC(kernel=k).fit(data, y)
    np.testing.assert_array_equal(model.decision_function(data), SVC(kernel=k).fit(by_dictionary, y).decision_function(by_dictionary))
    assert SVC(kernel=Rbf(gamma=1.0) @ "u").fit(data, y).score(data, y) > 0.6
    with pytest.raises(ValueError, match="no such column.*did you mean 'seq'"):
        SVC(kernel=Spectrum(length=2) @ "sequ").fit(data, y)
    search = mercer.MercerSearchCV(SVC(kernel=k), {"kernel__k1__k__gamma": [0.1, 1.0], "C": [1, 10]}, cv=3).fit(data, y)
    assert search.best_score_ > 0.9
    for estimator in (SVR(kernel=k), KernelRidge(kernel=k)):
        assert estimator.fit(data, y).score(data, y) > 0.5
    for estimator in (OneClassSVM(kernel=k), mercer.Svdd(kernel=k)):
        assert estimator.fit(data).predict(data).shape == (80,)
    assert KernelPCA(2, kernel=k).fit(data).transform(data).shape == (80, 2)
    assert mercer.NearestMean(kernel=k).fit(data, y).score(data, y) > 0.9


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_columns_of_a_frame_are_known_by_name(kind):
    rng = np.random.default_rng(0)
    table = {"u": rng.normal(size=60), "v": rng.normal(size=60) * 5, "seq": ["ACGT"[int(i) % 4] * 3 + "A" for i in range(60)]}
    make = pd.DataFrame if kind == "pandas" else pytest.importorskip("polars").DataFrame
    data, y = make(table), (table["u"] > 0).astype(int)
    for model in (SVC(kernel=Rbf(gamma=0.3) @ "x" + Spectrum(length=2) @ "seq"), SVC(kernel=Rbf(gamma=0.3) @ "x" + Rbf() @ "v")):
        wanted = model.fit(data, y).decision_function(data)
        again = joblib_copy(model)
        for other in (data[["seq", "v", "u"]], make({"more": np.ones(60), **dict(reversed(table.items()))})):
            np.testing.assert_array_equal(again.decision_function(other), wanted)
        with pytest.raises(ValueError, match="now missing:\n- u "):
            model.predict(data[["v", "seq"]])
        with pytest.raises(ValueError, match="now missing:\n- u "):
            model.predict(make({"w" if name == "u" else name: values for name, values in table.items()}))
        # dictionaries have no columns
        views = {"x": np.column_stack([table["u"], table["v"]]) if "seq" in str(model.kernel) else table["u"][:, None],
                 "v": table["v"][:, None], "seq": table["seq"]}  # fmt: skip
        np.testing.assert_array_equal(model.decision_function(views), wanted)
        assert model.fit(views, y).predict(data).shape == (60,)


def joblib_copy(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def test_columns_below_a_head_are_known_by_name():
    rng = np.random.default_rng(0)
    head = {("size", "w"): rng.normal(size=40), ("size", "h"): rng.normal(size=40) * 3, ("age", "years"): rng.normal(size=40)}
    data = pd.DataFrame(head)
    y = (data["size"]["w"] > 0).astype(int)
    model = SVC(kernel=Rbf(gamma=0.3) @ "size" + Rbf(gamma=0.1) @ "age").fit(data, y)
    turned = data[[("age", "years"), ("size", "h"), ("size", "w")]]
    np.testing.assert_array_equal(model.decision_function(turned), model.decision_function(data))


def test_frames_side_by_side_have_one_order():
    one, other = pd.DataFrame(X[:60], columns=list("abcd")), pd.DataFrame(X[60:], columns=list("abcd"))
    turned = other[list("dbca")]
    assert mercer.mmd_test(one, turned) == mercer.mmd_test(X[:60], X[60:])
    np.testing.assert_array_equal(Rbf(gamma=0.1)(one, turned), Rbf(gamma=0.1)(X[:60], X[60:]))
    with pytest.raises(ValueError, match="columns of one frame"):
        mercer.mmd_test(one, other.rename(columns={"a": "e"}))


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA, pd.NaT])
def test_a_missing_string_is_no_word(nothing):
    words = ["abab", "baba", "cccc", "ccdc"]
    model = SVC(kernel=Spectrum(length=2)).fit(words, [0, 0, 1, 1])
    for place in (0, 1):
        torn = pd.Series(words, dtype=object)
        torn[place] = nothing
        for act in (
            lambda torn=torn: model.predict(torn), lambda torn=torn: model.predict(list(torn)), lambda torn=torn: Spectrum()(list(torn)),
            lambda torn=torn: SVC(kernel=Spectrum(length=2)).fit(torn, [0, 0, 1, 1]),
            lambda torn=torn: SVC(kernel=Spectrum(length=2) @ "seq").fit(pd.DataFrame({"seq": torn}), [0, 0, 1, 1]),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=f"string at place {place} is missing"):
                act()
    assert model.predict(["None", "nan"]).shape == (2,)


def test_sparse_matrices_are_left_as_they_are():
    # each number in two halves
    halves = np.repeat(X.ravel() / 2, 2)
    places, starts = np.tile(np.repeat([0, 1, 2, 3], 2), len(X)).astype(np.int32), np.arange(0, 8 * len(X) + 1, 8, dtype=np.int32)
    for array in (halves, places, starts):
        array.flags.writeable = False
    doubled = sp.csr_matrix((halves, places, starts), shape=X.shape, copy=False)
    for model in (SVC(), SVR(), LinearSVC(), KernelRidge(kernel="rbf"), OneClassSVM()):
        known = model.fit(sp.csr_matrix(X), Y).predict(sp.csr_matrix(X))
        np.testing.assert_allclose(model.fit(doubled, Y).predict(doubled), known, atol=1e-6)
        assert doubled.nnz == 2 * X.size and (doubled.indices == places).all()


def test_views_that_do_not_fit_are_told():
    k = Rbf() @ "x" + Spectrum() @ "seq"
    good = {"x": np.zeros((4, 2)), "seq": ["a", "b", "c", "d"]}
    for wrong, words in [
        ({**good, "seq": ["a"]}, "inconsistent numbers of samples"),
        ({**good, "x": np.full((4, 2), np.nan)}, "NaN"),
        ({}, "without views"),
    ]:
        with pytest.raises(ValueError, match=words):
            SVC(kernel=k).fit(wrong, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SVC(kernel=k).fit(good, [0, 1, 0])
    with pytest.raises(ValueError, match="requires y"):
        SVC(kernel=k).fit(good, None)


def test_outputs_are_frames_if_asked():
    data = frame("pandas")
    out = KernelPCA(2, kernel="rbf").set_output(transform="pandas").fit_transform(data)
    assert list(out.columns) == ["kernelpca0", "kernelpca1"] and len(out) == len(data)
    names = KernelPCA(2).fit(data).get_feature_names_out()
    assert list(names) == ["kernelpca0", "kernelpca1"]


def test_column_transformers_and_deep_pipelines():
    data = frame("pandas").assign(kind=np.where(X[:, 0] > 5.8, "big", "small"))
    numbers = ["a b", "c", "d", "e"]
    parts = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(), ["kind"]))
    assert make_pipeline(parts, SVC()).fit(data, Y).score(data, Y) > 0.95
    reduced = ColumnTransformer([("pca", KernelPCA(2, kernel="rbf"), numbers)])
    model = make_pipeline(reduced, LinearSVC())
    assert model.fit(data, Y).score(data, Y) > 0.8
    search = mercer.MercerSearchCV(make_pipeline(parts, SVC()), {"svc__C": [1, 10]}, cv=3).fit(data, Y)
    theirs = GridSearchCV(make_pipeline(parts, SVC()), {"svc__C": [1, 10]}, cv=3).fit(data, Y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_estimators_go_into_others():
    assert cross_val_score(SVC(), X, Y, n_jobs=2).mean() > 0.9
    assert OneVsRestClassifier(SVC()).fit(X, Y).score(X, Y) > 0.95
    assert BaggingClassifier(SVC(), n_estimators=4, random_state=0).fit(X, Y).score(X, Y) > 0.95
    assert CalibratedClassifierCV(SVC(), cv=3).fit(X, Y).predict_proba(X).shape == (150, 3)
    assert permutation_importance(SVC().fit(X, Y), X, Y, n_repeats=2, random_state=0).importances_mean[2] > 0.1


def test_weights_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        weights = np.where(Y == 0, 3.0, 1.0)
        model = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False), SVC().set_fit_request(sample_weight=True)
        ).fit(X, Y, sample_weight=weights)
        alone = SVC().fit(StandardScaler().fit_transform(X), Y, sample_weight=weights)
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(StandardScaler().fit_transform(X)))
        search = mercer.MercerSearchCV(
            SVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True), {"C": [0.1, 1]}
        ).fit(X, Y, sample_weight=weights)
        theirs = GridSearchCV(search.estimator, {"C": [0.1, 1]}).fit(X, Y, sample_weight=weights)
        np.testing.assert_allclose(search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_joblib_files_and_clones(tmp_path):
    model = SVC(kernel=Rbf(gamma=0.5) + 0.1 * Rbf(gamma=2.0), probability=True).fit(X, Y)
    joblib.dump(model, tmp_path / "m.joblib")
    again = joblib.load(tmp_path / "m.joblib")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    copied = clone(model)
    assert copied.kernel == model.kernel and copied.kernel is not model.kernel and not hasattr(copied, "classes_")


def test_steps_are_told_for_every_pair():
    ours, theirs = SVC().fit(X, Y), svm.SVC().fit(X, Y)
    assert ours.n_iter_.shape == theirs.n_iter_.shape == (3,) and ours.n_iter_.dtype == theirs.n_iter_.dtype
    assert ours.n_iter_.sum() == ours.report_["iterations"]
    assert isinstance(SVR().fit(X, Y).n_iter_, int) and isinstance(svm.SVR().fit(X, Y).n_iter_, int)


def test_verbose_shows_progress(monkeypatch):
    seen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", seen)
    rng = np.random.default_rng(0)
    SVC(C=1e4, tol=1e-9, verbose=True).fit(rng.normal(size=(1500, 5)), rng.integers(0, 2, 1500))
    assert "SVC: " in seen.getvalue() and "steps" in seen.getvalue()


@pytest.mark.parametrize(
    ("act", "kind", "words"),
    [
        (lambda: SVC(C=-1).fit(X, Y), ValueError, "The 'C' parameter of SVC must be a float in the range"),
        (lambda: NuSVC(nu=2).fit(X, Y), ValueError, "The 'nu' parameter of NuSVC"),
        (lambda: SVC(gamma="wide").fit(X, Y), ValueError, "'gamma' parameter of SVC.*Got 'wide'"),
        (lambda: SVC(kernel="gauss").fit(X, Y), ValueError, "'kernel' parameter of SVC.*Got 'gauss'"),
        (lambda: SVC(kernel="precomputed").fit(X, Y), ValueError, "square matrix"),
        (lambda: SVC(colour="red"), TypeError, "unexpected keyword argument"),
        (lambda: SVC().set_params(gama=1), ValueError, "Invalid parameter 'gama'"),
        (lambda: SVC(kernel=Rbf()).set_params(kernel__gama=1), ValueError, "Did you mean 'gamma'"),
        (lambda: SVC().fit(X, Y).predict(X[:, :2]), ValueError, "X has 2 features, but SVC is expecting 4"),
        (lambda: SVC().fit(np.where(X > 7, np.nan, X), Y), ValueError, "NaN"),
        (lambda: SVC().fit(X[0], Y), ValueError, "Expected 2D array"),
        (lambda: SVC().fit(X, Y[:9]), ValueError, "inconsistent numbers of samples"),
        (lambda: SVC().fit(X, np.zeros(150)), ValueError, "number of classes has to be greater than one"),
        (lambda: SVC().fit(X, X[:, 0]), ValueError, "Unknown label type"),
        (lambda: SVC().predict(X), ValueError, "not fitted yet"),
        (lambda: SVC().fit(X, Y).predict_proba(X), AttributeError, "no attribute 'predict_proba'"),
        (lambda: SVC(kernel="rbf").fit(X, Y).coef_, AttributeError, "linear kernel"),
        (lambda: SVC().fit(X, Y, sample_weight=np.zeros(150)), ValueError, "non-zero number|zero or negative weights"),
        (lambda: SVC().fit(X, Y, sample_weight=[1.0]), ValueError, "sample_weight"),
        (lambda: SVC(n_jobs=0).fit(X, Y), ValueError, "n_jobs"),
        (lambda: mercer.kernel("rbf(gama=1)"), ValueError, "gamma"),
        (lambda: mercer.kernel("rfb()"), ValueError, "rbf"),
        (lambda: LinearSVC(penalty="l1", loss="hinge").fit(X, Y), ValueError, "Unsupported set of arguments"),
        (lambda: KernelPCA(0).fit(X), ValueError, "n_components"),
        (lambda: Rbf()(X, X[:, :2]), ValueError, "coordinates"),
    ],
)
def test_wrong_use_is_told_as_in_scikit_learn(act, kind, words):
    with pytest.raises(kind, match=words):
        act()


def test_dtypes_and_orders_do_not_matter():
    expected = SVC().fit(X, Y).decision_function(X)
    for other in (np.asfortranarray(X), X[::1].astype(">f8"), np.ascontiguousarray(X[:, ::-1])[:, ::-1]):
        np.testing.assert_allclose(SVC().fit(other, Y).decision_function(other), expected)
    whole = load_wine(return_X_y=True)[0].astype(np.int64)
    kinds = load_wine(return_X_y=True)[1]
    np.testing.assert_array_equal(SVC().fit(whole, kinds).predict(whole), SVC().fit(whole.astype(float), kinds).predict(whole))
    frozen = X.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(SVC().fit(frozen, Y).decision_function(frozen), expected)


def test_labels_of_any_kind_come_back():
    for labels in (Y.astype(str), Y.astype(float), Y == 1, np.array(["x", "y", "z"], dtype=object)[Y], Y - 7):
        model = SVC().fit(X, labels)
        assert model.predict(X).dtype == np.unique(labels).dtype and (model.predict(X) == labels).mean() > 0.9


def test_long_indices_of_sparse_matrices_are_taken():
    # readers of files make them, whatever the number of columns
    narrow = sp.csr_matrix(X)
    wide = sp.csr_matrix((narrow.data, narrow.indices.astype(np.int64), narrow.indptr.astype(np.int64)), shape=X.shape)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert wide.indices.dtype == np.int64
    expected = SVC(gamma=0.5).fit(narrow, Y).decision_function(narrow)
    np.testing.assert_array_equal(SVC(gamma=0.5).fit(wide, Y).decision_function(wide), expected)
    endless = sp.csr_matrix((narrow.data, wide.indices, wide.indptr), shape=(len(X), 2**32 + 1))
    with pytest.raises(ValueError, match="4294967297 columns is too wide"):
        SVC(gamma=0.5).fit(endless, Y)


NUMBERS = np.arange(len(X)) % 3
WRITTEN = {
    "object": lambda c: c.astype(object),
    "decimal": lambda c: c.map(decimal.Decimal).astype(object),
    "category": lambda c: c.astype("category"),
    "Int64": lambda c: c.astype("Int64"),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_columns_of_numbers_are_inputs_however_they_are_stored(kind):
    data = frame("pandas").assign(n=NUMBERS, seq=["ACCA" if c else "AGGA" for c in Y])
    written = data.assign(n=WRITTEN[kind](data.n))
    k = Rbf(gamma=0.5) @ "x" + Spectrum(length=2) @ "seq"
    model, other = SVC(kernel=k).fit(data, Y), SVC(kernel=k).fit(written, Y)
    assert other._frame_columns["x"] == ["a b", "c", "d", "e", "n"]
    for one in (data, written):
        np.testing.assert_array_equal(other.decision_function(one), model.decision_function(data))


def test_no_column_of_numbers_is_left_out_in_silence():
    data = frame("pandas").assign(n=NUMBERS, seq=["ACCA" if c else "AGGA" for c in Y])
    k = Rbf(gamma=0.5) @ "x" + Spectrum(length=2) @ "seq"
    gaps = (data.n > 0).astype("boolean").mask(data.n == 2)
    for column in (gaps, data.n.astype("Int64").mask(data.n == 2), data.n.astype(object).mask(data.n == 2)):
        with pytest.raises(ValueError, match="view 'x' contains NaN"):
            SVC(kernel=k).fit(data.assign(n=column), Y)
    with pytest.raises(ValueError, match="column 'n' has numbers and 'u'"):
        SVC(kernel=k).fit(data.assign(n=["u", 1, 2] * 50), Y)
    # words that no view takes are no inputs
    assert SVC(kernel=k).fit(data.assign(n=["u", "v", "w"] * 50), Y)._frame_columns["x"] == ["a b", "c", "d", "e"]


def shifted(array):
    """The same numbers, which begin in the middle of one, as in a mapped file with a head."""
    return np.ndarray(array.shape, array.dtype, buffer=bytearray(b"\0\0\0" + array.tobytes()), offset=3)


def test_arrays_may_begin_anywhere():
    x, y, w = shifted(X), shifted(Y.astype(float)), shifted(1.0 + X[:, 0])
    assert not x.flags.aligned and not y.flags.aligned
    for cls in (SVR, KernelRidge, mercer.KnnRegression):
        np.testing.assert_array_equal(cls().fit(x, y).predict(x), cls().fit(X, Y).predict(X))
    np.testing.assert_array_equal(SVC().fit(x, Y, w).decision_function(x), SVC().fit(X, Y, 1.0 + X[:, 0]).decision_function(X))
    np.testing.assert_array_equal(Rbf()(x), Rbf()(X))
    np.testing.assert_array_equal(SVC().fit(shifted(np.float32(X)), Y).predict(np.float32(X)), SVC().fit(np.float32(X), Y).predict(np.float32(X)))
    rows = sp.csr_matrix(X)
    odd = sp.csr_matrix(X)
    odd.data, odd.indices, odd.indptr = (shifted(part) for part in (rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)))
    np.testing.assert_array_equal(SVC().fit(odd, Y).predict(odd), SVC().fit(rows, Y).predict(rows))
    np.testing.assert_array_equal(mercer.matrix_function(shifted(np.eye(3)), "exp", 1.0), mercer.matrix_function(np.eye(3), "exp", 1.0))
    assert mercer.alignment_test(Rbf(), X, y, permutations=9)["p"] == mercer.alignment_test(Rbf(), X, Y, permutations=9)["p"]
