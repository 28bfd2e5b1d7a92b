"""One duel: mercer and one peer on one set, in turn, each in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from racing.catalogue import CACHE_MB, TOLERANCE, gamma_of

HERE = Path(__file__).resolve().parent
LONG = 60.0  # seconds after which one repetition is enough

FIELDS = [
    "mode", "case", "n", "d", "n_test", "setting", "peer", "round", "our_fit", "their_fit", "fit_bound", "our_predict",
    "their_predict", "our_mb", "their_mb", "their_own_mb", "our_objective", "their_objective",
    "our_error", "their_error", "verdict", "failed",
]  # fmt: skip


class Failed(Exception):
    """Why there is no number."""


class Stopped(Failed):
    """A run went past the limit; `when` it was stopped."""

    when = 0.0


def say(text):
    print(text, file=sys.stderr, flush=True)


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def child(command, env, limit):
    """Run a command that prints JSON; its answer, and its peak memory in MB.

    The child leads a group of its own, so that a run that is stopped takes its helpers with it.
    """
    command = [str(c) for c in command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(command, stdout=out, stderr=err, env=env, start_new_session=True)
        except OSError as error:
            raise Failed(f"{Path(command[0]).name} does not start: {error.strerror}") from error
        deadline, pid = time.monotonic() + limit, 0
        try:
            while not pid:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if not pid and time.monotonic() > deadline:
                    late = Stopped(f"stopped after {limit:g} s")
                    late.when = time.time()
                    raise late
                time.sleep(0.0 if pid else 0.01)
        finally:
            if not pid:
                os.killpg(process.pid, signal.SIGKILL)
                os.wait4(process.pid, 0)
                process.returncode = -9
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    if process.returncode != 0:
        raise Failed(complaint(process.returncode, *texts))
    for candidate in (texts[0], last_line(texts[0])):
        try:
            answer = json.loads(candidate)
        except ValueError:
            continue
        unit = 1024.0**2 if sys.platform == "darwin" else 1024.0
        return answer, usage.ru_maxrss / unit
    raise Failed(f"no JSON in the output: {last_line(texts[0])[:100]}")


def complaint(code, out, err):
    """The reason that a program gave: mercer's is JSON, a Python program's is the last line."""
    try:
        return str(json.loads(out)["error"])[:160]
    except (ValueError, KeyError, TypeError):
        return f"ended with {code}: {last_line(err or out)[:160]}"


# ------------------------------------------------------------------------------------------------------------ both sides


class Course:
    """A set as it is raced now: its files and its numbers."""

    def __init__(self, settings, one, rows=0, case=""):
        self.one, self.case = one, case or one.name
        self.folder = settings.data_dir / f"{one.name}-{rows or 'all'}"
        self.info = prepare(settings, one.name, rows, self.folder)
        self.gamma = self.info.get("gamma") or gamma_of(one, self.info["d"])
        part = "svm" if self.info["sparse"] else "npy"
        self.train, self.test = self.folder / f"train.{part}", self.folder / f"test.{part}"
        self.labels = [] if self.info["sparse"] else ["--labels", self.folder / "train.y.npy"]
        self.checked = None  # mercer's objective and error: the same bits in each round
        self.libsvm_single = None  # whether LIBSVM does better with one thread here

    def record(self, settings, peer, **more):
        known = {name: self.info[name] for name in ("n", "d", "n_test")}
        return {"mode": settings.mode, "case": self.case, "setting": self.one.setting(), "peer": peer, "round": 1} | known | more

    def numbers(self):
        """The flags that every program of the race understands."""
        one = self.one
        flags = ["--task", one.task, "--c", repr(float(one.c)), "--gamma", repr(self.gamma), "--epsilon", one.epsilon]
        return [*flags, *(["--loss", one.loss] if one.loss else [])]


def blank(settings, case, peer, reason):
    """A record that only says why there is nothing."""
    nothing = {"n": 0, "d": 0, "n_test": 0, "setting": "", "round": 1}
    return nothing | {"mode": settings.mode, "case": case, "peer": peer, "failed": reason}


def prepare(settings, name, rows, folder):
    try:
        info = json.loads((folder / "info.json").read_text())
        if info["version"] == settings.data_version:
            return info
    except (OSError, ValueError, KeyError):
        pass
    say(f"  preparing {folder.name}")
    command = [settings.python, HERE / "sets.py", name, "--data", settings.data, "--out", folder, "--rows", rows]
    return child(command, settings.env, 3600)[0]


def machine_flags(course):
    one = course.one
    if one.task == "linear":
        return ["--machine", "linear_svc", "--c", one.c, "--loss", one.loss, "--tolerance", TOLERANCE, "--kernel", "linear"]
    kernel = one.kernel or f"rbf(gamma={course.gamma!r})"
    more = ["--epsilon", one.epsilon] if one.task == "svr" else []
    return ["--machine", one.task, "--c", one.c, *more, "--kernel", kernel, "--tolerance", TOLERANCE, "--cache", CACHE_MB]


def ours(settings, course, extra=(), predict=True):
    """Fit and predict with mercer; seconds and peak memory."""
    model, out = settings.temp / "model.mercer", settings.temp / "mercer.csv"
    common = ["--threads", settings.threads, "--json"]
    fit = [settings.mercer, "fit", course.train, *course.labels, *machine_flags(course), "--scale", "none", *common, *extra, "-o", model]
    try:
        answer, peak = child(fit, settings.env, settings.limit)
        result = {"our_fit": answer["seconds"]["fit"], "our_mb": peak, "status": answer.get("status", "")}
        if predict:
            command = [settings.mercer, "predict", model, course.test, *common, "-o", out]
            result["our_predict"] = child(command, settings.env, settings.limit)[0]["seconds"]["predict"]
    except (KeyError, TypeError) as error:
        raise Failed(f"mercer: its output has no {error}") from error
    except Failed as error:
        raise Failed(f"mercer: {error}") from error
    return result


def theirs(settings, course, peer):
    """Fit and predict with a peer, in the way that suits it best.

    The package of LIBSVM computes kernel rows by OpenMP. That helps where rows are long, hurts where they are short, and
    on a machine that does other things its waiting threads once cost a factor of seventy. So waiting threads soon sleep,
    and the first round tries one thread as well and keeps what was faster.
    """
    if peer != "libsvm":
        return one_of_theirs(settings, course, peer, settings.env)
    many = settings.env | {"GOMP_SPINCOUNT": "1000"}
    single = many | {"OMP_NUM_THREADS": "1"}
    if course.libsvm_single is not None:
        return one_of_theirs(settings, course, peer, single if course.libsvm_single else many)
    told = one_of_theirs(settings, course, peer, many)
    course.libsvm_single = False
    if told["wall"] > LONG or "answer" not in told or settings.threads == 1:
        return told
    kept = told["answer"].rename(told["answer"].with_name("libsvm-many.npz"))
    other = one_of_theirs(settings, course, peer, single)
    if other["their_fit"] < told["their_fit"]:
        course.libsvm_single = True
        return other | {"note": "LIBSVM was faster with one thread"}
    return told | {"answer": kept}


def one_of_theirs(settings, course, peer, env):
    """One run of a peer; what it told, or a lower bound where it had to be stopped."""
    reason = settings.missing.get(peer)
    if reason:
        raise Failed(reason)
    rust = peer == "libsvm_rs"
    out = settings.temp / (f"{peer}.json" if rust else f"{peer}.npz")
    marks = [out.with_suffix(end) for end in (".started", ".fitted")]
    for path in (out, *marks):
        path.unlink(missing_ok=True)
    start = [settings.libsvm_rs] if rust else [settings.python, HERE / "peers.py", peer]
    more = ["--tolerance", TOLERANCE, "--cache", CACHE_MB, "--threads", settings.threads, "--out", out]
    dense = peer in course.one.dense
    more += ["--dense"] if dense else []
    begun = time.time()
    try:
        answer, peak = child([*start, course.folder, *course.numbers(), *more], env, settings.limit)
    except Stopped as late:
        return stopped(begun, late.when, *marks)
    told = {"their_fit": answer["fit"], "their_predict": answer["predict"], "their_mb": answer.get("peak_mb") or peak}
    note = "; ".join(w for w in (answer.get("note"), "dense rows for the peer" if dense else "") if w)
    told |= {"their_own_mb": answer.get("own_mb") or "", "note": note, "wall": time.time() - begun}
    return told | {"answer": out}


def stopped(begun, when, started, fitted):
    """How long the fit had taken when it was stopped; a run that was stopped after its fit has no prediction."""
    if fitted.exists():
        answer = json.loads(fitted.read_text())
        told = {"their_fit": answer["fit"], "their_mb": answer.get("peak_mb") or "", "wall": when - begun}
        return told | {"note": "stopped before its prediction ended"}
    if not started.exists():
        raise Stopped("stopped before the fit began")
    return {"their_fit": when - started.stat().st_mtime, "fit_bound": 1, "note": "stopped", "wall": when - begun}


# -------------------------------------------------------------------------------------------------------------- checking


def check(settings, course, *source):
    command = [settings.python, HERE / "check.py", course.folder, *course.numbers(), *source]
    return child(command, settings.env, 3600)[0]


def check_ours(settings, course, *more):
    if course.checked is None:
        files = ["--model", settings.temp / "model.mercer", "--pred", settings.temp / "mercer.csv"]
        course.checked = check(settings, course, *files, *more)
    return course.checked


def verdict(mine, other, regression):
    """`agrees`, or what differs."""
    words = []
    a, b = mine["objective"], other["objective"]
    if a is not None and b is not None:
        apart = (a - b) / max(abs(a), abs(b), 1e-300)
        if abs(apart) > 1e-3:
            words.append(f"objective differs: ours is {'lower' if apart < 0 else 'HIGHER'} by {abs(apart):.1e} of it")
    a, b = mine["error"], other["error"]
    if regression and abs(a - b) > 1e-3 * max(abs(a), abs(b)):
        words.append(f"RMSE differs: {a:.5f} against {b:.5f}")
    if not regression and abs(a - b) > 1e-3 + 1e-12:
        words.append(f"test error differs: {100 * a:.2f} % against {100 * b:.2f} %")
    return "; ".join(words) or "agrees"


def duel(settings, course, peer, rounds):
    """All rounds of mercer against one peer, as records of the CSV file."""
    records, once = [], course.one.once
    for k in range(1 if once else rounds):
        say(f"  {course.case} against {peer}, round {k + 1}")
        record = course.record(settings, peer, round=k + 1)
        records.append(record)
        try:
            if peer in settings.missing:
                raise Failed(settings.missing[peer])
            mine = ours(settings, course)
            status = mine.pop("status")
            record |= mine
            other = theirs(settings, course, peer)
            answer, note, wall = other.pop("answer", None), other.pop("note"), other.pop("wall")
            record |= other
            if k == 0:
                words = [note] if note else []
                value = check_ours(settings, course)
                record |= {"our_objective": value["objective"], "our_error": value["error"]}
                if answer:
                    found = check(settings, course, "--answer", answer)
                    record |= {"their_objective": found["objective"], "their_error": found["error"]}
                    words.insert(0, verdict(value, found, course.one.task == "svr"))
                if status not in ("", "converged"):
                    words.append(f"mercer: {status}")
                record["verdict"] = "; ".join(words)
        except Failed as error:
            record["failed"] = str(error)
            break
        if wall > LONG or mine["our_fit"] > LONG:
            break
    return records
