//! Kinds of data: what the examples of a view are.
//!
//! Vectors, text and rows of a precomputed matrix have storage of their own, since loops are written for them. Every other kind is
//! a type that implements [`Item`] and an entry of [`KINDS`]: one file of this folder and its line in the list. Reading a column of
//! cells, selecting and joining examples, fingerprints and model files follow from the two methods of [`Item`], which read an
//! example from text and show it as text.

mod column;
mod precomputed;
#[cfg(test)]
pub(crate) mod span;
mod text;
mod vectors;

pub use column::{Column, Item, Items};

use super::Values;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// All kinds.
pub static KINDS: &[&KindEntry] = &[
    &vectors::KIND,
    &text::KIND,
    &precomputed::KIND,
    #[cfg(test)]
    &span::KIND,
];

/// The entry of a name.
pub fn find(name: &str) -> Option<&'static KindEntry> {
    KINDS.iter().find(|kind| kind.name == name).copied()
}

/// A line of the catalogue of kinds.
pub struct KindEntry {
    /// The name in schemas and model files.
    pub name: &'static str,
    /// The plural in sentences: "vectors", "trees".
    pub plural: &'static str,
    /// One line of help.
    pub summary: &'static str,
    /// An example as a cell of a file holds it; empty where an example is more than one cell.
    pub cell: &'static str,
    /// Reads the examples of a column of cells; `None` where an example is more than one cell.
    pub parse: Option<ReadCells>,
}

/// Reads a column of cells, or tells the first that is no example of the kind.
pub type ReadCells = fn(&[&str]) -> Result<Values, BadItem>;

/// A cell that is no example of the kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadItem {
    /// The place of the cell, from zero.
    pub example: usize,
    /// A sentence on the mistake and its remedy.
    pub finding: String,
}

impl PartialEq for KindEntry {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for KindEntry {}

impl fmt::Debug for KindEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KindEntry({})", self.name)
    }
}

/// The kind of examples that a view holds, or a kernel wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Dense or sparse vectors.
    Vectors,
    /// Strings.
    Text,
    /// Rows of a precomputed matrix.
    Precomputed,
    /// Any other kind, by its entry.
    Other(&'static KindEntry),
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.entry().name)
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        find(&name).map(Self::of).ok_or_else(|| de::Error::custom(format!("there is no kind of data called {name}")))
    }
}

impl Kind {
    /// The catalogue's entry.
    pub fn entry(self) -> &'static KindEntry {
        match self {
            Self::Vectors => &vectors::KIND,
            Self::Text => &text::KIND,
            Self::Precomputed => &precomputed::KIND,
            Self::Other(entry) => entry,
        }
    }

    /// The kind of an entry.
    pub fn of(entry: &'static KindEntry) -> Self {
        [Self::Vectors, Self::Text, Self::Precomputed]
            .into_iter()
            .find(|kind| kind.entry() == entry)
            .unwrap_or(Self::Other(entry))
    }

    /// True if an example is one cell of a file.
    pub fn is_cell(self) -> bool {
        self.entry().parse.is_some()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry().plural)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_differ_and_are_no_storage_of_a_model_file() {
        let names: HashSet<&str> = KINDS.iter().map(|k| k.name).collect();
        assert_eq!(names.len(), KINDS.len());
        let stored = ["dense", "dense32", "sparse", "sparse32", "index"];
        assert!(stored.iter().all(|word| !names.contains(word)));
        for entry in KINDS {
            assert_eq!(find(entry.name), Some(*entry));
            assert_eq!(Kind::of(entry).entry(), *entry);
        }
    }

    #[test]
    fn the_cell_of_every_entry_is_read() {
        for entry in KINDS.iter().filter(|k| k.parse.is_some()) {
            let values = entry.parse.unwrap()(&[entry.cell, entry.cell]).unwrap();
            assert_eq!((values.len(), values.kind()), (2, Kind::of(entry)), "{}", entry.name);
        }
    }
}
