//! Regression with one input: the data, the fitted curves, and a band around the first.

use super::axes::{HEIGHT, LEGEND, Panel, WIDTH, header, range};
use super::marks::{Glyph, legend};
use super::svg::{Svg, number};
use super::theme::{Rgb, Theme};

/// A function at rising abscissae.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// A strip between two functions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// Name in the legend.
    pub name: String,
    /// Abscissa, lower and upper end, at rising abscissae.
    pub edges: Vec<(f64, f64, f64)>,
}

/// An example of a regression with one input.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Datum {
    /// The input.
    pub x: f64,
    /// The number to be predicted.
    pub y: f64,
    /// Whose curve it belongs to, as a place in the list of curves.
    pub curve: usize,
    /// True if it is a support vector: these are ringed.
    pub support: bool,
}

/// Curves through points.
#[derive(Clone, Debug, Default)]
pub struct RegressionCurve {
    /// Title.
    pub title: String,
    /// Words at the horizontal axis.
    pub x_label: String,
    /// Words at the vertical axis.
    pub y_label: String,
    /// The fitted functions; one for each output.
    pub curves: Vec<Line>,
    /// The examples.
    pub points: Vec<Datum>,
    /// A band, such as a tube within which errors cost nothing, for each curve that has one.
    pub bands: Vec<Band>,
    /// A small line under the title.
    pub note: Option<String>,
}

impl RegressionCurve {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        let curves = || self.curves.iter().flat_map(|c| &c.points);
        let edges = || self.bands.iter().flat_map(|b| &b.edges);
        let x = curves().map(|p| p.0).chain(self.points.iter().map(|p| p.x)).chain(edges().map(|b| b.0));
        let y = curves().map(|p| p.1).chain(self.points.iter().map(|p| p.y)).chain(edges().flat_map(|b| [b.1, b.2]));
        let panel = Panel::new(range(x, 0.02), range(y, 0.05), WIDTH, LEGEND);
        let mut svg = Svg::new(WIDTH, HEIGHT, &self.title, theme);
        header(&mut svg, panel.left(), WIDTH, &self.title, self.note.as_deref());
        panel.grid(&mut svg);

        // one curve has a colour of its own; of several, each has that of its data
        let several = self.curves.len() > 1;
        let of_line = |k: usize| theme.colour(if several { k as u32 } else { 1 });
        let of_data = |k: usize| theme.colour(if several { k as u32 } else { 0 });
        let mut key = Vec::new();
        for (k, edges) in self.bands.iter().enumerate() {
            let fill = theme.pale(of_line(k), 0.25).hex();
            band(&mut svg, &panel, &edges.edges, &format!("fill=\"{fill}\" fill-opacity=\"0.85\""));
        }
        for k in 0..self.curves.len().max(1) {
            let own = self.points.iter().filter(|p| p.curve == k);
            dots(&mut svg, &own.filter_map(|p| panel.place(p.x, p.y)).collect::<Vec<_>>(), of_data(k));
        }
        rings(&mut svg, &panel, &self.points);
        if !self.points.is_empty() && !several {
            key.push((Glyph::Dot(of_data(0)), "data".to_owned()));
        }
        if self.points.iter().any(|p| p.support) {
            key.push((Glyph::Ring, "support vector".to_owned()));
        }
        for (k, curve) in self.curves.iter().enumerate() {
            let ink = of_line(k).hex();
            let style = format!("fill=\"none\" stroke=\"{ink}\" stroke-width=\"2.4\" stroke-linejoin=\"round\"");
            line(&mut svg, &panel, &curve.points, &style);
            key.push((Glyph::Line(style), curve.name.clone()));
        }
        key.extend(
            self.bands.iter().enumerate().map(|(k, b)| (Glyph::Patch(theme.pale(of_line(k), 0.25)), b.name.clone())),
        );
        panel.frame(&mut svg, &self.x_label, &self.y_label);
        legend(&mut svg, panel.right(), &key);
        svg.finish()
    }
}

/// A line through points, broken where one cannot be placed.
pub(super) fn line(svg: &mut Svg, panel: &Panel, points: &[(f64, f64)], style: &str) {
    let places: Vec<Option<_>> = points.iter().map(|p| panel.place(p.0, p.1)).collect();
    for part in places.split(Option::is_none) {
        svg.polyline(&part.iter().flatten().copied().collect::<Vec<_>>(), style);
    }
}

/// A strip between two functions, broken where an end cannot be placed.
pub(super) fn band(svg: &mut Svg, panel: &Panel, edges: &[(f64, f64, f64)], style: &str) {
    let place = |&(x, low, high): &(f64, f64, f64)| Some((panel.place(x, low)?, panel.place(x, high)?));
    let ends: Vec<Option<_>> = edges.iter().map(place).collect();
    for part in ends.split(Option::is_none) {
        let part: Vec<_> = part.iter().flatten().collect();
        let outline: Vec<_> = part.iter().map(|e| e.0).chain(part.iter().rev().map(|e| e.1)).collect();
        svg.polygon(&outline, style);
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

/// Rings around support vectors, finer where there are many.
fn rings(svg: &mut Svg, panel: &Panel, points: &[Datum]) {
    let places: Vec<_> = points.iter().filter(|p| p.support).filter_map(|p| panel.place(p.x, p.y)).collect();
    let (r, weight) = if points.len() > 2000 { (3.4, 0.6) } else { (6.0, 1.1) };
    svg.group(&format!("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"", svg.theme.ink(), number(weight)));
    for (x, y) in places {
        svg.circle(x, y, r, "");
    }
    svg.end();
}
