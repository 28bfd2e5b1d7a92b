//! Reductions against their definitions, and a small binary machine run through them.

use super::*;
use crate::gram::{BlockMut, Dense, Pick};
use crate::machines::Output;
use crate::seed::Seed;
use crate::watch::Status;

fn classes(codes: &[u32], k: usize) -> Classes {
    Classes { labels: (0..k).map(|c| format!("c{c}")).collect(), codes: codes.to_vec() }
}

/// K = XXᵀ of random rows.
fn matrix(n: usize) -> Arc<dyn Gram> {
    let mut random = Seed(5).stream("several classes");
    let x: Vec<f64> = (0..3 * n).map(|_| random.normal()).collect();
    let dot = |i: usize, j: usize| (0..3).map(|d| x[3 * i + d] * x[3 * j + d]).sum();
    Arc::new(Dense::<f64>::new((0..n * n).map(|p| dot(p / n, p % n)).collect(), n, n).unwrap())
}

fn value(gram: &dyn Gram, i: usize, j: usize) -> f64 {
    let mut k = [0.0];
    gram.block(Pick::Range(i..i + 1), Pick::Range(j..j + 1), BlockMut::new(&mut k, 1, 1));
    k[0]
}

/// f(x) = mean of κ over the positive examples − mean over the negative ones + the share of the positive ones.
fn difference_of_means(problem: &SignedProblem, gram: &Arc<dyn Gram>) -> BinarySolution {
    let size = |sign: f64| problem.signs.iter().filter(|y| **y == sign).count() as f64;
    let coefficients: Vec<f64> = problem.signs.iter().map(|&y| y / size(y)).collect();
    let gram = problem.gram(gram);
    let offset = size(1.0) / problem.examples.len() as f64;
    let score = |i: usize| coefficients.iter().enumerate().map(|(j, a)| a * value(&*gram, i, j)).sum::<f64>() + offset;
    BinarySolution {
        scores: Some((0..problem.examples.len()).map(score).collect()),
        coefficients,
        offset,
        evidence: Evidence { objective: Some(offset), ..Evidence::new(Status::Converged, problem.examples.len()) },
        notes: vec![ProblemNote::largest(("positive".to_owned(), size(1.0)))],
    }
}

/// The same function of an example by its definition: the means over two lists of examples.
fn brute_force(gram: &dyn Gram, x: usize, positive: &[usize], negative: &[usize]) -> f64 {
    let mean = |of: &[usize]| of.iter().map(|&i| value(gram, x, i)).sum::<f64>() / of.len() as f64;
    mean(positive) - mean(negative) + positive.len() as f64 / (positive.len() + negative.len()) as f64
}

fn near(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} {b}"));
}

const CODES: [u32; 9] = [2, 0, 1, 0, 2, 3, 1, 0, 3];

#[test]
fn pairs_come_in_order_and_a_positive_sign_is_the_first_class() {
    assert_eq!(pairs(4).collect::<Vec<_>>(), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
    assert_eq!((pairs(2).count(), pairs(1).count()), (1, 0));
    let three = classes(&[2, 0, 1, 0, 2], 3);
    let ovo = OneVsOne::new(&three);
    let wanted: [(&[usize], &[f64]); 3] =
        [(&[1, 3, 2], &[1.0, 1.0, -1.0]), (&[1, 3, 0, 4], &[1.0, 1.0, -1.0, -1.0]), (&[2, 0, 4], &[1.0, -1.0, -1.0])];
    assert_eq!(ovo.problems(), 3);
    for (p, (examples, signs)) in wanted.into_iter().enumerate() {
        let problem = ovo.problem(p);
        assert_eq!((problem.first, problem.outputs), (p, 1));
        assert_eq!((problem.examples.as_slice(), problem.signs.as_slice()), (examples, signs));
    }
    // two classes stay in the order of the examples
    let two = classes(&[1, 0, 0, 1], 2);
    assert_eq!(OneVsOne::new(&two).problem(0), OneVsRest::new(&two).problem(0));
    assert_eq!(OneVsOne::new(&two).problem(0).signs, [-1.0, 1.0, 1.0, -1.0]);
}

#[test]
fn one_against_the_rest_has_all_examples_in_every_problem() {
    let all = classes(&CODES, 4);
    let rest = OneVsRest::new(&all);
    assert_eq!(rest.problems(), 4);
    for c in 0..4 {
        let problem = rest.problem(c);
        assert!(problem.examples.iter().copied().eq(0..CODES.len()));
        for (y, &code) in problem.signs.iter().zip(&CODES) {
            assert_eq!(*y, if code as usize == c { 1.0 } else { -1.0 });
        }
    }
    assert_eq!(OneVsRest::new(&classes(&[0, 1, 1], 2)).problems(), 1);
}

#[test]
fn problems_on_the_same_examples_are_one_block() {
    let all = classes(&CODES, 4);
    let (rest, ovo) = (OneVsRest::new(&all), OneVsOne::new(&all));
    let [block] = rest.blocks().try_into().unwrap();
    assert_eq!(block, rest.whole());
    assert_eq!((block.first, block.outputs, block.signs.len()), (0, 4, 4 * CODES.len()));
    for c in 0..4 {
        assert_eq!(block.signs_of(c), rest.problem(c).signs);
    }
    // row by row: the first example is of class 2
    assert_eq!(block.signs[..4], [-1.0, -1.0, 1.0, -1.0]);
    let blocks = ovo.blocks();
    assert_eq!(blocks.len(), 6);
    blocks.iter().enumerate().for_each(|(p, block)| assert_eq!(*block, ovo.problem(p)));
}

#[test]
fn a_problem_among_some_examples_keeps_their_order_and_its_signs() {
    let all = classes(&CODES, 4);
    let block = OneVsRest::new(&all).whole().among(&[7, 0, 5]);
    assert_eq!((block.examples.as_slice(), block.outputs), ([7, 0, 5].as_slice(), 4));
    assert_eq!(block.signs_of(0), [1.0, -1.0, -1.0]);
    assert_eq!(block.signs_of(2), [-1.0, 1.0, -1.0]);
    // classes 0 and 2, class by class, without example 3 and in the order of the examples
    let pair = OneVsOne::new(&all).problem(1);
    assert_eq!(pair.examples, [1, 3, 7, 0, 4]);
    let some = pair.among(&[0, 1, 2, 4, 5, 6, 7, 8]);
    assert_eq!((some.examples, some.signs), (vec![0, 1, 4, 7], vec![-1.0, 1.0, -1.0, 1.0]));
    assert_eq!(pair.pick(&CODES), [0, 0, 0, 2, 2]);
}

#[test]
fn columns_of_all_problems_lie_in_one_matrix() {
    let (all, gram) = (classes(&CODES, 4), matrix(CODES.len()));
    let task = Task::new(Arc::clone(&gram));
    for strategy in [Strategy::OneVsOne, Strategy::OneVsRest] {
        let reduction = strategy.reduction(&all);
        let rows = reduction.rows(&task, 1 << 20);
        for p in 0..reduction.problems() {
            let places: Vec<usize> = reduction.ranges(p).into_iter().flatten().collect();
            let examples = reduction.examples(p);
            assert_eq!(places.len(), examples.len());
            for (&r, &i) in places.iter().zip(&examples) {
                for (&c, &j) in places.iter().zip(&examples) {
                    assert_eq!(value(&*rows, r, c), value(&*gram, i, j), "{strategy:?}, problem {p}");
                }
            }
        }
    }
}

#[test]
fn a_binary_machine_runs_through_one_against_one() {
    let (all, gram) = (classes(&CODES, 4), matrix(CODES.len()));
    let ovo = OneVsOne::new(&all);
    let solved = side_by_side(&ovo, |problem| Ok(difference_of_means(problem, &gram))).unwrap();
    let fitted = gather(&ovo, &solved, Keep::NonZero);
    let members = |c: usize| (0..CODES.len()).filter(|&i| CODES[i] as usize == c).collect::<Vec<_>>();
    let points = fitted.expansion.points();
    assert!(points.iter().map(|&i| CODES[i]).is_sorted(), "points stand class by class");
    let every: Vec<usize> = (0..CODES.len()).collect();
    let scores = fitted.expansion.scores(Arc::clone(&gram).restrict(&every, points).as_ref());
    let mut wanted = Vec::new();
    for x in 0..CODES.len() {
        for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            wanted.push(brute_force(&*gram, x, &members(a), &members(b)));
        }
    }
    near(&scores, &wanted);
    // most votes, and the first of those that have as many
    let Output::Labels { codes, .. } = fitted.read(scores.clone()) else { panic!() };
    for (row, &code) in scores.chunks_exact(6).zip(&codes) {
        let mut votes = [0; 4];
        pairs(4).zip(row).for_each(|((a, b), f)| votes[if *f > 0.0 { a } else { b }] += 1);
        assert_eq!(votes.iter().position(|v| v == votes.iter().max().unwrap()), Some(code as usize));
    }
    // no pair has all examples
    assert!(fitted.training_scores.is_none());
    // each class is in three pairs
    assert_eq!((fitted.report.iterations, fitted.report.support), (3 * CODES.len(), Some(CODES.len())));
    let shares: f64 =
        pairs(4).map(|(a, b)| members(a).len() as f64 / (members(a).len() + members(b).len()) as f64).sum();
    assert!((fitted.report.objective.unwrap() - shares).abs() < 1e-12);
    assert_eq!(fitted.report.notes, [("positive".to_owned(), 3.0)]);
}

#[test]
fn a_binary_machine_runs_through_one_against_the_rest() {
    for k in [2, 4] {
        let codes: Vec<u32> = CODES.iter().map(|c| c % k as u32).collect();
        let (all, gram) = (classes(&codes, k), matrix(codes.len()));
        let rest = OneVsRest::new(&all);
        let solved = in_turn(&rest, |problem| Ok(difference_of_means(problem, &gram))).unwrap();
        let fitted = gather(&rest, &solved, Keep::NonZero);
        let scores = fitted.expansion.scores(gram.as_ref());
        let side =
            |c: usize, own: bool| (0..codes.len()).filter(|&i| (codes[i] as usize == c) == own).collect::<Vec<_>>();
        let outputs = if k == 2 { 1 } else { k };
        let mut wanted = Vec::new();
        for x in 0..codes.len() {
            (0..outputs).for_each(|c| wanted.push(brute_force(&*gram, x, &side(c, true), &side(c, false))));
        }
        near(&scores, &wanted);
        near(fitted.training_scores.as_ref().unwrap(), &wanted);
        let Output::Labels { codes: told, .. } = fitted.read(scores.clone()) else { panic!() };
        for (row, &code) in scores.chunks_exact(outputs).zip(&told) {
            let first = match row {
                [f] => usize::from(*f <= 0.0),
                several => (0..k).rev().max_by(|&a, &b| several[a].total_cmp(&several[b])).unwrap(),
            };
            assert_eq!(first, code as usize);
        }
    }
}

#[test]
fn a_tie_of_votes_goes_to_the_first_class() {
    let all = classes(&[0, 1, 2, 3], 4);
    let readout = OneVsOne::new(&all).readout();
    let told = |scores: [f64; 6]| {
        let Output::Labels { codes, .. } = readout.read(scores.to_vec()) else { panic!() };
        codes[0]
    };
    // (0,1) (0,2) (0,3) (1,2) (1,3) (2,3): 1, 2 and 3 have two votes each, 0 none
    assert_eq!(told([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0]), 1);
    // 2 and 3 have two votes each, 0 and 1 one
    assert_eq!(told([1.0, -1.0, -1.0, 1.0, -1.0, 1.0]), 2);
    // a score of zero is a vote for the second
    assert_eq!(told([0.0; 6]), 3);
    let labels = all.labels.clone();
    assert_eq!(OneVsRest::new(&all).readout(), Readout::ArgMax { labels });
    let two = classes(&[0, 1], 2);
    assert_eq!(OneVsRest::new(&two).readout(), Readout::Vote { labels: two.labels.clone() });
}

#[test]
fn coefficients_are_found_again_by_a_start_and_zeros_are_left_out() {
    let all = classes(&CODES, 4);
    for strategy in [Strategy::OneVsOne, Strategy::OneVsRest] {
        let reduction = strategy.reduction(&all);
        let values: Vec<Vec<f64>> = (0..reduction.problems())
            .map(|p| {
                let number = |i: usize| if i == 4 { 0.0 } else { (10 * p + i) as f64 + 0.5 };
                reduction.examples(p).into_iter().map(number).collect()
            })
            .collect();
        let found = Column::of_problems(values.iter().map(Vec::as_slice));
        let expansion = |keep: Keep| Expansion {
            coefficients: reduction.coefficients(&found, keep),
            offsets: vec![0.0; reduction.problems()],
        };
        let (some, every) = (expansion(Keep::NonZero), expansion(Keep::All));
        assert!(!some.points().contains(&4) && every.points().contains(&4));
        assert_eq!((some.points().len(), every.points().len()), (CODES.len() - 1, CODES.len()));
        let fitted = Fitted::new(some, reduction.readout(), SolverReport::direct());
        for (p, wanted) in values.iter().enumerate() {
            assert_eq!(reduction.start(&fitted, p).as_ref(), Some(wanted), "{strategy:?}, problem {p}");
        }
        // that of other classes says nothing
        let fewer = classes(&[0, 1, 2, 0, 1, 2], 3);
        assert_eq!(strategy.reduction(&fewer).start(&fitted, 0), None);
    }
}

#[test]
fn held_out_scores_stand_against_the_other_classes_or_by_outputs() {
    let all = classes(&[1, 0, 2], 3);
    let (ovo, rest) = (OneVsOne::new(&all), OneVsRest::new(&all));
    // pairs (0, 1), (0, 2), (1, 2) have examples [1, 0], [1, 2], [0, 2]
    let pairs: [&[f64]; 3] = [&[0.25, -0.5], &[0.75, -1.0], &[1.5, -2.0]];
    let (layout, scores) = ovo.held_out(&Column::of_problems(pairs));
    assert_eq!((layout, scores.as_slice()), (Layout::Others, [-0.5, 1.5, 0.25, 0.75, -1.0, -2.0].as_slice()));
    let outputs: [&[f64]; 3] = [&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], &[7.0, 8.0, 9.0]];
    let (layout, scores) = rest.held_out(&Column::of_problems(outputs));
    assert_eq!(
        (layout, scores.as_slice()),
        (Layout::Outputs, [1.0, 4.0, 7.0, 2.0, 5.0, 8.0, 3.0, 6.0, 9.0].as_slice())
    );
}

/// A reduction by a table of signs and zeros, examples × problems, of which nothing is given but what must be.
struct Table {
    signs: Vec<f64>,
    problems: usize,
}

impl Reduction for Table {
    fn len(&self) -> usize {
        self.signs.len() / self.problems
    }
    fn problems(&self) -> usize {
        self.problems
    }
    fn sign(&self, problem: usize, example: usize) -> f64 {
        self.signs[example * self.problems + problem]
    }
    fn readout(&self) -> Readout {
        Readout::LabelSets { labels: (0..self.problems).map(|p| format!("l{p}")).collect() }
    }
}

#[test]
fn a_table_of_signs_is_a_reduction() {
    // the first two problems have all examples, the third leaves out those in the middle
    #[rustfmt::skip]
    let signs = vec![
         1.0,  1.0,  1.0,
         1.0, -1.0, -1.0,
        -1.0,  1.0,  0.0,
        -1.0, -1.0,  0.0,
         1.0, -1.0,  1.0,
    ];
    let table = Table { signs, problems: 3 };
    let blocks = table.blocks();
    assert_eq!(blocks.iter().map(|b| (b.first, b.outputs)).collect::<Vec<_>>(), [(0, 2), (2, 1)]);
    assert_eq!(table.ranges(2), [0..2, 4..5]);
    assert_eq!(table.ranges(0), [0..5]);
    let gram = matrix(5);
    let solved = side_by_side(&table, |problem| Ok(difference_of_means(problem, &gram))).unwrap();
    let fitted = gather(&table, &solved, Keep::NonZero);
    let scores = fitted.expansion.scores(gram.as_ref());
    let side = |p: usize, sign: f64| (0..5).filter(|&i| table.sign(p, i) == sign).collect::<Vec<_>>();
    let wanted: Vec<f64> =
        (0..15).map(|at| brute_force(&*gram, at / 3, &side(at % 3, 1.0), &side(at % 3, -1.0))).collect();
    near(&scores, &wanted);
    assert!(fitted.training_scores.is_none(), "a problem without some examples has no scores of them");
    let Output::LabelSets { inside, .. } = fitted.read(scores) else { panic!() };
    wanted.iter().zip(inside).for_each(|(f, inside)| assert_eq!(*f > 0.0, inside));
    let (layout, held_out) = table.held_out(&Column::of_problems(solved.iter().map(|s| s.coefficients.as_slice())));
    assert_eq!(layout, Layout::Outputs);
    assert_eq!((0..15).filter(|&at| held_out[at].is_nan()).collect::<Vec<_>>(), [8, 11]);
}

#[test]
fn an_error_of_any_problem_is_that_of_all() {
    let all = classes(&CODES, 4);
    let rest = OneVsRest::new(&all);
    let solve = |problem: &SignedProblem| match problem.first {
        2 => Err(FitError::Param { machine: "none", finding: "the third".to_owned() }),
        p => Ok(p),
    };
    for found in [side_by_side(&rest, solve), in_turn(&rest, solve)] {
        assert!(found.unwrap_err().to_string().contains("the third"));
    }
    assert_eq!(side_by_side(&rest, |problem| Ok(problem.first)).unwrap(), [0, 1, 2, 3]);
}
