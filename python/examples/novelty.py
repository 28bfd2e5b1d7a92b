"""What is unusual: one-class machines learn from usual examples only, and rank new ones."""

from __future__ import annotations

import mercer
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X = X / 16
    usual = X[y == 4]
    train, held_back = usual[:120], usual[120:]
    others = X[y != 4]
    machines = {
        "OneClassSVM": mercer.OneClassSVM(nu=0.1, gamma=0.05),
        "Svdd": mercer.Svdd(nu=0.1, kernel="rbf(gamma=0.05)"),
    }
    for name, machine in machines.items():
        machine.fit(train)
        scores = np.concatenate([machine.decision_function(held_back), machine.decision_function(others)])
        truth = np.repeat([1, 0], [len(held_back), len(others)])
        kept = np.mean(machine.predict(held_back) == 1)
        found = np.mean(machine.predict(others) == -1)
        auc = roc_auc_score(truth, scores)
        print(f"{name}: AUC {auc:.3f}; keeps {kept:.0%} of new fours, finds {found:.0%} of others")
    order = np.argsort(machines["OneClassSVM"].decision_function(train))
    print(f"the three most unusual fours to learn from: {order[:3].tolist()}")


if __name__ == "__main__":
    main()
