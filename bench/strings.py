"""Compare mercer's kernels on strings with pairwise code and with scikit-learn, side by side on this machine.

    python3 bench/strings.py --data DIR [--mercer target/release/mercer] [--repeat 5] [--quick]

DIR holds strings/celegans_acceptor.tsv.gz (label, tab, sequence of 141 letters) and, if there, text/sms_spam.tsv.gz. It
makes an environment with NumPy, SciPy and scikit-learn under target/strings-env, runs all sides in turn, and prints the
median of the ratios of each round with the smallest and the largest. `mercer gram` is timed as it times itself: from
strings in memory to a matrix on disk. The pairwise code is plain Python on counts that are ready; it runs on as many strings
as it can in some seconds, and its time is scaled by the number of pairs.
"""

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def environment():
    """Runs this script again where the other libraries are."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        folder = TARGET / "strings-env"
        python = folder / "bin" / "python"
        if not python.exists():
            venv.create(folder, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy", "scipy", "scikit-learn"], check=True)
        os.execv(python, [str(python), *sys.argv])


def mercer(binary, *arguments):
    """Seconds and what a run told."""
    start = time.perf_counter()
    done = subprocess.run([binary, *map(str, arguments), "--json"], capture_output=True, text=True, check=True)
    return time.perf_counter() - start, json.loads(done.stdout)


def neighbours(piece, mismatches, letters="ACGT"):
    """All strings within so many letters of a piece."""
    if not piece:
        return [""]
    out = [piece[0] + rest for rest in neighbours(piece[1:], mismatches, letters)]
    if mismatches:
        for letter in letters:
            if letter != piece[0]:
                out += [letter + rest for rest in neighbours(piece[1:], mismatches - 1, letters)]
    return out


class Pieces:
    """The pieces of a string, each with its neighbours."""

    def __init__(self, length, mismatches):
        self.length, self.mismatches, self.known = length, mismatches, {}

    def __call__(self, string):
        out = []
        for i in range(len(string) - self.length + 1):
            piece = string[i : i + self.length]
            if piece not in self.known:
                self.known[piece] = neighbours(piece, self.mismatches)
            out += self.known[piece]
        return out


def counts(pieces, string):
    found = {}
    for piece in pieces(string):
        found[piece] = found.get(piece, 0) + 1
    return found


def pairwise(tables):
    """Seconds for all pairs of some strings, each pair by itself."""
    start = time.perf_counter()
    for i, x in enumerate(tables):
        for y in tables[: i + 1]:
            sum(count * y.get(piece, 0) for piece, count in x.items())
    return time.perf_counter() - start


def product(pieces, strings, dense):
    """Seconds for counting and one product of matrices with scikit-learn, SciPy and NumPy."""
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer

    start = time.perf_counter()
    x = CountVectorizer(analyzer=pieces, dtype=np.float32).fit_transform(strings)
    if dense:
        x = x.toarray()
        k = x @ x.T
    else:
        k = (x @ x.T).toarray()
    return time.perf_counter() - start, k


def show(name, ours, theirs, what):
    ratios = [t / o for o, t in zip(ours, theirs, strict=True)]
    middle = statistics.median(ratios)
    print(
        f"| {name} | {what} | {statistics.median(ours):.3f} s | {statistics.median(theirs):.3f} s |"
        f" {middle:.1f} ({min(ratios):.1f}–{max(ratios):.1f}) |",
        flush=True,
    )


def matrices(binary, strings, folder, repeat, quick):
    import numpy as np

    path = Path(folder) / "strings.csv"
    path.write_text("s\n" + "".join(f"{s}\n" for s in strings))
    pairs = len(strings) * (len(strings) + 1) / 2
    for kernel, length, mismatches, sample in [
        ("spectrum(length=6)", 6, 0, 100 if quick else 400),
        ("mismatch(length=6, mismatches=1)", 6, 1, 40 if quick else 120),
    ]:
        pieces = Pieces(length, mismatches)
        tables = [counts(pieces, s) for s in strings[:sample]]
        ours, loops, products = [], [], []
        out = Path(folder) / "k.npy"
        for _ in range(repeat):
            flags = ["--target", "none", "--kernel", kernel, "--precision", "f32", "-o", out]
            _, told = mercer(binary, "gram", path, *flags)
            ours.append(told["seconds"]["gram"])
            loops.append(pairwise(tables) * pairs / (sample * (sample + 1) / 2))
            seconds, k = product(pieces, strings, dense=mismatches > 0)
            products.append(seconds)
        assert np.array_equal(np.load(out), k), "the matrices differ"
        show(kernel, ours, loops, f"pairs in Python ({sample} strings, scaled)")
        show(kernel, ours, products, "CountVectorizer, then one product")


def linear(binary, name, rows, folder, kernel, vectoriser, positive, repeat):
    """linear_svc on explicit features beside scikit-learn's LinearSVC on the same, three quarters against one."""
    from sklearn.metrics import roc_auc_score
    from sklearn.preprocessing import normalize
    from sklearn.svm import LinearSVC

    parts = [[r for i, r in enumerate(rows) if (i % 4 == 0) == test] for test in (False, True)]
    files = [Path(folder) / f"{part}.csv" for part in ("train", "test")]
    for path, part in zip(files, parts, strict=True):
        lines = ('{},"{}"\n'.format("yes" if y == positive else "no", s.replace('"', '""')) for y, s in part)
        path.write_text("".join(lines))
    labels = [y == positive for y, _ in parts[1]]
    model, predicted = Path(folder) / "m.mercer", Path(folder) / "p.csv"
    ours, theirs = [], []
    for _ in range(repeat):
        flags = ["--target", "1", "--text", "2", "--machine", "linear_svc", "--kernel", kernel, "-o", model]
        ours.append(mercer(binary, "fit", files[0], *flags)[0])
        start = time.perf_counter()
        words = vectoriser()
        x = normalize(words.fit_transform([s for _, s in parts[0]]))
        fitted = LinearSVC(loss="squared_hinge", dual=True).fit(x, [y == positive for y, _ in parts[0]])
        theirs.append(time.perf_counter() - start)
    show(f"linear_svc, {kernel}", ours, theirs, f"{name}: CountVectorizer, then LinearSVC")
    subprocess.run([binary, "predict", model, files[1], "-o", predicted, "--scores"], check=True, capture_output=True)
    table = [line.split(",") for line in predicted.read_text().splitlines()]
    column = table[0].index("score_yes")
    scores = [float(line[column]) for line in table[1:]]
    other = fitted.decision_function(normalize(words.transform([s for _, s in parts[1]])))
    areas = [roc_auc_score(labels, s) for s in (scores, other)]
    print(f"| | {name}: area under the curve | {areas[0]:.4f} | {areas[1]:.4f} | |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--mercer", type=Path, default=TARGET / "release" / "mercer")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    environment()
    from sklearn.feature_extraction.text import CountVectorizer

    if not options.mercer.exists():
        subprocess.run(["cargo", "build", "--release", "-p", "mercer-cli"], cwd=ROOT, check=True)
    with gzip.open(options.data / "strings" / "celegans_acceptor.tsv.gz", "rt") as file:
        rows = [tuple(line.rstrip("\n").split("\t")) for line in file]
    print("| work | beside | mercer | other | times faster (least–most) |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        strings = [s for _, s in rows[: 1000 if options.quick else 5000]]
        matrices(options.mercer, strings, folder, options.repeat, options.quick)
        sixes = lambda: CountVectorizer(analyzer="char", ngram_range=(6, 6), lowercase=False)  # noqa: E731
        linear(
            options.mercer, "C. elegans", rows, folder, "normalise(spectrum(length=6))", sixes, "1", options.repeat
        )
        sms = options.data / "text" / "sms_spam.tsv.gz"
        if sms.exists():
            with gzip.open(sms, "rt") as file:
                rows = [tuple(line.rstrip("\n").split("\t", 1)) for line in file]
            plain = lambda: CountVectorizer(token_pattern=r"(?u)[^\W_]+")  # noqa: E731
            linear(options.mercer, "SMS spam", rows, folder, "normalise(bag_of_words)", plain, "spam", options.repeat)


if __name__ == "__main__":
    main()
