//! Dense vectors: equal lengths, row by row in one block of memory.

use super::{Examples, Scalar};

/// n vectors of length d, stored row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows<S> {
    values: Vec<S>,
    len: usize,
    width: usize,
}

impl<S: Scalar> Rows<S> {
    /// Takes `len × width` numbers, row by row; `None` if their count is another.
    pub fn new(values: Vec<S>, len: usize, width: usize) -> Option<Self> {
        (len.checked_mul(width)? == values.len()).then_some(Self { values, len, width })
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

    /// How many vectors.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many coordinates each has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All numbers, row by row.
    pub fn values(&self) -> &[S] {
        &self.values
    }

    /// All numbers, to be changed.
    pub fn values_mut(&mut self) -> &mut [S] {
        &mut self.values
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
        Self { values, len: keep.len(), width: self.width }
    }

    /// The same numbers in another precision.
    pub fn convert<T: Scalar>(&self) -> Rows<T> {
        Rows { values: self.values.iter().map(|&x| T::narrow(x.wide())).collect(), len: self.len, width: self.width }
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
