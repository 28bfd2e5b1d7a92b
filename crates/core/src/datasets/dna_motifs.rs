//! Strings of nucleotides, half of them with a hidden motif.
//!
//! The implanted motif problem (P. Pevzner & S.-H. Sze, Combinatorial Approaches to Finding Subtle Signals in DNA
//! Sequences, 2000): 60 letters, uniform over A, C, G and T; in strings of class `motif` one occurrence of a motif is
//! written over a random place. The motif is the consensus of the TATA box, TATAWAWR (P. Bucher, 1990), degenerate in
//! three letters: W is A or T, R is A or G. A string of class `none` has it by chance with probability 0.6 %.

use super::SetEntry;
use super::build::{count, halves, table};
use crate::data::{DataError, Field, FieldData, Table};
use crate::seed::Seed;

/// Letters of a string.
const LENGTH: usize = 60;
/// The letters that may stand at each place of the motif.
const MOTIF: [&[u8]; 8] = [b"T", b"A", b"T", b"A", b"AT", b"A", b"AT", b"AG"];

/// The entry.
pub(super) static DNA_MOTIFS: SetEntry = SetEntry {
    name: "dna_motifs",
    summary: "strings of 60 nucleotides, half of them with a degenerate motif (TATAWAWR) at a random place",
    task: "classification",
    examples: 400,
    source: "generated: the implanted motif problem of Pevzner & Sze (2000) with the TATA box consensus of Bucher (1990)",
    generated: true,
    make,
};

fn make(n: Option<usize>, seed: Seed) -> Result<Table, DataError> {
    let n = count("dna_motifs", n, DNA_MOTIFS.examples)?;
    let mut random = seed.stream("dna_motifs");
    let carries = halves(n, &mut random);
    let sequences = carries
        .iter()
        .map(|&carries| {
            let mut letters: Vec<u8> = (0..LENGTH).map(|_| b"ACGT"[random.below(4)]).collect();
            if carries {
                let start = random.below(LENGTH - MOTIF.len() + 1);
                for (letter, allowed) in letters[start..].iter_mut().zip(MOTIF) {
                    *letter = allowed[random.below(allowed.len())];
                }
            }
            letters.into_iter().map(char::from).collect::<String>()
        })
        .collect();
    let labels = carries.iter().map(|&carries| if carries { "motif" } else { "none" }).collect();
    let sequence = Field { name: "sequence".to_owned(), data: FieldData::Words(sequences) };
    let class = Field { name: "class".to_owned(), data: FieldData::Words(labels) };
    Ok(table("dna_motifs", n, vec![sequence], class))
}

/// True if the motif occurs anywhere.
#[cfg(test)]
pub(super) fn occurs(sequence: &str) -> bool {
    sequence
        .as_bytes()
        .windows(MOTIF.len())
        .any(|w| w.iter().zip(MOTIF).all(|(letter, allowed)| allowed.contains(letter)))
}
