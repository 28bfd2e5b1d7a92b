//! What a file of text must be: UTF-8, in lines. What it seems to be instead is said with the way to convert it.

use super::super::DataError;
use super::Source;

/// Bytes that are looked at, in which a text has a line end, if it has any.
const HEAD_BYTES: u64 = 1 << 17;
/// Bytes that tell UTF-16 by its zeros.
const SAMPLE_BYTES: usize = 512;

/// Refuses UTF-16, bytes that are no text, and lines that end in carriage returns alone.
pub(super) fn check(source: &Source) -> Result<(), DataError> {
    let head = source.head(HEAD_BYTES)?;
    let refuse = |finding: String| Err(source.bad(None, None, finding));
    if let Some(code) = utf16(&head) {
        return refuse(format!(
            "the text is UTF-16, and UTF-8 is read; convert the file: {}",
            source.converted_by(&format!("iconv -f {code} -t utf-8"))
        ));
    }
    if head.contains(&0) {
        return refuse("it is no text, for it has bytes of value zero; name its format with --format".to_owned());
    }
    if ends_in_returns(&head) {
        return refuse(format!(
            "its lines end in carriage returns alone, as on old Macintosh computers; convert the file: {}",
            source.converted_by("tr '\\r' '\\n'")
        ));
    }
    Ok(())
}

/// True if the lines of a text end in carriage returns alone, so that it would be one line.
pub(crate) fn ends_in_returns(head: &[u8]) -> bool {
    !head.contains(&b'\n') && head.trim_ascii_end().contains(&b'\r')
}

/// The name of the UTF-16 that a text is in, by its mark or by zeros in every second place.
fn utf16(head: &[u8]) -> Option<&'static str> {
    match head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => return Some("utf-16"),
        _ => {}
    }
    let pairs = head[..head.len().min(SAMPLE_BYTES)].as_chunks::<2>().0;
    let is_letter = |byte: u8| matches!(byte, b' '..=b'~' | b'\r' | b'\n' | b'\t');
    let letters = |of: fn(&[u8; 2]) -> (u8, u8)| {
        pairs.iter().map(of).filter(|&(zero, letter)| zero == 0 && is_letter(letter)).count()
    };
    let (big, little) = (letters(|&[a, b]| (a, b)), letters(|&[a, b]| (b, a)));
    // Latin letters and digits have one byte of zero each
    if 5 * little > 4 * pairs.len() {
        Some("utf-16le")
    } else if 5 * big > 4 * pairs.len() {
        Some("utf-16be")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ReadOptions, read_bytes};

    #[test]
    fn what_is_no_utf8_in_lines_is_said_with_the_way_to_convert_it() {
        let said = |name: &str, bytes: &[u8]| read_bytes(name, bytes, &ReadOptions::default()).unwrap_err().to_string();
        let text = "a,b,y\n1,2,u\n3,4,v\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for name in ["a.csv", "a.svm", "a.jsonl", "a.data"] {
            assert!(said(name, &little).contains("iconv -f utf-16le -t utf-8"), "{name}: {}", said(name, &little));
            assert!(said(name, &big).contains("iconv -f utf-16be -t utf-8"), "{name}");
            assert!(said(name, &[&[0xff, 0xfe], little.as_slice()].concat()).contains("iconv -f utf-16 -t"), "{name}");
        }
        assert!(said("a.csv", b"a,b\r1,2\r3,4\r").contains("tr '\\r' '\\n' < a.csv > new-file"));
        // what is compressed is unpacked on the way
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, &little).unwrap();
        let found = said("a.csv.gz", &packed.finish().unwrap());
        assert!(found.contains("gunzip -c a.csv.gz | iconv -f utf-16le -t utf-8 > new-file"), "{found}");
        assert!(said("a.bin", b"\x00\x01\x02\x03").contains("--format"));
        assert!(said("a.csv", b"a,b\n1,\x00\x01\x02\x03\n").contains("it is no text"));
    }

    #[test]
    fn texts_with_other_line_ends_and_letters_are_read() {
        for bytes in [&b"a,b\r\n1,2\r\n"[..], b"1,2\r", b"a,\xc3\xa4\n1,2\n", b"a,\"x\ry\rz\"\n1,u\n"] {
            assert!(read_bytes("a.csv", bytes, &ReadOptions::default()).is_ok(), "{bytes:?}");
        }
    }
}
