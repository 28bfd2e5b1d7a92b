//! The real parameters of a struct as one vector of numbers.

use super::{Auto, AutoList, Choice, ParamError, Params, Rule, TextCheck, Visit};
use std::fmt;

/// A real parameter of a formula: one coordinate of θ.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The kernel or node that it belongs to; those that occur several times are numbered in the order of the print (`rbf[2]`).
    pub owner: String,
    /// Its name there; the numbers of a list are counted from one (`lengths[2]`).
    pub name: String,
    /// Its present value; not a number while it is a word that the data have not yet turned into one.
    pub value: f64,
    /// The numbers that it may be.
    pub rule: Rule,
}

impl Parameter {
    /// True if steps on a logarithmic scale are natural: the parameter is positive now, and its rule allows nothing below zero.
    pub fn log_scale(&self) -> bool {
        self.value > 0.0 && !self.rule.allows(-f64::MIN_POSITIVE)
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.owner, self.name)
    }
}

/// Calls `each` with every real number among the parameters, in the order of declaration, but for those named in `fixed`.
pub(crate) fn visit_reals(
    params: &mut (impl Params + ?Sized),
    fixed: &[&str],
    each: &mut dyn FnMut(String, &mut f64, Rule),
) {
    params.visit(&mut Reals { fixed, each });
}

/// Puts a number in the place of a parameter.
///
/// # Errors
/// If the rule of the parameter forbids the number.
pub(crate) fn put(parameter: &Parameter, place: &mut f64, value: f64) -> Result<(), ParamError> {
    if !parameter.rule.allows(value) {
        let (owner, name) = (parameter.owner.clone(), parameter.name.clone());
        return Err(ParamError::Range { owner, name, got: value, rule: parameter.rule });
    }
    *place = value;
    Ok(())
}

struct Reals<'a> {
    fixed: &'a [&'a str],
    each: &'a mut dyn FnMut(String, &mut f64, Rule),
}

impl Reals<'_> {
    fn list(&mut self, name: &'static str, values: &mut [f64], rule: Rule) {
        if let [one] = values {
            return (self.each)(name.to_owned(), one, rule);
        }
        for (k, value) in values.iter_mut().enumerate() {
            (self.each)(format!("{name}[{}]", k + 1), value, rule);
        }
    }

    fn is_fixed(&self, name: &str) -> bool {
        self.fixed.contains(&name)
    }
}

impl Visit for Reals<'_> {
    fn real(&mut self, name: &'static str, value: &mut f64, rule: Rule, _: &'static str) {
        if !self.is_fixed(name) {
            (self.each)(name.to_owned(), value, rule);
        }
    }
    fn count(&mut self, _: &'static str, _: &mut usize, _: Rule, _: &'static str) {}
    fn switch(&mut self, _: &'static str, _: &mut bool, _: &'static str) {}
    fn choice(&mut self, _: &'static str, _: &mut dyn Choice, _: &'static str) {}
    fn text(&mut self, _: &'static str, _: &mut String, _: TextCheck, _: &'static str) {}
    fn reals(&mut self, name: &'static str, value: &mut Vec<f64>, rule: Rule, _: &'static str) {
        if !self.is_fixed(name) {
            self.list(name, value, rule);
        }
    }
    fn auto(&mut self, name: &'static str, value: &mut Auto, _: &'static [&'static str], rule: Rule, _: &'static str) {
        if self.is_fixed(name) {
            return;
        }
        let mut number = value.value();
        (self.each)(name.to_owned(), &mut number, rule);
        // a word stays a word until a number takes its place
        if !number.is_nan() {
            *value = Auto::Value(number);
        }
    }
    fn autos(
        &mut self,
        name: &'static str,
        value: &mut AutoList,
        _: &'static [&'static str],
        rule: Rule,
        _: &'static str,
    ) {
        if self.is_fixed(name) {
            return;
        }
        match value {
            AutoList::Values(values) => self.list(name, values, rule),
            AutoList::Word(_) => (self.each)(name.to_owned(), &mut f64::NAN.clone(), rule),
        }
    }
    fn spelling(&mut self, _: &'static str, _: &'static str, _: &mut Auto, _: fn(f64) -> f64, _: &'static str) {}
}
