//! The points that an expansion may use, in words: `examples`, `all`, `points`, or a number of examples.

use super::super::auxiliary::Role;
use super::super::{Auxiliary, FitError, Order, Task};

/// The points z of w = Σ_j a_j φ(z_j).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// All training examples.
    Examples,
    /// All training examples and all that stand beside them: exact also for noise and transformations.
    All,
    /// The points that were handed in for the purpose.
    Points,
    /// So many training examples, drawn by the seed.
    Some(usize),
}

impl Over {
    /// Reads the words; the error says what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "examples" => Ok(Self::Examples),
            "all" => Ok(Self::All),
            "points" => Ok(Self::Points),
            number => match number.parse() {
                Ok(count) if count > 0 => Ok(Self::Some(count)),
                _ => Err("examples, all, points or a number of examples above zero".to_owned()),
            },
        }
    }

    /// The rule of the parameter.
    pub fn check(text: &str) -> Result<(), String> {
        Self::parse(text).map(|_| ())
    }

    /// The part of the order of the examples in a choice of points in words: some are drawn by their places.
    pub fn order(text: &str) -> Order {
        if matches!(Self::parse(text), Ok(Self::Some(_))) { Order::Matters } else { Order::Irrelevant }
    }

    /// The places of the points among the examples and what stands beside them.
    pub(super) fn places(
        self,
        machine: &'static str,
        task: &Task<'_>,
        auxiliary: Option<&Auxiliary<'_>>,
        weights: &[f64],
    ) -> Result<Vec<usize>, FitError> {
        let n = task.len();
        let roles = auxiliary.map_or(&[][..], |b| b.roles);
        // what counts nothing is not there, and neither are its copies
        let live: Vec<usize> = (0..n).filter(|&i| weights[i] > 0.0).collect();
        match self {
            Self::Examples => Ok(live),
            Self::All => {
                let counts = |role: &Role| !matches!(role, Role::Copy { of, .. } if weights[*of] == 0.0);
                let others = (0..roles.len()).filter(|&i| counts(&roles[i])).map(|i| n + i);
                Ok(live.into_iter().chain(others).collect())
            }
            Self::Points => {
                let points: Vec<usize> = (0..roles.len()).filter(|&i| roles[i] == Role::Point).map(|i| n + i).collect();
                if points.is_empty() {
                    let finding = "expansion = points, but no points were handed in: give --expansion-points FILE or \
                                   --centre-points N, or take expansion = examples";
                    return Err(FitError::Param { machine, finding: finding.to_owned() });
                }
                Ok(points)
            }
            Self::Some(count) if count >= live.len() => Ok(live),
            Self::Some(count) => {
                let mut places = task.seed.stream("examples of an expansion").permutation(live.len());
                places.truncate(count);
                places.sort_unstable();
                Ok(places.into_iter().map(|p| live[p]).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_are_read() {
        assert_eq!(
            ["examples", "all", " points", "200"].map(|t| Over::parse(t).unwrap()),
            [Over::Examples, Over::All, Over::Points, Over::Some(200)]
        );
        for text in ["", "0", "-3", "some", "1.5"] {
            assert!(Over::check(text).unwrap_err().contains("a number of examples"), "{text}");
        }
    }
}
