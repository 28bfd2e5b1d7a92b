//! The nearest examples in feature space, which vote or are averaged.
//!
//! ```text
//! d²(x, x_i) = ‖φ(x) − φ(x_i)‖² = κ(x, x) − 2 κ(x, x_i) + κ(x_i, x_i)
//! f_c(x)     = Σ_{i∈N} a_i v_ic / Σ_{i∈N} a_i          N: the k examples with the smallest d²
//! a_i        = w_i, or w_i / d(x, x_i); where some of N are at distance zero, w_i for these and 0 for the others
//! ```
//! κ(x, x) is the same for all x_i: it changes no order, and is asked for only where distances are weights. Nor does κ(x_i, x_i) where it is
//! the same for all: the order is then that of κ(x, x_i) itself, which tells examples apart whose distances are all one number to
//! rounding, as those of a radial kernel far from all examples.
//!
//! # Source
//! Shawe-Taylor & Cristianini 2004, §5.1 (distances in feature space).

use super::expansion::by_strips;
use super::{Coefficients, Expansion, FitError, Fitted, Readout, SolverReport, Task};
use crate::data::DataError;
use crate::gram::{BlockMut, Gram, Pick, Side, diagonal};
use crate::linalg::SolveError;
use crate::params::Choice;
use crate::watch::{Monitor, Phase};

/// The most rows that one thread scores at a time.
const STRIP: usize = 128;
/// Largest number of candidates that one thread keeps at a time; fewer rows where k is large.
const MAX_CANDIDATES: usize = 1 << 17;
/// Columns of a tile.
const TILE: usize = 512;
/// Examples that are looked at for whether any two are alike.
const SAMPLE: usize = 64;
/// Fewer examples than these may be strangers by chance.
const MIN_SAMPLE: usize = 8;
/// Rounding of κ(x, x) − 2 κ(x, z) + κ(z, z), in units of the last digit: what is below is zero.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Examples that are looked up.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    /// The training examples.
    pub points: Vec<usize>,
    /// κ(x_i, x_i) of each.
    pub own: Vec<f64>,
    /// v, `points.len() × outputs` numbers row by row.
    pub values: Vec<f64>,
    /// w, how much each counts; above zero.
    pub weights: Vec<f64>,
    /// The number of neighbours, from one to all.
    pub k: usize,
    /// The weighting of the neighbours.
    pub weighting: Weighting,
}

/// Weightings of neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weighting {
    /// All alike.
    #[default]
    Uniform,
    /// By 1/d.
    Distance,
}

impl Choice for Weighting {
    fn options(&self) -> &'static [&'static str] {
        &["uniform", "distance"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        *self = if position == 0 { Self::Uniform } else { Self::Distance };
    }
}

impl Neighbours {
    /// The scores of new examples, from the matrix between them (rows) and the points (columns); not a number where a
    /// kernel value is not finite, or where κ(x, x) is needed and not known.
    pub(super) fn scores(&self, cross: &dyn Gram, scores: &mut [f64]) {
        let (n, points) = (cross.shape().0, self.points.len());
        let outputs = self.values.len() / points.max(1);
        let unknown = || vec![f64::NAN; n];
        let own = match self.weighting {
            Weighting::Uniform => vec![0.0; n],
            Weighting::Distance => cross.self_similarities(Side::Rows).unwrap_or_else(unknown),
        };
        let base = self.base();
        let strip = (MAX_CANDIDATES / (2 * self.k).max(1)).clamp(1, STRIP);
        by_strips(scores, strip * outputs.max(1), |at, scores| {
            let (start, count) = (at * strip, scores.len() / outputs);
            let mut rows: Vec<Nearest> = (0..count).map(|_| Nearest::new(self.k)).collect();
            let mut tile = vec![0.0; count * TILE];
            for left in (0..points).step_by(TILE) {
                let right = (left + TILE).min(points);
                let block = &mut tile[..count * (right - left)];
                cross.block(
                    Pick::Range(start..start + count),
                    Pick::Range(left..right),
                    BlockMut::new(block, count, right - left),
                );
                for (nearest, line) in rows.iter_mut().zip(block.chunks_exact(right - left)) {
                    for (place, similarity) in (left..right).zip(line) {
                        // d² − κ(x, x) − base
                        nearest.see(self.beyond(base, place) - 2.0 * similarity, place);
                    }
                }
            }
            for (i, (nearest, out)) in rows.into_iter().zip(scores.chunks_exact_mut(outputs)).enumerate() {
                self.ask(nearest.found(), own[start + i] + base, out);
            }
        });
    }

    /// κ(x_i, x_i), where it is the same for all but for rounding, else zero.
    fn base(&self) -> f64 {
        let first = self.own.first().copied().unwrap_or(0.0);
        let alike = self.own.iter().all(|own| (own - first).abs() <= ROUNDING * first.abs());
        if alike { first } else { 0.0 }
    }

    /// κ(x_i, x_i) beyond the base that all share.
    fn beyond(&self, base: f64, place: usize) -> f64 {
        if base == 0.0 { self.own[place] } else { 0.0 }
    }

    /// The mean of the values of some neighbours, each given by d² less `own`, and its place.
    fn ask(&self, neighbours: Option<Vec<(f64, usize)>>, own: f64, out: &mut [f64]) {
        let Some(neighbours) = neighbours.filter(|_| own.is_finite()) else { return out.fill(f64::NAN) };
        let outputs = out.len();
        let squared = |&(rest, place): &(f64, usize)| {
            let d2 = own + rest;
            // what differences of nearly equal numbers leave behind is no distance
            if d2 <= ROUNDING * (own.abs() + self.own[place].abs()) { 0.0 } else { d2 }
        };
        let weighs = self.weighting == Weighting::Distance;
        let met = weighs && neighbours.iter().any(|neighbour| squared(neighbour) == 0.0);
        let mut sum = 0.0;
        for neighbour in &neighbours {
            let place = neighbour.1;
            let factor = match (weighs, squared(neighbour)) {
                (false, _) => 1.0,
                (true, d2) if met => f64::from(u8::from(d2 == 0.0)),
                (true, d2) => 1.0 / d2.sqrt(),
            };
            let weight = factor * self.weights[place];
            sum += weight;
            for (o, v) in out.iter_mut().zip(&self.values[place * outputs..(place + 1) * outputs]) {
                *o += weight * v;
            }
        }
        out.iter_mut().for_each(|o| *o /= sum);
    }
}

/// Keeps the examples of a task with their values (n × outputs), of which k will be asked; what does not count is left out.
pub(super) fn look_up(
    machine: &'static str,
    task: &Task<'_>,
    (k, weighting): (usize, Weighting),
    values: &[f64],
    readout: Readout,
    watch: &dyn Monitor,
) -> Result<Fitted, FitError> {
    let (n, outputs) = (task.len(), readout.outputs());
    watch.alive(Phase::new("neighbours").into()).map_err(|reason| FitError::stopped(machine, reason))?;
    let own = diagonal(task.gram.as_ref());
    // |κ(x, z)|² ≤ κ(x, x) κ(z, z): where the diagonal is finite, all is
    if let Some(place) = own.iter().position(|k| !k.is_finite()) {
        let error = SolveError::NotFinite { row: place + 1, column: place + 1 };
        return Err(FitError::Solve { machine, error });
    }
    let weight = |i: usize| task.weights.map_or(1.0, |w| w[i]);
    let points: Vec<usize> = (0..n).filter(|&i| weight(i) > 0.0).collect();
    if points.is_empty() {
        let error =
            DataError::Usage { finding: "every example has the weight zero; give some of them more".to_owned() };
        return Err(FitError::Target { machine, error });
    }
    let (count, k) = (points.len(), k.clamp(1, points.len()));
    let neighbours = Neighbours {
        own: points.iter().map(|&i| own[i]).collect(),
        values: points.iter().flat_map(|&i| &values[i * outputs..(i + 1) * outputs]).copied().collect(),
        weights: points.iter().map(|&i| weight(i)).collect(),
        points,
        k,
        weighting,
    };
    let advice = strangers(task.gram.as_ref(), &neighbours);
    let coefficients = Coefficients::Neighbours(neighbours);
    Fitted::new(
        Expansion { coefficients, offsets: vec![0.0; outputs] },
        readout,
        SolverReport {
            support: Some(count),
            notes: vec![("neighbours".to_owned(), k as f64)],
            advice: advice.into_iter().collect(),
            ..SolverReport::direct()
        },
    )
    .scorable(machine, &task.gram)
}

/// Examples of which none resembles any other, so that all are equally far from each other and from what is new.
fn strangers(gram: &dyn Gram, neighbours: &Neighbours) -> Option<String> {
    let points = &neighbours.points;
    let sample: Vec<usize> = points.iter().copied().step_by(points.len().div_ceil(SAMPLE)).collect();
    let m = sample.len();
    if m < MIN_SAMPLE || neighbours.base() == 0.0 {
        return None;
    }
    let mut values = vec![0.0; m * m];
    gram.block(Pick::List(&sample), Pick::List(&sample), BlockMut::new(&mut values, m, m));
    let apart = (0..m * m).all(|p| p / m == p % m || values[p] == 0.0);
    apart.then(|| {
        format!(
            "κ is 0 between any two of {m} examples that were looked at: all are equally far, and the first ones are taken for neighbours; make \
             the kernel wider, or scale the columns (--scale standard)"
        )
    })
}

/// The k smallest of a stream of numbers, with their places; of equal ones those that came first.
struct Nearest {
    k: usize,
    kept: Vec<(f64, usize)>,
    /// The largest of the k smallest so far; what is not below it is none of them.
    limit: f64,
    /// True if every number was finite.
    sound: bool,
}

impl Nearest {
    fn new(k: usize) -> Self {
        Self { k, kept: Vec::new(), limit: f64::INFINITY, sound: true }
    }

    fn see(&mut self, number: f64, place: usize) {
        self.sound &= number.is_finite();
        if number < self.limit {
            self.kept.push((number, place));
            if self.kept.len() >= 2 * self.k {
                self.cut();
                self.limit = self.kept.iter().map(|c| c.0).fold(f64::NEG_INFINITY, f64::max);
            }
        }
    }

    /// Leaves the k smallest; each number costs two comparisons on average, however large k is.
    fn cut(&mut self) {
        if self.kept.len() > self.k {
            self.kept.select_nth_unstable_by(self.k - 1, order);
            self.kept.truncate(self.k);
        }
    }

    /// The k smallest in their order; `None` if a number was not finite.
    fn found(mut self) -> Option<Vec<(f64, usize)>> {
        self.cut();
        self.kept.sort_unstable_by(order);
        self.sound.then_some(self.kept)
    }
}

fn order(a: &(f64, usize), b: &(f64, usize)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn the_smallest_of_a_stream_are_those_of_the_sorted_list() {
        let mut random = Seed(1).stream("numbers");
        for (n, k) in [(1, 1), (7, 7), (300, 1), (300, 5), (300, 299), (300, 300)] {
            // few different numbers, so that there are many ties
            let numbers: Vec<f64> = (0..n).map(|_| random.below(20) as f64).collect();
            let mut sorted: Vec<(f64, usize)> = numbers.iter().copied().zip(0..).collect();
            sorted.sort_by(order);
            let mut nearest = Nearest::new(k);
            numbers.iter().zip(0..).for_each(|(x, i)| nearest.see(*x, i));
            assert_eq!(nearest.found().unwrap(), sorted[..k], "{n} {k}");
        }
        let mut nearest = Nearest::new(1);
        [1.0, f64::NAN, 0.0].iter().zip(0..).for_each(|(x, i)| nearest.see(*x, i));
        assert_eq!(nearest.found(), None);
    }
}
