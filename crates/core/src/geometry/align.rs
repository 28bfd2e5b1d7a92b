//! Alignment: how much alike two kernels are, or a kernel and the target.

use crate::gram::views::{Adjusted, Centring};
use crate::gram::{BlockMut, Gram, Pick};
use std::sync::Arc;

/// Rows that are held at once.
const STRIP: usize = 64;

/// ⟨K, L⟩_F / (‖K‖_F ‖L‖_F), the cosine between two matrices; NaN where one of them is zero.
///
/// # Source
/// N. Cristianini, J. Shawe-Taylor, A. Elisseeff & J. Kandola, On kernel-target alignment, NIPS 14 (2001), definition 1.
pub fn alignment(k: &dyn Gram, l: &dyn Gram) -> f64 {
    let (mut kl, mut kk, mut ll) = (0.0, 0.0, 0.0);
    over_strips(k, Some(l), &mut |k, l| {
        for (a, b) in k.iter().zip(l) {
            kl += a * b;
            kk += a * a;
            ll += b * b;
        }
    });
    kl / (kk * ll).sqrt()
}

/// The same between centred matrices, which a constant added to a kernel does not change.
///
/// # Source
/// C. Cortes, M. Mohri & A. Rostamizadeh, Algorithms for learning kernels based on centered alignment, JMLR 13 (2012),
/// definition 4.
pub fn centred_alignment(k: &Arc<dyn Gram>, l: &Arc<dyn Gram>) -> f64 {
    let centred = |g: &Arc<dyn Gram>| Adjusted::centred(Arc::clone(g), &Centring::learn(g.as_ref()));
    alignment(&centred(k), &centred(l))
}

/// The alignment with the target: with the matrix that is 1 for two examples of one class and 0 (two classes: −1) for others,
/// or with yyᵀ of centred numbers.
pub fn target_alignment(k: &dyn Gram, target: &[f64], classes: Option<&[u32]>) -> f64 {
    let n = k.shape().0;
    let mean = target.iter().sum::<f64>() / n.max(1) as f64;
    let two = classes.is_some_and(|c| c.iter().max() == Some(&1));
    let of = |i: usize, j: usize| match classes {
        Some(c) if c[i] == c[j] => 1.0,
        Some(_) if two => -1.0,
        Some(_) => 0.0,
        None => (target[i] - mean) * (target[j] - mean),
    };
    let (mut kl, mut kk, mut ll, mut row) = (0.0, 0.0, 0.0, 0);
    over_strips(k, None, &mut |k, _| {
        for line in k.chunks_exact(n.max(1)) {
            for (j, a) in line.iter().enumerate() {
                let b = of(row, j);
                kl += a * b;
                kk += a * a;
                ll += b * b;
            }
            row += 1;
        }
    });
    kl / (kk * ll).sqrt()
}

/// Calls with the values of some rows after the other.
fn over_strips(k: &dyn Gram, l: Option<&dyn Gram>, see: &mut dyn FnMut(&[f64], &[f64])) {
    let (n, m) = k.shape();
    let (mut a, mut b) = (vec![0.0; STRIP * m], vec![0.0; if l.is_some() { STRIP * m } else { 0 }]);
    for start in (0..n).step_by(STRIP) {
        let count = STRIP.min(n - start);
        let rows = Pick::Range(start..start + count);
        k.block(rows.clone(), Pick::Range(0..m), BlockMut::new(&mut a[..count * m], count, m));
        if let Some(l) = l {
            l.block(rows, Pick::Range(0..m), BlockMut::new(&mut b[..count * m], count, m));
        }
        let length = count * m;
        see(&a[..length], if l.is_some() { &b[..length] } else { &[] });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{linear, points};
    use super::*;
    use crate::gram::Dense;

    #[test]
    fn a_kernel_is_aligned_with_itself_and_the_ideal_one_with_the_target() {
        let gram = linear(&points(70, 3, 8), 3);
        assert!((alignment(&gram, &gram) - 1.0).abs() < 1e-12);
        let y: Vec<f64> = (0..70).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let codes: Vec<u32> = y.iter().map(|y| u32::from(*y > 0.0)).collect();
        let ideal = Dense::new((0..4900).map(|p| y[p / 70] * y[p % 70]).collect(), 70, 70).unwrap();
        assert!((target_alignment(&ideal, &y, Some(&codes)) - 1.0).abs() < 1e-12);
        // against the definition, two classes and numbers
        let brute = |l: &dyn Fn(usize, usize) -> f64| {
            let (mut kl, mut kk, mut ll) = (0.0, 0.0, 0.0);
            for i in 0..70 {
                for j in 0..70 {
                    let (a, b) = (gram.row(i)[j], l(i, j));
                    kl += a * b;
                    kk += a * a;
                    ll += b * b;
                }
            }
            kl / f64::sqrt(kk * ll)
        };
        assert!((target_alignment(&gram, &y, Some(&codes)) - brute(&|i, j| y[i] * y[j])).abs() < 1e-12);
        let mean = y.iter().sum::<f64>() / 70.0;
        let numbers = brute(&|i, j| (y[i] - mean) * (y[j] - mean));
        assert!((target_alignment(&gram, &y, None) - numbers).abs() < 1e-12);
    }

    #[test]
    fn centring_makes_constants_not_matter() {
        let gram = linear(&points(30, 2, 9), 2);
        let shifted = Dense::new(gram.values().iter().map(|k| k + 5.0).collect(), 30, 30).unwrap();
        let (a, b): (Arc<dyn Gram>, Arc<dyn Gram>) = (Arc::new(gram), Arc::new(shifted));
        assert!((centred_alignment(&a, &b) - 1.0).abs() < 1e-10);
        assert!(alignment(a.as_ref(), b.as_ref()) < 0.99);
    }
}
