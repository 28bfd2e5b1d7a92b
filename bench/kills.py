"""Kills mercer at random moments while it replaces an older output, and looks at what is left.

    python bench/kills.py --mercer target/release/mercer

For each of four commands the output already exists. The command is started and gets SIGTERM, SIGINT, SIGHUP or SIGKILL, in turn, at
a moment drawn uniformly from the time that it takes undisturbed. Under the name of the output there must then be the old file or the
new one, byte for byte, and whatever model was saved beside it must load. Where a killed run left a file aside, the command is run
again and must have cleared it away. The program exits with 1 if anything was lost. It needs Unix, and nothing but Python.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL]

# name, the command with the output as its last word, and a command that makes an older output
COMMANDS = [
    ("fit", "fit banana.csv -m svc --c 1e4 --tolerance 1e-9 -o", "fit small.csv -m svc -o", "m.mercer"),
    ("select", "select small.csv -m svc --grid c=0.1..1e4:log6,gamma=0.1|1|10 -o", "fit small.csv -m svc -o", "m.mercer"),
    ("predict", "predict model.mercer large.csv --scores -o", "predict model.mercer small.csv -o", "p.csv"),
    ("convert", "convert large.csv", "convert small.csv", "c.svm"),
]


class Place:
    """A folder in which the program runs."""

    def __init__(self, mercer, folder, size):
        self.mercer, self.folder = mercer, Path(folder)
        for name, n in [("small.csv", 300), ("banana.csv", size), ("large.csv", 50 * size)]:
            self.run(f"data banana --n {n} -o {name}")
        self.run("fit small.csv -m svc -o model.mercer")
        self.given = {path.name for path in self.folder.iterdir()}

    def start(self, line):
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([self.mercer, *line.split()], cwd=self.folder, **quiet)

    def run(self, line):
        code = self.start(line).wait()
        if code != 0:
            sys.exit(f"mercer {line} ended with {code}")

    def made(self):
        """The names of the files that a command made."""
        return {path.name for path in self.folder.iterdir()} - self.given


def kills_of(place, rng, count, command, older, output):
    """Kills one command so often; counts of what was found."""
    found = dict.fromkeys(["old", "new", "beside", "lost", "left", "stayed"], 0)
    target = place.folder / output
    place.run(f"{older} {output}")
    old = target.read_bytes()
    started = time.monotonic()
    place.run(f"{command} {output}")
    seconds, new = time.monotonic() - started, target.read_bytes()
    assert old != new
    for k in range(count):
        target.write_bytes(old)
        child = place.start(f"{command} {output}")
        time.sleep(rng.uniform(0, seconds))
        child.send_signal(SIGNALS[k % len(SIGNALS)])
        child.wait()
        now = target.read_bytes() if target.exists() else None
        found["old" if now == old else "new" if now == new else "lost"] += 1
        for name in place.made() - {output}:
            if name.endswith(".part"):
                found["left"] += 1
                continue
            shown = place.start(f"show {name}").wait() == 0
            found["beside" if shown else "lost"] += 1
            (place.folder / name).unlink()
        if place.made() != {output}:
            place.run(f"{command} {output}")
            found["lost"] += target.read_bytes() != new
            found["stayed"] += len(place.made() - {output})
    target.unlink()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mercer", required=True, type=Path, help="the program")
    parser.add_argument("--kills", type=int, default=200, help="how many kills in all")
    parser.add_argument("--size", type=int, default=4000, help="examples of the table that is fitted")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    names = ", ".join(s.name for s in SIGNALS)
    print(f"{given.kills} kills by {names} in turn, at moments drawn uniformly (seed {given.seed})\n")
    columns = ["command", "kills", "old output", "new output", "best so far beside", "lost or damaged", "files left", "after the next run"]
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|")
    totals = dict.fromkeys(["old", "new", "beside", "lost", "left", "stayed"], 0)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(given.mercer.resolve(), folder, given.size)
        for part, (name, command, older, output) in enumerate(COMMANDS):
            count = given.kills * (part + 1) // len(COMMANDS) - given.kills * part // len(COMMANDS)
            found = kills_of(place, rng, count, command, older, output)
            print("| " + " | ".join(str(cell) for cell in [f"`{name}`", count, *found.values()]) + " |", flush=True)
            for key, value in found.items():
                totals[key] += value
    print("| " + " | ".join(str(cell) for cell in ["all", given.kills, *totals.values()]) + " |")
    sys.exit(1 if totals["lost"] or totals["stayed"] else 0)


if __name__ == "__main__":
    main()
