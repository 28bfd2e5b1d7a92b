//! What one cell of text is: a number, a missing mark or a word.
//!
//! Most cells are short decimals, so these are parsed by hand: a mantissa below 2⁵³ times or over a power of ten up
//! to 10²² is exact in one rounding (Clinger 1990). Everything else goes to the standard library, which rounds
//! correctly too, so both ways give the same bits.

/// A cell, classified.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    /// Nothing there.
    Missing,
    /// A finite number; `plain` if printing it gives the same text again.
    Number { value: f64, plain: bool },
    /// `inf`, or a decimal too large for f64.
    Infinite,
    /// Anything else.
    Word,
}

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Classifies a trimmed cell.
pub(super) fn classify(text: &[u8]) -> Cell {
    match text.first() {
        None => return Cell::Missing,
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') => {
            if let Some(short) = short_decimal(text) {
                return short;
            }
        }
        Some(_) => {}
    }
    match text {
        b"NA" | b"N/A" | b"NaN" | b"nan" | b"null" | b"NULL" | b"?" => return Cell::Missing,
        _ => {}
    }
    let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    if unsigned.eq_ignore_ascii_case(b"inf") || unsigned.eq_ignore_ascii_case(b"infinity") {
        return Cell::Infinite;
    }
    // the standard library also knows words such as "nan", hence the look at the bytes
    if !text.iter().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
        return Cell::Word;
    }
    match std::str::from_utf8(text).ok().and_then(|t| t.parse::<f64>().ok()) {
        Some(value) if value.is_finite() => Cell::Number { value, plain: false },
        Some(_) => Cell::Infinite,
        None => Cell::Word,
    }
}

/// The number that a cell is, if it is a finite one.
pub(super) fn number(text: &[u8]) -> Option<f64> {
    match classify(text) {
        Cell::Number { value, .. } => Some(value),
        _ => None,
    }
}

/// A decimal of at most 15 digits without exponent; `None` if the text is anything else.
fn short_decimal(text: &[u8]) -> Option<Cell> {
    let (negative, body) = match text[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if body.len() > 16 {
        return None;
    }
    let (mut mantissa, mut whole, mut fraction, mut point) = (0_u64, 0_usize, 0_usize, false);
    for &byte in body {
        match byte {
            b'0'..=b'9' => {
                mantissa = mantissa * 10 + u64::from(byte - b'0');
                if point {
                    fraction += 1;
                } else {
                    whole += 1;
                }
            }
            b'.' if !point => point = true,
            _ => return None,
        }
    }
    if whole + fraction == 0 || whole + fraction > 15 {
        return None;
    }
    let size = mantissa as f64 / POWERS[fraction];
    let value = if negative { -size } else { size };
    let no_leading_zero = whole == 1 || (whole > 1 && body[0] != b'0');
    let no_trailing_zero = if point { fraction > 0 && body[body.len() - 1] != b'0' } else { true };
    let plain = text[0] != b'+' && no_leading_zero && no_trailing_zero && !(negative && mantissa == 0);
    Some(Cell::Number { value, plain })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_decimals_have_the_bits_of_the_standard_library() {
        for text in
            ["0.1", "-2.1061624", "123456789012345", "0.000000000000001", "7.", ".5", "-0", "+3.25", "1e-3", "9e22"]
        {
            let Cell::Number { value, plain } = classify(text.as_bytes()) else { panic!("{text}") };
            assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
            if plain {
                assert_eq!(value.to_string(), text);
            }
        }
        assert_eq!(classify(b"1.0"), Cell::Number { value: 1.0, plain: false });
        assert_eq!(classify(b"007"), Cell::Number { value: 7.0, plain: false });
        assert_eq!(classify(b"1.5"), Cell::Number { value: 1.5, plain: true });
    }

    #[test]
    fn marks_words_and_infinities_are_told_apart() {
        for mark in ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"] {
            assert_eq!(classify(mark.as_bytes()), Cell::Missing, "{mark}");
        }
        for far in ["inf", "-Infinity", "+INF", "1e999"] {
            assert_eq!(classify(far.as_bytes()), Cell::Infinite, "{far}");
        }
        for word in ["abc", "1_000", "0x10", "1,5", "-", ".", "e5", "1e", "na", "12a", "1.2.3", "١"] {
            assert_eq!(classify(word.as_bytes()), Cell::Word, "{word}");
        }
    }
}
