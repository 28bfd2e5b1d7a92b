//! Strings that are prepared when their first kernel value is asked for: linear machines never ask.

use super::TextKernel;
use crate::data::{Examples, Rows, SparseRows, Values};
use crate::gram::Gram;
use crate::gram::between::Collection;
use crate::gram::views::Lazy;
use crate::kernels::inner::{Inner, Linear};
use crate::kernels::prepared::Sided;
use crate::kernels::vectors::{Family, Packed, Packing};
use crate::kernels::{KernelError, Prepared};
use std::sync::{Arc, OnceLock};

/// A collection of strings for a kernel.
pub(super) struct LazySide<T> {
    source: Source<T>,
    /// The same for all collections that are prepared for each other.
    family: Arc<()>,
    len: usize,
    made: OnceLock<Arc<dyn Prepared>>,
}

enum Source<T> {
    Strings { kernel: T, strings: Arc<dyn Examples<str>>, like: Option<Arc<LazySide<T>>> },
    Chosen { of: Arc<LazySide<T>>, keep: Vec<usize> },
}

impl<T: TextKernel> LazySide<T> {
    pub(super) fn new(kernel: &T, strings: Arc<dyn Examples<str>>, like: Option<Arc<Self>>) -> Self {
        let family = like.as_ref().map_or_else(Arc::default, |like| Arc::clone(&like.family));
        let (kernel, len) = (kernel.clone(), strings.len());
        Self { source: Source::Strings { kernel, strings, like }, family, len, made: OnceLock::new() }
    }

    /// The strings, prepared now if they were not.
    fn made(&self) -> &Arc<dyn Prepared> {
        self.made.get_or_init(|| match &self.source {
            Source::Strings { kernel, strings, like } => {
                match kernel.prepare(strings, like.as_ref().map(|like| like.made())) {
                    Ok(made) => made,
                    Err(_) => unreachable!("both were prepared by one kernel"),
                }
            }
            Source::Chosen { of, keep } => Arc::clone(of.made()).select(keep),
        })
    }

    /// The matrix between two collections; nothing is prepared yet.
    pub(super) fn gram(rows: Arc<Self>, cols: Arc<Self>, kernel: Arc<T>) -> Result<Arc<dyn Gram>, KernelError> {
        if !Arc::ptr_eq(&rows.family, &cols.family) {
            return Err(KernelError::Side { kernel: T::entry().name });
        }
        let (shape, same) = ((rows.len, cols.len), Arc::ptr_eq(&rows, &cols));
        Ok(Arc::new(Lazy::new(shape, same, move || match kernel.prepared_gram(rows.made(), cols.made()) {
            Ok(gram) => gram,
            Err(_) => unreachable!("both were prepared by one kernel"),
        })))
    }
}

impl<T: TextKernel> Prepared for LazySide<T> {
    fn len(&self) -> usize {
        self.len
    }

    fn select(self: Arc<Self>, keep: &[usize]) -> Arc<dyn Prepared> {
        let (family, len) = (Arc::clone(&self.family), keep.len());
        Arc::new(Self { source: Source::Chosen { of: self, keep: keep.to_vec() }, family, len, made: OnceLock::new() })
    }
}

/// The matrix of a kernel between strings, each side prepared once.
pub(super) fn gram_of<T: TextKernel>(
    kernel: &T,
    rows: &Arc<dyn Examples<str>>,
    cols: &Arc<dyn Examples<str>>,
) -> Arc<dyn Gram> {
    let made = || {
        let right = kernel.prepare(cols, None)?;
        let same = std::ptr::addr_eq(Arc::as_ptr(rows), Arc::as_ptr(cols));
        let left = if same { Arc::clone(&right) } else { kernel.prepare(rows, Some(&right))? };
        kernel.prepared_gram(&left, &right)
    };
    match made() {
        Ok(gram) => gram,
        Err(_) => unreachable!("both are prepared by this kernel"),
    }
}

/// Features of strings whose inner products are κ, and what new strings share with them.
pub(super) type FeatureSide<N> = Sided<Packed, N>;

impl<N: Send + Sync + 'static> FeatureSide<N> {
    /// The side of features, like another where there is one.
    pub(super) fn of(features: Values, like: Option<&Self>, shared: Arc<N>) -> Arc<dyn Prepared> {
        let packed = match like {
            Some(like) => like.examples.like(&features),
            None => Packed::first(&features, Packing::default()),
        };
        Arc::new(Self { examples: Arc::new(packed), shared })
    }

    /// The matrix of inner products.
    pub(super) fn products(
        rows: &Arc<dyn Prepared>,
        cols: &Arc<dyn Prepared>,
        kernel: &'static str,
    ) -> Result<Arc<dyn Gram>, KernelError> {
        let (rows, cols) = Self::pair(rows, cols, kernel)?;
        Inner(Linear).packed_gram(Arc::clone(&rows.examples), Arc::clone(&cols.examples))
    }
}

/// Strings that are projected to so many coordinates; what cannot be is zero.
pub(super) fn projected(
    strings: &dyn Examples<str>,
    width: usize,
    project: &dyn Fn(&str) -> Option<Vec<f64>>,
) -> Values {
    let width = width.max(1);
    let mut values = Vec::with_capacity(strings.len() * width);
    for i in 0..strings.len() {
        let mut z = project(strings.get(i)).unwrap_or_default();
        z.resize(width, 0.0);
        values.extend(z);
    }
    #[expect(clippy::expect_used, reason = "every row was made as wide as that")]
    Rows::new(values, strings.len(), width).map(Values::from).expect("rows of one width")
}

/// Sparse features from the coordinates of every string, in any order.
pub(super) fn sparse(rows: impl Iterator<Item = Vec<crate::data::Coordinate<f64>>>, width: usize) -> SparseRows<f64> {
    let mut vectors = SparseRows::new(width);
    for mut row in rows {
        row.sort_unstable_by_key(|c| c.index);
        vectors.push(&row);
    }
    vectors
}

/// Strings as they are, for kernels that compare them pair by pair.
pub(super) struct Plain {
    strings: Arc<dyn Examples<str>>,
    places: Vec<usize>,
}

impl Plain {
    pub(super) fn new(strings: &Arc<dyn Examples<str>>) -> Self {
        Self { strings: Arc::clone(strings), places: (0..strings.len()).collect() }
    }
}

impl Examples<str> for Plain {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn get(&self, i: usize) -> &str {
        self.strings.get(self.places[i])
    }
}

impl Collection for Plain {
    fn count(&self) -> usize {
        self.places.len()
    }

    fn chosen(self: &Arc<Self>, keep: &[usize]) -> Arc<Self> {
        let places = keep.iter().map(|&k| self.places[k]).collect();
        Arc::new(Self { strings: Arc::clone(&self.strings), places })
    }
}
