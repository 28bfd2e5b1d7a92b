//! Sides of a formula: a data set, prepared once for every kernel in it.

use super::sets::{Split, split};
use super::{Formula, Members, Node, look};
use crate::data::{DataError, Dataset, Rows};
use crate::error::Error;
use crate::gram::views::{
    Adjusted, Centring, Combine, Combined, Constant, Lazy, Pointwise, Segmented, Sets, Shape, row_means,
};
use crate::gram::{Gram, LowRank, Side};
use crate::kernels::{KernelError, Prepared};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A data set, prepared once for the kernels of one resolved formula.
///
/// Training examples are prepared by [`Formula::prepare`], and new examples like these by [`Formula::prepare_like`].
///
/// ```
/// use mercer::data::Dataset;
/// use mercer::formula::spectrum;
/// use mercer::gram::fill;
///
/// let words = |all: &[&str]| Dataset::new(all.iter().map(|w| w.to_string()).collect::<Vec<_>>());
/// let kernel = spectrum(2).normalise();
/// let training = kernel.prepare(&words(&["cat", "car", "dog"]))?;
/// for word in ["cart", "doge"] {
///     // the training words are not counted again
///     let new = kernel.prepare_like(&words(&[word]), &training)?;
///     let mut row = [0.0; 3];
///     fill(kernel.gram_between(&new, &training)?.as_ref(), &mut row);
///     assert!(row.iter().any(|&k| k > 0.0));
/// }
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone)]
pub struct PreparedSide(Arc<Prep>);

/// The prepared examples of a node of a formula.
enum Prep {
    /// A kernel on its view.
    Kernel(Arc<dyn Prepared>),
    /// A constant: so many examples.
    Constant(usize),
    /// The nodes below, in their order.
    Below(Vec<PreparedSide>),
    /// Below a normalisation or a Gaussian on top: one number for each example, once it was asked for.
    Adjusted { inner: PreparedSide, numbers: OnceLock<Option<Arc<[f64]>>> },
    /// Below a centre.
    Centred(Centred),
    /// Members of sets.
    Sets(Box<SetSide>),
    /// Explicit features from landmarks.
    Features(Arc<Rows<f64>>),
}

/// Examples seen from a centre.
struct Centred {
    inner: PreparedSide,
    /// mean_l κ(x_l, x) of every example; of new examples computed when they are asked for.
    means: OnceLock<Arc<[f64]>>,
    centre: Arc<Centre>,
}

/// The centre of some training examples.
struct Centre {
    /// These examples.
    of: PreparedSide,
    /// mean_kl κ(x_k, x_l).
    total: f64,
}

/// Sets by their members.
struct SetSide {
    members: PreparedSide,
    sets: Vec<Range<usize>>,
    /// The matrix between all members of this side, for κ(A, A).
    own: Arc<dyn Gram>,
}

impl std::fmt::Debug for PreparedSide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PreparedSide({} examples)", self.len())
    }
}

impl PreparedSide {
    /// The number of examples.
    pub fn len(&self) -> usize {
        match self.0.as_ref() {
            Prep::Kernel(side) => side.len(),
            Prep::Constant(n) => *n,
            Prep::Below(all) => all.first().map_or(0, Self::len),
            Prep::Adjusted { inner, .. } | Prep::Centred(Centred { inner, .. }) => inner.len(),
            Prep::Sets(sets) => sets.sets.len(),
            Prep::Features(rows) => rows.len(),
        }
    }

    /// True if there is no example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The examples at the given places, in that order, prepared alike.
    #[must_use]
    pub fn select(&self, keep: &[usize]) -> Self {
        let chosen = |numbers: &Arc<[f64]>| -> Arc<[f64]> { keep.iter().map(|&k| numbers[k]).collect() };
        Self(Arc::new(match self.0.as_ref() {
            Prep::Kernel(side) => Prep::Kernel(Arc::clone(side).select(keep)),
            Prep::Constant(_) => Prep::Constant(keep.len()),
            Prep::Below(all) => Prep::Below(all.iter().map(|side| side.select(keep)).collect()),
            Prep::Adjusted { inner, numbers } => {
                let numbers =
                    numbers.get().map_or_else(OnceLock::new, |known| OnceLock::from(known.as_ref().map(chosen)));
                Prep::Adjusted { inner: inner.select(keep), numbers }
            }
            Prep::Centred(Centred { inner, means, centre }) => Prep::Centred(Centred {
                inner: inner.select(keep),
                means: means.get().map_or_else(OnceLock::new, |means| OnceLock::from(chosen(means))),
                centre: Arc::clone(centre),
            }),
            Prep::Features(rows) => Prep::Features(Arc::new(rows.select(keep))),
            // members stay where they are: sets are ranges of them
            Prep::Sets(sets) => Prep::Sets(Box::new(SetSide {
                members: sets.members.clone(),
                sets: keep.iter().map(|&k| sets.sets[k].clone()).collect(),
                own: Arc::clone(&sets.own),
            })),
        }))
    }

    /// True if both are the same examples in the same order.
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn below(&self) -> Result<&[Self], Error> {
        match self.0.as_ref() {
            Prep::Below(all) => Ok(all),
            _ => Err(unfit()),
        }
    }
}

/// A side was prepared for another formula.
fn unfit() -> Error {
    let finding = "the two data sets were not prepared for this formula, or not for each other; prepare the training examples, and new examples like these";
    DataError::Usage { finding: finding.to_owned() }.into()
}

impl Formula {
    /// Training examples, prepared once for every kernel of a resolved formula.
    ///
    /// # Errors
    /// If the data do not fit the kernels.
    pub fn prepare(&self, training: &Dataset) -> Result<PreparedSide, Error> {
        prepare(&self.0, training, None)
    }

    /// New examples, prepared like the training examples.
    ///
    /// # Errors
    /// If the data do not fit the kernels or the training examples.
    pub fn prepare_like(&self, new: &Dataset, training: &PreparedSide) -> Result<PreparedSide, Error> {
        prepare(&self.0, new, Some(training))
    }

    /// The matrix between two prepared data sets, not yet computed: new examples (rows) with training examples (columns), or
    /// the training examples with themselves.
    ///
    /// # Errors
    /// If they were not prepared for this formula and for each other.
    pub fn gram_between(&self, rows: &PreparedSide, cols: &PreparedSide) -> Result<Arc<dyn Gram>, Error> {
        meet(&self.0, rows, cols)
    }
}

/// The matrix between the training examples of a node.
pub(super) fn training_gram(node: &Node, training: &Dataset) -> Result<Arc<dyn Gram>, Error> {
    let side = prepare(node, training, None)?;
    meet(node, &side, &side)
}

/// The matrix between new and training examples of a node.
pub(super) fn cross(node: &Node, new: &Dataset, training: &Dataset) -> Result<Arc<dyn Gram>, Error> {
    let cols = prepare(node, training, None)?;
    meet(node, &prepare(node, new, Some(&cols))?, &cols)
}

/// A side of a node: training examples, or new ones like these.
pub(super) fn prepare(node: &Node, data: &Dataset, like: Option<&PreparedSide>) -> Result<PreparedSide, Error> {
    // the side below, like the one below
    let one = |inner: &Node, like: Option<&PreparedSide>| prepare(inner, data, like);
    let prep = match node {
        Node::Kernel(bound) => {
            let like = match like.map(|like| like.0.as_ref()) {
                None => None,
                Some(Prep::Kernel(side)) => Some(side),
                Some(_) => return Err(unfit()),
            };
            let values = look(bound, data)?;
            bound.kernel.fits(values)?;
            Prep::Kernel(bound.kernel.prepare(values, like)?)
        }
        Node::Constant(_) => Prep::Constant(data.len()),
        Node::Sum(_) | Node::Product(_) | Node::Scaled(..) | Node::Power(..) | Node::Series(..) | Node::Exp(_) => {
            let like = like.map(PreparedSide::below).transpose()?;
            let side = |(k, child): (usize, &Node)| match like {
                None => one(child, None),
                Some(all) => one(child, Some(all.get(k).ok_or_else(unfit)?)),
            };
            Prep::Below(node.children().iter().enumerate().map(side).collect::<Result<_, _>>()?)
        }
        Node::Normalise(inner) | Node::Radial(inner, _) => {
            let like = match like.map(|like| like.0.as_ref()) {
                None => None,
                Some(Prep::Adjusted { inner, .. }) => Some(inner),
                Some(_) => return Err(unfit()),
            };
            Prep::Adjusted { inner: one(inner, like)?, numbers: OnceLock::new() }
        }
        Node::Centre(inner, centring) => Prep::Centred(match like.map(|like| like.0.as_ref()) {
            None => centred(inner, centring.as_deref(), one(inner, None)?)?,
            Some(Prep::Centred(_)) if centring.is_none() => {
                let finding =
                    "centre(…) must meet its training examples before new ones; call resolve first".to_owned();
                return Err(DataError::Usage { finding }.into());
            }
            Some(Prep::Centred(like)) => Centred {
                inner: one(inner, Some(&like.inner))?,
                means: OnceLock::new(),
                centre: Arc::clone(&like.centre),
            },
            Some(_) => return Err(unfit()),
        }),
        Node::Set(inner, how) => Prep::Sets(Box::new(members(inner, how, data, like)?)),
        Node::Nystrom(inner, _, Some(landmarks)) => Prep::Features(landmarks.features(inner, data)?),
        Node::Nystrom(_, _, None) => {
            let finding = "nystrom(…) must choose its landmarks among training examples first; call resolve".to_owned();
            return Err(DataError::Usage { finding }.into());
        }
    };
    Ok(PreparedSide(Arc::new(prep)))
}

/// Training examples seen from the centre of all or some of them.
fn centred(inner: &Node, centring: Option<&Centring>, side: PreparedSide) -> Result<Centred, Error> {
    let learned;
    let centring = match centring {
        Some(known) => known,
        None => {
            learned = Centring::learn(meet(inner, &side, &side)?.as_ref());
            &learned
        }
    };
    let of = if centring.part.is_empty() { side.clone() } else { side.select(&centring.part) };
    let means = OnceLock::from(Arc::from(centring.means.as_slice()));
    Ok(Centred { inner: side, means, centre: Arc::new(Centre { of, total: centring.total }) })
}

impl Centred {
    /// The means of every example, computed once.
    fn means(&self, inner: &Node) -> Result<Arc<[f64]>, Error> {
        if let Some(known) = self.means.get() {
            return Ok(Arc::clone(known));
        }
        let found = row_means(meet(inner, &self.inner, &self.centre.of)?.as_ref()).into();
        Ok(Arc::clone(self.means.get_or_init(|| found)))
    }
}

/// Sets taken apart into their members.
fn members(inner: &Node, how: &Members, data: &Dataset, like: Option<&PreparedSide>) -> Result<SetSide, Error> {
    let Split { members, sets } = split(inner, how, data)?;
    let Some(like) = like else {
        let side = prepare(inner, &members, None)?;
        let own = meet(inner, &side, &side)?;
        return Ok(SetSide { members: side, sets, own });
    };
    let Prep::Sets(training) = like.0.as_ref() else { return Err(unfit()) };
    let side = prepare(inner, &members, Some(&training.members))?;
    // seen from their own centre, as κ(A, A) of any set is; made only where that is asked for
    let (n, inner) = (members.len(), inner.clone());
    let own = Lazy::new((n, n), true, move || match training_gram(&inner, &members) {
        Ok(gram) => gram,
        // what cannot be had any more, say for want of memory, is not a number, which is said where scores are looked at
        Err(_) => Arc::new(Constant { value: f64::NAN, shape: (n, n) }),
    });
    Ok(SetSide { members: side, sets, own: Arc::new(own) })
}

/// The matrix of a node between two sides that were prepared for each other.
pub(super) fn meet(node: &Node, rows: &PreparedSide, cols: &PreparedSide) -> Result<Arc<dyn Gram>, Error> {
    let below = || -> Result<Vec<Arc<dyn Gram>>, Error> {
        let (rows, cols) = (rows.below()?, cols.below()?);
        let sides = rows.iter().zip(cols);
        node.children().iter().zip(sides).map(|(child, (rows, cols))| meet(child, rows, cols)).collect()
    };
    let only = |shape: Shape| -> Result<Arc<dyn Gram>, Error> {
        let inner = below()?.pop().ok_or_else(unfit)?;
        Ok(Arc::new(Pointwise::new(inner, shape)))
    };
    let all = |how: Combine| -> Result<Arc<dyn Gram>, Error> {
        let terms = below()?;
        if terms.len() == node.children().len() { Ok(Arc::new(Combined::new(how, terms))) } else { Err(unfit()) }
    };
    match (node, rows.0.as_ref(), cols.0.as_ref()) {
        (Node::Kernel(bound), Prep::Kernel(rows), Prep::Kernel(cols)) => Ok(bound.kernel.gram_between(rows, cols)?),
        (Node::Constant(value), Prep::Constant(n), Prep::Constant(m)) => {
            Ok(Arc::new(Constant { value: *value, shape: (*n, *m) }))
        }
        (Node::Sum(_), ..) => all(Combine::Sum),
        (Node::Product(_), ..) => all(Combine::Product),
        (Node::Normalise(inner), Prep::Adjusted { inner: left, .. }, Prep::Adjusted { inner: right, .. }) => {
            let unknown = || KernelError::NoSelfSimilarity { combinator: "normalise" };
            let known = |side| numbers(inner, side, Adjusted::inverse_norms);
            let (row, col) = (known(rows)?.ok_or_else(unknown)?, known(cols)?.ok_or_else(unknown)?);
            Ok(Arc::new(Adjusted::scaled(meet(inner, left, right)?, row, col)))
        }
        (Node::Radial(inner, gamma), Prep::Adjusted { inner: left, .. }, Prep::Adjusted { inner: right, .. }) => {
            let unknown = || KernelError::NoSelfSimilarity { combinator: "rbf" };
            let known = |side| numbers(inner, side, Arc::from);
            let (row, col) = (known(rows)?.ok_or_else(unknown)?, known(cols)?.ok_or_else(unknown)?);
            Ok(Arc::new(Adjusted::radial_of(meet(inner, left, right)?, gamma.value(), row, col)))
        }
        (Node::Centre(inner, _), Prep::Centred(left), Prep::Centred(right)) => {
            if !Arc::ptr_eq(&left.centre, &right.centre) {
                return Err(unfit());
            }
            let (row, col) = (left.means(inner)?, right.means(inner)?);
            let gram = meet(inner, &left.inner, &right.inner)?;
            Ok(Arc::new(Adjusted::centred_of(gram, right.centre.total, row, col)))
        }
        (Node::Set(inner, how), Prep::Sets(left), Prep::Sets(right)) => {
            let gram = if left.members.is(&right.members) {
                Arc::clone(&right.own)
            } else {
                meet(inner, &left.members, &right.members)?
            };
            let sets = |side: &SetSide| Sets { members: side.sets.clone(), own: Arc::clone(&side.own) };
            Ok(Arc::new(Segmented::new(gram, how.mean, sets(left), sets(right))))
        }
        (Node::Nystrom(..), Prep::Features(rows), Prep::Features(cols)) => {
            Ok(Arc::new(LowRank::new(Arc::clone(rows), Arc::clone(cols)).ok_or_else(unfit)?))
        }
        _ => only(shape(node).ok_or_else(unfit)?),
    }
}

/// The function of every entry that a node is, if it is one.
fn shape(node: &Node) -> Option<Shape> {
    match node {
        Node::Scaled(c, _) => Some(Shape::Scale(*c)),
        Node::Power(_, n) => Some(Shape::Power(*n)),
        Node::Series(_, coefficients) => Some(Shape::Series(coefficients.as_slice().into())),
        Node::Exp(_) => Some(Shape::Exp),
        _ => None,
    }
}

/// The numbers of a side below a normalisation or a Gaussian on top, from its self-similarities; computed once.
fn numbers(
    inner: &Node,
    side: &PreparedSide,
    make: impl FnOnce(Vec<f64>) -> Arc<[f64]>,
) -> Result<Option<Arc<[f64]>>, Error> {
    let Prep::Adjusted { inner: below, numbers } = side.0.as_ref() else { return Err(unfit()) };
    if let Some(known) = numbers.get() {
        return Ok(known.clone());
    }
    let found = self_similarities(inner, below)?.map(make);
    Ok(numbers.get_or_init(|| found).clone())
}

/// κ(x, x) of every example of a side; `None` where that is not known.
fn self_similarities(node: &Node, side: &PreparedSide) -> Result<Option<Vec<f64>>, Error> {
    let fold = |how: fn(f64, f64) -> f64| -> Result<Option<Vec<f64>>, Error> {
        let mut total: Option<Vec<f64>> = None;
        for (child, side) in node.children().iter().zip(side.below()?) {
            let Some(values) = self_similarities(child, side)? else { return Ok(None) };
            total = Some(match total {
                None => values,
                Some(total) => total.iter().zip(values).map(|(&t, v)| how(t, v)).collect(),
            });
        }
        Ok(total)
    };
    match (node, side.0.as_ref()) {
        (Node::Kernel(bound), Prep::Kernel(side)) => Ok(bound.kernel.self_similarities(side)?),
        (Node::Sum(_), _) => fold(|t, v| t + v),
        (Node::Product(_), _) => fold(|t, v| t * v),
        (Node::Centre(inner, _), Prep::Centred(side)) => {
            let (Some(own), means) = (self_similarities(inner, &side.inner)?, side.means(inner)?) else {
                return Ok(None);
            };
            Ok(Some(own.iter().zip(means.iter()).map(|(s, m)| s - 2.0 * m + side.centre.total).collect()))
        }
        (Node::Constant(value), Prep::Constant(n)) => Ok(Some(vec![*value; *n])),
        (Node::Normalise(inner), _) => {
            let norms = numbers(inner, side, Adjusted::inverse_norms)?;
            Ok(norms.map(|all| all.iter().map(|&f| if f > 0.0 { 1.0 } else { 0.0 }).collect()))
        }
        (Node::Radial(inner, _), _) => Ok(numbers(inner, side, Arc::from)?.map(|all| vec![1.0; all.len()])),
        (Node::Set(..), Prep::Sets(_)) | (Node::Nystrom(..), Prep::Features(_)) => {
            Ok(meet(node, side, side)?.self_similarities(Side::Rows))
        }
        (node, _) => {
            let (Some(shape), [child], [side]) = (shape(node), node.children(), side.below()?) else {
                return Err(unfit());
            };
            Ok(self_similarities(child, side)?.map(|own| own.into_iter().map(|x| shape.at(x)).collect()))
        }
    }
}
