//! Quantiles of the Beta distribution, for the coverage that a set of held-out examples gives.

/// The x with I_x(a, b) = p, by halving; I is the regularised incomplete beta function.
pub(super) fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if incomplete_beta(middle, a, b) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// I_x(a, b) by Lentz's evaluation of the continued fraction (Abramowitz & Stegun 1964, 26.5.8), on the side where it converges
/// fast.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |v: f64| if v.abs() < TINY { TINY } else { v };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for m in 1..100_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            change = c * d;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// ln Γ(x) for x > 0 by Stirling's series, after moving x up to where it is exact to rounding (Abramowitz & Stegun 1964, 6.1.41).
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 15.0 {
        shift += x.ln();
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0)))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        // scipy.stats.beta.ppf
        let cases =
            [(0.05, 91.0, 10.0, 0.848_204_571_4), (0.5, 1.0, 1.0, 0.5), (0.05, 1.0, 10.0, 1.0 - 0.95_f64.powf(0.1))];
        for (p, a, b, wanted) in cases {
            let got = beta_quantile(p, a, b);
            assert!((got - wanted).abs() < 1e-9, "{p} {a} {b}: {got}");
        }
        // I_x(a, 1) = x^a and I_x(1, b) = 1 − (1 − x)^b, far into the tails
        for a in [0.5, 3.0, 250.0, 1e4] {
            assert!((beta_quantile(0.05, a, 1.0) - 0.05_f64.powf(1.0 / a)).abs() < 1e-11);
            assert!((beta_quantile(0.05, 1.0, a) - -((-0.05_f64).ln_1p() / a).exp_m1()).abs() < 1e-11);
        }
    }

    #[test]
    fn the_function_is_a_binomial_tail() {
        // I_x(k, n − k + 1) = P[Bin(n, x) ≥ k]
        let (n, x) = (12_u32, 0.3_f64);
        for k in 1..=n {
            let choose = |j: u32| (0..j).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1));
            let tail: f64 = (k..=n).map(|j| choose(j) * x.powi(j as i32) * (1.0 - x).powi((n - j) as i32)).sum();
            let got = incomplete_beta(x, f64::from(k), f64::from(n - k + 1));
            assert!((got - tail).abs() < 1e-12, "{k}: {got} {tail}");
        }
    }
}
