//! Reading `name(parameter=value, …)`: the words, numbers and arguments that kernel formulas and machines share.

use super::{Params, Setting, assign, describe};
use std::borrow::Cow;
use std::fmt;

/// An expression that cannot be read, with the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The kind of text that was expected: "kernel formula" or "machine".
    pub what: &'static str,
    /// The whole text.
    pub text: String,
    /// Where, in characters from zero.
    pub at: usize,
    /// The finding and the remedy.
    pub finding: String,
}

/// The most characters of a name or a value that a sentence repeats.
const MAX_REPEATED: usize = 80;

/// A name or a value as a sentence repeats it: the beginning of a long one, so that the remedy stays in sight.
pub(crate) fn brief(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_REPEATED) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Characters that an error shows on each side of its place: more would push the finding off the screen.
const SHOWN: usize = 100;

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.at.saturating_sub(SHOWN);
        let mut shown: String = self.text.chars().skip(start).take(self.at - start + SHOWN).collect();
        if self.text.chars().nth(self.at.saturating_add(SHOWN)).is_some() {
            shown.push('…');
        }
        let before = if start > 0 { "…" } else { "" };
        writeln!(f, "{}, column {}: {}", self.what, self.at + 1, self.finding)?;
        writeln!(f, "  {before}{}", shown.replace(['\n', '\t'], " "))?;
        write!(f, "  {}^", " ".repeat(self.at - start + usize::from(start > 0)))
    }
}

impl std::error::Error for ExpressionError {}

/// A text and the place up to which it is read.
pub(crate) struct Reader<'a> {
    pub(crate) what: &'static str,
    pub(crate) text: &'a str,
    pub(crate) chars: Vec<char>,
    pub(crate) at: usize,
    pub(crate) depth: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the beginning of a text; `what` it should be is named in errors.
    pub(crate) fn new(what: &'static str, text: &'a str) -> Self {
        Self { what, text, chars: text.chars().collect(), at: 0, depth: 0 }
    }

    pub(crate) fn fail<T>(&self, at: usize, finding: impl Into<String>) -> Result<T, ExpressionError> {
        Err(ExpressionError { what: self.what, text: self.text.to_owned(), at, finding: finding.into() })
    }

    pub(crate) fn skip_space(&mut self) {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    pub(crate) fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.chars.get(self.at).copied()
    }

    pub(crate) fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    /// The text between quotes that open here; `None` if they are never closed.
    pub(crate) fn quoted(&mut self) -> Option<String> {
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

    pub(crate) fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(&c) = self.chars.get(self.at).filter(|&&c| is_name_start(c) || c.is_ascii_digit()) {
            name.push(c);
            self.at += 1;
        }
        name
    }

    /// A number at this place, if there is one; moves behind it.
    pub(crate) fn number(&mut self) -> Option<f64> {
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

    /// The arguments up to the closing bracket, assigned to `params` as they are read: by name, or in the order of
    /// declaration. `called` is the name that was typed, `owner` that of the catalogue.
    pub(crate) fn parameters(
        &mut self,
        (owner, called): (&str, &str),
        params: &mut dyn Params,
        opened: usize,
    ) -> Result<Vec<(String, Setting)>, ExpressionError> {
        let described = describe(params);
        let declared: Vec<&'static str> =
            described.iter().filter(|d| d.spelling_of.is_none()).map(|d| d.name).collect();
        let (mut given, mut meant): (Vec<(String, Setting)>, Vec<Option<&str>>) = (Vec::new(), Vec::new());
        while !self.take(')') {
            let (at, parameter, value) = self.argument(opened)?;
            let parameter = match parameter {
                Some(parameter) => parameter,
                None => match declared.get(given.len()) {
                    Some(next) => (*next).to_owned(),
                    None => {
                        return self.fail(
                            at,
                            format!("{} has {} parameters, this is one more", brief(called), declared.len()),
                        );
                    }
                },
            };
            let is_text = described.iter().any(|d| d.name == parameter && d.kind == "text");
            if is_text && !matches!(self.peek(), None | Some(',' | ')')) {
                let rest: String = self.chars[at..].iter().collect();
                let text = rest.split_once('=').map_or(rest.as_str(), |(_, value)| value);
                let text = text.trim_end().strip_suffix(')').unwrap_or(text);
                return self.fail(
                    at,
                    format!("a text that is more than one word stands in double quotes: {parameter}=\"{text}\""),
                );
            }
            if let Err(error) = assign(owner, params, &parameter, &value) {
                return self.fail(at, error.to_string());
            }
            let means = described.iter().find(|d| d.name == parameter).map(|d| d.spelling_of.unwrap_or(d.name));
            if meant.contains(&means) {
                return self.fail(at, format!("{} was given already", brief(&parameter)));
            }
            meant.push(means);
            given.push((parameter, value));
            self.separator(opened)?;
        }
        Ok(given)
    }

    /// After an argument: a comma, or the closing bracket (which is left).
    pub(crate) fn separator(&mut self, opened: usize) -> Result<(), ExpressionError> {
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

    /// The place of an argument, its parameter where it is named, and its value.
    pub(crate) fn argument(&mut self, opened: usize) -> Result<(usize, Option<String>, Setting), ExpressionError> {
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

    fn value(&mut self, opened: usize) -> Result<Setting, ExpressionError> {
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

/// True if a name can begin with a character.
pub(crate) fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A value as an argument: a word that is no name stands in quotes, so that it reads back.
pub(crate) fn as_argument(value: &Setting) -> String {
    let is_name = |w: &str| w.starts_with(is_name_start) && w.chars().all(|c| is_name_start(c) || c.is_ascii_digit());
    match value {
        Setting::Word(word) if !is_name(word) => quoted(word),
        other => other.to_string(),
    }
}
