//! Every test of the experiments, in one executable: a file of this folder is a module, and has its line here.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests fail as tests do

mod learning_theory;
#[allow(dead_code)] // the tests of the command line need more of it
#[path = "../../cli/tests/common/place.rs"]
mod place;
mod reproduce;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_mercer-reproduce");

#[test]
fn every_file_of_this_folder_is_a_module() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let listed = include_str!("main.rs");
    for item in std::fs::read_dir(folder).unwrap() {
        let name = item.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".rs").filter(|name| *name != "main") else { continue };
        assert!(
            listed.contains(&format!("\nmod {name};\n")),
            "{name}.rs is never run: tests/main.rs lacks `mod {name};`"
        );
    }
}
