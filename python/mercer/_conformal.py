"""Sets, intervals and p-values with a proven coverage, for estimators whose parameter `conformal` asks for them."""

from __future__ import annotations

import warnings
from typing import Any, TypedDict, Union

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mercer._data import Data, Matrix, available_if, threads_of
from mercer._labels import spell

__all__ = ["Recipe", "RecipeLike", "SetsMixin", "IntervalsMixin", "NoveltyMixin", "recipe_of"]


class Recipe(TypedDict, total=False):
    """How regions are learned: `method` is "split", "cross", "jackknife" or, for ridge regression, "full".

    `share` of the examples is set aside by split; with the other methods it gives data-driven parameters of the kernel (``gamma="scale"``), where
    there are some, and is never held out.
    """

    method: str
    share: float
    folds: int
    mondrian: bool
    retrain: bool


RecipeLike = Union[str, Recipe, None]
USUAL: dict[str, Any] = {"share": 0.25, "folds": 10, "mondrian": False, "retrain": False}
# what only one method has
OWNERS = {"folds": "cross", "retrain": "jackknife"}


def recipe_of(conformal: RecipeLike) -> tuple[str, float, int, bool, bool] | None:
    """What the Rust half takes: method, share, folds, mondrian, retrain."""
    if conformal is None:
        return None
    if not isinstance(conformal, (str, dict)):
        raise ValueError(f"conformal={conformal!r}: give 'split', 'cross', 'jackknife' or 'full', or a dict with the key 'method'")
    given: dict[str, Any] = {"method": conformal} if isinstance(conformal, str) else dict(conformal)
    method = given.pop("method", None)
    if method not in ("split", "cross", "jackknife", "full"):
        raise ValueError(f"conformal={conformal!r}: the method must be 'split', 'cross', 'jackknife' or 'full'")
    for name in given:
        if name not in USUAL:
            raise ValueError(f"conformal has no option {name!r}; there are {', '.join(['method', *USUAL])}")
        if OWNERS.get(name, method) != method:
            raise ValueError(f"conformal: {name!r} is for the method {OWNERS[name]!r}; leave it out with {method!r}")
    chosen = {**USUAL, **given}
    return method, float(chosen["share"]), int(chosen["folds"]), bool(chosen["mondrian"]), bool(chosen["retrain"])


def _has_conformal(self):
    model = getattr(self, "_model", None)
    if getattr(self, "conformal", None) is None and not getattr(model, "conformal", False):
        raise AttributeError(f"{type(self).__name__} has no sets or intervals: fit with conformal='split', 'cross', "
                             "'jackknife' or 'full', or call calibrate with held-out examples")  # fmt: skip
    return True


class _Calibrated:
    _model: Any
    n_jobs: int | None

    def _seen(self, X):
        """Checked examples as the Rust half takes them, and threads."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        return self._columns(X), threads_of(getattr(self, "n_jobs", None))

    def _calibrate(self, X, y, labels, mondrian):
        self._written()
        views, threads = self._seen(X)
        self._model, left_out = self._model.calibrated(views, y, labels, mondrian, threads)
        if left_out:
            warnings.warn(
                f"{left_out} of the examples to calibrate with are those of training, and are left out", stacklevel=3
            )
        return self

    @available_if(_has_conformal)
    def coverage_guarantee(self, coverage: float = 0.9) -> list[dict[str, Any]]:
        """What is proven of the coverage, for each class if they are judged by themselves.

        `held_out` examples; coverage `least` and, of split and without ties, `most` and `exact`; `fifth`: what these held-out
        examples give in nineteen cases of twenty; `everything`: whether there are too few, so that regions hold everything;
        `unknown`: whether every set holds any class that the model does not know, which counts as covered only then; `condition`:
        what they rest on where some examples are equal, or why there are none where rows were repeated, else None. Coverages are
        None where held-out examples had a part in what was learned before the fits, or rows were repeated, and nothing is proven.
        The parameters must
        not have been chosen by these examples: MercerSearchCV withdraws the proof, and after searches of others, GridSearchCV among
        them, which the model does not know of, there is none either.
        """
        check_is_fitted(self)
        names = ("held_out", "least", "most", "exact", "fifth", "everything", "unknown", "condition")
        return [dict(zip(names, told)) for told in self._model.guarantees(float(coverage))]


class SetsMixin(_Calibrated):
    """Sets of labels."""

    classes_: Any

    @available_if(_has_conformal)
    def predict_set(self, X: Data, coverage: float = 0.9, unknown: bool = False) -> npt.NDArray[np.bool_]:
        """Whether each class is in the set of each example, n × classes.

        A set holds the true class of a new example with this probability at least (see `coverage_guarantee`). It may be
        empty where even the likeliest class is unlike what was held out. With `unknown` a last column tells whether the set
        also holds any class that the model does not know: few held-out examples, or many of new classes, leave such sets open.
        """
        views, threads = self._seen(X)
        sets = self._model.sets(views, float(coverage), threads)
        return sets if unknown else np.ascontiguousarray(sets[:, :-1])

    @available_if(_has_conformal)
    def p_values(self, X: Data) -> Matrix:
        """The p-value of each class for each example; a set holds those above 1 − coverage."""
        views, threads = self._seen(X)
        return self._model.p_values(views, threads)

    def calibrate(self, X: Data, y: Data, mondrian: bool = False) -> Any:
        """Learns sets from held-out examples, which the fit must not have seen."""
        check_is_fitted(self)
        y = column_or_1d(y, warn=True)
        places = {label: place for place, label in enumerate(self.classes_.tolist())}
        # a class that the model does not know has a place of its own
        unknown = len(places)
        codes = np.array([places.get(label, unknown) for label in y.tolist()], dtype=np.float64)
        labels = [*spell(self.classes_), "a class that the model does not know"]
        return self._calibrate(X, codes, labels, mondrian)


class IntervalsMixin(_Calibrated):
    """Intervals of numbers."""

    @available_if(_has_conformal)
    def predict_interval(self, X: Data, coverage: float = 0.9) -> npt.NDArray[np.float64]:
        """Lower and upper ends, n × 2, or n × outputs × 2 where several numbers are predicted.

        An interval holds the number of a new example with this probability at least (see `coverage_guarantee`); several
        outputs are covered each by itself. Ends are infinite where there are too few held-out examples.
        """
        views, threads = self._seen(X)
        ends = np.stack(self._model.intervals(views, float(coverage), threads), axis=-1)
        return ends if self._several() else ends[:, 0, :]

    def _several(self):
        """Whether targets were a table."""
        return False

    def calibrate(self, X: Data, y: Data) -> Any:
        """Learns intervals from held-out examples, which the fit must not have seen."""
        y = np.asarray(y, dtype=np.float64)
        return self._calibrate(X, np.ascontiguousarray(y.reshape(len(y), -1)), None, False)


class NoveltyMixin(_Calibrated):
    """p-values of novelty."""

    @available_if(_has_conformal)
    def p_values(self, X: Data) -> npt.NDArray[np.float64]:
        """The p-value of each example: of what is like the training examples, at most a share α (2α for cross and jackknife) has
        one of α or less."""
        views, threads = self._seen(X)
        return self._model.p_values(views, threads).ravel()

    def calibrate(self, X: Data, y: Data = None) -> Any:
        """Learns p-values from held-out usual examples, which the fit must not have seen."""
        return self._calibrate(X, None, None, False)
