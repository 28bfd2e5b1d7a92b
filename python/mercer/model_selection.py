"""Grid search in scikit-learn's spelling, with everything shared that can be."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, RegressorMixin, clone, is_classifier, is_regressor
from sklearn.metrics import check_scoring, r2_score
from sklearn.metrics._scorer import _BaseScorer, _MultimetricScorer, _PassthroughScorer
from sklearn.model_selection import GridSearchCV, LeaveOneOut, ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, compute_class_weight, indexable
from sklearn.utils.validation import _check_method_params, _num_samples

from mercer import _native
from mercer._base import Machine, encode, spell
from mercer._certify import Certificate
from mercer._data import Data, cores, count_of, has_views, take, threads_of, views_of
from mercer._progress import Callback
from mercer.kernel_ridge import KernelRidge, Pairwise

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["MercerSearchCV"]

log = logging.getLogger("mercer")

# measures of which scikit-learn's checks would take longer than the measuring
QUICK = {
    "accuracy": lambda y, p: float(np.mean(y == p)),
    "r2": lambda y, p: r2_score(y, p),
    "neg_mean_squared_error": lambda y, p: -float(np.mean((y - p) ** 2)),
    "neg_root_mean_squared_error": lambda y, p: -float(np.sqrt(np.mean((y - p) ** 2))),
    "neg_mean_absolute_error": lambda y, p: -float(np.mean(np.abs(y - p))),
}


class _Uncovered(Exception):
    """Why a search is left to scikit-learn."""


class _Foreign(_Uncovered):
    """The estimator is none of mercer's: nothing worth a warning."""


class Remembered:
    """Stands for a model whose answers about the held-out examples are known already."""

    def __init__(self, codes, scores):
        self._codes, self._scores = codes, scores

    def scores(self, views=None, threads=0):
        return self._scores

    def codes(self, views=None, threads=0):
        return self._codes


@dataclass
class _Batch:
    """Examples, how they are split, and the estimators that are tried on them."""

    X: object
    y: np.ndarray
    weights: np.ndarray | None
    splits: list  # (number, places to learn from, places held out, the same in the data of the user)
    estimators: dict  # by the number of the candidate
    prepared: float = 0.0  # seconds


class MercerSearchCV(GridSearchCV):
    """:class:`sklearn.model_selection.GridSearchCV` for mercer's estimators, alone or as the last step of a pipeline.

    Parameters, attributes and `cv_results_` are those of GridSearchCV. Kernel values are computed once for each kernel and
    shared between all folds and all other parameters; fits that differ only in C start from one another; and leave-one-out
    (``cv="loo"``) of kernel ridge regression has a closed form, f₋ᵢ(xᵢ) = yᵢ − αᵢ / [(K + λ1)⁻¹]ᵢᵢ. Scores are those of
    GridSearchCV within the tolerance of the solver. X may also be a dictionary of views or a list of strings. What is not
    covered (other estimators, callable kernels, training scores, measures of probabilities) is done by GridSearchCV, and the
    logger `mercer` says so. The chosen estimator knows among how many candidates it was chosen, and its certificates pay for them.

    ``by="certificate"`` chooses by what is guaranteed instead: every candidate is fitted on all examples, none is held out, and
    the one with the least certificate is kept. `best_certificate_` holds with probability 1 − `certificate_delta`, all candidates
    paid for; `cv_results_` has `certificate` and `bound` for each. Errors of a candidate are raised.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from mercer import SVC, MercerSearchCV
    >>> X, y = load_wine(return_X_y=True)
    >>> search = MercerSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [0.001, 0.01, 0.1]}).fit(scale(X), y)
    >>> search.best_params_, round(float(search.best_score_), 3)
    ({'C': 10, 'gamma': 0.1}, 0.989)
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> sure = MercerSearchCV(SVC(gamma=2.0), {"C": [1, 10, 100]}, by="certificate").fit(X, y)
    >>> sure.best_params_, sure.best_certificate_.bound, bool(sure.best_certificate_.value < 0.2)
    ({'C': 100}, 'scenario', True)
    """

    best_estimator_: Any
    best_params_: dict[str, Any]
    best_score_: float
    best_index_: int
    cv_results_: dict[str, Any]
    n_splits_: int
    #: of a search by certificates
    best_certificate_: Certificate

    def __init__(self, estimator: Any, param_grid: dict[str, Any] | list[dict[str, Any]], *, scoring: Any = None,
                 n_jobs: int | None = None, refit: Any = True, cv: Any = None, verbose: int = 0,
                 pre_dispatch: int | str = "2*n_jobs", error_score: float | str = np.nan,
                 return_train_score: bool = False, callback: Callback | None = None,
                 by: str = "cross-validation", certificate_delta: float = 0.05) -> None:  # fmt: skip
        super().__init__(estimator, param_grid, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv, verbose=verbose,
                         pre_dispatch=pre_dispatch, error_score=error_score, return_train_score=return_train_score)  # fmt: skip
        self.callback = callback
        self.by = by
        self.certificate_delta = certificate_delta

    def fit(self, X: Data, y: Data = None, **params: Any) -> Self:
        """Tries all candidates on all folds and fits the best one on all examples; or takes the one with the least certificate."""
        if self.by not in ("cross-validation", "certificate"):
            raise ValueError(f"by={self.by!r} must be 'cross-validation' or 'certificate'")
        if self.by == "certificate":
            return self._fit_by_certificate(X, y, params)
        self._fit_by_cross_validation(X, y, params)
        last = getattr(self, "best_estimator_", None)
        last = last.steps[-1][1] if isinstance(last, Pipeline) else last
        if isinstance(last, Machine) and getattr(last, "_model", None) is not None:
            last._model = last._model.chosen_among(len(self.cv_results_["params"]), False)
        return self

    def _fit_by_certificate(self, X, y, params):
        """Fits every candidate on all examples and keeps the one with the least certificate; the first of equals."""
        foreign = {"cv": None, "return_train_score": False, "refit": True}
        for name, usual in foreign.items():
            if getattr(self, name) is not usual:
                raise ValueError(f"{name} belongs to cross-validation; leave it out with by='certificate'")
        if not isinstance(self.estimator, Machine):
            raise ValueError(f"by='certificate' is for estimators of mercer alone, not for {type(self.estimator).__name__}: what "
                             "learns from the same examples before them is not paid for")  # fmt: skip
        if isinstance(self.scoring, (list, tuple, set, dict)):
            raise ValueError("several measures belong to cross-validation; leave them out with by='certificate'")
        candidates = list(ParameterGrid(self.param_grid))
        if self.verbose > 0:
            print(f"Fitting {len(candidates)} candidates on all examples")
        seconds, certificates = np.zeros(len(candidates)), []
        kept: tuple[int, float, Any] | None = None
        for place, candidate in enumerate(candidates):
            estimator = clone(self.estimator).set_params(**clone(candidate, safe=False))
            lent = {name: getattr(self, name) for name in ("n_jobs", "callback") if getattr(estimator, name, 0) is None}
            began = time.time()
            estimator.set_params(**lent).fit(X, y, **params).set_params(**dict.fromkeys(lent))
            seconds[place] = time.time() - began
            certificates.append(estimator._judge(X, y, len(candidates), self.certificate_delta))
            if certificates[-1] is not None and (kept is None or certificates[-1].value < kept[1]):
                kept = place, certificates[-1].value, estimator
        if kept is None:
            raise ValueError(f"no bound applies to {type(self.estimator).__name__}: choose by cross-validation, or use fit_certified, "
                             "which works for every classifier")  # fmt: skip
        self.best_index_, _, self.best_estimator_ = kept
        self.best_estimator_._model = self.best_estimator_._model.chosen_among(len(candidates), True)
        self.best_params_, self.best_certificate_ = candidates[self.best_index_], certificates[self.best_index_]
        values = np.array([1.0 if c is None else c.value for c in certificates])
        results: dict[str, Any] = {"fit_time": seconds}
        for name in sorted({name for candidate in candidates for name in candidate}):
            column = np.ma.MaskedArray(np.empty(len(candidates), dtype=object), mask=True)
            for place, candidate in enumerate(candidates):
                if name in candidate:
                    column[place] = candidate[name]
            results[f"param_{name}"] = column
        results["params"] = candidates
        results["certificate"], results["bound"] = values, [None if c is None else c.bound for c in certificates]
        results["rank_certificate"] = np.array([1 + int((values < value).sum()) for value in values], dtype=np.int32)
        self.cv_results_, self.n_splits_, self.multimetric_ = results, 0, False
        self.scorer_ = check_scoring(self.estimator, self.scoring, allow_none=True)
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return self

    def _fit_by_cross_validation(self, X, y, params):
        try:
            out, candidates, routed, scorers, metric = self._try_all(X, y, params)
        except (_Uncovered, ValueError, MemoryError) as why:
            # an error is scikit-learn's to tell: it says which candidates failed, and goes on with the others
            if has_views(X):
                raise ValueError(f"{why}; GridSearchCV has no views") from None  # noqa: TRY004
            log.log(logging.INFO if isinstance(why, _Foreign) else logging.WARNING, "MercerSearchCV: %s; GridSearchCV is used", why)
            wanted: Any = self.cv
            self.cv = _splitter(wanted)
            try:
                return super().fit(X, y, **params)
            finally:
                self.cv = wanted
        results = self._format_results(candidates, self.n_splits_, out)
        self.multimetric_ = isinstance(scorers, _MultimetricScorer)
        if self.refit or not self.multimetric_:
            self.best_index_ = self._select_best_index(self.refit, metric, results)
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{metric}"][self.best_index_]
            self.best_params_ = results["params"][self.best_index_]
        if self.refit:
            self.best_estimator_ = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
            began = time.time()
            self.best_estimator_.fit(X, y, **routed.estimator.fit)
            self.refit_time_ = time.time() - began
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        self.scorer_ = scorers._scorers if self.multimetric_ else scorers
        self.cv_results_ = results
        return self

    # ------------------------------------------------------------------------------------------------------- what to try

    def _try_all(self, X, y, params):
        last = self.estimator.steps[-1][1] if isinstance(self.estimator, Pipeline) else self.estimator
        if not isinstance(last, Machine) or not (is_classifier(last) or is_regressor(last)):
            raise _Foreign(f"{type(last).__name__} is no classifier or regressor of mercer")
        if self.return_train_score:
            raise _Uncovered("return_train_score=True")
        scorers, metric = self._get_scorers()
        _readable(scorers)
        if has_views(X):
            n = count_of(X)
        else:
            X, y = indexable(X, y)
            n = _num_samples(X)
        places = np.zeros((n, 1))
        params = _check_method_params(places, params=params)
        routed = self._get_routed_params_for_fit(params)
        cv = check_cv(_splitter(self.cv), y, classifier=is_classifier(self.estimator))
        splits = [(s, *map(np.asarray, pair)) for s, pair in enumerate(cv.split(places, y, **routed.splitter.split))]
        self.n_splits_ = len(splits)
        candidates = list(ParameterGrid(self.param_grid))
        weights = self._weights_of(routed.estimator.fit)
        if self.verbose > 0:
            print(f"Fitting {len(splits)} folds for each of {len(candidates)} candidates, totalling {len(splits) * len(candidates)} fits")
        batches = self._batches(X, np.asarray(y), weights, candidates, splits)
        work = _Work(scorers, routed.scorer.score, _quick(self.scoring, last), self.callback)
        if not isinstance(self.estimator, Pipeline):
            for batch in batches:
                work.run(batch, threads_of(self.n_jobs))
        else:
            # one split each: they run side by side
            with ThreadPoolExecutor(threads_of(self.n_jobs) or cores()) as pool:
                for done in [pool.submit(work.run, batch, 1) for batch in batches]:
                    done.result()
        out = [work.out[c, s] for c in range(len(candidates)) for s in range(len(splits))]
        return out, candidates, routed, scorers, metric

    def _weights_of(self, fit_params):
        name = f"{self.estimator.steps[-1][0]}__sample_weight" if isinstance(self.estimator, Pipeline) else "sample_weight"
        others = [key for key, value in fit_params.items() if key != name and value is not None]
        if others:
            raise _Uncovered(f"the parameter {others[0]} of fit")
        weights = fit_params.get(name)
        return None if weights is None else np.asarray(weights, dtype=np.float64)

    def _batches(self, X, y, weights, candidates, splits):
        """All at once, or fold by fold where the steps before the last one learn from a fold."""
        if not isinstance(self.estimator, Pipeline):
            estimators = {c: clone(self.estimator).set_params(**clone(p, safe=False)) for c, p in enumerate(candidates)}
            yield _Batch(X, y, weights, [(*split, split[2]) for split in splits], estimators)
            return
        last, groups = self.estimator.steps[-1][0], defaultdict(list)
        for c, candidate in enumerate(candidates):
            if last in candidate:
                raise _Uncovered(f"the step {last} itself is searched over")
            early = {k: v for k, v in candidate.items() if not k.startswith(f"{last}__")}
            groups[repr(sorted(early.items()))].append((c, early, candidate))
        for members in groups.values():
            early = members[0][1]
            ends = [(c, clone(self.estimator).set_params(**clone(p, safe=False)).steps[-1][1]) for c, _, p in members]
            for s, train, test in splits:
                began = time.time()
                before = clone(self.estimator[:-1]).set_params(**clone(early, safe=False))
                known = before.fit_transform(_safe_indexing(X, train), y[train])
                rows = _stack(known, before.transform(_safe_indexing(X, test)))
                both, places = np.concatenate([train, test]), np.arange(len(train) + len(test))
                split = (s, places[: len(train)], places[len(train) :], test)
                heavy = None if weights is None else weights[both]
                yield _Batch(rows, y[both], heavy, [split], dict(ends), time.time() - began)


class _Work:
    """Runs batches and has every answer scored; `out` has what GridSearchCV's workers return, by candidate and split."""

    def __init__(self, scorers, score_params, quick, callback):
        self.scorers, self.score_params, self.callback = scorers, score_params, callback
        self.quick = None if score_params else quick
        self.out = {}

    def run(self, batch, threads):
        """One native call for each kernel."""
        first = next(iter(batch.estimators.values()))
        X = first._check(batch.X, reset=True)
        width = getattr(first, "n_features_in_", 1)
        classes, y, labels = None, np.asarray(batch.y), None
        if is_classifier(first):
            classes, codes = encode(y)
            target, labels = codes.astype(np.float64), spell(classes)
        else:
            target = np.ascontiguousarray(np.asarray(y, dtype=np.float64).reshape(len(y), -1))
        views = views_of(X)
        for (kernel, numbers, _), members in self._groups(batch, X).items():
            estimators = [batch.estimators[c] for c in members]
            splits = [batch.splits[k] for k in numbers]
            if isinstance(first, KernelRidge) and _leaves_one_out(splits, len(y)):
                began = time.time()
                levels = [float(e.alpha) for e in estimators]
                left_out = _native.leave_one_out(kernel, views, target, levels, threads)
                share = (time.time() - began) / (len(levels) * len(splits))
                answers = [[(None, p[test], share, 0.0, "converged") for _, _, test, _ in splits] for p in left_out]
            else:
                parts = [self._part(batch, split, estimators[0], classes) for split in splits]
                words = [[(n, v) for n, v in e._settings().items() if v is not None] for e in estimators]
                answers = _native.trials(first._machine, words, kernel, views, target, labels, parts, self.quick is None,
                                         threads, self.callback)  # fmt: skip
            for c, answer in zip(members, answers):
                for split, told in zip(splits, answer):
                    self.out[c, split[0]] = self._score(batch, X, width, c, split, classes, told)

    def _groups(self, batch, X):
        """Candidates with the same kernel on the same splits and with the same weights of classes."""
        cells = defaultdict(lambda: defaultdict(list))
        parts = {}
        for c, estimator in batch.estimators.items():
            _coverable(estimator, batch.weights)
            for k, (_, train, _, _) in enumerate(batch.splits):
                learned = X
                if _looks_at_examples(estimator):
                    if k not in parts:
                        parts[k] = take(X, train)
                    learned = parts[k]
                kernel = estimator._formula(learned)
                if learned is not X:
                    kernel = _native.kernel_resolved(kernel, views_of(learned))
                cells[kernel][c].append(k)
        groups = defaultdict(list)
        for kernel, numbers in cells.items():
            for c, places in numbers.items():
                weighing = repr(getattr(batch.estimators[c], "class_weight", None))
                groups[kernel, tuple(places), weighing].append(c)
        return groups

    def _part(self, batch, split, estimator, classes):
        """Places to learn from, places that are held out, and weights."""
        _, train, test, _ = split
        weights = None if batch.weights is None else batch.weights[train]
        if getattr(estimator, "class_weight", None) is not None:
            y = batch.y[train]
            known = np.unique(y)
            factors = compute_class_weight(estimator.class_weight, classes=known, y=y)
            weights = factors[np.searchsorted(known, y)] * (1.0 if weights is None else weights)
        return np.ascontiguousarray(train, dtype=np.int64), np.ascontiguousarray(test, dtype=np.int64), weights

    def _score(self, batch, X, width, c, split, classes, told):
        _, train, test, held_out = split
        codes, scores, fit_time, score_time, _ = told
        y, began = batch.y[test], time.time()
        if self.quick is not None:
            known = classes if classes is None else np.unique(batch.y[train])
            value = self.quick(y, scores.reshape(y.shape) if known is None else known[codes])
        else:
            estimator = copy(batch.estimators[c])
            estimator.n_features_in_ = width
            estimator._remember(Remembered(codes, scores), batch.y[train])
            rows = take(X, test)
            params = _check_method_params(batch.X, self.score_params, indices=held_out)
            value = self.scorers(estimator, rows, y, **params)
        return {"test_scores": value, "fit_time": fit_time + batch.prepared, "score_time": score_time + time.time() - began,
                "n_test_samples": len(test), "fit_error": None}  # fmt: skip


def _splitter(cv):
    return LeaveOneOut() if isinstance(cv, str) and cv == "loo" else cv


def _readable(scorers):
    """Refuses measures of more than predictions and decision values."""
    for scorer in scorers._scorers.values() if isinstance(scorers, _MultimetricScorer) else [scorers]:
        if isinstance(scorer, _PassthroughScorer):
            continue
        wanted = getattr(scorer, "_response_method", None) if isinstance(scorer, _BaseScorer) else None
        wanted = (wanted,) if isinstance(wanted, str) else wanted
        if not wanted or not {"predict", "decision_function"} & set(wanted) or wanted[0] == "predict_proba":
            raise _Uncovered(f"the measure {scorer} asks for more than predictions")


def _quick(scoring, estimator):
    """The measure, where it needs predictions alone and is known here."""
    if scoring is None:
        for mixin, name in ((ClassifierMixin, "accuracy"), (RegressorMixin, "r2")):
            if type(estimator).score is mixin.score:
                return None if getattr(estimator, "break_ties", False) else QUICK[name]
        return None
    return QUICK.get(scoring) if isinstance(scoring, str) and not getattr(estimator, "break_ties", False) else None


def _coverable(estimator, weights):
    """Refuses what the native half cannot try."""
    if estimator._is_called() or isinstance(estimator, Pairwise) and not estimator._known():
        raise _Uncovered("the kernel is a function")
    if getattr(estimator, "max_seconds", None) is not None:
        raise _Uncovered("max_seconds is set")
    own = estimator._own_kernel()
    if own is not None and _native.kernel_learns(own):
        raise _Uncovered("the kernel learns from the examples of a fold")
    plain = not isinstance(estimator, KernelRidge) or (weights is None and np.ndim(estimator.alpha) == 0 and estimator.alpha > 0)
    if not plain:
        raise _Uncovered("KernelRidge with weights, or an alpha that is not one number above zero")
    estimator._validate()


def _looks_at_examples(estimator):
    """Whether a number of the kernel is taken from the examples of a fold."""
    own = estimator._own_kernel()
    if own is not None:
        return _native.kernel_has_words(own)
    return getattr(estimator, "gamma", None) == "scale" and estimator.kernel in ("rbf", "poly", "sigmoid")


def _leaves_one_out(splits, n):
    held_out = {int(test[0]) for _, train, test, _ in splits if len(test) == 1 and len(train) == n - 1}
    return len(splits) == n and len(held_out) == n


def _stack(known, unknown):
    if sp.issparse(known):
        return sp.vstack([known, unknown]).tocsr()
    if hasattr(known, "iloc"):
        import pandas as pd

        return pd.concat([known, unknown])
    return np.concatenate([np.asarray(known), np.asarray(unknown)])
