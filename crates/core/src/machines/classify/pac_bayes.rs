//! The classifier with the least PAC-Bayes bound.

use crate::distributions::upper_normal;
use crate::gram::{Gram, Side, apply};
use crate::linalg::dot;
use crate::machines::evidence::{Evidence, ProblemNote};
use crate::machines::multiclass::{BinarySolution, Keep, OneVsRest, gather, in_turn};
use crate::machines::{FitError, Fitted, Learns, Machine, MachineEntry, Task, Theory, Traits};
use crate::params::{Params, Rule, Visit};
use crate::solvers::conjugate_gradient::not_finite;
use crate::sources::{LANGFORD_SHAWE_TAYLOR, Source};
use crate::watch::{Monitor, Phase, Progress, Status, Stop};
use std::f64::consts::PI;

const NAME: &str = "pac_bayes";

/// min over v and λ: (1/m) Σ Φ̄(y_i ⟨v, φ(x_i)⟩/‖φ(x_i)‖)/(1 − λ/2) + (½‖v‖² + ln(2√m/δ))/(mλ(1 − λ/2))
///
/// The sum is the training error of a classifier drawn from N(v, I), ½‖v‖² its divergence from the prior N(0, I): what is
/// minimised is a bound of that classifier's risk, so the fit is its own certificate (`mercer certify`: `pac_bayes_kl`). One
/// class against the rest where there are more than two. There is no bias; add a constant to the kernel for one.
///
/// # Source
/// Langford & Shawe-Taylor (2003) for the bound; the form that is convex in the divergence is that of N. Thiemann, C. Igel, O.
/// Wintenberger & Y. Seldin (2017): λ in closed form and v by conjugate gradients in feature space, in turn.
///
/// # Use when
/// A guarantee from the training examples alone is wanted and classes overlap, where sparse machines have no good one.
///
/// # Cost
/// n² kernel values for each of some hundred steps; all examples carry weight.
#[derive(Clone, Debug, PartialEq)]
pub struct PacBayes {
    /// δ of the bound that is minimised.
    pub delta: f64,
    /// The relative decrease of the bound at which steps end.
    pub tolerance: f64,
    /// The most steps.
    pub max_iterations: usize,
}

impl Default for PacBayes {
    fn default() -> Self {
        Self { delta: 0.05, tolerance: 1e-5, max_iterations: 300 }
    }
}

impl Params for PacBayes {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("delta", &mut self.delta, Rule::Inside(0.0, 1.0), "probability δ with which the bound may fail");
        v.real("tolerance", &mut self.tolerance, Rule::Above(0.0), "relative decrease of the bound at which steps end");
        v.count("max_iterations", &mut self.max_iterations, Rule::AtLeast(1.0), "most steps");
    }
}

/// v = Σ c_i φ(x_i): its coefficients, f = Kc and ‖v‖² = cᵀf.
struct Place {
    c: Vec<f64>,
    f: Vec<f64>,
    squared: f64,
}

impl PacBayes {
    fn solve(&self, gram: &dyn Gram, y: &[f64], lengths: &[f64], watch: &dyn Monitor) -> Result<BinarySolution, Stop> {
        let n = y.len();
        let m = n as f64;
        let constant = (2.0 * m.sqrt()).ln() - self.delta.ln();
        // y_i/‖φ(x_i)‖; an example at the origin is a coin whatever v is
        let scale: Vec<f64> = y.iter().zip(lengths).map(|(y, k)| if *k > 0.0 { y / k.sqrt() } else { 0.0 }).collect();
        let error = |f: &[f64]| f.iter().zip(&scale).map(|(f, s)| upper_normal(s * f)).sum::<f64>() / m;
        let divergence = |squared: f64| 0.5 * squared + constant;
        let value = |rate: f64, squared: f64, lambda: f64| {
            let shrink = 1.0 - lambda / 2.0;
            rate / shrink + divergence(squared) / (m * lambda * shrink)
        };
        // the λ of a place, in closed form
        let best_lambda = |rate: f64, squared: f64| 2.0 / ((2.0 * m * rate / divergence(squared) + 1.0).sqrt() + 1.0);
        let product = |c: &[f64]| {
            let mut f = vec![0.0; n];
            apply(gram, c, 1, &mut f);
            f
        };
        // the centre of all y_i φ(x_i), as long as suits it best
        let mut at = Place { c: scale.iter().map(|s| s / m).collect(), f: Vec::new(), squared: 0.0 };
        at.f = product(&at.c);
        at.squared = dot(&at.c, &at.f).max(0.0);
        let length = at.squared.sqrt().max(f64::MIN_POSITIVE);
        let start = (-8..=16).map(|i| 2.0_f64.powf(f64::from(i) / 2.0) / length).min_by(|a, b| {
            let of = |t: f64| {
                let rate = error(&at.f.iter().map(|f| t * f).collect::<Vec<_>>());
                value(rate, t * t * at.squared, best_lambda(rate, t * t * at.squared))
            };
            of(*a).total_cmp(&of(*b))
        });
        let t = start.unwrap_or(1.0);
        at.c.iter_mut().chain(&mut at.f).for_each(|x| *x *= t);
        at.squared *= t * t;
        let (mut direction, mut along): (Vec<f64>, Vec<f64>) = (vec![0.0; n], vec![0.0; n]);
        let mut before: Option<(Vec<f64>, f64)> = None;
        let mut bound = f64::INFINITY;
        let mut status = Status::IterationLimit;
        let mut steps = 0;
        while steps < self.max_iterations {
            watch.alive(Progress::new(Phase::new(NAME), steps).of(self.max_iterations))?;
            let rate = error(&at.f);
            let lambda = best_lambda(rate, at.squared);
            let now = value(rate, at.squared, lambda);
            if bound - now <= self.tolerance * now && steps % 8 == 7 {
                status = Status::Converged;
                break;
            }
            if steps % 8 == 0 {
                bound = now;
            }
            // the gradient as an element of feature space, Σ g_i φ(x_i), up to the factor 1 − λ/2
            let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
            let g: Vec<f64> =
                (0..n).map(|i| at.c[i] / (m * lambda) - density(scale[i] * at.f[i]) * scale[i] / m).collect();
            let kg = product(&g);
            let squared = dot(&g, &kg).max(0.0);
            // Polak and Ribière's mixture with the direction before
            let mixture = before.as_ref().map_or(0.0, |(old, old_squared)| {
                if *old_squared > 0.0 { ((squared - dot(old, &kg)) / old_squared).max(0.0) } else { 0.0 }
            });
            for i in 0..n {
                direction[i] = mixture * direction[i] - g[i];
                along[i] = mixture * along[i] - kg[i];
            }
            if dot(&direction, &kg) >= 0.0 {
                direction = g.iter().map(|g| -g).collect();
                along = kg.iter().map(|k| -k).collect();
            }
            before = Some((g, squared));
            let (cross, own) = (dot(&at.c, &along), dot(&direction, &along).max(0.0));
            let step = line_search(
                |t| {
                    let f: Vec<f64> = at.f.iter().zip(&along).map(|(f, a)| f + t * a).collect();
                    value(error(&f), at.squared + 2.0 * t * cross + t * t * own, lambda)
                },
                now,
                m * lambda,
            );
            if step == 0.0 {
                status = Status::Converged;
                break;
            }
            at.c.iter_mut().zip(&direction).for_each(|(c, d)| *c += step * d);
            at.f.iter_mut().zip(&along).for_each(|(f, a)| *f += step * a);
            at.squared = (at.squared + 2.0 * step * cross + step * step * own).max(0.0);
            steps += 1;
        }
        let rate = error(&at.f);
        let bound = value(rate, at.squared, best_lambda(rate, at.squared));
        Ok(BinarySolution {
            coefficients: at.c,
            offset: 0.0,
            scores: Some(at.f),
            evidence: Evidence { objective: Some(bound), ..Evidence::new(status, steps) },
            notes: vec![ProblemNote::largest(("gibbs_bound_before_prices".to_owned(), bound))],
        })
    }
}

/// A step that lowers the value, near the least along the line: doubled while it helps, halved until it does; 0 where none does.
fn line_search(value: impl Fn(f64) -> f64, now: f64, first: f64) -> f64 {
    let (mut step, mut best) = (first, value(first));
    if best < now {
        for _ in 0..30 {
            let next = value(2.0 * step);
            if next >= best {
                break;
            }
            (step, best) = (2.0 * step, next);
        }
        return step;
    }
    for _ in 0..50 {
        step *= 0.5;
        best = value(step);
        if best < now {
            // one more halving may do better still
            let next = value(0.5 * step);
            return if next < best { 0.5 * step } else { step };
        }
    }
    0.0
}

impl Machine for PacBayes {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        let theory = Theory {
            loss: Err("it minimises a PAC-Bayes bound, which is not a convex loss and λ‖f‖²; see pac_bayes_kl"),
            homogeneous: true,
            ..Theory::default()
        };
        Traits { theory, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let rest = OneVsRest::new(&classes);
        let gram = task.gram.as_ref();
        let lengths = gram.self_similarities(Side::Rows).unwrap_or_else(|| crate::gram::diagonal(gram));
        if lengths.iter().any(|k| !k.is_finite()) {
            return Err(FitError::Solve { machine: NAME, error: not_finite(gram) });
        }
        let solved = in_turn(&rest, |problem| {
            let found = self.solve(gram, &problem.signs, &lengths, watch);
            found.map_err(|reason| FitError::stopped(NAME, reason))
        })?;
        if solved.iter().flat_map(|s| &s.scores).flatten().any(|f| !f.is_finite()) {
            return Err(FitError::Solve { machine: NAME, error: not_finite(gram) });
        }
        gather(&rest, &solved, Keep::All).scorable(NAME, &task.gram)
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &[],
    summary: "the classifier with the least PAC-Bayes bound: the fit is its own certificate",
    formula: "min (1/m) Σ Φ̄(yᵢ f(xᵢ)/‖φ(xᵢ)‖)/(1 − λ/2) + (½‖v‖² + ln(2√m/δ))/(mλ(1 − λ/2))",
    learns: Learns::Classes,
    source: Source::new(&LANGFORD_SHAWE_TAYLOR, "Thm. 3.1"),
    use_when: "a guarantee from training examples alone is wanted and classes overlap",
    cost: "n² kernel values for each of some hundred steps; all examples carry weight.",
    make: || Box::new(PacBayes::default()),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::Coefficients;
    use crate::prelude::{Dataset, Fit, Rows, Seed, Svc, Target, rbf};

    fn overlapping(n: usize) -> (Dataset, Vec<f64>) {
        let mut random = Seed(4).stream("pac-bayes");
        let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let x: Vec<f64> = y.iter().flat_map(|y| [y + random.normal(), random.normal()]).collect();
        let names: Vec<&str> = y.iter().map(|y| if *y > 0.0 { "a" } else { "b" }).collect();
        (Dataset::new(Rows::new(x, n, 2).unwrap()).with_target(Target::from_text("y", &names)).unwrap(), y)
    }

    /// The bound of a vector, from the definition.
    fn bound(gram: &[f64], y: &[f64], c: &[f64], delta: f64) -> f64 {
        let n = y.len();
        let m = n as f64;
        let f: Vec<f64> = (0..n).map(|i| (0..n).map(|j| gram[i * n + j] * c[j]).sum()).collect();
        let squared: f64 = f.iter().zip(c).map(|(f, c)| f * c).sum();
        let rate = (0..n).map(|i| upper_normal(y[i] * f[i] / gram[i * n + i].sqrt())).sum::<f64>() / m;
        let kl = 0.5 * squared + (2.0 * m.sqrt()).ln() - delta.ln();
        let at = |l: f64| rate / (1.0 - l / 2.0) + kl / (m * l * (1.0 - l / 2.0));
        (1..2000).map(|i| at(f64::from(i) / 1000.0)).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn no_small_change_lowers_the_bound_and_no_support_vector_machine_has_a_lower_one() {
        let (data, y) = overlapping(80);
        let kernel = rbf(0.5);
        let model =
            PacBayes { tolerance: 1e-9, max_iterations: 2000, ..PacBayes::default() }.fit(&kernel, &data).unwrap();
        let mut gram = vec![0.0; 80 * 80];
        crate::gram::fill(kernel.gram(&data).unwrap().as_ref(), &mut gram);
        let Coefficients::Dual { alpha, .. } = &model.fitted.expansion.coefficients else { panic!() };
        let own = bound(&gram, &y, alpha, 0.05);
        assert!((own - model.fitted.report.objective.unwrap()).abs() < 1e-5, "{own}");
        let mut random = Seed(1).stream("changes");
        for _ in 0..50 {
            let other: Vec<f64> = alpha.iter().map(|a| a + 0.02 * random.normal()).collect();
            assert!(bound(&gram, &y, &other, 0.05) >= own - 1e-6);
        }
        for c in [0.01, 0.1, 1.0, 10.0] {
            let svc = Svc { c, bias: false, ..Svc::default() }.fit(&kernel, &data).unwrap();
            let Coefficients::Pairwise { points, alpha, .. } = &svc.fitted.expansion.coefficients else { panic!() };
            let mut whole = vec![0.0; 80];
            points.iter().zip(alpha).for_each(|(&p, a)| whole[svc.places[p]] = *a);
            for stretch in [0.5, 1.0, 2.0, 4.0] {
                let stretched: Vec<f64> = whole.iter().map(|w| stretch * w).collect();
                assert!(bound(&gram, &y, &stretched, 0.05) >= own - 1e-6, "{c} {stretch}");
            }
        }
        assert!(own < 0.9, "{own}");
    }
}
