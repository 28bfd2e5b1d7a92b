"""Tests of two samples and of dependence, beside NumPy."""

import mercer
import numpy as np
import pytest
from mercer.kernels import Linear, Rbf, Spectrum
from sklearn.datasets import load_iris

X, Y = load_iris(return_X_y=True)


def gaussian(A, gamma):
    return np.exp(-gamma * ((A[:, None] - A[None]) ** 2).sum(-1))


def mmd(K, first, unbiased):
    """The definition, on a pooled matrix."""
    A, B, C = K[np.ix_(first, first)], K[np.ix_(~first, ~first)], K[np.ix_(first, ~first)]
    m, n = len(A), len(B)
    if unbiased:
        return (A.sum() - np.trace(A)) / m / (m - 1) + (B.sum() - np.trace(B)) / n / (n - 1) - 2 * C.mean()
    return A.mean() + B.mean() - 2 * C.mean()


@pytest.mark.parametrize("statistic", ["unbiased", "biased"])
def test_two_samples_are_those_of_numpy(statistic):
    random = np.random.default_rng(3)
    A, B = random.normal(size=(30, 2)), random.normal(size=(45, 2)) + [0.35, 0.0]
    K, first = gaussian(np.vstack([A, B]), 0.5), np.arange(75) < 30
    found = mercer.mmd_test(A, B, Rbf(gamma=0.5), statistic=statistic, permutations=4000)
    for name in ("unbiased", "biased"):
        assert found[name] == pytest.approx(mmd(K, first, name == "unbiased"), abs=1e-12)
    assert found["mmd2"] == found[statistic] and found["n"] == (30, 45)
    observed = mmd(K, first, statistic == "unbiased")
    drawn = np.array([mmd(K, random.permutation(first), statistic == "unbiased") for _ in range(4000)])
    p = (1 + (drawn >= observed).sum()) / 4001
    # two shares of 4000 draws each: five standard deviations
    assert 0.001 < p < 0.9 and found["p"] == pytest.approx(p, abs=5 * np.sqrt(2 * p * (1 - p) / 4000))
    assert found["critical"] == pytest.approx(np.quantile(drawn, 0.95), rel=0.15)
    assert found["guarantee"] == "exact at every sample size"


@pytest.mark.parametrize("choose", ["uniform", "greedy", "k_means"])
def test_landmarks_do_not_know_which_sample_comes_first(choose):
    random = np.random.default_rng(5)
    A, B = random.normal(size=(30, 2)), random.normal(size=(20, 2))
    kernel = f"nystrom(rbf(gamma=1), points=3, choose={choose})"
    one, other = mercer.mmd_test(A, B, kernel, permutations=9), mercer.mmd_test(B, A, kernel, permutations=9)
    assert one["mmd2"] == pytest.approx(other["mmd2"], rel=1e-9)


def test_the_bound_is_given_for_fixed_kernels_of_known_radius_only():
    A, B = X[Y == 0], X[Y == 2]
    found = mercer.mmd_test(A, B, Rbf(gamma=0.5), permutations=99)
    assert found["limit"] == pytest.approx(np.sqrt(2 / 50) * (1 + np.sqrt(2 * np.log(20))))
    above = np.sqrt(found["biased"]) / np.sqrt(2 / 50) - 1
    assert found["p_bound"] == pytest.approx(np.exp(-(above**2) / 2))
    assert "limit" not in mercer.mmd_test(A, B, permutations=9)
    assert "limit" not in mercer.mmd_test(A, B, Linear(), permutations=9)
    assert mercer.mmd_test(A, B, Linear(), permutations=9, radius=20.0)["limit"] > 0


def test_strings_and_linear_time():
    found = mercer.mmd_test(["abab", "baba", "abba"] * 4, ["cdcd", "dcdc", "cddc"] * 4, Spectrum(length=2), permutations=199)
    assert found["p"] == pytest.approx(0.005)
    random = np.random.default_rng(0)
    fast = mercer.mmd_test(random.normal(size=(4000, 1)), random.normal(size=(4000, 1)) + 1, Rbf(gamma=0.5), statistic="linear")
    assert fast["p"] < 1e-6 and fast["by"] == "the normal approximation"
    same = mercer.mmd_test(X[::2], X[1::2], statistic="bootstrap")
    assert same["p"] > 0.05 and same["guarantee"].startswith("approximate")


def test_dependence_is_that_of_numpy():
    random = np.random.default_rng(5)
    x = random.normal(size=(60, 1))
    y = 0.4 * x[:, 0] ** 2 + random.normal(size=60)
    found = mercer.hsic_test(x, y, Rbf(gamma=0.5), Rbf(gamma=0.8), permutations=4000)
    H = np.eye(60) - 1 / 60
    K, L = H @ gaussian(x, 0.5) @ H, gaussian(y[:, None], 0.8)
    observed = (K * L).sum() / 3600
    assert found["hsic"] == pytest.approx(observed)
    assert found["alignment"] == pytest.approx((K * (H @ L @ H)).sum() / np.linalg.norm(K) / np.linalg.norm(H @ L @ H))
    orders = [random.permutation(60) for _ in range(4000)]
    p = (1 + sum((K * L[np.ix_(o, o)]).sum() / 3600 >= observed for o in orders)) / 4001
    assert 0.0005 < p < 0.9 and found["p"] == pytest.approx(p, abs=5 * np.sqrt(2 * p * (1 - p) / 4000) + 1e-3)
    # an approximation of the null's distribution by two moments
    assert found["p_gamma"] == pytest.approx(p, abs=0.06)
    # Song et al. (2012), (5), in their own words
    k, m = gaussian(x, 0.5), L.copy()
    np.fill_diagonal(k, 0)
    np.fill_diagonal(m, 0)
    n = 60
    wanted = (np.trace(k @ m) + k.sum() * m.sum() / (n - 1) / (n - 2) - 2 / (n - 2) * (k @ m).sum()) / n / (n - 3)
    assert found["hsic_unbiased"] == pytest.approx(wanted, abs=1e-12)


def test_classes_words_and_alignments():
    found = mercer.hsic_test(X, Y, permutations=199)
    named = mercer.hsic_test(X, np.array(["a", "b", "c"])[Y], permutations=199)
    assert found["hsic"] == named["hsic"] and found["p"] == pytest.approx(0.005)
    told = mercer.alignment_test("rbf(gamma=0.4)", X, Y, permutations=199)
    assert told["alignment"] == pytest.approx(mercer.measure("rbf(gamma=0.4)", X, Y)["centred_alignment"])
    assert told["p"] == pytest.approx(0.005)
    shuffled = np.random.default_rng(1).permutation(Y)
    assert mercer.alignment_test("rbf(gamma=0.4)", X, shuffled)["p"] > 0.01


def test_stability_has_the_printed_values():
    found = mercer.spectral_stability("rbf(gamma=0.2)", X, draws=20)
    n, values = 150, np.linalg.eigvalsh(gaussian(X, 0.2))[::-1] / 150
    np.testing.assert_allclose(found["eigenvalues"][:5], values[:5], atol=1e-10)
    assert found["printed_sums_within"] == pytest.approx(np.sqrt(32 * n * np.log(20)) / (n - 2))
    assert found["operator_within"] == pytest.approx((1 + np.sqrt(np.log(20))) / np.sqrt(n))
    kept, sample, bound = found["residuals"][-1]
    assert sample == pytest.approx(values[kept:].sum(), abs=1e-9)
    terms = [values[t:].sum() + (1 + np.sqrt(t)) / np.sqrt(n) * np.sqrt(2) for t in range(kept + 1)]
    assert bound == pytest.approx(min(terms) + np.sqrt(18 / n * np.log(2 * n / 0.05)))
    assert found["beyond_rho"] == [] and len(found["intervals"]) == 5
    with pytest.raises(ValueError, match="declare one with radius="):
        mercer.spectral_stability(Linear(), X)
    assert mercer.spectral_stability(Linear(), X, radius=12.0, draws=0)["intervals"] == []


def test_wrong_requests_are_told():
    with pytest.raises(ValueError, match="unbiased, biased, bootstrap or linear"):
        mercer.mmd_test(X, X, statistic="best")
    with pytest.raises(ValueError, match="permutations"):
        mercer.mmd_test(X, X, permutations=0)
    with pytest.raises(ValueError, match="coordinates"):
        mercer.mmd_test(X, X[:, :2])
    with pytest.raises(ValueError, match="two examples"):
        mercer.mmd_test(X[:1], X)
    with pytest.raises(ValueError, match="one size"):
        mercer.hsic_test(X, X[:20], l="linear()")
