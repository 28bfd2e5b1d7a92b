//! The examples of CONTRIBUTING.md are the source: each block of code stands, as it is shown, in the file named before it.

use std::path::Path;

/// Blocks of Rust with the last file that was named before each.
fn blocks(text: &str) -> Vec<(String, String)> {
    let (mut file, mut block, mut found) = (String::new(), None::<String>, Vec::new());
    for line in text.lines() {
        match &mut block {
            Some(so_far) if line == "```" => {
                found.push((file.clone(), std::mem::take(so_far)));
                block = None;
            }
            Some(so_far) => *so_far += &format!("{line}\n"),
            None if line == "```rust" => block = Some(String::new()),
            None => {
                let named = line.split('`').rfind(|w| w.starts_with("crates/") && w.strip_suffix(".rs").is_some());
                file = named.map_or(file, str::to_owned);
            }
        }
    }
    found
}

/// The first part of a block that a source lacks, if any: lines `// …` stand for what is left out, and parts keep their order.
fn lacks<'a>(source: &str, block: &'a str) -> Option<&'a str> {
    let mut rest = source;
    block.split("// …\n").find(|part| match rest.find(part.trim_matches('\n')) {
        Some(at) => {
            rest = &rest[at + part.trim_matches('\n').len()..];
            false
        }
        None => true,
    })
}

#[test]
fn every_example_is_the_source_of_the_file_it_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let blocks = blocks(&std::fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap());
    assert!(blocks.len() >= 5, "a kernel, a machine, a bound, a kind of data and a format: {} blocks", blocks.len());
    for (file, block) in blocks {
        let source = std::fs::read_to_string(root.join(&file)).unwrap_or_else(|e| panic!("\"{file}\": {e}"));
        if let Some(part) = lacks(&source, &block) {
            panic!("CONTRIBUTING.md shows what is not in {file}; show its present lines instead of:\n{part}");
        }
    }
}

#[test]
fn changed_missing_and_misplaced_lines_are_found() {
    let source = "fn a() {}\n\nfn b() {}\n\nfn c() {}\n";
    assert_eq!(lacks(source, "fn a() {}\n\n// …\nfn c() {}\n"), None);
    assert_eq!(lacks(source, "fn a() {}\n\nfn c() {}\n"), Some("fn a() {}\n\nfn c() {}\n"));
    assert_eq!(lacks(source, "fn c() {}\n// …\nfn a() {}\n"), Some("fn a() {}\n"));
    let text = "see `crates/x.rs` and `crates/y.rs`:\n\n```rust\nfn a() {}\n```\n```diff\n+ b\n```\n";
    assert_eq!(blocks(text), [("crates/y.rs".to_owned(), "fn a() {}\n".to_owned())]);
}
