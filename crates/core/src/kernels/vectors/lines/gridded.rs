//! Values on a grid, base + step · q with whole q of 16 bits: pixels, counts, decimals of few digits. Sums of products of
//! whole numbers are exact, two features go through each instruction, and features where all rows are at the base are
//! passed over.

#[cfg(target_arch = "x86_64")]
mod vnni;

use super::{Change, Finish, PANEL, at_once, each, finish_stretch, look, panels, put, stretches};
use crate::data::{Rows, Scalar, Values};
use crate::parallel;
use crate::vectorise::{Loops, vectorised};
use std::ops::Range;

/// Features 2k and 2k + 1 of lane l of panel p are at `((p · pairs + k) · 64 + l) · 2` and the place after it.
pub(crate) struct Gridded {
    values: Vec<i16>,
    pairs: usize,
    len: usize,
    /// Σ q² of each example.
    squares: Vec<i32>,
    /// The value of one unit of Σ q q'.
    unit: f32,
    distance: bool,
}

/// Rows that share one reading of a panel.
const GROUP: usize = 6;

/// Two features of each row of a group: the place of the pair, and its values, the first in the low half.
#[derive(Clone, Copy)]
struct Entry<const R: usize> {
    pair: u32,
    words: [i32; R],
}

/// Steps that occur in practice; the smallest distance from the base is tried as well.
const STEPS: [f64; 9] = [1.0, 0.5, 0.25, 0.1, 0.01, 0.001, 1.0 / 255.0, 1.0 / 256.0, 1.0 / 16.0];

impl Grid {
    /// The grid that holds vectors, if there is one.
    pub(super) fn of(source: &Values, change: &Change) -> Option<Self> {
        let width = source.width()?;
        if change.weights().is_some_and(|weights| weights.len() != 1) || Self::is_refuted(source, change.distance) {
            return None;
        }
        let sparse = matches!(source, Values::Sparse(_) | Values::Sparse32(_));
        let single = matches!(source, Values::Dense32(_) | Values::Sparse32(_));
        let lowest = look(source, |numbers| vectorised(Lowest { numbers }), f64::min)?;
        // distances do not see a common shift; the lowest value is mostly the background
        let base = if change.distance && !sparse { lowest } else { 0.0 };
        if !base.is_finite() {
            return None;
        }
        let (smallest, largest) =
            look(source, |numbers| vectorised(Extent { numbers, base }), |a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let fits = |step: f64| {
            let most = largest / step;
            // Σ q q' and, for distances, Σ q² + Σ q'² − 2 Σ q q' stay below 2³¹; no product is negative above the lowest value
            let terms = match (change.distance, base == lowest) {
                (false, _) => 1.0,
                (true, true) => 2.0,
                (true, false) => 4.0,
            };
            if most > 32_767.0 || terms * most * most * width as f64 >= 2_147_483_647.0 {
                return false;
            }
            // a value that was rounded once from its place on the grid
            let tolerance = if single { ROUNDING.1 } else { ROUNDING.0 } * (most + (base / step).abs()).max(1.0);
            tolerance < 0.01
                && look(source, |numbers| vectorised(OnGrid { numbers, base, step, tolerance }), |a, b| a && b)
                    .unwrap_or(false)
        };
        let step = STEPS.into_iter().chain(Some(smallest)).find(|&step| step <= 1.001 * smallest && fits(step))?;
        Some(Self { base, step, width })
    }
}

/// Numbers of dense vectors that are compared with one another before all are looked at.
const SAMPLE: usize = 4096;
/// Roundings of numbers on a grid, in parts of their size, of numbers in f64 and in f32.
const ROUNDING: (f64, f64) = (1e-12, 1e-6);

impl Grid {
    /// True if no grid can hold dense vectors: of their numbers two are nearer than two places of the finest grid and farther apart
    /// than rounding. Nearly all reals are found out so, without a look at all of them for each step.
    fn is_refuted(source: &Values, distance: bool) -> bool {
        fn sample<S: Scalar>(rows: &Rows<S>) -> Vec<f64> {
            // an odd distance, so that not all of the sample stand in a few columns
            let every = rows.values().len().div_ceil(SAMPLE).max(1) | 1;
            rows.values().iter().step_by(every).map(|x| x.wide()).collect()
        }
        let (extremes, mut numbers, rounding) = match source {
            Values::Dense(r) => (r.extremes(), sample(r), ROUNDING.0),
            Values::Dense32(r) => (r.extremes(), sample(r), ROUNDING.1),
            _ => return false,
        };
        if !extremes.finite {
            return false;
        }
        let base = if distance { extremes.lowest } else { 0.0 };
        let largest = (extremes.lowest - base).abs().max((extremes.largest - base).abs());
        // a number lies so near to its place, whatever the step
        let near = 1.01 * rounding * (largest + base.abs());
        let finest = largest / 32_767.0;
        numbers.sort_unstable_by(f64::total_cmp);
        numbers.windows(2).any(|pair| {
            let apart = pair[1] - pair[0];
            apart > 2.0 * near && apart < finest - 2.0 * near
        })
    }
}

impl Gridded {
    /// Packs vectors on a grid.
    pub(super) fn new(grid: Grid, source: &Values, change: &Change) -> Option<Self> {
        let Grid { base, step, width } = grid;
        let len = source.len();
        let factor = match change.weights() {
            None => 1.0,
            Some([one]) => *one,
            Some(_) => return None,
        };
        let pairs = width.div_ceil(2);
        let mut values = vec![0_i16; len.div_ceil(PANEL) * pairs * PANEL * 2];
        let mut squares = vec![0_i32; len];
        let panels = values.chunks_mut((pairs * PANEL * 2).max(1)).zip(squares.chunks_mut(PANEL)).collect();
        match source {
            Values::Dense(r) => {
                parallel::consume(panels, |p, (panel, squares): (&mut [i16], &mut [i32])| {
                    let rows = &r.values()[p * PANEL * width..(p * PANEL + squares.len()) * width];
                    vectorised(PackPanel { rows, grid, panel, squares });
                });
            }
            Values::Dense32(r) => {
                parallel::consume(panels, |p, (panel, squares): (&mut [i16], &mut [i32])| {
                    let rows = &r.values()[p * PANEL * width..(p * PANEL + squares.len()) * width];
                    vectorised(PackPanel { rows, grid, panel, squares });
                });
            }
            _ => each(source, |i, k, x| {
                let q = ((x - base) / step).round() as i16;
                values[((i / PANEL * pairs + k / 2) * PANEL + i % PANEL) * 2 + k % 2] = q;
                squares[i] += i32::from(q) * i32::from(q);
            }),
        }
        let unit = (step * factor * step * factor) as f32;
        Some(Self { values, pairs, len, squares, unit, distance: change.distance })
    }

    pub(super) fn select(&self, keep: &[usize]) -> Self {
        let size = self.pairs * PANEL * 2;
        let mut values = vec![0; keep.len().div_ceil(PANEL) * size];
        for (panel, keep) in values.chunks_exact_mut(size.max(1)).zip(keep.chunks(PANEL)) {
            let from: Vec<usize> = keep.iter().map(|i| i / PANEL * size + i % PANEL * 2).collect();
            for (k, line) in panel.chunks_exact_mut(PANEL * 2).enumerate() {
                for (o, f) in line.chunks_exact_mut(2).zip(&from) {
                    o.copy_from_slice(&self.values[f + k * PANEL * 2..f + k * PANEL * 2 + 2]);
                }
            }
        }
        let squares = keep.iter().map(|&i| self.squares[i]).collect();
        Self { values, pairs: self.pairs, len: keep.len(), squares, unit: self.unit, distance: self.distance }
    }

    pub(super) fn group(&self) -> usize {
        if self.pairs >= 24 { GROUP } else { 1 }
    }

    pub(super) fn rows(&self, rows: &[usize], cols: &Range<usize>, lines: &mut [&mut [f32]], finish: Finish<'_>) {
        debug_assert!(cols.end <= self.len);
        let (mut rows, mut lines) = (rows, lines);
        while !rows.is_empty() {
            let count = at_once(rows.len(), GROUP);
            let (now, later) = lines.split_at_mut(count);
            match count {
                GROUP => self.some::<GROUP>(&rows[..count], cols, now, finish),
                3 => self.some::<3>(&rows[..count], cols, now, finish),
                _ => self.some::<1>(&rows[..count], cols, now, finish),
            }
            (rows, lines) = (&rows[count..], later);
        }
    }

    /// The pairs of features where any of the rows is off the base.
    fn entries<const R: usize>(&self, rows: &[usize]) -> Vec<Entry<R>> {
        let size = self.pairs * PANEL * 2;
        let mut entries = Vec::with_capacity(self.pairs);
        for pair in 0..self.pairs {
            let mut words = [0; R];
            for (word, &i) in words.iter_mut().zip(rows) {
                let at = i / PANEL * size + (pair * PANEL + i % PANEL) * 2;
                *word = i32::from(self.values[at]) & 0xffff | i32::from(self.values[at + 1]) << 16;
            }
            if words != [0; R] {
                entries.push(Entry { pair: pair as u32, words });
            }
        }
        entries
    }

    fn some<const R: usize>(&self, rows: &[usize], cols: &Range<usize>, lines: &mut [&mut [f32]], finish: Finish<'_>) {
        let entries = self.entries::<R>(rows);
        let size = self.pairs * PANEL * 2;
        let mut dots = [[0_i32; PANEL]; R];
        for stretch in stretches(cols) {
            for p in panels(&stretch) {
                products(&self.values[p * size..(p + 1) * size], &entries, &mut dots);
                let first = p * PANEL;
                let squares = &self.squares[first..self.len.min(first + PANEL)];
                for (r, line) in lines.iter_mut().enumerate() {
                    let mut sums = [0.0; PANEL];
                    self.scale(&dots[r], self.squares[rows[r]], squares, &mut sums);
                    put(p, &sums, &stretch, cols, line);
                }
            }
            finish_stretch(&stretch, cols, lines, finish);
        }
    }

    /// Whole sums become squared distances or inner products.
    fn scale(&self, dots: &[i32; PANEL], square: i32, squares: &[i32], sums: &mut [f32; PANEL]) {
        let (unit, distance) = (self.unit, self.distance);
        vectorised(Scale { dots, square, squares, unit, distance, sums });
    }
}

/// The lowest number.
struct Lowest<'a> {
    numbers: &'a [f64],
}

impl Loops for Lowest<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let (groups, rest) = self.numbers.as_chunks::<16>();
        let mut lowest = [f64::INFINITY; 16];
        for group in groups {
            for l in 0..16 {
                lowest[l] = if group[l] < lowest[l] { group[l] } else { lowest[l] };
            }
        }
        lowest.iter().chain(rest).copied().fold(f64::INFINITY, f64::min)
    }
}

/// The smallest distance from the base that is not zero, and the largest.
struct Extent<'a> {
    numbers: &'a [f64],
    base: f64,
}

impl Loops for Extent<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run(self) -> (f64, f64) {
        let (mut smallest, mut largest) = ([f64::INFINITY; 16], [0.0_f64; 16]);
        for group in self.numbers.chunks(16) {
            for (l, &x) in group.iter().enumerate() {
                let q = (x - self.base).abs();
                largest[l] = if q > largest[l] { q } else { largest[l] };
                smallest[l] = if q > 0.0 && q < smallest[l] { q } else { smallest[l] };
            }
        }
        (smallest.into_iter().fold(f64::INFINITY, f64::min), largest.into_iter().fold(0.0, f64::max))
    }
}

/// True if all numbers are on the grid, up to one rounding; never for one that is not finite.
struct OnGrid<'a> {
    numbers: &'a [f64],
    base: f64,
    step: f64,
    tolerance: f64,
}

impl Loops for OnGrid<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        // an early end now and then, plain loops between
        self.numbers.chunks(256).all(|part| {
            let mut off = 0_u32;
            for &x in part {
                let q = (x - self.base) / self.step;
                let near = (q - q.round_ties_even()).abs() <= self.tolerance;
                off += u32::from(!near);
            }
            off == 0
        })
    }
}

/// The values base + step · q of vectors of `width` coordinates.
#[derive(Clone, Copy)]
pub(crate) struct Grid {
    base: f64,
    step: f64,
    width: usize,
}

/// Packs up to 64 dense rows: whole numbers in pairs of features, and their squares.
struct PackPanel<'a, S> {
    rows: &'a [S],
    grid: Grid,
    panel: &'a mut [i16],
    squares: &'a mut [i32],
}

impl<S: Scalar> Loops for PackPanel<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Grid { base, step, width } = self.grid;
        let mut whole = vec![0_i16; width];
        for (lane, (row, square)) in self.rows.chunks_exact(width.max(1)).zip(self.squares).enumerate() {
            let mut sum = 0;
            for (q, x) in whole.iter_mut().zip(row) {
                *q = ((x.wide() - base) / step).round_ties_even() as i16;
                sum += i32::from(*q) * i32::from(*q);
            }
            *square = sum;
            for (line, q) in self.panel.chunks_exact_mut(PANEL * 2).zip(whole.chunks(2)) {
                line[2 * lane..2 * lane + q.len()].copy_from_slice(q);
            }
        }
    }
}

/// Σ q q' of the rows with the 64 examples of a panel.
fn products<const R: usize>(panel: &[i16], entries: &[Entry<R>], dots: &mut [[i32; PANEL]; R]) {
    #[cfg(target_arch = "x86_64")]
    if vnni::is_there() {
        return vnni::products(panel, entries, dots);
    }
    vectorised(Plain { panel, entries, dots });
}

/// The products as a plain loop.
struct Plain<'a, const R: usize> {
    panel: &'a [i16],
    entries: &'a [Entry<R>],
    dots: &'a mut [[i32; PANEL]; R],
}

impl<const R: usize> Loops for Plain<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (lines, _) = self.panel.as_chunks::<{ PANEL * 2 }>();
        for (r, dots) in self.dots.iter_mut().enumerate() {
            let mut sums = [0_i32; PANEL];
            for entry in self.entries {
                let line = &lines[entry.pair as usize];
                let (a, b) = (i32::from(entry.words[r] as i16), entry.words[r] >> 16);
                for l in 0..PANEL {
                    sums[l] += a * i32::from(line[2 * l]) + b * i32::from(line[2 * l + 1]);
                }
            }
            *dots = sums;
        }
    }
}

/// The loop of [`Gridded::scale`].
struct Scale<'a> {
    dots: &'a [i32; PANEL],
    square: i32,
    squares: &'a [i32],
    unit: f32,
    distance: bool,
    sums: &'a mut [f32; PANEL],
}

impl Loops for Scale<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        if self.distance {
            for (o, (&dot, &other)) in self.sums.iter_mut().zip(self.dots.iter().zip(self.squares)) {
                *o = self.unit * (self.square + other - 2 * dot) as f32;
            }
        } else {
            for (o, &dot) in self.sums.iter_mut().zip(self.dots) {
                *o = self.unit * dot as f32;
            }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn reals_are_told_from_grids_by_a_sample() {
        let mut random = Seed(4).stream("grids");
        let change = |distance| Change { shift: None, weights: None, distance };
        for distance in [true, false] {
            for (offset, scale) in [(0.0, 1.0), (1e4, 1.0), (-3.0, 1e-7), (0.0, 1e9)] {
                let reals: Vec<f64> = (0..60_000).map(|_| offset + scale * random.normal()).collect();
                let singles: Vec<f32> = reals.iter().map(|x| *x as f32).collect();
                let source: Values = Rows::new(reals, 600, 100).unwrap().into();
                assert!(Grid::is_refuted(&source, distance) && Grid::of(&source, &change(distance)).is_none());
                // far from zero numbers of 24 bits lie on a grid of their own
                let source: Values = Rows::new(singles, 600, 100).unwrap().into();
                assert!(offset != 0.0 || Grid::is_refuted(&source, distance), "{offset} {scale}");
            }
            for step in [1.0, 1.0 / 255.0, 0.001, 0.37] {
                let places: Vec<f64> = (0..60_000).map(|_| random.below(400) as f64 * step).collect();
                let singles: Vec<f32> = places.iter().map(|x| *x as f32).collect();
                for source in
                    [Values::from(Rows::new(places, 600, 100).unwrap()), Rows::new(singles, 600, 100).unwrap().into()]
                {
                    assert!(!Grid::is_refuted(&source, distance) && Grid::of(&source, &change(distance)).is_some());
                }
            }
        }
    }

    #[test]
    fn the_fast_products_are_those_of_the_plain_loop() {
        if !vnni::is_there() {
            return;
        }
        let mut random = Seed(3).stream("grid");
        for pairs in [1, 2, 7, 40] {
            let panel: Vec<i16> = (0..pairs * PANEL * 2).map(|_| random.below(2001) as i16 - 1000).collect();
            let mut word =
                || i32::from(random.below(2001) as i16 - 1000) & 0xffff | (random.below(2001) as i32 - 1000) << 16;
            let entries: Vec<Entry<3>> =
                (0..pairs as u32).step_by(2).map(|pair| Entry { pair, words: [word(), word(), word()] }).collect();
            let (mut fast, mut slow) = ([[7; PANEL]; 3], [[0; PANEL]; 3]);
            vnni::products(&panel, &entries, &mut fast);
            vectorised(Plain { panel: &panel, entries: &entries, dots: &mut slow });
            assert_eq!(fast, slow);
        }
    }
}
