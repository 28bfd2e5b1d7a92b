//! Data sets that come with the program: a few classics, and generators of artificial ones.
//!
//! Every set is one [`SetEntry`]. All of them make a raw [`Table`] with named fields and the target last, so that what
//! follows is the same as for a file.

mod banana;
mod build;
mod dna_motifs;
mod embedded;
mod noisy_sinc;
mod ringnorm;
#[cfg(test)]
mod tests;
mod two_moons;
mod twonorm;
mod waveform;

use crate::data::{DataError, Table};
use crate::seed::Seed;

/// One data set: what it is, where it comes from, how to make it.
#[derive(Debug)]
pub struct SetEntry {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// One line that says what it is.
    pub summary: &'static str,
    /// "classification" or "regression".
    pub task: &'static str,
    /// The number of examples; of a generated set, the number that is made unless another one is asked for.
    pub examples: usize,
    /// Origin, donor and licence; or the work that defines the generator.
    pub source: &'static str,
    /// True if it is drawn at random: then any number of examples can be made.
    pub generated: bool,
    /// Makes the table, with `n` examples if given: a random subset of an embedded set, so many draws of a generator.
    pub make: fn(n: Option<usize>, seed: Seed) -> Result<Table, DataError>,
}

/// All the sets, embedded ones first.
pub static SETS: &[&SetEntry] = &[
    &embedded::IRIS,
    &embedded::WINE,
    &embedded::WDBC,
    &embedded::DIGITS,
    &banana::BANANA,
    &ringnorm::RINGNORM,
    &twonorm::TWONORM,
    &waveform::WAVEFORM,
    &two_moons::TWO_MOONS,
    &noisy_sinc::NOISY_SINC,
    &dna_motifs::DNA_MOTIFS,
];

/// The set of that name; the error names the nearest, or all.
pub fn find(name: &str) -> Result<&'static SetEntry, DataError> {
    if let Some(found) = SETS.iter().find(|entry| entry.name == name) {
        return Ok(found);
    }
    let names = || SETS.iter().map(|entry| entry.name);
    let remedy = match crate::params::nearest(name, names()) {
        Some(close) => format!("did you mean \"{close}\"?"),
        None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
    };
    Err(DataError::NoSuch { what: "data set", name: name.to_owned(), remedy })
}

/// The table of the set of that name, with `n` examples if given.
pub fn load(name: &str, n: Option<usize>, seed: Seed) -> Result<Table, DataError> {
    (find(name)?.make)(n, seed)
}
