//! Strings as sequences of numbers, end to end in one piece of memory.

use crate::data::Examples;
use crate::gram::between::Collection;
use std::sync::Arc;

/// Sequences of numbers: characters, or names of what stands at each place.
#[derive(Clone, Debug)]
pub(super) struct Sequences {
    /// The start of each sequence, and the end of the last.
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Sequences {
    /// The Unicode scalar values of every string.
    pub(super) fn characters(strings: &dyn Examples<str>) -> Self {
        Self::build((0..strings.len()).map(|i| strings.get(i)), |s, items| items.extend(s.chars().map(u32::from)))
    }

    /// One sequence for each source; `append` adds its numbers.
    pub(super) fn build<T>(sources: impl Iterator<Item = T>, mut append: impl FnMut(T, &mut Vec<u32>)) -> Self {
        let (mut starts, mut items) = (vec![0], Vec::new());
        for source in sources {
            append(source, &mut items);
            starts.push(items.len());
        }
        Self { starts, items }
    }

    /// Number of sequences.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The i-th.
    #[inline]
    pub(super) fn get(&self, i: usize) -> &[u32] {
        &self.items[self.starts[i]..self.starts[i + 1]]
    }

    /// All of them, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// All numbers, end to end.
    pub(super) fn items(&self) -> &[u32] {
        &self.items
    }
}

impl Collection for Sequences {
    fn count(&self) -> usize {
        self.len()
    }

    fn chosen(self: &Arc<Self>, keep: &[usize]) -> Arc<Self> {
        Arc::new(Self::build(keep.iter(), |&i, items| items.extend_from_slice(self.get(i))))
    }
}

/// Makes `memory` hold `len` times `value` from the start of a line of cache on, and returns that part: vectors that
/// straddle two lines cost twice.
pub(super) fn aligned<T: Copy>(memory: &mut Vec<T>, len: usize, value: T) -> &mut [T] {
    const LINE: usize = 64;
    let spare = LINE / size_of::<T>().max(1);
    memory.clear();
    memory.resize(len + spare, value);
    let start = memory.as_ptr().align_offset(LINE).min(spare);
    &mut memory[start..start + len]
}
