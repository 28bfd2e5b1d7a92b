//! The byte that separates the cells, found in the first lines.
//!
//! A delimiter gives every line the same number of cells. Among those that do, the one wins whose cells have least of the others in them, for a
//! true cell has none but in numbers such as 1,5; then the one that the file's extension suggests, which is told, then the one that yields most
//! numbers. Blanks count only if half the cells are numbers: running text has blanks too.

use super::number::{Cell, classify};
use super::record::Delimiter;
use memchr::{memchr, memchr2};
use std::cmp::Ordering;

const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Smallest share of the lines that a delimiter must fit: a few ragged lines are errors to be named, not evidence.
const MIN_FITTING_SHARE: f64 = 0.8;
/// Lines that are looked at.
const MAX_LINES: usize = 200;

/// The fit of a delimiter.
struct Fit {
    /// Share of the lines that have the commonest number of cells.
    steady: f64,
    /// Share of cells that have another candidate in them and are no numbers.
    mixed: f64,
    /// Share of cells that are numbers or missing marks.
    numeric: f64,
}

/// The delimiter of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) delimiter: Delimiter,
    /// Another one that would fit as well.
    pub(super) rival: Option<u8>,
}

/// The delimiter of a text by its first bytes and its extension.
pub(super) fn detect(head: &[u8], whole: bool, extension: &str) -> Found {
    let surely = |delimiter| Found { delimiter, rival: None };
    let lines = sample(head, whole, None);
    let usual = match extension {
        "tsv" | "tab" => b'\t',
        _ => b',',
    };
    // running text is full of commas, so a tab file is one as soon as its lines have tabs
    if usual == b'\t' && lines.iter().any(|l| l.contains(&b'\t')) {
        return surely(Delimiter::Byte(b'\t'));
    }
    // shares are compared in steps of a hundredth: a title line more or less is no evidence
    let step = |share: f64| (share * 100.0).round();
    let mut ranked: Vec<_> = CANDIDATES
        .into_iter()
        .filter_map(|byte| Some((fit(&sample(head, whole, Some(byte)), Delimiter::Byte(byte))?, byte)))
        .map(|(fit, byte)| {
            ([fit.steady, -step(fit.mixed), f64::from(u8::from(byte == usual)), step(fit.numeric)], byte)
        })
        .collect();
    // stable: among equals the first candidate
    ranked.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal));
    if let Some(&(best, byte)) = ranked.first() {
        let rival = ranked.get(1).filter(|(rank, _)| rank[..2] == best[..2]).map(|(_, byte)| *byte);
        return Found { delimiter: Delimiter::Byte(byte), rival };
    }
    surely(match fit(&lines, Delimiter::Blanks) {
        Some(fit) if fit.numeric >= 0.5 => Delimiter::Blanks,
        _ if extension == "csv" => Delimiter::Byte(b','),
        // one column of text
        _ => Delimiter::Byte(b'\t'),
    })
}

/// The first lines that are neither blank nor comments, or the records where a delimiter says which quotes begin a cell: line ends inside of
/// these are no ends. A last line that may be cut off is left out.
fn sample(head: &[u8], whole: bool, delimiter: Option<u8>) -> Vec<&[u8]> {
    let (mut lines, mut marked, mut at) = (Vec::new(), 0, 0);
    while at < head.len() && lines.len() - marked < MAX_LINES {
        let text = &head[at..];
        let line_end = memchr(b'\n', text);
        let end = delimiter.map_or(line_end, |delimiter| end_of_record(text, delimiter));
        // what is open at the end may be cut off; if it is not, the quote is just a character
        let Some(end) = end.or_else(|| (whole || lines.is_empty()).then(|| line_end.unwrap_or(text.len()))) else {
            break;
        };
        let line = &text[..end];
        at += end + 1;
        if !line.trim_ascii().is_empty() {
            marked += usize::from(line[0] == b'#');
            lines.push(line);
        }
    }
    if lines.len() > marked {
        lines.retain(|l| l[0] != b'#');
    }
    lines
}

/// The place of the line end that ends the record at the beginning of a text; `None` where it goes on behind the text. Quotes that are not
/// closed at the end of a cell are just characters, if lines end between them.
fn end_of_record(text: &[u8], delimiter: u8) -> Option<usize> {
    let is_blank = |&&b: &&u8| b == b' ' || (b == b'\t' && delimiter != b'\t');
    let blanks = |at: usize| text[at..].iter().take_while(is_blank).count();
    let mut at = 0;
    loop {
        at += blanks(at);
        if text.get(at) == Some(&b'"') {
            let mut behind = at + 1;
            loop {
                behind += memchr(b'"', &text[behind..])? + 1;
                if text.get(behind) != Some(&b'"') {
                    break;
                }
                behind += 1;
            }
            let after = behind + blanks(behind);
            let closes = text.get(after).is_none_or(|b| [delimiter, b'\n', b'\r'].contains(b));
            if !closes && text[at..after].contains(&b'\n') {
                return Some(at + memchr(b'\n', &text[at..])?);
            }
            at = after;
        }
        at += memchr2(delimiter, b'\n', &text[at..])?;
        if text[at] == b'\n' {
            return Some(at);
        }
        at += 1;
    }
}

/// `None` unless nearly all lines have the same number of cells, at least two.
fn fit(lines: &[&[u8]], delimiter: Delimiter) -> Option<Fit> {
    let mut counts: Vec<usize> = Vec::with_capacity(lines.len());
    let (mut numeric, mut mixed, mut cells) = (0_usize, 0_usize, 0_usize);
    for line in lines {
        let parts = split(line, delimiter);
        counts.push(parts.len());
        cells += parts.len();
        let plain =
            parts.iter().filter(|p| matches!(classify(p.trim_ascii()), Cell::Missing | Cell::Number { .. })).count();
        numeric += plain + decimal_commas(&parts, plain);
        mixed += parts.iter().filter(|part| is_mixed(part)).count();
    }
    counts.sort_unstable();
    let commonest = counts.chunk_by(|a, b| a == b).max_by_key(|run| run.len())?;
    let steady = commonest.len() as f64 / lines.len() as f64;
    let share = |count: usize| count as f64 / cells as f64;
    let fit = Fit { steady, mixed: share(mixed), numeric: share(numeric) };
    (commonest[0] >= 2 && steady >= MIN_FITTING_SHARE).then_some(fit)
}

/// True for a cell without quotes that has a delimiter in it and is no number, as 1,5 and 1,234.50 are.
fn is_mixed(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    !cell.starts_with(b"\"") && cell.iter().any(|b| CANDIDATES.contains(b)) && !is_number_with_commas(cell)
}

/// True for 1,5 and 1.234,5 and 1,234,567.5, but not for 1,2,3.
fn is_number_with_commas(cell: &[u8]) -> bool {
    let unsigned = cell.strip_prefix(b"-").or_else(|| cell.strip_prefix(b"+")).unwrap_or(cell);
    let are_digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let parts: Vec<&[u8]> = unsigned.split(|&b| b == b',').collect();
    let [first, between @ .., last] = parts.as_slice() else { return false };
    let is_decimal = || between.is_empty() && first.split(|&b| b == b'.').all(are_digits) && are_digits(last);
    let is_parted = || {
        let (group, fraction) = last.split_at(last.len().min(3));
        let groups = || between.iter().copied().chain([group]);
        let fraction = fraction.is_empty() || fraction.strip_prefix(b".").is_some_and(are_digits);
        first.len() <= 3 && are_digits(first) && fraction && groups().all(|group| group.len() == 3 && are_digits(group))
    };
    is_decimal() || is_parted()
}

/// The number of cells with decimal commas, which count as numbers where every cell with a comma is one, and they are at least half of
/// the numbers, as in 1,5;2,5;a.
fn decimal_commas(parts: &[&[u8]], plain: usize) -> usize {
    let with: Vec<&[u8]> = parts.iter().map(|p| p.trim_ascii()).filter(|p| p.contains(&b',')).collect();
    let is_decimal = |cell: &&[u8]| {
        let unsigned = cell.strip_prefix(b"-").or_else(|| cell.strip_prefix(b"+")).unwrap_or(cell);
        let mut halves = unsigned.split(|&b| b == b',');
        let digits = |half: Option<&[u8]>| half.is_some_and(|h| !h.is_empty() && h.iter().all(u8::is_ascii_digit));
        digits(halves.next()) && digits(halves.next()) && halves.next().is_none()
    };
    if with.len() >= plain && with.iter().all(is_decimal) { with.len() } else { 0 }
}

/// A rough split that knows quotes but not escapes or line ends in quotes.
pub(super) fn split(line: &[u8], delimiter: Delimiter) -> Vec<&[u8]> {
    match delimiter {
        Delimiter::Blanks => line.split(u8::is_ascii_whitespace).filter(|p| !p.is_empty()).collect(),
        Delimiter::Byte(byte) => {
            let mut open = false;
            line.split(|&b| {
                open ^= b == b'"';
                !open && b == byte
            })
            .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steady_delimiter_wins() {
        let found = |text: &str, extension: &str| detect(text.as_bytes(), true, extension).delimiter;
        assert_eq!(found("a,b\n1,2\n", "csv"), Delimiter::Byte(b','));
        assert_eq!(found("a;b\n1,5;2\n3;4\n5;6\n7;8\n", "csv"), Delimiter::Byte(b';'));
        assert_eq!(found("a|b\n1|2\n", ""), Delimiter::Byte(b'|'));
        assert_eq!(found("1\t2\n3\t4\n", "txt"), Delimiter::Byte(b'\t'));
        assert_eq!(found("  1  2\n 3 4 \n", "txt"), Delimiter::Blanks);
        assert_eq!(found("\"a;b\",1\n\"c\",2\n", "csv"), Delimiter::Byte(b','));
        assert_eq!(found("ham\thi, you, there\nspam\tgo, you, on\n", "tsv"), Delimiter::Byte(b'\t'));
        assert_eq!(found("1,5;2,5;a\n2,5;3,5;b\n1,7;2,8;a\n", "csv"), Delimiter::Byte(b';'), "decimal commas");
        assert_eq!(found("1,5\t2,5\ta\n2,5\t3,5\tb\n", "csv"), Delimiter::Byte(b'\t'), "decimal commas");
        assert_eq!(found("1,2\n3,4\n5,6,7\n8,9\n1,2\n", "csv"), Delimiter::Byte(b','), "ragged");
        assert_eq!(found("hello you there\nwell then\n", "txt"), Delimiter::Byte(b'\t'), "one column of text");
    }

    #[test]
    fn line_ends_in_quotes_end_no_line() {
        for (byte, name) in [(b';', "semicolon"), (b'\t', "tab"), (b'|', "bar"), (b',', "comma")] {
            let d = byte as char;
            let rows = (0..30).map(|i| format!("{i}{d}\"eins, \"\"zwei\"\"\n\ndrei; vier\"{d}{d}a\n"));
            let text = rows.collect::<Vec<_>>().concat();
            let found = |text: &str, whole: bool| detect(text.as_bytes(), whole, "csv").delimiter;
            assert_eq!(found(&text, true), Delimiter::Byte(byte), "{name}");
            assert_eq!(found(&text[..text.len() - 10], false), Delimiter::Byte(byte), "{name}, cut off");
            // quotes that close no cell join no lines
            let rows = (0..30).map(|i| format!("{i}{d}\"so{d}a\n{i}{d}4\" x{d}b\n"));
            let stray = rows.collect::<Vec<_>>().concat();
            assert_eq!(found(&stray, true), Delimiter::Byte(byte), "{name}, stray");
        }
    }
    #[test]
    fn the_extension_decides_between_equals_and_that_is_told() {
        let found = |text: &str, extension: &str| {
            let found = detect(text.as_bytes(), true, extension);
            (found.delimiter, found.rival)
        };
        let comma = (Delimiter::Byte(b','), Some(b'|'));
        assert_eq!(found("a|b,spam\n12|34,ham\n22|1,spam\n", "csv"), comma);
        assert_eq!(found("12;34,spam\n12;33,ham\n", "csv"), (Delimiter::Byte(b','), Some(b';')));
        // numbers may have a comma, cells of words none of the others
        let semicolon = (Delimiter::Byte(b';'), None);
        assert_eq!(found("1,5;rot;ja\n2,5;gelb;nein\n", "csv"), semicolon);
        assert_eq!(found("1,234.50;2\n1,000.25;3\n", "csv"), semicolon);
        assert_eq!(found("0.5,1.2,3;4\n1.5,1.2,5;6\n", "csv"), (Delimiter::Byte(b','), None));
        assert_eq!(found("Doe, Jim;1;2;3\nRoe, Jane;4;5;6\n", "csv"), semicolon);
        assert_eq!(found("\"a;b\",\"c;d\"\n\"e;f\",\"g;h\"\n", "csv"), (Delimiter::Byte(b','), None));
    }
}
