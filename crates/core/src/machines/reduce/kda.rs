//! Kernel discriminant analysis of any number of classes.

use crate::machines::class_weight::ClassWeight;
use crate::machines::rayleigh::{
    Over, Quotient, check_unwanted_of_classes, check_wanted_of_classes, weights_of_classes,
};
use crate::machines::{FitError, Fitted, Learns, Machine, MachineEntry, Task, Theory, Traits};
use crate::params::{Params, Rule, Visit};
use crate::sources::{MIKA, Source};
use crate::watch::Monitor;

const NAME: &str = "kda";

/// max aᵀA a / aᵀB a, w = Σ_j a_j φ(z_j), ‖w‖ = 1: class means far apart, classes narrow.
///
/// A is `between` (Σ_c n_c times the squared distance of a class mean from the mean of all, along w) and B is `within` (the summed
/// squares about the class means) with a weight on ‖a‖² or ‖w‖², without which a kernel of full rank has no maximum. Both may
/// be other sums of matrices in words: those of `oriented_kpca` besides, so that with `tangent` directions also
/// ignore transformations. Up to classes − 1 directions there are; more are not given, as they would be arbitrary. Coordinates are
/// Σ_j a_j κ(z_j, x), from which no mean is taken away. `expansion` says which points z may be used. The weight of an example is
/// how often it counts in all sums, those of its copies as well; one of weight zero is no point either. The report's notes are
/// `components` and `quotient_j`.
///
/// # Source
/// Mika 2002, 3.4.1–3.4.5, and for several classes his 3.4.4 with class means: within K(I − Σ v_c v_cᵀ)K, between K(Σ v_c v_cᵀ − vvᵀ)K.
///
/// # Use when
/// Classes are to be seen, or handed on, in the few coordinates that tell them apart.
///
/// # Cost
/// For m points nm kernel values, nm² and m³/3 operations (9m³ more without a weight on the coefficients); as many numbers
/// twice, and 6m².
#[derive(Clone, Debug, PartialEq)]
pub struct Kda {
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
    /// Weights of the classes: `none`, `balanced`, or `label:weight,label:weight`.
    pub class_weight: String,
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["rayleigh", "kernel_discriminant_analysis"],
    summary: "directions in which class means are far apart and classes narrow, or any other two sums of matrices",
    formula: "max aᵀAa / aᵀBa, coordinates Σⱼ aⱼ κ(zⱼ, x)",
    learns: Learns::Classes,
    source: Source::corrected(
        &MIKA,
        "3.4.1–3.4.5",
        "no pseudo-inverse of a singular matrix, no direction of quotient zero",
    ),
    use_when: "classes are to be seen, or handed on, in the few coordinates that tell them apart",
    cost: "For m points nm kernel values, nm² and m³/3 operations (9m³ more without a weight on the coefficients); as many numbers twice, and 6m².",
    make: || Box::new(Kda::default()),
};

impl Default for Kda {
    fn default() -> Self {
        Self {
            components: 2,
            wanted: "between".to_owned(),
            unwanted: "within + 0.001*coefficients".to_owned(),
            expansion: "examples".to_owned(),
            tolerance: 1e-10,
            class_weight: "none".to_owned(),
        }
    }
}

impl Params for Kda {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("components", &mut self.components, Rule::AtLeast(1.0), "how many coordinates");
        v.text(
            "wanted",
            &mut self.wanted,
            check_wanted_of_classes,
            "sum of matrices that is to be large, e.g. between",
        );
        v.text(
            "unwanted",
            &mut self.unwanted,
            check_unwanted_of_classes,
            "sum that is to be small, e.g. within + 0.001*coefficients + 0.01*tangent",
        );
        v.text("expansion", &mut self.expansion, Over::check, "examples, all, points or a number of examples");
        v.real("tolerance", &mut self.tolerance, Rule::Between(1e-14, 0.1), "eigenvalues that count as zero, relative");
        v.text("class_weight", &mut self.class_weight, ClassWeight::check, "none, balanced or label:weight,…");
    }
}

impl Machine for Kda {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits {
            weights: true,
            auxiliary: true,
            order: Over::order(&self.expansion),
            theory: Theory { balances_classes: self.class_weight == ClassWeight::BALANCED, ..Theory::default() },
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let weights = weights_of_classes(NAME, &self.class_weight, &classes, task)?;
        let quotient = Quotient {
            machine: NAME,
            wanted: &self.wanted,
            unwanted: &self.unwanted,
            expansion: &self.expansion,
            components: self.components,
            tolerance: self.tolerance,
        };
        quotient.run(task, task.auxiliary, Some(&classes), weights, watch)
    }
}

#[cfg(test)]
#[path = "kda_tests.rs"]
mod tests;
