"""Plans, searches by certificate, certified fits and cross-validation beside certificates, against the program and scikit-learn."""

import json
import math
import os
import pickle
import shutil
import subprocess
from pathlib import Path

import mercer
import numpy as np
import pytest
from mercer import SVC, SVR, KernelPCA, KernelRidge, Kfd, MercerSearchCV, OneClassSVM
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as Theirs

X, Y = make_moons(300, noise=0.2, random_state=1)
RBF = mercer.kernel("rbf(gamma=1)")


@pytest.fixture(scope="module")
def call(tmp_path_factory):
    """The `mercer` program in a folder with the examples, where it was built."""
    built = Path(__file__).parents[2] / "target" / "release" / "mercer"
    found = os.environ.get("MERCER") or (str(built) if built.exists() else shutil.which("mercer"))
    if not found:
        pytest.skip("the mercer program was not built")
    folder = tmp_path_factory.mktemp("certified")
    rows = [f"{float(a)!r},{float(b)!r},{c}" for (a, b), c in zip(X, Y)]
    (folder / "train.csv").write_text("a,b,kind\n" + "\n".join(rows) + "\n")

    def run(words):
        done = subprocess.run([found, *words.split(), "--json"], cwd=folder, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    return run


def test_a_plan_is_that_of_the_program(call):
    words = "plan --certificate 0.08 --delta 0.01 --support 40 --held-out-error 0.05 --margin 0.2 --dimension 9 --lambda 0.01"
    told = call(f"{words} --candidates 3")
    found = mercer.plan(certificate=0.08, delta=0.01, support=40, held_out_error=0.05, margin=0.2, dimension=9, lam=0.01, candidates=3)
    assert [p.bound for p in found] == [p["bound"] for p in told]
    for ours, theirs in zip(found, told):
        assert ours.examples == theirs["examples"]
        assert ours.curve == [(c["examples"], c["value"]) for c in theirs["curve"]]
    call("fit train.csv --machine svc --scale none --kernel rbf(gamma=1) -o m")
    told = {p["bound"]: p["examples"] for p in call("plan m train.csv --certificate 0.2")}
    model = SVC(kernel=RBF).fit(X, Y)
    assert {p.bound: p.examples for p in mercer.plan(model, X, Y, certificate=0.2)} == told


def test_a_plan_is_the_least_number_of_examples():
    binom = pytest.importorskip("scipy.stats").binom
    found = mercer.plan(certificate=0.1, held_out_error=0.0, bounds=["held_out"])
    # without errors, (1 − p)^m ≤ δ
    assert found["held_out"].examples == math.ceil(math.log(0.05) / math.log(0.9))
    m = found["held_out"].examples
    assert binom.cdf(0, m, 0.1) <= 0.05 < binom.cdf(0, m - 1, 0.1)
    # a rate stays what it is, so the bound falls with every example
    beta = pytest.importorskip("scipy.stats").beta
    found = mercer.plan(certificate=0.05, held_out_error=0.03, bounds=["held_out"])
    upper = beta.ppf(0.95, 0.03 * np.arange(1, 2000) + 1, 0.97 * np.arange(1, 2000))
    assert found[0].examples == 1 + int(np.argmax(upper < 0.05)) and (upper[found[0].examples :] < 0.05).all()
    found = mercer.plan(certificate=0.1, held_out_error=0.0, bounds=["held_out"])
    assert len(found) == 1 and found[0] == found["held_out"] and found[:1] == list(found)
    assert dict(found[0].curve)[100.0] == pytest.approx(1 - 0.05**0.01)
    json.dumps(found.to_dicts())
    shown = repr(mercer.plan(certificate=0.1, support=20))
    assert "Examples needed for a certificate of 0.1 at δ = 0.05" in shown and "1 000 000" in shown and "scenario" in shown
    assert "<td>scenario</td>" in mercer.plan(certificate=0.1, support=20)._repr_html_()


def test_a_plan_pays_for_what_the_examples_chose():
    examples = [mercer.plan(SVC(gamma=g).fit(X, Y), X, Y, bounds="scenario")[0].examples for g in ("scale", 1 / (2 * X.var()))]
    assert examples[0] > examples[1]


def test_what_cannot_be_planned_is_told():
    model = SVC(kernel=RBF).fit(X, Y)
    for options, word in [
        ({}, "nothing is known"),
        ({"support": 5, "certificate": 2}, "certificate = 2 must lie between 0 and 1"),
        ({"support": 5, "delta": 0}, "delta = 0 must lie between 0 and 1"),
        ({"support": -1}, "support -1 must be a number"),
        ({"margin": 7}, "margin 7 must lie between 0 and 1"),
        ({"support": 5, "bounds": ["nonsense"]}, "no bound called nonsense"),
        ({"X": X}, "need the estimator"),
        ({"estimator": model}, "needs the examples"),
        ({"estimator": model, "X": X, "y": Y, "support": 5}, "knows its own support"),
    ]:
        with pytest.raises(ValueError, match=word):
            mercer.plan(**options)
    with pytest.raises(KeyError, match="nonsense"):
        mercer.plan(support=5)["nonsense"]


def test_a_search_by_certificate_is_that_of_the_program(call):
    told = call("select train.csv --machine svc --scale none --by certificate --certificate-delta 0.1 --grid c=0.3|3|30,gamma=0.5|2 -o s")
    grid = {"gamma": [0.5, 2.0], "C": [0.3, 3.0, 30.0]}
    search = MercerSearchCV(SVC(), grid, by="certificate", certificate_delta=0.1).fit(X, Y)
    ours = {(p["C"], p["gamma"]): v for p, v in zip(search.cv_results_["params"], search.cv_results_["certificate"])}
    for candidate in told["table"]:
        place = (float(candidate["parameters"]["c"]), float(candidate["parameters"]["gamma"]))
        assert ours[place] == pytest.approx(candidate["certificate"], rel=1e-12)
    assert search.best_certificate_.value == pytest.approx(told["certificate"]["value"], rel=1e-12)
    assert search.best_certificate_.bound == told["certificate"]["bound"]


def test_a_share_prepares_the_others_as_in_the_program(call):
    told = call("fit train.csv --machine svc --scale none --kernel rbf(gamma=scale) --preparation-share 0.3 -o q")
    assert (told["n"], told["n_set_apart"]) == (210, 90)
    theirs = {c["bound"]: c["value"] for c in call("certify q train.csv")}
    model = SVC(gamma="scale").fit_prepared(X, Y, preparation_share=0.3)
    found = model.certify(X, Y)
    assert found["scenario"].value == pytest.approx(theirs["scenario"], rel=1e-12) and found["scenario"].price == 0.0
    # the support vectors are where they stand among all examples
    np.testing.assert_array_equal(X[model.support_], model.support_vectors_)
    assert SVC(gamma="scale").fit(X, Y).certify(X, Y)["scenario"].price > 44
    search = MercerSearchCV(SVC(gamma="scale"), {"C": [1, 10]}, by="certificate", preparation_share=0.3).fit(X, Y)
    told = call("select train.csv --machine svc --scale none --kernel rbf(gamma=scale) --preparation-share 0.3 --grid c=1|10 --by certificate -o r")
    assert search.best_certificate_.value == pytest.approx(told["certificate"]["value"], rel=1e-12)
    certified = SVC(gamma="scale").fit_certified(X, Y, preparation_share=0.3)
    told = call("fit train.csv --machine svc --scale none --kernel rbf(gamma=scale) --preparation-share 0.3 --certified -o s")["certified"]
    assert certified.certified_.bound == pytest.approx(told["bound"], rel=1e-12)
    with pytest.raises(ValueError, match="between 0 and 1"):
        SVC().fit_prepared(X, Y, preparation_share=1.5)
    with pytest.raises(ValueError, match="precomputed"):
        SVC(kernel="precomputed").fit_prepared(X @ X.T, Y)
    with pytest.raises(ValueError, match="for by='certificate'"):
        MercerSearchCV(SVC(), {"C": [1]}, preparation_share=0.3).fit(X, Y)


def test_a_prior_over_candidates_and_named_bounds_judge_as_in_the_program(call):
    select = "select train.csv --machine svc --scale none --kernel rbf(gamma=2) --grid c=1|10|100 --by certificate"
    for flag, prior in (("geometric(0.1)", "geometric(0.1)"), ("1,8,1", [1, 8, 1])):
        search = MercerSearchCV(SVC(gamma=2.0), {"C": [1, 10, 100]}, by="certificate", candidate_prior=prior).fit(X, Y)
        told = call(f"{select} --candidate-prior {flag} -o t")
        assert [row["certificate"] for row in told["table"]] == pytest.approx(list(search.cv_results_["certificate"]), rel=1e-12)
        assert search.best_certificate_.price == pytest.approx(told["certificate"]["price"], rel=1e-12)
    # 1, 8 and 1 of 10, each judged by four bounds; the estimator remembers what was paid
    place = search.best_index_
    assert search.best_certificate_.price == pytest.approx(math.log([10, 10 / 8, 10][place] * 4))
    again = pickle.loads(pickle.dumps(search.best_estimator_)).certify(X, Y)
    assert again[search.best_certificate_.bound].value == pytest.approx(search.best_certificate_.value, rel=1e-12)
    named = MercerSearchCV(SVC(gamma=2.0), {"C": [1, 10]}, by="certificate", bounds={"scenario": 3, "stability": 1}).fit(X, Y)
    told = call(f"{select.replace('1|10|100', '1|10')} --bounds scenario:3,stability -o u")
    assert named.best_certificate_.value == pytest.approx(told["certificate"]["value"], rel=1e-12)
    assert named.best_certificate_.price == pytest.approx(math.log(2 * 4 / 3))
    for options, word in (({"candidate_prior": "harmonic"}, "no prior"), ({"candidate_prior": [1, 2, 3]}, "3 weights for 1"),
                          ({"bounds": ["scenary"]}, "did you mean scenario"), ({"bounds": ["held_out"]}, "cannot choose")):  # fmt: skip
        with pytest.raises(ValueError, match=word):
            MercerSearchCV(SVC(), {"C": [1]}, by="certificate", **options).fit(X, Y)
    with pytest.raises(ValueError, match="for by='certificate'"):
        MercerSearchCV(SVC(), {"C": [1]}, bounds=["scenario"]).fit(X, Y)


def test_the_penalty_of_a_regression_is_chosen_by_stability():
    x = np.linspace(0, 1, 400).reshape(-1, 1)
    y = 0.1 * np.sin(6 * x.ravel())
    search = MercerSearchCV(KernelRidge(kernel="rbf", gamma=1.0), {"alpha": [10.0, 100.0, 1000.0]}, by="certificate",
                            bounds=["stability_squares"], target_range=(-0.1, 0.1)).fit(x, y)  # fmt: skip
    values = search.cv_results_["certificate"]
    assert search.best_certificate_.quantity == "expected loss" and search.best_certificate_.value == values.min()
    alone = KernelRidge(kernel="rbf", gamma=1.0, alpha=search.best_params_["alpha"]).fit(x, y)
    alone = alone.certify(x, y, target_range=(-0.1, 0.1), candidates=3)["stability_squares"]
    assert alone.value == pytest.approx(values.min(), rel=1e-9)


def test_the_number_of_candidates_is_kept_and_paid_for():
    search = MercerSearchCV(SVC(gamma=2.0), {"C": [1, 10, 100, 1000]}, by="certificate").fit(X, Y)
    best, value = search.best_estimator_, search.best_certificate_.value
    assert value == min(search.cv_results_["certificate"]) and search.cv_results_["rank_certificate"][search.best_index_] == 1
    # each of four candidates is judged by each of four bounds
    again = best.certify(X, Y)
    assert again.candidates == 16 and "which costs 2.8 nats" in repr(again)
    assert again[search.best_certificate_.bound].value == pytest.approx(value, rel=1e-12)
    assert again[search.best_certificate_.bound].price == pytest.approx(math.log(16))
    assert pickle.loads(pickle.dumps(best)).certify(X, Y).candidates == 16
    # the very fit that was judged, on all examples
    alone = clone(best).fit(X, Y)
    np.testing.assert_array_equal(alone.decision_function(X), best.decision_function(X))
    assert alone.certify(X, Y)["scenario"].value < again["scenario"].value
    assert search.score(X, Y) == best.score(X, Y) and (search.predict(X) == best.predict(X)).all()
    assert search.n_splits_ == 0 and search.best_params_ == {"C": best.C}
    assert {"param_C", "params", "certificate", "bound", "fit_time"} <= set(search.cv_results_)


def test_a_search_by_cross_validation_is_paid_for_as_well():
    grid = {"C": [1, 10, 100]}
    search = MercerSearchCV(SVC(gamma=2.0), grid, cv=3).fit(X, Y)
    assert search.best_estimator_.certify(X, Y)["scenario"].price == pytest.approx(math.log(3))
    # what is left to GridSearchCV, too
    search = MercerSearchCV(SVC(gamma=2.0), grid, cv=3, return_train_score=True).fit(X, Y)
    assert search.best_estimator_.certify(X, Y).candidates == 3
    piped = MercerSearchCV(make_pipeline(StandardScaler(), SVC(gamma=2.0)), {"svc__C": [1, 10]}, cv=3).fit(X, Y)
    assert piped.best_estimator_[-1].certify(piped.best_estimator_[:-1].transform(X), Y).candidates == 2


def test_searches_by_certificate_of_other_machines_and_data():
    iris, kinds = load_iris(return_X_y=True)
    search = MercerSearchCV(SVC(), [{"kernel": ["linear"]}, {"gamma": [0.1, 0.5]}], by="certificate").fit(iris, kinds)
    assert list(search.cv_results_["param_kernel"].mask) == [False, True, True]
    usual = MercerSearchCV(OneClassSVM(gamma=1.0), {"nu": [0.05, 0.2]}, by="certificate").fit(X)
    assert usual.best_certificate_.quantity == "novelty rate"
    calls = []
    watched = MercerSearchCV(SVC(gamma=2.0, tol=1e-9), {"C": [1e3]}, by="certificate", callback=lambda *told: calls.append(told), n_jobs=1)
    best = watched.fit(*make_moons(900, noise=0.4, random_state=0)).best_estimator_
    assert calls and best.callback is None and best.n_jobs is None


@pytest.mark.parametrize(("estimator", "options", "word"), [
    (SVC(), {"by": "luck"}, "'cross-validation' or 'certificate'"),
    (SVC(), {"by": "certificate", "cv": 3}, "cv belongs to cross-validation"),
    (SVC(), {"by": "certificate", "return_train_score": True}, "return_train_score belongs"),
    (SVC(), {"by": "certificate", "refit": False}, "refit belongs"),
    (SVC(), {"by": "certificate", "scoring": ["f1", "accuracy"]}, "several measures"),
    (SVC(), {"by": "certificate", "certificate_delta": 1}, "delta = 1 must lie between 0 and 1"),
    (Theirs(), {"by": "certificate"}, "for estimators of mercer alone"),
])  # fmt: skip
def test_searches_that_cannot_be_are_refused(estimator, options, word):
    with pytest.raises(ValueError, match=word):
        MercerSearchCV(estimator, {"C": [1, 10]}, **options).fit(X, Y)


def test_a_machine_without_bounds_is_refused_by_the_search():
    with pytest.raises(ValueError, match="no bound applies to KernelRidge"):
        MercerSearchCV(KernelRidge(), {"alpha": [1, 2]}, by="certificate").fit(X, X[:, 0])


def test_a_certified_fit_is_that_of_the_program(call):
    for flag, wanted in (("--certified", None), ("--certified 0.3", 0.3)):
        told = call(f"fit train.csv --machine kfd --scale none --kernel rbf(gamma=1) {flag} --certificate-delta 0.1 -o p")["certified"]
        model = Kfd(kernel=RBF).fit_certified(X, Y, wanted, certificate_delta=0.1)
        ours = model.certified_
        assert (ours.examples, ours.errors_outside, ours.delta) == (told["examples"], told["errors_outside"], 0.1)
        assert ours.bound == pytest.approx(told["bound"], rel=1e-12) and ours.bound < 0.4
        assert [d for d, _ in ours.tried] == [t["examples"] for t in told["tried"]]


def test_a_certified_fit_is_the_fit_of_its_part():
    words = np.where(Y == 1, "up", "down")
    model = SVC(C=10, kernel=RBF).fit_certified(X, words)
    found = model.certify(X, words, delta=0.05)
    assert found["compression_binomial"].value == pytest.approx(model.certified_.bound, rel=1e-12)
    assert found["compression_binomial"].inputs["compression_set"] == model.certified_.examples
    assert set(model.predict(X)) == {"up", "down"} and len(model.support_) <= model.certified_.examples
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    # the next fit is one on all examples again
    assert len(model.fit(X, words).support_) == len(SVC(C=10, kernel=RBF).fit(X, words).support_)
    assert model.certify(X, words)["scenario"].applicable and not hasattr(model, "certified_")


def test_certified_fits_of_other_machines():
    numbers = np.sin(X[:, 0]) + 0.05 * np.random.default_rng(0).normal(size=len(X))
    tube = SVR(C=1, gamma=1.0, epsilon=0.2).fit_certified(X, numbers)
    assert tube.certified_.bound < 0.5 and tube.certify(X, numbers)["compression_binomial"].quantity == "tube misses"
    assert OneClassSVM(nu=0.1, gamma=1.0).fit_certified(X).certified_.bound < 0.6
    scaled, fixed = (SVC(gamma=g).fit_certified(X, Y).certified_.bound for g in ("scale", 1 / (2 * X.var())))
    assert scaled > fixed
    for fails, word in [
        (lambda: KernelRidge(kernel="rbf").fit_certified(X, numbers), "cannot be certified"),
        (lambda: SVC(kernel="precomputed").fit_certified(X @ X.T, Y), "a kernel on the data"),
        (lambda: SVC(probability=True).fit_certified(X, Y), "without probabilities"),
        (lambda: SVC().fit_certified(X, Y, 1.5), "certified = 1.5 must lie between 0 and 1"),
        (lambda: SVC().fit_certified(X, Y, certificate_delta=0), "delta = 0 must lie between 0 and 1"),
    ]:
        with pytest.raises(ValueError, match=word):
            fails()


def test_cross_validation_stands_beside_the_certificates(call):
    model = SVC(C=1, kernel=RBF).fit(X, Y)
    judged = call("select train.csv --machine svc --scale none --kernel rbf(gamma=1) --grid c=1 --folds 4 -o s")["best"]
    found = model.certify(X, Y, folds=4)
    assert found.cross_validated.error == pytest.approx(judged["score"], abs=1e-12) and found.cross_validated.folds == 4
    assert found.cross_validated.spread == pytest.approx(judged["standard_error"], abs=1e-12)
    assert "in 4 folds: an estimate, not a guarantee" in repr(found) and "estimate" in found._repr_html_()
    assert model.certify(X, Y).cross_validated is None
    one = model.certify(X, Y, folds="loo").cross_validated
    errors = sum(int(clone(model).fit(np.delete(X, i, 0), np.delete(Y, i)).predict(X[i : i + 1])[0] != Y[i]) for i in range(len(Y)))
    assert one.folds == len(Y) and one.error == pytest.approx(errors / len(Y), abs=1.5 / len(Y))
    moved = X[:50] + 0.1
    held_out = model.certify(X, Y, held_out=(moved, Y[:50]))
    assert held_out.held_out_error == pytest.approx((model.predict(moved) != Y[:50]).mean())
    with pytest.raises(ValueError, match="all 50 held-out examples also stand among those of training"):
        model.certify(X, Y, held_out=(X[:50], Y[:50]))
    with pytest.raises(ValueError, match="must be a pair"):
        model.certify(X, Y, held_out=moved)


def test_folds_that_cannot_be_are_refused():
    model = SVC(kernel=RBF).fit(X, Y)
    for folds in (1, 0, "all", 1000):
        with pytest.raises(ValueError, match="folds"):
            model.certify(X, Y, folds=folds)
    with pytest.raises(ValueError, match="weights"):
        SVC(kernel=RBF, class_weight={0: 1, 1: 2}).fit(X, Y).certify(X, Y, folds=3)
    with pytest.raises(ValueError, match="no target"):
        OneClassSVM(nu=0.1).fit(X).certify(X, folds=3)


def test_classes_weighed_by_their_numbers_are_paid_for():
    some = np.concatenate([np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:60]])
    model = SVC(kernel=RBF, class_weight="balanced").fit(X[some], Y[some])
    assert model.certify(X[some], Y[some])["scenario"].price == pytest.approx(math.log(len(some) + 1))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("conformal", [None, "split"])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_coefficients_of_ridge_are_those_of_its_predictions(kernel, conformal, share):
    target = X[:, 0] + 0.3 * X[:, 1] ** 2
    model = KernelRidge(kernel=kernel, gamma=None, alpha=0.3, conformal=conformal)
    model = model.fit_prepared(X, target, preparation_share=share) if share else model.fit(X, target)
    K = mercer.kernel("linear" if kernel == "linear" else "rbf(gamma=0.5)")(X)
    np.testing.assert_allclose(K @ model.dual_coef_, model.predict(X), atol=1e-8)
    learned = len(X) * (1 - share) * (0.75 if conformal else 1.0)
    assert abs((model.dual_coef_ != 0).sum() - learned) <= 2


def test_examples_that_prepare_have_coordinates():
    model = KernelPCA(3, kernel="rbf", fit_inverse_transform=True).fit_prepared(X, preparation_share=0.3)
    apart = (model.eigenvectors_ == 0).all(axis=1)
    assert apart.sum() == model._model.set_apart
    np.testing.assert_allclose(model.X_transformed_fit_, model.transform(X), atol=1e-8)
    plain = KernelPCA(3, kernel="rbf", fit_inverse_transform=True).fit(X)
    error, least = (np.abs(one.inverse_transform(one.transform(X)) - X).mean() for one in (model, plain))
    assert error < 3 * least
