//! Spectral clustering by the random walk between examples.

use super::lloyd::{Coordinates, Division, Lloyd, Trouble};
use super::{enough, readout, sizes};
use crate::gram::{BlockMut, Gram, Pick, apply, show_bytes};
use crate::linalg::SolveError;
use crate::linalg::{KrylovOptions, TopEigen, symmetric_eigen, symmetric_eigen_bytes, top_eigen};
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, SolverReport, Task, Tolerates, Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::solvers::conjugate_gradient::not_finite;
use crate::sources::{NORMALISED_CUTS, Source};
use crate::watch::{Monitor, Phase, Progress, Status, Stop};
use rayon::prelude::*;

const NAME: &str = "spectral_clustering";
const WHAT: &str = "spectral clustering";
/// Largest number of examples for which a full decomposition takes no longer than a few products; one thread does it.
const MAX_EXAMPLES_FOR_FULL_SPECTRUM: usize = 256;
/// The most passes over K.
const MAX_PASSES: usize = 1000;
/// Relative accuracy of the eigenvectors.
const EIGENVECTOR_TOLERANCE: f64 = 1e-10;
/// Smallest eigenvalue of a component: those below it separate nothing, since a step of the random walk forgets them.
const MIN_EIGENVALUE: f64 = 1e-6;

/// D^(−1/2) K D^(−1/2) u_j = λ_j u_j, z_i = the rows of D^(−1/2) U for the k largest λ_j, divided by k-means; D = diag(Σ_j κ(x_i, x_j))
///
/// κ(x_i, x_j) ≥ 0 is the weight of the edge between two examples (and of the loop at one). The z_j are the eigenvectors of the
/// random walk D⁻¹K, and k-means on them is the relaxed normalised cut. A new example has z(x) = (1/d(x)) Σ_i κ(x, x_i) z_i/λ with
/// d(x) = Σ_i κ(x, x_i), which gives a training example its own z; the nearest centre c is that with the largest d(x)(⟨c, z(x)⟩ − ½‖c‖²), a
/// plain expansion. Far from all examples every κ is zero and the first cluster is told. The report's objective is the normalised cut
/// Σ_c cut(c, rest)/vol(c), which is never below `relaxed_cut` = Σ_j (1 − λ_j); its notes are the two last, `size_1`, … of each cluster,
/// `eigenvalue_1`, … and `restarts_alike`.
///
/// # Source
/// Shi & Malik (2000), the relaxation of the normalised cut; several clusters at once by k-means, as in U. von Luxburg (2007), A
/// Tutorial on Spectral Clustering, Statistics and Computing 17; the extension is Nyström's.
///
/// # Use when
/// Clusters hang together as chains or rings do, whatever their shape. Choose a kernel that is nearly zero between clusters.
///
/// # Cost
/// n² kernel values, stored where memory allows, and some ten passes over them, n² (k + 2) operations each; up to 256 examples
/// 9n³ at once. Predictions need all examples.
#[derive(Clone, Debug, PartialEq)]
pub struct SpectralClustering {
    /// k.
    pub clusters: usize,
    /// The number of starts of k-means.
    pub restarts: usize,
    /// The most passes of k-means.
    pub max_iterations: usize,
}

impl Default for SpectralClustering {
    fn default() -> Self {
        Self { clusters: 2, restarts: 10, max_iterations: 300 }
    }
}

impl Params for SpectralClustering {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("clusters", &mut self.clusters, Rule::AtLeast(1.0), "how many clusters");
        v.count(
            "restarts",
            &mut self.restarts,
            Rule::Between(1.0, 1000.0),
            "how many starts, the best of which is kept",
        );
        v.count("max_iterations", &mut self.max_iterations, Rule::AtLeast(1.0), "most passes over the examples");
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["spectral"],
    summary: "clusters that hang together, by the eigenvectors of a random walk",
    formula: "D⁻¹K zⱼ = λⱼ zⱼ, k-means on the rows of (z₁, …, z_k)",
    learns: Learns::Unsupervised,
    source: Source::new(&NORMALISED_CUTS, "the relaxation of the normalised cut"),
    use_when: "clusters hang together as chains or rings do, whatever their shape",
    cost: "n² kernel values, stored where memory allows, and some ten passes over them, n² (k + 2) operations each; up to 256 examples 9n³ at once. Predictions need all examples.",
    make: || Box::new(SpectralClustering::default()),
};

impl Machine for SpectralClustering {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits { tolerates: Tolerates::WithoutTheory, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let (n, k) = (task.len(), self.clusters);
        enough(NAME, n, k)?;
        watch.alive(Phase::KERNEL_MATRIX.into()).map_err(stopped)?;
        let full = n <= MAX_EXAMPLES_FOR_FULL_SPECTRUM;
        let extra = if full { symmetric_eigen_bytes(n) } else { 16 * n * (2 * k + 96) };
        let stored = task.budget.dense(&*task.gram, extra, WHAT).ok();
        let gram: &dyn Gram = stored.as_ref().map_or(&*task.gram, |dense| dense);
        let degrees = degrees(gram)?;
        let (found, mut status) = match gram.stored().filter(|_| full) {
            Some(values) => (whole(values, &degrees, k)?, Status::Converged),
            None => leading(gram, &degrees, k, task, watch)?,
        };
        let kept = found.values.iter().take_while(|&&v| v > MIN_EIGENVALUE).count();
        let (width, values) = (found.values.len(), &found.values[..kept]);
        // z = D^(−1/2) u; signs are of no matter to distances
        let rows = degrees.iter().zip(found.vectors.chunks_exact(width.max(1)));
        let z: Vec<f64> = rows.flat_map(|(d, u)| u[..kept].iter().map(move |u| u / d.sqrt())).collect();
        let space = Coordinates { rows: z, width: kept };
        let lloyd =
            Lloyd { clusters: k, restarts: self.restarts, max_iterations: self.max_iterations, seed: task.seed };
        let division = lloyd.divide(&space, watch).map_err(|trouble| refuse(trouble, k, gram))?;
        if status == Status::Converged {
            status = division.status;
        }
        let cut = normalised_cut(gram, &degrees, &division.assigned, k);
        let mut notes = sizes(&division.assigned, k);
        notes.extend(values.iter().enumerate().map(|(j, v)| (format!("eigenvalue_{}", j + 1), *v)));
        notes.push(("relaxed_cut".to_owned(), found.values.iter().map(|v| 1.0 - v).sum()));
        notes.push(("restarts_alike".to_owned(), division.alike as f64));
        let storage = match &stored {
            Some(_) => format!("kernel matrix stored in f64, {}", show_bytes(8 * n * n)),
            None => "kernel matrix streamed".to_owned(),
        };
        Ok(Fitted::new(
            expansion(&space, values, &division, k),
            readout(k),
            SolverReport {
                status,
                iterations: found.applications + division.iterations,
                objective: Some(cut),
                support: Some(n),
                storage,
                notes,
                ..SolverReport::direct()
            },
        ))
    }
}

/// d_i = Σ_j κ(x_i, x_j), all positive, from entries none of which is negative.
fn degrees(gram: &dyn Gram) -> Result<Vec<f64>, FitError> {
    let n = gram.shape().0;
    let row = |line: &mut Vec<f64>, i: usize| {
        gram.block(Pick::Range(i..i + 1), Pick::Range(0..n), BlockMut::new(line, 1, n));
        let negative = line.iter().position(|k| *k < 0.0).map(|j| (j, line[j]));
        (line.iter().sum::<f64>(), negative)
    };
    let rows: Vec<(f64, Option<(usize, f64)>)> = (0..n).into_par_iter().map_init(|| vec![0.0; n], row).collect();
    let wrong = |finding: String| Err(FitError::Param { machine: NAME, finding });
    if rows.iter().any(|(d, _)| !d.is_finite()) {
        return Err(FitError::Solve { machine: NAME, error: not_finite(gram) });
    }
    for (i, (degree, negative)) in rows.iter().enumerate() {
        if let Some((j, value)) = negative {
            return wrong(format!(
                "the kernel of examples {} and {} is {value}, and no edge weighs less than nothing; use a kernel that is \
                 never negative, such as rbf, or kernel_k_means",
                i + 1,
                j + 1
            ));
        }
        if *degree <= 0.0 {
            return wrong(format!(
                "the kernel of example {} with every example, itself too, is zero: nothing ties it to a cluster; leave it \
                 out, or use another kernel",
                i + 1
            ));
        }
    }
    Ok(rows.into_iter().map(|(d, _)| d).collect())
}

/// The k largest eigenvalues of D^(−1/2) K D^(−1/2) from a full decomposition.
fn whole(values: &[f64], degrees: &[f64], k: usize) -> Result<TopEigen, FitError> {
    let n = degrees.len();
    let mut matrix = values.to_vec();
    for (row, d) in matrix.chunks_exact_mut(n).zip(degrees) {
        row.iter_mut().zip(degrees).for_each(|(k, e)| *k /= (d * e).sqrt());
    }
    let eigen = symmetric_eigen(matrix, n).map_err(solve)?;
    let vectors = eigen.vectors.chunks_exact(n).flat_map(|row| row[..k].to_vec()).collect();
    let values = eigen.values[..k].to_vec();
    Ok(TopEigen { values, vectors, residuals: Vec::new(), applications: 0, converged: true })
}

/// The same by products with K.
fn leading(
    gram: &dyn Gram,
    degrees: &[f64],
    k: usize,
    task: &Task<'_>,
    watch: &dyn Monitor,
) -> Result<(TopEigen, Status), FitError> {
    let shrink = |x: &mut [f64], b: usize| {
        for (row, d) in x.chunks_exact_mut(b).zip(degrees) {
            row.iter_mut().for_each(|x| *x /= d.sqrt());
        }
    };
    let mut product = |v: &[f64], b: usize, out: &mut [f64]| {
        let mut v = v.to_vec();
        shrink(&mut v, b);
        apply(gram, &v, b, out);
        shrink(out, b);
    };
    let mut stop: Option<Stop> = None;
    let mut proceed = |done: usize, _: f64| {
        stop = watch.alive(Progress::new(Phase::new("eigenvectors"), done)).err();
        stop.is_none()
    };
    let options = KrylovOptions { tolerance: EIGENVECTOR_TOLERANCE, max_applications: MAX_PASSES, seed: task.seed };
    let found = top_eigen(degrees.len(), &mut product, k, &options, &mut proceed).map_err(solve)?;
    match stop {
        // half of the eigenvectors tell no clusters
        Some(reason) => Err(stopped(reason)),
        None if found.converged => Ok((found, Status::Converged)),
        None => Ok((found, Status::IterationLimit)),
    }
}

/// d(x)(⟨c, z(x)⟩ − ½‖c‖²) = Σ_i κ(x, x_i) (Σ_j c_j z_ij/λ_j − ½‖c‖²) for each centre c.
fn expansion(space: &Coordinates, values: &[f64], division: &Division, k: usize) -> Expansion {
    let width = space.width;
    let n = division.assigned.len();
    let (mut centres, mut counts) = (vec![0.0; k * width], vec![0.0; k]);
    for (row, &c) in space.rows.chunks_exact(width).zip(&division.assigned) {
        counts[c as usize] += 1.0;
        centres[c as usize * width..].iter_mut().zip(row).for_each(|(m, x)| *m += x);
    }
    for (centre, count) in centres.chunks_exact_mut(width).zip(&counts) {
        centre.iter_mut().for_each(|m| *m /= count);
    }
    let mut alpha = Vec::with_capacity(n * k);
    for row in space.rows.chunks_exact(width) {
        alpha.extend(centres.chunks_exact(width).map(|centre| {
            let along: f64 = centre.iter().zip(row).zip(values).map(|((c, z), v)| c * z / v).sum();
            along - 0.5 * centre.iter().map(|c| c * c).sum::<f64>()
        }));
    }
    Expansion { coefficients: Coefficients::Dual { points: (0..n).collect(), alpha }, offsets: vec![0.0; k] }
}

/// Σ_c cut(c, rest)/vol(c) = Σ_c (1 − Σ_{i,j∈c} κ(x_i, x_j)/Σ_{i∈c} d_i).
fn normalised_cut(gram: &dyn Gram, degrees: &[f64], assigned: &[u32], k: usize) -> f64 {
    let n = assigned.len();
    let (mut inside, mut within, mut volume) = (vec![0.0; n * k], vec![0.0; k], vec![0.0; k]);
    for (row, &c) in inside.chunks_exact_mut(k).zip(assigned) {
        row[c as usize] = 1.0;
    }
    let mut sums = vec![0.0; n * k];
    apply(gram, &inside, k, &mut sums);
    for (i, &c) in assigned.iter().enumerate() {
        within[c as usize] += sums[i * k + c as usize];
        volume[c as usize] += degrees[i];
    }
    within.iter().zip(&volume).map(|(w, v)| 1.0 - w / v).sum()
}

fn refuse(trouble: Trouble, clusters: usize, gram: &dyn Gram) -> FitError {
    match trouble {
        Trouble::Few(different) => FitError::Param {
            machine: NAME,
            finding: format!(
                "{clusters} clusters were asked for, but the eigenvectors of this kernel tell only {different} apart; ask for \
                 fewer, or use another kernel"
            ),
        },
        Trouble::Room(error) => error.into(),
        Trouble::NotFinite => solve(not_finite(gram)),
        Trouble::Stopped(reason) => stopped(reason),
    }
}

fn stopped(reason: Stop) -> FitError {
    solve(reason.into())
}

fn solve(error: SolveError) -> FitError {
    FitError::Solve { machine: NAME, error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::Output;
    use crate::prelude::{Dataset, Fit, Rows, Seed, linear, rbf};

    /// Two rings around each other, which no straight line and no ball tells apart.
    fn rings(n: usize) -> Dataset {
        let mut random = Seed(5).stream("rings");
        let point = |i: usize| {
            let (radius, angle) = (if i.is_multiple_of(2) { 1.0 } else { 4.0 }, i as f64 * 2.399_963);
            [radius * angle.cos() + 0.1 * random.normal(), radius * angle.sin() + 0.1 * random.normal()]
        };
        Dataset::new(Rows::new((0..n).flat_map(point).collect(), n, 2).unwrap())
    }

    fn matrix(data: &Dataset, gamma: f64) -> Vec<f64> {
        let n = data.len();
        let mut k = vec![0.0; n * n];
        crate::gram::fill(rbf(gamma).gram(data).unwrap().as_ref(), &mut k);
        k
    }

    /// Σ_c cut(c, rest)/vol(c), pair by pair.
    fn cut(k: &[f64], n: usize, codes: &[u32], clusters: u32) -> f64 {
        let mut sum = 0.0;
        for c in 0..clusters {
            let (mut out, mut all) = (0.0, 0.0);
            for i in (0..n).filter(|&i| codes[i] == c) {
                for j in 0..n {
                    all += k[i * n + j];
                    out += if codes[j] == c { 0.0 } else { k[i * n + j] };
                }
            }
            sum += out / all;
        }
        sum
    }

    #[test]
    fn rings_are_told_apart_on_both_roads_and_examples_keep_their_clusters() {
        // on both sides of the size from which only the leading eigenvectors are found
        for n in [200, 500] {
            let data = rings(n);
            let model = SpectralClustering::default().fit(&rbf(2.0), &data).unwrap();
            let Output::Labels { codes, .. } = model.predict(&data).unwrap() else { panic!() };
            assert!((0..n).all(|i| codes[i] as usize == i % 2), "{n}: a ring is a cluster");
            let report = &model.fitted.report;
            let note = |name: &str| report.notes.iter().find(|(k, _)| k == name).unwrap().1;
            assert_eq!((note("size_1"), note("size_2")), (n as f64 / 2.0, n as f64 / 2.0));
            assert!((note("eigenvalue_1") - 1.0).abs() < 1e-9, "the random walk keeps its number of walkers");
            let by_hand = cut(&matrix(&data, 2.0), n, &codes, 2);
            assert!((report.objective.unwrap() - by_hand).abs() < 1e-9);
            assert!(note("relaxed_cut") <= by_hand + 1e-9 && note("relaxed_cut") > by_hand - 0.05);
            // between and around the rings
            let new = Dataset::new(Rows::new(vec![0.2, 0.9, -3.0, 2.6], 2, 2).unwrap());
            let Output::Labels { codes, .. } = model.predict(&new).unwrap() else { panic!() };
            assert_eq!(codes, [0, 1]);
        }
    }

    #[test]
    fn the_extension_gives_training_examples_their_own_coordinates() {
        let (n, k) = (80, 3);
        let data = rings(n);
        let matrix = matrix(&data, 0.5);
        let degrees: Vec<f64> = matrix.chunks_exact(n).map(|row| row.iter().sum()).collect();
        let found = whole(&matrix, &degrees, k).unwrap();
        let z: Vec<f64> = (0..n * k).map(|p| found.vectors[p] / degrees[p / k].sqrt()).collect();
        for i in 0..n {
            for j in 0..k {
                let walked: f64 = (0..n).map(|l| matrix[i * n + l] * z[l * k + j]).sum();
                assert!((walked / (degrees[i] * found.values[j]) - z[i * k + j]).abs() < 1e-10);
            }
        }
        // and the scores are d(x)(⟨c, z⟩ − ½‖c‖²), so that the nearest centre has the largest
        let model = SpectralClustering { clusters: k, ..SpectralClustering::default() }.fit(&rbf(0.5), &data).unwrap();
        let scores = model.scores(&data).unwrap();
        let Output::Labels { codes, .. } = model.predict(&data).unwrap() else { panic!() };
        let mut centres = vec![vec![0.0; k]; k];
        for (c, centre) in centres.iter_mut().enumerate() {
            let of: Vec<usize> = (0..n).filter(|&i| codes[i] as usize == c).collect();
            for (j, m) in centre.iter_mut().enumerate() {
                *m = of.iter().map(|&i| z[i * k + j]).sum::<f64>() / of.len() as f64;
            }
        }
        for i in 0..n {
            for (c, centre) in centres.iter().enumerate() {
                let along: f64 = (0..k).map(|j| centre[j] * z[i * k + j] - 0.5 * centre[j] * centre[j]).sum();
                assert!((scores[i * k + c] - degrees[i] * along).abs() < 1e-9, "{i} {c}");
            }
        }
    }

    #[test]
    fn kernels_below_zero_and_examples_without_edges_are_refused_in_words() {
        let rows = |values: &[f64]| Dataset::new(Rows::new(values.to_vec(), values.len(), 1).unwrap());
        let machine = SpectralClustering::default();
        let said = machine.fit(&linear(), &rows(&[1.0, 2.0, -1.0])).unwrap_err().to_string();
        assert!(said.contains("examples 1 and 3 is -1") && said.contains("kernel_k_means"), "{said}");
        let said = machine.fit(&linear(), &rows(&[1.0, 0.0, 2.0])).unwrap_err().to_string();
        assert!(said.contains("example 2 with every example"), "{said}");
        let said = SpectralClustering { clusters: 4, ..machine }.fit(&linear(), &rows(&[1.0, 2.0, 3.0])).unwrap_err();
        assert!(said.to_string().contains("4 clusters need as many examples"), "{said}");
    }
}
