//! Tables of numbers as colours: confusion matrices, errors over a grid of parameters.

use super::axes::{HEIGHT, Scale, TICK_SIZE, TOP, WIDTH, header, labels, minus, range, ticks};
use super::svg::{Anchor, Svg, shortened, width_of};
use super::theme::Theme;

/// Room on the right for the colour bar.
pub(super) const BAR: f64 = 104.0;
/// Largest width of a tick label beside a row.
pub(super) const MAX_LABEL_WIDTH: f64 = 120.0;

/// A table of numbers, the first row on top.
#[derive(Clone, Debug, Default)]
pub struct Heat {
    /// Title.
    pub title: String,
    /// Names of the rows.
    pub row_label: String,
    /// Names of the columns.
    pub column_label: String,
    /// A name for each row.
    pub row_ticks: Vec<String>,
    /// A name for each column.
    pub column_ticks: Vec<String>,
    /// The numbers, row by row.
    pub values: Vec<f64>,
    /// Decimals to print.
    pub decimals: usize,
    /// Words in the cells instead of the numbers, on one line or two; empty: the numbers.
    pub texts: Vec<String>,
    /// The ends of the colours; `None`: those of the numbers.
    pub span: Option<(f64, f64)>,
    /// Row and column of a cell to frame, such as the best one.
    pub mark: Option<(usize, usize)>,
    /// Row and column of a cell to frame with dashes, such as one that was preferred to the best.
    pub second: Option<(usize, usize)>,
    /// A small line under the title.
    pub note: Option<String>,
}

impl Heat {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        let (rows, columns) = (self.row_ticks.len(), self.column_ticks.len());
        let longest = self.row_ticks.iter().map(|t| width_of(t, TICK_SIZE)).fold(16.0, f64::max).min(MAX_LABEL_WIDTH);
        let (left, right) = (46.0 + longest, WIDTH - BAR);
        let across = (right - left) / columns.max(1) as f64;
        // Names that do not fit below their column are written aslant.
        let widest = self.column_ticks.iter().map(|t| width_of(t, TICK_SIZE)).fold(0.0, f64::max);
        let aslant = widest > across - 6.0;
        let below = if aslant { 24.0 + 0.7 * widest.min(MAX_LABEL_WIDTH) } else { 24.0 };
        let bottom = HEIGHT - 34.0 - below;
        let down = (bottom - TOP) / rows.max(1) as f64;

        let mut svg = Svg::new(WIDTH, HEIGHT, &self.title, theme);
        header(&mut svg, left, WIDTH, &self.title, self.note.as_deref());
        let finite = || self.values.iter().copied().filter(|v| v.is_finite());
        let lowest = finite().fold(f64::INFINITY, f64::min);
        let of = self.span.unwrap_or_else(|| range(finite(), 0.0));
        let flat = self.span.is_none() && of.0 < lowest;
        let shade = |v: f64| if flat { 0.35 } else { (v - of.0) / (of.1 - of.0) };
        let cell = |r: usize, c: usize| [left + c as f64 * across, TOP + r as f64 * down, across, down];

        svg.group(&format!("stroke=\"{}\" stroke-width=\"1\"", theme.paper().hex()));
        for (k, &value) in self.values.iter().enumerate().take(rows * columns) {
            let fill = if value.is_finite() { theme.sequential(shade(value)).hex() } else { theme.faint().to_owned() };
            svg.rect(cell(k / columns, k % columns), &format!("fill=\"{fill}\""));
        }
        svg.end();
        self.numbers(&mut svg, columns, cell, shade);
        for (place, code, inset, dashes) in
            [(self.mark, 1, 1.5, ""), (self.second, 2, 5.0, " stroke-dasharray=\"7 4\"")]
        {
            if let Some((r, c)) = place.filter(|&(r, c)| r < rows && c < columns) {
                let [x, y, w, h] = cell(r, c);
                let style = format!("fill=\"none\" stroke=\"{}\" stroke-width=\"3\"{dashes}", theme.colour(code).hex());
                svg.rect([x + inset, y + inset, w - 2.0 * inset, h - 2.0 * inset], &style);
            }
        }

        svg.group(&format!("fill=\"{}\"", theme.soft()));
        // Where cells are small, only every so many are named.
        for r in (0..rows).step_by((15.0 / down).ceil().max(1.0) as usize) {
            let at = (left - 8.0, TOP + (r as f64 + 0.5) * down + 4.0);
            svg.text(at, Anchor::End, TICK_SIZE, 0.0, "", &shortened(&self.row_ticks[r], TICK_SIZE, MAX_LABEL_WIDTH));
        }
        for c in (0..columns).step_by((15.0 / across).ceil().max(1.0) as usize) {
            let x = left + (c as f64 + 0.5) * across;
            let (anchor, turn) = if aslant { (Anchor::End, -45.0) } else { (Anchor::Middle, 0.0) };
            let at = if aslant { (x + 5.0, bottom + 15.0) } else { (x, bottom + 18.0) };
            svg.text(at, anchor, TICK_SIZE, turn, "", &shortened(&self.column_ticks[c], TICK_SIZE, MAX_LABEL_WIDTH));
        }
        svg.end();
        labels(&mut svg, (left, right), (bottom, TOP), HEIGHT - 14.0, &self.column_label, &self.row_label);
        if lowest.is_finite() && !flat {
            bar(&mut svg, right + 24.0, (bottom, TOP), of);
        }
        svg.finish()
    }

    /// The numbers in the cells, where they fit.
    fn numbers(
        &self,
        svg: &mut Svg,
        columns: usize,
        cell: impl Fn(usize, usize) -> [f64; 4],
        shade: impl Fn(f64) -> f64,
    ) {
        let text = |v: f64| if v.is_finite() { minus(&format!("{v:.*}", self.decimals)) } else { "–".to_owned() };
        let of = |k: usize, v: f64| self.texts.get(k).cloned().unwrap_or_else(|| text(v));
        let all: Vec<String> = self.values.iter().enumerate().map(|(k, &v)| of(k, v)).collect();
        let longest = all.iter().flat_map(|t| t.lines()).map(|t| t.chars().count()).max().unwrap_or(0);
        let most = all.iter().map(|t| t.lines().count()).max().unwrap_or(1).max(1);
        let [_, _, across, down] = cell(0, 0);
        let mut size = (across / (longest as f64 * 0.6 + 0.8)).min(down * 0.7 / most as f64).min(15.0);
        // the first lines alone, where both do not fit
        let lines = if size < MIN_TEXT_SIZE { 1 } else { most };
        if lines < most {
            let longest = all.iter().filter_map(|t| t.lines().next()).map(|t| t.chars().count()).max().unwrap_or(0);
            size = (across / (longest as f64 * 0.6 + 0.8)).min(down * 0.7).min(15.0);
        }
        if size < MIN_TEXT_SIZE || columns == 0 {
            return;
        }
        svg.group("stroke=\"none\"");
        for (k, &value) in self.values.iter().enumerate().take(self.row_ticks.len() * columns) {
            let [x, y, w, h] = cell(k / columns, k % columns);
            let ink = if value.is_finite() { svg.theme.sequential(shade(value)).words() } else { svg.theme.ink() };
            let style = format!("fill=\"{ink}\"");
            let own: Vec<&str> = all[k].lines().take(lines).collect();
            for (line, text) in own.iter().enumerate() {
                let down = (line as f64 - 0.5 * (own.len() as f64 - 1.0)) * 1.25 * size;
                svg.text((x + 0.5 * w, y + 0.5 * h + 0.35 * size + down), Anchor::Middle, size, 0.0, &style, text);
            }
        }
        svg.end();
    }
}

/// Smallest type in a cell.
const MIN_TEXT_SIZE: f64 = 7.0;

/// Meaning of the colours.
pub(super) fn bar(svg: &mut Svg, left: f64, (bottom, top): (f64, f64), of: (f64, f64)) {
    let (width, steps) = (16.0, 64);
    let scale = Scale { of, to: (bottom, top) };
    let height = (bottom - top) / f64::from(steps);
    svg.group("shape-rendering=\"crispEdges\"");
    for k in 0..steps {
        let fill = format!("fill=\"{}\"", svg.theme.sequential((f64::from(k) + 0.5) / f64::from(steps)).hex());
        svg.rect([left, bottom - f64::from(k + 1) * height, width, height], &fill);
    }
    svg.end();
    let soft = svg.theme.soft();
    svg.rect([left, top, width, bottom - top], &format!("fill=\"none\" stroke=\"{soft}\" stroke-width=\"1\""));
    svg.group(&format!("fill=\"{soft}\""));
    for (value, text) in ticks(of, 5) {
        svg.text((left + width + 6.0, scale.at(value) + 4.0), Anchor::Start, TICK_SIZE, 0.0, "", &text);
    }
    svg.end();
}
