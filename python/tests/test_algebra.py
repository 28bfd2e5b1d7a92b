"""Polynomials of kernels, pairs of views, sets of members, and kernels that learn from the training examples."""

import pickle

import mercer
import numpy as np
import pytest
from mercer import SVC, KernelRidge, kernel, pack_sets
from mercer.kernels import Linear, Rbf, Spectrum
from sklearn.base import clone

rng = np.random.default_rng(3)
X = rng.normal(size=(30, 3))


def test_a_series_is_a_polynomial_of_the_matrix():
    k = Rbf(gamma=0.5)
    series = k.series([1, 0.5, 0, 2])
    assert str(series) == "series(rbf(gamma=0.5), coefficients=[1, 0.5, 0, 2])" and series.definite == "positive"
    np.testing.assert_allclose(series(X), 1 + 0.5 * k(X) + 2 * k(X) ** 3, rtol=1e-12)
    assert str(clone(SVC(kernel=series)).set_params(kernel__k__gamma=2.0).kernel).startswith("series(rbf(gamma=2)")
    with pytest.raises(ValueError, match="the coefficient -1 is negative"):
        str(k.series([1, -1]))


def test_pairs_of_views_have_concatenated_features_or_all_products():
    Z = rng.normal(size=(30, 2))
    data = {"a": X, "b": Z}
    a, b = Linear() @ "a", Linear() @ "b"
    np.testing.assert_allclose(a.direct_sum(b)(data), np.hstack([X, Z]) @ np.hstack([X, Z]).T, atol=1e-12)
    outer = np.einsum("ni,nj->nij", X, Z).reshape(30, -1)
    np.testing.assert_allclose(a.tensor_product(b)(data), outer @ outer.T, atol=1e-12)
    assert kernel("tensor_product(linear@a, linear@b)") == a.tensor_product(b)


def bags(n, seed):
    """Sets of vectors; those of the second class have a member far away."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return [rng.normal(size=(rng.integers(1, 6), 2)) + ([[0, 0]] if c == 0 else [[2, -1]]) for c in y], y


def test_sets_of_vectors_are_compared_member_by_member():
    (sets, y), (more, truth) = bags(60, 1), bags(40, 2)
    k = Rbf(gamma=0.5).set(columns=2)
    packed, new = pack_sets(sets, size=5), pack_sets(more, size=5)
    brute = [[sum(np.exp(-0.5 * ((a - b) ** 2).sum()) for a in A for b in B) for B in sets] for A in more]
    np.testing.assert_allclose(k(new, packed), brute, rtol=1e-10)
    mean = Rbf(gamma=0.5).set(columns=2, mean=True)
    sizes = np.outer([len(A) for A in more], [len(B) for B in sets])
    np.testing.assert_allclose(mean(new, packed), np.array(brute) / sizes, rtol=1e-10)
    model = SVC(kernel=k.normalise()).fit(packed, y)
    assert model.score(new, truth) > 0.9
    assert SVC(kernel=mean @ "bag").fit({"bag": packed}, y).score({"bag": new}, truth) > 0.9
    assert KernelRidge(kernel=mean).fit(packed, y.astype(float)).score(new, truth) > 0.3
    # other kernels still refuse missing numbers, and so do sets where a member is missing in part
    with pytest.raises(ValueError, match="NaN"):
        SVC(kernel=Rbf(gamma=1.0)).fit(packed, y)
    torn = packed.copy()
    torn[3, 0] = np.nan
    with pytest.raises(ValueError, match="member 1 of example 4"):
        SVC(kernel=k).fit(torn, y)


def test_sets_of_strings_are_compared_member_by_member():
    sets = [["abc", "b"], ["c"], [], ["b", "b"]]
    single = Spectrum(length=1)
    k = single.set(separator='"|')
    assert str(k) == 'set(spectrum(length=1), separator="\\"|")'
    brute = [[sum(single([a], [b])[0, 0] for a in A for b in B) for B in sets] for A in sets]
    np.testing.assert_array_equal(k(pack_sets(sets, separator='"|')), brute)
    model = SVC(kernel=k).fit(pack_sets(sets, separator='"|'), [0, 1, 1, 0])
    assert list(model.predict(['b"|b"|b', "c"])) == [0, 1]


def test_examples_of_a_kind_are_read_from_their_text():
    words, y = ["abc", "abd", "xyz", "xya"], [0, 0, 1, 1]
    k = Spectrum(length=2)
    items = mercer.Items("text", words)
    np.testing.assert_array_equal(k(items), k(words))
    assert pickle.loads(pickle.dumps(items)).kind == "text" and list(items[1:]) == words[1:]
    np.testing.assert_array_equal((k @ "w")({"w": items}), k(words))
    model = SVC(kernel=k).fit(items, y)
    assert list(model.predict(mercer.Items("text", ["abe", "xyb"]))) == [0, 1]
    search = mercer.MercerSearchCV(SVC(kernel=k), {"C": [1.0, 10.0]}, cv=2).fit(items, y)
    assert search.best_params_["C"] in (1.0, 10.0)
    with pytest.raises(ValueError, match="is called trees; kinds are text"):
        k(mercer.Items("trees", words))


def test_what_cannot_be_packed_is_told():
    with pytest.raises(ValueError, match="set 1 has the member 'a|b'"):
        pack_sets([["a"], ["a|b"]], separator="|")
    with pytest.raises(ValueError, match=r"different numbers of coordinates: \[1, 2\]"):
        pack_sets([[[1.0], [1.0, 2.0]]])
    with pytest.raises(ValueError, match="a set has 2 members, but there is room for 1"):
        pack_sets([[[1.0], [2.0]]], size=1)


def test_a_learned_metric_is_the_inverse_covariance():
    A = X @ np.array([[1, 0.9, 0], [0, 0.3, 0], [0, 0, 5]])
    S = np.cov(A.T, bias=True)
    P = np.linalg.inv((1 - 1e-6) * S + 1e-6 * np.trace(S) / 3 * np.eye(3))
    D = A[:, None] - A[None]
    wanted = np.exp(-0.5 * np.einsum("nmi,ij,nmj->nm", D, P, D) / 4)
    np.testing.assert_allclose(kernel("mahalanobis(metric=inverse_covariance, length=2)")(A), wanted, atol=1e-10)
    from sklearn.covariance import LedoitWolf

    wanted = np.exp(-0.5 * np.einsum("nmi,ij,nmj->nm", D, LedoitWolf().fit(A).precision_, D))
    np.testing.assert_allclose(kernel("mahalanobis(metric=shrunken)")(A), wanted, atol=1e-10)


def test_co_occurrence_is_the_product_with_the_training_texts():
    texts = ["car engine", "engine motor", "cat dog", "dog dog engine"]
    words = sorted({word for text in texts for word in text.split()})
    D = np.array([[text.split().count(word) for word in words] for text in texts])
    np.testing.assert_array_equal(kernel("co_occurrence")(texts), D @ D.T @ D @ D.T)
    assert mercer.SVC(kernel=kernel("normalise(co_occurrence)")).fit(texts, [0, 0, 1, 1]).predict(["motor"]) == [0]
