//! The Cholesky factorisation A = LLᵀ of a symmetric positive definite matrix, in the memory of the matrix.
//!
//! L is computed block by block (`factor`) into one triangle; the other one keeps A, so that a residual b − Ax, and with it a
//! step of iterative refinement, needs no second copy. Small matrices, few right-hand sides, and processors without fused operations
//! on vectors have faer's algorithms. The pivot L_jj² = A_jj − Σ_k L_jk² that is not positive names the row at
//! which A stops being positive definite.
//!
//! # Source
//! Golub & Van Loan, Matrix Computations (4th ed. 2013), §4.2.

use super::{MAX_SIZE_FOR_ONE_THREAD, Triangle, factor, sweeps, symmetric, threads_for};
use crate::parallel;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::{factor as llt, solve};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par};
use pulp::Arch;

/// faer uses the other triangle as scratch inside its smallest blocks; entries so near to the diagonal are put back.
const BAND: usize = 128;
/// Number of right-hand sides that a thread carries through the triangle at a time.
const PANEL: usize = 128;
/// Right-hand sides that are solved one by one, as fast as the triangle can be read.
const MAX_COLUMNS_ALONE: usize = 4;
/// Least number of right-hand sides for which packing a triangle of any size pays.
const MIN_COLUMNS_FOR_PANELS: usize = 64;
/// Least number of rows for which packing the triangle always pays: it is too large for the caches.
const MIN_SIZE_FOR_PANELS: usize = 1500;

/// The factorisation A = LLᵀ.
///
/// One triangle of the memory holds L, the other one still holds A: so residuals cost no second copy of the matrix.
#[derive(Clone, Debug)]
pub struct Cholesky {
    /// Row by row: Lᵀ on and above the diagonal, A below.
    values: Vec<f64>,
    /// The diagonal of A.
    diagonal: Vec<f64>,
    n: usize,
}

/// The matrix is not positive definite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NotPositive {
    /// The first pivot that is not positive, from zero.
    pub index: usize,
    /// Its value.
    pub value: f64,
}

/// The bytes that a factorisation takes beside its matrix of n rows.
pub fn cholesky_bytes(n: usize) -> usize {
    8 * (n + if packed(n).is_some() { factor::workspace(n) } else { BAND * n })
}

impl Cholesky {
    /// Factorises a symmetric matrix of n × n numbers in its own memory, with the threads of the current pool. The numbers do
    /// not depend on how many there are (on processors without fused operations on vectors: up to 256 rows).
    ///
    /// # Panics
    /// If there are not n × n numbers.
    pub fn factor(mut matrix: Vec<f64>, n: usize) -> Result<Self, NotPositive> {
        assert_eq!(matrix.len(), n * n, "the matrix is square");
        let diagonal: Vec<f64> = (0..n).map(|i| matrix[i * n + i]).collect();
        match packed(n) {
            Some(arch) => factor::factor(arch, &mut matrix, n)?,
            None => unpacked(&mut matrix, n, &diagonal)?,
        }
        Ok(Self { values: matrix, diagonal, n })
    }

    /// Rows of the matrix.
    pub fn len(&self) -> usize {
        self.n
    }

    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The diagonal of A.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// L, row by row, with zeros above the diagonal.
    pub fn factor_rows(&self) -> Vec<f64> {
        let n = self.n;
        let entry = |p: usize| if p % n <= p / n { self.values[(p % n) * n + p / n] } else { 0.0 };
        (0..n * n).map(entry).collect()
    }

    /// The memory: Lᵀ row by row, on and above the diagonal.
    pub(super) fn into_rows(self) -> Vec<f64> {
        self.values
    }

    /// Lᵀ alone, in the same memory.
    pub fn into_triangle(self) -> Triangle {
        Triangle::new(self.values, self.n)
    }

    fn lower(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.n, self.n)
    }

    /// Replaces k right-hand sides (n × k numbers, row by row) by the solutions of A X = B.
    ///
    /// # Panics
    /// If there are not n × k numbers.
    pub fn solve(&self, rhs: &mut [f64], k: usize) {
        assert_eq!(rhs.len(), self.n * k, "k numbers for each row");
        match way(self.n, k) {
            _ if rhs.is_empty() => (),
            Way::Packed(arch) => {
                factor::forward(arch, &self.values, self.n, rhs, k);
                factor::backward(arch, &self.values, self.n, rhs, k);
            }
            Way::Columns => by_columns(rhs, k, |columns| self.solve_columns(columns)),
            Way::Faer(par) => {
                let rhs = MatMut::from_row_major_slice_mut(rhs, self.n, k);
                solve::solve_in_place(self.lower(), rhs, par, MemStack::new(&mut []));
            }
        }
    }

    /// Replaces right-hand sides (n numbers each, one after the other) by the solutions of A X = B. For few of them this is
    /// as fast as the triangle can be read, twice; the numbers do not depend on how many threads there are.
    ///
    /// # Panics
    /// If there is a right-hand side that is not complete.
    pub fn solve_columns(&self, columns: &mut [f64]) {
        assert_eq!(columns.len() % self.n.max(1), 0, "n numbers for each column");
        sweeps::forward(&self.values, self.n, columns);
        sweeps::backward(&self.values, self.n, columns);
    }

    /// Replaces a symmetric matrix C of n × n numbers by L⁻¹ C L⁻ᵀ: C as it is seen where A is the identity.
    ///
    /// # Panics
    /// If there are not n × n numbers.
    pub fn whiten(&self, matrix: &mut [f64]) {
        let n = self.n;
        assert_eq!(matrix.len(), n * n, "the matrix is square");
        if let Some(arch) = packed(n) {
            factor::forward(arch, &self.values, n, matrix, n);
            factor::transpose(matrix, n);
            factor::forward(arch, &self.values, n, matrix, n);
        } else if n > 0 {
            // L⁻¹ from the left, and once more on the transpose, which is the same memory by columns
            let par = threads_for(n);
            solve_lower_triangular_in_place(self.lower(), MatMut::from_row_major_slice_mut(matrix, n, n), par);
            solve_lower_triangular_in_place(self.lower(), MatMut::from_column_major_slice_mut(matrix, n, n), par);
        }
    }

    /// Replaces k columns (n × k numbers, row by row) by L⁻ᵀ times them: directions of a whitened matrix as they are seen
    /// outside.
    ///
    /// # Panics
    /// If there are not n × k numbers.
    pub fn unwhiten(&self, columns: &mut [f64], k: usize) {
        assert_eq!(columns.len(), self.n * k, "k numbers for each row");
        match way(self.n, k) {
            _ if columns.is_empty() => (),
            Way::Packed(arch) => factor::backward(arch, &self.values, self.n, columns, k),
            Way::Columns => by_columns(columns, k, |columns| sweeps::backward(&self.values, self.n, columns)),
            Way::Faer(par) => {
                let columns = MatMut::from_row_major_slice_mut(columns, self.n, k);
                solve_upper_triangular_in_place(self.lower().transpose(), columns, par);
            }
        }
    }

    /// The pivot that is smallest beside its entry of the diagonal: where it stands, from zero, and that part. Of a matrix
    /// that is singular but for rounding it is rounding, too. `None` for a matrix without rows.
    pub fn least_pivot(&self) -> Option<(usize, f64)> {
        let parts = (0..self.n).map(|i| (i, self.values[i * self.n + i].powi(2) / self.diagonal[i]));
        parts.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// A X for k columns (n × k numbers, row by row), with the matrix as it was before it was factorised.
    ///
    /// # Panics
    /// If there are not n × k numbers.
    pub fn multiply(&self, x: &[f64], k: usize) -> Vec<f64> {
        assert_eq!(x.len(), self.n * k, "k numbers for each row");
        if let (Way::Columns, false) = (way(self.n, k), x.is_empty()) {
            let mut out = x.to_vec();
            by_columns(&mut out, k, |columns| {
                let product = symmetric::multiply(&self.values, &self.diagonal, columns);
                columns.copy_from_slice(&product);
            });
            return out;
        }
        let mut out: Vec<f64> = x.iter().enumerate().map(|(p, x)| self.diagonal[p / k] * x).collect();
        if x.is_empty() {
            return out;
        }
        let below = MatRef::from_row_major_slice(&self.values, self.n, self.n);
        let x = MatRef::from_row_major_slice(x, self.n, k);
        let mut to = MatMut::from_row_major_slice_mut(&mut out, self.n, k);
        let (whole, lower, upper) =
            (BlockStructure::Rectangular, BlockStructure::StrictTriangularLower, BlockStructure::StrictTriangularUpper);
        matmul(to.as_mut(), whole, Accum::Add, below, lower, x, whole, 1.0, threads_for(self.n));
        matmul(to, whole, Accum::Add, below.transpose(), upper, x, whole, 1.0, threads_for(self.n));
        out
    }

    /// x_rᵀ A⁻¹ x_r for each of the given vectors (m × n numbers, row by row): ‖L⁻¹ x_r‖².
    pub fn inverse_norms(&self, rows: &[f64]) -> Vec<f64> {
        let n = self.n;
        if n == 0 {
            return Vec::new();
        }
        let panels = parallel::map(rows.len().div_ceil(PANEL * n), |i| {
            let panel = &rows[i * PANEL * n..rows.len().min((i + 1) * PANEL * n)];
            let mut solved = panel.to_vec();
            let count = panel.len() / n;
            let columns = MatMut::from_column_major_slice_mut(&mut solved, n, count);
            solve_lower_triangular_in_place(self.lower(), columns, Par::Seq);
            solved.chunks_exact(n).map(|z| z.iter().map(|z| z * z).sum()).collect::<Vec<f64>>()
        });
        panels.concat()
    }

    /// The diagonal of A⁻¹: (A⁻¹)_ii = ‖L⁻¹ e_i‖². Takes n³/3 multiplications and no second matrix.
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let n = self.n;
        let panels = parallel::map(n.div_ceil(PANEL), |panel| {
            let start = panel * PANEL;
            // L⁻¹ e_i is zero above row i, so a panel starts at its own first row
            let (left, count) = (n - start, PANEL.min(n - start));
            let mut solved = vec![0.0; left * count];
            for i in 0..count {
                solved[i * left + i] = 1.0;
            }
            let columns = MatMut::from_column_major_slice_mut(&mut solved, left, count);
            let corner = self.lower().submatrix(start, start, left, left);
            solve_lower_triangular_in_place(corner, columns, Par::Seq);
            solved.chunks_exact(left).map(|z| z.iter().map(|z| z * z).sum()).collect::<Vec<f64>>()
        });
        panels.concat()
    }
}

/// The instruction set for packed panels, where they are faster for n rows.
fn packed(n: usize) -> Option<Arch> {
    factor::instructions().filter(|_| n > MAX_SIZE_FOR_ONE_THREAD)
}

/// How systems with a triangle are solved.
enum Way {
    /// By packed panels.
    Packed(Arch),
    /// Column by column.
    Columns,
    /// By faer.
    Faer(Par),
}

/// The fastest way for n rows and k right-hand sides of which the numbers do not depend on how many threads there are.
fn way(n: usize, k: usize) -> Way {
    match packed(n) {
        None => Way::Faer(threads_for(n)),
        Some(_) if k <= MAX_COLUMNS_ALONE => Way::Columns,
        Some(arch) if k >= MIN_COLUMNS_FOR_PANELS || n >= MIN_SIZE_FOR_PANELS => Way::Packed(arch),
        Some(_) => Way::Faer(Par::Seq),
    }
}

/// Works on k columns, one after the other, that lie side by side.
fn by_columns(rows: &mut [f64], k: usize, work: impl Fn(&mut [f64])) {
    let n = rows.len() / k;
    let mut columns: Vec<f64> = (0..n * k).map(|p| rows[(p % n) * k + p / n]).collect();
    work(&mut columns);
    for (i, row) in rows.chunks_exact_mut(k).enumerate() {
        row.iter_mut().enumerate().for_each(|(c, x)| *x = columns[c * n + i]);
    }
}

/// Factorises by faer.
fn unpacked(matrix: &mut [f64], n: usize, diagonal: &[f64]) -> Result<(), NotPositive> {
    let band: Vec<f64> = (0..n).flat_map(|i| matrix[i * n + i.saturating_sub(BAND)..i * n + i].to_vec()).collect();
    // faer works on the lower triangle by columns, which is the upper one by rows: the same numbers by symmetry
    let par = threads_for(n);
    let mut memory = MemBuffer::new(llt::cholesky_in_place_scratch::<f64>(n, par, faer::Spec::default()));
    let outcome = llt::cholesky_in_place(
        MatMut::from_column_major_slice_mut(matrix, n, n),
        llt::LltRegularization::default(),
        par,
        MemStack::new(&mut memory),
        faer::Spec::default(),
    );
    match outcome {
        Ok(_) => {
            let mut left = band.as_slice();
            for i in 0..n {
                let (line, rest) = left.split_at(i.min(BAND));
                matrix[i * n + i - line.len()..i * n + i].copy_from_slice(line);
                left = rest;
            }
            Ok(())
        }
        Err(llt::LltError::NonPositivePivot { index }) => {
            // the pivot is what the rows before leave of the diagonal: A_ii − Σ_{k<i} L_ik²
            let value = (0..index).fold(diagonal[index], |rest, k| rest - matrix[k * n + index].powi(2));
            Err(NotPositive { index, value })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// A symmetric matrix with a strong diagonal.
    fn positive(n: usize) -> Vec<f64> {
        let mut random = Seed(5).stream("cholesky");
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                a[i * n + j] = random.normal();
                a[j * n + i] = a[i * n + j];
            }
            a[i * n + i] = 3.0 * n as f64 + random.uniform();
        }
        a
    }

    fn times(a: &[f64], x: &[f64], n: usize, k: usize) -> Vec<f64> {
        let mut out = vec![0.0; n * k];
        for i in 0..n {
            for j in 0..n {
                for c in 0..k {
                    out[i * k + c] += a[i * n + j] * x[j * k + c];
                }
            }
        }
        out
    }

    #[test]
    fn solves_and_still_knows_the_matrix() {
        // sizes on both sides of faer's block sizes: the kept triangle is not part of faer's promise
        for (n, k) in [(1, 1), (2, 3), (63, 1), (64, 2), (129, 5), (300, 1), (517, 2), (1100, 1)] {
            let a = positive(n);
            let b: Vec<f64> = (0..n * k).map(|i| (i as f64).sin()).collect();
            let factor = Cholesky::factor(a.clone(), n).unwrap();
            let mut x = b.clone();
            factor.solve(&mut x, k);
            let gone = (0..n * n).filter(|p| p / n > p % n && factor.values[*p] != a[*p]).count();
            assert_eq!(gone, 0, "{n}");
            let mut columns: Vec<f64> = (0..n * k).map(|p| b[(p % n) * k + p / n]).collect();
            factor.solve_columns(&mut columns);
            assert!((0..n * k).all(|p| (columns[p] - x[(p % n) * k + p / n]).abs() < 1e-13), "{n} {k}");
            let (by_hand, kept) = (times(&a, &x, n, k), factor.multiply(&x, k));
            for p in 0..n * k {
                assert!(
                    (by_hand[p] - b[p]).abs() < 1e-11 && (kept[p] - by_hand[p]).abs() < 1e-11,
                    "{n} {k} {p}: {} {} {}",
                    by_hand[p],
                    b[p],
                    kept[p]
                );
            }
        }
    }

    #[test]
    fn the_inverse_is_right_on_its_diagonal_and_in_norms() {
        for n in [1, 7, 128, 200, 300] {
            let a = positive(n);
            let factor = Cholesky::factor(a, n).unwrap();
            let diagonal = factor.inverse_diagonal();
            let unit: Vec<f64> = (0..n * n).map(|p| f64::from(u8::from(p / n == p % n))).collect();
            let norms = factor.inverse_norms(&unit);
            for i in (0..n).step_by(13) {
                let mut e = vec![0.0; n];
                e[i] = 1.0;
                factor.solve(&mut e, 1);
                assert!((e[i] - diagonal[i]).abs() < 1e-15 && (e[i] - norms[i]).abs() < 1e-15, "{n} {i}");
            }
        }
    }

    #[test]
    fn whitening_makes_the_matrix_the_identity_and_pivots_show_what_is_singular() {
        for n in [1, 5, 64, 150, 290] {
            let a = positive(n);
            let factor = Cholesky::factor(a.clone(), n).unwrap();
            let (mut white, mut back) = (a.clone(), vec![0.0; n * n]);
            factor.whiten(&mut white);
            (0..n).for_each(|i| back[i * n + i] = 1.0);
            factor.unwhiten(&mut back, n);
            // L⁻ᵀ is back, so back backᵀ = A⁻¹
            let turned: Vec<f64> = (0..n * n).map(|p| back[(p % n) * n + p / n]).collect();
            let inverse = times(&back, &turned, n, n);
            let unit = times(&a, &inverse, n, n);
            for p in 0..n * n {
                let wanted = f64::from(u8::from(p / n == p % n));
                assert!((white[p] - wanted).abs() < 1e-12 && (unit[p] - wanted).abs() < 1e-12, "{n} {p}");
            }
            assert!(factor.least_pivot().unwrap().1 > 0.1);
        }
        // the third row is the sum of the others, but for a little
        let a = vec![2.0, 0.0, 2.0, 0.0, 3.0, 3.0, 2.0, 3.0, 5.0 + 1e-13];
        let (place, part) = Cholesky::factor(a, 3).unwrap().least_pivot().unwrap();
        assert!(place == 2 && part > 1e-15 && part < 1e-13, "{part}");
    }

    #[test]
    fn many_right_hand_sides_are_many_single_ones() {
        for (n, k) in [(257, 64), (300, 100), (517, 65)] {
            let factor = Cholesky::factor(positive(n), n).unwrap();
            let b: Vec<f64> = (0..n * k).map(|i| (i as f64).sin()).collect();
            let mut columns: Vec<f64> = (0..n * k).map(|p| b[(p % n) * k + p / n]).collect();
            factor.solve_columns(&mut columns);
            let mut x = b.clone();
            factor.solve(&mut x, k);
            assert!((0..n * k).all(|p| (columns[p] - x[(p % n) * k + p / n]).abs() < 1e-13), "{n} {k}");
            // Lᵀ(L⁻ᵀ B) = B
            let mut back = b.clone();
            factor.unwhiten(&mut back, k);
            let upper = |i: usize, j: usize| factor.values[i * n + j];
            for (i, c) in (0..n).step_by(17).flat_map(|i| (0..k).step_by(7).map(move |c| (i, c))) {
                let sum: f64 = (i..n).map(|j| upper(i, j) * back[j * k + c]).sum();
                assert!((sum - b[i * k + c]).abs() < 1e-11, "{n} {k}");
            }
        }
    }

    #[test]
    fn threads_change_no_bit() {
        let n = 700;
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let factor = Cholesky::factor(positive(n), n).unwrap();
                let mut white = positive(n);
                factor.whiten(&mut white);
                let mut all = vec![factor.values.clone(), white, factor.inverse_diagonal()];
                for k in [1, 3, 10, 70] {
                    let b: Vec<f64> = (0..n * k).map(|i| (i as f64).sin()).collect();
                    let (mut x, mut back) = (b.clone(), b.clone());
                    factor.solve(&mut x, k);
                    factor.unwhiten(&mut back, k);
                    all.extend([x, back, factor.multiply(&b, k)]);
                }
                all
            })
        };
        let alone = with(1);
        if factor::instructions().is_some() {
            for threads in [2, 3, 5] {
                let found = with(threads);
                let other: Vec<usize> = (0..alone.len()).filter(|&i| found[i] != alone[i]).collect();
                assert_eq!(other, Vec::<usize>::new(), "{threads}");
            }
        }
    }

    #[test]
    fn packed_panels_and_faer_agree() {
        for n in [1, 5, 120, 300, 600] {
            let a = positive(n);
            let diagonal: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
            let (mut ours, mut theirs) = (a.clone(), a.clone());
            unpacked(&mut theirs, n, &diagonal).unwrap();
            if let Some(arch) = factor::instructions() {
                factor::factor(arch, &mut ours, n).unwrap();
                let far = ours.iter().zip(&theirs).filter(|(a, b)| (*a - *b).abs() > 1e-12 * (n as f64).sqrt());
                assert_eq!(far.count(), 0, "{n}");
            }
            assert!((0..n * n).all(|p| p / n <= p % n || theirs[p] == a[p]), "{n}");
        }
    }

    #[test]
    fn names_the_pivot_that_is_not_positive() {
        let found = Cholesky::factor(vec![1.0, 2.0, 2.0, 1.0], 2).unwrap_err();
        assert_eq!(found, NotPositive { index: 1, value: -3.0 });
        for bad in [3, 100, 250] {
            let n = 300;
            let mut a = positive(n);
            a[bad * n + bad] = -1e6;
            let diagonal: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
            for found in [unpacked(&mut a.clone(), n, &diagonal).unwrap_err(), Cholesky::factor(a, n).unwrap_err()] {
                assert!(found.index == bad && found.value < -9e5, "{found:?}");
            }
        }
        assert_eq!(Cholesky::factor(vec![1.0; 9], 3).unwrap_err(), NotPositive { index: 1, value: 0.0 });
        assert!(Cholesky::factor(Vec::new(), 0).unwrap().is_empty());
    }
}
