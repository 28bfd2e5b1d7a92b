//! Formulas in Rust: constructors and operators, in canonical form.

use super::{Bound, Formula, Landmarks, Node};
use crate::data::Kind;
use crate::kernels::coordinatewise::{ChiSquared, Coordinatewise, Laplacian};
use crate::kernels::inner::{Inner, Linear, Polynomial, Sigmoid};
use crate::kernels::radial::{Ard, Distance, Gaussian, Matern, Radial};
use crate::kernels::text::{Spectrum, Subsequence, Text};
use crate::kernels::{Domain, Leaf, Noise, Precomputed};
use crate::params::{self, Auto, ParamError, Setting, describe};
use std::ops::{Add, Mul};
use std::sync::Arc;

/// exp(−γ‖x − y‖²).
pub fn rbf(gamma: f64) -> Formula {
    Formula::leaf(Radial(Gaussian::new(gamma)))
}

/// The Gaussian kernel whose width the data give: γ = 1/(d · variance).
pub fn rbf_scaled() -> Formula {
    Formula::leaf(Radial(Gaussian::default()))
}

/// exp(−½ Σ d_i²/l_i²).
pub fn ard(lengths: &[f64]) -> Formula {
    Formula::leaf(Radial(Ard { lengths: lengths.to_vec() }))
}

/// The Matérn kernel of smoothness ν and length scale ℓ.
pub fn matern(nu: f64, length: f64) -> Formula {
    Formula::leaf(Radial(Matern { nu, length }))
}

/// −‖x − y‖^β.
pub fn distance(beta: f64) -> Formula {
    Formula::leaf(Radial(Distance { beta }))
}

/// ⟨x, y⟩.
pub fn linear() -> Formula {
    Formula::leaf(Inner(Linear))
}

/// (⟨x, y⟩ + c)^p.
pub fn polynomial(degree: usize, offset: f64) -> Formula {
    Formula::leaf(Inner(Polynomial { degree, offset, gamma: Auto::Value(1.0) }))
}

/// tanh(γ⟨x, y⟩ + c).
pub fn sigmoid(gamma: f64, offset: f64) -> Formula {
    Formula::leaf(Inner(Sigmoid { gamma: Auto::Value(gamma), offset }))
}

/// exp(−γ Σ|x_j − y_j|).
pub fn laplacian(gamma: f64) -> Formula {
    Formula::leaf(Coordinatewise(Laplacian { gamma: Auto::Value(gamma) }))
}

/// Σ 2 x_j y_j/(x_j + y_j).
pub fn chi2() -> Formula {
    Formula::leaf(Coordinatewise(ChiSquared))
}

/// The p-spectrum kernel on strings.
pub fn spectrum(length: usize) -> Formula {
    Formula::leaf(Text(Spectrum { length }))
}

/// The gap-weighted subsequence kernel on strings.
pub fn subsequence(length: usize, decay: f64) -> Formula {
    Formula::leaf(Text(Subsequence { length, decay }))
}

/// A value where row and column are the same example.
pub fn noise(variance: f64) -> Formula {
    Formula::leaf(Noise { variance })
}

/// A matrix that was computed elsewhere.
pub fn precomputed() -> Formula {
    Formula::leaf(Precomputed)
}

impl Formula {
    /// A kernel with its parameters; any kernel of the catalogue, or one's own [`Leaf`].
    pub fn leaf(kernel: impl Leaf + 'static) -> Self {
        Self(Node::Kernel(Bound { kernel: Box::new(kernel), view: None }))
    }

    /// The same value everywhere.
    pub fn constant(value: f64) -> Self {
        Self(Node::Constant(value))
    }

    /// Looks at the view of that name wherever none is named yet.
    #[must_use]
    pub fn on(mut self, view: &str) -> Self {
        fn set(node: &mut Node, view: &str) {
            match node {
                Node::Kernel(bound) if bound.view.is_none() && bound.kernel.facts().looks_at_data => {
                    bound.view = Some(view.to_owned());
                }
                other => other.children_mut().iter_mut().for_each(|child| set(child, view)),
            }
        }
        set(&mut self.0, view);
        self
    }

    /// κⁿ; κ⁰ is 1.
    #[must_use]
    pub fn power(self, n: u32) -> Self {
        match self.0 {
            Node::Constant(c) => Self::constant(c.powi(n as i32)),
            _ if n == 0 => Self::constant(1.0),
            node if n == 1 => Self(node),
            node => Self(Node::Power(Box::new(node), n)),
        }
    }

    /// Σ a_k κᵏ with the coefficients a_0, a_1, … of a polynomial; a kernel where none is negative.
    #[must_use]
    pub fn series(self, coefficients: &[f64]) -> Self {
        let kept = coefficients.iter().rposition(|a| *a != 0.0).map_or(0, |last| last + 1);
        match (&coefficients[..kept], self.0) {
            ([], _) => Self::constant(0.0),
            ([shift], _) => Self::constant(*shift),
            // Horner's rule, as entries are made
            (all, Node::Constant(c)) => Self::constant(all.iter().rev().fold(0.0, |sum, a| sum * c + a)),
            ([zero, factor], node) if *zero == 0.0 => Self(node).scale(*factor),
            (all, node) => Self(Node::Series(Box::new(node), all.to_vec())),
        }
    }

    /// κ₁(x₁, z₁) + κ₂(x₂, z₂) on pairs of views: the kernel of the features of both, one after the other.
    #[must_use]
    pub fn direct_sum(self, other: Self) -> Self {
        self + other
    }

    /// κ₁(x₁, z₁) κ₂(x₂, z₂) on pairs of views: the kernel of all products of a feature of one and a feature of the other.
    #[must_use]
    pub fn tensor_product(self, other: Self) -> Self {
        self * other
    }

    /// exp κ.
    #[must_use]
    pub fn exp(self) -> Self {
        Self(Node::Exp(Box::new(self.0)))
    }

    /// κ(x, z)/√(κ(x, x)κ(z, z)).
    #[must_use]
    pub fn normalise(self) -> Self {
        Self(Node::Normalise(Box::new(self.0)))
    }

    /// κ seen from the centre of the training examples.
    #[must_use]
    pub fn centre(self) -> Self {
        Self(Node::Centre(Box::new(self.0), None))
    }

    /// exp(−γ‖φ(x) − φ(z)‖²): a Gaussian on top of this kernel.
    #[must_use]
    pub fn rbf(self, gamma: impl Into<Auto>) -> Self {
        Self(Node::Radial(Box::new(self.0), gamma.into()))
    }

    fn scale(self, factor: f64) -> Self {
        match self.0 {
            Node::Constant(c) => Self::constant(c * factor),
            Node::Scaled(c, inner) => Self(*inner).scale(c * factor),
            node if factor == 1.0 => Self(node),
            node => Self(Node::Scaled(factor, Box::new(node))),
        }
    }
}

impl Add for Formula {
    type Output = Self;

    /// κ₁ + κ₂; a number at the end.
    fn add(self, other: Self) -> Self {
        let mut terms = Vec::new();
        let mut shift = None;
        for node in [self.0, other.0] {
            match node {
                Node::Sum(all) => terms.extend(all),
                one => terms.push(one),
            }
        }
        terms.retain(|t| match t {
            Node::Constant(c) => {
                shift = Some(shift.unwrap_or(0.0) + c);
                false
            }
            _ => true,
        });
        terms.extend(shift.map(Node::Constant));
        match terms.len() {
            1 => Self(terms.swap_remove(0)),
            _ => Self(Node::Sum(terms)),
        }
    }
}

impl Add<f64> for Formula {
    type Output = Self;

    /// κ + c.
    fn add(self, shift: f64) -> Self {
        self + Self::constant(shift)
    }
}

impl Mul for Formula {
    type Output = Self;

    /// κ₁ κ₂; a number in front.
    fn mul(self, other: Self) -> Self {
        let mut factors = Vec::new();
        let mut scale = 1.0;
        for node in [self.0, other.0] {
            let node = match node {
                Node::Scaled(c, inner) => {
                    scale *= c;
                    *inner
                }
                other => other,
            };
            match node {
                Node::Constant(c) => scale *= c,
                Node::Product(all) => factors.extend(all),
                one => factors.push(one),
            }
        }
        match factors.len() {
            0 => Self::constant(scale),
            1 => Self(factors.swap_remove(0)).scale(scale),
            _ => Self(Node::Product(factors)).scale(scale),
        }
    }
}

impl Mul<Formula> for f64 {
    type Output = Formula;

    /// c κ.
    fn mul(self, formula: Formula) -> Formula {
        formula.scale(self)
    }
}

impl Mul<f64> for Formula {
    type Output = Self;

    /// κ c.
    fn mul(self, factor: f64) -> Self {
        self.scale(factor)
    }
}

impl Formula {
    /// True if every kernel on vectors in it takes missing entries.
    pub fn takes_gaps(&self) -> bool {
        fn takes(node: &Node) -> bool {
            let here = match node {
                // members that are missing are no members
                Node::Set(_, members) if members.columns > 0 => return true,
                Node::Kernel(bound) => {
                    let entry = bound.kernel.entry();
                    entry.domain == Domain::Incomplete
                        || entry.kind != Kind::Vectors
                        || !bound.kernel.facts().looks_at_data
                }
                _ => true,
            };
            here && node.children().iter().all(takes)
        }
        takes(&self.0)
    }

    /// True if some kernel on vectors in it takes missing entries, so that the data may have some.
    pub fn meets_gaps(&self) -> bool {
        fn meets(node: &Node) -> bool {
            let here = match node {
                Node::Kernel(bound) => bound.kernel.entry().domain == Domain::Incomplete,
                Node::Set(_, members) => members.columns > 0,
                _ => false,
            };
            here || node.children().iter().any(meets)
        }
        meets(&self.0)
    }

    /// True if any kernel in it has a parameter of that name.
    pub fn has_parameter(&self, name: &str) -> bool {
        fn has(node: &Node, name: &str) -> bool {
            let here = match node {
                Node::Kernel(bound) => {
                    let mut copy = bound.kernel.boxed();
                    describe(copy.as_mut()).iter().any(|d| d.name == name)
                }
                Node::Radial(..) => name == "gamma",
                Node::Set(_, members) => describe(&mut members.clone()).iter().any(|d| d.name == name),
                Node::Nystrom(_, how, _) => describe(&mut how.clone()).iter().any(|d| d.name == name),
                _ => false,
            };
            here || node.children().iter().any(|child| has(child, name))
        }
        has(&self.0, name)
    }

    /// The values that its kernels declare for searches where no grid is given.
    pub(crate) fn searched(&self) -> Vec<&'static str> {
        fn gather(node: &Node, all: &mut Vec<&'static str>) {
            if let Node::Kernel(bound) = node {
                all.push(bound.kernel.facts().searched);
            }
            node.children().iter().for_each(|child| gather(child, all));
        }
        let mut all = Vec::new();
        gather(&self.0, &mut all);
        all
    }

    /// The parameters that have not their default in some kernel.
    pub(crate) fn changed_parameters(&self) -> Vec<&'static str> {
        fn gather(node: &Node, all: &mut Vec<&'static str>) {
            match node {
                Node::Kernel(bound) => {
                    let usual = (bound.kernel.entry().make)().settings();
                    let changed = bound.kernel.settings().into_iter().filter(|setting| !usual.contains(setting));
                    all.extend(changed.map(|(name, _)| name));
                }
                Node::Radial(..) => all.push("gamma"),
                _ => {}
            }
            node.children().iter().for_each(|child| gather(child, all));
        }
        let mut all = Vec::new();
        gather(&self.0, &mut all);
        all
    }

    /// Sets a parameter in every kernel that has it; whether any has.
    pub fn assign(&mut self, name: &str, value: &Setting) -> Result<bool, ParamError> {
        fn set(node: &mut Node, name: &str, value: &Setting) -> Result<bool, ParamError> {
            let found = match node {
                Node::Kernel(bound) => {
                    let owner = bound.kernel.entry().name;
                    match params::assign(owner, bound.kernel.as_mut(), name, value) {
                        Ok(()) => true,
                        Err(ParamError::Unknown { .. }) => false,
                        Err(other) => return Err(other),
                    }
                }
                Node::Radial(_, gamma) if name == "gamma" => {
                    let mut holder = Radial(Gaussian { gamma: *gamma });
                    params::assign("rbf", &mut holder, name, value)?;
                    if holder.0.gamma == Auto::Word("1/d") {
                        let wanted = "a number, scale or median: a kernel on top of another has no d".to_owned();
                        let (owner, name) = ("rbf".to_owned(), name.to_owned());
                        return Err(ParamError::Kind { owner, name, got: value.to_string(), wanted });
                    }
                    *gamma = holder.0.gamma;
                    true
                }
                Node::Set(_, members) => match params::assign("set", members, name, value) {
                    Ok(()) => true,
                    Err(ParamError::Unknown { .. }) => false,
                    Err(other) => return Err(other),
                },
                Node::Nystrom(_, how, place) => match params::assign("nystrom", how, name, value) {
                    Ok(()) => {
                        // other landmarks, which are chosen when the formula is resolved
                        *place = None;
                        true
                    }
                    Err(ParamError::Unknown { .. }) => false,
                    Err(other) => return Err(other),
                },
                _ => false,
            };
            let mut below = false;
            for child in node.children_mut() {
                below |= set(child, name, value)?;
            }
            if let Node::Nystrom(_, _, Some(landmarks)) = node
                && below
            {
                // what was prepared for the kernel as it was is left behind
                *landmarks = Arc::new(Landmarks::clone(landmarks));
            }
            Ok(found || below)
        }
        set(&mut self.0, name, value)
    }
}
