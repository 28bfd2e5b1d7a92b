//! The examples' side of a programme: what their errors cost, and what β may be.

use super::SparseProgramme;
use crate::linalg::SolveError;
use crate::solvers::{Conjugate, Loss};

/// The examples that count, checked, with weights.
pub(super) struct Terms<'a> {
    /// The examples that have weight, in order.
    pub(super) rows: Vec<usize>,
    /// y of those.
    pub(super) y: Vec<f64>,
    /// w of those, all positive.
    pub(super) w: Vec<f64>,
    pub(super) loss: Loss,
    pub(super) lambda: f64,
    pub(super) bias: bool,
    /// All examples, with those of no weight.
    pub(super) all: usize,
    pub(super) start: Option<&'a [f64]>,
}

fn refuse<T>(sentence: String) -> Result<T, SolveError> {
    Err(SolveError::Programme(sentence))
}

impl<'a> Terms<'a> {
    /// Checks a programme.
    pub(super) fn new(programme: &SparseProgramme<'a>) -> Result<Self, SolveError> {
        let SparseProgramme { columns, y, weights, loss, lambda, bias, start } = *programme;
        let (n, m) = columns.shape();
        if n != y.len() || n == 0 || m == 0 {
            return refuse(format!(
                "the matrix has {n} rows and {m} columns for {} targets; give one row for each",
                y.len()
            ));
        }
        if !(lambda > 0.0 && lambda.is_finite()) {
            return refuse(format!("lambda is {lambda}; the weight of the sparse penalty must be positive and finite"));
        }
        if let Some((i, v)) = y.iter().enumerate().find(|(_, v)| !v.is_finite() || (loss.is_margin() && v.abs() != 1.0))
        {
            let want = if loss.is_margin() { "a loss of margins wants 1 or -1" } else { "it must be finite" };
            return refuse(format!("the target of example {} is {v}; {want}", i + 1));
        }
        let reach = match loss {
            Loss::EpsilonInsensitive { epsilon } if !(epsilon >= 0.0 && epsilon.is_finite()) => {
                Some(("epsilon", epsilon))
            }
            Loss::Huber { width } if !(width > 0.0 && width.is_finite()) => Some(("width", width)),
            _ => None,
        };
        if let Some((name, value)) = reach {
            return refuse(format!("{name} of the loss is {value}; give a positive number"));
        }
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        if let Some(weights) = weights {
            if weights.len() != n {
                return refuse(format!("there are {} weights for {n} examples; give one for each", weights.len()));
            }
            if let Some((i, w)) = weights.iter().enumerate().find(|(_, w)| !(**w >= 0.0 && w.is_finite())) {
                return refuse(format!("the weight of example {} is {w}; weights are finite and not negative", i + 1));
            }
        }
        if let Some(start) = start
            && (start.len() != m || start.iter().any(|a| !a.is_finite()))
        {
            return refuse(format!("the start must have {m} finite numbers, one for each column"));
        }
        let rows: Vec<usize> = (0..n).filter(|&i| weight(i) > 0.0).collect();
        if rows.is_empty() {
            return refuse("every example has weight zero; give weight to some".to_owned());
        }
        let (y, w) = (rows.iter().map(|&i| y[i]).collect(), rows.iter().map(|&i| weight(i)).collect());
        Ok(Self { rows, y, w, loss, lambda, bias, all: n, start })
    }

    /// Number of examples that have weight.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// w ℓ*(β/w) of an example: bounds, square and bend; the logistic loss has bounds alone.
    pub(super) fn conjugate(&self, i: usize) -> Conjugate {
        let (y, w) = (self.y[i], self.w[i]);
        let plain =
            self.loss.conjugate(y).unwrap_or(Conjugate { lower: y.min(0.0), upper: y.max(0.0), ridge: 0.0, bend: 0.0 });
        Conjugate { lower: plain.lower * w, upper: plain.upper * w, ridge: plain.ridge / w, bend: plain.bend }
    }

    /// Σ w ℓ(y, f).
    pub(super) fn losses(&self, f: &[f64]) -> f64 {
        (0..self.len()).map(|i| self.w[i] * self.loss.value(self.y[i], f[i])).sum()
    }

    /// yᵀβ − Σ w ℓ*(β/w), for β within its bounds.
    pub(super) fn dual(&self, beta: &[f64]) -> f64 {
        (0..self.len())
            .map(|i| {
                let c = self.conjugate(i);
                // a bound that was met to rounding is met
                let b = beta[i].clamp(c.lower, c.upper);
                let part = (b / self.w[i]).clamp(c.lower / self.w[i], c.upper / self.w[i]);
                self.y[i] * b - self.w[i] * self.loss.conjugate_value(self.y[i], part)
            })
            .sum()
    }

    /// The slopes w ∂ℓ/∂u of the error u = y − f: the least and the largest where the loss bends.
    pub(super) fn slopes(&self, i: usize, f: f64) -> (f64, f64) {
        let (y, w) = (self.y[i], self.w[i]);
        let u = y - f;
        let sides = |at: f64, low: f64, high: f64| match at {
            at if at > 0.0 => (high, high),
            at if at < 0.0 => (low, low),
            _ => (low, high),
        };
        let (low, high) = match self.loss {
            Loss::Squared => (u, u),
            Loss::Huber { width } => ((u / width).clamp(-1.0, 1.0), (u / width).clamp(-1.0, 1.0)),
            Loss::SquaredHinge => {
                let slope = 2.0 * (1.0 - y * f).max(0.0) * y;
                (slope, slope)
            }
            Loss::Logistic => {
                let small = (-(y * f).abs()).exp();
                let wrong = if y * f > 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) };
                (wrong * y, wrong * y)
            }
            Loss::Absolute | Loss::EpsilonInsensitive { epsilon: 0.0 } => sides(u, -1.0, 1.0),
            Loss::EpsilonInsensitive { epsilon } if u > 0.0 => sides(u - epsilon, 0.0, 1.0),
            Loss::EpsilonInsensitive { epsilon } => sides(u + epsilon, -1.0, 0.0),
            Loss::Hinge if y > 0.0 => sides(u, 0.0, 1.0),
            Loss::Hinge => sides(u, -1.0, 0.0),
        };
        (w * low, w * high)
    }

    /// w ∂²ℓ/∂f², between the bends.
    pub(super) fn curvature(&self, i: usize, f: f64) -> f64 {
        let (y, w) = (self.y[i], self.w[i]);
        w * match self.loss {
            Loss::Squared => 1.0,
            Loss::Huber { width } if (y - f).abs() <= width => 1.0 / width,
            Loss::SquaredHinge if y * f < 1.0 => 2.0,
            Loss::Logistic => {
                let small = (-(y * f).abs()).exp();
                small / ((1.0 + small) * (1.0 + small))
            }
            _ => 0.0,
        }
    }

    /// The largest ∂²ℓ/∂f²; `None` where the loss has a bend.
    pub(super) fn steepest(&self) -> Option<f64> {
        match self.loss {
            Loss::Squared => Some(1.0),
            Loss::Huber { width } => Some(1.0 / width),
            Loss::SquaredHinge => Some(2.0),
            Loss::Logistic => Some(0.25),
            Loss::Hinge | Loss::Absolute | Loss::EpsilonInsensitive { .. } => None,
        }
    }

    /// β of the examples that count, with zeros for the others.
    pub(super) fn spread(&self, beta: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.all];
        self.rows.iter().zip(beta).for_each(|(&i, b)| out[i] = *b);
        out
    }
}
