//! The real parameters of a formula as a vector θ, and the same formula at another θ.
//!
//! A coordinate of θ is a number that a kernel declares as real (`gamma`, `lengths[2]`), but for those it calls fixed; the factor
//! in front of a kernel (`scale.factor`); the width γ of a Gaussian on top of a kernel (`rbf.gamma`); the coefficients of a series
//! that are not zero (`series.coefficients[1]` is a_0); and a number that is added (`constant.value`). Whole numbers, words and
//! switches are settings, and no coordinates of θ. The order is that of the tree: a node before those below it, from left to right.
//!
//! A factor that is 1 is not written in a formula and is no coordinate. Numbers inside `nystrom(…)` are no coordinates either: the map
//! from landmarks to features was learned for them as they are.

use super::{Formula, Node};
use crate::data::DataError;
use crate::error::Error;
use crate::params::{Auto, Parameter, Rule, put, visit_reals};

/// Someone who is shown every real number of a formula: the number of its owner, its name, its place and its rule.
type See<'a> = &'a mut dyn FnMut(usize, String, &mut f64, Rule);

/// Shows every real number below a node; owners are counted in the order of the tree.
fn visit(node: &mut Node, owners: &mut Vec<&'static str>, see: See<'_>) {
    let owner = owners.len();
    match node {
        Node::Kernel(bound) => {
            owners.push(bound.kernel.entry().name);
            let fixed = bound.kernel.fixed();
            visit_reals(bound.kernel.as_mut(), fixed, &mut |name, value, rule| see(owner, name, value, rule));
        }
        Node::Constant(value) => {
            owners.push("constant");
            let rule = if *value >= 0.0 { Rule::AtLeast(0.0) } else { Rule::Any };
            see(owner, "value".to_owned(), value, rule);
        }
        Node::Scaled(factor, _) => {
            owners.push("scale");
            let rule = of_sign(*factor);
            see(owner, "factor".to_owned(), factor, rule);
        }
        Node::Series(_, coefficients) => {
            owners.push("series");
            for (k, a) in coefficients.iter_mut().enumerate().filter(|(_, a)| **a != 0.0) {
                let rule = of_sign(*a);
                see(owner, format!("coefficients[{}]", k + 1), a, rule);
            }
        }
        Node::Radial(_, gamma) => {
            owners.push("rbf");
            let mut number = gamma.value();
            see(owner, "gamma".to_owned(), &mut number, Rule::Above(0.0));
            // a word stays a word until a number takes its place
            if !number.is_nan() {
                *gamma = Auto::Value(number);
            }
        }
        Node::Sum(_)
        | Node::Product(_)
        | Node::Power(..)
        | Node::Exp(_)
        | Node::Normalise(_)
        | Node::Centre(..)
        | Node::Set(..) => {}
        // the map of landmarks belongs to one kernel
        Node::Nystrom(..) => return,
    }
    for child in node.children_mut() {
        visit(child, owners, see);
    }
}

/// A positive number stays positive: with another sign, sums and multiples of kernels need not be kernels.
fn of_sign(value: f64) -> Rule {
    if value > 0.0 { Rule::Above(0.0) } else { Rule::Any }
}

/// The number of real parameters of a node itself, without those below it.
pub(super) fn own_parameters(node: &Node) -> Vec<String> {
    let mut names = Vec::new();
    let mut alone = node.clone();
    visit(&mut alone, &mut Vec::new(), &mut |owner, name, _, _| {
        if owner == 0 {
            names.push(name);
        }
    });
    // nodes without parameters are no owners, so that the first owner may be below
    match node {
        Node::Kernel(_) | Node::Constant(_) | Node::Scaled(..) | Node::Series(..) | Node::Radial(..) => names,
        _ => Vec::new(),
    }
}

impl Formula {
    /// Its real parameters θ, in the order of the tree. A parameter that is still a word (`gamma=scale`) has no number yet: resolve
    /// the formula first.
    ///
    /// ```
    /// use mercer::formula::{Formula, noise, rbf};
    /// let kernel = 2.0 * rbf(0.5) + noise(0.1);
    /// let shown: Vec<String> = kernel.parameters().iter().map(|p| format!("{p} = {}", p.value)).collect();
    /// assert_eq!(shown, ["scale.factor = 2", "rbf.gamma = 0.5", "noise.variance = 0.1"]);
    /// let other = kernel.at(&[3.0, 0.25, 0.2])?;
    /// assert_eq!(other.to_string(), "3*rbf(gamma=0.25) + noise(variance=0.2)");
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn parameters(&self) -> Vec<Parameter> {
        let (mut owners, mut found) = (Vec::new(), Vec::new());
        visit(&mut self.0.clone(), &mut owners, &mut |owner, name, value, rule| {
            found.push((owner, name, *value, rule));
        });
        let named = |owner: usize| {
            let alike = |range: &[&str]| range.iter().filter(|name| **name == owners[owner]).count();
            if alike(&owners) > 1 {
                format!("{}[{}]", owners[owner], alike(&owners[..=owner]))
            } else {
                owners[owner].to_owned()
            }
        };
        let parameter = |(owner, name, value, rule)| Parameter { owner: named(owner), name, value, rule };
        found.into_iter().map(parameter).collect()
    }

    /// The same formula at another θ: only numbers change. Centres that were learned belong to the numbers before, and are
    /// forgotten; resolve the formula again, or let a [`Similarity`](crate::gram::Similarity) do both.
    ///
    /// # Errors
    /// If there are more or fewer numbers than parameters, or a rule forbids one.
    pub fn at(&self, theta: &[f64]) -> Result<Self, Error> {
        fn forget(node: &mut Node) {
            if let Node::Centre(_, place) = node {
                *place = None;
            }
            node.children_mut().iter_mut().for_each(forget);
        }
        let mut other = self.with_numbers(theta)?;
        forget(&mut other.0);
        Ok(other)
    }

    /// The same formula with other numbers and the centres of the old ones.
    pub(super) fn with_numbers(&self, theta: &[f64]) -> Result<Self, Error> {
        let parameters = self.parameters();
        if parameters.len() != theta.len() {
            let finding =
                format!("{self} has {} real parameters, but {} numbers were given", parameters.len(), theta.len());
            return Err(DataError::Usage { finding }.into());
        }
        let mut other = self.clone();
        let mut rest = parameters.iter().zip(theta);
        let mut wrong = Ok(());
        visit(&mut other.0, &mut Vec::new(), &mut |_, _, place, _| {
            if let (Ok(()), Some((parameter, &value))) = (&wrong, rest.next()) {
                wrong = put(parameter, place, value);
            }
        });
        wrong?;
        Ok(other)
    }
}
