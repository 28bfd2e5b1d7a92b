//! A contender: a machine of the catalogue, how it is set, and the grid of what is chosen for it.

use mercer::formula::{Formula, linear, rbf};
use mercer::machines::{self, MachineEntry};
use mercer::params::{Setting, assign};
use mercer_terminal::Failure;
use serde_json::{Value, json};

/// A machine that takes part in a comparison.
pub(super) struct Contender {
    /// Its name in the comparison.
    pub(super) name: &'static str,
    /// Its name in the catalogue.
    pub(super) machine: &'static str,
    /// Its parameters that are not chosen.
    pub(super) fixed: &'static [(&'static str, Fixed)],
    /// Its parameters that are chosen. [`WIDTH`], which belongs to the kernel, comes first; without it the machine
    /// works on explicit coordinates.
    pub(super) axes: &'static [Axis],
}

/// A parameter that is not chosen.
#[derive(Clone, Copy)]
pub(super) enum Fixed {
    Word(&'static str),
    Number(f64),
}

impl Fixed {
    /// As the machine takes it.
    pub(super) fn setting(self) -> Setting {
        match self {
            Self::Word(word) => Setting::Word(word.to_owned()),
            Self::Number(number) => Setting::Number(number),
        }
    }
}

/// The width c of the kernel exp(−‖x − z‖²/c).
pub(super) const WIDTH: &str = "width";

/// A parameter that is chosen, on a logarithmic scale: unit · 10^e for exponents e in equal steps.
pub(super) struct Axis {
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    /// The first exponent.
    pub(super) from: f64,
    /// From one exponent of the coarse grid to the next.
    pub(super) step: f64,
    /// Their number.
    pub(super) count: usize,
    /// True if values are whole numbers.
    pub(super) whole: bool,
}

/// The scale of a parameter.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    One,
    /// The number of coordinates: squared distances of standardised data grow with it.
    Coordinates,
    /// The number of training examples.
    Examples,
}

/// The size of a problem.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) coordinates: usize,
    pub(super) examples: usize,
}

impl Axis {
    /// The value at an exponent.
    pub(super) fn value(&self, exponent: f64, size: Size) -> f64 {
        let value = self.unit(size) * 10_f64.powf(exponent);
        if self.whole { value.round().max(1.0) } else { value }
    }

    fn unit(&self, size: Size) -> f64 {
        match self.unit {
            Unit::One => 1.0,
            Unit::Coordinates => size.coordinates as f64,
            Unit::Examples => size.examples as f64,
        }
    }

    /// True if a value is nearer to the first or the last value of the coarse grid than to any other: a wider grid might have gone on.
    pub(super) fn at_edge(&self, value: f64, size: Size) -> bool {
        let steps = ((value / self.unit(size)).log10() - self.from) / self.step;
        let last = self.count.saturating_sub(1) as f64;
        // a value in the middle of two may come from either
        steps < 0.49 || steps > last - 0.49
    }

    /// The exponents of the coarse grid.
    pub(super) fn coarse(&self) -> Vec<f64> {
        (0..self.count).map(|k| self.from + self.step * k as f64).collect()
    }

    /// So many exponents around one, to halfway to its neighbours on the coarse grid.
    pub(super) fn refined(&self, around: f64, count: usize) -> Vec<f64> {
        match count {
            0 | 1 => vec![around],
            n => (0..n).map(|k| around + self.step * (k as f64 / (n - 1) as f64 - 0.5)).collect(),
        }
    }
}

impl Contender {
    /// The entry of its machine.
    pub(super) fn entry(&self) -> Result<&'static MachineEntry, Failure> {
        let entry = machines::find(self.machine).ok_or_else(|| {
            let finding = format!("{} needs the machine {}, which this program does not have", self.name, self.machine);
            Failure::usage(format!("{finding}; leave it out with --machines"))
        })?;
        // a parameter that it does not have is told before any work
        let mut machine = (entry.make)();
        let middle: Vec<f64> = self.axes.iter().map(|a| a.from).collect();
        for (name, value) in self.settings(&middle, Size { coordinates: 1, examples: 1 }) {
            assign(entry.name, machine.as_mut(), &name, &value)?;
        }
        Ok(entry)
    }

    /// True if the first axis is the width of the kernel.
    pub(super) fn has_width(&self) -> bool {
        self.axes.first().is_some_and(|a| a.name == WIDTH)
    }

    /// The kernel at the exponents of a point.
    pub(super) fn kernel(&self, point: &[f64], size: Size) -> Formula {
        match (self.axes.first(), point.first()) {
            (Some(axis), Some(&exponent)) if axis.name == WIDTH => rbf(1.0 / axis.value(exponent, size)),
            _ => linear(),
        }
    }

    /// The parameters of the machine at the exponents of a point.
    pub(super) fn settings(&self, point: &[f64], size: Size) -> Vec<(String, Setting)> {
        let fixed = self.fixed.iter().map(|(name, value)| ((*name).to_owned(), value.setting()));
        let chosen = self.axes.iter().zip(point).filter(|(axis, _)| axis.name != WIDTH);
        let chosen = chosen.map(|(axis, &e)| (axis.name.to_owned(), Setting::Number(axis.value(e, size))));
        fixed.chain(chosen).collect()
    }

    /// The chosen values, by name.
    pub(super) fn chosen(&self, point: &[f64], size: Size) -> Value {
        let values = self.axes.iter().zip(point).map(|(axis, &e)| (axis.name.to_owned(), json!(axis.value(e, size))));
        Value::Object(values.collect())
    }

    /// Everything that its results depend on, beside the data and the program.
    pub(super) fn document(&self) -> Value {
        let axes: Vec<Value> =
            self.axes.iter().map(|a| json!([a.name, a.unit as u8, a.from, a.step, a.count, a.whole])).collect();
        let fixed: Vec<Value> = self
            .fixed
            .iter()
            .map(|(name, value)| match value {
                Fixed::Word(word) => json!([name, word]),
                Fixed::Number(number) => json!([name, number]),
            })
            .collect();
        json!({"machine": self.machine, "fixed": fixed, "axes": axes})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXIS: Axis = Axis { name: "lambda", unit: Unit::Examples, from: -1.0, step: 0.5, count: 3, whole: true };

    #[test]
    fn grids_are_even_in_logarithms_and_finer_ones_stay_between_neighbours() {
        assert_eq!(AXIS.coarse(), [-1.0, -0.5, 0.0]);
        assert_eq!(AXIS.refined(1.0, 5), [0.75, 0.875, 1.0, 1.125, 1.25]);
        assert_eq!(AXIS.refined(1.0, 1), [1.0]);
    }

    #[test]
    fn a_value_at_the_edge_is_nearer_to_it_than_to_the_next() {
        let axis = Axis { whole: false, ..AXIS };
        let size = Size { coordinates: 2, examples: 30 };
        // exponents from −1 to 0 in steps of a half
        for (exponent, edge) in
            [(-1.3, true), (-1.0, true), (-0.8, true), (-0.75, false), (-0.5, false), (-0.2, true), (0.1, true)]
        {
            assert_eq!(axis.at_edge(axis.value(exponent, size), size), edge, "{exponent}");
        }
    }

    #[test]
    fn values_have_their_unit_and_whole_ones_are_at_least_one() {
        let size = Size { coordinates: 2, examples: 30 };
        assert_eq!((AXIS.value(-1.0, size), AXIS.value(-0.5, size), AXIS.value(-9.0, size)), (3.0, 9.0, 1.0));
        let width = Axis { name: WIDTH, unit: Unit::Coordinates, whole: false, ..AXIS };
        let contender = Contender { name: "a", machine: "svc", fixed: &[], axes: &[] };
        assert_eq!((width.value(1.0, size), contender.has_width()), (20.0, false));
        assert_eq!(contender.kernel(&[], size).to_string(), "linear");
    }
}
