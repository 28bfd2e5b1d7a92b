"""What the support vector machines in scikit-learn's spelling share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import (
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from mercer import _constraints as may
from mercer._base import Machine, has_formula, seed_of
from mercer._certify import of_unlearned
from mercer._conformal import IntervalsMixin, SetsMixin
from mercer._data import Array, Data, Matrix, Vector, available_if, count_of, matrix_of_config, threads_of
from mercer._labels import encode, spell

if TYPE_CHECKING:
    from typing_extensions import Self

# the width that a formula of scikit-learn's names has, as the model prints it
_WIDTH = re.compile(r"gamma=([^,)\s]+)")


# the size of numbers from which on their products are not left to single precision
FAR = 1e15


class SupportMachine(Machine):
    """Support vectors: what LIBSVM's classes in scikit-learn have in common."""

    support_: npt.NDArray[np.int32]
    support_vectors_: Any
    _examples_of_model = "support_vectors_"
    dual_coef_: Any
    intercept_: Vector
    fit_status_: int
    shape_fit_: tuple[int, ...]

    _drops_negative = True
    _spelling = {"c": "C"}
    # whether the training examples are so far apart that products of them do not fit into single precision, which the solver's
    # kernel values have; with the factor gamma they do
    _far = False
    _parameter_constraints: dict[str, list[Any]] = may.SUPPORT

    # ------------------------------------------------------------------------------------------------------------ data

    def _is_called(self):
        if self._is_function():
            return True
        if not isinstance(self.kernel, str) or self.kernel == "precomputed":
            return False
        return self._far or not has_formula(self.kernel, self.gamma, self.degree, self.coef0)

    def _check(self, X, reset, **more):
        if sp.issparse(X) and self._is_pairwise():
            raise TypeError("Sparse precomputed kernels are not supported.")
        if not self._is_function():
            checked = roomy(super()._check(X, reset, **more))
            if reset:
                far = largest(checked[0] if isinstance(checked, tuple) else checked) > FAR
                self._far = far and isinstance(self.kernel, str) and self.kernel not in ("linear", "cosine", "precomputed")
            return checked
        # a function of the user's may look at anything, and gets it as it is
        X = self._as_given(X)
        X = validate_data(self, X, reset=reset, skip_check_array=True)
        if reset:
            self._forget()
        if "y" not in more:
            return X
        y = more["y"]
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        check_consistent_length(X, y)
        y = column_or_1d(y, warn=True)
        if y.dtype.kind == "f" or more.get("y_numeric"):
            assert_all_finite(y.astype(np.float64), input_name="y")
        return X, y

    @staticmethod
    def _as_given(X):
        """A table of numbers as an array, anything else as it is."""
        if not isinstance(X, (list, tuple)):
            return X
        try:
            table = np.asarray(X)
        except ValueError:
            return X
        return table if table.ndim == 2 and table.dtype.kind in "biuf" else X

    # --------------------------------------------------------------------------------------------------------- fitting

    def _settings(self):
        limit = self.max_iter
        return {
            "tolerance": float(self.tol),
            "cache": max(1, int(self.cache_size)),
            "max_iterations": 0 if limit is None or limit < 0 else int(limit),
        }

    def _learn(self, X, *more, **options):
        try:
            return super()._learn(X, *more, **options)
        except ValueError as error:
            if "is not finite" not in str(error) or self._is_pairwise() or self._is_function():
                raise
            raise ValueError("The dual coefficients or intercepts are not finite. The input data may contain large values "
                             f"and need to be preprocessed. ({error})") from None  # fmt: skip

    def _keep_support(self, X, codes=None):
        """`support_`, `support_vectors_` and the coefficients in LIBSVM's order."""
        self.support_ = self._places()
        if self._is_pairwise() or self._is_function() or not hasattr(X, "shape"):
            self.support_vectors_ = np.empty((0, 0))
        else:
            self.support_vectors_ = matrix_of_config(X[self.support_])
        self._sparse = sp.issparse(X) and not self._is_function()
        dual, self.intercept_ = self._dual()
        self.dual_coef_ = matrix_of_config(sp.csr_array(dual)) if self._sparse else dual
        self.fit_status_ = int(self.status_ != "converged")
        self.shape_fit_ = tuple(getattr(X, "shape", (count_of(X),)))
        if codes is None:
            self._n_support = np.array([len(self.support_)], dtype=np.int32)
        else:
            self._n_support = np.bincount(codes[self.support_], minlength=len(self.classes_)).astype(np.int32)

    def _places(self):
        return np.asarray(self._model.support, dtype=np.int32)

    def _dual(self):
        """Coefficients and constants in LIBSVM's order."""
        _, alpha = self._model.coefficients
        dual, intercept = alpha.T.copy(), np.asarray(self._model.offsets)
        if getattr(self, "classes_", None) is not None and len(self.classes_) == 2:
            # a positive score is the second class here, the first one in LIBSVM
            return -dual, -intercept
        return dual, intercept

    def _told_by_model(self):
        told = super()._told_by_model()
        told["support_"], told["fit_status_"] = self._places(), int(told["status_"] != "converged")
        told["dual_coef_"], told["intercept_"] = self._dual()
        if getattr(self, "_sparse", False):
            told["dual_coef_"] = matrix_of_config(sp.csr_array(told["dual_coef_"]))
        counts = self._model.support_classes or [len(told["support_"])]
        told["_n_support"] = np.array(counts, dtype=np.int32)
        return told

    def _linear_weights(self):
        return self.dual_coef_ @ self.support_vectors_

    # ------------------------------------------------------------------------------------------------------ attributes

    @property
    def coef_(self) -> Any:
        """Weights of the features; only of the linear kernel, and read only."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        weights = self._linear_weights()
        (weights.data if sp.issparse(weights) else weights).flags.writeable = False
        return weights

    @property
    def n_support_(self) -> npt.NDArray[np.int32]:
        """Support vectors of each class."""
        check_is_fitted(self)
        return self._n_support

    @property
    def _gamma(self):
        """The number of gamma, as a fit of scikit-learn's keeps it."""
        check_is_fitted(self)
        found = _WIDTH.search(self._model.kernel)
        return float(found[1]) if found else 0.0

    # ----------------------------------------------------------------------------------------------------------- files

    def __setstate__(self, state):
        state = dict(state)
        # pickles of earlier versions have the class of every example
        codes = state.pop("_codes", None)
        super().__setstate__(state)
        if "support_" in state and "_n_support" not in state:
            classes = getattr(self, "classes_", None)
            known = len(self.support_) if classes is None else np.bincount(codes[self.support_], minlength=len(classes))
            self._n_support = np.atleast_1d(known).astype(np.int32)


class Classifier(SetsMixin, ClassifierMixin, SupportMachine):
    """Support vector machines that tell classes apart."""

    # whether the machine can weigh classes by the examples that a fit sees
    _balances_within = True
    # what is said where only one class has weight
    _one_class_left = "Invalid input - all samples with positive weights belong to the same class."
    classes_: Array
    class_weight_: Vector
    n_iter_: npt.NDArray[np.int32]

    def fit(self, X: Data, y: Data, sample_weight: Data = None) -> Self:
        """Learns from examples and their classes.

        Examples whose weight is zero or negative are left out, as LIBSVM does; classes that have no others are not learned,
        and not in `classes_`.
        """
        self._validate()
        X, y = self._check(X, reset=True, y=y)
        self.classes_, codes = encode(y)
        k = len(self.classes_)
        if k < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {k} class")
        weights = self._weights(sample_weight, X)
        self.class_weight_ = np.ones(k)
        if self.class_weight is not None:
            self.class_weight_ = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        present = np.arange(k) if weights is None else np.unique(codes[weights > 0])
        if len(present) < 2:
            raise ValueError(self._one_class_left)
        lost = len(present) < k
        vars(self).pop("_unlearned", None)
        if lost:
            self._unlearned = np.delete(self.classes_, present).tolist()
            if self.conformal is not None or self._certified is not None:
                raise ValueError(of_unlearned(self._unlearned))
        settings, own = self._settings(), self._own_balance()
        balanced = self._balances() and not own and not lost
        if own:
            settings["class_weight"] = "balanced"
        given = not own and not balanced and (self.class_weight_ != 1).any()
        if lost:
            # examples that weigh nothing may have any label
            places = np.zeros(k, dtype=np.intp)
            places[present] = np.arange(len(present))
            self.classes_, self.class_weight_, codes = self.classes_[present], self.class_weight_[present], places[codes]
        self._codes = codes
        more: dict[str, Any] = {"probabilities": "platt"} if _wants_probabilities(self) else {}
        if given:
            more["class_weights"] = list(zip(spell(self.classes_), self.class_weight_.tolist()))
        self._learn(X, codes.astype(np.float64), spell(self.classes_), weights, settings, balanced=balanced,
                    seed=seed_of(self.random_state), **more)  # fmt: skip
        self._keep_support(X, vars(self).pop("_codes"))
        return self

    def _own_balance(self):
        """Whether every fit has to count its classes itself: examples that are held out must have no say."""
        own = self.conformal is not None and self._balances()
        if own and not self._balances_within:
            raise ValueError("NuSVC cannot balance classes without those that conformal holds out; give class_weight as a dict.")
        return own

    def _told_by_model(self):
        told = super()._told_by_model()
        if self.class_weight is None:
            told["class_weight_"] = np.ones(len(self.classes_))
        return told

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
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        if self.break_ties and self.decision_function_shape == "ovr" and len(self.classes_) > 2:
            return self.classes_[np.argmax(self.decision_function(X), axis=1)]
        return self._labels_of(X)

    @available_if(lambda self: _has_probabilities(self))
    def predict_proba(self, X: Data) -> Matrix:
        """The probability of each class; the largest is that of `predict`, unless `class_weight` moves the decision."""
        check_is_fitted(self)
        if not len(self.probA_):
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        X = self._check(X, reset=False)
        return self._model.probabilities(self._columns(X), threads_of(self.n_jobs))

    @available_if(lambda self: _has_probabilities(self))
    def predict_log_proba(self, X: Data) -> Matrix:
        """The logarithm of the probability of each class."""
        return np.log(self.predict_proba(X))

    @property
    def probA_(self) -> Vector:
        """A of the probability 1 / (1 + exp(A f + B)) of each pair of classes; empty without probabilities."""
        return self._sigmoids(0)

    @property
    def probB_(self) -> Vector:
        """B of the probability 1 / (1 + exp(A f + B)) of each pair of classes; empty without probabilities."""
        return self._sigmoids(1)

    def _sigmoids(self, which):
        check_is_fitted(self)
        return np.array([pair[which] for pair in self._model.sigmoids])

    def _linear_weights(self):
        if len(self.classes_) == 2:
            return self.dual_coef_ @ self.support_vectors_
        # one weight vector for each pair of classes, as LIBSVM orders them
        dual, ends = self.dual_coef_, np.concatenate([[0], np.cumsum(self.n_support_)])
        if sp.issparse(dual):
            dual = dual.tocsr()
        rows, k = [], len(self.classes_)
        for a in range(k):
            for b in range(a + 1, k):
                of_a, of_b = slice(ends[a], ends[a + 1]), slice(ends[b], ends[b + 1])
                first, second = dual[[b - 1], of_a], dual[[a], of_b]
                rows.append(first @ self.support_vectors_[of_a] + second @ self.support_vectors_[of_b])
        return matrix_of_config(sp.vstack(rows).tocsr()) if sp.issparse(rows[0]) else np.vstack(rows)


class Regressor(IntervalsMixin, RegressorMixin, SupportMachine):
    """Support vector machines that predict a number."""

    n_iter_: int

    def fit(self, X: Data, y: Data, sample_weight: Data = None) -> Self:
        """Learns from examples and their numbers; those whose weight is zero or negative are left out, as LIBSVM does."""
        self._validate()
        X, y = self._check(X, reset=True, y=y, y_numeric=True)
        y = column_or_1d(y, warn=True).astype(np.float64)
        weights = self._weights(sample_weight, X)
        self._learn(X, np.ascontiguousarray(y.reshape(-1, 1)), None, weights, self._settings())
        self._keep_support(X)
        return self

    def predict(self, X: Data) -> Array:
        """The number of each example."""
        return self._scores(X).ravel()


def _wants_probabilities(self):
    """Whether probabilities are asked for; scikit-learn 1.9 calls no by the word "deprecated"."""
    return not isinstance(self.probability, str) and bool(self.probability)


def _has_probabilities(self):
    if not _wants_probabilities(self):
        raise AttributeError("predict_proba is not available when probability=False")
    return True


def roomy(checked):
    """Examples, with or without their target, in double precision where squares in single precision would overflow."""
    X = checked[0] if isinstance(checked, tuple) else checked
    if getattr(X, "dtype", None) != np.float32 or largest(X) <= FAR:
        return checked
    X = X.astype(np.float64)
    return (X, *checked[1:]) if isinstance(checked, tuple) else X


def largest(X):
    """The largest size of a number in a table; 0 where there is none."""
    numbers = X.data if sp.issparse(X) else X
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind != "f" or not numbers.size:
        return 0.0
    return max(float(numbers.max()), -float(numbers.min()))


__all__ = ["Classifier", "Regressor", "SupportMachine", "roomy"]
