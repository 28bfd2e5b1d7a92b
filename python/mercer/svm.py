"""Support vector machines in scikit-learn's spelling: change the import line, keep the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mercer._base import Detector, Machine, SupportMachine, encode, spell
from mercer._conformal import IntervalsMixin, RecipeLike, SetsMixin
from mercer._data import Array, Data, Matrix, Vector, count_of, threads_of
from mercer._kernel import KernelLike
from mercer._progress import Callback

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["SVC", "SVR", "LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM"]


def _has_probability(self):
    if not self.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class _Classifier(SetsMixin, ClassifierMixin, SupportMachine):
    # whether the machine can weigh classes by the examples that a fit sees
    _balances_within = True
    classes_: Array
    class_weight_: Vector
    n_iter_: npt.NDArray[np.int32]

    def fit(self, X: Data, y: Data, sample_weight: Data = None) -> Self:
        """Learns from examples and their classes."""
        self._validate()
        X, y = self._check(X, reset=True, y=y)
        self.classes_, self._codes = encode(y)
        k = len(self.classes_)
        if k < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {k} class")
        weights = self._weights(sample_weight, X)
        self.class_weight_ = np.ones(k)
        if self.class_weight is not None:
            self.class_weight_ = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        if weights is not None:
            present = np.unique(self._codes[weights > 0])
            if len(present) < k:
                raise ValueError("Invalid input - all samples with positive weights belong to the same class."
                                 if len(present) == 1 else
                                 "Invalid input - a class has no samples with positive weights.")  # fmt: skip
        settings, own = self._settings(), self._own_balance()
        if own:
            settings["class_weight"] = "balanced"
        elif not self._balances() and (self.class_weight_ != 1).any():
            weights = (1.0 if weights is None else weights) * self.class_weight_[self._codes]
        calibration = {"probabilities": "platt"} if self.probability else {}
        seed = {"seed": int(self.random_state)} if isinstance(self.random_state, (int, np.integer)) else {}
        codes = self._codes.astype(np.float64)
        balanced = {"balanced": self._balances() and not own}
        self._learn(X, codes, spell(self.classes_), weights, settings, **calibration, **seed, **balanced)
        self._keep_support(X)
        self._sparse, self.shape_fit_ = sp.issparse(X), getattr(X, "shape", (len(self._codes),))
        return self

    def _own_balance(self):
        """Whether every fit has to count its classes itself: examples that are held out must have no say."""
        own = self.conformal is not None and self._balances()
        if own and not self._balances_within:
            raise ValueError("NuSVC cannot balance classes without those that conformal holds out; give class_weight as a dict.")
        return own

    def _steps(self, report):
        # one number for each pair of classes
        return np.asarray(report["iterations_of_each"] or [report["iterations"]], dtype=np.int32)

    def decision_function(self, X: Data) -> Matrix:
        """Scores: one for two classes, else one for each class (`ovr`) or each pair of them (`ovo`)."""
        scores = self._scores(X)
        if len(self.classes_) == 2:
            return -scores.ravel()
        if self.decision_function_shape == "ovr":
            return _ovr_decision_function(scores < 0, -scores, len(self.classes_))
        return scores

    def predict(self, X: Data) -> Array:
        """The class of each example."""
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        if self.break_ties and self.decision_function_shape == "ovr" and len(self.classes_) > 2:
            return self.classes_[np.argmax(self.decision_function(X), axis=1)]
        return self._labels_of(X)

    @available_if(_has_probability)
    def predict_proba(self, X: Data) -> Matrix:
        """The probability of each class; the largest is that of `predict`."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        return self._model.probabilities(self._columns(X), threads_of(self.n_jobs))

    @available_if(_has_probability)
    def predict_log_proba(self, X: Data) -> Matrix:
        """The logarithm of the probability of each class."""
        return np.log(self.predict_proba(X))

    def _linear_weights(self):
        if len(self.classes_) == 2:
            return self.dual_coef_ @ self.support_vectors_
        # one weight vector for each pair of classes, as LIBSVM orders them
        dual, ends = self.dual_coef_, np.concatenate([[0], np.cumsum(self.n_support_)])
        rows, k = [], len(self.classes_)
        for a in range(k):
            for b in range(a + 1, k):
                of_a, of_b = slice(ends[a], ends[a + 1]), slice(ends[b], ends[b + 1])
                rows.append(dual[b - 1, of_a] @ self.support_vectors_[of_a] + dual[a, of_b] @ self.support_vectors_[of_b])
        return sp.vstack(rows).tocsr() if sp.issparse(rows[0]) else np.vstack(rows)


class SVC(_Classifier):
    """C-support vector classification.

    min ½‖w‖² + C Σ max(0, 1 − y f(x)), pairs of classes against each other; parameters and attributes are those of
    :class:`sklearn.svm.SVC`. The solver always shrinks: `shrinking` is accepted and changes nothing. `verbose` shows progress.

    Beyond them: ``n_jobs`` (None: all cores), ``max_seconds``, ``callback(phase, done, total, violation)``, ``conformal`` ("split",
    "cross", "jackknife" or a dict with `method`, `share`, `folds`, `mondrian`, `retrain`: `predict_set` has a proven coverage); a
    kernel may be a mercer kernel; after fitting ``objective_``, ``duality_gap_``, ``status_`` and ``report_``.

    Source: C.-C. Chang & C.-J. Lin, LIBSVM: A Library for Support Vector Machines (2011), §2.1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(SVC(C=10, gamma=0.1).fit(X, y).score(X, y), 3)
    0.987
    """

    _machine = "svc"

    def __init__(self, *, C: float = 1.0, kernel: KernelLike = "rbf", degree: int = 3,
                 gamma: float | str = "scale", coef0: float = 0.0, shrinking: bool = True,
                 probability: bool = False, tol: float = 1e-3, cache_size: float = 200,
                 class_weight: dict[Any, float] | str | None = None, verbose: bool | int = False,
                 max_iter: int = -1, decision_function_shape: str = "ovr", break_ties: bool = False,
                 random_state: Any = None, n_jobs: int | None = None, max_seconds: float | None = None,
                 callback: Callback | None = None, conformal: RecipeLike = None) -> None:  # fmt: skip
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_seconds = max_seconds
        self.callback = callback
        self.conformal = conformal

    def _settings(self):
        return {"c": float(self.C), **super()._settings()}


class NuSVC(_Classifier):
    """Support vector classification with a share of errors; parameters and attributes of :class:`sklearn.svm.NuSVC`.

    min ½‖w‖² − ν m ρ + Σ max(0, ρ − y f(x)): ν is at least the share of margin errors and at most the share of support
    vectors. Where classes overlap by more than ν there is no margin; ``report_["advice"]`` says so.

    Source: C.-C. Chang & C.-J. Lin, LIBSVM: A Library for Support Vector Machines (2011), §2.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import NuSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NuSVC(nu=0.2).fit(X, y)
    >>> round(model.score(X, y), 3), len(model.support_) / len(y) > 0.2
    (0.993, True)
    """

    _machine = "nu_svc"
    _balances_within = False

    def __init__(self, *, nu: float = 0.5, kernel: KernelLike = "rbf", degree: int = 3,
                 gamma: float | str = "scale", coef0: float = 0.0, shrinking: bool = True,
                 probability: bool = False, tol: float = 1e-3, cache_size: float = 200,
                 class_weight: dict[Any, float] | str | None = None, verbose: bool | int = False,
                 max_iter: int = -1, decision_function_shape: str = "ovr", break_ties: bool = False,
                 random_state: Any = None, n_jobs: int | None = None, max_seconds: float | None = None,
                 callback: Callback | None = None, conformal: RecipeLike = None) -> None:  # fmt: skip
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_seconds = max_seconds
        self.callback = callback
        self.conformal = conformal

    def _settings(self):
        return {"nu": float(self.nu), **super()._settings()}


class _Regressor(IntervalsMixin, RegressorMixin, SupportMachine):
    n_iter_: int

    def fit(self, X: Data, y: Data, sample_weight: Data = None) -> Self:
        """Learns from examples and their numbers."""
        self._validate()
        X, y = self._check(X, reset=True, y=y, y_numeric=True)
        y = column_or_1d(y, warn=True).astype(np.float64)
        weights = self._weights(sample_weight, X)
        self._learn(X, np.ascontiguousarray(y.reshape(-1, 1)), None, weights, self._settings())
        self._keep_support(X)
        self.shape_fit_ = getattr(X, "shape", (count_of(X),))
        return self

    def predict(self, X: Data) -> Array:
        """The number of each example."""
        return self._scores(X).ravel()


class SVR(_Regressor):
    """Support vector regression with a tube of width ε; parameters and attributes of :class:`sklearn.svm.SVR`.

    min ½‖w‖² + C Σ max(0, |y − f(x)| − ε)

    Source: C.-C. Chang & C.-J. Lin, LIBSVM: A Library for Support Vector Machines (2011), §2.4.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR
    >>> x = np.linspace(0, 6, 50)[:, None]
    >>> model = SVR(C=10, epsilon=0.01, gamma=1.0).fit(x, np.sin(x).ravel())
    >>> bool(np.abs(model.predict(x) - np.sin(x).ravel()).max() < 0.02)
    True
    """

    _machine = "svr"

    def __init__(self, *, kernel: KernelLike = "rbf", degree: int = 3, gamma: float | str = "scale",
                 coef0: float = 0.0, tol: float = 1e-3, C: float = 1.0, epsilon: float = 0.1,
                 shrinking: bool = True, cache_size: float = 200, verbose: bool | int = False,
                 max_iter: int = -1, n_jobs: int | None = None, max_seconds: float | None = None,
                 callback: Callback | None = None, conformal: RecipeLike = None) -> None:  # fmt: skip
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.max_seconds = max_seconds
        self.callback = callback
        self.conformal = conformal

    def _settings(self):
        return {"c": float(self.C), "epsilon": float(self.epsilon), **super()._settings()}


class NuSVR(_Regressor):
    """Support vector regression whose tube finds its own width; parameters and attributes of :class:`sklearn.svm.NuSVR`.

    min ½‖w‖² + C (ν m ε + Σ max(0, |y − f(x)| − ε)) over w, b and ε; at most a share ν of the examples is outside the tube.

    Source: C.-C. Chang & C.-J. Lin, LIBSVM: A Library for Support Vector Machines (2011), §2.5.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVR
    >>> x = np.linspace(0, 6, 50)[:, None]
    >>> y = np.sin(x).ravel() + np.random.default_rng(0).normal(0, 0.1, 50)
    >>> model = NuSVR(nu=0.3, C=10, gamma=1.0).fit(x, y)
    >>> round(model.report_["epsilon"], 2)
    0.08
    """

    _machine = "nu_svr"

    def __init__(self, *, nu: float = 0.5, C: float = 1.0, kernel: KernelLike = "rbf", degree: int = 3,
                 gamma: float | str = "scale", coef0: float = 0.0, shrinking: bool = True,
                 tol: float = 1e-3, cache_size: float = 200, verbose: bool | int = False,
                 max_iter: int = -1, n_jobs: int | None = None, max_seconds: float | None = None,
                 callback: Callback | None = None, conformal: RecipeLike = None) -> None:  # fmt: skip
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.max_seconds = max_seconds
        self.callback = callback
        self.conformal = conformal

    def _settings(self):
        return {"c": float(self.C), "nu": float(self.nu), **super()._settings()}


class OneClassSVM(Detector, SupportMachine):
    """Where the data are; parameters and attributes of :class:`sklearn.svm.OneClassSVM`.

    min ½‖w‖² − ρ + 1/(ν m) Σ max(0, ρ − ⟨w, φ(x)⟩): at most a share ν of the examples is left outside.

    Source: B. Schölkopf & A. J. Smola, Learning with Kernels (2002), §8.3.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OneClassSVM
    >>> usual = np.random.default_rng(0).normal(size=(100, 2))
    >>> OneClassSVM(nu=0.1, gamma=0.1).fit(usual).predict([[0.0, 0.0], [6.0, 6.0]]).tolist()
    [1, -1]
    """

    n_iter_: int

    _machine = "one_class"

    def __init__(self, *, kernel: KernelLike = "rbf", degree: int = 3, gamma: float | str = "scale",
                 coef0: float = 0.0, tol: float = 1e-3, nu: float = 0.5, shrinking: bool = True,
                 cache_size: float = 200, verbose: bool | int = False, max_iter: int = -1,
                 n_jobs: int | None = None, max_seconds: float | None = None,
                 callback: Callback | None = None, conformal: RecipeLike = None) -> None:  # fmt: skip
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.max_seconds = max_seconds
        self.callback = callback
        self.conformal = conformal

    def _settings(self):
        return {"nu": float(self.nu), **super()._settings()}

    def fit(self, X: Data, y: Data = None, sample_weight: Data = None) -> Self:
        """Learns where the examples are."""
        self._validate()
        X = self._check(X, reset=True)
        weights = self._weights(sample_weight, X)
        self._learn(X, None, None, weights, self._settings())
        self._keep_support(X)
        self.offset_ = -self.intercept_
        self.shape_fit_ = getattr(X, "shape", (count_of(X),))
        return self


class _Linear(Machine):
    kernel = "linear"

    def _formula(self, X):
        return "linear()"

    def _is_pairwise(self):
        return False

    def _settings(self):
        return {
            "c": float(self.C), "loss": self.loss, "tolerance": float(self.tol), "max_iterations": int(self.max_iter),
            "bias": bool(self.fit_intercept), "bias_scale": float(self.intercept_scaling),
        }  # fmt: skip

    def _validate(self):
        for name in ("C", "tol"):
            value = getattr(self, name)
            if not value > 0:
                raise ValueError(f"The {name!r} parameter of {type(self).__name__} must be a float in the range (0, inf). Got {value!r} instead.")


class LinearSVC(SetsMixin, LinearClassifierMixin, _Linear):
    """Linear support vector classification; parameters and attributes of :class:`sklearn.svm.LinearSVC`.

    min ½‖(w, b)‖² + C Σ max(0, 1 − y f(x))² (or its root, `loss="hinge"`), each class against the rest. Solved by Newton's
    method where coordinates are few and the loss is squared, else by coordinate descent in the dual, whatever `dual` says
    and in an order of its own: `random_state` changes nothing. `penalty="l1"` and `multi_class="crammer_singer"` are not
    covered.

    Source: C.-J. Hsieh et al., A Dual Coordinate Descent Method for Large-scale Linear SVM, ICML (2008).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> LinearSVC(max_iter=10000).fit(X, y).score(X, y) > 0.95
    True
    """

    classes_: Array
    coef_: Matrix
    intercept_: Any

    _machine = "linear_svc"

    def __init__(self, penalty: str = "l2", loss: str = "squared_hinge", *, dual: bool | str = "auto",
                 tol: float = 1e-4, C: float = 1.0, multi_class: str = "ovr", fit_intercept: bool = True,
                 intercept_scaling: float = 1, class_weight: dict[Any, float] | str | None = None,
                 verbose: bool | int = 0, random_state: Any = None, max_iter: int = 1000,
                 n_jobs: int | None = None, callback: Callback | None = None, conformal: RecipeLike = None) -> None:  # fmt: skip
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.callback = callback
        self.conformal = conformal

    def fit(self, X: Data, y: Data, sample_weight: Data = None) -> Self:
        """Learns from examples and their classes."""
        self._validate()
        if self.penalty != "l2" or self.multi_class != "ovr":
            raise ValueError("mercer's LinearSVC has penalty='l2' and multi_class='ovr' only")
        X, y = self._check(X, reset=True, y=y)
        self.classes_, codes = encode(y)
        k = len(self.classes_)
        if k < 2:
            raise ValueError(f"This solver needs samples of at least 2 classes in the data, but the data contains only one class: {self.classes_[0]!r}")
        weights = self._weights(sample_weight, X)
        settings = self._settings()
        if self.conformal is not None and self._balances():
            # examples that are held out must have no say: every fit counts its classes itself
            settings["class_weight"] = "balanced"
        elif self.class_weight is not None and not self._balances():
            factors = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
            weights = (1.0 if weights is None else weights) * factors[codes]
        balanced = self._balances() and "class_weight" not in settings
        self._learn(X, codes.astype(np.float64), spell(self.classes_), weights, settings, balanced=balanced)
        k = len(self.classes_)
        _, columns = self._model.coefficients
        sign = -1.0 if k == 2 else 1.0
        self.coef_ = np.ascontiguousarray(sign * columns.T)
        self.intercept_ = sign * np.asarray(self._model.offsets) if self.fit_intercept else 0.0
        return self

    def decision_function(self, X: Data) -> Matrix:
        """Scores: one for two classes, positive for the second, else one for each class."""
        if not hasattr(self, "coef_"):
            check_is_fitted(self)
        scores = self._check(X, reset=False) @ self.coef_.T
        scores += self.intercept_
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Data) -> Array:
        """The class of each example."""
        scores = self.decision_function(X)
        # a score of zero is the second class, as in model files and certificates
        return self.classes_[(scores >= 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    def _remember(self, model, y):
        super()._remember(model, y)

        # there are no weights to multiply with
        def decision_function(X: Data) -> Matrix:
            scores = model.scores()
            return -scores.ravel() if len(self.classes_) == 2 else scores

        def predict(X: Data) -> Array:
            return self.classes_[model.codes()]

        self.decision_function, self.predict = decision_function, predict


class LinearSVR(IntervalsMixin, RegressorMixin, _Linear):
    """Linear support vector regression; parameters and attributes of :class:`sklearn.svm.LinearSVR`.

    min ½‖(w, b)‖² + C Σ max(0, |y − ⟨w, x⟩ − b| − ε), by coordinate descent in the dual whatever `dual` says.

    Source: C.-H. Ho & C.-J. Lin, Large-scale Linear Support Vector Regression, JMLR 13 (2012).

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from mercer import LinearSVR
    >>> X, y = make_regression(100, 3, random_state=0)
    >>> LinearSVR(C=100, max_iter=10000).fit(X, y).score(X, y) > 0.999
    True
    """

    coef_: Vector
    intercept_: Any

    _machine = "linear_svr"

    def __init__(self, *, epsilon: float = 0.0, tol: float = 1e-4, C: float = 1.0,
                 loss: str = "epsilon_insensitive", fit_intercept: bool = True,
                 intercept_scaling: float = 1.0, dual: bool | str = "auto", verbose: bool | int = 0,
                 random_state: Any = None, max_iter: int = 1000, n_jobs: int | None = None,
                 callback: Callback | None = None, conformal: RecipeLike = None) -> None:  # fmt: skip
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.callback = callback
        self.conformal = conformal

    def _settings(self):
        return {**super()._settings(), "epsilon": float(self.epsilon)}

    def fit(self, X: Data, y: Data, sample_weight: Data = None) -> Self:
        """Learns from examples and their numbers."""
        self._validate()
        X, y = self._check(X, reset=True, y=y, y_numeric=True)
        y = column_or_1d(y, warn=True).astype(np.float64)
        weights = self._weights(sample_weight, X)
        self._learn(X, np.ascontiguousarray(y.reshape(-1, 1)), None, weights, self._settings())
        _, columns = self._model.coefficients
        self.coef_ = columns.ravel().copy()
        self.intercept_ = np.asarray(self._model.offsets) if self.fit_intercept else 0.0
        return self

    def predict(self, X: Data) -> Array:
        """The number of each example."""
        if not hasattr(self, "coef_"):
            return self._scores(X).ravel()  # remembered, or not fitted
        scores = self._check(X, reset=False) @ self.coef_
        scores += self.intercept_
        return np.asarray(scores)
