//! Reliability: how often predicted probabilities come true.

use super::axes::{LEGEND, Panel, TOP, WIDTH, header};
use super::marks::{Glyph, legend};
use super::svg::Svg;
use super::theme::Theme;

/// Higher than other figures: the histogram stands below the diagram.
const HEIGHT: f64 = 660.0;
/// The lower edge of the diagram.
const DIAGRAM_BOTTOM: f64 = 464.0;
/// The upper and the lower edge of the histogram.
const HISTOGRAM_EDGES: (f64, f64) = (504.0, 602.0);
/// Bars of the histogram.
const BARS: usize = 25;

/// A group of examples with neighbouring predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// The mean probability that was predicted.
    pub predicted: f64,
    /// The share that came true.
    pub observed: f64,
    /// The lower end of an interval around that share.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Observed shares against predicted probabilities, and a histogram of these; honest probabilities lie on the diagonal.
#[derive(Clone, Debug, Default)]
pub struct ReliabilityDiagram {
    /// Title.
    pub title: String,
    /// Words at the horizontal axis, where the predictions are.
    pub x_label: String,
    /// Words at the vertical axis, where the observed shares are.
    pub y_label: String,
    /// Groups of examples with rising predictions.
    pub shares: Vec<Share>,
    /// The prediction of every example, for the histogram.
    pub predictions: Vec<f64>,
    /// A small line under the title.
    pub note: Option<String>,
}

impl ReliabilityDiagram {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        let mut counts = [0_usize; BARS];
        for p in self.predictions.iter().filter(|p| p.is_finite()) {
            counts[((p * BARS as f64).max(0.0) as usize).min(BARS - 1)] += 1;
        }
        let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let unit = (-0.015, 1.015);
        let mut upper = Panel::new(unit, unit, WIDTH, LEGEND).between(TOP, DIAGRAM_BOTTOM, 6);
        let mut lower =
            Panel::new(unit, (0.0, 1.08 * most), WIDTH, LEGEND).between(HISTOGRAM_EDGES.0, HISTOGRAM_EDGES.1, 3);
        // one axis for both
        let left = upper.left().max(lower.left());
        (upper.x.to.0, lower.x.to.0) = (left, left);
        let mut svg = Svg::new(WIDTH, HEIGHT, &self.title, theme);
        header(&mut svg, left, WIDTH, &self.title, self.note.as_deref());
        upper.grid(&mut svg);
        lower.grid(&mut svg);

        let dashed = format!("stroke=\"{}\" stroke-width=\"1.4\" stroke-dasharray=\"6 4\"", theme.soft());
        let ends = ((upper.x.at(0.0), upper.y.at(0.0)), (upper.x.at(1.0), upper.y.at(1.0)));
        svg.line(ends.0, ends.1, &dashed);
        let ink = theme.colour(0);
        let style = format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"", ink.hex());
        let line: Vec<_> = self.shares.iter().filter_map(|s| upper.place(s.predicted, s.observed)).collect();
        svg.polyline(&line, &format!("{style} stroke-opacity=\"0.45\""));
        svg.group(&style);
        // an interval of no length is none
        for share in self.shares.iter().filter(|s| s.low < s.high) {
            if let (Some((x, low)), Some((_, high))) =
                (upper.place(share.predicted, share.low), upper.place(share.predicted, share.high))
            {
                svg.line((x, low), (x, high), "");
                svg.line((x - 4.0, low), (x + 4.0, low), "");
                svg.line((x - 4.0, high), (x + 4.0, high), "");
            }
        }
        svg.end();
        svg.group(&format!("fill=\"{}\" stroke=\"{}\" stroke-width=\"1\"", ink.hex(), theme.paper().hex()));
        for (x, y) in line {
            svg.circle(x, y, 5.0, "");
        }
        svg.end();

        let pale = theme.pale(ink, 0.45);
        let edge = |k: usize| lower.x.at(k as f64 / BARS as f64);
        let bars: Vec<[f64; 4]> = (0..BARS)
            .filter(|&k| counts[k] > 0)
            .map(|k| {
                let top = lower.y.at(counts[k] as f64);
                [edge(k) + 0.5, top, edge(k + 1) - edge(k) - 1.0, lower.y.to.0 - top]
            })
            .collect();
        svg.rects(&bars, &format!("fill=\"{}\"", pale.hex()));
        upper.frame(&mut svg, "", &self.y_label);
        lower.frame(&mut svg, &self.x_label, "examples");
        let mut key = vec![(Glyph::Line(dashed), "perfect".to_owned())];
        if !self.shares.is_empty() {
            key.push((Glyph::Dot(ink), "observed".to_owned()));
        }
        if self.shares.iter().any(|s| s.low < s.high) {
            key.push((Glyph::Line(style), "95 % interval".to_owned()));
        }
        if !bars.is_empty() {
            key.push((Glyph::Patch(pale), "predictions".to_owned()));
        }
        legend(&mut svg, upper.right(), &key);
        svg.finish()
    }
}
