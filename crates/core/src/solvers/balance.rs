//! Multipliers within their bounds that sum to zero, as the dual of a programme with an offset wants them.

/// β − τw cut off at the bounds of each, with the τ that makes it sum to zero; τ = 0 where no sum is wanted, since there is no offset.
pub(super) fn balanced(beta: &[f64], weights: &[f64], bias: bool, bounds: impl Fn(usize) -> (f64, f64)) -> Vec<f64> {
    let n = beta.len();
    let moved = |shift: f64| -> Vec<f64> {
        (0..n)
            .map(|i| {
                let (lower, upper) = bounds(i);
                (beta[i] - shift * weights[i]).clamp(lower, upper)
            })
            .collect()
    };
    let mut out = moved(0.0);
    if !bias {
        return out;
    }
    // a sum of nothing but rounding is left alone
    let sum: f64 = out.iter().sum();
    let size: f64 = out.iter().map(|b| b.abs()).sum();
    if sum.abs() <= 1e-15 * size {
        return out;
    }
    // secant steps, halved where they leave the interval: the sum falls with τ and is linear between cuts
    let reach = weights.iter().zip(beta).map(|(w, b)| b.abs() / w).fold(0.0, f64::max);
    let (mut low, mut high) = (-2.0 * reach, 2.0 * reach);
    let mut shift = sum / weights.iter().sum::<f64>();
    for _ in 0..100 {
        out = moved(shift);
        let sum: f64 = out.iter().sum();
        if sum.abs() <= 1e-15 * size {
            break;
        }
        if sum > 0.0 {
            low = shift;
        } else {
            high = shift;
        }
        let inside = |i: &usize| {
            let (lower, upper) = bounds(*i);
            out[*i] > lower && out[*i] < upper
        };
        let loose: f64 = (0..n).filter(inside).map(|i| weights[i]).sum();
        let next = shift + sum / loose;
        shift = if next > low && next < high { next } else { 0.5 * (low + high) };
    }
    out
}
