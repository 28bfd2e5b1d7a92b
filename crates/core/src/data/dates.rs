//! Dates and times as numbers.

/// The days since 1970-01-01 of a date such as 2024-02-29, with the part of the day where a time follows: 2024-02-29T12:30,
/// 2024-02-29 12:30:15.5, 2024-02-29T12:30:15Z or 2024-02-29T12:30:15+01:00, which is an hour earlier. A time without a zone counts as it
/// is written. `None` for anything else.
///
/// # Source
/// ISO 8601, calendar dates in the extended form, years 0001 to 9999 of the Gregorian calendar.
pub fn days(text: &str) -> Option<f64> {
    let (date, time) = match text.split_at_checked(10)? {
        (date, "") => (date, None),
        (date, rest) => (date, Some(rest.strip_prefix(['T', 't', ' '])?)),
    };
    let [year, month, day] = <[&str; 3]>::try_from(date.split('-').collect::<Vec<_>>()).ok()?;
    let (year, month, day) = (digits(year, 4)?, digits(month, 2)?, digits(day, 2)?);
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = *lengths.get(usize::try_from(month.checked_sub(1)?).ok()?)?;
    if year == 0 || day == 0 || day > length {
        return None;
    }
    let before = year - 1;
    let years = 365 * before + before / 4 - before / 100 + before / 400;
    let months: u32 = lengths.iter().take(month as usize - 1).sum();
    // 719 162 days lie between 0001-01-01 and 1970-01-01
    let whole = f64::from(years + months + day - 1) - 719_162.0;
    Some(whole + time.map_or(Some(0.0), seconds)? / 86_400.0)
}

/// The seconds since midnight of a time, in the zone of Greenwich where it names one.
fn seconds(text: &str) -> Option<f64> {
    let (clock, zone) = match text.find(['Z', 'z', '+', '-']) {
        None => (text, 0.0),
        Some(at) => {
            let (clock, zone) = text.split_at(at);
            (clock, if zone.eq_ignore_ascii_case("z") { 0.0 } else { offset(zone)? })
        }
    };
    let mut parts = clock.trim_end().split(':');
    let (hours, minutes) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let seconds = match parts.next() {
        None => 0.0,
        Some(text) => {
            let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
            let plain = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            f64::from(digits(whole, 2)?) + format!("0.{part}").parse::<f64>().ok().filter(|_| plain)?
        }
    };
    let fits = hours < 24 && minutes < 60 && seconds < 61.0 && parts.next().is_none();
    fits.then(|| f64::from(3600 * hours + 60 * minutes) + seconds - zone)
}

/// The seconds of +01:00, +0100 or +01.
fn offset(text: &str) -> Option<f64> {
    let (sign, rest) = text.split_at_checked(1)?;
    let plain = rest.replace(':', "");
    let (hours, minutes) = plain.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { digits(minutes, 2)? };
    let seconds = f64::from(3600 * digits(hours, 2)? + 60 * minutes);
    Some(if sign == "-" { -seconds } else { seconds })
}

/// A number of so many digits and nothing else.
fn digits(text: &str, count: usize) -> Option<u32> {
    (text.len() == count && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        // datetime.date(…).toordinal() − 719163
        for (text, wanted) in [
            ("1970-01-01", 0.0),
            ("1969-12-31", -1.0),
            ("2000-02-29", 11_016.0),
            ("2024-03-01", 19_783.0),
            ("0001-01-01", -719_162.0),
            ("9999-12-31", 2_932_896.0),
            ("2024-03-01T12:00", 19_783.5),
            ("2024-03-01 06:00:00.0Z", 19_783.25),
            ("2024-03-01T01:00:00+01:00", 19_783.0),
            ("2024-02-29T18:00:00-0600", 19_783.0),
        ] {
            assert_eq!(days(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "2024",
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-1-1",
            "01.02.2024",
            "2024-01-01x",
            "2024-01-01T",
            "2024-01-01T25:00",
            "2024-01-01T10:00:00+",
            "0000-01-01",
            "2024-01-32",
            "äöü4-01-01",
            "2024-01-01T10:00:1e1",
        ] {
            assert_eq!(days(text), None, "{text}");
        }
    }
}
