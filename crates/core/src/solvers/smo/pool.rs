//! Memory for kept rows: fresh memory is the dearest operand of all, so it is used again and comes in large pages.
//!
//! A page fault for every 4 KiB of rows took a seventh of a fit with 50 000 examples; the system has to be asked for pages of
//! 2 MiB.

use memmap2::MmapMut;

/// Numbers that come to life as they are first needed.
#[derive(Default)]
pub(super) struct Pool {
    /// Zeros from the system, for large pools.
    mapped: Option<MmapMut>,
    /// For small pools, and where the system refuses.
    grown: Vec<f32>,
}

/// Smallest size of a pool that is mapped; smaller ones stay on the heap.
const MIN_MAPPED_BYTES: usize = 8 << 20;

impl Pool {
    /// Makes room for so many numbers, without touching them; what was there may be lost.
    pub(super) fn reserve(&mut self, numbers: usize) {
        let bytes = numbers.saturating_mul(size_of::<f32>());
        let room = self.mapped.as_ref().map_or(0, |map| map.len());
        if bytes <= room || (room == 0 && bytes < MIN_MAPPED_BYTES) {
            return;
        }
        self.mapped = MmapMut::map_anon(bytes).ok();
        #[cfg(target_os = "linux")]
        if let Some(map) = &self.mapped {
            // a wish: where it is not granted, the pages are small
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        self.grown = Vec::new();
    }

    /// The first `numbers`: as many as there is room for, or more of a small pool.
    pub(super) fn first(&mut self, numbers: usize) -> &mut [f32] {
        match &mut self.mapped {
            Some(map) if map.len() >= numbers * size_of::<f32>() => &mut bytemuck::cast_slice_mut(map)[..numbers],
            _ => {
                if self.grown.len() < numbers {
                    self.grown.resize(numbers, 0.0);
                }
                &mut self.grown[..numbers]
            }
        }
    }

    /// All numbers.
    pub(super) fn all(&self) -> &[f32] {
        match &self.mapped {
            Some(map) => bytemuck::cast_slice(map),
            None => &self.grown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_pools_keep_what_is_written() {
        for numbers in [10, MIN_MAPPED_BYTES] {
            let mut pool = Pool::default();
            pool.reserve(numbers);
            assert_eq!(pool.mapped.is_some(), numbers == MIN_MAPPED_BYTES);
            pool.first(5)[4] = 3.0;
            pool.first(numbers)[numbers - 1] = 7.0;
            assert_eq!((pool.all()[4], pool.all()[numbers - 1], pool.all()[5]), (3.0, 7.0, 0.0));
            // room for less is there already
            pool.reserve(5);
            assert_eq!(pool.all()[4], 3.0);
        }
    }
}
