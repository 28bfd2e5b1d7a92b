"""Time the solvers of kernel Fisher discriminants against each other on this machine.

    python3 bench/fisher.py [--data DIR] [--repeat 3] [--quick] [--no-build] [--only system,pairs,greedy]

Three questions, each a ratio of times taken in one process and in turn:

system: the whole discriminant by its bordered system (Gram matrix, factorisation, refinement, scores) against the Gram matrix
    and the bare Cholesky factorisation, n = 5 000; at most 1.3 for the penalty on the norm. The penalty on coefficients by the
    factor of a shifted matrix and conjugate gradients, and by the factor of the square, which leaving out examples needs.
pairs: one digit of USPS against the rest (7 291 examples, c = 0.3 · 256, λ = 0.01) to one significant figure and an infeasibility
    of 0.1, against the direct solution; at least 20, as the mean over the digits. Beside it single pairs as printed, larger blocks,
    the support vector solver (second-order pairs) at the first of some tolerances that is as feasible, the duality gap in
    place of the printed figures, and the time to compute all kernel values once in f32, which no method that forms K can beat.
greedy: the mean time of ten one-against-rest problems (λ = 1, penalty on coefficients) over the number of examples for three
    tolerances, with the exponent fitted to the upper half of the sizes, and the figure `results/fisher-greedy.svg`.

DIR (else $MERCER_DATA) holds usps/usps.train.csv.gz. Writes results/fisher.md.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = TARGET / "release" / "examples" / "bench_fisher"


def lines(*words):
    """The measurements that the program prints."""
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"bench_fisher {words[0]} failed: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def system(repeat, quick):
    n = 2000 if quick else 5000
    found = lines("system", n, repeat)
    yield f"## The bordered system, n = {n}\n"
    yield "Time of the whole discriminant divided by that of Gram matrix and bare factorisation; median, smallest and largest round.\n"
    yield "| penalty | ratio | seconds | bare seconds |\n|---|---:|---:|---:|"
    bare = statistics.median(f["bare"] for f in found)
    names = {"norm": "norm", "coefficients": "coefficients", "square": "coefficients, by the square of K"}
    for penalty, name in names.items():
        seconds = statistics.median(f[penalty] for f in found)
        yield f"| {name} | {spread([f[penalty] / f['bare'] for f in found])} | {seconds:.2f} | {bare:.2f} |"
    yield f"\nLargest relative residual: {max(f['residual'] for f in found):.1e}.\n"


def pairs(data, repeat):
    found = lines("pairs", data / "usps" / "usps.train.csv.gz", repeat)
    direct = {f["round"]: f for f in found if f["road"] == "direct"}
    yield "## One significant figure on USPS, one digit against the rest\n"
    whole = statistics.median(f["seconds"] for f in direct.values())
    gram = statistics.median(f["gram32"] for f in direct.values())
    yield f"Direct solution {whole:.2f} s; all kernel values once in f32 {gram:.2f} s. Ratio: the direct solution's time divided by the"
    yield "mean time of the ten digits in the same round; median, smallest and largest round.\n"
    yield "| road | ratio | mean seconds | steps | kernel rows | infeasibility |\n|---|---:|---:|---:|---:|---:|"
    roads = list(dict.fromkeys(f["road"] for f in found if f["road"] != "direct"))
    for road in roads:
        mine = [f for f in found if f["road"] == road]
        seconds, steps, rows = (statistics.mean(f[key] for f in mine) for key in ("seconds", "steps", "rows"))
        ratios = [
            d["seconds"] / statistics.mean(f["seconds"] for f in mine if f["round"] == r) for r, d in direct.items()
        ]
        worst = max(f["infeasibility"] for f in mine)
        yield (
            f"| {road} | {spread(ratios)} | {seconds:.3f} | {steps:.0f} | {rows:.0f} | {worst:.3f} |"
        )
    yield ""


def exponent(points):
    """The slope of log seconds over log n."""
    x, y = [math.log(p["n"]) for p in points], [math.log(p["seconds"]) for p in points]
    a, b = statistics.mean(x), statistics.mean(y)
    return sum((p - a) * (q - b) for p, q in zip(x, y)) / sum((p - a) ** 2 for p in x)


def figure(series, path):
    """Seconds over examples on logarithmic axes, a line for each tolerance."""
    every = [p for points in series.values() for p in points]
    low_x, high_x = min(p["n"] for p in every), max(p["n"] for p in every)
    low_y, high_y = min(p["seconds"] for p in every), max(p["seconds"] for p in every)

    def at_x(n):
        return 70 + 430 * math.log(n / low_x) / math.log(high_x / low_x)

    def at_y(s):
        return 320 - 280 * math.log(s / low_y) / math.log(high_y / low_y)

    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="560" height="380" font-family="sans-serif" font-size="12">',
        '<rect width="560" height="380" fill="white"/>',
        '<path d="M70 40V320H500" fill="none" stroke="black"/>',
        '<text x="285" y="365" text-anchor="middle">examples</text>',
        '<text x="20" y="180" text-anchor="middle" transform="rotate(-90 20 180)">seconds a problem</text>',
    ]
    for n in sorted({p["n"] for p in every}):
        out.append(f'<text x="{at_x(n):.1f}" y="338" text-anchor="middle">{n}</text>')
    decade = math.floor(math.log10(low_y))
    while 10**decade <= high_y:
        if 10**decade >= low_y:
            out.append(f'<text x="62" y="{at_y(10**decade) + 4:.1f}" text-anchor="end">{10.0**decade:g}</text>')
            out.append(f'<path d="M66 {at_y(10**decade):.1f}H70" stroke="black"/>')
        decade += 1
    for (tolerance, points), colour in zip(series.items(), ("#1b6ca8", "#c0392b", "#2e8b57")):
        path_of = " ".join(f"{at_x(p['n']):.1f},{at_y(p['seconds']):.1f}" for p in points)
        last = points[-1]
        out.append(f'<polyline points="{path_of}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        out.extend(f'<circle cx="{at_x(p["n"]):.1f}" cy="{at_y(p["seconds"]):.1f}" r="3" fill="{colour}"/>' for p in points)
        out.append(f'<text x="{at_x(last["n"]) + 6:.1f}" y="{at_y(last["seconds"]) + 4:.1f}" fill="{colour}">{tolerance}</text>')
    out.append("</svg>")
    path.write_text("\n".join(out) + "\n")


def greedy(data, quick, results):
    sizes = (500, 1000, 2000) if quick else (500, 1000, 2000, 4000, 7291)
    series = {t: lines("greedy", data / "usps" / "usps.train.csv.gz", t, *sizes) for t in ("1e-1", "1e-2", "1e-3")}
    yield "## The greedy search over the number of examples\n"
    yield "Mean seconds of ten problems (and examples chosen). The exponent is fitted to the three largest sizes.\n"
    yield "| tolerance | " + " | ".join(map(str, sizes)) + " | exponent |\n|---|" + "---:|" * (len(sizes) + 1)
    for tolerance, points in series.items():
        cells = " | ".join(f"{p['seconds']:.3f} ({p['points']:.0f})" for p in points)
        yield f"| {tolerance} | {cells} | {exponent(points[-3:]):.2f} |"
    figure(series, results / "fisher-greedy.svg")
    yield "\n![seconds over examples](fisher-greedy.svg)\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("MERCER_DATA"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--only", default="system,pairs,greedy")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results")
    options = parser.parse_args()
    if not options.no_build:
        command = ["cargo", "build", "--release", "--package", "mercer", "--example", "bench_fisher"]
        subprocess.run(command, cwd=ROOT, check=True)
    wanted = options.only.split(",")
    if options.data is None and set(wanted) & {"pairs", "greedy"}:
        sys.exit("give --data DIR or set MERCER_DATA: DIR holds usps/usps.train.csv.gz")
    load = os.getloadavg()[0]
    text = ["# Solvers of kernel Fisher discriminants\n", f"{os.cpu_count()} cores; load average {load:.1f} at the start.\n"]
    if "system" in wanted:
        text.extend(system(options.repeat, options.quick))
    if "pairs" in wanted:
        text.extend(pairs(Path(options.data), options.repeat))
    if "greedy" in wanted:
        text.extend(greedy(Path(options.data), options.quick, options.results))
    text.append(f"Load average {os.getloadavg()[0]:.1f} at the end.")
    (options.results / "fisher.md").write_text("\n".join(text) + "\n")
    print("\n".join(text))


if __name__ == "__main__":
    main()
