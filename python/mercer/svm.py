"""Support vector machines in scikit-learn's spelling: change the import line, keep the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mercer import _constraints as may
from mercer._base import Detector
from mercer._conformal import RecipeLike
from mercer._data import Data
from mercer._kernel import KernelLike
from mercer._linear import LinearSVC, LinearSVR
from mercer._progress import Callback
from mercer._support import Classifier, Regressor, SupportMachine

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["SVC", "SVR", "LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM"]


class SVC(Classifier):
    """C-support vector classification.

    min ½‖w‖² + C Σ max(0, 1 − y f(x)), pairs of classes against each other. Parameters and attributes are those of
    :class:`sklearn.svm.SVC`, and a few more.

    Source: C.-C. Chang & C.-J. Lin, LIBSVM: A Library for Support Vector Machines (2011), §2.1.

    Parameters
    ----------
    C : float, default=1.0
        What an error costs against the norm: a small C is a smooth function; infinity allows no error.
    kernel : str, Kernel or callable, default="rbf"
        The kernel: "linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "precomputed" (X is the
        kernel matrix), a kernel of :mod:`mercer.kernels`, or a function of two sets of examples that gives their
        matrix.
    degree : int, default=3
        Degree of "poly"; other kernels have none.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of "rbf", "poly", "sigmoid", "laplacian" and "chi2": a number, 1 / (features · variance) for "scale",
        or 1 / features for "auto".
    coef0 : float, default=0.0
        Offset of "poly" and "sigmoid".
    shrinking : bool, default=True
        Accepted, and changes nothing: the solver always shrinks.
    probability : bool, default=False
        Whether `predict_proba` is learned, from scores of examples that fits have not seen. "deprecated", which
        scikit-learn 1.9 has by default, is no.
    tol : float, default=1e-3
        Largest violation of the conditions of the optimum at which the solver ends.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    class_weight : dict, "balanced" or None, default=None
        Factor of C for each class; "balanced" is n / (classes · size of the class).
    verbose : bool or int, default=False
        Whether a line on standard error follows the work.
    max_iter : int, default=-1
        Most iterations of the solver; −1 is no limit, and 0 takes none.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether `decision_function` has one column for each class or one for each pair of classes; of two classes it
        is always one.
    break_ties : bool, default=False
        Whether `predict` follows `decision_function` where pairs of classes are even; for "ovr" and more than two
        classes.
    random_state : int, RandomState or None, default=None
        Seed of the folds that probabilities are learned from; None is always the same one.
    n_jobs : int or None, default=None
        Threads; −1 is all cores, and None as many as one may use here: one in a worker of joblib.
    max_seconds : float or None, default=None
        Time after which the solver ends with what it has; None is no limit.
    callback : callable or None, default=None
        A function of (phase, done, total, violation) that is called while the work runs; what it raises ends the
        fit.
    conformal : str, dict or None, default=None
        How sets of a proven coverage are learned for `predict_set`: "split", "cross", "jackknife" or a dict with
        `method`, `share`, `folds`, `mondrian`, `retrain`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes that were learned.
    class_weight_ : ndarray of shape (n_classes,)
        Factor of C for each class.
    probA_, probB_ : ndarray of shape (n_pairs,)
        A and B of the probabilities 1 / (1 + exp(A f + B)) of pairs; empty without `probability`.
    support_ : ndarray of shape (n_SV,)
        Places of the support vectors, class by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors; empty for "precomputed" and functions.
    dual_coef_ : ndarray or sparse matrix of shape (n_classes − 1, n_SV), or (1, n_SV)
        Coefficients of the support vectors, in LIBSVM's order.
    intercept_ : ndarray of shape (n_pairs,), or (1,)
        Constants of the decision functions.
    coef_ : ndarray or sparse matrix, read only
        Weights of the features; of the linear kernel alone.
    n_support_ : ndarray
        Number of support vectors of each class, or in all.
    fit_status_ : int
        0 where the solver converged, else 1.
    n_iter_ : ndarray or int
        Iterations of the solver, for each pair of classes.
    shape_fit_ : tuple of int
        Shape of the training examples.
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
    >>> from mercer import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(SVC(C=10, gamma=0.1).fit(X, y).score(X, y), 3)
    0.987
    """

    _machine = "svc"
    _parameter_constraints: dict[str, list[Any]] = {**may.SUPPORT, **may.C, **may.CLASSES}

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


class NuSVC(Classifier):
    """Support vector classification with a share of errors; parameters and attributes of :class:`sklearn.svm.NuSVC`.

    min ½‖w‖² − ν m ρ + Σ max(0, ρ − y f(x)): ν is at least the share of margin errors and at most the share of support
    vectors. Where classes overlap by more than ν there is no margin; ``report_["advice"]`` says so.

    Unlike :class:`sklearn.svm.NuSVC`, which takes `class_weight` and does nothing with it, this class weighs the examples of
    each class: predictions differ where it is given, and a class that weighs little makes the largest possible `nu` smaller.
    Leave `class_weight` out for scikit-learn's results.

    Source: C.-C. Chang & C.-J. Lin, LIBSVM: A Library for Support Vector Machines (2011), §2.2.

    Parameters
    ----------
    nu : float, default=0.5
        At least the share of errors allowed and at most the share of support vectors, in (0, 1].
    kernel : str, Kernel or callable, default="rbf"
        The kernel: "linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "precomputed" (X is the
        kernel matrix), a kernel of :mod:`mercer.kernels`, or a function of two sets of examples that gives their
        matrix.
    degree : int, default=3
        Degree of "poly"; other kernels have none.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of "rbf", "poly", "sigmoid", "laplacian" and "chi2": a number, 1 / (features · variance) for "scale",
        or 1 / features for "auto".
    coef0 : float, default=0.0
        Offset of "poly" and "sigmoid".
    shrinking : bool, default=True
        Accepted, and changes nothing: the solver always shrinks.
    probability : bool, default=False
        Whether `predict_proba` is learned, from scores of examples that fits have not seen. "deprecated", which
        scikit-learn 1.9 has by default, is no.
    tol : float, default=1e-3
        Largest violation of the conditions of the optimum at which the solver ends.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    class_weight : dict, "balanced" or None, default=None
        Factor of C for each class; "balanced" is n / (classes · size of the class).
    verbose : bool or int, default=False
        Whether a line on standard error follows the work.
    max_iter : int, default=-1
        Most iterations of the solver; −1 is no limit, and 0 takes none.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether `decision_function` has one column for each class or one for each pair of classes; of two classes it
        is always one.
    break_ties : bool, default=False
        Whether `predict` follows `decision_function` where pairs of classes are even; for "ovr" and more than two
        classes.
    random_state : int, RandomState or None, default=None
        Seed of the folds that probabilities are learned from; None is always the same one.
    n_jobs : int or None, default=None
        Threads; −1 is all cores, and None as many as one may use here: one in a worker of joblib.
    max_seconds : float or None, default=None
        Time after which the solver ends with what it has; None is no limit.
    callback : callable or None, default=None
        A function of (phase, done, total, violation) that is called while the work runs; what it raises ends the
        fit.
    conformal : str, dict or None, default=None
        How sets of a proven coverage are learned for `predict_set`: "split", "cross", "jackknife" or a dict with
        `method`, `share`, `folds`, `mondrian`, `retrain`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes that were learned.
    class_weight_ : ndarray of shape (n_classes,)
        Factor of C for each class.
    probA_, probB_ : ndarray of shape (n_pairs,)
        A and B of the probabilities 1 / (1 + exp(A f + B)) of pairs; empty without `probability`.
    support_ : ndarray of shape (n_SV,)
        Places of the support vectors, class by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors; empty for "precomputed" and functions.
    dual_coef_ : ndarray or sparse matrix of shape (n_classes − 1, n_SV), or (1, n_SV)
        Coefficients of the support vectors, in LIBSVM's order.
    intercept_ : ndarray of shape (n_pairs,), or (1,)
        Constants of the decision functions.
    coef_ : ndarray or sparse matrix, read only
        Weights of the features; of the linear kernel alone.
    n_support_ : ndarray
        Number of support vectors of each class, or in all.
    fit_status_ : int
        0 where the solver converged, else 1.
    n_iter_ : ndarray or int
        Iterations of the solver, for each pair of classes.
    shape_fit_ : tuple of int
        Shape of the training examples.
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
    >>> from mercer import NuSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NuSVC(nu=0.2).fit(X, y)
    >>> round(model.score(X, y), 3), len(model.support_) / len(y) > 0.2
    (0.993, True)
    """

    _machine = "nu_svc"
    _parameter_constraints: dict[str, list[Any]] = {**may.SUPPORT, **may.NU, **may.CLASSES}
    _balances_within = False
    _one_class_left = "specified nu is infeasible: all samples with positive weights belong to the same class"

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


class SVR(Regressor):
    """Support vector regression with a tube of width ε; parameters and attributes of :class:`sklearn.svm.SVR`.

    min ½‖w‖² + C Σ max(0, |y − f(x)| − ε)

    Source: C.-C. Chang & C.-J. Lin, LIBSVM: A Library for Support Vector Machines (2011), §2.4.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        The kernel: "linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "precomputed" (X is the
        kernel matrix), a kernel of :mod:`mercer.kernels`, or a function of two sets of examples that gives their
        matrix.
    degree : int, default=3
        Degree of "poly"; other kernels have none.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of "rbf", "poly", "sigmoid", "laplacian" and "chi2": a number, 1 / (features · variance) for "scale",
        or 1 / features for "auto".
    coef0 : float, default=0.0
        Offset of "poly" and "sigmoid".
    tol : float, default=1e-3
        Largest violation of the conditions of the optimum at which the solver ends.
    C : float, default=1.0
        What an error costs against the norm: a small C is a smooth function; infinity allows no error.
    epsilon : float, default=0.1
        Half the width of the tube: errors up to it cost nothing.
    shrinking : bool, default=True
        Accepted, and changes nothing: the solver always shrinks.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    verbose : bool or int, default=False
        Whether a line on standard error follows the work.
    max_iter : int, default=-1
        Most iterations of the solver; −1 is no limit, and 0 takes none.
    n_jobs : int or None, default=None
        Threads; −1 is all cores, and None as many as one may use here: one in a worker of joblib.
    max_seconds : float or None, default=None
        Time after which the solver ends with what it has; None is no limit.
    callback : callable or None, default=None
        A function of (phase, done, total, violation) that is called while the work runs; what it raises ends the
        fit.
    conformal : str, dict or None, default=None
        How intervals of a proven coverage are learned for `predict_interval`: "split", "cross", "jackknife" or a
        dict with `method`, `share`, `folds`, `retrain`.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Places of the support vectors, class by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors; empty for "precomputed" and functions.
    dual_coef_ : ndarray or sparse matrix of shape (n_classes − 1, n_SV), or (1, n_SV)
        Coefficients of the support vectors, in LIBSVM's order.
    intercept_ : ndarray of shape (n_pairs,), or (1,)
        Constants of the decision functions.
    coef_ : ndarray or sparse matrix, read only
        Weights of the features; of the linear kernel alone.
    n_support_ : ndarray
        Number of support vectors of each class, or in all.
    fit_status_ : int
        0 where the solver converged, else 1.
    n_iter_ : ndarray or int
        Iterations of the solver, for each pair of classes.
    shape_fit_ : tuple of int
        Shape of the training examples.
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
    >>> import numpy as np
    >>> from mercer import SVR
    >>> x = np.linspace(0, 6, 50)[:, None]
    >>> model = SVR(C=10, epsilon=0.01, gamma=1.0).fit(x, np.sin(x).ravel())
    >>> bool(np.abs(model.predict(x) - np.sin(x).ravel()).max() < 0.02)
    True
    """

    _machine = "svr"
    _parameter_constraints: dict[str, list[Any]] = {**may.SUPPORT, **may.C, **may.TUBE}

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


class NuSVR(Regressor):
    """Support vector regression whose tube finds its own width; parameters and attributes of :class:`sklearn.svm.NuSVR`.

    min ½‖w‖² + C (ν m ε + Σ max(0, |y − f(x)| − ε)) over w, b and ε; at most a share ν of the examples is outside the tube.

    Source: C.-C. Chang & C.-J. Lin, LIBSVM: A Library for Support Vector Machines (2011), §2.5.

    Parameters
    ----------
    nu : float, default=0.5
        At least the share of errors allowed and at most the share of support vectors, in (0, 1].
    C : float, default=1.0
        What an error costs against the norm: a small C is a smooth function; infinity allows no error.
    kernel : str, Kernel or callable, default="rbf"
        The kernel: "linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "precomputed" (X is the
        kernel matrix), a kernel of :mod:`mercer.kernels`, or a function of two sets of examples that gives their
        matrix.
    degree : int, default=3
        Degree of "poly"; other kernels have none.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of "rbf", "poly", "sigmoid", "laplacian" and "chi2": a number, 1 / (features · variance) for "scale",
        or 1 / features for "auto".
    coef0 : float, default=0.0
        Offset of "poly" and "sigmoid".
    shrinking : bool, default=True
        Accepted, and changes nothing: the solver always shrinks.
    tol : float, default=1e-3
        Largest violation of the conditions of the optimum at which the solver ends.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    verbose : bool or int, default=False
        Whether a line on standard error follows the work.
    max_iter : int, default=-1
        Most iterations of the solver; −1 is no limit, and 0 takes none.
    n_jobs : int or None, default=None
        Threads; −1 is all cores, and None as many as one may use here: one in a worker of joblib.
    max_seconds : float or None, default=None
        Time after which the solver ends with what it has; None is no limit.
    callback : callable or None, default=None
        A function of (phase, done, total, violation) that is called while the work runs; what it raises ends the
        fit.
    conformal : str, dict or None, default=None
        How intervals of a proven coverage are learned for `predict_interval`: "split", "cross", "jackknife" or a
        dict with `method`, `share`, `folds`, `retrain`.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Places of the support vectors, class by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors; empty for "precomputed" and functions.
    dual_coef_ : ndarray or sparse matrix of shape (n_classes − 1, n_SV), or (1, n_SV)
        Coefficients of the support vectors, in LIBSVM's order.
    intercept_ : ndarray of shape (n_pairs,), or (1,)
        Constants of the decision functions.
    coef_ : ndarray or sparse matrix, read only
        Weights of the features; of the linear kernel alone.
    n_support_ : ndarray
        Number of support vectors of each class, or in all.
    fit_status_ : int
        0 where the solver converged, else 1.
    n_iter_ : ndarray or int
        Iterations of the solver, for each pair of classes.
    shape_fit_ : tuple of int
        Shape of the training examples.
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
    >>> import numpy as np
    >>> from mercer import NuSVR
    >>> x = np.linspace(0, 6, 50)[:, None]
    >>> y = np.sin(x).ravel() + np.random.default_rng(0).normal(0, 0.1, 50)
    >>> model = NuSVR(nu=0.3, C=10, gamma=1.0).fit(x, y)
    >>> round(model.report_["epsilon"], 2)
    0.08
    """

    _machine = "nu_svr"
    _parameter_constraints: dict[str, list[Any]] = {**may.SUPPORT, **may.C, **may.NU}

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

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        The kernel: "linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "precomputed" (X is the
        kernel matrix), a kernel of :mod:`mercer.kernels`, or a function of two sets of examples that gives their
        matrix.
    degree : int, default=3
        Degree of "poly"; other kernels have none.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of "rbf", "poly", "sigmoid", "laplacian" and "chi2": a number, 1 / (features · variance) for "scale",
        or 1 / features for "auto".
    coef0 : float, default=0.0
        Offset of "poly" and "sigmoid".
    tol : float, default=1e-3
        Largest violation of the conditions of the optimum at which the solver ends.
    nu : float, default=0.5
        At least the share of errors allowed and at most the share of support vectors, in (0, 1].
    shrinking : bool, default=True
        Accepted, and changes nothing: the solver always shrinks.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    verbose : bool or int, default=False
        Whether a line on standard error follows the work.
    max_iter : int, default=-1
        Most iterations of the solver; −1 is no limit, and 0 takes none.
    n_jobs : int or None, default=None
        Threads; −1 is all cores, and None as many as one may use here: one in a worker of joblib.
    max_seconds : float or None, default=None
        Time after which the solver ends with what it has; None is no limit.
    callback : callable or None, default=None
        A function of (phase, done, total, violation) that is called while the work runs; what it raises ends the
        fit.
    conformal : str, dict or None, default=None
        How p-values are learned for `p_values`: "split", "cross", "jackknife" or a dict with `method`, `share`,
        `folds`, `retrain`.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        What `score_samples` has more than `decision_function`.
    support_ : ndarray of shape (n_SV,)
        Places of the support vectors, class by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors; empty for "precomputed" and functions.
    dual_coef_ : ndarray or sparse matrix of shape (n_classes − 1, n_SV), or (1, n_SV)
        Coefficients of the support vectors, in LIBSVM's order.
    intercept_ : ndarray of shape (n_pairs,), or (1,)
        Constants of the decision functions.
    coef_ : ndarray or sparse matrix, read only
        Weights of the features; of the linear kernel alone.
    n_support_ : ndarray
        Number of support vectors of each class, or in all.
    fit_status_ : int
        0 where the solver converged, else 1.
    n_iter_ : ndarray or int
        Iterations of the solver, for each pair of classes.
    shape_fit_ : tuple of int
        Shape of the training examples.
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
    >>> import numpy as np
    >>> from mercer import OneClassSVM
    >>> usual = np.random.default_rng(0).normal(size=(100, 2))
    >>> OneClassSVM(nu=0.1, gamma=0.1).fit(usual).predict([[0.0, 0.0], [6.0, 6.0]]).tolist()
    [1, -1]
    """

    n_iter_: int

    _machine = "one_class"
    _parameter_constraints: dict[str, list[Any]] = {**may.SUPPORT, **may.NU}

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
        """Learns where the examples are; those whose weight is zero or negative are left out, as LIBSVM does."""
        self._validate()
        X = self._check(X, reset=True)
        weights = self._weights(sample_weight, X)
        self._learn(X, None, None, weights, self._settings())
        self._keep_support(X)
        self.offset_ = -self.intercept_
        return self

    def _told_by_model(self):
        told = super()._told_by_model()
        return {**told, "offset_": -told["intercept_"]}
