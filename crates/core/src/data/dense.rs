//! Dense vectors: equal lengths, row by row in one block of memory.

use super::{Examples, Scalar};
use crate::parallel;
use crate::vectorise::{Loops, vectorised};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// n vectors of length d, stored row by row.
#[derive(Clone)]
pub struct Rows<S> {
    values: Numbers<S>,
    len: usize,
    width: usize,
    /// Looked for once.
    extremes: OnceLock<Extremes>,
}

/// The smallest and the largest of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extremes {
    /// The smallest; infinite where there is none.
    pub(crate) lowest: f64,
    /// The largest; infinite below zero where there is none.
    pub(crate) largest: f64,
    /// True if all are finite.
    pub(crate) finite: bool,
}

impl Extremes {
    fn joined(self, other: Self) -> Self {
        let (lowest, largest) = (self.lowest.min(other.lowest), self.largest.max(other.largest));
        Self { lowest, largest, finite: self.finite && other.finite }
    }
}

/// The loop that looks for extremes.
struct Look<'a, S>(&'a [S]);

impl<S: Scalar> Loops for Look<'_, S> {
    type Output = Extremes;

    #[inline(always)]
    fn run(self) -> Extremes {
        const LANES: usize = 16;
        let (mut lowest, mut largest, mut strange) =
            ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES], [0_u64; LANES]);
        for group in self.0.chunks(LANES) {
            for (l, x) in group.iter().enumerate() {
                let x = x.wide();
                lowest[l] = if x < lowest[l] { x } else { lowest[l] };
                largest[l] = if x > largest[l] { x } else { largest[l] };
                strange[l] |= u64::from(!x.is_finite());
            }
        }
        Extremes {
            lowest: lowest.into_iter().fold(f64::INFINITY, f64::min),
            largest: largest.into_iter().fold(f64::NEG_INFINITY, f64::max),
            finite: strange.iter().all(|s| *s == 0),
        }
    }
}

/// Numbers that are looked at in one go.
const PART: usize = 1 << 14;

impl<S: fmt::Debug> fmt::Debug for Rows<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut told = f.debug_struct("Rows");
        told.field("values", &self.values).field("len", &self.len).field("width", &self.width).finish_non_exhaustive()
    }
}

impl<S: PartialEq> PartialEq for Rows<S> {
    fn eq(&self, other: &Self) -> bool {
        (self.len, self.width) == (other.len, other.width) && self.values == other.values
    }
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
    fn of(values: Numbers<S>, len: usize, width: usize) -> Self {
        Self { values, len, width, extremes: OnceLock::new() }
    }

    /// The smallest and the largest number; they are looked for once.
    pub(crate) fn extremes(&self) -> Extremes {
        let look = || {
            let parts = self.values.len().div_ceil(PART);
            let part = |i: usize| vectorised(Look(&self.values[i * PART..self.values.len().min((i + 1) * PART)]));
            // one part is not worth waking a thread
            let found = if parts <= 1 { (0..parts).map(part).collect() } else { parallel::map(parts, part) };
            let none = Extremes { lowest: f64::INFINITY, largest: f64::NEG_INFINITY, finite: true };
            found.into_iter().fold(none, Extremes::joined)
        };
        *self.extremes.get_or_init(look)
    }

    /// Takes `len × width` numbers, row by row; `None` if their count is another.
    pub fn new(values: Vec<S>, len: usize, width: usize) -> Option<Self> {
        (len.checked_mul(width)? == values.len()).then_some(Self::of(Numbers::Own(values), len, width))
    }

    /// The same with numbers that are lent and not copied; they must not change as long as the rows are there.
    pub fn borrowed(values: Borrowed<S>, len: usize, width: usize) -> Option<Self> {
        let right = len.checked_mul(width)? == (*values).as_ref().len();
        right.then_some(Self::of(Numbers::Borrowed(values), len, width))
    }

    /// True if the numbers are borrowed.
    pub fn is_lent(&self) -> bool {
        matches!(self.values, Numbers::Borrowed(_))
    }

    /// The same rows with numbers of their own.
    #[must_use]
    pub fn to_own(&self) -> Self {
        Self::of(Numbers::Own(self.values.to_vec()), self.len, self.width)
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
        self.extremes = OnceLock::new();
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
        Self::of(Numbers::Own(values), keep.len(), self.width)
    }

    /// The same numbers in another precision.
    pub fn convert<T: Scalar>(&self) -> Rows<T> {
        let values = self.values.iter().map(|&x| T::narrow(x.wide())).collect();
        Rows::of(Numbers::Own(values), self.len, self.width)
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
    fn extremes_are_those_of_all_numbers_and_of_what_they_were_changed_to() {
        let values: Vec<f64> = (0..40_000).map(|i| (f64::from(i) * 0.37).sin()).collect();
        let mut rows = Rows::new(values.clone(), 400, 100).unwrap();
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(rows.extremes(), Extremes { lowest, largest, finite: true });
        for (place, value) in [(39_999, f64::NAN), (7, f64::INFINITY)] {
            let mut changed = rows.clone();
            changed.values_mut()[place] = value;
            assert!(!changed.extremes().finite && changed != rows);
        }
        rows.values_mut()[12_345] = -7.0;
        assert_eq!((rows.extremes().lowest, rows.extremes().largest), (-7.0, largest));
        assert_eq!(Rows::<f32>::new(vec![2.0, -3.0], 1, 2).unwrap().extremes().lowest, -3.0);
        assert!(Rows::<f64>::new(Vec::new(), 0, 3).unwrap().extremes().finite);
    }

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
