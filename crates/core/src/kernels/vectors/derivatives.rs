//! Derivatives of the vector families by their parameters.
//!
//! With s the squared distance or the inner product, from the same product of matrices as the kernel's values:
//!
//! ```text
//! a parameter of the profile     ∂κ/∂θ = partial(s)
//! a length for each coordinate   ∂κ/∂ℓ_k = slope(s) · (−2/ℓ_k) (u_k − v_k)²,   u = x/ℓ, v = y/ℓ
//! ```
//!
//! For all lengths at once, with G = W ∘ slope(S),
//!
//! ```text
//! Σ_ij G_ij (u_ik − v_jk)² = Σ_i (G1)_i u_ik² + Σ_j (Gᵀ1)_j v_jk² − 2 diag(Uᵀ G V)_k
//! ```
//!
//! and diag(UᵀGV) is the column sums of U ∘ (GV): for n × m pairs of d coordinates one product for S and one for GV, 4nmd
//! operations together, where d passes over the pairs would take d products for S alone. The data are centred, so that the three sums
//! cancel no more than distances by products do.
//!
//! Families of a sum over coordinates, κ = outer(Σ term), have ∂κ/∂θ = ∂outer/∂θ + outer′ Σ ∂term/∂θ; both sums are matrices of the
//! family's own loops.

use super::packed::Stored;
use super::store::Store;
use super::{Packed, PairFamily, PairGram, ProductFamily, ProductGram};
use crate::data::Scalar;
use crate::gram::{BlockMut, Gram, Pick, Precision};
use crate::kernels::{Derivatives, Sides};
use crate::linalg::multiply_add;
use std::sync::Arc;

/// The derivatives of a profile of the squared distance or of the inner product.
pub(crate) trait Slopes: ProductFamily {
    /// By the squared distance or the inner product.
    fn slope(&self, at: f64) -> f64;
    /// By the p-th real parameter.
    fn partial(&self, p: usize, at: f64) -> f64;
    /// True if the parameters are the lengths by which coordinates are divided.
    fn has_lengths(&self) -> bool {
        false
    }
}

/// Squared distances (`DISTANCE`) or inner products themselves.
#[derive(Clone)]
struct Raw<const DISTANCE: bool>;

impl<const DISTANCE: bool> ProductFamily for Raw<DISTANCE> {
    const DISTANCE: bool = DISTANCE;

    #[inline(always)]
    fn finish<S: Scalar>(&self, products: &mut [S], square: S, squares: &[S]) {
        if DISTANCE {
            let two = S::narrow(2.0);
            for (p, &other) in products.iter_mut().zip(squares) {
                *p = (square + other - two * *p).at_least(S::default());
            }
        }
    }

    #[inline(always)]
    fn finish_alone<S: Scalar>(&self, _: &mut [S]) {}

    fn own(&self, square: f64) -> f64 {
        if DISTANCE { 0.0 } else { square }
    }
}

/// A kernel of distances or inner products between two sides, and its derivatives.
pub(crate) struct ProductDerivatives<F> {
    family: F,
    left: Arc<Packed>,
    right: Arc<Packed>,
    /// Squared distances or inner products.
    raw: Arc<dyn Gram>,
    /// One over the lengths of the coordinates, where these are the parameters: one for all, or one for each.
    factors: Vec<f64>,
}

impl<F: Slopes> ProductDerivatives<F> {
    /// The kernel between the sides, with factors for the coordinates.
    pub(crate) fn new(family: F, sides: &Sides, centre: bool, weights: Option<Vec<f64>>) -> Self {
        let factors = if family.has_lengths() { weights.clone().unwrap_or_default() } else { Vec::new() };
        let (left, right) = sides.pack(centre, weights);
        let (a, b) = (Arc::clone(&left), Arc::clone(&right));
        let raw: Arc<dyn Gram> = if F::DISTANCE {
            Arc::new(ProductGram::of(Raw::<true>, a, b))
        } else {
            Arc::new(ProductGram::of(Raw::<false>, a, b))
        };
        Self { family, left, right, raw, factors }
    }

    /// Σ_ij G_ij (u_ik − v_jk)² for every coordinate k.
    fn squares_by_coordinate(&self, rows: &Pick<'_>, cols: &Pick<'_>, g: &[f64]) -> Vec<f64> {
        let (height, width) = (rows.len(), cols.len());
        let mut sums = vec![0.0; self.factors.len()];
        // the two weighted sums of squares
        let mut down = vec![0.0; width];
        for line in g.chunks_exact(width.max(1)) {
            down.iter_mut().zip(line).for_each(|(d, g)| *d += g);
        }
        let along: Vec<f64> = g.chunks_exact(width.max(1)).map(|line| line.iter().sum()).collect();
        match (f64::store(&self.left), f64::store(&self.right)) {
            (Store::Dense { rows: u, .. }, Store::Dense { rows: v, .. }) => {
                let d = u.width();
                for (pick, weights, side) in [(rows, &along, u), (cols, &down, v)] {
                    for (w, i) in weights.iter().zip(pick.iter()) {
                        sums.iter_mut().zip(side.row(i)).for_each(|(s, x)| *s += w * x * x);
                    }
                }
                // GV, and the column sums of U ∘ (GV)
                let mut product = vec![0.0; height * d];
                match cols {
                    Pick::Range(range) => {
                        let block = &v.values()[range.start * d..range.end * d];
                        multiply_add(g, height, width, block, d, &mut product);
                    }
                    Pick::List(list) => {
                        let block: Vec<f64> = list.iter().flat_map(|&j| v.row(j)).copied().collect();
                        multiply_add(g, height, width, &block, d, &mut product);
                    }
                }
                for (line, i) in product.chunks_exact(d.max(1)).zip(rows.iter()) {
                    let pairs = line.iter().zip(u.row(i));
                    sums.iter_mut().zip(pairs).for_each(|(s, (p, x))| *s -= 2.0 * p * x);
                }
            }
            (Store::Sparse { rows: u, .. }, Store::Sparse { rows: v, .. }) => {
                for (pick, weights, side) in [(rows, &along, u), (cols, &down, v)] {
                    for (w, i) in weights.iter().zip(pick.iter()) {
                        side.row(i).iter().for_each(|c| sums[c.index as usize] += w * c.value * c.value);
                    }
                }
                // row by row of U, spread out: only coordinates that both have count
                f64::zeros(self.factors.len(), |x| {
                    for (line, i) in g.chunks_exact(width.max(1)).zip(rows.iter()) {
                        u.row(i).iter().for_each(|c| x[c.index as usize] = c.value);
                        for (g, j) in line.iter().zip(cols.iter()) {
                            for c in v.row(j) {
                                let k = c.index as usize;
                                sums[k] -= 2.0 * g * x[k] * c.value;
                            }
                        }
                        u.row(i).iter().for_each(|c| x[c.index as usize] = 0.0);
                    }
                });
            }
            _ => unreachable!("both sides are packed alike"),
        }
        sums
    }

    /// (u_k − v_k)² of one pair.
    fn square_of(&self, k: usize, i: usize, j: usize) -> f64 {
        let at = |packed: &Packed, i: usize| match f64::store(packed) {
            Store::Dense { rows, .. } => rows.row(i)[k],
            Store::Sparse { rows, .. } => rows.row(i).iter().find(|c| c.index as usize == k).map_or(0.0, |c| c.value),
        };
        let difference = at(&self.left, i) - at(&self.right, j);
        difference * difference
    }
}

impl<F: Slopes> Derivatives for ProductDerivatives<F> {
    fn gram(&self) -> Arc<dyn Gram> {
        let (left, right) = (Arc::clone(&self.left), Arc::clone(&self.right));
        Arc::new(ProductGram::of(self.family.clone(), left, right))
    }

    fn partial(&self, p: usize, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, f64>) {
        self.raw.block(rows.clone(), cols.clone(), out.reborrow());
        for (r, i) in rows.iter().enumerate() {
            for (o, j) in out.row_mut(r).iter_mut().zip(cols.iter()) {
                *o = match self.factors.as_slice() {
                    [] => self.family.partial(p, *o),
                    [one] => -2.0 * one * *o * self.family.slope(*o),
                    all => -2.0 * all[p] * self.square_of(p, i, j) * self.family.slope(*o),
                };
            }
        }
    }

    fn contract(&self, rows: &Pick<'_>, cols: &Pick<'_>, weights: &[f64], sums: &mut [f64]) {
        if sums.is_empty() {
            return;
        }
        f64::scratch(|raw| {
            raw.resize(weights.len(), 0.0);
            self.raw.block(rows.clone(), cols.clone(), BlockMut::new(raw, rows.len(), cols.len()));
            match self.factors.as_slice() {
                [] => {
                    for (p, sum) in sums.iter_mut().enumerate() {
                        *sum += raw.iter().zip(weights).map(|(&s, w)| w * self.family.partial(p, s)).sum::<f64>();
                    }
                }
                [one] => {
                    let total: f64 = raw.iter().zip(weights).map(|(&s, w)| w * s * self.family.slope(s)).sum();
                    sums[0] -= 2.0 * one * total;
                }
                all => {
                    raw.iter_mut().zip(weights).for_each(|(s, w)| *s = w * self.family.slope(*s));
                    let squares = self.squares_by_coordinate(rows, cols, raw);
                    for ((sum, factor), square) in sums.iter_mut().zip(all).zip(squares) {
                        *sum -= 2.0 * factor * square;
                    }
                }
            }
        });
    }
}

/// The derivatives of a kernel that is a function of a sum over coordinates.
pub(crate) trait PairSlopes: PairFamily {
    /// True if every coordinate has parameters of its own, so that a pair is better visited once for all of them.
    const PARAMETERS_PER_COORDINATE: bool = false;
    /// True if the p-th real parameter is in the term.
    fn in_term(&self, p: usize) -> bool;
    /// The derivative of a coordinate's term by the p-th real parameter; zero for two zeros. To be marked `#[inline(always)]`.
    fn term_partial<S: Scalar>(&self, p: usize, coordinate: usize, x: S, y: S) -> S;
    /// Adds `factor` times the derivatives of a coordinate's term by all parameters, where they are `PARAMETERS_PER_COORDINATE`.
    fn add_partials(&self, _coordinate: usize, _x: f64, _y: f64, _factor: f64, _sums: &mut [f64]) {}
    /// The derivative of the outer function by the sum.
    fn outer_slope(&self, sum: f64) -> f64;
    /// The derivative of the outer function by the p-th real parameter.
    fn outer_partial(&self, p: usize, sum: f64) -> f64;
}

/// The sum over coordinates itself.
#[derive(Clone)]
struct SumOf<F>(F);

impl<F: PairFamily> PairFamily for SumOf<F> {
    #[inline(always)]
    fn term<S: Scalar>(&self, x: S, y: S) -> S {
        self.0.term(x, y)
    }

    #[inline(always)]
    fn term_at<S: Scalar>(&self, coordinate: usize, x: S, y: S) -> S {
        self.0.term_at(coordinate, x, y)
    }

    #[inline(always)]
    fn outer<S: Scalar>(&self, sum: S) -> S {
        sum
    }
}

/// The sum over coordinates of the derivatives of the terms by one parameter.
#[derive(Clone)]
struct PartialOf<F>(F, usize);

impl<F: PairSlopes> PairFamily for PartialOf<F> {
    #[inline(always)]
    fn term<S: Scalar>(&self, x: S, y: S) -> S {
        self.0.term_partial(self.1, 0, x, y)
    }

    #[inline(always)]
    fn term_at<S: Scalar>(&self, coordinate: usize, x: S, y: S) -> S {
        self.0.term_partial(self.1, coordinate, x, y)
    }

    #[inline(always)]
    fn outer<S: Scalar>(&self, sum: S) -> S {
        sum
    }
}

/// A kernel of a sum over coordinates between two sides, and its derivatives.
pub(crate) struct PairDerivatives<F: PairFamily> {
    family: F,
    left: Arc<Packed>,
    right: Arc<Packed>,
    sums: PairGram<SumOf<F>>,
}

impl<F: PairSlopes> PairDerivatives<F> {
    /// The kernel between the sides, with factors for the coordinates.
    pub(crate) fn new(family: F, sides: &Sides, centre: bool, weights: Option<Vec<f64>>) -> Self {
        let (left, right) = sides.pack(centre, weights);
        let sums = PairGram::of(SumOf(family.clone()), Arc::clone(&left), Arc::clone(&right));
        Self { family, left, right, sums }
    }

    /// Calls `each` with coordinate and values of a pair, where either has something.
    fn each_coordinate(&self, i: usize, j: usize, mut each: impl FnMut(usize, f64, f64)) {
        match (f64::store(&self.left), f64::store(&self.right)) {
            (Store::Dense { rows: a, .. }, Store::Dense { rows: b, .. }) => {
                a.row(i).iter().zip(b.row(j)).enumerate().for_each(|(k, (&x, &y))| each(k, x, y));
            }
            (Store::Sparse { rows: a, .. }, Store::Sparse { rows: b, .. }) => {
                super::merge_indexed(a.row(i), b.row(j), each);
            }
            _ => unreachable!("both sides are packed alike"),
        }
    }
}

impl<F: PairSlopes> Derivatives for PairDerivatives<F> {
    fn gram(&self) -> Arc<dyn Gram> {
        Arc::new(PairGram::of(self.family.clone(), Arc::clone(&self.left), Arc::clone(&self.right)))
    }

    fn partial(&self, p: usize, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, f64>) {
        let (height, width) = (rows.len(), cols.len());
        let mut inside = vec![0.0; height * width];
        if self.family.in_term(p) {
            let family = PartialOf(self.family.clone(), p);
            let gram = PairGram::of(family, Arc::clone(&self.left), Arc::clone(&self.right));
            gram.block(rows.clone(), cols.clone(), BlockMut::new(&mut inside, height, width));
        }
        self.sums.block(rows.clone(), cols.clone(), out.reborrow());
        for (r, line) in inside.chunks_exact(width.max(1)).enumerate() {
            for (o, term) in out.row_mut(r).iter_mut().zip(line) {
                *o = self.family.outer_partial(p, *o) + self.family.outer_slope(*o) * term;
            }
        }
    }

    fn contract(&self, rows: &Pick<'_>, cols: &Pick<'_>, weights: &[f64], sums: &mut [f64]) {
        let (height, width) = (rows.len(), cols.len());
        let mut tile = vec![0.0; height * width];
        if !F::PARAMETERS_PER_COORDINATE {
            for (p, sum) in sums.iter_mut().enumerate() {
                self.partial(p, rows, cols, BlockMut::new(&mut tile, height, width));
                *sum += crate::linalg::dot(weights, &tile);
            }
            return;
        }
        self.sums.block(rows.clone(), cols.clone(), BlockMut::new(&mut tile, height, width));
        for (place, (&sum, w)) in tile.iter().zip(weights).enumerate() {
            let (i, j) = (rows.at(place / width), cols.at(place % width));
            let factor = w * self.family.outer_slope(sum);
            self.each_coordinate(i, j, |k, x, y| self.family.add_partials(k, x, y, factor, sums));
        }
    }
}
