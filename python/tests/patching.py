"""A plugin of pytest: puts mercer in scikit-learn's place before any test is imported, and writes how every test came out."""

import json
import os

import mercer

mercer.patch_sklearn()
outcomes = {}


def pytest_runtest_logreport(report):
    name = report.nodeid.rsplit("/", 1)[-1]
    # the call decides, unless setting up has skipped it or failed
    if report.when == "call" or report.outcome != "passed":
        outcomes[name] = report.outcome


def pytest_sessionfinish():
    with open(os.environ["MERCER_OUTCOMES"], "w", encoding="utf-8") as out:
        json.dump(outcomes, out)
