"""Fits of support vector machines beside a busy process: the time on a machine of its own, beside one busy loop, and by one thread.

    python3 bench/contention.py --mercer target/release/mercer --data DIR [--rounds 5] [--threads 2] [--results bench/results]

Every round runs each case four times, in turn: with all threads and with one, on the idle machine and while another process counts
without end. Told are medians, the factor by which the other process makes each slower, and the processor time beside the busy process
over that without it, which is above one where threads wait in loops. Writes contention.md.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

CASES = [
    ("svc, 10 classes, pixels", "usps/usps.train.csv.gz", "-m svc --c 10 -k rbf(gamma=0.0078125)"),
    ("svc, two classes, few columns", "libsvm/covtype20k.csv.gz", "-m svc --c 10 -k rbf(gamma=0.0185185)"),
    ("svc, two classes, 128 columns", None, "-m svc --c 1 -k rbf(gamma=1)"),
]


def embeddings(path, n=12000, d=128):
    """Two classes that overlap, on the unit sphere."""
    import random

    rng = random.Random(7)
    ways = [[rng.gauss(0, 1) for _ in range(d)] for _ in range(8)]
    with open(path, "w") as file:
        file.write(",".join(f"x{j}" for j in range(d)) + ",y\n")
        for i in range(n):
            z = [rng.gauss(0.6 if i % 2 else -0.6, 2.0) for _ in ways]
            x = [sum(a * w[j] for a, w in zip(z, ways)) + 0.3 * rng.gauss(0, 1) for j in range(d)]
            length = sum(v * v for v in x) ** 0.5
            file.write(",".join(f"{v / length:.5g}" for v in x) + f",{'ab'[i % 2]}\n")


def cpu():
    """Seconds of processor time of all children that have ended."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fit(asked, file, flags, threads, model):
    """Seconds of the fit, and processor time of the whole process."""
    before = cpu()
    command = [asked.mercer, "fit", file, *flags.split(), "--scale", "none", "--threads", threads, "--json", "-o", model]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr or done.stdout)
    return json.loads(done.stdout)["seconds"]["fit"], cpu() - before


class Busy:
    """A process that counts without end."""

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        time.sleep(0.2)

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mercer", default="target/release/mercer")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "results")
    asked = parser.parse_args()
    lines = ["# Support vector machines beside a busy process", "",
             f"`python3 bench/contention.py`, medians of {asked.rounds} rounds; seconds of the fit.", "",
             f"| case | {asked.threads} threads, idle | busy | factor | processor time | one thread, idle | busy | factor |",
             "|---|---:|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for name, path, flags in CASES:
            file = asked.data / path if path else work / "embeddings.csv"
            if path is None:
                embeddings(file)
            elif not file.exists():
                print(f"{name}: {path} is not there", file=sys.stderr)
                continue
            found = {(threads, busy): [] for threads in (asked.threads, 1) for busy in (False, True)}
            for _ in range(asked.rounds):
                for threads, busy in found:
                    if busy:
                        with Busy():
                            taken = fit(asked, file, flags, threads, work / "m.mercer")
                    else:
                        taken = fit(asked, file, flags, threads, work / "m.mercer")
                    found[threads, busy].append(taken)
            middle = {key: statistics.median(t[0] for t in taken) for key, taken in found.items()}
            work_of = {key: statistics.median(t[1] for t in taken) for key, taken in found.items()}
            many, one = asked.threads, 1
            factor = {threads: middle[threads, True] / middle[threads, False] for threads in (many, one)}
            burnt = work_of[many, True] / work_of[many, False]
            lines.append(f"| {name} | {middle[many, False]:.3f} | {middle[many, True]:.3f} | {factor[many]:.2f} | {burnt:.2f} "
                         f"| {middle[one, False]:.3f} | {middle[one, True]:.3f} | {factor[one]:.2f} |")  # fmt: skip
            print(lines[-1], file=sys.stderr)
    lines.append("")
    asked.results.mkdir(parents=True, exist_ok=True)
    (asked.results / "contention.md").write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
