"""Kernels as objects: leaves with parameters, and an algebra of them."""

from __future__ import annotations

import inspect
import numbers

from mercer import _native
from mercer._data import threads_of, views_of


class Kernel:
    """A kernel formula; `str(k)` is its text, `k(X, Y)` its matrix.

    Kernels are combined as in mathematics: ``k1 + k2``, ``2 * k``, ``k1 * k2``, ``k ** 2``, ``k @ "view"``, and by the
    methods `exp`, `normalise` and `centre`.
    """

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return _native.kernel_text(self._text())

    def _text(self):
        return self.text

    def __repr__(self):
        return f"kernel({str(self)!r})"

    def __eq__(self, other):
        return isinstance(other, Kernel) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    def __call__(self, X, Y=None, n_jobs=None):
        """The matrix between the rows of X and of Y (or of X itself)."""
        columns = None if Y is None else views_of(Y)
        return _native.matrix(self._text(), views_of(X), columns, threads_of(n_jobs), None)

    @property
    def definite(self):
        """"positive", "conditionally" or "indefinite"."""
        return _native.kernel_definite(self._text())

    def _join(self, sign, other, swapped=False):
        if isinstance(other, numbers.Real):
            other = repr(float(other))
        elif isinstance(other, Kernel):
            other = f"({other._text()})"
        else:
            return NotImplemented
        parts = (other, f"({self._text()})") if swapped else (f"({self._text()})", other)
        return Kernel(f" {sign} ".join(parts))

    def __add__(self, other):
        return self._join("+", other)

    def __radd__(self, other):
        return self._join("+", other, swapped=True)

    def __mul__(self, other):
        return self._join("*", other)

    def __rmul__(self, other):
        return self._join("*", other, swapped=True)

    def __pow__(self, power):
        return Kernel(f"({self._text()})^{int(power)}")

    def __matmul__(self, view):
        return Kernel(f"({self._text()})@{view}")

    def exp(self):
        """exp(κ)"""
        return Kernel(f"exp({self._text()})")

    def normalise(self):
        """κ(x, y) / √(κ(x, x) κ(y, y))"""
        return Kernel(f"normalise({self._text()})")

    def centre(self):
        """The kernel around the mean of the training examples in feature space."""
        return Kernel(f"centre({self._text()})")

    def get_params(self, deep=True):
        return {"text": self.text}

    def set_params(self, **params):
        for name, value in params.items():
            if name not in self.get_params():
                known = ", ".join(self.get_params())
                raise ValueError(f"Invalid parameter {name!r} for kernel {type(self).__name__}. Valid parameters are: {known}.")
            setattr(self, name, value)
        return self


class Leaf(Kernel):
    """A kernel of the catalogue: its parameters are attributes, so that searches can set them (`kernel__gamma`)."""

    _name = ""

    def _text(self):
        words = []
        for name, value in self.get_params().items():
            if isinstance(value, (list, tuple)) or hasattr(value, "tolist") and getattr(value, "ndim", 0):
                value = "[" + ", ".join(repr(float(v)) for v in value) + "]"
            elif isinstance(value, bool):
                value = str(value).lower()
            elif isinstance(value, numbers.Integral):
                value = repr(int(value))
            elif isinstance(value, numbers.Real):
                value = repr(float(value))
            words.append(f"{name}={value}")
        return f"{self._name}({', '.join(words)})"

    def get_params(self, deep=True):
        return {name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"}

    def __repr__(self):
        words = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({words})"


def kernel(text):
    """The kernel of a formula such as ``"rbf(gamma=0.5)@x + spectrum(length=3)@seq"``."""
    made = Kernel(text)
    str(made)  # a formula that is none is told now
    return made
