//! Laws of the matrices themselves: every view is plain arithmetic on the numbers below it, in both precisions, by
//! blocks, rows and products, and after a choice of rows and columns.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::{block, block32, in_pool, values, values32};
use mercer::data::Rows;
use mercer::gram::views::{Adjusted, Centring, Combine, Combined, Constant, Identity, Pointwise, Shape, Submatrix};
use mercer::gram::{BlockMut, Budget, Dense, Gram, LowRank, Pick, RowAccess, Side, apply, diagonal, show_bytes};
use mercer::linalg::symmetric_eigen;
use mercer::seed::Seed;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A positive matrix of inner products, with a zero row and column at 4.
fn plain(n: usize, rank: usize, seed: u64) -> Vec<f64> {
    let mut random = Seed(seed).stream("plain");
    let x: Vec<f64> = (0..n * rank).map(|p| if p / rank == 4 { 0.0 } else { random.normal() }).collect();
    let product = |i: usize, j: usize| (0..rank).map(|k| x[i * rank + k] * x[j * rank + k]).sum::<f64>();
    (0..n * n).map(|p| product(p / n, p % n)).collect()
}

/// Some numbers without structure.
fn any(count: usize, seed: u64) -> Vec<f64> {
    let mut random = Seed(seed).stream("any");
    (0..count).map(|_| random.normal()).collect()
}

fn stored(values: &[f64], n: usize, m: usize) -> Arc<dyn Gram> {
    Arc::new(Dense::new(values.to_vec(), n, m).unwrap())
}

fn assert_near(got: f64, wanted: f64, tolerance: f64, context: &str) {
    let off = (got - wanted).abs();
    assert!(off <= tolerance * (1.0 + wanted.abs()), "{context}: {got} instead of {wanted}, off by {off:e}");
}

/// Every road through a matrix gives the wanted numbers.
fn is_matrix(gram: &Arc<dyn Gram>, wanted: &[f64], name: &str) {
    let (n, m) = gram.shape();
    assert_eq!(wanted.len(), n * m, "{name}");
    for (p, (got, single)) in values(gram.as_ref()).into_iter().zip(values32(gram.as_ref())).enumerate() {
        assert_near(got, wanted[p], 1e-12, name);
        assert_near(f64::from(single), wanted[p], 2e-5, name);
    }
    let rows: Vec<usize> = vec![n - 1, 0, n / 2, n / 2];
    let cols: Vec<usize> = (0..m).rev().step_by(2).chain([0, 0]).collect();
    for (r, c) in [
        (Pick::List(&rows), Pick::List(&cols)),
        (Pick::Range(1..n), Pick::List(&cols)),
        (Pick::List(&rows), Pick::Range(1..m - 1)),
        (Pick::Range(2..2), Pick::Range(0..m)),
    ] {
        let got = block(gram.as_ref(), r.clone(), c.clone());
        let single = block32(gram.as_ref(), r.clone(), c.clone());
        assert_eq!((got.len(), single.len()), (r.len() * c.len(), r.len() * c.len()));
        for (p, (&g, &s)) in got.iter().zip(&single).enumerate() {
            let w = wanted[r.at(p / c.len()) * m + c.at(p % c.len())];
            assert_near(g, w, 1e-12, name);
            assert_near(f64::from(s), w, 2e-5, name);
        }
    }
    let mut row = vec![f32::NAN; m - 3];
    gram.row32(n / 2, 2..m - 1, &mut row);
    (0..m - 3).for_each(|j| assert_near(f64::from(row[j]), wanted[n / 2 * m + j + 2], 2e-5, name));
    let chosen = Arc::clone(gram).restrict(&rows, &cols);
    assert_eq!(chosen.shape(), (rows.len(), cols.len()));
    for (p, got) in values(chosen.as_ref()).into_iter().enumerate() {
        assert_near(got, wanted[rows[p / cols.len()] * m + cols[p % cols.len()]], 1e-12, name);
    }
    for k in [1, 2, 5] {
        let v = any(m * k, k as u64);
        let mut out = vec![f64::NAN; n * k];
        apply(gram.as_ref(), &v, k, &mut out);
        for (p, &got) in out.iter().enumerate() {
            let terms = (0..m).map(|j| wanted[p / k * m + j] * v[j * k + p % k]);
            let (sum, size) = terms.fold((0.0, 0.0), |(s, a), t| (s + t, a + t.abs()));
            assert!((got - sum).abs() <= 1e-13 * (1.0 + size) + 1e-12 * size, "{name}: K v with {k} columns");
        }
        for threads in [1, 3] {
            let again = in_pool(threads, || {
                let mut again = vec![0.0; n * k];
                apply(gram.as_ref(), &v, k, &mut again);
                again
            });
            assert!(again.iter().zip(&out).all(|(a, b)| a.to_bits() == b.to_bits()), "{name}: {threads} threads");
        }
    }
}

/// A square matrix knows its diagonal, and still does when examples are chosen.
fn knows_itself(gram: &Arc<dyn Gram>, wanted: &[f64], name: &str) {
    let n = gram.shape().0;
    for side in [Side::Rows, Side::Columns] {
        let own = gram.self_similarities(side).unwrap();
        (0..n).for_each(|i| assert_near(own[i], wanted[i * n + i], 1e-12, name));
    }
    let keep = [3, 1, 1, 0];
    let own = Arc::clone(gram).restrict(&keep, &keep).self_similarities(Side::Rows).unwrap();
    (0..4).for_each(|k| assert_near(own[k], wanted[keep[k] * n + keep[k]], 1e-12, name));
    diagonal(gram.as_ref()).iter().enumerate().for_each(|(i, &d)| assert_near(d, wanted[i * n + i], 1e-12, name));
}

fn map2(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

/// Beyond one tile in both directions.
const N: usize = 140;
const M: usize = 530;

#[test]
fn sums_and_products_are_entry_by_entry() {
    let (a, b, c) = (plain(N, 3, 1), plain(N, 5, 2), plain(N, 2, 3));
    let parts = || vec![stored(&a, N, N), stored(&b, N, N), stored(&c, N, N)];
    let sum: Arc<dyn Gram> = Arc::new(Combined::new(Combine::Sum, parts()));
    let product: Arc<dyn Gram> = Arc::new(Combined::new(Combine::Product, parts()));
    let wanted_sum = map2(&map2(&a, &b, |x, y| x + y), &c, |x, y| x + y);
    let wanted_product = map2(&map2(&a, &b, |x, y| x * y), &c, |x, y| x * y);
    for (gram, wanted, name) in [(&sum, &wanted_sum, "sum"), (&product, &wanted_product, "product")] {
        is_matrix(gram, wanted, name);
        knows_itself(gram, wanted, name);
    }
    let (wide, high) = (any(N * M, 1), any(N * M, 2));
    let crossed: Arc<dyn Gram> = Arc::new(Combined::new(Combine::Sum, vec![stored(&wide, N, M), stored(&high, N, M)]));
    is_matrix(&crossed, &map2(&wide, &high, |x, y| x + y), "a sum that is not square");
    assert_eq!(crossed.self_similarities(Side::Rows), None);
    let single: Arc<dyn Gram> = Arc::new(Combined::new(Combine::Product, vec![stored(&wide, N, M)]));
    is_matrix(&single, &wide, "a product of one");
}

#[test]
#[should_panic(expected = "matrices of one shape")]
fn matrices_of_different_shapes_are_not_combined() {
    let _ = Combined::new(Combine::Sum, vec![stored(&any(6, 1), 2, 3), stored(&any(6, 1), 3, 2)]);
}

/// A function of an entry, twice.
type Case = (Shape, fn(f64) -> f64);

#[test]
fn functions_of_entries_are_entry_by_entry() {
    let a: Vec<f64> = plain(N, 3, 4).iter().map(|x| 0.3 * x).collect();
    let cases: [Case; 7] = [
        (Shape::Scale(2.5), |x| 2.5 * x),
        (Shape::Scale(0.0), |_| 0.0),
        (Shape::Power(2), |x| x * x),
        (Shape::Power(5), |x| x * x * x * x * x),
        (Shape::Series(Arc::from([1.0, 0.5, 0.0, 2.0])), |x| 1.0 + 0.5 * x + 2.0 * x * x * x),
        (Shape::Series(Arc::from([0.25])), |_| 0.25),
        (Shape::Exp, f64::exp),
    ];
    for (shape, f) in cases {
        let wanted: Vec<f64> = a.iter().map(|&x| f(x)).collect();
        let gram: Arc<dyn Gram> = Arc::new(Pointwise::new(stored(&a, N, N), shape.clone()));
        is_matrix(&gram, &wanted, &format!("{shape:?}"));
        knows_itself(&gram, &wanted, &format!("{shape:?}"));
    }
}

#[test]
fn normalising_gives_cosines_with_a_unit_diagonal_and_keeps_zero_rows() {
    let a = plain(N, 3, 5);
    let gram: Arc<dyn Gram> = Arc::new(Adjusted::normalised(stored(&a, N, N)).unwrap());
    let cosine = |p: usize| {
        let (i, j) = (p / N, p % N);
        if i == 4 || j == 4 { 0.0 } else { a[p] / (a[i * N + i] * a[j * N + j]).sqrt() }
    };
    let wanted: Vec<f64> = (0..N * N).map(cosine).collect();
    is_matrix(&gram, &wanted, "normalised");
    knows_itself(&gram, &wanted, "normalised");
    let k = values(gram.as_ref());
    for i in 0..N {
        let one = f64::from(u8::from(i != 4));
        assert!((k[i * N + i] - one).abs() < 1e-15, "{}", k[i * N + i]);
        assert_eq!((k[4 * N + i], k[i * N + 4]), (0.0, 0.0));
    }
    let twice = values(&Adjusted::normalised(gram).unwrap());
    (0..N * N).for_each(|p| assert_near(twice[p], k[p], 1e-14, "normalised twice"));
    assert!(Adjusted::normalised(stored(&any(6, 1), 2, 3)).is_none(), "without self-similarities there are no cosines");
}

#[test]
fn a_gaussian_on_top_sees_distances_in_feature_space() {
    let a = plain(N, 3, 6);
    let gram: Arc<dyn Gram> = Arc::new(Adjusted::radial(stored(&a, N, N), 0.3).unwrap());
    let squared = |i: usize, j: usize| a[i * N + i] - 2.0 * a[i * N + j] + a[j * N + j];
    let wanted: Vec<f64> = (0..N * N).map(|p| (-0.3 * squared(p / N, p % N)).exp()).collect();
    is_matrix(&gram, &wanted, "rbf on top");
    knows_itself(&gram, &wanted, "rbf on top");
    assert!(values(gram.as_ref()).iter().all(|&k| k <= 1.0), "rounding makes no distance negative");
    assert!(Adjusted::radial(stored(&any(6, 1), 2, 3), 1.0).is_none());
}

#[test]
fn centring_takes_the_means_of_the_training_examples_away() {
    let a = plain(N, 4, 7).iter().map(|x| x + 3.0).collect::<Vec<_>>();
    let inner = stored(&a, N, N);
    let centring = Centring::learn(inner.as_ref());
    let mean = |i: usize| a[i * N..(i + 1) * N].iter().sum::<f64>() / N as f64;
    let total = a.iter().sum::<f64>() / (N * N) as f64;
    (0..N).for_each(|i| assert_near(centring.means[i], mean(i), 1e-13, "mean"));
    assert_near(centring.total, total, 1e-13, "total");
    let gram: Arc<dyn Gram> = Arc::new(Adjusted::centred(Arc::clone(&inner), &centring));
    let wanted: Vec<f64> = (0..N * N).map(|p| a[p] - mean(p / N) - mean(p % N) + total).collect();
    is_matrix(&gram, &wanted, "centred");
    knows_itself(&gram, &wanted, "centred");

    // zero row sums
    let mut sums = vec![f64::NAN; N];
    apply(gram.as_ref(), &[1.0; N], 1, &mut sums);
    assert!(sums.iter().all(|s| s.abs() < 1e-10), "{sums:?}");
    // twice is once
    let k = values(gram.as_ref());
    let again = Centring::learn(gram.as_ref());
    let twice = values(&Adjusted::centred(Arc::clone(&gram), &again));
    (0..N * N).for_each(|p| assert_near(twice[p], k[p], 1e-12, "centred twice"));
    // mean squared distance to the centre = mean of the diagonal − mean of all = trace of the centred matrix over l
    let spread = (0..N).map(|i| a[i * N + i]).sum::<f64>() / N as f64 - total;
    let trace = (0..N).map(|i| k[i * N + i]).sum::<f64>() / N as f64;
    let pairs = (0..N * N).map(|p| a[p / N * (N + 1)] + a[p % N * (N + 1)] - 2.0 * a[p]).sum::<f64>();
    assert_near(trace, spread, 1e-13, "trace");
    assert_near(pairs / (2 * N * N) as f64, spread, 1e-13, "half the mean squared distance of pairs");
    assert!(spread > 1.0);
}

#[test]
fn new_examples_are_centred_by_the_means_of_training_examples() {
    // features of 20 new and N training examples, by arithmetic in the feature space
    let (z, w) = (any(20 * 3, 8), any(N * 3, 9));
    let centre: Vec<f64> = (0..3).map(|k| (0..N).map(|j| w[j * 3 + k]).sum::<f64>() / N as f64).collect();
    let product = |a: &[f64], i: usize, b: &[f64], j: usize, shift: f64| {
        (0..3).map(|k| (a[i * 3 + k] - shift * centre[k]) * (b[j * 3 + k] - shift * centre[k])).sum::<f64>()
    };
    let square: Vec<f64> = (0..N * N).map(|p| product(&w, p / N, &w, p % N, 0.0)).collect();
    let rows = |x: &[f64]| Arc::new(Rows::new(x.to_vec(), x.len() / 3, 3).unwrap());
    let cross: Arc<dyn Gram> = Arc::new(LowRank::new(rows(&z), rows(&w)).unwrap());
    let centring = Centring::learn(stored(&square, N, N).as_ref());
    let gram: Arc<dyn Gram> = Arc::new(Adjusted::centred_cross(cross, &centring));
    let wanted: Vec<f64> = (0..20 * N).map(|p| product(&z, p / N, &w, p % N, 1.0)).collect();
    is_matrix(&gram, &wanted, "crossed");
    let own = gram.self_similarities(Side::Rows).unwrap();
    (0..20).for_each(|i| assert_near(own[i], product(&z, i, &z, i, 1.0), 1e-12, "κ(x, x) of a new example"));
}

#[test]
fn a_constant_and_a_diagonal_need_no_data() {
    let constant: Arc<dyn Gram> = Arc::new(Constant { value: 2.5, shape: (N, M) });
    is_matrix(&constant, &vec![2.5; N * M], "constant");
    assert_eq!(constant.self_similarities(Side::Columns), Some(vec![2.5; M]));
    let identity: Arc<dyn Gram> = Arc::new(Identity::training(0.5, N));
    let wanted: Vec<f64> = (0..N * N).map(|p| if p / N == p % N { 0.5 } else { 0.0 }).collect();
    is_matrix(&identity, &wanted, "identity");
    knows_itself(&identity, &wanted, "identity");
    // a choice keeps who is who: equal places are no longer equal examples
    let chosen = values(Arc::clone(&identity).restrict(&[5, 2, 5], &[2, 5]).as_ref());
    assert_eq!(chosen, [0.0, 0.5, 0.5, 0.0, 0.0, 0.5]);
    let crossed: Arc<dyn Gram> = Arc::new(Identity::crossed(0.5, N, N));
    is_matrix(&crossed, &vec![0.0; N * N], "new examples are never the same");
}

#[test]
fn chosen_rows_and_columns_are_gathered() {
    let a = plain(N, 4, 10);
    let rows: Vec<usize> = (0..N).rev().chain([3, 3]).collect();
    let cols: Vec<usize> = (0..M).map(|j| j * 7 % N).collect();
    let gram: Arc<dyn Gram> = Arc::new(Submatrix::new(stored(&a, N, N), &rows, &cols));
    let wanted: Vec<f64> =
        rows.iter().flat_map(|&i| cols.iter().map(move |&j| (i, j))).map(|(i, j)| a[i * N + j]).collect();
    is_matrix(&gram, &wanted, "chosen");
    let own = gram.self_similarities(Side::Columns).unwrap();
    cols.iter().zip(own).for_each(|(&j, own)| assert_eq!(own, a[j * N + j]));
}

#[test]
fn features_of_full_rank_give_the_matrix_back() {
    let (n, rank) = (60, 60);
    let a = plain(n, rank, 11);
    let eigen = symmetric_eigen(a.clone(), n).unwrap();
    let features = (0..n * n).map(|p| eigen.vectors[p] * eigen.values[p % n].max(0.0).sqrt()).collect();
    let features = Arc::new(Rows::new(features, n, n).unwrap());
    let low = LowRank::new(Arc::clone(&features), Arc::clone(&features)).unwrap();
    let v = any(n * 3, 12);
    let (mut fast, mut slow) = (vec![f64::NAN; n * 3], vec![f64::NAN; n * 3]);
    low.apply(&v, 3, &mut fast);
    apply(&low, &v, 3, &mut slow);
    fast.iter().zip(&slow).for_each(|(&f, &s)| assert_near(f, s, 1e-10, "K v by features"));
    let gram: Arc<dyn Gram> = Arc::new(low);
    is_matrix(&gram, &values(gram.as_ref()), "low rank");
    for (got, wanted) in values(gram.as_ref()).iter().zip(&a) {
        assert!((got - wanted).abs() < 1e-10, "{got} {wanted}");
    }
    knows_itself(&gram, &values(gram.as_ref()), "low rank");
    let other = Arc::new(Rows::new(vec![1.0; 4], 2, 2).unwrap());
    assert!(LowRank::new(features, other).is_none());
}

#[test]
fn stored_matrices_of_both_precisions_are_their_numbers() {
    let a: Vec<f64> = any(N * M, 13).iter().map(|&x| f64::from(x as f32)).collect();
    is_matrix(&stored(&a, N, M), &a, "stored in f64");
    let narrow: Vec<f32> = a.iter().map(|&x| x as f32).collect();
    let single: Arc<dyn Gram> = Arc::new(Dense::new(narrow.clone(), N, M).unwrap());
    is_matrix(&single, &a, "stored in f32");
    assert_eq!(values32(single.as_ref()), narrow);
    assert_eq!(single.self_similarities(Side::Rows), None);
    assert!(Dense::new(a, N, M + 1).is_none());
}

/// A matrix of any size that counts how often it is asked.
struct Asked(usize, AtomicUsize);

impl RowAccess for Asked {
    fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]) {
        self.1.fetch_add(1, Ordering::Relaxed);
        cols.zip(out).for_each(|(j, o)| *o = (row * 1000 + j) as f32);
    }
    fn gather32(&self, row: usize, cols: &[usize], out: &mut [f32]) {
        self.1.fetch_add(1, Ordering::Relaxed);
        cols.iter().zip(out).for_each(|(&j, o)| *o = (row * 1000 + j) as f32);
    }
    fn row_group(&self) -> usize {
        5
    }
    fn rows_are_expensive(&self) -> bool {
        false
    }
}

impl Gram for Asked {
    fn shape(&self) -> (usize, usize) {
        (self.0, self.0)
    }
    fn block(&self, _: Pick<'_>, _: Pick<'_>, _: BlockMut<'_, f64>) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
    fn rows(&self) -> Option<&dyn RowAccess> {
        Some(self)
    }
    fn self_similarities(&self, _: Side) -> Option<Vec<f64>> {
        None
    }
    fn restrict(self: Arc<Self>, _: &[usize], _: &[usize]) -> Arc<dyn Gram> {
        self
    }
}

#[test]
fn a_plan_refuses_before_it_allocates_or_computes() {
    let gram = Asked(1 << 30, AtomicUsize::new(0));
    let error = Budget { memory: 1 << 20 }.dense(&gram, 0, "the kernel matrix").unwrap_err();
    assert_eq!((error.needed, error.budget), (1 << 63, 1 << 20));
    assert!(error.to_string().starts_with("the kernel matrix needs "), "{error}");
    assert_eq!(gram.1.load(Ordering::Relaxed), 0);
    let small = stored(&any(12, 1), 3, 4);
    let budget = Budget { memory: 96 };
    assert_eq!(budget.dense(small.as_ref(), 0, "it").unwrap().values(), any(12, 1));
    assert!(budget.dense(small.as_ref(), 1, "it").is_err(), "what the caller needs beside it counts");
    assert_eq!(Budget { memory: usize::MAX - 1 }.check(usize::MAX, "it").unwrap_err().needed, usize::MAX);
    assert_eq!([show_bytes(1023), show_bytes(1536), show_bytes(1 << 40)], ["1023 B", "1.5 KiB", "1.0 TiB"]);
}

#[test]
fn a_gaussian_on_top_does_not_cancel_in_f32() {
    // far from the origin: ⟨x, z⟩ is near 2e8, differences of it are near 1
    let x: Vec<f64> = (0..40).map(|i| 1e4 + (f64::from(i) * 1.7).sin()).collect();
    let data = mercer::data::Dataset::new(mercer::data::Rows::new(x, 20, 2).unwrap());
    for (formula, tolerance) in [("rbf(linear, gamma=0.5)", 1e-6), ("centre(linear)", 1e-6)] {
        let gram = formula.parse::<mercer::formula::Formula>().unwrap().gram(&data).unwrap();
        let (mut wide, mut row) = (vec![0.0; 400], vec![0.0_f32; 20]);
        mercer::gram::fill(gram.as_ref(), &mut wide);
        for i in 0..20 {
            gram.row32(i, 0..20, &mut row);
            for j in 0..20 {
                let (a, b) = (f64::from(row[j]), wide[i * 20 + j]);
                assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{formula} {i} {j}: {a} {b}");
            }
        }
    }
}

#[test]
fn an_overflow_is_not_taken_for_a_distance_of_zero() {
    let data = mercer::data::Dataset::new(mercer::data::Rows::new(vec![0.0, 3e160, 5e160], 3, 1).unwrap());
    let gram = mercer::formula::rbf(1.0).gram(&data).unwrap();
    let mut k = vec![0.0; 9];
    mercer::gram::fill(gram.as_ref(), &mut k);
    assert!(k[5].is_nan() || k[5] == 0.0, "{k:?}");
}

#[test]
fn a_product_with_a_matrix_of_low_rank_goes_through_its_factors() {
    // tile by tile this would be 10¹¹ values
    let n = 300_000;
    let z: Vec<f64> = (0..n).map(|i| f64::from(i % 7)).collect();
    let rows = Arc::new(Rows::new(z.clone(), n as usize, 1).unwrap());
    let gram: Arc<dyn Gram> = Arc::new(LowRank::new(Arc::clone(&rows), rows).unwrap());
    let mut out = vec![f64::NAN; n as usize];
    apply(gram.as_ref(), &vec![1.0; n as usize], 1, &mut out);
    let sum: f64 = z.iter().sum();
    // whole numbers below 2⁵³: exact in any order
    assert!(out.iter().zip(&z).all(|(got, z)| *got == z * sum));
}

#[test]
fn wrappers_hand_on_the_whole_road_to_rows() {
    let inner: Arc<dyn Gram> = Arc::new(Asked(40, AtomicUsize::new(0)));
    let all: Vec<usize> = (0..40).collect();
    let wrapped: [(&str, Arc<dyn Gram>, f32); 4] = [
        ("sum", Arc::new(Combined::new(Combine::Sum, vec![Arc::clone(&inner), Arc::clone(&inner)])), 2.0),
        ("function", Arc::new(Pointwise::new(Arc::clone(&inner), Shape::Scale(3.0))), 3.0),
        ("part", Arc::new(Submatrix::new(Arc::clone(&inner), &all, &all)), 1.0),
        (
            "part of a sum",
            Arc::new(Submatrix::new(Arc::new(Combined::new(Combine::Sum, vec![Arc::clone(&inner)])), &all, &all)),
            1.0,
        ),
    ];
    for (name, gram, factor) in wrapped {
        assert_eq!((gram.row_group(), gram.rows_are_expensive()), (5, false), "{name}");
        let (mut a, mut b, mut some) = ([0.0_f32; 6], [0.0_f32; 6], [0.0_f32; 2]);
        gram.rows32(&[3, 1], 2..8, &mut [&mut a, &mut b]);
        for j in 0..6 {
            assert_eq!([a[j], b[j]], [3.0, 1.0].map(|row| factor * (row * 1000.0 + (j + 2) as f32)), "{name}");
        }
        gram.gather32(7, &[9, 0], &mut some);
        assert_eq!(some, [7009.0, 7000.0].map(|v| factor * v), "{name}");
    }
}
