"""Models of the `mercer` program in Python: they prepare examples as they prepare files.

The models and what `mercer predict` says of their training files are those of crates/cli/tests/predict.rs.
"""

import pickle
from pathlib import Path

import mercer
import numpy as np
import pandas as pd
import polars as pl
import pytest
from mercer import SVC, KernelKMeans, OneClassSVM
from mercer.kernels import Spectrum
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris

FOLDER = Path(__file__).resolve().parents[2] / "crates" / "cli" / "tests" / "fixtures" / "prepared"
CLASSIFIERS = ["standard", "unit", "categories", "missing", "text", "places"]


def example(name):
    """The model, its training file, and what `mercer predict` says of it."""
    data = pd.read_csv(FOLDER / f"{name}.csv", header=None if name == "places" else 0)
    return mercer.load(FOLDER / f"{name}.mercer"), data, pd.read_csv(FOLDER / f"{name}.predictions.csv")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_model_predicts_as_the_program_does(name):
    model, data, told = example(name)
    assert_array_equal(model.predict(data), told["prediction"])
    assert_allclose(model.decision_function(data), told["score_right"], rtol=1e-9)
    # the target and the order of columns that have names are nothing to it
    rest = data.drop(columns=data.columns[-1])
    scores = model.decision_function(data)
    assert_array_equal(model.decision_function(rest), scores)
    assert_array_equal(model.decision_function(rest.to_numpy(dtype=object)), scores)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(rest), scores)
    if name == "places":
        return
    assert model.columns_ == list(rest.columns) == list(again.columns_)
    assert_array_equal(model.decision_function(data[data.columns[::-1]].assign(more=1.0)), scores)
    assert_array_equal(model.decision_function(pl.DataFrame({name: data[name].to_list() for name in data}, strict=False)), scores)


def test_everything_a_model_says_is_of_prepared_examples():
    model, data, told = example("standard")
    assert_allclose(model.predict_proba(data), told[["probability_left", "probability_right"]], rtol=1e-9)
    assert_array_equal(model.predict(data[["a", "b", "c"]].to_numpy()), told["prediction"])
    assert_array_equal(model.predict(sparse.csr_matrix(data[["a", "b", "c"]].to_numpy())), told["prediction"])
    explained = mercer.explain(model, data, data["side"])
    assert explained.value == (told["prediction"] != data["side"]).mean()
    assert sorted(one.name for one in explained) == ["a", "b", "c"]
    found = model.certify(data, data["side"])
    assert found.training_error == explained.value
    assert str(model.certify(data[["a", "b", "c"]].to_numpy(), data["side"])) == str(found)

    model, data, told = example("minmax")
    assert_allclose(model.predict(data), told["prediction"], rtol=1e-9)
    assert_allclose(model.predict_interval(data, 0.8), told[["lower", "upper"]], rtol=1e-9)


def test_words_missing_entries_and_dates_are_those_of_a_file():
    model, data, _ = example("categories")
    scores = model.decision_function(data)
    other = data.assign(colour=data["colour"].astype("category"), day=pd.to_datetime(data["day"]), c=data["c"].astype(float))
    assert_array_equal(model.decision_function(other), scores)
    assert_array_equal(model.decision_function(data.assign(c=data["c"].astype(str), a=data["a"].astype(object))), scores)
    with pytest.raises(ValueError, match=r'X row 3, column "colour": "pink".*train the model anew'):
        model.predict(data.assign(colour=["red"] * 3 + ["pink"] * (len(data) - 3)))
    with pytest.raises(ValueError, match=r'X row 2, column "a": the entry is missing; fill it in, leave such examples out'):
        model.predict(data.assign(a=np.where(np.arange(len(data)) == 2, np.nan, data["a"])))
    model, data, told = example("missing")
    for nothing in (None, np.nan, pd.NA, "NA", ""):
        assert_array_equal(model.predict(data.assign(colour=data["colour"].astype(object).where(data["colour"].notna(), nothing))), told["prediction"])
    assert_array_equal(model.predict(data.assign(a=data["a"].astype("Float64"))), told["prediction"])


def test_views_are_columns_of_the_file():
    model, data, told = example("text")
    views = {"note": list(data["note"]), "x": data[["a", "b"]].to_numpy()}
    scores = model.decision_function(data)
    assert_array_equal(model.decision_function(views), scores)
    assert_array_equal(model.decision_function({"x": data[["b", "a"]], "note": data["note"]}), scores)
    with pytest.raises(ValueError, match="view.*words"):
        model.predict({"words": views["note"], "x": views["x"]})
    assert_array_equal(model.predict(data), told["prediction"])


def test_what_cannot_be_prepared_is_refused_with_a_remedy():
    model, data, _ = example("standard")
    with pytest.raises(ValueError, match="4 columns without names, and the model has 3.*frame.*a, b, c"):
        model.predict(np.zeros((2, 4)))
    with pytest.raises(ValueError, match='column "b".*the model needs it'):
        model.predict(data.drop(columns="b"))
    with pytest.raises(ValueError, match="2D array"):
        model.predict(np.zeros(3))
    with pytest.raises(ValueError, match="several columns 'a'"):
        model.predict(pd.concat([data, data[["a"]]], axis=1))
    with pytest.raises(ValueError, match='"one" is not a number'):
        model.predict(data.assign(a="one"))
    # columns that are only counted are those of the model in their order
    assert_array_equal(model.predict(pd.DataFrame(data[["a", "b", "c"]].to_numpy())), model.predict(data))


def test_detectors_and_clusterings_predict_as_their_estimators_do(tmp_path):
    X = load_iris().data[:, :2]
    detector, clusters = OneClassSVM(nu=0.2).fit(X), KernelKMeans().fit(X)
    detector.save(tmp_path / "d.mercer"), clusters.save(tmp_path / "c.mercer")
    loaded = mercer.load(tmp_path / "d.mercer")
    assert_array_equal(loaded.predict(X), detector.predict(X))
    assert_array_equal(loaded.decision_function(X), detector.decision_function(X))
    assert_array_equal(loaded.score_samples(X), detector.score_samples(X))
    assert_array_equal(mercer.load(tmp_path / "c.mercer").predict(X), clusters.predict(X))
    model, data, told = example("novelty")
    assert_array_equal(model.predict(data), np.where(told["prediction"] == "inlier", 1, -1))
    assert_allclose(model.decision_function(data), told["score_inlier"], rtol=1e-9)
    model, data, told = example("clusters")
    assert_array_equal(model.predict(data), told["prediction"].str.removeprefix("cluster").astype(int) - 1)
    with pytest.raises(ValueError, match="no detector"):
        model.score_samples(data)


def test_labels_that_spell_one_number_come_back_as_they_were(tmp_path):
    X = load_iris().data
    y = np.repeat(["01", "1", "1.0"], 50)
    fitted = SVC().fit(X, y)
    fitted.save(tmp_path / "m.mercer")
    model = mercer.load(tmp_path / "m.mercer")
    assert model.classes_.tolist() == ["01", "1", "1.0"]
    assert_array_equal(model.predict(X), fitted.predict(X))
    assert model.certify(X, y).training_error == fitted.certify(X, y).training_error
    # quotes that the labels have themselves stay
    SVC().fit(X, np.repeat(["'1'", "2", "3"], 50)).save(tmp_path / "m.mercer")
    assert mercer.load(tmp_path / "m.mercer").classes_.tolist() == ["'1'", "2", "3"]


def test_loaded_models_can_be_pickled(tmp_path):
    X, y = load_iris(return_X_y=True)
    SVC(probability=True).fit(X, y).save(tmp_path / "m.mercer")
    (tmp_path / "m.libsvm").write_bytes(SVC().fit(X, y).to_libsvm())
    for name in ("m.mercer", "m.libsvm"):
        model = mercer.load(tmp_path / name)
        again = pickle.loads(pickle.dumps(model))
        assert_array_equal(again.decision_function(X), model.decision_function(X))
        again.save(tmp_path / "again"), model.save(tmp_path / "once")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "once").read_bytes()


def test_a_single_column_of_strings_is_text(tmp_path):
    words, y = ["abab", "baba", "abba", "aabb"] * 3, [0, 1, 0, 1] * 3
    fitted = SVC(kernel=Spectrum(length=2)).fit(words, y)
    fitted.save(tmp_path / "m.mercer")
    model = mercer.load(tmp_path / "m.mercer")
    frame = pd.DataFrame({"text": words})
    for column in (frame, frame.to_numpy(), pl.DataFrame({"text": words}), np.array(words)[:, None]):
        assert_array_equal(fitted.predict(column), fitted.predict(words))
        assert_array_equal(SVC(kernel=Spectrum(length=2)).fit(column, y).predict(column), fitted.predict(words))
        assert_array_equal(model.decision_function(column), fitted.decision_function(words))
    for two in (frame.assign(more="x"), np.array([words, words]).T):
        with pytest.raises(ValueError, match="one column of strings, and there are 2 columns"):
            SVC(kernel=Spectrum(length=2)).fit(two, y)
