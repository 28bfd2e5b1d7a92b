//! Rayleigh quotients as machines: directions w = Σ_j a_j φ(z_j) that maximise aᵀA a / aᵀB a, with A and B put together from
//! matrices in words.

mod expansion;
mod frame;
mod terms;

pub use expansion::Over;
pub(super) use frame::Frame;
pub use terms::{
    Allowed, Matrix, Term, Terms, check_unwanted, check_unwanted_of_classes, check_wanted, check_wanted_of_classes,
};

use super::class_weight::ClassWeight;
use super::{Auxiliary, Coefficients, Expansion, FitError, Fitted, Readout, SolverReport, Task};
use crate::data::Classes;
use crate::geometry::rayleigh;
use crate::gram::show_bytes;
use crate::linalg::SolveError;
use crate::watch::Monitor;

/// A quotient whose directions are to be found, in the words of its parameters.
pub(super) struct Quotient<'a> {
    /// The machine's name.
    pub(super) machine: &'static str,
    pub(super) wanted: &'a str,
    pub(super) unwanted: &'a str,
    pub(super) expansion: &'a str,
    /// The number of directions.
    pub(super) components: usize,
    pub(super) tolerance: f64,
}

impl Quotient<'_> {
    /// Finds the directions: coordinates ⟨w_j, φ(x)⟩ with ‖w_j‖ = 1, whose means are not taken away. `weights` is what each
    /// example counts.
    pub(super) fn run(
        &self,
        task: &Task<'_>,
        auxiliary: Option<&Auxiliary<'_>>,
        classes: Option<&Classes>,
        weights: Vec<f64>,
        watch: &dyn Monitor,
    ) -> Result<Fitted, FitError> {
        let machine = self.machine;
        let wrong = |wanted: String| FitError::Param { machine, finding: format!("it takes {wanted}") };
        let (of_wanted, of_unwanted) = match classes {
            Some(_) => (Allowed::WantedOfClasses, Allowed::UnwantedOfClasses),
            None => (Allowed::Wanted, Allowed::Unwanted),
        };
        let wanted = Terms::parse(self.wanted, of_wanted).map_err(wrong)?;
        let unwanted = Terms::parse(self.unwanted, of_unwanted).map_err(wrong)?;
        let over = Over::parse(self.expansion).map_err(wrong)?;
        let coefficients = unwanted.has(&Matrix::Coefficients);
        let frame = Frame::new(machine, task, auxiliary, over, weights, (coefficients, self.tolerance), watch)?;
        let (wanted, unwanted) = (frame.wanted(&wanted, classes)?, frame.sum(&unwanted, classes)?);
        let found = rayleigh(wanted, unwanted, frame.width, self.components, self.tolerance)
            .map_err(|error| singular(machine, self.unwanted, error))?;
        let kept = found.quotients.len();
        if kept == 0 {
            let finding = "nothing is wanted in any direction: the wanted matrix is zero, all examples look alike to it; \
                           use another kernel, or another sum";
            return Err(FitError::Param { machine, finding: finding.to_owned() });
        }
        let mut notes = vec![("components".to_owned(), kept as f64)];
        notes.extend(found.quotients.iter().enumerate().map(|(j, q)| (format!("quotient_{}", j + 1), *q)));
        let mut advice = Vec::new();
        if kept < self.components {
            advice.push(format!(
                "{} directions were asked for, but the wanted matrix has only {kept}: in all others it is zero, and any \
                 of them would be arbitrary",
                self.components
            ));
        }
        let m = frame.points.len();
        let alpha = frame.coefficients(frame.units(found.vectors, kept)?, kept);
        Ok(Fitted::new(
            Expansion { coefficients: Coefficients::Dual { points: frame.points, alpha }, offsets: vec![0.0; kept] },
            Readout::Coordinates { names: (1..=kept).map(|j| format!("d{j}")).collect() },
            SolverReport {
                support: Some(m),
                storage: format!(
                    "kernel values of all examples with {m} points stored in f64, {}",
                    show_bytes(8 * m * task.len())
                ),
                notes,
                advice,
                ..SolverReport::direct()
            },
        ))
    }
}

/// The weight of each example, with that of its class; an error where a class has no weight.
pub(super) fn weights_of_classes(
    machine: &'static str,
    class_weight: &str,
    classes: &Classes,
    task: &Task<'_>,
) -> Result<Vec<f64>, FitError> {
    ClassWeight::of_examples(machine, class_weight, classes, task.weights)
}

/// The error of a singular matrix, in the terms of the sum that was given.
pub(super) fn singular(machine: &'static str, words: &str, error: SolveError) -> FitError {
    match error {
        SolveError::Pivot { .. } => {
            let finding = format!(
                "unwanted = {words} is zero in some direction, where the quotient has no maximum (a kernel of full rank \
                 separates the examples of every class from those of any other); add a weight, for example \
                 `{words} + 0.001*coefficients` or `{words} + 0.001*norm`"
            );
            FitError::Param { machine, finding }
        }
        error => FitError::Solve { machine, error },
    }
}
