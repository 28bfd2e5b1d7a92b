//! The tree of a formula met with its training examples: every node with its matrix.

use crate::data::Dataset;
use crate::error::Error;
use crate::formula::parameters::own_parameters;
use crate::formula::sets::{Split, split};
use crate::formula::{Formula, Node, look};
use crate::gram::views::{Adjusted, Centring, Combine, Combined, Constant, Pointwise, Segmented, Sets, Shape};
use crate::gram::{Gram, Side};
use crate::kernels::{Derivatives, KernelError, Sides};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A formula met with its training examples.
pub(in crate::formula) struct Tree {
    /// Every node before those below it.
    pub(super) knots: Vec<Knot>,
    /// The examples of every kernel, in the order of the tree: kept while only numbers change.
    sides: Vec<Arc<Sides>>,
    /// The number of real parameters.
    pub(super) parameters: usize,
    /// The first kernel that does not know its derivatives.
    missing: Option<KernelError>,
}

/// A node with its matrix.
pub(super) struct Knot {
    pub(super) what: What,
    /// The places of the nodes directly below.
    pub(super) children: Vec<usize>,
    pub(super) gram: Arc<dyn Gram>,
    /// Its own real parameters.
    pub(super) own: Range<usize>,
    /// The parameters of all nodes below it, and its own.
    pub(super) all: Range<usize>,
    diagonal: OnceLock<Vec<f64>>,
}

/// The operation of a node on the matrices of the nodes below it.
pub(super) enum What {
    Kernel(Option<Arc<dyn Derivatives>>),
    Constant,
    /// A matrix without parameters.
    Fixed,
    Sum,
    Product,
    Scaled(f64),
    Power(u32),
    Series(Vec<f64>),
    Exp,
    Normalise,
    Radial(f64),
    /// The share of every example in the centre.
    Centre(Vec<f64>),
    /// The members of every set, and whether their mean is taken.
    Set(Vec<Range<usize>>, bool),
}

impl Tree {
    /// Meets a resolved formula with its training examples. Centres that have not been learned are learned into the formula; with
    /// `before`, the tree of the same formula with other numbers, all are learned anew and the examples stay as they were prepared.
    pub(in crate::formula) fn new(formula: &mut Formula, data: &Dataset, before: Option<&Self>) -> Result<Self, Error> {
        let mut growing =
            Growing { before, tree: Self { knots: Vec::new(), sides: Vec::new(), parameters: 0, missing: None } };
        growing.grow(&mut formula.0, data)?;
        Ok(growing.tree)
    }

    /// The matrix of the whole formula.
    pub(in crate::formula) fn gram(&self) -> &Arc<dyn Gram> {
        &self.knots[0].gram
    }

    /// True if every kernel has derivatives.
    ///
    /// # Errors
    /// The first that does not, with the parameter.
    pub(in crate::formula) fn is_differentiable(&self) -> Result<(), KernelError> {
        self.missing.clone().map_or(Ok(()), Err)
    }

    /// κ(x, x) of every example at a node; zeros where the matrix does not know them, which nothing above asks for then.
    pub(super) fn diagonal(&self, id: usize) -> &[f64] {
        let knot = &self.knots[id];
        knot.diagonal
            .get_or_init(|| knot.gram.self_similarities(Side::Rows).unwrap_or_else(|| vec![0.0; knot.gram.shape().0]))
    }
}

struct Growing<'a> {
    before: Option<&'a Tree>,
    tree: Tree,
}

impl Growing<'_> {
    /// The examples that the next kernel compares.
    fn sides(&mut self, node: &Node, data: &Dataset) -> Result<Arc<Sides>, Error> {
        let next = self.tree.sides.len();
        let sides = match (self.before.and_then(|before| before.sides.get(next)), node) {
            (Some(known), _) => Arc::clone(known),
            (None, Node::Kernel(bound)) => {
                let values = look(bound, data)?;
                Arc::new(Sides::new(values.clone(), values.clone(), true))
            }
            (None, _) => unreachable!("only kernels compare examples"),
        };
        self.tree.sides.push(Arc::clone(&sides));
        Ok(sides)
    }

    /// Adds a node and all below it; gives its place.
    fn grow(&mut self, node: &mut Node, data: &Dataset) -> Result<usize, Error> {
        let id = self.tree.knots.len();
        let first = self.tree.parameters;
        let names = own_parameters(node);
        self.tree.parameters += names.len();
        let own = first..self.tree.parameters;
        // the place is taken before those below it; the matrix follows
        let empty: Arc<dyn Gram> = Arc::new(Constant { value: 0.0, shape: (data.len(), data.len()) });
        let knot = Knot {
            what: What::Constant,
            children: Vec::new(),
            gram: empty,
            own: own.clone(),
            all: own,
            diagonal: OnceLock::new(),
        };
        self.tree.knots.push(knot);
        let split = match node {
            Node::Set(inner, how) => Some(split(inner, how, data)?),
            _ => None,
        };
        let below = split.as_ref().map_or(data, |split| &split.members);
        let mut children = Vec::new();
        let nodes = if matches!(node, Node::Nystrom(..)) { &mut [] } else { node.children_mut() };
        for child in nodes {
            children.push(self.grow(child, below)?);
        }
        let (what, gram) = self.join(node, data, &children, split, &names)?;
        let end = self.tree.parameters;
        let knot = &mut self.tree.knots[id];
        (knot.what, knot.gram, knot.children, knot.all) = (what, gram, children, first..end);
        Ok(id)
    }

    /// The operation of a node, and its matrix from those of the nodes below.
    fn join(
        &mut self,
        node: &mut Node,
        data: &Dataset,
        children: &[usize],
        split: Option<Split>,
        names: &[String],
    ) -> Result<(What, Arc<dyn Gram>), Error> {
        let grams: Vec<Arc<dyn Gram>> = children.iter().map(|&c| Arc::clone(&self.tree.knots[c].gram)).collect();
        let first = || Arc::clone(&grams[0]);
        let pointwise = |shape: Shape| -> Arc<dyn Gram> { Arc::new(Pointwise::new(first(), shape)) };
        Ok(match node {
            Node::Kernel(_) => {
                let sides = self.sides(node, data)?;
                let Node::Kernel(bound) = node else { unreachable!("the same node") };
                let derivatives = bound.kernel.derivatives(&sides)?;
                if let (None, Some(parameter)) = (&derivatives, names.first()) {
                    let (kernel, parameter) = (bound.kernel.entry().name, parameter.clone());
                    self.tree.missing.get_or_insert(KernelError::NoDerivative { kernel, parameter });
                }
                let gram = match &derivatives {
                    Some(known) => known.gram(),
                    None => bound.kernel.gram(sides.rows(), sides.cols(), sides.same())?,
                };
                (What::Kernel(derivatives), gram)
            }
            Node::Constant(value) => {
                let shape = (data.len(), data.len());
                (What::Constant, Arc::new(Constant { value: *value, shape }) as Arc<dyn Gram>)
            }
            Node::Sum(_) => (What::Sum, Arc::new(Combined::new(Combine::Sum, grams))),
            Node::Product(_) => (What::Product, Arc::new(Combined::new(Combine::Product, grams))),
            Node::Scaled(c, _) => (What::Scaled(*c), pointwise(Shape::Scale(*c))),
            Node::Power(_, n) => (What::Power(*n), pointwise(Shape::Power(*n))),
            Node::Series(_, all) => (What::Series(all.clone()), pointwise(Shape::Series(all.as_slice().into()))),
            Node::Exp(_) => (What::Exp, pointwise(Shape::Exp)),
            Node::Normalise(_) => {
                let known = Adjusted::normalised(first());
                let gram = known.ok_or(KernelError::NoSelfSimilarity { combinator: "normalise" })?;
                (What::Normalise, Arc::new(gram))
            }
            Node::Radial(_, gamma) => {
                let known = Adjusted::radial(first(), gamma.value());
                let gram = known.ok_or(KernelError::NoSelfSimilarity { combinator: "rbf" })?;
                (What::Radial(gamma.value()), Arc::new(gram))
            }
            Node::Set(_, how) => {
                let members = split.map(|split| split.sets).unwrap_or_default();
                let sets = Sets { members: members.clone(), own: first() };
                let gram = Segmented::new(first(), how.mean, sets.clone(), sets);
                (What::Set(members, how.mean), Arc::new(gram))
            }
            Node::Nystrom(..) => (What::Fixed, Formula(node.clone()).training_gram(data)?),
            Node::Centre(_, place) => {
                let centring = match (place.as_ref(), self.before) {
                    (Some(known), None) => Arc::clone(known),
                    (Some(old), Some(_)) if !old.part.is_empty() => Arc::new(Centring::learn_of(&grams[0], &old.part)),
                    _ => Arc::new(Centring::learn(grams[0].as_ref())),
                };
                let gram = Arc::new(Adjusted::centred(first(), &centring));
                let what = What::Centre(shares(&centring));
                *place = Some(centring);
                (what, gram)
            }
        })
    }
}

/// The share of every training example in a centre.
fn shares(centring: &Centring) -> Vec<f64> {
    let n = centring.means.len();
    if centring.part.is_empty() {
        return vec![1.0 / n.max(1) as f64; n];
    }
    let mut shares = vec![0.0; n];
    centring.part.iter().for_each(|&l| shares[l] += 1.0 / centring.part.len() as f64);
    shares
}
