//! State that the kernel of a model has learned, as a file keeps it: centres, words with numbers, and landmarks, each kind counted by
//! itself in the order of the print.

use super::file::{StoredView, finite, pack_views, pack_words, unpack_views, unpack_words};
use super::tensors::{Packer, Unpacker};
use crate::formula::{Formula, Landmarks, Learned, State, StateKind};
use crate::gram::views::Centring;

/// The learned state of a kernel in the document.
pub(super) struct StoredLearned {
    /// The number of centres.
    pub(super) centrings: usize,
    /// The number of centres that were learned from a part of the examples: all or none.
    pub(super) parts: usize,
    /// The number of kernels that have learned something besides their parameters.
    pub(super) kernels: usize,
    /// The landmarks of each approximation.
    pub(super) landmarks: Vec<Vec<StoredView>>,
}

/// Adds the arrays of what a kernel has learned.
pub(super) fn pack(pack: &mut Packer, kernel: &Formula) -> StoredLearned {
    // centres and what kernels have learned are kept apart, each in the order of the print
    let (mut centrings, mut learned, mut landmarks) = (Vec::new(), Vec::new(), Vec::new());
    for state in kernel.state() {
        match state {
            State::Centre(centring) => centrings.push(centring),
            State::Kernel(words) => learned.push(words),
            State::Landmarks(Landmarks { examples, map, .. }) => {
                let i = landmarks.len();
                pack.f64s(format!("landmarks.{i}.map"), &[map.len()], &map);
                landmarks.push(pack.within(&format!("landmarks.{i}."), |p| pack_views(p, &examples)));
            }
        }
    }
    for (i, centring) in centrings.iter().enumerate() {
        pack.f64s(format!("centring.{i}"), &[centring.means.len()], &centring.means);
        pack.f64s(format!("centring.{i}.total"), &[1], &[centring.total]);
        if !centring.part.is_empty() {
            let part: Vec<u64> = centring.part.iter().map(|&p| p as u64).collect();
            pack.u64s(format!("centring.{i}.part"), &[part.len()], &part);
        }
    }
    for (i, Learned { words, numbers }) in learned.iter().enumerate() {
        pack_words(pack, &format!("learned.{i}"), words);
        pack.f64s(format!("learned.{i}.numbers"), &[numbers.len()], numbers);
    }
    let parts = centrings.iter().filter(|c| !c.part.is_empty()).count();
    StoredLearned { centrings: centrings.len(), parts, kernels: learned.len(), landmarks }
}

/// The learned state of the kernel of a file, in the order of its print.
pub(super) fn unpack(stored: &StoredLearned, unpack: &Unpacker<'_>, kernel: &Formula) -> Result<Vec<State>, String> {
    let (mut centrings, mut learned) = (0..stored.centrings, 0..stored.kernels);
    let mut landmarks = stored.landmarks.iter().enumerate();
    let gaps = kernel.meets_gaps();
    let mut state = Vec::new();
    for kind in kernel.state_kinds() {
        state.push(match kind {
            StateKind::Centre => {
                let i = centrings.next().ok_or("its kernel has another number of centres than the file")?;
                State::Centre(unpack_centring(unpack, i, stored.parts > 0)?)
            }
            StateKind::Landmarks => {
                let (i, views) =
                    landmarks.next().ok_or("its kernel has another number of approximations than the file")?;
                let (_, map) = finite(unpack.get_f64s(&format!("landmarks.{i}.map"))?)?;
                let examples = unpack_views(&unpack.within(&format!("landmarks.{i}.")), views, gaps)?;
                State::Landmarks(Landmarks::new(examples, map))
            }
            StateKind::Kernel => {
                let i = learned.next().ok_or("what its kernel has learned does not fit it")?;
                let (_, numbers) = finite(unpack.get_f64s(&format!("learned.{i}.numbers"))?)?;
                State::Kernel(Learned { words: unpack_words(unpack, &format!("learned.{i}"))?, numbers })
            }
        });
    }
    if landmarks.next().is_some() {
        return Err("its kernel has another number of approximations than the file".to_owned());
    }
    // an array that a file counts but does not have is told by its name
    if let Some(i) = centrings.next() {
        unpack_centring(unpack, i, stored.parts > 0)?;
        return Err("its kernel has another number of centres than the file".to_owned());
    }
    if let Some(i) = learned.next() {
        unpack.get_f64s(&format!("learned.{i}.numbers"))?;
        return Err("what its kernel has learned does not fit it".to_owned());
    }
    Ok(state)
}

/// The i-th centre of a file; of some of the examples where the file has such.
fn unpack_centring(unpack: &Unpacker<'_>, i: usize, of_part: bool) -> Result<Centring, String> {
    let (_, means) = finite(unpack.get_f64s(&format!("centring.{i}"))?)?;
    let (_, total) = finite(unpack.get_f64s(&format!("centring.{i}.total"))?)?;
    let mut part = Vec::new();
    if of_part {
        let (_, places) = unpack.get_u64s(&format!("centring.{i}.part"))?;
        part = places.into_iter().map(|p| usize::try_from(p).unwrap_or(usize::MAX)).collect();
    }
    if part.iter().any(|&p| p >= means.len()) || part.is_empty() == of_part {
        return Err("a centre is that of examples that are not in the file".to_owned());
    }
    Ok(Centring { means, total: *total.first().ok_or("a centring has no total")?, part })
}
