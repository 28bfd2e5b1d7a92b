//! The catalogue of functions of kernels: what turns kernels into another one, beside + and *.

use crate::sources::{HERBRICH, KMPA, Source, WILLIAMS_SEEGER};

/// A line of the catalogue of functions.
pub struct FunctionEntry {
    /// The name in formulas.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// Its form in a formula.
    pub written: &'static str,
    /// The kernel that it makes.
    pub formula: &'static str,
    /// The work it is taken from.
    pub source: Source,
    /// One sentence on when to use it.
    pub use_when: &'static str,
    /// A formula with it, and the flags it needs for data of two columns `x1` and `x2`.
    pub example: &'static str,
}

/// All functions.
pub static FUNCTIONS: &[FunctionEntry] = &[
    FunctionEntry {
        name: "normalise",
        aliases: &["normalize"],
        written: "normalise(k)",
        formula: "κ(x, z) / √(κ(x, x) κ(z, z))",
        source: Source::new(&HERBRICH, "(2.22)"),
        use_when: "lengths in feature space are an accident: long and short texts, bright and dark images",
        example: "'normalise(polynomial(degree=3))'",
    },
    FunctionEntry {
        name: "centre",
        aliases: &["center"],
        written: "centre(k)",
        formula: "⟨φ(x) − φ̄, φ(z) − φ̄⟩ with the mean φ̄ of the training examples",
        source: Source::new(&KMPA, "Algorithm 5.3"),
        use_when: "a machine sees the origin, and the kernel is conditionally definite or has a large constant part",
        example: "'centre(rbf(gamma=1))'",
    },
    FunctionEntry {
        name: "exp",
        aliases: &[],
        written: "exp(k)",
        formula: "exp κ(x, z)",
        source: Source::new(&KMPA, "Proposition 3.24"),
        use_when: "products of any number of features of k are wanted, at once",
        example: "'exp(0.1*linear)'",
    },
    FunctionEntry {
        name: "series",
        aliases: &[],
        written: "series(k, coefficients=[1, 0.5])",
        formula: "Σ_p a_p κ(x, z)ᵖ, from a_0 on, none negative",
        source: Source::new(&KMPA, "Proposition 3.24"),
        use_when: "powers of a kernel are to have weights of their own",
        example: "'series(linear, coefficients=[1, 0.5, 0.25])'",
    },
    FunctionEntry {
        name: "set",
        aliases: &[],
        written: "set(k, separator=\"|\") on strings, set(k, columns=2) on vectors, mean=true for the mean",
        formula: "Σ κ(a, b) over the members a of one set and b of the other, or the mean",
        source: Source::new(&KMPA, "chapter 9, kernels on sets"),
        use_when: "an example is a bag of members of any number",
        example: "'set(rbf(gamma=1), columns=1)'",
    },
    FunctionEntry {
        name: "nystrom",
        aliases: &[],
        written: "nystrom(k, points=500, choose=uniform), or choose=greedy or k_means",
        formula: "k(x)ᵀ K⁺ k(z) with κ between x and a few landmarks in k(x), and between landmarks in K",
        source: Source::new(&WILLIAMS_SEEGER, "(9)"),
        use_when: "there are too many examples for their matrix: few landmarks give every machine a matrix of low rank",
        example: "'nystrom(rbf(gamma=1), points=20)'",
    },
    FunctionEntry {
        name: "direct_sum",
        aliases: &[],
        written: "direct_sum(k1@a, k2@b)",
        formula: "κ₁(x₁, z₁) + κ₂(x₂, z₂) on pairs of views",
        source: Source::new(&KMPA, "Proposition 3.22"),
        use_when: "views are to add up, the features of both one after the other",
        example: "'direct_sum(rbf(gamma=1)@a, linear@b)' --view a=x1 --view b=x2",
    },
    FunctionEntry {
        name: "tensor_product",
        aliases: &[],
        written: "tensor_product(k1@a, k2@b)",
        formula: "κ₁(x₁, z₁) κ₂(x₂, z₂) on pairs of views",
        source: Source::new(&KMPA, "Proposition 3.22"),
        use_when: "examples are alike only if they are in both views",
        example: "'tensor_product(rbf(gamma=1)@a, linear@b)' --view a=x1 --view b=x2",
    },
];

/// The function of a name or another spelling.
pub fn function(name: &str) -> Option<&'static FunctionEntry> {
    FUNCTIONS.iter().find(|f| f.name == name || f.aliases.contains(&name))
}
