//! Kernels on strings.
//!
//! Strings are compared as sequences of characters or of words. Each kernel prepares every string once (counts, codes),
//! then fills blocks from the prepared forms. Kernels that count pieces also show these one by one: explicit features for
//! linear machines, and the share of every position of a string in a score.

mod bag_of_words;
mod blended_spectrum;
mod co_occurrence;
mod degree;
mod exact_match;
mod latent_semantic;
mod mismatch;
mod pieces;
mod sequences;
mod side;
mod spectrum;
mod subsequence;
#[cfg(test)]
mod testing;
mod weighted_degree;
mod weighted_degree_shifts;

pub use bag_of_words::{BagOfWords, Stem, StopWords, Weighting};
pub use blended_spectrum::BlendedSpectrum;
pub use co_occurrence::{CoOccurrence, Company};
pub use exact_match::ExactMatch;
pub use latent_semantic::LatentSemantic;
pub use mismatch::{Alphabet, Mismatch};
pub use pieces::Piece;
pub use spectrum::Spectrum;
pub use subsequence::Subsequence;
pub use weighted_degree::WeightedDegree;
pub use weighted_degree_shifts::WeightedDegreeShifts;

use super::prepared::downcast;
use super::{Derivatives, Sides};
use super::{Kernel, KernelEntry, KernelError, KernelFacts, Leaf, Learned, Prepared};
use crate::data::{Examples, Kind, Values, Vectors};
use crate::gram::Gram;
use crate::params::{Params, Visit};
use side::LazySide;
use std::sync::Arc;

/// The kernels of this folder.
pub static ENTRIES: &[&KernelEntry] = &[
    &exact_match::ENTRY,
    &spectrum::ENTRY,
    &blended_spectrum::ENTRY,
    &mismatch::ENTRY,
    &subsequence::ENTRY,
    &weighted_degree::ENTRY,
    &weighted_degree_shifts::ENTRY,
    &bag_of_words::ENTRY,
    &latent_semantic::ENTRY,
    &co_occurrence::ENTRY,
];

/// A kernel on strings that the catalogue lists.
pub trait TextKernel: Kernel<str> + Params + Clone + 'static {
    /// Its entry.
    fn entry() -> &'static KernelEntry;

    /// Strings prepared for the kernel: counted, numbered. New strings are prepared like the training strings.
    ///
    /// # Errors
    /// If the training strings were prepared for another kernel.
    fn prepare(
        &self,
        strings: &Arc<dyn Examples<str>>,
        like: Option<&Arc<dyn Prepared>>,
    ) -> Result<Arc<dyn Prepared>, KernelError>;

    /// The matrix between two prepared collections of strings.
    ///
    /// # Errors
    /// If they were not prepared for each other.
    fn prepared_gram(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError>;

    /// Facts that follow from the parameters alone.
    fn facts(&self) -> KernelFacts {
        KernelFacts::default()
    }

    /// Shows every occurrence of a feature in a string; `false` where the kernel has no explicit features.
    fn pieces(&self, string: &str, emit: &mut dyn FnMut(Piece)) -> bool {
        let _ = (string, emit);
        false
    }

    /// Adds to every position of `x` (in characters) its share of κ(x, y), so that all shares together are κ; `false`
    /// where the kernel knows no positions.
    fn shares(&self, x: &str, y: &str, out: &mut [f64]) -> bool {
        pieces::shares(x, y, &|s, emit| self.pieces(s, emit), out)
    }

    /// The derivatives by its real parameters; see [`Leaf::derivatives`].
    fn derivatives(
        &self,
        rows: &Arc<dyn Examples<str>>,
        cols: &Arc<dyn Examples<str>>,
    ) -> Option<Arc<dyn Derivatives>> {
        let _ = (rows, cols);
        None
    }

    /// Refuses strings that it cannot learn from, prepare or compare within the memory budget.
    ///
    /// # Errors
    /// If what grows with its parameters does not fit.
    fn fits(&self, strings: &dyn Examples<str>) -> Result<(), KernelError> {
        let _ = strings;
        Ok(())
    }

    /// Learns what it needs from the training strings.
    fn learn(&mut self, strings: &dyn Examples<str>) {
        let _ = strings;
    }

    /// True if it has to learn before it can compare.
    fn needs_learning(&self) -> bool {
        false
    }

    /// The numbers and words that it has learned, where it needs to.
    fn learned(&self) -> Option<Learned> {
        None
    }

    /// Takes back what was learned; `false` if that is nothing it could have learned.
    fn set_learned(&mut self, learned: Learned) -> bool {
        let _ = learned;
        false
    }
}

/// The length of the longest string in characters.
fn longest(strings: &dyn Examples<str>) -> usize {
    (0..strings.len()).map(|i| strings.get(i).chars().count()).max().unwrap_or(0)
}

/// A kernel on strings as a leaf of a formula.
#[derive(Clone, Debug)]
pub struct Text<T>(pub T);

impl<T: TextKernel> Params for Text<T> {
    fn visit(&mut self, v: &mut dyn Visit) {
        self.0.visit(v);
    }
}

impl<T: TextKernel> Leaf for Text<T> {
    fn entry(&self) -> &'static KernelEntry {
        T::entry()
    }

    fn facts(&self) -> KernelFacts {
        self.0.facts()
    }

    fn boxed(&self) -> Box<dyn Leaf> {
        Box::new(self.clone())
    }

    fn eval(&self, rows: &Values, i: usize, cols: &Values, j: usize) -> f64 {
        match (rows, cols) {
            (Values::Text(r), Values::Text(c)) => self.0.eval(&r[i], &c[j]),
            _ => f64::NAN,
        }
    }

    fn fits(&self, values: &Values) -> Result<(), KernelError> {
        match values {
            Values::Text(strings) => self.0.fits(strings.as_ref()),
            _ => Ok(()),
        }
    }

    fn learn(&mut self, values: &Values) {
        if let Values::Text(strings) = values {
            self.0.learn(strings.as_ref());
        }
    }

    fn needs_learning(&self) -> bool {
        self.0.needs_learning()
    }

    fn learned(&self) -> Option<Learned> {
        self.0.learned()
    }

    fn set_learned(&mut self, learned: Learned) -> bool {
        self.0.set_learned(learned)
    }

    fn shares(&self, new: &Values, i: usize, training: &Values, j: usize) -> Option<Vec<f64>> {
        let (Values::Text(x), Values::Text(y)) = (new, training) else { return None };
        let mut out = vec![0.0; x[i].chars().count()];
        self.0.shares(&x[i], &y[j], &mut out).then_some(out)
    }

    fn shares_of_weights(&self, values: &Values, i: usize, weight: &dyn Fn(u32) -> f64) -> Option<Vec<f64>> {
        let Values::Text(x) = values else { return None };
        let mut out = vec![0.0; x[i].chars().count()];
        let shown = self.0.pieces(&x[i], &mut |p| {
            let share = p.value * weight(pieces::coordinate(p.key)) / p.len.max(1) as f64;
            out[p.start..p.start + p.len].iter_mut().for_each(|o| *o += share);
        });
        shown.then_some(out)
    }

    fn features(&self, values: &Values) -> Option<Vectors> {
        let Values::Text(strings) = values else { return None };
        pieces::features(strings.as_ref(), &|s, emit| self.0.pieces(s, emit)).map(Vectors::from)
    }

    fn derivatives(&self, sides: &Sides) -> Result<Option<Arc<dyn Derivatives>>, KernelError> {
        match (sides.rows(), sides.cols()) {
            (Values::Text(r), Values::Text(c)) => {
                let strings = |t: &Arc<Vec<String>>| Arc::clone(t) as Arc<dyn Examples<str>>;
                Ok(self.0.derivatives(&strings(r), &strings(c)))
            }
            _ => Ok(None),
        }
    }

    fn prepare(&self, values: &Values, like: Option<&Arc<dyn Prepared>>) -> Result<Arc<dyn Prepared>, KernelError> {
        let Values::Text(strings) = values else {
            return Err(KernelError::Kind { kernel: T::entry().name, wants: Kind::Text, has: values.kind() });
        };
        let like = like.map(|like| downcast::<LazySide<T>>(like, T::entry().name)).transpose()?;
        Ok(Arc::new(LazySide::new(&self.0, Arc::clone(strings) as Arc<dyn Examples<str>>, like)))
    }

    fn gram_between(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        let name = T::entry().name;
        LazySide::gram(downcast(rows, name)?, downcast(cols, name)?, Arc::new(self.0.clone()))
    }
}
