//! Limits that hold: what cannot be stored is refused in words, and parameters beyond the data cost nothing.

use mercer::data::Dataset;
use mercer::formula::Formula;
use mercer::gram::fill;

fn strings(all: &[&str]) -> Dataset {
    Dataset::new(all.iter().map(ToString::to_string).collect::<Vec<_>>())
}

/// The whole matrix of a formula.
fn matrix(formula: &str, data: &Dataset) -> Result<Vec<f64>, String> {
    let kernel: Formula = formula.parse().map_err(|e: mercer::formula::FormulaError| e.to_string())?;
    let gram = kernel.gram(data).map_err(|e| e.to_string())?;
    let mut values = vec![0.0; data.len() * data.len()];
    fill(gram.as_ref(), &mut values);
    Ok(values)
}

#[test]
fn degrees_beyond_the_longest_string_are_those_of_the_longest_string() {
    let data = strings(&["ACGTTGCA", "ACGATGCA", "A", ""]);
    let million_million = 1_000_000_000_000_usize;
    for (kernel, long) in [
        ("weighted_degree(degree=D)", None),
        ("weighted_degree_shifts(degree=D, shift=2)", None),
        ("weighted_degree_shifts(degree=2, shift=D)", Some(8)),
        ("spectrum(length=D)", Some(9)),
        ("blended_spectrum(length=D)", Some(8)),
        ("subsequence(length=D)", Some(9)),
        ("mismatch(length=D, mismatches=1)", Some(9)),
        ("mismatch(length=3, mismatches=D)", Some(3)),
        ("mismatch(length=D, mismatches=D)", Some(9)),
        ("mismatch(length=D, mismatches=0)", Some(9)),
        ("bag_of_words(ngram=D)", Some(8)),
        ("latent_semantic(rank=D)", Some(4)),
    ] {
        let values = matrix(&kernel.replace('D', &million_million.to_string()), &data).unwrap();
        assert!(values.iter().all(|v| v.is_finite()), "{kernel}");
        if let Some(long) = long {
            assert_eq!(values, matrix(&kernel.replace('D', &long.to_string()), &data).unwrap(), "{kernel}");
        }
    }
    // β_k tends to 2/d for all k, so that d κ/2 counts all matching windows: of 8 letters 36
    let far = matrix(&format!("weighted_degree(degree={million_million})"), &data).unwrap();
    assert!((far[0] * million_million as f64 / 2.0 - 36.0).abs() < 1e-9, "{}", far[0]);
    // one letter: every word has a number, however long it is
    let one = strings(&["aaaa", "aa"]);
    assert_eq!(matrix("mismatch(length=4000000000, mismatches=0)", &one).unwrap(), [0.0; 4]);
}

#[test]
fn tables_that_grow_with_a_parameter_are_refused_in_words() {
    let long = "ab".repeat(20_000);
    let data = strings(&[&long, &long[1..]]);
    for (kernel, what) in [
        ("subsequence(length=20000)", "tables of the subsequence kernel"),
        ("mismatch(length=30000, mismatches=20000)", "mismatches of all substrings"),
        ("blended_spectrum(length=40000)", "substrings of all lengths"),
    ] {
        let error = matrix(kernel, &data).unwrap_err();
        assert!(error.contains(what) && error.contains("needs") && error.contains("--memory"), "{kernel}: {error}");
    }
    let words = "a ".repeat(50_000);
    let error = matrix("bag_of_words(ngram=1000000000000)", &strings(&[&words, "b"])).unwrap_err();
    assert!(error.contains("runs of words") && error.contains("smaller ngram"), "{error}");
    assert!(matrix("bag_of_words(ngram=3)", &strings(&[&words, "b"])).is_ok());
}

#[test]
fn what_is_learned_may_be_huge_and_is_then_no_number_but_no_panic() {
    use mercer::data::Values;
    use mercer::kernels::{
        Leaf, Learned,
        text::{LatentSemantic, Text},
    };
    let words: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
    // finite numbers whose sums are not: for each word two directions
    let numbers = vec![1e308, 1e308, -1e308, 1e308, 1e308, -1e308];
    let mut kernel = Text(LatentSemantic { rank: 2, ..LatentSemantic::default() });
    assert!(kernel.set_learned(Learned { words, numbers }));
    let texts = Values::from(vec!["a a a b b b c c c".to_owned(), "a a b b".into(), "c".into()]);
    let side = kernel.prepare(&texts, None).unwrap();
    let like = kernel.prepare(&texts, Some(&side)).unwrap();
    for rows in [&side, &like] {
        let gram = kernel.gram_between(rows, &side).unwrap();
        let mut values = vec![0.0; 9];
        fill(gram.as_ref(), &mut values);
        assert!(values.iter().any(|v| !v.is_finite()));
    }
    assert!(!kernel.eval(&texts, 0, &texts, 0).is_finite());
}

#[test]
fn as_many_classes_as_examples_are_refused_before_their_coefficients_are_made() {
    use mercer::prelude::*;
    let n = 20_000;
    let x = Rows::new((0..n).map(|i| i as f64).collect::<Vec<_>>(), n, 1).unwrap();
    let labels: Vec<String> = (0..n).map(|i| format!("name {i}")).collect();
    let data = Dataset::new(x).with_target(Target::from_text("y", &labels)).unwrap();
    let error = Svc::default().fit(&linear(), &data).unwrap_err();
    assert!(error.budget().is_some(), "{error}");
    let error = error.to_string();
    assert!(error.contains("20000 classes") && error.contains("Choose another column"), "{error}");
}

#[test]
fn kernels_on_columns_of_many_categories_are_those_on_their_dense_vectors() {
    use mercer::data::read::{ReadOptions, read};
    use mercer::data::{Scale, Schema, SchemaOptions, Values};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.csv");
    let mut text = "id,size,weight,y\n".to_owned();
    for i in 0..4200 {
        text += &format!("u{},{},{}e3,{}\n", i * 7 % 4150, i * i % 97, 100_000 + i % 11, i % 2);
    }
    std::fs::write(&path, text).unwrap();
    let table = read(&path, &ReadOptions::default()).unwrap();
    for scale in [Scale::Standard, Scale::Minmax] {
        let options = SchemaOptions { scale: Some(scale), ..SchemaOptions::default() };
        let (_, data) = Schema::learn_and_apply(&table, &options).unwrap();
        let Values::Sparse(rows) = data.view("x").unwrap() else { panic!("the vectors are dense") };
        let some = rows.select(&(0..60).map(|k| k * 70).collect::<Vec<_>>());
        let (dense, sparse) = (Dataset::new(some.to_dense()), Dataset::new(some));
        for kernel in
            ["rbf(gamma=0.1)", "linear", "polynomial(degree=3)", "laplacian(gamma=0.2)", "matern(nu=1.5, length=2)"]
        {
            let (a, b) = (matrix(kernel, &dense).unwrap(), matrix(kernel, &sparse).unwrap());
            let largest = a.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            for (a, b) in a.iter().zip(&b) {
                assert!((a - b).abs() <= 1e-12 * largest, "{scale:?} {kernel}: {a} {b}");
            }
        }
    }
}

#[test]
fn draws_that_fit_into_no_memory_are_refused_in_words() {
    use mercer::certify::Options;
    use mercer::gram::Budget;
    use mercer::hypothesis_tests::{Chance, Judgement, Stability, Statistic, dependence, two_sample};
    use mercer::model::Explain;
    use mercer::prelude::*;
    use mercer::watch::Silent;
    let many = 10_000_000_000_000_usize;
    let points: Vec<[f64; 1]> = (0..20).map(|i| [f64::from(i) + f64::from(i % 2) * 40.0]).collect();
    let names: Vec<&str> = (0..20).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
    let target = Target::from_text("y", &names);
    let data = Dataset::new(Rows::from_vectors(&points).unwrap()).with_target(target).unwrap();
    let model = Svc::default().fit(&rbf(1.0), &data).unwrap();
    let gram = rbf(1.0).gram(&data).unwrap();
    let first: Vec<bool> = (0..20).map(|i| i % 2 == 0).collect();
    let how = Judgement { radius: 1.0, delta: 0.05, draws: many, seed: Seed(0) };
    let chance = Chance::Permute(Statistic::Unbiased);
    let (budget, silent) = (Budget::default(), &Silent);
    let asked = Explain { repeats: many, ..Explain::default() };
    let perceptron = Perceptron { permutations: many, ..Perceptron::default() };
    for (error, remedy) in [
        (model.certify(&data, &Options { evidence: many, ..Options::default() }, silent).err(), "fewer draws"),
        (model.explain(&data, &asked, silent).err(), "fewer permutations"),
        (Stability::of(gram.as_ref(), how, budget, silent).err(), "fewer draws"),
        (two_sample(gram.as_ref(), &first, chance, many, Seed(0), budget, silent).err(), "fewer draws"),
        (dependence(gram.as_ref(), gram.as_ref(), usize::MAX, Seed(0), budget, silent).err(), "fewer draws"),
        (perceptron.fit(&rbf(1.0), &data).err(), "fewer permutations"),
        (KernelKMeans { restarts: many, ..KernelKMeans::default() }.fit(&rbf(1.0), &data).err(), "fewer restarts"),
        (
            SpectralClustering { restarts: usize::MAX, ..SpectralClustering::default() }.fit(&rbf(1.0), &data).err(),
            "fewer restarts",
        ),
    ] {
        let error = error.unwrap();
        assert!(error.budget().is_some() && error.to_string().contains(remedy), "{remedy}: {error}");
    }
}
