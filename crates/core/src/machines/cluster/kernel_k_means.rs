//! k-means in feature space.

use super::inputs::Inputs;
use super::lloyd::{Division, Images, Lloyd, Trouble, squared_norms};
use super::{enough, readout, sizes};
use crate::data::Rows;
use crate::gram::{Gram, Side, apply, diagonal, show_bytes};
use crate::linalg::dot;
use crate::machines::{
    Coefficients, Expansion, Features, FitError, Fitted, Learns, Machine, MachineEntry, SolverReport, Task, Tolerates,
    Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::solvers::conjugate_gradient::not_finite;
use crate::sources::{KERNEL_K_MEANS, Source};
use crate::watch::Monitor;

const NAME: &str = "kernel_k_means";
const WHAT: &str = "kernel k-means";

/// min Σ_i ‖φ(x_i) − m_c(i)‖² with m_c the mean of cluster c in feature space: each example joins the nearest mean until none moves.
///
/// ‖φ(x) − m_c‖² = κ(x, x) − 2/n_c Σ_{i∈c} κ(x_i, x) + ‖m_c‖², and κ(x, x) is the same for all clusters, so the scores
/// f_c(x) = 2/n_c Σ_{i∈c} κ(x_i, x) − ‖m_c‖² decide exactly. The best of several starts is kept; it is a local optimum. Where κ is
/// not positive definite nothing says that the objective falls. Clusters are numbered by their first examples. The report's objective
/// is the sum of squared distances; its notes are `size_1`, … of each cluster, `explained` (1 − objective over that of a single
/// cluster) and `restarts_alike` (how many starts ended as well as the best).
///
/// # Source
/// Dhillon, Guan & Kulis (2004), section 2, with all weights 1; starts by k-means++ of D. Arthur & S. Vassilvitskii (2007).
///
/// # Use when
/// Groups are to be found that are round in feature space, and how many is known or can be tried.
///
/// # Cost
/// n² kernel values, stored where memory allows, and n² × clusters × restarts operations a pass; streamed, n² kernel values a
/// pass for all restarts together. Predictions need all examples. Of a kernel with explicit dense features (`linear`) neither: n × width ×
/// clusters × restarts operations a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelKMeans {
    /// k.
    pub clusters: usize,
    /// The number of starts.
    pub restarts: usize,
    /// The most passes.
    pub max_iterations: usize,
}

impl Default for KernelKMeans {
    fn default() -> Self {
        Self { clusters: 2, restarts: 10, max_iterations: 300 }
    }
}

impl Params for KernelKMeans {
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
    aliases: &["kernel_kmeans", "k_means"],
    summary: "clusters around means in feature space",
    formula: "min Σᵢ ‖φ(xᵢ) − m_c(i)‖², m_c the mean of cluster c",
    learns: Learns::Unsupervised,
    source: Source::new(&KERNEL_K_MEANS, "section 2"),
    use_when: "groups are to be found that are round in feature space, and how many is known or can be tried",
    cost: "n² kernel values, stored where memory allows, and n² × clusters × restarts operations a pass; streamed, n² kernel values a pass for all restarts together. Predictions need all examples. Of a kernel with explicit dense features (linear) neither: n × width × clusters × restarts operations a pass.",
    make: || Box::new(KernelKMeans::default()),
};

impl Machine for KernelKMeans {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits { tolerates: Tolerates::ConditionallyDefinite, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let (n, k) = (task.len(), self.clusters);
        enough(NAME, n, k)?;
        // with features, a pass takes n · width · k operations instead of n² · k, and no matrix
        let few = |features: &&(&Rows<f64>, f64)| features.1 >= 0.0 && features.0.width() <= n;
        if let Some((rows, scale)) = task.features.as_ref().and_then(Features::dense).as_ref().filter(few) {
            return self.on_features(rows, *scale, task, watch);
        }
        // every pass takes all kernel values; a stored matrix gives them at once
        let stored = task.budget.dense(&*task.gram, (16 * n * k).saturating_mul(self.restarts), WHAT).ok();
        let gram: &dyn Gram = stored.as_ref().map_or(&*task.gram, |dense| dense);
        let own = task.gram.self_similarities(Side::Rows).unwrap_or_else(|| diagonal(gram));
        let space = Images { gram, own };
        let found = self.lloyd(task).divide(&space, watch).map_err(|trouble| refuse(trouble, k, gram))?;
        let weights = weights(&found.assigned, k);
        let mut products = vec![0.0; n * (k + 1)];
        apply(gram, &weights, k + 1, &mut products);
        let norms = squared_norms(&weights, &products, k + 1);
        let alpha = weights.chunks_exact(k + 1).flat_map(|row| row[..k].iter().map(|w| 2.0 * w)).collect();
        let storage = match &stored {
            Some(_) => format!("kernel matrix stored in f64, {}", show_bytes(8 * n * n)),
            None => "kernel matrix streamed".to_owned(),
        };
        let coefficients = Coefficients::Dual { points: (0..n).collect(), alpha };
        Ok(told(&found, coefficients, &norms, space.own.iter().sum(), Some(n), storage))
    }
}

impl KernelKMeans {
    fn lloyd(&self, task: &Task<'_>) -> Lloyd {
        Lloyd { clusters: self.clusters, restarts: self.restarts, max_iterations: self.max_iterations, seed: task.seed }
    }

    /// The same where φ(x) = √s x: means are vectors, and predictions need no example.
    fn on_features(
        &self,
        rows: &Rows<f64>,
        scale: f64,
        task: &Task<'_>,
        watch: &dyn Monitor,
    ) -> Result<Fitted, FitError> {
        let (k, width) = (self.clusters, rows.width());
        let space = Inputs::new(rows, scale);
        let found = self.lloyd(task).divide(&space, watch).map_err(|trouble| refuse(trouble, k, &*task.gram))?;
        let means = space.means(&weights(&found.assigned, k), k + 1);
        let norms: Vec<f64> = means.chunks_exact(width).map(|mean| scale * dot(mean, mean)).collect();
        // f_c(x) = 2 s⟨m_c, x⟩ − s‖m_c‖²; coordinate by coordinate
        let of_coordinate = |j: usize| means.chunks_exact(width).take(k).map(move |mean| 2.0 * mean[j]);
        let weights = (0..width).flat_map(of_coordinate).collect();
        let coefficients = Coefficients::Primal { weights, width, scale };
        let storage = "explicit features, no kernel matrix".to_owned();
        Ok(told(&found, coefficients, &norms, space.own().iter().sum(), None, storage))
    }
}

/// The means 1/n_c of each cluster, and one more column with the mean of all for the scatter of a single cluster.
fn weights(assigned: &[u32], k: usize) -> Vec<f64> {
    let n = assigned.len();
    let mut counts = vec![0.0; k];
    assigned.iter().for_each(|&c| counts[c as usize] += 1.0);
    let mut weights = vec![0.0; n * (k + 1)];
    for (row, &c) in weights.chunks_exact_mut(k + 1).zip(assigned) {
        row[c as usize] = 1.0 / counts[c as usize];
        row[k] = 1.0 / n as f64;
    }
    weights
}

/// The fit of a division: ‖m_c‖² of each cluster and of the mean of all, and Σ κ(x, x).
fn told(
    found: &Division,
    coefficients: Coefficients,
    norms: &[f64],
    lengths: f64,
    support: Option<usize>,
    storage: String,
) -> Fitted {
    let k = norms.len() - 1;
    let scatter = lengths - found.assigned.len() as f64 * norms[k];
    let mut notes = sizes(&found.assigned, k);
    notes.push(("explained".to_owned(), if scatter > 0.0 { 1.0 - found.objective / scatter } else { 0.0 }));
    notes.push(("restarts_alike".to_owned(), found.alike as f64));
    Fitted::new(
        Expansion { coefficients, offsets: norms[..k].iter().map(|norm| -norm).collect() },
        readout(k),
        SolverReport {
            status: found.status,
            iterations: found.iterations,
            objective: Some(found.objective),
            support,
            storage,
            notes,
            ..SolverReport::direct()
        },
    )
}

fn refuse(trouble: Trouble, clusters: usize, gram: &dyn Gram) -> FitError {
    match trouble {
        Trouble::Few(different) => FitError::Param {
            machine: NAME,
            finding: format!(
                "{clusters} clusters were asked for, but this kernel sees only {different} different examples; ask for \
                 fewer, or use another kernel"
            ),
        },
        Trouble::Room(error) => error.into(),
        Trouble::NotFinite => FitError::Solve { machine: NAME, error: not_finite(gram) },
        Trouble::Stopped(reason) => FitError::stopped(NAME, reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Budget;
    use crate::job::Job;
    use crate::machines::Output;
    use crate::prelude::{Dataset, Fit, Formula, Rows, Seed, linear, rbf};

    fn heaps(n: usize, seed: u64) -> Rows<f64> {
        let mut random = Seed(seed).stream("heaps");
        let centres = [[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]];
        let values = (0..n).flat_map(|i| centres[i % 3].map(|c| c + 0.5 * random.normal())).collect();
        Rows::new(values, n, 2).unwrap()
    }

    fn codes(machine: &KernelKMeans, kernel: &Formula, data: &Dataset) -> (Vec<u32>, f64) {
        let model = machine.fit(kernel, data).unwrap();
        let Output::Labels { codes, .. } = model.predict(data).unwrap() else { panic!() };
        (codes, model.fitted.report.objective.unwrap())
    }

    /// Σ_i ‖φ(x_i) − m_c(i)‖² = Σ_i K_ii − Σ_c (1/n_c) Σ_{i,j∈c} K_ij, from the definition.
    fn objective(k: &[f64], n: usize, codes: &[u32]) -> f64 {
        let mut sum: f64 = (0..n).map(|i| k[i * n + i]).sum();
        for c in 0..=*codes.iter().max().unwrap() {
            let of: Vec<usize> = (0..n).filter(|&i| codes[i] == c).collect();
            let pairs: f64 = of.iter().flat_map(|&i| of.iter().map(move |&j| k[i * n + j])).sum();
            sum -= pairs / of.len() as f64;
        }
        sum
    }

    #[test]
    fn no_division_of_few_examples_is_better() {
        let n = 9;
        for seed in 0..6 {
            let data = Dataset::new(heaps(n, seed));
            let kernel = rbf(0.4);
            let mut k = vec![0.0; n * n];
            crate::gram::fill(kernel.gram(&data).unwrap().as_ref(), &mut k);
            let machine = KernelKMeans { clusters: 3, restarts: 40, ..KernelKMeans::default() };
            let (found, told) = codes(&machine, &kernel, &data);
            assert!((objective(&k, n, &found) - told).abs() < 1e-12);
            // all 3^9 divisions
            let best = (0..3_u32.pow(9))
                .map(|mut code| (0..n).map(|_| (code % 3, code /= 3).0).collect::<Vec<u32>>())
                .filter(|codes| (0..3).all(|c| codes.contains(&c)))
                .map(|codes| objective(&k, n, &codes))
                .fold(f64::INFINITY, f64::min);
            assert!((best - told).abs() < 1e-12, "{seed}: {best} {told}");
        }
    }

    #[test]
    fn heaps_are_found_scores_are_distances_and_memory_changes_nothing() {
        let n = 300;
        let rows = heaps(n, 1);
        let data = Dataset::new(rows.clone());
        let machine = KernelKMeans { clusters: 3, ..KernelKMeans::default() };
        let model = machine.fit(&linear(), &data).unwrap();
        let Output::Labels { codes, labels, .. } = model.predict(&data).unwrap() else { panic!() };
        assert_eq!(labels, ["cluster1", "cluster2", "cluster3"]);
        let wrong = (0..n).filter(|&i| codes[i] as usize != i % 3).count();
        assert!(wrong < 9, "{wrong} of 300 are in another heap");
        // the linear kernel's means are those of the inputs
        let scores = model.scores(&data).unwrap();
        for c in 0..3 {
            let of: Vec<usize> = (0..n).filter(|&i| codes[i] == c).collect();
            let mean = [0, 1].map(|d| of.iter().map(|&i| rows.row(i)[d]).sum::<f64>() / of.len() as f64);
            for i in 0..n {
                let x = rows.row(i);
                let apart = (x[0] - mean[0]).powi(2) + (x[1] - mean[1]).powi(2);
                let own = x[0] * x[0] + x[1] * x[1];
                assert!((own - scores[i * 3 + c as usize] - apart).abs() < 1e-10);
            }
        }
        // without a matrix the objective is that of the matrix
        assert_eq!(model.fitted.report.storage, "explicit features, no kernel matrix");
        let mut k = vec![0.0; n * n];
        crate::gram::fill(linear().gram(&data).unwrap().as_ref(), &mut k);
        let by_definition = objective(&k, n, &codes);
        assert!((model.fitted.report.objective.unwrap() - by_definition).abs() < 1e-9 * by_definition);
        let single = objective(&k, n, &vec![0; n]);
        let explained = model.fitted.report.notes.iter().find(|(name, _)| name == "explained").unwrap().1;
        assert!((explained - (1.0 - by_definition / single)).abs() < 1e-9);
        let kernel = rbf(0.2);
        let stored = machine.fit(&kernel, &data).unwrap();
        let job = Job { budget: Budget { memory: 0 }, ..Job::new(&machine, &kernel) };
        let streamed = job.run(&data, &crate::watch::Silent).unwrap();
        assert_eq!(streamed.fitted.report.storage, "kernel matrix streamed");
        assert_eq!(streamed.predict(&data).unwrap().labels(), stored.predict(&data).unwrap().labels());
    }

    #[test]
    fn what_cannot_be_divided_is_refused_in_words() {
        let rows = |values: &[f64]| Dataset::new(Rows::new(values.to_vec(), values.len(), 1).unwrap());
        let three = KernelKMeans { clusters: 3, ..KernelKMeans::default() };
        let said = three.fit(&rbf(1.0), &rows(&[1.0, 2.0])).unwrap_err().to_string();
        assert!(said.contains("3 clusters need as many examples, and there are 2"), "{said}");
        let said = three.fit(&rbf(1.0), &rows(&[1.0, 2.0, 1.0, 2.0])).unwrap_err().to_string();
        assert!(said.contains("only 2 different examples"), "{said}");
        let whole = KernelKMeans { clusters: 1, ..three };
        let model = whole.fit(&rbf(1.0), &rows(&[1.0, 2.0, 4.0])).unwrap();
        assert_eq!(model.fitted.report.notes[0], ("size_1".to_owned(), 3.0));
    }
}
