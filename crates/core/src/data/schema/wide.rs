//! Columns with so many categories that nearly all coordinates are zero: sparse vectors of the same coordinates.
//!
//! The form is a part of the schema, so that new examples have that of the training examples. Numbers beside the categories are
//! scaled as in dense vectors. Where they are not scaled, vectors stay dense: kernels on sparse vectors are not centred, which would
//! cost digits.

use super::super::{Coordinate, DataError, Rows, Scale, Scaler, SparseRows, Table, Values};
use super::encode::{self, Category, places_of};
use super::strangers::Strangers;
use super::{Code, ColumnSchema};
use crate::memory::check;

/// Most categories of a view whose vectors are dense.
const MAX_DENSE_CATEGORIES: usize = 4096;

/// True if the vectors of these columns are sparse, as they are where no missing entry is kept.
pub(super) fn is_wide(columns: &[ColumnSchema], is_scaled: bool) -> bool {
    let categories = columns.iter().filter(|c| matches!(c.code, Code::Categories { .. })).map(|c| c.code.width());
    let all_categories = columns.iter().all(|c| matches!(c.code, Code::Categories { .. }));
    categories.sum::<usize>() > MAX_DENSE_CATEGORIES && (is_scaled || all_categories)
}

/// The parts of the vectors, column by column.
enum Part {
    /// The coordinate of a number, and its place among the numbers.
    Number(usize, usize),
    /// The coordinate that is one, for each example; none where training has not seen the category.
    Category(Vec<Option<u32>>),
}

/// Columns as they are read, not yet joined to vectors.
pub(super) struct Wide {
    parts: Vec<Part>,
    numbers: Rows<f64>,
    width: usize,
}

impl Wide {
    /// Reads columns; `fields` are their places in this table. Missing entries without a stand-in are an error with its remedy.
    pub(super) fn of(
        table: &Table,
        columns: &[ColumnSchema],
        fields: &[usize],
        remedy: &str,
        strangers: &mut Strangers,
    ) -> Result<Self, DataError> {
        let bytes = table.len.saturating_mul(columns.len()).saturating_mul(size_of::<Coordinate<f64>>());
        check(bytes, "the table of all columns")
            .map_err(|e| e.remedy("raise --memory, or take fewer columns or examples"))?;
        let (mut parts, mut start) = (Vec::with_capacity(columns.len()), 0);
        let (mut single, mut single_fields) = (Vec::new(), Vec::new());
        for (column, &field) in columns.iter().zip(fields) {
            parts.push(match &column.code {
                Code::Number { .. } => {
                    single.push(column.clone());
                    single_fields.push(field);
                    Part::Number(start, single.len() - 1)
                }
                Code::Categories { words, fill } => {
                    let places = places_of(table, field, words, *fill, Some(remedy), strangers)?;
                    let one = |category: Category| match category {
                        Category::Known(place) => Some((start + place) as u32),
                        Category::Missing | Category::Unseen => None,
                    };
                    Part::Category(places.into_iter().map(one).collect())
                }
            });
            start += column.code.width();
        }
        let numbers = encode::columns(table, &single, &single_fields, Some(remedy), strangers)?;
        Ok(Self { parts, numbers, width: start })
    }

    /// Learns the scaling; coordinates with `fixed[j]` are left as they are.
    pub(super) fn learn(&self, scale: Scale, fixed: &[bool]) -> Option<Scaler> {
        let places = self.places();
        let own: Vec<bool> = places.iter().map(|&j| fixed[j]).collect();
        match Scaler::learn(scale, &self.numbers, &own)? {
            Scaler::Affine { shift, factor } => {
                let (mut shifts, mut factors) = (vec![0.0; self.width], vec![1.0; self.width]);
                for (k, &j) in places.iter().enumerate() {
                    (shifts[j], factors[j]) = (shift[k], factor[k]);
                }
                Some(Scaler::Affine { shift: shifts, factor: factors })
            }
            Scaler::Unit => Some(Scaler::Unit),
        }
    }

    /// The coordinates of the numbers.
    fn places(&self) -> Vec<usize> {
        self.parts.iter().filter_map(|part| if let Part::Number(j, _) = part { Some(*j) } else { None }).collect()
    }

    /// The vectors, scaled.
    pub(super) fn vectors(mut self, scaler: Option<&Scaler>) -> Values {
        if let Some(Scaler::Affine { shift, factor }) = scaler {
            let own = |all: &[f64], other: f64| -> Vec<f64> {
                self.places().into_iter().map(|j| all.get(j).copied().unwrap_or(other)).collect()
            };
            let (shift, factor) = (own(shift, 0.0), own(factor, 1.0));
            Scaler::Affine { shift, factor }.apply(&mut self.numbers);
        }
        let (mut rows, mut row) = (SparseRows::new(self.width), Vec::with_capacity(self.parts.len()));
        for i in 0..self.numbers.len() {
            row.clear();
            row.extend(self.parts.iter().filter_map(|part| match part {
                Part::Number(j, k) => Some(Coordinate { index: *j as u32, value: self.numbers.row(i)[*k] }),
                Part::Category(ones) => ones[i].map(|index| Coordinate { index, value: 1.0 }),
            }));
            rows.push(&row);
        }
        if scaler == Some(&Scaler::Unit) {
            encode::unit_sparse(&mut rows);
        }
        rows.into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::read::{ReadOptions, read};
    use super::super::{Schema, SchemaOptions};
    use super::*;

    /// A table of so many examples, each with a name of its own, with numbers and few categories beside it.
    fn table(n: usize) -> Table {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names.csv");
        let line = |i: usize| format!("u{i},{},{},{}\n", i * i % 97, ["red", "blue"][i % 2], i % 2);
        let text: String = std::iter::once("id,size,colour,y\n".to_owned()).chain((0..n).map(line)).collect();
        std::fs::write(&path, text).unwrap();
        read(&path, &ReadOptions::default()).unwrap()
    }

    #[test]
    fn wide_columns_are_the_dense_vectors_without_their_zeros() {
        let table = table(MAX_DENSE_CATEGORIES + 3);
        for scale in [Scale::Standard, Scale::Minmax, Scale::Unit] {
            let options = SchemaOptions { scale: Some(scale), ..SchemaOptions::default() };
            let (schema, data) = Schema::learn_and_apply(&table, &options).unwrap();
            let super::super::Content::Columns { columns, scaler, .. } = &schema.views[0].content else { panic!() };
            let Values::Sparse(rows) = data.view("x").unwrap() else { panic!("the vectors are dense") };
            assert_eq!((rows.len(), rows.width()), (table.len, table.len + 3));
            assert_eq!(rows.coordinates().len(), 3 * table.len);
            // the dense road, for some of the rows
            let part = table.select(&(0..40).collect::<Vec<_>>());
            let mut dense = encode::columns(&part, columns, &[0, 1, 2], Some(""), &mut Strangers::refused()).unwrap();
            scaler.as_ref().unwrap().apply(&mut dense);
            for i in 0..part.len {
                for c in rows.row(i) {
                    assert_eq!(c.value, dense.row(i)[c.index as usize], "{scale:?} {i}");
                }
                assert_eq!(dense.row(i).iter().filter(|&&x| x != 0.0).count(), nonzero(rows.row(i)), "{scale:?}");
            }
            // the same scaling as that of a narrow table with the same numbers, and the same vectors of new examples
            let again = schema.apply(&table).unwrap();
            assert_eq!(again.view("x").unwrap().len(), table.len);
            assert!(matches!(again.view("x").unwrap(), Values::Sparse(r) if r == rows));
        }
        let few = self::table(50);
        let (_, data) = Schema::learn_and_apply(&few, &SchemaOptions::default()).unwrap();
        assert!(matches!(data.view("x").unwrap(), Values::Dense(_)));
    }

    fn nonzero(row: &[Coordinate<f64>]) -> usize {
        row.iter().filter(|c| c.value != 0.0).count()
    }
}
