//! Pairwise coupling as a graph: the rounds of `calibrate/couple.rs` for all examples at once, in a `Loop`.
//!
//! Q_aa = Σ_{b≠a} r_ba², Q_ab = −r_ba r_ab. A round makes (Qp)_a = pᵀQp hold for one class after the other and divides p by
//! its sum. An example whose equations all hold keeps its p; the loop ends when this is so for all.
//!
//! # Source
//! Wu, Lin & Weng (2004), §4 (second method), algorithm 2.

use super::graph::{Attribute, Element, Graph};
use crate::calibrate::{ROUNDS, TOLERANCE};

/// Largest number of classes: a round is some fifteen nodes for each class.
pub(super) const MAX_CLASSES: usize = 64;

/// Probabilities of k classes, n × k, from those of the first and of the second class of every pair, n × pairs each; `even`
/// is where they start.
pub(super) fn couple(graph: &mut Graph, first: &str, second: &str, even: &str, k: usize) -> String {
    let q = quadratic(graph, first, second, k);
    let rows: Vec<(String, String)> = (0..k)
        .map(|a| {
            let place = graph.integers(&[a as i64]);
            let row = column(graph, &q, &place);
            let axis = graph.integers(&[1]);
            let row = graph.node("Squeeze", &[&row, &axis]);
            let own = column(graph, &row, &place);
            (row, own)
        })
        .collect();
    let inputs = [("round", Element::Int), ("open", Element::Bool), ("p", Element::Double)];
    let body = graph.body(&inputs, |graph, names| round(graph, &names[2], &q, &rows, k));
    let rounds = graph.integers(&[ROUNDS as i64]);
    let attributes = vec![("body", Attribute::Body(body))];
    // no condition in the beginning: the first round always runs
    let p = graph.node_with("Loop", &[&rounds, "", even], attributes);
    let sum = row_sum(graph, &p);
    graph.node("Div", &[&p, &sum])
}

/// Q, n × k × k.
fn quadratic(graph: &mut Graph, first: &str, second: &str, k: usize) -> String {
    let zero = graph.number(0.0);
    let some = graph.integers(&[0]);
    let some = column(graph, first, &some);
    let nothing = graph.node("Mul", &[&some, &zero]);
    let all = graph.node_with("Concat", &[first, second, &nothing], vec![("axis", Attribute::Int(1))]);
    let count = k * (k - 1) / 2;
    let mut places = vec![2 * count as i64; k * k];
    let pairs = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b)));
    for (p, (a, b)) in pairs.enumerate() {
        (places[a * k + b], places[b * k + a]) = (p as i64, (count + p) as i64);
    }
    let places = graph.integers(&places);
    let flat = column(graph, &all, &places);
    let shape = graph.integers(&[-1, k as i64, k as i64]);
    let r = graph.node("Reshape", &[&flat, &shape]);
    let turned = graph.node_with("Transpose", &[&r], vec![("perm", Attribute::Ints(vec![0, 2, 1]))]);
    let product = graph.node("Mul", &[&r, &turned]);
    let squares = graph.node("Mul", &[&turned, &turned]);
    let last = graph.integers(&[2]);
    // Σ_b r_ba², n × k × 1
    let diagonal = graph.node("ReduceSum", &[&squares, &last]);
    let unit: Vec<f64> = (0..k * k).map(|i| f64::from(u8::from(i / k == i % k))).collect();
    let unit = graph.numbers("unit", &[k, k], &unit);
    let diagonal = graph.node("Mul", &[&diagonal, &unit]);
    graph.node("Sub", &[&diagonal, &product])
}

/// One round over all classes; whether it was needed, and the probabilities after it.
fn round(graph: &mut Graph, start: &str, q: &str, rows: &[(String, String)], k: usize) -> Vec<(String, Element)> {
    let (one, two, last) = (graph.number(1.0), graph.number(2.0), graph.integers(&[2]));
    let upright = graph.node("Unsqueeze", &[start, &last]);
    let qp = graph.node("MatMul", &[q, &upright]);
    let mut qp = graph.node("Squeeze", &[&qp, &last]);
    let weighted = graph.node("Mul", &[start, &qp]);
    let mut pqp = row_sum(graph, &weighted);
    let off = graph.node("Sub", &[&qp, &pqp]);
    let size = graph.node("Abs", &[&off]);
    let tolerance = graph.number(TOLERANCE / k as f64);
    let wrong = graph.node("Greater", &[&size, &tolerance]);
    let wrong = cast(graph, &wrong, Element::Int);
    let wrong = row_sum(graph, &wrong);
    let unit: Vec<f64> = (0..k * k).map(|i| f64::from(u8::from(i / k == i % k))).collect();
    let mut p = start.to_owned();
    for (a, (row, own)) in rows.iter().enumerate() {
        let place = graph.integers(&[a as i64]);
        let here = column(graph, &qp, &place);
        let missing = graph.node("Sub", &[&pqp, &here]);
        let change = graph.node("Div", &[&missing, own]);
        let sum = graph.node("Add", &[&one, &change]);
        let axis = graph.numbers("axis", &[1, k], &unit[a * k..(a + 1) * k]);
        p = moved(graph, &p, &change, &axis, &sum);
        qp = moved(graph, &qp, &change, row, &sum);
        // (pᵀQp + change (change Q_aa + 2 (Qp)_a)) / sum²
        let curved = graph.node("Mul", &[&change, own]);
        let twice = graph.node("Mul", &[&two, &here]);
        let slope = graph.node("Add", &[&curved, &twice]);
        let rise = graph.node("Mul", &[&change, &slope]);
        let risen = graph.node("Add", &[&pqp, &rise]);
        let once = graph.node("Div", &[&risen, &sum]);
        pqp = graph.node("Div", &[&once, &sum]);
    }
    let open = cast(graph, &wrong, Element::Bool);
    let next = graph.node("Where", &[&open, &p, start]);
    let any = graph.node_with("ReduceSum", &[&wrong], vec![("keepdims", Attribute::Int(0))]);
    vec![(cast(graph, &any, Element::Bool), Element::Bool), (next, Element::Double)]
}

/// (v + change · direction) / sum.
fn moved(graph: &mut Graph, v: &str, change: &str, direction: &str, sum: &str) -> String {
    let step = graph.node("Mul", &[change, direction]);
    let there = graph.node("Add", &[v, &step]);
    graph.node("Div", &[&there, sum])
}

/// The entries at some places of the second dimension.
fn column(graph: &mut Graph, tensor: &str, places: &str) -> String {
    graph.node_with("Gather", &[tensor, places], vec![("axis", Attribute::Int(1))])
}

fn row_sum(graph: &mut Graph, tensor: &str) -> String {
    let axis = graph.integers(&[1]);
    graph.node("ReduceSum", &[tensor, &axis])
}

fn cast(graph: &mut Graph, tensor: &str, to: Element) -> String {
    graph.node_with("Cast", &[tensor], vec![("to", Attribute::Int(to as i64))])
}
