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
    _mm512_loadu_ps, _mm512_mask_blend_pd, _mm512_mask_cmp_ps_mask, _mm512_mask_cmpeq_epi32_mask, _mm512_mask_max_pd,
    _mm512_mask_min_pd, _mm512_mask_mov_epi32, _mm512_mask_mov_epi64, _mm512_mask_mov_pd, _mm512_mask_mov_ps,
    _mm512_mask_reduce_min_epu32, _mm512_mask_reduce_min_epu64, _mm512_max_pd, _mm512_max_ps, _mm512_min_pd,
    _mm512_mul_ps, _mm512_reduce_add_pd, _mm512_reduce_max_pd, _mm512_reduce_max_ps, _mm512_reduce_min_pd,
    _mm512_set1_epi32, _mm512_set1_epi64, _mm512_set1_pd, _mm512_set1_ps, _mm512_setr_epi32, _mm512_setzero_pd,
    _mm512_storeu_pd, _mm512_sub_pd,
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

/// The best value of each lane and the word it was met in.
#[derive(Clone, Copy)]
struct Lanes {
    value: __m512d,
    word: __m512i,
}

#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn lanes(value: f64) -> Lanes {
    Lanes { value: _mm512_set1_pd(value), word: _mm512_set1_epi64(-1) }
}

/// Keeps the larger of each lane.
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
#[inline]
fn raise(best: &mut Lanes, v: __m512d, word: __m512i) {
    let better = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(v, best.value);
    best.value = _mm512_mask_mov_pd(best.value, better, v);
    best.word = _mm512_mask_mov_epi64(best.word, better, word);
}

/// Keeps the smaller of each lane.
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
#[inline]
fn lower(best: &mut Lanes, v: __m512d, word: __m512i) {
    let better = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(v, best.value);
    best.value = _mm512_mask_mov_pd(best.value, better, v);
    best.word = _mm512_mask_mov_epi64(best.word, better, word);
}

/// The extreme over all lanes and the first word that has it.
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn gather(best: Lanes, largest: bool) -> Option<(f64, usize)> {
    let value = if largest { _mm512_reduce_max_pd(best.value) } else { _mm512_reduce_min_pd(best.value) };
    if value.is_infinite() {
        return None;
    }
    let there = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(best.value, _mm512_set1_pd(value));
    Some((value, _mm512_mask_reduce_min_epu64(there, best.word) as usize))
}

/// The first variable of a word that sees a value.
fn place(
    s: &[f64],
    marks: &[Marks],
    reading: Reading,
    group: usize,
    rises: bool,
    found: Option<(f64, usize)>,
) -> Extreme {
    let nowhere = Extreme { value: if rises { f64::NEG_INFINITY } else { f64::INFINITY }, index: NOWHERE };
    let Some((value, w)) = found else { return nowhere };
    let mark = &marks[w];
    let mut open = mark[2 * group + usize::from(!rises)];
    while open != 0 {
        let bit = open.trailing_zeros() as usize;
        open &= open - 1;
        let v = s[w * WORD + bit];
        let seen = match reading {
            Reading::Bent(e) => {
                let far = mark[if rises { 2 } else { 3 }] >> bit & 1 == 1;
                if far == rises { v + e } else { v - e }
            }
            Reading::Plain | Reading::Grouped => v,
        };
        if seen == value {
            return Extreme { value, index: w * WORD + bit };
        }
    }
    nowhere
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
    let reading = match READING {
        PLAIN => Reading::Plain,
        BENT => Reading::Bent(bend),
        _ => Reading::Grouped,
    };
    let groups = if READING == GROUPED { 2 } else { 1 };
    let (up, down, bend) = (_mm512_set1_pd(step.up), _mm512_set1_pd(step.down), _mm512_set1_pd(bend));
    let (lowest, highest) = (_mm512_set1_pd(f64::NEG_INFINITY), _mm512_set1_pd(f64::INFINITY));
    let (mut top, mut bottom) = ([lanes(f64::NEG_INFINITY); 2], [lanes(f64::INFINITY); 2]);
    let mut nothing = [_mm512_setzero_pd(); 2];
    let mut word = _mm512_set1_epi64(0);
    let one = _mm512_set1_epi64(1);
    let (state, row_up, row_down) = (s.as_mut_ptr(), step.row_up.as_ptr(), step.row_down.as_ptr());
    for (w, mark) in marks.iter().enumerate() {
        // two registers of extremes in turn, so that none waits for the one before; where they were met is asked only once
        // a word
        let (mut high, mut low) = ([[lowest; 2]; 2], [[highest; 2]; 2]);
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
            let (mut rising, mut falling) = (v, v);
            if READING == BENT {
                let (below, above) = (_mm512_sub_pd(v, bend), _mm512_add_pd(v, bend));
                rising = _mm512_mask_blend_pd(bits(2), below, above);
                falling = _mm512_mask_blend_pd(bits(3), above, below);
            }
            for group in 0..groups {
                let (up, down) = (&mut high[group][h % 2], &mut low[group][h % 2]);
                *up = _mm512_mask_max_pd(*up, bits(2 * group), *up, rising);
                *down = _mm512_mask_min_pd(*down, bits(2 * group + 1), *down, falling);
            }
        }
        for group in 0..groups {
            raise(&mut top[group], _mm512_max_pd(high[group][0], high[group][1]), word);
            lower(&mut bottom[group], _mm512_min_pd(low[group][0], low[group][1]), word);
        }
        word = _mm512_add_epi64(word, one);
    }
    let finite = !_mm512_reduce_add_pd(_mm512_add_pd(nothing[0], nothing[1])).is_nan();
    let tops = [gather(top[0], true), gather(top[1], true)];
    let bottoms = [gather(bottom[0], false), gather(bottom[1], false)];
    let find = |group, rises, found| place(s, marks, reading, group, rises, found);
    Extremes {
        top: [find(0, true, tops[0]), find(1, true, tops[1])],
        bottom: [find(0, false, bottoms[0]), find(1, false, bottoms[1])],
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
    let same = _mm512_mask_cmpeq_epi32_mask(there, met, _mm512_set1_epi32(vector as i32));
    let lane =
        _mm512_mask_reduce_min_epu32(same, _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    Promise { gain, index: vector as usize * HALF + lane as usize }
}
