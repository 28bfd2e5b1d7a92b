//! Reports: facts, tables and JSON documents on standard output.

use crate::failure::Failure;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets::UTF8_BORDERS_ONLY};
use serde_json::Value;
use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why standard output could not be written, the first time.
static BROKEN: Mutex<Option<io::Error>> = Mutex::new(None);

/// True if standard output carries data, so that reports go to standard error.
static DATA_ON_STANDARD_OUTPUT: AtomicBool = AtomicBool::new(false);

/// Leaves standard output to the data that a verb writes there: reports go to standard error from now on.
pub(crate) fn leave_standard_output() {
    DATA_ON_STANDARD_OUTPUT.store(true, Ordering::SeqCst);
}

/// Prints a text for people, with control characters shown. What goes wrong is told at the end of the program.
pub fn print(text: &str) {
    let text = visible(text);
    if DATA_ON_STANDARD_OUTPUT.load(Ordering::SeqCst) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    } else {
        write(|out| writeln!(out, "{text}"));
    }
}

/// Prints one JSON document. What goes wrong is told at the end of the program.
pub fn print_json(document: &Value) {
    let notes = NOTES.lock().unwrap_or_else(PoisonError::into_inner);
    let mut document = Cow::Borrowed(document);
    if !notes.is_empty() && document.is_object() {
        document.to_mut()["file_notes"] = Value::from(notes.clone());
    }
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    write(|out| writeln!(out, "{text}"));
}

/// Prints a file, as it is to a file or a pipe, and with control characters shown on a terminal. What goes wrong is told at the
/// end of the program.
pub fn print_file(print: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    if io::stdout().is_terminal() {
        let mut bytes = Vec::new();
        write(|out| {
            print(&mut bytes)?;
            out.write_all(visible(&String::from_utf8_lossy(&bytes)).as_bytes())
        });
    } else {
        write(|out| {
            let mut buffered = io::BufWriter::new(out);
            print(&mut buffered)?;
            buffered.flush()
        });
    }
}

/// Writes to standard output, unless that has failed before.
fn write(print: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    if broken().is_some() {
        return;
    }
    let mut out = io::stdout().lock();
    if let Err(error) = print(&mut out).and_then(|()| out.flush()) {
        *broken() = Some(error);
    }
}

fn broken() -> MutexGuard<'static, Option<io::Error>> {
    BROKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The failure to write standard output, if there was one; a reader that went away is none.
pub(crate) fn outcome() -> Result<(), Failure> {
    match &*broken() {
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::file(Path::new("-"), error)),
        _ => Ok(()),
    }
}

/// Says a sentence on standard error after a word such as "warning", with control characters shown.
pub fn say(word: &str, sentence: &str) {
    // where standard error is closed, there is nobody to tell
    let _ = writeln!(io::stderr().lock(), "{word}: {}", visible(sentence));
}

/// Sentences that a document repeats.
static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A note about what was read, on standard error and, under `file_notes`, in the document that is printed, if one is.
pub fn note(sentence: &str) {
    let mut notes = NOTES.lock().unwrap_or_else(PoisonError::into_inner);
    // a file that is read twice is told of once
    if !notes.iter().any(|told| told == sentence) {
        say("note", sentence);
        notes.push(sentence.to_owned());
    }
}

/// A warning on standard error.
pub fn warn(sentence: &str) {
    say("warning", sentence);
}

/// A text whose control characters are shown, as `\u{1b}`, and not sent to a terminal, which would obey them; lines stay
/// lines. Names in files and models may hold anything.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| !matches!(c, '\n' | '\t') && is_obeyed(c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if is_obeyed(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// A text of one line, likewise.
fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// True if a terminal does something else than show a character: control characters, and those that turn the direction of
/// what follows round.
fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Two columns: what, and how much.
pub fn facts(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let line = |(name, value): &(&str, String)| {
        format!("  {name}{}  {}", " ".repeat(width - name.chars().count()), visible_line(value))
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A table with a header and lines as long as the terminal has them, or as long as they are.
fn arranged(header: &[&str], rows: &[Vec<String>]) -> Table {
    let mut table = empty();
    table.load_style(UTF8_BORDERS_ONLY).set_header(header.iter().map(|name| visible_line(name)));
    for row in rows {
        table.add_row(row.iter().map(|cell| visible_line(cell)));
    }
    table
}

/// A table as wide as the terminal. Some terminals say that they have no columns; then nothing is known of them.
fn empty() -> Table {
    let mut table = Table::new();
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if table.width() == Some(0) {
        table.set_width(PAGE);
    }
    table
}

/// Columns of a page where there is no terminal.
const PAGE: u16 = 100;

/// A table of sentences, which are folded to a page even where there is no terminal.
pub fn page(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = arranged(header, rows);
    // a terminal that tells no width has none to keep to
    if table.width().is_none_or(|width| width == 0) {
        table.set_width(PAGE);
    }
    // a name is not broken
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    table.to_string()
}

/// Columns of the terminal, or of a page.
fn columns() -> usize {
    usize::from(empty().width().unwrap_or(PAGE))
}

/// A text in lines that fit the terminal, each after so many blanks.
pub fn folded(text: &str, blanks: usize) -> String {
    let (room, margin) = (columns().saturating_sub(blanks).max(20), " ".repeat(blanks));
    fold(text, room).iter().map(|line| format!("{margin}{line}")).collect::<Vec<_>>().join("\n")
}

/// Two columns: what, and a text in lines that fit the terminal. A name that is longer than a third of a line stands alone.
pub fn folded_facts(rows: &[(&str, String)]) -> String {
    let all = columns();
    let longest = rows.iter().map(|(name, _)| name.chars().count()).filter(|n| *n <= all / 3).max().unwrap_or(0);
    let room = all.saturating_sub(longest + 4).max(20);
    let mut lines = Vec::new();
    for (name, text) in rows {
        let mut folds = fold(text, room).into_iter();
        let length = name.chars().count();
        if length > longest {
            lines.push(format!("  {name}"));
        } else {
            let first = folds.next().unwrap_or_default();
            lines.push(format!("  {name}{}  {first}", " ".repeat(longest - length)).trim_end().to_owned());
        }
        lines.extend(folds.map(|line| format!("  {}  {line}", " ".repeat(longest))));
    }
    lines.join("\n")
}

/// Lines of at most so many characters, broken at blanks.
fn fold(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A table with a header; columns from the second on are numbers if `numbers`.
pub fn table(header: &[&str], rows: &[Vec<String>], numbers: bool) -> String {
    let mut table = arranged(header, rows);
    if table.width() == Some(0) {
        table.set_width(u16::MAX);
    }
    if numbers {
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

/// Six decimals at most, and an exponent for very large and very small numbers.
pub fn short(x: f64) -> String {
    if x == x.trunc() && x.abs() < 1e9 {
        return format!("{x}");
    }
    let digits = format!("{x:.6}");
    if x.abs() >= 1e-4 && x.abs() < 1e9 {
        digits.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{x:.4e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(visible("plain é κ(x, y)\n\tline"), "plain é κ(x, y)\n\tline");
        assert_eq!(visible("a\u{1b}[31mb\r\u{7f}\u{9b}\u{202e}\0"), "a\\u{1b}[31mb\\r\\u{7f}\\u{9b}\\u{202e}\\u{0}");
        assert_eq!(facts(&[("name", "a\nb\tc\u{7}".to_owned())]), "  name  a\\nb\\tc\\u{7}");
        let drawn = table(&["a\u{1b}[2J"], &[vec!["x\ny".to_owned()]], false);
        assert!(drawn.contains("a\\u{1b}[2J") && drawn.contains("x\\ny"), "{drawn}");
    }
}
