"""Existing scripts with mercer: `mercer.patch_sklearn()`, or `python -m mercer script.py`."""

from __future__ import annotations

import importlib
import logging

log = logging.getLogger("mercer")

# the module that users import from, and the classes of it that are replaced
PLACES = {
    "sklearn.svm": ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR"),
    "sklearn.kernel_ridge": ("KernelRidge",),
    "sklearn.decomposition": ("KernelPCA",),
    "sklearn.model_selection": ("GridSearchCV",),
}
# what is called otherwise here
NAMES = {"GridSearchCV": "MercerSearchCV"}
_originals: dict[tuple[str, str], type] = {}


def _uncovered(name, params):
    """Why an option is not covered; None if it is."""
    for option, covered in (("penalty", "l2"), ("multi_class", "ovr")):
        if name == "LinearSVC" and params.get(option, covered) != covered:
            return f"{option}={params[option]!r}"
    return None


def _replacement(name, ours, theirs):
    """What stands in for a class: ours or, where an option may not be covered, what chooses between ours and theirs."""
    if name != "LinearSVC":
        return ours

    class Choosing(type):
        def __instancecheck__(cls, instance):
            return isinstance(instance, (ours, theirs))

    class LinearSVC(metaclass=Choosing):
        __doc__ = ours.__doc__

        def __new__(cls, penalty="l2", loss="squared_hinge", **more):
            why = _uncovered(name, {"penalty": penalty, **more})
            if why is None:
                return ours(penalty, loss, **more)
            log.warning("%s(%s) is not covered by mercer: scikit-learn's is used", name, why)
            return theirs(penalty, loss, **more)

    return LinearSVC


def patch_sklearn() -> None:
    """Puts mercer's estimators in the place of scikit-learn's; imports that follow get them."""
    import mercer

    for place, names in PLACES.items():
        module = importlib.import_module(place)
        for name in names:
            if (place, name) not in _originals:
                theirs = getattr(module, name)
                _originals[place, name] = theirs
                setattr(module, name, _replacement(name, getattr(mercer, NAMES.get(name, name)), theirs))


def unpatch_sklearn() -> None:
    """Puts scikit-learn's estimators back."""
    for (place, name), theirs in _originals.items():
        setattr(importlib.import_module(place), name, theirs)
    _originals.clear()
