//! Reading formulas.
//!
//! ```text
//! sum     = product { "+" product }
//! product = power { "*" power }
//! power   = atom [ "^" whole number ]
//! atom    = number | "(" sum ")" [ view ] | name [ "(" arguments ")" ] [ view ]
//! view    = "@" name
//! ```
//! Arguments are `name=value` (a number, a word, a text in quotes, a list `[1, 2]`), or values in the order of
//! declaration. Functions take formulas: see `functions`.

mod functions;

use super::{Formula, FormulaError, Node};
use crate::kernels;
use crate::params::{Reader, brief, is_name_start, nearest};

/// Deepest nesting, so that no text can exhaust the stack.
const MAX_DEPTH: usize = 64;

pub(super) fn parse(text: &str) -> Result<Formula, FormulaError> {
    let mut reader = Reader::new("kernel formula", text);
    let formula = reader.sum()?;
    reader.skip_space();
    if reader.at < reader.chars.len() {
        let found = reader.chars[reader.at];
        return reader.fail(reader.at, format!("\"{found}\" does not belong here; +, * or ^ could follow, or the end"));
    }
    Ok(formula)
}

impl Reader<'_> {
    fn sum(&mut self) -> Result<Formula, FormulaError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail(self.at, format!("brackets are nested more than {MAX_DEPTH} deep"));
        }
        self.skip_space();
        let start = self.at;
        let mut formula = self.product()?;
        while self.take('+') {
            formula = formula + self.product()?;
            self.check_finite(&formula, start)?;
        }
        if self.peek() == Some('-') {
            return self.fail(self.at, "a difference of kernels is not a kernel; use + and *");
        }
        self.depth -= 1;
        Ok(formula)
    }

    fn product(&mut self) -> Result<Formula, FormulaError> {
        self.skip_space();
        let start = self.at;
        let mut formula = self.power()?;
        while self.take('*') {
            formula = formula * self.power()?;
            self.check_finite(&formula, start)?;
        }
        Ok(formula)
    }

    /// Numbers are merged as they are read; they may not leave the range of numbers.
    fn check_finite(&self, formula: &Formula, start: usize) -> Result<(), FormulaError> {
        let number = match &formula.0 {
            Node::Sum(terms) => terms.last(),
            node => Some(node),
        };
        match number {
            Some(Node::Constant(c) | Node::Scaled(c, _)) if !c.is_finite() => {
                self.fail(start, "the numbers from here on are too large together")
            }
            _ => Ok(()),
        }
    }

    fn power(&mut self) -> Result<Formula, FormulaError> {
        self.skip_space();
        let first = self.at;
        let base = self.atom()?;
        if !self.take('^') {
            return Ok(base);
        }
        self.skip_space();
        let start = self.at;
        match self.number() {
            Some(n) if n.fract() == 0.0 && (1.0..=64.0).contains(&n) => {
                let power = base.power(n as u32);
                self.check_finite(&power, first)?;
                Ok(power)
            }
            _ => self.fail(start, "a power of a kernel is a whole number from 1 to 64"),
        }
    }

    fn atom(&mut self) -> Result<Formula, FormulaError> {
        let start = {
            self.skip_space();
            self.at
        };
        match self.peek() {
            None => self.fail(start, "a kernel is missing here"),
            Some('(') => {
                self.at += 1;
                let inner = self.sum()?;
                self.close(start)?;
                self.view(inner)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => match self.number() {
                Some(value) if value.is_finite() => Ok(Formula::constant(value)),
                _ => self.fail(start, "this is not a number"),
            },
            Some('-') => self.fail(start, "a kernel times a negative number is not a kernel"),
            Some(c) if is_name_start(c) => {
                let name = self.name();
                let formula = self.named(&name, start)?;
                self.view(formula)
            }
            Some(c) => self.fail(start, format!("\"{c}\" cannot start a kernel; write a name, a number or a bracket")),
        }
    }

    fn close(&mut self, opened: usize) -> Result<(), FormulaError> {
        if self.take(')') {
            return Ok(());
        }
        match self.peek() {
            None => self.fail(opened, "this bracket is never closed"),
            Some(c) => self.fail(self.at, format!("\"{c}\" does not belong here; a closing bracket is missing")),
        }
    }

    fn view(&mut self, formula: Formula) -> Result<Formula, FormulaError> {
        if !self.take('@') {
            return Ok(formula);
        }
        let start = self.at;
        if self.chars.get(self.at) == Some(&'"') {
            let view = self.quoted();
            return match view {
                Some(view) => Ok(formula.on(&view)),
                None => self.fail(start, "the name of the view is never closed by \""),
            };
        }
        let mut view = String::new();
        while let Some(&c) = self.chars.get(self.at).filter(|&&c| c.is_alphanumeric() || c == '_' || c == '.') {
            view.push(c);
            self.at += 1;
        }
        if !super::print::is_plain(&view) {
            return self.fail(start, "the name of a view is missing after @");
        }
        Ok(formula.on(&view))
    }

    fn named(&mut self, name: &str, start: usize) -> Result<Formula, FormulaError> {
        if functions::is_function(name) {
            return self.function(name, start);
        }
        let Some(entry) = kernels::find(name) else {
            let aliases = kernels::all().flat_map(|e| e.aliases.iter().copied());
            let names = kernels::all().map(|e| e.name).chain(functions::names()).chain(aliases);
            let remedy = match nearest(name, names) {
                Some(close) => format!("did you mean {close}?"),
                None => "`mercer list kernels` shows all".to_owned(),
            };
            return self.fail(start, format!("there is no kernel called \"{}\"; {remedy}", brief(name)));
        };
        let mut kernel = (entry.make)();
        let opened = self.at;
        if !self.take('(') {
            return Ok(Formula(Node::Kernel(super::Bound { kernel, view: None })));
        }
        if entry.name == "rbf" && self.formula_follows() {
            return self.radial_on(opened);
        }
        self.parameters((entry.name, name), kernel.as_mut(), opened)?;
        Ok(Formula(Node::Kernel(super::Bound { kernel, view: None })))
    }
}
