//! Tests of writers: what is written is read again.

use super::super::read::{ReadOptions, read};
use super::*;

fn table_of(name: &str, text: &str) -> Table {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    read(&path, &ReadOptions::default()).unwrap()
}

/// Writes under a name and reads again.
fn again(table: &Table, name: &str) -> Table {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write(&path, table, choose(&path, None).unwrap()).unwrap();
    read(&path, &ReadOptions::default()).unwrap()
}

fn error(table: &Table, name: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let error = write(&path, table, choose(&path, None).unwrap()).unwrap_err().to_string();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    error
}

/// All numbers of a table, row by row, features before the target.
fn bits(table: &Table) -> Vec<u64> {
    let order: Vec<&Field> = features(table).map(|(_, f)| f).chain(table.target.map(|t| &table.fields[t])).collect();
    let mut bits = Vec::new();
    for row in 0..table.len {
        for field in &order {
            match &field.data {
                FieldData::Numbers { values, .. } => bits.push(values[row].to_bits()),
                FieldData::Matrix(rows) => bits.extend(rows.row(row).iter().map(|v| v.to_bits())),
                FieldData::Sparse(rows) => bits.extend(rows.to_dense().row(row).iter().map(|v| v.to_bits())),
                other => panic!("{other:?}"),
            }
        }
    }
    bits
}

#[test]
fn numbers_go_round_through_every_format_bit_for_bit() {
    let mut random = crate::seed::Seed(11).stream("round");
    let mut text = String::from("a,b,c,zero,y\n");
    for k in 0..300 {
        let any = f64::from_bits(random.bits());
        let any = if any.is_finite() { any } else { 0.25 };
        let unit = (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        text += &format!("{any:e},{unit},{},0,{}\n", if k % 3 == 0 { 0 } else { k }, k % 4);
    }
    let table = table_of("t.csv", &text);
    let wanted = bits(&table);
    for road in [&["t.svm", "t.csv"][..], &["t.csv"], &["t.tsv", "t.svm.gz", "t.csv.gz"], &["t.libsvm", "t.svm"]] {
        let last = road.iter().fold(table.clone(), |t, name| again(&t, name));
        assert_eq!(bits(&last), wanted, "{road:?}");
    }
    let whole = Table { target: None, ..table };
    assert_eq!(bits(&again(&whole, "t.npy")), wanted);
}

#[test]
fn words_names_and_gaps_go_round_through_csv() {
    let text = "na me,\"a,b\",y\n1,\"x \"\"y\"\"\",#u\n,z,v\n3,\"l\nm\",#u\n";
    let table = table_of("t.csv", text);
    assert_eq!(format!("{:?}", again(&table, "u.csv").fields), format!("{:?}", table.fields));
    assert!(error(&table, "u.tsv").contains("line 4, column \"a,b\": the text has a line end"));
    let table = table_of("t.csv", &text.replace("l\nm", "\tm"));
    assert_eq!(format!("{:?}", again(&table, "u.tsv").fields), format!("{:?}", table.fields));
    let single = table_of("t.csv", "a\n1\nNA\n2\n");
    assert_eq!(again(&single, "t.csv").len, 3);
}

#[test]
fn what_a_format_cannot_hold_is_refused_with_its_place() {
    let words = table_of("t.csv", "a,b,y\n1,u,1\n2,v,2\n");
    assert!(error(&words, "t.svm").contains("line 2, column \"b\": \"u\" is a word, and LIBSVM holds numbers"));
    assert!(error(&words, "t.npy").contains("--encode"));
    let gap = table_of("t.csv", "a,y\n1,1\n,2\n");
    assert!(error(&gap, "t.svm").contains("line 3, column \"a\": the entry is missing"));
    assert!(error(&table_of("t.csv", "a,y\n1,u v\n"), "t.svm").contains("no blanks"));
    assert!(error(&table_of("t.csv", "a,y\n1,\n2,3\n"), "t.svm").contains("the label is missing"));
    let wide = table_of("t.svm", "1 2000000000:1\n2 1:1\n");
    assert!(error(&wide, "t.csv").contains("too many cells"));
    assert!(choose(Path::new("a.xls"), None).unwrap_err().to_string().contains("--to with one of csv, tsv"));
    let only_read = choose(Path::new("a.parquet"), None).unwrap_err().to_string();
    assert!(only_read.contains("parquet is read and not written; end the name in one of .csv, .tsv"), "{only_read}");
    assert!(choose(Path::new("a"), Some("xls")).unwrap_err().to_string().contains("formats are csv"));
}

#[test]
fn rows_of_zeros_without_label_are_still_rows() {
    let table = table_of("t.npy.csv", "0,0\n1,0\n0,0\n");
    let table = Table { target: None, ..table };
    let read = again(&table, "t.svm");
    assert_eq!((read.len, bits(&read)), (3, bits(&table)));
}
