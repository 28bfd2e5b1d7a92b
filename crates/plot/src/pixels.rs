//! Small images inside a picture: shades of a palette as PNG, written into the text as a data URI.
//!
//! # Source
//! W3C, Portable Network Graphics (third edition, 2025): chunks IHDR, PLTE, IDAT, IEND, colour type 3; RFC 4648 §4, base64.

use super::theme::Rgb;
use flate2::{Compression, write::ZlibEncoder};
use std::io::Write as _;

/// A data URI of an image: places in a palette of at most 256 colours, row by row from the top.
pub(super) fn data_uri(width: usize, shades: &[u8], palette: &[Rgb]) -> String {
    format!("data:image/png;base64,{}", base64(&indexed(width, shades, palette)))
}

/// The image as a PNG file.
fn indexed(width: usize, shades: &[u8], palette: &[Rgb]) -> Vec<u8> {
    let mut lines = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in shades.chunks_exact(width.max(1)) {
        // a byte before each row says that it is not filtered; writing to memory does not fail
        let _ = lines.write_all(&[0]).and_then(|()| lines.write_all(row));
    }
    let height = shades.len() / width.max(1);
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    // eight bits, places in a palette, the only compression, the only filters, not interlaced
    header.extend([8, 3, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, *b"IHDR", &header);
    chunk(&mut file, *b"PLTE", &palette.iter().take(256).flat_map(|c| [c.0, c.1, c.2]).collect::<Vec<u8>>());
    chunk(&mut file, *b"IDAT", &lines.finish().unwrap_or_default());
    chunk(&mut file, *b"IEND", &[]);
    file
}

/// Length, name, content, and the checksum of the last two.
fn chunk(file: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    file.extend((content.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(name);
    file.extend(content);
    let sum = crc32fast::hash(&file[start..]);
    file.extend(sum.to_be_bytes());
}

/// Six bits a letter; what is missing from the last three bytes is `=`.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0, |all, &b| (all << 8) | u32::from(b)) << (8 * (3 - three.len()));
        for k in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * k)) as usize & 63];
            text.push(if k <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        // RFC 4648, §10
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn an_image_is_read_back_as_it_was() {
        let palette = [Rgb(0, 0, 0), Rgb(10, 200, 30), Rgb(255, 255, 255)];
        let shades = [0, 1, 2, 2, 1, 1];
        let read = resvg::tiny_skia::Pixmap::decode_png(&indexed(3, &shades, &palette)).unwrap();
        assert_eq!((read.width(), read.height()), (3, 2));
        for (pixel, shade) in read.pixels().iter().zip(shades) {
            let colour = palette[usize::from(shade)];
            assert_eq!((pixel.red(), pixel.green(), pixel.blue()), (colour.0, colour.1, colour.2));
        }
    }
}
