//! Writing a LIBSVM model: the parts of a decision function that LIBSVM has words for, and sentences about the rest.
//!
//! More can be said than what LIBSVM trains. A factor of the kernel goes into the coefficients. The largest of k scores
//! wins all its duels, so f_a − f_b for each pair is a vote with the same result: a point with a weight in f_c is written
//! as a support vector of class c with that weight in every pair, positive where c is the first. Where scores are those of pairs, a point
//! is a support vector of the first class of each. Explicit weights are a support vector themselves. A ball is a half-space where κ(x, x) is constant.

use super::LibsvmFile;
use crate::calibrate::{Calibration, Curve};
use crate::data::{Rows, Scalar, SparseRows, Values, ViewSchema};
use crate::formula::{Formula, Node};
use crate::kernels::Expression;
use crate::machines::{Coefficients, Fact, Readout};
use crate::model::Model;
use crate::params::Setting;
use std::fmt::Write;

/// A kernel in LIBSVM's words.
struct Kernel<'a> {
    /// The lines of the header.
    header: String,
    /// The coefficients in front of it.
    factor: f64,
    /// κ(x, x) without the factor, where it is the same for all x.
    diagonal: Option<f64>,
    view: Option<&'a str>,
}

/// Support vectors with their coefficients, in the order of the file.
struct Sum {
    svm_type: &'static str,
    /// The number of support vectors of each class; empty where there are no classes.
    counts: Vec<usize>,
    offsets: Vec<f64>,
    /// Coefficients, and the place of the vector.
    terms: Vec<(Vec<f64>, usize)>,
}

pub(super) fn write(model: &Model) -> Result<LibsvmFile, String> {
    let weighted = matches!(model.fitted.expansion.coefficients, Coefficients::Primal { .. });
    let kernel = kernel(&model.kernel, weighted)?;
    let view = match (kernel.view, model.examples.views()) {
        (Some(name), _) => model.examples.views().iter().find(|v| v.name == name),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    let Some(view) = view else {
        return Err("a LIBSVM file has one kind of vectors, and this model has several views; fit it on one".to_owned());
    };
    let weights = explicit(model);
    let values = weights.as_ref().unwrap_or(&view.values);
    let sum = sum(model, &kernel)?;
    let mut notes: Vec<String> = model.conformal.iter().map(|_| crate::model::NO_REGIONS.to_owned()).collect();
    let mut text = format!("svm_type {}\n{}", sum.svm_type, kernel.header);
    let _ = writeln!(text, "nr_class {}", sum.counts.len().max(2));
    let _ = writeln!(text, "total_sv {}", sum.terms.len());
    line(&mut text, "rho", sum.offsets.iter().map(|b| 0.0 - b));
    if let Readout::Vote { labels } | Readout::ArgMax { labels } = &model.fitted.readout {
        line(&mut text, "label", numbered(labels, &mut notes).into_iter());
    }
    probabilities(model, &mut text, &mut notes);
    if !sum.counts.is_empty() {
        let counts: Vec<String> = sum.counts.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "nr_sv {}", counts.join(" "));
    }
    text.push_str("SV\n");
    for (coefficients, place) in &sum.terms {
        for c in coefficients {
            let _ = write!(text, "{} ", Setting::Number(*c));
        }
        vector(&mut text, values, *place)?;
        text.push('\n');
    }
    let treatments =
        model.schema.as_ref().and_then(|s| s.view(&view.name)).map(ViewSchema::treatments).unwrap_or_default();
    if !treatments.is_empty() {
        notes.push(format!(
            "a LIBSVM file cannot say that {}: its vectors are written as the model sees them, and new data must be \
             treated alike before svm-predict reads them",
            treatments.join(" and ")
        ));
    }
    Ok(LibsvmFile { text, notes })
}

fn kernel(formula: &Formula, weighted: bool) -> Result<Kernel<'_>, String> {
    let (factor, node) = match &formula.0 {
        Node::Scaled(c, inner) => (*c, inner.as_ref()),
        other => (1.0, other),
    };
    let refused = || {
        format!(
            "LIBSVM has no kernel {formula}; linear, polynomial, rbf and sigmoid on one view of vectors can be written"
        )
    };
    let Node::Kernel(bound) = node else { return Err(refused()) };
    if weighted && !bound.kernel.facts().features_are_examples {
        return Err(format!("explicit weights of {formula} are no model of LIBSVM; fit svc or svr with this kernel"));
    }
    let expression = bound.kernel.expression().map_err(|_| refused())?;
    let header = words(&expression).ok_or_else(refused)?;
    Ok(Kernel { header, factor, diagonal: Formula(node.clone()).self_similarity(), view: bound.view.as_deref() })
}

/// The lines of the header for an expression that is one of LIBSVM's kernels: ⟨x, y⟩, (γ⟨x, y⟩ + c)^p, exp(−γ‖x − y‖²) and
/// tanh(γ⟨x, y⟩ + c).
fn words(expression: &Expression) -> Option<String> {
    let number = |value: f64| Setting::Number(value);
    match expression {
        Expression::InnerProduct => Some("kernel_type linear\n".to_owned()),
        Expression::Power(base, degree) => {
            let (gamma, offset) = affine(base)?;
            let (gamma, offset) = (number(gamma), number(offset));
            Some(format!("kernel_type polynomial\ndegree {degree}\ngamma {gamma}\ncoef0 {offset}\n"))
        }
        Expression::Exp(inner) => match inner.as_ref() {
            Expression::Times(squared, factor) if **squared == Expression::squared_distance() => {
                let Expression::Number(factor) = **factor else { return None };
                Some(format!("kernel_type rbf\ngamma {}\n", number(-factor)))
            }
            _ => None,
        },
        Expression::Tanh(inside) => {
            let (gamma, offset) = affine(inside)?;
            Some(format!("kernel_type sigmoid\ngamma {}\ncoef0 {}\n", number(gamma), number(offset)))
        }
        _ => None,
    }
}

/// γ and c of γ⟨x, y⟩ + c.
fn affine(expression: &Expression) -> Option<(f64, f64)> {
    let Expression::Plus(product, offset) = expression else { return None };
    let Expression::Times(inner, gamma) = product.as_ref() else { return None };
    match (inner.as_ref(), gamma.as_ref(), offset.as_ref()) {
        (Expression::InnerProduct, Expression::Number(gamma), Expression::Number(offset)) => Some((*gamma, *offset)),
        _ => None,
    }
}

/// The weights of explicit features as vectors, one for each output.
fn explicit(model: &Model) -> Option<Values> {
    let expansion = &model.fitted.expansion;
    let Coefficients::Primal { weights, width, .. } = &expansion.coefficients else { return None };
    let outputs = expansion.outputs();
    let turned = (0..outputs).flat_map(|c| (0..*width).map(move |j| weights[j * outputs + c])).collect();
    Rows::new(turned, outputs, *width).map(Values::from)
}

fn sum(model: &Model, kernel: &Kernel<'_>) -> Result<Sum, String> {
    let (expansion, machine) = (&model.fitted.expansion, model.machine.as_str());
    let (factor, outputs) = (kernel.factor, expansion.outputs());
    let mut offsets = expansion.offsets.clone();
    // α for each point and output
    let (points, alpha): (Vec<usize>, Vec<f64>) = match &expansion.coefficients {
        Coefficients::Pairwise { points, classes, alpha, count } => {
            let others = count - 1;
            let rows = alpha.chunks_exact(others).map(|row| row.iter().map(|a| a * factor).collect());
            let mut counts = vec![0; *count];
            classes.iter().for_each(|&c| counts[c as usize] += 1);
            let svm_type = if machine == "nu_svc" { "nu_svc" } else { "c_svc" };
            return Ok(Sum { svm_type, counts, offsets, terms: rows.zip(points.iter().copied()).collect() });
        }
        Coefficients::Dual { points, alpha } => (points.clone(), alpha.iter().map(|a| a * factor).collect()),
        Coefficients::Ball { points, alpha } => {
            let Some(diagonal) = kernel.diagonal else {
                let finding = "a ball in feature space is no model of LIBSVM unless κ(x, x) is constant; \
                               use an rbf kernel, or fit one_class";
                return Err(finding.to_owned());
            };
            offsets.iter_mut().for_each(|b| *b -= factor * diagonal);
            (points.clone(), alpha.iter().map(|a| a * factor).collect())
        }
        Coefficients::Neighbours(_) | Coefficients::Ensemble(_) | Coefficients::Parts(_) => {
            return Err(format!(
                "{machine} is not one sum over examples, so it is no model of LIBSVM; keep mercer's own file"
            ));
        }
        Coefficients::Primal { scale, .. } => {
            let unit = (0..outputs * outputs).map(|k| if k / outputs == k % outputs { *scale } else { 0.0 });
            ((0..outputs).collect(), unit.collect())
        }
    };
    match &model.fitted.readout {
        Readout::ArgMax { labels } if labels.len() >= 2 => {
            let k = labels.len();
            let mut duels = Sum { svm_type: "c_svc", counts: vec![0; k], offsets: Vec::new(), terms: Vec::new() };
            for c in 0..k {
                duels.offsets.extend((c + 1..k).map(|d| offsets[c] - offsets[d]));
                for (p, &place) in points.iter().enumerate().filter(|(p, _)| alpha[p * k + c] != 0.0) {
                    let weight = alpha[p * k + c];
                    // one for each other class: positive against those that come later
                    duels.terms.push(((1..k).map(|d| if d > c { weight } else { -weight }).collect(), place));
                    duels.counts[c] += 1;
                }
            }
            Ok(duels)
        }
        // one score for each pair, positive for the first of it: a point votes as a support vector of that class
        Readout::Vote { labels } if labels.len() >= 2 && outputs == labels.len() * (labels.len() - 1) / 2 => {
            let k = labels.len();
            let mut duels = Sum { svm_type: "c_svc", counts: vec![0; k], offsets, terms: Vec::new() };
            let mut first = 0;
            for c in 0..k - 1 {
                let pairs = first..first + k - 1 - c;
                for (p, &place) in points.iter().enumerate() {
                    let weights = &alpha[p * outputs..(p + 1) * outputs][pairs.clone()];
                    if weights.iter().any(|weight| *weight != 0.0) {
                        duels.terms.push((vec![0.0; c].into_iter().chain(weights.iter().copied()).collect(), place));
                        duels.counts[c] += 1;
                    }
                }
                first = pairs.end;
            }
            Ok(duels)
        }
        Readout::Values { .. } | Readout::Novelty if outputs == 1 => {
            let svm_type = match (&model.fitted.readout, machine) {
                (Readout::Novelty, _) => "one_class",
                (_, "nu_svr") => "nu_svr",
                _ => "epsilon_svr",
            };
            let terms = alpha.into_iter().map(|a| vec![a]).zip(points).filter(|(a, _)| a[0] != 0.0).collect();
            Ok(Sum { svm_type, counts: Vec::new(), offsets, terms })
        }
        Readout::Values { .. } => Err(format!(
            "a LIBSVM file predicts one number, and this model predicts {outputs}; fit one model for each target"
        )),
        _ => {
            Err(format!("LIBSVM has no such model as {machine}; classifiers, regressions and one_class can be written"))
        }
    }
}

/// Labels of LIBSVM are whole numbers; others are numbered.
fn numbered(labels: &[String], notes: &mut Vec<String>) -> Vec<f64> {
    let read =
        |label: &String| label.parse::<f64>().ok().filter(|x| x.fract() == 0.0 && x.abs() <= f64::from(i32::MAX));
    if let Some(whole) = labels.iter().map(read).collect() {
        return whole;
    }
    let told: Vec<String> = labels.iter().enumerate().map(|(k, label)| format!("{} is {label}", k + 1)).collect();
    notes.push(format!("labels of LIBSVM are whole numbers, so the classes are numbered: {}", told.join(", ")));
    (1..=labels.len()).map(|k| k as f64).collect()
}

fn probabilities(model: &Model, text: &mut String, notes: &mut Vec<String>) {
    let laplace = model.fitted.report.fact(Fact::LaplaceScale);
    if let (Some(scale), Readout::Values { .. }) = (laplace, &model.fitted.readout) {
        line(text, "probA", [scale].into_iter());
    }
    let Some(calibration) = &model.fitted.calibration else { return };
    match (&model.fitted.readout, sigmoids(calibration)) {
        (Readout::Vote { .. }, Some(curves)) => {
            line(text, "probA", curves.iter().map(|c| c.0));
            line(text, "probB", curves.iter().map(|c| c.1));
        }
        _ => notes.push(format!(
            "probabilities are left out: LIBSVM has them for pairs of classes by platt, and these are by {}",
            if sigmoids(calibration).is_some() {
                "platt for each class".to_owned()
            } else {
                calibration.method.to_string()
            }
        )),
    }
}

fn sigmoids(calibration: &Calibration) -> Option<Vec<(f64, f64)>> {
    let pair = |curve: &Curve| if let Curve::Platt { a, b } = curve { Some((*a, *b)) } else { None };
    calibration.curves.iter().map(pair).collect()
}

fn line(text: &mut String, key: &str, values: impl Iterator<Item = f64>) {
    text.push_str(key);
    for value in values {
        let _ = write!(text, " {}", Setting::Number(value));
    }
    text.push('\n');
}

/// The coordinates that are not zero, from one.
fn vector(text: &mut String, values: &Values, place: usize) -> Result<(), String> {
    match values {
        Values::Dense(rows) => dense(text, rows, place),
        Values::Dense32(rows) => dense(text, rows, place),
        Values::Sparse(rows) => sparse(text, rows, place),
        Values::Sparse32(rows) => sparse(text, rows, place),
        Values::Text(_) | Values::Index(_) | Values::Items(_) => {
            return Err("a LIBSVM file holds vectors, and this model has none".to_owned());
        }
    }
    Ok(())
}

fn dense<S: Scalar>(text: &mut String, rows: &Rows<S>, place: usize) {
    coordinates(text, rows.row(place).iter().enumerate().map(|(j, x)| (j as u64, x.wide())));
}

fn sparse<S: Scalar>(text: &mut String, rows: &SparseRows<S>, place: usize) {
    coordinates(text, rows.row(place).iter().map(|c| (u64::from(c.index), c.value.wide())));
}

fn coordinates(text: &mut String, all: impl Iterator<Item = (u64, f64)>) {
    for (index, value) in all.filter(|(_, value)| *value != 0.0) {
        let _ = write!(text, "{}:{} ", index + 1, Setting::Number(value));
    }
}
