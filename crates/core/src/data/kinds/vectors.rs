//! Vectors: rows of numbers, dense or sparse, made of one or more columns.

use super::KindEntry;

/// The catalogue's entry.
pub(super) static KIND: KindEntry = KindEntry {
    name: "vectors",
    plural: "vectors",
    summary: "rows of numbers, dense or sparse, in f32 or f64",
    cell: "",
    parse: None,
};
