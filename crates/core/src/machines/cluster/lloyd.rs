//! Lloyd's iteration from several starts, in any space that can tell distances from examples and from means of them.

use crate::gram::{BlockMut, Gram, Pick, apply};
use crate::linalg::transposed_multiply;
use crate::memory::{self, BudgetError};
use crate::seed::{Random, Seed};
use crate::watch::{Monitor, Phase, Progress, Status};

/// The space that examples lie in.
pub(super) trait Space {
    /// The number of examples.
    fn len(&self) -> usize;
    /// ‖x_i − x_j‖² of all i for one j.
    fn to_example(&self, j: usize) -> Vec<f64>;
    /// ‖x_i − m_c‖² of all i (rows) for m means (columns), m_c = Σ_i `weights`_ic x_i.
    fn to_means(&self, weights: &[f64], m: usize) -> Vec<f64>;
}

/// The images of examples in feature space, by kernel values alone.
pub(super) struct Images<'a> {
    pub(super) gram: &'a dyn Gram,
    /// κ(x_i, x_i).
    pub(super) own: Vec<f64>,
}

impl Space for Images<'_> {
    fn len(&self) -> usize {
        self.own.len()
    }

    fn to_example(&self, j: usize) -> Vec<f64> {
        let n = self.own.len();
        let mut column = vec![0.0; n];
        self.gram.block(Pick::Range(0..n), Pick::Range(j..j + 1), BlockMut::new(&mut column, n, 1));
        column.iter().zip(&self.own).map(|(k, own)| own - 2.0 * k + self.own[j]).collect()
    }

    /// κ(x_i, x_i) − 2 Σ_j w_jc κ(x_i, x_j) + Σ_jl w_jc w_lc κ(x_j, x_l).
    fn to_means(&self, weights: &[f64], m: usize) -> Vec<f64> {
        let mut products = vec![0.0; weights.len()];
        apply(self.gram, weights, m, &mut products);
        let norms = squared_norms(weights, &products, m);
        for (row, own) in products.chunks_exact_mut(m).zip(&self.own) {
            row.iter_mut().zip(&norms).for_each(|(p, norm)| *p = own - 2.0 * *p + norm);
        }
        products
    }
}

/// ‖m_c‖² = Σ_i w_ic (Kw)_ic.
pub(super) fn squared_norms(weights: &[f64], products: &[f64], m: usize) -> Vec<f64> {
    let mut norms = vec![0.0; m];
    for (w, p) in weights.chunks_exact(m).zip(products.chunks_exact(m)) {
        norms.iter_mut().zip(w.iter().zip(p)).for_each(|(norm, (w, p))| *norm += w * p);
    }
    norms
}

/// Examples with coordinates, row by row.
pub(super) struct Coordinates {
    pub(super) rows: Vec<f64>,
    pub(super) width: usize,
}

impl Coordinates {
    /// ‖x_i − m‖² of all i.
    fn to_place(&self, place: &[f64]) -> Vec<f64> {
        let apart = |row: &[f64]| row.iter().zip(place).map(|(x, m)| (x - m) * (x - m)).sum();
        self.rows.chunks_exact(self.width).map(apart).collect()
    }
}

impl Space for Coordinates {
    fn len(&self) -> usize {
        self.rows.len() / self.width.max(1)
    }

    fn to_example(&self, j: usize) -> Vec<f64> {
        self.to_place(&self.rows[j * self.width..(j + 1) * self.width])
    }

    fn to_means(&self, weights: &[f64], m: usize) -> Vec<f64> {
        let means = transposed_multiply(weights, m, &self.rows, self.width);
        let mut distances = vec![0.0; weights.len()];
        for (c, mean) in means.chunks_exact(self.width).enumerate() {
            for (i, distance) in self.to_place(mean).into_iter().enumerate() {
                distances[i * m + c] = distance;
            }
        }
        distances
    }
}

/// Parameters of the iteration.
pub(super) struct Lloyd {
    pub(super) clusters: usize,
    pub(super) restarts: usize,
    pub(super) max_iterations: usize,
    pub(super) seed: Seed,
}

/// The best division that was found.
pub(super) struct Division {
    /// The cluster of each example; clusters are numbered by their first example.
    pub(super) assigned: Vec<u32>,
    /// Σ_i ‖x_i − m_c(i)‖².
    pub(super) objective: f64,
    pub(super) status: Status,
    /// Passes over the examples.
    pub(super) iterations: usize,
    /// The number of restarts that ended at the same objective.
    pub(super) alike: usize,
}

/// The reason why it stopped.
pub(super) enum Trouble {
    /// The examples are fewer than the clusters once equal ones count once.
    Few(usize),
    /// The restarts do not fit into memory.
    Room(BudgetError),
    /// A distance is not a number.
    NotFinite,
    /// The monitor said so before there was a division.
    Stopped(crate::watch::Stop),
}

/// One restart.
struct Run {
    assigned: Vec<u32>,
    /// Σ_i ‖x_i − m_c(i)‖² before the last pass.
    objective: f64,
    settled: bool,
}

impl Lloyd {
    /// Restarts share every pass: the means of all that still move are measured against the examples at once.
    pub(super) fn divide(&self, space: &dyn Space, watch: &dyn Monitor) -> Result<Division, Trouble> {
        // a pass has weights and distances of all restarts
        let each = (2 * size_of::<f64>() * self.clusters + size_of::<u32>()).saturating_mul(space.len());
        memory::check(each.saturating_mul(self.restarts), format!("the means of {} restarts", self.restarts))
            .map_err(|e| Trouble::Room(e.remedy("ask for fewer restarts, or raise --memory")))?;
        let mut random = self.seed.stream("clusters");
        let mut runs = Vec::with_capacity(self.restarts);
        for restart in 0..self.restarts {
            watch.alive(Progress::new(Phase::new("seeding"), restart).of(self.restarts)).map_err(Trouble::Stopped)?;
            runs.push(Run { assigned: self.seeded(space, &mut random)?, objective: f64::INFINITY, settled: false });
        }
        let (mut iterations, mut stopped) = (0, None);
        while iterations < self.max_iterations && stopped.is_none() && runs.iter().any(|r| !r.settled) {
            iterations += 1;
            self.pass(space, &mut runs)?;
            let progress =
                Progress::new(Phase::new("clusters"), runs.iter().filter(|r| r.settled).count()).of(self.restarts);
            if let Err(reason) = watch.alive(progress) {
                stopped = Some(reason);
            }
        }
        // what was assigned last has another objective than what was measured last: measure once more
        let unsettled = runs.iter().any(|r| !r.settled);
        let mut ends = Vec::with_capacity(runs.len());
        for run in &runs {
            ends.push(if run.settled {
                run.objective
            } else {
                let distances = space.to_means(&self.weights(&run.assigned), self.clusters);
                (0..space.len()).map(|i| distances[i * self.clusters + run.assigned[i] as usize]).sum()
            });
        }
        let best = (0..runs.len()).min_by(|&a, &b| ends[a].total_cmp(&ends[b])).unwrap_or(0);
        let alike = ends.iter().filter(|end| (**end - ends[best]).abs() <= 1e-9 * ends[best].abs()).count();
        let status = match stopped {
            Some(reason) => reason.into(),
            None if unsettled => Status::IterationLimit,
            None => Status::Converged,
        };
        let objective = ends[best];
        let run = runs.swap_remove(best);
        Ok(Division { assigned: renumbered(&run.assigned), objective, status, iterations, alike })
    }

    /// k-means++: the first centre is any example, each further one is drawn with a probability in proportion to the
    /// squared distance from the nearest so far (Arthur & Vassilvitskii 2007). Every example joins its nearest.
    fn seeded(&self, space: &dyn Space, random: &mut Random) -> Result<Vec<u32>, Trouble> {
        let n = space.len();
        let mut nearest = vec![f64::INFINITY; n];
        let mut assigned = vec![0; n];
        let mut scale = 0.0_f64;
        for c in 0..self.clusters {
            let chosen = if c == 0 {
                random.below(n)
            } else {
                let total: f64 = nearest.iter().sum();
                // what is nearer than rounding is the same place
                if total <= 1e-12 * scale * n as f64 {
                    return Err(Trouble::Few(c));
                }
                drawn(&nearest, random.uniform() * total)
            };
            for (i, distance) in space.to_example(chosen).into_iter().enumerate() {
                if !distance.is_finite() {
                    return Err(Trouble::NotFinite);
                }
                // rounding, and kernels that are not definite, give distances below zero
                let distance = if i == chosen { 0.0 } else { distance.max(0.0) };
                scale = scale.max(distance);
                if distance < nearest[i] {
                    (nearest[i], assigned[i]) = (distance, c as u32);
                }
            }
        }
        Ok(assigned)
    }

    /// 1/n_c where an example is in a cluster: n × k numbers.
    fn weights(&self, assigned: &[u32]) -> Vec<f64> {
        let k = self.clusters;
        let mut sizes = vec![0.0; k];
        assigned.iter().for_each(|&c| sizes[c as usize] += 1.0);
        let mut weights = vec![0.0; assigned.len() * k];
        for (i, &c) in assigned.iter().enumerate() {
            weights[i * k + c as usize] = 1.0 / sizes[c as usize];
        }
        weights
    }

    /// Every example moves to the nearest mean; it stays where it is if that is as near.
    fn pass(&self, space: &dyn Space, runs: &mut [Run]) -> Result<(), Trouble> {
        let (n, k) = (space.len(), self.clusters);
        let moving: Vec<usize> = (0..runs.len()).filter(|&r| !runs[r].settled).collect();
        let all = k * moving.len();
        let mut weights = vec![0.0; n * all];
        for (place, &r) in moving.iter().enumerate() {
            for (to, from) in weights.chunks_exact_mut(all).zip(self.weights(&runs[r].assigned).chunks_exact(k)) {
                to[place * k..(place + 1) * k].copy_from_slice(from);
            }
        }
        let distances = space.to_means(&weights, all);
        for (place, &r) in moving.iter().enumerate() {
            let run = &mut runs[r];
            let of = |i: usize| &distances[i * all + place * k..i * all + (place + 1) * k];
            let own: Vec<f64> = (0..n).map(|i| of(i)[run.assigned[i] as usize]).collect();
            let objective: f64 = own.iter().sum();
            if !objective.is_finite() {
                return Err(Trouble::NotFinite);
            }
            run.objective = objective;
            let mut moved: Vec<u32> = (0..n).map(|i| nearest(of(i), run.assigned[i])).collect();
            fill_empty(&mut moved, &|i, c| of(i)[c as usize], k);
            run.settled = moved == run.assigned;
            run.assigned = moved;
        }
        Ok(())
    }
}

/// The place at which the running sum of weights passes a level.
fn drawn(weights: &[f64], level: f64) -> usize {
    let mut sum = 0.0;
    for (i, w) in weights.iter().enumerate() {
        sum += w;
        if sum > level {
            return i;
        }
    }
    // rounding at the very end: the last that can be drawn at all
    weights.iter().rposition(|w| *w > 0.0).unwrap_or(0)
}

fn nearest(distances: &[f64], present: u32) -> u32 {
    let mut best = present;
    for (c, d) in distances.iter().enumerate() {
        if *d < distances[best as usize] {
            best = c as u32;
        }
    }
    best
}

/// A cluster that nobody joined takes the example that is farthest from its mean, out of a cluster with others: alone it is at
/// its own mean, so the objective does not rise.
fn fill_empty(assigned: &mut [u32], distance: &dyn Fn(usize, u32) -> f64, k: usize) {
    let mut sizes = vec![0_usize; k];
    assigned.iter().for_each(|&c| sizes[c as usize] += 1);
    for c in 0..k {
        if sizes[c] > 0 {
            continue;
        }
        let movable = (0..assigned.len()).filter(|&i| sizes[assigned[i] as usize] > 1);
        let far = |i: &usize| distance(*i, assigned[*i]);
        if let Some(i) = movable.max_by(|a, b| far(a).total_cmp(&far(b)).then(b.cmp(a))) {
            sizes[assigned[i] as usize] -= 1;
            (assigned[i], sizes[c]) = (c as u32, 1);
        }
    }
}

/// Clusters in the order of their first examples.
fn renumbered(assigned: &[u32]) -> Vec<u32> {
    let mut names: Vec<u32> = Vec::new();
    let mut name = |c: u32| {
        let known = names.iter().position(|&n| n == c).unwrap_or_else(|| {
            names.push(c);
            names.len() - 1
        });
        known as u32
    };
    assigned.iter().map(|&c| name(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Silent;

    fn three_heaps() -> Coordinates {
        let mut random = Seed(3).stream("heaps");
        let rows = (0..60).flat_map(|i| [f64::from(i % 3) * 4.0 + 0.3 * random.normal(), random.normal()]);
        Coordinates { rows: rows.collect(), width: 2 }
    }

    #[test]
    fn an_empty_cluster_takes_the_farthest_and_leaves_none_empty() {
        let space = three_heaps();
        let distances = space.to_means(&vec![1.0 / 60.0; 60], 1);
        let mut assigned = vec![0; 60];
        fill_empty(&mut assigned, &|i, _| distances[i], 3);
        let farthest = (0..60).max_by(|&a, &b| distances[a].total_cmp(&distances[b])).unwrap();
        assert_ne!(assigned[farthest], 0);
        assert_eq!((0..3).map(|c| assigned.iter().filter(|&&a| a == c).count()).collect::<Vec<_>>(), [58, 1, 1]);
    }

    #[test]
    fn the_objective_never_rises_and_every_start_is_told() {
        let space = three_heaps();
        let mut fell = 0;
        for seed in 0..20 {
            let lloyd = |restarts, max_iterations| {
                let lloyd = Lloyd { clusters: 5, restarts, max_iterations, seed: Seed(seed) };
                lloyd.divide(&space, &Silent).unwrap_or_else(|_| panic!("{seed}"))
            };
            // the same start, stopped after one pass, after two, …
            let path: Vec<f64> = (1..12).map(|passes| lloyd(1, passes).objective).collect();
            assert!(path.windows(2).all(|p| p[1] <= p[0] * (1.0 + 1e-12)), "{path:?}");
            fell += usize::from(path[10] < path[0] * 0.999);
            let found = lloyd(4, 100);
            assert!(found.objective <= path[10] * (1.0 + 1e-12), "the first of four starts is that one");
            assert_eq!(found.status, Status::Converged);
            assert!((1..=4).contains(&found.alike) && found.assigned[0] == 0);
            // the objective again, from the means themselves
            let mut again = 0.0;
            for c in 0..5 {
                let of: Vec<usize> = (0..60).filter(|&i| found.assigned[i] == c).collect();
                assert!(!of.is_empty());
                for d in 0..2 {
                    let mean = of.iter().map(|&i| space.rows[2 * i + d]).sum::<f64>() / of.len() as f64;
                    again += of.iter().map(|&i| (space.rows[2 * i + d] - mean).powi(2)).sum::<f64>();
                }
            }
            assert!((again - found.objective).abs() < 1e-10 * again);
        }
        assert!(fell > 5, "the first pass is seldom the last: {fell} of 20");
    }

    #[test]
    fn equal_examples_are_no_clusters() {
        let space = Coordinates { rows: vec![1.0, 1.0, 2.0, 1.0, 2.0], width: 1 };
        let lloyd = |clusters| Lloyd { clusters, restarts: 2, max_iterations: 9, seed: Seed(0) };
        assert!(matches!(lloyd(3).divide(&space, &Silent), Err(Trouble::Few(2))));
        let Ok(two) = lloyd(2).divide(&space, &Silent) else { panic!() };
        assert_eq!((two.assigned, two.objective), (vec![0, 0, 1, 0, 1], 0.0));
    }
}
