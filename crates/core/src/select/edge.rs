//! Edges of a grid: a best candidate at one may have better ones beyond.

use super::{Candidate, Search};
use crate::metrics::Score;
use crate::params::Setting;
use std::fmt;

/// A parameter whose best value is the smallest or the largest of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The parameter, as the grid names it.
    pub parameter: String,
    /// The best value.
    pub value: f64,
    /// True if it is the largest.
    pub upward: bool,
    /// The next value beyond, at the distance of the last two.
    pub next: f64,
    /// True if there are two values only.
    pub of_two: bool,
}

impl Edge {
    /// The direction in which the grid should grow.
    pub fn direction(&self) -> &'static str {
        if self.upward { "upward" } else { "downward" }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parameter, value, next, .. } = self;
        if self.of_two {
            let more = if self.upward { "larger" } else { "smaller" };
            return write!(f, "the best {parameter} = {value} is the {more} of two: try {next}, too");
        }
        let most = if self.upward { "largest" } else { "smallest" };
        write!(
            f,
            "the best {parameter} = {value} is the {most} of the grid: extend {parameter} {}, to {next} say",
            self.direction()
        )
    }
}

impl Search<'_> {
    /// The parameters of several numbers whose best value is at the edge of the grid, where every candidate further in is worse (of two values,
    /// with the other one) and values beyond are allowed.
    pub(super) fn edges(&self, candidates: &[Candidate], best: usize, by: &Score) -> Vec<Edge> {
        let number = |c: &Candidate, place: usize| match c.point.get(place) {
            Some((_, Setting::Number(value))) => Some(*value),
            _ => None,
        };
        let at_edge = |place: usize| {
            let mut values = candidates.iter().map(|c| number(c, place)).collect::<Option<Vec<f64>>>()?;
            values.sort_by(f64::total_cmp);
            values.dedup();
            let (value, count) = (number(&candidates[best], place)?, values.len());
            let (low, high) = (*values.first()?, *values.last()?);
            if count < 2 || (value > low && value < high) {
                return None;
            }
            let inside = |c: &Candidate| {
                number(c, place).is_some_and(|v| if count == 2 { v != value } else { v > low && v < high })
            };
            // a tie with a value further in tells nothing about what lies beyond
            if candidates.iter().any(|c| inside(c) && by.loss(c.score) <= by.loss(candidates[best].score)) {
                return None;
            }
            let before = if value == high { values[count - 2] } else { values[1] };
            let ratio = value / before;
            // values of one sign that grow by a factor go on so
            let next = if ratio > 1.5 || (ratio > 0.0 && ratio < 0.67) { value * ratio } else { 2.0 * value - before };
            let next = format!("{next:.3e}").parse::<f64>().ok()?;
            let mut point = candidates[best].point.clone();
            point[place].1 = Setting::Number(next);
            let allowed = next.is_finite() && next != value && self.at(&point).is_ok();
            allowed.then(|| Edge {
                parameter: point[place].0.clone(),
                value,
                upward: value == high,
                next,
                of_two: count == 2,
            })
        };
        (0..candidates[best].point.len()).filter_map(at_edge).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::machines::Learns;
    use crate::metrics::Score;
    use crate::prelude::{Dataset, Schema, SchemaOptions, Seed, rbf};
    use crate::select::{Choose, Grid, Search};

    fn advice(machine: &str, kernel: &str, grid: &str) -> Vec<String> {
        by("", machine, kernel, grid)
    }

    fn by(score: &str, machine: &str, kernel: &str, grid: &str) -> Vec<String> {
        let table = crate::datasets::load("two_moons", Some(120), Seed(1)).unwrap();
        let (_, data): (_, Dataset) = Schema::learn_and_apply(&table, &SchemaOptions::default()).unwrap();
        let grid: Grid = grid.parse().unwrap();
        let kernel = if kernel.is_empty() { rbf(1.0) } else { kernel.parse().unwrap() };
        let score = Score::named(score, Learns::Classes, None).ok();
        let search = Search {
            score: score.as_ref(),
            machine: crate::machines::find(machine).unwrap(),
            settings: &[],
            kernel: &kernel,
            grid: &grid,
            folds: 5,
            choose: Choose::Best,
            probabilities: None,
            calibration_folds: 0,
            budget: crate::gram::Budget::default(),
            seed: Seed(0),
        };
        let found = search.run(&data, &crate::watch::Silent).unwrap();
        assert_eq!(found.edges.len(), found.model.fitted.report.advice.len());
        assert_eq!(
            found.figure("cv error", crate::plot::Theme::Light).contains("at the edge"),
            !found.edges.is_empty()
        );
        found.model.fitted.report.advice
    }

    #[test]
    fn a_best_candidate_at_the_edge_says_where_to_go_on() {
        let said = advice("svc", "", "gamma=0.00001|0.0001|0.001|0.01");
        assert!(said.len() == 1 && said[0].contains("extend gamma upward, to 0.1 say"), "{said:?}");
        let said = advice("svc", "", "gamma=200|2000|20000");
        assert!(said.len() == 1 && said[0].contains("extend gamma downward, to 20 say"), "{said:?}");
    }

    #[test]
    fn a_score_that_is_to_be_large_has_edges_too() {
        let said = by("auc", "svc", "", "gamma=0.00001|0.0001|0.001|0.01");
        assert!(said.len() == 1 && said[0].contains("extend gamma upward, to 0.1 say"), "{said:?}");
        assert_eq!(by("auc", "svc", "", "gamma=0.0001|1|10000"), Vec::<String>::new());
    }

    #[test]
    fn of_two_values_the_better_has_others_beyond_it() {
        assert_eq!(advice("svc", "", "gamma=0.0001|0.01"), ["the best gamma = 0.01 is the larger of two: try 1, too"]);
        let said = advice("svc", "", "gamma=200|20000");
        assert_eq!(said, ["the best gamma = 200 is the smaller of two: try 2, too"]);
        assert_eq!(advice("svc", "polynomial(degree=1, offset=0)", "degree=1|4"), Vec::<String>::new());
    }

    #[test]
    fn a_tie_with_a_value_further_in_is_no_edge() {
        // without two examples as near as that, all three kernel matrices are the identity
        assert_eq!(advice("svc", "", "gamma=1e12|1e13|1e14"), Vec::<String>::new());
    }

    #[test]
    fn what_lies_inside_or_cannot_be_extended_says_nothing() {
        assert_eq!(advice("svc", "", "gamma=0.0001|1|10000"), Vec::<String>::new());
        // of two equals neither is better
        assert_eq!(advice("svc", "", "gamma=1e12|1e13"), Vec::<String>::new());
        // a degree below one does not exist
        assert_eq!(advice("svc", "polynomial(degree=1, offset=0)", "degree=1|2|4"), Vec::<String>::new());
    }
}
