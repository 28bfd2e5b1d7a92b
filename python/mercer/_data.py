"""What users hand in, as the named views that the Rust half takes."""

from __future__ import annotations

import difflib
import functools
import os
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, Callable, TypeVar, Union

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn import get_config
from sklearn.utils import _safe_indexing, check_array

from mercer import _native
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
# what objects are that are numbers
NUMBERS = (Real, Decimal, np.bool_)
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
    """The strings of examples, which stay of their kind; a missing one is no word, and is refused."""
    if isinstance(values, Items):
        return Items(values.kind, values)
    strings = []
    for place, value in enumerate(values):
        if not isinstance(value, str) and is_missing(value):
            raise ValueError(f"the string at place {place} is missing ({value!r}): write a string there, or leave the example out")
        strings.append(str(value))
    return strings


def is_missing(value: Any) -> bool:
    """Whether this is what frames have where there is nothing: None, NaN, or the like."""
    return value is None or isinstance(value, float) and value != value or type(value).__name__ in ("NAType", "NaTType")


def view_of(values: Data) -> View:
    """One view: numbers as an array in C order, sparse rows as parts, or a list of strings."""
    if sp.issparse(values):
        csr = values.tocsr()
        if not csr.has_canonical_format:
            # what the user has given is not written to: it may be read only, or in use by another thread
            csr = csr.copy()
            csr.sum_duplicates()
        numbers = csr.data if csr.data.dtype == np.float32 else np.asarray(csr.data, dtype=np.float64)
        starts, indices = (np.ascontiguousarray(part, dtype=np.int64) for part in (csr.indptr, csr.indices))
        return ("csr", starts, indices, np.ascontiguousarray(numbers), csr.shape[1])
    if isinstance(values, Items):
        return (values.kind, [str(v) for v in values])
    if are_strings(values):
        strings: list[str] = strings_of(values)
        return strings
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
        return isinstance(_first(values), str)
    if sp.issparse(values) or getattr(values, "ndim", 1) != 1 or isinstance(values, dict):
        return False
    kind = getattr(np.asarray(values), "dtype", np.dtype(float)).kind
    return kind in "UT" or kind == "O" and isinstance(_first(np.asarray(values)), str)


def single_strings(X: Data, kernel: str) -> Data:
    """The strings of a frame or an array of one column, where a kernel looks at one column of them; anything else as it is."""
    shape = getattr(X, "shape", ())
    if len(shape) != 2 or sp.issparse(X) or not _reads_cells(kernel):
        return X
    first = X[list(X.columns)[0]] if is_frame(X) and shape[1] else X[:, 0] if isinstance(X, np.ndarray) and shape[1] else None
    if first is None or not are_strings(first if is_frame(X) else np.asarray(first)):
        return X
    if shape[1] != 1:
        raise ValueError(f"the kernel looks at one column of strings, and there are {shape[1]} columns: give one of them, or name it in the "
                         "kernel (kernel @ 'column') and give a frame")  # fmt: skip
    return list(first)


# every prediction asks for it
_reads_cells = functools.lru_cache(maxsize=1024)(_native.kernel_reads_cells)


def _first(values: Any) -> Any:
    """The first entry that is not missing."""
    return next((value for value in values if not is_missing(value)), None)


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


def checked_views(
    X: Data, wanted: list[tuple[str | None, str]], finite: bool | str = True, columns: dict[str, list[Any]] | None = None
) -> Data:
    """A dictionary of views, or a list of strings, whose parts are whole and of one length.

    `columns` are those of :func:`columns_of` in a frame that was learned from.
    """
    if is_frame(X):
        X = views_of_frame(X, {**columns_of(X, wanted, columns or {}), **(columns or {})})
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


def columns_of(X: Data, wanted: list[tuple[str | None, str]], known: Any = ()) -> dict[str, list[Any]]:
    """The columns of a frame that each view is: those of its name, or for `x` all of numbers that no name takes."""
    names = list(dict.fromkeys(name for name, _ in wanted if name is not None and name not in known))
    heads = [column[0] if isinstance(column, tuple) else column for column in X.columns]
    views: dict[str, list[Any]] = {}
    for name in names:
        if name in heads:
            # columns below a common head
            part = X[name] if isinstance(X.columns[heads.index(name)], tuple) else None
            views[name] = [name] if part is None or not hasattr(part, "columns") else [(name, c) for c in part.columns]
        elif name == "x":
            rest = [head for head in dict.fromkeys(heads) if head not in names and head not in known]
            views[name] = [column for column in rest if _is_of_numbers(X, column)]
            if not views[name]:
                raise ValueError("the view 'x' is all columns of numbers that no other view takes, and the frame has none")
        else:
            near = difflib.get_close_matches(name, map(str, heads), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"the kernel looks at the view {name!r}, and the frame has no such column: {list(map(str, heads))}{hint}")
    return views


def in_order_of(Y: Data, X: Data) -> Data:
    """A frame with its columns in the order of another's; anything else as it is."""
    if not is_frame(X) or not is_frame(Y):
        return Y
    known, given = list(X.columns), list(Y.columns)
    named = all(isinstance(name, str) for name in known + given) and len(set(known)) == len(known)
    if not named or known == given:
        return Y
    if sorted(known) != sorted(given):
        if len(known) != len(given):
            return Y
        raise ValueError(f"the columns of one frame are {given}, and those of the other {known}")
    return Y[known]


def views_of_frame(X: Data, columns: dict[str, list[Any]]) -> dict[str, Data]:
    """The views that these columns are, whatever their order in the frame."""
    views: dict[str, Data] = {}
    for name, chosen in columns.items():
        parts = [_column(X, name, column) for column in chosen]
        if len(parts) == 1 and getattr(parts[0], "ndim", 1) == 1 and are_strings(parts[0]):
            views[name] = list(parts[0])
        else:
            views[name] = np.column_stack([_numbers_of(np.asarray(part)).reshape(len(part), -1) for part in parts])
    return views


def _is_of_numbers(X: Data, column: Any) -> bool:
    """Whether a column of a frame is one of numbers, missing ones included, whatever it stores them as."""
    values = np.asarray(X[column])
    if values.dtype.kind != "O":
        return values.dtype.kind in "biuf"
    known = [value for value in values.ravel() if not is_missing(value)]
    numeric = [isinstance(value, NUMBERS) for value in known]
    if any(numeric) and not all(numeric):
        other = known[numeric.index(False)]
        raise ValueError(f"the column {str(column)!r} has numbers and {other!r}, so that it belongs neither to the view 'x' nor to words: "
                         "make it one or the other, or leave it out")  # fmt: skip
    return all(numeric)


def _numbers_of(values: Array) -> Array:
    """Numbers that are stored as objects as numbers, NaN where one is missing; anything else as it is."""
    if values.dtype.kind != "O" or not all(is_missing(value) or isinstance(value, NUMBERS) for value in values.ravel()):
        return values
    return np.array([np.nan if is_missing(value) else float(value) for value in values.ravel()]).reshape(values.shape)


def _column(X: Data, view: str, column: Any) -> Data:
    """A column of a frame."""
    try:
        return X[column[0]][column[1]] if isinstance(column, tuple) else X[column]
    except Exception as error:  # every kind of frame has an error of its own
        if not isinstance(error, KeyError) and type(error).__name__ != "ColumnNotFoundError":
            raise
        named = "/".join(map(str, column)) if isinstance(column, tuple) else str(column)
        raise ValueError("The feature names should match those that were passed during fit.\nFeature names seen at fit time, yet now "
                         f"missing:\n- {named} (of the view {view!r})\n") from None  # fmt: skip


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
