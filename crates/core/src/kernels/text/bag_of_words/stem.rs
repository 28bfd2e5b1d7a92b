//! Stems of English words.
//!
//! Porter's algorithm in five steps. A word is C?(VC)ᵐV? in runs of vowels and consonants; rules take a suffix off where the
//! measure m of what is left is large enough. Of the suffixes of a step the longest that fits is tried, and no other.
//!
//! # Source
//! M. F. Porter, An Algorithm for Suffix Stripping, Program 14 (1980), as printed; only that words of one or two letters stay
//! as they are, as in its author's own programs.

/// The stem of a lower-case word. Words with other letters than a to z, and those of one or two letters, stay as they are.
pub(super) fn stem(word: &str) -> String {
    if word.len() <= 2 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut w = word.to_owned();
    plurals(&mut w);
    past(&mut w);
    if let Some(rest) = w.strip_suffix('y').filter(|rest| has_vowel(rest)) {
        w = format!("{rest}i");
    }
    for rules in [&DOUBLE[..], &SINGLE[..]] {
        replace(&mut w, rules);
    }
    strip(&mut w);
    last_letters(&mut w);
    w
}

/// True if each letter is a consonant: all but a, e, i, o, u, and y after a consonant.
fn consonants(word: &str) -> Vec<bool> {
    let mut all: Vec<bool> = Vec::with_capacity(word.len());
    for b in word.bytes() {
        let before = all.last().copied().unwrap_or(false);
        all.push(match b {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => !before,
            _ => true,
        });
    }
    all
}

/// m: how many times a consonant follows a vowel.
fn measure(word: &str) -> usize {
    consonants(word).windows(2).filter(|pair| !pair[0] && pair[1]).count()
}

fn has_vowel(word: &str) -> bool {
    consonants(word).contains(&false)
}

/// True if the last two letters are the same consonant.
fn is_doubled(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 2 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] && consonants(word).last() == Some(&true)
}

/// True if the word ends in consonant, vowel, consonant, the last of which is not w, x or y.
fn ends_short(word: &str) -> bool {
    consonants(word).ends_with(&[true, false, true]) && !word.ends_with(['w', 'x', 'y'])
}

/// Step 1a.
fn plurals(w: &mut String) {
    let cut =
        if w.ends_with("sses") || w.ends_with("ies") { 2 } else { usize::from(w.ends_with('s') && !w.ends_with("ss")) };
    w.truncate(w.len() - cut);
}

/// Step 1b.
fn past(w: &mut String) {
    if let Some(rest) = w.strip_suffix("eed") {
        if measure(rest) > 0 {
            w.pop();
        }
        return;
    }
    let Some(rest) = w.strip_suffix("ed").or_else(|| w.strip_suffix("ing")).filter(|rest| has_vowel(rest)) else {
        return;
    };
    let len = rest.len();
    w.truncate(len);
    if w.ends_with("at") || w.ends_with("bl") || w.ends_with("iz") {
        w.push('e');
    } else if is_doubled(w) && !w.ends_with(['l', 's', 'z']) {
        w.pop();
    } else if measure(w) == 1 && ends_short(w) {
        w.push('e');
    }
}

/// Step 2.
const DOUBLE: [(&str, &str); 20] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

/// Step 3.
const SINGLE: [(&str, &str); 7] =
    [("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];

/// Step 4.
const LAST: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
];

fn longest<'a>(word: &str, suffixes: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    suffixes.filter(|s| word.ends_with(s)).max_by_key(|s| s.len())
}

/// Steps 2 and 3: the longest suffix of the list becomes another where m > 0.
fn replace(w: &mut String, rules: &[(&str, &str)]) {
    let Some(suffix) = longest(w, rules.iter().map(|r| r.0)) else { return };
    let len = w.len() - suffix.len();
    if measure(&w[..len]) > 0 {
        w.truncate(len);
        w.push_str(rules.iter().find(|r| r.0 == suffix).map_or("", |r| r.1));
    }
}

/// Step 4: the longest suffix of the list goes where m > 1.
fn strip(w: &mut String) {
    let Some(suffix) = longest(w, LAST.into_iter()) else { return };
    let rest = &w[..w.len() - suffix.len()];
    if measure(rest) > 1 && (suffix != "ion" || rest.ends_with(['s', 't'])) {
        w.truncate(w.len() - suffix.len());
    }
}

/// Step 5.
fn last_letters(w: &mut String) {
    if let Some(rest) = w.strip_suffix('e') {
        let m = measure(rest);
        if m > 1 || (m == 1 && !ends_short(rest)) {
            w.pop();
        }
    }
    if w.ends_with("ll") && measure(w) > 1 {
        w.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_words() {
        // the examples that the paper gives for its rules, after all five steps
        let pairs = "caresses caress ponies poni ties ti caress caress cats cat feed feed agreed agre plastered plaster \
                     bled bled motoring motor sing sing conflated conflat troubled troubl sized size hopping hop \
                     tanned tan falling fall hissing hiss fizzed fizz failing fail filing file happy happi sky sky \
                     relational relat conditional condit rational ration valenci valenc hesitanci hesit digitizer digit \
                     conformabli conform radicalli radic differentli differ vileli vile analogousli analog \
                     vietnamization vietnam predication predic operator oper feudalism feudal decisiveness decis \
                     hopefulness hope callousness callous formaliti formal sensitiviti sensit sensibiliti sensibl \
                     triplicate triplic formative form formalize formal electriciti electr electrical electr \
                     hopeful hope goodness good revival reviv allowance allow inference infer airliner airlin \
                     gyroscopic gyroscop adjustable adjust defensible defens irritant irrit replacement replac \
                     adjustment adjust dependent depend adoption adopt homologou homolog communism commun \
                     activate activ angulariti angular homologous homolog effective effect bowdlerize bowdler \
                     probate probat rate rate cease ceas controll control roll roll generalizations gener \
                     oscillators oscil connection connect connections connect connective connect connected connect";
        let words: Vec<&str> = pairs.split_whitespace().collect();
        for pair in words.chunks(2) {
            assert_eq!(stem(pair[0]), pair[1], "{}", pair[0]);
        }
        for word in ["", "a", "is", "naïve", "x2", "straße"] {
            assert_eq!(stem(word), word);
        }
    }
}
