//! Plain loops, compiled for several instruction sets and chosen at run time (AVX-512, AVX2, portable).
//!
//! A loop is a small struct with its operands; everything it calls is `#[inline(always)]`, so that the whole of it is
//! compiled once inside a function of each instruction set. (A closure would not do: its body is a function of its own,
//! which the compiler may leave outside, compiled for the oldest processor.) No step depends on the width of a vector, so
//! the results are the same bits on each.

use pulp::{Arch, Simd, WithSimd};

/// A loop with its operands.
pub(crate) trait Loops {
    /// The result of the loop.
    type Output;
    /// Runs it; to be marked `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

struct Chosen<L>(L);

impl<L: Loops> WithSimd for Chosen<L> {
    type Output = L::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> L::Output {
        self.0.run()
    }
}

/// Runs a loop with the best instruction set of this processor.
pub(crate) fn vectorised<L: Loops>(loops: L) -> L::Output {
    Arch::new().dispatch(Chosen(loops))
}
