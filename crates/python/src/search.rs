//! Many fits at once for `MercerSearchCV`: kernel values and warm starts are shared.

// Python hands values over
#![allow(clippy::needless_pass_by_value)]

use crate::convert::{List, Table, dataset, raise, settings, target};
use crate::kernel::parse;
use crate::run::run;
use mercer::gram::Budget;
use mercer::machines::Output;
use mercer::machines::regress::Ridge;
use mercer::prelude::Seed;
use mercer::select::{Split, Trial, Trials};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Codes (None for numbers) and scores (None where codes are enough), the seconds of learning and of predicting, and the status.
type Told<'py> = (Option<Bound<'py, PyArray1<u32>>>, Option<Bound<'py, PyArray2<f64>>>, f64, f64, String);

/// Places of what is learned from and of what is held out, and the weights of the former.
type Places<'py> = (List<'py, i64>, List<'py, i64>, Option<List<'py, f64>>);

fn split((train, test, weights): &Places<'_>) -> PyResult<Split> {
    // a negative place becomes one that is too large, which is told
    let places = |all: &List<'_, i64>| -> PyResult<Vec<usize>> {
        Ok(all.as_slice()?.iter().map(|&i| usize::try_from(i).unwrap_or(usize::MAX)).collect())
    };
    let weights = weights.as_ref().map(|w| w.as_slice().map(<[f64]>::to_vec)).transpose()?;
    Ok(Split { train: places(train)?, test: places(test)?, weights })
}

/// Fits every point on every split with one kernel: by point, then by split. Scores of labels are told where they are
/// asked for.
#[pyfunction]
#[pyo3(signature = (machine, points, kernel, views, y, labels, splits, scores, threads, callback))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn trials<'py>(
    py: Python<'py>,
    machine: &str,
    points: Vec<Bound<'_, PyList>>,
    kernel: &str,
    views: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    labels: Option<Vec<String>>,
    splits: Vec<Places<'_>>,
    scores: bool,
    threads: usize,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Vec<Told<'py>>>> {
    let machine = mercer::machines::find(machine)
        .ok_or_else(|| PyValueError::new_err(format!("there is no machine called {machine}")))?;
    let points = points.iter().map(settings).collect::<PyResult<Vec<_>>>()?;
    let data = dataset(views)?.with_target(target(y, labels)?).map_err(raise)?;
    let splits = splits.iter().map(split).collect::<PyResult<Vec<_>>>()?;
    let kernel = parse(kernel)?;
    let all = run(py, (threads, usize::MAX), None, callback, |watch| {
        let (budget, seed) = (Budget::default(), Seed(0));
        Trials { machine, kernel: &kernel, points: &points, splits: &splits, budget, seed }.run(&data, watch)
    })?;
    let tell = |trial: Trial| -> PyResult<Told<'py>> {
        let rows = trial.output.len();
        let codes = match trial.output {
            Output::Labels { codes, .. } => Some(codes.into_pyarray(py)),
            _ => None,
        };
        let columns = trial.scores.len() / rows.max(1);
        let wanted = (scores || codes.is_none()).then_some(trial.scores);
        let table = wanted.map(|t| t.into_pyarray(py).reshape([rows, columns])).transpose()?;
        Ok((codes, table, trial.fit_seconds, trial.score_seconds, trial.status.to_string()))
    };
    all.map_err(raise)?.into_iter().map(|row| row.into_iter().map(tell).collect()).collect()
}

/// Predictions of ridge regression for each example when it has learned from all others, n × outputs for each λ: exact, from
/// one eigendecomposition.
#[pyfunction]
pub(crate) fn leave_one_out<'py>(
    py: Python<'py>,
    kernel: &str,
    views: &Bound<'_, PyAny>,
    y: Table<'_, f64>,
    lambdas: Vec<f64>,
    threads: usize,
) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
    let (kernel, data) = (parse(kernel)?, dataset(views)?);
    let (shape, known) = (y.shape().to_vec(), y.as_slice()?.to_vec());
    let size = data.len().saturating_mul(data.len());
    let path = run(py, (threads, size), None, None, |_| -> Result<Vec<Vec<f64>>, mercer::Error> {
        // the matrix, its vectors and what the decomposition works in
        Budget::default().check(size.saturating_mul(6 * 8), "leave-one-out")?;
        let gram = kernel.resolve(&data, Seed(0))?.training_gram(&data)?;
        let points = Ridge::default().loo_path(gram.as_ref(), &known, shape[1], &lambdas)?;
        let predicted = |left: Vec<f64>| known.iter().zip(left).map(|(y, r)| y - r).collect();
        Ok(points.into_iter().map(|p| predicted(p.residuals)).collect())
    })?;
    path.map_err(raise)?.into_iter().map(|p| p.into_pyarray(py).reshape([shape[0], shape[1]])).collect()
}
