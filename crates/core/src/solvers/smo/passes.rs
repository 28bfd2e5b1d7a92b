//! The passes over all variables: where nearly all the time of the solver goes. Plain loops over fixed lanes that become
//! vector code under run-time dispatch; ties go to the lowest index, so the result does not depend on the lanes.

use crate::vectorise::{Loops, vectorised};

/// An extreme value and the first place it stands at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extreme {
    pub(super) value: f64,
    pub(super) index: usize,
}

/// Variables in a chunk: the extreme of a chunk is found by vector code, its place only in the winning chunk.
const CHUNK: usize = 256;
const LANES: usize = 16;

/// The largest s over I_up and the smallest over I_low.
pub(super) fn extremes(s: &[f64], up: &[f64], low: &[f64]) -> (Extreme, Extreme) {
    let mut search = Search::new();
    for start in (0..s.len()).step_by(CHUNK) {
        let end = (start + CHUNK).min(s.len());
        search.look(start, &s[start..end], &up[start..end], &low[start..end]);
    }
    search.places(s, up, low)
}

/// s ← s − step (K_i − K_j), then the extremes.
pub(super) fn update(
    s: &mut [f64],
    up: &[f64],
    low: &[f64],
    step: f64,
    k_i: &[f32],
    k_j: &[f32],
) -> (Extreme, Extreme) {
    vectorised(Update { s, up, low, step, k_i, k_j })
}

struct Update<'a> {
    s: &'a mut [f64],
    up: &'a [f64],
    low: &'a [f64],
    step: f64,
    k_i: &'a [f32],
    k_j: &'a [f32],
}

impl Loops for Update<'_> {
    type Output = (Extreme, Extreme);

    #[inline(always)]
    fn run(self) -> (Extreme, Extreme) {
        let Self { s, up, low, step, k_i, k_j } = self;
        let mut search = Search::new();
        for start in (0..s.len()).step_by(CHUNK) {
            let end = (start + CHUNK).min(s.len());
            let chunk = &mut s[start..end];
            for ((s, a), b) in chunk.iter_mut().zip(&k_i[start..end]).zip(&k_j[start..end]) {
                *s -= step * (f64::from(*a) - f64::from(*b));
            }
            search.look(start, chunk, &up[start..end], &low[start..end]);
        }
        search.places(s, up, low)
    }
}

/// The extremes so far, and the chunks they are in.
struct Search {
    top: f64,
    top_chunk: usize,
    bottom: f64,
    bottom_chunk: usize,
    spoiled: bool,
}

impl Search {
    #[inline(always)]
    fn new() -> Self {
        Self { top: f64::NEG_INFINITY, top_chunk: 0, bottom: f64::INFINITY, bottom_chunk: 0, spoiled: false }
    }

    #[inline(always)]
    fn look(&mut self, start: usize, s: &[f64], up: &[f64], low: &[f64]) {
        let (mut tops, mut bottoms, mut sums) = ([f64::NEG_INFINITY; LANES], [f64::INFINITY; LANES], [0.0; LANES]);
        let (s_wide, s_rest) = s.as_chunks::<LANES>();
        let (up_wide, up_rest) = up.as_chunks::<LANES>();
        let (low_wide, low_rest) = low.as_chunks::<LANES>();
        for ((s, u), d) in s_wide.iter().zip(up_wide).zip(low_wide) {
            for l in 0..LANES {
                let (raised, lowered) = (s[l] + u[l], s[l] + d[l]);
                tops[l] = if raised > tops[l] { raised } else { tops[l] };
                bottoms[l] = if lowered < bottoms[l] { lowered } else { bottoms[l] };
                // 0 · s is NaN exactly if s is not finite: comparisons alone would pass over it
                sums[l] += 0.0 * s[l];
            }
        }
        let (mut top, mut bottom, mut sum) = (f64::NEG_INFINITY, f64::INFINITY, 0.0);
        for ((s, u), d) in s_rest.iter().zip(up_rest).zip(low_rest) {
            let (raised, lowered) = (s + u, s + d);
            top = if raised > top { raised } else { top };
            bottom = if lowered < bottom { lowered } else { bottom };
            sum += 0.0 * s;
        }
        for l in 0..LANES {
            top = if tops[l] > top { tops[l] } else { top };
            bottom = if bottoms[l] < bottom { bottoms[l] } else { bottom };
            sum += sums[l];
        }
        self.spoiled |= sum.is_nan();
        // strictly better only, so that the first chunk wins a tie
        if top > self.top {
            (self.top, self.top_chunk) = (top, start);
        }
        if bottom < self.bottom {
            (self.bottom, self.bottom_chunk) = (bottom, start);
        }
    }

    #[inline(always)]
    fn places(&self, s: &[f64], up: &[f64], low: &[f64]) -> (Extreme, Extreme) {
        if self.spoiled {
            let nowhere = Extreme { value: f64::NAN, index: 0 };
            return (nowhere, nowhere);
        }
        let find = |value: f64, start: usize, mask: &[f64]| {
            let place = (start..s.len()).take(CHUNK).find(|&t| s[t] + mask[t] == value);
            Extreme { value, index: place.unwrap_or(0) }
        };
        (find(self.top, self.top_chunk, up), find(self.bottom, self.bottom_chunk, low))
    }
}

/// The j in I_low with s_j < s_i whose step with i promises the largest decrease (s_i − s_j)²/(K_ii + K_jj − 2K_ij). The
/// promise is computed in f32: it only ranks.
pub(super) fn choose_partner(s: &[f64], low: &[f64], row: &[f32], own: &[f32], i: usize, gains: &mut [f32]) -> usize {
    vectorised(ChoosePartner { s, low, row, own, i, gains })
}

struct ChoosePartner<'a> {
    s: &'a [f64],
    low: &'a [f64],
    row: &'a [f32],
    own: &'a [f32],
    i: usize,
    gains: &'a mut [f32],
}

impl Loops for ChoosePartner<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Self { s, low, row, own, i, gains } = self;
        let (s_i, own_i) = (s[i], own[i]);
        let (mut best, mut best_chunk) = (f32::NEG_INFINITY, 0);
        for start in (0..s.len()).step_by(CHUNK) {
            let end = (start + CHUNK).min(s.len());
            let chunk = &mut gains[start..end];
            for (((g, s), d), (k, own)) in chunk
                .iter_mut()
                .zip(&s[start..end])
                .zip(&low[start..end])
                .zip(row[start..end].iter().zip(&own[start..end]))
            {
                // +∞ in the mask makes the difference −∞, which gives no gain
                let difference = (s_i - (s + d)) as f32;
                let curvature = own_i + own - 2.0 * k;
                let curvature = if curvature > 1e-6 { curvature } else { 1e-6 };
                let gain = difference * difference / curvature;
                *g = if difference > 0.0 { gain } else { f32::NEG_INFINITY };
            }
            let top = largest(chunk);
            if top > best {
                (best, best_chunk) = (top, start);
            }
        }
        (best_chunk..s.len()).take(CHUNK).find(|&t| gains[t] == best).unwrap_or(i)
    }
}

#[inline(always)]
fn largest(values: &[f32]) -> f32 {
    let mut tops = [f32::NEG_INFINITY; LANES];
    let (wide, rest) = values.as_chunks::<LANES>();
    for line in wide {
        for l in 0..LANES {
            tops[l] = if line[l] > tops[l] { line[l] } else { tops[l] };
        }
    }
    rest.iter().chain(&tops).fold(f32::NEG_INFINITY, |best, &v| if v > best { v } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn the_passes_agree_with_plain_searches() {
        let mut random = Seed(5).stream("passes");
        for n in [1, 2, 15, 16, 17, 255, 256, 257, 1000] {
            // few distinct values, so that ties occur
            let mut s: Vec<f64> = (0..n).map(|_| (random.below(7) as f64) - 3.0).collect();
            let up: Vec<f64> = (0..n).map(|_| if random.below(3) == 0 { f64::NEG_INFINITY } else { 0.0 }).collect();
            let low: Vec<f64> = (0..n).map(|_| if random.below(3) == 0 { f64::INFINITY } else { 0.0 }).collect();
            let k_i: Vec<f32> = (0..n).map(|_| random.below(4) as f32).collect();
            let k_j: Vec<f32> = (0..n).map(|_| random.below(4) as f32).collect();
            let mut plain = s.clone();
            for t in 0..n {
                plain[t] -= 0.5 * (f64::from(k_i[t]) - f64::from(k_j[t]));
            }
            let (top, bottom) = update(&mut s, &up, &low, 0.5, &k_i, &k_j);
            assert_eq!(s, plain);
            assert_eq!((top, bottom), extremes(&s, &up, &low));
            let expected = (0..n).filter(|&t| up[t] == 0.0).fold(None, |best: Option<usize>, t| match best {
                Some(b) if s[b] >= s[t] => Some(b),
                _ => Some(t),
            });
            if let Some(expected) = expected {
                assert_eq!((top.index, top.value), (expected, s[expected]));
                let own = vec![4.0_f32; n];
                let j = choose_partner(&s, &low, &k_i, &own, expected, &mut vec![0.0; n]);
                let gain = |t: usize| {
                    let d = (s[expected] - s[t]) as f32;
                    if low[t] == 0.0 && d > 0.0 { d * d / (8.0 - 2.0 * k_i[t]).max(1e-6) } else { f32::NEG_INFINITY }
                };
                let best = (0..n).map(gain).fold(f32::NEG_INFINITY, f32::max);
                if best > f32::NEG_INFINITY {
                    assert_eq!(Some(j), (0..n).find(|&t| gain(t) == best));
                }
            }
        }
    }
}
