"""What users hand in, as the named views that the Rust half takes."""

from __future__ import annotations

import os

import numpy as np
import scipy.sparse as sp


def view_of(values):
    """One view: numbers as an array in C order, sparse rows as parts, or a list of strings."""
    if sp.issparse(values):
        csr = values.tocsr()
        if not csr.has_sorted_indices:
            csr = csr.sorted_indices()
        csr.sum_duplicates()
        numbers = csr.data if csr.data.dtype == np.float32 else np.asarray(csr.data, dtype=np.float64)
        starts, indices = (np.ascontiguousarray(part, dtype=np.int64) for part in (csr.indptr, csr.indices))
        return ("csr", starts, indices, np.ascontiguousarray(numbers), csr.shape[1])
    if isinstance(values, (list, tuple)) and values and isinstance(values[0], str):
        return list(values)
    array = np.asarray(values)
    if array.dtype.kind in "OU":
        return [str(v) for v in array.ravel()]
    if array.dtype != np.float32:
        array = np.asarray(array, dtype=np.float64)
    return np.ascontiguousarray(array)


def views_of(X):
    """All views: `x` for a matrix, a view for each entry of a dictionary."""
    if isinstance(X, dict):
        return [(str(name), view_of(values)) for name, values in X.items()]
    return [("x", view_of(X))]


def cores():
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_of(n_jobs):
    """Threads for a number of jobs in scikit-learn's spelling; None is all of them."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning")
    return int(n_jobs) if n_jobs > 0 else max(1, cores() + 1 + int(n_jobs))
