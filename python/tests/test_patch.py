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


def run(arguments, folder, command=(sys.executable, "-m", "mercer"), **more):
    """What a program prints and how it ends; python itself is another command."""
    return subprocess.run([*command, *arguments], capture_output=True, text=True, cwd=folder, timeout=120, **more)


PROGRAM = """import os, pickle, sys
import beside
from sklearn.svm import SVC
class Own:
    pass
print(SVC.__module__, __name__, sys.modules["__main__"].__dict__ is globals(), type(pickle.loads(pickle.dumps(Own()))).__module__)
print([argument.rpartition(os.sep)[2] for argument in sys.argv], beside.__name__)
"""
WAYS = {
    "a script": ["folder/script.py", "x", "-v"],
    "a module": ["-m", "script", "x", "-v"],
    "a module in one word": ["-mscript", "x"],
    "a module of a package": ["-m", "package", "x"],
    "a command": ["-c", PROGRAM, "x", "-m"],
    "a command in one word": ["-cprint(1)", "x"],
    "a folder": ["package", "x"],
    "standard input": ["-", "x"],
    "a script that fails": ["-c", "raise SystemExit(7)"],
    "a module that is not there": ["-m", "nowhere"],
    "a script that is not there": ["nowhere.py"],
}


@pytest.mark.parametrize("name", WAYS)
def test_programs_run_as_by_python_itself(name, tmp_path):
    for folder in ("folder", "package"):
        (tmp_path / folder).mkdir()
    for place in ("script.py", "folder/script.py", "package/__main__.py"):
        (tmp_path / place).write_text(PROGRAM)
    (tmp_path / "package" / "__init__.py").write_text("")
    for place in ("beside.py", "folder/beside.py", "package/beside.py"):
        (tmp_path / place).write_text("")
    given = PROGRAM if name == "standard input" else None
    ours = run(WAYS[name], tmp_path, input=given)
    theirs = run(WAYS[name], tmp_path, (sys.executable,), input=given)
    assert ours.stdout == theirs.stdout.replace("sklearn.svm._classes", "mercer.svm"), ours.stderr
    # python ends with 2 where there is no such script, which runpy tells as an error
    assert (ours.returncode != 0) == (theirs.returncode != 0) and (name != "a script that fails" or ours.returncode == 7)
    assert "mercer.svm" in ours.stdout or not theirs.stdout or "one word" in name


@pytest.mark.parametrize(("arguments", "word"), [([], "-m module"), (["-m"], "expected"), (["-x"], "no option -x")])
def test_what_cannot_be_run_is_told(arguments, word, tmp_path):
    done = run(arguments, tmp_path)
    assert done.returncode == 1 and word in done.stderr and "Traceback" not in done.stderr
