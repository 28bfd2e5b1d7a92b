//! Machines as text: `svc(c=10, loss=squared_hinge)`, in the grammar of kernel formulas.

use super::{Machine, MachineEntry, all, families, find};
use crate::params::{ExpressionError, ParamError, Reader, Setting, as_argument, assign, brief, nearest};
use std::fmt;

/// A machine of the catalogue with the parameters that were given; all others have their defaults.
///
/// It prints as text that [`parse`] reads back.
#[derive(Clone)]
pub struct MachineExpression {
    /// The entry of the machine.
    pub entry: &'static MachineEntry,
    /// Parameters and their values, in the order in which they were given.
    pub settings: Vec<(String, Setting)>,
}

impl MachineExpression {
    /// A machine with all its parameters, defaults too.
    pub fn of(machine: &dyn Machine) -> Self {
        let settings = machine.settings().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { entry: machine.entry(), settings }
    }

    /// The machine itself.
    ///
    /// # Errors
    /// If a parameter is unknown or breaks its rule, which what [`parse`] gives never does.
    pub fn make(&self) -> Result<Box<dyn Machine>, ParamError> {
        let mut machine = (self.entry.make)();
        for (name, value) in &self.settings {
            assign(self.entry.name, machine.as_mut(), name, value)?;
        }
        Ok(machine)
    }
}

impl fmt::Display for MachineExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.name)?;
        if self.settings.is_empty() {
            return Ok(());
        }
        let listed: Vec<String> =
            self.settings.iter().map(|(n, value)| format!("{n}={}", as_argument(value))).collect();
        write!(f, "({})", listed.join(", "))
    }
}

impl fmt::Debug for MachineExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Reads a machine: its name, or its name with parameters in brackets.
///
/// ```
/// let svc = mercer::machines::parse("svc(10, loss=squared_hinge)")?;
/// assert_eq!(svc.to_string(), "svc(c=10, loss=squared_hinge)");
/// assert_eq!(mercer::machines::parse("svcc").unwrap_err().at, 0);
/// # Ok::<(), mercer::Error>(())
/// ```
///
/// # Errors
/// With the place in the text, what was found there and what would be right.
pub fn parse(text: &str) -> Result<MachineExpression, ExpressionError> {
    let mut reader = Reader::new("machine", text);
    reader.skip_space();
    let start = reader.at;
    // a name with a hyphen is read as one, so that the nearest name can be told
    let typed: String = reader.chars[start..].iter().take_while(|c| !matches!(c, '(' | ')' | ',' | '=')).collect();
    let name = typed.trim_end();
    if name.is_empty() {
        return reader.fail(start, "the name of a machine is missing; `mercer list machines` shows all");
    }
    let Some(entry) = find(name) else {
        let remedy = match nearest(name, all().flat_map(|m| m.aliases.iter().copied().chain([m.name]))) {
            Some(close) => format!("did you mean {close}?"),
            None => {
                let first = families()
                    .into_iter()
                    .filter_map(|(family, entries)| entries.first().map(|m| format!("{} ({family})", m.name)));
                let first = first.collect::<Vec<_>>().join(", ");
                format!("there are {} machines, {first} among them; `mercer list machines` shows all", all().count())
            }
        };
        return reader.fail(start, format!("there is no machine called {}; {remedy}", brief(name)));
    };
    reader.at = start + typed.chars().count();
    let opened = reader.at;
    let mut settings = Vec::new();
    if reader.take('(') {
        settings = reader.parameters((entry.name, name), (entry.make)().as_mut(), opened)?;
    }
    match reader.peek() {
        None => Ok(MachineExpression { entry, settings }),
        Some(c) => reader.fail(reader.at, format!("\"{c}\" does not belong here; a machine is written {name}(…)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_with_all_its_settings_reads_back() {
        for entry in all() {
            let whole = MachineExpression::of((entry.make)().as_ref());
            let read = parse(&whole.to_string()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(read.to_string(), whole.to_string());
            assert_eq!(read.make().unwrap().settings(), (entry.make)().settings(), "{whole}");
            for alias in entry.aliases {
                assert_eq!(parse(alias).unwrap().to_string(), entry.name);
            }
        }
    }

    #[test]
    fn what_is_given_is_what_is_set_and_texts_keep_their_quotes() {
        let text = "svc(c=inf, bias=false, class_weight=\"a:1,b \\\"c\\\":2\")";
        let read = parse(&format!("  {text} ")).unwrap();
        assert_eq!(read.to_string(), text);
        let settings = read.make().unwrap().settings();
        assert!(settings.contains(&("c", Setting::Number(f64::INFINITY))), "{settings:?}");
        assert!(settings.contains(&("bias", Setting::Switch(false))), "{settings:?}");
        assert!(settings.contains(&("class_weight", Setting::Word("a:1,b \"c\":2".to_owned()))), "{settings:?}");
        assert_eq!(parse("ridge(lambda=[1, 2])").unwrap().to_string(), "ridge(lambda=[1, 2])");
    }

    #[test]
    fn errors_point_at_their_place() {
        for (text, at, part) in [
            ("", 0, "name of a machine is missing"),
            ("svcc", 0, "did you mean svc?"),
            ("linear-svc", 0, "did you mean linear_svc?"),
            ("svc(", 3, "never closed"),
            ("svc(c=0)", 4, "must be > 0"),
            ("svc(c=1, cc=2)", 9, "has no parameter cc"),
            ("svc(c=1, c=2)", 9, "given already"),
            ("svc(1, c=2)", 7, "given already"),
            ("svc(loss=hinge) + ridge", 16, "does not belong here"),
            ("nearest_mean(1, 2, 3, 4, 5, 6, 7, 8, 9)", 13, "one more"),
            ("svc(c=1 loss=hinge)", 8, "a comma or a closing bracket"),
            ("svc c=1", 0, "no machine called svc c"),
            ("svc(class_weight=1:2)", 4, "double quotes: class_weight=\"1:2\""),
            ("svc(c=1, class_weight=a:2,b:3)", 9, "double quotes: class_weight=\"a:2,b:3\""),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!((error.at, error.what), (at, "machine"), "{error}");
            assert!(error.finding.contains(part), "{error}");
        }
    }
}
