//! The byte that separates the cells, found in the first lines.
//!
//! A delimiter gives every line the same number of cells. Among those that do, the one that yields most numbers wins,
//! then the one that the file's extension suggests. Blanks count only if half the cells are numbers: running text
//! has blanks too.

use super::number::{Cell, classify};
use super::record::Delimiter;

const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Smallest share of the lines that a delimiter must fit: a few ragged lines are errors to be named, not evidence.
const MIN_FITTING_SHARE: f64 = 0.8;

/// The fit of a delimiter.
struct Fit {
    /// Share of the lines that have the commonest number of cells.
    steady: f64,
    /// Share of cells that are numbers or missing marks.
    numeric: f64,
}

/// The delimiter of a text by its first bytes and its extension.
pub(super) fn detect(head: &[u8], whole: bool, extension: &str) -> Delimiter {
    let lines = sample(head, whole);
    let usual = match extension {
        "tsv" | "tab" => b'\t',
        _ => b',',
    };
    // running text is full of commas, so a tab file is one as soon as its lines have tabs
    if usual == b'\t' && lines.iter().any(|l| l.contains(&b'\t')) {
        return Delimiter::Byte(b'\t');
    }
    let mut best: Option<(f64, f64, bool, u8)> = None;
    for candidate in CANDIDATES {
        if let Some(fit) = fit(&lines, Delimiter::Byte(candidate)) {
            // shares are compared in steps of a hundredth: a title line more or less is no evidence
            let rank = (fit.steady, (fit.numeric * 100.0).round(), candidate == usual, candidate);
            if best.is_none_or(|b| (rank.0, rank.1, rank.2) > (b.0, b.1, b.2)) {
                best = Some(rank);
            }
        }
    }
    if let Some((.., byte)) = best {
        return Delimiter::Byte(byte);
    }
    match fit(&lines, Delimiter::Blanks) {
        Some(fit) if fit.numeric >= 0.5 => Delimiter::Blanks,
        _ if extension == "csv" => Delimiter::Byte(b','),
        // one column of text
        _ => Delimiter::Byte(b'\t'),
    }
}

/// The first lines that are neither blank nor comments; a last line that may be cut off is left out.
fn sample(head: &[u8], whole: bool) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = head.split(|&b| b == b'\n').collect();
    if !whole && lines.len() > 1 {
        lines.pop();
    }
    lines.retain(|l| !l.trim_ascii().is_empty());
    if lines.iter().any(|l| l[0] != b'#') {
        lines.retain(|l| l[0] != b'#');
    }
    lines.truncate(200);
    lines
}

/// `None` unless nearly all lines have the same number of cells, at least two.
fn fit(lines: &[&[u8]], delimiter: Delimiter) -> Option<Fit> {
    let mut counts: Vec<usize> = Vec::with_capacity(lines.len());
    let (mut numeric, mut cells) = (0_usize, 0_usize);
    for line in lines {
        let parts = split(line, delimiter);
        counts.push(parts.len());
        cells += parts.len();
        let plain =
            parts.iter().filter(|p| matches!(classify(p.trim_ascii()), Cell::Missing | Cell::Number { .. })).count();
        numeric += plain + decimal_commas(&parts, plain);
    }
    counts.sort_unstable();
    let commonest = counts.chunk_by(|a, b| a == b).max_by_key(|run| run.len())?;
    let steady = commonest.len() as f64 / lines.len() as f64;
    (commonest[0] >= 2 && steady >= MIN_FITTING_SHARE).then(|| Fit { steady, numeric: numeric as f64 / cells as f64 })
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
        let found = |text: &str, extension: &str| detect(text.as_bytes(), true, extension);
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
}
