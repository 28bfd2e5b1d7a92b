//! The grid where none is given: the values that machine and kernels declare themselves ([`Traits::searched`], [`KernelFacts::searched`]).
//!
//! Values do not look at the examples, so that candidates are those of any other grid. A parameter that was given is not searched.
//!
//! [`Traits::searched`]: crate::machines::Traits::searched
//! [`KernelFacts::searched`]: crate::kernels::KernelFacts::searched

use super::grid::{Axis, Grid};
use crate::data::DataError;
use crate::error::Error;
use crate::formula::Formula;
use crate::machines::Machine;
use crate::params::{Params, Setting, describe};

/// The axes of a declaration.
fn declared(text: &str) -> Vec<Axis> {
    text.parse::<Grid>().map(|grid| grid.axes).unwrap_or_default()
}

/// The parameter that a name sets, of which it may be another spelling.
fn meant<'n>(of: &mut dyn Params, name: &'n str) -> &'n str {
    describe(of).into_iter().find(|d| d.name == name).and_then(|d| d.spelling_of).unwrap_or(name)
}

impl Grid {
    /// The values that machine and kernels declare for parameters that were not given: those of the machine in `given`, and of the kernels
    /// those in `written` and all that have not their default. Parameters that machine and kernel both have are told apart as `machine.gamma` and `kernel.gamma`.
    ///
    /// ```
    /// use mercer::prelude::*;
    /// use mercer::select::Grid;
    /// let grid = Grid::usual((&Svc::default(), &[]), (&rbf(0.5), &[]))?;
    /// assert_eq!(grid.to_string(), "c=0.1|1|10|100|1000"); // the width was given
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Errors
    /// If nothing is left to search.
    pub fn usual(
        (machine, given): (&dyn Machine, &[(String, Setting)]),
        (kernel, written): (&Formula, &[&str]),
    ) -> Result<Self, Error> {
        let mut fresh = (machine.entry().make)();
        let given: Vec<&str> = given.iter().map(|(name, _)| meant(fresh.as_mut(), name)).collect();
        let mut of_machine = declared(machine.traits().searched);
        of_machine.retain(|axis| !given.contains(&axis.name.as_str()));
        let mut of_kernel = of_formula(kernel);
        of_kernel.retain(|axis| !written.contains(&axis.name.as_str()));
        let names: Vec<&str> = describe(fresh.as_mut()).iter().map(|d| d.name).collect();
        for axis in &mut of_machine {
            if kernel.has_parameter(&axis.name) {
                axis.name = format!("machine.{}", axis.name);
            }
        }
        for axis in &mut of_kernel {
            if names.contains(&axis.name.as_str()) {
                axis.name = format!("kernel.{}", axis.name);
            }
        }
        let axes: Vec<Axis> = of_machine.into_iter().chain(of_kernel).collect();
        if axes.is_empty() {
            let name = machine.entry().name;
            let finding = format!(
                "neither {name} nor the kernel {kernel} has a parameter left with values to try; give a grid (--grid), or fit {name} as it is"
            );
            return Err(DataError::Usage { finding }.into());
        }
        Ok(Self { axes })
    }
}

/// The values that kernels of a formula declare for parameters that have their defaults in every kernel that has them.
fn of_formula(kernel: &Formula) -> Vec<Axis> {
    let given = kernel.changed_parameters();
    let mut axes: Vec<Axis> = Vec::new();
    for axis in kernel.searched().into_iter().flat_map(declared) {
        if !given.contains(&axis.name.as_str()) && axes.iter().all(|known| known.name != axis.name) {
            axes.push(axis);
        }
    }
    axes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use crate::machines::{self, predicts_target};
    use crate::params::assign;

    fn usual(machine: &str, kernel: &str) -> String {
        let machine = machines::parse(machine).unwrap();
        let written: &[&str] = if kernel.contains("gamma=scale") { &["gamma"] } else { &[] };
        let made = machine.make().unwrap();
        let found = Grid::usual((made.as_ref(), &machine.settings), (&kernel.parse().unwrap(), written));
        found.map_or_else(|error| error.to_string(), |grid| grid.to_string())
    }

    #[test]
    fn what_is_given_is_not_searched() {
        let gammas = "gamma=0.0001|0.001|0.01|0.1|1|10";
        assert_eq!(usual("svc", "rbf"), format!("c=0.1|1|10|100|1000, {gammas}"));
        // also where what is given is the default
        assert_eq!(usual("svc(c=1)", "rbf"), gammas);
        assert_eq!(usual("svc", "rbf(gamma=scale)"), "c=0.1|1|10|100|1000");
        assert_eq!(usual("svc", "rbf(gamma=0.5)"), "c=0.1|1|10|100|1000");
        assert_eq!(
            usual("svc(c=3)", "rbf(sigma=2) + linear"),
            "neither svc nor the kernel rbf(gamma=0.125) + linear has a parameter left with values to try; give a grid (--grid), or fit svc as it is"
        );
        // one name sets both kernels, so the width that was given would be lost
        assert_eq!(usual("svc(c=3)", "rbf(gamma=2)@a * rbf@b + spectrum@s"), "length=2|3|4|5|6");
        assert_eq!(usual("nearest_mean", "rbf"), gammas);
        assert_eq!(
            usual("linear_fisher", "polynomial"),
            "gamma=0|0.01|0.1|0.3|1, degree=1|2|3|4".replacen("gamma", "machine.gamma", 1)
        );
    }

    #[test]
    fn every_declaration_reads_and_every_value_is_allowed() {
        let mut searched = 0;
        for entry in machines::all() {
            let text = (entry.make)().traits().searched;
            assert!(text.is_empty() || predicts_target(entry), "{} has nothing to be judged by", entry.name);
            if text.is_empty() {
                continue;
            }
            let grid: Grid = text.parse().unwrap();
            assert_eq!(declared(text).len(), grid.axes.len());
            searched += 1;
            for (name, value) in grid.points().into_iter().flatten() {
                assign(entry.name, (entry.make)().as_mut(), &name, &value).unwrap();
            }
        }
        assert!(searched > 20, "{searched}");
        for entry in kernels::all() {
            let text = (entry.make)().facts().searched;
            if text.is_empty() {
                continue;
            }
            let grid: Grid = text.parse().unwrap();
            for (name, value) in grid.points().into_iter().flatten() {
                assign(entry.name, (entry.make)().as_mut(), &name, &value).unwrap();
            }
            assert!(!of_formula(&entry.name.parse().unwrap()).is_empty(), "{}", entry.name);
        }
    }

    #[test]
    fn a_grid_prints_as_text_that_reads_back() {
        let grid: Grid = "c=1e-5..1e4:log4, gamma=scale|0.25".parse().unwrap();
        assert_eq!(grid.to_string().parse::<Grid>().unwrap(), grid);
    }
}
