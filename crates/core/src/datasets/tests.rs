//! The sets have the shapes, classes and moments that their definitions promise.

use super::*;
use crate::data::{FieldData, Words};

fn made(name: &str, n: Option<usize>, seed: u64) -> Table {
    (find(name).unwrap().make)(n, Seed(seed)).unwrap()
}

fn numbers(table: &Table, field: usize) -> &[f64] {
    match &table.fields[field].data {
        FieldData::Numbers { values, .. } => values,
        other => panic!("{other:?}"),
    }
}

fn words(table: &Table, field: usize) -> &Words {
    match &table.fields[field].data {
        FieldData::Words(words) => words,
        other => panic!("{other:?}"),
    }
}

fn target(table: &Table) -> Vec<String> {
    match &table.fields[table.target.unwrap()].data {
        FieldData::Words(words) => words.iter().map(str::to_owned).collect(),
        FieldData::Numbers { values, .. } => values.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

fn share(labels: &[String], label: &str) -> f64 {
    labels.iter().filter(|l| *l == label).count() as f64 / labels.len() as f64
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn every_set_is_a_whole_table_with_the_target_last() {
    let inputs = [4, 13, 30, 64, 2, 20, 20, 21, 2, 1, 1];
    for (entry, inputs) in SETS.iter().zip(inputs) {
        let table = (entry.make)(None, Seed(0)).unwrap();
        assert_eq!((table.len, table.fields.len()), (entry.examples, inputs + 1), "{}", entry.name);
        assert_eq!((table.target, table.first_line, table.named), (Some(inputs), 2, true));
        assert_eq!((table.file.as_str(), table.format), (entry.name, "embedded"));
        for field in &table.fields {
            match &field.data {
                FieldData::Numbers { values, .. } => {
                    assert!(values.len() == table.len && values.iter().all(|v| v.is_finite()), "{}", entry.name);
                }
                FieldData::Words(words) => assert_eq!(words.len(), table.len),
                other => panic!("{other:?}"),
            }
        }
        assert!(["classification", "regression"].contains(&entry.task));
        if let (FieldData::Numbers { values, spellings }, "classification") = (&table.fields[inputs].data, entry.task) {
            assert!(values.iter().all(|v| spellings.iter().any(|(s, text)| s == v && *text == v.to_string())));
        }
    }
}

#[test]
fn a_seed_gives_the_same_numbers_twice_and_another_seed_others() {
    for entry in SETS {
        let text = |seed| format!("{:?}", (entry.make)(Some(40), Seed(seed)).unwrap());
        assert_eq!(text(1), text(1), "{}", entry.name);
        assert_ne!(text(1), text(2), "{}", entry.name);
    }
}

#[test]
fn small_sets_have_two_classes_and_too_few_examples_are_refused() {
    for entry in SETS {
        assert!((entry.make)(Some(1), Seed(0)).is_err(), "{}", entry.name);
        let labels = target(&(entry.make)(Some(2), Seed(3)).unwrap());
        assert!(!entry.generated || labels[0] != labels[1], "{}", entry.name);
    }
    let error = (find("iris").unwrap().make)(Some(151), Seed(0)).unwrap_err();
    assert_eq!(error.to_string(), "iris has 150 examples, but 151 were asked for");
}

#[test]
fn a_mistyped_name_is_answered_with_the_nearest() {
    assert_eq!(find("irsi").unwrap_err().to_string(), "there is no data set \"irsi\"; did you mean \"iris\"?");
    assert!(find("quite different").unwrap_err().to_string().contains("iris, wine, wdbc"));
}

#[test]
fn embedded_sets_are_the_published_ones() {
    let iris = made("iris", None, 0);
    for (field, expected) in [5.843_333, 3.057_333, 3.758, 1.199_333].into_iter().enumerate() {
        assert!((mean(numbers(&iris, field)) - expected).abs() < 1e-6);
    }
    assert_eq!(iris.fields[2].name, "petal_length");
    for species in ["setosa", "versicolor", "virginica"] {
        assert_eq!(words(&iris, 4).iter().filter(|w| *w == species).count(), 50);
    }
    let wine = target(&made("wine", None, 0));
    assert_eq!(["1", "2", "3"].map(|c| wine.iter().filter(|w| *w == c).count()), [59, 71, 48]);
    let wdbc = made("wdbc", None, 0);
    assert_eq!(words(&wdbc, 30).iter().filter(|w| *w == "benign").count(), 357);
    assert_eq!(
        (wdbc.fields[0].name.as_str(), numbers(&wdbc, 0)[0], &words(&wdbc, 30)[0]),
        ("mean_radius", 17.99, "malignant")
    );
    let digits = made("digits", None, 0);
    assert_eq!((digits.fields[63].name.as_str(), target(&digits)[..3].join(" ")), ("p77", "0 1 2".to_owned()));
    assert!((0..64).all(|j| numbers(&digits, j).iter().all(|&v| (0.0..=16.0).contains(&v))));
}

#[test]
fn a_subset_keeps_rows_whole() {
    let (all, some) = (made("iris", None, 0), made("iris", Some(30), 5));
    let row = |t: &Table, i: usize| ((0..4).map(|j| numbers(t, j)[i]).collect::<Vec<_>>(), words(t, 4)[i].to_owned());
    assert_eq!(some.len, 30);
    assert!((0..30).all(|i| (0..150).any(|k| row(&all, k) == row(&some, i))));
    assert_eq!(format!("{all:?}"), format!("{:?}", made("iris", Some(150), 9)));
}

#[test]
fn normal_sets_have_their_means_and_variances() {
    let n = 20_000;
    let a = 2.0 / 20.0_f64.sqrt();
    for (name, expected) in [("twonorm", [(-a, 1.0), (a, 1.0)]), ("ringnorm", [(a, 1.0), (0.0, 4.0)])] {
        let table = made(name, Some(n), 1);
        let labels = target(&table);
        for (label, (centre, variance)) in ["-1", "1"].into_iter().zip(expected) {
            for field in 0..20 {
                let of_class: Vec<f64> =
                    numbers(&table, field).iter().zip(&labels).filter(|(_, l)| *l == label).map(|(v, _)| *v).collect();
                assert_eq!(of_class.len(), n / 2);
                let m = mean(&of_class);
                let v = mean(&of_class.iter().map(|x| (x - m) * (x - m)).collect::<Vec<_>>());
                // Five standard errors, to both sides.
                assert!((m - centre).abs() < 5.0 * (variance / 10_000.0_f64).sqrt(), "{name} {label} {field}: {m}");
                assert!((v / variance - 1.0).abs() < 5.0 * (2.0 / 10_000.0_f64).sqrt(), "{name} {label} {field}: {v}");
            }
        }
    }
}

#[test]
fn optimal_rules_have_the_bayes_errors_of_the_definitions() {
    let n = 40_000;
    let wrong = |name: &str, rule: &dyn Fn(&[f64]) -> bool| {
        let table = made(name, Some(n), 2);
        let labels = target(&table);
        let inputs = table.fields.len() - 1;
        let errors = (0..n).filter(|&i| {
            let x: Vec<f64> = (0..inputs).map(|j| numbers(&table, j)[i]).collect();
            rule(&x) != (labels[i] == "1")
        });
        errors.count() as f64 / n as f64
    };
    let twonorm = wrong("twonorm", &|x| x.iter().sum::<f64>() > 0.0);
    assert!((twonorm - 0.022_75).abs() < 0.004, "{twonorm}");
    let a = 2.0 / 20.0_f64.sqrt();
    let ringnorm = wrong("ringnorm", &|x| {
        let (wide, narrow): (f64, f64) =
            (x.iter().map(|v| v * v / 4.0).sum(), x.iter().map(|v| (v - a) * (v - a)).sum());
        wide + 20.0 * 4.0_f64.ln() < narrow
    });
    assert!((ringnorm - 0.013).abs() < 0.004, "{ringnorm}");
    let banana = wrong("banana", &|x| banana::optimal([x[0], x[1]]));
    assert!((banana - 0.1).abs() < 0.008, "{banana}");
}

#[test]
fn waveform_is_one_third_with_the_peaks_at_7_and_11() {
    let table = made("waveform", Some(9_000), 0);
    let labels = target(&table);
    assert!((share(&labels, "1") - 1.0 / 3.0).abs() < 1e-9);
    let at = |point: usize, label: &str| {
        let column = numbers(&table, point - 1).iter().zip(&labels);
        mean(&column.filter(|(_, l)| *l == label).map(|(v, _)| *v).collect::<Vec<_>>())
    };
    // Class 1 is ½(6 + 2) at the point 7 and ½(2 + 6) at 11, nothing but noise from 17 on.
    assert!((at(7, "1") - 4.0).abs() < 0.2 && (at(11, "1") - 4.0).abs() < 0.2 && at(18, "1").abs() < 0.1);
    // Class −1 averages ½(6 + 0) and ½(2 + 0) at the point 7, and ½(2 + 2) and ½(6 + 2) at 11.
    assert!((at(7, "-1") - 2.0).abs() < 0.2 && (at(11, "-1") - 3.0).abs() < 0.2);
}

#[test]
fn plane_and_curve_sets_follow_their_figures() {
    let moons = made("two_moons", Some(1_000), 4);
    let labels = target(&moons);
    assert!((share(&labels, "0") - 0.5).abs() < 1e-9);
    for i in 0..1_000 {
        let (x, y) = (numbers(&moons, 0)[i], numbers(&moons, 1)[i]);
        let (dx, dy) = if labels[i] == "0" { (x, y) } else { (x - 1.0, y - 0.5) };
        assert!((dx.hypot(dy) - 1.0).abs() < 0.5);
    }
    let sinc = made("noisy_sinc", Some(5_000), 4);
    let (x, y) = (numbers(&sinc, 0), numbers(&sinc, 1));
    assert!(x.iter().all(|x| x.abs() <= 3.0) && mean(x).abs() < 0.15);
    let rest: Vec<f64> = x.iter().zip(y).map(|(&x, y)| (y - noisy_sinc::sinc(x)).powi(2)).collect();
    assert!((mean(&rest).sqrt() - 0.1).abs() < 0.006);
}

#[test]
fn motifs_are_where_the_class_says() {
    let table = made("dna_motifs", Some(2_000), 0);
    let (sequences, labels) = (words(&table, 0), words(&table, 1));
    assert_eq!((table.fields[0].name.as_str(), table.fields[1].name.as_str()), ("sequence", "class"));
    assert!(sequences.iter().all(|s| s.len() == 60 && s.chars().all(|c| "ACGT".contains(c))));
    let found = |label: &str| {
        let of_class: Vec<_> = sequences.iter().zip(labels.iter()).filter(|(_, l)| *l == label).collect();
        of_class.iter().filter(|(s, _)| dna_motifs::occurs(s)).count() as f64 / of_class.len() as f64
    };
    assert!(found("motif") == 1.0 && found("none") < 0.02);
}
