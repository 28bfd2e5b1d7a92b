//! The catalogue is complete and tells everything: every kernel and machine that has an entry is listed, under one name,
//! with its formula, its source and its parameters.

#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::bounds;
use mercer::kernels;
use mercer::machines;
use mercer::params::{Described, Setting, assign, describe};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The files of a folder and below that declare an entry, by module name.
fn declared(folder: &str) -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<String>) {
        for item in std::fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let stem = path.file_stem().unwrap().to_str().unwrap();
                let parent = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
                let module = if stem == "mod" { parent } else { stem };
                found.extend(text.matches("static ENTRY:").map(|_| module.to_owned()));
            }
        }
    }
    let mut found = Vec::new();
    walk(&source().join(folder), &mut found);
    found.sort();
    found
}

/// The modules that the list of a folder names: `&gaussian::ENTRY`.
fn listed(folder: &str) -> Vec<String> {
    let text = std::fs::read_to_string(source().join(folder).join("mod.rs")).unwrap();
    let list = &text[text.find("static ENTRIES").unwrap_or_else(|| panic!("{folder} has no list"))..];
    let list = &list[..list.find("];").unwrap()];
    let mut names: Vec<String> = list
        .match_indices("::ENTRY")
        .map(|(at, _)| list[..at].rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn no_entry_of_a_folder_is_missing_from_its_list() {
    let mut count = 0;
    for (folder, entries) in [
        ("kernels/radial", kernels::radial::ENTRIES.len()),
        ("kernels/inner", kernels::inner::ENTRIES.len()),
        ("kernels/coordinatewise", kernels::coordinatewise::ENTRIES.len()),
        ("kernels/text", kernels::text::ENTRIES.len()),
        ("machines/classify", machines::classify::ENTRIES.len()),
        ("machines/regress", machines::regress::ENTRIES.len()),
        ("machines/reduce", machines::reduce::ENTRIES.len()),
        ("machines/detect", machines::detect::ENTRIES.len()),
        ("machines/cluster", machines::cluster::ENTRIES.len()),
        ("machines/baseline", machines::baseline::ENTRIES.len()),
    ] {
        assert_eq!(declared(folder), listed(folder), "{folder}: the files with an entry, and the list");
        assert_eq!(entries, listed(folder).len(), "{folder}");
        count += entries;
    }
    assert!(count >= 15, "{count}");
}

#[test]
fn no_entry_of_any_other_place_is_missing_from_the_whole() {
    assert_eq!(declared("kernels").len(), kernels::all().count());
    assert_eq!(declared("machines").len(), machines::all().count());
}

#[test]
fn every_folder_of_machines_and_kernels_is_part_of_the_whole() {
    for (top, sum) in [("kernels", kernels::all().count()), ("machines", machines::all().count())] {
        let mut lists = 0;
        for item in std::fs::read_dir(source().join(top)).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() && std::fs::read_to_string(path.join("mod.rs")).is_ok_and(|t| t.contains("static ENTRIES"))
            {
                lists += listed(&format!("{top}/{}", path.file_name().unwrap().to_str().unwrap())).len();
            }
        }
        let own = std::fs::read_to_string(source().join(top).join("mod.rs")).unwrap();
        let loose = if own.contains("static ENTRIES") { listed(top).len() } else { 0 };
        assert_eq!(lists + loose, sum, "{top}");
    }
}

#[test]
fn a_family_is_a_folder() {
    for (family, entries) in machines::families() {
        assert_eq!(listed(&format!("machines/{family}")).len(), entries.len(), "{family}");
        assert!(entries.iter().all(|entry| machines::family(entry) == family), "{family}");
    }
}

#[test]
fn every_name_and_alias_means_one_thing() {
    let mut seen = HashSet::new();
    for entry in kernels::all() {
        for name in std::iter::once(&entry.name).chain(entry.aliases) {
            assert!(seen.insert(*name), "two kernels are called {name}");
            assert!(std::ptr::eq(kernels::find(name).unwrap(), entry));
        }
    }
    // words of formulas that are no kernels
    for word in ["normalise", "normalize", "centre", "center", "exp", "scale", "median"] {
        assert!(!seen.contains(word), "{word} is a word of formulas");
    }
    let mut seen = HashSet::new();
    for entry in machines::all() {
        for name in std::iter::once(&entry.name).chain(entry.aliases) {
            assert!(seen.insert(*name), "two machines are called {name}");
            assert!(std::ptr::eq(machines::find(name).unwrap(), entry));
        }
    }
    assert!(kernels::find("no such").is_none() && machines::find("no such").is_none());
    // what `mercer help` and the module of Python are asked for
    let mut seen = HashSet::new();
    for name in bounds::all().map(|b| b.name).chain(bounds::theorems().map(|t| t.name)) {
        assert!(seen.insert(name), "two bounds or theorems are called {name}");
        assert!(machines::find(name).is_none() && kernels::find(name).is_none(), "{name} is something else, too");
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn tells(name: &str, parts: &[(&str, &str)]) {
    assert!(is_name(name), "{name} could not be typed in a formula or a flag");
    for (what, text) in parts {
        assert!(text.trim().chars().count() >= 2, "{name} has no {what}");
        assert_eq!(text.trim(), *text, "{name}: {what}");
    }
}

#[test]
fn every_entry_tells_its_formula_its_source_and_its_use() {
    for e in kernels::all() {
        let parts = [
            ("formula", e.formula),
            ("use", e.use_when),
            ("cost", e.cost),
            ("place", e.source.place),
            ("work", e.source.work.title),
        ];
        tells(e.name, &parts);
        assert!(e.aliases.iter().all(|a| is_name(a)), "{}", e.name);
    }
    for e in machines::all() {
        let parts = [
            ("formula", e.formula),
            ("use", e.use_when),
            ("cost", e.cost),
            ("place", e.source.place),
            ("summary", e.summary),
        ];
        tells(e.name, &parts);
        assert!(e.source.work.year > 1900 && !e.source.work.authors.is_empty());
    }
    for t in bounds::theorems() {
        let parts = [("formula", t.formula), ("use", t.use_when), ("place", t.source.place), ("summary", t.summary)];
        tells(t.name, &parts);
        for input in t.inputs {
            assert!(is_name(input.name) && input.help.len() > 5, "{}: {}", t.name, input.name);
        }
        assert!(t.source.work.year > 1900 && !t.inputs.is_empty(), "{}", t.name);
    }
}

#[test]
fn every_entry_makes_itself() {
    for entry in kernels::all() {
        let made = (entry.make)();
        assert!(std::ptr::eq(made.entry(), entry), "{} makes {}", entry.name, made.entry().name);
        assert!(std::ptr::eq(made.boxed().entry(), entry));
    }
    for entry in machines::all() {
        let made = (entry.make)();
        assert!(std::ptr::eq(made.entry(), entry), "{} makes {}", entry.name, made.entry().name);
    }
}

/// The parameters of one owner: named, helped, and with defaults that their own rules allow.
fn parameters_are_sound(
    owner: &str,
    described: &[Described],
    settings: &[(&str, Setting)],
    mut take: impl FnMut(&str, &Setting) -> bool,
) {
    let mut seen = HashSet::new();
    for d in described {
        assert!(is_name(d.name) && seen.insert(d.name), "{owner}: {}", d.name);
        assert!(d.help.trim().chars().count() >= 4, "{owner}: {} has no help", d.name);
        match d.spelling_of {
            Some(of) => {
                assert!(described.iter().any(|o| o.name == of && o.spelling_of.is_none()), "{owner}: {}", d.name);
            }
            None => assert!(settings.iter().any(|(name, _)| *name == d.name), "{owner}: {} is not printed", d.name),
        }
    }
    for (name, value) in settings {
        assert!(take(name, value), "{owner}: the default {name} = {value} is against its own rule");
    }
}

#[test]
fn every_default_obeys_its_own_rule_and_every_parameter_has_help() {
    for entry in kernels::all() {
        let mut made = (entry.make)();
        let (described, settings) = (describe(made.as_mut()), made.settings());
        parameters_are_sound(entry.name, &described, &settings, |name, value| {
            assign(entry.name, made.as_mut(), name, value).is_ok()
        });
        assert_eq!(made.settings(), settings, "{}: assigning the defaults changes nothing", entry.name);
    }
    for entry in machines::all() {
        let mut made = (entry.make)();
        let (described, settings) = (describe(made.as_mut()), made.settings());
        parameters_are_sound(entry.name, &described, &settings, |name, value| {
            assign(entry.name, made.as_mut(), name, value).is_ok()
        });
        assert_eq!(made.settings(), settings, "{}: assigning the defaults changes nothing", entry.name);
    }
}
