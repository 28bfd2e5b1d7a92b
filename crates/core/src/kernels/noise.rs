//! The noise kernel: a value where row and column are the same example.

use super::derivatives::KnownDerivatives;
use super::prepared::downcast;
use super::{Definite, Domain, Expression, Inexpressible, KernelEntry, KernelError, KernelFacts, Leaf, Prepared};
use super::{Derivatives, Sides};
use crate::data::{Kind, Values};
use crate::gram::{Gram, views::Identity};
use crate::params::{Params, Rule, Visit};
use crate::sources::{HERBRICH, Source};
use std::sync::Arc;

/// κ(x_i, x_j) = s if i = j, else 0: the same example, not an equal one.
///
/// # Source
/// Herbrich (2002), (3.15).
///
/// # Use when
/// Observation noise, a quadratic soft margin or jitter is wanted on the diagonal. A new example is never the same as a
/// training example.
///
/// # Cost
/// None.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// The value s on the diagonal.
    pub variance: f64,
}

impl Default for Noise {
    fn default() -> Self {
        Self { variance: 1.0 }
    }
}

impl Params for Noise {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("variance", &mut self.variance, Rule::AtLeast(0.0), "value on the diagonal");
    }
}

impl Leaf for Noise {
    fn entry(&self) -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        // only the same example has it
        KernelFacts {
            self_similarity: Some([0.0, self.variance]),
            never_negative: true,
            looks_at_data: false,
            ..KernelFacts::default()
        }
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        Ok(Expression::SameExample.scaled(self.variance))
    }

    fn boxed(&self) -> Box<dyn Leaf> {
        Box::new(self.clone())
    }

    fn eval(&self, rows: &Values, i: usize, cols: &Values, j: usize) -> f64 {
        if std::ptr::eq(rows, cols) && i == j { self.variance } else { 0.0 }
    }

    fn prepare(&self, values: &Values, _: Option<&Arc<dyn Prepared>>) -> Result<Arc<dyn Prepared>, KernelError> {
        Ok(Arc::new(Numbered { collection: Arc::new(()), places: (0..values.len()).collect() }))
    }

    fn gram_between(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        let (rows, cols): (Arc<Numbered>, Arc<Numbered>) = (downcast(rows, ENTRY.name)?, downcast(cols, ENTRY.name)?);
        Ok(Arc::new(if Arc::ptr_eq(&rows.collection, &cols.collection) {
            Identity::of(self.variance, rows.places.clone(), cols.places.clone())
        } else {
            Identity::crossed(self.variance, rows.places.len(), cols.places.len())
        }))
    }

    fn derivatives(&self, sides: &Sides) -> Result<Option<Arc<dyn Derivatives>>, KernelError> {
        let of = |noise: &Self| noise.gram(sides.rows(), sides.cols(), sides.same());
        let partials = vec![of(&Self { variance: 1.0 })?];
        Ok(Some(Arc::new(KnownDerivatives { gram: of(self)?, partials })))
    }

    /// A new example is never the same as another.
    fn input_gradient(&self, _: &[f64], _: &Values, _: &[f64], _: &mut [f64]) -> bool {
        true
    }
}

/// Examples by their places in the collection that was prepared.
struct Numbered {
    /// The collection that the places are in.
    collection: Arc<()>,
    places: Vec<usize>,
}

impl Prepared for Numbered {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn select(self: Arc<Self>, keep: &[usize]) -> Arc<dyn Prepared> {
        let places = keep.iter().map(|&k| self.places[k]).collect();
        Arc::new(Self { collection: Arc::clone(&self.collection), places })
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "noise",
    aliases: &["white"],
    formula: "s if x and y are the same example, else 0",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&HERBRICH, "(3.15)"),
    use_when: "noise, a quadratic soft margin or jitter is wanted on the diagonal",
    cost: "None.",
    make: || Box::new(Noise::default()),
};
