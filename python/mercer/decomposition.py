"""Kernel principal components in scikit-learn's spelling."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from mercer._data import Data, Matrix, Vector, count_of, threads_of
from mercer._kernel import KernelLike
from mercer._progress import Callback
from mercer.kernel_ridge import Pairwise

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["KernelPCA"]


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Pairwise):
    """Principal components in feature space; parameters and attributes of :class:`sklearn.decomposition.KernelPCA`.

    `eigen_solver`, `tol`, `max_iter`, `iterated_power` and `random_state` are accepted: mercer chooses between a whole
    decomposition and Krylov's method by the number of components.

    K̃ v = λ v, coordinates Σᵢ vᵢ κ̃(xᵢ, x) / √λ, where K̃ is centred.

    Source: B. Schölkopf & A. J. Smola, Learning with Kernels (2002), §14.2.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from mercer import KernelPCA
    >>> X, y = make_circles(100, factor=0.3, noise=0.05, random_state=0)
    >>> Z = KernelPCA(1, kernel="rbf", gamma=3.0).fit_transform(X)[:, 0]
    >>> bool((Z[y == 1] > 0).all() and (Z[y == 0] < 0).all())
    True
    """

    eigenvalues_: Vector
    eigenvectors_: Matrix
    X_fit_: Any

    _machine = "kernel_pca"

    def __init__(self, n_components: int | None = None, *, kernel: KernelLike = "linear",
                 gamma: float | None = None, degree: int = 3, coef0: float = 1,
                 kernel_params: dict[str, Any] | None = None, alpha: float = 1.0,
                 fit_inverse_transform: bool = False, eigen_solver: str = "auto", tol: float = 0,
                 max_iter: int | None = None, iterated_power: int | str = "auto",
                 remove_zero_eig: bool = False, random_state: Any = None, copy_X: bool = True,
                 n_jobs: int | None = None, callback: Callback | None = None) -> None:  # fmt: skip
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X: Data, y: Data = None) -> Self:
        """Learns the components."""
        self._fit(X)
        return self

    def fit_transform(self, X: Data, y: Data = None, **params: Any) -> Matrix:
        """The coordinates of the examples that the components are learned from."""
        return self._fit(X)

    def _fit(self, X):
        if self.fit_inverse_transform and self.kernel == "precomputed":
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        wanted = self.n_components
        if wanted is not None and (not isinstance(wanted, numbers.Integral) or wanted < 1):
            raise ValueError(f"The 'n_components' parameter of KernelPCA must be an int in the range [1, inf) or None. Got {wanted!r} instead.")
        X = self._check(X, reset=True, ensure_min_samples=2)
        self.X_fit_ = X
        n = count_of(X)
        count = n if wanted is None else min(int(wanted), n)
        self._learn(X, None, None, None, {"components": count})
        # α = v / √λ, so the coordinates v √λ of the training examples are α λ
        _, alpha = self._model.coefficients
        squares = np.array([self.report_[f"eigenvalue_{j + 1}"] for j in range(alpha.shape[1])])
        scores = np.zeros((n, alpha.shape[1]))
        scores[np.asarray(self._model.support)] = alpha * squares
        keep = np.arange(scores.shape[1])
        if wanted is None or self.remove_zero_eig:
            keep = keep[squares > 1e-12 * squares.max(initial=0.0)]
        # the entry of largest size of each eigenvector is positive, as in scikit-learn
        largest = scores[np.abs(scores[:, keep]).argmax(axis=0), keep]
        self._keep, self._signs = keep, np.where(largest < 0, -1.0, 1.0)
        # components beyond the rank are asked for and are zero
        self._beyond = 0 if wanted is None or self.remove_zero_eig else count - scores.shape[1]
        self.eigenvalues_ = np.pad(squares[keep], (0, self._beyond))
        scores = self._read(scores)
        root = np.sqrt(np.where(self.eigenvalues_ > 0, self.eigenvalues_, 1.0))
        self.eigenvectors_ = scores / root
        if self._own_kernel() is None:
            self.gamma_ = 1.0 / X.shape[1] if self.gamma is None else self.gamma
        if self.fit_inverse_transform:
            if not hasattr(X, "shape"):
                raise ValueError("Cannot fit_inverse_transform with examples that are no vectors.")
            self.X_transformed_fit_ = scores
            K = self._latent(scores)
            K[np.diag_indices_from(K)] += self.alpha
            dense = X.toarray() if hasattr(X, "toarray") else X
            self.dual_coef_ = np.linalg.solve(K, dense)
        return scores

    def transform(self, X: Data) -> Matrix:
        """The coordinates of new examples."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        return self._read(self._model.scores(self._columns(X), threads_of(self.n_jobs)))

    def _read(self, scores):
        return np.pad(scores[:, self._keep] * self._signs, ((0, 0), (0, self._beyond)))

    def _latent(self, Z, other=None):
        """Kernel values between coordinates, for the way back."""
        from mercer._native import matrix

        other = None if other is None else [("x", np.ascontiguousarray(other))]
        return matrix(self._formula(Z if other is None else other[0][1]), [("x", np.ascontiguousarray(Z))], other, 0, None)

    def inverse_transform(self, X: Data) -> Matrix:
        """Examples whose coordinates these are, by ridge regression."""
        if not self.fit_inverse_transform:
            raise NotFittedError("The fit_inverse_transform parameter was not set to True when instantiating and hence "
                                 "the inverse transform is not available.")  # fmt: skip
        return self._latent(np.asarray(X, dtype=np.float64), self.X_transformed_fit_) @ self.dual_coef_

    @property
    def _n_features_out(self):
        return self.eigenvalues_.shape[0]
