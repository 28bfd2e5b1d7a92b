//! Preparation as a part of the job: a table becomes data by a schema that learns from no example that may be held out.

use super::{Job, check_target};
use crate::data::{DataError, Dataset, Preparation, Schema, Table};
use crate::error::Error;
use crate::machines::Learns;
use crate::model::Model;
use crate::watch::Monitor;
use std::borrow::Cow;

impl Job {
    /// Turns a table into the data of this job. Columns that nobody names are chosen by the kernel's formula. Where conformal
    /// regions are wanted, columns are scaled and coded by the examples that are never held out, if these have every category;
    /// otherwise by all examples, and the data remember that no coverage can be proven. With a share for the preparation
    /// ([`Job::preparation_share`]) they are scaled and coded by that share, and the data are the other examples.
    ///
    /// ```
    /// use mercer::prelude::*;
    /// let job = Job::new(&Svc::default(), &rbf(1.0));
    /// let data = job.prepare(mercer::datasets::load("iris", None, Seed(0))?)?;
    /// let model = job.run(&data, &mercer::watch::Silent)?;
    /// // the model remembers how columns become numbers
    /// assert_eq!(model.schema().map(|schema| schema.target_names()), Some(vec!["species"]));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Errors
    /// If columns do not exist, hold what cannot be learned from, or no example is left.
    pub fn prepare(&self, mut table: Table) -> Result<Dataset, Error> {
        let (wanted, mut options) = (self.kernel.wanted(), self.columns.clone());
        if let Cow::Owned(divided) = options.divided(&table) {
            table = divided;
        }
        options.drop_annotations(&mut table, &wanted);
        // columns that are inferred to be categories have not been declared to be
        check_target(self.machine, &table, &options)?;
        options.infer(&table, &wanted, self.machine.learns == Learns::Numbers)?;
        let (_, data) = Schema::learn_and_apply_for(&table, &options, &wanted)?;
        if data.is_empty() {
            return Err(DataError::Empty { place: table.file }.into());
        }
        if self.preparation_share != 0.0 {
            return self.prepare_apart(&table, &options, &wanted, data.preparation());
        }
        let learns = data.preparation().is_some_and(|p| p.learned_bits() > 0.0);
        // rows that were left out would have other places
        let Some(recipe) = self.conformal.filter(|_| learns && data.len() > 1 && data.len() == table.len) else {
            return Ok(data);
        };
        let (_, kept) = recipe.parts(&data, self.seed)?;
        // a category that only the others have cannot be coded: then all have to be asked, and nothing is proven
        let by_kept = Schema::learn_and_apply_for(&table.select(&kept), &options, &wanted)
            .and_then(|(schema, _)| schema.apply(&table).map(|data| (schema, data)))
            .ok()
            .filter(|(_, data)| data.len() == table.len);
        Ok(match by_kept {
            Some((schema, by_kept)) => {
                let remarks = data.preparation().map(|p| p.remarks().to_vec()).unwrap_or_default();
                by_kept.with_preparation(Preparation::by_kept(&schema, &options, &kept).remarking(remarks))
            }
            None => data,
        })
    }

    /// Prepares a table and learns from it.
    ///
    /// # Errors
    /// As [`Job::prepare`] and [`Job::run`].
    pub fn run_on_table(&self, table: Table, watch: &dyn Monitor) -> Result<Model, Error> {
        self.run(&self.prepare(table)?, watch)
    }
}
