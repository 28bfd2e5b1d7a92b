//! Words of a text, with where they stand.

use super::stem::stem;

/// The words that are left out.
const ENGLISH: &str = "a about above after again against all also am an and any are as at be because been before being \
    below between both but by can could did do does doing down during each few for from further had has have having he \
    her here hers him his how i if in into is it its just me more most my no nor not now of off on once only or other our \
    ours out over own same she should so some such than that the their theirs them then there these they this those \
    through to too under until up very was we were what when where which while who whom why will with would you your \
    yours";

/// A term and the characters from the first of its words to the last.
pub(super) struct Term {
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) len: usize,
}

/// The rules by which a text becomes terms.
pub(super) struct Splitter {
    pub(super) ngram: usize,
    pub(super) stop: bool,
    pub(super) stems: bool,
}

impl Splitter {
    /// All terms: words are runs of letters and digits in lower case, terms are up to `ngram` words that follow each other,
    /// one blank between.
    pub(super) fn terms(&self, text: &str) -> Vec<Term> {
        let mut words = self.words(text);
        let mut longer = Vec::new();
        for count in 2..=self.ngram.min(words.len()) {
            longer.extend(words.windows(count).map(|group| {
                let (first, last) = (&group[0], &group[count - 1]);
                let text = group.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
                Term { text, start: first.start, len: last.start + last.len - first.start }
            }));
        }
        words.append(&mut longer);
        words
    }

    fn words(&self, text: &str) -> Vec<Term> {
        let (mut words, mut word, mut start) = (Vec::new(), String::new(), 0);
        for (at, c) in text.chars().chain([' ']).enumerate() {
            if c.is_alphanumeric() {
                if word.is_empty() {
                    start = at;
                }
                if c.is_ascii() {
                    word.push(c.to_ascii_lowercase());
                } else {
                    word.extend(c.to_lowercase());
                }
            } else if !word.is_empty() {
                let text = std::mem::take(&mut word);
                if self.stop && ENGLISH.split_ascii_whitespace().any(|w| w == text) {
                    continue;
                }
                words.push(Term { text: if self.stems { stem(&text) } else { text }, start, len: at - start });
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_their_places() {
        let show = |splitter: &Splitter, text: &str| {
            splitter.terms(text).iter().map(|t| format!("{}@{}+{}", t.text, t.start, t.len)).collect::<Vec<_>>()
        };
        let plain = Splitter { ngram: 1, stop: false, stems: false };
        assert_eq!(show(&plain, "Don't Übel 3x "), ["don@0+3", "t@4+1", "übel@6+4", "3x@11+2"]);
        let pairs = Splitter { ngram: 2, stop: true, stems: true };
        assert_eq!(show(&pairs, "The cats of Rome"), ["cat@4+4", "rome@12+4", "cat rome@4+12"]);
        assert!(show(&plain, " ,. ").is_empty() && show(&pairs, "").is_empty());
    }
}
