//! mercer: kernel methods, from a data file to a model with its evidence.

pub mod data;
pub mod error;
pub mod formula;
pub mod gram;
pub mod kernels;
pub mod linalg;
pub mod machines;
pub mod model;
pub mod params;
pub mod plot;
pub mod seed;
pub mod sets;
pub mod solvers;
pub mod sources;

pub use error::Error;
