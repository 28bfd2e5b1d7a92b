//! Parts that both weighted degree kernels share: letters as bits, and windows that match counted a word at a time.
//!
//! Every letter has a code of b bits, so a string is b rows of bits. Two strings match where no row differs; M₁ are these
//! places, and M_{k+1} = M_k & (M_k ≫ 1) those where k + 1 letters in a row match. The population count of M_k is the
//! number of matching windows of length k: sixty-four places in one step, and most pairs are done after a few k.

use super::sequences::Sequences;
use super::spectrum::counts::{NO_CODE, alphabet};
use crate::data::{Examples, Scalar};
use crate::gram::between::{Between, Collection, Comparison};
use crate::gram::{BlockMut, Gram, Pick};
use crate::kernels::prepared::{Sided, downcast};
use crate::kernels::{KernelError, Prepared};
use crate::vectorise::{Loops, vectorised};
use crate::watch::given_up;
use std::sync::Arc;

/// β_k = 2(d − k + 1)/(d(d + 1)) for k = 1, …, d, which add up to 1; only those of windows that strings of `longest` letters have,
/// so that a degree beyond them costs nothing.
pub(super) fn weights(degree: usize, longest: usize) -> Vec<f64> {
    let d = degree.max(1) as f64;
    (1..=degree.max(1).min(longest)).map(|k| 2.0 * (d - k as f64 + 1.0) / (d * (d + 1.0))).collect()
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
pub(super) struct Planes {
    /// Bits of a letter's code.
    rows: usize,
    lengths: Vec<usize>,
    /// The starts of the words of each string, and the end of the last.
    starts: Vec<usize>,
    /// Row by row for every string, each with an empty word at its end.
    words: Vec<u64>,
}

impl Planes {
    fn of(strings: &Sequences, code: &dyn Fn(u32) -> u32, rows: usize) -> Self {
        let mut planes = Self { rows, lengths: Vec::new(), starts: vec![0], words: Vec::new() };
        for string in strings.iter() {
            let (start, count) = (planes.words.len(), string.len() / 64 + 2);
            planes.words.resize(start + rows * count, 0);
            for (i, &c) in string.iter().enumerate() {
                let code = code(c);
                for row in 0..rows {
                    planes.words[start + row * count + i / 64] |= u64::from(code >> row & 1) << (i % 64);
                }
            }
            planes.lengths.push(string.len());
            planes.starts.push(planes.words.len());
        }
        planes
    }

    /// The length of the longest string.
    fn longest(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or(0)
    }

    #[inline(always)]
    fn get(&self, i: usize) -> Bits<'_> {
        Bits { rows: self.rows, len: self.lengths[i], words: &self.words[self.starts[i]..self.starts[i + 1]] }
    }
}

impl Collection for Planes {
    fn count(&self) -> usize {
        self.lengths.len()
    }

    fn chosen(self: &Arc<Self>, keep: &[usize]) -> Arc<Self> {
        let mut chosen = Self { rows: self.rows, lengths: Vec::new(), starts: vec![0], words: Vec::new() };
        for &i in keep {
            chosen.words.extend_from_slice(self.get(i).words);
            chosen.lengths.push(self.lengths[i]);
            chosen.starts.push(chosen.words.len());
        }
        Arc::new(chosen)
    }
}

/// Places that are compared between two looks whether the value is still wanted.
const PLACES_BETWEEN_LOOKS: usize = 1 << 22;

/// One string as rows of bits.
struct Bits<'a> {
    rows: usize,
    len: usize,
    words: &'a [u64],
}

/// The codes of the letters of the training strings.
pub(super) struct Letters {
    codes: Vec<u32>,
    count: usize,
}

type Side = Sided<Planes, Letters>;

/// Bits of a code of so many letters.
fn bits(letters: usize) -> usize {
    (usize::BITS - letters.saturating_sub(1).leading_zeros()) as usize
}

/// Strings as rows of bits. Letters that no training string has get codes beyond, with more rows where these need them.
pub(super) fn prepare(
    strings: &dyn Examples<str>,
    like: Option<&Arc<dyn Prepared>>,
    kernel: &'static str,
) -> Result<Arc<dyn Prepared>, KernelError> {
    let characters = Sequences::characters(strings);
    let shared = match like {
        Some(like) => Arc::clone(&downcast::<Side>(like, kernel)?.shared),
        None => {
            let (codes, count) = alphabet(&characters);
            Arc::new(Letters { codes, count })
        }
    };
    let known = |c: u32| shared.codes.get(c as usize).copied().filter(|&code| code != NO_CODE);
    let mut strange: Vec<u32> = characters.items().iter().copied().filter(|&c| known(c).is_none()).collect();
    strange.sort_unstable();
    strange.dedup();
    let code = |c: u32| known(c).unwrap_or_else(|| (shared.count + strange.partition_point(|&s| s < c)) as u32);
    let planes = Planes::of(&characters, &code, bits(shared.count + strange.len()));
    Ok(Arc::new(Side { examples: Arc::new(planes), shared }))
}

/// The matrix of a weighted degree kernel with shifts between two collections.
pub(super) fn gram(
    degree: usize,
    shifts: usize,
    rows: &Arc<dyn Prepared>,
    cols: &Arc<dyn Prepared>,
    kernel: &'static str,
) -> Result<Arc<dyn Gram>, KernelError> {
    let (rows, cols) = Side::pair(rows, cols, kernel)?;
    let longest = rows.examples.longest().max(cols.examples.longest());
    let how = Windows { weights: Arc::new(weights(degree, longest)), shifts };
    Ok(Arc::new(Between::new(how, Arc::clone(&rows.examples), Arc::clone(&cols.examples))))
}

/// Windows that match, weighted by their lengths and shifts.
#[derive(Clone)]
struct Windows {
    weights: Arc<Vec<f64>>,
    shifts: usize,
}

impl Windows {
    fn values(&self, left: &Planes, right: &Planes, pairs: &[(usize, usize)], out: &mut [f64]) {
        vectorised(Several { how: self, left, right, pairs, out });
    }
}

/// κ of several pairs.
struct Several<'a> {
    how: &'a Windows,
    left: &'a Planes,
    right: &'a Planes,
    pairs: &'a [(usize, usize)],
    out: &'a mut [f64],
}

impl Loops for Several<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { how, left, right, pairs, out } = self;
        let (mut matches, mut counts) = (Vec::new(), vec![0; how.weights.len()]);
        for (&(i, j), out) in pairs.iter().zip(out) {
            let (x, y) = (left.get(i), right.get(j));
            let mut sum = 0.0;
            let between_looks = (PLACES_BETWEEN_LOOKS / (x.len.max(y.len) + 1)).max(1);
            for shift in 0..=how.shifts.min(x.len.max(y.len)) {
                if shift % between_looks == between_looks - 1 && given_up() {
                    sum = f64::NAN;
                    break;
                }
                counts.fill(0);
                windows(&x, &y, shift, &mut matches, &mut counts);
                if shift > 0 {
                    windows(&y, &x, shift, &mut matches, &mut counts);
                }
                // of whole numbers, so that κ(x, y) and κ(y, x) have the same bits
                let part: f64 = counts.iter().zip(how.weights.iter()).map(|(&c, w)| w * c as f64).sum();
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
    let common_rows = x.rows.min(y.rows);
    let mut count = 0;
    for w in 0..words {
        let mut differ = 0;
        let moved = |row: usize| {
            let at = row * high + w + skip;
            let later = if bit == 0 { 0 } else { y.words[at + 1] << (64 - bit) };
            y.words[at] >> bit | later
        };
        for row in 0..common_rows {
            differ |= x.words[row * wide + w] ^ moved(row);
        }
        // codes of letters that the other collection does not have are longer: its rows are zero there
        for row in common_rows..x.rows {
            differ |= x.words[row * wide + w];
        }
        for row in common_rows..y.rows {
            differ |= moved(row);
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

impl Between<Windows> {
    fn write<S: Scalar>(&self, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, S>) {
        let (mut pairs, mut values) = (Vec::new(), vec![0.0; cols.len()]);
        for (k, i) in rows.iter().enumerate() {
            pairs.clear();
            pairs.extend(cols.iter().map(|j| (i, j)));
            self.how.values(&self.rows, &self.cols, &pairs, &mut values);
            for (o, &value) in out.row_mut(k).iter_mut().zip(&values) {
                *o = S::narrow(value);
            }
        }
    }
}

impl Comparison for Windows {
    type Side = Planes;

    fn block(between: &Between<Self>, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f64>) {
        between.write(rows, cols, out);
    }

    fn block32(between: &Between<Self>, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f32>) {
        between.write(rows, cols, out);
    }

    fn own(&self, planes: &Arc<Planes>) -> Vec<f64> {
        let pairs: Vec<(usize, usize)> = (0..planes.count()).map(|i| (i, i)).collect();
        let mut values = vec![0.0; pairs.len()];
        self.values(planes, planes, &pairs, &mut values);
        values
    }
}
