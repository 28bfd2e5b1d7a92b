//! Figures 4.5 and 4.7: functions f = α₁κ(x₁, ·) + α₂κ(x₂, ·) of length at most 1, seen at the two points only.
//!
//! Their images (f(x₁), f(x₂)) = Gα fill an ellipse, which few squares of half-width γ cover. Two points are γ-shattered if all
//! four of (±γ, ±γ) are images: vᵀG⁻¹v ≤ 1, worst for opposite signs, so γ = √((1 − κ(x₁, x₂))/2).

use super::{Drawn, Number, Request};
use mercer::plot::{Stroke, Strokes};
use mercer_terminal::Failure;

/// κ(x, x') = exp(−½(x − x')²).
fn kernel(x: f64, y: f64) -> f64 {
    (-0.5 * (x - y) * (x - y)).exp()
}

/// G⁻¹v for the two points ±at.
fn coefficients(at: f64, v: (f64, f64)) -> (f64, f64) {
    let g = kernel(-at, at);
    let scale = 1.0 / (1.0 - g * g);
    (scale * (v.0 - g * v.1), scale * (v.1 - g * v.0))
}

/// A function as a line.
fn course(at: f64, alpha: (f64, f64)) -> Vec<(f64, f64)> {
    let x = |k: usize| -4.0 + 8.0 * k as f64 / 160.0;
    (0..=160).map(x).map(|x| (x, alpha.0 * kernel(-at, x) + alpha.1 * kernel(at, x))).collect()
}

/// Twenty functions, their images, and a cover.
pub(super) fn cover(request: &Request<'_>) -> Result<Vec<Drawn>, Failure> {
    const AT: f64 = 1.0;
    const COUNT: usize = 20;
    const GAMMA: f64 = 0.4;
    let g = kernel(-AT, AT);
    let mut random = request.seed.stream("covering");
    let mut images = Vec::with_capacity(COUNT);
    while images.len() < COUNT {
        // u in the disc, v = Lu with G = LLᵀ: uniform in the ellipse
        let (a, b) = (2.0 * random.uniform() - 1.0, 2.0 * random.uniform() - 1.0);
        if a * a + b * b <= 1.0 {
            images.push((a, g * a + (1.0 - g * g).sqrt() * b));
        }
    }
    let strokes = images.iter().enumerate().map(|(k, &v)| Stroke {
        points: course(AT, coefficients(AT, v)),
        colour: (k % 6) as u32,
        ..Stroke::default()
    });
    let functions = Strokes {
        title: "Twenty functions of length at most 1".to_owned(),
        x_label: "x".to_owned(),
        y_label: "f(x)".to_owned(),
        strokes: strokes.collect(),
        dots: images.iter().flat_map(|v| [(-AT, v.0), (AT, v.1)]).collect(),
        note: Some("f = α₁κ(−1, ·) + α₂κ(1, ·), κ a Gaussian; dots are the values at the two points".to_owned()),
        ..Strokes::default()
    };
    let centres = covering(&images, GAMMA);
    let round = |t: f64| (t.cos(), g * t.cos() + (1.0 - g * g).sqrt() * t.sin());
    let mut strokes = vec![Stroke {
        name: "all images".to_owned(),
        points: (0..=120).map(|k| round(std::f64::consts::TAU * f64::from(k) / 120.0)).collect(),
        colour: 7,
        dashed: true,
        ..Stroke::default()
    }];
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)];
    strokes.extend(centres.iter().enumerate().map(|(k, c)| Stroke {
        name: if k == 0 { "cover".to_owned() } else { String::new() },
        points: corners.iter().map(|(x, y)| (c.0 + GAMMA * x, c.1 + GAMMA * y)).collect(),
        colour: 1,
        ..Stroke::default()
    }));
    let seen = Strokes {
        title: format!("Images of the functions and a cover of radius {GAMMA}"),
        x_label: "f(−1)".to_owned(),
        y_label: "f(1)".to_owned(),
        strokes,
        dots: images,
        note: Some("a square holds what differs from its centre by at most the radius at both points".to_owned()),
        ..Strokes::default()
    };
    let count = Number::new("squares that cover the twenty", centres.len() as f64, None);
    Ok(vec![
        Drawn { file: "covering-functions.svg".to_owned(), svg: functions.draw(request.theme), numbers: Vec::new() },
        Drawn { file: "covering-images.svg".to_owned(), svg: seen.draw(request.theme), numbers: vec![count] },
    ])
}

/// Images as centres, the one that covers most first, until all are covered.
fn covering(images: &[(f64, f64)], gamma: f64) -> Vec<(f64, f64)> {
    let near = |a: &(f64, f64), b: &(f64, f64)| (a.0 - b.0).abs() <= gamma && (a.1 - b.1).abs() <= gamma;
    let (mut left, mut centres) = (images.to_vec(), Vec::new());
    while let Some(best) = images.iter().max_by_key(|c| left.iter().filter(|p| near(c, p)).count()) {
        if left.is_empty() {
            break;
        }
        centres.push(*best);
        left.retain(|p| !near(best, p));
    }
    centres
}

/// Two points, shattered by four functions.
pub(super) fn shatter(request: &Request<'_>) -> Result<Vec<Drawn>, Failure> {
    const AT: f64 = 0.4;
    let gamma = ((1.0 - kernel(-AT, AT)) / 2.0).sqrt();
    let signs = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
    let word = |s: f64| if s > 0.0 { "+" } else { "−" };
    let mut strokes: Vec<Stroke> = signs
        .iter()
        .enumerate()
        .map(|(k, s)| Stroke {
            name: format!("{} {}", word(s.0), word(s.1)),
            points: course(AT, coefficients(AT, (gamma * s.0, gamma * s.1))),
            colour: k as u32,
            ..Stroke::default()
        })
        .collect();
    strokes.extend([gamma, -gamma].into_iter().map(|level| Stroke {
        name: if level > 0.0 { "±γ".to_owned() } else { String::new() },
        points: vec![(-4.0, level), (4.0, level)],
        colour: 7,
        dashed: true,
        ..Stroke::default()
    }));
    let figure = Strokes {
        title: format!("Two points γ-shattered by four functions, γ = {gamma:.3}"),
        x_label: "x".to_owned(),
        y_label: "f(x)".to_owned(),
        strokes,
        dots: signs.iter().flat_map(|s| [(-AT, gamma * s.0), (AT, gamma * s.1)]).collect(),
        note: Some("functions of length at most 1; the dots lie at ±γ over the points −0.4 and 0.4".to_owned()),
        ..Strokes::default()
    };
    let numbers = vec![Number::new("largest γ", gamma, Some(0.37))];
    Ok(vec![Drawn { file: "shattering.svg".to_owned(), svg: figure.draw(request.theme), numbers }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_give_the_values_that_were_asked_for() {
        let (a, b) = coefficients(0.4, (0.3, -0.2));
        let f = |x: f64| a * kernel(-0.4, x) + b * kernel(0.4, x);
        assert!((f(-0.4) - 0.3).abs() < 1e-12 && (f(0.4) + 0.2).abs() < 1e-12);
    }

    #[test]
    fn every_image_is_covered() {
        let images = [(0.0, 0.0), (0.3, 0.0), (1.0, 1.0), (0.0, 0.41)];
        assert_eq!(covering(&images, 0.4), [(0.3, 0.0), (0.0, 0.41), (1.0, 1.0)].map(|c| c));
        assert!(covering(&[], 0.4).is_empty());
    }
}
