//! A drawn figure as PNG.
//!
//! PNG is made of the SVG by `resvg`, with the fonts of `fonts/`, so that a picture looks the same on every system, also on
//! one without fonts. Letters that these lack (Chinese, Devanagari, …) are taken one by one from the fonts of the system; letters
//! that change their forms in a word, as in Arabic, are joined in the SVG only.
//!
//! This is a crate of its own so that the library compiles without `resvg`, and the same for the command line, the tests and
//! Python.

mod fonts;
mod letters;

use std::io;

/// A drawn picture as the bytes of a PNG file, two pixels for each unit of the SVG in each direction.
///
/// ```
/// use mercer_plot::{Scatter, Theme};
///
/// let svg = Scatter { title: "nothing yet".to_owned(), ..Scatter::default() }.draw(Theme::Dark);
/// assert!(mercer_raster::png(&svg)?.starts_with(b"\x89PNG\r\n"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If the text is no SVG, or of no size.
pub fn png(svg: &str) -> io::Result<Vec<u8>> {
    use resvg::{tiny_skia, usvg};
    const SCALE: f32 = 2.0;
    let broken = |what: String| io::Error::other(format!("the picture cannot be made into pixels: {what}"));
    let mut options = usvg::Options::default();
    options.image_href_resolver.resolve_data = Box::new(|_, data, _| squares(&data));
    options.image_href_resolver.resolve_string = Box::new(|_, _| None);
    let tree = usvg::Tree::from_str(&letters::as_paths(svg), &options).map_err(|e| broken(e.to_string()))?;
    let size = tree.size();
    let (width, height) = ((SCALE * size.width()).ceil() as u32, (SCALE * size.height()).ceil() as u32);
    let mut canvas = tiny_skia::Pixmap::new(width, height).ok_or_else(|| broken("it has no size".to_owned()))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut canvas.as_mut());
    canvas.encode_png().map_err(|e| broken(e.to_string()))
}

/// An image inside a picture as squares with sharp edges: resvg draws images by crates that we need for nothing else.
fn squares(png: &[u8]) -> Option<resvg::usvg::ImageKind> {
    use resvg::{tiny_skia::Pixmap, usvg};
    use std::fmt::Write as _;
    let image = Pixmap::decode_png(png).ok()?;
    let (width, height) = (image.width() as usize, image.height() as usize);
    let mut paths: std::collections::BTreeMap<[u8; 3], String> = std::collections::BTreeMap::new();
    for (y, row) in image.pixels().chunks_exact(width).enumerate() {
        let mut x = 0;
        while x < width {
            let run = row[x..].iter().take_while(|p| **p == row[x]).count();
            let path = paths.entry([row[x].red(), row[x].green(), row[x].blue()]).or_default();
            let _ = write!(path, "M{x} {y}h{run}v1H{x}z");
            x += run;
        }
    }
    let mut svg = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\">");
    for ([r, g, b], path) in paths {
        let _ = write!(svg, "<path shape-rendering=\"crispEdges\" fill=\"rgb({r},{g},{b})\" d=\"{path}\"/>");
    }
    svg.push_str("</svg>");
    usvg::Tree::from_str(&svg, &usvg::Options::default()).ok().map(usvg::ImageKind::SVG)
}
