//! A small writer of SVG: shapes, text, groups.
//!
//! Attributes that only style are passed as ready text (`fill="none"`); coordinates and words pass through here, so
//! that everything written is finite, short and escaped.

use super::theme::Theme;
use std::fmt::Write as _;

/// Fonts that every system has something of.
pub const FONTS: &str =
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";

/// A picture in the making.
pub(super) struct Svg {
    /// Its colours.
    pub(super) theme: Theme,
    text: String,
    open: usize,
}

/// The place of text in relation to its point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    /// The point is its left end.
    Start,
    /// The point is its middle.
    Middle,
    /// The point is its right end.
    End,
}

impl Svg {
    /// Empty paper; the title is for readers that do not see.
    pub(super) fn new(width: f64, height: f64, title: &str, theme: Theme) -> Self {
        let (w, h) = (number(width), number(height));
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             font-family=\"{FONTS}\" role=\"img\">\n<title>{}</title>\n<rect width=\"{w}\" height=\"{h}\" fill=\"{}\"/>\n",
            escape(title),
            theme.paper().hex()
        );
        Self { theme, text, open: 0 }
    }

    /// Opens a group; its style holds for what follows until [`Svg::end`].
    pub(super) fn group(&mut self, style: &str) {
        let _ = writeln!(self.text, "<g {style}>");
        self.open += 1;
    }

    /// Closes the group opened last.
    pub(super) fn end(&mut self) {
        if self.open > 0 {
            self.open -= 1;
            self.text.push_str("</g>\n");
        }
    }

    /// A rectangle.
    pub(super) fn rect(&mut self, [x, y, w, h]: [f64; 4], style: &str) {
        self.shape("rect", &[("x", x), ("y", y), ("width", w.max(0.0)), ("height", h.max(0.0))], style);
    }

    /// A circle.
    pub(super) fn circle(&mut self, x: f64, y: f64, r: f64, style: &str) {
        self.shape("circle", &[("cx", x), ("cy", y), ("r", r)], style);
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        self.shape("line", &[("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1)], style);
    }

    /// A closed shape.
    pub(super) fn polygon(&mut self, points: &[(f64, f64)], style: &str) {
        self.points("polygon", points, style);
    }

    /// An open line through points.
    pub(super) fn polyline(&mut self, points: &[(f64, f64)], style: &str) {
        self.points("polyline", points, style);
    }

    /// Many rectangles of one colour as one path: edges are absolute, so that neighbours share them exactly.
    pub(super) fn rects(&mut self, rects: &[[f64; 4]], style: &str) {
        let mut path = String::new();
        for rect in rects.iter().filter(|rect| rect.iter().all(|v| v.is_finite())) {
            let [x, y, right, bottom] = [rect[0], rect[1], rect[0] + rect[2], rect[1] + rect[3]].map(number);
            let _ = write!(path, "M{x} {y}H{right}V{bottom}H{x}z");
        }
        if !path.is_empty() {
            let _ = writeln!(self.text, "<path d=\"{path}\"{}/>", spaced(style));
        }
    }

    /// An image from a data URI, its pixels as squares with sharp edges.
    pub(super) fn image(&mut self, [x, y, w, h]: [f64; 4], uri: &str) {
        let style =
            "preserveAspectRatio=\"none\" image-rendering=\"optimizeSpeed\" style=\"image-rendering:pixelated\"";
        let numbers = [("x", x), ("y", y), ("width", w.max(0.0)), ("height", h.max(0.0))];
        self.shape("image", &numbers, &format!("{style} href=\"{}\"", escape(uri)));
    }

    /// A line of text; `turn` rotates it about its point, in degrees.
    pub(super) fn text(&mut self, at: (f64, f64), anchor: Anchor, size: f64, turn: f64, style: &str, words: &str) {
        if !(at.0.is_finite() && at.1.is_finite()) || words.is_empty() {
            return;
        }
        let (x, y) = (number(at.0), number(at.1));
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let turn = if turn == 0.0 { String::new() } else { format!(" transform=\"rotate({} {x} {y})\"", number(turn)) };
        let (size, style, words) = (number(size), spaced(style), escape(words));
        let _ =
            writeln!(self.text, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{turn}{style}>{words}</text>");
    }

    /// The finished picture.
    pub(super) fn finish(mut self) -> String {
        while self.open > 0 {
            self.end();
        }
        self.text.push_str("</svg>\n");
        self.text
    }

    fn shape(&mut self, tag: &str, numbers: &[(&str, f64)], style: &str) {
        if numbers.iter().any(|(_, value)| !value.is_finite()) {
            return;
        }
        let _ = write!(self.text, "<{tag}");
        for (name, value) in numbers {
            let _ = write!(self.text, " {name}=\"{}\"", number(*value));
        }
        let _ = writeln!(self.text, "{}/>", spaced(style));
    }

    fn points(&mut self, tag: &str, points: &[(f64, f64)], style: &str) {
        let finite = points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
        let list: Vec<String> = finite.map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
        if list.len() > 1 {
            let _ = writeln!(self.text, "<{tag} points=\"{}\"{}/>", list.join(" "), spaced(style));
        }
    }
}

/// Attributes with the space that sets them off.
fn spaced(style: &str) -> String {
    if style.is_empty() { String::new() } else { format!(" {style}") }
}

/// Two decimals are finer than any screen; zeros at the end are left out.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        short => short.to_owned(),
    }
}

/// Text as XML allows it: signs with a meaning are escaped, control characters dropped.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

/// About how wide a text is; fonts differ, so this errs to the wide side.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.58
}

/// A text cut to a width at its end, with an ellipsis if something is missing.
pub(super) fn fitted(text: &str, size: f64, width: f64) -> String {
    cut(text, size, width, 0)
}

/// A name cut to a width in its middle: long names often differ at the end.
pub(super) fn shortened(text: &str, size: f64, width: f64) -> String {
    cut(text, size, width, 2)
}

/// Keeps one part in `part` of the room for the end of the text; none if that is zero.
fn cut(text: &str, size: f64, width: f64, part: usize) -> String {
    if width_of(text, size) <= width {
        return text.to_owned();
    }
    let room = (width / (size * 0.58)).floor().max(2.0) as usize - 1;
    let end = room.checked_div(part).unwrap_or(0);
    let skip = text.chars().count() - end;
    text.chars().take(room - end).chain(['…']).chain(text.chars().skip(skip)).collect()
}
