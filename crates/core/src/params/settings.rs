//! Printing: the present value of every parameter.

use super::{Auto, AutoList, Choice, Params, Rule, TextCheck, Visit};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The value of one parameter, detached from its struct.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Stored", from = "Stored")]
pub enum Setting {
    /// A number, real or whole.
    Number(f64),
    /// Yes or no.
    Switch(bool),
    /// A word.
    Word(String),
    /// A list of numbers.
    Numbers(Vec<f64>),
}

/// A parameter as JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Switch(bool),
    Number(f64),
    Numbers(Vec<f64>),
    Word(String),
}

impl From<Setting> for Stored {
    fn from(value: Setting) -> Self {
        match value {
            // JSON has no infinity
            Setting::Number(x) if x.is_infinite() => Self::Word(x.to_string()),
            Setting::Number(x) => Self::Number(x),
            Setting::Switch(b) => Self::Switch(b),
            Setting::Word(w) => Self::Word(w),
            Setting::Numbers(xs) => Self::Numbers(xs),
        }
    }
}

impl From<Stored> for Setting {
    fn from(value: Stored) -> Self {
        match value {
            Stored::Number(x) => Self::Number(x),
            Stored::Switch(b) => Self::Switch(b),
            Stored::Word(w) if w == "inf" => Self::Number(f64::INFINITY),
            Stored::Word(w) => Self::Word(w),
            Stored::Numbers(xs) => Self::Numbers(xs),
        }
    }
}

impl fmt::Display for Setting {
    /// The shortest text that reads back as the same value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) => write_number(f, *x),
            Self::Switch(b) => write!(f, "{b}"),
            Self::Word(w) => write!(f, "{w}"),
            Self::Numbers(xs) => {
                write!(f, "[")?;
                for (i, x) in xs.iter().enumerate() {
                    if i > 0 {
                        write!(f, ", ")?;
                    }
                    write_number(f, *x)?;
                }
                write!(f, "]")
            }
        }
    }
}

/// Writes very large and very small numbers with an exponent, so that no print has hundreds of digits.
fn write_number(f: &mut fmt::Formatter<'_>, x: f64) -> fmt::Result {
    let size = x.abs();
    if x != 0.0 && !(1e-5..1e16).contains(&size) { write!(f, "{x:e}") } else { write!(f, "{x}") }
}

/// A single number, or a list of several.
pub(super) fn listed(values: &[f64]) -> Setting {
    if let [single] = values { Setting::Number(*single) } else { Setting::Numbers(values.to_vec()) }
}

/// Gives the present value of every parameter; every cloneable [`Params`] can.
pub trait Settings {
    /// Name and value, in the order of declaration.
    fn settings(&self) -> Vec<(&'static str, Setting)>;
}

impl<T: Params + Clone> Settings for T {
    fn settings(&self) -> Vec<(&'static str, Setting)> {
        let mut printer = Printer(Vec::new());
        self.clone().visit(&mut printer);
        printer.0
    }
}

struct Printer(Vec<(&'static str, Setting)>);

impl Visit for Printer {
    fn real(&mut self, name: &'static str, value: &mut f64, _: Rule, _: &'static str) {
        self.0.push((name, Setting::Number(*value)));
    }
    fn count(&mut self, name: &'static str, value: &mut usize, _: Rule, _: &'static str) {
        self.0.push((name, Setting::Number(*value as f64)));
    }
    fn switch(&mut self, name: &'static str, value: &mut bool, _: &'static str) {
        self.0.push((name, Setting::Switch(*value)));
    }
    fn choice(&mut self, name: &'static str, value: &mut dyn Choice, _: &'static str) {
        self.0.push((name, Setting::Word(value.options()[value.get()].to_owned())));
    }
    fn text(&mut self, name: &'static str, value: &mut String, _: TextCheck, _: &'static str) {
        self.0.push((name, Setting::Word(value.clone())));
    }
    fn reals(&mut self, name: &'static str, value: &mut Vec<f64>, _: Rule, _: &'static str) {
        self.0.push((name, Setting::Numbers(value.clone())));
    }
    fn auto(&mut self, name: &'static str, value: &mut Auto, _: &'static [&'static str], _: Rule, _: &'static str) {
        self.0.push((
            name,
            match *value {
                Auto::Value(v) => Setting::Number(v),
                Auto::Word(w) => Setting::Word(w.to_owned()),
            },
        ));
    }
    fn autos(
        &mut self,
        name: &'static str,
        value: &mut AutoList,
        _: &'static [&'static str],
        _: Rule,
        _: &'static str,
    ) {
        self.0.push((
            name,
            match value {
                AutoList::Values(v) => listed(v),
                AutoList::Word(w) => Setting::Word((*w).to_owned()),
            },
        ));
    }
    fn spelling(&mut self, _: &'static str, _: &'static str, _: &mut Auto, _: fn(f64) -> f64, _: &'static str) {}
}
