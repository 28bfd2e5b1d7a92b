//! Lines of any course in one frame, some dashed, some with the spread around them: for figures of textbooks.

use super::axes::{HEIGHT, LEGEND, Panel, WIDTH, header, range};
use super::curve::{band, dots, line};
use super::marks::{Glyph, legend};
use super::svg::Svg;
use super::theme::Theme;

/// A line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stroke {
    /// Name in the legend; lines without a name are not listed.
    pub name: String,
    /// Its points, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// Half the height of the strip around each point; empty for none.
    pub spread: Vec<f64>,
    /// Number of the colour in the theme.
    pub colour: u32,
    /// True if it is dashed.
    pub dashed: bool,
}

/// Lines and dots in a frame.
#[derive(Clone, Debug, Default)]
pub struct Strokes {
    /// Title.
    pub title: String,
    /// Words at the horizontal axis.
    pub x_label: String,
    /// Words at the vertical axis.
    pub y_label: String,
    /// The lines.
    pub strokes: Vec<Stroke>,
    /// Dots, drawn on top.
    pub dots: Vec<(f64, f64)>,
    /// True if the vertical axis is one of logarithms; what is not above zero is left out then.
    pub logarithmic: bool,
    /// A small line under the title.
    pub note: Option<String>,
}

impl Strokes {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        let level = |y: f64| if self.logarithmic { y.log10() } else { y };
        let points = || self.strokes.iter().flat_map(|s| &s.points).chain(&self.dots);
        let ends = self.strokes.iter().flat_map(strip).flat_map(|(_, low, high)| [low, high]);
        let x = range(points().map(|p| p.0), 0.02);
        let y = range(points().map(|p| p.1).chain(ends).map(level), 0.05);
        let panel = Panel::new(x, y, WIDTH, LEGEND);
        let panel = if self.logarithmic { panel.powers() } else { panel };
        let mut svg = Svg::new(WIDTH, HEIGHT, &self.title, theme);
        header(&mut svg, panel.left(), WIDTH, &self.title, self.note.as_deref());
        panel.grid(&mut svg);
        for stroke in &self.strokes {
            let edges: Vec<_> = strip(stroke).map(|(x, low, high)| (x, level(low), level(high))).collect();
            // translucent: strips overlap
            band(
                &mut svg,
                &panel,
                &edges,
                &format!("fill=\"{}\" fill-opacity=\"0.18\"", theme.colour(stroke.colour).hex()),
            );
        }
        let mut key = Vec::new();
        for stroke in &self.strokes {
            let dash = if stroke.dashed { " stroke-dasharray=\"7 5\"" } else { "" };
            let ink = theme.colour(stroke.colour).hex();
            let style = format!("fill=\"none\" stroke=\"{ink}\" stroke-width=\"2.2\" stroke-linejoin=\"round\"{dash}");
            line(&mut svg, &panel, &stroke.points.iter().map(|p| (p.0, level(p.1))).collect::<Vec<_>>(), &style);
            if !stroke.name.is_empty() {
                key.push((Glyph::Line(style), stroke.name.clone()));
            }
        }
        let places: Vec<_> = self.dots.iter().filter_map(|p| panel.place(p.0, level(p.1))).collect();
        dots(&mut svg, &places, theme.colour(7));
        panel.frame(&mut svg, &self.x_label, &self.y_label);
        legend(&mut svg, panel.right(), &key);
        svg.finish()
    }
}

/// Abscissa, lower and upper end of the strip around a line.
fn strip(stroke: &Stroke) -> impl Iterator<Item = (f64, f64, f64)> {
    stroke.points.iter().zip(&stroke.spread).map(|(p, s)| (p.0, p.1 - s, p.1 + s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> Strokes {
        let stroke = Stroke {
            name: "first & last".to_owned(),
            points: vec![(0.0, 1.0), (1.0, 100.0), (2.0, f64::NAN)],
            spread: vec![0.5, 20.0, 1.0],
            colour: 0,
            dashed: true,
        };
        Strokes { title: "Strokes".to_owned(), strokes: vec![stroke], dots: vec![(0.5, 10.0)], ..Strokes::default() }
    }

    #[test]
    fn strokes_have_dashes_strips_and_a_legend() {
        let svg = figure().draw(Theme::Light);
        assert!(svg.contains("stroke-dasharray") && svg.contains("<polygon") && svg.contains("first &amp; last"));
        assert!(!svg.contains("NaN"), "{svg}");
        let bare = Strokes { strokes: vec![Stroke { spread: Vec::new(), ..figure().strokes[0].clone() }], ..figure() };
        assert!(!bare.draw(Theme::Light).contains("<polygon"));
    }

    #[test]
    fn logarithms_leave_out_what_is_not_above_zero() {
        let mut figure = Strokes { logarithmic: true, ..figure() };
        figure.strokes[0].points[0].1 = -3.0;
        let svg = figure.draw(Theme::Dark);
        assert!(!svg.contains("NaN") && !svg.contains("inf") && svg.contains(">100</text>"), "{svg}");
        assert!(Strokes::default().draw(Theme::Light).contains("</svg>"));
    }
}
