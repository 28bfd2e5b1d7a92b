//! Rayleigh quotients: directions along which one quadratic form is large beside another.
//!
//! ```text
//! max over a  aᵀAa / aᵀBa          A a = λ B a,  B = LLᵀ
//! A whole     L⁻¹AL⁻ᵀ c = λ c,     a = L⁻ᵀ c
//! A = GGᵀ     GᵀB⁻¹G u = λ u,      a = B⁻¹G u           (as many directions as G has columns, at most)
//! ```
//! Later directions are those of the largest quotient among the ones with a_jᵀBa = 0 for all before. A quotient of zero is no
//! direction: any vector of the null space would do, so none is given.
//!
//! # Source
//! S. Mika, Kernel Fisher Discriminants (2002), (3.24)–(3.32). A second direction of two classes, as printed with figure 5.3, has
//! the quotient zero and is arbitrary; the pseudo-inverse offered for a singular B (3.4.4) is no maximum.

use super::scatter::of_columns;
use crate::linalg::SolveError;
use crate::linalg::{Cholesky, multiply_add, symmetric_eigen, transposed_multiply};

/// The form that is to be large.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// A, n × n numbers.
    Whole(Vec<f64>),
    /// G of A = GGᵀ, n × count numbers row by row.
    Columns {
        /// G.
        values: Vec<f64>,
        /// The number of columns.
        count: usize,
    },
}

impl Wanted {
    /// A itself.
    pub fn whole(self, n: usize) -> Vec<f64> {
        match self {
            Self::Whole(matrix) => matrix,
            Self::Columns { values, count } => of_columns(&values, n, count),
        }
    }
}

/// Directions with their quotients, the largest first.
#[derive(Clone, Debug)]
pub struct Directions {
    /// aᵀAa / aᵀBa of each, all above zero.
    pub quotients: Vec<f64>,
    /// a, n × `quotients.len()` numbers row by row, with aᵀBa = 1. The entry that is largest in size is positive.
    pub vectors: Vec<f64>,
}

/// At most `count` directions; fewer where A has no more that count: quotients at or below `tolerance` times the largest are zero.
///
/// # Errors
/// If a value is not finite, or B is singular: then there are directions in which nothing is unwanted, and the quotient has no
/// maximum.
///
/// # Panics
/// If A or B has another size.
pub fn rayleigh(
    wanted: Wanted,
    unwanted: Vec<f64>,
    n: usize,
    count: usize,
    tolerance: f64,
) -> Result<Directions, SolveError> {
    let finite = |values: &[f64], width: usize| match values.iter().position(|v| !v.is_finite()) {
        Some(p) => Err(SolveError::NotFinite { row: p / width + 1, column: p % width + 1 }),
        None => Ok(()),
    };
    match &wanted {
        Wanted::Whole(matrix) => finite(matrix, n)?,
        Wanted::Columns { values, count } => finite(values, (*count).max(1))?,
    }
    finite(&unwanted, n)?;
    let remedy = "there are directions in which nothing is unwanted, so the quotient has no maximum";
    let factor =
        Cholesky::factor(unwanted, n).map_err(|e| SolveError::Pivot { index: e.index + 1, value: e.value, remedy })?;
    // a pivot that is no more than rounding of its row is none
    if let Some((place, value)) = factor.least_pivot().filter(|p| p.1 <= 4.0 * n as f64 * f64::EPSILON) {
        return Err(SolveError::Pivot { index: place + 1, value, remedy });
    }
    let (quotients, mut vectors) = match wanted {
        Wanted::Whole(mut matrix) => {
            factor.whiten(&mut matrix);
            let eigen = symmetric_eigen(matrix, n)?;
            let kept = kept(&eigen.values, count, tolerance);
            let mut vectors: Vec<f64> = eigen.vectors.chunks_exact(n.max(1)).flat_map(|v| v[..kept].to_vec()).collect();
            factor.unwhiten(&mut vectors, kept);
            (eigen.values[..kept].to_vec(), vectors)
        }
        Wanted::Columns { values, count: columns } => {
            let mut solved = values.clone();
            factor.solve(&mut solved, columns);
            let eigen = symmetric_eigen(transposed_multiply(&values, columns, &solved, columns), columns)?;
            let kept = kept(&eigen.values, count, tolerance);
            // aᵀBa = uᵀGᵀB⁻¹Gu = λ
            let turned: Vec<f64> = (0..columns * kept)
                .map(|p| eigen.vectors[p / kept * columns + p % kept] / eigen.values[p % kept].sqrt())
                .collect();
            let mut vectors = vec![0.0; n * kept];
            multiply_add(&solved, n, columns, &turned, kept, &mut vectors);
            (eigen.values[..kept].to_vec(), vectors)
        }
    };
    let kept = quotients.len();
    for j in 0..kept {
        let column = || vectors.iter().skip(j).step_by(kept);
        let largest = column().fold(0.0, |best: f64, v| if v.abs() > best.abs() { *v } else { best });
        if largest < 0.0 {
            vectors.iter_mut().skip(j).step_by(kept).for_each(|v| *v = -*v);
        }
    }
    Ok(Directions { quotients, vectors })
}

/// The number of values, the largest first, that are not zero.
fn kept(values: &[f64], count: usize, tolerance: f64) -> usize {
    let top = values.first().copied().unwrap_or(0.0);
    let rounding = values.len() as f64 * f64::EPSILON;
    values.iter().take(count).take_while(|&&v| v > 0.0 && v > tolerance.max(rounding) * top).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::gram_of_columns;
    use crate::seed::Seed;

    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut random = Seed(seed).stream("numbers");
        (0..count).map(|_| random.normal()).collect()
    }

    fn form(matrix: &[f64], a: &[f64], b: &[f64]) -> f64 {
        let n = a.len();
        (0..n * n).map(|p| a[p / n] * matrix[p] * b[p % n]).sum()
    }

    fn column(found: &Directions, j: usize) -> Vec<f64> {
        found.vectors.iter().skip(j).step_by(found.quotients.len()).copied().collect()
    }

    #[test]
    fn directions_are_stationary_and_ordered_and_no_other_does_better() {
        let n = 12;
        let (a, b) = (gram_of_columns(&numbers(20 * n, 1), 20, n), gram_of_columns(&numbers(30 * n, 2), 30, n));
        let found = rayleigh(Wanted::Whole(a.clone()), b.clone(), n, 5, 1e-10).unwrap();
        assert_eq!(found.quotients.len(), 5);
        assert!(found.quotients.windows(2).all(|q| q[0] >= q[1]));
        for j in 0..5 {
            let v = column(&found, j);
            assert!((form(&b, &v, &v) - 1.0).abs() < 1e-12);
            for i in 0..n {
                let row = |m: &[f64]| (0..n).map(|k| m[i * n + k] * v[k]).sum::<f64>();
                assert!((row(&a) - found.quotients[j] * row(&b)).abs() < 1e-10, "A a = λ B a");
            }
            for l in 0..j {
                assert!(form(&b, &v, &column(&found, l)).abs() < 1e-12);
            }
        }
        for seed in 0..200 {
            let v = numbers(n, 100 + seed);
            assert!(form(&a, &v, &v) / form(&b, &v, &v) <= found.quotients[0]);
        }
    }

    #[test]
    fn columns_and_the_whole_matrix_agree_and_rank_is_not_exceeded() {
        let n = 15;
        let b = gram_of_columns(&numbers(40 * n, 3), 40, n);
        let values = numbers(n * 3, 4);
        let columns = Wanted::Columns { values: values.clone(), count: 3 };
        let whole = Wanted::Whole(columns.clone().whole(n));
        let (by_columns, by_whole) =
            (rayleigh(columns, b.clone(), n, 9, 1e-10).unwrap(), rayleigh(whole, b, n, 9, 1e-10).unwrap());
        // nine are asked for, three there are
        assert_eq!((by_columns.quotients.len(), by_whole.quotients.len()), (3, 3));
        for (x, y) in by_columns.quotients.iter().zip(&by_whole.quotients) {
            assert!((x - y).abs() < 1e-12 * x);
        }
        for (x, y) in by_columns.vectors.iter().zip(&by_whole.vectors) {
            assert!((x - y).abs() < 1e-10);
        }
    }

    #[test]
    fn what_is_singular_or_not_finite_is_told() {
        let n = 8;
        // rank 5, by rounding perhaps not
        let b = gram_of_columns(&numbers(5 * n, 5), 5, n);
        let a = gram_of_columns(&numbers(20 * n, 6), 20, n);
        let said = rayleigh(Wanted::Whole(a.clone()), b, n, 1, 1e-10).unwrap_err().to_string();
        assert!(said.contains("no maximum"), "{said}");
        let mut broken = a.clone();
        broken[n + 3] = f64::NAN;
        let found = rayleigh(Wanted::Whole(broken.clone()), a.clone(), n, 1, 1e-10).unwrap_err();
        assert_eq!(found, SolveError::NotFinite { row: 2, column: 4 });
        assert!(rayleigh(Wanted::Whole(a.clone()), broken, n, 1, 1e-10).is_err());
        let nothing = rayleigh(Wanted::Whole(vec![0.0; n * n]), a, n, 2, 1e-10).unwrap();
        assert!(nothing.quotients.is_empty() && nothing.vectors.is_empty());
    }
}
