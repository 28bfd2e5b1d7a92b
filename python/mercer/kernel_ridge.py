"""Kernel ridge regression in scikit-learn's spelling."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from mercer import _constraints as may
from mercer import _native
from mercer._base import Machine, formula_of, has_formula
from mercer._conformal import IntervalsMixin, RecipeLike
from mercer._data import Array, Data, count_of, threads_of, views_of
from mercer._kernel import Kernel, KernelLike
from mercer._progress import Callback

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["KernelRidge"]


class Pairwise(Machine):
    """What KernelRidge and KernelPCA share: kernels of `sklearn.metrics.pairwise`, of which mercer knows most itself."""

    _examples_of_model = "X_fit_"

    def _known(self):
        if isinstance(self.kernel, Kernel) or self.kernel == "precomputed":
            return True
        width = "scale" if self.gamma is None else self.gamma
        return isinstance(self.kernel, str) and has_formula(self.kernel, width, self.degree, self.coef0)

    def _formula(self, X):
        if isinstance(self.kernel, Kernel):
            return str(self.kernel)
        if self.kernel == "precomputed" or not self._known():
            return "precomputed()"
        gamma = 1.0 / X.shape[1] if self.gamma is None else float(self.gamma)
        if self.kernel == "chi2" and self.gamma is None:
            gamma = 1.0
        return formula_of(self.kernel, gamma, self.degree, self.coef0)

    def _products(self, X, Y):
        if callable(self.kernel):
            return pairwise_kernels(X, Y, metric=self.kernel, **(self.kernel_params or {}))
        return pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, gamma=getattr(self, "gamma_", self.gamma),
                                degree=self.degree, coef0=self.coef0)  # fmt: skip

    def _is_called(self):
        return not self._known()

    def _columns(self, X):
        return views_of(np.ascontiguousarray(self._products(X, self.X_fit_)) if self._was_called() else X)

    def _matrix(self, X, Y=None):
        """All kernel values between X and Y, or among X."""
        if self.kernel == "precomputed":
            return X
        if not self._known():
            return np.ascontiguousarray(self._products(X, X if Y is None else Y))
        other = None if Y is None else views_of(Y)
        return _native.matrix(self._formula(X if Y is None else Y), views_of(X), other, threads_of(self.n_jobs), None)


class KernelRidge(IntervalsMixin, MultiOutputMixin, RegressorMixin, Pairwise):
    """Least squares with a penalty on the norm; parameters and attributes of :class:`sklearn.kernel_ridge.KernelRidge`.

    min ½ Σ (y − f(x))² + ½ λ ‖f‖², α = (K + λ1)⁻¹ y. The exact leave-one-out error is ``report_["loo_rmse"]`` for up to 1000
    examples.

    Source: J. Shawe-Taylor & N. Cristianini, Kernel Methods for Pattern Analysis (2004), §2.2.2.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1
        The penalty λ; an array has one for each target.
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
    n_jobs : int or None, default=None
        Threads; −1 is all cores, and None as many as one may use here: one in a worker of joblib.
    callback : callable or None, default=None
        A function of (phase, done, total, violation) that is called while the work runs; what it raises ends the
        fit.
    conformal : str, dict or None, default=None
        How intervals of a proven coverage are learned for `predict_interval`: "split", "cross", "jackknife", "full"
        or a dict with `method`, `share`, `folds`, `retrain`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Coefficients of the training examples.
    X_fit_ : ndarray or sparse matrix
        The training examples, which predictions need.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where they are strings.
    report_ : dict
        What the solver tells: iterations, kernel evaluations, advice and more.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer import KernelRidge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelRidge(alpha=0.5, kernel="rbf", gamma=1.0).fit(X, y - y.mean())
    >>> round(model.score(X, y - y.mean()), 2), round(model.report_["loo_rmse"])
    (0.51, 55)
    """

    X_fit_: Any
    dual_coef_: Array

    _machine = "ridge"
    _spelling = {"lambda": "alpha"}
    _parameter_constraints: dict[str, list[Any]] = {**may.PAIRWISE, **may.RIDGE}

    def __init__(self, alpha: Any = 1, *, kernel: KernelLike = "linear", gamma: float | None = None,
                 degree: int = 3, coef0: float = 1, kernel_params: dict[str, Any] | None = None,
                 n_jobs: int | None = None, callback: Callback | None = None,
                 conformal: RecipeLike = None) -> None:  # fmt: skip
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs
        self.callback = callback
        self.conformal = conformal

    def _settings(self):
        penalty = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        return {"lambda": float(penalty[0]) if len(penalty) == 1 else penalty.tolist()}

    def _validate(self):
        super()._validate()
        if (np.asarray(self.alpha, dtype=np.float64) < 0).any():
            raise ValueError(f"The 'alpha' parameter of KernelRidge must be a float in the range [0, inf). Got {self.alpha!r} instead.")

    def _remember(self, model, y):
        super()._remember(model, y)
        self.dual_coef_ = np.empty((0,) * y.ndim)

    def _several(self):
        return self.dual_coef_.ndim > 1

    def fit(self, X: Data, y: Data, sample_weight: Data = None) -> Self:
        """Learns from examples and their numbers, one or several for each."""
        self._validate()
        X, y = self._check(X, reset=True, y=y, multi_output=True, y_numeric=True)
        flat, y = y.ndim == 1, np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        penalty = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        self.X_fit_ = X
        weights = self._weights(sample_weight, X)
        if len(penalty) not in (1, y.shape[1]):
            raise ValueError(f"Number of targets and number of penalties do not correspond: {len(penalty)} != {y.shape[1]}")
        if weights is None and (penalty > 0).all():
            try:
                self._learn(X, np.ascontiguousarray(y), None, None, self._settings())
            except ValueError as error:
                if "is not positive definite" not in str(error) or self.conformal is not None:
                    raise
                # the words of scikit-learn's class
                warnings.warn("Singular matrix in solving dual problem. Using least-squares solution instead.", stacklevel=2)
                dual = self._by_hand(self._matrix(X), y, penalty, None)
                self.dual_coef_ = dual.ravel() if flat else dual
                return self
            form, numbers = self._model.coefficients
            if form == "primal":
                # (K + λ1)α = y, so α is what is left of y over λ; examples that were set aside have none
                dual = (y - self._model.scores(self._columns(X), threads_of(self.n_jobs))) / penalty
                learned = self._model.learned_from
                if learned is not None:
                    dual[np.setdiff1d(np.arange(len(y)), learned)] = 0.0
            else:
                dual = self._spread(numbers, len(y))
        else:
            if self.conformal is not None:
                raise ValueError("conformal needs alpha > 0 and no sample_weight; leave it out, or calibrate another model")
            dual = self._by_hand(self._matrix(X), y, penalty, weights)
        self.dual_coef_ = dual.ravel() if flat else dual
        return self

    def _spread(self, numbers, count):
        """The coefficients of all examples, of those that have some."""
        dual = np.zeros((count, numbers.shape[1]))
        dual[np.asarray(self._model.support)] = numbers
        return dual

    def _told_by_model(self):
        told = super()._told_by_model()
        form, numbers = self._model.coefficients
        examples = vars(self).get("X_fit_", told.get("X_fit_"))
        if form == "dual" and examples is not None:
            dual = self._spread(numbers, count_of(examples))
            # one column of targets may also have been given as a table: then the pickle has it
            told["dual_coef_"] = dual.ravel() if dual.shape[1] == 1 else dual
        return told

    def _by_hand(self, K, y, penalty, weights):
        """Weights, or no penalty at all: the matrix is scaled before it is solved."""
        root = np.ones(len(y)) if weights is None else np.sqrt(weights)
        K, y = K * np.outer(root, root), y * root[:, None]
        penalty = np.broadcast_to(penalty, (y.shape[1],))
        columns = []
        for k, level in enumerate(penalty):
            A = K + level * np.eye(len(y))
            try:
                columns.append(np.linalg.solve(A, y[:, k]))
            except np.linalg.LinAlgError:
                columns.append(np.linalg.lstsq(A, y[:, k], rcond=None)[0])
        self._model = None
        return np.stack(columns, axis=1) * root[:, None]

    def predict(self, X: Data) -> Array:
        """The numbers of each example."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        if getattr(self, "_model", None) is None:
            return self._matrix(X, self.X_fit_) @ self.dual_coef_
        scores = self._model.scores(self._columns(X), threads_of(self.n_jobs))
        return scores.ravel() if self.dual_coef_.ndim == 1 else scores
