"""Kernel principal components in scikit-learn's spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _check_psd_eigenvalues, check_is_fitted

from mercer import _constraints as may
from mercer import _native
from mercer._data import Array, Data, Vector, count_of, take, threads_of, views_of
from mercer._kernel import KernelLike
from mercer._progress import Callback
from mercer.kernel_ridge import Pairwise

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["KernelPCA"]


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Pairwise):
    """Principal components in feature space; parameters and attributes of :class:`sklearn.decomposition.KernelPCA`.

    K̃ v = λ v, coordinates Σᵢ vᵢ κ̃(xᵢ, x) / √λ, where K̃ is centred.

    Source: B. Schölkopf & A. J. Smola, Learning with Kernels (2002), §14.2.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components; None is all whose eigenvalue is not zero.
    kernel : str, Kernel or callable, default="linear"
        The kernel: a name of :func:`sklearn.metrics.pairwise.pairwise_kernels`, "precomputed" (X is the kernel
        matrix), a kernel of :mod:`mercer.kernels`, or a function of two examples that gives a number.
    gamma : float or None, default=None
        Width of "rbf", "poly", "sigmoid", "laplacian" and "chi2"; None is 1 / features, and 1 for "chi2".
    degree : float, default=3
        Degree of "poly"; one that is not whole, or zero, is computed through the matrix.
    coef0 : float, default=1
        Offset of "poly" and "sigmoid".
    kernel_params : dict or None, default=None
        Further arguments of a kernel that is a function.
    alpha : float, default=1.0
        The penalty of the ridge regression that learns the way back.
    fit_inverse_transform : bool, default=False
        Whether the way back is learned, for `inverse_transform`.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        Accepted, and changes nothing: mercer chooses by the number of components.
    tol : float, default=0
        Accepted, and changes nothing.
    max_iter : int or None, default=None
        Accepted, and changes nothing.
    iterated_power : int or "auto", default="auto"
        Accepted, and changes nothing.
    remove_zero_eig : bool, default=False
        Whether components whose eigenvalue is zero are left out although their number is given.
    random_state : int, RandomState or None, default=None
        Accepted, and changes nothing.
    copy_X : bool, default=True
        Accepted, and changes nothing: X is never written to.
    n_jobs : int or None, default=None
        Threads; −1 is all cores, and None as many as one may use here: one in a worker of joblib.
    callback : callable or None, default=None
        A function of (phase, done, total, violation) that is called while the work runs; what it raises ends the
        fit.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred matrix, the largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Its eigenvectors.
    gamma_ : float
        The width in use.
    dual_coef_ : ndarray of shape (n_samples, n_features)
        Coefficients of the way back; with `fit_inverse_transform` alone.
    X_transformed_fit_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training examples; with `fit_inverse_transform` alone.
    X_fit_ : ndarray or sparse matrix
        The training examples.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where they are strings.
    report_ : dict
        What the solver tells: iterations, kernel evaluations, advice and more.

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
    eigenvectors_: Array
    gamma_: float
    X_fit_: Any

    _machine = "kernel_pca"
    _parameter_constraints: dict[str, list[Any]] = {**may.PAIRWISE, **may.COMPONENTS}

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

    def fit_transform(self, X: Data, y: Data = None, **params: Any) -> Array:
        """The coordinates of the examples that the components are learned from."""
        return self._fit(X)

    if TYPE_CHECKING:

        def set_output(self, *, transform: str | None = None) -> Self:
            """Sets what `transform` gives: "default", "pandas" or "polars"."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _fit(self, X):
        self._validate()
        if self.fit_inverse_transform and self.kernel == "precomputed":
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        X = self._check(X, reset=True)
        wanted, n = self.n_components, count_of(X)
        self.X_fit_ = X
        if self._own_kernel() is None:
            self.gamma_ = 1.0 / X.shape[1] if self.gamma is None else self.gamma
        count = n if wanted is None else min(int(wanted), n)
        scores = self._components(X, count)
        # components beyond the rank are asked for and are zero
        self._beyond = 0 if wanted is None or self.remove_zero_eig else count - scores.shape[1]
        keep = np.arange(scores.shape[1])
        if wanted is None or self.remove_zero_eig:
            keep = keep[self.eigenvalues_ > 1e-12 * self.eigenvalues_.max(initial=0.0)]
        # the entry of largest size of each eigenvector is positive, as in scikit-learn
        largest = scores[np.abs(scores[:, keep]).argmax(axis=0), keep]
        self._keep, self._signs = keep, np.where(largest < 0, -1.0, 1.0)
        self.eigenvalues_ = np.pad(self.eigenvalues_[keep], (0, self._beyond))
        dtype = self._dtype_for(X)
        self.eigenvectors_ = self._vectors(self._read(scores), self.eigenvalues_).astype(dtype)
        scores = self._read(self._with_others(X, scores))
        self.eigenvalues_ = self.eigenvalues_.astype(dtype)
        if self.fit_inverse_transform:
            if not hasattr(X, "shape"):
                raise ValueError("Cannot fit_inverse_transform with examples that are no vectors.")
            self.X_transformed_fit_ = scores.astype(dtype)
            K = self._latent(scores)
            K[np.diag_indices_from(K)] += self.alpha
            dense = X.toarray() if hasattr(X, "toarray") else X
            self.dual_coef_ = np.linalg.solve(K, dense).astype(dtype)
        return scores.astype(dtype)

    def _components(self, X, count):
        """Coordinates of the training examples, a column for each eigenvalue that is not zero; those are kept."""
        n = count_of(X)
        try:
            self._learn(X if self.kernel != "precomputed" else symmetric(X), None, None, None, {"components": count})
        except ValueError:
            if not self._all_alike(X):
                raise
            # all examples are one point: there is no direction
            self._model, self.report_, self.eigenvalues_ = None, {}, np.zeros(0)
            return np.zeros((n, 0))
        self.eigenvalues_, scores = self._coordinates(n)
        unknown = self.kernel == "precomputed" or not self._known()
        if count > scores.shape[1] and (unknown or _native.kernel_definite(self._formula(X)) != "positive"):
            self._refuse_negative(X, count)
        return scores

    def _coordinates(self, n):
        """Eigenvalues, and the coordinates of the training examples."""
        # α = v / √λ, so the coordinates v √λ of the training examples are α λ
        _, alpha = self._model.coefficients
        report = self._model.report
        eigenvalues = np.array([report[f"eigenvalue_{j + 1}"] for j in range(alpha.shape[1])])
        scores = np.zeros((n, alpha.shape[1]))
        scores[np.asarray(self._model.support)] = alpha * eigenvalues
        return eigenvalues, scores

    def _with_others(self, X, scores):
        """The coordinates of all examples, of those included that the components were not learned from."""
        learned = None if self._model is None else self._model.learned_from
        others = [] if learned is None else np.setdiff1d(np.arange(len(scores)), learned)
        if len(others):
            scores = scores.copy()
            scores[others] = self._model.scores(self._columns(take(X, others)), threads_of(self.n_jobs))
        return scores

    @staticmethod
    def _vectors(scores, eigenvalues):
        return scores / np.sqrt(np.where(eigenvalues > 0, eigenvalues, 1.0))

    def _told_by_model(self):
        told = super()._told_by_model()
        examples = vars(self).get("X_fit_", told.get("X_fit_"))
        if examples is None:
            return told
        eigenvalues, scores = self._coordinates(count_of(examples))
        eigenvalues = np.pad(eigenvalues[self._keep], (0, self._beyond))
        told["eigenvectors_"] = self._vectors(self._read(scores), eigenvalues)
        told["eigenvalues_"] = eigenvalues
        return told

    def _centred(self, X):
        K = symmetric(np.asarray(self._matrix(X), dtype=np.float64))
        rows = K.mean(axis=0)
        return K - rows - rows[:, None] + rows.mean(), np.abs(K).max(initial=0.0)

    def _all_alike(self, X):
        """Whether all examples are one point in feature space."""
        try:
            centred, size = self._centred(X)
        except ValueError:
            return False
        return bool(np.isfinite(size)) and np.abs(centred).max() <= 1e-13 * size

    def _refuse_negative(self, X, count):
        """Refuses a matrix of whose components that are asked for one has an eigenvalue far below zero."""
        centred, _ = self._centred(X)
        # the sum of all eigenvalues is the trace: where it is that of the positive ones, the others are zero
        if np.trace(centred) > (1 - 1e-6) * self.eigenvalues_.sum():
            return
        values = scipy.linalg.eigvalsh(centred, subset_by_index=(len(centred) - count, len(centred) - 1))
        _check_psd_eigenvalues(values, enable_warnings=False)

    def transform(self, X: Data) -> Array:
        """The coordinates of new examples."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        if getattr(self, "_model", None) is None:
            return np.zeros((count_of(X), self._n_features_out), dtype=self._dtype_for(X))
        return self._read(self._model.scores(self._columns(X), threads_of(self.n_jobs))).astype(self._dtype_for(X))

    def _read(self, scores):
        return np.pad(scores[:, self._keep] * self._signs, ((0, 0), (0, self._beyond)))

    def _dtype_for(self, X):
        """Single precision for examples in single precision that were learned from such, else double."""
        dtypes = [getattr(Z, "dtype", None) for Z in (X, self.X_fit_)]
        return np.float32 if dtypes == [np.dtype(np.float32)] * 2 else np.float64

    def _latent(self, Z, other=None):
        """Kernel values between coordinates, for the way back; with the width of the examples, not of their coordinates."""
        Z = np.ascontiguousarray(Z)
        if not self._known():
            return self._products(Z, Z if other is None else other)
        columns = None if other is None else views_of(np.ascontiguousarray(other))
        return _native.matrix(self._formula(self.X_fit_), views_of(Z), columns, threads_of(self.n_jobs), None)

    def inverse_transform(self, X: Data) -> Array:
        """Examples whose coordinates these are, by ridge regression."""
        if not self.fit_inverse_transform:
            raise NotFittedError("The fit_inverse_transform parameter was not set to True when instantiating and hence "
                                 "the inverse transform is not available.")  # fmt: skip
        found = self._latent(np.asarray(X, dtype=np.float64), self.X_transformed_fit_) @ self.dual_coef_
        return found.astype(self._dtype_for(X))

    @property
    def _n_features_out(self):
        return self.eigenvalues_.shape[0]


def symmetric(K):
    """The symmetric part of a matrix, which is all that components are taken of."""
    return K if (K == K.T).all() else (K + K.T) / 2
