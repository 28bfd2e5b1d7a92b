//! Regression with any number of inputs: predictions against the truth.

use super::axes::{HEIGHT, MARGIN, Panel, header, range};
use super::curve::dots;
use super::svg::Svg;
use super::theme::Theme;

/// Narrower than other figures, so that both axes, which have one range, have about one length.
const WIDTH: f64 = 540.0;

/// Predicted against true values; perfect predictions lie on the diagonal.
#[derive(Clone, Debug, Default)]
pub struct PredictedAgainstTrue {
    /// Title.
    pub title: String,
    /// Words at the horizontal axis, where the truth is.
    pub x_label: String,
    /// Words at the vertical axis, where the predictions are.
    pub y_label: String,
    /// True and predicted value of each example.
    pub points: Vec<(f64, f64)>,
    /// A small line under the title.
    pub note: Option<String>,
}

impl PredictedAgainstTrue {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        let finite = self.points.iter().filter(|p| p.0.is_finite() && p.1.is_finite());
        let both = range(finite.flat_map(|p| [p.0, p.1]), 0.04);
        let panel = Panel::new(both, both, WIDTH, MARGIN);
        let mut svg = Svg::new(WIDTH, HEIGHT, &self.title, theme);
        header(&mut svg, panel.left(), WIDTH, &self.title, self.note.as_deref());
        panel.grid(&mut svg);
        let ends = ((panel.x.to.0, panel.y.to.0), (panel.x.to.1, panel.y.to.1));
        let dashed = format!("stroke=\"{}\" stroke-width=\"1.4\" stroke-dasharray=\"6 4\"", theme.soft());
        svg.line(ends.0, ends.1, &dashed);
        let places: Vec<_> = self.points.iter().filter_map(|p| panel.place(p.0, p.1)).collect();
        dots(&mut svg, &places, theme.colour(0));
        panel.frame(&mut svg, &self.x_label, &self.y_label);
        svg.finish()
    }
}
