//! Loops over all threads, compiled once.
//!
//! A parallel loop of rayon is compiled anew for each closure, with all of its splitting and stealing. Here the loop is
//! compiled once, for a closure behind a pointer. The work for
//! one number is a strip of rows, a tile or a problem, beside which a call and a lock cost nothing; loops over single rows use rayon.
//!
//! Any thread may do any part, so the work for one number must not depend on that for another.

use crate::watch::{present, under};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::sync::{Mutex, PoisonError};

/// Does the work for each number below `count`, on all threads.
pub(crate) fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    if count == 1 {
        return work(0);
    }
    // pieces take different times, so they are handed out one by one
    let numbers = (0..count).into_par_iter().with_max_len(1);
    // a sign to stop lies on the thread, and is carried to those that help
    let sign = present();
    if sign.is_set() {
        numbers.for_each(|i| under(&sign, || work(i)));
    } else {
        numbers.for_each(work);
    }
}

/// The results for each number below `count`, in their order.
pub(crate) fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    each(count, &|i| {
        let result = work(i);
        *results[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    results.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// Gives each of the things to `work`, with its number; the results in their order.
pub(crate) fn consume<T: Send, R: Send>(things: Vec<T>, work: impl Fn(usize, T) -> R + Sync) -> Vec<R> {
    let things: Vec<Mutex<Option<T>>> = things.into_iter().map(|thing| Mutex::new(Some(thing))).collect();
    let result = |i: usize| {
        let thing = things[i].lock().unwrap_or_else(PoisonError::into_inner).take();
        thing.map(|thing| work(i, thing))
    };
    map(things.len(), result).into_iter().flatten().collect()
}

/// Cuts `out` into strips of `size` values, the last one may be shorter, and works on each with its number.
pub(crate) fn strips<T: Send>(out: &mut [T], size: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    let count = out.len().div_ceil(size);
    let open = Mutex::new(out.chunks_mut(size).enumerate());
    each(count, &|_| {
        let next = open.lock().unwrap_or_else(PoisonError::into_inner).next();
        if let Some((i, strip)) = next {
            work(i, strip);
        }
    });
}

/// Works on the strips of `out` beside those of `values`, of `size` and `width` values each; strips without a partner are left out.
pub(crate) fn strips_beside<T: Send, V: Sync>(
    (out, size): (&mut [T], usize),
    (values, width): (&[V], usize),
    work: impl Fn(&mut [T], &[V]) + Sync,
) {
    strips(out, size, |i, strip| {
        let start = (i * width).min(values.len());
        let end = (start + width).min(values.len());
        if start < end {
            work(strip, &values[start..end]);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strip_is_worked_on_once_with_its_own_number() {
        for (len, size) in [(0, 3), (1, 3), (3, 3), (10, 3), (1000, 7)] {
            let mut out = vec![0; len];
            strips(&mut out, size, |i, strip| strip.iter_mut().enumerate().for_each(|(j, x)| *x += i * size + j + 1));
            assert_eq!(out, (1..=len).collect::<Vec<_>>());
        }
    }

    #[test]
    fn everything_is_consumed_once() {
        let mut out = vec![0; 100];
        consume(out.iter_mut().collect(), |i, x: &mut usize| *x += i);
        assert_eq!(out, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn strips_meet_those_beside_them() {
        let values: Vec<usize> = (0..10).collect();
        let mut out = vec![0; 4];
        strips_beside((&mut out, 1), (&values, 3), |sum, row| sum[0] = row.iter().sum());
        assert_eq!(out, [3, 12, 21, 9]);
        // the second strip has no partner
        let mut out = vec![7; 4];
        strips_beside((&mut out, 2), (&values[..3], 3), |strip, row| strip.fill(row.len()));
        assert_eq!(out, [3, 3, 7, 7]);
    }

    #[test]
    fn results_stand_in_the_order_of_their_numbers() {
        assert_eq!(map(1000, |i| i * i), (0..1000).map(|i| i * i).collect::<Vec<_>>());
        assert!(map(0, |i| i).is_empty());
    }
}
