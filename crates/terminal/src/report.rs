//! Reports: facts, tables and JSON documents on standard output.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets::UTF8_BORDERS_ONLY};
use serde_json::Value;
use std::io::Write;

/// Prints to standard output; a reader that went away is no error.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.write_all(b"\n");
    let _ = out.flush();
}

/// Prints one JSON document.
pub fn print_json(document: &Value) {
    print(&serde_json::to_string_pretty(document).unwrap_or_default());
}

/// Two columns: what, and how much.
pub fn facts(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let line =
        |(name, value): &(&str, String)| format!("  {name}{}  {value}", " ".repeat(width - name.chars().count()));
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A table with a header and lines as long as the terminal has them, or as long as they are.
fn arranged(header: &[&str], rows: &[Vec<String>]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Dynamic).set_header(header);
    for row in rows {
        table.add_row(row);
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
    let mut table = Table::new();
    table.set_content_arrangement(ContentArrangement::Dynamic);
    usize::from(table.width().filter(|width| *width > 0).unwrap_or(PAGE))
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
