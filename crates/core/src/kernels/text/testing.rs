//! Helpers that the tests of the kernels share.

use super::TextKernel;
use super::pieces::features;
use crate::gram::{BlockMut, Pick, Side, fill};
use crate::seed::Seed;
use std::sync::Arc;

/// Strings of random lengths below `longest` over an alphabet of so many letters; beyond 26 they are not ASCII.
pub(super) fn random_strings(n: usize, longest: usize, letters: usize, purpose: &str) -> Vec<String> {
    let mut random = Seed(letters as u64).stream(purpose);
    let first = if letters <= 26 { 'a' } else { '一' };
    (0..n)
        .map(|_| {
            let len = random.below(longest);
            (0..len).filter_map(|_| char::from_u32(u32::from(first) + random.below(letters) as u32)).collect()
        })
        .collect()
}

/// Every way to ask for values gives `eval`, up to a relative tolerance.
pub(super) fn check_matrix<K: TextKernel>(kernel: &K, strings: &[String], tolerance: f64) {
    let n = strings.len();
    let cols: Vec<String> = strings.iter().rev().cloned().collect();
    let gram = Arc::new(kernel.clone()).gram(Arc::new(strings.to_vec()), Arc::new(cols.clone()));
    let near = |got: f64, i: usize, j: usize, tolerance: f64| {
        let right = kernel.eval(&strings[i], &cols[j]);
        assert!((got - right).abs() <= tolerance * right, "({i}, {j}): {got} {right}");
    };
    let mut k = vec![f64::NAN; n * n];
    fill(gram.as_ref(), &mut k);
    assert!(k.iter().any(|&v| v > 0.0));
    for (at, &v) in k.iter().enumerate() {
        near(v, at / n, at % n, tolerance);
    }
    let (odd, short): (Vec<usize>, Vec<usize>) = ((0..n).rev().step_by(2).chain([5, 5]).collect(), vec![9, 2, 2]);
    let picks = [Pick::Range(0..n), Pick::Range(7..n - 4), Pick::Range(8..9), Pick::List(&odd), Pick::List(&short)];
    for rows in &picks {
        for cols in &picks {
            let stride = cols.len() + 3;
            let (mut wide, mut narrow) = (vec![-1.0; rows.len() * stride], vec![-1.0_f32; rows.len() * stride]);
            gram.block(rows.clone(), cols.clone(), BlockMut::strided(&mut wide, rows.len(), cols.len(), stride));
            gram.block32(rows.clone(), cols.clone(), BlockMut::strided(&mut narrow, rows.len(), cols.len(), stride));
            for a in 0..rows.len() {
                for b in 0..stride {
                    let (w, s) = (wide[a * stride + b], narrow[a * stride + b]);
                    if b < cols.len() {
                        assert_eq!(w, k[rows.at(a) * n + cols.at(b)], "a block is a part of the whole, bit by bit");
                        near(f64::from(s), rows.at(a), cols.at(b), 8.0 * f64::from(f32::EPSILON));
                    } else {
                        assert!(w == -1.0 && s == -1.0, "written beyond the block");
                    }
                }
            }
        }
    }
    for (side, own) in [(Side::Rows, strings), (Side::Columns, &cols)] {
        let found = gram.self_similarities(side).unwrap();
        assert_eq!(found.len(), n);
        for (v, s) in found.iter().zip(own) {
            let right = kernel.eval(s, s);
            assert!((v - right).abs() <= tolerance * right);
        }
    }
    let part = gram.restrict(&odd, &short);
    assert_eq!(part.shape(), (odd.len(), 3));
    let mut chosen = vec![f64::NAN; odd.len() * 3];
    fill(part.as_ref(), &mut chosen);
    for (at, &v) in chosen.iter().enumerate() {
        assert_eq!(v, k[odd[at / 3] * n + short[at % 3]]);
    }
    let own = part.self_similarities(Side::Rows).unwrap();
    assert!((own[1] - kernel.eval(&strings[odd[1]], &strings[odd[1]])).abs() <= tolerance * own[1]);
}

/// ⟨φ(s), φ(t)⟩ of the explicit features is κ(s, t), up to a relative tolerance.
pub(super) fn check_features<K: TextKernel>(kernel: &K, strings: &[String], tolerance: f64) {
    let all = strings.to_vec();
    let rows = features(&all, &|s, emit| kernel.pieces(s, emit)).expect("the kernel has explicit features");
    assert_eq!(rows.len(), strings.len());
    for (i, x) in strings.iter().enumerate() {
        for (j, y) in strings.iter().enumerate() {
            let mut got = 0.0;
            crate::kernels::vectors::merge(rows.row(i), rows.row(j), |a: f64, b: f64| got += a * b);
            let right = kernel.eval(x, y);
            assert!((got - right).abs() <= tolerance * right.abs(), "{x} {y}: {got} {right}");
        }
    }
}

/// The shares of the positions of the first string add up to κ, up to a relative tolerance.
pub(super) fn check_shares<K: TextKernel>(kernel: &K, strings: &[String], tolerance: f64) {
    for x in strings {
        for y in strings {
            let mut out = vec![0.0; x.chars().count()];
            assert!(kernel.shares(x, y, &mut out));
            let (got, right) = (out.iter().sum::<f64>(), kernel.eval(x, y));
            assert!((got - right).abs() <= tolerance * right.abs(), "{x} {y}: {got} {right}");
        }
    }
}
