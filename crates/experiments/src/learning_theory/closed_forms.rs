//! Figures that are formulas: the growth function, the margin bound's appetite for examples, caps of the sphere, clipped losses.

use super::{Drawn, Number, Request};
use mercer::bounds::{margin, pac_bayes};
use mercer::plot::{Stroke, Strokes};
use mercer_terminal::Failure;

/// A function on an interval, at so many places.
fn graph(from: f64, to: f64, places: usize, f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let at = |k: usize| from + (to - from) * k as f64 / (places - 1) as f64;
    (0..places).map(|k| (at(k), f(at(k)))).collect()
}

/// x (ln(2/x) + 1), the share of ln N(2m) in m at x = ϑ/m.
fn complexity(x: f64) -> f64 {
    if x > 0.0 { x * ((2.0 / x).ln() + 1.0) } else { 0.0 }
}

/// Figure 4.2: the complexity term over ϑ/m, and near 0 with the line 5x.
pub(super) fn growth(request: &Request<'_>) -> Result<Vec<Drawn>, Failure> {
    let term = |to: f64, places: usize| Stroke {
        name: "complexity".to_owned(),
        points: graph(0.0, to, places, complexity),
        ..Stroke::default()
    };
    let line = Stroke {
        name: "5x".to_owned(),
        points: graph(0.0, 0.03, 2, |x| 5.0 * x),
        colour: 1,
        dashed: true,
        ..Stroke::default()
    };
    let figure = |title: &str, strokes: Vec<Stroke>| {
        let figure = Strokes {
            title: title.to_owned(),
            x_label: "x = ϑ/m".to_owned(),
            y_label: "x (ln(2/x) + 1)".to_owned(),
            strokes,
            note: Some("the logarithm of the growth function over the number of examples".to_owned()),
            ..Strokes::default()
        };
        figure.draw(request.theme)
    };
    Ok(vec![
        Drawn {
            file: "growth.svg".to_owned(),
            svg: figure("Growth function: all ϑ up to m", vec![term(1.0, 201)]),
            numbers: vec![Number::new("at ϑ = m", complexity(1.0), Some(1.69))],
        },
        Drawn {
            file: "growth-small.svg".to_owned(),
            svg: figure("Growth function: ϑ far below m", vec![term(0.03, 201), line]),
            numbers: vec![Number::new("at m = 30 ϑ (the text says: below 0.15)", complexity(1.0 / 30.0), Some(0.15))],
        },
    ])
}

/// The fewest examples from which a bound stays below 1, for bounds that fall once they are finite.
fn fewest(bound: impl Fn(f64) -> f64) -> f64 {
    let mut high = 1.0;
    while bound(high) >= 1.0 && high < 1e12 {
        high *= 2.0;
    }
    let mut low = high / 2.0;
    while high - low > 1.0 {
        let middle = (0.5 * (low + high)).floor();
        if bound(middle) < 1.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Figure 4.8: examples from which the margin bound (4.29) is below 1, over (ς/γ)².
pub(super) fn margins(request: &Request<'_>) -> Result<Vec<Drawn>, Failure> {
    let nats = -0.05_f64.ln();
    let printed = |complexity: f64| fewest(|m| margin::margin(m, complexity, nats));
    let zhang = |complexity: f64| fewest(|m| margin::zhang_margin(m, complexity, nats));
    let stroke = |name: &str, colour, f: &dyn Fn(f64) -> f64| Stroke {
        name: name.to_owned(),
        points: graph(1.0, 10.0, 37, f),
        colour,
        ..Stroke::default()
    };
    let figure = Strokes {
        title: "Examples that the margin bound needs to say anything".to_owned(),
        x_label: "(ς/γ)²".to_owned(),
        y_label: "examples".to_owned(),
        strokes: vec![stroke("fat shattering", 0, &printed), stroke("Zhang's covers", 1, &zhang)],
        logarithmic: true,
        note: Some("no training errors, δ = 0.05".to_owned()),
        ..Strokes::default()
    };
    let of = [(1.0, 34.8e3), (2.0, 73.8e3), (4.0, 156e3), (6.0, 241e3), (8.0, 329e3), (10.0, 418e3)];
    let sharper = [(1.0, 5.1e3), (2.0, 11.1e3), (4.0, 23.9e3), (10.0, 65.7e3)];
    let mut numbers: Vec<Number> =
        of.iter().map(|&(c, p)| Number::new(format!("(ς/γ)² = {c}"), printed(c), Some(p))).collect();
    numbers
        .extend(sharper.iter().map(|&(c, p)| Number::new(format!("(ς/γ)² = {c}, Zhang's covers"), zhang(c), Some(p))));
    Ok(vec![Drawn { file: "margins.svg".to_owned(), svg: figure.draw(request.theme), numbers }])
}

/// Figure C.5: −ln of the share of the sphere in a cap of height x = 1 − cos θ, exactly and as it is bounded.
pub(super) fn caps(request: &Request<'_>) -> Result<Vec<Drawn>, Failure> {
    let gamma = |x: f64| (1.0 - (1.0 - x) * (1.0 - x)).max(0.0).sqrt();
    let exact = |n: f64| move |x: f64| -pac_bayes::ln_cap(gamma(x), n);
    let bound = |n: f64| move |x: f64| pac_bayes::cap_bound(gamma(x), n);
    let printed: [(f64, [f64; 5], [f64; 5]); 2] = [
        (10.0, [6.466, 3.669, 2.194, 1.281, 0.693], [16.79, 9.86, 5.80, 2.93, 0.693]),
        (100.0, [53.57, 24.82, 10.98, 3.80, 0.693], [161.6, 92.3, 51.8, 23.0, 0.693]),
    ];
    let (mut strokes, mut numbers) = (Vec::new(), Vec::new());
    for (k, (n, exactly, bounded)) in printed.iter().enumerate() {
        let stroke = |name: &str, points, dashed| Stroke {
            name: format!("{name}, n = {n}"),
            points,
            colour: k as u32,
            dashed,
            ..Stroke::default()
        };
        strokes.push(stroke("exact", graph(0.1, 1.0, 181, exact(*n)), false));
        strokes.push(stroke("bound", graph(0.1, 1.0, 181, bound(*n)), true));
        for (i, x) in [0.2, 0.4, 0.6, 0.8, 1.0].into_iter().enumerate() {
            numbers.push(Number::new(format!("n = {n}, x = {x}, exact"), exact(*n)(x), Some(exactly[i])));
            numbers.push(Number::new(format!("n = {n}, x = {x}, bound"), bound(*n)(x), Some(bounded[i])));
        }
    }
    let figure = Strokes {
        title: "Volume of the sphere over that of a cap".to_owned(),
        x_label: "x = 1 − cos θ".to_owned(),
        y_label: "logarithm of the ratio".to_owned(),
        strokes,
        note: Some("n ln(1/x) + ln 2 bounds it from above".to_owned()),
        ..Strokes::default()
    };
    Ok(vec![Drawn { file: "caps.svg".to_owned(), svg: figure.draw(request.theme), numbers }])
}

/// Figure 5.2: losses clipped at 0 and 1 that fall over a margin τ.
pub(super) fn losses(request: &Request<'_>) -> Result<Vec<Drawn>, Failure> {
    let clipped = |tau: f64| move |f: f64| (1.0 - f / tau).clamp(0.0, 1.0);
    let stroke = |(k, tau): (usize, f64)| Stroke {
        name: format!("τ = {tau}"),
        points: graph(-1.0, 2.5, 141, clipped(tau)),
        colour: k as u32,
        ..Stroke::default()
    };
    let step = Stroke {
        name: "zero-one".to_owned(),
        points: vec![(-1.0, 1.0), (0.0, 1.0), (0.0, 0.0), (2.5, 0.0)],
        colour: 7,
        dashed: true,
        ..Stroke::default()
    };
    let figure = Strokes {
        title: "Clipped losses".to_owned(),
        x_label: "y f(x)".to_owned(),
        y_label: "loss".to_owned(),
        strokes: [0.5, 1.0, 2.0].into_iter().enumerate().map(stroke).chain([step]).collect(),
        note: Some("Lipschitz with constant 1/τ, and above the zero-one loss".to_owned()),
        ..Strokes::default()
    };
    Ok(vec![Drawn { file: "losses.svg".to_owned(), svg: figure.draw(request.theme), numbers: Vec::new() }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_examples_are_where_a_bound_passes_one() {
        assert_eq!(fewest(|m| 100.0 / m), 101.0);
        assert_eq!(fewest(|m| if m < 40.0 { f64::INFINITY } else { 0.5 }), 40.0);
    }

    #[test]
    fn the_growth_term_is_rising_and_ends_at_ln_two_and_one() {
        assert!((complexity(1.0) - (1.0 + 2.0_f64.ln())).abs() < 1e-12 && complexity(0.0) == 0.0);
        assert!(graph(0.0, 1.0, 50, complexity).windows(2).all(|w| w[0].1 < w[1].1));
    }
}
