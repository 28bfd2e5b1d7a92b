//! Conformal regions: a job that holds examples out, and keeps what they tell.

use super::Job;
use crate::conformal::{Conformal, MOST, Measure, Method, Panel, Recipe, merged};
use crate::data::{DataError, Dataset, Kind};
use crate::error::Error;
use crate::formula::Formula;
use crate::machines::{Expansion, FitError, Learns, LeftOutModels, Readout, family, predicts_target, without};
use crate::model::{Model, codes_of, index_precomputed, labels_of, of_labels, own_scores, residuals, sub_readout};
use crate::seed::Seed;
use crate::solvers::{Monitor, Progress, SolveError, Status, Stop};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The note in the proof of a model that was to have conformal regions, but was stopped before they were learned.
pub const CONFORMAL_CUT_SHORT: &str = "conformal_cut_short";

/// Models without some examples, which examples each has not seen, and the scores of those.
struct HeldOut {
    panels: Vec<Panel>,
    /// Which member has not seen each example.
    members: Vec<usize>,
    /// What measures nonconformity, n × labels; or predicted numbers, n × outputs.
    numbers: Vec<f64>,
}

impl Recipe {
    /// All examples in a random order; those of a class together if each class is judged by itself.
    fn shuffled(&self, data: &Dataset, seed: Seed) -> Result<(Vec<usize>, Vec<u32>), Error> {
        let mut order = seed.stream("conformal").permutation(data.len());
        let mut codes = vec![0; data.len()];
        if self.mondrian {
            codes = data.target().ok_or(DataError::NoTarget)?.classes()?.codes;
            order.sort_by_key(|&i| codes[i]);
        }
        Ok((order, codes))
    }

    /// The places that split sets aside, and those that are learned from: a part of all, or of each class if it is judged by
    /// itself. Only the number of examples and their classes matter, so that the others can scale the columns.
    ///
    /// # Errors
    /// If classes are judged by themselves and there are none.
    pub fn parts(&self, data: &Dataset, seed: Seed) -> Result<(Vec<usize>, Vec<usize>), Error> {
        let (order, codes) = self.shuffled(data, seed)?;
        let (mut aside, mut proper) = (Vec::new(), Vec::new());
        for run in order.chunk_by(|&a, &b| codes[a] == codes[b]) {
            // a class with a single example is learned from
            let count = ((self.share * run.len() as f64).round() as usize).max(1).min(run.len() - 1);
            aside.extend_from_slice(&run[..count]);
            proper.extend_from_slice(&run[count..]);
        }
        aside.sort_unstable();
        proper.sort_unstable();
        Ok((aside, proper))
    }
}

impl Job<'_> {
    /// Learns a model and its conformal predictor.
    pub(super) fn conform(&self, recipe: &Recipe, data: &Dataset, watch: &dyn Monitor) -> Result<Model, Error> {
        self.check(recipe, data)?;
        if recipe.method == Method::Split {
            return self.split(recipe, data, watch);
        }
        let kernel = self.kernel.resolve(data, self.seed)?;
        let mut model = self.learn(kernel.clone(), data, watch)?;
        // a fit that was stopped leaves no time for more
        let stopped = !matches!(model.fitted.proof.status, Status::Converged | Status::IterationLimit);
        let found = if stopped { Ok(None) } else { self.hold_out(recipe, &kernel, data, &model, watch).map(Some) };
        let mut found = match found {
            Err(Error::Fit(FitError::Solve { error: SolveError::Stopped { reason }, .. })) => {
                model.fitted.proof.status = reason.into();
                None
            }
            other => other?,
        };
        let Some(found) = found.take() else {
            model.fitted.proof.notes.push((CONFORMAL_CUT_SHORT.to_owned(), 1.0));
            return Ok(model);
        };
        model.conformal = Some(joined_with(found, recipe, &model, data)?);
        Ok(model)
    }

    /// What cannot have regions is told before the work.
    fn check(&self, recipe: &Recipe, data: &Dataset) -> Result<(), Error> {
        let entry = self.machine.entry();
        let wrong = |finding: String| Err(FitError::Param { machine: entry.name, finding }.into());
        let detects = family(entry) == "detect";
        if !predicts_target(entry) && !detects {
            return wrong(
                "it predicts no target, so there are no sets or intervals of it; leave conformal out".to_owned(),
            );
        }
        if recipe.mondrian && (entry.learns != Learns::Classes || detects) {
            return wrong("it predicts no classes, so none can be judged by itself; leave mondrian out".to_owned());
        }
        if self.companions.is_some_and(|c| !c.is_empty()) {
            return wrong("conformal regions are learned from examples that are held out, which companions are not; leave one of them out".to_owned());
        }
        if !(recipe.share > 0.0 && recipe.share < 1.0) {
            return wrong(format!("a share of {} cannot be set aside; give a number between 0 and 1", recipe.share));
        }
        if recipe.folds < 2 {
            return wrong(format!("{} folds hold nothing out; give 2 or more", recipe.folds));
        }
        if data.len() < 2 {
            let finding = format!("{} examples: one to learn from and one to be held out are the least", data.len());
            return Err(DataError::Unfit { finding }.into());
        }
        Ok(())
    }

    /// A part of the examples, and of each class if it is judged by itself, is set aside. The others are not stratified: that
    /// would look at the classes of held-out examples, but not at those of new ones.
    fn split(&self, recipe: &Recipe, data: &Dataset, watch: &dyn Monitor) -> Result<Model, Error> {
        if self.kernel.views().iter().any(|(_, kind)| *kind == Kind::Precomputed) {
            let finding = "a precomputed matrix has a column for every example, also for those set aside; use conformal = cross or jackknife, or calibrate with examples of a file of their own".to_owned();
            return Err(FitError::Param { machine: self.machine.entry().name, finding }.into());
        }
        let (aside, proper) = recipe.parts(data, self.seed)?;
        let rest = data.select(&proper);
        self.knows_all(data, &rest)?;
        let mut model = self.learn(self.kernel.resolve(&rest, self.seed)?, &rest, watch)?;
        // regions are valid for whatever was learned, also where the fit was stopped
        model.calibrate_on(&data.select(&aside), recipe.mondrian)?;
        model.places.iter_mut().for_each(|p| *p = proper[*p]);
        model.fitted.training_scores = None;
        if let Some(origin) = &mut model.origin {
            origin.fingerprint = data.fingerprint();
            origin.part = Some(proper.iter().map(|&p| p as u32).collect());
        }
        Ok(model)
    }

    /// A class that was set aside whole could never be predicted.
    fn knows_all(&self, data: &Dataset, rest: &Dataset) -> Result<(), Error> {
        if self.machine.entry().learns != Learns::Classes {
            return Ok(());
        }
        let (Some(all), Some(some)) = (data.target(), rest.target()) else { return Ok(()) };
        let (all, some) = (all.classes()?.labels, some.classes()?.labels);
        match all.iter().find(|label| !some.contains(label)) {
            None => Ok(()),
            Some(label) => {
                let finding = format!(
                    "every example of class \"{label}\" was set aside for conformal = split; give a smaller share, mondrian, or conformal = cross"
                );
                Err(DataError::Unfit { finding }.into())
            }
        }
    }

    /// Models without each fold, or without each example.
    fn hold_out(
        &self,
        recipe: &Recipe,
        kernel: &Formula,
        data: &Dataset,
        model: &Model,
        watch: &dyn Monitor,
    ) -> Result<HeldOut, Error> {
        let (n, task) = (data.len(), self.task(kernel, data)?);
        let count = if recipe.method == Method::Jackknife { n } else { recipe.folds.min(n) };
        let watch = Conforming { watch, done: AtomicUsize::new(0), total: count };
        let outputs = model.fitted.expansion.outputs();
        let machine = self.machine.entry().name;
        if recipe.method == Method::Jackknife {
            if n.saturating_mul(n).saturating_mul(outputs) > MOST {
                let finding = format!(
                    "jackknife keeps {n} models of {n} × {outputs} coefficients, and {MOST} numbers are the most; use conformal = cross, which keeps one for each fold"
                );
                return Err(FitError::Param { machine, finding }.into());
            }
            if let Some(LeftOutModels { scores, models }) = self.machine.left_out_models(&task, &watch)? {
                let numbers = numbers_of(&model.fitted.readout, &scores);
                let panels = vec![Panel { expansion: models, members: n, known: None }];
                return Ok(HeldOut { panels, members: (0..n).collect(), numbers });
            }
            if !recipe.retrain {
                let finding = format!(
                    "without a closed form jackknife learns again for each of the {n} examples; ask for that with --conformal-retrain (retrain in Python), or use conformal = cross"
                );
                return Err(FitError::Param { machine, finding }.into());
            }
        }
        let mut folds = vec![Vec::new(); count];
        let (order, _) = recipe.shuffled(data, self.seed)?;
        order.into_iter().enumerate().for_each(|(place, i)| folds[place % count].push(i));
        let fits = folds
            .par_iter()
            .map(|fold| {
                let fit = without(self.machine, &task, fold, count, &watch)?;
                watch.done.fetch_add(1, Ordering::Relaxed);
                Ok(fit)
            })
            .collect::<Result<Vec<_>, FitError>>()?;
        self.gathered(&folds, fits, &model.fitted.readout, n)
    }

    /// Joins the fits without each fold; a label that one of them does not know is infinitely strange to it.
    fn gathered(
        &self,
        folds: &[Vec<usize>],
        fits: Vec<(crate::machines::Fitted, Vec<f64>)>,
        readout: &Readout,
        n: usize,
    ) -> Result<HeldOut, Error> {
        let each = readout.form().map_or(readout.outputs(), |(_, k)| k);
        let (mut members, mut numbers) = (vec![0; n], vec![0.0; n * each]);
        let mut models: Vec<(Expansion, Option<Vec<u32>>)> = Vec::new();
        for (m, (fold, (fitted, scores))) in folds.iter().zip(fits).enumerate() {
            let known = self.known(readout, &fitted.readout)?;
            let own = numbers_of(&fitted.readout, &scores);
            let width = own.len() / fold.len().max(1);
            for (&i, row) in fold.iter().zip(own.chunks_exact(width.max(1))) {
                members[i] = m;
                let out = &mut numbers[i * each..(i + 1) * each];
                match &known {
                    None => out.copy_from_slice(row),
                    Some(known) => {
                        out.fill(f64::INFINITY);
                        row.iter().zip(known).for_each(|(r, &c)| out[c as usize] = *r);
                    }
                }
            }
            models.push((fitted.expansion, known));
        }
        let panels = merged(models);
        let total: usize = panels.iter().map(Panel::numbers).sum();
        if total > MOST {
            let finding = format!(
                "the models without each fold have {total} coefficients, and {MOST} are the most; use fewer folds, or conformal = split"
            );
            return Err(FitError::Param { machine: self.machine.entry().name, finding }.into());
        }
        Ok(HeldOut { panels, members, numbers })
    }

    /// The places of the labels that a fit knows, where they are not all.
    fn known(&self, all: &Readout, some: &Readout) -> Result<Option<Vec<u32>>, Error> {
        if all == some {
            return Ok(None);
        }
        let place = |label: &String| labels_of(all).iter().position(|l| l == label).map(|p| p as u32);
        let known: Option<Vec<u32>> = labels_of(some).iter().map(place).collect();
        match known.filter(|known| sub_readout(all, known).as_ref() == Some(some)) {
            Some(known) => Ok(Some(known)),
            None => {
                let finding = "a class has all its examples in one fold, and the model without it is of another kind; use mondrian, which deals out every class, or leave the class out".to_owned();
                Err(FitError::Param { machine: self.machine.entry().name, finding }.into())
            }
        }
    }
}

/// From raw scores to nonconformities of labels or of a detector, or to predicted numbers.
fn numbers_of(readout: &Readout, scores: &[f64]) -> Vec<f64> {
    match (readout, readout.form()) {
        (_, Some((form, k))) => of_labels(form, k, readout.outputs(), scores),
        (Readout::Novelty, _) => scores.iter().map(|f| -f).collect(),
        _ => scores.to_vec(),
    }
}

/// The predictor of a model from what was held out.
fn joined_with(found: HeldOut, recipe: &Recipe, model: &Model, data: &Dataset) -> Result<Conformal, Error> {
    let HeldOut { mut panels, members, numbers } = found;
    let readout = &model.fitted.readout;
    if let Some(place) = numbers.iter().position(|r| r.is_nan()) {
        let example = place / (numbers.len() / data.len().max(1)).max(1) + 1;
        return Err(SolveError::ScoreNotFinite { example }.into());
    }
    let target = || data.target().ok_or(DataError::NoTarget);
    let mut conformal = match readout {
        Readout::Novelty => Conformal::new((recipe.method, false, Measure::Novelty), &numbers, 1, &[], &members),
        Readout::Values { names } => {
            let residuals = residuals(&numbers, target()?)?;
            Conformal::new((recipe.method, false, Measure::Residual), &residuals, names.len(), &[], &members)
        }
        readout => {
            let labels = labels_of(readout);
            let codes = codes_of(labels, target()?)?;
            let own = own_scores(&numbers, labels.len(), &codes);
            let columns = if recipe.mondrian { labels.len() } else { 1 };
            let kind = (recipe.method, recipe.mondrian, Measure::Margin);
            Conformal::new(kind, &own, columns, &codes, &members)
        }
    };
    conformal.pool = pooled(&mut panels, model, data);
    conformal.panels = panels;
    Ok(conformal)
}

/// Renumbers the points of panels: places in the examples of the model if these are enough, else in a pool of their own.
fn pooled(panels: &mut [Panel], model: &Model, data: &Dataset) -> Option<Dataset> {
    let mut needed: Vec<usize> = panels.iter().flat_map(|p| p.expansion.points()).copied().collect();
    needed.sort_unstable();
    needed.dedup();
    let kept: HashMap<usize, usize> = model.places.iter().enumerate().map(|(at, &place)| (place, at)).collect();
    let enough = needed.iter().all(|place| kept.contains_key(place));
    let pool = (!enough).then(|| index_precomputed(&model.kernel, data).select(&needed).without_target());
    let at = |place: usize| match &pool {
        None => kept.get(&place).copied().unwrap_or(0),
        Some(_) => needed.binary_search(&place).unwrap_or(0),
    };
    for points in panels.iter_mut().filter_map(|p| p.expansion.points_mut()) {
        points.iter_mut().for_each(|p| *p = at(*p));
    }
    pool
}

/// The same monitor, told that whatever is done now is done for the regions: the model itself is there already.
struct Conforming<'a> {
    watch: &'a dyn Monitor,
    /// Models that are learned.
    done: AtomicUsize,
    total: usize,
}

impl Monitor for Conforming<'_> {
    fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
        let done = self.done.load(Ordering::Relaxed);
        self.watch.step(&Progress { phase: "conformal", done, total: Some(self.total), gap: progress.gap })
    }
}
