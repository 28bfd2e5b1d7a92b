//! Pairs of histograms on one scale, in rows and columns: what differs between two samples is seen panel by panel.

use super::axes::{Panel, TEXT_SIZE, TICK_SIZE, header};
use super::svg::{Anchor, Svg, fitted};
use super::theme::Theme;

/// Two samples as densities over equal bins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DensityPair {
    /// Of the first sample: filled.
    pub first: Vec<f64>,
    /// Of the second: an outline.
    pub second: Vec<f64>,
    /// A few words in the corner.
    pub note: String,
}

/// Pairs of histograms in rows and columns.
#[derive(Clone, Debug, Default)]
pub struct Distributions {
    /// Title.
    pub title: String,
    /// Words at the horizontal axis.
    pub x_label: String,
    /// Both ends of the bins.
    pub range: (f64, f64),
    /// Names of the two samples.
    pub names: [String; 2],
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The panels, row by row.
    pub panels: Vec<DensityPair>,
    /// A small line under the title.
    pub note: Option<String>,
}

/// Room of a panel with what surrounds it.
const CELL: (f64, f64) = (300.0, 168.0);
/// Room left of the panels, above them and below them.
const MARGINS: (f64, f64, f64) = (50.0, 112.0, 34.0);

impl Distributions {
    /// The picture. Every panel has a height of its own, since only shapes are compared.
    pub fn draw(&self, theme: Theme) -> String {
        let (columns, rows) = (self.columns.len().max(1), self.rows.len().max(1));
        let (left, top, bottom) = MARGINS;
        let width = left + CELL.0 * columns as f64 + 10.0;
        let mut svg = Svg::new(width, top + CELL.1 * rows as f64 + bottom, &self.title, theme);
        header(&mut svg, left, width, &self.title, self.note.as_deref());
        self.key(&mut svg, left);
        let strong = format!("font-weight=\"600\" fill=\"{}\"", theme.ink());
        for (k, name) in self.columns.iter().enumerate() {
            let at = (left + CELL.0 * (k as f64 + 0.5), top - 10.0);
            svg.text(at, Anchor::Middle, TEXT_SIZE, 0.0, &strong, &fitted(name, TEXT_SIZE, CELL.0 - 20.0));
        }
        for (k, name) in self.rows.iter().enumerate() {
            let at = (24.0, top + CELL.1 * (k as f64 + 0.5) - 12.0);
            svg.text(at, Anchor::Middle, TEXT_SIZE, -90.0, &strong, &fitted(name, TEXT_SIZE, CELL.1 - 20.0));
        }
        for (k, pair) in self.panels.iter().take(columns * rows).enumerate() {
            let (column, row) = ((k % columns) as f64, (k / columns) as f64);
            let x = (left + CELL.0 * column + 8.0, left + CELL.0 * (column + 1.0) - 8.0);
            let y = (top + CELL.1 * row, top + CELL.1 * (row + 1.0) - 34.0);
            self.panel(&mut svg, pair, x, y);
        }
        let at = (left + CELL.0 * columns as f64 / 2.0, top + CELL.1 * rows as f64 + 16.0);
        svg.text(at, Anchor::Middle, TEXT_SIZE, 0.0, &format!("fill=\"{}\"", theme.ink()), &self.x_label);
        svg.finish()
    }

    /// Names of the filled shape and of the outline.
    fn key(&self, svg: &mut Svg, left: f64) {
        let y = 74.0;
        let ink = format!("fill=\"{}\"", svg.theme.ink());
        svg.rect([left, y - 10.0, 18.0, 12.0], &fill(svg.theme));
        svg.text((left + 26.0, y), Anchor::Start, TICK_SIZE, 0.0, &ink, &self.names[0]);
        svg.line((left + 120.0, y - 4.0), (left + 138.0, y - 4.0), &outline(svg.theme));
        svg.text((left + 146.0, y), Anchor::Start, TICK_SIZE, 0.0, &ink, &self.names[1]);
    }

    fn panel(&self, svg: &mut Svg, pair: &DensityPair, x: (f64, f64), y: (f64, f64)) {
        let finite = |densities: &[f64]| densities.iter().copied().filter(|d| d.is_finite()).fold(0.0, f64::max);
        let highest = finite(&pair.first).max(finite(&pair.second)).clamp(f64::MIN_POSITIVE, 1e300);
        let panel = Panel::inside(self.range, (0.0, 1.12 * highest), x, y);
        panel.grid(svg);
        let steps = |densities: &[f64]| {
            let bin = (self.range.1 - self.range.0) / densities.len().max(1) as f64;
            let ends = |(k, &d): (usize, &f64)| {
                let from = self.range.0 + bin * k as f64;
                [(panel.x.at(from), panel.y.at(d)), (panel.x.at(from + bin), panel.y.at(d))]
            };
            densities.iter().enumerate().flat_map(ends).collect::<Vec<_>>()
        };
        let mut area = steps(&pair.first);
        area.insert(0, (x.0, y.1));
        area.push((x.1, y.1));
        svg.polygon(&area, &fill(svg.theme));
        svg.polyline(&steps(&pair.second), &outline(svg.theme));
        let soft = format!("fill=\"{}\"", svg.theme.ink());
        svg.text(
            (x.0 + 8.0, y.0 + 16.0),
            Anchor::Start,
            TICK_SIZE,
            0.0,
            &soft,
            &fitted(&pair.note, TICK_SIZE, x.1 - x.0),
        );
        panel.frame(svg, "", "");
    }
}

fn fill(theme: Theme) -> String {
    format!("fill=\"{}\"", theme.pale(theme.colour(0), 0.45).hex())
}

fn outline(theme: Theme) -> String {
    format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" stroke-linejoin=\"round\"", theme.colour(1).hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_an_area_an_outline_and_its_words() {
        let pair = |note: &str| DensityPair { first: vec![0.1, 0.5], second: vec![0.3, 0.3], note: note.to_owned() };
        let figure = Distributions {
            title: "A & B".to_owned(),
            x_label: "output".to_owned(),
            range: (-1.0, 1.0),
            names: ["training".to_owned(), "test".to_owned()],
            rows: vec!["one".to_owned(), "two".to_owned()],
            columns: vec!["left".to_owned()],
            panels: vec![pair("D = 0.2"), pair("D = 0.3"), pair("no room for this")],
            note: None,
        };
        let svg = figure.draw(Theme::Light);
        let count = |what: &str| svg.matches(what).count();
        assert_eq!((count("<polygon"), count("<polyline")), (2, 2));
        for word in ["A &amp; B", "output", "training", "test", "one", "two", "left", "D = 0.2", "D = 0.3"] {
            assert!(count(&format!(">{word}<")) > 0, "{word}");
        }
        assert_eq!(count("no room"), 0);
        assert_eq!(svg, figure.draw(Theme::Light));
    }

    #[test]
    fn nothing_and_numbers_that_are_none_still_give_a_picture() {
        let odd = DensityPair { first: vec![f64::NAN, 1.0], second: vec![f64::INFINITY], note: String::new() };
        for panels in [Vec::new(), vec![odd, DensityPair::default()]] {
            let svg = Distributions { panels, range: (0.0, 1.0), ..Distributions::default() }.draw(Theme::Dark);
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}
