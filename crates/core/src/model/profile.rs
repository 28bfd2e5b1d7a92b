//! Profiles: what every position of a string adds to its scores.
//!
//! A score on strings is b + Σ α_i κ(x_i, x) or b + ⟨w, φ(x)⟩, and both are sums over pieces of x that match. Each piece
//! divides what it adds equally among the letters it covers; the letters of a string then add up to its score
//! without b. Places that carry a class stand out: a splice site, a word.

use super::Model;
use crate::data::{DataError, Dataset};
use crate::error::Error;
use crate::gram::Dense;
use crate::machines::Coefficients;

impl Model {
    /// The share of every position (character) of one example in its scores: positions × outputs row by row. Each column
    /// adds up to the score without its offset, up to rounding and, for models with explicit weights, collisions of
    /// hashed features in the norm of a normalised kernel.
    ///
    /// ```
    /// use mercer::prelude::*;
    ///
    /// let x = vec!["AAAT".to_string(), "AATA".into(), "AAAA".into(), "GGCG".into(), "GCGG".into(), "GGGG".into()];
    /// let y = ["a", "a", "a", "g", "g", "g"];
    /// let data = Dataset::new(x).with_target(Target::from_text("y", &y))?;
    /// let model = Svc::default().fit(&"spectrum(length=2)".parse()?, &data)?;
    /// let profile = model.profile(&data, 0)?;
    /// let score = model.scores(&data)?[0] - model.fitted().expansion.offsets[0];
    /// assert_eq!(profile.len(), 4);
    /// assert!((profile.iter().sum::<f64>() - score).abs() < 1e-9);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the kernel knows no positions: it must be a kernel on strings, or a multiple of one, normalised or not; and for
    /// machines that describe a ball, look up neighbours or ask a ensemble, whose score is no such sum.
    pub fn profile(&self, data: &Dataset, example: usize) -> Result<Vec<f64>, Error> {
        let usage = |finding: String| Error::from(DataError::Usage { finding });
        if example >= data.len() {
            return Err(usage(format!("there is no example {}; the data have {}", example + 1, data.len())));
        }
        let none =
            || usage(format!("the kernel {} does not tell what single positions of an example add", self.kernel));
        let expansion = &self.fitted.expansion;
        let outputs = expansion.outputs();
        match &expansion.coefficients {
            Coefficients::Parts(_) => Err(usage(format!(
                "{} has several parts, each with scores of its own; what single positions add is told of one score",
                self.machine
            ))),
            Coefficients::Ball { .. } | Coefficients::Neighbours(_) | Coefficients::Ensemble(_) => {
                Err(usage(format!("the score of {} is no sum over positions", self.machine)))
            }
            Coefficients::Primal { weights, width, scale } => {
                let mut profile = Vec::new();
                for output in 0..outputs {
                    let weight = |at: u32| {
                        if (at as usize) < *width { scale * weights[at as usize * outputs + output] } else { 0.0 }
                    };
                    let column = self.kernel.shares_of_weights(data, example, &weight).ok_or_else(none)?;
                    profile.resize(column.len() * outputs, 0.0);
                    column.iter().enumerate().for_each(|(at, s)| profile[at * outputs + output] = *s);
                }
                Ok(profile)
            }
            _ => {
                let points = expansion.points();
                let shares = self.kernel.shares(data, example, &self.examples, points).ok_or_else(none)?;
                let positions = shares.len() / points.len().max(1);
                let matrix = Dense::new(shares, positions, points.len()).ok_or_else(none)?;
                let mut profile = expansion.scores(&matrix);
                for line in profile.chunks_mut(outputs.max(1)) {
                    line.iter_mut().zip(&expansion.offsets).for_each(|(s, b)| *s -= b);
                }
                Ok(profile)
            }
        }
    }
}
