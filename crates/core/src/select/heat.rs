//! The scores of a search as a picture.

use super::{Candidate, Selection};
use crate::params::Setting;
use crate::plot::{Heat, ScoreProfile, Theme};

/// A parameter and its values, in the order of the candidates.
struct Shown<'a> {
    /// Its place in the points.
    place: usize,
    name: &'a str,
    values: Vec<&'a Setting>,
}

impl Shown<'_> {
    /// The place of a candidate's value.
    fn of(&self, candidate: &Candidate) -> Option<usize> {
        let (_, value) = candidate.point.get(self.place)?;
        self.values.iter().position(|v| *v == value)
    }

    fn names(&self) -> Vec<String> {
        self.values.iter().map(|v| short(v)).collect()
    }
}

/// A value as a label: numbers to four digits.
fn short(value: &Setting) -> String {
    match value {
        Setting::Number(x) if x.is_finite() && *x != 0.0 => {
            let rounded = format!("{x:.3e}").parse::<f64>().unwrap_or(*x);
            let plain = rounded.to_string();
            if plain.len() <= 9 { plain } else { format!("{rounded:e}") }
        }
        other => other.to_string(),
    }
}

impl Selection {
    /// The picture of the scores over the grid (SVG): a heat map over the two parameters with the most values, the best
    /// over all others in each cell; for one parameter a curve with error bars. The best and the chosen are marked.
    pub fn figure(&self, score: &str, theme: Theme) -> String {
        let axes = self.axes();
        let title = format!("{} of {} over {} candidates", score, self.model.machine, self.candidates.len());
        match axes.as_slice() {
            [] | [_] => self.profile(axes.first(), title, score, theme),
            [rows, columns, ..] => self.heat(rows, columns, title, theme),
        }
    }

    /// The two parameters with the most values, in their order; one if only one has several.
    fn axes(&self) -> Vec<Shown<'_>> {
        let Some(first) = self.candidates.first() else { return Vec::new() };
        let values_at = |place: usize| {
            let mut values: Vec<&Setting> = Vec::new();
            for (_, value) in self.candidates.iter().filter_map(|c| c.point.get(place)) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            // numbers rise along an axis however they were given; words keep their order
            if let Some(mut numbers) = numbers(&values) {
                numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
                values = numbers.into_iter().map(|(_, value)| value).collect();
            }
            values
        };
        let names = first.point.iter().enumerate();
        let mut axes: Vec<Shown<'_>> =
            names.map(|(place, (name, _))| Shown { place, name, values: values_at(place) }).collect();
        axes.sort_by_key(|axis| std::cmp::Reverse(axis.values.len()));
        let several = axes.iter().filter(|axis| axis.values.len() > 1).count().max(1);
        axes.truncate(several.min(2));
        axes.sort_by_key(|axis| axis.place);
        axes
    }

    fn describe(&self, place: usize) -> String {
        let c = &self.candidates[place];
        let point: Vec<String> = c.point.iter().map(|(name, value)| format!("{name} = {}", short(value))).collect();
        let spread = if c.spread.is_nan() { String::new() } else { format!(" ± {:.4}", c.spread) };
        format!("{} ({:.4}{spread})", point.join(", "), c.score)
    }

    fn note(&self) -> String {
        let mut best = format!("framed: best, {}", self.describe(self.best));
        if !self.edges.is_empty() {
            let ways: Vec<String> = self.edges.iter().map(|e| format!("{} {}", e.parameter, e.direction())).collect();
            best.push_str(&format!("; at the edge: extend {}", ways.join(", ")));
        }
        if self.chosen == self.best { best } else { format!("{best}; dashed: chosen") }
    }

    fn heat(&self, rows: &Shown<'_>, columns: &Shown<'_>, title: String, theme: Theme) -> String {
        let (height, width) = (rows.values.len(), columns.values.len());
        // values rise from bottom to top
        let cell = |c: &Candidate| Some((height - 1 - rows.of(c)?, columns.of(c)?));
        let mut values = vec![f64::NAN; height * width];
        for candidate in &self.candidates {
            if let Some((r, c)) = cell(candidate) {
                let value = &mut values[r * width + c];
                if self.score.is_better(candidate.score, *value) {
                    *value = candidate.score;
                }
            }
        }
        let over = self.candidates[self.best].point.len() > 2;
        let mut row_ticks = rows.names();
        row_ticks.reverse();
        Heat {
            title: if over { format!("{title}, the best over the rest") } else { title },
            row_label: rows.name.to_owned(),
            column_label: columns.name.to_owned(),
            row_ticks,
            column_ticks: columns.names(),
            values,
            decimals: 4,
            mark: cell(&self.candidates[self.best]),
            second: Some(self.chosen).filter(|&c| c != self.best).and_then(|c| cell(&self.candidates[c])),
            note: Some(self.note()),
            ..Heat::default()
        }
        .draw(theme)
    }

    fn profile(&self, axis: Option<&Shown<'_>>, title: String, score: &str, theme: Theme) -> String {
        let mut scores = vec![(f64::NAN, f64::NAN); axis.map_or(0, |a| a.values.len())];
        let place = |c: usize| axis.and_then(|a| a.of(&self.candidates[c]));
        for (k, candidate) in self.candidates.iter().enumerate() {
            if let Some(p) = place(k) {
                scores[p] = (candidate.score, if candidate.spread.is_nan() { 0.0 } else { candidate.spread });
            }
        }
        ScoreProfile {
            title,
            x_label: axis.map_or_else(String::new, |a| a.name.to_owned()),
            y_label: score.to_owned(),
            names: axis.map(Shown::names).unwrap_or_default(),
            scores,
            mark: place(self.best),
            second: Some(self.chosen).filter(|&c| c != self.best).and_then(place),
            note: Some(self.note()),
        }
        .draw(theme)
    }
}

/// The values as numbers, if all are.
fn numbers<'a>(values: &[&'a Setting]) -> Option<Vec<(f64, &'a Setting)>> {
    values.iter().map(|v| if let Setting::Number(x) = v { Some((*x, *v)) } else { None }).collect()
}
