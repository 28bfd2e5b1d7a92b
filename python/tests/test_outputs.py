"""Deviations, sets of labels, orders and several parts, from model files that were made by hand."""

from pathlib import Path

import mercer
import numpy as np
import pytest
from mercer import _native
from numpy.testing import assert_allclose, assert_array_equal

#: Written by crates/core/tests/outputs.rs, which has the same coefficients.
FOLDER = Path(__file__).resolve().parents[2] / "crates" / "core" / "tests" / "fixtures" / "outputs"
OLD = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, -1.0], [2.0, -1.0, 0.5]])
NEW = np.array([[0.5, 0.25, 1.0], [-1.0, 2.0, 0.0], [3.0, 1.0, -2.0], [0.0, 0.0, 0.5]])
VIEWS = {"a": NEW[:, :2], "b": NEW[:, 2:]}
ALPHA = np.array([1.0, -0.5, 2.0])
NOISE = 0.25


def loaded(name):
    return mercer.load(FOLDER / f"{name}.mercer")


def gaussian(X, Z):
    return np.exp(-0.5 * ((X[:, None] - Z[None]) ** 2).sum(-1))


def test_deviations_are_those_of_the_inverse():
    model = loaded("deviations")
    mean, deviation = model.predict(NEW, return_std=True)
    cross, own = gaussian(NEW, OLD), gaussian(OLD, OLD) + NOISE * np.eye(3)
    assert_allclose(mean, cross @ ALPHA + 0.75, rtol=1e-12)
    variance = 1 + NOISE - np.einsum("ij,ji->i", cross, np.linalg.solve(own, cross.T))
    assert_allclose(deviation, np.sqrt(variance), rtol=1e-12)
    assert mean.shape == deviation.shape == (4,)
    assert_array_equal(model.predict(NEW), mean)
    for other in ("order", "label_sets"):
        with pytest.raises(ValueError, match="does not know how uncertain"):
            loaded(other).predict(NEW, return_std=True)


def test_sets_of_labels_are_those_with_scores_above_zero():
    model = loaded("label_sets")
    weights = OLD.T @ np.array([[1.0, 0.5], [-2.0, 0.25], [0.0, -1.0]])
    scores = NEW @ weights + np.array([0.5, -0.5])
    assert_allclose(model.decision_function(NEW), scores, atol=1e-12)
    inside = model.predict(NEW)
    assert inside.dtype == np.int64
    assert_array_equal(inside, scores > 0)
    assert model.predict_label_sets(NEW) == [["news"], ["news", "sport"], [], ["news"]]
    assert_array_equal(model.classes_, ["news", "sport"])
    with pytest.raises(ValueError, match="no sets of labels"):
        loaded("order").predict_label_sets(NEW)


def test_ranks_count_from_the_highest_score():
    model = loaded("order")
    scores = NEW @ OLD.T @ ALPHA
    assert_allclose(model.predict(NEW), scores, atol=1e-12)
    assert_array_equal(model.rank(NEW), 1 + np.argsort(np.argsort(-scores)))
    # equal scores share the best of their ranks
    assert_array_equal(model.rank(NEW[[0, 1, 0]]), [1, 3, 1])
    with pytest.raises(ValueError, match="in no order"):
        loaded("deviations").rank(NEW)


def by_hand():
    """What each part says: weights on the first two examples, and on the last two."""
    of_a = NEW[:, :2] @ OLD[:2, :2].T @ np.array([[1.0, -2.0], [0.5, 3.0]]) + np.array([0.5, -1.0])
    of_b = gaussian(NEW[:, 2:], OLD[1:, 2:]) @ np.array([[2.0], [-1.5]]) + 0.25
    return {"a": of_a, "b": of_b}


def test_each_part_sees_its_own_kernel(tmp_path):
    model, wanted = loaded("parts"), by_hand()
    assert model.parts_ == {"a": ["c1", "c2"], "b": ["c1"]}
    model.save(tmp_path / "again.mercer")
    for one in (model, mercer.load(tmp_path / "again.mercer")):
        found = one.predict_parts(VIEWS)
        assert list(found) == ["a", "b"]
        for name, values in wanted.items():
            assert_allclose(found[name], values, rtol=1e-12)
        # scores have part beside part
        assert_array_equal(one.decision_function(VIEWS), np.hstack([found["a"], found["b"]]))
    native = _native.Model.load(FOLDER / "parts.mercer")
    assert native.readout == "parts"
    assert native.coefficients[0] == "parts"
    assert_array_equal(native.offsets, [0.5, -1.0, 0.25])
    with pytest.raises(ValueError, match="several parts \\(a, b\\); use predict_parts"):
        model.predict(VIEWS)
    with pytest.raises(ValueError, match="has no parts"):
        loaded("order").predict_parts(NEW)


def test_one_view_is_enough_for_its_part():
    model = loaded("parts")
    whole = model.predict_parts(VIEWS)
    for name in ("a", "b"):
        some = model.predict_parts({name: VIEWS[name]})
        assert list(some) == [name]
        assert_array_equal(some[name], whole[name])
    # all columns are both views
    for name, part in model.predict_parts(NEW).items():
        assert_array_equal(part, whole[name])
    with pytest.raises(ValueError, match="2 columns without names, and the model has 3"):
        model.predict_parts(NEW[:, :2])
