"""Decision surfaces: the sides of a boundary, and the regions of several classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer import _draw
from mercer._draw import CLASSES, INK, name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mercer._plane import Plane, Said


def classes_of(estimator: Any, X: Any, target: Any, said: Said) -> tuple[list[str], Any, Any]:
    """Names of the classes, the place of each example's among them (None if unknown), and the misclassified examples."""
    nobody = np.array([], dtype=int)
    if said.detects:
        names = ["usual", "unusual"]
        if target is None:
            return names, (np.asarray(estimator.predict(X)) < 0).astype(int), nobody
        if np.isin(target, (-1, 1)).all():
            return names, (target < 0).astype(int), np.flatnonzero(np.asarray(estimator.predict(X)) != target)
        known = np.unique(target)
        return [str(c) for c in known.tolist()], np.searchsorted(known, target), nobody
    known = np.asarray(said.classes)
    if target is None:
        return [str(c) for c in known.tolist()], None, nobody
    if said.clusters:
        known = np.unique(target)
        return [str(c) for c in known.tolist()], np.searchsorted(known, target), nobody
    strange = np.setdiff1d(target, known)
    if len(strange):
        raise ValueError(
            f"y has the class {strange[0]!r}, which {name_of(estimator)} does not know; it knows {known.tolist()}"
        )
    order = np.argsort(known)
    codes = order[np.searchsorted(known, target, sorter=order)]
    return [str(c) for c in known.tolist()], codes, np.flatnonzero(np.asarray(estimator.predict(X)) != target)


def sides(ax: Axes, plane: Plane, said: Said, values: Any, whole: dict[str, Any]) -> list[Any]:
    """Decision values of two classes or of a detector, with their levels."""
    from matplotlib.lines import Line2D

    shown = values - said.level
    sizes = np.abs(shown[np.isfinite(shown)])
    # nearly the largest size: a single peak must not bleach the rest
    full = max(float(np.quantile(sizes, 0.95)), np.finfo(float).tiny) if len(sizes) else 1.0
    low, high = (CLASSES[1], CLASSES[0]) if said.detects else (CLASSES[0], CLASSES[1])
    ax.imshow(shown, cmap=_draw.diverging(low, high), vmin=-full, vmax=full, interpolation="bilinear", **whole)
    entries = []
    lines = [((0.0,), {"linewidths": 1.5}, said.words)]
    if said.margin:
        lines.append(((-1.0, 1.0), {"linewidths": 0.9, "linestyles": "dashed"}, "f = ±1"))
    for levels, style, label in lines:
        levels = tuple(level for level in levels if shown.min() < level < shown.max())
        if levels:
            ax.contour(*plane.lines, shown, levels=levels, colors=INK, **style)
            entries.append(
                Line2D([], [], color=INK, lw=style["linewidths"], ls=style.get("linestyles", "-"), label=label)
            )
    return entries


def regions(ax: Axes, plane: Plane, codes: Any, whole: dict[str, Any]) -> None:
    """The ground that each of several classes holds, and the boundaries between."""
    from scipy.ndimage import gaussian_filter

    grounds = np.array([_draw.towards("white", colour, 0.24) for colour in CLASSES])
    ax.imshow(grounds[codes % len(CLASSES)], interpolation="nearest", **whole)
    present = np.unique(codes)
    # the last class has all its boundaries drawn by the others
    for code in present[:-1]:
        # steps of the grid are rounded off
        inside = gaussian_filter((codes == code).astype(float), 2.0, mode="nearest")
        if inside.min() < 0.5 < inside.max():
            ax.contour(*plane.lines, inside, levels=(0.5,), colors=INK, linewidths=1.1)
