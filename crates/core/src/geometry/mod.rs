//! Geometry in feature space: lengths, distances, centres, projections, spectra and likeness of kernels, all from kernel values,
//! and tests that take these for evidence: two samples, dependence, stability of spectra.
//!
//! Everything takes a [`Gram`](crate::gram::Gram): of a formula and data (`formula.gram(&data)`), or a stored matrix. What needs
//! products only is streamed, in any size; what needs all eigenvalues stores the matrix under a [`Plan`](crate::gram::Plan).
//!
//! # Source
//! J. Shawe-Taylor & N. Cristianini, Kernel Methods for Pattern Analysis (2004), chapter 5; each function names its formula.

mod align;
mod centre;
mod dependence;
mod direction;
mod eigenvalue_bootstrap;
mod forms;
mod functions;
mod gamma;
mod gram_schmidt;
mod lengths;
mod measures;
mod mosaic;
mod p_value;
mod rayleigh;
mod repair;
mod scatter;
mod spectrum;
mod stability;
#[cfg(test)]
mod testing;
mod two_sample;

pub use align::{alignment, centred_alignment, target_alignment};
pub use centre::{Centre, sampling_radius};
pub use dependence::{Dependence, dependence};
pub use direction::{Direction, covariance, deflate};
pub use eigenvalue_bootstrap::{Interval, eigenvalue_intervals};
pub use functions::{MatrixFunction, Whitened, empirical_map, of_matrix, whitened_map};
pub use gram_schmidt::{GramSchmidt, Onward};
pub use lengths::{combination_norm, distance, norms, squared_distances};
pub use measures::{Labels, Measures, target_gram};
pub use mosaic::Mosaic;
pub use p_value::{Guarantee, Null, PValue};
pub use rayleigh::{Directions, Wanted, rayleigh};
pub use repair::{Repair, Repaired, repair, smallest_eigenvalue};
pub use scatter::{between_columns, squares_of_differences, total_scatter, within_scatter};
pub use spectrum::{Spectrum, spectrum};
pub use stability::{Judgement, Stability};
pub use two_sample::{
    Chance, LinearTwoSample, Statistic, TwoSample, linear_two_sample, mmd_bound, mmd_bound_p, two_sample,
};
