"""Kernels as objects: their explicit features."""

import numpy as np
import pytest
import scipy.sparse as sp
from mercer import LinearSVC
from mercer.kernels import BagOfWords, Polynomial, Rbf, Spectrum

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
