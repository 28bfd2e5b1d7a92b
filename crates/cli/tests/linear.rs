//! Linear machines at the terminal: from a sparse file to predictions, pictures and errors.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::{Place, close, numbers};

/// Three classes by their loudest word; the test file has a word that training had not.
fn place() -> Place {
    let mut train = String::new();
    for i in 0..30 {
        let class = i % 3;
        train.push_str(&format!("{} {}:{} {}:0.5\n", class + 1, class + 1, 1.0 + f64::from(i) / 30.0, 4 + i % 5));
    }
    Place::with(&[("train.svm", train.as_str()), ("test.svm", "1 1:1.5 99:7\n2 2:1\n3 3:2 5:0.5\n")])
}

#[test]
fn a_sparse_file_is_learned_saved_and_predicted() {
    let place = place();
    for loss in ["hinge", "squared_hinge", "logistic"] {
        let fit = format!("fit train.svm --machine linear_svc --loss {loss} --c 10 -o m");
        let report = place.json(&fit);
        assert_eq!((&report["machine"], &report["kernel"]), (&"linear_svc".into(), &"linear".into()));
        assert_eq!((&report["status"], &report["training"]["error"]), (&"converged".into(), &0.0.into()));
        let (gap, objective) = (report["duality_gap"].as_f64().unwrap(), report["objective"].as_f64().unwrap());
        assert!(gap > -1e-9 && gap < 1e-3 * objective, "{gap} of {objective}");
        assert_eq!(place.run("predict m test.svm").ok().lines(), ["prediction", "1", "2", "3"]);
        assert_eq!(place.json("evaluate m test.svm")["error"], 0.0);
        place.run(&format!("{fit}1 --threads 1")).ok();
        place.run(&format!("{fit}2 --threads 2")).ok();
        assert!(place.bytes("m1") == place.bytes("m2"), "{loss}: threads");
    }
    place.run("plot m test.svm -o m.svg").ok();
    assert!(place.read("m.svg").contains("linear_svc"));
    assert!(place.run("show m").ok().out.contains("explicit features"));
    assert!(place.run("list machines").ok().out.contains("linear_svr"));
    place.run("select train.svm --machine linear_svc --grid c=0.1..10:log3 -o s").ok();
    assert_eq!(place.run("predict s test.svm").ok().lines(), ["prediction", "1", "2", "3"]);
}

#[test]
fn numbers_are_predicted_by_a_line() {
    let place = Place::with(&[("a.csv", "x,y\n0,1\n1,3\n2,5\n3,7\n4,9\n"), ("b.csv", "x\n10\n-1\n")]);
    for loss in ["epsilon_insensitive", "squared_epsilon_insensitive"] {
        let fit = format!(
            "a.csv --machine linear_svr --loss {loss} --c 1000 --epsilon 0 --bias-scale 10 --max-iterations 0 --tolerance 1e-8 --scale none"
        );
        close(&numbers(&place.fitted(&fit, "b.csv")), &[21.0, -1.0], 0.05);
    }
}

#[test]
fn mistakes_are_told_with_their_remedy() {
    let place = place();
    let fit = "fit train.svm --machine linear_svc -o m";
    place.run(&format!("{fit} --kernel 'rbf(gamma=1)'")).fails(2, &["explicit features", "the machine svc"]);
    place.run(&format!("{fit} --class-weight light")).fails(2, &["balanced or label:weight"]);
    place.run(&format!("{fit} --class-weight 7:2")).fails(2, &["no class 7", "1, 2, 3"]);
    place.run(&format!("{fit} --class-weight balanced")).ok();
    place.run(&format!("{fit} --class-weight 1:2,3:0.5")).ok();
    let said = place.run(&format!("{fit} --c 1e10 --loss hinge --max-iterations 3 --tolerance 1e-12")).ok().err;
    assert!(said.contains("not converged (iteration_limit)"), "{said}");
}
