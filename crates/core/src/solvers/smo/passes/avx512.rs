//! The passes in AVX-512: marks are mask registers, so that a variable that may not move costs nothing but its bit.
//!
//! Written by hand because the compiler does not turn bits into masks: measured on 32 000 variables the plain loops take
//! several times as long. Every function has its plain twin and a test that both give the same bits.
#![allow(unsafe_code)]

use super::{Extreme, Extremes, Marks, Move, NOWHERE, Partner, Promise, Reading, WORD};
use std::arch::x86_64::{
    __m512d, __m512i, _CMP_EQ_OQ, _CMP_GT_OQ, _CMP_LT_OQ, _mm256_loadu_ps, _mm512_add_epi64, _mm512_add_pd,
    _mm512_add_ps, _mm512_castps256_ps512, _mm512_cmp_pd_mask, _mm512_cmp_ps_mask, _mm512_cvtpd_ps, _mm512_cvtps_pd,
    _mm512_div_ps, _mm512_fmadd_pd, _mm512_fnmadd_pd, _mm512_fnmadd_ps, _mm512_insertf32x8, _mm512_loadu_pd,
    _mm512_loadu_ps, _mm512_mask_blend_pd, _mm512_mask_cmp_pd_mask, _mm512_mask_cmp_ps_mask, _mm512_mask_mov_epi32,
    _mm512_mask_mov_epi64, _mm512_mask_mov_pd, _mm512_mask_mov_ps, _mm512_mask_reduce_min_epu32,
    _mm512_mask_reduce_min_epu64, _mm512_max_ps, _mm512_mul_ps, _mm512_reduce_add_pd, _mm512_reduce_max_pd,
    _mm512_reduce_max_ps, _mm512_reduce_min_pd, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_set1_pd, _mm512_set1_ps,
    _mm512_setr_epi32, _mm512_setr_epi64, _mm512_setzero_pd, _mm512_storeu_pd, _mm512_sub_pd,
};

/// Numbers in a register.
const LANES: usize = 8;

const PLAIN: u8 = 0;
const BENT: u8 = 1;
const GROUPED: u8 = 2;

pub(super) fn update(s: &mut [f64], marks: &[Marks], reading: Reading, step: Option<Move<'_>>) -> Extremes {
    assert!(s.len() == marks.len() * WORD);
    let still = Move { up: 0.0, row_up: &[], down: 0.0, row_down: &[] };
    if let Some(step) = &step {
        assert!(step.row_up.len() >= s.len() && step.row_down.len() >= s.len());
    }
    // SAFETY: the caller has checked that the processor has AVX-512 F, DQ, BW and VL; the asserts above say that s and
    // both rows hold `marks.len() · 64` numbers, which is all that is read and written.
    unsafe {
        match (reading, step) {
            (Reading::Plain, Some(step)) => pass::<PLAIN, true>(s, marks, 0.0, step),
            (Reading::Plain, None) => pass::<PLAIN, false>(s, marks, 0.0, still),
            (Reading::Bent(e), Some(step)) => pass::<BENT, true>(s, marks, e, step),
            (Reading::Bent(e), None) => pass::<BENT, false>(s, marks, e, still),
            (Reading::Grouped, Some(step)) => pass::<GROUPED, true>(s, marks, 0.0, step),
            (Reading::Grouped, None) => pass::<GROUPED, false>(s, marks, 0.0, still),
        }
    }
}

pub(super) fn choose(s: &[f64], marks: &[Marks], reading: Reading, partner: &Partner<'_>) -> Promise {
    assert!(s.len() == marks.len() * WORD && partner.row.len() >= s.len());
    assert!(partner.owns.is_empty() || partner.owns.len() >= s.len());
    let falls = if reading == Reading::Grouped { 2 * partner.group + 1 } else { 1 };
    // SAFETY: as for `update`: the processor was asked, and the asserts cover every number that is read.
    unsafe {
        match (reading, partner.owns.is_empty()) {
            (Reading::Bent(e), true) => search::<true, true>(s, marks, e, falls, partner),
            (Reading::Bent(e), false) => search::<true, false>(s, marks, e, falls, partner),
            (_, true) => search::<false, true>(s, marks, 0.0, falls, partner),
            (_, false) => search::<false, false>(s, marks, 0.0, falls, partner),
        }
    }
}

/// The best value of each lane and the vector it was met in.
#[derive(Clone, Copy)]
struct Lanes {
    value: __m512d,
    vector: __m512i,
}

#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn lanes(value: f64) -> Lanes {
    Lanes { value: _mm512_set1_pd(value), vector: _mm512_set1_epi64(-1) }
}

/// Keeps the larger of each lane, where the mask allows.
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
#[inline]
fn raise(best: &mut Lanes, mask: u8, v: __m512d, vector: __m512i) {
    let better = _mm512_mask_cmp_pd_mask::<_CMP_GT_OQ>(mask, v, best.value);
    best.value = _mm512_mask_mov_pd(best.value, better, v);
    best.vector = _mm512_mask_mov_epi64(best.vector, better, vector);
}

/// Keeps the smaller of each lane, where the mask allows.
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
#[inline]
fn lower(best: &mut Lanes, mask: u8, v: __m512d, vector: __m512i) {
    let better = _mm512_mask_cmp_pd_mask::<_CMP_LT_OQ>(mask, v, best.value);
    best.value = _mm512_mask_mov_pd(best.value, better, v);
    best.vector = _mm512_mask_mov_epi64(best.vector, better, vector);
}

/// The extreme over two sets of lanes; ties go to the lowest index.
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn gather(best: &[Lanes; 2], largest: bool) -> Extreme {
    let (a, b) = (best[0], best[1]);
    let value = if largest {
        _mm512_reduce_max_pd(a.value).max(_mm512_reduce_max_pd(b.value))
    } else {
        _mm512_reduce_min_pd(a.value).min(_mm512_reduce_min_pd(b.value))
    };
    if value.is_infinite() {
        return Extreme { value: if largest { f64::NEG_INFINITY } else { f64::INFINITY }, index: NOWHERE };
    }
    let lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    let first = |set: Lanes| {
        let there = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(set.value, _mm512_set1_pd(value));
        let eight = _mm512_add_epi64(set.vector, set.vector);
        let eight = _mm512_add_epi64(eight, eight);
        let index = _mm512_add_epi64(_mm512_add_epi64(eight, eight), lane);
        _mm512_mask_reduce_min_epu64(there, index)
    };
    Extreme { value, index: first(a).min(first(b)) as usize }
}

/// # Safety
/// s and, if `STEP`, both rows hold `marks.len() · 64` numbers.
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
unsafe fn pass<const READING: u8, const STEP: bool>(
    s: &mut [f64],
    marks: &[Marks],
    bend: f64,
    step: Move<'_>,
) -> Extremes {
    let (up, down, bend) = (_mm512_set1_pd(step.up), _mm512_set1_pd(step.down), _mm512_set1_pd(bend));
    // two sets of lanes, so that a comparison need not wait for the one before
    let mut top = [[lanes(f64::NEG_INFINITY); 2]; 2];
    let mut bottom = [[lanes(f64::INFINITY); 2]; 2];
    let mut nothing = [_mm512_setzero_pd(); 2];
    let mut vector = _mm512_set1_epi64(0);
    let one = _mm512_set1_epi64(1);
    let (state, row_up, row_down) = (s.as_mut_ptr(), step.row_up.as_ptr(), step.row_down.as_ptr());
    for (w, mark) in marks.iter().enumerate() {
        for h in 0..WORD / LANES {
            let at = w * WORD + h * LANES;
            // SAFETY: at + 8 ≤ marks.len() · 64, which s and the rows hold.
            let mut v = unsafe { _mm512_loadu_pd(state.add(at)) };
            if STEP {
                // SAFETY: as above.
                let (a, b) = unsafe { (_mm256_loadu_ps(row_up.add(at)), _mm256_loadu_ps(row_down.add(at))) };
                v = _mm512_fmadd_pd(down, _mm512_cvtps_pd(b), _mm512_fnmadd_pd(up, _mm512_cvtps_pd(a), v));
                // SAFETY: as above.
                unsafe { _mm512_storeu_pd(state.add(at), v) };
            }
            // 0 · v is NaN exactly if v is not finite: comparisons alone would pass over it
            nothing[h % 2] = _mm512_fmadd_pd(_mm512_setzero_pd(), v, nothing[h % 2]);
            let bits = |which: usize| (mark[which] >> (h * LANES)) as u8;
            let (mut high, mut low) = (v, v);
            if READING == BENT {
                let (below, above) = (_mm512_sub_pd(v, bend), _mm512_add_pd(v, bend));
                high = _mm512_mask_blend_pd(bits(2), below, above);
                low = _mm512_mask_blend_pd(bits(3), above, below);
            }
            raise(&mut top[0][h % 2], bits(0), high, vector);
            lower(&mut bottom[0][h % 2], bits(1), low, vector);
            if READING == GROUPED {
                raise(&mut top[1][h % 2], bits(2), high, vector);
                lower(&mut bottom[1][h % 2], bits(3), low, vector);
            }
            vector = _mm512_add_epi64(vector, one);
        }
    }
    let finite = !_mm512_reduce_add_pd(_mm512_add_pd(nothing[0], nothing[1])).is_nan();
    Extremes {
        top: [gather(&top[0], true), gather(&top[1], true)],
        bottom: [gather(&bottom[0], false), gather(&bottom[1], false)],
        finite,
    }
}

/// # Safety
/// s, the row and, unless `FLAT`, the diagonal hold `marks.len() · 64` numbers.
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
unsafe fn search<const BENDS: bool, const FLAT: bool>(
    s: &[f64],
    marks: &[Marks],
    bend: f64,
    falls: usize,
    partner: &Partner<'_>,
) -> Promise {
    const HALF: usize = 2 * LANES;
    let (top, bend) = (_mm512_set1_pd(partner.top), _mm512_set1_pd(bend));
    let (own, floor, two) = (_mm512_set1_ps(partner.own), _mm512_set1_ps(partner.floor), _mm512_set1_ps(2.0));
    let flat = _mm512_add_ps(own, own);
    let zero = _mm512_set1_ps(0.0);
    let mut best = _mm512_set1_ps(f32::NEG_INFINITY);
    let mut met = _mm512_set1_epi32(-1);
    for (w, mark) in marks.iter().enumerate() {
        for h in 0..WORD / HALF {
            let allowed = (mark[falls] >> (h * HALF)) as u16;
            if allowed == 0 {
                continue;
            }
            let at = w * WORD + h * HALF;
            // SAFETY: at + 16 ≤ marks.len() · 64, which s holds.
            let (mut a, mut b) =
                unsafe { (_mm512_loadu_pd(s.as_ptr().add(at)), _mm512_loadu_pd(s.as_ptr().add(at + LANES))) };
            if BENDS {
                let bent = (mark[3] >> (h * HALF)) as u16;
                a = _mm512_mask_blend_pd(bent as u8, _mm512_add_pd(a, bend), _mm512_sub_pd(a, bend));
                b = _mm512_mask_blend_pd((bent >> LANES) as u8, _mm512_add_pd(b, bend), _mm512_sub_pd(b, bend));
            }
            let (a, b) = (_mm512_cvtpd_ps(_mm512_sub_pd(top, a)), _mm512_cvtpd_ps(_mm512_sub_pd(top, b)));
            let difference = _mm512_insertf32x8::<1>(_mm512_castps256_ps512(a), b);
            let candidates = _mm512_mask_cmp_ps_mask::<_CMP_GT_OQ>(allowed, difference, zero);
            // near the optimum few variables qualify: a division saved is worth the jump
            if candidates == 0 {
                continue;
            }
            // SAFETY: as above for the row, and for the diagonal unless it is flat.
            let row = unsafe { _mm512_loadu_ps(partner.row.as_ptr().add(at)) };
            let sum = if FLAT {
                flat
            } else {
                // SAFETY: as above.
                _mm512_add_ps(own, unsafe { _mm512_loadu_ps(partner.owns.as_ptr().add(at)) })
            };
            let curvature = _mm512_max_ps(_mm512_fnmadd_ps(two, row, sum), floor);
            let gain = _mm512_div_ps(_mm512_mul_ps(difference, difference), curvature);
            let better = _mm512_mask_cmp_ps_mask::<_CMP_GT_OQ>(candidates, gain, best);
            best = _mm512_mask_mov_ps(best, better, gain);
            met = _mm512_mask_mov_epi32(met, better, _mm512_set1_epi32((at / HALF) as i32));
        }
    }
    let gain = _mm512_reduce_max_ps(best);
    if gain == f32::NEG_INFINITY {
        return Promise { gain, index: NOWHERE };
    }
    let there = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(best, _mm512_set1_ps(gain));
    // vectors and lanes are ordered apart: of the lanes with the best gain, the first vector, then the first lane
    let vector = _mm512_mask_reduce_min_epu32(there, met);
    let same = std::arch::x86_64::_mm512_mask_cmpeq_epi32_mask(there, met, _mm512_set1_epi32(vector as i32));
    let lane =
        _mm512_mask_reduce_min_epu32(same, _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    Promise { gain, index: vector as usize * HALF + lane as usize }
}
