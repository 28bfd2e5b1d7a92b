//! Geometry in feature space: lengths, distances, centres, projections, spectra and likeness of kernels, all from kernel
//! values.
//!
//! Everything takes a [`Gram`](crate::gram::Gram): of a formula and data (`formula.gram(&data)`), or a stored matrix. What needs
//! products only is streamed, in any size; what needs all eigenvalues stores the matrix under a [`Budget`](crate::gram::Budget).
//!
//! # Source
//! J. Shawe-Taylor & N. Cristianini, Kernel Methods for Pattern Analysis (2004), chapter 5; each function names its formula.

mod align;
mod block_means;
mod centre;
mod direction;
mod functions;
mod gram_schmidt;
mod k_means;
mod lengths;
mod measures;
mod moments;
mod rayleigh;
mod repair;
mod scatter;
mod spectrum;
#[cfg(test)]
pub(crate) mod testing;

pub use align::{alignment, centred_alignment, target_alignment};
pub use block_means::BlockMeans;
pub use centre::{Centre, sampling_radius};
pub use direction::{Direction, covariance, deflate};
pub use functions::{MatrixFunction, Whitened, empirical_map, of_matrix, whitened_map};
pub use gram_schmidt::{GramSchmidt, Onward};
pub use k_means::{Clusters, k_means};
pub use lengths::{combination_norm, distance, norms, squared_distances};
pub use measures::{Labels, Measures, target_gram};
pub use moments::{Moments, rank_one_eigenvalues, rank_one_shares};
pub use rayleigh::{Directions, Wanted, rayleigh};
pub use repair::{Repair, Repaired, repair, smallest_eigenvalue};
pub use scatter::{between_columns, squares_of_differences, total_scatter, within_scatter};
pub use spectrum::{Spectrum, spectrum};
pub(crate) use spectrum::{is_indefinite, positive_part};
