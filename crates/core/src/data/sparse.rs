//! Sparse vectors: only the coordinates that are not zero.

use super::{Examples, Rows, Scalar};

/// One stored coordinate; a sparse vector is a slice of these with rising indices.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Coordinate<S> {
    /// The index of the coordinate, from zero.
    pub index: u32,
    /// Its value.
    pub value: S,
}

/// n sparse vectors in one block of memory.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseRows<S> {
    coordinates: Vec<Coordinate<S>>,
    starts: Vec<usize>,
    width: usize,
}

impl<S: Scalar> SparseRows<S> {
    /// No vectors yet, of `width` coordinates.
    pub fn new(width: usize) -> Self {
        Self { coordinates: Vec::new(), starts: vec![0], width }
    }

    /// No vectors yet, with memory for so many stored coordinates.
    pub(super) fn with_room(coordinates: usize) -> Self {
        Self { coordinates: Vec::with_capacity(coordinates), starts: vec![0], width: 0 }
    }

    /// Appends the vector that a reader writes behind all others, of indices that rise strictly; nothing where it gives
    /// `None`. The width is for [`SparseRows::widen`].
    pub(super) fn push_with<T>(&mut self, write: impl FnOnce(&mut Vec<Coordinate<S>>) -> Option<T>) -> Option<T> {
        let before = self.coordinates.len();
        let written = write(&mut self.coordinates);
        match written {
            Some(_) => self.starts.push(self.coordinates.len()),
            None => self.coordinates.truncate(before),
        }
        written
    }

    /// Appends a vector; `false` (and nothing appended) unless its indices rise strictly. The width grows as needed.
    pub fn push(&mut self, vector: &[Coordinate<S>]) -> bool {
        if vector.windows(2).any(|pair| pair[0].index >= pair[1].index) {
            return false;
        }
        if let Some(last) = vector.last() {
            self.width = self.width.max(last.index as usize + 1);
        }
        self.coordinates.extend_from_slice(vector);
        self.starts.push(self.coordinates.len());
        true
    }

    /// Appends all vectors of another block.
    pub fn append(&mut self, mut following: Self) {
        let before = self.coordinates.len();
        if before == 0 {
            self.coordinates = following.coordinates;
        } else {
            self.coordinates.append(&mut following.coordinates);
        }
        self.starts.extend(following.starts[1..].iter().map(|s| s + before));
        self.width = self.width.max(following.width);
    }

    /// The number of vectors.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// True if there is no vector.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of coordinates of each, zeros included.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Declares more coordinates than were seen.
    pub fn widen(&mut self, width: usize) {
        self.width = self.width.max(width);
    }

    /// The i-th vector.
    pub fn row(&self, i: usize) -> &[Coordinate<S>] {
        &self.coordinates[self.starts[i]..self.starts[i + 1]]
    }

    /// All stored coordinates, vector after vector.
    pub fn coordinates(&self) -> &[Coordinate<S>] {
        &self.coordinates
    }

    /// All stored coordinates, to be changed in value.
    pub fn coordinates_mut(&mut self) -> &mut [Coordinate<S>] {
        &mut self.coordinates
    }

    /// The start of each vector in [`SparseRows::coordinates`], and the end of the last.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The same vectors with other names of their coordinates. These stay in their order, so that the new names need not
    /// rise: for loops that scatter them.
    pub(crate) fn renamed(&self, width: usize, name: impl Fn(u32) -> u32) -> Self {
        let rename = |c: &Coordinate<S>| Coordinate { index: name(c.index), value: c.value };
        Self { starts: self.starts.clone(), coordinates: self.coordinates.iter().map(rename).collect(), width }
    }

    /// The vectors at the given places, in that order.
    pub fn select(&self, keep: &[usize]) -> Self {
        let mut chosen = Self::new(self.width);
        for &i in keep {
            chosen.coordinates.extend_from_slice(self.row(i));
            chosen.starts.push(chosen.coordinates.len());
        }
        chosen
    }

    /// The same numbers in another precision.
    pub fn convert<T: Scalar>(&self) -> SparseRows<T> {
        SparseRows {
            coordinates: self
                .coordinates
                .iter()
                .map(|c| Coordinate { index: c.index, value: T::narrow(c.value.wide()) })
                .collect(),
            starts: self.starts.clone(),
            width: self.width,
        }
    }

    /// The sparse form of dense vectors; zeros are left out.
    pub fn from_dense(rows: &Rows<S>) -> Self {
        let mut sparse = Self::new(rows.width());
        for i in 0..rows.len() {
            for (j, &value) in rows.row(i).iter().enumerate() {
                if value != S::default() {
                    sparse.coordinates.push(Coordinate { index: j as u32, value });
                }
            }
            sparse.starts.push(sparse.coordinates.len());
        }
        sparse
    }

    /// The dense form.
    pub fn to_dense(&self) -> Rows<S> {
        let mut values = vec![S::default(); self.len() * self.width];
        for i in 0..self.len() {
            for c in self.row(i) {
                values[i * self.width + c.index as usize] = c.value;
            }
        }
        Rows::new(values, self.len(), self.width).unwrap_or_else(|| unreachable!("len × width values were made"))
    }
}

impl<S: Scalar> Examples<[Coordinate<S>]> for SparseRows<S> {
    fn len(&self) -> usize {
        self.len()
    }
    fn get(&self, i: usize) -> &[Coordinate<S>] {
        self.row(i)
    }
}
