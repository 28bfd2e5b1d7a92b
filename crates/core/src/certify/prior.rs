//! Priors over the candidates of a search.
//!
//! # Source
//! Herbrich (2002), §4.2.3, Lemma 4.14 (structural risk minimisation): where Σ p_j ≤ 1 is fixed before the data, bounds at δ p_j hold
//! for all j at once. A candidate that was believed in beforehand pays ln(1/p_j), less than ln J; the others pay more.

use crate::data::DataError;
use std::fmt;
use std::str::FromStr;

/// A prior over the candidates of a search, in the order of its grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum CandidatePrior {
    /// p_j = 1/J.
    #[default]
    Uniform,
    /// p_j ∝ r^j: the first candidates are believed in most.
    Geometric {
        /// r, between 0 and 1.
        ratio: f64,
    },
    /// p_j ∝ w_j.
    Weights(Vec<f64>),
}

impl CandidatePrior {
    /// ln(1/p_j) of each of so many candidates.
    ///
    /// # Errors
    /// If the ratio is not between 0 and 1, or there are not as many weights above 0 as candidates.
    pub fn nats(&self, candidates: usize) -> Result<Vec<f64>, DataError> {
        let usage = |finding: String| Err(DataError::Usage { finding });
        match self {
            Self::Uniform => Ok(vec![(candidates.max(1) as f64).ln(); candidates]),
            Self::Geometric { ratio } if *ratio > 0.0 && *ratio < 1.0 => {
                // Σ_{j<J} r^j = (1 − r^J)/(1 − r)
                let (step, count) = (ratio.ln(), candidates as f64);
                let sum = (-(count * step).exp_m1()).ln() - (-step.exp_m1()).ln();
                Ok((0..candidates).map(|j| sum - j as f64 * step).collect())
            }
            Self::Geometric { ratio } => {
                usage(format!("a geometric prior has a ratio between 0 and 1, and {ratio} is none; give 0.5, say"))
            }
            Self::Weights(weights) if weights.len() != candidates => usage(format!(
                "the prior has {} weights for {candidates} candidates; give one for each, in the order of the grid",
                weights.len()
            )),
            Self::Weights(weights) => {
                if let Some(place) = weights.iter().position(|w| !(*w > 0.0 && w.is_finite())) {
                    return usage(format!(
                        "weight {} of the prior is {}, and each must be a number above 0; leave a candidate that nobody believes in out of the grid",
                        place + 1,
                        weights[place]
                    ));
                }
                // of the largest, so that no sum overflows
                let largest = weights.iter().copied().fold(0.0, f64::max);
                let sum: f64 = weights.iter().map(|w| w / largest).sum();
                Ok(weights.iter().map(|w| (sum.ln() - (w.ln() - largest.ln())).max(0.0)).collect())
            }
        }
    }
}

impl FromStr for CandidatePrior {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            Err(format!("\"{text}\" is no prior: write uniform, geometric, geometric(0.8), or weights such as 4,2,1,1"))
        };
        match text.trim() {
            "uniform" => return Ok(Self::Uniform),
            "geometric" => return Ok(Self::Geometric { ratio: 0.5 }),
            _ => {}
        }
        if let Some(ratio) = text.trim().strip_prefix("geometric(").and_then(|rest| rest.strip_suffix(')')) {
            return ratio.trim().parse().map_or_else(|_| wrong(), |ratio| Ok(Self::Geometric { ratio }));
        }
        let weights: Result<Vec<f64>, _> = text.split(',').map(|w| w.trim().parse()).collect();
        weights.map_or_else(|_| wrong(), |weights| Ok(Self::Weights(weights)))
    }
}

impl fmt::Display for CandidatePrior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Geometric { ratio } => write!(f, "geometric({ratio})"),
            Self::Weights(weights) => {
                f.write_str(&weights.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priors_sum_to_one_and_read_as_they_print() {
        for text in ["uniform", "geometric(0.5)", "geometric(0.999)", "geometric(0.01)", "4,2,1,0.5,3,2,1"] {
            let prior: CandidatePrior = text.parse().unwrap();
            assert_eq!(prior.to_string(), text);
            let nats = prior.nats(7).unwrap();
            let sum: f64 = nats.iter().map(|n| (-n).exp()).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{text}: {sum}");
        }
        let halves = "geometric".parse::<CandidatePrior>().unwrap().nats(3).unwrap();
        for (nats, p) in halves.iter().zip([4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0_f64]) {
            assert!((nats + p.ln()).abs() < 1e-14);
        }
        assert_eq!("uniform".parse::<CandidatePrior>().unwrap().nats(1).unwrap(), [0.0]);
        assert_eq!("geometric".parse::<CandidatePrior>().unwrap().nats(1).unwrap(), [0.0]);
    }

    #[test]
    fn what_is_no_prior_is_refused() {
        for text in ["", "harmonic", "geometric(x)", "1,,2", "geometric(0.5"] {
            assert!(text.parse::<CandidatePrior>().is_err(), "{text}");
        }
        for text in ["geometric(1)", "geometric(-0.5)", "geometric(nan)", "1,2", "1,0,2", "1,-1,2", "1,inf,2"] {
            assert!(text.parse::<CandidatePrior>().unwrap().nats(3).is_err(), "{text}");
        }
    }
}
