//! Warnings that are said aloud where numbers would mislead: training examples, rates without learning, targets and columns hardly meant.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;

#[test]
fn the_training_file_is_recognised_and_has_no_interval() {
    let place = Place::with_banana(150);
    place.run("data banana --n 150 --seed 5 -o new.csv").ok();
    place.run("fit banana.csv --machine svc --probabilities platt -o m").ok();
    let said = place.run("evaluate m banana.csv").ok();
    assert!(said.err.contains("training examples") && !said.out.contains("interval"), "{} {}", said.out, said.err);
    let told = place.json("evaluate m banana.csv");
    assert_eq!((&told["training_examples"], &told["error_interval"]), (&true.into(), &serde_json::Value::Null));
    let said = place.run("evaluate m new.csv").ok();
    assert!(said.err.is_empty() && said.out.contains("95 % interval"), "{} {}", said.out, said.err);
    let told = place.json("evaluate m new.csv");
    assert_eq!((&told["training_examples"], &told["seen_in_training"]), (&false.into(), &0.into()));
    // the same lines in another order
    let text = place.read("banana.csv");
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    place.write("turned.csv", lines.join("\n"));
    assert_eq!(place.json("evaluate m turned.csv")["training_examples"], true);
    // ten of them among new ones
    let mixed = format!("{}{}\n", place.read("new.csv"), lines[1..11].join("\n"));
    place.write("mixed.csv", mixed);
    let said = place.run("evaluate m mixed.csv").ok();
    assert!(said.err.contains("10 of the 160 examples (6 %) are training examples"), "{}", said.err);
    assert!(said.out.contains("160 examples, 10 of them training") && !said.out.contains("interval"), "{}", said.out);
    let told = place.json("evaluate m mixed.csv");
    assert_eq!((told["training_share"].as_f64(), told["seen_in_training"].as_u64()), (Some(0.0625), Some(10)));
    assert_eq!((&told["training_examples"], &told["error_interval"]), (&false.into(), &serde_json::Value::Null));
    // a few among many leave the interval, and are told
    place.run("data banana --n 1500 --seed 6 -o many.csv").ok();
    place.write("few.csv", format!("{}{}\n", place.read("many.csv"), lines[1..7].join("\n")));
    let said = place.run("evaluate m few.csv").ok();
    assert!(said.err.contains("6 of the 1506 examples (less than 1 %) are those of training"), "{}", said.err);
    assert!(said.out.contains("interval"), "{}", said.out);
    // and a single one may be chance
    place.write("one.csv", format!("{}{}\n", place.read("many.csv"), lines[1]));
    let said = place.run("evaluate m one.csv").ok();
    assert!(said.err.contains("1 of the 1501 examples is equal to training examples") && said.out.contains("interval"));
    for what in ["model", "roc", "reliability"] {
        place.run(&format!("plot m banana.csv --what {what} -o a.svg")).ok();
        place.run(&format!("plot m new.csv --what {what} -o b.svg")).ok();
        assert!(place.read("a.svg").contains("150 training examples"), "{what}");
        assert!(!place.read("b.svg").contains("training examples"), "{what}");
    }
}

#[test]
fn beside_the_error_stand_the_largest_class_and_each_class() {
    let place = Place::new();
    place.run("data iris -o iris.csv").ok();
    let fit = place.json("fit iris.csv --machine svc -o m");
    assert!((fit["training"]["base_error"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(fit["scaling"]["x"], "standard");
    let said = place.run("evaluate m iris.csv").ok().out;
    assert!(said.contains("66.67 % by always predicting") && said.contains("recall"), "{said}");
    let told = place.json("evaluate m iris.csv");
    assert!(told["auc"].as_f64().unwrap() > 0.9 && told["by_class"].as_array().unwrap().len() == 3, "{told}");
    place.run("data noisy_sinc -o sinc.csv").ok();
    place.run("data noisy_sinc --seed 4 -o new.csv").ok();
    place.run("fit sinc.csv --machine svr -o r").ok();
    let said = place.run("evaluate r new.csv").ok().out;
    assert!(said.contains("approximate 95 % interval") && said.contains("by always predicting the mean"), "{said}");
    let told = place.json("evaluate r new.csv");
    assert!(told["rmse_interval_is"].as_str().is_some_and(|is| is.starts_with("approximate")), "{told}");
    let told = place.json("evaluate r sinc.csv");
    assert!(told["rmse_interval"].is_null() && told["rmse_interval_is"].is_null(), "{told}");
}

#[test]
fn unknown_labels_are_told() {
    let place = Place::with(&[("a.csv", "x,y\n1,p\n2,p\n8,n\n9,n\n"), ("b.csv", "x,y\n1,p\n9,n\n5,z\n")]);
    place.run("fit a.csv --machine svc -o m").ok();
    let said = place.run("evaluate m b.csv").ok().err;
    assert!(said.contains("\"z\"") && said.contains("1 of 3 examples count as errors"), "{said}");
}

#[test]
fn a_target_that_is_no_class_is_refused_before_a_model_is_written() {
    let place = Place::new();
    let lines = |f: &dyn Fn(usize) -> String| (0..60).map(f).collect::<String>();
    place.write("sms.tsv", lines(&|i| format!("{}\tmessage number {i}\n", if i % 3 == 0 { "spam" } else { "ham" })));
    place.run("fit sms.tsv --machine svc -o m").fails(3, &["60 different values", "--target 1"]);
    place.write("n.csv", format!("a,b\n{}", lines(&|i| format!("{i},{}\n", 0.37 * i as f64))));
    place.run("fit n.csv --machine svc -o m").fails(3, &["looks like numbers"]);
    place.run("select n.csv --machine svc --grid 'c=1|10' -o m").fails(3, &["looks like numbers"]);
    // one number among the texts makes a column of both, which nobody has declared to be categories
    place.write(
        "mixed.tsv",
        lines(&|i| {
            format!(
                "{}\t{}\n",
                if i % 3 == 0 { "spam" } else { "ham" },
                if i == 7 { "645".to_owned() } else { format!("message number {i}") }
            )
        }),
    );
    place.run("fit mixed.tsv --machine svc -o m").fails(3, &["60 different values"]);
    assert!(!place.has("m"));
    place.run("fit n.csv --machine svc --categorical b -o m").ok();
}

#[test]
fn columns_that_name_or_number_the_rows_are_told() {
    let place = Place::new();
    let row = |i: usize| format!("C{:04},{i},{},{}\n", 7 * i, i % 7, if i % 7 > 3 { "p" } else { "n" });
    place.write("c.csv", format!("id,row,x,y\n{}", (0..40).map(row).collect::<String>()));
    let said = place.run("fit c.csv --machine svc -o m").ok();
    assert!(
        said.err.contains("column \"id\" has 40 different words") && said.err.contains("column \"row\" numbers"),
        "{}",
        said.err
    );
    let told = place.json("fit c.csv --machine svc -o m");
    assert!(told["advice"].as_array().unwrap().len() >= 2 && told["categories"]["id"] == 40, "{told}");
}

#[test]
fn views_that_no_kernel_looks_at_are_told_and_are_not_in_the_model() {
    let place = Place::new();
    let row = |i: usize| format!("C{i},{},{},{}\n", i % 7, i % 5, if i % 7 > 3 { "p" } else { "n" });
    place.write("c.csv", format!("id,a,b,y\n{}", (0..40).map(row).collect::<String>()));
    let said = place.run("fit c.csv --machine svc --view v=a,b --kernel rbf@v -o m").ok();
    assert!(
        said.err.contains("view x (id) is not part of the model") && !said.err.contains("different words"),
        "{}",
        said.err
    );
    place.write("new.csv", "a,b\n6,1\n0,2\n");
    assert_eq!(place.run("predict m new.csv").ok().lines(), ["prediction", "p", "n"]);
    // the kernel of every column but those of the view
    let said = place.run("fit c.csv --machine svc --view v=a,b -o m").ok();
    assert!(said.err.contains("view v (a, b) is not part of the model"), "{}", said.err);
}

#[test]
fn the_model_decides_whether_the_first_line_is_a_header() {
    let place = Place::new();
    let text = |n: usize| {
        let line = |i: usize| format!("{}\tword{} here\n", if i.is_multiple_of(2) { "p" } else { "n" }, i % 2);
        (0..n).map(line).collect::<Vec<_>>().concat()
    };
    place.write("t.tsv", text(30));
    place.run("fit t.tsv --machine svc --kernel 'spectrum(length=2)' --target 1 --text 2 --header false -o m").ok();
    place.write("three.tsv", "word0 one\nword1 two\nword0 six\n");
    assert_eq!(place.run("predict m three.tsv").ok().lines(), ["prediction", "p", "n", "p"]);
    // a model with names: a first line with one of them is a header, another one is not
    place.write("named.tsv", format!("label\tmessage\n{}", text(30)));
    place.run("fit named.tsv --machine svc --kernel 'spectrum(length=2)' --target label --text message -o m").ok();
    place.write("new.tsv", "message\nword0 one\nword1 two\n");
    assert_eq!(place.run("predict m new.tsv").ok().lines(), ["prediction", "p", "n"]);
}

#[test]
fn probabilities_keep_the_ranking_under_class_weights() {
    let place = Place::new();
    place.run("data banana --n 300 --seed 1 -o banana.csv").ok();
    // one class in eight
    let text = place.read("banana.csv");
    let mut kept = vec![text.lines().next().unwrap()];
    let (mut seen, mut rest) = (0, text.lines().skip(1));
    kept.extend(rest.by_ref().filter(|line| {
        seen += usize::from(line.ends_with(",1"));
        !line.ends_with(",1") || seen % 7 == 0
    }));
    place.write("few.csv", kept.join("\n"));
    for method in ["platt", "isotonic"] {
        let fit =
            place.json(&format!("fit few.csv --machine svc --class-weight balanced --probabilities {method} -o m"));
        assert_eq!(fit["calibration"]["label_has_the_largest"], false);
        let said = place.run("predict m banana.csv --probabilities").ok();
        let rows: Vec<(&str, f64)> = said.lines()[1..]
            .iter()
            .map(|l| (l.split(',').next().unwrap(), l.rsplit(',').next().unwrap().parse().unwrap()))
            .collect();
        let half = rows.iter().filter(|(_, p)| (p - 0.5).abs() < 1e-9).count();
        assert!(10 * half < rows.len(), "{method}: {half} of {} are at a half", rows.len());
        assert!(rows.iter().any(|(label, p)| *label == "1" && *p < 0.45), "{method}: the label follows the weights");
    }
    let fit = place.json("fit few.csv --machine svc --probabilities platt -o m");
    assert_eq!(fit["calibration"]["label_has_the_largest"], true);
}

/// Rows of two columns of few values with a class, drawn anew from a seed.
fn of_few_values(rows: usize, mut seed: u64) -> Vec<String> {
    let mut draw = |values: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % values
    };
    (0..rows)
        .map(|_| {
            let (a, b, c) = (draw(40), draw(40), draw(5));
            format!("{a},{b},{}", if a + 4 * c > 28 { "u" } else { "v" })
        })
        .collect()
}

#[test]
fn training_rows_that_repeat_are_recognised_and_fresh_ones_of_the_same_values_are_not() {
    let (rows, new) = (of_few_values(500, 1), of_few_values(500, 2));
    let file = |rows: &[String]| format!("a,b,y\n{}\n", rows.join("\n"));
    let mut turned = rows.clone();
    turned.reverse();
    let half = [&rows[..200], &new[..300]].concat();
    let place = Place::with(&[
        ("rows.csv", &file(&rows)),
        ("turned.csv", &file(&turned)),
        ("new.csv", &file(&new)),
        ("half.csv", &file(&half)),
    ]);
    let mut distinct = rows.clone();
    distinct.sort();
    distinct.dedup();
    assert!(10 * distinct.len() < 9 * rows.len(), "more than a tenth are copies");
    place.run("fit rows.csv --machine svc -o m").ok();
    let told = place.json("evaluate m turned.csv");
    assert_eq!((told["seen_in_training"].as_u64(), &told["error_interval"]), (Some(500), &serde_json::Value::Null));
    let said = place.run("evaluate m new.csv").ok();
    assert!(said.out.contains("95 % interval") && !said.err.contains("warning"), "{} {}", said.out, said.err);
    assert!(
        said.err.contains("equal to training examples; if rows repeat by chance that means nothing"),
        "{}",
        said.err
    );
    let told = place.json("evaluate m new.csv");
    assert_eq!(told["seen_in_training"].as_u64(), Some(0));
    assert!(told["equal_to_training"].as_u64().unwrap() > 50, "{told}");
    let told = place.json("evaluate m half.csv");
    let share = told["training_share"].as_f64().unwrap();
    assert!((0.2..0.5).contains(&share) && told["error_interval"].is_null(), "just under half: {told}");
    // everywhere else, too
    place.run("predict m new.csv --conformal 0.9 --calibration turned.csv").fails(2, &["those of training"]);
    place.run("predict m rows.csv --conformal 0.9 --calibration new.csv").ok();
    place.run("certify m rows.csv --held-out turned.csv").fails(2, &["among those of training"]);
    place.run("certify m rows.csv --held-out new.csv").ok();
    place.run("plot m turned.csv -o p.svg").ok();
    assert!(place.read("p.svg").contains("500 training examples"));
    place.run("plot m new.csv -o p.svg").ok();
    assert!(!place.read("p.svg").contains("training examples"));
}

#[test]
fn cells_that_are_more_than_their_number_are_told_before_they_are_learned_from() {
    let zips = ["00037", "00501", "12345", "99999"];
    let row = |k: usize| format!("{},2024-01-{:02},{k}.5,{}", zips[k % 4], k % 9 + 1, k % 2);
    let rows: Vec<String> = (0..40).map(row).collect();
    let place = Place::with(&[("a.csv", &format!("zip,day,v,y\n{}\n", rows.join("\n")))]);
    let said = place.run("fit a.csv --machine svc -o m").ok().err;
    for told in
        ["column \"zip\" has cells such as 00037, which is taken for the number 37", "--categorical zip", "--drop zip"]
    {
        assert!(said.contains(told), "{said}");
    }
    assert!(said.contains("column \"day\" has 9 different dates in 40 rows") && said.contains("--dates day"), "{said}");
    let said = place.run("fit a.csv --machine svc --categorical zip --dates day -o m").ok().err;
    assert!(said.is_empty(), "{said}");
}
