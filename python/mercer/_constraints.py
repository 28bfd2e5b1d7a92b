"""What parameters may be, in scikit-learn's own terms; `_validate_params` compares and raises `InvalidParameterError`."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Hidden, Interval, StrOptions

# how scikit-learn calls kernels, and how a formula does
NAMES = {"poly": "polynomial", "polynomial": "polynomial", "rbf": "rbf", "sigmoid": "sigmoid", "linear": "linear",
         "laplacian": "laplacian", "cosine": "cosine", "chi2": "chi2"}  # fmt: skip

# those with a width, which the word "scale" takes from the examples
WITH_WIDTH = {name for name, formula in NAMES.items() if formula not in ("linear", "cosine")}

ABOVE_ZERO = [Interval(Real, 0.0, None, closed="neither")]
AT_LEAST_ZERO = [Interval(Real, 0.0, None, closed="left")]
FINITE = [Interval(Real, None, None, closed="neither")]
SHARE = [Interval(Real, 0.0, 1.0, closed="right")]

# beyond scikit-learn's own parameters
OWN: dict[str, list[Any]] = {
    "n_jobs": [Integral, None],
    "callback": [callable, None],
}

# LIBSVM's classes
SUPPORT: dict[str, list[Any]] = {
    **OWN,
    "kernel": [StrOptions({*NAMES, "precomputed"}), callable],
    "degree": [Interval(Integral, 0, None, closed="left")],
    "gamma": [StrOptions({"scale", "auto"}), *AT_LEAST_ZERO],
    "coef0": FINITE,
    "shrinking": ["boolean"],
    "tol": ABOVE_ZERO,
    "cache_size": ABOVE_ZERO,
    "verbose": ["verbose"],
    "max_iter": [Interval(Integral, -1, None, closed="left"), None],
    "max_seconds": [*ABOVE_ZERO, None],
}
C = {"C": [Interval(Real, 0.0, None, closed="right")]}
NU = {"nu": SHARE}
TUBE = {"epsilon": AT_LEAST_ZERO}
CLASSES: dict[str, list[Any]] = {
    # scikit-learn 1.9 calls no by this word
    "probability": ["boolean", Hidden(StrOptions({"deprecated"}))],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "decision_function_shape": [StrOptions({"ovr", "ovo"})],
    "break_ties": ["boolean"],
    "random_state": ["random_state"],
}

# LIBLINEAR's classes
LINEAR: dict[str, list[Any]] = {
    **OWN,
    "dual": ["boolean", StrOptions({"auto"})],
    "tol": ABOVE_ZERO,
    "C": ABOVE_ZERO,
    "fit_intercept": ["boolean"],
    "intercept_scaling": ABOVE_ZERO,
    "verbose": ["verbose"],
    "random_state": ["random_state"],
    "max_iter": [Interval(Integral, 0, None, closed="left")],
}
LINEAR_CLASSES: dict[str, list[Any]] = {
    "penalty": [StrOptions({"l1", "l2"})],
    "loss": [StrOptions({"hinge", "squared_hinge"})],
    "multi_class": [StrOptions({"ovr", "crammer_singer"})],
    "class_weight": [StrOptions({"balanced"}), dict, None],
}
LINEAR_NUMBERS: dict[str, list[Any]] = {
    **TUBE,
    "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
}

# kernels of sklearn.metrics.pairwise
PAIRWISE: dict[str, list[Any]] = {
    **OWN,
    "kernel": [StrOptions({*NAMES, "additive_chi2", "precomputed"}), callable],
    "gamma": [*AT_LEAST_ZERO, None],
    "degree": AT_LEAST_ZERO,
    "coef0": FINITE,
    "kernel_params": [dict, None],
}
RIDGE: dict[str, list[Any]] = {"alpha": [*AT_LEAST_ZERO, "array-like"]}
COMPONENTS: dict[str, list[Any]] = {
    "n_components": [Interval(Integral, 1, None, closed="left"), None],
    "alpha": AT_LEAST_ZERO,
    "fit_inverse_transform": ["boolean"],
    "eigen_solver": [StrOptions({"auto", "dense", "arpack", "randomized"})],
    "tol": AT_LEAST_ZERO,
    "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    "iterated_power": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
    "remove_zero_eig": ["boolean"],
    "random_state": ["random_state"],
    "copy_X": ["boolean"],
}

# what the generated classes have beside the parameters of their machine
SHARED: dict[str, list[Any]] = {**OWN, "kernel": [str, callable], "random_state": ["random_state"]}


def within(kind: type, low: float | None, high: float | None, closed: str) -> Interval:
    """Numbers of a kind in an interval, of which the catalogue's rules are made."""
    return Interval(kind, low, high, closed=closed)


def words(*allowed: str) -> StrOptions:
    """One of some words."""
    return StrOptions(set(allowed))
