//! Permutation importance: how much worse a model predicts when one column is shuffled among the examples.
//!
//! ```text
//! I_j = mean over π of L(f(x with x_j of example π(i)), y) − L(f(x), y)
//! ```
//!
//! L is a loss of the predictions (a score that is to be large counts negatively), π a random permutation of the examples. What is
//! shuffled keeps its distribution and loses its relation to the target and to all other columns. Columns that tell the same thing share
//! their importance: each alone is hardly missed, though both together would be; views are shuffled as a whole and show that.
//!
//! # Source
//! Breiman (2001), Random forests, §10; Fisher, Rudin & Dominici (2019), All models are wrong, but many are useful, §3: model reliance.

use super::{Model, Predictor};
use crate::data::{DataError, Dataset, Kind, Rows, Scalar, SparseRows, Values, View, ViewSchema};
use crate::error::Error;
use crate::linalg::SolveError;
use crate::machines::{Learns, Output, Readout};
use crate::memory;
use crate::metrics::Score;
use crate::seed::Seed;
use crate::watch::{Monitor, Phase, Progress};
use serde::Serialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;

/// The unit that is shuffled together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Together {
    /// The coordinates of one column of the file, or one coordinate of vectors that come from no file, as the kernel sees them; strings
    /// and examples of other kinds are one column.
    #[default]
    Columns,
    /// All coordinates of one view.
    Views,
}

impl Together {
    /// Words and values.
    pub const WORDS: [(&'static str, Self); 2] = [("columns", Self::Columns), ("views", Self::Views)];
}

/// Options of an explanation.
#[derive(Clone, Debug)]
pub struct Explain {
    /// The unit that is shuffled together.
    pub together: Together,
    /// The number of permutations of each.
    pub repeats: usize,
    /// The score whose loss counts; `None`: the error of labels, the root mean squared error of numbers.
    pub score: Option<Score>,
    /// The seed of the permutations.
    pub seed: Seed,
}

impl Default for Explain {
    fn default() -> Self {
        Self { together: Together::Columns, repeats: 10, score: None, seed: Seed(0) }
    }
}

/// The importance of one column or view.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Importance {
    /// The column, or the view.
    pub name: String,
    /// The view it belongs to.
    pub view: String,
    /// The mean of the losses over all permutations, less the loss of the examples as they are.
    pub mean: f64,
    /// The standard deviation over the permutations; 0 for a single one.
    pub deviation: f64,
    /// The difference for each permutation.
    pub repeats: Vec<f64>,
}

/// The importance of everything that a model looks at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The name of the score.
    pub score: &'static str,
    /// The score of the examples as they are.
    pub value: f64,
    /// One for each column or view, in their order.
    pub importances: Vec<Importance>,
}

/// A part of the examples that is shuffled as a whole: a view, or some coordinates of it.
struct Part {
    name: String,
    view: usize,
    coordinates: Option<Range<usize>>,
    /// The same column of the file in other views, shuffled with it.
    elsewhere: Vec<(usize, Option<Range<usize>>)>,
}

impl Part {
    /// Its coordinates in a view; `None` stands for all of them.
    fn within(&self, view: usize) -> Vec<Option<&Range<usize>>> {
        let first = std::iter::once((self.view, self.coordinates.as_ref()));
        let all = first.chain(self.elsewhere.iter().map(|(v, places)| (*v, places.as_ref())));
        all.filter(|(v, _)| *v == view).map(|(_, places)| places).collect()
    }
}

/// Parts that are the same column of the file in several views become one.
fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::with_capacity(parts.len());
    let mut known: HashMap<String, usize> = HashMap::new();
    for part in parts {
        match known.entry(part.name.clone()) {
            Entry::Occupied(first) => all[*first.get()].elsewhere.push((part.view, part.coordinates)),
            Entry::Vacant(place) => {
                place.insert(all.len());
                all.push(part);
            }
        }
    }
    all
}

impl Model {
    /// The loss in the predictions of some examples when each column, or view, is shuffled among them. Give examples that the
    /// model has not seen ([`Model::seen`]): on training examples it tells what the model leans on, noise that it has learned by heart included.
    ///
    /// ```
    /// use mercer::model::Explain;
    /// use mercer::prelude::*;
    /// let table = mercer::datasets::load("two_moons", Some(80), Seed(1))?;
    /// let (_, data) = Schema::learn_and_apply(&table, &SchemaOptions::default())?;
    /// let model = Svc::default().fit(&rbf(1.0), &data)?;
    /// let told = model.explain(&data, &Explain::default(), &mercer::watch::Silent)?;
    /// assert!(told.importances.iter().all(|one| one.mean > 0.05));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the model predicts no target, or the data have none; if there are no repeats, or the work was stopped.
    pub fn explain(&self, data: &Dataset, asked: &Explain, watch: &dyn Monitor) -> Result<Explanation, Error> {
        let unfit = |finding: String| Error::from(DataError::Unfit { finding });
        let target = data.target().ok_or(DataError::NoTarget)?;
        if asked.repeats == 0 {
            return Err(
                DataError::Usage { finding: "0 permutations tell nothing; ask for one or more".to_owned() }.into()
            );
        }
        if data.len() < 2 {
            return Err(unfit("one example cannot be shuffled; give two or more".to_owned()));
        }
        let learns = match self.fitted.readout {
            Readout::ArgMax { .. } | Readout::Vote { .. } => Learns::Classes,
            Readout::Values { .. } => Learns::Numbers,
            _ => {
                return Err(unfit(format!(
                    "{} predicts no target that predictions could be compared with",
                    self.machine
                )));
            }
        };
        let score = asked.score.clone().unwrap_or_else(|| Score::usual(learns));
        score.check(target)?;
        let of = |output: &Output| -> Result<f64, Error> {
            let none =
                || unfit(format!("{} has no meaning for these examples; choose another score", score.entry.name));
            score.of(output, target)?.ok_or_else(none)
        };
        let predictor = Predictor::new(self.clone());
        let value = of(&predictor.predict(data)?)?;
        let parts = self.parts_of(data, asked.together);
        let (mut importances, total) = (Vec::with_capacity(parts.len()), parts.len().saturating_mul(asked.repeats));
        memory::check(total.saturating_mul(size_of::<f64>()), format!("the losses of {total} permutations"))
            .map_err(|e| e.remedy("ask for fewer permutations, or raise --memory"))?;
        for (p, part) in parts.into_iter().enumerate() {
            // the same permutations for a part whatever else there is
            let mut random = asked.seed.stream(&format!("permutation importance of {} in {}", part.name, part.view));
            let mut repeats = Vec::with_capacity(asked.repeats);
            for r in 0..asked.repeats {
                let told = Progress::new(Phase::new("permutation importance"), p * asked.repeats + r).of(total);
                watch.alive(told).map_err(SolveError::from)?;
                let shuffled = shuffled(data, &part, &random.permutation(data.len()))?;
                repeats.push(score.loss(of(&predictor.predict(&shuffled)?)?) - score.loss(value));
            }
            let (mean, deviation) = mean_and_deviation(&repeats);
            let mut places: Vec<usize> = part.elsewhere.iter().map(|(view, _)| *view).collect();
            places.insert(0, part.view);
            places.dedup();
            let view = places.iter().map(|&v| data.views()[v].name.as_str()).collect::<Vec<_>>().join(", ");
            importances.push(Importance { name: part.name, view, mean, deviation, repeats });
        }
        Ok(Explanation { score: score.entry.name, value, importances })
    }

    /// The units that are shuffled together: everything that the kernel looks at.
    fn parts_of(&self, data: &Dataset, together: Together) -> Vec<Part> {
        let wanted = self.kernel.views();
        let looked_at = |view: &View| {
            let unnamed = |(name, kind): &(Option<&str>, Kind)| name.is_none() && *kind == view.values.kind();
            data.views().len() == 1 || wanted.iter().any(|w| w.0 == Some(view.name.as_str()) || unnamed(w))
        };
        let mut parts = Vec::new();
        for (v, view) in data.views().iter().enumerate().filter(|(_, view)| looked_at(view)) {
            let whole = Part { name: view.name.clone(), view: v, coordinates: None, elsewhere: Vec::new() };
            let matrix = wanted.iter().any(|(name, kind)| {
                *kind == Kind::Precomputed && name.map_or(data.views().len() == 1, |name| name == view.name)
            });
            let schema = self.schema.as_ref().and_then(|schema| schema.view(&view.name));
            match (together, view.values.width().filter(|_| !matrix)) {
                (Together::Views, _) => parts.push(whole),
                (Together::Columns, None) => {
                    let name = schema.and_then(ViewSchema::cell_name).unwrap_or(&view.name).to_owned();
                    parts.push(Part { name, ..whole });
                }
                (Together::Columns, Some(width)) => match schema.and_then(ViewSchema::columns) {
                    Some(columns) => parts.extend(columns.into_iter().map(|(name, places)| Part {
                        name,
                        view: v,
                        coordinates: Some(places),
                        elsewhere: Vec::new(),
                    })),
                    None => parts.extend(occurring(&view.values, width).into_iter().map(|j| Part {
                        name: format!("{}[{}]", view.name, j + 1),
                        view: v,
                        coordinates: Some(j..j + 1),
                        elsewhere: Vec::new(),
                    })),
                },
            }
        }
        // without a file, equal names are coordinates of different views
        if together == Together::Columns && self.schema.is_some() { joined(parts) } else { parts }
    }
}

/// The coordinates that are stored for some example: in all others there is nothing to shuffle.
fn occurring(values: &Values, width: usize) -> Vec<usize> {
    fn of<S: Scalar>(rows: &SparseRows<S>) -> Vec<usize> {
        let mut all: Vec<usize> = rows.coordinates().iter().map(|c| c.index as usize).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
    match values {
        Values::Sparse(rows) => of(rows),
        Values::Sparse32(rows) => of(rows),
        _ => (0..width).collect(),
    }
}

/// The mean, and the standard deviation with n − 1.
fn mean_and_deviation(all: &[f64]) -> (f64, f64) {
    let n = all.len() as f64;
    let mean = all.iter().sum::<f64>() / n;
    let square: f64 = all.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, if all.len() > 1 { (square / (n - 1.0)).sqrt() } else { 0.0 })
}

/// The examples with one part taken from the examples of a permutation: a column of a file in every view that has it.
fn shuffled(data: &Dataset, part: &Part, order: &[usize]) -> Result<Dataset, Error> {
    let view = |(v, view): (usize, &View)| {
        let places = part.within(v);
        let values = places.into_iter().fold(view.values.clone(), |values, places| exchanged(&values, places, order));
        View { name: view.name.clone(), values }
    };
    Ok(Dataset::from_views(data.views().iter().enumerate().map(view).collect())?)
}

fn exchanged(values: &Values, coordinates: Option<&Range<usize>>, order: &[usize]) -> Values {
    fn dense<S: Scalar>(rows: &Rows<S>, places: &Range<usize>, order: &[usize]) -> Rows<S> {
        let (mut copy, width) = (rows.to_own(), rows.width());
        for (row, &from) in copy.values_mut().chunks_exact_mut(width.max(1)).zip(order) {
            row[places.clone()].copy_from_slice(&rows.row(from)[places.clone()]);
        }
        copy
    }
    fn sparse<S: Scalar>(rows: &SparseRows<S>, places: &Range<usize>, order: &[usize]) -> SparseRows<S> {
        let mut all = SparseRows::new(rows.width());
        let inside = |index: u32| places.contains(&(index as usize));
        for (i, &from) in order.iter().enumerate() {
            let mut row: Vec<_> = rows.row(i).iter().filter(|c| !inside(c.index)).copied().collect();
            row.extend(rows.row(from).iter().filter(|c| inside(c.index)).copied());
            row.sort_by_key(|c| c.index);
            all.push(&row);
        }
        all
    }
    match (values, coordinates) {
        (Values::Dense(rows), Some(places)) => Values::Dense(Arc::new(dense(rows, places, order))),
        (Values::Dense32(rows), Some(places)) => Values::Dense32(Arc::new(dense(rows, places, order))),
        (Values::Sparse(rows), Some(places)) => Values::Sparse(Arc::new(sparse(rows, places, order))),
        (Values::Sparse32(rows), Some(places)) => Values::Sparse32(Arc::new(sparse(rows, places, order))),
        (whole, _) => whole.select(order),
    }
}

#[cfg(test)]
#[path = "importance_tests.rs"]
mod tests;
