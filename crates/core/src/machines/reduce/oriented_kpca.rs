//! Oriented kernel principal component analysis.

use super::size;
use crate::machines::rayleigh::{Over, Quotient, check_unwanted, check_wanted};
use crate::machines::support::weights;
use crate::machines::{FitError, Fitted, Learns, Machine, MachineEntry, Task, Traits};
use crate::params::{Params, Rule, Visit};
use crate::sources::{MIKA, Source};
use crate::watch::Monitor;

const NAME: &str = "oriented_kpca";

/// max aᵀA a / aᵀB a, w = Σ_j a_j φ(z_j), ‖w‖ = 1: much of what is wanted beside little of what is not.
///
/// A and B are sums of matrices in words: `covariance` (the variance of the examples along w), `norm` (‖w‖²), `coefficients`
/// (‖a‖², only in `unwanted`), `noise` (the variance of examples of noise, given beside the data), `tangent` (the summed squares
/// by which the coordinates of examples differ from those of slightly changed copies, the mean over all transformations) and
/// `tangent(NAME)` (those of one transformation). `covariance` beside `norm`, the default, is kernel principal component
/// analysis; `covariance` beside `noise` finds what is not noise, beside `tangent` what does not change. Coordinates are
/// Σ_j a_j κ(z_j, x), from which no mean is taken away. `expansion` says which points z may be used: `examples`, `all` (noise
/// and copies, too, which makes those matrices exact), `points` (those handed in) or a number of examples drawn by
/// the seed. The weight of an example is how often it counts in all sums, those of its copies as well; one of weight zero is no
/// point either. The report's notes are `components` and `quotient_j`.
///
/// # Source
/// Mika 2002, 3.4.1–3.4.5, with 1/n in the covariance.
///
/// # Use when
/// There are examples of what shall not matter: noise, or copies that were shifted or turned.
///
/// # Cost
/// For m points nm kernel values, nm² and up to 20m³ operations; as many numbers twice, and 6m².
#[derive(Clone, Debug, PartialEq)]
pub struct OrientedKpca {
    /// The number of coordinates.
    pub components: usize,
    /// The variance to be large, a weighted sum of matrices.
    pub wanted: String,
    /// The variance to be small, a weighted sum of matrices.
    pub unwanted: String,
    /// The points that directions are made of.
    pub expansion: String,
    /// The part of the largest eigenvalue at or below which one counts as zero.
    pub tolerance: f64,
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["oriented_pca"],
    summary: "directions with much of what is wanted and little noise, or little change under transformations",
    formula: "max aᵀAa / aᵀBa, coordinates Σⱼ aⱼ κ(zⱼ, x)",
    learns: Learns::Unsupervised,
    source: Source::corrected(&MIKA, "3.4.1–3.4.5", "the covariance has a factor 1/n"),
    use_when: "there are examples of what shall not matter: noise, or copies that were shifted or turned",
    cost: "For m points nm kernel values, nm² and up to 20m³ operations; as many numbers twice, and 6m².",
    make: || Box::new(OrientedKpca::default()),
};

impl Default for OrientedKpca {
    fn default() -> Self {
        Self {
            components: 2,
            wanted: "covariance".to_owned(),
            unwanted: "norm".to_owned(),
            expansion: "examples".to_owned(),
            tolerance: 1e-10,
        }
    }
}

impl Params for OrientedKpca {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("components", &mut self.components, Rule::AtLeast(1.0), "how many coordinates");
        v.text("wanted", &mut self.wanted, check_wanted, "sum of matrices that is to be large, e.g. covariance");
        v.text("unwanted", &mut self.unwanted, check_unwanted, "sum that is to be small, e.g. noise + 0.01*norm");
        v.text("expansion", &mut self.expansion, Over::check, "examples, all, points or a number of examples");
        v.real("tolerance", &mut self.tolerance, Rule::Between(1e-14, 0.1), "eigenvalues that count as zero, relative");
    }
}

impl Machine for OrientedKpca {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits { weights: true, auxiliary: true, order: Over::order(&self.expansion), ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        size(task, NAME)?;
        let quotient = Quotient {
            machine: NAME,
            wanted: &self.wanted,
            unwanted: &self.unwanted,
            expansion: &self.expansion,
            components: self.components,
            tolerance: self.tolerance,
        };
        quotient.run(task, task.auxiliary, None, weights(task), watch)
    }
}

#[cfg(test)]
#[path = "oriented_kpca_tests.rs"]
mod tests;
