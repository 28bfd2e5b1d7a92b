//! Parameters, declared once and visited by everyone.
//!
//! A kernel or a machine is a struct whose fields are its parameters. It shows each of them once, in
//! [`Params::visit`]: name, place, rule and one line of help. Describing, assigning, printing, command
//! line flags and forms are visitors of that one declaration.

mod assign;
mod describe;
mod expression;
mod reals;
mod settings;

pub use assign::{assign, nearest};
pub use describe::{Described, describe};
pub use expression::ExpressionError;
pub(crate) use expression::{Reader, as_argument, brief, is_name_start, quoted};
pub use reals::Parameter;
pub(crate) use reals::{put, visit_reals};
pub use settings::{Setting, Settings};

use std::fmt;

/// A struct whose fields are the parameters of a kernel or a machine.
pub trait Params {
    /// Shows each field once.
    fn visit(&mut self, v: &mut dyn Visit);
}

/// Someone who is shown parameters one by one.
pub trait Visit {
    /// A real number.
    fn real(&mut self, name: &'static str, value: &mut f64, rule: Rule, help: &'static str);
    /// A whole number.
    fn count(&mut self, name: &'static str, value: &mut usize, rule: Rule, help: &'static str);
    /// Yes or no.
    fn switch(&mut self, name: &'static str, value: &mut bool, help: &'static str);
    /// One of a few words.
    fn choice(&mut self, name: &'static str, value: &mut dyn Choice, help: &'static str);
    /// A text of its own small language; `check` says what is wrong with one.
    fn text(&mut self, name: &'static str, value: &mut String, check: TextCheck, help: &'static str);
    /// A list of real numbers.
    fn reals(&mut self, name: &'static str, value: &mut Vec<f64>, rule: Rule, help: &'static str);
    /// A real number, or a word that the data turn into one (`gamma=scale`).
    fn auto(
        &mut self,
        name: &'static str,
        value: &mut Auto,
        words: &'static [&'static str],
        rule: Rule,
        help: &'static str,
    );
    /// A real number, a list of them, or a word that the data turn into one.
    fn autos(
        &mut self,
        name: &'static str,
        value: &mut AutoList,
        words: &'static [&'static str],
        rule: Rule,
        help: &'static str,
    );
    /// Another spelling of the parameter `of`: `convert` gives the value to store. Never printed.
    fn spelling(
        &mut self,
        name: &'static str,
        of: &'static str,
        value: &mut Auto,
        convert: fn(f64) -> f64,
        help: &'static str,
    );
}

/// Says what would be right where a text is wrong.
pub type TextCheck = fn(&str) -> Result<(), String>;

/// A number, or a word for a number that the data will give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Auto {
    /// The number itself.
    Value(f64),
    /// A rule by name; resolved from the training data before anything is computed.
    Word(&'static str),
}

impl Auto {
    /// The number; NaN while unresolved, so that a forgotten resolution cannot pass unseen.
    #[inline]
    pub fn value(self) -> f64 {
        match self {
            Self::Value(v) => v,
            Self::Word(_) => f64::NAN,
        }
    }
}

impl From<f64> for Auto {
    fn from(value: f64) -> Self {
        Self::Value(value)
    }
}

/// Numbers, one for all or one for each, or a word for a number that the data will give.
#[derive(Clone, Debug, PartialEq)]
pub enum AutoList {
    /// The numbers themselves, at least one.
    Values(Vec<f64>),
    /// A rule by name.
    Word(&'static str),
}

impl From<f64> for AutoList {
    fn from(value: f64) -> Self {
        Self::Values(vec![value])
    }
}

impl From<Vec<f64>> for AutoList {
    fn from(values: Vec<f64>) -> Self {
        Self::Values(values)
    }
}

/// A closed set of words, usually an enum.
pub trait Choice {
    /// All the words.
    fn options(&self) -> &'static [&'static str];
    /// The position of the present one.
    fn get(&self) -> usize;
    /// Takes the word at a position of [`Choice::options`].
    fn set(&mut self, position: usize);
    /// Words of earlier times that are still read, with the position that each of them means.
    fn former(&self) -> &'static [(&'static str, usize)] {
        &[]
    }
}

/// Numbers that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Any finite number.
    Any,
    /// Strictly above a number.
    Above(f64),
    /// At least a number.
    AtLeast(f64),
    /// Between two numbers, both allowed.
    Between(f64, f64),
    /// Strictly between two numbers.
    Inside(f64, f64),
    /// Strictly above the first, at most the second.
    AboveUpTo(f64, f64),
    /// Strictly above a number, infinity included.
    AboveOrInfinite(f64),
}

impl Rule {
    /// True if a number obeys.
    pub fn allows(self, x: f64) -> bool {
        (x.is_finite() || matches!(self, Self::AboveOrInfinite(_)))
            && match self {
                Self::Any => true,
                Self::Above(a) | Self::AboveOrInfinite(a) => x > a,
                Self::AtLeast(a) => x >= a,
                Self::Between(a, b) => (a..=b).contains(&x),
                Self::Inside(a, b) => x > a && x < b,
                Self::AboveUpTo(a, b) => x > a && x <= b,
            }
    }
}

impl Rule {
    /// The ends of the interval that obeys, and whether each of them does; an end of infinity is none.
    pub fn ends(self) -> ((f64, bool), (f64, bool)) {
        let (none, all) = ((f64::NEG_INFINITY, false), (f64::INFINITY, false));
        match self {
            Self::Any => (none, all),
            Self::Above(a) => ((a, false), all),
            Self::AboveOrInfinite(a) => ((a, false), (f64::INFINITY, true)),
            Self::AtLeast(a) => ((a, true), all),
            Self::Between(a, b) => ((a, true), (b, true)),
            Self::Inside(a, b) => ((a, false), (b, false)),
            Self::AboveUpTo(a, b) => ((a, false), (b, true)),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => write!(f, "finite"),
            Self::Above(a) => write!(f, "> {a}"),
            Self::AtLeast(a) => write!(f, "≥ {a}"),
            Self::Between(a, b) => write!(f, "between {a} and {b}"),
            Self::Inside(a, b) => write!(f, "> {a} and < {b}"),
            Self::AboveUpTo(a, b) => write!(f, "> {a} and ≤ {b}"),
            Self::AboveOrInfinite(a) => write!(f, "> {a}, or inf"),
        }
    }
}

/// A parameter with the wrong name or value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// The number breaks the rule of its parameter.
    #[error("{owner}: {} = {got} must be {rule}", brief(name))]
    Range {
        /// Kernel or machine.
        owner: String,
        /// Parameter.
        name: String,
        /// The value that was given.
        got: f64,
        /// The remedy: what would be right.
        rule: Rule,
    },
    /// The value is of the wrong kind.
    #[error("{owner}: {} = {} is not {wanted}", brief(name), brief(got))]
    Kind {
        /// Kernel or machine.
        owner: String,
        /// Parameter.
        name: String,
        /// The value that was given.
        got: String,
        /// The remedy: what would be right.
        wanted: String,
    },
    /// No parameter has that name.
    #[error("{owner} has no parameter {}; {remedy}", brief(name))]
    Unknown {
        /// Kernel or machine.
        owner: String,
        /// The value that was given.
        name: String,
        /// The nearest name, or all names.
        remedy: String,
    },
    /// No kernel, machine or other thing has that name.
    #[error("there is no {what} called {}; {remedy}", brief(name))]
    NoSuch {
        /// "kernel", "machine", …
        what: &'static str,
        /// The value that was given.
        name: String,
        /// The nearest name, or how to list all.
        remedy: String,
    },
    /// A name that could mean several parameters, or means one that has its value already.
    #[error("{name}: {finding}; {remedy}")]
    Unclear {
        /// The value that was given.
        name: String,
        /// Names it could mean.
        finding: String,
        /// The spelling that says which is meant.
        remedy: String,
    },
}
