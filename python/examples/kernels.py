"""Kernels are objects: they print as formulas, compute matrices, combine, and can be searched."""

from __future__ import annotations

import mercer
from mercer.kernels import Laplacian, Linear, Polynomial, Rbf
from sklearn.datasets import make_circles
from sklearn.model_selection import GridSearchCV, cross_val_score


def main() -> None:
    X, y = make_circles(300, noise=0.15, factor=0.5, random_state=0)
    candidates: list[mercer.Kernel] = [
        Linear(),
        Polynomial(degree=2),
        Rbf(gamma=1.0),
        Laplacian(gamma=1.0),
        Rbf(gamma=1.0) + 0.1 * Linear(),
        mercer.kernel("normalise(polynomial(degree=3))"),
    ]
    for k in candidates:
        score = cross_val_score(mercer.SVC(kernel=k), X, y).mean()
        print(f"{score:.3f}  {k}  ({k.definite})")

    grid = {"kernel__gamma": [0.1, 0.3, 1.0, 3.0, 10.0], "C": [0.1, 1.0, 10.0]}
    search = GridSearchCV(mercer.SVC(kernel=Rbf()), grid).fit(X, y)
    print(f"{search.best_score_:.3f}  best of the search: {search.best_params_}")


if __name__ == "__main__":
    main()
