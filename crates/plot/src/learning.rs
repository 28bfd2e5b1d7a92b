//! Learning curves: scores against the number of training examples.

use super::axes::{HEIGHT, LEGEND, Panel, WIDTH, header, range};
use super::curve::{band, line};
use super::marks::{Glyph, legend};
use super::svg::Svg;
use super::theme::Theme;

/// A score at one number of training examples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScoreAt {
    /// Number of examples that were learned from.
    pub size: usize,
    /// The mean.
    pub mean: f64,
    /// The standard deviation around it.
    pub deviation: f64,
}

/// Scores at growing numbers of training examples, each with a band of one standard deviation.
#[derive(Clone, Debug, Default)]
pub struct LearningFigure {
    /// Title.
    pub title: String,
    /// Name of the score.
    pub y_label: String,
    /// A name, and the scores at rising sizes.
    pub curves: Vec<(String, Vec<ScoreAt>)>,
    /// A small line under the title.
    pub note: Option<String>,
}

impl LearningFigure {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        let all = || self.curves.iter().flat_map(|c| &c.1);
        let x = range(all().map(|s| s.size as f64), 0.04);
        let y = range(all().flat_map(|s| [s.mean - s.deviation, s.mean + s.deviation]), 0.08);
        let panel = Panel::new(x, y, WIDTH, LEGEND);
        let mut svg = Svg::new(WIDTH, HEIGHT, &self.title, theme);
        header(&mut svg, panel.left(), WIDTH, &self.title, self.note.as_deref());
        panel.grid(&mut svg);
        let mut key = Vec::new();
        for (k, (_, scores)) in self.curves.iter().enumerate() {
            let ink = theme.colour(k as u32);
            let edges: Vec<_> =
                scores.iter().map(|s| (s.size as f64, s.mean - s.deviation, s.mean + s.deviation)).collect();
            // translucent: bands overlap
            band(&mut svg, &panel, &edges, &format!("fill=\"{}\" fill-opacity=\"0.2\"", ink.hex()));
        }
        for (k, (name, scores)) in self.curves.iter().enumerate() {
            let ink = theme.colour(k as u32);
            let style =
                format!("fill=\"none\" stroke=\"{}\" stroke-width=\"2.2\" stroke-linejoin=\"round\"", ink.hex());
            line(&mut svg, &panel, &scores.iter().map(|s| (s.size as f64, s.mean)).collect::<Vec<_>>(), &style);
            svg.group(&format!("fill=\"{}\" stroke=\"{}\" stroke-width=\"1\"", ink.hex(), theme.paper().hex()));
            for (x, y) in scores.iter().filter_map(|s| panel.place(s.size as f64, s.mean)) {
                svg.circle(x, y, 4.6, "");
            }
            svg.end();
            key.push((Glyph::Line(style), name.clone()));
            key.push((Glyph::Patch(theme.pale(ink, 0.2)), "± s.d.".to_owned()));
        }
        panel.frame(&mut svg, "training examples", &self.y_label);
        legend(&mut svg, panel.right(), &key);
        svg.finish()
    }
}
