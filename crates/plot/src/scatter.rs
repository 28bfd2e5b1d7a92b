//! Points in the plane: projections such as those of kernel principal component analysis.

use super::axes::{HEIGHT, LEGEND, MARGIN, Panel, WIDTH, header, range};
use super::marks::{PlotPoint, entries, legend, points};
use super::svg::Svg;
use super::theme::Theme;

/// Examples by two numbers, coloured by class.
#[derive(Clone, Debug, Default)]
pub struct Scatter {
    /// Title.
    pub title: String,
    /// Words at the horizontal axis.
    pub x_label: String,
    /// Words at the vertical axis.
    pub y_label: String,
    /// The examples.
    pub points: Vec<PlotPoint>,
    /// Names of the classes; may be empty.
    pub labels: Vec<String>,
    /// A small line under the title.
    pub note: Option<String>,
}

impl Scatter {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        let key = entries(&self.labels, &self.points);
        let right = if key.is_empty() { MARGIN } else { LEGEND };
        let (x, y) = (range(self.points.iter().map(|p| p.x), 0.04), range(self.points.iter().map(|p| p.y), 0.04));
        let panel = Panel::new(x, y, WIDTH, right);
        let mut svg = Svg::new(WIDTH, HEIGHT, &self.title, theme);
        header(&mut svg, panel.left(), WIDTH, &self.title, self.note.as_deref());
        panel.grid(&mut svg);
        points(&mut svg, &panel, &self.points);
        panel.frame(&mut svg, &self.x_label, &self.y_label);
        legend(&mut svg, panel.right(), &key);
        svg.finish()
    }
}
