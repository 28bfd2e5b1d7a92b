//! The frame in which quadratic forms of a direction are written: coefficients of points, or whitened coordinates.
//!
//! w = Σ_j a_j φ(z_j). With ‖a‖² among the forms they are written in a itself, with the rows k_i = (κ(z_1, x_i), …). Without it all
//! forms are those of w, and vanish where K_zz a = 0: K_zz = VΛVᵀ, a = VΛ^{-1/2}c, and they are written in c, with rows
//! Λ^{-1/2}Vᵀk_i and ‖w‖² = ‖c‖². That needs no inverse of a matrix that has none.

use super::super::auxiliary::Role;
use super::super::{Auxiliary, FitError, Task};
use super::expansion::Over;
use super::terms::{Matrix, Terms};
use crate::data::Classes;
use crate::geometry::{Wanted, between_columns, squares_of_differences, total_scatter, whitened_map, within_scatter};
use crate::gram::{Gram, fill};
use crate::linalg::SolveError;
use crate::linalg::{dot, multiply_add, symmetric_eigen_bytes};
use crate::parallel;
use crate::watch::{Monitor, Phase};
use std::sync::Arc;

const WHAT: &str = "the matrices of a Rayleigh quotient";
/// Copies whose differences are taken at a time.
const STRIP: usize = 1024;

/// Points, and how directions are written in them.
pub(in super::super) struct Frame<'a> {
    machine: &'static str,
    gram: Arc<dyn Gram>,
    n: usize,
    /// The weight of each example.
    pub(in super::super) weights: Vec<f64>,
    roles: &'a [Role],
    transformations: &'a [String],
    /// The points, as places among the examples and what stands beside them.
    pub(in super::super) points: Vec<usize>,
    /// The number of coordinates of a direction.
    pub(in super::super) width: usize,
    /// VΛ^{-1/2}, points × width numbers, where directions are written in whitened coordinates.
    map: Option<Vec<f64>>,
    /// K_zz, where they are written in coefficients.
    own: Option<Vec<f64>>,
    /// The examples, n × width numbers.
    pub(in super::super) rows: Vec<f64>,
    watch: &'a dyn Monitor,
}

impl<'a> Frame<'a> {
    /// Computes the kernel values. `coefficients`: whether ‖a‖² is among the forms.
    pub(in super::super) fn new(
        machine: &'static str,
        task: &Task<'_>,
        auxiliary: Option<&'a Auxiliary<'_>>,
        over: Over,
        weights: Vec<f64>,
        (coefficients, tolerance): (bool, f64),
        watch: &'a dyn Monitor,
    ) -> Result<Self, FitError> {
        let points = over.places(machine, task, auxiliary, &weights)?;
        let (n, m) = (task.len(), points.len());
        let gram = Arc::clone(auxiliary.map_or(&task.gram, |b| &b.gram));
        // the rows, a centred copy, K_zz, both forms, one more while they are added up, and the decomposition
        let numbers = n.saturating_mul(m).saturating_mul(2).saturating_add(m.saturating_mul(m).saturating_mul(4));
        task.budget.check(numbers.saturating_mul(8).saturating_add(symmetric_eigen_bytes(m)), WHAT)?;
        let (roles, transformations) = auxiliary.map_or((&[][..], &[][..]), |b| (b.roles, b.transformations));
        let mut frame = Self {
            machine,
            gram,
            n,
            weights,
            roles,
            transformations,
            points,
            width: m,
            map: None,
            own: None,
            rows: Vec::new(),
            watch,
        };
        frame.step(Phase::KERNEL_MATRIX)?;
        let own = frame.kernel(&frame.points.clone())?;
        if coefficients {
            frame.own = Some(own);
        } else {
            frame.step(Phase::new("eigendecomposition"))?;
            let whitened = whitened_map(own, m, tolerance).map_err(|error| FitError::Solve { machine, error })?;
            if whitened.rank() == 0 {
                let finding = "the kernel matrix has no positive eigenvalue; use another kernel or other parameters";
                return Err(FitError::Param { machine, finding: finding.to_owned() });
            }
            frame.width = whitened.rank();
            frame.map = Some(whitened.map);
        }
        frame.rows = frame.rows_of(&(0..n).collect::<Vec<_>>())?;
        Ok(frame)
    }

    fn step(&self, phase: Phase) -> Result<(), FitError> {
        self.watch.alive(phase.into()).map_err(|reason| FitError::stopped(self.machine, reason))
    }

    /// Kernel values of some examples (rows) with the points.
    fn kernel(&self, places: &[usize]) -> Result<Vec<f64>, FitError> {
        let m = self.points.len();
        let mut values = vec![0.0; places.len() * m];
        fill(Arc::clone(&self.gram).restrict(places, &self.points).as_ref(), &mut values);
        match values.iter().position(|k| !k.is_finite()) {
            Some(p) => {
                let error = SolveError::NotFinite { row: places[p / m] + 1, column: self.points[p % m] + 1 };
                Err(FitError::Solve { machine: self.machine, error })
            }
            None => Ok(values),
        }
    }

    /// Some examples in the frame, places × width numbers.
    fn rows_of(&self, places: &[usize]) -> Result<Vec<f64>, FitError> {
        let kernel = self.kernel(places)?;
        let Some(map) = &self.map else { return Ok(kernel) };
        let (m, width) = (self.points.len(), self.width);
        let mut rows = vec![0.0; places.len() * width];
        parallel::strips_beside((&mut rows, STRIP * width), (&kernel, STRIP * m), |out, block| {
            multiply_add(block, block.len() / m, m, map, width, out);
        });
        Ok(rows)
    }

    /// A weighted sum of matrices, width × width numbers. A sum of `between` alone stays what it is: few columns.
    pub(in super::super) fn wanted(&self, terms: &Terms, classes: Option<&Classes>) -> Result<Wanted, FitError> {
        if let ([term], Some(classes)) = (terms.0.as_slice(), classes)
            && term.matrix == Matrix::Between
        {
            let count = classes.labels.len();
            let mut values = between_columns(&self.rows, self.width, &classes.codes, count, &self.weights);
            values.iter_mut().for_each(|g| *g *= term.weight.sqrt());
            return Ok(Wanted::Columns { values, count });
        }
        self.sum(terms, classes).map(Wanted::Whole)
    }

    /// The same as a whole matrix.
    pub(in super::super) fn sum(&self, terms: &Terms, classes: Option<&Classes>) -> Result<Vec<f64>, FitError> {
        let mut sum = vec![0.0; self.width * self.width];
        for term in &terms.0 {
            self.step(Phase::new("scatter matrices"))?;
            let matrix = self.matrix(&term.matrix, classes)?;
            sum.iter_mut().zip(&matrix).for_each(|(s, m)| *s += term.weight * m);
        }
        Ok(sum)
    }

    fn matrix(&self, matrix: &Matrix, classes: Option<&Classes>) -> Result<Vec<f64>, FitError> {
        let width = self.width;
        let classes = || {
            let finding = format!("{matrix} is a matrix of classes, and there are none");
            classes.ok_or(FitError::Param { machine: self.machine, finding })
        };
        Ok(match matrix {
            Matrix::Covariance => {
                scaled(total_scatter(&self.rows, width, &self.weights), 1.0 / self.weights.iter().sum::<f64>())
            }
            Matrix::Norm => self.own.clone().unwrap_or_else(|| identity(width)),
            Matrix::Coefficients => identity(width),
            Matrix::Within => {
                let classes = classes()?;
                within_scatter(&self.rows, width, &classes.codes, classes.labels.len(), &self.weights)
            }
            Matrix::Between => {
                let (classes, count) = (classes()?, classes()?.labels.len());
                let values = between_columns(&self.rows, width, &classes.codes, count, &self.weights);
                Wanted::Columns { values, count }.whole(width)
            }
            Matrix::Noise => {
                let places: Vec<usize> = self.auxiliary(|role| matches!(role, Role::Noise)).collect();
                if places.is_empty() {
                    return Err(self.missing("noise", "examples of noise, with --noise FILE"));
                }
                let alike = vec![1.0; places.len()];
                scaled(total_scatter(&self.rows_of(&places)?, width, &alike), 1.0 / places.len() as f64)
            }
            Matrix::Tangent(name) => self.tangent(name.as_deref())?,
        })
    }

    /// The mean over transformations of Σ_i v_i (k_i − l_i)(k_i − l_i)ᵀ, strip by strip.
    fn tangent(&self, name: Option<&str>) -> Result<Vec<f64>, FitError> {
        // `shift_x` means all of shift_x=1, shift_x=-1, …
        let is = |t: &String, name: &str| t == name || t.split_once('=').is_some_and(|(word, _)| word == name);
        let known = |t: &usize| name.is_none_or(|name| self.transformations.get(*t).is_some_and(|t| is(t, name)));
        let copies: Vec<(usize, usize)> = (0..self.roles.len())
            .filter_map(|i| match self.roles[i] {
                Role::Copy { of, transformation } if known(&transformation) => Some((of, self.n + i)),
                _ => None,
            })
            .collect();
        if copies.is_empty() {
            let which = name.map_or_else(|| "tangent".to_owned(), |name| format!("tangent({name})"));
            let there = self.transformations.join(", ");
            let there = if there.is_empty() { String::new() } else { format!("; there are {there}") };
            return Err(self.missing(&which, &format!("copies of the examples, with --transform or --copies{there}")));
        }
        let mut sum = vec![0.0; self.width * self.width];
        for strip in copies.chunks(STRIP) {
            self.step(Phase::new("differences of copies"))?;
            let of: Vec<f64> = strip.iter().flat_map(|c| self.row(c.0)).copied().collect();
            let copies = self.rows_of(&strip.iter().map(|c| c.1).collect::<Vec<_>>())?;
            let weights: Vec<f64> = strip.iter().map(|c| self.weights[c.0]).collect();
            let part = squares_of_differences(&of, &copies, self.width, &weights);
            sum.iter_mut().zip(&part).for_each(|(s, p)| *s += p);
        }
        let transformations = (0..self.transformations.len()).filter(known).count();
        Ok(scaled(sum, 1.0 / transformations.max(1) as f64))
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.width..(i + 1) * self.width]
    }

    fn auxiliary(&self, keep: impl Fn(&Role) -> bool) -> impl Iterator<Item = usize> {
        (0..self.roles.len()).filter(move |&i| keep(&self.roles[i])).map(|i| self.n + i)
    }

    fn missing(&self, which: &str, what: &str) -> FitError {
        FitError::Param { machine: self.machine, finding: format!("the matrix {which} needs {what}") }
    }

    /// Directions (width × count numbers), each of ‖w‖ = 1. A direction without length, which only a kernel that is not
    /// positive definite has, is an error.
    pub(in super::super) fn units(&self, mut vectors: Vec<f64>, count: usize) -> Result<Vec<f64>, FitError> {
        for j in 0..count {
            let c: Vec<f64> = vectors.iter().skip(j).step_by(count).copied().collect();
            let square: f64 = match &self.own {
                None => dot(&c, &c),
                Some(own) => own.chunks_exact(self.width).zip(&c).map(|(row, x)| x * dot(row, &c)).sum(),
            };
            if square.is_nan() || square <= 0.0 {
                let finding =
                    "a direction has no length in feature space: the kernel is not positive definite; use another";
                return Err(FitError::Param { machine: self.machine, finding: finding.to_owned() });
            }
            vectors.iter_mut().skip(j).step_by(count).for_each(|v| *v /= square.sqrt());
        }
        Ok(vectors)
    }

    /// The coordinates of the examples along directions (width × count numbers), n × count numbers.
    pub(in super::super) fn coordinates(&self, vectors: &[f64], count: usize) -> Vec<f64> {
        let mut out = vec![0.0; self.n * count];
        parallel::strips_beside((&mut out, STRIP * count.max(1)), (&self.rows, STRIP * self.width), |out, rows| {
            multiply_add(rows, rows.len() / self.width, self.width, vectors, count, out);
        });
        out
    }

    /// Directions (width × count numbers) as coefficients of the points (points × count).
    pub(in super::super) fn coefficients(&self, vectors: Vec<f64>, count: usize) -> Vec<f64> {
        let Some(map) = &self.map else { return vectors };
        let mut alpha = vec![0.0; self.points.len() * count];
        multiply_add(map, self.points.len(), self.width, &vectors, count, &mut alpha);
        alpha
    }
}

fn identity(n: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; n * n];
    matrix.iter_mut().step_by(n + 1).for_each(|m| *m = 1.0);
    matrix
}

fn scaled(mut matrix: Vec<f64>, factor: f64) -> Vec<f64> {
    matrix.iter_mut().for_each(|m| *m *= factor);
    matrix
}
