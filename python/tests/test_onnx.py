"""ONNX files: onnxruntime says what mercer says, to 1e-12 of the size of the scores, and labels exactly."""

import os
import shutil
import subprocess
import warnings
from pathlib import Path

import mercer
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_blobs

onnx = pytest.importorskip("onnx", reason="no wheel of onnx for this interpreter")
runtime = pytest.importorskip("onnxruntime", reason="no wheel of onnxruntime for this interpreter")

NEAR = 1e-12

KERNELS = [
    "linear()", "polynomial(degree=1, gamma=0.5, offset=0.25)", "polynomial(degree=2, gamma=0.05, offset=0)", "polynomial(degree=3, gamma=0.03)",
    "polynomial(degree=7, gamma=0.003)", "sigmoid(gamma=0.1, offset=-0.2)", "rbf(gamma=0.1)", "rbf(gamma=30)",
    "ard(lengths=[0.5, 2, 7])", "ard(lengths=[3])", "matern(nu=0.5, length=2)", "matern(nu=1.5, length=2)",
    "matern(nu=2.5, length=0.7)", "distance(beta=1)", "distance(beta=2)", "distance(beta=0.7)", "laplacian(gamma=0.2)", "chi2()",
    "rank_one(f=norm)", "rank_one(f=sum)", "rank_one(f=coordinate, index=2)",
]  # fmt: skip
COMPOSITES = [
    "rbf(gamma=0.1) + 0.1*linear()", "2.5*rbf(gamma=0.1)", "linear() + 3", "rbf(gamma=0.1) * polynomial(degree=2)",
    "(0.03*linear() + 1)^3", "exp(0.02*linear())", "normalise(linear())", "normalise(polynomial(degree=2))",
    "normalise(exp(0.02*linear()) + rbf(gamma=0.3))", "centre(linear())", "centre(rbf(gamma=0.1))", "centre(distance(beta=1))",
    "normalise(centre(polynomial(degree=2)))", "rbf(chi2(), gamma=0.1)", "rbf(polynomial(degree=2), gamma=0.01)",
    "rbf(distance(beta=1), gamma=0.1)", "rbf(centre(normalise(linear())), gamma=0.5)", "rank_one(f=norm) * rbf(gamma=0.1)",
    "rbf(gamma=0.1) + noise(variance=0.5)", "rbf(rbf(gamma=0.1) + noise(variance=0.5), gamma=0.5)",
    "laplacian(gamma=0.1) * laplacian(gamma=0.2) + matern(nu=0.5) + distance(beta=1.3)",
    "normalise(chi2()) + 0.5*centre(laplacian(gamma=0.2))", "rank_one(f=coordinate, index=9) + rbf(gamma=0.1)",
]  # fmt: skip


def blobs(classes, n=90, seed=0):
    X, y = make_blobs(n, 3, centers=classes, random_state=seed, cluster_std=3.0)
    return np.abs(X), y


def fresh(n=40, seed=1):
    """New examples, also where no training example is; nowhere negative, for chi2."""
    return np.abs(np.random.default_rng(seed).normal(size=(n, 3)) * 6)


def run(data, inputs):
    """What a file says, by the names of its outputs; the file is checked first."""
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
    feeds = inputs if isinstance(inputs, dict) else {"x": np.asarray(inputs, dtype=np.float64)}
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))


def exported(model):
    """The bytes, where a note (chi2 checks no signs) is no matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.to_onnx()


def raw(model, X):
    """The scores of the core, before a facade spells them in scikit-learn's way."""
    from mercer._data import views_of

    return model._model.scores(views_of(X), 1)


def close(ours, theirs, near=NEAR):
    assert ours.dtype == np.float64 and ours.shape == theirs.shape
    assert np.isfinite(ours).all()
    scale = np.abs(theirs).max()
    assert scale > 0 and np.abs(ours - theirs).max() <= near * scale, np.abs(ours - theirs).max() / scale


@pytest.mark.parametrize("kernel", KERNELS + COMPOSITES)
@pytest.mark.parametrize("classes", [2, 4])
def test_every_kernel_and_combination(kernel, classes):
    X, y = blobs(classes)
    model = mercer.SVC(kernel=mercer.kernel(kernel), max_iter=20000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of these kernels do not separate, and are stopped
        model.fit(X, y)
    new = fresh()
    found = run(exported(model), new)
    assert set(found) == {"scores", "code", "label"}
    close(found["scores"], raw(model, new))
    predicted = model.predict(new)
    np.testing.assert_array_equal(model.classes_[found["code"]], predicted)
    np.testing.assert_array_equal(found["label"].astype(int), predicted)
    assert found["code"].dtype == np.int64


def test_two_classes_have_the_sign_of_the_first():
    X, y = blobs(2)
    model = mercer.SVC().fit(X, y)
    new = fresh()
    close(-run(model.to_onnx(), new)["scores"].ravel(), model.decision_function(new))
    pairs = mercer.SVC(decision_function_shape="ovo").fit(*blobs(4))
    close(run(pairs.to_onnx(), new)["scores"], pairs.decision_function(new))


@pytest.mark.parametrize("kernel", ["rbf(gamma=0.1)", "normalise(linear())", "polynomial(degree=2, gamma=0.03)", "centre(rbf(gamma=0.1))"])
def test_values_of_regressions_and_components(kernel):
    X, _ = blobs(3)
    new, rng = fresh(), np.random.default_rng(2)
    targets = np.stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2] / 9], axis=1) + 0.1 * rng.normal(size=(len(X), 2))
    k = mercer.kernel(kernel)
    svr = mercer.SVR(kernel=k, C=5).fit(X, targets[:, 0])
    close(run(svr.to_onnx(), new)["values"], svr.predict(new)[:, None])
    nu = mercer.NuSVR(kernel=k).fit(X, targets[:, 0])
    close(run(nu.to_onnx(), new)["values"], nu.predict(new)[:, None])
    for y in (targets, targets[:, 0]):
        ridge = mercer.KernelRidge(alpha=0.5, kernel=k).fit(X, y)
        close(run(ridge.to_onnx(), new)["values"], ridge.predict(new).reshape(len(new), -1))
    pca = mercer.KernelPCA(2, kernel=k).fit(X)
    found = run(pca.to_onnx(), new)["values"]
    close(found, raw(pca, new))
    close(np.abs(found), np.abs(pca.transform(new)))


@pytest.mark.parametrize("kernel", ["centre(rbf(gamma=0.1))", "rbf(centre(linear()), gamma=scale)", "normalise(centre(rbf(gamma=0.1)))"])
def test_a_centre_that_is_that_of_a_part(kernel):
    X, _ = blobs(3)
    new, y = fresh(), np.sin(X[:, 0])
    parts = [mercer.KernelRidge(alpha=0.5, kernel=mercer.kernel(kernel), conformal=c).fit(X, y) for c in (None, "full")]
    whole, part = [run(exported(model), new)["values"] for model in parts]
    for values, model in ((whole, parts[0]), (part, parts[1])):
        close(values, model.predict(new)[:, None])
    assert np.abs(whole - part).max() > 1e-6 * np.abs(whole).max()


@pytest.mark.parametrize("kernel", ["rbf(gamma=0.1)", "linear()", "polynomial(degree=2)", "chi2() + rank_one(f=sum)",
                                    "normalise(linear())", "centre(normalise(linear())) + noise(variance=0.1)"])  # fmt: skip
def test_detectors(kernel):
    X, _ = blobs(1)
    new = np.concatenate([fresh(), X])
    for detector in (mercer.Svdd(nu=0.3, kernel=mercer.kernel(kernel)), mercer.OneClassSVM(nu=0.3, kernel=mercer.kernel(kernel))):
        detector.fit(X)
        found = run(exported(detector), new)
        close(found["scores"], detector.decision_function(new)[:, None])
        np.testing.assert_array_equal(found["code"], detector.decision_function(new) < 0)
        np.testing.assert_array_equal(found["label"] == "inlier", detector.predict(new) == 1)
        # under noise a new example is never as near to itself as a training example is
        assert "noise" in kernel or set(found["label"]) == {"inlier", "outlier"}


def test_linear_machines_keep_their_weights():
    new = fresh()
    for classes in (2, 4):
        X, y = blobs(classes)
        model = mercer.LinearSVC().fit(X, y)
        found = run(model.to_onnx(), new)
        close(found["scores"], raw(model, new))
        np.testing.assert_array_equal(found["label"].astype(int), model.predict(new))
        mean = mercer.NearestMean(kernel="rbf(gamma=0.1)").fit(X, y)
        found = run(mean.to_onnx(), new)
        close(found["scores"], raw(mean, new))
        np.testing.assert_array_equal(found["label"].astype(int), mean.predict(new))
    model = mercer.LinearSVR().fit(X, X[:, 0] - 2 * X[:, 1])
    close(run(model.to_onnx(), new)["values"], model.predict(new)[:, None])


@pytest.mark.parametrize("kernel", ["rbf(gamma=0.1)", "ard(lengths=[1, 2, 3])", "matern(nu=0.5)", "matern(nu=1.5)", "matern(nu=2.5)",
                                    "laplacian(gamma=0.1)", "distance(beta=1)", "distance(beta=2)"])  # fmt: skip
@pytest.mark.parametrize("far", [1e3, 1e6])
def test_data_far_from_the_origin(kernel, far):
    # multiples of 2⁻⁹ stay what they are where they are moved to
    X, y = blobs(4)
    X, new = np.round(X * 512) / 512, np.round(fresh() * 512) / 512
    model = mercer.SVC(kernel=mercer.kernel(kernel)).fit(X + far, y)
    found = run(model.to_onnx(), new + far)
    close(found["scores"], raw(model, new + far))


def test_roots_of_distances_are_exact_where_examples_meet():
    X, y = blobs(2)
    for kernel, value in (("matern(nu=0.5, length=2)", lambda d: np.exp(-d / 2)), ("distance(beta=1)", lambda d: -d)):
        model = mercer.SVC(kernel=mercer.kernel(kernel)).fit(X, y)
        form, alpha = model._model.coefficients
        distances = np.sqrt(((X[:, None] - X[model.support_][None]) ** 2).sum(-1))
        wanted = value(distances) @ alpha + model._model.offsets
        assert form == "pairwise"
        close(run(model.to_onnx(), X)["scores"], wanted)


@pytest.mark.parametrize("kernel, of", [("polynomial(degree=2, offset=0)", lambda p: p**2), ("polynomial(degree=2)", lambda p: (p + 1) ** 2),
                                        ("(linear() + 1)^3", lambda p: (p + 1) ** 3)])  # fmt: skip
def test_sums_that_cancel_are_as_good_as_those_of_the_core(kernel, of):
    # scores of about 10 are left of terms of 10⁶, so 1e-12 of the scores is beyond both: neither is nearer to the truth
    # than some 1e-11, and they agree to the last digits of the terms
    X, y = blobs(2)
    new = fresh()
    model = mercer.SVC(kernel=mercer.kernel(kernel), max_iter=20000).fit(X, y)
    _, alpha = model._model.coefficients
    long = np.longdouble
    values = of(new.astype(long) @ X[model.support_].astype(long).T)
    exact, terms = values @ alpha + model._model.offsets, float((np.abs(values) @ np.abs(alpha)).max())
    found, core = run(model.to_onnx(), new)["scores"], raw(model, new)
    assert np.abs(core).max() < 1e-3 * terms
    for one, other in ((found, core), (found, exact), (core, exact)):
        assert np.abs(one - other).max() <= 2e-15 * terms


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_probabilities_of_pairs(classes):
    X, y = blobs(classes, 150)
    model = mercer.SVC(probability=True, gamma=0.05, random_state=0).fit(X, y)
    new = np.concatenate([fresh(200), X])
    found = run(model.to_onnx(), new)
    wanted = model.predict_proba(new)
    assert np.abs(found["probabilities"] - wanted).max() <= (1e-13 if classes == 2 else 1e-9)
    np.testing.assert_array_equal(found["probabilities"].argmax(axis=1), found["code"])
    np.testing.assert_array_equal(model.classes_[found["code"]], model.predict(new))


def test_probabilities_never_contradict_the_label():
    # few and mixed examples: curves and votes often disagree
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    new = rng.normal(size=(400, 3)) * 1.5
    for classes in (2, 3):
        keep = y < classes
        model = mercer.SVC(probability=True, random_state=0).fit(X[keep], y[keep])
        found = run(model.to_onnx(), new)
        wanted = model.predict_proba(new)
        moved = np.isclose(*np.sort(wanted, axis=1)[:, -2:].T, rtol=0, atol=1e-15)
        assert moved.any(), "no probabilities had to give way"
        assert np.abs(found["probabilities"] - wanted).max() <= (1e-13 if classes == 2 else 1e-9)
        np.testing.assert_array_equal(found["probabilities"].argmax(axis=1), found["code"])


def test_ties_and_empty_batches():
    X = np.array([[-1.0], [1.0]])
    model = mercer.SVC(kernel="linear").fit(X, [0, 1])
    found = run(model.to_onnx(), [[0.0]])
    assert found["scores"] == 0 and found["code"] == 1 and model.predict([[0.0]]) == 1
    X, y = blobs(4)
    for kernel in ("rbf", "linear", "laplacian"):
        found = run(mercer.SVC(kernel=kernel, gamma=0.1).fit(X, y).to_onnx(), np.empty((0, 3)))
        assert found["scores"].shape == (0, 6) and found["label"].shape == (0,)
    one = run(mercer.SVC().fit(X, y).to_onnx(), X[:1])
    assert one["scores"].shape == (1, 6) and one["code"].shape == (1,)


def test_labels_are_as_they_were_spelled():
    X, y = blobs(3)
    names = np.array(["drei", "två words", "ένα"])[y]
    model = mercer.SVC().fit(X, names)
    np.testing.assert_array_equal(run(model.to_onnx(), X)["label"], model.predict(X))


def test_sparse_and_narrow_examples():
    rng = np.random.default_rng(0)
    X = sp.random(80, 30, density=0.2, random_state=0, format="csr")
    y = np.asarray(X[:, :15].sum(axis=1) > X[:, 15:].sum(axis=1)).ravel().astype(int)
    new = sp.random(20, 30, density=0.2, random_state=1, format="csr")
    for model in (mercer.SVC(kernel="linear"), mercer.SVC(gamma=0.5), mercer.LinearSVC(),
                  mercer.SVC(kernel=mercer.kernel("laplacian(gamma=0.5) + chi2()"))):  # fmt: skip
        model.fit(X, y)
        close(run(exported(model), new.toarray())["scores"], raw(model, new))
    narrow = rng.normal(size=(60, 4)).astype(np.float32)
    model = mercer.SVC().fit(narrow, narrow[:, 0] > 0)
    close(run(model.to_onnx(), narrow)["scores"], raw(model, narrow))
    wide = sp.csr_matrix((np.ones(4), ([0, 1, 2, 3], [0, 5, 400_000_000, 7])), shape=(4, 400_000_001))
    with pytest.raises(ValueError, match=r"more than 1 GiB.*linear_svc"):
        mercer.SVC(kernel="linear").fit(wide, [0, 1, 0, 1]).to_onnx()


def test_every_view_is_an_input():
    X, y = blobs(3)
    views = {"pixels": X, "scores": X[:, :1] + 1, "unread": X}
    kernel = mercer.kernel("rbf(gamma=0.1)@pixels * linear()@scores + normalise(linear()@pixels)")
    model = mercer.SVC(kernel=kernel).fit(views, y)
    new = fresh()
    with pytest.warns(UserWarning, match="the view scores is the input scores_1"):
        data = model.to_onnx()
    found = run(data, {"pixels": new, "scores_1": new[:, :1] + 1})
    close(found["scores"], raw(model, {"pixels": new, "scores": new[:, :1] + 1, "unread": new}))


def test_what_is_told_with_the_graph():
    X, y = blobs(2)
    model = onnx.load_from_string(mercer.SVC(kernel=mercer.kernel("rbf(gamma=0.5)")).fit(X, y).to_onnx())
    assert (model.producer_name, model.ir_version, model.opset_import[0].version) == ("mercer", 8, 17)
    assert model.producer_version
    told = {entry.key: entry.value for entry in model.metadata_props}
    assert told == {"machine": "svc", "kernel": "rbf(gamma=0.5)", "outputs": "0\n1"}
    assert {node.domain for node in model.graph.node} == {""}
    (x,) = model.graph.input
    assert x.type.tensor_type.shape.dim[0].dim_param == "batch" and x.type.tensor_type.shape.dim[1].dim_value == 3


def test_what_cannot_be_said_is_refused():
    X, y = blobs(2)
    words = ["GATTACA", "GATTA", "CCCC", "CCCA"]
    for kernel, data, match in (
        (mercer.kernels.Spectrum(length=2), words, r"spectrum compares strings.*rbf.*can be written"),
        ("precomputed", X @ X.T, r"computed elsewhere.*fit with one of .*linear"),
        (lambda a, b: a @ b.T, X, r"Python function.*mercer\.kernels"),
        (mercer.kernel("matern(nu=1)"), X, r"nu = 1 needs a Bessel function.*0\.5, 1\.5 or 2\.5"),
    ):
        model = mercer.SVC(kernel=kernel).fit(data, y[: len(data)] if data is not words else [0, 0, 1, 1])
        with pytest.raises(ValueError, match=match):
            model.to_onnx()
    with pytest.warns(UserWarning, match="chi2 wants coordinates ≥ 0"):
        mercer.SVC(kernel=mercer.kernels.Chi2()).fit(X, y).to_onnx()


def program():
    """The `mercer` program, where it was built."""
    built = Path(__file__).parents[2] / "target" / "release" / "mercer"
    found = os.environ.get("MERCER") or (str(built) if built.exists() else shutil.which("mercer"))
    if not found:
        pytest.skip("the mercer program was not built")
    return found


@pytest.mark.parametrize("flags", ["--machine svc", "--machine svc --scale minmax --probabilities isotonic", "--machine svc --scale unit",
                                   "--machine svc --strategy one_vs_rest --probabilities platt", "--machine linear_svc --scale none",
                                   "--machine linear_svc --probabilities isotonic"])  # fmt: skip
def test_files_of_the_program(tmp_path, flags):
    iris = load_iris()
    rows = [",".join(map(repr, map(float, x))) + "," + iris.target_names[c] for x, c in zip(iris.data, iris.target)]
    (tmp_path / "iris.csv").write_text("a,b,c,d,kind\n" + "\n".join(rows) + "\n")

    def call(*words):
        return subprocess.run([program(), *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    call("fit", "iris.csv", *flags.split(), "-o", "m.mercer")
    call("export", "m.mercer", "-o", "m.onnx")
    data = (tmp_path / "m.onnx").read_bytes()
    assert data == mercer.load(tmp_path / "m.mercer").to_onnx()
    # scaling is part of the graph
    found = run(data, iris.data)
    wanted = ["--probabilities"] if "--probabilities" in flags else []
    said = [line.split(",") for line in call("predict", "m.mercer", "iris.csv", *wanted).splitlines()[1:]]
    assert found["label"].tolist() == [line[0] for line in said]
    if wanted:
        told = np.array([[float(v) for v in line[-3:]] for line in said])
        assert np.abs(found["probabilities"] - told).max() < 1e-9
