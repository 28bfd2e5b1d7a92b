//! Thresholds: the place where two classes part on a line of projections.
//!
//! A direction gives every example a projection q; f(x) = s q + b decides by its sign, and may turn the direction round
//! (s < 0). Least squares puts b where it serves the squares and not the errors, so the rules are a choice of their own.
//!
//! # Source
//! Mika (2002): (3.13), (3.59) for `solver` (for bounded multipliers the mean over the free ones, §2.2); §5.3.2 for
//! `margin`; §5.3.1 for `errors`; §3.2.2 for `gaussian` and `shared_gaussian`, whose variances are divided by the size of
//! the class, which the print leaves out. The shift for unequal costs is a parameter of the machines.

use crate::params::Choice;

/// The rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threshold {
    /// The offset that the solver finds with the coefficients; once called `programme`.
    Programme,
    /// A support vector machine on the line: min ½s² + Σ w max(0, 1 − y (s q + b)), for projections of unit variance.
    #[default]
    Margin,
    /// The fewest errors, and among such cuts the middle of the widest gap.
    Errors,
    /// Each class a Gaussian on the line, with its own variance; Bayes' rule.
    Gaussian,
    /// The same with one variance for both classes.
    SharedGaussian,
}

impl Choice for Threshold {
    fn options(&self) -> &'static [&'static str] {
        &["solver", "margin", "errors", "gaussian", "shared_gaussian"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        let all = [Self::Programme, Self::Margin, Self::Errors, Self::Gaussian, Self::SharedGaussian];
        *self = all[position.min(all.len() - 1)];
    }
    fn former(&self) -> &'static [(&'static str, usize)] {
        &[("programme", 0)]
    }
}

/// f(x) = scale · q(x) + offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    pub(super) scale: f64,
    pub(super) offset: f64,
}

/// Projections with their classes, ±1, and what each counts.
struct Line<'a> {
    q: &'a [f64],
    signs: &'a [f64],
    weights: &'a [f64],
}

/// Statistics of the scores of a class.
#[derive(Clone, Copy)]
struct Cloud {
    weight: f64,
    mean: f64,
    variance: f64,
}

impl Threshold {
    /// Places the threshold on projections with classes ±1 and weights ≥ 0; `bias` is the programme's own offset. Where a
    /// rule has nothing to say (a class without weight, one and the same projection for all, a line on which no slope pays),
    /// that offset stays.
    pub(super) fn place(self, q: &[f64], signs: &[f64], weights: &[f64], bias: f64) -> Placed {
        let (line, own) = (Line { q, signs, weights }, Placed { scale: 1.0, offset: bias });
        let (plus, minus) = (line.cloud(1.0), line.cloud(-1.0));
        let apart = plus.weight > 0.0 && minus.weight > 0.0 && q.iter().any(|&x| x != q[0]);
        let found = match self {
            _ if !apart => None,
            Self::Programme => None,
            Self::Margin => line.margin(plus, minus),
            Self::Errors => line.errors(),
            Self::Gaussian => bayes(plus, minus),
            Self::SharedGaussian => {
                let all = plus.weight + minus.weight;
                let variance = (plus.weight * plus.variance + minus.weight * minus.variance) / all;
                bayes(Cloud { variance, ..plus }, Cloud { variance, ..minus })
            }
        };
        found.filter(|p| p.scale.is_finite() && p.offset.is_finite() && p.scale != 0.0).unwrap_or(own)
    }
}

impl Line<'_> {
    fn of(&self, sign: f64) -> impl Iterator<Item = (f64, f64)> {
        let (q, signs, weights) = (self.q, self.signs, self.weights);
        (0..q.len()).filter(move |&i| signs[i] == sign).map(move |i| (q[i], weights[i]))
    }

    fn cloud(&self, sign: f64) -> Cloud {
        let weight: f64 = self.of(sign).map(|(_, w)| w).sum();
        let mean = self.of(sign).map(|(q, w)| w * q).sum::<f64>() / weight;
        let variance = self.of(sign).map(|(q, w)| w * (q - mean).powi(2)).sum::<f64>() / weight;
        Cloud { weight, mean, variance }
    }

    /// The support vector machine of one coordinate. For a given s the best b is a weighted quantile, so that what is left
    /// is a convex function of s, found by golden section.
    fn margin(&self, plus: Cloud, minus: Cloud) -> Option<Placed> {
        let all = plus.weight + minus.weight;
        let mean = (plus.weight * plus.mean + minus.weight * minus.mean) / all;
        let spread = self.q.iter().zip(self.weights).map(|(q, w)| w * (q - mean).powi(2)).sum::<f64>() / all;
        let deviation = spread.sqrt();
        if deviation == 0.0 {
            return None;
        }
        let unit: Vec<f64> = self.q.iter().map(|q| (q - mean) / deviation).collect();
        let mut breaks: Vec<(f64, f64, f64)> = Vec::with_capacity(unit.len());
        let mut at = |s: f64| -> (f64, f64) {
            // 1 − y (s q + b) changes its sign at b = y − s q: slopes −w of the positives end there, slopes w of the others begin
            breaks.clear();
            breaks.extend((0..unit.len()).map(|i| (self.signs[i] - s * unit[i], self.signs[i], self.weights[i])));
            breaks.sort_by(|a, b| a.0.total_cmp(&b.0));
            let b = flat(&breaks, plus.weight);
            let losses: f64 = breaks.iter().map(|(t, y, w)| w * (y * (t - b)).max(0.0)).sum();
            (0.5 * s * s + losses, b)
        };
        // no slope beyond that of which the penalty alone is the value of no slope at all
        let reach = (2.0 * at(0.0).0).sqrt();
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut low, mut high) = (-reach, reach);
        let (mut c, mut d) = (high - golden * (high - low), low + golden * (high - low));
        let (mut at_c, mut at_d) = (at(c).0, at(d).0);
        while high - low > 1e-10 * reach {
            if at_c <= at_d {
                (high, d, at_d) = (d, c, at_c);
                c = high - golden * (high - low);
                at_c = at(c).0;
            } else {
                (low, c, at_c) = (c, d, at_d);
                d = low + golden * (high - low);
                at_d = at(d).0;
            }
        }
        let s = f64::midpoint(low, high);
        // where no slope pays, the sign of s would be a matter of rounding
        let pays = at(s).0 < at(0.0).0 * (1.0 - 1e-9);
        pays.then(|| Placed { scale: s / deviation, offset: at(s).1 - s * mean / deviation })
    }

    /// All cuts between neighbours, in both directions.
    fn errors(&self) -> Option<Placed> {
        let mut order: Vec<usize> = (0..self.q.len()).filter(|&i| self.weights[i] > 0.0).collect();
        crate::order::rising(&mut order, self.q);
        let total: f64 = order.iter().map(|&i| self.weights[i]).sum();
        // weight of those that a cut below everything gets wrong when what lies above it is positive
        let mut wrong: f64 = self.of(-1.0).map(|(_, w)| w).sum();
        // the two cuts outside of everything have no gap: they are taken where all others are worse
        let (first, last) = (self.q[*order.first()?], self.q[*order.last()?]);
        let mut best = (wrong, 0.0, 1.0, first.next_down());
        if total - wrong < wrong {
            best = (total - wrong, 0.0, 1.0, last.next_up());
        }
        for pair in order.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            wrong += self.signs[a] * self.weights[a];
            let gap = self.q[b] - self.q[a];
            if gap <= 0.0 {
                continue;
            }
            for (scale, errors) in [(1.0, wrong), (-1.0, total - wrong)] {
                // rounding of sums of weights must not decide between cuts
                let (least, widest, ..) = best;
                if errors < least - 1e-12 * total || (errors < least + 1e-12 * total && gap > widest) {
                    best = (errors, gap, scale, f64::midpoint(self.q[a], self.q[b]));
                }
            }
        }
        let (_, _, scale, cut) = best;
        Some(Placed { scale, offset: -scale * cut })
    }
}

/// The b at which the slope turns: the weights of breaks below it reach the weight of the positives. Where they reach it
/// exactly the bottom is flat, and its middle is taken.
fn flat(breaks: &[(f64, f64, f64)], wanted: f64) -> f64 {
    let mut sum = 0.0;
    for (i, &(t, _, w)) in breaks.iter().enumerate() {
        sum += w;
        if sum >= wanted * (1.0 - 1e-12) {
            let exact = sum <= wanted * (1.0 + 1e-12);
            return match breaks.get(i + 1) {
                Some(next) if exact => f64::midpoint(t, next.0),
                _ => t,
            };
        }
    }
    breaks.last().map_or(0.0, |b| b.0)
}

/// The point between the means at which both classes are as likely, and the slope of the log odds there. Where one class is
/// the more likely one all the way between, the other has a part beyond its own mean, or none.
fn bayes(plus: Cloud, minus: Cloud) -> Option<Placed> {
    let apart = plus.mean - minus.mean;
    if apart == 0.0 {
        return None;
    }
    // classes that fall on a point each still have a middle
    let least = 1e-12 * apart * apart;
    let (u, v) = (plus.variance.max(least), minus.variance.max(least));
    // log odds A q² + B q + C, with q measured from the middle of the means for the sake of digits
    let middle = f64::midpoint(plus.mean, minus.mean);
    let half = 0.5 * apart;
    let a = 0.5 / v - 0.5 / u;
    let b = half / u + half / v;
    let c = 0.5 * half * half * (1.0 / v - 1.0 / u) + 0.5 * (v / u).ln() + (plus.weight / minus.weight).ln();
    let roots = if a.abs() * half.abs() <= 1e-12 * b.abs() {
        vec![-c / b]
    } else {
        let inside = b * b - 4.0 * a * c;
        if inside < 0.0 {
            return None;
        }
        // the stable pair of roots
        let t = -0.5 * (b + b.signum() * inside.sqrt());
        vec![t / a, c / t]
    };
    let root = roots.into_iter().filter(|r| r.is_finite()).min_by(|x, y| x.abs().total_cmp(&y.abs()))?;
    let slope = 2.0 * a * root + b;
    Some(Placed { scale: slope, offset: -slope * (middle + root) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn sample(n: usize, apart: f64, share: f64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let mut random = Seed(11).stream("threshold");
        let signs: Vec<f64> = (0..n).map(|i| if (i as f64) < share * n as f64 { 1.0 } else { -1.0 }).collect();
        let q = signs.iter().map(|y| 3.0 + apart * y + (1.0 + 0.3 * y) * random.normal()).collect();
        let weights = (0..n).map(|_| 0.5 + random.uniform()).collect();
        (q, signs, weights)
    }

    fn wrong(placed: Placed, q: &[f64], signs: &[f64], weights: &[f64]) -> f64 {
        let f = |i: usize| placed.scale * q[i] + placed.offset;
        (0..q.len()).filter(|&i| f(i) * signs[i] <= 0.0).map(|i| weights[i]).sum()
    }

    #[test]
    fn the_margin_rule_is_the_minimum_of_its_programme() {
        for (apart, share) in [(1.0, 0.5), (-0.7, 0.3), (2.5, 0.6)] {
            let (q, signs, weights) = sample(80, apart, share);
            let n: f64 = weights.iter().sum();
            let mean = q.iter().zip(&weights).map(|(q, w)| q * w).sum::<f64>() / n;
            let sd = (q.iter().zip(&weights).map(|(q, w)| w * (q - mean).powi(2)).sum::<f64>() / n).sqrt();
            let value = |s: f64, b: f64| {
                let loss = |i: usize| weights[i] * (1.0 - signs[i] * (s * (q[i] - mean) / sd + b)).max(0.0);
                0.5 * s * s + (0..q.len()).map(loss).sum::<f64>()
            };
            let placed = Threshold::Margin.place(&q, &signs, &weights, 0.0);
            let (s, b) = (placed.scale * sd, placed.offset + placed.scale * mean);
            assert!(s * apart > 0.0, "the direction is turned where classes lie the other way round");
            let found = value(s, b);
            for p in -60..=60 {
                for r in -60..=60 {
                    let (ds, db) = (f64::from(p) * 0.01, f64::from(r) * 0.01);
                    assert!(value(s + ds, b + db) >= found - 1e-9 * found, "{apart} {ds} {db}");
                }
            }
        }
    }

    #[test]
    fn the_rule_of_errors_has_the_fewest_of_all_cuts() {
        for (apart, share) in [(1.0, 0.5), (-0.7, 0.3), (0.2, 0.9)] {
            let (q, signs, weights) = sample(60, apart, share);
            let placed = Threshold::Errors.place(&q, &signs, &weights, 0.0);
            let found = wrong(placed, &q, &signs, &weights);
            let (low, high) = q.iter().fold((f64::MAX, f64::MIN), |(l, h), &x| (l.min(x), h.max(x)));
            for step in -2..2003 {
                let cut = low + (high - low) * f64::from(step) / 2000.0;
                for scale in [1.0, -1.0] {
                    let other = wrong(Placed { scale, offset: -scale * cut }, &q, &signs, &weights);
                    assert!(other >= found - 1e-9);
                }
            }
        }
        // the widest gap among equals
        let placed = Threshold::Errors.place(&[0.0, 1.0, 1.5, 4.0], &[-1.0, -1.0, 1.0, 1.0], &[1.0; 4], 0.0);
        assert_eq!((placed.scale, placed.offset), (1.0, -1.25));
        let placed = Threshold::Errors.place(&[0.0, 1.0, 5.0, 5.5], &[1.0, -1.0, 1.0, 1.0], &[1.0; 4], 0.0);
        assert_eq!((placed.scale, placed.offset), (1.0, -3.0));
    }

    #[test]
    fn gaussian_rules_part_where_the_densities_meet() {
        let (q, signs, weights) = sample(200, 1.2, 0.4);
        let line = Line { q: &q, signs: &signs, weights: &weights };
        let (plus, minus) = (line.cloud(1.0), line.cloud(-1.0));
        let shared = (plus.weight * plus.variance + minus.weight * minus.variance) / (plus.weight + minus.weight);
        let density = |c: Cloud, v: f64, x: f64| c.weight * (-(x - c.mean).powi(2) / (2.0 * v)).exp() / v.sqrt();
        for (rule, u, v) in
            [(Threshold::Gaussian, plus.variance, minus.variance), (Threshold::SharedGaussian, shared, shared)]
        {
            let placed = rule.place(&q, &signs, &weights, 0.0);
            let cut = -placed.offset / placed.scale;
            let (p, m) = (density(plus, u, cut), density(minus, v, cut));
            assert!((p / m - 1.0).abs() < 1e-9, "{rule:?} {p} {m}");
            assert!(minus.mean < cut && cut < plus.mean && placed.scale > 0.0);
            let slope = |h: f64| ((density(plus, u, cut + h) / density(minus, v, cut + h)).ln()) / h;
            assert!((f64::midpoint(slope(1e-5), slope(-1e-5)) - placed.scale).abs() < 1e-6);
        }
    }

    #[test]
    fn what_a_rule_cannot_place_stays_with_the_programme() {
        for rule in [Threshold::Margin, Threshold::Errors, Threshold::Gaussian, Threshold::SharedGaussian] {
            let own = Placed { scale: 1.0, offset: -0.3 };
            assert_eq!(rule.place(&[2.0; 4], &[1.0, -1.0, 1.0, -1.0], &[1.0; 4], -0.3), own);
            assert_eq!(rule.place(&[1.0, 2.0], &[1.0, -1.0], &[1.0, 0.0], -0.3), own);
            // two points, each class without variance
            let placed = rule.place(&[1.0, 2.0], &[1.0, -1.0], &[1.0, 1.0], 7.0);
            assert!((-placed.offset / placed.scale - 1.5).abs() < 1e-9 && placed.scale < 0.0, "{rule:?} {placed:?}");
        }
        assert_eq!(Threshold::Programme.place(&[1.0, 2.0], &[1.0, -1.0], &[1.0; 2], 0.4).offset, 0.4);
    }

    #[test]
    fn an_affine_change_of_the_projections_changes_no_decision() {
        let (q, signs, weights) = sample(70, 0.9, 0.5);
        for rule in [Threshold::Margin, Threshold::Errors, Threshold::Gaussian, Threshold::SharedGaussian] {
            let cut = |factor: f64, shift: f64| {
                let moved: Vec<f64> = q.iter().map(|q| factor * q + shift).collect();
                let placed = rule.place(&moved, &signs, &weights, 0.0);
                (-placed.offset / placed.scale - shift) / factor
            };
            assert!((cut(1.0, 0.0) - cut(-3.0, 5.0)).abs() < 1e-6, "{rule:?}");
        }
    }
}
