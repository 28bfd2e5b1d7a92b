//! NumPy's NPZ files: a zip of NPY arrays.
//!
//! `X`, `x` or the first array of two dimensions becomes the block `x`, `y` the target; other arrays of the same
//! length become blocks or word columns under their own names. Each array's header is read before its data, and no
//! more is decompressed than it asks for.

use super::super::{DataError, Field, FieldData, Rows, Table};
use super::array::{Array, Entries};
use super::npy::read_array;
use super::open::MAX_COMPRESSION_RATIO;
use super::{FormatEntry, ReadOptions, Source, scipy};
use std::borrow::Cow;
use zip::ZipArchive;

/// The format.
pub(super) static NPZ: FormatEntry = FormatEntry {
    name: "npz",
    summary: "NumPy arrays in a zip: X, y and further blocks by name; SciPy's sparse matrices (csr)",
    extensions: &["npz"],
    sniff: |head| head.starts_with(b"PK\x03\x04"),
    names_target: true,
    main_column: None,
    lines: false,
    read,
};

fn read(source: &Source, _options: &ReadOptions) -> Result<Table, DataError> {
    let (arrays, is_sparse) = arrays(source)?;
    if is_sparse {
        return scipy::table(source, NPZ.name, arrays);
    }
    let main = ["X", "x"]
        .iter()
        .find_map(|name| arrays.iter().position(|(n, _)| n == name))
        .or_else(|| arrays.iter().position(|(n, a)| a.dimensions >= 2 && n != "y"))
        .or_else(|| arrays.iter().position(|(n, a)| matches!(a.entries, Entries::Words(_)) && n != "y"));
    let Some(main) = main else {
        let names: Vec<&str> = arrays.iter().map(|(n, _)| n.as_str()).collect();
        let finding = format!("no array is called X and none has two dimensions; it has: {}", names.join(", "));
        return Err(source.bad(None, None, finding));
    };
    let len = arrays[main].1.len;
    if len == 0 || arrays[main].1.width == 0 {
        return Err(DataError::Empty { place: source.name().to_owned() });
    }
    let main_name = arrays[main].0.clone();
    refuse_parts(source, &arrays, &main_name)?;
    let (mut fields, mut left_out, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut target = None;
    for (name, array) in arrays {
        if name == "y" && array.len != len {
            let what = format!("{}: array y", source.name());
            return Err(DataError::Lengths { what, got: array.len, other: format!("array {main_name}"), wanted: len });
        }
        let of_use = array.dimensions >= 2 || matches!(array.entries, Entries::Words(_)) || name == "y";
        if name != main_name && (!of_use || array.len != len || array.width == 0) {
            left_out.push(name);
            continue;
        }
        notes.extend(array.told_rounded(source, &name));
        let data = array.into_block(source, &name)?;
        if name == "y" {
            target = Some(fields.len());
            fields.push(Field { name, data: as_column(data) });
        } else {
            fields.push(Field { name: if name == main_name { "x".to_owned() } else { name }, data });
        }
    }
    let twins = fields.iter().filter(|f| f.name == "x").count() > 1;
    if twins {
        return Err(source.bad(None, None, "there are arrays X and x; rename one of them"));
    }
    if !left_out.is_empty() {
        notes.push(format!(
            "{}: {} left out: the target is an array called y, and further columns are arrays of {len} rows and two dimensions",
            source.name(),
            if left_out.len() == 1 { format!("the array {} is", left_out[0]) } else { format!("the arrays {} are", left_out.join(", ")) }
        ));
    }
    let file = source.name().to_owned();
    Ok(Table { file, format: NPZ.name, len, fields, target, first_line: 1, named: false, lines: None, notes })
}

/// Refuses a file of training and test examples side by side, which would become two views of the same examples.
fn refuse_parts(source: &Source, arrays: &[(String, Array)], main: &str) -> Result<(), DataError> {
    let of = |name: &str, part: &str| name.to_lowercase().contains(part);
    let is_part = |name: &str| ["test", "valid"].iter().any(|part| of(name, part));
    let other = arrays.iter().find(|(name, array)| array.dimensions >= 2 && of(main, "train") && is_part(name));
    let Some((other, _)) = other else { return Ok(()) };
    let finding = format!(
        "the arrays {main} and {other} are different examples, and a file has one table of them; save each in a file of its own, as X and y"
    );
    Err(source.bad(None, None, finding))
}

/// The arrays, and whether they are the parts of a sparse matrix.
fn arrays(source: &Source) -> Result<(Vec<(String, Array)>, bool), DataError> {
    let damaged = |e: zip::result::ZipError| source.bad(None, None, format!("the zip is damaged ({e})"));
    let mut archive = ZipArchive::new(source.seekable()?).map_err(damaged)?;
    let (mut arrays, mut other) = (Vec::new(), None);
    let names: Vec<String> = archive.file_names().filter_map(Result::ok).map(Cow::into_owned).collect();
    let is_sparse = scipy::is_sparse(&names);
    for k in 0..archive.len() {
        let mut entry = archive.by_index(k).map_err(damaged)?;
        let name = entry.name().map_err(damaged)?.into_owned();
        let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else {
            other.get_or_insert(name);
            continue;
        };
        if is_sparse && name == scipy::FORMAT {
            scipy::check_format(&mut entry).map_err(|f| source.bad(None, None, f))?;
            continue;
        }
        if is_sparse && !scipy::PARTS.contains(&name.as_str()) {
            continue;
        }
        let most = entry.compressed_size().min(source.most_bytes()).saturating_mul(MAX_COMPRESSION_RATIO);
        let held = arrays.iter().map(|(_, array): &(String, Array)| array.bytes()).sum();
        let array = read_array(&mut entry, most, held).map_err(|f| source.bad(None, Some(&name), f))?;
        arrays.push((name, array));
    }
    match other.filter(|_| arrays.is_empty()) {
        Some(_) if names.iter().any(|name| name.starts_with("xl/")) => {
            Err(source.bad(None, None, "it is a workbook of Excel, which is not read; save the sheet as CSV"))
        }
        Some(_) if names.iter().any(|name| name == "mimetype") && names.iter().any(|name| name == "content.xml") => {
            Err(source.bad(None, None, "it is a document of LibreOffice, which is not read; save the sheet as CSV"))
        }
        Some(name) => {
            let finding = format!(
                "it is a zip of other files, {name} among them, and zips are read for NumPy's arrays only; unpack it"
            );
            Err(source.bad(None, None, finding))
        }
        None => Ok((arrays, is_sparse)),
    }
}

/// A block of one column as numbers; wider ones stay blocks.
pub(super) fn as_column(data: FieldData) -> FieldData {
    let numbers = |values: Vec<f64>| FieldData::Numbers { values, spellings: Vec::new() };
    match data {
        FieldData::Matrix(rows) if rows.width() == 1 => numbers(rows.values().to_vec()),
        FieldData::Matrix32(rows) if rows.width() == 1 => numbers(Rows::convert::<f64>(&rows).values().to_vec()),
        other => other,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::npy::tests::npy;
    use super::super::{ReadOptions, read_bytes};
    use super::*;
    use std::io::{Cursor, Write};
    use zip::write::SimpleFileOptions;

    pub(in super::super) fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (k, (name, bytes)) in arrays.iter().enumerate() {
            let method = if k % 2 == 0 { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
            zip.start_file(format!("{name}.npy"), SimpleFileOptions::default().compression_method(method)).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn table(bytes: &[u8]) -> Result<Table, DataError> {
        read_bytes("a.npz", bytes, &ReadOptions::default())
    }

    #[test]
    fn arrays_become_fields_by_name() {
        let file = npz(&[
            ("other", npy(1, "'|u1'", false, "(2, 3)", &[1, 2, 3, 4, 5, 6])),
            ("X", npy(1, "'|u1'", false, "(2, 1)", &[7, 8])),
            ("y", npy(1, "'|i1'", false, "(2,)", &[1, 255])),
            ("loose", npy(1, "'|u1'", false, "(5,)", &[0; 5])),
            ("names", npy(1, "'<U1'", false, "(2,)", &[97, 0, 0, 0, 98, 0, 0, 0])),
        ]);
        let table = table(&file).unwrap();
        let names: Vec<&str> = table.fields.iter().map(|f| f.name.as_str()).collect();
        assert_eq!((names, table.target), (vec!["other", "x", "y", "names"], Some(2)));
        assert!(matches!(&table.fields[2].data, FieldData::Numbers { values, .. } if values == &[1.0, -1.0]));
        assert!(matches!(&table.fields[1].data, FieldData::Matrix(r) if r.values() == [7.0, 8.0]));
    }

    #[test]
    fn lengths_and_bombs_are_refused() {
        let x = npy(1, "'|u1'", false, "(2, 1)", &[7, 8]);
        let error = table(&npz(&[("X", x.clone()), ("y", npy(1, "'|i1'", false, "(1,)", &[1]))])).unwrap_err();
        assert_eq!(error.to_string(), "a.npz: array y has 1 examples, but array X has 2");
        // more data than the header asks for, and a header that asks for more than can be there
        assert!(table(&npz(&[("X", npy(1, "'|u1'", false, "(2, 1)", &vec![0; 1 << 22]))])).is_err());
        assert!(table(&npz(&[("X", npy(1, "'|u1'", false, "(99999999999, 1)", &[0; 9]))])).is_err());
        assert!(table(&npz(&[("y", npy(1, "'|u1'", false, "(1,)", &[0]))])).is_err());
        assert!(table(b"PK\x03\x04 and then nothing").is_err());
    }

    #[test]
    fn arrays_that_are_left_out_are_named_and_two_sets_are_not_glued() {
        let matrix = || npy(1, "'|u1'", false, "(2, 1)", &[7, 8]);
        let age = npy(1, "'|u1'", false, "(2,)", &[1, 2]);
        let read = table(&npz(&[("X", matrix()), ("age", age.clone()), ("y", age.clone())])).unwrap();
        assert!(read.notes[0].contains("the array age is left out"), "{:?}", read.notes);
        let error = table(&npz(&[("x_train", matrix()), ("x_test", matrix())])).unwrap_err().to_string();
        assert!(error.contains("x_train and x_test are different examples"), "{error}");
        assert!(table(&npz(&[("X", matrix()), ("y", age)])).unwrap().notes.is_empty());
    }
}
