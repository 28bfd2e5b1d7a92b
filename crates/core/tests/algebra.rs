//! The algebra of kernels against features: sums and products on several views, polynomials of kernels, sets of members.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::{dense, values};
use mercer::data::{Dataset, Rows, SparseRows};
use mercer::error::Blame;
use mercer::formula::*;
use mercer::gram::Side;
use mercer::kernels::Domain;
use mercer::seed::Seed;

fn read(text: &str) -> Formula {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

fn matrix(formula: &Formula, data: &Dataset) -> Vec<f64> {
    values(formula.gram(data).unwrap_or_else(|e| panic!("{formula}: {e}")).as_ref())
}

fn assert_near(got: &[f64], wanted: &[f64], what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    for (g, w) in got.iter().zip(wanted) {
        assert!((g - w).abs() <= 1e-12 * (1.0 + w.abs()), "{what}: {g} instead of {w}");
    }
}

/// Two views of 25 examples.
fn two_views() -> (Rows<f64>, Rows<f64>, Dataset) {
    let (a, b) = (dense(Domain::Any, 25, 3, 0.0), dense(Domain::Any, 25, 4, 0.0));
    let data = Dataset::new(a.clone()).with_view("b", b.clone()).unwrap();
    (a, b, data)
}

#[test]
fn a_direct_sum_is_the_kernel_of_concatenated_features() {
    let (a, b, data) = two_views();
    let joined: Vec<Vec<f64>> = (0..25).map(|i| [a.row(i), b.row(i)].concat()).collect();
    let joined = Dataset::new(Rows::from_vectors(&joined).unwrap());
    let formula = linear().on("x").direct_sum(linear().on("b"));
    assert_near(&matrix(&formula, &data), &matrix(&linear(), &joined), "concatenated");
    assert_near(&matrix(&read("direct_sum(linear@x, linear@b)"), &data), &matrix(&linear(), &joined), "read");
}

#[test]
fn a_tensor_product_is_the_kernel_of_all_products_of_features() {
    let (a, b, data) = two_views();
    let outer = |i: usize| a.row(i).iter().flat_map(|x| b.row(i).iter().map(move |y| x * y)).collect::<Vec<f64>>();
    let products = Dataset::new(Rows::from_vectors(&(0..25).map(outer).collect::<Vec<_>>()).unwrap());
    let formula = linear().on("x").tensor_product(linear().on("b"));
    assert_near(&matrix(&formula, &data), &matrix(&linear(), &products), "products");
    assert_near(&matrix(&read("tensor_product(linear@x, linear@b)"), &data), &matrix(&linear(), &products), "read");
    // of Gaussian kernels it is the Gaussian kernel of both together, so is no sum
    let joined: Vec<Vec<f64>> = (0..25).map(|i| [a.row(i), b.row(i)].concat()).collect();
    let joined = Dataset::new(Rows::from_vectors(&joined).unwrap());
    let product = rbf(0.1).on("x").tensor_product(rbf(0.1).on("b"));
    assert_near(&matrix(&product, &data), &matrix(&rbf(0.1), &joined), "Gaussian");
}

#[test]
fn a_series_is_the_sum_of_its_powers() {
    let (_, _, data) = two_views();
    let k = matrix(&read("rbf(0.3)"), &data);
    let wanted: Vec<f64> = k.iter().map(|k| 1.0 + 0.5 * k + 2.0 * k.powi(3)).collect();
    let series = read("series(rbf(0.3), coefficients=[1, 0.5, 0, 2])");
    assert_near(&matrix(&series, &data), &wanted, "by powers");
    assert_near(&matrix(&series, &data), &matrix(&read("1 + 0.5*rbf(0.3) + 2*rbf(0.3)^3"), &data), "by operators");
    // the exponential's own
    let coefficients: Vec<f64> = (0..25).map(|k| 1.0 / (1..=k).map(f64::from).product::<f64>()).collect();
    assert_near(&matrix(&rbf(0.3).series(&coefficients), &data), &matrix(&rbf(0.3).exp(), &data), "exp");
    let own = series.gram(&data).unwrap().self_similarities(Side::Rows).unwrap();
    assert!(own.iter().all(|v| (v - 3.5).abs() < 1e-12));
}

/// Sets of up to five vectors of two coordinates: as vectors with gaps, and as they are.
fn bags(n: usize, seed: u64) -> (Rows<f64>, Vec<Vec<[f64; 2]>>) {
    let mut random = Seed(seed).stream("bags");
    let mut flat = Vec::new();
    let sets: Vec<Vec<[f64; 2]>> = (0..n)
        .map(|i| {
            // a member may be missing anywhere in its row
            let there: Vec<bool> = (0..5).map(|_| random.uniform() < 0.6 && i % 8 != 3).collect();
            let mut set = Vec::new();
            for (m, &there) in there.iter().enumerate() {
                let member = [random.normal(), random.normal() + m as f64];
                if there || (i % 2 == 0 && m == 0) {
                    flat.extend(member);
                    set.push(member);
                } else {
                    flat.extend([f64::NAN; 2]);
                }
            }
            set
        })
        .collect();
    (Rows::new(flat, n, 10).unwrap(), sets)
}

fn pairwise(a: &[Vec<[f64; 2]>], b: &[Vec<[f64; 2]>], kernel: impl Fn(&[f64; 2], &[f64; 2]) -> f64) -> Vec<f64> {
    let sum = |a: &Vec<[f64; 2]>, b: &Vec<[f64; 2]>| {
        a.iter().flat_map(|x| b.iter().map(|y| kernel(x, y)).collect::<Vec<_>>()).sum()
    };
    a.iter().flat_map(|a| b.iter().map(|b| sum(a, b)).collect::<Vec<f64>>()).collect()
}

#[test]
fn a_set_of_vectors_is_the_sum_over_pairs_of_members() {
    let ((rows, sets), (more, others)) = (bags(40, 1), bags(15, 2));
    let gaussian = |x: &[f64; 2], y: &[f64; 2]| (-0.7 * ((x[0] - y[0]).powi(2) + (x[1] - y[1]).powi(2))).exp();
    let inner = |x: &[f64; 2], y: &[f64; 2]| x[0] * y[0] + x[1] * y[1];
    let (data, new) = (Dataset::new(rows.clone()), Dataset::new(more.clone()));
    let kernel = read("set(rbf(0.7), columns=2)");
    assert_near(&matrix(&kernel, &data), &pairwise(&sets, &sets, gaussian), "rbf");
    let cross = kernel.cross(&new, &data).unwrap();
    let wanted = pairwise(&others, &sets, gaussian);
    assert_near(&values(cross.as_ref()), &wanted, "new sets");
    for (side, sets) in [(Side::Rows, &others), (Side::Columns, &sets)] {
        let all = pairwise(sets, sets, gaussian);
        let wanted: Vec<f64> = (0..sets.len()).map(|i| all[i * sets.len() + i]).collect();
        assert_near(&cross.self_similarities(side).unwrap(), &wanted, "κ(A, A)");
    }
    // sets of vectors under the linear kernel are the sums of their members
    let sum = |set: &Vec<[f64; 2]>| set.iter().fold(vec![0.0, 0.0], |s, m| vec![s[0] + m[0], s[1] + m[1]]);
    let sums = Dataset::new(Rows::from_vectors(&sets.iter().map(sum).collect::<Vec<_>>()).unwrap());
    assert_near(&matrix(&read("set(linear, columns=2)"), &data), &matrix(&linear(), &sums), "linear");
    assert_near(&matrix(&linear(), &sums), &pairwise(&sets, &sets, inner), "linear");
    // in f32 the same numbers to its digits
    let narrow = matrix(&kernel, &Dataset::new(rows.convert::<f32>()));
    assert!(narrow.iter().zip(matrix(&kernel, &data)).all(|(a, b)| (a - b).abs() < 1e-5));
    // any formula may stand inside
    let composed = read("set(normalise(linear + 1)^2 + series(rbf(0.7), [0, 1, 1]), columns=2)");
    let cosine = |x: &[f64; 2], y: &[f64; 2]| (1.0 + inner(x, y)) / ((1.0 + inner(x, x)) * (1.0 + inner(y, y))).sqrt();
    let by_hand = |x: &[f64; 2], y: &[f64; 2]| cosine(x, y).powi(2) + gaussian(x, y) + gaussian(x, y).powi(2);
    assert_near(&matrix(&composed, &data), &pairwise(&sets, &sets, by_hand), "composed");
    assert_near(&values(composed.cross(&new, &data).unwrap().as_ref()), &pairwise(&others, &sets, by_hand), "composed");
}

#[test]
fn the_order_of_members_and_their_places_do_not_matter() {
    let (rows, _) = bags(20, 3);
    let turned: Vec<Vec<f64>> =
        (0..20).map(|i| rows.row(i).chunks(2).rev().flatten().copied().chain([f64::NAN; 4]).collect()).collect();
    let turned = Dataset::new(Rows::from_vectors(&turned).unwrap());
    let kernel = read("set(laplacian(0.5), columns=2)");
    let data = Dataset::new(rows);
    assert_near(&matrix(&kernel, &data), &matrix(&kernel, &turned), "turned");
    // also between collections with room for different numbers of members
    let cross = kernel.cross(&turned, &data).unwrap();
    assert_near(&values(cross.as_ref()), &matrix(&kernel, &data), "crossed");
}

#[test]
fn a_mean_divides_by_the_numbers_of_members_and_words_are_learned_from_members() {
    let (rows, sets) = bags(40, 1);
    let kept: Vec<usize> = (0..40).filter(|&i| !sets[i].is_empty()).collect();
    assert!(kept.len() < 40, "the sample has empty sets");
    let data = Dataset::new(rows.clone()).select(&kept);
    let sets: Vec<_> = kept.iter().map(|&i| sets[i].clone()).collect();
    let (sum, mean) =
        (matrix(&read("set(rbf(1), columns=2)"), &data), matrix(&read("set(rbf(1), columns=2, mean=true)"), &data));
    let n = kept.len();
    let wanted: Vec<f64> = (0..n * n).map(|p| sum[p] / (sets[p / n].len() * sets[p % n].len()) as f64).collect();
    assert_near(&mean, &wanted, "mean");
    let empty = read("set(rbf(1), columns=2, mean=true)").gram(&Dataset::new(rows)).err().unwrap();
    assert!(empty.to_string().contains("has no members, so it has no mean") && empty.blame() == Blame::Data, "{empty}");
    // scale is that of members, not of rows
    let members = Dataset::new(Rows::from_vectors(&sets.concat()).unwrap());
    let alone = read("rbf").resolve(&members, Seed(1)).unwrap().to_string();
    assert_eq!(
        read("set(rbf, columns=2)").resolve(&data, Seed(1)).unwrap().to_string(),
        format!("set({alone}, columns=2)")
    );
}

#[test]
fn sets_of_strings_and_sets_of_sets() {
    let lines = ["ab|abc|b", "", "abc", "b||b|", "|"].map(str::to_owned).to_vec();
    let sets: [&[&str]; 5] = [&["ab", "abc", "b"], &[], &["abc"], &["b", "b"], &[]];
    let count = |s: &str, c: char| s.chars().filter(|x| *x == c).count() as f64;
    let single = |s: &str, t: &str| "abc".chars().map(|c| count(s, c) * count(t, c)).sum::<f64>();
    let sum =
        |a: &[&str], b: &[&str]| a.iter().flat_map(|s| b.iter().map(|t| single(s, t)).collect::<Vec<_>>()).sum::<f64>();
    let wanted: Vec<f64> = sets.iter().flat_map(|a| sets.iter().map(|b| sum(a, b)).collect::<Vec<_>>()).collect();
    let data = Dataset::new(lines);
    assert_near(&matrix(&read("set(spectrum(1), separator=\"|\")"), &data), &wanted, "strings");
    // a set of sets, each of one level normalised: the outer level sums cosines of the inner
    let nested = Dataset::new(vec!["a,b;c".to_owned(), "b;b".to_owned()]);
    let k = matrix(&read("set(normalise(set(spectrum(1), separator=\",\")), separator=\";\")"), &nested);
    let half = 0.5_f64.sqrt();
    assert_near(&k, &[2.0, 2.0 * half, 2.0 * half, 4.0], "nested");
    // two views whose members correspond
    let both = Dataset::new(Rows::new(vec![1.0, 2.0, 3.0, f64::NAN], 2, 2).unwrap())
        .with_view("t", vec!["a|b".to_owned(), "a".to_owned()])
        .unwrap();
    let k = matrix(&read("set(linear@x * spectrum(1)@t, columns=1, separator=\"|\")"), &both);
    assert_near(&k, &[5.0, 3.0, 3.0, 9.0], "two views");
    let odd = both.with_view("u", vec!["a|b".to_owned(), "a|b".to_owned()]).unwrap();
    let told = read("set(linear@x * spectrum(1)@u, columns=1, separator=\"|\")").gram(&odd).err().unwrap().to_string();
    assert!(told.contains("example 2 has 1 members in view x, but 2 in view u"), "{told}");
}

#[test]
fn the_features_of_a_set_are_sums_of_those_of_its_members() {
    let (rows, _) = bags(30, 1);
    let mut random = Seed(4).stream("words");
    let line = |random: &mut mercer::seed::Random| {
        (0..=random.below(9)).map(|_| ["ab", "ba", "|", "cab"][random.below(4)]).collect::<String>()
    };
    let kept: Vec<usize> = (0..30).filter(|i| i % 2 == 0).collect();
    let lines: Vec<String> = (0..30).map(|_| format!("a{}", line(&mut random))).collect();
    let data = Dataset::new(rows).with_view("t", lines).unwrap().select(&kept);
    for text in [
        "set(linear@x, columns=2)",
        "set(linear@x, columns=2, mean=true)",
        "0.5*set(spectrum(2)@t, separator=\"|\")",
        "set(normalise(spectrum(1)@t), separator=\"|\", mean=true)",
    ] {
        let formula = read(text);
        let (features, scale) = formula.features(&data).unwrap_or_else(|| panic!("{text} has no features"));
        let features = match features {
            mercer::data::Vectors::Dense(rows) => Dataset::new(rows.as_ref().clone()),
            mercer::data::Vectors::Sparse(rows) => Dataset::new(rows.as_ref().clone()),
        };
        assert_near(&matrix(&formula, &data), &matrix(&(scale * linear()), &features), text);
    }
}

#[test]
fn what_has_no_members_is_told() {
    let rows = Rows::new(vec![1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0], 2, 3).unwrap();
    let data = Dataset::new(rows.clone()).with_view("t", vec!["a".to_owned(), "b".to_owned()]).unwrap();
    let whole = Dataset::new(Rows::new(vec![1.0; 6], 2, 3).unwrap());
    let sparse = Dataset::new(SparseRows::from_dense(&Rows::new(vec![1.0; 6], 2, 3).unwrap()));
    for (text, data, part) in [
        ("set(linear, columns=2)", &whole, "has 3 columns, which are no whole number of members of 2"),
        ("set(linear, columns=3)", &data, "member 1 of example 1 in view x has 1 of 3 columns missing"),
        ("set(linear, separator=\"|\")", &whole, "view x holds vectors; say where its members are, such as columns=2"),
        ("set(spectrum, columns=2)", &data, "view t holds text; say where its members are, such as separator="),
        ("set(linear, columns=3)", &sparse, "give set(…) dense vectors"),
        ("set(3, columns=3)", &whole, "needs a kernel inside that looks at the data"),
        ("set(linear@q, columns=3)", &whole, "q"),
    ] {
        let told = read(text).gram(data).err().unwrap_or_else(|| panic!("{text} was bound")).to_string();
        assert!(told.contains(part), "{text}: {told}");
    }
    // what the language refuses is refused by the builder when it meets data
    let told = linear().centre().set(Members::vectors(1)).gram(&whole).err().unwrap().to_string();
    assert!(told.contains("write centre(set(…))"), "{told}");
    // a kernel that takes gaps takes them in members, too
    let taken = read("set(missing_gaussian(gamma=1), columns=3)").gram(&Dataset::new(rows));
    assert!(taken.is_ok());
    let none = Dataset::new(Rows::<f64>::new(vec![f64::NAN; 4], 2, 2).unwrap());
    assert_eq!(matrix(&read("set(rbf(1), columns=1)"), &none), [0.0; 4]);
    assert!(read("set(rbf, columns=2)").takes_gaps() && read("rbf + set(rbf, columns=2)").meets_gaps());
    assert!(!read("rbf + set(rbf, columns=2)").takes_gaps() && !read("rbf").meets_gaps());
    assert_eq!(read("linear@a + set(rbf@b + spectrum, columns=2)").member_views(), [Some("b")]);
}

#[test]
fn threads_change_no_bit_of_a_set() {
    let (rows, _) = bags(700, 5);
    let data = Dataset::new(rows);
    let kernel = read("normalise(set(rbf(0.7), columns=2) + 1)");
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| matrix(&kernel, &data).iter().map(|v| v.to_bits()).collect::<Vec<_>>())
    };
    assert!(with(1) == with(3));
}
