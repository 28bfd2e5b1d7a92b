//! Every test of the command line, in one executable: a file of this folder is a module, and has its line here.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests fail as tests do

mod algebra;
mod bad_data;
mod certificates;
mod claims;
mod clusters;
mod columns;
mod common;
mod companions;
mod comparisons;
mod conformal;
mod convert;
mod discriminants;
mod evidence;
mod explain;
mod fit;
mod formats;
mod gram;
mod help;
mod labels;
mod libsvm_models;
mod limits;
mod linear;
mod maps;
mod measure;
mod novelty;
mod onnx;
mod outputs;
mod pictures;
mod predict;
mod probabilities;
mod quickstart;
mod reading;
mod real_data;
mod real_tables;
mod reproduce;
mod select;
mod show_and_plot;
mod stopping;
mod target;
mod usage;
mod warnings;
mod weights;
mod writing;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_mercer");

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
