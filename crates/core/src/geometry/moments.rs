//! Mean and covariance of points of which one comes, goes or is exchanged, and the eigenvalues after a change of rank one.
//!
//! ```text
//! C = (1/(M − 1)) Σ (x − m)(x − m)ᵀ
//! one more       (M − 1)/M · [C + M/(M² − 1) (m − x)(m − x)ᵀ]
//! one fewer      (M − 1)/(M − 2) · [C − M/(M − 1)² (m − xᵢ)(m − xᵢ)ᵀ]
//! one exchanged  C − M/(M − 1)² (m − xᵢ)(m − xᵢ)ᵀ + (1/M)(m₋ᵢ − x)(m₋ᵢ − x)ᵀ
//! B = A + τccᵀ   λᵢ(B) = λᵢ(A) + τmᵢ,  mᵢ ≥ 0,  Σ mᵢ = ‖c‖²,  λ₁(B) ≥ λ₁(A) ≥ λ₂(B) ≥ … for τ > 0
//! ```
//!
//! # Source
//! Mika (2002), Lemma 4.2 and Theorem 4.3, after Wilkinson (1965), chapter 2; Golub (1973) for the secular equation
//! 1 + τ Σ cᵢ²/(λᵢ − λ) = 0, which has one root between two eigenvalues.

/// Mean and covariance of points.
///
/// # Cost
/// d² numbers; an update takes d² multiplications.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// M.
    pub count: usize,
    /// m.
    pub mean: Vec<f64>,
    /// C, d × d row by row.
    pub covariance: Vec<f64>,
}

impl Moments {
    /// Of points with d coordinates each, row by row; `None` for fewer than two, and where d does not divide them.
    pub fn of(points: &[f64], d: usize) -> Option<Self> {
        let count = points.len() / d.max(1);
        if d == 0 || count < 2 || count * d != points.len() {
            return None;
        }
        let mut mean = vec![0.0; d];
        points.chunks_exact(d).for_each(|x| mean.iter_mut().zip(x).for_each(|(m, x)| *m += x / count as f64));
        let mut covariance = vec![0.0; d * d];
        for x in points.chunks_exact(d) {
            let away: Vec<f64> = x.iter().zip(&mean).map(|(x, m)| x - m).collect();
            add(&mut covariance, 1.0 / (count - 1) as f64, &away);
        }
        Some(Self { count, mean, covariance })
    }

    /// With one more point.
    ///
    /// # Panics
    /// If it has another number of coordinates.
    #[must_use]
    pub fn with(&self, x: &[f64]) -> Self {
        let m = self.count as f64;
        let mut covariance = self.covariance.clone();
        add(&mut covariance, m / (m * m - 1.0), &self.away(x));
        covariance.iter_mut().for_each(|c| *c *= (m - 1.0) / m);
        let mean = self.mean.iter().zip(x).map(|(mean, x)| mean + (x - mean) / (m + 1.0)).collect();
        Self { count: self.count + 1, mean, covariance }
    }

    /// Without a point that is one of them; `None` where fewer than two would be left.
    ///
    /// # Panics
    /// If it has another number of coordinates.
    pub fn without(&self, x: &[f64]) -> Option<Self> {
        let m = self.count as f64;
        if self.count < 3 {
            return None;
        }
        let mut covariance = self.covariance.clone();
        add(&mut covariance, -m / ((m - 1.0) * (m - 1.0)), &self.away(x));
        covariance.iter_mut().for_each(|c| *c *= (m - 1.0) / (m - 2.0));
        Some(Self { count: self.count - 1, mean: self.mean_without(x), covariance })
    }

    /// With a new point in the place of one of them.
    ///
    /// # Panics
    /// If one has another number of coordinates.
    #[must_use]
    pub fn exchanged(&self, old: &[f64], new: &[f64]) -> Self {
        let m = self.count as f64;
        let mut covariance = self.covariance.clone();
        add(&mut covariance, -m / ((m - 1.0) * (m - 1.0)), &self.away(old));
        let rest = self.mean_without(old);
        let away: Vec<f64> = new.iter().zip(&rest).map(|(x, m)| x - m).collect();
        add(&mut covariance, 1.0 / m, &away);
        let mean = self.mean.iter().zip(old.iter().zip(new)).map(|(mean, (old, new))| mean + (new - old) / m).collect();
        Self { count: self.count, mean, covariance }
    }

    fn away(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(x.len(), self.mean.len(), "a point has as many coordinates as the mean");
        x.iter().zip(&self.mean).map(|(x, m)| x - m).collect()
    }

    fn mean_without(&self, x: &[f64]) -> Vec<f64> {
        let m = self.count as f64;
        self.mean.iter().zip(x).map(|(mean, x)| mean + (mean - x) / (m - 1.0)).collect()
    }
}

/// C += factor · ccᵀ.
fn add(matrix: &mut [f64], factor: f64, c: &[f64]) {
    for (row, ci) in matrix.chunks_exact_mut(c.len().max(1)).zip(c) {
        row.iter_mut().zip(c).for_each(|(entry, cj)| *entry += factor * ci * cj);
    }
}

/// The eigenvalues of A + τccᵀ, falling, from those of A, falling, and c in the coordinates of A's eigenvectors.
///
/// # Panics
/// If there are not as many coordinates as eigenvalues.
pub fn rank_one_eigenvalues(eigenvalues: &[f64], c: &[f64], tau: f64) -> Vec<f64> {
    assert_eq!(eigenvalues.len(), c.len(), "a coordinate for each eigenvalue");
    if tau < 0.0 {
        // −B = −A + |τ|ccᵀ has the eigenvalues with their signs turned, in the other order
        let turned: Vec<f64> = eigenvalues.iter().rev().map(|l| -l).collect();
        let reversed: Vec<f64> = c.iter().rev().copied().collect();
        return rank_one_eigenvalues(&turned, &reversed, -tau).into_iter().rev().map(|l| -l).collect();
    }
    let scale = eigenvalues.iter().fold(0.0_f64, |most, l| most.max(l.abs()));
    // equal eigenvalues have one direction along c, and stay where they are in all others
    let (mut moved, mut found): (Vec<(f64, f64)>, Vec<f64>) = (Vec::new(), Vec::new());
    for (&lambda, c) in eigenvalues.iter().zip(c) {
        match moved.last_mut() {
            Some((last, squared)) if (*last - lambda).abs() <= f64::EPSILON * scale => {
                *squared += c * c;
                found.push(*last);
            }
            _ => moved.push((lambda, c * c)),
        }
    }
    let total: f64 = moved.iter().map(|(_, squared)| squared).sum();
    let still = |squared: f64| tau * squared <= f64::EPSILON * f64::EPSILON * (scale + tau * total);
    found.extend(moved.iter().filter(|(_, squared)| still(*squared)).map(|(lambda, _)| *lambda));
    moved.retain(|(_, squared)| !still(*squared));
    for place in 0..moved.len() {
        let low = moved[place].0;
        let high = if place == 0 { low + tau * total } else { moved[place - 1].0 };
        // λ = low + step: 1 + τ Σ cᵢ²/(λᵢ − λ) rises from −∞ to +∞, or to at least 0 above the largest
        let secular = |step: f64| {
            1.0 + tau * moved.iter().map(|(lambda, squared)| squared / ((lambda - low) - step)).sum::<f64>()
        };
        let (mut below, mut above) = (0.0, high - low);
        loop {
            let middle = f64::midpoint(below, above);
            if middle <= below || middle >= above {
                break;
            }
            if secular(middle) < 0.0 { below = middle } else { above = middle }
        }
        found.push(low + above);
    }
    found.sort_by(|a, b| b.total_cmp(a));
    found
}

/// The parts mᵢ = (λᵢ(B) − λᵢ(A))/τ of a change of rank one, from the eigenvalues of both, falling; `None` where they do not interlace
/// within a tolerance, so that the change was not of rank one with this sign.
pub fn rank_one_shares(before: &[f64], after: &[f64], tau: f64, tolerance: f64) -> Option<Vec<f64>> {
    if before.len() != after.len() || tau == 0.0 || !tau.is_finite() {
        return None;
    }
    let (low, high) = if tau > 0.0 { (before, after) } else { (after, before) };
    let rises = low.iter().zip(high).all(|(low, high)| *high >= low - tolerance);
    let interlaces = low.iter().zip(high.iter().skip(1)).all(|(low, next)| *low >= next - tolerance);
    (rises && interlaces).then(|| before.iter().zip(after).map(|(a, b)| (b - a) / tau).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::points;
    use super::*;
    use crate::linalg::symmetric_eigen;

    fn near(a: &[f64], b: &[f64], tolerance: f64) {
        assert_eq!(a.len(), b.len());
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance), "{a:?} {b:?}");
    }

    fn same(a: &Moments, b: &Moments) {
        assert_eq!(a.count, b.count);
        near(&a.mean, &b.mean, 1e-12);
        near(&a.covariance, &b.covariance, 1e-12);
    }

    #[test]
    fn updates_are_the_moments_of_the_changed_points() {
        let (d, x, new) = (3, points(9, 3, 7), [0.4, -2.0, 1.5]);
        let all = Moments::of(&x, d).unwrap();
        let more: Vec<f64> = x.iter().chain(&new).copied().collect();
        same(&all.with(&new), &Moments::of(&more, d).unwrap());
        let fewer = [&x[..2 * d], &x[3 * d..]].concat();
        same(&all.without(&x[2 * d..3 * d]).unwrap(), &Moments::of(&fewer, d).unwrap());
        let exchanged = [&x[..2 * d], &new, &x[3 * d..]].concat();
        same(&all.exchanged(&x[2 * d..3 * d], &new), &Moments::of(&exchanged, d).unwrap());
        same(&all.with(&new).without(&new).unwrap(), &all);
        assert!(Moments::of(&x[..3], 3).is_none() && Moments::of(&x[..5], 3).is_none());
        assert!(Moments::of(&x[..6], 3).unwrap().without(&x[..3]).is_none());
    }

    /// The eigenvalues of a symmetric matrix, falling.
    fn eigenvalues(matrix: &[f64], n: usize) -> Vec<f64> {
        let mut found = symmetric_eigen(matrix.to_vec(), n).unwrap().values;
        found.sort_by(|a, b| b.total_cmp(a));
        found
    }

    #[test]
    fn eigenvalues_after_a_change_of_rank_one_are_those_of_the_matrix() {
        // diagonal matrices with repeated eigenvalues, and directions with zeros
        for (lambda, c) in [
            (vec![3.0, 1.0, 0.5, -1.0], vec![0.3, -0.5, 0.2, 0.7]),
            (vec![2.0, 2.0, 2.0, 0.0], vec![0.5, 0.1, -0.4, 1.0]),
            (vec![1.0, 0.5, 0.0, 0.0], vec![0.0, 1.0, 0.0, 0.0]),
        ] {
            for tau in [0.01, 1.0, 50.0, -0.7] {
                let mut b = vec![0.0; 16];
                (0..4).for_each(|i| b[5 * i] = lambda[i]);
                add(&mut b, tau, &c);
                let (got, wanted) = (rank_one_eigenvalues(&lambda, &c, tau), eigenvalues(&b, 4));
                near(&got, &wanted, 1e-11 * (1.0 + tau.abs()));
                let shares = rank_one_shares(&lambda, &got, tau, 1e-12).unwrap();
                let length: f64 = c.iter().map(|c| c * c).sum();
                assert!((shares.iter().sum::<f64>() - length).abs() < 1e-10, "{shares:?}");
                assert!(shares.iter().all(|m| *m >= -1e-12));
            }
        }
        assert_eq!(rank_one_shares(&[2.0, 1.0], &[2.5, 2.4], 1.0, 1e-9), None, "the second passes the first");
        assert_eq!(rank_one_shares(&[2.0, 1.0], &[1.5, 1.0], 1.0, 1e-9), None, "one falls");
        assert!(rank_one_eigenvalues(&[], &[], 1.0).is_empty());
    }

    #[test]
    fn one_more_point_moves_the_eigenvalues_of_the_covariance_between_the_old_ones() {
        let (d, x, new) = (4, points(12, 4, 3), [2.0, -1.0, 0.5, 3.0]);
        let all = Moments::of(&x, d).unwrap();
        let (m, more) = (all.count as f64, all.with(&new));
        // (M − 1)/M C and M/(M² − 1) · (M − 1)/M ‖m − x‖² along one direction
        let before: Vec<f64> = eigenvalues(&all.covariance, d).iter().map(|l| l * (m - 1.0) / m).collect();
        let squared: f64 = all.mean.iter().zip(&new).map(|(m, x)| (m - x).powi(2)).sum();
        let shares = rank_one_shares(&before, &eigenvalues(&more.covariance, d), squared / (m + 1.0), 1e-12).unwrap();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-10, "{shares:?}");
    }
}
