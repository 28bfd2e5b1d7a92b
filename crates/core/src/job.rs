//! Jobs: a machine, a kernel and a plan, run on data. The only place that knows the whole story from data to model.

use crate::data::Dataset;
use crate::error::Error;
use crate::formula::Formula;
use crate::gram::Plan;
use crate::machines::{Features, Machine, Task};
use crate::model::Model;
use crate::seed::Seed;
use crate::solvers::{Monitor, Silent};

/// A whole experiment as a value.
pub struct Job<'a> {
    /// What learns.
    pub machine: &'a dyn Machine,
    /// How examples are compared.
    pub kernel: &'a Formula,
    /// Memory.
    pub plan: Plan,
    /// Randomness.
    pub seed: Seed,
}

impl<'a> Job<'a> {
    /// A machine and a kernel with the default plan and seed.
    pub fn new(machine: &'a dyn Machine, kernel: &'a Formula) -> Self {
        Self { machine, kernel, plan: Plan::default(), seed: Seed(0) }
    }

    /// Learns from data.
    ///
    /// # Errors
    /// If the data fit neither kernel nor machine, or the memory plan forbids it.
    pub fn run(&self, data: &Dataset, watch: &dyn Monitor) -> Result<Model, Error> {
        let kernel = self.kernel.resolve(data, self.seed)?;
        let task = Task {
            gram: kernel.training_gram(data)?,
            features: kernel.features(data).map(|(rows, scale)| Features { rows, scale }),
            target: data.target(),
            weights: None,
            start: None,
            threads: rayon::current_num_threads(),
            plan: self.plan,
            seed: self.seed,
        };
        let fitted = self.machine.run(&task, watch)?;
        let settings = self.machine.settings().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Model::new(self.machine.entry().name, settings, kernel, fitted, data))
    }
}

/// Learning in one call; every machine has it.
pub trait Fit: Machine + Sized {
    /// Learns from data with a kernel.
    ///
    /// ```
    /// use mercer::prelude::*;
    /// let x = Rows::from_vectors(&[[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]).unwrap();
    /// let y = vec!["same", "same", "different", "different"];
    /// let data = Dataset::new(x).with_target(Target::from_text("y", &y))?;
    /// let model = Svc { c: 100.0, ..Svc::default() }.fit(&rbf(1.0), &data)?;
    /// assert_eq!(model.predict(&data)?.labels(), y);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    fn fit(&self, kernel: &Formula, data: &Dataset) -> Result<Model, Error> {
        Job::new(self, kernel).run(data, &Silent)
    }
}

impl<M: Machine> Fit for M {}
