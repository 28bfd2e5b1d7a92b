"""Grid search in scikit-learn's spelling, with everything shared that can be."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection import GridSearchCV, LeaveOneOut, ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.validation import _check_method_params, _num_samples

from mercer._base import Machine
from mercer._certify import Certificate
from mercer._data import Array, Data, Matrix, cores, count_of, has_views, threads_of
from mercer._explain import usual_grid
from mercer._progress import Callback
from mercer._trials import (
    Batch,
    Foreign,
    Heard,
    Recorded,
    Uncovered,
    Work,
    alike,
    as_written,
    coverable,
    enough_classes,
    line_of,
    mark,
    places_of,
    quick,
    readable,
    stack,
    target_of,
    weights_of,
)

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["MercerSearchCV"]

log = logging.getLogger("mercer")

# what a subclass may have changed, and the shared road does itself
STEPS = ("_run_search", "_format_results", "_select_best_index", "_get_scorers", "_get_routed_params_for_fit")


class _Told(GridSearchCV):
    """Keeps what its workers return."""

    def _format_results(self, candidate_params, n_splits, out, more_results=None):
        self.out_ = out
        return super()._format_results(candidate_params, n_splits, out, more_results)


class MercerSearchCV(GridSearchCV):
    """:class:`sklearn.model_selection.GridSearchCV` for mercer's estimators, alone or as the last step of a pipeline.

    Parameters, attributes and `cv_results_` are those of GridSearchCV; ``param_grid=None`` is the grid that machine and kernel declare,
    :func:`mercer.usual_grid`, for an estimator or the last step of a pipeline. Kernel values are computed once for each kernel and
    shared between all folds and all other parameters; fits that differ only in C start from one another; and leave-one-out
    (``cv="loo"``) of kernel ridge regression has a closed form, f₋ᵢ(xᵢ) = yᵢ − αᵢ / [(K + λ1)⁻¹]ᵢᵢ. Scores are those of
    GridSearchCV within the tolerance of the solver; where the optimum is not unique (no multiplier between its bounds, which
    leaves the constant free) or the kernel is indefinite, another start may end at another solution, whose scores differ. X may also be a dictionary of views or a list of strings. What is not
    covered (other estimators, subclasses, callable kernels, training scores, measures of probabilities, candidates that fail)
    is done by GridSearchCV, and the logger `mercer` says so. ``n_jobs=None`` is as many threads as one may use: one in a worker of
    joblib. The chosen estimator knows among how many candidates it was chosen, and its certificates pay for them.

    ``by="certificate"`` chooses by what is guaranteed instead: every candidate is fitted on all examples, none is held out, and
    the one with the least certificate is kept. `best_certificate_` holds with probability 1 − `certificate_delta`, all candidates
    paid for; `cv_results_` has `certificate` and `bound` for each. Errors of a candidate are raised. `preparation_share` of the
    examples, drawn at random, then gives ``gamma="scale"`` and the like, for which nothing is paid; candidates are fitted on the others.
    `candidate_prior` says how likely each candidate was thought to be the best before the data were seen: "uniform", "geometric" or
    "geometric(0.8)" in the order of `cv_results_["params"]`, or a weight for each; a candidate of probability p pays ln(1/p). `bounds`
    are the names of the bounds to judge by, or a dictionary with their parts of `certificate_delta` in any proportion; with
    `target_range`, ends between which every target lies, bounds of a mean loss choose the penalty of a regression.

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

    def __init__(self, estimator: Any, param_grid: dict[str, Any] | list[dict[str, Any]] | None = None, *, scoring: Any = None,
                 n_jobs: int | None = None, refit: Any = True, cv: Any = None, verbose: int = 0,
                 pre_dispatch: int | str = "2*n_jobs", error_score: float | str = np.nan,
                 return_train_score: bool = False, callback: Callback | None = None,
                 by: str = "cross-validation", certificate_delta: float = 0.05,
                 preparation_share: float = 0.0, candidate_prior: str | Sequence[float] = "uniform",
                 bounds: Sequence[str] | dict[str, float] | None = None,
                 target_range: tuple[float, float] | None = None) -> None:  # fmt: skip
        super().__init__(estimator, param_grid, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv, verbose=verbose,
                         pre_dispatch=pre_dispatch, error_score=error_score, return_train_score=return_train_score)  # fmt: skip
        self.callback = callback
        self.by = by
        self.certificate_delta = certificate_delta
        self.preparation_share = preparation_share
        self.candidate_prior = candidate_prior
        self.bounds = bounds
        self.target_range = target_range

    def fit(self, X: Data, y: Data = None, **params: Any) -> Self:
        """Tries all candidates on all folds and fits the best one on all examples; or takes the one with the least certificate."""
        if self.param_grid is None:
            self.param_grid = self._usual()
            try:
                return self.fit(X, y, **params)
            finally:
                self.param_grid = None
        if self.by not in ("cross-validation", "certificate"):
            raise ValueError(f"by={self.by!r} must be 'cross-validation' or 'certificate'")
        if self.by == "certificate":
            return self._fit_by_certificate(X, y, params)
        if self.bounds is not None or self.target_range is not None or self.candidate_prior != "uniform":
            raise ValueError("bounds, candidate_prior and target_range are for by='certificate'")
        if self.preparation_share:
            raise ValueError("preparation_share is for by='certificate': folds resolve gamma='scale' on the examples of each")
        self._fit_by_cross_validation(X, y, params)
        last = getattr(self, "best_estimator_", None)
        last = last.steps[-1][1] if isinstance(last, Pipeline) else last
        if isinstance(last, Machine) and getattr(last, "_model", None) is not None:
            last._model = last._model.chosen_among(len(self.cv_results_["params"]))
        return self

    if TYPE_CHECKING:
        # scikit-learn's methods have no types

        def predict(self, X: Data) -> Array:
            """What the chosen estimator predicts."""

        def decision_function(self, X: Data) -> Matrix:
            """Scores of the chosen estimator."""

        def predict_proba(self, X: Data) -> Matrix:
            """Probabilities of the chosen estimator."""

        def predict_log_proba(self, X: Data) -> Matrix:
            """The logarithms of its probabilities."""

        def score(self, X: Data, y: Data = None, **params: Any) -> float:
            """The score of the chosen estimator."""

    def _usual(self):
        """The grid where none is given."""
        if not isinstance(self.estimator, Pipeline):
            return usual_grid(self.estimator)
        name, last = self.estimator.steps[-1]
        return {f"{name}__{parameter}": values for parameter, values in usual_grid(last).items()}

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
        candidates, options = list(ParameterGrid(self.param_grid)), self._judging()
        if self.verbose > 0:
            print(f"Fitting {len(candidates)} candidates on all examples")
        seconds, certificates = np.zeros(len(candidates)), []
        kept: tuple[int, float, Any] | None = None
        for place, candidate in enumerate(candidates):
            estimator = clone(self.estimator).set_params(**clone(candidate, safe=False))
            lent = {name: getattr(self, name) for name in ("n_jobs", "callback") if getattr(estimator, name, 0) is None}
            began = time.time()
            estimator.set_params(**lent).fit_prepared(X, y, preparation_share=self.preparation_share, **params)
            estimator.set_params(**dict.fromkeys(lent))
            seconds[place] = time.time() - began
            certificates.append(estimator._judge(X, y, place, len(candidates), options))
            if certificates[-1] is not None and (kept is None or certificates[-1].value < kept[1]):
                kept = place, certificates[-1].value, estimator
        if kept is None:
            raise ValueError(f"no bound applies to {type(self.estimator).__name__}: choose by cross-validation, or use fit_certified, "
                             "which works for every classifier")  # fmt: skip
        self.best_index_, _, self.best_estimator_ = kept
        self.best_params_, self.best_certificate_ = candidates[self.best_index_], certificates[self.best_index_]
        model, bound = self.best_estimator_._model, self.best_certificate_.bound
        self.best_estimator_._model = model.certified_among(self.best_index_, len(candidates), bound, options)
        none = np.inf if self.best_certificate_.quantity == "expected loss" else 1.0
        values = np.array([none if c is None else c.value for c in certificates])
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

    def _judging(self):
        """What candidates are judged by, as the Rust half takes it."""
        bounds, prior = self.bounds, self.candidate_prior
        parts = bounds if isinstance(bounds, dict) else dict.fromkeys([bounds] if isinstance(bounds, str) else bounds or (), 1.0)
        if not isinstance(prior, str):
            prior = ",".join(repr(float(weight)) for weight in prior)
        return {"delta": self.certificate_delta, "bounds": [f"{name}:{float(part)!r}" for name, part in parts.items()],
                "candidate_prior": None if prior == "uniform" else prior,
                "target_range": None if self.target_range is None else list(self.target_range)}  # fmt: skip

    def _fit_by_cross_validation(self, X, y, params):
        wanted: Any = self.cv
        self.cv = LeaveOneOut() if isinstance(wanted, str) and wanted == "loo" else wanted
        heard = None if self.callback is None else Heard(self.callback)
        try:
            shared = self._share(X, y, params, heard)
            if shared is None:
                return super().fit(X, y, **params)
        finally:
            self.cv = wanted
        out, candidates, routed, scorers, metric = shared
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

    def _share(self, X, y, params, heard):
        """What came out of all fits; None where they are left to scikit-learn."""
        try:
            return self._try_all(X, y, params, heard)
        except Exception as why:
            if heard is not None and heard.raised is not None:
                raise
            if has_views(X):
                if isinstance(why, Uncovered):
                    raise ValueError(f"{why}; GridSearchCV has no views") from None
                raise
            # an error is scikit-learn's to tell: it says which candidates failed, and goes on with the others
            level = logging.INFO if isinstance(why, Foreign) else logging.WARNING
            log.log(level, "MercerSearchCV: %s; GridSearchCV is used", why)
            return None

    # ------------------------------------------------------------------------------------------------------- what to try

    def _try_all(self, X, y, params, heard):
        piped = isinstance(self.estimator, Pipeline)
        last = self.estimator.steps[-1][1] if piped else self.estimator
        self._known_to_all(last, piped, y)
        self._validate_params()
        scorers, metric = self._get_scorers()
        readable(scorers)
        views = has_views(X)
        if not views:
            X, y = indexable(X, y)
        n = count_of(X) if views else _num_samples(X)
        # no splitter and no parameter knows views
        examples = np.zeros((n, 1)) if views else X
        params = _check_method_params(examples, params=params)
        routed = self._get_routed_params_for_fit(params)
        # an iterator is read once, and whoever comes after this one is to have the same splits
        self.cv = cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        self.n_splits_ = cv.get_n_splits(examples, y, **routed.splitter.split)
        pairs = list(cv.split(examples, y, **routed.splitter.split))
        if len(pairs) != self.n_splits_:
            raise Uncovered(f"the splitter announced {self.n_splits_} splits and made {len(pairs)}")
        self.cv = Recorded(cv, pairs)
        splits = [(s, places_of(train, n), places_of(test, n)) for s, (train, test) in enumerate(pairs)]
        candidates = list(ParameterGrid(self.param_grid))
        if not candidates or not splits:
            raise Uncovered("there is nothing to try")
        weights = weights_of(self._given_weights(routed.estimator.fit), n)
        whole = [clone(self.estimator).set_params(**clone(p, safe=False)) for p in candidates]
        estimators = [one.steps[-1][1] for one in whole] if piped else whole
        target = target_of(last, y)
        self._check_candidates(candidates, whole, estimators, weights)
        enough_classes(estimators, target, splits)
        if self.verbose > 0:
            print(f"Fitting {len(splits)} folds for each of {len(candidates)} candidates, totalling {len(splits) * len(candidates)} fits")
        work = Work(examples, y, scorers, routed.scorer.score, quick(self.scoring, estimators), heard)
        threads = threads_of(next((e.n_jobs for e in estimators if getattr(e, "n_jobs", None) is not None), None)
                             if self.n_jobs is None else self.n_jobs)  # fmt: skip
        if not piped or not self._early_steps():
            batch = Batch(X, target, weights, [(*split, split[2]) for split in splits], dict(enumerate(estimators)))
            for answer in work.run(batch, threads):
                work.score(answer)
        else:
            self._side_by_side(work, self._batches(X, y, target, weights, candidates, estimators, splits), threads)
        self._finish(work, X, y, params, candidates)
        out = [work.out[c, s] for c in range(len(candidates)) for s in range(len(splits))]
        if self.verbose > 1:
            for place, told in enumerate(out):
                c, s = divmod(place, len(splits))
                if c not in work.unfinished:
                    print(line_of(self.verbose, (c, len(candidates)), (s, len(splits)), candidates[c], told))
        return out, candidates, routed, scorers, metric

    def _known_to_all(self, last, piped, y):
        """Refuses what is no search of this kind, and what others have changed in it."""
        if not isinstance(last, Machine) or not (is_classifier(last) or is_regressor(last)):
            raise Foreign(f"{type(last).__name__} is no classifier or regressor of mercer")
        if not as_written(last):
            raise Uncovered(f"{type(last).__name__} has methods that are not mercer's")
        if piped and type(self.estimator) is not Pipeline:
            raise Uncovered(f"{type(self.estimator).__name__} is a pipeline of another kind")
        if piped and (self.estimator.verbose or getattr(self.estimator, "transform_input", None)):
            raise Uncovered("verbose or transform_input of the pipeline is set")
        if any(getattr(type(self), name) is not getattr(GridSearchCV, name) for name in STEPS):
            raise Uncovered(f"{type(self).__name__} searches in a way of its own")
        if any(getattr(one, "_skl_callbacks", None) for one in (self, self.estimator, last)):
            raise Uncovered("callbacks of scikit-learn are set")
        if self.return_train_score:
            raise Uncovered("return_train_score=True")
        if y is None:
            raise Uncovered("there is no target")

    def _given_weights(self, fit_params):
        name = f"{self.estimator.steps[-1][0]}__sample_weight" if isinstance(self.estimator, Pipeline) else "sample_weight"
        others = [key for key, value in fit_params.items() if key != name and value is not None]
        if others:
            raise Uncovered(f"the parameter {others[0]} of fit")
        return fit_params.get(name)

    def _check_candidates(self, candidates, whole, estimators, weights):
        alike(estimators)
        for candidate, one, estimator in zip(candidates, whole, estimators):
            coverable(estimator, weights)
            if one is estimator:
                continue
            names = [name for name, _ in self.estimator.steps]
            for name in candidate:
                if name == names[-1]:
                    raise Uncovered(f"the step {name} itself is searched over")
                if "__" not in name and name not in names:
                    raise Uncovered(f"{name} of the pipeline is searched over")
            if get_tags(one).input_tags.pairwise or estimator._is_pairwise():
                raise Uncovered("a pipeline takes matrices")

    def _early_steps(self):
        """Whether a step before the last one does something."""
        return any(step not in (None, "passthrough") for _, step in self.estimator.steps[:-1]) or any(
            not name.startswith(f"{self.estimator.steps[-1][0]}__") for p in ParameterGrid(self.param_grid) for name in p
        )

    def _batches(self, X, y, target, weights, candidates, estimators, splits):
        """Fold by fold, since the steps before the last one learn from a fold."""
        last, groups = self.estimator.steps[-1][0], defaultdict(list)
        for c, candidate in enumerate(candidates):
            early = {k: v for k, v in candidate.items() if not k.startswith(f"{last}__")}
            groups[tuple((k, mark(early[k])) for k in sorted(early))].append((c, early))
        for members in groups.values():
            early = members[0][1]
            for s, train, test in splits:
                began = time.time()
                before = clone(self.estimator[:-1]).set_params(**clone(early, safe=False))
                known = before.fit_transform(_safe_indexing(X, train), _safe_indexing(y, train))
                rows = stack(known, before.transform(_safe_indexing(X, test)), train, test)
                both, places = np.concatenate([train, test]), np.arange(len(train) + len(test))
                split = (s, places[: len(train)], places[len(train) :], test)
                heavy = None if weights is None else weights[both]
                yield Batch(rows, target[both], heavy, [split], {c: estimators[c] for c, _ in members}, time.time() - began)

    def _side_by_side(self, work, batches, threads):
        """Batches of one split each; what is asked of a measure is asked on this thread."""
        config = get_config()

        def run(batch):
            with config_context(**config):
                return work.run(batch, 1)

        pool = ThreadPoolExecutor(threads or cores())
        try:
            for done in [pool.submit(run, batch) for batch in batches]:
                for answer in done.result():
                    work.score(answer)
        finally:
            pool.shutdown(cancel_futures=True)

    def _finish(self, work, X, y, params, candidates):
        """Has scikit-learn fit the candidates whose solver ended early: what they are then depends on where they began."""
        again = sorted(work.unfinished)
        if not again:
            return
        log.info("MercerSearchCV: %d candidates have not converged; they are fitted one by one", len(again))
        grid = [{name: [value] for name, value in candidates[c].items()} for c in again]
        told = _Told(self.estimator, grid, scoring=self.scoring, n_jobs=self.n_jobs, refit=False, cv=self.cv,
                     verbose=self.verbose, pre_dispatch=self.pre_dispatch, error_score=self.error_score)  # fmt: skip
        told.fit(X, y, **params)
        if any(one["fit_error"] is not None for one in told.out_):
            raise Uncovered("a fit failed")
        for place, one in enumerate(told.out_):
            c, s = divmod(place, self.n_splits_)
            work.out[again[c], s] = one
