//! Categories that training has not seen, and what becomes of them.

use super::super::{DataError, Table};
use super::Unseen;

/// Number of known categories that an error lists.
const CATEGORIES_LISTED: usize = 5;

/// The cells of a column whose categories training has not seen, taken as none of the known ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnseenCategories {
    /// The column.
    pub column: String,
    /// The number of cells.
    pub cells: usize,
    /// The category of the first of them.
    pub example: String,
}

/// The treatment of categories that are not known, and those that were met.
#[derive(Debug)]
pub(super) struct Strangers {
    unseen: Unseen,
    /// Column by column.
    pub(super) found: Vec<UnseenCategories>,
}

impl Strangers {
    /// They are treated so.
    pub(super) fn treated(unseen: Unseen) -> Self {
        Self { unseen, found: Vec::new() }
    }

    /// They are errors.
    pub(super) fn refused() -> Self {
        Self::treated(Unseen::Error)
    }

    /// Counts a cell, or refuses it.
    pub(super) fn meet(
        &mut self,
        table: &Table,
        field: usize,
        row: usize,
        word: &str,
        known: &[String],
    ) -> Result<(), DataError> {
        if self.unseen == Unseen::Error {
            return Err(unknown_category(table, field, row, word, known));
        }
        let column = &table.fields[field].name;
        match self.found.iter_mut().find(|found| &found.column == column) {
            Some(found) => found.cells += 1,
            None => self.found.push(UnseenCategories { column: column.clone(), cells: 1, example: word.to_owned() }),
        }
        Ok(())
    }
}

fn unknown_category(table: &Table, field: usize, row: usize, word: &str, known: &[String]) -> DataError {
    let mut list = known.iter().take(CATEGORIES_LISTED).cloned().collect::<Vec<_>>().join(", ");
    if known.len() > CATEGORIES_LISTED {
        list = format!("{list}, … {} in all", known.len());
    }
    let finding = format!(
        "\"{word}\" is not among the categories of the training data ({list}); correct the cell, or use --unseen ignore \
         to take it as none of them"
    );
    DataError::Bad { place: table.place(row, field), finding }
}
