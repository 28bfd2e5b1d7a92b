//! Examples that are the same point in feature space: one of them carries the coefficient of all, and equal targets are one
//! example that counts for several.
//!
//! Without it a sparse programme has as many solutions as there are ways to share a coefficient among copies, and a solver that
//! ends between them finds nothing that is zero.

/// ‖φ(x) − φ(z)‖² up to this part of ‖φ(x)‖² + ‖φ(z)‖² is rounding.
const ROUNDING: f64 = 1e-13;

/// The points that differ, and which of them each example is.
pub(super) struct Distinct {
    /// The first example at each point.
    pub(super) first: Vec<usize>,
    /// The point of each example, as a place in `first`.
    pub(super) point: Vec<usize>,
}

impl Distinct {
    /// Compares the examples of a matrix (n × n numbers) with each other.
    pub(super) fn new(k: &[f64], n: usize) -> Self {
        let (mut first, mut point): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::with_capacity(n));
        for i in 0..n {
            let own = k[i * n + i];
            let same = |&j: &usize| {
                let sum = own + k[j * n + j];
                // the rows are compared as well: a kernel that is not positive has no distances
                let near = (sum - 2.0 * k[i * n + j]).abs() <= ROUNDING * sum.abs();
                let rows = || (0..n).all(|c| (k[i * n + c] - k[j * n + c]).abs() <= ROUNDING.sqrt() * sum.abs());
                near && rows()
            };
            let place = first.iter().position(same).unwrap_or(first.len());
            if place == first.len() {
                first.push(i);
            }
            point.push(place);
        }
        Self { first, point }
    }

    /// Rows of the smaller programme: which row each example is, and the point, target and weight of each row.
    pub(super) fn rows(&self, y: &[f64], weights: &[f64]) -> (Vec<usize>, Vec<(usize, f64, f64)>) {
        let (mut row_of, mut rows): (Vec<usize>, Vec<(usize, f64, f64)>) = (Vec::with_capacity(y.len()), Vec::new());
        let mut at: Vec<Vec<usize>> = vec![Vec::new(); self.first.len()];
        for (i, &point) in self.point.iter().enumerate() {
            match at[point].iter().find(|&&r| rows[r].1 == y[i]) {
                Some(&r) => {
                    rows[r].2 += weights[i];
                    row_of.push(r);
                }
                None => {
                    at[point].push(rows.len());
                    row_of.push(rows.len());
                    rows.push((point, y[i], weights[i]));
                }
            }
        }
        (row_of, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_found_and_weigh_together() {
        let x = [1.0_f64, 2.0, 1.0, 3.0, 2.0, 1.0];
        let k: Vec<f64> = (0..36).map(|p| (-(x[p / 6] - x[p % 6]).powi(2)).exp()).collect();
        let distinct = Distinct::new(&k, 6);
        assert_eq!((distinct.first.clone(), distinct.point.clone()), (vec![0, 1, 3], vec![0, 1, 0, 2, 1, 0]));
        let (row_of, rows) = distinct.rows(&[1.0, 1.0, -1.0, 1.0, 1.0, 1.0], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(row_of, [0, 1, 2, 3, 1, 0]);
        assert_eq!(rows, [(0, 1.0, 7.0), (1, 1.0, 7.0), (0, -1.0, 3.0), (2, 1.0, 4.0)]);
        // a linear kernel in which one example is twice another: not the same point
        let k: Vec<f64> = (0..4).map(|p| [1.0, 2.0][p / 2] * [1.0, 2.0][p % 2]).collect();
        assert_eq!(Distinct::new(&k, 2).first, [0, 1]);
    }
}
