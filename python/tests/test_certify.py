"""Certificates from Python."""

import json
import math

import mercer
import numpy as np
import pytest
from mercer import Kfd, MercerSearchCV
from mercer._labels import coded, joined, spell
from mercer.svm import SVC, SVR, LinearSVC, OneClassSVM
from sklearn.datasets import load_iris, make_moons


@pytest.fixture(scope="module")
def moons():
    return make_moons(600, noise=0.2, random_state=0)


def test_a_sparse_model_has_a_certificate_and_held_out_examples_a_better_one(moons):
    X, y = moons
    model = SVC(C=10, gamma=2.0).fit(X[:400], y[:400])
    alone = model.certify(X[:400], y[:400])
    assert alone.best is not None and alone.best.bound == "scenario" and alone.best.value < 0.4
    both = model.certify(X[:400], y[:400], held_out=(X[400:], y[400:]))
    errors = int((model.predict(X[400:]) != y[400:]).sum())
    told = both["held_out"].inputs
    assert (told["held_out_examples"], told["held_out_errors"]) == (200.0, float(errors))
    # Clopper and Pearson's upper end, by scipy
    beta = pytest.importorskip("scipy.stats").beta
    assert both["held_out"].value == pytest.approx(beta.ppf(0.95, errors + 1, 200 - errors), abs=1e-9)
    assert told["lower_end_at_delta"] == pytest.approx(
        beta.ppf(0.05, errors, 200 - errors + 1) if errors else 0.0, abs=1e-9
    )
    assert "With probability 95 %" in both.sentence and "scenario" in repr(both)
    json.dumps(both.to_dicts())


def test_what_the_examples_chose_is_paid_for(moons):
    X, y = moons
    model = SVC(C=10, gamma=2.0).fit(X, y)
    assert model.certify(X, y)["scenario"].price == 0
    assert model.certify(X, y, candidates=7)["scenario"].price == pytest.approx(math.log(7))
    scaled = SVC(C=10, gamma="scale").fit(X, y)
    assert scaled.certify(X, y)["scenario"].price == pytest.approx(64 * math.log(2))


@pytest.mark.parametrize("kernel", [{"coef0": -0.5}, {"degree": 0}, {"degree": 65}])
def test_a_width_that_is_computed_here_is_paid_for(moons, kernel):
    X, y = moons
    taken = {gamma: SVC(kernel="poly", gamma=gamma, **kernel)._kernel(X)[1] for gamma in ("scale", "auto", 0.5)}
    assert taken == {"scale": 1, "auto": 0, 0.5: 0}
    if "degree" not in kernel:
        model = SVC(kernel="poly", gamma="scale", conformal="cross", **kernel).fit(X, y)
        assert model.certify(X, y)["compression_binomial"].price == pytest.approx(64 * math.log(2))
        assert model.coverage_guarantee()[0]["least"] is None


def test_wrong_examples_and_unknown_classes_are_refused(moons):
    X, y = moons
    model = SVC(C=10, gamma=2.0).fit(X[:300], y[:300])
    with pytest.raises(ValueError, match="hash"):
        model.certify(X[300:], y[300:])
    with pytest.raises(ValueError, match="hash"):
        model.certify(X[:300], y[:300] + 5)
    with pytest.raises(ValueError, match="delta"):
        model.certify(X[:300], y[:300], delta=0)
    with pytest.raises(KeyError):
        model.certify(X[:300], y[:300])["nonsense"]


def test_labels_are_placed_whatever_their_type():
    cases = [
        (np.array([1.0, -1.0, 1.0]), np.array([-1, 1])),
        (np.array([True, False]), np.array([False, True])),
        (np.array(["b", "a", "b"]), np.array(["a", "b"])),
        (np.array(["b", "a", "b"]), np.array(["b", "a"])),
        (np.array(["b", "a"], dtype=object), np.array(["a", "b"], dtype=object)),
        (np.array([3, 1, 2]), np.array([1, 2, 3])),
    ]
    for y, classes in cases:
        codes, labels = coded(y, classes)
        assert codes.tolist() == [float(classes.tolist().index(label)) for label in y.tolist()]
        assert labels == [str(c) for c in classes.tolist()]
    for y, classes, strange in [
        (np.array([1.0, 2.0]), np.array([0.0, 1.0]), ["2.0"]),
        (np.array([0.5, 1, 0.5]), np.array([0, 1]), ["0.5"]),
        (np.array([np.nan, np.nan]), np.array([0.0, 1.0]), ["nan"]),
        (np.array(["c"]), np.array(["a", "b"]), ["c"]),
        (np.array([1]), np.array(["1", "2"]), ["1"]),
        (np.array(["z", "a", "y"], dtype=object), np.array(["a"], dtype=object), ["z", "y"]),
    ]:
        codes, labels = coded(y, classes)
        assert labels == [*(str(c) for c in classes.tolist()), *strange]
        assert (codes >= len(classes)).sum() == sum(str(label) in strange for label in y.tolist())


def test_held_out_classes_that_the_model_does_not_know_are_wrong(moons, tmp_path):
    X, y = moons
    model = SVC(C=10, gamma=2.0).fit(X[:400], y[:400])
    strange = y[400:].copy()
    strange[:5] = 7
    plain = model.certify(X[:400], y[:400], held_out=(X[405:], y[405:]))["held_out"].inputs["held_out_errors"]
    model.save(tmp_path / "a.mercer")
    for one in (model, mercer.load(tmp_path / "a.mercer")):
        found = one.certify(X[:400], y[:400], held_out=(X[400:], strange))
        assert found["held_out"].inputs["held_out_errors"] == plain + 5
    usual = OneClassSVM(gamma=1.0).fit(X, y)
    assert usual.certify(X, y)["scenario"].value == usual.certify(X)["scenario"].value
    # parts that are too small for the machine are passed over
    rare = (X[:, 0] > 1.5).astype(int)
    assert mercer.NuSVC(nu=0.05).fit_certified(X, rare).certified_.bound <= 1.0


@pytest.mark.parametrize("strange", [7, 0, "zz"])
def test_a_held_out_class_that_is_unknown_is_no_class_that_has_its_code(moons, tmp_path, strange):
    X, y = moons
    # codes are 0 and 1, and 2 would be the first that is free
    model = SVC(C=10, gamma=2.0).fit(X[:300], y[:300] + 1)
    model.save(tmp_path / "a.mercer")
    for one in (model, mercer.load(tmp_path / "a.mercer")):
        assert one.certify(X[:300], y[:300] + 1, held_out=(X[300:], np.full(300, strange))).held_out_error == 1.0
        assert one.certify(X[:300], y[:300] + 1, held_out=(X[300:], y[300:] + 1)).held_out_error < 0.1


def of_three(seed, labels):
    """Examples of three classes, two of which nobody can tell from each other."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 2))
    return X, np.asarray(labels)[np.where(X[:, 0] > 0, 2, rng.integers(0, 2, 300))]


@pytest.mark.parametrize("labels", [["1", "01", "2"], ["1e3", "x", "1000"], [2**62, 2**62 + 1, 5]])
def test_spellings_of_one_number_are_several_classes(labels, tmp_path):
    (X, y), (new, truth) = of_three(0, labels), of_three(1, labels)
    for model in (SVC(), LinearSVC(), Kfd()):
        model.fit(X, y)
        model.save(tmp_path / "a.mercer")
        for one in (model, mercer.load(tmp_path / "a.mercer")):
            told = one.certify(X, y, held_out=(new, truth))
            assert told.training_error == pytest.approx(1 - model.score(X, y))
            assert told.held_out_error == pytest.approx(1 - model.score(new, truth)) and told.held_out_error > 0.15
    places = {label: place for place, label in enumerate(model.classes_.tolist())}
    sets = SVC(conformal="split", random_state=0).fit(X, y).predict_set(new, coverage=0.8)
    # with two classes for one, sets hold both of them by and by; 99.9 % of draws are above
    assert sets[np.arange(300), [places[label] for label in truth.tolist()]].mean() > 0.68
    again = SVC().fit(X, y).calibrate(new, truth).coverage_guarantee()
    assert again[0]["held_out"] == 300
    search = MercerSearchCV(SVC(gamma=1.0), {"C": [1, 10]}, by="certificate").fit(X, y)
    assert search.best_certificate_.value > 1 - search.score(new, truth)


def test_labels_are_spelled_without_a_doubt():
    assert spell(np.array(["1", "a", "2"])) == ["1", "a", "2"]
    assert spell(np.array(["01", "1", "a", "2"])) == ["'01'", "'1'", "a", "2"]
    assert spell(np.array(["'1'", "01", "1"])) == ["'1'", "'01'", "''1''"]
    assert spell(np.array(["nan", "NaN", "inf", "Infinity"])) == ["nan", "NaN", "'inf'", "'Infinity'"]
    # an unknown label that is a class in another spelling is unknown; 1.0 and 1 are one label
    codes, labels = coded(np.array(["1", "01"]), np.array(["1", "2"]))
    assert codes.tolist() == [0, 2] and labels == ["1", "2", "'01'"]
    assert coded(np.array([1.0, 3.0]), np.array([1, 2])) [1] == ["1", "2", "3.0"]
    codes, labels = joined(np.array([0.0, 2.0, 3.0]), ["a", "b", "d", "c"], ["a", "b", "c"])
    assert codes.tolist() == [0, 3, 2] and labels == ["a", "b", "c", "d"]


def test_targets_in_a_column_are_certified(moons):
    X, y = moons
    model = SVC(C=10, gamma=2.0).fit(X[:300], y[:300])
    whole = model.certify(X[:300], y[:300])
    with pytest.warns(Warning, match="column-vector"):
        assert model.certify(X[:300], y[:300, None]).best.value == whole.best.value


def test_words_as_classes_numbers_and_novelties(moons):
    X, y = moons
    words = np.where(y == 1, "up", "down")
    assert SVC(C=10, gamma=2.0).fit(X, words).certify(X, words)["scenario"].applicable
    target = np.sin(X[:, 0]) + 0.05 * np.random.default_rng(0).normal(size=len(X))
    tube = SVR(C=1, gamma=1.0, epsilon=0.2).fit(X, target).certify(X, target)
    assert tube["scenario"].quantity == "tube misses" and tube["scenario"].applicable
    usual = OneClassSVM(nu=0.1, gamma=1.0).fit(X).certify(X)
    assert usual["scenario"].quantity == "novelty rate" and usual["scenario"].value < 0.5
    fisher = mercer.PacBayes(kernel=mercer.kernel("rbf(gamma=1)")).fit(X, y).certify(X, y)
    assert fisher["pac_bayes_kl"].applicable and fisher["pac_bayes_kl"].value < 0.7


def test_what_is_certified_is_what_predict_says():
    from mercer.svm import LinearSVC

    # half of the rows are all zeros, where a model without an intercept has the score 0
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[::2] = 0.0
    for zeros in (0, 1):
        y = np.where(X[:, 0] > 0, 1, 0)
        y[::2] = zeros
        model = LinearSVC(C=1.0, fit_intercept=False).fit(X, y)
        wrong = float(np.mean(model.predict(X) != y))
        assert model.certify(X, y).training_error == pytest.approx(wrong)
    three = np.arange(200) % 3
    with pytest.raises(ValueError, match="break_ties=False"):
        SVC(gamma=1.0, break_ties=True).fit(X, three).certify(X, three)


def test_prices_are_those_of_the_fit(moons):
    X, y = moons
    model = SVC(C=10, gamma="scale", class_weight="balanced").fit(X, y)
    paid = model.certify(X, y)["scenario"].price
    assert paid == pytest.approx(64 * math.log(2) + math.log(601))
    model.set_params(gamma=1.0, class_weight=None)
    assert model.certify(X, y)["scenario"].price == paid
    assert model.fit(X, y).certify(X, y)["scenario"].price == 0
    # nothing that was recorded can be talked away
    found = mercer.MercerSearchCV(SVC(gamma=1.0), {"C": [0.1, 1.0, 10.0]}, by="certificate").fit(X, y)
    best = found.best_estimator_
    assert best.certify(X, y, candidates=1)["scenario"].price == best.certify(X, y)["scenario"].price > 0


def test_a_model_that_was_saved_and_loaded_has_the_same_certificates(moons, tmp_path):
    X, y = moons
    for target in (y, y.astype(float), np.where(y == 1, "up", "down")):
        model = SVC(C=10, gamma="scale", class_weight="balanced").fit(X[:400], target[:400])
        model.save(tmp_path / "a.mercer")
        loaded = mercer.load(tmp_path / "a.mercer")
        ours = model.certify(X[:400], target[:400], held_out=(X[400:], target[400:]))
        theirs = loaded.certify(X[:400], target[:400], held_out=(X[400:], target[400:]))
        # rounding of stored rows apart
        for a, b in zip(ours, theirs):
            assert (a.bound, a.applicable, a.price) == (b.bound, b.applicable, b.price)
            assert (a.value is None) == (b.value is None)
            assert a.value is None or a.value == pytest.approx(b.value, rel=1e-3)
        assert ours["scenario"].price == pytest.approx(64 * math.log(2) + math.log(401))
    tube = SVR(C=1, gamma=1.0, epsilon=0.2).fit(X, X[:, 0])
    tube.save(tmp_path / "b.mercer")
    assert mercer.load(tmp_path / "b.mercer").certify(X, X[:, 0])["scenario"].value == tube.certify(X, X[:, 0])["scenario"].value


def test_unlabelled_examples_give_a_prior():
    X, y = make_moons(200, noise=0.1, random_state=0)
    others, _ = make_moons(150, noise=0.1, random_state=1)
    model = SVC(C=1.0, gamma=2.0).fit(X, y)
    found = model.certify(X, y, unlabelled=others)["pac_bayes_unlabelled"]
    assert found.applicable and 0 < found.value <= 1
    assert "unlabelled=" in model.certify(X, y)["pac_bayes_unlabelled"].reason
    with pytest.raises(ValueError, match="those of training"):
        model.certify(X, y, unlabelled=X)


def test_nothing_is_proven_where_a_class_weighs_nothing():
    rows, y = load_iris(return_X_y=True)
    weights = np.where(y == 1, 0.0, 1.0)
    model = SVC(gamma=1.0).fit(rows, y, sample_weight=weights)
    assert model.classes_.tolist() == [0, 2]
    with pytest.raises(ValueError, match="no example of class 1 has a weight above zero.*fit without its examples"):
        model.certify(rows, y)
    with pytest.raises(ValueError, match="class 1"):
        SVC(gamma=1.0).fit_certified(rows, y, sample_weight=weights)
    # examples whose labels are not what they were learned as have no part in a proven coverage
    with pytest.raises(ValueError, match="class 1"):
        SVC(gamma=1.0, conformal="cross").fit(rows, y, sample_weight=weights)
    kept = y != 1
    assert SVC(gamma=1.0).fit(rows[kept], y[kept]).certify(rows[kept], y[kept]).best.value < 1
    assert model.fit(rows, y).certify(rows, y).best is not None
