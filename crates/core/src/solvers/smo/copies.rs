//! Examples that coincide in feature space: their rows are the same, so shares pass between them without any effect on the
//! state. All of them are settled at once; pair by pair, a million copies would take a million steps.

use super::level::{Level, Way};
use super::run::Run;
use super::team::Parcel;

/// Smallest number of violating copies that are moved together; fewer are ordinary pairs.
const MIN_COPIES: usize = 64;

/// A copy that may move.
#[derive(Clone, Copy)]
struct Copy {
    column: usize,
    height: f64,
    room: f64,
}

impl Run<'_> {
    /// Passes shares from the lowest to the highest copies of i until none that may rise stands above one that may fall.
    /// True if anything moved.
    pub(super) fn settle_copies(&mut self, level: &mut Level, i: usize, group: usize, slot: usize) -> bool {
        let own = level.v.own[i];
        let (mut rises, mut falls) = (Parcel::default(), Parcel::default());
        let row: Vec<f32> = level.kept().values(slot)[..level.part.len()].to_vec();
        for (place, &k) in row.iter().enumerate() {
            let column = level.part.start + place;
            // the same point: κ(x, y) = κ(x, x) = κ(y, y)
            if k != own as f32 || level.v.own[column] != own {
                continue;
            }
            let (up, down) = level.v.heights(column, level.s[place], self.reading, group);
            if let Some(height) = up {
                rises.indices.push(column);
                rises.numbers.push(height);
            }
            if let Some(height) = down {
                falls.indices.push(column);
                falls.numbers.push(height);
            }
        }
        let mut up = self.collect(level, rises, Way::Rise, group);
        let mut down = self.collect(level, falls, Way::Fall, group);
        // a few copies are ordinary pairs
        if up.len() + down.len() < MIN_COPIES {
            return false;
        }
        up.sort_by(|a, b| b.height.total_cmp(&a.height).then(a.column.cmp(&b.column)));
        down.sort_by(|a, b| a.height.total_cmp(&b.height).then(a.column.cmp(&b.column)));
        let (mut a, mut b, mut moved) = (0, 0, false);
        while let (Some(&high), Some(&low)) = (up.get(a), down.get(b)) {
            if high.height <= low.height || high.column == low.column {
                break;
            }
            let step = high.room.min(low.room);
            if !step.is_finite() {
                break;
            }
            let (to_high, to_low) = (step >= high.room, step >= low.room);
            level.v.shift(high.column, Way::Rise, self.reading, group, step, to_high);
            level.v.shift(low.column, Way::Fall, self.reading, group, step, to_low);
            level.mark(high.column, self.reading);
            level.mark(low.column, self.reading);
            (up[a].room, down[b].room) = (high.room - step, low.room - step);
            a += usize::from(to_high);
            b += usize::from(to_low);
            moved = true;
        }
        moved
    }

    /// The copies of all parts.
    fn collect(&mut self, level: &Level, parcel: Parcel, way: Way, group: usize) -> Vec<Copy> {
        let mut copies = Vec::new();
        let reading = self.reading;
        self.member.hand_round(parcel, |_, parcel| {
            copies.extend(parcel.indices.iter().zip(&parcel.numbers).map(|(&column, &height)| Copy {
                column,
                height,
                room: level.v.room(column, way, reading, group),
            }));
        });
        copies
    }
}
