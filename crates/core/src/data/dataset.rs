//! A data set: examples seen through named views, with a target.

use super::kinds::{Column, Kind};
use super::{DataError, Preparation, PreparationSet, Rows, Scalar, SparseRows, Target};
use std::sync::Arc;

/// The values of one view, of one kind.
#[derive(Clone, Debug)]
pub enum Values {
    /// Dense vectors in f64.
    Dense(Arc<Rows<f64>>),
    /// Dense vectors in f32.
    Dense32(Arc<Rows<f32>>),
    /// Sparse vectors in f64.
    Sparse(Arc<SparseRows<f64>>),
    /// Sparse vectors in f32.
    Sparse32(Arc<SparseRows<f32>>),
    /// Strings.
    Text(Arc<Vec<String>>),
    /// Places in a precomputed matrix: the column that belongs to each example.
    Index(Arc<Vec<u32>>),
    /// Examples of any other kind.
    Items(Arc<dyn Column>),
}

impl Values {
    /// The number of coordinates of dense vectors.
    pub fn dense_width(&self) -> Option<usize> {
        match self {
            Self::Dense(r) => Some(r.width()),
            Self::Dense32(r) => Some(r.width()),
            _ => None,
        }
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        match self {
            Self::Dense(r) => r.len(),
            Self::Dense32(r) => r.len(),
            Self::Sparse(r) => r.len(),
            Self::Sparse32(r) => r.len(),
            Self::Text(t) => t.len(),
            Self::Index(t) => t.len(),
            Self::Items(c) => c.len(),
        }
    }

    /// True if there is no example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of coordinates of each example; `None` where examples are no vectors.
    pub fn width(&self) -> Option<usize> {
        match self {
            Self::Dense(r) => Some(r.width()),
            Self::Dense32(r) => Some(r.width()),
            Self::Sparse(r) => Some(r.width()),
            Self::Sparse32(r) => Some(r.width()),
            Self::Text(_) | Self::Index(_) | Self::Items(_) => None,
        }
    }

    /// True of sparse vectors, whose number of coordinates is the largest index that any of them has.
    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self, Self::Sparse(_) | Self::Sparse32(_))
    }

    /// The kind of its examples.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Dense(_) | Self::Dense32(_) | Self::Sparse(_) | Self::Sparse32(_) => Kind::Vectors,
            Self::Text(_) => Kind::Text,
            Self::Index(_) => Kind::Precomputed,
            Self::Items(c) => Kind::Other(c.kind()),
        }
    }

    /// The examples at the given places, in that order.
    pub fn select(&self, keep: &[usize]) -> Self {
        match self {
            Self::Dense(r) => Self::Dense(Arc::new(r.select(keep))),
            Self::Dense32(r) => Self::Dense32(Arc::new(r.select(keep))),
            Self::Sparse(r) => Self::Sparse(Arc::new(r.select(keep))),
            Self::Sparse32(r) => Self::Sparse32(Arc::new(r.select(keep))),
            Self::Text(t) => Self::Text(Arc::new(keep.iter().map(|&i| t[i].clone()).collect())),
            Self::Index(t) => Self::Index(Arc::new(keep.iter().map(|&i| t[i]).collect())),
            Self::Items(c) => Self::Items(c.select(keep)),
        }
    }

    /// The examples and, after them, others of the same kind; the error says what differs.
    fn joined(&self, more: &Self) -> Result<Self, String> {
        fn rows<S: Scalar>(a: &Rows<S>, b: &Rows<S>) -> Result<Rows<S>, String> {
            let differ = || format!("some have {} coordinates, others {}", a.width(), b.width());
            let values = a.values().iter().chain(b.values()).copied().collect();
            Rows::new(values, a.len() + b.len(), a.width()).filter(|_| a.width() == b.width()).ok_or_else(differ)
        }
        fn sparse<S: Scalar>(a: &SparseRows<S>, b: &SparseRows<S>) -> SparseRows<S> {
            let mut all = a.clone();
            all.append(b.clone());
            all
        }
        Ok(match (self, more) {
            (Self::Dense(a), Self::Dense(b)) => Self::from(rows(a, b)?),
            (Self::Dense32(a), Self::Dense32(b)) => Self::from(rows(a, b)?),
            (Self::Dense(a), Self::Dense32(b)) => Self::from(rows(a, &b.convert())?),
            (Self::Dense32(a), Self::Dense(b)) => Self::from(rows(a, &b.convert())?),
            (Self::Sparse(a), Self::Sparse(b)) => Self::from(sparse(a, b)),
            (Self::Sparse32(a), Self::Sparse32(b)) => Self::from(sparse(a, b)),
            (Self::Text(a), Self::Text(b)) => Self::from(a.iter().chain(b.iter()).cloned().collect::<Vec<_>>()),
            (Self::Items(a), Self::Items(b)) => match a.joined(b.as_ref()) {
                Some(all) => Self::Items(all),
                None => return Err(format!("some are {}, others {}", self.word(), more.word())),
            },
            (a, b) => return Err(format!("some are {}, others {}", a.word(), b.word())),
        })
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Dense(_) | Self::Dense32(_) => "dense vectors",
            Self::Sparse(_) => "sparse vectors in f64",
            Self::Sparse32(_) => "sparse vectors in f32",
            Self::Text(_) => "strings",
            Self::Index(_) => "places in a precomputed matrix",
            Self::Items(c) => c.kind().plural,
        }
    }
}

impl From<Rows<f64>> for Values {
    fn from(rows: Rows<f64>) -> Self {
        Self::Dense(Arc::new(rows))
    }
}
impl From<Rows<f32>> for Values {
    fn from(rows: Rows<f32>) -> Self {
        Self::Dense32(Arc::new(rows))
    }
}
impl From<SparseRows<f64>> for Values {
    fn from(rows: SparseRows<f64>) -> Self {
        Self::Sparse(Arc::new(rows))
    }
}
impl From<SparseRows<f32>> for Values {
    fn from(rows: SparseRows<f32>) -> Self {
        Self::Sparse32(Arc::new(rows))
    }
}
impl From<Vec<String>> for Values {
    fn from(text: Vec<String>) -> Self {
        Self::Text(Arc::new(text))
    }
}

/// A named column of examples of one kind.
#[derive(Clone, Debug)]
pub struct View {
    /// Its name in formulas: `rbf@name`.
    pub name: String,
    /// Its examples.
    pub values: Values,
}

/// Examples seen through one or more views of equal length, with an optional target and optional weights.
#[derive(Clone, Debug)]
pub struct Dataset {
    views: Vec<View>,
    target: Option<Target>,
    weights: Option<Arc<Vec<f64>>>,
    /// True if the weights, or a factor in them, balance the classes by their numbers.
    balanced: bool,
    /// Weights of classes that are a factor in the weights, each with its label.
    class_weights: Option<Arc<Vec<(String, f64)>>>,
    preparation: Option<Preparation>,
    preparation_set: Option<PreparationSet>,
}

impl Dataset {
    /// One view called `x`.
    pub fn new(values: impl Into<Values>) -> Self {
        Self::of(vec![View { name: "x".to_owned(), values: values.into() }])
    }

    /// Several views; an error unless there is at least one and all have the same length.
    pub fn from_views(views: Vec<View>) -> Result<Self, DataError> {
        let Some(first) = views.first() else {
            return Err(DataError::Empty { place: "the data set".to_owned() });
        };
        let len = first.values.len();
        if let Some(odd) = views.iter().find(|v| v.values.len() != len) {
            return Err(DataError::Lengths {
                what: format!("view {}", odd.name),
                got: odd.values.len(),
                other: format!("view {}", first.name),
                wanted: len,
            });
        }
        Ok(Self::of(views))
    }

    fn of(views: Vec<View>) -> Self {
        let (target, weights, class_weights) = (None, None, None);
        Self { views, target, weights, balanced: false, class_weights, preparation: None, preparation_set: None }
    }

    /// Adds a view; an error if its length differs.
    pub fn with_view(mut self, name: &str, values: impl Into<Values>) -> Result<Self, DataError> {
        self.views.push(View { name: name.to_owned(), values: values.into() });
        let views = Self::from_views(std::mem::take(&mut self.views))?.views;
        Ok(Self { views, ..self })
    }

    /// Sets the target; an error if its length differs.
    pub fn with_target(mut self, target: impl Into<Target>) -> Result<Self, DataError> {
        let target = target.into();
        if target.len() != self.len() {
            return Err(DataError::Lengths {
                what: "the target".to_owned(),
                got: target.len(),
                other: "the data".to_owned(),
                wanted: self.len(),
            });
        }
        self.target = Some(target);
        Ok(self)
    }

    /// Sets how much each example counts; an error if their number differs, or one is negative or not finite, or all
    /// are zero.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, DataError> {
        if weights.len() != self.len() {
            return Err(DataError::Lengths {
                what: "the column of weights".to_owned(),
                got: weights.len(),
                other: "the data".to_owned(),
                wanted: self.len(),
            });
        }
        if let Some(place) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            let finding =
                format!("the weight of example {} is {}, but weights are numbers ≥ 0", place + 1, weights[place]);
            return Err(DataError::Unfit { finding });
        }
        if weights.iter().all(|&w| w == 0.0) {
            return Err(DataError::Unfit { finding: "every weight is zero, so no example counts".to_owned() });
        }
        self.weights = Some(Arc::new(weights));
        (self.balanced, self.class_weights) = (false, None);
        Ok(self)
    }

    /// Multiplies the weights of the examples by a weight of their class; a class that is not named counts 1. They count in learning
    /// the decision; probabilities are those of the examples without them.
    ///
    /// # Errors
    /// If there is no target of classes, or a weight is below zero or not finite.
    pub fn with_class_weights(mut self, named: Vec<(String, f64)>) -> Result<Self, DataError> {
        let classes = self.target.as_ref().ok_or(DataError::NoTarget)?.classes()?;
        let factor = |label: &String| named.iter().find(|(other, _)| other == label).map_or(1.0, |(_, factor)| *factor);
        let factors: Vec<f64> = classes.labels.iter().map(factor).collect();
        let own = |i: usize| self.weights.as_ref().map_or(1.0, |given| given[i]);
        let weights = classes.codes.iter().enumerate().map(|(i, &c)| own(i) * factors[c as usize]).collect();
        self = self.with_weights(weights)?;
        self.class_weights = Some(Arc::new(named));
        Ok(self)
    }

    /// The weights of classes that are a factor in the weights, each with its label ([`Dataset::with_class_weights`]).
    pub fn class_weights(&self) -> Option<&[(String, f64)]> {
        self.class_weights.as_ref().map(|weights| weights.as_slice())
    }

    /// Multiplies the weights of the examples by n / (k · n_c), where n_c of the n examples are of class c and there are k classes: all
    /// classes then count alike. The numbers n_c are taken from all examples, which certificates pay for.
    ///
    /// # Errors
    /// If there is no target of classes.
    pub fn with_balanced_classes(mut self) -> Result<Self, DataError> {
        let classes = self.target.as_ref().ok_or(DataError::NoTarget)?.classes()?;
        let mut counts = vec![0_usize; classes.labels.len()];
        classes.codes.iter().for_each(|&c| counts[c as usize] += 1);
        let (n, k) = (self.len() as f64, counts.len() as f64);
        let factor = |i: usize| n / (k * counts[classes.codes[i] as usize] as f64);
        let weights = match &self.weights {
            None => (0..self.len()).map(factor).collect(),
            Some(given) => given.iter().enumerate().map(|(i, w)| w * factor(i)).collect(),
        };
        self.weights = Some(Arc::new(weights));
        self.balanced = true;
        Ok(self)
    }

    /// True if the weights balance the classes by their numbers ([`Dataset::with_balanced_classes`]).
    pub fn is_balanced(&self) -> bool {
        self.balanced
    }

    /// The way from a table to these examples; `None` for examples that were made in memory.
    pub fn preparation(&self) -> Option<&Preparation> {
        self.preparation.as_ref()
    }

    /// The same examples, with the way from a table to them.
    #[must_use]
    pub(crate) fn with_preparation(mut self, preparation: Preparation) -> Self {
        self.preparation = Some(preparation);
        self
    }

    /// The examples that were set apart from these, from which kernels learn their parameters ([`Formula::resolve`](crate::formula::Formula::resolve)).
    pub fn preparation_set(&self) -> Option<&PreparationSet> {
        self.preparation_set.as_ref()
    }

    /// The examples without those at the given places, which are set apart as their preparation set.
    #[must_use]
    pub(crate) fn setting_apart(&self, places: &[usize], share: f64) -> Self {
        let rest: Vec<usize> = (0..self.len()).filter(|i| places.binary_search(i).is_err()).collect();
        self.select(&rest).beside_set_apart(self.select(places), places, share)
    }

    /// The same examples beside others that were set apart at these places among all of them.
    #[must_use]
    pub(crate) fn beside_set_apart(mut self, others: Self, places: &[usize], share: f64) -> Self {
        self.preparation_set = Some(PreparationSet::new(others.without_preparation(), places, share));
        self
    }

    /// The same examples with numbers of their own where they are lent.
    #[must_use]
    pub fn to_own(mut self) -> Self {
        for view in &mut self.views {
            match &view.values {
                Values::Dense(rows) if rows.is_lent() => view.values = Values::Dense(Arc::new(rows.to_own())),
                Values::Dense32(rows) if rows.is_lent() => view.values = Values::Dense32(Arc::new(rows.to_own())),
                _ => {}
            }
        }
        self
    }

    /// The same examples without their target.
    #[must_use]
    pub fn without_target(mut self) -> Self {
        self.target = None;
        self
    }

    /// The same examples without the way from a table to them, and without a preparation set.
    #[must_use]
    pub(crate) fn without_preparation(mut self) -> Self {
        (self.preparation, self.preparation_set) = (None, None);
        self
    }

    /// The examples and, after them, those of another data set with the same views; without target and weights. The preparation counts as
    /// one by all of them.
    ///
    /// # Errors
    /// If a view is missing there, or is of another kind or width.
    pub fn joined(&self, more: &Self) -> Result<Self, DataError> {
        let join = |view: &View| {
            let Some(other) = more.view(&view.name) else {
                let remedy = "both sets of examples must have the same views".to_owned();
                return Err(DataError::NoSuch { what: "view", name: view.name.clone(), remedy });
            };
            let values = view.values.joined(other).map_err(|finding| DataError::Unfit {
                finding: format!("examples of view {} cannot be joined: {finding}", view.name),
            })?;
            Ok(View { name: view.name.clone(), values })
        };
        let preparation = self.preparation.as_ref().or(more.preparation.as_ref()).map(Preparation::of_joined);
        Ok(Self { preparation, ..Self::from_views(self.views.iter().map(join).collect::<Result<_, _>>()?)? })
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.views.first().map_or(0, |v| v.values.len())
    }

    /// True if there is no example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The views. Numbers that are copied out of them into another data set are numbers in memory: it does not know of the examples that
    /// scaled them, and whoever copies says so by [`Job::numbers_taken`](crate::job::Job::numbers_taken).
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// The view of a name.
    pub fn view(&self, name: &str) -> Option<&Values> {
        self.views.iter().find(|v| v.name == name).map(|v| &v.values)
    }

    /// The target, if there is one.
    pub fn target(&self) -> Option<&Target> {
        self.target.as_ref()
    }

    /// The weight of each example, if not all are alike.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_ref().map(|w| w.as_slice())
    }

    /// The examples at the given places, in that order.
    #[must_use]
    pub fn select(&self, keep: &[usize]) -> Self {
        Self {
            views: self.views.iter().map(|v| View { name: v.name.clone(), values: v.values.select(keep) }).collect(),
            target: self.target.as_ref().map(|t| t.select(keep)),
            weights: self.weights.as_ref().map(|w| Arc::new(keep.iter().map(|&i| w[i]).collect())),
            balanced: self.balanced,
            class_weights: self.class_weights.clone(),
            preparation: self.preparation.as_ref().map(Preparation::of_part),
            preparation_set: self.preparation_set.as_ref().map(PreparationSet::of_part),
        }
    }
}
