//! The words of a picture as outlines of its letters.
//!
//! resvg can set text by itself, for which it reads complex scripts, hinting and the font settings of the system, which takes many
//! crates. The words of a figure stand in one line from left to right, so each letter is its outline, moved on by
//! the width of the letters before it.

use crate::fonts::{Font, Fonts};
use std::fmt::Write as _;
use ttf_parser::OutlineBuilder;

/// The same picture with a path in place of each text.
pub(crate) fn as_paths(svg: &str) -> String {
    let fonts = Fonts::for_words(svg);
    let mut out = String::with_capacity(2 * svg.len());
    let mut rest = svg;
    while let Some((before, attributes, words, after)) = next_text(rest) {
        out.push_str(before);
        out.push_str(&path_of(attributes, &unescaped(words), &fonts));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The first text of a picture: what stands before it, its attributes, its words, and what stands after it.
fn next_text(svg: &str) -> Option<(&str, &str, &str, &str)> {
    let (before, tail) = svg.split_once("<text ")?;
    let (attributes, tail) = tail.split_once('>')?;
    let (words, after) = tail.split_once("</text>")?;
    Some((before, attributes, words, after))
}

/// One text as a path, with the attributes that are not about fonts; nothing, if it has no ink.
fn path_of(attributes: &str, words: &str, fonts: &Fonts) -> String {
    let mut line = Line { size: 16.0, x: 0.0, y: 0.0, bold: false, path: String::new() };
    let (mut share_before, mut kept) = (0.0, String::new());
    for (name, value) in pairs(attributes) {
        let number = value.parse::<f32>().unwrap_or(0.0);
        match name {
            "x" => line.x = number,
            "y" => line.y = number,
            "font-size" => line.size = number,
            "font-weight" => line.bold = value == "bold" || number >= 600.0,
            "text-anchor" if value == "middle" => share_before = 0.5,
            "text-anchor" if value == "end" => share_before = 1.0,
            "text-anchor" => {}
            _ => {
                let _ = write!(kept, " {name}=\"{value}\"");
            }
        }
    }
    let letters: Vec<_> = words.chars().map(|c| fonts.letter(c, line.bold)).collect();
    let width: f32 = letters.iter().map(|(font, letter)| font.width_of(*letter) * line.size).sum();
    line.x -= share_before * width;
    for (font, letter) in letters {
        line.add(&font, letter);
    }
    if line.path.is_empty() { String::new() } else { format!("<path d=\"{}\"{kept}/>", line.path) }
}

/// Names and values of attributes, the values as they stand between their quotes.
fn pairs(attributes: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = attributes;
    std::iter::from_fn(move || {
        let (name, tail) = rest.split_once("=\"")?;
        let (value, after) = tail.split_once('"')?;
        rest = after;
        Some((name.trim(), value))
    })
}

/// The five signs that XML escapes, as they are.
fn unescaped(words: &str) -> String {
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .iter()
        .fold(words.to_owned(), |text, (escaped, sign)| text.replace(escaped, sign))
}

/// A line of letters as it grows: where the next one begins.
struct Line {
    size: f32,
    x: f32,
    y: f32,
    bold: bool,
    path: String,
}

impl Line {
    /// Writes a letter and moves on by its width.
    fn add(&mut self, font: &Font<'_>, letter: ttf_parser::GlyphId) {
        let scale = self.size / font.units();
        let mut outline = Outline { scale, x: self.x, y: self.y, path: &mut self.path };
        font.face.outline_glyph(letter, &mut outline);
        self.x += font.width_of(letter) * self.size;
    }
}

/// The outline of a letter in the commands of an SVG path. Fonts count upwards, pictures downwards.
struct Outline<'a> {
    scale: f32,
    x: f32,
    y: f32,
    path: &'a mut String,
}

impl Outline<'_> {
    fn command(&mut self, command: char, points: &[(f32, f32)]) {
        self.path.push(command);
        for (i, (x, y)) in points.iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            let (x, y) = (self.x + self.scale * x, self.y - self.scale * y);
            let _ = write!(self.path, "{space}{x:.3} {y:.3}");
        }
    }
}

impl OutlineBuilder for Outline<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.command('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.command('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.command('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.command('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.path.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(path: &str) -> Vec<f32> {
        let data = path.split_once("d=\"").unwrap().1.split_once('"').unwrap().0;
        data.split(|c: char| c.is_ascii_alphabetic() || c == ' ').filter_map(|n| n.parse().ok()).collect()
    }

    /// Left and right end of the ink.
    fn ends(svg: &str) -> (f32, f32) {
        let all = numbers(&as_paths(svg));
        let x = all.iter().step_by(2).copied();
        (x.clone().fold(f32::INFINITY, f32::min), x.fold(f32::NEG_INFINITY, f32::max))
    }

    #[test]
    fn a_letter_is_as_large_as_the_font_says() {
        // l of DejaVu Sans: a bar from 193 to 377 and from 0 to 1556, of 2048 units
        let svg = "<text x=\"10\" y=\"50\" font-size=\"20.48\">l</text>";
        assert_eq!(ends(svg), (11.93, 13.77));
        let heights: Vec<f32> = numbers(&as_paths(svg)).into_iter().skip(1).step_by(2).collect();
        assert_eq!(heights.iter().copied().fold(f32::INFINITY, f32::min), 34.44);
        assert_eq!(heights.iter().copied().fold(0.0, f32::max), 50.0);
    }

    #[test]
    fn anchors_move_words_by_their_width() {
        let at = |anchor: &str| ends(&format!("<text x=\"100\" y=\"0\" font-size=\"16\"{anchor}>minimum</text>"));
        let (start, middle, end) = (at(""), at(" text-anchor=\"middle\""), at(" text-anchor=\"end\""));
        assert!((start.0 - middle.0 - (middle.0 - end.0)).abs() < 0.01, "{start:?} {middle:?} {end:?}");
        assert!(start.0 > 100.0 && end.1 < 100.0);
        // the two margins beside the letters m are equal, so the words stand evenly about their middle
        assert!((middle.0 + middle.1 - 200.0).abs() < 0.6, "{middle:?}");
    }

    #[test]
    fn other_attributes_and_neighbours_stay() {
        let svg = "<g><text x=\"1\" y=\"2\" font-size=\"9\" transform=\"rotate(-90 1 2)\" fill=\"#123456\">a &lt; b</text><rect/></g>";
        let drawn = as_paths(svg);
        assert!(drawn.starts_with("<g><path d=\"M") && drawn.ends_with("/><rect/></g>"), "{drawn}");
        assert!(drawn.contains("transform=\"rotate(-90 1 2)\" fill=\"#123456\""), "{drawn}");
        assert_eq!(drawn.matches('M').count(), 2 + 1 + 2, "a and b have a hole each, < has none");
        assert_eq!(as_paths("<g><rect/></g>"), "<g><rect/></g>");
        assert_eq!(as_paths("<text x=\"1\" y=\"2\"> </text>"), "", "a space has no ink");
        for broken in ["<text ", "<text x=\"1\">never closed", "<text x=\"1>a</text>"] {
            as_paths(broken);
        }
    }

    #[test]
    fn bold_words_are_wider() {
        let width = |weight: &str| {
            let (from, to) = ends(&format!("<text x=\"0\" y=\"0\" font-size=\"20\"{weight}>Margin</text>"));
            to - from
        };
        assert!(width(" font-weight=\"600\"") > 1.05 * width(" font-weight=\"400\""));
    }
}
