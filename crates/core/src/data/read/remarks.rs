//! What is told about the columns of delimited text once all of them are read.

use super::super::{Field, FieldData};

/// Leaves out the last column of a file with names if it has neither a name nor an entry, as where every line ends in a delimiter.
pub(super) fn drop_nameless(file: &str, names: Option<&[String]>, fields: &mut Vec<Field>) -> Option<String> {
    let is_nameless = names.and_then(<[String]>::last).is_some_and(String::is_empty);
    let is_empty = fields.last().is_some_and(|field| match &field.data {
        FieldData::Numbers { values, .. } => values.iter().all(|v| v.is_nan()),
        FieldData::Words(cells) => cells.iter().all(str::is_empty),
        _ => false,
    });
    if !is_nameless || !is_empty || fields.len() < 2 {
        return None;
    }
    fields.pop();
    Some(format!(
        "{file}: the last column has neither a name nor an entry, and is left out: every line ends in a delimiter"
    ))
}

/// Says of columns of whole numbers that some are written as codes may be: 5E2 for 500.
pub(super) fn exponents(file: &str, fields: &[Field]) -> Vec<String> {
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_code = |text: &str| {
        text.split_once(['E', 'e']).is_some_and(|(first, last)| are_digits(first) && are_digits(last) && last.len() < 3)
    };
    let note = |field: &Field| {
        let FieldData::Numbers { values, spellings } = &field.data else { return None };
        let (value, code) = spellings.iter().find(|(_, text)| is_code(text))?;
        let whole = values.iter().all(|v| v.is_nan() || v.fract() == 0.0);
        whole.then(|| {
            format!(
                "{file}: {code} in column \"{}\" is read as the number {value}; --categorical keeps such codes as words",
                field.name
            )
        })
    };
    fields.iter().filter_map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{ReadOptions, read_bytes};

    #[test]
    fn a_column_that_is_nothing_but_a_delimiter_is_left_out() {
        let read = |text: &str| read_bytes("a.csv", text.as_bytes(), &ReadOptions::default()).unwrap();
        let table = read("a,b,y,\n1,2,p,\n3,4,q,\n");
        let names: Vec<&str> = table.fields.iter().map(|f| f.name.as_str()).collect();
        assert_eq!((names, table.target), (vec!["a", "b", "y"], Some(2)));
        assert!(table.notes.iter().any(|note| note.contains("neither a name nor an entry")), "{:?}", table.notes);
        // one that has entries, or a name, is a column
        assert_eq!(read("a,b,y,\n1,2,p,\n3,4,q,7\n").fields.len(), 4);
        assert_eq!(read("a,b,y,z\n1,2,p,\n3,4,q,\n").fields.len(), 4);
    }

    #[test]
    fn codes_that_look_like_powers_of_ten_are_told() {
        let notes = |text: &str| read_bytes("a.csv", text.as_bytes(), &ReadOptions::default()).unwrap().notes.concat();
        assert!(notes("code,y\n5E2,a\n512,b\n").contains("5E2 in column \"code\" is read as the number 500"));
        assert!(!notes("v,y\n5.0E2,a\n5E-2,b\n").contains("5E2"));
        assert!(!notes("v,y\n1e3,a\n0.5,b\n").contains("is read as the number"));
    }
}
