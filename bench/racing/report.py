"""The records of a race: kept in one CSV file, shown as Markdown. Everything shown is computed from the records."""

import csv
import math
import os
import platform
import statistics
import time

from racing import catalogue
from racing.duel import FIELDS


def number(record, name):
    value = record.get(name)
    return float(value) if value not in ("", None) else math.nan


class Book:
    """All records so far; every change is written at once, whole or not at all."""

    def __init__(self, settings, resume):
        self.settings, self.records, self.kept = settings, [], set()
        path = settings.results / "race.csv"
        if resume and path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                old = [r for r in csv.DictReader(file) if r["mode"] == settings.mode]
            broken = {(r["case"], r["peer"]) for r in old if r["failed"]}
            self.records = [r for r in old if (r["case"], r["peer"]) not in broken]
            self.kept = {(r["case"], r["peer"]) for r in self.records}

    def done(self, case, peer):
        return (case, peer) in self.kept

    def of(self, case, peer):
        return [r for r in self.records if (r["case"], r["peer"]) == (case, peer)]

    def add(self, records):
        keys = {(r["case"], r["peer"]) for r in records}
        self.records = [r for r in self.records if (r["case"], r["peer"]) not in keys] + records
        self.kept |= keys
        self.write()

    def write(self):
        self.settings.results.mkdir(parents=True, exist_ok=True)
        whole(self.settings.results / "race.csv", lambda file: self.write_csv(file))
        whole(self.settings.results / "race.md", lambda file: file.write(markdown(self)))

    def write_csv(self, file):
        writer = csv.DictWriter(file, FIELDS, restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: "" if v is None else v for k, v in r.items()} for r in self.records)

    def duels(self):
        """Records by (case, peer), in the order of the catalogue."""
        groups = {}
        for record in self.records:
            groups.setdefault((record["case"], record["peer"]), []).append(record)
        cases, peers = list(catalogue.SETS), list(catalogue.PEERS)

        def place(key):
            case, peer = key
            rank = cases.index(case) if case in cases else len(cases)
            size = int(groups[key][0]["n"] or 0) if case.startswith("scaling") else 0
            return rank, case.split("-")[0], size, case, peers.index(peer) if peer in peers else len(peers)

        return {key: groups[key] for key in sorted(groups, key=place)}

    def failed(self):
        return any(r.get("failed") and not r["failed"].startswith("not tried") for r in self.records)


def whole(path, write):
    temporary = path.with_suffix(path.suffix + ".new")
    with temporary.open("w", newline="", encoding="utf-8") as file:
        write(file)
    os.replace(temporary, path)


# ---------------------------------------------------------------------------------------------------------------- ratios


class Ratio:
    """Their time divided by ours over the rounds; a run that was stopped gives a lower bound of its round."""

    def __init__(self, records, what):
        runs = [(number(r, f"their_{what}"), number(r, f"our_{what}"), r) for r in records]
        known = [(a / b, what == "fit" and bool(r.get("fit_bound"))) for a, b, r in runs if a == a and b == b and b > 0]
        self.all = [ratio for ratio, _ in known]
        self.open = any(bound for _, bound in known)  # the largest is a bound
        # the true median may be larger where a bound is not among the larger half
        self.bound = any(bound and ratio <= self.median() for ratio, bound in known)

    def median(self):
        return statistics.median(self.all) if self.all else math.nan

    def show(self):
        if not self.all:
            return "–"
        middle = cell(self.median())
        spread = f"{cell(min(self.all))}–{'>' if self.open else ''}{cell(max(self.all))}" if len(self.all) > 1 else "one run"
        return f"> {middle}" if self.bound else f"{middle} ({spread})"


def middle(records, name):
    values = [number(r, name) for r in records if number(r, name) == number(r, name)]
    return statistics.median(values) if values else math.nan


def cell(value, digits=3):
    return "–" if value != value else f"{value:.{digits}g}" if abs(value) < 1000 else f"{value:.0f}"


def memory(records):
    """Peak memory of both sides, with the check against LIBSVM."""
    mine, other, own = (middle(records, name) for name in ("our_mb", "their_mb", "their_own_mb"))
    text = f"{cell(mine)} / {cell(other)}"
    if own == own:
        text += f" (own {cell(own)}: {'ok' if mine <= catalogue.MEMORY_MARGIN * own else 'MORE'})"
    return text


def errors(records):
    regression = "ε=" in records[0]["setting"]
    parts = []
    for name in ("our_error", "their_error"):
        value = middle(records, name)
        parts.append("–" if value != value else f"{value:.4f}" if regression else f"{100 * value:.2f} %")
    return " / ".join(parts)


def objectives(records):
    a, b = middle(records, "our_objective"), middle(records, "their_objective")
    return "–" if a != a or b != b else f"{(a - b) / max(abs(a), abs(b), 1e-300):+.1e}"


def mean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values)) if values else math.nan


# --------------------------------------------------------------------------------------------------------------- the text


def line(key, records):
    case, peer = key
    first = records[0]
    failed = next((r["failed"] for r in records if r.get("failed")), "")
    verdict = "; ".join(w for w in (first.get("verdict", ""), blame(failed)) if w)
    seconds = " / ".join(cell(middle(records, f"{side}_fit")) for side in ("our", "their"))
    predict = " / ".join(cell(middle(records, f"{side}_predict")) for side in ("our", "their"))
    cells = [
        case, f"{first['n']}×{first['d']}" if int(first["n"]) else "–", first["setting"], catalogue.PEERS.get(peer, peer),
        Ratio(records, "fit").show(), seconds, Ratio(records, "predict").show(), predict,
        objectives(records), errors(records), memory(records), verdict,
    ]  # fmt: skip
    return "| " + " | ".join(str(c).replace("|", "/").replace("\n", " ") for c in cells) + " |"


def blame(failed):
    return failed if failed.startswith("not tried") else f"FAILED: {failed}" if failed else ""


def judge(value, goal, bound):
    if value != value:
        return "–"
    word = "reached" if value >= goal else "open" if bound else "missed"
    return f"≥ {goal:g}: {word}"


def summary(book):
    """Geometric means over the sets, beside the goals."""
    lines = ["## Means over the sets and goals", ""]
    lines += ["| against | sets | agree | training | goal | slowest set | prediction | goal | slowest set |"]
    lines += ["|---|---:|---:|---:|---|---|---:|---|---|"]
    duels, left_out = book.duels(), []
    linear = [name for name, one in catalogue.SETS.items() if one.task == "linear"]
    rows = []
    for peer, title in catalogue.PEERS.items():
        cases = [case for case, p in duels if p == peer and case in catalogue.SETS]
        kernels = [case for case in cases if case not in linear]
        # a mean over kernel and linear machines mixes two races: where there are both, each is shown as well
        if kernels and len(kernels) < len(cases):
            rows += [(peer, f"{title}, kernel sets", kernels), (peer, f"{title}, linear sets", [c for c in cases if c in linear])]
        rows.append((peer, title, cases))
    for peer, title, cases in rows:
        groups = {case: duels[case, peer] for case in cases}
        # a ratio of times to two different answers says nothing
        strange = [case for case, r in groups.items() if "objective differs" in str(r[0].get("verdict"))]
        groups = {case: r for case, r in groups.items() if case not in strange}
        cells, counted = [], {}
        for what, goals in (("fit", catalogue.TRAINING_GOALS), ("predict", catalogue.PREDICTION_GOALS)):
            ratios = {case: Ratio(r, what) for case, r in groups.items()}
            ratios = {case: r for case, r in ratios.items() if r.all}
            counted |= ratios
            value, bound = mean([r.median() for r in ratios.values()]), any(r.bound for r in ratios.values())
            goal = judge(value, goals[peer], bound) if peer in goals else ""
            worst = min(ratios, key=lambda case: ratios[case].median(), default=None)
            slowest = "–" if worst is None else f"{worst} {ratios[worst].show()}"
            if worst is not None and ratios[worst].median() < 1:
                slowest += " SLOWER"
            cells += [("≥ " if bound else "") + cell(value), goal, slowest]
        if groups:
            agree = sum(str(groups[case][0].get("verdict", "")).startswith("agrees") for case in counted)
            lines.append("| " + " | ".join([title, str(len(counted)), str(agree), *cells]) + " |")
        if strange:
            left_out.append(f"- {title}: {', '.join(strange)} left out of the means, since the objectives differ.")
    lines += ["", "Training must not be slower on any set; a mean over sets of which some were stopped is a lower bound.", ""]
    lines += left_out
    grid = duels.get(("grid", "sklearn"))
    if grid:
        ratio = Ratio(grid, "fit")
        lines.append(f"- grid: {ratio.show()} times faster; goal {judge(ratio.median(), catalogue.GRID_GOAL, ratio.bound)}.")
    for (case, _), records in duels.items():
        if case.startswith(("probability", "mnist_poly9")) and records[0].get("verdict"):
            lines.append(f"- {case}: {records[0]['verdict']}.")
    own = {c: r for (c, p), r in duels.items() if p == "libsvm" and c in catalogue.SETS}
    own = {c: r for c, r in own.items() if middle(r, "their_own_mb") > 0}
    over = [c for c, r in own.items() if middle(r, "our_mb") > catalogue.MEMORY_MARGIN * middle(r, "their_own_mb")]
    if own:
        lines.append(f"- memory: at most LIBSVM's own and a fifth more on {len(own) - len(over)} of {len(own)} sets"
                     + (f"; more on {', '.join(over)}." if over else "."))  # fmt: skip
    return lines + scaling(book)


def scaling_points(book):
    """{side: [(n, seconds, bound)]} of the sizes of MNIST, from all its cases."""
    points = {}
    cases = [k for k in book.duels() if k[0].startswith("scaling") or k[0] in ("mnist", "mnist60k")]
    if not any(case.startswith("scaling") for case, _ in cases):
        return {}
    for key in cases:
        records = book.duels()[key]
        n = int(records[0]["n"])
        for name, side in (("mercer", "our_fit"), (key[1], "their_fit")):
            value = middle(records, side)
            if value == value:
                bound = name != "mercer" and any(r.get("fit_bound") for r in records)
                points.setdefault(name, {}).setdefault(n, []).append((value, bound))
    return {
        name: [(n, statistics.median(v for v, _ in runs), any(b for _, b in runs)) for n, runs in sorted(sizes.items())]
        for name, sizes in points.items()
    }


def exponent(points):
    """The slope of log seconds over log n, by least squares; runs that were stopped do not count."""
    xy = [(math.log(n), math.log(s)) for n, s, bound in points if not bound]
    if len(xy) < 2:
        return math.nan
    mx, my = (statistics.fmean(p[k] for p in xy) for k in (0, 1))
    return sum((x - mx) * (y - my) for x, y in xy) / sum((x - mx) ** 2 for x, _ in xy)


def scaling(book):
    points = scaling_points(book)
    if not points:
        return []
    sizes = sorted({n for runs in points.values() for n, _, _ in runs})
    lines = ["", "## Training time against the number of rows of MNIST", ""]
    lines += ["| | " + " | ".join(str(n) for n in sizes) + " | exponent |", "|---|" + "---:|" * (len(sizes) + 1)]
    for name, runs in points.items():
        known = {n: ("> " if bound else "") + cell(s) for n, s, bound in runs}
        title = catalogue.PEERS.get(name, name)
        lines.append(f"| {title} | " + " | ".join(known.get(n, "–") for n in sizes) + f" | {cell(exponent(runs))} |")
    return lines


def markdown(book):
    settings = book.settings
    head = [
        f"# The race of support vector machines ({settings.mode} run)",
        "",
        f"{time.strftime('%Y-%m-%d')}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"{settings.threads} threads for all sides; load average {settings.load:.1f} at the start.",
        f"{settings.versions}.",
        f"Tolerance {catalogue.TOLERANCE:g}, cache {catalogue.CACHE_MB} MB, limit of a single run {settings.limit:g} s.",
        "",
        "Ratios are their time divided by ours: median (smallest–largest) of the rounds; `>` is a lower bound, since the peer",
        "was stopped. Pairs are ours / theirs. Objective: (ours − theirs) / size, both recomputed; smaller is better. For",
        "LIBSVM, `own` is its memory without Python. bench/README.md says what is measured and how.",
        "",
        "| set | rows | setting | against | training | s | prediction | s | objective | test error | peak MB | verdict |",
        "|---|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    body = [line(key, records) for key, records in book.duels().items()]
    return "\n".join([*head, *body, "", *summary(book)]) + "\n"
