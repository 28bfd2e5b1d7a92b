//! Kernels on kinds of data that have no storage of their own: a function of two examples is enough.

use super::prepared::{Sided, downcast};
use super::{Kernel, KernelEntry, KernelError, KernelFacts, Leaf, Prepared};
use crate::data::{Examples, Item, Items, Values};
use crate::gram::Gram;
use crate::gram::between::Collection;
use crate::params::{Params, Visit};
use std::sync::Arc;

/// A kernel on the examples of such a kind that the catalogue lists.
///
/// [`Kernel::eval`] is all that it must have. Work that depends on one example alone belongs into the [`Item`], which is read once;
/// a kernel that can share work between pairs replaces [`Kernel::gram`].
pub trait ItemKernel: Kernel<Self::Item> + Params + Clone + 'static {
    /// The type of its examples.
    type Item: Item;

    /// The catalogue's entry.
    fn entry() -> &'static KernelEntry;

    /// Facts that follow from the parameters alone.
    fn facts(&self) -> KernelFacts {
        KernelFacts::default()
    }
}

/// A kernel on such examples as a leaf of a formula.
#[derive(Clone, Debug)]
pub struct OnItems<T>(pub T);

impl<T: ItemKernel> Params for OnItems<T> {
    fn visit(&mut self, v: &mut dyn Visit) {
        self.0.visit(v);
    }
}

/// Some examples of a view.
struct Chosen<X> {
    items: Arc<Items<X>>,
    places: Vec<usize>,
}

impl<X: Item> Examples<X> for Chosen<X> {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn get(&self, i: usize) -> &X {
        &self.items.0[self.places[i]]
    }
}

impl<X: Item> Collection for Chosen<X> {
    fn count(&self) -> usize {
        self.places.len()
    }

    fn chosen(self: &Arc<Self>, keep: &[usize]) -> Arc<Self> {
        let places = keep.iter().map(|&k| self.places[k]).collect();
        Arc::new(Self { items: Arc::clone(&self.items), places })
    }
}

/// A side shares nothing with those it is compared with, but that it was prepared for them.
type Side<T> = Sided<Chosen<<T as ItemKernel>::Item>, ()>;

impl<T: ItemKernel> Leaf for OnItems<T> {
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
        match (rows.items::<T::Item>(), cols.items::<T::Item>()) {
            (Some(rows), Some(cols)) => self.0.eval(&rows.0[i], &cols.0[j]),
            _ => f64::NAN,
        }
    }

    fn prepare(&self, values: &Values, like: Option<&Arc<dyn Prepared>>) -> Result<Arc<dyn Prepared>, KernelError> {
        let entry = T::entry();
        let Some(items) = values.items::<T::Item>() else {
            return Err(KernelError::Kind { kernel: entry.name, wants: entry.kind, has: values.kind() });
        };
        let shared = match like {
            Some(like) => Arc::clone(&downcast::<Side<T>>(like, entry.name)?.shared),
            None => Arc::default(),
        };
        let places = (0..items.0.len()).collect();
        Ok(Arc::new(Side::<T> { examples: Arc::new(Chosen { items, places }), shared }))
    }

    fn gram_between(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        let (rows, cols) = Side::<T>::pair(rows, cols, T::entry().name)?;
        Ok(Arc::new(self.0.clone()).gram(Arc::clone(&rows.examples) as _, Arc::clone(&cols.examples) as _))
    }
}
