//! Kernels on vectors as graphs.
//!
//! ```text
//! inner products   X Zᵀ
//! smooth radial    ‖x − c‖² + ‖z − c‖² − 2⟨x − c, z − c⟩, at least zero, c the mean of the kept examples
//! other radial     Σ_j (x_j − z_j)²
//! coordinatewise   Σ_j term(x_j, z_j)
//! ```
//!
//! Around their mean, distances cancel only what the examples really have in common. The roots of a distance magnify its
//! error where examples meet (√ε of nothing is 1e-8), so ν = ½ and −‖x − z‖^β are summed coordinate by coordinate. These
//! sums are a `Scan` over the coordinates, which needs n × m numbers at a time, not n × m × width.

use super::formula::Term;
use super::graph::{Attribute, Element, Graph};
use super::inputs::{Input, Writer, transposed};
use crate::data::Kind;
use crate::formula::Bound;
use crate::kernels::{self, Domain, Expression, Feature, Inexpressible};

/// Kernels that a graph can compute, at least with some of their parameters.
fn exported() -> String {
    let can = |e: &&kernels::KernelEntry| {
        let kernel = (e.make)();
        kernel.facts().looks_at_data && kernel.expression() != Err(Inexpressible::Unknown)
    };
    let names: Vec<&str> = kernels::all().filter(can).map(|e| e.name).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("{} and {last} on vectors", others.join(", "))
}

fn refused(bound: &Bound) -> String {
    let (name, exported) = (bound.kernel.entry().name, exported());
    match bound.kernel.entry().kind {
        kind @ (Kind::Text | Kind::Other(_)) => {
            let what = if kind == Kind::Text { "strings" } else { kind.entry().plural };
            format!("{name} compares {what}, for which ONNX has no operators; {exported} can be written")
        }
        Kind::Precomputed => format!(
            "the kernel of this model was computed elsewhere, and a graph of ONNX must compute it; fit with one of \
             {exported}"
        ),
        Kind::Vectors => format!("{name} is not a kernel that can be written as ONNX; {exported} can"),
    }
}

/// The kind of value of an expression.
#[derive(Clone, Copy)]
enum KernelBlock {
    /// κ between new and kept examples, n × m.
    Cross,
    /// κ(x, x) of the new examples, n × 1.
    Own,
}

impl<'a> Writer<'a> {
    /// κ between new and kept examples.
    pub(super) fn leaf(&mut self, bound: &Bound) -> Result<Term, String> {
        self.leaf_of(bound, KernelBlock::Cross)
    }

    /// κ(x, x) of new examples.
    pub(super) fn leaf_own(&mut self, bound: &Bound) -> Result<Term, String> {
        self.leaf_of(bound, KernelBlock::Own)
    }

    fn leaf_of(&mut self, bound: &Bound, block: KernelBlock) -> Result<Term, String> {
        let entry = bound.kernel.entry();
        let expression = bound.kernel.expression().map_err(|why| match why {
            Inexpressible::Unknown => refused(bound),
            Inexpressible::Unresolved(name) => {
                format!("{name} of {} is not a number yet; fit the model first", entry.name)
            }
            Inexpressible::Parameters(finding) => format!("ONNX cannot say this kernel: {finding}"),
        })?;
        let input = if bound.kernel.facts().looks_at_data {
            if entry.kind != Kind::Vectors {
                return Err(refused(bound));
            }
            Some(self.input(bound)?)
        } else {
            None
        };
        if let Some(input) = input.as_ref().filter(|_| entry.domain == Domain::NonNegative) {
            let name = entry.name;
            let note = format!("{name} wants coordinates ≥ 0, which the ONNX file does not check in {}", input.view);
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.expression(&expression, input.as_ref(), block)
    }

    /// An expression as nodes of the graph; a part that stands twice is computed once.
    fn expression(
        &mut self,
        expression: &Expression,
        input: Option<&Input<'a>>,
        block: KernelBlock,
    ) -> Result<Term, String> {
        let view = input.map_or("", |input| input.view);
        let key = match block {
            KernelBlock::Cross => format!("{expression:?} {view}"),
            KernelBlock::Own => format!("own {expression:?} {view}"),
        };
        if let Some(name) = self.written.get(&key) {
            return Ok(Term::Tensor(name.clone()));
        }
        let term = self.expression_anew(expression, input, block)?;
        if let Term::Tensor(name) = &term {
            self.written.insert(key, name.clone());
        }
        Ok(term)
    }

    fn expression_anew(
        &mut self,
        expression: &Expression,
        input: Option<&Input<'a>>,
        block: KernelBlock,
    ) -> Result<Term, String> {
        Ok(match expression {
            Expression::Number(value) => Term::Number(*value),
            Expression::Plus(a, b) => {
                let (a, b) = (self.expression(a, input, block)?, self.expression(b, input, block)?);
                self.plus(&a, &b)
            }
            Expression::Times(a, b) => {
                let (a, b) = (self.expression(a, input, block)?, self.expression(b, input, block)?);
                self.times(&a, &b)
            }
            Expression::Power(base, n) => {
                let base = self.expression(base, input, block)?;
                self.power(&base, *n)
            }
            Expression::RealPower(base, exponent) => match self.expression(base, input, block)? {
                Term::Number(base) => Term::Number(base.powf(*exponent)),
                Term::Tensor(base) => {
                    let exponent = self.graph.number(*exponent);
                    Term::Tensor(self.graph.node("Pow", &[&base, &exponent]))
                }
            },
            Expression::Root(inner) => {
                let inner = self.expression(inner, input, block)?;
                self.function("Sqrt", f64::sqrt, &inner)
            }
            Expression::Exp(inner) => {
                let inner = self.expression(inner, input, block)?;
                self.function("Exp", f64::exp, &inner)
            }
            Expression::Tanh(inner) => {
                let inner = self.expression(inner, input, block)?;
                self.function("Tanh", f64::tanh, &inner)
            }
            // a new example is never the same as one that is kept
            Expression::SameExample => Term::Number(match block {
                KernelBlock::Cross => 0.0,
                KernelBlock::Own => 1.0,
            }),
            of_vectors => {
                let input = input.ok_or("a kernel on vectors has no vectors to look at; fit the model anew")?;
                match block {
                    KernelBlock::Cross => self.of_pairs(of_vectors, input)?,
                    KernelBlock::Own => self.of_one(of_vectors, input)?,
                }
            }
        })
    }

    /// The parts of an expression that look at vectors, between new and kept ones.
    fn of_pairs(&mut self, expression: &Expression, input: &Input<'a>) -> Result<Term, String> {
        Ok(match expression {
            Expression::InnerProduct => Term::Tensor(self.products(input)?),
            Expression::SquaredDistance { weights } if weights.is_empty() => self.squared_distances(input, None)?,
            Expression::SquaredDistance { weights } => {
                let all = spread(weights, input.width)?;
                self.squared_distances(input, Some(&all))?
            }
            Expression::SquaredDifferences => self.squared_differences(input)?,
            Expression::AbsoluteDifferences => {
                Term::Tensor(self.over_coordinates(input, "absolute", |graph, x, z| {
                    let difference = graph.node("Sub", &[x, z]);
                    graph.node("Abs", &[&difference])
                })?)
            }
            Expression::HarmonicMeans => Term::Tensor(self.over_coordinates(input, "harmonic", |graph, x, z| {
                let (zero, one, two) = (graph.number(0.0), graph.number(1.0), graph.number(2.0));
                let sum = graph.node("Add", &[x, z]);
                let some = graph.node("Greater", &[&sum, &zero]);
                let safe = graph.node("Where", &[&some, &sum, &one]);
                let twice = graph.node("Mul", &[&two, x]);
                let product = graph.node("Mul", &[&twice, z]);
                graph.node("Div", &[&product, &safe])
            })?),
            Expression::OfEach { f, index } => {
                let row = self.feature(*f, *index, input);
                let kept = self.factors("features", &kept_features(*f, *index, input))?;
                self.times(&row, &Term::Tensor(kept))
            }
            _ => return Err("this part of a kernel does not look at vectors".to_owned()),
        })
    }

    /// The same parts between each new vector and itself.
    fn of_one(&mut self, expression: &Expression, input: &Input<'a>) -> Result<Term, String> {
        Ok(match expression {
            Expression::InnerProduct => {
                let square = self.graph.node("Mul", &[&input.tensor, &input.tensor]);
                Term::Tensor(self.sum(&square))
            }
            Expression::SquaredDistance { .. } | Expression::SquaredDifferences | Expression::AbsoluteDifferences => {
                Term::Number(0.0)
            }
            // 2 x²/(x + x) = x
            Expression::HarmonicMeans => Term::Tensor(self.sum(&input.tensor)),
            Expression::OfEach { f, index } => {
                let row = self.feature(*f, *index, input);
                self.times(&row, &row)
            }
            _ => return Err("this part of a kernel does not look at vectors".to_owned()),
        })
    }

    /// A function of each entry, by the name of its operator.
    fn function(&mut self, operator: &'static str, of: fn(f64) -> f64, term: &Term) -> Term {
        match term {
            Term::Number(value) => Term::Number(of(*value)),
            Term::Tensor(name) => Term::Tensor(self.graph.node(operator, &[name])),
        }
    }

    /// ⟨x, z⟩, n × m.
    fn products(&mut self, input: &Input<'a>) -> Result<String, String> {
        let kept = self.kept(input)?;
        let (tensor, key) = (&input.tensor, format!("products {}", input.view));
        Ok(self.written.entry(key).or_insert_with(|| self.graph.node("MatMul", &[tensor, &kept])).clone())
    }

    /// The kept examples as columns, width × m.
    fn kept(&mut self, input: &Input<'a>) -> Result<String, String> {
        let key = format!("kept {}", input.view);
        if let Some(name) = self.written.get(&key) {
            return Ok(name.clone());
        }
        let (m, d) = (input.kept.len(), input.width);
        self.graph.reserve(m.saturating_mul(d))?;
        let name = self.graph.numbers("kept", &[d, m], &transposed(&input.dense(), m, d));
        self.written.insert(key, name.clone());
        Ok(name)
    }

    /// ‖w(x − z)‖² by products, n × m.
    fn squared_distances(&mut self, input: &Input<'a>, weights: Option<&[f64]>) -> Result<Term, String> {
        let key = format!("distances {} {weights:?}", input.view);
        if let Some(name) = self.written.get(&key) {
            return Ok(Term::Tensor(name.clone()));
        }
        let (m, d) = (input.kept.len(), input.width);
        self.graph.reserve(m.saturating_mul(d))?;
        let mut kept = input.dense();
        let mut centre = vec![0.0; d];
        for row in kept.chunks_exact(d.max(1)) {
            centre.iter_mut().zip(row).for_each(|(c, z)| *c += z / m as f64);
        }
        for row in kept.chunks_exact_mut(d.max(1)) {
            for (j, z) in row.iter_mut().enumerate() {
                *z = (*z - centre[j]) * weights.map_or(1.0, |w| w[j]);
            }
        }
        let squares: Vec<f64> = kept.chunks_exact(d.max(1)).map(|row| row.iter().map(|z| z * z).sum()).collect();
        // twice and the sign are exact
        kept.iter_mut().for_each(|z| *z *= -2.0);
        let (centre, squares) = (self.graph.row("centre", &centre)?, self.graph.row("squares", &squares)?);
        let kept = self.graph.numbers("centred", &[d, m], &transposed(&kept, m, d));
        let mut x = self.graph.node("Sub", &[&input.tensor, &centre]);
        if let Some(weights) = weights {
            let weights = self.factors("weights", weights)?;
            x = self.graph.node("Mul", &[&x, &weights]);
        }
        let square = self.graph.node("Mul", &[&x, &x]);
        let square = self.sum(&square);
        let both = self.graph.node("Add", &[&square, &squares]);
        let products = self.graph.node("MatMul", &[&x, &kept]);
        let squared = self.graph.node("Add", &[&both, &products]);
        let squared = self.at_least_zero(&Term::Tensor(squared));
        let name = self.tensor(&squared);
        self.written.insert(key, name);
        Ok(squared)
    }

    /// ‖x − z‖² by differences, n × m.
    fn squared_differences(&mut self, input: &Input<'a>) -> Result<Term, String> {
        let sum = self.over_coordinates(input, "squared", |graph, x, z| {
            let difference = graph.node("Sub", &[x, z]);
            graph.node("Mul", &[&difference, &difference])
        })?;
        Ok(Term::Tensor(sum))
    }

    /// Σ_j term(x_j, z_j), n × m.
    fn over_coordinates(
        &mut self,
        input: &Input<'a>,
        what: &str,
        term: impl FnOnce(&mut Graph, &str, &str) -> String,
    ) -> Result<String, String> {
        let key = format!("{what} {}", input.view);
        if let Some(name) = self.written.get(&key) {
            return Ok(name.clone());
        }
        let kept = self.kept(input)?;
        let start = self.filled(0.0, input.kept.len())?;
        let inputs = [("sum", Element::Double), ("x_j", Element::Double), ("z_j", Element::Double)];
        let body = self.graph.body(&inputs, |graph, names| {
            let axis = graph.integers(&[1]);
            let x = graph.node("Unsqueeze", &[&names[1], &axis]);
            let term = term(graph, &x, &names[2]);
            vec![(graph.node("Add", &[&names[0], &term]), Element::Double)]
        });
        let attributes = vec![
            ("body", Attribute::Body(body)),
            ("num_scan_inputs", Attribute::Int(2)),
            // columns of the new examples, rows of the kept ones
            ("scan_input_axes", Attribute::Ints(vec![1, 0])),
        ];
        let name = self.graph.node_with("Scan", &[&start, &input.tensor, &kept], attributes);
        self.written.insert(key, name.clone());
        Ok(name)
    }

    /// f(x) of a kernel f(x) f(z), n × 1.
    fn feature(&mut self, f: Feature, index: usize, input: &Input<'a>) -> Term {
        Term::Tensor(match f {
            Feature::Norm => self.length(&input.tensor),
            Feature::Sum => self.sum(&input.tensor),
            Feature::Coordinate if index <= input.width => {
                let place = self.graph.integers(&[index.saturating_sub(1) as i64]);
                self.graph.node_with("Gather", &[&input.tensor, &place], vec![("axis", Attribute::Int(1))])
            }
            // a vector without that coordinate has a zero there
            Feature::Coordinate => return Term::Number(0.0),
        })
    }
}

/// f(z) of the kept examples.
fn kept_features(f: Feature, index: usize, input: &Input<'_>) -> Vec<f64> {
    let of = |row: &[f64]| match f {
        Feature::Norm => row.iter().map(|x| x * x).sum::<f64>().sqrt(),
        Feature::Sum => row.iter().sum(),
        Feature::Coordinate => row.get(index.saturating_sub(1)).copied().unwrap_or(0.0),
    };
    input.dense().chunks_exact(input.width.max(1)).map(of).collect()
}

/// One weight for each coordinate.
fn spread(weights: &[f64], width: usize) -> Result<Vec<f64>, String> {
    match weights {
        [one] => Ok(vec![*one; width]),
        all if all.len() >= width => Ok(all[..width].to_vec()),
        all => Err(format!("{} lengths were given for {width} coordinates; give one, or {width}", all.len())),
    }
}
