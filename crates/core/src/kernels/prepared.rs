//! Sides: collections of examples that are prepared once for a kernel.
//!
//! A kernel meets a collection by packing its vectors, counting its substrings or taking its norms. That is done once for
//! the training examples; new examples are prepared like these: moved by the same centre, and numbered as they are. A
//! coordinate or a piece of a string that no training example has counts for κ(x, x) only.

use super::KernelError;
use crate::gram::between::Collection;
use std::any::Any;
use std::sync::Arc;

/// One collection, prepared for one kernel.
pub trait Prepared: Any + Send + Sync {
    /// The number of examples.
    fn len(&self) -> usize;

    /// True if there is no example.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The examples at the given places, in that order, prepared alike.
    fn select(self: Arc<Self>, keep: &[usize]) -> Arc<dyn Prepared>;
}

/// The side as the type that a kernel has made of it.
///
/// # Errors
/// If another kernel has made it.
pub(crate) fn downcast<T: Prepared>(side: &Arc<dyn Prepared>, kernel: &'static str) -> Result<Arc<T>, KernelError> {
    let any: Arc<dyn Any + Send + Sync> = Arc::<dyn Prepared>::clone(side);
    any.downcast::<T>().map_err(|_| KernelError::Side { kernel })
}

/// Examples in the form in which they are compared, and what new examples share with them: names, a learned kernel.
pub(crate) struct Sided<C, N> {
    pub(crate) examples: Arc<C>,
    pub(crate) shared: Arc<N>,
}

impl<C: Collection, N: Send + Sync + 'static> Sided<C, N> {
    /// Two sides that were prepared for each other.
    ///
    /// # Errors
    /// If they are not.
    pub(crate) fn pair(
        rows: &Arc<dyn Prepared>,
        cols: &Arc<dyn Prepared>,
        kernel: &'static str,
    ) -> Result<(Arc<Self>, Arc<Self>), KernelError> {
        let (rows, cols): (Arc<Self>, Arc<Self>) = (downcast(rows, kernel)?, downcast(cols, kernel)?);
        if Arc::ptr_eq(&rows.shared, &cols.shared) { Ok((rows, cols)) } else { Err(KernelError::Side { kernel }) }
    }
}

impl<C: Collection, N: Send + Sync + 'static> Prepared for Sided<C, N> {
    fn len(&self) -> usize {
        self.examples.count()
    }

    fn select(self: Arc<Self>, keep: &[usize]) -> Arc<dyn Prepared> {
        Arc::new(Self { examples: self.examples.chosen(keep), shared: Arc::clone(&self.shared) })
    }
}
