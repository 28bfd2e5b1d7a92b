"""Linear support vector machines in scikit-learn's spelling; users find them in `mercer.svm`."""

from __future__ import annotations

import inspect
import logging
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.svm._classes import LinearSVC as Theirs
from sklearn.utils import compute_class_weight
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mercer import _constraints as may
from mercer._base import Machine
from mercer._conformal import IntervalsMixin, RecipeLike, SetsMixin
from mercer._data import Array, Data, Matrix, Vector
from mercer._labels import encode, spell
from mercer._progress import Callback
from mercer._support import FAR, largest, roomy

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LinearSVC", "LinearSVR"]
log = logging.getLogger("mercer")


# scikit-learn's class counts weights of examples since some version, and their number before
_BY_WEIGHTS = "sample_weight" in inspect.signature(compute_class_weight).parameters


def class_weight_of(estimator, classes, y, weights):
    """The weight of each class, counted as scikit-learn's class of this name does."""
    weighs = _BY_WEIGHTS and isinstance(estimator, LinearSVC) and weights is not None
    return compute_class_weight(estimator.class_weight, classes=classes, y=y, **({"sample_weight": weights} if weighs else {}))


class _Linear(Machine):
    kernel = "linear"
    _drops_negative = True
    _spelling = {"c": "C"}

    def _formula(self, X):
        return "linear()"

    def _is_pairwise(self):
        return False

    def _settings(self):
        return {
            "c": float(self.C), "loss": self.loss, "tolerance": float(self.tol), "max_iterations": int(self.max_iter),
            "bias": bool(self.fit_intercept), "bias_scale": float(self.intercept_scaling),
        }  # fmt: skip

    def _told_by_model(self):
        told = super()._told_by_model()
        told["coef_"], told["intercept_"] = self._weights_of_model()
        return told

    def _check(self, X, reset, **more):
        return roomy(super()._check(X, reset, **more))

    def _learn(self, X, *more, **options):
        try:
            return super()._learn(X, *more, **options)
        except ValueError as error:
            if "is not finite" not in str(error) or largest(X) <= FAR:
                raise
            raise ValueError(f"The features are as large as {largest(X):.2g}, and products of them are not finite: "
                             "scale them first, with StandardScaler or MinMaxScaler") from None  # fmt: skip

    def _ended_early(self):
        if self.status_ != "iteration_limit":
            return super()._ended_early()
        # the words that warnings of scikit-learn's classes are filtered by
        return f"Liblinear failed to converge, increase the number of iterations. (mercer's solver, max_iter={self.max_iter})"


class LinearSVC(SetsMixin, LinearClassifierMixin, SparseCoefMixin, _Linear):
    """Linear support vector classification; parameters and attributes of :class:`sklearn.svm.LinearSVC`.

    min ½‖(w, b)‖² + C Σ max(0, 1 − y f(x))² (or its root, `loss="hinge"`), each class against the rest. Solved by Newton's
    method where coordinates are few and the loss is squared, else by coordinate descent in the dual.

    Unlike :class:`sklearn.svm.LinearSVC`, which weighs of each class against the rest the one class alone, this class weighs
    every example by its own class, the rest too: predictions of more than two classes differ where `class_weight` is given.
    :class:`SVC` weighs as scikit-learn's does.

    `penalty="l1"` and `multi_class="crammer_singer"` are learned by :class:`sklearn.svm.LinearSVC`, which the logger
    `mercer` tells; such a model has coefficients and predicts, but has no `report_`, certificates or model file.

    Source: C.-J. Hsieh et al., A Dual Coordinate Descent Method for Large-scale Linear SVM, ICML (2008).

    Parameters
    ----------
    penalty : {"l1", "l2"}, default="l2"
        Norm of the weights in the penalty. "l1" is learned by scikit-learn's own class.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        The loss.
    dual : bool or "auto", default="auto"
        Accepted, and changes nothing: mercer chooses by the number of coordinates. scikit-learn's own solver, where
        it learns, takes it.
    tol : float, default=1e-4
        Largest violation of the conditions of the optimum at which the solver ends.
    C : float, default=1.0
        What an error costs against the norm: a small C is a smooth function; infinity allows no error.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        Each class against the rest, or all at once; "crammer_singer" is learned by scikit-learn's own class.
    fit_intercept : bool, default=True
        Whether there is a constant.
    intercept_scaling : float, default=1
        Value of the coordinate that stands for the constant: the larger it is, the less the constant is penalised.
    class_weight : dict, "balanced" or None, default=None
        Factor of C for the examples of each class, also where they are the rest; "balanced" is n / (classes · size of
        the class), where `sample_weight` counts as with the installed scikit-learn; with `conformal` it does not.
    verbose : bool or int, default=0
        Whether a line on standard error follows the work.
    random_state : int, RandomState or None, default=None
        Accepted, and changes nothing: coordinates are visited in an order of their own. scikit-learn's own solver,
        where it learns, takes it.
    max_iter : int, default=1000
        Most passes over the examples; 0 takes none.
    n_jobs : int or None, default=None
        Threads; −1 is all cores, and None as many as one may use here: one in a worker of joblib.
    callback : callable or None, default=None
        A function of (phase, done, total, violation) that is called while the work runs; what it raises ends the
        fit.
    conformal : str, dict or None, default=None
        How sets of a proven coverage are learned for `predict_set`: "split", "cross", "jackknife" or a dict with
        `method`, `share`, `folds`, `mondrian`, `retrain`.

    Attributes
    ----------
    coef_ : ndarray or sparse matrix of shape (n_classes, n_features), or (1, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (n_classes,), or (1,); 0.0 without one
        Constants.
    classes_ : ndarray of shape (n_classes,)
        The classes that were learned.
    n_iter_ : int
        Passes of the solver.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where they are strings.
    status_ : str
        How the solver ended: "converged", "iteration_limit", "time_limit" or "interrupted".
    objective_ : float
        The value that was minimised.
    duality_gap_ : float or None
        How far the objective is from its optimum at most.
    report_ : dict
        What the solver tells: iterations, kernel evaluations, advice and more.

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
    _parameter_constraints: dict[str, list[Any]] = {**may.LINEAR, **may.LINEAR_CLASSES}

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
        why = self._left_to_scikit_learn()
        if why is not None:
            return self._learn_with_scikit_learn(why, X, y, sample_weight)
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
        if balanced and weights is not None and (np.bincount(codes, weights) > 0).all():
            # the library balances numbers of examples
            by_number = compute_class_weight("balanced", classes=self.classes_, y=y)
            weights = weights * (class_weight_of(self, self.classes_, y, weights) / by_number)[codes]
        self._learn(X, codes.astype(np.float64), spell(self.classes_), weights, settings, balanced=balanced)
        self.coef_, self.intercept_ = self._weights_of_model()
        return self

    def _weights_of_model(self):
        _, columns = self._model.coefficients
        sign = -1.0 if len(self.classes_) == 2 else 1.0
        return np.ascontiguousarray(sign * columns.T), sign * np.asarray(self._model.offsets) if self.fit_intercept else 0.0

    def _left_to_scikit_learn(self):
        """The setting that mercer's solvers do not have; None if they can learn."""
        for option, covered in (("penalty", "l2"), ("multi_class", "ovr")):
            if getattr(self, option) != covered:
                return f"{option}={getattr(self, option)!r}"
        return None

    def _is_called(self):
        # of what scikit-learn learns, Rust sees nothing
        return self._left_to_scikit_learn() is not None

    def _learn_with_scikit_learn(self, why, X, y, sample_weight):
        if self.conformal is not None:
            raise ValueError(f"LinearSVC({why}) is learned by scikit-learn, which has no conformal sets: leave one of them out")
        log.warning("LinearSVC(%s) is not covered by mercer: scikit-learn's is used", why)
        known = self.get_params(deep=False)
        theirs = Theirs(**{name: known[name] for name in Theirs._get_param_names()}).fit(X, y, sample_weight)
        for name in ("report_", "status_", "objective_", "duality_gap_", "feature_names_in_"):
            vars(self).pop(name, None)
        vars(self).update({name: value for name, value in vars(theirs).items() if name.endswith("_")})
        self._model = None
        return self

    def decision_function(self, X: Data) -> Matrix:
        """Scores: one for two classes, positive for the second, else one for each class."""
        if not hasattr(self, "coef_"):
            check_is_fitted(self)
        scores = np.asarray(safe_sparse_dot(self._check(X, reset=False), self.coef_.T, dense_output=True))
        scores = scores + self.intercept_
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Data) -> Array:
        """The class of each example."""
        scores = self.decision_function(X)
        if scores.ndim > 1:
            return self.classes_[scores.argmax(axis=1)]
        # a score of zero is the second class, as in model files and certificates; the first one with scikit-learn
        second = scores > 0 if getattr(self, "_model", None) is None else scores >= 0
        return self.classes_[second.astype(np.intp)]

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

    min ½‖(w, b)‖² + C Σ max(0, |y − ⟨w, x⟩ − b| − ε), by coordinate descent in the dual.

    Source: C.-H. Ho & C.-J. Lin, Large-scale Linear Support Vector Regression, JMLR 13 (2012).

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube: errors up to it cost nothing.
    tol : float, default=1e-4
        Largest violation of the conditions of the optimum at which the solver ends.
    C : float, default=1.0
        What an error costs against the norm: a small C is a smooth function; infinity allows no error.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss.
    fit_intercept : bool, default=True
        Whether there is a constant.
    intercept_scaling : float, default=1
        Value of the coordinate that stands for the constant: the larger it is, the less the constant is penalised.
    dual : bool or "auto", default="auto"
        Accepted, and changes nothing: mercer chooses by the number of coordinates. scikit-learn's own solver, where
        it learns, takes it.
    verbose : bool or int, default=0
        Whether a line on standard error follows the work.
    random_state : int, RandomState or None, default=None
        Accepted, and changes nothing: coordinates are visited in an order of their own. scikit-learn's own solver,
        where it learns, takes it.
    max_iter : int, default=1000
        Most passes over the examples; 0 takes none.
    n_jobs : int or None, default=None
        Threads; −1 is all cores, and None as many as one may use here: one in a worker of joblib.
    callback : callable or None, default=None
        A function of (phase, done, total, violation) that is called while the work runs; what it raises ends the
        fit.
    conformal : str, dict or None, default=None
        How intervals of a proven coverage are learned for `predict_interval`: "split", "cross", "jackknife" or a
        dict with `method`, `share`, `folds`, `retrain`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features.
    intercept_ : ndarray of shape (1,); 0.0 without one
        The constant.
    n_iter_ : int
        Passes of the solver.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where they are strings.
    status_ : str
        How the solver ended: "converged", "iteration_limit", "time_limit" or "interrupted".
    objective_ : float
        The value that was minimised.
    duality_gap_ : float or None
        How far the objective is from its optimum at most.
    report_ : dict
        What the solver tells: iterations, kernel evaluations, advice and more.

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
    _parameter_constraints: dict[str, list[Any]] = {**may.LINEAR, **may.LINEAR_NUMBERS}

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
        self.coef_, self.intercept_ = self._weights_of_model()
        return self

    def _weights_of_model(self):
        _, columns = self._model.coefficients
        return columns.ravel().copy(), np.asarray(self._model.offsets) if self.fit_intercept else 0.0

    def predict(self, X: Data) -> Array:
        """The number of each example."""
        if not hasattr(self, "coef_"):
            return self._scores(X).ravel()  # remembered, or not fitted
        scores = self._check(X, reset=False) @ self.coef_
        scores += self.intercept_
        return np.asarray(scores)
