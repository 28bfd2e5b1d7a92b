//! The matrix of the gap-weighted subsequence kernel.
//!
//! The recursion is a chain: each cell waits for its neighbour. Pairs do not wait for each other, so as many pairs as
//! there are lanes advance together, their characters interleaved.

use crate::data::Scalar;
use crate::gram::between::{Between, Comparison};
use crate::gram::{BlockMut, Pick};
use crate::kernels::text::sequences::{Sequences, aligned};
use crate::watch::given_up;
use pulp::{Simd, WithSimd};
use std::sync::Arc;

/// Pairs of a group: two of the widest vectors.
const LANES: usize = 16;
/// Cells of the tables between two looks whether the values are still wanted.
const CELLS_BETWEEN_LOOKS: usize = 1 << 18;
/// Fills the ends of shorter left and right strings. No character has these numbers, and they differ, so that
/// nothing matches beyond an end.
const LEFT_END: f64 = -1.0;
const RIGHT_END: f64 = -2.0;

/// The gap-weighted subsequence kernel.
#[derive(Clone)]
pub(super) struct GapWeighted {
    pub(super) length: usize,
    pub(super) decay: f64,
}

impl Between<GapWeighted> {
    fn write<S: Scalar>(&self, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, S>) {
        // neighbours in the order of lengths share a group of lanes, which is as long as its longest strings
        let (down, across) = (by_length(&self.rows, rows), by_length(&self.cols, cols));
        let mut lanes = Lanes::new(self.how.length, self.how.decay);
        let mut group = Vec::with_capacity(LANES);
        let mut flush = |group: &mut Vec<(usize, usize)>| {
            let pairs = group.iter().map(|&(k, l)| (self.rows.get(rows.at(k)), self.cols.get(cols.at(l))));
            let values = lanes.run(pairs);
            for ((k, l), value) in group.drain(..).zip(values) {
                out.row_mut(k)[l] = S::narrow(value);
            }
        };
        for &k in &down {
            for &l in &across {
                group.push((k, l));
                if group.len() == LANES {
                    flush(&mut group);
                }
            }
        }
        flush(&mut group);
    }
}

/// The places 0, 1, … of a pick in the order of the lengths of their strings.
fn by_length(strings: &Sequences, pick: &Pick<'_>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..pick.len()).collect();
    order.sort_by_key(|&k| strings.get(pick.at(k)).len());
    order
}

/// The memory in which a group of pairs advances.
struct Lanes {
    length: usize,
    decay: f64,
    /// Lanes that advance together: two vectors, one of which computes while the other waits for its neighbour cell.
    wide: usize,
    /// The characters of the left strings, place by place; as f64, so that comparing fills the lanes of the sums.
    left: Vec<f64>,
    /// Those of the right strings.
    right: Vec<f64>,
    /// For each level i < r and each prefix of the right string, κ'_i / λ^{2i}: one row of the recursion's tables,
    /// overwritten by the next.
    levels: Vec<f64>,
}

/// Bytes of the tables of all threads for strings up to a length.
pub(super) fn table_bytes(length: usize, longest: usize) -> usize {
    let cells = length.saturating_mul(longest).saturating_mul(LANES);
    cells.saturating_mul(size_of::<f64>()).saturating_mul(rayon::current_num_threads())
}

impl Lanes {
    fn new(length: usize, decay: f64) -> Self {
        let wide = pulp::Arch::new().dispatch(Wide);
        Self { length, decay, wide, left: Vec::new(), right: Vec::new(), levels: Vec::new() }
    }

    /// κ of up to `LANES` pairs. A lane's value does not depend on the other lanes.
    fn run<'a>(&mut self, pairs: impl Iterator<Item = (&'a [u32], &'a [u32])> + Clone) -> [f64; LANES] {
        let (mut height, mut width, mut some) = (0, 0, false);
        for (s, t) in pairs.clone() {
            height = height.max(s.len());
            width = width.max(t.len());
            some |= s.len().min(t.len()) >= self.length;
        }
        let mut values = [0.0; LANES];
        if !some {
            return values;
        }
        let left = interleave(&mut self.left, pairs.clone().map(|p| p.0), height, self.wide, LEFT_END);
        let right = interleave(&mut self.right, pairs.map(|p| p.1), width, self.wide, RIGHT_END);
        let scale = self.decay.powf(2.0 * self.length as f64);
        let parts = left.chunks(height * self.wide).zip(right.chunks(width * self.wide));
        for ((left, right), values) in parts.zip(values.chunks_mut(self.wide)) {
            let levels = aligned(&mut self.levels, (self.length - 1) * right.len(), 0.0);
            pulp::Arch::new().dispatch(Sweep { left, right, levels, decay: self.decay, sums: values });
            for value in values {
                *value *= scale;
            }
        }
        values
    }
}

/// Writes the strings side by side, `wide` at a time, filled up to `len` places.
fn interleave<'m, 'a>(
    memory: &'m mut Vec<f64>,
    strings: impl Iterator<Item = &'a [u32]>,
    len: usize,
    wide: usize,
    end: f64,
) -> &'m [f64] {
    let to = aligned(memory, len * LANES, end);
    for (lane, string) in strings.enumerate() {
        let part = &mut to[lane / wide * wide * len + lane % wide..];
        for (place, &character) in part.iter_mut().step_by(wide).zip(string) {
            *place = f64::from(character);
        }
    }
    to
}

/// Number of lanes of two vectors of this processor.
struct Wide;

impl WithSimd for Wide {
    type Output = usize;

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) -> usize {
        2 * V::F64_LANES
    }
}

/// κ / λ^{2r} in each lane: the recursion on whole vectors.
///
/// `levels` starts at zero; its level i holds T_i = κ'_i / λ^{2i} of the prefixes of the right strings against the left
/// prefix reached so far: q ← λ q + [s_a = t_b] T_{i−1}[a−1][b−1], T_i[a][b] = λ T_i[a−1][b] + q, and
/// κ / λ^{2r} = Σ_{s_a = t_b} T_{r−1}[a−1][b−1]. Row a overwrites row a − 1 from the highest level down, so that each
/// level reads the old row of the one below.
struct Sweep<'a> {
    left: &'a [f64],
    right: &'a [f64],
    levels: &'a mut [f64],
    decay: f64,
    sums: &'a mut [f64],
}

impl WithSimd for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let left = V::as_simd_f64s(self.left).0.as_chunks::<2>().0;
        let right = V::as_simd_f64s(self.right).0.as_chunks::<2>().0;
        let levels = V::as_mut_simd_f64s(self.levels).0.as_chunks_mut::<2>().0;
        let (decay, zero, one) = (simd.splat_f64s(self.decay), simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        let width = right.len();
        let mut sums = [zero; 2];
        // as many characters as make some milliseconds of work, then a look whether it is still wanted
        let between_looks = (CELLS_BETWEEN_LOOKS / (width + levels.len()).max(1)).max(1);
        for (at, s) in left.iter().enumerate() {
            if at % between_looks == between_looks - 1 && given_up() {
                sums = [simd.splat_f64s(f64::NAN); 2];
                break;
            }
            let matched =
                |l: usize, t: &[V::f64s; 2], k: V::f64s| simd.select_f64s(simd.equal_f64s(s[l], t[l]), k, zero);
            let mut above = levels.len();
            if above == 0 {
                for t in right {
                    for l in 0..2 {
                        sums[l] = simd.add_f64s(sums[l], matched(l, t, one));
                    }
                }
                continue;
            }
            // a character of t completes what its predecessors began: t is one place ahead of the level below
            let next = &right[1..];
            for (t, k) in next.iter().zip(&levels[above - width..]) {
                for l in 0..2 {
                    sums[l] = simd.add_f64s(sums[l], matched(l, t, k[l]));
                }
            }
            while above > width {
                let (below, level) = levels[above - 2 * width..above].split_at_mut(width);
                let mut q = [zero; 2];
                for ((t, k), cell) in next.iter().zip(&*below).zip(&mut level[1..]) {
                    for l in 0..2 {
                        q[l] = simd.mul_add_e_f64s(decay, q[l], matched(l, t, k[l]));
                        cell[l] = simd.mul_add_e_f64s(decay, cell[l], q[l]);
                    }
                }
                above -= width;
            }
            let mut q = [zero; 2];
            for (t, cell) in right.iter().zip(&mut levels[..width]) {
                for l in 0..2 {
                    q[l] = simd.mul_add_e_f64s(decay, q[l], matched(l, t, one));
                    cell[l] = simd.mul_add_e_f64s(decay, cell[l], q[l]);
                }
            }
        }
        V::as_mut_simd_f64s(self.sums).0.copy_from_slice(&sums);
    }
}

impl Comparison for GapWeighted {
    type Side = Sequences;

    fn block(between: &Between<Self>, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f64>) {
        between.write(rows, cols, out);
    }

    /// The recursion runs in f64: long gaps would sink below the smallest f32.
    fn block32(between: &Between<Self>, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f32>) {
        between.write(rows, cols, out);
    }

    fn own(&self, strings: &Arc<Sequences>) -> Vec<f64> {
        let order = by_length(strings, &Pick::Range(0..strings.len()));
        let mut lanes = Lanes::new(self.length, self.decay);
        let mut values = vec![0.0; strings.len()];
        for group in order.chunks(LANES) {
            let found = lanes.run(group.iter().map(|&i| (strings.get(i), strings.get(i))));
            for (&i, value) in group.iter().zip(found) {
                values[i] = value;
            }
        }
        values
    }
}
