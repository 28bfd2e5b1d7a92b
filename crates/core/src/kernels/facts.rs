//! Facts about a kernel that follow from its parameters alone. Each kernel states its own in its own file; bounds, searches
//! and solvers ask for them, and never for the name of a kernel.

use std::cmp::Ordering;

/// Facts about a kernel with its parameters. The default claims nothing.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "facts are independent of each other, and each is known or not")]
pub struct KernelFacts {
    /// An interval that holds κ(x, x) for every x that could ever come; `None` where no such interval is known.
    pub self_similarity: Option<[f64; 2]>,
    /// True if κ(x, y) ≥ 0 is known for all x and y.
    pub never_negative: bool,
    /// True if values depend on the contents of examples. A kernel that compares places alone may stand on any view.
    pub looks_at_data: bool,
    /// True if κ(x, y) = ⟨x, y⟩, so that the explicit features of vectors are the vectors themselves.
    pub features_are_examples: bool,
    /// Parameters by which functions are smoother, and whether smaller (`Less`) or larger (`Greater`) values make them so.
    pub smoothed_by: &'static [(&'static str, Ordering)],
    /// The values that a search tries where no grid is given, in the language of grids; empty where there is nothing to choose.
    pub searched: &'static str,
    /// True if the kernel learns more than single numbers from its training examples: a vocabulary, an alphabet, a metric.
    pub learns: bool,
}

impl Default for KernelFacts {
    fn default() -> Self {
        Self {
            self_similarity: None,
            never_negative: false,
            looks_at_data: true,
            features_are_examples: false,
            smoothed_by: &[],
            searched: "",
            learns: false,
        }
    }
}

impl KernelFacts {
    /// The facts of a kernel with κ(x, x) = 1 and κ(x, y) ≥ 0.
    pub fn unit_and_never_negative() -> Self {
        Self { self_similarity: Some([1.0, 1.0]), never_negative: true, ..Self::default() }
    }

    /// The same with a parameter by which functions are smoother.
    #[must_use]
    pub fn smoothed_by(self, smoothed_by: &'static [(&'static str, Ordering)]) -> Self {
        Self { smoothed_by, ..self }
    }

    /// The same with the values that a search tries where no grid is given.
    #[must_use]
    pub fn searched(self, searched: &'static str) -> Self {
        Self { searched, ..self }
    }
}
