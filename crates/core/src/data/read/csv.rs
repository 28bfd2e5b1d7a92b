//! Delimited text: CSV, TSV and their relatives.
//!
//! One pass fills the columns; a second one is made only if a column of numbers turned out to hold words, or many codes. A first
//! line of words is held back until the end, when the columns tell whether it is a header.

use super::super::schema::rejoined;
use super::super::{DataError, Field, Layout, Table};
use super::blocks::Blocks;
use super::column::Column;
use super::delimiter::detect;
use super::header::{Verdict, is_above_numbers, judge, may_be_name};
use super::lines::Lines;
use super::opening::{Opening, excels_delimiter, look};
use super::plain::Plain;
use super::record::{Delimiter, Records};
use super::{FormatEntry, ReadOptions, Source, remarks};
use crate::memory::Growth;
use crate::params::brief;

/// The format.
pub(super) static CSV: FormatEntry = FormatEntry {
    name: "csv",
    summary: "delimited text: , ; tab | or blanks; header and delimiter are detected",
    extensions: &["csv", "tsv", "tab"],
    sniff: |head| !head.contains(&0),
    names_target: false,
    main_column: None,
    lines: true,
    read,
};

/// Rows that are taken one by one between two looks at the memory that they take.
const ROWS_BETWEEN_LOOKS: usize = 64;
const HEAD_BYTES: u64 = 1 << 17;

/// One reading of all lines.
pub(super) struct Pass {
    pub(super) columns: Vec<Column>,
    pub(super) lines: Lines,
    /// The first line, if it may be or is a header.
    header: Option<First>,
    notes: Vec<String>,
}

/// A first line that may be a header.
struct First {
    line: usize,
    /// The names that it would give, without a `#` in front.
    names: Vec<String>,
    cells: Vec<String>,
}

fn read(source: &Source, options: &ReadOptions) -> Result<Table, DataError> {
    let head = source.head(HEAD_BYTES)?;
    let excels = excels_delimiter(&head);
    let mut rival = None;
    let delimiter = match options.delimiter.or(excels) {
        Some(b' ') => Delimiter::Blanks,
        Some(byte) => Delimiter::Byte(byte),
        None => {
            let found = detect(&head, (head.len() as u64) < HEAD_BYTES, &source.extension());
            rival = found.rival;
            found.delimiter
        }
    };
    let opening = look(source, options, delimiter, excels.is_some())?;
    let mut text = Vec::new();
    loop {
        let mut pass = pass(source, options, (delimiter, &opening), &text)?;
        if pass.columns.iter().any(Column::wants_text) && text.is_empty() {
            text = pass.columns.iter().map(Column::wants_text).collect();
            continue;
        }
        if let (Delimiter::Byte(byte), Some(rival)) = (delimiter, rival) {
            let word = |byte: u8| if byte == b'\t' { "tab".to_owned() } else { format!("'{}'", char::from(byte)) };
            pass.notes.push(format!(
                "the cells of {} are cut at {}, and {} would cut its lines as evenly; --delimiter {} does that",
                source.name(),
                word(byte),
                word(rival),
                word(rival)
            ));
        }
        return table(source, pass);
    }
}

fn pass(
    source: &Source,
    options: &ReadOptions,
    (delimiter, opening): (Delimiter, &Opening),
    text: &[bool],
) -> Result<Pass, DataError> {
    let mut records = Records::new(source, delimiter, opening.skip.clone())?;
    records.keeps_returns = options.verbatim;
    if !records.advance()? {
        return Err(DataError::Empty { place: source.name().to_owned() });
    }
    let first_line = records.line;
    let first = First::of(&records, opening);
    let header = options.header.or(opening.header);
    let header = header.or_else(|| holds_a_name(&first.names, options).then_some(true));
    let width = if header == Some(true) { first.names.len() } else { records.len() };
    let by_place = |layout: &&Layout| !(layout.is_named() && header == Some(true));
    let (declared, spelled) = match options.layout.as_ref().filter(by_place) {
        Some(layout) => layout.words(width),
        None => {
            let chosen = |words: &[String]| declared(&first.names, width, words, header);
            (chosen(&options.words), chosen(&options.spelled))
        }
    };
    let column = |k: usize| {
        if options.verbatim || spelled[k] {
            return Column::verbatim();
        }
        Column::new(text.get(k).copied().unwrap_or(false), declared[k])
    };
    let mut pass =
        Pass { columns: (0..width).map(column).collect(), lines: Lines::default(), header: None, notes: Vec::new() };
    pass.tell_opening(source, opening);
    let hold = header.unwrap_or_else(|| first.names.len() == width && may_be_header(&first.names));
    if hold {
        pass.header = Some(first);
        records.pass_over(opening.through)?;
    } else {
        pass.push(&records);
    }
    let (before, all_bytes) = (records.lines_read(), source.plain_len());
    let mut growth = Growth::default();
    let mut plain = Plain {
        source,
        growth: Growth::default(),
        pass,
        delimiter,
        keeps_returns: options.verbatim,
        before,
        lines: 0,
        bytes: 0,
        all_bytes,
    };
    let rest = Blocks::new(source, records.take_reader(), delimiter != Delimiter::Byte(b'\t')).run(&mut plain)?;
    let lines = plain.lines;
    let mut pass = plain.finish();
    if let Some(rest) = rest {
        records.go_on(rest, lines);
    }
    while records.advance()? {
        if records.len() != width {
            let finding = format!("{}, but line {first_line} has {width}", fields(records.len()));
            return Err(source.bad(Some(records.line), None, finding));
        }
        pass.push(&records);
        let rows = pass.lines.count();
        if rows.is_multiple_of(ROWS_BETWEEN_LOOKS) {
            let held = pass.columns.iter().map(|column| column.bytes(rows)).sum();
            growth.to(held, "its table").map_err(|e| source.too_large(e))?;
        }
    }
    if header.is_none() {
        pass.decide_header(source, options.names.as_deref());
    }
    Ok(pass)
}

impl Pass {
    fn push(&mut self, records: &Records) {
        for (k, column) in self.columns.iter_mut().enumerate() {
            column.push(records.cell(k));
        }
        self.lines.note(records.line);
    }

    /// Says what was found before the first example.
    fn tell_opening(&mut self, source: &Source, opening: &Opening) {
        let file = source.name();
        match opening.comments {
            0 => {}
            1 => self
                .notes
                .push(format!("the first lines of {file} have a comment, which begins with # and is left out")),
            n => self
                .notes
                .push(format!("the first lines of {file} have {n} comments, which begin with # and are left out")),
        }
        match opening.header.filter(|_| opening.guessed) {
            Some(true) => self.notes.push(format!(
                "the first line of {file} has words and numbers and is taken for names of columns; --header false takes it for an example"
            )),
            Some(false) => self.notes.push(format!(
                "the first line of {file} has words and numbers and is taken for an example; --header true takes it for names of columns"
            )),
            None => {}
        }
        match opening.counted {
            Some(true) => self.notes.push(format!(
                "the first line of {file} has numbers that count the columns, or years, above numbers with fractions and is taken for names of \
                 columns; --header false takes it for an example"
            )),
            Some(false) => self.notes.push(format!(
                "the first line of {file} has numbers that count the columns, or years, and is taken for an example; --header true takes it for \
                 names of columns"
            )),
            None => {}
        }
    }

    /// Returns a line held back to the data if the columns speak against a header; words above words are no names where others are known.
    fn decide_header(&mut self, source: &Source, known: Option<&[String]>) {
        let Some(first) = self.header.take() else { return };
        let file = source.name();
        let verdict = judge(&first.names, &self.columns);
        let names = match known {
            None => {
                self.tell_guess(file, verdict);
                verdict.names
            }
            Some(known) => {
                let above = is_above_numbers(&first.names, &self.columns);
                if !above && verdict.names && known.is_empty() {
                    self.notes.push(format!(
                        "the first line of {file} looks like names of columns, of which the model has none, so it is taken for an example; \
                         --header true takes it for names"
                    ));
                }
                above
            }
        };
        if names {
            self.header = Some(first);
            return;
        }
        for (column, cell) in self.columns.iter_mut().zip(&first.cells) {
            column.prepend(cell);
        }
        self.lines.prepend(first.line);
    }

    /// Says what was assumed of a first line of words above words.
    fn tell_guess(&mut self, file: &str, verdict: Verdict) {
        if verdict.sure {
            return;
        }
        let (taken, flag, other) = if verdict.names {
            ("names of columns", "false", "an example")
        } else {
            ("an example", "true", "names of columns")
        };
        self.notes.push(format!(
            "the first line of {file} is words above words, which leaves open what it is, and is taken for {taken}; --header {flag} takes it for {other}"
        ));
    }
}

impl First {
    /// The record at hand.
    fn of(records: &Records, opening: &Opening) -> Self {
        let cells: Vec<String> = records.cells().map(str::to_owned).collect();
        let mut names = cells.clone();
        if opening.marked
            && let Some(first) = names.first_mut()
            && let Some(rest) = first.strip_prefix('#')
        {
            *first = rest.trim_start().trim_matches('"').to_owned();
            // blanks behind the # are a delimiter, too
            if first.is_empty() && opening.through > 0 && records.is_cut_at_blanks() {
                names.remove(0);
            }
        }
        Self { line: records.line, names, cells }
    }
}

/// Those of the columns that are listed.
fn declared(first: &[String], width: usize, words: &[String], header: Option<bool>) -> Vec<bool> {
    let mut declared = vec![false; width];
    for word in &rejoined(words, first) {
        // without a header the first line is data, and a cell of it is nobody's name
        let header = header.unwrap_or_else(|| may_be_header(first));
        let named = first.iter().position(|c| c == word).filter(|_| header);
        let counted = || match word.parse::<i64>() {
            Ok(k) if k >= 1 => usize::try_from(k - 1).ok(),
            Ok(k) => usize::try_from(width as i64 + k).ok().filter(|_| k < 0),
            Err(_) => None,
        };
        if let Some(flag) = named.or_else(counted).and_then(|k| declared.get_mut(k)) {
            *flag = true;
        }
    }
    declared
}

/// True if a first line has a word that is one of the names of a header, or nothing but such names: a number alone is one by chance.
pub(super) fn holds_a_name(first: &[String], options: &ReadOptions) -> bool {
    let Some(names) = &options.names else { return false };
    let is_name = |cell: &String| !cell.is_empty() && names.contains(cell);
    // the cell above names of rows may be empty
    let others = first.iter().filter(|cell| !cell.is_empty());
    first.iter().any(|cell| may_be_name(cell) && is_name(cell))
        || (others.clone().count() > 1 && others.clone().all(is_name))
}

/// A header has no numbers; it may have empty cells (an index column without a name), but not only those.
fn may_be_header(first: &[String]) -> bool {
    first.iter().all(|c| may_be_name(c)) && first.iter().any(|c| !c.is_empty())
}

fn table(source: &Source, pass: Pass) -> Result<Table, DataError> {
    let Pass { columns, lines, header, mut notes } = pass;
    let named = header.is_some();
    let names = match &header {
        Some(first) => column_names(source, first.line, &first.names)?,
        None => (1..=columns.len()).map(|k| k.to_string()).collect(),
    };
    let len = lines.count();
    if len == 0 {
        return Err(DataError::Empty { place: source.name().to_owned() });
    }
    let (first_line, lines) = lines.finish();
    let infinite: Vec<Option<usize>> = columns.iter().map(Column::infinite).collect();
    let mut fields: Vec<Field> =
        columns.into_iter().zip(names).map(|(column, name)| Field { name, data: column.finish() }).collect();
    notes.extend(remarks::drop_nameless(source.name(), header.as_ref().map(|first| &*first.names), &mut fields));
    notes.extend(remarks::exponents(source.name(), &fields));
    let target = fields.len().checked_sub(1);
    let table = Table {
        file: source.name().to_owned(),
        format: CSV.name,
        len,
        fields,
        target,
        first_line,
        named,
        lines,
        notes,
    };
    if let Some((field, example)) = infinite.iter().enumerate().find_map(|(k, row)| row.map(|row| (k, row))) {
        let finding = "the number is not finite; correct it, or leave the cell empty".to_owned();
        return Err(DataError::Bad { place: table.place(example, field), finding });
    }
    Ok(table)
}

/// Distinct names; a column without one is called by its number.
fn column_names(source: &Source, line: usize, cells: &[String]) -> Result<Vec<String>, DataError> {
    let mut names: Vec<String> = Vec::with_capacity(cells.len());
    for (k, cell) in cells.iter().enumerate() {
        let number = (k + 1).to_string();
        names.push(match cell.as_str() {
            "" if cells.contains(&number) => format!("column {number}"),
            "" => number,
            name => name.to_owned(),
        });
    }
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    let twin = |pair: &[&String]| if let [a, b] = pair { (a == b).then(|| (*a).clone()) } else { None };
    if let Some(name) = sorted.windows(2).find_map(twin) {
        let finding = format!("two columns are called \"{}\"; rename one of them", brief(&name));
        return Err(source.bad(Some(line), None, finding));
    }
    Ok(names)
}

fn fields(count: usize) -> String {
    if count == 1 { "1 field".to_owned() } else { format!("{count} fields") }
}

#[cfg(test)]
#[path = "csv_tests.rs"]
mod tests;
