"""Models from files: of the `mercer` program, of `estimator.save`, or of LIBSVM."""

from __future__ import annotations

import os

import numpy as np

from mercer import _native
from mercer._base import onnx_of
from mercer._data import Array, Data, Matrix, threads_of, views_of


class LoadedModel:
    """A model that was learned elsewhere: it predicts."""

    def __init__(self, model: _native.Model) -> None:
        self._model = model
        self.machine, self.kernel, self.proof_ = model.machine, model.kernel, model.proof
        self.classes_ = np.array(model.labels) if model.labels else None

    def __repr__(self) -> str:
        return f"<{self.machine} with {self.kernel}>"

    def decision_function(self, X: Data, n_jobs: int | None = None) -> Matrix:
        """Scores: one for each output (a pair of classes, a class); for two classes one, positive for the second."""
        scores = self._model.scores(views_of(X), threads_of(n_jobs))
        if scores.shape[1] > 1:
            return scores
        return -scores.ravel() if self.classes_ is not None and len(self.classes_) == 2 else scores.ravel()

    def predict(self, X: Data, n_jobs: int | None = None) -> Array:
        """Labels as they were spelled, or numbers."""
        if self.classes_ is None:
            return self.decision_function(X, n_jobs)
        return self.classes_[self._model.codes(views_of(X), threads_of(n_jobs))]

    def predict_proba(self, X: Data, n_jobs: int | None = None) -> Matrix:
        """The probability of each class, where the model has learned them."""
        return self._model.probabilities(views_of(X), threads_of(n_jobs))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file of mercer."""
        self._model.save(path)

    def to_onnx(self) -> bytes:
        """The bytes of an ONNX file; `values` are those of :meth:`predict`, `scores` the raw ones: of two classes positive
        for the first, where :meth:`decision_function` is positive for the second.

        Scaling that the `mercer` program has learned is part of the graph. What the file cannot say is a `UserWarning`.
        """
        return onnx_of(self._model)


def load(path: str | os.PathLike[str]) -> LoadedModel:
    """Reads a model file of mercer or of LIBSVM."""
    return LoadedModel(_native.Model.load(path))
