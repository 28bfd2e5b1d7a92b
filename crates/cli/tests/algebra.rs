//! Sets, polynomials of kernels and kernels that learn, from files through models to predictions.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::{Place, close, read_npy};
use std::fmt::Write;

/// Sets of one to three points in the plane, around the origin or around (3, 1); `turned` has the members the other way round.
fn bags(turned: bool) -> String {
    let mut text = "a1,b1,a2,b2,a3,b3,y\n".to_owned();
    for i in 0..40_u32 {
        let class = i % 2;
        let centre = if class == 0 { (0.0, 0.0) } else { (3.0, 1.0) };
        let wobble = |k: u32| f64::from((i * 7 + k * 13) % 11) / 11.0 - 0.5;
        let mut members: Vec<String> = (0..3)
            .map(|m| {
                if m <= i % 3 {
                    format!("{:.3},{:.3}", centre.0 + wobble(m), centre.1 + wobble(m + 5))
                } else {
                    ",".to_owned()
                }
            })
            .collect();
        if turned {
            members.reverse();
        }
        writeln!(text, "{},{}", members.join(","), ["near", "far"][class as usize]).unwrap();
    }
    text
}

#[test]
fn sets_of_vectors_are_learned_saved_and_predicted_in_any_order_of_members() {
    let place = Place::with(&[("bags.csv", &bags(false)), ("turned.csv", &bags(true))]);
    let fit = "fit bags.csv --kernel 'normalise(set(rbf, columns=2))' --machine svc -o m";
    assert!(place.run(fit).ok().out.contains("svc"));
    let (straight, turned) =
        (place.run("predict m bags.csv --scores").ok(), place.run("predict m turned.csv --scores").ok());
    let cells = |out: &str| -> Vec<(String, f64)> {
        let line = |l: &str| (l.split(',').next().unwrap().to_owned(), l.rsplit(',').next().unwrap().parse().unwrap());
        out.lines().skip(1).map(line).collect()
    };
    let (straight, turned) = (cells(&straight.out), cells(&turned.out));
    assert_eq!(straight.len(), 40);
    for (i, (a, b)) in straight.iter().zip(&turned).enumerate() {
        assert_eq!((a.0.as_str(), &a.0), (["near", "far"][i % 2], &b.0));
        assert!((a.1 - b.1).abs() < 1e-9, "{a:?} {b:?}");
    }
    assert!(place.run("show m").ok().out.contains("set(rbf(gamma="));
    // columns of members are taken as they are, unless somebody says otherwise
    let gram = "gram bags.csv --kernel 'set(linear, columns=2)' -o K.npy";
    place.run(gram).ok();
    let (_, k) = read_npy(&place.bytes("K.npy"));
    let first: Vec<f64> = bags(false).lines().nth(1).unwrap().split(',').take(2).map(|c| c.parse().unwrap()).collect();
    close(&k[..1], &[first[0] * first[0] + first[1] * first[1]], 1e-12);
    place.run(&gram.replace("--kernel", "--scale standard --kernel")).ok();
    assert!(read_npy(&place.bytes("K.npy")).1[0] != k[0]);
    place
        .run("fit bags.csv --kernel 'set(rbf, columns=4)' --machine svc -o n")
        .fails(3, &["6 columns", "members of 4"]);
    place
        .run("fit bags.csv --missing error --kernel 'set(rbf, columns=2)' --machine svc -o n")
        .fails(3, &["the entry is missing"]);
}

#[test]
fn sets_of_strings_are_learned_and_predicted() {
    let mut text = "tags,y\n".to_owned();
    for i in 0..30 {
        let tags = [["red", "rose", "leaf"], ["blue", "sea", "ship"]][i % 2];
        writeln!(text, "{}|{},{}", tags[i % 3], tags[(i / 3) % 3], ["garden", "harbour"][i % 2]).unwrap();
    }
    let place = Place::with(&[("tags.csv", &text), ("new.csv", "tags\nship|sea|ship\nrose\n")]);
    place.run("fit tags.csv --kernel 'set(exact_match, separator=\"|\")' --machine svc -o m").ok();
    assert_eq!(place.run("predict m new.csv").ok().lines()[1..], ["harbour", "garden"]);
    // a linear machine takes the sums of the members' features
    place
        .run("fit tags.csv --kernel 'set(spectrum(2)@tags, separator=\"|\", mean=true)' --machine linear_svc -o l")
        .ok();
    assert_eq!(place.run("predict l new.csv").ok().lines()[1..], ["harbour", "garden"]);
    place
        .run("gram tags.csv --kernel 'set(spectrum, separator=\"|)' -o K.npy")
        .fails(2, &["column 25", "never closed"]);
}

#[test]
fn kernels_that_learn_keep_what_they_learned() {
    let place = Place::with_banana(80);
    place.run("fit banana.csv --kernel 'mahalanobis(metric=inverse_covariance)' --machine svc -o m").ok();
    let shown = place.run("show m").ok().out;
    assert!(shown.contains("mahalanobis(precision=[") && shown.contains("metric=given"), "{shown}");
    let before = place.run("predict m banana.csv --scores").ok().out;
    assert_eq!(place.run("predict m banana.csv --scores").ok().out, before);
    place.write("texts.csv", "t,y\ncar engine,a\nengine motor,a\nmotor car,a\ncat dog,b\ndog bird,b\nbird cat,b\n");
    place.write("new.csv", "t\nmy motor\none bird\n");
    place.run("fit texts.csv --kernel 'normalise(co_occurrence(weighting=tfidf))@t' --machine svc -o w").ok();
    assert_eq!(place.run("predict w new.csv").ok().lines()[1..], ["a", "b"]);
}

#[test]
fn a_polynomial_of_a_kernel_is_that_of_its_matrix() {
    let place = Place::with(&[("a.csv", "a,b,y\n0,1,u\n2,0.5,v\n-1,3,u\n")]);
    let matrix = |kernel: &str| {
        place.run(&format!("gram a.csv --scale none --kernel '{kernel}' -o K.npy")).ok();
        read_npy(&place.bytes("K.npy")).1
    };
    let (k, series) = (matrix("rbf(0.3)"), matrix("series(rbf(0.3), coefficients=[1, 0.5, 0, 2])"));
    let wanted: Vec<f64> = k.iter().map(|k| 1.0 + 0.5 * k + 2.0 * k * k * k).collect();
    close(&series, &wanted, 1e-13);
    let refused = place.run("gram a.csv --kernel 'series(rbf, coefficients=[1, -1])' -o K.npy");
    refused.fails(2, &["column 13", "the coefficient -1 is negative"]);
    let listed = place.run("list kernels").ok().out;
    assert!(["co_occurrence", "series(k,", "set(k,", "direct_sum"].iter().all(|w| listed.contains(w)));
}
