//! Expansions as graphs: f_c(x) = Σ_i α_ic κ(x_i, x) + b_c in each of its forms that are sums.

use super::formula::Term;
use super::graph::Attribute;
use super::inputs::Writer;
use crate::formula::Node;
use crate::machines::Coefficients;

impl Writer<'_> {
    /// The scores, n × outputs.
    pub(super) fn scores(&mut self) -> Result<String, String> {
        let model = self.model;
        let expansion = &model.fitted.expansion;
        let outputs = expansion.outputs();
        let sums = match &expansion.coefficients {
            Coefficients::Primal { weights, width, scale } => {
                let features = self.features(*width)?;
                self.graph.reserve(weights.len())?;
                let weights = self.graph.numbers("weights", &[*width, outputs], weights);
                let product = self.graph.node("MatMul", &[&features, &weights]);
                self.times(&Term::Tensor(product), &Term::Number(*scale))
            }
            // nothing has weight: the offsets alone are the scores
            Coefficients::Dual { points, .. } | Coefficients::Pairwise { points, .. } if points.is_empty() => {
                Term::Tensor(self.filled(0.0, outputs)?)
            }
            Coefficients::Dual { points, alpha } => Term::Tensor(self.weighted(points, alpha, outputs)?),
            Coefficients::Ball { points, alpha } => {
                let sums = Term::Tensor(self.weighted(points, alpha, outputs)?);
                let own = self.own(&model.kernel.0)?;
                let minus = self.times(&own, &Term::Number(-1.0));
                self.plus(&sums, &minus)
            }
            Coefficients::Parts(_) => {
                return Err(format!(
                    "{} has several parts, each with a kernel of its own, and one is all that is written to ONNX; keep mercer's own file",
                    model.machine
                ));
            }
            Coefficients::Neighbours(_) | Coefficients::Ensemble(_) => {
                return Err(format!(
                    "{} has no sum over examples or coordinates, which is all that is written to ONNX; keep mercer's own file",
                    model.machine
                ));
            }
            Coefficients::Pairwise { points, classes, alpha, count } => {
                Term::Tensor(self.pairs(points, classes, alpha, *count)?)
            }
        };
        let sums = self.tensor(&sums);
        let offsets = self.graph.row("offsets", &expansion.offsets)?;
        Ok(self.graph.node("Add", &[&sums, &offsets]))
    }

    /// The new examples of a linear machine.
    fn features(&mut self, width: usize) -> Result<String, String> {
        let node = match &self.model.kernel.0 {
            Node::Scaled(_, inner) => inner.as_ref(),
            other => other,
        };
        let bound =
            match node {
                Node::Kernel(bound) if bound.kernel.facts().features_are_examples => bound,
                _ => return Err(
                    "explicit weights are exported with the linear kernel alone; fit svc, svr or ridge with this one"
                        .to_owned(),
                ),
            };
        let input = self.input(bound)?;
        if input.width == width {
            return Ok(input.tensor);
        }
        Err(format!("the model has weights for {width} coordinates, but its vectors have {}; fit it anew", input.width))
    }

    /// The matrix between new examples and those with weight, n × points.
    fn matrix_of(&mut self, points: &[usize]) -> Result<String, String> {
        let matrix = self.matrix(&self.model.kernel.0)?;
        if self.model.is_whole() {
            return Ok(matrix);
        }
        let places: Vec<i64> = points.iter().map(|&p| p as i64).collect();
        let places = self.graph.integers(&places);
        Ok(self.graph.node_with("Gather", &[&matrix, &places], vec![("axis", Attribute::Int(1))]))
    }

    fn weighted(&mut self, points: &[usize], alpha: &[f64], outputs: usize) -> Result<String, String> {
        let matrix = self.matrix_of(points)?;
        self.graph.reserve(alpha.len())?;
        let alpha = self.graph.numbers("alpha", &[points.len(), outputs], alpha);
        Ok(self.graph.node("MatMul", &[&matrix, &alpha]))
    }

    /// Scores of all pairs (a, b) from the compact form: each class is a product of its stretch of columns with k − 1
    /// coefficients; the points of a bring theirs against b, and the other way round.
    fn pairs(&mut self, points: &[usize], classes: &[u32], alpha: &[f64], k: usize) -> Result<String, String> {
        let matrix = self.matrix_of(points)?;
        let others = k - 1;
        self.graph.reserve(alpha.len())?;
        let axis = self.graph.integers(&[1]);
        let mut sums = Vec::with_capacity(k);
        let mut start = 0;
        for class in 0..k {
            let count = classes[start..].iter().take_while(|&&c| c as usize == class).count();
            let end = start + count;
            sums.push(if count == 0 {
                self.filled(0.0, others)?
            } else {
                let (from, to) = (self.graph.integers(&[start as i64]), self.graph.integers(&[end as i64]));
                let part = self.graph.node("Slice", &[&matrix, &from, &to, &axis]);
                let alpha = &alpha[start * others..end * others];
                let alpha = self.graph.numbers("alpha", &[count, others], alpha);
                self.graph.node("MatMul", &[&part, &alpha])
            });
            start = end;
        }
        let sums: Vec<&str> = sums.iter().map(String::as_str).collect();
        let all = self.graph.node_with("Concat", &sums, vec![("axis", Attribute::Int(1))]);
        // the sum of class a against b stands at a (k − 1) + b − 1, that of b against a at b (k − 1) + a
        let both = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a * others + b - 1, b * others + a)));
        let (first, second): (Vec<i64>, Vec<i64>) = both.map(|(p, q)| (p as i64, q as i64)).unzip();
        let [first, second] = [first, second].map(|places| {
            let places = self.graph.integers(&places);
            self.graph.node_with("Gather", &[&all, &places], vec![("axis", Attribute::Int(1))])
        });
        Ok(self.graph.node("Add", &[&first, &second]))
    }
}
