//! Axes: ranges, linear scales, round ticks, the frame with its words.

use super::svg::{Anchor, Svg, fitted, width_of};

/// Width of a figure.
pub(super) const WIDTH: f64 = 720.0;
/// Height of a figure.
pub(super) const HEIGHT: f64 = 560.0;
/// The height at which the plot begins, below title and note.
pub(super) const TOP: f64 = 70.0;
/// Room below the plot for ticks and label.
pub(super) const BOTTOM: f64 = 58.0;
/// Room right of the plot for a legend.
pub(super) const LEGEND: f64 = 146.0;
/// Room right of the plot without one.
pub(super) const MARGIN: f64 = 26.0;
/// Font size of tick labels.
pub(super) const TICK_SIZE: f64 = 12.0;
/// Size of axis labels.
pub(super) const TEXT_SIZE: f64 = 14.0;

/// A range that holds all finite numbers, widened by a part of itself; never empty, whatever comes in.
pub(super) fn range(values: impl IntoIterator<Item = f64>, widen: f64) -> (f64, f64) {
    // Beyond this the width of the range could overflow.
    let finite = values.into_iter().filter(|v| v.is_finite()).map(|v| v.clamp(-1e300, 1e300));
    let (lo, hi) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
    if lo > hi {
        return (0.0, 1.0);
    }
    let size = lo.abs().max(hi.abs());
    if hi - lo <= 1e-10 * size || hi == lo {
        let half = if size == 0.0 { 0.5 } else { 0.1 * size };
        return (lo - half, hi + half);
    }
    (lo - widen * (hi - lo), hi + widen * (hi - lo))
}

/// A linear map from numbers to places.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    /// The numbers at the two ends.
    pub(super) of: (f64, f64),
    /// The places of the two ends.
    pub(super) to: (f64, f64),
}

impl Scale {
    /// The place of a number.
    pub(super) fn at(&self, value: f64) -> f64 {
        self.to.0 + (value - self.of.0) / (self.of.1 - self.of.0) * (self.to.1 - self.to.0)
    }

    /// True if a number lies in the range.
    pub(super) fn holds(&self, value: f64) -> bool {
        value >= self.of.0 && value <= self.of.1
    }
}

/// Round numbers in a range, about as many as wanted, with their labels.
pub(super) fn ticks((lo, hi): (f64, f64), wanted: usize) -> Vec<(f64, String)> {
    let raw = (hi - lo) / wanted.max(1) as f64;
    if !(raw.is_finite() && raw > 0.0) {
        return Vec::new();
    }
    let power = raw.log10().floor();
    let unit = 10_f64.powf(power);
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * unit >= raw * 0.999).unwrap_or(10.0);
    let step = factor * unit;
    let digits = step.log10() + 1e-9;
    let (first, last) = ((lo / step - 1e-6).ceil(), (hi / step + 1e-6).floor());
    let largest = lo.abs().max(hi.abs());
    (0..=(last - first).clamp(0.0, 50.0) as usize)
        .map(|k| {
            let value = (first + k as f64) * step;
            let text = if largest < 1e6 && step > 1e-5 {
                format!("{value:.*}", (-digits.floor()).max(0.0) as usize)
            } else if value == 0.0 {
                "0".to_owned()
            } else {
                format!("{value:.*e}", (value.abs().log10().floor() - digits.floor()).clamp(0.0, 12.0) as usize)
            };
            (value, minus(&text))
        })
        .collect()
}

/// A factor times a power of ten, in plain digits where these are few.
fn power_of_ten(power: f64, factor: f64) -> String {
    let plain = (-4.0..=5.0).contains(&power);
    let text = if plain {
        format!("{:.*}", (-power).max(0.0) as usize, factor * 10_f64.powf(power))
    } else {
        format!("{factor}e{power}")
    };
    minus(&text)
}

/// A number as text with a true minus sign; minus nothing is nothing.
pub(super) fn minus(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        Some(rest) => format!("−{}", rest.replace("e-", "e−")),
        None => text.replace("e-", "e−"),
    }
}

/// Title, and note below it.
pub(super) fn header(svg: &mut Svg, left: f64, width: f64, title: &str, note: Option<&str>) {
    let room = width - left - 16.0;
    let size = if width_of(title, 17.0) <= room { 17.0 } else { TEXT_SIZE };
    let style = format!("font-weight=\"600\" fill=\"{}\"", svg.theme.ink());
    svg.text((left, 30.0), Anchor::Start, size, 0.0, &style, &fitted(title, size, room));
    if let Some(note) = note {
        let style = format!("fill=\"{}\"", svg.theme.soft());
        svg.text((left, 51.0), Anchor::Start, TICK_SIZE, 0.0, &style, &fitted(note, TICK_SIZE, room));
    }
}

/// The part of a figure inside the axes.
pub(super) struct Panel {
    /// From left to right.
    pub(super) x: Scale,
    /// From bottom to top.
    pub(super) y: Scale,
    x_ticks: Vec<(f64, String)>,
    y_ticks: Vec<(f64, String)>,
}

impl Panel {
    /// A panel for two ranges in a figure of a width, with so much room on the right.
    pub(super) fn new(x: (f64, f64), y: (f64, f64), width: f64, right: f64) -> Self {
        let y_ticks = ticks(y, 6);
        let longest = y_ticks.iter().map(|(_, text)| width_of(text, TICK_SIZE)).fold(0.0, f64::max);
        let left = 44.0 + longest.max(16.0);
        let mut x_ticks = ticks(x, 7);
        let room = (width - right - left) / x_ticks.len().max(1) as f64;
        if x_ticks.iter().any(|(_, text)| width_of(text, TICK_SIZE) + 10.0 > room) {
            x_ticks = ticks(x, 3);
        }
        Self {
            x: Scale { of: x, to: (left, width - right) },
            y: Scale { of: y, to: (HEIGHT - BOTTOM, TOP) },
            x_ticks,
            y_ticks,
        }
    }

    /// A small panel for two ranges in a given place, without numbers on the vertical axis.
    pub(super) fn inside(x: (f64, f64), y: (f64, f64), across: (f64, f64), (top, bottom): (f64, f64)) -> Self {
        let x_ticks = ticks(x, 6);
        Self { x: Scale { of: x, to: across }, y: Scale { of: y, to: (bottom, top) }, x_ticks, y_ticks: Vec::new() }
    }

    /// The same between two heights, with about so many ticks on the vertical axis.
    pub(super) fn between(mut self, top: f64, bottom: f64, wanted: usize) -> Self {
        self.y_ticks = ticks(self.y.of, wanted);
        self.y.to = (bottom, top);
        self
    }

    /// The same for logarithms to base ten on the vertical axis: labels are the numbers themselves, at whole powers, or at
    /// 2 and 5 times these where the range holds few.
    pub(super) fn powers(mut self) -> Self {
        self.y_ticks = powers_in(&self.y);
        let longest = self.y_ticks.iter().map(|(_, text)| width_of(text, TICK_SIZE)).fold(16.0, f64::max);
        self.x.to.0 = 44.0 + longest;
        self
    }

    /// The same for logarithms to base ten on the horizontal axis.
    pub(super) fn powers_across(mut self) -> Self {
        self.x_ticks = powers_in(&self.x);
        self
    }

    /// The same with names at 0, 1, 2, … on the horizontal axis; where they do not all fit, every so many.
    pub(super) fn named(mut self, names: &[String]) -> Self {
        let widest = names.iter().map(|n| width_of(n, TICK_SIZE)).fold(0.0, f64::max) + 10.0;
        let room = (self.right() - self.left()) / names.len().max(1) as f64;
        let step = (widest / room).ceil().max(1.0) as usize;
        self.x_ticks = names.iter().enumerate().step_by(step).map(|(k, n)| (k as f64, n.clone())).collect();
        self
    }

    /// The left end.
    pub(super) fn left(&self) -> f64 {
        self.x.to.0
    }

    /// The right end.
    pub(super) fn right(&self) -> f64 {
        self.x.to.1
    }

    /// The place of a point, if it is finite and inside.
    pub(super) fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        (self.x.holds(x) && self.y.holds(y)).then(|| (self.x.at(x), self.y.at(y)))
    }

    /// Grid lines, to be drawn before anything else.
    pub(super) fn grid(&self, svg: &mut Svg) {
        svg.group(&format!("stroke=\"{}\" stroke-width=\"1\"", svg.theme.faint()));
        for (value, _) in &self.x_ticks {
            svg.line((self.x.at(*value), self.y.to.0), (self.x.at(*value), self.y.to.1), "");
        }
        for (value, _) in &self.y_ticks {
            svg.line((self.x.to.0, self.y.at(*value)), (self.x.to.1, self.y.at(*value)), "");
        }
        svg.end();
    }

    /// Frame, ticks and labels, to be drawn after everything else.
    pub(super) fn frame(&self, svg: &mut Svg, x_label: &str, y_label: &str) {
        let ((left, right), (bottom, top)) = (self.x.to, self.y.to);
        let soft = svg.theme.soft();
        let style = format!("fill=\"none\" stroke=\"{soft}\" stroke-width=\"1\"");
        svg.rect([left, top, right - left, bottom - top], &style);
        svg.group(&format!("stroke=\"{soft}\" stroke-width=\"1\""));
        for (value, _) in &self.x_ticks {
            svg.line((self.x.at(*value), bottom), (self.x.at(*value), bottom + 5.0), "");
        }
        for (value, _) in &self.y_ticks {
            svg.line((left - 5.0, self.y.at(*value)), (left, self.y.at(*value)), "");
        }
        svg.end();
        svg.group(&format!("fill=\"{soft}\""));
        for (value, text) in &self.x_ticks {
            svg.text((self.x.at(*value), bottom + 19.0), Anchor::Middle, TICK_SIZE, 0.0, "", text);
        }
        for (value, text) in &self.y_ticks {
            svg.text((left - 9.0, self.y.at(*value) + 4.0), Anchor::End, TICK_SIZE, 0.0, "", text);
        }
        svg.end();
        labels(svg, (left, right), (bottom, top), bottom + 43.0, x_label, y_label);
    }
}

/// Whole powers of ten on a scale of logarithms, and 2 and 5 times these where it holds few.
fn powers_in(scale: &Scale) -> Vec<(f64, String)> {
    let (low, high) = scale.of;
    let step = ((high - low) / 8.0).ceil().max(1.0);
    let factors: &[f64] = if high - low < 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let (first, last) = ((low / step).floor(), (high / step).ceil());
    (0..=(last - first).clamp(0.0, 50.0) as usize)
        .flat_map(|k| factors.iter().map(move |f| ((first + k as f64) * step, *f)))
        .map(|(power, factor)| (power + factor.log10(), power_of_ten(power, factor)))
        .filter(|(place, _)| scale.holds(*place))
        .collect()
}

/// The words along the two axes, those of the first on a base line.
pub(super) fn labels(svg: &mut Svg, x: (f64, f64), y: (f64, f64), base: f64, x_label: &str, y_label: &str) {
    let ink = format!("fill=\"{}\"", svg.theme.ink());
    let at = (f64::midpoint(x.0, x.1), base);
    svg.text(at, Anchor::Middle, TEXT_SIZE, 0.0, &ink, &fitted(x_label, TEXT_SIZE, x.1 - x.0));
    let at = (22.0, f64::midpoint(y.0, y.1));
    svg.text(at, Anchor::Middle, TEXT_SIZE, -90.0, &ink, &fitted(y_label, TEXT_SIZE, y.0 - y.1));
}
