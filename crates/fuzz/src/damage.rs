//! Changes of bytes and of text, which know no grammar but that of words, numbers and lines.

use mercer::seed::Random;

/// The most bytes of an input.
pub const MAX_LEN: usize = 1 << 14;

/// Numbers at the edges of types and formats, and words that are taken for numbers.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "7",
    "0.5",
    "1e-3",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e154",
    "1e308",
    "-1.7976931348623157e308",
    "1e309",
    "5e-324",
    "1e-400",
    "1e999999999999",
    "0.1234567890123456789012345678901234567890",
    "00000000000000000000000000000000000000001",
    "nan",
    "inf",
    "-infinity",
    "0x10",
    "1_000",
    "1,5",
    "+-1",
    ".",
    "e",
    "-",
    "NA",
    "",
];

/// Characters that are more than one byte, that are not shown, or that end lines for some.
const CHARACTERS: &[&str] =
    &["\"", "'", ",", ";", "\t", " ", "\n", "\r", "\r\n", "\0", "\u{feff}", "é", "€", "\u{2028}", "😀", "\u{1b}[31m"];

/// Whole numbers at the edges of types, for fields of binary files.
pub const WHOLE: &[u64] = &[
    0,
    1,
    2,
    3,
    127,
    128,
    255,
    256,
    32767,
    65535,
    65536,
    1 << 24,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    1 << 53,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// Real numbers at the edges of the type.
pub const REAL: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    1e-3,
    1e3,
    1e15,
    9_007_199_254_740_993.0,
    1e154,
    -1e154,
    1e155,
    1e300,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    5e-324,
    1e-160,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

/// One of several things.
pub fn one<'a, T: ?Sized>(of: &[&'a T], random: &mut Random) -> &'a T {
    of[random.below(of.len())]
}

/// One to so many changes, of bytes and of words.
pub fn damaged(seed: &[u8], others: &[&[u8]], words: &[&str], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4).min(random.below(4)) {
        if random.below(3) == 0 {
            change_bytes(&mut bytes, others, random);
        } else {
            change_text(&mut bytes, others, words, random);
        }
        bytes.truncate(MAX_LEN);
    }
    bytes
}

/// A stretch of bytes, seldom a long one.
fn stretch(len: usize, random: &mut Random) -> std::ops::Range<usize> {
    let start = random.below(len + 1);
    let most = if random.below(4) == 0 { len } else { 8 };
    start..(start + random.below(most + 1)).min(len)
}

/// One change that sees bytes only.
pub fn change_bytes(bytes: &mut Vec<u8>, others: &[&[u8]], random: &mut Random) {
    if bytes.is_empty() {
        bytes.push(random.bits() as u8);
        return;
    }
    let at = random.below(bytes.len());
    match random.below(9) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(stretch(bytes.len(), random))),
        2 => bytes.insert(at, random.bits() as u8),
        3 => bytes[at] = *one(&[&0, &1, &0x7f, &0x80, &0xff, &b'9'], random),
        4 => {
            let copied = bytes[stretch(bytes.len(), random)].to_vec();
            bytes.splice(at..at, copied);
        }
        5 if !others.is_empty() => {
            let other = one(others, random);
            bytes.splice(at..at, other[stretch(other.len(), random)].to_vec());
        }
        6 => {
            let number = WHOLE[random.below(WHOLE.len())];
            let width = [1, 2, 4, 8][random.below(4)];
            let field = if random.below(2) == 0 { number.to_le_bytes() } else { number.to_be_bytes() };
            let field = if random.below(2) == 0 { &field[..width] } else { &field[8 - width..] };
            bytes.iter_mut().skip(at).zip(field).for_each(|(b, &new)| *b = new);
        }
        _ => bytes[at] ^= 1 << random.below(8),
    }
}

/// The words of a text, each with its place: letters, digits, signs and points that stand together.
fn words_of(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || b"+-._".contains(b) || *b >= 0x80;
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, _) in bytes.iter().enumerate().filter(|(_, b)| is_word(b)) {
        match found.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => found.push(at..at + 1),
        }
    }
    found
}

/// One change that sees words and lines.
pub fn change_text(bytes: &mut Vec<u8>, others: &[&[u8]], words: &[&str], random: &mut Random) {
    let all = if words.is_empty() { NUMBERS } else { words };
    match random.below(10) {
        0..=2 => {
            let places = words_of(bytes);
            if !places.is_empty() {
                let new = if random.below(2) == 0 { one(NUMBERS, random) } else { one(all, random) };
                bytes.splice(places[random.below(places.len())].clone(), new.bytes());
            }
        }
        3 => {
            let at = random.below(bytes.len() + 1);
            bytes.splice(at..at, one(all, random).bytes());
        }
        4 => {
            let at = random.below(bytes.len() + 1);
            bytes.splice(at..at, one(CHARACTERS, random).bytes());
        }
        5 => {
            let places = words_of(bytes);
            if places.len() > 1 {
                let word = bytes[places[random.below(places.len())].clone()].to_vec();
                bytes.splice(places[random.below(places.len())].clone(), word);
            }
        }
        change => {
            let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
            if lines.is_empty() {
                return;
            }
            let (from, to) = (random.below(lines.len()), random.below(lines.len()));
            match change {
                6 => drop(lines.remove(from)),
                7 => lines.swap(from, to),
                8 => {
                    let most = if random.below(8) == 0 { 300 } else { 3 };
                    let times = 1 + random.below(most);
                    let line = lines[from].clone();
                    lines.splice(to..to, std::iter::repeat_n(line, times));
                }
                _ => {
                    if !others.is_empty() {
                        let other: Vec<&[u8]> = one(others, random).split_inclusive(|&b| b == b'\n').collect();
                        if !other.is_empty() {
                            lines.insert(to, other[random.below(other.len())].to_vec());
                        }
                    }
                }
            }
            *bytes = lines.concat();
        }
    }
}
