"""Labels of classes as codes, and as the text that model files hold."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets

Codes = npt.NDArray[np.float64]


def encode(y: Any) -> tuple[Any, Any]:
    """Classes, and the place of each example's class."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes


def spell(classes: Any) -> list[str]:
    """The labels as text, for model files.

    The library takes spellings of one number, such as 1, 01 and 1.0, for one label. Where these are several classes here, they
    stand in quotes.
    """
    labels = [str(c) for c in classes.tolist()]
    numbers = [number_of(label) for label in labels]
    times = Counter(number for number in numbers if number is not None)
    if len(times) == sum(times.values()):
        return labels
    return [quoted(label, labels) if times[number] > 1 else label for label, number in zip(labels, numbers)]


def coded(y: Any, classes: Any) -> tuple[Codes, list[str]]:
    """The place of every label among the classes, and the labels of these as text; what is none of them comes after them."""
    numeric = "biuf"
    if y.ndim == 1 and (y.dtype.kind in numeric and classes.dtype.kind in numeric or y.dtype.kind == classes.dtype.kind == "U"):
        order = np.argsort(classes, kind="stable")
        places = order[np.minimum(np.searchsorted(classes, y, sorter=order), len(classes) - 1)]
        if (classes[places] == y).all():
            return places.astype(np.float64), spell(classes)
    known = {label: place for place, label in enumerate(classes.tolist())}
    codes, labels = [], spell(classes)
    numbers = {number_of(label): label for label in labels}
    numbers.pop(None, None)
    for label in y.tolist():
        place = known.setdefault(label if label == label else "nan", len(known))
        if place == len(labels):
            text = str(label)
            # another spelling of a class that is a number, which the library would take for this class
            alike = numbers.get(number_of(text), text) == text or isinstance(label, float)
            labels.append(text if alike else quoted(text, labels))
        codes.append(place)
    return np.asarray(codes, dtype=np.float64), labels


def joined(codes: Codes, labels: list[str], known: list[str]) -> tuple[Codes, list[str]]:
    """Codes of some labels as codes of those that are known, after which the others come."""
    together = [*known, *dict.fromkeys(label for label in labels if label not in known)]
    places: dict[str, int] = {}
    for place, label in enumerate(together):
        places.setdefault(label, place)
    return np.array([places[label] for label in labels], dtype=np.float64)[codes.astype(np.intp)], together


def quoted(label: str, labels: list[str]) -> str:
    """A label in quotes, which makes it no number, and unlike all others."""
    label = f"'{label}'"
    return label if label not in labels else quoted(label, labels)


def unquoted(labels: list[str]) -> list[str]:
    """Labels of a file as the classes were spelled: without the quotes of :func:`spell`."""
    inner = [label[1:-1] if len(label) > 2 and label[0] == label[-1] == "'" else label for label in labels]
    numbers = [number_of(label) for label in inner]
    times = Counter(number for number in numbers if number is not None)
    bare = [own if number is not None and times[number] > 1 else label for own, label, number in zip(inner, labels, numbers)]
    return bare if len(set(bare)) == len(bare) else labels


def number_of(label: str) -> float | None:
    """The number that a label is, if it is one."""
    try:
        number = float(label)
    except ValueError:
        return None
    return number if number == number else None
