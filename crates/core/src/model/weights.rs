//! Explicit weights in a model file, without the columns that have none.
//!
//! Hashed features have 2²⁰ coordinates, of which a collection of texts uses some thousands.

use super::tensors::{Packer, Unpacker};
use crate::memory::{BudgetError, check};
use serde::{Deserialize, Serialize};

/// Largest number of weights that are stored sparsely: more are written as they are, since a small file must not ask
/// for much memory in reading.
const MAX_SPARSE_WEIGHTS: usize = 1 << 25;

#[derive(Serialize, Deserialize)]
pub(super) struct StoredWeights {
    pub(super) width: usize,
    pub(super) scale: f64,
    /// The number of columns in the file, where the others are left out: all their weights are zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) columns: Option<usize>,
}

/// Adds the weights, `width × outputs` row by row, to a file: only columns with weight, where they are less than half.
pub(super) fn pack(pack: &mut Packer, weights: &[f64], outputs: usize, width: usize, scale: f64) -> StoredWeights {
    // the bits decide, since −0 is to come back as −0
    let some = |row: &&[f64]| row.iter().any(|w| w.to_bits() != 0);
    let rows = || weights.chunks_exact(outputs.max(1));
    let count = rows().filter(some).count();
    if weights.len() > MAX_SPARSE_WEIGHTS || width > u32::MAX as usize || 2 * count >= width {
        pack.f64s("weights", &[width, outputs], weights);
        return StoredWeights { width, scale, columns: None };
    }
    let kept = || rows().zip(0_u32..).filter(|(row, _)| some(row));
    pack.u32s("weights.columns", &[count], &kept().map(|(_, column)| column).collect::<Vec<_>>());
    pack.f64s("weights", &[count, outputs], &kept().flat_map(|(row, _)| row).copied().collect::<Vec<_>>());
    StoredWeights { width, scale, columns: Some(count) }
}

/// Refuses weights of so many outputs whose columns, most of them left out, would not fit the memory budget.
pub(super) fn room(stored: &StoredWeights, outputs: usize) -> Result<(), BudgetError> {
    let all = if stored.columns.is_some() { stored.width.saturating_mul(outputs).min(MAX_SPARSE_WEIGHTS) } else { 0 };
    let what = "a weight for every coordinate of the model";
    check(all * size_of::<f64>(), what).map_err(|e| e.remedy("raise --memory, or fit with fewer coordinates"))
}

/// The weights with all their columns.
pub(super) fn unpack(unpack: &Unpacker<'_>, stored: &StoredWeights, outputs: usize) -> Result<Vec<f64>, String> {
    let (shape, weights) = unpack.get_f64s("weights")?;
    if shape != [stored.columns.unwrap_or(stored.width), outputs] || !stored.scale.is_finite() {
        return Err("its weights have the wrong shape".to_owned());
    }
    if weights.iter().any(|w| !w.is_finite()) {
        return Err("an array holds numbers that are not finite".to_owned());
    }
    let Some(count) = stored.columns else { return Ok(weights) };
    let (_, columns) = unpack.get_u32s("weights.columns")?;
    let rising = columns.is_sorted_by(|a, b| a < b) && columns.last().is_none_or(|&c| (c as usize) < stored.width);
    let all = stored.width.checked_mul(outputs).filter(|all| *all <= MAX_SPARSE_WEIGHTS);
    let Some(all) = all.filter(|_| columns.len() == count && rising) else {
        return Err("its weights belong to columns that it does not have".to_owned());
    };
    let mut spread = vec![0.0; all];
    for (row, &column) in weights.chunks_exact(outputs).zip(&columns) {
        spread[column as usize * outputs..][..outputs].copy_from_slice(row);
    }
    Ok(spread)
}
