"""What long work says while it runs."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Optional

# (phase, steps done, steps in all if known, the present violation if there is one)
Callback = Callable[[str, int, Optional[int], Optional[float]], Any]


class Progress:
    """A line on standard error that follows the work; what `verbose=True` shows.

    Examples
    --------
    >>> import sys
    >>> line = Progress("SVC", sys.stdout)
    >>> line("optimisation", 200, None, 0.5); line.end()
    SVC: optimisation, 200 steps, violation 0.5
    """

    def __init__(self, name: str, out: Any = None) -> None:
        self._name, self._out = name, out
        self._length, self._last = 0, float("-inf")

    def __call__(self, phase: str, done: int, total: int | None, violation: float | None) -> None:
        """Writes the line again, a few times a second at most."""
        now = time.monotonic()
        if now - self._last < 0.2:
            return
        self._last = now
        steps = f"{done} steps" if total is None else f"{done} of {total}"
        sharp = "" if violation is None else f", violation {violation:.3g}"
        text = f"{self._name}: {phase}, {steps}{sharp}"
        out = self._out or sys.stderr
        # a file gets lines, a terminal one line that changes
        out.write(f"\r{text:<{self._length}}" if out.isatty() else f"{text}\n")
        out.flush()
        self._length = len(text)

    def end(self) -> None:
        """Leaves the line."""
        out = self._out or sys.stderr
        if self._length and out.isatty():
            out.write("\n")
