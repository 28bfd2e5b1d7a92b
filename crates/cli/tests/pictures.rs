//! Pictures from outside: every kind, as SVG and PNG, light and dark.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;

/// Width and height in the header of a PNG file.
fn size_of(png: &[u8]) -> (u32, u32) {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&png[12..16], b"IHDR");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

fn svg(place: &Place, name: &str) -> String {
    let text = place.read(name);
    assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>") && !text.contains("NaN"), "{name}");
    text
}

#[test]
fn a_tube_is_drawn_around_a_support_vector_regression_and_a_level_is_named() {
    let place = Place::new();
    place.run("data noisy_sinc --n 60 -o line.csv").ok();
    let drawn = |machine: &str| {
        place.run(&format!("fit line.csv --machine {machine} -o m")).ok();
        place.run("plot m line.csv -o a.svg").ok();
        svg(&place, "a.svg")
    };
    let tube = drawn("svr --epsilon 0.15 --c 10");
    assert!(tube.contains(">ε = 0.15<") && tube.contains(">support vector<") && tube.contains("<polygon"));
    let found = drawn("nu_svr --nu 0.3");
    assert!(found.contains(">ε = 0.") && found.contains("<polygon"));
    assert!(drawn("quantile --tau 0.9").contains(">0.9 quantile<"));
    assert!(drawn("expectile --tau 0.2").contains(">0.2 expectile<"));
    let plain = drawn("ridge");
    assert!(plain.contains(">fitted<") && !plain.contains("<polygon") && !plain.contains("support vector"));
}

#[test]
fn several_outputs_are_several_curves() {
    let rows: Vec<String> =
        (0..40).map(|k| f64::from(k) / 6.0).map(|x| format!("{x},{},{}", x.sin(), x.cos())).collect();
    let place = Place::with(&[("two.csv", &format!("x,a,b\n{}\n", rows.join("\n")))]);
    place.run("fit two.csv --machine ridge --target a,b --lambda 0.01 -o m").ok();
    place.run("plot m two.csv -o a.svg").ok();
    let drawn = svg(&place, "a.svg");
    assert_eq!(drawn.matches("<polyline").count(), 2);
    assert!(drawn.contains(">a<") && drawn.contains(">b<") && drawn.contains(">a, b<"));
}

#[test]
fn coordinates_tell_how_much_they_explain() {
    let place = Place::new();
    place.run("data iris -o iris.csv").ok();
    place.run("fit iris.csv --machine kernel_pca --kernel linear -o m").ok();
    place.run("plot m iris.csv -o a.svg").ok();
    // the leading eigenvalue of the correlations of iris has 72.96 % of their sum
    assert!(svg(&place, "a.svg").contains("(73.0 % of the variance)"));
}

#[test]
fn roc_curves_have_the_areas_that_evaluate_tells() {
    let place = Place::with_banana(120);
    for machine in ["svc", "nearest_mean"] {
        place.run(&format!("fit banana.csv --machine {machine} -o m")).ok();
        let area = place.json("evaluate m banana.csv")["auc"].as_f64().unwrap();
        place.run("plot m banana.csv --what roc -o a.svg").ok();
        let told = format!("area {area:.4}");
        assert!(svg(&place, "a.svg").contains(&told), "{machine}: {told}");
    }
    place.run("data iris -o iris.csv").ok();
    place.run("fit iris.csv --machine svc -o m").ok();
    place.run("plot m iris.csv --what roc -o a.svg").ok();
    let three = svg(&place, "a.svg");
    assert_eq!(three.matches("<polyline").count(), 3);
    assert!(three.contains("each of 3 classes against the rest"));
}

#[test]
fn detectors_have_roc_curves_and_others_are_told_why_not() {
    let place = Place::with_banana(60);
    place.run("fit banana.csv --machine one_class -o m").ok();
    place.run("plot m banana.csv --what roc -o a.svg").ok();
    assert!(svg(&place, "a.svg").contains("looking for outlier"));
    place.run("data iris -o iris.csv").ok();
    place.run("fit iris.csv --machine one_class -o m").ok();
    place.run("plot m iris.csv --what roc -o b.svg").fails(3, &["more than two classes"]);
    place.run("fit banana.csv --machine ridge -o r").ok();
    place.run("plot r banana.csv --what roc -o b.svg").fails(2, &["ROC", "ridge"]);
    place.run("fit banana.csv --machine svc -o m").ok();
    place.write("x.csv", "x1,x2\n0,1\n2,3\n");
    place.run("plot m x.csv --what roc -o b.svg").fails(3, &["no target column", "--what roc"]);
    assert!(!place.has("b.svg"));
}

#[test]
fn a_matrix_is_drawn_class_by_class_and_written_only_if_wanted() {
    let place = Place::new();
    place.run("data iris -o iris.csv").ok();
    place.run("gram iris.csv --figure g.svg").ok();
    let drawn = svg(&place, "g.svg");
    assert!(drawn.contains("<image") && drawn.contains("150 × 150") && drawn.contains("sorted by class"));
    // beside and below
    assert_eq!(drawn.matches(">setosa<").count(), 2);
    assert_eq!(place.files(), ["g.svg", "iris.csv"]);
    let both = place.json("gram iris.csv --figure g.svg -o K.npy");
    assert_eq!((&both["figure"], &both["output"]), (&"g.svg".into(), &"K.npy".into()));
    place.run("data noisy_sinc --n 700 -o line.csv").ok();
    place.run("gram line.csv --figure g.svg").ok();
    let large = svg(&place, "g.svg");
    assert!(large.contains("averaged into 240 × 240 cells") && large.contains("sorted by the target"));
    assert!(large.len() < 200_000, "{}", large.len());
    place.run("gram iris.csv").fails(2, &["--output"]);
    place.run("gram iris.csv --figure g.gif").fails(2, &[".svg or .png"]);
}

#[test]
fn a_learning_curve_is_told_and_drawn() {
    let place = Place::with_banana(120);
    let told = place.json("learning-curve banana.csv --machine svc --c 10 --repeats 2 -o c.svg");
    let points = told["points"].as_array().unwrap();
    assert_eq!((points.len(), &points[7]["examples"]), (8, &96.into()));
    assert_eq!(points[0]["held_out"]["folds"].as_array().unwrap().len(), 10);
    let mean = |k: usize| points[k]["held_out"]["mean"].as_f64().unwrap();
    assert!(mean(7) < mean(0));
    assert!(svg(&place, "c.svg").contains(">training examples<"));
    // the largest size is the cross-validation of select
    let chosen = place.json("select banana.csv --machine svc --grid c=10 -o m");
    let first: Vec<f64> =
        points[7]["held_out"]["folds"].as_array().unwrap()[..5].iter().map(|v| v.as_f64().unwrap()).collect();
    let plain: Vec<f64> = chosen["best"]["folds"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert_eq!(first, plain);
    let said = place.run("learning-curve banana.csv --machine svc --sizes 20,40").ok().out;
    assert!(said.contains("held out") && said.contains("20") && said.contains("40"), "{said}");
    place.run("learning-curve banana.csv --machine svc --sizes 20,200").fails(2, &["200", "96"]);
    place.run("learning-curve banana.csv --machine kernel_pca").fails(2, &["kernel_pca"]);
}

#[test]
fn dark_is_another_paper_and_nothing_else_is_a_theme() {
    let place = Place::with_banana(40);
    place.run("fit banana.csv --machine svc --probabilities platt -o m").ok();
    for line in [
        "plot m banana.csv",
        "plot m banana.csv --what reliability",
        "plot m banana.csv --what roc",
        "measure banana.csv",
        "learning-curve banana.csv --machine svc --sizes 10,20",
    ] {
        place.run(&format!("{line} -o light.svg")).ok();
        place.run(&format!("{line} --theme dark -o dark.svg")).ok();
        let (light, dark) = (svg(&place, "light.svg"), svg(&place, "dark.svg"));
        assert!(light.contains("fill=\"#fff\"/>") && dark.contains("fill=\"#12161c\"/>"), "{line}");
        assert!(!dark.contains("fill=\"#fff\"/>"), "{line}");
    }
    place.run("gram banana.csv --theme dark --figure dark.svg").ok();
    place.run("select banana.csv --machine svc --grid c=1|10 --theme dark --heat heat.svg -o m").ok();
    assert!(svg(&place, "dark.svg").contains("#12161c") && svg(&place, "heat.svg").contains("#12161c"));
    place.run("plot m banana.csv --theme pink -o a.svg").fails(2, &["pink"]);
}

#[cfg(feature = "png")]
#[test]
fn every_picture_has_pixels() {
    let place = Place::with_banana(40);
    place.run("fit banana.csv --machine svc -o m").ok();
    for (line, flag) in [
        ("plot m banana.csv", "-o"),
        ("plot m banana.csv --what roc --theme dark", "-o"),
        ("measure banana.csv", "-o"),
        ("gram banana.csv --theme dark", "--figure"),
        ("select banana.csv --machine svc --grid c=1|10 -o m", "--heat"),
        ("learning-curve banana.csv --machine svc --sizes 10,20", "-o"),
    ] {
        place.run(&format!("{line} {flag} a.png")).ok();
        let png = place.bytes("a.png");
        assert_eq!(size_of(&png), (1440, 1120), "{line}");
        assert!(png.len() > 10_000 && png.len() < 1_000_000, "{line}: {}", png.len());
        std::fs::remove_file(place.path("a.png")).unwrap();
    }
    place.run("plot m banana.csv -o A.PNG").ok();
    assert_eq!(size_of(&place.bytes("A.PNG")), (1440, 1120));
}
