//! Kernel values that were computed elsewhere.

use super::prepared::downcast;
use super::{Definite, Domain, KernelEntry, KernelError, Leaf, Prepared};
use crate::data::{Kind, Rows, Values};
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

    fn prepare(&self, values: &Values, like: Option<&Arc<dyn Prepared>>) -> Result<Arc<dyn Prepared>, KernelError> {
        let matrix = match values {
            Values::Dense(r) => Ok(Arc::clone(r)),
            Values::Dense32(r) => Ok(Arc::new(r.convert())),
            other => Err(other.kind()),
        };
        let places: Vec<usize> = match values {
            Values::Index(places) => places.iter().map(|&p| p as usize).collect(),
            other => (0..other.len()).collect(),
        };
        Ok(Arc::new(Known { matrix, rows: (0..values.len()).collect(), places, training: like.is_none() }))
    }

    fn gram_between(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        let same = Arc::ptr_eq(rows, cols);
        let (rows, cols): (Arc<Known>, Arc<Known>) = (downcast(rows, ENTRY.name)?, downcast(cols, ENTRY.name)?);
        let kind = |&has: &Kind| KernelError::Kind { kernel: ENTRY.name, wants: Kind::Precomputed, has };
        let matrix = rows.matrix.as_ref().map_err(kind)?;
        let (n, width) = (matrix.len(), matrix.width());
        let wanted = if same { n } else { cols.places.iter().max().map_or(0, |&p| p + 1) };
        if (same && width != wanted) || width < wanted {
            return Err(KernelError::Width { kernel: ENTRY.name, got: width, wanted });
        }
        let whole = |places: &[usize], all: usize| places.len() == all && places.windows(2).all(|p| p[0] < p[1]);
        let values = if whole(&rows.rows, n) && whole(&cols.places, width) {
            matrix.values().to_vec()
        } else {
            let line = |&i: &usize| cols.places.iter().map(move |&p| matrix.row(i)[p]);
            rows.rows.iter().flat_map(line).collect()
        };
        let dense = Dense::new(values, rows.rows.len(), cols.places.len());
        let Some(dense) = dense else { unreachable!("so many rows of so many places") };
        // only a training matrix has self-similarities on its diagonal, even if a cross matrix happens to be square
        if same { Ok(Arc::new(dense)) } else { Ok(Arc::new(Cross(dense))) }
    }

    fn self_similarities(&self, side: &Arc<dyn Prepared>) -> Result<Option<Vec<f64>>, KernelError> {
        let side: Arc<Known> = downcast(side, ENTRY.name)?;
        let Some(matrix) = side.matrix.as_ref().ok().filter(|matrix| side.training && matrix.len() == matrix.width())
        else {
            return Ok(None);
        };
        Ok(Some(side.rows.iter().zip(&side.places).map(|(&i, &p)| matrix.row(i)[p]).collect()))
    }
}

/// Some examples of a matrix that is known: where their rows are, and their columns.
struct Known {
    /// The matrix, or what else the view holds: training examples of a model are places alone.
    matrix: Result<Arc<Rows<f64>>, Kind>,
    /// Places of the examples among the rows.
    rows: Vec<usize>,
    /// Places of the examples among the columns.
    places: Vec<usize>,
    /// True if rows and columns are the same examples.
    training: bool,
}

impl Prepared for Known {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn select(self: Arc<Self>, keep: &[usize]) -> Arc<dyn Prepared> {
        let chosen = |places: &[usize]| keep.iter().map(|&k| places[k]).collect();
        let (rows, places) = (chosen(&self.rows), chosen(&self.places));
        Arc::new(Self { matrix: self.matrix.clone(), rows, places, training: self.training })
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
