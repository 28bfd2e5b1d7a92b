//! The cosine kernel.

use super::{AngleProfile, Angular};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, KernelEntry, KernelFacts};
use crate::params::{Params, Visit};
use crate::sources::{HERBRICH, Source};

/// κ(x, y) = ⟨x, y⟩ / ‖x‖‖y‖, and 0 where a vector is zero
///
/// # Source
/// Herbrich (2002), (2.22) for the linear kernel: `normalise(linear)` in one step.
///
/// # Use when
/// Only the direction of a vector counts, as for texts of different lengths.
///
/// # Cost
/// One inner product and one division for each pair.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, inner::{Angular, Cosine}};
/// let k = Angular(Cosine);
/// let value: f64 = k.eval([3.0, 0.0].as_slice(), [2.0, 2.0].as_slice());
/// assert!((value - 0.5f64.sqrt()).abs() < 1e-15);
/// assert_eq!(Kernel::<[f64]>::eval(&k, &[0.0, 0.0], &[2.0, 2.0]), 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cosine;

impl Params for Cosine {
    fn visit(&mut self, _: &mut dyn Visit) {}
}

impl AngleProfile for Cosine {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        // zero vectors have zero values
        KernelFacts { self_similarity: Some([0.0, 1.0]), ..KernelFacts::default() }
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, cosine: S, _: S) -> S {
        cosine
    }

    fn slopes(&self, _: f64, _: f64) -> [f64; 2] {
        [1.0, 0.0]
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "cosine",
    aliases: &[],
    formula: "⟨x, y⟩ / ‖x‖‖y‖",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&HERBRICH, "(2.22)"),
    use_when: "only the direction of a vector counts",
    cost: "One inner product and one division for each pair.",
    make: || Box::new(Angular(Cosine)),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Rows, Values};
    use crate::gram::{fill, fill32};
    use crate::kernels::Leaf;

    #[test]
    fn lengths_do_not_matter_and_zero_vectors_give_zero() {
        let rows = Rows::new(vec![1.0, 2.0, 3e150, 6e150, 0.0, 0.0, -2.0, 1.0], 4, 2).unwrap();
        let values = Values::from(rows);
        let gram = Leaf::gram(&Angular(Cosine), &values, &values, true).unwrap();
        let mut k = vec![f64::NAN; 16];
        fill(gram.as_ref(), &mut k);
        let wanted = [1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        assert!(k.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-15), "{k:?}");
        let small = Values::from(Rows::new(vec![1.0, 2.0, 0.0, 0.0], 2, 2).unwrap());
        let gram = Leaf::gram(&Angular(Cosine), &small, &small, true).unwrap();
        let mut k = vec![f32::NAN; 4];
        fill32(gram.as_ref(), &mut k);
        assert_eq!(k, [1.0, 0.0, 0.0, 0.0]);
    }
}
