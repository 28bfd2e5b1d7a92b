//! P-values, and the guarantee that comes with them.

use crate::seed::Random;

/// The way in which a p-value was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Null {
    /// So many random permutations.
    Permutations(usize),
    /// So many random signs.
    WildBootstrap(usize),
    /// A normal distribution with the estimated variance.
    Normal,
    /// A gamma distribution with the estimated mean and variance.
    Gamma,
    /// A bound on the deviation of means in feature space.
    Bound,
}

/// Guarantees of a p-value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarantee {
    /// P(p ≤ α) ≤ α at every sample size, where the examples are exchangeable if nothing differs or depends, and the kernel does not know
    /// their order.
    Exact,
    /// The same for many examples only.
    Asymptotic,
    /// P(p ≤ α) ≤ α for every distribution within the radius and every sample size, by a bound: far too large as a rule.
    Bound,
}

impl Null {
    /// Its guarantee.
    pub fn guarantee(self) -> Guarantee {
        match self {
            Self::Permutations(_) => Guarantee::Exact,
            Self::WildBootstrap(_) | Self::Normal | Self::Gamma => Guarantee::Asymptotic,
            Self::Bound => Guarantee::Bound,
        }
    }
}

impl Guarantee {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Exact => "exact at every sample size",
            Self::Asymptotic => "approximate, for many examples",
            Self::Bound => "a bound for every distribution and sample size",
        }
    }
}

impl std::fmt::Display for Null {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Permutations(count) => write!(f, "{count} permutations"),
            Self::WildBootstrap(count) => write!(f, "a wild bootstrap of {count} draws"),
            Self::Normal => write!(f, "the normal approximation"),
            Self::Gamma => write!(f, "the gamma approximation"),
            Self::Bound => write!(f, "a bound"),
        }
    }
}

/// A p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PValue {
    /// The probability.
    pub value: f64,
    /// The null distribution that it comes from.
    pub null: Null,
}

/// (1 + #{replicate ≥ observed})/(1 + B): exact, because the observed one is one of B + 1 that are exchangeable under the null.
/// Statistics that differ by rounding count as equal, which can only make p larger.
///
/// # Source
/// B. Phipson & G. K. Smyth, Permutation p-values should never be zero, Stat. Appl. Genet. Mol. Biol. 9 (2010).
pub(super) fn rank_p(observed: f64, replicates: &[f64], rounding: f64) -> f64 {
    let above = replicates.iter().filter(|r| **r >= observed - rounding).count();
    (1 + above) as f64 / (1 + replicates.len()) as f64
}

/// The value that replicates exceed with probability `level`; infinite where they are too few to tell.
pub(super) fn critical(replicates: &[f64], level: f64) -> f64 {
    let mut sorted = replicates.to_vec();
    sorted.sort_by(f64::total_cmp);
    // a p-value above (1 + k)/(1 + B) for k replicates above
    let above = (level * (1 + sorted.len()) as f64).floor() as usize;
    if above == 0 { f64::INFINITY } else { sorted[sorted.len() - above] }
}

/// Writes a random subset of `size` among n, as ones in `mark`, with an order that is kept between calls.
pub(super) fn subset(random: &mut Random, order: &mut [u32], size: usize, mark: &mut dyn FnMut(usize)) {
    for k in 0..size {
        order.swap(k, k + random.below(order.len() - k));
        mark(order[k] as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn a_p_value_is_never_zero_and_one_of_all() {
        assert_eq!(rank_p(5.0, &[1.0, 2.0, 3.0], 0.0), 0.25);
        assert_eq!(rank_p(2.0, &[1.0, 2.0, 3.0], 0.0), 0.75);
        assert_eq!(rank_p(2.0 + 1e-15, &[1.0, 2.0, 3.0], 1e-12), 0.75);
        assert_eq!(rank_p(0.0, &[], 0.0), 1.0);
    }

    #[test]
    fn the_critical_value_is_where_p_reaches_the_level() {
        let replicates: Vec<f64> = (1..=99).map(f64::from).collect();
        let edge = critical(&replicates, 0.05);
        assert!(rank_p(edge + 0.5, &replicates, 0.0) <= 0.05 && rank_p(edge, &replicates, 0.0) > 0.05, "{edge}");
        assert_eq!(critical(&replicates[..9], 0.05), f64::INFINITY);
    }

    #[test]
    fn every_subset_comes_equally_often() {
        let (mut random, mut order) = (Seed(4).stream("subset"), [0, 1, 2, 3, 4]);
        let mut counts = [0_u32; 32];
        for _ in 0..20_000 {
            let mut bits = 0;
            subset(&mut random, &mut order, 2, &mut |i| bits |= 1 << i);
            counts[bits] += 1;
        }
        let seen: Vec<u32> = counts.into_iter().filter(|c| *c > 0).collect();
        // ten subsets, 2000 each, with a deviation of 42
        assert!(seen.len() == 10 && seen.iter().all(|c| c.abs_diff(2000) < 230), "{seen:?}");
    }
}
