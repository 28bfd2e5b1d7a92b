//! Splits of the examples into those that are learned from and those that are held out.

use crate::data::{DataError, Dataset, Target};
use crate::machines::Learns;
use crate::seed::Seed;
use std::collections::BTreeMap;

/// A split: the examples that are learned from, and those that are predicted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Split {
    /// Places of the examples that are learned from.
    pub train: Vec<usize>,
    /// Places of those that are held out.
    pub test: Vec<usize>,
    /// Weights of the examples of `train`, in their order.
    pub weights: Option<Vec<f64>>,
}

impl Split {
    /// Holds a part of the examples out and learns from all others, with their weights.
    pub fn without(part: &[usize], data: &Dataset) -> Self {
        let train = complement(part, data.len());
        let weights = data.weights().map(|w| train.iter().map(|&i| w[i]).collect());
        Self { train, test: part.to_vec(), weights }
    }
}

/// All of n places but those of a part, in rising order.
pub(super) fn complement(part: &[usize], n: usize) -> Vec<usize> {
    let mut inside = vec![false; n];
    part.iter().for_each(|&i| inside[i] = true);
    (0..n).filter(|&i| !inside[i]).collect()
}

/// The property of the examples that a split has regard to.
#[derive(Clone, Copy, Debug)]
pub enum SplitBy<'a> {
    /// Nothing: every set of examples of the size is equally likely.
    Chance,
    /// Kinds of examples, a number for each, which are on both sides in about their proportions; kinds of a single example are on either
    /// side by chance.
    Strata(&'a [u32]),
    /// Groups of examples, a number for each, none of which is torn apart.
    Groups(&'a [u32]),
}

/// Sets `count` of `n` examples aside: whole groups until the number is met as nearly as may be, where there are groups.
///
/// # Errors
/// If nothing would be left on one side.
pub fn set_aside(n: usize, count: usize, by: SplitBy<'_>, seed: Seed) -> Result<Split, DataError> {
    if count == 0 || count >= n {
        let finding = format!("{count} of {n} examples cannot be set aside: at least one must be on either side");
        return Err(DataError::Usage { finding });
    }
    let mut order = seed.stream("set aside").permutation(n);
    let mut test: Vec<usize> = match by {
        SplitBy::Chance => order[..count].to_vec(),
        SplitBy::Strata(kinds) => {
            let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
            kinds.iter().for_each(|&kind| *sizes.entry(kind).or_default() += 1);
            crate::order::by_class(&mut order, kinds);
            // kinds of a single example are dealt out by chance: what is set aside stands for new examples
            let (single, mut more): (Vec<usize>, Vec<usize>) = order.iter().partition(|&&i| sizes[&kinds[i]] == 1);
            let mut random = seed.stream("single examples");
            let start = if single.is_empty() { 0 } else { (random.uniform() * n as f64) as usize };
            more.extend(random.permutation(single.len()).into_iter().map(|k| single[k]));
            order = more;
            // evenly along the examples kind by kind, from a random start: each kind gives its share, rounded up or down
            let step = |k: usize| (k * count + start) / n;
            (0..n).filter(|&k| step(k + 1) > step(k)).map(|k| order[k]).collect()
        }
        SplitBy::Groups(groups) => {
            let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            order.iter().for_each(|&i| members.entry(groups[i]).or_default().push(i));
            let names: Vec<u32> = members.keys().copied().collect();
            let mut aside: Vec<usize> = Vec::new();
            for place in seed.stream("groups").permutation(names.len()) {
                let group = &members[&names[place]];
                // a group that overshoots is taken only if that is nearer
                let (without, with) = (aside.len(), aside.len() + group.len());
                if with < n && with.abs_diff(count) < without.abs_diff(count) {
                    aside.extend(group);
                }
            }
            aside
        }
    };
    if test.is_empty() {
        let finding =
            "no example can be set aside: every group is too large, or every kind has a single example".to_owned();
        return Err(DataError::Unfit { finding });
    }
    test.sort_unstable();
    Ok(Split { train: complement(&test, n), test, weights: None })
}

/// `count` disjoint sets of examples that together are all; classes are spread evenly over them.
pub fn folds(target: &Target, learns: Learns, count: usize, seed: Seed) -> Result<Vec<Vec<usize>>, DataError> {
    let n = target.len();
    if n < 2 {
        let finding = format!("folds need two examples at least, and there are {n}; give more of them");
        return Err(DataError::Unfit { finding });
    }
    if count < 2 || count > n {
        return Err(DataError::Usage {
            finding: format!("{count} folds of {n} examples: give a number from 2 to {n}"),
        });
    }
    let mut order = seed.stream("folds").permutation(n);
    if learns == Learns::Classes {
        let classes = target.classes()?;
        let mut sizes = vec![0; classes.labels.len()];
        classes.codes.iter().for_each(|&c| sizes[c as usize] += 1);
        if let Some(small) = (0..sizes.len()).find(|&c| sizes[c] < 2) {
            let finding =
                format!("class \"{}\" has a single example: cross-validation needs two or more", classes.labels[small]);
            return Err(DataError::Unfit { finding });
        }
        // dealing out class after class keeps every class spread over the folds
        crate::order::by_class(&mut order, &classes.codes);
    }
    Ok(dealt(order, count))
}

/// Disjoint sets of examples, `count` of them at most, over which classes are spread evenly; an example that is alone in its class
/// is in none, for what is learned without it would not know the class.
pub fn folds_of_shared_classes(target: &Target, count: usize, seed: Seed) -> Result<Vec<Vec<usize>>, DataError> {
    let classes = target.classes()?;
    let mut sizes = vec![0; classes.labels.len()];
    classes.codes.iter().for_each(|&c| sizes[c as usize] += 1);
    let mut order = seed.stream("folds").permutation(target.len());
    order.retain(|&i| sizes[classes.codes[i] as usize] > 1);
    crate::order::by_class(&mut order, &classes.codes);
    let count = count.min(order.len());
    Ok(dealt(order, count))
}

/// Places dealt out one by one.
fn dealt(order: Vec<usize>, count: usize) -> Vec<Vec<usize>> {
    let mut folds = vec![Vec::with_capacity(order.len() / count.max(1) + 1); count];
    for (place, i) in order.into_iter().enumerate() {
        folds[place % count].push(i);
    }
    folds.iter_mut().for_each(|fold| fold.sort_unstable());
    folds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_disjoint_complete_and_stratified() {
        let labels: Vec<String> = (0..103).map(|i| if i % 4 == 0 { "a" } else { "b" }.to_owned()).collect();
        let target = Target::from(labels.clone());
        let folds = folds(&target, Learns::Classes, 5, Seed(3)).unwrap();
        let mut all: Vec<usize> = folds.concat();
        all.sort_unstable();
        assert_eq!(all, (0..103).collect::<Vec<_>>());
        for fold in &folds {
            let a = fold.iter().filter(|&&i| labels[i] == "a").count();
            assert!((5..=6).contains(&a) && (20..=21).contains(&fold.len()));
        }
    }

    #[test]
    fn what_is_alone_in_its_class_is_never_held_out() {
        let labels = ["a", "b", "a", "c", "a", "c", "a"].map(str::to_owned).to_vec();
        let target = Target::from(labels);
        assert!(folds(&target, Learns::Classes, 2, Seed(0)).is_err());
        let shared = folds_of_shared_classes(&target, 3, Seed(0)).unwrap();
        let mut all: Vec<usize> = shared.concat();
        all.sort_unstable();
        assert_eq!((shared.len(), all), (3, vec![0, 2, 3, 4, 5, 6]));
        let alone = Target::from(["a", "b"].map(str::to_owned).to_vec());
        assert!(folds_of_shared_classes(&alone, 3, Seed(0)).unwrap().is_empty());
        // nothing else changes
        let whole = Target::from((0..40).map(|i| format!("{}", i % 3)).collect::<Vec<_>>());
        let same = folds(&whole, Learns::Classes, 4, Seed(7)).unwrap();
        assert_eq!(folds_of_shared_classes(&whole, 4, Seed(7)).unwrap(), same);
    }

    #[test]
    fn a_part_is_held_out_of_all_others_with_their_weights() {
        let data = Dataset::new(crate::data::Rows::new(vec![0.0; 5], 5, 1).unwrap());
        let data = data.with_weights(vec![1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let split = Split::without(&[3, 0], &data);
        assert_eq!((split.train, split.test), (vec![1, 2, 4], vec![3, 0]));
        assert_eq!(split.weights, Some(vec![2.0, 3.0, 5.0]));
    }

    #[test]
    fn what_is_set_aside_has_the_size_and_every_kind_in_its_proportion() {
        let kinds: Vec<u32> = (0..200).map(|i| if i == 7 { 2 } else { u32::from(i % 10 == 0) }).collect();
        let mut alone = 0;
        for seed in 0..20 {
            let split = set_aside(200, 50, SplitBy::Strata(&kinds), Seed(seed)).unwrap();
            let of = |kind: u32| split.test.iter().filter(|&&i| kinds[i] == kind).count();
            assert!(split.test.len() == 50 && (4..=6).contains(&of(1)), "{}", of(1));
            alone += of(2);
            assert!(split.test.is_sorted() && split.train.len() == 150);
            let plain = set_aside(200, 50, SplitBy::Chance, Seed(seed)).unwrap();
            assert!(plain.test.len() == 50 && plain.test.iter().all(|i| plain.train.binary_search(i).is_err()));
        }
        assert!(alone < 20, "a kind of a single example is on either side");
        // of forty such kinds, a quarter is set aside, and another one each time
        let kinds: Vec<u32> = (0..200).map(|i| if i < 40 { i + 2 } else { i % 2 }).collect();
        let mut chosen = [0; 40];
        for seed in 0..400 {
            let split = set_aside(200, 50, SplitBy::Strata(&kinds), Seed(seed)).unwrap();
            let single: Vec<usize> = split.test.into_iter().filter(|&i| i < 40).collect();
            assert!((9..=11).contains(&single.len()), "{}", single.len());
            single.into_iter().for_each(|i| chosen[i] += 1);
        }
        // 100 expected of each, with a standard deviation of 8.7
        assert!(chosen.iter().all(|n| (60..=140).contains(n)), "{chosen:?}");
        let once = |seed| set_aside(200, 50, SplitBy::Chance, Seed(seed)).unwrap();
        assert!(once(1) == once(1) && once(1) != once(2));
    }

    #[test]
    fn groups_are_not_torn_apart() {
        let groups: Vec<u32> = (0..120).map(|i| i / 7).collect();
        for seed in 0..20 {
            let split = set_aside(120, 30, SplitBy::Groups(&groups), Seed(seed)).unwrap();
            assert!((26..=34).contains(&split.test.len()), "{}", split.test.len());
            assert!(split.test.iter().all(|&i| split.train.iter().all(|&j| groups[i] != groups[j])));
        }
        assert!(set_aside(4, 2, SplitBy::Groups(&[5; 4]), Seed(0)).unwrap_err().to_string().contains("every group"));
        assert!(set_aside(4, 4, SplitBy::Chance, Seed(0)).unwrap_err().to_string().contains("either side"));
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let target = Target::from(vec![1.0, 2.0, 3.0]);
        assert!(folds(&target, Learns::Numbers, 4, Seed(0)).is_err());
        assert!(folds(&target, Learns::Numbers, 1, Seed(0)).is_err());
        assert!(folds(&target, Learns::Classes, 2, Seed(0)).is_err());
    }
}
