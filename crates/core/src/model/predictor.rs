//! Predictions: new examples meet the examples of a model, which are prepared once.

use super::parts::PartSupport;
use super::{Model, whole};
use crate::conformal::Regions;
use crate::data::{DataError, Dataset};
use crate::error::Error;
use crate::formula::{Formula, PreparedSide};
use crate::gram::Side;
use crate::linalg::SolveError;
use crate::machines::{Coefficients, Expansion, Output, Readout, Weighting};
use crate::memory::check;
use crate::watch::present;
use std::sync::{Arc, OnceLock};

/// Examples whose features are computed at a time.
const SLICE: usize = 4096;

/// A model that predicts again and again: the examples that it compares with are packed, counted and normed once, when the
/// first prediction is asked for. Whoever serves single examples holds one.
///
/// ```
/// use mercer::prelude::*;
/// let table = mercer::datasets::load("two_moons", Some(60), Seed(1))?;
/// let (_, data) = Schema::learn_and_apply(&table, &SchemaOptions::default())?;
/// let predictor = Svc::default().fit(&rbf(1.0), &data)?.predictor();
/// for i in 0..3 {
///     let one = data.select(&[i]);
///     assert_eq!(predictor.predict(&one)?.labels(), predictor.model().predict(&one)?.labels());
/// }
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Predictor {
    model: Arc<Model>,
    support: Arc<Support>,
}

impl Predictor {
    /// A predictor that owns its model.
    pub fn new(model: impl Into<Arc<Model>>) -> Self {
        Self { model: model.into(), support: Arc::default() }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// As [`Model::scores`].
    ///
    /// # Errors
    /// If the data do not fit the kernel, or a score is not finite.
    pub fn scores(&self, data: &Dataset) -> Result<Vec<f64>, Error> {
        self.support.scores(&self.model, data)
    }

    /// As [`Model::predict`].
    ///
    /// # Errors
    /// If the data do not fit the kernel.
    pub fn predict(&self, data: &Dataset) -> Result<Output, Error> {
        self.support.predict(&self.model, data)
    }

    /// As [`Model::regions`].
    ///
    /// # Errors
    /// If the model has learned none, the coverage is out of range, or the data do not fit.
    pub fn regions(&self, data: &Dataset, coverage: f64) -> Result<Regions, Error> {
        self.support.regions(&self.model, data, coverage)
    }
}

impl Model {
    /// The model as one that predicts again and again.
    pub fn predictor(self) -> Predictor {
        Predictor::new(self)
    }

    /// The scores of new examples, n × outputs row by row.
    ///
    /// # Errors
    /// If the data do not fit the kernel, or a score is not finite.
    pub fn scores(&self, data: &Dataset) -> Result<Vec<f64>, Error> {
        Support::default().scores(self, data)
    }

    /// Predicts new examples, with probabilities where the model has learned them. What the model compares with is prepared
    /// for each call: see [`Predictor`]. Of a model with several parts, those are told whose views the data have.
    ///
    /// # Errors
    /// If the data do not fit the kernel: another kind, or another number of coordinates.
    pub fn predict(&self, data: &Dataset) -> Result<Output, Error> {
        Support::default().predict(self, data)
    }
}

/// The support of a model, prepared for its kernel at the first prediction.
#[derive(Debug, Default)]
pub(super) struct Support {
    /// The points of the model's own expansion.
    own: OnceLock<PreparedSide>,
    /// All examples that the conformal predictor keeps.
    pool: OnceLock<PreparedSide>,
    /// The points of its members' expansions.
    panels: OnceLock<Vec<PreparedSide>>,
    /// The kernel and the points of each part, where the model has several.
    pub(super) parts: OnceLock<Vec<PartSupport>>,
}

/// The value of a slot, computed if need be; neither an error is kept, nor what came of values that were given up.
pub(super) fn made<T>(slot: &OnceLock<T>, make: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
    if let Some(known) = slot.get() {
        return Ok(known);
    }
    let new = make()?;
    present().whole().map_err(SolveError::from)?;
    Ok(slot.get_or_init(|| new))
}

/// The points of an expansion among examples that are prepared.
pub(super) fn points_of(expansion: &Expansion, examples: &PreparedSide) -> PreparedSide {
    let points = expansion.points();
    if whole(points, examples.len()) { examples.clone() } else { examples.select(points) }
}

impl Support {
    pub(super) fn scores(&self, model: &Model, data: &Dataset) -> Result<Vec<f64>, Error> {
        let expansion = &model.fitted.expansion;
        if matches!(expansion.coefficients, Coefficients::Parts(_)) {
            return self.scores_of_parts(model, data);
        }
        let scores = match features_scores(&model.kernel, expansion, data)? {
            Some(scores) => scores,
            None => {
                let tolerance = model.fitted.report.violation;
                scores_by((&model.machine, &model.kernel), expansion, tolerance, self.points(model)?, data)?
            }
        };
        finite(scores, expansion.outputs())
    }

    /// Predictions, with probabilities and variances where the model has them.
    fn predict(&self, model: &Model, data: &Dataset) -> Result<Output, Error> {
        if let Readout::Parts(names) = &model.fitted.readout {
            return self.predict_parts(model, names, data);
        }
        let scores = self.scores(model, data)?;
        let Some(posterior) = &model.fitted.posterior else { return Ok(model.fitted.read(scores)) };
        let points = self.points(model)?;
        let new = model.kernel.prepare_like(data, points)?;
        let variances = posterior.variances(model.kernel.gram_between(&new, points)?.as_ref());
        let unknown = || DataError::Usage {
            finding: format!(
                "{} needs κ(x, x) of every new example to tell how uncertain it is, which a precomputed matrix does not have",
                model.machine
            ),
        };
        Ok(model.fitted.read_uncertain(scores, Some(variances.ok_or_else(unknown)?)))
    }

    /// The points of the model's own expansion.
    fn points(&self, model: &Model) -> Result<&PreparedSide, Error> {
        made(&self.own, || Ok(points_of(&model.fitted.expansion, &model.kernel.prepare(&model.examples)?)))
    }

    /// The examples that the conformal predictor of a model keeps.
    pub(super) fn pool(&self, model: &Model) -> Result<&PreparedSide, Error> {
        let pool = model.conformal.as_ref().and_then(|conformal| conformal.pool.as_ref());
        made(&self.pool, || model.kernel.prepare(pool.unwrap_or(&model.examples)))
    }

    /// The scores of new examples by a member of the conformal predictor of a model.
    pub(super) fn panel_scores(&self, model: &Model, panel: usize, data: &Dataset) -> Result<Vec<f64>, Error> {
        let panels = model.conformal.as_ref().map_or(&[][..], |conformal| &conformal.panels);
        let expansion = &panels[panel].expansion;
        if let Some(scores) = features_scores(&model.kernel, expansion, data)? {
            return Ok(scores);
        }
        let all = made(&self.panels, || {
            let pool = self.pool(model)?;
            Ok(panels.iter().map(|panel| points_of(&panel.expansion, pool)).collect())
        })?;
        scores_by((&model.machine, &model.kernel), expansion, None, &all[panel], data)
    }
}

/// Scores with so many outputs, if all are finite.
pub(super) fn finite(scores: Vec<f64>, outputs: usize) -> Result<Vec<f64>, Error> {
    match scores.iter().position(|s| !s.is_finite()) {
        Some(place) => Err(SolveError::ScoreNotFinite { example: place / outputs.max(1) + 1 }.into()),
        None => Ok(scores),
    }
}

/// The scores of new examples from their explicit features under a kernel; `None` where an expansion is in examples.
pub(super) fn features_scores(
    kernel: &Formula,
    expansion: &Expansion,
    data: &Dataset,
) -> Result<Option<Vec<f64>>, Error> {
    let Some(width) = expansion.width() else { return Ok(None) };
    if data.len() > SLICE && !kernel.features_are_data() {
        // computed features may be many more numbers than the data
        let mut scores = Vec::with_capacity(data.len() * expansion.outputs());
        for start in (0..data.len()).step_by(SLICE) {
            let slice: Vec<usize> = (start..data.len().min(start + SLICE)).collect();
            scores.extend(features_scores(kernel, expansion, &data.select(&slice))?.unwrap_or_default());
        }
        return Ok(Some(scores));
    }
    let (rows, _) = kernel.features(data).ok_or_else(|| DataError::Usage {
        finding: "this model has explicit weights, for which the data have no features: it needs the kind of examples it was trained on".to_owned(),
    })?;
    let got = rows.width();
    let scores = expansion.primal_scores(&rows).ok_or_else(|| DataError::Usage {
        finding: format!("the model was trained on {width} coordinates, the data have {got}"),
    })?;
    Ok(Some(scores))
}

/// The scores of new examples by an expansion of a machine under a kernel, in examples that are prepared. A tolerance says that the solver
/// knew them no better.
pub(super) fn scores_by(
    (machine, kernel): (&str, &Formula),
    expansion: &Expansion,
    tolerance: Option<f64>,
    points: &PreparedSide,
    data: &Dataset,
) -> Result<Vec<f64>, Error> {
    let new = kernel.prepare_like(data, points)?;
    let cross = kernel.gram_between(&new, points)?;
    let instead = match &expansion.coefficients {
        Coefficients::Ball { .. } => Some("use one_class"),
        Coefficients::Neighbours(n) if n.weighting == Weighting::Distance => Some("take weighting = uniform"),
        _ => None,
    };
    if let Some(remedy) = instead.filter(|_| cross.self_similarities(Side::Rows).is_none()) {
        let finding =
            format!("{machine} needs κ(x, x) of every new example, which a precomputed matrix does not tell; {remedy}");
        return Err(DataError::Usage { finding }.into());
    }
    let bytes = data.len().saturating_mul(expansion.outputs()).saturating_mul(2 * size_of::<f64>());
    check(bytes, "the scores")?;
    Ok(expansion.scores_within(cross.as_ref(), tolerance.filter(|tolerance| *tolerance > 0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Rows, Values};
    use crate::formula::{Bound, Node};
    use crate::gram::Gram;
    use crate::job::Fit;
    use crate::kernels::{self, KernelEntry, KernelError, Leaf, Prepared};
    use crate::machines::regress::Ridge;
    use crate::machines::{Fitted, Part, PartNames, SolverReport};
    use crate::params::{Params, Visit};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The linear kernel, which counts how many examples it has prepared.
    #[derive(Clone)]
    struct Counting(Arc<AtomicUsize>);

    fn linear() -> Box<dyn Leaf> {
        (kernels::find("linear").unwrap().make)()
    }

    impl Params for Counting {
        fn visit(&mut self, _: &mut dyn Visit) {}
    }

    impl Leaf for Counting {
        fn entry(&self) -> &'static KernelEntry {
            kernels::find("polynomial").unwrap()
        }
        fn boxed(&self) -> Box<dyn Leaf> {
            Box::new(self.clone())
        }
        fn eval(&self, rows: &Values, i: usize, cols: &Values, j: usize) -> f64 {
            linear().eval(rows, i, cols, j)
        }
        fn prepare(&self, values: &Values, like: Option<&Arc<dyn Prepared>>) -> Result<Arc<dyn Prepared>, KernelError> {
            self.0.fetch_add(values.len(), Ordering::Relaxed);
            linear().prepare(values, like)
        }
        fn gram_between(
            &self,
            rows: &Arc<dyn Prepared>,
            cols: &Arc<dyn Prepared>,
        ) -> Result<Arc<dyn Gram>, KernelError> {
            linear().gram_between(rows, cols)
        }
    }

    #[test]
    fn one_example_is_all_that_a_predictor_prepares_for_one_example() {
        let count = Arc::new(AtomicUsize::new(0));
        let bound = Bound { kernel: Box::new(Counting(Arc::clone(&count))), view: None };
        let kernel = Formula(Node::Normalise(Box::new(Node::Kernel(bound))));
        let rows = |n: usize| Rows::new((0..2 * n).map(|v| (v as f64).sin()).collect(), n, 2).unwrap();
        let data = Dataset::new(rows(50)).with_target(crate::data::Target::from_numbers("y", vec![1.0; 50])).unwrap();
        let model = Ridge { lambda: 0.1.into(), ..Ridge::default() }.fit(&kernel, &data).unwrap();
        let asked = |work: &dyn Fn()| {
            let before = count.load(Ordering::Relaxed);
            work();
            count.load(Ordering::Relaxed) - before
        };
        let one = Dataset::new(rows(1));
        assert_eq!(asked(&|| drop(model.scores(&one).unwrap())), 51, "a model prepares its examples for each call");
        let predictor = model.clone().predictor();
        assert_eq!(asked(&|| drop(predictor.scores(&one).unwrap())), 51);
        for n in [1, 1, 7] {
            let new = Dataset::new(rows(n));
            assert_eq!(asked(&|| drop(predictor.predict(&new).unwrap())), n);
        }
        assert_eq!(asked(&|| drop(predictor.clone().scores(&one).unwrap())), 1, "copies share what is prepared");
        assert_eq!(predictor.scores(&one).unwrap(), model.scores(&one).unwrap());
    }

    #[test]
    fn landmarks_are_prepared_once() {
        let count = Arc::new(AtomicUsize::new(0));
        let bound = Bound { kernel: Box::new(Counting(Arc::clone(&count))), view: None };
        let kernel = Formula(Node::Kernel(bound)).nystrom(5, crate::formula::Landmarking::Uniform);
        let rows = |n: usize| Rows::new((0..3 * n).map(|v| (v as f64).sin()).collect(), n, 3).unwrap();
        let data = Dataset::new(rows(50)).with_target(crate::data::Target::from_numbers("y", vec![1.0; 50])).unwrap();
        // with explicit features, and with the matrix of low rank
        let primal = Ridge { lambda: 0.1.into(), ..Ridge::default() }.fit(&kernel, &data).unwrap();
        let dual = crate::machines::regress::Svr::default().fit(&kernel, &data).unwrap();
        assert!(primal.fitted.expansion.width().is_some() && dual.fitted.expansion.width().is_none());
        for model in [primal, dual] {
            let alone = model.scores(&Dataset::new(rows(4))).unwrap();
            let predictor = model.predictor();
            assert_eq!(predictor.scores(&Dataset::new(rows(4))).unwrap(), alone);
            for n in [1, 1, 7] {
                let before = count.load(Ordering::Relaxed);
                predictor.scores(&Dataset::new(rows(n))).unwrap();
                assert_eq!(count.load(Ordering::Relaxed) - before, n);
            }
        }
    }

    #[test]
    fn each_part_prepares_its_own_view_once() {
        let counts = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let term = |part: usize, view: &str| {
            Node::Kernel(Bound { kernel: Box::new(Counting(Arc::clone(&counts[part]))), view: Some(view.to_owned()) })
        };
        let kernel = Formula(Node::Sum(vec![term(0, "x"), term(1, "b")]));
        let rows = |n: usize| Rows::new((0..2 * n).map(|v| (v as f64).sin()).collect(), n, 2).unwrap();
        let data = |n: usize| Dataset::new(rows(n)).with_view("b", rows(n)).unwrap();
        let part = |term: usize, points: Vec<usize>| {
            let names = PartNames { name: term.to_string(), coordinates: vec!["c".to_owned()] };
            let coefficients = Coefficients::Dual { alpha: vec![1.0; points.len()], points };
            (names, Part { term, expansion: Expansion { coefficients, offsets: vec![0.0] } })
        };
        // of fifty examples one part needs two, and the other two more
        let fitted = Fitted::of_parts(vec![part(0, vec![40, 3]), part(1, vec![3, 7])], SolverReport::direct());
        let model = Model::new("kernel_pca", Vec::new(), kernel, fitted, &data(50));
        assert_eq!(model.places, [3, 7, 40]);
        assert_eq!(model.parts().iter().map(|p| p.expansion.points().to_vec()).collect::<Vec<_>>(), [[2, 0], [0, 1]]);
        let before = counts.each_ref().map(|count| count.load(Ordering::Relaxed));
        let predictor = model.predictor();
        for n in [1, 4, 2] {
            predictor.predict(&data(n)).unwrap();
        }
        let after = counts.each_ref().map(|count| count.load(Ordering::Relaxed));
        assert_eq!([after[0] - before[0], after[1] - before[1]], [3 + 7; 2]);
    }

    #[test]
    fn one_string_alone_has_the_scores_that_it_has_in_a_batch() {
        let mut random = crate::seed::Seed(2).stream("strings");
        let mut words = |n: usize, letters: usize| -> Vec<String> {
            let mut word = |_| -> String {
                (0..5 + random.below(40))
                    .map(|at| if at % 6 == 5 { ' ' } else { char::from(b'a' + random.below(letters) as u8) })
                    .collect()
            };
            (0..n).map(&mut word).collect()
        };
        let target = |n: usize| crate::data::Target::from_numbers("y", (0..n).map(|i| (i % 7) as f64).collect());
        let (training, new) = (words(60, 3), Dataset::new(words(30, 4)));
        let training = Dataset::new(training).with_target(target(60)).unwrap();
        let text = kernels::all().filter(|entry| entry.kind == crate::data::Kind::Text);
        for entry in text {
            let kernel: Formula = format!("normalise({})", entry.name).parse().unwrap();
            let predictor =
                Ridge { lambda: 0.1.into(), ..Ridge::default() }.fit(&kernel, &training).unwrap().predictor();
            let batch = predictor.scores(&new).unwrap();
            for (i, &together) in batch.iter().enumerate() {
                let alone = predictor.scores(&new.select(&[i])).unwrap()[0];
                // products of dense vectors are summed in another order; all others have the same bits
                let dense = ["latent_semantic", "co_occurrence"].contains(&entry.name);
                let tolerance = if dense { 1e-12 * (1.0 + together.abs()) } else { 0.0 };
                assert!((alone - together).abs() <= tolerance, "{}: {alone} {together}", entry.name);
            }
        }
    }
}
