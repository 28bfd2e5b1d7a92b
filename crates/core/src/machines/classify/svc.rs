//! The C-support vector classifier.

use crate::gram::show_bytes;
use crate::machines::{Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Proof, Readout, Task};
use crate::params::{Params, Rule, Visit};
use crate::solvers::smo::{BoxProblem, DualSolution, SmoOptions, smo};
use crate::solvers::{Monitor, Status};
use crate::sources::{LIBSVM, Source};
use rayon::prelude::*;
use std::sync::Arc;

/// min ½‖w‖² + C Σ max(0, 1 − y_i (⟨w, φ(x_i)⟩ + b)), one problem for each pair of classes
///
/// # Source
/// Chang & Lin (2011), §2.1 for the problem, §7 for one-against-one and its vote; solved by sequential minimal optimisation
/// ([`crate::solvers::smo`]) until the largest violation of the optimality conditions is below the tolerance.
///
/// # Use when
/// Classes are to be told apart and a sparse, robust rule is wanted. Scale the data; choose C and the kernel's width by
/// cross-validation (`mercer select`).
///
/// # Cost
/// Between n² and n³ kernel values in the worst case, about (number of support vectors) · n in practice; the memory of
/// `cache` beside the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Svc {
    /// C, the price of a margin violation.
    pub c: f64,
    /// The largest violation of the optimality conditions that is left.
    pub tolerance: f64,
    /// The most steps of a sub-problem; 0 for no limit.
    pub max_iterations: usize,
    /// Megabytes for kernel rows, in each of the sub-problems that run at once.
    pub cache: usize,
}

impl Default for Svc {
    fn default() -> Self {
        Self { c: 1.0, tolerance: 1e-3, max_iterations: 0, cache: 200 }
    }
}

impl Params for Svc {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("c", &mut self.c, Rule::Above(0.0), "price C of a margin violation");
        v.real("tolerance", &mut self.tolerance, Rule::Above(0.0), "largest violation of the optimality conditions");
        v.count("max_iterations", &mut self.max_iterations, Rule::AtLeast(0.0), "most steps, 0 for no limit");
        v.count("cache", &mut self.cache, Rule::AtLeast(0.0), "megabytes for kernel rows");
    }
}

/// The solution of one pair of classes.
struct Pair {
    first: usize,
    second: usize,
    /// Training examples of the two classes.
    examples: Vec<usize>,
    solution: DualSolution,
    /// Primal minus dual objective.
    gap: f64,
}

impl Svc {
    /// Bytes for the rows of one sub-problem: what was asked for, within its share of the memory.
    fn cache_bytes(&self, task: &Task<'_>, codes: &[u32]) -> usize {
        let classes = codes.iter().max().map_or(0, |&c| c as usize + 1);
        let at_once = rayon::current_num_threads().min(classes * classes.saturating_sub(1) / 2).max(1);
        self.cache.saturating_mul(1 << 20).min(task.plan.memory / 2 / at_once)
    }

    fn solve_pair(
        &self,
        task: &Task<'_>,
        codes: &[u32],
        pair: (usize, usize),
        watch: &dyn Monitor,
    ) -> Result<Pair, FitError> {
        let (first, second) = pair;
        let examples: Vec<usize> =
            (0..codes.len()).filter(|&i| codes[i] as usize == first || codes[i] as usize == second).collect();
        let whole = examples.len() == codes.len();
        let gram = if whole { Arc::clone(&task.gram) } else { Arc::clone(&task.gram).restrict(&examples, &examples) };
        // a positive score decides for the first class, as in LIBSVM
        let y: Vec<f64> = examples.iter().map(|&i| if codes[i] as usize == first { 1.0 } else { -1.0 }).collect();
        let m = y.len();
        let problem = BoxProblem { gram: gram.as_ref(), signs: &y, linear: &vec![-1.0; m], upper: &vec![self.c; m] };
        let cache = self.cache_bytes(task, codes);
        let options = SmoOptions { tolerance: self.tolerance, max_iterations: self.max_iterations, cache };
        let solution =
            smo(&problem, &options, watch).map_err(|error| FitError::Solve { machine: ENTRY.name, error })?;
        // y f(x) − 1 = y (b − s): the hinge losses at the solution
        let hinge: f64 = (0..m).map(|t| (-y[t] * (solution.offset - solution.state[t])).max(0.0)).sum();
        let primal = 0.5 * solution.squared_norm + self.c * hinge;
        let gap = primal + solution.objective;
        Ok(Pair { first, second, examples, solution, gap })
    }
}

impl Machine for Svc {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(ENTRY.name)?;
        let k = classes.labels.len();
        let all: Vec<(usize, usize)> = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b))).collect();
        let pairs: Vec<Pair> = all
            .into_par_iter()
            .map(|pair| self.solve_pair(task, &classes.codes, pair, watch))
            .collect::<Result<_, _>>()?;

        // LIBSVM's compact form: an example of class c has a coefficient y α for each of the other classes
        let n = classes.codes.len();
        let mut alpha = vec![0.0; n * (k - 1)];
        for pair in &pairs {
            for (&i, (a, code)) in
                pair.examples.iter().zip(pair.solution.alpha.iter().zip(codes_of(pair, &classes.codes)))
            {
                let (sign, column) = if code == pair.first { (1.0, pair.second - 1) } else { (-1.0, pair.first) };
                alpha[i * (k - 1) + column] = sign * a;
            }
        }
        let mut points: Vec<usize> =
            (0..n).filter(|&i| alpha[i * (k - 1)..(i + 1) * (k - 1)].iter().any(|&a| a != 0.0)).collect();
        points.sort_by_key(|&i| classes.codes[i]);
        let coefficients = Coefficients::Pairwise {
            classes: points.iter().map(|&i| classes.codes[i]).collect(),
            alpha: points.iter().flat_map(|&i| &alpha[i * (k - 1)..(i + 1) * (k - 1)]).copied().collect(),
            count: k,
            points,
        };
        let proof = self.prove(&pairs, &coefficients, self.cache_bytes(task, &classes.codes));
        let offsets = pairs.iter().map(|p| p.solution.offset).collect();
        Ok(Fitted {
            expansion: Expansion { coefficients, offsets },
            readout: Readout::Vote { labels: classes.labels },
            proof,
        })
    }
}

fn codes_of<'a>(pair: &'a Pair, codes: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
    pair.examples.iter().map(|&i| codes[i] as usize)
}

impl Svc {
    fn prove(&self, pairs: &[Pair], coefficients: &Coefficients, cache: usize) -> Proof {
        let Coefficients::Pairwise { points, .. } = coefficients else { return Proof::direct() };
        let worst = |rank: fn(Status) -> u8| pairs.iter().map(|p| p.solution.status).max_by_key(|&s| rank(s));
        let status = worst(|s| match s {
            Status::Converged => 0,
            Status::IterationLimit => 1,
            Status::TimeLimit => 2,
            Status::Interrupted => 3,
        });
        let bounded = pairs.iter().flat_map(|p| &p.solution.alpha).filter(|&&a| a == self.c).count();
        Proof {
            status: status.unwrap_or(Status::Converged),
            iterations: pairs.iter().map(|p| p.solution.iterations).sum(),
            objective: Some(pairs.iter().map(|p| p.solution.objective).sum()),
            duality_gap: Some(pairs.iter().map(|p| p.gap).sum()),
            violation: Some(pairs.iter().map(|p| p.solution.violation).fold(0.0, f64::max)),
            support: Some(points.len()),
            storage: format!("rows in f32, up to {} kept for each pair of classes", show_bytes(cache)),
            notes: vec![
                ("bounded_multipliers".to_owned(), bounded as f64),
                ("kernel_rows".to_owned(), pairs.iter().map(|p| p.solution.rows as f64).sum()),
                ("squared_norm".to_owned(), pairs.iter().map(|p| p.solution.squared_norm).sum()),
            ],
        }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "svc",
    aliases: &["svm", "c_svc"],
    summary: "C-support vector classification, with bias, one against one",
    formula: "min ½‖w‖² + C Σ max(0, 1 − y_i f(x_i))",
    learns: Learns::Classes,
    source: Source::new(&LIBSVM, "§2.1, §7"),
    use_when: "classes are to be told apart and a sparse, robust rule is wanted",
    make: || Box::new(Svc::default()),
};
