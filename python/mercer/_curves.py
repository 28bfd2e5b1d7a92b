"""Plots of curves: ROC, regression with one input, learning curves; and of coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer import _draw
from mercer._draw import CLASSES, FAINT, INK, SOFT, name_of
from mercer._plane import support, unwrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


def roc(estimator: Any, X: Any, y: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """ROC curves: the share of a class that is found against the share of false alarms, at every threshold.

    Of two classes the second is looked for, of more each against the rest (by its decision value or probability minus the
    largest other one), of a detector of novelties what is unusual (y = −1). The legend has the area below each curve: the
    probability that an example of the class scores higher than another.

    Source: T. Fawcett, An introduction to ROC analysis (2006).

    Parameters
    ----------
    estimator : fitted classifier or detector
        With decision_function or predict_proba.
    X, y : examples and their classes
        Not those that the estimator was fitted on.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer import SVC, plot
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(400, noise=0.3, random_state=0)
    >>> ax = plot.roc(SVC().fit(X[:200], y[:200]), X[200:], y[200:])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('share of false alarms', 'share that is found')
    """
    from sklearn.metrics import auc, roc_curve

    target = np.asarray(y).ravel()
    classes, scores = _margins(estimator, X)
    if len(scores) != len(target):
        raise ValueError(f"X has {len(scores)} examples and y has {len(target)}; they must belong together")
    looked_for = [1] if len(classes) == 2 else range(len(classes))
    found = [(c, target == classes[c]) for c in looked_for]
    found = [(c, own) for c, own in found if own.any() and not own.all()]
    if not found:
        raise ValueError(f"a ROC curve needs examples of two classes that {name_of(estimator)} knows")
    ax = _draw.axes(ax, 4.8, 4.6)
    ax.plot([0, 1], [0, 1], color=SOFT, linewidth=1.0, linestyle="--", label="chance", zorder=1)
    for place, (c, own) in enumerate(found):
        alarms, hits, _ = roc_curve(own, scores[:, c])
        ax.plot(alarms, hits, color=CLASSES[place % len(CLASSES)], linewidth=1.8,
                linestyle="--" if place // len(CLASSES) % 2 else "-", label=f"{classes[c]} ({auc(alarms, hits):.3f})")  # fmt: skip
    _grid(ax)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.legend(loc="lower right", fontsize="small", labelcolor=INK, framealpha=0.9, edgecolor=FAINT, title="area below",
              title_fontsize="small")  # fmt: skip
    _draw.words(ax, "share of false alarms", "share that is found")
    return ax


def _margins(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The classes, and for each example and class its score minus the largest other one."""
    way = next((w for w in ("decision_function", "predict_proba") if hasattr(estimator, w)), None)
    if way is None:
        raise TypeError(f"{name_of(estimator)} has neither decision_function nor predict_proba; a ROC curve needs one")
    scores = np.asarray(getattr(estimator, way)(X), dtype=float)
    if not hasattr(estimator, "classes_"):
        return np.array([1, -1]), np.column_stack([scores.ravel(), -scores.ravel()])
    classes = np.asarray(estimator.classes_)
    if scores.ndim == 1:
        return classes, np.column_stack([-scores, scores])
    if scores.shape[1] != len(classes):
        raise ValueError(f"{name_of(estimator)} has a decision value for each pair of classes; "
                         "set decision_function_shape='ovr'")  # fmt: skip
    if len(classes) < 2:
        return classes, scores
    top = np.sort(scores, axis=1)[:, -2:]
    others = np.where(scores == top[:, 1:], top[:, :1], top[:, 1:])
    return classes, scores - others


def regression(
    estimator: Any | Sequence[Any], X: Any, y: ArrayLike, *, resolution: int = 400, ax: Axes | None = None
) -> Axes:
    """The function that a regressor with one input has learned, and the data.

    Support vector regressors have their tube, within which errors cost nothing, and rings around their support vectors if X
    is what they were fitted on. Several estimators, such as quantiles at several levels, are drawn together.

    Parameters
    ----------
    estimator : fitted regressor, or a list of them
        Of mercer or of scikit-learn, also a pipeline or a search.
    X : array or frame, n × 1
        The examples; the curve reaches a little beyond them.
    y : n numbers
        What is to be predicted.
    resolution : int
        Points of the curve.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR, plot
    >>> X = np.linspace(-5, 5, 80)[:, None]
    >>> ax = plot.regression(SVR(C=10, epsilon=0.2).fit(X, np.sinc(X).ravel()), X, np.sinc(X).ravel())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['data', 'support vector', 'SVR', 'ε = 0.2']
    """
    several = isinstance(estimator, (list, tuple))
    estimators = list(estimator) if several else [estimator]
    target, x = np.asarray(y, dtype=float).ravel(), np.asarray(X, dtype=float)
    if x.ndim != 2 or x.shape[1] != 1 or len(x) != len(target) or not len(x):
        raise ValueError(f"a curve needs X of one column and as many numbers y; X is {x.shape}, y has {len(target)}")
    x = x.ravel()
    margin = 0.05 * float(np.ptp(x)) or 1.0
    grid = np.linspace(x.min() - margin, x.max() + margin, resolution)[:, None]
    inputs: Any = type(X)(grid, columns=X.columns) if hasattr(X, "columns") else grid
    ax = _draw.axes(ax, 6.2, 4.2)
    entries: list[Any] = [
        ax.scatter(x, target, s=16, color=CLASSES[0], alpha=0.65, linewidths=0, zorder=2, label="data")
    ]
    if not several:
        entries += _draw.ring(ax, np.column_stack([x, target]), support(estimator, X))
    for place, own in enumerate(estimators):
        values = np.asarray(own.predict(inputs), dtype=float)
        if values.ndim > 1 and values.shape[1] > 1:
            raise ValueError(f"{name_of(own)} predicts {values.shape[1]} numbers for each example; fit one target")
        values, colour = values.ravel(), CLASSES[(place + 1) % len(CLASSES)]
        last = unwrap(own)[1]
        level = getattr(last, "tau", getattr(last, "quantile", None))
        name = name_of(last) + (f" {_draw.number(float(level))}" if isinstance(level, (int, float)) else "")
        entries += ax.plot(grid.ravel(), values, color=colour, linewidth=2.0, zorder=3, label=name)
        # many estimators have a parameter of that name; a tube is for those with support vectors
        epsilon = getattr(last, "epsilon", None) if hasattr(last, "dual_coef_") else None
        if isinstance(epsilon, (int, float)) and epsilon > 0:
            entries.append(ax.fill_between(grid.ravel(), values - epsilon, values + epsilon, color=colour, alpha=0.2,
                                           linewidth=0, zorder=1, label=f"ε = {_draw.number(float(epsilon))}"))  # fmt: skip
    _grid(ax)
    _draw.legend(ax, entries)
    label = str(X.columns[0]) if hasattr(X, "columns") else "x"
    _draw.words(ax, label, str(getattr(y, "name", None) or "y"))
    return ax


def learning_curve(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    sizes: ArrayLike = (0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0),
    cv: Any = 5,
    scoring: Any = None,
    random_state: int | None = 0,
    ax: Axes | None = None,
) -> Axes:
    """Scores on held-out and on training examples as the training set grows, with one standard deviation over the folds.

    Would more examples help? Where the curves still approach each other, they would; where both are flat, they would not.

    Parameters
    ----------
    estimator : classifier or regressor
        It is fitted afresh by `sklearn.model_selection.learning_curve`.
    X, y : examples and their targets
        All there are.
    sizes : shares or numbers of training examples
        As ``train_sizes`` of scikit-learn.
    cv, scoring : as in scikit-learn
        The folds, and the score; the estimator's own by default.
    random_state : int
        The order in which examples are added.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer import SVC, plot
    >>> from sklearn.datasets import load_iris
    >>> ax = plot.learning_curve(SVC(), *load_iris(return_X_y=True))
    >>> ax.get_xlabel(), [line.get_label() for line in ax.lines]
    ('training examples', ['held out', 'training'])
    """
    from sklearn.model_selection import learning_curve as measured

    counts, train, test = measured(
        estimator, X, y, train_sizes=np.asarray(sizes), cv=cv, scoring=scoring, shuffle=True, random_state=random_state
    )
    ax = _draw.axes(ax, 6.0, 4.2)
    for colour, scores, name in ((CLASSES[0], test, "held out"), (CLASSES[1], train, "training")):
        mean, spread = scores.mean(axis=1), scores.std(axis=1, ddof=1) if scores.shape[1] > 1 else 0.0
        ax.fill_between(counts, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)
        ax.plot(counts, mean, "o-", color=colour, linewidth=1.6, markersize=4.5, label=name)
    _grid(ax)
    ax.legend(loc="best", fontsize="small", labelcolor=INK, framealpha=0.9, edgecolor=FAINT)
    score = scoring if isinstance(scoring, str) else "score"
    _draw.words(ax, "training examples", f"{score}, mean ± s.d. over {test.shape[1]} folds", name_of(estimator))
    return ax


def coordinates(estimator: Any, X: Any, y: ArrayLike | None = None, *, ax: Axes | None = None) -> Axes:
    """The first two coordinates that an estimator gives to examples, coloured by class.

    Parameters
    ----------
    estimator : fitted estimator with transform
        `KernelPCA` or any of scikit-learn's, also a pipeline.
    X : examples
        What it transforms.
    y : n labels, optional
        Their classes.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer import KernelPCA, plot
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> plot.coordinates(KernelPCA(2, kernel="rbf").fit(X), X, y).get_xlabel()
    'coordinate 1'
    """
    places = np.asarray(estimator.transform(X), dtype=float)
    if places.ndim != 2 or places.shape[1] < 2:
        raise ValueError(
            f"{name_of(estimator)} gives {places.shape[-1]} coordinate for each example; a plane needs two"
        )
    known, codes = np.array([""]), np.zeros(len(places), dtype=int)
    if y is not None:
        target = np.asarray(y).ravel()
        if len(target) != len(places):
            raise ValueError(f"X has {len(places)} examples and y has {len(target)}; they must belong together")
        known, codes = np.unique(target, return_inverse=True)
    ax = _draw.axes(ax, 5.8, 4.4)
    entries = _draw.points(ax, places[:, :2], codes, [str(c) for c in known.tolist()])
    if y is not None:
        _draw.legend(ax, entries)
    _grid(ax)
    shares = getattr(unwrap(estimator)[1], "explained_variance_ratio_", None)
    words = [f"coordinate {k + 1}" + (f" ({100 * shares[k]:.1f} % of the variance)" if shares is not None else "")
             for k in range(2)]  # fmt: skip
    _draw.words(ax, words[0], words[1], name_of(estimator))
    return ax


def _grid(ax: Axes) -> None:
    """Faint lines behind everything."""
    ax.grid(color=FAINT, linewidth=0.8)
    ax.set_axisbelow(True)
