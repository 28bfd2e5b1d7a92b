//! Remarks about columns that are hardly meant to be learned from: names and numbers of rows, and views that no kernel looks at.

use super::super::dates::days;
use super::super::read::is_missing_mark;
use super::super::spelling::{MAX_FRACTIONS, alike, looks_like_a_label};
use super::super::{FieldData, Kind, Respelled, Table};
use super::marks::is_usual_mark;
use super::{Code, ColumnSchema, Content, Schema, Wanted};
use std::collections::{HashMap, HashSet};

/// The number of rows from which a column can be taken for a name or a number of rows.
const MIN_ROWS: usize = 20;
/// The number of columns that are named before the others are only counted.
const MAX_NAMED: usize = 5;
/// The number of different dates from which a column of categories is told to have dates.
const MIN_DATES: usize = 6;

/// Remarks about the columns of a schema that was learned on a table.
pub(super) fn of_columns(schema: &Schema, table: &Table) -> Vec<String> {
    let mut remarks = Vec::new();
    if table.len > 1 && all_alike(schema, table) {
        remarks.push("every column has one value throughout, so that nothing tells the examples apart".to_owned());
    }
    remarks.extend(spellings(schema, table));
    if table.len < MIN_ROWS {
        return remarks;
    }
    for view in &schema.views {
        let Content::Columns { columns, .. } = &view.content else { continue };
        for column in columns {
            let (name, n) = (&column.field.name, table.len);
            match &column.code {
                Code::Categories { words, .. } if words.len() >= MIN_DATES && words.iter().all(|w| is_date(w)) => {
                    remarks.push(format!(
                        "column \"{name}\" has {} different dates in {n} rows, and each became a coordinate; take them for days \
                         (--dates {name}), or leave the column out (--drop {name})",
                        words.len()
                    ));
                }
                Code::Categories { words, .. } if 2 * words.len() > n => remarks.push(format!(
                    "column \"{name}\" has {} different words in {n} rows, and each became a coordinate: new words cannot be \
                     predicted, and seen ones give the answer away; leave the column out if it names the rows (--drop {name})",
                    words.len()
                )),
                Code::Number { .. } if numbers_rows(table, column.field.place) => remarks.push(format!(
                    "column \"{name}\" numbers the {n} rows; leave it out if it means nothing for new ones (--drop {name})"
                )),
                _ => {}
            }
        }
    }
    remarks
}

/// Remarks about cells whose spelling says more than the number or the class that they are taken for.
fn spellings(schema: &Schema, table: &Table) -> Vec<String> {
    let mut remarks = Vec::new();
    let respelled = table.respelled();
    for view in &schema.views {
        let Content::Columns { columns, .. } = &view.content else { continue };
        for column in columns {
            let name = &column.field.name;
            match &column.code {
                Code::Number { date: false, .. } => {
                    let Some(Respelled { cell, value, .. }) = respelled.iter().find(|r| r.field == column.field.place)
                    else {
                        continue;
                    };
                    remarks.push(format!(
                        "column \"{name}\" has cells such as {cell}, which is taken for the number {value}; take its cells for categories \
                         (--categorical {name}), or leave the column out (--drop {name})"
                    ));
                }
                Code::Number { .. } => {}
                Code::Categories { words, .. } => {
                    let cells = || words.iter().filter(|word| !is_usual_mark(word) && !is_missing_mark(word));
                    if let Some(word) = cells().next().filter(|_| cells().all(|word| is_dressed_number(word))) {
                        remarks.push(format!(
                            "column \"{name}\" has cells such as {word}, which are numbers to people and words here, so that each became a \
                             category; write them with digits and a point alone, or leave the column out (--drop {name})"
                        ));
                    }
                    if let Some((a, b)) = equal_as_numbers(words.iter().map(String::as_str), |_| true) {
                        remarks.push(format!(
                            "column \"{name}\" has the categories {a} and {b}, which are equal as numbers and two categories here; spell \
                             them alike if they mean the same"
                        ));
                    }
                }
            }
        }
    }
    for target in &schema.targets {
        let name = &target.name;
        match table.fields.get(target.place).map(|field| &field.data) {
            Some(FieldData::Numbers { values, spellings }) if may_be_labels(values) => {
                if let Some((a, b)) = alike(spellings) {
                    remarks.push(format!(
                        "the target \"{name}\" has the labels {a} and {b}, which are equal as numbers and taken for one; spell them alike \
                         if they mean the same, and declare the column if they are to be told apart (--categorical {name})"
                    ));
                }
            }
            Some(FieldData::Words(cells) | FieldData::Mixed { cells, .. }) => {
                if let Some((a, b)) = equal_as_numbers(cells.iter(), looks_like_a_label) {
                    remarks.push(format!(
                        "the target \"{name}\" has the labels {a} and {b}, which are equal as numbers and two classes here; spell them \
                         alike if they mean the same"
                    ));
                }
            }
            _ => {}
        }
    }
    remarks
}

/// True for numbers that may be labels: whole ones, or hardly any different ones.
fn may_be_labels(values: &[f64]) -> bool {
    let mut met = HashSet::new();
    !values.iter().any(|v| v.is_finite() && v.fract() != 0.0)
        || values.iter().all(|v| v.is_nan() || !met.insert((v + 0.0).to_bits()) || met.len() <= MAX_FRACTIONS)
}

/// True for a number that is written for people: with parted thousands, a unit, a typographic minus, in hexadecimal digits, or as a time.
fn is_dressed_number(word: &str) -> bool {
    if word.parse::<f64>().is_ok() {
        return false;
    }
    let hexadecimal = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if word.strip_prefix("0x").is_some_and(hexadecimal) {
        return true;
    }
    let dress = |c: char| matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\'' | '’' | ',' | '%' | '$' | '€' | '£' | ':');
    let bare: String = word.chars().filter(|c| !dress(*c)).collect();
    let bare = bare.replace('\u{2212}', "-");
    bare.bytes().any(|byte| byte.is_ascii_digit()) && bare.parse::<f64>().is_ok()
}

/// Two words that differ and are equal as numbers, one of which is of a sort.
fn equal_as_numbers<'a>(words: impl Iterator<Item = &'a str>, sort: fn(&str) -> bool) -> Option<(&'a str, &'a str)> {
    let mut known: HashMap<u64, Vec<&str>> = HashMap::new();
    for word in words {
        let Some(value) = word.parse::<f64>().ok().filter(|v| v.is_finite()) else { continue };
        let others = known.entry((value + 0.0).to_bits()).or_default();
        if others.contains(&word) {
            continue;
        }
        if let Some(other) = others.iter().find(|other| sort(word) || sort(other)) {
            return Some((*other, word));
        }
        // of what looks like one label, a few are enough
        if others.len() < MAX_NAMED {
            others.push(word);
        }
    }
    None
}

/// True if all views are made of columns, and none of them has two values.
fn all_alike(schema: &Schema, table: &Table) -> bool {
    let alike = |column: &ColumnSchema| match &column.code {
        Code::Categories { words, .. } => words.len() < 2,
        Code::Number { .. } => match table.fields.get(column.field.place).map(|field| &field.data) {
            Some(FieldData::Numbers { values, .. }) => values.windows(2).all(|pair| pair[0] == pair[1]),
            _ => false,
        },
    };
    schema.views.iter().all(|view| match &view.content {
        Content::Columns { columns, .. } => columns.iter().all(alike),
        _ => false,
    })
}

/// True for a date that can be read as days, or for a missing one.
fn is_date(word: &str) -> bool {
    word.is_empty() || days(word).is_some()
}

/// True if a column has n successive whole numbers, in any order.
fn numbers_rows(table: &Table, field: usize) -> bool {
    let Some(FieldData::Numbers { values, .. }) = table.fields.get(field).map(|f| &f.data) else { return false };
    let whole = |v: &&f64| v.fract() == 0.0 && v.abs() < 9e15;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !values.iter().all(|v| whole(&v)) || high - low != values.len() as f64 - 1.0 {
        return false;
    }
    let mut met = HashSet::with_capacity(values.len());
    values.iter().all(|v| met.insert((v - low) as u64))
}

/// Separates views that a formula looks at from the others, whose columns it names in a remark. All are kept where the formula looks at no
/// data, or at views that are not there or not clear, which is for the formula to say.
pub(super) fn used(
    groups: Vec<(String, Vec<usize>)>,
    wanted: &Wanted,
    kind_of: impl Fn(&[usize]) -> Kind,
    table: &Table,
) -> (Vec<(String, Vec<usize>)>, Vec<String>) {
    let kinds: Vec<Kind> = groups.iter().map(|(_, fields)| kind_of(fields)).collect();
    let mut looked_at = HashSet::new();
    for (view, kind) in &wanted.views {
        let fits = |k: usize| *kind == Kind::Precomputed || kinds[k] == *kind;
        let place = match view {
            Some(view) => groups.iter().position(|(name, _)| name == view),
            None => match (0..groups.len()).filter(|&k| fits(k)).collect::<Vec<_>>().as_slice() {
                [only] => Some(*only),
                several => several.iter().copied().find(|&k| groups[k].0 == "x"),
            },
        };
        match place {
            Some(place) => looked_at.insert(place),
            None => return (groups, Vec::new()),
        };
    }
    if looked_at.is_empty() || looked_at.len() == groups.len() {
        return (groups, Vec::new());
    }
    let (mut kept, mut remarks) = (Vec::new(), Vec::new());
    let names: Vec<&str> = (0..groups.len()).filter(|k| looked_at.contains(k)).map(|k| groups[k].0.as_str()).collect();
    let names = names.join(", ");
    for (place, (name, fields)) in groups.iter().enumerate() {
        if looked_at.contains(&place) {
            kept.push((name.clone(), fields.clone()));
            continue;
        }
        let columns: Vec<String> = fields.iter().take(MAX_NAMED).map(|&f| table.fields[f].name.clone()).collect();
        let more = fields.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let which = if columns.len() == 1 && columns[0] == *name {
            String::new()
        } else {
            format!(" ({}{more})", columns.join(", "))
        };
        remarks.push(format!(
            "the kernel looks at {names} only: view {name}{which} is not part of the model; write @{name} behind a kernel that is \
             to look at it"
        ));
    }
    (kept, remarks)
}
