//! The centre of mass in feature space.

use super::lengths::selves;
use crate::gram::{Gram, Side, apply};

/// The centre of mass φ_S = (1/n) Σ φ(x_i), and the distances of examples from it.
///
/// # Source
/// KMPA §5.1.2, (5.2)–(5.4).
#[derive(Clone, Debug, PartialEq)]
pub struct Centre {
    /// The mean of each row of K.
    pub means: Vec<f64>,
    /// ‖φ_S‖², the mean of K.
    pub squared_norm: f64,
    /// ‖φ(x_i) − φ_S‖ of every example.
    pub distances: Vec<f64>,
    /// (1/n) Σ ‖φ(x_i) − φ_S‖², the mean of the diagonal minus that of K: the variance in all directions together.
    pub spread: f64,
    /// max κ(x, x), the squared radius of a ball around the origin that holds all.
    pub squared_radius: f64,
}

impl Centre {
    /// Measures the examples of a square matrix.
    pub fn of(gram: &dyn Gram) -> Self {
        let n = gram.shape().0;
        let own = selves(gram);
        let mut means = vec![0.0; n];
        apply(gram, &vec![1.0 / n.max(1) as f64; n], 1, &mut means);
        let squared_norm = means.iter().sum::<f64>() / n.max(1) as f64;
        let from = |(own, mean): (&f64, &f64)| (own + squared_norm - 2.0 * mean).max(0.0).sqrt();
        let distances = own.iter().zip(&means).map(from).collect();
        let spread = own.iter().sum::<f64>() / n.max(1) as f64 - squared_norm;
        let squared_radius = own.iter().copied().fold(0.0, f64::max);
        Self { means, squared_norm, distances, spread, squared_radius }
    }

    /// ‖φ(x) − φ_S‖ of new examples: `cross` has them as rows and the examples of this centre as columns. `None` if the matrix
    /// does not know κ(x, x).
    pub fn distances_of(&self, cross: &dyn Gram) -> Option<Vec<f64>> {
        let (m, n) = cross.shape();
        let own = cross.self_similarities(Side::Rows)?;
        let mut means = vec![0.0; m];
        apply(cross, &vec![1.0 / n.max(1) as f64; n], 1, &mut means);
        Some(own.iter().zip(&means).map(|(o, k)| (o + self.squared_norm - 2.0 * k).max(0.0).sqrt()).collect())
    }

    /// The places of the examples, the farthest from the centre first.
    pub fn farthest(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.distances.len()).collect();
        crate::order::falling(&mut places, &self.distances);
        places
    }
}

/// An upper bound on the distance of the centre of n examples from the mean of their distribution, with probability 1 − δ, if ‖φ(x)‖ ≤ R:
/// (R/√n)(1 + √(2 ln(1/δ))). The mean of the distance is at most √E‖φ_S − Eφ‖² ≤ R/√n, and one example moves the centre by at most
/// 2R/n, so that McDiarmid's inequality gives the rest.
///
/// # Source
/// KMPA (5.5), which bounds the mean by way of random signs, twice as large, and prints √(2R²/n)(√2 + √ln(1/δ)).
pub fn sampling_radius(squared_radius: f64, n: usize, delta: f64) -> f64 {
    (squared_radius / n.max(1) as f64).sqrt() * (1.0 + (2.0 * (1.0 / delta).ln()).sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{linear, points};
    use super::*;
    use crate::gram::views::{Adjusted, Centring};
    use crate::gram::{Dense, diagonal};
    use std::sync::Arc;

    #[test]
    fn distances_to_the_centre_are_those_of_the_vectors() {
        let (n, d) = (20, 4);
        let x = points(n, d, 2);
        let gram = linear(&x, d);
        let mean: Vec<f64> = (0..d).map(|k| (0..n).map(|i| x[d * i + k]).sum::<f64>() / n as f64).collect();
        let centre = Centre::of(&gram);
        assert!((centre.squared_norm - mean.iter().map(|m| m * m).sum::<f64>()).abs() < 1e-12);
        let from = |i: usize| (0..d).map(|k| (x[d * i + k] - mean[k]).powi(2)).sum::<f64>();
        for i in 0..n {
            assert!((centre.distances[i] - from(i).sqrt()).abs() < 1e-10);
        }
        assert!((centre.spread - (0..n).map(from).sum::<f64>() / n as f64).abs() < 1e-12);
        let order = centre.farthest();
        assert!(order.windows(2).all(|p| centre.distances[p[0]] >= centre.distances[p[1]]));
    }

    #[test]
    fn the_spread_is_the_trace_of_the_centred_matrix() {
        let gram: Arc<dyn Gram> = Arc::new(linear(&points(15, 3, 3), 3));
        let centred = Adjusted::centred(Arc::clone(&gram), &Centring::learn(gram.as_ref()));
        let trace = diagonal(&centred).iter().sum::<f64>() / 15.0;
        assert!((Centre::of(gram.as_ref()).spread - trace).abs() < 1e-12);
    }

    #[test]
    fn new_examples_that_are_training_examples_have_their_distances() {
        let x = points(12, 2, 4);
        let gram = linear(&x, 2);
        let centre = Centre::of(&gram);
        // a square matrix knows κ(x, x) of its rows
        assert_eq!(centre.distances_of(&gram).unwrap(), centre.distances);
        let cross = Dense::new(vec![0.5; 24], 2, 12).unwrap();
        assert!(centre.distances_of(&cross).is_none());
    }

    #[test]
    fn the_centre_of_samples_is_as_near_as_the_bound_says() {
        // 200 samples of 50 from a large set with ‖φ‖ ≤ R: at most a share δ may be farther
        let (n, d, many) = (50, 3, 4000);
        let mut x = points(many, d, 5);
        for row in x.chunks_exact_mut(d) {
            let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            row.iter_mut().for_each(|v| *v /= length.max(1.0));
        }
        let mean = |from: usize, count: usize| -> Vec<f64> {
            (0..d).map(|k| (from..from + count).map(|i| x[d * (i % many) + k]).sum::<f64>() / count as f64).collect()
        };
        let all = mean(0, many);
        let bound = sampling_radius(1.0, n, 0.05);
        assert!((bound - (1.0 + (2.0 * 20.0_f64.ln()).sqrt()) / 50.0_f64.sqrt()).abs() < 1e-12);
        let printed = (2.0_f64 / 50.0).sqrt() * (2.0_f64.sqrt() + 20.0_f64.ln().sqrt());
        assert!(bound < printed, "{bound} against {printed} as printed");
        let far = (0..80)
            .filter(|s| {
                let m = mean(s * n, n);
                m.iter().zip(&all).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt() > bound
            })
            .count();
        assert!(far as f64 <= 0.05 * 80.0, "{far} of 80 beyond {bound}");
    }
}
