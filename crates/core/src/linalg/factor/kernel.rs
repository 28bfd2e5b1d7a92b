//! Products of a micropanel of 24 rows and one of 8 columns, and the triangle of 8 columns: what runs in vector registers.
//!
//! Every number is one chain of fused operations over the columns of a block in their order, then one subtraction, so it has
//! the same bits on every instruction set and for tiles of any size.
//!
//! # Source
//! Goto & van de Geijn (2008), Anatomy of high-performance matrix multiplication, ACM Trans. Math. Softw. 34.

use pulp::Simd;

/// Rows of a micropanel.
pub(super) const ROWS: usize = 24;
/// Columns of a tile.
pub(super) const COLUMNS: usize = 8;

/// One column of a micropanel.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [f64; ROWS]);

impl Line {
    pub(super) const ZERO: Self = Self([0.0; ROWS]);
}

/// A triangle of 8 × 8 numbers on the diagonal of L.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    /// Column by column.
    pub(super) values: [[f64; COLUMNS]; COLUMNS],
    /// 1 / L_jj.
    pub(super) reciprocals: [f64; COLUMNS],
}

/// What becomes of an entry c and the product p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum How {
    /// c − p.
    Subtract,
    /// c + p.
    Add,
    /// p.
    Set,
    /// −p.
    SetMinus,
}

impl How {
    /// The sign of the product, and whether it is added to what was there.
    pub(super) fn parts(self) -> (f64, bool) {
        match self {
            How::Subtract => (-1.0, true),
            How::Add => (1.0, true),
            How::Set => (1.0, false),
            How::SetMinus => (-1.0, false),
        }
    }

    /// The new entry; the same bits as in registers.
    #[inline(always)]
    pub(super) fn of(self, c: f64, p: f64) -> f64 {
        let (sign, keeps) = self.parts();
        sign.mul_add(p, if keeps { c } else { 0.0 })
    }
}

#[inline(always)]
fn load<S: Simd>(from: &[f64], at: usize) -> S::f64s {
    S::as_simd_f64s(&from[at..at + S::F64_LANES]).0[0]
}

#[inline(always)]
fn store<S: Simd>(to: &mut [f64], at: usize, value: S::f64s) {
    S::as_mut_simd_f64s(&mut to[at..at + S::F64_LANES]).0[0] = value;
}

/// Σ_k l_k r_kᵀ for R registers of rows from `top` and C columns from `first`.
#[inline(always)]
fn product<S: Simd, const R: usize, const C: usize>(
    simd: S,
    left: &[Line],
    right: &[Line],
    top: usize,
    first: usize,
) -> [[S::f64s; R]; C] {
    assert!(first + C <= ROWS && top + R * S::F64_LANES <= ROWS);
    let mut sums = [[simd.splat_f64s(0.0); R]; C];
    for (l, r) in left.iter().zip(right) {
        let mut rows = [simd.splat_f64s(0.0); R];
        for i in 0..R {
            rows[i] = load::<S>(&l.0, top + i * S::F64_LANES);
        }
        for c in 0..C {
            let b = simd.splat_f64s(r.0[first + c]);
            for i in 0..R {
                sums[c][i] = simd.mul_add_f64s(rows[i], b, sums[c][i]);
            }
        }
    }
    sums
}

macro_rules! shapes {
    ($simd:expr, $run:ident, $($args:expr),*) => {
        // 24 of 32 registers are sums where there are so many, else 12 of 16
        if S::F64_LANES == 8 { $run::<S, 3, 8>($simd, $($args),*) } else { $run::<S, 3, 4>($simd, $($args),*) }
    };
}

/// Takes the product of a whole tile into 24 rows from `row` of 8 columns.
#[inline(always)]
pub(super) fn into_columns<S: Simd>(
    simd: S,
    left: &[Line],
    right: &[Line],
    first: usize,
    how: How,
    columns: &mut [&mut [f64]; COLUMNS],
    row: usize,
) {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const C: usize>(
        simd: S,
        left: &[Line],
        right: &[Line],
        first: usize,
        how: How,
        columns: &mut [&mut [f64]; COLUMNS],
        row: usize,
    ) {
        let (sign, keeps) = how.parts();
        let sign = simd.splat_f64s(sign);
        for j in 0..COLUMNS / C {
            for h in 0..ROWS / (R * S::F64_LANES) {
                let top = h * R * S::F64_LANES;
                let sums = product::<S, R, C>(simd, left, right, top, first + j * C);
                for c in 0..C {
                    let place = &mut columns[j * C + c][row + top..row + top + R * S::F64_LANES];
                    for i in 0..R {
                        let at = i * S::F64_LANES;
                        let old = if keeps { load::<S>(place, at) } else { simd.splat_f64s(0.0) };
                        store::<S>(place, at, simd.mul_add_f64s(sign, sums[c][i], old));
                    }
                }
            }
        }
    }
    shapes!(simd, run, left, right, first, how, columns, row);
}

/// The product of a tile, column by column: where a part of it counts.
#[inline(always)]
pub(super) fn alone<S: Simd>(simd: S, left: &[Line], right: &[Line], first: usize) -> [[f64; ROWS]; COLUMNS] {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const C: usize>(
        simd: S,
        left: &[Line],
        right: &[Line],
        first: usize,
    ) -> [[f64; ROWS]; COLUMNS] {
        let mut out = [[0.0; ROWS]; COLUMNS];
        for j in 0..COLUMNS / C {
            for h in 0..ROWS / (R * S::F64_LANES) {
                let top = h * R * S::F64_LANES;
                let sums = product::<S, R, C>(simd, left, right, top, first + j * C);
                for c in 0..C {
                    for i in 0..R {
                        store::<S>(&mut out[j * C + c], top + i * S::F64_LANES, sums[c][i]);
                    }
                }
            }
        }
        out
    }
    shapes!(simd, run, left, right, first)
}

/// Subtracts the product from 8 lines.
#[inline(always)]
pub(super) fn from_lines<S: Simd>(simd: S, left: &[Line], right: &[Line], first: usize, lines: &mut [Line]) {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const C: usize>(
        simd: S,
        left: &[Line],
        right: &[Line],
        first: usize,
        lines: &mut [Line],
    ) {
        for j in 0..COLUMNS / C {
            for h in 0..ROWS / (R * S::F64_LANES) {
                let top = h * R * S::F64_LANES;
                let sums = product::<S, R, C>(simd, left, right, top, first + j * C);
                for c in 0..C {
                    let line = &mut lines[j * C + c].0;
                    for i in 0..R {
                        let at = top + i * S::F64_LANES;
                        let value = simd.sub_f64s(load::<S>(line, at), sums[c][i]);
                        store::<S>(line, at, value);
                    }
                }
            }
        }
    }
    shapes!(simd, run, left, right, first, lines);
}

/// X Tᵀ = B in the place of B, for 8 lines: x_j = (b_j − Σ_{k<j} x_k t_jk) / t_jj.
#[inline(always)]
pub(super) fn substitute<S: Simd>(simd: S, lines: &mut [Line], corner: &Corner) {
    assert!(lines.len() == COLUMNS);
    for h in 0..ROWS / S::F64_LANES {
        let at = h * S::F64_LANES;
        let mut x = [simd.splat_f64s(0.0); COLUMNS];
        for j in 0..COLUMNS {
            x[j] = load::<S>(&lines[j].0, at);
        }
        for k in 0..COLUMNS {
            x[k] = simd.mul_f64s(x[k], simd.splat_f64s(corner.reciprocals[k]));
            let minus = simd.neg_f64s(x[k]);
            for j in k + 1..COLUMNS {
                x[j] = simd.mul_add_f64s(minus, simd.splat_f64s(corner.values[k][j]), x[j]);
            }
        }
        for j in 0..COLUMNS {
            store::<S>(&mut lines[j].0, at, x[j]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sets;
    use super::*;
    use pulp::WithSimd;
    use std::array::from_fn;

    /// Everything that runs in registers, on the same numbers.
    struct All<'a> {
        left: &'a [Line],
        right: &'a [Line],
        corner: &'a Corner,
    }

    fn columns() -> [Vec<f64>; COLUMNS] {
        from_fn(|c| (0..2 * ROWS).map(|i| ((c * 50 + i) as f64).cos()).collect())
    }

    impl WithSimd for All<'_> {
        type Output = Vec<f64>;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
            let mut out = Vec::new();
            for first in [0, 8, 16] {
                for how in [How::Subtract, How::Add, How::Set, How::SetMinus] {
                    let mut target = columns();
                    let mut slices = target.each_mut().map(Vec::as_mut_slice);
                    into_columns(simd, self.left, self.right, first, how, &mut slices, 5);
                    out.extend(target.concat());
                }
                out.extend(alone(simd, self.left, self.right, first).concat());
                let mut lines = self.left[..COLUMNS].to_vec();
                from_lines(simd, self.left, self.right, first, &mut lines);
                substitute(simd, &mut lines, self.corner);
                out.extend(lines.iter().flat_map(|line| line.0));
            }
            out
        }
    }

    fn plain(all: &All<'_>) -> Vec<f64> {
        let mut out = Vec::new();
        for first in [0, 8, 16] {
            let product = |i: usize, c: usize| {
                let pairs = all.left.iter().zip(all.right);
                pairs.fold(0.0, |sum, (l, r)| l.0[i].mul_add(r.0[first + c], sum))
            };
            for how in [How::Subtract, How::Add, How::Set, How::SetMinus] {
                let mut target = columns();
                for (c, i) in (0..COLUMNS).flat_map(|c| (0..ROWS).map(move |i| (c, i))) {
                    target[c][5 + i] = how.of(target[c][5 + i], product(i, c));
                }
                out.extend(target.concat());
            }
            (0..COLUMNS).for_each(|c| out.extend((0..ROWS).map(|i| product(i, c))));
            let mut x: [[f64; ROWS]; COLUMNS] = from_fn(|c| from_fn(|i| all.left[c].0[i] - product(i, c)));
            for (i, j) in (0..ROWS).flat_map(|i| (0..COLUMNS).map(move |j| (i, j))) {
                let sum = (0..j).fold(x[j][i], |rest, k| (-x[k][i]).mul_add(all.corner.values[k][j], rest));
                x[j][i] = sum * all.corner.reciprocals[j];
            }
            out.extend(x.concat());
        }
        out
    }

    #[test]
    fn registers_give_the_bits_of_plain_loops() {
        let line = |seed: usize| Line(from_fn(|i| ((seed * 31 + i * 7) as f64).sin()));
        let corner = Corner {
            values: from_fn(|k| from_fn(|j| if j < k { f64::NAN } else { 2.0 + ((k * 9 + j) as f64).sin() })),
            reciprocals: from_fn(|j| 0.5 + j as f64 / 10.0),
        };
        for length in [8, 9, 24, 50] {
            let left: Vec<Line> = (0..length).map(line).collect();
            let right: Vec<Line> = (0..length).map(|k| line(1000 + k)).collect();
            let all = || All { left: &left, right: &right, corner: &corner };
            let wanted = plain(&all());
            for set in sets() {
                let found = set.dispatch(all());
                let same = found.iter().zip(&wanted).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same && found.len() == wanted.len(), "{set:?} {length}");
            }
        }
    }
}
