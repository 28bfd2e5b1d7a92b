//! Two files as one table, so that what is learned of their columns is learned of both.

use super::{DataError, Field, FieldData, Rows, Scalar, Table, Words};
use std::collections::HashSet;

impl Table {
    /// The examples of this table and, after them, those of another with the same columns, which are matched by name.
    ///
    /// # Errors
    /// If one has a column that the other has not, or blocks of columns differ in kind or width.
    pub fn joined(&self, more: &Self) -> Result<Self, DataError> {
        if let Some(extra) = more.fields.iter().find(|f| self.fields.iter().all(|own| own.name != f.name)) {
            return Err(missing(&extra.name, &self.file, &more.file));
        }
        let join = |field: &Field| {
            let other = more.fields.iter().find(|f| f.name == field.name);
            let other = other.ok_or_else(|| missing(&field.name, &more.file, &self.file))?;
            let data = data(&field.data, &other.data).map_err(|finding| DataError::Unfit {
                finding: format!(
                    "column {} of {} and {} cannot be compared: {finding}",
                    field.name, self.file, more.file
                ),
            })?;
            Ok::<_, DataError>(Field { name: field.name.clone(), data })
        };
        let lines = (0..self.len).map(|i| self.line(i)).chain((0..more.len).map(|i| more.line(i)));
        Ok(Self {
            file: format!("{} and {}", self.file, more.file),
            format: self.format,
            len: self.len + more.len,
            fields: self.fields.iter().map(join).collect::<Result<_, DataError>>()?,
            target: self.target,
            first_line: self.first_line,
            lines: Some(lines.map(|line| u32::try_from(line).unwrap_or(u32::MAX)).collect()),
            named: self.named,
            notes: self.notes.iter().chain(&more.notes).cloned().collect(),
        })
    }
}

fn missing(name: &str, file: &str, other: &str) -> DataError {
    let remedy = format!("{other} has it and {file} has not; both files need the same columns");
    DataError::NoSuch { what: "column", name: name.to_owned(), remedy }
}

fn data(a: &FieldData, b: &FieldData) -> Result<FieldData, String> {
    use FieldData::{Matrix, Matrix32, Mixed, Numbers, Sparse, Words as Texts};
    Ok(match (a, b) {
        (Numbers { values, spellings }, Numbers { values: more, spellings: others }) => {
            let seen: HashSet<u64> = spellings.iter().map(|(v, _)| v.to_bits()).collect();
            let mut known = spellings.clone();
            known.extend(others.iter().filter(|(v, _)| !seen.contains(&v.to_bits())).cloned());
            Numbers { values: values.iter().chain(more).copied().collect(), spellings: known }
        }
        (Texts(a), Texts(b)) => {
            let mut all = a.clone();
            all.append(b);
            Texts(all)
        }
        (Numbers { .. } | Texts(_) | Mixed { .. }, Numbers { .. } | Texts(_) | Mixed { .. }) => {
            let mut cells = texts(a);
            cells.append(&texts(b));
            let is_number = |text: &str| text.parse::<f64>().is_ok();
            let first = cells.get(0).is_some_and(is_number);
            let odd = cells.iter().position(|text| !text.is_empty() && is_number(text) != first).unwrap_or(0);
            Mixed { cells, odd }
        }
        (Matrix(a), Matrix(b)) => Matrix(rows(a, b)?),
        (Matrix32(a), Matrix32(b)) => Matrix32(rows(a, b)?),
        (Matrix(a), Matrix32(b)) => Matrix(rows(a, &b.convert())?),
        (Matrix32(a), Matrix(b)) => Matrix(rows(&a.convert(), b)?),
        (Sparse(a), Sparse(b)) => {
            let mut all = a.clone();
            all.append(b.clone());
            Sparse(all)
        }
        _ => return Err("their formats hold vectors of different kinds; convert one of the files".to_owned()),
    })
}

fn rows<S: Scalar>(a: &Rows<S>, b: &Rows<S>) -> Result<Rows<S>, String> {
    let differ = || format!("one has {} coordinates, the other {}", a.width(), b.width());
    let values = a.values().iter().chain(b.values()).copied().collect();
    Rows::new(values, a.len() + b.len(), a.width()).filter(|_| a.width() == b.width()).ok_or_else(differ)
}

/// The cells of a column as text; a number as it was written first, where that is known.
fn texts(data: &FieldData) -> Words {
    match data {
        FieldData::Words(words) | FieldData::Mixed { cells: words, .. } => words.clone(),
        FieldData::Numbers { values, spellings } => {
            let mut words = Words::new();
            for value in values {
                match spellings.iter().find(|(v, _)| v == value) {
                    Some((_, text)) => words.push(text),
                    None if value.is_nan() => words.push(""),
                    None => words.push(&value.to_string()),
                }
            }
            words
        }
        _ => Words::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::read::{ReadOptions, read};

    fn table(name: &str, text: &str) -> Table {
        let folder = std::env::temp_dir().join(format!("mercer-join-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("t.csv");
        std::fs::write(&path, text).unwrap();
        let table = read(&path, &ReadOptions::default()).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        table
    }

    #[test]
    fn columns_are_matched_by_name_and_keep_their_kind() {
        let (a, b) = (table("a", "x,w,y\n1,red,3\n2,blue,4\n"), table("b", "w,y,x\ngreen,7,5\n"));
        let all = a.joined(&b).unwrap();
        assert_eq!((all.len, all.line(1), all.line(2)), (3, 3, 2));
        assert!(matches!(&all.fields[0].data, FieldData::Numbers { values, .. } if values == &[1.0, 2.0, 5.0]));
        assert!(matches!(&all.fields[1].data, FieldData::Words(w) if w.iter().eq(["red", "blue", "green"])));
        let some = all.select(&[2, 0]);
        assert_eq!((some.len, some.line(0), some.line(1)), (2, 2, 2));
        assert!(matches!(&some.fields[0].data, FieldData::Numbers { values, .. } if values == &[5.0, 1.0]));
        assert!(matches!(&some.fields[1].data, FieldData::Words(w) if w.iter().eq(["green", "red"])));
        // numbers here and words there are a column of both
        let odd = a.joined(&table("c", "x,w,y\nmany,red,1\n")).unwrap();
        assert!(
            matches!(&odd.fields[0].data, FieldData::Mixed { cells, odd: 2 } if cells.iter().eq(["1", "2", "many"]))
        );
    }

    #[test]
    fn a_column_that_one_file_lacks_is_named() {
        let (a, b) = (table("d", "x,w\n1,2\n2,3\n"), table("e", "x,v\n1,2\n2,3\n"));
        let said = a.joined(&b).unwrap_err().to_string();
        assert!(said.contains("no column \"v\"") && said.contains("both files need the same columns"), "{said}");
        assert!(a.joined(&table("f", "x\n1\n2\n")).unwrap_err().to_string().contains("no column \"w\""));
    }
}
