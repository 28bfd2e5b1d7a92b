//! Models: a fitted machine joined with its kernel and the examples it needs.

mod coefficients;
mod conformity;
mod error;
mod figure;
mod file;
mod importance;
mod learned;
mod libsvm;
mod members;
mod onnx;
mod parts;
mod plane;
mod posterior;
mod predictor;
mod profile;
mod provenance;
mod regions;
mod regression;
mod reliability;
mod roc;
mod sample;
mod seen;
mod tensors;
mod weights;

pub(crate) use conformity::sub_readout;
pub use error::FileError;
pub use importance::{Explain, Explanation, Importance, Together};
pub use libsvm::{LibsvmFile, is_libsvm};
pub use onnx::OnnxFile;
pub use parts::ModelPart;
pub use predictor::Predictor;
pub use provenance::{LearnedFrom, Provenance, Step};
pub(crate) use regions::{codes_of, labels_of, of_labels, own_scores, residuals};
pub use seen::Seen;

use crate::conformal::Conformal;
use crate::data::{
    ApplyOptions, DataError, Dataset, Kind, Schema, Table, Target, Values, View, ViewSchema, places_of_labels,
};
use crate::error::Error;
use crate::formula::Formula;
use crate::job::Job;
use crate::machines::{self, Fitted, Machine, Readout};
use crate::params::{Setting, assign};
use std::borrow::Cow;
use std::sync::Arc;

/// Facts that files of other programs cannot express.
const NO_REGIONS: &str = "conformal sets, intervals and p-values are not in the file";

/// A trained model: what predicts, and what is told about how it came to be.
///
/// Its parts can be read and not replaced, since certificates and coverages speak of the fit that was made: who wants another fit in the place
/// of this one takes [`Model::with_fitted`], which forgets everything that this one has earned.
///
/// ```compile_fail,E0616
/// # use mercer::prelude::*;
/// # let rows = Rows::new(vec![0.0, 1.0, 2.0, 3.0], 4, 1)?;
/// # let data = Dataset::new(rows).with_target(Target::from(vec![0.0, 1.0, 0.0, 1.0]))?;
/// let mut model = Ridge::default().fit(&rbf(1.0), &data)?;
/// model.fitted.expansion.offsets = vec![7.0];
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) machine: String,
    pub(crate) settings: Vec<(String, Setting)>,
    pub(crate) kernel: Formula,
    pub(crate) fitted: Fitted,
    pub(crate) examples: Dataset,
    /// The schema that turns files into data for this model; `None` for a model fitted on data in memory.
    pub(crate) schema: Option<Schema>,
    pub(crate) trained_on: usize,
    pub(crate) places: Vec<usize>,
    pub(crate) candidates: usize,
    /// ln(1/p) of the model under the prior over the candidates that its search was given.
    pub(crate) candidate_nats: Option<f64>,
    pub(crate) provenance: Option<Provenance>,
    /// The job as it was asked for; files from elsewhere and older ones do not have it.
    pub(crate) job: Option<Arc<Job>>,
    pub(crate) conformal: Option<Conformal>,
    /// The names of the columns of views that came from no file; a schema has those of a file.
    pub(crate) columns: Vec<(String, Vec<String>)>,
}

impl Model {
    /// Joins a fit with its kernel and training data; keeps only the examples that predictions need.
    pub(crate) fn new(
        machine: &str,
        settings: Vec<(String, Setting)>,
        kernel: Formula,
        mut fitted: Fitted,
        training: &Dataset,
    ) -> Self {
        let indexed = index_precomputed(&kernel, training);
        let mut places = fitted.expansion.needed_points();
        let examples = if kernel.needs_all_examples() {
            places = (0..training.len()).collect();
            // lent numbers may change once the fit is over
            indexed.to_own()
        } else {
            for points in fitted.expansion.points_mut() {
                if *points == places {
                    *points = (0..places.len()).collect();
                } else {
                    // a part that needs fewer examples than all parts together, which stand in the order of the data
                    points.iter_mut().for_each(|p| *p = places.partition_point(|kept| kept < p));
                }
            }
            indexed.select(&places)
        };
        Self {
            machine: machine.to_owned(),
            settings,
            kernel,
            fitted,
            examples: examples.without_target().without_preparation(),
            schema: training.preparation().map(|p| p.schema().clone()),
            trained_on: training.len(),
            places,
            candidates: 1,
            candidate_nats: None,
            provenance: None,
            job: None,
            conformal: None,
            columns: Vec::new(),
        }
    }

    /// A model of a fit that no job has made: by another program, or by hand. It is of unknown provenance, so that its certificates say what the
    /// caller vouches for.
    pub fn assembled(
        machine: &str,
        settings: Vec<(String, Setting)>,
        kernel: Formula,
        fitted: Fitted,
        training: &Dataset,
    ) -> Self {
        Self::new(machine, settings, kernel, fitted, training).with_unknown_provenance()
    }

    /// The same model with another fit, whose points are places in [`Model::examples`]. It is of unknown provenance, without a job and
    /// without regions: certificates and coverages belong to the fit that was made.
    #[must_use]
    pub fn with_fitted(self, fitted: Fitted) -> Self {
        Self { fitted, job: None, conformal: None, ..self }.with_unknown_provenance()
    }

    /// The same with nothing known of where it comes from; scores that nobody has computed from the fit are forgotten.
    fn with_unknown_provenance(mut self) -> Self {
        self.fitted.training_scores = None;
        Self { candidates: 0, candidate_nats: None, provenance: None, ..self }
    }

    /// The machine's name.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// The machine's parameters.
    pub fn settings(&self) -> &[(String, Setting)] {
        &self.settings
    }

    /// The kernel, with numbers resolved.
    pub fn kernel(&self) -> &Formula {
        &self.kernel
    }

    /// Expansion, readout and solver report; points are places in [`Model::examples`].
    pub fn fitted(&self) -> &Fitted {
        &self.fitted
    }

    /// The examples that predictions need.
    pub fn examples(&self) -> &Dataset {
        &self.examples
    }

    /// The number of training examples; 0 where the file of another program does not have it.
    pub fn trained_on(&self) -> usize {
        self.trained_on
    }

    /// Places of [`Model::examples`] in the training data; not saved.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// True if the points of the expansion are all examples in their order; a support vector machine has them class by class.
    pub(crate) fn is_whole(&self) -> bool {
        whole(self.fitted.expansion.points(), self.examples.len())
    }

    /// The machine with the model's parameters; `None` where no machine has the name.
    ///
    /// # Errors
    /// If the machine has other parameters here.
    pub fn remade(&self) -> Result<Option<Box<dyn Machine>>, Error> {
        let Some(entry) = machines::find(&self.machine) else { return Ok(None) };
        let mut machine = (entry.make)();
        for (name, value) in &self.settings {
            assign(entry.name, machine.as_mut(), name, value)?;
        }
        Ok(Some(machine))
    }

    /// The schema: how files become data for this model; `None` for a model fitted on data in memory.
    pub fn schema(&self) -> Option<&Schema> {
        self.schema.as_ref()
    }

    /// The job that made the model, as it was asked for; `None` where a file from elsewhere or an older one does not have it.
    pub fn job(&self) -> Option<&Job> {
        self.job.as_deref()
    }

    /// The predictor of sets, intervals or p-values, where one was learned.
    pub fn conformal(&self) -> Option<&Conformal> {
        self.conformal.as_ref()
    }

    /// The same model, which knows the names of the columns of views that came from no file, so that those who load it can ask for the
    /// columns by their names.
    #[must_use]
    pub fn with_column_names(self, columns: Vec<(String, Vec<String>)>) -> Self {
        Self { columns, ..self }
    }

    /// The names of the coordinates of each view that has some: those of the file it was learned on, or as they were told.
    pub fn column_names(&self) -> Vec<(String, Vec<String>)> {
        let Some(schema) = self.schema.as_ref().filter(|s| s.header_names().is_some_and(|names| !names.is_empty()))
        else {
            return self.columns.clone();
        };
        let named = |view: &ViewSchema| Some((view.name.clone(), view.coordinate_names()?));
        schema.views().iter().filter_map(named).collect()
    }

    /// Turns a table from a file into data for this model.
    pub fn data(&self, table: &Table) -> Result<Dataset, Error> {
        self.data_as(table, ApplyOptions::default())
    }

    /// Turns a table from a file into data for this model, where something is to be other than training left it.
    pub fn data_as(&self, table: &Table, options: ApplyOptions) -> Result<Dataset, Error> {
        let data = self.schema_of_files()?.apply_as(table, options)?;
        Ok(if self.schema.is_some() { data } else { self.as_in_memory(data) })
    }

    /// Data whose labels are the places of the model's, where training examples are recognised so: those who learn in memory may have places
    /// where a file has labels.
    fn as_in_memory(&self, data: Dataset) -> Dataset {
        let (Readout::ArgMax { labels } | Readout::Vote { labels }) = &self.fitted.readout else { return data };
        let Some(target) = data.target() else { return data };
        let names = target.names();
        let (Ok(classes), [name]) = (target.classes(), names.as_slice()) else { return data };
        let found = places_of_labels(labels, &classes.labels);
        let mut known = labels.clone();
        let places: Vec<usize> = found
            .into_iter()
            .zip(&classes.labels)
            .map(|(place, label)| {
                place.unwrap_or_else(|| {
                    known.push(label.clone());
                    known.len() - 1
                })
            })
            .collect();
        let codes = classes.codes.iter().map(|&code| places[code as usize] as f64).collect();
        let spelled = known.iter().enumerate().map(|(place, label)| (place as f64, label));
        let coded = Target::from_numbers(name, codes).spelled(spelled);
        let equal = |data: &Dataset| self.seen(data).map_or(0, |seen| seen.equal);
        match data.clone().with_target(coded) {
            Ok(coded) if equal(&coded) > equal(&data) => coded,
            _ => data,
        }
    }

    /// The schema that files become data by: that of the training file, or of a model that was learned in memory its columns as they are.
    ///
    /// # Errors
    /// If no file has such examples.
    pub fn schema_of_files(&self) -> Result<Cow<'_, Schema>, Error> {
        if let Some(schema) = &self.schema {
            return Ok(Cow::Borrowed(schema));
        }
        let plain = Schema::of_memory(&self.examples, &self.columns, self.kernel.meets_gaps());
        let unfit = |what| DataError::Usage { finding: format!("this model was not trained on a file: {what}") };
        Ok(Cow::Owned(plain.map_err(unfit)?))
    }
}

/// True if points are all examples in their order.
fn whole(points: &[usize], examples: usize) -> bool {
    points.len() == examples && points.is_sorted()
}

/// Views that a precomputed kernel reads are kept as places only: their rows mean nothing without the matrix.
pub(crate) fn index_precomputed(kernel: &Formula, training: &Dataset) -> Dataset {
    let wanted = kernel.views();
    let views = training.views().iter().map(|view| {
        let read = wanted.iter().any(|(name, kind)| {
            *kind == Kind::Precomputed
                && name.map_or(training.views().len() == 1 || view.name == "x", |n| n == view.name)
        });
        let values = if read && view.values.kind() == Kind::Vectors {
            Values::Index(Arc::new((0..view.values.len() as u32).collect()))
        } else {
            view.values.clone()
        };
        View { name: view.name.clone(), values }
    });
    Dataset::from_views(views.collect()).unwrap_or_else(|_| training.clone())
}
