//! All measures of a kernel on data at once.

use super::lengths::selves;
use super::{Centre, Spectrum, centred_alignment, norms, sampling_radius, spectrum, target_alignment};
use crate::error::Error;
use crate::gram::{Budget, Dense, Gram};
use std::sync::Arc;

/// Number of leading eigenvalues where not all are computed.
const LEADING_EIGENVALUES: usize = 20;
/// The probability with which the centre may be farther from the mean than is told.
const DELTA: f64 = 0.05;
/// Largest number of different numbers that are taken for classes.
const MAX_CLASSES: usize = 20;

/// The target, as the measures see it.
#[derive(Clone, Debug)]
pub struct Labels {
    /// A number for each example.
    pub numbers: Vec<f64>,
    /// The place of each example's class; `None` for a target of numbers.
    pub classes: Option<Vec<u32>>,
}

impl Labels {
    /// Codes of classes.
    pub fn classes(codes: Vec<u32>) -> Self {
        Self { numbers: codes.iter().map(|&c| f64::from(c)).collect(), classes: Some(codes) }
    }

    /// Numbers; few different ones are classes, if they are whole and repeat themselves, or every one is there twice in the mean.
    pub fn numbers(numbers: Vec<f64>) -> Self {
        let mut known = numbers.clone();
        known.sort_by(f64::total_cmp);
        known.dedup();
        let code = |y: &f64| known.partition_point(|k| k < y) as u32;
        let (few, n) = (known.len(), numbers.len());
        let whole = known.iter().all(|y| y.fract() == 0.0);
        let repeated = 2 * few <= n || whole && few < n;
        let classes = (few <= MAX_CLASSES && repeated).then(|| numbers.iter().map(code).collect());
        Self { numbers, classes }
    }
}

/// A kernel on data, measured.
#[derive(Clone, Debug)]
pub struct Measures {
    /// The number of examples.
    pub n: usize,
    /// Smallest, mean and largest ‖φ(x)‖ of the examples that have a length; not numbers where none has.
    pub norms: [f64; 3],
    /// The number of examples with κ(x, x) < 0, which have no length.
    pub without_length: usize,
    /// The centre of mass.
    pub centre: Centre,
    /// An upper bound on the distance of the centre from the mean of the distribution, with probability 95 %; `None` where no length is known
    /// that no example can exceed.
    pub centre_within: Option<f64>,
    /// The eigenvalues.
    pub spectrum: Spectrum,
    /// Σ λ/(λ + ridge).
    pub effective_dimension: f64,
    /// True if all known eigenvalues are at or above zero but for rounding.
    pub definite: bool,
    /// The alignment with the target, and that of the centred matrices.
    pub alignment: Option<[f64; 2]>,
}

impl Measures {
    /// Measures the examples of a square matrix. `radius` is R with κ(x, x) ≤ R² for every example that could come, of a kernel
    /// that does not know these examples.
    ///
    /// # Errors
    /// If a value is not finite or the memory budget forbids it.
    pub fn of(
        gram: &Arc<dyn Gram>,
        labels: Option<&Labels>,
        ridge: f64,
        radius: Option<f64>,
        budget: Budget,
    ) -> Result<Self, Error> {
        let n = gram.shape().0;
        let mut lengths = norms(gram.as_ref());
        // values that are not finite are refused below
        let without_length = selves(gram.as_ref()).iter().filter(|own| **own < 0.0).count();
        lengths.retain(|length| !length.is_nan());
        let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
        let extreme = |pick: fn(f64, f64) -> f64| lengths.iter().copied().reduce(pick).unwrap_or(f64::NAN);
        let centre = Centre::of(gram.as_ref());
        let found = spectrum(gram.as_ref(), LEADING_EIGENVALUES.min(n), budget)?;
        let definite = !found.is_indefinite();
        let alignment = labels.map(|labels| {
            let plain = target_alignment(gram.as_ref(), &labels.numbers, labels.classes.as_deref());
            [plain, target_gram(labels).map_or(f64::NAN, |ideal| centred_alignment(gram, &ideal))]
        });
        Ok(Self {
            n,
            norms: [extreme(f64::min), mean, extreme(f64::max)],
            without_length,
            centre_within: radius.map(|r| sampling_radius(r * r, n, DELTA)),
            centre,
            effective_dimension: found.effective_dimension(ridge),
            spectrum: found,
            definite,
            alignment,
        })
    }
}

/// The matrix that a kernel would be to be nothing but the target: 1 for two examples of one class and 0 for others, or yyᵀ.
/// `None` beyond 20 000 examples, where storing it is not sensible.
pub fn target_gram(labels: &Labels) -> Option<Arc<dyn Gram>> {
    let n = labels.numbers.len();
    if n > 20_000 {
        return None;
    }
    let value = |p: usize| match &labels.classes {
        Some(c) => f64::from(u8::from(c[p / n] == c[p % n])),
        None => labels.numbers[p / n] * labels.numbers[p % n],
    };
    Dense::new((0..n * n).map(value).collect(), n, n).map(|d| Arc::new(d) as Arc<dyn Gram>)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{linear, points};
    use super::*;

    #[test]
    fn a_kernel_that_knows_the_classes_is_aligned_and_has_their_rank() {
        let codes: Vec<u32> = (0..60).map(|i| i % 3).collect();
        let gram = target_gram(&Labels::classes(codes.clone())).unwrap();
        let found = Measures::of(&gram, Some(&Labels::classes(codes)), 1.0, Some(1.0), Budget::default()).unwrap();
        assert_eq!((found.n, found.spectrum.rank(), found.definite), (60, 3, true));
        assert_eq!(found.norms, [1.0; 3]);
        let [plain, centred] = found.alignment.unwrap();
        assert!((plain - 1.0).abs() < 1e-12 && (centred - 1.0).abs() < 1e-12);
        assert!((found.effective_dimension - 3.0 * 20.0 / 21.0).abs() < 1e-9);
    }

    #[test]
    fn an_indefinite_kernel_has_examples_without_length_and_shares_of_what_is_positive() {
        // κ(x, z) = x₁z₁ − x₂z₂ has eigenvalues of both signs, and κ(x, x) < 0 where the second coordinate is the larger one
        let x = points(30, 2, 4);
        let entry = |p: usize| {
            let (i, j) = (p / 30, p % 30);
            x[2 * i] * x[2 * j] - x[2 * i + 1] * x[2 * j + 1]
        };
        let gram: Arc<dyn Gram> = Arc::new(Dense::new((0..900).map(entry).collect(), 30, 30).unwrap());
        let found = Measures::of(&gram, None, 1.0, None, Budget::default()).unwrap();
        let long = |i: &usize| x[2 * i].abs() >= x[2 * i + 1].abs();
        assert_eq!(found.without_length, 30 - (0..30).filter(long).count());
        assert!(found.without_length > 3 && found.norms.iter().all(|n| n.is_finite()) && !found.definite);
        let squares = (0..30).filter(long).map(|i| x[2 * i].powi(2) - x[2 * i + 1].powi(2));
        assert!((found.norms[2] - squares.fold(0.0, f64::max).sqrt()).abs() < 1e-9);
        // the only positive eigenvalue is all that is positive
        assert!((found.spectrum.explained(1) - 1.0).abs() < 1e-9, "{}", found.spectrum.explained(1));
        assert!((found.spectrum.explained(30) - 1.0).abs() < 1e-9);
        // none of them has a length
        let flipped = Dense::new((0..900).map(|p| -f64::from(u8::from(p % 31 == 0))).collect(), 30, 30).unwrap();
        let gram: Arc<dyn Gram> = Arc::new(flipped);
        let found = Measures::of(&gram, None, 1.0, None, Budget::default()).unwrap();
        assert!(found.without_length == 30 && found.norms[0].is_nan() && found.spectrum.explained(3) == 0.0);
    }

    #[test]
    fn few_numbers_are_classes_and_many_are_not() {
        assert_eq!(Labels::numbers(vec![2.0, 1.0, 2.0]).classes, Some(vec![1, 0, 1]));
        assert_eq!(Labels::numbers((0..50).map(f64::from).collect()).classes, None);
        // twelve measurements, each of its own, are no twelve classes
        assert_eq!(Labels::numbers((0..12).map(|i| 0.3 * f64::from(i)).collect()).classes, None);
        assert_eq!(Labels::numbers((0..12).map(f64::from).collect()).classes, None);
        assert!(Labels::numbers((0..12).map(|i| 0.5 * f64::from(i % 3)).collect()).classes.is_some());
        let x = points(50, 2, 20);
        let gram: Arc<dyn Gram> = Arc::new(linear(&x, 2));
        let first: Vec<f64> = x.chunks_exact(2).map(|x| x[0]).collect();
        let found = Measures::of(&gram, Some(&Labels::numbers(first)), 1.0, None, Budget::default()).unwrap();
        assert!(found.alignment.unwrap()[1] > 0.4);
        let indefinite = linear(&x, 2).values().iter().map(|k| k - 3.0).collect();
        let gram: Arc<dyn Gram> = Arc::new(Dense::new(indefinite, 50, 50).unwrap());
        assert!(!Measures::of(&gram, None, 1.0, None, Budget::default()).unwrap().definite);
    }
}
