"""scikit-learn's own tests of the classes that mercer has, run on mercer's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

# the versions whose tests the exceptions below are those of
VERSIONS = ("1.9",)

FILES = ("svm/tests/test_svm.py", "svm/tests/test_sparse.py", "svm/tests/test_bounds.py", "tests/test_kernel_ridge.py",
         "decomposition/tests/test_kernel_pca.py")  # fmt: skip

TOLERANCE = "coefficients of two paths to one solution agree to the tolerance of the solver, not to 1e-6"
MORE = "mercer answers where scikit-learn has no answer"
WITHIN = "private attributes are written to; mercer's predictions come from its model"
STAYS = "mercer's probabilities are not deprecated, so there is no warning"
CONTAINERS = ("csr_matrix", "csr_array", "lil_matrix", "lil_array")

EXCEPTIONS = {
    **{f"test_sparse.py::test_svc[{c}-rbf-X_train2-y_train2-X_test2]": TOLERANCE for c in CONTAINERS},
    **{f"test_sparse.py::test_sparse_oneclasssvm[{c}-rbf-X_train2-None-X_test2]": TOLERANCE for c in CONTAINERS},
    "test_svm.py::test_precomputed": TOLERANCE,
    "test_svm.py::test_svc_clone_with_callable_kernel": TOLERANCE,
    "test_svm.py::test_svr_errors": "a kernel that gives a matrix of the wrong shape is refused by fit, not only by predict",
    "test_svm.py::test_tweak_params": WITHIN,
    "test_svm.py::test_svc_raises_error_internal_representation": WITHIN,
    "test_svm.py::test_bad_input": f"{MORE}: sparse examples for what was learned from dense ones",
    "test_svm.py::test_linearsvc_parameters[42-False-l2-hinge]": f"{MORE}: the hinge loss, whatever dual says",
    "test_svm.py::test_probability_raises_futurewarning": STAYS,
    "test_svm.py::test_svc_nusvc_probA_probB_deprecated": STAYS,
    "test_kernel_pca.py::test_precomputed_kernel_not_psd[randomized]": "the largest eigenvalues are taken, whatever eigen_solver says",
}


def family(name):
    """A test without the parameters of one of its cases."""
    return name.split("[")[0]


def judged(outcomes, exceptions):
    """Failures that nothing excuses, and excuses of tests that pass or are not there."""
    failed = {name for name, outcome in outcomes.items() if outcome == "failed"}
    excused = {name for name in outcomes if name in exceptions or family(name) in exceptions}
    seen = excused | {family(name) for name in excused}
    return sorted(failed - excused), sorted((excused - failed) | (set(exceptions) - seen))


def test_failures_and_stale_excuses_are_found():
    outcomes = {"a.py::f[1]": "failed", "a.py::f[2]": "failed", "a.py::g": "passed", "a.py::h": "skipped"}
    assert judged(outcomes, {"a.py::f": ""}) == ([], [])
    assert judged(outcomes, {"a.py::f[1]": ""}) == (["a.py::f[2]"], [])
    assert judged({**outcomes, "a.py::f[2]": "passed"}, {"a.py::f": ""}) == ([], ["a.py::f[2]"])
    assert judged(outcomes, {"a.py::f": "", "a.py::gone": ""}) == ([], ["a.py::gone"])


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """How every test of the files came out, by its name."""
    if not sklearn.__version__.startswith(tuple(f"{version}." for version in VERSIONS)):
        pytest.skip(f"the exceptions are those of scikit-learn {', '.join(VERSIONS)}, and this is {sklearn.__version__}")
    here, place = Path(__file__).resolve().parent, tmp_path_factory.mktemp("theirs")
    files = [str(Path(sklearn.__file__).parent / file) for file in FILES]
    if not all(map(os.path.exists, files)):
        pytest.skip("this scikit-learn comes without its tests")
    out = place / "outcomes.json"
    more = {"PYTHONPATH": os.pathsep.join([str(here), os.environ.get("PYTHONPATH", "")]), "MERCER_OUTCOMES": str(out)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "patching", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, cwd=place, env={**os.environ, **more}, capture_output=True, text=True, check=False)
    assert out.exists(), done.stdout + done.stderr
    return json.loads(out.read_text(encoding="utf-8"))


def test_their_tests_pass_but_for_listed_exceptions(outcomes):
    failures, stale = judged(outcomes, EXCEPTIONS)
    assert not failures, f"these of scikit-learn's tests fail, and no reason is listed: {failures}"
    assert not stale, f"these are excused, and pass or are gone: {stale}"


def test_most_of_their_tests_are_run(outcomes):
    assert {family(name).split("::")[0] for name in outcomes} == {Path(file).name for file in FILES}
    assert sum(outcome == "passed" for outcome in outcomes.values()) > 300
