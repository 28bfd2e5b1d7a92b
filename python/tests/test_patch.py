"""Scripts that import from scikit-learn get mercer."""

import logging
import subprocess
import sys

import mercer
import pytest


@pytest.fixture
def patched():
    mercer.patch_sklearn()
    yield
    mercer.unpatch_sklearn()


def test_imports_get_mercer_and_uncovered_options_fall_back(patched, caplog):
    from sklearn import svm
    from sklearn.datasets import load_iris
    from sklearn.model_selection import cross_val_score

    X, y = load_iris(return_X_y=True)
    assert svm.SVC is mercer.SVC
    assert cross_val_score(svm.SVC(), X, y).mean() > 0.9
    assert isinstance(svm.LinearSVC(), mercer.LinearSVC)
    with caplog.at_level(logging.WARNING, "mercer"):
        model = svm.LinearSVC(penalty="l1", dual=False).fit(X, y)
    assert isinstance(model, mercer.LinearSVC) and "penalty='l1'" in caplog.text
    assert model.score(X, y) > 0.9


def test_searches_are_those_of_mercer(patched, caplog):
    from sklearn import svm
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    assert GridSearchCV is mercer.MercerSearchCV
    with caplog.at_level(logging.WARNING, "mercer"):
        assert GridSearchCV(svm.SVC(), {"C": [1, 10]}).fit(*load_iris(return_X_y=True)).best_score_ > 0.9
        other = GridSearchCV(LogisticRegression(max_iter=1000), {"C": [1, 10]})
        assert other.fit(*load_iris(return_X_y=True)).best_score_ > 0.9
    assert not caplog.records


def test_the_patch_is_taken_back():
    from sklearn import svm

    assert svm.SVC is not mercer.SVC


def test_a_script_runs_without_an_edit(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nfrom sklearn.svm import SVC\nprint(SVC.__module__, sys.argv[1])\n")
    out = subprocess.run([sys.executable, "-m", "mercer", str(script), "x"], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["mercer.svm", "x"]
