//! The share of every position of an example in its kernel values.

use super::bind::look;
use super::{Formula, Node};
use crate::data::Dataset;
use crate::gram::Side;

impl Formula {
    /// The shares of the positions of the i-th new example in its values with the training examples at some places:
    /// positions × places row by row, so that every column adds up to κ. `None` unless the formula is a multiple of a
    /// kernel on strings that knows positions, normalised or not.
    pub fn shares(&self, new: &Dataset, i: usize, training: &Dataset, places: &[usize]) -> Option<Vec<f64>> {
        of_values(&self.0, new, i, training, places)
    }

    /// The shares of the positions of the i-th example in ⟨w, φ(x)⟩, where φ are the explicit features as
    /// [`Formula::features`] gives them and `weight` knows w by coordinate. `None` where there are none.
    pub fn shares_of_weights(&self, data: &Dataset, i: usize, weight: &dyn Fn(u32) -> f64) -> Option<Vec<f64>> {
        of_weights(&self.0, data, i, weight)
    }
}

fn of_values(node: &Node, new: &Dataset, i: usize, training: &Dataset, places: &[usize]) -> Option<Vec<f64>> {
    match node {
        Node::Scaled(c, inner) => {
            let mut shares = of_values(inner, new, i, training, places)?;
            shares.iter_mut().for_each(|s| *s *= c);
            Some(shares)
        }
        Node::Normalise(inner) => {
            let mut shares = of_values(inner, new, i, training, places)?;
            let cross = Formula((**inner).clone()).cross(&new.select(&[i]), &training.select(places)).ok()?;
            let factor = |own: f64| if own > 0.0 { 1.0 / own.sqrt() } else { 0.0 };
            let row = factor(*cross.self_similarities(Side::Rows)?.first()?);
            let cols: Vec<f64> = cross.self_similarities(Side::Columns)?.into_iter().map(factor).collect();
            for line in shares.chunks_mut(cols.len().max(1)) {
                line.iter_mut().zip(&cols).for_each(|(s, c)| *s *= row * c);
            }
            Some(shares)
        }
        Node::Kernel(bound) => {
            let (new, training) = (look(bound, new).ok()?, look(bound, training).ok()?);
            let mut shares = Vec::new();
            for (k, &j) in places.iter().enumerate() {
                let column = bound.kernel.shares(new, i, training, j)?;
                shares.resize(column.len() * places.len(), 0.0);
                column.iter().enumerate().for_each(|(position, s)| shares[position * places.len() + k] = *s);
            }
            Some(shares)
        }
        _ => None,
    }
}

fn of_weights(node: &Node, data: &Dataset, i: usize, weight: &dyn Fn(u32) -> f64) -> Option<Vec<f64>> {
    match node {
        // the factor belongs to K, not to the features
        Node::Scaled(_, inner) => of_weights(inner, data, i, weight),
        Node::Normalise(inner) => {
            let mut shares = of_weights(inner, data, i, weight)?;
            let own = Formula((**inner).clone()).cross(&data.select(&[i]), &data.select(&[i])).ok()?;
            let own = *own.self_similarities(Side::Rows)?.first()?;
            let norm = match inner.as_ref() {
                Node::Scaled(c, _) => (own / c).sqrt(),
                _ => own.sqrt(),
            };
            shares.iter_mut().for_each(|s| *s = if norm > 0.0 { *s / norm } else { 0.0 });
            Some(shares)
        }
        Node::Kernel(bound) => bound.kernel.shares_of_weights(look(bound, data).ok()?, i, weight),
        _ => None,
    }
}
