//! Bounds for any class of real-valued functions, from its covering numbers or its fat-shattering dimension.
//!
//! A class that is covered within γ/2 on 2m examples by N functions has, without training errors at the margin γ,
//! R ≤ (2/m)(⌈log₂ N⌉ + log₂ m + log₂(1/δ)). The fat-shattering dimension at a scale bounds N, and that of linear functions is known.
//!
//! # Source
//! Herbrich (2002), §4.4: Thm. 4.25 and 4.30, Lemmas 4.29 and 4.31; Zhang (2002), Thm. 4.

use super::LD;
use super::theorem::{ALWAYS, AMOUNT, DELTA, EXAMPLES, Input, Theorem};
use crate::params::Rule;
use crate::sources::{HERBRICH, Source, ZHANG};
use std::f64::consts::E;

/// (2/m)(⌈log₂ N⌉ + log₂ m + log₂(1/δ)) for a class that N functions cover at half the margin on 2m examples; infinite for
/// log₂ N > m/2 (Thm. 4.25).
pub fn covering_bound(log2_cover: f64, m: f64, nats: f64) -> f64 {
    if log2_cover > m / 2.0 {
        return f64::INFINITY;
    }
    2.0 / m * (log2_cover.ceil() + LD * (m.ln() + nats))
}

/// (2/m)(⌈d log₂(8em/d) log₂(32m)⌉ + more): the bound of a class of fat-shattering dimension d at an eighth of the margin, `more` being
/// log₂(2m/δ) (Thm. 4.30) or what other theorems have there; infinite for d > 2m.
pub(super) fn fat(m: f64, d: f64, more: f64) -> f64 {
    if d > 2.0 * m || !d.is_finite() {
        return f64::INFINITY;
    }
    let cover = if d > 0.0 { d * (8.0 * E * m / d).log2() * (32.0 * m).log2() } else { 0.0 };
    2.0 / m * (cover.ceil() + more)
}

/// log₂ N(γ, m) ≤ 1 + d log₂(2em(b − a)/dγ) log₂(4m(b − a)²/γ²) for functions into an interval of length b − a whose
/// fat-shattering dimension at γ/4 is d ≤ m; infinite for d > m (Lemma 4.29).
pub fn fat_cover(gamma: f64, length: f64, d: f64, m: f64) -> f64 {
    if d > m {
        return f64::INFINITY;
    }
    // nothing is shattered: all functions are within γ of one another
    if d <= 0.0 {
        return 1.0;
    }
    1.0 + d * (2.0 * E * m * length / (d * gamma)).log2() * (4.0 * m * (length / gamma).powi(2)).log2()
}

/// (Bς/γ)²: the fat-shattering dimension at γ of linear functions of length B on examples of length ς (Lemma 4.31).
pub fn linear_fat(norm: f64, radius: f64, gamma: f64) -> f64 {
    (norm * radius / gamma).powi(2)
}

/// log₂ N ≤ 36 (Bς/ε)² log₂(2⌈4Bς/ε + 2⌉n + 1): linear functions within ε on n examples, by Bς/ε (Zhang, Thm. 4).
pub fn zhang_cover(ratio: f64, n: f64) -> f64 {
    36.0 * ratio * ratio * (2.0 * (4.0 * ratio + 2.0).ceil() * n + 1.0).log2()
}

const NORM: Input = Input::number("norm", AMOUNT, "largest length B of the weight vector");
const RADIUS: Input = Input::number("radius", AMOUNT, "length ς that no example exceeds");
const SCALE: Input = Input::number("gamma", Rule::Above(0.0), "scale γ");

/// An example that is shattered at γ/4 has values γ/4 above and below another one.
fn far_enough(gamma: f64, length: f64, dimension: f64) -> Result<(), String> {
    if dimension <= 0.0 || length >= gamma / 2.0 {
        return Ok(());
    }
    Err(format!(
        "to shatter one example at γ/4 on both sides takes values that lie γ/2 = {} apart, and length = {length} is less; give the dimension as 0, or a smaller gamma",
        gamma / 2.0
    ))
}

/// Theorems as functions of numbers.
pub(super) const THEOREMS: &[Theorem] = &[
    Theorem {
        name: "covering_bound",
        summary: "The risk of a classifier without training errors at a margin, by the covering number of its class",
        formula: "(2/m)(⌈log₂ N⌉ + log₂ m + log₂(1/δ)), N at half the margin on 2m examples",
        source: Source::new(&HERBRICH, "Thm. 4.25, Cor. 4.26"),
        use_when: "the covering numbers of a class of functions are known, linear or not",
        inputs: &[Input::number("log2_cover", AMOUNT, "log₂ of the covering number"), EXAMPLES, DELTA],
        // (2/1000)(100 + log₂ 20000)
        example: (&[("log2_cover", "100"), ("examples", "1000")], 0.228_575_424_759_098_9),
        possible: ALWAYS,
        value: |g| covering_bound(g.number(0), g.number(1), g.nats(2)),
    },
    Theorem {
        name: "fat_shattering_bound",
        summary: "The same by the fat-shattering dimension of the class",
        formula: "(2/m)(⌈d log₂(8em/d) log₂(32m)⌉ + log₂ m + log₂(2/δ)), d at an eighth of the margin",
        source: Source::new(&HERBRICH, "Thm. 4.30"),
        use_when: "the fat-shattering dimension of a class of functions is known, linear or not",
        inputs: &[Input::number("dimension", AMOUNT, "fat-shattering dimension d"), EXAMPLES, DELTA],
        example: (&[("dimension", "64"), ("examples", "100000")], 0.416_798_631_371_386_56),
        possible: ALWAYS,
        value: |g| fat(g.number(1), g.number(0), LD * ((2.0 * g.number(1)).ln() + g.nats(2))),
    },
    Theorem {
        name: "fat_shattering_cover",
        summary: "log₂ of the covering number of a class, by its fat-shattering dimension",
        formula: "1 + d log₂(2em(b − a)/dγ) log₂(4m(b − a)²/γ²), d at γ/4",
        source: Source::new(&HERBRICH, "Lemma 4.29"),
        use_when: "the fat-shattering dimension of a class is known and its covering number is wanted",
        inputs: &[
            SCALE,
            Input::number("length", Rule::Above(0.0), "length b − a of the interval that values lie in"),
            Input::number("dimension", AMOUNT, "fat-shattering dimension d at γ/4"),
            EXAMPLES,
        ],
        example: (&[("gamma", "0.5"), ("length", "2"), ("dimension", "3"), ("examples", "1000")], 615.212_510_187_907),
        possible: |g| far_enough(g.number(0), g.number(1), g.number(2)),
        value: |g| fat_cover(g.number(0), g.number(1), g.number(2), g.number(3)),
    },
    Theorem {
        name: "linear_fat_shattering",
        summary: "The fat-shattering dimension of linear functions in feature space",
        formula: "(Bς/γ)²",
        source: Source::new(&HERBRICH, "Lemma 4.31"),
        use_when: "functions are linear, of bounded length",
        inputs: &[NORM, RADIUS, SCALE],
        example: (&[("norm", "2"), ("radius", "3"), ("gamma", "0.5")], 144.0),
        possible: ALWAYS,
        value: |g| linear_fat(g.number(0), g.number(1), g.number(2)),
    },
    Theorem {
        name: "linear_cover",
        summary: "log₂ of the covering number of linear functions in feature space",
        formula: "36 (Bς/γ)² log₂(2⌈4Bς/γ + 2⌉m + 1)",
        source: Source::new(&ZHANG, "Thm. 4"),
        use_when: "functions are linear, of bounded length: far below what the fat-shattering dimension gives",
        inputs: &[NORM, RADIUS, SCALE, EXAMPLES],
        // 144 log₂ 20001
        example: (&[("norm", "1"), ("radius", "1"), ("gamma", "0.5"), ("examples", "1000")], 2_057.440_969_799_738_5),
        possible: ALWAYS,
        value: |g| zhang_cover(g.number(0) * g.number(1) / g.number(2), g.number(3)),
    },
];

#[cfg(test)]
mod tests {
    use super::super::margin;
    use super::*;

    #[test]
    fn the_bound_for_linear_classes_is_that_of_margins() {
        for (m, complexity) in [(1e5, 1.0_f64), (1e6, 4.0)] {
            // ‖w‖ = 1 and ς = 1 at γ = 1/√θ, of which an eighth is taken
            let d = linear_fat(1.0, 1.0, 1.0 / complexity.sqrt() / 8.0);
            assert!((d - 64.0 * complexity).abs() < 1e-9);
            let by_fat = fat(m, d, LD * ((2.0 * m).ln() + 3.0));
            assert!((by_fat - margin::margin(m, complexity, 3.0)).abs() < 1e-12);
            let by_cover = covering_bound(zhang_cover(2.0 * complexity.sqrt(), 2.0 * m), m, 3.0);
            assert!((by_cover - margin::zhang_margin(m, complexity, 3.0)).abs() < 1e-12);
        }
        assert_eq!(covering_bound(501.0, 1000.0, 3.0), f64::INFINITY);
        assert!(covering_bound(500.0, 1000.0, 3.0) > 1.0);
    }

    #[test]
    fn covers_by_two_roads_are_in_their_order() {
        // functions of length 1 on the unit ball, at γ = 0.5: values in [−1, 1], and the dimension at γ/4 is 64
        let by_fat = fat_cover(0.5, 2.0, linear_fat(1.0, 1.0, 0.125), 1e4);
        let by_zhang = zhang_cover(2.0, 1e4);
        assert!(by_zhang < by_fat, "{by_zhang} {by_fat}");
        assert_eq!(fat_cover(0.5, 2.0, 20.0, 10.0), f64::INFINITY);
        assert_eq!((fat_cover(0.5, 2.0, 0.0, 10.0), fat(10.0, 0.0, 1.0)), (1.0, 0.2));
    }
}
