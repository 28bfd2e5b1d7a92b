//! What both weighted degree kernels share: letters as bits, and windows that match counted a word at a time.
//!
//! Every letter has a code of b bits, so a string is b rows of bits. Two strings match where no row differs; M₁ are these
//! places, and M_{k+1} = M_k & (M_k ≫ 1) those where k + 1 letters in a row match. The population count of M_k is the
//! number of matching windows of length k: sixty-four places in one step, and most pairs are done after a few k.

use super::sequences::Sequences;
use super::spectrum::counts::alphabet;
use crate::data::Scalar;
use crate::gram::{BlockMut, Gram, Pick, Side};
use crate::vectorise::{Loops, vectorised};
use std::sync::Arc;

/// β_k = 2(d − k + 1)/(d(d + 1)) for k = 1, …, d; they add up to 1.
pub(super) fn weights(degree: usize) -> Vec<f64> {
    let d = degree.max(1) as f64;
    (1..=degree.max(1)).map(|k| 2.0 * (d - k as f64 + 1.0) / (d * (d + 1.0))).collect()
}

/// δ_s = 1/(2(s + 1)).
pub(super) fn shift_weight(shift: usize) -> f64 {
    0.5 / (shift + 1) as f64
}

/// Σ_k β_k · (how many windows of k letters match from the same place of both on): the definition, run by run.
pub(super) fn by_runs(x: &[char], y: &[char], weights: &[f64]) -> f64 {
    let mut counts = vec![0_usize; weights.len()];
    let mut run = 0;
    let ends = x.iter().zip(y).map(|(a, b)| a == b).chain([false]);
    for same in ends {
        if same {
            run += 1;
            continue;
        }
        for (k, count) in counts.iter_mut().enumerate().take(run) {
            *count += run - k;
        }
        run = 0;
    }
    counts.iter().zip(weights).map(|(&c, w)| c as f64 * w).sum()
}

/// Adds the shares of the positions of `x`: every matching window divides `factor` · β_k equally among its letters, which
/// stand `offset` later in x than in the slice.
pub(super) fn share_runs(x: &[char], y: &[char], weights: &[f64], factor: f64, offset: usize, out: &mut [f64]) {
    let mut run = 0;
    for (end, same) in x.iter().zip(y).map(|(a, b)| a == b).enumerate() {
        run = if same { run + 1 } else { 0 };
        for (k, weight) in weights.iter().enumerate().take(run) {
            let share = factor * weight / (k + 1) as f64;
            out[offset + end - k..=offset + end].iter_mut().for_each(|o| *o += share);
        }
    }
}

/// Strings as rows of bits.
#[derive(Clone, Debug)]
struct Planes {
    /// Bits of a letter's code.
    rows: usize,
    lengths: Vec<usize>,
    /// Where the words of each string start, and the end of the last.
    starts: Vec<usize>,
    /// Row by row for every string, each with an empty word at its end.
    words: Vec<u64>,
}

impl Planes {
    fn of(strings: &Sequences, codes: &[u32], rows: usize) -> Self {
        let mut planes = Self { rows, lengths: Vec::new(), starts: vec![0], words: Vec::new() };
        for string in strings.iter() {
            let (start, count) = (planes.words.len(), string.len() / 64 + 2);
            planes.words.resize(start + rows * count, 0);
            for (i, &c) in string.iter().enumerate() {
                let code = codes[c as usize];
                for row in 0..rows {
                    planes.words[start + row * count + i / 64] |= u64::from(code >> row & 1) << (i % 64);
                }
            }
            planes.lengths.push(string.len());
            planes.starts.push(planes.words.len());
        }
        planes
    }

    #[inline(always)]
    fn get(&self, i: usize) -> Bits<'_> {
        Bits { rows: self.rows, len: self.lengths[i], words: &self.words[self.starts[i]..self.starts[i + 1]] }
    }

    fn select(&self, keep: &[usize]) -> Self {
        let mut chosen = Self { rows: self.rows, lengths: Vec::new(), starts: vec![0], words: Vec::new() };
        for &i in keep {
            chosen.words.extend_from_slice(self.get(i).words);
            chosen.lengths.push(self.lengths[i]);
            chosen.starts.push(chosen.words.len());
        }
        chosen
    }
}

/// One string as rows of bits.
struct Bits<'a> {
    rows: usize,
    len: usize,
    words: &'a [u64],
}

/// The matrix of a weighted degree kernel with shifts between two collections.
pub(super) struct DegreeGram {
    weights: Arc<Vec<f64>>,
    shifts: usize,
    left: Arc<Planes>,
    right: Arc<Planes>,
}

impl DegreeGram {
    /// The matrix between the first collection and the second, or itself.
    pub(super) fn new(degree: usize, shifts: usize, rows: Sequences, cols: Option<Sequences>) -> Self {
        let sides: Vec<Sequences> = std::iter::once(rows).chain(cols).collect();
        let (codes, letters) = alphabet(&sides);
        let bits = (usize::BITS - letters.saturating_sub(1).leading_zeros()) as usize;
        let mut planes = sides.iter().map(|side| Arc::new(Planes::of(side, &codes, bits)));
        let left = planes.next().unwrap_or_else(|| Arc::new(Planes::of(&sides[0], &codes, bits)));
        let right = planes.next().unwrap_or_else(|| Arc::clone(&left));
        Self { weights: Arc::new(weights(degree)), shifts, left, right }
    }

    fn values(&self, left: &Planes, right: &Planes, pairs: &[(usize, usize)], out: &mut [f64]) {
        vectorised(Several { gram: self, left, right, pairs, out });
    }
}

/// κ of several pairs.
struct Several<'a> {
    gram: &'a DegreeGram,
    left: &'a Planes,
    right: &'a Planes,
    pairs: &'a [(usize, usize)],
    out: &'a mut [f64],
}

impl Loops for Several<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { gram, left, right, pairs, out } = self;
        let (mut matches, mut counts) = (Vec::new(), vec![0; gram.weights.len()]);
        for (&(i, j), out) in pairs.iter().zip(out) {
            let (x, y) = (left.get(i), right.get(j));
            let mut sum = 0.0;
            for shift in 0..=gram.shifts.min(x.len.max(y.len)) {
                counts.fill(0);
                windows(&x, &y, shift, &mut matches, &mut counts);
                if shift > 0 {
                    windows(&y, &x, shift, &mut matches, &mut counts);
                }
                // of whole numbers, so that κ(x, y) and κ(y, x) have the same bits
                let part: f64 = counts.iter().zip(gram.weights.iter()).map(|(&c, w)| w * c as f64).sum();
                // at the same place both directions are one
                sum += if shift == 0 { part } else { shift_weight(shift) * part };
            }
            *out = sum;
        }
    }
}

/// Adds for k = 0, 1, … how many windows of k + 1 letters of x match those of y that start `shift` later.
#[inline(always)]
fn windows(x: &Bits<'_>, y: &Bits<'_>, shift: usize, matches: &mut Vec<u64>, counts: &mut [u64]) {
    let common = x.len.min(y.len.saturating_sub(shift));
    if common == 0 {
        return;
    }
    let (wide, high, words) = (x.len / 64 + 2, y.len / 64 + 2, common.div_ceil(64));
    let (skip, bit) = (shift / 64, shift % 64);
    matches.clear();
    matches.resize(words + 1, 0);
    let mut count = 0;
    for w in 0..words {
        let mut differ = 0;
        for row in 0..x.rows {
            let at = row * high + w + skip;
            let later = if bit == 0 { 0 } else { y.words[at + 1] << (64 - bit) };
            differ |= x.words[row * wide + w] ^ (y.words[at] >> bit | later);
        }
        let mut same = !differ;
        if w + 1 == words && !common.is_multiple_of(64) {
            same &= (1 << (common % 64)) - 1;
        }
        matches[w] = same;
        count += u64::from(same.count_ones());
    }
    for total in counts {
        *total += count;
        if count == 0 {
            return;
        }
        count = 0;
        for w in 0..words {
            let next = matches[w] & (matches[w] >> 1 | matches[w + 1] << 63);
            matches[w] = next;
            count += u64::from(next.count_ones());
        }
    }
}

impl DegreeGram {
    fn write<S: Scalar>(&self, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, S>) {
        let (mut pairs, mut values) = (Vec::new(), vec![0.0; cols.len()]);
        for (k, i) in rows.iter().enumerate() {
            pairs.clear();
            pairs.extend(cols.iter().map(|j| (i, j)));
            self.values(&self.left, &self.right, &pairs, &mut values);
            for (o, &value) in out.row_mut(k).iter_mut().zip(&values) {
                *o = S::narrow(value);
            }
        }
    }
}

impl Gram for DegreeGram {
    fn shape(&self) -> (usize, usize) {
        (self.left.lengths.len(), self.right.lengths.len())
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.write(&rows, &cols, out);
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        self.write(&rows, &cols, out);
    }

    fn is_symmetric(&self) -> bool {
        Arc::ptr_eq(&self.left, &self.right)
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        let planes = match side {
            Side::Rows => &self.left,
            Side::Columns => &self.right,
        };
        let pairs: Vec<(usize, usize)> = (0..planes.lengths.len()).map(|i| (i, i)).collect();
        let mut values = vec![0.0; pairs.len()];
        self.values(planes, planes, &pairs, &mut values);
        Some(values)
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        let left = Arc::new(self.left.select(rows));
        let same = Arc::ptr_eq(&self.left, &self.right) && rows == cols;
        let right = if same { Arc::clone(&left) } else { Arc::new(self.right.select(cols)) };
        Arc::new(Self { weights: Arc::clone(&self.weights), shifts: self.shifts, left, right })
    }
}
