//! The Rust half of the Python package: a few functions and one class, on which `python/mercer` builds its estimators.
//!
//! Data come in as named views ([`convert`]), work runs on threads of its own so that Ctrl-C and callbacks are answered
//! ([`run`]), and a [`model::Model`] is what comes out.

mod catalogue;
mod certify;
mod columns;
mod convert;
mod evidence;
mod explain;
mod fit;
mod geometry;
mod kernel;
mod model;
mod run;
mod search;
mod words;

use pyo3::prelude::*;

/// Functions and classes that `python/mercer` is built on; not for users.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::catalogue::{kernels, machines, theorem, theorems};
    #[pymodule_export]
    use super::certify::{certify, judge, plan};
    #[pymodule_export]
    use super::columns::{Prepared, file_columns, prepared};
    #[pymodule_export]
    use super::evidence::{alignment_test, hsic_test, mmd_test, spectral_stability};
    #[pymodule_export]
    use super::explain::{explain, kernel_with, usual_grid, usual_machine};
    #[pymodule_export]
    use super::fit::fit;
    #[pymodule_export]
    use super::geometry::{matrix_function, measure, moments_updated, rank_one_eigenvalues, repaired};
    #[pymodule_export]
    use super::kernel::{
        kernel_definite, kernel_features, kernel_has_words, kernel_learns, kernel_meets_gaps, kernel_reads_cells,
        kernel_resolved, kernel_text, kernel_views, matrix,
    };
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::run::break_down;
    #[pymodule_export]
    use super::search::{leave_one_out, trials};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::run::remember_home(module)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
