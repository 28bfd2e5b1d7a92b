//! Speeds in README are those that the benchmarks have written.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

/// A median with the smallest and the largest round, as text: `1.14 (1.09–1.20)`, or `1.14 | 1.09–1.20` in a table with a column of each.
type Spread = [String; 3];

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

fn spreads(text: &str) -> Vec<Spread> {
    let chars: Vec<char> = text.chars().collect();
    let before = |end: usize| -> String {
        let reversed: String = chars[..end].iter().rev().take_while(|c| is_digit(**c)).collect();
        reversed.chars().rev().collect()
    };
    let dashes = (0..chars.len()).filter(|&at| chars[at] == '–');
    let found = dashes.filter_map(|dash| {
        let (low, high) = (before(dash), chars[dash + 1..].iter().take_while(|c| is_digit(**c)).collect::<String>());
        let mut end = dash - low.len();
        let mut opened = false;
        while end > 0 && [' ', '(', '|'].contains(&chars[end - 1]) {
            opened |= chars[end - 1] != ' ';
            end -= 1;
        }
        let median = before(end);
        let whole = opened && ![&low, &high, &median].iter().any(|number| number.is_empty());
        whole.then_some([median, low, high])
    });
    found.collect()
}

/// True if each number is that of the results, rounded to the digits it has.
fn rounded(told: &Spread, measured: &Spread) -> bool {
    told.iter().zip(measured).all(|(told, measured)| {
        let digits = told.split_once('.').map_or(0, |(_, after)| after.len() as i32);
        let difference = told.parse::<f64>().unwrap() - measured.parse::<f64>().unwrap();
        difference.abs() <= 0.5 * 10.0_f64.powi(-digits) + 1e-9
    })
}

#[test]
fn speeds_in_the_readme_stand_in_the_results_of_the_benchmarks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let section = readme.split("\n## ").find(|section| section.starts_with("Speed")).unwrap();
    let files = std::fs::read_dir(root.join("bench/results")).unwrap().map(|file| file.unwrap().path());
    let texts = files.filter(|path| path.extension().is_some_and(|e| e == "md"));
    let measured: Vec<Spread> = texts.flat_map(|path| spreads(&std::fs::read_to_string(path).unwrap())).collect();
    let told = spreads(section);
    assert!(told.len() > 40, "{}", told.len());
    for told in told {
        let [median, low, high] = &told;
        assert!(
            measured.iter().any(|m| rounded(&told, m)),
            "{median} ({low}–{high}) stands in no file of bench/results"
        );
    }
    assert!(!rounded(&["1.1".into(), "1".into(), "2".into()], &["1.16".into(), "1".into(), "2".into()]));
}
