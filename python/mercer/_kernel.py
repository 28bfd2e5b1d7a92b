"""Kernels as objects: leaves with parameters, and an algebra of them."""

from __future__ import annotations

import difflib
import functools
import inspect
import numbers
import re
from collections.abc import Sequence
from typing import Any, Callable, Union

import scipy.sparse as sp

from mercer import _native
from mercer._data import Data, Matrix, View, columns_of, in_order_of, is_frame, threads_of, views_of, views_of_frame

Operand = Union["Kernel", float]
# a name that scikit-learn knows, a mercer kernel, or a function that gives the matrix
KernelLike = Union[str, "Kernel", Callable[..., Any]]


# every prediction asks for the canonical text of its kernel, and for the views that it looks at
_canonical = functools.lru_cache(maxsize=1024)(_native.kernel_text)
views_wanted = functools.lru_cache(maxsize=1024)(_native.kernel_views)
# a name as the language of formulas writes it where it is no plain word
_IN_QUOTES = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


class Kernel:
    """A kernel formula; `str(k)` is its text, `k(X, Y)` its matrix.

    Kernels are combined as in mathematics: ``k1 + k2``, ``2 * k``, ``k1 * k2``, ``k ** 2``, ``k @ "view"``, and by the
    methods `exp`, `normalise`, `centre`, `nystrom`, `rbf`, `series` and `set`. Parameters have the names of their places, so that searches can set them:
    ``kernel__gamma`` of a leaf, ``kernel__k1__gamma`` of the first operand.

    Examples
    --------
    >>> from mercer.kernels import Linear, Rbf
    >>> k = Rbf(gamma=0.5) + 0.1 * Linear()
    >>> print(k)
    rbf(gamma=0.5) + 0.1*linear
    >>> k([[0.0], [1.0]]).round(3).tolist()
    [[1.0, 0.607], [0.607, 1.1]]
    >>> print(k.set_params(k1__gamma=2.0))
    rbf(gamma=2) + 0.1*linear
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return _canonical(self._text())

    def _text(self) -> str:
        return self.text

    def __repr__(self) -> str:
        try:
            return f"kernel({str(self)!r})"
        except ValueError:  # it is no kernel, which a message about it has to show
            return f"kernel({self._text()!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __call__(self, X: Data, Y: Data | None = None, n_jobs: int | None = None) -> Matrix:
        """The matrix between the rows of X and of Y (or of X itself)."""
        rows, columns = self._views(X, Y)
        return _native.matrix(self._text(), rows, columns, threads_of(n_jobs), None)

    def _views(self, X: Data, others: Data | None) -> tuple[list[tuple[str, View]], list[tuple[str, View]] | None]:
        """The views of some examples and of others, if there are any: of frames the columns that the kernel names."""
        wanted = views_wanted(self._text())
        if all(name is None for name, _ in wanted):
            return views_of(X), None if others is None else views_of(in_order_of(others, X))
        frames = [Z for Z in (X, others) if is_frame(Z)]
        columns = columns_of(frames[0], wanted) if frames else {}
        first, second = (views_of_frame(Z, columns) if is_frame(Z) else Z for Z in (X, others))
        return views_of(first), None if others is None else views_of(second)

    def features(self, X: Data, training: Data | None = None, n_jobs: int | None = None) -> Any:
        """Explicit features φ with κ(x, y) = ⟨φ(x), φ(y)⟩, where the kernel has some: an array or a sparse matrix.

        Kernels that count pieces of strings have sparse ones, polynomials of few coordinates have dense ones; linear
        machines on them need no matrix of pairs. What a kernel learns (words and their weights) it learns from
        `training`, or from X.

        Examples
        --------
        >>> from mercer.kernels import Polynomial, Spectrum
        >>> Polynomial(degree=2, offset=0.0).features([[1.0, 2.0]]).round(3).tolist()
        [[1.0, 2.828, 4.0]]
        >>> F = Spectrum(length=2).features(["abab", "abc"])
        >>> (F @ F.T).toarray().tolist()
        [[5.0, 2.0], [2.0, 2.0]]
        """
        rows, others = self._views(X, training)
        features, scale = _native.kernel_features(self._text(), rows, others, threads_of(n_jobs))
        if scale < 0.0:
            raise ValueError(f"{self} is a negative multiple, whose features are not real")
        if isinstance(features, tuple):
            starts, indices, values, width = features
            features = sp.csr_matrix((values, indices, starts), shape=(len(starts) - 1, width))
        return features if scale == 1.0 else features * scale**0.5

    @property
    def definite(self) -> str:
        """`positive`, `conditionally` or `indefinite`."""
        return _native.kernel_definite(self._text())

    def __add__(self, other: Operand) -> Kernel:
        return Sum(self, other) if _joins(other) else NotImplemented

    def __radd__(self, other: Operand) -> Kernel:
        return Sum(other, self) if _joins(other) else NotImplemented

    def __mul__(self, other: Operand) -> Kernel:
        return Product(self, other) if _joins(other) else NotImplemented

    def __rmul__(self, other: Operand) -> Kernel:
        return Product(other, self) if _joins(other) else NotImplemented

    def __pow__(self, exponent: int) -> Kernel:
        return Power(self, exponent)

    def __matmul__(self, view: str) -> Kernel:
        return At(self, view)

    def exp(self) -> Kernel:
        """exp(κ)"""
        return Exp(self)

    def normalise(self) -> Kernel:
        """κ(x, y) / √(κ(x, x) κ(y, y))"""
        return Normalise(self)

    def centre(self) -> Kernel:
        """The kernel around the mean of the training examples in feature space."""
        return Centre(self)

    def nystrom(self, points: int = 500, choose: str = "uniform") -> Kernel:
        """The kernel between projections on the span of so many landmarks: a matrix of low rank with explicit features.

        Landmarks are chosen among the training examples: uniform, greedy (pivots of the incomplete Cholesky decomposition) or
        k_means (centres of vectors).

        Examples
        --------
        >>> from mercer.kernels import Rbf
        >>> str(Rbf(gamma=0.5).nystrom(100, choose="greedy"))
        'nystrom(rbf(gamma=0.5), points=100, choose=greedy)'
        """
        return Nystrom(self, points, choose)

    def rbf(self, gamma: float = 1.0) -> Kernel:
        """exp(−γ ‖φ(x) − φ(y)‖²), a Gaussian in the feature space of this kernel."""
        return Gaussian(self, gamma)

    def series(self, coefficients: Sequence[float]) -> Kernel:
        """a₀ + a₁ κ + a₂ κ² + …, a polynomial of this kernel with coefficients that are not negative."""
        return Series(self, coefficients)

    def direct_sum(self, other: Kernel) -> Kernel:
        """κ₁ + κ₂ on pairs of views: the kernel of the features of both, one after the other."""
        return Sum(self, other)

    def tensor_product(self, other: Kernel) -> Kernel:
        """κ₁ κ₂ on pairs of views: the kernel of all products of a feature of one and a feature of the other."""
        return Product(self, other)

    def set(self, separator: str | None = None, columns: int | None = None, mean: bool = False) -> Kernel:
        """Σ κ(a, b) over the members of two sets, or their mean; see `mercer.pack_sets`.

        Strings have their members between separators, vectors have members of so many columns one after the other, where NaN
        in all of them is no member.

        Examples
        --------
        >>> from mercer import pack_sets
        >>> from mercer.kernels import Linear, Spectrum
        >>> Spectrum(length=3).set(separator="|")(pack_sets([["red", "green"], ["red"]], separator="|")).tolist()
        [[4.0, 1.0], [1.0, 1.0]]
        >>> Linear().set(columns=2)(pack_sets([[[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0]]])).tolist()
        [[2.0, 2.0], [2.0, 4.0]]
        """
        return Set(self, separator, columns, mean)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep` also those of the operands."""
        names = [name for name in inspect.signature(type(self).__init__).parameters if name != "self"]
        params = {name: getattr(self, name) for name in names}
        if deep:
            for name, value in list(params.items()):
                if isinstance(value, Kernel):
                    params.update((f"{name}__{inner}", v) for inner, v in value.get_params().items())
        return params

    def set_params(self, **params: Any) -> Kernel:
        """Sets parameters by name."""
        for name, value in params.items():
            first, _, rest = name.partition("__")
            known = self.get_params(deep=False)
            if first not in known or (rest and not isinstance(known[first], Kernel)):
                near = difflib.get_close_matches(name, self.get_params(), 1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                valid = ", ".join(map(repr, self.get_params()))
                raise ValueError(f"Invalid parameter {name!r} for kernel {self}. Valid parameters are: {valid}.{hint}")
            if rest:
                known[first].set_params(**{rest: value})
            else:
                setattr(self, name, value)
        return self


class Leaf(Kernel):
    """A kernel of the catalogue: its parameters are attributes."""

    _name = ""

    def __init__(self) -> None:
        pass

    def _text(self) -> str:
        words = [f"{name}={_word(value)}" for name, value in self.get_params().items()]
        return f"{self._name}({', '.join(words)})"

    def __repr__(self) -> str:
        words = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({words})"


class Sum(Kernel):
    """κ₁ + κ₂; one of them may be a number."""

    def __init__(self, k1: Operand, k2: Operand) -> None:
        self.k1 = k1
        self.k2 = k2

    def _text(self) -> str:
        return " + ".join(map(_operand, _operands(self)))


class Product(Kernel):
    """κ₁ κ₂; one of them may be a number."""

    def __init__(self, k1: Operand, k2: Operand) -> None:
        self.k1 = k1
        self.k2 = k2

    def _text(self) -> str:
        return " * ".join(map(_operand, _operands(self)))


class Power(Kernel):
    """κᵖ for a whole number p from 1 to 64."""

    def __init__(self, k: Kernel, exponent: int) -> None:
        self.k = k
        self.exponent = exponent

    def _text(self) -> str:
        return f"{_operand(self.k)}^{_word(self.exponent)}"


class At(Kernel):
    """κ on one view of the examples."""

    def __init__(self, k: Kernel, view: str) -> None:
        self.k = k
        self.view = view

    def _text(self) -> str:
        return f"{_operand(self.k)}@{_name(str(self.view))}"


class Exp(Kernel):
    """exp(κ)"""

    def __init__(self, k: Kernel) -> None:
        self.k = k

    def _text(self) -> str:
        return f"exp({self.k._text()})"


class Normalise(Kernel):
    """κ(x, y) / √(κ(x, x) κ(y, y))"""

    def __init__(self, k: Kernel) -> None:
        self.k = k

    def _text(self) -> str:
        return f"normalise({self.k._text()})"


class Centre(Kernel):
    """κ around the mean of the training examples."""

    def __init__(self, k: Kernel) -> None:
        self.k = k

    def _text(self) -> str:
        return f"centre({self.k._text()})"


class Nystrom(Kernel):
    """κ between projections on the span of landmarks."""

    def __init__(self, k: Kernel, points: int = 500, choose: str = "uniform") -> None:
        self.k = k
        self.points = points
        self.choose = choose

    def _text(self) -> str:
        return f"nystrom({self.k._text()}, points={_word(self.points)}, choose={self.choose})"


class Gaussian(Kernel):
    """exp(−γ ‖φ(x) − φ(y)‖²)"""

    def __init__(self, k: Kernel, gamma: float = 1.0) -> None:
        self.k = k
        self.gamma = gamma

    def _text(self) -> str:
        return f"rbf({self.k._text()}, gamma={_word(self.gamma)})"


class Series(Kernel):
    """a₀ + a₁ κ + a₂ κ² + …"""

    def __init__(self, k: Kernel, coefficients: Sequence[float] = (0, 1)) -> None:
        self.k = k
        self.coefficients = coefficients

    def _text(self) -> str:
        return f"series({self.k._text()}, coefficients={_word(self.coefficients)})"


class Set(Kernel):
    """Σ κ(a, b) over the members of two sets, or their mean."""

    def __init__(
        self, k: Kernel, separator: str | None = None, columns: int | None = None, mean: bool = False
    ) -> None:
        self.k = k
        self.separator = separator
        self.columns = columns
        self.mean = mean

    def _text(self) -> str:
        words = [self.k._text()]
        if self.separator is not None:
            words.append(f"separator={_quoted(self.separator)}")
        if self.columns is not None:
            words.append(f"columns={_word(self.columns)}")
        if self.mean:
            words.append("mean=true")
        return f"set({', '.join(words)})"


def _joins(other: object) -> bool:
    return isinstance(other, (Kernel, numbers.Real))


def _operand(value: Operand) -> str:
    return f"({value._text()})" if isinstance(value, Kernel) else _word(value)


def _operands(joined: Any) -> list[Operand]:
    """The operands of sums of sums, or of products of products, from left to right: a chain may have more of them than brackets nest."""
    found: list[list[Operand]] = []
    rest = joined
    while type(rest) is type(joined):
        inner = _operands(rest.k2) if type(rest.k2) is type(joined) else []
        # numbers are taken together in the order of the brackets
        found.append(inner if inner and all(isinstance(k, Kernel) for k in inner) else [rest.k2])
        rest = rest.k1
    return [rest, *(operand for part in reversed(found) for operand in part)]


def _quoted(text: str) -> str:
    """Text in quotes, as the language of formulas writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _name(view: str) -> str:
    """The name of a view as the language of formulas writes it; one that stands in quotes already is taken so."""
    return view if _IN_QUOTES.fullmatch(view) else _quoted(view)


def _word(value: Any) -> str:
    """A value as the language of formulas writes it."""
    if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0:
        return "[" + ", ".join(repr(float(v)) for v in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, numbers.Integral):
        return repr(int(value))
    return repr(float(value)) if isinstance(value, numbers.Real) else str(value)


def kernel(text: str) -> Kernel:
    """The kernel of a formula such as ``"rbf(gamma=0.5)@x + spectrum(length=3)@seq"``.

    Examples
    --------
    >>> import mercer
    >>> mercer.kernel("normalise(spectrum(length=2))")(["abab", "baba", "cccc"]).round(2).tolist()
    [[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    made = Kernel(text)
    str(made)  # a formula that is none is told now
    return made
