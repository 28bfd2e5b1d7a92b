//! PAC-Bayes bounds of any posterior, from its training error and its divergence from the prior.
//!
//! # Source
//! Catoni (2007), Thm. 1.2.6; Thiemann, Igel, Wintenberger & Seldin (2017), Thm. 3; Herbrich (2002), Thm. 5.1 and 5.6; Graepel,
//! Herbrich & Shawe-Taylor (2005) for compression sets: the m − d examples outside of one are a sample of their own for a prior that
//! was learned from it, at the price of ln(m C(m, d)) for the choice.

use super::compression::among;
use super::pac_bayes::{single, single_with_errors, subset};
use super::theorem::{ALWAYS, AMOUNT, DELTA, DIVERGENCE, EXAMPLES, Input, SHARE, TRAINING_ERROR, Theorem};
use crate::distributions::{kl_inverse, ln_choose, ln_maurer};
use crate::params::Rule;
use crate::sources::{CATONI, GRAEPEL, HERBRICH, SEEGER, Source, THIEMANN};

/// R̂/(1 − λ/2) + (KL + ln(2√m) + nats)/(mλ(1 − λ/2)) for all λ in (0, 2) at once: convex in Q, so it can be minimised.
pub fn pac_bayes_lambda(rate: f64, divergence: f64, lambda: f64, m: f64, nats: f64) -> f64 {
    let shrink = 1.0 - lambda / 2.0;
    rate / shrink + (divergence + (2.0 * m.sqrt()).ln() + nats) / (m * lambda * shrink)
}

/// (1 − exp(−C R̂ − (KL + nats)/m))/(1 − e^{−C}) for a C fixed before the data.
pub fn catoni(rate: f64, divergence: f64, c: f64, m: f64, nats: f64) -> f64 {
    -(-c * rate - (divergence + nats) / m).exp_m1() / -(-c).exp_m1()
}

/// ½(tr(K⁻¹S) + aᵀK⁻¹a − n + ln|K| − ln|S|): KL of the Gaussian posterior N(a, S) at n inputs from the prior N(0, K); the
/// parts as they are computed by a Gaussian process.
pub fn gaussian_process_divergence(
    trace: f64,
    quadratic: f64,
    n: f64,
    ln_det_prior: f64,
    ln_det_posterior: f64,
) -> f64 {
    0.5 * (trace + quadratic - n + ln_det_prior - ln_det_posterior)
}

/// max { R : kl(R̂ ‖ R) ≤ (KL + ln ξ(m − d) + ln C(m, d) + ln m + nats)/(m − d) }, R̂ the Gibbs error on the m − d examples outside a
/// set of d from which the prior was learned; 1 for d ≥ m.
pub fn pac_bayes_compression(rate_outside: f64, divergence: f64, m: f64, d: f64, nats: f64) -> f64 {
    if d >= m {
        return 1.0;
    }
    let left = m - d;
    kl_inverse(rate_outside, (divergence + ln_maurer(left) + ln_choose(m, d) + m.ln() + nats) / left)
}

/// The subset H of classifiers with the least [`subset`] bound, of those that hold all with no more than some training error, and its
/// bound: (bound, number of members). Training errors and prior probabilities stand in the same order; what these lack of 1 is that of
/// classifiers which nobody looks at. The bound holds for all subsets at once, so it holds for the least; under a uniform prior no
/// other subset has a lower one, since for a number of members the best errors are best.
pub fn subset_posterior(errors: &[f64], priors: &[f64], m: f64, nats: f64) -> (f64, usize) {
    let mut order: Vec<usize> = (0..errors.len().min(priors.len())).filter(|&i| priors[i] > 0.0).collect();
    order.sort_by(|&a, &b| errors[a].total_cmp(&errors[b]).then(a.cmp(&b)));
    let (mut mass, mut mean, mut best) = (0.0, 0.0, (f64::INFINITY, 0));
    for (count, &i) in order.iter().enumerate() {
        mass += priors[i];
        mean += (errors[i] - mean) * priors[i] / mass;
        // rounding must not make the mass more than 1
        let bound = subset(mean, -mass.min(1.0).ln(), m, nats);
        if bound < best.0 {
            best = (bound, count + 1);
        }
    }
    best
}

const PRIOR: Input = Input::number(
    "prior",
    Rule::AboveUpTo(0.0, 1.0),
    "probability of the classifier under a prior fixed before the data",
);

/// Probabilities of different classifiers add to 1 at most.
fn one_at_most(priors: &[f64]) -> Result<(), String> {
    let sum: f64 = priors.iter().sum();
    // rounding of the numbers as they were written
    if sum <= 1.0 + 1e-6 {
        return Ok(());
    }
    let sum = (1e6 * sum).round() / 1e6;
    Err(format!(
        "priors add to {sum}, and probabilities of different classifiers add to 1 at most; divide them by their sum"
    ))
}

/// The n eigenvalues of K⁻¹S are above 0 and add to its trace, so that their product is at most (trace/n)ⁿ.
fn of_gaussians(trace: f64, n: f64, ln_ratio: f64) -> Result<(), String> {
    let most = n * (trace / n).ln();
    if ln_ratio <= most + 1e-9 * (1.0 + most.abs()) {
        return Ok(());
    }
    Err(format!(
        "no two Gaussians have these: trace = {trace} over {n} inputs allows ln|S| − ln|K| up to n ln(trace/n) = {most:.6}, and ln_det_posterior − ln_det_prior = {ln_ratio} is more; give all parts of the same K and S"
    ))
}

/// Theorems as functions of numbers.
pub(super) const THEOREMS: &[Theorem] = &[
    Theorem {
        name: "pac_bayes_lambda",
        summary: "Any posterior, at a trade-off λ that may be chosen by the data",
        formula: "R̂/(1 − λ/2) + (KL + ln(2√m) + ln(1/δ))/(mλ(1 − λ/2))",
        source: Source::new(&THIEMANN, "Thm. 3"),
        use_when: "a posterior is found by minimising its bound, which is convex in it",
        inputs: &[
            TRAINING_ERROR,
            DIVERGENCE,
            Input::number("lambda", Rule::Inside(0.0, 2.0), "trade-off λ of training error and divergence"),
            EXAMPLES,
            DELTA,
        ],
        example: (
            &[("training_error", "0.05"), ("divergence", "20"), ("lambda", "0.5"), ("examples", "1000")],
            0.139_047_352_249_613_34,
        ),
        possible: ALWAYS,
        value: |g| pac_bayes_lambda(g.number(0), g.number(1), g.number(2), g.number(3), g.nats(4)),
    },
    Theorem {
        name: "catoni",
        summary: "Any posterior, at a C fixed before the data",
        formula: "(1 − exp(−C R̂ − (KL + ln(1/δ))/m))/(1 − e^(−C))",
        source: Source::new(&CATONI, "Thm. 1.2.6"),
        use_when: "a good C is known beforehand: no ln(2√m) is paid",
        inputs: &[
            TRAINING_ERROR,
            DIVERGENCE,
            Input::number("c", Rule::Above(0.0), "trade-off C, chosen before the data"),
            EXAMPLES,
            DELTA,
        ],
        example: (
            &[("training_error", "0.05"), ("divergence", "20"), ("c", "1"), ("examples", "1000")],
            0.111_363_570_920_950_82,
        ),
        possible: ALWAYS,
        value: |g| catoni(g.number(0), g.number(1), g.number(2), g.number(3), g.nats(4)),
    },
    Theorem {
        name: "single_classifier",
        summary: "One of countably many classifiers, without training errors",
        formula: "(ln(1/P(h)) + ln(1/δ))/m",
        source: Source::new(&HERBRICH, "Thm. 5.1"),
        use_when: "a classifier is one of a list with prior probabilities, and makes no training error",
        inputs: &[PRIOR, EXAMPLES, DELTA],
        example: (&[("prior", "1e-6"), ("examples", "200")], 0.084_056_214_157_591_32),
        possible: ALWAYS,
        value: |g| single(g.number(0).ln(), g.number(1), g.nats(2)),
    },
    Theorem {
        name: "single_classifier_with_errors",
        summary: "One of countably many classifiers, with training errors",
        formula: "R̂ + √((ln(1/P(h)) + ln(1/δ))/2m)",
        source: Source::new(&HERBRICH, "Thm. 5.6"),
        use_when: "a classifier is one of a list with prior probabilities",
        inputs: &[TRAINING_ERROR, PRIOR, EXAMPLES, DELTA],
        example: (&[("training_error", "0.05"), ("prior", "1e-6"), ("examples", "1000")], 0.141_682_176_107_240_88),
        possible: ALWAYS,
        value: |g| single_with_errors(g.number(0), g.number(1).ln(), g.number(2), g.nats(3)),
    },
    Theorem {
        name: "subset_posterior",
        summary: "One classifier drawn from the best subset of a list, chosen by this bound",
        formula: "min over H of R̂(H) + √((−ln P(H) + 2 ln m + ln(1/δ))/2m) + 1/m",
        source: Source::new(&HERBRICH, "Thm. 5.6, (5.8)"),
        use_when: "many classifiers of a list are about as good: a draw from them costs less than the best of them",
        inputs: &[
            Input::list("errors", SHARE, "share of training errors of each classifier"),
            Input::list("priors", SHARE, "prior probability of each classifier, fixed before the data"),
            EXAMPLES,
            DELTA,
        ],
        example: (
            &[("errors", "0.05,0.06,0.2,0.5"), ("priors", "0.25,0.25,0.25,0.25"), ("examples", "1000")],
            0.146_387_465_614_299_02,
        ),
        possible: |g| one_at_most(g.list(1)),
        value: |g| subset_posterior(g.list(0), g.list(1), g.number(2), g.nats(3)).0,
    },
    Theorem {
        name: "pac_bayes_compression",
        summary: "Any posterior around a model of few examples, judged on the others",
        formula: "kl⁻¹(R̂, (KL + ln ξ(m − d) + ln C(m, d) + ln m + ln(1/δ))/(m − d)), R̂ outside the set",
        source: Source::corrected(&GRAEPEL, "§4", "in the form of kl and ξ(m), with a union over sets and sizes"),
        use_when: "few examples give a model around which a distribution is a good prior for the others",
        inputs: &[
            Input::number("error_outside", SHARE, "share of errors of the posterior on the examples outside the set"),
            DIVERGENCE,
            EXAMPLES,
            Input::count("size", 0.0, "number d of examples in the set"),
            DELTA,
        ],
        example: (
            &[("error_outside", "0.05"), ("divergence", "5"), ("examples", "1000"), ("size", "10")],
            0.177_150_646_385_224_65,
        ),
        possible: |g| among(g.number(3), g.number(2)),
        value: |g| pac_bayes_compression(g.number(0), g.number(1), g.number(2), g.number(3), g.nats(4)),
    },
    Theorem {
        name: "gaussian_process_divergence",
        summary: "The divergence of a Gaussian process's posterior from its prior, from its parts at n inputs",
        formula: "½(tr(K⁻¹S) + aᵀK⁻¹a − n + ln|K| − ln|S|)",
        source: Source::new(&SEEGER, "§3"),
        use_when: "a Gaussian process classifier is to have a PAC-Bayes bound: this is its divergence",
        inputs: &[
            Input::number("trace", AMOUNT, "tr(K⁻¹S)"),
            Input::number("quadratic", AMOUNT, "aᵀK⁻¹a of the posterior's mean a"),
            Input::count("inputs", 1.0, "number n of inputs"),
            Input::number("ln_det_prior", Rule::Any, "ln|K| of the prior"),
            Input::number("ln_det_posterior", Rule::Any, "ln|S| of the posterior"),
        ],
        example: (
            &[
                ("trace", "1"),
                ("quadratic", "1"),
                ("inputs", "2"),
                ("ln_det_prior", "0"),
                ("ln_det_posterior", "-1.3862943611198906"),
            ],
            std::f64::consts::LN_2,
        ),
        possible: |g| of_gaussians(g.number(0), g.number(2), g.number(4) - g.number(3)),
        // rounding must not make it negative
        value: |g| {
            gaussian_process_divergence(g.number(0), g.number(1), g.number(2), g.number(3), g.number(4)).max(0.0)
        },
    },
];

#[cfg(test)]
mod tests {
    use super::super::pac_bayes::pac_bayes_kl;
    use super::*;

    #[test]
    fn the_divergence_is_that_of_independent_gaussians() {
        // KL(N(a, s) ‖ N(0, k)) = ½(s/k + a²/k − 1 + ln k − ln s), one coordinate at a time
        let parts = [(0.3_f64, 2.0_f64, 0.7_f64), (-1.1, 0.5, 0.4)];
        let one = |(a, k, s): (f64, f64, f64)| 0.5 * (s / k + a * a / k - 1.0 + (k / s).ln());
        let sum = |of: &dyn Fn((f64, f64, f64)) -> f64| parts.into_iter().map(of).sum::<f64>();
        let got = gaussian_process_divergence(
            sum(&|(_, k, s)| s / k),
            sum(&|(a, k, _)| a * a / k),
            2.0,
            sum(&|(_, k, _)| k.ln()),
            sum(&|(_, _, s)| s.ln()),
        );
        assert!((got - sum(&one)).abs() < 1e-14);
    }

    #[test]
    fn the_best_subset_under_a_uniform_prior_is_found() {
        let (m, nats) = (500.0, 3.0);
        let errors = [0.3, 0.02, 0.11, 0.05, 0.4, 0.06, 0.05, 0.2];
        let priors = [1.0 / 16.0; 8];
        let (bound, size) = subset_posterior(&errors, &priors, m, nats);
        let mut least = f64::INFINITY;
        for mask in 1_u32..256 {
            let of: Vec<f64> = (0..8).filter(|i| mask & (1 << i) != 0).map(|i| errors[i]).collect();
            let mean = of.iter().sum::<f64>() / of.len() as f64;
            least = least.min(subset(mean, -(of.len() as f64 / 16.0).ln(), m, nats));
        }
        assert!((bound - least).abs() < 1e-14, "{bound} against {least} of all subsets");
        assert!((1..8).contains(&size), "{size}: some of them, not all");
        // mass that nobody can have adds nothing
        assert_eq!(subset_posterior(&[0.1, 0.0], &[1.0, 0.0], m, nats).1, 1);
    }

    #[test]
    fn a_set_of_no_examples_costs_the_logarithm_of_m_more_than_a_prior() {
        for (rate, divergence, m) in [(0.0, 3.0, 100.0), (0.1, 10.0, 1000.0)] {
            let got = pac_bayes_compression(rate, divergence, m, 0.0, 1.0);
            assert!((got - pac_bayes_kl(rate, divergence, m, 1.0 + f64::ln(m))).abs() < 1e-12);
        }
        assert_eq!(pac_bayes_compression(0.0, 0.0, 10.0, 10.0, 1.0), 1.0);
    }

    #[test]
    fn forms_for_a_trade_off_are_never_below_that_of_the_divergence_of_coins() {
        // the λ form relaxes kl⁻¹ with ln(2√m) (Thiemann et al., Thm. 3); Catoni's holds one C at a time and may be lower
        for rate in [0.0, 0.05, 0.3] {
            for divergence in [0.0, 5.0, 40.0] {
                let m: f64 = 1000.0;
                let kl = kl_inverse(rate, (divergence + (2.0 * m.sqrt()).ln() + 3.0) / m);
                let least = (1..200).map(|i| pac_bayes_lambda(rate, divergence, f64::from(i) / 100.0, m, 3.0));
                let least = least.fold(f64::INFINITY, f64::min);
                assert!(least >= kl - 1e-12, "{least} {kl}");
                // least over C is the inversion of kl without ln ξ(m)
                let sharp = kl_inverse(rate, (divergence + 3.0) / m);
                let catoni = (1..4000).map(|i| catoni(rate, divergence, f64::from(i) / 200.0, m, 3.0));
                let catoni = catoni.fold(f64::INFINITY, f64::min);
                assert!((catoni - sharp).abs() < 2e-4, "{catoni} {sharp}");
            }
        }
    }
}
