"""Geometry in feature space: what a kernel makes of data, before anything is learned."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from mercer import _native
from mercer._data import Data, Matrix, checked_views, has_views, is_frame, threads_of, views_of
from mercer._kernel import Kernel, kernel

__all__ = ["matrix_function", "measure", "repair"]


def measure(k: Kernel | str, X: Data, y: Data = None, *, ridge: float = 1.0, n_jobs: int | None = None) -> dict[str, Any]:
    """Norms, centre, spread, outliers, spectrum, rank and alignment of a kernel on data, by name.

    `spread` is the mean squared distance from the centre of mass, `centre_within` how far that centre is from the mean of the
    distribution at most, with probability 95 %; `effective_dimension` is Σ λ/(λ + ridge); `alignment` (with y) is the cosine
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
    formula = k if isinstance(k, Kernel) else kernel(k)
    if has_views(X) or is_frame(X) and any(name is not None for name, _ in _native.kernel_views(str(formula))):
        finite = "allow-nan" if _native.kernel_meets_gaps(str(formula)) else True
        X = checked_views(X, _native.kernel_views(str(formula)), finite)
    codes, classes = None, False
    if y is not None:
        classes = type_of_target(y) in ("binary", "multiclass")
        target = np.unique(np.asarray(y), return_inverse=True)[1] if classes else np.asarray(y)
        codes = np.ascontiguousarray(target, dtype=np.float64).ravel()
    return _native.measure(str(formula), views_of(X), codes, classes, float(ridge), threads_of(n_jobs))


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
