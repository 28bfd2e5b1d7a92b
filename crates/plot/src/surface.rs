//! Decision surfaces: what a classifier says at every point of the plane, and the examples it learned from.

use super::axes::{HEIGHT, LEGEND, Panel, WIDTH, header, range};
use super::contour::{Grid, smooth};
use super::marks::{Glyph, PlotPoint, entries, legend, points};
use super::svg::Svg;
use super::theme::{Rgb, Theme};
use std::collections::BTreeMap;

/// Shades of decision values on either side; few enough that neighbouring cells often share one.
const SHADES: f64 = 12.0;

/// The classes in the plane.
#[derive(Clone, Debug, Default)]
pub struct DecisionSurface {
    /// Title.
    pub title: String,
    /// Words at the horizontal axis.
    pub x_label: String,
    /// Words at the vertical axis.
    pub y_label: String,
    /// Left and right edge of the grid.
    pub x: (f64, f64),
    /// Bottom and top edge of the grid.
    pub y: (f64, f64),
    /// Cells from left to right.
    pub columns: usize,
    /// Cells from bottom to top.
    pub rows: usize,
    /// The class at the centre of each cell, row by row, the bottom row first.
    pub codes: Vec<u32>,
    /// The decision value at the centre of each cell, positive for class 1; used where there are two classes.
    pub scores: Option<Vec<f64>>,
    /// True if values of ±1 mean a margin, whose lines are drawn.
    pub margin: bool,
    /// Names of the classes.
    pub labels: Vec<String>,
    /// The examples.
    pub points: Vec<PlotPoint>,
    /// A small line under the title.
    pub note: Option<String>,
}

impl DecisionSurface {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        let (x, y) = (range([self.x.0, self.x.1], 0.0), range([self.y.0, self.y.1], 0.0));
        let panel = Panel::new(x, y, WIDTH, LEGEND);
        let mut svg = Svg::new(WIDTH, HEIGHT, &self.title, theme);
        header(&mut svg, panel.left(), WIDTH, &self.title, self.note.as_deref());
        let mut key = entries(&self.labels, &self.points);
        let cells = self.columns.checked_mul(self.rows).unwrap_or(0);
        let scores = self.scores.as_ref().filter(|s| s.len() == cells && self.labels.len() <= 2);
        if let Some(scores) = scores {
            // Nearly the largest size: a single peak must not bleach the rest.
            let mut sizes: Vec<f64> = scores.iter().map(|s| s.abs()).filter(|s| s.is_finite()).collect();
            sizes.sort_unstable_by(f64::total_cmp);
            let full = sizes.get(sizes.len() * 95 / 100).copied().unwrap_or(1.0).max(f64::MIN_POSITIVE);
            self.fill(&mut svg, &panel, |k| {
                let shade = (scores[k] / full).clamp(-1.0, 1.0) * SHADES;
                // Rounded away from zero, so that no cell lies between the two sides.
                scores[k].is_finite().then(|| theme.diverging(shade.signum() * shade.abs().ceil().max(1.0) / SHADES))
            });
            let grid = Grid::of_cells(self.columns, self.rows, |c, r| scores[r * self.columns + c]);
            let ink = theme.ink();
            let plain = format!("fill=\"none\" stroke=\"{ink}\" stroke-width=\"1.8\"");
            let dashed = format!("fill=\"none\" stroke=\"{ink}\" stroke-width=\"1.1\" stroke-dasharray=\"5 4\"");
            let levels = [(0.0, &plain), (-1.0, &dashed), (1.0, &dashed)];
            for (level, style) in levels.into_iter().take(if self.margin { 3 } else { 1 }).rev() {
                self.lines(&mut svg, &panel, grid.lines(level), style);
            }
            key.push((Glyph::Line(plain), "f = 0".to_owned()));
            if self.margin && scores.iter().any(|s| s.abs() > 1.0) {
                key.push((Glyph::Line(dashed), "f = ±1".to_owned()));
            }
        } else if self.codes.len() == cells {
            self.fill(&mut svg, &panel, |k| Some(theme.ground(self.codes[k])));
            let ink = theme.ink();
            let style = format!("fill=\"none\" stroke=\"{ink}\" stroke-width=\"1.3\" stroke-linejoin=\"round\"");
            let mut codes = self.codes.clone();
            codes.sort_unstable();
            codes.dedup();
            // The last class has all its boundaries drawn by the others.
            for code in codes.iter().rev().skip(1) {
                let inside = |c: usize, r: usize| f64::from(self.codes[r * self.columns + c] == *code);
                let grid = Grid::of_cells(self.columns, self.rows, inside);
                let mut lines = grid.lines(0.5);
                for line in &mut lines {
                    smooth(line);
                }
                self.lines(&mut svg, &panel, lines, &style);
            }
        }
        points(&mut svg, &panel, &self.points);
        panel.frame(&mut svg, &self.x_label, &self.y_label);
        legend(&mut svg, panel.right(), &key);
        svg.finish()
    }

    /// Colours the cells, neighbours of one colour in a row as one rectangle.
    fn fill(&self, svg: &mut Svg, panel: &Panel, colour: impl Fn(usize) -> Option<Rgb>) {
        let mut runs: BTreeMap<String, Vec<[f64; 4]>> = BTreeMap::new();
        let (place_x, place_y) = self.places(panel);
        for r in 0..self.rows {
            let mut start = 0;
            while start < self.columns {
                let here = colour(r * self.columns + start);
                let mut end = start + 1;
                while end < self.columns && colour(r * self.columns + end) == here {
                    end += 1;
                }
                if let Some(here) = here {
                    let (left, right) = (place_x(start as f64), place_x(end as f64));
                    let (bottom, top) = (place_y(r as f64), place_y((r + 1) as f64));
                    runs.entry(here.hex()).or_default().push([left, top, right - left, bottom - top]);
                }
                start = end;
            }
        }
        svg.group("shape-rendering=\"crispEdges\"");
        for (colour, rects) in runs {
            svg.rects(&rects, &format!("fill=\"{colour}\""));
        }
        svg.end();
    }

    /// Draws lines that count in cells.
    fn lines(&self, svg: &mut Svg, panel: &Panel, lines: Vec<Vec<(f64, f64)>>, style: &str) {
        let (place_x, place_y) = self.places(panel);
        for line in lines {
            let line: Vec<(f64, f64)> = line.into_iter().map(|(x, y)| (place_x(x), place_y(y))).collect();
            svg.polyline(&line, style);
        }
    }

    /// Places of the picture from numbers of cells.
    fn places(&self, panel: &Panel) -> (impl Fn(f64) -> f64, impl Fn(f64) -> f64) {
        let ((x, y), (columns, rows)) = ((panel.x.to, panel.y.to), (self.columns as f64, self.rows as f64));
        (move |c| x.0 + c / columns * (x.1 - x.0), move |r| y.0 + r / rows * (y.1 - y.0))
    }
}
