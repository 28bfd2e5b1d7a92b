//! Dense vectors: equal lengths, row by row in one block of memory.

use super::{Examples, Scalar};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// n vectors of length d, stored row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows<S> {
    values: Numbers<S>,
    len: usize,
    width: usize,
}

/// Memory that somebody else owns, such as an array of another language.
pub type Borrowed<S> = Arc<dyn AsRef<[S]> + Send + Sync>;

/// Numbers of our own, or lent ones.
#[derive(Clone)]
enum Numbers<S> {
    Own(Vec<S>),
    Borrowed(Borrowed<S>),
}

impl<S> Deref for Numbers<S> {
    type Target = [S];

    fn deref(&self) -> &[S] {
        match self {
            Self::Own(values) => values,
            Self::Borrowed(values) => (**values).as_ref(),
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for Numbers<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<S: PartialEq> PartialEq for Numbers<S> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<S: Scalar> Rows<S> {
    /// Takes `len × width` numbers, row by row; `None` if their count is another.
    pub fn new(values: Vec<S>, len: usize, width: usize) -> Option<Self> {
        (len.checked_mul(width)? == values.len()).then_some(Self { values: Numbers::Own(values), len, width })
    }

    /// The same with numbers that are lent and not copied; they must not change as long as the rows are there.
    pub fn borrowed(values: Borrowed<S>, len: usize, width: usize) -> Option<Self> {
        let right = len.checked_mul(width)? == (*values).as_ref().len();
        right.then_some(Self { values: Numbers::Borrowed(values), len, width })
    }

    /// True if the numbers are borrowed.
    pub fn is_lent(&self) -> bool {
        matches!(self.values, Numbers::Borrowed(_))
    }

    /// The same rows with numbers of their own.
    #[must_use]
    pub fn to_own(&self) -> Self {
        Self { values: Numbers::Own(self.values.to_vec()), len: self.len, width: self.width }
    }

    /// Copies vectors of equal length; `None` if lengths differ.
    pub fn from_vectors<V: AsRef<[S]>>(vectors: &[V]) -> Option<Self> {
        let width = vectors.first().map_or(0, |v| v.as_ref().len());
        let mut values = Vec::with_capacity(vectors.len() * width);
        for vector in vectors {
            if vector.as_ref().len() != width {
                return None;
            }
            values.extend_from_slice(vector.as_ref());
        }
        Self::new(values, vectors.len(), width)
    }

    /// The number of vectors.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no vector.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of coordinates of each.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All numbers, row by row.
    pub fn values(&self) -> &[S] {
        &self.values
    }

    /// All numbers, to be changed; lent ones are copied first.
    pub fn values_mut(&mut self) -> &mut [S] {
        if let Numbers::Borrowed(values) = &self.values {
            self.values = Numbers::Own((**values).as_ref().to_vec());
        }
        match &mut self.values {
            Numbers::Own(values) => values,
            Numbers::Borrowed(_) => &mut [],
        }
    }

    /// The i-th vector.
    pub fn row(&self, i: usize) -> &[S] {
        &self.values[i * self.width..(i + 1) * self.width]
    }

    /// The vectors at the given places, in that order.
    pub fn select(&self, keep: &[usize]) -> Self {
        let mut values = Vec::with_capacity(keep.len() * self.width);
        for &i in keep {
            values.extend_from_slice(self.row(i));
        }
        Self { values: Numbers::Own(values), len: keep.len(), width: self.width }
    }

    /// The same numbers in another precision.
    pub fn convert<T: Scalar>(&self) -> Rows<T> {
        let values = self.values.iter().map(|&x| T::narrow(x.wide())).collect();
        Rows { values: Numbers::Own(values), len: self.len, width: self.width }
    }
}

impl<S: Scalar> Examples<[S]> for Rows<S> {
    fn len(&self) -> usize {
        self.len
    }
    fn get(&self, i: usize) -> &[S] {
        self.row(i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lent_rows_are_those_of_copies_until_they_are_changed() {
        let numbers = Arc::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let mut lent = Rows::borrowed(Arc::clone(&numbers) as Borrowed<f64>, 2, 3).unwrap();
        let own = Rows::new(numbers.to_vec(), 2, 3).unwrap();
        assert!(lent.is_lent() && !own.is_lent() && !lent.to_own().is_lent());
        assert_eq!(lent, own);
        assert_eq!((lent.row(1), lent.select(&[1, 0]).values()), (own.row(1), own.select(&[1, 0]).values()));
        assert_eq!(format!("{lent:?}"), format!("{own:?}"));
        assert!(std::ptr::eq(lent.values().as_ptr(), numbers.as_ptr()), "nothing was copied");
        lent.values_mut()[0] = 9.0;
        assert_eq!((lent.values()[0], numbers[0], lent.is_lent()), (9.0, 1.0, false));
        assert!(Rows::borrowed(numbers as Borrowed<f64>, 2, 2).is_none());
    }
}
