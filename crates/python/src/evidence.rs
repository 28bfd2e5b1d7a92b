//! Tests with kernels: two samples, dependence, and the spectrum beyond the sample.

use crate::convert::{List, dataset, raise};
use crate::kernel::parse;
use crate::run::{guarded, run};
use mercer::data::{Dataset, Repeats, Target};
use mercer::geometry::{Labels, target_gram};
use mercer::gram::Budget;
use mercer::hypothesis_tests::{
    Chance, Dependence, Judgement, PValue, Stability, Statistic, dependence, linear_two_sample, mmd_bound, mmd_bound_p,
    two_sample,
};
use mercer::prelude::Seed;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The level of the distribution-free limit.
const LEVEL: f64 = 0.05;

/// Puts a p-value into a dictionary, with where it comes from, what it guarantees, and what that rests on where some examples are equal.
fn put(told: &Bound<'_, PyDict>, p: PValue, repeats: Repeats) -> PyResult<()> {
    told.set_item("p", p.value)?;
    told.set_item("by", p.null.to_string())?;
    told.set_item("copies", repeats.told())?;
    told.set_item("guarantee", repeats.qualified(p.null.guarantee().words()))
}

/// Two samples; `statistic` is unbiased, biased, bootstrap or linear.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn mmd_test<'py>(
    py: Python<'py>,
    kernel: &str,
    first: &Bound<'_, PyList>,
    second: &Bound<'_, PyList>,
    statistic: &str,
    draws: usize,
    seed: u64,
    radius: Option<f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let (formula, one, two) = (parse(kernel)?, dataset(first)?, dataset(second)?);
    let chance = match statistic {
        "unbiased" => Some(Chance::Permute(Statistic::Unbiased)),
        "biased" => Some(Chance::Permute(Statistic::Biased)),
        "bootstrap" => Some(Chance::WildBootstrap),
        "linear" => None,
        other => {
            let message = format!("there is no statistic called {other:?}; use unbiased, biased, bootstrap or linear");
            return Err(PyValueError::new_err(message));
        }
    };
    let marks: Vec<bool> = (0..one.len() + two.len()).map(|i| i < one.len()).collect();
    let told = PyDict::new(py);
    let size = marks.len().saturating_mul(marks.len());
    let pooled = || -> Result<_, mercer::Error> {
        let data = one.joined(&two)?;
        let (kernel, gram) = formula.of_pool(&data, Seed(seed))?;
        Ok((kernel.to_string(), gram, data.repeats()))
    };
    let Some(chance) = chance else {
        let found = run(py, (threads, size), None, None, |watch| -> Result<_, mercer::Error> {
            let (kernel, gram, repeats) = pooled()?;
            Ok((kernel, linear_two_sample(gram.as_ref(), &marks, Seed(seed), watch)?, repeats))
        })?;
        let (kernel, found, repeats) = found.map_err(raise)?;
        told.set_item("kernel", kernel)?;
        told.set_item("n", (found.sizes[0], found.sizes[1]))?;
        told.set_item("mmd2", found.value)?;
        put(&told, found.p, repeats)?;
        return Ok(told);
    };
    let found = run(py, (threads, size.saturating_mul(draws)), None, None, |watch| -> Result<_, mercer::Error> {
        let (kernel, gram, repeats) = pooled()?;
        let found = two_sample(gram.as_ref(), &marks, chance, draws, Seed(seed), Budget::default(), watch)?;
        Ok((kernel, found, repeats))
    })?;
    let (kernel, found, repeats) = found.map_err(raise)?;
    told.set_item("kernel", kernel)?;
    told.set_item("n", (found.sizes[0], found.sizes[1]))?;
    told.set_item("mmd2", if statistic == "unbiased" { found.unbiased } else { found.biased })?;
    told.set_item("biased", found.biased)?;
    told.set_item("unbiased", found.unbiased)?;
    told.set_item("critical", found.critical)?;
    put(&told, found.p, repeats)?;
    // the bound needs a kernel that does not know the data
    let fixed = formula.is_resolved() && !formula.needs_all_examples();
    if let Some(radius) = radius.or_else(|| formula.radius()).filter(|_| fixed) {
        told.set_item("limit", mmd_bound(found.sizes, radius, LEVEL))?;
        told.set_item("p_bound", mmd_bound_p(&found, radius).value)?;
    }
    Ok(told)
}

fn put_dependence(told: &Bound<'_, PyDict>, found: &Dependence, repeats: Repeats) -> PyResult<()> {
    told.set_item("n", found.n)?;
    told.set_item("hsic", found.biased)?;
    told.set_item("hsic_unbiased", found.unbiased)?;
    told.set_item("alignment", found.alignment)?;
    put(told, found.p, repeats)?;
    told.set_item("p_unbiased", found.p_unbiased.value)?;
    told.set_item("p_gamma", found.gamma.value)
}

/// Two parts of the same examples, each with its kernel.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn hsic_test<'py>(
    py: Python<'py>,
    kernel: &str,
    views: &Bound<'_, PyList>,
    other: &str,
    others: &Bound<'_, PyList>,
    draws: usize,
    seed: u64,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let (k, l, x, y) = (parse(kernel)?, parse(other)?, dataset(views)?, dataset(others)?);
    let size = x.len().saturating_mul(x.len()).saturating_mul(draws);
    let found = run(py, (threads, size), None, None, |watch| -> Result<_, mercer::Error> {
        let seed = Seed(seed);
        let k = k.resolve(&x, seed)?;
        let a = k.training_gram(&x)?;
        // permuted is what the second kernel compares
        let (l, b) = l.of_pool(&y, seed)?;
        let found = dependence(a.as_ref(), b.as_ref(), draws, seed, Budget::default(), watch)?;
        // rows are equal where both of their parts are
        let mut whole = x.clone();
        for view in y.views() {
            whole = whole.with_view(&format!("other {}", view.name), view.values.clone())?;
        }
        Ok(([k.to_string(), l.to_string()], found, whole.repeats()))
    })?;
    let (kernels, found, repeats) = found.map_err(raise)?;
    let told = PyDict::new(py);
    told.set_item("kernels", kernels)?;
    put_dependence(&told, &found, repeats)?;
    Ok(told)
}

/// The alignment of centred matrices with a target; `y` are codes of classes where `classes` says so.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]
pub(crate) fn alignment_test<'py>(
    py: Python<'py>,
    kernel: &str,
    views: &Bound<'_, PyList>,
    y: List<'_, f64>,
    classes: bool,
    draws: usize,
    seed: u64,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let (kernel, data): (_, Dataset) = (parse(kernel)?, dataset(views)?);
    let labels = if classes {
        Labels::classes(y.as_slice()?.iter().map(|&c| c as u32).collect())
    } else {
        Labels { numbers: y.as_slice()?.to_vec(), classes: None }
    };
    let Some(ideal) = guarded(|| target_gram(&labels))? else {
        return Err(PyValueError::new_err("an alignment is tested on 20 000 examples or fewer"));
    };
    let repeats = data.clone().with_target(Target::from(y.as_slice()?.to_vec())).map_err(raise)?.repeats();
    let size = data.len().saturating_mul(data.len()).saturating_mul(draws);
    let found = run(py, (threads, size), None, None, |watch| -> Result<_, mercer::Error> {
        let kernel = kernel.resolve(&data, Seed(seed))?;
        let gram = kernel.training_gram(&data)?;
        Ok((
            kernel.to_string(),
            dependence(gram.as_ref(), ideal.as_ref(), draws, Seed(seed), Budget::default(), watch)?,
        ))
    })?;
    let (kernel, found) = found.map_err(raise)?;
    let told = PyDict::new(py);
    told.set_item("kernel", kernel)?;
    told.set_item("n", found.n)?;
    told.set_item("alignment", found.alignment)?;
    put(&told, found.p, repeats)?;
    told.set_item("p_gamma", found.gamma.value)?;
    Ok(told)
}

/// The spectrum beyond the sample.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn spectral_stability<'py>(
    py: Python<'py>,
    kernel: &str,
    views: &Bound<'_, PyList>,
    radius: Option<f64>,
    delta: f64,
    draws: usize,
    seed: u64,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let (kernel, data) = (parse(kernel)?, dataset(views)?);
    let Some(radius) = radius.or_else(|| kernel.radius()) else {
        return Err(PyValueError::new_err(format!(
            "{kernel} has no known radius R with κ(x, x) ≤ R² for every x; declare one with radius=, or normalise the kernel. \
             The largest of this sample would not do: the bounds are about examples that were not seen"
        )));
    };
    let how = Judgement { radius, delta, draws, seed: Seed(seed) };
    let size = data.len().saturating_mul(data.len());
    let found = run(py, (threads, size), None, None, |watch| -> Result<_, mercer::Error> {
        let gram = kernel.resolve(&data, Seed(seed))?.training_gram(&data)?;
        Stability::of(gram.as_ref(), how, Budget::default(), watch)
    })?;
    let found = found.map_err(raise)?;
    let told = PyDict::new(py);
    told.set_item("n", found.m)?;
    told.set_item("radius", found.radius)?;
    told.set_item("delta", found.delta)?;
    told.set_item("eigenvalues", found.eigenvalues)?;
    told.set_item("sums_within", found.sums_within)?;
    told.set_item("printed_sums_within", found.printed_sums_within)?;
    told.set_item("operator_within", found.operator_within)?;
    told.set_item("gaps", found.vectors.iter().map(|v| v.0).collect::<Vec<_>>())?;
    told.set_item("sines", found.vectors.iter().map(|v| v.1).collect::<Vec<_>>())?;
    told.set_item("rho", found.rho)?;
    told.set_item("beyond_rho", found.beyond_rho)?;
    told.set_item("residuals", found.residuals)?;
    told.set_item("intervals", found.intervals.iter().map(|i| (i.low, i.high)).collect::<Vec<_>>())?;
    Ok(told)
}
