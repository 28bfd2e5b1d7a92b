//! The Nyström approximation of a kernel: inner products of projections on the span of a few landmarks.
//!
//! ```text
//! κ̃(x, z) = k(x)ᵀ K_mm⁻¹ k(z) = ⟨φ(x), φ(z)⟩,   k(x) = (κ(x, x_1), …, κ(x, x_m)),   φ(x) = L⁻¹ k(x)
//! ```
//! with K_mm = LLᵀ of the landmarks, by Gram–Schmidt with pivots. A landmark whose squared distance from the span of the others is
//! at most 10⁻¹² of the largest κ(x, x) is left out: there K_mm has no digits left. With all training examples as landmarks, κ̃
//! between them is κ up to that. (An eigendecomposition would do as well, but its last digits depend on the number of threads.)
//!
//! # Source
//! C. K. I. Williams & M. Seeger, Using the Nyström method to speed up kernel machines, NIPS 13 (2001), for landmarks drawn
//! uniformly; S. Fine & K. Scheinberg, JMLR 2 (2001), §4 for greedy ones (incomplete Cholesky with pivots); K. Zhang, I. W. Tsang
//! & J. T. Kwok, Improved Nyström low-rank approximation and error analysis, ICML (2008), for the centres of k means.

use super::bind::{is_data_free, look};
use super::prepare::{cross, meet, prepare, training_gram};
use super::{Bound, Formula, Node, PreparedSide};
use crate::data::{DataError, Dataset, Kind, Rows, Values, View};
use crate::error::Error;
use crate::geometry::{GramSchmidt, k_means};
use crate::gram::{Budget, Side, apply};
use crate::kernels::Definite;
use crate::linalg::inverse_lower;
use crate::params::{Choice, Params, Rule, Visit};
use crate::seed::Seed;
use std::sync::{Arc, OnceLock};

/// A landmark is in the span of others where its squared distance from it is at most this part of the largest κ(x, x).
const TOLERANCE: f64 = 1e-12;

/// Methods of choosing landmarks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Landmarking {
    /// Training examples, drawn uniformly without replacement.
    #[default]
    Uniform,
    /// Training examples, one by one the farthest from the span of those before: incomplete Cholesky with pivots.
    Greedy,
    /// The centres of k means of the training vectors.
    KMeans,
}

impl Choice for Landmarking {
    fn options(&self) -> &'static [&'static str] {
        &["uniform", "greedy", "k_means"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        *self = [Self::Uniform, Self::Greedy, Self::KMeans][position];
    }
}

/// The number of landmarks, and the method by which they are chosen.
///
/// # Use when
/// There are too many examples for their kernel matrix: every machine then works with a matrix of low rank, and linear
/// machines with its explicit features.
///
/// # Cost
/// m² kernel values and some m³ operations for m landmarks; then for each example m kernel values and m² operations. Greedy
/// landmarks take n m kernel values and n m² operations, and 8 n m bytes.
///
/// # Example
/// ```
/// use mercer::formula::{Landmarking, rbf};
/// let kernel = rbf(0.5).nystrom(100, Landmarking::Greedy);
/// assert_eq!(kernel.to_string(), "nystrom(rbf(gamma=0.5), points=100, choose=greedy)");
/// assert_eq!(kernel.to_string().parse(), Ok(kernel));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nystrom {
    /// The number m of landmarks at most.
    pub points: usize,
    /// The method by which they are chosen.
    pub choose: Landmarking,
}

impl Default for Nystrom {
    fn default() -> Self {
        Self { points: 500, choose: Landmarking::Uniform }
    }
}

impl Params for Nystrom {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("points", &mut self.points, Rule::AtLeast(1.0), "how many landmarks there are at most");
        v.choice("choose", &mut self.choose, "landmarks: uniform, greedy (pivots) or k_means (centres of vectors)");
    }
}

/// Landmarks with the map from kernel values with them to explicit features.
#[derive(Debug)]
pub struct Landmarks {
    /// The landmarks, in the views that the kernel looks at.
    pub examples: Dataset,
    /// L⁻ᵀ, landmarks × landmarks row by row.
    pub map: Vec<f64>,
    /// The landmarks, prepared for their kernel when features are first asked for.
    side: OnceLock<PreparedSide>,
}

impl Clone for Landmarks {
    /// Nothing that was prepared goes along: the fields of a copy are open, and its kernel may be another.
    fn clone(&self) -> Self {
        Self::new(self.examples.clone(), self.map.clone())
    }
}

impl PartialEq for Landmarks {
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map && self.examples.fingerprint() == other.examples.fingerprint()
    }
}

impl Landmarks {
    /// Landmarks and their map, landmarks × landmarks row by row.
    pub fn new(examples: Dataset, map: Vec<f64>) -> Self {
        Self { examples, map, side: OnceLock::new() }
    }

    /// Chooses landmarks among the training examples, or among some of them, and computes their map.
    pub(super) fn learn(
        inner: &Node,
        how: &Nystrom,
        training: &Dataset,
        part: Option<&[usize]>,
        seed: Seed,
    ) -> Result<Self, Error> {
        if let Some(finding) = unfit(inner) {
            return Err(DataError::Usage { finding: finding.to_owned() }.into());
        }
        let all: Vec<usize> = part.map_or_else(|| (0..training.len()).collect(), <[usize]>::to_vec);
        let examples = match how.choose {
            Landmarking::Uniform => {
                let mut drawn = seed.stream("landmarks").permutation(all.len());
                drawn.truncate(how.points);
                drawn.sort_unstable();
                seen(inner, training)?.select(&drawn.iter().map(|&i| all[i]).collect::<Vec<_>>())
            }
            Landmarking::Greedy => {
                let gram = training_gram(inner, training)?;
                let gram = if part.is_some() { gram.restrict(&all, &all) } else { gram };
                let found = GramSchmidt::of(gram.as_ref(), 0.0, how.points, Budget::default())?;
                seen(inner, training)?.select(&found.pivots.iter().map(|&i| all[i]).collect::<Vec<_>>())
            }
            Landmarking::KMeans => centres(inner, how.points, &seen(inner, training)?.select(&all), seed)?,
        };
        let square = cross(inner, &examples, &examples)?;
        let own = square.self_similarities(Side::Rows).unwrap_or_default();
        let floor = TOLERANCE * own.into_iter().fold(0.0, f64::max);
        let found = GramSchmidt::of(square.as_ref(), floor, examples.len(), Budget::default())?;
        let rank = found.rank();
        // L⁻ᵀ, so that a row of kernel values times it is a row of features
        let inverse = inverse_lower(&found.triangle(), rank);
        let map = (0..rank * rank).map(|p| inverse[p % rank * rank + p / rank]).collect();
        Ok(Self::new(examples.select(&found.pivots), map))
    }

    /// The number of features.
    pub fn rank(&self) -> usize {
        self.examples.len()
    }

    /// True if the map is one of that number of landmarks.
    pub(super) fn is_whole(&self) -> bool {
        let m = self.examples.len();
        self.map.iter().all(|v| v.is_finite()) && self.map.len() == m * m
    }

    /// The explicit features of examples, n × rank.
    pub(super) fn features(&self, inner: &Node, data: &Dataset) -> Result<Arc<Rows<f64>>, Error> {
        let (n, rank) = (data.len(), self.rank());
        let side = match self.side.get() {
            Some(side) => side,
            None => {
                let new = prepare(inner, &self.examples, None)?;
                self.side.get_or_init(|| new)
            }
        };
        let cross = meet(inner, &prepare(inner, data, Some(side))?, side)?;
        let mut features = vec![0.0; n * rank];
        apply(cross.as_ref(), &self.map, rank, &mut features);
        let rows = Rows::new(features, n, rank);
        rows.map(Arc::new).ok_or_else(|| DataError::Usage { finding: "the landmarks have no map".to_owned() }.into())
    }
}

impl Formula {
    /// The Nyström approximation of this kernel on so many landmarks, which are chosen among the training examples.
    #[must_use]
    pub fn nystrom(self, points: usize, choose: Landmarking) -> Self {
        Self(Node::Nystrom(Box::new(self.0), Nystrom { points: points.max(1), choose }, None))
    }

    /// Why this kernel has no Nyström approximation, if it has none.
    pub(super) fn unfit_for_nystrom(&self) -> Option<&'static str> {
        unfit(&self.0)
    }
}

/// Why a kernel has no Nyström approximation, if it has none.
fn unfit(inner: &Node) -> Option<&'static str> {
    fn part(node: &Node) -> Option<&'static str> {
        match node {
            Node::Kernel(bound) if is_data_free(bound) => {
                Some("noise belongs to single examples, not to landmarks; write nystrom(…) + noise")
            }
            Node::Kernel(bound) if bound.kernel.entry().kind == Kind::Precomputed => {
                Some("a precomputed matrix is there already; nystrom(…) is for kernels that are computed")
            }
            Node::Centre(..) => Some("landmarks do not know the centre of all examples; write centre(nystrom(…))"),
            other => other.children().iter().find_map(part),
        }
    }
    if Formula(inner.clone()).definite() != Definite::Positive {
        return Some("nystrom(…) is for positive semi-definite kernels; this one can have negative eigenvalues");
    }
    part(inner)
}

/// The examples in the views that a kernel looks at, without target.
pub(super) fn seen(inner: &Node, training: &Dataset) -> Result<Dataset, Error> {
    let wanted = Formula(inner.clone());
    let wanted = wanted.views();
    let fits =
        |view: &&View| wanted.iter().any(|(name, kind)| name.map_or(view.values.kind() == *kind, |n| n == view.name));
    Ok(Dataset::from_views(training.views().iter().filter(fits).cloned().collect())?)
}

/// The centres of k means of the vectors that a kernel looks at.
fn centres(inner: &Node, points: usize, examples: &Dataset, seed: Seed) -> Result<Dataset, Error> {
    fn leaves<'a>(node: &'a Node, all: &mut Vec<&'a Bound>) -> bool {
        if let Node::Kernel(bound) = node {
            all.push(bound);
        }
        !matches!(node, Node::Set(..)) && node.children().iter().all(|child| leaves(child, all))
    }
    let mut all = Vec::new();
    let plain = leaves(inner, &mut all);
    let refused = || -> Error {
        let finding =
            "choose=k_means needs a kernel on one view of complete vectors, whose centres are vectors again; give \
                       choose=uniform or greedy"
                .to_owned();
        DataError::Usage { finding }.into()
    };
    let [view] = examples.views() else { return Err(refused()) };
    if !plain || all.iter().any(|bound| bound.kernel.entry().kind != Kind::Vectors) {
        return Err(refused());
    }
    for bound in all {
        look(bound, examples)?;
    }
    let rows = match &view.values {
        Values::Dense(rows) => Arc::clone(rows),
        Values::Dense32(rows) => Arc::new(rows.convert()),
        Values::Sparse(rows) => Arc::new(rows.to_dense()),
        Values::Sparse32(rows) => Arc::new(rows.convert::<f64>().to_dense()),
        _ => return Err(refused()),
    };
    if rows.width() == 0 || rows.values().iter().any(|x| !x.is_finite()) {
        return Err(refused());
    }
    let weights = vec![1.0; rows.len()];
    let found = k_means(rows.values(), rows.width(), &weights, points, &mut seed.stream("landmarks")).centres;
    let count = found.len() / rows.width();
    let values = Rows::new(found, count, rows.width()).ok_or_else(refused)?;
    Ok(Dataset::from_views(vec![View { name: view.name.clone(), values: values.into() }])?)
}
