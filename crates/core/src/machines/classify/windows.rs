//! Sums of kernel values: a machine for tests.

use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, SolverReport, Task,
};
use crate::params::{Params, Rule, Visit};
use crate::sources::{KMPA, Source};
use crate::watch::Monitor;

/// s_c(x) = w Σ_{i∈c} κ(x_i, x).
#[derive(Clone)]
struct Windows {
    /// w.
    weight: f64,
}

impl Params for Windows {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("weight", &mut self.weight, Rule::Above(0.0), "what an example counts");
    }
}

/// The catalogue's entry.
pub(super) static MACHINE: MachineEntry = MachineEntry {
    name: "windows",
    aliases: &[],
    summary: "the class with the largest sum of kernel values",
    formula: "s_c(x) = w Σ_{i∈c} κ(xᵢ, x)",
    learns: Learns::Classes,
    source: Source::new(&KMPA, "Algorithm 5.6, without its offset"),
    use_when: "something is to be tested",
    cost: "None beyond predictions.",
    make: || Box::new(Windows { weight: 1.0 }),
};

impl Machine for Windows {
    fn entry(&self) -> &'static MachineEntry {
        &MACHINE
    }

    fn run(&self, task: &Task<'_>, _: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(MACHINE.name)?;
        let (n, count) = (task.len(), classes.labels.len());
        let mut alpha = vec![0.0; n * count];
        classes.codes.iter().enumerate().for_each(|(i, &code)| alpha[i * count + code as usize] = self.weight);
        let coefficients = Coefficients::Dual { points: (0..n).collect(), alpha };
        let readout = Readout::ArgMax { labels: classes.labels };
        Ok(Fitted::new(Expansion { coefficients, offsets: vec![0.0; count] }, readout, SolverReport::direct()))
    }
}
