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
mod lazy;
mod mismatch;
mod pieces;
mod sequences;
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

use super::inner::{Inner, Linear};
use super::{Derivatives, Sides};
use super::{Kernel, KernelEntry, KernelError, KernelFacts, Leaf, Learned};
use crate::data::{Examples, Kind, Rows, SparseRows, Values, Vectors};
use crate::gram::Gram;
use crate::params::{Params, Visit};
use lazy::Lazy;
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

    /// Learns what it needs from the training strings.
    fn learn(&mut self, strings: &dyn Examples<str>) {
        let _ = strings;
    }

    /// Whether it has to learn before it can compare.
    fn needs_learning(&self) -> bool {
        false
    }

    /// What it has learned, where it needs to.
    fn learned(&self) -> Option<Learned> {
        None
    }

    /// Takes back what was learned; `false` if that is nothing it could have learned.
    fn set_learned(&mut self, learned: Learned) -> bool {
        let _ = learned;
        false
    }
}

/// The matrix of inner products of sparse features; without a second collection, between the first and itself.
fn linear_gram(rows: SparseRows<f64>, cols: Option<SparseRows<f64>>) -> Arc<dyn Gram> {
    let same = cols.is_none();
    let rows = Values::from(rows);
    let cols = cols.map_or_else(|| rows.clone(), Values::from);
    #[expect(clippy::expect_used, reason = "both are sparse vectors, with names from one list")]
    Inner(Linear).gram(&rows, &cols, same).expect("sparse vectors have inner products")
}

/// The matrix of inner products of strings that are projected to at most `width` coordinates; what cannot be is zero.
fn dense_gram(
    rows: &Arc<dyn Examples<str>>,
    cols: &Arc<dyn Examples<str>>,
    width: usize,
    project: &dyn Fn(&str) -> Option<Vec<f64>>,
) -> Arc<dyn Gram> {
    let width = width.max(1);
    let vectors = |strings: &dyn Examples<str>| {
        let mut values = Vec::with_capacity(strings.len() * width);
        for i in 0..strings.len() {
            let mut z = project(strings.get(i)).unwrap_or_default();
            z.resize(width, 0.0);
            values.extend(z);
        }
        #[expect(clippy::expect_used, reason = "every row was made as wide as that")]
        Rows::new(values, strings.len(), width).map(Values::from).expect("rows of one width")
    };
    let same = std::ptr::addr_eq(Arc::as_ptr(rows), Arc::as_ptr(cols));
    let left = vectors(rows.as_ref());
    let right = if same { left.clone() } else { vectors(cols.as_ref()) };
    #[expect(clippy::expect_used, reason = "both are dense vectors of one width")]
    Inner(Linear).gram(&left, &right, same).expect("dense vectors have inner products")
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

    fn gram(&self, rows: &Values, cols: &Values, _: bool) -> Result<Arc<dyn Gram>, KernelError> {
        let text = |values: &Values| match values {
            Values::Text(t) => Ok(Arc::clone(t) as Arc<dyn Examples<str>>),
            other => Err(KernelError::Kind { kernel: T::entry().name, wants: Kind::Text, has: other.kind() }),
        };
        let (rows, cols, kernel) = (text(rows)?, text(cols)?, Arc::new(self.0.clone()));
        let same = std::ptr::addr_eq(Arc::as_ptr(&rows), Arc::as_ptr(&cols));
        Ok(Arc::new(Lazy::new((rows.len(), cols.len()), same, move || kernel.gram(rows, cols))))
    }
}
