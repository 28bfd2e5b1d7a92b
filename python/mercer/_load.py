"""Models from files: of the `mercer` program, of `estimator.save`, or of LIBSVM."""

from __future__ import annotations

import json
import os
from typing import Any, Literal, overload

import numpy as np
from sklearn.utils.validation import _check_feature_names

from mercer import _native
from mercer._base import ReportMixin, onnx_of
from mercer._certify import Certificates, certificates_of
from mercer._columns import prepared
from mercer._data import (
    Array,
    Data,
    Matrix,
    Vector,
    columns_of,
    is_frame,
    single_strings,
    threads_of,
    views_of,
    views_of_frame,
)
from mercer._kernel import views_wanted
from mercer._labels import coded, unquoted
from mercer._pickles import packed, unpacked


class LoadedModel(ReportMixin):
    """A model that was learned elsewhere: it predicts.

    One that was trained on a file prepares examples as it prepares the file: columns are scaled, words become codes, and missing
    entries are filled in as in training. The columns of a frame are found by their names. Those of an array are the model's columns in their
    order (`columns_`), without the target; strings in a list are its only column, and a dictionary has an entry for each view. Predictions
    are those of ``mercer predict``. What cannot be taken so is a `ValueError`.

    One that an estimator has saved, or that LIBSVM has written, takes the numbers as they are.
    """

    def __init__(self, model: _native.Model) -> None:
        self._model = model
        self.machine, self.kernel, self.report_ = model.machine, model.kernel, model.report
        # the labels as the library has them
        self._labels = np.array(model.labels) if model.labels else None
        #: What it predicts, in a word: "vote" or "largest" of classes, "values", "novelty", "clusters", "coordinates", …
        self.readout: str = model.readout
        self.classes_ = None if self.readout == "clusters" else self._labels
        #: The coordinates of each part by its name, for a model that has a part for each view; else empty.
        self.parts_: dict[str, list[str]] = model.part_coordinates
        #: The job that made the model (machine, parameters, kernel, columns, seed); None where the file does not have it.
        self.job: dict[str, Any] | None = json.loads(model.job) if model.job else None

        #: The columns that a file for this model must have, of one that was trained on a file with names; else empty.
        self.columns_: list[str] = _native.file_columns(model) or []
        self._is_of_file = _native.file_columns(model) is not None
        if not self._is_of_file and self.classes_ is not None:
            self.classes_ = np.array(unquoted(model.labels))
        self._columns: dict[str, list[Any]] = dict(model.column_names)
        if self.columns_:
            self.feature_names_in_ = np.array(self.columns_, dtype=object)
        elif "x" in self._columns:
            self.feature_names_in_ = np.array(self._columns["x"], dtype=object)

    def __reduce__(self) -> Any:
        return _unpickled, packed(self._model)

    def __repr__(self) -> str:
        return f"<{self.machine} with {self.kernel}>"

    def _views(self, X: Data) -> list[tuple[str, Any]] | _native.Prepared:
        """The views of examples, as a file would be prepared; a frame has to have the columns that were learned from."""
        if self._is_of_file:
            return prepared(self._model, self.columns_, X)
        X = single_strings(X, self.kernel)
        if is_frame(X):
            wanted = views_wanted(self.kernel)
            if any(name is not None for name, _ in wanted):
                X = views_of_frame(X, {**columns_of(X, wanted, self._columns), **self._columns})
            elif hasattr(self, "feature_names_in_"):
                _check_feature_names(self, X, reset=False)
        return views_of(X)

    def decision_function(self, X: Data, n_jobs: int | None = None) -> Matrix:
        """Scores: one for each output (a pair of classes, a class); for two classes one, positive for the second."""
        scores = self._model.scores(self._views(X), threads_of(n_jobs))
        if scores.shape[1] > 1:
            return scores
        return -scores.ravel() if self.classes_ is not None and len(self.classes_) == 2 else scores.ravel()

    @overload
    def predict(self, X: Data, n_jobs: int | None = None, *, return_std: Literal[False] = False) -> Array: ...
    @overload
    def predict(self, X: Data, n_jobs: int | None = None, *, return_std: Literal[True]) -> tuple[Array, Array]: ...
    def predict(self, X: Data, n_jobs: int | None = None, *, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Labels as they were spelled, or numbers; for sets of labels 1 where a label is in the set, n × labels.

        A detector says 1 for what is like the training examples and −1 for what is not, and a clustering the place of each cluster, from
        zero, as their estimators do.

        With ``return_std`` also the standard deviation of each number, noise included, where the model has a posterior.
        A model that puts examples in an order gives the scores of that order, see :meth:`rank`; one of several parts has
        :meth:`predict_parts` instead.
        """
        if self.parts_:
            raise ValueError(f"this model has several parts ({', '.join(self.parts_)}); use predict_parts")
        if return_std:
            if not self._model.has_posterior:
                raise ValueError(
                    f"{self.machine} does not know how uncertain its predictions are; leave return_std out"
                )
            mean, deviation = self._model.deviations(self._views(X), threads_of(n_jobs))
            return (mean.ravel(), deviation.ravel()) if mean.shape[1] == 1 else (mean, deviation)
        if self.readout == "novelty":
            return np.where(self.decision_function(X, n_jobs) >= 0, 1, -1).astype(np.intp)
        if self.readout == "clusters":
            return self._model.codes(self._views(X), threads_of(n_jobs)).astype(np.intp)
        if self.classes_ is None:
            return self.decision_function(X, n_jobs)
        if self.readout == "label_sets":
            return self._model.label_sets(self._views(X), threads_of(n_jobs)).astype(np.int64)
        return self.classes_[self._model.codes(self._views(X), threads_of(n_jobs))]

    def score_samples(self, X: Data, n_jobs: int | None = None) -> Vector:
        """The decision function of a detector without its offset."""
        if self.readout != "novelty":
            raise ValueError(f"{self.machine} is no detector of novelties; use decision_function")
        return self.decision_function(X, n_jobs) - np.asarray(self._model.offsets)

    def predict_label_sets(self, X: Data, n_jobs: int | None = None) -> list[list[str]]:
        """The labels in the set of each example, as they were spelled: none, one or several."""
        if self.classes_ is None or self.readout != "label_sets":
            raise ValueError(f"{self.machine} predicts no sets of labels here; use predict")
        inside = self._model.label_sets(self._views(X), threads_of(n_jobs))
        return [self.classes_[row].tolist() for row in inside]

    def rank(self, X: Data, n_jobs: int | None = None) -> Array:
        """The rank of each example among these, 1 for the highest score; equal scores share the best of their ranks."""
        if self.readout != "order":
            raise ValueError(f"{self.machine} puts examples in no order here; use predict")
        return self._model.ranks(self._views(X), threads_of(n_jobs))

    def predict_parts(self, X: Data, n_jobs: int | None = None) -> dict[str, Matrix]:
        """The coordinates of each part by its name, n × coordinates, for a model that has a part for each view.

        Examples need not have all views: parts whose view they lack are left out.
        """
        if not self.parts_:
            raise ValueError(f"{self.machine} has no parts here; use predict")
        return self._model.parts(self._views(X), threads_of(n_jobs))

    def predict_proba(self, X: Data, n_jobs: int | None = None) -> Matrix:
        """The probability of each class, where the model has learned them."""
        return self._model.probabilities(self._views(X), threads_of(n_jobs))

    def predict_set(
        self, X: Data, coverage: float = 0.9, n_jobs: int | None = None, unknown: bool = False
    ) -> Array:
        """Whether each class is in the set of each example, where the model has learned sets; with `unknown` a last column
        for any class that the model does not know."""
        sets = self._model.sets(self._views(X), float(coverage), threads_of(n_jobs))
        return sets if unknown else np.ascontiguousarray(sets[:, :-1])

    def predict_interval(self, X: Data, coverage: float = 0.9, n_jobs: int | None = None) -> Array:
        """Lower and upper ends, n × 2, or n × outputs × 2, where the model has learned intervals."""
        ends = np.stack(self._model.intervals(self._views(X), float(coverage), threads_of(n_jobs)), axis=-1)
        return ends[:, 0, :] if ends.shape[1] == 1 else ends

    def p_values(self, X: Data, n_jobs: int | None = None) -> Matrix:
        """The p-value of each class, or of each example of a detector."""
        p = self._model.p_values(self._views(X), threads_of(n_jobs))
        return p if self.classes_ is not None else p.ravel()

    def certify(
        self,
        X: Data,
        y: Data = None,
        *,
        held_out: tuple[Data, Data] | None = None,
        delta: float = 0.05,
        candidates: int | None = None,
        held_out_candidates: int = 1,
        thorough: bool = False,
        evidence: int = 0,
        n_jobs: int | None = None,
    ) -> Certificates:
        """What learning theory guarantees about a model that was fitted on these examples, see :meth:`mercer.SVC.certify`.

        Columns are prepared as the model's file was, and what that has learned from the examples is paid for. ``mercer certify`` also knows
        weights, and rows that were left out.
        """
        options = {"delta": delta, "candidates": candidates, "held_out_candidates": held_out_candidates, "thorough": thorough,
                   "evidence": evidence, "threads": threads_of(n_jobs)}  # fmt: skip
        return certificates_of(self._model, self._examples, X, y, held_out, options)

    def _examples(self, X, y):
        """Examples and their target as the fit saw them: labels by their spelling."""
        if self._is_of_file:
            return prepared(self._model, self.columns_, X, y), None, None
        views = self._views(X)
        if y is None:
            return views, None, None
        y = np.asarray(y)
        if self._labels is None:
            return views, np.ascontiguousarray(y, dtype=np.float64).reshape(len(y), -1), None
        if y.dtype.kind in "biuf":
            try:
                # 1 and 1.0 are one label
                codes, labels = coded(y.astype(np.float64), self._labels.astype(np.float64))
                return views, codes, [*self._labels.tolist(), *labels[len(self._labels) :]]
            except ValueError:
                pass
        known = set(self._labels.tolist())
        # spellings of one number stand in quotes where they are several classes
        spelled = [label if label in known or f"'{label}'" not in known else f"'{label}'" for label in map(str, y.tolist())]
        return (views, *coded(np.asarray(spelled), self._labels))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file of mercer."""
        self._model.save(path)

    def to_onnx(self) -> bytes:
        """The bytes of an ONNX file; `values` are those of :meth:`predict`, `scores` the raw ones: of two classes positive
        for the first, where :meth:`decision_function` is positive for the second.

        Scaling that the `mercer` program has learned is part of the graph. What the file cannot say is a `UserWarning`.
        """
        return onnx_of(self._model)


def _unpickled(*held: Any) -> LoadedModel:
    """A model from a pickle."""
    return LoadedModel(unpacked(held))


def load(path: str | os.PathLike[str]) -> LoadedModel:
    """Reads a model file of mercer or of LIBSVM.

    A model of the `mercer` program prepares examples as it prepares files, see :class:`LoadedModel`.
    """
    return LoadedModel(_native.Model.load(path))
