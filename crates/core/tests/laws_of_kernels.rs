//! Laws that every kernel of the catalogue obeys on every kind of data: the matrix is the definition, it is symmetric,
//! its eigenvalues are what the catalogue declares, and the order and the storage of the examples do not matter.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::{self, Sample, Tolerance, choose, random_kernel, samples, show, values, variants, vectors};
use mercer::data::{Kind, Rows, SparseRows, Values};
use mercer::formula::Formula;
use mercer::gram::{Gram, Side, diagonal};
use mercer::kernels::{self, Definite, Domain, KernelEntry, KernelError, Leaf};
use mercer::linalg::symmetric_eigen;
use mercer::seed::Seed;
use std::sync::Arc;

/// Calls `law` with every kernel, every sample and a few parameters.
fn everywhere(m: usize, n: usize, others: u64, law: impl Fn(&dyn Leaf, &Sample)) {
    let mut tried = 0;
    for entry in kernels::all() {
        for sample in samples(entry, m, n) {
            for leaf in variants(entry, &sample.training, others) {
                law(leaf.as_ref(), &sample);
                tried += 1;
            }
        }
    }
    assert!(tried >= 13, "the catalogue has shrunk: {tried}");
}

fn training_gram(leaf: &dyn Leaf, values: &Values) -> Arc<dyn Gram> {
    leaf.gram(values, values, true).unwrap_or_else(|e| panic!("{}: {e}", show(leaf)))
}

#[test]
fn the_training_matrix_is_the_definition_and_symmetric() {
    everywhere(1, 90, 6, |leaf, sample| {
        let v = &sample.training;
        let k = values(training_gram(leaf, v).as_ref());
        let n = v.len();
        let near = Tolerance::new(leaf, v, v, f64::EPSILON);
        for i in 0..n {
            for j in 0..=i {
                let wanted = leaf.eval(v, i, v, j);
                near.assert(i, j, k[i * n + j], wanted, &sample.name);
                near.assert(j, i, k[j * n + i], k[i * n + j], &sample.name);
                near.assert(j, i, leaf.eval(v, j, v, i), wanted, "the definition");
            }
        }
    });
}

#[test]
fn the_cross_matrix_is_the_definition_beyond_the_edges_of_tiles() {
    everywhere(150, 600, 1, |leaf, sample| {
        let (new, training) = (&sample.new, &sample.training);
        let gram = leaf.gram(new, training, false).unwrap();
        assert_eq!(gram.shape(), (150, 600));
        let k = values(gram.as_ref());
        let near = Tolerance::new(leaf, new, training, f64::EPSILON);
        // all pairs with one side next to an edge, and a lattice of the others
        let edge = |i: usize, tile: usize| i < 2 || i.abs_diff(tile) < 2;
        for (i, j) in (0..150).flat_map(|i| (0..600).map(move |j| (i, j))) {
            if edge(i, 128) || edge(j, 512) || (i * 7 + j) % 13 == 0 {
                near.assert(i, j, k[i * 600 + j], leaf.eval(new, i, training, j), &sample.name);
            }
        }
    });
}

#[test]
fn training_examples_met_as_new_ones_give_the_same_numbers() {
    everywhere(1, 70, 1, |leaf, sample| {
        let v = &sample.training;
        let (k, again) = (values(training_gram(leaf, v).as_ref()), values(leaf.gram(v, v, false).unwrap().as_ref()));
        let near = Tolerance::new(leaf, v, v, f64::EPSILON);
        for i in 0..70 {
            for j in 0..70 {
                // noise belongs to an example, not to its values: a new example is never the same
                let wanted = if leaf.facts().looks_at_data { k[i * 70 + j] } else { 0.0 };
                near.assert(i, j, again[i * 70 + j], wanted, &sample.name);
            }
        }
    });
}

#[test]
fn self_similarities_are_the_definition_on_the_diagonal() {
    everywhere(40, 90, 3, |leaf, sample| {
        let (new, v) = (&sample.new, &sample.training);
        let square = training_gram(leaf, v);
        let cross = leaf.gram(new, v, false).unwrap();
        let check = |own: Vec<f64>, examples: &Values| {
            assert_eq!(own.len(), examples.len());
            let near = Tolerance::new(leaf, examples, examples, f64::EPSILON);
            for (i, &got) in own.iter().enumerate() {
                near.assert(i, i, got, leaf.eval(examples, i, examples, i), &sample.name);
            }
        };
        check(square.self_similarities(Side::Rows).unwrap(), v);
        check(square.self_similarities(Side::Columns).unwrap(), v);
        check(diagonal(square.as_ref()), v);
        if leaf.entry().kind == Kind::Precomputed {
            assert_eq!(cross.self_similarities(Side::Rows), None);
        } else {
            check(cross.self_similarities(Side::Rows).unwrap(), new);
            check(cross.self_similarities(Side::Columns).unwrap(), v);
        }
    });
}

#[test]
fn no_image_is_longer_than_the_radius_of_its_kernel_and_kernels_without_one_grow() {
    let (mut bounded, mut grown) = (0, 0);
    for entry in kernels::all().filter(|e| e.kind == Kind::Vectors && e.definite == Definite::Positive) {
        for sample in samples(entry, 1, 60) {
            for leaf in variants(entry, &sample.training, 4) {
                let formula: Formula = show(leaf.as_ref()).parse().unwrap();
                let v = &sample.training;
                let longest = (0..v.len()).map(|i| leaf.eval(v, i, v, i)).fold(0.0, f64::max);
                if let Some(radius) = formula.radius() {
                    assert!(longest <= radius * radius * (1.0 + 1e-6), "{formula}: {longest} on {}", sample.name);
                    bounded += 1;
                } else if !["rank_one"].contains(&entry.name) {
                    // a hundred times the vectors, and κ(x, x) is larger
                    let d = v.width().unwrap_or(1);
                    let large = (0..v.len()).flat_map(|i| support::numbers(v, i, d)).map(|x| 100.0 * x).collect();
                    let large = Values::from(Rows::new(large, v.len(), d).unwrap());
                    let most = (0..v.len()).map(|i| leaf.eval(&large, i, &large, i)).fold(0.0, f64::max);
                    assert!(most > 10.0 * longest || longest == 0.0, "{formula}: {longest} grew to {most}");
                    grown += 1;
                }
            }
        }
    }
    assert!(bounded > 200 && grown > 100, "{bounded} {grown}");
}

/// The eigenvalues of a training matrix, largest first, centred or not.
fn spectrum(leaf: &dyn Leaf, v: &Values, centred: bool) -> Vec<f64> {
    let n = v.len();
    let mut k = values(training_gram(leaf, v).as_ref());
    if centred {
        let means: Vec<f64> = k.chunks(n).map(|row| row.iter().sum::<f64>() / n as f64).collect();
        let total = means.iter().sum::<f64>() / n as f64;
        for i in 0..n {
            for j in 0..n {
                k[i * n + j] += total - means[i] - means[j];
            }
        }
    }
    symmetric_eigen(k, n).unwrap().values
}

/// The smallest eigenvalue over the largest in size.
fn lowest(spectrum: &[f64]) -> f64 {
    let largest = spectrum.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    spectrum.last().copied().unwrap() / largest
}

#[test]
fn no_eigenvalue_is_negative_where_the_catalogue_says_so() {
    everywhere(1, 60, 3, |leaf, sample| match leaf.entry().definite {
        Definite::Positive => {
            let low = lowest(&spectrum(leaf, &sample.training, false));
            assert!(low >= -1e-13, "{} on {}: {low:e}", show(leaf), sample.name);
        }
        Definite::Conditionally => {
            let low = lowest(&spectrum(leaf, &sample.training, true));
            assert!(low >= -1e-9, "{} on {}: {low:e}", show(leaf), sample.name);
        }
        Definite::Indefinite => {}
    });
}

#[test]
fn a_kernel_that_is_not_declared_positive_has_an_example_of_it() {
    for entry in kernels::all().filter(|e| e.definite != Definite::Positive) {
        let sample = samples(entry, 1, 30).remove(0);
        let found = (0..60).map(|k| random_kernel(entry, 1, k)).any(|mut leaf| {
            kernels::resolve(leaf.as_mut(), &sample.training, Seed(1));
            lowest(&spectrum(leaf.as_ref(), &sample.training, false)) < -1e-2
        });
        assert!(found, "{} could be declared positive", entry.name);
    }
}

#[test]
fn an_indefinite_kernel_stays_so_when_it_is_centred() {
    for entry in kernels::all().filter(|e| e.definite == Definite::Indefinite) {
        let sample = samples(entry, 1, 30).remove(0);
        let found = (0..60).map(|k| random_kernel(entry, 1, k)).any(|mut leaf| {
            kernels::resolve(leaf.as_mut(), &sample.training, Seed(1));
            lowest(&spectrum(leaf.as_ref(), &sample.training, true)) < -1e-2
        });
        assert!(found, "{} could be declared conditionally positive", entry.name);
    }
}

#[test]
fn cauchy_and_schwarz_hold_for_positive_kernels() {
    everywhere(1, 80, 2, |leaf, sample| {
        if leaf.entry().definite != Definite::Positive {
            return;
        }
        let gram = training_gram(leaf, &sample.training);
        let (k, own, n) = (values(gram.as_ref()), diagonal(gram.as_ref()), 80);
        for i in 0..n {
            for j in 0..n {
                let bound = (own[i] * own[j]).sqrt() * (1.0 + 1e-12);
                assert!(
                    k[i * n + j].abs() <= bound,
                    "{} on {}: {} above {bound}",
                    show(leaf),
                    sample.name,
                    k[i * n + j]
                );
            }
        }
    });
}

#[test]
fn permuting_the_examples_permutes_rows_and_columns() {
    everywhere(1, 135, 0, |leaf, sample| {
        let (v, n) = (&sample.training, 135);
        let order = Seed(11).stream("order").permutation(n);
        let moved = choose(leaf.entry(), v, &order);
        let (k, permuted) = (values(training_gram(leaf, v).as_ref()), values(training_gram(leaf, &moved).as_ref()));
        let near = Tolerance::new(leaf, &moved, &moved, f64::EPSILON);
        for i in 0..n {
            for j in 0..n {
                near.assert(i, j, permuted[i * n + j], k[order[i] * n + order[j]], &sample.name);
            }
        }
    });
}

/// The kernels on vectors that compare what they are given, with data inside their domain.
fn vector_kernels() -> impl Iterator<Item = &'static KernelEntry> {
    kernels::all().filter(|e| e.kind == Kind::Vectors)
}

#[test]
fn dense_and_sparse_storage_in_either_precision_give_the_same_matrix() {
    for entry in vector_kernels() {
        for d in [1, 3, 17] {
            let rows = support::dense(entry.domain, 90, d, 0.5);
            let other = support::dense(entry.domain, 40, d, 0.5);
            let forms = |rows: &Rows<f64>| -> [Values; 4] {
                let sparse = SparseRows::from_dense(rows);
                [
                    rows.clone().into(),
                    rows.convert::<f32>().into(),
                    sparse.clone().into(),
                    sparse.convert::<f32>().into(),
                ]
            };
            let (left, right) = (forms(&other), forms(&rows));
            for leaf in variants(entry, &right[0], 1) {
                let wanted = values(leaf.gram(&left[0], &right[0], false).unwrap().as_ref());
                let near = Tolerance::new(leaf.as_ref(), &left[0], &right[0], f64::EPSILON);
                // any storage may meet any other
                for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
                    let got = values(leaf.gram(&left[a], &right[b], false).unwrap().as_ref());
                    for (p, (&g, &w)) in got.iter().zip(&wanted).enumerate() {
                        near.assert(p / 90, p % 90, g, w, &format!("storage {a} with {b}, d = {d}"));
                    }
                }
            }
        }
    }
}

#[test]
fn sparse_vectors_of_different_widths_are_compared_as_if_zeros_followed() {
    for entry in vector_kernels() {
        let narrow = support::dense(entry.domain, 20, 3, 0.3);
        let wide = support::dense(entry.domain, 25, 9, 0.3);
        let padded: Vec<Vec<f64>> = (0..20).map(|i| [narrow.row(i), &[0.0; 6]].concat()).collect();
        let padded = Values::from(Rows::from_vectors(&padded).unwrap());
        let (thin, sparse_wide) =
            (Values::from(SparseRows::from_dense(&narrow)), Values::from(SparseRows::from_dense(&wide)));
        let wide = Values::from(wide);
        for leaf in variants(entry, &wide, 2) {
            for (rows, cols, dense_rows, dense_cols) in
                [(&thin, &sparse_wide, &padded, &wide), (&sparse_wide, &thin, &wide, &padded)]
            {
                let got = values(leaf.gram(rows, cols, false).unwrap().as_ref());
                let wanted = values(leaf.gram(dense_rows, dense_cols, false).unwrap().as_ref());
                let near = Tolerance::new(leaf.as_ref(), dense_rows, dense_cols, f64::EPSILON);
                for (p, (&g, &w)) in got.iter().zip(&wanted).enumerate() {
                    near.assert(p / cols.len(), p % cols.len(), g, w, "widths 3 and 9");
                }
            }
        }
    }
}

#[test]
fn dense_vectors_of_different_widths_are_refused_by_every_family() {
    for entry in vector_kernels().filter(|e| !["noise", "rank_one"].contains(&e.name)) {
        let (a, b) = (support::dense(entry.domain, 4, 3, 0.0).into(), support::dense(entry.domain, 4, 5, 0.0).into());
        let mut leaf = (entry.make)();
        kernels::resolve(leaf.as_mut(), &b, Seed(1));
        let refused = leaf.gram(&a, &b, false).err();
        assert_eq!(refused, Some(KernelError::Width { kernel: entry.name, got: 3, wanted: 5 }));
    }
}

#[test]
fn coordinates_outside_the_domain_are_refused_with_their_place() {
    for entry in kernels::all().filter(|e| e.domain == Domain::NonNegative) {
        for sample in vectors(Domain::NonNegative, 3, 12, 3) {
            let leaf = (entry.make)();
            assert!(leaf.gram(&sample.training, &sample.training, true).is_ok());
        }
        let rows = Rows::new(vec![1.0, 2.0, 0.5, 0.0, 3.0, -0.25], 2, 3).unwrap();
        for v in [Values::from(rows.clone()), SparseRows::from_dense(&rows).into(), rows.convert::<f32>().into()] {
            let refused = (entry.make)().gram(&v, &v, true).err();
            let wanted = KernelError::Negative { kernel: entry.name, example: 2, coordinate: 3, value: -0.25 };
            assert_eq!(refused, Some(wanted));
        }
    }
}

#[test]
fn a_kernel_refuses_data_of_another_kind() {
    let text = Values::from(support::text(5, 1));
    let rows = Values::from(support::dense(Domain::Any, 5, 3, 0.0));
    let mut refusals = 0;
    for entry in kernels::all().filter(|e| e.name != "noise") {
        let (odd, has) = if entry.kind == Kind::Text { (&rows, Kind::Vectors) } else { (&text, Kind::Text) };
        let refused = (entry.make)().gram(odd, odd, true).err();
        assert_eq!(refused, Some(KernelError::Kind { kernel: entry.name, wants: entry.kind, has }));
        refusals += 1;
    }
    assert!(refusals > 10);
}
