//! Rank-one kernels f(x) f(y).

use super::prepared::downcast;
use super::{Definite, Domain, Expression, Inexpressible, KernelEntry, KernelError, Leaf, Prepared};
use crate::data::{Kind, Rows, Scalar, Values};
use crate::gram::{Gram, LowRank};
use crate::params::{Choice, Params, Rule, Visit};
use crate::sources::{HERBRICH, Source};
use std::sync::Arc;

/// Real functions of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// ‖x‖.
    Norm,
    /// Σ_j x_j.
    Sum,
    /// One coordinate.
    Coordinate,
}

impl Choice for Feature {
    fn options(&self) -> &'static [&'static str] {
        &["norm", "sum", "coordinate"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        *self = [Self::Norm, Self::Sum, Self::Coordinate][position];
    }
}

/// κ(x, y) = f(x) f(y)
///
/// # Source
/// Herbrich (2002), Thm. 2.20: a kernel for any real function f.
///
/// # Use when
/// One known feature should count beside another kernel, or multiply it: `rank_one(f=norm) * rbf`.
///
/// # Cost
/// One multiplication for each pair. In Rust, any function is a [`LowRank`] matrix of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct RankOne {
    /// The function f.
    pub f: Feature,
    /// The coordinate, from one; only for `f=coordinate`.
    pub index: usize,
}

impl Default for RankOne {
    fn default() -> Self {
        Self { f: Feature::Norm, index: 1 }
    }
}

impl Params for RankOne {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.choice("f", &mut self.f, "the function f");
        v.count("index", &mut self.index, Rule::AtLeast(1.0), "which coordinate, from 1, for f=coordinate");
    }
}

impl RankOne {
    fn feature<S: Scalar>(&self, coordinates: impl Iterator<Item = (usize, S)>) -> f64 {
        match self.f {
            Feature::Norm => coordinates.map(|(_, x)| x.wide() * x.wide()).sum::<f64>().sqrt(),
            Feature::Sum => coordinates.map(|(_, x)| x.wide()).sum(),
            Feature::Coordinate => coordinates.filter(|&(j, _)| j + 1 == self.index).map(|(_, x)| x.wide()).sum(),
        }
    }

    fn of(&self, values: &Values, i: usize) -> f64 {
        match values {
            Values::Dense(r) => self.feature(r.row(i).iter().copied().enumerate()),
            Values::Dense32(r) => self.feature(r.row(i).iter().copied().enumerate()),
            Values::Sparse(r) => self.feature(r.row(i).iter().map(|c| (c.index as usize, c.value))),
            Values::Sparse32(r) => self.feature(r.row(i).iter().map(|c| (c.index as usize, c.value))),
            Values::Text(_) | Values::Index(_) | Values::Items(_) => f64::NAN,
        }
    }
}

impl Leaf for RankOne {
    fn entry(&self) -> &'static KernelEntry {
        &ENTRY
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        Ok(Expression::OfEach { f: self.f, index: self.index })
    }

    fn boxed(&self) -> Box<dyn Leaf> {
        Box::new(self.clone())
    }

    fn eval(&self, rows: &Values, i: usize, cols: &Values, j: usize) -> f64 {
        self.of(rows, i) * self.of(cols, j)
    }

    fn prepare(&self, values: &Values, _: Option<&Arc<dyn Prepared>>) -> Result<Arc<dyn Prepared>, KernelError> {
        if values.kind() != Kind::Vectors {
            return Err(KernelError::Kind { kernel: ENTRY.name, wants: Kind::Vectors, has: values.kind() });
        }
        let column: Vec<f64> = (0..values.len()).map(|i| self.of(values, i)).collect();
        let n = column.len();
        match Rows::new(column, n, 1) {
            Some(features) => Ok(Arc::new(Features(Arc::new(features)))),
            None => unreachable!("one feature for each example"),
        }
    }

    fn gram_between(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        let (rows, cols): (Arc<Features>, Arc<Features>) = (downcast(rows, ENTRY.name)?, downcast(cols, ENTRY.name)?);
        match LowRank::new(Arc::clone(&rows.0), Arc::clone(&cols.0)) {
            Some(gram) => Ok(Arc::new(gram)),
            None => unreachable!("both sides have one feature"),
        }
    }

    fn input_gradient(&self, alpha: &[f64], points: &Values, z: &[f64], out: &mut [f64]) -> bool {
        if points.kind() != Kind::Vectors {
            return false;
        }
        let total: f64 = alpha.iter().enumerate().map(|(i, a)| a * self.of(points, i)).sum();
        let norm = self.feature(z.iter().copied().enumerate());
        for (j, (o, z)) in out.iter_mut().zip(z).enumerate() {
            *o += total
                * match self.f {
                    // a kink at the origin
                    Feature::Norm => {
                        if norm > 0.0 {
                            z / norm
                        } else {
                            0.0
                        }
                    }
                    Feature::Sum => 1.0,
                    Feature::Coordinate => f64::from(u8::from(j + 1 == self.index)),
                };
        }
        true
    }
}

/// f(x) of every example.
struct Features(Arc<Rows<f64>>);

impl Prepared for Features {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn select(self: Arc<Self>, keep: &[usize]) -> Arc<dyn Prepared> {
        Arc::new(Self(Arc::new(self.0.select(keep))))
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "rank_one",
    aliases: &[],
    formula: "f(x) f(y)",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&HERBRICH, "Thm. 2.20"),
    use_when: "one known feature should count beside another kernel, or multiply it",
    cost: "One multiplication for each pair. In Rust, any function is a LowRank matrix of one column.",
    make: || Box::new(RankOne::default()),
};
