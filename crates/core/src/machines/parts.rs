//! Several parts: expansions that each see one term of the kernel, and the names of what they give.

use super::Expansion;
use serde::{Deserialize, Serialize};

/// The part of a fit that sees one term κ_t of a kernel κ = Σ_t κ_t, most often one view of the examples:
/// ```text
/// f_c(x) = Σ_i α_ic κ_t(x_i, x) + b_c
/// ```
/// Methods that project two views into a common space have one for each view.
///
/// # Source
/// Hardoon, Szedmak & Shawe-Taylor, Canonical correlation analysis: an overview with application to learning methods, *Neural
/// Computation* 16 (2004): each view is projected by weights on its own kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// t, the place of the term among [`Similarity::parts`](crate::gram::Similarity::parts).
    pub term: usize,
    /// Weights on the term alone.
    pub expansion: Expansion,
}

/// The names of a part and of its coordinates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartNames {
    /// The part: [`Similarity::part_names`](crate::gram::Similarity::part_names) has one for each term.
    pub name: String,
    /// Its coordinates.
    pub coordinates: Vec<String>,
}

/// The numbers that one part of a model predicts.
#[derive(Clone, Debug, PartialEq)]
pub struct PartOutput {
    /// The names.
    pub names: PartNames,
    /// n × coordinates numbers, row by row.
    pub values: Vec<f64>,
}

impl PartOutput {
    /// The number of coordinates of an example.
    pub fn width(&self) -> usize {
        self.names.coordinates.len()
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.values.len() / self.width().max(1)
    }

    /// True if there is no example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Scores of all parts, row by row, taken apart.
pub(super) fn split(parts: &[PartNames], scores: &[f64]) -> Vec<PartOutput> {
    let all: usize = parts.iter().map(|part| part.coordinates.len()).sum();
    let mut start = 0;
    let one = |names: &PartNames| {
        let columns = start..start + names.coordinates.len();
        start = columns.end;
        let values = scores.chunks_exact(all.max(1)).flat_map(|row| &row[columns.clone()]).copied().collect();
        PartOutput { names: names.clone(), values }
    };
    parts.iter().map(one).collect()
}

/// Numbers of several parts for the same examples, each with its number of columns, part beside part in each row.
pub(crate) fn beside(parts: &[(usize, &[f64])]) -> Vec<f64> {
    let n = parts.first().map_or(0, |(width, values)| values.len() / (*width).max(1));
    let row = |i: usize| parts.iter().flat_map(move |(width, values)| &values[i * width..(i + 1) * width]).copied();
    (0..n).flat_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_set_beside_one_another_come_apart_again() {
        let names = |name: &str, width: usize| PartNames {
            name: name.to_owned(),
            coordinates: (1..=width).map(|k| format!("c{k}")).collect(),
        };
        let (a, b) = ([1.0, 2.0, 5.0, 6.0], [3.0, 7.0]);
        let rows = beside(&[(2, &a), (1, &b)]);
        assert_eq!(rows, [1.0, 2.0, 3.0, 5.0, 6.0, 7.0]);
        let apart = split(&[names("a", 2), names("b", 1)], &rows);
        assert_eq!(apart.iter().map(|part| part.values.clone()).collect::<Vec<_>>(), [a.to_vec(), b.to_vec()]);
        assert_eq!(apart.iter().map(|part| (part.width(), part.len())).collect::<Vec<_>>(), [(2, 2), (1, 2)]);
        assert_eq!(apart[1].names.name, "b");
    }
}
