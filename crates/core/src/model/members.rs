//! Neighbours and ensembles in a model file: what they are in the document, and their arrays.

use super::tensors::{Packer, Unpacker};
use crate::machines::{Ensemble, Neighbours, Net, Quadric, Stump, WeightedNet, Weighting};
use serde::{Deserialize, Serialize};

/// The part of the document about neighbours.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredNeighbours {
    k: usize,
    by_distance: bool,
}

/// The part of the document about an ensemble.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredEnsemble {
    width: usize,
    nets: Vec<StoredNet>,
    /// The number of quadrics; files written before there were any do not have it.
    #[serde(default, skip_serializing_if = "is_zero")]
    quadrics: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The place of a network and the number of its weights.
#[derive(Serialize, Deserialize)]
struct StoredNet {
    output: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vote: Option<f64>,
    centres: usize,
    outputs: usize,
}

/// Writes everything but the points, which all expansions in examples have alike.
pub(super) fn pack_neighbours(pack: &mut Packer, neighbours: &Neighbours, outputs: usize) -> StoredNeighbours {
    let count = neighbours.points.len();
    pack.f64s("own", &[count], &neighbours.own);
    pack.f64s("values", &[count, outputs], &neighbours.values);
    pack.f64s("example_weights", &[count], &neighbours.weights);
    StoredNeighbours { k: neighbours.k, by_distance: neighbours.weighting == Weighting::Distance }
}

/// Reads and checks them.
pub(super) fn unpack_neighbours(
    unpack: &Unpacker<'_>,
    stored: &StoredNeighbours,
    points: Vec<usize>,
    outputs: usize,
) -> Result<Neighbours, String> {
    let count = points.len();
    let (own_shape, own) = unpack.get_f64s("own")?;
    let (value_shape, values) = unpack.get_f64s("values")?;
    let (weight_shape, weights) = unpack.get_f64s("example_weights")?;
    let shapes = own_shape == [count] && value_shape == [count, outputs] && weight_shape == [count];
    let finite = [&own, &values, &weights].into_iter().flatten().all(|x| x.is_finite());
    if !shapes || !finite || !(1..=count).contains(&stored.k) || weights.iter().any(|&w| w <= 0.0) {
        return Err("its neighbours do not fit together".to_owned());
    }
    let weighting = if stored.by_distance { Weighting::Distance } else { Weighting::Uniform };
    Ok(Neighbours { points, own, values, weights, k: stored.k, weighting })
}

/// Writes an ensemble: stumps as columns, networks end to end.
pub(super) fn pack_ensemble(pack: &mut Packer, ensemble: &Ensemble) -> StoredEnsemble {
    let Ensemble { width, used, stumps, nets, quadrics } = ensemble;
    let places = |pack: &mut Packer, name: &str, places: Vec<u64>| pack.u64s(name, &[places.len()], &places);
    let numbers = |pack: &mut Packer, name: &str, numbers: Vec<f64>| pack.f64s(name, &[numbers.len()], &numbers);
    places(pack, "used", used.iter().map(|&j| j as u64).collect());
    places(pack, "stump.output", stumps.iter().map(|s| s.output as u64).collect());
    places(pack, "stump.coordinate", stumps.iter().map(|s| s.coordinate as u64).collect());
    numbers(pack, "stump.threshold", stumps.iter().map(|s| s.threshold).collect());
    numbers(pack, "stump.vote", stumps.iter().map(|s| s.vote).collect());
    numbers(pack, "net.centres", nets.iter().flat_map(|s| &s.net.centres).copied().collect());
    numbers(pack, "net.widths", nets.iter().flat_map(|s| &s.net.widths).copied().collect());
    numbers(pack, "net.weights", nets.iter().flat_map(|s| &s.net.weights).copied().collect());
    numbers(pack, "net.offsets", nets.iter().flat_map(|s| &s.net.offsets).copied().collect());
    let seat = |s: &WeightedNet| StoredNet {
        output: s.output,
        vote: s.vote,
        centres: s.net.widths.len(),
        outputs: s.net.offsets.len(),
    };
    if !quadrics.is_empty() {
        numbers(pack, "quadric.weights", quadrics.iter().flat_map(|q| &q.weights).copied().collect());
        numbers(pack, "quadric.centres", quadrics.iter().flat_map(|q| &q.centre).copied().collect());
        numbers(pack, "quadric.roots", quadrics.iter().flat_map(|q| &q.root).copied().collect());
    }
    StoredEnsemble { width: *width, nets: nets.iter().map(seat).collect(), quadrics: quadrics.len() }
}

/// Reads and checks it.
pub(super) fn unpack_ensemble(
    unpack: &Unpacker<'_>,
    stored: &StoredEnsemble,
    outputs: usize,
) -> Result<Ensemble, String> {
    let wrong = || "its ensemble does not fit together".to_owned();
    let places = |name: &str| -> Result<Vec<usize>, String> {
        let (_, places) = unpack.get_u64s(name)?;
        Ok(places.into_iter().map(|p| usize::try_from(p).unwrap_or(usize::MAX)).collect())
    };
    let numbers = |name: &str| unpack.get_f64s(name).map(|(_, numbers)| numbers);
    let used = places("used")?;
    let (of, coordinates) = (places("stump.output")?, places("stump.coordinate")?);
    let (thresholds, votes) = (numbers("stump.threshold")?, numbers("stump.vote")?);
    if [coordinates.len(), thresholds.len(), votes.len()] != [of.len(); 3] {
        return Err(wrong());
    }
    let stumps = (0..of.len())
        .map(|i| Stump { output: of[i], coordinate: coordinates[i], threshold: thresholds[i], vote: votes[i] })
        .collect();
    let mut arrays =
        [numbers("net.centres")?, numbers("net.widths")?, numbers("net.weights")?, numbers("net.offsets")?]
            .map(Vec::into_iter);
    let mut nets = Vec::new();
    for seat in &stored.nets {
        let product = |a: usize, b: usize| a.checked_mul(b).ok_or_else(wrong);
        let sizes =
            [product(seat.centres, used.len())?, seat.centres, product(seat.centres, seat.outputs)?, seat.outputs];
        if arrays.iter().zip(sizes).any(|(array, size)| array.len() < size) {
            return Err(wrong());
        }
        let [centres, widths, weights, offsets] = &mut arrays;
        let net = Net {
            centres: centres.take(sizes[0]).collect(),
            widths: widths.take(sizes[1]).collect(),
            weights: weights.take(sizes[2]).collect(),
            offsets: offsets.take(sizes[3]).collect(),
        };
        nets.push(WeightedNet { output: seat.output, vote: seat.vote, net });
    }
    if arrays.iter().any(|array| array.len() > 0) {
        return Err(wrong());
    }
    let mut quadrics = Vec::new();
    if stored.quadrics > 0 {
        let (weights, centres, roots) =
            (numbers("quadric.weights")?, numbers("quadric.centres")?, numbers("quadric.roots")?);
        // sizes that do not divide are found by the check of the whole
        let count = stored.quadrics;
        let whole = [&weights, &centres, &roots].into_iter().all(|a| !a.is_empty() && a.len() % count == 0);
        if !whole {
            return Err(wrong());
        }
        let part = |all: &[f64], i: usize| all[i * (all.len() / count)..(i + 1) * (all.len() / count)].to_vec();
        quadrics = (0..count)
            .map(|i| Quadric { weights: part(&weights, i), centre: part(&centres, i), root: part(&roots, i) })
            .collect();
    }
    let ensemble = Ensemble { width: stored.width, used, stumps, nets, quadrics };
    ensemble.check(outputs).map(|()| ensemble)
}
