//! The coefficients of an expansion in a model file, in any of their forms.

use super::file::finite;
use super::tensors::{Packer, Unpacker};
use super::{members, weights};
use crate::machines::{Coefficients, Expansion, Part, PartNames, Readout};
use serde::{Deserialize, Serialize};

/// The part of the document about coefficients.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stored {
    Dual,
    Ball,
    Pairwise {
        count: usize,
    },
    Primal(weights::StoredWeights),
    Neighbours(members::StoredNeighbours),
    #[serde(rename = "committee")]
    Ensemble(members::StoredEnsemble),
    Parts(Vec<StoredPart>),
}

/// One of several parts: its term of the kernel, and the form of its coefficients.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredPart {
    term: usize,
    coefficients: Stored,
}

impl Stored {
    /// True if columns without weight are left out of the file, which only readers of a later version understand.
    pub(super) fn leaves_columns_out(&self) -> bool {
        matches!(self, Self::Primal(stored) if stored.columns.is_some())
    }
}

/// Adds coefficients and offsets to a file.
pub(super) fn pack(pack: &mut Packer, expansion: &Expansion) -> Stored {
    let outputs = expansion.outputs();
    // several parts have their own
    if expansion.parts().is_empty() {
        pack.f64s("offsets", &[outputs], &expansion.offsets);
    }
    let points = |pack: &mut Packer, points: &[usize]| {
        pack.u64s("points", &[points.len()], &points.iter().map(|&p| p as u64).collect::<Vec<_>>());
    };
    match &expansion.coefficients {
        Coefficients::Dual { points: places, alpha } => {
            points(pack, places);
            pack.f64s("alpha", &[places.len(), outputs], alpha);
            Stored::Dual
        }
        Coefficients::Pairwise { points: places, classes, alpha, count } => {
            points(pack, places);
            pack.u32s("classes", &[places.len()], classes);
            pack.f64s("alpha", &[places.len(), count - 1], alpha);
            Stored::Pairwise { count: *count }
        }
        Coefficients::Ball { points: places, alpha } => {
            points(pack, places);
            pack.f64s("alpha", &[places.len(), outputs], alpha);
            Stored::Ball
        }
        Coefficients::Primal { weights, width, scale } => {
            Stored::Primal(weights::pack(pack, weights, outputs, *width, *scale))
        }
        Coefficients::Neighbours(neighbours) => {
            points(pack, &neighbours.points);
            Stored::Neighbours(members::pack_neighbours(pack, neighbours, outputs))
        }
        Coefficients::Ensemble(ensemble) => Stored::Ensemble(members::pack_ensemble(pack, ensemble)),
        Coefficients::Parts(parts) => {
            let one = |(i, Part { term, expansion }): (usize, &Part)| {
                let coefficients = pack.within(&format!("part.{i}."), |pack| self::pack(pack, expansion));
                StoredPart { term: *term, coefficients }
            };
            Stored::Parts(parts.iter().enumerate().map(one).collect())
        }
    }
}

/// Reads and checks them: so many outputs, and points that are places among so many examples.
pub(super) fn unpack(
    stored: &Stored,
    unpack: &Unpacker<'_>,
    readout: &Readout,
    (outputs, examples): (usize, usize),
) -> Result<Expansion, String> {
    match (stored, readout) {
        (Stored::Parts(parts), Readout::Parts(names)) => return unpack_parts(parts, names, unpack, readout, examples),
        (Stored::Parts(_), _) | (_, Readout::Parts(_)) => return Err("its parts do not fit its readout".to_owned()),
        _ => {}
    }
    unpack_one(stored, unpack, readout, (outputs, examples))
}

/// Several parts with their names, each of which has one form of coefficients.
fn unpack_parts(
    stored: &[StoredPart],
    names: &[PartNames],
    unpack: &Unpacker<'_>,
    readout: &Readout,
    examples: usize,
) -> Result<Expansion, String> {
    let named_alike = |(i, part): (usize, &PartNames)| names[..i].iter().any(|other| other.name == part.name);
    if stored.is_empty() || stored.len() != names.len() || names.iter().enumerate().any(named_alike) {
        return Err("its parts do not fit its readout".to_owned());
    }
    let part = |(i, (stored, names)): (usize, (&StoredPart, &PartNames))| -> Result<Part, String> {
        if matches!(stored.coefficients, Stored::Parts(_)) {
            return Err("one of its parts has parts".to_owned());
        }
        let sizes = (names.coordinates.len(), examples);
        let expansion = unpack_one(&stored.coefficients, &unpack.within(&format!("part.{i}.")), readout, sizes)?;
        Ok(Part { term: stored.term, expansion })
    };
    stored.iter().zip(names).enumerate().map(part).collect::<Result<_, _>>().map(Expansion::of_parts)
}

/// One expansion.
fn unpack_one(
    stored: &Stored,
    unpack: &Unpacker<'_>,
    readout: &Readout,
    (outputs, examples): (usize, usize),
) -> Result<Expansion, String> {
    let (_, offsets) = finite(unpack.get_f64s("offsets")?)?;
    if offsets.len() != outputs || outputs == 0 {
        return Err("its readout does not fit its outputs".to_owned());
    }
    let coefficients = unpack_coefficients(stored, unpack, readout, &offsets, examples)?;
    Ok(Expansion { coefficients, offsets })
}

fn unpack_coefficients(
    stored: &Stored,
    unpack: &Unpacker<'_>,
    readout: &Readout,
    offsets: &[f64],
    examples: usize,
) -> Result<Coefficients, String> {
    if let Stored::Primal(stored) = stored {
        let weights = weights::unpack(unpack, stored, offsets.len())?;
        return Ok(Coefficients::Primal { weights, width: stored.width, scale: stored.scale });
    }
    if let Stored::Ensemble(stored) = stored {
        return members::unpack_ensemble(unpack, stored, offsets.len()).map(Coefficients::Ensemble);
    }
    let (_, points) = unpack.get_u64s("points")?;
    let points: Vec<usize> = points.into_iter().map(|p| usize::try_from(p).unwrap_or(usize::MAX)).collect();
    if points.iter().any(|&p| p >= examples) {
        return Err("a coefficient belongs to an example that is not in the file".to_owned());
    }
    if let Stored::Neighbours(stored) = stored {
        return members::unpack_neighbours(unpack, stored, points, offsets.len()).map(Coefficients::Neighbours);
    }
    let (shape, alpha) = finite(unpack.get_f64s("alpha")?)?;
    match stored {
        Stored::Pairwise { count } => {
            let (_, classes) = unpack.get_u32s("classes")?;
            let count = *count;
            let fits = count >= 2
                && shape == [points.len(), count - 1]
                && classes.len() == points.len()
                && classes.iter().all(|&c| (c as usize) < count)
                && classes.windows(2).all(|p| p[0] <= p[1])
                && count.checked_mul(count - 1).is_some_and(|twice| offsets.len() == twice / 2);
            match (fits, readout) {
                (true, Readout::Vote { labels }) if labels.len() == count => {
                    Ok(Coefficients::Pairwise { points, classes, alpha, count })
                }
                _ => Err("its coefficients do not fit its classes".to_owned()),
            }
        }
        Stored::Ball if shape == [points.len(), 1] && offsets.len() == 1 => Ok(Coefficients::Ball { points, alpha }),
        Stored::Dual if shape == [points.len(), offsets.len()] => Ok(Coefficients::Dual { points, alpha }),
        _ => Err("its coefficients have the wrong shape".to_owned()),
    }
}
