//! Examples set apart to prepare the others: scaling, codes and parameters of kernels are learned from a random share of the examples, and
//! the machine learns from the rest.
//!
//! # Why nothing is paid for it
//! Let S be m independent draws, P a share of them chosen by the seed without a look at any, and R the other n. Given P, whatever was
//! prepared is a constant and R are n independent draws of the same distribution. Every theorem about a machine with fixed columns and a fixed
//! kernel thus holds for the fit on R with n examples, at any δ; the mean over P keeps δ. No union bound over what might have been learned is
//! needed, which takes 64 bits a number. The price is that n stands for m.
//!
//! # Source
//! The argument is that of a hold-out; for kernels and priors learned on a part: A. Ambroladze, E. Parrado-Hernández & J. Shawe-Taylor,
//! Tighter PAC-Bayes bounds, NIPS 19 (2007), §3.

use super::Job;
use crate::data::{DataError, Dataset, Kind, Missing, Preparation, Schema, SchemaOptions, Table, Wanted};
use crate::error::Error;
use crate::machines::FitError;
use std::borrow::Cow;

impl Job {
    /// The examples that the machine learns from, beside those that are set apart to prepare them, if some are and have not been yet.
    ///
    /// # Errors
    /// If the share leaves nothing on one side, or there is nothing that a share could prepare.
    pub(crate) fn set_apart<'d>(&self, data: &'d Dataset) -> Result<Cow<'d, Dataset>, Error> {
        if self.preparation_share == 0.0 || data.preparation_set().is_some() {
            return Ok(Cow::Borrowed(data));
        }
        if self.auxiliary.as_ref().is_some_and(|a| !a.is_empty()) {
            let finding = "noise, copies and points stand beside all examples, of which some would be set apart to prepare the others; make them of the others, or leave the preparation share out";
            return Err(FitError::Param { machine: self.machine.name, finding: finding.to_owned() }.into());
        }
        let places = self.places_apart(data.len())?;
        Ok(Cow::Owned(data.setting_apart(&places, self.preparation_share)))
    }

    /// The places of the examples that are set apart, in rising order. Nothing but their number is looked at.
    fn places_apart(&self, n: usize) -> Result<Vec<usize>, Error> {
        let share = self.preparation_share;
        let wrong = |finding: String| Err(DataError::Usage { finding }.into());
        if !(share > 0.0 && share < 1.0) {
            return wrong(format!(
                "a preparation share of {share} is no share of the examples: give a number between 0 and 1, such as 0.2, or 0 to learn everything from all"
            ));
        }
        if self.kernel.views().iter().any(|(_, kind)| *kind == Kind::Precomputed) {
            return wrong("a precomputed matrix has been prepared already; leave the preparation share out".to_owned());
        }
        let count = (share * n as f64).round() as usize;
        if count == 0 || count >= n {
            return wrong(format!(
                "a preparation share of {share} is {count} of {n} examples, and at least one must prepare the others and one be learned from"
            ));
        }
        let mut places = self.seed.stream("preparation").permutation(n);
        places.truncate(count);
        places.sort_unstable();
        Ok(places)
    }

    /// The data of a table, scaled and coded by examples that are set apart. `whole` is what all rows together taught.
    pub(super) fn prepare_apart(
        &self,
        table: &Table,
        options: &SchemaOptions,
        wanted: &Wanted,
        whole: Option<&Preparation>,
    ) -> Result<Dataset, Error> {
        // rows with missing entries that are left out are no examples
        let drops = options.missing == Missing::Drop;
        let complete = whole.filter(|_| drops).map(|p| p.schema().complete_examples(table)).transpose()?;
        let fewer = complete.map(|rows| table.select(&rows));
        let table = fewer.as_ref().unwrap_or(table);
        let places = self.places_apart(table.len)?;
        let rest: Vec<usize> = (0..table.len).filter(|i| places.binary_search(i).is_err()).collect();
        let (schema, few) = Schema::learn_and_apply_for(&table.select(&places), options, wanted)?;
        let data = schema.apply(&table.select(&rest)).map_err(|error| DataError::Usage {
            finding: format!(
                "columns were to be learned from {} of {} examples, and the others do not fit: {error}; give a larger preparation share",
                places.len(),
                table.len
            ),
        })?;
        let remarks = whole.map(|p| p.remarks().to_vec()).unwrap_or_default();
        let unseen = data.preparation().map(|p| p.unseen().to_vec()).unwrap_or_default();
        let preparation = Preparation::by_set_apart(&schema, options).remarking(remarks).having(unseen, 0);
        Ok(data.with_preparation(preparation).beside_set_apart(few, &places, self.preparation_share))
    }
}
