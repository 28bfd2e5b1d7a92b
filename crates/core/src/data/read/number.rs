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
    /// A finite number; `plain` if printing it gives the same text again, or if it is a fraction of more than 15 digits,
    /// which is nobody's label.
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

const TENS: [u64; 16] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 0, 0, 0, 0, 0, 0, 0];
/// Bytes that are looked at for a longer decimal: a sign, seven digits, a point, three times eight and what follows.
const WINDOW: usize = 34;

/// Classifies a trimmed cell.
#[inline]
pub(super) fn classify(text: &[u8]) -> Cell {
    match text.first() {
        None => return Cell::Missing,
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') => {
            if let Some(short) = short_decimal(text) {
                return short;
            }
        }
        // no missing mark begins so, and no infinity
        Some(b'a'..=b'h' | b'j'..=b'm' | b'o'..=b'z' | b'A'..=b'H' | b'J'..=b'M' | b'O'..=b'Z') => return Cell::Word,
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
        Some(value) if value.is_finite() => {
            let power = text.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(text.len());
            let digits = text[..power].iter().filter(|b| b.is_ascii_digit()).count();
            let plain = digits > 15 && text[..power].contains(&b'.');
            Cell::Number { value, plain }
        }
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

/// A decimal at the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Decimal {
    /// The number.
    pub(super) value: f64,
    /// Whether its spelling need not be kept, as in [`Cell::Number`].
    pub(super) plain: bool,
    /// How many bytes it takes.
    pub(super) len: usize,
}

/// The decimal with which a text begins, without exponent and of at most 19 digits: what [`classify`] says about it,
/// found without knowing its end. `None` if there is none, or it is better left to [`classify`].
#[inline(always)]
pub(super) fn decimal(text: &[u8]) -> Option<Decimal> {
    match text.first_chunk().and_then(|&eight| decimal_of_word(u64::from_le_bytes(eight))) {
        None => decimal_of_words(text).or_else(|| long_decimal(text)),
        short => short,
    }
}

/// The decimal that ends within eight bytes, found without a branch that depends on its digits; `None` if it is longer.
#[inline(always)]
#[allow(clippy::needless_bitwise_bool)] // a lazy operator is a branch
fn decimal_of_word(text: u64) -> Option<Decimal> {
    let negative = text as u8 == b'-';
    let text = text >> (8 * u32::from(negative));
    let (word, other) = digits_and_others(text);
    // points among the others, and the end, which is the first that is none: the next cell waits for that alone
    let off = word ^ 0x1e1e_1e1e_1e1e_1e1e;
    let stops = other & (((off & 0x7f7f_7f7f_7f7f_7f7f) + 0x7f7f_7f7f_7f7f_7f7f) | off);
    let end = stops.trailing_zeros() & !7;
    // past a sign the eighth byte is not known
    let stop = text.checked_shr(end)? as u8;
    let points = (other ^ stops) & (stops ^ (stops - 1));
    let whole = (points.trailing_zeros() & !7).min(end);
    let point = u32::from(points != 0);
    let count = end / 8 - point.min(end / 8);
    if (count == 0) | (stop == 0) | (stop | 0x20 == b'e') | (points & points.wrapping_sub(1) != 0) {
        return None;
    }
    // the digits without the point, then leading zeros for what is not there
    let before = (1 << whole) - 1;
    let word = ((word & before) | ((word >> (8 * point)) & !before)) << (64 - 8 * count);
    let mantissa = joined(word);
    let fraction = count - whole / 8;
    let size = mantissa as i64 as f64 / POWERS[fraction as usize & 7];
    let value = f64::from_bits(size.to_bits() | u64::from(negative) << 63);
    let leading_zero = (whole != 8) & ((whole == 0) | (text as u8 == b'0'));
    let trailing_zero = (point == 1) & ((fraction == 0) | (word >> 56 == 0));
    let plain = !leading_zero & !trailing_zero & !(negative & (mantissa == 0));
    Some(Decimal { value, plain, len: usize::from(negative) + end as usize / 8 })
}

/// The decimal of up to seven digits before the point and up to 24 after it, without a branch that depends on how many;
/// `None` if it looks otherwise or ends with the text.
#[inline(always)]
fn decimal_of_words(text: &[u8]) -> Option<Decimal> {
    let text: &[u8; WINDOW] = text.first_chunk()?;
    let word = |at: usize| Some(digits_and_others(u64::from_le_bytes(*text.get(at..)?.first_chunk()?)));
    let count = |other: u64| other.trailing_zeros() / 8;
    // leading zeros for what is not there; a shift by 64 in two halves
    let number = |word: u64, count: u32| joined((word << (32 - 4 * count)) << (32 - 4 * count));
    // all of a count if the one before was eight, else none of it
    let after = |before: u32, count: u32| count & 0_u32.wrapping_sub(before / 8);
    let negative = text[0] == b'-';
    let start = usize::from(negative);
    let (before, other) = word(start)?;
    let whole = count(other);
    let point = start + whole as usize;
    if whole == 0 || text.get(point) != Some(&b'.') {
        return None;
    }
    let (first, second, third) = (word(point + 1)?, word(point + 9)?, word(point + 17)?);
    let one = count(first.1);
    let two = after(one, count(second.1));
    let three = after(two, count(third.1));
    let fraction = (one + two + three) as usize;
    let stop = *text.get(point + 1 + fraction)?;
    if fraction == 0 || whole as usize + fraction > 19 || stop | 0x20 == b'e' {
        return None;
    }
    let mut mantissa = number(before, whole);
    for (part, count) in [(first.0, one), (second.0, two), (third.0, three)] {
        mantissa = mantissa.wrapping_mul(TENS[count as usize & 15]).wrapping_add(number(part, count));
    }
    let size = quotient(mantissa, fraction);
    let value = f64::from_bits(size.to_bits() | u64::from(negative) << 63);
    let long = whole as usize + fraction > 15;
    let plain = long || {
        let no_leading_zero = whole == 1 || text[start] != b'0';
        let no_trailing_zero = text[point + fraction] != b'0';
        no_leading_zero && no_trailing_zero && !(negative && mantissa == 0)
    };
    Some(Decimal { value, plain, len: point + 1 + fraction })
}

/// The same for texts in which most decimals take more than eight bytes.
#[inline(always)]
pub(super) fn wide_decimal(text: &[u8]) -> Option<Decimal> {
    match decimal_of_words(text) {
        None => any_decimal(text),
        wide => wide,
    }
}

#[inline(never)]
fn any_decimal(text: &[u8]) -> Option<Decimal> {
    decimal(text)
}

/// A decimal of any length.
#[cold]
#[inline(never)]
fn long_decimal(text: &[u8]) -> Option<Decimal> {
    let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let (mut mantissa, whole) = digits(0, &text[sign..]);
    let mut at = sign + whole;
    let (mut fraction, mut point) = (0, false);
    if text.get(at) == Some(&b'.') {
        point = true;
        (mantissa, fraction) = digits(mantissa, &text[at + 1..]);
        at += 1 + fraction;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) || whole + fraction == 0 || whole + fraction > 19 {
        return None;
    }
    let size = quotient(mantissa, fraction);
    let negative = text[0] == b'-';
    let value = if negative { -size } else { size };
    let no_leading_zero = whole == 1 || (whole > 1 && text[sign] != b'0');
    let no_trailing_zero = !point || (fraction > 0 && text[at - 1] != b'0');
    let signed = sign == 1 && (!negative || mantissa == 0);
    let plain = if whole + fraction > 15 { point } else { no_leading_zero && no_trailing_zero && !signed };
    Some(Decimal { value, plain, len: at })
}

/// Eight bytes as digits, and the high bit of each byte that is none.
#[inline(always)]
fn digits_and_others(text: u64) -> (u64, u64) {
    let word = text ^ 0x3030_3030_3030_3030;
    (word, (((word & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080)
}

/// The number of eight digits: pairs, fours and eights are joined.
#[inline(always)]
fn joined(word: u64) -> u64 {
    let word = (word & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(2561) >> 8;
    let word = (word & 0x00ff_00ff_00ff_00ff).wrapping_mul(6_553_601) >> 16;
    (word & 0x0000_ffff_0000_ffff).wrapping_mul(42_949_672_960_001) >> 32
}

/// Appends the digits with which a text begins, eight at a time; the number, wrapped, and how many there were.
#[inline]
fn digits(mut number: u64, text: &[u8]) -> (u64, usize) {
    let mut at = 0;
    while let Some(&eight) = text[at..].first_chunk::<8>() {
        let (word, other) = digits_and_others(u64::from_le_bytes(eight));
        let count = (other.trailing_zeros() / 8) as usize;
        if count == 0 {
            return (number, at);
        }
        // leading zeros for what is not there
        let word = joined(word << (64 - 8 * count));
        number = number.wrapping_mul(TENS[count]).wrapping_add(word);
        at += count;
        if count < 8 {
            return (number, at);
        }
    }
    while let Some(digit) = text.get(at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (number, at)
}

/// The whole number of at most ten digits with which a text begins, and how many there are.
#[inline]
pub(super) fn whole_number(text: &[u8]) -> Option<(u64, usize)> {
    if let Some(&eight) = text.first_chunk() {
        let (word, other) = digits_and_others(u64::from_le_bytes(eight));
        let count = other.trailing_zeros() / 8;
        if count < 8 {
            return (count > 0).then(|| (joined(word << (64 - 8 * count)), count as usize));
        }
    }
    let (number, count) = digits(0, text);
    (1..=10).contains(&count).then_some((number, count))
}

/// 1 / 5^k for k up to 19: ⌊2^(63+b) / 5^k⌋, of 64 bits, and b.
const RECIPROCALS: [(u64, u32); 20] = {
    let mut all = [(0, 0); 20];
    let (mut k, mut power) = (0, 1_u64);
    while k < 20 {
        let bits = if k == 0 { 0 } else { 64 - power.leading_zeros() };
        all[k] = (((1_u128 << (63 + bits)) / power as u128) as u64, bits);
        (k, power) = (k + 1, power * 5);
    }
    all
};

/// mantissa / 10^power for powers up to 19, rounded once.
///
/// With x the mantissa shifted to 64 bits and r its row of the table, x·r lies below the true product by less than 2⁶⁴, so
/// the upper half h tells the quotient up to h + 2. That decides the rounding to 53 bits unless the middle between two
/// numbers lies in between (Eisel & Lemire; Lemire 2021), which happens once in five hundred times.
#[inline(always)]
fn quotient(mantissa: u64, power: usize) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let (reciprocal, bits) = RECIPROCALS[power];
    let up = mantissa.leading_zeros();
    let upper = ((u128::from(mantissa << up) * u128::from(reciprocal)) >> 64) as u64;
    let half = 1 << (9 + (upper >> 63));
    let low = upper & (2 * half - 1);
    if low == half || low == half - 1 {
        return divided(mantissa, power);
    }
    // half of it is a signed number, which converts in one step
    let shift = 2 - i64::from(bits) - i64::from(up) - power as i64;
    ((upper >> 1) | (upper & 1)) as i64 as f64 * f64::from_bits(((1023 + shift) as u64) << 52)
}

/// The same by division: the quotient of integers to 62 bits or more, its last bit set where something is left over.
#[cold]
fn divided(mantissa: u64, power: usize) -> f64 {
    let divisor = 10_u64.pow(power as u32);
    let (up, down) = (mantissa.leading_zeros(), divisor.leading_zeros());
    let (above, below) = (u128::from(mantissa << up) << 63, u128::from(divisor << down));
    let quotient = (above / below) as u64 | u64::from(above % below != 0);
    let shift = i64::from(down) - i64::from(up) - 63;
    // at least 1 over 10¹⁹ stays far from the smallest numbers
    quotient as f64 * f64::from_bits(((1023 + shift) as u64) << 52)
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
    fn decimals_in_running_text_are_those_of_whole_cells() {
        let mut random = crate::seed::Seed(3).stream("decimals");
        let mut texts: Vec<String> = ["0", "-0", "-0.0", "7.", ".5", "+3.25", "007", "1.50", "0.1", "9007199254740993"]
            .map(str::to_owned)
            .to_vec();
        texts.extend(["0.12345678901234567", "1234567890123456789", "99999999999999999.99"].map(str::to_owned));
        for _ in 0..2000 {
            let real = f64::from_bits((random.bits() >> 2) | (1 << 61));
            let unit = (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
            texts.extend([format!("{real}"), format!("{unit}"), format!("-{unit:.3}"), format!("{}", random.bits())]);
            // in the middle between two numbers, and next to it
            let middle = (1 << 52) + (random.bits() >> 12);
            texts.extend([format!("{middle}.5"), format!("{middle}.499"), format!("-{middle}.501")]);
            let (digits, places) = (random.bits() % 10_000_000, random.bits() as usize % 9);
            texts.extend([
                format!("{digits}"),
                format!("-{digits}."),
                format!(".{digits}"),
                format!("{unit:.places$}"),
            ]);
            texts.extend([
                format!("-{}", digits % 1000),
                format!("{:.places$}", 1e4 * unit),
                format!("0{digits}.{places}"),
            ]);
        }
        for text in texts {
            let Cell::Number { value, plain } = classify(text.as_bytes()) else { panic!("{text}") };
            assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
            // at the end, before a little and before much
            for after in ["", ",1", "\n", ",0.25,12345678,-1,0,0,0,0,0,0,0"] {
                let Some(found) = decimal(format!("{text}{after}").as_bytes()) else {
                    assert!(text.len() > 19, "{text}");
                    continue;
                };
                let found = (found.value.to_bits(), found.plain, found.len);
                assert_eq!(found, (value.to_bits(), plain, text.len()), "{text}");
            }
        }
        for other in ["", "-", ".", "x", "1e5", "+", "inf", "1.5E3", "-.", "--1", "0.12345678901234567e3"] {
            assert_eq!(decimal(other.as_bytes()), None, "{other}");
            assert_eq!(decimal(format!("{other},,,,,,,,,,,,,,,,,,,,,,,,,,").as_bytes()), None, "{other}");
        }
        for twice in ["1.2.3", "1.2.3,,,,,,,,,,", "1.2.3.4.5.6.7.8.9,"] {
            assert_eq!(decimal(twice.as_bytes()).map(|d| d.len), Some(3));
        }
        assert_eq!(whole_number(b"1234567:1"), Some((1_234_567, 7)));
        assert_eq!(whole_number(b"1234567890:1"), Some((1_234_567_890, 10)));
        assert_eq!(
            (whole_number(b"7"), whole_number(b":1"), whole_number(b"12345678901:")),
            (Some((7, 1)), None, None)
        );
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
