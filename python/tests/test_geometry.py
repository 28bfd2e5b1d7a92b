"""Measures of a kernel on data, beside NumPy."""

import mercer
import numpy as np
import pytest
from mercer.kernels import Rbf, Sigmoid, Spectrum
from sklearn.datasets import load_iris

X, Y = load_iris(return_X_y=True)


def test_measures_are_those_of_numpy():
    K = Rbf(gamma=0.4)(X)
    found = mercer.measure(Rbf(gamma=0.4), X, Y, ridge=0.5)
    values = np.linalg.eigvalsh(K)[::-1]
    np.testing.assert_allclose(found["eigenvalues"], values, atol=1e-9)
    assert found["spread"] == pytest.approx(np.trace(K) / 150 - K.mean())
    assert found["centre_norm"] == pytest.approx(np.sqrt(K.mean()))
    np.testing.assert_allclose(found["distances"] ** 2, np.diag(K) + K.mean() - 2 * K.mean(1), atol=1e-12)
    assert found["farthest"][0] == found["distances"].argmax()
    assert found["effective_dimension"] == pytest.approx((values / (values + 0.5)).sum())
    L = (Y[:, None] == Y[None, :]).astype(float)
    assert found["alignment"] == pytest.approx((K * L).sum() / np.linalg.norm(K) / np.linalg.norm(L))
    H = np.eye(150) - 1 / 150
    Kc, Lc = H @ K @ H, H @ L @ H
    assert found["centred_alignment"] == pytest.approx((Kc * Lc).sum() / np.linalg.norm(Kc) / np.linalg.norm(Lc))
    assert found["positive_semi_definite"] and not mercer.measure(Sigmoid(gamma=0.5, offset=-1.0), X)["positive_semi_definite"]


def test_numbers_strings_and_frames_are_measured():
    words = ["abab", "baba", "cccc", "abcc"]
    found = mercer.measure(Spectrum(length=2), words)
    assert found["n"] == 4 and "alignment" not in found
    y = X @ [1.0, 2.0, 0.0, 0.0] + np.linspace(0, 1e-3, 150)
    K, c = X @ X.T, y - y.mean()
    wanted = (K * np.outer(c, c)).sum() / np.linalg.norm(K) / (c @ c)
    assert mercer.measure("linear()", X, y)["alignment"] == pytest.approx(wanted)


@pytest.mark.parametrize("how", ["clip", "flip", "shift"])
def test_repairs_are_said_aloud(how):
    K = np.tanh(X[:40] @ X[:40].T - 30)
    values, V = np.linalg.eigh(K)
    wanted = {
        "clip": (V * np.maximum(values, 0)) @ V.T,
        "flip": (V * np.abs(values)) @ V.T,
        "shift": K - values[0] * np.eye(40),
    }[how]
    with pytest.warns(UserWarning, match="eigenvalues were below zero"):
        mended = mercer.repair(K, how)
    np.testing.assert_allclose(mended, wanted, atol=1e-9)
    np.testing.assert_array_equal(mercer.repair(X @ X.T, how), X @ X.T)


def test_wrong_matrices_are_told():
    with pytest.raises(ValueError, match="symmetric matrix is needed"):
        mercer.repair(np.arange(9.0).reshape(3, 3))
    with pytest.raises(ValueError, match="clip, flip or shift"):
        mercer.repair(np.eye(2), "mend")
    with pytest.raises(ValueError, match="square matrix"):
        mercer.matrix_function(np.ones((2, 3)), "exp", 1.0)
    with pytest.raises(ValueError, match="power, exp or resolvent"):
        mercer.matrix_function(np.eye(2), "sine", 1.0)


def test_updates_are_the_moments_of_the_changed_points_and_eigenvalues_interlace():
    A = X[:20]
    count, mean, covariance = mercer.update_covariance(20, A.mean(0), np.cov(A.T), add=X[60], remove=A[3])
    changed = np.vstack([A[:3], A[4:], X[60]])
    assert count == 20
    np.testing.assert_allclose(mean, changed.mean(0), atol=1e-12)
    np.testing.assert_allclose(covariance, np.cov(changed.T), atol=1e-12)
    count, _, fewer = mercer.update_covariance(20, A.mean(0), np.cov(A.T), remove=A[3])
    assert count == 19
    np.testing.assert_allclose(fewer, np.cov(np.delete(A, 3, 0).T), atol=1e-12)
    values, vectors = np.linalg.eigh(np.cov(A.T))
    values, vectors = values[::-1], vectors[:, ::-1]
    c = np.array([0.3, -1.0, 0.2, 0.5])
    found = mercer.rank_one_eigenvalues(values, vectors.T @ c, 0.7)
    np.testing.assert_allclose(found, np.linalg.eigvalsh(np.cov(A.T) + 0.7 * np.outer(c, c))[::-1], atol=1e-12)
    assert (found >= values - 1e-12).all() and (values[:-1] >= found[1:] - 1e-12).all()
    with pytest.raises(ValueError, match="falling order"):
        mercer.rank_one_eigenvalues([1.0, 2.0], [0.0, 1.0])
    with pytest.raises(ValueError, match="d x d"):
        mercer.update_covariance(5, [0.0, 1.0], np.eye(3))
