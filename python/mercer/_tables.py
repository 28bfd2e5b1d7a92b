"""The numbers behind the plots: bins of probabilities, and tables of searches."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

# examples of a bin, so that a share means something
LEAST = 10


def chances(estimator: Any, X: Any, target: Any) -> tuple[Any, Any, Any]:
    """All probabilities, the one that is looked at, and whether it came true."""
    from mercer._draw import name_of

    if not hasattr(estimator, "predict_proba"):
        remedy = "fit it with probability=True" if hasattr(estimator, "probability") else "see CalibratedClassifierCV"
        raise TypeError(f"{name_of(estimator)} has no predict_proba; {remedy}")
    table, classes = np.asarray(estimator.predict_proba(X)), np.asarray(estimator.classes_)
    if len(table) != len(target):
        raise ValueError(f"X has {len(table)} examples and y has {len(target)}; they must belong together")
    strange = np.setdiff1d(target, classes)
    if len(strange):
        raise ValueError(
            f"y has the class {strange[0]!r}, which {name_of(estimator)} does not know; it knows {classes.tolist()}"
        )
    if len(classes) == 2:
        return table, table[:, 1], target == classes[1]
    return table, table.max(axis=1), classes[table.argmax(axis=1)] == target


def bins_of(chance: Any, true: Any, most: int) -> list[tuple[float, int, int]]:
    """Mean prediction, how often it came true and how many examples, for bins of about equal counts.

    Equal predictions stay together, and a bin has ten examples or more, as in the program's diagram.
    """
    n = len(chance)
    order = np.argsort(chance, kind="stable")
    count = min(max(n // LEAST, 1), most)
    found, start = [], 0
    for k in range(1, count + 1):
        end = k * n // count
        while start < end < n and chance[order[end]] == chance[order[end - 1]]:
            end += 1
        if end > start:
            part = order[start:end]
            found.append((float(chance[part].mean()), int(true[part].sum()), end - start))
            start = end
    return found


def clopper_pearson(hits: int, n: int, level: float = 0.05) -> tuple[float, float]:
    """The exact interval of a share: quantiles of beta distributions (Clopper & Pearson 1934)."""
    from scipy.stats import beta

    low = float(beta.ppf(level / 2, hits, n - hits + 1)) if hits > 0 else 0.0
    high = float(beta.ppf(1 - level / 2, hits + 1, n - hits)) if hits < n else 1.0
    return low, high


class Table:
    """The scores of a search over one or two numeric parameters."""

    def __init__(self, search: Any, params: Any) -> None:
        results = getattr(search, "cv_results_", None)
        if results is None:
            raise TypeError(
                f"{type(search).__name__} has no cv_results_; search draws a fitted GridSearchCV or its like"
            )
        self.metric = _metric(search, results)
        scores = np.asarray(results[f"mean_test_{self.metric}"], dtype=float)
        spread = np.asarray(results.get(f"std_test_{self.metric}", np.full(len(scores), np.nan)), dtype=float)
        given = list(results["params"])
        every: list[str] = []
        for setting in given:
            every += [name for name in setting if name not in every]
        varying = [name for name in every if len({_key(setting.get(name)) for setting in given}) > 1]
        numeric = [name for name in varying if all(_is_number(setting.get(name)) for setting in given)]
        self.names = numeric[:2] if params is None else _chosen(params, numeric, varying, every)
        if not self.names:
            raise ValueError(f"none of the parameters varies over numbers ({', '.join(varying) or 'nothing varies'})")
        self.others = [name for name in varying if name not in self.names]
        # of each setting the last round, where a search has rounds of rising resources
        last: dict[Any, int] = {}
        rounds = results.get("iter", np.zeros(len(given)))
        for k, setting in enumerate(given):
            key = tuple(_key(setting.get(name)) for name in every)
            if key not in last or rounds[k] >= rounds[last[key]]:
                last[key] = k
        # and of each place the best
        best: dict[Any, int] = {}
        for k in last.values():
            place = tuple(float(given[k][name]) for name in self.names)
            if np.isfinite(scores[k]) and (place not in best or scores[k] > scores[best[place]]):
                best[place] = k
        if not best:
            raise ValueError("no setting has a finite score; look at error_score and the warnings of the search")
        self.places = np.array(sorted(best))
        rows = [best[tuple(place)] for place in self.places.tolist()]
        self.scores, self.spread = scores[rows], spread[rows]
        chosen = getattr(search, "best_index_", None)
        if chosen is None or not np.isfinite(scores[chosen]):
            chosen = rows[int(np.argmax(self.scores))]
        self.best = tuple(float(given[chosen][name]) for name in self.names)
        self.best_score = float(scores[chosen])
        self.folds = int(getattr(search, "n_splits_", 0))

    def axes(self) -> list[Any]:
        """The values of each parameter."""
        return [np.unique(self.places[:, j]) for j in range(len(self.names))]

    def cells(self) -> Any:
        """The scores as a matrix, rows for the second parameter; None if the settings are far from a grid."""
        x, y = self.axes()
        if len(x) * len(y) > 2 * len(self.places):
            return None
        cells = np.full((len(y), len(x)), np.nan)
        cells[np.searchsorted(y, self.places[:, 1]), np.searchsorted(x, self.places[:, 0])] = self.scores
        return cells

    def labels(self) -> list[str]:
        """Names of the parameters without the steps of a pipeline, where that leaves them different."""
        short = [name.split("__")[-1] for name in self.names]
        return short if len(set(short)) == len(short) else list(self.names)


def _metric(search: Any, results: Any) -> str:
    found = [name[len("mean_test_") :] for name in results if name.startswith("mean_test_")]
    refit = getattr(search, "refit", None)
    if isinstance(refit, str) and refit in found:
        return refit
    if len(found) != 1:
        raise ValueError(f"the search has {len(found)} scores ({', '.join(found)}); name one of them with refit=")
    return found[0]


def _chosen(params: Any, numeric: list[str], varying: list[str], every: list[str]) -> list[str]:
    names = [params] if isinstance(params, str) else list(params)
    if not 1 <= len(set(names)) == len(names) <= 2:
        raise ValueError(f"params are one or two different names, not {params!r}")
    for name in names:
        if name not in numeric:
            why = (
                "is not a number everywhere"
                if name in varying
                else "does not vary"
                if name in every
                else "is not searched"
            )
            raise ValueError(f"the parameter {name!r} {why}; use {', '.join(numeric) or 'another search'}")
    return names


def _key(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)) and bool(np.isfinite(float(value)))
    )


def is_geometric(values: Any) -> bool:
    """Whether values span a factor of eight and are spaced by ratios rather than by differences."""
    values = np.unique(values)
    if len(values) < 2 or values[0] <= 0 or values[-1] < 8 * values[0]:
        return False
    places = np.arange(len(values))
    # how straight the values rise, on either scale; also for values drawn at random
    plain, ratios = (np.corrcoef(places, v)[0, 1] for v in (values, np.log(values)))
    return bool(ratios >= plain - 1e-9 or values[-1] >= 100 * values[0] and plain < 0.98)
