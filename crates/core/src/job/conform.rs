//! Conformal regions: a job that holds examples out, and keeps their nonconformities.

use super::Run;
use crate::conformal::{Conformal, Full, MAX_PANEL_COEFFICIENTS, Measure, Method, Panel, Recipe, merged};
use crate::data::{DataError, Dataset, Kind, Preparation, RepeatsBeside};
use crate::error::Error;
use crate::formula::Formula;
use crate::linalg::SolveError;
use crate::machines::Fact;
use crate::machines::{
    Coefficients, Expansion, FitError, HeldOutRequest, Learns, Order, Readout, Smoother, Task, detects, predicts_target,
};
use crate::model::{Model, codes_of, index_precomputed, labels_of, of_labels, own_scores, residuals, sub_readout};
use crate::parallel;
use crate::params::{Setting, describe};
use crate::resample::without;
use crate::seed::Seed;
use crate::watch::{Monitor, Phase, Progress, Sign, Status, Stop};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Held-out fits, the examples that each has left out, and the scores of these.
struct HeldOutFits {
    panels: Vec<Panel>,
    /// The places of the examples that were held out.
    places: Vec<usize>,
    /// The member that has not seen each of them.
    members: Vec<usize>,
    /// Nonconformities of each, n × labels; or predicted numbers, n × outputs.
    numbers: Vec<f64>,
    /// The part that the order of the examples had in some fit.
    order: Order,
}

impl Recipe {
    /// All examples in a random order; those of a class together if each class is judged by itself.
    fn shuffled(&self, data: &Dataset, seed: Seed) -> Result<(Vec<usize>, Vec<u32>), Error> {
        let mut order = seed.stream("conformal").permutation(data.len());
        let mut codes = vec![0; data.len()];
        if self.mondrian {
            codes = data.target().ok_or(DataError::NoTarget)?.classes()?.codes;
            crate::order::by_class(&mut order, &codes);
        }
        Ok((order, codes))
    }

    /// The places of what is held out, and of what is kept to learn from: a part of all, or of each class if it is judged by itself.
    /// Split holds the share out; the other methods hold out all but the share, where something is learned before the fit. Only
    /// the number of examples and their classes matter, so that what is kept can scale the columns.
    ///
    /// # Errors
    /// If classes are judged by themselves and there are none.
    pub fn parts(&self, data: &Dataset, seed: Seed) -> Result<(Vec<usize>, Vec<usize>), Error> {
        let (order, codes) = self.shuffled(data, seed)?;
        let (mut share, mut rest) = (Vec::new(), Vec::new());
        for run in order.chunk_by(|&a, &b| codes[a] == codes[b]) {
            // a class with a single example is learned from by split, and held out by the others
            let count = ((self.share * run.len() as f64).round() as usize).max(1).min(run.len() - 1);
            share.extend_from_slice(&run[..count]);
            rest.extend_from_slice(&run[count..]);
        }
        share.sort_unstable();
        rest.sort_unstable();
        Ok(if self.method == Method::Split { (share, rest) } else { (rest, share) })
    }
}

impl Run<'_> {
    /// Learns a model and its conformal predictor.
    pub(super) fn conform(&self, recipe: &Recipe, data: &Dataset, watch: &dyn Monitor) -> Result<Model, Error> {
        self.check(recipe, data)?;
        if recipe.method == Method::Split {
            return self.split(recipe, data, watch);
        }
        let (kernel, held, kept) = self.resolved(recipe, data)?;
        let provenance = self.provenance(data, Some(&kept), &kernel);
        let (spared, repeats) = (provenance.spares_held_out(), RepeatsBeside::from(data.repeats()));
        let mut kernel = self.on_data(kernel, data)?;
        // closed forms ask for the whole matrix once more, after the fit
        let closed = recipe.method == Method::Full || self.machine.traits().leaves_one_out;
        if closed && kernel.gram.rows_are_expensive() {
            kernel = kernel.memoised();
        }
        let mut model = self.learn(&kernel, data, provenance, watch)?;
        // the theorems about folds exchange examples with one another, which must not change a fit
        let declared = self.machine.traits().order;
        let task = self.task(&kernel, data);
        // a fit that was stopped leaves no time for more
        let stopped = !matches!(model.fitted.report.status, Status::Converged | Status::IterationLimit);
        let found = match recipe.method {
            _ if stopped => Ok(None),
            Method::Full => {
                let found = self.with_candidates(&task, held, data, &model, watch);
                found.map(|found| Some(found.with_proof(spared, repeats)))
            }
            _ => self.hold_out(recipe, &task, held, data, &model, watch).and_then(|found| {
                let ordered = [declared, model.fitted.order, found.order].contains(&Order::Matters);
                Ok(Some(joined_with(found, recipe, &model, data)?.with_proof(spared && !ordered, repeats)))
            }),
        };
        model.conformal = match found {
            Err(Error::Fit(FitError::Solve { error: SolveError::Stopped { reason }, .. })) => {
                model.fitted.report.status = reason.into();
                None
            }
            other => other?,
        };
        if model.conformal.is_none() {
            model.fitted.report.notes.push(Fact::ConformalCutShort.note(1.0));
        }
        Ok(model)
    }

    /// The kernel with everything resolved, the places of the examples that may be held out, and of those that are kept. What is
    /// learned from examples is learned from the kept ones; where nothing is learned, all may be held out.
    fn resolved(&self, recipe: &Recipe, data: &Dataset) -> Result<(Formula, Vec<usize>, Vec<usize>), Error> {
        let centred = self.kernel.needs_all_examples();
        if !centred && data.preparation_set().is_some() {
            return Ok((self.kernel.resolve(data, self.seed)?, (0..data.len()).collect(), Vec::new()));
        }
        if !centred && !data.preparation().is_some_and(Preparation::keeps_some) {
            let kernel = self.kernel.resolve(data, self.seed)?;
            if self.kernel.numbers_chosen(&kernel, data) == 0 && kernel.state().is_empty() {
                return Ok((kernel, (0..data.len()).collect(), Vec::new()));
            }
        }
        let (held, kept) = recipe.parts(data, self.seed)?;
        Ok((self.kernel.resolve_from(&kept, data, self.seed)?, held, kept))
    }

    /// Checks before the work that the machine and the data can have regions.
    fn check(&self, recipe: &Recipe, data: &Dataset) -> Result<(), Error> {
        let entry = self.machine.entry();
        let wrong = |finding: String| Err(FitError::Param { machine: entry.name, finding }.into());
        let detects = detects(entry);
        if !predicts_target(entry) && !detects {
            return wrong(
                "it predicts no target, so there are no sets or intervals of it; leave conformal out".to_owned(),
            );
        }
        if recipe.mondrian && (entry.learns != Learns::Classes || detects) {
            return wrong("it predicts no classes, so none can be judged by itself; leave mondrian out".to_owned());
        }
        if self.auxiliary.is_some_and(|c| !c.is_empty()) {
            return wrong("conformal regions are learned from examples that are held out, which auxiliary examples are not; leave one of them out".to_owned());
        }
        if !(recipe.share > 0.0 && recipe.share < 1.0) {
            return wrong(format!("a share of {} cannot be set aside; give a number between 0 and 1", recipe.share));
        }
        if recipe.folds < 2 {
            return wrong(format!("{} folds hold nothing out; give 2 or more", recipe.folds));
        }
        let matrix = self.kernel.views().iter().any(|(_, kind)| *kind == Kind::Precomputed);
        if recipe.method == Method::Full {
            self.smoother()?;
        }
        let n = data.len();
        if recipe.method == Method::Full && n.saturating_mul(n) > MAX_PANEL_COEFFICIENTS {
            return wrong(format!(
                "full keeps a factor of {n} × {n} numbers, and {MAX_PANEL_COEFFICIENTS} numbers are the most; use --conformal split or cross"
            ));
        }
        if recipe.method == Method::Full && matrix {
            return wrong("--conformal full needs κ(x, x) of every new example, which a precomputed matrix does not tell; use --conformal cross or jackknife".to_owned());
        }
        if data.len() < 2 {
            let finding = format!("{} examples: one to learn from and one to be held out are the least", data.len());
            return Err(DataError::Unfit { finding }.into());
        }
        Ok(())
    }

    /// λ of a machine whose fit on one example more has a closed form.
    fn smoother(&self) -> Result<f64, Error> {
        let none = "--conformal full is for ridge, whose fit on one example more has a closed form; use --conformal split, cross or jackknife";
        let known = self.machine.traits().smoother.unwrap_or(Err(none));
        known.map_err(|why| FitError::Param { machine: self.machine.entry().name, finding: why.to_owned() }.into())
    }

    /// A part of the examples, and of each class if it is judged by itself, is set aside. The others are not stratified: that
    /// would look at the classes of held-out examples, but not at those of new ones.
    fn split(&self, recipe: &Recipe, data: &Dataset, watch: &dyn Monitor) -> Result<Model, Error> {
        if self.kernel.views().iter().any(|(_, kind)| *kind == Kind::Precomputed) {
            let finding = "a precomputed matrix has a column for every example, also for those set aside; use --conformal cross or jackknife, or calibrate with examples of a file of their own".to_owned();
            return Err(FitError::Param { machine: self.machine.entry().name, finding }.into());
        }
        let (aside, proper) = recipe.parts(data, self.seed)?;
        let rest = data.select(&proper);
        // a class that was set aside whole has an infinite nonconformity by the model; to refuse such a fit would leave only those to be
        // used whose held-out examples are easy
        // of sparse vectors the number of coordinates is one that all examples of the file have had a part in
        let resolved = if rest.views().iter().any(|view| view.values.is_sparse()) {
            self.kernel.resolve_from(&(0..rest.len()).collect::<Vec<_>>(), &rest, self.seed)?
        } else {
            self.kernel.resolve(&rest, self.seed)?
        };
        let kernel = self.on_data(resolved, &rest)?;
        let provenance = self.provenance(data, Some(&proper), &kernel.resolved).with_part(&proper);
        let proven = provenance.spares_held_out();
        let mut model = self.learn(&kernel, &rest, provenance, watch)?;
        // regions are valid for whatever was learned, also where the fit was stopped
        let regions = model.regions_from(&data.select(&aside), recipe.mondrian)?;
        model.conformal = Some(regions.with_proof(proven, data.repeats().into()));
        model.places.iter_mut().for_each(|p| *p = proper[*p]);
        model.fitted.training_scores = None;
        Ok(model)
    }

    /// One fit that can take any candidate in as well.
    fn with_candidates(
        &self,
        task: &Task<'_>,
        compared: Vec<usize>,
        data: &Dataset,
        model: &Model,
        watch: &dyn Monitor,
    ) -> Result<Conformal, Error> {
        let n = data.len();
        let lambda = self.smoother()?;
        let watch = Conforming { watch, done: AtomicUsize::new(0), total: 1 };
        let smoother = Smoother::new(self.machine.entry().name, lambda, task, &watch)?;
        let whole = model.places.iter().copied().eq(0..n);
        let mut conformal = Conformal::full(Full { smoother, compared }, model.fitted.readout.outputs());
        conformal.pool = (!whole).then(|| data.clone().without_target().to_own());
        Ok(conformal)
    }

    /// Models without each fold, or without each example.
    fn hold_out(
        &self,
        recipe: &Recipe,
        task: &Task<'_>,
        held: Vec<usize>,
        data: &Dataset,
        model: &Model,
        watch: &dyn Monitor,
    ) -> Result<HeldOutFits, Error> {
        let (n, out) = (data.len(), held.len());
        let count = if recipe.method == Method::Jackknife { out } else { recipe.folds.min(out) };
        let watch = Conforming { watch, done: AtomicUsize::new(0), total: count };
        let outputs = model.fitted.expansion.outputs();
        let machine = self.machine.entry().name;
        if recipe.method == Method::Jackknife {
            if n.saturating_mul(out).saturating_mul(outputs) > MAX_PANEL_COEFFICIENTS {
                let finding = format!(
                    "jackknife keeps {out} models of {n} × {outputs} coefficients, and {MAX_PANEL_COEFFICIENTS} numbers are the most; use --conformal cross, which keeps one for each fold"
                );
                return Err(FitError::Param { machine, finding }.into());
            }
            if let Some((scores, models, order)) = self.left_out_models(task, &watch)? {
                let mut numbers = numbers_of(&model.fitted.readout, &rows_of(&scores, outputs, &held));
                let alone = self.alone_in_their_class(&held, data)?;
                let width = numbers.len() / out.max(1);
                // the fit without the only example of a class does not know the class
                alone.into_iter().for_each(|i| numbers[i * width..(i + 1) * width].fill(f64::INFINITY));
                let panels = vec![Panel { expansion: models_of(models, outputs, &held), members: out, known: None }];
                return Ok(HeldOutFits { panels, places: held, members: (0..out).collect(), numbers, order });
            }
            if !recipe.retrain {
                let why = match self.chosen_by_all() {
                    Some(parameter) => {
                        format!("{parameter} is chosen by all examples, so that no closed form leaves one out: ")
                    }
                    None => "without a closed form ".to_owned(),
                };
                let finding = format!(
                    "{why}jackknife learns again for each of the {out} examples; ask for that with --conformal-retrain (retrain in Python), or use --conformal cross"
                );
                return Err(FitError::Param { machine, finding }.into());
            }
        }
        let mut folds = vec![Vec::new(); count];
        let (order, _) = recipe.shuffled(data, self.seed)?;
        let order = order.into_iter().filter(|i| held.binary_search(i).is_ok());
        order.enumerate().for_each(|(place, i)| folds[place % count].push(i));
        self.two_classes_without_each(&folds, data)?;
        let fit = |f: usize| {
            let fit = without(self.machine, task, &folds[f], count, &watch)?;
            watch.done.fetch_add(1, Ordering::Relaxed);
            Ok(fit)
        };
        let fits = parallel::map(folds.len(), fit).into_iter().collect::<Result<Vec<_>, FitError>>()?;
        self.gathered(&folds, fits, &model.fitted.readout)
    }

    /// Of the examples at some places those that are the only ones of their class, by their order there; none where no classes are learned.
    fn alone_in_their_class(&self, held: &[usize], data: &Dataset) -> Result<Vec<usize>, Error> {
        let Some(target) = data.target().filter(|_| self.machine.entry().learns == Learns::Classes) else {
            return Ok(Vec::new());
        };
        let classes = target.classes()?;
        let mut count = vec![0_usize; classes.labels.len()];
        classes.codes.iter().for_each(|&c| count[c as usize] += 1);
        let alone = |&(_, &i): &(usize, &usize)| count[classes.codes[i] as usize] == 1;
        Ok(held.iter().enumerate().filter(alone).map(|(at, _)| at).collect())
    }

    /// The parameter, with its word, that the machine chooses by its examples, where it has a closed form for numbers.
    fn chosen_by_all(&self) -> Option<String> {
        let fresh = describe((self.machine.entry().make)().as_mut());
        let number = |name: &str| fresh.iter().any(|d| d.name == name && d.kind.starts_with("number"));
        let mut chosen = self.machine.settings().into_iter().filter_map(|(name, value)| match value {
            Setting::Word(word) if number(name) => Some(format!("{name} = {word}")),
            _ => None,
        });
        chosen.next().filter(|_| self.machine.traits().leaves_one_out)
    }

    /// The scores and models of fits without each example, where the machine has them in closed form.
    fn left_out_models(
        &self,
        task: &Task<'_>,
        watch: &dyn Monitor,
    ) -> Result<Option<(Vec<f64>, Expansion, Order)>, FitError> {
        if !self.machine.traits().leaves_one_out {
            return Ok(None);
        }
        let asked = Task { held_out: HeldOutRequest::LeaveOneOutModels, ..task.clone() };
        let fitted = self.machine.run(&asked, watch)?;
        Ok(fitted.held_out.and_then(|answer| answer.models.map(|models| (answer.scores, models, fitted.order))))
    }

    /// Joins the fits without each fold; a label that one of them does not know has an infinite nonconformity by it.
    fn gathered(
        &self,
        folds: &[Vec<usize>],
        fits: Vec<(crate::machines::Fitted, Vec<f64>)>,
        readout: &Readout,
    ) -> Result<HeldOutFits, Error> {
        let each = readout.form().map_or(readout.outputs(), |(_, k)| k);
        let (mut members, mut numbers, mut order) = (Vec::new(), Vec::new(), Order::Irrelevant);
        let mut models: Vec<(Expansion, Option<Vec<u32>>)> = Vec::new();
        for (m, (fold, (fitted, scores))) in folds.iter().zip(fits).enumerate() {
            let known = self.known(readout, &fitted.readout)?;
            order = if fitted.order == Order::Matters { Order::Matters } else { order };
            let own = numbers_of(&fitted.readout, &scores);
            let width = own.len() / fold.len().max(1);
            members.resize(members.len() + fold.len(), m);
            for row in own.chunks_exact(width.max(1)) {
                match &known {
                    None => numbers.extend_from_slice(row),
                    Some(known) => {
                        let mut out = vec![f64::INFINITY; each];
                        row.iter().zip(known).for_each(|(r, &c)| out[c as usize] = *r);
                        numbers.extend(out);
                    }
                }
            }
            models.push((fitted.expansion, known));
        }
        let panels = merged(models);
        let total: usize = panels.iter().map(Panel::numbers).sum();
        if total > MAX_PANEL_COEFFICIENTS {
            let finding = format!(
                "the models without each fold have {total} coefficients, and {MAX_PANEL_COEFFICIENTS} are the most; use fewer folds, or --conformal split"
            );
            return Err(FitError::Param { machine: self.machine.entry().name, finding }.into());
        }
        Ok(HeldOutFits { panels, places: folds.concat(), members, numbers, order })
    }

    /// A fold that holds all examples of one of two classes leaves nothing to be told apart.
    fn two_classes_without_each(&self, folds: &[Vec<usize>], data: &Dataset) -> Result<(), Error> {
        let Some(target) = data.target().filter(|_| self.machine.entry().learns == Learns::Classes) else {
            return Ok(());
        };
        let classes = target.classes()?;
        let mut count = vec![0_usize; classes.labels.len()];
        classes.codes.iter().for_each(|&c| count[c as usize] += 1);
        for fold in folds {
            let mut left = count.clone();
            fold.iter().for_each(|&i| left[classes.codes[i] as usize] -= 1);
            if count.len() > 1 && left.iter().filter(|n| **n > 0).count() < 2 {
                return Err(self.of_another_kind());
            }
        }
        Ok(())
    }

    fn of_another_kind(&self) -> Error {
        let finding = "a class has all its examples in one fold, and the model without it is of another kind; use mondrian, which deals out every class, or leave the class out".to_owned();
        FitError::Param { machine: self.machine.entry().name, finding }.into()
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
            None => Err(self.of_another_kind()),
        }
    }
}

/// Some rows of a table.
fn rows_of(table: &[f64], width: usize, rows: &[usize]) -> Vec<f64> {
    rows.iter().flat_map(|&i| &table[i * width..(i + 1) * width]).copied().collect()
}

/// Of the models without each example, those without one of some.
fn models_of(models: Expansion, outputs: usize, held: &[usize]) -> Expansion {
    let all = models.outputs();
    if all == held.len() * outputs {
        return models;
    }
    let offsets = rows_of(&models.offsets, outputs, held);
    let coefficients = match models.coefficients {
        Coefficients::Dual { points, alpha } => {
            let alpha = alpha.chunks_exact(all.max(1)).flat_map(|row| rows_of(row, outputs, held)).collect();
            Coefficients::Dual { points, alpha }
        }
        other => other,
    };
    Expansion { coefficients, offsets }
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
fn joined_with(found: HeldOutFits, recipe: &Recipe, model: &Model, data: &Dataset) -> Result<Conformal, Error> {
    let HeldOutFits { mut panels, places, members, numbers, .. } = found;
    let readout = &model.fitted.readout;
    if let Some(place) = numbers.iter().position(|r| r.is_nan()) {
        let held = place / (numbers.len() / places.len().max(1)).max(1);
        return Err(SolveError::ScoreNotFinite { example: places.get(held).map_or(0, |p| p + 1) }.into());
    }
    let target = data.target().map(|target| target.select(&places));
    let target = || target.as_ref().ok_or(DataError::NoTarget);
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
    for points in panels.iter_mut().flat_map(|p| p.expansion.points_mut()) {
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
    fn sign(&self) -> Sign {
        self.watch.sign()
    }

    fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
        let done = self.done.load(Ordering::Relaxed);
        self.watch.step(&Progress { gap: progress.gap, ..Progress::new(Phase::CONFORMAL, done).of(self.total) })
    }
}
