//! Permutation importance against sums by hand.

use super::*;
use crate::data::read::{ReadOptions, read};
use crate::job::Job;
use crate::prelude::{Fit, Ridge, SchemaOptions, Svc, Target, linear, rbf};
use crate::watch::Silent;

/// Three independent columns; the third is nowhere in the target.
fn examples(n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut random = Seed(5).stream("importance");
    let values: Vec<f64> = (0..3 * n).map(|_| random.normal()).collect();
    let target = values.chunks_exact(3).map(|x| 2.0 * x[0] - 0.5 * x[1]).collect();
    (values, target)
}

#[test]
fn the_importance_in_a_linear_function_is_that_of_its_weight() {
    let n = 200;
    let (values, target) = examples(n);
    let rows = Rows::new(values.clone(), n, 3).unwrap();
    let data = Dataset::new(rows.clone()).with_target(Target::from_numbers("y", target.clone())).unwrap();
    let model = Ridge { lambda: vec![1e-9].into(), ..Ridge::default() }.fit(&linear(), &data).unwrap();
    let asked = Explain { repeats: 4, ..Explain::default() };
    let told = model.explain(&data, &asked, &Silent).unwrap();
    assert_eq!((told.score, told.importances.len()), ("rmse", 3));
    assert!(told.value < 1e-6, "{}", told.value);
    for (j, (one, weight)) in told.importances.iter().zip([2.0, -0.5, 0.0_f64]).enumerate() {
        assert_eq!((one.name.as_str(), one.view.as_str()), (format!("x[{}]", j + 1).as_str(), "x"));
        let mut random = Seed(0).stream(&format!("permutation importance of x[{}] in 0", j + 1));
        let by_hand: Vec<f64> = (0..4)
            .map(|_| {
                let order = random.permutation(n);
                let square = |i: usize| (weight * (values[3 * order[i] + j] - values[3 * i + j])).powi(2);
                ((0..n).map(square).sum::<f64>() / n as f64).sqrt()
            })
            .collect();
        for (got, wanted) in one.repeats.iter().zip(&by_hand) {
            assert!((got - wanted).abs() < 1e-6, "{j}: {got} should be {wanted}");
        }
        let mean = by_hand.iter().sum::<f64>() / 4.0;
        let deviation = (by_hand.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
        assert!((one.mean - mean).abs() < 1e-6 && (one.deviation - deviation).abs() < 1e-6);
    }
    // sparse vectors are shuffled alike
    let sparse = Dataset::new(SparseRows::from_dense(&rows)).with_target(Target::from_numbers("y", target)).unwrap();
    let again = model.explain(&sparse, &asked, &Silent).unwrap();
    for (a, b) in told.importances.iter().zip(&again.importances) {
        assert!((a.mean - b.mean).abs() < 1e-9, "{} {}", a.mean, b.mean);
    }
    // a score that is to be large falls: R² of the mean square of differences
    let score = Some(Score::named("r2", Learns::Numbers, None).unwrap());
    let falls = model.explain(&data, &Explain { score, ..asked }, &Silent).unwrap();
    assert!(
        (falls.value - 1.0).abs() < 1e-9 && falls.importances[0].mean > 1.0 && falls.importances[2].mean.abs() < 1e-9
    );
}

#[test]
fn columns_of_categories_are_shuffled_whole_and_views_together() {
    let folder = std::env::temp_dir().join(format!("mercer-importance-{}.csv", std::process::id()));
    let words = ["red", "green", "blue"];
    let line =
        |i: usize| format!("{},{},{},{}\n", words[i % 3], i % 7, i % 2, if i.is_multiple_of(3) { "yes" } else { "no" });
    let text: String = std::iter::once("colour,size,side,t\n".to_owned()).chain((0..84).map(line)).collect();
    std::fs::write(&folder, text).unwrap();
    let table = read(&folder, &ReadOptions::default()).unwrap();
    std::fs::remove_file(&folder).unwrap();
    let mut columns = SchemaOptions::default();
    columns.add_view("v=colour,size").unwrap();
    columns.add_view("w=side").unwrap();
    let job = Job { columns, ..Job::new(&Svc::default(), &"rbf(gamma=0.5)@v + 0.001*rbf@w".parse().unwrap()) };
    let data = job.prepare(table).unwrap();
    let model = job.run(&data, &Silent).unwrap();
    let told = model.explain(&data, &Explain::default(), &Silent).unwrap();
    let names: Vec<&str> = told.importances.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["colour", "size", "side"]);
    assert_eq!((told.score, told.value), ("error", 0.0));
    // a third of the examples is of one class: as many are wrong as have a colour of the other side
    assert!((told.importances[0].mean - 4.0 / 9.0).abs() < 0.1, "{:?}", told.importances[0]);
    assert!(told.importances[1].mean.abs() < 0.02 && told.importances[2].mean == 0.0);
    let views = Explain { together: Together::Views, ..Explain::default() };
    let told = model.explain(&data, &views, &Silent).unwrap();
    assert_eq!(told.importances.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["v", "w"]);
    assert!((told.importances[0].mean - 4.0 / 9.0).abs() < 0.1);
}

#[test]
fn a_column_in_several_views_is_shuffled_in_all_of_them() {
    let path = std::env::temp_dir().join(format!("mercer-importance-shared-{}.csv", std::process::id()));
    let (values, target) = examples(60);
    let line = |i: usize| format!("{},{},{}\n", values[3 * i], values[3 * i + 1], target[i]);
    let text: String = std::iter::once("a,b,t\n".to_owned()).chain((0..60).map(line)).collect();
    std::fs::write(&path, text).unwrap();
    let table = read(&path, &ReadOptions::default()).unwrap();
    std::fs::remove_file(&path).unwrap();
    let explained = |views: &[&str], kernel: &str| {
        let mut columns = SchemaOptions::default();
        views.iter().for_each(|view| columns.add_view(view).unwrap());
        let machine = Ridge { lambda: vec![1e-9].into(), ..Ridge::default() };
        let job = Job { columns, ..Job::new(&machine, &kernel.parse().unwrap()) };
        let data = job.prepare(table.clone()).unwrap();
        job.run(&data, &Silent).unwrap().explain(&data, &Explain::default(), &Silent).unwrap().importances
    };
    // the same function of a and b, once with a in both views
    let (once, twice) = (explained(&["u=a,b"], "linear@u"), explained(&["u=a", "v=a,b"], "linear@u + linear@v"));
    let of = |all: &[Importance]| all.iter().map(|one| (one.name.clone(), one.view.clone())).collect::<Vec<_>>();
    assert_eq!(of(&twice), [("a".to_owned(), "u, v".to_owned()), ("b".to_owned(), "v".to_owned())]);
    assert!((once[0].mean - twice[0].mean).abs() < 0.2 * once[0].mean, "{once:?} {twice:?}");
}

#[test]
fn what_cannot_be_explained_is_refused_in_words() {
    let (values, target) = examples(20);
    let data = Dataset::new(Rows::new(values, 20, 3).unwrap());
    let labelled = data.clone().with_target(Target::from_numbers("y", target)).unwrap();
    let model = Ridge::default().fit(&rbf(1.0), &labelled).unwrap();
    let refused = |data: &Dataset, asked: &Explain| model.explain(data, asked, &Silent).unwrap_err().to_string();
    assert!(refused(&labelled, &Explain { repeats: 0, ..Explain::default() }).contains("0 permutations"));
    assert!(refused(&labelled.select(&[0]), &Explain::default()).contains("one example cannot be shuffled"));
    assert!(model.explain(&data, &Explain::default(), &Silent).is_err());
    let pca = crate::machines::reduce::KernelPca::default().fit(&rbf(1.0), &labelled).unwrap();
    assert!(
        pca.explain(&labelled, &Explain::default(), &Silent).unwrap_err().to_string().contains("predicts no target")
    );
}
