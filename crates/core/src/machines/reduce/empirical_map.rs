//! The empirical kernel map: kernel values as coordinates.

use super::{drawn, selves};
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, SolverReport, Task, Tolerates,
    Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::sources::{LWK, Source};
use crate::watch::Monitor;

const NAME: &str = "empirical_map";

/// x ↦ (κ(x_1, x), …, κ(x_m, x)): an example becomes the vector of its kernel values with training examples.
///
/// Inner products are K², so it is for machines that need no kernel at all, and for similarities that are no kernels.
///
/// # Source
/// Schölkopf & Smola 2002, definition 2.15.
///
/// # Use when
/// A similarity is no kernel, or a linear machine is to choose among examples.
///
/// # Cost
/// None in learning beyond m² numbers, the identity that the expansion is written with. A new example takes m kernel values.
#[derive(Clone, Debug, PartialEq)]
pub struct EmpiricalMap {
    /// The number of training examples, drawn by the seed; 0 for all.
    pub examples: usize,
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["empirical_kernel_map"],
    summary: "kernel values with training examples as coordinates",
    formula: "x ↦ (κ(x₁, x), …, κ(xₘ, x))",
    learns: Learns::Unsupervised,
    source: Source::new(&LWK, "definition 2.15"),
    use_when: "a similarity is no kernel, or a linear machine is to choose among examples",
    cost: "None in learning beyond m² numbers, the identity that the expansion is written with. A new example takes m kernel values.",
    make: || Box::new(EmpiricalMap::default()),
};

impl Default for EmpiricalMap {
    fn default() -> Self {
        Self { examples: 100 }
    }
}

impl Params for EmpiricalMap {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("examples", &mut self.examples, Rule::AtLeast(0.0), "how many training examples; 0 for all");
    }
}

impl Machine for EmpiricalMap {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits { tolerates: Tolerates::Any, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, _: &dyn Monitor) -> Result<Fitted, FitError> {
        let points = drawn(task, self.examples, NAME)?;
        let m = points.len();
        task.budget.check(8 * m * m, "the empirical map")?;
        // nothing else is computed of the kernel here, so that a broken one would be noticed by predictions only
        selves(task, NAME)?;
        let mut alpha = vec![0.0; m * m];
        alpha.iter_mut().step_by(m + 1).for_each(|a| *a = 1.0);
        let names = points.iter().map(|p| format!("k{}", p + 1)).collect();
        Fitted::new(
            Expansion { coefficients: Coefficients::Dual { points, alpha }, offsets: vec![0.0; m] },
            Readout::Coordinates { names },
            SolverReport { support: Some(m), storage: "no kernel value needed".to_owned(), ..SolverReport::direct() },
        )
        .scorable(NAME, &task.gram)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fit, fit_on, mapped, points, tanh};
    use super::*;
    use crate::gram::Budget;

    #[test]
    fn coordinates_are_kernel_values_with_all_or_with_drawn_examples() {
        let x = points(30, 3);
        let new = points(1, 3).remove(0);
        for (examples, wanted) in [(0, 30), (7, 7), (99, 30)] {
            let fitted = fit(&EmpiricalMap { examples }, &x, tanh);
            let chosen = fitted.expansion.points().to_vec();
            assert!(chosen.len() == wanted && chosen.is_sorted());
            let values: Vec<f64> = chosen.iter().map(|&p| tanh(&x[p], &new)).collect();
            assert_eq!(mapped(&fitted, &x, tanh, &new), values);
            let Readout::Coordinates { names } = fitted.readout else { panic!() };
            assert_eq!(names[3], format!("k{}", chosen[3] + 1));
        }
    }

    #[test]
    fn nothing_and_broken_values_are_refused() {
        let said = |k: Vec<f64>| match fit_on(&EmpiricalMap::default(), k, Budget::default()) {
            Err(error) => error.to_string(),
            Ok(fitted) => panic!("{:?}", fitted.report),
        };
        assert!(said(Vec::new()).contains("the training data"));
        assert!(said(vec![1.0, 0.0, 0.0, f64::NAN]).contains("row 2, column 2"));
    }
}
