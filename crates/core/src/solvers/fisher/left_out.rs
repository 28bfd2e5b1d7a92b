//! The discriminants without each example in turn, from one factorisation.

use super::direct::{Bordered, product};

impl Bordered {
    /// α of the discriminants without each example p, n × (n · outputs) row by row, discriminant by discriminant, and their
    /// offsets; the same functions as learning again without the example.
    ///
    /// With M the bordered matrix and z = (γ, b): taking row and column p out leaves z − M⁻¹e_p z_p / (M⁻¹)_pp. Under the penalty
    /// on coefficients κ(·, x_p) goes first, which takes k_p k_pᵀ from M: with u = M⁻¹(k_p, 0) and s = k_pᵀu the solution becomes
    /// z + u (k_pᵀγ)/(1 − s), and the inverse M⁻¹ + uuᵀ/(1 − s).
    ///
    /// # Source
    /// As [`Bordered::left_out`]: changes of rank one.
    ///
    /// # Cost
    /// n³ multiplications, and n³ more for each output under the penalty on coefficients; n² numbers for each output.
    pub fn left_out_models(&self) -> (Vec<f64>, Vec<f64>) {
        let (n, k) = (self.ones.len(), self.found.offsets.len());
        let total: f64 = self.ones.iter().sum();
        let mut inverse = vec![0.0; n * n];
        (0..n).for_each(|i| inverse[i * n + i] = 1.0);
        self.factor.solve(&mut inverse, n);
        // M⁻¹ is A⁻¹ − uuᵀ/1ᵀu above, and u/1ᵀu in the row of the offset, with u = A⁻¹1
        let bordered = |j: usize, p: usize| inverse[j * n + p] - self.ones[j] * self.ones[p] / total;
        let solved = self.kernel.as_ref().map(|kernel| {
            let mut solved = kernel.clone();
            self.factor.solve(&mut solved, n);
            (kernel, solved, product(kernel, n, &self.ones, 1))
        });
        let (mut gamma, mut offsets) = (vec![0.0; n * n * k], vec![0.0; n * k]);
        for p in 0..n {
            // the column M⁻¹e_p with its part at the offset, the solution at p, and what the loss of κ(·, x_p) adds to both
            let mut column: Vec<f64> = (0..n).map(|j| bordered(j, p)).collect();
            let mut corner = self.ones[p] / total;
            let mut lost = None;
            if let Some((kernel, solved, touch)) = &solved {
                let u: Vec<f64> = (0..n).map(|j| solved[j * n + p] - self.ones[j] * touch[p] / total).collect();
                let end = touch[p] / total;
                let left = match self.even {
                    // KA⁻¹K = I − (λ/w)A⁻¹: no cancellation where λ is small
                    Some(ridge) => ridge * inverse[p * n + p],
                    None => 1.0 - (0..n).map(|j| kernel[p * n + j] * solved[j * n + p]).sum::<f64>(),
                } + touch[p] * touch[p] / total;
                let own = u[p] / left;
                column.iter_mut().zip(&u).for_each(|(c, u)| *c += u * own);
                corner += end * own;
                lost = Some((u, end, left));
            }
            for c in 0..k {
                let at = |j: usize| self.gamma[j * k + c];
                let part = lost.as_ref().map(|(u, end, left)| {
                    let share = self.found.alpha[p * k + c] / left;
                    (u, end * share, share)
                });
                let moved = |j: usize| at(j) + part.map_or(0.0, |(u, _, share)| u[j] * share);
                let step = moved(p) / column[p];
                for j in (0..n).filter(|&j| j != p) {
                    gamma[j * n * k + p * k + c] = moved(j) - column[j] * step;
                }
                offsets[p * k + c] = self.found.offsets[c] + part.map_or(0.0, |(_, end, _)| end) - corner * step;
            }
        }
        let Some((kernel, ..)) = solved else { return (gamma, offsets) };
        let mut alpha = product(kernel, n, &gamma, n * k);
        // the function of the example itself is not there
        for p in 0..n {
            alpha[p * n * k + p * k..][..k].fill(0.0);
        }
        (alpha, offsets)
    }
}
