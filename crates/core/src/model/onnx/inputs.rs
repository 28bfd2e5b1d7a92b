//! The inputs of a graph: vectors of new examples, scaled as the model has learned it, beside those that it keeps.

use super::graph::{Attribute, Element, Graph};
use crate::data::{Kind, Rows, Scalar, Scaler, SparseRows, Values};
use crate::formula::{Bound, look};
use crate::model::Model;
use std::collections::BTreeMap;

/// A model on its way into a graph.
pub(super) struct Writer<'a> {
    pub(super) graph: Graph,
    pub(super) model: &'a Model,
    pub(super) notes: Vec<String>,
    inputs: Vec<Input<'a>>,
    /// Tensors that were written already, by what they are.
    pub(super) written: BTreeMap<String, String>,
}

/// A view of vectors.
#[derive(Clone)]
pub(super) struct Input<'a> {
    pub(super) view: &'a str,
    /// The new examples as the kernel sees them, n × width.
    pub(super) tensor: String,
    /// The examples that the model keeps.
    pub(super) kept: &'a Values,
    pub(super) width: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(model: &'a Model, outputs: &[&str]) -> Self {
        let graph = Graph::new(outputs);
        Self { graph, model, notes: Vec::new(), inputs: Vec::new(), written: BTreeMap::new() }
    }

    /// The input that a kernel looks at.
    pub(super) fn input(&mut self, bound: &Bound) -> Result<Input<'a>, String> {
        let kept = look(bound, &self.model.examples).map_err(|e| e.to_string())?;
        let view = self.model.examples.views().iter().find(|v| std::ptr::eq(&raw const v.values, kept));
        match view {
            Some(view) => self.vectors(&view.name, kept),
            None => Err("the model has lost the view that its kernel looks at; fit it anew".to_owned()),
        }
    }

    /// The number of examples, as a list of one number.
    pub(super) fn batch(&mut self) -> Result<String, String> {
        if let Some(name) = self.written.get("batch") {
            return Ok(name.clone());
        }
        let tensor = match self.inputs.first() {
            Some(input) => input.tensor.clone(),
            None => {
                // no kernel looks at data, but predictions must know how many are wanted
                let model = self.model;
                let view = model.examples.views().iter().find(|v| v.values.kind() == Kind::Vectors);
                let view = view.ok_or("a graph of ONNX reads vectors, and this model has none")?;
                self.vectors(&view.name, &view.values)?.tensor
            }
        };
        let first = vec![("start", Attribute::Int(0)), ("end", Attribute::Int(1))];
        let batch = self.graph.node_with("Shape", &[&tensor], first);
        self.written.insert("batch".to_owned(), batch.clone());
        Ok(batch)
    }

    fn vectors(&mut self, view: &'a str, kept: &'a Values) -> Result<Input<'a>, String> {
        if let Some(known) = self.inputs.iter().find(|i| i.view == view) {
            return Ok(known.clone());
        }
        let Some(width) = kept.width() else {
            return Err(format!("the inputs of an ONNX file are vectors, and the view {view} holds {}", kept.kind()));
        };
        let mut tensor = self.graph.input(view, width);
        if tensor != view {
            self.notes.push(format!("the view {view} is the input {tensor}, because an output is called {view}"));
        }
        // known from here on, since a factor may ask for the number of examples
        let place = self.inputs.len();
        self.inputs.push(Input { view, tensor: tensor.clone(), kept, width });
        if let Some(schema) = self.model.schema.as_ref().and_then(|s| s.view(view)) {
            let codes = schema.codes();
            if !codes.is_empty() {
                let names = schema.coordinate_names().unwrap_or_default();
                self.notes.push(format!(
                    "an ONNX file cannot say that {}: its input {tensor} has the coordinates {}",
                    codes.join(" and "),
                    names.join(", ")
                ));
            }
            tensor = match schema.scaler() {
                Some(Scaler::Affine { shift, factor }) => {
                    let (shift, factor) = (self.graph.row("shift", shift)?, self.factors("factor", factor)?);
                    let moved = self.graph.node("Sub", &[&tensor, &shift]);
                    self.graph.node("Mul", &[&moved, &factor])
                }
                _ if schema.has_unit_length() => self.unit(&tensor),
                _ => tensor,
            };
            if matches!(kept, Values::Dense32(_)) && schema.scaler().is_some() {
                // what was scaled is stored in f32, and so are new examples
                let narrow = vec![("to", Attribute::Int(Element::Float as i64))];
                let rounded = self.graph.node_with("Cast", &[&tensor], narrow);
                tensor =
                    self.graph.node_with("Cast", &[&rounded], vec![("to", Attribute::Int(Element::Double as i64))]);
            }
        }
        self.inputs[place].tensor = tensor;
        Ok(self.inputs[place].clone())
    }

    /// Every vector divided by its length; the zero vector stays.
    fn unit(&mut self, tensor: &str) -> String {
        let length = self.length(tensor);
        let (zero, one) = (self.graph.number(0.0), self.graph.number(1.0));
        let some = self.graph.node("Greater", &[&length, &zero]);
        let divisor = self.graph.node("Where", &[&some, &length, &one]);
        self.graph.node("Div", &[tensor, &divisor])
    }

    /// ‖x‖, n × 1.
    pub(super) fn length(&mut self, tensor: &str) -> String {
        let square = self.graph.node("Mul", &[tensor, tensor]);
        let sum = self.sum(&square);
        self.graph.node("Sqrt", &[&sum])
    }

    /// The sum of each row, n × 1.
    pub(super) fn sum(&mut self, tensor: &str) -> String {
        let axis = self.graph.integers(&[1]);
        self.graph.node("ReduceSum", &[tensor, &axis])
    }
}

impl Input<'_> {
    /// The kept examples with all their zeros, row by row; the graph has taken their room.
    pub(super) fn dense(&self) -> Vec<f64> {
        match self.kept {
            Values::Dense(rows) => rows.values().to_vec(),
            Values::Dense32(rows) => wide(rows),
            Values::Sparse(rows) => spread(rows, self.width),
            Values::Sparse32(rows) => spread(rows, self.width),
            Values::Text(_) | Values::Index(_) | Values::Items(_) => Vec::new(),
        }
    }
}

fn wide(rows: &Rows<f32>) -> Vec<f64> {
    rows.values().iter().map(|x| x.wide()).collect()
}

fn spread<S: Scalar>(rows: &SparseRows<S>, width: usize) -> Vec<f64> {
    let mut all = vec![0.0; rows.len() * width];
    for i in 0..rows.len() {
        rows.row(i).iter().for_each(|c| all[i * width + c.index as usize] = c.value.wide());
    }
    all
}

/// A matrix with rows and columns exchanged.
pub(super) fn transposed(values: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    (0..columns).flat_map(|j| (0..rows).map(move |i| values[i * columns + j])).collect()
}
