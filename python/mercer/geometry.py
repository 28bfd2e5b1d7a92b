"""Geometry in feature space: what a kernel makes of data, before anything is learned."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from mercer import _native
from mercer._data import Data, Matrix, checked_views, columns_of, has_views, in_order_of, is_frame, threads_of, views_of
from mercer._kernel import Kernel, kernel, views_wanted

__all__ = [
    "alignment_test", "hsic_test", "matrix_function", "measure", "mmd_test", "rank_one_eigenvalues", "repair", "spectral_stability",
    "update_covariance",
]  # fmt: skip


def measure(k: Kernel | str, X: Data, y: Data = None, *, ridge: float = 1.0, n_jobs: int | None = None) -> dict[str, Any]:
    """Norms, centre, spread, outliers, spectrum, rank and alignment of a kernel on data, by name.

    `spread` is the mean squared distance from the centre of mass, `centre_within` how far that centre is from the mean of the
    distribution at most, with probability 95 % (None where the kernel has no radius or took its numbers from the data);
    `effective_dimension` is Σ λ/(λ + ridge); `alignment` (with y) is the cosine
    between the matrix and that of the target. All eigenvalues are computed for up to 3000 examples, else the leading 20.

    Source: J. Shawe-Taylor & N. Cristianini, Kernel Methods for Pattern Analysis (2004), chapter 5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import measure
    >>> X, y = load_iris(return_X_y=True)
    >>> found = measure("linear()", X, y)
    >>> found["rank"], round(found["alignment"], 2), round(measure("rbf(gamma=0.5)", X, y)["alignment"], 2)
    (4, 0.59, 0.84)
    """
    text, views = _met(k, X)
    codes, classes = _coded(y) if y is not None else (None, False)
    return _native.measure(text, views, codes, classes, float(ridge), threads_of(n_jobs))


def _met(k: Kernel | str, X: Data, like: Data = None) -> tuple[str, Any]:
    """The text of a kernel, and the views of the data that it meets: of a frame those that another frame has."""
    text = str(k if isinstance(k, Kernel) else kernel(k))
    wanted = views_wanted(text)
    by_name = any(name is not None for name, _ in wanted)
    if has_views(X) or is_frame(X) and by_name:
        finite = "allow-nan" if _native.kernel_meets_gaps(text) else True
        columns = columns_of(like, wanted) if is_frame(X) and is_frame(like) else None
        return text, views_of(checked_views(X, wanted, finite, columns))
    return text, views_of(in_order_of(X, like))


def _coded(y: Data) -> tuple[Any, bool]:
    """A target as codes of classes or as numbers, and which of both."""
    classes = type_of_target(y) in ("binary", "multiclass")
    target = np.unique(np.asarray(y), return_inverse=True)[1] if classes else np.asarray(y)
    return np.ascontiguousarray(target, dtype=np.float64).ravel(), classes


def _draws(permutations: int) -> int:
    if permutations < 1:
        raise ValueError(f"permutations == {permutations}, must be >= 1.")
    return int(permutations)


def mmd_test(
    X: Data,
    Y: Data,
    k: Kernel | str = "rbf(gamma=median)",
    *,
    statistic: str = "unbiased",
    permutations: int = 1000,
    radius: float | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> dict[str, Any]:
    """Do two samples come from one distribution? The distance of their means in feature space, and a p-value.

    `statistic` is `unbiased` or `biased`, by permutations of the examples between the samples, whose p-value is exact at every
    sample size; `bootstrap`, the biased one by random signs, for many examples; or `linear`, which takes disjoint pairs only, in
    linear time. What the data give, such as a width (`gamma=median`) or landmarks, is taken from both samples together and whatever their
    order, so that permutations stay exact.
    Scale the columns of both together, too. `critical` is exceeded by chance in 5 % of the draws. Where the kernel is fixed and its
    radius is known or declared, `limit` bounds √biased in 95 % of equal samples of any distribution, and `p_bound` is the p-value
    of that bound. `copies` tells how many examples are equal where some are, since all of it holds only if no rows were repeated.

    Source: A. Gretton et al., A kernel two-sample test, JMLR 13 (2012).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import mmd_test
    >>> X, y = load_iris(return_X_y=True)
    >>> found = mmd_test(X[y == 1], X[y == 2])
    >>> round(found["p"], 3), found["by"]
    (0.001, '1000 permutations')
    >>> mmd_test(X[::2], X[1::2])["p"] > 0.05
    True
    """
    text, first = _met(k, X)
    second = _met(k, Y, X)[1]
    return _native.mmd_test(
        text, first, second, statistic, _draws(permutations), int(random_state), radius, threads_of(n_jobs)
    )


def hsic_test(
    X: Data,
    Y: Data,
    k: Kernel | str = "rbf(gamma=median)",
    l: Kernel | str | None = None,  # noqa: E741 (as K and L in the literature)
    *,
    permutations: int = 1000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> dict[str, Any]:
    """Does Y depend on X, example by example, in any way that two kernels see?

    `k` compares X and `l` compares Y: numbers, vectors, strings or views. Without `l`, classes are compared by equality and numbers
    as X is by default. `p` is by permutations of Y and exact at every sample size; `p_gamma` is the gamma approximation, which needs
    no permutations. `alignment` is the cosine of the centred matrices.

    Source: A. Gretton et al., A kernel statistical test of independence, NIPS 20 (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import hsic_test
    >>> x = np.linspace(-1, 1, 60)
    >>> bool(abs(np.corrcoef(x, x**2)[0, 1]) < 1e-9), round(hsic_test(x[:, None], x**2)["p"], 3)
    (True, 0.001)
    """
    text, views = _met(k, X)
    if not has_views(Y) and not is_frame(Y) and np.ndim(Y) == 1:
        if l is None and type_of_target(Y) in ("binary", "multiclass"):
            l, Y = "exact_match()", [str(v) for v in np.asarray(Y)]  # noqa: E741
        elif np.asarray(Y).dtype.kind in "biuf":
            Y = np.asarray(Y, dtype=np.float64)[:, None]
    other, others = _met("rbf(gamma=median)" if l is None else l, Y)
    return _native.hsic_test(text, views, other, others, _draws(permutations), int(random_state), threads_of(n_jobs))


def alignment_test(
    k: Kernel | str, X: Data, y: Data, *, permutations: int = 1000, random_state: int = 0, n_jobs: int | None = None
) -> dict[str, Any]:
    """The alignment of a kernel with a target, between centred matrices, and how likely chance alone gives as much.

    Source: C. Cortes et al., Algorithms for learning kernels based on centered alignment, JMLR 13 (2012).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import alignment_test
    >>> X, y = load_iris(return_X_y=True)
    >>> found = alignment_test("rbf(gamma=0.5)", X, y)
    >>> round(found["alignment"], 2), round(found["p"], 3)
    (0.79, 0.001)
    """
    text, views = _met(k, X)
    codes, classes = _coded(y)
    return _native.alignment_test(
        text, views, codes, classes, _draws(permutations), int(random_state), threads_of(n_jobs)
    )


def spectral_stability(
    k: Kernel | str,
    X: Data,
    *,
    radius: float | None = None,
    delta: float = 0.05,
    draws: int = 200,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> dict[str, Any]:
    """What of a kernel's spectrum λ(K)/n holds beyond the sample, each statement with probability 1 − delta.

    Sums of eigenvalues are within `sums_within` of their expectation, each eigenvalue within `operator_within` of the true one, the
    i-th eigenvector at an angle of at most arcsin `sines[i]` to the true one (None: nothing is certain). `rho` and `beyond_rho` are
    those of Mika's theorem 4.5; `residuals` lists (directions kept, mean squared residual on the sample, bound beyond it);
    `intervals` come from a bootstrap and are approximate. The radius R with κ(x, x) ≤ R² for every x is what the kernel's formula
    gives; kernels that grow with their examples need one that is declared, never that of the sample.

    Source: S. Mika, Kernel Fisher Discriminants (2002), chapter 4; J. Shawe-Taylor et al., IEEE Trans. Inf. Theory 51 (2005).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import spectral_stability
    >>> X, y = load_iris(return_X_y=True)
    >>> found = spectral_stability("rbf(gamma=0.1)", X)
    >>> round(found["operator_within"], 3), found["beyond_rho"]
    (0.223, [])
    """
    text, views = _met(k, X)
    return _native.spectral_stability(
        text, views, radius, float(delta), int(draws), int(random_state), threads_of(n_jobs)
    )


def repair(K: Data, how: str = "clip") -> Matrix:
    """A symmetric matrix without negative eigenvalues; where some were there, a warning says how many and what was done.

    `clip` sets them to zero, `flip` takes their sign away, `shift` raises all until the smallest is zero.

    Source: Y. Chen et al., Similarity-based classification, JMLR 10 (2009).

    Examples
    --------
    >>> import warnings
    >>> from mercer import repair
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     repair([[0.0, 1.0], [1.0, 0.0]]).round(6).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    >>> "1 of 2 eigenvalues were below zero" in str(said[0].message)
    True
    """
    K = np.ascontiguousarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not np.allclose(K, K.T, rtol=1e-8, atol=1e-8 * max(np.abs(K).max(initial=0), 1e-300)):
        raise ValueError(f"A symmetric matrix is needed, got one of shape {K.shape}.")
    mended, said = _native.repaired((K + K.T) / 2, how)
    if "nothing was changed" not in said:
        warnings.warn(said, stacklevel=2)
    return mended


def matrix_function(K: Data, function: str, number: float) -> Matrix:
    """f of a symmetric matrix, taken of its eigenvalues: λ^p (`power`), exp(tλ) (`exp`) or λ/(λ + μ) (`resolvent`).

    Source: B. Schölkopf et al., A kernel approach for learning from almost orthogonal patterns, ECML (2002).

    Examples
    --------
    >>> from mercer import matrix_function
    >>> root = matrix_function([[2.0, 0.0], [0.0, 9.0]], "power", 0.5)
    >>> (root @ root).round(6).tolist()
    [[2.0, 0.0], [0.0, 9.0]]
    """
    return _native.matrix_function(np.ascontiguousarray(K, dtype=np.float64), function, float(number))


def update_covariance(
    count: int, mean: Data, covariance: Data, add: Data = None, remove: Data = None
) -> tuple[int, Matrix, Matrix]:
    """Count, mean and covariance (with n - 1) of points when one comes (`add`), goes (`remove`), or comes in the place of another.

    Source: S. Mika, Kernel Fisher Discriminants (2002), Lemma 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import update_covariance
    >>> X = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0], [5.0, 2.0]])
    >>> count, mean, covariance = update_covariance(3, X[:3].mean(0), np.cov(X[:3].T), add=X[3])
    >>> count, np.allclose(mean, X.mean(0)), np.allclose(covariance, np.cov(X.T))
    (4, True, True)
    """
    mean = np.asarray(mean, dtype=np.float64).ravel()
    given = [None if x is None else np.asarray(x, dtype=np.float64).ravel().tolist() for x in (add, remove)]
    flat = np.asarray(covariance, dtype=np.float64).ravel().tolist()
    count, changed, matrix = _native.moments_updated(int(count), mean.tolist(), flat, *given)
    return count, np.array(changed), np.array(matrix).reshape(len(changed), -1)


def rank_one_eigenvalues(eigenvalues: Data, c: Data, tau: float = 1.0) -> Matrix:
    """The eigenvalues of A + tau c c^T from those of A, falling, and c in the coordinates of A's eigenvectors.

    They interlace with those of A, and have moved by tau m_i with shares m_i >= 0 that add to the squared length of c.

    Source: S. Mika, Kernel Fisher Discriminants (2002), Theorem 4.3, after J. H. Wilkinson.

    Examples
    --------
    >>> from mercer import rank_one_eigenvalues
    >>> rank_one_eigenvalues([2.0, 1.0], [0.6, 0.8]).round(6).tolist()
    [2.6, 1.4]
    """
    values = [np.asarray(x, dtype=np.float64).ravel().tolist() for x in (eigenvalues, c)]
    return np.array(_native.rank_one_eigenvalues(*values, float(tau)))
