//! Class weights in words: `none`, `balanced`, or `label:weight,label:weight`.

use super::FitError;
use crate::data::{Classes, places_of_labels};

/// Weights of classes: factors of the weights of their examples.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassWeight {
    /// All alike.
    None,
    /// n / (k · n_c): every class counts as much as every other, however many examples it has.
    Balanced,
    /// As given; a class that is not named counts 1.
    Given(Vec<(String, f64)>),
}

/// Refuses classes whose examples all weigh nothing: nothing would be learned of them, and nothing predicted.
///
/// # Errors
/// If there is one.
pub(super) fn refuse_weightless(machine: &'static str, classes: &Classes, weights: &[f64]) -> Result<(), FitError> {
    let mut weighs = vec![false; classes.labels.len()];
    classes.codes.iter().zip(weights).for_each(|(&code, &w)| weighs[code as usize] |= w > 0.0);
    match weighs.iter().position(|weighs| !weighs) {
        None => Ok(()),
        Some(class) => {
            let finding =
                format!("no example of class {} has a weight above zero; leave the class out", classes.labels[class]);
            Err(FitError::Param { machine, finding })
        }
    }
}

impl ClassWeight {
    /// The word for classes that are weighed by their numbers.
    pub const BALANCED: &'static str = "balanced";

    /// Reads the words; the error says what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "none" => return Ok(Self::None),
            Self::BALANCED => return Ok(Self::Balanced),
            _ => {}
        }
        let pair = |part: &str| {
            // a label may have a colon of its own
            let (label, weight) = part.rsplit_once(':')?;
            let weight: f64 = weight.trim().parse().ok()?;
            let fits = weight > 0.0 && weight.is_finite() && !label.trim().is_empty();
            fits.then(|| (label.trim().to_owned(), weight))
        };
        let pairs: Option<Vec<(String, f64)>> = text.split(',').map(pair).collect();
        let pairs = pairs.ok_or("none, balanced or label:weight,label:weight with weights above zero")?;
        match pairs.iter().enumerate().find(|(i, (label, _))| pairs[..*i].iter().any(|(l, _)| l == label)) {
            Some((_, (label, _))) => Err(format!("one weight for each label; {label} has two")),
            None => Ok(Self::Given(pairs)),
        }
    }

    /// The rule of the parameter.
    pub fn check(text: &str) -> Result<(), String> {
        Self::parse(text).map(|_| ())
    }

    /// True if errors of some class count more than those of another.
    pub(super) fn weighs(text: &str) -> bool {
        match Self::parse(text) {
            Ok(Self::Given(pairs)) => pairs.iter().any(|(_, weight)| *weight != 1.0),
            Ok(Self::Balanced) => true,
            Ok(Self::None) | Err(_) => false,
        }
    }

    /// The weight of each example: the factor of its class times its own weight, one where there is none.
    pub(super) fn of_examples(
        machine: &'static str,
        text: &str,
        classes: &Classes,
        own: Option<&[f64]>,
    ) -> Result<Vec<f64>, FitError> {
        // what has no weight is not there, and belongs to no class that is to be balanced
        let counted = |(i, _): &(usize, &u32)| own.is_none_or(|w| w[*i] > 0.0);
        let codes = classes.codes.iter().enumerate().filter(counted).map(|(_, &code)| code).collect();
        let factors = Self::factors(machine, text, &Classes { labels: classes.labels.clone(), codes })?;
        let weight = |(i, &code): (usize, &u32)| factors[code as usize] * own.map_or(1.0, |w| w[i]);
        let weights: Vec<f64> = classes.codes.iter().enumerate().map(weight).collect();
        refuse_weightless(machine, classes, &weights)?;
        Ok(weights)
    }

    /// The factor of each class, in the order of the labels.
    pub fn factors(machine: &'static str, text: &str, classes: &Classes) -> Result<Vec<f64>, FitError> {
        let wrong = |finding: String| FitError::Param { machine, finding: format!("class_weight = {text}: {finding}") };
        let k = classes.labels.len();
        match Self::parse(text).map_err(|wanted| wrong(format!("it must be {wanted}")))? {
            Self::None => Ok(vec![1.0; k]),
            Self::Balanced => {
                let mut counts = vec![0_usize; k];
                classes.codes.iter().for_each(|&c| counts[c as usize] += 1);
                let n = classes.codes.len() as f64;
                Ok(counts.into_iter().map(|count| n / (k as f64 * count.max(1) as f64)).collect())
            }
            Self::Given(pairs) => {
                let mut factors = vec![1.0; k];
                let labels: Vec<&str> = pairs.iter().map(|(label, _)| label.as_str()).collect();
                let places = places_of_labels(&classes.labels, &labels);
                for (i, (label, weight)) in pairs.iter().enumerate() {
                    let Some(place) = places[i] else {
                        let known = classes.labels.iter().take(10).map(String::as_str).collect::<Vec<_>>().join(", ");
                        let more = if k > 10 { ", …" } else { "" };
                        return Err(wrong(format!("there is no class {label}; the classes are {known}{more}")));
                    };
                    if places[..i].contains(&Some(place)) {
                        return Err(wrong(format!("one weight for each label; {label} has two")));
                    }
                    factors[place] = *weight;
                }
                Ok(factors)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> Classes {
        Classes { labels: vec!["-1".into(), "a:b".into(), "c".into()], codes: vec![0, 0, 0, 1, 2, 2] }
    }

    #[test]
    fn words_give_factors() {
        let factors = |text: &str| ClassWeight::factors("m", text, &classes()).unwrap();
        assert_eq!(factors("none"), [1.0, 1.0, 1.0]);
        // n / (k n_c) = 6/9, 6/3, 6/6
        assert_eq!(factors("balanced"), [2.0 / 3.0, 2.0, 1.0]);
        assert_eq!(factors("a:b:3, -1:0.5"), [0.5, 3.0, 1.0], "spaces are trimmed");
        let versions = Classes { labels: vec!["3.1".into(), "3.10".into(), "3.2rc".into()], codes: vec![0, 1, 2] };
        assert_eq!(ClassWeight::factors("m", "3.10:5", &versions).unwrap(), [1.0, 5.0, 1.0]);
        let ones = Classes { labels: vec!["-1".into(), "1".into()], codes: vec![0, 1] };
        assert_eq!(ClassWeight::factors("m", "1.0:5", &ones).unwrap(), [1.0, 5.0], "numbers among numbers");
    }

    #[test]
    fn examples_without_weight_belong_to_no_class_that_is_balanced() {
        let own = [1.0, 0.0, 3.0, 1.0, 1.0, 0.0];
        let weights = ClassWeight::of_examples("m", "balanced", &classes(), Some(&own)).unwrap();
        // 4/6, 4/3 and 4/3 of the four that count
        let wanted = [2.0 / 3.0, 0.0, 2.0, 4.0 / 3.0, 4.0 / 3.0, 0.0];
        assert!(weights.iter().zip(wanted).all(|(w, t)| (w - t).abs() < 1e-15), "{weights:?}");
    }

    #[test]
    fn what_is_wrong_is_said_with_what_would_be_right() {
        for text in ["", "c", "c:", "c:0", "c:-1", "c:inf", ":2", "c:1,,", "balance"] {
            let said = ClassWeight::check(text).unwrap_err();
            assert!(said.contains("balanced or label:weight"), "{text}: {said}");
        }
        assert!(ClassWeight::check("1.0:2,1.0:3").unwrap_err().contains("1.0 has two"));
        let ones = Classes { labels: vec!["-1".into(), "1".into()], codes: vec![0, 1] };
        let said = ClassWeight::factors("m", "1.0:2,01:3", &ones).unwrap_err().to_string();
        assert!(said.contains("01 has two"), "{said}");
        let said = ClassWeight::factors("m", "d:2", &classes()).unwrap_err().to_string();
        assert!(said.contains("no class d") && said.contains("-1, a:b, c"), "{said}");
    }
}
