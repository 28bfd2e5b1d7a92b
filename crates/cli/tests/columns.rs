//! Categories, missing cells, views and strings: what the other columns mean.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::{Place, close, read_npy};

const COLOURS: &str = "colour,size,y\nred,1,u\nblue,2,v\ngreen,3,u\nred,4,v\n";

#[test]
fn words_are_one_hot_encoded_and_the_code_is_remembered() {
    let place = Place::with(&[
        ("a.csv", COLOURS),
        ("new.csv", "colour,size\ngreen,2\nblue,2\n"),
        ("pink.csv", "colour,size\nred,1\npink,2\n"),
    ]);
    assert_eq!(place.json("fit a.csv --machine svc -o m")["d"], 4);
    let names = place.json("show m")["views"][0]["coordinates"].to_string();
    assert!(["red", "blue", "green", "size"].iter().all(|n| names.contains(n)), "{names}");
    assert_eq!(place.run("predict m new.csv").ok().lines().len(), 3);
    place.run("predict m pink.csv").fails(3, &["pink.csv line 3, column \"colour\": \"pink\"", "blue, green, red"]);
}

#[test]
fn the_one_hot_code_is_zeros_and_a_one() {
    let place = Place::with(&[("a.csv", "colour,y\nred,1\nblue,2\nred,3\n")]);
    place.run("gram a.csv --kernel linear --scale none -o K.npy").ok();
    assert_eq!(read_npy(&place.bytes("K.npy")).1, [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
}

#[test]
fn numbers_are_categories_only_on_request() {
    let place = Place::with(&[("a.csv", "code,y\n10,u\n20,v\n10,u\n30,v\n"), ("b.csv", "code\n20\n40\n")]);
    assert_eq!(place.json("fit a.csv --machine svc -o m")["d"], 1);
    assert_eq!(place.json("fit a.csv --machine svc --categorical code -o m")["d"], 3);
    place.run("predict m b.csv").fails(3, &["b.csv line 3, column \"code\": \"40\""]);
    place.run("fit a.csv --machine svc --categorical cod -o m").fails(3, &["did you mean \"code\"?"]);
}

#[test]
fn a_mixed_column_is_an_error_that_names_the_first_odd_cell() {
    let place = Place::with(&[("a.csv", "a,y\n1,u\n2,v\nmany,u\nfew,v\n"), ("b.csv", "a,y\nmany,u\n2,v\nfew,u\n")]);
    place
        .run("fit a.csv --machine svc -o m")
        .fails(3, &["a.csv line 4, column \"a\": \"many\" is not a number", "--categorical a"]);
    place.run("fit b.csv --machine svc -o m").fails(3, &["b.csv line", "column \"a\""]);
    assert_eq!(place.json("fit a.csv --machine svc --categorical a -o m")["d"], 4);
}

#[test]
fn missing_cells_are_errors_unless_there_is_a_rule_for_them() {
    let text = "a,b,y\n1,2,u\n3,,v\n5,6,u\n7,9,v\n";
    for mark in ["", "NA", "?", "nan", "NaN"] {
        let place = Place::with(&[("a.csv", &text.replace(",,", &format!(",{mark},")))]);
        place
            .run("fit a.csv --machine svc -o m")
            .fails(3, &["a.csv line 3, column \"b\"", "--missing mean", "--missing drop"]);
        assert_eq!(place.json("fit a.csv --machine svc --missing mean -o m")["n"], 4);
        // a model that knows a mean fills it in, one that does not says so
        place.run("predict m a.csv").ok();
        assert_eq!(place.json("fit a.csv --machine svc --missing drop -o m")["n"], 3);
        place.run("predict m a.csv").fails(3, &["a.csv line 3, column \"b\""]);
    }
}

#[test]
fn the_mean_stands_for_a_missing_number() {
    let place = Place::with(&[("a.csv", "a,y\n1,1\n,2\n5,3\n"), ("b.csv", "a,y\n1,1\n3,2\n5,3\n")]);
    place.run("gram a.csv --missing mean --kernel linear --scale none -o K.npy").ok();
    place.run("gram b.csv --kernel linear --scale none -o L.npy").ok();
    assert_eq!(place.bytes("K.npy"), place.bytes("L.npy"));
}

#[test]
fn a_missing_target_can_only_be_dropped() {
    let place = Place::with(&[("a.csv", "a,y\n1,u\n2,\n3,v\n")]);
    place.run("fit a.csv --machine svc -o m").fails(3, &["a.csv line 3, column \"y\"", "--missing drop"]);
    place.run("fit a.csv --machine svc --missing mean -o m").fails(3, &["line 3"]);
    assert_eq!(place.json("fit a.csv --machine svc --missing drop -o m")["n"], 2);
}

#[test]
fn views_are_groups_of_columns_that_kernels_look_at() {
    let place = Place::with(&[("a.csv", "a,b,c,y\n1,2,3,u\n2,1,5,v\n4,4,4,u\n")]);
    let gram = |more: &str| {
        place.run(&format!("gram a.csv --scale none {more} -o K.npy")).ok();
        read_npy(&place.bytes("K.npy")).1
    };
    let size = gram("--view size=1,2 --kernel linear@size");
    assert_eq!(size, [5.0, 4.0, 12.0, 4.0, 5.0, 12.0, 12.0, 12.0, 32.0]);
    let rest = gram("--view rest=c --kernel linear@rest");
    assert_eq!(rest, [9.0, 15.0, 12.0, 15.0, 25.0, 20.0, 12.0, 20.0, 16.0]);
    let both = gram("--view size=1,2 --view rest=c --kernel '2*linear@size + linear@rest'");
    let wanted: Vec<f64> = size.iter().zip(&rest).map(|(s, r)| 2.0 * s + r).collect();
    close(&both, &wanted, 1e-12);
    assert_eq!(gram("--view size=1-2 --kernel linear@size"), size);
    assert_eq!(gram("--view size=a-b --kernel linear@size"), size);
    let product = gram("--kernel 'rbf(gamma=1)@a * rbf(gamma=1)@b * rbf(gamma=1)@c'");
    close(&product, &gram("--kernel 'rbf(gamma=1)'"), 1e-12);
}

#[test]
fn unknown_views_and_columns_are_named() {
    let place = Place::with(&[("a.csv", "a,b,y\n1,2,u\n2,1,v\n")]);
    place.run("fit a.csv --machine svc --kernel rbf@size -o m").fails(3, &["no view \"size\""]);
    place.run("fit a.csv --machine svc --view size=1,9 -o m").fails(3, &["no column \"9\"", "a, b, y"]);
    place.run("fit a.csv --machine svc --view size=zzz -o m").fails(3, &["no column \"zzz\""]);
    place.run("fit a.csv --machine svc --view size -o m").fails(2, &["NAME=COLUMN"]);
    place.run("fit a.csv --machine svc --view =1 -o m").fails(2, &["NAME=COLUMN"]);
    place.run("fit a.csv --machine svc --view size=y -o m").fails(2, &["\"y\" is the target"]);
    assert_eq!(place.files(), ["a.csv"]);
}

#[test]
fn models_remember_their_views() {
    let place = Place::with(&[("a.csv", "a,b,y\n1,2,u\n2,1,v\n3,5,u\n"), ("b.csv", "b,a\n2,1\n1,2\n5,3\n")]);
    place.run("fit a.csv --machine svc --view p=a --view q=b --kernel 'rbf@p + rbf@q' -o m").ok();
    // columns are found by name, in any order
    assert_eq!(place.run("predict m b.csv").ok().out, place.run("predict m a.csv").ok().out);
}

#[test]
fn string_kernels_read_columns_of_words() {
    let genes = "y\tdna\n+\tACGTACGT\n-\tTTTTGGGG\n+\tACGACGAC\n-\tGGTTGGTT\n";
    let place = Place::with(&[("genes.tsv", genes), ("new.tsv", "dna\nACGACGT\nTTGGTT\n")]);
    let fit = "genes.tsv --machine svc --target 1 --kernel 'normalise(spectrum(length=3))' --c 100";
    assert_eq!(place.fitted(fit, "genes.tsv"), ["+", "-", "+", "-"]);
    assert_eq!(place.run("predict fitted.mercer new.tsv").ok().lines(), ["prediction", "+", "-"]);
    place.run("gram genes.tsv --target 1 --kernel 'spectrum(length=3)' -o K.npy").ok();
    // ACGTACGT has ACG 2, CGT 2, GTA 1, TAC 1
    assert_eq!(read_npy(&place.bytes("K.npy")).1[0], 10.0);
    place.run("gram genes.tsv --target 1 --kernel spectrum --threads 2 -o L.npy").ok();
    assert_eq!(place.bytes("K.npy"), place.bytes("L.npy"));
    place.run("fit genes.tsv --machine svc --target 1 --kernel rbf@dna -o m").ok();
}

#[test]
fn strings_without_a_header_work_too() {
    let place =
        Place::with(&[("g.tsv", "+\tACGTACGT\n-\tTTTTGGGG\n+\tACGACGAC\n-\tGGTTGGTT\n"), ("one.tsv", "ACGACGT\n")]);
    let fit = "g.tsv --machine svc --target 1 --kernel 'normalise(spectrum(length=3))' --c 100";
    assert_eq!(place.fitted(fit, "g.tsv"), ["+", "-", "+", "-"]);
    assert_eq!(place.run("predict fitted.mercer one.tsv").ok().lines(), ["prediction", "+"]);
}

#[test]
fn text_and_numbers_add_up_in_one_formula() {
    let text = "dna,size,y\nACGT,1,u\nTTTT,2,v\nACGA,3,u\n";
    let place = Place::with(&[("a.csv", text)]);
    let gram = |kernel: &str| {
        place.run(&format!("gram a.csv --scale none --kernel '{kernel}' -o K.npy")).ok();
        read_npy(&place.bytes("K.npy")).1
    };
    let sum = gram("spectrum(length=2)@dna + 0.5*linear@size");
    let (words, numbers) = (gram("spectrum(length=2)@dna"), gram("linear@size"));
    let wanted: Vec<f64> = words.iter().zip(&numbers).map(|(w, n)| w + 0.5 * n).collect();
    close(&sum, &wanted, 1e-12);
    let fit = "a.csv --machine svc --c 100 --kernel 'spectrum(length=2)@dna + rbf@size'";
    assert_eq!(place.fitted(fit, "a.csv"), ["u", "v", "u"]);
}

#[test]
fn a_string_kernel_without_strings_says_so() {
    let place = Place::with(&[("a.csv", "a,b,y\n1,2,u\n2,1,v\n"), ("b.csv", "p,q,y\na,b,1\nb,c,2\n")]);
    place.run("fit a.csv --machine svc --kernel spectrum -o m").fails(2, &["no column of words"]);
    place.run("fit b.csv --machine svc --kernel spectrum -o m").fails(2, &["several columns of words", "--text"]);
    place.run("fit b.csv --machine svc --kernel spectrum --text p -o m").ok();
}

#[test]
fn without_a_header_columns_are_counted_never_named_by_a_cell() {
    let place = Place::with(&[("a.csv", "2,7,u\n3,8,v\n4,7,u\n5,8,v\n")]);
    assert_eq!(place.json("fit a.csv --machine svc --categorical 2 -o m")["d"], 3);
    // the same with the target first, and a new file without it
    let place = Place::with(&[("a.csv", "u,7,1.5\nv,8,2.5\nu,7,3.5\nv,8,4.5\n"), ("new.csv", "7,1.5\n8,2.5\n")]);
    place.run("fit a.csv --machine svc --target 1 --categorical 2 -o m").ok();
    assert_eq!(place.run("predict m new.csv").ok().lines().len(), 3);
}

#[test]
fn a_file_in_which_every_row_lacks_something_has_empty_predictions() {
    let place = Place::with(&[
        ("a.csv", "a,c,y\n1,p,1\n2,q,2\n3,p,3\n4,q,5\n"),
        ("gaps.csv", "a,c\n,p\n2,\n,\n"),
        ("mixed.csv", "a,c\n,p\n2,q\n"),
    ]);
    for (fit, header, empty) in [
        ("--machine svc --scores", "prediction,score_1,score_2,score_3,score_5", ",,,,"),
        ("--machine knn", "prediction", "\"\""),
        ("--machine svr", "prediction", "\"\""),
        ("--machine ridge", "prediction", "\"\""),
        ("--machine kernel_pca --components 2", "prediction_pc1,prediction_pc2", ","),
        ("--machine linear_regression", "prediction", "\"\""),
    ] {
        let (fit, scores) = match fit.strip_suffix(" --scores") {
            Some(fit) => (fit, " --scores"),
            None => (fit, ""),
        };
        place.run(&format!("fit a.csv {fit} --missing drop -o m")).ok();
        place
            .run("predict m gaps.csv")
            .fails(3, &["gaps.csv line 2, column \"a\": the entry is missing", "--missing empty"]);
        let said = place.run(&format!("predict m gaps.csv --missing empty{scores}")).ok();
        let wanted = format!("{header}\n{empty}\n{empty}\n{empty}\n");
        assert_eq!(said.out, wanted, "{fit}");
        assert!(said.err.contains("3 of the 3 rows of gaps.csv have an empty prediction"), "{}", said.err);
        let told = place.json("predict m gaps.csv --missing empty");
        assert_eq!((told["n"].as_u64(), told["rows_without_prediction"].as_u64()), (Some(0), Some(3)), "{told}");
        assert_eq!(place.run("predict m mixed.csv --missing empty").ok().lines().len(), 3, "{fit}");
    }
    place.run("fit a.csv --machine ridge --missing drop --conformal cross -o m").ok();
    let said = place.run("predict m gaps.csv --missing empty --conformal 0.5").ok().out;
    assert_eq!(said, "prediction,lower,upper\n,,\n,,\n,,\n");
}
