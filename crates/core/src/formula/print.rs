//! The canonical print: complete, so that it reads back as the same formula.

use super::{Bound, Formula, Node};
use crate::params::{Auto, Setting, Settings, quoted};
use std::fmt;

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_node(f, &self.0, Level::Sum)
    }
}

/// Levels of precedence: the terms that may stand at a place without brackets.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Sum,
    Product,
    Factor,
    Atom,
}

fn level(node: &Node) -> Level {
    match node {
        Node::Sum(_) => Level::Sum,
        Node::Product(_) | Node::Scaled(..) => Level::Product,
        Node::Power(..) => Level::Factor,
        _ => Level::Atom,
    }
}

fn write_node(f: &mut fmt::Formatter<'_>, node: &Node, place: Level) -> fmt::Result {
    if level(node) < place {
        write!(f, "(")?;
        write_node(f, node, Level::Sum)?;
        return write!(f, ")");
    }
    match node {
        Node::Kernel(bound) => write_kernel(f, bound),
        Node::Constant(c) => write!(f, "{}", Setting::Number(*c)),
        Node::Sum(terms) => write_joined(f, terms, " + ", Level::Product),
        Node::Product(factors) => write_joined(f, factors, " * ", Level::Factor),
        Node::Scaled(c, inner) => {
            write!(f, "{}*", Setting::Number(*c))?;
            // a product may follow the number as it is
            write_node(f, inner, if matches!(**inner, Node::Product(_)) { Level::Product } else { Level::Factor })
        }
        Node::Power(inner, n) => {
            write_node(f, inner, Level::Atom)?;
            write!(f, "^{n}")
        }
        Node::Series(inner, coefficients) => {
            write!(f, "series(")?;
            write_node(f, inner, Level::Sum)?;
            write!(f, ", coefficients={})", Setting::Numbers(coefficients.clone()))
        }
        Node::Exp(inner) => write_call(f, "exp", inner),
        Node::Normalise(inner) => write_call(f, "normalise", inner),
        Node::Centre(inner, _) => write_call(f, "centre", inner),
        Node::Set(inner, members) => {
            write!(f, "set(")?;
            write_node(f, inner, Level::Sum)?;
            if !members.separator.is_empty() {
                write!(f, ", separator={}", quoted(&members.separator))?;
            }
            if members.columns > 0 {
                write!(f, ", columns={}", members.columns)?;
            }
            if members.mean {
                write!(f, ", mean=true")?;
            }
            write!(f, ")")
        }
        Node::Nystrom(inner, how, _) => {
            write!(f, "nystrom(")?;
            write_node(f, inner, Level::Sum)?;
            for (name, value) in how.settings() {
                write!(f, ", {name}={value}")?;
            }
            write!(f, ")")
        }
        Node::Radial(inner, gamma) => {
            write!(f, "rbf(")?;
            match **inner {
                // a bare number would be read as γ
                Node::Constant(c) => write!(f, "({})", Setting::Number(c))?,
                _ => write_node(f, inner, Level::Sum)?,
            }
            match gamma {
                Auto::Value(v) => write!(f, ", gamma={})", Setting::Number(*v)),
                Auto::Word(w) => write!(f, ", gamma={w})"),
            }
        }
    }
}

fn write_joined(f: &mut fmt::Formatter<'_>, nodes: &[Node], between: &str, place: Level) -> fmt::Result {
    for (i, node) in nodes.iter().enumerate() {
        if i > 0 {
            f.write_str(between)?;
        }
        write_node(f, node, place)?;
    }
    Ok(())
}

fn write_call(f: &mut fmt::Formatter<'_>, name: &str, inner: &Node) -> fmt::Result {
    write!(f, "{name}(")?;
    write_node(f, inner, Level::Sum)?;
    write!(f, ")")
}

fn write_kernel(f: &mut fmt::Formatter<'_>, bound: &Bound) -> fmt::Result {
    f.write_str(bound.kernel.entry().name)?;
    let settings = bound.kernel.settings();
    if !settings.is_empty() {
        let listed: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        write!(f, "({})", listed.join(", "))?;
    }
    match &bound.view {
        Some(view) if is_plain(view) => write!(f, "@{view}"),
        Some(view) => write!(f, "@{}", quoted(view)),
        None => Ok(()),
    }
}

/// True if a view's name needs no quotes.
pub(super) fn is_plain(view: &str) -> bool {
    view.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_')
        && view.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
}
