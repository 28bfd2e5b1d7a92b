"""Plots show the numbers they claim to show."""

import inspect
import subprocess
import sys
import warnings
from types import SimpleNamespace

import mercer
import numpy as np
import pytest
from mercer import plot
from mercer.kernels import Linear, Rbf, Sigmoid, Spectrum
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.covariance import EllipticEnvelope
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons, make_regression
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.contour import QuadContourSet  # noqa: E402


@pytest.fixture(autouse=True)
def drawn():
    """Every figure is really drawn, without a warning, and closed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
    plt.close("all")


def moons(n=120):
    return make_moons(n, noise=0.2, random_state=0)


def levels(ax):
    """The vertices of the drawn lines by their level."""
    found = {}
    for lines in ax.collections:
        if isinstance(lines, QuadContourSet):
            for level, path in zip(lines.levels, lines.get_paths()):
                found[float(level)] = path.vertices
    return found


def marks(ax, name):
    """The places of the marks that have a name."""
    found = [c for c in ax.collections if c.get_label() == "_" + name]
    return np.concatenate([np.asarray(c.get_offsets()) for c in found]) if found else np.empty((0, 2))


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# --------------------------------------------------------------------------------------------------------- surfaces


def test_the_boundary_and_the_margins_are_level_lines_of_the_decision_function():
    X, y = moons()
    model = mercer.SVC(C=10, gamma=1).fit(X, y)
    lines = levels(plot.decision_surface(model, X, y))
    assert sorted(lines) == [-1.0, 0.0, 1.0]
    for level, vertices in lines.items():
        np.testing.assert_allclose(model.decision_function(vertices), level, atol=0.01)


def test_the_zero_level_passes_between_the_classes():
    X, y = make_blobs(60, centers=[[-3, 0], [3, 0]], cluster_std=0.5, random_state=0)
    zero = levels(plot.decision_surface(mercer.SVC(kernel="linear").fit(X, y), X, y))[0.0]
    assert X[y == 0, 0].max() < zero[:, 0].min() and zero[:, 0].max() < X[y == 1, 0].min()


def test_the_colours_are_the_decision_values_at_the_cells():
    X, y = moons()
    model = mercer.SVC().fit(X, y)
    image = plot.decision_surface(model, X, y, resolution=30).images[0]
    left, right, bottom, top = image.get_extent()
    i, j = 7, 21
    place = [[left + (j + 0.5) * (right - left) / 30, bottom + (i + 0.5) * (top - bottom) / 30]]
    assert image.get_array()[i, j] == pytest.approx(model.decision_function(place)[0], abs=1e-9)


@pytest.mark.parametrize("wrapped", [False, True])
def test_rings_are_the_support_vectors(wrapped):
    X, y = moons()
    model = mercer.SVC(C=3)
    model = make_pipeline(StandardScaler(), model) if wrapped else model
    ax = plot.decision_surface(model.fit(X, y), X, y)
    support = (model[-1] if wrapped else model).support_
    rings = marks(ax, "support")
    assert len(rings) == len(support)
    np.testing.assert_array_equal(rings, X[support])
    assert "support vector" in legend(ax)


def test_other_examples_than_the_fitted_ones_have_no_rings():
    X, y = moons()
    model = mercer.SVC().fit(X, y)
    assert not len(marks(plot.decision_surface(model, X + 0.01, y), "support"))
    assert not len(marks(plot.decision_surface(model, X[:50], y[:50]), "support"))
    # a mask of the same name is not a list of support vectors
    robust = EllipticEnvelope(random_state=0).fit(X)
    assert not len(marks(plot.decision_surface(robust, X), "support"))


def test_crosses_are_the_misclassified_examples():
    X, y = moons()
    model = mercer.SVC(C=0.1).fit(X, y)
    crossed = marks(plot.decision_surface(model, X, y), "misclassified")
    np.testing.assert_array_equal(crossed, X[model.predict(X) != y])
    assert len(crossed)


def test_margins_are_drawn_for_machines_that_have_them():
    X, y = moons()
    assert sorted(levels(plot.decision_surface(mercer.LinearSVC(loss="hinge").fit(X, y), X, y))) == [-1.0, 0.0, 1.0]
    assert sorted(levels(plot.decision_surface(LogisticRegression().fit(X, y), X, y))) == [0.0]


def test_without_a_decision_function_the_level_is_a_half():
    X, y = moons()
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    ax = plot.decision_surface(model, X, y, resolution=20)
    assert "p = ½" in legend(ax)
    values = np.asarray(ax.images[0].get_array())
    assert -0.5 <= values.min() < 0 < values.max() <= 0.5


def test_regions_have_the_colour_of_the_predicted_class():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = load_iris().target_names[y]
    model = make_pipeline(StandardScaler(), mercer.SVC()).fit(X, names)
    ax = plot.decision_surface(model, X, names, features=("petal length (cm)", 3), resolution=40)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("petal length (cm)", "petal width (cm)")
    assert ax.get_title(loc="left") == "the other 2 features are held at their medians"
    assert legend(ax)[:3] == ["setosa", "versicolor", "virginica"]
    left, right, bottom, top = ax.images[0].get_extent()
    colours = np.asarray(ax.images[0].get_array())
    across, up = (np.linspace(a, b, 81)[1::2] for a, b in ((left, right), (bottom, top)))
    seen = {}
    for i in range(0, 40, 7):
        for j in range(0, 40, 7):
            point = X.median().to_frame().T
            point["petal length (cm)"], point["petal width (cm)"] = across[j], up[i]
            seen.setdefault(model.predict(point)[0], set()).add(tuple(colours[i, j]))
    assert len(seen) == 3 and all(len(c) == 1 for c in seen.values()) and len(set.union(*seen.values())) == 3


def test_values_of_a_regressor_and_of_its_examples_share_a_scale():
    X, y = make_regression(60, 2, random_state=0)
    model = mercer.SVR(C=100).fit(X, y)
    ax = plot.decision_surface(model, X, y, resolution=25)
    image, (examples,) = ax.images[0], [c for c in ax.collections if c.get_label() == "_examples"]
    np.testing.assert_array_equal(examples.get_array(), y)
    assert image.norm is examples.norm
    assert image.norm.vmin == min(y.min(), image.get_array().min())


def test_the_boundary_of_a_detector_is_where_it_changes_its_mind():
    X, _ = moons()
    for model in (
        mercer.OneClassSVM(nu=0.1, gamma=1.0),
        mercer.Svdd(nu=0.1, kernel="rbf(gamma=1)"),
        EllipticEnvelope(),
    ):
        model.fit(X)
        ax = plot.decision_surface(model, X)
        # the values of a robust ellipse reach into the hundreds
        reach = np.abs(np.asarray(ax.images[0].get_array())).max()
        assert np.abs(model.decision_function(levels(ax)[0.0])).max() < 0.01 * reach
        assert len(marks(ax, "unusual")) == (model.predict(X) == -1).sum() > 0


def test_clusters_searches_and_loaded_models_are_drawn(tmp_path):
    X, y = moons()
    plot.decision_surface(KMeans(3, n_init=1, random_state=0).fit(X), X, y, resolution=20)
    found = GridSearchCV(mercer.SVC(), {"C": [1, 10]}, cv=3).fit(X, y)
    ax = plot.decision_surface(found, X, y, resolution=20)
    assert len(marks(ax, "support")) == len(found.best_estimator_.support_)
    mercer.SVC().fit(X, y).save(tmp_path / "m.mercer")
    plot.decision_surface(mercer.load(tmp_path / "m.mercer"), X, resolution=20)
    for estimator in (mercer.OneClassSVM(nu=0.2), mercer.KernelKMeans()):
        estimator.fit(X).save(tmp_path / "m.mercer")
        both = (estimator, mercer.load(tmp_path / "m.mercer"))
        known, drawn = (plot.decision_surface(one, X, resolution=20, ax=plt.figure().add_subplot()) for one in both)
        np.testing.assert_array_equal(drawn.images[0].get_array(), known.images[0].get_array())


def test_words_in_frames_are_held_at_the_most_frequent_one():
    pandas = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    X, y = moons()
    frame = pandas.DataFrame({"word": ["a", "b", "b"] * 40, "up": X[:, 1], "across": X[:, 0], "third": X[:, 0] ** 2})
    columns = make_column_transformer((OneHotEncoder(), ["word"]), remainder="passthrough")
    model = make_pipeline(columns, mercer.SVC()).fit(frame, y)
    ax = plot.decision_surface(model, frame, y, features=("across", "up"), resolution=10)
    assert ax.get_title(loc="left") == "the other 2 features are held at their medians or most frequent value"
    left, right, bottom, top = ax.images[0].get_extent()
    row = {"word": "b", "up": bottom + (top - bottom) / 20, "across": left + (right - left) / 20}
    row["third"] = frame["third"].median()
    wanted = model.decision_function(pandas.DataFrame([row])[frame.columns])[0]
    assert ax.images[0].get_array()[0, 0] == pytest.approx(wanted, abs=1e-9)


def test_sparse_examples_are_drawn():
    import scipy.sparse as sp

    X, y = moons()
    model = mercer.SVC().fit(sp.csr_matrix(X), y)
    assert len(marks(plot.decision_surface(model, sp.csr_matrix(X), y, resolution=10), "support")) == len(
        model.support_
    )


def test_wrong_use_of_a_surface_is_told_in_sentences():
    X, y = moons()
    model = mercer.SVC().fit(X, y)
    for error, words, call in [
        (ValueError, "two features or more", lambda: plot.decision_surface(model, X[:, :1])),
        (ValueError, "two places or names", lambda: plot.decision_surface(model, X, features=(0, 1, 2))),
        (ValueError, "none is 7", lambda: plot.decision_surface(model, X, features=(0, 7))),
        (ValueError, "no feature 'age'", lambda: plot.decision_surface(model, X, features=("age", 1))),
        (ValueError, "must differ", lambda: plot.decision_surface(model, X, features=(1, 1))),
        (ValueError, "at least 2", lambda: plot.decision_surface(model, X, resolution=1)),
        (ValueError, "belong together", lambda: plot.decision_surface(model, X, y[:5])),
        (ValueError, "does not know", lambda: plot.decision_surface(model, X, y + 5)),
        (TypeError, "has no predict", lambda: plot.decision_surface(mercer.KernelPCA().fit(X), X)),
        (TypeError, "strings and named views", lambda: plot.decision_surface(model, ["GATTACA"])),
        (TypeError, "must be the Axes", lambda: plot.decision_surface(model, X, ax=plt.figure())),
        (ValueError, "predicts 2 numbers", lambda: plot.decision_surface(mercer.KernelRidge().fit(X, X), X)),
        (Exception, "not fitted", lambda: plot.decision_surface(clone(model), X)),
    ]:
        with pytest.raises(error, match=words):
            call()


# --------------------------------------------------------------------------------------------------------- matrices


def test_the_image_is_the_matrix():
    X, _ = load_iris(return_X_y=True)
    k = Rbf(gamma=0.3)
    for ax in (plot.gram(k, X), plot.gram("rbf(gamma=0.3)", X), plot.gram(lambda A, B: k(A, B), X), plot.gram(k(X))):
        np.testing.assert_allclose(ax.images[0].get_array(), k(X), atol=1e-12)
    assert plot.gram(k, X).get_title(loc="left") == "rbf(gamma=0.3)"
    words = ["GATTACA", "GATTA", "CCCC"]
    np.testing.assert_array_equal(plot.gram(Spectrum(length=2), words).images[0].get_array(), Spectrum(length=2)(words))


def test_classes_stand_together_with_lines_between():
    X, y = load_iris(return_X_y=True)
    mixed = np.random.default_rng(0).permutation(150)
    X, names = X[mixed], load_iris().target_names[y[mixed]]
    ax = plot.gram(Rbf(gamma=0.3), X, names)
    order = np.argsort(names, kind="stable")
    np.testing.assert_allclose(ax.images[0].get_array(), Rbf(gamma=0.3)(X[order]), atol=1e-12)
    assert {float(line.get_xdata()[0]) for line in ax.lines if line.get_xdata()[0] == line.get_xdata()[1]} == {
        49.5,
        99.5,
    }
    assert [t.get_text() for t in ax.get_xticklabels()] == ["setosa", "versicolor", "virginica"]
    np.testing.assert_allclose(ax.get_xticks(), [24.5, 74.5, 124.5])


def test_zero_is_white_where_values_have_both_signs():
    X = np.random.default_rng(0).normal(size=(20, 3))
    image = plot.gram(Linear(), X).images[0]
    assert image.norm.vmin == -image.norm.vmax
    np.testing.assert_allclose(image.to_rgba(np.array([[0.0]]))[0, 0, :3], 1.0, atol=0.005)
    assert plot.gram(Rbf(gamma=1.0), X).images[0].norm.vmin == 0


def line(ax, label):
    return next(found for axes in ax.figure.axes for found in axes.lines if str(found.get_label()).startswith(label))


def test_a_spectrum_is_that_of_the_matrix_and_its_shares_end_at_one():
    X = load_iris().data[::3]
    k = Rbf(gamma=0.5)
    for centred in (False, True):
        ax = plot.spectrum(k, X, centred=centred)
        H = np.eye(50) - centred / 50
        wanted = np.linalg.eigvalsh(H @ k(X) @ H)[::-1]
        seen = line(ax, "eigenvalue").get_ydata()
        np.testing.assert_allclose(seen, wanted[: len(seen)], rtol=1e-6, atol=1e-12)
        assert (np.abs(wanted[len(seen) :]) < 1e-12 * wanted[0]).all() and ax.get_yscale() == "log"
        shares = line(ax, "cumulative share").get_ydata()
        assert shares[-1] == pytest.approx(1.0) and shares[0] == pytest.approx(wanted[0] / wanted.sum())
        p = wanted[wanted > 0] / wanted.sum()
        assert ax.get_title(loc="right") == f"effective rank {np.exp(-(p * np.log(p)).sum()):.1f} of 50"
    # one direction
    assert plot.spectrum(np.ones((9, 9))).get_title(loc="right") == "effective rank 1.0 of 9"


def test_negative_eigenvalues_are_marked():
    X = np.random.default_rng(0).normal(size=(30, 3))
    k = Sigmoid(gamma=1.0, offset=-1.0)
    wanted = np.linalg.eigvalsh(k(X))
    seen = line(plot.spectrum(k, X), "negative").get_ydata()
    np.testing.assert_allclose(np.sort(seen)[-3:], np.sort(-wanted)[-3:])


def test_wrong_matrices_are_told_in_sentences():
    X = np.ones((4, 2))
    for error, words, call in [
        (ValueError, "is square", lambda: plot.gram(np.ones((3, 4)))),
        (ValueError, "not finite", lambda: plot.gram(np.full((3, 3), np.nan))),
        (ValueError, "belong together", lambda: plot.gram(np.eye(3), y=[1, 2])),
        (TypeError, "needs the examples", lambda: plot.gram(Rbf())),
        (TypeError, "needs no examples", lambda: plot.gram(np.eye(3), X)),
        (ValueError, "symmetric", lambda: plot.spectrum(np.triu(np.ones((3, 3))))),
        (ValueError, "same point", lambda: plot.spectrum(np.ones((3, 3)), centred=True)),
        (ValueError, "foo", lambda: plot.gram("foo(gamma=1)", X)),
    ]:
        with pytest.raises(error, match=words):
            call()


# ---------------------------------------------------------------------------------------------- probabilities, searches


def test_reliability_is_that_of_brute_force():
    X, y = make_moons(400, noise=0.3, random_state=0)
    names = np.array(["no", "yes"])[y]
    model = mercer.SVC(probability=True, random_state=0).fit(X[:200], names[:200])
    ax = plot.reliability(model, X[200:], names[200:], bins=5)
    p, true = model.predict_proba(X[200:])[:, 1], names[200:] == "yes"
    parts = np.array_split(np.argsort(p, kind="stable"), 5)
    assert all(p[a[-1]] < p[b[0]] for a, b in zip(parts, parts[1:]))
    means, shares = ([values[part].mean() for part in parts] for values in (p, true))
    observed = ax.containers[0]
    np.testing.assert_allclose(observed.lines[0].get_xdata(), means)
    np.testing.assert_allclose(observed.lines[0].get_ydata(), shares)
    error = np.mean([abs(a - b) for a, b in zip(means, shares)])
    note = legend(ax)[-1]
    assert f"log loss {log_loss(names[200:], model.predict_proba(X[200:])):.3f}" in note
    assert f"calibration error {error:.3f}" in note and "200 examples" in note
    assert ax.get_xlabel() == "predicted probability of yes"
    assert sum(bar.get_height() for bar in ax.child_axes[0].patches) == 200


def test_the_interval_of_a_share_is_exact():
    from scipy.stats import binomtest

    X, y = make_moons(300, noise=0.3, random_state=1)
    ax = plot.reliability(LogisticRegression().fit(X, y), X, y)
    for segment in ax.containers[0].lines[2][0].get_segments():
        i = int(np.argmin(np.abs(ax.containers[0].lines[0].get_xdata() - segment[0, 0])))
        hits = round(30 * ax.containers[0].lines[0].get_ydata()[i])
        interval = binomtest(hits, 30).proportion_ci(0.95, "exact")
        np.testing.assert_allclose(np.sort(segment[:, 1]), [interval.low, interval.high], atol=1e-9)


def test_of_several_classes_the_largest_probability_is_looked_at():
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
    ax = plot.reliability(model, X, y, bins=3)
    table = model.predict_proba(X)
    parts = np.array_split(np.argsort(table.max(axis=1), kind="stable"), 3)
    hits = table.argmax(axis=1) == y
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    np.testing.assert_allclose(ax.containers[0].lines[0].get_ydata().mean(), hits.mean(), atol=0.01)
    assert ax.get_xlabel() == "probability of the predicted class"


def test_equal_predictions_stay_in_one_bin():
    class Coin:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    ax = plot.reliability(Coin(), np.zeros((100, 1)), np.arange(100) % 4 == 0)
    np.testing.assert_allclose(ax.containers[0].lines[0].get_xydata(), [[0.5, 0.25]])


def test_probabilities_that_are_not_there_are_told():
    X, y = moons()
    for error, words, call in [
        (TypeError, "probability=True", lambda: plot.reliability(mercer.SVC().fit(X, y), X, y)),
        (TypeError, "CalibratedClassifierCV", lambda: plot.reliability(mercer.LinearSVC().fit(X, y), X, y)),
        (ValueError, "does not know", lambda: plot.reliability(LogisticRegression().fit(X, y), X, y + 3)),
        (ValueError, "belong together", lambda: plot.reliability(LogisticRegression().fit(X, y), X, y[1:])),
        (ValueError, "at least 1", lambda: plot.reliability(LogisticRegression().fit(X, y), X, y, bins=0)),
    ]:
        with pytest.raises(error, match=words):
            call()


def test_a_search_is_a_map_of_its_scores_with_the_best_marked():
    X, y = moons()
    C, gamma = [0.1, 1.0, 10.0, 100.0], [0.5, 1.0, 1.5]
    found = GridSearchCV(make_pipeline(StandardScaler(), mercer.SVC()), {"svc__C": C, "svc__gamma": gamma}, cv=3).fit(
        X, y
    )
    ax = plot.search(found)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale(), ax.get_yscale()) == ("C", "gamma", "log", "linear")
    cells = np.asarray(ax.collections[0].get_array()).reshape(3, 4)
    for score, setting in zip(found.cv_results_["mean_test_score"], found.cv_results_["params"]):
        assert cells[gamma.index(setting["svc__gamma"]), C.index(setting["svc__C"])] == score
    (frame,) = ax.patches
    (left, bottom), (right, top) = frame.get_xy(), np.add(frame.get_xy(), (frame.get_width(), frame.get_height()))
    best = found.best_params_
    assert left < best["svc__C"] < right < 10 * best["svc__C"] and bottom < best["svc__gamma"] < top
    assert len(ax.texts) == 12


def test_one_parameter_is_a_line_and_others_take_their_best():
    X, y = moons()
    grid = {"C": [1, 2, 3], "kernel": ["linear", "rbf"]}
    found = GridSearchCV(mercer.SVC(), grid, cv=3).fit(X, y)
    ax = plot.search(found)
    assert ax.get_xscale() == "linear" and "best kernel" in ax.get_title(loc="left")
    means = found.cv_results_["mean_test_score"].reshape(3, 2)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), means.max(axis=1))
    np.testing.assert_allclose(ax.lines[1].get_xydata(), [[found.best_params_["C"], found.best_score_]])


def test_settings_without_a_grid_are_points():
    from scipy.stats import loguniform

    X, y = moons()
    space = {"C": loguniform(0.1, 100), "gamma": loguniform(0.01, 10)}
    found = RandomizedSearchCV(mercer.SVC(), space, n_iter=12, cv=3, random_state=0).fit(X, y)
    ax = plot.search(found)
    assert len(ax.collections[0].get_offsets()) == 12
    assert ax.get_xscale() == ax.get_yscale() == "log"


def test_wrong_searches_are_told_in_sentences():
    X, y = moons()
    words_only = GridSearchCV(mercer.SVC(), {"kernel": ["linear", "rbf"]}, cv=2).fit(X, y)
    two = GridSearchCV(mercer.SVC(), {"C": [1, 2]}, scoring=["accuracy", "f1"], refit=False, cv=2).fit(X, y)
    for error, words, call in [
        (TypeError, "cv_results_", lambda: plot.search(mercer.SVC())),
        (ValueError, "varies over numbers", lambda: plot.search(words_only)),
        (ValueError, "not a number everywhere", lambda: plot.search(words_only, params="kernel")),
        (ValueError, "is not searched", lambda: plot.search(words_only, params="nu")),
        (ValueError, "accuracy, f1", lambda: plot.search(two)),
    ]:
        with pytest.raises(error, match=words):
            call()


@pytest.mark.parametrize(
    ("values", "scale"),
    [([0.1, 1, 10], "log"), ([1, 100], "log"), ([2**k for k in range(9)], "log"), ([0.1, 0.3, 1, 3, 10], "log"),
     (range(1, 20), "linear"), ([1, 2, 4], "linear"), ([0, 1, 10, 100], "linear"), (range(1, 501, 50), "linear")],
)  # fmt: skip
def test_scales_are_logarithmic_where_values_are_geometric(values, scale):
    results = {"params": [{"C": v} for v in values], "mean_test_score": [0.5] * len(values)}
    assert plot.search(SimpleNamespace(cv_results_=results)).get_xscale() == scale


# ------------------------------------------------------------------------------------------------------------ the module


def test_plots_are_drawn_on_the_axes_that_are_given():
    X, y = moons()
    model = mercer.SVC(probability=True, random_state=0).fit(X, y)
    found = GridSearchCV(mercer.SVC(), {"C": [1, 10]}, cv=2).fit(X, y)
    _, grid = plt.subplots(2, 3, layout="constrained")
    for ax, draw in zip(grid.ravel(), [
        lambda ax: plot.decision_surface(model, X, y, resolution=10, ax=ax), lambda ax: plot.gram(Rbf(), X, y, ax=ax),
        lambda ax: plot.spectrum(Rbf(), X, ax=ax), lambda ax: plot.reliability(model, X, y, ax=ax),
        lambda ax: plot.search(found, ax=ax),
    ]):  # fmt: skip
        assert draw(ax) is ax
    assert len(plt.get_fignums()) == 1


def test_matplotlib_is_imported_when_something_is_drawn_only():
    script = """
import sys, mercer
assert callable(mercer.plot.gram)
assert not any(name.split(".")[0] == "matplotlib" for name in sys.modules), "too early"
sys.modules["matplotlib"] = None
try:
    mercer.plot.gram([[1.0]])
except ImportError as error:
    print(error)
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "mercer.plot draws with matplotlib, which is not installed: pip install matplotlib"


def test_every_function_is_annotated_and_documented():
    for name in plot.__all__:
        function = getattr(plot, name)
        signature = inspect.signature(function)
        assert signature.return_annotation == "Axes" and "ax" in signature.parameters, name
        assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values()), name
        assert ">>>" in function.__doc__, name


# ------------------------------------------------------------------------------------------------- curves, coordinates


def lines(ax):
    """The drawn lines by their label."""
    return {line.get_label(): line.get_xydata() for line in ax.lines}


@pytest.mark.parametrize("model", [mercer.SVC(), LogisticRegression()])
def test_the_area_below_a_roc_curve_counts_pairs(model):
    X, y = moons(300)
    score = model.fit(X[:150], y[:150]).decision_function(X[150:])
    pairs = np.subtract.outer(score[y[150:] == 1], score[y[150:] == 0])
    share = np.mean((pairs > 0) + 0.5 * (pairs == 0))
    drawn = lines(plot.roc(model, X[150:], y[150:]))
    assert set(drawn) == {"chance", f"1 ({share:.3f})"}
    x, found = drawn[f"1 ({share:.3f})"].T
    assert np.sum(np.diff(x) * (found[1:] + found[:-1]) / 2) == pytest.approx(share, abs=1e-12)


def test_several_classes_have_a_roc_curve_each_and_a_detector_has_one():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(random_state=0).fit(X[::2], y[::2])
    drawn = lines(plot.roc(model, X[1::2], y[1::2]))
    assert len(drawn) == 4
    chance = model.predict_proba(X[1::2])
    margin = chance[:, 1] - np.maximum(chance[:, 0], chance[:, 2])
    own = y[1::2] == 1
    pairs = np.subtract.outer(margin[own], margin[~own])
    assert f"1 ({np.mean((pairs > 0) + 0.5 * (pairs == 0)):.3f})" in drawn
    detector = mercer.OneClassSVM(nu=0.1).fit(X[y == 0])
    assert any(name.startswith("-1 (") for name in lines(plot.roc(detector, X, np.where(y == 0, 1, -1))))


def test_a_curve_is_what_is_predicted_and_a_tube_is_as_wide_as_epsilon():
    x = np.linspace(-3, 3, 60)[:, None]
    y = np.sinc(x).ravel() + 0.1 * np.cos(40 * x).ravel()
    model = mercer.SVR(C=10, epsilon=0.05).fit(x, y)
    ax = plot.regression(model, x, y)
    at, values = lines(ax)["SVR"].T
    np.testing.assert_allclose(values, model.predict(at[:, None]))
    tube = next(c for c in ax.collections if c.get_label() == "ε = 0.05").get_paths()[0].vertices
    assert np.ptp(tube[np.isclose(tube[:, 0], at[200])][:, 1]) == pytest.approx(0.1)
    assert {tuple(p) for p in marks(ax, "support")} == {(x[i, 0], y[i]) for i in model.support_}
    levels = [mercer.Quantile(tau=tau).fit(x, y) for tau in (0.1, 0.9)]
    assert list(lines(plot.regression(levels, x, y))) == ["Quantile 0.1", "Quantile 0.9"]


def test_a_learning_curve_ends_in_the_scores_of_a_cross_validation():
    X, y = load_iris(return_X_y=True)
    drawn = lines(plot.learning_curve(mercer.SVC(), X, y, sizes=(0.5, 1.0), cv=4))
    assert drawn["held out"][-1] == pytest.approx((112, cross_val_score(mercer.SVC(), X, y, cv=4).mean()))
    assert set(drawn) == {"held out", "training"} and len(drawn["training"]) == 2


def test_coordinates_are_those_of_the_transformation():
    X, y = load_iris(return_X_y=True)
    pca = PCA(2).fit(X)
    ax = plot.coordinates(pca, X, y)
    np.testing.assert_allclose(marks(ax, "1"), pca.transform(X[y == 1]))
    assert ax.get_xlabel() == f"coordinate 1 ({100 * pca.explained_variance_ratio_[0]:.1f} % of the variance)"
    assert plot.coordinates(mercer.KernelPCA(2).fit(X), X).get_legend() is None


def test_wrong_curves_are_told_in_sentences():
    X, y = moons(40)
    model = mercer.SVC().fit(X, y)
    for call, words in [
        (lambda: plot.roc(model, X, y[:9]), "must belong together"),
        (lambda: plot.roc(model, X, np.zeros(40)), "two classes"),
        (lambda: plot.regression(model, X, y), "one column"),
        (lambda: plot.coordinates(PCA(1).fit(X), X), "a plane needs two"),
        (lambda: plot.coordinates(PCA(2).fit(X), X, y[:9]), "must belong together"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(TypeError, match="neither decision_function nor predict_proba"):
        plot.roc(KMeans(2), X, y)
