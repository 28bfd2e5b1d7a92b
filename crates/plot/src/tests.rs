//! The figures are well-formed, finite, the same every time, and draw what they are given.

use super::axes::{range, ticks};
use super::contour::{Grid, smooth};
use super::svg::{escape, fitted, number, shortened};
use super::theme::shape;
use super::*;

/// Every tag that opens closes, in order, and no bare `<` or `&` is left.
fn well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        assert!(!text.contains('>'));
        for entity in text.split('&').skip(1) {
            assert!(["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|e| entity.starts_with(e)), "{text}");
        }
        let name = tag.split([' ', '/']).find(|n| !n.is_empty()).unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "numbers must be finite");
}

fn count(svg: &str, what: &str) -> usize {
    svg.matches(what).count()
}

fn point(x: f64, y: f64, code: u32) -> PlotPoint {
    PlotPoint { x, y, code, support: false, wrong: false }
}

fn surface(labels: &[&str], score: impl Fn(f64, f64) -> f64) -> DecisionSurface {
    let (columns, rows) = (60, 50);
    let centre = |k: usize, n: usize| -3.0 + 6.0 * (k as f64 + 0.5) / n as f64;
    let scores: Vec<f64> =
        (0..rows * columns).map(|k| score(centre(k % columns, columns), centre(k / columns, rows))).collect();
    DecisionSurface {
        margin: true,
        title: "A <surface> & more".to_owned(),
        x_label: "x1".to_owned(),
        y_label: "x2".to_owned(),
        x: (-3.0, 3.0),
        y: (-3.0, 3.0),
        columns,
        rows,
        codes: scores.iter().map(|s| u32::from(*s > 0.0)).collect(),
        scores: Some(scores),
        labels: labels.iter().map(|&l| l.to_owned()).collect(),
        points: vec![
            PlotPoint { support: true, ..point(1.0, 1.0, 1) },
            PlotPoint { wrong: true, ..point(-1.0, 0.0, 0) },
            point(f64::NAN, 0.0, 0),
            point(9.0, 0.0, 1),
        ],
        note: Some("rbf, \"γ\" = 1".to_owned()),
    }
}

#[test]
fn words_are_escaped_and_numbers_short() {
    assert_eq!(escape("a<b & \"c\" 'd'\u{1}\n"), "a&lt;b &amp; &quot;c&quot; &#39;d&#39; ");
    assert_eq!([number(1.0), number(-0.001), number(2.345), number(-10.5)], ["1", "0", "2.35", "-10.5"]);
    assert_eq!(fitted("abcdefghij", 10.0, 30.0), "abcd…");
    assert_eq!(shortened("abcdefghij", 10.0, 30.0), "ab…ij");
    assert_eq!(shortened("äöü", 10.0, 1.0), "ä…");
}

#[test]
fn ticks_are_round_and_inside() {
    let words = |of, n| ticks(of, n).into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ");
    assert_eq!(words((-1.0, 1.0), 4), "−1.0 −0.5 0.0 0.5 1.0");
    assert_eq!(words((0.0, 97.0), 5), "0 20 40 60 80");
    assert_eq!(words((0.0, 3e7), 3), "0 1e7 2e7 3e7");
    assert_eq!(words((0.0, 2e-7), 2), "0 1e−7 2e−7");
    for of in [(-3.2, 5.7), (1e5, 1e5 + 1.0), (-1e300, 1e300), (1e-12, 3e-12)] {
        let found = ticks(of, 6);
        assert!((2..=13).contains(&found.len()), "{of:?} {found:?}");
        let slack = 1e-6 * (of.1 - of.0);
        assert!(found.iter().all(|(v, _)| *v >= of.0 - slack && *v <= of.1 + slack));
        let mut texts: Vec<&String> = found.iter().map(|(_, text)| text).collect();
        texts.dedup();
        assert_eq!(texts.len(), found.len(), "{found:?}");
    }
}

#[test]
fn ranges_are_never_empty() {
    assert_eq!(range([], 0.1), (0.0, 1.0));
    assert_eq!(range([f64::NAN, f64::INFINITY], 0.1), (0.0, 1.0));
    assert_eq!(range([0.0, 0.0], 0.1), (-0.5, 0.5));
    let (lo, hi) = range([5.0], 0.0);
    assert!(lo < 5.0 && hi > 5.0);
    assert_eq!(range([0.0, 10.0], 0.1), (-1.0, 11.0));
}

#[test]
fn a_plane_has_a_straight_contour_from_edge_to_edge() {
    // f = x + 2y − 9 on 10 × 8 cells.
    let grid = Grid::of_cells(10, 8, |c, r| (c as f64 + 0.5) + 2.0 * (r as f64 + 0.5) - 9.0);
    for level in [-1.0, 0.0, 1.0] {
        let lines = grid.lines(level);
        assert_eq!(lines.len(), 1);
        for (x, y) in &lines[0] {
            let inside = (0.5..=9.5).contains(x) && (0.5..=7.5).contains(y);
            // Half a cell of the margin in both directions.
            let slack = if inside { 0.0 } else { 0.5 + 2.0 * 0.5 };
            assert!((x + 2.0 * y - 9.0 - level).abs() <= slack + 1e-9, "{x} {y}");
        }
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        for (x, _) in &lines[0] {
            (lo, hi) = (lo.min(*x), hi.max(*x));
        }
        // The line leaves through an edge on both sides, not half a cell before.
        let ends = (0.0, (9.0 + level).min(10.0));
        assert!((lo - ends.0).abs() < 1e-9 && (hi - ends.1).abs() <= 1.0, "{lo} {hi}");
    }
}

#[test]
fn a_cone_has_a_closed_contour_and_a_saddle_two_branches() {
    let at = |c: usize, r: usize| (c as f64 - 14.6, r as f64 - 15.3);
    let cone = Grid::of_cells(30, 30, |c, r| at(c, r).0.hypot(at(c, r).1)).lines(8.0);
    assert!(cone.len() == 1 && cone[0].first() == cone[0].last() && cone[0].len() > 40);
    assert!(cone[0].iter().all(|(x, y)| ((x - 15.1).hypot(y - 15.8) - 8.0).abs() < 0.05));
    let saddle = |level| Grid::of_cells(30, 30, |c, r| at(c, r).0 * at(c, r).1).lines(level);
    assert_eq!((saddle(20.0).len(), saddle(-20.0).len()), (2, 2));
    assert!(Grid::of_cells(0, 4, |_, _| 0.0).lines(0.0).is_empty());
    assert!(Grid::of_cells(3, 3, |_, _| f64::NAN).lines(0.0).is_empty());
    assert_eq!(Grid::of_cells(1, 1, |_, _| 2.0).lines(0.0).len(), 0);
}

#[test]
fn smoothing_keeps_ends_and_straight_lines() {
    let mut stairs: Vec<(f64, f64)> = (0..20).map(|k| (f64::from(k), f64::from(k / 2))).collect();
    let ends = (stairs[0], stairs[19]);
    smooth(&mut stairs);
    assert_eq!((stairs[0], stairs[19]), ends);
    assert!(stairs[5..15].iter().all(|(x, y)| (y - (x / 2.0 - 0.25)).abs() < 0.05));
    smooth(&mut []);
}

#[test]
fn a_function_that_fades_at_the_edge_has_no_line_there() {
    let hill = Grid::of_cells(20, 20, |c, r| (-((c as f64 - 9.5).powi(2) + (r as f64 - 9.5).powi(2)) / 8.0).exp());
    assert!(hill.lines(0.0).is_empty());
}

#[test]
fn colours_and_shapes_repeat_late() {
    for (_, theme) in Theme::WORDS {
        let mut seen: Vec<String> = (0..40).map(|k| format!("{:?} {:?}", theme.colour(k), shape(k))).collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 40);
    }
}

#[test]
fn a_surface_of_two_classes_has_shades_contours_marks_and_words() {
    let svg = surface(&["no", "yes"], |x, y| x + 0.5 * y).draw(Theme::Light);
    well_formed(&svg);
    assert!(svg.contains("A &lt;surface&gt; &amp; more") && svg.contains("&quot;γ&quot;"));
    // Two dashed contours and one in the legend; one ring and one in the legend.
    assert_eq!(count(&svg, "stroke-dasharray"), 3);
    assert_eq!(count(&svg, "<polyline"), 3);
    assert_eq!(count(&svg, "r=\"6.6\""), 2);
    // A cell is never a rectangle of its own where neighbours look the same.
    assert!(count(&svg, "M") < 60 * 50 / 2);
    assert_eq!(svg, surface(&["no", "yes"], |x, y| x + 0.5 * y).draw(Theme::Light));
    assert!(svg.len() < 60_000, "{}", svg.len());
}

#[test]
fn a_surface_has_its_boundary_where_the_decision_changes() {
    // f = y − 1 on [−3, 3]: two thirds of the way up from 502 to 70.
    let svg = surface(&["no", "yes"], |_, y| y - 1.0).draw(Theme::Light);
    let solid = svg.lines().find(|l| l.starts_with("<polyline") && l.contains("1.8")).expect("a boundary");
    let list = solid.split('"').nth(1).unwrap_or_default();
    assert!(list.split(' ').count() > 50 && list.split(' ').all(|at| at.ends_with(",214")), "{list}");
    // Class 1 is above: its colour begins at the top edge.
    assert!(svg.lines().any(|l| l.starts_with("<path") && l.contains(" 70H") && l.contains("fill=\"#f2")));
}

#[test]
fn a_surface_survives_odd_numbers() {
    let mut figure = surface(&["a", "b"], |x, _| if x > 2.0 { f64::NAN } else { x / 0.0 });
    well_formed(&figure.draw(Theme::Light));
    figure.scores = Some(vec![1.0]);
    figure.codes = vec![0];
    (figure.x, figure.y) = ((f64::NAN, 1.0), (2.0, 2.0));
    well_formed(&figure.draw(Theme::Light));
    well_formed(&DecisionSurface::default().draw(Theme::Light));
}

#[test]
fn a_surface_of_three_classes_has_boundaries() {
    let mut figure = surface(&["a", "b", "c"], |x, _| x);
    figure.codes = (0..3000).map(|k| k % 60 / 20).collect();
    let svg = figure.draw(Theme::Light);
    well_formed(&svg);
    // The boundary of class 0, and the two of class 1.
    assert_eq!((count(&svg, "<polyline"), count(&svg, "stroke-dasharray")), (3, 0));
    assert_eq!(count(&svg, "z\"/>") + count(&svg, "z\" fill"), 3);
}

#[test]
fn curves_scatters_and_predictions_draw_every_finite_point() {
    let points: Vec<(f64, f64)> =
        (0..50).map(|k| (f64::from(k), f64::from(k).sin())).chain([(f64::NAN, 1.0)]).collect();
    let mut curve = points.clone();
    curve[25].1 = f64::INFINITY;
    let edges = points.iter().map(|p| (p.0, p.1 - 0.2, p.1 + 0.2)).collect();
    let mut data: Vec<Datum> = points.iter().map(|&(x, y)| Datum { x, y, ..Datum::default() }).collect();
    data[3].support = true;
    let mut figure = RegressionCurve {
        title: "<sinc>".to_owned(),
        curves: vec![Line { name: "fitted".to_owned(), points: curve }],
        points: data,
        bands: vec![Band { name: "ε = 0.2".to_owned(), edges }],
        ..Default::default()
    };
    let svg = figure.draw(Theme::Light);
    well_formed(&svg);
    // One dot each and one in the legend, a ring and one in the legend; the hole breaks the curve in two.
    assert_eq!((count(&svg, "<circle"), count(&svg, "<polyline"), count(&svg, "<polygon")), (53, 2, 1));
    assert!([">data<", ">fitted<", ">ε = 0.2<", ">support vector<"].iter().all(|word| svg.contains(word)));
    // of two outputs each has its colour, and no word is said of data
    figure.curves.push(Line { name: "other".to_owned(), points: points.clone() });
    figure.points.iter_mut().skip(1).step_by(2).for_each(|p| p.curve = 1);
    let svg = figure.draw(Theme::Light);
    well_formed(&svg);
    assert_eq!((count(&svg, "<polyline"), count(&svg, ">data<")), (3, 0));
    assert_eq!(count(&svg, "<circle"), 50 + 2);

    let svg = PredictedAgainstTrue { points: points.clone(), ..Default::default() }.draw(Theme::Light);
    well_formed(&svg);
    assert_eq!((count(&svg, "<circle"), count(&svg, "stroke-dasharray")), (50, 1));

    let marks: Vec<PlotPoint> = points.iter().map(|p| point(p.0, p.1, 0)).collect();
    let svg = Scatter { points: marks.clone(), ..Default::default() }.draw(Theme::Light);
    well_formed(&svg);
    assert_eq!(count(&svg, "<circle"), 50);
    let many: Vec<PlotPoint> = (0..2500).map(|k| point(f64::from(k), 0.0, 0)).collect();
    let svg = Scatter { points: many, labels: vec!["one".to_owned(); 30], ..Default::default() }.draw(Theme::Light);
    well_formed(&svg);
    assert!(svg.contains("r=\"2.2\"") && svg.contains("and 13 more"));
    for empty in [
        RegressionCurve::default().draw(Theme::Light),
        Scatter::default().draw(Theme::Light),
        PredictedAgainstTrue::default().draw(Theme::Light),
    ] {
        well_formed(&empty);
    }
}

#[test]
fn a_reliability_diagram_has_every_group_with_its_interval_and_a_histogram() {
    let share = |p: f64| Share { predicted: p, observed: p, low: p - 0.05, high: p + 0.05 };
    let figure = ReliabilityDiagram {
        title: "p & <q>".to_owned(),
        x_label: "predicted".to_owned(),
        y_label: "observed".to_owned(),
        shares: vec![share(0.1), share(0.5), share(0.9), share(f64::NAN)],
        predictions: vec![0.0, 1.0, 0.53, 0.54, f64::NAN],
        note: None,
    };
    let svg = figure.draw(Theme::Light);
    well_formed(&svg);
    // three dots and one in the legend; three bars, of which one is twice as high
    assert_eq!(count(&svg, "<circle"), 4);
    let bars = svg.lines().find(|l| l.starts_with("<path")).expect("a histogram");
    assert_eq!(count(bars, "M"), 3);
    assert_eq!(count(&svg, "<polyline"), 1);
    assert_eq!(svg, figure.draw(Theme::Light));
    well_formed(&ReliabilityDiagram::default().draw(Theme::Light));
}

#[test]
fn a_heat_map_prints_its_numbers() {
    let names = |n: usize| (0..n).map(|k| format!("class <{k}>")).collect::<Vec<_>>();
    let mut heat = Heat {
        title: "Confusion".to_owned(),
        row_ticks: names(2),
        column_ticks: names(3),
        values: vec![1.0, -2.5, 30.0, f64::NAN, 4.0, f64::INFINITY],
        decimals: 1,
        mark: Some((1, 1)),
        ..Default::default()
    };
    let svg = heat.draw(Theme::Light);
    well_formed(&svg);
    for text in [">1.0<", ">−2.5<", ">30.0<", ">4.0<", "class &lt;2&gt;"] {
        assert!(svg.contains(text), "{text}");
    }
    assert_eq!((count(&svg, ">–<"), count(&svg, "stroke-width=\"3\"")), (2, 1));
    heat.mark = Some((7, 0));
    assert_eq!(count(&heat.draw(Theme::Light), "stroke-width=\"3\""), 0);
    heat.values = vec![2.0; 6];
    well_formed(&heat.draw(Theme::Light));
    heat.values.truncate(4);
    well_formed(&heat.draw(Theme::Light));
    well_formed(&Heat::default().draw(Theme::Light));
    let grid =
        Heat { row_ticks: names(100), column_ticks: names(100), values: vec![0.5; 10_000], ..Default::default() };
    well_formed(&grid.draw(Theme::Light));
}

/// One of each figure, by name.
fn all(theme: Theme) -> Vec<(&'static str, String)> {
    let title = || "κ(x, y) = ⟨φ(x), φ(y)⟩, γ ≈ 0.5".to_owned();
    let line = |name: &str| Line { name: name.to_owned(), points: vec![(0.0, 0.0), (0.2, 0.7), (1.0, 1.0)] };
    let at = |size: usize| ScoreAt { size, mean: 1.0 / size as f64, deviation: 0.1 };
    let heat = Heat {
        title: title(),
        row_ticks: vec!["a".to_owned(), "b".to_owned()],
        column_ticks: vec!["c".to_owned()],
        values: vec![1.0, f64::NAN],
        mark: Some((0, 0)),
        ..Heat::default()
    };
    let matrix = MatrixImage {
        title: title(),
        label: "examples".to_owned(),
        cells: 3,
        values: vec![1.0, 0.5, 0.0, 0.5, 1.0, f64::NAN, 0.0, 0.1, 1.0],
        groups: vec![("a & b".to_owned(), 2), ("c".to_owned(), 1)],
        note: None,
    };
    let share = Share { predicted: 0.4, observed: 0.5, low: 0.3, high: 0.6 };
    let learning = LearningFigure {
        title: title(),
        y_label: "error".to_owned(),
        curves: vec![("held out".to_owned(), vec![at(10), at(20), at(40)]), ("training".to_owned(), vec![at(10)])],
        note: None,
    };
    let scores = vec![(0.5, 0.1), (0.4, 0.1)];
    let curve = RegressionCurve { title: title(), curves: vec![line("fitted")], ..Default::default() };
    let names = vec!["1".to_owned(), "2".to_owned()];
    vec![
        ("surface", surface(&["no", "yes"], |x, y| x + 0.5 * y).draw(theme)),
        ("regions", surface(&["a", "b", "c"], |x, _| x).draw(theme)),
        ("curve", curve.draw(theme)),
        (
            "predicted",
            PredictedAgainstTrue { title: title(), points: vec![(0.0, 1.0)], ..Default::default() }.draw(theme),
        ),
        ("scatter", Scatter { title: title(), points: vec![point(0.0, 1.0, 3)], ..Default::default() }.draw(theme)),
        ("heat", heat.draw(theme)),
        ("profile", ScoreProfile { title: title(), names, scores, mark: Some(0), ..Default::default() }.draw(theme)),
        ("spectrum", SpectrumFigure { title: title(), values: vec![3.0, 1.0, 1e-3], note: None }.draw(theme)),
        ("matrix", matrix.draw(theme)),
        ("roc", RocFigure { title: title(), curves: vec![line("b (0.75)")], note: None }.draw(theme)),
        ("learning", learning.draw(theme)),
        (
            "reliability",
            ReliabilityDiagram { title: title(), shares: vec![share], predictions: vec![0.4], ..Default::default() }
                .draw(theme),
        ),
    ]
}

#[test]
fn a_dark_figure_is_the_light_one_in_other_colours() {
    let plain = |svg: &str| -> String {
        let mut text = String::new();
        // colours and the pixels of images are all that may differ; marks on dark paper have other outlines
        for part in svg.split('"') {
            let colour = part.starts_with('#') || part.starts_with("data:");
            text.push_str(if colour { "*" } else { part });
        }
        text
    };
    for ((name, light), (_, dark)) in all(Theme::Light).into_iter().zip(all(Theme::Dark)) {
        well_formed(&light);
        well_formed(&dark);
        if !["surface", "regions"].contains(&name) {
            assert_eq!(plain(&light), plain(&dark), "{name}");
        }
        for (svg, paper, ink, other) in
            [(&light, "#fff", "#1f2328", "#e6edf3"), (&dark, "#12161c", "#e6edf3", "\"#1f2328")]
        {
            assert!(svg.contains(&format!("height=\"560\" fill=\"{paper}\"")) || name == "reliability", "{name}");
            assert!(svg.contains(ink) && !svg.contains(other) || name == "heat", "{name}: {ink}");
        }
    }
}

#[test]
fn words_and_marks_stand_out_from_their_paper() {
    // (L1 + 0.05) / (L2 + 0.05) of the Web Content Accessibility Guidelines
    let contrast = |a: f64, b: f64| (a.max(b) + 0.05) / (a.min(b) + 0.05);
    let parse = |hex: &str| {
        let part = |k: usize| u8::from_str_radix(&hex[k..k + 2], 16).unwrap();
        super::theme::Rgb(part(1), part(3), part(5)).luminance()
    };
    for (name, theme) in Theme::WORDS {
        let paper = theme.paper().luminance();
        assert!(contrast(parse(theme.ink()), paper) >= 7.0 && contrast(parse(theme.soft()), paper) >= 4.5, "{name}");
        for code in 0..8 {
            // yellow and the like have a darker edge on white
            let mark = theme.colour(code);
            let seen = contrast(mark.luminance(), paper).max(contrast(theme.outline(mark).luminance(), paper));
            assert!(seen >= 2.0, "{name} {code}: {seen}");
            assert!(theme == Theme::Light || contrast(mark.luminance(), paper) >= 4.5, "{name} {code}");
        }
        // the ramp leads away from the paper, step by step
        let steps: Vec<f64> = (0..=20).map(|k| theme.sequential(f64::from(k) / 20.0).luminance()).collect();
        let away = |l: f64| (l - paper).abs();
        assert!(steps.windows(2).all(|w| away(w[1]) > away(w[0])), "{name} {steps:?}");
    }
}

#[test]
fn a_matrix_has_its_image_its_groups_and_a_bar() {
    let svg = all(Theme::Light).into_iter().find(|(name, _)| *name == "matrix").unwrap().1;
    assert_eq!(count(&svg, "<image"), 1);
    assert_eq!(count(&svg, "data:image/png;base64,iVBORw0KGgo"), 1);
    assert_eq!((count(&svg, ">a &amp; b<"), count(&svg, ">c<")), (2, 2));
    // a large one is small: 240 × 240 different values
    let values: Vec<f64> = (0..240 * 240).map(|k| f64::from(k * 7919 % 10_007)).collect();
    let large = MatrixImage { cells: 240, values, ..MatrixImage::default() }.draw(Theme::Light);
    assert!(large.len() < 120_000, "{}", large.len());
    for cells in [0, 5] {
        well_formed(&MatrixImage { cells, values: vec![1.0; 4], ..MatrixImage::default() }.draw(Theme::Dark));
    }
}

#[test]
fn roc_and_learning_curves_draw_every_curve_and_its_name() {
    let line = |k: usize| Line { name: format!("class {k}"), points: vec![(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)] };
    let svg = RocFigure { title: String::new(), curves: (0..20).map(line).collect(), note: None }.draw(Theme::Light);
    well_formed(&svg);
    assert_eq!((count(&svg, "<polyline"), count(&svg, ">and 3 more<"), count(&svg, ">chance<")), (20, 1, 1));
    let svg = all(Theme::Light).into_iter().find(|(name, _)| *name == "learning").unwrap().1;
    // three dots and one; a line of three points, none of one
    assert_eq!((count(&svg, "<circle"), count(&svg, "<polyline"), count(&svg, "<polygon")), (4, 1, 2));
    for (word, times) in [(">held out<", 1), (">training<", 1), (">± s.d.<", 2), (">training examples<", 1)] {
        assert_eq!(count(&svg, word), times, "{word}");
    }
    well_formed(&LearningFigure::default().draw(Theme::Dark));
    well_formed(&RocFigure::default().draw(Theme::Dark));
}

#[test]
fn powers_of_ten_are_spelled_as_numbers() {
    let ticks = |lo: f64, hi: f64| {
        let svg = SpectrumFigure { values: vec![hi, lo], ..Default::default() }.draw(Theme::Light);
        ["1e−12", "0.001", "0.5", "1", "2", "1000", "1e8"].map(|t| count(&svg, &format!("end\">{t}<"))).to_vec()
    };
    assert_eq!(ticks(0.4, 3.0), [0, 0, 1, 1, 1, 0, 0]);
    assert_eq!(ticks(1e-3, 1e3), [0, 1, 0, 1, 0, 1, 0]);
    assert_eq!(ticks(1e-6, 1e8)[6], 1);
}

#[test]
fn every_figure_has_pixels_in_both_themes() {
    for (_, theme) in Theme::WORDS {
        for (name, svg) in all(theme) {
            let file = mercer_raster::png(&svg).unwrap();
            let picture = resvg::tiny_skia::Pixmap::decode_png(&file).unwrap();
            let height = if name == "reliability" { 1320 } else { 1120 };
            let width = if name == "predicted" { 1080 } else { 1440 };
            assert_eq!((picture.width(), picture.height()), (width, height), "{name}");
            let paper = theme.paper();
            let is_paper = |p: &resvg::tiny_skia::PremultipliedColorU8| {
                (p.red(), p.green(), p.blue(), p.alpha()) == (paper.0, paper.1, paper.2, 255)
            };
            assert!(is_paper(&picture.pixels()[0]), "{name}");
            let drawn = picture.pixels().iter().filter(|p| !is_paper(p)).count();
            assert!(drawn > 3000, "{name}: {drawn}");
            // the title is there, in letters: ink in the band where it stands
            let title = picture.pixels()[1440 * 30..1440 * 66].iter().filter(|p| !is_paper(p)).count();
            assert!(title > 500, "{name}: {title}");
        }
    }
}
