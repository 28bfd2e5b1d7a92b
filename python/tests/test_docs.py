"""What the documentation shows is what happens: the pages in `docs`, the docstrings and the examples."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import mercer
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
# pages with examples in Python
PAGES = sorted(page for page in (ROOT / "docs").glob("*.md") if ">>>" in page.read_text(encoding="utf-8"))
EXAMPLES = sorted((ROOT / "python" / "examples").glob("*.py"))
MODULES = [
    m.name for m in pkgutil.walk_packages(mercer.__path__, "mercer.") if not m.name.endswith(("_native", "__main__"))
]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def aside(tmp_path, monkeypatch):
    """Runs in a folder of its own and leaves neither figures nor patches behind."""
    monkeypatch.chdir(tmp_path)
    yield
    plt.close("all")
    mercer.unpatch_sklearn()


def session(text, name):
    """The blocks of a page as one session; all that is not code is blank, so that line numbers stay."""
    blank = [""] * (text.count("\n") + 1)
    for block in FENCE.finditer(text):
        assert ">>>" in block.group(1), f"{name}: a block of Python without a prompt is not run"
        first = text.count("\n", 0, block.start(1))
        lines = block.group(1).splitlines()
        blank[first : first + len(lines)] = lines
    return doctest.DocTestParser().get_doctest("\n".join(blank), {"__name__": "__main__"}, name, name, 0)


def check(test):
    """Runs a session; gives what differs, in words, and how much was tried."""
    said = []
    found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    return "".join(said), found.attempted


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_show_what_happens(page):
    differs, tried = check(session(page.read_text(encoding="utf-8"), page.name))
    assert not differs, differs
    assert tried


def test_a_wrong_output_an_error_and_a_block_without_prompts_are_found():
    good = "Words.\n\n```python\n>>> a = 1\n```\n\nMore.\n\n```python\n>>> a + 1\n2\n```\n"
    assert check(session(good, "good")) == ("", 2)
    assert "Expected:\n    3" in check(session(good.replace("2\n```", "3\n```"), "wrong"))[0]
    assert "line 10" in check(session(good.replace("a + 1", "a + b"), "error"))[0]
    with pytest.raises(AssertionError, match="without a prompt"):
        session("```python\na = 1\n```\n", "plain")


def test_there_are_pages_and_examples():
    assert "tutorial.md" in {page.name for page in PAGES}
    assert {"drop_in", "kernels", "views", "novelty", "plots"} <= {example.stem for example in EXAMPLES}


# strict: whoever puts a docstring right takes its line away
@pytest.mark.parametrize("name", ["mercer", *MODULES])
def test_docstrings_show_what_happens(name):
    module = importlib.import_module(name)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        differs, _ = check(test)
        assert not differs, differs


def test_docstrings_with_examples_are_found():
    parts = [mercer.plot, importlib.import_module("mercer._curves")]
    tests = [test for part in parts for test in doctest.DocTestFinder().find(part, "mercer.plot")]
    assert {f"mercer.plot.{name}" for name in mercer.plot.__all__} <= {test.name for test in tests if test.examples}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_examples_run(example, tmp_path):
    command = [sys.executable, str(example)]
    done = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout and not done.stderr, done.stderr
    for line in done.stdout.splitlines():
        if line.endswith(".png"):
            assert (tmp_path / line).stat().st_size > 10_000
    assert len(list(tmp_path.iterdir())) == (7 if example.stem == "plots" else 0)
