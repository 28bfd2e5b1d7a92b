//! Formulas: what is printed reads back, what is written two ways is one formula, and what is wrong is
//! told with its place.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::random_kernel;
use mercer::formula::*;
use mercer::kernels;
use mercer::params::Auto;
use proptest::prelude::*;

fn read(text: &str) -> Formula {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// A kernel of the catalogue with random parameters, built without reading any number.
fn leaf(which: usize, seed: u64) -> Formula {
    let all: Vec<_> = kernels::all().collect();
    let entry = all[which % all.len()];
    let mut formula = read(entry.name);
    for (name, value) in random_kernel(entry, 3, seed).settings() {
        assert!(formula.assign(name, &value).unwrap());
    }
    formula
}

fn a_view() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("x".to_owned()),
        Just("pixels.2".to_owned()),
        Just("größe".to_owned()),
        Just("with space".to_owned()),
        Just("a\"quote\\and slash".to_owned()),
        Just(String::new()),
        Just(".dot".to_owned()),
        "\\PC{1,6}",
    ]
}

fn a_number() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), Just(0.0), Just(1e-7), Just(1e17), 0.0..10.0, 1e-12..1e-3]
}

fn some_members() -> impl Strategy<Value = Members> {
    let separator = prop_oneof![Just("|".to_owned()), Just("\"\\ ".to_owned()), "\\PC{1,3}"];
    (prop::option::of(separator), 0_usize..4, any::<bool>()).prop_map(|(separator, columns, mean)| {
        let columns = if separator.is_none() { columns.max(1) } else { columns };
        Members { separator: separator.unwrap_or_default(), columns, mean }
    })
}

/// A set of what has members; the rest stays as it is.
fn in_a_set(inner: Formula, members: Members) -> Formula {
    let text = inner.to_string();
    let whole = ["centre", "noise", "precomputed"].iter().any(|name| text.contains(name));
    if whole { inner } else { inner.set(members) }
}

/// Formulas by the operators of Rust.
fn a_formula() -> impl Strategy<Value = Formula> {
    let kernel = (any::<prop::sample::Index>(), any::<u64>()).prop_map(|(i, seed)| leaf(i.index(1000), seed));
    let start = prop_oneof![
        8 => (kernel, prop::option::of(a_view())).prop_map(|(k, view)| match view {
            Some(view) => k.on(&view),
            None => k,
        }),
        1 => a_number().prop_map(Formula::constant),
    ];
    start.prop_recursive(6, 24, 3, |inner| {
        let gamma = prop_oneof![
            a_number().prop_map(|g| Auto::Value(g + 1e-9)),
            Just(Auto::Word("scale")),
            Just(Auto::Word("median"))
        ];
        prop_oneof![
            3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a + b),
            3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a * b),
            1 => (a_number(), inner.clone()).prop_map(|(c, a)| c * a),
            1 => (a_number(), inner.clone()).prop_map(|(c, a)| a * c),
            1 => (a_number(), inner.clone()).prop_map(|(c, a)| a + c),
            1 => (0_u32..4, inner.clone()).prop_map(|(n, a)| a.power(n)),
            1 => inner.clone().prop_map(Formula::exp),
            1 => inner.clone().prop_map(Formula::normalise),
            1 => inner.clone().prop_map(Formula::centre),
            1 => (inner.clone(), gamma).prop_map(|(a, g)| a.rbf(g)),
            1 => (inner.clone(), prop::collection::vec(a_number(), 0..5)).prop_map(|(a, c)| a.series(&c)),
            2 => (inner.clone(), some_members()).prop_map(|(a, members)| in_a_set(a, members)),
            1 => (inner, a_view()).prop_map(|(a, v)| a.on(&v)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_reads_back_as_the_same_formula(formula in a_formula()) {
        let text = formula.to_string();
        prop_assume!(!text.contains("inf")); // numbers that leave their range, by operators that cannot refuse
        let again = text.parse::<Formula>().unwrap_or_else(|e| panic!("{e}"));
        prop_assert_eq!(again.to_string(), text);
        prop_assert_eq!(again.definite(), formula.definite());
        prop_assert_eq!(again.views(), formula.views());
        prop_assert_eq!(again.needs_all_examples(), formula.needs_all_examples());
    }

    #[test]
    fn spaces_do_not_matter(formula in a_formula()) {
        let text = formula.to_string();
        if text.contains('"') || text.contains("inf") {
            return Ok(()); // spaces in quotes do matter
        }
        let airy: String = text.chars().map(|c| if "()+*^,=".contains(c) { format!(" {c}\t\n") } else { c.into() }).collect();
        prop_assert_eq!(airy.parse::<Formula>().unwrap_or_else(|e| panic!("{e}")).to_string(), text);
    }

    #[test]
    fn garbage_is_refused_at_a_place_within_the_text(text in "\\PC{0,40}") {
        if let Err(error) = text.parse::<Formula>() {
            prop_assert!(error.at <= text.chars().count());
            let place = format!("column {}:", error.at + 1);
            prop_assert!(error.to_string().contains(&place));
        }
    }

    #[test]
    fn a_damaged_formula_is_read_or_refused_but_never_panics(
        formula in a_formula(), place in any::<prop::sample::Index>(), patch in "[-+*^()@\",=\\[\\].0-9e/a-d ]{0,3}", cut in 0_usize..3,
    ) {
        let mut text: Vec<char> = formula.to_string().chars().collect();
        let at = place.index(text.len() + 1);
        let end = (at + cut).min(text.len());
        text.splice(at..end, patch.chars());
        let text: String = text.into_iter().collect();
        match text.parse::<Formula>() {
            Ok(read) => {
                let print = read.to_string();
                prop_assert_eq!(print.parse::<Formula>().unwrap_or_else(|e| panic!("{e}")).to_string(), print);
            }
            Err(error) => prop_assert!(error.at <= text.chars().count()),
        }
    }
}

#[test]
fn text_and_rust_give_the_same_formula() {
    let written = [
        (
            "rbf(gamma=0.5)@pixels * spectrum(length=3)@title + 0.1*linear@pixels",
            rbf(0.5).on("pixels") * spectrum(3).on("title") + 0.1 * linear().on("pixels"),
        ),
        ("2*(linear + 1)^3", 2.0 * (linear() + 1.0).power(3)),
        ("normalise(subsequence(length=4, decay=0.5))", subsequence(4, 0.5).normalise()),
        ("rbf(centre(distance(beta=1)), gamma=2) * chi2", distance(1.0).centre().rbf(2.0) * chi2()),
        ("exp(0.5*polynomial(degree=2, offset=1)@\"my view\")", (0.5 * polynomial(2, 1.0).on("my view")).exp()),
        ("(ard(lengths=[1, 2]) + noise(variance=0.1))@x", (ard(&[1.0, 2.0]) + noise(0.1)).on("x")),
        (
            "matern(nu=0.5, length=2) * laplacian(gamma=3) * sigmoid(gamma=1, offset=-1)",
            matern(0.5, 2.0) * laplacian(3.0) * sigmoid(1.0, -1.0),
        ),
        ("series(rbf(gamma=1), coefficients=[1, 0.5, 0, 2])", rbf(1.0).series(&[1.0, 0.5, 0.0, 2.0])),
        ("direct_sum(rbf(1)@a, spectrum(3)@b)", rbf(1.0).on("a").direct_sum(spectrum(3).on("b"))),
        ("tensor_product(rbf(1)@a, spectrum(3)@b)", rbf(1.0).on("a").tensor_product(spectrum(3).on("b"))),
        ("set(spectrum(3)@tags, separator=\"|\")", spectrum(3).set(Members::strings("|")).on("tags")),
        ("set(rbf(2), columns=3, mean=true)", rbf(2.0).set(Members::vectors(3).mean())),
        ("rbf + precomputed@k", rbf_scaled() + precomputed().on("k")),
    ];
    for (text, rust) in written {
        assert_eq!(read(text), rust);
        assert_eq!(read(text).to_string(), rust.to_string());
    }
}

#[test]
fn one_formula_has_one_print() {
    let canonical = [
        ("gaussian(0.5)", "rbf(gamma=0.5)"),
        ("rbf(sigma=2)", "rbf(gamma=0.125)"),
        ("rbf(width=4)", "rbf(gamma=0.25)"),
        ("rbf", "rbf(gamma=scale)"),
        ("rbf( 1/d )", "rbf(gamma=1/d)"),
        ("rbf(gamma=median)", "rbf(gamma=median)"),
        ("poly(2)", "polynomial(degree=2, gamma=1, offset=1)"),
        ("poly(2, 1/d, offset=0)", "polynomial(degree=2, gamma=1/d, offset=0)"),
        ("matern(2.5, 3)", "matern(nu=2.5, length=3)"),
        ("matern(length=3)", "matern(nu=1.5, length=3)"),
        ("ard([1, 0.5,2e0])", "ard(lengths=[1, 0.5, 2])"),
        ("ard(3)", "ard(lengths=[3])"),
        ("rank_one(sum)", "rank_one(f=sum, index=1)"),
        ("normalize(center(linear))", "normalise(centre(linear))"),
        ("2*3*linear", "6*linear"),
        ("2*linear*3*chi2", "6*linear * chi2"),
        ("1*linear", "linear"),
        ("(linear)", "linear"),
        ("((linear + chi2)) + linear", "linear + chi2 + linear"),
        ("1 + linear + 2", "linear + 3"),
        ("linear + (1 + chi2) + 0.5", "linear + chi2 + 1.5"),
        ("2^3*linear", "8*linear"),
        ("linear^1", "linear"),
        ("(2*linear)^2", "(2*linear)^2"),
        ("(linear^2)^3", "(linear^2)^3"),
        ("linear * (chi2 + 1)", "linear * (chi2 + 1)"),
        ("2 + 3", "5"),
        ("rbf(linear)", "rbf(linear, gamma=scale)"),
        ("gaussian(linear, 2)", "rbf(linear, gamma=2)"),
        ("rbf(2*linear, sigma=1)", "rbf(2*linear, gamma=0.5)"),
        ("rbf(.5*linear, 1)", "rbf(0.5*linear, gamma=1)"),
        ("rbf(2^2*linear, 1)", "rbf(4*linear, gamma=1)"),
        ("rbf((3), gamma=1)", "rbf((3), gamma=1)"),
        ("rbf(rbf(gamma=1), gamma=2)", "rbf(rbf(gamma=1), gamma=2)"),
        ("linear@\"x\"", "linear@x"),
        ("(linear + rbf(1)@y)@\"a b\"", "linear@\"a b\" + rbf(gamma=1)@y"),
        ("1e-7*linear", "1e-7*linear"),
        ("100000000000000000000*linear", "1e20*linear"),
        ("noise(0.5)@x", "noise(variance=0.5)"),
        ("direct_sum(linear@a, chi2@b, linear@c)", "linear@a + chi2@b + linear@c"),
        ("tensor_product(linear@a + 1, 2*chi2@b)", "2*(linear@a + 1) * chi2@b"),
        ("series(linear, [1, 2, 3])", "series(linear, coefficients=[1, 2, 3])"),
        ("series(linear + 1, coefficients=[1, 2, 0, 0])", "series(linear + 1, coefficients=[1, 2])"),
        ("series(linear, [0, 3])", "3*linear"),
        ("series(linear, [2])", "2"),
        ("series(2, [1, 1, 1])", "7"),
        ("set(linear, mean=false, columns=2)", "set(linear, columns=2)"),
        ("set(linear, mean=true, columns=2)@bag", "set(linear@bag, columns=2, mean=true)"),
        ("set(spectrum(2), separator=\", \")", "set(spectrum(length=2), separator=\", \")"),
        ("set(spectrum(2), separator=\"\\\"\\\\\")", "set(spectrum(length=2), separator=\"\\\"\\\\\")"),
        ("set(spectrum(2), separator=and)", "set(spectrum(length=2), separator=\"and\")"),
        (
            "set(set(spectrum(2), separator=\",\"), separator=\";\")",
            "set(set(spectrum(length=2), separator=\",\"), separator=\";\")",
        ),
        ("rbf(set(linear, columns=1))", "rbf(set(linear, columns=1), gamma=scale)"),
    ];
    for (text, print) in canonical {
        assert_eq!(read(text).to_string(), print, "{text}");
        assert_eq!(read(print).to_string(), print);
    }
    for entry in kernels::all() {
        for alias in entry.aliases {
            assert_eq!(read(alias), read(entry.name));
        }
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place_and_remedy() {
    let deep = format!("{}linear{}", "(".repeat(70), ")".repeat(70));
    let wrong = [
        ("", 1, "a kernel is missing here"),
        ("  ", 3, "a kernel is missing here"),
        ("linear + ", 10, "a kernel is missing here"),
        ("linear * * chi2", 10, "\"*\" cannot start a kernel; write a name, a number or a bracket"),
        ("linaer", 1, "there is no kernel called \"linaer\"; did you mean linear?"),
        ("2 * gausian(1)", 5, "there is no kernel called \"gausian\"; did you mean gaussian?"),
        ("normalice(linear)", 1, "there is no kernel called \"normalice\"; did you mean normalise?"),
        ("qqqqqq", 1, "there is no kernel called \"qqqqqq\"; `mercer list kernels` shows all"),
        ("rbf(gama=0.5)", 5, "rbf has no parameter gama; did you mean gamma?"),
        ("linear(gamma=1)", 8, "linear has no parameter gamma; it has none"),
        ("matern(1.5, wobble=1)", 13, "matern has no parameter wobble; it has nu, length"),
        ("rbf(gamma=-1)", 5, "rbf: gamma = -1 must be > 0"),
        ("rbf(gamma=1e999)", 5, "rbf: gamma = inf is not a finite number"),
        ("linear + distance(beta=3)", 19, "distance: beta = 3 must be > 0 and ≤ 2"),
        ("spectrum(length=2.5)", 10, "spectrum: length = 2.5 is not a whole number"),
        ("rbf(gamma=wide)", 5, "rbf: gamma = wide is not a number or one of scale, median, 1/d"),
        ("rank_one(f=length)", 10, "rank_one: f = length is not one of norm, sum, coordinate"),
        ("matern(1, 2, 3)", 14, "matern has 2 parameters, this is one more"),
        ("rbf(gamma=1, sigma=2)", 14, "sigma was given already"),
        ("matern(length=2, 1.5)", 18, "length was given already"),
        ("rbf(gamma=0.5", 4, "this bracket is never closed"),
        ("(linear + chi2", 1, "this bracket is never closed"),
        ("2 * exp(linear", 8, "this bracket is never closed"),
        ("(linear chi2)", 9, "\"c\" does not belong here; a closing bracket is missing"),
        ("rbf(gamma=1 2)", 13, "\"2\" does not belong here; a comma or a closing bracket is missing"),
        ("rbf(gamma=)", 11, "a value is missing: a number, a word or a list [1, 2]"),
        ("linear chi2", 8, "\"c\" does not belong here; +, * or ^ could follow, or the end"),
        ("linear)", 7, "\")\" does not belong here; +, * or ^ could follow, or the end"),
        ("-2*linear", 1, "a kernel times a negative number is not a kernel"),
        ("linear * -2", 10, "a kernel times a negative number is not a kernel"),
        ("rbf(1) - linear", 8, "a difference of kernels is not a kernel; use + and *"),
        ("1.2.3*linear", 1, "this is not a number"),
        ("1e999", 1, "this is not a number"),
        ("linear + 1e300*1e300*chi2", 10, "the numbers from here on are too large together"),
        ("(1e200)^2", 1, "the numbers from here on are too large together"),
        ("linear^0.5", 8, "a power of a kernel is a whole number from 1 to 64"),
        ("linear^65", 8, "a power of a kernel is a whole number from 1 to 64"),
        ("linear^-1", 8, "a power of a kernel is a whole number from 1 to 64"),
        ("linear^x", 8, "a power of a kernel is a whole number from 1 to 64"),
        ("ard([1, x])", 9, "a number is missing in the list"),
        ("ard([1 2])", 8, "a comma or ] is missing in the list"),
        ("ard([1, 2", 10, "a comma or ] is missing in the list"),
        ("ard([])", 5, "ard: lengths = [] is not a list of numbers such as [1, 0.5]"),
        ("ard([1, 0])", 5, "ard: lengths = 0 must be > 0"),
        ("normalise", 1, "normalise needs a kernel in brackets: normalise(…)"),
        ("linear@", 8, "the name of a view is missing after @"),
        ("linear@\"x", 8, "the name of the view is never closed by \""),
        ("rbf(linear, 1/d)", 13, "a kernel on top of another has no d; give a number, scale or median"),
        ("größe", 1, "there is no kernel called \"gr\"; `mercer list kernels` shows all"),
        ("series(linear)", 1, "series needs its coefficients: series(κ, coefficients=[a0, a1, …])"),
        ("series(linear, [1, -2])", 16, "the coefficient -2 is negative, and a kernel times it is not a kernel"),
        ("series(linear, 2)", 16, "coefficients are a list [a0, a1, …] of the factors of 1, κ, κ², …"),
        ("series(linear, [])", 16, "a series has 1 to 65 coefficients"),
        ("series(linear, [1e999])", 16, "coefficients are finite numbers"),
        ("series(linear, factors=[1])", 16, "series has no parameter factors; it has coefficients"),
        ("series(linear, [1, 2], [1])", 24, "coefficients was given already"),
        ("series(1e300, [1, 1e300])", 1, "the numbers from here on are too large together"),
        ("series(linear, [1, 2]", 7, "this bracket is never closed"),
        ("set(linear)", 1, "set needs to know its members: separator=\"|\" for strings, columns=2 for vectors"),
        ("set(linear, 2)", 13, "name what is given: separator=\"|\", columns=2 or mean=true"),
        ("set(linear, columns=0)", 13, "set: columns = 0 must be ≥ 1"),
        ("set(linear, column=2)", 13, "set has no parameter column; did you mean columns?"),
        ("set(linear, columns=2, columns=3)", 24, "columns was given already"),
        ("set(spectrum, separator=\"\")", 15, "set: separator =  is not at least one character"),
        ("set(spectrum, separator=\"|)", 25, "this text is never closed by \""),
        ("set(linear + noise, columns=2)", 5, "noise belongs to whole examples; write set(…) + noise"),
        ("2*set(centre(linear), columns=2)", 7, "members have no centre of their own; write centre(set(…))"),
        ("set(precomputed, columns=2)", 5, "a precomputed matrix is between whole examples, not between members"),
        ("direct_sum(linear)", 1, "direct_sum joins at least two kernels: direct_sum(κ@a, κ@b)"),
        ("tensor_product(linear, )", 1, "tensor_product joins at least two kernels: tensor_product(κ@a, κ@b)"),
        ("tensor_product(linear, linaer)", 24, "there is no kernel called \"linaer\"; did you mean linear?"),
        (&deep, 65, "brackets are nested more than 64 deep"),
    ];
    for (text, column, finding) in wrong {
        let error = text.parse::<Formula>().err().unwrap_or_else(|| panic!("{text} was read"));
        assert_eq!((error.at + 1, error.finding.as_str()), (column, finding), "{text}");
        let told = format!("kernel formula, column {column}: {finding}\n  {text}\n  {}^", " ".repeat(column - 1));
        assert_eq!(error.to_string(), told);
    }
}

#[test]
fn nesting_beyond_reason_does_not_exhaust_the_stack() {
    for opening in ["(", "exp(", "rbf((", "normalise("] {
        let error = opening.repeat(100_000).parse::<Formula>().unwrap_err();
        assert_eq!(error.finding, "brackets are nested more than 64 deep");
    }
    assert!(format!("{}linear{}", "exp(".repeat(63), ")".repeat(63)).parse::<Formula>().is_ok());
}

/// A formula of a hundred kilobytes shows the place of its fault and not itself.
#[test]
fn an_error_shows_the_place_and_not_a_long_formula() {
    let long = format!("{}rbf(gamma=x){}", "linear + ".repeat(10_000), " + linear".repeat(10_000));
    let error = long.parse::<Formula>().unwrap_err().to_string();
    assert!(error.len() < 1000 && error.contains("rbf(gamma=x)"), "{} bytes: {error:.300}", error.len());
    let lines: Vec<Vec<char>> = error.lines().map(|line| line.chars().collect()).collect();
    let caret = lines[2].iter().position(|&c| c == '^').unwrap();
    let short = "rbf(gamma=x)".parse::<Formula>().unwrap_err().to_string();
    let short: Vec<Vec<char>> = short.lines().map(|line| line.chars().collect()).collect();
    let wanted = short[1][short[2].iter().position(|&c| c == '^').unwrap()];
    assert_eq!(lines[1][caret], wanted, "{error}");
    assert_eq!((lines[1][2], *lines[1].last().unwrap()), ('…', '…'));
}
