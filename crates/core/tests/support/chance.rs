//! Deviations that chance alone explains.

#![allow(unreachable_pub)]

/// True if so many of `trials` may happen with probability `p`, but for a millionth on either side.
pub fn usual(count: usize, trials: usize, p: f64) -> (bool, bool) {
    let mut log = trials as f64 * (-p).ln_1p();
    // below, at and above the count
    let mut parts = [0.0_f64; 3];
    for k in 0..=trials {
        parts[usize::from(k >= count) + usize::from(k > count)] += log.exp();
        log += ((trials - k) as f64 / (k + 1) as f64).ln() + p.ln() - (-p).ln_1p();
    }
    (parts[0] + parts[1] > 1e-6, parts[1] + parts[2] > 1e-6)
}
