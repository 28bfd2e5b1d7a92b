//! Laws of consistency: every way to the same numbers gives them, for every kernel of the catalogue: f32 and f64, blocks and rows, ranges and
//! lists, restricted matrices, any number of threads, very wide and far shifted data.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::{self, Sample, Tolerance, block, block32, in_pool, samples, show, values, values32, variants};
use mercer::data::{Coordinate, Kind, Rows, SparseRows, Values};
use mercer::gram::{Gram, Pick, Side, apply};
use mercer::kernels::{self, Domain, Leaf, radial};
use mercer::seed::Seed;
use std::sync::Arc;

const SINGLE: f64 = f32::EPSILON as f64;

/// Calls `law` with the matrix between new and training examples of every kernel and sample.
fn everywhere(m: usize, n: usize, others: u64, law: impl Fn(&dyn Leaf, &Sample, Arc<dyn Gram>)) {
    for entry in kernels::all() {
        for sample in samples(entry, m, n) {
            for leaf in variants(entry, &sample.training, others) {
                let gram = leaf.gram(&sample.new, &sample.training, false).unwrap();
                law(leaf.as_ref(), &sample, gram);
            }
        }
    }
}

#[test]
fn single_precision_is_double_precision_rounded() {
    everywhere(60, 150, 1, |leaf, sample, gram| {
        let near = Tolerance::new(leaf, &sample.new, &sample.training, SINGLE);
        let (wide, narrow) = (values(gram.as_ref()), values32(gram.as_ref()));
        for (p, (&w, &n)) in wide.iter().zip(&narrow).enumerate() {
            near.assert(p / 150, p % 150, f64::from(n), w, &sample.name);
        }
    });
}

#[test]
fn single_precision_on_training_examples_has_an_exact_diagonal_where_double_precision_has() {
    for entry in kernels::all() {
        for sample in samples(entry, 1, 70) {
            for leaf in variants(entry, &sample.training, 2) {
                let v = &sample.training;
                let gram = leaf.gram(v, v, true).unwrap();
                let near = Tolerance::new(leaf.as_ref(), v, v, SINGLE);
                let (wide, narrow) = (values(gram.as_ref()), values32(gram.as_ref()));
                let mut row = vec![f32::NAN; 70];
                for i in 0..70 {
                    gram.row32(i, 0..70, &mut row);
                    for j in 0..70 {
                        near.assert(i, j, f64::from(narrow[i * 70 + j]), wide[i * 70 + j], &sample.name);
                        near.assert(i, j, f64::from(row[j]), wide[i * 70 + j], &sample.name);
                    }
                    if radial::ENTRIES.iter().any(|e| e.name == entry.name) {
                        let own = leaf.eval(v, i, v, i);
                        assert_eq!((wide[i * 71], narrow[i * 71], row[i]), (own, own as f32, own as f32));
                        let lists = (Pick::List(&[5, i][..]), Pick::List(&[i, 7][..]));
                        assert_eq!(block(gram.as_ref(), lists.0.clone(), lists.1.clone())[2], own);
                        assert_eq!(block32(gram.as_ref(), lists.0, lists.1)[2], own as f32);
                    }
                }
            }
        }
    }
}

#[test]
fn a_row_over_any_range_is_the_block_over_that_range() {
    everywhere(5, 150, 1, |leaf, sample, gram| {
        let near = Tolerance::new(leaf, &sample.new, &sample.training, SINGLE);
        for range in [0..150, 0..1, 1..2, 3..40, 31..33, 16..48, 33..129, 64..150, 149..150, 70..70] {
            for i in [0, 4] {
                let mut row = vec![f32::NAN; range.len()];
                gram.row32(i, range.clone(), &mut row);
                let wanted = block32(gram.as_ref(), Pick::Range(i..i + 1), Pick::Range(range.clone()));
                for (k, (&got, &wanted)) in row.iter().zip(&wanted).enumerate() {
                    let context = format!("{}, row {i} over {range:?}", sample.name);
                    near.assert(i, range.start + k, f64::from(got), f64::from(wanted), &context);
                }
            }
        }
    });
}

#[test]
fn a_list_gives_what_a_range_gives() {
    everywhere(40, 150, 1, |leaf, sample, gram| {
        let near = Tolerance::new(leaf, &sample.new, &sample.training, f64::EPSILON);
        let rough = Tolerance::new(leaf, &sample.new, &sample.training, SINGLE);
        let whole = values(gram.as_ref());
        let rows: Vec<usize> = vec![39, 0, 7, 7, 21];
        let cols: Vec<usize> = (0..150).rev().step_by(3).chain([5, 5, 0]).collect();
        let (ten, seventy): (Vec<usize>, Vec<usize>) = ((10..37).collect(), (30..101).collect());
        let picks = [
            (Pick::List(&rows), Pick::List(&cols)),
            (Pick::Range(10..37), Pick::List(&cols)),
            (Pick::List(&rows), Pick::Range(30..101)),
            (Pick::Range(10..37), Pick::Range(30..101)),
            (Pick::List(&ten), Pick::List(&seventy)),
            (Pick::Range(3..3), Pick::List(&cols)),
        ];
        for (r, c) in &picks {
            let got = block(gram.as_ref(), r.clone(), c.clone());
            let single = block32(gram.as_ref(), r.clone(), c.clone());
            assert_eq!((got.len(), single.len()), (r.len() * c.len(), r.len() * c.len()));
            for (p, (&g, &s)) in got.iter().zip(&single).enumerate() {
                let (i, j) = (r.at(p / c.len()), c.at(p % c.len()));
                near.assert(i, j, g, whole[i * 150 + j], &sample.name);
                rough.assert(i, j, f64::from(s), whole[i * 150 + j], &sample.name);
            }
        }
    });
}

#[test]
fn restricting_is_gathering_rows_and_columns() {
    let gathered =
        |leaf: &dyn Leaf, gram: Arc<dyn Gram>, rows: &Values, cols: &Values, picks: [&[usize]; 2], name: &str| {
            let width = gram.shape().1;
            let (whole, own) = (values(gram.as_ref()), gram.self_similarities(Side::Columns));
            let chosen = gram.restrict(picks[0], picks[1]);
            assert_eq!(chosen.shape(), (picks[0].len(), picks[1].len()));
            let near = Tolerance::new(leaf, rows, cols, f64::EPSILON);
            let rough = Tolerance::new(leaf, rows, cols, SINGLE);
            let (got, single) = (values(chosen.as_ref()), values32(chosen.as_ref()));
            for (p, (&g, &s)) in got.iter().zip(&single).enumerate() {
                let (i, j) = (picks[0][p / picks[1].len()], picks[1][p % picks[1].len()]);
                near.assert(i, j, g, whole[i * width + j], name);
                rough.assert(i, j, f64::from(s), whole[i * width + j], name);
            }
            if let (Some(all), Some(some)) = (own, chosen.self_similarities(Side::Columns)) {
                let wanted: Vec<f64> = picks[1].iter().map(|&j| all[j]).collect();
                assert_eq!(some, wanted, "{}", show(leaf));
            }
        };
    let rows: Vec<usize> = vec![17, 3, 3, 0, 39];
    let cols: Vec<usize> = vec![50, 2, 2, 17, 3, 39, 0];
    everywhere(40, 60, 1, |leaf, sample, gram| {
        gathered(leaf, gram, &sample.new, &sample.training, [&rows, &cols], &sample.name);
        // of a training matrix: the same choice on both sides, and different ones
        let v = &sample.training;
        for picks in [[&cols[..], &cols[..]], [&rows, &cols], [&cols, &rows]] {
            let gram = leaf.gram(v, v, true).unwrap();
            gathered(leaf, gram, v, v, picks, &sample.name);
        }
        // twice is once
        let twice = leaf.gram(v, v, true).unwrap().restrict(&cols, &rows).restrict(&[3, 1], &[0, 4, 4]);
        let once = leaf.gram(v, v, true).unwrap().restrict(&[17, 2], &[17, 39, 39]);
        let near = Tolerance::new(leaf, v, v, f64::EPSILON);
        for (p, (a, b)) in values(twice.as_ref()).into_iter().zip(values(once.as_ref())).enumerate() {
            near.assert([17, 2][p / 3], [17, 39, 39][p % 3], a, b, &sample.name);
        }
    });
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for entry in kernels::all() {
        let all = samples(entry, 200, 530);
        for sample in all.iter().rev().take(4) {
            for leaf in variants(entry, &sample.training, 0) {
                let weights: Vec<f64> = (0..530 * 3).map(|i| (f64::from(i) * 0.37).sin()).collect();
                let run = |threads| {
                    in_pool(threads, || {
                        // prepared anew, so that preparing is tried too
                        let gram = leaf.gram(&sample.new, &sample.training, false).unwrap();
                        let (mut one, mut three) = (vec![0.0; 200], vec![0.0; 600]);
                        apply(gram.as_ref(), &weights[..530], 1, &mut one);
                        apply(gram.as_ref(), &weights, 3, &mut three);
                        let wide = [values(gram.as_ref()), one, three].concat();
                        let narrow = values32(gram.as_ref());
                        let bits = wide.iter().map(|x| x.to_bits());
                        bits.chain(narrow.iter().map(|x| u64::from(x.to_bits()))).collect::<Vec<u64>>()
                    })
                };
                let wanted = run(1);
                for threads in [2, 3, 5] {
                    let same = run(threads) == wanted;
                    assert!(same, "{} on {} with {threads} threads", show(leaf.as_ref()), sample.name);
                }
            }
        }
    }
}

#[test]
fn an_index_of_two_thousand_million_needs_no_memory_of_that_size() {
    fn rows(n: usize, far: bool) -> SparseRows<f64> {
        let mut random = Seed(5).stream("wide");
        let places = if far { [3, 70, 1_500_000, 1_999_999_999, 2_000_000_000] } else { [0, 1, 2, 3, 4] };
        let mut rows = SparseRows::new(0);
        for _ in 0..n {
            let all = places.map(|index| Coordinate { index, value: f64::from(random.normal().abs() as f32) });
            let some: Vec<_> = all.into_iter().filter(|_| random.uniform() < 0.6).collect();
            assert!(rows.push(&some));
        }
        rows
    }
    // kernels that know the place of a coordinate see other vectors
    let placeless = |name: &str| !["rank_one", "image_blocks"].contains(&name);
    for entry in kernels::all().filter(|e| e.kind == Kind::Vectors && placeless(e.name)) {
        for single in [false, true] {
            let form = |far| -> [Values; 2] {
                let (a, b) = (rows(40, far), rows(23, far));
                if single { [a.convert::<f32>().into(), b.convert::<f32>().into()] } else { [a.into(), b.into()] }
            };
            let ([training, new], [near_training, near_new]) = (form(true), form(false));
            for leaf in variants(entry, &near_training, 1) {
                if leaf.settings().iter().any(|(_, s)| s.to_string().contains(", ")) {
                    continue; // as many lengths as coordinates
                }
                let wanted = values(leaf.gram(&near_new, &near_training, false).unwrap().as_ref());
                let gram = leaf.gram(&new, &training, false).unwrap();
                let near = Tolerance::new(leaf.as_ref(), &new, &training, f64::EPSILON);
                for (p, (&got, &wanted)) in values(gram.as_ref()).iter().zip(&wanted).enumerate() {
                    near.assert(p / 40, p % 40, got, wanted, "very wide");
                    near.assert(p / 40, p % 40, leaf.eval(&new, p / 40, &training, p % 40), wanted, "very wide");
                }
                let mut row = vec![f32::NAN; 40];
                gram.row32(2, 0..40, &mut row);
                let near = Tolerance::new(leaf.as_ref(), &near_new, &near_training, SINGLE);
                (0..40).for_each(|j| near.assert(2, j, f64::from(row[j]), wanted[80 + j], "very wide"));
                assert_eq!(leaf.gram(&training, &training, true).unwrap().restrict(&[1, 2], &[3]).shape(), (2, 1));
            }
        }
    }
}

#[test]
fn as_many_lengths_as_coordinates_leave_out_what_lies_beyond_without_memory_for_it() {
    let coordinate = |index, value| Coordinate { index, value };
    let (mut new, mut training) = (SparseRows::new(0), SparseRows::new(0));
    assert!(new.push(&[coordinate(0, 1.0), coordinate(2_000_000_000, 5.0)]));
    assert!(training.push(&[coordinate(1, 2.0)]));
    let leaf = radial::Radial(radial::Ard { lengths: vec![1.0, 2.0] });
    let (new, training) = (Values::from(new), Values::from(training));
    let wanted = (-1.0_f64).exp(); // ½ (1² + (2/2)²)
    assert!((leaf.eval(&new, 0, &training, 0) - wanted).abs() < 1e-15);
    let got = values(Leaf::gram(&leaf, &new, &training, false).unwrap().as_ref());
    assert!((got[0] - wanted).abs() < 1e-15, "{got:?}");
}

#[test]
fn no_examples_give_a_matrix_without_numbers() {
    for entry in kernels::all().filter(|e| e.kind != Kind::Precomputed) {
        for sample in samples(entry, 3, 20) {
            let (none, some) = (sample.training.select(&[]), &sample.training);
            for leaf in variants(entry, some, 1) {
                for (rows, cols, shape) in [(&none, some, (0, 20)), (some, &none, (20, 0)), (&none, &none, (0, 0))] {
                    let gram = leaf.gram(rows, cols, shape == (0, 0)).unwrap();
                    assert_eq!(gram.shape(), shape);
                    assert!(values(gram.as_ref()).is_empty() && values32(gram.as_ref()).is_empty());
                    assert_eq!(gram.self_similarities(Side::Rows).map(|s| s.len()), Some(shape.0));
                    let mut out = vec![f64::NAN; shape.0 * 2];
                    apply(gram.as_ref(), &vec![1.0; shape.1 * 2], 2, &mut out);
                    assert!(out.iter().all(|&x| x == 0.0), "an empty sum is zero");
                    assert_eq!(gram.restrict(&[], &[]).shape(), (0, 0));
                }
                let gram = leaf.gram(some, some, true).unwrap().restrict(&[3], &[]);
                assert_eq!((gram.shape(), values(gram.as_ref()).len()), ((1, 0), 0));
            }
        }
    }
}

#[test]
fn vectors_without_coordinates_are_all_the_zero_vector() {
    for entry in kernels::all().filter(|e| e.kind == Kind::Vectors) {
        let rows = Rows::<f64>::new(Vec::new(), 40, 0).unwrap();
        let zero = Values::from(Rows::new(vec![0.0; 40], 40, 1).unwrap());
        for v in [Values::from(rows.clone()), rows.convert::<f32>().into(), SparseRows::from_dense(&rows).into()] {
            for leaf in variants(entry, &zero, 1) {
                let gram = leaf.gram(&v, &v, true).unwrap();
                let wanted = values(leaf.gram(&zero, &zero, true).unwrap().as_ref());
                assert_eq!(values(gram.as_ref()), wanted, "{}", show(leaf.as_ref()));
                let mut row = vec![f32::NAN; 40];
                gram.row32(3, 0..40, &mut row);
                let near = |(&r, &w): (&f32, &f64)| (f64::from(r) - w).abs() <= 4.0 * SINGLE * w.abs();
                assert!(row.iter().zip(&wanted[120..160]).all(near), "{}", show(leaf.as_ref()));
            }
        }
    }
}

#[test]
fn a_far_origin_does_not_destroy_kernels_of_differences() {
    let laplacian = mercer::kernels::find("laplacian").unwrap();
    for entry in radial::ENTRIES.iter().copied().chain([laplacian]) {
        let rows = support::dense(Domain::Any, 100, 3, 0.0);
        let mut far = rows.clone();
        far.values_mut().iter_mut().for_each(|x| *x += 1e6);
        let picked = |rows: &Rows<f64>, keep: std::ops::Range<usize>| -> Values {
            rows.select(&keep.collect::<Vec<_>>()).into()
        };
        let (near_v, v) = (picked(&rows, 0..100), picked(&far, 0..100));
        let new = picked(&far, 0..30);
        for leaf in variants(entry, &near_v, 3) {
            let square = leaf.gram(&v, &v, true).unwrap();
            let (wide, narrow) = (values(square.as_ref()), values32(square.as_ref()));
            let cross = values(leaf.gram(&new, &v, false).unwrap().as_ref());
            // measured from the centre: what is left are the roundings of the data, 1e6 ε each
            let near = Tolerance::new(leaf.as_ref(), &near_v, &near_v, 1e6 * f64::EPSILON);
            let rough = Tolerance::new(leaf.as_ref(), &near_v, &near_v, SINGLE);
            let mut row = vec![f32::NAN; 100];
            for i in 0..100 {
                square.row32(i, 0..100, &mut row);
                for j in 0..100 {
                    let wanted = leaf.eval(&near_v, i, &near_v, j);
                    near.assert(i, j, wide[i * 100 + j], wanted, "far origin");
                    rough.assert(i, j, f64::from(narrow[i * 100 + j]), wanted, "far origin, f32");
                    rough.assert(i, j, f64::from(row[j]), wanted, "far origin, one row");
                    if i < 30 {
                        near.assert(i, j, cross[i * 100 + j], wanted, "far origin, new examples");
                    }
                }
            }
        }
    }
}
