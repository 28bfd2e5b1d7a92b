//! Columns of examples that have a type of their own.

use super::super::{Examples, Values};
use super::{BadItem, KindEntry};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The examples of one view, of a kind without storage of its own in [`Values`].
pub trait Column: Any + fmt::Debug + Send + Sync {
    /// The catalogue's entry.
    fn kind(&self) -> &'static KindEntry;
    /// Number of examples.
    fn len(&self) -> usize;
    /// True if it is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The examples at the given places, in that order.
    fn select(&self, keep: &[usize]) -> Arc<dyn Column>;
    /// The examples and, after them, those of another column; `None` if that is of another kind.
    fn joined(&self, more: &dyn Column) -> Option<Arc<dyn Column>>;
    /// An example as text, which the kind reads back as the same example.
    fn text(&self, example: usize) -> String;
}

/// An example of a kind without storage of its own.
///
/// ```
/// use mercer::data::{Dataset, Item, Items, KindEntry, Kind};
///
/// /// A closed interval of whole numbers.
/// #[derive(Clone, Debug, PartialEq)]
/// struct Interval(i64, i64);
///
/// static INTERVALS: KindEntry = KindEntry {
///     name: "intervals",
///     plural: "intervals",
///     summary: "closed intervals of whole numbers",
///     cell: "2..5",
///     parse: Some(Items::<Interval>::parse),
/// };
///
/// impl Item for Interval {
///     fn kind() -> &'static KindEntry {
///         &INTERVALS
///     }
///     fn read(cell: &str) -> Result<Self, String> {
///         let ends = cell.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
///         ends.map(|(a, b)| Self(a, b)).ok_or_else(|| format!("\"{cell}\" is not FIRST..LAST"))
///     }
///     fn show(&self) -> String {
///         format!("{}..{}", self.0, self.1)
///     }
/// }
///
/// let data = Dataset::new(Items(vec![Interval(2, 5), Interval(1, 3)]));
/// let view = data.view("x").unwrap();
/// assert_eq!(view.kind(), Kind::Other(&INTERVALS));
/// assert_eq!(view.items::<Interval>().unwrap().0[1], Interval(1, 3));
/// ```
pub trait Item: Clone + fmt::Debug + Send + Sync + Sized + 'static {
    /// The catalogue's entry.
    fn kind() -> &'static KindEntry;
    /// Reads an example from a cell; the error says what is wrong and what would be right.
    ///
    /// # Errors
    /// If the cell is no example of the kind.
    fn read(cell: &str) -> Result<Self, String>;
    /// Shows an example so that [`Item::read`] gives the same one: numbers in their shortest form that reads back.
    fn show(&self) -> String;
}

/// Examples of one type.
#[derive(Clone, Debug)]
pub struct Items<X>(pub Vec<X>);

impl<X: Item> Items<X> {
    /// Reads a column of cells: what [`KindEntry::parse`] asks for.
    ///
    /// # Errors
    /// The first cell that is no example of the kind.
    pub fn parse(cells: &[&str]) -> Result<Values, BadItem> {
        let read = |(example, cell): (usize, &&str)| X::read(cell).map_err(|finding| BadItem { example, finding });
        Ok(Self(cells.iter().enumerate().map(read).collect::<Result<_, _>>()?).into())
    }
}

impl<X: Item> Column for Items<X> {
    fn kind(&self) -> &'static KindEntry {
        X::kind()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn select(&self, keep: &[usize]) -> Arc<dyn Column> {
        Arc::new(Self(keep.iter().map(|&i| self.0[i].clone()).collect()))
    }

    fn joined(&self, more: &dyn Column) -> Option<Arc<dyn Column>> {
        let more = (more as &dyn Any).downcast_ref::<Self>()?;
        Some(Arc::new(Self(self.0.iter().chain(&more.0).cloned().collect())))
    }

    fn text(&self, example: usize) -> String {
        self.0[example].show()
    }
}

impl<X: Item> Examples<X> for Items<X> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, i: usize) -> &X {
        &self.0[i]
    }
}

impl<X: Item> From<Items<X>> for Values {
    fn from(items: Items<X>) -> Self {
        Self::Items(Arc::new(items))
    }
}

impl Values {
    /// The examples as a type, where they are of it.
    pub fn items<X: Item>(&self) -> Option<Arc<Items<X>>> {
        match self {
            Self::Items(column) => (Arc::clone(column) as Arc<dyn Any + Send + Sync>).downcast().ok(),
            _ => None,
        }
    }
}
