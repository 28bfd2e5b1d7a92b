//! A formula as a graph: κ between new and kept examples (n × m), and κ(x, x) of the new ones (n × 1).
//!
//! Numbers that depend on the kept examples alone (their self-similarities, means in feature space) are computed here by the same
//! code that predicts, and stored. A part that is the same everywhere stays a number until it meets a matrix.

use super::graph::Attribute;
use super::inputs::Writer;
use crate::formula::{Formula, Node};
use crate::gram::Side;
use crate::gram::views::Centring;

/// A number for all examples, or a tensor.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Number(f64),
    Tensor(String),
}

impl Writer<'_> {
    /// The matrix between new and kept examples.
    pub(super) fn cross(&mut self, node: &Node) -> Result<Term, String> {
        // a part may be asked for twice: for its own sake, and for its means
        let key = format!("cross {:p}", &raw const *node);
        if let Some(name) = self.written.get(&key) {
            return Ok(Term::Tensor(name.clone()));
        }
        let term = self.cross_anew(node)?;
        if let Term::Tensor(name) = &term {
            self.written.insert(key, name.clone());
        }
        Ok(term)
    }

    fn cross_anew(&mut self, node: &Node) -> Result<Term, String> {
        Ok(match node {
            Node::Kernel(bound) => self.leaf(bound)?,
            Node::Normalise(inner) => {
                let (matrix, own) = (self.matrix(inner)?, self.own(inner)?);
                let factor = self.inverse_root(&own);
                let columns: Vec<f64> =
                    self.kept_own(inner)?.into_iter().map(|s| if s > 0.0 { 1.0 / s.sqrt() } else { 0.0 }).collect();
                let columns = Term::Tensor(self.factors("inverse_lengths", &columns)?);
                let rows = self.times(&Term::Tensor(matrix), &factor);
                self.times(&rows, &columns)
            }
            Node::Radial(inner, gamma) => {
                let (matrix, own) = (self.matrix(inner)?, self.own(inner)?);
                let columns = self.kept_own(inner)?;
                let columns = Term::Tensor(self.graph.row("squares", &columns)?);
                let inner = self.times(&Term::Tensor(matrix), &Term::Number(-2.0));
                let rows = self.plus(&own, &inner);
                let squared = self.plus(&rows, &columns);
                // rounding can make a distance slightly negative
                let squared = self.at_least_zero(&squared);
                self.exp_of(-gamma.value(), &squared)
            }
            Node::Centre(inner, centring) => {
                let centring =
                    centring.as_ref().ok_or("centre(…) has not met its training examples; fit the model anew")?;
                let matrix = self.matrix(inner)?;
                let means = self.means(&matrix, centring)?;
                let columns = self.graph.row("means", &centring.means)?;
                let rows = self.graph.node("Sub", &[&matrix, &means]);
                let both = self.graph.node("Sub", &[&rows, &columns]);
                self.plus(&Term::Tensor(both), &Term::Number(centring.total))
            }
            other => self.combined(other, Self::cross)?,
        })
    }

    /// κ(x, x) of the new examples.
    pub(super) fn own(&mut self, node: &Node) -> Result<Term, String> {
        Ok(match node {
            Node::Kernel(bound) => self.leaf_own(bound)?,
            Node::Normalise(inner) => match self.own(inner)? {
                Term::Number(own) => Term::Number(f64::from(u8::from(own > 0.0))),
                Term::Tensor(own) => {
                    let (zero, one) = (self.graph.number(0.0), self.graph.number(1.0));
                    let some = self.graph.node("Greater", &[&own, &zero]);
                    Term::Tensor(self.graph.node("Where", &[&some, &one, &zero]))
                }
            },
            Node::Radial(..) => Term::Number(1.0),
            Node::Centre(inner, centring) => {
                let centring =
                    centring.as_ref().ok_or("centre(…) has not met its training examples; fit the model anew")?;
                let (total, matrix) = (centring.total, self.matrix(inner)?);
                let means = Term::Tensor(self.means(&matrix, centring)?);
                let (own, twice) = (self.own(inner)?, self.times(&means, &Term::Number(-2.0)));
                let moved = self.plus(&own, &twice);
                self.plus(&moved, &Term::Number(total))
            }
            other => self.combined(other, Self::own)?,
        })
    }

    /// An operation on each entry by itself, and therefore the same for matrices and for self-similarities.
    fn combined(&mut self, node: &Node, part: fn(&mut Self, &Node) -> Result<Term, String>) -> Result<Term, String> {
        Ok(match node {
            Node::Constant(value) => Term::Number(*value),
            Node::Sum(terms) => {
                let mut sum = Term::Number(0.0);
                for term in terms {
                    let term = part(self, term)?;
                    sum = self.plus(&sum, &term);
                }
                sum
            }
            Node::Product(factors) => {
                let mut product = Term::Number(1.0);
                for factor in factors {
                    let factor = part(self, factor)?;
                    product = self.times(&product, &factor);
                }
                product
            }
            Node::Scaled(factor, inner) => {
                let inner = part(self, inner)?;
                self.times(&inner, &Term::Number(*factor))
            }
            Node::Power(inner, n) => {
                let inner = part(self, inner)?;
                self.power(&inner, *n as usize)
            }
            Node::Series(inner, coefficients) => {
                let inner = part(self, inner)?;
                let mut all = coefficients.iter().rev();
                let mut sum = Term::Number(all.next().copied().unwrap_or(0.0));
                for a in all {
                    sum = self.times(&sum, &inner);
                    sum = self.plus(&sum, &Term::Number(*a));
                }
                sum
            }
            Node::Exp(inner) => {
                let inner = part(self, inner)?;
                self.exp_of(1.0, &inner)
            }
            Node::Nystrom(..) => {
                return Err(
                    "nystrom(…) is not written as ONNX; fit with the kernel itself, on fewer examples".to_owned()
                );
            }
            Node::Set(..) => return Err("set(…) has no form in ONNX, where an example is one row".to_owned()),
            Node::Kernel(_) | Node::Normalise(_) | Node::Radial(..) | Node::Centre(..) => {
                return Err("this part of a formula is not made entry by entry".to_owned());
            }
        })
    }

    /// The matrix as a tensor, also where it is a number.
    pub(super) fn matrix(&mut self, node: &Node) -> Result<String, String> {
        match self.cross(node)? {
            Term::Tensor(name) => Ok(name),
            Term::Number(value) => self.filled(value, self.model.examples.len()),
        }
    }

    /// A tensor of one number, n × columns.
    pub(super) fn filled(&mut self, value: f64, columns: usize) -> Result<String, String> {
        let (batch, columns) = (self.batch()?, self.graph.integers(&[columns as i64]));
        let shape = self.graph.node_with("Concat", &[&batch, &columns], vec![("axis", Attribute::Int(0))]);
        Ok(self.graph.node_with("ConstantOfShape", &[&shape], vec![("value", Attribute::Value(value))]))
    }

    /// κ(z, z) of the kept examples, as predictions see it.
    fn kept_own(&self, node: &Node) -> Result<Vec<f64>, String> {
        let kept = &self.model.examples;
        let matrix = Formula(node.clone()).cross(kept, kept).map_err(|e| e.to_string())?;
        matrix.self_similarities(Side::Columns).ok_or_else(|| format!("{} knows no κ(x, x)", Formula(node.clone())))
    }

    /// 1/√s, and zero where s is not above zero.
    fn inverse_root(&mut self, own: &Term) -> Term {
        match own {
            Term::Number(own) => Term::Number(if *own > 0.0 { 1.0 / own.sqrt() } else { 0.0 }),
            Term::Tensor(own) => {
                let (zero, one) = (self.graph.number(0.0), self.graph.number(1.0));
                let some = self.graph.node("Greater", &[own, &zero]);
                let root = self.graph.node("Sqrt", &[own]);
                let inverse = self.graph.node("Div", &[&one, &root]);
                Term::Tensor(self.graph.node("Where", &[&some, &inverse, &zero]))
            }
        }
    }

    /// The mean of each row over the examples of a centre, n × 1.
    fn means(&mut self, matrix: &str, centring: &Centring) -> Result<String, String> {
        let (sum, count) = match centring.part.as_slice() {
            [] => (self.sum(matrix), self.model.examples.len()),
            part => {
                let mut marks = vec![0.0; self.model.examples.len()];
                part.iter().for_each(|&l| marks[l] = 1.0);
                let marks = self.graph.row("part", &marks)?;
                let marked = self.graph.node("Mul", &[matrix, &marks]);
                (self.sum(&marked), part.len())
            }
        };
        let count = self.graph.number(count.max(1) as f64);
        Ok(self.graph.node("Div", &[&sum, &count]))
    }

    pub(super) fn plus(&mut self, a: &Term, b: &Term) -> Term {
        match (a, b) {
            (Term::Number(a), Term::Number(b)) => Term::Number(a + b),
            (Term::Number(zero), tensor) | (tensor, Term::Number(zero)) if *zero == 0.0 => tensor.clone(),
            _ => {
                let (a, b) = (self.tensor(a), self.tensor(b));
                Term::Tensor(self.graph.node("Add", &[&a, &b]))
            }
        }
    }

    pub(super) fn times(&mut self, a: &Term, b: &Term) -> Term {
        match (a, b) {
            (Term::Number(a), Term::Number(b)) => Term::Number(a * b),
            (Term::Number(one), tensor) | (tensor, Term::Number(one)) if *one == 1.0 => tensor.clone(),
            (Term::Tensor(tensor), Term::Number(value)) | (Term::Number(value), Term::Tensor(tensor)) => {
                // the number of examples is known where there is a tensor of them
                let factor = self.factor(*value).unwrap_or_else(|_| self.graph.number(*value));
                Term::Tensor(self.graph.node("Mul", &[tensor, &factor]))
            }
            (Term::Tensor(a), Term::Tensor(b)) => Term::Tensor(self.graph.node("Mul", &[a, b])),
        }
    }

    /// A factor for each column, 1 × columns; see [`Writer::factor`].
    pub(super) fn factors(&mut self, wish: &str, values: &[f64]) -> Result<String, String> {
        match values {
            [one] => self.factor(*one),
            all => self.graph.row(wish, all),
        }
    }

    /// A factor for all entries. Programs that run a graph may join a product of matrices with a constant factor beside it,
    /// and onnxruntime then keeps the factor in f32. Where that would lose digits, the factor is made to depend on the
    /// number of examples, n × 1, and is no constant for anyone.
    fn factor(&mut self, value: f64) -> Result<String, String> {
        if f64::from(value as f32) == value {
            return Ok(self.graph.number(value));
        }
        let key = format!("factor {:x}", value.to_bits());
        if let Some(name) = self.written.get(&key) {
            return Ok(name.clone());
        }
        let name = self.filled(value, 1)?;
        self.written.insert(key, name.clone());
        Ok(name)
    }

    /// A tensor that may have to be spread over the examples.
    pub(super) fn tensor(&mut self, term: &Term) -> String {
        match term {
            Term::Number(value) => self.graph.number(*value),
            Term::Tensor(name) => name.clone(),
        }
    }

    pub(super) fn power(&mut self, base: &Term, n: usize) -> Term {
        match base {
            _ if n == 1 => base.clone(),
            Term::Number(base) => Term::Number(base.powi(n as i32)),
            Term::Tensor(base) if n == 2 => Term::Tensor(self.graph.node("Mul", &[base, base])),
            Term::Tensor(base) => {
                let exponent = self.graph.number(n as f64);
                Term::Tensor(self.graph.node("Pow", &[base, &exponent]))
            }
        }
    }

    /// exp(factor · t).
    pub(super) fn exp_of(&mut self, factor: f64, term: &Term) -> Term {
        match self.times(term, &Term::Number(factor)) {
            Term::Number(value) => Term::Number(value.exp()),
            Term::Tensor(name) => Term::Tensor(self.graph.node("Exp", &[&name])),
        }
    }

    pub(super) fn at_least_zero(&mut self, term: &Term) -> Term {
        match term {
            Term::Number(value) => Term::Number(value.max(0.0)),
            Term::Tensor(name) => {
                let zero = self.graph.number(0.0);
                Term::Tensor(self.graph.node("Max", &[name, &zero]))
            }
        }
    }
}
