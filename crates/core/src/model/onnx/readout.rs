//! Labels from scores, with the ties of `machines/readout.rs`: among equals the first.

use super::graph::{Attribute, Dimension, Element};
use super::inputs::Writer;
use crate::machines::{NOVELTY, Readout};

impl Writer<'_> {
    /// Adds code and label of a classifier; gives the code.
    pub(super) fn labels(&mut self, scores: &str, labels: &[String]) -> String {
        let (k, graph) = (labels.len(), &mut self.graph);
        let code = match &self.model.fitted.readout {
            Readout::Vote { .. } if k == 2 => {
                // a positive score decides for the first
                let zero = graph.number(0.0);
                let second = graph.node("LessOrEqual", &[scores, &zero]);
                self.flat(&second)
            }
            Readout::Vote { .. } => {
                let zero = graph.number(0.0);
                let first = graph.node("Greater", &[scores, &zero]);
                let first = graph.node_with("Cast", &[&first], vec![("to", Attribute::Int(Element::Double as i64))]);
                // every pair gives its second class a vote; where the first wins, it takes that over
                let pairs: Vec<(usize, usize)> = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b))).collect();
                let mut moves = vec![0.0; pairs.len() * k];
                let mut votes = vec![0.0; k];
                for (p, &(a, b)) in pairs.iter().enumerate() {
                    (moves[p * k + a], moves[p * k + b]) = (1.0, -1.0);
                    votes[b] += 1.0;
                }
                let moves = graph.numbers("moves", &[pairs.len(), k], &moves);
                let votes = graph.numbers("votes", &[1, k], &votes);
                let moved = graph.node("MatMul", &[&first, &moves]);
                let votes = graph.node("Add", &[&moved, &votes]);
                self.first_largest(&votes)
            }
            _ => self.first_largest(scores),
        };
        self.name(&code, labels);
        code
    }

    /// Adds code and label of a detector: at or above zero an example is like those of the training.
    pub(super) fn novelty(&mut self, scores: &str) {
        let zero = self.graph.number(0.0);
        let outlier = self.graph.node("Less", &[scores, &zero]);
        let code = self.flat(&outlier);
        self.name(&code, &NOVELTY.map(str::to_owned));
    }

    fn first_largest(&mut self, scores: &str) -> String {
        self.graph.node_with(
            "ArgMax",
            &[scores],
            vec![
                ("axis", Attribute::Int(1)),
                ("keepdims", Attribute::Int(0)),
                ("select_last_index", Attribute::Int(0)),
            ],
        )
    }

    /// n × 1 answers as n codes.
    fn flat(&mut self, answers: &str) -> String {
        let codes = self.graph.node_with("Cast", &[answers], vec![("to", Attribute::Int(Element::Int as i64))]);
        let axis = self.graph.integers(&[1]);
        self.graph.node("Squeeze", &[&codes, &axis])
    }

    fn name(&mut self, code: &str, labels: &[String]) {
        let all = self.graph.texts("labels", labels);
        let label = self.graph.node("Gather", &[&all, code]);
        self.graph.output("code", code, Element::Int, &[Dimension::Batch]);
        self.graph.output("label", &label, Element::Text, &[Dimension::Batch]);
    }
}
