//! Vectors of zeros and ones: the inner product of two is the number of features they share, and bytes can count it.

use super::{Change, Finish, all, each, stretches};
use crate::data::{Coordinate, Scalar, SparseRows, Values};
use crate::vectorise::{Loops, vectorised};
use std::ops::Range;

/// Columns of a panel: four whole registers of bytes.
const PANEL_COLUMNS: usize = 256;

/// Byte l of line k of panel p says whether example `256 p + l` has feature k.
pub(crate) struct Counted {
    bytes: Vec<u8>,
    width: usize,
    /// The features of each example, one after the other.
    features: Vec<u32>,
    starts: Vec<usize>,
    /// Number of features of each example.
    sizes: Vec<f32>,
    /// The inner product that one common feature makes.
    unit: f64,
    distance: bool,
}

impl Counted {
    /// True if these are sparse zeros and ones with no more ones than a byte can count. (Dense ones were shifted to their
    /// mean.)
    pub(crate) fn holds(source: &Values) -> bool {
        fn few<S: Scalar>(rows: &SparseRows<S>) -> bool {
            (0..rows.len()).all(|i| u8::try_from(rows.row(i).len()).is_ok())
        }
        let few = match source {
            Values::Sparse(r) => few(r),
            Values::Sparse32(r) => few(r),
            _ => false,
        };
        few && all(source, |x| x == 1.0)
    }

    /// True if these can be counted after a change.
    pub(super) fn takes(source: &Values, change: &Change) -> bool {
        change.weights().is_none_or(|weights| weights.len() == 1) && Self::holds(source)
    }

    /// Packs what can be counted.
    pub(super) fn new(source: &Values, change: &Change) -> Option<Self> {
        let width = source.width()?;
        let rows = source.len();
        let unit = match change.weights() {
            None => 1.0,
            Some([one]) => one * one,
            Some(_) => return None,
        };
        let (mut features, mut starts) = (Vec::new(), vec![0; rows + 1]);
        each(source, |i, k, _| {
            features.push(k as u32);
            starts[i + 1] = features.len();
        });
        // examples without any feature
        for i in 0..rows {
            starts[i + 1] = starts[i + 1].max(starts[i]);
        }
        Some(Self::pack(features, starts, width, unit, change.distance))
    }

    fn pack(features: Vec<u32>, starts: Vec<usize>, width: usize, unit: f64, distance: bool) -> Self {
        let n = starts.len() - 1;
        let mut bytes = vec![0; n.div_ceil(PANEL_COLUMNS) * width * PANEL_COLUMNS];
        for i in 0..n {
            for &k in &features[starts[i]..starts[i + 1]] {
                bytes[(i / PANEL_COLUMNS * width + k as usize) * PANEL_COLUMNS + i % PANEL_COLUMNS] = 1;
            }
        }
        let sizes = starts.windows(2).map(|p| (p[1] - p[0]) as f32).collect();
        Self { bytes, width, features, starts, sizes, unit, distance }
    }

    fn example(&self, i: usize) -> &[u32] {
        &self.features[self.starts[i]..self.starts[i + 1]]
    }

    pub(super) fn select(&self, keep: &[usize]) -> Self {
        let (mut features, mut starts) = (Vec::new(), vec![0]);
        for &i in keep {
            features.extend_from_slice(self.example(i));
            starts.push(features.len());
        }
        Self::pack(features, starts, self.width, self.unit, self.distance)
    }

    pub(super) fn rows(&self, rows: &[usize], cols: &Range<usize>, lines: &mut [&mut [f32]], finish: Finish<'_>) {
        for (&row, line) in rows.iter().zip(lines) {
            for stretch in stretches(cols) {
                let line = &mut line[stretch.start - cols.start..stretch.end - cols.start];
                vectorised(Count { columns: self, row, cols: &stretch, line: &mut *line });
                finish(line);
            }
        }
    }
}

impl Counted {
    /// Inner products of another vector of zeros and ones with a range of columns.
    pub(crate) fn products<S: Scalar>(&self, x: &[Coordinate<S>], cols: &Range<usize>, line: &mut [S]) {
        vectorised(CountProducts { columns: self, x, cols, line });
    }
}

/// The loop of [`Counted::products`].
struct CountProducts<'a, S> {
    columns: &'a Counted,
    x: &'a [Coordinate<S>],
    cols: &'a Range<usize>,
    line: &'a mut [S],
}

impl<S: Scalar> Loops for CountProducts<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (columns, cols) = (self.columns, self.cols);
        let unit = S::narrow(columns.unit);
        for p in cols.start / PANEL_COLUMNS..cols.end.div_ceil(PANEL_COLUMNS) {
            let panel = &columns.bytes[p * columns.width * PANEL_COLUMNS..(p + 1) * columns.width * PANEL_COLUMNS];
            let (lines, _) = panel.as_chunks::<PANEL_COLUMNS>();
            let mut counts = [0_u8; PANEL_COLUMNS];
            for c in self.x {
                // a feature that no column has adds nothing
                if let Some(line) = lines.get(c.index as usize) {
                    for l in 0..PANEL_COLUMNS {
                        counts[l] = counts[l].wrapping_add(line[l]);
                    }
                }
            }
            let first = p * PANEL_COLUMNS;
            let (from, to) = (cols.start.max(first), cols.end.min(first + PANEL_COLUMNS));
            let out = &mut self.line[from - cols.start..to - cols.start];
            for (o, &count) in out.iter_mut().zip(&counts[from - first..to - first]) {
                *o = unit * S::narrow(f64::from(count));
            }
        }
    }
}

/// One example against the panels of a range of columns.
struct Count<'a> {
    columns: &'a Counted,
    row: usize,
    cols: &'a Range<usize>,
    line: &'a mut [f32],
}

impl Loops for Count<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (columns, cols) = (self.columns, self.cols);
        let features = columns.example(self.row);
        let (size, unit, distance) = (columns.sizes[self.row], columns.unit as f32, columns.distance);
        let mut values = [0.0_f32; PANEL_COLUMNS];
        for p in cols.start / PANEL_COLUMNS..cols.end.div_ceil(PANEL_COLUMNS) {
            let panel = &columns.bytes[p * columns.width * PANEL_COLUMNS..(p + 1) * columns.width * PANEL_COLUMNS];
            let (lines, _) = panel.as_chunks::<PANEL_COLUMNS>();
            let mut counts = [0_u8; PANEL_COLUMNS];
            for &k in features {
                let line = &lines[k as usize];
                for l in 0..PANEL_COLUMNS {
                    counts[l] = counts[l].wrapping_add(line[l]);
                }
            }
            let first = p * PANEL_COLUMNS;
            let (from, to) = (cols.start.max(first), cols.end.min(first + PANEL_COLUMNS));
            let sizes = &columns.sizes[first..to];
            if distance {
                for (v, (&c, &other)) in values.iter_mut().zip(counts.iter().zip(sizes)) {
                    *v = unit * (size + other - 2.0 * f32::from(c));
                }
            } else {
                for (v, &c) in values.iter_mut().zip(&counts) {
                    *v = unit * f32::from(c);
                }
            }
            let target = &mut self.line[from - cols.start..to - cols.start];
            match target.first_chunk_mut::<PANEL_COLUMNS>() {
                Some(whole) => *whole = values,
                None => target.copy_from_slice(&values[from - first..to - first]),
            }
        }
    }
}
