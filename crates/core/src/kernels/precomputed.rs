//! Kernel values that were computed elsewhere.

use super::{Definite, Domain, KernelEntry, KernelError, Leaf};
use crate::data::{Kind, Values};
use crate::gram::{Dense, Gram, Side};
use crate::params::{Params, Visit};
use crate::sources::{HERBRICH, Source};
use std::sync::Arc;

/// κ(x_i, x_j) = K_ij, read from a file
///
/// # Source
/// Herbrich (2002), Prop. 2.18: any symmetric positive semi-definite matrix will do. It is not checked.
///
/// # Use when
/// A matrix of similarities exists already. The view's rows are the matrix: n × n for training, and for new examples one
/// row each with as many columns as there were training examples.
///
/// # Cost
/// The memory of the matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Precomputed;

impl Params for Precomputed {
    fn visit(&mut self, _: &mut dyn Visit) {}
}

impl Leaf for Precomputed {
    fn entry(&self) -> &'static KernelEntry {
        &ENTRY
    }

    fn boxed(&self) -> Box<dyn Leaf> {
        Box::new(self.clone())
    }

    fn eval(&self, rows: &Values, i: usize, cols: &Values, j: usize) -> f64 {
        let column = match cols {
            Values::Index(places) => places[j] as usize,
            _ => j,
        };
        match rows {
            Values::Dense(r) => r.row(i)[column],
            Values::Dense32(r) => f64::from(r.row(i)[column]),
            _ => f64::NAN,
        }
    }

    fn gram(&self, rows: &Values, cols: &Values, same: bool) -> Result<Arc<dyn Gram>, KernelError> {
        let matrix = match rows {
            Values::Dense(r) => Arc::clone(r),
            Values::Dense32(r) => Arc::new(r.convert()),
            other => return Err(KernelError::Kind { kernel: ENTRY.name, wants: Kind::Precomputed, has: other.kind() }),
        };
        let places: Vec<usize> = match cols {
            Values::Index(places) => places.iter().map(|&p| p as usize).collect(),
            other => (0..other.len()).collect(),
        };
        let (n, width) = (matrix.len(), matrix.width());
        let wanted = if same { n } else { places.iter().max().map_or(0, |&p| p + 1) };
        if (same && width != wanted) || width < wanted {
            return Err(KernelError::Width { kernel: ENTRY.name, got: width, wanted });
        }
        let values = if places.len() == width && places.windows(2).all(|p| p[0] < p[1]) {
            matrix.values().to_vec()
        } else {
            (0..n).flat_map(|i| places.iter().map(move |&p| (i, p))).map(|(i, p)| matrix.row(i)[p]).collect()
        };
        let Some(dense) = Dense::new(values, n, places.len()) else { unreachable!("n rows of so many places") };
        // only a training matrix has self-similarities on its diagonal, even if a cross matrix happens to be square
        if same { Ok(Arc::new(dense)) } else { Ok(Arc::new(Cross(dense))) }
    }
}

/// A precomputed matrix between new and training examples: it does not know κ(x, x).
struct Cross(Dense<f64>);

impl Gram for Cross {
    fn shape(&self) -> (usize, usize) {
        self.0.shape()
    }

    fn block(&self, rows: crate::gram::Pick<'_>, cols: crate::gram::Pick<'_>, out: crate::gram::BlockMut<'_, f64>) {
        self.0.block(rows, cols, out);
    }

    fn self_similarities(&self, _: Side) -> Option<Vec<f64>> {
        None
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        Arc::new(crate::gram::views::Submatrix::new(self, rows, cols))
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "precomputed",
    aliases: &[],
    formula: "K_ij, read from a file",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Precomputed,
    source: Source::new(&HERBRICH, "Prop. 2.18"),
    use_when: "a matrix of similarities exists already",
    cost: "The memory of the matrix.",
    make: || Box::new(Precomputed),
};
