//! Breiman's waveforms, one kind against the two others.
//!
//! L. Breiman, J. Friedman, R. Olshen & C. Stone, Classification and Regression Trees (1984), section 2.6; also in
//! Breiman (1996). A waveform is a random mixture u f + (1 − u) g of two of three triangles of height 6 with peaks at
//! 7, 11 and 15, seen at 21 points with standard normal noise. Which two triangles are mixed is its kind; the three
//! kinds are equally frequent. The two classes are those of the benchmarks of Rätsch, Onoda & Müller (2001), whose
//! class means show the convention: class 1 mixes the peaks 7 and 11, class −1 is one of the other two kinds.

use super::SetEntry;
use super::build::{classes, columns, count, table};
use crate::data::{DataError, Table};
use crate::seed::Seed;

/// Points at which a waveform is seen.
const POINTS: usize = 21;
/// The peaks of the two triangles that each kind mixes; the first kind is class 1.
const PEAKS: [[f64; 2]; 3] = [[7.0, 11.0], [7.0, 15.0], [11.0, 15.0]];

/// The entry.
pub(super) static WAVEFORM: SetEntry = SetEntry {
    name: "waveform",
    summary: "noisy mixtures of triangular waves at 21 points, one kind against two",
    task: "classification",
    examples: 400,
    source: "generated: Breiman, Friedman, Olshen & Stone, Classification and Regression Trees (1984), section 2.6; \
             two classes as in Rätsch, Onoda & Müller (2001)",
    generated: true,
    make,
};

fn make(n: Option<usize>, seed: Seed) -> Result<Table, DataError> {
    let n = count("waveform", n, WAVEFORM.examples)?;
    let mut random = seed.stream("waveform");
    // Equal thirds in random order: even two examples then have two classes.
    let kinds: Vec<usize> = random.permutation(n).into_iter().map(|place| place % 3).collect();
    let rows: Vec<Vec<f64>> = kinds
        .iter()
        .map(|&kind| {
            let u = random.uniform();
            (1..=POINTS)
                .map(|i| {
                    let [f, g] = PEAKS[kind].map(|peak| (6.0 - (i as f64 - peak).abs()).max(0.0));
                    u * f + (1.0 - u) * g + random.normal()
                })
                .collect()
        })
        .collect();
    let positive: Vec<bool> = kinds.iter().map(|&kind| kind == 0).collect();
    Ok(table("waveform", n, columns(&rows), classes(&positive, [-1, 1])))
}
