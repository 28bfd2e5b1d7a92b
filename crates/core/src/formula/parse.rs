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
use crate::params::{Setting, assign, describe, nearest};

/// Deeper nesting is refused, so that no text can exhaust the stack.
const DEEPEST: usize = 64;

pub(super) fn parse(text: &str) -> Result<Formula, FormulaError> {
    let mut reader = Reader { text, chars: text.chars().collect(), at: 0, depth: 0 };
    let formula = reader.sum()?;
    reader.skip_space();
    if reader.at < reader.chars.len() {
        let found = reader.chars[reader.at];
        return reader.fail(reader.at, format!("\"{found}\" does not belong here; +, * or ^ could follow, or the end"));
    }
    Ok(formula)
}

struct Reader<'a> {
    text: &'a str,
    chars: Vec<char>,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn fail<T>(&self, at: usize, finding: impl Into<String>) -> Result<T, FormulaError> {
        Err(FormulaError { text: self.text.to_owned(), at, finding: finding.into() })
    }

    fn skip_space(&mut self) {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.chars.get(self.at).copied()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn sum(&mut self) -> Result<Formula, FormulaError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.fail(self.at, format!("brackets are nested more than {DEEPEST} deep"));
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

    /// The text between quotes that open here; `None` if they are never closed.
    fn quoted(&mut self) -> Option<String> {
        self.at += 1;
        let mut text = String::new();
        while let Some(&c) = self.chars.get(self.at) {
            self.at += 1;
            match c {
                '"' => return Some(text),
                '\\' => {
                    text.extend(self.chars.get(self.at));
                    self.at += 1;
                }
                other => text.push(other),
            }
        }
        None
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(&c) = self.chars.get(self.at).filter(|&&c| is_name_start(c) || c.is_ascii_digit()) {
            name.push(c);
            self.at += 1;
        }
        name
    }

    /// A number at this place, if there is one; moves behind it.
    fn number(&mut self) -> Option<f64> {
        self.skip_space();
        let rest = &self.chars[self.at..];
        let mut end = usize::from(matches!(rest.first(), Some('-' | '+')));
        while let Some(c) = rest.get(end) {
            let exponent = matches!(c, 'e' | 'E')
                && matches!(
                    (rest.get(end + 1), rest.get(end + 2)),
                    (Some('0'..='9'), _) | (Some('-' | '+'), Some('0'..='9'))
                );
            if c.is_ascii_digit() || *c == '.' {
                end += 1;
            } else if exponent {
                end += 2;
            } else {
                break;
            }
        }
        let value: f64 = rest[..end].iter().collect::<String>().parse().ok()?;
        self.at += end;
        Some(value)
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
            return self.fail(start, format!("there is no kernel called \"{name}\"; {remedy}"));
        };
        let mut kernel = (entry.make)();
        let opened = self.at;
        if !self.take('(') {
            return Ok(Formula(Node::Kernel(super::Bound { kernel, view: None })));
        }
        if entry.name == "rbf" && self.formula_follows() {
            return self.radial_on(opened);
        }
        let described = describe(kernel.as_mut());
        let declared: Vec<&'static str> =
            described.iter().filter(|d| d.spelling_of.is_none()).map(|d| d.name).collect();
        let (mut place, mut given) = (0, Vec::new());
        while !self.take(')') {
            let (at, parameter, value) = self.argument(opened)?;
            let parameter = match parameter {
                Some(parameter) => parameter,
                None => match declared.get(place) {
                    Some(next) => (*next).to_owned(),
                    None => {
                        return self.fail(at, format!("{name} has {} parameters, this is one more", declared.len()));
                    }
                },
            };
            place += 1;
            if let Err(error) = assign(entry.name, kernel.as_mut(), &parameter, &value) {
                return self.fail(at, error.to_string());
            }
            let meant = described.iter().find(|d| d.name == parameter).map(|d| d.spelling_of.unwrap_or(d.name));
            if given.contains(&meant) {
                return self.fail(at, format!("{parameter} was given already"));
            }
            given.push(meant);
            self.separator(opened)?;
        }
        Ok(Formula(Node::Kernel(super::Bound { kernel, view: None })))
    }

    /// After an argument: a comma, or the closing bracket (which is left).
    fn separator(&mut self, opened: usize) -> Result<(), FormulaError> {
        if self.take(',') || self.peek() == Some(')') {
            return Ok(());
        }
        match self.peek() {
            None => self.fail(opened, "this bracket is never closed"),
            Some(c) => {
                self.fail(self.at, format!("\"{c}\" does not belong here; a comma or a closing bracket is missing"))
            }
        }
    }

    fn argument(&mut self, opened: usize) -> Result<(usize, Option<String>, Setting), FormulaError> {
        self.skip_space();
        let start = self.at;
        let mut parameter = None;
        if self.peek().is_some_and(is_name_start) {
            let name = self.name();
            if self.take('=') {
                parameter = Some(name);
            } else {
                self.at = start;
            }
        }
        let value = self.value(opened)?;
        Ok((start, parameter, value))
    }

    fn value(&mut self, opened: usize) -> Result<Setting, FormulaError> {
        let start = {
            self.skip_space();
            self.at
        };
        match self.peek() {
            None => self.fail(opened, "this bracket is never closed"),
            Some('[') => {
                self.at += 1;
                let mut list = Vec::new();
                while !self.take(']') {
                    let at = self.at;
                    match self.number() {
                        Some(x) => list.push(x),
                        None => return self.fail(at, "a number is missing in the list"),
                    }
                    if !self.take(',') && self.peek() != Some(']') {
                        return self.fail(self.at, "a comma or ] is missing in the list");
                    }
                }
                Ok(Setting::Numbers(list))
            }
            Some('"') => match self.quoted() {
                Some(text) => Ok(Setting::Word(text)),
                None => self.fail(start, "this text is never closed by \""),
            },
            Some(c) if is_name_start(c) => Ok(Setting::Word(self.name())),
            Some(_) => match self.number() {
                // 1/d is a word that starts like a number
                Some(1.0) if self.chars[self.at..].starts_with(&['/', 'd']) => {
                    self.at += 2;
                    Ok(Setting::Word("1/d".to_owned()))
                }
                Some(x) => Ok(Setting::Number(x)),
                None => self.fail(start, "a value is missing: a number, a word or a list [1, 2]"),
            },
        }
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}
