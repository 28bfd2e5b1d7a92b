//! Describing: what parameters there are, for help pages, catalogues and forms.

use super::{Auto, AutoList, Choice, Params, Rule, Setting, TextCheck, Visit};

/// One parameter, as a help page shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Its name in formulas and in Rust; flags write `-` for `_`.
    pub name: &'static str,
    /// "number", "count", "switch", "word", "text" or "numbers".
    pub kind: &'static str,
    /// The default, printed.
    pub default: String,
    /// The words it may be, besides numbers.
    pub words: Vec<&'static str>,
    /// Words of earlier times that are still read.
    pub former: Vec<&'static str>,
    /// The range of its values, printed.
    pub rule: String,
    /// The range of its numbers; `None` for what is no number.
    pub range: Option<Rule>,
    /// One line.
    pub help: &'static str,
    /// The parameter that this is only another spelling of.
    pub spelling_of: Option<&'static str>,
}

/// Describes every parameter, in the order of declaration.
pub fn describe(params: &mut dyn Params) -> Vec<Described> {
    let mut describer = Describer(Vec::new());
    params.visit(&mut describer);
    describer.0
}

struct Describer(Vec<Described>);

impl Describer {
    fn push(&mut self, name: &'static str, kind: &'static str, default: String, rule: String, help: &'static str) {
        let (words, former) = (Vec::new(), Vec::new());
        self.0.push(Described { name, kind, default, words, former, rule, range: None, help, spelling_of: None });
    }

    /// The range of the numbers of the parameter that was just described.
    fn within(&mut self, range: Rule) {
        if let Some(last) = self.0.last_mut() {
            last.range = Some(range);
        }
    }
}

impl Visit for Describer {
    fn real(&mut self, name: &'static str, value: &mut f64, rule: Rule, help: &'static str) {
        self.push(name, "number", Setting::Number(*value).to_string(), rule.to_string(), help);
        self.within(rule);
    }
    fn count(&mut self, name: &'static str, value: &mut usize, rule: Rule, help: &'static str) {
        self.push(name, "count", value.to_string(), rule.to_string(), help);
        self.within(rule);
    }
    fn switch(&mut self, name: &'static str, value: &mut bool, help: &'static str) {
        self.push(name, "switch", value.to_string(), "true or false".into(), help);
    }
    fn choice(&mut self, name: &'static str, value: &mut dyn Choice, help: &'static str) {
        let options = value.options();
        let former = value.former().iter().map(|(word, position)| format!("; {word} means {}", options[*position]));
        let rule = options.join(", ") + &former.collect::<String>();
        self.push(name, "word", options[value.get()].into(), rule, help);
        if let Some(last) = self.0.last_mut() {
            last.words = options.to_vec();
            last.former = value.former().iter().map(|(word, _)| *word).collect();
        }
    }
    fn text(&mut self, name: &'static str, value: &mut String, _: TextCheck, help: &'static str) {
        self.push(name, "text", value.clone(), "text".into(), help);
    }
    fn reals(&mut self, name: &'static str, value: &mut Vec<f64>, rule: Rule, help: &'static str) {
        self.push(name, "numbers", Setting::Numbers(value.clone()).to_string(), rule.to_string(), help);
        self.within(rule);
    }
    fn auto(
        &mut self,
        name: &'static str,
        value: &mut Auto,
        words: &'static [&'static str],
        rule: Rule,
        help: &'static str,
    ) {
        let default = match *value {
            Auto::Value(v) => Setting::Number(v).to_string(),
            Auto::Word(w) => w.to_owned(),
        };
        self.push(name, "number", default, format!("{rule}, or {}", words.join(", ")), help);
        self.within(rule);
        if let Some(last) = self.0.last_mut() {
            last.words = words.to_vec();
        }
    }
    fn autos(
        &mut self,
        name: &'static str,
        value: &mut AutoList,
        words: &'static [&'static str],
        rule: Rule,
        help: &'static str,
    ) {
        let default = match value {
            AutoList::Values(v) => super::settings::listed(v).to_string(),
            AutoList::Word(w) => (*w).to_owned(),
        };
        self.push(name, "number", default, format!("{rule}, a list of such, or {}", words.join(", ")), help);
        self.within(rule);
        if let Some(last) = self.0.last_mut() {
            last.words = words.to_vec();
        }
    }
    fn spelling(&mut self, name: &'static str, of: &'static str, _: &mut Auto, _: fn(f64) -> f64, help: &'static str) {
        self.push(name, "number", String::new(), Rule::Above(0.0).to_string(), help);
        self.within(Rule::Above(0.0));
        if let Some(last) = self.0.last_mut() {
            last.spelling_of = Some(of);
        }
    }
}
