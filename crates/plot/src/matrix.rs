//! Kernel matrices as images, class by class.

use super::axes::{BOTTOM, HEIGHT, TICK_SIZE, TOP, WIDTH, header, labels, range};
use super::heat::{BAR, MAX_LABEL_WIDTH, bar};
use super::pixels::data_uri;
use super::svg::{Anchor, Svg, shortened, width_of};
use super::theme::{Rgb, Theme};

/// Smallest height of a group that is named.
const MIN_NAMED_HEIGHT: f64 = 13.0;

/// A square matrix as shades, the first row on top.
#[derive(Clone, Debug, Default)]
pub struct MatrixImage {
    /// Title.
    pub title: String,
    /// Names of the rows and columns.
    pub label: String,
    /// Cells in a row, and in a column.
    pub cells: usize,
    /// Their values, row by row.
    pub values: Vec<f64>,
    /// Neighbouring rows that belong together, in order: a name and how many cells; may be empty.
    pub groups: Vec<(String, usize)>,
    /// A small line under the title.
    pub note: Option<String>,
}

impl MatrixImage {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        let longest = self.groups.iter().map(|g| width_of(&g.0, TICK_SIZE)).fold(0.0, f64::max).min(MAX_LABEL_WIDTH);
        let left = 46.0 + longest;
        let side = (HEIGHT - TOP - BOTTOM).min(WIDTH - BAR - left);
        let (right, bottom) = (left + side, TOP + side);
        let mut svg = Svg::new(WIDTH, HEIGHT, &self.title, theme);
        header(&mut svg, left, WIDTH, &self.title, self.note.as_deref());
        let of = range(self.values.iter().copied(), 0.0);
        if self.cells > 0 && self.values.len() == self.cells * self.cells {
            // the last shade is for what is no number
            let mut palette: Vec<Rgb> = (0..255).map(|k| theme.sequential(f64::from(k) / 254.0)).collect();
            palette.push(theme.paper());
            let shade = |v: &f64| if v.is_finite() { ((v - of.0) / (of.1 - of.0) * 254.0).round() as u8 } else { 255 };
            let shades: Vec<u8> = self.values.iter().map(shade).collect();
            svg.image([left, TOP, side, side], &data_uri(self.cells, &shades, &palette));
            bar(&mut svg, right + 24.0, (bottom, TOP), of);
        }
        let soft = theme.soft();
        svg.rect([left, TOP, side, side], &format!("fill=\"none\" stroke=\"{soft}\" stroke-width=\"1\""));
        self.groups(&mut svg, left, side);
        labels(&mut svg, (left, right), (bottom, TOP), HEIGHT - 14.0, &self.label, &self.label);
        svg.finish()
    }

    /// Lines between groups, and names beside and below those that are large enough.
    fn groups(&self, svg: &mut Svg, left: f64, side: f64) {
        let unit = side / self.cells.max(1) as f64;
        let mut edges = vec![0];
        edges.extend(self.groups.iter().scan(0, |end, (_, cells)| {
            *end = (*end + cells).min(self.cells);
            Some(*end)
        }));
        // seen on dark and on light ground
        for (ink, weight) in [(svg.theme.paper().hex(), "2.4"), (svg.theme.ink().to_owned(), "1")] {
            svg.group(&format!("stroke=\"{ink}\" stroke-width=\"{weight}\""));
            for &edge in edges.iter().skip(1).take(self.groups.len().saturating_sub(1)) {
                let at = edge as f64 * unit;
                svg.line((left + at, TOP), (left + at, TOP + side), "");
                svg.line((left, TOP + at), (left + side, TOP + at), "");
            }
            svg.end();
        }
        svg.group(&format!("fill=\"{}\"", svg.theme.soft()));
        for ((name, _), edge) in self.groups.iter().zip(edges.windows(2)) {
            let (middle, room) = ((edge[0] + edge[1]) as f64 / 2.0 * unit, (edge[1] - edge[0]) as f64 * unit);
            if room < MIN_NAMED_HEIGHT {
                continue;
            }
            let beside = shortened(name, TICK_SIZE, MAX_LABEL_WIDTH);
            svg.text((left - 8.0, TOP + middle + 4.0), Anchor::End, TICK_SIZE, 0.0, "", &beside);
            let below = shortened(name, TICK_SIZE, (room - 6.0).max(2.0 * TICK_SIZE));
            svg.text((left + middle, TOP + side + 18.0), Anchor::Middle, TICK_SIZE, 0.0, "", &below);
        }
        svg.end();
    }
}
