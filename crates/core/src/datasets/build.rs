//! Shared parts of the generators: the number of examples, balanced classes, and the table.

use crate::data::{DataError, Field, FieldData, Table};
use crate::memory::{self, BudgetError};
use crate::seed::Random;

/// Smallest number of examples of a set: one for each of two classes.
const MIN_EXAMPLES: usize = 2;

/// About as many bytes as an example takes while it is made: two dozen numbers, as a row and as columns.
const BYTES_PER_EXAMPLE: usize = 400;

/// The number of examples to make, which must fit into the memory that is left to tables.
pub(super) fn count(name: &str, n: Option<usize>, default: usize) -> Result<usize, DataError> {
    let n = n.unwrap_or(default);
    if n < MIN_EXAMPLES {
        return Err(DataError::Usage { finding: format!("{name} needs at least {MIN_EXAMPLES} examples, not {n}") });
    }
    memory::check(n.saturating_mul(BYTES_PER_EXAMPLE), format!("{name} with {n} examples"))
        .map_err(|error| BudgetError { remedy: "ask for fewer with --n".into(), ..error })?;
    Ok(n)
}

/// Two classes as equal in size as n allows, in random order; `true` has the odd one.
///
/// The papers toss a coin for every example; equal parts keep small sets usable and change no class density.
pub(super) fn halves(n: usize, random: &mut Random) -> Vec<bool> {
    random.permutation(n).into_iter().map(|place| place < n.div_ceil(2)).collect()
}

/// A column of numbers.
pub(super) fn column(name: impl Into<String>, values: Vec<f64>) -> Field {
    Field { name: name.into(), data: FieldData::Numbers { values, spellings: Vec::new() } }
}

/// Columns x1, x2, … from examples of equal length.
pub(super) fn columns(rows: &[Vec<f64>]) -> Vec<Field> {
    let dimension = rows.first().map_or(0, Vec::len);
    (0..dimension).map(|j| column(format!("x{}", j + 1), rows.iter().map(|row| row[j]).collect())).collect()
}

/// The column `class` of two whole-number labels.
pub(super) fn classes(second: &[bool], labels: [i8; 2]) -> Field {
    let values = second.iter().map(|&s| f64::from(labels[usize::from(s)])).collect();
    let spellings = labels.iter().map(|label| (f64::from(*label), label.to_string())).collect();
    Field { name: "class".to_owned(), data: FieldData::Numbers { values, spellings } }
}

/// The table of a set; its last field is the target.
pub(super) fn table(name: &str, len: usize, mut inputs: Vec<Field>, target: Field) -> Table {
    inputs.push(target);
    let target = Some(inputs.len() - 1);
    Table {
        file: name.to_owned(),
        format: "embedded",
        len,
        fields: inputs,
        target,
        first_line: 2,
        lines: None,
        named: true,
        notes: Vec::new(),
    }
}
