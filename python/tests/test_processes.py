"""Forks, workers and threads: nobody waits for threads of another process, and nobody takes more of them than there are."""

import os
import subprocess
import sys
import textwrap

import pytest
from joblib import Parallel, delayed, parallel_config
from mercer import _native
from mercer._threads import allowed_threads

SECONDS = 120
# what is done before and after a fork; enough of everything for threads to be asked
EVERYTHING = """
import multiprocessing, os, sys, threading, warnings
import numpy as np
from sklearn.datasets import make_classification
from mercer import SVC, SVR, KernelPCA, KernelRidge, LinearSVC, MercerSearchCV
from mercer.kernels import Rbf

warnings.simplefilter("ignore")
X, y = make_classification(700, 8, random_state=0)
model = SVC().fit(X, y)

def everything():
    told = [model.predict(X).sum(), SVC().fit(X, y).score(X, y), SVR(conformal="split").fit(X[:300], y[:300]).predict(X).sum()]
    told += [LinearSVC().fit(X, y).score(X, y), KernelRidge(kernel="rbf").fit(X, y).predict(X).sum()]
    told += [KernelPCA(2, kernel="rbf").fit(X).eigenvalues_.sum(), Rbf(gamma=0.1)(X).sum()]
    told += [MercerSearchCV(SVC(), {"C": [0.1, 1]}, cv=3).fit(X, y).best_score_]
    return [float(one) for one in told]

def child(what=everything):
    # the answers of the parent, or an exit status that is not 0
    os._exit(0 if np.allclose(what(), known) else 3)

def fork(what):
    pid = os.fork()
    if pid == 0:
        try:
            what()
        finally:
            os._exit(4)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""


def script(text, seconds=SECONDS, **environment):
    """What a script prints, which has to end in time."""
    whole = textwrap.dedent(EVERYTHING) + textwrap.dedent(text)
    env = {**os.environ, **environment}
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, timeout=seconds, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")

FORKS = {
    "a child": "print(fork(child))",
    "a child of a child": "print(fork(lambda: os._exit(fork(child))))",
    "a child whose parent worked after its own fork": "print(fork(lambda: (everything(), os._exit(fork(child)))))",
    "a child of a thread": """
        codes = []
        thread = threading.Thread(target=lambda: codes.append(fork(child)))
        thread.start(), thread.join()
        print(*codes)
    """,
    "a thread of a child": """
        def inside():
            codes = []
            thread = threading.Thread(target=lambda: codes.append(np.allclose(everything(), known)))
            thread.start(), thread.join()
            os._exit(0 if codes == [True] else 5)
        print(fork(inside))
    """,
    "a child while another thread works": """
        threading.Thread(target=everything, daemon=True).start()
        print(fork(child))
        os._exit(sys.stdout.flush() or 0)
    """,
    "multiprocessing": """
        process = multiprocessing.get_context("fork").Process(target=child)
        process.start(), process.join()
        print(process.exitcode)
    """,
    "a pool of workers": """
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(0 if np.allclose(pool.starmap(everything, [(), ()]), known) else 6)
    """,
    "several children, one after the other": "print(max(fork(child) for _ in range(3)))",
}


@forking
@pytest.mark.parametrize("name", FORKS)
def test_a_forked_process_works(name):
    assert script("known = everything()\n" + textwrap.dedent(FORKS[name])) == ["0"]


@forking
def test_workers_of_a_loaded_server_answer():
    told = script("""
        known = everything()
        # the server loads the model, warms it up and forks its workers, which answer one request each
        workers = []
        for _ in range(3):
            reader, writer = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.write(writer, b"%d" % model.predict(X).sum())
                os._exit(0)
            workers.append((pid, reader))
        for pid, reader in workers:
            os.waitpid(pid, 0)
            print(int(os.read(reader, 100)) == model.predict(X).sum())
    """)
    assert told == ["True"] * 3


@forking
def test_a_child_that_goes_on_from_a_callback_ends_instead_of_waiting():
    told = script("""
        pids = []
        def callback(*told):
            if not pids:
                pids.append(os.fork())
        X, y = make_classification(2500, 20, flip_y=0.4, random_state=0)
        SVC(C=1e4, callback=callback, tol=1e-6, max_seconds=5).fit(X, y)
        if pids[0]:
            print(os.waitstatus_to_exitcode(os.waitpid(pids[0], 0)[1]))
    """)
    assert told == ["70"]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_begin_anew_work(method, tmp_path):
    if method not in __import__("multiprocessing").get_all_start_methods():
        pytest.skip("is not here")
    file = tmp_path / "begins.py"
    file.write_text(
        "import multiprocessing\nfrom mercer import SVC\nfrom sklearn.datasets import load_wine\n"
        "X, y = load_wine(return_X_y=True)\n"
        "def work(C):\n    return SVC(C=C).fit(X, y).score(X, y)\n"
        f"if __name__ == '__main__':\n    work(1.0)\n    with multiprocessing.get_context('{method}').Pool(2) as pool:\n"
        "        print(pool.map(work, [1.0, 1.0]) == [work(1.0)] * 2)\n"
    )
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=SECONDS)
    assert done.stdout.split() == ["True"], done.stderr


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs the list of threads of Linux")
def test_no_thread_is_of_rayons_global_pool():
    """Which could not be made anew after a fork; that pool begins where something of the library runs outside of ours."""
    told = script("""
        import mercer, pickle, tempfile
        def all_of_it():
            everything()
            again = pickle.loads(pickle.dumps(model))
            again.predict(X), again.to_libsvm(), again.to_onnx()
            with tempfile.TemporaryDirectory() as folder:
                again.save(folder + "/m"), mercer.load(folder + "/m")
            again.certify(X, y) if hasattr(again, "certify") else None
            SVC(kernel=Rbf(gamma="median")).fit(X, y), SVC(kernel=Rbf(gamma="median"), probability=True).fit(X[:200], y[:200])
            MercerSearchCV(SVC(kernel=Rbf(gamma="median")), {"C": [1, 2]}).fit(X, y)
            words = [f"{'good fine' if i % 2 else 'bad poor'} film number {i}" for i in range(400)]
            SVC(kernel=mercer.kernel("normalise(spectrum(length=2))")).fit(words, np.arange(400) % 2).predict(words)
        thread = threading.Thread(target=all_of_it)
        thread.start(), thread.join(), all_of_it()
        names = [open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")]
        print(sum(name.startswith("mercer-") for name in names) > 0, len([name for name in names if not name.startswith("mercer-")]))
    """, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="2", MKL_NUM_THREADS="1")  # fmt: skip
    # numpy and scikit-learn have as many threads as the environment allows them
    assert told[0] == "True" and int(told[1]) <= 2


@pytest.mark.parametrize("size", [0, 10**9])
def test_a_panic_is_an_ordinary_exception(size):
    with pytest.raises(RuntimeError, match="broke down .*asked for.* fault of mercer") as caught:
        _native.break_down(size)
    assert isinstance(caught.value, Exception)


# ------------------------------------------------------------------------------------------------------------- threads


def test_a_worker_has_one_thread():
    for backend in ("threading", "multiprocessing"):
        with parallel_config(backend=backend, n_jobs=2):
            assert Parallel()(delayed(allowed_threads)() for _ in range(4)) == [1] * 4, backend
    assert Parallel(n_jobs=1)(delayed(allowed_threads)() for _ in range(2)) == [allowed_threads()] * 2


@pytest.mark.parametrize("inner", [1, 3])
def test_a_process_of_loky_has_the_threads_that_joblib_gives_it(inner):
    with parallel_config(backend="loky", n_jobs=2, inner_max_num_threads=inner):
        assert Parallel()(delayed(allowed_threads)() for _ in range(2)) == [inner] * 2


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [({"RAYON_NUM_THREADS": "3"}, 3), ({"OMP_NUM_THREADS": "1"}, 1), ({"LOKY_MAX_CPU_COUNT": "1"}, 1), ({"RAYON_NUM_THREADS": "0"}, None)],
)
def test_the_environment_limits_threads(environment, wanted):
    names = ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
    env = {**{k: v for k, v in os.environ.items() if k not in names}, **environment}
    program = "from mercer._threads import allowed_threads as a; from mercer._data import cores; print(a(), cores())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env, timeout=SECONDS, check=True)
    found, cores = map(int, done.stdout.split())
    assert found == (cores if wanted is None else wanted)


def test_limits_of_threadpoolctl_are_kept():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    with threadpoolctl.threadpool_limits(1):
        assert allowed_threads() == 1


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs the list of threads of Linux")
def test_a_fit_starts_as_many_threads_as_it_may():
    for threads in (1, 3):
        told = script("""
            import time
            # a thread has its name a moment after it is there
            for _ in range(100):
                names = [open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")]
                count = sum(name.startswith("mercer-") for name in names)
                if count >= int(os.environ["RAYON_NUM_THREADS"]):
                    break
                time.sleep(0.02)
            print(count)
        """, RAYON_NUM_THREADS=str(threads))  # fmt: skip
        assert told == [str(threads)]


def test_tasks_of_dask_have_one_thread():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None) as client:
        assert client.submit(allowed_threads).result() == 1
