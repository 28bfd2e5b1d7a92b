//! Marks for examples, and legends that explain them.

use super::axes::{LEGEND, Panel, TICK_SIZE, TOP};
use super::svg::{Anchor, Svg, number, shortened};
use super::theme::{Rgb, Shape, shape};

/// Largest number of points with large opaque marks; above it they are small and translucent.
const MAX_OPAQUE_POINTS: usize = 2000;
/// Largest number of classes that fit a legend.
const MAX_LEGEND_CLASSES: usize = 18;

/// An example in the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlotPoint {
    /// Left to right.
    pub x: f64,
    /// Bottom to top.
    pub y: f64,
    /// Class, as a place in the list of labels.
    pub code: u32,
    /// True if it is a support vector: these are ringed.
    pub support: bool,
    /// True if it is misclassified: these are crossed out.
    pub wrong: bool,
}

/// Draws points with the colour and shape of their class; rings and crosses come on top.
pub(super) fn points(svg: &mut Svg, panel: &Panel, points: &[PlotPoint]) {
    let (many, theme) = (points.len() > MAX_OPAQUE_POINTS, svg.theme);
    let (r, opacity, edge) = if many { (2.2, 0.45, 0.0) } else { (4.2, 0.9, 0.8) };
    let mut codes: Vec<u32> = points.iter().map(|p| p.code).collect();
    codes.sort_unstable();
    codes.dedup();
    for code in codes {
        let fill = theme.colour(code);
        let stroke = if many {
            String::new()
        } else {
            format!(" stroke=\"{}\" stroke-width=\"{}\"", theme.outline(fill).hex(), number(edge))
        };
        svg.group(&format!("fill=\"{}\" fill-opacity=\"{}\"{stroke}", fill.hex(), number(opacity)));
        for (x, y) in points.iter().filter(|p| p.code == code).filter_map(|p| panel.place(p.x, p.y)) {
            mark(svg, shape(code), x, y, r);
        }
        svg.end();
    }
    let placed = |chosen: fn(&PlotPoint) -> bool| {
        points.iter().filter(move |p| chosen(p)).filter_map(|p| panel.place(p.x, p.y)).collect::<Vec<_>>()
    };
    let (weight, opacity) = if many { (0.6, 0.4) } else { (1.2, 0.9) };
    let (weight, opacity) = (number(weight), number(opacity));
    svg.group(&format!(
        "fill=\"none\" stroke=\"{}\" stroke-width=\"{weight}\" stroke-opacity=\"{opacity}\"",
        theme.ink()
    ));
    for (x, y) in placed(|p| p.support) {
        svg.circle(x, y, r + 2.4, "");
    }
    for (x, y) in placed(|p| p.wrong) {
        cross(svg, x, y, r + 1.0);
    }
    svg.end();
}

/// One mark of about the same area whatever its shape.
fn mark(svg: &mut Svg, shape: Shape, x: f64, y: f64, r: f64) {
    match shape {
        Shape::Circle => svg.circle(x, y, r, ""),
        Shape::Square => svg.rect([x - 0.89 * r, y - 0.89 * r, 1.78 * r, 1.78 * r], ""),
        Shape::Up => svg.polygon(&[(x, y - 1.4 * r), (x + 1.21 * r, y + 0.7 * r), (x - 1.21 * r, y + 0.7 * r)], ""),
        Shape::Down => svg.polygon(&[(x, y + 1.4 * r), (x + 1.21 * r, y - 0.7 * r), (x - 1.21 * r, y - 0.7 * r)], ""),
        Shape::Diamond => {
            svg.polygon(&[(x, y - 1.3 * r), (x + 1.3 * r, y), (x, y + 1.3 * r), (x - 1.3 * r, y)], "");
        }
    }
}

/// A small ×.
fn cross(svg: &mut Svg, x: f64, y: f64, r: f64) {
    svg.line((x - r, y - r), (x + r, y + r), "");
    svg.line((x - r, y + r), (x + r, y - r), "");
}

/// The mark of a legend beside its words.
pub(super) enum Glyph {
    /// The mark of a class.
    Class(u32),
    /// The ring of a support vector.
    Ring,
    /// The cross of a misclassified example.
    Cross,
    /// A dot of a colour.
    Dot(Rgb),
    /// A line with its style.
    Line(String),
    /// A patch of a colour.
    Patch(Rgb),
    /// Nothing: words alone.
    Nothing,
}

/// The entries for classes, rings and crosses that a set of points needs.
pub(super) fn entries(labels: &[String], points: &[PlotPoint]) -> Vec<(Glyph, String)> {
    let shown = if labels.len() > MAX_LEGEND_CLASSES { MAX_LEGEND_CLASSES - 1 } else { labels.len() };
    let mut entries: Vec<_> = (0..shown).map(|k| (Glyph::Class(k as u32), labels[k].clone())).collect();
    if shown < labels.len() {
        entries.push((Glyph::Nothing, format!("and {} more", labels.len() - shown)));
    }
    if points.iter().any(|p| p.support) {
        entries.push((Glyph::Ring, "support vector".to_owned()));
    }
    if points.iter().any(|p| p.wrong) {
        entries.push((Glyph::Cross, "misclassified".to_owned()));
    }
    entries
}

/// A column of entries right of the panel.
pub(super) fn legend(svg: &mut Svg, left: f64, entries: &[(Glyph, String)]) {
    for (k, (glyph, text)) in entries.iter().enumerate() {
        let (x, y) = (left + 24.0, TOP + 10.0 + 22.0 * k as f64);
        let ink = format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.2\"", svg.theme.ink());
        match glyph {
            Glyph::Class(code) => {
                let fill = svg.theme.colour(*code);
                let edge = svg.theme.outline(fill);
                svg.group(&format!("fill=\"{}\" stroke=\"{}\" stroke-width=\"0.8\"", fill.hex(), edge.hex()));
                mark(svg, shape(*code), x, y, 5.0);
                svg.end();
            }
            Glyph::Ring => svg.circle(x, y, 6.6, &ink),
            Glyph::Cross => {
                svg.group(&ink);
                cross(svg, x, y, 5.0);
                svg.end();
            }
            Glyph::Dot(colour) => svg.circle(x, y, 4.2, &format!("fill=\"{}\"", colour.hex())),
            Glyph::Line(style) => svg.line((x - 9.0, y), (x + 9.0, y), style),
            Glyph::Nothing => {}
            Glyph::Patch(colour) => svg.rect([x - 9.0, y - 6.0, 18.0, 12.0], &format!("fill=\"{}\"", colour.hex())),
        }
        let words = shortened(text, TICK_SIZE, LEGEND - 46.0);
        let style = format!("fill=\"{}\"", svg.theme.ink());
        svg.text((x + 16.0, y + 4.0), Anchor::Start, TICK_SIZE, 0.0, &style, &words);
    }
}
