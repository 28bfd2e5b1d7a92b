"""Kernels as objects: their text, their explicit features, and the examples they take."""

import functools
import operator

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from mercer import SVC, LinearSVC, MercerSearchCV, kernel, mmd_test
from mercer.kernels import BagOfWords, Linear, Polynomial, Rbf, Spectrum
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV

X = np.random.default_rng(4).normal(size=(40, 3))
Y = (X[:, 0] > 0).astype(int)
TEXTS = ["to be or not to be", "to sleep, to dream", "the rest is silence", "be silent or be gone"]


@pytest.mark.parametrize(
    "kernel",
    [Spectrum(length=3), 2 * Spectrum(length=2), Spectrum(length=3).normalise(), BagOfWords(weighting="tfidf").normalise()],
)
def test_features_of_strings_are_sparse_and_give_the_kernel(kernel):
    new = ["to be silent", "a dream is a dream"]
    training, others = kernel.features(TEXTS), kernel.features(new, training=TEXTS)
    assert sp.issparse(training) and sp.issparse(others)
    np.testing.assert_allclose((training @ training.T).toarray(), kernel(TEXTS), rtol=1e-12, atol=1e-12)
    width = min(training.shape[1], others.shape[1])
    np.testing.assert_allclose((others[:, :width] @ training[:, :width].T).toarray(), kernel(new, TEXTS), rtol=1e-12, atol=1e-12)


def test_features_of_polynomials_give_the_kernel_to_any_linear_machine():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] * X[:, 1] > 0
    kernel = Polynomial(degree=2, offset=1.0)
    F = kernel.features(X)
    np.testing.assert_allclose(F @ F.T, kernel(X), rtol=1e-12, atol=1e-12)
    assert LinearSVC(C=100.0, max_iter=100_000).fit(F, y).score(F, y) == 1.0
    assert LinearSVC(C=100.0, max_iter=100_000).fit(X, y).score(X, y) < 0.9


def test_a_kernel_without_features_says_which_have_some():
    with pytest.raises(ValueError, match="kernels that count pieces of strings"):
        Rbf().features([[0.0], [1.0]])
    with pytest.raises(ValueError, match="spectrum"):
        Spectrum().features([[0.0], [1.0]])


def test_a_power_is_not_cut_to_a_whole_number():
    assert str(Linear() ** 2.0) == str(Linear() ** np.int64(2)) == "linear^2"
    for exponent in (2.5, 0, -1, 65):
        with pytest.raises(ValueError, match="whole number from 1 to 64"):
            str(Linear() ** exponent)
    for cls in (GridSearchCV, MercerSearchCV):
        search = cls(SVC(kernel=Linear() ** 2), {"kernel__exponent": [1, 1.5]}, error_score=np.nan)
        with pytest.warns(FitFailedWarning):
            search.fit(X, Y)
        assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True]


@pytest.mark.parametrize("name", ["petal length", "a + rbf(gamma=3)@b", 'a"b\\', "größe", "3", "a", ""])
def test_a_view_may_have_any_name(name):
    k = Rbf(gamma=1.0) @ name
    np.testing.assert_allclose(k({name: X}), Rbf(gamma=1.0)(X))
    assert SVC(kernel=k).fit({name: X}, Y).predict({name: X[:3]}).shape == (3,)
    # as the language of formulas writes it
    written = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    assert Rbf(gamma=1.0) @ written == k == kernel(f"rbf(gamma=1)@{written}")


def test_a_chain_of_kernels_is_as_long_as_one_likes():
    views = {f"v{i}": np.full((2, 1), 1.0 + i) for i in range(300)}
    terms = [Linear() @ name for name in views]
    for chain in (sum(terms[1:], terms[0]), functools.reduce(lambda right, left: left + right, reversed(terms))):
        assert str(chain) == " + ".join(f"linear@v{i}" for i in range(300))
    np.testing.assert_allclose(chain(views), np.sum(np.arange(1.0, 301) ** 2))
    assert str(functools.reduce(operator.mul, terms)) == " * ".join(f"linear@v{i}" for i in range(300))
    assert str(2 * Linear() * (Linear() + 1) * Rbf(gamma=1.0) + 1 + Linear() * 2) == "2*linear * (linear + 1) * rbf(gamma=1) + 2*linear + 1"


def test_a_kernel_takes_the_frames_that_a_fit_takes():
    data = pd.DataFrame(X, columns=["a", "b", "c"]).assign(text=["aab", "bba"] * 20)
    k = Rbf(gamma=0.5) @ "x" + Spectrum(length=2) @ "text"
    by_views = {"x": X, "text": list(data.text)}
    np.testing.assert_array_equal(k(data), k(by_views))
    np.testing.assert_array_equal((Linear() @ "b")(data), np.outer(X[:, 1], X[:, 1]))
    # the columns of the other are found by name, and what else it has is left aside
    other = data[["text", "c", "a", "b"]].assign(more=1.0)
    np.testing.assert_allclose(k(data, other[:5]), k(by_views)[:, :5])
    assert mmd_test(data, other, k)["mmd2"] == mmd_test(by_views, by_views, k)["mmd2"]
    with pytest.raises(ValueError, match="no such column"):
        (Linear() @ "d")(data)
