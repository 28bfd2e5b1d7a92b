"""Certificates: what learning theory guarantees about a fitted estimator."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, overload


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


class Certificates(Sequence[Certificate]):
    """All certificates of a model, the most useful first; `print` shows those that apply."""

    #: the certificate to go by, true although it was chosen among several: its `delta` pays for all that were looked at
    best: Certificate | None

    def __init__(
        self, certificates: list[Certificate], sentence: str, training_error: float | None, best: Certificate | None
    ) -> None:
        self._all = certificates
        self.best = best
        self.sentence = sentence
        self.training_error = training_error

    @overload
    def __getitem__(self, place: int) -> Certificate: ...

    @overload
    def __getitem__(self, place: slice) -> list[Certificate]: ...

    @overload
    def __getitem__(self, place: str) -> Certificate: ...

    def __getitem__(self, place: int | slice | str) -> Certificate | list[Certificate]:
        if isinstance(place, str):
            for certificate in self._all:
                if certificate.bound == place:
                    return certificate
            raise KeyError(f"there is no bound called {place}")
        return self._all[place]

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
            rows.append((c.bound, c.quantity, "says nothing" if c.vacuous else ends, c.guarantee))
        return rows

    def __repr__(self) -> str:
        rows = [("bound", "of", "value", "guarantee"), *self._rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([*lines, "", self.sentence])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{word}</th>" for word in ("bound", "of", "value", "guarantee"))
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{escape(self.sentence)}</p>"


def certificates(text: str, sentence: str, training_error: float | None, best: str) -> Certificates:
    """Certificates from what the library printed."""
    chosen = json.loads(best)
    return Certificates([Certificate(**one) for one in json.loads(text)], sentence, training_error,
                        None if chosen is None else Certificate(**chosen))  # fmt: skip
