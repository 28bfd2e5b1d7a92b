"""Models as files and pickles, kernels as objects, and long work that is stopped."""

import pickle
import signal
import subprocess
import sys
import threading
import time

import mercer
import numpy as np
import pandas as pd
import pytest
from mercer import SVC, SVR, KernelPCA, KernelRidge, LinearSVC, LinearSVR, OneClassSVM
from mercer._generated import GeneratedTransformer
from mercer.kernels import Linear, MissingGaussian, Rbf, Spectrum
from sklearn import cluster, decomposition, kernel_ridge
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_circles, make_classification, make_moons, make_regression
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator


def test_pickles_and_files_predict_the_same(tmp_path):
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = mercer.SVC(probability=True).fit(X, names)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.support_, model.support_)
    model.save(tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    (tmp_path / "m.libsvm").write_bytes(mercer.SVC().fit(X, y).to_libsvm())
    assert (mercer.load(tmp_path / "m.libsvm").predict(X).astype(float) == y).mean() > 0.9
    with pytest.raises(OSError, match="nowhere"):
        mercer.load(tmp_path / "nowhere")


def test_missing_entries_pass_where_the_kernel_takes_them():
    X, y = load_iris(return_X_y=True)
    gaps = X.copy()
    gaps[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    kernel = MissingGaussian(gamma=0.5)
    model = mercer.SVC(kernel=kernel).fit(gaps, y)
    assert model.score(gaps, y) > 0.85
    assert model.__sklearn_tags__().input_tags.allow_nan
    # the matrix of the same kernel says the same
    stored = mercer.SVC(kernel="precomputed").fit(kernel(gaps), y)
    assert (stored.predict(kernel(gaps)) == model.predict(gaps)).mean() > 0.98
    # in a view of its own too
    views = mercer.SVC(kernel=kernel @ "a").fit({"a": gaps}, y)
    assert (views.predict({"a": gaps}) == model.predict(gaps)).all()
    # infinite entries never, and gaps not where any kernel on vectors refuses them
    with pytest.raises(ValueError, match="infinity"):
        mercer.SVC(kernel=kernel).fit(np.where(np.isnan(gaps), np.inf, gaps), y)
    for refusing in ["rbf", Rbf(gamma=0.5)]:
        other = mercer.SVC(kernel=refusing)
        assert not other.__sklearn_tags__().input_tags.allow_nan
        with pytest.raises(ValueError, match="NaN"):
            other.fit(gaps, y)
    with pytest.raises(ValueError, match="linear .*missing"):
        mercer.SVC(kernel=kernel + Linear()).fit(gaps, y)


def test_kernels_are_objects_with_an_algebra():
    X = np.random.default_rng(0).normal(size=(20, 3))
    k = Rbf(gamma=0.5) + 0.1 * Linear()
    squared = ((X[:, None] - X[None]) ** 2).sum(-1)
    np.testing.assert_allclose(k(X), np.exp(-0.5 * squared) + 0.1 * X @ X.T, atol=1e-12)
    np.testing.assert_allclose((2 * Linear() ** 2)(X, X[:5]), 2 * (X @ X[:5].T) ** 2, atol=1e-12)
    assert (Rbf(gamma=0.5) * Linear()).definite == "positive"
    assert clone(k) == k and clone(Rbf(gamma=2.0)).gamma == 2.0
    assert repr(Rbf(gamma=2.0)) == "Rbf(gamma=2.0)"
    words = ["GATTACA", "GATTA", "CCCC"]
    assert Spectrum(length=2)(words)[0, 1] > 0 and Spectrum(length=2)(words)[0, 2] == 0


def test_strings_and_named_views_are_learned():
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("ACGT"), 30, p=p)) for p in [[0.4, 0.1, 0.1, 0.4]] * 30 + [[0.1, 0.4, 0.4, 0.1]] * 30]
    y = np.repeat([0, 1], 30)
    model = mercer.SVC(kernel=Spectrum(length=2).normalise()).fit(words, y)
    assert (model.predict(words) == y).mean() > 0.9
    views = {"x": rng.normal(size=(60, 2)), "seq": words}
    both = mercer.SVC(kernel=mercer.kernel("rbf(gamma=0.5)@x + normalise(spectrum(length=2))@seq")).fit(views, y)
    assert (both.predict(views) == y).mean() > 0.9


def test_estimators_work_in_pipelines_and_searches():
    X, y = make_moons(150, noise=0.2, random_state=0)
    pipe = make_pipeline(StandardScaler(), mercer.SVC(kernel=Rbf(gamma=1.0)))
    search = GridSearchCV(pipe, {"svc__C": [1, 10], "svc__kernel__gamma": [0.5, 2.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b"])
    model = mercer.SVC().fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b"]


def test_ridge_is_that_of_scikit_learn():
    X, y = make_regression(80, 4, random_state=0)
    targets = np.stack([y, -2 * y + X[:, 0]], axis=1)
    weights = np.random.default_rng(0).uniform(0.2, 2, 80)
    for setting in ({"kernel": "rbf", "gamma": 0.1}, {"kernel": "linear"}, {"kernel": "poly"}, {"kernel": "cosine"}):
        for z, w in ((y, None), (targets, None), (y, weights)):
            ours = mercer.KernelRidge(alpha=0.5, **setting).fit(X, z, sample_weight=w)
            theirs = kernel_ridge.KernelRidge(alpha=0.5, **setting).fit(X, z, sample_weight=w)
            np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5, atol=1e-6 * np.abs(z).max())
            assert ours.dual_coef_.shape == theirs.dual_coef_.shape


def test_ridge_takes_a_penalty_for_each_target():
    X, y = make_regression(80, 4, random_state=0)
    targets = np.stack([y, -2 * y + X[:, 0], X[:, 1]], axis=1)
    weights = np.random.default_rng(0).uniform(0.2, 2, 80)
    gaussian = {"kernel": "rbf", "gamma": 0.1}
    for setting, same in ((gaussian, gaussian), ({"kernel": "linear"}, {"kernel": "linear"}), ({"kernel": Rbf(gamma=0.1)}, gaussian)):
        for alpha in ([0.5, 2.0, 0.5], np.array([1.0, 1e-2, 3.0])):
            for w in (None, weights):
                a = mercer.KernelRidge(alpha=alpha, **setting).fit(X, targets, sample_weight=w)
                b = kernel_ridge.KernelRidge(alpha=alpha, **same).fit(X, targets, sample_weight=w)
                np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-5, atol=1e-6 * np.abs(targets).max())
                if setting["kernel"] != "linear":
                    np.testing.assert_allclose(a.dual_coef_, b.dual_coef_, rtol=1e-4, atol=1e-6 * np.abs(b.dual_coef_).max())
    with pytest.raises(ValueError, match="3 != 2|2 != 3"):
        mercer.KernelRidge(alpha=[1.0, 2.0, 3.0]).fit(X, targets[:, :2])


def test_clusters_are_found_and_new_examples_join_them():
    X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    for model in (
        mercer.SpectralClustering(2, kernel="rbf(gamma=20)"),
        mercer.SpectralClustering(2, kernel="precomputed"),
    ):
        data = Rbf(gamma=20.0)(X) if model.kernel == "precomputed" else X
        assert adjusted_rand_score(y, model.fit_predict(data)) == 1.0
        np.testing.assert_array_equal(model.predict(data), model.labels_)
        assert model.labels_[0] == 0 and model.report_["size_1"] == 100
    blobs, z = make_blobs(150, centers=[[0, 0], [5, 0], [0, 5]], random_state=1)
    ours = mercer.KernelKMeans(3, kernel="linear", random_state=3).fit(blobs)
    theirs = cluster.KMeans(3, n_init=10, random_state=0).fit(blobs)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    np.testing.assert_allclose(ours.objective_, theirs.inertia_, rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(blobs[::3]), ours.labels_[::3])


class Components(GeneratedTransformer):
    _machine = "kernel_pca"
    _parameters = ("components",)

    def __init__(self, components=2, *, kernel="rbf(gamma=scale)", n_jobs=None, callback=None):
        self.components, self.kernel, self.n_jobs, self.callback = components, kernel, n_jobs, callback

    def fit(self, X, y=None):
        return self._learn_nothing(X, y)


def test_a_generated_transformer_gives_named_columns():
    X = load_iris().data
    model = Components(40, kernel="rbf(gamma=0.2)")
    Z = model.fit_transform(X)
    assert Z.shape == (150, 40) and list(model.get_feature_names_out()[:2]) == ["components0", "components1"]
    theirs = decomposition.KernelPCA(40, kernel="rbf", gamma=0.2).fit_transform(X)
    np.testing.assert_allclose(np.abs(Z), np.abs(theirs), atol=1e-5)
    framed = make_pipeline(StandardScaler(), model).set_output(transform="pandas").fit_transform(X)
    assert framed.shape == (150, 40) and framed.columns[39] == "components39"
    check_estimator(Components(), expected_failed_checks={"check_fit2d_1sample": "one example has no component"})


def test_components_are_those_of_scikit_learn():
    X = load_iris().data
    for setting in ({"kernel": "rbf", "gamma": 0.2}, {"kernel": "linear"}, {"kernel": "poly", "degree": 2}):
        ours = mercer.KernelPCA(2, **setting).fit(X)
        theirs = decomposition.KernelPCA(2, **setting).fit(X)
        np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-6)
        np.testing.assert_allclose(ours.transform(X[:10]), theirs.transform(X[:10]), atol=1e-5)
    flat = X[:, :2]
    assert mercer.KernelPCA(3).fit_transform(flat).shape == decomposition.KernelPCA(3).fit_transform(flat).shape
    ours, theirs = (
        pca(2, kernel="rbf", gamma=0.2, fit_inverse_transform=True, alpha=0.1).fit(X)
        for pca in (mercer.KernelPCA, decomposition.KernelPCA)
    )
    a, b = (model.inverse_transform(model.transform(X)) for model in (ours, theirs))
    np.testing.assert_allclose(a, b, atol=1e-6)


def test_a_fit_that_fails_leaves_no_model_of_another_target():
    X, y = make_blobs(400, centers=3, random_state=0)

    def stop(*_):
        raise KeyboardInterrupt

    for model in (SVC(), SVR(), LinearSVC(), LinearSVR(), KernelRidge(), KernelPCA(2), mercer.Kfd(), OneClassSVM()):
        model.fit(X, y)
        method = "predict" if hasattr(model, "predict") else "transform"
        with pytest.raises(ValueError, match="NaN"):
            model.fit(np.full_like(X, np.nan), y)
        # what was wrong at once has changed nothing
        assert len(getattr(model, method)(X)) == 400
        with pytest.raises(ValueError):
            model.set_params(n_jobs=0).fit(X, y + 5)
        with pytest.raises(NotFittedError):
            getattr(model.set_params(n_jobs=None), method)(X)
        assert not hasattr(model, "report_")
        assert len(getattr(model.fit(X, y), method)(X)) == 400
    noisy, labels = make_classification(1500, 5, flip_y=0.5, random_state=0)
    model = SVC().fit(noisy, np.array(["a", "b"])[labels])
    with pytest.raises(KeyboardInterrupt):
        model.set_params(C=1e5, callback=stop).fit(noisy, np.array(["x", "y"])[labels])
    with pytest.raises(NotFittedError):
        model.predict(noisy)


def test_a_report_is_that_of_the_last_fit():
    X, y = make_regression(60, 3, random_state=0)
    model = KernelRidge().fit(X, y)
    assert model.report_["loo_rmse"] > 0
    for changed, weights in (({"alpha": 0.0}, None), ({"alpha": 1.0}, np.arange(1.0, 61.0))):
        model.set_params(alpha=1.0).fit(X, y)
        model.set_params(**changed).fit(X, y, sample_weight=weights)
        assert not hasattr(model, "report_") and not hasattr(model, "status_")
        # solved apart, it is fitted all the same, also after a pickle
        assert pickle.loads(pickle.dumps(model)).predict(X).shape == (60,)
        with pytest.raises(ValueError, match="not learned by mercer's own solver"):
            model.calibrate(X + 1, y)


def test_a_callback_sees_the_work_and_may_end_it():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6000, 20)), rng.integers(0, 2, 6000)
    seen = []
    mercer.SVC(C=100, gamma=0.05, callback=lambda *progress: seen.append(progress)).fit(X, y)
    assert seen and seen[0][0] == "smo"

    def stop(*_):
        raise StopIteration("enough")

    with pytest.raises(StopIteration):
        mercer.SVC(C=100, gamma=0.05, callback=stop).fit(X, y)


@pytest.mark.parametrize("n", [120, 20000], ids=["on the main thread", "on others"])
def test_control_c_keeps_the_interpreter(n):
    script = f"""
import numpy as np, mercer
rng = np.random.default_rng(0)
X, y = rng.normal(size=({n}, 30 if {n} > 1000 else 2)), rng.integers(0, 2, {n})
print("ready", flush=True)
try:
    mercer.SVC(C=1e8, kernel="linear" if {n} < 1000 else "rbf", tol=1e-12).fit(X, y)
except KeyboardInterrupt:
    print("alive", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "ready"
    threading.Event().wait(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert "alive" in out and process.returncode == 0


@pytest.mark.parametrize(
    ("work", "n"),
    [
        ("k(new)", 2), ("mercer.measure(k, new)", 2), ("model.predict(new)", 200), ("mercer.SVC(kernel=k).fit(new, [0, 1])", 2),
        ("mercer.MercerSearchCV(mercer.SVC(kernel=k), dict(C=[1, 2]), cv=2).fit(new, [0, 1, 0, 1])", 4),
    ],
)  # fmt: skip
def test_control_c_is_heard_inside_long_kernel_values(work, n):
    script = f"""
import mercer
texts = ["ab" * 20, "ba" * 20, "aab" * 15, "bba" * 15]
new = ["acgt" * 40_000] * {n}
k = mercer.kernels.Subsequence(length=4)
model = mercer.SVC(kernel=k).fit(texts, [0, 1, 0, 1])
print("ready", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("alive", flush=True)
print(k(texts)[0, 0] > 0, len(model.predict(texts)), flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "ready"
    threading.Event().wait(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out.split() == ["alive", "True", "4"] and process.returncode == 0


def test_a_time_limit_holds_inside_long_kernel_values():
    start = time.monotonic()
    with pytest.raises(ValueError, match="time_limit"):
        mercer.SVC(kernel=mercer.kernels.Subsequence(length=4), max_seconds=0.3).fit(["acgt" * 40_000] * 2, [0, 1])
    assert time.monotonic() - start < 5.0


def test_small_work_calls_back_and_may_be_ended():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2)), rng.integers(0, 2, 120)
    seen = []

    def stop(phase, done, total, violation):
        seen.append(phase)
        if len(seen) == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        mercer.SVC(C=1e8, kernel="linear", tol=1e-12, callback=stop).fit(X, y)
    assert seen == ["smo"] * 3
    with pytest.warns(Warning, match="time_limit"):
        model = mercer.SVC(C=1e8, kernel="linear", tol=1e-12, max_seconds=0.05).fit(X, y)
    assert model.status_ == "time_limit"


def test_several_threads_fit_at_once():
    X, y = load_iris(return_X_y=True)
    wanted = mercer.SVC().fit(X, y).decision_function(X)
    found = [None] * 4

    def work(k):
        found[k] = mercer.SVC().fit(X, y).decision_function(X)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(np.array_equal(f, wanted) for f in found)


def test_other_threads_run_while_one_fits():
    rng = np.random.default_rng(0)
    for n, kernel in ((120, "linear"), (3000, "rbf")):
        X, y = rng.normal(size=(n, 2)), rng.integers(0, 2, n)
        counted, done = [0], threading.Event()

        def count(counted=counted, done=done):
            while not done.wait(0.001):
                counted[0] += 1

        thread = threading.Thread(target=count)
        thread.start()
        mercer.SVC(C=1e8, kernel=kernel, tol=1e-12, max_seconds=0.3).fit(X, y)
        done.set()
        thread.join()
        assert counted[0] > 50, "the interpreter is free"


@pytest.mark.parametrize(
    "model",
    [
        mercer.SVC(),
        mercer.SVR(),
        mercer.OneClassSVM(),
        mercer.KernelRidge(kernel="rbf"),
        mercer.KernelRidge(),
        mercer.KernelPCA(2, kernel="rbf"),
        mercer.SVC(kernel=Rbf(gamma=0.5).centre()),
        mercer.NearestMean(),
        mercer.LinearSVC(),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_models_own_what_they_keep(model, kind):
    # arrays are borrowed for the fit; what becomes of them afterwards must not matter
    X, y = load_iris(return_X_y=True)
    X = X.astype(kind)
    model = clone(model)
    new = X[::7].copy()
    model.fit(X.copy(), y)
    told = "transform" if hasattr(model, "transform") else "predict"
    wanted = getattr(model, told)(new)
    borrowed = X.copy()
    model.fit(borrowed, y)
    borrowed[:] = 7.0
    np.testing.assert_array_equal(getattr(model, told)(new), wanted)


def test_a_file_keeps_the_names_of_columns(tmp_path):
    X, y = load_iris(return_X_y=True)
    data = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    SVC().fit(data, y).save(tmp_path / "m.mercer")
    model = mercer.load(tmp_path / "m.mercer")
    np.testing.assert_array_equal(model.predict(data), model.predict(X))
    for act in (model.predict, model.decision_function, lambda Z: model.certify(Z, y)):
        with pytest.raises(ValueError, match="feature names"):
            act(data[["b", "a", "c", "d"]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.predict(data.assign(e=1.0))
    # written again, it still knows them; without names nothing is said
    model.save(tmp_path / "again.mercer")
    assert mercer.load(tmp_path / "again.mercer").feature_names_in_.tolist() == ["a", "b", "c", "d"]
    SVC().fit(data, y).fit(X, y).save(tmp_path / "plain.mercer")
    assert not hasattr(mercer.load(tmp_path / "plain.mercer"), "feature_names_in_")


def test_a_file_keeps_the_columns_of_views(tmp_path):
    X, y = load_iris(return_X_y=True)
    data = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(text=["aab" if c else "bba" for c in y])
    fitted = SVC(kernel=Rbf(gamma=0.5) @ "x" + Spectrum(length=2) @ "text").fit(data, y)
    fitted.save(tmp_path / "m.mercer")
    model = mercer.load(tmp_path / "m.mercer")
    for given in (data, data[["text", "d", "b", "a", "c"]].assign(more=1.0), {"x": X, "text": list(data.text)}):
        np.testing.assert_array_equal(model.predict(given).astype(int), fitted.predict(data))
    with pytest.raises(ValueError, match="missing:\n- c"):
        model.predict(data.drop(columns="c"))


@pytest.mark.parametrize("name", ["KernelLogistic", "LogisticRegression", "LinearFisher"])
def test_log_odds_are_probabilities(name, tmp_path):
    X, y = load_iris(return_X_y=True)
    model = getattr(mercer, name)()
    assert not hasattr(model, "predict_proba")
    model.fit(X[50:], y[50:])
    chances = model.predict_proba(X[50:])
    np.testing.assert_array_equal(model.classes_[chances.argmax(axis=1)], model.predict(X[50:]))
    np.testing.assert_allclose(model.predict_log_proba(X[50:]), np.log(chances))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X[50:]), chances)
    assert not hasattr(mercer.NearestMean().fit(X, y), "predict_proba")


@pytest.mark.parametrize("limit", [sys.maxsize, 1e20, 1e300, 1e-300])
def test_no_limit_of_time_is_too_large(limit):
    X, y = load_iris(return_X_y=True)
    model = SVC(max_seconds=limit)
    if limit > 1:
        assert model.fit(X, y).status_ == "converged"
    else:
        with pytest.warns(ConvergenceWarning):
            assert model.fit(X, y).status_ == "time_limit"


def test_work_that_fits_into_no_memory_is_refused_in_words():
    X, y = load_iris(return_X_y=True)
    X, y, many = X[::3], (y[::3] > 1).astype(int), 10**13
    model = SVC(gamma=1.0).fit(X, y)
    for work, remedy in (
        (lambda: model.certify(X, y, evidence=many), "fewer draws"),
        (lambda: mercer.explain(model, X, y, repeats=many), "fewer permutations"),
        (lambda: mercer.spectral_stability("rbf(gamma=1)", X, draws=many), "fewer draws"),
        (lambda: mercer.mmd_test(X, X + 1, permutations=many), "fewer"),
        (lambda: mercer.hsic_test(X, X, permutations=many), "fewer"),
        (lambda: mercer.alignment_test("rbf(gamma=1)", X, y, permutations=many), "fewer"),
        (lambda: mercer.Perceptron(permutations=many).fit(X, y), "fewer permutations"),
    ):
        with pytest.raises(MemoryError, match=remedy) as said:
            work()
        assert "--" not in str(said.value), said.value
