//! The data of linear problems, packed for coordinate descent.
//!
//! A pass reads each row once and the weights of its coordinates at random. Indices are 32 bits, apart from their values, and
//! only coordinates that occur have a weight. (Numbering them by how often they occur was tried on text and changed nothing.)

use std::borrow::Cow;

/// Rows that a solver takes inner products with, for the weights of B problems side by side: what is read of a row serves
/// all of them.
pub(super) trait Rows: Sync {
    /// Number of weights of a problem.
    fn width(&self) -> usize;
    /// ⟨x_i, w⟩.
    fn dot<const B: usize>(&self, i: usize, weights: &[[f64; B]]) -> [f64; B];
    /// x_i, where it is stored with its zeros.
    fn whole(&self, _i: usize) -> Option<&[f64]> {
        None
    }
    /// w ← w + step · x_i.
    fn add<const B: usize>(&self, i: usize, step: [f64; B], weights: &mut [[f64; B]]);
}

/// n examples as rows of √scale · x, with a constant coordinate for the bias where one is wanted. Shared by all problems on
/// the same examples.
pub struct Design {
    pub(super) rows: Packed,
    /// ‖x_i‖², the bias included.
    pub(super) squares: Vec<f64>,
    /// The coordinate that each weight belongs to, without the bias, which has the first weight.
    coordinates: Vec<u32>,
    width: usize,
    root: f64,
    bias: Option<f64>,
}

pub(super) enum Packed {
    Dense(DenseRows),
    Sparse(SparseRows),
}

/// Rows are filled up with zeros to whole vectors: the last numbers of short rows would take as long as all others.
pub(super) struct DenseRows {
    values: Vec<f64>,
    width: usize,
}

/// Rows are filled up with zeros of the first coordinate to a multiple of the sums.
pub(super) struct SparseRows {
    indices: Vec<u32>,
    values: Vec<f64>,
    starts: Vec<usize>,
    width: usize,
}

impl Design {
    /// Packs dense rows of `width` numbers.
    pub fn dense(values: &[f64], len: usize, width: usize, scale: f64, bias: Option<f64>) -> Self {
        let (root, wide) = (scale.sqrt(), (width + usize::from(bias.is_some())).next_multiple_of(LANES));
        let mut packed = Vec::with_capacity(len * wide);
        for i in 0..len {
            packed.extend(bias);
            packed.extend(values[i * width..(i + 1) * width].iter().map(|x| x * root));
            packed.resize((i + 1) * wide, 0.0);
        }
        let rows = DenseRows { values: packed, width: wide };
        let squares = (0..len).map(|i| rows.row(i).iter().map(|x| x * x).sum()).collect();
        let coordinates = (0..width as u32).collect();
        Self { rows: Packed::Dense(rows), squares, coordinates, width, root, bias }
    }

    /// Packs sparse rows below `width`: the coordinates (index, value) one row after the other, and where each row starts.
    pub fn sparse<I>(coordinates: I, starts: &[usize], width: usize, scale: f64, bias: Option<f64>) -> Self
    where
        I: Iterator<Item = (u32, f64)> + Clone,
    {
        let (root, extra) = (scale.sqrt(), usize::from(bias.is_some()));
        // what never occurs needs no weight
        let mut places = vec![u32::MAX; width];
        coordinates.clone().for_each(|(index, _)| places[index as usize] = 0);
        let order: Vec<u32> = (0..width as u32).filter(|&j| places[j as usize] == 0).collect();
        for (place, &j) in order.iter().enumerate() {
            places[j as usize] = (place + extra) as u32;
        }
        let (n, stored) = (starts.len().saturating_sub(1), starts.last().copied().unwrap_or(0));
        let mut indices = Vec::with_capacity(stored + extra * n);
        let mut values = Vec::with_capacity(stored + extra * n);
        let (mut ends, mut squares) = (Vec::with_capacity(n + 1), Vec::with_capacity(n));
        ends.push(0);
        let mut rest = coordinates;
        for row in starts.windows(2) {
            let begin = values.len();
            if let Some(constant) = bias {
                indices.push(0);
                values.push(constant);
            }
            for (index, value) in rest.by_ref().take(row[1] - row[0]) {
                indices.push(places[index as usize]);
                values.push(value * root);
            }
            // whole groups of sums: the end of a short loop is guessed wrong by the processor once for each row
            let whole = values.len().next_multiple_of(SUMS);
            values.resize(whole, 0.0);
            indices.resize(whole, 0);
            squares.push(values[begin..].iter().map(|x| x * x).sum());
            ends.push(values.len());
        }
        let rows = SparseRows { indices, values, starts: ends, width: order.len() + extra };
        Self { rows: Packed::Sparse(rows), squares, coordinates: order, width, root, bias }
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.squares.len()
    }

    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        self.squares.is_empty()
    }

    /// Number of weights of a problem: one for each coordinate that occurs, the bias, and those of the zeros that fill up
    /// rows.
    pub fn weights(&self) -> usize {
        match &self.rows {
            Packed::Dense(rows) => rows.width,
            Packed::Sparse(rows) => rows.width,
        }
    }

    /// All rows with their zeros.
    pub(in crate::solvers) fn dense_rows(&self) -> Cow<'_, [f64]> {
        match &self.rows {
            Packed::Dense(rows) => Cow::Borrowed(&rows.values),
            Packed::Sparse(rows) => {
                let mut all = vec![0.0; self.len() * rows.width];
                for (i, line) in all.chunks_exact_mut(rows.width.max(1)).enumerate() {
                    let (indices, values) = rows.row(i);
                    // what fills a row up adds nothing
                    indices.iter().zip(values).for_each(|(&j, x)| line[j as usize] += x);
                }
                Cow::Owned(all)
            }
        }
    }

    /// Weights for the coordinates as they were given, `width × solutions` row by row, and the offset of each solution:
    /// f_c(x) = ⟨w_c, x⟩ + b_c.
    pub fn unpack<W: AsRef<[f64]>>(&self, solutions: &[W]) -> (Vec<f64>, Vec<f64>) {
        let (k, extra) = (solutions.len(), usize::from(self.bias.is_some()));
        let mut weights = vec![0.0; self.width * k];
        for (place, &j) in self.coordinates.iter().enumerate() {
            let row = &mut weights[j as usize * k..(j as usize + 1) * k];
            for (weight, solution) in row.iter_mut().zip(solutions) {
                *weight = self.root * solution.as_ref()[place + extra];
            }
        }
        let offset = |solution: &W| self.bias.map_or(0.0, |constant| constant * solution.as_ref()[0]);
        (weights, solutions.iter().map(offset).collect())
    }
}

impl DenseRows {
    #[inline(always)]
    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..(i + 1) * self.width]
    }
}

/// Numbers of a whole vector.
const LANES: usize = 8;

/// Sums that do not wait for each other.
const SUMS: usize = 4;

/// total ← total + x · w.
#[inline(always)]
fn add_product<const B: usize>(total: &mut [f64; B], x: f64, w: &[f64; B]) {
    for l in 0..B {
        total[l] += x * w[l];
    }
}

#[inline(always)]
fn total<const B: usize>(sums: &[[f64; B]; SUMS]) -> [f64; B] {
    std::array::from_fn(|l| (sums[0][l] + sums[1][l]) + (sums[2][l] + sums[3][l]))
}

impl Rows for DenseRows {
    fn width(&self) -> usize {
        self.width
    }

    fn whole(&self, i: usize) -> Option<&[f64]> {
        Some(self.row(i))
    }

    #[inline(always)]
    fn dot<const B: usize>(&self, i: usize, weights: &[[f64; B]]) -> [f64; B] {
        if B == 1 {
            return [dense_dot(self.row(i), weights.as_flattened()); B];
        }
        let (x, w) = (self.row(i).as_chunks::<SUMS>().0, weights.as_chunks::<SUMS>().0);
        let mut sums = [[0.0; B]; SUMS];
        for (x, w) in x.iter().zip(w) {
            for s in 0..SUMS {
                add_product(&mut sums[s], x[s], &w[s]);
            }
        }
        total(&sums)
    }

    #[inline(always)]
    fn add<const B: usize>(&self, i: usize, step: [f64; B], weights: &mut [[f64; B]]) {
        for (w, x) in weights.iter_mut().zip(self.row(i)) {
            add_product(w, *x, &step);
        }
    }
}

/// ⟨x, w⟩ in the sums of two vectors.
#[inline(always)]
fn dense_dot(x: &[f64], w: &[f64]) -> f64 {
    let (x, w) = (x.as_chunks::<LANES>().0, w.as_chunks::<LANES>().0);
    let ((x, x_rest), (w, w_rest)) = (x.as_chunks::<2>(), w.as_chunks::<2>());
    let mut sums = [[0.0; LANES]; 2];
    for (x, w) in x.iter().zip(w) {
        for s in 0..2 {
            for l in 0..LANES {
                sums[s][l] += x[s][l] * w[s][l];
            }
        }
    }
    for (x, w) in x_rest.iter().zip(w_rest) {
        for l in 0..LANES {
            sums[0][l] += x[l] * w[l];
        }
    }
    let both: [f64; LANES] = std::array::from_fn(|l| sums[0][l] + sums[1][l]);
    ((both[0] + both[4]) + (both[2] + both[6])) + ((both[1] + both[5]) + (both[3] + both[7]))
}

impl SparseRows {
    #[inline(always)]
    fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let (start, end) = (self.starts[i], self.starts[i + 1]);
        (&self.indices[start..end], &self.values[start..end])
    }
}

impl Rows for SparseRows {
    fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn dot<const B: usize>(&self, i: usize, weights: &[[f64; B]]) -> [f64; B] {
        let (indices, values) = self.row(i);
        let (j, x) = (indices.as_chunks::<SUMS>().0, values.as_chunks::<SUMS>().0);
        let mut sums = [[0.0; B]; SUMS];
        for (j, x) in j.iter().zip(x) {
            for s in 0..SUMS {
                add_product(&mut sums[s], x[s], &weights[j[s] as usize]);
            }
        }
        total(&sums)
    }

    #[inline(always)]
    fn add<const B: usize>(&self, i: usize, step: [f64; B], weights: &mut [[f64; B]]) {
        let (indices, values) = self.row(i);
        let (j, x) = (indices.as_chunks::<SUMS>().0, values.as_chunks::<SUMS>().0);
        for (j, x) in j.iter().zip(x) {
            for s in 0..SUMS {
                add_product(&mut weights[j[s] as usize], x[s], &step);
            }
        }
    }
}
