"""mercer: kernel methods with scikit-learn's habits.

>>> from mercer import SVC                 # instead of: from sklearn.svm import SVC
>>> from mercer.kernels import Linear, Rbf
>>> k = Rbf(gamma=0.5) + 0.1 * Linear()    # kernels are objects
"""

from mercer import bounds, kernels, plot
from mercer._certify import plan
from mercer._checks import expected_failed_checks
from mercer._data import Items, pack_sets
from mercer._explain import explain, usual_estimator, usual_grid
from mercer._kernel import Kernel, kernel
from mercer._load import load
from mercer._native import __version__
from mercer._patch import patch_sklearn, unpatch_sklearn
from mercer._skl2onnx import register_skl2onnx
from mercer.decomposition import KernelPCA
from mercer.estimators import *  # noqa: F403
from mercer.estimators import __all__ as _generated
from mercer.geometry import (
    alignment_test,
    hsic_test,
    matrix_function,
    measure,
    mmd_test,
    rank_one_eigenvalues,
    repair,
    spectral_stability,
    update_covariance,
)
from mercer.kernel_ridge import KernelRidge
from mercer.model_selection import MercerSearchCV
from mercer.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

__all__ = [
    "SVC", "SVR", "Items", "Kernel", "KernelPCA", "KernelRidge", "LinearSVC", "LinearSVR", "MercerSearchCV", "NuSVC", "NuSVR", "OneClassSVM",
    "__version__", "alignment_test", "bounds", "expected_failed_checks", "explain", "hsic_test", "kernel", "kernels", "load", "matrix_function", "measure", "mmd_test", "pack_sets", "patch_sklearn", "plan", "plot", "register_skl2onnx", "rank_one_eigenvalues", "repair", "spectral_stability", "unpatch_sklearn", "update_covariance", "usual_estimator", "usual_grid", *_generated,
]  # fmt: skip
