//! Square matrices by tiles: the transpose, and the mirror image of a triangle, in place.

use super::hand_out;

/// Rows and columns of a tile: two of them stay in the nearest cache.
const TILE: usize = 32;

/// The rows of a tile.
type Tile<'a> = Vec<&'a mut [f64]>;

/// Hands each pair of tiles that mirror each other to `work`, that above the diagonal first; one on the diagonal comes alone.
fn pairs(matrix: &mut [f64], n: usize, work: &(dyn Fn(Tile<'_>, Option<Tile<'_>>) + Sync)) {
    if n == 0 {
        return;
    }
    let count = n.div_ceil(TILE);
    let mut grid: Vec<Option<Tile<'_>>> = (0..count * count).map(|_| Some(Vec::with_capacity(TILE))).collect();
    for (i, row) in matrix.chunks_exact_mut(n).enumerate() {
        for (tile, part) in grid[i / TILE * count..].iter_mut().zip(row.chunks_mut(TILE)) {
            if let Some(tile) = tile {
                tile.push(part);
            }
        }
    }
    let mut tasks = Vec::new();
    for i in 0..count {
        let own = grid[i * count + i].take();
        let others = (i + 1..count).filter_map(|j| Some((grid[i * count + j].take()?, grid[j * count + i].take()?)));
        let others: Vec<_> = others.collect();
        tasks.push((own, others));
    }
    hand_out(tasks, &|(own, others)| {
        own.into_iter().for_each(|tile| work(tile, None));
        others.into_iter().for_each(|(upper, lower)| work(upper, Some(lower)));
    });
}

/// Replaces a matrix by its transpose.
pub(in crate::linalg) fn transpose(matrix: &mut [f64], n: usize) {
    pairs(matrix, n, &|mut upper, lower| match lower {
        Some(mut lower) => {
            for (i, row) in upper.iter_mut().enumerate() {
                for (x, other) in row.iter_mut().zip(&mut lower) {
                    std::mem::swap(x, &mut other[i]);
                }
            }
        }
        None => {
            for i in 0..upper.len() {
                let (above, below) = upper.split_at_mut(i + 1);
                for (x, other) in above[i][i + 1..].iter_mut().zip(below) {
                    std::mem::swap(x, &mut other[i]);
                }
            }
        }
    });
}

/// Copies what is above the diagonal below it.
pub(in crate::linalg) fn mirror(matrix: &mut [f64], n: usize) {
    pairs(matrix, n, &|mut upper, lower| match lower {
        Some(mut lower) => {
            for (j, row) in lower.iter_mut().enumerate() {
                row.iter_mut().zip(&upper).for_each(|(to, other)| *to = other[j]);
            }
        }
        None => {
            for i in 0..upper.len() {
                let (above, below) = upper.split_at_mut(i + 1);
                for (x, other) in above[i][i + 1..].iter().zip(below) {
                    other[i] = *x;
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_meet_those_on_the_other_side() {
        for n in [0, 1, 2, 31, 32, 33, 100] {
            let a: Vec<f64> = (0..n * n).map(|p| p as f64).collect();
            let (mut turned, mut symmetric) = (a.clone(), a.clone());
            transpose(&mut turned, n);
            mirror(&mut symmetric, n);
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                assert_eq!(turned[i * n + j], a[j * n + i], "{n}");
                assert_eq!(symmetric[i * n + j], a[i.min(j) * n + i.max(j)], "{n}");
            }
        }
    }
}
