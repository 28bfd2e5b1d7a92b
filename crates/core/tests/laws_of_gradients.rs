//! The laws of gradients by an example: they are limits of differences, for every kernel on vectors and every node of a formula.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::differences::{composites, difference, formula, near, random};
use crate::support::{self, samples, values, variants};
use mercer::data::{Dataset, Kind, Rows, SparseRows, Values};
use mercer::formula::{Formula, linear, rbf};
use mercer::kernels::{self, Domain};
use mercer::seed::Seed;

/// Σ_i α_i κ(x_i, z) and its gradient against differences, at a z inside the domain.
fn check_gradient(formula: &Formula, training: &Dataset, z: &[f64], context: &str) -> Result<(), mercer::Error> {
    let alpha = random(training.len(), "alpha");
    let got = formula.input_gradient(&alpha, training, z)?;
    let name = training.views()[0].name.clone();
    let of = |z: &[f64]| {
        let new = Rows::new(z.to_vec(), 1, z.len()).unwrap();
        let new = Dataset::from_views(vec![mercer::data::View { name: name.clone(), values: new.into() }]).unwrap();
        let k = values(formula.cross(&new, training).unwrap().as_ref());
        vec![k.iter().zip(&alpha).map(|(k, a)| k * a).sum::<f64>()]
    };
    let new = Rows::new(z.to_vec(), 1, z.len()).unwrap();
    let new = Dataset::from_views(vec![mercer::data::View { name: name.clone(), values: new.into() }]).unwrap();
    let k = values(formula.cross(&new, training).unwrap().as_ref());
    let size = k.iter().zip(&alpha).map(|(k, a)| (k * a).abs()).sum::<f64>();
    for p in 0..z.len() {
        near(&got[p..=p], &difference(z, p, of), size.max(1e-3), 1e-9, &format!("{context}, coordinate {p}"));
    }
    Ok(())
}

#[test]
fn the_gradient_by_an_example_is_the_limit_of_differences_for_every_kernel_on_vectors() {
    let mut refused = std::collections::BTreeSet::new();
    for entry in kernels::all().filter(|e| e.kind == Kind::Vectors) {
        for sample in samples(entry, 1, 15) {
            for leaf in variants(entry, &sample.training, 3) {
                let formula = formula(leaf.as_ref());
                let width = sample.training.width().unwrap();
                // no coordinate is near one of an example, where some kernels have a kink
                let z: Vec<f64> = random(width, "z").iter().map(|v| v.abs() * 0.7 + 0.123_456_7).collect();
                let context = format!("{formula} on {}", sample.name);
                match check_gradient(&formula, &Dataset::new(sample.training.clone()), &z, &context) {
                    Ok(()) => {}
                    Err(error) => {
                        assert!(error.to_string().starts_with(entry.name), "{error}");
                        refused.insert(entry.name);
                    }
                }
            }
        }
    }
    // only kernels that compare for equality have none
    for name in &refused {
        let leaf = (kernels::find(name).unwrap().make)();
        let rows = Values::from(Rows::new(vec![0.3, 0.5, 0.31, 0.51], 2, 2).unwrap());
        let near = Values::from(Rows::new(vec![0.3, 0.5, 0.4, 0.6], 2, 2).unwrap());
        assert_eq!(leaf.eval(&rows, 0, &rows, 1), leaf.eval(&near, 0, &near, 1), "{name} could have a gradient");
    }
    assert!(!refused.is_empty());
}

#[test]
fn the_gradient_by_an_example_obeys_the_chain_rule() {
    let rows = support::dense(Domain::Any, 16, 4, 0.0);
    for training in [Dataset::new(rows.clone()), Dataset::new(SparseRows::from_dense(&rows))] {
        let z = [0.31, -0.72, 0.53, 0.17];
        for formula in composites() {
            // sets of sparse vectors, and strings that are not there
            let Ok(resolved) = formula.resolve(&training, Seed(0)) else { continue };
            let shown = formula.to_string();
            match check_gradient(&resolved, &training, &z, &shown) {
                Ok(()) => assert!(!shown.contains("set(")),
                Err(error) => {
                    assert!(shown.contains("set(") && error.to_string().starts_with("set"), "{shown}: {error}");
                }
            }
        }
    }
    let both = Dataset::new(rows.clone()).with_view("more", rows).unwrap();
    let two = rbf(0.3).on("x") * linear().on("more");
    let told = two.input_gradient(&[0.0; 16], &both, &[0.0; 4]).unwrap_err().to_string();
    assert!(told.contains("different views"), "{told}");
    let narrow = rbf(0.3).on("x").input_gradient(&[0.0; 16], &both, &[0.0; 3]).unwrap_err().to_string();
    assert!(narrow.contains("3 coordinates"), "{narrow}");
}
