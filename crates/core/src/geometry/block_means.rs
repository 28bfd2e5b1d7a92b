//! A kernel matrix in few cells: examples sorted by class, neighbours averaged.

use super::Labels;
use crate::gram::{Budget, Gram, fill_rows};
use crate::linalg::SolveError;
use std::ops::Range;
use std::sync::Arc;

/// The means of the blocks of a square matrix whose examples are sorted by class.
///
/// # Use when
/// A matrix of any size is to be seen: classes that a kernel tells apart are light and dark squares.
///
/// # Cost
/// One pass over the matrix, in strips of rows: n² kernel values, and memory for some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockMeans {
    /// The examples in the order of the cells: by class or number, else as they come.
    pub order: Vec<usize>,
    /// The ends of cells in that order; one more than cells in a row.
    pub edges: Vec<usize>,
    /// The number of cells of each class, in the order of their codes; empty without classes. No cell is of two classes.
    pub groups: Vec<usize>,
    /// The mean of each block, row by row.
    pub values: Vec<f64>,
}

impl BlockMeans {
    /// Averages a matrix into about so many cells in a row, or one for each example where there are fewer. `step` hears how
    /// many rows are done, and may end it with an error.
    ///
    /// # Errors
    /// If a kernel value is not finite, or `step` says so.
    pub fn of(
        gram: &Arc<dyn Gram>,
        labels: Option<&Labels>,
        cells: usize,
        budget: Budget,
        step: &mut dyn FnMut(usize) -> Result<(), SolveError>,
    ) -> Result<Self, SolveError> {
        let n = gram.shape().0.min(gram.shape().1);
        let mut order: Vec<usize> = (0..n).collect();
        if let Some(labels) = labels.filter(|l| l.numbers.len() == n) {
            crate::order::rising(&mut order, &labels.numbers);
        }
        let sizes = labels.and_then(|l| l.classes.as_ref()).filter(|c| c.len() == n).map(|c| sizes(c));
        // where most cells would be of one class alone, classes tell nothing
        let sizes = sizes.filter(|s| 2 * s.len() <= cells.max(2));
        let whole = [n];
        let groups: Vec<usize> =
            sizes.as_deref().unwrap_or(&whole).iter().map(|&size| share(size, n, cells.max(1))).collect();
        let mut edges = vec![0];
        for (&size, &count) in sizes.as_deref().unwrap_or(&whole).iter().zip(&groups) {
            let start = edges[edges.len() - 1];
            edges.extend((1..=count).map(|k| start + k * size / count));
        }
        let sorted = Arc::clone(gram).restrict(&order, &order);
        let values = means(sorted.as_ref(), &order, &edges, budget, step)?;
        Ok(Self { order, edges, groups: if sizes.is_some() { groups } else { Vec::new() }, values })
    }

    /// The number of cells of a row.
    pub fn cells(&self) -> usize {
        self.edges.len() - 1
    }
}

fn sizes(codes: &[u32]) -> Vec<usize> {
    let mut sizes = vec![0; codes.iter().max().map_or(0, |&c| c as usize + 1)];
    codes.iter().for_each(|&c| sizes[c as usize] += 1);
    sizes
}

/// The cells of a class: as many as its examples where all fit, else its share and at least one.
fn share(size: usize, n: usize, cells: usize) -> usize {
    if n <= cells { size } else { ((size * cells) as f64 / n as f64).round().max(1.0).min(size as f64) as usize }
}

/// The means of the blocks between edges, strip by strip of rows, summed in the order of rows and columns.
fn means(
    gram: &dyn Gram,
    order: &[usize],
    edges: &[usize],
    budget: Budget,
    step: &mut dyn FnMut(usize) -> Result<(), SolveError>,
) -> Result<Vec<f64>, SolveError> {
    let (n, cells) = (order.len(), edges.len() - 1);
    let strip = (budget.memory / 4 / (8 * n.max(1))).min((1 << 21) / n.max(1)).clamp(1, 1024);
    let mut sums = vec![0.0; cells * cells];
    let mut values: Vec<f64> = Vec::new();
    for (r, rows) in edges.windows(2).enumerate() {
        let mut start = rows[0];
        while start < rows[1] {
            step(start)?;
            let part: Range<usize> = start..(start + strip).min(rows[1]);
            values.resize(part.len() * n, 0.0);
            fill_rows(gram, part.clone(), &mut values);
            for (i, line) in part.clone().zip(values.chunks_exact(n)) {
                if let Some(j) = line.iter().position(|v| !v.is_finite()) {
                    return Err(SolveError::NotFinite { row: order[i] + 1, column: order[j] + 1 });
                }
                for (c, columns) in edges.windows(2).enumerate() {
                    sums[r * cells + c] += line[columns[0]..columns[1]].iter().sum::<f64>();
                }
            }
            start = part.end;
        }
    }
    for (r, rows) in edges.windows(2).enumerate() {
        for (c, columns) in edges.windows(2).enumerate() {
            sums[r * cells + c] /= ((rows[1] - rows[0]) * (columns[1] - columns[0])) as f64;
        }
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Dense;
    use crate::seed::Seed;

    /// A matrix of given values.
    fn matrix(n: usize, value: impl Fn(usize, usize) -> f64) -> Arc<dyn Gram> {
        let values = (0..n * n).map(|k| value(k / n, k % n)).collect();
        Arc::new(Dense::new(values, n, n).unwrap())
    }

    fn of(gram: &Arc<dyn Gram>, labels: Option<&Labels>, cells: usize) -> Result<BlockMeans, SolveError> {
        BlockMeans::of(gram, labels, cells, Budget { memory: 1 << 14 }, &mut |_| Ok(()))
    }

    #[test]
    fn a_cell_is_the_mean_of_its_block_and_of_one_class() {
        let mut random = Seed(2).stream("block_means");
        let n = 137;
        let codes: Vec<u32> = (0..n).map(|_| [0, 0, 0, 1, 2][random.below(5)]).collect();
        let noise: Vec<f64> = (0..n * n).map(|_| random.uniform()).collect();
        let value = |i: usize, j: usize| noise[i * n + j];
        let block_means = of(&matrix(n, value), Some(&Labels::classes(codes.clone())), 20).unwrap();
        let m = block_means.cells();
        assert_eq!((block_means.groups.len(), block_means.groups.iter().sum::<usize>()), (3, m));
        assert!((19..=21).contains(&m) && block_means.edges[m] == n);
        let mut sorted = block_means.order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..n).collect::<Vec<_>>());
        for r in 0..m {
            let rows = &block_means.order[block_means.edges[r]..block_means.edges[r + 1]];
            assert!(!rows.is_empty() && rows.iter().all(|&i| codes[i] == codes[rows[0]]), "one class a cell");
            for c in 0..m {
                let columns = &block_means.order[block_means.edges[c]..block_means.edges[c + 1]];
                let all: Vec<f64> = rows.iter().flat_map(|&i| columns.iter().map(move |&j| value(i, j))).collect();
                let mean = all.iter().sum::<f64>() / all.len() as f64;
                assert!((block_means.values[r * m + c] - mean).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn small_matrices_are_kept_and_numbers_sort() {
        let gram = matrix(4, |i, j| (10 * i + j) as f64);
        let plain = of(&gram, None, 8).unwrap();
        assert_eq!((plain.cells(), plain.values[7], plain.groups.len()), (4, 13.0, 0));
        let many = Labels { numbers: vec![3.0, 1.0, 2.0, 0.0], classes: None };
        let sorted = of(&gram, Some(&many), 8).unwrap();
        assert_eq!(sorted.order, [3, 1, 2, 0]);
        assert_eq!(sorted.values[..4], [33.0, 31.0, 32.0, 30.0]);
    }

    #[test]
    fn what_is_not_finite_is_told_by_its_own_place_and_it_can_be_stopped() {
        let gram = matrix(6, |i, j| if (i, j) == (1, 4) { f64::NAN } else { 1.0 });
        let codes = Labels::classes(vec![1, 1, 0, 0, 1, 0]);
        let error = of(&gram, Some(&codes), 4).unwrap_err();
        assert!(matches!(error, SolveError::NotFinite { row: 2, column: 5 }), "{error:?}");
        let stop = |_: usize| Err(SolveError::Stopped { reason: crate::watch::Stop::Interrupted });
        let stopped = BlockMeans::of(&matrix(6, |_, _| 1.0), None, 4, Budget::default(), &mut { stop });
        assert!(matches!(stopped, Err(SolveError::Stopped { .. })));
    }
}
