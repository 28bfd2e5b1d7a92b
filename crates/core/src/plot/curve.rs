//! Regression with one input: the data, the fitted curve, and a band around it.

use super::axes::{HEIGHT, LEGEND, Panel, WIDTH, header, range};
use super::marks::{Glyph, legend};
use super::palette::{Rgb, colour};
use super::svg::{Svg, number};

/// A curve through points.
#[derive(Clone, Debug, Default)]
pub struct RegressionCurve {
    /// Title.
    pub title: String,
    /// Words at the horizontal axis.
    pub x_label: String,
    /// Words at the vertical axis.
    pub y_label: String,
    /// The fitted function at rising abscissae.
    pub curve: Vec<(f64, f64)>,
    /// The examples.
    pub points: Vec<(f64, f64)>,
    /// Abscissa, lower and upper end of a band, at rising abscissae.
    pub band: Option<Vec<(f64, f64, f64)>>,
    /// A small line under the title.
    pub note: Option<String>,
}

impl RegressionCurve {
    /// The picture.
    pub fn draw(&self) -> String {
        let band: &[_] = self.band.as_deref().unwrap_or_default();
        let x = self.curve.iter().chain(&self.points).map(|p| p.0).chain(band.iter().map(|b| b.0));
        let y = self.curve.iter().chain(&self.points).map(|p| p.1).chain(band.iter().flat_map(|b| [b.1, b.2]));
        let panel = Panel::new(range(x, 0.02), range(y, 0.05), WIDTH, LEGEND);
        let mut svg = Svg::new(WIDTH, HEIGHT, &self.title);
        header(&mut svg, panel.left(), WIDTH, &self.title, self.note.as_deref());
        panel.grid(&mut svg);

        let (ink, line) = (colour(0), colour(1));
        let pale = Rgb::WHITE.towards(line, 0.25);
        let mut key = Vec::new();
        let place = |x: f64, y: f64| panel.place(x, y);
        let ends: Vec<Option<_>> =
            band.iter().map(|b| place(b.0, b.1).and_then(|low| place(b.0, b.2).map(|high| (low, high)))).collect();
        for part in ends.split(Option::is_none) {
            let part: Vec<_> = part.iter().flatten().collect();
            let outline: Vec<_> = part.iter().map(|e| e.0).chain(part.iter().rev().map(|e| e.1)).collect();
            svg.polygon(&outline, &format!("fill=\"{}\" fill-opacity=\"0.85\"", pale.hex()));
        }
        dots(&mut svg, &self.points.iter().filter_map(|p| place(p.0, p.1)).collect::<Vec<_>>(), ink);
        let style = format!("fill=\"none\" stroke=\"{}\" stroke-width=\"2.4\" stroke-linejoin=\"round\"", line.hex());
        let curve: Vec<Option<_>> = self.curve.iter().map(|p| place(p.0, p.1)).collect();
        for part in curve.split(Option::is_none) {
            svg.polyline(&part.iter().flatten().copied().collect::<Vec<_>>(), &style);
        }
        if !self.points.is_empty() {
            key.push((Glyph::Dot(ink), "data".to_owned()));
        }
        if !self.curve.is_empty() {
            key.push((Glyph::Line(style), "fitted".to_owned()));
        }
        if !band.is_empty() {
            key.push((Glyph::Patch(pale), "band".to_owned()));
        }
        panel.frame(&mut svg, &self.x_label, &self.y_label);
        legend(&mut svg, panel.right(), &key);
        svg.finish()
    }
}

/// Dots of one colour, smaller and fainter where there are many.
pub(super) fn dots(svg: &mut Svg, places: &[(f64, f64)], colour: Rgb) {
    let (r, opacity) = if places.len() > 2000 { (1.9, 0.35) } else { (3.4, 0.65) };
    svg.group(&format!("fill=\"{}\" fill-opacity=\"{}\"", colour.hex(), number(opacity)));
    for (x, y) in places {
        svg.circle(*x, *y, r, "");
    }
    svg.end();
}
