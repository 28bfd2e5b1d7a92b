//! A formula met with its training examples, for machines that see no formula.

use super::derivatives::{Tree, contract};
use super::{Formula, Node};
use crate::data::{DataError, Dataset, Vectors};
use crate::error::Error;
use crate::gram::{Gram, Similarity};
use crate::params::Parameter;
use crate::seed::Seed;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// A formula and its training examples. Copies share what is prepared.
#[derive(Clone)]
struct FormulaOnData {
    /// Resolved.
    formula: Arc<Formula>,
    /// The views of all examples.
    data: Arc<Dataset>,
    /// The examples that are kept; `None`: all.
    keep: Option<Arc<[usize]>>,
    /// The matrix between all examples.
    whole: Arc<dyn Gram>,
    /// The matrix between those that are kept: taken out where it is asked for, since that may copy data.
    gram: OnceLock<Arc<dyn Gram>>,
    features: OnceLock<Option<(Vectors, f64)>>,
    parameters: OnceLock<Vec<Parameter>>,
    /// Every node with its matrix, between all examples: built when a derivative or another θ is asked for.
    tree: Arc<OnceLock<Tree>>,
}

impl Formula {
    /// The formula met with its training examples: its matrix, its parameters, and the same examples at other ones. Words and
    /// centres are learned from the same examples.
    ///
    /// # Errors
    /// If the formula does not fit the examples.
    pub fn similarity(&self, training: &Dataset) -> Result<Arc<dyn Similarity>, Error> {
        let resolved = self.resolve(training, Seed(0))?;
        let gram = resolved.training_gram(training)?;
        resolved.similarity_of(training, gram)
    }

    /// The same for a resolved formula whose matrix is there already.
    ///
    /// # Errors
    /// If the examples have no view.
    pub fn similarity_of(&self, training: &Dataset, gram: Arc<dyn Gram>) -> Result<Arc<dyn Similarity>, Error> {
        Ok(Arc::new(FormulaOnData::new(self.clone(), Arc::new(Dataset::from_views(training.views().to_vec())?), gram)))
    }
}

impl Formula {
    /// The terms of a sum with all that they have learned, each with the factor in front of the sum; a formula that is no sum is its
    /// only term.
    pub fn terms(&self) -> Vec<Self> {
        match &self.0 {
            Node::Sum(terms) => terms.iter().map(|term| Self(term.clone())).collect(),
            Node::Scaled(c, inner) => match inner.as_ref() {
                Node::Sum(terms) => terms.iter().map(|term| *c * Self(term.clone())).collect(),
                _ => vec![self.clone()],
            },
            _ => vec![self.clone()],
        }
    }
}

/// A name for each term, no two alike: the view that it looks at, or its formula.
fn names_of(terms: &[Formula]) -> Vec<String> {
    let all_differ = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let view = |term: &Formula| {
        let mut views: Vec<Option<String>> =
            term.views().into_iter().map(|(name, _)| name.map(str::to_owned)).collect();
        views.sort();
        views.dedup();
        if views.len() == 1 { views.pop().flatten() } else { None }
    };
    let views: Option<Vec<String>> = terms.iter().map(view).collect();
    let printed = || terms.iter().map(ToString::to_string).collect();
    let names = views.filter(|names| all_differ(names)).unwrap_or_else(printed);
    if all_differ(&names) { names } else { (1..=terms.len()).map(|k| format!("term{k}")).collect() }
}

impl FormulaOnData {
    /// With the matrix between all examples.
    fn new(formula: Formula, data: Arc<Dataset>, whole: Arc<dyn Gram>) -> Self {
        Self {
            formula: Arc::new(formula),
            data,
            keep: None,
            whole,
            gram: OnceLock::new(),
            features: OnceLock::new(),
            parameters: OnceLock::new(),
            tree: Arc::new(OnceLock::new()),
        }
    }

    /// The number of examples that are kept.
    fn len(&self) -> usize {
        self.keep.as_ref().map_or(self.data.len(), |keep| keep.len())
    }

    /// Every node with its matrix.
    fn tree(&self) -> Result<&Tree, Error> {
        if let Some(tree) = self.tree.get() {
            return Ok(tree);
        }
        let grown = Tree::new(&mut Formula::clone(&self.formula), &self.data, None)?;
        Ok(self.tree.get_or_init(|| grown))
    }
}

impl Similarity for FormulaOnData {
    fn radius(&self) -> Option<f64> {
        self.formula.radius()
    }

    fn gram(&self) -> &Arc<dyn Gram> {
        self.gram.get_or_init(|| match &self.keep {
            Some(keep) => Arc::clone(&self.whole).restrict(keep, keep),
            None => Arc::clone(&self.whole),
        })
    }

    fn features(&self) -> Option<(&Vectors, f64)> {
        let of = || {
            let (rows, scale) = self.formula.features(&self.data)?;
            Some((self.keep.as_ref().map_or_else(|| rows.clone(), |keep| rows.select(keep)), scale))
        };
        self.features.get_or_init(of).as_ref().map(|(rows, scale)| (rows, *scale))
    }

    fn restrict(&self, keep: &[usize]) -> Arc<dyn Similarity> {
        let places = match &self.keep {
            Some(known) => keep.iter().map(|&k| known[k]).collect(),
            None => keep.into(),
        };
        let (gram, features) = (OnceLock::new(), OnceLock::new());
        Arc::new(Self { keep: Some(places), gram, features, ..self.clone() })
    }

    fn parts(&self) -> Result<Vec<Arc<dyn Similarity>>, Error> {
        let terms = self.formula.terms();
        if terms.len() == 1 {
            return Ok(vec![Arc::new(self.clone())]);
        }
        let part = |formula: Formula| -> Result<Arc<dyn Similarity>, Error> {
            let whole = formula.training_gram(&self.data)?;
            Ok(Arc::new(Self { keep: self.keep.clone(), ..Self::new(formula, Arc::clone(&self.data), whole) }))
        };
        terms.into_iter().map(part).collect()
    }

    fn part_names(&self) -> Vec<String> {
        names_of(&self.formula.terms())
    }

    fn parameters(&self) -> &[Parameter] {
        self.parameters.get_or_init(|| self.formula.parameters())
    }

    fn at(&self, theta: &[f64]) -> Result<Arc<dyn Similarity>, Error> {
        let mut formula = self.formula.with_numbers(theta)?;
        let tree = Tree::new(&mut formula, &self.data, Some(self.tree()?))?;
        let other = Self::new(formula, Arc::clone(&self.data), Arc::clone(tree.gram()));
        Ok(Arc::new(Self { keep: self.keep.clone(), tree: Arc::new(OnceLock::from(tree)), ..other }))
    }

    fn contract(&self, weights: &dyn Gram) -> Result<Vec<f64>, Error> {
        let (n, shape) = (self.len(), weights.shape());
        if shape != (n, n) {
            let finding = format!("weights of {} × {} were given for a kernel between {n} examples", shape.0, shape.1);
            return Err(DataError::Usage { finding }.into());
        }
        let tree = self.tree()?;
        tree.is_differentiable()?;
        Ok(contract(tree, self.keep.as_deref(), weights))
    }
}
