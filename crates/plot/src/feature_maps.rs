//! Features in the plane, side by side: contour lines and shades of several functions over the same examples.

use super::axes::{Panel, TEXT_SIZE, header};
use super::contour::Grid;
use super::marks::{PlotPoint, points};
use super::svg::{Anchor, Svg, fitted};
use super::theme::Theme;
use std::collections::BTreeMap;

/// A function on the cells of the plane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureMap {
    /// Its name.
    pub name: String,
    /// Its value at the centre of each cell, row by row, the bottom row first.
    pub values: Vec<f64>,
}

/// Several functions over the same examples.
#[derive(Clone, Debug, Default)]
pub struct FeatureMaps {
    /// Title.
    pub title: String,
    /// Left and right edge.
    pub x: (f64, f64),
    /// Bottom and top edge.
    pub y: (f64, f64),
    /// Cells from left to right, and as many from bottom to top.
    pub cells: usize,
    /// The functions.
    pub maps: Vec<FeatureMap>,
    /// The examples.
    pub points: Vec<PlotPoint>,
    /// A small line under the title.
    pub note: Option<String>,
}

/// Side of a panel with the room around it, and how many stand in a row.
const CELL: (f64, usize) = (320.0, 3);
/// Contour lines of a panel, and shades on either side of its middle.
const LEVELS: (usize, f64) = (9, 8.0);
/// Room above the panels.
const TOP: f64 = 78.0;

impl FeatureMaps {
    /// The picture.
    pub fn draw(&self, theme: Theme) -> String {
        // four are two by two, and no row is left with one
        let most = if self.maps.len() == 4 { 2 } else { CELL.1 };
        let columns = self.maps.len().clamp(1, most);
        let rows = self.maps.len().div_ceil(columns).max(1);
        let width = 32.0 + CELL.0 * columns as f64;
        let mut svg = Svg::new(width, TOP + (CELL.0 + 14.0) * rows as f64, &self.title, theme);
        header(&mut svg, 24.0, width, &self.title, self.note.as_deref());
        for (k, map) in self.maps.iter().enumerate() {
            let (column, row) = ((k % columns) as f64, (k / columns) as f64);
            let (left, top) = (24.0 + CELL.0 * column, TOP + (CELL.0 + 14.0) * row + 10.0);
            let side = CELL.0 - 28.0;
            let panel = Panel::inside(self.x, self.y, (left, left + side), (top + 8.0, top + side));
            let style = format!("font-weight=\"600\" fill=\"{}\"", theme.ink());
            svg.text((left, top), Anchor::Start, TEXT_SIZE, 0.0, &style, &fitted(&map.name, TEXT_SIZE, side));
            self.panel(&mut svg, &panel, &map.values);
            panel.frame(&mut svg, "", "");
        }
        svg.finish()
    }

    fn panel(&self, svg: &mut Svg, panel: &Panel, values: &[f64]) {
        let n = self.cells;
        let finite = || values.iter().copied().filter(|v| v.is_finite());
        let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        if n > 0 && n.checked_mul(n) == Some(values.len()) && low < high {
            let (x, y) = (panel.x.to, panel.y.to);
            let place = |c: f64, r: f64| (x.0 + c / n as f64 * (x.1 - x.0), y.0 + r / n as f64 * (y.1 - y.0));
            let mut shades: BTreeMap<String, Vec<[f64; 4]>> = BTreeMap::new();
            let shade = |value: f64| {
                let shade = (2.0 * (value - low) / (high - low) - 1.0) * LEVELS.1;
                value.is_finite().then(|| svg.theme.diverging(0.7 * shade.round() / LEVELS.1).hex())
            };
            for (r, row) in values.chunks(n).enumerate() {
                let mut from = 0;
                // neighbours of one colour are one rectangle
                for run in row.chunk_by(|&a, &b| shade(a) == shade(b)) {
                    let to = from + run.len();
                    if let Some(colour) = shade(run[0]) {
                        let ((left, bottom), (right, top)) =
                            (place(from as f64, r as f64), place(to as f64, (r + 1) as f64));
                        shades.entry(colour).or_default().push([left, top, right - left, bottom - top]);
                    }
                    from = to;
                }
            }
            svg.group("shape-rendering=\"crispEdges\"");
            for (colour, rects) in shades {
                svg.rects(&rects, &format!("fill=\"{colour}\""));
            }
            svg.end();
            let grid = Grid::of_cells(n, n, |c, r| values[r * n + c]);
            let style = format!("fill=\"none\" stroke=\"{}\" stroke-width=\"0.9\"", svg.theme.soft());
            for k in 1..=LEVELS.0 {
                let level = low + (high - low) * k as f64 / (LEVELS.0 + 1) as f64;
                for line in grid.lines(level) {
                    svg.polyline(&line.into_iter().map(|(c, r)| place(c, r)).collect::<Vec<_>>(), &style);
                }
            }
        }
        points(svg, panel, &self.points);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maps(values: Vec<f64>) -> FeatureMaps {
        FeatureMaps {
            title: "a < b".to_owned(),
            x: (-1.0, 1.0),
            y: (-1.0, 1.0),
            cells: 4,
            maps: vec![FeatureMap { name: "first".to_owned(), values }],
            points: vec![PlotPoint { x: 0.0, y: 0.0, code: 0, support: false, wrong: false }],
            note: None,
        }
    }

    #[test]
    fn a_slope_has_all_its_levels() {
        let slope = maps((0..16).map(|k| f64::from(k % 4)).collect()).draw(Theme::Light);
        assert_eq!((slope.matches("<polyline").count(), slope.matches(">first<").count()), (LEVELS.0, 1));
        assert_eq!(slope.matches("<circle").count(), 1);
    }

    #[test]
    fn functions_that_are_flat_or_no_numbers_have_no_lines() {
        for values in [vec![2.0; 16], vec![f64::NAN; 16], vec![1.0, 2.0], Vec::new()] {
            let svg = maps(values).draw(Theme::Dark);
            assert!(svg.ends_with("</svg>\n") && !svg.contains("<polyline") && !svg.contains("NaN"));
        }
        assert!(FeatureMaps::default().draw(Theme::Light).ends_with("</svg>\n"));
    }
}
