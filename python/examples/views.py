"""Numbers and strings in one model: each view has its kernel, and their sum sees both."""

from __future__ import annotations

import mercer
import numpy as np
import numpy.typing as npt
from mercer.kernels import Rbf, Spectrum


def make(n: int, seed: int) -> tuple[npt.NDArray[np.float64], list[str], npt.NDArray[np.int64]]:
    """Two measurements and a sequence for each example; the class moves both a little."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 2)) + 1.2 * y[:, None]
    letters = [[0.31, 0.19, 0.19, 0.31], [0.19, 0.31, 0.31, 0.19]]
    dna = ["".join(rng.choice(list("ACGT"), 25, p=letters[c])) for c in y]
    return x, dna, y


def main() -> None:
    x, dna, y = make(300, seed=0)
    x_new, dna_new, y_new = make(1000, seed=1)
    on_x, on_dna = Rbf(gamma=0.2) @ "x", Spectrum(length=2).normalise() @ "dna"
    for k in (on_x, on_dna, on_x + on_dna):
        model = mercer.SVC(kernel=k).fit({"x": x, "dna": dna}, y)
        right = np.mean(model.predict({"x": x_new, "dna": dna_new}) == y_new)
        print(f"{right:.3f}  {k}")


if __name__ == "__main__":
    main()
