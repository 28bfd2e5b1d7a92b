//! Machines that learn what is usual, to tell what is not.

mod boundary;
mod centre_of_mass;
mod one_class;
mod parzen_density;
mod svdd;

pub use centre_of_mass::CentreOfMass;
pub use one_class::OneClass;
pub use parzen_density::ParzenDensity;
pub use svdd::Svdd;

use super::MachineEntry;

/// The machines of this folder.
pub static ENTRIES: &[&MachineEntry] =
    &[&one_class::ENTRY, &svdd::ENTRY, &centre_of_mass::ENTRY, &parzen_density::ENTRY];
