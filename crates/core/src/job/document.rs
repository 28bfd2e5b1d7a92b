//! Jobs as JSON: the machine by its name, the kernel by its formula. The memory budget belongs to the computer that runs a job, and is
//! not written.

use super::Job;
use crate::calibrate::Method;
use crate::conformal::Recipe;
use crate::data::SchemaOptions;
use crate::machines;
use crate::params::Setting;
use crate::seed::Seed;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    machine: String,
    #[serde(default)]
    settings: Vec<(String, Setting)>,
    kernel: String,
    #[serde(default)]
    columns: SchemaOptions,
    #[serde(default, skip_serializing_if = "is_zero")]
    preparation_share: f64,
    #[serde(default)]
    numbers_taken: usize,
    #[serde(default = "one")]
    candidates: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    candidate_nats: Option<f64>,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    probabilities: Option<Method>,
    #[serde(default)]
    calibration_folds: usize,
    #[serde(default)]
    conformal: Option<Recipe>,
}

fn one() -> usize {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks by reference
fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

impl Serialize for Job {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let document = Document {
            machine: self.machine.name.to_owned(),
            settings: self.settings.clone(),
            kernel: self.kernel.to_string(),
            columns: self.columns.clone(),
            preparation_share: self.preparation_share,
            numbers_taken: self.numbers_taken,
            candidates: self.candidates,
            candidate_nats: self.candidate_nats,
            seed: self.seed.0,
            probabilities: self.probabilities,
            calibration_folds: self.calibration_folds,
            conformal: self.conformal,
        };
        document.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Job {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let document = Document::deserialize(from)?;
        let Some(machine) = machines::find(&document.machine) else {
            return Err(de::Error::custom(format!(
                "there is no machine called {}; `mercer list machines` names them all",
                document.machine
            )));
        };
        let named = |i: usize| document.settings[..i].iter().any(|(name, _)| *name == document.settings[i].0);
        if let Some(twice) = (0..document.settings.len()).find(|&i| named(i)) {
            return Err(de::Error::custom(format!("the parameter {} is given twice", document.settings[twice].0)));
        }
        let job = Job {
            settings: document.settings,
            columns: document.columns,
            preparation_share: document.preparation_share,
            numbers_taken: document.numbers_taken,
            candidates: document.candidates,
            candidate_nats: document.candidate_nats,
            seed: Seed(document.seed),
            probabilities: document.probabilities,
            calibration_folds: document.calibration_folds,
            conformal: document.conformal,
            ..Job::of(machine, document.kernel.parse().map_err(de::Error::custom)?)
        };
        // parameters that the machine does not have are found in reading, not in running
        job.make().map_err(de::Error::custom)?;
        Ok(job)
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("machine", &self.machine.name)
            .field("settings", &self.settings)
            .field("kernel", &self.kernel.to_string())
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
