//! Lines on which a function on a grid has a value: marching squares (Lorensen & Cline 1987, in the plane).

use std::collections::BTreeMap;

/// A function known at the crossings of a grid.
pub(super) struct Grid {
    /// Abscissae of the columns.
    pub(super) xs: Vec<f64>,
    /// Ordinates of the rows.
    pub(super) ys: Vec<f64>,
    /// Values, row by row.
    pub(super) values: Vec<f64>,
}

impl Grid {
    /// From the values at the centres of cells of width and height one. The margin between the outermost centres and
    /// the edge repeats the outermost values: lines reach the edge, and none appears that the values do not show.
    pub(super) fn of_cells(columns: usize, rows: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let knots = |n: usize| -> Vec<f64> {
            let centres = (0..n).map(|k| k as f64 + 0.5);
            std::iter::once(0.0).chain(centres).chain(std::iter::once(n as f64)).collect()
        };
        if columns == 0 || rows == 0 {
            return Self { xs: Vec::new(), ys: Vec::new(), values: Vec::new() };
        }
        let values = (0..rows + 2)
            .flat_map(|r| (0..columns + 2).map(move |c| (c, r)))
            .map(|(c, r)| value(c.clamp(1, columns) - 1, r.clamp(1, rows) - 1))
            .collect();
        Self { xs: knots(columns), ys: knots(rows), values }
    }

    /// The lines of a level, each a chain of points; closed lines end where they begin.
    pub(super) fn lines(&self, level: f64) -> Vec<Vec<(f64, f64)>> {
        let (width, height) = (self.xs.len(), self.ys.len());
        let mut links: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for r in 0..height.saturating_sub(1) {
            for c in 0..width.saturating_sub(1) {
                let at = r * width + c;
                // Corners counter-clockwise from the bottom left; edges by the corner that comes first.
                let corners = [at, at + 1, at + width + 1, at + width].map(|k| self.values[k] - level);
                if corners.iter().any(|v| !v.is_finite()) {
                    continue;
                }
                let edges = [2 * at, 2 * (at + 1) + 1, 2 * (at + width), 2 * at + 1];
                let above = corners.map(|v| v >= 0.0);
                let mut crossed: Vec<usize> = (0..4).filter(|&k| above[k] != above[(k + 1) % 4]).collect();
                // A saddle has four crossings. If the middle is on the side of the corner 0, that corner is joined to the
                // corner 2 and the lines cut off 1 and 3; otherwise they cut off 0 and 2.
                if crossed.len() == 4 && (corners.iter().sum::<f64>() >= 0.0) != above[0] {
                    crossed.rotate_right(1);
                }
                for pair in crossed.chunks_exact(2) {
                    let (a, b) = (edges[pair[0]], edges[pair[1]]);
                    links.entry(a).or_default().push(b);
                    links.entry(b).or_default().push(a);
                }
            }
        }
        chains(links).iter().map(|chain| chain.iter().map(|&edge| self.crossing(edge, level)).collect()).collect()
    }

    /// The point at which an edge crosses the level; even edges run to the right of their knot, odd ones upwards.
    fn crossing(&self, edge: usize, level: f64) -> (f64, f64) {
        let (at, upwards) = (edge / 2, edge % 2 == 1);
        let (width, step) = (self.xs.len(), if upwards { self.xs.len() } else { 1 });
        let (a, b) = (self.values[at], self.values[at + step]);
        let t = ((level - a) / (b - a)).clamp(0.0, 1.0);
        let (c, r) = (at % width, at / width);
        if upwards {
            (self.xs[c], self.ys[r] + t * (self.ys[r + 1] - self.ys[r]))
        } else {
            (self.xs[c] + t * (self.xs[c + 1] - self.xs[c]), self.ys[r])
        }
    }
}

/// Follows links from end to end, open chains first; the order depends on nothing but the links.
fn chains(mut links: BTreeMap<usize, Vec<usize>>) -> Vec<Vec<usize>> {
    let ends: Vec<usize> = links.iter().filter(|(_, to)| to.len() == 1).map(|(edge, _)| *edge).collect();
    let all: Vec<usize> = links.keys().copied().collect();
    let mut chains = Vec::new();
    for start in ends.into_iter().chain(all) {
        let mut chain = vec![start];
        let mut here = start;
        while let Some(next) = links.get_mut(&here).and_then(Vec::pop) {
            if let Some(back) = links.get_mut(&next) {
                back.retain(|&edge| edge != here);
            }
            chain.push(next);
            here = next;
        }
        if chain.len() > 1 {
            chains.push(chain);
        }
    }
    chains
}

/// Takes the steps of the grid out of a line: each point moves to the mean of itself and its neighbours, a few times.
pub(super) fn smooth(line: &mut [(f64, f64)]) {
    let n = line.len();
    let closed = n > 2 && line[0] == line[n - 1];
    for _ in 0..8 {
        let old = line.to_vec();
        let mean = |a: (f64, f64), b: (f64, f64), c: (f64, f64)| {
            (0.25 * a.0 + 0.5 * b.0 + 0.25 * c.0, 0.25 * a.1 + 0.5 * b.1 + 0.25 * c.1)
        };
        for k in 1..n.saturating_sub(1) {
            line[k] = mean(old[k - 1], old[k], old[k + 1]);
        }
        if closed {
            line[0] = mean(old[n - 2], old[0], old[1]);
            line[n - 1] = line[0];
        }
    }
}
