"""Certificates: what learning theory guarantees about a fitted estimator, how many examples that takes, and fits made for it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, overload

from sklearn.utils.validation import check_is_fitted

from mercer import _native
from mercer._data import Data
from mercer._labels import joined

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Certificate", "Certificates", "CertifiedFit", "CertifyMixin", "CrossValidated", "Plan", "PlannedBound", "plan"]


@dataclass(frozen=True)
class Certificate:
    """What a theorem says about a model; or, where `applicable` is false, why it says nothing (`reason`)."""

    bound: str
    quantity: str
    value: float | None
    guarantee: str
    delta: float | None
    applicable: bool
    reason: str
    vacuous: bool
    source: str
    price: float = 0.0
    lower: float | None = None
    examples_needed: dict[str, int | None] | None = None
    conditions: list[dict[str, str]] = field(default_factory=list)
    inputs: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class CrossValidated:
    """The share of errors of models that have not seen the examples, and its standard error: an estimate, not a guarantee."""

    error: float
    spread: float
    folds: int
    #: whether the kernel is centred on all examples, the held-out ones among them
    centred_on_all: bool = False


class Certificates(Sequence[Certificate]):
    """All certificates of a model, the most useful first; `print` shows those that apply."""

    #: the certificate to go by, true although it was chosen among several: its `delta` pays for all that were looked at
    best: Certificate | None
    #: the best certificate in words
    sentence: str
    training_error: float | None
    held_out_error: float | None
    #: an estimate, not a guarantee; only where `folds` were asked for
    cross_validated: CrossValidated | None
    #: how many models were tried on the same examples, all of them paid for
    candidates: int | None

    def __init__(self, told: dict[str, Any]) -> None:
        best, crossed = told["best"], told["cross_validated"]
        self._all = [Certificate(**one) for one in told["certificates"]]
        self._summary: list[tuple[str, str]] = [(name, value) for name, value in told["summary"]]
        self.best = None if best is None else Certificate(**best)
        self.sentence = told["sentence"]
        self.training_error = told["training_error"]
        self.held_out_error = told["held_out_error"]
        self.cross_validated = None if crossed is None else CrossValidated(**crossed)
        self.candidates = told["candidates"]

    @overload
    def __getitem__(self, place: int) -> Certificate: ...

    @overload
    def __getitem__(self, place: slice) -> list[Certificate]: ...

    @overload
    def __getitem__(self, place: str) -> Certificate: ...

    def __getitem__(self, place: int | slice | str) -> Certificate | list[Certificate]:
        return _named(self._all, place) if isinstance(place, str) else self._all[place]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Certificate]:
        return iter(self._all)

    def to_dicts(self) -> list[dict[str, Any]]:
        """The certificates as plain dictionaries, for a data frame or JSON."""
        return [dict(vars(c)) for c in self._all]

    def _rows(self) -> list[tuple[str, str, str, str]]:
        rows = []
        for c in self._all:
            if not c.applicable or c.value is None:
                continue
            ends = f"{c.value:.4f}" if c.lower is None else f"{c.lower:.4f} to {c.value:.4f}"
            if c.vacuous:
                ends = "says nothing"
            elif c.lower is None and ends == "1.0000" and c.value < 1:
                ends = "says next to nothing"
            rows.append((c.bound, c.quantity, ends, c.guarantee))
        return rows

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self._summary)
        lines = [f"{name.ljust(width)}  {value}" for name, value in self._summary]
        return "\n".join([*lines, "", _table(HEAD, self._rows()), "", self.sentence])

    def _repr_html_(self) -> str:
        lines = "<br>".join(escape(f"{name}: {value}") for name, value in self._summary)
        return f"<p>{lines}</p>{_html(HEAD, self._rows())}<p>{escape(self.sentence)}</p>"


HEAD = ("bound", "of", "value", "guarantee")


def _named(all_: list[Any], name: str) -> Any:
    for one in all_:
        if one.bound == name:
            return one
    raise KeyError(f"there is no bound called {name}")


def _table(head: tuple[str, ...], body: Sequence[tuple[str, ...]]) -> str:
    rows = [head, *body]
    widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def _html(head: tuple[str, ...], body: Sequence[tuple[str, ...]]) -> str:
    names = "".join(f"<th>{word}</th>" for word in head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in body)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>"


def certificates_of(model: Any, examples: Any, X: Data, y: Data, held_out: Any, options: dict[str, Any]) -> Certificates:
    """The certificates of a native model; `examples` gives views, target and labels of (X, y)."""
    views, target, labels = examples(X, y)
    fresh, fresh_target = None, None
    if held_out is not None:
        if not (isinstance(held_out, (tuple, list)) and len(held_out) == 2):
            raise ValueError("held_out must be a pair (X, y) of examples and their targets.")
        fresh, fresh_target, fresh_labels = examples(*held_out)
        if labels is not None and fresh_labels is not None:
            # a class that the training examples have not needs a code of its own
            fresh_target, labels = joined(fresh_target, fresh_labels, labels)
    if options.get("unlabelled") is not None:
        options = {**options, "unlabelled": examples(options["unlabelled"], None)[0]}
    return Certificates(json.loads(_native.certify(model, views, target, labels, fresh, fresh_target, options, None)))


@dataclass(frozen=True)
class CertifiedFit:
    """How a certified fit came out: trained again on so many `examples`, which left `errors_outside` on the others. With
    probability 1 − `delta`, at most a share `bound` of new examples is wrong. `tried` has (examples, bound) of all that was
    tried, and `condition` what the bound rests on where some examples are equal, else None."""

    examples: int
    errors_outside: int
    bound: float
    delta: float
    tried: list[tuple[int, float]]
    condition: str | None = None


def of_unlearned(classes: list[Any]) -> str:
    """Why nothing is proven of a fit in which the examples of some classes weighed nothing."""
    return (f"no example of class {classes[0]!r} has a weight above zero, so that the model does not know it, and what is proven would be "
            "about all classes: fit without its examples")  # fmt: skip


class CertifyMixin:
    """Certificates of a fit, and fits for the sake of a certificate."""

    _model: Any
    _certified: dict[str, Any] | None
    _preparation_share: float
    _unlearned: list[Any]
    #: how a certified fit came out
    certified_: CertifiedFit

    def certify(
        self,
        X: Data,
        y: Data = None,
        *,
        held_out: tuple[Data, Data] | None = None,
        delta: float = 0.05,
        candidates: int | None = None,
        held_out_candidates: int = 1,
        folds: int | str | None = None,
        thorough: bool = False,
        evidence: int = 0,
        target_range: tuple[float, float] | None = None,
        radius: float | None = None,
        unlabelled: Data = None,
    ) -> Certificates:
        """What learning theory guarantees about this model, from the examples it was fitted on and from held-out ones.

        Every bound fails with probability `delta` at most. `candidates` is how many models were tried on these examples
        (1 if none was chosen by them): their logarithm is paid for, and so is gamma="scale". MercerSearchCV tells its models how many
        there were; searches of others, GridSearchCV among them, do not, and `candidates` must say it. Inputs must not have been
        transformed by what was learned from the same examples, a StandardScaler, say; scale by numbers known before, or use
        held-out examples. `folds` also estimates the error by cross-validation in so many fits ("loo" leaves out one example at a
        time): it stands beside the certificates, and is none. `thorough` adds what takes n^2 to n^3 operations; `evidence` is a
        number of draws. `radius` is a length sqrt(k(x, x)) that no example exceeds, known before the data, for kernels such as the
        linear one, whose formula gives none. `unlabelled` are examples drawn beside those of training, from which a prior is learned.

        >>> from sklearn.datasets import make_moons
        >>> from mercer.svm import SVC
        >>> X, y = make_moons(400, noise=0.1, random_state=0)
        >>> found = SVC(C=10, gamma=2.0).fit(X, y).certify(X, y)
        >>> bool(found.best.value < 0.2)
        True
        """
        self._written()
        if getattr(self, "break_ties", False) and len(getattr(self, "classes_", ())) > 2:
            raise ValueError("break_ties=True decides by summed scores, and certificates are about votes: fit with break_ties=False.")
        if vars(self).get("_unlearned"):
            raise ValueError(of_unlearned(self._unlearned))
        options = self._asked(
            delta=delta, candidates=candidates, held_out_candidates=held_out_candidates, folds=_folds(folds), thorough=thorough,
            evidence=evidence, target_range=None if target_range is None else list(target_range), radius=radius,
            unlabelled=unlabelled,
        )  # fmt: skip
        return certificates_of(self._model, self._examples, X, y, held_out, options)

    def fit_prepared(self, X: Data, y: Data = None, *, preparation_share: float = 0.2, **params: Any) -> Self:
        """Fits with what is learned from the inputs (gamma="scale", landmarks, weights of words) taken from a share of the examples alone.

        That share is drawn at random, and the machine learns from the others: to these, whatever was prepared is a constant, and
        :meth:`certify` with the same examples pays nothing for it. `params` go to `fit`.

        >>> from sklearn.datasets import make_moons
        >>> from mercer.svm import SVC
        >>> X, y = make_moons(400, noise=0.1, random_state=0)
        >>> dear, free = SVC(C=10, gamma="scale").fit(X, y), SVC(C=10, gamma="scale").fit_prepared(X, y)
        >>> dear.certify(X, y)["scenario"].price > 44, free.certify(X, y)["scenario"].price
        (True, 0.0)
        """
        self._preparation_share = float(preparation_share)
        try:
            self.fit(X, y, **params)  # type: ignore[attr-defined]
        finally:
            del self._preparation_share
        if preparation_share and getattr(self._model, "set_apart", None) is None:
            raise ValueError(f"{type(self).__name__} with these weights or penalties is solved apart, and cannot be prepared by a share")
        return self

    def fit_certified(
        self, X: Data, y: Data = None, certified: float | None = None, *, certificate_delta: float = 0.05,
        preparation_share: float = 0.0, **params: Any
    ) -> Self:  # fmt: skip
        """Fits, then trains again on a few examples so that the others certify the model, whichever machine it is.

        The best bound is taken, or the first below `certified`. It holds with probability 1 − `certificate_delta` and is in
        `certified_`; :meth:`certify` with the same examples tells it again. `preparation_share` is that of :meth:`fit_prepared`.
        `params` go to `fit`.

        Source: J. Langford, Tutorial on practical prediction theory for classification, JMLR 6 (2005), Thm. 4.5.

        >>> from sklearn.datasets import make_moons
        >>> from mercer import Kfd
        >>> X, y = make_moons(400, noise=0.1, random_state=0)
        >>> model = Kfd(kernel="rbf(gamma=2)").fit_certified(X, y)
        >>> model.certified_.examples < 100, model.certified_.bound < 0.3
        (True, True)
        """
        self._certified = self._asked(certified=certified, delta=certificate_delta)  # type: ignore[attr-defined]
        try:
            self.fit_prepared(X, y, preparation_share=preparation_share, **params)
        finally:
            del self._certified
        if getattr(self._model, "part", None) is None:
            raise ValueError(f"{type(self).__name__} with these weights or penalties is solved apart, and cannot be certified")
        examples, errors, bound, tried, condition = self._model.part
        self.certified_ = CertifiedFit(examples, errors, bound, certificate_delta, tried, condition)
        return self

    def _judge(self, X, y, place, candidates, options):
        """The least certificate of one of so many candidates; None where no bound applies."""
        views, target, labels = self._examples(X, y)
        told = json.loads(_native.judge(self._model, views, target, labels, place, candidates, self._asked(**options)))
        return None if told is None else Certificate(**told)


def _folds(folds: int | str | None) -> int | None:
    """What the Rust half takes: 0 leaves out one example at a time."""
    if folds is None or folds == "loo":
        return None if folds is None else 0
    if isinstance(folds, str) or folds < 2:
        raise ValueError(f"folds={folds!r}: give a number of folds from 2 on, or 'loo'")
    return int(folds)


@dataclass(frozen=True)
class PlannedBound:
    """How many `examples` a bound needs for a `certificate` (None: it never gets there), and its `curve`, (examples, value)."""

    bound: str
    quantity: str
    certificate: float
    delta: float
    examples: int | None
    curve: list[tuple[float, float]]
    source: str


class Plan(Sequence[PlannedBound]):
    """What each bound needs, those that need least first; `print` shows them with their values at some numbers of examples."""

    def __init__(self, told: list[dict[str, Any]]) -> None:
        self._all = [PlannedBound(**{**one, "curve": [(c["examples"], c["value"]) for c in one["curve"]]}) for one in told]

    @overload
    def __getitem__(self, place: int) -> PlannedBound: ...

    @overload
    def __getitem__(self, place: slice) -> list[PlannedBound]: ...

    @overload
    def __getitem__(self, place: str) -> PlannedBound: ...

    def __getitem__(self, place: int | slice | str) -> PlannedBound | list[PlannedBound]:
        return _named(self._all, place) if isinstance(place, str) else self._all[place]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[PlannedBound]:
        return iter(self._all)

    def to_dicts(self) -> list[dict[str, Any]]:
        """The bounds as plain dictionaries, for a data frame or JSON."""
        return [dict(vars(p)) for p in self._all]

    def _rows(self) -> list[tuple[str, ...]]:
        rows = []
        for p in self._all:
            values = [dict(p.curve).get(float(m), 1.0) for m in SIZES]
            told = [f"{value:.4f}" if value < 1 else "–" for value in values]
            rows.append((p.bound, p.quantity, "never" if p.examples is None else str(p.examples), *told))
        return rows

    def _title(self) -> str:
        return f"Examples needed for a certificate of {self._all[0].certificate:g} at δ = {self._all[0].delta:g}:"

    def __repr__(self) -> str:
        return "\n".join([self._title(), "", _table(PLAN_HEAD, self._rows())])

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._title())}</p>{_html(PLAN_HEAD, self._rows())}"


SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
PLAN_HEAD = ("bound", "of", "examples", "at 100", "1 000", "10 000", "100 000", "1 000 000")


def plan(
    estimator: CertifyMixin | None = None,
    X: Data = None,
    y: Data = None,
    *,
    certificate: float = 0.1,
    delta: float = 0.05,
    support: float | None = None,
    held_out_error: float | None = None,
    training_error: float | None = None,
    dimension: float | None = None,
    margin: float | None = None,
    lam: float | None = None,
    candidates: int | None = None,
    bounds: Sequence[str] | None = None,
) -> Plan:
    """How many examples a wanted certificate needs, bound by bound.

    With a fitted estimator and the examples it was fitted on, complexities are those of the fit: margins, support vectors and
    error rates stay as they are while the number of examples grows. Without one, say what you expect: `support`, examples that
    determine the model; `held_out_error` and `training_error`, shares of errors; `dimension` of the feature space; `margin`,
    y f(x)/(‖w‖ ‖φ(x)‖) between 0 and 1; `lam`, λ of (1/m) Σ loss + λ‖w‖², which is 1/(2Cm). Bounds that need something else are
    left out. `candidates` is how many models will be tried on the same examples, `bounds` the names of those to look at.

    Examples
    --------
    >>> import mercer
    >>> found = mercer.plan(certificate=0.05, held_out_error=0.03)
    >>> found["held_out"].examples
    343
    """
    if estimator is not None and X is None:
        raise ValueError("an estimator needs the examples it was fitted on beside it: plan(estimator, X, y)")
    if estimator is None and X is not None:
        raise ValueError("examples need the estimator that was fitted on them: plan(estimator, X, y)")
    options = {
        "certificate": certificate, "delta": delta, "support": support, "held_out_error": held_out_error,
        "training_error": training_error, "dimension": dimension, "margin": margin, "lambda": lam, "candidates": candidates,
        "bounds": None if bounds is None else [bounds] if isinstance(bounds, str) else list(bounds),
    }  # fmt: skip
    if estimator is None:
        return Plan(json.loads(_native.plan(None, None, None, None, options)))
    check_is_fitted(estimator)
    views, target, labels = estimator._examples(X, y)
    return Plan(json.loads(_native.plan(estimator._model, views, target, labels, {**estimator._asked(), **options})))
