//! Tests of schemas: one per rule.

use super::super::read::{ReadOptions, read, read_bytes};
use super::super::{FieldData, Values};
use super::*;

fn table_with(name: &str, text: &str, words: &[&str]) -> Table {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let options = ReadOptions { words: words.iter().map(|&w| w.to_owned()).collect(), ..ReadOptions::default() };
    let mut table = read(&path, &options).unwrap();
    table.file = name.to_owned();
    table
}

pub(super) fn csv(text: &str) -> Table {
    table_with("train.csv", text, &[])
}

fn svm(text: &str) -> Table {
    table_with("new.svm", text, &[])
}

pub(super) fn plain() -> SchemaOptions {
    SchemaOptions { scale: Some(Scale::None), ..SchemaOptions::default() }
}

pub(super) fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|&n| n.to_owned()).collect()
}

pub(super) fn dense<'a>(data: &'a Dataset, view: &str) -> &'a [f64] {
    let Some(Values::Dense(rows)) = data.view(view) else { panic!("{data:?}") };
    rows.values()
}

pub(super) fn error(table: &Table, options: &SchemaOptions) -> String {
    Schema::learn(table, options).unwrap_err().to_string()
}

#[test]
fn numbers_and_one_hot_codes_share_a_view_in_file_order() {
    let table = csv("a,c,b,y\n1,red,5,p\n2,blue,6,q\n3,red,7,p\n");
    let (schema, data) = Schema::learn_and_apply(&table, &plain()).unwrap();
    assert_eq!(dense(&data, "x"), [1., 0., 1., 5., 2., 1., 0., 6., 3., 0., 1., 7.]);
    assert_eq!(schema.views()[0].coordinate_names().unwrap(), ["a", "c=blue", "c=red", "b"]);
    assert_eq!((schema.views()[0].kind(), schema.views()[0].width()), ("dense", Some(4)));
    assert_eq!((schema.target_names(), schema.word_columns()), (vec!["y"], list(&["c"])));
    assert_eq!(data.target().unwrap().classes().unwrap().labels, ["p", "q"]);
}

#[test]
fn scaling_is_standard_spares_codes_and_raw_views() {
    let table = csv("a,c,y\n1,u,10\n3,v,30\n");
    let (schema, data) = Schema::learn_and_apply(&table, &SchemaOptions::default()).unwrap();
    assert_eq!(dense(&data, "x"), [-1., 1., 0., 1., 0., 1.]);
    assert_eq!(data.target().unwrap().numbers().unwrap().values, [10., 30.], "the target is not touched");
    assert_eq!(dense(&schema.apply(&csv("a,c\n5,u\n5,v\n")).unwrap(), "x"), [3., 1., 0., 3., 0., 1.]);
    let raw = SchemaOptions { raw: list(&["x"]), ..SchemaOptions::default() };
    assert!(error(&table, &raw).contains("\"u\" is not a number"));
    let (_, data) = Schema::learn_and_apply(&csv("a,y\n1,1\n3,2\n"), &raw).unwrap();
    assert_eq!(dense(&data, "x"), [1., 3.]);
    let wrong = SchemaOptions { raw: list(&["k"]), ..SchemaOptions::default() };
    assert!(error(&table, &wrong).contains("no view \"k\""));
}

#[test]
fn targets_are_chosen_by_name_number_or_not_at_all() {
    let table = csv("a,b,c\n1,2,3\n4,5,6\n");
    let mut options = plain();
    options.set_target("a");
    let (_, data) = Schema::learn_and_apply(&table, &options).unwrap();
    assert_eq!(dense(&data, "x"), [2., 3., 5., 6.]);
    options.set_target("1,-1");
    let (schema, data) = Schema::learn_and_apply(&table, &options).unwrap();
    assert_eq!(schema.target_names(), ["a", "c"]);
    assert_eq!(data.target().unwrap().numbers().unwrap().values, [1., 3., 4., 6.]);
    options.set_target("none");
    let (schema, data) = Schema::learn_and_apply(&table, &options).unwrap();
    assert!(data.target().is_none() && schema.target_names().is_empty());
    options.set_target("d");
    assert!(error(&table, &options).contains("no column \"d\""));
}

#[test]
fn a_stray_word_is_named_unless_declared() {
    let table = csv("age,y\n1,1\n2,2\n\nabc,3\n");
    let said = "train.csv line 5, column \"age\": \"abc\" is not a number; clean the cell, or use --categorical age";
    assert_eq!(error(&table, &plain()), said);
    let options = SchemaOptions { categorical: list(&["age"]), ..plain() };
    assert_eq!(Schema::learn(&table, &options).unwrap().views()[0].width(), Some(3));
    assert!(
        error(&csv("a,y\n1,1\n2,abc\n"), &plain())
            .starts_with("train.csv line 3, column \"y\": \"abc\" is not a number")
    );
    // the number is odd, but the word is what is wrong
    assert!(error(&csv("a,y\nx,1\n2,1\n3,1\n"), &plain()).contains("line 2, column \"a\": \"x\""));
}

#[test]
fn categories_keep_their_spelling() {
    let table = table_with("t.csv", "zip,y\n01,1\n1,2\n", &["zip"]);
    let options = SchemaOptions { categorical: list(&["zip"]), ..plain() };
    assert_eq!(Schema::learn(&table, &options).unwrap().views()[0].coordinate_names().unwrap(), ["zip=01", "zip=1"]);
}

#[test]
fn new_categories_are_errors_that_list_the_known() {
    let schema = Schema::learn(&csv("c,y\na,1\nb,2\na,3\n"), &plain()).unwrap();
    let error = schema.apply(&csv("c,y\na,1\nz,2\na,2\n")).unwrap_err().to_string();
    let said = "train.csv line 3, column \"c\": \"z\" is not among the categories of the training data (a, b); correct the cell";
    assert!(error.starts_with(said), "{error}");
}

#[test]
fn text_columns_and_named_groups_are_views() {
    let table = csv("t,a,b,c,y\nhi,1,2,3,1\nyou,4,5,6,2\n");
    let mut options = SchemaOptions { text: list(&["t"]), ..plain() };
    options.add_view("v=b,4-4").unwrap();
    let (schema, data) = Schema::learn_and_apply(&table, &options).unwrap();
    assert!(matches!(data.view("t"), Some(Values::Text(t)) if **t == ["hi", "you"]));
    assert_eq!((dense(&data, "v"), dense(&data, "x")), (&[2., 3., 5., 6.][..], &[1., 4.][..]));
    assert_eq!(schema.view("t").unwrap().kind(), "text");
    assert!(options.add_view("nothing").is_err());
    options.add_view("w=t,a").unwrap();
    assert!(error(&table, &options).contains("mixes \"t\""));
    let all = SchemaOptions { text: list(&["*"]), target: Some(list(&["1"])), ..plain() };
    let data = Schema::learn_and_apply(&csv("ham,hi\nspam,oh\nham,ah\n"), &all).unwrap().1;
    assert!(data.views().len() == 1 && matches!(data.view("2"), Some(Values::Text(_))));
}

#[test]
fn missing_entries_are_errors_means_or_dropped() {
    let table = csv("a,c,y\n1,u,1\nNA,v,2\n4,,3\n7,v,4\n");
    assert!(error(&table, &plain()).starts_with("train.csv line 3, column \"a\": the entry is missing; fill it in"));
    let mean = SchemaOptions { missing: Missing::Mean, ..plain() };
    let (schema, data) = Schema::learn_and_apply(&table, &mean).unwrap();
    assert_eq!(dense(&data, "x"), [1., 1., 0., 4., 0., 1., 4., 0., 1., 7., 0., 1.]);
    assert_eq!(dense(&schema.apply(&csv("a,c\n?,u\n2,?\n")).unwrap(), "x"), [4., 1., 0., 2., 0., 1.]);
    let drop = SchemaOptions { missing: Missing::Drop, ..plain() };
    let (schema, data) = Schema::learn_and_apply(&table, &drop).unwrap();
    assert_eq!(dense(&data, "x"), [1., 1., 0., 7., 0., 1.]);
    assert_eq!(data.target().unwrap().numbers().unwrap().values, [1., 4.]);
    assert!(schema.apply(&table).unwrap_err().to_string().contains("dropped in training only"));
    let keep = SchemaOptions { missing: Missing::Keep, ..plain() };
    let (schema, data) = Schema::learn_and_apply(&table, &keep).unwrap();
    let shown = |data: &Dataset| format!("{:?}", dense(data, "x"));
    assert_eq!(shown(&data), "[1.0, 1.0, 0.0, NaN, 0.0, 1.0, 4.0, NaN, NaN, 7.0, 0.0, 1.0]");
    assert_eq!(shown(&schema.apply(&csv("a,c\n?,u\n2,?\n")).unwrap()), "[NaN, 1.0, 0.0, 2.0, NaN, NaN]");
}

#[test]
fn a_stray_word_in_a_dropped_row_does_not_count() {
    let drop = SchemaOptions { missing: Missing::Drop, ..plain() };
    let data = Schema::learn_and_apply(&csv("a,b,y\n1,2,1\nabc,NA,2\n3,4,3\n"), &drop).unwrap().1;
    assert_eq!(dense(&data, "x"), [1., 2., 3., 4.]);
}

#[test]
fn a_missing_target_is_an_error_unless_dropped() {
    let table = csv("a,y\n1,1\n2,NA\n3,3\n");
    let mean = SchemaOptions { missing: Missing::Mean, ..plain() };
    assert!(error(&table, &mean).contains("line 3, column \"y\": the entry is missing; the target must be known"));
    let drop = SchemaOptions { missing: Missing::Drop, ..plain() };
    assert_eq!(Schema::learn_and_apply(&table, &drop).unwrap().1.len(), 2);
    let schema = Schema::learn(&csv("a,y\n1,1\n2,2\n"), &plain()).unwrap();
    assert!(schema.apply(&csv("a,y\n1,?\n2,?\n")).unwrap().target().is_none());
    assert!(schema.apply(&table).is_err());
}

#[test]
fn named_columns_are_found_in_any_order_with_or_without_the_target() {
    let schema = Schema::learn(&csv("a,b,y\n1,2,1\n3,4,2\n"), &plain()).unwrap();
    let data = schema.apply(&csv("y,extra,b,a\n9,0,2,1\n8,0,4,3\n")).unwrap();
    assert_eq!(dense(&data, "x"), [1., 2., 3., 4.]);
    assert_eq!(data.target().unwrap().numbers().unwrap().values, [9., 8.]);
    assert!(schema.apply(&csv("b,a\n2,1\n4,3\n")).unwrap().target().is_none());
    assert!(schema.apply(&csv("b,c\n2,1\n4,3\n")).unwrap_err().to_string().contains("no column \"a\""));
}

#[test]
fn unnamed_columns_are_found_by_count() {
    let first = SchemaOptions { target: Some(list(&["1"])), ..plain() };
    let schema = Schema::learn(&csv("1,2,3\n4,5,6\n"), &first).unwrap();
    assert_eq!(dense(&schema.apply(&csv("5,6\n7,8\n")).unwrap(), "x"), [5., 6., 7., 8.]);
    let with = schema.apply(&csv("9,5,6\n9,7,8\n")).unwrap();
    assert_eq!((dense(&with, "x"), with.target().unwrap().len()), (&[5., 6., 7., 8.][..], 2));
    let error = schema.apply(&csv("1,2,3,4\n")).unwrap_err().to_string();
    assert_eq!(error, "train.csv: the file has 4 columns, but the model was trained on 2, or 3 with the target");
}

#[test]
fn sparse_and_dense_files_are_converted_into_each_other() {
    let schema = Schema::learn(&csv("1,2,7\n3,4,8\n"), &plain()).unwrap();
    let data = schema.apply(&svm("1 2:5\n2 1:6\n")).unwrap();
    assert_eq!(dense(&data, "x"), [0., 5., 6., 0.]);
    assert_eq!(data.target().unwrap().numbers().unwrap().values, [1., 2.]);
    let error = schema.apply(&svm("1 3:5\n")).unwrap_err().to_string();
    assert!(error.contains("3 coordinates, but the model was trained on 2"), "{error}");
    let schema = Schema::learn(&svm("1 1:5 3:1\n2 2:6\n"), &SchemaOptions::default()).unwrap();
    let data = schema.apply(&csv("1,0,2,9\n0,0,3,9\n")).unwrap();
    assert!(matches!(data.view("x"), Some(Values::Sparse(r)) if r.row(0).len() == 2 && r.width() == 3));
    assert!(
        data.preparation().unwrap().assumed().is_some_and(|said| said.contains("the last one is taken for the target"))
    );
    assert!(data.target().is_some() && schema.apply(&csv("1,0,2\n0,0,3\n")).unwrap().target().is_none());
    assert!(schema.apply(&csv("1,2\n3,4\n")).is_err());
    let wide = schema.apply(&svm("9:1\n")).unwrap();
    assert_eq!((wide.view("x").unwrap().width(), wide.target().is_none()), (Some(9), true));
    assert_eq!(schema.apply(&svm("1:1\n")).unwrap().view("x").unwrap().width(), Some(3));
}

#[test]
fn a_column_too_many_is_the_target_only_by_its_name() {
    let schema = Schema::learn(&svm("1 1:5 2:1\n2 2:6\n"), &SchemaOptions::default()).unwrap();
    for text in ["id,a,b\n1,5,1\n2,0,6\n", "a,b,kind\n5,1,1\n0,6,2\n", "a,label,class\n5,1,1\n0,6,2\n"] {
        let said = schema.apply(&csv(text)).unwrap_err().to_string();
        assert!(said.contains("one more than the 2 coordinates") && said.contains("call the target \"y\""), "{said}");
    }
    for (name, told) in [("y", false), ("label", true)] {
        for text in [format!("{name},a,b\n1,5,1\n2,0,6\n"), format!("a,b,{name}\n5,1,1\n0,6,2\n")] {
            let data = schema.apply(&csv(&text)).unwrap();
            assert!(matches!(data.view("x"), Some(Values::Sparse(r)) if r.row(0)[0].value == 5.0));
            assert_eq!(data.target().unwrap().numbers().unwrap().values, [1., 2.]);
            assert_eq!(data.preparation().unwrap().assumed().is_some_and(|said| said.contains("by its name")), told);
        }
    }
}

#[test]
fn columns_of_files_without_names_keep_their_kind_where_others_are_missing() {
    let reading = |schema: &Schema, text: &str| {
        read_bytes("new.csv", text.as_bytes(), &schema.reading(ReadOptions::default())).unwrap()
    };
    // target first, then a number, then codes
    for names in ["", "y,a,code\n"] {
        let train = format!("{names}u,1,01\nv,2,1\nu,3,2\n");
        let code = if names.is_empty() { "3" } else { "code" };
        let options = SchemaOptions { categorical: list(&[code]), target: Some(list(&["1"])), ..plain() };
        let schema = Schema::learn(&table_with("train.csv", &train, &[code]), &options).unwrap();
        for new in ["u,1,01\nv,2,1\n", "1,01\n2,1\n"] {
            let data = schema.apply(&reading(&schema, new)).unwrap();
            assert_eq!(dense(&data, "x"), [1., 1., 0., 0., 2., 0., 1., 0.], "{names:?} {new}");
        }
    }
    // a text, and a mark that is a category
    let options = |kind: &str| {
        let mut options = SchemaOptions { target: Some(list(&["1"])), missing: Missing::Mean, ..plain() };
        if kind == "text" {
            options.text = list(&["3"]);
        } else {
            options.categorical = list(&["3"]);
        }
        options
    };
    for kind in ["text", "categorical"] {
        let reading_of = ReadOptions { words: list(&["3"]), spelled: list(&["3"]), ..ReadOptions::default() };
        let train = read_bytes("train.csv", b"u,1,007\nv,2,NA\nu,3,8\n", &reading_of).unwrap();
        let schema = Schema::learn(&train, &options(kind)).unwrap();
        let shown = |text: &str| format!("{:?}", schema.apply(&reading(&schema, text)).unwrap().views());
        assert_eq!(shown("1,007\n2,NA\n"), shown("u,1,007\nv,2,NA\n"), "{kind}");
        assert!(kind == "categorical" || shown("1,007\n2,NA\n").contains("007"));
    }
}

#[test]
fn labels_that_are_words_stay_words_in_every_file() {
    let options = SchemaOptions { categorical: list(&["v"]), ..plain() };
    let schema = Schema::learn(&table_with("t.csv", "a,v\n1,3.1\n2,3.10\n", &["v"]), &options).unwrap();
    assert_eq!(schema.word_columns(), ["v"]);
    let table = read_bytes("n.csv", b"a,v\n1,3.10\n2,3.1\n", &schema.reading(ReadOptions::default())).unwrap();
    let classes = schema.apply(&table).unwrap().target().unwrap().classes().unwrap();
    assert_eq!((classes.labels, classes.codes), (list(&["3.1", "3.10"]), vec![1, 0]));
    // words of other formats, and regression on them
    let table =
        read_bytes("t.jsonl", b"{\"a\":1,\"v\":\"3.1\"}\n{\"a\":2,\"v\":\"3.10\"}\n", &ReadOptions::default()).unwrap();
    let data = Schema::learn_and_apply(&table, &SchemaOptions { target: Some(list(&["v"])), ..plain() }).unwrap().1;
    assert_eq!(data.target().unwrap().classes().unwrap().labels, ["3.1", "3.10"]);
    assert_eq!(data.target().unwrap().numbers().unwrap().values, [3.1, 3.1]);
    // plain words need nothing
    let schema = Schema::learn(&csv("a,v\n1,u\n2,w\n"), &plain()).unwrap();
    assert!(schema.word_columns().is_empty() && !serde_json::to_string(&schema).unwrap().contains("target_words"));
}

#[test]
fn decimal_commas_are_told_also_beside_marks() {
    for text in ["a;y\n0,5;0\n1,5;1\nn/a;0\n0,5;0\n1,5;1\n", "a;y\n-;0\n0,5;0\n1,5;1\n-;0\n2;1\n"] {
        let said = error(&csv(text), &plain());
        assert!(said.contains("\"0,5\" has a decimal comma"), "{said}");
    }
}

#[test]
fn sparse_vectors_are_scaled_only_to_unit_length() {
    let table = svm("1 1:3 2:4\n2 2:6\n");
    let unit = SchemaOptions { scale: Some(Scale::Unit), ..SchemaOptions::default() };
    let data = Schema::learn_and_apply(&table, &unit).unwrap().1;
    assert!(matches!(data.view("x"), Some(Values::Sparse(r)) if r.row(0)[1].value == 0.8));
    let minmax = SchemaOptions { scale: Some(Scale::Minmax), ..SchemaOptions::default() };
    assert!(error(&table, &minmax).contains("would fill the zeros"));
}

#[test]
fn blocks_keep_their_precision_and_fill_their_gaps() {
    let rows = super::super::Rows::new(vec![1.0_f32, f32::NAN, 3.0, 4.0], 2, 2).unwrap();
    let mut table = svm("1 1:1\n2 1:1\n");
    table.fields[1].data = FieldData::Matrix32(rows);
    assert!(error(&table, &plain()).contains("column \"x[2]\": the entry is missing"));
    let mean = SchemaOptions { missing: Missing::Mean, ..plain() };
    let (schema, data) = Schema::learn_and_apply(&table, &mean).unwrap();
    assert!(matches!(data.view("x"), Some(Values::Dense32(r)) if r.values() == [1.0, 4.0, 3.0, 4.0]));
    assert!(matches!(schema.apply(&table).unwrap().view("x"), Some(Values::Dense32(_))));
    let drop = SchemaOptions { missing: Missing::Drop, ..plain() };
    assert_eq!(Schema::learn_and_apply(&table, &drop).unwrap().1.len(), 1);
}

#[test]
fn a_schema_survives_json() {
    let options = SchemaOptions { missing: Missing::Mean, ..SchemaOptions::default() };
    let schema = Schema::learn(&csv("a,c,y\n1,u,1\n0.1,v,2\n4,,3\n"), &options).unwrap();
    let text = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), schema);
}

#[test]
fn weights_are_neither_feature_nor_target() {
    let options = SchemaOptions { weights: Some("w".to_owned()), ..plain() };
    let (schema, data) = Schema::learn_and_apply(&csv("a,w,y\n1,2,p\n3,0,q\n"), &options).unwrap();
    assert_eq!((dense(&data, "x"), data.weights()), (&[1., 3.][..], Some(&[2., 0.][..])));
    assert_eq!((schema.weights_name(), data.select(&[1]).weights()), (Some("w"), Some(&[0.][..])));
    let text = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), schema);
    for new in ["a,w,y\n1,7,p\n3,8,q\n", "a,y\n1,p\n3,q\n", "a,w\n1,x\n3,-1\n", "a\n1\n3\n"] {
        let data = schema.apply(&csv(new)).unwrap();
        assert_eq!((dense(&data, "x"), data.weights()), (&[1., 3.][..], None), "{new}");
        assert_eq!(data.target().is_some(), new.contains('y'));
    }
    for (text, said) in [
        ("a,w,y\n1,2,p\n3,-1,q\n", "train.csv line 3, column \"w\": the weight -1 is not a number ≥ 0"),
        ("a,w,y\n1,NA,p\n3,1,q\n", "line 2, column \"w\": the entry is missing; every example needs a weight"),
        ("a,w,y\n1,1,p\n3,x,q\n", "line 3, column \"w\": \"x\" is not a number"),
        ("a,w,y\n1,0,p\n3,0,q\n", "column \"w\": every weight is zero"),
        ("a,v,y\n1,0,p\n3,0,q\n", "no column \"w\""),
        ("a,w\n1,1\n3,2\n", "is the target and cannot hold the weights"),
    ] {
        let error = error(&csv(text), &options);
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn weights_of_files_without_names_are_found_by_count() {
    let options = |w: &str, y: &str| SchemaOptions { weights: Some(w.to_owned()), target: Some(list(&[y])), ..plain() };
    // 1 is the weight, 4 the target
    let schema = Schema::learn(&csv("1,5,6,7\n2,8,9,3\n"), &options("1", "4")).unwrap();
    for new in ["9,5,6,7\n9,8,9,3\n", "5,6\n8,9\n"] {
        assert_eq!(dense(&schema.apply(&csv(new)).unwrap(), "x"), [5., 6., 8., 9.], "{new}");
    }
    let error = schema.apply(&csv("5,6,7\n8,9,3\n")).unwrap_err().to_string();
    assert!(error.contains("either the target or the weights are missing"), "{error}");
    // behind all features it does not matter which of the two is missing
    let schema = Schema::learn(&csv("5,6,1,7\n8,9,2,3\n"), &options("3", "4")).unwrap();
    let data = schema.apply(&csv("5,6,7\n8,9,3\n")).unwrap();
    assert_eq!((dense(&data, "x"), data.target().unwrap().len()), (&[5., 6., 8., 9.][..], 2));
    let error = schema.apply(&csv("1,2,3,4,5\n")).unwrap_err().to_string();
    assert!(error.contains("trained on 2, or 4 with target and weights"), "{error}");
}
