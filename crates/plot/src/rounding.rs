//! Numbers that are proven, in so many digits that the text never says more than the number: bounds from above are rounded up, coverages and
//! bounds from below down. This is the one way in which guarantees are printed.

/// A difference that is the rounding of a few operations and not a digit of the number, as a share of it: 0.9 stays 0.9.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// The direction in which a printed number may be off.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Up,
    Down,
}

/// A number with so many decimals, rounded up: a bound from above.
pub fn at_most(value: f64, decimals: usize) -> String {
    rounded(value, decimals, Direction::Up)
}

/// A number with so many decimals, rounded down: a coverage, or a bound from below.
pub fn at_least(value: f64, decimals: usize) -> String {
    rounded(value, decimals, Direction::Down)
}

/// A share in percent with so many decimals, rounded up; more decimals where it would be rounded to all and is not, and a power of ten where
/// it would be rounded up from nothing.
pub fn percent_at_most(share: f64, decimals: usize) -> String {
    let least = 10_f64.powi(-(decimals as i32) - 2);
    if share > 0.0 && share < least {
        return in_percent(&significant(share, 2, Direction::Up));
    }
    let shown = percent(share, decimals, Direction::Up);
    if share < 1.0 && shown.parse::<f64>().is_ok_and(|v| v >= 100.0) {
        return trimmed(&percent(share, decimals + 3, Direction::Up));
    }
    shown
}

/// A share in percent with so many decimals, rounded down.
pub fn percent_at_least(share: f64, decimals: usize) -> String {
    percent(share, decimals, Direction::Down)
}

/// A number with so many digits, whatever its size, rounded up.
pub fn digits_at_most(value: f64, digits: usize) -> String {
    significant(value, digits, Direction::Up)
}

/// The same text without zeros at the end of its decimals.
pub fn trimmed(text: &str) -> String {
    if !text.contains('.') || text.contains('e') {
        return text.to_owned();
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// True if a text that is as near as its digits allow lies on the wrong side of the number.
fn misses(text: &str, value: f64, side: Direction) -> bool {
    let shown: f64 = text.parse().unwrap_or(value);
    let room = ROUNDING * value.abs();
    match side {
        Direction::Up => shown < value - room,
        Direction::Down => shown > value + room,
    }
}

fn rounded(value: f64, decimals: usize, side: Direction) -> String {
    let text = format!("{value:.decimals$}");
    if !value.is_finite() || !misses(&text, value, side) {
        return text;
    }
    let unit = 10_f64.powi(-(decimals as i32));
    let shown: f64 = text.parse().unwrap_or(value);
    format!("{:.decimals$}", if side == Direction::Up { shown + unit } else { shown - unit })
}

/// 100 times a share: the point moves, so that no digit changes.
fn percent(share: f64, decimals: usize, side: Direction) -> String {
    let text = rounded(share, decimals + 2, side);
    let Some((whole, rest)) = text.split_once('.') else { return text };
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |whole| ("-", whole));
    let moved = format!("{whole}{}", &rest[..2]);
    let whole = moved.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    if decimals == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{}", &rest[2..]) }
}

fn significant(value: f64, digits: usize, side: Direction) -> String {
    let more = digits.max(1) - 1;
    let text = format!("{value:.more$e}");
    let text = if value.is_finite() && value != 0.0 && misses(&text, value, side) {
        let shown: f64 = text.parse().unwrap_or(value);
        let power: i32 = text.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
        let unit = 10_f64.powi(power - more as i32);
        format!("{:.more$e}", if side == Direction::Up { shown + unit } else { shown - unit })
    } else {
        text
    };
    let shown: f64 = text.parse().unwrap_or(value);
    // small and large numbers keep their power of ten
    if shown == 0.0 || (1e-4..1e6).contains(&shown.abs()) {
        let power = text.split_once('e').and_then(|(_, power)| power.parse::<i32>().ok()).unwrap_or(0);
        let decimals = usize::try_from(more as i32 - power).unwrap_or(0);
        return trimmed(&format!("{shown:.decimals$}"));
    }
    text
}

/// 100 times a number with a power of ten or decimals.
fn in_percent(text: &str) -> String {
    match text.split_once('e').and_then(|(front, power)| Some((front, power.parse::<i32>().ok()?))) {
        Some((front, power)) => format!("{front}e{}", power + 2),
        None => {
            let decimals = text.split_once('.').map_or(0, |(_, rest)| rest.len()).max(2) - 2;
            format!("{:.decimals$}", 100.0 * text.parse::<f64>().unwrap_or(f64::NAN))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proven_number_is_never_rounded_to_its_better_side() {
        assert_eq!((at_least(0.89951, 1), at_most(0.89951, 1)), ("0.8".to_owned(), "0.9".to_owned()));
        assert_eq!((at_least(0.89951, 3), at_most(0.89951, 3)), ("0.899".to_owned(), "0.900".to_owned()));
        assert_eq!(percent_at_least(0.89951, 1), "89.9");
        assert_eq!(percent_at_most(0.11341, 1), "11.4");
        assert_eq!((percent_at_most(0.9, 1), percent_at_least(0.9, 1)), ("90.0".to_owned(), "90.0".to_owned()));
        // 100 · 0.29 and 100 · 0.07 are no 29 and 7 in binary
        assert_eq!((percent_at_least(0.29, 1), percent_at_most(0.07, 1)), ("29.0".to_owned(), "7.0".to_owned()));
        assert_eq!(percent_at_least(1.0 - 2.0 * (1.0 - 0.95), 1), "90.0");
        let mut state = 1_u64;
        for _ in 0..4000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = (state >> 11) as f64 / (1_u64 << 53) as f64;
            for decimals in 0..6 {
                let (up, down) = (at_most(value, decimals), at_least(value, decimals));
                let (high, low): (f64, f64) = (up.parse().unwrap(), down.parse().unwrap());
                assert!(
                    low <= value && value <= high && high - low < 1.001 * 10_f64.powi(-(decimals as i32)),
                    "{value}"
                );
                let (up, down) = (percent_at_most(value, decimals), percent_at_least(value, decimals));
                let (high, low): (f64, f64) = (up.parse().unwrap(), down.parse().unwrap());
                assert!(low / 100.0 <= value * (1.0 + 1e-15) && value <= high / 100.0 * (1.0 + 1e-15), "{value} {up}");
            }
            let small = value * 1e-9;
            assert!(digits_at_most(small, 3).parse::<f64>().unwrap() >= small);
        }
    }

    #[test]
    fn ends_of_the_scale_stay_apart_from_what_is_near_them() {
        assert_eq!((percent_at_most(1.0, 1), percent_at_most(0.99999, 1)), ("100.0".to_owned(), "99.999".to_owned()));
        assert_eq!((percent_at_most(0.0, 1), percent_at_most(3.21e-9, 1)), ("0.0".to_owned(), "3.3e-7".to_owned()));
        assert_eq!(percent_at_most(0.00041, 1), "0.041");
        assert_eq!((percent_at_least(0.0, 1), percent_at_least(1.0, 1)), ("0.0".to_owned(), "100.0".to_owned()));
        assert_eq!((percent_at_least(0.999_999_9, 1), percent_at_most(0.2, 0)), ("99.9".to_owned(), "20".to_owned()));
        assert_eq!((digits_at_most(0.123_41, 4), digits_at_most(1234.51, 4)), ("0.1235".to_owned(), "1235".to_owned()));
        assert_eq!((digits_at_most(12_345.0, 4), at_most(f64::INFINITY, 2)), ("12350".to_owned(), "inf".to_owned()));
        assert_eq!((at_least(-0.15, 1), at_most(-0.15, 1)), ("-0.2".to_owned(), "-0.1".to_owned()));
    }
}
