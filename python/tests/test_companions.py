"""Noise, changed copies and points of expansions beside the examples."""

import mercer
import numpy as np
import pytest


def images(n, seed=0):
    """Blobs of 8 x 8 pixels whose class is their height; where they stand from left to right means nothing."""
    random = np.random.default_rng(seed)
    x, height = 1 + 5 * random.random(n), np.where(np.arange(n) % 2 == 0, 2.2, 4.3) + 0.5 * random.normal(size=n)
    u, v = np.meshgrid(np.arange(8.0), np.arange(8.0))
    bright = np.exp(-((u.ravel() - x[:, None]) ** 2 + (v.ravel() - height[:, None]) ** 2) / 2)
    return bright + 0.05 * random.normal(size=bright.shape), np.where(np.arange(n) % 2 == 0, "high", "low")


def moved(X):
    return np.roll(X.reshape(-1, 8, 8), 1, axis=2).reshape(len(X), 64)


def test_a_tangent_makes_outputs_blind_to_the_change():
    X, y = images(60)
    spread = []
    for more in ("", " + 100*tangent"):
        machine = mercer.InvariantKfd(unwanted=f"within + 0.001*coefficients{more}", kernel="rbf(gamma=0.05)")
        machine.fit(X, y, copies={"shift": moved(X)})
        scores = machine.decision_function(X)
        spread.append(np.std(scores - machine.decision_function(moved(X))) / np.std(scores))
    assert spread[1] < 0.5 * spread[0]


def test_points_carry_the_function():
    X, y = images(60)
    machine = mercer.InvariantKfd(expansion="points", kernel="rbf(gamma=0.05)").fit(X, y, points=images(12, 1)[0])
    assert machine.report_["support"] == 12
    assert np.mean(machine.predict(X) == y) > 0.8


def test_directions_avoid_noise():
    random = np.random.default_rng(2)
    X = random.normal(size=(80, 2)) * [1.0, 2.0]
    noise = random.normal(size=(50, 2)) * [0.1, 3.0]
    plain = mercer.OrientedKpca(components=1, kernel="linear").fit_transform(X)
    oriented = mercer.OrientedKpca(components=1, unwanted="noise + 0.01*norm", kernel="linear").fit(X, noise=noise)
    across = [abs(np.corrcoef(z.ravel(), X[:, 0])[0, 1]) for z in (plain, oriented.transform(X))]
    assert across[0] < 0.5 and across[1] > 0.95


def test_discriminant_analysis_is_a_transformer_of_classes():
    X, y = images(40)
    Z = mercer.Kda(kernel="rbf(gamma=0.05)").fit_transform(X, y)
    assert Z.shape == (40, 1)


def test_machines_that_take_none_have_no_such_argument():
    X, y = images(20)
    with pytest.raises(TypeError, match="copies"):
        mercer.Kfd().fit(X, y, copies={"shift": moved(X)})
