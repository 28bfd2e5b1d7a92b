//! An upper bound on the dimension of a formula's feature space.

use super::{Formula, Node};
use crate::data::{Dataset, Kind};
use crate::kernels::inner::count_monomials;

impl Formula {
    /// An upper bound on the dimension of the feature space, where it is finite and follows from the formula and the width of the
    /// examples alone; `None` otherwise.
    ///
    /// The linear kernel has the examples' coordinates, polynomials of degree p over d of them C(d + p − 1, p), or C(d + p, p)
    /// with a constant; sums add and products multiply.
    pub fn dimension(&self, data: &Dataset) -> Option<f64> {
        of(&self.0, data)
    }
}

fn of(node: &Node, data: &Dataset) -> Option<f64> {
    match node {
        Node::Kernel(bound) => {
            let view = match &bound.view {
                Some(name) => data.view(name)?,
                None => &data.views().iter().find(|v| v.values.kind() == Kind::Vectors)?.values,
            };
            bound.kernel.dimension(view.width()?)
        }
        Node::Constant(_) => Some(1.0),
        Node::Sum(terms) => terms.iter().map(|t| of(t, data)).sum(),
        Node::Product(factors) => factors.iter().map(|f| of(f, data)).product(),
        Node::Scaled(_, inner) | Node::Normalise(inner) => of(inner, data),
        Node::Power(inner, n) => of(inner, data).map(|d| count_monomials(d, f64::from(*n))),
        // one for each landmark at most
        Node::Nystrom(_, how, _) => Some(how.points as f64),
        Node::Series(..) | Node::Exp(_) | Node::Centre(..) | Node::Radial(..) | Node::Set(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    #[test]
    fn it_is_the_rank_of_enough_random_examples() {
        let mut random = crate::seed::Seed(5).stream("dimension");
        let x: Vec<f64> = (0..60 * 3).map(|_| random.normal()).collect();
        let data = Dataset::new(Rows::new(x, 60, 3).unwrap());
        for (text, wanted) in [
            ("linear", 3.0),
            ("linear + 1", 4.0),
            ("polynomial(degree=2, offset=0)", 6.0),
            ("polynomial(degree=3, offset=1)", 20.0),
            ("linear * linear", 9.0),
            ("normalise(linear)^2", 6.0),
        ] {
            let formula: Formula = text.parse().unwrap();
            assert_eq!(formula.dimension(&data), Some(wanted), "{text}");
            let gram = formula.gram(&data).unwrap();
            let found = crate::geometry::spectrum(gram.as_ref(), 60, crate::gram::Budget::default()).unwrap().rank();
            assert!(found as f64 <= wanted, "{text}: {found}");
            assert!(text.contains('*') || found as f64 == wanted, "{text}: {found}");
        }
        assert_eq!("rbf(gamma=1)".parse::<Formula>().unwrap().dimension(&data), None);
        assert_eq!("linear + rbf(gamma=1)".parse::<Formula>().unwrap().dimension(&data), None);
    }
}
