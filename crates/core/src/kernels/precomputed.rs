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
/// Herbrich (2002), Prop. 2.18: any symmetric positive semi-definite matrix will do. Symmetry is checked, eigenvalues are not.
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
        let wanted = cols.places.iter().max().map_or(0, |&p| p + 1);
        if same && width != n {
            let finding = format!(
                "the matrix has {n} rows and {width} columns, and training examples have a column for each of them; rows that are left out for \
                 missing entries or held out keep their columns, so take both out of the file"
            );
            return Err(KernelError::Matrix { kernel: ENTRY.name, finding });
        }
        if width < wanted {
            return Err(KernelError::Width { kernel: ENTRY.name, got: width, wanted });
        }
        if same {
            symmetric(matrix, &rows)?;
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

/// The difference of K_ij and K_ji, as a share of the largest entry, that rounding in f32 and sums in another order do not explain.
const MAX_ASYMMETRY: f64 = 1e-3;
/// Rows that are compared with their columns at once.
const ROWS_AT_ONCE: usize = 64;

/// Refuses a matrix that is not symmetric, by the entry that differs most from its mirror image.
fn symmetric(matrix: &Rows<f64>, side: &Known) -> Result<(), KernelError> {
    let places: Vec<(usize, usize)> = side.rows.iter().copied().zip(side.places.iter().copied()).collect();
    let (mut largest, mut worst) = (0.0_f64, (0.0_f64, 0, 0));
    // strips of rows, so that what is read across them is at hand
    for (strip, rows) in places.chunks(ROWS_AT_ONCE).enumerate() {
        for (at, &(other, column)) in places.iter().enumerate().take((strip + 1) * ROWS_AT_ONCE) {
            for &(row, place) in &rows[at.saturating_sub(strip * ROWS_AT_ONCE).min(rows.len())..] {
                let (one, two) = (matrix.row(row)[column], matrix.row(other)[place]);
                largest = largest.max(one.abs()).max(two.abs());
                if (one - two).abs() > worst.0 {
                    worst = ((one - two).abs(), row, column);
                }
            }
        }
    }
    let (difference, i, j) = worst;
    if difference <= MAX_ASYMMETRY * largest {
        return Ok(());
    }
    let finding = format!(
        "the matrix is not symmetric: row {} has {} in column {}, and row {} has {} in column {}; correct it, or take (K + K')/2 if no other \
         is to be had",
        i + 1,
        matrix.row(i)[j],
        j + 1,
        j + 1,
        matrix.row(j)[i],
        i + 1
    );
    Err(KernelError::Matrix { kernel: ENTRY.name, finding })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(values: &[f64], n: usize) -> Option<String> {
        let values: Values = Rows::new(values.to_vec(), n, values.len() / n).unwrap().into();
        let side = Precomputed.prepare(&values, None).unwrap();
        Precomputed.gram_between(&side, &side).err().map(|error| error.to_string())
    }

    #[test]
    fn a_matrix_that_is_not_symmetric_is_refused_with_the_place() {
        let said = refused(&[1.0, 0.5, 0.2, 0.5, 1.0, 0.7, 0.2, 0.4, 1.0], 3).unwrap();
        assert!(said.contains("row 3 has 0.4 in column 2, and row 2 has 0.7 in column 3"), "{said}");
        assert_eq!(refused(&[1.0, 0.5, 0.500_01, 1.0], 2), None, "rounding is no asymmetry");
        assert_eq!(refused(&[1e6, 0.5, 0.6, 1e6], 2), None, "nor is what is small beside the largest entry");
        assert_eq!(refused(&[0.0; 4], 2), None);
        // in any strip of rows
        for (i, j) in [(0, 1), (3, 90), (70, 100), (129, 0), (64, 63), (129, 128)] {
            let mut values = vec![1.0; 130 * 130];
            values[i * 130 + j] = 0.7;
            let (row, column) = (i.max(j) + 1, i.min(j) + 1);
            assert!(refused(&values, 130).unwrap().contains(&format!("row {row} has")), "{i} {j}");
            assert!(refused(&values, 130).unwrap().contains(&format!("in column {column}, and")), "{i} {j}");
        }
    }

    #[test]
    fn a_matrix_with_a_column_too_many_is_told_from_other_vectors() {
        let said = refused(&[1.0, 0.5, 0.2, 0.5, 1.0, 0.7], 2).unwrap();
        assert!(said.contains("2 rows and 3 columns") && said.contains("left out"), "{said}");
    }
}
