"""Which of scikit-learn's checks an estimator fails, and why that is right."""

from __future__ import annotations

from typing import Any

# The solution is found to a tolerance and by steps in another order: that of repeated examples agrees to the tolerance, not
# to the 1e-7 that the check asks for. scikit-learn's own classes are excused from it for the same reason.
_WEIGHTS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "weights and repetitions agree to the tolerance of the solver only"
    for kind in ("dense", "sparse")
}
REASONS = dict.fromkeys(("SVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVR", "Svdd", "Quantile"), _WEIGHTS)
# beside that, gamma=scale is the scale of the examples as they are, which weights do not change and repetitions do
for _name in ("RobustKfd", "HuberKfd", "LinearSparseKfd", "LpMachine", "LpBoost", "KernelLogistic", "RegularisedRisk",
              "SparseKfd", "RobustRegression", "HuberRegression", "SparseRegression", "LinearSparseRegression",
              "RegularisedRiskRegression"):  # fmt: skip
    REASONS[_name] = dict.fromkeys(_WEIGHTS, "gamma=scale is learned from the examples, which weights do not change")
# Newton's method, which dense data of few coordinates get, ends at the minimum itself
REASONS["LinearSVC"] = {name: why for name, why in _WEIGHTS.items() if "sparse" in name}
# as in scikit-learn: ν bounds the share of errors whatever a class weighs
REASONS["NuSVC"] = {**_WEIGHTS, "check_class_weight_classifiers": "class_weight moves no share of errors between classes"}

# the farthest training example is at the boundary, and none is beyond it: that is what the detector promises
REASONS["CentreOfMass"] = dict.fromkeys(
    ("check_outliers_train", "check_outliers_fit_predict"), "no training example is ever novel"
)

# an example that is there twice has two coefficients, and their squares are less than the square of their sum
REASONS["Kfd"] = {
    **dict.fromkeys(_WEIGHTS, "a penalty on coefficients counts an example that is there twice as two"),
    "check_class_weight_classifiers": "the threshold is placed anew, on outputs that fit the training examples of light classes",
}

# so few examples, of which some weigh nothing, have no covariance that could be inverted
for _name in ("LinearFisher", "QuadraticDiscriminant"):
    REASONS[_name] = dict.fromkeys(
        (*_WEIGHTS, "check_sample_weights_shape", "check_sample_weights_not_overwritten"),
        "the covariance of so few examples is singular, which is said",
    )
# the same penalty on coefficients
for _name in ("Kda", "OrientedKpca"):
    REASONS[_name] = dict.fromkeys(_WEIGHTS, "a penalty on coefficients counts an example that is there twice as two")
REASONS["InvariantKfd"] = dict(REASONS["Kfd"])
REASONS["OrientedKpca"]["check_fit2d_1sample"] = "one example has no covariance, which is said in other words"

# a weight multiplies a vote, but k counts examples
for _name in ("Knn", "KnnRegression"):
    REASONS[_name] = dict.fromkeys(_WEIGHTS, "k counts repeated examples, and a weighted one once")


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """The checks of :func:`sklearn.utils.estimator_checks.check_estimator` that an estimator fails, with the reason."""
    return dict(REASONS.get(type(estimator).__name__, {}))
