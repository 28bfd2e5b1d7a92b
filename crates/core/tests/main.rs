//! Every test of the library from outside, in one executable: a file of this folder is a module, and has its line here.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests fail as tests do

mod algebra;
mod by_name;
mod calibration;
mod candidate_priors;
mod catalogue;
mod certificates;
mod certificates_of_facts;
mod certificates_of_squares;
mod certificates_on_average;
mod choices;
mod claims;
#[cfg(feature = "parquet")]
mod columns;
mod conformal;
mod conformal_full;
mod conformal_kept;
mod contributing;
mod cross_validated_certificates;
mod discriminants;
mod facts_of_kernels;
mod formulas;
mod formulas_on_data;
mod golden;
mod golden_comparisons;
mod golden_support_vectors;
mod identities_of_learning;
mod jobs;
mod judge;
mod laws_of_consistency;
mod laws_of_derivatives;
mod laws_of_gradients;
mod laws_of_grams;
mod laws_of_held_out;
mod laws_of_kernels;
mod laws_of_machines;

mod laws_of_scales;
mod laws_of_sides;
mod laws_of_theory;
mod layers;
mod libsvm_models;
mod limits;
mod linear_machines;
mod missing_entries;
mod model_file;
mod nystrom;
mod order_of_examples;
mod origins;
mod outputs;
mod preparation_sets;
mod readers;
mod regions;
mod saved_fixtures;
mod saved_models;
mod scores_of_support_vectors;
mod selection;
mod shifted_columns;
mod speeds;
mod strings;
mod support;
mod support_vector_edges;
mod support_vector_identities;
mod support_vector_invariance;
mod support_vector_stopping;
mod support_vectors;

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
