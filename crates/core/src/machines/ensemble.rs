//! Committees: stumps that vote, networks of radial basis functions and quadratic forms, on explicit coordinates.
//!
//! ```text
//! stump    ± vote as x_j > threshold or not
//! network  Σ_k w_k exp(−‖x − μ_k‖² / 2σ_k²) + b, or ± vote by its sign
//! quadric  −½ w_c ‖R(x − μ)‖²
//! f_c(x)   the sum of all members that belong to output c, and the offset of the expansion
//! ```
//! Members see the coordinates that occurred in training and no others, as the weights of linear machines do.

use crate::data::Vectors;
use crate::parallel;

/// Rows that one thread scores at a time.
const STRIP: usize = 64;

/// Members, and the coordinates they look at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ensemble {
    /// The number of coordinates of an example.
    pub width: usize,
    /// The coordinates that members see, rising; their own coordinates are places in this list.
    pub used: Vec<usize>,
    /// Stumps.
    pub stumps: Vec<Stump>,
    /// Networks.
    pub nets: Vec<WeightedNet>,
    /// Quadratic forms.
    pub quadrics: Vec<Quadric>,
}

/// A threshold on one coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stump {
    /// The output it belongs to.
    pub output: usize,
    /// The coordinate, among those that are used.
    pub coordinate: usize,
    /// The threshold of the coordinate.
    pub threshold: f64,
    /// The number that is added above the threshold, and subtracted at or below it.
    pub vote: f64,
}

/// A network's place in a ensemble.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedNet {
    /// The first output it belongs to.
    pub output: usize,
    /// The number that is added where the network is above zero, and subtracted elsewhere; `None`: the value of the network is added.
    pub vote: Option<f64>,
    /// The network.
    pub net: Net,
}

/// A quadratic form that every output may take a part of: −½ w_c ‖R(x − μ)‖².
#[derive(Clone, Debug, PartialEq)]
pub struct Quadric {
    /// w for each output.
    pub weights: Vec<f64>,
    /// μ.
    pub centre: Vec<f64>,
    /// R, a lower triangle: its rows end to end, each up to the diagonal.
    pub root: Vec<f64>,
}

impl Quadric {
    /// −½ ‖R(x − μ)‖²
    pub(super) fn at(&self, x: &[f64]) -> f64 {
        let (mut sum, mut left) = (0.0, self.root.as_slice());
        for i in 0..self.centre.len() {
            let (row, rest) = left.split_at(i + 1);
            let along: f64 = row.iter().zip(x).zip(&self.centre).map(|((r, x), m)| r * (x - m)).sum();
            sum += along * along;
            left = rest;
        }
        -0.5 * sum
    }
}

/// A network of radial basis functions: f_c(x) = Σ_k w_kc exp(−‖x − μ_k‖² / 2σ_k²) + b_c.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Net {
    /// μ, row by row.
    pub centres: Vec<f64>,
    /// σ, above zero.
    pub widths: Vec<f64>,
    /// w, `widths.len() × offsets.len()` numbers row by row.
    pub weights: Vec<f64>,
    /// b for each output.
    pub offsets: Vec<f64>,
}

impl Net {
    /// exp(−‖x − μ_k‖² / 2σ_k²) for every k.
    pub(super) fn hidden(&self, x: &[f64], out: &mut [f64]) {
        for ((out, centre), width) in out.iter_mut().zip(self.centres.chunks_exact(x.len())).zip(&self.widths) {
            let d2: f64 = x.iter().zip(centre).map(|(a, b)| (a - b) * (a - b)).sum();
            *out = (-0.5 * d2 / (width * width)).exp();
        }
    }

    /// f_c from the hidden values.
    pub(super) fn output(&self, hidden: &[f64], c: usize) -> f64 {
        let weights = self.weights.iter().skip(c).step_by(self.offsets.len());
        self.offsets[c] + hidden.iter().zip(weights).map(|(g, w)| g * w).sum::<f64>()
    }
}

impl Ensemble {
    /// The scores of new examples, added to `scores`; `None` for dense vectors of another width.
    pub(super) fn scores(&self, rows: &Vectors, outputs: usize, scores: &mut [f64]) -> Option<()> {
        if matches!(rows, Vectors::Dense(rows) if rows.width() != self.width) {
            return None;
        }
        let most = self.nets.iter().map(|seat| seat.net.widths.len()).max().unwrap_or(0);
        parallel::strips(scores, STRIP * outputs.max(1), |strip, scores| {
            let (mut x, mut hidden) = (vec![0.0; self.used.len()], vec![0.0; most]);
            for (i, out) in scores.chunks_exact_mut(outputs).enumerate() {
                gather(rows, strip * STRIP + i, &self.used, &mut x);
                for stump in &self.stumps {
                    out[stump.output] += if x[stump.coordinate] > stump.threshold { stump.vote } else { -stump.vote };
                }
                for seat in &self.nets {
                    let hidden = &mut hidden[..seat.net.widths.len()];
                    seat.net.hidden(&x, hidden);
                    for c in 0..seat.net.offsets.len() {
                        let value = seat.net.output(hidden, c);
                        out[seat.output + c] += match seat.vote {
                            None => value,
                            // a value that is no number has no side
                            Some(vote) if value > 0.0 => vote,
                            Some(vote) if value <= 0.0 => -vote,
                            Some(_) => f64::NAN,
                        };
                    }
                }
                for quadric in &self.quadrics {
                    let value = quadric.at(&x);
                    // what an output has no part of cannot spoil it
                    let parts = out.iter_mut().zip(&quadric.weights).filter(|(_, w)| **w != 0.0);
                    parts.for_each(|(o, w)| *o += w * value);
                }
            }
        });
        Some(())
    }

    /// True if members, coordinates and outputs fit together and every number is finite; checked when a file is read.
    pub(crate) fn check(&self, outputs: usize) -> Result<(), String> {
        let d = self.used.len();
        let rising = self.used.windows(2).all(|p| p[0] < p[1]) && self.used.last().is_none_or(|&j| j < self.width);
        let stumps = self
            .stumps
            .iter()
            .all(|s| s.output < outputs && s.coordinate < d && s.threshold.is_finite() && s.vote.is_finite());
        let finite = |numbers: &[f64]| numbers.iter().all(|x| x.is_finite());
        let nets = self.nets.iter().all(|WeightedNet { output, vote, net }| {
            let (count, own) = (net.widths.len(), net.offsets.len());
            own > 0
                && output.checked_add(own).is_some_and(|end| end <= outputs)
                && (vote.is_none() || own == 1)
                && vote.is_none_or(f64::is_finite)
                && count.checked_mul(d) == Some(net.centres.len())
                && count.checked_mul(own) == Some(net.weights.len())
                && net.widths.iter().all(|&s| s > 0.0)
                && [&net.centres, &net.widths, &net.weights, &net.offsets].into_iter().all(|n| finite(n))
        });
        let quadrics = self.quadrics.iter().all(|q| {
            q.weights.len() == outputs
                && q.centre.len() == d
                && d.checked_mul(d + 1).is_some_and(|twice| q.root.len() == twice / 2)
                && [&q.weights, &q.centre, &q.root].into_iter().all(|n| finite(n))
        });
        if rising && d > 0 && stumps && nets && quadrics {
            Ok(())
        } else {
            Err("its ensemble does not fit together".to_owned())
        }
    }
}

/// The chosen coordinates of one vector.
pub(super) fn gather(rows: &Vectors, i: usize, used: &[usize], out: &mut [f64]) {
    match rows {
        Vectors::Dense(rows) => {
            let row = rows.row(i);
            out.iter_mut().zip(used).for_each(|(o, &j)| *o = row[j]);
        }
        Vectors::Sparse(rows) => {
            out.fill(0.0);
            let mut place = 0;
            // both lists rise
            for c in rows.row(i) {
                place += used[place..].partition_point(|&j| j < c.index as usize);
                if used.get(place) == Some(&(c.index as usize)) {
                    out[place] = c.value;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Rows, SparseRows};

    fn ensemble() -> Ensemble {
        let net = Net { centres: vec![0.0, 1.0], widths: vec![2.0], weights: vec![3.0], offsets: vec![-1.0] };
        Ensemble {
            width: 3,
            used: vec![0, 2],
            stumps: vec![Stump { output: 1, coordinate: 1, threshold: 0.5, vote: 0.25 }],
            nets: vec![
                WeightedNet { output: 0, vote: None, net: net.clone() },
                WeightedNet { output: 1, vote: Some(10.0), net },
            ],
            quadrics: Vec::new(),
        }
    }

    #[test]
    fn a_score_is_the_sum_of_its_members() {
        let x = Rows::from_vectors(&[[0.0, 7.0, 1.0], [4.0, 7.0, 0.0]]).unwrap();
        // e^0 = 1, so 3 − 1; and 3 exp(−17/8) − 1 < 0
        let far = 3.0 * (-17.0_f64 / 8.0).exp() - 1.0;
        for rows in [Vectors::from(x.clone()), Vectors::from(SparseRows::from_dense(&x))] {
            let mut scores = vec![0.0; 4];
            ensemble().scores(&rows, 2, &mut scores).unwrap();
            assert_eq!(scores[..2], [2.0, 10.25]);
            assert!((scores[2] - far).abs() < 1e-15 && scores[3] == -10.25, "{scores:?}");
        }
        let narrow = Vectors::from(Rows::from_vectors(&[[0.0]]).unwrap());
        assert!(ensemble().scores(&narrow, 2, &mut [0.0; 2]).is_none());
    }

    #[test]
    fn a_quadric_is_a_form_that_outputs_take_parts_of() {
        // R = (2 0; 1 3), x − μ = (1, −1): R(x − μ) = (2, −2), so −½ · 8
        let quadric = Quadric { weights: vec![1.0, -0.5], centre: vec![0.0, 1.0], root: vec![2.0, 1.0, 3.0] };
        let alone = Ensemble { width: 3, used: vec![0, 2], quadrics: vec![quadric], ..Ensemble::default() };
        alone.check(2).unwrap();
        let mut scores = vec![0.0; 2];
        let x = Vectors::from(Rows::from_vectors(&[[1.0, 7.0, 0.0]]).unwrap());
        alone.scores(&x, 2, &mut scores).unwrap();
        assert_eq!(scores, [-4.0, 2.0]);
        let spoil: [fn(&mut Quadric); 4] =
            [|q| q.weights.truncate(1), |q| q.centre.push(0.0), |q| q.root[1] = f64::NAN, |q| q.root.push(1.0)];
        for spoil in spoil {
            let mut spoilt = alone.clone();
            spoil(&mut spoilt.quadrics[0]);
            assert!(spoilt.check(2).is_err());
        }
    }

    #[test]
    fn what_does_not_fit_together_is_found() {
        ensemble().check(2).unwrap();
        let spoil: [fn(&mut Ensemble); 12] = [
            |c| c.used = vec![2, 0],
            |c| c.used = vec![0, 3],
            |c| c.used = Vec::new(),
            |c| c.stumps[0].output = 2,
            |c| c.stumps[0].coordinate = 2,
            |c| c.stumps[0].threshold = f64::NAN,
            |c| c.nets[0].output = 2,
            |c| c.nets[0].output = usize::MAX,
            |c| c.nets[1].vote = Some(f64::INFINITY),
            |c| c.nets[0].net.widths[0] = 0.0,
            |c| c.nets[0].net.weights.push(1.0),
            |c| c.nets[0].net.centres[0] = f64::NAN,
        ];
        for (i, spoil) in spoil.into_iter().enumerate() {
            let mut spoilt = ensemble();
            spoil(&mut spoilt);
            assert!(spoilt.check(2).is_err(), "{i}");
        }
    }
}
