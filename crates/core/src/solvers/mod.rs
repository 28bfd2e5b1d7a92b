//! Solvers: named problems in, solutions with evidence out. They see matrices, never data.

mod balance;
pub mod conjugate_gradient;
pub mod coordinate_descent;
pub mod direct;
pub mod dual;
pub mod fisher;
pub mod logistic;
mod loss;
pub mod newton;
pub mod smo;
pub mod sparse;
#[cfg(test)]
mod testing;

pub use loss::{Conjugate, Loss, Penalty};
