"""Every plot of the package, as files in the working folder (or the one named as argument)."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import mercer
import numpy as np
from mercer import plot
from mercer.kernels import Rbf
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import GridSearchCV


def main(folder: Path) -> None:
    plt.switch_backend("agg")  # files, no windows
    X, y = make_moons(900, noise=0.25, random_state=0)
    train, test = slice(0, 200), slice(200, None)
    iris = load_iris(as_frame=True)
    names = iris.target_names[iris.target]
    grid = {"C": np.logspace(-1, 3, 5), "gamma": np.logspace(-2, 2, 5)}
    search = GridSearchCV(mercer.SVC(), grid).fit(X[train], y[train])
    best = mercer.SVC(**search.best_params_, probability=True, random_state=0).fit(X[train], y[train])
    petals = ("petal length (cm)", "petal width (cm)")
    pictures = {
        "surface": plot.decision_surface(best, X[train], y[train]),
        "regions": plot.decision_surface(mercer.SVC().fit(iris.data, names), iris.data, names, features=petals),
        "novelty": plot.decision_surface(mercer.OneClassSVM(nu=0.1, gamma=1.0).fit(X[train]), X[train]),
        "gram": plot.gram(Rbf(gamma=0.3), iris.data.to_numpy(), names),
        "spectrum": plot.spectrum(Rbf(gamma=0.3), iris.data.to_numpy(), centred=True),
        "reliability": plot.reliability(best, X[test], y[test]),
        "search": plot.search(search),
    }
    for name, ax in pictures.items():
        path = folder / f"{name}.png"
        plt.sca(ax)
        plt.savefig(path, dpi=150)
        print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
