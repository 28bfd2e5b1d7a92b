//! Bounds beside errors: a bar for each certificate, and lines where the errors are.

use super::axes::{Panel, TEXT_SIZE, TICK_SIZE, header};
use super::rounding::at_most;
use super::svg::{Anchor, Svg, fitted, width_of};
use super::theme::Theme;

/// A certificate's bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CertificateBar {
    /// The bound's name.
    pub name: String,
    /// The lower end, 0 where there is none.
    pub lower: f64,
    /// The bound.
    pub value: f64,
    /// The quantity that is bounded, and the kind of guarantee.
    pub note: String,
    /// 0 for high probability, 1 for expectation, 2 for the rest: which colour.
    pub kind: u32,
}

/// Certificates as bars on one scale, with the errors of the model as lines.
#[derive(Clone, Debug, Default)]
pub struct CertificateFigure {
    /// Title.
    pub title: String,
    /// A small line under the title.
    pub note: Option<String>,
    /// The bars from top to bottom.
    pub bars: Vec<CertificateBar>,
    /// Errors, each with its name.
    pub errors: Vec<(String, f64)>,
}

const ROW: f64 = 26.0;
const TOP: f64 = 96.0;
const WIDTH: f64 = 820.0;
const NAMES: f64 = 190.0;
/// Dashes of the lines, so that they differ without colours, too.
const DASHES: [&str; 4] = ["5 3", "2 2", "9 3", "9 3 2 3"];

impl CertificateFigure {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        let rows = self.bars.len().max(1) as f64;
        let base = TOP + ROW * rows;
        let mut svg = Svg::new(WIDTH, base + 64.0, &self.title, theme);
        header(&mut svg, 24.0, WIDTH, &self.title, self.note.as_deref());
        let ink = format!("fill=\"{}\"", theme.ink());
        let sane = |v: f64| if v.is_finite() { v.clamp(0.0, 1.0) } else { 1.0 };
        let most =
            self.bars.iter().map(|b| sane(b.value)).chain(self.errors.iter().map(|e| sane(e.1))).fold(0.0, f64::max);
        let end = if most > 0.5 { 1.0 } else { (1.15 * most).clamp(0.01, 1.0) };
        let panel = Panel::inside((0.0, end), (0.0, rows), (NAMES, WIDTH - 190.0), (TOP, base));
        for (k, bar) in self.bars.iter().enumerate() {
            let y = TOP + ROW * k as f64;
            let middle = y + 0.5 * ROW + 4.0;
            let colour = theme.pale(theme.colour(bar.kind.min(2)), 0.65).hex();
            let (from, to) = (panel.x.at(sane(bar.lower).min(end)), panel.x.at(sane(bar.value).min(end)));
            svg.rect([from, y + 4.0, (to - from).max(1.0), ROW - 8.0], &format!("fill=\"{colour}\""));
            svg.text(
                (NAMES - 10.0, middle),
                Anchor::End,
                TICK_SIZE,
                0.0,
                &ink,
                &fitted(&bar.name, TICK_SIZE, NAMES - 20.0),
            );
            let text = format!("{}  {}", at_most(sane(bar.value), 3), bar.note);
            svg.text((WIDTH - 182.0, middle), Anchor::Start, TICK_SIZE, 0.0, &ink, &fitted(&text, TICK_SIZE, 178.0));
        }
        let across = |error: f64| panel.x.at(sane(error).min(end));
        // rims of paper, so that lines are seen on bars of their colour; before all lines, so that none hides its neighbour
        let rim = format!("stroke=\"{}\" stroke-width=\"4\"", theme.paper().hex());
        for (_, error) in &self.errors {
            svg.line((across(*error), TOP - 6.0), (across(*error), base), &rim);
        }
        let mut left = 24.0;
        for (k, (name, error)) in self.errors.iter().enumerate() {
            let x = across(*error);
            let (colour, dashes) = (theme.colour(3 + k as u32).hex(), DASHES[k % DASHES.len()]);
            let stroke = format!("stroke=\"{colour}\" stroke-width=\"1.6\" stroke-dasharray=\"{dashes}\"");
            svg.line((x, TOP - 6.0), (x, base), &stroke);
            let text = format!("{name} {error:.4}");
            svg.line((left, 72.0), (left + 28.0, 72.0), &stroke);
            svg.text((left + 34.0, 76.0), Anchor::Start, TICK_SIZE, 0.0, &ink, &text);
            left += 34.0 + width_of(&text, TICK_SIZE) + 24.0;
        }
        for (value, word) in super::axes::ticks((0.0, end), 6) {
            let x = panel.x.at(value);
            svg.line((x, base), (x, base + 5.0), &format!("stroke=\"{}\"", theme.ink()));
            svg.text((x, base + 20.0), Anchor::Middle, TICK_SIZE, 0.0, &ink, &word);
        }
        svg.line((NAMES, base), (WIDTH - 190.0, base), &format!("stroke=\"{}\"", theme.ink()));
        svg.text((0.5 * (NAMES + WIDTH - 190.0), base + 44.0), Anchor::Middle, TEXT_SIZE, 0.0, &ink, "probability");
        svg.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_certificate_has_a_bar_and_every_error_a_line() {
        let bar = |name: &str, value| CertificateBar { name: name.to_owned(), value, ..CertificateBar::default() };
        let figure = CertificateFigure {
            title: "svc".to_owned(),
            note: None,
            bars: vec![bar("scenario", 0.11), bar("vc", f64::INFINITY), bar("odd", f64::NAN)],
            errors: vec![("training error".to_owned(), 0.02), ("cross-validated error".to_owned(), 0.04)],
        };
        let svg = figure.draw(Theme::Light);
        assert!(
            svg.matches("<rect").count() >= 3 && svg.contains(">scenario<") && svg.contains(">training error 0.0200<")
        );
        // a rim, a line and its mark in the legend for each, told apart by their dashes
        assert!(svg.contains(">cross-validated error 0.0400<") && svg.matches("stroke-width=\"4\"").count() == 2);
        assert_eq!((svg.matches("\"5 3\"").count(), svg.matches("\"2 2\"").count()), (2, 2));
        assert!(!svg.contains("NaN") && !svg.contains("inf\""));
        assert!(CertificateFigure::default().draw(Theme::Dark).ends_with("</svg>\n"));
    }
}
