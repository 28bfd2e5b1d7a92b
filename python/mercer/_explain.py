"""What predictions rest on, and what is taken where nothing is said: the usual estimator and the usual grid."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mercer import _native
from mercer._base import Machine, seed_of
from mercer._constraints import NAMES
from mercer._data import Data, threads_of
from mercer._generated import RESERVED
from mercer._kernel import Kernel, kernel
from mercer._load import LoadedModel
from mercer._progress import Callback

__all__ = ["Explanation", "Importance", "explain", "usual_estimator", "usual_grid"]

# how scikit-learn spells parameters, and how the catalogue does
SPELLED = {"C": "c", "alpha": "lambda"}


@dataclass(frozen=True)
class Importance:
    """How much worse predictions become when one column, or one view, is shuffled among the examples."""

    name: str
    view: str
    mean: float
    #: standard deviation over the permutations, with n − 1
    deviation: float
    repeats: npt.NDArray[np.float64]


class Explanation(Sequence[Importance]):
    """The importances of all columns, or views, in their order; `print` shows the largest first."""

    #: name of the score, and its value for the examples as they are
    score: str
    value: float

    def __init__(self, score: str, value: float, all: list[Importance]) -> None:
        self.score, self.value, self._all = score, value, all

    @property
    def importances_mean(self) -> npt.NDArray[np.float64]:
        """The means, as :func:`sklearn.inspection.permutation_importance` has them."""
        return np.array([one.mean for one in self._all])

    @property
    def importances_std(self) -> npt.NDArray[np.float64]:
        """The standard deviations."""
        return np.array([one.deviation for one in self._all])

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, place: Any) -> Any:
        return self._all[place]

    def __iter__(self) -> Iterator[Importance]:
        return iter(self._all)

    def __repr__(self) -> str:
        lines = [f"what {self.score} ({self.value:.4g}) loses when a column is shuffled"]
        width = max((len(one.name) for one in self._all), default=0)
        for one in sorted(self._all, key=lambda one: -one.mean):
            lines.append(f"  {one.name:<{width}}  {one.mean:.4g} ± {one.deviation:.2g}")
        return "\n".join(lines)


def explain(estimator: Machine | LoadedModel, X: Data, y: Data, *, score: str | None = None, positive: str | None = None,
            by: str = "columns", repeats: int = 10, random_state: Any = 0, n_jobs: int | None = None,
            callback: Callback | None = None) -> Explanation:  # fmt: skip
    """Permutation importance: how much worse an estimator, or a loaded model, predicts when a column is shuffled.

    The importance of a column is the loss with the column shuffled among the examples, less the loss as they are, over
    `repeats` permutations. Columns that tell the same thing share their importance; ``by="views"`` shuffles views as a whole.
    Give examples that the estimator has not seen: on training examples what it has learned by heart looks important, too.

    `score` is a name of ``mercer list scores``; None is the error of labels, or the root mean squared error of numbers.

    Source: L. Breiman, Random Forests (2001), §10.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> from mercer import SVC, explain
    >>> X, X_new, y, y_new = train_test_split(*load_iris(return_X_y=True, as_frame=True), random_state=0)
    >>> told = explain(SVC().fit(X, y), X_new, y_new)
    >>> max(told, key=lambda one: one.mean).name in ("petal length (cm)", "petal width (cm)")
    True
    """
    if isinstance(estimator, Machine):
        check_is_fitted(estimator)
        if getattr(estimator, "_model", None) is None or estimator._is_called():
            raise ValueError("mercer's solver does not see the columns here; use sklearn.inspection.permutation_importance")
    elif not isinstance(estimator, LoadedModel):
        raise TypeError(f"{type(estimator).__name__} is no estimator of mercer; use sklearn.inspection.permutation_importance")
    views, codes, labels = estimator._examples(X, y)
    found, value, told = _native.explain(estimator._model, views, codes, labels, by, int(repeats), score, positive,
                                         seed_of(random_state), threads_of(n_jobs), callback)  # fmt: skip
    names = getattr(estimator, "feature_names_in_", None)
    places = {f"x[{place + 1}]": str(name) for place, name in enumerate([] if names is None else names)}
    all = [Importance(places.get(name, name), view, mean, deviation, np.asarray(repeats))
           for name, view, mean, deviation, repeats in told]  # fmt: skip
    return Explanation(found, value, all)


def usual_estimator(y: Data) -> Machine:
    """The estimator for a target where none is named: one for classes, or one for numbers, with its defaults.

    Words are classes, and so are few whole numbers; other numbers are numbers.

    Examples
    --------
    >>> import mercer
    >>> mercer.usual_estimator(["yes", "no", "yes"]), mercer.usual_estimator([0.1 * i for i in range(30)])
    (SVC(), KernelRidge())
    """
    import mercer

    y = np.asarray(y)
    if y.ndim > 1 and y.shape[1] > 1:
        y = y.astype(np.float64)
        machine = _native.usual_machine(np.arange(1000.0) / 7, None)
    else:
        y = column_or_1d(y)
        numeric = y.dtype.kind in "iuf"
        machine = _native.usual_machine(y.astype(float).tolist() if numeric else None,
                                        None if numeric else [str(one) for one in y.tolist()])  # fmt: skip
    kinds = (getattr(mercer, name) for name in mercer.__all__)
    return next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Machine) and kind._machine == machine)()


def usual_grid(estimator: Machine) -> dict[str, list[Any]]:
    """The grid of :class:`mercer.MercerSearchCV` where none is given: values that machine and kernel declare for those parameters
    of the estimator that have their defaults.

    Examples
    --------
    >>> import mercer
    >>> sorted(mercer.usual_grid(mercer.SVC(gamma=0.5)).items())
    [('C', [0.1, 1.0, 10.0, 100.0, 1000.0])]
    """
    if not isinstance(estimator, Machine):
        raise TypeError(f"{type(estimator).__name__} is no estimator of mercer, so it declares no grid; give param_grid")
    defaults = {name: one.default for name, one in inspect.signature(type(estimator)).parameters.items()}
    values = estimator.get_params(deep=False)
    own = set(getattr(estimator, "_parameters", ()))
    changed = {name for name, usual in defaults.items() if name in values and not _same(values[name], usual)}
    forth = RESERVED if own else SPELLED
    back = {ours: theirs for theirs, ours in forth.items()}
    given = [(forth.get(name, name), 0.0) for name in changed if name not in ("kernel", "gamma", "degree", "coef0") or name in own]
    # generated classes have a formula where scikit-learn's have a name
    named = NAMES.get(estimator.kernel) if isinstance(estimator.kernel, str) and not own else None
    text = named or _native.kernel_text(str(estimator.kernel))
    written = [name for name in ("gamma", "degree") if name in changed] if named else []
    axes = _native.usual_grid(estimator._machine, given, text, written)
    grid: dict[str, list[Any]] = {}
    of_kernel: list[tuple[str, list[Any]]] = []
    for is_own, name, tried in axes:
        if is_own:
            fit = _whole if isinstance(defaults.get(back.get(name, name)), int) else list
            grid[back.get(name, name)] = fit(tried)
        elif named:
            if name in values:
                grid[name] = _whole(tried) if name == "degree" else list(tried)
        else:
            of_kernel.append((name, tried))
    if of_kernel:
        names = [name for name, _ in of_kernel]
        points = product(*(tried for _, tried in of_kernel))
        grid["kernel"] = [_like(estimator, _native.kernel_with(text, list(zip(names, point)))) for point in points]
    if not grid:
        raise ValueError(f"nothing is left to search of {type(estimator).__name__}; give param_grid")
    return grid


def _same(value: Any, usual: Any) -> bool:
    return value is usual or (type(value) is type(usual) and bool(np.all(value == usual)))


def _whole(values: list[Any]) -> list[Any]:
    return [int(value) if float(value).is_integer() else value for value in values]


def _like(estimator: Machine, text: str) -> Kernel | str:
    """A kernel in the form that the estimator has its own in."""
    return kernel(text) if isinstance(estimator.kernel, Kernel) else text
