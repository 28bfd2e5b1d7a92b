"""Draw the ratios of race.csv, and time against size: draw.py POINTS.json, inside the race's environment."""

import json
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "mercer"  # the same picture gives the same file
from matplotlib import pyplot as plt  # noqa: E402

COLOURS = {"sklearn": "#d95f02", "intelex": "#1b9e77", "libsvm": "#7570b3", "liblinear": "#e7298a",
           "libsvm_rs": "#66a61e", "mercer": "#000000"}  # fmt: skip


def ratios(points, path):
    """One line of marks for each set; a mark with an arrow is a lower bound."""
    cases = list(dict.fromkeys(p["case"] for p in points))
    figure, axes = plt.subplots(1, 2, figsize=(11, 1.6 + 0.36 * len(cases)), sharey=True)
    for axis, what in zip(axes, ("training", "prediction"), strict=True):
        axis.axvline(1, color="#999999", linewidth=1)
        seen = set()
        for p in (p for p in points if p["what"] == what):
            y, colour = cases.index(p["case"]), COLOURS.get(p["peer"], "#555555")
            label = None if p["peer"] in seen else p["title"]
            seen.add(p["peer"])
            axis.plot([p["low"], p["high"]], [y, y], color=colour, linewidth=1.5, alpha=0.6)
            axis.plot(p["middle"], y, ">" if p["bound"] else "o", color=colour, markersize=6, label=label)
        axis.set_xscale("log")
        axis.set_title(what)
        axis.set_xlabel("their time / our time")
        axis.grid(axis="x", alpha=0.3)
        if seen:
            axis.legend(fontsize=8)
    axes[0].set_yticks(range(len(cases)), cases)
    axes[0].invert_yaxis()
    save(figure, path)


def sizes(series, path):
    figure, axis = plt.subplots(figsize=(6.5, 4.5))
    for s in series:
        colour, runs = COLOURS.get(s["name"], "#555555"), s["runs"]
        slope = "" if s["exponent"] is None else f", n^{s['exponent']:.2f}"
        axis.plot([n for n, _, _ in runs], [t for _, t, _ in runs], color=colour, label=s["title"] + slope)
        for n, seconds, bound in runs:
            axis.plot(n, seconds, "^" if bound else "o", color=colour, markersize=6)
    axis.set(xscale="log", yscale="log", xlabel="training rows of MNIST", ylabel="seconds")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    save(figure, path)


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        work = json.load(file)
    if work["ratios"]:
        ratios(work["ratios"], work["race"])
    if work["scaling"]:
        sizes(work["scaling"], work["race_scaling"])
    print("{}")


if __name__ == "__main__":
    main()
