//! Proven statements about the coverage of regions.

use super::{Conformal, Method, rank};
use crate::distributions::beta_quantile;
use serde::Serialize;

/// A statement about the coverage at a level 1 − α. It holds if examples are exchangeable and nothing was chosen with the help of the
/// held-out ones. With n held-out examples (of full, examples that a candidate is compared with):
///
/// * split: at least 1 − α, and where no nonconformities are equal exactly ⌈(n + 1)(1 − α)⌉/(n + 1), which is at most
///   1 − α + 1/(n + 1). For the held-out examples at hand the coverage is then drawn from Beta(n + 1 − l, l) with
///   l = ⌊(n + 1)α⌋.
/// * full: at least 1 − α. Of the region itself the exact number above holds, too; the reported interval has no gaps, and may
///   cover more.
/// * jackknife+: at least 1 − 2α.
/// * cross, K folds: at least 1 − 2α − 2(1 − α)(K − 1)/(n + K), since the p-values of the folds have a mean that is no more
///   than twice too small; or 1 − 2α − (1 − K/n)/(K + 1), if that is more and all folds are of one size.
///
/// Where the columns of a table were coded by the examples that are kept, "new examples" are those whose categories these have: others
/// are refused by a prediction, and a fit that meets one among its held-out examples claims nothing.
///
/// A truth that the model does not know is a class with no example to learn from, infinitely strange like the held-out examples of
/// such classes. It counts as covered only where the region says that it holds such labels (`unknown`), and elsewhere as a miss,
/// which the coverage allows for, since it was as probable among the held-out examples.
///
/// A Mondrian predictor keeps this for each class by itself, with the examples of that class; a class that the model does not know
/// has none, and is in every set. In practice jackknife+ and cross cover 1 − α or a little less; the bound is for the worst case.
///
/// # Source
/// Vovk, Gammerman & Shafer (2005), chapter 4; Vovk (2012) for the Beta distribution; Barber, Candès, Ramdas &
/// Tibshirani (2021), Theorems 1 and 4, whose first term is sharpened by its factor 1 − α; Vovk & Wang (2020) for means of
/// p-values, with weights m_k + 1 for folds of m_k examples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Guarantee {
    /// The number of held-out examples.
    pub held_out: usize,
    /// The coverage is at least this; nothing is proven where it is `None`, since held-out examples had a part in what was learned
    /// before the fits, or rows were repeated.
    pub least: Option<f64>,
    /// At most this where no nonconformities are equal; split only, and not where some of the held-out ones are.
    pub most: Option<f64>,
    /// Exactly this where no nonconformities are equal; split only, and not where some of the held-out ones are.
    pub exact: Option<f64>,
    /// The distribution of the coverage from one set of held-out examples to the next; split only, and where regions are not everything.
    pub conditional: Option<Beta>,
    /// True if there are too few examples for the level, so that every region holds everything, labels that the model does not
    /// know among it.
    pub everything: bool,
    /// True if every set holds any label that the model does not know.
    pub unknown: bool,
    /// What these numbers rest on where some examples are equal, or the reason for their absence where rows were repeated.
    pub condition: Option<String>,
}

/// The distribution Beta(a, b) of a coverage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Beta {
    /// n + 1 − l.
    pub a: f64,
    /// l.
    pub b: f64,
    /// In nineteen of twenty cases the coverage is at least this.
    pub fifth: f64,
}

impl Conformal {
    /// The guarantees at a coverage: one statement for each class of a Mondrian predictor, else one.
    pub fn guarantees(&self, coverage: f64) -> Vec<Guarantee> {
        let columns = if self.mondrian { self.columns } else { 1 };
        (0..columns).map(|c| self.guarantee(c, coverage)).collect()
    }

    fn guarantee(&self, column: usize, coverage: f64) -> Guarantee {
        let n = self.held_out(column);
        let place = rank(n, coverage);
        let everything = place > n;
        let split = self.method == Method::Split;
        let size = n as f64 + 1.0;
        let least = if everything {
            1.0
        } else if split || self.method == Method::Full {
            coverage
        } else {
            self.least_of_folds(column, coverage).max(0.0)
        };
        let split = split && self.is_proven();
        let distinct =
            split && self.groups.get(column).is_some_and(|group| group.windows(2).all(|pair| pair[0] < pair[1]));
        let conditional = (split && !everything).then(|| {
            let (a, b) = (place as f64, (n + 1 - place) as f64);
            Beta { a, b, fifth: beta_quantile(0.05, a, b) }
        });
        Guarantee {
            held_out: n,
            least: self.is_proven().then_some(least),
            most: distinct.then(|| (coverage + 1.0 / size).min(1.0)),
            exact: distinct.then(|| place as f64 / size),
            conditional,
            everything,
            unknown: self.holds_unknown(coverage),
            condition: self.refusal().or_else(|| self.condition()),
        }
    }

    fn least_of_folds(&self, column: usize, coverage: f64) -> f64 {
        let double = 1.0 - 2.0 * (1.0 - coverage);
        if self.method == Method::Jackknife {
            return double;
        }
        let sizes: Vec<usize> = (0..self.members())
            .map(|m| self.groups[m * self.columns + column].len())
            .filter(|&size| size > 0)
            .collect();
        let (n, k) = (sizes.iter().sum::<usize>() as f64, sizes.len() as f64);
        let mean = 2.0 * coverage * (k - 1.0) / (n + k);
        // exchanging a whole fold of one class with the others is no symmetry of the fits
        let even = !self.mondrian && sizes.windows(2).all(|s| s[0] == s[1]);
        let swapped = if even { (1.0 - k / n) / (k + 1.0) } else { f64::INFINITY };
        double - mean.min(swapped)
    }
}
