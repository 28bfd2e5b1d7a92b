//! Sparse matrices as SciPy's `save_npz` writes them: an NPZ of `indptr`, `indices`, `data`, `shape` and the name of the format.

use super::super::{Coordinate, DataError, Field, FieldData, SparseRows, Table};
use super::Source;
use super::array::{Array, Entries};
use crate::memory::check;
use std::io::Read;

/// The array that names the format, which only such files have, and is no array of numbers.
pub(super) const FORMAT: &str = "format";

/// Most bytes of the array that names the format.
const MAX_FORMAT_BYTES: u64 = 1 << 12;

/// The arrays of a sparse matrix in rows.
pub(super) const PARTS: [&str; 4] = ["indptr", "indices", "data", "shape"];

/// True for the names of an archive that holds a sparse matrix.
pub(super) fn is_sparse(names: &[String]) -> bool {
    let has = |name: &str| names.iter().any(|one| one.strip_suffix(".npy") == Some(name));
    has(FORMAT) && has("shape") && (has("data") || has("offsets"))
}

/// The format that an archive names; the error is a finding about another than rows.
pub(super) fn check_format(entry: &mut dyn Read) -> Result<(), String> {
    let mut bytes = Vec::new();
    entry.take(MAX_FORMAT_BYTES).read_to_end(&mut bytes).map_err(|e| format!("it cannot be read ({e})"))?;
    // bytes or characters of four bytes each, behind the header
    let text: Vec<u8> = bytes.iter().copied().filter(|&b| b != 0).collect();
    let name = text.rsplit(|&b| b == b'\n').next().unwrap_or_default();
    if name == b"csr" {
        return Ok(());
    }
    let name: String = String::from_utf8_lossy(name).chars().take(8).collect();
    Err(format!(
        "it is a sparse matrix of SciPy in the format {name}, and csr is read; write it with scipy.sparse.save_npz(file, matrix.tocsr())"
    ))
}

/// The table of one sparse block `x`.
pub(super) fn table(source: &Source, format: &'static str, arrays: Vec<(String, Array)>) -> Result<Table, DataError> {
    let bad = |finding: String| source.bad(None, None, finding);
    let mut parts: [Option<Array>; 4] = Default::default();
    for (name, array) in arrays {
        if let Some(place) = PARTS.iter().position(|part| *part == name) {
            parts[place] = Some(array);
        }
    }
    let [Some(starts), Some(indices), Some(values), Some(shape)] = parts else {
        return Err(bad(format!("a sparse matrix of SciPy has the arrays {}, and one is not there", PARTS.join(", "))));
    };
    let rounded = values.told_rounded(source, "x");
    let whole = |array: Array, name: &str, most: f64| -> Result<Vec<usize>, DataError> {
        let Entries::Wide(numbers) = array.entries else { return Err(bad(format!("{name} are no whole numbers"))) };
        let is_fit = |v: f64| v >= 0.0 && v <= most && v.fract() == 0.0;
        match numbers.iter().find(|v| !is_fit(**v)) {
            Some(v) => Err(bad(format!("the sparse matrix is damaged: {v} is among its {name}"))),
            None => Ok(numbers.into_iter().map(|v| v as usize).collect()),
        }
    };
    let count = match &values.entries {
        Entries::Wide(v) => v.len(),
        Entries::Narrow(v) => v.len(),
        Entries::Words(_) => return Err(bad("the sparse matrix holds words".to_owned())),
    };
    let [len, width] = <[usize; 2]>::try_from(whole(shape, "sizes", f64::from(u32::MAX))?)
        .map_err(|_| bad("the sparse matrix has not two sizes".to_owned()))?;
    let starts = whole(starts, "indptr", count as f64)?;
    let fits =
        starts.len() == len + 1 && starts.is_sorted() && starts.first() == Some(&0) && starts.last() == Some(&count);
    let indices = whole(indices, "indices", width as f64 - 1.0)?;
    if !fits || indices.len() != count {
        return Err(bad("the sparse matrix is damaged: indptr, indices and data do not fit together".to_owned()));
    }
    if len == 0 || width == 0 {
        return Err(DataError::Empty { place: source.name().to_owned() });
    }
    check(count.saturating_mul(size_of::<Coordinate<f64>>()), "its sparse vectors").map_err(|e| source.too_large(e))?;
    let value = |at: usize| match &values.entries {
        Entries::Wide(v) => v[at],
        Entries::Narrow(v) => f64::from(v[at]),
        Entries::Words(_) => f64::NAN,
    };
    let (mut rows, mut row) = (SparseRows::new(width), Vec::new());
    for (k, pair) in starts.windows(2).enumerate() {
        row.clear();
        row.extend((pair[0]..pair[1]).map(|at| Coordinate { index: indices[at] as u32, value: value(at) }));
        row.sort_by_key(|c| c.index);
        if let Some(c) = row.iter().find(|c| !c.value.is_finite()) {
            return Err(source.bad(Some(k + 1), None, format!("the number {} is not finite; replace it", c.value)));
        }
        if !rows.push(&row) {
            let finding = "an index comes twice in one row; call matrix.sum_duplicates() before it is saved";
            return Err(source.bad(Some(k + 1), None, finding));
        }
    }
    Ok(Table {
        file: source.name().to_owned(),
        format,
        len,
        fields: vec![Field { name: "x".to_owned(), data: FieldData::Sparse(rows) }],
        target: None,
        first_line: 1,
        lines: None,
        named: false,
        notes: rounded.into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::npy::tests::npy;
    use super::super::npz::tests::npz;
    use super::super::{ReadOptions, read_bytes};
    use crate::data::{FieldData, Table};

    /// [[0, 2, 0], [3, 0, 1]] with the second row out of order.
    fn saved(format: &[u8], indices: &[u8], indptr: &[u8]) -> Result<Table, String> {
        let file = npz(&[
            ("indices", npy(1, "'|u1'", false, &format!("({},)", indices.len()), indices)),
            ("indptr", npy(1, "'|u1'", false, &format!("({},)", indptr.len()), indptr)),
            ("format", npy(1, "'|S3'", false, "()", format)),
            ("shape", npy(1, "'|u1'", false, "(2,)", &[2, 3])),
            ("data", npy(1, "'|u1'", false, "(3,)", &[2, 1, 3])),
            ("_is_array", npy(1, "'|b1'", false, "()", &[1])),
        ]);
        read_bytes("a.npz", &file, &ReadOptions::default()).map_err(|e| e.to_string())
    }

    #[test]
    fn rows_are_sparse_vectors() {
        let table = saved(b"csr", &[1, 2, 0], &[0, 1, 3]).unwrap();
        let FieldData::Sparse(rows) = &table.fields[0].data else { panic!() };
        assert_eq!((table.len, rows.width(), rows.to_dense().values()), (2, 3, &[0.0, 2.0, 0.0, 3.0, 0.0, 1.0][..]));
        assert!(saved(b"csc", &[1, 2, 0], &[0, 1, 3]).unwrap_err().contains("tocsr()"));
    }

    #[test]
    fn damaged_matrices_are_refused() {
        for (indices, indptr) in
            [(&[1, 2, 3][..], &[0, 1, 3][..]), (&[1, 2, 0], &[0, 4, 3]), (&[1, 2, 0], &[0, 2]), (&[1, 2], &[0, 1, 3])]
        {
            assert!(saved(b"csr", indices, indptr).unwrap_err().contains("damaged"), "{indices:?} {indptr:?}");
        }
        assert!(saved(b"csr", &[1, 2, 2], &[0, 1, 3]).unwrap_err().contains("sum_duplicates"));
    }
}
