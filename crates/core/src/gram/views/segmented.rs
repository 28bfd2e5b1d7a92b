//! Sums over rectangles of a matrix: sets compared by all pairs of their members.
//!
//! ```text
//! K_AB = Σ_{a ∈ A} Σ_{b ∈ B} κ(a, b),    or that divided by |A| |B|
//! ```
//!
//! The matrix between members is computed tile by tile and never stored. Long sets are cut into pieces from their start on,
//! and the sums of the pieces are added in a fixed order, so that a value does not depend on what else is asked for.

use crate::gram::{BlockMut, Gram, Pick, Precision, Side};
use std::ops::Range;
use std::sync::Arc;

/// Members of a tile's rows at most; longer sets are cut into pieces of so many.
const TILE_ROWS: usize = 128;
/// Members of a tile's columns at most.
const TILE_COLS: usize = 512;

/// The matrix between sets of rows and sets of columns of another.
pub struct Segmented {
    inner: Arc<dyn Gram>,
    mean: bool,
    rows: Sets,
    cols: Sets,
}

/// The sets of one side.
#[derive(Clone)]
pub struct Sets {
    /// The members of each set, in the matrix between members.
    pub members: Vec<Range<usize>>,
    /// The matrix between the members of this side, for κ(A, A).
    pub own: Arc<dyn Gram>,
}

/// Some members of a set: which one is asked for, and where they are.
struct Piece {
    place: usize,
    members: Range<usize>,
}

/// The chosen sets in tiles of at most so many members. A set longer than that starts a tile of its own, so that its
/// pieces are met one after the other.
fn tiles(sets: &[Range<usize>], pick: &Pick<'_>, most: usize) -> Vec<Vec<Piece>> {
    let mut tiles: Vec<Vec<Piece>> = Vec::new();
    let mut room = 0;
    for (place, k) in pick.iter().enumerate() {
        let set = &sets[k];
        for start in set.clone().step_by(most) {
            let members = start..(start + most).min(set.end);
            let len = members.len();
            match tiles.last_mut() {
                Some(tile) if len <= room && start == set.start => tile.push(Piece { place, members }),
                _ => {
                    tiles.push(vec![Piece { place, members }]);
                    room = most;
                }
            }
            room -= len;
        }
    }
    tiles
}

/// The members of a tile as rows or columns: consecutive ones as a range.
fn members(tile: &[Piece]) -> Result<Range<usize>, Vec<usize>> {
    let joined = tile.windows(2).all(|pair| pair[0].members.end == pair[1].members.start);
    match (tile.first(), tile.last()) {
        (Some(first), Some(last)) if joined => Ok(first.members.start..last.members.end),
        _ => Err(tile.iter().flat_map(|piece| piece.members.clone()).collect()),
    }
}

fn picked(found: &Result<Range<usize>, Vec<usize>>) -> Pick<'_> {
    match found {
        Ok(range) => Pick::Range(range.clone()),
        Err(list) => Pick::List(list),
    }
}

impl Segmented {
    /// The sums over the members of each pair of sets; with `mean` divided by their numbers.
    pub fn new(inner: Arc<dyn Gram>, mean: bool, rows: Sets, cols: Sets) -> Self {
        Self { inner, mean, rows, cols }
    }

    /// The divisor of a sum.
    fn size(&self, a: &Range<usize>, b: &Range<usize>) -> f64 {
        if self.mean { (a.len() * b.len()).max(1) as f64 } else { 1.0 }
    }

    fn compute<S: Precision>(&self, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, S>) {
        for k in 0..rows.len() {
            out.row_mut(k).fill(S::default());
        }
        let right: Vec<_> =
            tiles(&self.cols.members, cols, TILE_COLS).into_iter().map(|tile| (members(&tile), tile)).collect();
        S::scratch(|buffer| {
            for left in tiles(&self.rows.members, rows, TILE_ROWS) {
                let chosen = members(&left);
                for (columns, tile) in &right {
                    let (height, width) = (picked(&chosen).len(), picked(columns).len());
                    buffer.resize(height * width, S::default());
                    let block = BlockMut::new(buffer, height, width);
                    S::block(self.inner.as_ref(), picked(&chosen), picked(columns), block);
                    add(buffer, width, &left, tile, &mut out);
                }
            }
        });
        for (k, i) in rows.iter().enumerate().filter(|_| self.mean) {
            let a = &self.rows.members[i];
            for (o, j) in out.row_mut(k).iter_mut().zip(cols.iter()) {
                *o = S::narrow(o.wide() / self.size(a, &self.cols.members[j]));
            }
        }
    }
}

/// Adds the sum of every rectangle of a tile where it belongs; a rectangle is added up row by row in f64.
fn add<S: Precision>(tile: &[S], width: usize, left: &[Piece], right: &[Piece], out: &mut BlockMut<'_, S>) {
    let mut top = 0;
    for a in left {
        let mut edge = 0;
        let line = out.row_mut(a.place);
        for b in right {
            let rows = (top..top + a.members.len()).map(|r| &tile[r * width + edge..][..b.members.len()]);
            let sum = rows.fold(0.0, |sum, row| row.iter().fold(sum, |sum: f64, v| sum + v.wide()));
            line[b.place] += S::narrow(sum);
            edge += b.members.len();
        }
        top += a.members.len();
    }
}

impl Gram for Segmented {
    fn shape(&self) -> (usize, usize) {
        (self.rows.members.len(), self.cols.members.len())
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.compute(&rows, &cols, out);
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        self.compute(&rows, &cols, out);
    }

    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric() && self.rows.members == self.cols.members
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        let sets = match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.cols,
        };
        let own = Self::new(Arc::clone(&sets.own), self.mean, sets.clone(), sets.clone());
        let mut values = vec![0.0; sets.members.len()];
        for (i, value) in values.iter_mut().enumerate() {
            own.compute(&Pick::List(&[i]), &Pick::List(&[i]), BlockMut::new(std::slice::from_mut(value), 1, 1));
        }
        Some(values)
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        let chosen = |sets: &Sets, keep: &[usize]| Sets {
            members: keep.iter().map(|&k| sets.members[k].clone()).collect(),
            own: Arc::clone(&sets.own),
        };
        let (rows, cols) = (chosen(&self.rows, rows), chosen(&self.cols, cols));
        Arc::new(Self { inner: Arc::clone(&self.inner), mean: self.mean, rows, cols })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::{Dense, fill};
    use crate::seed::Seed;

    /// Sets of many sizes, empty and longer than any tile among them, and their members' matrix.
    fn sets(n: usize) -> (Vec<Range<usize>>, Vec<f64>, usize) {
        let mut random = Seed(6).stream("sets");
        let mut members = Vec::new();
        let mut end = 0;
        for i in 0..n {
            let len = match i % 9 {
                4 => 0,
                7 => TILE_ROWS,
                8 => TILE_COLS + 1 + random.below(200),
                _ => 1 + random.below(30),
            };
            members.push(end..end + len);
            end += len;
        }
        let point: Vec<f64> = (0..end).map(|_| random.normal()).collect();
        let k = (0..end * end).map(|p| (-(point[p / end] - point[p % end]).powi(2)).exp()).collect();
        (members, k, end)
    }

    #[test]
    fn is_the_sum_of_all_pairs_for_any_block_bit_by_bit() {
        let n = 20;
        let (members, k, end) = sets(n);
        let inner: Arc<dyn Gram> = Arc::new(Dense::new(k.clone(), end, end).unwrap());
        for mean in [false, true] {
            let side = || Sets { members: members.clone(), own: Arc::clone(&inner) };
            let gram = Arc::new(Segmented::new(Arc::clone(&inner), mean, side(), side()));
            let mut whole = vec![f64::NAN; n * n];
            fill(gram.as_ref(), &mut whole);
            for (p, &got) in whole.iter().enumerate() {
                let (a, b) = (&members[p / n], &members[p % n]);
                let pairs = a.clone().flat_map(|i| b.clone().map(move |j| (i, j)));
                let sum: f64 = pairs.map(|(i, j)| k[i * end + j]).sum();
                let wanted = if mean && sum != 0.0 { sum / (a.len() * b.len()) as f64 } else { sum };
                assert!((got - wanted).abs() <= 1e-11 * (1.0 + wanted), "{a:?} {b:?}: {got} {wanted}");
            }
            let own = gram.self_similarities(Side::Rows).unwrap();
            assert!((0..n).all(|i| own[i] == whole[i * n + i]));
            let (odd, few) = ([19, 8, 8, 3, 4, 17], [8, 2, 17]);
            for (rows, cols) in [
                (Pick::List(&odd), Pick::List(&few)),
                (Pick::Range(7..9), Pick::List(&odd)),
                (Pick::Range(3..20), Pick::Range(8..18)),
            ] {
                let (mut wide, mut narrow) = (vec![0.5; rows.len() * cols.len()], vec![0.5; rows.len() * cols.len()]);
                gram.block(rows.clone(), cols.clone(), BlockMut::new(&mut wide, rows.len(), cols.len()));
                gram.block32(rows.clone(), cols.clone(), BlockMut::new(&mut narrow, rows.len(), cols.len()));
                for (p, (w, s)) in wide.iter().zip(&narrow).enumerate() {
                    let right = whole[rows.at(p / cols.len()) * n + cols.at(p % cols.len())];
                    assert_eq!(w.to_bits(), right.to_bits());
                    assert!((f64::from(*s) - right).abs() <= 2e-6 * right, "{s} {right}");
                }
            }
            let part = Arc::clone(&gram).restrict(&odd, &few);
            let mut chosen = vec![0.0; 18];
            fill(part.as_ref(), &mut chosen);
            assert!((0..18).all(|p| chosen[p] == whole[odd[p / 3] * n + few[p % 3]]));
            assert!(gram.is_symmetric() == inner.is_symmetric() && !part.is_symmetric());
            let again = part.self_similarities(Side::Columns).unwrap();
            assert!((0..3).all(|p| again[p] == whole[few[p] * (n + 1)]));
        }
    }
}
