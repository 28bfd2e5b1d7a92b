//! A drawn figure as PNG.
//!
//! PNG is made of the SVG by `resvg`, with the fonts of `fonts/`, so that a picture looks the same on every system, also on
//! one without fonts. Only words in letters that these lack (Chinese, Arabic, …) are left to the fonts of the system.
//!
//! This is a crate of its own so that the library compiles without `resvg`, and the same for the command line, the tests and
//! Python.

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
    let mut options = usvg::Options { font_family: FAMILY.to_owned(), ..usvg::Options::default() };
    let fonts = options.fontdb_mut();
    FONTS.iter().for_each(|font| fonts.load_font_data(font.to_vec()));
    if !svg.chars().all(is_covered) {
        fonts.load_system_fonts();
    }
    options.image_href_resolver.resolve_data = Box::new(|_, data, _| squares(&data));
    options.image_href_resolver.resolve_string = Box::new(|_, _| None);
    // the fonts of the system, where they are loaded, come after our own
    let own = svg.replacen(mercer_plot::FONTS, FAMILY, 1);
    let tree = usvg::Tree::from_str(&own, &options).map_err(|e| broken(e.to_string()))?;
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

const FAMILY: &str = "DejaVu Sans";

const FONTS: [&[u8]; 2] = [include_bytes!("fonts/DejaVuSans.ttf"), include_bytes!("fonts/DejaVuSans-Bold.ttf")];

/// Whether our own fonts have a letter: those that `fonts/README.md` lists.
fn is_covered(c: char) -> bool {
    matches!(c,
        '\n' | ' '..='~' | '\u{a0}'..='\u{17f}' | '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{45f}' | '\u{1d62}'..='\u{1d6a}'
        | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{203a}' | '\u{2070}'..='\u{209f}' | '\u{20ac}' | '\u{2113}'
        | '\u{211d}' | '\u{2190}'..='\u{2193}' | '\u{2200}'..='\u{223c}' | '\u{2245}'..='\u{2248}'
        | '\u{2260}'..='\u{2265}' | '\u{2295}'..='\u{2299}' | '\u{22c5}' | '\u{2308}'..='\u{230b}' | '\u{27e8}'..='\u{27e9}')
}
