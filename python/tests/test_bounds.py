"""Theorems of learning theory as functions of numbers."""

import inspect
import json
import math

import mercer
import pytest
from mercer import _native, bounds


def test_every_theorem_of_the_catalogue_is_a_function_with_its_example():
    entries = {entry["name"]: entry for entry in json.loads(_native.theorems())}
    assert set(entries) == set(bounds.__all__)
    assert mercer.bounds is bounds
    for name, entry in entries.items():
        function = getattr(bounds, name)
        spelled = list(inspect.signature(function).parameters)
        assert spelled == ["lam" if i["name"] == "lambda" else i["name"] for i in entry["inputs"]]
        given = {}
        for key, text in entry["example"]:
            numbers = [float(word) for word in text.split(",")]
            listed = next(i["list"] for i in entry["inputs"] if i["name"] == key)
            given["lam" if key == "lambda" else key] = numbers if listed else numbers[0]
        assert function(**given) == pytest.approx(entry["value"], rel=1e-9, abs=1e-12)


def test_values_are_those_of_the_formulas():
    assert bounds.c_bound(gibbs=0.3, disagreement=0.4) == pytest.approx(1 - 0.4**2 / 0.2)
    m, kl, lam = 1000, 20.0, 0.5
    wanted = 0.05 / 0.75 + (kl + math.log(2 * math.sqrt(m) / 0.05)) / (m * lam * 0.75)
    assert bounds.pac_bayes_lambda(training_error=0.05, divergence=kl, lam=lam, examples=m) == pytest.approx(wanted)
    assert bounds.local_rademacher(eigenvalues=(4, 1, 0.2), radius=0.5, examples=4) == pytest.approx(math.sqrt(0.4))
    assert math.isinf(bounds.covering_bound(log2_cover=600, examples=1000))


def test_wrong_inputs_are_named_with_their_remedy():
    with pytest.raises(ValueError, match="gibbs = 2 must be between 0 and 1"):
        bounds.c_bound(gibbs=2, disagreement=0.4)
    with pytest.raises(ValueError, match="one length"):
        bounds.subset_posterior(errors=[0.1, 0.2], priors=[0.5], examples=100)
    with pytest.raises(TypeError):
        bounds.c_bound(gibbs=0.2)
