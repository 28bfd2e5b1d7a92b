//! Bounds over the number of examples, which has a logarithmic axis.

use super::axes::{LEGEND, Panel, TICK_SIZE, WIDTH, header};
use super::svg::{Anchor, Svg, fitted};
use super::theme::Theme;

/// A bound's curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundCurve {
    /// The bound's name.
    pub name: String,
    /// Numbers of examples, rising, and the bound there.
    pub points: Vec<(f64, f64)>,
}

/// Bounds over the number of examples.
#[derive(Clone, Debug, Default)]
pub struct SampleSizeFigure {
    /// Title.
    pub title: String,
    /// A small line under the title.
    pub note: Option<String>,
    /// The curves.
    pub curves: Vec<BoundCurve>,
    /// The wanted value, where a line is drawn.
    pub wanted: f64,
}

impl SampleSizeFigure {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        let width = WIDTH + 60.0;
        let sane = |p: &&(f64, f64)| p.0.is_finite() && p.0 > 0.0 && p.1.is_finite();
        let logs = || self.curves.iter().flat_map(|c| c.points.iter().filter(sane)).map(|p| p.0.log10());
        let (low, high) = (logs().fold(f64::INFINITY, f64::min), logs().fold(f64::NEG_INFINITY, f64::max));
        let range = if low < high { (low.floor(), high.ceil()) } else { (1.0, 8.0) };
        let mut svg = Svg::new(width, super::axes::HEIGHT, &self.title, theme);
        let panel = Panel::new(range, (0.0, 1.0), width, LEGEND + 60.0).powers_across();
        header(&mut svg, panel.left(), width, &self.title, self.note.as_deref());
        panel.grid(&mut svg);
        for (k, curve) in self.curves.iter().enumerate() {
            let colour = theme.colour(k as u32).hex();
            let at = |p: &(f64, f64)| (panel.x.at(p.0.log10()), panel.y.at(p.1.clamp(0.0, 1.0)));
            let line: Vec<(f64, f64)> = curve.points.iter().filter(sane).map(at).collect();
            svg.polyline(
                &line,
                &format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-linejoin=\"round\""),
            );
            let y = 90.0 + 20.0 * k as f64;
            svg.line(
                (panel.right() + 14.0, y - 4.0),
                (panel.right() + 34.0, y - 4.0),
                &format!("stroke=\"{colour}\" stroke-width=\"2\""),
            );
            let ink = format!("fill=\"{}\"", theme.ink());
            svg.text(
                (panel.right() + 40.0, y),
                Anchor::Start,
                TICK_SIZE,
                0.0,
                &ink,
                &fitted(&curve.name, TICK_SIZE, LEGEND + 16.0),
            );
        }
        let y = panel.y.at(self.wanted.clamp(0.0, 1.0));
        svg.line(
            (panel.left(), y),
            (panel.right(), y),
            &format!("stroke=\"{}\" stroke-dasharray=\"5 3\"", theme.ink()),
        );
        panel.frame(&mut svg, "examples", "bound");
        svg.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_is_drawn_and_named() {
        let curve = |name: &str| BoundCurve {
            name: name.to_owned(),
            points: vec![(10.0, 1.0), (1000.0, 0.2), (1e5, f64::NAN)],
        };
        let figure =
            SampleSizeFigure { title: "t".to_owned(), note: None, curves: vec![curve("a"), curve("b")], wanted: 0.1 };
        let svg = figure.draw(Theme::Light);
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains(">a<") && svg.contains(">b<") && !svg.contains("NaN"));
        assert!(SampleSizeFigure::default().draw(Theme::Dark).ends_with("</svg>\n"));
    }
}
