"""What all estimators share: checking data, naming the kernel, fitting, and telling what the solver told."""

from __future__ import annotations

import functools
import numbers
import os
import re
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn import get_config
from sklearn.base import BaseEstimator, OutlierMixin, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import assert_all_finite, check_array, check_random_state
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from mercer import _native
from mercer._certify import CertifyMixin
from mercer._conformal import NoveltyMixin, recipe_of
from mercer._constraints import NAMES, OWN
from mercer._data import (
    Array,
    Data,
    Matrix,
    Vector,
    are_strings,
    checked_views,
    columns_of,
    count_of,
    has_views,
    is_frame,
    single_strings,
    threads_of,
    views_of,
)
from mercer._kernel import Kernel, KernelLike, views_wanted
from mercer._labels import coded
from mercer._pickles import PickledMixin
from mercer._progress import Progress

# a fact of a formula, which every prediction asks for
_meets_gaps = functools.lru_cache(maxsize=1024)(_native.kernel_meets_gaps)


def _is_formula(text):
    try:
        return bool(_native.kernel_text(text))
    except ValueError:
        return False


# what estimators predict with, one or another of these, and what they tell about the fit
LEARNED = ("_model", "dual_coef_", "coef_", "eigenvalues_")
REPORTED = ("report_", "status_", "objective_", "duality_gap_", "n_iter_")
# kernels whose gamma may be the formula's own word `scale`
SCALED = {"polynomial", "rbf", "sigmoid", "laplacian"}


def gamma_of(gamma, X):
    """The number for `scale` (1 / (features · variance)) and `auto` (1 / features)."""
    if isinstance(gamma, str):
        if gamma == "scale":
            variance = X.multiply(X).mean() - X.mean() ** 2 if sp.issparse(X) else X.var(dtype=np.float64)
            return float(1.0 / (X.shape[1] * variance)) if variance != 0 else 1.0
        if gamma == "auto":
            return 1.0 / X.shape[1]
        raise ValueError(f"The gamma value should be set to 'scale', 'auto' or a positive float value. {gamma!r} is not a valid option")
    return float(gamma)


def has_formula(kernel, gamma, degree, coef0):
    """Whether the language of formulas has a kernel of scikit-learn's names with these numbers.

    It has kernels that are ones for all examples; scikit-learn also takes a degree that is not whole, or zero, a negative
    offset and a width of zero, of which only the values are computed.
    """
    name = NAMES.get(kernel)
    wide = isinstance(gamma, str) or gamma > 0
    if name == "polynomial":
        return wide and coef0 >= 0 and degree == int(degree) and 1 <= degree <= 64
    return name in ("linear", "cosine") or name is not None and wide


def formula_of(kernel, gamma, degree, coef0):
    """The formula of a kernel in scikit-learn's spelling, with gamma as a number or a word of the formula."""
    width = gamma if isinstance(gamma, str) else repr(float(gamma))
    return {
        "linear": "linear()",
        "rbf": f"rbf(gamma={width})",
        "polynomial": f"polynomial(degree={int(degree)}, gamma={width}, offset={float(coef0)!r})",
        "sigmoid": f"sigmoid(gamma={width}, offset={float(coef0)!r})",
        "laplacian": f"laplacian(gamma={width})",
        "cosine": "normalise(linear())",
        # Σ (x − y)² / (x + y) is the squared distance of the additive kernel
        "chi2": f"rbf(chi2(), gamma={width})",
    }[NAMES[kernel]]


def in_words(sentence, spelling):
    """A sentence of the library in the words of an estimator, which may call parameters otherwise."""
    for machine, ours in spelling.items():
        sentence = re.sub(rf"(\b(?:increase|a finite|a larger|a smaller) ){machine}\b", rf"\g<1>{ours}", sentence)
        sentence = re.sub(rf"^{machine} is\b", f"{ours} is", sentence)
    return sentence


@functools.cache
def _names_in_signature(estimator):
    return super(Machine, estimator)._get_param_names()


class ReportMixin:
    """The report of the solver, also under the name that it once had."""

    report_: dict[str, Any]

    @property
    def proof_(self) -> dict[str, Any]:
        """The former name of ``report_``."""
        report = self.report_
        warnings.warn("proof_ has been renamed: use report_", DeprecationWarning, stacklevel=2)
        return report


class Machine(ReportMixin, CertifyMixin, PickledMixin, BaseEstimator):
    """A machine of the catalogue with scikit-learn's habits."""

    @classmethod
    def _get_param_names(cls):
        # scikit-learn reads the signature for each fit, which takes as long as a small fit
        return list(_names_in_signature(cls))

    _machine = ""
    # parameters that the machine calls otherwise, as advice and errors should call them
    _spelling: dict[str, str] = {}
    # what a certified fit is asked, while it runs
    _certified: dict[str, Any] | None = None
    # the share of the examples that prepares the others, while a fit runs
    _preparation_share: float = 0.0
    # whether examples of negative weight are left out; else they are refused
    _drops_negative = False

    _parameter_constraints: dict[str, list[Any]] = OWN

    kernel: KernelLike
    status_: str
    objective_: float | None
    duality_gap_: float | None
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]

    # ------------------------------------------------------------------------------------------------------------ data

    def _is_pairwise(self):
        return getattr(self, "kernel", None) == "precomputed"

    def _is_function(self):
        """Whether the kernel is a function of the user's."""
        kernel = getattr(self, "kernel", None)
        return callable(kernel) and not isinstance(kernel, Kernel)

    def _is_called(self):
        """Whether Rust sees the values of the kernel only: of a function of the user's, or of what no formula says."""
        return self._is_function()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._is_pairwise()
        tags.input_tags.pairwise = self._is_pairwise()
        try:
            tags.input_tags.allow_nan = self._finite() is not True
        except ValueError:
            # a kernel that is none: the fit tells it
            tags.input_tags.allow_nan = False
        return tags

    def _own_kernel(self):
        """The formula of a kernel in mercer's own language, which may look at anything; None for scikit-learn's names."""
        kernel = getattr(self, "kernel", None)
        return str(kernel) if isinstance(kernel, Kernel) else None

    def _check(self, X, reset, **more):
        """Numbers in C order, or the views and strings that a kernel of mercer looks at; with them the target if given."""
        text = self._own_kernel()
        if text is not None:
            X = single_strings(X, text)
        wanted = views_wanted(text) if text is not None and (has_views(X) or are_strings(X) or is_frame(X)) else None
        if wanted is not None and (not is_frame(X) or any(name is not None for name, _ in wanted)):
            if reset:
                vars(self).pop("feature_names_in_", None)
                self._frame_columns = columns_of(X, wanted) if is_frame(X) else {}
            known = getattr(self, "_frame_columns", {})
            checked = self._check_views(checked_views(X, wanted, self._finite(), known), reset, more)
        else:
            sparse = False if self._is_pairwise() else "csr"
            checked = validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], order="C", accept_sparse=sparse,
                                    ensure_all_finite=self._finite(), **more)  # fmt: skip
            if reset:
                vars(self).pop("_frame_columns", None)
        if reset:
            self._forget()
        return checked

    def _column_names(self):
        """The names of the columns of each view, where a frame had some."""
        if vars(self).get("_frame_columns"):
            return [(view, names) for view, names in self._frame_columns.items() if all(isinstance(name, str) for name in names)]
        names = vars(self).get("feature_names_in_")
        return [] if names is None else [("x", list(names))]

    def _forget(self):
        """Drops what an earlier fit has learned: a fit that fails leaves none of it beside classes and numbers of its own."""
        for name in (*LEARNED, *REPORTED):
            vars(self).pop(name, None)

    def __sklearn_is_fitted__(self):
        return any(name in vars(self) for name in LEARNED)

    def _finite(self):
        """Whether all numbers must be finite; kernels that take missing ones say what else is wrong themselves."""
        text = self._own_kernel()
        return "allow-nan" if text is not None and _meets_gaps(text) else True

    def _check_views(self, X, reset, more):
        if reset:
            self.n_features_in_ = len(X) if has_views(X) else 1
        if "y" not in more:
            return X
        y = more["y"]
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        y = np.asarray(y) if more.get("multi_output") else column_or_1d(y, warn=True)
        if len(y) != count_of(X):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{count_of(X)}, {len(y)}]")
        if y.dtype.kind == "f" or more.get("y_numeric"):
            assert_all_finite(y.astype(np.float64), input_name="y")
        return X, y

    def _columns(self, X):
        """The views of new examples; where the fit saw values of the kernel only, so does a prediction."""
        return views_of(self._products(X, self._training) if self._was_called() else X)

    def _was_called(self):
        """Whether Rust saw the values of the kernel only when the fit was made: parameters may have been set since."""
        return vars(self).get("_training") is not None

    def _products(self, X, Y):
        """All values of a kernel that Rust does not compute."""
        if not self._is_function():
            X, Y = (np.asarray(Z, dtype=np.float64) if isinstance(Z, np.ndarray) else Z for Z in (X, Y))
            return pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, gamma=gamma_of(self.gamma, Y),
                                    degree=self.degree, coef0=self.coef0)  # fmt: skip
        K = self.kernel(X, Y)
        K = np.asarray(K.toarray() if sp.issparse(K) else K, dtype=np.float64)
        if K.shape != (count_of(X), count_of(Y)):
            raise ValueError(f"the kernel gave shape {K.shape}, not {(count_of(X), count_of(Y))}")
        return np.ascontiguousarray(K)

    # --------------------------------------------------------------------------------------------------------- fitting

    def _formula(self, X):
        """The text of the kernel."""
        kernel = self.kernel
        if isinstance(kernel, Kernel):
            return str(kernel)
        if self._is_called() or kernel == "precomputed":
            return "precomputed()"
        return formula_of(kernel, gamma_of(self.gamma, X), self.degree, self.coef0)

    def _kernel(self, X):
        """The text of the kernel for a fit, and how many of its numbers were taken from the examples here.

        `scale` is left to the fit, which learns it from no example that is held out, and remembers that.
        """
        kernel, gamma = getattr(self, "kernel", None), getattr(self, "gamma", None)
        if isinstance(kernel, str) and isinstance(gamma, str) and gamma == "scale":
            name = NAMES.get(kernel)
            if name in SCALED and not self._is_called():
                return formula_of(kernel, gamma, self.degree, self.coef0), 0
            # where the values are computed here, so is the width
            return self._formula(X), int(name in SCALED or name == "chi2")
        return self._formula(X), 0

    def _learn(self, X, y, labels, weights, settings, **options):
        """Runs the machine and keeps what it tells."""
        formula, options["numbers_taken"] = self._kernel(X)
        options.setdefault("conformal", recipe_of(getattr(self, "conformal", None)))
        self._training = X if self._is_called() else None
        if self._is_pairwise() and X.shape[0] != X.shape[1]:
            raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
        words = [(name, value) for name, value in settings.items() if value is not None]
        options = {"threads": threads_of(getattr(self, "n_jobs", None)), **options}
        options.setdefault("max_seconds", getattr(self, "max_seconds", None))
        if self._takes_no_step():
            # no limit of steps says so in the library, where 0 is the usual one
            options["max_seconds"] = 0.0
        options["certified"], options["preparation_share"] = self._certified, self._preparation_share
        vars(self).pop("certified_", None)
        callback = getattr(self, "callback", None)
        if callback is None and getattr(self, "verbose", False):
            callback = Progress(type(self).__name__)
        try:
            self._model = _native.fit(self._machine, words, formula, self._columns(X), y, labels, weights, options, callback)
        except ValueError as error:
            told = in_words(str(error), self._spelling)
            if told == str(error):
                raise
            raise ValueError(told) from None
        self._keep_known(labels)
        if isinstance(callback, Progress):
            callback.end()
        self._keep_report()
        return self

    def _takes_no_step(self):
        """Whether max_iter is 0, which leaves the solver where it begins."""
        return isinstance(getattr(self, "max_iter", None), numbers.Integral) and self.max_iter == 0

    def _keep_known(self, labels):
        """Forgets classes that the model has not learned from, since all their examples were set aside for regions."""
        if labels is None or self._model.labels == labels or getattr(self, "classes_", None) is None:
            return
        kept = [labels.index(label) for label in self._model.labels]
        self.classes_ = self.classes_[kept]
        places = np.zeros(len(labels), dtype=np.intp)
        places[kept] = np.arange(len(kept))
        if hasattr(self, "_codes"):
            self._codes = places[self._codes]
        if hasattr(self, "class_weight_"):
            self.class_weight_ = self.class_weight_[kept]

    def _keep_report(self):
        """Keeps the report of the solver, and warns where it ended early."""
        vars(self).update(self._told_by_report(self._model.report))
        if self.status_ != "converged":
            advice = "".join(f" {sentence}." for sentence in self.report_["advice"])
            warnings.warn(f"{self._ended_early()}{advice}", ConvergenceWarning, stacklevel=4)

    def _ended_early(self):
        """That the solver ended early, in the words of scikit-learn, which warnings are filtered by."""
        why = f"max_iter={getattr(self, 'max_iter', None)}" if self.status_ == "iteration_limit" else self.status_
        return f"Solver terminated early ({why}).  Consider pre-processing your data with StandardScaler or MinMaxScaler."

    def _steps(self, report):
        return report["iterations"]

    def _scores(self, X):
        check_is_fitted(self)
        X = self._check(X, reset=False)
        return self._model.scores(self._columns(X), threads_of(getattr(self, "n_jobs", None)))

    def _remember(self, model, y):
        """Takes a model that stands for what was learned from the targets y."""
        self._model = model
        if is_classifier(self):
            self.classes_ = np.unique(y)

    def _validate(self):
        """Refuses parameters out of range in scikit-learn's words."""
        if not get_config().get("skip_parameter_validation", False):
            kernel = getattr(self, "kernel", None)
            if isinstance(kernel, type) and issubclass(kernel, Kernel):
                raise InvalidParameterError(f"The 'kernel' parameter of {type(self).__name__} is the class {kernel.__name__}; "
                                            f"give a kernel of it: {kernel.__name__}()")  # fmt: skip
            try:
                self._validate_params()
            except InvalidParameterError as error:
                if not isinstance(kernel, str) or "The 'kernel' parameter" not in str(error) or not _is_formula(kernel):
                    raise
                raise InvalidParameterError(f"{error} A formula is written mercer.kernel({kernel!r}).") from None

    def _weights(self, sample_weight, X):
        """Weights of the examples, or None."""
        if sample_weight is None:
            return None
        n = count_of(X)
        if isinstance(sample_weight, numbers.Number):
            weights = np.full(n, float(sample_weight))
        else:
            weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight")
        if weights.shape != (n,):
            raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
        if not (weights > 0).any():
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        if (weights >= 0).all():
            return weights
        if not self._drops_negative:
            place = int(np.argmax(weights < 0))
            raise ValueError(f"sample_weight[{place}] = {weights[place]:g} is negative; weights must be at least 0")
        return np.maximum(weights, 0.0)

    def _labels_of(self, X):
        """The predicted class of each example."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        return self.classes_[self._model.codes(self._columns(X), threads_of(getattr(self, "n_jobs", None)))]

    def _balances(self):
        """Whether classes are weighed by their numbers."""
        return isinstance(getattr(self, "class_weight", None), str) and self.class_weight == "balanced"

    def _asked(self, **options):
        """What is asked of certificates."""
        return {**options, "threads": threads_of(getattr(self, "n_jobs", None))}

    def _examples(self, X, y):
        """Examples and their target as they were given to the fit."""
        X = self._check(X, reset=False)
        # detectors look at no target
        if y is None or isinstance(self, OutlierMixin):
            return self._columns(X), None, None
        y = np.asarray(y)
        if getattr(self, "classes_", None) is not None:
            y = column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y
            return (self._columns(X), *coded(y, self.classes_))
        y = np.ascontiguousarray(y, dtype=np.float64)
        return self._columns(X), y.reshape(len(y), -1), None

    # ----------------------------------------------------------------------------------------------------------- files

    def _told_by_report(self, report):
        report = {**report, "advice": [in_words(sentence, self._spelling) for sentence in report["advice"]]}
        if self._takes_no_step() and report["status"] == "time_limit":
            report["status"] = "iteration_limit"
        return {"status_": report["status"], "objective_": report["objective"], "duality_gap_": report["duality_gap"],
                "n_iter_": self._steps(report), "report_": report}  # fmt: skip

    def _written(self):
        """The model that files are written of."""
        check_is_fitted(self)
        if getattr(self, "_model", None) is None:
            raise ValueError(f"this {type(self).__name__} was not learned by mercer's own solver, so there is no model of "
                             "mercer's to write; pickle it")  # fmt: skip
        return self._model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model as a file that the `mercer` program and :func:`mercer.load` read."""
        model, names = self._written(), self._column_names()
        if self._was_called():
            what = "is a Python function" if self._is_function() else "is one that mercer's formulas do not have"
            raise ValueError(f"the kernel {what}, which a model file cannot hold; pickle it, or use a kernel of mercer.kernels")
        (model.with_column_names(names) if names else model).save(path)

    def to_libsvm(self) -> bytes:
        """The model as the bytes of a LIBSVM model file."""
        return self._written().to_libsvm()

    def to_onnx(self) -> bytes:
        """The model as the bytes of an ONNX file (opset 17, double precision), which runs without mercer.

        Its input is `x`, of shape (n, n_features) and dtype float64, or one for each named view. Regressors and
        transformers have the output `values`; classifiers and detectors have `scores`, `code` (the place in `classes_`,
        or 0 for an inlier and 1 for an outlier), `label` (as text) and, where they were learned, `probabilities`.

        The file has mercer's own scores, which this package turns into scikit-learn's spelling:

        * a classifier with one score for each pair of classes has them in `scores`, positive for the first of the pair.
          For two classes `decision_function` is therefore `-scores`; for more it is `scores` itself where
          `decision_function_shape` is "ovo", and is counted from them where it is "ovr". `break_ties` is not in the file;
        * one score for each class (`LinearSVC`, one against the rest): for two classes `decision_function` is made of the
          second;
        * `OneClassSVM.decision_function` is `scores`, and −1 is the label "outlier";
        * `KernelPCA.transform` turns the signs of some columns of `values` and may leave out or add columns of zeros.

        What the file cannot say is a `UserWarning`.
        """
        model = self._written()
        if self._was_called():
            what = "is a Python function" if self._is_function() else "is one that mercer's formulas do not have"
            raise ValueError(f"the kernel {what}, which an ONNX file cannot hold; use a kernel of mercer.kernels")
        return onnx_of(model)


def onnx_of(model: _native.Model) -> bytes:
    """The bytes of an ONNX file; its notes become warnings."""
    bytes_, notes = model.to_onnx()
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=3)
    return bytes_


class Detector(NoveltyMixin, OutlierMixin):
    """What detectors of novelties say; `offset_` is learned."""

    offset_: Vector

    def decision_function(self, X: Data) -> Matrix:
        """Above zero for what is like the training examples."""
        return self._scores(X).ravel()

    def score_samples(self, X: Data) -> Vector:
        """The decision function without its offset."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Data) -> Array:
        """1 for what is like the training examples, −1 for what is not."""
        return np.where(self.decision_function(X) >= 0, 1, -1).astype(np.intp)


def seed_of(random_state):
    """The seed of a random state in scikit-learn's spelling; None is always the same."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
