"""How many threads one may use here: in a worker among many, not all of them."""

from __future__ import annotations

import multiprocessing
import os
import sys
from typing import Any

from joblib.parallel import get_active_backend

try:
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads as _of_openmp
except ImportError:  # a part of scikit-learn that it may change
    _of_openmp = None


def allowed_threads() -> int:
    """The number that `n_jobs=None` stands for.

    RAYON_NUM_THREADS, where it is set. In a worker one, but in a process of loky's, which has OMP_NUM_THREADS from joblib: its
    share of the cores, or `inner_max_num_threads`. Elsewhere what OpenMP would take: OMP_NUM_THREADS or the cores that the
    process has, within the limits of threadpoolctl and of LOKY_MAX_CPU_COUNT.

    Examples
    --------
    >>> from joblib import Parallel, delayed
    >>> Parallel(n_jobs=2, prefer="threads")(delayed(allowed_threads)() for _ in range(2))
    [1, 1]
    """
    named = _number("RAYON_NUM_THREADS")
    if named is not None:
        return named
    depth = int(getattr(get_active_backend()[0], "nesting_level", 0) or 0)
    if _in_process_of_loky() and depth <= 1 and _number("OMP_NUM_THREADS") is not None:
        return _usual()
    return 1 if depth > 0 or multiprocessing.current_process().daemon or _in_dask() else _usual()


def _number(name: str) -> int | None:
    """A number above zero in the environment; OpenMP has one for each level, of which the first counts."""
    text = os.environ.get(name, "").split(",")[0].strip()
    return int(text) if text.isdigit() and int(text) > 0 else None


def _usual() -> int:
    """What OpenMP would take."""
    if _of_openmp is not None:
        return max(1, int(_of_openmp(n_threads=None, only_physical_cores=False)))
    return _number("OMP_NUM_THREADS") or _cores()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_process_of_loky() -> bool:
    return type(multiprocessing.current_process()).__name__ == "LokyProcess" or "LokyProcess" in multiprocessing.current_process().name


def _in_dask() -> bool:
    """Whether this is a task of dask's, which knows by itself how many run at once."""
    worker: Any = sys.modules.get("distributed.worker")
    if worker is None:
        return False
    try:
        worker.get_worker()
    except (AttributeError, ValueError):
        return False
    return True
