"""Pictures in one line, as matplotlib axes: `pip install matplotlib`.

Every function takes ``ax`` (the axes to draw on; those of a new figure by default) and returns the axes, so that a picture
is changed and saved as any other: ``plot.gram(k, X).figure.savefig("gram.pdf")``. Colours can be told apart with any colour
vision and are those of the program's figures.

>>> from mercer import SVC, plot
>>> from sklearn.datasets import make_moons
>>> X, y = make_moons(100, noise=0.2, random_state=0)
>>> ax = plot.decision_surface(SVC(C=10).fit(X, y), X, y)
>>> ax.get_xlabel(), ax.get_ylabel()
('feature 0', 'feature 1')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np
import scipy.sparse as sp

from mercer import _draw
from mercer._curves import coordinates, learning_curve, regression, roc
from mercer._draw import CLASSES, FAINT, INK, SOFT, name_of
from mercer._kernel import Kernel
from mercer._kernel import kernel as formula
from mercer._plane import Plane, predictions, support
from mercer._surface import classes_of, regions, sides
from mercer._tables import Table, bins_of, chances, clopper_pearson, is_geometric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

__all__ = [
    "coordinates", "decision_surface", "gram", "learning_curve", "regression", "reliability", "roc", "search", "spectrum",
]  # fmt: skip


def decision_surface(
    estimator: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    features: Sequence[int | str] = (0, 1),
    resolution: int = 200,
    ax: Axes | None = None,
) -> Axes:
    """What an estimator says at every point of a plane, and the examples.

    * Two classes: the decision values f(x) as colours, the boundary f = 0 as a line and, for machines with a margin, the
      lines f = ±1. Without a decision function, the probability of the second class and its level ½.
    * Several classes, and clusters: the region of each.
    * Regressors: the predicted value; the examples have the colour of their own value.
    * Detectors of novelties: the decision values, and the boundary of what is usual.

    Support vectors are ringed if X is what the estimator was fitted on, and misclassified examples are crossed out.

    Parameters
    ----------
    estimator : fitted estimator
        Of mercer or of scikit-learn, also a pipeline or a search.
    X : array, sparse matrix or frame, n × d
        The examples; the plane reaches a little beyond them.
    y : n labels or numbers, optional
        What the examples are.
    features : two places or names
        Which features vary. All others are held at their medians (words at the most frequent one), so examples may lie
        on the other side of the boundary than they seem to.
    resolution : int
        Points of the grid on each side.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer import SVC, plot
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    >>> plot.decision_surface(model, X, y, features=("alcohol", "color_intensity")).get_xlabel()
    'alcohol'
    """
    plane = Plane(estimator, X, features, resolution)
    target = None if y is None else np.asarray(y).ravel()
    if target is not None and len(target) != len(plane.places):
        raise ValueError(f"X has {len(plane.places)} examples and y has {len(target)}; they must belong together")
    said = predictions(estimator, plane.grid)
    ax = _draw.axes(ax, 6.2, 4.2)
    shape = (resolution, resolution)
    whole: dict[str, Any] = {"extent": plane.extent, "origin": "lower", "aspect": "auto"}
    rings = support(estimator, X)
    entries: list[Any] = []
    if said.kind == "values":
        values = said.values.reshape(shape)
        reach = (
            values[np.isfinite(values)] if target is None else np.concatenate([values.ravel(), target.astype(float)])
        )
        low, high = float(reach.min()), float(reach.max())
        image = ax.imshow(values, cmap=_draw.sequential(), vmin=low, vmax=high, interpolation="bilinear", **whole)
        if values.min() < values.max():
            ax.contour(*plane.lines, values, levels=7, colors=INK, linewidths=0.5, linestyles="solid", alpha=0.35)
        fill: dict[str, Any] = {"c": SOFT} if target is None else {"c": target, "cmap": image.cmap, "norm": image.norm}
        ax.scatter(*plane.places.T, s=30, edgecolors=INK, linewidths=0.6, zorder=3, label="_examples", **fill)
        _draw.colour_bar(ax, image, "predicted value" if target is None else "value: predicted (ground), given (marks)")
        entries += _draw.ring(ax, plane.places, rings)
        if entries:
            # above the axes, where it hides nothing
            ax.legend(
                handles=entries, loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False, borderaxespad=0.2,
                fontsize="small", labelcolor=INK,
            )  # fmt: skip
    else:
        classes, codes, wrong = classes_of(estimator, X, target, said)
        if said.kind == "scores":
            entries += sides(ax, plane, said, said.values.reshape(shape), whole)
        else:
            regions(ax, plane, said.values.reshape(shape), whole)
        if codes is None:
            ax.scatter(*plane.places.T, s=24, c=SOFT, edgecolors="white", linewidths=0.6, zorder=3, label="_examples")
            entries = _draw.ring(ax, plane.places, rings) + entries
        else:
            entries = _draw.points(ax, plane.places, codes, classes, rings, wrong) + entries
        _draw.legend(ax, entries)
    ax.set_xlim(*plane.extent[:2])
    ax.set_ylim(*plane.extent[2:])
    _draw.words(ax, *plane.names, plane.note)
    if said.kind == "values" and entries:
        # the title stands above the legend
        ax.set_title(ax.get_title(loc="left"), loc="left", color=INK, fontsize="medium", pad=20)
    return ax


# --------------------------------------------------------------------------------------------------------------- matrices


def gram(
    kernel: Kernel | Callable[..., Any] | ArrayLike,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """The Gram matrix K_ij = κ(x_i, x_j) as an image; with y, sorted by class with lines between the classes.

    A kernel that suits the classes shows dark blocks on the diagonal. Values of one sign are drawn from white to blue, of
    both signs from orange over white (zero) to blue.

    Parameters
    ----------
    kernel : mercer kernel, formula, callable or square array
        A callable is called as ``kernel(X, X)``; an array is the matrix itself, and X is left out.
    X : examples, optional
        What the kernel takes: an array, a list of strings, a dictionary of views.
    y : n labels, optional
        Their classes.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer import plot
    >>> from mercer.kernels import Rbf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> plot.gram(Rbf(gamma=0.5), X, y).images[0].get_array().shape
    (150, 150)
    """
    K, title = _matrix(kernel, X, "gram")
    n = len(K)
    ticks: list[tuple[float, str]] = []
    edges: list[int] = []
    if y is not None:
        target = np.asarray(y).ravel()
        if len(target) != n:
            raise ValueError(f"the matrix has {n} rows and y has {len(target)} labels; they must belong together")
        classes, codes = np.unique(target, return_inverse=True)
        order = np.argsort(codes, kind="stable")
        K = K[np.ix_(order, order)]
        ends = np.cumsum(np.bincount(codes))
        edges = ends[:-1].tolist()
        ticks = [((a + b - 1) / 2, str(c)) for a, b, c in zip([0, *edges], ends, classes.tolist())]
    ax = _draw.axes(ax, 5.2, 4.4)
    low, high = float(K.min()), float(K.max())
    if low < 0 < high:
        size = max(-low, high)
        image = ax.imshow(K, cmap=_draw.diverging(CLASSES[1], CLASSES[0], 0.0, 1.0), vmin=-size, vmax=size)
    else:
        image = ax.imshow(K, cmap=_draw.sequential(), vmin=min(low, 0.0) if low >= 0 else low, vmax=max(high, 0.0))
    for edge in edges:
        # seen on dark and on light ground
        for colour, width in (("white", 2.0), (INK, 0.9)):
            ax.axhline(edge - 0.5, color=colour, linewidth=width)
            ax.axvline(edge - 0.5, color=colour, linewidth=width)
    if ticks and len(ticks) <= 30:
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks([place for place, _ in ticks], [name for _, name in ticks])
        ax.tick_params(length=0)
        for label in ax.get_yticklabels():
            label.set_verticalalignment("center")
    what = "example" if y is None else "example, by class"
    _draw.words(ax, what, what, title)
    _draw.colour_bar(ax, image, "κ(x, x′)")
    return ax


def spectrum(
    kernel: Kernel | Callable[..., Any] | ArrayLike, X: Any = None, *, centred: bool = False, ax: Axes | None = None
) -> Axes:
    """The eigenvalues λ_1 ≥ λ_2 ≥ … of the Gram matrix on a logarithmic scale, and their cumulative share.

    The effective rank, exp(−Σ p_i ln p_i) with p_i = |λ_i| / Σ|λ|, says how many directions of feature space the examples
    really use: 1 if all are alike to the kernel, n if each is like itself only. Eigenvalues below n ε λ_1 cannot be told
    from rounding and are not drawn; negative ones beyond that, which a kernel that is not positive has, are marked.

    Source: O. Roy & M. Vetterli, The Effective Rank (2007), definition 1.

    Parameters
    ----------
    kernel : mercer kernel, formula, callable or square array
        As for :func:`gram`.
    X : examples, optional
        What the kernel takes.
    centred : bool
        Whether the examples are centred in feature space first, as kernel PCA does: HKH with H = 1 − 11ᵀ/n.
    ax : matplotlib Axes, optional
        Where to draw; the share has an axis of its own on the right.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import plot
    >>> ax = plot.spectrum(np.eye(8))
    >>> ax.get_title(loc="right")
    'effective rank 8.0 of 8'
    """
    K, title = _matrix(kernel, X, "spectrum")
    off = float(np.abs(K - K.T).max())
    if off > 1e-6 * max(float(np.abs(K).max()), np.finfo(float).tiny):
        raise ValueError(
            f"a Gram matrix is symmetric, and this one differs from its transpose by {off:.3g}; (K + K.T) / 2 is"
        )
    if centred:
        mean = K.mean(axis=0)
        K = K - mean - mean[:, None] + mean.mean()
    values = np.linalg.eigvalsh((K + K.T) / 2)
    values = values[np.argsort(-np.abs(values), kind="stable")]
    n, sizes = len(values), np.abs(values)
    total = float(sizes.sum())
    if not total > 0:
        raise ValueError(
            "all eigenvalues are zero" + (": the examples are the same point in feature space" if centred else "")
        )
    shares = sizes / total
    rank = float(np.exp(-np.sum(shares[shares > 0] * np.log(shares[shares > 0]))))
    floor = n * np.finfo(float).eps * float(sizes[0])
    ax = _draw.axes(ax, 6.2, 4.2)
    places = np.arange(1, n + 1)
    ax.set_yscale("log")
    look: dict[str, Any] = {"linestyle": "none", "markersize": 4.0 if n <= 100 else 2.5, "zorder": 3}
    above = values > floor
    ax.plot(places[above], values[above], "o", color=CLASSES[0], label="eigenvalue", **look)
    below = values < -floor
    if below.any():
        ax.plot(places[below], -values[below], "s", color=CLASSES[3], label="negative eigenvalue, its size", **look)
    hidden = n - int(above.sum()) - int(below.sum())
    if hidden:
        ax.axhline(floor, color=SOFT, linewidth=0.9, linestyle=":", label=f"rounding: {hidden} below")
    ax.grid(axis="y", color=FAINT, linewidth=0.8)
    ax.set_axisbelow(True)
    share = ax.twinx()
    share.plot(places, np.cumsum(shares), color=CLASSES[1], linewidth=1.6, label="cumulative share")
    share.set_ylim(0.0, 1.03)
    share.set_ylabel("cumulative share", color=CLASSES[1])
    share.tick_params(colors=CLASSES[1])
    for spine in share.spines.values():
        spine.set_visible(False)
    share.set_zorder(ax.get_zorder() - 1)
    ax.patch.set_visible(False)
    ax.margins(x=0.02)
    handles = [line for axis in (ax, share) for line in axis.get_lines()]
    # a spectrum that falls leaves the lower left free, a flat one whose shares rise evenly the upper middle
    where = "lower left" if rank < n / 2 else "upper center"
    ax.legend(handles=handles, loc=where, fontsize="small", labelcolor=INK, framealpha=0.9, edgecolor=FAINT)
    _draw.words(ax, "place", "eigenvalue" + (" of the centred matrix" if centred else ""), title)
    ax.set_title(f"effective rank {rank:.1f} of {n}", loc="right", color=SOFT, fontsize="medium")
    return ax


def _matrix(kernel: Any, X: Any, who: str) -> tuple[Any, str]:
    """The Gram matrix and a title."""
    if isinstance(kernel, str):
        kernel = formula(kernel)
    if callable(kernel):
        if X is None:
            raise TypeError(f"{who} needs the examples that the kernel compares: {who}(kernel, X)")
        if isinstance(kernel, Kernel):
            K, title = kernel(X), str(kernel)
        else:
            K, title = kernel(X, X), getattr(kernel, "__name__", name_of(kernel))
    elif X is not None:
        raise TypeError(
            f"a matrix needs no examples, and {name_of(kernel)} is no kernel: {who}(matrix) or {who}(kernel, X)"
        )
    else:
        K, title = kernel, ""
    K = K.toarray() if sp.issparse(K) else K
    K = np.asarray(K, dtype=float)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not len(K):
        raise ValueError(f"a Gram matrix is square, and this one has the shape {K.shape}")
    if not np.isfinite(K).all():
        raise ValueError("the matrix has entries that are not finite; look at the examples that the kernel compares")
    return K, "" if title == "<lambda>" else title


# ----------------------------------------------------------------------------------------------- probabilities, searches


def reliability(estimator: Any, X: Any, y: ArrayLike, *, bins: int = 10, ax: Axes | None = None) -> Axes:
    """How often predicted probabilities come true: observed shares against predictions, on examples held back.

    Of two classes the probability of the second is looked at, of more the largest probability and whether its class is
    right. Examples are binned by it, with about equal counts; each bin has its share of hits with the 95 % interval of
    Clopper and Pearson. Honest probabilities lie on the diagonal. The histogram on top counts the predictions, and the
    legend states the log loss, −mean ln p(true class), and the expected calibration error,
    Σ_b n_b/n |share_b − mean prediction_b|.

    Source: M. P. Naeini, G. F. Cooper & M. Hauskrecht, Obtaining Well Calibrated Probabilities Using Bayesian Binning
    (2015), with bins of equal counts.

    Parameters
    ----------
    estimator : fitted classifier with predict_proba
        ``SVC(probability=True)`` or any of scikit-learn's.
    X, y : examples and their classes
        Not those that the estimator was fitted on.
    bins : int
        At most so many bins; fewer if a bin would have less than ten examples.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer import SVC, plot
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(600, noise=0.3, random_state=0)
    >>> model = SVC(probability=True, random_state=0).fit(X[:300], y[:300])
    >>> ax = plot.reliability(model, X[300:], y[300:])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('predicted probability of 1', 'observed share of 1')
    """
    if not isinstance(bins, (int, np.integer)) or bins < 1:
        raise ValueError(f"bins is a count of at least 1, not {bins!r}")
    target = np.asarray(y).ravel()
    table, chance, true = chances(estimator, X, target)
    classes = np.asarray(estimator.classes_)
    found = bins_of(chance, true, int(bins))
    predicted, hits, counts = (np.array(part) for part in zip(*found))
    shares = hits / counts
    error = float(np.sum(np.abs(hits - predicted * counts)) / len(chance))
    own = table[np.arange(len(table)), np.searchsorted(classes, target)]
    loss = float(-np.log(np.clip(own, np.finfo(float).tiny, 1.0)).mean())
    bars = np.array([clopper_pearson(int(h), int(n)) for h, n in zip(hits, counts)])
    ax = _draw.axes(ax, 4.8, 5.2)
    (diagonal,) = ax.plot(
        [0, 1], [0, 1], color=SOFT, linewidth=1.0, linestyle="--", label="perfect calibration", zorder=1
    )
    reach = np.maximum([shares - bars[:, 0], bars[:, 1] - shares], 0.0)
    observed = ax.errorbar(
        predicted, shares, reach, fmt="o-", color=CLASSES[0], linewidth=1.0, elinewidth=1.2, capsize=2.5, markersize=5,
        markeredgecolor="white", markeredgewidth=0.6, label="observed, 95 % interval",
    )  # fmt: skip
    note = f"log loss {loss:.3f}\ncalibration error {error:.3f}\n{len(chance)} examples"
    (blank,) = ax.plot([], [], linestyle="none", label=note)
    ax.grid(color=FAINT, linewidth=0.8)
    ax.set_axisbelow(True)
    # of several classes the largest probability is never below 1/k
    low = 0.0 if len(classes) == 2 else min(1.0 / len(classes), float(bars.min()))
    low = max(0.0, np.floor(low * 10) / 10)
    pad = 0.02 * (1 - low)
    ax.set(xlim=(low - pad, 1 + pad), ylim=(low - pad, 1 + pad))
    counted = ax.inset_axes((0.0, 1.02, 1.0, 0.18), sharex=ax)
    counted.hist(
        chance, bins=list(np.linspace(low, 1.0, 26)), color=_draw.towards("white", CLASSES[0], 0.45), rwidth=0.92
    )
    counted.tick_params(labelbottom=False, length=0, labelcolor=SOFT, labelsize="small")
    counted.yaxis.get_major_locator().set_params(nbins=3, integer=True)
    counted.set_ylabel("examples", color=SOFT, fontsize="small")
    for side in ("top", "right", "left"):
        counted.spines[side].set_visible(False)
    counted.spines["bottom"].set_color(SOFT)
    handles = [observed, diagonal, blank]
    # on the side of the diagonal where the points are not
    where = "lower right" if hits.sum() > chance.sum() else "upper left"
    ax.legend(handles=handles, loc=where, fontsize="small", labelcolor=INK, framealpha=0.9, edgecolor=FAINT)
    if len(classes) == 2:
        _draw.words(ax, f"predicted probability of {classes[1]}", f"observed share of {classes[1]}")
    else:
        _draw.words(ax, "probability of the predicted class", "observed share that is right")
    return ax


def search(search_cv: Any, *, params: str | Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """The scores of a search over two numeric parameters as a heat map, or over one as a line; the best is marked.

    Axes are logarithmic where values are geometric (0.1, 1, 10, …). Settings that do not form a grid, such as those of a
    randomised search, are drawn as points. Where further parameters vary, each place shows the best of them. A line has the
    standard deviation over the folds as a band.

    Parameters
    ----------
    search_cv : fitted search
        Anything with ``cv_results_``: `GridSearchCV`, `RandomizedSearchCV`, `HalvingGridSearchCV`.
    params : one or two names, optional
        Which parameters are the axes; the first two that vary over numbers by default.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer import SVC, plot
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> grid = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [0.01, 0.1, 1]}).fit(*load_iris(return_X_y=True))
    >>> ax = plot.search(grid)
    >>> ax.get_xlabel(), ax.get_xscale()
    ('C', 'log')
    """
    table = Table(search_cv, params)
    labels = table.labels()
    score = f"mean test {table.metric}" + (f", {table.folds} folds" if table.folds else "")
    ax = _draw.axes(ax, 5.8, 4.4)
    values = table.axes()
    scales = [is_geometric(v) for v in values]
    if scales[0]:
        ax.set_xscale("log")
    best = f"best {table.best_score:.3f}: " + ", ".join(f"{n} = {_draw.number(v)}" for n, v in zip(labels, table.best))
    orange: dict[str, Any] = {"color": CLASSES[1], "zorder": 5}
    if len(values) == 1:
        x = values[0]
        ax.fill_between(
            x, table.scores - table.spread, table.scores + table.spread, color=CLASSES[0], alpha=0.15, linewidth=0
        )
        ax.plot(x, table.scores, "o-", color=CLASSES[0], linewidth=1.4, markersize=4.5)
        ax.plot(*table.best, table.best_score, "o", fillstyle="none", markersize=11, markeredgewidth=1.8, **orange)
        ax.grid(color=FAINT, linewidth=0.8)
        ax.set_axisbelow(True)
        _draw.words(ax, labels[0], score, best)
    else:
        if scales[1]:
            ax.set_yscale("log")
        cells = table.cells()
        if cells is None:
            drawn: Any = ax.scatter(
                *table.places.T, c=table.scores, cmap=_draw.sequential(), s=48, edgecolors=SOFT, linewidths=0.6
            )
            ax.plot(*([v] for v in table.best), "o", fillstyle="none", markersize=12, markeredgewidth=1.8, **orange)
        else:
            drawn = _draw.heat(ax, values, scales, cells, table.best)
        _draw.colour_bar(ax, drawn, score)
        _draw.words(ax, *labels, best)
    if table.others:
        short = ", ".join(name.split("__")[-1] for name in table.others)
        ax.set_title(
            f"{ax.get_title(loc='left')}\n(each place: the best {short})", loc="left", color=INK, fontsize="medium"
        )
    return ax
