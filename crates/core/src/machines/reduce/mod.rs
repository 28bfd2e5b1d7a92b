//! Machines that give examples coordinates.

mod empirical_map;
mod incomplete_cholesky;
mod kda;
mod kernel_pca;
mod oriented_kpca;
mod whitened_map;

pub use empirical_map::EmpiricalMap;
pub use incomplete_cholesky::IncompleteCholesky;
pub use kda::Kda;
pub use kernel_pca::{KernelPca, PcaSolver};
pub use oriented_kpca::OrientedKpca;
pub use whitened_map::WhitenedMap;

use super::{FitError, MachineEntry, Task};
use crate::data::DataError;
use crate::gram::{Side, diagonal};
use crate::linalg::SolveError;

/// All machines that give examples coordinates.
pub static ENTRIES: &[&MachineEntry] = &[
    &kernel_pca::ENTRY,
    &oriented_kpca::ENTRY,
    &kda::ENTRY,
    &incomplete_cholesky::ENTRY,
    &whitened_map::ENTRY,
    &empirical_map::ENTRY,
];

/// The number of training examples; none is refused.
fn size(task: &Task<'_>, machine: &'static str) -> Result<usize, FitError> {
    if task.is_empty() {
        let error = DataError::Empty { place: "the training data".to_owned() };
        return Err(FitError::Target { machine, error });
    }
    Ok(task.len())
}

/// The places of so many training examples, drawn by the seed, in their order; all of them for 0 or more than there are.
fn drawn(task: &Task<'_>, wanted: usize, machine: &'static str) -> Result<Vec<usize>, FitError> {
    let n = size(task, machine)?;
    if wanted == 0 || wanted >= n {
        return Ok((0..n).collect());
    }
    let mut places = task.seed.stream("examples of a map").permutation(n);
    places.truncate(wanted);
    places.sort_unstable();
    Ok(places)
}

/// κ(x, x) of the training examples, all finite.
fn selves(task: &Task<'_>, machine: &'static str) -> Result<Vec<f64>, FitError> {
    let values = task.gram.self_similarities(Side::Rows).unwrap_or_else(|| diagonal(&*task.gram));
    match values.iter().position(|k| !k.is_finite()) {
        Some(i) => Err(FitError::Solve { machine, error: SolveError::NotFinite { row: i + 1, column: i + 1 } }),
        None => Ok(values),
    }
}

#[cfg(test)]
mod testing;
