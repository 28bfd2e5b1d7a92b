//! Binding: a formula met with data.

use super::prepare::training_gram;
use super::sets::{Split, split, sums};
use super::{Bound, Formula, Landmarks, Node};
use crate::data::{DataError, Dataset, Kind, PreparationSet, Rows, SparseRows, Values, Vectors, Wanted};
use crate::error::Error;
use crate::gram::views::{Centring, Constant};
use crate::gram::{Gram, Side, fill};
use crate::kernels::{KernelError, SAMPLE, complete, resolve, resolve_part};
use crate::params::Auto;
use crate::seed::Seed;
use std::cmp::Ordering;
use std::sync::Arc;

impl Formula {
    /// Resolves data-driven parameters (`gamma=scale`) from the training data, and learns centres and landmarks. Where the data have a
    /// preparation set, it stands for them in everything but a centre, which is one of the training examples.
    pub fn resolve(&self, training: &Dataset, seed: Seed) -> Result<Self, Error> {
        let mut node = self.0.clone();
        let from = training.preparation_set().map_or(training, PreparationSet::examples);
        resolve_node(&mut node, (training, from), None, seed)?;
        Ok(Self(node))
    }

    /// Resolves data-driven parameters, centres and landmarks from the examples in `part` only; the other training examples do not
    /// influence them.
    ///
    /// # Errors
    /// As [`Formula::resolve`].
    pub fn resolve_from(&self, part: &[usize], training: &Dataset, seed: Seed) -> Result<Self, Error> {
        let mut node = self.0.clone();
        resolve_node(&mut node, (training, training), Some(part), seed)?;
        Ok(Self(node))
    }

    /// The matrix between all examples of a data set, not yet computed. Data-driven parameters are resolved from the same data.
    pub fn gram(&self, data: &Dataset) -> Result<Arc<dyn Gram>, Error> {
        self.resolve(data, Seed(0))?.training_gram(data)
    }

    /// The matrix between the training examples of a resolved formula.
    pub fn training_gram(&self, training: &Dataset) -> Result<Arc<dyn Gram>, Error> {
        let side = self.prepare(training)?;
        self.gram_between(&side, &side)
    }

    /// The matrix between new examples (rows) and the training examples (columns) of a resolved formula.
    pub fn cross(&self, new: &Dataset, training: &Dataset) -> Result<Arc<dyn Gram>, Error> {
        let training = self.prepare(training)?;
        self.gram_between(&self.prepare_like(new, &training)?, &training)
    }

    /// True if predictions need every training example, not only those with weight.
    pub fn needs_all_examples(&self) -> bool {
        centres(&self.0)
    }

    /// Every view that is looked at (`None`: not named), with the kind of examples wanted there.
    pub fn views(&self) -> Vec<(Option<&str>, Kind)> {
        fn gather<'a>(node: &'a Node, all: &mut Vec<(Option<&'a str>, Kind)>) {
            match node {
                Node::Kernel(bound) if is_data_free(bound) => {}
                Node::Kernel(bound) => all.push((bound.view.as_deref(), bound.kernel.entry().kind)),
                other => other.children().iter().for_each(|child| gather(child, all)),
            }
        }
        let mut all = Vec::new();
        gather(&self.0, &mut all);
        all
    }

    /// Parameters of its kernels by which functions are smoother, and whether smaller or larger values make them so.
    pub(crate) fn smoothed_by(&self) -> Vec<(&'static str, Ordering)> {
        fn gather(node: &Node, all: &mut Vec<(&'static str, Ordering)>) {
            match node {
                Node::Kernel(bound) => all.extend(bound.kernel.facts().smoothed_by),
                Node::Radial(..) => all.push(("gamma", Ordering::Less)),
                _ => {}
            }
            node.children().iter().for_each(|child| gather(child, all));
        }
        let mut all = Vec::new();
        gather(&self.0, &mut all);
        all
    }

    /// The views and kinds that the formula wants from the columns of a file.
    pub fn wanted(&self) -> Wanted {
        let owned = |name: Option<&str>| name.map(str::to_owned);
        Wanted {
            views: self.views().into_iter().map(|(name, kind)| (owned(name), kind)).collect(),
            members: self.member_views().into_iter().map(owned).collect(),
        }
    }

    /// Explicit features, where the formula is a multiple of a kernel that has them, normalised or not, or of sets of such:
    /// K = scale · X Xᵀ. Those of the linear kernel are the data; those of polynomials and of kernels on strings are computed here.
    pub fn features(&self, data: &Dataset) -> Option<(Vectors, f64)> {
        features(&self.0, data)
    }

    /// The features for a task: none that would have to be computed where a machine asks for the matrix anyway, but for those
    /// of an approximation, which are few by intent.
    pub(crate) fn task_features(&self, data: &Dataset, wants_matrix: bool) -> Option<(Vectors, f64)> {
        if self.features_are_data() || self.is_approximated() || !wants_matrix { self.features(data) } else { None }
    }

    /// The matrix for a task. A machine that works on features `alone` asks for none of its values, and to normalise a matrix
    /// of strings splits them all, while an approximation computes its features: the shape of the matrix stands in. (Matrices of vectors also check for gaps, and cost nothing yet.)
    pub(crate) fn task_gram(&self, data: &Dataset, alone: bool) -> Result<Arc<dyn Gram>, Error> {
        if alone && (self.is_approximated() || self.views().iter().all(|(_, kind)| *kind == Kind::Text)) {
            return Ok(Arc::new(Constant { value: f64::NAN, shape: (data.len(), data.len()) }));
        }
        self.training_gram(data)
    }

    /// True if its explicit features are the data themselves, and cost nothing.
    pub(crate) fn features_are_data(&self) -> bool {
        matches!(self.unscaled().1, Node::Kernel(bound) if bound.kernel.facts().features_are_examples)
    }

    /// True if it is a multiple of an approximation by a few explicit features.
    fn is_approximated(&self) -> bool {
        matches!(self.unscaled().1, Node::Nystrom(..))
    }

    /// The factor in front, and what it stands in front of.
    fn unscaled(&self) -> (f64, &Node) {
        match &self.0 {
            Node::Scaled(c, inner) => (*c, inner.as_ref()),
            other => (1.0, other),
        }
    }
}

fn features(node: &Node, data: &Dataset) -> Option<(Vectors, f64)> {
    match node {
        Node::Scaled(c, inner) => features(inner, data).map(|(rows, scale)| (rows, c * scale)),
        // a negative multiple has no norm
        Node::Normalise(inner) => match features(inner, data)? {
            (Vectors::Sparse(rows), scale) if scale > 0.0 => Some((normalised(&rows).into(), 1.0)),
            (Vectors::Dense(rows), scale) if scale > 0.0 => Some((normalised_dense(&rows).into(), 1.0)),
            _ => None,
        },
        Node::Kernel(bound) => Some((bound.kernel.features(look(bound, data).ok()?)?, 1.0)),
        Node::Set(inner, how) => {
            let Split { members, sets } = split(inner, how, data).ok()?;
            let (rows, scale) = features(inner, &members)?;
            Some((sums(&rows, &sets, how.mean), scale))
        }
        Node::Nystrom(inner, _, Some(landmarks)) => Some((Vectors::Dense(landmarks.features(inner, data).ok()?), 1.0)),
        _ => None,
    }
}

/// Every row divided by its norm; a row of zeros stays.
fn normalised(rows: &SparseRows<f64>) -> SparseRows<f64> {
    let mut unit = rows.clone();
    let starts = rows.starts().to_vec();
    for ends in starts.windows(2) {
        let row = &mut unit.coordinates_mut()[ends[0]..ends[1]];
        let square: f64 = row.iter().map(|c| c.value * c.value).sum();
        if square > 0.0 {
            let norm = square.sqrt();
            row.iter_mut().for_each(|c| c.value /= norm);
        }
    }
    unit
}

/// The same for dense rows.
fn normalised_dense(rows: &Rows<f64>) -> Rows<f64> {
    let mut unit = rows.clone();
    for row in unit.values_mut().chunks_exact_mut(rows.width().max(1)) {
        let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
        if norm > 0.0 {
            row.iter_mut().for_each(|v| *v /= norm);
        }
    }
    unit
}

/// Kernels that look at no data may stand on any view.
pub(super) fn is_data_free(bound: &Bound) -> bool {
    !bound.kernel.facts().looks_at_data
}

/// The view that a kernel looks at.
pub(crate) fn look<'a>(bound: &Bound, data: &'a Dataset) -> Result<&'a Values, Error> {
    let kind = bound.kernel.entry().kind;
    let names = || data.views().iter().map(|v| v.name.as_str()).collect::<Vec<_>>().join(", ");
    if let Some(name) = &bound.view {
        return data.view(name).ok_or_else(|| {
            DataError::NoSuch { what: "view", name: name.clone(), remedy: format!("the data have {}", names()) }.into()
        });
    }
    let fits = |values: &Values| is_data_free(bound) || kind == Kind::Precomputed || values.kind() == kind;
    let fitting: Vec<&Values> = data.views().iter().map(|v| &v.values).filter(|v| fits(v)).collect();
    match (fitting.as_slice(), data.views()) {
        ([only], _) => Ok(only),
        ([first, ..], _) if is_data_free(bound) => Ok(first),
        ([], [only]) => {
            Err(KernelError::Kind { kernel: bound.kernel.entry().name, wants: kind, has: only.values.kind() }.into())
        }
        ([], _) => Err(DataError::Usage {
            finding: format!(
                "{} works on {kind}, but no view holds any; the data have {}",
                bound.kernel.entry().name,
                names()
            ),
        }
        .into()),
        _ => match data.view("x").filter(|values| fits(values)) {
            Some(values) => Ok(values),
            None => Err(DataError::Usage {
                finding: format!(
                    "{} could look at several views; say which with @: {}",
                    bound.kernel.entry().name,
                    names()
                ),
            }
            .into()),
        },
    }
}

/// True if a kernel is centred somewhere in a formula.
fn centres(node: &Node) -> bool {
    matches!(node, Node::Centre(..)) || node.children().iter().any(centres)
}

/// Resolves data-driven parameters and landmarks from the data set `from`, which is the training data or one set apart from them, or from a
/// part of it; centres from the training data or that part of them.
fn resolve_node(
    node: &mut Node,
    (training, from): (&Dataset, &Dataset),
    part: Option<&[usize]>,
    seed: Seed,
) -> Result<(), Error> {
    if let Node::Set(inner, column) = node {
        // the kernel of a set sees members only
        let Split { members, sets } = split(inner, column, training)?;
        let others = if std::ptr::eq(training, from) { None } else { Some(split(inner, column, from)?.members) };
        let part: Option<Vec<usize>> = part.map(|p| p.iter().flat_map(|&i| sets[i].clone()).collect());
        return resolve_node(inner, (&members, others.as_ref().unwrap_or(&members)), part.as_deref(), seed);
    }
    for child in node.children_mut() {
        resolve_node(child, (training, from), part, seed)?;
    }
    // a centre belongs to the training examples, and so does what is learned on top of it
    let from = if node.children().iter().any(centres) { training } else { from };
    match node {
        Node::Kernel(bound) => {
            for data in [training, from] {
                let values = look(bound, data)?;
                if bound.kernel.entry().kind == Kind::Vectors && !is_data_free(bound) {
                    // also for machines that never ask for a matrix
                    complete(bound.kernel.entry(), values)?;
                }
                bound.kernel.fits(values)?;
                if std::ptr::eq(training, from) {
                    break;
                }
            }
            let values = look(bound, from)?;
            match part {
                None if std::ptr::eq(training, from) => resolve(bound.kernel.as_mut(), values, seed),
                None => resolve_part(bound.kernel.as_mut(), values, seed),
                Some(part) => resolve_part(bound.kernel.as_mut(), &values.select(part), seed),
            }
        }
        Node::Centre(inner, place) => {
            let gram = training_gram(inner, training)?;
            *place = Some(Arc::new(match part {
                None => Centring::learn(gram.as_ref()),
                Some(part) => Centring::learn_of(&gram, part),
            }));
        }
        Node::Nystrom(inner, how, place) => {
            *place = Some(Arc::new(Landmarks::learn(inner, how, from, part, seed)?));
        }
        Node::Radial(inner, gamma) => {
            if let Auto::Word(word) = *gamma {
                let gram = training_gram(inner, from)?;
                let gram = part.map_or_else(|| Arc::clone(&gram), |part| Arc::clone(&gram).restrict(part, part));
                *gamma = Auto::Value(width_on(&gram, word, seed)?);
            }
        }
        _ => {}
    }
    Ok(())
}

/// γ for a Gaussian on top of a kernel, from at most a thousand examples: `scale` is one over the total variance in
/// feature space, `median` is 1/(2 · median²) of the distances.
fn width_on(gram: &Arc<dyn Gram>, word: &str, seed: Seed) -> Result<f64, Error> {
    let mut chosen = seed.stream("width").permutation(gram.shape().0);
    chosen.truncate(SAMPLE);
    chosen.sort_unstable();
    let n = chosen.len();
    let sample = Arc::clone(gram).restrict(&chosen, &chosen);
    let own = sample.self_similarities(Side::Rows).ok_or(KernelError::NoSelfSimilarity { combinator: "rbf" })?;
    let mut values = vec![0.0; n * n];
    fill(sample.as_ref(), &mut values);
    let found = if word == "median" {
        let mut squares: Vec<f64> = (0..n)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| own[i] + own[j] - 2.0 * values[i * n + j])
            .collect();
        if squares.is_empty() {
            return Ok(1.0);
        }
        let middle = squares.len() / 2;
        1.0 / (2.0 * *squares.select_nth_unstable_by(middle, f64::total_cmp).1)
    } else {
        let mean = values.iter().sum::<f64>() / (n * n).max(1) as f64;
        1.0 / (own.iter().sum::<f64>() / n.max(1) as f64 - mean)
    };
    Ok(if found.is_finite() && found > 0.0 { found } else { 1.0 })
}
