"""scikit-learn's own checks, for every estimator."""

import mercer
import pytest
import sklearn
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

ESTIMATORS = [
    mercer.SVC(),
    mercer.NuSVC(),
    mercer.SVR(),
    mercer.NuSVR(),
    mercer.OneClassSVM(),
    mercer.LinearSVC(),
    mercer.LinearSVR(),
    mercer.KernelRidge(),
    mercer.KernelPCA(),
    mercer.NearestMean(),
    mercer.Svdd(),
    mercer.CentreOfMass(),
    mercer.Quantile(),
    mercer.Expectile(),
    mercer.Perceptron(),
    mercer.PacBayes(),
    mercer.Parzen(),
    mercer.ParzenDensity(),
    mercer.Adatron(),
    mercer.RegularisedFisher(),
    mercer.KernelKMeans(),
    mercer.SpectralClustering(),
    mercer.EmpiricalMap(),
    mercer.WhitenedMap(),
    mercer.IncompleteCholesky(),
    mercer.Knn(),
    mercer.KnnRegression(),
    mercer.Adaboost(),
    mercer.LogisticRegression(),
    mercer.RbfNetwork(),
    mercer.LinearRegression(),
    mercer.RbfNetworkRegression(),
    mercer.Kfd(),
    mercer.RobustKfd(),
    mercer.HuberKfd(),
    mercer.SparseKfd(),
    mercer.LinearSparseKfd(),
    mercer.LpMachine(),
    mercer.LpBoost(),
    mercer.KernelLogistic(),
    mercer.RegularisedRisk(),
    mercer.InvariantKfd(),
    mercer.RobustRegression(),
    mercer.HuberRegression(),
    mercer.SparseRegression(),
    mercer.LinearSparseRegression(),
    mercer.RegularisedRiskRegression(),
    mercer.OrientedKpca(),
    mercer.Kda(),
    mercer.LinearFisher(),
    # checks of old versions have fewer examples of a class than coordinates, whose covariance is singular
    mercer.QuadraticDiscriminant(gamma=0.01 if parse_version(sklearn.__version__) < parse_version("1.7") else 0.0),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=mercer.expected_failed_checks)
def test_check(estimator, check):
    check(estimator)


def test_no_estimator_has_many_exceptions():
    for estimator in ESTIMATORS:
        exceptions = mercer.expected_failed_checks(estimator)
        assert len(exceptions) <= 4, type(estimator).__name__
        assert all(isinstance(reason, str) and reason for reason in exceptions.values())


def test_every_machine_has_an_estimator():
    import json

    from mercer import _native

    known = {type(e)._machine for e in ESTIMATORS}
    assert {m["name"] for m in json.loads(_native.machines())} == known


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_every_estimator_explains_itself(estimator):
    assert type(estimator).__doc__ and len(type(estimator).__doc__) > 40
