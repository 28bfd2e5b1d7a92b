//! Pools of samples: what a kernel learns from one must not know the places at which the examples stand, or a test that permutes
//! them between the samples is no longer exact.
//!
//! Widths from all examples, centres and metrics are the same for every order. Landmarks are not: they are drawn by place, and greedy
//! ones start at the first of equally good examples; nor are widths that a sample of the examples gives. These are therefore learned
//! from the examples in an order that depends on what they are alone. The matrix is then a function of the set of examples, and given
//! that set every division into samples is equally likely if nothing differs.

use super::nystrom::seen;
use super::state::waiting;
use super::{Formula, Node};
use crate::data::Dataset;
use crate::error::Error;
use crate::gram::Gram;
use crate::kernels::{SAMPLE, samples};
use crate::params::Auto;
use crate::seed::Seed;
use std::sync::Arc;

impl Formula {
    /// The kernel resolved on a pool of examples, with their matrix: exchanging two examples exchanges their rows and columns, and
    /// changes nothing else.
    ///
    /// # Errors
    /// As [`Formula::resolve`].
    pub fn of_pool(&self, pool: &Dataset, seed: Seed) -> Result<(Self, Arc<dyn Gram>), Error> {
        if !learns_by_place(&self.0, Some(pool.len())) {
            let kernel = self.resolve(pool, seed)?;
            let gram = kernel.training_gram(pool)?;
            return Ok((kernel, gram));
        }
        let keys = seen(&self.0, pool)?.example_fingerprints();
        // equal examples stand side by side, and either may be taken for the other
        let mut order: Vec<usize> = (0..pool.len()).collect();
        order.sort_by_key(|&i| keys[i]);
        let mut place = vec![0; pool.len()];
        order.iter().enumerate().for_each(|(at, &i)| place[i] = at);
        let sorted = pool.select(&order);
        let kernel = self.resolve(&sorted, seed)?;
        let gram = kernel.training_gram(&sorted)?.restrict(&place, &place);
        Ok((kernel, gram))
    }
}

/// True if some part learns by the places of so many examples; of the members of sets the number is not known.
fn learns_by_place(node: &Node, examples: Option<usize>) -> bool {
    let here = match node {
        Node::Kernel(bound) => waiting(bound).iter().any(|word| samples(word, examples)),
        Node::Radial(_, Auto::Word(_)) => examples.is_none_or(|n| n > SAMPLE),
        Node::Nystrom(..) => true,
        _ => false,
    };
    let below = if matches!(node, Node::Set(..)) { None } else { examples };
    here || node.children().iter().any(|child| learns_by_place(child, below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use crate::gram::fill;

    fn pool(n: usize) -> Dataset {
        let mut random = Seed(6).stream("pool");
        Dataset::new(Rows::new((0..2 * n).map(|_| random.normal()).collect(), n, 2).unwrap())
    }

    fn values(gram: &Arc<dyn Gram>) -> Vec<f64> {
        let mut values = vec![0.0; gram.shape().0 * gram.shape().1];
        fill(gram.as_ref(), &mut values);
        values
    }

    /// The largest change of a value where the examples stand in another order.
    fn moved(formula: &str, n: usize, of: impl Fn(&Formula, &Dataset) -> Arc<dyn Gram>) -> f64 {
        let (formula, data) = (formula.parse::<Formula>().unwrap(), pool(n));
        let order = Seed(1).stream("order").permutation(n);
        let (plain, other) = (values(&of(&formula, &data)), values(&of(&formula, &data.select(&order))));
        let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        pairs.map(|(i, j)| (other[i * n + j] - plain[order[i] * n + order[j]]).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn the_matrix_of_a_pool_does_not_depend_on_the_order_of_its_examples() {
        for (formula, n) in [
            ("nystrom(rbf(gamma=0.5), points=5)", 60),
            ("nystrom(rbf(gamma=0.5), points=5, choose=greedy)", 60),
            ("nystrom(rbf(gamma=0.5), points=5, choose=k_means)", 60),
            ("centre(nystrom(rbf(gamma=median), points=5)) + linear", 60),
            ("rbf(gamma=median)", 1100),
            ("rbf(linear, gamma=scale)", 1100),
        ] {
            let by_place = moved(formula, n, |f, data| f.resolve(data, Seed(0)).unwrap().training_gram(data).unwrap());
            assert!(by_place > 1e-6, "{formula}: {by_place}");
            let of_pool = moved(formula, n, |f, data| f.of_pool(data, Seed(0)).unwrap().1);
            assert!(of_pool < 1e-9, "{formula}: {of_pool}");
        }
    }

    #[test]
    fn what_no_order_changes_has_the_bits_that_it_has_alone() {
        for formula in ["rbf(gamma=median)", "centre(rbf(gamma=scale))", "rbf(linear, gamma=scale)", "mahalanobis"] {
            let (formula, data) = (formula.parse::<Formula>().unwrap(), pool(40));
            let alone = formula.resolve(&data, Seed(0)).unwrap();
            let (kernel, gram) = formula.of_pool(&data, Seed(0)).unwrap();
            assert_eq!(kernel, alone);
            assert_eq!(values(&gram), values(&alone.training_gram(&data).unwrap()));
        }
    }
}
