//! Tests of the solver: conditions derived again, threads, starts, copies, interruptions.

use super::*;
use crate::gram::{Dense, Gram};
use crate::seed::Seed;
use crate::watch::{Progress, Silent, Stop};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// n points in space, their Gaussian matrix, and noisy signs.
fn random(n: usize, seed: u64) -> (Arc<Dense<f64>>, Vec<f64>) {
    let mut random = Seed(seed).stream("smo");
    let z: Vec<f64> = (0..n * 3).map(|_| random.normal()).collect();
    let mut k = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            let d: f64 = (0..3).map(|c| (z[i * 3 + c] - z[j * 3 + c]).powi(2)).sum();
            k[i * n + j] = (-0.5 * d).exp();
        }
    }
    let y = (0..n).map(|i| if z[i * 3] + 0.4 * random.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
    (Arc::new(Dense::new(k, n, n).unwrap()), y)
}

struct Given {
    gram: Arc<dyn Gram>,
    columns: Vec<Range<usize>>,
    diagonal: Vec<f64>,
    linear: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    epsilon: f64,
    ridge: Option<Vec<f64>>,
    equality: Equality,
    start: Option<Start>,
}

impl Given {
    /// The problem of a classifier with price c.
    fn classes(gram: Arc<dyn Gram>, y: &[f64], c: f64) -> Self {
        Self {
            columns: vec![0..y.len()],
            diagonal: crate::gram::diagonal(gram.as_ref()),
            gram,
            linear: y.to_vec(),
            lower: y.iter().map(|&y| if y < 0.0 { -c } else { 0.0 }).collect(),
            upper: y.iter().map(|&y| if y > 0.0 { c } else { 0.0 }).collect(),
            epsilon: 0.0,
            ridge: None,
            equality: Equality::Sum,
            start: None,
        }
    }

    fn problem(&self) -> Problem<'_> {
        Problem {
            gram: Arc::clone(&self.gram),
            columns: &self.columns,
            diagonal: &self.diagonal,
            linear: &self.linear,
            lower: &self.lower,
            upper: &self.upper,
            epsilon: self.epsilon,
            ridge: self.ridge.as_deref(),
            equality: self.equality,
            start: self.start.as_ref(),
            folds: None,
        }
    }

    fn solve(&self, tolerance: f64, threads: usize, watch: &dyn Monitor) -> Result<Solution, SolveError> {
        let problem = self.problem();
        let options = SmoOptions { tolerance, max_iterations: 0, cache: 1 << 20, threads, most_rows: false };
        smo(&problem, &options, &mut Workspace::default(), watch)
    }

    /// The optimality conditions and the objective, derived again in f64.
    fn judge(&self, solution: &Solution, tolerance: f64) {
        let n = self.linear.len();
        let mut k = vec![0.0; n * n];
        crate::gram::fill(self.gram.as_ref(), &mut k);
        let b = &solution.beta;
        let mut quadratic = 0.0;
        for t in 0..n {
            assert!((self.lower[t]..=self.upper[t]).contains(&b[t]));
            let ridge = self.ridge.as_ref().map_or(0.0, |d| d[t]);
            let image = (0..n).map(|j| k[t * n + j] * b[j]).sum::<f64>() + ridge * b[t];
            quadratic += b[t] * image;
            let s = self.linear[t] - image;
            assert!((s - solution.state[t]).abs() < 1e-4 * (1.0 + s.abs()), "{s} {}", solution.state[t]);
            let height = solution.offsets[0];
            let (rising, falling) = match b[t] {
                b if b > 0.0 => (s - self.epsilon, s - self.epsilon),
                b if b < 0.0 => (s + self.epsilon, s + self.epsilon),
                _ => (s - self.epsilon, s + self.epsilon),
            };
            if b[t] < self.upper[t] {
                assert!(rising < height + tolerance, "{t}: may rise from {rising} above {height}");
            }
            if b[t] > self.lower[t] {
                assert!(falling > height - tolerance, "{t}: may fall from {falling} below {height}");
            }
        }
        let linear: f64 = (0..n).map(|t| self.epsilon * b[t].abs() - self.linear[t] * b[t]).sum();
        let objective = 0.5 * quadratic + linear;
        assert!((objective - solution.objective).abs() < 1e-4 * objective.abs().max(1.0));
        if self.equality == Equality::Sum {
            assert!(b.iter().sum::<f64>().abs() < 1e-9 * b.iter().map(|b| b.abs()).sum::<f64>().max(1.0));
        }
    }
}

#[test]
fn the_optimality_conditions_hold_when_rederived() {
    for (seed, c) in [(1, 0.5), (2, 1.0), (3, 10.0), (4, 1000.0)] {
        let (k, y) = random(90, seed);
        let mut given = Given::classes(k, &y, c);
        for (equality, epsilon, ridge) in [
            (Equality::Sum, 0.0, false),
            (Equality::None, 0.0, false),
            (Equality::Sum, 0.0, true),
            (Equality::Sum, 0.3, false),
        ] {
            given.equality = equality;
            given.epsilon = epsilon;
            given.ridge = ridge.then(|| vec![0.25; 90]);
            if epsilon > 0.0 {
                (given.lower, given.upper) = (vec![-c; 90], vec![c; 90]);
            }
            let solution = given.solve(1e-5, 1, &Silent).unwrap();
            assert_eq!(solution.status, Status::Converged);
            given.judge(&solution, 2e-4);
        }
    }
}

#[test]
fn shrinking_and_threads_change_no_bit_of_the_optimum() {
    let n = 9000;
    let mut random = Seed(8).stream("plane");
    let z: Vec<[f64; 2]> = (0..n).map(|_| [random.normal(), random.normal()]).collect();
    let y: Vec<f64> = z.iter().map(|z| if z[0] * z[1] + 0.1 * random.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
    let rows = crate::data::Rows::from_vectors(&z).unwrap();
    let gram = crate::formula::rbf(1.0).gram(&crate::data::Dataset::new(rows)).unwrap();
    let given = Given::classes(gram, &y, 10.0);
    let one = given.solve(1e-3, 1, &Silent).unwrap();
    for threads in [2, 3] {
        let many = given.solve(1e-3, threads, &Silent).unwrap();
        assert_eq!(one.beta, many.beta);
        assert_eq!((one.iterations, one.objective, one.offsets), (many.iterations, many.objective, many.offsets));
    }
    // the problem did shrink, and its answer holds for the whole
    assert!((one.evaluations as f64) < one.rows as f64 * f64::from(n));
    given.judge(&one, 1.5e-3);
}

/// Everything that a solution tells about its problem, in bits.
fn told(solution: &Solution) -> (Vec<u64>, Vec<u64>, [u64; 3], usize, Status) {
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect();
    let numbers = [solution.objective.to_bits(), solution.offsets[0].to_bits(), solution.violation.to_bits()];
    (bits(&solution.beta), bits(&solution.state), numbers, solution.iterations, solution.status)
}

#[test]
fn rounds_take_the_steps_of_a_problem_alone() {
    // three classes, and a problem for each pair of them, on one matrix
    let (k, _) = random(240, 21);
    let gram: Arc<dyn Gram> = k;
    let classes = [0..90, 90..150, 150..240];
    for (epsilon, ridge, equality, started) in [
        (0.0, false, Equality::Sum, false),
        (0.0, true, Equality::Sum, true),
        (0.0, false, Equality::None, false),
        (0.2, false, Equality::Sum, true),
        (0.0, false, Equality::Signs, true),
    ] {
        let given: Vec<Given> = [(0, 1), (0, 2), (1, 2)]
            .map(|(a, b): (usize, usize)| {
                let columns = vec![classes[a].clone(), classes[b].clone()];
                let y: Vec<f64> =
                    columns.iter().zip([1.0, -1.0]).flat_map(|(c, y)| c.clone().map(move |_| y)).collect();
                let mut given = Given::classes(Arc::clone(&gram), &y, 10.0);
                (given.diagonal, given.columns) = (vec![1.0; y.len()], columns);
                (given.epsilon, given.equality) = (epsilon, equality);
                given.ridge = ridge.then(|| vec![0.1; y.len()]);
                // the sums of a start are kept, whatever they are
                let beta: Vec<f64> = y.iter().map(|y| 0.5 * y).collect();
                given.start = started.then(|| Start::of(&beta));
                given
            })
            .into();
        let problems: Vec<Problem<'_>> = given.iter().map(Given::problem).collect();
        for cache in [1 << 20, 3000] {
            let options = SmoOptions { tolerance: 1e-4, max_iterations: 0, cache, threads: 2, most_rows: false };
            let together = smo_in_rounds(&problems, &options, &Silent);
            for (given, solution) in given.iter().zip(together) {
                let (alone, solution) = (given.solve(1e-4, 1, &Silent).unwrap(), solution.unwrap());
                assert_eq!(told(&alone), told(&solution), "{epsilon} {ridge} {equality:?} {cache}");
                assert!(solution.rows > 0 && solution.evaluations > 0);
            }
        }
    }
}

#[test]
fn rounds_of_a_problem_that_shrinks_give_its_bits() {
    let n = 9000;
    let mut random = Seed(8).stream("plane");
    let mut example = || (0..64).map(|k| if k < 2 { 1.0 } else { 0.02 } * random.normal()).collect();
    let z: Vec<Vec<f64>> = (0..n).map(|_| example()).collect();
    let y: Vec<f64> = z.iter().map(|z| if z[0] * z[1] + 0.1 * random.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
    let rows = crate::data::Rows::from_vectors(&z).unwrap();
    let gram = crate::formula::rbf(1.0).gram(&crate::data::Dataset::new(rows)).unwrap();
    assert!(gram.panel_rows() > 1, "rows of many features gain from being computed at once");
    let given = Given::classes(gram, &y, 10.0);
    let options =
        |threads| SmoOptions { tolerance: 1e-3, max_iterations: 0, cache: 1 << 24, threads, most_rows: false };
    let alone = by_team(&given.problem(), &options(1), &mut Workspace::default(), &Silent).unwrap();
    assert!((alone.evaluations as f64) < alone.rows as f64 * f64::from(n), "the problem did shrink");
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut found = pool.install(|| smo_in_rounds(&[given.problem()], &options(threads), &Silent));
        assert_eq!(told(&alone), told(&found.pop().unwrap().unwrap()), "{threads} threads");
    }
}

#[test]
fn a_chunk_leads_to_the_optimum() {
    let n = 900;
    let (k, y) = random(n, 31);
    let options = SmoOptions { tolerance: 1e-4, max_iterations: 0, cache: 1 << 22, threads: 1, most_rows: false };
    for (equality, epsilon, ridge) in [
        (Equality::Sum, 0.0, false),
        (Equality::None, 0.0, false),
        (Equality::Sum, 0.0, true),
        (Equality::Sum, 0.5, false),
    ] {
        let mut given = Given::classes(k.clone(), &y, 1.0);
        (given.equality, given.epsilon) = (equality, epsilon);
        given.ridge = ridge.then(|| vec![0.25; n]);
        if epsilon > 0.0 {
            (given.lower, given.upper) = (vec![-1.0; n], vec![1.0; n]);
        }
        let found = chunk::solve(&given.problem(), &options, &mut Workspace::default(), &Silent).unwrap();
        let found =
            found.unwrap_or_else(|| panic!("{equality:?} {epsilon} {ridge}: the chunk is not nearly everything"));
        assert_eq!((found.status, found.whole), (Status::Converged, true));
        given.judge(&found, 3e-4);
        let alone = by_team(&given.problem(), &options, &mut Workspace::default(), &Silent).unwrap();
        assert!((found.objective - alone.objective).abs() < 1e-5 * alone.objective.abs());
    }
}

#[test]
fn a_chunk_that_is_stopped_keeps_what_there_is() {
    let (k, y) = random(900, 31);
    let given = Given::classes(k, &y, 1.0);
    let options = SmoOptions { tolerance: 1e-6, max_iterations: 0, cache: 1 << 22, threads: 1, most_rows: false };
    let mut stopped = 0;
    for looks in 1..12 {
        let watch = After(AtomicUsize::new(looks));
        let found = chunk::solve(&given.problem(), &options, &mut Workspace::default(), &watch).unwrap();
        let Some(found) = found.filter(|found| found.status == Status::Interrupted) else { continue };
        stopped += 1;
        let sum: f64 = found.beta.iter().sum();
        assert!(sum.abs() < 1e-9 && found.beta.iter().all(|b| b.abs() <= 1.0) && found.objective <= 0.0);
    }
    assert!(stopped > 0);
}

/// Examples of many features in two classes that overlap.
fn embedded(n: usize, seed: u64) -> (Arc<dyn Gram>, Vec<f64>) {
    let mut random = Seed(seed).stream("embedded");
    let mut example = || (0..70).map(|k| if k < 3 { 1.0 } else { 0.05 } * random.normal()).collect();
    let z: Vec<Vec<f64>> = (0..n).map(|_| example()).collect();
    let y = z.iter().map(|z| if z[0] + 0.6 * z[60] * 20.0 > 0.0 { 1.0 } else { -1.0 }).collect();
    let rows = crate::data::Rows::from_vectors(&z).unwrap();
    (crate::formula::rbf(0.5).gram(&crate::data::Dataset::new(rows)).unwrap(), y)
}

#[test]
fn large_problems_of_many_features_are_solved_by_a_chunk_with_the_same_bits_for_any_threads() {
    let (gram, y) = embedded(8500, 4);
    let given = Given::classes(gram, &y, 1.0);
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = SmoOptions { tolerance: 1e-3, max_iterations: 0, cache: 1 << 28, threads, most_rows: false };
        assert!(chunk::pays(&given.problem(), &options));
        pool.install(|| smo(&given.problem(), &options, &mut Workspace::default(), &Silent).unwrap())
    };
    let one = solve(1);
    given.judge(&one, 1.5e-3);
    for threads in [2, 3] {
        assert_eq!(told(&one), told(&solve(threads)), "{threads} threads");
    }
}

#[test]
fn all_rows_at_once_are_the_rows_one_by_one() {
    let (gram, _) = embedded(700, 5);
    let n = gram.shape().0;
    let stride = n + 4;
    let mut all = vec![7.0; n * stride];
    crate::gram::fill_rows_of_symmetric(gram.as_ref(), stride, &mut all);
    for (i, row) in all.chunks(stride).enumerate() {
        let mut alone = vec![0.0; n];
        gram.row32(i, 0..n, &mut alone);
        assert_eq!(&row[..n], alone, "row {i}");
        assert_eq!(row[n..], [7.0; 4], "nothing is written between rows");
    }
}

#[test]
fn a_start_at_another_price_gives_the_same_optimum() {
    let (k, y) = random(200, 12);
    let cold = Given::classes(k.clone(), &y, 10.0).solve(1e-5, 1, &Silent).unwrap();
    let mut warm = Given::classes(k, &y, 10.0);
    warm.start = Some(Start::of(&Given::classes(warm.gram.clone(), &y, 3.0).solve(1e-3, 1, &Silent).unwrap().beta));
    let solution = warm.solve(1e-5, 1, &Silent).unwrap();
    assert!((solution.objective - cold.objective).abs() < 1e-6 * cold.objective.abs());
    assert!(solution.iterations < cold.iterations);
}

#[test]
fn many_copies_are_settled_at_once() {
    let n = 4000;
    let gram = Arc::new(crate::gram::views::Constant { value: 1.0, shape: (n, n) });
    let y: Vec<f64> = (0..n).map(|i| if i % 4 == 0 { 1.0 } else { -1.0 }).collect();
    let mut given = Given::classes(gram, &y, 2.0);
    given.diagonal = vec![1.0; n];
    let solution = given.solve(1e-3, 1, &Silent).unwrap();
    assert_eq!(solution.status, Status::Converged);
    assert!(solution.iterations < 50, "{}", solution.iterations);
    given.judge(&solution, 2e-3);
}

/// Stops at the k-th look.
struct After(AtomicUsize);

impl Monitor for After {
    fn step(&self, _: &Progress) -> ControlFlow<Stop> {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 1 {
            ControlFlow::Break(Stop::Interrupted)
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[test]
fn an_interruption_keeps_what_there_is() {
    let (k, y) = random(300, 5);
    let given = Given::classes(k, &y, 1000.0);
    let solution = given.solve(1e-6, 1, &After(AtomicUsize::new(2))).unwrap();
    assert_eq!(solution.status, Status::Interrupted);
    assert!(solution.iterations > 0 && solution.objective < 0.0);
}

#[test]
fn what_cannot_be_solved_is_said() {
    let k = Arc::new(Dense::new(vec![1.0, f64::INFINITY, f64::INFINITY, 1.0], 2, 2).unwrap());
    let given = Given::classes(k, &[1.0, -1.0], 1.0);
    assert!(matches!(given.solve(1e-3, 1, &Silent), Err(SolveError::NotFinite { .. })));
    let same = Arc::new(Dense::new(vec![1.0; 4], 2, 2).unwrap());
    let hard = Given::classes(same, &[1.0, -1.0], f64::INFINITY);
    assert!(matches!(hard.solve(1e-3, 1, &Silent), Err(SolveError::Inseparable)));
}
