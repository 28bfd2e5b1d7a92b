//! Kernels on strings.
//!
//! Strings are compared as sequences of characters. Each kernel prepares every string once (counts, codes), then fills
//! blocks from the prepared forms.

mod sequences;
mod spectrum;
mod subsequence;
#[cfg(test)]
mod testing;

pub use spectrum::Spectrum;
pub use subsequence::Subsequence;

use super::{Kernel, KernelEntry, KernelError, Leaf};
use crate::data::{Examples, Kind, Values};
use crate::gram::Gram;
use crate::params::{Params, Visit};
use std::sync::Arc;

/// The kernels of this folder.
pub static ENTRIES: &[&KernelEntry] = &[&spectrum::ENTRY, &subsequence::ENTRY];

/// A kernel on strings that the catalogue lists.
pub trait TextKernel: Kernel<str> + Params + Clone + 'static {
    /// Its entry.
    fn entry() -> &'static KernelEntry;
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

    fn boxed(&self) -> Box<dyn Leaf> {
        Box::new(self.clone())
    }

    fn eval(&self, rows: &Values, i: usize, cols: &Values, j: usize) -> f64 {
        match (rows, cols) {
            (Values::Text(r), Values::Text(c)) => self.0.eval(&r[i], &c[j]),
            _ => f64::NAN,
        }
    }

    fn gram(&self, rows: &Values, cols: &Values, _: bool) -> Result<Arc<dyn Gram>, KernelError> {
        let text = |values: &Values| match values {
            Values::Text(t) => Ok(Arc::clone(t) as Arc<dyn Examples<str>>),
            other => Err(KernelError::Kind { kernel: T::entry().name, wants: Kind::Text, has: other.kind() }),
        };
        Ok(Arc::new(self.0.clone()).gram(text(rows)?, text(cols)?))
    }
}
