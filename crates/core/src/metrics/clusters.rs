//! Agreement of clusters with classes that the clustering has not seen.

use crate::data::{DataError, Target};
use crate::machines::Output;
use serde::Serialize;

/// The agreement of clusters with classes; their names and order do not matter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterMetrics {
    /// The number of examples.
    pub n: usize,
    /// 1 for the same division, 0 on average for a random one of the same sizes; it may be negative.
    pub adjusted_rand: f64,
    /// Mutual information over the mean of both entropies: 1 for the same division, 0 for independent ones.
    pub normalised_mutual_information: f64,
    /// The names of the clusters.
    pub clusters: Vec<String>,
    /// The classes.
    pub labels: Vec<String>,
    /// Rows are classes, columns clusters.
    pub contingency: Vec<Vec<usize>>,
}

/// Compares clusters with classes.
///
/// # Source
/// Hubert & Arabie (1985), Comparing Partitions, Journal of Classification 2, for the adjusted Rand index; Strehl & Ghosh (2002),
/// Journal of Machine Learning Research 3, for the normalised mutual information, with the arithmetic mean of the entropies.
///
/// # Errors
/// If there are not as many classes as predictions, or the predictions are numbers.
pub fn agreement(output: &Output, truth: &Target) -> Result<ClusterMetrics, DataError> {
    super::same_length(output, truth)?;
    let Output::Labels { labels: clusters, codes, .. } = output else {
        return Err(DataError::Usage { finding: "numbers are no clusters to be compared with classes".to_owned() });
    };
    let truth = truth.classes()?;
    let mut contingency = vec![vec![0; clusters.len()]; truth.labels.len()];
    for (&cluster, &class) in codes.iter().zip(&truth.codes) {
        contingency[class as usize][cluster as usize] += 1;
    }
    Ok(ClusterMetrics {
        n: codes.len(),
        adjusted_rand: adjusted_rand(&contingency),
        normalised_mutual_information: normalised_mutual_information(&contingency),
        clusters: clusters.clone(),
        labels: truth.labels,
        contingency,
    })
}

/// The sums of the rows and of the columns.
fn margins(table: &[Vec<usize>]) -> (Vec<f64>, Vec<f64>) {
    let rows: Vec<f64> = table.iter().map(|row| row.iter().sum::<usize>() as f64).collect();
    let mut columns = vec![0.0; table.first().map_or(0, Vec::len)];
    for row in table {
        columns.iter_mut().zip(row).for_each(|(sum, &n)| *sum += n as f64);
    }
    (rows, columns)
}

/// (Σ C(n_ij, 2) − E) / (M − E): pairs together in both, against what they are on average (E) and at most (M).
fn adjusted_rand(table: &[Vec<usize>]) -> f64 {
    let (rows, columns) = margins(table);
    let pairs = |n: f64| n * (n - 1.0) / 2.0;
    let of = |sums: &[f64]| sums.iter().map(|&n| pairs(n)).sum::<f64>();
    let both: f64 = table.iter().flatten().map(|&n| pairs(n as f64)).sum();
    let (a, b, all) = (of(&rows), of(&columns), pairs(rows.iter().sum()));
    // the same division: also where every pair is together, or none is, and nothing is left to chance
    if both == a && both == b {
        return 1.0;
    }
    let expected = a * b / all;
    (both - expected) / (f64::midpoint(a, b) - expected)
}

/// 2 I(U; V) / (H(U) + H(V)).
fn normalised_mutual_information(table: &[Vec<usize>]) -> f64 {
    let (rows, columns) = margins(table);
    let n: f64 = rows.iter().sum();
    let entropy = |sums: &[f64]| sums.iter().filter(|s| **s > 0.0).map(|s| -(s / n) * (s / n).ln()).sum::<f64>();
    let (h, g) = (entropy(&rows), entropy(&columns));
    // one class and one cluster tell the same
    if h == 0.0 && g == 0.0 {
        return 1.0;
    }
    let mut information = 0.0;
    for (row, sum) in table.iter().zip(&rows) {
        for (&together, column) in row.iter().zip(&columns).filter(|(t, _)| **t > 0) {
            let together = together as f64;
            information += together / n * (together * n / (sum * column)).ln();
        }
    }
    (information / f64::midpoint(h, g)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(classes: &[u32], clusters: &[u32]) -> ClusterMetrics {
        let names: Vec<String> = classes.iter().map(|c| format!("class {c}")).collect();
        let count = clusters.iter().max().unwrap() + 1;
        let output = Output::Labels {
            labels: (1..=count).map(|c| format!("cluster{c}")).collect(),
            codes: clusters.to_vec(),
            scores: vec![0.0; clusters.len() * count as usize],
            probabilities: None,
        };
        agreement(&output, &Target::from(names)).unwrap()
    }

    #[test]
    fn both_numbers_are_those_of_scikit_learn() {
        // adjusted_rand_score(truth, found) and normalized_mutual_info_score(truth, found) of scikit-learn 1.9.1
        let truth = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2];
        for (found, rand, information) in [
            ([0, 0, 1, 1, 1, 1, 2, 2, 0, 2], 0.431_818_181_818_181_8, 0.618_065_646_292_154_3),
            ([0; 10], 0.0, 0.0),
            ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 0.0, 0.642_137_561_217_943),
            ([1, 1, 1, 2, 2, 2, 0, 0, 0, 0], 1.0, 1.0),
            ([0, 1, 0, 1, 0, 1, 0, 1, 0, 1], -0.125, 0.038_135_699_435_877_156),
        ] {
            let m = compared(&truth, &found);
            assert!((m.adjusted_rand - rand).abs() < 1e-14, "{found:?}: {}", m.adjusted_rand);
            let apart = (m.normalised_mutual_information - information).abs();
            assert!(apart < 1e-14, "{found:?}: {}", m.normalised_mutual_information);
            assert_eq!(m.contingency.iter().flatten().sum::<usize>(), 10);
        }
        let one = compared(&[0, 0, 0], &[0, 0, 0]);
        assert_eq!((one.adjusted_rand, one.normalised_mutual_information), (1.0, 1.0));
        let apart = compared(&[0, 1, 2], &[2, 0, 1]);
        assert_eq!((apart.adjusted_rand, apart.normalised_mutual_information), (1.0, 1.0));
    }

    #[test]
    fn the_index_counts_pairs() {
        let (classes, clusters) = ([0, 0, 1, 1, 1, 2, 2, 0], [1, 1, 0, 0, 1, 0, 2, 2]);
        // Σ over pairs by hand: together in both, in the first, in the second
        let (mut both, mut a, mut b, mut all) = (0.0, 0.0, 0.0, 0.0);
        for i in 0..8 {
            for j in 0..i {
                let (s, t) = (classes[i] == classes[j], clusters[i] == clusters[j]);
                both += f64::from(u8::from(s && t));
                a += f64::from(u8::from(s));
                b += f64::from(u8::from(t));
                all += 1.0;
            }
        }
        let wanted = (both - a * b / all) / (f64::midpoint(a, b) - a * b / all);
        assert!((compared(&classes, &clusters).adjusted_rand - wanted).abs() < 1e-15);
    }
}
