//! From one format to another.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;

#[test]
fn numbers_go_from_csv_to_libsvm_and_back_bit_for_bit() {
    let place = Place::with_banana(200);
    place.run("convert banana.csv b.svm").ok();
    place.run("convert b.svm c.csv.gz").ok();
    place.run("convert c.csv.gz d.csv").ok();
    let rows = |text: &str, skip: usize| -> Vec<Vec<u64>> {
        let bits = |line: &str| line.split(',').map(|c| c.parse::<f64>().unwrap().to_bits()).collect();
        text.lines().skip(skip).map(bits).collect()
    };
    assert_eq!(rows(&place.read("banana.csv"), 1), rows(&place.read("d.csv"), 0));
    let said = place.json("convert banana.csv x.npy");
    assert_eq!((said["n"].as_u64(), said["to"].as_str(), said["left_out"].is_string()), (Some(200), Some("npy"), true));
    assert_eq!(place.bytes("x.npy").len(), 128 + 200 * 2 * 8);
    assert_eq!(place.files(), ["b.svm", "banana.csv", "c.csv.gz", "d.csv", "x.npy"], "nothing else is left");
}

#[test]
fn codes_are_written_only_if_asked() {
    let place =
        Place::with(&[("a.jsonl", "{\"age\": 3, \"pet\": \"cat\", \"y\": \"u\"}\n{\"pet\": \"dog\", \"y\": \"v\"}\n")]);
    place.run("convert a.jsonl a.csv").ok();
    assert_eq!(place.read("a.csv"), "age,pet,y\n3,cat,u\n,dog,v\n");
    place.run("convert a.jsonl b.csv --encode --missing mean").ok();
    assert_eq!(place.read("b.csv"), "x[1],x[2],x[3],y\n3,1,0,u\n3,0,1,v\n");
    place.run("convert a.jsonl c.dat --to libsvm --encode --missing mean").ok();
    assert_eq!(place.read("c.dat"), "u 1:3 2:1 3:0\nv 1:3 3:1\n");
    place.run("convert a.jsonl t.csv --target age").ok();
    assert_eq!(place.read("t.csv"), "pet,y,age\ncat,u,3\ndog,v,\n");
    let said = place.run("convert a.jsonl d.svm");
    assert_eq!(said.code, Some(3));
    assert!(said.err.contains("a.jsonl line 1, column \"pet\": \"cat\" is a word"), "{}", said.err);
    let said = place.run("convert a.jsonl d.csv --scale standard");
    assert_eq!((said.code, said.err.contains("say --encode")), (Some(2), true));
    let said = place.run("convert a.jsonl d.xls");
    assert_eq!((said.code, said.err.contains("use --to with one of")), (Some(2), true));
    assert!(!place.has("d.svm") && !place.has("d.csv"));
}

#[test]
fn formats_that_are_only_read_are_named_with_those_that_are_written() {
    let place = Place::with(&[("a.csv", "a,y\n1,2\n3,4\n")]);
    for (name, format) in [("b.parquet", "parquet"), ("b.feather", "arrow"), ("b.jsonl", "jsonl"), ("b.npz", "npz")] {
        let said = place.run(&format!("convert a.csv {name}"));
        let wanted = format!("{name}: {format} is read and not written; end the name in one of .csv, .tsv, .svm, .npy");
        assert_eq!((said.code, said.err.contains(&wanted)), (Some(2), true), "{}", said.err);
        assert!(!place.has(name));
    }
    let said = place.run("convert a.csv b.csv.zst");
    assert_eq!((said.code, said.err.contains("Zstandard is read and not written")), (Some(2), true), "{}", said.err);
}

#[test]
fn sequences_are_learned_from_by_their_letters() {
    let mut fasta = String::new();
    for k in 0..20 {
        let (class, letters) = if k % 2 == 0 { ("rich", "GCGCGG") } else { ("poor", "ATTATA") };
        fasta += &format!(">s{k} {class}\n{letters}\nAC{}\n", ["A", "C", "G", "T"][k % 4]);
    }
    let place = Place::with(&[("a.fa", &fasta)]);
    place.run("fit a.fa --machine svc --kernel 'spectrum(length=2)' -o m").ok();
    assert_eq!(place.json("evaluate m a.fa")["error"], 0.0);
    place.run("convert a.fa a.tsv").ok();
    assert!(place.read("a.tsv").starts_with("name\tsequence\tdescription\ns0\tGCGCGGACA\trich\n"));
    let said = place.run("gram a.fa --kernel 'spectrum@name' -o K.npy");
    assert_eq!(said.code, Some(0), "{}", said.err);
}

#[test]
fn a_format_that_was_left_out_says_how_to_build_it() {
    let place = Place::with(&[("a.parquet", "PAR1"), ("a.arrow", "ARROW1\0\0")]);
    for (name, feature) in [("a.parquet", "parquet"), ("a.arrow", "arrow")] {
        let said = place.run(&format!("convert {name} b.csv"));
        assert_eq!(said.code, Some(3), "{}", said.err);
        let known = said.err.contains(&format!("--features {feature}")) || said.err.contains("damaged");
        assert!(known, "{}", said.err);
    }
}

#[test]
fn all_formats_are_listed() {
    let listed = Place::new().json("list formats");
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    for name in ["csv", "libsvm", "npy", "npz", "idx", "jsonl", "fasta", "fastq", "parquet", "arrow"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
}

#[test]
fn text_that_becomes_text_keeps_the_spelling_of_every_cell() {
    let rows = "zip,id,tel,p,gap,y\n00037,9007199254740993,+4930123456,1.50,NA,a\n12345,12345678901234567890,7,1e5,?,b\n501,1,2,-0,,a\n";
    let place = Place::with(&[("a.csv", rows), ("n.csv", "1,02\n3.0,4\n"), ("w.csv", "a,b\nc,d\na,d\n")]);
    for road in [&["b.csv"][..], &["b.tsv", "c.csv"], &["b.csv.gz", "c.csv"]] {
        let mut from = "a.csv".to_owned();
        for to in road {
            let said = place.run(&format!("convert {from} {to}")).ok();
            assert!(said.err.is_empty(), "{}", said.err);
            from = (*to).to_owned();
        }
        assert_eq!(place.read(&from), rows, "{road:?}");
    }
    place.run("convert a.csv d.csv --columns zip,y").ok();
    assert_eq!(place.read("d.csv"), "zip,y\n00037,a\n12345,b\n501,a\n");
    place.run("convert n.csv m.csv").ok();
    assert_eq!(place.read("m.csv"), "1,02\n3.0,4\n", "no names where there were none");
    place.run("convert w.csv v.csv").ok();
    assert_eq!(place.read("v.csv"), "a,b\nc,d\na,d\n", "a file without names stays one");
    place.run("convert w.csv v.csv --columns 2 --target none").ok();
    assert_eq!(place.json("show v.csv")["n"], 3);
    let place = Place::with(&[("a.jsonl", "{\"id\": 12345678901234567, \"y\": 1.5}\n{\"id\": 3, \"y\": 1e300}\n")]);
    place.run("convert a.jsonl b.csv").ok();
    assert_eq!(place.read("b.csv"), "id,y\n12345678901234567,1.5\n3,1e300\n");
}

#[test]
fn what_a_format_of_numbers_does_not_hold_is_told_by_column_and_cell() {
    let place = Place::with(&[
        ("a.csv", "zip,id,y\n12,9007199254740993,1\n00037,5,2\n501,7,1\n"),
        ("a.jsonl", "{\"id\": 12345678901234567, \"y\": 1}\n{\"id\": 3, \"y\": 2}\n"),
    ]);
    for to in ["b.svm", "b.npy", "b.csv --encode"] {
        let said = place.run(&format!("convert a.csv {to}")).ok().err;
        for told in [
            "a.csv line 3, column \"zip\": 00037 is written as the number 37",
            "a.csv line 2, column \"id\": 9007199254740993 is written as the number 9007199254740992",
            "--drop zip",
            "--categorical zip",
        ] {
            assert!(said.contains(told), "{to}: {said}");
        }
    }
    assert_eq!(place.json("convert a.csv b.svm")["respelled"].as_array().unwrap().len(), 2);
    let said = place.run("convert a.csv b.svm --drop zip,id --target none").ok().err;
    assert!(!said.contains("written as the number"), "{said}");
    let said = place.run("convert a.csv b.csv --encode --categorical zip --drop id").ok().err;
    assert!(!said.contains("written as the number"), "{said}");
    let said = place.run("convert a.jsonl b.svm").ok().err;
    assert!(said.contains("12345678901234567 is written as the number 12345678901234568"), "{said}");
}
