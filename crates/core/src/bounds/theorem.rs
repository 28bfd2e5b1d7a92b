//! Theorems as functions of numbers: for those that have the numbers and no model of this toolkit, by name from the command line
//! and from Python.
//!
//! A theorem stands in the file of its family, beside the function that computes it. It declares its inputs with their rules, and an
//! example with its value, which the help shows and a test computes.

use super::{compression, covering, margin, posteriors, rademacher, test_set, vote};
use crate::params::{Rule, nearest};
use crate::sources::Source;

/// A theorem as a function of numbers.
pub struct Theorem {
    /// The name on all surfaces.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The formula.
    pub formula: &'static str,
    /// The work it is taken from.
    pub source: Source,
    /// One sentence on when it helps.
    pub use_when: &'static str,
    /// The numbers that it takes.
    pub inputs: &'static [Input],
    /// Inputs with their values as they are written, and the value of the theorem.
    pub example: (&'static [(&'static str, &'static str)], f64),
    /// Why no world has these inputs together, where that is so; each obeys its own rule.
    pub possible: fn(&Given) -> Result<(), String>,
    /// The value; the inputs obey their rules, and are possible together.
    pub value: fn(&Given) -> f64,
}

/// Inputs that go together whatever they are.
pub(super) const ALWAYS: fn(&Given) -> Result<(), String> = |_| Ok(());

/// A number, or a list of numbers, that a theorem takes.
pub struct Input {
    /// The name on all surfaces.
    pub name: &'static str,
    /// Its meaning, in a line.
    pub help: &'static str,
    /// The rule that each number must obey.
    pub rule: Rule,
    /// The value where none is given.
    pub default: Option<f64>,
    /// True if it is a list.
    pub list: bool,
    /// True if it counts something.
    pub whole: bool,
}

impl Input {
    /// A number that must be given.
    pub const fn number(name: &'static str, rule: Rule, help: &'static str) -> Self {
        Self { name, help, rule, default: None, list: false, whole: false }
    }

    /// A number of things, at least so many, that must be given.
    pub const fn count(name: &'static str, least: f64, help: &'static str) -> Self {
        Self { whole: true, ..Self::number(name, Rule::AtLeast(least), help) }
    }

    /// A list of at least one number.
    pub const fn list(name: &'static str, rule: Rule, help: &'static str) -> Self {
        Self { list: true, ..Self::number(name, rule, help) }
    }

    /// True if a number may stand here.
    fn allows(&self, number: f64) -> bool {
        self.rule.allows(number) && !(self.whole && number.fract() != 0.0)
    }

    /// The numbers that may stand here, in words.
    pub fn allowed(&self) -> String {
        if self.whole { format!("a whole number {}", self.rule) } else { self.rule.to_string() }
    }
}

/// A share or a probability.
pub(super) const SHARE: Rule = Rule::Between(0.0, 1.0);
/// A quantity that cannot be negative.
pub(super) const AMOUNT: Rule = Rule::AtLeast(0.0);
/// m.
pub(super) const EXAMPLES: Input = Input::count("examples", 1.0, "number m of training examples");
/// R̂.
pub(super) const TRAINING_ERROR: Input = Input::number("training_error", SHARE, "share of training errors");
/// KL(Q ‖ P).
pub(super) const DIVERGENCE: Input =
    Input::number("divergence", AMOUNT, "divergence KL of the posterior from the prior, in nats");
/// δ.
pub(super) const DELTA: Input = Input {
    name: "delta",
    help: "probability δ with which the statement may fail",
    rule: Rule::Inside(0.0, 1.0),
    default: Some(0.05),
    list: false,
    whole: false,
};

/// The values of the inputs of a theorem, in their order.
pub struct Given(Vec<Vec<f64>>);

impl Given {
    /// The number of an input by its place.
    pub fn number(&self, place: usize) -> f64 {
        self.0.get(place).and_then(|v| v.first()).copied().unwrap_or(f64::NAN)
    }

    /// The numbers of an input by its place.
    pub fn list(&self, place: usize) -> &[f64] {
        self.0.get(place).map_or(&[], Vec::as_slice)
    }

    /// ln(1/δ) of the δ at a place.
    pub fn nats(&self, place: usize) -> f64 {
        -self.number(place).ln()
    }
}

/// The theorems by family, which is the name of their file.
pub static THEOREMS: &[(&str, &[Theorem])] = &[
    ("vote", vote::THEOREMS),
    ("posteriors", posteriors::THEOREMS),
    ("compression", compression::THEOREMS),
    ("covering", covering::THEOREMS),
    ("margin", margin::THEOREMS),
    ("rademacher", rademacher::THEOREMS),
    ("test_set", test_set::THEOREMS),
];

/// All theorems, by family.
pub fn theorems() -> impl Iterator<Item = &'static Theorem> {
    THEOREMS.iter().flat_map(|(_, theorems)| *theorems)
}

/// The theorem of a name.
///
/// # Errors
/// With the nearest name, if there is none.
pub fn theorem(name: &str) -> Result<&'static Theorem, String> {
    theorems().find(|t| t.name == name).ok_or_else(|| {
        let remedy = nearest(name, theorems().map(|t| t.name))
            .map_or_else(|| "`mercer list theorems` shows all".to_owned(), |close| format!("did you mean {close}?"));
        format!("there is no theorem {name}; {remedy}")
    })
}

impl Theorem {
    /// The value for inputs by name.
    ///
    /// # Errors
    /// If an input is unknown, missing, given twice, not one number where one is wanted, or outside its rule; if lists that belong
    /// together differ in length.
    pub fn of(&self, given: &[(String, Vec<f64>)]) -> Result<f64, String> {
        for (place, (name, _)) in given.iter().enumerate() {
            if !self.inputs.iter().any(|i| i.name == name) {
                let remedy = nearest(name, self.inputs.iter().map(|i| i.name)).map_or_else(
                    || format!("it takes {}", self.inputs.iter().map(|i| i.name).collect::<Vec<_>>().join(", ")),
                    |close| format!("did you mean {close}?"),
                );
                return Err(format!("{}: there is no input {name}; {remedy}", self.name));
            }
            if given[..place].iter().any(|(before, _)| before == name) {
                return Err(format!("{}: {name} is given twice; give it once", self.name));
            }
        }
        let mut values = Vec::with_capacity(self.inputs.len());
        let mut length = None;
        for input in self.inputs {
            let value = match (given.iter().find(|(name, _)| name == input.name), input.default) {
                (Some((_, value)), _) => value.clone(),
                (None, Some(default)) => vec![default],
                (None, None) => return Err(format!("{}: {} is missing: {}", self.name, input.name, input.help)),
            };
            let one = if input.list { "at least one number" } else { "one number" };
            if value.is_empty() || (!input.list && value.len() > 1) {
                return Err(format!("{}: {} has {} numbers; give {one}", self.name, input.name, value.len()));
            }
            if let Some(wrong) = value.iter().find(|v| !input.allows(**v)) {
                return Err(format!("{}: {} = {wrong} must be {}", self.name, input.name, input.allowed()));
            }
            if input.list && length.replace(value.len()).is_some_and(|before| before != value.len()) {
                return Err(format!(
                    "{}: {} has {} numbers, and the list before it another number of them; give lists of one length",
                    self.name,
                    input.name,
                    value.len()
                ));
            }
            values.push(value);
        }
        let given = Given(values);
        (self.possible)(&given).map_err(|why| format!("{}: {why}", self.name))?;
        Ok((self.value)(&given))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(pairs: &[(&str, &str)]) -> Vec<(String, Vec<f64>)> {
        let numbers = |text: &str| text.split(',').map(|n| n.parse().unwrap()).collect();
        pairs.iter().map(|(name, text)| ((*name).to_owned(), numbers(text))).collect()
    }

    #[test]
    fn every_example_has_its_value() {
        for theorem in theorems() {
            let (pairs, wanted) = theorem.example;
            let got = theorem.of(&parsed(pairs)).unwrap();
            assert!((got - wanted).abs() <= 1e-9 * wanted.abs().max(1e-3), "{}: {got}, wanted {wanted}", theorem.name);
            assert!(pairs.iter().all(|(name, _)| theorem.inputs.iter().any(|i| i.name == *name)), "{}", theorem.name);
        }
        assert!(theorems().count() >= 15);
    }

    #[test]
    fn what_is_wrong_with_inputs_is_told_with_its_remedy() {
        let c_bound = theorem("c_bound").unwrap();
        for (pairs, told) in [
            (&[("gibbs", "0.2")][..], "disagreement is missing"),
            (&[("gibbs", "0.2"), ("disagrement", "0.3")], "did you mean disagreement?"),
            (&[("gibbs", "0.2"), ("gibbs", "0.2")], "given twice"),
            (&[("gibbs", "0.2,0.3"), ("disagreement", "0.3")], "give one number"),
            (&[("gibbs", "1.2"), ("disagreement", "0.3")], "gibbs = 1.2 must be between 0 and 1"),
            (&[("gibbs", "NaN"), ("disagreement", "0.3")], "must be between 0 and 1"),
        ] {
            let error = c_bound.of(&parsed(pairs)).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
        // two that err with probability 0.1 cannot differ half of the time
        let error = c_bound.of(&parsed(&[("gibbs", "0.1"), ("disagreement", "0.49")])).unwrap_err();
        assert!(error.contains("0.18 at most") && error.contains("lower bound"), "{error}");
        assert!(c_bound.of(&parsed(&[("gibbs", "0.1"), ("disagreement", "0.18")])).is_ok());
        let lists = theorem("subset_posterior").unwrap();
        let error = lists.of(&parsed(&[("errors", "0.1,0.2"), ("priors", "0.5"), ("examples", "100")])).unwrap_err();
        assert!(error.contains("one length"), "{error}");
        assert!(theorem("c_bond").err().unwrap().contains("did you mean c_bound?"));
    }

    #[test]
    fn what_no_world_has_together_is_refused() {
        for (name, pairs, told) in [
            ("subset_posterior", &[("errors", "0.05,0.06"), ("priors", "0.9,0.9"), ("examples", "100")][..], "1.8"),
            (
                "gaussian_process_divergence",
                &[
                    ("trace", "0"),
                    ("quadratic", "0"),
                    ("inputs", "5"),
                    ("ln_det_prior", "0"),
                    ("ln_det_posterior", "0"),
                ],
                "no two Gaussians",
            ),
            ("gibbs_to_vote", &[("gibbs", "0.1"), ("classes", "2.5")], "a whole number ≥ 2"),
            ("covering_bound", &[("log2_cover", "1"), ("examples", "10.5")], "a whole number ≥ 1"),
            (
                "fat_shattering_cover",
                &[("gamma", "1"), ("length", "0.1"), ("dimension", "1"), ("examples", "10")],
                "γ/4 on both sides",
            ),
            ("local_rademacher", &[("eigenvalues", "1,1,1"), ("radius", "1"), ("examples", "2")], "2 of them"),
            ("compression_with_bits", &[("examples", "10"), ("size", "11"), ("bits", "0")], "of the 10 examples"),
        ] {
            let error = theorem(name).unwrap().of(&parsed(pairs)).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }

    /// Values of an input from one end of its rule to the other.
    fn probes(input: &Input) -> Vec<f64> {
        let all = [-3.0, -1e-9, 0.0, 1e-9, 0.05, 0.3, 0.5, 0.9, 1.0, 1.5, 2.0, 3.0, 7.0, 1e3, 1e6];
        all.into_iter().filter(|v| input.allows(*v)).collect()
    }

    #[test]
    fn whatever_is_given_no_value_is_negative_or_none() {
        let mut random = crate::seed::Seed(3).stream("inputs");
        for theorem in theorems() {
            let mut values = 0;
            for _ in 0..4000 {
                let length = 1 + random.below(3);
                let given = theorem.inputs.iter().map(|input| {
                    let probes = probes(input);
                    let count = if input.list { length } else { 1 };
                    (input.name.to_owned(), (0..count).map(|_| probes[random.below(probes.len())]).collect())
                });
                let given: Vec<(String, Vec<f64>)> = given.collect();
                if let Ok(value) = theorem.of(&given) {
                    values += 1;
                    assert!(value >= 0.0, "{}: {value} of {given:?}", theorem.name);
                }
            }
            assert!(values > 100, "{}: {values}", theorem.name);
        }
    }

    #[test]
    fn bounds_rise_with_confidence() {
        for theorem in theorems().filter(|t| t.inputs.iter().any(|i| i.name == DELTA.name)) {
            let mut given = parsed(theorem.example.0);
            given.retain(|(name, _)| name != DELTA.name);
            let mut at = |delta: f64| {
                given.push((DELTA.name.to_owned(), vec![delta]));
                let value = theorem.of(&given).unwrap();
                given.pop();
                value
            };
            let (sure, less) = (at(0.001), at(0.2));
            assert!(sure > less, "{}: {sure} at 0.001, {less} at 0.2", theorem.name);
        }
    }
}
