//! Assigning: setting a parameter by name, with its rule and a good error.

use super::{Auto, AutoList, Choice, ParamError, Params, Rule, Setting, TextCheck, Visit};

/// Sets the parameter `name` of `owner` (a kernel or machine, named in errors).
pub fn assign(owner: &str, params: &mut dyn Params, name: &str, value: &Setting) -> Result<(), ParamError> {
    let mut assigner = Assigner { owner, name, value, outcome: None, seen: Vec::new() };
    params.visit(&mut assigner);
    match assigner.outcome {
        Some(outcome) => outcome,
        None => {
            let remedy = match nearest(name, assigner.seen.iter().copied()) {
                Some(close) => format!("did you mean {close}?"),
                None if assigner.seen.is_empty() => "it has none".to_owned(),
                None => format!("it has {}", assigner.seen.join(", ")),
            };
            Err(ParamError::Unknown { owner: owner.to_owned(), name: name.to_owned(), remedy })
        }
    }
}

/// The name nearest to a mistyped one, if one is near enough to be meant.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase().replace('-', "_");
    let limit = typed.chars().count().div_ceil(3).max(1);
    names
        .into_iter()
        // as many letters have to be added or taken away
        .filter(|name| typed.chars().count().abs_diff(name.chars().count()) <= limit)
        .map(|name| (edits(&typed, &name.to_lowercase().replace('-', "_")), name))
        // a name with nothing in common is not what was meant, however short it is
        .filter(|&(distance, name)| distance <= limit && distance < typed.chars().count().max(name.chars().count()))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// Levenshtein's distance, with a swap of neighbours as one edit.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = usize::from(a[i - 1] != b[j - 1]);
                let mut best = (table[i - 1][j] + 1).min(table[i][j - 1] + 1).min(table[i - 1][j - 1] + change);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len()][b.len()]
}

struct Assigner<'a> {
    owner: &'a str,
    name: &'a str,
    value: &'a Setting,
    outcome: Option<Result<(), ParamError>>,
    seen: Vec<&'static str>,
}

impl Assigner<'_> {
    fn is_meant(&mut self, name: &'static str) -> bool {
        self.seen.push(name);
        name == self.name && self.outcome.is_none()
    }

    fn wrong_kind<T>(&self, wanted: impl Into<String>) -> Result<T, ParamError> {
        Err(ParamError::Kind {
            owner: self.owner.to_owned(),
            name: self.name.to_owned(),
            got: self.value.to_string(),
            wanted: wanted.into(),
        })
    }

    fn number(&self, rule: Rule) -> Result<f64, ParamError> {
        match *self.value {
            Setting::Number(x) if rule.allows(x) => Ok(x),
            Setting::Word(ref w) if w == "inf" && rule.allows(f64::INFINITY) => Ok(f64::INFINITY),
            Setting::Number(got) if !got.is_finite() => self.wrong_kind("a finite number"),
            Setting::Number(got) => {
                Err(ParamError::Range { owner: self.owner.to_owned(), name: self.name.to_owned(), got, rule })
            }
            _ => self.wrong_kind("a number"),
        }
    }

    fn numbers(&self, rule: Rule) -> Result<Vec<f64>, ParamError> {
        let given = match self.value {
            Setting::Numbers(xs) if !xs.is_empty() => xs.clone(),
            Setting::Number(x) => vec![*x],
            _ => return self.wrong_kind("a list of numbers such as [1, 0.5]"),
        };
        match given.iter().find(|&&x| !rule.allows(x)) {
            Some(&got) => {
                Err(ParamError::Range { owner: self.owner.to_owned(), name: self.name.to_owned(), got, rule })
            }
            None => Ok(given),
        }
    }
}

impl Visit for Assigner<'_> {
    fn real(&mut self, name: &'static str, value: &mut f64, rule: Rule, _: &'static str) {
        if self.is_meant(name) {
            self.outcome = Some(self.number(rule).map(|x| *value = x));
        }
    }
    fn count(&mut self, name: &'static str, value: &mut usize, rule: Rule, _: &'static str) {
        if self.is_meant(name) {
            self.outcome = Some(match self.number(rule) {
                Ok(x) if x.fract() == 0.0 && (0.0..9e15).contains(&x) => {
                    *value = x as usize;
                    Ok(())
                }
                Ok(_) => self.wrong_kind("a whole number"),
                Err(e) => Err(e),
            });
        }
    }
    fn switch(&mut self, name: &'static str, value: &mut bool, _: &'static str) {
        if self.is_meant(name) {
            self.outcome = Some(match self.value {
                Setting::Switch(b) => {
                    *value = *b;
                    Ok(())
                }
                Setting::Word(w) if ["true", "yes", "on"].contains(&w.as_str()) => {
                    *value = true;
                    Ok(())
                }
                Setting::Word(w) if ["false", "no", "off"].contains(&w.as_str()) => {
                    *value = false;
                    Ok(())
                }
                _ => self.wrong_kind("true or false"),
            });
        }
    }
    fn choice(&mut self, name: &'static str, value: &mut dyn Choice, _: &'static str) {
        if self.is_meant(name) {
            let options = value.options();
            let typed = self.value.to_string();
            let former = || value.former().iter().find(|(word, _)| *word == typed).map(|(_, position)| *position);
            self.outcome = Some(match options.iter().position(|&o| o == typed).or_else(former) {
                Some(position) => {
                    value.set(position);
                    Ok(())
                }
                None => self.wrong_kind(format!("one of {}", options.join(", "))),
            });
        }
    }
    fn text(&mut self, name: &'static str, value: &mut String, check: TextCheck, _: &'static str) {
        if self.is_meant(name) {
            let typed = self.value.to_string();
            self.outcome = Some(match check(&typed) {
                Ok(()) => {
                    *value = typed;
                    Ok(())
                }
                Err(wanted) => self.wrong_kind(wanted),
            });
        }
    }
    fn reals(&mut self, name: &'static str, value: &mut Vec<f64>, rule: Rule, _: &'static str) {
        if self.is_meant(name) {
            self.outcome = Some(self.numbers(rule).map(|xs| *value = xs));
        }
    }
    fn auto(
        &mut self,
        name: &'static str,
        value: &mut Auto,
        words: &'static [&'static str],
        rule: Rule,
        _: &'static str,
    ) {
        if self.is_meant(name) {
            self.outcome = Some(match self.value {
                Setting::Word(w) => match words.iter().find(|&&known| known == w) {
                    Some(known) => {
                        *value = Auto::Word(known);
                        Ok(())
                    }
                    None => self.wrong_kind(format!("a number or one of {}", words.join(", "))),
                },
                _ => self.number(rule).map(|x| *value = Auto::Value(x)),
            });
        }
    }
    fn autos(
        &mut self,
        name: &'static str,
        value: &mut AutoList,
        words: &'static [&'static str],
        rule: Rule,
        _: &'static str,
    ) {
        if self.is_meant(name) {
            self.outcome = Some(match self.value {
                Setting::Word(w) => match words.iter().find(|&&known| known == w) {
                    Some(known) => {
                        *value = AutoList::Word(known);
                        Ok(())
                    }
                    None => self.wrong_kind(format!("a number, a list of numbers or one of {}", words.join(", "))),
                },
                Setting::Numbers(_) => self.numbers(rule).map(|xs| *value = AutoList::Values(xs)),
                _ => self.number(rule).map(|x| *value = x.into()),
            });
        }
    }
    fn spelling(
        &mut self,
        name: &'static str,
        _: &'static str,
        value: &mut Auto,
        convert: fn(f64) -> f64,
        _: &'static str,
    ) {
        if self.is_meant(name) {
            self.outcome = Some(self.number(Rule::Above(0.0)).and_then(|x| {
                let converted = convert(x);
                if converted.is_finite() && converted > 0.0 {
                    *value = Auto::Value(converted);
                    Ok(())
                } else {
                    self.wrong_kind("within the range of numbers")
                }
            }));
        }
    }
}
