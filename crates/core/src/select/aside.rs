//! A part of a table that is set aside before anything is learned or searched, and judges what was chosen once.

use crate::data::{DataError, SchemaOptions, Table};
use crate::machines::Learns;
use crate::resample::{Split, SplitBy, set_aside};
use crate::seed::Seed;

/// Sets a share of the rows of a table aside: classes are on both sides in about their proportions where classes are learned.
///
/// # Errors
/// If the share leaves nothing on one side, or the target names no column.
pub fn set_rows_aside(
    table: &Table,
    options: &SchemaOptions,
    learns: Learns,
    share: f64,
    seed: Seed,
) -> Result<Split, DataError> {
    if !(share > 0.0 && share < 1.0) {
        let finding =
            format!("{share} is no share of the examples to set aside; give a number between 0 and 1, such as 0.25");
        return Err(DataError::Usage { finding });
    }
    let name = match options.target.as_deref() {
        None => table.target.map(|t| table.fields[t].name.clone()),
        Some([name]) => Some(name.clone()),
        Some(_) => None,
    };
    let codes = match name.filter(|_| learns == Learns::Classes) {
        Some(name) => Some(table.codes(&name)?),
        None => None,
    };
    let count = (share * table.len as f64).round() as usize;
    set_aside(table.len, count, codes.as_deref().map_or(SplitBy::Chance, SplitBy::Strata), seed)
}
