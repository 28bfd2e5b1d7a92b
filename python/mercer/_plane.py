"""Planes through data, and what any estimator says on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier, is_clusterer, is_outlier_detector, is_regressor
from sklearn.utils.validation import check_is_fitted

from mercer._draw import name_of


class Plane:
    """Two features that vary, as a grid of examples for an estimator; the others are held."""

    def __init__(self, estimator: Any, X: Any, features: Any, resolution: int) -> None:
        if isinstance(X, dict) or (isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], str)):
            raise TypeError("a decision surface has two numbers as its axes; strings and named views have none")
        if not isinstance(resolution, (int, np.integer)) or resolution < 2:
            raise ValueError(f"resolution is the number of grid points on each side, at least 2, not {resolution!r}")
        self._frame = X if hasattr(X, "iloc") and hasattr(X, "columns") else None
        self._dense = None if self._frame is not None else np.asarray(X.toarray() if sp.issparse(X) else X)
        table = self._frame if self._frame is not None else self._dense
        if table.ndim != 2 or table.shape[1] < 2:
            raise ValueError(
                f"decision_surface needs examples with two features or more; X has the shape {table.shape}"
            )
        if not len(table):
            raise ValueError("X has no examples")
        self._all = _names(estimator, X, table.shape[1])
        chosen = tuple(features)
        if isinstance(features, str) or len(chosen) != 2:
            raise ValueError(f"features are two places or names, such as (0, 1), not {features!r}")
        first, second = (self._place(feature) for feature in chosen)
        if first == second:
            raise ValueError(f"the two features must differ; both are {self._all[first]!r}")
        self.names = self._all[first], self._all[second]
        self.places = np.column_stack([self._numbers(first), self._numbers(second)])
        self.extent = (*_reach(self.places[:, 0]), *_reach(self.places[:, 1]))
        across, up = (np.linspace(a, b, 2 * resolution + 1)[1::2] for a, b in (self.extent[:2], self.extent[2:]))
        # the centres of the cells
        self.lines = across, up
        self.grid = self._fill({first: np.tile(across, resolution), second: np.repeat(up, resolution)}, resolution**2)

    def _place(self, feature: Any) -> int:
        if isinstance(feature, str):
            if feature not in self._all:
                raise ValueError(f"X has no feature {feature!r}; it has {', '.join(self._all[:12])}")
            return self._all.index(feature)
        if not isinstance(feature, (int, np.integer)) or not -len(self._all) <= feature < len(self._all):
            raise ValueError(f"X has {len(self._all)} features, counted from 0, and none is {feature!r}")
        return int(feature) % len(self._all)

    def _column(self, place: int) -> Any:
        return self._dense[:, place] if self._frame is None else self._frame.iloc[:, place]

    def _numbers(self, place: int) -> Any:
        try:
            column = np.asarray(self._column(place), dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"the feature {self._all[place]!r} is no number; an axis needs numbers") from None
        if not np.isfinite(column).any():
            raise ValueError(f"the feature {self._all[place]!r} has no finite value")
        return column

    def _fill(self, moving: dict[int, Any], size: int) -> Any:
        self.words = False
        if self._frame is None:
            assert self._dense is not None
            middle = np.nanmedian(np.asarray(self._dense, dtype=float), axis=0)
            grid = np.tile(middle, (size, 1))
            for place, values in moving.items():
                grid[:, place] = values
            return grid
        grid = self._frame.iloc[np.zeros(size, dtype=int)].reset_index(drop=True)
        for place, name in enumerate(self._frame.columns):
            column = self._frame.iloc[:, place]
            if place in moving:
                grid[name] = moving[place]
            elif column.dtype.kind in "iuf":
                grid[name] = float(column.median())
            else:
                # the most frequent value, with the column's own type
                self.words = True
                usual = column.mode(dropna=False).iloc[0]
                where = np.flatnonzero(np.asarray(column == usual))
                grid[name] = column.iloc[np.full(size, where[0] if len(where) else 0)].array
        return grid

    @property
    def note(self) -> str:
        """What is held, for the title."""
        others = len(self._all) - 2
        if others == 0:
            return ""
        which = (
            "the other feature is held at its median"
            if others == 1
            else f"the other {others} features are held at their medians"
        )
        return which + (" or most frequent value" if self.words else "")


def _names(estimator: Any, X: Any, d: int) -> list[str]:
    names = getattr(X, "columns", None)
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    if names is None or len(names) != d:
        return [f"feature {j}" for j in range(d)]
    return [str(name) for name in names]


def _reach(values: Any) -> tuple[float, float]:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = 0.06 * (high - low) if high > low else 1.0
    return low - margin, high + margin


class Said:
    """What an estimator says on a grid: `values` of a regressor, `scores` of two sides, or codes of `regions`."""

    kind = "values"
    classes: Any = ()
    level = 0.0
    words = "f = 0"
    margin = detects = clusters = False

    def __init__(self, values: Any, **more: Any) -> None:
        self.values = np.asarray(values)
        self.__dict__.update(more)


def predictions(estimator: Any, grid: Any) -> Said:
    """Decision values where there are two sides, classes or clusters where there are several, else numbers."""
    if not hasattr(estimator, "predict"):
        raise TypeError(f"decision_surface draws what an estimator predicts, and {name_of(estimator)} has no predict")
    tagged = hasattr(estimator, "__sklearn_tags__")
    if tagged:
        check_is_fitted(estimator)
    # models from files have no tags
    readout = getattr(estimator, "readout", None)
    if tagged and is_outlier_detector(estimator) or readout == "novelty":
        return Said(estimator.decision_function(grid), kind="scores", detects=True, words="boundary")
    classes = getattr(estimator, "classes_", None)
    if classes is None or tagged and is_regressor(estimator):
        found = np.asarray(estimator.predict(grid))
        clusters = readout == "clusters" or tagged and is_clusterer(estimator)
        if clusters or tagged and is_classifier(estimator):
            classes, codes = np.unique(found, return_inverse=True)
            return Said(codes, kind="regions", classes=classes, clusters=clusters)
        if found.ndim > 1 and found.shape[1] > 1:
            raise ValueError(f"{name_of(estimator)} predicts {found.shape[1]} numbers for each example; a surface shows one, "
                             "so fit one target")  # fmt: skip
        return Said(found.ravel())
    if isinstance(classes, list):  # one array for each label
        raise TypeError(
            f"{name_of(estimator)} predicts several labels for each example; a surface shows one, so fit one target"
        )
    classes = np.asarray(classes)
    if len(classes) == 2 and hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(grid))
        if scores.ndim == 1:
            return Said(scores, kind="scores", classes=classes, margin=_has_margin(estimator))
    if len(classes) == 2 and hasattr(estimator, "predict_proba") and not hasattr(estimator, "decision_function"):
        chance = np.asarray(estimator.predict_proba(grid))[:, 1]
        return Said(chance, kind="scores", classes=classes, level=0.5, words="p = ½")
    order = np.argsort(classes)
    codes = order[np.searchsorted(classes, estimator.predict(grid), sorter=order)]
    return Said(codes, kind="regions", classes=classes)


def unwrap(estimator: Any) -> tuple[list[Any], Any]:
    """The steps before the last one, and the last one, of pipelines and searches."""
    before: list[Any] = []
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            before += [step for _, step in estimator.steps[:-1] if hasattr(step, "transform")]
            estimator = estimator.steps[-1][1]
        else:
            return before, estimator


def _has_margin(estimator: Any) -> bool:
    """Whether values of ±1 mean a margin: support vectors, or a hinge loss."""
    _, last = unwrap(estimator)
    return hasattr(last, "dual_coef_") and hasattr(last, "support_") or "hinge" in str(getattr(last, "loss", ""))


def support(estimator: Any, X: Any) -> Any:
    """The places of the support vectors among the rows of X; none if X is not what the estimator was fitted on."""
    before, last = unwrap(estimator)
    nobody = np.array([], dtype=int)
    places = np.asarray(getattr(last, "support_", nobody))
    # other estimators have masks of that name
    if places.ndim != 1 or places.dtype.kind not in "iu" or not len(places) or not hasattr(last, "dual_coef_"):
        return nobody
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if getattr(last, "shape_fit_", (n,))[0] != n or places.max() >= n:
        return nobody
    for step in before:
        X = step.transform(X)
    X, vectors = (np.asarray(A.toarray() if sp.issparse(A) else A) for A in (X, last.support_vectors_))
    if vectors.size and not (
        vectors.shape[1] == X.shape[1] and np.allclose(X[places].astype(float), vectors, rtol=1e-4, atol=1e-6)
    ):
        return nobody
    return places
