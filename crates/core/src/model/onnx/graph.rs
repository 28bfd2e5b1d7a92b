//! A graph of ONNX under construction: inputs, constant tensors, nodes and outputs.
//!
//! Every tensor has a name of its own. Names are given here, so that a view may have any name; constants that occur again
//! are stored once. The parts of a loop see the names of the graph around them, so constants always belong to the whole.
//!
//! # Source
//! ONNX's `onnx.proto` (numbers of fields) and its operators, opset 17; files of IR version 8.

use super::protobuf::Message;
use std::collections::{BTreeMap, BTreeSet};

/// The version of the operators.
const OPSET: i64 = 17;
/// The version of the file.
const IR_VERSION: i64 = 8;
/// Largest size of all constants: a message of protocol buffers ends at 2 GiB, and is copied while it is read.
const MAX_CONSTANT_BYTES: usize = 1 << 30;

/// Types of the entries of a tensor, in ONNX's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Float = 1,
    Int = 7,
    Text = 8,
    Bool = 9,
    Double = 11,
}

/// One dimension of an input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    /// As many as there are examples.
    Batch,
    /// A number that is known.
    Fixed(usize),
}

/// A setting of a node.
pub(super) enum Attribute {
    Int(i64),
    Ints(Vec<i64>),
    /// A tensor of one number.
    Value(f64),
    /// The body of a loop.
    Body(Message),
}

#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
    names: BTreeSet<String>,
    /// Constants by what they hold.
    known: BTreeMap<String, String>,
    /// Bytes of the constants.
    size: usize,
}

impl Graph {
    /// An empty graph in which nobody else gets the names of the outputs.
    pub(super) fn new(outputs: &[&str]) -> Self {
        Self { names: outputs.iter().map(|&name| name.to_owned()).collect(), ..Self::default() }
    }

    /// A name that nothing has yet: the wish, or the wish with a number.
    pub(super) fn fresh(&mut self, wish: &str) -> String {
        let mut name = wish.to_owned();
        let mut count = 0;
        while !self.names.insert(name.clone()) {
            count += 1;
            name = format!("{wish}_{count}");
        }
        name
    }

    /// Takes what a constant of that many numbers needs.
    pub(super) fn reserve(&mut self, count: usize) -> Result<(), String> {
        self.size = self.size.saturating_add(count.saturating_mul(8));
        let remedy = "use fewer support vectors or coordinates, or linear_svc or linear_svr, which keep one weight for each coordinate";
        if self.size > MAX_CONSTANT_BYTES {
            return Err(format!(
                "an ONNX file holds vectors with all their zeros, and these would take more than {} GiB; {remedy}",
                MAX_CONSTANT_BYTES >> 30
            ));
        }
        // the numbers, the same the other way round, their bytes, and these in the file
        crate::memory::check(self.size.saturating_mul(4), "an ONNX file, which holds vectors with all their zeros,")
            .map_err(|e| e.remedy(format!("raise --memory, {remedy}")).to_string())
    }

    pub(super) fn input(&mut self, wish: &str, width: usize) -> String {
        let name = self.fresh(wish);
        self.inputs.push(value_info(&name, Element::Double, &[Dimension::Batch, Dimension::Fixed(width)]));
        name
    }

    /// Makes a tensor an output of that name.
    pub(super) fn output(&mut self, name: &str, tensor: &str, element: Element, dimensions: &[Dimension]) {
        self.push("Identity", &[tensor], &[name.to_owned()], Vec::new());
        self.outputs.push(value_info(name, element, dimensions));
    }

    /// Adds a node of one output, and names that.
    pub(super) fn node(&mut self, operator: &str, inputs: &[&str]) -> String {
        self.node_with(operator, inputs, Vec::new())
    }

    pub(super) fn node_with(&mut self, operator: &str, inputs: &[&str], attributes: Vec<(&str, Attribute)>) -> String {
        let output = self.fresh(&operator.to_lowercase());
        self.push(operator, inputs, std::slice::from_ref(&output), attributes);
        output
    }

    /// Adds a node of two outputs.
    pub(super) fn pair(&mut self, operator: &str, inputs: &[&str]) -> (String, String) {
        let outputs = [(); 2].map(|()| self.fresh(&operator.to_lowercase()));
        self.push(operator, inputs, &outputs, Vec::new());
        let [first, second] = outputs;
        (first, second)
    }

    fn push(&mut self, operator: &str, inputs: &[&str], outputs: &[String], attributes: Vec<(&str, Attribute)>) {
        let node = Message::new().texts(1, inputs).texts(2, outputs).text(3, &format!("node:{}", outputs[0]));
        let settings: Vec<Message> = attributes.into_iter().map(|(name, value)| attribute(name, value)).collect();
        self.nodes.push(node.text(4, operator).messages(5, &settings));
    }

    /// The body of a loop: what `write` adds, from inputs of the given elements to the outputs it names. Whole numbers and
    /// answers among them (the round, whether to go on) are single ones.
    pub(super) fn body(
        &mut self,
        inputs: &[(&str, Element)],
        write: impl FnOnce(&mut Self, &[String]) -> Vec<(String, Element)>,
    ) -> Message {
        let names: Vec<String> = inputs.iter().map(|(wish, _)| self.fresh(wish)).collect();
        let around = std::mem::take(&mut self.nodes);
        let outputs = write(self, &names);
        let nodes = std::mem::replace(&mut self.nodes, around);
        let infos = |all: Vec<(&String, Element)>| -> Vec<Message> {
            all.into_iter()
                .map(|(name, element)| match element {
                    Element::Int | Element::Bool => value_info(name, element, &[]),
                    _ => untold(name, element),
                })
                .collect()
        };
        Message::new()
            .messages(1, &nodes)
            .text(2, &self.fresh("body"))
            .messages(11, &infos(names.iter().zip(inputs.iter().map(|i| i.1)).collect()))
            .messages(12, &infos(outputs.iter().map(|(name, element)| (name, *element)).collect()))
    }

    /// A constant tensor of numbers, whose room was taken with [`Graph::reserve`].
    pub(super) fn numbers(&mut self, wish: &str, dimensions: &[usize], values: &[f64]) -> String {
        let name = self.fresh(wish);
        self.constants.push(tensor(dimensions, Element::Double).text(8, &name).doubles(9, values));
        name
    }

    /// A constant row of numbers, 1 × n.
    pub(super) fn row(&mut self, wish: &str, values: &[f64]) -> Result<String, String> {
        self.reserve(values.len())?;
        Ok(self.numbers(wish, &[1, values.len()], values))
    }

    /// A constant number.
    pub(super) fn number(&mut self, value: f64) -> String {
        let key = format!("number {:x}", value.to_bits());
        self.constant(&key, "number", |name| tensor(&[], Element::Double).text(8, name).doubles(9, &[value]))
    }

    /// A constant list of whole numbers.
    pub(super) fn integers(&mut self, values: &[i64]) -> String {
        let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.constant(&format!("integers {values:?}"), "integers", |name| {
            tensor(&[values.len()], Element::Int).text(8, name).bytes(9, &raw)
        })
    }

    /// A constant list of texts.
    pub(super) fn texts(&mut self, wish: &str, values: &[String]) -> String {
        let name = self.fresh(wish);
        self.constants.push(tensor(&[values.len()], Element::Text).texts(6, values).text(8, &name));
        name
    }

    fn constant(&mut self, key: &str, wish: &str, make: impl FnOnce(&str) -> Message) -> String {
        if let Some(name) = self.known.get(key) {
            return name.clone();
        }
        let name = self.fresh(wish);
        self.constants.push(make(&name));
        self.known.insert(key.to_owned(), name.clone());
        name
    }

    /// The whole file.
    pub(super) fn file(self, document: &str, metadata: &[(&str, String)]) -> Vec<u8> {
        let graph = Message::new()
            .messages(1, &self.nodes)
            .text(2, "mercer")
            .messages(5, &self.constants)
            .messages(11, &self.inputs)
            .messages(12, &self.outputs);
        let entries: Vec<Message> =
            metadata.iter().map(|(key, value)| Message::new().text(1, key).text(2, value)).collect();
        Message::new()
            .int(1, IR_VERSION)
            .text(2, "mercer")
            .text(3, env!("CARGO_PKG_VERSION"))
            .text(6, document)
            .message(7, &graph)
            .message(8, &Message::new().text(1, "").int(2, OPSET))
            .messages(14, &entries)
            .into_bytes()
    }
}

fn tensor(dimensions: &[usize], element: Element) -> Message {
    let dimensions: Vec<i64> = dimensions.iter().map(|&d| d as i64).collect();
    Message::new().ints(1, &dimensions).int(2, element as i64)
}

fn attribute(name: &str, value: Attribute) -> Message {
    let message = Message::new().text(1, name);
    match value {
        Attribute::Int(value) => message.int(3, value).int(20, 2),
        Attribute::Ints(values) => message.ints(8, &values).int(20, 7),
        Attribute::Value(value) => message.message(5, &tensor(&[1], Element::Double).doubles(9, &[value])).int(20, 4),
        Attribute::Body(body) => message.message(6, &body).int(20, 5),
    }
}

/// The name of a tensor with what it holds and how much of it.
fn value_info(name: &str, element: Element, dimensions: &[Dimension]) -> Message {
    let dimensions: Vec<Message> = dimensions
        .iter()
        .map(|dimension| match dimension {
            Dimension::Batch => Message::new().text(2, "batch"),
            Dimension::Fixed(count) => Message::new().int(1, *count as i64),
        })
        .collect();
    let shape = Message::new().messages(1, &dimensions);
    let kind = Message::new().message(1, &Message::new().int(1, element as i64).message(2, &shape));
    Message::new().text(1, name).message(2, &kind)
}

/// The name of a tensor with what it holds, of a shape that the graph tells.
fn untold(name: &str, element: Element) -> Message {
    let kind = Message::new().message(1, &Message::new().int(1, element as i64));
    Message::new().text(1, name).message(2, &kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_equal_constants_are_one() {
        let mut graph = Graph::new(&["scores"]);
        assert_eq!(graph.input("scores", 2), "scores_1");
        let (one, again) = (graph.number(1.0), graph.number(1.0));
        assert_eq!(one, again);
        assert_ne!(one, graph.number(-1.0));
        assert_eq!(graph.integers(&[1]), graph.integers(&[1]));
        assert_eq!((graph.node("Add", &["a", "b"]), graph.node("Add", &["a", "b"])), ("add".into(), "add_1".into()));
    }

    #[test]
    fn a_node_by_hand() {
        let mut graph = Graph::new(&[]);
        graph.node_with("ArgMax", &["v"], vec![("axis", Attribute::Int(1))]);
        let wanted = [
            &[0x0a, 1, b'v', 0x12, 6][..],
            b"argmax",
            &[0x1a, 11],
            b"node:argmax",
            &[0x22, 6],
            b"ArgMax",
            // the attribute: name, i = 1, type = INT
            &[0x2a, 11, 0x0a, 4],
            b"axis",
            &[0x18, 1, 0xa0, 0x01, 2],
        ]
        .concat();
        assert_eq!(graph.nodes[0].clone().into_bytes(), wanted);
    }

    #[test]
    fn what_is_too_large_is_refused_before_it_is_made() {
        let mut graph = Graph::new(&[]);
        assert!(graph.reserve(1 << 26).is_ok());
        assert!(graph.reserve(usize::MAX).is_err_and(|e| e.contains("more than 1 GiB") && e.contains("linear_svc")));
    }
}
