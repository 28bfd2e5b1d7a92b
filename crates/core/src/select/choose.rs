//! The rule by which a search chooses one of its candidates.

use super::Candidate;
use super::grid::owner;
use crate::metrics::Score;
use crate::params::Setting;
use std::cmp::Ordering;

/// Rules by which a search chooses among its candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choose {
    /// The best score.
    #[default]
    Best,
    /// The most regularised candidate whose score is within one standard error of the best.
    ///
    /// # Source
    /// Breiman, Friedman, Olshen & Stone (1984), Classification and Regression Trees, §3.4.3, the 1 SE rule.
    OneStandardError,
}

/// Parameters by which a candidate is more regularised than another, the weightiest first, and whether smaller or larger values are.
pub(super) type Regularisers = Vec<(&'static str, Ordering)>;

/// The place of the best candidate, the first of equals; `None` if there is none.
pub(super) fn best(candidates: &[Candidate], by: &Score) -> Option<usize> {
    let loss = |k: usize| by.loss(candidates[k].score);
    (0..candidates.len()).min_by(|&a, &b| loss(a).total_cmp(&loss(b)).then(a.cmp(&b)))
}

impl Choose {
    /// The place of the candidate that is taken, given the best.
    pub(super) fn among(self, candidates: &[Candidate], best: usize, by: &Regularisers, score: &Score) -> usize {
        let limit = score.loss(candidates[best].score) + candidates[best].spread;
        match self {
            Self::Best => best,
            Self::OneStandardError => (0..candidates.len())
                .filter(|&k| score.loss(candidates[k].score) <= limit)
                .min_by(|&a, &b| regularised(candidates, (a, b), by, score).then((a != best).cmp(&(b != best))))
                .unwrap_or(best),
        }
    }
}

/// Less if the first is the more regularised. A parameter that is a word somewhere tells nothing.
fn regularised(candidates: &[Candidate], (a, b): (usize, usize), by: &Regularisers, score: &Score) -> Ordering {
    let value = |k: usize, name: &str| match candidates[k].point.iter().find(|(n, _)| owner(n).1 == name) {
        Some((_, Setting::Number(value))) => Some(*value),
        _ => None,
    };
    for &(name, way) in by {
        if (0..candidates.len()).any(|k| value(k, name).is_none()) {
            continue;
        }
        let order = value(a, name).partial_cmp(&value(b, name)).unwrap_or(Ordering::Equal);
        if order != Ordering::Equal {
            return if order == way { Ordering::Less } else { Ordering::Greater };
        }
    }
    score.loss(candidates[a].score).total_cmp(&score.loss(candidates[b].score))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::Learns;

    fn candidate(point: &[(&str, f64)], score: f64, spread: f64) -> Candidate {
        let point = point.iter().map(|(n, v)| ((*n).to_owned(), Setting::Number(*v))).collect();
        Candidate { point, kernel: String::new(), score, spread, folds: Vec::new() }
    }

    fn error() -> Score {
        Score::usual(Learns::Classes)
    }

    #[test]
    fn a_score_that_is_to_be_large_is_chosen_so() {
        let area = Score::named("auc", Learns::Classes, None).unwrap();
        let all = [
            candidate(&[("c", 1.0)], 0.90, 0.0),
            candidate(&[("c", 0.5)], 0.93, 0.0),
            candidate(&[("c", 10.0)], 0.95, 0.02),
            candidate(&[("c", 0.1)], 0.929, 0.0),
        ];
        let best = best(&all, &area).unwrap();
        assert_eq!((best, Choose::OneStandardError.among(&all, best, &usual(), &area)), (2, 1));
    }

    fn usual() -> Regularisers {
        vec![("c", Ordering::Less), ("lambda", Ordering::Greater), ("gamma", Ordering::Less)]
    }

    #[test]
    fn the_simplest_within_one_standard_error_is_taken() {
        let all = [
            candidate(&[("gamma", 1.0), ("c", 1.0)], 0.30, 0.01),
            candidate(&[("gamma", 1.0), ("c", 10.0)], 0.119, 0.50),
            candidate(&[("gamma", 0.1), ("c", 10.0)], 0.12, 0.00),
            candidate(&[("gamma", 0.1), ("c", 100.0)], 0.10, 0.02),
            candidate(&[("gamma", 9.0), ("c", 5.0)], 0.1201, 0.02),
        ];
        let best = best(&all, &error()).unwrap();
        assert_eq!((best, Choose::Best.among(&all, best, &usual(), &error())), (3, 3));
        // only the spread of the best counts: 0.12 is within, 0.1201 is not
        assert_eq!(Choose::OneStandardError.among(&all, best, &usual(), &error()), 2);
    }

    #[test]
    fn a_large_lambda_is_simple_and_words_tell_nothing() {
        let mut all = [
            candidate(&[("lambda", 0.1)], 1.0, 0.2),
            candidate(&[("lambda", 10.0)], 1.1, 0.2),
            candidate(&[("lambda", 1.0)], 1.05, 0.0),
        ];
        assert_eq!(Choose::OneStandardError.among(&all, 0, &usual(), &error()), 1);
        all[2].point[0].1 = Setting::Word("loo".to_owned());
        assert_eq!(Choose::OneStandardError.among(&all, 0, &usual(), &error()), 0);
    }
}
