"""The shared road of a search: many candidates on many folds with one set of kernel values, and what may not take it."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from copy import copy
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib.logger import short_format_time
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin, is_classifier
from sklearn.metrics import r2_score
from sklearn.metrics._scorer import _MultimetricScorer, _PassthroughScorer, _Scorer
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params, column_or_1d

from mercer import _native
from mercer._constraints import WITH_WIDTH
from mercer._data import take, threads_of, views_of
from mercer._kernel import views_wanted
from mercer._labels import encode, spell
from mercer._linear import class_weight_of
from mercer.kernel_ridge import KernelRidge, Pairwise
from mercer.svm import LinearSVC

# measures of which scikit-learn's checks would take longer than the measuring; several targets count alike
QUICK = {
    "accuracy": lambda y, p: float(np.mean(y == p)),
    "r2": lambda y, p: r2_score(y, p),
    "neg_mean_squared_error": lambda y, p: -float(np.mean((y - p) ** 2)),
    "neg_root_mean_squared_error": lambda y, p: -float(np.mean(np.sqrt(np.mean((y - p) ** 2, axis=0)))),
    "neg_mean_absolute_error": lambda y, p: -float(np.mean(np.abs(y - p))),
}
# values that are told apart by what they are; any other object is told apart by which one it is
PLAIN = (type(None), bool, int, float, complex, str, bytes)


class Uncovered(Exception):
    """Why a search is left to scikit-learn."""


class Foreign(Uncovered):
    """The estimator is none of mercer's: nothing worth a warning."""


class Remembered:
    """Stands for a model whose answers about the held-out examples are known already."""

    def __init__(self, codes, scores):
        self._codes, self._scores = codes, scores

    def scores(self, views=None, threads=0):
        return self._scores

    def codes(self, views=None, threads=0):
        return self._codes


class Recorded:
    """A splitter that gives the splits which it gave before: an iterator is empty afterwards, and a random one gives others."""

    def __init__(self, cv, splits):
        self._cv, self._splits = cv, splits

    def __getattr__(self, name):
        return getattr(vars(self)["_cv"], name)

    def split(self, X=None, y=None, groups=None):
        return iter(self._splits)

    def get_n_splits(self, X=None, y=None, groups=None):
        return len(self._splits)


class Heard:
    """A callback that remembers what it has raised, which is not an error of a candidate."""

    def __init__(self, callback):
        self._callback, self.raised = callback, None

    def __call__(self, *told):
        try:
            return self._callback(*told)
        except BaseException as error:
            self.raised = error
            raise


@dataclass
class Batch:
    """Examples, how they are split, and the estimators that are tried on them."""

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    splits: list  # (number, places to learn from, places held out, the same in the data of the user)
    estimators: dict  # by the number of the candidate
    prepared: float = 0.0  # seconds


@dataclass
class Answer:
    """What one candidate said on one split, before it is scored."""

    batch: Batch
    X: Any
    width: int
    candidate: int
    split: tuple
    classes: np.ndarray | None
    told: tuple


class Work:
    """Runs batches and has every answer scored; `out` has what GridSearchCV's workers return, by candidate and split."""

    def __init__(self, X, y, scorers, score_params, quick, callback):
        self.X, self.y, self.scorers, self.score_params, self.callback = X, y, scorers, score_params, callback
        self.quick = None if score_params else quick
        self.out = {}
        # candidates of which a solver ended early: where it started from matters then
        self.unfinished = set()

    def run(self, batch, threads):
        """One native call for each kernel; returns the answers."""
        first = next(iter(batch.estimators.values()))
        classes, y, labels = None, batch.y, None
        if is_classifier(first):
            classes, codes = encode(y)
            target, labels = codes.astype(np.float64), spell(classes)
        else:
            target = np.ascontiguousarray(np.asarray(y, dtype=np.float64).reshape(len(y), -1))
        answers = []
        for (kernel, numbers, *_), (X, width, members) in self._groups(batch).items():
            views = views_of(X)
            estimators = [batch.estimators[c] for c in members]
            splits = [batch.splits[k] for k in numbers]
            if isinstance(first, KernelRidge) and leaves_one_out(splits, len(y)):
                began = time.time()
                levels = [float(e.alpha) for e in estimators]
                left_out = _native.leave_one_out(kernel, views, target, levels, threads)
                share = (time.time() - began) / (len(levels) * len(splits))
                table = [[(None, p[test], share, 0.0, "converged") for _, _, test, _ in splits] for p in left_out]
            else:
                parts = [self._part(batch, split, estimators[0]) for split in splits]
                words = [[(n, v) for n, v in e._settings().items() if v is not None] for e in estimators]
                table = _native.trials(first._machine, words, kernel, views, target, labels, parts, self.quick is None,
                                       threads, self.callback)  # fmt: skip
            for c, row in zip(members, table):
                answers += [Answer(batch, X, width, c, split, classes, told) for split, told in zip(splits, row)]
        return answers

    def _groups(self, batch):
        """Candidates with the same kernel on the same splits and with the same weights of classes, and their examples."""
        cells = defaultdict(lambda: defaultdict(list))
        checked, parts = {}, {}
        for c, estimator in batch.estimators.items():
            # kernels of mercer say which views they look at, and whether numbers may be missing
            own = estimator._own_kernel()
            looks = None if own is None else (tuple(views_wanted(own)), estimator._finite())
            if looks not in checked:
                X = estimator._check(batch.X, reset=True)
                checked[looks] = X, getattr(estimator, "n_features_in_", 1)
            X, _ = checked[looks]
            for k, (_, train, _, _) in enumerate(batch.splits):
                learned = X
                if looks_at_examples(estimator):
                    if (looks, k) not in parts:
                        parts[looks, k] = take(X, train)
                    learned = parts[looks, k]
                kernel = estimator._formula(learned)
                if learned is not X:
                    kernel = _native.kernel_resolved(kernel, views_of(learned))
                cells[kernel, looks][c].append(k)
        groups = {}
        for (kernel, looks), numbers in cells.items():
            for c, places in numbers.items():
                weighing = mark(getattr(batch.estimators[c], "class_weight", None))
                place = kernel, tuple(places), looks, weighing
                groups.setdefault(place, (*checked[looks], []))[2].append(c)
        return groups

    def _part(self, batch, split, estimator):
        """Places to learn from, places that are held out, and weights."""
        _, train, test, _ = split
        weights = None if batch.weights is None else batch.weights[train]
        # some machines weigh classes themselves
        if getattr(estimator, "class_weight", None) is not None and "class_weight" not in estimator._settings():
            y = batch.y[train]
            known = np.unique(y)
            factors = class_weight_of(estimator, known, y, weights)
            if not (factors > 0).all():
                raise Uncovered("a class has a weight that is not above zero")
            weights = factors[np.searchsorted(known, y)] * (1.0 if weights is None else weights)
        return np.ascontiguousarray(train, dtype=np.int64), np.ascontiguousarray(test, dtype=np.int64), weights

    def score(self, answer):
        """Measures an answer, and keeps what comes out."""
        batch, candidate = answer.batch, answer.candidate
        number, train, test, held_out = answer.split
        codes, scores, fit_time, score_time, status = answer.told
        if status != "converged":
            self.unfinished.add(candidate)
        began = time.time()
        if self.quick is not None:
            if answer.classes is None:
                predicted = scores.reshape(batch.y[test].shape)
                if not np.isfinite(predicted).all():
                    raise Uncovered("a prediction is not finite")
            else:
                predicted = np.unique(batch.y[train])[codes]
            value = self.quick(batch.y[test], predicted)
        else:
            estimator = copy(batch.estimators[candidate])
            # what is scored are arrays, also where a frame was given
            vars(estimator).pop("feature_names_in_", None)
            estimator.n_features_in_ = answer.width
            estimator._remember(Remembered(codes, scores), batch.y[train])
            params = _check_method_params(self.X, self.score_params, indices=held_out)
            value = self.scorers(estimator, take(answer.X, test), _safe_indexing(self.y, held_out), **params)
            value = {k: number_of(v) for k, v in value.items()} if isinstance(value, dict) else number_of(value)
        self.out[candidate, number] = {
            "test_scores": value, "fit_time": fit_time + batch.prepared, "score_time": score_time + time.time() - began,
            "n_test_samples": len(test), "fit_error": None,
        }  # fmt: skip


def number_of(score):
    """A score as scikit-learn takes it; errors of a measure are its to tell."""
    score = score.item() if hasattr(score, "item") else score
    if not isinstance(score, Number):
        raise Uncovered("a measure gave no number")
    return score


def line_of(verbose, candidate, split, parameters, told):
    """What GridSearchCV prints about a fit."""
    progress = f" {split[0] + 1}/{split[1]}" if verbose > 2 else ""
    progress += f"; {candidate[0] + 1}/{candidate[1]}" if verbose > 9 else ""
    words = ", ".join(f"{name}={parameters[name]}" for name in sorted(parameters))
    start, score = f"[CV{progress}] START {words}", told["test_scores"]
    result = f"{words};" if words else ""
    if verbose > 2:
        several = isinstance(score, dict)
        result += "".join(f" {name}: (test={score[name]:.3f})" for name in sorted(score)) if several else f", score={score:.3f}"
    result += f" total time={short_format_time(told['fit_time'] + told['score_time'])}"
    end = f"[CV{progress}] END "
    end += "." * (80 - len(end) - len(result)) + result
    return f"{start}{(80 - len(start)) * '.'}\n{end}" if verbose > 9 else end


# ------------------------------------------------------------------------------------------------- what may take the road


def as_written(estimator):
    """Whether the class is one of mercer's and nobody has put methods of their own in it: what these do, nobody knows."""
    cls = type(estimator)
    known = getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls
    methods = [getattr(cls, name, None) for name in ("fit", "predict", "decision_function", "score")]
    homes = [cls.__module__, *(getattr(method, "__module__", "mercer") or "" for method in methods)]
    return known and cls.__module__.startswith("mercer.") and all(home.split(".")[0] in ("mercer", "sklearn") for home in homes)


def readable(scorers):
    """Refuses measures of more than predictions and decision values."""
    for scorer in scorers._scorers.values() if isinstance(scorers, _MultimetricScorer) else [scorers]:
        if type(scorer) is _PassthroughScorer:
            continue
        wanted = scorer._response_method if type(scorer) is _Scorer else None
        wanted = (wanted,) if isinstance(wanted, str) else wanted
        if not wanted or not {"predict", "decision_function"} & set(wanted) or wanted[0] == "predict_proba":
            raise Uncovered(f"the measure {scorer} asks for more than predictions")


def quick(scoring, estimators):
    """The measure, where it needs predictions alone, is known here, and is one for these estimators."""
    mixin, own = (ClassifierMixin, "accuracy") if is_classifier(estimators[0]) else (RegressorMixin, "r2")
    if any(getattr(estimator, "break_ties", False) for estimator in estimators):
        return None
    if scoring is None:
        return QUICK[own] if all(type(estimator).score is mixin.score for estimator in estimators) else None
    known = isinstance(scoring, str) and (scoring == "accuracy") == (own == "accuracy")
    return QUICK.get(scoring) if known else None


def coverable(estimator, weights):
    """Refuses what the native half cannot try, and what it would try otherwise than the estimator."""
    if estimator._is_called() or isinstance(estimator, Pairwise) and not estimator._known():
        raise Uncovered("the kernel is a function")
    for name in ("max_seconds", "conformal", "callback"):
        if getattr(estimator, name, None) is not None:
            raise Uncovered(f"{name} of the estimator is set")
    if getattr(estimator, "verbose", False):
        raise Uncovered("verbose of the estimator is set")
    if estimator._takes_no_step():
        raise Uncovered("the solver may take no step")
    if isinstance(estimator, LinearSVC) and (estimator.penalty != "l2" or estimator.multi_class != "ovr"):
        raise Uncovered("penalty and multi_class of LinearSVC are not the usual ones")
    own = estimator._own_kernel()
    if own is not None and _native.kernel_learns(own):
        raise Uncovered("the kernel learns from the examples of a fold")
    plain = not isinstance(estimator, KernelRidge) or (weights is None and np.ndim(estimator.alpha) == 0 and estimator.alpha > 0)
    if not plain:
        raise Uncovered("KernelRidge with weights, or an alpha that is not one number above zero")
    threads_of(getattr(estimator, "n_jobs", None))
    if hasattr(estimator, "_parameter_constraints"):
        estimator._validate_params()
    estimator._validate()


def alike(estimators):
    """Refuses candidates that do not take their examples in the same way."""
    if len({(type(e), e._is_pairwise()) for e in estimators}) > 1:
        raise Uncovered("some candidates take examples, and others a matrix")


def target_of(estimator, y):
    """The target as a fit takes it."""
    if sp.issparse(y):
        raise Uncovered("the target is sparse")
    values = np.asarray(y)
    return values if isinstance(estimator, MultiOutputMixin) else column_or_1d(values, warn=True)


def weights_of(weights, n):
    """Weights of the examples; what a fit says of odd ones, it says itself."""
    if weights is None:
        return None
    numbers = np.asarray(weights, dtype=np.float64)
    if numbers.shape != (n,) or not (np.isfinite(numbers) & (numbers > 0)).all():
        raise Uncovered("the weights are not one number above zero for each example")
    return numbers


def places_of(places, n):
    """Places among n examples, which may be given as a mask."""
    places = np.asarray(places)
    if places.ndim == 1 and places.dtype == bool and len(places) == n:
        places = np.flatnonzero(places)
    if places.ndim != 1 or len(places) == 0 or places.dtype.kind not in "iu" or places.min() < -n or places.max() >= n:
        raise Uncovered("a split has places that are none of the examples, or no place")
    return np.where(places < 0, places + n, places).astype(np.int64)


def enough_classes(estimators, y, splits):
    """Refuses folds from which a classifier cannot learn: which those are, and what they say, the fits tell."""
    for estimator in estimators:
        if not is_classifier(estimator):
            continue
        least = 2 if getattr(estimator, "probability", False) else 1
        for _, train, _ in splits:
            _, counts = np.unique(y[train], return_counts=True)
            if len(counts) < 2 or counts.min() < least:
                raise Uncovered("a fold has too few examples of a class")


def looks_at_examples(estimator):
    """Whether a number of the kernel is taken from the examples of a fold."""
    own = estimator._own_kernel()
    if own is not None:
        return _native.kernel_has_words(own)
    scales = isinstance(estimator.kernel, str) and estimator.kernel in WITH_WIDTH
    return scales and getattr(estimator, "gamma", None) == "scale"


def leaves_one_out(splits, n):
    """Whether each example is held out once, and all others are learned from."""
    if len(splits) != n or any(len(test) != 1 or len(train) != n - 1 for _, train, test, _ in splits):
        return False
    others = [np.bincount(train, minlength=n).max() == 1 and test[0] not in train for _, train, test, _ in splits]
    return all(others) and len({int(test[0]) for _, _, test, _ in splits}) == n


def mark(value) -> Any:
    """What tells a value of a parameter from others."""
    if type(value) in PLAIN or isinstance(value, (np.bool_, np.number)):
        return type(value), repr(value)
    if type(value) in (tuple, list):
        return type(value), tuple(map(mark, value))
    if type(value) is dict:
        return dict, tuple((mark(k), mark(v)) for k, v in value.items())
    return "object", id(value)


def stack(known, unknown, train, test):
    """What the earlier steps made of the examples of a fold, above what they made of the others."""
    if any(not hasattr(part, "shape") or part.ndim != 2 for part in (known, unknown)) or type(known) is not type(unknown):
        raise Uncovered("the steps before the last one make no table")
    if (known.shape[0], unknown.shape[0]) != (len(train), len(test)) or known.shape[1] != unknown.shape[1]:
        raise Uncovered("the steps before the last one change the number of examples, or of columns")
    if sp.issparse(known):
        both = sp.vstack([known, unknown]).tocsr()
    elif hasattr(known, "iloc"):
        import pandas as pd

        if not known.dtypes.equals(unknown.dtypes):
            raise Uncovered("the steps before the last one make other columns of other examples")
        return pd.concat([known, unknown])
    elif isinstance(known, np.ndarray):
        both = np.concatenate([known, unknown])
    else:
        raise Uncovered(f"the steps before the last one make a {type(known).__name__}")
    if known.dtype != unknown.dtype:
        raise Uncovered("the steps before the last one make other numbers of other examples")
    return both
