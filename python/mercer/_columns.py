"""Examples as columns, which a model that was trained on a file prepares as its files are prepared."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _native
from mercer._data import NUMBERS, Array, Data, Items, has_views, is_frame, is_missing, view_of


def prepared(model: _native.Model, wanted: list[str], X: Data, y: Data = None) -> _native.Prepared:
    """Examples as the model's schema makes them of columns; `wanted` are the names of its columns, where it knows them."""
    parts = [(str(view), *_columns_of(values, wanted)) for view, values in X.items()] if has_views(X) else [(None, *_columns_of(X, wanted))]
    made = _native.prepared(model, parts, None if y is None else _target(y))
    assert made is not None, "the model has a schema"
    for note in made.notes:
        warnings.warn(note, UserWarning, stacklevel=4)
    return made


def _target(y: Data) -> Any:
    """The cells of a target, or several columns of numbers."""
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.ravel()
    if array.ndim == 1:
        return _cells(array)
    return np.ascontiguousarray(array, dtype=np.float64)


def _columns_of(X: Data, wanted: list[str]) -> tuple[bool, list[tuple[str, Any]]]:
    """Whether columns have names, and the columns with their cells."""
    if is_frame(X):
        return _columns_of_frame(X, wanted)
    if sp.issparse(X):
        return False, [("x", view_of(X))]
    if isinstance(X, Items):
        return False, [("x", [str(cell) for cell in X])]
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        # numbers among strings stay numbers
        array = np.asarray(X, dtype=object)
    if array.ndim == 1 and hasattr(X, "name") and wanted == [X.name]:
        return True, [(str(X.name), _cells(array))]
    if array.ndim == 1 and array.dtype.kind in "OUST" and not all(isinstance(cell, NUMBERS) for cell in array.tolist()):
        return False, [("x", _cells(array))]
    if array.ndim != 2:
        raise ValueError(f"Expected 2D array, got {array.ndim}D array instead: examples are rows, and the columns those of the file that the "
                         "model was trained on. Reshape your data using array.reshape(-1, 1) if it has a single column, or "
                         "array.reshape(1, -1) if it is a single example.")  # fmt: skip
    if array.dtype.kind in "biuf":
        return False, [("x", view_of(array))]
    return False, [(str(place + 1), _cells(array[:, place])) for place in range(array.shape[1])]


def _columns_of_frame(X: Data, wanted: list[str]) -> tuple[bool, list[tuple[str, Any]]]:
    """The columns of a frame; where all that the model needs are there, these alone."""
    columns = list(X.columns)
    names = ["/".join(map(str, column)) if isinstance(column, tuple) else str(column) for column in columns]
    if wanted and set(wanted) <= set(names):
        chosen = [place for place, name in enumerate(names) if name in wanted]
    else:
        chosen = list(range(len(names)))
    several = next((names[place] for place in chosen if names.count(names[place]) > 1), None)
    if several is not None:
        raise ValueError(f"the frame has several columns {several!r}; leave one of them")
    # columns that are only counted have no names
    named = set(wanted) <= set(names) or any(isinstance(column, str) for column in columns)
    return named, [(names[place], _cells(np.asarray(X[columns[place]]))) for place in chosen]


def _cells(column: Array) -> Any:
    """The cells of a column: numbers, switches, or strings, which are empty where one is missing."""
    kind = column.dtype.kind
    if kind == "O":
        known = [cell for cell in column.tolist() if not is_missing(cell)]
        if known and len(known) == len(column) and all(isinstance(cell, (bool, np.bool_)) for cell in known):
            column, kind = column.astype(bool), "b"
        elif all(isinstance(cell, NUMBERS) for cell in known):
            return np.array([np.nan if is_missing(cell) else float(cell) for cell in column.tolist()], dtype=np.float64)
    if kind == "b":
        return "bool", column.astype(np.float64)
    if kind in "iuf":
        return np.ascontiguousarray(column, dtype=np.float64)
    if kind == "M":
        days = column.astype("datetime64[D]") if np.datetime_data(column.dtype)[0] in "YMW" else column
        return ["" if np.isnat(day) else str(np.datetime_as_string(day)) for day in days]
    if kind == "S":
        return [cell.decode() for cell in column.tolist()]
    return ["" if is_missing(cell) else str(cell) for cell in column.tolist()]
