//! Ten points of the plane and their mirror images with the other label: the offset of a small C is 0, and one example less makes
//! it a vote for the larger class, which is wrong of every example left out.
//!
//! A theorem about machines without offset, which only sees that b is 0, says 0 here; such a machine is right nearly always. The
//! examples are exchangeable, so that the error of a fit without one of them, drawn by chance, is what leaving out estimates.
//!
//! # Source
//! Herbrich (2002), Thm. 2.37, whose machine has no offset.

use super::super::samples::{facts, fit, labelled, scores};
use super::{Must, Said, World, expectations};
use mercer::bounds::{Facts, Linear, Quantity};
use mercer::certify::Options;
use mercer::data::Dataset;
use mercer::formula::linear;
use mercer::machines::classify::Svc;
use mercer::seed::Random;
use mercer_terminal::Failure;
use std::f64::consts::PI;

pub(super) const WORLD: World = World {
    name: "mirrored pairs",
    about: "10 points of a half circle and their mirror images with the other label, svc with C = 0.001",
    delta: 0.2,
    one_in: 1,
    draw,
};

const PAIRS: usize = 10;
/// The half angle of the arc on which the points of one class lie.
const ARC: f64 = 0.4 * PI;

fn draw(random: &mut Random, _: f64) -> Result<Vec<Said>, Failure> {
    let (mut values, mut positive) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let angle = ARC * (2.0 * random.uniform() - 1.0);
        values.extend([angle.cos(), angle.sin(), -angle.cos(), -angle.sin()]);
        positive.extend([true, false]);
    }
    let out = random.below(2 * PAIRS);
    let data = labelled(values, 2, &positive)?;
    let mut said = Vec::new();
    for (bias, suffix) in [(false, "svc without bias"), (true, "svc")] {
        let machine = Svc { c: 0.001, bias, ..Svc::default() };
        let told = facts(&fit(&machine, &linear(), &data)?, &data, &Options::default())?;
        let wrong = f64::from(u8::from(errs_without(&machine, &data, out, positive[out])?));
        let of = |facts: &Facts| expectations(facts, |q| (q == Quantity::ZeroOneRisk).then_some(wrong));
        said.extend(of(&told).into_iter().map(|s| s.about("svc", suffix)));
        if let Some(linear) = told.linear.as_ref().filter(|l| bias && l.offset.abs() < 1e-9) {
            // the condition of the theorems, seen in the value of b and not in the machine
            let mistaken = Facts { linear: Some(Linear { homogeneous: true, ..linear.clone() }), ..told.clone() };
            for name in ["jaakkola_haussler", "xi_alpha"] {
                let found = of(&mistaken).into_iter().find(|s| s.statement == name);
                let wrong = found.map(|s| Said { must: Must::FailOnAverage, ..s.about("svc", "svc with b = 0") });
                said.extend(wrong);
            }
        }
    }
    Ok(said)
}

/// True if the fit without an example is wrong about it.
fn errs_without(machine: &Svc, data: &Dataset, out: usize, positive: bool) -> Result<bool, Failure> {
    let rest: Vec<usize> = (0..data.len()).filter(|&i| i != out).collect();
    let score = scores(&fit(machine, &linear(), &data.select(&rest))?, &data.select(&[out]))?[0];
    Ok((score > 0.0) != positive)
}
