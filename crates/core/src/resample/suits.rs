//! Kernels that a machine can learn with, by the eigenvalues of their matrices.

use crate::formula::Formula;
use crate::kernels::Definite;
use crate::machines::{FitError, Machine, Tolerates};

/// The promise that a machine with its parameters cannot keep with a kernel, in a sentence; `None` where it can promise
/// all that it promises with any kernel.
///
/// A kernel that is only conditionally positive definite is fine for machines that do not see the origin. The others either minimise
/// αᵀKα over all α, which has no minimum then, or work without the theory that was made for them.
///
/// # Errors
/// If the problem of the machine has no solution with the kernel, and another kernel with the same distances would do.
pub fn doubt(machine: &dyn Machine, kernel: &Formula) -> Result<Option<String>, FitError> {
    let name = machine.entry().name;
    match (kernel.definite(), machine.traits().tolerates) {
        (Definite::Positive, _) | (_, Tolerates::Any) | (Definite::Conditionally, Tolerates::ConditionallyDefinite) => {
            Ok(None)
        }
        (Definite::Conditionally, Tolerates::Definite) => {
            let finding = format!(
                "{kernel} is only conditionally positive definite, and {name} with these parameters depends on the origin of feature space: \
                 its problem has no minimum then; write centre({kernel}), which has the same distances"
            );
            Err(FitError::Param { machine: name, finding })
        }
        (Definite::Conditionally, Tolerates::WithoutTheory) => Ok(Some(format!(
            "{kernel} is only conditionally positive definite, and {name} depends on the origin of feature space; centre({kernel}) has \
             the same distances and an origin"
        ))),
        (Definite::Indefinite, _) => {
            Ok(Some(format!("{kernel} is not positive definite; {name} may find no true optimum")))
        }
    }
}
