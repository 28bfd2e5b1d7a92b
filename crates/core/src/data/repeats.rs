//! Repeated rows: whether examples that are equal were written several times, or are equal as chance makes them.
//!
//! All theorems ask for examples that were drawn independently, or at least exchangeably; a row that was repeated, say to make a rare class
//! larger, is none. Of examples of few values many are equal by chance, so equality alone tells little. Three things do tell:
//!
//! * Every example stands there a multiple of g times (`copies.rs`).
//! * Let f_k be the number of values that stand there k times. Independent draws give them the means F_k = Σᵢ e^(−λᵢ) λᵢᵏ/k!, whatever the
//!   distribution, so that by Cauchy and Schwarz F_k² ≤ (k + 1)/k · F_(k−1) F_(k+1). Sixty values five times each, and none four or six times,
//!   are no such draws.
//! * Columns are dealt out into three parts, without those that rise or fall with another one. Where each part alone tells different examples
//!   apart, examples that are equal in all three are so by no chance of columns: of those that agree in a part most would differ in another. Not looked at
//!   where hardly any example stands alone: then few whole rows are all that there is to draw from.
//!
//! What none of them tells is taken for chance, and whoever makes a claim says that it rests on that.
//!
//! # Source
//! I. J. Good, The population frequencies of species and the estimation of population parameters, Biometrika 40 (1953), for means of
//! numbers of numbers.

use super::copies::repeated;
use super::{Dataset, Scalar, Values};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// Columns are dealt out into so many parts.
const PARTS: usize = 3;
/// Different examples by which columns are ordered before they are dealt out.
const LOOKED_AT: usize = 512;
/// Repetition is not told of fewer rows than one in so many, and some more.
const SMALL_SHARE: usize = 100;
const SOME: usize = 3;
/// One example in so many stands alone where most that could be drawn have not been.
const ALONE: usize = 20;

/// Examples of one set that are equal, in all that is known of them and in the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeats {
    /// The number of examples.
    pub examples: usize,
    /// The number of those that are equal to another one.
    pub equal: usize,
    /// True if rows were repeated: chance does not explain what is equal.
    pub repeated: bool,
}

impl Repeats {
    /// The condition under which a claim holds on examples of this `kind` ("training "), where some are equal, and chance may have made them so.
    pub fn condition(&self, kind: &str) -> Option<String> {
        let Self { examples, equal, repeated } = self;
        (*equal > 0 && !repeated).then(|| {
            format!(
                "{equal} of the {examples} {kind}examples are equal to another one: each counts as one that was drawn by itself, and nothing \
                 holds where rows were repeated"
            )
        })
    }

    /// A guarantee, in words, of what was computed from these examples.
    pub fn qualified(&self, guarantee: &str) -> String {
        match self.equal {
            _ if self.repeated => "no guarantee: rows were repeated".to_owned(),
            0 => guarantee.to_owned(),
            _ => format!("{guarantee}, if no rows were repeated"),
        }
    }

    /// What such a guarantee rests on where some examples are equal, or why there is none.
    pub fn told(&self) -> Option<String> {
        self.refusal("").or_else(|| self.condition(""))
    }

    /// The reason why no claim holds on examples of this kind, and the remedy.
    pub fn refusal(&self, kind: &str) -> Option<String> {
        let Self { examples, equal, repeated } = self;
        repeated.then(|| {
            format!(
                "rows were repeated, so that examples are not independent: {equal} of the {examples} {kind}examples are equal to another one, \
                 more than chance explains; drop repeated rows, and give weights (--weights, sample_weight) to what should count more"
            )
        })
    }
}

/// Held-out examples that are equal to one another, or to known ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatsBeside {
    /// Those among the held-out examples.
    pub within: Repeats,
    /// The number of held-out examples that are equal to a known one.
    pub equal: usize,
    /// True if they are, since rows were repeated before some of them were held out.
    pub divided: bool,
}

impl From<Repeats> for RepeatsBeside {
    /// Of parts of one set: where rows were repeated, each part has copies of the others.
    fn from(within: Repeats) -> Self {
        Self { within, ..Self::default() }
    }
}

impl RepeatsBeside {
    /// The condition under which a claim that rests on the held-out examples holds, where some are also among those of training; among
    /// themselves they are of this kind.
    pub fn condition(&self, kind: &str) -> Option<String> {
        let among = (self.equal > 0 && !self.divided).then(|| {
            format!(
                "{} of the {} held-out examples also stand among those of training: what rests on them holds only if they were drawn by \
                 themselves, not taken from there",
                self.equal, self.within.examples
            )
        });
        if self.refusal(kind).is_some() { None } else { among.or_else(|| self.within.condition(kind)) }
    }

    /// The reason why no claim rests on them, and the remedy.
    pub fn refusal(&self, kind: &str) -> Option<String> {
        let divided = self.divided.then(|| {
            format!(
                "rows were repeated before the data were divided: {} of the {} held-out examples also stand among those of training, more \
                 than chance explains, so that they tell nothing of new ones; drop repeated rows first, and give weights (--weights, \
                 sample_weight) to what should count more",
                self.equal, self.within.examples
            )
        });
        divided.or_else(|| self.within.refusal(kind))
    }
}

impl Dataset {
    /// The number of examples that are equal, and whether rows were repeated.
    pub fn repeats(&self) -> Repeats {
        judged(&[self])
    }

    /// The same of examples that were held out, and of those that are equal to a known one.
    pub fn repeats_beside(&self, known: &Self) -> RepeatsBeside {
        let seen: HashSet<u64> = known.example_fingerprints().into_iter().collect();
        let equal = self.example_fingerprints().iter().filter(|f| seen.contains(f)).count();
        let divided = more_than_some(equal, self.len()) && judged(&[known, self]).repeated;
        RepeatsBeside { within: self.repeats(), equal, divided }
    }
}

fn more_than_some(rows: usize, of: usize) -> bool {
    rows > of / SMALL_SHARE + SOME
}

/// Judges all examples of some sets together.
fn judged(sets: &[&Dataset]) -> Repeats {
    let rows = sets.iter().enumerate().flat_map(|(s, set)| {
        set.example_fingerprints().into_iter().enumerate().map(move |(i, fingerprint)| (fingerprint, s, i))
    });
    let mut rows: Vec<(u64, usize, usize)> = rows.collect();
    rows.sort_unstable();
    let (mut first, mut times) = (Vec::new(), Vec::new());
    for run in rows.chunk_by(|a, b| a.0 == b.0) {
        first.push((run[0].1, run[0].2));
        times.push(u32::try_from(run.len()).unwrap_or(u32::MAX));
    }
    let (examples, alone) = (rows.len(), times.iter().filter(|t| **t == 1).count());
    let (equal, several) = (examples - alone, times.len() - alone);
    let repeated = more_than_some(examples - times.len(), examples)
        && (repeated(&times) > 1
            || no_draws(&times)
            || (several > SOME && ALONE * alone >= examples && told_apart_by_each_part(sets, &first, several)));
    Repeats { examples, equal, repeated }
}

/// True if the numbers of values that stand there k times are none of independent draws: F_k² > (k + 1)/k · F_(k−1) F_(k+1) beyond doubt.
fn no_draws(times: &[u32]) -> bool {
    let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
    times.iter().for_each(|&t| *counts.entry(t).or_default() += 1.0);
    let of = |k: u32| counts.get(&k).copied().unwrap_or(0.0);
    // roots of numbers that chance makes stray by ½ about those of their means: three deviations for each of three numbers
    let least = |f: f64| (f.sqrt() - 1.5).max(0.0).powi(2);
    let most = |f: f64| ((f + 1.0).sqrt() + 1.5).powi(2);
    counts.iter().any(|(&k, &f)| {
        let (before, after) = (of(k.saturating_sub(1)), of(k.saturating_add(1)));
        k >= 2 && least(f).powi(2) > f64::from(k + 1) / f64::from(k) * most(before) * most(after)
    })
}

/// A column, or another unit of what is known of an example: a view, and the coordinate of dense vectors or the part of sparse ones.
type Unit = (usize, usize);

/// True if three parts of the columns each tell apart the examples at some places, all of them different, so well that fewer
/// agree in a part than values stand there `several` times.
fn told_apart_by_each_part(sets: &[&Dataset], places: &[(usize, usize)], several: usize) -> bool {
    let mut units: Vec<Unit> = Vec::new();
    for (v, view) in sets[0].views().iter().enumerate() {
        let count = match &view.values {
            Values::Dense(_) | Values::Dense32(_) => view.values.width().unwrap_or(0),
            Values::Sparse(_) | Values::Sparse32(_) => PARTS,
            Values::Text(_) | Values::Items(_) => 1,
            // a place in a matrix tells which example it is
            Values::Index(_) => 0,
        };
        units.extend((0..count).map(|c| (v, c)));
    }
    if units.len() < PARTS || sets.iter().any(|set| set.views().len() != sets[0].views().len()) {
        return false;
    }
    // those that tell apart most examples are dealt out first
    let distinct = |words: Vec<u64>| words.into_iter().collect::<HashSet<u64>>().len();
    let some = &places[..places.len().min(LOOKED_AT)];
    let values: Vec<Vec<Vec<u64>>> = sets.iter().map(|set| whole_views(set)).collect();
    let word = |unit: Unit, (s, i): (usize, usize)| word(sets[s], &values[s], unit, i);
    units.sort_by_cached_key(|&unit| std::cmp::Reverse(distinct(some.iter().map(|&at| word(unit, at)).collect())));
    let units = without_functions(sets, units, some);
    if units.len() < PARTS {
        return false;
    }
    (0..PARTS).all(|part| {
        let own: Vec<Unit> = units.iter().skip(part).step_by(PARTS).copied().collect();
        let of = |&at: &(usize, usize)| own.iter().fold(0, |state, &unit| mixed(state, word(unit, at)));
        let agree = places.len() - distinct(places.iter().map(of).collect());
        several > agree
    })
}

/// The units without those that rise or fall with another one before them: x² beside x says nothing more.
fn without_functions(sets: &[&Dataset], units: Vec<Unit>, places: &[(usize, usize)]) -> Vec<Unit> {
    let mut kept: Vec<Unit> = Vec::new();
    // the places in the order of each unit that is kept
    let mut orders: Vec<Vec<usize>> = Vec::new();
    for unit in units {
        let numbers: Option<Vec<f64>> = places.iter().map(|&(s, i)| number(sets[s], unit, i)).collect();
        let Some(numbers) = numbers else {
            kept.push(unit);
            continue;
        };
        let rises = |order: &Vec<usize>| order.windows(2).all(|pair| numbers[pair[0]] <= numbers[pair[1]]);
        let falls = |order: &Vec<usize>| order.windows(2).all(|pair| numbers[pair[0]] >= numbers[pair[1]]);
        if orders.iter().any(|order| rises(order) || falls(order)) {
            continue;
        }
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
        orders.push(order);
        kept.push(unit);
    }
    kept
}

/// The coordinate of an example that a unit is; none where it is none.
fn number(set: &Dataset, (view, c): Unit, i: usize) -> Option<f64> {
    match &set.views()[view].values {
        Values::Dense(rows) => rows.row(i).get(c).copied(),
        Values::Dense32(rows) => rows.row(i).get(c).map(|&v| f64::from(v)),
        _ => None,
    }
}

/// Numbers of the examples of views that have no coordinates.
fn whole_views(set: &Dataset) -> Vec<Vec<u64>> {
    let of = |values: &Values| match values {
        Values::Text(_) | Values::Items(_) => values.fingerprints(),
        _ => Vec::new(),
    };
    set.views().iter().map(|view| of(&view.values)).collect()
}

/// What a unit says of an example.
fn word(set: &Dataset, whole: &[Vec<u64>], (view, c): Unit, i: usize) -> u64 {
    fn cells<S: Scalar>(row: &[super::Coordinate<S>], part: usize) -> u64 {
        let own = row.iter().filter(|cell| mixed(0, u64::from(cell.index)) as usize % PARTS == part);
        own.fold(0, |state, cell| mixed(mixed(state, u64::from(cell.index)), cell.value.wide().to_bits()))
    }
    match &set.views()[view].values {
        Values::Dense(rows) => rows.row(i).get(c).map_or(0, |v| (v + 0.0).to_bits()),
        Values::Dense32(rows) => rows.row(i).get(c).map_or(0, |v| (f64::from(*v) + 0.0).to_bits()),
        Values::Sparse(rows) => cells(rows.row(i), c),
        Values::Sparse32(rows) => cells(rows.row(i), c),
        Values::Text(_) | Values::Index(_) | Values::Items(_) => whole[view].get(i).copied().unwrap_or(0),
    }
}

/// A running number that has taken in a word.
fn mixed(state: u64, word: u64) -> u64 {
    let product = u128::from(state.rotate_left(29) ^ word ^ 0x243F_6A88_85A3_08D3)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Rows, Target};
    use crate::seed::{Random, Seed};

    type Column = fn(&mut Random) -> f64;

    /// Examples of some columns, each drawn by itself, and two classes.
    fn drawn(n: usize, columns: &[Column], random: &mut Random) -> Dataset {
        let values: Vec<f64> = (0..n).flat_map(|_| columns.iter().map(|c| c(random)).collect::<Vec<_>>()).collect();
        let words: Vec<&str> =
            values.chunks(columns.len()).map(|r| if r[0] > 1.0 { "rare" } else { "usual" }).collect();
        let rows = Rows::new(values, n, columns.len()).unwrap();
        Dataset::new(rows).with_target(Target::from_text("y", &words)).unwrap()
    }

    fn fine(random: &mut Random) -> f64 {
        (random.normal() * 1000.0).round() / 1000.0
    }
    fn coarse(random: &mut Random) -> f64 {
        (random.normal() * 2.0).round() / 2.0
    }
    fn coin(random: &mut Random) -> f64 {
        random.below(2) as f64
    }
    fn often_zero(random: &mut Random) -> f64 {
        if random.below(3) > 0 { 0.0 } else { random.normal() }
    }

    /// The examples, and those of the rare class `more` times as often: by so many copies of each, or by draws.
    fn with_more(data: &Dataset, more: usize, at_random: Option<&mut Random>) -> Dataset {
        let classes = data.target().unwrap().classes().unwrap();
        let code = classes.labels.iter().position(|l| l == "rare").unwrap() as u32;
        let rare: Vec<usize> = (0..data.len()).filter(|&i| classes.codes[i] == code).collect();
        let mut keep: Vec<usize> = (0..data.len()).collect();
        match at_random {
            None => (1..more).for_each(|_| keep.extend(&rare)),
            Some(random) => keep.extend((0..(more - 1) * rare.len()).map(|_| rare[random.below(rare.len())])),
        }
        data.select(&keep)
    }

    #[test]
    fn independent_draws_are_never_taken_for_repetition() {
        let mut random = Seed(5).stream("repeats");
        let worlds: [&[Column]; 9] = [
            &[fine],
            &[coarse],
            &[coarse, coarse],
            &[coarse, coarse, coarse],
            &[coin as Column; 8],
            &[coin, coin, fine],
            &[coarse, coin, coarse, coin, coarse],
            &[often_zero as Column; 4],
            &[fine as Column; 4],
        ];
        let mut equal = 0;
        for world in worlds {
            for n in [50, 400, 3000] {
                for _ in 0..6 {
                    let found = drawn(n, world, &mut random).repeats();
                    assert!(!found.repeated, "{} columns, {n}: {found:?}", world.len());
                    equal += usize::from(found.condition("").is_some());
                    let (known, new) = (drawn(n, world, &mut random), drawn(n / 2, world, &mut random));
                    assert_eq!(new.repeats_beside(&known).refusal(""), None);
                }
            }
        }
        assert!(equal > 60, "chance makes examples equal: {equal}");
    }

    #[test]
    fn columns_that_say_the_same_do_not_make_repetition() {
        // one-hot codes of two words, and a number with its square and its double
        let mut random = Seed(6).stream("repeats");
        for n in [100, 1000] {
            let rows: Vec<f64> = (0..n)
                .flat_map(|_| {
                    let (a, b) = (random.below(6), random.below(5));
                    (0..6).map(|c| f64::from(c == a)).chain((0..5).map(|c| f64::from(c == b))).collect::<Vec<_>>()
                })
                .collect();
            assert!(!Dataset::new(Rows::new(rows, n as usize, 11).unwrap()).repeats().repeated);
            let rows: Vec<f64> = (0..n).map(|_| random.below(300) as f64).flat_map(|x| [x, x * x]).collect();
            assert!(!Dataset::new(Rows::new(rows, n as usize, 2).unwrap()).repeats().repeated);
            // powers, other scales, a rounded one and one over it
            let of = |x: f64| [x, x * x, x.powi(3), 1.8 * x + 32.0, (x / 10.0).floor(), 1.0 / x];
            for range in [400, 2000] {
                let rows: Vec<f64> = (0..n).map(|_| 1.0 + random.below(range) as f64).flat_map(of).collect();
                let found = Dataset::new(Rows::new(rows, n as usize, 6).unwrap()).repeats();
                assert!(!found.repeated && (n == 100 || found.equal > 100), "{range}: {found:?}");
            }
        }
    }

    #[test]
    fn a_rare_class_that_was_repeated_is_told() {
        let mut random = Seed(7).stream("repeats");
        for width in [3, 4, 12] {
            let data = drawn(400, &vec![fine as Column; width], &mut random);
            assert!(!data.repeats().repeated);
            for more in [2, 3, 5] {
                let mut draws = Seed(more as u64).stream("draws");
                for all in [with_more(&data, more, None), with_more(&data, more, Some(&mut draws))] {
                    let found = all.repeats();
                    assert!(
                        found.repeated && found.equal > 40 && found.refusal("").is_some(),
                        "{width} {more}: {found:?}"
                    );
                }
            }
        }
        // one column tells nothing apart; so many copies of each are no draws all the same, and neither are pairs without triples
        let line = drawn(200, &[coarse, fine], &mut random);
        assert!(line.select(&(0..200).chain(0..70).collect::<Vec<_>>()).repeats().repeated);
        let line = drawn(400, &[fine], &mut random);
        assert!(with_more(&line, 5, None).repeats().repeated);
        assert!(
            drawn(300, &[fine, fine], &mut random)
                .select(&(0..600).map(|i| i % 300).collect::<Vec<_>>())
                .repeats()
                .repeated
        );
    }

    #[test]
    fn a_few_equal_rows_are_a_condition() {
        let mut random = Seed(8).stream("repeats");
        let data = drawn(1000, &[fine as Column; 4], &mut random);
        let found = data.select(&(0..1000).chain(0..5).collect::<Vec<_>>()).repeats();
        assert_eq!((found.equal, found.repeated), (10, false));
        assert!(found.condition("training ").unwrap().starts_with("10 of the 1005 training examples are equal"));
        assert_eq!((found.refusal(""), data.repeats().condition("")), (None, None));
    }

    #[test]
    fn held_out_examples_are_spoilt_by_rows_repeated_before_not_by_copies_in_training_alone() {
        let mut random = Seed(9).stream("repeats");
        let data = drawn(700, &[fine as Column; 4], &mut random);
        let all = with_more(&data, 5, None);
        let order = random.permutation(all.len());
        let (held_out, rest) = order.split_at(order.len() / 4);
        let beside = all.select(held_out).repeats_beside(&all.select(rest));
        assert!(beside.divided && beside.equal > 50, "{beside:?}");
        assert!(beside.refusal("").unwrap().contains("before the data were divided") && beside.condition("").is_none());
        // what was held out first is as good as ever
        let (first, last) = (data.select(&(0..200).collect::<Vec<_>>()), data.select(&(200..700).collect::<Vec<_>>()));
        let beside = first.repeats_beside(&with_more(&last, 5, None));
        assert_eq!((beside.refusal(""), beside.condition("")), (None, None), "{beside:?}");
    }
}
