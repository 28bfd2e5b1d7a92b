//! Tests of delimited text: one per rule.

use super::super::super::{FieldData, Words};
use super::super::{ReadOptions, read_bytes};
use super::*;

fn table_of(text: &str) -> Table {
    read_bytes("train.csv", text.as_bytes(), &ReadOptions::default()).unwrap()
}

fn error_of(text: &str) -> String {
    read_bytes("train.csv", text.as_bytes(), &ReadOptions::default()).unwrap_err().to_string()
}

fn names(table: &Table) -> Vec<&str> {
    table.fields.iter().map(|f| f.name.as_str()).collect()
}

fn numbers(table: &Table, k: usize) -> &[f64] {
    let FieldData::Numbers { values, .. } = &table.fields[k].data else { panic!("{:?}", table.fields[k]) };
    values
}

fn words(table: &Table, k: usize) -> &Words {
    let FieldData::Words(words) = &table.fields[k].data else { panic!("{:?}", table.fields[k]) };
    words
}

#[test]
fn words_above_numbers_are_a_header() {
    let table = table_of("a,b\n1,2\n3,4\n");
    assert_eq!((names(&table), table.named, table.len, table.target), (vec!["a", "b"], true, 2, Some(1)));
    assert_eq!(numbers(&table, 1), [2.0, 4.0]);
    let table = table_of("1,2\n3,4\n");
    assert_eq!((names(&table), table.named, table.len), (vec!["1", "2"], false, 2));
    // the index column that some writers leave without a name
    assert_eq!(names(&table_of(",a\n0,5\n1,6\n")), ["1", "a"]);
    // a missing mark or a number in the first line is data
    assert!(!table_of("NA,x\n1,y\n").named);
    assert!(!table_of("x,1\ny,2\n").named);
}

#[test]
fn words_alone_have_a_header_only_if_it_never_comes_again() {
    assert!(table_of("label,text\nham,hi\nspam,go\n").named);
    let table = table_of("ham,hi\nspam,go\nham,oh\n");
    assert_eq!((table.named, table.len), (false, 3));
    assert_eq!(words(&table, 0), ["ham", "spam", "ham"]);
    assert!(!table_of("a,a\nb,c\n").named);
    assert!(!table_of("only,words\n").named);
}

#[test]
fn the_user_decides_about_the_header() {
    let with = |text: &str, header| {
        read_bytes("train.csv", text.as_bytes(), &ReadOptions { header: Some(header), ..ReadOptions::default() })
    };
    assert_eq!(names(&with("1,2\n3,4\n", true).unwrap()), ["1", "2"]);
    assert_eq!(with("1,2\n3,4\n", true).unwrap().len, 1);
    let table = with("a,b\n1,2\n", false).unwrap();
    assert_eq!(table.len, 2);
    assert!(matches!(&table.fields[0].data, FieldData::Mixed { odd: 1, cells } if cells == ["a", "1"]));
    assert!(matches!(with("a,b\n", true), Err(DataError::Empty { .. })));
}

#[test]
fn marks_are_missing_and_columns_have_one_kind() {
    let table = table_of("n,w,m\n1,a,1\n?,NA,x\nnan,b,2\n");
    assert!(numbers(&table, 0)[1].is_nan() && numbers(&table, 0)[2].is_nan());
    assert_eq!(words(&table, 1), ["a", "", "b"]);
    assert!(matches!(&table.fields[2].data, FieldData::Mixed { odd: 1, cells } if cells == ["1", "x", "2"]));
}

#[test]
fn a_late_word_keeps_the_first_spelling_of_earlier_numbers() {
    let table = table_of("v,y\n01,1\n2.50,2\nx,3\n");
    assert!(matches!(&table.fields[0].data, FieldData::Mixed { odd: 2, cells } if cells == ["01", "2.50", "x"]));
}

#[test]
fn spellings_are_kept_for_labels() {
    let table = table_of("v,y\n1,1.0\n2,2.0\n3,1.0\n");
    let FieldData::Numbers { spellings, .. } = &table.fields[1].data else { panic!() };
    assert_eq!(spellings, &[(1.0, "1.0".to_owned()), (2.0, "2.0".to_owned())]);
}

#[test]
fn ragged_lines_are_named_with_both_counts() {
    assert_eq!(
        error_of("a,b,c,d\n1,2,3,4\n1,2,3,4,5\n1,2,3,4\n1,2,3,4\n"),
        "train.csv line 3: 5 fields, but line 1 has 4"
    );
    assert_eq!(error_of("1,2\n1,2\n1,2\n1,2\n1\n"), "train.csv line 5: 1 field, but line 1 has 2");
}

#[test]
fn infinite_numbers_are_named_with_their_place() {
    let error = error_of("a,b\n1,2\n\n3,-inf\n");
    assert!(error.starts_with("train.csv line 4, column \"b\": the number is not finite"), "{error}");
    // among words it is a word
    assert_eq!(words(&table_of("a,b\n1,x\n2,inf\n"), 1), ["x", "inf"]);
}

#[test]
fn lines_are_the_physical_ones() {
    let table = table_of("# made by hand\n\na,b\n\"x\ny\",1\n\nz,2\n");
    assert_eq!(words(&table, 0), ["x\ny", "z"]);
    assert_eq!(table.place(0, 1).line, Some(4));
    assert_eq!(table.place(1, 1).line, Some(7));
    assert_eq!(table.lines.as_deref(), Some(&[4, 7][..]));
    assert_eq!(table_of("1,2\n3,4\n").lines, None);
}

#[test]
fn line_ends_marks_of_order_and_quotes() {
    let table = table_of("\u{feff}a,b\r\n1,\"x, \"\"y\"\"\"\r\n2, z \r\n");
    assert_eq!(names(&table), ["a", "b"]);
    assert_eq!(words(&table, 1), ["x, \"y\"", "z"]);
    assert!(error_of("a,b\n1,\"x\n2,y\n").contains("line 2: a quote is opened here and never closed"));
    assert_eq!(words(&table_of("a,b\n1,\"x\"y\n2,z\n"), 1), ["xy", "z"]);
    assert_eq!(words(&table_of("a,b\n1,5\" pipe\n2,z\n"), 1), ["5\" pipe", "z"]);
}

#[test]
fn quotes_in_running_text_of_tab_files_are_text() {
    let text = "ham\t\"Hi\" she said\nspam\t\"open\nham\t\"whole \"\"cell\"\"\"\n";
    let table = read_bytes("a.tsv", text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(words(&table, 1), ["\"Hi\" she said", "\"open", "whole \"cell\""]);
}

#[test]
fn a_line_of_tabs_is_a_record_of_missing_cells() {
    let table = read_bytes("a.tsv", b"1\t2\n\t\n3\t4\n", &ReadOptions::default()).unwrap();
    assert!(table.len == 3 && numbers(&table, 0)[1].is_nan());
}

#[test]
fn other_encodings_are_named_with_their_line() {
    let error = read_bytes("train.csv", b"a,b\n1,x\n2,caf\xe9\n", &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("train.csv line 3: the text is not UTF-8"), "{error}");
}

#[test]
fn declared_columns_stay_words_by_name_or_number() {
    for word in ["zip", "1", "-2"] {
        let options = ReadOptions { words: vec![word.to_owned()], ..ReadOptions::default() };
        let table = read_bytes("a.csv", b"zip,y\n01,1\n02,2\n", &options).unwrap();
        assert_eq!(words(&table, 0), ["01", "02"], "{word}");
        assert!(table.named);
    }
}

#[test]
fn twins_in_the_header_are_refused() {
    assert!(error_of("a,a\n1,2\n").contains("two columns are called \"a\""));
}

#[test]
fn line_ends_of_old_macs_are_refused_in_every_text_format() {
    let error = error_of("a,b\r1,2\r3,4\r");
    assert!(error.contains("carriage returns alone") && error.contains("tr '\\r' '\\n'"), "{error}");
    for (name, text) in
        [("a.svm", "1 1:2\r2 1:3\r"), ("a.jsonl", "{\"a\":1}\r{\"a\":2}\r"), ("a.fa", ">a\rACGT\r>b\rAC\r")]
    {
        let error = read_bytes(name, text.as_bytes(), &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("carriage returns alone"), "{name}: {error}");
    }
    // those of DOS are read, and a file without any
    assert_eq!(table_of("a,b\r\n1,2\r\n3,4\r\n").len, 2);
    assert_eq!(table_of("1,2\r").len, 1);
}

#[test]
fn a_byte_that_is_zero_is_refused_and_far_down_with_its_line() {
    for text in ["a,b\n1,x\n2,y\0\n", "a,b\n1,x\n2,\"y\0\"\n", "a\tb\n1\tx\n2\ty\0\n"] {
        let error = error_of(text);
        assert!(error.starts_with("train.csv: it is no text, for it has bytes of value zero"), "{error}");
    }
    let long = format!("a,b\n{}7,\0\n", "1,x\n".repeat(200_000));
    assert!(error_of(&long).starts_with("train.csv line 200002: a byte is zero"), "{}", error_of(&long));
}

#[test]
fn a_line_with_a_mark_is_a_comment_only_if_it_does_not_fit() {
    let table = table_of("#id,x,y\n1,2,u\n2,3,v\n3,4,u\n");
    assert_eq!((names(&table), table.named, table.len), (vec!["id", "x", "y"], true, 3));
    let table = table_of("# source: lab 7\n# id,x,y\n# unit: mm\n1,2,u\n2,3,v\n");
    assert_eq!((names(&table), table.len, table.first_line), (vec!["id", "x", "y"], 2, 4));
    assert!(table.notes[0].contains("2 comments"), "{:?}", table.notes);
    let happy = "#happy day today\tpos\n#sad day\tneg\nwhat a day\tpos\nugh no\tneg\ngreat stuff\tpos\n";
    let options = |header| ReadOptions { header, ..ReadOptions::default() };
    for header in [None, Some(false)] {
        let table = read_bytes("a.tsv", happy.as_bytes(), &options(header)).unwrap();
        assert_eq!((table.named, table.len), (false, 5), "{header:?}");
        assert_eq!(words(&table, 0)[0], *"#happy day today");
    }
    let songs = read_bytes("a.csv", b"#1 song,5\n#2 song,6\nother,7\n", &options(None)).unwrap();
    assert_eq!((songs.named, songs.len), (false, 3));
    // above a header nothing is an example, whatever it has commas for
    let table = table_of("# by Jane, 2024\na,b\n1,2\n3,4\n");
    assert_eq!((names(&table), table.len), (vec!["a", "b"], 2));
    assert!(table.notes[0].contains("a comment"), "{:?}", table.notes);
    let table = read_bytes("a.txt", b"# x y\n1 2\n3 4\n", &options(None)).unwrap();
    assert_eq!((names(&table), table.len), (vec!["x", "y"], 2));
    // a text of one column begins with a remark, or with an example
    let table = read_bytes("a.txt", b"# by hand\n#one two\nacgt acg t\nacg ttt\n", &options(None)).unwrap();
    assert_eq!((table.len, table.notes.len()), (3, 2), "{:?}", table.notes);
    assert_eq!(read_bytes("a.txt", b"# by hand\nacgt acg\n", &options(Some(false))).unwrap().len, 2);
    assert_eq!(table_of("#a,b\n#c,d\n").len, 2 - usize::from(table_of("#a,b\n#c,d\n").named));
}

#[test]
fn a_header_may_have_numbers_and_marks_among_its_names() {
    let table = table_of("country,2019,2020,y\nA,1,2,u\nB,3,4,v\nC,3,4,u\nD,1,0,v\n");
    assert_eq!((names(&table), table.len), (vec!["country", "2019", "2020", "y"], 4));
    assert!(table.notes[0].contains("--header false"), "{:?}", table.notes);
    let digits = format!("0,1,2,3,label\n{}", "1,2,3,4,a\n5,6,7,8,b\n9,9,9,9,c\n".repeat(3));
    assert_eq!(names(&table_of(&digits)), ["0", "1", "2", "3", "label"]);
    assert_eq!(names(&table_of("RI,NA,MG,y\n1.5,13,4,1\n1.6,12,3,2\n")), ["RI", "NA", "MG", "y"]);
    assert_eq!(names(&table_of("year,inf,y\n1,2,1\n3,4,2\n")), ["year", "inf", "y"]);
    // examples of numbers and a word stay examples, and nothing need be told
    let flowers = format!("5.1,3.5,setosa\n{}", "4.9,3.0,setosa\n6.1,2.8,virginica\n".repeat(4));
    let table = table_of(&flowers);
    assert_eq!((table.named, table.len, table.notes.len()), (false, 9, 0), "{:?}", table.notes);
    let years = format!("2019,2020,u\n{}", "2018,2020,u\n2019,2017,v\n".repeat(4));
    assert!(!table_of(&years).named);
    // a mark of what is missing is no name
    assert!(!table_of("-,2,u\n1,3,v\n4,5,u\n").named);
}

#[test]
fn what_was_guessed_of_words_above_words_is_told() {
    let read = |name: &str, text: &str| read_bytes(name, text.as_bytes(), &ReadOptions::default()).unwrap();
    // a cell that is found again in a column of running text decides nothing
    let table = read("a.tsv", "label\ttext\nham\thello you\nspam\twin now\nham\ttext\nspam\tbuy this\n");
    assert_eq!((names(&table), table.len), (vec!["label", "text"], 4));
    // sequences are no names of sequences
    let table = read("a.txt", "acgtacgt\nacgtaaaa\nttttacgt\ngggtacgt\nccctacga\n");
    assert_eq!((table.named, table.len), (false, 5));
    assert!(table.notes[0].contains("--header true"), "{:?}", table.notes);
    let table = read("a.tsv", "acgtacgt\tup\nacgtaaaa\tdown\nttttacgt\tflat\ngggtacgt\tdown\nccctacga\tflat\n");
    assert_eq!((table.named, table.len), (false, 5));
    assert!(read("a.txt", "peptide\nacgtacgt\nacgtaaaa\nttttacgt\n").named);
    assert!(read("a.txt", "text\nhello there, you\nwell, now\nhmm, ok\n").named);
    let table = read("a.csv", "lion,sea\ntiger,land\nwhale,air\n");
    assert!(table.notes[0].contains("--header"), "{:?}", table.notes);
    let sure = format!("sex,smokes\n{}", "m,yes\nf,no\nf,yes\nm,no\n".repeat(6));
    assert!(table_of(&sure).named && table_of(&sure).notes.is_empty(), "{:?}", table_of(&sure).notes);
    // a model without names takes the line for an example, and says so
    let options = ReadOptions { names: Some(Vec::new()), ..ReadOptions::default() };
    let table = read_bytes("a.csv", sure.as_bytes(), &options).unwrap();
    assert!(!table.named && table.notes[0].contains("looks like names"), "{:?}", table.notes);
}

#[test]
fn a_number_that_happens_to_be_a_name_is_no_header() {
    let names = Some(vec!["country".to_owned(), "2019".to_owned(), "2020".to_owned()]);
    let options = ReadOptions { names, ..ReadOptions::default() };
    let read = |text: &str| read_bytes("a.csv", text.as_bytes(), &options).unwrap();
    assert!(!read("A,2019,5\nB,3,4\n").named);
    assert!(read("2019,2020\n3,4\n").named && read("country,2019\nA,4\n").named);
}

#[test]
fn marks_are_words_in_columns_that_are_spelled() {
    let options = ReadOptions { spelled: vec!["code".to_owned()], ..ReadOptions::default() };
    let table = read_bytes("a.csv", b"code,n\nNA,1\n?,NA\n,3\nnull,4\n", &options).unwrap();
    assert_eq!(words(&table, 0), ["NA", "?", "", "null"]);
    assert!(numbers(&table, 1)[1].is_nan());
}

#[test]
fn excels_first_line_names_the_delimiter() {
    let table = table_of("sep=;\r\na;b;y\r\n1,5;2;u\r\n3;4;v\r\n");
    assert_eq!((names(&table), table.len, table.first_line), (vec!["a", "b", "y"], 2, 3));
    assert_eq!(names(&table_of("\u{feff}\"sep=,\"\na,b\n1,2\n")), ["a", "b"]);
}

#[test]
fn carriage_returns_before_a_line_end_are_no_part_of_a_cell() {
    let text: String = (0..300).map(|i| format!("{i}.5,w{},\"q{i}\",{}\n", i % 3, i % 2)).collect::<Vec<_>>().concat();
    let plain = table_of(&format!("a,b,c,y\n{text}"));
    for end in ["\r\n", "\r\r\n"] {
        let table = table_of(&format!("a,b,c,y\n{text}").replace('\n', end));
        assert_eq!(format!("{:?}", table.fields), format!("{:?}", plain.fields), "{end:?}");
        let gaps = table_of(&"a,b\n1,\n,2\n\n3,\n".replace('\n', end));
        assert_eq!((gaps.len, numbers(&gaps, 0)[2]), (3, 3.0));
        assert!(numbers(&gaps, 1)[0].is_nan() && numbers(&gaps, 1)[1] == 2.0);
        let words_alone = table_of(&"#x\ty\nu\tv\nw\tz\n".replace('\n', end));
        assert!(words_alone.fields.iter().all(|field| !format!("{:?}", field.data).contains("\\r")));
    }
}

#[test]
fn numbers_that_count_columns_are_names_above_fractions() {
    let rows = "0.5,1.25,2.5,0\n1.5,0.75,3.5,1\n2.5,1.5,0.25,0\n";
    for first in ["0,1,2,3", "1,2,3,4", "2019,2020,2021,2022", "1990,2000,2010,2020"] {
        let table = table_of(&format!("{first}\n{rows}"));
        assert_eq!((names(&table).join(","), table.len), (first.to_owned(), 3));
        assert!(table.notes[0].contains("--header false"), "{:?}", table.notes);
        let options = ReadOptions { header: Some(false), ..ReadOptions::default() };
        let table = read_bytes("a.csv", format!("{first}\n{rows}").as_bytes(), &options).unwrap();
        assert_eq!((table.len, table.notes.len()), (4, 0));
    }
    // the number of each row before them, and a word behind
    let indexed: String = rows.lines().enumerate().map(|(i, row)| format!("{i},{row}\n")).collect::<Vec<_>>().concat();
    let table = table_of(&format!(",0,1,2,3\n{indexed}"));
    assert_eq!(names(&table), ["column 1", "0", "1", "2", "3"]);
    assert!(table_of("0,1,2\n0.5,1.5,a\n1.5,2.5,b\n3.5,0.5,a\n").named);
    // whole numbers may be an example, which is told; other lines are nothing of the kind
    let table = table_of("1,2,3,4\n5,6,7,8\n1,5,7,9\n2,5,7,3\n");
    assert!(!table.named && table.notes[0].contains("--header true"), "{:?}", table.notes);
    for text in [
        "0,1\n1,0\n1,1\n0,0\n",
        "0.0,1.0,2.0,3.0\n0.5,1.5,2.5,3\n1.5,1.5,2.5,3\n1.5,1.5,2.5,3\n",
        "3,4,5,6\n0.5,1.5,2.5,3\n0.5,1.5,2.5,3\n0.5,1.5,2.5,3\n",
    ] {
        let table = table_of(text);
        assert!(!table.named && table.notes.is_empty() && table.len == 4, "{text} {:?}", table.notes);
    }
    // a model's names decide, and a model without names takes such a line for an example, as it did
    let read = |known: &[&str], text: &str| {
        let names = Some(known.iter().map(ToString::to_string).collect());
        read_bytes("a.csv", text.as_bytes(), &ReadOptions { names, ..ReadOptions::default() }).unwrap()
    };
    assert!(read(&["0", "1", "2", "3"], &format!("0,1,2,3\n{rows}")).named);
    assert!(read(&["0", "1", "2", "3"], &format!(",0,1,2,3\n{indexed}")).named);
    let table = read(&[], &format!("0,1,2,3\n{rows}"));
    assert!(!table.named && table.notes[0].contains("--header true"), "{:?}", table.notes);
}

#[test]
fn codes_beyond_a_thousand_keep_their_zeros() {
    let text: String = (0..1500).map(|i| format!("{}.5,{:05}\n", i % 7, i)).collect::<Vec<_>>().concat();
    let table = table_of(&format!("a,code\n{text}"));
    let FieldData::Numbers { values, spellings } = &table.fields[1].data else { panic!("{:?}", table.fields[1].data) };
    assert_eq!((values.len(), spellings.len(), spellings[1300].1.as_str()), (1500, 1500, "01300"));
    // measured numbers are not read twice for their spelling
    let text: String = (0..3000).map(|i| format!("{i}.50,0\n")).collect::<Vec<_>>().concat();
    let FieldData::Numbers { spellings, .. } = &table_of(&text).fields[0].data else { panic!() };
    assert_eq!(spellings.len(), 1000);
}

#[test]
fn quoted_cells_of_tab_separated_text_may_run_over_line_ends() {
    let cells = |text: &str| {
        let table = read_bytes("a.tsv", text.as_bytes(), &ReadOptions::default()).unwrap();
        let word = |field: &Field, i: usize| match &field.data {
            FieldData::Words(cells) => cells[i].to_owned(),
            FieldData::Numbers { values, .. } => values[i].to_string(),
            _ => String::new(),
        };
        (0..table.len)
            .map(|i| table.fields.iter().map(|f| word(f, i)).collect::<Vec<_>>().join("|"))
            .collect::<Vec<_>>()
    };
    let text = "id\tnote\ty\n1\t\"one\n\"\"two\"\"\r\n\nthree\"\ta\n2\tplain\tb\n3\t\"x\ny\"\tc\n";
    assert_eq!(cells(text), ["1|one\n\"two\"\n\nthree|a", "2|plain|b", "3|x\ny|c"]);
    // the last cell, and the first
    assert_eq!(cells("y\tnote\na\t\"one\ntwo\"\nb\t\"x\n\ny\"\n"), ["a|one\ntwo", "b|x\n\ny"]);
    assert_eq!(cells("note\ty\n\"one\ntwo\"\ta\n\"x\ny\"\tb\n"), ["one\ntwo|a", "x\ny|b"]);
    // quotes in running text are just characters
    assert_eq!(
        cells("y\tt\nham\t\"so he said\nspam\tand \"she\"\nham\tno\"\n"),
        ["ham|\"so he said", "spam|and \"she\"", "ham|no\""]
    );
    let ragged = read_bytes("a.tsv", b"a\tb\tc\n1\t\"x\n2\t3\t4\n", &ReadOptions::default()).unwrap_err().to_string();
    assert!(ragged.contains("line 2: 2 fields, but line 1 has 3"), "{ragged}");
}
