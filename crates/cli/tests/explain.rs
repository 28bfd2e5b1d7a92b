//! `explain`: what predictions lose when a column or a view is shuffled.

use crate::common::Place;

/// The class is that of the colour; the size says nothing, and is never the same in both files.
fn coloured() -> Place {
    let colours = ["red", "green", "blue"];
    let line = |i: usize| {
        let size = i % 7 * 2 + usize::from(i > 84);
        format!("{},{size},{},{}\n", colours[i % 3], i % 2, if i.is_multiple_of(3) { "yes" } else { "no" })
    };
    let file = |rows: std::ops::Range<usize>| {
        std::iter::once("colour,size,side,t\n".to_owned()).chain(rows.map(line)).collect::<String>()
    };
    Place::with(&[("train.csv", &file(0..84)), ("test.csv", &file(85..151))])
}

#[test]
fn the_column_that_decides_is_the_important_one() {
    let place = coloured();
    place.run("fit train.csv --machine svc --view v=colour,size --view w=side --kernel 'rbf@v + rbf@w' -o m").ok();
    let said = place.json("explain m test.csv --repeats 20");
    let all = said["importances"].as_array().unwrap();
    let names: Vec<&str> = all.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["colour", "size", "side"]);
    let mean = |i: usize| all[i]["mean"].as_f64().unwrap();
    // two of three examples get another colour, which changes the class for four of nine
    assert!((mean(0) - 4.0 / 9.0).abs() < 0.08, "{}", mean(0));
    assert!(mean(1).abs() < 0.05 && mean(2).abs() < 0.05, "{} {}", mean(1), mean(2));
    let repeats: Vec<f64> = all[0]["repeats"].as_array().unwrap().iter().map(|r| r.as_f64().unwrap()).collect();
    let average = repeats.iter().sum::<f64>() / 20.0;
    let deviation = (repeats.iter().map(|r| (r - average).powi(2)).sum::<f64>() / 19.0).sqrt();
    assert!((mean(0) - average).abs() < 1e-12 && (all[0]["deviation"].as_f64().unwrap() - deviation).abs() < 1e-12);
    assert!(all[0]["deviation"].as_f64().unwrap() > 0.0);
    assert_eq!((said["score"].as_str(), said["value"].as_f64()), (Some("error"), Some(0.0)));
    // the same seed shuffles alike, for any number of threads
    let again = place.json("explain m test.csv --repeats 20 --threads 1");
    assert_eq!(said["importances"], again["importances"]);
    let views = place.json("explain m test.csv --by views --score auc");
    let names: Vec<&str> =
        views["importances"].as_array().unwrap().iter().map(|v| v["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["v", "w"]);
    let table = place.run("explain m test.csv").ok().out;
    assert!(
        table.contains("colour") && table.contains("± s.d.") && table.find("colour") < table.find("size"),
        "{table}"
    );
}

#[test]
fn training_examples_and_what_has_no_target_are_told() {
    let place = coloured();
    place.run("fit train.csv --machine svc -o m").ok();
    assert!(place.run("explain m train.csv").ok().err.contains("these are training examples"));
    assert!(!place.run("explain m test.csv").ok().err.contains("training examples"));
    place.run("explain m test.csv --score rmse").fails(2, &["rmse is a score of numbers"]);
    place.run("explain m test.csv --repeats 0").fails(2, &["--repeats"]);
    place.run("fit train.csv --machine kernel_pca -o pca").ok();
    place.run("explain pca test.csv").fails(2, &["predicts no target"]);
    place.write("bare.csv", "colour,size,side\nred,1,0\nblue,2,1\n");
    place.run("explain m bare.csv").fails(3, &["target"]);
}
