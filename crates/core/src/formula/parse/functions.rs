//! Functions of formulas: `normalise`, `centre`, `exp`, `series`, `set`, `nystrom`, `direct_sum` and `tensor_product`; `rbf` is one
//! if its first argument is a formula.

use super::{Reader, is_name_start};
use crate::formula::{FUNCTIONS, Formula, FormulaError, Members, Nystrom, function};
use crate::kernels;
use crate::params::{Auto, Setting, assign};

/// Largest degree of a polynomial, the largest power that `^` takes.
const MAX_DEGREE: usize = 64;

/// The spellings of all functions, the name of each first.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().flat_map(|f| std::iter::once(f.name).chain(f.aliases.iter().copied()))
}

/// True if a name is that of a function.
pub(super) fn is_function(name: &str) -> bool {
    function(name).is_some()
}

impl Reader<'_> {
    pub(super) fn function(&mut self, name: &str, start: usize) -> Result<Formula, FormulaError> {
        let canonical = function(name).map_or(name, |f| f.name);
        let opened = self.at;
        if !self.take('(') {
            return self.fail(start, format!("{name} needs a kernel in brackets: {name}(…)"));
        }
        let first = self.at;
        let inner = self.sum()?;
        match canonical {
            "series" => return self.series(inner, start, opened),
            "nystrom" => return self.nystrom(inner, first, opened),
            "set" => return self.set(inner, start, first, opened),
            "direct_sum" | "tensor_product" => return self.several(inner, canonical, start, opened),
            _ => self.close(opened)?,
        }
        Ok(match canonical {
            "normalise" => inner.normalise(),
            "centre" => inner.centre(),
            _ => inner.exp(),
        })
    }

    /// The kernels after the first, joined with it.
    fn several(
        &mut self,
        mut joined: Formula,
        name: &str,
        start: usize,
        opened: usize,
    ) -> Result<Formula, FormulaError> {
        let mut count = 1;
        self.separator(opened)?;
        while !self.take(')') {
            let next = self.sum()?;
            joined = if name == "direct_sum" { joined + next } else { joined * next };
            self.check_finite(&joined, start)?;
            count += 1;
            self.separator(opened)?;
        }
        if count < 2 {
            return self.fail(start, format!("{name} joins at least two kernels: {name}(κ@a, κ@b)"));
        }
        Ok(joined)
    }

    /// The coefficients of a polynomial in a kernel.
    fn series(&mut self, inner: Formula, start: usize, opened: usize) -> Result<Formula, FormulaError> {
        self.separator(opened)?;
        let mut coefficients = None;
        while !self.take(')') {
            let (at, parameter, value) = self.argument(opened)?;
            if let Some(other) = parameter.filter(|p| p != "coefficients") {
                return self.fail(at, format!("series has no parameter {other}; it has coefficients"));
            }
            let Setting::Numbers(all) = value else {
                return self.fail(at, "coefficients are a list [a0, a1, …] of the factors of 1, κ, κ², …");
            };
            if let Some(a) = all.iter().find(|a| **a < 0.0) {
                let a = Setting::Number(*a);
                return self
                    .fail(at, format!("the coefficient {a} is negative, and a kernel times it is not a kernel"));
            }
            if all.iter().any(|a| !a.is_finite()) {
                return self.fail(at, "coefficients are finite numbers");
            }
            if all.is_empty() || all.len() > MAX_DEGREE + 1 {
                return self.fail(at, format!("a series has 1 to {} coefficients", MAX_DEGREE + 1));
            }
            if coefficients.replace(all).is_some() {
                return self.fail(at, "coefficients was given already");
            }
            self.separator(opened)?;
        }
        match coefficients {
            Some(all) => {
                let formula = inner.series(&all);
                self.check_finite(&formula, start)?;
                Ok(formula)
            }
            None => self.fail(start, "series needs its coefficients: series(κ, coefficients=[a0, a1, …])"),
        }
    }

    /// Reads the division of an example into members.
    fn set(&mut self, inner: Formula, start: usize, first: usize, opened: usize) -> Result<Formula, FormulaError> {
        let mut members = Members::default();
        let mut given: Vec<String> = Vec::new();
        self.separator(opened)?;
        while !self.take(')') {
            let (at, parameter, value) = self.argument(opened)?;
            let Some(parameter) = parameter else {
                return self.fail(at, "name what is given: separator=\"|\", columns=2 or mean=true");
            };
            if let Err(error) = assign("set", &mut members, &parameter, &value) {
                return self.fail(at, error.to_string());
            }
            if given.contains(&parameter) {
                return self.fail(at, format!("{parameter} was given already"));
            }
            given.push(parameter);
            self.separator(opened)?;
        }
        if members.separator.is_empty() && members.columns == 0 {
            let finding = "set needs to know its members: separator=\"|\" for strings, columns=2 for vectors";
            return self.fail(start, finding);
        }
        match inner.unfit_for_sets() {
            Some(finding) => self.fail(first, finding),
            None => Ok(inner.set(members)),
        }
    }

    /// Reads the number of landmarks, and the method by which they are chosen.
    fn nystrom(&mut self, inner: Formula, first: usize, opened: usize) -> Result<Formula, FormulaError> {
        let mut how = Nystrom::default();
        let mut given: Vec<String> = Vec::new();
        self.separator(opened)?;
        while !self.take(')') {
            let (at, parameter, value) = self.argument(opened)?;
            let parameter = parameter.unwrap_or_else(|| "points".to_owned());
            if let Err(error) = assign("nystrom", &mut how, &parameter, &value) {
                return self.fail(at, error.to_string());
            }
            if given.contains(&parameter) {
                return self.fail(at, format!("{parameter} was given already"));
            }
            given.push(parameter);
            self.separator(opened)?;
        }
        match inner.unfit_for_nystrom() {
            Some(finding) => self.fail(first, finding),
            None => Ok(inner.nystrom(how.points, how.choose)),
        }
    }

    /// True if the first argument is a formula: a bracket, or the name of a kernel or function that is no parameter.
    pub(super) fn formula_follows(&mut self) -> bool {
        let start = self.at;
        let found = match self.peek() {
            Some('(') => true,
            Some(c) if is_name_start(c) => {
                let name = self.name();
                let parameter = self.peek() == Some('=');
                !parameter && (kernels::find(&name).is_some() || is_function(&name))
            }
            Some(c) if c.is_ascii_digit() || c == '.' => {
                let _ = self.number();
                matches!(self.peek(), Some('*' | '+' | '^'))
            }
            _ => false,
        };
        self.at = start;
        found
    }

    pub(super) fn radial_on(&mut self, opened: usize) -> Result<Formula, FormulaError> {
        let inner = self.sum()?;
        let (mut gamma, mut given) = (Auto::Word("scale"), false);
        self.separator(opened)?;
        while !self.take(')') {
            let (at, parameter, value) = self.argument(opened)?;
            let mut holder = kernels::radial::Radial(kernels::radial::Gaussian { gamma });
            let parameter = parameter.unwrap_or_else(|| "gamma".to_owned());
            if let Err(error) = assign("rbf", &mut holder, &parameter, &value) {
                return self.fail(at, error.to_string());
            }
            if given {
                return self.fail(at, "the width was given already");
            }
            given = true;
            gamma = holder.0.gamma;
            if gamma == Auto::Word("1/d") {
                return self.fail(at, "a kernel on top of another has no d; give a number, scale or median");
            }
            self.separator(opened)?;
        }
        Ok(inner.rbf(gamma))
    }
}
