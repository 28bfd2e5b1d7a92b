//! Machines that divide examples into clusters.

mod inputs;
mod kernel_k_means;
mod lloyd;
mod spectral_clustering;

pub use kernel_k_means::KernelKMeans;
pub use spectral_clustering::SpectralClustering;

use super::{FitError, MachineEntry, Readout};
use crate::data::DataError;

/// The machines of this folder.
pub static ENTRIES: &[&MachineEntry] = &[&kernel_k_means::ENTRY, &spectral_clustering::ENTRY];

/// `cluster1`, `cluster2`, …: names that no class has by chance.
fn readout(clusters: usize) -> Readout {
    Readout::Clusters { names: (1..=clusters).map(|c| format!("cluster{c}")).collect() }
}

/// Checks that there is an example for each cluster.
fn enough(machine: &'static str, examples: usize, clusters: usize) -> Result<(), FitError> {
    if examples == 0 {
        let error = DataError::Empty { place: "the training data".to_owned() };
        return Err(FitError::Target { machine, error });
    }
    if examples < clusters {
        let finding = format!("{clusters} clusters need as many examples, and there are {examples}; ask for fewer");
        return Err(FitError::Param { machine, finding });
    }
    Ok(())
}

/// The number of examples of each cluster, for the notes of a report.
fn sizes(assigned: &[u32], clusters: usize) -> Vec<(String, f64)> {
    let count = |c: usize| assigned.iter().filter(|&&a| a as usize == c).count();
    (0..clusters).map(|c| (format!("size_{}", c + 1), count(c) as f64)).collect()
}
