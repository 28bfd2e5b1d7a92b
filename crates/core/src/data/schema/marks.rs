//! Marks of missing entries beyond those that every reader knows: words that the user names, and usual marks among numbers.

use super::super::read::{column_of, is_missing_mark};
use super::super::{DataError, FieldData, Scalar, Table, Words, days};
use super::take::is_number;
use std::borrow::Cow;

/// Marks that stand for a missing entry where all other cells of a column are numbers. Among words they are words: "None" and "-" may
/// well be categories.
const USUAL: [&str; 15] =
    ["n/a", "na", "Na", "NAN", "Nan", "#N/A", "#NA", "<NA>", "None", "none", "Null", "nil", "-", "--", "."];

/// True for a mark that usually stands for a missing entry among numbers, and may be a word elsewhere.
pub(in super::super) fn is_usual_mark(cell: &str) -> bool {
    USUAL.contains(&cell)
}

/// The treatment of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marked {
    /// Its cells are whole examples and stay as they are.
    Not,
    /// Named words are missing entries, as they are spelled: the column was declared to be words.
    Spelled,
    /// Named words are missing entries, numbers in all their spellings.
    Named,
    /// The same, and usual marks where there are numbers and nothing else.
    Usual,
    /// The same in a column that training knows to be numbers.
    Numbers,
    /// Named words and usual marks are missing entries, all else are dates, which become numbers.
    Dates,
}

/// A table whose marks are missing entries.
///
/// # Errors
/// If a cell of a column of dates is none.
pub(super) fn settled<'a>(
    table: &'a Table,
    words: &[String],
    of: impl Fn(usize) -> Marked,
) -> Result<Cow<'a, Table>, DataError> {
    let mut settled = Cow::Borrowed(table);
    for (place, field) in table.fields.iter().enumerate() {
        let how = of(place);
        if how == Marked::Not {
            if let Some(data) = without_marks(&field.data, words) {
                settled.to_mut().fields[place].data = data;
            }
            continue;
        }
        if how == Marked::Dates {
            settled.to_mut().fields[place].data = dates(table, place, words)?;
        } else if let Some(data) = changed(&field.data, words, how) {
            settled.to_mut().fields[place].data = data;
        }
    }
    Ok(settled)
}

/// Whole examples without those marks of readers that are named to be missing; `None` if nothing changes.
fn without_marks(data: &FieldData, words: &[String]) -> Option<FieldData> {
    let (FieldData::Words(cells) | FieldData::Mixed { cells, .. }) = data else { return None };
    let is_named = |cell: &str| is_missing_mark(cell) && words.iter().any(|word| word == cell);
    let mut kept = cells.kept();
    kept.any(is_named).then(|| FieldData::Words(cells.iter().map(|c| if is_named(c) { "" } else { c }).collect()))
}

/// A column of dates as days.
fn dates(table: &Table, place: usize, words: &[String]) -> Result<FieldData, DataError> {
    let cells = super::take::words(table, place)?;
    let mut values = Vec::with_capacity(table.len);
    for (row, cell) in cells.iter().enumerate() {
        let missing = cell.is_empty() || USUAL.contains(&cell) || words.iter().any(|word| word == cell);
        values.push(match days(cell) {
            _ if missing => f64::NAN,
            Some(days) => days,
            None => {
                let finding =
                    format!("\"{cell}\" is no date; dates are written 2024-02-29, or 2024-02-29T12:30:00 with a time");
                return Err(DataError::Bad { place: table.place(row, place), finding });
            }
        });
    }
    Ok(FieldData::Numbers { values, spellings: Vec::new() })
}

/// A field with its marks taken as missing; `None` if nothing changes.
fn changed(data: &FieldData, words: &[String], how: Marked) -> Option<FieldData> {
    let numbers: Vec<f64> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let is_meant = |value: f64| numbers.contains(&value);
    let is_named = |cell: &str| {
        words.iter().any(|word| word == cell)
            || (how != Marked::Spelled && !numbers.is_empty() && cell.parse().is_ok_and(is_meant))
    };
    match data {
        FieldData::Numbers { values, spellings } if values.iter().any(|&v| is_meant(v)) => Some(FieldData::Numbers {
            values: values.iter().map(|&v| if is_meant(v) { f64::NAN } else { v }).collect(),
            spellings: spellings.iter().filter(|(v, _)| !is_meant(*v)).cloned().collect(),
        }),
        FieldData::Words(cells) | FieldData::Mixed { cells, .. } => {
            let usual = matches!(how, Marked::Usual | Marked::Numbers);
            let is_usual = |cell: &str| usual && USUAL.contains(&cell);
            let mut rest = cells.iter().filter(|cell| !cell.is_empty() && !is_named(cell) && !is_usual(cell));
            // marks alone are words, unless training knows better
            let known = how == Marked::Numbers || rest.clone().next().is_some();
            let numeric = usual && known && rest.all(is_number);
            let is_mark = |cell: &str| is_named(cell) || (numeric && is_usual(cell));
            if !cells.iter().any(is_mark) {
                return None;
            }
            let kept = cells.iter().map(|cell| if is_mark(cell) { "" } else { cell }).collect();
            // what was words from the first stays so, whatever is left of them
            let stays = matches!(how, Marked::Spelled | Marked::Named) && matches!(data, FieldData::Words(_));
            Some(if stays { FieldData::Words(kept) } else { of_kind(kept) })
        }
        FieldData::Matrix(rows) if rows.values().iter().any(|&v| is_meant(v)) => {
            let mut rows = rows.clone();
            forget(rows.values_mut(), is_meant);
            Some(FieldData::Matrix(rows))
        }
        FieldData::Matrix32(rows) if rows.values().iter().any(|&v| is_meant(v.wide())) => {
            let mut rows = rows.clone();
            forget(rows.values_mut(), is_meant);
            Some(FieldData::Matrix32(rows))
        }
        FieldData::Numbers { .. } | FieldData::Matrix(_) | FieldData::Matrix32(_) | FieldData::Sparse(_) => None,
    }
}

fn forget<S: Scalar>(values: &mut [S], is_meant: impl Fn(f64) -> bool) {
    values.iter_mut().filter(|v| is_meant(v.wide())).for_each(|v| *v = S::narrow(f64::NAN));
}

/// Cells as a column of their kind, as a reader would have it; those that are missing say nothing about it.
pub(super) fn of_kind(cells: Words) -> FieldData {
    let kinds: Vec<(usize, bool)> =
        cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()).map(|(k, cell)| (k, is_number(cell))).collect();
    let first = kinds.first().is_none_or(|(_, number)| *number);
    match kinds.iter().find(|(_, number)| *number != first) {
        Some(&(odd, _)) => FieldData::Mixed { cells, odd },
        None if first => column_of(cells.iter()),
        None => FieldData::Words(cells),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(cells: &[&str]) -> FieldData {
        of_kind(cells.iter().collect())
    }

    #[test]
    fn usual_marks_are_missing_among_numbers_and_words_among_words() {
        let numbers = changed(&words(&["1", "n/a", "", "2.5"]), &[], Marked::Usual);
        assert!(
            matches!(numbers, Some(FieldData::Numbers { values, .. }) if values[0] == 1.0 && values[1].is_nan() && values[2].is_nan())
        );
        assert!(changed(&words(&["1", "n/a", "2.5"]), &[], Marked::Named).is_none());
        assert!(changed(&words(&["x", "-", "1"]), &[], Marked::Usual).is_none());
        assert!(changed(&words(&["-", "-"]), &[], Marked::Usual).is_none());
        assert!(changed(&words(&["-", "-"]), &[], Marked::Numbers).is_some());
    }

    #[test]
    fn numbers_keep_their_spelling_where_marks_leave_them() {
        let named = ["unknown".to_owned()];
        let spelled = |how| match changed(&words(&["01", "unknown", "2", "1"]), &named, how) {
            Some(FieldData::Numbers { values, spellings }) if values[1].is_nan() => spellings,
            other => panic!("{other:?}"),
        };
        for how in [Marked::Named, Marked::Usual] {
            assert_eq!(spelled(how)[0], (1.0, "01".to_owned()));
        }
    }

    #[test]
    fn a_number_is_named_in_all_its_spellings() {
        let named = ["-999".to_owned()];
        let cells = ["-999.0", "n/a", "-9.99e2", "2"];
        assert!(matches!(changed(&words(&cells), &named, Marked::Usual),
            Some(FieldData::Numbers { values, .. }) if values[..3].iter().all(|v| v.is_nan()) && values[3] == 2.0));
        assert!(matches!(changed(&words(&cells), &named, Marked::Named),
            Some(FieldData::Mixed { cells, .. }) if cells == ["", "n/a", "", "2"]));
        let declared = FieldData::Words(["-999.0", "-999", "x"].iter().collect());
        assert!(
            matches!(changed(&declared, &named, Marked::Spelled), Some(FieldData::Words(w)) if w == ["-999.0", "", "x"])
        );
    }

    #[test]
    fn named_words_are_missing_everywhere() {
        let named = ["-999".to_owned(), "gone".to_owned()];
        assert!(
            matches!(changed(&words(&["x", "gone", "y"]), &named, Marked::Named), Some(FieldData::Words(w)) if w == ["x", "", "y"])
        );
        let numbers = FieldData::Numbers { values: vec![1.0, -999.0], spellings: vec![(-999.0, "-999.0".to_owned())] };
        assert!(matches!(changed(&numbers, &named, Marked::Named),
            Some(FieldData::Numbers { values, spellings }) if values[1].is_nan() && spellings.is_empty()));
        let rows = super::super::super::Rows::new(vec![1.0_f32, -999.0], 1, 2).unwrap();
        assert!(
            matches!(changed(&FieldData::Matrix32(rows), &named, Marked::Named), Some(FieldData::Matrix32(r)) if r.values()[1].is_nan())
        );
    }
}
