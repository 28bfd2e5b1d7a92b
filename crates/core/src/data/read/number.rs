//! The meaning of one cell of text: a number, a missing mark or a word.
//!
//! Most cells are short decimals, so these are parsed by hand: a mantissa below 2⁵³ times or over a power of ten up
//! to 10²² is exact in one rounding (Clinger 1990). Everything else goes to the standard library, which rounds
//! correctly too, so both ways give the same bits.

/// A cell, classified.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    /// Nothing there.
    Missing,
    /// A finite number; `plain` if printing it gives the same text again, or if it has a point and more than 15 digits,
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

/// Powers of ten, then the same with a minus.
const SIGNED: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, -1e0, -1e1, -1e2, -1e3, -1e4, -1e5, -1e6, -1e7];

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
    /// True if its spelling need not be kept, as in [`Cell::Number`].
    pub(super) plain: bool,
    /// Number of bytes it takes.
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
    Some(of_parts(Parts { text, word, negative, whole, point, count, end }))
}

/// The decimal that a stop ends within eight bytes, in fewer steps; `None` if there is anything else before the stop.
#[inline(always)]
#[allow(clippy::needless_bitwise_bool)] // a lazy operator is a branch
pub(super) fn decimal_before(stop: u8, text: u64) -> Option<Decimal> {
    // the lowest high bit is that of the first byte that is the stop; the next cell waits for that alone
    let off = text ^ (u64::from(stop) * 0x0101_0101_0101_0101);
    let stops = off.wrapping_sub(0x0101_0101_0101_0101) & !off & 0x8080_8080_8080_8080;
    if stops == 0 {
        return None;
    }
    let len = stops.trailing_zeros() / 8;
    let negative = text as u8 == b'-';
    let sign = 8 * u32::from(negative);
    let (text, stops, end) = (text >> sign, stops >> sign, 8 * len - sign);
    let (word, other) = digits_and_others(text);
    // what is no digit before that may be one point
    let odd = other & (stops ^ (stops - 1)) & !stops;
    let whole = (odd.trailing_zeros() & !7).min(end);
    let point = u32::from(odd != 0);
    let count = end / 8 - point;
    let pointed = (text >> whole) as u8 == b'.';
    if (count == 0) | (odd & odd.wrapping_sub(1) != 0) | (pointed != (odd != 0)) {
        return None;
    }
    Some(Decimal { len: len as usize, ..of_parts(Parts { text, word, negative, whole, point, count, end }) })
}

/// Facts about a decimal of less than eight bytes.
#[derive(Clone, Copy)]
struct Parts {
    /// Its bytes without the sign, and the same as digits.
    text: u64,
    word: u64,
    negative: bool,
    /// Eight times the number of digits before the point.
    whole: u32,
    /// Number of points, and number of digits.
    point: u32,
    count: u32,
    /// Eight times the number of bytes.
    end: u32,
}

#[inline(always)]
#[allow(clippy::needless_bitwise_bool)] // a lazy operator is a branch
fn of_parts(parts: Parts) -> Decimal {
    let Parts { text, word, negative, whole, point, count, end } = parts;
    // the digits without the point, then leading zeros for what is not there
    let before = (1 << whole) - 1;
    let word = ((word & before) | ((word >> (8 * point)) & !before)) << (64 - 8 * count);
    let mantissa = joined(word);
    let fraction = count - whole / 8;
    // the sign comes with the divisor, since it would cost a way out of the registers of reals and back
    let value = mantissa as i64 as f64 / SIGNED[fraction as usize & 7 | usize::from(negative) << 3];
    let leading_zero = (whole != 8) & ((whole == 0) | (text as u8 == b'0'));
    let trailing_zero = (point == 1) & ((fraction == 0) | (word >> 56 == 0));
    let plain = !leading_zero & !trailing_zero & !(negative & (mantissa == 0));
    Decimal { value, plain, len: usize::from(negative) + end as usize / 8 }
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
    let value = quotient(mantissa, fraction, negative);
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

/// The same out of the way.
#[inline(never)]
pub(super) fn any_decimal(text: &[u8]) -> Option<Decimal> {
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
    let negative = text[0] == b'-';
    let value = quotient(mantissa, fraction, negative);
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

/// ± mantissa / 10^power for powers up to 19, rounded once.
///
/// With x the mantissa shifted to 64 bits and r its row of the table, x·r lies below the true product by less than 2⁶⁴, so
/// the upper half h tells the quotient up to h + 2. That decides the rounding to 53 bits unless the middle between two
/// numbers lies in between (Eisel & Lemire; Lemire 2021), which happens once in five hundred times.
#[inline(always)]
fn quotient(mantissa: u64, power: usize, negative: bool) -> f64 {
    if mantissa == 0 {
        return if negative { -0.0 } else { 0.0 };
    }
    let (reciprocal, bits) = RECIPROCALS[power];
    let up = mantissa.leading_zeros();
    let upper = ((u128::from(mantissa << up) * u128::from(reciprocal)) >> 64) as u64;
    let half = 1 << (9 + (upper >> 63));
    let low = upper & (2 * half - 1);
    if low == half || low == half - 1 {
        let size = divided(mantissa, power);
        return if negative { -size } else { size };
    }
    // half of it is a signed number, which converts in one step
    let shift = 2 - i64::from(bits) - i64::from(up) - power as i64;
    let scale = f64::from_bits(((1023 + shift) as u64) << 52 | u64::from(negative) << 63);
    ((upper >> 1) | (upper & 1)) as i64 as f64 * scale
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
#[path = "number_tests.rs"]
mod tests;
