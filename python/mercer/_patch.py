"""Existing scripts with mercer: `mercer.patch_sklearn()`, or `python -m mercer script.py`."""

from __future__ import annotations

import importlib

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


def patch_sklearn() -> None:
    """Puts mercer's estimators in the place of scikit-learn's; imports that follow get them."""
    import mercer

    for place, names in PLACES.items():
        module = importlib.import_module(place)
        for name in names:
            if (place, name) not in _originals:
                theirs = getattr(module, name)
                _originals[place, name] = theirs
                setattr(module, name, getattr(mercer, NAMES.get(name, name)))


def unpatch_sklearn() -> None:
    """Puts scikit-learn's estimators back."""
    for (place, name), theirs in _originals.items():
        setattr(importlib.import_module(place), name, theirs)
    _originals.clear()
