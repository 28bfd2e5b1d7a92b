//! The catalogue as JSON: what the Python classes are generated from.

use crate::run::guarded;
use mercer::kernels::KernelEntry;
use mercer::machines::Learns;
use mercer::params::{Described, Params, Rule, describe};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};

fn parameters(params: &mut dyn Params) -> Vec<Value> {
    let one = |d: Described| {
        json!({
            "name": d.name, "kind": d.kind, "default": d.default, "words": d.words, "former": d.former, "rule": d.rule,
            "help": d.help, "spelling_of": d.spelling_of, "range": d.range.map(range),
        })
    };
    describe(params).into_iter().map(one).collect()
}

/// Both ends of a range, null where there is none, and whether they belong to it.
fn range(rule: Rule) -> Value {
    let ((low, low_in), (high, high_in)) = rule.ends();
    let end = |x: f64| if x.is_finite() { json!(x) } else { Value::Null };
    json!({"low": end(low), "low_in": low_in, "high": end(high), "high_in": high_in})
}

/// All machines.
#[pyfunction]
pub(crate) fn machines() -> String {
    let one = |entry: &'static mercer::machines::MachineEntry| {
        let learns = match entry.learns {
            Learns::Classes => "classes",
            Learns::Numbers => "numbers",
            Learns::Unsupervised => "nothing",
        };
        let mut machine = (entry.make)();
        json!({
            "name": entry.name, "aliases": entry.aliases, "summary": entry.summary, "formula": entry.formula,
            "learns": learns, "family": mercer::machines::family(entry), "source": entry.source.to_string(),
            "use_when": entry.use_when, "cost": entry.cost, "weighs": machine.traits().weights, "explicit": !machine.traits().wants_matrix(),
            "companions": machine.traits().auxiliary,
            "parameters": parameters(machine.as_mut()),
        })
    };
    Value::Array(mercer::machines::all().map(one).collect()).to_string()
}

/// All kernels.
#[pyfunction]
pub(crate) fn kernels() -> String {
    let one = |entry: &'static KernelEntry| {
        let mut kernel = (entry.make)();
        json!({
            "name": entry.name, "aliases": entry.aliases, "formula": entry.formula, "source": entry.source.to_string(),
            "use_when": entry.use_when, "cost": entry.cost, "kind": entry.kind.to_string(), "parameters": parameters(kernel.as_mut()),
        })
    };
    Value::Array(mercer::kernels::all().map(one).collect()).to_string()
}

/// All theorems that are functions of numbers.
#[pyfunction]
pub(crate) fn theorems() -> String {
    let input = |i: &mercer::bounds::Input| json!({"name": i.name, "help": i.help, "rule": i.allowed(), "default": i.default, "list": i.list});
    let one = |t: &'static mercer::bounds::Theorem| {
        json!({
            "name": t.name, "summary": t.summary, "formula": t.formula, "source": t.source.to_string(), "use_when": t.use_when,
            "inputs": t.inputs.iter().map(input).collect::<Vec<_>>(), "example": t.example.0, "value": t.example.1,
        })
    };
    Value::Array(mercer::bounds::theorems().map(one).collect()).to_string()
}

/// The value of a theorem for its inputs.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn theorem(name: &str, given: Vec<(String, Vec<f64>)>) -> PyResult<f64> {
    guarded(|| mercer::bounds::theorem(name).and_then(|t| t.of(&given)))?.map_err(PyValueError::new_err)
}
