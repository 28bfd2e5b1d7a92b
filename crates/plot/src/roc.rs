//! ROC curves: what share of the one is found at what share of false alarms.

use super::axes::{HEIGHT, LEGEND, Panel, WIDTH, header};
use super::curve::{Line, line};
use super::marks::{Glyph, legend};
use super::svg::Svg;
use super::theme::Theme;

/// Largest number of curves that fit a legend.
const MAX_LEGEND_CURVES: usize = 17;

/// True positives against false positives at every threshold; a coin lies on the diagonal.
#[derive(Clone, Debug, Default)]
pub struct RocFigure {
    /// Title.
    pub title: String,
    /// One curve, or one for each class against the rest; its points rise from (0, 0) to (1, 1).
    pub curves: Vec<Line>,
    /// A small line under the title.
    pub note: Option<String>,
}

impl RocFigure {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        let unit = (-0.015, 1.015);
        let panel = Panel::new(unit, unit, WIDTH, LEGEND);
        let mut svg = Svg::new(WIDTH, HEIGHT, &self.title, theme);
        header(&mut svg, panel.left(), WIDTH, &self.title, self.note.as_deref());
        panel.grid(&mut svg);
        let dashed = format!("stroke=\"{}\" stroke-width=\"1.4\" stroke-dasharray=\"6 4\"", theme.soft());
        svg.line((panel.x.at(0.0), panel.y.at(0.0)), (panel.x.at(1.0), panel.y.at(1.0)), &dashed);
        let mut key = Vec::new();
        for (k, curve) in self.curves.iter().enumerate() {
            // colours repeat after eight, so the next eight are dashed
            let dashes = if k / 8 % 2 == 1 { " stroke-dasharray=\"8 3\"" } else { "" };
            let ink = theme.colour(k as u32).hex();
            let style =
                format!("fill=\"none\" stroke=\"{ink}\" stroke-width=\"2.2\" stroke-linejoin=\"round\"{dashes}");
            line(&mut svg, &panel, &curve.points, &style);
            if k < MAX_LEGEND_CURVES {
                key.push((Glyph::Line(style), curve.name.clone()));
            }
        }
        if self.curves.len() > MAX_LEGEND_CURVES {
            key.push((Glyph::Nothing, format!("and {} more", self.curves.len() - MAX_LEGEND_CURVES)));
        }
        key.push((Glyph::Line(dashed), "chance".to_owned()));
        panel.frame(&mut svg, "share of false alarms", "share that is found");
        legend(&mut svg, panel.right(), &key);
        svg.finish()
    }
}
