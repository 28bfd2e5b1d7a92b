//! The passes as plain loops: for every processor, and what the fast ones are measured by.

use super::{Extreme, Extremes, Marks, Move, NOWHERE, Partner, Promise, Reading, WORD};
use crate::vectorise::{Loops, vectorised};

pub(super) fn update(s: &mut [f64], marks: &[Marks], reading: Reading, step: Option<Move<'_>>) -> Extremes {
    if let Some(step) = step {
        vectorised(Take { s, step });
    }
    let lowest = Extreme { value: f64::NEG_INFINITY, index: NOWHERE };
    let highest = Extreme { value: f64::INFINITY, index: NOWHERE };
    let mut found = Extremes { top: [lowest; 2], bottom: [highest; 2], finite: true };
    for (w, (values, marks)) in s.chunks_exact(WORD).zip(marks).enumerate() {
        for (b, &v) in values.iter().enumerate() {
            let bit = |which: usize| marks[which] >> b & 1 == 1;
            found.finite &= v.is_finite();
            let (high, low) = match reading {
                Reading::Bent(e) => (if bit(2) { v + e } else { v - e }, if bit(3) { v - e } else { v + e }),
                Reading::Plain | Reading::Grouped => (v, v),
            };
            let index = w * WORD + b;
            for group in 0..if reading == Reading::Grouped { 2 } else { 1 } {
                if bit(2 * group) && high > found.top[group].value {
                    found.top[group] = Extreme { value: high, index };
                }
                if bit(2 * group + 1) && low < found.bottom[group].value {
                    found.bottom[group] = Extreme { value: low, index };
                }
            }
        }
    }
    found
}

/// s ← s − up · row_up + down · row_down.
struct Take<'a> {
    s: &'a mut [f64],
    step: Move<'a>,
}

impl Loops for Take<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Move { up, row_up, down, row_down } = self.step;
        for (s, (&a, &b)) in self.s.iter_mut().zip(row_up.iter().zip(row_down)) {
            *s = down.mul_add(f64::from(b), (-up).mul_add(f64::from(a), *s));
        }
    }
}

pub(super) fn choose(s: &[f64], marks: &[Marks], reading: Reading, partner: &Partner<'_>) -> Promise {
    let mut best = Promise { gain: f32::NEG_INFINITY, index: NOWHERE };
    let falls = if reading == Reading::Grouped { 2 * partner.group + 1 } else { 1 };
    for (w, (values, marks)) in s.chunks_exact(WORD).zip(marks).enumerate() {
        for (b, &v) in values.iter().enumerate() {
            if marks[falls] >> b & 1 == 0 {
                continue;
            }
            let low = match reading {
                Reading::Bent(e) if marks[3] >> b & 1 == 1 => v - e,
                Reading::Bent(e) => v + e,
                Reading::Plain | Reading::Grouped => v,
            };
            let difference = (partner.top - low) as f32;
            let index = w * WORD + b;
            let own = partner.owns.get(index).copied().unwrap_or(partner.own);
            let curvature = (-2.0_f32).mul_add(partner.row[index], partner.own + own);
            let curvature = if curvature > partner.floor { curvature } else { partner.floor };
            let gain = difference * difference / curvature;
            if difference > 0.0 && gain > best.gain {
                best = Promise { gain, index };
            }
        }
    }
    best
}
