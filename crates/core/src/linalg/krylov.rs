//! The largest eigenvalues of a symmetric operator A that is only ever applied, never stored.
//!
//! A block Krylov method with thick restarts and full re-orthogonalisation: the space is grown by the residuals of the
//! leading Ritz pairs that have not converged (for a symmetric operator these span what block Lanczos would add), and is
//! cut back to the leading Ritz vectors when it is full. Both V and AV are kept, so the projected matrix and the residuals
//! are computed and never inferred from a recurrence.
//!
//! # Source
//! Golub & Underwood (1977), The block Lanczos method for computing eigenvalues, in Mathematical Software III; Wu & Simon
//! (2000), Thick-restart Lanczos method for large symmetric eigenvalue problems, SIAM J. Matrix Anal. Appl. 22; the second
//! orthogonalisation that is enough is Kahan's, in Parlett, The Symmetric Eigenvalue Problem (1980), §6.9.

use super::{multiply_add, multiply_transposed, symmetric_eigen};
use crate::linalg::SolveError;
use crate::seed::{Random, Seed};

/// Largest number of columns that the matrix is applied to at once.
const MAX_BLOCK: usize = 16;
/// The basis has room for so many vectors at least: fewer make restarts forget what tells close eigenvalues apart.
const BASIS: usize = 96;
/// The same where an application costs no more than the decompositions of the projected matrix.
const SMALL_BASIS: usize = 56;
/// Largest size of a vector for which the smaller basis is used.
const MAX_SIZE_FOR_SMALL_BASIS: usize = 1500;

/// When to stop, and where random directions come from.
#[derive(Clone, Copy, Debug)]
pub struct KrylovOptions {
    /// A pair has converged when ‖Av − θv‖ is at most this fraction of the largest |θ|.
    pub tolerance: f64,
    /// The most applications of the operator to a block.
    pub max_applications: usize,
    /// Randomness of the first block.
    pub seed: Seed,
}

impl Default for KrylovOptions {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_applications: 1000, seed: Seed(0) }
    }
}

/// The largest eigenvalues with their vectors.
#[derive(Clone, Debug)]
pub struct TopEigen {
    /// Eigenvalues, the largest first; fewer than asked for only if it was ended before there were as many.
    pub values: Vec<f64>,
    /// n × values numbers, row by row; column j is the unit eigenvector of `values[j]`.
    pub vectors: Vec<f64>,
    /// ‖Av − θv‖ of each.
    pub residuals: Vec<f64>,
    /// Number of times that the operator was applied to a block.
    pub applications: usize,
    /// True if all asked for have converged.
    pub converged: bool,
}

/// out = A v for n × b numbers row by row: called with v, b and out.
pub type Apply<'a> = &'a mut dyn FnMut(&[f64], usize, &mut [f64]);
/// Asked before every application with the number of applications so far and the largest residual relative to the largest
/// |θ| (infinite at first); `false` ends the work.
pub type Proceed<'a> = &'a mut dyn FnMut(usize, f64) -> bool;

/// The k algebraically largest eigenvalues of a symmetric operator on n numbers.
///
/// A block of k columns finds eigenvalues of any multiplicity. More than 16 columns are not applied at once; for larger k
/// a converged answer is therefore probed with fresh random directions, for half as long as it took to find, before it
/// is believed. The basis takes 2n(2k + 96) numbers at most; if k is so large that this is no saving, the operator is
/// applied to the whole space instead.
pub fn top_eigen(
    n: usize,
    apply: Apply<'_>,
    k: usize,
    options: &KrylovOptions,
    proceed: Proceed<'_>,
) -> Result<TopEigen, SolveError> {
    let k = k.min(n);
    let width = (k + 2).min(MAX_BLOCK);
    let most = (2 * k + 6 * width).max(if n <= MAX_SIZE_FOR_SMALL_BASIS { SMALL_BASIS } else { BASIS });
    if k == 0 {
        return Ok(TopEigen { values: vec![], vectors: vec![], residuals: vec![], applications: 0, converged: true });
    }
    if most >= n {
        return whole_space(n, apply, k, proceed);
    }
    let mut space = Space { n, v: Vec::new(), w: Vec::new(), t: Vec::new(), random: options.seed.stream("krylov") };
    let mut fresh = space.extend(&[], 0, width);
    let (mut applications, mut expansions, mut probes) = (0, 0, 0);
    let mut gap = f64::INFINITY;
    loop {
        if applications >= options.max_applications || !proceed(applications, gap) {
            // the block that was never applied is no part of the answer
            let ritz = Ritz::of(&space, k)?;
            return Ok(space.answer(&ritz, k, applications, false));
        }
        space.append(&fresh, apply);
        applications += 1;
        expansions += 1;
        // every other block is the image AV of the last one, as in block Lanczos: it spans the same and needs no decomposition
        if expansions % 2 == 1 && probes == 0 && space.len() + width <= most.min(n - width) {
            let images = space.w[(space.len() - fresh.len() / n) * n..].to_vec();
            fresh = space.extend(&images, fresh.len() / n, width);
            continue;
        }
        // Rayleigh–Ritz: the eigenpairs of T = VᵀAV and their residuals
        let ritz = Ritz::of(&space, k + width)?;
        let small = options.tolerance * ritz.size;
        gap = ritz.residuals.iter().take(k).copied().fold(0.0, f64::max) / ritz.size.max(f64::MIN_POSITIVE);
        let converged = ritz.values.len() >= k && ritz.residuals[..k].iter().all(|&r| r <= small);
        let mut leading: Vec<usize> = (0..ritz.residuals.len()).filter(|&j| ritz.residuals[j] > small).collect();
        if converged {
            if k <= width || probes > expansions / 3 {
                return Ok(space.answer(&ritz, k, applications, true));
            }
            if probes == 0 {
                leading.clear(); // fresh random directions see what the block could not
            }
            probes += 1;
        } else {
            probes = 0;
        }
        leading.truncate(width);
        let residuals = ritz.residual_vectors(&space, &leading);
        if space.len() + width > most {
            space.restart(&ritz, k + most / 4);
        }
        fresh = space.extend(&residuals, leading.len(), width);
    }
}

/// An orthonormal basis V (one vector after the other), W = AV, and T = VᵀW.
struct Space {
    n: usize,
    v: Vec<f64>,
    w: Vec<f64>,
    t: Vec<f64>,
    random: Random,
}

impl Space {
    fn len(&self) -> usize {
        self.w.len() / self.n
    }

    /// An orthonormal block, orthogonal to V, of the given directions; random ones take the place of those that vanish
    /// (the space is invariant in that direction) or are missing. Never more than the space has room for.
    fn extend(&mut self, directions: &[f64], count: usize, width: usize) -> Vec<f64> {
        let (n, m) = (self.n, self.len());
        let width = width.min(n - m);
        let mut basis = self.v.clone();
        let mut given = directions.chunks_exact(n).take(count);
        while basis.len() < (m + width) * n {
            let mut z: Vec<f64> = match given.next() {
                Some(direction) => direction.to_vec(),
                None => (0..n).map(|_| self.random.normal()).collect(),
            };
            if orthonormalise(&mut z, &basis) {
                basis.extend(z);
            }
        }
        basis.split_off(m * n)
    }

    /// Applies the operator to an orthonormal block and takes it into the basis.
    fn append(&mut self, block: &[f64], apply: Apply<'_>) {
        let (n, m) = (self.n, self.len());
        let b = block.len() / n;
        let (mut image, turned) = (vec![0.0; n * b], transpose(block, b, n));
        apply(&turned, b, &mut image);
        self.v.extend_from_slice(block);
        self.w.extend(transpose(&image, n, b));
        // the new rows of T = VᵀAV; the rest is known by symmetry
        let size = m + b;
        let mut rows = vec![0.0; b * size];
        multiply_transposed(&self.w[m * n..], &self.v, n, &mut rows, size);
        let mut t = vec![0.0; size * size];
        for i in 0..m {
            t[i * size..i * size + m].copy_from_slice(&self.t[i * m..(i + 1) * m]);
        }
        for i in 0..b {
            for j in 0..size {
                // inside the new block both halves were computed: their mean is exactly symmetric
                let value =
                    if j < m { rows[i * size + j] } else { 0.5 * (rows[i * size + j] + rows[(j - m) * size + m + i]) };
                t[(m + i) * size + j] = value;
                t[j * size + m + i] = value;
            }
        }
        self.t = t;
    }

    /// Keeps the leading Ritz vectors only; no application is needed, since AVS = WS.
    fn restart(&mut self, ritz: &Ritz, keep: usize) {
        let (n, m) = (self.n, self.len());
        let keep = keep.min(m);
        let turn = ritz.columns(&(0..keep).collect::<Vec<_>>());
        let (mut v, mut w) = (vec![0.0; keep * n], vec![0.0; keep * n]);
        multiply_add(&turn, keep, m, &self.v, n, &mut v);
        multiply_add(&turn, keep, m, &self.w, n, &mut w);
        (self.v, self.w) = (v, w);
        self.t = vec![0.0; keep * keep];
        for j in 0..keep {
            self.t[j * keep + j] = ritz.values[j];
        }
    }

    fn answer(&self, ritz: &Ritz, k: usize, applications: usize, converged: bool) -> TopEigen {
        let k = k.min(ritz.values.len());
        let turn = ritz.columns(&(0..k).collect::<Vec<_>>());
        let mut rows = vec![0.0; k * self.n];
        multiply_add(&turn, k, self.len(), &self.v, self.n, &mut rows);
        TopEigen {
            values: ritz.values[..k].to_vec(),
            vectors: transpose(&rows, k, self.n),
            residuals: ritz.residuals[..k].to_vec(),
            applications,
            converged,
        }
    }
}

/// The eigenpairs of T, and how far they are from being those of A.
struct Ritz {
    values: Vec<f64>,
    vectors: Vec<f64>,
    /// Of the leading pairs.
    residuals: Vec<f64>,
    /// The largest |θ|.
    size: f64,
}

impl Ritz {
    /// All pairs, and the residuals of the leading `wanted`: those of others would cost more than everything else.
    fn of(space: &Space, wanted: usize) -> Result<Self, SolveError> {
        let m = space.len();
        let eigen = symmetric_eigen(space.t.clone(), m)?;
        let size = eigen.values.iter().fold(0.0, |top: f64, v| top.max(v.abs()));
        let mut ritz = Self { values: eigen.values, vectors: eigen.vectors, residuals: Vec::new(), size };
        let leading = ritz.residual_vectors(space, &(0..m.min(wanted)).collect::<Vec<_>>());
        ritz.residuals = leading.chunks_exact(space.n).map(norm).collect();
        Ok(ritz)
    }

    /// The chosen eigenvectors of T, one after the other.
    fn columns(&self, chosen: &[usize]) -> Vec<f64> {
        let m = self.values.len();
        chosen.iter().flat_map(|&j| (0..m).map(move |i| self.vectors[i * m + j])).collect()
    }

    /// W s − θ V s for the chosen pairs, one after the other.
    fn residual_vectors(&self, space: &Space, chosen: &[usize]) -> Vec<f64> {
        let (n, m) = (space.n, self.values.len());
        let mut turn = self.columns(chosen);
        let mut out = vec![0.0; chosen.len() * n];
        multiply_add(&turn, chosen.len(), m, &space.w, n, &mut out);
        for (row, &j) in turn.chunks_exact_mut(m.max(1)).zip(chosen) {
            for s in row {
                *s *= -self.values[j];
            }
        }
        multiply_add(&turn, chosen.len(), m, &space.v, n, &mut out);
        out
    }
}

/// Makes z a unit vector orthogonal to the basis; `false` if nothing but rounding is left of it.
fn orthonormalise(z: &mut [f64], basis: &[f64]) -> bool {
    let n = z.len();
    let mut length = norm(z);
    if length == 0.0 || !length.is_finite() {
        return false;
    }
    shrink(z, length);
    // twice is enough (Kahan), unless the first pass took nearly everything: then a third decides
    let m = basis.len() / n;
    let mut parts = vec![0.0; m];
    for pass in 0..3 {
        multiply_transposed(basis, z, n, &mut parts, 1);
        for p in &mut parts {
            *p = -*p;
        }
        multiply_add(&parts, 1, m, basis, n, z);
        length = norm(z);
        if length < 1e-8 {
            return false;
        }
        shrink(z, length);
        if pass > 0 && length > 0.5 {
            break;
        }
    }
    true
}

fn shrink(z: &mut [f64], length: f64) {
    for x in z {
        *x /= length;
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Row by row becomes column by column.
fn transpose(a: &[f64], rows: usize, cols: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(a.len());
    for j in 0..cols {
        out.extend((0..rows).map(|i| a[i * cols + j]));
    }
    out
}

/// Applies the operator to every unit vector, and decomposes what comes out.
fn whole_space(n: usize, apply: Apply<'_>, k: usize, proceed: Proceed<'_>) -> Result<TopEigen, SolveError> {
    let mut matrix = vec![0.0; n * n];
    let mut applications = 0;
    for left in (0..n).step_by(MAX_BLOCK) {
        if !proceed(applications, f64::INFINITY) {
            return Ok(TopEigen { values: vec![], vectors: vec![], residuals: vec![], applications, converged: false });
        }
        let b = MAX_BLOCK.min(n - left);
        let (mut unit, mut image) = (vec![0.0; n * b], vec![0.0; n * b]);
        for c in 0..b {
            unit[(left + c) * b + c] = 1.0;
        }
        apply(&unit, b, &mut image);
        applications += 1;
        for i in 0..n {
            matrix[i * n + left..i * n + left + b].copy_from_slice(&image[i * b..(i + 1) * b]);
        }
    }
    let eigen = symmetric_eigen(matrix.clone(), n)?;
    let mut vectors = Vec::with_capacity(n * k);
    for row in eigen.vectors.chunks_exact(n) {
        vectors.extend_from_slice(&row[..k]);
    }
    let mut image = vec![0.0; n * k];
    multiply_add(&matrix, n, n, &vectors, k, &mut image);
    let residual = |j: usize| {
        (0..n).map(|i| (image[i * k + j] - eigen.values[j] * vectors[i * k + j]).powi(2)).sum::<f64>().sqrt()
    };
    let residuals = (0..k).map(residual).collect();
    Ok(TopEigen { values: eigen.values[..k].to_vec(), vectors, residuals, applications, converged: true })
}

#[cfg(test)]
#[path = "krylov_tests.rs"]
mod tests;
