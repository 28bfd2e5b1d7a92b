//! Text: strings of any length, from words to genomes.

use super::{BadItem, KindEntry, Values};

/// The catalogue's entry.
pub(super) static KIND: KindEntry = KindEntry {
    name: "text",
    plural: "text",
    summary: "strings of any length, from words to genomes",
    cell: "a b c",
    parse: Some(parse),
};

/// Any cell is a string, also an empty one.
#[expect(clippy::unnecessary_wraps, reason = "other kinds refuse cells")]
fn parse(cells: &[&str]) -> Result<Values, BadItem> {
    Ok(cells.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>().into())
}
