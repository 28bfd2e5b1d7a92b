"""Models from files: of the `mercer` program, of `estimator.save`, or of LIBSVM."""

from __future__ import annotations

import numpy as np

from mercer import _native
from mercer._data import threads_of, views_of


class LoadedModel:
    """A model that was learned elsewhere: it predicts."""

    def __init__(self, model):
        self._model = model
        self.machine, self.kernel, self.proof_ = model.machine, model.kernel, model.proof
        self.classes_ = np.array(model.labels) if model.labels else None

    def __repr__(self):
        return f"<{self.machine} with {self.kernel}>"

    def decision_function(self, X, n_jobs=None):
        """Scores, n × outputs."""
        return self._model.scores(views_of(X), threads_of(n_jobs))

    def predict(self, X, n_jobs=None):
        """Labels as they were spelled, or numbers."""
        if self.classes_ is None:
            scores = self.decision_function(X, n_jobs)
            return scores.ravel() if scores.shape[1] == 1 else scores
        return self.classes_[self._model.codes(views_of(X), threads_of(n_jobs))]

    def predict_proba(self, X, n_jobs=None):
        """The probability of each class, where the model has learned them."""
        return self._model.probabilities(views_of(X), threads_of(n_jobs))

    def save(self, path):
        """Writes a model file of mercer."""
        self._model.save(path)


def load(path):
    """Reads a model file of mercer or of LIBSVM."""
    return LoadedModel(_native.Model.load(path))
