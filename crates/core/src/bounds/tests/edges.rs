//! Values of bounds at the edges of their meaning.

use super::*;

#[test]
fn equal_deltas_leave_nothing_whatever_rounding_does() {
    let entry = find("novelty_centre").unwrap();
    for delta in [0.01, 0.02, 0.03, 0.05, 0.1, 0.2] {
        let mut facts = rich(400.0, 20.0, 0.0, 0.5);
        facts.task = Task::Novelty;
        facts.novelty = facts.novelty.map(|n| Novelty { centre_delta: Some(delta), ..n });
        let at = |spent: f64| Certificate::of(entry, &facts, spent);
        assert!(!at(delta).applicable, "{delta}");
        let half = at(2.0 * delta);
        near("what is left", half.value.unwrap(), -(delta.ln() / 400.0).exp_m1());
    }
}

#[test]
fn the_region_of_one_class_has_no_scale() {
    let entry = find("one_class_margin").unwrap();
    let at = |scale: f64| {
        let mut facts = rich(1e9, 20.0, 0.0, 0.5);
        facts.task = Task::Novelty;
        let novelty = facts.novelty.unwrap();
        facts.novelty = Some(Novelty { norm: Some(scale), shortfall: 30.0 * scale, rho: 0.5 * scale, ..novelty });
        let found = Certificate::of(entry, &facts, 0.05);
        // a wider region than the model's says nothing of what the model calls novelties
        assert_eq!(found.quantity, Quantity::OutsideWiderRegion);
        found.value.unwrap()
    };
    assert!(at(1.0) < 1.0);
    near("w → cw", at(1.0), at(7.0));
    near("w → cw", at(1.0), at(0.01));
}

#[test]
fn a_dimension_that_is_told_belongs_to_the_value_that_is_told() {
    let (margin, robust) = (find("margin_distribution").unwrap(), find("robust_margin").unwrap());
    for m in [10.0, 1e4, 1e7, 1e9] {
        let facts = rich(m, 20.0, 0.1, 0.5);
        for (entry, value) in
            [(margin, margin::margin_distribution as fn(f64, f64, f64) -> f64), (robust, margin::robust_margin)]
        {
            let Ok(claim) = (entry.claim)(&facts, NATS) else { panic!("{}", entry.name) };
            let told = claim.inputs.iter().find(|(name, _)| *name == "effective_dimension").unwrap().1;
            assert!(told > 0.0, "{}: no dimension is no dimension of zero", entry.name);
            if told.is_finite() {
                let count = if entry.name == "robust_margin" { 0.0 } else { (8.0 + 0.5 * m.log2()).floor().ln() };
                let (own, wanted) = (claim.value, value(m, told, NATS + count));
                assert!(own == wanted || (own - wanted).abs() < 1e-9 * wanted, "{} {m}: {own} {wanted}", entry.name);
            }
        }
    }
}
