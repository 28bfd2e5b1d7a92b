"""Two builds of mercer beside each other: the same commands, run in turn.

    python3 bench/builds.py OLD NEW --data DIR [--rounds 7] [--threads 2]

OLD and NEW are programs `mercer`. Every round runs each command once with either program, the one that begins changes from round to
round, and the table has the median of NEW's time divided by OLD's in the same round, with the smallest and largest. Times are those
that the program itself reports (seconds of fit or of prediction), or those of the process where it reports none.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

REAL = [
    ("svc USPS", "usps/usps.train.csv.gz", "-m svc --c 10 -k rbf(gamma=0.0078125)"),
    ("svc shuttle", "uci/shuttle.csv.gz", "-m svc --c 10 -k rbf(gamma=1)"),
    ("svc a9a", "libsvm/a9a.svm.gz", "-m svc --c 1 -k rbf(gamma=0.00813)"),
    ("linear_svc reuters", "text/reuters21578.svm.gz", "-m linear_svc --loss hinge --c 1 -k linear"),
    ("linear_svc sector", "text/sector.svm.gz", "-m linear_svc --loss squared_hinge --c 1 -k linear"),
]


def strings(path, count, length):
    """A file of random strings over four letters, with two classes."""
    rng = random.Random(1)
    with open(path, "w") as file:
        file.write("y,s\n")
        for i in range(count):
            letters = "ACGT" if i % 2 else "AACGT"
            file.write(f"{'a' if i % 2 else 'b'},{''.join(rng.choice(letters) for _ in range(length))}\n")


def vectors(path, count, width):
    """A file of normal vectors, with two classes and a number."""
    rng = random.Random(2)
    with open(path, "w") as file:
        file.write(",".join(f"x{j}" for j in range(width)) + ",y\n")
        for _ in range(count):
            x = [rng.gauss(0, 1) for _ in range(width)]
            file.write(",".join(f"{v:.6f}" for v in x) + f",{'a' if x[0] * x[1] + 0.3 * rng.gauss(0, 1) > 0 else 'b'}\n")


def cases(data, work):
    """(name, arguments), each with `{out}` for a file of its own."""
    few, wide, words = work / "few.csv", work / "wide.csv", work / "words.csv"
    vectors(few, 2000, 10)
    vectors(wide, 4000, 50)
    strings(words, 1500, 60)
    found = [
        ("gram rbf, 4000 × 50", f"gram {wide} --target y --kernel rbf(gamma=0.02) -o {{out}}.npy"),
        ("gram laplacian, 2000 × 10", f"gram {few} --target y --kernel laplacian(gamma=0.1) -o {{out}}.npy"),
        ("gram mismatch, 1500 strings", f"gram {words} --target y --text s --kernel mismatch(length=4,mismatches=1) -o {{out}}.npy"),
        ("gram subsequence, 1500 strings", f"gram {words} --target y --text s --kernel subsequence(length=3) -o {{out}}.npy"),
        ("svc rbf, 4000 × 50", f"fit {wide} -m svc --c 10 -k rbf(gamma=0.02) -o {{out}}"),
        ("svc mismatch, 1500 strings", f"fit {words} -m svc --target y --text s -k normalise(mismatch(length=4,mismatches=1)) -o {{out}}"),
        ("svc platt, 2000 × 10", f"fit {few} -m svc --c 10 -k rbf(gamma=0.1) --probabilities platt -o {{out}}"),
        ("ridge-like kfd, 2000 × 10", f"fit {few} -m kfd -k rbf(gamma=0.1) -o {{out}}"),
        ("linear_svc, 4000 × 50", f"fit {wide} -m linear_svc -k linear -o {{out}}"),
        ("select 4 × 3, 2000 × 10", f"select {few} -m svc -k rbf --grid c=0.1|1|10|100,gamma=0.01|0.1|1 --folds 5 -o {{out}}"),
        ("cross conformal, 2000 × 10", f"fit {few} -m svc -k rbf(gamma=0.1) --conformal cross -o {{out}}"),
    ]
    for name, path, flags in REAL:
        file = pathlib.Path(data) / path if data else None
        if file and file.exists():
            found.append((name, f"fit {file} {flags} --scale none -o {{out}}"))
    return found


def predictions(asked, work):
    """The same for predictions of models that the old program has fitted."""
    found = []
    for name, path, flags in REAL:
        model, train = work / f"{name.replace(' ', '-')}.mercer", pathlib.Path(asked.data or "") / path
        test = train.with_name(train.name.replace(".svm", ".t.svm").replace(".train.", ".test."))
        if not asked.data or not test.exists() or asked.only not in f"predict {name}":
            continue
        subprocess.run([asked.old, *f"fit {train} {flags} --scale none -o {model}".split(" ")], capture_output=True, check=True)
        found.append((f"predict {name}", f"evaluate {model} {test}"))
    return found


def seconds(program, arguments, work, threads, json_able):
    out = work / "result"
    words = [word.replace("{out}", str(out)) for word in arguments.split(" ")]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    began = time.perf_counter()
    done = subprocess.run([program, *words, *(["--json"] if json_able else [])], capture_output=True, env=environment, check=False)
    whole = time.perf_counter() - began
    if done.returncode != 0:
        raise SystemExit(f"{program} {' '.join(words)}: {done.stderr.decode()}")
    if json_able:
        told = json.loads(done.stdout).get("seconds", {})
        return told.get("predict" if words[0] == "evaluate" else "fit", whole)
    return whole


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--data", default=os.environ.get("MERCER_DATA"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    print("| case | old, s | new ÷ old | range |\n|---|---|---|---|", flush=True)
    slower = []
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for name, arguments in [*cases(asked.data, work), *predictions(asked, work)]:
            if asked.only not in name:
                continue
            json_able = not arguments.startswith("gram")
            ratios, olds = [], []
            for turn in range(asked.rounds + 1):
                order = [asked.old, asked.new] if turn % 2 else [asked.new, asked.old]
                told = {program: seconds(program, arguments, work, asked.threads, json_able) for program in order}
                # the first round warms files and caches
                if turn:
                    ratios.append(told[asked.new] / told[asked.old])
                    olds.append(told[asked.old])
            middle = statistics.median(ratios)
            slower += [name] if middle > 1.05 else []
            print(f"| {name} | {statistics.median(olds):.3f} | {middle:.2f} | {min(ratios):.2f}–{max(ratios):.2f} |", flush=True)
    print("\nslower by more than 5 %: " + (", ".join(slower) or "none"))
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
