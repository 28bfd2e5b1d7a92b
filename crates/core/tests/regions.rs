//! Regions that hold all but a share ν: what is promised holds for what is predicted.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::data::Values;
use mercer::job::Job;
use mercer::machines::{Coefficients, Effort, Fact, Machine};
use mercer::prelude::*;
use mercer::watch::{Silent, Status};

fn cloud(n: usize, scale: f64, seed: u64) -> Dataset {
    let mut random = Seed(seed).stream("regions");
    let values = (0..2 * n).map(|i| scale * (random.normal() + if i % 6 < 3 { 2.0 } else { 0.0 })).collect();
    Dataset::new(Rows::new(values, n, 2).unwrap())
}

fn machines(nu: f64, tolerance: f64) -> [Box<dyn Machine>; 2] {
    let effort = Effort { tolerance, max_iterations: 200_000, ..Effort::default() };
    [Box::new(OneClass { nu, effort: effort.clone() }), Box::new(Svdd { nu, effort })]
}

/// At most a share ν of the training examples is predicted to be outside, at least that many are support vectors, and the region is no
/// larger than the tolerance makes it.
#[test]
fn a_share_nu_is_kept_by_what_is_predicted() {
    for (kernel, scale) in [
        ("rbf(gamma=2)", 1.0),
        ("rbf(gamma=2e-6)", 1e3),
        ("rbf(gamma=0.1)", 1.0),
        ("linear + 1", 1.0),
        ("normalise(polynomial(degree=3))", 1e2),
        ("matern(length=0.5)", 1.0),
    ] {
        for tolerance in [1e-2, 1e-3, 1e-8] {
            for (nu, n) in [(0.05, 400), (0.05, 137), (0.3, 200), (0.01, 150), (0.5, 60)] {
                for machine in machines(nu, tolerance) {
                    let what = format!("{} {kernel} ν={nu} n={n} tolerance={tolerance}", machine.entry().name);
                    let data = cloud(n, scale, n as u64);
                    let model = Job::new(machine.as_ref(), &kernel.parse().unwrap()).run(&data, &Silent).unwrap();
                    if model.fitted().report.status != Status::Converged {
                        continue; // rows in single precision do not reach every tolerance
                    }
                    let scores = model.scores(&data).unwrap();
                    let outside = scores.iter().filter(|s| **s < 0.0).count();
                    assert!(outside as f64 <= nu * n as f64 + 1e-9, "{what}: {outside} outside");
                    let report = &model.fitted().report;
                    assert!(report.support.unwrap() as f64 >= nu * n as f64 - 1e-9, "{what}");
                    assert_eq!(report.fact(Fact::Outside), Some(outside as f64), "{what}: told and predicted");
                    // alone and among others, and from a file
                    let again = Model::from_bytes(&model.to_bytes().unwrap(), "bytes").unwrap();
                    for i in (0..n).step_by(17) {
                        let alone = again.scores(&data.select(&[i])).unwrap()[0];
                        assert_eq!(alone < 0.0, scores[i] < 0.0, "{what}: {alone} {}", scores[i]);
                    }
                    // some example that is not outside stands on the boundary
                    let Coefficients::Dual { alpha, .. } = &model.fitted().expansion.coefficients else { continue };
                    let least = scores.iter().filter(|s| **s >= 0.0).fold(f64::INFINITY, |a, b| a.min(*b));
                    let total: f64 = alpha.iter().sum();
                    assert!(least <= tolerance + 1e-6 * total, "{what}: {least}");
                }
            }
        }
    }
}

/// A ball does not grow with the place of the columns: what is added to its square is rounding of the sums, and no more.
#[test]
fn a_ball_far_from_zero_has_the_radius_it_has_at_zero() {
    let near = cloud(200, 1.0, 3);
    let radius = |shift: f64, nu: f64| {
        let Values::Dense(rows) = &near.views()[0].values else { panic!("dense rows") };
        let moved = rows.values().iter().map(|x| x + shift).collect();
        let data = Dataset::new(Rows::new(moved, rows.len(), rows.width()).unwrap());
        let machine = Svdd { nu, effort: Effort { tolerance: 1e-4, ..Effort::default() } };
        let model = Job::new(&machine, &linear()).run(&data, &Silent).unwrap();
        model.fitted().report.notes.iter().find(|(name, _)| name == "radius").unwrap().1
    };
    for nu in [0.05, 0.3] {
        let wanted = radius(0.0, nu);
        // κ(x, x) of 10¹¹ leaves distances five digits
        for (shift, tolerance) in [(1e4, 1e-3), (1e5, 1e-2)] {
            let found = radius(shift, nu);
            assert!((found / wanted - 1.0).abs() < tolerance, "{nu} {shift}: {found} for {wanted}");
        }
    }
}
