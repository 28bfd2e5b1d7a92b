//! A part of a table that is set aside before anything is learned or searched, and judges what was chosen once.

use crate::data::DataError;
use crate::resample::{Split, SplitBy, set_aside};
use crate::seed::Seed;

/// Sets a share of so many rows aside by chance alone: where classes were on both sides in their proportions, the rows would not be
/// independent of the others, nor of one another, as intervals and certificates of what they judge assume.
///
/// # Errors
/// If the share is none, or leaves nothing on one side.
pub fn set_rows_aside(rows: usize, share: f64, seed: Seed) -> Result<Split, DataError> {
    if !(share > 0.0 && share < 1.0) {
        let finding =
            format!("{share} is no share of the examples to set aside; give a number between 0 and 1, such as 0.25");
        return Err(DataError::Usage { finding });
    }
    set_aside(rows, (share * rows as f64).round() as usize, SplitBy::Chance, seed)
}
