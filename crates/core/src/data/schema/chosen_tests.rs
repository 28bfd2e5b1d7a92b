//! Tests of columns that are left out, and of categories that training has not seen.

use super::super::read::{ReadOptions, read_bytes};
use super::tests::{csv, dense, error, list, plain};
use super::*;

/// Columns to drop, and to keep.
fn choice(drop: &[&str], only: Option<&[&str]>) -> SchemaOptions {
    SchemaOptions { drop: list(drop), only: only.map(list), ..plain() }
}

#[test]
fn columns_are_left_out_by_name_number_and_range() {
    let table = csv("id,a,b,c,y\n7,1,2,3,p\n8,4,5,6,q\n");
    for (drop, only, left) in [
        (&["id"][..], None, &["a", "b", "c"][..]),
        (&["1", "-2"], None, &["a", "b"]),
        (&["a-c"], None, &["id"]),
        (&["1-2", "c"], None, &["b"]),
        (&[], Some(&["b"][..]), &["b"]),
        (&[], Some(&["3-4", "y"]), &["b", "c"]),
    ] {
        let (schema, data) = Schema::learn_and_apply(&table, &choice(drop, only)).unwrap();
        assert_eq!(schema.views()[0].coordinate_names().unwrap(), left, "{drop:?} {only:?}");
        assert_eq!((data.target().unwrap().names(), schema.fields), (list(&["y"]), 5));
    }
}

#[test]
fn what_cannot_be_left_out_is_said_with_the_remedy() {
    let table = csv("id,a,w,y\n7,1,2,p\n8,4,5,q\n");
    let with = |options: SchemaOptions| error(&table, &options);
    assert!(with(choice(&["y"], None)).contains("\"y\" is the target and cannot be dropped"));
    let weighted = SchemaOptions { weights: Some("w".to_owned()), ..choice(&["w"], None) };
    assert!(with(weighted).contains("\"w\" holds the weights and cannot be dropped"));
    assert!(with(choice(&["ids"], None)).contains("did you mean \"id\"?"));
    assert!(with(choice(&["a"], Some(&["a"]))).contains("is among the columns to be kept"));
    assert!(with(choice(&["1-3"], None)).contains("has no column besides the target that is not left out"));
    let viewed = SchemaOptions { views: vec![("v".to_owned(), list(&["a"]))], ..choice(&["a"], None) };
    assert!(with(viewed).contains("\"a\" is left out and cannot be in view v"));
    let coded = SchemaOptions { categorical: list(&["id"]), ..choice(&["id"], None) };
    assert!(with(coded).contains("\"id\" is left out, but other options"));
}

#[test]
fn a_column_that_is_left_out_may_hold_anything_and_be_missing_in_new_files() {
    let drop = SchemaOptions { missing: Missing::Drop, ..choice(&["note"], None) };
    let table = csv("note,a,y\n,1,p\n5,2,q\nlate,3,p\n");
    let (schema, data) = Schema::learn_and_apply(&table, &drop).unwrap();
    assert_eq!(dense(&data, "x"), [1., 2., 3.], "a gap in it costs no row");
    assert_eq!(dense(&schema.apply(&csv("a\n9\n")).unwrap(), "x"), [9.]);
    let text = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), schema);
}

#[test]
fn files_without_names_may_lack_the_columns_that_were_left_out() {
    let third = SchemaOptions { target: Some(list(&["5"])), ..choice(&["1-2"], None) };
    let schema = Schema::learn(&csv("7,7,1,2,9\n7,7,3,4,8\n"), &third).unwrap();
    for (new, target) in [
        ("7,7,1,2,9\n7,7,3,4,8\n", true),
        ("7,7,1,2\n7,7,3,4\n", false),
        ("1,2,9\n3,4,8\n", true),
        ("1,2\n3,4\n", false),
    ] {
        let data = schema.apply(&csv(new)).unwrap();
        assert_eq!((dense(&data, "x"), data.target().is_some()), (&[1., 2., 3., 4.][..], target), "{new}");
    }
    let refused = schema.apply(&csv("1,2,3,4,5,6\n")).unwrap_err().to_string();
    assert!(refused.contains("trained on 2, or 5 with columns that were left out and target"), "{refused}");
    // one column less: the target behind the others, or the one that was left out before them
    let schema = Schema::learn(&csv("7,1,2,9\n7,3,4,8\n"), &choice(&["1"], None)).unwrap();
    let unclear = schema.apply(&csv("1,2,9\n3,4,8\n")).unwrap_err().to_string();
    assert!(unclear.contains("either the columns that were left out or the target are missing"), "{unclear}");
}

#[test]
fn a_category_that_training_has_not_seen_is_none_of_the_known_where_it_is_to_be_ignored() {
    let table = csv("c,a,y\nred,1,p\nblue,2,q\nred,3,p\n");
    let new = csv("c,a\nblue,1\npink,2\nlilac,3\n");
    let strict = Schema::learn(&table, &plain()).unwrap();
    let refused = strict.apply(&new).unwrap_err().to_string();
    assert!(refused.contains("line 3, column \"c\": \"pink\"") && refused.contains("--unseen ignore"), "{refused}");
    let lenient = Schema::learn(&table, &SchemaOptions { unseen: Unseen::Ignore, ..plain() }).unwrap();
    let here = ApplyOptions { unseen: Some(Unseen::Ignore), ..ApplyOptions::default() };
    for data in [lenient.apply(&new).unwrap(), strict.apply_as(&new, here).unwrap()] {
        assert_eq!(dense(&data, "x"), [1., 0., 1., 0., 0., 2., 0., 0., 3.]);
        let met = UnseenCategories { column: "c".to_owned(), cells: 2, example: "pink".to_owned() };
        assert_eq!(data.preparation().unwrap().unseen(), [met]);
        assert!(data.select(&[1]).preparation().unwrap().unseen().is_empty());
    }
    let text = serde_json::to_string(&lenient).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), lenient);
    assert!(!serde_json::to_string(&strict).unwrap().contains("unseen"), "files of strict models stay as they were");
    let here = ApplyOptions { unseen: Some(Unseen::Error), ..ApplyOptions::default() };
    assert!(lenient.apply_as(&new, here).is_err());
}

#[test]
fn rows_with_missing_entries_are_left_out_only_where_that_is_asked_for() {
    let drop = SchemaOptions { missing: Missing::Drop, ..plain() };
    let table = csv("a,note,b,y\n1,n,2,p\n,n,4,q\n5,n,6,\n7,,8,p\n9,n,10,q\n");
    let schema = Schema::learn(&table, &SchemaOptions { drop: list(&["note"]), ..drop }).unwrap();
    assert!(schema.apply(&table).is_err());
    let data = schema.apply_as(&table, ApplyOptions { drop_missing: true, ..ApplyOptions::default() }).unwrap();
    assert_eq!(dense(&data, "x"), [1., 2., 7., 8., 9., 10.]);
    assert_eq!((data.target().unwrap().len(), data.preparation().unwrap().left_out()), (3, 2));
    let none = csv("a,b,y\n,1,p\n");
    assert!(schema.apply_as(&none, ApplyOptions { drop_missing: true, ..ApplyOptions::default() }).is_err());
}

#[test]
fn dates_are_days_in_training_and_in_new_files() {
    let dated = SchemaOptions { dates: list(&["d"]), missing: Missing::Mean, ..plain() };
    let table = csv("d,y\n1970-01-03,p\n1970-01-01T12:00,q\nn/a,p\n");
    let (schema, data) = Schema::learn_and_apply(&table, &dated).unwrap();
    assert_eq!(dense(&data, "x"), [2.0, 0.5, 1.25]);
    let text = serde_json::to_string(&schema).unwrap();
    let schema: Schema = serde_json::from_str(&text).unwrap();
    assert_eq!(dense(&schema.apply(&csv("d\n1969-12-31\n1970-01-02\n")).unwrap(), "x"), [-1.0, 1.0]);
    let refused = schema.apply(&csv("d\n1969-12-31\n31.12.1969\n")).unwrap_err().to_string();
    assert!(refused.contains("line 3, column \"d\": \"31.12.1969\" is no date"), "{refused}");
    let twice = SchemaOptions { categorical: list(&["d"]), ..dated };
    assert!(error(&table, &twice).contains("\"d\" cannot be dates and something else"));
}

#[test]
fn names_with_commas_are_whole() {
    let text = "\"income, EUR\",b,\"code,x\",y\n1,2,01,3\n4,5,1,6\n";
    let reading = ReadOptions { words: list(&["code", "x"]), ..ReadOptions::default() };
    let table = read_bytes("t.csv", text.as_bytes(), &reading).unwrap();
    let mut options = plain();
    options.set_target("income, EUR");
    options.categorical = SchemaOptions::columns("code,x");
    options.drop = SchemaOptions::columns("b,y");
    options.add_view("v=code,x").unwrap();
    options.rejoin(&table);
    assert_eq!((options.target.clone(), options.drop.clone()), (Some(list(&["income, EUR"])), list(&["b", "y"])));
    let (schema, data) = Schema::learn_and_apply(&table, &options).unwrap();
    assert_eq!(schema.target_names(), ["income, EUR"]);
    assert_eq!(dense(&data, "v"), [1., 0., 0., 1.]);
    // a name that stands alone is not drawn into another
    let table = csv("\"a,b\",a,b,y\n1,2,3,4\n");
    let mut options = SchemaOptions { drop: SchemaOptions::columns("a,b"), ..plain() };
    options.rejoin(&table);
    assert_eq!(options.drop, ["a", "b"]);
}
