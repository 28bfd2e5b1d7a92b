//! Products of 16-bit pairs by the instruction made for them (AVX-512 VNNI): twice the work of f32 in an instruction, on half
//! the bytes. The plain twin is beside it, with a test that both agree.
#![allow(unsafe_code)]

use super::{Entry, PANEL};
use std::arch::x86_64::{
    _mm512_dpwssd_epi32, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
};

/// Registers of a line: 64 examples, 16 in each.
const ACROSS: usize = PANEL / 16;

/// True if this processor has the instruction.
pub(super) fn is_there() -> bool {
    std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512vnni")
}

pub(super) fn products<const R: usize>(panel: &[i16], entries: &[Entry<R>], dots: &mut [[i32; PANEL]; R]) {
    let lines = panel.len() / (PANEL * 2);
    assert!(entries.iter().all(|e| (e.pair as usize) < lines));
    // SAFETY: callers have asked `is_there`; every pair lies inside the panel, as asserted.
    unsafe { sums(panel, entries, dots) }
}

/// # Safety
/// Every pair of the entries is a line of the panel.
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn sums<const R: usize>(panel: &[i16], entries: &[Entry<R>], dots: &mut [[i32; PANEL]; R]) {
    let mut totals = [[_mm512_setzero_si512(); ACROSS]; R];
    for entry in entries {
        // SAFETY: the line of 128 numbers lies inside the panel.
        let line = unsafe { panel.as_ptr().add(entry.pair as usize * PANEL * 2) };
        for v in 0..ACROSS {
            // SAFETY: as above; a register holds 32 of the 128 numbers.
            let y = unsafe { _mm512_loadu_si512(line.add(v * 32).cast()) };
            for r in 0..R {
                totals[r][v] = _mm512_dpwssd_epi32(totals[r][v], _mm512_set1_epi32(entry.words[r]), y);
            }
        }
    }
    for (dots, totals) in dots.iter_mut().zip(&totals) {
        for v in 0..ACROSS {
            // SAFETY: 64 numbers are four registers of sixteen.
            unsafe { _mm512_storeu_si512(dots.as_mut_ptr().add(v * 16).cast(), totals[v]) };
        }
    }
}
