//! Formulas and machines at random, from the declarations of the catalogue: right ones mostly, with values at the edges.

use crate::damage::one;
use mercer::kernels;
use mercer::machines;
use mercer::params::{Described, describe};
use mercer::seed::Random;

/// Values of a number, inside of usual rules and at their edges.
const VALUES: &[&str] = &["1", "2", "0.5", "3", "0", "-1", "1e-3", "100", "1e300", "1e-300", "scale", "1.5"];
/// Names of views.
const VIEWS: &[&str] = &["a", "b", "x1", "\"two words\"", "1"];

/// A formula of at most so many levels.
pub fn formula(depth: usize, random: &mut Random) -> String {
    let inner = |random: &mut Random| formula(depth.saturating_sub(1), random);
    let text = match if depth == 0 { 0 } else { random.below(12) } {
        0..=3 => leaf(random),
        4 => format!("{} + {}", inner(random), inner(random)),
        5 => format!("{} * {}", inner(random), inner(random)),
        6 => format!("({})^{}", inner(random), one(&["2", "3", "0", "1", "7", "400"], random)),
        7 => format!("{} * ({})", one(VALUES, random), inner(random)),
        8 => match random.below(4) {
            0 => format!("set({}, {})", inner(random), one(&["separator=\"|\"", "columns=2", "mean=true"], random)),
            1 => format!("{}({}, {})", one(&["direct_sum", "tensor_product"], random), inner(random), inner(random)),
            _ => format!("{}({})", one(&["normalise", "centre"], random), inner(random)),
        },
        9 => format!("nystrom({}, points={})", inner(random), one(VALUES, random)),
        10 => format!("rbf({}, gamma={})", inner(random), one(VALUES, random)),
        _ => format!("series({}, coefficients=[{}])", inner(random), numbers(random)),
    };
    if random.below(10) == 0 { format!("({text})@{}", one(VIEWS, random)) } else { text }
}

fn numbers(random: &mut Random) -> String {
    (0..random.below(4)).map(|_| one(VALUES, random)).collect::<Vec<_>>().join(", ")
}

fn leaf(random: &mut Random) -> String {
    let all: Vec<_> = kernels::all().collect();
    let entry = all[random.below(all.len())];
    let params = describe((entry.make)().as_mut());
    format!("{}{}", entry.name, arguments(&params, random))
}

/// A machine with some of its parameters.
pub fn machine(random: &mut Random) -> String {
    let all: Vec<_> = machines::all().collect();
    let entry = all[random.below(all.len())];
    let params = describe((entry.make)().as_mut());
    format!("{}{}", entry.name, arguments(&params, random))
}

fn arguments(params: &[Described], random: &mut Random) -> String {
    let mut given = Vec::new();
    for param in params {
        if random.below(2) == 0 {
            continue;
        }
        let value = match random.below(4) {
            0 => param.default.clone(),
            1 if !param.words.is_empty() => one(&param.words, random).to_owned(),
            2 if param.kind == "numbers" => format!("[{}]", numbers(random)),
            _ => one(VALUES, random).to_owned(),
        };
        given.push(if random.below(8) == 0 { value } else { format!("{}={value}", param.name) });
    }
    if given.is_empty() { String::new() } else { format!("({})", given.join(", ")) }
}

/// A grid of parameters.
pub fn grid(random: &mut Random) -> String {
    let axis = |random: &mut Random| {
        let name = one(&["c", "gamma", "kernel.gamma", "machine.lambda", "length"], random);
        let value = |random: &mut Random| one(VALUES, random);
        let values = match random.below(3) {
            0 => format!("{}..{}:log{}", value(random), value(random), value(random)),
            1 => format!("{}..{}:lin{}", value(random), value(random), value(random)),
            _ => (0..=random.below(4)).map(|_| value(random)).collect::<Vec<_>>().join("|"),
        };
        format!("{name}={values}")
    };
    (0..=random.below(3)).map(|_| axis(random)).collect::<Vec<_>>().join(", ")
}
