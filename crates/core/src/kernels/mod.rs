//! Kernels: symmetric functions of two examples.
//!
//! [`Kernel::eval`] is the definition; [`Kernel::gram`] is the fast way to the same numbers. Vector kernels come in
//! three families that own all loops: [`radial`] (a profile of the squared distance), [`inner`] (a profile of the inner
//! product) and [`coordinatewise`] (a sum over coordinates). A new kernel of a family is a profile, one line of
//! mathematics, in one file. Strings have [`text`]; a kernel on any other kind of data is a function of two examples ([`ItemKernel`]).

pub mod coordinatewise;
mod derivatives;
mod diffusion;
mod error;
mod expression;
mod facts;
mod image_blocks;
pub mod inner;
mod items;
mod learned;
mod missing_gaussian;
mod noise;
#[cfg(test)]
mod overlap;
mod pairwise;
mod precomputed;
mod prepared;
pub mod radial;
mod rank_one;
mod resolve;
pub mod text;
mod vectors;

pub use derivatives::{Derivatives, Sides, derivative_gram};
pub use diffusion::Diffusion;
pub use error::KernelError;
pub use expression::{Expression, Inexpressible};
pub use facts::KernelFacts;
pub use image_blocks::ImageBlocks;
pub use items::{ItemKernel, OnItems};
pub use learned::Learned;
pub use missing_gaussian::{Gaps, MissingGaussian};
pub use noise::Noise;
pub use pairwise::Pairwise;
pub use precomputed::Precomputed;
pub use prepared::Prepared;
pub use rank_one::{Feature, RankOne};
pub use resolve::resolve;
pub(crate) use resolve::{SAMPLE, resolve_part, samples};
pub(crate) use vectors::complete;

use crate::data::{Examples, Kind, Values, Vectors};
use crate::gram::{Gram, Side};
use crate::params::{Params, Settings};
use crate::sources::Source;
use std::sync::Arc;

/// A symmetric function of two examples.
///
/// Any type can be compared: implement `eval`, and `gram` gives the matrix.
///
/// ```
/// use mercer::gram::{Gram, fill};
/// use mercer::kernels::Kernel;
/// use std::sync::Arc;
///
/// /// How many letters two words share at the same place.
/// struct SameLetters;
/// impl Kernel<str> for SameLetters {
///     fn eval(&self, x: &str, y: &str) -> f64 {
///         x.chars().zip(y.chars()).filter(|(a, b)| a == b).count() as f64
///     }
/// }
///
/// let words = Arc::new(vec!["cat".to_string(), "car".to_string()]);
/// let gram = Arc::new(SameLetters).gram(words.clone(), words);
/// let mut k = vec![0.0; 4];
/// fill(gram.as_ref(), &mut k);
/// assert_eq!(k, [3.0, 2.0, 2.0, 3.0]);
/// ```
pub trait Kernel<X: ?Sized + 'static>: Send + Sync {
    /// κ(x, y).
    fn eval(&self, x: &X, y: &X) -> f64;

    /// The matrix of κ between two collections, not yet computed. Work that depends on one example alone is done
    /// here, once. The matrix owns what it needs.
    fn gram(self: Arc<Self>, rows: Arc<dyn Examples<X>>, cols: Arc<dyn Examples<X>>) -> Arc<dyn Gram>
    where
        Self: Sized + 'static,
    {
        Arc::new(Pairwise::new(self, rows, cols))
    }
}

/// The signs of the eigenvalues of a kernel's matrices, as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definite {
    /// None is negative.
    Positive,
    /// None is negative once the matrix is centred: fit for machines that do not see the origin.
    Conditionally,
    /// Negative ones occur.
    Indefinite,
}

/// Domains of kernels on vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// All.
    Any,
    /// Vectors without negative coordinates.
    NonNegative,
    /// All, also with missing entries (NaN), which every other kernel refuses.
    Incomplete,
}

/// A kernel with its parameters, ready to meet data: a leaf of a formula.
pub trait Leaf: Params + Settings + Send + Sync {
    /// The catalogue's entry.
    fn entry(&self) -> &'static KernelEntry;
    /// A copy.
    fn boxed(&self) -> Box<dyn Leaf>;
    /// κ of the i-th example of one view and the j-th of another; the definition, for tests and single predictions.
    fn eval(&self, rows: &Values, i: usize, cols: &Values, j: usize) -> f64;

    /// A view prepared for this kernel: packed, counted, numbered. New examples are prepared like the training examples
    /// that they are to be compared with.
    ///
    /// # Errors
    /// If the view does not fit the kernel, or the training examples.
    fn prepare(&self, values: &Values, like: Option<&Arc<dyn Prepared>>) -> Result<Arc<dyn Prepared>, KernelError>;

    /// The lazy matrix between two prepared views. The same one twice are the same examples in the same order.
    ///
    /// # Errors
    /// If they were not prepared for each other.
    fn gram_between(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError>;

    /// κ(x, x) of every example of a prepared view; `None` where that is not known (a precomputed cross matrix).
    ///
    /// # Errors
    /// If the view was prepared for another kernel.
    fn self_similarities(&self, side: &Arc<dyn Prepared>) -> Result<Option<Vec<f64>>, KernelError> {
        Ok(self.gram_between(side, side)?.self_similarities(Side::Rows))
    }

    /// The lazy matrix between two views; `same` says that they are the same examples in the same order. Whoever asks more
    /// than once prepares the views.
    ///
    /// # Errors
    /// If the views do not fit the kernel, or each other.
    fn gram(&self, rows: &Values, cols: &Values, same: bool) -> Result<Arc<dyn Gram>, KernelError> {
        let right = self.prepare(cols, None)?;
        let left = if same { Arc::clone(&right) } else { self.prepare(rows, Some(&right))? };
        self.gram_between(&left, &right)
    }

    /// Facts that follow from the parameters alone.
    fn facts(&self) -> KernelFacts {
        KernelFacts::default()
    }

    /// An upper bound on the dimension of the feature space of vectors of that width, where it is known and finite.
    fn dimension(&self, width: usize) -> Option<f64> {
        let _ = width;
        None
    }

    /// κ in elementary operations, for file formats that have no kernels by name.
    fn expression(&self) -> Result<Expression, Inexpressible> {
        Err(Inexpressible::Unknown)
    }

    /// The parameters that are declared as numbers but are no variables (whole numbers, tied entries of a matrix, what is chosen once):
    /// they are not among the real parameters, by which a kernel is differentiated.
    fn fixed(&self) -> &'static [&'static str] {
        &[]
    }

    /// Its matrix between two sides as a function of its real parameters; `None` if it does not know its derivatives. One that
    /// has real parameters and gives `None` is refused where derivatives are asked for.
    ///
    /// # Errors
    /// As [`Leaf::gram`].
    fn derivatives(&self, sides: &Sides) -> Result<Option<Arc<dyn Derivatives>>, KernelError> {
        let _ = sides;
        Ok(None)
    }

    /// Adds Σ_i α_i ∂κ(x_i, z)/∂z, where z is a dense vector; `false` if the kernel has no such derivative. Where κ has a kink, the
    /// derivative there is taken to be zero.
    fn input_gradient(&self, alpha: &[f64], points: &Values, z: &[f64], out: &mut [f64]) -> bool {
        let _ = (alpha, points, z, out);
        false
    }

    /// Explicit features φ with κ(x, y) = ⟨φ(x), φ(y)⟩, where the kernel has such; the same for training and new examples.
    fn features(&self, values: &Values) -> Option<Vectors> {
        let _ = values;
        None
    }

    /// Takes from the training examples what is more than a number (see [`resolve`]): lists of numbers among its parameters,
    /// or what is kept beside them ([`Learned`]). Most kernels take nothing.
    fn learn(&mut self, values: &Values) {
        let _ = values;
    }

    /// Refuses examples that it cannot learn from, prepare or compare within the memory budget. Asked before any of these.
    ///
    /// # Errors
    /// If what grows with its parameters does not fit.
    fn fits(&self, values: &Values) -> Result<(), KernelError> {
        let _ = values;
        Ok(())
    }

    /// True if it has to learn before it can compare.
    fn needs_learning(&self) -> bool {
        false
    }

    /// Its learned state, where it needs one.
    fn learned(&self) -> Option<Learned> {
        None
    }

    /// Takes back what was learned; `false` if that is nothing it could have learned.
    fn set_learned(&mut self, learned: Learned) -> bool {
        let _ = learned;
        false
    }

    /// The share of every position of the i-th new example in κ with the j-th training example, where examples have
    /// positions and the kernel knows their shares. They add up to κ.
    fn shares(&self, new: &Values, i: usize, training: &Values, j: usize) -> Option<Vec<f64>> {
        let _ = (new, i, training, j);
        None
    }

    /// The share of every position of the i-th example in ⟨w, φ(x)⟩, for weights w of the explicit features.
    fn shares_of_weights(&self, values: &Values, i: usize, weight: &dyn Fn(u32) -> f64) -> Option<Vec<f64>> {
        let _ = (values, i, weight);
        None
    }
}

/// A line of the catalogue of kernels.
pub struct KernelEntry {
    /// The name in formulas.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// κ(x, y) = …
    pub formula: &'static str,
    /// The definiteness of its matrices.
    pub definite: Definite,
    /// The vectors that it is defined on.
    pub domain: Domain,
    /// The kind of examples that it compares.
    pub kind: Kind,
    /// The work it is taken from.
    pub source: Source,
    /// One sentence on when to use it.
    pub use_when: &'static str,
    /// Time and memory of its values.
    pub cost: &'static str,
    /// The kernel with default parameters.
    pub make: fn() -> Box<dyn Leaf>,
}

/// All kernels, family by family.
pub fn all() -> impl Iterator<Item = &'static KernelEntry> {
    [radial::ENTRIES, inner::ENTRIES, coordinatewise::ENTRIES, text::ENTRIES, ENTRIES].into_iter().flatten().copied()
}

/// The kernels that belong to no family.
static ENTRIES: &[&KernelEntry] = &[
    &diffusion::ENTRY,
    &missing_gaussian::ENTRY,
    &image_blocks::ENTRY,
    &rank_one::ENTRY,
    &noise::ENTRY,
    &precomputed::ENTRY,
    #[cfg(test)]
    &overlap::KERNEL,
];

/// The entry of a name or alias.
pub fn find(name: &str) -> Option<&'static KernelEntry> {
    all().find(|e| e.name == name || e.aliases.contains(&name))
}
