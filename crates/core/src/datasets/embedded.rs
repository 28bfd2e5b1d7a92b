//! The classics that are part of the program, each a small compressed table.

use super::SetEntry;
use super::build::{column, count, table};
use crate::data::{DataError, Field, FieldData, Place, Table};
use crate::seed::Seed;
use std::io::Read as _;

/// Fisher's irises.
pub(super) static IRIS: SetEntry = SetEntry {
    name: "iris",
    summary: "three species of iris by the lengths and widths of their petals and sepals",
    task: "classification",
    examples: 150,
    source: "R. A. Fisher (1936), measured by E. Anderson; UCI repository, donated by M. Marshall; \
             as distributed by scikit-learn (BSD 3-clause)",
    generated: false,
    make: |n, seed| make("iris", include_bytes!("data/iris.csv.gz"), n, seed),
};

/// Wines of three growers.
pub(super) static WINE: SetEntry = SetEntry {
    name: "wine",
    summary: "three cultivars of Italian wine by 13 chemical measurements",
    task: "classification",
    examples: 178,
    source: "M. Forina et al., PARVUS; UCI repository, donated by S. Aeberhard; \
             as distributed by scikit-learn (BSD 3-clause)",
    generated: false,
    make: |n, seed| make("wine", include_bytes!("data/wine.csv.gz"), n, seed),
};

/// Breast tumours.
pub(super) static WDBC: SetEntry = SetEntry {
    name: "wdbc",
    summary: "benign and malignant breast tumours by 30 measurements of cell nuclei",
    task: "classification",
    examples: 569,
    source: "W. H. Wolberg, W. N. Street & O. L. Mangasarian; UCI repository, donated by N. Street; \
             as distributed by scikit-learn (BSD 3-clause)",
    generated: false,
    make: |n, seed| make("wdbc", include_bytes!("data/wdbc.csv.gz"), n, seed),
};

/// Handwritten digits.
pub(super) static DIGITS: SetEntry = SetEntry {
    name: "digits",
    summary: "handwritten digits as 8 by 8 images with 17 grey levels",
    task: "classification",
    examples: 1797,
    source: "E. Alpaydin & C. Kaynak; UCI repository (optdigits, test part); \
             as distributed by scikit-learn (BSD 3-clause)",
    generated: false,
    make: |n, seed| make("digits", include_bytes!("data/digits.csv.gz"), n, seed),
};

/// Unpacks a set; `n` examples drawn without replacement keep the order of the file.
fn make(name: &'static str, packed: &[u8], n: Option<usize>, seed: Seed) -> Result<Table, DataError> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed)
        .read_to_string(&mut text)
        .map_err(|e| DataError::Io { file: name.to_owned(), reason: e.to_string() })?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let rows: Vec<&str> = lines.collect();
    if let Some(wanted) = n.filter(|&n| n > rows.len()) {
        let finding = format!("{name} has {} examples, but {wanted} were asked for", rows.len());
        return Err(DataError::Usage { finding });
    }
    let wanted = count(name, n, rows.len())?;
    let mut chosen = seed.stream(name).permutation(rows.len());
    chosen.truncate(wanted);
    chosen.sort_unstable();

    let mut inputs = vec![Vec::with_capacity(wanted); header.len() - 1];
    let mut labels = Vec::with_capacity(wanted);
    for &row in &chosen {
        let (numbers, label) = rows[row].rsplit_once(',').unwrap_or_default();
        let mut cells = numbers.split(',');
        for (values, name_of) in inputs.iter_mut().zip(&header) {
            let cell = cells.next().unwrap_or_default();
            let bad = |_| {
                let place = Place { file: name.to_owned(), line: Some(row + 2), column: Some((*name_of).to_owned()) };
                DataError::Bad { place, finding: format!("\"{cell}\" is not a number") }
            };
            values.push(cell.parse::<f64>().map_err(bad)?);
        }
        labels.push(label);
    }
    let target = Field { name: header[header.len() - 1].to_owned(), data: target(&labels) };
    let fields = header.iter().zip(inputs).map(|(name, values)| column(*name, values)).collect();
    Ok(table(name, wanted, fields, target))
}

/// Labels are numbers if all of them are, as a file with the same column would be read.
fn target(labels: &[&str]) -> FieldData {
    let Ok(values) = labels.iter().map(|label| label.parse()).collect::<Result<Vec<f64>, _>>() else {
        return FieldData::Words(labels.iter().collect());
    };
    let mut spellings: Vec<(f64, String)> = Vec::new();
    for (value, label) in values.iter().zip(labels) {
        if spellings.iter().all(|(seen, _)| seen != value) {
            spellings.push((*value, (*label).to_owned()));
        }
    }
    FieldData::Numbers { values, spellings }
}
