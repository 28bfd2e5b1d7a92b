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
use crate::params::Setting;

/// Kernels that a graph can compute.
const KNOWN: &str = "linear, polynomial, rbf, ard, matern, sigmoid, distance, laplacian, chi2 and rank_one on vectors";

/// A parameter that is a number.
fn number(bound: &Bound, name: &str) -> Result<f64, String> {
    match bound.kernel.settings().into_iter().find(|(n, _)| *n == name) {
        Some((_, Setting::Number(value))) => Ok(value),
        _ => Err(format!("{name} of {} is not a number yet; fit the model first", bound.kernel.entry().name)),
    }
}

fn refused(bound: &Bound) -> String {
    let name = bound.kernel.entry().name;
    match bound.kernel.entry().kind {
        kind @ (Kind::Text | Kind::Other(_)) => {
            let what = if kind == Kind::Text { "strings" } else { kind.entry().plural };
            format!("{name} compares {what}, for which ONNX has no operators; {KNOWN} can be written")
        }
        Kind::Precomputed => format!(
            "the kernel of this model was computed elsewhere, and a graph of ONNX must compute it; fit with one of \
             {KNOWN}"
        ),
        Kind::Vectors => format!("{name} is not a kernel that can be written as ONNX; {KNOWN} can"),
    }
}

impl<'a> Writer<'a> {
    /// κ between new and kept examples.
    pub(super) fn leaf(&mut self, bound: &Bound) -> Result<Term, String> {
        let name = bound.kernel.entry().name;
        if name == "noise" {
            // a new example is never the same as one that is kept
            return Ok(Term::Number(0.0));
        }
        if bound.kernel.entry().kind != Kind::Vectors {
            return Err(refused(bound));
        }
        let input = self.input(bound)?;
        Ok(match name {
            "linear" | "polynomial" | "sigmoid" => {
                let product = self.products(&input)?;
                self.of_product(bound, &Term::Tensor(product))?
            }
            "rbf" => {
                let squared = self.squared_distances(&input, None)?;
                self.exp_of(-number(bound, "gamma")?, &squared)
            }
            "ard" => {
                let squared = self.squared_distances(&input, Some(&lengths(bound, input.width)?))?;
                self.exp_of(-0.5, &squared)
            }
            "matern" => self.matern(bound, &input)?,
            "distance" => self.distance(bound, &input)?,
            "laplacian" => {
                let sum = self.over_coordinates(&input, "absolute", |graph, x, z| {
                    let difference = graph.node("Sub", &[x, z]);
                    graph.node("Abs", &[&difference])
                })?;
                self.exp_of(-number(bound, "gamma")?, &Term::Tensor(sum))
            }
            "chi2" => {
                let note = format!("chi2 wants coordinates ≥ 0, which the ONNX file does not check in {}", input.view);
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
                Term::Tensor(self.over_coordinates(&input, "chi2", |graph, x, z| {
                    let (zero, one, two) = (graph.number(0.0), graph.number(1.0), graph.number(2.0));
                    let sum = graph.node("Add", &[x, z]);
                    let some = graph.node("Greater", &[&sum, &zero]);
                    let safe = graph.node("Where", &[&some, &sum, &one]);
                    let twice = graph.node("Mul", &[&two, x]);
                    let product = graph.node("Mul", &[&twice, z]);
                    graph.node("Div", &[&product, &safe])
                })?)
            }
            "rank_one" => {
                let row = self.feature(bound, &input)?;
                let kept = kept_features(bound, &input)?;
                let kept = self.factors("features", &kept)?;
                self.times(&row, &Term::Tensor(kept))
            }
            _ => return Err(refused(bound)),
        })
    }

    /// κ(x, x) of new examples.
    pub(super) fn leaf_own(&mut self, bound: &Bound) -> Result<Term, String> {
        let name = bound.kernel.entry().name;
        if name == "noise" {
            return Ok(Term::Number(number(bound, "variance")?));
        }
        if bound.kernel.entry().kind != Kind::Vectors {
            return Err(refused(bound));
        }
        let input = self.input(bound)?;
        Ok(match name {
            "linear" | "polynomial" | "sigmoid" => {
                let square = self.graph.node("Mul", &[&input.tensor, &input.tensor]);
                let square = Term::Tensor(self.sum(&square));
                self.of_product(bound, &square)?
            }
            "rbf" | "ard" | "matern" | "laplacian" => Term::Number(1.0),
            "distance" => Term::Number(0.0),
            // 2 x²/(x + x) = x
            "chi2" => Term::Tensor(self.sum(&input.tensor)),
            "rank_one" => {
                let row = self.feature(bound, &input)?;
                self.times(&row, &row)
            }
            _ => return Err(refused(bound)),
        })
    }

    /// A kernel of the inner product.
    fn of_product(&mut self, bound: &Bound, product: &Term) -> Result<Term, String> {
        let name = bound.kernel.entry().name;
        if name == "linear" {
            return Ok(product.clone());
        }
        let scaled = self.times(product, &Term::Number(number(bound, "gamma")?));
        let base = self.plus(&scaled, &Term::Number(number(bound, "offset")?));
        if name == "polynomial" {
            return Ok(self.power(&base, number(bound, "degree")? as usize));
        }
        let base = self.tensor(&base);
        Ok(Term::Tensor(self.graph.node("Tanh", &[&base])))
    }

    fn matern(&mut self, bound: &Bound, input: &Input<'a>) -> Result<Term, String> {
        let (nu, length) = (number(bound, "nu")?, number(bound, "length")?);
        let squared = if nu == 0.5 {
            self.squared_differences(input)?
        } else if nu == 1.5 || nu == 2.5 {
            self.squared_distances(input, None)?
        } else {
            return Err(format!(
                "matern with nu = {nu} needs a Bessel function, which ONNX does not have; fit with nu = 0.5, 1.5 or 2.5"
            ));
        };
        let squared = self.tensor(&squared);
        let root = Term::Tensor(self.graph.node("Sqrt", &[&squared]));
        let t = self.times(&root, &Term::Number((2.0 * nu).sqrt() / length));
        let decay = self.exp_of(-1.0, &t);
        if nu == 0.5 {
            return Ok(decay);
        }
        let mut front = self.plus(&t, &Term::Number(1.0));
        if nu == 2.5 {
            let square = self.times(&t, &t);
            let third = self.times(&square, &Term::Number(1.0 / 3.0));
            front = self.plus(&front, &third);
        }
        Ok(self.times(&front, &decay))
    }

    fn distance(&mut self, bound: &Bound, input: &Input<'a>) -> Result<Term, String> {
        let beta = number(bound, "beta")?;
        let power = if beta == 2.0 {
            self.squared_distances(input, None)?
        } else {
            let squared = self.squared_differences(input)?;
            let squared = self.tensor(&squared);
            Term::Tensor(if beta == 1.0 {
                self.graph.node("Sqrt", &[&squared])
            } else {
                let exponent = self.graph.number(0.5 * beta);
                self.graph.node("Pow", &[&squared, &exponent])
            })
        };
        Ok(self.times(&power, &Term::Number(-1.0)))
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
    fn feature(&mut self, bound: &Bound, input: &Input<'a>) -> Result<Term, String> {
        Ok(Term::Tensor(match feature_of(bound)? {
            Feature::Norm => self.length(&input.tensor),
            Feature::Sum => self.sum(&input.tensor),
            Feature::Coordinate(j) if j < input.width => {
                let place = self.graph.integers(&[j as i64]);
                self.graph.node_with("Gather", &[&input.tensor, &place], vec![("axis", Attribute::Int(1))])
            }
            // a vector without that coordinate has a zero there
            Feature::Coordinate(_) => return Ok(Term::Number(0.0)),
        }))
    }
}

/// The function of a kernel of rank one.
enum Feature {
    Norm,
    Sum,
    Coordinate(usize),
}

fn feature_of(bound: &Bound) -> Result<Feature, String> {
    match bound.kernel.settings().into_iter().find(|(name, _)| *name == "f") {
        Some((_, Setting::Word(word))) if word == "norm" => Ok(Feature::Norm),
        Some((_, Setting::Word(word))) if word == "sum" => Ok(Feature::Sum),
        Some((_, Setting::Word(word))) if word == "coordinate" => {
            Ok(Feature::Coordinate((number(bound, "index")? as usize).saturating_sub(1)))
        }
        _ => Err("rank_one has a function that ONNX cannot say; fit with f=norm, sum or coordinate".to_owned()),
    }
}

fn kept_features(bound: &Bound, input: &Input<'_>) -> Result<Vec<f64>, String> {
    let feature = feature_of(bound)?;
    let of = |row: &[f64]| match feature {
        Feature::Norm => row.iter().map(|x| x * x).sum::<f64>().sqrt(),
        Feature::Sum => row.iter().sum(),
        Feature::Coordinate(j) => row.get(j).copied().unwrap_or(0.0),
    };
    Ok(input.dense().chunks_exact(input.width.max(1)).map(of).collect())
}

/// One over the length scale of each coordinate.
fn lengths(bound: &Bound, width: usize) -> Result<Vec<f64>, String> {
    let lengths = match bound.kernel.settings().into_iter().find(|(name, _)| *name == "lengths") {
        Some((_, Setting::Numbers(lengths))) => lengths,
        Some((_, Setting::Number(length))) => vec![length],
        _ => Vec::new(),
    };
    match lengths.as_slice() {
        [one] => Ok(vec![1.0 / one; width]),
        all if all.len() >= width => Ok(all[..width].iter().map(|l| 1.0 / l).collect()),
        all => Err(format!("ard has {} lengths for {width} coordinates; give one, or {width}", all.len())),
    }
}
