//! Properties of the readers: what is written comes back, and no bytes make them panic or take memory without bound.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use crate::support::damage::mutated;
use crate::support::memory::most_held;
use mercer::data::read::{FORMATS, ReadOptions, read};
use mercer::data::{FieldData, Schema, SchemaOptions, Table};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::io::Write as _;

fn read_as(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Table, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read(&path, options).map_err(|e| e.to_string())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn block(table: &Table) -> Vec<f64> {
    match &table.fields[0].data {
        FieldData::Matrix(rows) => rows.values().to_vec(),
        FieldData::Matrix32(rows) => rows.convert::<f64>().values().to_vec(),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn tables_written_as_delimited_text_come_back(
        rows in prop::collection::vec((any::<i32>(), -1e9..1e9_f64, "[a-z \"',;|é]{0,8}"), 1..12),
        delimiter in prop::sample::select(vec![b',', b';', b'\t', b'|', b' ']),
        ends in prop::sample::select(vec!["\n", "\r\n"]),
        (header, packed) in any::<(bool, bool)>(),
    ) {
        let between = char::from(delimiter);
        let mut text = String::new();
        if header {
            write!(text, "first{between}second{between}third{ends}").unwrap();
        }
        for (whole, real, word) in &rows {
            // a letter before and after keeps the word from being a mark or a number
            write!(text, "{whole}{between}{real:e}{between}{}{ends}", quoted(&format!("w{word}w"))).unwrap();
        }
        let bytes = if packed { gzip(text.as_bytes()) } else { text.into_bytes() };
        let options = ReadOptions { delimiter: Some(delimiter), ..ReadOptions::default() };
        let table = read_as("t.csv", &bytes, &options).unwrap();
        prop_assert_eq!((table.len, table.named, table.fields.len()), (rows.len(), header, 3));
        let FieldData::Numbers { values: wholes, .. } = &table.fields[0].data else { panic!() };
        let FieldData::Numbers { values: reals, .. } = &table.fields[1].data else { panic!() };
        let FieldData::Words(words) = &table.fields[2].data else { panic!() };
        for (i, (whole, real, word)) in rows.iter().enumerate() {
            prop_assert_eq!(wholes[i], f64::from(*whole));
            prop_assert_eq!(reals[i].to_bits(), real.to_bits());
            prop_assert_eq!(&words[i], &format!("w{word}w"));
            prop_assert_eq!(table.place(i, 0).line, Some(i + 1 + usize::from(header)));
        }
    }

    #[test]
    fn delimiters_of_numbers_are_detected(
        rows in prop::collection::vec(prop::collection::vec(-1e6..1e6_f64, 3), 1..12),
        between in prop::sample::select(vec![",", ";", "\t", "|", "  "]),
    ) {
        let mut text = String::new();
        for row in &rows {
            let cells: Vec<String> = row.iter().map(f64::to_string).collect();
            text += &(cells.join(between) + "\n");
        }
        let table = read_as("t.txt", text.as_bytes(), &ReadOptions::default()).unwrap();
        prop_assert_eq!(table.fields.len(), 3);
        for (j, field) in table.fields.iter().enumerate() {
            let FieldData::Numbers { values, .. } = &field.data else { panic!() };
            prop_assert!(values.iter().zip(&rows).all(|(v, row)| *v == row[j]));
        }
    }

    #[test]
    fn sparse_rows_come_back_from_libsvm_text(
        rows in prop::collection::vec((-9..9_i32, prop::collection::btree_map(1..5000_u32, -1e3..1e3_f64, 0..9)), 1..12),
    ) {
        let mut text = String::new();
        for (label, row) in &rows {
            write!(text, "{label}").unwrap();
            for (index, value) in row {
                write!(text, " {index}:{value}").unwrap();
            }
            text.push('\n');
        }
        let table = read_as("t.svm", text.as_bytes(), &ReadOptions::default()).unwrap();
        let FieldData::Numbers { values, .. } = &table.fields[0].data else { panic!() };
        let FieldData::Sparse(found) = &table.fields[1].data else { panic!() };
        for (i, (label, row)) in rows.iter().enumerate() {
            prop_assert_eq!(values[i], f64::from(*label));
            let stored: Vec<(u32, f64)> = found.row(i).iter().map(|c| (c.index + 1, c.value)).collect();
            let meant: Vec<(u32, f64)> = row.iter().map(|(&k, &v)| (k, v)).filter(|(_, v)| *v != 0.0).collect();
            prop_assert_eq!(stored, meant);
        }
    }

    #[test]
    fn arrays_of_all_types_come_back(
        values in prop::collection::vec(0..100_u8, 6),
        (big, fortran) in any::<(bool, bool)>(),
    ) {
        let order: [usize; 6] = if fortran { [0, 3, 1, 4, 2, 5] } else { [0, 1, 2, 3, 4, 5] };
        let stored: Vec<u8> = order.iter().map(|&k| values[k]).collect();
        macro_rules! check {
            ($($kind:ty => $descr:literal),*) => {$({
                let bytes = stored.iter().flat_map(|&v| {
                    let v = v as $kind;
                    if big { v.to_be_bytes().to_vec() } else { v.to_le_bytes().to_vec() }
                });
                let descr = format!("{}{}", if big { '>' } else { '<' }, $descr);
                let file = npy(&descr, fortran, "(2, 3)", &bytes.collect::<Vec<u8>>());
                let table = read_as("t.npy", &file, &ReadOptions::default()).unwrap();
                prop_assert_eq!(block(&table), values.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>());
            })*};
        }
        check!(f32 => "f4", f64 => "f8", i8 => "i1", i16 => "i2", i32 => "i4", i64 => "i8",
               u8 => "u1", u16 => "u2", u32 => "u4", u64 => "u8");
        let table = read_as("t.npy", &npy("|b1", fortran, "(2, 3)", &stored), &ReadOptions::default()).unwrap();
        prop_assert_eq!(block(&table), values.iter().map(|&v| f64::from(u8::from(v != 0))).collect::<Vec<f64>>());
    }
}

/// Small valid files, one or more of every format.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let doubles: Vec<u8> = [1.0, 2.5, -3.0, 4.0].iter().flat_map(|v: &f64| v.to_le_bytes()).collect();
    let words: Vec<u8> = "abcd".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let text = b"a,b,\"c \"\"d\"\"\",y\n1,2.5,red,u\n?,1e3,\"blue\nsky\",v\n-7,0.1,NA,u\n".to_vec();
    let arrays = [("X", npy("<f8", true, "(2, 2)", &doubles)), ("y", npy("<U2", false, "(2,)", &words))];
    vec![
        ("t.csv.gz", gzip(&text)),
        ("t.csv.zst", zstd(&text)),
        (
            "t.jsonl",
            b"{\"a\": 1.5, \"s\": \"u\", \"v\": [1, 2]}\n{\"v\": [3, null], \"b\": true, \"s\": null}\n".to_vec(),
        ),
        ("t.fa", b">s1 one\nACGT\nac\n>s2 two\nTT\n".to_vec()),
        ("t.fq", b"@r1 one\nACGT\n+\nII@I\n@r2 two\nA\n+\nI\n".to_vec()),
        ("t.csv", text),
        ("t.tsv", b"ham\thi \"you\"\nspam\t\"all\"\n".to_vec()),
        ("t.txt", b"# c\n1 2 3\n4 5 6\n".to_vec()),
        ("t.svm", b"+1 qid:1 1:0.5 7:-2 # n\n-1 2:1e-3\n".to_vec()),
        ("t.npy", npy("<f8", false, "(2, 2)", &doubles)),
        ("t.npz", npz(&arrays)),
        ("t.idx", [&[0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3][..], &[1, 2, 3, 4, 5, 6]].concat()),
        ("t", vec![0, 0, 0x0d, 1, 0, 0, 0, 1, 0x3f, 0x80, 0, 0]),
    ]
}

#[test]
fn damaged_files_neither_panic_nor_take_memory_without_bound() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = mercer::seed::Seed(7).stream("damage");
    let (mut good, mut refused) = (0, 0);
    for (name, seed) in seeds() {
        let path = folder.path().join(name);
        for round in 0..1500 {
            let bytes = if round == 0 { seed.clone() } else { mutated(&seed, &mut random) };
            std::fs::write(&path, &bytes).unwrap();
            let (table, most) = most_held(|| read(&path, &ReadOptions::default()));
            // buffers and tables of the decoders take a fixed amount; files of some hundred bytes can add little
            assert!(most < 8 << 20, "{name}: {most} bytes for {bytes:?}");
            match table {
                Ok(table) => {
                    good += 1;
                    assert!(table.len > 0 && !table.fields.is_empty());
                    // whatever was read, a schema can be learned or refused, and fits the table it was learned on
                    if let Ok((schema, data)) = Schema::learn_and_apply(&table, &SchemaOptions::default()) {
                        assert_eq!(schema.apply(&table).unwrap().len(), data.len());
                    }
                }
                Err(error) => {
                    assert!(round > 0, "{name}: {error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(good > 1000 && refused > 1000, "{good} read, {refused} refused: the damage is too small or too large");
}

/// A text of several blocks, in which one line is put at a place.
fn long_text(line: impl Fn(usize) -> String, rows: usize) -> String {
    (0..rows).map(|k| line(k) + "\n").collect()
}

#[test]
fn long_files_are_those_of_one_pass() {
    // quotes switch to records, so the same numbers are read both ways
    let plain = long_text(|k| format!("{},{:.3},w{}", k, k as f64 / 7.0, k % 5), 200_000);
    let quoted = plain.replacen("w0", "\"w0\"", 1);
    let (plain, quoted) = (plain.as_bytes(), quoted.as_bytes());
    let [a, b] = [plain, quoted].map(|t| read_as("t.csv", t, &ReadOptions::default()).unwrap());
    assert_eq!(format!("{:?}", a.fields), format!("{:?}", b.fields));
    assert_eq!((a.len, a.first_line, a.lines), (b.len, b.first_line, b.lines));
    // a quote that comes late, over a line end
    let text = long_text(|k| if k == 150_000 { "1,\"x\ny\"".to_owned() } else { format!("{k},w{}", k % 3) }, 200_000);
    let table = read_as("t.csv", text.as_bytes(), &ReadOptions::default()).unwrap();
    let FieldData::Words(words) = &table.fields[1].data else { panic!() };
    assert_eq!((table.len, &words[150_000], table.line(150_001)), (200_000, "x\ny", 150_003));
}

#[test]
fn quoted_cells_of_many_blocks_come_back() {
    let kinds = [
        ("plain", "plain"),
        ("\"a, b\"", "a, b"),
        ("\"say \"\"x\"\"\"", "say \"x\""),
        ("\"two\nlines\"", "two\nlines"),
        ("\"three\r\n\r\nlines\"", "three\n\nlines"),
        (" \" x\" ", " x"),
        ("\"x\"y z ", "xy z "),
        ("NA", ""),
        ("\"\"", ""),
        // a quote that is just a character
        ("5\" pipe", "5\" pipe"),
    ];
    for kinds in [&kinds[..9], &kinds[..], &kinds[9..]] {
        let mut random = mercer::seed::Seed(11).stream("quotes");
        let (mut text, mut meant, mut lines) = (String::new(), Vec::new(), Vec::new());
        for k in 0..60_000 {
            let (written, means) = kinds[random.bits() as usize % kinds.len()];
            if k % 7000 == 6999 {
                text += "\n";
            }
            // where the record begins, for now
            lines.push(text.len());
            write!(text, "{k},{written},\"{}.25\"\r\n", k % 100).unwrap();
            meant.push(means);
        }
        let mut ends = text.match_indices('\n').map(|(at, _)| at).peekable();
        let mut line = 1;
        for start in &mut lines {
            while ends.next_if(|end| end < start).is_some() {
                line += 1;
            }
            *start = line;
        }
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let table = pool.install(|| read_as("t.csv", text.as_bytes(), &ReadOptions::default())).unwrap();
            assert_eq!((table.len, table.named), (60_000, false));
            let FieldData::Words(words) = &table.fields[1].data else { panic!() };
            assert!(words.iter().zip(&meant).all(|(word, means)| word == *means), "{threads} threads");
            assert!((0..60_000).all(|i| table.line(i) == lines[i]), "{threads} threads");
            let FieldData::Numbers { values: places, .. } = &table.fields[0].data else { panic!() };
            let FieldData::Numbers { values: reals, .. } = &table.fields[2].data else { panic!() };
            let as_written = |i: usize| places[i] == i as f64 && reals[i] == (i % 100) as f64 + 0.25;
            assert!((0..60_000).all(as_written), "{threads} threads");
        }
    }
}

#[test]
fn mistakes_far_down_are_named_with_their_line() {
    let place = 170_001;
    let csv = |odd: &str| {
        let text = long_text(|k| if k + 1 == place { odd.to_owned() } else { format!("{k},{}.5", k % 9) }, 200_000);
        read_as("t.csv", text.as_bytes(), &ReadOptions::default())
    };
    let error = csv("1,2,3").unwrap_err();
    assert!(error.ends_with("t.csv line 170001: 3 fields, but line 1 has 2"), "{error}");
    let error = csv("1,inf").unwrap_err();
    assert!(error.contains("line 170001, column \"2\": the number is not finite"), "{error}");
    let FieldData::Mixed { cells, odd } = csv("1,abc").unwrap().fields.remove(1).data else { panic!() };
    assert_eq!((odd, &cells[0], &cells[odd]), (170_000, "0.5", "abc"));
    let svm = |odd: &str| {
        let line = |k: usize| if k + 1 == place { odd.to_owned() } else { format!("{} 1:{k} 7:0.5", k % 2) };
        read_as("t.svm", long_text(line, 200_000).as_bytes(), &ReadOptions::default())
    };
    for (odd, said) in [
        ("1 3:1 2:1", "line 170001: index 2 comes after index 3"),
        ("1:1", "line 170001: no label, but line 1 has one"),
    ] {
        let error = svm(odd).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
    assert!(matches!(&svm("a 1:1").unwrap().fields[0].data, FieldData::Mixed { odd: 170_000, .. }));
    let table = svm("# a remark").unwrap();
    assert_eq!((table.len, table.line(170_000)), (199_999, 170_002));
}

#[test]
fn formats_have_names_and_extensions_of_their_own() {
    for (k, format) in FORMATS.iter().enumerate() {
        for other in &FORMATS[..k] {
            assert_ne!(format.name, other.name);
            assert!(format.extensions.iter().all(|e| !other.extensions.contains(e)));
        }
    }
}

#[test]
fn a_packed_array_is_not_taken_at_its_word() {
    // a header that asks for a terabyte, in a file of a few hundred bytes
    let claim = npy("|u1", false, "(1099511627776, 1)", &vec![0; 1 << 18]);
    let error = read_as("t.npy.gz", &gzip(&claim), &ReadOptions::default()).unwrap_err();
    assert!(error.contains("more than the file can hold"), "{error}");
}
