"""What the plots share: colours, axes, names and marks. matplotlib is imported where something is drawn, never before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

# the palette of Okabe & Ito (Color Universal Design, 2008), strong contrasts first, as in the program's figures
CLASSES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442", "#4d4d4d")
# five shapes, so that colour and shape together repeat only after forty classes
SHAPES = ("o", "s", "^", "D", "v")
# ColorBrewer's Blues (Harrower & Brewer 2003), from almost white to dark
BLUES = ("#f7fbff", "#d0e1f2", "#94c4df", "#4a98c9", "#1764ab", "#08306b")
INK, SOFT, FAINT = "#1f2328", "#57606a", "#e4e7eb"
# more classes than this do not fit a legend
LONGEST = 18
# above so many points the marks are small and translucent
MANY = 2000


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes to draw on: those given, or those of a new figure."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as missing:
        raise ImportError(
            "mercer.plot draws with matplotlib, which is not installed: pip install matplotlib"
        ) from missing
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    elif not hasattr(ax, "transData"):
        raise TypeError(f"ax must be the Axes of a matplotlib figure, not {type(ax).__name__}")
    ax.tick_params(which="both", colors=SOFT, labelcolor=SOFT)
    for spine in ax.spines.values():
        spine.set_color(SOFT)
        spine.set_linewidth(0.8)
    return ax


def towards(colour: str, other: str, t: float) -> tuple[float, ...]:
    """The colour a part t of the way to another."""
    from matplotlib.colors import to_rgb

    return tuple(a + (b - a) * t for a, b in zip(to_rgb(colour), to_rgb(other)))


def sequential() -> Colormap:
    """From almost white to dark blue."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("mercer_blues", list(BLUES)).with_extremes(bad="#eceff2")


def diverging(low: str, high: str, faint: float = 0.06, strong: float = 0.5) -> Colormap:
    """From one colour over almost white to another; pale by default, for marks on top."""
    from matplotlib.colors import LinearSegmentedColormap

    stops = [(0.0, towards("white", low, strong)), (0.5, towards("white", low, faint)),
             (0.5, towards("white", high, faint)), (1.0, towards("white", high, strong))]  # fmt: skip
    return LinearSegmentedColormap.from_list("mercer_sides", stops)


def is_dark(colour: Any) -> bool:
    """Whether white words are easier to read on it: relative luminance (Web Content Accessibility Guidelines)."""
    rgb = np.asarray(colour[:3], dtype=float)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return bool(linear @ (0.2126, 0.7152, 0.0722) < 0.215)


def points(ax: Axes, places: Any, codes: Any, names: list[str], rings: Any = (), crosses: Any = ()) -> list[Any]:
    """Examples with the colour and shape of their class, rings and crosses on top; gives the entries of a legend."""
    from matplotlib.lines import Line2D

    many = len(places) > MANY
    size, alpha, edge = (8, 0.45, 0.0) if many else (30, 0.9, 0.7)
    entries: list[Any] = []
    for code, name in enumerate(names):
        chosen = codes == code
        colour, shape = CLASSES[code % len(CLASSES)], SHAPES[code % len(SHAPES)]
        style: dict[str, Any] = {"marker": shape, "color": colour, "alpha": alpha}
        outline = "#90892a" if code % len(CLASSES) == 6 else "white"
        ax.scatter(*places[chosen].T, s=size * (0.8 if shape in "sD" else 1.0), linewidths=edge, edgecolors=outline,
                   zorder=3, marker=shape, c=colour, alpha=alpha, label="_" + name)  # fmt: skip
        if code < LONGEST:
            style.update(alpha=1.0, linestyle="none", markersize=5.5, markeredgecolor=outline, markeredgewidth=0.5)
            entries.append(Line2D([], [], label=name, **style))
        elif code == LONGEST:
            entries.append(Line2D([], [], linestyle="none", label=f"and {len(names) - LONGEST} more"))
    entries += ring(ax, places, rings, many)
    if len(crosses):
        ax.scatter(
            *places[crosses].T,
            s=size,
            marker="x",
            c=INK,
            linewidths=0.5 if many else 1.1,
            zorder=5,
            label="_misclassified",
        )
        entries.append(Line2D([], [], marker="x", linestyle="none", color=INK, markersize=5.5, label="misclassified"))
    return entries


def ring(ax: Axes, places: Any, rings: Any, many: bool = False) -> list[Any]:
    """Rings around support vectors, and their entry in a legend."""
    from matplotlib.lines import Line2D

    if not len(rings):
        return []
    ax.scatter(*places[rings].T, s=24 if many else 90, facecolors="none", edgecolors=INK, linewidths=0.5 if many else 0.9,
               alpha=0.5 if many else 0.9, zorder=4, label="_support")  # fmt: skip
    look: dict[str, Any] = {"markerfacecolor": "none", "markeredgecolor": INK, "markeredgewidth": 0.9}
    return [Line2D([], [], marker="o", linestyle="none", markersize=9, label="support vector", **look)]


def legend(ax: Axes, entries: list[Any]) -> None:
    """A column of entries to the right of the axes, where it hides nothing."""
    if entries:
        ax.legend(handles=entries, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, borderaxespad=0.0,
                  labelcolor=INK, handletextpad=0.6, fontsize="small")  # fmt: skip


def colour_bar(ax: Axes, drawn: Any, label: str) -> None:
    """What the colours mean."""
    bar = ax.figure.colorbar(drawn, ax=ax, pad=0.02, fraction=0.05, aspect=24)
    bar.outline.set_edgecolor(SOFT)
    bar.outline.set_linewidth(0.8)
    bar.ax.tick_params(colors=SOFT, labelcolor=SOFT)
    bar.set_label(label, color=INK)


def words(ax: Axes, x: str, y: str, title: str = "") -> None:
    """Labels of the axes, and a title."""
    ax.set_xlabel(x, color=INK)
    ax.set_ylabel(y, color=INK)
    if title:
        ax.set_title(shortened(title), color=INK, fontsize="medium", loc="left")


def shortened(text: str, longest: int = 72) -> str:
    """A text that fits above a figure."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def number(value: float) -> str:
    """Three digits, without an exponent where four will do."""
    text = f"{value:.3g}"
    return f"{value:g}" if "e+" in text else text


def name_of(estimator: Any) -> str:
    """What an estimator is called in a sentence."""
    return type(estimator).__name__


def heat(ax: Axes, values: list[Any], scales: list[bool], cells: Any, best: tuple[float, ...]) -> Any:
    """Cells with their scores, and a frame around the best one."""
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import NullLocator

    (x, y), edges = values, [edges_of(v, s) for v, s in zip(values, scales)]
    drawn = ax.pcolormesh(*edges, np.ma.masked_invalid(cells), cmap=sequential(), edgecolors="white", linewidth=0.6)
    for axis, v, e in zip((ax.xaxis, ax.yaxis), values, edges):
        if len(v) <= 10:
            axis.set_ticks(v, [number(u) for u in v])
        axis.set_minor_locator(NullLocator())
        (ax.set_xlim if axis is ax.xaxis else ax.set_ylim)(e[0], e[-1])
    if len(x) <= 8 and len(y) <= 14:
        spread = float(np.nanmax(cells) - np.nanmin(cells))
        decimals = 3 if spread < 0.05 else 2
        for i, j in np.ndindex(cells.shape):
            if np.isfinite(cells[i, j]):
                ink = "white" if is_dark(drawn.to_rgba(cells[i, j])) else INK
                ax.text(
                    x[j], y[i], f"{cells[i, j]:.{decimals}f}", ha="center", va="center", color=ink, fontsize="small"
                )
    i, j = int(np.searchsorted(y, best[1])), int(np.searchsorted(x, best[0]))
    corner, size = (edges[0][j], edges[1][i]), (edges[0][j + 1] - edges[0][j], edges[1][i + 1] - edges[1][i])
    ax.add_patch(Rectangle(corner, *size, fill=False, edgecolor=CLASSES[1], linewidth=2.2, zorder=5, clip_on=False))
    return drawn


def edges_of(values: Any, geometric: bool) -> Any:
    """Edges of cells around values, halfway between neighbours."""
    at = np.log(values) if geometric else np.asarray(values, dtype=float)
    if len(at) == 1:
        edges = np.array([at[0] - 0.5, at[0] + 0.5])
    else:
        middle = (at[1:] + at[:-1]) / 2
        edges = np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])
    return np.exp(edges) if geometric else edges
