//! Helpers that tests of several solvers share.

/// Solves a system of equations, row by row, with row exchanges: shares nothing with the library.
pub(super) fn eliminate(mut a: Vec<f64>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for c in 0..n {
        let p = (c..n).max_by(|&i, &j| a[i * n + c].abs().total_cmp(&a[j * n + c].abs())).unwrap();
        (0..n).for_each(|j| a.swap(c * n + j, p * n + j));
        b.swap(c, p);
        for i in 0..n {
            if i != c {
                let factor = a[i * n + c] / a[c * n + c];
                (0..n).for_each(|j| a[i * n + j] -= factor * a[c * n + j]);
                b[i] -= factor * b[c];
            }
        }
    }
    (0..n).map(|i| b[i] / a[i * n + i]).collect()
}
