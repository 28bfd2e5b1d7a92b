//! Tests of the layouts: distances and products by definition.

use super::*;
use crate::data::Coordinate;
use crate::seed::Seed;

fn pack(values: &Values, change: &Change) -> Option<Lines> {
    Lines::new(Layout::of(values, change)?, values, change)
}

fn plain(x: &[f64], y: &[f64], distance: bool) -> f64 {
    x.iter().zip(y).map(|(a, b)| if distance { (a - b) * (a - b) } else { a * b }).sum()
}

fn check(values: &Values, dense: &[Vec<f64>], layout: fn(&Lines) -> bool) {
    let n = dense.len();
    for (distance, by) in [(true, Distances::Differences), (true, Distances::Products), (false, Distances::Products)] {
        let lines = pack(values, &Change { shift: None, weights: Some(Arc::new(vec![0.5])), distance }).unwrap();
        assert!(layout(&lines));
        let keep: Vec<usize> = (0..n).filter(|i| i % 3 != 1).collect();
        for (lines, places) in [(lines.select(&keep), keep), (lines, (0..n).collect())] {
            let m = places.len();
            let rows: Vec<usize> = (0..m).step_by(7).collect();
            let cols = 3..m - 2;
            let mut out = vec![vec![0.0_f32; cols.len()]; rows.len()];
            let mut refs: Vec<&mut [f32]> = out.iter_mut().map(Vec::as_mut_slice).collect();
            lines.rows(&rows, &cols, &mut refs, by, &|_| {});
            for (&row, line) in rows.iter().zip(&out) {
                let mut alone = vec![0.0; cols.len()];
                lines.rows(&[row], &cols, &mut [&mut alone], by, &|_| {});
                assert_eq!(&alone, line, "a row in a group has the bits of a row alone");
                for (c, &found) in cols.clone().zip(line) {
                    let exact = 0.25 * plain(&dense[places[row]], &dense[places[c]], distance);
                    assert!((f64::from(found) - exact).abs() <= 1e-5 * exact.abs().max(1.0), "{found} {exact}");
                }
            }
        }
    }
}

#[test]
fn every_layout_gives_distances_and_products() {
    let mut random = Seed(11).stream("lines");
    let n = 150;
    let reals: Vec<Vec<f64>> = (0..n).map(|_| (0..13).map(|_| random.normal()).collect()).collect();
    check(&Rows::from_vectors(&reals).unwrap().into(), &reals, |l| matches!(l, Lines::Real(_)));
    // enough features for products, in more than one part, and in parts of panels
    let wide: Vec<Vec<f64>> = (0..n).map(|_| (0..300).map(|_| 0.1 * random.normal()).collect()).collect();
    check(&Rows::from_vectors(&wide).unwrap().into(), &wide, |l| l.panel_rows() > 1);
    let pixels: Vec<Vec<f64>> =
        (0..n).map(|_| (0..9).map(|_| (random.below(256) * random.below(2)) as f64 / 255.0).collect()).collect();
    check(&Rows::from_vectors(&pixels).unwrap().into(), &pixels, |l| matches!(l, Lines::Gridded(_)));
    let decimals: Vec<Vec<f64>> =
        (0..n).map(|_| (0..9).map(|_| f64::from(random.below(2001) as i32 - 1000) / 1000.0).collect()).collect();
    check(&Rows::from_vectors(&decimals).unwrap().into(), &decimals, |l| matches!(l, Lines::Gridded(_)));
    let mut sparse = SparseRows::new(20);
    let mut ones = Vec::new();
    for i in 0..n {
        let row: Vec<u32> = (0..20).filter(|_| i % 10 != 0 && random.below(3) == 0).collect();
        sparse.push(&row.iter().map(|&index| Coordinate { index, value: 1.0 }).collect::<Vec<_>>());
        ones.push((0..20).map(|k| f64::from(u8::from(row.contains(&k)))).collect::<Vec<f64>>());
    }
    check(&sparse.into(), &ones, |l| matches!(l, Lines::Counted(_)));
}

#[test]
fn the_shift_of_a_distance_is_taken_before_rounding() {
    let far: Vec<Vec<f64>> = (0..70).map(|i| vec![1e6 + 0.3 * f64::from(i), 0.1 * f64::from(i % 7)]).collect();
    let source: Values = Rows::from_vectors(&far).unwrap().into();
    let shift = Some(Arc::new(vec![1e6, 0.0]));
    let lines = pack(&source, &Change { shift, weights: None, distance: true }).unwrap();
    let mut row = vec![0.0; 70];
    lines.rows(&[5], &(0..70), &mut [&mut row], Distances::Differences, &|_| {});
    for (j, &found) in row.iter().enumerate() {
        let exact = plain(&far[5], &far[j], true);
        assert!((f64::from(found) - exact).abs() <= 1e-4 * exact.max(1.0));
    }
}

#[test]
fn counted_products_with_other_examples_are_those_by_definition() {
    let mut random = Seed(12).stream("counted");
    let mut row = |width: u32| -> Vec<u32> { (0..width).filter(|_| random.below(4) == 0).collect() };
    let ones = |features: &[u32]| -> Vec<Coordinate<f64>> {
        features.iter().map(|&index| Coordinate { index, value: 1.0 }).collect()
    };
    let columns: Vec<Vec<u32>> = (0..600).map(|_| row(30)).collect();
    let mut sparse = SparseRows::new(30);
    columns.iter().for_each(|c| assert!(sparse.push(&ones(c))));
    let source: Values = sparse.into();
    assert!(Counted::holds(&source));
    let change = Change { shift: None, weights: Some(Arc::new(vec![0.5])), distance: true };
    let Some(Lines::Counted(counted)) = pack(&source, &change) else { panic!("zeros and ones are counted") };
    for _ in 0..5 {
        // features that no column has are passed over
        let x = row(40);
        for cols in [0..600, 7..300, 256..512] {
            let mut line = vec![0.0; cols.len()];
            counted.products(&ones(&x), &cols, &mut line);
            for (c, &found) in cols.zip(&line) {
                let common = x.iter().filter(|k| columns[c].contains(k)).count();
                assert_eq!(found, 0.25 * common as f64);
            }
        }
    }
    let mut twos = SparseRows::new(3);
    twos.push(&[Coordinate { index: 1, value: 2.0 }]);
    assert!(!Counted::holds(&twos.into()));
}
