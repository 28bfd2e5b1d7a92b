//! Damaged and made-up input for everything in mercer that reads: data files, models, formulas.
//!
//! A [`Target`](targets::Target) is a reader with its seeds, which lie in `corpus/`, and a maker that changes them knowing a little of
//! their grammar. A [`Campaign`](campaign::Campaign) makes inputs, runs each under the eyes of [`trial`], and keeps as further seeds
//! those whose outcome has not been seen before: another kind of table, or another sentence of refusal. A panic, a broken law,
//! a second for a KB, or memory beyond a bound is a finding.
//!
//! `fuzz.sh` at the root of the repository starts the program; the tests run a few thousand inputs for each target.

pub mod campaign;
pub mod damage;
pub mod forge;
pub mod formulas;
pub mod laws;
pub mod targets;
pub mod trial;

#[path = "../../core/tests/support/memory.rs"]
mod memory;

#[cfg(test)]
mod tests;
