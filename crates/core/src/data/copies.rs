//! Copies: how many examples of one set were taken from another, beyond those that are equal by chance.
//!
//! Examples of few values are equal by chance, so equality alone tells little. Let a value stand a times among n known examples and b
//! times among m others, t = a + b and f = m/n. If both sets are drawn from one distribution, then given t each of the t examples is
//! one of the others with probability f/(1 + f), whatever the distribution is, and
//!
//! e = ab − ½ (f a(a − 1) + b(b − 1)/f)
//!
//! has mean 0 and variance t(t − 1)/2: pairs across the sets against pairs within them. A copy adds a pair across to what chance makes.
//! Weights 1/(t − 1) let no frequent value decide alone; with them Σ e over Σ b is the share of copies among the others: exactly where no
//! value repeats itself, exactly 1 where the others are the known ones in another order, and 0 on average where both are drawn anew.
//!
//! Where every known example stands there a multiple of g times, and chance would hardly make all numbers such, the rows were repeated as a whole,
//! and each g are taken for one.
//!
//! Where one set has repeated itself by other means than chance (examples of a rare class written several times), pairs within the two
//! tell different stories, and the smaller count is what chance is taken for.
//!
//! Not told are copies among examples of so few values that every one stands there many times: then errors on training examples and
//! on new ones hardly differ. Nor are those of a set whose rows were repeated before it was divided, which looks just like
//! examples of few values.

use std::collections::HashMap;

/// Standard deviations beyond which chance does not explain pairs across two sets: once in thirty thousand.
const MANY_DEVIATIONS: f64 = 4.0;
/// The greatest probability of an accident that is not taken for one, where nothing repeats itself within the sets.
const ACCIDENT: f64 = 0.07;
/// The same for two sets that are equal but for their order, where values repeat themselves.
const SAME_BY_ACCIDENT: f64 = 1e-3;

/// The natural logarithm of the odds against numbers that all have a common divisor, beyond which it is no accident.
const NO_ACCIDENT: f64 = 14.0;

/// Values of examples and how often each of them occurs, or a sample of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    /// Numbers of distinct examples, rising.
    pub(crate) numbers: &'a [u64],
    /// How often each occurs; once where there are fewer of these.
    pub(crate) times: &'a [u32],
    /// The number of all examples.
    pub(crate) examples: usize,
    /// True if there are no other values; if not, there are none up to the largest.
    pub(crate) whole: bool,
}

/// A comparison of known examples with others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Copies {
    /// The share of the others that are copies; 0 where chance explains what is equal.
    pub(crate) share: f64,
    /// The share of the known ones that were copied.
    pub(crate) share_of_known: f64,
    /// The share of the others that are equal to a known example, copies or not.
    pub(crate) equal: f64,
    /// Standard deviations that pairs across the sets lie above what chance makes.
    pub(crate) deviations: f64,
    /// True if the others are the known ones in some order, and that is no accident.
    pub(crate) same: bool,
}

/// Sums over values.
#[derive(Default)]
struct Sums {
    /// Weighted pairs across the sets, and within each, in units of those across.
    across: f64,
    within: [f64; 2],
    /// Variances of the excess over both and over one of the counts within, and of their difference.
    both: f64,
    one: [f64; 2],
    differ: f64,
    /// Weighted examples of each set.
    weighted: [f64; 2],
}

impl Sums {
    fn add(&mut self, a: f64, b: f64, f: f64) {
        let t = a + b;
        if t < 1.0 {
            return;
        }
        let w = 1.0 / (t - 1.0).max(1.0);
        self.weighted[0] += w * a;
        self.weighted[1] += w * b;
        let pairs = w * w * t * (t - 1.0) / 2.0;
        // how far counts of frequent values stray from their share
        let (all, stray) = ((1.0 + f).powi(2), w * w * t * (t - 1.0).powi(2) * f / (1.0 + f).powi(2));
        self.across += w * a * b;
        self.within[0] += w * f * a * (a - 1.0);
        self.within[1] += w * b * (b - 1.0) / f;
        self.both += pairs;
        self.one[0] += pairs * (2.0 * f + 4.0 * f * f) / all + stray;
        self.one[1] += pairs * (2.0 * f + 4.0) / all + stray;
        self.differ += pairs * 4.0 * (1.0 + f * f) / all + 4.0 * stray;
    }
}

/// Compares known examples with the numbers of others.
pub(crate) fn copies(known: Known<'_>, others: &[u64]) -> Copies {
    let whole_rows = repeated(known.times);
    let (n, m) = ((known.examples / whole_rows as usize).max(1) as f64, others.len().max(1) as f64);
    let f = m / n;
    let last = if known.whole { u64::MAX } else { known.numbers.last().copied().unwrap_or(0) };
    let mut counts: HashMap<u64, usize> = HashMap::new();
    others.iter().filter(|number| **number <= last).for_each(|&number| *counts.entry(number).or_default() += 1);
    let times = |k: usize| known.times.get(k).copied().unwrap_or(1).max(1);
    let (mut sums, mut found, mut looked_at, mut same) = (Sums::default(), 0, 0, known.examples == others.len());
    for (k, number) in known.numbers.iter().enumerate() {
        let b = counts.remove(number).unwrap_or(0);
        same &= b == times(k) as usize;
        (found, looked_at) = (found + b, looked_at + b);
        sums.add(f64::from(times(k) / whole_rows), b as f64, f);
    }
    for &b in counts.values() {
        looked_at += b;
        sums.add(0.0, b as f64, f);
    }
    same &= counts.is_empty() && !known.numbers.is_empty();
    let Sums { across, within, both, one, differ, weighted } = sums;
    let smaller = usize::from(within[1] < within[0]);
    let (chance, variance) = if (within[0] - within[1]).abs() > MANY_DEVIATIONS * differ.sqrt() {
        (within[smaller], one[smaller])
    } else {
        (f64::midpoint(within[0], within[1]), both)
    };
    let excess = across - chance;
    let deviations = if variance > 0.0 { excess / variance.sqrt() } else { 0.0 };
    let same = same && (known.times.iter().all(|&t| t <= 1) || same_by_accident(known) < SAME_BY_ACCIDENT);
    let none_within = within == [0.0, 0.0] && across > 0.0;
    let accident = (2.0 * f / (1.0 + f).powi(2)).powf(across);
    let copied = same
        || deviations >= MANY_DEVIATIONS
        || across > 4.0 * within[0].max(within[1]) + 3.0
        || (none_within && accident <= ACCIDENT);
    let share = |of: f64| if copied && of > 0.0 { (excess / of).clamp(0.0, 1.0) } else { 0.0 };
    Copies {
        share: if same { 1.0 } else { share(weighted[1]) },
        share_of_known: if same { 1.0 } else { share(weighted[0]) },
        equal: if looked_at > 0 { f64::from(u32::try_from(found).unwrap_or(u32::MAX)) / looked_at as f64 } else { 0.0 },
        deviations,
        same,
    }
}

/// How often a table was repeated as a whole: the largest common divisor of the numbers of its values, of which one in g is a multiple of g
/// by chance; 1 where that is no wonder.
pub(super) fn repeated(times: &[u32]) -> u32 {
    let divisor = times.iter().fold(0, |g, &t| greatest_common_divisor(g, t.max(1)));
    if divisor > 1 && times.len() as f64 * f64::from(divisor).ln() > NO_ACCIDENT { divisor } else { 1 }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The probability that examples drawn with the shares of the known ones come out with exactly their numbers: that of the multinomial
/// distribution, n! Π (aᵢ/n)^aᵢ / aᵢ!; for a sample of values that of its part.
fn same_by_accident(known: Known<'_>) -> f64 {
    let n: f64 = known.times.iter().map(|&t| f64::from(t)).sum();
    let terms = known.times.iter().map(|&t| {
        let a = f64::from(t);
        a * (a / n).ln() - ln_factorial(a)
    });
    (ln_factorial(n) + terms.sum::<f64>()).exp()
}

/// ln n!, to 10⁻⁵ and better.
fn ln_factorial(n: f64) -> f64 {
    if n < 10.0 {
        return (1..=n as u32).map(|k| f64::from(k).ln()).sum();
    }
    // Stirling's series
    (n + 0.5) * n.ln() - n + 0.5 * std::f64::consts::TAU.ln() + 1.0 / (12.0 * n)
}

/// Distinct numbers, rising, with how often each occurs.
pub(crate) fn counted(mut numbers: Vec<u64>) -> (Vec<u64>, Vec<u32>) {
    numbers.sort_unstable();
    let (mut distinct, mut times): (Vec<u64>, Vec<u32>) = (Vec::new(), Vec::new());
    for number in numbers {
        if distinct.last() == Some(&number) {
            if let Some(count) = times.last_mut() {
                *count = count.saturating_add(1);
            }
        } else {
            distinct.push(number);
            times.push(1);
        }
    }
    (distinct, times)
}

/// The `count` smallest distinct numbers, rising, with how often each occurs: as [`counted`] begins, but without sorting all.
pub(crate) fn smallest_counted(mut numbers: Vec<u64>, count: usize) -> (Vec<u64>, Vec<u32>) {
    // one number more than is wanted shows that every copy of the last one lies before it
    let mut room = 2 * count + 1;
    while room < numbers.len() {
        let (before, ..) = numbers.select_nth_unstable(room);
        let (mut distinct, mut times) = counted(before.to_vec());
        if distinct.len() > count {
            distinct.truncate(count);
            times.truncate(count);
            return (distinct, times);
        }
        room *= 4;
    }
    let (mut distinct, mut times) = counted(numbers);
    distinct.truncate(count);
    times.truncate(count);
    (distinct, times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn the_smallest_numbers_are_those_of_a_whole_sort() {
        let mut random = Seed(3).stream("smallest");
        for (n, values) in [(0, 1), (1, 1), (40, 5), (500, 20), (5000, 30), (5000, 100_000)] {
            let numbers: Vec<u64> = (0..n).map(|_| random.below(values) as u64).collect();
            for count in [1, 7, 64] {
                let (mut distinct, mut times) = counted(numbers.clone());
                distinct.truncate(count);
                times.truncate(count);
                assert_eq!(smallest_counted(numbers.clone(), count), (distinct, times), "{n} {values} {count}");
            }
        }
    }

    /// Draws from a distribution over values of falling probability; the numbers of values look like fingerprints.
    struct World {
        random: crate::seed::Random,
        values: f64,
        skew: f64,
    }

    impl World {
        fn draw(&mut self, count: usize) -> Vec<u64> {
            let one = |u: f64| ((u.powf(self.skew) * self.values) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (0..count).map(|_| one((self.random.bits() >> 11) as f64 / (1_u64 << 53) as f64)).collect()
        }
    }

    /// By all values, and by a sample of 600 of them.
    fn both(known: &[u64], others: &[u64]) -> [Copies; 2] {
        let (numbers, times) = counted(known.to_vec());
        let some = numbers.len().min(600);
        let of = |kept: usize| {
            let whole = kept == numbers.len();
            copies(Known { numbers: &numbers[..kept], times: &times[..kept], examples: known.len(), whole }, others)
        };
        [of(numbers.len()), of(some)]
    }

    /// Worlds from few values to as many as anybody wants, evenly and unevenly spread.
    fn worlds() -> impl Iterator<Item = World> {
        let of = |values: f64, skew: f64| World { random: Seed(values as u64).stream("copies"), values, skew };
        [3.0, 10.0, 60.0, 500.0, 5e3, 1e5, 1e12].into_iter().flat_map(move |v| [of(v, 1.0), of(v, 3.0)])
    }

    #[test]
    fn fresh_draws_are_no_copies_however_few_values_there_are() {
        let (mut told, mut all) = (0, 0);
        for mut world in worlds() {
            for (n, m) in [(400, 400), (1000, 150), (150, 1000), (40, 20)] {
                for _ in 0..10 {
                    let (known, others) = (world.draw(n), world.draw(m));
                    for found in both(&known, &others) {
                        all += 1;
                        told += usize::from(found.share > 0.0);
                        assert!(found.deviations < 5.0 && !found.same, "{} {n} {m}: {found:?}", world.values);
                        // what little is told by accident is little
                        assert!(found.share <= 0.3, "{} {n} {m}: {found:?}", world.values);
                    }
                }
            }
        }
        assert!(told * 100 <= all, "{told} of {all}");
    }

    #[test]
    fn the_known_examples_in_another_order_are_all_copies() {
        for mut world in worlds().filter(|world| world.values >= 10.0) {
            let known = world.draw(1000);
            let mut turned = known.clone();
            turned.reverse();
            for found in both(&known, &turned) {
                assert!(found.share > 0.99 && found.share_of_known > 0.99, "{}: {found:?}", world.values);
            }
        }
    }

    #[test]
    fn a_share_of_copies_is_estimated() {
        for mut world in worlds().filter(|world| world.values >= 5e3) {
            let known = world.draw(2000);
            for copied in [200, 450, 900] {
                let mut others = known[..copied].to_vec();
                others.extend(world.draw(1000 - copied));
                for (found, within) in both(&known, &others).into_iter().zip([0.08, 0.25]) {
                    let truth = copied as f64 / 1000.0;
                    let clear = copied > 200 || world.values > 1e5;
                    assert!(!clear || (found.share - truth).abs() < within, "{} {copied}: {found:?}", world.values);
                }
            }
        }
    }

    #[test]
    fn repeated_training_examples_are_neither_chance_nor_hide_copies() {
        let mut world = World { random: Seed(4).stream("repeated"), values: 1e12, skew: 1.0 };
        let originals = world.draw(500);
        // a fifth of them five times, then all of them twice
        let rare: Vec<u64> = originals.iter().chain(originals[..100].iter().cycle().take(400)).copied().collect();
        let twice: Vec<u64> = originals.iter().chain(&originals).copied().collect();
        for known in [&rare, &twice] {
            for found in both(known, &originals) {
                assert!(found.share > 0.85, "{found:?}");
            }
            for found in both(known, &world.draw(500)) {
                assert_eq!((found.share, found.equal), (0.0, 0.0));
            }
            let mut half = originals[..250].to_vec();
            half.extend(world.draw(250));
            for found in both(known, &half) {
                assert!((0.2..=0.75).contains(&found.share), "{found:?}");
            }
        }
    }

    #[test]
    fn a_part_of_rows_that_all_stand_several_times_is_recognised() {
        let mut world = World { random: Seed(6).stream("whole"), values: 1e12, skew: 1.0 };
        let originals = world.draw(100);
        let thrice: Vec<u64> = originals.iter().cycle().take(300).copied().collect();
        for found in both(&thrice, &originals[..50]) {
            assert!(found.share > 0.99 && found.deviations > 5.0, "{found:?}");
        }
        for found in both(&thrice, &world.draw(50)) {
            assert_eq!(found.share, 0.0);
        }
        assert_eq!((repeated(&[3; 13]), repeated(&[3; 12]), repeated(&[2, 4, 3]), repeated(&[])), (3, 1, 1, 1));
    }

    #[test]
    fn few_examples_are_recognised_too() {
        let mut world = World { random: Seed(5).stream("few"), values: 1e12, skew: 1.0 };
        let known = world.draw(500);
        for count in [1, 2, 3, 40] {
            assert_eq!(both(&known, &known[..count])[0].share, 1.0);
        }
        assert_eq!(both(&known[..4], &[known[2], known[0], known[3], known[1]])[0].share, 1.0);
        assert_eq!(copies(Known { numbers: &[], times: &[], examples: 0, whole: true }, &known).share, 0.0);
    }

    #[test]
    fn factorials_are_those_of_the_definition() {
        for (n, factorial) in [(0.0, 1.0_f64), (1.0, 1.0), (5.0, 120.0), (9.0, 362_880.0), (12.0, 479_001_600.0)] {
            assert!((ln_factorial(n) - factorial.ln()).abs() < 1e-5, "{n}");
        }
    }
}
