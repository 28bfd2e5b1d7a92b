//! Panels: models without a fold or an example, several in one expansion where they share their points.

use crate::machines::{Coefficients, Expansion};
use std::collections::BTreeMap;

/// Largest number of coefficients of all panels of a predictor: 128 MiB of them.
pub const MAX_PANEL_COEFFICIENTS: usize = 1 << 24;

/// One expansion for one or several members.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// members × outputs scores, member by member; points are places in the pool.
    pub expansion: Expansion,
    /// The number of models.
    pub members: usize,
    /// The classes that its only member has learned, where it has not learned all.
    pub known: Option<Vec<u32>>,
}

/// Puts expansions with weights on examples into one, member by member: a matrix between new and old examples then serves all
/// of them. Those of another form, and of members that do not know every class, stay by themselves.
///
/// The members keep their order.
pub fn merged(members: Vec<(Expansion, Option<Vec<u32>>)>) -> Vec<Panel> {
    let alone = |(expansion, known): (Expansion, Option<Vec<u32>>)| Panel { expansion, members: 1, known };
    let outputs = members.first().map_or(0, |(e, _)| e.outputs());
    let parts: Option<Vec<(&[usize], &[f64])>> = members
        .iter()
        .map(|(e, known)| match &e.coefficients {
            Coefficients::Dual { points, alpha } if known.is_none() && e.outputs() == outputs => {
                Some((points.as_slice(), alpha.as_slice()))
            }
            // two classes are one pair, and a coefficient is one of that pair
            Coefficients::Pairwise { points, alpha, count: 2, .. } if known.is_none() => {
                Some((points.as_slice(), alpha.as_slice()))
            }
            _ => None,
        })
        .collect();
    let Some(parts) = parts.filter(|parts| parts.len() > 1) else {
        return members.into_iter().map(alone).collect();
    };
    let all: BTreeMap<usize, usize> = {
        let mut points: Vec<usize> = parts.iter().flat_map(|(points, _)| *points).copied().collect();
        points.sort_unstable();
        points.dedup();
        points.into_iter().enumerate().map(|(place, point)| (point, place)).collect()
    };
    let width = members.len() * outputs;
    let mut alpha = vec![0.0; all.len() * width];
    for (m, (points, own)) in parts.iter().enumerate() {
        for (point, row) in points.iter().zip(own.chunks_exact(outputs.max(1))) {
            if let Some(place) = all.get(point) {
                alpha[place * width + m * outputs..][..outputs].copy_from_slice(row);
            }
        }
    }
    let offsets = members.iter().flat_map(|(e, _)| e.offsets.iter().copied()).collect();
    let coefficients = Coefficients::Dual { points: all.into_keys().collect(), alpha };
    vec![Panel { expansion: Expansion { coefficients, offsets }, members: members.len(), known: None }]
}

impl Panel {
    /// The number of its coefficients.
    pub fn numbers(&self) -> usize {
        numbers(&self.expansion)
    }
}

/// The number of the coefficients of an expansion.
fn numbers(expansion: &Expansion) -> usize {
    match &expansion.coefficients {
        Coefficients::Dual { alpha, .. } | Coefficients::Pairwise { alpha, .. } | Coefficients::Ball { alpha, .. } => {
            alpha.len()
        }
        Coefficients::Primal { weights, .. } => weights.len(),
        Coefficients::Neighbours(found) => found.values.len(),
        Coefficients::Ensemble(ensemble) => {
            let nets: usize = ensemble.nets.iter().map(|s| s.net.centres.len() + s.net.weights.len()).sum();
            ensemble.stumps.len() + nets
        }
        Coefficients::Parts(parts) => parts.iter().map(|part| numbers(&part.expansion)).sum(),
    }
}
