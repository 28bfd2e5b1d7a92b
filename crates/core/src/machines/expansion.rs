//! Expansions: f_c(x) = Σ_i α_ic κ(x_i, x) + b_c, the representer theorem as a type.

/// Weights on training examples, or on explicit features.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// Where the weight sits and how much.
    pub coefficients: Coefficients,
    /// b_c for every output.
    pub offsets: Vec<f64>,
}

/// The weights of an expansion.
#[derive(Clone, Debug, PartialEq)]
pub enum Coefficients {
    /// α for the training examples `points`: `points.len() × outputs` numbers, row by row.
    Dual {
        /// Which training examples.
        points: Vec<usize>,
        /// α, row by row.
        alpha: Vec<f64>,
    },
    /// One expansion for each pair of classes (a < b), in LIBSVM's compact form: an example of class c takes part only in
    /// the pairs with c, and has one coefficient for each of the k − 1 other classes in order.
    Pairwise {
        /// Which training examples.
        points: Vec<usize>,
        /// The class of each.
        classes: Vec<u32>,
        /// `points.len() × (k − 1)` coefficients y_i α_i, row by row.
        alpha: Vec<f64>,
        /// k.
        count: usize,
    },
    /// w for explicit features: f_c(x) = scale · ⟨w_c, x⟩ + b_c; `width × outputs` numbers, row by row.
    Primal {
        /// w, row by row.
        weights: Vec<f64>,
        /// How many coordinates.
        width: usize,
        /// The factor in front of the inner product.
        scale: f64,
    },
}

impl Expansion {
    /// How many outputs.
    pub fn outputs(&self) -> usize {
        self.offsets.len()
    }

    /// The training examples it needs; none for explicit features.
    pub fn points(&self) -> &[usize] {
        match &self.coefficients {
            Coefficients::Dual { points, .. } | Coefficients::Pairwise { points, .. } => points,
            Coefficients::Primal { .. } => &[],
        }
    }
}
