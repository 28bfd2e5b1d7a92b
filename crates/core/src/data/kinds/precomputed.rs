//! Rows of a precomputed matrix: every example is its kernel values with all training examples.

use super::KindEntry;

/// The catalogue's entry.
pub(super) static KIND: KindEntry = KindEntry {
    name: "precomputed",
    plural: "rows of a precomputed matrix",
    summary: "kernel values with every training example, computed elsewhere",
    cell: "",
    parse: None,
};
