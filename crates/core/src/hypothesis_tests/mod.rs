//! Hypothesis tests on kernel matrices: whether two samples have one distribution, whether two variables depend on each other,
//! and which eigenvalues of a matrix would be found again in another sample.
//!
//! Everything takes a [`Gram`](crate::gram::Gram) and streams it where products suffice. A p-value tells which null distribution
//! it comes from and whether it is exact, conservative or asymptotic.
//!
//! # Source
//! A. Gretton et al., A kernel two-sample test, JMLR 13 (2012); A. Gretton et al., A kernel statistical test of independence, NIPS
//! 20 (2008); J. Shawe-Taylor & N. Cristianini, Kernel Methods for Pattern Analysis (2004); each file names its formula.

mod dependence;
mod eigenvalue_bootstrap;
mod forms;
mod gamma;
mod p_value;
mod stability;
mod two_sample;

pub use dependence::{Dependence, dependence};
pub use eigenvalue_bootstrap::{Interval, eigenvalue_intervals};
pub use p_value::{Guarantee, Null, PValue};
pub use stability::{Judgement, Stability};
pub use two_sample::{
    Chance, LinearTwoSample, Statistic, TwoSample, linear_two_sample, mmd_bound, mmd_bound_p, two_sample,
};
