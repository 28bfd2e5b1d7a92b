//! The nearest probabilities whose first largest is the predicted class y, as a graph; the proof is in
//! `calibrate/agree.rs`.
//!
//! q_c = min(p_c, t), q_y = t. The level t is the mean of p over y and the largest other classes, as many as raise it: the
//! largest of the means of y with the first j of the others in falling order. A class before y that would be level with it
//! stays one unit in the last place below, which is t − 2⁻⁵³ t rounded.

use super::graph::{Attribute, Graph};

/// Agreed probabilities, n × k, from those of the curves and n predicted classes.
pub(super) fn agree(graph: &mut Graph, p: &str, code: &str, k: usize) -> String {
    let axis = graph.integers(&[1]);
    let predicted = graph.node("Unsqueeze", &[code, &axis]);
    let places: Vec<i64> = (0..k as i64).collect();
    let places = graph.integers(&places);
    let is_predicted = graph.node("Equal", &[&places, &predicted]);
    let is_before = graph.node("Less", &[&places, &predicted]);
    let own = graph.node_with("GatherElements", &[p, &predicted], vec![("axis", Attribute::Int(1))]);
    // below every probability, so that the predicted class comes last and is left out
    let below = graph.number(-1.0);
    let others = graph.node("Where", &[&is_predicted, &below, p]);
    let count = graph.integers(&[k as i64 - 1]);
    let (falling, _) = graph.pair("TopK", &[&others, &count]);
    let all = graph.node_with("Concat", &[&own, &falling], vec![("axis", Attribute::Int(1))]);
    let sums = graph.node("CumSum", &[&all, &axis]);
    let counts: Vec<f64> = (1..=k).map(|j| j as f64).collect();
    let counts = graph.numbers("counts", &[1, k], &counts);
    let means = graph.node("Div", &[&sums, &counts]);
    let level = graph.node_with("ReduceMax", &[&means], vec![("axes", Attribute::Ints(vec![1]))]);
    // not t times 1 − 2⁻⁵³, which onnxruntime takes for t times one
    let unit = graph.number(f64::EPSILON / 2.0);
    let unit = graph.node("Mul", &[&level, &unit]);
    let under = graph.node("Sub", &[&level, &unit]);
    let most = graph.node("Where", &[&is_before, &under, &level]);
    let cut = graph.node("Min", &[p, &most]);
    graph.node("Where", &[&is_predicted, &level, &cut])
}
