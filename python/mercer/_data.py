"""What users hand in, as the named views that the Rust half takes."""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING, Any, Callable, TypeVar, Union

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn import get_config
from sklearn.utils import _safe_indexing, check_array

from mercer._threads import allowed_threads

if TYPE_CHECKING:
    _Method = TypeVar("_Method", bound=Callable[..., Any])

    def available_if(check: Callable[[Any], bool]) -> Callable[[_Method], _Method]:
        """scikit-learn's decorator, which leaves the type of a method as it is."""

else:
    from sklearn.utils.metaestimators import available_if  # noqa: F401

# arrays, sparse matrices, frames, lists of strings, dictionaries of views: more than types can say
Data = Any
Array = npt.NDArray[Any]
Matrix = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]
View = Union[npt.NDArray[Any], "tuple[str, Any, Any, Any, int]", "list[str]", "tuple[str, list[str]]"]


class Items(np.ndarray):  # type: ignore[type-arg]
    """Examples of a kind of data by their text, as a cell of a file holds them.

    Arrays are vectors and strings are text without it. Every other kind of data reads its examples from strings, and is named.
    It is an array of strings: what is chosen from it is of its kind.

    Parameters
    ----------
    kind : str
        The name of the kind.
    cells : iterable of str
        The examples.

    Examples
    --------
    >>> import mercer
    >>> items = mercer.Items("text", ["to be", "or not", "to be"])
    >>> items[[1, 2]].kind, list(items[[1, 2]])
    ('text', ['or not', 'to be'])
    """

    kind: str

    def __new__(cls, kind: str, cells: Any) -> Items:
        items = np.array([str(cell) for cell in cells], dtype=object).view(cls)
        items.kind = str(kind)
        return items

    def __array_finalize__(self, made_from: Any) -> None:
        self.kind = getattr(made_from, "kind", "")

    def __reduce__(self) -> Any:
        return Items, (self.kind, list(self))


def strings_of(values: Data) -> Data:
    """The strings of examples, which stay of their kind."""
    return Items(values.kind, values) if isinstance(values, Items) else [str(v) for v in values]


def view_of(values: Data) -> View:
    """One view: numbers as an array in C order, sparse rows as parts, or a list of strings."""
    if sp.issparse(values):
        csr = values.tocsr()
        if not csr.has_sorted_indices:
            csr = csr.sorted_indices()
        csr.sum_duplicates()
        numbers = csr.data if csr.data.dtype == np.float32 else np.asarray(csr.data, dtype=np.float64)
        starts, indices = (np.ascontiguousarray(part, dtype=np.int64) for part in (csr.indptr, csr.indices))
        return ("csr", starts, indices, np.ascontiguousarray(numbers), csr.shape[1])
    if isinstance(values, Items):
        return (values.kind, [str(v) for v in values])
    if are_strings(values):
        return [str(v) for v in values]
    array = np.asarray(values)
    if array.dtype != np.float32:
        array = np.asarray(array, dtype=np.float64)
    return np.ascontiguousarray(array)


def views_of(X: Data) -> list[tuple[str, View]]:
    """All views: `x` for a matrix, a view for each entry of a dictionary."""
    if has_views(X):
        return [(str(name), view_of(values)) for name, values in X.items()]
    return [("x", view_of(X))]


def matrix_of_config(X: Data) -> Data:
    """Sparse rows as the class that scikit-learn is set to: a matrix, unless its `sparse_interface` says arrays."""
    if not sp.issparse(X):
        return X
    return sp.csr_array(X) if get_config().get("sparse_interface") == "sparray" else sp.csr_matrix(X)


def has_views(X: Data) -> bool:
    """Whether X is a dictionary of views; a sparse matrix of keys is a dictionary, too, and none of views."""
    return isinstance(X, dict) and not sp.issparse(X)


def are_strings(values: Data) -> bool:
    """Whether these are examples that are strings, in a list, an array or a column of a frame."""
    if isinstance(values, (list, tuple)):
        return len(values) > 0 and isinstance(values[0], str)
    if sp.issparse(values) or getattr(values, "ndim", 1) != 1 or isinstance(values, dict):
        return False
    kind = getattr(np.asarray(values), "dtype", np.dtype(float)).kind
    return kind in "UT" or kind == "O" and len(values) > 0 and isinstance(np.asarray(values)[0], str)


def pack_sets(sets: Data, separator: str | None = None, size: int | None = None) -> Data:
    """Sets of members as examples that `Kernel.set` takes apart again.

    Sets of strings become strings with `separator` between their members. Sets of vectors (arrays of one row for each
    member) become rows with the members one after the other, and NaN where there are fewer than `size`; without a size there
    is room for the largest set. Give new sets the size of the training sets.

    Examples
    --------
    >>> import mercer
    >>> mercer.pack_sets([["red", "green"], ["blue"], []], separator="|")
    ['red|green', 'blue', '']
    >>> mercer.pack_sets([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]]).tolist()
    [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, nan, nan]]
    """
    sets = [list(one) for one in sets]
    if separator is not None:
        if not separator:
            raise ValueError("separator must have at least one character")
        for place, one in enumerate(sets):
            wrong = [member for member in one if not isinstance(member, str) or not member or separator in member]
            if wrong:
                raise ValueError(f"set {place} has the member {wrong[0]!r}; members are strings without {separator!r}, and not empty")
        return [separator.join(one) for one in sets]
    widths = {len(member) for one in sets for member in one}
    if len(widths) > 1:
        raise ValueError(f"members have different numbers of coordinates: {sorted(widths)}")
    largest, width = max((len(one) for one in sets), default=0), next(iter(widths), 1)
    room = largest if size is None else size
    if room < largest:
        raise ValueError(f"a set has {largest} members, but there is room for {room}; pack training and new sets with one size")
    rows = np.full((len(sets), room * width), np.nan)
    for row, one in zip(rows, sets):
        row[: len(one) * width] = np.asarray(one, dtype=np.float64).ravel()
    return rows


def is_frame(X: Data) -> bool:
    """Whether X is a frame of pandas, of polars, or of anything that has named columns."""
    return hasattr(X, "columns") and hasattr(X, "__getitem__") and not sp.issparse(X)


def count_of(X: Data) -> int:
    """How many examples."""
    if has_views(X):
        X = next(iter(X.values()), [])
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take(X: Data, places: Any) -> Data:
    """Some of the examples."""
    if has_views(X):
        return {name: _safe_indexing(values, places) for name, values in X.items()}
    return _safe_indexing(X, places)


def checked_views(X: Data, wanted: list[tuple[str | None, str]], finite: bool | str = True) -> Data:
    """A dictionary of views, or a list of strings, whose parts are whole and of one length."""
    if is_frame(X):
        X = _views_of_frame(X, [name for name, _ in wanted if name is not None])
    if not has_views(X):
        return strings_of(X)
    if not X:
        raise ValueError("Found a dictionary without views; give at least one, such as {'x': X}.")
    checked = {}
    for name, values in X.items():
        if are_strings(values):
            checked[name] = strings_of(values)
        else:
            checked[name] = check_array(values, dtype=[np.float64, np.float32], order="C", accept_sparse="csr",
                                        ensure_all_finite=finite, input_name=f"the view {name!r}")  # fmt: skip
    lengths = {name: count_of(values) for name, values in checked.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"Found views with inconsistent numbers of samples: {lengths}")
    return checked


def _views_of_frame(X: Data, names: list[str]) -> dict[str, Data]:
    """The column, or the columns below a common head, of each name; `x` is all columns of numbers that no name takes."""
    columns = [column[0] if isinstance(column, tuple) else column for column in X.columns]
    views: dict[str, Data] = {}
    for name in dict.fromkeys(names):
        if name in columns:
            part = X[name]
            strings = getattr(part, "ndim", 1) == 1 and are_strings(part)
            views[name] = list(part) if strings else np.asarray(part).reshape(len(part), -1)
        elif name == "x":
            rest = [column for column in dict.fromkeys(columns) if column not in names]
            kept = [column for column in rest if np.asarray(X[column]).dtype.kind in "biuf"]
            if not kept:
                raise ValueError("the view 'x' is all columns of numbers that no other view takes, and the frame has none")
            views[name] = np.column_stack([np.asarray(X[column]) for column in kept])
        else:
            near = difflib.get_close_matches(name, map(str, columns), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"the kernel looks at the view {name!r}, and the frame has no such column: {list(map(str, columns))}{hint}")
    return views


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_of(n_jobs: int | None) -> int:
    """Threads for a number of jobs in scikit-learn's spelling, where 0 is all of them; None is as many as one may use here."""
    if n_jobs is None:
        return allowed_threads()
    if n_jobs == -1:
        return 0
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning")
    return int(n_jobs) if n_jobs > 0 else max(1, cores() + 1 + int(n_jobs))
