//! Probabilities from scores: the curves of a calibration, joined to probabilities of the classes.
//!
//! ```text
//! Platt      p = 1/(1 + e^z), z = a f + b, through e = exp(−|z|): no difference, no overflow
//! isotonic   the stretch of knots that f is in is found by counting, and tables of stretches are read there
//! ```

use super::couple;
use super::graph::{Attribute, Dimension, Element, Graph};
use super::inputs::Writer;
use crate::calibrate::{Curve, MIN_PROBABILITY};
use crate::machines::Readout;

impl Writer<'_> {
    /// Adds the probabilities of k classes, where they were learned.
    pub(super) fn probabilities(&mut self, scores: &str, code: &str, k: usize) -> Result<(), String> {
        let Some(calibration) = &self.model.fitted.calibration else { return Ok(()) };
        let pairs = matches!(self.model.fitted.readout, Readout::Vote { .. });
        if pairs && k > couple::MAX_CLASSES {
            self.notes.push(format!(
                "probabilities are left out: coupling the pairs of {k} classes would make a graph of too many nodes; up \
                 to {} classes have them",
                couple::MAX_CLASSES
            ));
            return Ok(());
        }
        let p = if pairs {
            let (p, q) = self.curves(&calibration.curves, scores)?;
            if k == 2 {
                self.graph.node_with("Concat", &[&p, &q], vec![("axis", Attribute::Int(1))])
            } else {
                let even = self.filled(1.0 / k as f64, k)?;
                couple::couple(&mut self.graph, &p, &q, &even, k)
            }
        } else {
            let margins = if k < 2 { scores.to_owned() } else { margins(&mut self.graph, scores, k) };
            let (p, _) = self.curves(&calibration.curves, &margins)?;
            let sum = self.sum(&p);
            self.graph.node("Div", &[&p, &sum])
        };
        let agreed = if k < 2 || !calibration.agrees { p } else { super::agree::agree(&mut self.graph, &p, code, k) };
        let dimensions = [Dimension::Batch, Dimension::Fixed(k)];
        self.graph.output("probabilities", &agreed, Element::Double, &dimensions);
        Ok(())
    }

    /// The probabilities of the positive and of the negative side of every output.
    fn curves(&mut self, curves: &[Curve], scores: &str) -> Result<(String, String), String> {
        let sigmoids: Option<Vec<(f64, f64)>> =
            curves.iter().map(|c| if let Curve::Platt { a, b } = c { Some((*a, *b)) } else { None }).collect();
        let parabola = |c: &Curve| match c {
            Curve::Gaussian { square, slope, offset } => Some([*square, *slope, *offset]),
            _ => None,
        };
        let parabolas: Option<Vec<[f64; 3]>> = curves.iter().map(parabola).collect();
        let (p, q) = if let Some(sigmoids) = sigmoids {
            let (a, b): (Vec<f64>, Vec<f64>) = sigmoids.into_iter().unzip();
            let (a, b) = (self.factors("slopes", &a)?, self.graph.row("shifts", &b)?);
            sigmoid(&mut self.graph, scores, &a, &b)
        } else if let Some(parabolas) = parabolas {
            // 1 / (1 + exp(a f + b)) with a = −(square f + slope) and b = −offset
            let column = |c: usize| -> Vec<f64> { parabolas.iter().map(|p| -p[c]).collect() };
            let (squares, slopes) = (self.factors("squares", &column(0))?, self.factors("slopes", &column(1))?);
            let bent = self.graph.node("Mul", &[scores, &squares]);
            let (a, b) = (self.graph.node("Add", &[&bent, &slopes]), self.graph.row("shifts", &column(2))?);
            sigmoid(&mut self.graph, scores, &a, &b)
        } else {
            let mut all = Vec::with_capacity(curves.len());
            for (c, curve) in curves.iter().enumerate() {
                let Curve::Isotonic { knots } = curve else {
                    return Err("the probabilities of this model are of two kinds; fit it anew".to_owned());
                };
                let place = self.graph.integers(&[c as i64]);
                let axis = vec![("axis", Attribute::Int(1))];
                let score = self.graph.node_with("Gather", &[scores, &place], axis);
                all.push(self.interpolate(knots, &score)?);
            }
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            let p = self.graph.node_with("Concat", &all, vec![("axis", Attribute::Int(1))]);
            let one = self.graph.number(1.0);
            let q = self.graph.node("Sub", &[&one, &p]);
            (p, q)
        };
        let (low, high) = (self.graph.number(MIN_PROBABILITY), self.graph.number(1.0 - MIN_PROBABILITY));
        Ok((self.graph.node("Clip", &[&p, &low, &high]), self.graph.node("Clip", &[&q, &low, &high])))
    }

    /// Linear between knots, constant outside. Stretch s is between the knots s − 1 and s; the two outermost have one.
    fn interpolate(&mut self, knots: &[(f64, f64)], score: &str) -> Result<String, String> {
        let Some((&first, &last)) = knots.first().zip(knots.last()) else {
            return Err("a curve of the probabilities has no knots; fit the model anew".to_owned());
        };
        let mut stretches = vec![(0.0, 1.0, first.1, first.1)];
        // halves, so that a difference of the largest numbers is finite
        stretches.extend(knots.windows(2).map(|k| (k[0].0 / 2.0, k[1].0 / 2.0 - k[0].0 / 2.0, k[0].1, k[1].1)));
        stretches.push((0.0, 1.0, last.1, last.1));
        let at: Vec<f64> = knots.iter().map(|k| k.0).collect();
        let at = self.graph.row("knots", &at)?;
        let passed = self.graph.node("LessOrEqual", &[&at, score]);
        let passed = self.graph.node_with("Cast", &[&passed], vec![("to", Attribute::Int(Element::Int as i64))]);
        let stretch = self.sum(&passed);
        let count = stretches.len();
        let mut table = |values: Vec<f64>| {
            let table = self.graph.numbers("stretches", &[count], &values);
            self.graph.node("Gather", &[&table, &stretch])
        };
        let (start, width) =
            (table(stretches.iter().map(|s| s.0).collect()), table(stretches.iter().map(|s| s.1).collect()));
        let (low, high) =
            (table(stretches.iter().map(|s| s.2).collect()), table(stretches.iter().map(|s| s.3).collect()));
        let graph = &mut self.graph;
        let (zero, half, one) = (graph.number(0.0), graph.number(0.5), graph.number(1.0));
        let halved = graph.node("Mul", &[score, &half]);
        let beyond = graph.node("Sub", &[&halved, &start]);
        let part = graph.node("Div", &[&beyond, &width]);
        let part = graph.node("Clip", &[&part, &zero, &one]);
        let rise = graph.node("Sub", &[&high, &low]);
        let risen = graph.node("Mul", &[&rise, &part]);
        let p = graph.node("Add", &[&low, &risen]);
        Ok(graph.node("Min", &[&p, &high]))
    }
}

fn sigmoid(graph: &mut Graph, scores: &str, a: &str, b: &str) -> (String, String) {
    let (zero, one) = (graph.number(0.0), graph.number(1.0));
    let scaled = graph.node("Mul", &[scores, a]);
    let z = graph.node("Add", &[&scaled, b]);
    let size = graph.node("Abs", &[&z]);
    let minus = graph.node("Neg", &[&size]);
    let e = graph.node("Exp", &[&minus]);
    let sum = graph.node("Add", &[&one, &e]);
    let (small, large) = (graph.node("Div", &[&e, &sum]), graph.node("Div", &[&one, &sum]));
    let positive = graph.node("Less", &[&z, &zero]);
    (graph.node("Where", &[&positive, &large, &small]), graph.node("Where", &[&positive, &small, &large]))
}

/// The margin of each class: its score minus the largest of the others.
fn margins(graph: &mut Graph, scores: &str, k: usize) -> String {
    let two = graph.integers(&[2]);
    let (top, places) = graph.pair("TopK", &[scores, &two]);
    let pick = |graph: &mut Graph, from: &str, place: i64| {
        let place = graph.integers(&[place]);
        graph.node_with("Gather", &[from, &place], vec![("axis", Attribute::Int(1))])
    };
    let (largest, second, winner) = (pick(graph, &top, 0), pick(graph, &top, 1), pick(graph, &places, 0));
    let all: Vec<i64> = (0..k as i64).collect();
    let all = graph.integers(&all);
    let wins = graph.node("Equal", &[&all, &winner]);
    let others = graph.node("Where", &[&wins, &second, &largest]);
    graph.node("Sub", &[scores, &others])
}
