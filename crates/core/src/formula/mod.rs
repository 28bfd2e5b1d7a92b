//! Formulas: kernels put together at run time.
//!
//! `rbf(gamma=0.5)@pixels * spectrum(length=3)@title + 0.1*linear@pixels` can be written as text or in Rust
//! (`rbf(0.5).on("pixels") * spectrum(3).on("title") + 0.1 * linear().on("pixels")`); both give the same value, and the
//! canonical print reads back as the same formula. Matrices are combined, never functions, so a formula may mix views of
//! any kind.

mod bind;
mod build;
mod definite;
mod derivatives;
mod dimension;
mod functions;
mod input_gradient;
mod known;
mod nystrom;
mod parameters;
mod parse;
mod pool;
mod prepare;
mod print;
mod radius;
mod sets;
mod shares;
mod similarity;
mod state;

pub use crate::kernels::Learned;
/// A formula that cannot be read.
pub use crate::params::ExpressionError as FormulaError;
pub(crate) use bind::look;
pub use build::*;
pub use functions::{FUNCTIONS, FunctionEntry, function};
pub use nystrom::{Landmarking, Landmarks, Nystrom};
pub use prepare::PreparedSide;
pub use sets::Members;
pub use state::{State, StateKind};

use crate::gram::views::Centring;
use crate::kernels::Leaf;
use crate::params::Auto;
use std::sync::Arc;

/// A kernel formula.
#[derive(Clone)]
pub struct Formula(pub(crate) Node);

/// A node of the tree. The constructors of [`Formula`] keep it in canonical form: sums and products are flat, numbers
/// stand once in front of a product and once at the end of a sum.
#[derive(Clone)]
pub(crate) enum Node {
    /// A kernel on a view.
    Kernel(Bound),
    /// The same value everywhere.
    Constant(f64),
    /// Σ.
    Sum(Vec<Node>),
    /// Π.
    Product(Vec<Node>),
    /// c κ.
    Scaled(f64, Box<Node>),
    /// κⁿ.
    Power(Box<Node>, u32),
    /// Σ a_k κᵏ, from a_0 on.
    Series(Box<Node>, Vec<f64>),
    /// exp κ.
    Exp(Box<Node>),
    /// κ(x, z)/√(κ(x, x)κ(z, z)).
    Normalise(Box<Node>),
    /// κ between examples seen from the centre of the training examples.
    Centre(Box<Node>, Option<Arc<Centring>>),
    /// exp(−γ‖φ(x) − φ(z)‖²).
    Radial(Box<Node>, Auto),
    /// Σ κ(a, b) over the members of two sets.
    Set(Box<Node>, Members),
    /// κ between projections on the span of landmarks.
    Nystrom(Box<Node>, Nystrom, Option<Arc<Landmarks>>),
}

/// A kernel and the view it looks at; without a name, the only view that fits.
pub(crate) struct Bound {
    pub(crate) kernel: Box<dyn Leaf>,
    pub(crate) view: Option<String>,
}

impl Clone for Bound {
    fn clone(&self) -> Self {
        Self { kernel: self.kernel.boxed(), view: self.view.clone() }
    }
}

impl Node {
    /// The nodes directly below.
    pub(crate) fn children(&self) -> &[Node] {
        match self {
            Self::Kernel(_) | Self::Constant(_) => &[],
            Self::Sum(all) | Self::Product(all) => all,
            Self::Scaled(_, one)
            | Self::Power(one, _)
            | Self::Series(one, _)
            | Self::Exp(one)
            | Self::Normalise(one)
            | Self::Centre(one, _)
            | Self::Radial(one, _)
            | Self::Set(one, _)
            | Self::Nystrom(one, ..) => std::slice::from_ref(one),
        }
    }

    /// The nodes directly below, to be changed.
    pub(crate) fn children_mut(&mut self) -> &mut [Node] {
        match self {
            Self::Kernel(_) | Self::Constant(_) => &mut [],
            Self::Sum(all) | Self::Product(all) => all,
            Self::Scaled(_, one)
            | Self::Power(one, _)
            | Self::Series(one, _)
            | Self::Exp(one)
            | Self::Normalise(one)
            | Self::Centre(one, _)
            | Self::Radial(one, _)
            | Self::Set(one, _)
            | Self::Nystrom(one, ..) => std::slice::from_mut(one),
        }
    }
}

impl std::fmt::Debug for Formula {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Formula({self})")
    }
}

impl PartialEq for Formula {
    /// Equal print, equal formula: the canonical print is complete.
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl std::str::FromStr for Formula {
    type Err = FormulaError;

    fn from_str(text: &str) -> Result<Self, FormulaError> {
        parse::parse(text)
    }
}
