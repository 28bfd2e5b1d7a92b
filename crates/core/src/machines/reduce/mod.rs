//! Machines that give examples fewer coordinates.

pub mod kernel_pca;

pub use kernel_pca::{KernelPca, PcaSolver};

use super::MachineEntry;

/// All machines that give examples fewer coordinates.
pub static ENTRIES: &[&MachineEntry] = &[&kernel_pca::ENTRY];
