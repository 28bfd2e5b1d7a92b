//! A score along one parameter, with error bars.

use super::axes::{HEIGHT, LEGEND, Panel, WIDTH, header, range};
use super::marks::{Glyph, legend};
use super::svg::Svg;
use super::theme::Theme;

/// Scores of the values of one parameter, each with its standard error.
#[derive(Clone, Debug, Default)]
pub struct ScoreProfile {
    /// Title.
    pub title: String,
    /// The parameter.
    pub x_label: String,
    /// Name of the score.
    pub y_label: String,
    /// The values, in order.
    pub names: Vec<String>,
    /// The score of each, and its standard error.
    pub scores: Vec<(f64, f64)>,
    /// The best value.
    pub mark: Option<usize>,
    /// A value that was preferred to the best.
    pub second: Option<usize>,
    /// A small line under the title.
    pub note: Option<String>,
}

impl ScoreProfile {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        let last = self.names.len().max(1) as f64 - 1.0;
        let y = self.scores.iter().flat_map(|(score, error)| [score - error, score + error]);
        let panel = Panel::new((-0.5, last + 0.5), range(y, 0.08), WIDTH, LEGEND).named(&self.names);
        let mut svg = Svg::new(WIDTH, HEIGHT, &self.title, theme);
        header(&mut svg, panel.left(), WIDTH, &self.title, self.note.as_deref());
        panel.grid(&mut svg);

        let place = |k: usize, y: f64| panel.place(k as f64, y);
        let ink = theme.colour(0);
        let style = format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"", ink.hex());
        let line: Vec<Option<(f64, f64)>> = self.scores.iter().enumerate().map(|(k, s)| place(k, s.0)).collect();
        for part in line.split(Option::is_none) {
            let part: Vec<_> = part.iter().flatten().copied().collect();
            svg.polyline(&part, &format!("{style} stroke-opacity=\"0.45\""));
        }
        svg.group(&style);
        for (k, (score, error)) in self.scores.iter().enumerate() {
            if let (Some((x, low)), Some((_, high))) = (place(k, score - error), place(k, score + error)) {
                svg.line((x, low), (x, high), "");
                svg.line((x - 4.0, low), (x + 4.0, low), "");
                svg.line((x - 4.0, high), (x + 4.0, high), "");
            }
        }
        svg.end();
        svg.group(&format!("fill=\"{}\" stroke=\"{}\" stroke-width=\"1\"", ink.hex(), theme.paper().hex()));
        for (x, y) in line.iter().flatten() {
            svg.circle(*x, *y, 5.0, "");
        }
        svg.end();
        let mut key = vec![(Glyph::Line(style), "± 1 s.e.".to_owned())];
        for (place, code, r, dashes, words) in
            [(self.mark, 1, 8.5, "", "best"), (self.second, 2, 12.0, " stroke-dasharray=\"7 4\"", "chosen")]
        {
            if let Some(Some((x, y))) = place.and_then(|k| line.get(k)) {
                let style = format!("fill=\"none\" stroke=\"{}\" stroke-width=\"3\"{dashes}", theme.colour(code).hex());
                svg.circle(*x, *y, r, &style);
                key.push((Glyph::Line(style), words.to_owned()));
            }
        }
        panel.frame(&mut svg, &self.x_label, &self.y_label);
        legend(&mut svg, panel.right(), &key);
        svg.finish()
    }
}
