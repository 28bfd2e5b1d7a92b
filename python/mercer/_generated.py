"""What the estimators in `estimators.py` inherit: machines in mercer's own spelling, any kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import (
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mercer import _native
from mercer._base import Detector, Machine
from mercer._conformal import IntervalsMixin, SetsMixin
from mercer._data import Array, Data, Matrix, available_if, count_of, threads_of
from mercer._kernel import Kernel
from mercer._labels import encode, spell

if TYPE_CHECKING:
    from typing_extensions import Self

# noise, copies by name and points of expansions, which stand beside the examples
Beside = tuple[Data, "dict[str, Data] | None", Data]
# what parameters are called where Python keeps their name for itself
RESERVED = {"lam": "lambda"}


class Generated(Machine):
    """A machine whose parameters are those of the catalogue, with a kernel (formula, mercer kernel or "precomputed")."""

    _parameters: tuple[str, ...] = ()
    _spelling = {theirs: ours for ours, theirs in RESERVED.items()}

    def _own_kernel(self):
        return None if self.kernel == "precomputed" else str(self.kernel)

    def _formula(self, X):
        if isinstance(self.kernel, Kernel):
            return str(self.kernel)
        if self.kernel == "precomputed":
            return "precomputed()"
        return _native.kernel_text(self.kernel)

    def _settings(self):
        settings = {RESERVED.get(name, name): getattr(self, name) for name in self._parameters}
        if isinstance(settings.get("class_weight"), dict):
            pairs = settings["class_weight"].items()
            settings["class_weight"] = ",".join(f"{label}:{weight}" for label, weight in pairs)
        return settings

    def _beside(self, noise, copies, points):
        """What stands beside the examples, as the Rust half takes it: examples of noise, copies by name, points."""
        given = [("noise", "", noise), ("points", "", points)]
        given += [("copies", str(name), changed) for name, changed in (copies or {}).items()]
        return [(role, name, self._columns(self._check(X, reset=False))) for role, name, X in given if X is not None]

    def _enough(self, n):
        """Refuses too few examples in scikit-learn's words, where a machine has a least number."""

    def _learn_alone(self, X, sample_weight, beside=(None, None, None)):
        """Learns from examples without a target; their checked form."""
        self._validate()
        X = self._check(X, reset=True)
        self._enough(count_of(X))
        weights = self._weights(sample_weight, X)
        state = getattr(self, "random_state", None)
        seed = {} if state is None else {"seed": int(check_random_state(state).randint(2**31 - 1))}
        self._learn(X, None, None, weights, self._settings(), companions=self._beside(*beside), **seed)
        return X


def learn_classes(machine, X, y, sample_weight, beside):
    """Learns from classes, which are kept in the order of their codes."""
    machine._validate()
    X, y = machine._check(X, reset=True, y=y)
    machine.classes_, codes = encode(column_or_1d(y, warn=True))
    if len(machine.classes_) < 2:
        raise ValueError(f"{type(machine).__name__} needs samples of at least 2 classes; the data contain 1 class")
    weights = machine._weights(sample_weight, X)
    companions = machine._beside(*beside)
    labels = spell(machine.classes_)
    return machine._learn(X, codes.astype(np.float64), labels, weights, machine._settings(), companions=companions)


def _has_probabilities(self):
    model = getattr(self, "_model", None)
    if model is None or not getattr(model, "has_probabilities", False):
        raise AttributeError(f"this {type(self).__name__} " + ("is not fitted" if model is None else "has learned no probabilities"))
    return True


class GeneratedClassifier(SetsMixin, ClassifierMixin, Generated):
    classes_: Array

    def _learn_classes(self, X: Data, y: Data, sample_weight: Data = None, beside: Beside = (None, None, None)) -> Any:
        return learn_classes(self, X, y, sample_weight, beside)

    def predict(self, X: Data) -> Array:
        """The class of each example."""
        return self._labels_of(X)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Data) -> Matrix:
        """The probability of each class, of machines that give some."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        return self._model.probabilities(self._columns(X), threads_of(self.n_jobs))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Data) -> Matrix:
        """The logarithm of the probability of each class."""
        return np.log(self.predict_proba(X))

    def decision_function(self, X: Data) -> Matrix:
        """Scores, one for each class; for two classes one, positive for the second."""
        scores = self._scores(X)
        if len(self.classes_) > 2:
            duels = self._model.readout == "vote"
            return _ovr_decision_function(scores < 0, -scores, len(self.classes_)) if duels else scores
        return -scores.ravel() if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0]


class GeneratedRegressor(IntervalsMixin, MultiOutputMixin, RegressorMixin, Generated):
    def _learn_numbers(self, X: Data, y: Data, sample_weight: Data = None) -> Any:
        self._validate()
        X, y = self._check(X, reset=True, y=y, y_numeric=True, multi_output=True)
        self._flat = y.ndim == 1
        y = np.ascontiguousarray(np.asarray(y, dtype=np.float64).reshape(len(y), -1))
        weights = self._weights(sample_weight, X)
        return self._learn(X, y, None, weights, self._settings())

    def _remember(self, model, y):
        super()._remember(model, y)
        self._flat = y.ndim == 1

    def _several(self):
        return not self._flat

    def predict(self, X: Data) -> Array:
        """The numbers of each example."""
        scores = self._scores(X)
        return scores.ravel() if self._flat else scores


class GeneratedDetector(Detector, Generated):
    def _learn_nothing(self, X: Data, y: Data = None, sample_weight: Data = None) -> Any:
        self._learn_alone(X, sample_weight)
        self.offset_ = -np.asarray(self._model.offsets)
        return self


class GeneratedClusterer(ClusterMixin, Generated):
    labels_: Array
    clusters: int

    def _enough(self, n):
        if n < self.clusters:
            raise ValueError(f"n_samples={n} should be >= clusters={self.clusters}")

    def _learn_nothing(self, X: Data, y: Data = None, sample_weight: Data = None) -> Any:
        self.labels_ = self._places(self._learn_alone(X, sample_weight))
        return self

    def _places(self, X):
        return self._model.codes(self._columns(X), threads_of(self.n_jobs)).astype(np.intp)

    def predict(self, X: Data) -> Array:
        """The place of each example's cluster, from zero, as in `labels_`."""
        check_is_fitted(self)
        return self._places(self._check(X, reset=False))


class GeneratedTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Generated):
    if TYPE_CHECKING:

        def set_output(self, *, transform: str | None = None) -> Self:
            """Sets what `transform` gives: "default", "pandas" or "polars"."""

    def _learn_nothing(
        self, X: Data, y: Data = None, sample_weight: Data = None, beside: Beside = (None, None, None)
    ) -> Any:
        self._learn_alone(X, sample_weight, beside)
        self._n_features_out = self._model.outputs
        return self

    def _learn_classes(self, X: Data, y: Data, sample_weight: Data = None, beside: Beside = (None, None, None)) -> Any:
        learn_classes(self, X, y, sample_weight, beside)
        self._n_features_out = self._model.outputs
        return self

    def transform(self, X: Data) -> Matrix:
        """The coordinates of each example."""
        return self._scores(X)
