//! Solvers: named problems in, solutions with evidence out. They see matrices, never data.

mod error;
mod monitor;
pub mod direct;
pub mod smo;

pub use error::SolveError;
pub use monitor::{Monitor, Progress, Silent, Status, Stop};
