//! Batches of Arrow's arrays, joined to columns.

use super::super::super::{DataError, Field, FieldData, Rows, Table};
use super::super::{ReadOptions, Source, usual_target};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

/// Columns under construction.
pub(super) struct Batches<'a> {
    source: &'a Source,
    format: &'static str,
    options: &'a ReadOptions,
    most_rows: u64,
    rows: usize,
    columns: Vec<(String, Cells)>,
}

enum Cells {
    Numbers(Vec<f64>),
    Words(Vec<String>),
    Vectors { values: Vec<f64>, width: Option<usize> },
}

impl<'a> Batches<'a> {
    pub(super) fn new(source: &'a Source, format: &'static str, options: &'a ReadOptions, most_rows: u64) -> Self {
        Self { source, format, options, most_rows, rows: 0, columns: Vec::new() }
    }

    /// Appends a batch.
    pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<(), DataError> {
        if (self.rows + batch.num_rows()) as u64 > self.most_rows {
            return Err(self.source.bad(None, None, "there are more rows than the file can hold; it is damaged"));
        }
        let schema = batch.schema();
        if self.columns.is_empty() {
            for field in schema.fields() {
                let cells = match kind(field.data_type()) {
                    Some(Kind::Numbers) if self.options.has_words(field.name()) => Cells::Words(Vec::new()),
                    Some(Kind::Numbers) => Cells::Numbers(Vec::new()),
                    Some(Kind::Words) => Cells::Words(Vec::new()),
                    Some(Kind::Vectors) => Cells::Vectors { values: Vec::new(), width: None },
                    None => {
                        let finding = format!(
                            "type {} is not read; cast it to numbers, strings or lists of numbers",
                            field.data_type()
                        );
                        return Err(self.source.bad(None, Some(field.name()), finding));
                    }
                };
                if self.columns.iter().any(|(name, _)| name == field.name()) {
                    let finding = format!("two columns are called \"{}\"; rename one of them", field.name());
                    return Err(self.source.bad(None, None, finding));
                }
                self.columns.push((field.name().clone(), cells));
            }
        }
        for ((name, cells), array) in self.columns.iter_mut().zip(batch.columns()) {
            cells
                .extend(array)
                .map_err(|(row, finding)| self.source.bad(Some(self.rows + row + 1), Some(name), finding))?;
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    /// The table.
    pub(super) fn finish(self) -> Result<Table, DataError> {
        let len = self.rows;
        if len == 0 || self.columns.is_empty() {
            return Err(DataError::Empty { place: self.source.name().to_owned() });
        }
        let mut fields = Vec::with_capacity(self.columns.len());
        for (name, cells) in self.columns {
            let data = match cells {
                Cells::Numbers(values) => FieldData::Numbers { values, spellings: Vec::new() },
                Cells::Words(words) => FieldData::Words(words.iter().collect()),
                Cells::Vectors { values, width } => match Rows::new(values, len, width.unwrap_or(0)) {
                    Some(rows) => FieldData::Matrix(rows),
                    None => return Err(self.source.bad(None, Some(&name), "the lists have not one length")),
                },
            };
            fields.push(Field { name, data });
        }
        let target = usual_target(&fields);
        let file = self.source.name().to_owned();
        Ok(Table {
            file,
            format: self.format,
            len,
            fields,
            target,
            first_line: 1,
            lines: None,
            named: true,
            notes: Vec::new(),
        })
    }
}

enum Kind {
    Numbers,
    Words,
    Vectors,
}

fn kind(of: &DataType) -> Option<Kind> {
    match of {
        DataType::Boolean => Some(Kind::Numbers),
        t if t.is_integer() || matches!(t, DataType::Float32 | DataType::Float64) => Some(Kind::Numbers),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Kind::Words),
        DataType::Dictionary(_, values) => kind(values).filter(|k| matches!(k, Kind::Words)),
        DataType::List(entry) | DataType::LargeList(entry) | DataType::FixedSizeList(entry, _) => {
            kind(entry.data_type()).filter(|k| matches!(k, Kind::Numbers)).map(|_| Kind::Vectors)
        }
        _ => None,
    }
}

impl Cells {
    /// Appends an array; the error is a row and a finding.
    fn extend(&mut self, array: &dyn Array) -> Result<(), (usize, String)> {
        match self {
            Self::Numbers(values) => {
                let more = numbers(array).ok_or((0, "the type changes".to_owned()))?;
                if let Some(row) = more.iter().position(|v| v.is_infinite()) {
                    return Err((
                        row,
                        "the number is not finite; correct it, or write null if it is missing".to_owned(),
                    ));
                }
                values.extend(more);
            }
            Self::Words(cells) => match numbers(array) {
                Some(more) => {
                    cells.extend(more.iter().map(|v| if v.is_nan() { String::new() } else { v.to_string() }));
                }
                None => cells.extend(words(array).ok_or((0, "the type changes".to_owned()))?),
            },
            Self::Vectors { values, width } => {
                for row in 0..array.len() {
                    let list = match array.data_type() {
                        _ if array.is_null(row) => None,
                        DataType::List(_) => Some(array.as_list::<i32>().value(row)),
                        DataType::LargeList(_) => Some(array.as_list::<i64>().value(row)),
                        DataType::FixedSizeList(..) => Some(array.as_fixed_size_list().value(row)),
                        _ => None,
                    };
                    let Some(list) = list.and_then(|l| numbers(&l)) else {
                        return Err((row, "the list is missing; write one in every row".to_owned()));
                    };
                    let wanted = *width.get_or_insert(list.len());
                    if list.len() != wanted || wanted == 0 {
                        return Err((row, format!("the list has {} numbers, but the first has {wanted}", list.len())));
                    }
                    if list.iter().any(|v| v.is_infinite()) {
                        return Err((row, "a number of the list is not finite; correct it".to_owned()));
                    }
                    values.extend(list);
                }
            }
        }
        Ok(())
    }
}

/// The numbers of an array of one type; what is missing is NaN.
fn each<T: ArrowPrimitiveType>(array: &dyn Array, number: impl Fn(T::Native) -> f64) -> Option<Vec<f64>> {
    Some(array.as_primitive_opt::<T>()?.iter().map(|v| v.map_or(f64::NAN, &number)).collect())
}

fn numbers(array: &dyn Array) -> Option<Vec<f64>> {
    match array.data_type() {
        DataType::Boolean => {
            Some(array.as_boolean_opt()?.iter().map(|v| v.map_or(f64::NAN, |v| f64::from(u8::from(v)))).collect())
        }
        DataType::Int8 => each::<Int8Type>(array, f64::from),
        DataType::Int16 => each::<Int16Type>(array, f64::from),
        DataType::Int32 => each::<Int32Type>(array, f64::from),
        DataType::Int64 => each::<Int64Type>(array, |v| v as f64),
        DataType::UInt8 => each::<UInt8Type>(array, f64::from),
        DataType::UInt16 => each::<UInt16Type>(array, f64::from),
        DataType::UInt32 => each::<UInt32Type>(array, f64::from),
        DataType::UInt64 => each::<UInt64Type>(array, |v| v as f64),
        DataType::Float32 => each::<Float32Type>(array, f64::from),
        DataType::Float64 => each::<Float64Type>(array, |v| v),
        _ => None,
    }
}

fn words(array: &dyn Array) -> Option<Vec<String>> {
    let own = |v: Option<&str>| v.unwrap_or_default().to_owned();
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string_opt::<i32>()?.iter().map(own).collect(),
        DataType::LargeUtf8 => array.as_string_opt::<i64>()?.iter().map(own).collect(),
        DataType::Utf8View => array.as_string_view_opt()?.iter().map(own).collect(),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary_opt()?;
            let texts = words(dictionary.values().as_ref())?;
            if texts.is_empty() {
                return Some(vec![String::new(); array.len()]);
            }
            let keys = dictionary.normalized_keys();
            let text = |(row, &key): (usize, &usize)| {
                if array.is_null(row) { String::new() } else { texts.get(key).cloned().unwrap_or_default() }
            };
            keys.iter().enumerate().map(text).collect()
        }
        _ => return None,
    })
}
